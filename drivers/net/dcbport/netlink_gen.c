// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/dcbport.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/dcbport.h>

/* Integer value ranges */
static const struct netlink_range_validation dcbport_a_class_pmax_range = {
	.max	= 1000000000ULL,
};

static const struct netlink_range_validation dcbport_a_class_maxrate_range = {
	.max	= 1000000000000ULL,
};

static const struct netlink_range_validation dcbport_a_port_rate_range = {
	.max	= 1000000000000ULL,
};

static const struct netlink_range_validation dcbport_a_port_delay_range = {
	.max	= 1000000000ULL,
};

static const struct netlink_range_validation dcbport_a_port_detect_range = {
	.max	= 60000ULL,
};

static const struct netlink_range_validation dcbport_a_port_restore_range = {
	.max	= 60000ULL,
};

static const struct netlink_range_validation dcbport_a_switch_size_range = {
	.max	= 1099511627776ULL,
};

static const struct netlink_range_validation dcbport_a_switch_lossy_range = {
	.max	= 1099511627776ULL,
};

/* Common nested types */
const struct nla_policy dcbport_class_nl_policy[DCBPORT_A_CLASS_LAST_STORM_RX_DROP + 1] = {
	[DCBPORT_A_CLASS_PRIO] = NLA_POLICY_MAX(NLA_U8, 7),
	[DCBPORT_A_CLASS_WEIGHT] = NLA_POLICY_MAX(NLA_U8, 100),
	[DCBPORT_A_CLASS_LIMIT] = NLA_POLICY_MIN(NLA_U32, 1),
	[DCBPORT_A_CLASS_KMIN] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_KMAX] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_PMAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcbport_a_class_pmax_range),
	[DCBPORT_A_CLASS_IN_PACKETS] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_IN_BYTES] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_OUT_PACKETS] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_OUT_BYTES] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_MARKED] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_QUEUE_PACKETS] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_QUEUE_BYTES] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_QUEUE_BYTES_MAX] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_WIRE_PACKETS] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_DROP_LIMIT] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_DROP_BUFFER] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_DROP_STORM] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_DROP_MEMORY] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_DROP_RESET] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RX_PAUSE] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RX_PAUSE_TRANSITION] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RX_PAUSE_DURATION] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_TX_PAUSE] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_TX_RESUME] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_PAUSED] = { .type = NLA_U8, },
	[DCBPORT_A_CLASS_STORM] = { .type = NLA_U8, },
	[DCBPORT_A_CLASS_STORMS] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RESTORES] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_INGRESS_BYTES] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_INGRESS_BYTES_MAX] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_HEADROOM_BYTES_MAX] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_LOSSY_BYTES] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_LOSSY_BYTES_MAX] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_FLOWS_MIN] = NLA_POLICY_MAX(NLA_U32, 1024),
	[DCBPORT_A_CLASS_FLOWS_MAX] = NLA_POLICY_MAX(NLA_U32, 1024),
	[DCBPORT_A_CLASS_FLOWS] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_TC] = NLA_POLICY_MAX(NLA_U8, 7),
	[DCBPORT_A_CLASS_RX_RESUME] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RESERVE] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_XOFF] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_XON] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_XON_OFFSET] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_HEADROOM] = { .type = NLA_U32, },
	[DCBPORT_A_CLASS_ALPHA] = NLA_POLICY_MAX(NLA_U32, 16384),
	[DCBPORT_A_CLASS_SHARE] = NLA_POLICY_MAX(NLA_U32, 16384),
	[DCBPORT_A_CLASS_WRED] = NLA_POLICY_MAX(NLA_U8, 1),
	[DCBPORT_A_CLASS_MAXRATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_class_maxrate_range),
	[DCBPORT_A_CLASS_DROP_WRED] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_STORM_OUT] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_STORM_IN] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_RX_DROP_STORM] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_LAST_STORM_OUT] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_LAST_STORM_DROP] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_LAST_STORM_IN] = { .type = NLA_U64, },
	[DCBPORT_A_CLASS_LAST_STORM_RX_DROP] = { .type = NLA_U64, },
};

