// SPDX-License-Identifier: GPL-2.0
/*
 * The algorithms of struct dcqcn_cc_ops: swift.c, timely.c, dctcp.c, fast.c, hpcc.c and powertcp.c,
 * each against a model in floating point that is written from its paper alone, and flight.c. And DCQCN
 * and NSCC written as such algorithms, which do what they do when the module calls them directly.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "flight.h"
#include "knobs.h"
#include "nscc.h"
#include "random.h"
#include "rate.h"
#include "start.h"
#include "tap.h"

#define GBPS		1000000000ULL	/* bit/s */
#define LINE		(40 * GBPS)
#define FLOOR		1000000ULL
#define PACKET		4178
#define EVENTS		20000

/* What cc.c does around a call: the algorithm sees the time, and its answers are clamped */
static void clamped(struct dcqcn_cc *cc)
{
	cc->rate = clamp(cc->rate, cc->floor, cc->line);
}

static struct dcqcn_cc begun(const struct dcqcn_cc_ops *ops)
{
	struct dcqcn_cc cc = {
		.now = SECOND, .line = LINE, .floor = FLOOR, .rate = LINE, .packet = PACKET,
		.window = DCQCN_CC_NO_WINDOW,
	};

	ops->init(&cc);
	clamped(&cc);
	return cc;
}

/* An ACK of which @delay is told: the round trip less the wait of ACKs */
static void ack_after(const struct dcqcn_cc_ops *ops, struct dcqcn_cc *cc, u32 rtt, u32 delay,
		      u32 delivered, u32 marked, bool app_limited)
{
	struct dcqcn_cc_sample sample = {
		.rtt = rtt, .delay = delay, .delivered = delivered, .marked = marked,
		.app_limited = app_limited,
	};

	cc->now += random_below(20000);
	if (rtt) {
		cc->rtt = rtt;
		if (!cc->rtt_min || rtt < cc->rtt_min)
			cc->rtt_min = rtt;
	}
	ops->ack(cc, &sample);
	clamped(cc);
}

static void ack_of(const struct dcqcn_cc_ops *ops, struct dcqcn_cc *cc, u32 rtt, u32 delivered,
		   u32 marked, bool app_limited)
{
	ack_after(ops, cc, rtt, rtt, delivered, marked, app_limited);
}

static void lose(const struct dcqcn_cc_ops *ops, struct dcqcn_cc *cc)
{
	cc->now += random_below(20000);
	ops->loss(cc);
	clamped(cc);
}

/* The share by which a figure may differ from its model's */
static bool near(double value, double model, double share, double least)
{
	return fabs(value - model) <= fmax(share * fabs(model), least);
}

/* A round trip between @least and ten times that, mostly short */
static u32 some_rtt(u32 least)
{
	return least + (random_below(4) ? random_below(least) : random_below(9 * least));
}

/* --- Swift: algorithm 1, windows in packets, times in ns ----------------------------------- */

struct swift_model {
	double cwnd;
	double last_decrease;
	int retransmits;
};

static double swift_target(double cwnd, double rtt_min, double hops)
{
	double range = 2 * rtt_min;
	double a = range / (1 / sqrt(0.1) - 1 / sqrt(100)), b = -a / sqrt(100);

	return 1.5 * rtt_min + hops * 1000 + fmax(0, fmin(a / sqrt(cwnd) + b, range));
}

static void swift_end(struct swift_model *m, double before, double now)
{
	m->cwnd = fmax(m->cwnd, 0.01);
	if (m->cwnd < before)
		m->last_decrease = now;
}

static void swift_on_ack(struct swift_model *m, double delay, double acked, double rtt_min,
			 double hops, double now)
{
	double before = m->cwnd, target = swift_target(m->cwnd, rtt_min, hops);

	m->retransmits = 0;
	if (delay < target)
		m->cwnd += m->cwnd >= 1 ? acked / m->cwnd : acked;
	else if (now - m->last_decrease >= delay)
		m->cwnd *= fmax(1 - 0.8 * (delay - target) / delay, 1 - 0.5);
	swift_end(m, before, now);
}

static void swift_on_loss(struct swift_model *m, double rtt, double now)
{
	double before = m->cwnd;

	if (++m->retransmits >= 5)
		m->cwnd = 0;
	else if (now - m->last_decrease >= rtt)
		m->cwnd *= 0.5;
	swift_end(m, before, now);
}

/* The model takes over the window before each event, so that what is compared is the event */
static void test_swift(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_swift;
	struct dcqcn_cc cc = begun(ops);
	struct swift_model m = { .last_decrease = -1e12 };
	double last;
	u32 least = 12000, below = 0, cut = 0, i;
	bool full = false;	/* hundreds of flows share the path */

	expect(cc.window == 4 * 4200 && cc.rate == LINE, "begins with %u", cc.window);
	for (i = 0; i < EVENTS; i++) {
		u32 before = cc.window, rtt = some_rtt(least), acked = 1 + random_below(3 * PACKET);
		bool close = false;

		if (full)
			rtt = least * (4 + random_below(20));
		m.cwnd = (double)before / PACKET;
		last = m.last_decrease;
		cc.hops = random_below(4);
		if (!random_below(30)) {
			lose(ops, &cc);
			swift_on_loss(&m, cc.rtt, cc.now);
		} else {
			ack_of(ops, &cc, rtt, acked, 0, false);
			close = near(rtt, swift_target(m.cwnd, cc.rtt_min, cc.hops), 2e-3, 2);
			swift_on_ack(&m, rtt, (double)acked / PACKET, cc.rtt_min, cc.hops, cc.now);
		}
		/* at the target, a nanosecond decides */
		if (!close &&
		    !expect(near(cc.window, m.cwnd * PACKET, 2e-3, 3),
			    "event %u: from %u to %u, not %.1f", i, before, cc.window,
			    m.cwnd * PACKET))
			return;
		/* a decrease by less than a byte is none there */
		m.last_decrease = cc.window < before ? cc.now : last;
		below += cc.window < PACKET;
		cut += cc.window < before;
		/* one packet in rtt / cwnd, within the bounds of every rate */
		if (cc.window < PACKET && cc.rtt &&
		    !expect(near(cc.rate, fmax(fmin(8e9 * cc.window / cc.rtt, LINE), FLOOR), 1e-6, 1),
			    "event %u: rate %llu", i, cc.rate))
			return;
		if (cc.window >= PACKET && !expect(cc.rate == LINE, "event %u: paced", i))
			return;
		if (random_below(400) == 0) {
			least = 5000 + random_below(100000);
			cc.rtt_min = least;
			full = random_below(2);
		}
	}
	tap_note("%u cuts, %u windows below a packet", cut, below);
	expect(cut > EVENTS / 50 && below > EVENTS / 100, "%u cuts, %u below", cut, below);
}

/* A flow that has nothing more to send keeps its window */
static void test_swift_idle(void)
{
	struct dcqcn_cc cc = begun(&dcqcn_swift);
	u32 before = cc.window;

	ack_of(&dcqcn_swift, &cc, 12000, PACKET, 0, true);
	expect(cc.window == before, "unused, it grew to %u", cc.window);
	ack_of(&dcqcn_swift, &cc, 12000, PACKET, 0, false);
	expect(cc.window > before, "used, it did not grow");
	before = cc.window;
	ack_of(&dcqcn_swift, &cc, 0, PACKET, 0, false);
	expect(cc.window == before, "it grew without a round trip");
}

/* --- TIMELY: algorithm 1 ----------------------------------------------------------------------- */

struct timely_model {
	double rate;
	double prev_rtt;
	double rtt_diff;
	int completions;
	double last_step;
	double last_loss;
};

