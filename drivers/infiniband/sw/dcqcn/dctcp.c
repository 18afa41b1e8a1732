// SPDX-License-Identifier: GPL-2.0
/*
 * DCTCP: a window that shrinks by the share of bytes that were marked.
 *
 *   Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, equations 1 and 2
 *
 *   once per window   alpha = (1 - g) * alpha + g * F, F the share of marked bytes
 *                     a packet more, if there were none; twice the window until the first mark
 *   on a mark         cwnd *= 1 - alpha / 2, and no more until what was in flight is acknowledged
 *   on a loss         half of the window
 *
 * with the paper's g of 1/16. RoCE has no echo of marks in ACKs. CNPs report them, so receivers
 * should send one for each mark (min_time_between_cnps 0). With fewer CNPs F comes out too small,
 * and the queue grows. Switches mark as for DCTCP, all packets beyond one threshold.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_DCTCP_ALPHA_ONE	1048576U
#define DCQCN_DCTCP_G_SHIFT	4
#define DCQCN_DCTCP_INITIAL	4	/* packets of 4 KB, with headers */
#define DCQCN_DCTCP_WINDOW_MAX	268435456U	/* bytes; 5 ms at 400 Gb/s */

/**
 * struct dcqcn_dctcp - what DCTCP keeps of a flow
 * @cwnd: bytes
 * @alpha: in units of 2^-20
 * @acked: bytes acknowledged in this window; < 2^30
 * @marked: marked bytes among @acked
 * @left: bytes to be acknowledged until the next window begins
 * @kept: bytes to be acknowledged until a mark shrinks the window again
 * @used: the window was full at some time
 * @grown: there was a mark or a loss, so the window no longer doubles
 */
struct dcqcn_dctcp {
	u32 cwnd;
	u32 alpha;
	u32 acked;
	u32 marked;
	u32 left;
	u32 kept;
	bool used;
	bool grown;
};

static void dcqcn_dctcp_set(struct dcqcn_cc *cc, struct dcqcn_dctcp *d)
{
	d->cwnd = clamp(d->cwnd, cc->packet, max(DCQCN_DCTCP_WINDOW_MAX, cc->packet));
	cc->window = d->cwnd;
}

/* Begin a window. After a cut, more may be in flight than the window holds now. */
static void dcqcn_dctcp_begin(struct dcqcn_cc *cc, struct dcqcn_dctcp *d)
{
	d->acked = 0;
	d->marked = 0;
	d->left = max(cc->in_flight, d->cwnd);
	d->used = false;
}

static void dcqcn_dctcp_init(struct dcqcn_cc *cc)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);

	d->cwnd = DCQCN_DCTCP_INITIAL * 4200;
	d->alpha = DCQCN_DCTCP_ALPHA_ONE;
	dcqcn_dctcp_set(cc, d);
	dcqcn_dctcp_begin(cc, d);
}

static void dcqcn_dctcp_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);
	u32 delivered = min(sample->delivered, DCQCN_DCTCP_WINDOW_MAX), share;

	d->acked += delivered;
	d->marked += min(sample->marked, DCQCN_DCTCP_WINDOW_MAX);
	d->left -= min(delivered, d->left);
	d->used |= !sample->app_limited;
	if (!d->grown && !sample->marked && d->used)
		d->cwnd += delivered;
	if (!d->left) {
		share = div_u64((u64)d->marked * DCQCN_DCTCP_ALPHA_ONE, max(d->acked, 1U));
		d->alpha -= d->alpha >> DCQCN_DCTCP_G_SHIFT;
		d->alpha += min(share, DCQCN_DCTCP_ALPHA_ONE) >> DCQCN_DCTCP_G_SHIFT;
		if (d->grown && !d->marked && d->used)
			d->cwnd += cc->packet;
		dcqcn_dctcp_begin(cc, d);
	}
	if (sample->marked && !d->kept) {
		d->grown = true;
		/* 2^28 * 2^20 */
		d->cwnd -= (u64)d->cwnd * d->alpha / (2 * DCQCN_DCTCP_ALPHA_ONE);
		d->kept = cc->in_flight;
	} else {
		d->kept -= min(delivered, d->kept);
	}
	dcqcn_dctcp_set(cc, d);
}

static void dcqcn_dctcp_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);

	d->cwnd /= 2;
	d->grown = true;
	d->kept = cc->in_flight;
	dcqcn_dctcp_set(cc, d);
	dcqcn_dctcp_begin(cc, d);
}

const struct dcqcn_cc_ops dcqcn_dctcp = {
	.name = "dctcp",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = dcqcn_dctcp_init,
	.ack = dcqcn_dctcp_ack,
	.loss = dcqcn_dctcp_loss,
};
