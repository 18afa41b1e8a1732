// SPDX-License-Identifier: GPL-2.0
/* A rate in units of its path: what is measured, and what follows from it. */
#include <linux/kernel.h>

#include "knobs.h"
#include "path.h"
#include "start.h"
#include "tap.h"

#define LINE	(10000 * MBPS)
#define RTT	(100 * US)
#define PACKET	4154		/* bytes: MTU 4096 */
#define START	(7 * SECOND)

static bool near(u64 value, u64 expected)
{
	u64 off = value > expected ? value - expected : expected - value;

	return off <= expected / 1000 + 2;
}

/* A flow that was cut to @rate, which is its target too */
static struct dcqcn_rate flow_at(u64 rate, u32 rtt)
{
	struct dcqcn_rate r;

	dcqcn_rate_init(&r, LINE, START);
	r.packet = PACKET;
	dcqcn_rate_set_rtt(&r, rtt, 0);
	dcqcn_rate_cnp(&r, &automatic, LINE, START);
	r.current_rate = rate;
	r.target_rate = rate;
	dcqcn_rate_set_rtt(&r, rtt, 0);
	return r;
}

static void test_probe(void)
{
	struct dcqcn_path path = {};

	dcqcn_path_sent(&path, 1, PACKET, false, START);
	expect(!dcqcn_path_acked(&path, 1, START + RTT), "no probe, no answer");
	dcqcn_path_sent(&path, 2, PACKET, true, START);
	dcqcn_path_sent(&path, 3, PACKET, true, START + 10);
	expect(!dcqcn_path_acked(&path, 1, START + RTT), "an older ACK");
	expect(dcqcn_path_acked(&path, 2, START + RTT), "the ACK");
	expect(path.rtt == RTT, "round trip %u ns", path.rtt);
	expect(!dcqcn_path_acked(&path, 2, START + RTT), "the same ACK again");
}

static void test_round_trip_follows(void)
{
	struct dcqcn_path path = {};
	static const struct { u32 ns, expected; } samples[] = {
		{ RTT, RTT }, { 9 * RTT, 9 * RTT }, { RTT, 8 * RTT },
		{ 8 * RTT, 8 * RTT }, { 5, 7 * RTT + 125 },
	};
	u64 now = START;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		dcqcn_path_sent(&path, i, PACKET, true, now);
		now += samples[i].ns;
		dcqcn_path_acked(&path, i, now);
		expect(path.rtt == samples[i].expected, "sample %u: %u ns", i,
		       path.rtt);
	}
}

static void test_delivered(void)
{
	struct dcqcn_path path = {};
	u32 psn = 0xffffff;
	int i;

	/* PSNs wrap; between ACKs that are 100 us apart 100,000 bytes leave */
	for (i = 0; i < 3; i++) {
		dcqcn_path_sent(&path, psn - 1, 99000, false, START);
		dcqcn_path_sent(&path, psn & 0xffffff, 1000, true,
				START + i * RTT);
		expect(!dcqcn_path_least(&path), "known after %d ACKs", i);
		expect(dcqcn_path_acked(&path, psn & 0xffffff,
					START + (i + 1) * RTT) ==
		       (i ? DCQCN_LEARNT_RATE : DCQCN_LEARNT_RTT), "ACK %d", i);
		psn++;
	}
	expect(near(dcqcn_path_least(&path), 8000 * MBPS), "least %llu",
	       dcqcn_path_least(&path));
	expect(near(dcqcn_path_most(&path), 8000 * MBPS), "most %llu",
	       dcqcn_path_most(&path));

	/* more than 2^32 bytes of READ responses in 4 s without a probe */
	for (i = 0; i < 50; i++)
		dcqcn_path_sent(&path, psn, 100000000, false, START);
	dcqcn_path_sent(&path, psn, 1000, true, START + 4000000000ULL);
	dcqcn_path_acked(&path, psn, START + 4000000000ULL);
	expect(near(dcqcn_path_most(&path), 10000 * MBPS), "after 5 GB: %llu",
	       dcqcn_path_most(&path));
}

static void test_nothing_from_losses(void)
{
	struct dcqcn_path path = {};

	dcqcn_path_sent(&path, 4, PACKET, true, START - RTT);
	dcqcn_path_acked(&path, 4, START);
	dcqcn_path_sent(&path, 5, PACKET, true, START);
	dcqcn_path_restart(&path);
	expect(!dcqcn_path_acked(&path, 5, START + RTT), "sent again");

	dcqcn_path_sent(&path, 5, PACKET, true, START + RTT);
	expect(dcqcn_path_acked(&path, 5, START + 2 * RTT) == DCQCN_LEARNT_RTT,
	       "a rate, by bytes that were lost");

	path = (struct dcqcn_path) {};
	dcqcn_path_sent(&path, 8, PACKET, true, START);
	dcqcn_path_sent(&path, 9, PACKET, true, START + 2 * SECOND);
	expect(dcqcn_path_acked(&path, 9, START + 2 * SECOND + RTT),
	       "a probe that is never answered blocks the next one");
	expect(path.rtt == RTT, "round trip %u ns", path.rtt);
}

/* The probe's own ACK was lost, or the peer acknowledges several packets at a time */
static void test_acked_later(void)
{
	struct dcqcn_path path = {};
	static const u32 psns[] = { 5, 0xffffff };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		path = (struct dcqcn_path) {};
		dcqcn_path_sent(&path, psns[i], PACKET, true, START);
		expect(dcqcn_path_acked(&path, (psns[i] + 1) & 0xffffff, START + RTT) ==
		       DCQCN_LEARNT_BOUND,
		       "an ACK beyond the probe");
		expect(!path.probe_time && !path.rtt && !path.rtt_min && !dcqcn_path_most(&path),
		       "it waits, or has learnt %u ns", path.rtt);
	}
	dcqcn_path_sent(&path, 10, PACKET, true, START);
	dcqcn_path_acked(&path, 10, START + 9 * RTT);
	dcqcn_path_sent(&path, 11, PACKET, true, START + 9 * RTT);
	dcqcn_path_acked(&path, 12, START + 19 * RTT);
	expect(path.rtt == 9 * RTT && path.rtt_min == 9 * RTT, "a longer bound makes it %u ns",
	       path.rtt);
	dcqcn_path_sent(&path, 13, PACKET, true, START + 19 * RTT);
	dcqcn_path_acked(&path, 14, START + 20 * RTT);
	expect(path.rtt == 8 * RTT && path.rtt_min == RTT, "a shorter bound makes it %u ns",
	       path.rtt);
	dcqcn_path_sent(&path, 15, PACKET, true, START + 20 * RTT);
	expect(dcqcn_path_acked(&path, 15, START + 21 * RTT) == DCQCN_LEARNT_RTT,
	       "a rate, from the ACK of a later packet");
}

