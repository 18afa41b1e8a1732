// SPDX-License-Identifier: GPL-2.0
/*
 * How long an answer takes, whatever else the machine does: in basic blocks of the compiled
 * model, which the compiler makes call __sanitizer_cov_trace_pc(). On an idle machine of 3 GHz,
 * 1.42 to 1.88 million of them take 1 ms (November 2026).
 */
#include <stdint.h>

#include "model.h"
#include "tap.h"

#define BLOCKS_PER_MS	1.42e6

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

/* ms at 3 GHz, at most */
static double took(const struct dcqcn_model_input *in)
{
	struct dcqcn_model_output out;

	blocks = 0;
	dcqcn_model_solve(in, &out);
	expect(out.packets > 1000, "%g packets", out.packets);
	return blocks / BLOCKS_PER_MS;
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
