// SPDX-License-Identifier: GPL-2.0
/* The credit of rccc.c: what a port grants in all, to each sender, and after losses. */
#include <linux/kernel.h>
#include <math.h>
#include <string.h>

#include "knobs.h"
#include "random.h"
#include "rccc.h"
#include "tap.h"

#define LINE		(100000 * MBPS)
#define START		(7 * SECOND)
#define FRAME		4150		/* bytes: MTU 4096, as Ultra Ethernet counts it */
#define MTU		4096
#define RTT		(12 * US)

static void test_pace(void)
{
	static const u64 lines[] = { MBPS, 1000 * MBPS, 40000 * MBPS, LINE, 400000 * MBPS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		struct dcqcn_rccc_port port = { .next = START };
		u64 now = START, grants, expected;

		for (grants = 0; grants < 100000; grants++) {
			now = max(now, dcqcn_rccc_due(&port, lines[i], now));
			dcqcn_rccc_charge(&port, lines[i]);
		}
		expected = (u64)(grants * DCQCN_RCCC_QUANTUM * 8e9 / 0.99 / lines[i]);
		expect(fabs((double)(port.next - START) - expected) <= 0.0001 * expected,
		       "line %llu: took %llu ns, not %llu", lines[i], port.next - START, expected);
	}
}

/* A line has become slower: what the last grant at 2^32 Mb/s left of a nanosecond is worth seconds at
 * 1 Mb/s
 */
static void test_slower(void)
{
	struct dcqcn_rccc_port port = { .next = START, .remainder = U32_MAX * MBPS - 1 };
	u64 cost;

	dcqcn_rccc_charge(&port, MBPS);
	cost = port.next - START;
	expect(cost >= 132395000 && cost <= 132397000, "a grant costs %llu ns at 1 Mb/s", cost);
}

/* After a pause, and after a timer that was late, a few grants go at once and no more */
static void test_late(void)
{
	struct dcqcn_rccc_port port = {};
	int grants = 0;

	while (dcqcn_rccc_due(&port, LINE, START) <= START) {
		dcqcn_rccc_charge(&port, LINE);
		grants++;
	}
	expect(grants >= 8 && grants <= 10, "%d grants at once", grants);
}

/* How many grants take @time of a port that owes @owed and is told of @others for each */
static u64 grants_in(struct dcqcn_rccc_port *port, u64 time, u32 others)
{
	u64 end = port->next + time, grants;

	for (grants = 0; port->next < end; grants++) {
		dcqcn_rccc_owe(port, others);
		dcqcn_rccc_charge(port, LINE);
	}
	return grants;
}

/* 16 KB at 0.99 of 100 Gb/s: 1.324 us */
static void test_owed(void)
{
	struct dcqcn_rccc_port port = { .next = START };
	u64 grants, now;

	grants = grants_in(&port, 10 * MS, 0);
	expect(grants >= 7553 && grants <= 7554, "%llu grants in 10 ms", grants);
	/* one byte of others for two that are granted takes a third of the link */
	grants = grants_in(&port, 10 * MS, DCQCN_RCCC_QUANTUM / 2);
	expect(grants >= 5035 && grants <= 5036, "%llu beside a third", grants);
	expect(port.owed == 0, "owes %u", port.owed);
	/* and however many there are, no more than a half */
	grants = grants_in(&port, 10 * MS, 10 * DCQCN_RCCC_QUANTUM);
	expect(grants >= 3776 && grants <= 3777, "%llu beside too many", grants);
	expect(port.owed <= DCQCN_RCCC_OWED_MAX &&
	       port.owed >= DCQCN_RCCC_OWED_MAX - DCQCN_RCCC_QUANTUM, "owes %u", port.owed);

	/* time without grants pays, beyond that for which a late timer makes up: 1 MB takes
	 * 84.7 us, eight grants 10.6 us
	 */
	dcqcn_rccc_owe(&port, U32_MAX);
	now = port.next + 10600 + 42366;
	dcqcn_rccc_due(&port, LINE, now);
	expect(port.owed >= 0x80000 - 1000 && port.owed <= 0x80000 + 1000,
	       "owes %u after half of the time", port.owed);
	now += 42366 + 10600;
	dcqcn_rccc_due(&port, LINE, now);
	expect(port.owed <= 1000, "owes %u after all of it", port.owed);
	dcqcn_rccc_owe(&port, U32_MAX);
	dcqcn_rccc_due(&port, MBPS, now + (1ULL << 62));
	expect(port.owed == 0, "owes %u after years", port.owed);
}

