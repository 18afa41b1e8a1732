/* SPDX-License-Identifier: GPL-2.0 */
/* The settings of a port. See settings.c. */
#ifndef DCBPORT_SETTINGS_H
#define DCBPORT_SETTINGS_H

#include <linux/types.h>
#include <uapi/linux/dcbport.h>

#include "account.h"
#include "curve.h"
#include "drr.h"
#include "prio.h"
#include "flows.h"

/* bit/s; the length of a quantum if no rate is set: the speed that veth reports */
#define DCBPORT_ASSUMED_RATE	10000000000ULL

/**
 * struct dcbport_settings - settings of a port
 * @rate: bit/s, 0 for a link that takes no time
 * @delay: ns, one way
 * @overhead: bytes that a frame takes on the wire in addition to its own length
 * @pfc: priorities with PFC, which pause their senders and obey pauses, one bit each
 * @prio: rules for a packet's priority
 * @tc: the class of each priority
 * @strict: classes that are sent before others, one bit each
 * @weight: weight of the other classes; 0 only for classes without a priority
 * @maxrate: bit/s that a class may send, 0 for no bound
 * @limit: bytes that a class may hold
 * @curve: when a class marks packets
 * @flows: how its marks depend on the number of its flows
 * @thresholds: profile of each priority, if the port is in a switch; without PFC only its alpha
 *	counts. An alpha of 0 means the switch's alpha.
 * @share: the share of the switch's free buffer that a class may hold, as an alpha; 0 for no
 *	bound but its limit
 * @wred: classes that drop packets which cannot be marked, one bit each
 * @stamp: packets that ask for it are stamped when they leave, if there is a rate
 * @mark: when packets are marked
 * @action: what the watchdog does about a PFC storm
 * @detect: ms, 0 for dcbport_settings_detect() to choose
 * @restore: ms, 0 for dcbport_settings_restore() to choose
 */
struct dcbport_settings {
	u64 rate;
	u32 delay;
	u32 overhead;
	u8 pfc;
	struct dcbport_prio_rules prio;
	u8 tc[DCBPORT_PRIOS];
	u8 strict;
	u8 weight[DCBPORT_PRIOS];
	u64 maxrate[DCBPORT_PRIOS];
	u32 limit[DCBPORT_PRIOS];
	struct dcbport_curve curve[DCBPORT_PRIOS];
	struct dcbport_flow_bounds flows[DCBPORT_PRIOS];
	struct dcbport_thresholds thresholds[DCBPORT_PRIOS];
	u32 share[DCBPORT_PRIOS];
	u8 wred;
	u8 stamp;
	enum dcbport_mark mark;
	enum dcbport_action action;
	u32 detect;
	u32 restore;
};

static inline u64 dcbport_rate(const struct dcbport_settings *s)
{
	return s->rate ?: DCBPORT_ASSUMED_RATE;
}

extern const struct dcbport_settings dcbport_defaults;

const char *dcbport_settings_check(const struct dcbport_settings *s,
				   bool in_switch);
const char *dcbport_settings_warn(const struct dcbport_settings *s);
u64 dcbport_settings_detect(const struct dcbport_settings *s);
u64 dcbport_settings_restore(const struct dcbport_settings *s);
bool dcbport_settings_counts_flows(const struct dcbport_settings *s, int tc);
u64 dcbport_settings_buffer(const struct dcbport_settings *s, int prio);
u64 dcbport_settings_room(const struct dcbport_settings *s);

#endif /* DCBPORT_SETTINGS_H */
