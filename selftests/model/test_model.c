// SPDX-License-Identifier: GPL-2.0
/*
 * The threshold model: its arithmetic, its closed forms against figures that were
 * published or that the simulator has measured, and any input.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"
#include "fluid.h"
#include "model.h"
#include "number.h"
#include "random.h"
#include "tap.h"
#include "text.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static bool near(double value, double expected, double share)
{
	return fabs(value - expected) <= share * fabs(expected);
}

static double draw(double low, double high)
{
	return low + (high - low) * (random_u64() >> 11) * 0x1p-53;
}

static struct dcqcn_model_input given(void)
{
	struct dcqcn_model_input in;

	dcqcn_model_defaults(&in);
	return in;
}

static struct dcqcn_model_output solved(const struct dcqcn_model_input *in)
{
	struct dcqcn_model_output out;
	char problem[DCQCN_MODEL_TEXT];

	memset(&out, 0xff, sizeof(out));
	if (expect(dcqcn_model_check(in, problem), "refused: %s", problem))
		dcqcn_model_solve(in, &out);
	return out;
}

static const struct dcqcn_model_finding *finding(const char *part)
{
	const struct dcqcn_model_finding *list;
	size_t n = dcqcn_model_findings(&list);

	for (size_t i = 0; i < n; i++) {
		if (strstr(list[i].text, part))
			return &list[i];
	}
	return NULL;
}

/* In units in the last place of what libm has */
static double off(double value, double expected)
{
	return fabs(value - expected) / (nextafter(fabs(expected), INFINITY) - fabs(expected));
}

static void test_arithmetic(void)
{
	double worst[4] = {};

	for (int i = 0; i < 200000; i++) {
		double x = draw(-700, 700), small = draw(-0.9, 2) * exp(draw(-40, 0));
		double positive = exp(draw(-600, 600));

		worst[0] = fmax(worst[0], off(number_exp(x), exp(x)));
		worst[1] = fmax(worst[1], off(number_log(positive), log(positive)));
		worst[2] = fmax(worst[2], off(number_expm1(small), expm1(small)));
		worst[3] = fmax(worst[3], off(number_log1p(small), log1p(small)));
	}
	tap_note("in units in the last place: exp %.1f, log %.1f, expm1 %.1f, log1p %.1f", worst[0],
		 worst[1], worst[2], worst[3]);
	for (int i = 0; i < 4; i++)
		expect(worst[i] <= 4, "function %d is off by %.1f", i, worst[i]);
	expect(number_exp(-800) == 0 && isfinite(number_exp(1e300)), "far ends");
	expect(near(number_nice(20890), 21000, 1e-12) && near(number_nice(0.041), 0.041, 1e-12) &&
	       near(number_nice(7), 7, 1e-12), "round numbers: %g", number_nice(20890));
}

static void expect_text(enum dcqcn_model_unit unit, double value, const char *expected)
{
	char buf[32];
	struct text t = text_begin(buf, sizeof(buf));

	text_value(&t, unit, value);
	expect(!strcmp(buf, expected), "\"%s\" instead of \"%s\"", buf, expected);
}

static void test_texts(void)
{
	char buf[8];
	struct text t = text_begin(buf, sizeof(buf));

	expect_text(DCQCN_MODEL_BPS, 400e9, "400gbit");
	expect_text(DCQCN_MODEL_BPS, 48e6, "48mbit");
	expect_text(DCQCN_MODEL_BYTES, 12296, "12.3KB");
	expect_text(DCQCN_MODEL_BYTES, 0, "0B");
	expect_text(DCQCN_MODEL_BYTES, -1500, "-1.5KB");
	expect_text(DCQCN_MODEL_US, 0.25, "250ns");
	expect_text(DCQCN_MODEL_US, 55, "55us");
	expect_text(DCQCN_MODEL_SHARE, 0.05, "5%");
	expect_text(DCQCN_MODEL_SHARE, 0.00114, "0.114%");
	expect_text(DCQCN_MODEL_NUMBER, 2.7, "2.7");
	expect_text(DCQCN_MODEL_NUMBER, 99.96, "100");
	text_add(&t, "longer than it");
	expect(!strcmp(buf, "longer ") && t.length == 7, "\"%s\"", buf);
}

static void check_fields(const struct dcqcn_model_field *f, size_t size)
{
	static const char * const ends[] = {
		[DCQCN_MODEL_BPS] = "_bps", [DCQCN_MODEL_BYTES] = "_bytes",
		[DCQCN_MODEL_US] = "_us", [DCQCN_MODEL_SHARE] = "_share", [DCQCN_MODEL_M] = "_m",
	};
	size_t n;

	for (n = 0; f->key; f++, n++) {
		const char *end = f->unit < COUNT(ends) ? ends[f->unit] : NULL;

		expect(f->offset == n * sizeof(double), "%s is not in order", f->key);
		expect(!strncmp(f->name, f->key, strlen(f->key)), "%s is not of %s", f->name, f->key);
		expect(!end || !strcmp(f->name + strlen(f->name) - strlen(end), end),
		       "%s does not end in its unit", f->name);
		expect(!!f->words == (f->unit == DCQCN_MODEL_WORD), "words of %s", f->key);
		expect(*f->help, "%s has no help", f->key);
	}
	expect(n * sizeof(double) == size, "%zu fields for %zu bytes", n, size);
}

static void test_fields(void)
{
	struct dcqcn_model_input in;
	char problem[DCQCN_MODEL_TEXT];
	size_t i;

	check_fields(dcqcn_model_inputs, sizeof(struct dcqcn_model_input));
	check_fields(dcqcn_model_outputs, sizeof(struct dcqcn_model_output));
	for (i = 0; dcqcn_model_presets[i].name; i++) {
		dcqcn_model_preset(&in, i);
		expect(dcqcn_model_check(&in, problem), "%s: %s", dcqcn_model_presets[i].name,
		       problem);
	}
	expect(i >= 4, "%zu presets", i);
}

static void refused(const struct dcqcn_model_input *in, const char *start, const char *part)
{
	char problem[DCQCN_MODEL_TEXT] = "";

	expect(!dcqcn_model_check(in, problem), "taken, not refused: %s", start);
	expect(!strncmp(problem, start, strlen(start)) && strstr(problem, part), "says: %s", problem);
}

