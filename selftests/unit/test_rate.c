// SPDX-License-Identifier: GPL-2.0
/* What each knob does, worked out by hand, and what must hold for all. */
#include <linux/kernel.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "knobs.h"
#include "random.h"
#include "tap.h"

#define NEVER	131071		/* us; the longest that a period can be */

#define LINE	(40000 * MBPS)	/* the paper's */

struct flow {
	struct dcqcn_rp_params p;
	u64 line;
	u64 now;
	struct dcqcn_rate rate;
};

static struct flow new_flow(const struct dcqcn_rp_params *p, u64 line)
{
	struct flow f = {
		.p = *p,
		.line = line,
		.now = 7 * SECOND,
	};

	dcqcn_rate_init(&f.rate, line, f.now);
	return f;
}

static void advance(struct flow *f, u64 ns, u32 bytes)
{
	f->now += ns;
	dcqcn_rate_advance(&f->rate, &f->p, f->line, f->now, bytes);
}

/* A CNP, now */
static void cnp(struct flow *f)
{
	dcqcn_rate_cnp(&f->rate, &f->p, f->line, f->now);
}

static struct flow new_cut_flow(const struct dcqcn_rp_params *p, u64 line)
{
	struct flow f = new_flow(p, line);

	cnp(&f);
	return f;
}

static double alpha(const struct flow *f)
{
	return ldexp(f->rate.alpha, -30);
}

/* Within a bit per second or a billionth */
static bool near(double value, double expected)
{
	return fabs(value - expected) <= fmax(2, expected * 1e-9);
}

static bool rates_are(const struct flow *f, double rate, double target,
		      const char *when)
{
	return expect(near(f->rate.current_rate, rate),
		      "rate %llu instead of %.0f bit/s %s",
		      f->rate.current_rate, rate, when) &&
	       expect(near(f->rate.target_rate, target),
		      "target %llu instead of %.0f bit/s %s",
		      f->rate.target_rate, target, when);
}

static bool flows_are_same(const struct flow *a, const struct flow *b,
			   const char *when)
{
	return rates_are(a, b->rate.current_rate, b->rate.target_rate, when);
}

static void test_starts_at_line_rate(void)
{
	struct flow f = new_flow(&sigcomm15, LINE);

	rates_are(&f, LINE, LINE, "at the start");
	advance(&f, 3600 * SECOND, U32_MAX);
	rates_are(&f, LINE, LINE, "an hour later");
}

/*
 * The paper's algorithm at the paper's parameters, computed with fractions:
 * two CNPs, fast recovery, additive and hyper increase.
 */
static void test_worked_example(void)
{
	static const struct {
		const char *when;
		u32 us;			/* since the line above */
		u32 bytes;
		bool cnp;
		double rate, target;	/* Mb/s */
	} steps[] = {
		{ "at the first CNP", 0, 0, true, 20019.531250, 40000 },
		{ "just before T", 54, 9999999, false, 20019.531250, 40000 },
		{ "at T 1", 1, 0, false, 30009.765625, 40000 },
		{ "at T 2", 55, 0, false, 35004.882812, 40000 },
		{ "at T 3", 55, 0, false, 37502.441406, 40000 },
		{ "at T 4", 55, 0, false, 38751.220703, 40000 },
		/* alpha: 0.999 after the first cut, less four decays: 0.983 */
		{ "at the CNP", 10, 0, true, 19695.139798, 38751.220703 },
		{ "at T 1'", 55, 0, false, 29223.180251, 38751.220703 },
		{ "at T 2'", 55, 0, false, 33987.200477, 38751.220703 },
		{ "at T 3'", 55, 0, false, 36369.210590, 38751.220703 },
		{ "at T 4'", 55, 0, false, 37560.215647, 38751.220703 },
		{ "at T 5'", 55, 0, false, 38175.718175, 38791.220703 },
		{ "at T 6'", 55, 0, false, 38503.469439, 38831.220703 },
		{ "at B 1'", 0, 10000000, false, 38687.345071, 38871.220703 },
		{ "at B 2'", 0, 10000000, false, 38799.282887, 38911.220703 },
		{ "at B 3'", 0, 10000000, false, 38875.251795, 38951.220703 },
		{ "at B 4'", 0, 10000000, false, 38933.236249, 38991.220703 },
		{ "at B 5'", 0, 10000000, false, 38982.228476, 39031.220703 },
		{ "at B 6'", 0, 10000000, false, 39106.724590, 39231.220703 },
		{ "at B 7'", 0, 10000000, false, 39268.972646, 39431.220703 },
		{ "at T 7'", 55, 0, false, 39550.096675, 39831.220703 },
	};
	struct flow f = new_flow(&sigcomm15, LINE);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		advance(&f, steps[i].us * US, steps[i].bytes);
		if (steps[i].cnp)
			cnp(&f);
		/* the table is rounded to 1e-6 Mb/s */
		if (!rates_are(&f, steps[i].rate * MBPS,
			       steps[i].target * MBPS, steps[i].when))
			return;
	}
}