/* Where the gradient is about 0, a nanosecond decides: @raised says how */
static void timely_on_segment(struct timely_model *m, double rtt, double rtt_min, double line,
			      double now, bool raised)
{
	double delta = line / 1000, gradient, before = m->rate;

	m->last_step = now;
	if (m->prev_rtt)
		m->rtt_diff = (1 - 0.875) * m->rtt_diff + 0.875 * (rtt - m->prev_rtt);
	m->prev_rtt = rtt;
	gradient = m->rtt_diff / rtt_min;
	if (fabs(m->rtt_diff) <= 2)
		gradient = raised ? 0 : 1e-6;
	if (rtt < 2.5 * rtt_min) {
		m->rate += delta;
	} else if (rtt > 25 * rtt_min) {
		m->rate *= 1 - 0.8 * (1 - 25 * rtt_min / rtt);
	} else if (gradient <= 0) {
		m->completions++;
		m->rate += (m->completions >= 5 ? 5 : 1) * delta;
	} else {
		m->completions = 0;
		m->rate *= 1 - 0.8 * fmin(gradient, 1);
	}
	/* as implementations do: half at most, and delta is left */
	if (m->rate < before)
		m->rate = fmin(fmax(fmax(m->rate, before / 2), delta), before);
	m->rate = fmax(fmin(m->rate, line), FLOOR);
}

static void test_timely(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_timely;
	struct dcqcn_cc cc = begun(ops);
	struct timely_model m = { .rate = LINE / 2, .last_step = -1e12, .last_loss = -1e12 };
	u32 acked = 0, i, cuts = 0, high = 0, rtt = 12000;

	expect(cc.rate == LINE / 2, "begins at %llu", cc.rate);
	for (i = 0; i < EVENTS; i++) {
		u32 bytes = random_below(2) ? 16384 : 1 + random_below(16384);
		u64 before = cc.rate;

		m.rate = before;
		if (!random_below(100)) {
			lose(ops, &cc);
			if (cc.now - m.last_loss >= cc.rtt) {
				m.last_loss = cc.now;
				m.rate = fmin(fmax(m.rate / 2, LINE / 1000), m.rate);
			}
		} else {
			/* a walk, so that there are runs of falling and rising round trips */
			rtt = random_below(50) ? max_t(u32, 12000, rtt - 2000 + random_below(4500)) :
						 12000 + random_below(600000);
			ack_of(ops, &cc, rtt, bytes, 0, false);
			acked += bytes;
			if (acked >= 16384 && cc.now - m.last_step >= cc.rtt_min) {
				timely_on_segment(&m, rtt, cc.rtt_min, LINE, cc.now,
						  cc.rate > before);
				acked = 0;
			}
		}
		if (!expect(near(cc.rate, m.rate, 4e-3, 1100), "event %u: from %llu to %llu, not %.0f",
			    i, before, cc.rate, m.rate))
			return;
		cuts += cc.rate < before;
		high += rtt > 25 * cc.rtt_min;
	}
	tap_note("%u cuts, %u round trips above T_high", cuts, high);
	expect(cuts > EVENTS / 20 && high > 50, "%u cuts, %u high", cuts, high);
}

/* --- DCTCP: equations 1 and 2 -------------------------------------------------------------------- */

struct dctcp_model {
	double cwnd;
	double alpha;
	double acked;		/* since the beginning, as the two ends below */
	double window_begin, window_end, cut_end;
	double marked;		/* in this window */
	bool used;
	bool slow_start;
};

static void dctcp_begin(struct dctcp_model *m, double in_flight)
{
	m->window_begin = m->acked;
	m->window_end = m->acked + fmax(in_flight, m->cwnd);
	m->marked = 0;
	m->used = false;
}

static void dctcp_on_ack(struct dctcp_model *m, double acked, double marked, double in_flight,
			 bool app_limited)
{
	m->acked += acked;
	m->marked += marked;
	m->used |= !app_limited;
	if (m->slow_start && !marked && m->used)
		m->cwnd += acked;
	if (m->acked >= m->window_end) {
		m->alpha = (1 - 1.0 / 16) * m->alpha +
			   1.0 / 16 * m->marked / (m->acked - m->window_begin);
		if (!m->slow_start && !m->marked && m->used)
			m->cwnd += PACKET;
		dctcp_begin(m, in_flight);
	}
	if (marked && m->acked - acked >= m->cut_end) {
		m->slow_start = false;
		m->cwnd = fmax(m->cwnd * (1 - m->alpha / 2), PACKET);
		m->cut_end = m->acked + in_flight;
	}
}

static void test_dctcp(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_dctcp;
	struct dcqcn_cc cc = begun(ops);
	struct dctcp_model m = {
		.cwnd = 4 * 4200, .alpha = 1, .window_end = 4 * 4200, .slow_start = true,
	};
	u32 i, cuts = 0;

	for (i = 0; i < EVENTS; i++) {
		u32 before = cc.window, acked = PACKET * (1 + random_below(4));
		u32 marked = random_below(3) ? 0 : PACKET * random_below(acked / PACKET + 1);
		bool unused = !random_below(4);

		if (m.slow_start && i < 6)
			marked = 0;
		m.cwnd = before;
		cc.in_flight = random_below(2 * before);
		if (!random_below(300)) {
			lose(ops, &cc);
			m.cwnd = fmax(m.cwnd / 2, PACKET);
			m.slow_start = false;
			m.cut_end = m.acked + cc.in_flight;
			dctcp_begin(&m, cc.in_flight);
		} else {
			ack_of(ops, &cc, some_rtt(12000), acked, marked, unused);
			dctcp_on_ack(&m, acked, marked, cc.in_flight, unused);
		}
		if (!expect(near(cc.window, m.cwnd, 1e-3, 2), "event %u: from %u to %u, not %.1f",
			    i, before, cc.window, m.cwnd))
			return;
		cuts += cc.window < before;
	}
	tap_note("%u cuts", cuts);
	expect(cuts > EVENTS / 100, "%u cuts", cuts);
}

/* All packets of a flight are marked: they shrink the window once. Those that have left since then
 * may shrink it again.
 */
static void test_dctcp_flight(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_dctcp;
	struct dcqcn_cc cc = begun(ops);
	u32 cuts = 0, before;

	while (cc.window < 100 * PACKET) {
		cc.in_flight = cc.window - PACKET;
		ack_of(ops, &cc, 12000, PACKET, 0, false);
	}
	for (cc.in_flight = cc.window / PACKET * PACKET; cc.in_flight;) {
		cc.in_flight -= PACKET;
		before = cc.window;
		ack_of(ops, &cc, 12000, PACKET, PACKET, false);
		cuts += cc.window < before;
	}
	expect(cuts == 1, "%u cuts", cuts);
	before = cc.window;
	ack_of(ops, &cc, 12000, PACKET, PACKET, false);
	expect(cc.window < before, "the next flight's marks do not shrink it");
}

/* --- FAST: equation 6, and where it comes to rest -------------------------------------------------- */

static void test_fast(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_fast;
	struct dcqcn_cc cc = begun(ops);
	double sum = 0, acked = 0, left = cc.window;
	u32 i, samples = 0, changes = 0;
	bool used = false;

	for (i = 0; i < EVENTS; i++) {
		u32 before = cc.window, bytes = PACKET * (1 + random_below(3));
		bool unused = !random_below(3);
		double model = before, rtt;

		cc.in_flight = random_below(2 * before);
		if (!random_below(300)) {
			lose(ops, &cc);
			model = fmax(model / 2, PACKET);
			left = fmax(cc.in_flight, model);
			acked = sum = samples = used = 0;
		} else {
			u32 ns = random_below(8) ? some_rtt(12000) : 0;
			u32 least = cc.rtt_min ? min(cc.rtt_min, ns) : ns;
			u32 delay = least + random_below(ns - least + 1);

			ack_after(ops, &cc, ns, delay, bytes, 0, unused);
			acked += bytes;
			sum += delay;
			samples += !!ns;
			used |= !unused;
			if (acked >= left && samples) {
				rtt = sum / samples;
				model = 0.5 * before +
					0.5 * (cc.rtt_min / rtt * before + 2 * PACKET);
				model = fmax(fmin(model, used ? 2.0 * before : before), PACKET);
				left = fmax(cc.in_flight, floor(model));
				acked = sum = samples = used = 0;
			}
		}
		if (!expect(near(cc.window, model, 1e-3, 3), "event %u: from %u to %u, not %.1f", i,
			    before, cc.window, model))
			return;
		changes += cc.window != before;
	}
	expect(changes > EVENTS / 50, "%u changes", changes);
}

