// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rdma_dcqcn.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/rdma/rdma_dcqcn.h>

/* Integer value ranges */
static const struct netlink_range_validation rdma_dcqcn_a_settings_min_time_between_cnps_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_cnp_udp_sport_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_dce_tcp_rtt_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_rate_reduce_monitor_period_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_rpg_time_reset_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_ccc_base_rtt_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_ccc_target_qdelay_range = {
	.max	= 131071ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_settings_ccc_initial_window_range = {
	.max	= 16777216ULL,
};

static const struct netlink_range_validation rdma_dcqcn_a_qp_lqpn_range = {
	.max	= 16777215ULL,
};

/* Common nested types */
const struct nla_policy rdma_dcqcn_settings_nl_policy[RDMA_DCQCN_A_SETTINGS_HOP_STAMPS + 1] = {
	[RDMA_DCQCN_A_SETTINGS_MIN_TIME_BETWEEN_CNPS] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_min_time_between_cnps_range),
	[RDMA_DCQCN_A_SETTINGS_CNP_DSCP] = NLA_POLICY_MAX(NLA_U32, 63),
	[RDMA_DCQCN_A_SETTINGS_CNP_802P_PRIO] = NLA_POLICY_MAX(NLA_U32, 7),
	[RDMA_DCQCN_A_SETTINGS_CNP_UDP_SPORT] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_cnp_udp_sport_range),
	[RDMA_DCQCN_A_SETTINGS_NP_ENABLE] = NLA_POLICY_MAX(NLA_U32, 255),
	[RDMA_DCQCN_A_SETTINGS_RPG_MAX_RATE] = { .type = NLA_U32, },
	[RDMA_DCQCN_A_SETTINGS_RPG_MIN_RATE] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_RATE_TO_SET_ON_FIRST_CNP] = { .type = NLA_U32, },
	[RDMA_DCQCN_A_SETTINGS_INITIAL_ALPHA_VALUE] = NLA_POLICY_RANGE(NLA_U32, 1, 1023),
	[RDMA_DCQCN_A_SETTINGS_DCE_TCP_G] = NLA_POLICY_MAX(NLA_U32, 1023),
	[RDMA_DCQCN_A_SETTINGS_DCE_TCP_RTT] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_dce_tcp_rtt_range),
	[RDMA_DCQCN_A_SETTINGS_RATE_REDUCE_MONITOR_PERIOD] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_rate_reduce_monitor_period_range),
	[RDMA_DCQCN_A_SETTINGS_RPG_GD] = NLA_POLICY_MAX(NLA_U32, 15),
	[RDMA_DCQCN_A_SETTINGS_RPG_MIN_DEC_FAC] = NLA_POLICY_RANGE(NLA_U32, 1, 100),
	[RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE_AFTER_TIME_INC] = NLA_POLICY_MAX(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_RPG_TIME_RESET] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_rpg_time_reset_range),
	[RDMA_DCQCN_A_SETTINGS_RPG_BYTE_RESET] = { .type = NLA_U32, },
	[RDMA_DCQCN_A_SETTINGS_RPG_THRESHOLD] = NLA_POLICY_RANGE(NLA_U32, 1, 31),
	[RDMA_DCQCN_A_SETTINGS_RPG_AI_RATE] = { .type = NLA_U32, },
	[RDMA_DCQCN_A_SETTINGS_RPG_HAI_RATE] = NLA_POLICY_MIN(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_RP_ENABLE] = NLA_POLICY_MAX(NLA_U32, 255),
	[RDMA_DCQCN_A_SETTINGS_START_BURST] = { .type = NLA_U32, },
	[RDMA_DCQCN_A_SETTINGS_CCC_ALGORITHMS] = NLA_POLICY_MAX(NLA_U32, 3),
	[RDMA_DCQCN_A_SETTINGS_CCC_BASE_RTT] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_ccc_base_rtt_range),
	[RDMA_DCQCN_A_SETTINGS_CCC_TARGET_QDELAY] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_ccc_target_qdelay_range),
	[RDMA_DCQCN_A_SETTINGS_CCC_INITIAL_WINDOW] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_settings_ccc_initial_window_range),
	[RDMA_DCQCN_A_SETTINGS_CCC_ENTROPY] = NLA_POLICY_MAX(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_ALPHA_ON_CUT] = NLA_POLICY_MAX(NLA_U32, 1),
	[RDMA_DCQCN_A_SETTINGS_CCC_SCALING] = NLA_POLICY_MAX(NLA_U32, 8192),
	[RDMA_DCQCN_A_SETTINGS_HOP_STAMPS] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* RDMA_DCQCN_CMD_DEV_GET - dump */