/* What the target grows by, increase after increase, tells the phases apart */
static void test_increase_phases(void)
{
	struct dcqcn_rp_params p = sigcomm15;
	unsigned int f_knob, timers, bytes;

	p.rate_to_set_on_first_cnp = 1000;
	for (f_knob = 1; f_knob <= 31; f_knob++) {
		struct flow f;
		u64 expected = 0, target;

		p.rpg_threshold = f_knob;
		f = new_cut_flow(&p, 400000 * MBPS);

		/* the timer alone: nothing up to F - 1, additive from F on */
		for (timers = 1; timers <= 40; timers++) {
			target = f.rate.target_rate;
			advance(&f, 55 * US, 0);
			expected = timers < f_knob ? 0 : 40 * MBPS;
			if (!expect(f.rate.target_rate - target == expected,
				    "F %u: timer %u adds %llu instead of %llu",
				    f_knob, timers, f.rate.target_rate - target,
				    expected))
				return;
		}

		/* the byte counter follows: hyper once it is past F, too */
		for (bytes = 1; bytes <= 39; bytes++) {
			target = f.rate.target_rate;
			advance(&f, 0, p.rpg_byte_reset);
			expected = bytes <= f_knob ? 40 * MBPS :
				   (bytes - f_knob) * 200 * MBPS;
			if (!expect(f.rate.target_rate - target == expected,
				    "F %u: bytes %u adds %llu instead of %llu",
				    f_knob, bytes, f.rate.target_rate - target,
				    expected))
				return;
		}

		/* a cut starts all over */
		cnp(&f);
		target = f.rate.target_rate;
		advance(&f, 55 * US, 0);
		expected = f_knob == 1 ? 40 * MBPS : 0;
		expect(f.rate.target_rate - target == expected,
		       "F %u: after a cut the timer adds %llu instead of %llu",
		       f_knob, f.rate.target_rate - target, expected);
	}
}

/* When the second cut moves the target down to where the rate was */
static void test_clamp_tgt_rate(void)
{
	enum history { NOTHING, TIMER, BYTES, TIMER_BYTES, BYTES_TIMER };
	static const struct {
		u32 clamp, after_time_inc;
		enum history history;	/* since the first cut */
		bool moves;
	} cases[] = {
		{ 0, 0, NOTHING, false },
		{ 0, 0, TIMER, false },
		{ 0, 0, BYTES, true },
		{ 0, 0, TIMER_BYTES, true },
		{ 0, 0, BYTES_TIMER, false },
		{ 0, 1, NOTHING, false },
		{ 0, 1, TIMER, true },
		{ 0, 1, BYTES, true },
		{ 0, 1, TIMER_BYTES, true },
		{ 0, 1, BYTES_TIMER, true },
		{ 1, 0, NOTHING, true },
		{ 1, 0, TIMER, true },
		{ 1, 0, BYTES, true },
		{ 1, 0, TIMER_BYTES, true },
		{ 1, 0, BYTES_TIMER, true },
		{ 1, 1, NOTHING, true },
		{ 1, 1, TIMER, true },
		{ 1, 1, BYTES, true },
		{ 1, 1, TIMER_BYTES, true },
		{ 1, 1, BYTES_TIMER, true },
	};
	struct dcqcn_rp_params p = mlx5;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		enum history h = cases[i].history;
		struct dcqcn_rate before;
		struct flow f;
		u64 expected;

		p.clamp_tgt_rate = cases[i].clamp;
		p.clamp_tgt_rate_after_time_inc = cases[i].after_time_inc;
		f = new_cut_flow(&p, LINE);
		advance(&f, 4 * US, 0);
		if (h == BYTES || h == BYTES_TIMER)
			advance(&f, 0, p.rpg_byte_reset);
		if (h == TIMER || h == TIMER_BYTES || h == BYTES_TIMER)
			advance(&f, p.rpg_time_reset * US, 0);
		if (h == TIMER_BYTES)
			advance(&f, 0, p.rpg_byte_reset);

		before = f.rate;
		cnp(&f);
		expect(f.rate.current_rate < before.current_rate,
		       "case %u: no cut", i);
		expected = cases[i].moves ? before.current_rate :
					    before.target_rate;
		expect(f.rate.target_rate == expected,
		       "case %u: target %llu instead of %llu", i,
		       f.rate.target_rate, expected);

		/* with no increase in between the next cut leaves it alone */
		if (cases[i].clamp)
			continue;
		before = f.rate;
		advance(&f, 4 * US, 0);
		cnp(&f);
		expect(f.rate.current_rate < before.current_rate &&
		       f.rate.target_rate == before.target_rate,
		       "case %u: the third cut moves the target", i);
	}
}