/* N flows and one queue: the round trip is as long as what all windows hold takes. Each keeps two
 * packets in the queue, and all have the same window.
 */
static void test_fast_rest(void)
{
	static const u32 flows[] = { 1, 2, 8, 32 };
	struct dcqcn_cc cc[32];
	u32 base = 12000, i, k, round;
	double rate = LINE / 8e9;	/* bytes per ns */

	for (k = 0; k < ARRAY_SIZE(flows); k++) {
		double all, rtt = base;

		for (i = 0; i < flows[k]; i++) {
			cc[i] = begun(&dcqcn_fast);
			cc[i].rtt_min = base;
		}
		for (round = 0; round < 400; round++) {
			for (all = i = 0; i < flows[k]; i++)
				all += cc[i].window;
			rtt = fmax(base, all / rate);
			for (i = 0; i < flows[k]; i++)
				ack_of(&dcqcn_fast, &cc[i], rtt, cc[i].window, 0, false);
		}
		expect(near((rtt - base) * rate, flows[k] * 2.0 * PACKET, 0.05, 0),
		       "%u flows: queue of %.0f bytes", flows[k], (rtt - base) * rate);
		expect(near(cc[0].window, cc[flows[k] - 1].window, 0.02, 0),
		       "%u flows: windows of %u and %u", flows[k], cc[0].window,
		       cc[flows[k] - 1].window);
	}
}

/* --- HPCC: algorithm 1, and PowerTCP: algorithms 1 and 2. Bytes, ns, and bytes per ns -------------- */

#define TOLD_BASE	12000.0
#define TOLD_HOPS	2

/* What is told of two hops, in any order. What was told last of each stays in @then. */
struct told {
	struct dcqcn_cc_hop now[TOLD_HOPS], then[TOLD_HOPS];
	bool known[TOLD_HOPS];
};

/* Another sample of a hop: its queue, and what it has sent in 0.2 to 30 us */
static u32 tell(struct told *t)
{
	u32 i = random_below(TOLD_HOPS), ns = 200 + random_below(30000);
	struct dcqcn_cc_hop *hop = &t->now[i];

	t->known[i] = hop->mbps;
	t->then[i] = *hop;
	hop->mbps = i ? 100000 : 40000;
	hop->number = 60000 + i;
	hop->queue = random_below(2) ? random_below(200000) : 0;
	hop->sent += ns * (hop->mbps / 8000.0) * (1 + random_below(100)) / 100;
	hop->time += ns;
	return i;
}

/* An ACK after which @in_flight bytes are in flight */
static void tell_of(const struct dcqcn_cc_ops *ops, struct dcqcn_cc *cc,
		    const struct dcqcn_cc_hop *hop, u32 delivered, u32 in_flight)
{
	struct dcqcn_cc_sample sample = { .rtt = 15000, .delivered = delivered, .hop = *hop };

	cc->now += random_below(20000);
	cc->in_flight = in_flight;
	ops->ack(cc, &sample);
	clamped(cc);
}

/* A packet more than the window may be in flight, but for a byte */
static u32 window_of(const struct dcqcn_cc *cc)
{
	return cc->window - PACKET + 1;
}

static void test_hpcc(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_hpcc;
	double most = LINE / 8e9 * TOLD_BASE, u = 0, wc = most, w, wai = most * 0.05 / 8;
	double acked = 0, last_update = 0;
	struct dcqcn_cc cc = begun(ops);
	u32 i, k, stage = 0, cuts = 0, grows = 0;
	struct told t = {};

	cc.rtt_base = TOLD_BASE;
	cc.rtt_min = 99999;
	for (i = 0; i < EVENTS; i++) {
		u32 delivered = 1 + random_below(3 * PACKET), in_flight = random_below(60000);
		u32 before = window_of(&cc);
		double b, dt, tau, sample, tx;
		bool use;

		k = tell(&t);
		acked += delivered;
		tell_of(ops, &cc, &t.now[k], delivered, in_flight);
		if (!t.known[k]) {
			expect(window_of(&cc) == (i ? before : (u32)most),
			       "%u before the hop is known, and then %u", before, window_of(&cc));
			continue;
		}
		/* MeasureInflight() */
		b = t.now[k].mbps / 8000.0;
		dt = (u32)(t.now[k].time - t.then[k].time);
		tx = (u32)(t.now[k].sent - t.then[k].sent) / dt;
		sample = fmin(t.now[k].queue, t.then[k].queue) / (b * TOLD_BASE) + tx / b;
		tau = fmin(dt, TOLD_BASE);
		u = (1 - tau / TOLD_BASE) * u + tau / TOLD_BASE * sample;
		/* ComputeWind() */
		use = u >= 0.95 || stage >= 5;
		w = fmin(fmax(use ? wc / (u / 0.95) + wai : wc + wai, PACKET), most);
		if (!expect(near(window_of(&cc), w, 2e-3, 3) &&
			    near(cc.rate, fmin(window_of(&cc) / TOLD_BASE * 8e9, LINE), 1e-3, 0),
			    "event %u: from %u to %u, not %.1f; U %.4f, rate %llu", i, before, window_of(&cc),
			    w, u, cc.rate))
			return;
		if (acked > last_update) {
			stage = use ? 0 : stage + 1;
			wc = window_of(&cc);
			last_update = acked + fmax(in_flight, 1) - 1;
		}
		cuts += window_of(&cc) < before;
		grows += window_of(&cc) > before;
	}
	expect(cuts > EVENTS / 20 && grows > EVENTS / 20, "%u cuts, %u grows", cuts, grows);
}

static void test_powertcp(void)
{
	const struct dcqcn_cc_ops *ops = &dcqcn_powertcp;
	double most = LINE / 8e9 * TOLD_BASE, smooth = 1, old = most, next = most, w, beta = most / 32;
	double acked = 0, last_update = 0;
	struct dcqcn_cc cc = begun(ops);
	u32 i, k, cuts = 0, grows = 0;
	struct told t = {};

	cc.rtt_base = TOLD_BASE;
	for (i = 0; i < EVENTS; i++) {
		u32 delivered = 1 + random_below(3 * PACKET), in_flight = random_below(60000);
		double b, dt, current, voltage, power, before = window_of(&cc);

		k = tell(&t);
		acked += delivered;
		tell_of(ops, &cc, &t.now[k], delivered, in_flight);
		if (!t.known[k]) {
			expect(window_of(&cc) == (u32)most, "begins with %u, not %.0f", window_of(&cc), most);
			if (!i)
				before = most;
			continue;
		}
		/* NormPower() */
		b = t.now[k].mbps / 8000.0;
		dt = (u32)(t.now[k].time - t.then[k].time);
		current = fmax(((double)t.now[k].queue - t.then[k].queue +
				(u32)(t.now[k].sent - t.then[k].sent)) / dt, 0);
		voltage = t.now[k].queue + b * TOLD_BASE;
		power = fmin(current * voltage / (b * b * TOLD_BASE), 1024);
		dt = fmin(dt, TOLD_BASE);
		smooth = (smooth * (TOLD_BASE - dt) + power * dt) / TOLD_BASE;
		smooth = fmax(smooth, 1.0 / 65536);
		w = 0.9 * (old / smooth + beta) + 0.1 * before;
		w = fmin(fmax(w, PACKET), most);
		if (!expect(near(window_of(&cc), w, 3e-3, 4), "event %u: from %.0f to %u, not %.1f; power %.4f",
			    i, before, window_of(&cc), w, smooth))
			return;
		if (acked > last_update) {
			old = next;
			next = window_of(&cc);
			last_update = acked + fmax(in_flight, 1) - 1;
		}
		cuts += window_of(&cc) < before;
		grows += window_of(&cc) > before;
	}
	expect(cuts > EVENTS / 20 && grows > EVENTS / 20, "%u cuts, %u grows", cuts, grows);
}

