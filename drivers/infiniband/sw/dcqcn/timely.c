// SPDX-License-Identifier: GPL-2.0
/*
 * TIMELY: a rate that follows the gradient of the round trip.
 *
 *   Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter",
 *   SIGCOMM 2015, algorithm 1
 *
 *   rtt_diff = (1 - alpha) * rtt_diff + alpha * (rtt - previous rtt)
 *   gradient = rtt_diff / minRTT
 *
 *   rtt < T_low      rate += delta
 *   rtt > T_high     rate *= 1 - beta * (1 - T_high / rtt)
 *   gradient <= 0    rate += N * delta; N is 1 for the first four since a gradient > 0, then 5
 *   otherwise        rate *= 1 - beta * gradient
 *
 * once for each segment of 16 KB that is acknowledged, but not more often than once in minRTT. The
 * paper has alpha 0.875, beta 0.8, and for 10 Gb/s with minRTT 20 us: delta 10 Mb/s, T_low 50 us,
 * T_high 500 us. Here these are in units of the path: a thousandth of the line, 5/2 and 25 shortest
 * round trips. A flow begins at half of the line, the paper's C / (n + 1) for one other flow. The
 * paper assumes that nothing is lost; here losses halve the rate, once per round trip.
 *
 * While a queue builds up, each step of a round trip sees a gradient far above 1. So, as
 * implementations do, a step takes half of the rate at most, and leaves at least delta. From a
 * lower rate a flow would hardly recover: a step upwards needs a segment, which takes 131 ms at 1
 * Mb/s.
 *
 * The fixed point is not unique (Zhu et al., "ECN or Delay", CoNEXT 2016): flows need not get the
 * same rate.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_TIMELY_SEGMENT	16384U		/* bytes */
#define DCQCN_TIMELY_HAI	5
#define DCQCN_TIMELY_RTT_MAX	67108864U	/* ns, 67 ms; longer ones count as this */

/**
 * struct dcqcn_timely - what TIMELY keeps of a flow
 * @step_time: ns; the last step, 0 for none
 * @loss_time: ns; the last loss that halved the rate, 0 for none
 * @diff: ns; rtt_diff
 * @rtt: ns; the last round trip, 0 for none
 * @acked: bytes acknowledged since the last step
 * @falling: steps between T_low and T_high whose gradient was not above 0, since one whose gradient
 *	was
 */
struct dcqcn_timely {
	u64 step_time;
	u64 loss_time;
	s32 diff;
	u32 rtt;
	u32 acked;
	u32 falling;
};

static void dcqcn_timely_init(struct dcqcn_cc *cc)
{
	cc->rate = cc->line / 2;
}

static u64 dcqcn_timely_delta(const struct dcqcn_cc *cc)
{
	return div_u64(cc->line, 1000);
}

/* Cut the rate by beta * @part / @whole, at most by half. The rate is below 2^52, so the share is
 * computed in units of 2^-10.
 */
static void dcqcn_timely_cut(struct dcqcn_cc *cc, u32 part, u32 whole)
{
	u64 share = div_u64((u64)min(part, whole) << 10, whole);
	u64 cut = min(div_u64((cc->rate >> 10) * share * 4, 5), cc->rate / 2);

	/* not below delta, and never upwards */
	cc->rate -= min(cut, cc->rate - min(cc->rate, dcqcn_timely_delta(cc)));
}

static void dcqcn_timely_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_timely *t = dcqcn_cc_private(cc);
	u32 rtt = min(sample->rtt, DCQCN_TIMELY_RTT_MAX);
	u32 least = clamp(cc->rtt_min, 1U, DCQCN_TIMELY_RTT_MAX);
	u64 delta = dcqcn_timely_delta(cc);

	t->acked = min(t->acked, DCQCN_TIMELY_SEGMENT);
	t->acked += min(sample->delivered, DCQCN_TIMELY_SEGMENT);
	if (!rtt || t->acked < DCQCN_TIMELY_SEGMENT ||
	    (t->step_time && cc->now - t->step_time < least))
		return;
	t->acked = 0;
	t->step_time = cc->now;
	if (t->rtt)
		t->diff += div_s64(7LL * ((s32)(rtt - t->rtt) - t->diff), 8);
	t->rtt = rtt;

	if (rtt < least * 5ULL / 2) {
		cc->rate += delta;
		return;
	}
	if (rtt > least * 25ULL) {
		dcqcn_timely_cut(cc, rtt - least * 25, rtt);
		return;
	}
	if (t->diff > 0) {
		t->falling = 0;
		dcqcn_timely_cut(cc, t->diff, least);
		return;
	}
	if (t->falling < DCQCN_TIMELY_HAI)
		t->falling++;
	cc->rate += t->falling < DCQCN_TIMELY_HAI ? delta : DCQCN_TIMELY_HAI * delta;
}

static void dcqcn_timely_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_timely *t = dcqcn_cc_private(cc);

	if (t->loss_time && cc->now - t->loss_time < cc->rtt)
		return;
	t->loss_time = cc->now;
	dcqcn_timely_cut(cc, 1, 1);
}

const struct dcqcn_cc_ops dcqcn_timely = {
	.name = "timely",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = dcqcn_timely_init,
	.ack = dcqcn_timely_ack,
	.loss = dcqcn_timely_loss,
};