/* What a source had unasked is owed when it comes, or when the source asks for more */
static void test_unsolicited(void)
{
	struct dcqcn_rccc_source source = {};
	u32 comes;

	dcqcn_rccc_restart(&source, 3 * FRAME);
	comes = dcqcn_rccc_received(&source, FRAME, DCQCN_RCCC_QUANTUM, 3 * FRAME);
	expect(comes == 3 * FRAME, "asks: %u", comes);
	comes = dcqcn_rccc_received(&source, FRAME, 0, 3 * FRAME);
	expect(comes == 0 && source.ahead == FRAME, "still asks: %u, ahead %d", comes, source.ahead);
	source.backlog = 0;
	/* two of three are used, and there are three again */
	comes = dcqcn_rccc_received(&source, FRAME, 0, 3 * FRAME);
	expect(comes == 0 && source.ahead == 3 * FRAME, "the last one: %u, ahead %d", comes,
	       source.ahead);
	comes = dcqcn_rccc_received(&source, FRAME, 0, 3 * FRAME);
	expect(comes == FRAME && source.ahead == 3 * FRAME, "one of its own: %u, ahead %d", comes,
	       source.ahead);
	dcqcn_rccc_grant(&source, 600000);
	expect(source.ahead == 3 * FRAME, "granted %d to who did not ask", source.ahead);

	source.backlog = 2 * DCQCN_RCCC_QUANTUM;
	dcqcn_rccc_grant(&source, 600000);
	comes = dcqcn_rccc_received(&source, 3 * FRAME + DCQCN_RCCC_QUANTUM, 0, 3 * FRAME);
	expect(comes == 3 * FRAME && source.ahead == 0, "all: %u, ahead %d", comes, source.ahead);
	/* one more went because nothing was in flight */
	comes = dcqcn_rccc_received(&source, FRAME, 0, 3 * FRAME);
	expect(comes == 0 && source.ahead == -FRAME, "too many: %u, ahead %d", comes, source.ahead);
	source.backlog = 0;
	comes = dcqcn_rccc_received(&source, FRAME, 0, 3 * FRAME);
	expect(comes == 2 * FRAME && source.ahead == 3 * FRAME && source.unsolicited == 3 * FRAME,
	       "which is owed: %u, ahead %d", comes, source.ahead);
}

/* A source is granted what it asked for, once */
static void test_backlog(void)
{
	struct dcqcn_rccc_source source = {};
	unsigned int i, n;

	for (i = 0; i < 100; i++) {
		u32 quanta = random_below(6), packet = dcqcn_rccc_ask(quanta);

		expect(packet <= quanta && packet >= min(quanta, 1U) && 2 * packet >= min(quanta, 4U),
		       "%u of %u", packet, quanta);
	}
	dcqcn_rccc_restart(&source, FRAME);
	dcqcn_rccc_received(&source, FRAME, 4 * DCQCN_RCCC_QUANTUM, FRAME);
	dcqcn_rccc_received(&source, FRAME, DCQCN_RCCC_QUANTUM, FRAME);
	for (n = 0; dcqcn_rccc_grant(&source, 600000); n++)
		;
	expect(n == 5 && source.ahead == 5 * (s32)DCQCN_RCCC_QUANTUM - FRAME, "%u grants, ahead %d",
	       n, source.ahead);
	/* however often it asks */
	for (i = 0; i < 100; i++)
		dcqcn_rccc_received(&source, FRAME, 4 * DCQCN_RCCC_QUANTUM, FRAME);
	expect(source.backlog == DCQCN_RCCC_BACKLOG_MAX, "asks for %u", source.backlog);
	/* what was asked for before a pause is not needed any more */
	dcqcn_rccc_restart(&source, FRAME);
	expect(!source.backlog && !dcqcn_rccc_grant(&source, 600000), "asks for %u", source.backlog);
}