/* A hop of 40 Gb/s has sent for @ns more at 99.4 % of its rate */
static void tell_rarely(const struct dcqcn_cc_ops *ops, struct dcqcn_cc *cc,
			struct dcqcn_cc_hop *hop, u64 ns)
{
	cc->now += ns;
	hop->time += ns;
	hop->sent += ns * 497 / 100;
	tell_of(ops, cc, hop, 10000, 10000);
}

/* The hop is in full use, by other flows, too, and its queue does not change. A flow hears nothing of
 * it for a while: because it pauses, or because another hop is the worst. The next report does not
 * make the link look idle: neither after 0.1 s, nor after 0.9 s, in which the count of bytes wraps,
 * nor after 4.3 s, in which the clock does. The ones after that tell of a longer queue.
 */
static void test_told_rarely(void)
{
	static const struct dcqcn_cc_ops *const all[] = { &dcqcn_hpcc, &dcqcn_powertcp };
	static const u64 pauses[] = { 100000000, 900000000, (1ULL << 32) + 50000000 };
	u32 k, i, before;

	for (k = 0; k < 2 * ARRAY_SIZE(pauses); k++) {
		const struct dcqcn_cc_ops *ops = all[k % 2];
		struct dcqcn_cc_hop hop = { .mbps = 40000, .number = 7, .queue = 120000 };
		struct dcqcn_cc cc = begun(ops);

		cc.rtt_base = 120000;
		for (i = 0; i < 400; i++)
			tell_rarely(ops, &cc, &hop, 120000);
		before = cc.window;
		tell_rarely(ops, &cc, &hop, pauses[k / 2]);
		expect(cc.window <= before, "%s: from %u to %u after %llu ms", ops->name, before,
		       cc.window, (unsigned long long)(pauses[k / 2] / 1000000));
		before = cc.window;
		hop.queue = 3000000;
		tell_rarely(ops, &cc, &hop, 120000);
		tell_rarely(ops, &cc, &hop, 120000);
		expect(cc.window < before, "%s: still %u with a longer queue", ops->name, cc.window);
	}
}

/* A window holds what the host's link carries in a round trip, however fast the link is */
static void test_fast_links(void)
{
	static const struct dcqcn_cc_ops *const all[] = { &dcqcn_hpcc, &dcqcn_powertcp };
	static const u32 gbps[] = { 1, 10, 100, 400, 800, 1000, 1100, 1600, 8000 };
	u32 i, k;

	for (i = 0; i < 2 * ARRAY_SIZE(gbps); i++) {
		double most = gbps[i / 2] / 8.0 * TOLD_BASE;
		struct dcqcn_cc cc = { .now = SECOND, .packet = 1, .floor = FLOOR };

		cc.line = cc.rate = gbps[i / 2] * GBPS;
		all[i % 2]->init(&cc);
		cc.rtt_base = TOLD_BASE;
		for (k = 0; k < 2; k++)
			ack_of(all[i % 2], &cc, TOLD_BASE, PACKET, 0, false);
		expect(near(cc.window, most, 1e-3, 0) && near(cc.rate, cc.line, 1e-3, 0),
		       "%s at %u Gb/s: a window of %u, not %.0f; rate %llu", all[i % 2]->name, gbps[i / 2],
		       cc.window, most, cc.rate);
	}
}

/* Nothing is told: HPCC obeys CNPs, and PowerTCP round trips */
static void test_untold(void)
{
	struct dcqcn_cc cc = begun(&dcqcn_hpcc);
	double smooth = 1, old, next, w, most = LINE / 8e9 * TOLD_BASE, rtt, before_rtt = 0, acked = 0;
	double last_update = 0, last = 0;
	u32 i, changes = 0;

	cc.rtt_base = TOLD_BASE;
	ack_of(&dcqcn_hpcc, &cc, 15000, PACKET, 0, true);
	expect(window_of(&cc) == (u32)most, "HPCC: a window of %u", window_of(&cc));
	cc.now += SECOND;
	dcqcn_hpcc.cnp(&cc);
	expect(window_of(&cc) == (u32)most / 2, "HPCC: a window of %u after a CNP", window_of(&cc));
	dcqcn_hpcc.cnp(&cc);
	expect(window_of(&cc) == (u32)most / 2, "HPCC: a window of %u after another", window_of(&cc));
	ack_of(&dcqcn_hpcc, &cc, 15000, window_of(&cc), 0, false);
	expect(window_of(&cc) == (u32)most / 2 + PACKET, "HPCC: a window of %u after a round trip", window_of(&cc));

	cc = begun(&dcqcn_powertcp);
	cc.rtt_base = TOLD_BASE;
	old = next = most;
	for (i = 0; i < EVENTS; i++) {
		u32 before = window_of(&cc), delivered = 1 + random_below(3 * PACKET);
		double elapsed;

		cc.in_flight = random_below(60000);
		acked += delivered;
		rtt = some_rtt(TOLD_BASE);
		ack_of(&dcqcn_powertcp, &cc, rtt, delivered, 0, false);
		elapsed = cc.now - last;
		if (before_rtt && elapsed < before_rtt)
			continue;
		last = cc.now;
		if (before_rtt) {
			double dt = fmin(elapsed, TOLD_BASE);
			double power = fmax((rtt - before_rtt) / elapsed + 1, 0) * rtt / TOLD_BASE;

			smooth = fmax((smooth * (TOLD_BASE - dt) + power * dt) / TOLD_BASE, 1.0 / 65536);
			w = fmin(fmax(0.9 * (old / smooth + most / 32) + 0.1 * before, PACKET), most);
			if (!expect(near(window_of(&cc), w, 3e-3, 4), "event %u: from %u to %u, not %.1f", i,
				    before, window_of(&cc), w))
				return;
			if (acked > last_update) {
				old = next;
				next = window_of(&cc);
				last_update = acked + fmax(cc.in_flight, 1) - 1;
			}
			changes += window_of(&cc) != before;
		}
		before_rtt = rtt;
	}
	expect(changes > EVENTS / 20, "%u changes", changes);
}

/* --- many flows and one queue --------------------------------------------------------------------- */

#define SHARING		8
#define BASE_RTT	12000	/* ns */
#define MOST_PACKETS	128	/* in flight, as in rxe */
#define STEP		20	/* ns */
#define STEPS		16384	/* of which the queue is remembered */

struct sharing {
	struct dcqcn_cc cc;
	u64 next;
	u32 first, num;		/* in flight: a ring */
	u64 acks[MOST_PACKETS], left[MOST_PACKETS];
	double bytes;
};

/* Flows of packets into a line of 40 Gb/s, whose queue has no end; they begin within 6 us. Judged is
 * the second half of the time: how much of the line they used, Jain's index, and the mean queue in
 * bytes. If the line @tells, each ACK has the state that its packet has left.
 */
