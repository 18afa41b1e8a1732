// SPDX-License-Identifier: GPL-2.0
/*
 * rate.c against an independent model, over random sequences of CNPs, time and
 * bytes: rate and target must agree to 0.1 % after every step.
 */
#include <linux/kernel.h>
#include <math.h>

#include "knobs.h"
#include "model.h"
#include "random.h"
#include "tap.h"

#define TOLERANCE	1e-3
#define ALPHA_TOLERANCE	1e-5	/* absolute; alpha is 0 … 1 */


/* One flow, in both implementations */
struct flow {
	struct dcqcn_rp_params knobs;
	u64 line;
	u64 now;
	struct dcqcn_rate rate;
	struct model model;
};

/* How a test drives its flows */
struct drive {
	unsigned int steps;
	unsigned int cnp_one_in;	/* steps */
	u64 cnp_gap;			/* ns between CNPs, at least */
};

static double largest;		/* difference seen by the running test */

static double difference(u64 value, double expected)
{
	return fabs(value - expected) / expected;
}

static bool flow_agrees(const struct flow *f)
{
	double rate = difference(f->rate.current_rate, f->model.rate);
	double target = difference(f->rate.target_rate, f->model.target);

	largest = fmax(largest, fmax(rate, target));
	return expect(rate <= TOLERANCE,
		      "rate %llu instead of %.0f bit/s at %llu ns",
		      f->rate.current_rate, f->model.rate, f->now) &&
	       expect(target <= TOLERANCE,
		      "target %llu instead of %.0f bit/s at %llu ns",
		      f->rate.target_rate, f->model.target, f->now);
}

static void flow_start(struct flow *f, const struct dcqcn_rp_params *knobs,
		       u64 line)
{
	f->knobs = *knobs;
	f->line = line;
	f->now = random_below(1000 * SECOND);
	dcqcn_rate_init(&f->rate, line, f->now);
	model_init(&f->model, &f->knobs, line, f->now);
}

static bool flow_advance(struct flow *f, u64 gap, u32 bytes)
{
	f->now += gap;
	dcqcn_rate_advance(&f->rate, &f->knobs, f->line, f->now, bytes);
	model_advance(&f->model, f->now, bytes);
	return flow_agrees(f);
}

/* A CNP, @gap after the last step */
static bool flow_cnp(struct flow *f, u64 gap)
{
	unsigned long cuts;
	double alpha;

	f->now += gap;
	dcqcn_rate_cnp(&f->rate, &f->knobs, f->line, f->now);
	model_advance(&f->model, f->now, 0);
	cuts = f->model.cuts;
	model_cnp(&f->model);
	if (!flow_agrees(f))
		return false;
	if (f->model.cuts == cuts)
		return true;

	/* rate.c brings alpha up to date only when it cuts */
	alpha = ldexp(f->rate.alpha, -30);
	return expect(fabs(alpha - f->model.alpha) <= ALPHA_TOLERANCE,
		      "alpha %f instead of %f", alpha, f->model.alpha);
}

/* Mostly a part of the longest period, now and then exactly some periods, so
 * that things fall due at the same time. The model walks through every period,
 * so there must not be too many.
 */
static u64 random_gap(const struct dcqcn_rp_params *p)
{
	u64 periods[] = {
		p->dce_tcp_rtt * US,
		p->rpg_time_reset * US,
		p->rate_reduce_monitor_period * US,
	};
	u64 longest = max(max(periods[0], periods[1]), periods[2]);
	u64 shortest = min(periods[0], periods[1]);
	u64 most = min(4 * longest, 2000 * shortest);

	if (random_one_in(4))
		return min(periods[random_below(3)] * random_in(1, 4), most);
	if (random_one_in(100))
		return random_log(0, 20000 * shortest);
	return random_log(0, most);
}

