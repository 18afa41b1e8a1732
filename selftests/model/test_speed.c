// SPDX-License-Identifier: GPL-2.0
/*
 * How long an answer takes, on a machine that may be slow or busy: against a loop of as many
 * multiplications, each of which waits for the one before. That takes three cycles, on what
 * has been sold since 2008. So 10 ms are those of a CPU of 3 GHz.
 */
#include <stdint.h>
#include <time.h>

#include "model.h"
#include "tap.h"

#define CYCLES_PER_MS	3e6
#define MULTIPLICATION	3	/* cycles */
#define TIMES		7	/* the fastest counts, of both */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* How long a loop of 10 ms at 3 GHz takes */
static double loop(void)
{
	volatile uint64_t sink = 3;
	uint64_t x = sink;
	double begin = cpu_ms();

	for (int i = 0; i < 10 * CYCLES_PER_MS / MULTIPLICATION; i++)
		x *= 0x9e3779b97f4a7c15ULL;
	sink = x;
	return cpu_ms() - begin;
}

static double answer(const struct dcqcn_model_input *in)
{
	double begin = cpu_ms();
	struct dcqcn_model_output out;

	dcqcn_model_solve(in, &out);
	expect(out.packets > 1000, "%g packets", out.packets);
	return cpu_ms() - begin;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* ms at 3 GHz */
static double took(const struct dcqcn_model_input *in)
{
	double unit = loop(), time = answer(in);

	for (int i = 1; i < TIMES; i++) {
		unit = least(unit, loop());
		time = least(time, answer(in));
	}
	return time / unit * 10;
}

static void test_presets(void)
{
	for (int i = 0; dcqcn_model_presets[i].name; i++) {
		struct dcqcn_model_input in;
		double ms;

		dcqcn_model_preset(&in, i);
		ms = took(&in);
		tap_note("%s: %.1f ms at 3 GHz", dcqcn_model_presets[i].name, ms);
		expect(ms < 10, "%s took %.1f ms", dcqcn_model_presets[i].name, ms);
	}
}

/* Whatever is asked for, unless it is time */
static void test_many_flows(void)
{
	static const double flows[] = { 2, 128, DCQCN_MODEL_FLOWS_MAX };

	for (int i = 0; i < 9; i++) {
		struct dcqcn_model_input in;
		double ms;

		dcqcn_model_defaults(&in);
		in.flows = flows[i / 3];
		in.profile = i % 3;
		ms = took(&in);
		tap_note("%g flows of profile %g: %.1f ms at 3 GHz", in.flows, in.profile, ms);
		expect(ms < 12, "%g flows of profile %g took %.1f ms", in.flows, in.profile, ms);
	}
}

static const struct tap_test tests[] = {
	{ "a preset is answered within 10 ms", test_presets },
	{ "many flows are answered within 12 ms", test_many_flows },
};

int main(void)
{
	tap_plan(sizeof(tests) / sizeof(tests[0]));
	return tap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