/* All packets arrived, and the ACKs of the last ones, 10 to 13, were lost. They are sent again, and the
 * peer answers each with an ACK of 13. Those that come for 11 and 12 tell nothing of the probe, which
 * is 12; and an ACK of 14 tells no more than a bound.
 */
static void test_acked_again(void)
{
	struct dcqcn_path path = {};

	dcqcn_path_sent(&path, 9, PACKET, true, START);
	dcqcn_path_acked(&path, 9, START + RTT);
	dcqcn_path_sent(&path, 10, PACKET, true, START + RTT);
	dcqcn_path_restart(&path);
	dcqcn_path_sent(&path, 10, PACKET, true, START + 9 * RTT);
	expect(dcqcn_path_acked(&path, 13, START + 10 * RTT) == DCQCN_LEARNT_BOUND,
	       "the wait for the first one does not end");
	dcqcn_path_sent(&path, 12, PACKET, true, START + 10 * RTT + 1);
	expect(!dcqcn_path_acked(&path, 13, START + 10 * RTT + RTT / 8), "the answer to 11");
	expect(!dcqcn_path_acked(&path, 13, START + 10 * RTT + RTT / 4), "the answer to 12");
	expect(path.rtt == RTT && path.rtt_min == RTT, "round trip %u ns, at least %u", path.rtt,
	       path.rtt_min);
	expect(dcqcn_path_acked(&path, 14, START + 12 * RTT) == DCQCN_LEARNT_BOUND && path.rtt == RTT,
	       "the wait does not end");

	/* a second later, PSNs may have come round */
	dcqcn_path_sent(&path, 12, PACKET, true, START + 2 * SECOND);
	expect(dcqcn_path_acked(&path, 12, START + 2 * SECOND + RTT), "an ACK is ignored for ever");
}

/* The bursts of many flows take longer than rxe's timer to arrive. All packets are sent again, and
 * then the ACK of the first transmission comes: it must not show a short round trip.
 */
static void test_late(void)
{
	static const u32 timeout = 64 * RTT;
	struct dcqcn_path path = { .begun_time = START };
	u64 again = START + timeout;

	dcqcn_path_sent(&path, 0xffffff, PACKET, true, START);
	dcqcn_path_repeat(&path, 2, timeout, again);
	dcqcn_path_sent(&path, 0xffffff, PACKET, true, again);
	expect(dcqcn_path_left(&path, 2) == START, "the first transmission does not count");
	expect(dcqcn_path_acked(&path, 2, again + RTT / 9) == DCQCN_LEARNT_BOUND && !path.rtt &&
	       !path.rtt_min, "a round trip of %u ns", path.rtt);
	expect(!dcqcn_path_acked(&path, 2, again + RTT / 8), "the ACK of the second one");
	/* also that of the packet itself */
	dcqcn_path_sent(&path, 1, PACKET, true, again);
	dcqcn_path_repeat(&path, 4, timeout, again + timeout / 4 * 3);
	dcqcn_path_sent(&path, 3, PACKET, true, again + timeout);
	expect(dcqcn_path_acked(&path, 3, again + timeout + RTT) == DCQCN_LEARNT_BOUND && !path.rtt,
	       "a round trip of %u ns", path.rtt);
	/* what has left only once gives a sample */
	dcqcn_path_sent(&path, 5, PACKET, true, again + timeout + RTT);
	expect(dcqcn_path_left(&path, 5) == again + timeout + RTT, "it has left twice");
	expect(dcqcn_path_acked(&path, 5, again + timeout + 2 * RTT) == DCQCN_LEARNT_RTT &&
	       path.rtt == RTT, "a round trip of %u ns", path.rtt);
	/* and so does a packet that a NAK says is missing */
	dcqcn_path_sent(&path, 6, PACKET, true, again + timeout + 2 * RTT);
	dcqcn_path_repeat(&path, 9, timeout, again + timeout + 4 * RTT);
	dcqcn_path_sent(&path, 6, PACKET, true, again + timeout + 4 * RTT);
	expect(dcqcn_path_acked(&path, 6, again + timeout + 5 * RTT) == DCQCN_LEARNT_RTT,
	       "what a NAK brings gives no sample");
	/* where no timer is known, none fires */
	dcqcn_path_sent(&path, 10, PACKET, true, again + 2 * timeout);
	dcqcn_path_repeat(&path, 12, 0, again + 4 * timeout);
	dcqcn_path_sent(&path, 10, PACKET, true, again + 4 * timeout);
	expect(dcqcn_path_acked(&path, 10, again + 4 * timeout + RTT) == DCQCN_LEARNT_RTT,
	       "without a timer, it gives no sample");
	/* PSNs come round */
	dcqcn_path_sent(&path, 11, PACKET, true, again + 5 * timeout);
	dcqcn_path_repeat(&path, 11, timeout, again + 6 * timeout);
	dcqcn_path_sent(&path, 12, PACKET, true, again + 6 * timeout);
	expect(dcqcn_path_acked(&path, 12, again + 6 * timeout + RTT) >= DCQCN_LEARNT_RTT,
	       "a new packet gives no sample");
	dcqcn_path_sent(&path, 0x900000, PACKET, true, again + 2 * SECOND);
	expect(dcqcn_path_acked(&path, 0x900000, again + 2 * SECOND + RTT) >= DCQCN_LEARNT_RTT,
	       "half of all PSNs give no sample");
}

static void test_period(void)
{
	struct dcqcn_rate r = flow_at(1000 * MBPS, RTT);

	expect(r.period == RTT, "T is %u ns", r.period);
	/* 2 * 4154 * 8 bits at 10 Mb/s */
	r = flow_at(10 * MBPS, RTT);
	expect(near(r.period, 6646400), "T of a slow flow is %u ns", r.period);
}

/* The queue, and 3/8 of the rest */
static void test_period_without_queue(void)
{
	static const struct { u32 rtt, least, period; } known[] = {
		{ 100 * US, 100 * US, 37500 },	/* no queue */
		{ 100 * US, 80 * US, 50 * US },
		{ 100 * US, 0, 100 * US },	/* unknown */
		{ 100 * US, 8, 99995 },
		{ 100 * US, 200 * US, 37500 },	/* the mean fell below it */
		{ 1 * US, 1 * US, 1 * US },	/* the least T */
		{ U32_MAX, U32_MAX, U32_MAX - U32_MAX / 8 * 5 - 4 },
	};
	struct dcqcn_rate r = flow_at(DCQCN_RATE_MAX, RTT);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		dcqcn_rate_set_rtt(&r, known[i].rtt, known[i].least);
		expect(r.period == known[i].period, "%u ns, %u at least: T is %u ns",
		       known[i].rtt, known[i].least, r.period);
	}
	/* not fewer than 3 packets, of 10 us, unless the whole round trip has fewer */
	r = flow_at(3323200 * 1000ULL, RTT);
	dcqcn_rate_set_rtt(&r, 70 * US, 70 * US);
	expect(near(r.period, 30 * US), "T of 3 packets is %u ns", r.period);
	dcqcn_rate_set_rtt(&r, 90 * US, 90 * US);
	expect(r.period == 33750, "T of more packets is %u ns", r.period);
	dcqcn_rate_set_rtt(&r, 25 * US, 25 * US);
	expect(r.period == 25 * US, "T of a round trip of 2.5 packets is %u ns", r.period);
	dcqcn_rate_set_rtt(&r, 15 * US, 15 * US);
	expect(near(r.period, 20 * US), "T of a round trip of 1.5 packets is %u ns", r.period);
}

