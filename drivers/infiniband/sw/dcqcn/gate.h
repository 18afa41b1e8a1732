/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a flow's next packet may leave, and what is charged when it has left. See gate.c. */
#ifndef DCQCN_GATE_H
#define DCQCN_GATE_H

#include <linux/compiler.h>
#include <linux/if_ether.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/time64.h>

#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "requester.h"
#include "settings.h"

/* Credit of a flow that had nothing to send: enough for the producer to be
 * scheduled a little late, too little for a burst that fills a switch
 */
#define DCQCN_IDLE_CREDIT_NS	(4 * NSEC_PER_MSEC)
#define DCQCN_IDLE_CREDIT_GAPS	16

/* One packet's bits in units of 10^-9 bit: 2^16 bytes * 8 * 10^9 < 2^49 */
#define DCQCN_COST_PER_BYTE	(8ULL * NSEC_PER_SEC)

/**
 * dcqcn_pacer_may_pass() - whether a request may pass unseen, without lock and clock
 * @flow: its flow
 * @skb: the packet
 * @bth: its BTH
 *
 * In a start that does not use up its rate, or with a window that is far from full, the
 * limiter sees one packet in eight, and allows those that follow in advance: requests in a
 * row that have the same length and ask for no ACK. rxe sends the requests of a QP one at a
 * time.
 *
 * If the limit is turned off for their priority meanwhile, the limiter learns it from the
 * next packet that it sees. These leave at once in either case.
 *
 * Context: any, for the flow's requester.
 */
static inline bool dcqcn_pacer_may_pass(const struct dcqcn_flow *flow,
					const struct sk_buff *skb,
					const struct dcqcn_bth *bth)
{
	const struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	/* what was allowed may have been taken back meanwhile */
	return (s8)(READ_ONCE(fifo->allowed) - fifo->passed) > 0 &&
	       /* with the bit that asks for an ACK, it would not be the next */
	       be32_to_cpu(bth->psn) == fifo->last_psn + 1 &&
	       skb->len + ETH_HLEN == READ_ONCE(flow->unseen);
}

/**
 * dcqcn_pacer_pass() - a request passes unseen that may
 * @flow: its flow
 *
 * Context: any, for the flow's requester.
 */
static inline void dcqcn_pacer_pass(struct dcqcn_flow *flow)
{
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	fifo->last_psn++;
	WRITE_ONCE(fifo->passed, fifo->passed + 1);
}

u64 dcqcn_flow_shorten(const struct dcqcn_qp *qp, u64 gap);
bool dcqcn_flow_hasten(struct dcqcn_qp *qp, u64 now);
void dcqcn_flow_settle(struct dcqcn_flow *flow, u64 now);
void dcqcn_flow_allow(struct dcqcn_qp *qp, u32 bytes, u64 now);
void dcqcn_flow_measure(struct dcqcn_qp *qp, struct sk_buff *skb, u32 psn,
			u32 bytes, bool ack_req, u64 now);
bool dcqcn_flow_count(struct dcqcn_qp *qp, struct sk_buff *skb,
		      enum dcqcn_pkt_kind kind, u32 psn, u32 bytes, u64 now);
bool dcqcn_flow_in_window(struct dcqcn_qp *qp, bool fresh, u64 now);
bool dcqcn_flow_is_overdue(const struct dcqcn_qp *qp, struct sk_buff *request,
			   u64 now);
void dcqcn_flow_follow(struct dcqcn_qp *qp);
u64 dcqcn_pacer_floor(const struct dcqcn_qp *qp);
void dcqcn_pacer_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
		     u64 now);
void dcqcn_pacer_advance(struct dcqcn_qp *qp, u64 now);

/* ns; a packet follows the burst of a start after this time, or four round trips: by then the
 * bursts of many flows have left a queue of 1 MB at 10 Gb/s and more
 */
#define DCQCN_TAIL_NS	((u64)NSEC_PER_MSEC)

/* Charge a packet that leaves now */
static __always_inline void dcqcn_flow_charge(struct dcqcn_qp *qp,
					      struct dcqcn_terms terms,
					      u32 bytes, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 rate = dcqcn_limiter_rate(qp, terms, now, bytes), gap;
	u64 most = ~0ULL;

	flow->stat.paced_packets++;
	flow->stat.paced_bytes += bytes;
	if (unlikely(!rate || flow->burst)) {
		bool within = flow->burst > bytes;

		flow->burst -= min(flow->burst, bytes);
		if (!rate || within) {
			flow->next = now;
			return;
		}
		/* One packet soon follows a burst whose end may be lost: it shows the
		 * peer what is missing, which rxe's timer does much later.
		 */
		if (flow->rate.start == DCQCN_START_ASKS)
			most = max((u64)DCQCN_PAUSE_RTTS * flow->rate.rtt,
				   DCQCN_TAIL_NS);
	}
	gap = div64_u64_rem(bytes * DCQCN_COST_PER_BYTE + flow->remainder, rate,
			    &flow->remainder);
	if (unlikely(dcqcn_flow_may_exceed(qp, gap)))
		gap = dcqcn_flow_shorten(qp, gap);
	flow->next += min(gap, most);
	flow->gap = gap;
}

/* Take away the credit that a flow may not have after it had nothing to send */
static __always_inline void dcqcn_flow_forgive(struct dcqcn_flow *flow, u64 now)
{
	u64 credit = min_t(u64, (u64)DCQCN_IDLE_CREDIT_GAPS * flow->gap,
			   DCQCN_IDLE_CREDIT_NS);

	flow->next = max(flow->next + credit, now) - credit;
}

/* Where packets leave the limiter */
static __always_inline void dcqcn_flow_leaves(struct dcqcn_qp *qp,
					      struct sk_buff *skb,
					      enum dcqcn_pkt_kind kind, u32 psn,
					      u32 bytes, bool ack_req, u64 now)
{
	if (qp->ack_timeout && kind == DCQCN_PKT_REQUEST &&
	    (ack_req || dcqcn_flow_is_silent(qp, now)))
		ack_req = dcqcn_flow_asks_peer(&qp->flow, skb, ack_req, now);
	if (static_branch_unlikely(&dcqcn_cccs) &&
	    dcqcn_flow_count(qp, skb, kind, psn, bytes, now))
		return;
	if (qp->flow.path)
		dcqcn_flow_measure(qp, skb, psn, bytes, ack_req, now);
}

static __always_inline bool dcqcn_flow_is_due(struct dcqcn_qp *qp, bool fresh,
					      u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->released)
		return true;
	return flow->next <= now &&
	       (!dcqcn_qp_is_windowed(qp) ||
		dcqcn_flow_in_window(qp, fresh, now));
}

#endif /* DCQCN_GATE_H */
