// SPDX-License-Identifier: GPL-2.0
/* The rule of entropy.c: how many congested rounds it takes until a flow changes its path. */
#include <linux/kernel.h>

#include "entropy.h"
#include "knobs.h"
#include "random.h"
#include "tap.h"

#define START	(7 * SECOND)
#define RTT	(12 * US)

static u64 now;

/* The first echo begins a round */
static struct dcqcn_entropy begun(void)
{
	struct dcqcn_entropy e = {};

	now = START;
	expect(!dcqcn_entropy_echo(&e, true, true, RTT, now), "changes at once");
	return e;
}

/* A round: an echo for each character, one of them after a round trip; '1' is marked */
static bool a_round(struct dcqcn_entropy *e, const char *echoes, bool idle)
{
	bool change = false;

	for (; *echoes; echoes++) {
		now += echoes[1] ? 1 : RTT;
		change |= dcqcn_entropy_echo(e, *echoes == '1', idle, RTT, now);
	}
	return change;
}

/* How many rounds it takes, at most 5000 */
static unsigned int rounds_until(struct dcqcn_entropy *e, const char *echoes, bool idle)
{
	unsigned int n = 1;

	while (n < 5000 && !a_round(e, echoes, idle))
		n++;
	return n;
}

static void test_rounds(void)
{
	struct dcqcn_entropy e = begun();
	unsigned int n;

	n = rounds_until(&e, "1", false);
	expect(n == 12, "busy: %u rounds, not 12", n);
	e = begun();
	n = rounds_until(&e, "1", true);
	expect(n == 3, "idle: %u rounds, not 3", n);
	/* three congested rounds, and then it falls idle */
	e = begun();
	expect(!a_round(&e, "1", false) && !a_round(&e, "1", false) && !a_round(&e, "1", false),
	       "busy: less than 12");
	expect(dcqcn_entropy_echo(&e, false, true, RTT, now + 1), "idle within the fourth round");
}

static void test_half(void)
{
	struct dcqcn_entropy e = begun();
	unsigned int n;

	n = rounds_until(&e, "1010", false);
	expect(n == 12, "half: %u rounds, not 12", n);
	e = begun();
	n = rounds_until(&e, "0110", false);
	expect(n == 12, "half: %u rounds, not 12", n);
	e = begun();
	n = rounds_until(&e, "10100", false);
	expect(n == 5000, "less than half: %u rounds", n);
}

/* One round that is not congested, and the count begins anew */
static void test_reset(void)
{
	struct dcqcn_entropy e = begun();
	unsigned int i, n;

	for (i = 0; i < 11; i++)
		expect(!a_round(&e, "1", false), "round %u", i);
	expect(!a_round(&e, "0", false), "not congested");
	n = rounds_until(&e, "1", false);
	expect(n == 12, "%u rounds, not 12", n);
	dcqcn_entropy_stay(&e);
	expect(!a_round(&e, "1", false), "the first echo");
	n = rounds_until(&e, "1", false);
	expect(n == 12, "after it stayed: %u rounds, not 12", n);
}

/* What comes within a round trip is one round, and a longer round trip is a longer round */
static void test_round_trip(void)
{
	struct dcqcn_entropy e = begun();
	unsigned int i;

	for (i = 0; i < 1000; i++)
		expect(!dcqcn_entropy_echo(&e, true, false, 1001 * US, now += US), "echo %u", i);
	expect(e.rounds == 0, "%u rounds", e.rounds);
	dcqcn_entropy_echo(&e, true, false, 1001 * US, now += US);
	expect(e.rounds == 1, "%u rounds, not 1", e.rounds);
	/* any number of echoes: the counts stay in their bounds */
	for (i = 0; i < 200000; i++)
		dcqcn_entropy_echo(&e, true, false, 1000 * 1000 * US, now += US);
	expect(e.echoes == e.marked && e.echoes == 0x7fff, "%u of %u echoes", e.marked, e.echoes);
}

/* Where no path is better, changes become rare; one good round, and they are not */
static void test_no_better(void)
{
	static const unsigned int expected[] = {
		12, 12, 12, 12, 12, 12, 12, 12, 24, 48, 96, 192, 384, 768, 768
	};
	struct dcqcn_entropy e = begun();
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		n = rounds_until(&e, "1", false);
		expect(n == expected[i], "change %u: %u rounds, not %u", i, n, expected[i]);
		dcqcn_entropy_change(&e, random_u64());
		a_round(&e, "1", false);
	}
	n = rounds_until(&e, "1", true);
	expect(n == 192, "idle: %u rounds, not 192", n);
	dcqcn_entropy_stay(&e);
	a_round(&e, "1", false);
	a_round(&e, "0", false);
	n = rounds_until(&e, "1", false);
	expect(n == 12, "after a good round: %u rounds, not 12", n);
}

/* Always another value, and each as likely: 14 bits */
static void test_values(void)
{
	struct dcqcn_entropy e = {};
	unsigned int i, high = 0;
	u32 all = 0;
	u16 before;

	for (i = 0; i < 100000; i++) {
		before = e.ev;
		dcqcn_entropy_change(&e, random_u64());
		expect(e.ev != before && e.ev <= DCQCN_ENTROPY_MASK, "%u after %u", e.ev, before);
		all |= e.ev;
		high += e.ev > DCQCN_ENTROPY_MASK / 2;
	}
	expect(all == DCQCN_ENTROPY_MASK, "bits %x", all);
	expect(high > 49000 && high < 51000, "%u of 100000 in the upper half", high);
	e.ev = 5;
	dcqcn_entropy_change(&e, U32_MAX);
	dcqcn_entropy_change(&e, DCQCN_ENTROPY_MASK - 1);
	expect(e.ev <= DCQCN_ENTROPY_MASK, "value %u", e.ev);
}

static const struct tap_test tests[] = {
	{ "12 congested rounds, or 3 when idle", test_rounds },
	{ "a round with half of the echoes marked is congested", test_half },
	{ "a good round begins the count anew", test_reset },
	{ "a round is a round trip", test_round_trip },
	{ "changes that do not help become rare", test_no_better },
	{ "entropy values", test_values },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
