// SPDX-License-Identifier: GPL-2.0
/*
 * The gate decides whether the packet at the head of a flow's queue may leave, and charges the flow
 * for packets that leave.
 *
 * A flow has a time at which its next packet may leave. Sending a packet moves this time on by what
 * the packet takes at the current rate (limiter.c). A late timer thereby earns credit: packets
 * leave until the schedule has caught up, within DCQCN_MAX_LATE_NS. A flow that has nothing to send
 * earns no more than DCQCN_IDLE_CREDIT_NS, and a flow that waited until rxe detected a loss earns
 * nothing.
 *
 * While a start sends less than its rate allows, or a context is far from its bounds, only one
 * packet in several takes the flow's lock; the others skip it (DCQCN_SKIPS).
 *
 * A flow whose peer has agreed on a context (ccc.c) obeys the context instead: its packets leave at
 * the line rate while window and credit last, and held packets leave when feedback comes. If
 * feedback takes so long that rxe's timer would expire, one packet leaves, and asks for an ACK.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "cc.h"
#include "ccc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "qp.h"
#include "queue.h"
#include "requester.h"
#include "start.h"
#include "tx.h"
#include "window.h"

/* Requests that may skip the lock after one that took it, if all of them are due by then. The next
 * request that takes the lock charges them. A flow has credit for at most DCQCN_IDLE_CREDIT_GAPS
 * packets: twice this number, and the request that took the lock, must fit.
 */
#define DCQCN_SKIPS		((DCQCN_IDLE_CREDIT_GAPS - 1) / 2)

/* Return @gap, or less if a held request must leave earlier. Out of line like
 * dcqcn_gate_hasten() to keep the fast path small.
 */
u64 dcqcn_gate_shorten(const struct dcqcn_qp *qp, u64 gap)
{
	u64 bound = dcqcn_req_bound(qp);

	return bound ? min(gap, bound) : gap;
}

/* A request was queued behind a packet that may have been longer: let the request leave in time */
void dcqcn_gate_hasten(struct dcqcn_qp *qp, u64 now)
{
	qp->flow.next = min(qp->flow.next, now + dcqcn_req_bound(qp));
}

/* Charge the requests that have skipped the lock as if all of them had just left, and allow no
 * more. Each costs as much as the last request that took the lock, and has the same length.
 */
void dcqcn_gate_settle(struct dcqcn_flow *flow, u64 now)
{
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];
	u8 passed = READ_ONCE(fifo->skipped);
	u32 n = (u8)(passed - fifo->charged);

	fifo->charged = passed;
	WRITE_ONCE(fifo->allowed, passed);
	if (!n)
		return;
	dcqcn_gate_forgive(flow, now);
	flow->next += (u64)n * flow->gap;
	dcqcn_rate_sent(&flow->rate, n * flow->skip_bytes, now);
	flow->stat.paced_packets += n;
	flow->stat.paced_bytes += n * flow->skip_bytes;
	if (flow->path)
		flow->path->sent += n * flow->skip_bytes;
}

/* After a request has passed, in a start or with an open window: let the next ones skip the lock,
 * if all of them are due
 */
void dcqcn_gate_allow(struct dcqcn_qp *qp, u32 bytes, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	/* only RC: whether UC would gain was never measured */
	if (qp->type != IB_QPT_RC || flow->burst || flow->released ||
	    flow->next + (u64)DCQCN_SKIPS * flow->gap > now)
		return;
	flow->skip_bytes = bytes;
	WRITE_ONCE(fifo->allowed, fifo->charged + DCQCN_SKIPS);
}

/* Let a start go on by time, and not by samples */
static void dcqcn_gate_go_blind(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_terms terms = dcqcn_limiter_terms(qp);
	struct dcqcn_flow *flow = &qp->flow;

	dcqcn_start_go_blind(&flow->rate, terms.line);
	/* its packet was charged at the rate of a flow that waits for a sample */
	flow->next = min(flow->next, now);
}

/* Decide whether a packet of a start is a probe, and let it request an ACK then. rxe itself
 * requests one only with every 66th packet and the last one of a message: a start would take many
 * round trips.
 *
 * A start that waits for its first round trip or for its next step goes on by time when the next
 * packet cannot request an ACK, such as a READ, or when none has come for DCQCN_PROBE_NS. path.c
 * says what else ends the wait.
 */
