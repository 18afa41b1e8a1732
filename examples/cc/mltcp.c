// SPDX-License-Identifier: GPL-2.0
/*
 * MLTCP: training jobs that share a link learn to take turns.
 *
 *   Rajasekaran et al., "MLTCP: A Distributed Technique to Approximate Centralized Flow Scheduling
 *   for Machine Learning", arXiv 2402.09589, and HotNets 2024
 *
 * A job sends, computes, and sends again. Two jobs that send at the same time and share the link
 * fairly both need twice the time, in each iteration. Here a flow increases by F(r) packets per
 * round trip instead of one, where r is the part of the iteration's bytes that it has sent already:
 *
 *   F(r) = 0.25 + 1.75 r
 *
 * The flow that is ahead gets more, ends earlier, and so begins earlier the next time, until one
 * job sends while the other one computes. The rest is AIMD, as in aimd.c.
 *
 * In the paper, the user configures the bytes of an iteration. Here the last iteration's bytes are
 * taken for those of this one. In both, a flow that has paused for long begins a new iteration.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <rdma/dcqcn_cc.h>

#define MLTCP_INITIAL	16384U		/* bytes */
#define MLTCP_MOST	(1U << 28)
#define MLTCP_LONGEST	(1ULL << 52)	/* bytes: half a day at 800 Gb/s; longer ones count as this */
#define MLTCP_PAUSE	8		/* round trips without data, after which an iteration begins */
#define MLTCP_ONE	256U		/* a factor of 1 */
#define MLTCP_LEAST	64U		/* F(0) */
#define MLTCP_SLOPE	448U		/* F(1) - F(0) */

struct mltcp {
	u64 cut_time;	/* ns */
	u64 sent;	/* bytes of this iteration, at most MLTCP_LONGEST */
	u64 total;	/* bytes of the last iteration; 0 for unknown */
	u32 window;	/* bytes */
};

static void mltcp_set(struct dcqcn_cc *cc, u32 window)
{
	struct mltcp *m = dcqcn_cc_private(cc);

	m->window = clamp(window, cc->packet, max(MLTCP_MOST, cc->packet));
	cc->window = m->window;
}

static void mltcp_init(struct dcqcn_cc *cc)
{
	BUILD_BUG_ON(sizeof(struct mltcp) > DCQCN_CC_PRIVATE);
	mltcp_set(cc, MLTCP_INITIAL);
}

static void mltcp_idle(struct dcqcn_cc *cc, u64 ns)
{
	struct mltcp *m = dcqcn_cc_private(cc);

	if (ns < (u64)MLTCP_PAUSE * cc->rtt)
		return;
	m->total = m->sent;
	m->sent = 0;
}

/* In units of 1 / MLTCP_ONE; at most MLTCP_LEAST + MLTCP_SLOPE. The product is below 2^61. */
static u32 mltcp_factor(const struct mltcp *m)
{
	if (!m->total)
		return MLTCP_ONE;
	return MLTCP_LEAST + div64_u64(MLTCP_SLOPE * min(m->sent, m->total), m->total);
}

static void mltcp_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct mltcp *m = dcqcn_cc_private(cc);
	u64 increase;

	m->sent = min(m->sent + sample->delivered, MLTCP_LONGEST);
	if (sample->app_limited)
		return;
	/* below 2^14 * 2^32 * 2^9, as a packet has at most 4200 bytes */
	increase = (u64)cc->packet * sample->delivered * mltcp_factor(m);
	mltcp_set(cc, m->window + div_u64(div_u64(increase, m->window), MLTCP_ONE));
}

static void mltcp_cut(struct dcqcn_cc *cc)
{
	struct mltcp *m = dcqcn_cc_private(cc);

	if (m->cut_time && cc->now - m->cut_time < cc->rtt)
		return;
	m->cut_time = cc->now;
	mltcp_set(cc, m->window / 2);
}

static const struct dcqcn_cc_ops mltcp = {
	.name = "mltcp",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = mltcp_init,
	.idle = mltcp_idle,
	.ack = mltcp_ack,
	.cnp = mltcp_cut,
	.loss = mltcp_cut,
};

static int __init mltcp_load(void)
{
	return dcqcn_register_cc(&mltcp);
}

static void __exit mltcp_unload(void)
{
	dcqcn_unregister_cc(&mltcp);
}

module_init(mltcp_load);
module_exit(mltcp_unload);
MODULE_DESCRIPTION("MLTCP for rdma_dcqcn");
MODULE_LICENSE("GPL");
