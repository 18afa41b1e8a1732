// SPDX-License-Identifier: GPL-2.0
/* How long traffic waits for messages: calls its step(), without a network. Says what is wrong. */
#define main traffic_main
#include "../../tools/sim/traffic.c"
#undef main

#define MS	NSEC_PER_MSEC

static int failed;

static void expect(const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	printf("# %s: %" PRIu64 " instead of %" PRIu64 "\n", what, got, want);
	failed = 1;
}

int main(void)
{
	static struct flow two[2];
	static uint64_t bits;

	flows = two;
	nr_flows = 2;
	completions = &bits;
	two[0] = (struct flow){ .state = STOPPED, .stop = 9 * MS, .stopped_at = MS };
	two[1] = (struct flow){ .state = STOPPED, .stop = 5 * MS, .stopped_at = 2 * MS,
				.count = 1, .posted = 1, .outstanding = 1 };
	expect("a message that was posted early", step(2 * MS), 5 * MS + GRACE);
	two[1].failed = 1;
	expect("one of a flow that failed", step(2 * MS), 0);
	two[1].failed = 0;
	two[0].outstanding = 1;
	expect("the last stop", step(2 * MS), 9 * MS + GRACE);
	return failed;
}