static void test_rate_to_set_on_first_cnp(void)
{
	static const struct {
		u32 set, min_rate, expected;	/* Mb/s */
	} cases[] = {
		{ 5, 1, 5 },
		{ 40000, 1, 40000 },
		{ U32_MAX, 1, 40000 },
		{ 5, 20, 20 },
		{ 5, U32_MAX, 40000 },
	};
	struct dcqcn_rp_params p = mlx5;
	unsigned int i;
	struct flow f;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		p.rate_to_set_on_first_cnp = cases[i].set;
		p.rpg_min_rate = cases[i].min_rate;
		f = new_cut_flow(&p, LINE);
		rates_are(&f, cases[i].expected * MBPS,
			  cases[i].expected * MBPS, "at the first CNP");
	}

	/* the second CNP is one like any other */
	p = mlx5;
	p.rate_to_set_on_first_cnp = 100;
	p.dce_tcp_rtt = NEVER;
	f = new_cut_flow(&p, LINE);
	advance(&f, 4 * US, 0);
	cnp(&f);
	rates_are(&f, 100 * MBPS * (1 - 1023 / 2048.0), 100 * MBPS,
		  "at the second CNP");
}

/* There is no state before the first CNP: a flow's past leaves no trace */
static void test_first_cnp_forgets(void)
{
	struct dcqcn_rp_params p = sigcomm15;
	struct flow old, fresh;
	unsigned int i, round;

	for (round = 0; round < 4; round++) {
		p.rate_to_set_on_first_cnp = round % 2 ? 100 : 0;
		p.clamp_tgt_rate = round / 2;
		old = new_flow(&p, LINE);
		advance(&old, SECOND, 999999999);
		fresh = new_flow(&p, LINE);
		for (i = 0; i < 20; i++) {
			if (i % 7 == 0) {
				cnp(&old);
				cnp(&fresh);
			}
			if (!flows_are_same(&old, &fresh, "after a past"))
				break;
			advance(&old, 50 * US, 6000000);
			advance(&fresh, 50 * US, 6000000);
		}
	}

	/* the line counts as it is then, not as it was at init */
	old = new_flow(&sigcomm15, LINE);
	old.line = 10000 * MBPS;
	cnp(&old);
	fresh = new_cut_flow(&sigcomm15, 10000 * MBPS);
	flows_are_same(&old, &fresh, "on a line that was lowered");
	old = new_flow(&sigcomm15, 10000 * MBPS);
	old.line = LINE;
	cnp(&old);
	fresh = new_cut_flow(&sigcomm15, LINE);
	flows_are_same(&old, &fresh, "on a line that was raised");
}

static void test_cut_depth(void)
{
	static const u32 alphas[] = { 1, 2, 100, 512, 1000, 1023 };
	struct dcqcn_rp_params p = mlx5;
	unsigned int i;

	for (p.rpg_gd = 0; p.rpg_gd <= 15; p.rpg_gd++) {
		for (p.rpg_min_dec_fac = 1; p.rpg_min_dec_fac <= 100;
		     p.rpg_min_dec_fac++) {
			for (i = 0; i < ARRAY_SIZE(alphas); i++) {
				double share = alphas[i] / pow(2, p.rpg_gd);
				double most = 1 - p.rpg_min_dec_fac / 100.0;
				struct flow f;

				p.initial_alpha_value = alphas[i];
				f = new_cut_flow(&p, LINE);
				if (!rates_are(&f, LINE *
					       (1 - fmin(share, most)), LINE,
					       "after the first cut"))
					return;
			}
		}
	}
}

/* With 10-bit arithmetic alpha would get stuck at 820/1024 */
static void test_alpha_rises_to_one(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;
	int i;

	p.initial_alpha_value = 1;
	p.dce_tcp_rtt = NEVER;
	p.alpha_on_cut = 1;
	f = new_cut_flow(&p, LINE);
	for (i = 1; i < 3000; i++) {
		double expected = 1 - 1023 / 1024.0 * pow(1019 / 1024.0, i);

		if (!expect(fabs(alpha(&f) - expected) < 1e-6,
			    "alpha %f instead of %f", alpha(&f), expected))
			return;
		advance(&f, 4 * US, 0);
		cnp(&f);
	}
	expect(alpha(&f) > 0.999, "alpha %f", alpha(&f));
}

/* A CNP every 4 us, alpha's period 1 us: three decays per rise. On a cut alpha has risen
 * already; on a NIC it will.
 */
static void test_alpha_settles(void)
{
	double keep = 1019 / 1024.0;
	double risen = (1 - keep) / (1 - pow(keep, 4));
	u32 on_cut;
	int i;

	for (on_cut = 0; on_cut < 2; on_cut++) {
		double expected = on_cut ? risen : risen * pow(keep, 3);
		struct dcqcn_rp_params p = mlx5;
		struct flow f;

		p.alpha_on_cut = on_cut;
		f = new_cut_flow(&p, LINE);
		for (i = 0; i < 3000; i++) {
			advance(&f, 4 * US, 0);
			cnp(&f);
		}
		expect(fabs(alpha(&f) - expected) < 1e-6, "alpha %f instead of %f",
		       alpha(&f), expected);
	}
}