static const struct nla_policy rdma_dcqcn_dev_get_nl_policy[RDMA_DCQCN_A_DEV_NAME + 1] = {
	[RDMA_DCQCN_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* RDMA_DCQCN_CMD_DEV_SET - do */
static const struct nla_policy rdma_dcqcn_dev_set_nl_policy[RDMA_DCQCN_A_DEV_CC_ALGORITHM + 1] = {
	[RDMA_DCQCN_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RDMA_DCQCN_A_DEV_PROFILE] = { .type = NLA_NUL_STRING, .len = 31, },
	[RDMA_DCQCN_A_DEV_SETTINGS] = NLA_POLICY_NESTED(rdma_dcqcn_settings_nl_policy),
	[RDMA_DCQCN_A_DEV_CC_ALGORITHM] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* RDMA_DCQCN_CMD_QP_GET - dump */
static const struct nla_policy rdma_dcqcn_qp_get_nl_policy[RDMA_DCQCN_A_QP_LQPN + 1] = {
	[RDMA_DCQCN_A_QP_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RDMA_DCQCN_A_QP_LQPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_qp_lqpn_range),
};

/* RDMA_DCQCN_CMD_CCC_GET - dump */
static const struct nla_policy rdma_dcqcn_ccc_get_nl_policy[RDMA_DCQCN_A_CCC_DEV_NAME + 1] = {
	[RDMA_DCQCN_A_CCC_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* RDMA_DCQCN_CMD_QP_SET - do */
static const struct nla_policy rdma_dcqcn_qp_set_nl_policy[RDMA_DCQCN_A_QP_CC_ALGORITHM + 1] = {
	[RDMA_DCQCN_A_QP_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[RDMA_DCQCN_A_QP_LQPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &rdma_dcqcn_a_qp_lqpn_range),
	[RDMA_DCQCN_A_QP_CC_ALGORITHM] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* Ops table for rdma_dcqcn */
static const struct genl_split_ops rdma_dcqcn_nl_ops[] = {
	{
		.cmd		= RDMA_DCQCN_CMD_DEV_GET,
		.dumpit		= rdma_dcqcn_nl_dev_get_dumpit,
		.policy		= rdma_dcqcn_dev_get_nl_policy,
		.maxattr	= RDMA_DCQCN_A_DEV_NAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_DCQCN_CMD_DEV_SET,
		.doit		= rdma_dcqcn_nl_dev_set_doit,
		.policy		= rdma_dcqcn_dev_set_nl_policy,
		.maxattr	= RDMA_DCQCN_A_DEV_CC_ALGORITHM,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RDMA_DCQCN_CMD_QP_GET,
		.dumpit		= rdma_dcqcn_nl_qp_get_dumpit,
		.policy		= rdma_dcqcn_qp_get_nl_policy,
		.maxattr	= RDMA_DCQCN_A_QP_LQPN,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= RDMA_DCQCN_CMD_PROFILE_GET,
		.dumpit	= rdma_dcqcn_nl_profile_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_DCQCN_CMD_CCC_GET,
		.dumpit		= rdma_dcqcn_nl_ccc_get_dumpit,
		.policy		= rdma_dcqcn_ccc_get_nl_policy,
		.maxattr	= RDMA_DCQCN_A_CCC_DEV_NAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RDMA_DCQCN_CMD_QP_SET,
		.doit		= rdma_dcqcn_nl_qp_set_doit,
		.policy		= rdma_dcqcn_qp_set_nl_policy,
		.maxattr	= RDMA_DCQCN_A_QP_CC_ALGORITHM,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group rdma_dcqcn_nl_mcgrps[] = {
	[RDMA_DCQCN_NLGRP_RATE] = { "rate", },
};

struct genl_family rdma_dcqcn_nl_family __ro_after_init = {
	.name		= RDMA_DCQCN_FAMILY_NAME,
	.version	= RDMA_DCQCN_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= rdma_dcqcn_nl_ops,
	.n_split_ops	= ARRAY_SIZE(rdma_dcqcn_nl_ops),
	.mcgrps		= rdma_dcqcn_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(rdma_dcqcn_nl_mcgrps),
};