static void share(const struct dcqcn_cc_ops *ops, u32 rtt_base, bool tells, u64 duration,
		  double *used, double *jain, double *queue)
{
	static struct { double free, came; } past[STEPS];
	static struct sharing flows[SHARING];
	double came = 0;
	double ns = PACKET * 8e9 / LINE, free = 0, sum = 0, squares = 0, all = 0;
	u32 i, samples = 0;
	u64 now;

	for (i = 0; i < SHARING; i++) {
		flows[i] = (struct sharing) { .next = random_below(6000) };
		flows[i].cc = begun(ops);
		flows[i].cc.rtt_base = rtt_base;
	}
	for (now = 0; now < duration; now += STEP) {
		for (i = 0; i < SHARING; i++) {
			struct sharing *f = &flows[i];

			if (f->num && f->acks[f->first] <= now) {
				f->cc.now = SECOND + now;
				f->cc.in_flight = --f->num * PACKET;
				f->cc.rtt = now - f->left[f->first];
				f->cc.rtt_min = f->cc.rtt_min ? min(f->cc.rtt_min, f->cc.rtt) : f->cc.rtt;
				f->first = (f->first + 1) % MOST_PACKETS;
				f->bytes += now >= duration / 2 ? PACKET : 0;
				struct dcqcn_cc_sample sample = {
					.rtt = f->cc.rtt, .delay = f->cc.rtt, .delivered = PACKET,
				};
				u64 then = now > BASE_RTT ? now - BASE_RTT : 0;

				if (tells) {
					double waits = past[then / STEP % STEPS].free - then;

					waits = fmax(waits, 0) * LINE / 8e9;
					sample.hop = (struct dcqcn_cc_hop) {
						.mbps = LINE / 1000000, .queue = waits, .number = 1,
						.sent = past[then / STEP % STEPS].came - waits,
						.time = then,
					};
				}
				ops->ack(&f->cc, &sample);
				clamped(&f->cc);
			}
			if (now < f->next || f->num == MOST_PACKETS ||
			    (f->num && (u64)(f->num + 1) * PACKET > f->cc.window))
				continue;
			free = fmax(free, now) + ns;
			came += PACKET;
			f->left[(f->first + f->num) % MOST_PACKETS] = now;
			f->acks[(f->first + f->num++) % MOST_PACKETS] = free + BASE_RTT;
			f->next = max(f->next, now - min(now, 1000ULL)) + PACKET * 8e9 / f->cc.rate;
		}
		past[now / STEP % STEPS].free = free;
		past[now / STEP % STEPS].came = came;
		if (now >= duration / 2) {
			all += fmax(free - now, 0) * LINE / 8e9;
			samples++;
		}
	}
	for (i = 0; i < SHARING; i++) {
		sum += flows[i].bytes;
		squares += flows[i].bytes * flows[i].bytes;
	}
	*used = sum * 8e9 / (duration / 2.0) / LINE;
	*jain = sum * sum / squares / SHARING;
	*queue = all / samples;
}

/* What begins behind a queue takes it for a part of the path: without ccc_base_rtt, there is no bound
 * on Swift's fairness
 */
static void test_sharing(void)
{
	static const struct {
		const struct dcqcn_cc_ops *ops;
		u32 rtt_base;
		double used, jain, queue;
		bool tells;
	} cases[] = {
		{ &dcqcn_swift, BASE_RTT, 0.97, 0.97, 70e3, false },
		{ &dcqcn_swift, 0, 0.97, 0, 150e3, false },
		{ &dcqcn_timely, BASE_RTT, 0.85, 0.65, 60e3, false },
		{ &dcqcn_fast, BASE_RTT, 0.97, 0.97, 80e3, false },
		{ &dcqcn_hpcc, BASE_RTT, 0.85, 0.90, 12e3, true },
		{ &dcqcn_powertcp, BASE_RTT, 0.97, 0.97, 30e3, true },
		{ &dcqcn_powertcp, BASE_RTT, 0.97, 0.97, 30e3, false },
	};
	double used, jain, queue;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		share(cases[i].ops, cases[i].rtt_base, cases[i].tells, 40000000, &used, &jain, &queue);
		tap_note("%s%s: %.3f of the line, Jain %.3f, queue %.0f bytes", cases[i].ops->name,
			 cases[i].tells ? ", told" : "", used, jain, queue);
		expect(used >= cases[i].used && jain >= cases[i].jain && queue <= cases[i].queue,
		       "%s: %.3f, %.3f, %.0f", cases[i].ops->name, used, jain, queue);
	}
}

/* --- eBPF ----------------------------------------------------------------------------------------------- */

/* ebpf_swift and so on are swift.c and so on, compiled with the headers of examples/cc/bpf: with
 * the same events they do the same, to the last bit of their state
 */
extern const struct dcqcn_cc_ops ebpf_swift, ebpf_timely, ebpf_dctcp, ebpf_fast, ebpf_hpcc,
	ebpf_powertcp;

static void test_ebpf(void)
{
	static const struct dcqcn_cc_ops *const all[][2] = {
		{ &dcqcn_swift, &ebpf_swift }, { &dcqcn_timely, &ebpf_timely },
		{ &dcqcn_dctcp, &ebpf_dctcp }, { &dcqcn_fast, &ebpf_fast },
		{ &dcqcn_hpcc, &ebpf_hpcc }, { &dcqcn_powertcp, &ebpf_powertcp },
	};
	u32 i, k, n;

	for (k = 0; k < ARRAY_SIZE(all); k++) {
		struct dcqcn_cc cc[2] = { begun(all[k][0]), begun(all[k][1]) };
		u32 changes = 0, window = 0;
		struct told told = {};
		u64 rate = 0;

		for (i = 0; i < EVENTS; i++) {
			struct dcqcn_cc_sample sample = {
				.rtt = some_rtt(12000), .delivered = 1 + random_below(3 * PACKET),
				.app_limited = !random_below(8),
			};
			bool loss = !random_below(200);
			u32 gap = random_below(20000);

			sample.delay = 12000 + random_below(sample.rtt - 11999);
			sample.marked = random_below(4) ? 0 : sample.delivered;
			sample.hop = told.now[tell(&told)];
			for (n = 0; n < 2; n++) {
				cc[n].now += gap;
				cc[n].rtt = sample.rtt;
				cc[n].rtt_min = 12000;
				if (loss)
					all[k][n]->loss(&cc[n]);
				else
					all[k][n]->ack(&cc[n], &sample);
				clamped(&cc[n]);
			}
			if (!expect(!memcmp(&cc[0], &cc[1], sizeof(*cc)), "%s, event %u: rates %llu, %llu, windows %u, %u",
				    all[k][0]->name, i, cc[0].rate, cc[1].rate, cc[0].window, cc[1].window))
				return;
			changes += cc[0].window != window || cc[0].rate != rate;
			window = cc[0].window;
			rate = cc[0].rate;
		}
		expect(changes > 100, "%s: %u changes", all[k][0]->name, changes);
	}
}

/* --- flight.c ---------------------------------------------------------------------------------------------- */

/* Packets of any length, of which some ask, no more than are remembered; ACKs of any of them come.
 * What is acknowledged is compared with the sum of all packets up to it.
 */
static void test_flight(void)
{
	struct dcqcn_flight f = {};
	static u32 lens[4096], asked[4096];
	static u64 times[4096];
	u32 first = 0xfffff0, n = 0, acked = 0, i, k, rtt, interval, rtts = 0, marks;
	u64 now = SECOND;

	for (i = 0; i < 4000; i++) {
		now += 1 + random_below(1000);
		if (random_below(3) || n == acked) {
			lens[n] = 1 + random_below(5000);
			for (marks = 0, k = acked; k < n; k++)
				marks += asked[k];
			asked[n] = !random_below(4) && marks < DCQCN_FLIGHT_MARKS;
			times[n] = now;
			dcqcn_flight_sent(&f, (first + n) & 0xffffff, lens[n], asked[n], now);
			n++;
		} else {
			u32 upto = acked + random_below(n - acked), sum = 0, rest = 0, told, last;

			told = dcqcn_flight_acked(&f, (first + upto) & 0xffffff, now, &rtt, &interval);
			for (last = upto + 1; last > acked && !asked[last - 1]; last--)
				;
			for (k = acked; k < last; k++)
				sum += lens[k];
			if (!expect(told == sum, "ACK of %u: %u bytes, not %u", upto, told, sum))
				return;
			acked = max(acked, last);
			for (k = acked; k < n; k++)
				rest += lens[k];
			expect(dcqcn_flight_bytes(&f) == rest, "%u in flight, not %u",
			       dcqcn_flight_bytes(&f), rest);
			if (told && rtt) {
				rtts++;
				expect(last == upto + 1 && rtt == now - times[upto], "round trip %u",
				       rtt);
			}
		}
	}
	expect(rtts > 50, "%u round trips", rtts);
	dcqcn_flight_lost(&f);
	expect(!dcqcn_flight_bytes(&f), "%u in flight after a loss", dcqcn_flight_bytes(&f));
	expect(!dcqcn_flight_acked(&f, (first + n) & 0xffffff, now, &rtt, &interval),
	       "an ACK of what was lost tells something");
}

