// SPDX-License-Identifier: GPL-2.0
/*
 * rxe's requester, as seen from outside: which packets it will send again, when it asks for an ACK,
 * and when it is stuck. Nothing of rxe is looked into; PSNs and the ack timeout of the QP tell.
 *
 * rxe's retransmission timer runs while requests are held, and each ACK restarts it. So a slow flow
 * asks for more ACKs than rxe does, and the gap between two requests has a bound: at 67 ms,
 * perftest's ack timeout, a flow may have 1 Mb/s. If rxe goes back to the same packet twice
 * nevertheless, the QP may be being destroyed: rxe waits until no packet is left, and repeats its
 * requests meanwhile. The worker asks the core, which forgets such a QP at once in newer kernels,
 * and drops what is held. Until then, and in older kernels, no more are held than leave before rxe
 * goes back again.
 */
#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "requester.h"
#include "tx.h"

/* Packets that rxe has sent, and got no ACK for, before it stops */
#define DCQCN_RXE_UNACKED	128

/* Make a packet ask for an ACK. Return false if that is impossible. */
bool dcqcn_flow_ask(struct sk_buff *skb)
{
	return !skb_cloned(skb) && !skb_is_nonlinear(skb) &&
	       dcqcn_pkt_request_ack(skb_network_header(skb), skb->len);
}

/* A request that should ask for an ACK leaves. Return false if it cannot ask. */
bool dcqcn_flow_asks_peer(struct dcqcn_flow *flow, struct sk_buff *skb,
			  bool ack_req, u64 now)
{
	flow->asked = dcqcn_flow_clock(now);
	return ack_req || dcqcn_flow_ask(skb);
}

/*
 * Handle a packet of a limited flow that does not follow the last one of its FIFO: the first
 * one, or one that was sent before, for which it returns true.
 *
 * Where the path is measured, the first packet that is sent again asks for an ACK. Until an
 * ACK comes, rxe ignores further NAKs: a second loss before the end of the message would
 * cost the ack timeout, and all that rxe may send meanwhile.
 */
bool dcqcn_flow_go_back(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo,
			struct dcqcn_tx *tx, u64 now)
{
	const struct dcqcn_fifo *fifos = qp->flow.fifo;
	bool first = !fifo->seen;

	/* a flow that sends requests may begin to answer READs, or the reverse, at any time */
	if (!first || (!fifos[DCQCN_REQUESTS].seen && !fifos[DCQCN_RESPONSES].seen))
		dcqcn_limiter_resume(qp, !first, fifo == &fifos[DCQCN_REQUESTS], now);
	fifo->seen = true;
	/* PSNs of packets from before the limiter's birth are unknown */
	if (first)
		return false;
	if (qp->flow.path && dcqcn_flow_ask(tx->skb))
		tx->packet.ack_req = true;
	if (fifo == &qp->flow.fifo[DCQCN_REQUESTS]) {
		qp->flow.stuck = tx->packet.psn == qp->flow.back_psn;
		qp->flow.back_psn = tx->packet.psn;
		if (qp->flow.stuck && qp->state == DCQCN_QP_LIVE)
			dcqcn_dev_resolve(qp->dev, &qp->resolve_node);
	}
	return true;
}

/* Whether rxe would send a request again before it has left. The ACKs of a QP that is being
 * destroyed still come, so only @psn tells that rxe goes on.
 */
bool dcqcn_flow_is_stuck(struct dcqcn_qp *qp, u32 psn)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 before = skb_queue_len(&flow->fifo[DCQCN_REQUESTS].queue);

	if (((psn - flow->back_psn) & DCQCN_QPN_MASK) > DCQCN_RXE_UNACKED)
		flow->stuck = false;
	return flow->stuck && before * flow->gap >= dcqcn_flow_longest_gap(qp);
}