/* A CNP every 10 us for 1 ms, alpha's period 100 us: ten updates on a NIC, and one per cut
 * in the paper
 */
static void test_alpha_clock(void)
{
	double keep = 1019 / 1024.0, start = 1 - 102 / 1024.0;
	u32 on_cut;
	int i;

	for (on_cut = 0; on_cut < 2; on_cut++) {
		double expected = 1 - start * pow(keep, on_cut ? 101 : 10), seen;
		struct dcqcn_rp_params p = mlx5;
		struct flow f;

		p.initial_alpha_value = 102;
		p.dce_tcp_rtt = 100;
		p.alpha_on_cut = on_cut;
		f = new_cut_flow(&p, LINE);
		for (i = 0; i < 100; i++) {
			advance(&f, 10 * US, 0);
			cnp(&f);
		}
		/* a CNP at the end of a period belongs to it */
		seen = ldexp(dcqcn_rate_alpha(&f.rate, &f.p, f.now + 1), -30);
		expect(fabs(seen - expected) < 1e-6, "alpha %f instead of %f", seen, expected);
		tap_note("alpha_on_cut %u: alpha %.3f", on_cut, seen);
	}
}

/* On a NIC, a CNP that waits for the monitor period counts in alpha's period in which it came */
static void test_alpha_of_early_cnp(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;

	p.initial_alpha_value = 512;
	p.dce_tcp_g = 512;
	p.dce_tcp_rtt = 2;
	p.rate_reduce_monitor_period = 10;
	f = new_cut_flow(&p, LINE);
	advance(&f, 1 * US, 0);
	cnp(&f);
	expect(alpha(&f) == .5, "alpha %f after a CNP in its period", alpha(&f));
	advance(&f, 8 * US, 0);
	/* .5 -> .75 at 2 us, then halved at 4, 6 and 8 us; the cut at 10 us ends a period */
	advance(&f, 1 * US, 0);
	expect(alpha(&f) == .75 / 8, "alpha %f at the cut", alpha(&f));
	advance(&f, 1, 0);
	expect(dcqcn_rate_alpha(&f.rate, &f.p, f.now) == (1 << 30) * .75 / 16,
	       "the cut is no CNP");
}

/* The monitor period is lowered while a cut waits: it is due before alpha's last update */
static void test_alpha_later_than_cut(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;
	u32 before;

	p.dce_tcp_rtt = 1;
	p.rate_reduce_monitor_period = 1000;
	f = new_cut_flow(&p, LINE);
	advance(&f, 200 * US, 0);
	cnp(&f);
	before = f.rate.alpha;
	f.p.rate_reduce_monitor_period = 10;
	advance(&f, 1, 0);
	expect(!f.rate.cut_pending, "the cut still waits");
	expect(f.rate.alpha == before, "alpha jumped from %u to %u", before, f.rate.alpha);
}

static void test_alpha_without_memory(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;
	u64 rate;

	p.dce_tcp_g = 0;
	p.alpha_on_cut = 1;
	f = new_cut_flow(&p, LINE);
	expect(alpha(&f) == 1, "alpha %f after a cut", alpha(&f));
	advance(&f, 4 * US, 0);
	rate = f.rate.current_rate;
	cnp(&f);
	expect(f.rate.current_rate == rate, "alpha outlived its period");

	/* on a NIC a CNP makes it 1 for the next period */
	p.alpha_on_cut = 0;
	p.dce_tcp_rtt = 4;
	f = new_cut_flow(&p, LINE);
	advance(&f, 4 * US, 0);
	cnp(&f);
	expect(alpha(&f) == 1023 / 1024.0, "alpha %f in the first period", alpha(&f));
	advance(&f, 4 * US, 0);
	rate = f.rate.current_rate;
	cnp(&f);
	expect(alpha(&f) == 1 && near(f.rate.current_rate, rate / 2),
	       "alpha %f in the second period", alpha(&f));
	advance(&f, 9 * US, 0);
	rate = f.rate.current_rate;
	cnp(&f);
	expect(!alpha(&f) && f.rate.current_rate == rate, "alpha outlived its period");
}

/* CNPs every microsecond: one cut per period, however long that is */
static void test_one_cut_per_period(void)
{
	static const u32 periods[] = { 1, 2, 4, 50, 333 };
	struct dcqcn_rp_params p = mlx5;
	unsigned int i, us;

	p.dce_tcp_rtt = NEVER;
	p.rpg_time_reset = NEVER;
	p.rpg_min_dec_fac = 99;
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		struct flow f;

		p.rate_reduce_monitor_period = periods[i];
		f = new_flow(&p, 400000 * MBPS);
		for (us = 0; us < 1000; us++) {
			u64 rate = f.rate.current_rate;
			bool cut, expected = us % periods[i] == 0;

			cnp(&f);
			/* a cut that waits shows at the end of its period */
			cut = f.rate.current_rate < rate;
			if (!expect(cut == expected, "period %u us, %u us: %s",
				    periods[i], us, cut ? "cut" : "no cut"))
				return;
			advance(&f, 999, 0);
			if (!expect(!cut || f.rate.current_rate >=
				    rate * 0.99 - 1, "more than one cut"))
				return;
			f.now++;
		}
	}
}

