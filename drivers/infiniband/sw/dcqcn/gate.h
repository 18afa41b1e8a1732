/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether a flow's next packet may leave, and charges the flow for it. See gate.c. */
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

/* Credit of a flow whose timer was late: hypervisors take a CPU away for milliseconds */
#define DCQCN_MAX_LATE_NS	(20 * NSEC_PER_MSEC)

/* Credit of a flow that had nothing to send: enough for the producer to be
 * scheduled a little late, too little for a burst that fills a switch
 */
#define DCQCN_IDLE_CREDIT_NS	(4 * NSEC_PER_MSEC)
#define DCQCN_IDLE_CREDIT_GAPS	16

/* One packet's bits in units of 10^-9 bit: 2^16 bytes * 8 * 10^9 < 2^49 */
#define DCQCN_COST_PER_BYTE	(8ULL * NSEC_PER_SEC)

/**
 * dcqcn_gate_may_skip() - whether a request may leave without lock and clock
 * @flow: its flow
 * @skb: the packet
 * @bth: its BTH
 *
 * In a start that does not use up its rate, or with a window that is far from full, one
 * packet in eight takes the lock and allows the next ones in advance: requests in a row that
 * have the same length and request no ACK. rxe sends the requests of a QP one at a time.
 *
 * If the limit of their priority is switched off meanwhile, the next packet that takes the lock
 * notices. Requests that skip the lock leave at once in either case.
 *
 * Context: any, for the flow's requester.
 */
static __always_inline bool dcqcn_gate_may_skip(const struct dcqcn_flow *flow,
						const struct sk_buff *skb,
						const struct dcqcn_bth *bth)
{
	const struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	/* another CPU may have taken back what was allowed */
	return (s8)(READ_ONCE(fifo->allowed) - fifo->skipped) > 0 &&
	       /* also false if AckReq is set, which is in the same word */
	       be32_to_cpu(bth->psn) == fifo->last_psn + 1 &&
	       skb->len + ETH_HLEN == READ_ONCE(flow->skip_bytes);
}

/**
 * dcqcn_gate_skip() - count a request that leaves without lock and clock
 * @flow: its flow
 *
 * Context: any, for the flow's requester.
 */
static inline void dcqcn_gate_skip(struct dcqcn_flow *flow)
{
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	fifo->last_psn++;
	WRITE_ONCE(fifo->skipped, fifo->skipped + 1);
}

u64 dcqcn_gate_shorten(const struct dcqcn_qp *qp, u64 gap);
void dcqcn_gate_hasten(struct dcqcn_qp *qp, u64 now);
void dcqcn_gate_settle(struct dcqcn_flow *flow, u64 now);
void dcqcn_gate_allow(struct dcqcn_qp *qp, u32 bytes, u64 now);
void dcqcn_gate_measure(struct dcqcn_qp *qp, struct sk_buff *skb, bool ack_req,
			u64 now);
void dcqcn_gate_follow(struct dcqcn_qp *qp);
void dcqcn_gate_enter(struct dcqcn_qp *qp, struct dcqcn_tx *tx);
bool dcqcn_gate_is_within(struct dcqcn_qp *qp, enum dcqcn_pkt_kind fresh, u64 now);
bool dcqcn_gate_count(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now);
u64 dcqcn_gate_floor(const struct dcqcn_qp *qp);

/* ns; the longest wait between the burst of a start and the next packet, unless four round trips
 * are longer: in this time a port of 10 Gb/s drains a queue of 1 MB, which the bursts of many flows
 * may have filled
 */
#define DCQCN_TAIL_NS	((u64)NSEC_PER_MSEC)

/* Whether requests have skipped the lock, or may */
static __always_inline bool dcqcn_gate_allows(const struct dcqcn_flow *flow)
{
	const struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	return fifo->allowed != fifo->charged;
}

/* Bound a flow's credit, in ns */
static __always_inline void dcqcn_gate_limit_credit(struct dcqcn_flow *flow,
						    u64 credit, u64 now)
{
	flow->next = max(flow->next + credit, now) - credit;
}

/* After a pause, take away credit beyond that of an idle flow */
static __always_inline void dcqcn_gate_forgive(struct dcqcn_flow *flow, u64 now)
{
	dcqcn_gate_limit_credit(flow, min_t(u64, (u64)DCQCN_IDLE_CREDIT_GAPS * flow->gap,
					    DCQCN_IDLE_CREDIT_NS), now);
}

/**
 * dcqcn_gate_opens() - whether the next packet of a limited flow may leave
 * @qp: the flow's QP
 * @fresh: the packet has just come, and nothing is held: its kind; otherwise DCQCN_PKT_OTHER
 * @now: ns, read under the lock
 *
 * Context: @qp->lock is held, with BH disabled.
 */
static __always_inline bool dcqcn_gate_opens(struct dcqcn_qp *qp,
					     enum dcqcn_pkt_kind fresh, u64 now)
{
	if (qp->flow.released)
		return true;
	return qp->flow.next <= now &&
	       (likely(!dcqcn_qp_is_bounded(qp)) || dcqcn_gate_is_within(qp, fresh, now));
}

/**
 * dcqcn_gate_is_overdue() - whether a request was held so long that it leaves before it is due
 * @qp: its QP
 * @request: the request
 * @now: ns, read under the lock
 *
 * Context: @qp->lock is held, with BH disabled.
 */
static __always_inline bool dcqcn_gate_is_overdue(const struct dcqcn_qp *qp,
						  struct sk_buff *request, u64 now)
{
	return likely(!dcqcn_qp_is_bounded(qp)) ?
	       now - dcqcn_tx_of(request)->since >= dcqcn_req_longest_hold() :
	       !dcqcn_req_patience(qp, now);
}