static void test_unmeasured(void)
{
	struct dcqcn_rate r;

	dcqcn_rate_init(&r, LINE, START);
	expect(!dcqcn_rate_alpha(&r, &automatic, START + SECOND), "alpha");
	dcqcn_rate_advance(&r, &automatic, LINE, START + SECOND, PACKET);
	expect(r.current_rate == LINE, "rate %llu", r.current_rate);
}

static void test_cuts(void)
{
	struct dcqcn_rate r = flow_at(1000 * MBPS, RTT);
	u64 now = START + RTT - 1;
	int sent;

	dcqcn_rate_advance(&r, &automatic, LINE, now, 8 * PACKET);
	dcqcn_rate_cnp(&r, &automatic, LINE, now);
	expect(r.current_rate == 1000 * MBPS, "cut within a round trip");
	dcqcn_rate_cnp(&r, &automatic, LINE, now + 1);
	expect(r.current_rate < 600 * MBPS, "not cut after a round trip");

	r = flow_at(1000 * MBPS, RTT);
	dcqcn_rate_advance(&r, &automatic, LINE, now + 1, 8 * PACKET - 1);
	dcqcn_rate_cnp(&r, &automatic, LINE, now + 1);
	expect(r.current_rate == 1000 * MBPS, "cut before 8 packets");
	expect(!r.cut_pending, "and it was not forgotten");

	/* all packets are marked: the fifth CNP cuts */
	r = flow_at(1000 * MBPS, RTT);
	now++;
	for (sent = 1; r.current_rate == 1000 * MBPS && sent <= 8; sent++) {
		dcqcn_rate_advance(&r, &automatic, LINE, now, PACKET);
		dcqcn_rate_cnp(&r, &automatic, LINE, now);
	}
	expect(sent == 6, "cut after %d marked packets", sent - 1);
}

/* A queue that takes many round trips to drain holds what was sent before the last cut. Its CNPs must
 * not cut the rate again, and again after each increase, of a flow that sends nothing.
 */
static void test_cuts_of_old_packets(void)
{
	struct dcqcn_rate r = flow_at(1000 * MBPS, RTT);
	u64 now = START, least = r.current_rate;
	int i;

	for (i = 0; i < 1000; i++) {
		now += RTT / 8;
		dcqcn_rate_cnp(&r, &automatic, LINE, now);
		least = min(least, r.current_rate);
	}
	expect(least == 1000 * MBPS, "cut to %llu for packets that left before", least);
	dcqcn_rate_advance(&r, &automatic, LINE, now, 8 * PACKET);
	least = r.current_rate;
	dcqcn_rate_cnp(&r, &automatic, LINE, now);
	expect(r.current_rate < least, "not cut when it sends again");
}

/* The second cut is larger if it follows the first one within two round trips */
static void test_cuts_again(void)
{
	struct dcqcn_rate r;
	u64 cut[2];
	int i;

	for (i = 0; i < 2; i++) {
		r = flow_at(1000 * MBPS, RTT);
		r.alpha = 0;
		r.alpha_time = START;
		dcqcn_rate_sent(&r, 8 * PACKET, START + 1);
		r.timer_time = START + i;
		dcqcn_rate_cnp(&r, &automatic, LINE, START + 2 * RTT - 1 + i);
		cut[i] = 1000 * MBPS - r.current_rate;
	}
	/* alpha 1/4 takes an eighth */
	expect(near(cut[0], 125 * MBPS), "at once: %llu", cut[0]);
	expect(!cut[1], "later: %llu", cut[1]);
}

static void test_increase(void)
{
	struct dcqcn_rate r = flow_at(1024 * MBPS, RTT);

	dcqcn_rate_advance(&r, &automatic, LINE, START + 4 * RTT, 0);
	expect(r.target_rate == 1024 * MBPS, "fast recovery raised the target");
	dcqcn_rate_advance(&r, &automatic, LINE, START + 5 * RTT, 0);
	expect(r.target_rate == 1032 * MBPS, "target %llu", r.target_rate);

	r = flow_at(1024 * MBPS, RTT);
	r.timer_stage = 56;
	expect(dcqcn_rate_ai(&r, &automatic) == 32 * MBPS, "R_AI after 56 steps");

	/* a packet takes 100 T / 66: the share per packet stays */
	r = flow_at(1000 * MBPS, 1 * US);
	r.current_rate = 100 * MBPS;
	expect(near(dcqcn_rate_ai(&r, &automatic), 1000 * MBPS / 128 / 10),
	       "R_AI %llu of few packets", dcqcn_rate_ai(&r, &automatic));
}

static void test_bounds(void)
{
	struct dcqcn_rate r = flow_at(100 * MBPS, RTT);

	dcqcn_rate_set_delivered(&r, &automatic, 1000 * MBPS, 1200 * MBPS);
	expect(r.current_rate == 750 * MBPS, "raised to %llu", r.current_rate);
	r = flow_at(9000 * MBPS, RTT);
	dcqcn_rate_set_delivered(&r, &automatic, 1000 * MBPS, 1200 * MBPS);
	expect(r.current_rate == 2400 * MBPS && r.target_rate == 2400 * MBPS,
	       "lowered to %llu, %llu", r.current_rate, r.target_rate);
	r = flow_at(9000 * MBPS, RTT);
	dcqcn_rate_set_delivered(&r, &mlx5, 1000 * MBPS, 1200 * MBPS);
	expect(r.current_rate == 9000 * MBPS, "mlx5 takes no notice");
}

