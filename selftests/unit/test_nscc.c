// SPDX-License-Identifier: GPL-2.0
/*
 * The window of nscc.c: the numbers of Ultra Ethernet's reference path, 100 Gb/s and
 * 12 us with packets of 4096 bytes, and a model in floating point that is written from
 * the rules alone.
 */
#include <linux/kernel.h>
#include <math.h>
#include <string.h>

#include "knobs.h"
#include "nscc.h"
#include "random.h"
#include "tap.h"

#define MSS	4096
#define RTT	(12 * US)
#define BDP	150000
#define START	(7 * SECOND)

static const struct dcqcn_nscc_params reference = { .mbps = 100000, .base_rtt = RTT };

static bool near(double value, double expected)
{
	return fabs(value - expected) <= 1.5;
}

/* A window of @cwnd bytes that has seen a path without a queue, one round trip ago, and
 * adds its constant increase only in 12 us
 */
static struct dcqcn_nscc window(u32 cwnd)
{
	struct dcqcn_nscc n = { .mss = MSS, .least = RTT };

	dcqcn_nscc_init(&n, &reference, cwnd, START);
	return n;
}

static void test_bdp(void)
{
	static const struct { u32 mbps, rtt, bdp, max; } paths[] = {
		{ 100000, 6 * US, 75000, 112500 }, { 100000, 12 * US, 150000, 225000 },
		{ 40000, 12 * US, 60000, 90000 },
	};
	struct dcqcn_nscc n = { .mss = MSS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		struct dcqcn_nscc_params p = { paths[i].mbps, paths[i].rtt, 0, 0 };

		expect(dcqcn_nscc_bdp(&n, &p) == paths[i].bdp, "path %u: BDP %u", i,
		       dcqcn_nscc_bdp(&n, &p));
		expect(dcqcn_nscc_max(&n, &p) == paths[i].max, "path %u: most %u", i,
		       dcqcn_nscc_max(&n, &p));
	}
}

static void test_increase(void)
{
	struct dcqcn_nscc n = window(BDP);

	dcqcn_nscc_feedback(&n, &reference, 8 * MSS, RTT + 6 * US, false, START + 1);
	expect(near(n.cwnd, BDP + 1789.6), "half of the target: %u", n.cwnd);
	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 8 * MSS, 2 * RTT, false, START + 1);
	expect(near(n.cwnd, BDP + 4473.9), "at the target: %u", n.cwnd);
	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 8 * MSS, 3 * RTT, false, START + 1);
	expect(near(n.cwnd, BDP + 4473.9), "beyond it: %u", n.cwnd);

	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 0, 2 * RTT, false, START + RTT);
	expect(near(n.cwnd, BDP + 614.4), "eta: %u", n.cwnd);
	dcqcn_nscc_feedback(&n, &reference, 0, 2 * RTT, false, START + 2 * RTT - 1);
	expect(near(n.cwnd, BDP + 614.4), "eta came twice: %u", n.cwnd);
	dcqcn_nscc_feedback(&n, &reference, 0, 2 * RTT, false, START + 2 * RTT);
	expect(near(n.cwnd, BDP + 2 * 614.4), "eta came once only: %u", n.cwnd);
}

static void test_collected(void)
{
	struct dcqcn_nscc n = window(BDP);
	int i;

	for (i = 0; i < 7; i++)
		dcqcn_nscc_feedback(&n, &reference, MSS, 2 * RTT, false, START + 1);
	expect(n.cwnd == BDP, "7 packets: %u", n.cwnd);
	dcqcn_nscc_feedback(&n, &reference, MSS, 2 * RTT, false, START + 1);
	expect(near(n.cwnd, BDP + 4473.9), "8 packets: %u", n.cwnd);
}