/* Move the time at which the next packet may leave by the time that @bytes take at @rate, in bit/s;
 * 0 for no limit
 */
static __always_inline void dcqcn_gate_pay(struct dcqcn_qp *qp, u64 rate,
					   u32 bytes, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 most = ~0ULL, gap;

	flow->stat.paced_packets++;
	flow->stat.paced_bytes += bytes;
	if (unlikely(!rate || flow->burst)) {
		bool within = flow->burst > bytes;

		flow->burst -= min(flow->burst, bytes);
		if (!rate || within) {
			flow->next = now;
			return;
		}
		/* In equal rounds, the burst is part of the share, but at most half a second of it:
		 * see dcqcn_flow.gap. 2^24 bytes cost < 2^58.
		 */
		if (flow->path)
			bytes = max_t(u64, bytes, min_t(u64, flow->path->owed, rate / 16));
		/* The end of a burst may be lost. Let one packet follow soon: it shows the peer
		 * what is missing, long before rxe's timer fires.
		 */
		if (flow->rate.start == DCQCN_START_ASKS)
			most = max((u64)DCQCN_PAUSE_RTTS * flow->rate.rtt,
				   DCQCN_TAIL_NS);
	}
	/* A remainder is worth less than 1 ns at the rate that left it, and more at a lower rate:
	 * one from DCQCN_RATE_MAX may be as much as whole packets cost. So carry at most 1 ns.
	 */
	gap = div64_u64_rem(bytes * DCQCN_COST_PER_BYTE + min(flow->remainder, rate), rate,
			    &flow->remainder);
	if (unlikely(dcqcn_req_may_exceed(qp, gap)))
		gap = dcqcn_gate_shorten(qp, gap);
	flow->next += min(gap, most);
	flow->gap = gap;
}

/**
 * dcqcn_gate_charge() - charge a limited flow for a packet that leaves
 * @qp: its QP
 * @terms: what applies to the flow
 * @skb: the packet; AckReq or a context's bits may be set in it
 * @now: ns, read under the lock
 *
 * Context: @qp->lock is held, with BH disabled.
 */
static __always_inline void dcqcn_gate_charge(struct dcqcn_qp *qp,
					      struct dcqcn_terms terms,
					      struct sk_buff *skb, u64 now)
{
	const struct dcqcn_packet *packet = &dcqcn_tx_of(skb)->packet;
	bool ack_req = packet->ack_req;
	u32 bytes = packet->bytes;

	dcqcn_gate_pay(qp, dcqcn_limiter_rate(qp, terms, now, bytes), bytes, now);
	if (qp->ack_timeout && packet->kind == DCQCN_PKT_REQUEST &&
	    (ack_req || dcqcn_req_is_silent(qp, now)))
		ack_req = dcqcn_req_requests_ack(&qp->flow, skb, ack_req, now);
	if (unlikely(rcu_access_pointer(qp->ccc)) &&
	    dcqcn_gate_count(qp, skb, now))
		return;
	if (qp->flow.path)
		dcqcn_gate_measure(qp, skb, ack_req, now);
}

/**
 * dcqcn_gate_arrive() - a packet of a limited flow comes, and may leave or be held
 * @qp: its QP
 * @fifo: the FIFO that would hold it
 * @tx: the packet; it may get an AckReq
 * @now: ns, read under the lock
 *
 * Brings the flow up to date: charges the packets that have passed, and detects a pause or a loss.
 *
 * Context: @qp->lock is held, with BH disabled. Return: what is stale of what @fifo holds: see
 * dcqcn_req_goes_back().
 */
static __always_inline enum dcqcn_stale
dcqcn_gate_arrive(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo, struct dcqcn_tx *tx, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 idle = dcqcn_limiter_idle(flow, now);

	if (dcqcn_gate_allows(flow))
		dcqcn_gate_settle(flow, now);
	if (idle && dcqcn_req_is_new(qp, fifo, tx))
		dcqcn_limiter_go_on(qp, idle, tx->bth, now);
	return dcqcn_req_goes_back(qp, fifo, tx, now);
}

/**
 * dcqcn_gate_pass() - let a packet that has just come leave, if it may
 * @qp: its QP
 * @tx: the packet
 * @now: ns, read under the lock
 *
 * After a pause, the flow has no more than the credit of an idle one.
 *
 * Context: @qp->lock is held, with BH disabled. Return: whether it leaves, and was charged.
 */
static __always_inline bool dcqcn_gate_pass(struct dcqcn_qp *qp,
					    const struct dcqcn_tx *tx, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	/* an ACK's priority may differ from that of data */
	if (!tx->limit && !dcqcn_bth_is_ack(tx->bth))
		flow->released = true;
	if (flow->draining || dcqcn_flow_held(flow))
		return false;
	dcqcn_gate_forgive(flow, now);
	if (!dcqcn_gate_opens(qp, tx->packet.kind, now))
		return false;
	dcqcn_gate_charge(qp, dcqcn_limiter_terms(qp), dcqcn_tx_skb(tx), now);
	dcqcn_count(qp->dev, DCQCN_RP_PASSED);
	/* a pause may follow a packet that ends a message; its headers may have moved */
	if (flow->rate.start && tx->packet.kind == DCQCN_PKT_REQUEST &&
	    dcqcn_opcode_goes_on(tx->packet.opcode))
		dcqcn_gate_allow(qp, tx->packet.bytes, now);
	if (unlikely(flow->released))
		dcqcn_limiter_end(qp);
	return true;
}

#endif /* DCQCN_GATE_H */