static noinline bool dcqcn_gate_probes(struct dcqcn_qp *qp, struct sk_buff *skb,
				       bool ack_req, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->burst || dcqcn_path_awaits(flow->path, now) ||
	    !dcqcn_start_wants_sample(&flow->rate, now))
		return false;
	if (flow->path->probe_time && !flow->path->asked)
		dcqcn_path_restart(flow->path);
	else if (ack_req || dcqcn_req_set_ack_req(skb))
		return true;
	dcqcn_gate_go_blind(qp, now);
	return false;
}

/* Make a packet ask the peer's module for an answer. Return false if it cannot, or offers a
 * context.
 */
static bool dcqcn_gate_ask_module(struct sk_buff *skb)
{
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);

	if (!bth || bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE))
		return false;
	bth->qpn |= cpu_to_be32(DCQCN_BTH_REQUEST);
	return true;
}

/* Decide whether a packet that gets no ACK is a probe, which the peer's module answers, and make it
 * ask. A start asks when its burst has left, and any other flow when it has sent enough since the
 * last probe. A start that awaits an ACK stops waiting, because this packet gets none. A start that
 * has heard nothing for DCQCN_PROBE_NS goes on by time.
 */
static noinline bool dcqcn_gate_probes_module(struct dcqcn_qp *qp, struct sk_buff *skb,
					      u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	const struct dcqcn_path *path = flow->path;

	if (flow->burst)
		return false;
	/* the ACK may stand behind the peer's READ responses, and theirs behind these */
	if (flow->rate.start == DCQCN_START_ASKS)
		dcqcn_gate_go_blind(qp, now);
	if (dcqcn_path_awaits(path, now))
		return false;
	/* a start that goes up by samples must not wait for a peer without the module */
	if (flow->rate.start == DCQCN_START_MEASURES ?
	    !path->answered || !dcqcn_start_wants_sample(&flow->rate, now) :
	    !flow->rate.start && path->sent - path->probe_sent < DCQCN_PATH_ASK)
		return false;
	if (flow->rate.start == DCQCN_START_MEASURES && !path->rtt)
		dcqcn_gate_go_blind(qp, now);
	return dcqcn_gate_ask_module(skb);
}

/* Whether a packet gets no ACK, but may be answered by the peer's module */
static bool dcqcn_gate_is_unacked(const struct dcqcn_qp *qp, const struct dcqcn_packet *packet)
{
	return packet->kind == DCQCN_PKT_RESPONSE || qp->type == IB_QPT_UC;
}

/* A packet leaves on a path that is measured. Out of line to keep the fast path of
 * other flows small.
 */
void dcqcn_gate_measure(struct dcqcn_qp *qp, struct sk_buff *skb, bool ack_req,
			u64 now)
{
	const struct dcqcn_packet *packet = &dcqcn_tx_of(skb)->packet;
	struct dcqcn_flow *flow = &qp->flow;
	bool asks = false;

	if (unlikely(dcqcn_qp_has_algorithm(qp))) {
		if (!ack_req && dcqcn_cc_asks(qp, skb))
			ack_req = dcqcn_req_requests_ack(flow, skb, false, now);
		if (!dcqcn_cc_left(qp, skb, ack_req, now))
			dcqcn_limiter_switch(qp, rcu_dereference_bh(qp->dev->settings),
					     DCQCN_OBEYS_RATE, now);
		return;
	}
	flow->rate.packet = max(flow->rate.packet, packet->bytes);
	dcqcn_path_age(flow->path, now);
	if (dcqcn_gate_is_unacked(qp, packet))
		asks = dcqcn_gate_probes_module(qp, skb, now);
	if (!asks && (flow->rate.start == DCQCN_START_ASKS ||
		      flow->rate.start == DCQCN_START_MEASURES))
		ack_req = dcqcn_gate_probes(qp, skb, ack_req, now);
	dcqcn_path_sent(flow->path, packet->psn, packet->bytes, ack_req && !asks, now);
	if (asks)
		dcqcn_path_ask(flow->path, packet->psn, flow->rate.rtt, now);
}

/* Whether the message continues after the last packet of a FIFO */
static bool dcqcn_fifo_goes_on(const struct dcqcn_fifo *fifo)
{
	struct sk_buff *last = skb_peek_tail(&fifo->queue);

	return last && dcqcn_opcode_goes_on(dcqcn_tx_of(last)->packet.opcode);
}

/* A packet of a QP with a context leaves: count it there if the QP obeys it, or offer the context
 * to the peer. Return whether it was counted.
 */