static u32 random_bytes(const struct dcqcn_rp_params *p)
{
	u64 most = U32_MAX;

	if (random_one_in(3))
		return 0;
	if (p->rpg_byte_reset) {
		if (random_one_in(8))
			return p->rpg_byte_reset;
		most = min(most, 200ULL * p->rpg_byte_reset);
	}
	return random_log(1, most);
}

static bool drive(struct flow *f, const struct drive *how)
{
	u64 last_cnp = 0;
	unsigned int i;

	for (i = 0; i < how->steps; i++) {
		u64 gap = random_gap(&f->knobs);

		if (!random_one_in(how->cnp_one_in) ||
		    f->now + gap < last_cnp + how->cnp_gap) {
			if (!flow_advance(f, gap, random_bytes(&f->knobs)))
				break;
			continue;
		}
		last_cnp = f->now + gap;
		/* the sender may or may not have been active just before */
		if (random_one_in(2)) {
			if (!flow_advance(f, gap, random_bytes(&f->knobs)))
				break;
			gap = 0;
		}
		if (!flow_cnp(f, gap))
			break;
	}
	if (i == how->steps)
		return true;
	tap_note("that was step %u on a line of %llu bit/s, with", i, f->line);
	knobs_print(&f->knobs);
	return false;
}

static void drive_profile(const struct dcqcn_rp_params *knobs, u64 line,
			  u64 cnp_gap)
{
	/* seldom congested, sometimes, often: other parts of the range */
	static const unsigned int cnp_one_in[] = { 1000, 100, 20, 3 };
	struct flow f;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		struct drive how = {
			.steps = 1000,
			.cnp_one_in = cnp_one_in[i % 4],
			.cnp_gap = cnp_gap,
		};

		flow_start(&f, knobs, line);
		if (!drive(&f, &how))
			return;
	}
}

static void note_largest(void)
{
	tap_note("largest difference %.2g", largest);
	largest = 0;
}

static void test_sigcomm15(void)
{
	drive_profile(&sigcomm15, 40000 * MBPS, 50 * US);
	note_largest();
}

static void test_mlx5(void)
{
	drive_profile(&mlx5, 40000 * MBPS, 0);
	drive_profile(&mlx5, 400000 * MBPS, 0);
	note_largest();
}

static void test_random_knobs(void)
{
	struct drive how = { .steps = 150 };
	struct flow f;
	unsigned int i;

	for (i = 0; i < 4000; i++) {
		struct dcqcn_rp_params knobs = knobs_random();

		how.cnp_one_in = random_in(2, 50);
		flow_start(&f, &knobs, lines[random_below(N_LINES)]);
		if (!drive(&f, &how))
			break;
	}
	note_largest();
}

/* Each knob at both ends of its range, the others as in a profile */
static void test_extreme_knobs(void)
{
	static const struct dcqcn_rp_params *const profiles[] = {
		&mlx5, &sigcomm15
	};
	struct drive how = { .steps = 100, .cnp_one_in = 5 };
	struct flow f;
	unsigned int i;

	for (i = 0; i < 2 * 2 * N_KNOBS * N_LINES; i++) {
		struct dcqcn_rp_params p = *profiles[i % 2];
		const struct knob *knob = &knobs[i / 4 % N_KNOBS];

		*knob_of(&p, knob) = i / 2 % 2 ? knob->max : knob->min;
		flow_start(&f, &p, lines[i / 4 / N_KNOBS]);
		if (!drive(&f, &how))
			break;
	}
	note_largest();
}

/* The line rate (rpg_max_rate, or the port's speed) changes under a flow */
static void test_line_changes(void)
{
	struct drive how = { .steps = 50, .cnp_one_in = 10 };
	struct flow f;
	unsigned int i;

	flow_start(&f, &mlx5, 40000 * MBPS);
	for (i = 0; i < 300; i++) {
		if (!drive(&f, &how))
			break;
		f.line = random_log(1, 400000) * MBPS;
		model_set_line(&f.model, f.line);
	}
	note_largest();
}