/* Alpha is close to 1, so a cut halves the rate */
static void test_first_cut(void)
{
	static const struct { u64 most; bool running, starting, had_cnp; u64 from; } known[] = {
		{ 1200 * MBPS, true, false, false, 1200 * MBPS },
		{ 9500 * MBPS, true, false, false, 9000 * MBPS },
		{ 0, true, false, false, 9000 * MBPS },	/* unknown */
		{ 1200 * MBPS, true, true, false, 9000 * MBPS },
		{ 1200 * MBPS, true, false, true, 9000 * MBPS },
		{ 1200 * MBPS, false, false, false, 1200 * MBPS },	/* was not limited */
		{ 0, false, false, false, LINE },
	};
	size_t i;
	u64 line;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		struct dcqcn_rate r = flow_at(9000 * MBPS, RTT);

		r.start = known[i].starting ? DCQCN_START_MEASURES : DCQCN_START_NONE;
		r.had_cnp = known[i].had_cnp;
		r.running = known[i].running;
		r.cut_time = START - RTT;
		r.sent = 8 * PACKET;
		line = dcqcn_rate_cut_line(&r, &automatic, LINE, known[i].most);
		dcqcn_rate_cnp(&r, &automatic, line, START);
		expect(r.current_rate > known[i].from * 45 / 100 &&
		       r.current_rate < known[i].from * 55 / 100,
		       "%zu: %llu", i, r.current_rate);
	}
}

static void test_knobs_win(void)
{
	struct dcqcn_rp_params p = automatic;
	struct dcqcn_rate r = flow_at(1024 * MBPS, RTT);

	p.rpg_ai_rate = 3;
	expect(dcqcn_rate_ai(&r, &p) == 3 * MBPS, "R_AI");
	expect(dcqcn_rate_timer_period(&r, &p) == RTT, "T, still measured");
	p = automatic;
	p.rpg_time_reset = 77;
	expect(dcqcn_rate_timer_period(&r, &p) == 77 * US, "T");
	expect(dcqcn_rate_ai(&r, &p) == 8 * MBPS, "R_AI, still measured");
	p = automatic;
	p.rate_reduce_monitor_period = 5;
	dcqcn_rate_cnp(&r, &p, LINE, START + 5 * US);
	expect(r.current_rate < 600 * MBPS, "one cut per monitor period");
}

/* Send @n packets, each as long after the one before as the rate says */
static u64 send(struct dcqcn_rate *r, u64 now, int n)
{
	for (; n; n--) {
		now += PACKET * 8 * SECOND / r->current_rate;
		dcqcn_rate_advance(r, &automatic, LINE, now, PACKET);
	}
	return now;
}

/* A start without samples, by time */
static void test_start_blind(void)
{
	struct dcqcn_rate r = { .rtt = RTT, .packet = PACKET };
	u64 now;

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, false, START);
	expect(r.current_rate == LINE / 32, "begins at %llu", r.current_rate);
	expect(!dcqcn_start_wants_sample(&r, START + SECOND), "wants a sample");
	expect(!dcqcn_rate_cnp(&r, &automatic, LINE, START + 10) && r.start,
	       "the burst's CNP ends the start");
	now = send(&r, START, 7);
	expect(r.current_rate == LINE / 32, "faster after 7 packets");
	now = send(&r, now, 1);
	expect(near(r.current_rate, LINE / 128 * 5), "then %llu", r.current_rate);
	expect(dcqcn_rate_phase(&r, &automatic) == DCQCN_START, "the phase");
	dcqcn_rate_cnp(&r, &automatic, LINE, now);
	expect(!r.start && r.running, "the first CNP ends it");
	expect(near(r.current_rate, LINE / 256 * 5), "cut to %llu", r.current_rate);
	expect(r.target_rate == r.current_rate, "target %llu", r.target_rate);

	/* it began too fast for its path: no step, but three and 16 packets were marked */
	r = (struct dcqcn_rate) { .rtt = 50 * RTT, .packet = PACKET };
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, LINE, false, START);
	now = send(&r, START, 18);
	expect(!dcqcn_rate_cnp(&r, &automatic, LINE, now), "deaf for 18 packets");
	now = send(&r, now, 1);
	expect(dcqcn_rate_cnp(&r, &automatic, LINE, now) && !r.start,
	       "deaf for more than 19 packets");
}

static void test_start_from(void)
{
	struct dcqcn_rate r = { .rtt = 50 * RTT, .packet = PACKET };
	struct dcqcn_rp_params p = automatic;

	/* 4 * 12288 bytes in 5 ms */
	dcqcn_start_begin(&r, &p, LINE, p.start_burst, 0, false, START);
	expect(r.current_rate == 78643200, "unknown path: %llu", r.current_rate);
	/* 12288 bytes in 100 ms, but no less than rpg_min_rate */
	dcqcn_start_begin(&r, &p, LINE, p.start_burst, 0, true, START);
	expect(r.current_rate == 1 * MBPS, "until a sample comes: %llu", r.current_rate);
	p.start_burst = 125000;
	dcqcn_start_begin(&r, &p, LINE, p.start_burst, 0, true, START);
	expect(r.current_rate == 10 * MBPS, "with a longer burst: %llu", r.current_rate);
	p.start_burst = automatic.start_burst;
	dcqcn_start_begin(&r, &p, LINE, p.start_burst, 4000 * MBPS, true, START);
	expect(r.current_rate == 1000 * MBPS, "known path: %llu", r.current_rate);
	dcqcn_start_begin(&r, &p, 100 * MBPS, p.start_burst, 4000 * MBPS, true, START);
	expect(r.current_rate == 1000 * MBPS, "known path, slow line: %llu", r.current_rate);
	/* at the line rate, it would be over */
	dcqcn_start_begin(&r, &p, 100 * MBPS, p.start_burst, 4000 * MBPS, false, START);
	expect(r.current_rate == 50 * MBPS, "slow line: %llu", r.current_rate);
	dcqcn_start_begin(&r, &p, 1 * MBPS, p.start_burst, 0, true, START);
	expect(r.current_rate == 1 * MBPS, "slowest line: %llu", r.current_rate);
	p.start_burst = U32_MAX;
	r.rtt = 1000;
	dcqcn_start_begin(&r, &p, DCQCN_RATE_MAX, p.start_burst, 0, false, START);
	expect(r.current_rate == DCQCN_RATE_MAX / 32, "longest burst: %llu",
	       r.current_rate);
	p.start_burst = 1;
	dcqcn_start_begin(&r, &p, LINE, p.start_burst, 0, false, START + SECOND);
	expect(r.current_rate == 32000 * MBPS / 1000, "shortest: %llu", r.current_rate);
}

/* A round trip of @ns ends at @now */
static void sample(struct dcqcn_rate *r, u64 now, u64 ns, u32 least)
{
	dcqcn_start_sample(r, &automatic, now - ns, least, now);
}

/* A start whose first round trip, of RTT, is known at @now */
static struct dcqcn_rate started(u64 now)
{
	struct dcqcn_rate r = { .rtt = 50 * RTT, .packet = PACKET };

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, now - RTT);
	dcqcn_rate_set_rtt(&r, RTT, 0);
	sample(&r, now, RTT, 0);
	return r;
}

