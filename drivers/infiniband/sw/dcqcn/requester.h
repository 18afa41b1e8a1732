/* SPDX-License-Identifier: GPL-2.0 */
/* rxe's requester, from outside: its timer, and the packets it sends again. See requester.c. */
#ifndef DCQCN_REQUESTER_H
#define DCQCN_REQUESTER_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/skbuff.h>
#include <linux/time64.h>

#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "tx.h"

/* How long a request may be held at a low rate. 65 of 4 KB, all that rxe makes, take 2.2 s at
 * the lowest one, 1 Mb/s, and twice that beside READ responses.
 */
#define DCQCN_HOLD_NS		(5ULL * NSEC_PER_SEC)

/* ns; how long a packet may be held, however slow its flow is */
static __always_inline u64 dcqcn_req_longest_hold(void)
{
	return static_branch_unlikely(&dcqcn_hasty_rxe) ? DCQCN_HASTY_HOLD_NS :
							   DCQCN_HOLD_NS;
}

/* rxe's exponent is less than 32; with a bound, the compiler does not check shifts by it (UBSAN) */
static __always_inline unsigned int dcqcn_flow_ack_timeout(const struct dcqcn_qp *qp)
{
	return qp->ack_timeout % 64;
}

/* ns; the longest gap between two requests: half of the ack timeout, if there is one. 2^31 *
 * 4096 ns fits u64 easily.
 */
static inline u64 dcqcn_req_longest_gap(const struct dcqcn_qp *qp)
{
	unsigned int ack_timeout = dcqcn_flow_ack_timeout(qp);

	return ack_timeout ? DCQCN_ACK_TIMEOUT_NS / 2 << ack_timeout : DCQCN_HOLD_NS;
}

/* ns; the longest gap that held packets allow, 0 for any. Held READ responses get half of the
 * bytes.
 */
static inline u64 dcqcn_req_bound(const struct dcqcn_qp *qp)
{
	const struct dcqcn_flow *flow = &qp->flow;

	if (skb_queue_empty(&flow->fifo[DCQCN_REQUESTS].queue))
		return 0;
	return dcqcn_req_longest_gap(qp) >>
	       !skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue);
}

/* Whether a gap in ns may be above dcqcn_req_bound(), which is at least a quarter of the ack
 * timeout
 */
static __always_inline bool dcqcn_req_may_exceed(const struct dcqcn_qp *qp,
						 s64 gap)
{
	return gap >> dcqcn_flow_ack_timeout(qp) >= (s64)(DCQCN_ACK_TIMEOUT_NS / 4);
}

/*
 * Whether a quarter of the ack timeout has passed since a request requested an ACK; there must be
 * such a timeout. rxe's last packet of a message requests one, and every 66th. Each ACK restarts
 * rxe's retransmission timer. A quarter is one unit of dcqcn_flow_clock() << ack_timeout.
 */
static __always_inline bool dcqcn_req_is_silent(const struct dcqcn_qp *qp,
						u64 now)
{
	u32 elapsed = dcqcn_flow_clock(now) - qp->flow.ack_req_time;

	BUILD_BUG_ON(DCQCN_ACK_TIMEOUT_NS / 4 != 1 << DCQCN_FLOW_CLOCK_SHIFT);
	return (u64)elapsed >> dcqcn_flow_ack_timeout(qp);
}

/* ns; how long ago a request requested an ACK */
static inline u64 dcqcn_req_silence(const struct dcqcn_flow *flow, u64 now)
{
	return (u64)(dcqcn_flow_clock(now) - flow->ack_req_time) << DCQCN_FLOW_CLOCK_SHIFT;
}

/* Whether a held request must leave before READ responses whose turn it is: after the next one, it
 * would be later than the longest gap allows. An eighth less than the last gap, so that the
 * responses have every second turn also where two gaps are as much, and the timer is late.
 */
static inline bool dcqcn_req_is_urgent(const struct dcqcn_qp *qp, u64 now)
{
	const struct dcqcn_flow *flow = &qp->flow;

	return dcqcn_flow_ack_timeout(qp) &&
	       dcqcn_req_silence(flow, now) + flow->gap - flow->gap / 8 >
	       dcqcn_req_longest_gap(qp);
}

/* Whether PSN @a is @b or follows it, modulo 2^24 */
static inline bool dcqcn_psn_reaches(u32 a, u32 b)
{
	return !((a - b) & 0x800000);
}