/* A hundred milestones do not fit: the last one still acknowledges everything */
static void test_flight_full(void)
{
	struct dcqcn_flight f = {};
	u32 rtt = 0, interval, i;

	for (i = 0; i < 100; i++)
		dcqcn_flight_sent(&f, i, 1000, true, SECOND + i);
	expect(dcqcn_flight_acked(&f, 5, SECOND + 500, &rtt, &interval) == 6000 && rtt == 495,
	       "%u bytes in flight, round trip %u", dcqcn_flight_bytes(&f), rtt);
	expect(!interval, "an interval of %u before the first ACK", interval);
	expect(dcqcn_flight_acked(&f, 99, SECOND + 600, &rtt, &interval) == 94000 && rtt == 501 &&
	       interval == 100, "round trip %u, interval %u", rtt, interval);
	expect(!dcqcn_flight_bytes(&f) && !f.num, "%u in flight", dcqcn_flight_bytes(&f));
}

/* All packets arrive, and the ACKs of the last ones are lost. rxe sends these packets again, 10 us
 * apart, and its peer answers each with an ACK of the last one, 35 us later: the first of these that
 * comes after the last packet has left comes 5 us after it. Only a packet that was not sent before
 * gives a round trip.
 */
static void test_flight_again(void)
{
	struct dcqcn_flight f = {};
	u32 first = 0xfffffc, last = 0x4, psn, rtt, interval, times, delivered;
	u64 now = SECOND, left;

	for (psn = first; psn != last; psn = (psn + 1) & 0xffffff)
		dcqcn_flight_sent(&f, psn, 1000, true, now += 10000);
	for (times = 0; times < 2; times++) {
		dcqcn_flight_lost(&f);
		now += SECOND / 10;
		/* when it goes back for the second time, it has sent only some of them again */
		for (psn = first; psn != (times ? last : 2); psn = (psn + 1) & 0xffffff) {
			now += 10000;
			if (times && ((psn - first) & 0xffffff) >= 4 &&
			    dcqcn_flight_acked(&f, last - 1, now - 5000, &rtt, &interval))
				expect(!rtt, "round trip %u from what was sent again", rtt);
			dcqcn_flight_sent(&f, psn, 1000, true, now);
		}
	}
	dcqcn_flight_arrived(&f, last - 1, 5);
	delivered = dcqcn_flight_acked(&f, last - 1, now + 5000, &rtt, &interval);
	expect(delivered == 1000 && !rtt && !f.told,
	       "%u bytes, round trip %u, told %d from the last one again", delivered, rtt, f.told);
	left = now += 10000;
	dcqcn_flight_sent(&f, last, 1000, true, left);
	delivered = dcqcn_flight_acked(&f, last, left + 35000, &rtt, &interval);
	expect(delivered == 1000 && rtt == 35000, "%u bytes, round trip %u from a new one", delivered,
	       rtt);
}

/* The round trip of packet @psn, after all up to packet 9 have left, from there on or again */
static u32 rtt_from(struct dcqcn_flight *f, u32 psn, u64 now)
{
	u32 p, rtt = 0, interval;

	for (p = psn; p <= max(psn, 9U); p++)
		dcqcn_flight_sent(f, p, 1000, true, now);
	expect(dcqcn_flight_acked(f, psn, now + 35000, &rtt, &interval), "nothing new");
	return rtt;
}

/* A packet is lost, and a NAK says so: the peer has dropped what followed, so packets that are sent
 * again give round trips. They do not if the peer may have had them.
 */
static void test_flight_missed(void)
{
	struct dcqcn_flight f = {};
	u32 rtt;

	rtt = rtt_from(&f, 0, SECOND);
	dcqcn_flight_missed(&f);
	dcqcn_flight_lost(&f);
	expect(rtt == 35000 && !f.resent && rtt_from(&f, 1, 2 * SECOND) == 35000 && f.resent,
	       "no round trip after a NAK, or it seems to be of the first transmission");
	dcqcn_flight_lost(&f);
	expect(!rtt_from(&f, 2, 3 * SECOND), "a round trip after the NAK was answered, and the timer");
	dcqcn_flight_missed(&f);
	dcqcn_flight_lost(&f);
	expect(!rtt_from(&f, 3, 4 * SECOND), "a round trip of what has left after the timer");
	expect(rtt_from(&f, 10, 5 * SECOND) == 35000 && !f.resent, "no round trip of a new packet");
	dcqcn_flight_missed(&f);
	dcqcn_flight_lost(&f);
	dcqcn_flight_lost(&f);
	expect(!rtt_from(&f, 9, 6 * SECOND), "a round trip after a NAK and the timer");
	f = (struct dcqcn_flight) {};
	rtt_from(&f, 0, SECOND);
	dcqcn_flight_missed(&f);
	dcqcn_flight_acked(&f, 5, SECOND + 40000, &rtt, &rtt);
	dcqcn_flight_lost(&f);
	expect(!rtt_from(&f, 6, 2 * SECOND), "a round trip after an old NAK");
}

/* Queues come and go in both directions, and the peer's clock has nothing in common with this one, or
 * drifts. The delay that is told is never below the true one. After each round trip without queues it
 * exceeds that by the drift since, at most.
 */
static void test_way(void)
{
	static const s32 drifts[] = { 0, 50, -50, 100, -100 };	/* ppm */
	u32 k, i, less, base_rtt = 14000;

	for (k = 0; k < ARRAY_SIZE(drifts); k++) {
		u64 now = 5 * SECOND, empty = now, offset = random_u64();
		u32 there = 0, back = 0, psn = 0xfffff0, rtt, interval, queued, bound;
		struct dcqcn_flight f = {};
		struct dcqcn_way way = {};

		for (i = less = 0; i < 200000; i++) {
			u64 arrives, clock;

			if (!random_below(20))
				there = random_below(2) ? 0 : random_below(100000);
			if (!random_below(20))
				back = random_below(4) ? random_below(100000) : 0;
			if (!i)
				there = back = 0;
			psn = (psn + 1) & 0xffffff;
			dcqcn_flight_sent(&f, psn, 1000, true, now);
			arrives = now + base_rtt / 2 + there;
			clock = arrives + offset + (s64)(arrives - 5 * SECOND) * drifts[k] / 1000000;
			now = arrives + base_rtt / 2 + back;
			expect(dcqcn_flight_arrived(&f, psn, clock), "packet %u is unknown", psn);
			expect(!dcqcn_flight_arrived(&f, psn + 1, clock), "one that never left is known");
			dcqcn_flight_acked(&f, psn, now, &rtt, &interval);
			queued = dcqcn_way_queued(&way, f.way, rtt - base_rtt, now);
			if (!there && !back)
				empty = now;
			bound = (now - empty) / 4000 + 2;	/* 250 ppm: ours, and the clock's */
			if (!expect(f.told && queued <= there + back && queued + 2 >= there &&
				    (i < 1000 || queued <= there + bound),
				    "%d ppm, packet %u: %u ns there, %u back, %u told", drifts[k], i, there,
				    back, queued))
				return;
			less += back && queued < there + back / 2;
		}
		tap_note("%d ppm: %u of %u leave out most of the way back", drifts[k], less, i);
		expect(less > i / 2, "only %u of %u leave out most of the way back", less, i);
	}
}