/* A flow that one CNP cut, with stages that @bytes have moved on to */
static void flow_cut(struct flow *f, const struct dcqcn_rp_params *knobs,
		     u64 line, u32 bytes)
{
	flow_start(f, knobs, line);
	flow_cnp(f, 0);
	flow_advance(f, 0, bytes);
}

/*
 * Many increases in one call: rate.c stops counting after some dozens and
 * computes the rest. Every number of them must be right, most of all where the
 * target reaches the line on the way, which the slope decides.
 */
static void test_increases_in_one_call(void)
{
	static const u32 slopes[] = { 1, 7, 43, 150, 290, 577, 1000, 40000 };
	struct dcqcn_rp_params p = sigcomm15;
	unsigned int i, n, stages;
	struct flow f;

	p.rpg_min_dec_fac = 1;
	p.rpg_gd = 10;		/* down to 1 % of the line */
	for (i = 0; i < ARRAY_SIZE(slopes); i++) {
		p.rpg_ai_rate = slopes[i];
		p.rpg_hai_rate = slopes[i];
		/* then the target starts there, too */
		p.rate_to_set_on_first_cnp = 400;
		for (stages = 0; stages < 10; stages += 9) {
			for (n = 0; n < 800; n++) {
				flow_cut(&f, &p, 40000 * MBPS,
					 stages * p.rpg_byte_reset);
				if (!flow_advance(&f, n * 55 * US, 0))
					goto out;

				/* the same number by bytes, which u32 bounds */
				if (n > 400)
					continue;
				flow_cut(&f, &p, 40000 * MBPS, 0);
				flow_advance(&f, stages * 55 * US, 0);
				if (!flow_advance(&f, 0, n * 10000000))
					goto out;
			}
		}
	}
out:
	if (i < ARRAY_SIZE(slopes))
		tap_note("that was %u increases of %u Mb/s", n, slopes[i]);
	note_largest();
}

/* The same for alpha, which decays unseen until the next cut */
static void test_alpha_after_idling(void)
{
	static const u32 keep[] = { 0, 1, 512, 1000, 1019, 1020, 1023 };
	struct dcqcn_rp_params p = mlx5;
	unsigned int i, k;
	struct flow f;

	p.rpg_time_reset = 131071;
	for (k = 0; k < ARRAY_SIZE(keep); k++) {
		p.dce_tcp_g = keep[k];
		for (i = 0; i < 2000; i++) {
			flow_start(&f, &p, 40000 * MBPS);
			flow_cnp(&f, 0);
			if (!flow_cnp(&f, 4 * US + random_log(0, 50 * MS)))
				return;
		}
	}
	note_largest();
}

/* Idle for an hour, and for a year on the fastest line: still climbing */
static void test_long_idle(void)
{
	static const u64 idle[] = { 3600 * SECOND, 365 * 24 * 3600 * SECOND };
	struct dcqcn_rp_params p = mlx5;
	struct flow f;
	unsigned int i;

	p.rpg_min_dec_fac = 1;
	p.rate_to_set_on_first_cnp = 10;
	p.rpg_time_reset = 131071;
	p.dce_tcp_rtt = 131071;
	p.rpg_ai_rate = 1;
	for (i = 0; i < ARRAY_SIZE(idle); i++) {
		flow_start(&f, &p, lines[N_LINES - 1]);
		flow_cnp(&f, 0);
		flow_advance(&f, idle[i], 0);
		expect(f.rate.current_rate < f.line, "the line is reached");
	}
	note_largest();
}

static const struct tap_test tests[] = {
	{ "sigcomm15 at 40 Gb/s follows the model", test_sigcomm15 },
	{ "mlx5 at 40 and 400 Gb/s follows the model", test_mlx5 },
	{ "random knobs follow the model", test_random_knobs },
	{ "each knob at its extremes follows the model", test_extreme_knobs },
	{ "changes of the line rate follow the model", test_line_changes },
	{ "any number of increases in one call", test_increases_in_one_call },
	{ "alpha after idling", test_alpha_after_idling },
	{ "an hour and a year of idling", test_long_idle },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
