// SPDX-License-Identifier: GPL-2.0
/*
 * PowerTCP: a window computed from the power of the worst link: arrival rate times the bytes
 * that fill its queue and the path.
 *
 *   Addanki, Michel and Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter Networks",
 *   NSDI 2022, algorithms 1 and 2
 *
 *   on an ACK that reports a hop, dt after the hop's last report:
 *     current	lambda = change of its queue / dt + bytes that it has sent / dt
 *     voltage	nu = queue + b * tau
 *     power	G = lambda * nu / (b^2 * tau)			1 without a queue at full use
 *   on an ACK without a report, dt after the last:
 *     power	G = (change of the round trip / dt + 1) * round trip / tau
 *   then	Gs = Gs * (tau - dt) / tau + G * dt / tau	dt at most tau
 *		cwnd = gamma * (cwnd a round trip ago / Gs + beta) + (1 - gamma) * cwnd
 *   rate cwnd / tau
 *
 * b is the rate of the hop, and tau the round trip without queues: the knob ccc_base_rtt, or else
 * the shortest one. gamma is 0.9, as in the paper, and beta = host's rate * tau / N for N flows; N
 * is 32 here. Flows that share a queue keep beta bytes each in it. Without reports (theta-PowerTCP
 * in the paper) the window changes once per round trip. Two reports of a hop that are far apart
 * tell nothing: its counts have wrapped, or may have.
 *
 * A loss halves the window.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_POWER_ONE		65536U		/* the power without a queue: 2^16 */
#define DCQCN_POWER_MOST	67108864U	/* 2^26; more counts as this */
#define DCQCN_POWER_FLOWS	32
#define DCQCN_POWER_INITIAL	16800U		/* bytes, while no round trip is known */
#define DCQCN_POWER_WINDOW_MAX	268435456U	/* bytes; 5 ms at 400 Gb/s */
#define DCQCN_POWER_RTT_MAX	1073741824U	/* ns; longer ones count as this */
#define DCQCN_POWER_SILENT	16		/* round trips without a report */

/**
 * struct dcqcn_power - what PowerTCP keeps of a flow
 * @told_time: ns; last report of a switch, 0 for never
 * @cut_time: ns; the last loss that counted
 * @rtt_time: ns; when @rtt was measured
 * @hops: the two hops reported last, the latest first
 * @hop_times: ns; when they were reported
 * @rtt: ns; round trip from which the power was last computed
 * @power: smoothed, in 1/DCQCN_POWER_ONE
 * @cwnd: bytes
 * @old: bytes; the window when the packets that are now acknowledged left
 * @next: bytes; the window for the packets to be acknowledged in the next round trip
 * @until: bytes still to be acknowledged in this round trip
 * @knows: a round trip is known, and the window has begun with that of the path
 */
struct dcqcn_power {
	u64 told_time;
	u64 cut_time;
	u64 rtt_time;
	struct dcqcn_cc_hop hops[2];
	u64 hop_times[2];
	u32 rtt;
	u32 power;
	u32 cwnd;
	u32 old;
	u32 next;
	u32 until;
	bool knows;
};

static u32 dcqcn_power_base(const struct dcqcn_cc *cc)
{
	return min(cc->rtt_base ?: cc->rtt_min, DCQCN_POWER_RTT_MAX);
}

/* Bytes that the host's link carries in tau. 2^52 * 2^30 would overflow, so the line rate is in
 * units of 1024 bit/s, and at most 2^43 bit/s.
 */
static u32 dcqcn_power_most(const struct dcqcn_cc *cc, u32 base)
{
	u64 bytes = div_u64(min_t(u64, cc->line >> 10, 1ULL << 33) * base, NSEC_PER_SEC / 128);

	return clamp_t(u64, bytes, cc->packet, max(DCQCN_POWER_WINDOW_MAX, cc->packet));
}

/* As in the paper's simulator, a packet may leave while less than the window is in flight. This
 * matters if the window is a few packets.
 */
static void dcqcn_power_set(struct dcqcn_cc *cc, u64 window)
{
	struct dcqcn_power *p = dcqcn_cc_private(cc);
	u32 base = dcqcn_power_base(cc);
	u32 most = base ? dcqcn_power_most(cc, base) : max(DCQCN_POWER_INITIAL, cc->packet);

	p->cwnd = clamp_t(u64, window, cc->packet, most);
	cc->window = p->cwnd + cc->packet - 1;
	cc->rate = base ? div_u64((u64)p->cwnd * 8 * NSEC_PER_SEC, base) : cc->line;
}

/* Begin with a window, or begin again with one */
static void dcqcn_power_begin(struct dcqcn_cc *cc, u32 window)
{
	struct dcqcn_power *p = dcqcn_cc_private(cc);

	dcqcn_power_set(cc, window);
	p->old = p->cwnd;
	p->next = p->cwnd;
}

static void dcqcn_power_init(struct dcqcn_cc *cc)
{
	struct dcqcn_power *p = dcqcn_cc_private(cc);

	BUILD_BUG_ON(sizeof(*p) > DCQCN_CC_PRIVATE);
	dcqcn_power_begin(cc, DCQCN_POWER_WINDOW_MAX);
	p->power = DCQCN_POWER_ONE;
	p->knows = dcqcn_power_base(cc);
}