/* Increases that a large window has collected are not worth more when most of it is lost */
static void test_collected_before_loss(void)
{
	struct dcqcn_nscc n = window(BDP);

	dcqcn_nscc_feedback(&n, &reference, 7 * MSS, RTT + 6 * US, false, START + 1);
	expect(n.cwnd == BDP && n.collected, "%u", n.cwnd);
	dcqcn_nscc_loss(&n, BDP);
	expect(n.cwnd == MSS, "%u", n.cwnd);
	/* 7/8 of 1789.6, and two packets for the one that comes */
	dcqcn_nscc_feedback(&n, &reference, MSS, RTT + 6 * US, false, START + 2);
	expect(near(n.cwnd, MSS + 1565.9 + 2 * MSS), "after a loss: %u", n.cwnd);
}

/* One marked packet, the average delay being @avg */
static void marked(struct dcqcn_nscc *n, u32 avg, u32 delay, u64 now)
{
	n->avg = (u64)avg << 8;
	dcqcn_nscc_feedback(n, &reference, 0, RTT + delay, true, now);
}

static void test_decrease(void)
{
	struct dcqcn_nscc n = window(BDP);

	marked(&n, 24 * US, 24 * US, START + 1);
	expect(near(n.cwnd, 90000), "average 24 us: %u", n.cwnd);
	marked(&n, 24 * US, 24 * US, START + RTT - 1);
	expect(near(n.cwnd, 90000), "again within a round trip: %u", n.cwnd);
	n.eta_time = START + 1 + RTT;
	marked(&n, 24 * US, 24 * US, START + 1 + RTT);
	expect(near(n.cwnd, 54000), "a round trip later: %u", n.cwnd);

	n = window(BDP);
	marked(&n, 60 * US, 40 * US, START + 1);
	expect(near(n.cwnd, 75000), "never by more than a half: %u", n.cwnd);
	n = window(BDP);
	marked(&n, 12 * US, 24 * US, START + 1);
	expect(near(n.cwnd, BDP) || n.cwnd > BDP * 0.99, "average at the target: %u", n.cwnd);
	n = window(BDP);
	marked(&n, 60 * US, 12 * US - 1, START + 1);
	expect(n.cwnd == BDP, "a mark with a short queue: %u", n.cwnd);
	marked(&n, 60 * US, 12 * US - 1, START + RTT);
	expect(near(n.cwnd, BDP + 614.4), "but for eta: %u", n.cwnd);
}

/* A window begins before the length of packets is known: increases are divided by one packet at
 * least, or it would be the largest at once
 */
static void test_first_packet(void)
{
	struct dcqcn_nscc n = {};

	dcqcn_nscc_init(&n, &reference, 0, START);
	expect(n.cwnd == 1, "%u", n.cwnd);
	n.mss = MSS;
	dcqcn_nscc_feedback(&n, &reference, MSS, RTT, false, START + RTT);
	expect(n.cwnd >= MSS && n.cwnd <= 6 * MSS, "%u after a packet", n.cwnd);
	n = (struct dcqcn_nscc) { .mss = 64 };
	dcqcn_nscc_init(&n, &reference, 0, START);
	n.mss = MSS;
	dcqcn_nscc_feedback(&n, &reference, MSS, 2 * RTT, false, START + RTT);
	expect(n.cwnd >= MSS && n.cwnd <= 7 * MSS, "%u after a longer one", n.cwnd);
}

