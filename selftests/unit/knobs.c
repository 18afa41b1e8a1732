// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>

#include "knobs.h"
#include "random.h"
#include "tap.h"

#define PERIOD_MAX	131071		/* us */

#define KNOB(member, low, high) { \
	.name = #member, \
	.offset = offsetof(struct dcqcn_rp_params, member), \
	.min = low, \
	.max = high, \
}

/* Rates end at the line rate for people who set them; the algorithm must bear
 * all of u32, because the line may be lowered later.
 */
const struct knob knobs[N_KNOBS] = {
	KNOB(rpg_max_rate, 0, U32_MAX),
	KNOB(rpg_min_rate, 1, U32_MAX),
	KNOB(rate_to_set_on_first_cnp, 0, U32_MAX),
	KNOB(initial_alpha_value, 1, 1023),
	KNOB(dce_tcp_g, 0, 1023),
	KNOB(dce_tcp_rtt, 1, PERIOD_MAX),
	KNOB(alpha_on_cut, 0, 1),
	KNOB(rate_reduce_monitor_period, 1, PERIOD_MAX),
	KNOB(rpg_gd, 0, 15),
	KNOB(rpg_min_dec_fac, 1, 100),
	KNOB(clamp_tgt_rate, 0, 1),
	KNOB(clamp_tgt_rate_after_time_inc, 0, 1),
	KNOB(rpg_time_reset, 1, PERIOD_MAX),
	KNOB(rpg_byte_reset, 0, U32_MAX),
	KNOB(rpg_threshold, 1, 31),
	KNOB(rpg_ai_rate, 1, U32_MAX),
	KNOB(rpg_hai_rate, 1, U32_MAX),
};

const u64 lines[N_LINES] = {
	1 * MBPS,
	10 * MBPS,
	1000 * MBPS,
	40000 * MBPS,
	400000 * MBPS,
	U32_MAX * MBPS,
};

const struct dcqcn_rp_params automatic = {
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
};

const struct dcqcn_rp_params mlx5 = {
	.rpg_max_rate = 0,
	.rpg_min_rate = 1,
	.rate_to_set_on_first_cnp = 0,
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
};

/*
 * The paper has no monitor period and no bound on a cut: 1 us is below its
 * CNP interval of 50 us, 1 % is below any cut. Its g of 1/256 is 1020/1024
 * kept; its alpha of 1 at the start is out of the knob's range by 1/1024. It
 * gives no R_HAI; 200 Mb/s is what the published simulators use.
 */
const struct dcqcn_rp_params sigcomm15 = {
	.rpg_max_rate = 0,
	.rpg_min_rate = 1,
	.rate_to_set_on_first_cnp = 0,
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
	.rpg_hai_rate = 200,
};

u32 *knob_of(struct dcqcn_rp_params *p, const struct knob *knob)
{
	return (void *)p + knob->offset;
}

struct dcqcn_rp_params knobs_random(void)
{
	struct dcqcn_rp_params p;
	int i;

	for (i = 0; i < N_KNOBS; i++)
		*knob_of(&p, &knobs[i]) = random_log(knobs[i].min,
						     knobs[i].max);

	/* Each magnitude alike is right for rates and times. These knobs do
	 * most of their work near the top.
	 */
	p.rpg_gd = random_in(0, 15);
	p.rpg_min_dec_fac = random_in(1, 100);
	p.initial_alpha_value = 1024 - random_log(1, 1023);
	p.dce_tcp_g = 1023 - random_log(0, 1023);
	return p;
}

void knobs_print(const struct dcqcn_rp_params *p)
{
	struct dcqcn_rp_params copy = *p;
	int i;

	for (i = 0; i < N_KNOBS; i++)
		tap_note("  %s %u", knobs[i].name, *knob_of(&copy, &knobs[i]));
}