static void test_early_cnps_merge(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f, stepped;
	u64 rate;
	int i;

	p.dce_tcp_rtt = NEVER;
	f = new_cut_flow(&p, LINE);
	rate = f.rate.current_rate;
	for (i = 0; i < 3; i++) {
		advance(&f, US, 0);
		cnp(&f);
	}
	advance(&f, US - 1, 0);
	rates_are(&f, rate, LINE, "before the period ends");
	stepped = f;
	advance(&f, 1, 0);
	expect(f.rate.current_rate < rate && f.rate.current_rate >= rate / 2,
	       "%llu -> %llu bit/s", rate, f.rate.current_rate);
	rate = f.rate.current_rate;
	advance(&f, 4 * US, 0);
	rates_are(&f, rate, LINE, "a period later");

	/* the cut took place when it was due, however late one looks: the
	 * timer runs from there
	 */
	advance(&stepped, 1 + 300 * US - 1, 0);
	rates_are(&stepped, rate, LINE, "just before the timer");
	advance(&stepped, 1, 0);
	expect(stepped.rate.current_rate > rate, "the timer is late");
}

/* A cut that waits, then a shorter period: due before the last increase */
static void test_period_lowered_while_cut_waits(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;
	u64 rate;

	p.rate_reduce_monitor_period = NEVER;
	p.dce_tcp_rtt = NEVER;
	f = new_cut_flow(&p, LINE);
	advance(&f, 100 * US, 0);
	cnp(&f);
	advance(&f, 900 * US, 0);
	rate = f.rate.current_rate;
	f.p.rate_reduce_monitor_period = 4;
	advance(&f, US, 0);
	expect(f.rate.current_rate < 0.51 * rate, "%llu -> %llu bit/s", rate,
	       f.rate.current_rate);
	expect(f.rate.target_rate <= rate, "target %llu, rate was %llu bit/s",
	       f.rate.target_rate, rate);
}

static void test_byte_reset(void)
{
	struct dcqcn_rp_params p = sigcomm15;
	struct flow f, stepped;
	u64 rate;
	int i;

	/* what is over counts for the next */
	p.rpg_byte_reset = 1000;
	f = new_cut_flow(&p, LINE);
	stepped = f;
	advance(&f, 0, 999);
	flows_are_same(&f, &stepped, "before the counter is full");
	advance(&f, 0, 2501);
	for (i = 0; i < 3; i++)
		advance(&stepped, 0, 1000);
	flows_are_same(&f, &stepped, "after 3,500 bytes");
	advance(&f, 0, 500);
	advance(&stepped, 0, 1000);
	flows_are_same(&f, &stepped, "after 4,000 bytes");

	p.rpg_byte_reset = 1;
	f = new_cut_flow(&p, LINE);
	stepped = f;
	advance(&f, 0, 1500);
	for (i = 0; i < 1500; i++)
		advance(&stepped, 0, 1);
	flows_are_same(&f, &stepped, "after 1,500 increases");

	p.rpg_byte_reset = 0;
	f = new_cut_flow(&p, LINE);
	rate = f.rate.current_rate;
	for (i = 0; i < 100; i++)
		advance(&f, 0, U32_MAX);
	rates_are(&f, rate, LINE, "without a byte counter");
}

static void test_line_lowered_and_raised(void)
{
	struct flow f = new_cut_flow(&mlx5, LINE);
	u64 rate = f.rate.current_rate;

	f.line = 30000 * MBPS;
	advance(&f, 0, 0);
	rates_are(&f, rate, 30000 * MBPS, "on a line above the rate");
	f.line = 10000 * MBPS;
	advance(&f, 0, 0);
	rates_are(&f, 10000 * MBPS, 10000 * MBPS, "on a line below the rate");
	f.line = LINE;
	advance(&f, 0, 0);
	rates_are(&f, 10000 * MBPS, 10000 * MBPS, "on the old line again");
	advance(&f, 300 * US, 0);
	rates_are(&f, 10002.5 * MBPS, 10005 * MBPS, "at the next increase");

	f.p.rpg_min_rate = 15000;
	advance(&f, 0, 0);
	rates_are(&f, 15000 * MBPS, 15000 * MBPS, "on a higher floor");
	f.line = 500 * MBPS;
	advance(&f, 0, 0);
	rates_are(&f, 500 * MBPS, 500 * MBPS, "on a line below the floor");
}