static void test_refusals(void)
{
	struct dcqcn_model_input in = given();

	for (const struct dcqcn_model_field *f = dcqcn_model_inputs; f->key; f++) {
		const double wrong[] = { NAN, INFINITY, -INFINITY, f->max * 1.01 + 1, -2 };

		for (size_t i = 0; i < COUNT(wrong); i++) {
			in = given();
			*dcqcn_model_at(&in, f) = wrong[i];
			refused(&in, f->key, "must be");
		}
	}
	in = given();
	in.flows = 2.5;
	refused(&in, "flows", "whole number, 1 to 1024");
	in = given();
	in.kmin_bytes = 3e5;
	in.kmax_bytes = 2e5;
	refused(&in, "kmin: 300KB is more than kmax, 200KB", "");
	in = given();
	in.xoff_bytes = 17e6;
	refused(&in, "xoff: 17MB is more than buffer, 16MB", "lost before a pause");
	in = given();
	in.xoff_bytes = 1e5;
	in.xon_bytes = 2e5;
	refused(&in, "xon", "as soon as it began");
	in = given();
	in.headroom_bytes = 6e5;
	refused(&in, "headroom", "leaves nothing to share of a buffer of 16MB");
	in.pfc = 0;
	expect(dcqcn_model_check(&in, (char[DCQCN_MODEL_TEXT]) {}), "headroom without PFC");
	in = given();
	in.uplinks = 1;
	refused(&in, "uplinks", "spine_speed");
	in.spine_speed_bps = 400e9;
	expect(dcqcn_model_check(&in, (char[DCQCN_MODEL_TEXT]) {}), "an uplink of 400 Gb/s");
	in.tiers = 2;
	in.uplinks = DCQCN_MODEL_AUTO;
	in.spine_speed_bps = 5e9;
	refused(&in, "uplinks", "spine_speed");
	in.flows = 32;
	expect(dcqcn_model_check(&in, (char[DCQCN_MODEL_TEXT]) {}), "32 flows by uplinks of 5 Gb/s");
	in = given();
	in.senders = 1;
	refused(&in, "senders", "queue in the host");
	in = given();
	in.reserve_bytes = 5e5;
	refused(&in, "reserve", "leaves nothing to share of a buffer of 16MB");
}

/* Exact roots at the paper's parameters: 40 Gb/s, packets of 1000 bytes */
static void test_fixed_point(void)
{
	static const struct { double flows, p; } roots[] = {
		{ 2, 0.00078 }, { 4, 0.00189 }, { 8, 0.00455 }, { 10, 0.00603 }, { 16, 0.0109 },
	};
	const struct senders paper = {
		.cnp_interval_us = 50,
		.rp = {
			.dce_tcp_g = 1020, .dce_tcp_rtt = 55, .alpha_on_cut = 1, .rate_reduce_monitor_period = 1,
			.rpg_time_reset = 55, .rpg_byte_reset = 10000000, .rpg_threshold = 5,
			.rpg_ai_rate = 40, .rpg_hai_rate = 400, .rpg_gd = 11,
		},
	};

	for (size_t i = 0; i < COUNT(roots); i++) {
		struct fluid fluid = {
			.flow_packets = 5e9 / 1000 / roots[i].flows, .packet_bytes = 1000,
			.rtt_s = 4e-6, .speed_bytes = 5e9, .kmin_bytes = 5e3, .kmax_bytes = 2e5,
			.pmax_share = 1,
		};
		double p = fluid_fixed_point(&fluid, &paper);

		expect(near(p, roots[i].p, 0.01), "%.0f flows: p %.5f", roots[i].flows, p);
		expect(near(fluid_balance(p, &fluid, &paper), 1, 1e-6), "no balance");
	}
}

static void test_curve(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out;

	in.kmin_bytes = 5e3;
	in.kmax_bytes = 2e5;
	in.pmax_share = 0.01;
	out = solved(&in);
	for (int i = 0; i < 1000; i++) {
		struct dcbport_curve curve = { 5000, 200000, DCBPORT_PMAX_ONE / 100 };
		u32 queue = random_below(300000);
		double chance = (double)dcbport_curve_chance(&curve, queue) / DCBPORT_PMAX_ONE;

		expect(fabs(dcqcn_model_chance(&out, queue) - chance) < 2e-9, "%u bytes", queue);
	}
}

