// SPDX-License-Identifier: GPL-2.0
/*
 * rxe's requester, from outside: which packets it will send again, when it requests an ACK, and
 * when it is stuck. This is inferred from PSNs and the QP's ack timeout; nothing inside rxe is
 * read.
 *
 * rxe's retransmission timer runs while requests are held, and each ACK restarts it. So a slow flow
 * requests more ACKs than rxe does, and the gap between two requests has a bound: with perftest's
 * ack timeout of 67 ms, a flow may be as slow as 1 Mb/s. If rxe goes back to the same packet twice
 * nevertheless, the QP may be being destroyed: rxe waits until no packet is left, and repeats its
 * requests meanwhile. The worker asks the core about it. The core of newer kernels no longer knows
 * such a QP, and what is held is dropped. Until then, and in older kernels, hold only what can
 * leave before rxe goes back again.
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

/* Packets without an ACK after which rxe stops sending */
#define DCQCN_RXE_UNACKED	128

/* Let a packet request an ACK. Return false if that is impossible. */
bool dcqcn_req_set_ack_req(struct sk_buff *skb)
{
	return !skb_cloned(skb) && !skb_is_nonlinear(skb) &&
	       dcqcn_pkt_request_ack(skb_network_header(skb), skb->len);
}

/* A request that should request an ACK leaves. Return false if it cannot. */
bool dcqcn_req_requests_ack(struct dcqcn_flow *flow, struct sk_buff *skb,
			    bool ack_req, u64 now)
{
	flow->ack_req_time = dcqcn_flow_clock(now);
	return ack_req || dcqcn_req_set_ack_req(skb);
}

/* Where the path is measured, let one of the first two packets that are sent again request an ACK.
 * Until an ACK comes, rxe ignores further NAKs: a second loss before the end of the message would
 * cost the ack timeout, and every packet that rxe sends meanwhile. If the first packet was not lost
 * but overtaken, it arrives late, and the receiver may miss the second one in turn. rxe ignores
 * that NAK, but after it takes the ACK of the first packet for an old one.
 */
void dcqcn_req_ask_again(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	if (qp->flow.path && dcqcn_req_set_ack_req(dcqcn_tx_skb(tx)))
		tx->packet.ack_req = true;
}

/*
 * Handle a packet of a limited flow that does not follow the last one of its FIFO, whose PSN is
 * @last: the first one, or one that was sent before, for which it returns true.
 */
bool dcqcn_req_go_back(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo,
		       struct dcqcn_tx *tx, u32 last, u64 now)
{
	const struct dcqcn_fifo *fifos = qp->flow.fifo;
	struct sk_buff *held = skb_peek(&fifo->queue);
	bool first = !fifo->begun;

	/* A flow that sends requests may begin to answer READs, or the reverse, at any time. The
	 * first packet since the limit began is new if it begins a message, unless rxe's timer may
	 * just have fired, and otherwise follows at once, or is sent again.
	 */
	if (!first || (!fifos[DCQCN_REQUESTS].begun && !fifos[DCQCN_RESPONSES].begun &&
		       (!dcqcn_bth_begins(tx->bth) || dcqcn_limiter_may_repeat(qp, now))))
		dcqcn_limiter_resume(qp, !first, fifo == &fifos[DCQCN_REQUESTS],
				     held ? dcqcn_tx_of(held)->packet.psn - 1 : last, now);
	fifo->begun = true;
	/* PSNs of packets before the limit began are unknown */
	if (first)
		return false;
	dcqcn_req_ask_again(qp, tx);
	if (fifo == &qp->flow.fifo[DCQCN_REQUESTS]) {
		qp->flow.stuck = tx->packet.psn == qp->flow.back_psn;
		qp->flow.back_psn = tx->packet.psn;
		if (qp->flow.stuck && qp->state == DCQCN_QP_LIVE)
			dcqcn_dev_resolve(qp->dev, &qp->resolve_node);
	}
	return true;
}

/* Whether an ACK of RC, or a READ response that was not sent before, is of another connection than
 * the READ responses that its FIFO holds: rxe answers in order. In the new connection, an old
 * response would complete requests that the peer does not have. An ACK shortly before them is
 * another one for a request that the peer has sent again. @last: PSN of the last response
 */
bool dcqcn_req_is_apart(const struct dcqcn_fifo *fifo, u32 last, u32 psn)
{
	u32 first = dcqcn_tx_of(skb_peek(&fifo->queue))->packet.psn;

	return fifo->begun && ((psn - first + DCQCN_RC_GAP) & DCQCN_QPN_MASK) >
			      ((last - first) & DCQCN_QPN_MASK) + 2 * DCQCN_RC_GAP;
}

/* Whether an ACK must not leave, since it would complete an atomic operation of the peer without
 * its data. The peer sends again what was answered, as the answers were dropped. rxe acknowledges
 * each request before the atomic operation with the last PSN that it has executed. If that is the
 * atomic operation's, the peer takes the ACK for the answer. The answer will come, and acknowledges
 * as much.
 */
bool dcqcn_req_precedes_atomic(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	bool same = tx->packet.psn == qp->atomic_psn;

	if (tx->packet.opcode == DCQCN_OPCODE_ACK && same)
		return true;
	/* it has come, or rxe has executed more, or it is another connection */
	if (tx->packet.opcode == (same ? DCQCN_OPCODE_ATOMIC_ACK : DCQCN_OPCODE_ACK))
		qp->atomic_psn = DCQCN_PSN_NONE;
	return false;
}

/* Whether rxe would send a request again before it has left. The ACKs of a QP that is being
 * destroyed still come, so only @psn tells that rxe goes on.
 */
bool dcqcn_req_is_stuck(struct dcqcn_qp *qp, u32 psn)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 before = skb_queue_len(&flow->fifo[DCQCN_REQUESTS].queue);

	if (((psn - flow->back_psn) & DCQCN_QPN_MASK) > DCQCN_RXE_UNACKED)
		flow->stuck = false;
	return flow->stuck && before * flow->gap >= dcqcn_req_longest_gap(qp);
}

/**
 * dcqcn_req_patience() - how long the first held request, or else the next one, may wait
 * @qp: its QP, which obeys a context or an algorithm
 * @now: ns, read under the lock
 *
 * Behind a closed window, rxe's timer must not fire: one request leaves, and requests an ACK, when
 * the flow has requested none for half of the ack timeout. If rxe goes back again and again, every
 * request held that long leaves, and one that is held for DCQCN_HOLD_NS leaves in any case.
 *
 * Context: @qp->lock is held. Return: ns; 0 if it must leave.
 */
u64 dcqcn_req_patience(const struct dcqcn_qp *qp, u64 now)
{
	const struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *first = skb_peek(&flow->fifo[DCQCN_REQUESTS].queue);
	u64 silent = dcqcn_req_silence(flow, now);
	u64 held = first ? now - dcqcn_tx_of(first)->since : 0;
	u64 most = dcqcn_req_longest_hold();
	u64 longest = min(dcqcn_req_longest_gap(qp), most), left;

	left = longest - min(held, longest);
	if (qp->ack_timeout && !flow->stuck)
		left = max(left, longest - min(silent, longest));
	return min(left, most - min(held, most));
}
