// SPDX-License-Identifier: GPL-2.0
/*
 * What the senders' knobs are: those of a profile, which the module's settings.c
 * has, but for what was given.
 */
#include <linux/kernel.h>

#include "number.h"
#include "senders.h"

#define G_ONE	1024

struct dcqcn_profile {
	const char *name;
	struct {
		u32 min_time_between_cnps;
		u32 cnp_dscp;
		u32 cnp_802p_prio;
		u32 cnp_udp_sport;
	} np;
	struct dcqcn_rp_params rp;
};

/* The table dcqcn_profiles of settings.c, taken from there when this is built */
#include "profiles.inc"

static void give(u32 *knob, double value)
{
	if (value != DCQCN_MODEL_AUTO)
		*knob = (u32)value;
}

/* In Mb/s, of which a rate that is not 0 has at least one */
static void give_rate(u32 *knob, double bps)
{
	if (bps != DCQCN_MODEL_AUTO)
		*knob = (u32)(bps ? number_max(1, number_floor(bps / 1e6 + 0.5)) : 0);
}

/**
 * senders_of() - all knobs
 * @in: the profile, and what differs from it
 */
struct senders senders_of(const struct dcqcn_model_input *in)
{
	const struct dcqcn_profile *profile = &dcqcn_profiles[(int)in->profile];
	struct senders s = {
		.rp = profile->rp,
		.cnp_interval_us = profile->np.min_time_between_cnps,
	};

	if (in->g_share != DCQCN_MODEL_AUTO)
		s.rp.dce_tcp_g = (u32)(G_ONE * (1 - in->g_share) + 0.5);
	give(&s.rp.rpg_gd, in->gd);
	give_rate(&s.rp.rpg_max_rate, in->max_rate_bps);
	give(&s.rp.dce_tcp_rtt, in->alpha_period_us);
	give(&s.rp.rpg_time_reset, in->timer_us);
	give(&s.rp.rpg_byte_reset, in->byte_counter_bytes);
	give(&s.rp.rpg_threshold, in->recovery_steps);
	give_rate(&s.rp.rpg_ai_rate, in->ai_bps);
	give_rate(&s.rp.rpg_hai_rate, in->hai_bps);
	give(&s.rp.rate_reduce_monitor_period, in->monitor_us);
	give(&s.cnp_interval_us, in->cnp_interval_us);
	return s;
}
