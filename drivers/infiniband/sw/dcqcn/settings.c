// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs a port starts with: a named profile and the two roles, all chosen
 * when the module is loaded.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "settings.h"

static char *profile = "softroce";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile,
		 "Initial knobs: softroce (default), mlx5 or sigcomm15");

static bool np = true;
module_param(np, bool, 0444);
MODULE_PARM_DESC(np, "Enable the notification point on all priorities (default Y)");

static bool rp = true;
module_param(rp, bool, 0444);
MODULE_PARM_DESC(rp, "Enable the reaction point on all priorities (default Y)");

struct dcqcn_profile {
	const char *name;
	struct dcqcn_np_params np;
	struct dcqcn_rp_params rp;
};

static const struct dcqcn_profile dcqcn_profiles[] = {
	{
		/* For round trips of 0.1 to 5 ms, as between VMs. How the
		 * values were found: Documentation/infiniband/rdma_dcqcn.rst
		 */
		.name = "softroce",
		.np = {
			.min_time_between_cnps = 4000,
			.cnp_dscp = 48,
			.cnp_802p_prio = 6,
		},
		.rp = {
			.rpg_min_rate = 1,
			.initial_alpha_value = 1023,
			.dce_tcp_g = 960,
			.dce_tcp_rtt = 40000,
			.rate_reduce_monitor_period = 4000,
			.rpg_gd = 11,
			.rpg_min_dec_fac = 50,
			.clamp_tgt_rate = 1,
			.clamp_tgt_rate_after_time_inc = 1,
			.rpg_time_reset = 60000,
			.rpg_byte_reset = 0,
			.rpg_threshold = 1,
			.rpg_ai_rate = 1,
			.rpg_hai_rate = 10,
		},
	},
	{
		/* The defaults of ConnectX NICs */
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
		/* SIGCOMM 2015, for 40 Gb/s: g = 1/256, every CNP cuts, and a
		 * cut may take up to alpha/2. The paper leaves R_HAI open: ten
		 * times R_AI, as on the NIC.
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

static const struct dcqcn_profile *dcqcn_profile_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dcqcn_profiles); i++) {
		if (sysfs_streq(dcqcn_profiles[i].name, name))
			return &dcqcn_profiles[i];
	}
	return NULL;
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
	pr_err("no profile \"%s\": use softroce, mlx5 or sigcomm15\n", profile);
	return -EINVAL;
}

/**
 * dcqcn_settings_alloc() - the settings a port starts with
 *
 * Context: process. Return: settings that the caller owns, or NULL.
 */
struct dcqcn_settings *dcqcn_settings_alloc(void)
{
	const struct dcqcn_profile *initial = dcqcn_profile_find(profile);
	struct dcqcn_settings *settings;
	int prio;

	settings = kzalloc(sizeof(*settings), GFP_KERNEL);
	if (!settings)
		return NULL;
	settings->np = initial->np;
	settings->rp = initial->rp;
	for (prio = 0; prio < DCQCN_NUM_PRIOS; prio++) {
		settings->np_enable[prio] = np;
		settings->rp_enable[prio] = rp;
	}
	return settings;
}
