// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs of a port: their offsets, the named profiles, and a new port's
 * settings, which the module parameters choose.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/netlink.h>

#include "netlink_gen.h"
#include "settings.h"

static char *profile = "auto";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile,
		 "Initial knobs: auto (default), mlx5 or sigcomm15");

static bool np = true;
module_param(np, bool, 0444);
MODULE_PARM_DESC(np, "Enable the notification point on all priorities (default Y)");

static bool rp = true;
module_param(rp, bool, 0444);
MODULE_PARM_DESC(rp, "Enable the reaction point on all priorities (default Y)");

#define DCQCN_PRIOS		GENMASK(DCQCN_NUM_PRIOS - 1, 0)

/* Offset of each knob's u32 */
static const u16 dcqcn_knob_offset[RDMA_DCQCN_A_SETTINGS_MAX + 1] = {
#define DCQCN_KNOB(_role, _attr, _name, _field, _unit, _note)		\
	[RDMA_DCQCN_A_SETTINGS_##_attr] = offsetof(struct dcqcn_settings, _field),
#define DCQCN_ENABLE(_role, _attr, _name, _field)			\
	DCQCN_KNOB(_role, _attr, _name, _field, NONE, NULL)
#include "knob_list.h"
#undef DCQCN_ENABLE
#undef DCQCN_KNOB
};

static const struct dcqcn_profile dcqcn_profiles[] = {
	{
		/* The paper's constants in units of the path, see rate.c. CNPs
		 * may come as often as mlx5 sends them: the sender cuts once
		 * per round trip.
		 */
		.name = "auto",
		.np = {
			.min_time_between_cnps = 4,
			.cnp_dscp = 48,
			.cnp_802p_prio = 6,
		},
		.rp = {
			.rpg_min_rate = 1,
			.initial_alpha_value = 1023,
			.dce_tcp_g = 1008,
			.alpha_on_cut = 1,
			.rpg_gd = 11,
			.rpg_min_dec_fac = 50,
			.clamp_tgt_rate = 1,
			.clamp_tgt_rate_after_time_inc = 1,
			.rpg_threshold = 5,
			.rpg_hai_rate = 1,
			.start_burst = 12288,
		},
	},
	{
		/* The defaults of ConnectX NICs, whose alpha has a clock of its own */
		.name = "mlx5",
		.np = {
			.min_time_between_cnps = 4,
			.cnp_dscp = 48,
			.cnp_802p_prio = 6,
		},
		.rp = {
			.rpg_min_rate = 1,
			.initial_alpha_value = 1023,
			.dce_tcp_g = 1019,
			.dce_tcp_rtt = 1,
			.rate_reduce_monitor_period = 4,
			.rpg_gd = 11,
			.rpg_min_dec_fac = 50,
			.clamp_tgt_rate = 0,
			.clamp_tgt_rate_after_time_inc = 1,
			.rpg_time_reset = 300,
			.rpg_byte_reset = 32767,
			.rpg_threshold = 1,
			.rpg_ai_rate = 5,
			.rpg_hai_rate = 50,
		},
	},
	{
		/* SIGCOMM 2015, for 40 Gb/s: g = 1/256, every CNP cuts, by
		 * alpha/2. The paper does not give R_HAI: ten times R_AI here,
		 * as on mlx5.
		 */
		.name = "sigcomm15",
		.np = {
			.min_time_between_cnps = 50,
			.cnp_dscp = 48,
			.cnp_802p_prio = 6,
		},
		.rp = {
			.rpg_min_rate = 1,
			.initial_alpha_value = 1023,
			.dce_tcp_g = 1020,
			.dce_tcp_rtt = 55,
			.alpha_on_cut = 1,
			.rate_reduce_monitor_period = 1,
			.rpg_gd = 11,
			.rpg_min_dec_fac = 1,
			.clamp_tgt_rate = 1,
			.clamp_tgt_rate_after_time_inc = 1,
			.rpg_time_reset = 55,
			.rpg_byte_reset = 10000000,
			.rpg_threshold = 5,
			.rpg_ai_rate = 40,
			.rpg_hai_rate = 400,
		},
	},
};

/**
 * dcqcn_profile_find() - find a profile by name
 * @name: may end in a newline
 *
 * Return: the profile, or NULL.
 */
const struct dcqcn_profile *dcqcn_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dcqcn_profiles); i++) {
		if (sysfs_streq(dcqcn_profiles[i].name, name))
			return &dcqcn_profiles[i];
	}
	return NULL;
}

