// SPDX-License-Identifier: GPL-2.0
/*
 * AIMD: the shortest congestion control that works, as an example to begin with.
 *
 *   Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in
 *   Computer Networks", Computer Networks and ISDN Systems 17(1), 1989
 *
 *   an ACK              a packet more per round trip
 *   a CNP, or a loss    half of the window, once per round trip
 *
 * Copy this file, and change the name in the Makefile beside it, in the struct at the end, and in
 * the comment above.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <rdma/dcqcn_cc.h>

#define AIMD_INITIAL	16384U		/* bytes */
#define AIMD_MOST	(1U << 28)

/* State of a flow; at most DCQCN_CC_PRIVATE bytes */
struct aimd {
	u64 cut_time;	/* ns */
	u32 window;	/* bytes */
};

static void aimd_set(struct dcqcn_cc *cc, u32 window)
{
	struct aimd *a = dcqcn_cc_private(cc);

	a->window = clamp(window, cc->packet, max(AIMD_MOST, cc->packet));
	cc->window = a->window;
}

static void aimd_init(struct dcqcn_cc *cc)
{
	BUILD_BUG_ON(sizeof(struct aimd) > DCQCN_CC_PRIVATE);
	aimd_set(cc, AIMD_INITIAL);
}

static void aimd_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct aimd *a = dcqcn_cc_private(cc);

	/* a window that the flow does not use up must not grow */
	if (!sample->app_limited)
		aimd_set(cc, a->window + div_u64((u64)cc->packet * sample->delivered, a->window));
}

static void aimd_cut(struct dcqcn_cc *cc)
{
	struct aimd *a = dcqcn_cc_private(cc);

	/* within a round trip, it is about packets that left before the last cut */
	if (a->cut_time && cc->now - a->cut_time < cc->rtt)
		return;
	a->cut_time = cc->now;
	aimd_set(cc, a->window / 2);
}

static const struct dcqcn_cc_ops aimd = {
	.name = "aimd",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = aimd_init,
	.ack = aimd_ack,
	.cnp = aimd_cut,
	.loss = aimd_cut,
};

static int __init aimd_load(void)
{
	return dcqcn_register_cc(&aimd);
}

static void __exit aimd_unload(void)
{
	dcqcn_unregister_cc(&aimd);
}

module_init(aimd_load);
module_exit(aimd_unload);
MODULE_DESCRIPTION("AIMD for rdma_dcqcn");
MODULE_LICENSE("GPL");