bool dcqcn_gate_count(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now)
{
	const struct dcqcn_packet *packet = &dcqcn_tx_of(skb)->packet;
	const struct dcqcn_fifo *fifo = qp->flow.fifo;
	bool data = packet->kind != DCQCN_PKT_ACK, lent;

	if (!data || !dcqcn_qp_is_windowed(qp)) {
		if (data)
			dcqcn_ccc_offer(qp, skb, now);
		dcqcn_ccc_steer(qp, skb);
		return false;
	}
	lent = dcqcn_ccc_sent(qp, skb, packet->psn, packet->bytes,
			      qp->flow.held_bytes,
			      dcqcn_fifo_goes_on(&fifo[DCQCN_REQUESTS]) ||
			      dcqcn_fifo_goes_on(&fifo[DCQCN_RESPONSES]),
			      now);
	/* none may overtake packets that were held */
	if (lent && packet->kind == DCQCN_PKT_REQUEST && !qp->flow.draining)
		dcqcn_gate_allow(qp, packet->bytes, now);
	return true;
}

/* Whether the context or the algorithm lets a packet leave. @fresh: its kind, if it is not held. If
 * it may not leave, the flow waits for dcqcn_queue_kick(), an ACK, or for a timeout. A flow whose
 * last packet has left must not take the turn of one that waits.
 */
bool dcqcn_gate_is_within(struct dcqcn_qp *qp, enum dcqcn_pkt_kind fresh, u64 now)
{
	u64 until;

	if (fresh == DCQCN_PKT_OTHER && !dcqcn_flow_held(&qp->flow))
		return true;
	until = dcqcn_qp_has_algorithm(qp) ?
		dcqcn_cc_may_send(qp, fresh == DCQCN_PKT_REQUEST, now) :
		dcqcn_ccc_may_send(qp, fresh, now);
	if (!until)
		return true;
	qp->flow.next = min(until, now + dcqcn_req_patience(qp, now));
	return false;
}

/* Let a flow obey its context, or DCQCN again */
static noinline void dcqcn_gate_switch(struct dcqcn_qp *qp,
				       const struct dcqcn_settings *settings,
				     enum dcqcn_obeys obeys)
{
	u64 now = ktime_get_ns();

	dcqcn_gate_settle(&qp->flow, now);
	/* do not measure packets in flight, which left under the old rule */
	if (qp->flow.path)
		dcqcn_path_restart(qp->flow.path);
	dcqcn_limiter_switch(qp, settings, obeys, now);
}

/* Let a flow obey its context as soon as that is ready, and DCQCN when it has ended */
void dcqcn_gate_follow(struct dcqcn_qp *qp)
{
	const struct dcqcn_settings *settings;
	bool ready;

	settings = rcu_dereference_bh(qp->dev->settings);
	ready = dcqcn_ccc_is_ready(qp, settings) && !READ_ONCE(qp->dev->stopping);
	if (unlikely(ready != dcqcn_qp_is_windowed(qp) ||
		     (ready && (!qp->limited || qp->flow.released))))
		dcqcn_gate_switch(qp, settings, ready ? DCQCN_OBEYS_CONTEXT :
						      DCQCN_OBEYS_RATE);
}

/* Handle a packet of a flow that may obey a context. The context handles the ACK of an atomic
 * operation like a READ response: it counts the ACK, and changes the flow's path only when the ACK
 * has arrived. If another packet overtook the ACK, the requester would take the ACK for lost.
 */
void dcqcn_gate_enter(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	/* no limit begins for a QP that only receives: the janitor would end it soon */
	if (qp->limited || tx->bth->opcode != DCQCN_OPCODE_ACK)
		dcqcn_gate_follow(qp);
	if (dcqcn_qp_is_windowed(qp) && tx->bth->opcode == DCQCN_OPCODE_ATOMIC_ACK)
		tx->packet.kind = DCQCN_PKT_RESPONSE;
}

/**
 * dcqcn_gate_floor() - the least rate that held requests allow
 * @qp: the flow's QP
 *
 * Context: @qp->lock is held. Return: bit/s for requests as long as the first; 0 if there is no
 * such bound.
 */
u64 dcqcn_gate_floor(const struct dcqcn_qp *qp)
{
	struct sk_buff *skb = skb_peek(&qp->flow.fifo[DCQCN_REQUESTS].queue);

	return skb ? div64_u64(dcqcn_tx_of(skb)->packet.bytes * DCQCN_COST_PER_BYTE,
			       dcqcn_req_bound(qp)) : 0;
}