static void test_bounds(void)
{
	struct dcqcn_rccc_source source = { .ahead = 20000 };
	int n;

	dcqcn_rccc_received(&source, FRAME, DCQCN_RCCC_QUANTUM, 16384);
	expect(source.ahead == 20000 - FRAME, "ahead %d", source.ahead);
	source.backlog = 0;
	dcqcn_rccc_received(&source, FRAME, 0, 10000);
	expect(source.ahead == 20000 - 2 * FRAME, "ahead %d", source.ahead);
	dcqcn_rccc_received(&source, FRAME, 0, 10000);
	expect(source.ahead == 10000, "has %d that it did not ask for", source.ahead);
	dcqcn_rccc_restart(&source, 300);
	expect(source.ahead == 300, "ahead %d after a pause", source.ahead);
	expect(!dcqcn_rccc_grant(&source, 600000), "granted to who does not ask");

	/* four round trips of 12 us are 600,000 bytes */
	expect(dcqcn_rccc_most(LINE, RTT, 1) == 600000 + 65536 &&
	       dcqcn_rccc_most(LINE, RTT, 10) == 66553 && dcqcn_rccc_most(LINE, 0, 1) == 65536 &&
	       dcqcn_rccc_most(LINE, RTT, 4096) == 8192 && dcqcn_rccc_most(1ULL << 51, 1 << 30, 1) == 1 << 30,
	       "%u", dcqcn_rccc_most(LINE, RTT, 1));
	for (n = 0; n < 10000; n++) {
		source.backlog = DCQCN_RCCC_QUANTUM;
		dcqcn_rccc_grant(&source, 100000);
	}
	expect(source.ahead >= 100000 && source.ahead < 100000 + (s32)DCQCN_RCCC_QUANTUM,
	       "one that sends nothing got %d", source.ahead);
	for (n = 0; n < 1000000; n++)
		dcqcn_rccc_received(&source, 65535, DCQCN_RCCC_QUANTUM, 0);
	expect(source.ahead <= -(s32)DCQCN_RCCC_OWED_MAX &&
	       source.ahead >= -(s32)DCQCN_RCCC_OWED_MAX - 65535,
	       "who takes no notice has %d", source.ahead);
}

/* Whatever a source has done, a packet that is said to change nothing does not, and many are */
static void test_even(void)
{
	static const u32 windows[] = { 1, FRAME, 3 * FRAME, 65536, 1 << 24 };
	struct dcqcn_rccc_source source = {}, before;
	u32 n, window = 1, bytes, comes, even = 0, others = 0;

	for (n = 0; n < 1000000; n++) {
		if (random_one_in(100))
			window = windows[random_below(ARRAY_SIZE(windows))];
		if (random_one_in(100))
			dcqcn_rccc_restart(&source, window);
		if (random_one_in(20))
			dcqcn_rccc_grant(&source, random_below(100000));
		if (random_one_in(20))
			dcqcn_rccc_received(&source, FRAME, DCQCN_RCCC_QUANTUM, window);
		bytes = 1 + random_below(2 * FRAME);
		before = source;
		comes = dcqcn_rccc_received(&source, bytes, 0, window);
		if (!dcqcn_rccc_is_even(&before, bytes, window)) {
			others++;
			continue;
		}
		even++;
		expect(comes == bytes && !memcmp(&source, &before, sizeof(source)),
		       "%u bytes, of %d ahead and %u unsolicited, window %u: %u come", bytes,
		       before.ahead, before.unsolicited, window, comes);
	}
	expect(even > 10000 && others > 10000, "%u packets change nothing, %u do", even, others);
}

/* --- senders, and one receiver --------------------------------------------- */

#define MOST		32
#define LATER		4096

struct sender {
	struct dcqcn_rccc_source at_receiver;
	u64 sent, limit;	/* bytes, as the sender counts */
	u64 received;		/* as the receiver does */
	u64 measured;		/* of that, after the start */
};

/* Simulates @n senders that always have packets, a receiver that loses one of @loss reports,
 * and half a round trip between them. Return the least share, and the sum in *total.
 */