/* The oracle of Documentation/switch.rst: MTU 1024, 1 us of cable */
static void test_headroom(void)
{
	static const struct { double speed, bytes, quanta; } cases[] = {
		{ 40e9, 12296, 118 }, { 100e9, 27296, 394 }, { 400e9, 102296, 905 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output out;

		in.speed_bps = cases[i].speed;
		in.mtu_bytes = 1024;
		in.cable_m = 200;
		in.buffer_bytes = 64e6;
		in.response_quanta = 0;
		out = solved(&in);
		expect(near(out.headroom_needed_bytes, cases[i].bytes, 1e-12), "needs %f",
		       out.headroom_needed_bytes);
		expect(out.headroom_state == DCQCN_MODEL_HEADROOM_SAFE, "what it chose is unsafe");
		in.response_quanta = DCQCN_MODEL_AUTO;
		in.headroom_bytes = cases[i].bytes;
		out = solved(&in);
		expect(near(out.headroom_response_bytes, 64 * cases[i].quanta, 1e-12),
		       "response %f", out.headroom_response_bytes);
		expect(near(out.headroom_left_bytes, -64 * cases[i].quanta, 1e-9) &&
		       out.headroom_state == DCQCN_MODEL_HEADROOM_SHORT && finding("short by"),
		       "left %f", out.headroom_left_bytes);
	}
}

/* A quantum is 512 bits of the link by which flows come in: 64 bytes, at any speed */
static void test_response(void)
{
	static const struct { double speed, uplink, uplinks, quanta, bytes; } cases[] = {
		{ 400e9, 100e9, 8, DCQCN_MODEL_AUTO, 64 * 394 },
		{ 100e9, 400e9, 4, DCQCN_MODEL_AUTO, 64 * 905 },
		{ 100e9, 400e9, 4, 905, 64 * 905 },
		{ 100e9, 0, 4, DCQCN_MODEL_AUTO, 64 * 394 },
		{ 100e9, 400e9, 0, DCQCN_MODEL_AUTO, 64 * 394 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output out;

		in.speed_bps = cases[i].speed;
		in.tiers = 2;
		in.spine_speed_bps = cases[i].uplink;
		in.uplinks = cases[i].uplinks;
		in.response_quanta = cases[i].quanta;
		out = solved(&in);
		expect(near(out.headroom_response_bytes, cases[i].bytes, 1e-12),
		       "%.0f uplinks of %g: response %f", in.uplinks, in.spine_speed_bps,
		       out.headroom_response_bytes);
	}
}

/* By default a leaf's uplinks carry all that its hosts send, and more than the congested link */
static void test_uplinks(void)
{
	static const struct { double tiers, ports, spine, uplinks; } cases[] = {
		{ 1, 32, 0, 0 }, { 2, 32, 0, 16 }, { 3, 32, 0, 16 }, { 2, 40, 400e9, 8 },
		{ 2, 1, 0, 2 }, { 2, 1, 400e9, 1 }, { 2, 1, 50e9, 3 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output chosen, told;

		in.tiers = cases[i].tiers;
		in.ports = cases[i].ports;
		in.spine_speed_bps = cases[i].spine;
		chosen = solved(&in);
		expect(chosen.uplinks == cases[i].uplinks, "%.0f tiers, %.0f ports: %.0f uplinks",
		       in.tiers, in.ports, chosen.uplinks);
		in.uplinks = cases[i].uplinks;
		told = solved(&in);
		expect(!memcmp(&chosen, &told, sizeof(told)), "not as with %.0f uplinks", in.uplinks);
	}
}

/* In simulated time, too: flows that nothing else slows down fill xOFF, and what then comes
 * in, but for what leaves meanwhile, goes into headroom
 */
static void test_response_in_time(void)
{
	static const struct { double speed, uplink, uplinks; } cases[] = {
		{ 400e9, 100e9, 8 }, { 100e9, 400e9, 1 }, { 100e9, 100e9, 16 }, { 100e9, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output out;
		double ports, uplink, leaves, peak;

		in.speed_bps = cases[i].speed;
		in.tiers = 2;
		in.spine_speed_bps = cases[i].uplink;
		in.uplinks = cases[i].uplinks;
		in.profile = 2;
		in.response_quanta = 2000;
		in.buffer_bytes = 1e9;
		in.kmin_bytes = in.kmax_bytes = 9e8;
		in.xoff_bytes = 2e5;
		in.xon_bytes = 1e5;
		out = solved(&in);
		ports = in.uplinks ? in.uplinks : in.flows;
		uplink = in.uplinks && in.spine_speed_bps ? in.spine_speed_bps : in.speed_bps;
		leaves = in.speed_bps / (ports * uplink);
		peak = ports * (in.xoff_bytes + out.headroom_needed_bytes * (1 - leaves));
		expect(near(out.start_peak_bytes, peak, 0.05), "%.0f uplinks of %g: %.0f, not %.0f",
		       in.uplinks, uplink, out.start_peak_bytes, peak);
	}
}

/* A stop that was measured at a port is what headroom is for, whatever 802.3 allows a peer */
static void test_stop(void)
{
	static const double uplinks[] = { 0, 4 };

	for (size_t i = 0; i < COUNT(uplinks); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output computed, out;
		double uplink = uplinks[i] ? 400e9 : 100e9;

		in.tiers = 2;
		in.spine_speed_bps = 400e9;
		in.uplinks = uplinks[i];
		in.profile = 2;
		in.xoff_bytes = 2e5;
		in.xon_bytes = 1e5;
		in.buffer_bytes = 64e6;
		computed = solved(&in);
		in.stop_us = 10;
		out = solved(&in);
		expect(near(out.headroom_needed_bytes, 10 * uplink / 8e6, 1e-12), "needs %f",
		       out.headroom_needed_bytes);
		/* as long in simulated time */
		in.stop_us = DCQCN_MODEL_AUTO;
		in.response_quanta = out.headroom_response_bytes / 64;
		expect(near(solved(&in).start_peak_bytes, out.start_peak_bytes, 0.01), "peak");
		/* cable and frames alone need more than that */
		in.stop_us = 0;
		out = solved(&in);
		expect(!out.headroom_response_bytes &&
		       out.headroom_needed_bytes > computed.headroom_frames_bytes, "needs %f",
		       out.headroom_needed_bytes);
	}
}

/* alpha B / (1 + alpha n), B = 12 MB, alpha = 1/8 */
static void test_dynamic_threshold(void)
{
	static const struct { double flows, bytes; } cases[] = {
		{ 1, 4e6 / 3 }, { 4, 1e6 }, { 8, 0.75e6 }, { 16, 0.5e6 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output out;

		in.flows = cases[i].flows;
		in.buffer_bytes = 12e6;
		in.alpha = 0.125;
		in.headroom_bytes = 0;
		out = solved(&in);
		expect(near(out.dynamic_xoff_bytes, cases[i].bytes, 1e-12), "%.0f flows: %f",
		       in.flows, out.dynamic_xoff_bytes);
	}
}

/* Of a port, 0 means all of the buffer, and 1 / 128 is the least alpha */
static void test_small_alpha(void)
{
	static const double alphas[] = { 1.0 / 128, 0.0039, 0.001 };
	struct dcqcn_model_input in;

	dcqcn_model_defaults(&in);
	in.profile = 2;		/* starts at line rate */
	in.senders = 4;
	in.xoff_bytes = 4e6;
	in.kmin_bytes = 50e3;
	in.kmax_bytes = 200e3;
	for (size_t i = 0; i < COUNT(alphas); i++) {
		struct dcqcn_model_output out;

		in.alpha = alphas[i];
		out = solved(&in);
		expect(out.state_pfc != DCQCN_MODEL_NEVER && out.start_peak_bytes < 1e6,
		       "alpha %g: PFC %g, a queue of %g", in.alpha, out.state_pfc,
		       out.start_peak_bytes);
	}
}

static struct dcqcn_model_input paper(double flows)
{
	struct dcqcn_model_input in = given();

	in.speed_bps = 40e9;
	in.profile = 2;
	in.pfc = 0;
	in.rtt_us = 3;
	in.mtu_bytes = 1024;
	in.buffer_bytes = 1e6;
	in.kmin_bytes = 5e3;
	in.kmax_bytes = 2e5;
	in.pmax_share = 0.01;
	in.flows = flows;
	in.stagger_us = 2000;
	in.window_bytes = 128 * 1082;
	in.duration_us = 250e3;
	return in;
}

/* What tools/sim/sim run linear measured: within a fifth */
static void test_linear(void)
{
	static const struct { double flows, p, queue; } cases[] = {
		{ 2, 0.00112, 25.8e3 }, { 4, 0.00284, 61.2e3 }, { 8, 0.00697, 144e3 },
		{ 10, 0.00948, 192e3 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = paper(cases[i].flows);
		struct dcqcn_model_output out;

		in.kmax_bytes = 1955e3;
		in.pmax_share = 0.1;
		in.buffer_bytes = 4e6;
		out = solved(&in);
		tap_note("%.0f flows: p %.5f, measured %.5f; queue %.0f", in.flows,
			 out.marked_share, cases[i].p, out.queue_mean_bytes);
		expect(near(out.marked_share, cases[i].p, 0.2), "p");
		expect(near(out.queue_mean_bytes, cases[i].queue, 0.2), "queue %.0f",
		       out.queue_mean_bytes);
		expect(out.fluid_p_share < out.marked_share, "the fluid model's p is not lower");
		expect(out.utilisation_share > 0.99 && !out.state_loss, "not full, or a loss");
	}
}

/* What tools/sim/sim run claim-cut measured, alpha being held at 1: within a fifth */
static void test_cut(void)
{
	static const struct { double flows, gd, queue; } cases[] = {
		{ 2, 11, 10.6e3 }, { 2, 13, 14.0e3 }, { 8, 11, 17.5e3 }, { 8, 13, 23.7e3 },
	};
	double p[COUNT(cases)], used[COUNT(cases)];

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = paper(cases[i].flows);
		struct dcqcn_model_output out;

		in.rtt_us = 5.7;
		in.mtu_bytes = 4096;
		in.stagger_us = 0;
		in.buffer_bytes = 4e6;
		in.kmin_bytes = 20e3;
		in.pmax_share = 1;
		in.g_share = 0.001;
		in.alpha_period_us = 1e5;
		in.gd = cases[i].gd;
		in.duration_us = 40e3;
		out = solved(&in);
		p[i] = out.fluid_p_share;
		used[i] = out.utilisation_share;
		expect(near(out.queue_mean_bytes, cases[i].queue, 0.2), "%.0f flows, gd %.0f: %.0f",
		       in.flows, in.gd, out.queue_mean_bytes);
	}
	/* small cuts leave the link full, and a fixed point of more marks */
	expect(used[1] > used[0] + 0.04 && used[3] > used[2] + 0.02, "%.3f %.3f %.3f %.3f are used",
	       used[0], used[1], used[2], used[3]);
	expect(p[1] > 1.5 * p[0] && p[3] > 1.5 * p[2], "the fluid model does not see it");
}

/* The paper's curve swings from some number of flows on, where its p is used up */
static void test_swings(void)
{
	struct dcqcn_model_input in = paper(16);
	struct dcqcn_model_output out = solved(&in);

	expect(out.state_queue && out.above_kmax_share > 0.01, "16 flows do not swing");
	expect(out.fluid_above && finding("Pmax is too low"), "and Pmax is not too low");
	/* what Documentation/switch.rst recommends for 40 Gb/s */
	in.mtu_bytes = 4096;
	in.kmin_bytes = 20e3;
	in.pmax_share = 1;
	in.ai_bps = 10e6;
	out = solved(&in);
	expect(!out.state_queue && !finding("Pmax"), "they swing on a steep curve, too");
}

/* A marker that looks seldom lets the queue swing further */
static void test_seldom(void)
{
	struct dcqcn_model_input in = paper(8);
	double swing, seldom;

	in.pmax_share = 1;
	swing = solved(&in).swing_bytes;
	in.sample_us = 200;
	seldom = solved(&in).swing_bytes;
	expect(seldom > 2 * swing, "%.0f, and %.0f before", seldom, swing);
}

static void test_pauses(void)
{
	static const struct { double percent; int pfc; } cases[] = {
		{ 50, DCQCN_MODEL_START }, { 200, DCQCN_MODEL_ALWAYS },
	};

	/* as tools/sim/scenarios/collision.toml */
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dcqcn_model_input in = paper(8);
		struct dcqcn_model_output out;

		in.pfc = 1;
		in.tiers = 2;
		in.uplinks = 1;
		in.spine_speed_bps = 100e9;
		in.spine_cable_m = 200;
		in.stagger_us = 0;
		in.mtu_bytes = 4096;
		in.buffer_bytes = 4e6;
		in.ports = 2;
		in.response_quanta = 0;
		in.xoff_bytes = 200e3;
		in.xon_bytes = 150e3;
		in.headroom_bytes = 40e3;
		in.kmax_bytes = 2000 * cases[i].percent;
		in.duration_us = 100e3;
		out = solved(&in);
		expect(out.state_pfc == cases[i].pfc, "Kmax %.0f %% of xOFF: %.0f",
		       cases[i].percent, out.state_pfc);
		expect(!out.state_loss, "lossless, and lost %.0f", out.lost_bytes);
		expect((cases[i].percent > 100) == !!finding("too close to PFC"), "finding");
		expect((cases[i].pfc == DCQCN_MODEL_START) == !!finding("too low for the start"),
		       "finding of the start");
	}
}

/* What ports have for themselves, they do not share; and they pause that much later */
static void test_reserve(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output without, with;

	in.flows = 8;
	in.ports = 10;
	in.alpha = 0.125;
	in.buffer_bytes = 2e6;
	in.xoff_bytes = 1e6;
	in.xon_bytes = 5e5;
	without = solved(&in);
	in.reserve_bytes = 50e3;
	with = solved(&in);
	expect(near(with.shared_bytes, without.shared_bytes - 10 * 50e3, 1e-12), "shares %f",
	       with.shared_bytes);
	expect(near(with.dynamic_xoff_bytes, 50e3 + 0.125 * with.shared_bytes / 2, 1e-12),
	       "a port's bound is %f", with.dynamic_xoff_bytes);
	/* all of it reserved, and room for no more than xOFF in that */
	in.profile = 2;
	in.kmin_bytes = 4e5;
	in.kmax_bytes = 8e5;
	in.xoff_bytes = 20e3;
	in.xon_bytes = 10e3;
	with = solved(&in);
	expect(with.state_pfc == DCQCN_MODEL_ALWAYS, "xOFF of 20 KB within a reserve of 50 KB");
}

/* Flows of one host share its link, which is all that they can send */
static void test_senders(void)
{
	struct dcqcn_model_input in = paper(16);
	struct dcqcn_model_output each, few;

	in.stagger_us = 0;
	in.window_bytes = 0;
	in.pmax_share = 1;
	in.ai_bps = 10e6;
	in.buffer_bytes = 4e6;
	in.duration_us = 30e3;
	each = solved(&in);
	in.senders = 2;
	few = solved(&in);
	tap_note("16 hosts: peak %.0f; 2 hosts: %.0f", each.start_peak_bytes, few.start_peak_bytes);
	expect(few.start_line_bytes < each.start_line_bytes / 5, "starts with %.0f, and %.0f",
	       few.start_line_bytes, each.start_line_bytes);
	expect(few.start_peak_bytes < each.start_peak_bytes / 2, "a peak of %.0f, and %.0f",
	       few.start_peak_bytes, each.start_peak_bytes);
	expect(few.utilisation_share > 0.97 && few.jain > 0.9, "%.3f used, fairness %.3f",
	       few.utilisation_share, few.jain);
	/* each gets its share, on whatever host it is */
	in.flows = 4;
	in.senders = 2;
	in.window_bytes = 128 * 1082;
	in.host_queue_bytes = 64 * 1082;
	in.stagger_us = 2000;
	in.kmin_bytes = 40e3;
	in.ai_bps = DCQCN_MODEL_AUTO;
	in.duration_us = 100e3;
	few = solved(&in);
	in.senders = 0;
	each = solved(&in);
	expect(near(few.flow_bps, each.flow_bps, 0.01) && few.jain > 0.9,
	       "each gets %.2f Gb/s, and %.2f with a host of its own; fairness %.3f",
	       few.flow_bps / 1e9, each.flow_bps / 1e9, few.jain);
	in.senders = 4;
	few = solved(&in);
	expect(!memcmp(&few, &each, sizeof(few)), "a host for each is not the default");
}

/* The queue is somewhere all of the time */
static void test_regimes(void)
{
	struct dcqcn_model_input in = paper(8);
	struct dcqcn_model_output out = solved(&in);

	expect(out.below_kmin_share > 0.01 && out.above_kmax_share > 0.001 &&
	       out.below_kmin_share + out.above_kmax_share < 0.99, "%.3f below, %.3f above",
	       out.below_kmin_share, out.above_kmax_share);
	in.kmin_bytes = 3.9e6;
	in.kmax_bytes = 4e6;
	in.buffer_bytes = 8e6;
	out = solved(&in);
	expect(out.below_kmin_share == 1 && !out.above_kmax_share, "Kmin is never reached: %.3f",
	       out.below_kmin_share);
}

/* One flow, whose window is a part of what the path holds, and which asks for an ACK often */
static void test_window(void)
{
	struct dcqcn_model_input in = paper(1);
	struct dcqcn_model_output out;
	double window;

	in.mtu_bytes = 4096;
	in.rtt_us = 100;
	in.ack_bytes = 4154;
	in.window_bytes = 30.5 * 4154;
	in.duration_us = 20e3;
	out = solved(&in);
	window = 8 * 30 * out.frame_bytes / (in.rtt_us * 1e-6);
	tap_note("%.2f Gb/s of %.2f", out.flow_bps / 1e9, window / 1e9);
	expect(near(out.flow_bps, window, 0.1), "%.2f Gb/s", out.flow_bps / 1e9);
	expect(out.queue_max_bytes < 2 * out.packet_bytes && !out.marked_share && out.state_used,
	       "a queue of %.0f", out.queue_max_bytes);
	in.window_bytes = 300 * 4154;
	out = solved(&in);
	expect(near(out.flow_bps, in.speed_bps, 0.01) && !out.state_used, "%.2f Gb/s with a large one",
	       out.flow_bps / 1e9);
}

/* Flows that start together lose packets in a small buffer, send them again, and go on */
static void test_losses(void)
{
	struct dcqcn_model_input in = paper(8);
	struct dcqcn_model_output out;

	in.kmin_bytes = 30e3;
	in.pmax_share = 1;
	in.stagger_us = 0;
	in.buffer_bytes = 3e5;
	in.host_queue_bytes = 64 * 1082;
	in.timeout_us = 1000;
	in.duration_us = 80e3;
	out = solved(&in);
	expect(out.state_loss == DCQCN_MODEL_START && out.start_lost_bytes > 10 * out.packet_bytes,
	       "lost %.0f, %.0f in the start", out.lost_bytes, out.start_lost_bytes);
	expect(out.utilisation_share > 0.95 && out.jain > 0.9, "then %.3f is used, fairness %.3f",
	       out.utilisation_share, out.jain);
	in.timeout_us = 1e6;
	out = solved(&in);
	expect(out.utilisation_share < 0.5, "who waits for a second uses %.3f",
	       out.utilisation_share);
}

/* Short runs are repeated, and the same seed gives the same answer */
static void test_runs(void)
{
	struct dcqcn_model_input in = paper(4);
	struct dcqcn_model_output out, again;

	in.duration_us = 3e3;
	in.stagger_us = 10;
	out = solved(&in);
	expect(out.runs == 3 && out.packets < 20000, "%g runs of %g packets", out.runs, out.packets);
	again = solved(&in);
	expect(!memcmp(&out, &again, sizeof(out)), "twice is not the same");
	in.seed = 2;
	again = solved(&in);
	expect(memcmp(&out, &again, sizeof(out)), "another seed gives the same");
	in.duration_us = 30e3;
	out = solved(&in);
	expect(out.runs == 1 && out.agree_share == 1, "%g runs, %g agree", out.runs, out.agree_share);
}

static void test_hops(void)
{
	struct dcqcn_model_input in = paper(2);
	struct dcqcn_model_output out;
	double p, three;

	in.congested_hops = 2;
	out = solved(&in);
	/* tools/sim/sim run parkinglot: 14.1 of 25.1 Gb/s */
	expect(near(out.long_share, 14.1 / 25.1, 0.1), "long flows get %.3f", out.long_share);
	in.profile = 0;
	out = solved(&in);
	expect(!out.long_share, "of auto, %.3f is known", out.long_share);
	in.profile = 2;
	in.congested_hops = 3;
	out = solved(&in);
	p = out.marked_share;
	three = 1 - (1 - p) * (1 - p) * (1 - p);
	expect(near(out.any_share, three, 1e-9), "any of three: %g", out.any_share);
	expect(near(out.amplification, three / p, 1e-9), "amplified by %g", out.amplification);
	p *= out.graduated_pmax_share / out.pmax_share;
	expect(near(1 - (1 - p) * (1 - p) * (1 - p), out.marked_share, 1e-9), "not undone");
	expect(finding("times as often"), "no finding");
}

/* Thresholds by tier, and the buffer with which a leaf recommends just them */
static void test_tiers(void)
{
	struct dcqcn_model_input in;
	struct dcqcn_model_output even, out;

	dcqcn_model_preset(&in, 2);
	even = solved(&in);
	in.spine_speed_bps = 1.6e12;
	out = solved(&in);
	expect(near(out.spine_kmax_bytes, 2 * out.leaf_kmax_bytes, 0.05) &&
	       near(out.spine_kmin_bytes, 2 * out.leaf_kmin_bytes, 0.05), "a spine twice as fast");
	in.spine_speed_bps = 0;
	in.graduated = 1;
	out = solved(&in);
	expect(near(out.spine_kmin_bytes, 1.5 * even.leaf_kmin_bytes, 1e-12) &&
	       near(out.core_kmax_bytes, 1.5 * even.core_kmax_bytes, 1e-12) &&
	       near(out.spine_pmax_share, 0.75 * even.spine_pmax_share, 1e-12) &&
	       near(out.core_pmax_share, 0.5 * even.core_pmax_share, 1e-12), "not graduated");
	expect(out.leaf_kmax_bytes == even.leaf_kmax_bytes &&
	       even.core_kmax_bytes == even.leaf_kmax_bytes && out.best_kmax_bytes ==
	       even.best_kmax_bytes, "the leaf is graduated, too, or tiers differ");
	for (int i = 0; i < 3; i++) {
		in.alpha = i == 1 ? 0.125 : i;
		in.reserve_bytes = i == 1 ? 1e4 : 0;
		in.buffer_bytes = out.leaf_buffer_bytes;
		in.buffer_bytes = solved(&in).leaf_buffer_bytes + 1;
		out = solved(&in);
		expect(out.best_kmax_bytes == out.leaf_kmax_bytes &&
		       near(out.best_xoff_bytes, 4 * out.best_kmax_bytes / 3 + out.bdp_bytes, 1e-9),
		       "alpha %g: not enough, xOFF %.0f", in.alpha, out.best_xoff_bytes);
		in.buffer_bytes -= 1e5;
		out = solved(&in);
		expect(out.best_xoff_bytes < 4 * out.best_kmax_bytes / 3 + out.bdp_bytes - 100,
		       "alpha %g: less is enough", in.alpha);
	}
	in.tiers = 1;
	out = solved(&in);
	expect(!out.spine_buffer_bytes && !out.core_kmin_bytes, "one tier has a spine");
}

static void test_bursts(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out;
	double above;

	in.burst = DCQCN_MODEL_BURST_OWN;
	in.burst_bytes = 125e3;
	in.burst_flows = 2;
	in.kmin_bytes = 25e3;
	in.kmax_bytes = 100e3;
	in.sample_us = 100;
	out = solved(&in);
	/* 10 us, 125 KB queued, of which 100 KB above Kmin come in 8 us and leave in 8 */
	above = 2 * 100e3 / (12.5e3 * out.packet_bytes / out.frame_bytes);
	expect(near(out.burst_seen_share, above / 100, 1e-9), "seen %g", out.burst_seen_share);
	in.sample_us = 10;
	out = solved(&in);
	expect(out.burst_seen_share == 1, "a longer one is seen %g", out.burst_seen_share);
	in.burst_bytes = 20e3;
	out = solved(&in);
	expect(!out.burst_seen_share && !out.burst_late_share, "below Kmin it is seen");
	in.burst_bytes = 125e3;
	in.rtt_us = 50;
	out = solved(&in);
	expect(out.burst_late_share == 1 && out.burst_late_us > 0 && finding("after it is over"),
	       "all CNPs are late, says %g", out.burst_late_share);
	expect(out.burst_flows_min == 3, "flows_min %g", out.burst_flows_min);
}

/* Who meets others is marked at once if Kmin is 0, and over by then if a round trip holds it */
static void test_arrivals(void)
{
	static const struct { double sizes, load, bytes, shorter; } cases[] = {
		{ 1, 0.5, 50e3, 0.82 }, { 2, 0.8, 8e3, 0.6921 }, { 3, 0.5, 80e3, 0.53 },
		{ 3, 0.2, 1e6, 0.7 },
	};
	struct dcqcn_model_input in;
	struct dcqcn_model_output out, best;

	for (size_t i = 0; i < COUNT(cases); i++) {
		in = given();
		in.sizes = cases[i].sizes;
		in.load_share = cases[i].load;
		in.kmin_bytes = 0;
		in.mtu_bytes = 4096;
		in.rtt_us = cases[i].bytes / (12.5e3 * 4154 / 4178);
		out = solved(&in);
		expect(near(out.arrivals_false_share, in.load_share * cases[i].shorter, 1e-9),
		       "sizes %.0f: %g are over", in.sizes, out.arrivals_false_share);
	}
	in = given();
	in.sizes = 3;
	out = solved(&in);
	expect(finding("get a CNP after their end"), "no finding");
	/* what it recommends does what it says, and answers in time */
	in.sample_us = out.best_sample_us;
	in.flows_min = out.best_flows_min;
	best = solved(&in);
	expect(near(best.arrivals_false_share, out.best_false_share, 1e-9) &&
	       best.arrivals_false_share < out.arrivals_false_share / 2, "%g are over, not %g",
	       best.arrivals_false_share, out.best_false_share);
	expect(in.sample_us > 0 && best.reaction_us <= 50 && !finding("after their end"),
	       "answered after %g us", best.reaction_us);
	in.react_us = 20;
	expect(!solved(&in).best_sample_us, "20 us are less than the queue takes");
	in.load_share = 0.95;
	out = solved(&in);
	expect(out.best_flows_min > 2 && out.best_flows_max == 58, "flows %g to %g",
	       out.best_flows_min, out.best_flows_max);
}

/* n messages are in progress for (1 - load) load^n of the time */
static void test_arrivals_flows(void)
{
	static const double loads[] = { 0.01, 0.04, 0.3, 0.5, 0.9, 0.99 };

	for (size_t i = 0; i < COUNT(loads); i++) {
		struct dcqcn_model_input in = given();
		struct dcqcn_model_output out;
		double more = 1;
		int n = -1;

		in.sizes = 3;
		in.load_share = loads[i];
		out = solved(&in);
		while (more > 0.05)
			more -= (1 - loads[i]) * pow(loads[i], ++n);
		expect(out.arrivals_flows == n, "load %g: %g messages at a time, not %d", loads[i],
		       out.arrivals_flows, n);
		expect(out.best_flows_max >= 1, "load %g: flows_max is off", loads[i]);
	}
}

/* Until the last flow slows down, the queue grows by what flows gain, and links bring in */
static void test_braking(void)
{
	static const double speeds[] = { 10e9, 1e9, 100e6 };
	struct dcqcn_model_input in;

	dcqcn_model_defaults(&in);
	/* With sigcomm15, a flow gains 40 Mb/s every 55 us, but half of that in the first */
	in.profile = 2;
	for (size_t i = 0; i < COUNT(speeds); i++) {
		struct dcqcn_model_output out;
		double speed, time, gain, links;

		in.speed_bps = speeds[i];
		out = solved(&in);
		speed = in.speed_bps / 8e6 * out.packet_bytes / out.frame_bytes;
		time = out.rtt_us + out.kmax_drain_us + 50 + 16 * out.packet_bytes / speed;
		gain = 16 * 5 * (time / 55 + 1) / 2 * time;
		links = 15 * speed * time;
		expect(near(out.brake_bytes, gain < links ? gain : links, 1e-6),
		       "%g at %g bit/s, flows gain %g and links bring in %g", out.brake_bytes,
		       in.speed_bps, gain, links);
		expect((out.brake == DCQCN_MODEL_BRAKE_NONE) ==
		       (out.state_pfc == DCQCN_MODEL_START), "PFC: %g, in simulated time %g", out.brake, out.state_pfc);
	}
}

/* N flows share the CNPs of a port */
static void test_cnp_cap(void)
{
	struct dcqcn_model_input in = paper(16);
	struct dcqcn_model_output out, capped;

	in.pmax_share = 1;
	in.pfc = 1;
	in.buffer_bytes = 8e6;
	in.duration_us = 60e3;
	out = solved(&in);
	expect(!finding("as its cap allows"), "a cap, and none was given");
	in.cnp_cap = 1e9;
	capped = solved(&in);
	expect(!memcmp(&out, &capped, sizeof(out)), "a cap that is never reached does something");
	in.cnp_cap = out.cnps_per_s / 2;
	capped = solved(&in);
	tap_note("queue %.0f, with half of the CNPs %.0f", out.queue_mean_bytes,
		 capped.queue_mean_bytes);
	expect(near(capped.cnps_per_s, in.cnp_cap, 0.05), "%.0f CNPs, not %.0f", capped.cnps_per_s,
	       in.cnp_cap);
	expect(capped.queue_mean_bytes > 1.5 * out.queue_mean_bytes && finding("as its cap allows"),
	       "a queue of %.0f, and %.0f before", capped.queue_mean_bytes, out.queue_mean_bytes);
	expect(capped.brake_bytes > out.brake_bytes, "senders do not slow down later");
	/* the same as that interval, in the fluid model */
	in.cnp_cap = 16e6 / 200;
	capped = solved(&in);
	in.cnp_cap = 0;
	in.cnp_interval_us = 200;
	out = solved(&in);
	expect(near(capped.fluid_p_share, out.fluid_p_share, 1e-9), "fluid %g, %g",
	       capped.fluid_p_share, out.fluid_p_share);
}

/* Each algorithm that plugs in lets eight flows share a link */
static void test_algorithms(void)
{
	const struct dcqcn_model_field *f = dcqcn_model_inputs;
	struct dcqcn_model_output dcqcn, out;
	struct dcqcn_model_input in;

	dcqcn_model_defaults(&in);
	in.speed_bps = 40e9;
	in.flows = 8;
	in.rtt_us = 14;
	in.kmin_bytes = 50e3;
	in.kmax_bytes = 200e3;
	in.pmax_share = 1;
	in.window_bytes = 128 * 4154;
	in.host_queue_bytes = 64 * 4154;
	in.duration_us = 40e3;
	dcqcn = solved(&in);
	while (strcmp(f->key, "algorithm"))
		f++;
	expect(f->max == 5 && !f->words[6], "%g algorithms beside dcqcn", f->max);
	for (in.algorithm = 1; in.algorithm <= f->max; in.algorithm++) {
		const char *name = f->words[(int)in.algorithm];

		out = solved(&in);
		tap_note("%s: %.3f of the link, Jain %.3f, mean queue %.0f bytes", name,
			 out.utilisation_share, out.jain, out.queue_mean_bytes);
		expect(out.utilisation_share > 0.85 && out.jain > 0.4, "%s uses %g, Jain %g", name,
		       out.utilisation_share, out.jain);
		expect(!out.lost_bytes && !out.start_lost_bytes, "%s loses packets", name);
		expect(out.queue_mean_bytes != dcqcn.queue_mean_bytes, "%s is DCQCN", name);
		expect(out.fluid_p_share == dcqcn.fluid_p_share, "the fluid model is DCQCN's");
	}
}

static void test_other_findings(void)
{
	struct dcqcn_model_input in = paper(2);
	struct dcqcn_model_output out;

	in.kmin_bytes = 0;
	in.kmax_bytes = 3e3;
	in.pmax_share = 1;
	in.utilisation_share = 0.99;
	solved(&in);
	expect(finding("Kmin is too low"), "Kmin of nothing");
	in = given();
	in.kmin_bytes = 5e3;
	in.kmax_bytes = 3e6;
	solved(&in);
	expect(finding("suits another speed"), "Kmax 15 times as high");
	in = given();
	in.window_bytes = 1e3;
	solved(&in);
	expect(finding("windows together"), "windows of 1 KB");
	in = given();
	in.react_us = 5;
	solved(&in);
	expect(finding("react to lasting congestion only after"), "a reaction within 5 us");
	in = paper(64);
	in.stagger_us = 0;
	in.window_bytes = 0;
	solved(&in);
	expect(finding("cannot hold the start"), "64 at once into 1 MB");
	in = paper(4);
	in.alpha_period_us = 1;
	in.g_share = 0.25;
	solved(&in);
	expect(finding("g is too large"), "alpha forgets in 4 us");
	in = given();
	in.profile = 2;
	in.alpha_period_us = 1;
	in.g_share = 0.25;
	solved(&in);
	expect(finding("PFC fires all the time") && !finding("too close to PFC"),
	       "no cut is deep enough");
	in = given();
	in.ports = 250;
	solved(&in);
	expect(finding("of the buffer: use PFC on fewer ports"), "250 ports' headroom");
	in = given();
	in.xoff_bytes = 5e6;
	solved(&in);
	expect(finding("because of alpha: at"), "xOFF above alpha's");
	expect(!finding("a port that brings in most"), "xOFF above Kmax");
	in = given();
	in.xoff_bytes = in.kmax_bytes = 300e3;
	solved(&in);
	expect(finding("a port that brings in most") && finding("raise xOFF to"), "xOFF at Kmax");
	in = given();
	in.speed_bps = 800e9;
	in.tiers = 3;
	in.flows = 32;
	out = solved(&in);
	expect(out.best_xoff_bytes > out.best_kmax_bytes + out.bdp_bytes &&
	       !finding("a port that brings in most"), "one port alone may hold Kmax");
	in.alpha = 1 / 32.0;
	solved(&in);
	expect(finding("a port that brings in most") && finding("raise alpha"), "a small alpha");
}

static void test_configurations(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out;
	static const char * const parts[DCQCN_MODEL_TARGETS] = {
		[DCQCN_MODEL_DCBPORT] = "kmin 21000B kmax 210000B pmax 20%",
		[DCQCN_MODEL_TC] = "min 21000 max 210000 avpkt 1000 burst 22",
		[DCQCN_MODEL_HOST] = "dcqcn profile apply auto\ndcqcn set dev DEV rpg_gd 12\n"
				       "dcqcn set dev DEV rpg_ai_rate 40\n",
		[DCQCN_MODEL_SONIC] = "\"green_max_threshold\": \"210000\"",
		[DCQCN_MODEL_OTHER] = "Kmax      210000 bytes",
	};
	char text[DCQCN_MODEL_CONFIG_TEXT];

	in.pmax_share = 0.2;
	out = solved(&in);
	in.gd = 12;
	in.ai_bps = 40e6;
	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		size_t length = dcqcn_model_config(&in, &out, i, text);

		expect(length == strlen(text) && length < sizeof(text) - 1, "length %zu", length);
		expect(strstr(text, parts[i]), "%s: %s", dcqcn_model_targets[i], text);
	}
}

/* @target refuses it, with a reason that begins with @start. Only dcbport and tc have checks. */
static void refuses(const struct dcqcn_model_input *in, int target, const char *start)
{
	struct dcqcn_model_output out = solved(in);
	char problem[DCQCN_MODEL_TEXT] = "", text[DCQCN_MODEL_CONFIG_TEXT];

	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++)
		expect(i == DCQCN_MODEL_DCBPORT || i == DCQCN_MODEL_TC ||
		       dcqcn_model_config_check(in, &out, i, problem), "%s: %s",
		       dcqcn_model_targets[i], problem);
	expect(!dcqcn_model_config_check(in, &out, target, problem), "%s takes what has %s",
	       dcqcn_model_targets[target], start);
	expect(!strncmp(problem, start, strlen(start)), "says: %s", problem);
	dcqcn_model_config(in, &out, target, text);
	expect(!strncmp(text, "# ", 2) && strstr(text, problem) && !strstr(text, "\ntc ") &&
	       !strstr(text, "dcqcn port"), "instead of a comment: %s", text);
}

static void dcbport_refuses(const struct dcqcn_model_input *in, const char *start)
{
	refuses(in, DCQCN_MODEL_DCBPORT, start);
}

static void dcbport_accepts(const struct dcqcn_model_input *in, const char *part)
{
	struct dcqcn_model_output out = solved(in);
	char problem[DCQCN_MODEL_TEXT] = "", text[DCQCN_MODEL_CONFIG_TEXT];

	expect(dcqcn_model_config_check(in, &out, DCQCN_MODEL_DCBPORT, problem), "refused: %s",
	       problem);
	dcqcn_model_config(in, &out, DCQCN_MODEL_DCBPORT, text);
	expect(strstr(text, part), "no \"%s\": %s", part, text);
}

/* Bounds of Documentation/netlink/specs/dcbport.yaml: rates up to 10^12, lengths are u32 */
static void test_port_bounds(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out;
	char text[DCQCN_MODEL_CONFIG_TEXT];

	in.speed_bps = 1e12;
	dcbport_accepts(&in, "rate 1000000mbit");
	in.speed_bps = 1.6e12;
	dcbport_refuses(&in, "speed: 1.6tbit is above dcbport's maximum, 1tbit");

	in = given();
	in.buffer_bytes = 1e10;
	dcbport_accepts(&in, " size 10000000000B lossy 10000000000B ");
	dcbport_accepts(&in, " limit 4294967295B ");
	out = solved(&in);
	dcqcn_model_config(&in, &out, DCQCN_MODEL_TC, text);
	expect(strstr(text, " limit 4294967295\n") && strstr(text, " red limit 4294967295 "),
	       "tc: %s", text);
	in.xoff_bytes = 4294967295;
	dcbport_accepts(&in, " xoff 4294967295B ");
	in.xoff_bytes++;
	dcbport_refuses(&in, "xoff: 4294967296B is above dcbport's maximum, 4294967295B");
	in.pfc = 0;
	dcbport_accepts(&in, " limit 4294967295B ");

	in = given();
	in.buffer_bytes = 1e10;
	in.ports = 1;
	in.headroom_bytes = 4294967295;
	dcbport_accepts(&in, " headroom 4294967295B ");
	in.headroom_bytes = 5e9;
	dcbport_refuses(&in, "headroom: 5000000000B");
	in = given();
	in.speed_bps = 1e12;
	in.rtt_us = 34.1e3;
	in.buffer_bytes = 1e10;
	in.pfc = 0;
	dcbport_refuses(&in, "kmax: 4300000000B");
}

/* What the port's own checks refuse, see settings.c, and what it would take for something else */
static void test_port_sense(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out = solved(&in);

	in.reserve_bytes = out.xoff_bytes;
	in.ports = 4;
	dcbport_accepts(&in, " reserve ");
	in.reserve_bytes = 2 * out.xoff_bytes;
	in.xoff_bytes = out.xoff_bytes;
	dcbport_refuses(&in, "reserve: ");
	in = given();
	in.headroom_bytes = 0;
	dcbport_refuses(&in, "headroom: dcbport needs headroom for PFC");
	in.pfc = 0;
	dcbport_accepts(&in, " rate ");
	in = given();
	in.alpha = 1 / 256.0;
	dcbport_accepts(&in, " alpha 0.00391");
	in.alpha = 1 / 257.0;
	dcbport_refuses(&in, "alpha: 0.00389 is below");
	in.alpha = 0;
	dcbport_accepts(&in, " alpha 0\n");
}

static void test_tc_bounds(void)
{
	struct dcqcn_model_input in = given();
	struct dcqcn_model_output out;
	char problem[DCQCN_MODEL_TEXT];

	in.kmin_bytes = 1000;
	refuses(&in, DCQCN_MODEL_TC, "kmin: 1000B is below the minimum of tc's red, 1001B");
	in.kmin_bytes = 20e3;
	in.kmax_bytes = 20e3 + (1 << 20);
	in.pmax_share = 1.0 / (1 << 11);
	refuses(&in, DCQCN_MODEL_TC, "pmax: 0.0488281% is below the minimum of tc's red");
	in.kmax_bytes--;
	out = solved(&in);
	expect(dcqcn_model_config_check(&in, &out, DCQCN_MODEL_TC, problem), "a byte less: %s",
	       problem);
}

static struct dcqcn_model_input any(void)
{
	struct dcqcn_model_input in = given();

	for (const struct dcqcn_model_field *f = dcqcn_model_inputs; f->key; f++) {
		double low = fmax(f->min, 1e-3), value;

		if (!random_one_in(3))
			continue;
		value = f->min + exp(draw(log(low), log(f->max + low))) - low;
		value = fmin(fmax(f->whole || f->words ? round(value) : value, f->min), f->max);
		*dcqcn_model_at(&in, f) = f->automatic && random_one_in(2) ? DCQCN_MODEL_AUTO :
									     value;
	}
	return in;
}

static void check_finite(struct dcqcn_model_output *out)
{
	for (const struct dcqcn_model_field *f = dcqcn_model_outputs; f->key; f++) {
		double value = *dcqcn_model_at(out, f);

		expect(isfinite(value), "%s is %g", f->name, value);
		expect(f->unit != DCQCN_MODEL_SHARE || f->offset ==
		       offsetof(struct dcqcn_model_output, kmin_buffer_share) || f->offset ==
		       offsetof(struct dcqcn_model_output, kmax_buffer_share) ||
		       (value >= 0 && value <= 1 + 1e-9), "%s is %g", f->name, value);
	}
}

static void test_anything(void)
{
	const char *cases = getenv("CASES");
	int done = 0;

	for (int i = cases ? atoi(cases) : 100; i;) {
		struct dcqcn_model_input in = any();
		struct dcqcn_model_output once, again;
		char problem[DCQCN_MODEL_TEXT];

		if (!dcqcn_model_check(&in, problem)) {
			expect(*problem, "refused without a word");
			continue;
		}
		i--;
		done++;
		dcqcn_model_solve(&in, &once);
		check_finite(&once);
		if (done % 8)
			continue;
		dcqcn_model_solve(&in, &again);
		expect(!memcmp(&once, &again, sizeof(once)), "twice is not the same");
	}
}

/* A sample's share of it would be 0 */
static void test_no_duration(void)
{
	struct dcqcn_model_input in = paper(16);
	struct dcqcn_model_output out;

	in.duration_us = 5e-324;
	out = solved(&in);
	check_finite(&out);
}

static const struct tap_test tests[] = {
	{ "exponentials and logarithms are those of libm", test_arithmetic },
	{ "values become texts", test_texts },
	{ "fields describe the structures, and presets make sense", test_fields },
	{ "wrong inputs are refused with the field and its rule", test_refusals },
	{ "the fluid model has the paper's fixed points", test_fixed_point },
	{ "the curve is the switch's", test_curve },
	{ "headroom is that of 802.3", test_headroom },
	{ "a response is counted in quanta of the link that is paused", test_response },
	{ "and takes that long in simulated time", test_response_in_time },
	{ "a stop that was measured counts, not the computed one", test_stop },
	{ "flows of several tiers come in by uplinks", test_uplinks },
	{ "a port's bound is that of dynamic thresholds", test_dynamic_threshold },
	{ "a small alpha is not that of a port without one", test_small_alpha },
	{ "p and queue are those that the simulator measured", test_linear },
	{ "queues after small cuts are those that the simulator measured", test_cut },
	{ "many flows swing on a flat curve, and do not on a steep one", test_swings },
	{ "a marker that looks seldom lets the queue swing further", test_seldom },
	{ "Kmax above xOFF pauses always, and below it at the start", test_pauses },
	{ "a reserve is a port's own", test_reserve },
	{ "flows of one host share its link", test_senders },
	{ "time is spent below Kmin, above Kmax and between", test_regimes },
	{ "a window bounds a flow, and a larger one does not", test_window },
	{ "losses at the start are repeated, or waited for", test_losses },
	{ "short runs are repeated, and a seed repeats an answer", test_runs },
	{ "hops amplify marks, and graduated thresholds undo it", test_hops },
	{ "each tier has thresholds, and a buffer for them", test_tiers },
	{ "bursts are seen, and answered too late", test_bursts },
	{ "CNPs come too late for messages that are over", test_arrivals },
	{ "messages that are in progress at a time", test_arrivals_flows },
	{ "algorithms that plug in share a link", test_algorithms },
	{ "the braking distance is what links can bring in", test_braking },
	{ "a port's cap on CNPs holds back those of all flows", test_cnp_cap },
	{ "the other faults are found", test_other_findings },
	{ "configurations have the thresholds", test_configurations },
	{ "what a port cannot have is refused, and its queue is bounded", test_port_bounds },
	{ "what a port would refuse, or take for something else, is refused", test_port_sense },
	{ "what tc would refuse is refused", test_tc_bounds },
	{ "any input gives numbers, the same twice", test_anything },
	{ "the shortest duration ends", test_no_duration },
};

int main(int argc, char **argv)
{
	tap_plan(COUNT(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, COUNT(tests));
}