#define FIRST_RATE	1474560000ULL	/* bit/s: 3 * 12288 bytes in 2 RTT */

static void test_start_waits(void)
{
	struct dcqcn_rate r = { .rtt = 50 * RTT, .packet = PACKET };

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	expect(dcqcn_start_wants_sample(&r, START), "wants none");
	dcqcn_rate_advance(&r, &automatic, LINE, START + 200 * RTT, 40 * PACKET);
	expect(!dcqcn_rate_cnp(&r, &automatic, LINE, START + 200 * RTT) &&
	       r.start && r.current_rate == 1 * MBPS, "goes on at %llu",
	       r.current_rate);
	r = started(START);
	expect(r.start && r.current_rate == FIRST_RATE, "begins at %llu",
	       r.current_rate);
	expect(!dcqcn_start_wants_sample(&r, START + RTT - 1),
	       "wants a sample while the bursts are leaving");
	expect(dcqcn_start_wants_sample(&r, START + RTT), "wants no other");
	r.timer_stage = 1;
	expect(!dcqcn_start_wants_sample(&r, START + RTT / 2 - 1),
	       "wants a sample at once after a step");
	expect(dcqcn_start_wants_sample(&r, START + RTT / 2), "wants none after a step");
	expect(dcqcn_rate_cnp(&r, &automatic, LINE, START + 1) && !r.start,
	       "a CNP does not end it");
}

static void test_start_goes_blind(void)
{
	struct dcqcn_rate r = { .rtt = RTT, .packet = PACKET };

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_start_go_blind(&r, LINE);
	expect(r.current_rate == LINE / 32, "goes on at %llu", r.current_rate);
	send(&r, START, 8);
	expect(near(r.current_rate, LINE / 128 * 5), "then %llu", r.current_rate);
	sample(&r, START + 50 * RTT, RTT, 0);
	expect(near(r.current_rate, FIRST_RATE) && r.start == DCQCN_START_MEASURES, "sampled: %llu",
	       r.current_rate);
}

/* A start that waits goes on at the bound; once more, and it goes by time until a sample comes */
static void test_start_bound(void)
{
	struct dcqcn_rate r = { .rtt = 50 * RTT, .packet = PACKET };
	u64 now = START + 2 * RTT;

	dcqcn_start_bound(&r, START, now);
	expect(!r.current_rate, "a flow that does not start goes on at %llu", r.current_rate);
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_rate_set_rtt(&r, 2 * RTT, 0);
	dcqcn_start_bound(&r, START, now);
	expect(r.start == DCQCN_START_MEASURES && near(r.current_rate, FIRST_RATE / 2),
	       "goes on at %llu", r.current_rate);
	expect(dcqcn_start_wants_sample(&r, now + 2 * RTT), "wants no sample");
	dcqcn_start_bound(&r, now, now + 2 * RTT);
	expect(r.start == DCQCN_START_BLIND && near(r.current_rate, FIRST_RATE / 2), "at %llu", r.current_rate);
	now = send(&r, now + 2 * RTT, 8);
	expect(r.current_rate > FIRST_RATE / 2, "it never goes up");
	dcqcn_rate_set_rtt(&r, RTT, RTT);
	sample(&r, now, RTT, 0);
	expect(r.start == DCQCN_START_MEASURES && near(r.current_rate, FIRST_RATE), "sampled: %llu", r.current_rate);

	/* whatever the bound is */
	r = (struct dcqcn_rate) { .rtt = RTT, .packet = PACKET };
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_start_bound(&r, START, START);
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_start_bound(&r, START, START + 1000 * SECOND);
	expect(r.start == DCQCN_START_MEASURES && r.current_rate == 1 * MBPS, "at %llu", r.current_rate);
}

/* A sample of a path allows one step, if it left after the one before */
static void test_start_samples(void)
{
	struct dcqcn_rate r = started(START);
	u64 now;

	sample(&r, START + RTT, RTT + 1, RTT);
	now = send(&r, START, 40);
	expect(r.current_rate == FIRST_RATE, "a step by a packet from before");
	sample(&r, now, RTT, RTT);
	now = send(&r, now, 40);
	expect(near(r.current_rate, FIRST_RATE / 8 * 15), "one step per sample: %llu",
	       r.current_rate);
}

/* Longer by more than a 32nd: no step; by more than a quarter: the end */
static void test_start_fills_path(void)
{
	static const struct { u32 ns; bool step, end; } trips[] = {
		{ RTT / 32 * 31, true, false }, { RTT / 32 * 31 - 1, false, false },
		{ RTT / 32 * 33, true, false }, { RTT / 32 * 33 + 1, false, false },
		{ RTT / 4 * 5, false, false }, { RTT / 4 * 5 + 1, false, true },
	};
	struct dcqcn_rate r;
	u64 now, rate;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(trips); i++) {
		r = started(START);
		now = send(&r, START, 40) + 2 * RTT;
		sample(&r, now, trips[i].ns, RTT);
		expect(!r.start == trips[i].end, "%u ns: ended %d", trips[i].ns,
		       !r.start);
		rate = r.current_rate;
		expect(rate == FIRST_RATE / (trips[i].end ? 3 : 1) * (trips[i].end ? 2 : 1),
		       "%u ns: at %llu", trips[i].ns, rate);
		dcqcn_rate_advance(&r, &automatic, LINE, now + 1, PACKET);
		expect((r.current_rate > rate) == trips[i].step, "%u ns: step to %llu",
		       trips[i].ns, r.current_rate);
	}
	sample(&r, now + 4 * RTT, 2 * RTT, RTT);
	expect(r.current_rate == rate, "ended twice");
}

/* A queue of others, which stays as it is */
static void test_start_beside_others(void)
{
	struct dcqcn_rate r = started(START);
	u64 now = send(&r, START, 40) + 2 * RTT;

	sample(&r, now, RTT / 8 * 9, RTT);
	dcqcn_rate_advance(&r, &automatic, LINE, now + 1, PACKET);
	expect(r.current_rate == FIRST_RATE, "a step when the queue has grown");
	sample(&r, now + RTT, RTT / 8 * 9, RTT);
	dcqcn_rate_advance(&r, &automatic, LINE, now + RTT, PACKET);
	expect(near(r.current_rate, FIRST_RATE / 8 * 15), "no step: %llu", r.current_rate);
}