/* The ACK of a later packet tells neither a round trip nor when its packet arrived */
static void test_way_unknown(void)
{
	struct dcqcn_flight f = {};
	struct dcqcn_way way = {};
	u32 rtt, interval, i;

	for (i = 0; i < 3; i++)
		dcqcn_flight_sent(&f, i * 2, 1000, true, SECOND);
	expect(dcqcn_flight_arrived(&f, 0, 77), "it did not ask");
	dcqcn_flight_acked(&f, 1, SECOND + 100, &rtt, &interval);
	expect(!rtt && !f.told, "an ACK of another packet tells when it arrived");
	dcqcn_flight_acked(&f, 2, SECOND + 100, &rtt, &interval);
	expect(rtt && !f.told, "the peer has told nothing, but it counts");
	expect(dcqcn_flight_arrived(&f, 4, (u32)SECOND + 77), "it did not ask");
	dcqcn_flight_acked(&f, 4, SECOND + 100, &rtt, &interval);
	expect(rtt && f.told && f.way == 77, "it has been told: %u", f.way);
	/* of clocks that were never compared, all is said to be on the way there */
	expect(dcqcn_way_queued(&way, 5, 1000, SECOND) == 1000, "the clocks are known");
	/* after a minute, so much may be drift that nothing is known again */
	expect(dcqcn_way_queued(&way, 5 - 990, 1000, SECOND + 1) == 10, "they are not");
	expect(dcqcn_way_queued(&way, 5 - 990, 1000000, 61 * SECOND) == 1000000, "after a minute");
}

/* --- the built-in ones, written as algorithms --------------------------------------------------------------- */

/* DCQCN: the parameters that test_rate.c has for the paper and for mlx5. Timers of rate.c are lazy,
 * so there is no timer to set.
 */
static struct dcqcn_rp_params params;

static struct dcqcn_rate *rate_of(struct dcqcn_cc *cc)
{
	_Static_assert(sizeof(struct dcqcn_rate) <= DCQCN_CC_PRIVATE, "too large");
	return dcqcn_cc_private(cc);
}

static void rate_init(struct dcqcn_cc *cc)
{
	dcqcn_rate_init(rate_of(cc), cc->line, cc->now);
}

static void rate_cnp(struct dcqcn_cc *cc)
{
	dcqcn_rate_cnp(rate_of(cc), &params, cc->line, cc->now);
	cc->rate = rate_of(cc)->current_rate;
}

static void rate_sent(struct dcqcn_cc *cc, u32 bytes)
{
	dcqcn_rate_advance(rate_of(cc), &params, cc->line, cc->now, bytes);
	cc->rate = rate_of(cc)->current_rate;
}

static void rate_loss(struct dcqcn_cc *cc)
{
	dcqcn_rate_resume(rate_of(cc), &params, cc->now);
	cc->rate = rate_of(cc)->current_rate;
}

static const struct dcqcn_cc_ops dcqcn_as_ops = {
	.name = "rate", .init = rate_init, .cnp = rate_cnp, .sent = rate_sent, .loss = rate_loss,
};

static void same_rate(const char *name)
{
	struct dcqcn_cc cc = begun(&dcqcn_as_ops);
	struct dcqcn_rate r;
	u32 i, cuts = 0;

	dcqcn_rate_init(&r, LINE, cc.now);
	for (i = 0; i < EVENTS; i++) {
		u64 before = r.current_rate;

		cc.now += random_below(i % 100 ? 3000 : 3000000);
		switch (random_below(40)) {
		case 0:
			dcqcn_as_ops.cnp(&cc);
			dcqcn_rate_cnp(&r, &params, LINE, cc.now);
			break;
		case 1:
			dcqcn_as_ops.loss(&cc);
			dcqcn_rate_resume(&r, &params, cc.now);
			break;
		default:
			dcqcn_as_ops.sent(&cc, PACKET);
			dcqcn_rate_advance(&r, &params, LINE, cc.now, PACKET);
		}
		clamped(&cc);
		cuts += r.current_rate < before;
		if (!expect(cc.rate == r.current_rate, "%s, event %u: %llu instead of %llu", name, i,
			    cc.rate, r.current_rate))
			return;
	}
	expect(cuts > 50, "%s: %u cuts", name, cuts);
}

static void test_dcqcn(void)
{
	params = mlx5;
	same_rate("mlx5");
	params = sigcomm15;
	same_rate("sigcomm15");
}

/* auto: DCQCN in units of the path, and its start, from the samples of one flow. What flows to the same peer
 * tell each other (peer.c) is not a flow's.
 */
struct automatic {
	struct dcqcn_rate rate;
	u32 delivered[2];		/* Mb/s; by the last two samples */
};

static void auto_write(struct dcqcn_cc *cc)
{
	cc->rate = rate_of(cc)->current_rate;
	cc->window = rate_of(cc)->start == DCQCN_START_ASKS ? automatic.start_burst :
							     DCQCN_CC_NO_WINDOW;
}

static void auto_init(struct dcqcn_cc *cc)
{
	struct dcqcn_rate *r = rate_of(cc);

	_Static_assert(sizeof(struct automatic) <= DCQCN_CC_PRIVATE, "too large");
	r->rtt = MS;		/* a guess, until the first ACK */
	dcqcn_start_begin(r, &automatic, cc->line, automatic.start_burst, 0, true, cc->now);
	auto_write(cc);
}

static void auto_cnp(struct dcqcn_cc *cc)
{
	dcqcn_rate_cnp(rate_of(cc), &automatic, cc->line, cc->now);
	auto_write(cc);
}

static void auto_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct automatic *a = dcqcn_cc_private(cc);
	u32 least = a->rate.least_rtt;

	dcqcn_rate_advance(&a->rate, &automatic, cc->line, cc->now, 0);
	if (sample->rtt) {
		dcqcn_rate_set_rtt(&a->rate, sample->rtt, cc->rtt_min);
		dcqcn_start_sample(&a->rate, &automatic, cc->now - sample->rtt, least, cc->now);
	}
	if (sample->interval && !sample->app_limited) {
		a->delivered[1] = a->delivered[0];
		a->delivered[0] = sample->delivered * 8000ULL / sample->interval;
	}
	if (a->delivered[0] && a->delivered[1])
		dcqcn_rate_set_delivered(&a->rate, &automatic,
					 min(a->delivered[0], a->delivered[1]) * MBPS,
					 max(a->delivered[0], a->delivered[1]) * MBPS);
	auto_write(cc);
}

static void auto_sent(struct dcqcn_cc *cc, u32 bytes)
{
	rate_of(cc)->packet = max(rate_of(cc)->packet, bytes);
	dcqcn_rate_advance(rate_of(cc), &automatic, cc->line, cc->now, bytes);
	auto_write(cc);
}

static const struct dcqcn_cc_ops auto_as_ops = {
	.name = "auto", .flags = DCQCN_CC_NEEDS_ACKS, .init = auto_init, .cnp = auto_cnp,
	.ack = auto_ack, .sent = auto_sent,
};

/* A link of a quarter of the line, 20 us long, whose queue marks above a round trip. Every fourth packet asks
 * for an ACK.
 */