/**
 * dcqcn_profile_get() - find a profile by index
 * @i: index, from 0
 *
 * Return: the profile, or NULL if there are fewer.
 */
const struct dcqcn_profile *dcqcn_profile_get(size_t i)
{
	return i < ARRAY_SIZE(dcqcn_profiles) ? &dcqcn_profiles[i] : NULL;
}

/**
 * dcqcn_settings_get() - read a knob
 * @settings: settings to read
 * @knob: RDMA_DCQCN_A_SETTINGS_*
 *
 * Context: any. Return: its value.
 */
u32 dcqcn_settings_get(const struct dcqcn_settings *settings, int knob)
{
	return *(const u32 *)((const void *)settings + dcqcn_knob_offset[knob]);
}

/**
 * dcqcn_settings_set() - set a knob
 * @settings: settings that are not published yet
 * @knob: RDMA_DCQCN_A_SETTINGS_*
 * @value: its new value
 *
 * Ranges come from the netlink specification. Rates in Mb/s above the line rate
 * are clamped to it on use.
 *
 * Context: process. Return: 0, or -ERANGE.
 */
int dcqcn_settings_set(struct dcqcn_settings *settings, int knob, u32 value)
{
	struct {
		struct nlattr head;
		u32 value;
	} attr = {
		.head = { .nla_len = sizeof(attr), .nla_type = knob },
		.value = value,
	};
	int err;

	err = nla_validate(&attr.head, sizeof(attr), RDMA_DCQCN_A_SETTINGS_MAX,
			   rdma_dcqcn_settings_nl_policy, NULL);
	if (!err)
		*(u32 *)((void *)settings + dcqcn_knob_offset[knob]) = value;
	return err;
}

/**
 * dcqcn_settings_apply() - set the knobs of a profile
 * @settings: settings that are not published yet
 * @profile: the profile
 *
 * Leaves alone the knobs that describe the network rather than DCQCN: the line rate, the enabled
 * priorities, stamps, and contexts, on which two hosts agree; also the choice of an algorithm.
 *
 * Context: any.
 */
void dcqcn_settings_apply(struct dcqcn_settings *settings,
			  const struct dcqcn_profile *profile)
{
	u32 line = settings->rp.rpg_max_rate;

	settings->np = profile->np;
	settings->rp = profile->rp;
	settings->rp.rpg_max_rate = line;
}

/**
 * dcqcn_profile_sets() - whether profiles set a knob, see dcqcn_settings_apply()
 * @knob: RDMA_DCQCN_A_SETTINGS_*
 *
 * Context: any.
 */
bool dcqcn_profile_sets(int knob)
{
	size_t at = dcqcn_knob_offset[knob];

	/* np and rp come first */
	return at < offsetof(struct dcqcn_settings, ccc) &&
	       at != offsetof(struct dcqcn_settings, rp.rpg_max_rate);
}

/**
 * dcqcn_settings_init() - check the module parameters
 *
 * Return: 0, or -EINVAL for a profile that does not exist.
 */
int dcqcn_settings_init(void)
{
	if (dcqcn_profile_find(profile))
		return 0;
	pr_err("no profile \"%s\": use auto, mlx5 or sigcomm15\n", profile);
	return -EINVAL;
}

/**
 * dcqcn_settings_alloc() - allocate a new port's settings
 *
 * Context: process. Return: settings that the caller owns, or NULL.
 */
struct dcqcn_settings *dcqcn_settings_alloc(void)
{
	struct dcqcn_settings *settings;

	settings = kzalloc(sizeof(*settings), GFP_KERNEL);
	if (!settings)
		return NULL;
	dcqcn_settings_apply(settings, dcqcn_profile_find(profile));
	settings->np_enable = np ? DCQCN_PRIOS : 0;
	settings->rp_enable = rp ? DCQCN_PRIOS : 0;
	settings->ccc.entropy = 1;
	return settings;
}