/* R_AI right after a start, and when it is over for long */
static void test_young(void)
{
	struct dcqcn_rate r = started(START);

	dcqcn_rate_cnp(&r, &automatic, LINE, START + 1);
	r.current_rate = 768 * MBPS;
	r.target_rate = 768 * MBPS;
	expect(dcqcn_rate_ai(&r, &automatic) == 42 * MBPS, "R_AI %llu",
	       dcqcn_rate_ai(&r, &automatic));
	dcqcn_rate_advance(&r, &automatic, LINE, START + 1 + 4 * RTT, 0);
	expect(dcqcn_rate_ai(&r, &automatic) == 41 * MBPS, "then %llu",
	       dcqcn_rate_ai(&r, &automatic));
	r.timer_stage = 0;
	r.ai_boost = 0;
	expect(dcqcn_rate_ai(&r, &automatic) == 6 * MBPS, "at last %llu",
	       dcqcn_rate_ai(&r, &automatic));
	r = flow_at(768 * MBPS, RTT);
	expect(dcqcn_rate_ai(&r, &automatic) == 6 * MBPS, "without a start %llu",
	       dcqcn_rate_ai(&r, &automatic));
}

/* T is the whole round trip up to the 16th increase after a start */
static void test_young_period(void)
{
	struct dcqcn_rate r = started(START);
	u64 now = START + 1;

	dcqcn_rate_set_rtt(&r, RTT, RTT);
	dcqcn_rate_cnp(&r, &automatic, LINE, now);
	r.current_rate = FIRST_RATE;
	r.target_rate = FIRST_RATE;
	expect(r.least_rtt == RTT && r.period == RTT, "at first %u ns", r.period);
	dcqcn_rate_advance(&r, &automatic, LINE, now += 15 * RTT, 0);
	expect(r.period == RTT, "after 15 increases %u ns", r.period);
	dcqcn_rate_advance(&r, &automatic, LINE, now += RTT, 0);
	expect(r.period == RTT / 8 * 3, "after 16 increases %u ns", r.period);
	/* a cut does not begin anew */
	r.sent = 8 * PACKET;
	dcqcn_rate_cnp(&r, &automatic, LINE, now);
	dcqcn_rate_set_rtt(&r, 2 * RTT, RTT);
	expect(r.period == RTT / 8 * 11, "after a cut %u ns", r.period);
}

static void test_start_again(void)
{
	struct dcqcn_path path = {};

	dcqcn_path_sent(&path, 1, PACKET, true, START);
	dcqcn_path_acked(&path, 1, START + RTT);
	path.delivered[0] = 1000;
	path.delivered[1] = 1000;
	dcqcn_path_forget(&path);
	expect(!dcqcn_path_most(&path), "still %llu", dcqcn_path_most(&path));
	dcqcn_path_sent(&path, 2, PACKET, true, START + RTT);
	dcqcn_path_acked(&path, 2, START + 3 * RTT);
	expect(path.rtt == 2 * RTT && path.rtt_min == 2 * RTT, "round trips %u, %u",
	       path.rtt, path.rtt_min);
}

/* rate_to_set_on_first_cnp waits for a CNP, whatever ended the start */
static void test_first_cnp_after_start(void)
{
	struct dcqcn_rp_params p = automatic;
	struct dcqcn_rate r = started(START);

	p.rate_to_set_on_first_cnp = 100;
	dcqcn_start_sample(&r, &p, START, RTT, START + 2 * RTT);
	expect(!r.start && r.current_rate > 100 * MBPS, "%llu at the end of the start",
	       r.current_rate);
	dcqcn_rate_cnp(&r, &p, LINE, START + 3 * RTT);
	expect(r.current_rate == 100 * MBPS && r.target_rate == 100 * MBPS,
	       "%llu, %llu by the first CNP", r.current_rate, r.target_rate);
	dcqcn_rate_sent(&r, 100 * PACKET, START + 4 * RTT);
	dcqcn_rate_cnp(&r, &p, LINE, START + 5 * RTT);
	expect(r.current_rate < 100 * MBPS, "%llu by the second CNP", r.current_rate);

	/* one that was set too late */
	r = started(START);
	dcqcn_start_sample(&r, &automatic, START, RTT, START + 2 * RTT);
	dcqcn_rate_cnp(&r, &automatic, LINE, START + 3 * RTT);
	r.current_rate = 50 * MBPS;
	dcqcn_rate_cnp(&r, &p, LINE, START + 3 * RTT + 1);
	expect(r.current_rate == 50 * MBPS, "%llu by a CNP that is not the first",
	       r.current_rate);
}

static void test_start_ends(void)
{
	struct dcqcn_rate r = { .rtt = RTT, .packet = PACKET };
	u64 now = START;
	int n;

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, false, now);
	for (n = 0; r.start && n < 10000; n++)
		now = send(&r, now, 1);
	expect(r.current_rate == LINE, "at the line");
	/* 16 steps; 8 packets take 851 us at first, and as long as a round trip at the
	 * tenth: 3.8 ms and six round trips
	 */
	expect(now - START < 46 * RTT, "took %llu ns", now - START);

	r = (struct dcqcn_rate) { .rtt = RTT, .packet = PACKET };
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_rate_advance(&r, &automatic, LINE, START + 3000 * RTT, 0);
	expect(!r.start, "a flow without packets starts for ever");
}

/* A packet of @bytes that asks for an ACK leaves at @now, its ACK comes a round trip later */
static enum dcqcn_learnt exchange(struct dcqcn_path *path, u32 psn, u32 bytes, u64 now)
{
	dcqcn_path_sent(path, psn, bytes, true, now);
	return dcqcn_path_acked(path, psn, now + RTT);
}

/* What gets through in a time without anything to send says how little that was, not how much the
 * path carries
 */
static void test_idle(void)
{
	struct dcqcn_path path = {};

	exchange(&path, 1, PACKET, START);
	path.idle = true;
	expect(exchange(&path, 2, 125000, START + 10 * RTT) == DCQCN_LEARNT_RTT &&
	       !dcqcn_path_most(&path) && path.idled, "an idle flow knows its path carries %llu",
	       dcqcn_path_most(&path));
	/* 125000 bytes in 1 ms */
	expect(exchange(&path, 3, 125000, START + 20 * RTT) == DCQCN_LEARNT_RATE &&
	       dcqcn_path_most(&path) == 1000 * MBPS, "a busy one that it carries %llu",
	       dcqcn_path_most(&path));
	path.idle = true;
	expect(exchange(&path, 4, 12500, START + 30 * RTT) == DCQCN_LEARNT_RTT &&
	       dcqcn_path_most(&path) == 1000 * MBPS, "less after that: %llu",
	       dcqcn_path_most(&path));
	path.idle = true;
	expect(exchange(&path, 5, 250000, START + 40 * RTT) == DCQCN_LEARNT_RATE &&
	       dcqcn_path_most(&path) == 2000 * MBPS, "more at last: %llu", dcqcn_path_most(&path));
	exchange(&path, 6, 12500, START + 50 * RTT);
	exchange(&path, 7, 12500, START + 60 * RTT);
	expect(dcqcn_path_most(&path) == 100 * MBPS, "a busy one on a slower path: %llu",
	       dcqcn_path_most(&path));
	dcqcn_path_forget(&path);
	expect(!path.idled, "it is idle for ever");
}