/* Bytes as a share of what a link carries in @ns. 2^28 * 2^13 * 2^16 do not overflow. */
static u64 dcqcn_power_share(u64 bytes, u32 mbps, u32 ns)
{
	u64 scaled = min_t(u64, bytes, DCQCN_POWER_WINDOW_MAX) * 8000 * DCQCN_POWER_ONE;

	return min_t(u64, div64_u64(scaled, max((u64)mbps * ns, 1ULL)), DCQCN_POWER_MOST);
}

/* Average @power, which lasted @elapsed ns, into the smoothed power */
static void dcqcn_power_smooth(struct dcqcn_power *p, u64 power, u32 elapsed, u32 base)
{
	u32 dt = min(elapsed, base);

	p->power = max_t(u64, div_u64((u64)p->power * (base - dt) +
				      min_t(u64, power, DCQCN_POWER_MOST) * dt, base), 1);
}

/* Compute the power from a hop's report. Return whether the hop was reported before, and not long
 * ago: what it can send meanwhile must be below DCQCN_POWER_WINDOW_MAX.
 */
static bool dcqcn_power_of_hop(struct dcqcn_power *p, const struct dcqcn_cc_hop *hop, u32 base,
			       u64 now)
{
	struct dcqcn_cc_hop then = p->hops[0];
	u64 then_time = p->hop_times[0], came, current;
	u32 elapsed;

	if (then.number != hop->number || !then.mbps) {
		then = p->hops[1];
		then_time = p->hop_times[1];
		p->hops[1] = p->hops[0];
		p->hop_times[1] = p->hop_times[0];
	}
	p->hops[0] = *hop;
	p->hop_times[0] = now;
	elapsed = hop->time - then.time;
	if (then.number != hop->number || !then.mbps || !elapsed || elapsed >> 31 ||
	    (now - then_time) >> 31 ||
	    (u64)hop->mbps * elapsed > DCQCN_POWER_WINDOW_MAX * 8000ULL)
		return false;
	came = (u64)(hop->sent - then.sent) + hop->queue;	/* arrivals, plus the old queue */
	current = dcqcn_power_share(came - min_t(u64, came, then.queue), hop->mbps, elapsed);
	dcqcn_power_smooth(p, current * (DCQCN_POWER_ONE +
					 dcqcn_power_share(hop->queue, hop->mbps, base)) /
			   DCQCN_POWER_ONE, elapsed, base);
	return true;
}

/* Compute the power from a round trip, once per round trip. Return whether it was time for that. */
static bool dcqcn_power_of_rtt(struct dcqcn_cc *cc, struct dcqcn_power *p, u32 rtt, u32 base)
{
	u64 elapsed = cc->now - p->rtt_time, power;
	u32 before = p->rtt;

	if (!rtt || (before && elapsed < before))
		return false;
	p->rtt = min(rtt, DCQCN_POWER_RTT_MAX);
	p->rtt_time = cc->now;
	if (!before || elapsed > DCQCN_POWER_RTT_MAX)
		return false;
	/* 1 + change / elapsed; a round trip cannot fall by more than the time that has passed */
	power = div_u64((elapsed + p->rtt - min_t(u64, elapsed + p->rtt, before)) * DCQCN_POWER_ONE,
			max_t(u32, elapsed, 1));
	power = div_u64(min_t(u64, power, DCQCN_POWER_MOST) * p->rtt, base);
	dcqcn_power_smooth(p, power, elapsed, base);
	return true;
}

/* Compute the window from the power */
static void dcqcn_power_adjust(struct dcqcn_cc *cc, struct dcqcn_power *p, u32 base)
{
	u32 beta = max(dcqcn_power_most(cc, base) / DCQCN_POWER_FLOWS, 1U);
	u64 w = div_u64((u64)p->old * DCQCN_POWER_ONE, p->power) + beta;

	dcqcn_power_set(cc, div_u64(9 * w + p->cwnd, 10));
	if (p->until)
		return;
	p->old = p->next;
	p->next = p->cwnd;
	p->until = max(cc->in_flight, 1U);
}

static void dcqcn_power_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_power *p = dcqcn_cc_private(cc);
	u32 base = dcqcn_power_base(cc);

	if (!base)
		return;
	if (!p->knows) {
		p->knows = true;
		dcqcn_power_begin(cc, dcqcn_power_most(cc, base));
	}
	p->until -= min(sample->delivered, p->until);
	if (sample->hop.mbps) {
		p->told_time = cc->now;
		p->rtt = 0;
		if (dcqcn_power_of_hop(p, &sample->hop, base, cc->now))
			dcqcn_power_adjust(cc, p, base);
	} else if (!p->told_time || cc->now - p->told_time > (u64)DCQCN_POWER_SILENT * base) {
		p->told_time = 0;
		if (dcqcn_power_of_rtt(cc, p, sample->rtt, base))
			dcqcn_power_adjust(cc, p, base);
	}
}

static void dcqcn_power_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_power *p = dcqcn_cc_private(cc);

	if (p->cut_time && cc->now - p->cut_time < cc->rtt)
		return;
	p->cut_time = cc->now;
	dcqcn_power_begin(cc, p->cwnd / 2);
}

const struct dcqcn_cc_ops dcqcn_powertcp = {
	.name = "powertcp",
	.flags = DCQCN_CC_NEEDS_ACKS | DCQCN_CC_WANTS_HOPS,
	.init = dcqcn_power_init,
	.ack = dcqcn_power_ack,
	.loss = dcqcn_power_loss,
};