/* DCBPORT_CMD_PORT_GET - dump */
static const struct nla_policy dcbport_port_get_nl_policy[DCBPORT_A_PORT_IFNAME + 1] = {
	[DCBPORT_A_PORT_IFNAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* DCBPORT_CMD_PORT_SET - do */
static const struct nla_policy dcbport_port_set_nl_policy[DCBPORT_A_PORT_STAMP + 1] = {
	[DCBPORT_A_PORT_IFNAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[DCBPORT_A_PORT_RATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_port_rate_range),
	[DCBPORT_A_PORT_DELAY] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcbport_a_port_delay_range),
	[DCBPORT_A_PORT_OVERHEAD] = NLA_POLICY_MAX(NLA_U32, 1024),
	[DCBPORT_A_PORT_PFC] = { .type = NLA_U8, },
	[DCBPORT_A_PORT_STRICT] = { .type = NLA_U8, },
	[DCBPORT_A_PORT_SWITCH] = { .type = NLA_NUL_STRING, .len = 15, },
	[DCBPORT_A_PORT_RESERVE] = { .type = NLA_U32, },
	[DCBPORT_A_PORT_XOFF] = { .type = NLA_U32, },
	[DCBPORT_A_PORT_XON] = { .type = NLA_U32, },
	[DCBPORT_A_PORT_HEADROOM] = { .type = NLA_U32, },
	[DCBPORT_A_PORT_ACTION] = NLA_POLICY_MAX(NLA_U8, 3),
	[DCBPORT_A_PORT_DETECT] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcbport_a_port_detect_range),
	[DCBPORT_A_PORT_RESTORE] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcbport_a_port_restore_range),
	[DCBPORT_A_PORT_CLASS] = NLA_POLICY_NESTED(dcbport_class_nl_policy),
	[DCBPORT_A_PORT_TRUST] = NLA_POLICY_MAX(NLA_U8, 4),
	[DCBPORT_A_PORT_XON_OFFSET] = { .type = NLA_U32, },
	[DCBPORT_A_PORT_MARK] = NLA_POLICY_MAX(NLA_U8, 1),
	[DCBPORT_A_PORT_DSCP] = NLA_POLICY_EXACT_LEN(64),
	[DCBPORT_A_PORT_PCP] = NLA_POLICY_EXACT_LEN(16),
	[DCBPORT_A_PORT_OTHER] = { .type = NLA_U8, },
	[DCBPORT_A_PORT_STAMP] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* DCBPORT_CMD_SWITCH_NEW - do */
static const struct nla_policy dcbport_switch_new_nl_policy[DCBPORT_A_SWITCH_ALPHA + 1] = {
	[DCBPORT_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[DCBPORT_A_SWITCH_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_switch_size_range),
	[DCBPORT_A_SWITCH_LOSSY] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_switch_lossy_range),
	[DCBPORT_A_SWITCH_ALPHA] = NLA_POLICY_MAX(NLA_U32, 16384),
};

/* DCBPORT_CMD_SWITCH_SET - do */
static const struct nla_policy dcbport_switch_set_nl_policy[DCBPORT_A_SWITCH_ALPHA + 1] = {
	[DCBPORT_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[DCBPORT_A_SWITCH_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_switch_size_range),
	[DCBPORT_A_SWITCH_LOSSY] = NLA_POLICY_FULL_RANGE(NLA_U64, &dcbport_a_switch_lossy_range),
	[DCBPORT_A_SWITCH_ALPHA] = NLA_POLICY_MAX(NLA_U32, 16384),
};

/* DCBPORT_CMD_SWITCH_DEL - do */
static const struct nla_policy dcbport_switch_del_nl_policy[DCBPORT_A_SWITCH_NAME + 1] = {
	[DCBPORT_A_SWITCH_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* DCBPORT_CMD_PORT_CLEAR - do */
static const struct nla_policy dcbport_port_clear_nl_policy[DCBPORT_A_PORT_IFNAME + 1] = {
	[DCBPORT_A_PORT_IFNAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* Ops table for dcbport */
static const struct genl_split_ops dcbport_nl_ops[] = {
	{
		.cmd		= DCBPORT_CMD_PORT_GET,
		.start		= dcbport_nl_port_get_start,
		.dumpit		= dcbport_nl_port_get_dumpit,
		.policy		= dcbport_port_get_nl_policy,
		.maxattr	= DCBPORT_A_PORT_IFNAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= DCBPORT_CMD_PORT_SET,
		.doit		= dcbport_nl_port_set_doit,
		.policy		= dcbport_port_set_nl_policy,
		.maxattr	= DCBPORT_A_PORT_STAMP,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= DCBPORT_CMD_SWITCH_GET,
		.dumpit	= dcbport_nl_switch_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= DCBPORT_CMD_SWITCH_NEW,
		.doit		= dcbport_nl_switch_new_doit,
		.policy		= dcbport_switch_new_nl_policy,
		.maxattr	= DCBPORT_A_SWITCH_ALPHA,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= DCBPORT_CMD_SWITCH_SET,
		.doit		= dcbport_nl_switch_set_doit,
		.policy		= dcbport_switch_set_nl_policy,
		.maxattr	= DCBPORT_A_SWITCH_ALPHA,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= DCBPORT_CMD_SWITCH_DEL,
		.doit		= dcbport_nl_switch_del_doit,
		.policy		= dcbport_switch_del_nl_policy,
		.maxattr	= DCBPORT_A_SWITCH_NAME,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= DCBPORT_CMD_PORT_CLEAR,
		.doit		= dcbport_nl_port_clear_doit,
		.policy		= dcbport_port_clear_nl_policy,
		.maxattr	= DCBPORT_A_PORT_IFNAME,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

struct genl_family dcbport_nl_family __ro_after_init = {
	.name		= DCBPORT_FAMILY_NAME,
	.version	= DCBPORT_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= dcbport_nl_ops,
	.n_split_ops	= ARRAY_SIZE(dcbport_nl_ops),
};