static u32 burst_of(struct dcqcn_path *path, u32 usual, bool asks)
{
	return dcqcn_path_burst(path, usual, asks, 0, START);
}

/* Bursts get longer while they meet no congestion and are used, and are as long as usual again
 * after one that does, or shorter after a loss
 */
static void test_burst(void)
{
	struct dcqcn_path path = {};
	u32 n, burst;

	expect(burst_of(&path, 12288, true) == 12288, "the first one");
	expect(burst_of(&path, 12288, true) == 12288, "after one that was not used");
	for (n = 24576; n <= 8 * 12288; n *= 2) {
		path.sent += n / 2;
		burst = burst_of(&path, 12288, true);
		expect(burst == n, "%u bytes, not %u", burst, n);
	}
	path.sent += 16 * 12288;
	burst = burst_of(&path, 12288, true);
	expect(burst == 8 * 12288, "%u bytes at most", burst);
	path.sent += 16 * 12288;
	for (n = 4 * 12288; n >= 12288; n /= 2) {
		path.marked = true;
		burst = burst_of(&path, 12288, true);
		expect(burst == n && path.was_marked, "%u bytes after marks, not %u", burst, n);
	}
	path.marked = true;
	expect(burst_of(&path, 12288, true) == 12288, "the shortest one");
	path.burst = 8 * 12288;
	path.marked = true;
	expect(burst_of(&path, 12288, false) == 12288, "without ACKs, after marks");
	path.sent += 12288;
	expect(burst_of(&path, 12288, true) == 24576 && !path.was_marked,
	       "it is as if it met marks again");
	path.lost = true;
	expect(burst_of(&path, 12288, true) == 3072 && path.was_lost, "after a loss");
	path.lost = true;
	expect(burst_of(&path, 12288, true) == 3072 && path.was_lost, "after another loss");
	path.sent += 3072;
	expect(burst_of(&path, 12288, true) == 6144, "twice of that");
	path.burst = U32_MAX;
	path.begun = path.sent - U32_MAX;
	expect(burst_of(&path, U32_MAX, true) == U32_MAX - 1, "the longest one");
}

/* The shortest round trip stays for a while where all of a short message has met a queue, and
 * grows to that of a longer path at last
 */
static void test_paused_rtt(void)
{
	struct dcqcn_path path = { .rtt_min = RTT };
	unsigned int i;

	burst_of(&path, 12288, true);
	expect(path.paused_rtt == RTT, "%u ns", path.paused_rtt);
	path.rtt_min = 4 * RTT;
	burst_of(&path, 12288, true);
	expect(path.paused_rtt == RTT + RTT / 8, "%u ns behind a queue", path.paused_rtt);
	path.rtt_min = RTT / 2;
	burst_of(&path, 12288, true);
	expect(path.paused_rtt == RTT / 2, "%u ns without", path.paused_rtt);
	path.rtt_min = 0;
	burst_of(&path, 12288, true);
	expect(path.paused_rtt == RTT / 2, "%u ns, and nothing was measured", path.paused_rtt);
	path.rtt_min = 4 * RTT;
	for (i = 0; i < 20; i++)
		burst_of(&path, 12288, true);
	expect(path.paused_rtt == 4 * RTT, "%u ns on a longer path", path.paused_rtt);
}

/* 125000 bytes are sent in a millisecond, which is 1 Gb/s */
static u32 share_after(struct dcqcn_path *path, u32 bytes, u64 rate, u64 now)
{
	path->begun_time = now - 3 * NSEC_PER_MSEC;
	path->heard_time = path->begun_time + NSEC_PER_MSEC;
	path->begun = path->sent;
	path->sent += bytes;
	dcqcn_path_burst(path, 12288, true, rate, now);
	return path->share;
}

/* Rounds in which a flow meets congestion, in each of the three ways, and then none any more */
static void test_share(void)
{
	struct dcqcn_path path = {};
	unsigned int way, calm;
	u32 share;

	share = share_after(&path, 125000, 1000 * MBPS, START);
	expect(!share, "without congestion, %u kb/s", share);
	for (way = 0; way < 3; way++) {
		path = (struct dcqcn_path) { .marked = way == 0, .queued = way == 1,
					     .lost = way == 2, .delivered[0] = 1000000 };
		share = share_after(&path, 125000, 100 * MBPS, START);
		expect(share == 1000000, "way %u: %u kb/s at a low rate", way, share);
	}
	path = (struct dcqcn_path) { .marked = true };
	share = share_after(&path, 125000, 1400 * MBPS, START);
	expect(share == 1200000, "%u kb/s after a higher rate", share);
	path.marked = true;
	share = share_after(&path, 100000, 100000 * MBPS, START);
	expect(share == 1200000, "%u kb/s at most", share);
	share = share_after(&path, 4 * 12288 - 1, 1000 * MBPS, START);
	expect(share == 1200000 && path.calm == 1, "%u kb/s after a short message", share);
	path.calm = 0;
	for (calm = 1; calm <= 4; calm++) {
		share = share_after(&path, 100000 + calm * 25000, 1000 * MBPS, START);
		expect(share == 1000000 + calm * 250000, "%u calm pauses: %u kb/s", calm, share);
	}
	expect(path.burst == 12288, "its burst grows to %u bytes", path.burst);
	share = share_after(&path, 125000, 1000 * MBPS, START);
	expect(!share, "the others are gone: %u kb/s", share);

	/* messages that are too short to teach a share, and any number that use none */
	path.marked = true;
	share_after(&path, 125000, 1000 * MBPS, START);
	for (calm = 0; calm < 10; calm++)
		share = share_after(&path, 12288, 1000 * MBPS, START);
	expect(share == 1000000, "%u kb/s after ten bursts", share);
	for (calm = 1; calm <= 5; calm++) {
		expect(share == 1000000, "%u kb/s after %u short messages", share, calm - 1);
		share = share_after(&path, 40000, 1000 * MBPS, START);
	}
	expect(!share, "the others are gone, as short messages tell: %u kb/s", share);

	/* it sent no more than its burst allows at once */
	path.burst = 125000;
	path.marked = true;
	share = share_after(&path, 125000, 1000 * MBPS, START);
	expect(!share, "a burst: %u kb/s", share);
	path.burst = 12288;
	path.lost = true;
	path.delivered[1] = 8000000;
	share = share_after(&path, 125000, MBPS, START);
	expect(share == 2000000, "a loss after 8 Gb/s: %u kb/s", share);
	path.lost = true;
	path.delivered[1] = 0;
	share = share_after(&path, 125000, 1000 * MBPS, START);
	expect(!share, "a loss, and nothing else is known: %u kb/s", share);
	path.marked = true;
	share = share_after(&path, 125000, 0, START);
	expect(!share, "without a limit: %u kb/s", share);
	path.share = 1000;
	path.heard_time = START;
	dcqcn_path_burst(&path, 12288, true, MBPS, START + DCQCN_PROBE_NS - 1);
	expect(path.share == 1000, "it lasts less than a second");
	dcqcn_path_burst(&path, 12288, true, MBPS, START + DCQCN_PROBE_NS);
	expect(!path.share, "it lasts for %u ns", (unsigned int)DCQCN_PROBE_NS);
}

