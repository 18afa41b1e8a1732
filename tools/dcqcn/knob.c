// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs of a port: names and units. Only the kernel knows their ranges, and
 * reports them.
 */
#include <string.h>

#include "json.h"
#include "knob.h"

const struct knob knobs[] = {
	[RDMA_DCQCN_A_SETTINGS_MIN_TIME_BETWEEN_CNPS] = {
		"min_time_between_cnps", "np", UNIT_USEC },
	[RDMA_DCQCN_A_SETTINGS_CNP_DSCP] = { "cnp_dscp", "np" },
	[RDMA_DCQCN_A_SETTINGS_CNP_802P_PRIO] = { "cnp_802p_prio", "np" },
	[RDMA_DCQCN_A_SETTINGS_CNP_UDP_SPORT] = { "cnp_udp_sport", "np" },
	[RDMA_DCQCN_A_SETTINGS_NP_ENABLE] = {
		"np_enable", "np", .prios = true, .note = "priorities" },
	[RDMA_DCQCN_A_SETTINGS_RPG_MAX_RATE] = {
		"rpg_max_rate", "rp", UNIT_MBPS, .note = "0: port speed" },
	[RDMA_DCQCN_A_SETTINGS_RPG_MIN_RATE] = {
		"rpg_min_rate", "rp", UNIT_MBPS },
	[RDMA_DCQCN_A_SETTINGS_RATE_TO_SET_ON_FIRST_CNP] = {
		"rate_to_set_on_first_cnp", "rp", UNIT_MBPS,
		.note = "0: cut from line rate" },
	[RDMA_DCQCN_A_SETTINGS_INITIAL_ALPHA_VALUE] = {
		"initial_alpha_value", "rp", .note = "1/1024" },
	[RDMA_DCQCN_A_SETTINGS_DCE_TCP_G] = {
		"dce_tcp_g", "rp", .note = "1/1024" },
	[RDMA_DCQCN_A_SETTINGS_DCE_TCP_RTT] = {
		"dce_tcp_rtt", "rp", UNIT_USEC, .note = "0: measured" },
	[RDMA_DCQCN_A_SETTINGS_RATE_REDUCE_MONITOR_PERIOD] = {
		"rate_reduce_monitor_period", "rp", UNIT_USEC,
		.note = "0: measured" },
	[RDMA_DCQCN_A_SETTINGS_RPG_GD] = {
		"rpg_gd", "rp", .note = "log2" },
	[RDMA_DCQCN_A_SETTINGS_RPG_MIN_DEC_FAC] = {
		"rpg_min_dec_fac", "rp", UNIT_PERCENT },
	[RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE] = {
		"clamp_tgt_rate", "rp" },
	[RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE_AFTER_TIME_INC] = {
		"clamp_tgt_rate_after_time_inc", "rp" },
	[RDMA_DCQCN_A_SETTINGS_RPG_TIME_RESET] = {
		"rpg_time_reset", "rp", UNIT_USEC, .note = "0: measured" },
	[RDMA_DCQCN_A_SETTINGS_RPG_BYTE_RESET] = {
		"rpg_byte_reset", "rp", UNIT_BYTES, .note = "0: off" },
	[RDMA_DCQCN_A_SETTINGS_RPG_THRESHOLD] = { "rpg_threshold", "rp" },
	[RDMA_DCQCN_A_SETTINGS_RPG_AI_RATE] = {
		"rpg_ai_rate", "rp", UNIT_MBPS, .note = "0: measured" },
	[RDMA_DCQCN_A_SETTINGS_RPG_HAI_RATE] = {
		"rpg_hai_rate", "rp", UNIT_MBPS },
	[RDMA_DCQCN_A_SETTINGS_RP_ENABLE] = {
		"rp_enable", "rp", .prios = true, .note = "priorities" },
	[RDMA_DCQCN_A_SETTINGS_START_BURST] = {
		"start_burst", "rp", UNIT_BYTES, .note = "0: off" },
	[RDMA_DCQCN_A_SETTINGS_CCC_ALGORITHMS] = {
		"ccc_algorithms", "rp",
		.note = "0: DCQCN, 1: window, 2: credit, 3: both" },
	[RDMA_DCQCN_A_SETTINGS_CCC_BASE_RTT] = {
		"ccc_base_rtt", "rp", UNIT_USEC, .note = "0: measured" },
	[RDMA_DCQCN_A_SETTINGS_CCC_TARGET_QDELAY] = {
		"ccc_target_qdelay", "rp", UNIT_USEC,
		.note = "0: one round trip" },
	[RDMA_DCQCN_A_SETTINGS_CCC_INITIAL_WINDOW] = {
		"ccc_initial_window", "rp", UNIT_BYTES,
		.note = "0: one packet" },
	[RDMA_DCQCN_A_SETTINGS_CCC_ENTROPY] = {
		"ccc_entropy", "rp", .note = "1: leave congested paths" },
	[RDMA_DCQCN_A_SETTINGS_ALPHA_ON_CUT] = {
		"alpha_on_cut", "rp", .note = "0: once per dce_tcp_rtt" },
};

/* NULL if it is not a knob, or one that this version does not know */
const struct knob *knob_by_attr(int attr)
{
	if (attr < 1 || attr > RDMA_DCQCN_A_SETTINGS_MAX)
		return NULL;
	return &knobs[attr];
}

const struct knob *knob_by_name(const char *name)
{
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (!strcmp(knobs[i].name, name))
			return &knobs[i];
	}
	return NULL;
}

int knob_attr(const struct knob *knob)
{
	return knob - knobs;
}

bool knob_parse(const struct knob *knob, const char *s, uint32_t *value,
		const char **problem)
{
	uint64_t v;

	if (knob->prios) {
		*problem = "a list of priorities from 0 to 7, such as 0,3, or all, or none";
		if (!unit_parse_prios(s, &v))
			return false;
	} else if (!unit_parse(knob->unit, s, &v, problem)) {
		return false;
	}
	if (v > UINT32_MAX) {
		*problem = "a number below 2^32";
		return false;
	}
	*value = v;
	return true;
}

/* In the form that knob_parse() reads */
void knob_print(FILE *out, const struct knob *knob, uint64_t value)
{
	char buf[UNIT_LEN];

	fputs(knob->prios ? unit_prios(buf, value) :
			    unit_value(buf, knob->unit, value), out);
}

/* Numbers in the knob's own unit, as in sysfs */
void knob_json(const struct knob *knob, uint64_t value)
{
	if (knob->prios)
		json_bits(knob->name, value);
	else
		json_number(knob->name, value);
}
