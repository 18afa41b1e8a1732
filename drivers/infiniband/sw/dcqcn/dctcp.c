// SPDX-License-Identifier: GPL-2.0
/*
 * DCTCP: a window that shrinks by the share of bytes that were marked.
 *
 *   Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, equations 1 and 2
 *
 *   once per window   alpha = (1 - g) * alpha + g * F, F the share of marked bytes
 *                     cwnd *= 1 - alpha / 2, if there were any
 *   otherwise         a packet more per round trip; twice the window until the first mark
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
 * @acked: bytes acknowledged in this window
 * @marked: marked bytes among @acked
 * @used: the window was full at some time
 * @grown: there was a mark or a loss, so the window no longer doubles
 */
struct dcqcn_dctcp {
	u32 cwnd;
	u32 alpha;
	u32 acked;
	u32 marked;
	bool used;
	bool grown;
};

static void dcqcn_dctcp_set(struct dcqcn_cc *cc, struct dcqcn_dctcp *d)
{
	d->cwnd = clamp(d->cwnd, cc->packet, max(DCQCN_DCTCP_WINDOW_MAX, cc->packet));
	cc->window = d->cwnd;
}

static void dcqcn_dctcp_init(struct dcqcn_cc *cc)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);

	d->cwnd = DCQCN_DCTCP_INITIAL * 4200;
	d->alpha = DCQCN_DCTCP_ALPHA_ONE;
	dcqcn_dctcp_set(cc, d);
}

static void dcqcn_dctcp_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);
	u32 share;

	d->acked += min(sample->delivered, DCQCN_DCTCP_WINDOW_MAX);
	d->marked += min(sample->marked, DCQCN_DCTCP_WINDOW_MAX);
	d->used |= !sample->app_limited;
	if (!d->grown && !d->marked && d->used)
		d->cwnd += min(sample->delivered, DCQCN_DCTCP_WINDOW_MAX);
	if (d->acked < d->cwnd) {
		dcqcn_dctcp_set(cc, d);
		return;
	}
	share = div_u64((u64)d->marked * DCQCN_DCTCP_ALPHA_ONE, d->acked);
	d->alpha -= d->alpha >> DCQCN_DCTCP_G_SHIFT;
	d->alpha += min(share, DCQCN_DCTCP_ALPHA_ONE) >> DCQCN_DCTCP_G_SHIFT;
	if (d->marked) {
		d->grown = true;
		/* 2^28 * 2^20 */
		d->cwnd -= (u64)d->cwnd * d->alpha / (2 * DCQCN_DCTCP_ALPHA_ONE);
	} else if (d->grown && d->used) {
		d->cwnd += cc->packet;
	}
	d->acked = 0;
	d->marked = 0;
	d->used = false;
	dcqcn_dctcp_set(cc, d);
}

static void dcqcn_dctcp_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_dctcp *d = dcqcn_cc_private(cc);

	d->cwnd /= 2;
	d->grown = true;
	d->acked = 0;
	d->marked = 0;
	dcqcn_dctcp_set(cc, d);
}

const struct dcqcn_cc_ops dcqcn_dctcp = {
	.name = "dctcp",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = dcqcn_dctcp_init,
	.ack = dcqcn_dctcp_ack,
	.loss = dcqcn_dctcp_loss,
};