/* A limiter is released at the line rate: recovery must end there exactly */
static void test_recovery_is_complete(void)
{
	static const struct dcqcn_rp_params *const profiles[] = {
		&mlx5, &sigcomm15
	};
	unsigned int i, k;

	for (i = 0; i < 2 * N_LINES; i++) {
		struct flow f = new_flow(profiles[i % 2], lines[i / 2]);
		struct flow stepped;

		for (k = 0; k < 1000; k++) {
			advance(&f, 50 * US, 0);
			cnp(&f);
		}
		stepped = f;

		/* seven days in one call, on any line */
		advance(&f, 1000000000ULL * 600 * US, 0);
		expect(f.rate.current_rate == f.line &&
		       f.rate.target_rate == f.line,
		       "%llu of %llu bit/s", f.rate.current_rate, f.line);

		/* one increase at a time, up to 400 Gb/s in steps of 5 Mb/s */
		if (f.line == lines[N_LINES - 1])
			continue;
		for (k = 0; k < 100000; k++)
			advance(&stepped, stepped.p.rpg_time_reset * US, 0);
		expect(stepped.rate.current_rate == f.line,
		       "in steps %llu of %llu bit/s",
		       stepped.rate.current_rate, f.line);
	}
}

/* What holds whatever happens. @before is the state one call earlier. */
static bool is_sane(const struct flow *f, const struct dcqcn_rate *before)
{
	const struct dcqcn_rate *r = &f->rate;
	u64 floor = min(f->p.rpg_min_rate * MBPS, f->line);

	return expect(r->current_rate >= floor, "%llu below the floor",
		      r->current_rate) &&
	       expect(r->current_rate <= r->target_rate, "%llu above target",
		      r->current_rate) &&
	       expect(r->target_rate <= f->line, "target %llu above the line",
		      r->target_rate) &&
	       expect(r->alpha <= 1U << 30, "alpha %u", r->alpha) &&
	       /* nothing but a cut, or a lower line, takes the rate down */
	       expect(r->cut_time != before->cut_time ||
		      before->current_rate > f->line ||
		      r->current_rate >= before->current_rate,
		      "%llu -> %llu bit/s without a cut", before->current_rate,
		      r->current_rate);
}

static bool sane_advance(struct flow *f, u64 ns, u32 bytes)
{
	struct dcqcn_rate before = f->rate;

	advance(f, ns, bytes);
	return is_sane(f, &before);
}

static bool sane_cnp(struct flow *f)
{
	struct dcqcn_rate before;
	u64 least;

	if (!sane_advance(f, 0, 0))	/* so that only the CNP acts */
		return false;
	before = f->rate;
	cnp(f);
	least = before.current_rate * (f->p.rpg_min_dec_fac / 100.0);
	if (!expect(f->rate.current_rate >= least * (1 - 1e-9) - 1,
		    "cut by more than rpg_min_dec_fac"))
		return false;
	if (before.running && f->rate.cut_time != before.cut_time &&
	    !expect(f->rate.cut_time - before.cut_time >=
		    f->p.rate_reduce_monitor_period * US,
		    "two cuts in one period"))
		return false;
	before.cut_time = ~0ULL;	/* if there was one, it was all right */
	return is_sane(f, &before);
}

/* All knobs at one end or the other of their range, all 2^16 ways */
static void test_all_corners(void)
{
	u32 corner;

	for (corner = 0; corner < 1U << N_KNOBS; corner++) {
		struct dcqcn_rp_params p;
		unsigned int i;
		struct flow f;

		for (i = 0; i < N_KNOBS; i++)
			*knob_of(&p, &knobs[i]) = corner >> i & 1 ?
						  knobs[i].max : knobs[i].min;
		/* not read by rate.c, which is told the line: choose one */
		if (p.rpg_max_rate)
			continue;
		for (i = 0; i < N_LINES; i++) {
			f = new_flow(&p, lines[i]);
			if (!sane_cnp(&f) ||
			    !sane_advance(&f, 1, 1) ||
			    !sane_cnp(&f) ||
			    !sane_advance(&f, NEVER * US, 1500) ||
			    !sane_cnp(&f) ||
			    !sane_advance(&f, SECOND, U32_MAX) ||
			    !sane_cnp(&f) ||
			    !sane_cnp(&f) ||
			    !sane_advance(&f, 3600 * SECOND, U32_MAX) ||
			    !sane_cnp(&f)) {
				tap_note("that was on a line of %llu bit/s at",
					 lines[i]);
				knobs_print(&p);
				return;
			}
		}
	}
}

/* Any knob and the line may change at any time */
static void test_live_changes(void)
{
	struct flow f;
	int i, k;

	for (k = 0; k < 2000; k++) {
		f = new_flow(&mlx5, LINE);
		for (i = 0; i < 200; i++) {
			const struct knob *knob =
				&knobs[random_below(N_KNOBS)];

			if (random_one_in(8))
				*knob_of(&f.p, knob) =
					random_log(knob->min, knob->max);
			if (random_one_in(30))
				f.p = knobs_random();
			if (random_one_in(16))
				f.line = random_log(1, U32_MAX) * MBPS;
			if (!sane_advance(&f, random_log(0, SECOND),
					  random_log(0, U32_MAX)))
				goto failed;
			if (random_one_in(3))
				cnp(&f);
		}
	}
	return;
failed:
	tap_note("that was on a line of %llu bit/s at", f.line);
	knobs_print(&f.p);
}