static void test_adapt(void)
{
	struct dcqcn_nscc n = window(BDP);

	dcqcn_nscc_loss(&n, MSS);
	expect(n.cwnd == BDP - MSS, "a loss: %u", n.cwnd);
	dcqcn_nscc_feedback(&n, &reference, 20000, RTT, false, START + 2 * RTT);
	expect(n.cwnd == 20000, "20,000 bytes got through: %u", n.cwnd);

	n = window(BDP);
	dcqcn_nscc_loss(&n, MSS);
	dcqcn_nscc_feedback(&n, &reference, 30000, RTT, false, START + 2 * RTT);
	expect(n.cwnd >= BDP - MSS, "30,000 bytes got through: %u", n.cwnd);

	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 20000, RTT, false, START + 2 * RTT);
	expect(n.cwnd >= BDP, "without a loss: %u", n.cwnd);
	dcqcn_nscc_feedback(&n, &reference, 20000, 6 * RTT, false, START + 4 * RTT);
	expect(n.cwnd == 20000, "a delay of 5 targets: %u", n.cwnd);

	/* one report in a round trip of 8 times the least one: a quarter of it counts */
	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 40000, 8 * RTT, true, START + 8 * RTT);
	expect(n.cwnd == 10000, "40,000 bytes in a long round trip: %u", n.cwnd);
	n = window(BDP);
	dcqcn_nscc_feedback(&n, &reference, 40000, 8 * RTT, true, START + 4 * RTT);
	expect(n.cwnd == 20000, "in half of one: %u", n.cwnd);
	n = window(BDP);
	dcqcn_nscc_loss(&n, MSS);
	dcqcn_nscc_feedback(&n, &reference, 30000, RTT, false, START + 100 * RTT);
	expect(n.cwnd >= BDP - MSS, "after a pause: %u", n.cwnd);

	n = window(BDP);
	dcqcn_nscc_loss(&n, MSS);
	dcqcn_nscc_feedback(&n, &reference, 20000, RTT, false, START + 2 * RTT - 1);
	expect(n.cwnd >= BDP - MSS, "before the time is over: %u", n.cwnd);
	n = window(BDP);
	dcqcn_nscc_loss(&n, 2 * BDP);
	expect(n.cwnd == MSS, "a loss of more than the window: %u", n.cwnd);
}

/* How many round trips without a queue it takes to reach the largest window */
static int trips_to_max(struct dcqcn_nscc n, bool eta)
{
	u64 now = START;
	int trips = 0;

	for (; n.cwnd < 225000 && trips < 100; trips++) {
		u32 left = n.cwnd, bytes;

		for (now += RTT; left; left -= bytes) {
			if (!eta)
				n.eta_time = now;
			bytes = min(left, (u32)MSS);
			dcqcn_nscc_feedback(&n, &reference, bytes, RTT, false, now);
		}
	}
	return trips;
}

static void test_fast(void)
{
	struct dcqcn_nscc n = window(1);
	int trips;

	expect(n.cwnd == MSS, "begins with %u", n.cwnd);
	n.undelayed = n.cwnd;
	trips = trips_to_max(n, false);
	expect(trips >= 18 && trips <= 20, "the fast increase alone: %d round trips", trips);
	/* four packets come with the first window, and eta with each */
	trips = trips_to_max(window(1), true);
	expect(trips == 11, "with all others: %d round trips", trips);
}

/* With ccc_scaling, windows of all paths grow by 150,000 bytes divided by it, unless there is
 * congestion
 */
static void test_scaling(void)
{
	static const u32 mbps[] = { 10000, 100000, 400000 };
	struct dcqcn_nscc_params p = reference;
	struct dcqcn_nscc n;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mbps); i++) {
		p.mbps = mbps[i];
		p.scaling = 1024;
		n = (struct dcqcn_nscc) { .mss = MSS, .least = RTT };
		dcqcn_nscc_init(&n, &p, 10000, START);
		n.eta_time = START + RTT - 1;	/* no constant increase */
		dcqcn_nscc_feedback(&n, &p, 8 * MSS, RTT + 6 * US, false, START + RTT - 1);
		expect(n.cwnd == 10000 + 147, "%u Mb/s: grew to %u", mbps[i], n.cwnd);
		dcqcn_nscc_feedback(&n, &p, MSS, RTT + 6 * US, false, START + 2 * RTT - 2);
		expect(n.cwnd == 10000 + 147, "within a round trip: %u", n.cwnd);
		n.eta_time = START + 4 * RTT;
		dcqcn_nscc_feedback(&n, &p, MSS, 3 * RTT, false, START + 4 * RTT);
		expect(n.cwnd == 10000 + 2 * 147, "a fair increase: %u", n.cwnd);
		dcqcn_nscc_feedback(&n, &p, 8 * MSS, RTT + 6 * US, true, START + 5 * RTT - 1);
		expect(n.cwnd == 10000 + 2 * 147, "with marks: %u", n.cwnd);
	}
}

