/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs of one rxe port. See settings.c. */
#ifndef DCQCN_SETTINGS_H
#define DCQCN_SETTINGS_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "rate.h"

#define DCQCN_NUM_PRIOS		8

/**
 * struct dcqcn_np_params - the notification point's knobs
 * @min_time_between_cnps: us; least gap between two CNPs of one QP
 * @cnp_dscp: DSCP of CNPs
 * @cnp_802p_prio: socket priority of CNPs, which VLAN egress maps turn to PCP
 * @cnp_udp_sport: UDP source port of CNPs
 */
struct dcqcn_np_params {
	u32 min_time_between_cnps;
	u32 cnp_dscp;
	u32 cnp_802p_prio;
	u32 cnp_udp_sport;
};

/**
 * struct dcqcn_settings - all knobs; immutable once published
 * @np: notification point
 * @rp: reaction point
 * @np_enable: 0 or 1 per priority (DSCP >> 3)
 * @rp_enable: 0 or 1 per priority
 * @rcu: to free a replaced one
 */
struct dcqcn_settings {
	struct dcqcn_np_params np;
	struct dcqcn_rp_params rp;
	u32 np_enable[DCQCN_NUM_PRIOS];
	u32 rp_enable[DCQCN_NUM_PRIOS];
	struct rcu_head rcu;
};

int dcqcn_settings_init(void);
struct dcqcn_settings *dcqcn_settings_alloc(void);

#endif /* DCQCN_SETTINGS_H */