static void test_auto(void)
{
	struct dcqcn_cc cc = begun(&auto_as_ops);
	const u64 link = LINE / 4, rtt = 20 * US, packet = PACKET * 8000000000ULL / link;
	u64 idle = 0, most = 0, from = 0, free = cc.now, acked = cc.now;
	struct dcqcn_cc_sample sample = { .delivered = 4 * PACKET };
	u32 i, cnps = 0;

	expect(cc.window == automatic.start_burst, "a burst of %u", cc.window);
	cc.rtt_min = U32_MAX;
	for (i = 0; i < EVENTS; i++) {
		if (i == EVENTS / 4)
			from = free;
		idle += from && free < cc.now ? cc.now - free : 0;
		free = max(free, cc.now) + packet;
		most = from ? max(most, free - cc.now) : 0;
		cc.now += PACKET * 8000000000ULL / cc.rate;
		auto_as_ops.sent(&cc, PACKET);
		clamped(&cc);
		if (free - min(free, cc.now) > rtt) {
			auto_as_ops.cnp(&cc);
			cnps++;
		}
		clamped(&cc);
		if (i % 4 != 3)
			continue;
		sample.rtt = rtt + free - min(free, cc.now);
		sample.interval = free - acked;
		acked = free;
		cc.rtt_min = min(cc.rtt_min, sample.rtt);
		auto_as_ops.ack(&cc, &sample);
		clamped(&cc);
	}
	expect(cc.window == DCQCN_CC_NO_WINDOW && !rate_of(&cc)->start, "it still starts");
	expect(cnps && idle < (free - from) / 20 && most < 4 * rtt,
	       "%u CNPs, %llu of %llu us idle, a queue of %llu us", cnps, idle / US,
	       (free - from) / US, most / US);
}

/* NSCC: what hear.c passes to it, from the ACKs of one flow instead of a context's feedback */
static const struct dcqcn_nscc_params nscc_params = { .mbps = 40000 };

static void nscc_init(struct dcqcn_cc *cc)
{
	struct dcqcn_nscc *n = dcqcn_cc_private(cc);

	_Static_assert(sizeof(struct dcqcn_nscc) <= DCQCN_CC_PRIVATE, "too large");
	n->mss = PACKET;
	dcqcn_nscc_init(n, &nscc_params, 16384, cc->now);
	cc->window = n->cwnd;
}

static void nscc_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_nscc *n = dcqcn_cc_private(cc);

	if (sample->rtt)
		dcqcn_nscc_feedback(n, &nscc_params, sample->delivered,
				    min(sample->rtt, DCQCN_NSCC_RTT_MAX), sample->marked, cc->now);
	cc->window = n->cwnd;
}

static void nscc_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_nscc *n = dcqcn_cc_private(cc);

	dcqcn_nscc_loss(n, cc->in_flight);
	cc->window = n->cwnd;
}

static const struct dcqcn_cc_ops nscc_as_ops = {
	.name = "nscc", .flags = DCQCN_CC_NEEDS_ACKS, .init = nscc_init, .ack = nscc_ack,
	.loss = nscc_loss,
};

static void test_nscc(void)
{
	struct dcqcn_cc cc = begun(&nscc_as_ops);
	struct dcqcn_nscc n = { .mss = PACKET };
	u32 i, changes = 0;

	dcqcn_nscc_init(&n, &nscc_params, 16384, cc.now);
	for (i = 0; i < EVENTS; i++) {
		u32 rtt = some_rtt(12000), bytes = PACKET * (1 + random_below(4)), before = n.cwnd;
		bool ce = !random_below(5);

		if (random_below(200)) {
			ack_of(&nscc_as_ops, &cc, rtt, bytes, ce ? PACKET : 0, false);
			dcqcn_nscc_feedback(&n, &nscc_params, bytes, rtt, ce, cc.now);
		} else {
			cc.in_flight = random_below(60000);
			lose(&nscc_as_ops, &cc);
			dcqcn_nscc_loss(&n, cc.in_flight);
		}
		changes += n.cwnd != before;
		if (!expect(cc.window == n.cwnd, "event %u: %u instead of %u", i, cc.window, n.cwnd))
			return;
	}
	expect(changes > 1000, "%u changes", changes);
}

/* --- whatever they are told ---------------------------------------------------------------------------- */

/* Any event with any figures: what comes out is within the bounds that the header promises to the
 * module, without undefined behaviour, and the private state stays within its place.
 * EVENTS=10000000 tries so many with each.
 */
static void anything(const struct dcqcn_cc_ops *ops, u32 events)
{
	struct { struct dcqcn_cc cc; u64 guard; } flow = { .cc = begun(ops), .guard = 0x5a };
	struct dcqcn_cc *cc = &flow.cc;
	u32 i;

	for (i = 0; i < events; i++) {
		struct dcqcn_cc_sample sample = {
			.rtt = random_u64() >> random_below(64),
			.interval = random_u64(),
			.delivered = 1 + (u32)(random_u64() >> (33 + random_below(31))),
			.app_limited = random_below(2),
		};

		sample.delay = random_u64() % (sample.rtt + 1ULL);
		if (random_below(4))
			sample.hop = (struct dcqcn_cc_hop) {
				.mbps = random_u64() >> (32 + random_below(32)),
				.queue = random_u64() >> (32 + random_below(32)),
				.sent = random_u64(), .number = random_below(3),
				.time = random_u64() >> (32 + random_below(32)),
			};
		sample.marked = random_below(2) ? sample.delivered : 0;
		cc->rtt_base = random_below(2) ? 0 : random_u64() >> (32 + random_below(32));
		cc->in_flight = random_u64() >> (32 + random_below(32));
		cc->now += random_u64() >> (30 + random_below(34));
		cc->line = FLOOR + (random_u64() >> (12 + random_below(52)));
		cc->packet = 1 + random_below(65535);
		cc->rtt = random_u64() >> random_below(64);
		cc->rtt_min = random_below(2) ? cc->rtt : random_u64();
		cc->hops = random_below(256);
		cc->rate = clamp(cc->rate, FLOOR, cc->line);
		if (ops->sent && random_below(10))
			ops->sent(cc, cc->packet);
		else if (ops->ack && random_below(10))
			ops->ack(cc, &sample);
		else if (ops->cnp && random_below(2))
			ops->cnp(cc);
		else
			ops->loss(cc);
		clamped(cc);
	}
	expect(flow.guard == 0x5a, "%s writes beyond its state", ops->name);
}

static void test_anything(void)
{
	const struct dcqcn_cc_ops *all[] = { &dcqcn_swift, &dcqcn_timely, &dcqcn_dctcp, &dcqcn_fast,
					     &dcqcn_hpcc, &dcqcn_powertcp, &nscc_as_ops };
	const char *wanted = getenv("EVENTS");
	u32 events = wanted ? strtoul(wanted, NULL, 0) : EVENTS, i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		anything(all[i], events);
	params = mlx5;
	anything(&dcqcn_as_ops, events);
	params = sigcomm15;
	anything(&dcqcn_as_ops, events);
}

static const struct tap_test tests[] = {
	{ "Swift does what its paper says", test_swift },
	{ "Swift: a window that is not used does not grow", test_swift_idle },
	{ "TIMELY does what its paper says", test_timely },
	{ "DCTCP does what its paper says", test_dctcp },
	{ "DCTCP: a flight's marks shrink the window once", test_dctcp_flight },
	{ "FAST does what its paper says", test_fast },
	{ "FAST: each flow keeps alpha in the queue", test_fast_rest },
	{ "flows that share a queue", test_sharing },
	{ "HPCC does what its paper says", test_hpcc },
	{ "PowerTCP does what its paper says", test_powertcp },
	{ "HPCC and PowerTCP after a hop was not heard of for a while", test_told_rarely },
	{ "HPCC and PowerTCP where no switch tells anything", test_untold },
	{ "HPCC and PowerTCP on fast links", test_fast_links },
	{ "any figures: within bounds, nothing undefined", test_anything },
	{ "the source of an algorithm does the same with eBPF's headers", test_ebpf },
	{ "bytes in flight are what was sent and not acknowledged", test_flight },
	{ "more ACKs asked for than are remembered", test_flight_full },
	{ "packets that are sent again give no round trip", test_flight_again },
	{ "unless a NAK says that the peer does not have them", test_flight_missed },
	{ "queues on the way back are left out, whatever the peer's clock shows", test_way },
	{ "the peer's clock is unknown, or was known long ago", test_way_unknown },
	{ "DCQCN as an algorithm is DCQCN", test_dcqcn },
	{ "auto as an algorithm fills a link, and keeps its queue short", test_auto },
	{ "NSCC as an algorithm is NSCC", test_nscc },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
