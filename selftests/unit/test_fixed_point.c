// SPDX-License-Identifier: GPL-2.0
/*
 * Where DCQCN settles. A switch that marks each packet with the probability p
 * tells a flow to go at some mean rate; N flows share a link when that is an
 * Nth of it. The fluid model of Zhu et al. (CoNEXT 2016) puts means in the
 * place of what happens at random and gets a smaller p. The simulator measures
 * p (tools/sim/scenarios/fixedpoint.toml, linear.toml): these tests say what it
 * has to find, by sending one flow alone and marking it by chance.
 */
#include <linux/kernel.h>

#include "knobs.h"
#include "random.h"
#include "tap.h"

#define LINE		(40000 * MBPS)
#define FRAME		1082		/* bytes: MTU 1024 */
#define CNP_GAP		(50 * US)	/* sigcomm15's min_time_between_cnps */
#define WARM_UP		(100 * MS)
#define LENGTH		(4 * SECOND)

/* Mean rate in bit/s of a flow with the paper's parameters */
static double mean_rate(double p)
{
	u64 mark_below = p * 18446744073709551616.0;	/* 2^64 */
	u64 now = 7 * SECOND, start = now + WARM_UP, end = start + LENGTH;
	u64 next_cnp = now, sent = 0;
	struct dcqcn_rate r;

	dcqcn_rate_init(&r, LINE, now);
	dcqcn_rate_cnp(&r, &sigcomm15, LINE, now);
	while (now < end) {
		dcqcn_rate_advance(&r, &sigcomm15, LINE, now, FRAME);
		if (now >= start)
			sent += FRAME;
		if (random_u64() < mark_below && now >= next_cnp) {
			dcqcn_rate_cnp(&r, &sigcomm15, LINE, now);
			next_cnp = now + CNP_GAP;
		}
		now += FRAME * 8 * SECOND / r.current_rate;
	}
	return sent * 8 / ((double)LENGTH / SECOND);
}

/* @p: what the simulator's scenarios expect, @fluid: the model's root */
static void test_share(unsigned int n, double p, double fluid)
{
	double share = LINE / n;
	double rate = mean_rate(p);

	tap_note("at p = %.5f 1/%u of the line, times %.3f; at the model's %.5f, times %.3f",
		 p, n, rate / share, fluid, mean_rate(fluid) / share);
	expect(rate > 0.95 * share && rate < 1.05 * share,
	       "%.0f bit/s, the share is %.0f", rate, share);
	expect(mean_rate(fluid) > 1.1 * share,
	       "the model's root explains it as well");
}

static void test_2(void)
{
	test_share(2, 0.00111, 0.000841);
}

static void test_4(void)
{
	test_share(4, 0.00269, 0.002042);
}

static void test_8(void)
{
	test_share(8, 0.00675, 0.004924);
}

static void test_10(void)
{
	test_share(10, 0.00878, 0.006524);
}

static const struct tap_test tests[] = {
	{ "2 flows share a line at p = 0.00111", test_2 },
	{ "4 flows share a line at p = 0.00269", test_4 },
	{ "8 flows share a line at p = 0.00675", test_8 },
	{ "10 flows share a line at p = 0.00878", test_10 },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