/* Equal rounds: the share is what the flow got, and an eighth more if it met no congestion */
static void test_rounds(void)
{
	static const struct { u32 bytes; bool marked, lost, equal; u32 share; } rounds[] = {
		{ 125000, true, false, false, 1200000 },
		{ 125000, true, false, true, 1000000 },
		{ 126953, true, false, true, 1015624 },
		{ 124970, true, false, true, 999760 },
		{ 126923, true, false, false, 1207692 },
		{ 126923, false, false, true, 1142307 },
		{ 126923, true, true, false, 1207692 },
		{ 128907, true, false, false, 1215628 },
		{ 128907, false, false, true, 1160163 },
	};
	struct dcqcn_path path = { .delivered[0] = 1000 };
	unsigned int i;
	u32 share;

	for (i = 0; i < ARRAY_SIZE(rounds); i++) {
		path.marked = rounds[i].marked;
		path.lost = rounds[i].lost;
		share = share_after(&path, rounds[i].bytes, 1400 * MBPS, START);
		expect(share == rounds[i].share && path.in_rounds == rounds[i].equal,
		       "round %u: %u kb/s", i, share);
	}
	share_after(&path, 128907, 0, START);
	expect(!path.in_rounds, "a flow without a limit takes part in rounds");
	share_after(&path, 100000, 0, START);
	share_after(&path, 100000, 1400 * MBPS, START);
	expect(path.in_rounds, "what it sent without a limit is forgotten");
}

/* Share of a queue in which the bursts of all flows have met, whatever the rate was before */
static void test_rejoin(void)
{
	struct dcqcn_rate r = { .rtt = RTT, .packet = PACKET, .alpha = 1 << 20 };

	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_start_rejoin(&r, &automatic, 4 * RTT, 0, START + 5 * RTT);
	/* 12288 bytes in 0.4 ms */
	expect(near(r.current_rate, 245760000) && r.target_rate == r.current_rate,
	       "at %llu, to %llu", r.current_rate, r.target_rate);
	expect(!r.start && r.running && r.had_cnp && r.alpha == 1 << 20, "alpha %u", r.alpha);
	/* the next CNP cuts as in the middle of a flow's life */
	dcqcn_rate_sent(&r, 8 * PACKET, START + 6 * RTT);
	expect(dcqcn_rate_cnp(&r, &automatic, LINE, START + 8 * RTT) & DCQCN_RATE_CUT &&
	       r.current_rate > 240000000, "cut to %llu", r.current_rate);

	/* where more got through before, it comes back to that by halves */
	r = (struct dcqcn_rate) { .rtt = RTT, .packet = PACKET, .alpha = 1 << 20 };
	dcqcn_start_begin(&r, &automatic, LINE, automatic.start_burst, 0, true, START);
	dcqcn_start_rejoin(&r, &automatic, 4 * RTT, 1000000000, START + 5 * RTT);
	expect(near(r.current_rate, 245760000) && r.target_rate == 1000000000,
	       "at %llu, to %llu", r.current_rate, r.target_rate);
	dcqcn_rate_advance(&r, &automatic, LINE, START + 5 * RTT + r.period, 0);
	expect(near(r.current_rate, 622880000), "then at %llu", r.current_rate);

	/* a byte in 0.4 ms is below the lowest rate */
	r = (struct dcqcn_rate) { .rtt = RTT, .packet = PACKET, .alpha = 1 << 20 };
	dcqcn_start_begin(&r, &automatic, LINE, 1, 0, true, START);
	dcqcn_start_rejoin(&r, &automatic, 4 * RTT, 0, START + 5 * RTT);
	expect(r.current_rate == dcqcn_rate_floor(&automatic), "at %llu", r.current_rate);
}

static const struct tap_test tests[] = {
	{ "a probe and its ACK give a round trip", test_probe },
	{ "the round trip: up at once, down by eighths", test_round_trip_follows },
	{ "two ACKs give a rate", test_delivered },
	{ "lost packets teach nothing", test_nothing_from_losses },
	{ "an ACK beyond the probe ends the wait, and gives a bound", test_acked_later },
	{ "an ACK that repeats another tells nothing", test_acked_again },
	{ "the ACK of a packet that was sent twice gives no round trip", test_late },
	{ "T: a round trip, and two packets", test_period },
	{ "T: the queue, and 3/8 of the rest", test_period_without_queue },
	{ "nothing was measured yet", test_unmeasured },
	{ "one cut per round trip and eight packets", test_cuts },
	{ "no cut for what left before the last one", test_cuts_of_old_packets },
	{ "cuts in a row are larger", test_cuts_again },
	{ "R_AI: a share of the target", test_increase },
	{ "what gets through bounds the rate", test_bounds },
	{ "the first cut starts from what gets through", test_first_cut },
	{ "a knob that is set wins over the measure", test_knobs_win },
	{ "a start without samples, up to its first CNP", test_start_blind },
	{ "a start waits for its first sample", test_start_waits },
	{ "where a start begins", test_start_from },
	{ "a start that cannot ask goes by time", test_start_goes_blind },
	{ "a start goes on when a later packet than its probe is acknowledged", test_start_bound },
	{ "a start goes as fast as its path is measured", test_start_samples },
	{ "a start ends when its path is full", test_start_fills_path },
	{ "a queue of others that stays does not end a start", test_start_beside_others },
	{ "a start that meets no CNP ends", test_start_ends },
	{ "the first CNP sets its rate also after a start", test_first_cnp_after_start },
	{ "R_AI is larger after a start", test_young },
	{ "T is the whole round trip after a start", test_young_period },
	{ "a flow that begins again measures its path again", test_start_again },
	{ "a flow that has nothing to send does not measure what gets through", test_idle },
	{ "bursts get longer while they meet no congestion", test_burst },
	{ "the shortest round trip is known beyond a pause", test_paused_rtt },
	{ "a flow knows its share of a path that is shared in rounds", test_share },
	{ "equal rounds correct no share", test_rounds },
	{ "a start after a pause goes on with its share of the queue", test_rejoin },
};

int main(void)
{
	tap_plan(ARRAY_SIZE(tests));
	return tap_run(tests, ARRAY_SIZE(tests));
}