/* A long path: a / 4 is more than 1 */
static void test_fast_bound(void)
{
	struct dcqcn_nscc_params p = { .mbps = 10000, .base_rtt = 5000 * US };
	struct dcqcn_nscc n = { .mss = MSS, .least = 5000 * US };

	dcqcn_nscc_init(&n, &p, 100000, START);
	n.undelayed = n.cwnd;
	dcqcn_nscc_feedback(&n, &p, 10000, 5000 * US, false, START + 1);
	expect(n.cwnd == 110000, "grew to %u", n.cwnd);
}

/* --- the model --------------------------------------------------------------- */

struct model {
	double cwnd, least, avg, collected, acked, undelayed, got;
	double collect_at, eta_at, cut_at, adapt_at;
	bool lost, cut;
};

static void model_feedback(struct model *m, const struct dcqcn_nscc_params *p, double bytes,
			   double rtt, bool ce, double now)
{
	double base, target, bdp, most, a, b, delay, packets;

	if (!m->least || rtt < m->least)
		m->least = rtt;
	base = p->base_rtt ? p->base_rtt : m->least;
	target = p->target ? p->target : base;
	bdp = fmax(fmin(p->mbps * base / 8000, 1 << 28), MSS);
	most = 1.5 * bdp;
	a = bdp / 150000;
	b = target / 12000;
	delay = rtt - m->least;
	packets = fmax(1, fmin(16, floor(bytes / MSS)));
	m->avg += (delay - m->avg) * 0.0125 * packets;
	m->acked += bytes;
	m->got += bytes;
	if (now - m->adapt_at >= base + target) {
		bool bad = m->lost || delay >= 4 * (target + 1);
		double got = m->got;

		if (rtt > base + target)
			got *= (base + target) / fmin(rtt, now - m->adapt_at);
		m->adapt_at = now;
		m->got = 0;
		m->lost = false;
		if (bad && floor(got) < floor(floor(most) / 8)) {
			m->cwnd = fmax(fmin(got, most), MSS);
			m->collected = 0;
			return;
		}
	}
	if (ce && delay >= target) {
		if (floor(m->avg) > target && (!m->cut || now - m->cut_at >= base)) {
			m->cwnd *= fmax(1 - 0.8 * (m->avg - target) / m->avg, 0.5);
			m->cut = true;
			m->cut_at = now;
		}
	} else if (delay >= target) {
		m->collected += 5 * MSS * a * bytes;
	} else if (!ce) {
		bool calm = delay < fmax(floor(base / 12), 1);

		if (calm && m->undelayed >= floor(m->cwnd)) {
			m->cwnd += fmin(a / 4, 1) * bytes;
			m->undelayed = INFINITY;
		} else {
			if (calm)
				m->undelayed += bytes;
			m->collected += 4 * MSS * a * b / target * bytes * (target - delay);
		}
	}
	if (ce || delay >= fmin(target, fmax(floor(base / 12), 1)))
		m->undelayed = 0;
	if (m->acked >= 8 * MSS || now - m->collect_at >= base) {
		m->cwnd += m->collected / m->cwnd;
		m->collected = 0;
		m->acked = 0;
		m->collect_at = now;
	}
	if (now - m->eta_at >= base) {
		m->cwnd += 0.15 * MSS * a;
		m->eta_at = now;
	}
	m->cwnd = fmax(fmin(m->cwnd, most), MSS);
}

