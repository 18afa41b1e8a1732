/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs of one rxe port. See settings.c. */
#ifndef DCQCN_SETTINGS_H
#define DCQCN_SETTINGS_H

#include <linux/jump_label.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <rdma/dcqcn_cc.h>
#include <uapi/rdma/rdma_dcqcn.h>

#include "rate.h"

#define DCQCN_NUM_PRIOS		8

/**
 * struct dcqcn_np_params - the notification point's knobs
 * @min_time_between_cnps: us; least gap between two CNPs of one QP
 * @cnp_dscp: DSCP of CNPs
 * @cnp_802p_prio: socket priority of CNPs; VLAN egress maps turn it into the PCP
 * @cnp_udp_sport: UDP source port of CNPs
 */
struct dcqcn_np_params {
	u32 min_time_between_cnps;
	u32 cnp_dscp;
	u32 cnp_802p_prio;
	u32 cnp_udp_sport;
};

/* Bits of struct dcqcn_ccc_params.algorithms */
#define DCQCN_CCC_NSCC		1	/* a window, see nscc.c */
#define DCQCN_CCC_RCCC		2	/* credit, see rccc.c */

/**
 * struct dcqcn_ccc_params - knobs of congestion control contexts, see ccc.c
 * @algorithms: DCQCN_CCC_*; 0: none, DCQCN limits flows
 * @base_rtt: us; round trip of the longest path without queues, 0: measured
 * @target_qdelay: us; queueing delay that windows aim at, 0: one base round trip
 * @initial_window: bytes; the first window, and what may be sent before credit is granted
 * @entropy: flows leave congested paths, see entropy.c
 * @scaling: increases of windows are 150,000 bytes divided by this; 0: they depend on the path
 */
struct dcqcn_ccc_params {
	u32 algorithms;
	u32 base_rtt;
	u32 target_qdelay;
	u32 initial_window;
	u32 entropy;
	u32 scaling;
};

/**
 * struct dcqcn_settings - all knobs of a port; immutable once published
 * @np: notification point
 * @rp: reaction point
 * @ccc: congestion control contexts
 * @plugs: flows may obey an algorithm: @cc is set, or @qp_cc
 * @qp_cc: some QPs do not follow @cc, or did not a moment ago
 * @cc: the algorithm of flows without a context: its name, empty for DCQCN. See cc_list.c.
 * @hop_stamps: 1: read stamps of switches, and report them to senders
 * @np_enable: one bit per priority (DSCP >> 3)
 * @rp_enable: one bit per priority
 * @rcu: frees replaced settings
 */
struct dcqcn_settings {
	struct dcqcn_np_params np;
	struct dcqcn_rp_params rp;
	struct dcqcn_ccc_params ccc;
	u32 plugs;
	bool qp_cc;
	char cc[DCQCN_CC_NAME_MAX];
	u32 hop_stamps;
	u32 np_enable;
	u32 rp_enable;
	struct rcu_head rcu;
};

/**
 * struct dcqcn_profile - a named set of knobs
 * @name: its name
 * @np: notification point
 * @rp: reaction point; @rpg_max_rate is unused
 */
struct dcqcn_profile {
	const char *name;
	struct dcqcn_np_params np;
	struct dcqcn_rp_params rp;
};

/* Some port uses contexts, or did. While this is false, contexts cost nothing. */
DECLARE_STATIC_KEY_FALSE(dcqcn_cccs);

/* DCQCN_CCC_* that a port is set to use */
static __always_inline u32
dcqcn_settings_cccs(const struct dcqcn_settings *settings)
{
	return static_branch_unlikely(&dcqcn_cccs) ? settings->ccc.algorithms : 0;
}

/* Whether a flow is limited from its first packet on */
static __always_inline bool
dcqcn_settings_limits(const struct dcqcn_settings *settings)
{
	return settings->rp.start_burst | settings->plugs;
}

/* Whether a flow is handled before it meets congestion */
static __always_inline bool
dcqcn_settings_start(const struct dcqcn_settings *settings)
{
	return dcqcn_settings_limits(settings) || dcqcn_settings_cccs(settings);
}

int dcqcn_settings_init(void);
struct dcqcn_settings *dcqcn_settings_alloc(void);
u32 dcqcn_settings_get(const struct dcqcn_settings *settings, int knob);
int dcqcn_settings_set(struct dcqcn_settings *settings, int knob, u32 value);
void dcqcn_settings_apply(struct dcqcn_settings *settings,
			  const struct dcqcn_profile *profile);
const struct dcqcn_profile *dcqcn_profile_find(const char *name);
const struct dcqcn_profile *dcqcn_profile_get(size_t i);
bool dcqcn_profile_sets(int knob);

#endif /* DCQCN_SETTINGS_H */