/* One call for @idle, and calls of @step until then, give the same */
static bool idle_both_ways(const struct flow *start, u64 idle, u64 step)
{
	struct flow once = *start, often = *start;
	u64 passed;

	for (passed = 0; passed < idle; passed += step)
		advance(&often, step, 0);
	advance(&once, passed, 0);
	return flows_are_same(&once, &often, "after one idle call");
}

static void test_idle_in_one_call(void)
{
	struct dcqcn_rp_params p = mlx5;
	struct flow f;

	/* so slow, on so fast a line, that a year is not enough */
	p.rpg_time_reset = NEVER;
	p.rpg_ai_rate = 1;
	p.rate_to_set_on_first_cnp = 1;
	f = new_cut_flow(&p, lines[N_LINES - 1]);
	idle_both_ways(&f, 3600 * SECOND, MS);
	idle_both_ways(&f, 365 * 24 * 3600 * SECOND, 10 * SECOND);
	advance(&f, 365 * 24 * 3600 * SECOND, 0);
	expect(f.rate.current_rate < f.line, "the line is reached");

	/* after most of a year at the line */
	f = new_cut_flow(&p, lines[N_LINES - 1]);
	f.p.rpg_ai_rate = 20;
	idle_both_ways(&f, 365 * 24 * 3600 * SECOND, 10 * SECOND);
}

static void test_idle_random(void)
{
	unsigned int i, k;

	for (i = 0; i < 5000; i++) {
		struct dcqcn_rp_params p = knobs_random();
		u64 period = p.rpg_time_reset * US;
		struct flow f = new_cut_flow(&p, lines[random_below(N_LINES)]);

		for (k = random_below(4); k; k--) {
			advance(&f, random_log(0, 2 * period),
				random_log(0, U32_MAX));
			cnp(&f);
		}
		advance(&f, 0, random_log(0, U32_MAX));
		if (!idle_both_ways(&f, random_log(0, 3000 * period),
				    random_log(period / 3, 30 * period))) {
			tap_note("that was on a line of %llu bit/s at", f.line);
			knobs_print(&p);
			return;
		}
	}
}

/* Seconds of this thread's CPU time. The clock of the process, as that of clock(), only counts
 * ticks where RLIMIT_CPU is set.
 */
static double thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* CPU time in seconds of some calls that were each idle for @periods. The byte counter has passed
 * F before if @hyper.
 */
static double cpu_time(const struct dcqcn_rp_params *p, bool hyper, u64 periods)
{
	double best = INFINITY;
	int i, k;

	for (i = 0; i < 5; i++) {	/* others use this machine, too */
		double start = thread_time();

		for (k = 0; k < (hyper ? 500 : 5000); k++) {
			struct flow f = new_cut_flow(p, lines[N_LINES - 1]);

			f.p.rpg_time_reset = 1;
			if (hyper)
				advance(&f, 0, 40 * p->rpg_byte_reset);
			advance(&f, periods * US, hyper ? 0 : U32_MAX);
			cnp(&f);
		}
		best = fmin(best, thread_time() - start);
	}
	return best;
}

/* What a call costs must not grow with the time that passed: from a thousand
 * periods to some years of microseconds. Work in proportion would take ten times as
 * long from one row to the next, and fail at the second.
 */
static void work_is_bounded(const struct dcqcn_rp_params *p, bool hyper)
{
	u64 year = 365 * 24 * 3600 * SECOND / US;
	double base = cpu_time(p, hyper, 1000);
	u64 periods;

	for (periods = 10000; periods < 10 * year; periods *= 10) {
		double ratio = cpu_time(p, hyper, periods) / base;

		if (!expect(ratio < 20,
			    "%llu periods take %.0f times as long as 1000%s",
			    periods, ratio, hyper ? ", in hyper increase" : ""))
			return;
	}
}

/* CPU time in seconds of a call after a stall has made a fast flow slow: T is still that of the fast
 * one, unless it is brought up to date
 */
static double stalled_time(bool retimed)
{
	double best = INFINITY, begin;
	int i;

	for (i = 0; i < 5; i++) {
		struct flow f = new_flow(&automatic, lines[N_LINES - 1]);

		f.rate.packet = 9000;
		dcqcn_rate_set_rtt(&f.rate, US, 0);
		cnp(&f);
		f.rate.seen_rate = MBPS;
		f.now += MS;
		dcqcn_rate_resume(&f.rate, &f.p, f.now);
		expect(f.rate.target_rate == MBPS, "it goes on at %llu bit/s", f.rate.target_rate);
		if (retimed)
			dcqcn_rate_set_rtt(&f.rate, US, 0);
		begin = thread_time();
		advance(&f, 3600 * SECOND, 0);
		best = fmin(best, thread_time() - begin);
		if (!retimed)
			advance(&f, 3600 * SECOND, 0);
		expect(f.rate.current_rate == f.line, "the rate stays %llu bit/s",
		       f.rate.current_rate);
	}
	return best;
}