/* Whether rxe has not sent a packet before */
static inline bool dcqcn_req_is_new(const struct dcqcn_qp *qp,
				    const struct dcqcn_fifo *fifo,
				     const struct dcqcn_tx *tx)
{
	return tx->packet.kind != DCQCN_PKT_ACK &&
	       (qp->type != IB_QPT_RC || !fifo->begun ||
		!dcqcn_psn_reaches(fifo->last_psn, tx->packet.psn));
}

bool dcqcn_req_set_ack_req(struct sk_buff *skb);
bool dcqcn_req_requests_ack(struct dcqcn_flow *flow, struct sk_buff *skb,
			    bool ack_req, u64 now);
bool dcqcn_req_is_stuck(struct dcqcn_qp *qp, u32 psn);
u64 dcqcn_req_patience(const struct dcqcn_qp *qp, u64 now);
void dcqcn_req_ask_again(struct dcqcn_qp *qp, struct dcqcn_tx *tx);
bool dcqcn_req_go_back(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo,
		       struct dcqcn_tx *tx, u32 last, u64 now);

/* What a packet tells about those that its FIFO holds */
enum dcqcn_stale {
	DCQCN_STALE_NONE,
	DCQCN_STALE_FROM,	/* rxe sends them again, from its PSN on */
	DCQCN_STALE_ALL,	/* they are of the QP's last connection */
};

/* PSNs; by so many may a packet of UC follow the one before: rxe may fail to send some */
#define DCQCN_UC_GAP		128

/* PSNs; by so many may an ACK of RC, or the next READ response, follow the last one that was made:
 * a peer that is not rxe may send many requests behind a READ. By so many may an ACK precede the
 * first response that is held: others may be on their way to a peer that goes back.
 */
#define DCQCN_RC_GAP		0x10000

/* Whether a packet of UC is of another connection than the one before it: rxe numbers packets one
 * by one, and accepts any first packet of a message, so those of the old connection would do harm
 * in the new one.
 */
static inline bool dcqcn_req_reconnects(struct dcqcn_fifo *fifo, u32 psn)
{
	bool jumps = fifo->begun &&
		     ((psn - fifo->last_psn - 1) & DCQCN_QPN_MASK) >= DCQCN_UC_GAP;

	fifo->begun = true;
	fifo->last_psn = psn;
	return jumps;
}

bool dcqcn_req_is_apart(const struct dcqcn_fifo *fifo, u32 last, u32 psn);
bool dcqcn_req_precedes_atomic(struct dcqcn_qp *qp, const struct dcqcn_tx *tx);

/* Compare a packet of a limited flow with the one before it. Return what is stale of what its FIFO
 * holds.
 */
static __always_inline enum dcqcn_stale
dcqcn_req_goes_back(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo, struct dcqcn_tx *tx, u64 now)
{
	u32 last = fifo->last_psn, psn = tx->packet.psn;
	bool back;

	if (qp->type != IB_QPT_RC)
		return qp->type == IB_QPT_UC && dcqcn_req_reconnects(fifo, psn) ?
		       DCQCN_STALE_ALL : DCQCN_STALE_NONE;
	if (tx->packet.kind == DCQCN_PKT_ACK) {
		if (likely(skb_queue_empty(&fifo->queue)) || !dcqcn_req_is_apart(fifo, last, psn))
			return DCQCN_STALE_NONE;
		fifo->begun = false;
		return DCQCN_STALE_ALL;
	}
	back = !fifo->begun || dcqcn_psn_reaches(last, psn);
	fifo->last_psn = psn;
	/* if rxe has not gone back, @back_psn is DCQCN_PSN_NONE, which no packet has */
	if (unlikely(((psn - 1) & DCQCN_QPN_MASK) == qp->flow.back_psn) &&
	    tx->packet.kind == DCQCN_PKT_REQUEST)
		dcqcn_req_ask_again(qp, tx);
	if (unlikely(back))
		return dcqcn_req_go_back(qp, fifo, tx, last, now) ? DCQCN_STALE_FROM :
								    DCQCN_STALE_NONE;
	return unlikely(tx->packet.kind == DCQCN_PKT_RESPONSE) && !skb_queue_empty(&fifo->queue) &&
	       dcqcn_req_is_apart(fifo, last, psn) ? DCQCN_STALE_ALL : DCQCN_STALE_NONE;
}

#endif /* DCQCN_REQUESTER_H */