static double incast(unsigned int n, unsigned int loss, double *total, double *jain)
{
	static struct { u64 at, limit; unsigned int sender; } reports[LATER];
	static struct { u64 at; unsigned int sender; } packets[LATER];
	unsigned int r_in = 0, r_out = 0, p_in = 0, p_out = 0, turn = 0, i;
	struct dcqcn_rccc_port port = { .next = START };
	struct sender senders[MOST] = {};
	double sum = 0, squares = 0, least = INFINITY;
	const u64 half = RTT / 2, length = 20 * MS;
	unsigned int skipped = 0;
	u64 now = START, link_free = START;

	for (i = 0; i < n; i++) {
		senders[i].limit = 16384;
		dcqcn_rccc_restart(&senders[i].at_receiver, 16384);
	}
	for (; now < START + length; now += 100) {
		for (; r_out != r_in && reports[r_out % LATER].at <= now; r_out++) {
			struct sender *s = &senders[reports[r_out % LATER].sender];

			s->limit = max(s->limit, reports[r_out % LATER].limit);
		}
		/* in the order of a switch that serves its ports in turn */
		for (i = 0; i < n; i++) {
			struct sender *s = &senders[i];

			if (s->sent >= s->limit || p_in - p_out == LATER)
				continue;
			s->sent += FRAME;
			link_free = max(link_free, now + half) + FRAME * 8 * SECOND / LINE;
			packets[p_in % LATER].at = link_free;
			packets[p_in++ % LATER].sender = i;
		}
		for (; p_out != p_in && packets[p_out % LATER].at <= now; p_out++) {
			struct sender *s = &senders[packets[p_out % LATER].sender];

			s->received += FRAME;
			dcqcn_rccc_owe(&port, dcqcn_rccc_received(&s->at_receiver, FRAME,
								  DCQCN_RCCC_QUANTUM, 16384));
			if (now > START + length / 2)
				s->measured += MTU;
		}
		while (dcqcn_rccc_due(&port, LINE, now) <= now) {
			struct sender *s = &senders[turn++ % n];

			/* a turn without a grant takes no time, but for every eighth one */
			if (dcqcn_rccc_grant(&s->at_receiver, dcqcn_rccc_most(LINE, RTT, n)) ||
			    !(++skipped % min(n, 8U)))
				dcqcn_rccc_charge(&port, LINE);
			if (loss && random_one_in(loss))
				continue;
			reports[r_in % LATER].at = now + half;
			reports[r_in % LATER].limit = s->received + s->at_receiver.ahead;
			reports[r_in++ % LATER].sender = turn - 1 - (turn - 1) / n * n;
		}
	}
	for (i = 0; i < n; i++) {
		double share = senders[i].measured * 8e9 / (length / 2) / LINE;

		sum += share;
		squares += share * share;
		least = fmin(least, share);
	}
	*total = sum;
	*jain = sum * sum / n / squares;
	return least;
}

static void test_share(unsigned int n, unsigned int loss)
{
	double total, jain, least = incast(n, loss, &total, &jain);

	tap_note("%u senders, goodput %.4f of the link, Jain %.4f, least %.4f", n, total, jain,
		 least);
	/* 0.99 of the link, of which 4096 / 4150 are payload: 0.977 */
	expect(total >= 0.965 && total <= 0.987, "goodput %.4f", total);
	expect(jain >= 0.99, "Jain %.4f", jain);
}

static void test_one(void) { test_share(1, 0); }
static void test_eight(void) { test_share(8, 0); }
static void test_many(void) { test_share(32, 0); }
static void test_lost(void) { test_share(8, 3); }

static const struct tap_test tests[] = {
	{ "a port grants 0.99 of its line", test_pace },
	{ "a slower line does not pay for what a fast one left", test_slower },
	{ "a late timer grants a few at once", test_late },
	{ "what was not granted is made up for", test_owed },
	{ "what a source had unasked is not granted", test_unsolicited },
	{ "a source is granted what it asked for, once", test_backlog },
	{ "bounds of what a source may have", test_bounds },
	{ "a packet that changes nothing", test_even },
	{ "one sender fills the link", test_one },
	{ "8 senders share it", test_eight },
	{ "32 senders share it", test_many },
	{ "8 senders that lose a third of the grants", test_lost },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