/* Random feedback of a random path, the window within 1 % or 64 packets' rounding */
static void compare(unsigned int run)
{
	struct dcqcn_nscc_params p = {
		.mbps = random_log(1000, 400000),
		.base_rtt = random_one_in(2) ? random_log(6 * US, 5000 * US) : 0,
		.target = random_one_in(2) ? random_log(6 * US, 5000 * US) : 0,
	};
	u32 least = p.base_rtt ? p.base_rtt : random_log(6 * US, 5000 * US);
	struct dcqcn_nscc n = { .mss = MSS, .least = least };
	struct model m = { .least = least, .collect_at = START, .eta_at = START,
			   .adapt_at = START };
	u64 now = START;
	int i;

	dcqcn_nscc_init(&n, &p, random_log(MSS, 1 << 26), now);
	m.cwnd = n.cwnd;
	for (i = 0; i < 400; i++) {
		u32 bytes = random_log(1, n.cwnd), rtt = least + random_log(1, 8ULL * least) - 1;
		bool ce = random_one_in(4);

		now += random_log(1, 2ULL * least);
		if (random_one_in(50)) {
			dcqcn_nscc_loss(&n, bytes);
			m.collected /= m.cwnd;
			m.cwnd = fmax(m.cwnd - bytes, MSS);
			m.collected *= m.cwnd;
			m.lost = true;
			m.undelayed = 0;
		}
		dcqcn_nscc_feedback(&n, &p, bytes, rtt, ce, now);
		model_feedback(&m, &p, bytes, rtt, ce, now);
		if (!expect(fabs(n.cwnd - m.cwnd) <= 0.01 * m.cwnd + 64,
			    "run %u, step %d: %u bytes, the model has %.1f", run, i, n.cwnd,
			    m.cwnd))
			return;
		/* each step is compared, and not what has added up */
		m.cwnd = n.cwnd;
		m.avg = n.avg / 256.0;
	}
}

static void test_model(void)
{
	unsigned int run;

	for (run = 0; run < 500; run++)
		compare(run);
}

/* Whatever is fed, the window stays within its bounds; the sanitizers look for overflow */
static void test_bounds(void)
{
	struct dcqcn_nscc n = { .mss = 1 };
	struct dcqcn_nscc_params p = { .mbps = 1 };
	u64 now = START;
	int i;

	dcqcn_nscc_init(&n, &p, 0, now);
	for (i = 0; i < 200000; i++) {
		if (random_one_in(100))
			p = (struct dcqcn_nscc_params) {
				random_log(1, U32_MAX), random_log(1, 1ULL << 32) - 1,
				random_log(1, 1ULL << 32) - 1,
				random_one_in(2) ? 0 : random_log(1, 8192) };
		if (random_one_in(100))
			n.mss = random_log(1, 65535);
		if (random_one_in(1000))
			dcqcn_nscc_init(&n, &p, random_log(1, U32_MAX), now);
		if (random_one_in(10))
			dcqcn_nscc_loss(&n, random_log(1, U32_MAX));
		now += random_log(1, 1ULL << 40) - 1;
		dcqcn_nscc_feedback(&n, &p, random_log(1, U32_MAX), random_log(1, U32_MAX) - 1,
				    random_one_in(2), now);
		if (!expect(n.cwnd >= n.mss && n.cwnd <= dcqcn_nscc_max(&n, &p),
			    "step %d: %u bytes, at most %u", i, n.cwnd, dcqcn_nscc_max(&n, &p)))
			return;
	}
}

static const struct tap_test tests[] = {
	{ "BDP and the largest window", test_bdp },
	{ "increases: proportional, fair, constant", test_increase },
	{ "increases are collected for 8 packets", test_collected },
	{ "and are worth no more after a loss", test_collected_before_loss },
	{ "a marked and delayed packet cuts the window", test_decrease },
	{ "the window becomes what got through", test_adapt },
	{ "a window that begins before its first packet", test_first_packet },
	{ "the fast increase: from one packet in 18 to 20 round trips", test_fast },
	{ "the fast increase doubles at most", test_fast_bound },
	{ "increases of one size for all paths", test_scaling },
	{ "a floating-point model agrees, step by step", test_model },
	{ "any feedback leaves the window within its bounds", test_bounds },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
