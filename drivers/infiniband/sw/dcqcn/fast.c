// SPDX-License-Identifier: GPL-2.0
/*
 * FAST: a window computed from round trips alone, for networks in which no switch marks.
 *
 *   Wei, Jin, Low and Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance",
 *   IEEE/ACM Transactions on Networking 14(6), 2006, equation 6
 *
 *   once per window   w = min(2 w, (1 - gamma) w + gamma (baseRTT / RTT * w + alpha))
 *   on a loss         half of the window
 *
 * with gamma 1/2. In equilibrium, w * (1 - baseRTT / RTT) = alpha: each flow keeps alpha bytes in
 * the queue, so N flows that share one have the same rate, and a queue of N * alpha. Here alpha is
 * two packets. RTT is the average over the window, and baseRTT is the knob ccc_base_rtt or else the
 * shortest round trip.
 *
 * Without the knob, a flow that begins while others keep a queue takes the queueing delay for part
 * of the path, and gets more than its share.
 *
 * The RTT of "fast" is the whole one, as in the paper. That of "fast-oneway" leaves out what queues
 * on the way back have added, if the peer's module tells: ACKs that wait behind the data of others
 * say nothing about the path of this flow, and take most of its rate. On the other hand, packets
 * that wait in the peer's rxe do not slow the flow down; rxe's limit of packets in flight bounds
 * that wait. And flows that ignore half of the queues keep larger ones: in the arena, large
 * messages are faster, and small messages and all-to-all are slower.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_FAST_ALPHA	2	/* packets */
#define DCQCN_FAST_INITIAL	4	/* packets of 4 KB, with headers */
#define DCQCN_FAST_WINDOW_MAX	268435456U	/* bytes; 5 ms at 400 Gb/s */

/**
 * struct dcqcn_fast - what FAST keeps of a flow
 * @delays: ns; sum of the delays in this window
 * @samples: how many; < 2^32, since fewer bytes than that are in flight
 * @cwnd: bytes
 * @left: bytes to be acknowledged until the next window begins
 * @used: the window was full at some time
 */
struct dcqcn_fast {
	u64 delays;
	u32 samples;
	u32 cwnd;
	u32 left;
	bool used;
};

/* Begin a window of @cwnd bytes. If it is shorter than the last one, more is in flight. */
static void dcqcn_fast_set(struct dcqcn_cc *cc, struct dcqcn_fast *f, u64 cwnd)
{
	u64 most = max(DCQCN_FAST_WINDOW_MAX, cc->packet);

	cc->window = clamp(cwnd, (u64)cc->packet, most);
	*f = (struct dcqcn_fast) { .cwnd = cc->window, .left = max(cc->in_flight, cc->window) };
}

static void dcqcn_fast_init(struct dcqcn_cc *cc)
{
	dcqcn_fast_set(cc, dcqcn_cc_private(cc), DCQCN_FAST_INITIAL * 4200);
}

static void dcqcn_fast_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_fast *f = dcqcn_cc_private(cc);
	u64 base = max(cc->rtt_base ?: cc->rtt_min, 1U), w = f->cwnd, rtt, next;

	f->left -= min(sample->delivered, f->left);
	f->used |= !sample->app_limited;
	if (sample->delay) {
		f->delays += sample->delay;
		f->samples++;
	}
	if (f->left || !f->samples)
		return;
	rtt = div_u64(f->delays, f->samples);
	/* the knob may exceed the measured round trip; 2^28 * 2^32 */
	next = (w + div64_u64(w * min(base, rtt), max(rtt, 1ULL)) +
		DCQCN_FAST_ALPHA * cc->packet) / 2;
	/* a window does not grow unless it is used */
	dcqcn_fast_set(cc, f, f->used ? min(next, 2 * w) : min(next, w));
}

static void dcqcn_fast_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_fast *f = dcqcn_cc_private(cc);

	dcqcn_fast_set(cc, f, f->cwnd / 2);
}

const struct dcqcn_cc_ops dcqcn_fast = {
	.name = "fast",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = dcqcn_fast_init,
	.ack = dcqcn_fast_ack,
	.loss = dcqcn_fast_loss,
};

const struct dcqcn_cc_ops dcqcn_fast_oneway = {
	.name = "fast-oneway",
	.flags = DCQCN_CC_NEEDS_ACKS | DCQCN_CC_WANTS_DELAY,
	.init = dcqcn_fast_init,
	.ack = dcqcn_fast_ack,
	.loss = dcqcn_fast_loss,
};