static void test_bounded_work(void)
{
	struct dcqcn_rp_params p = mlx5;
	double ratio = stalled_time(false) / stalled_time(true);
	struct flow f;

	expect(ratio < 20, "after a stall, an hour takes %.0f times as long", ratio);
	work_is_bounded(&p, false);
	/* additive increases follow the target, and hyper increases are short */
	p.rate_to_set_on_first_cnp = 1;
	p.rpg_ai_rate = 0;
	p.rpg_hai_rate = 1;
	work_is_bounded(&p, true);
	/* and none of them is dropped */
	f = new_cut_flow(&p, lines[N_LINES - 1]);
	f.p.rpg_time_reset = 1;
	advance(&f, 0, 40 * p.rpg_byte_reset);
	idle_both_ways(&f, 20 * MS, 100 * US);
}

/* A stall leaves a flow where it was, but for the target */
static void test_resume(void)
{
	struct dcqcn_rp_params p = sigcomm15;
	struct flow stalled = new_cut_flow(&p, 40000 * MBPS);
	struct flow ran;
	u64 rate;

	advance(&stalled, 300 * US, 1000);
	ran = stalled;
	rate = stalled.rate.current_rate;

	advance(&stalled, 17 * MS, 0);
	expect(stalled.rate.current_rate > rate, "the rate rose to %llu",
	       stalled.rate.current_rate);
	dcqcn_rate_resume(&stalled.rate, &p, stalled.now);
	expect(stalled.rate.current_rate == rate, "it is %llu, it was %llu",
	       stalled.rate.current_rate, rate);
	expect(stalled.rate.target_rate == rate, "the target is %llu",
	       stalled.rate.target_rate);

	/* fast recovery comes first again, towards where it is already */
	advance(&stalled, 54 * US, 0);
	advance(&ran, 54 * US, 0);
	expect(stalled.rate.current_rate == rate, "it rose early");
	cnp(&stalled);
	cnp(&ran);
	expect(stalled.rate.alpha == ran.rate.alpha,
	       "alpha is %u, without the stall %u", stalled.rate.alpha,
	       ran.rate.alpha);

	/* the rate after a cut counts, not the one that was sent at */
	rate = stalled.rate.current_rate;
	advance(&stalled, 17 * MS, 0);
	dcqcn_rate_resume(&stalled.rate, &p, stalled.now);
	expect(stalled.rate.current_rate == rate, "it is %llu, cut to %llu",
	       stalled.rate.current_rate, rate);

	/* a loss that shows before an increase was due changes nothing */
	cnp(&stalled);
	advance(&stalled, 54 * US, 0);
	ran = stalled;
	dcqcn_rate_resume(&stalled.rate, &p, stalled.now);
	expect(!memcmp(&stalled.rate, &ran.rate, sizeof(ran.rate)),
	       "no stall, but the state changed");
}

static const struct tap_test tests[] = {
	{ "a flow starts at the line rate", test_starts_at_line_rate },
	{ "the paper's parameters, by hand", test_worked_example },
	{ "rpg_threshold: the phases of increase", test_increase_phases },
	{ "clamp_tgt_rate, clamp_tgt_rate_after_time_inc", test_clamp_tgt_rate },
	{ "rate_to_set_on_first_cnp", test_rate_to_set_on_first_cnp },
	{ "the first CNP forgets what was before", test_first_cnp_forgets },
	{ "rpg_gd, rpg_min_dec_fac: depth of a cut", test_cut_depth },
	{ "dce_tcp_g: alpha rises to 1", test_alpha_rises_to_one },
	{ "dce_tcp_rtt: alpha settles", test_alpha_settles },
	{ "alpha_on_cut: updates by a clock, or by cuts", test_alpha_clock },
	{ "alpha_on_cut 0: a CNP counts when it comes", test_alpha_of_early_cnp },
	{ "alpha_on_cut 0: a cut due before alpha's update", test_alpha_later_than_cut },
	{ "dce_tcp_g 0: alpha has no memory", test_alpha_without_memory },
	{ "rate_reduce_monitor_period: one cut each", test_one_cut_per_period },
	{ "CNPs within a monitor period merge", test_early_cnps_merge },
	{ "a shorter monitor period while a cut waits",
	  test_period_lowered_while_cut_waits },
	{ "rpg_byte_reset", test_byte_reset },
	{ "line rate and floor change", test_line_lowered_and_raised },
	{ "recovery ends at the line rate", test_recovery_is_complete },
	{ "all corners of the knobs' ranges", test_all_corners },
	{ "knobs change on a live flow", test_live_changes },
	{ "an hour and a year idle in one call", test_idle_in_one_call },
	{ "random idle times in one call", test_idle_random },
	{ "idle time costs nothing", test_bounded_work },
	{ "a stall leaves no trace", test_resume },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
