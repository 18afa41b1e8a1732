// SPDX-License-Identifier: GPL-2.0
/*
 * Flows that obey an algorithm of struct dcqcn_cc_ops: when its functions are called, and how its
 * rate and window are applied.
 *
 * DCQCN itself, with all of its profiles, and contexts do not use this file: the limiter and the
 * gate call them directly. One byte says what a flow obeys (dcqcn_qp.obeys). It is 0 for DCQCN, so
 * all of this costs a packet of a flow that obeys DCQCN a single test.
 *
 *   event                          the algorithm's function   effect on the flow
 *   -----------------------------  -------------------------  ---------------------------------
 *   the flow begins                init                       no burst: the first packets leave
 *                                                             at the rate and within the window
 *   a packet leaves                sent                       charged at the rate; may ask for
 *                                                             an ACK
 *   ACK, CNP                       ack, cnp                   the next packet may be due earlier
 *   rxe goes back                  loss                       nothing is in flight
 *   the flow resumes after it      idle
 *   had nothing to send
 *   next_call has come             timer
 *   a context is agreed on,        release                    obeys the context, the other
 *   another algorithm is chosen,                              algorithm, or DCQCN
 *   or this one is unregistered
 *   no data for a second           release                    the limit ends
 *
 * Every algorithm is kept within bounds. Its rate is clamped to rpg_min_rate and the line rate. One
 * packet may always be in flight. The timer has a minimum interval, and runs at most once per
 * event. If no request has asked for an ACK for half of the ack timeout, one that is held leaves
 * and asks, as with contexts. Everything else that ends a packet's wait (queue.c) does so here too.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/wait_bit.h>
#include <rdma/dcqcn_cc.h>

#include "cc.h"
#include "ccc.h"
#include "device.h"
#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "stamp.h"
#include "window.h"

/* A peer that leaves this many packets unanswered is assumed to lack the module */
#define DCQCN_CC_UNANSWERED	32
/* ns; how often such a peer is asked */
#define DCQCN_CC_ASK_AGAIN	(100 * NSEC_PER_MSEC)

/* ns; assumed of a flow without a measured round trip, such as UC, when it takes another path */
#define DCQCN_CC_RTT		NSEC_PER_MSEC

/* Flags of algorithms for which flows ask the peer's module */
#define DCQCN_CC_ASKS		(DCQCN_CC_WANTS_HOPS | DCQCN_CC_WANTS_DELAY)

/* Bytes after which a packet asks for an ACK; an eighth of the window if that is less */
#define DCQCN_CC_ASK		16384U
#define DCQCN_CC_ASK_SHARE	8

/* Clamp what an algorithm has written. A call that leaves next_call alone does not postpone it. If
 * the rate has grown, the next packet leaves earlier: its remaining wait is scaled by the old rate
 * over the new one, in units of 2^-10.
 */
static void dcqcn_cc_clamp(struct dcqcn_qp *qp, u64 before, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;
	struct dcqcn_cc *cc = &f->cc;

	cc->rate = clamp(cc->rate, cc->floor, cc->line);
	if (cc->next_call && cc->next_call != f->call)
		cc->next_call = max(cc->next_call, now + DCQCN_CC_TIMER_MIN_NS);
	f->call = cc->next_call;
	if (cc->rate > before && f->due > now)
		f->due = now + ((f->due - now) * div64_u64(before << 10, cc->rate) >> 10);
	qp->flow.rate.current_rate = cc->rate;
	qp->flow.rate.target_rate = cc->rate;
}

/* Update the fields that an algorithm reads. The port's bounds may have changed since the last
 * call. Return the rate before.
 */
static u64 dcqcn_cc_prepare(struct dcqcn_qp *qp, u64 now)
{
	const struct dcqcn_settings *settings = rcu_dereference_bh(qp->dev->settings);
	struct dcqcn_cc *cc = &qp->cc->cc;
	u64 before = cc->rate;

	cc->now = now;
	cc->line = dcqcn_dev_line(qp->dev, settings);
	cc->floor = min(dcqcn_rate_floor(&settings->rp), cc->line);
	cc->rate = clamp(before, cc->floor, cc->line);
	qp->flow.rate.current_rate = cc->rate;
	qp->flow.rate.target_rate = cc->rate;
	cc->in_flight = dcqcn_flight_bytes(&qp->cc->flight);
	cc->rtt_base = settings->ccc.base_rtt * NSEC_PER_USEC;
	return before;
}

/* The algorithm of a flow. It stays valid while the flow obeys it: dcqcn_unregister_cc() waits
 * until no flow does.
 */
static const struct dcqcn_cc_ops *dcqcn_cc_of(const struct dcqcn_cc_flow *f)
{
	return dcqcn_cc_ops(f->slot);
}

/* Call the timer before another event if it was due earlier. Return the rate before. */
static u64 dcqcn_cc_begin(struct dcqcn_qp *qp, const struct dcqcn_cc_ops *ops, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;
	u64 before = dcqcn_cc_prepare(qp, now);

	if (!f->cc.next_call || now < f->cc.next_call)
		return before;
	f->cc.next_call = 0;
	f->call = 0;
	if (!ops->timer)
		return before;
	ops->timer(&f->cc);
	dcqcn_cc_clamp(qp, before, now);
	return f->cc.rate;
}

/* The name that was chosen for a flow's QP, or else for its port; empty for DCQCN */
static const char *dcqcn_cc_choice(const struct dcqcn_qp *qp,
				   const struct dcqcn_settings *settings)
{
	return dcqcn_qp_has_choice(qp) ? qp->cc->choice : settings->cc;
}

/**
 * dcqcn_cc_is_wanted() - whether an algorithm other than DCQCN was chosen for a flow
 * @qp: its QP
 * @settings: the port's
 *
 * Context: any; @qp->lock is held.
 */
bool dcqcn_cc_is_wanted(const struct dcqcn_qp *qp, const struct dcqcn_settings *settings)
{
	return *dcqcn_cc_choice(qp, settings);
}

/**
 * dcqcn_cc_enter() - let a flow obey the algorithm that was chosen for it
 * @qp: its QP, which obeys no context
 * @settings: the port's
 * @acks: its packets may ask for an ACK
 * @now: ns
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 * Return: whether it does. If not, it obeys DCQCN.
 */
bool dcqcn_cc_enter(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
		    bool acks, u64 now)
{
	struct dcqcn_cc_slot *slot = dcqcn_cc_find(dcqcn_cc_choice(qp, settings));
	const struct dcqcn_cc_ops *ops = slot ? dcqcn_cc_ops(slot) : NULL;
	struct dcqcn_cc_flow *f = qp->cc;
	u32 rtt = qp->flow.rate.rtt;
	u16 ev = 0;

	if (!ops || READ_ONCE(slot->closed) ||
	    (ops->flags & DCQCN_CC_NEEDS_ACKS && (qp->type != IB_QPT_RC || !acks)))
		return false;
	if (!f)
		f = kzalloc(sizeof(*f), GFP_ATOMIC | __GFP_NOWARN);
	if (!f)
		return false;
	/* nothing has left since it obeyed another algorithm, so it is still on the path of that */
	if (!qp->flow.released && qp->flow.rate.active_time <= f->cc.now) {
		ev = f->ev;
		rtt = max(rtt, f->cc.rtt);
	}
	memset_startat(f, 0, cc);
	f->slot = slot;
	atomic_inc(&slot->flows);
	f->due = now;
	f->ev = ev;
	/* packets may be in flight that the other algorithm has sent */
	f->still = now + 2ULL * rtt;
	f->cc.packet = 1;
	f->cc.window = DCQCN_CC_NO_WINDOW;
	qp->cc = f;
	f->cc.rate = dcqcn_dev_line(qp->dev, settings);
	dcqcn_cc_prepare(qp, now);
	WRITE_ONCE(qp->obeys, DCQCN_OBEYS_ALGORITHM);
	ops->init(&f->cc);
	dcqcn_cc_clamp(qp, f->cc.line, now);
	return true;
}

/**
 * dcqcn_cc_leave() - release a flow from its algorithm, if it has one
 * @qp: its QP
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 */
void dcqcn_cc_leave(struct dcqcn_qp *qp)
{
	struct dcqcn_cc_flow *f = qp->cc;
	const struct dcqcn_cc_ops *ops;

	if (!dcqcn_qp_has_algorithm(qp))
		return;
	ops = dcqcn_cc_of(f);
	if (ops->release)
		ops->release(&f->cc);
	WRITE_ONCE(qp->obeys, DCQCN_OBEYS_RATE);
	if (atomic_dec_and_test(&f->slot->flows))
		wake_up_var(&f->slot->flows);
}

/**
 * dcqcn_cc_is_chosen() - whether a flow obeys the algorithm that was chosen for it
 * @qp: its QP, which obeys no context
 * @settings: the port's
 *
 * Context: under RCU; @qp->lock is held.
 */
bool dcqcn_cc_is_chosen(const struct dcqcn_qp *qp, const struct dcqcn_settings *settings)
{
	if (!dcqcn_qp_has_algorithm(qp))
		return !dcqcn_cc_is_wanted(qp, settings);
	return !strcmp(dcqcn_cc_choice(qp, settings), dcqcn_cc_of(qp->cc)->name);
}

/* Look at the flow again when the rate lets the next packet leave, or when next_call comes */
static void dcqcn_cc_wait(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;

	qp->flow.next = f->cc.next_call ? min(f->due, max(f->cc.next_call, now)) : f->due;
}

/**
 * dcqcn_cc_cnp() - a CNP came for a flow that obeys an algorithm
 * @qp: its QP
 * @now: ns, read under the lock
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 */
void dcqcn_cc_cnp(struct dcqcn_qp *qp, u64 now)
{
	const struct dcqcn_cc_ops *ops = dcqcn_cc_of(qp->cc);
	u64 before = dcqcn_cc_begin(qp, ops, now);
	struct dcqcn_cc_flow *f = qp->cc;
	u64 next = qp->flow.next;

	f->marked = min(f->marked, U32_MAX / 2) + f->cc.packet;
	if (!ops->cnp)
		return;
	ops->cnp(&f->cc);
	dcqcn_cc_clamp(qp, before, now);
	/* what is held may be due earlier, and so may the timer; a wait for ACKs gives no credit */
	dcqcn_cc_wait(qp, now);
	qp->flow.next = min(next, max(qp->flow.next, now));
}

/* Learn a measured round trip. The shortest one does not expire while the flow sends: if a queue
 * never empties, a round trip through it would replace the shortest one, and targets would grow
 * without bound. A new shortest round trip voids what is known of the peer's clock, because that
 * was derived from the old one.
 */
static void dcqcn_cc_learn_rtt(struct dcqcn_cc_flow *f, u32 rtt)
{
	struct dcqcn_cc *cc = &f->cc;

	cc->rtt = rtt;
	if (cc->rtt_min && rtt >= cc->rtt_min)
		return;
	if (f->flight.resent && !f->doubted) {
		f->doubted = true;
		f->rtt_before = cc->rtt_min;
	}
	cc->rtt_min = rtt;
	f->way.time = 0;
}

/* An ACK acknowledges nothing new. If packets were sent again, the peer had one of them: it answers
 * duplicates, too. That packet was overtaken, so what its first ACK gave is not a round trip.
 */
static void dcqcn_cc_unlearn_rtt(struct dcqcn_cc_flow *f)
{
	if (!f->doubted)
		return;
	f->doubted = false;
	f->cc.rtt_min = f->rtt_before;
	f->way.time = 0;
}

/* A round trip without the time that the ACK waited in queues on the way back. If the peer's module
 * does not answer, the whole round trip. If it does, but not for this packet, 0.
 */
static u32 dcqcn_cc_delay(struct dcqcn_cc_flow *f, u32 rtt, u64 now)
{
	u32 least = f->cc.rtt_min;

	if (f->flight.told)
		return least + dcqcn_way_queued(&f->way, f->flight.way, rtt - least, now);
	return f->answers ? 0 : rtt;
}

/* Whether the application limits a flow, and neither rate nor window does */
static bool dcqcn_cc_is_app_limited(const struct dcqcn_qp *qp)
{
	const struct dcqcn_cc *cc = &qp->cc->cc;

	return !dcqcn_flow_held(&qp->flow) &&
	       (u64)cc->in_flight + cc->packet <= cc->window;
}

/**
 * dcqcn_cc_acked() - an ACK came for a flow that obeys an algorithm
 * @qp: its QP
 * @psn: its PSN
 * @hops: routers that it has passed, 0 for unknown
 * @now: ns, read under the lock
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 * Return: whether it acknowledges anything new, so that held packets may leave.
 */
bool dcqcn_cc_acked(struct dcqcn_qp *qp, u32 psn, u8 hops, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;
	const struct dcqcn_cc_ops *ops = dcqcn_cc_of(f);
	struct dcqcn_cc_sample sample = {};
	u64 before;

	sample.delivered = dcqcn_flight_acked(&f->flight, psn, now, &sample.rtt,
					      &sample.interval);
	if (!sample.delivered) {
		dcqcn_cc_unlearn_rtt(f);
		return false;
	}
	f->doubted &= f->flight.resent;
	f->cc.hops = hops;
	if (sample.rtt) {
		dcqcn_cc_learn_rtt(f, sample.rtt);
		sample.delay = dcqcn_cc_delay(f, sample.rtt, now);
		/* to recognise pauses, and to show it to users */
		qp->flow.rate.rtt = min_t(u32, sample.rtt, NSEC_PER_SEC);
	}
	sample.marked = min(f->marked, sample.delivered);
	/* The other marks are of packets in flight. A CNP counts as a packet of the greatest
	 * length, and these may be shorter.
	 */
	f->marked = min(f->marked - sample.marked, dcqcn_flight_bytes(&f->flight));
	sample.hop = f->hop;
	f->hop = (struct dcqcn_cc_hop) {};
	before = dcqcn_cc_begin(qp, ops, now);
	sample.app_limited = dcqcn_cc_is_app_limited(qp);
	if (!ops->ack)
		return true;
	ops->ack(&f->cc, &sample);
	dcqcn_cc_clamp(qp, before, now);
	return true;
}

/**
 * dcqcn_cc_answered() - the peer's module has answered a packet of a flow that obeys an algorithm
 * @qp: its QP
 * @said: what it says
 *
 * The answer comes before the ACK. The algorithm is told when the ACK comes.
 *
 * Context: under RCU; @qp->lock is held, with BH disabled. Return: whether the flow had asked.
 */
bool dcqcn_cc_answered(struct dcqcn_qp *qp, const struct dcqcn_feedback *said)
{
	u32 flags = dcqcn_cc_of(qp->cc)->flags;
	struct dcqcn_cc_flow *f = qp->cc;

	if (!(flags & DCQCN_CC_ASKS) ||
	    !dcqcn_flight_arrived(&f->flight, be32_to_cpu(said->echo_psn),
				  be32_to_cpu(said->arrived)))
		return false;
	f->stamps = flags & DCQCN_CC_WANTS_HOPS && said->flags & DCQCN_FEEDBACK_STAMPS;
	f->answers = f->stamps || flags & DCQCN_CC_WANTS_DELAY;
	f->unanswered = 0;
	if (said->flags & DCQCN_FEEDBACK_HOP)
		f->hop = (struct dcqcn_cc_hop) {
			.mbps = be32_to_cpu(said->mbps),
			.queue = be32_to_cpu(said->received),
			.sent = be32_to_cpu(said->marked),
			.time = be32_to_cpu(said->ahead),
			.number = be32_to_cpu(said->echo_received),
		};
	return true;
}

/**
 * dcqcn_cc_lost() - rxe goes back to a packet that it has sent
 * @qp: its QP, which obeys an algorithm
 * @acked: it is a request, and not a READ response
 * @now: ns, read under the lock
 *
 * If it is a request, nothing is in flight any more, so a flow whose window was full need not wait
 * for an ACK. READ responses do not count, and while they are repeated, requests are in flight.
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 */
void dcqcn_cc_lost(struct dcqcn_qp *qp, bool acked, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;
	const struct dcqcn_cc_ops *ops = dcqcn_cc_of(f);
	u64 before;

	if (acked)
		dcqcn_flight_lost(&f->flight);
	before = dcqcn_cc_begin(qp, ops, now);
	if (ops->loss) {
		ops->loss(&f->cc);
		dcqcn_cc_clamp(qp, before, now);
	}
	dcqcn_cc_wait(qp, now);
}

/**
 * dcqcn_cc_idle() - a flow resumes after it had nothing to send
 * @qp: its QP, which obeys an algorithm
 * @idle: ns; how long it had nothing to send
 * @now: ns, read under the lock
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 */
void dcqcn_cc_idle(struct dcqcn_qp *qp, u64 idle, u64 now)
{
	struct dcqcn_cc_flow *f = qp->cc;
	const struct dcqcn_cc_ops *ops = dcqcn_cc_of(f);
	u64 before;

	/* it was waiting for an ACK, and was not idle */
	if (dcqcn_flight_bytes(&f->flight))
		return;
	dcqcn_flight_pause(&f->flight);
	before = dcqcn_cc_begin(qp, ops, now);
	if (!ops->idle)
		return;
	ops->idle(&f->cc, idle);
	dcqcn_cc_clamp(qp, before, now);
}

/* Whether a flow is about to take another path: as soon as nothing is in flight */
static bool dcqcn_cc_moves(const struct dcqcn_cc_flow *f)
{
	return (f->cc.path & DCQCN_ENTROPY_MASK) != f->ev;
}

static u32 dcqcn_cc_window(const struct dcqcn_cc_flow *f)
{
	return dcqcn_cc_moves(f) ? 0 : f->cc.window;
}

/* A request leaves. It takes the flow's path, or the new one if it can overtake nothing. */
static void dcqcn_cc_steer(struct dcqcn_cc_flow *f, struct sk_buff *skb, bool alone)
{
	if (alone)
		f->ev = f->cc.path & DCQCN_ENTROPY_MASK;
	/* the packet may be cloned */
	if (f->ev && !skb_ensure_writable(skb, skb->len))
		dcqcn_pkt_steer(skb_network_header(skb), skb->len, f->ev, &f->steering);
}

/**
 * dcqcn_cc_may_send() - whether rate and window of an algorithm let a packet leave
 * @qp: its QP; dcqcn_flow.next has come
 * @request: a request has just come, and nothing is held
 * @now: ns, read under the lock
 *
 * Only requests wait for the window. If nothing but READ responses and ACKs behind them is held,
 * they do not wait for it, because no ACK might ever come. If none of the packets in flight has
 * asked for an ACK, one more may leave, and asks: the window may have shrunk since they left.
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 * Return: 0, or when to look again, in ns, if no ACK comes earlier.
 */
u64 dcqcn_cc_may_send(struct dcqcn_qp *qp, bool request, u64 now)
{
	bool requests = request || !skb_queue_empty(&qp->flow.fifo[DCQCN_REQUESTS].queue);
	struct dcqcn_cc_flow *f = qp->cc;
	struct dcqcn_cc *cc = &f->cc;
	u64 again = ~0ULL;

	dcqcn_cc_begin(qp, dcqcn_cc_of(f), now);
	if (f->due > now) {
		again = f->due;
	} else if (requests && !cc->in_flight && dcqcn_cc_moves(f) && now < f->still) {
		again = f->still;
	} else if (!requests || !cc->in_flight || !f->flight.num ||
		   (u64)cc->in_flight + cc->packet <= dcqcn_cc_window(f)) {
		qp->flow.next = max(qp->flow.next, f->due);
		return 0;
	}
	return cc->next_call ? min(again, cc->next_call) : again;
}

/**
 * dcqcn_cc_rate() - the rate at which a packet is charged
 * @qp: its QP, which obeys an algorithm
 * @now: ns, read under the lock
 * @bytes: its length on the wire; 0 to only let time pass
 *
 * Context: under RCU; @qp->lock is held, with BH disabled. Return: bit/s.
 */
u64 dcqcn_cc_rate(struct dcqcn_qp *qp, u64 now, u32 bytes)
{
	struct dcqcn_cc_flow *f = qp->cc;
	const struct dcqcn_cc_ops *ops = dcqcn_cc_of(f);
	u64 before = dcqcn_cc_begin(qp, ops, now);

	if (!bytes)
		return f->cc.rate;
	f->cc.packet = max(f->cc.packet, bytes);
	if (ops->sent) {
		ops->sent(&f->cc, bytes);
		dcqcn_cc_clamp(qp, before, now);
	}
	dcqcn_rate_touch(&qp->flow.rate, now);
	return f->cc.rate;
}

/* Whether a packet of @bytes should ask for an ACK: the next packet may have to wait for that ACK,
 * or no packet has asked for a while. Without a window or a function for ACKs, none is needed.
 */
static bool dcqcn_cc_wants_ack(const struct dcqcn_cc_flow *f, u32 bytes)
{
	u64 flight = (u64)dcqcn_flight_bytes(&f->flight) + bytes;
	u32 window = dcqcn_cc_window(f);

	if (!dcqcn_cc_of(f)->ack && window == DCQCN_CC_NO_WINDOW)
		return false;
	return flight + f->cc.packet > window ||
	       f->flight.sent - f->flight.asked + bytes >=
	       min(DCQCN_CC_ASK, window / DCQCN_CC_ASK_SHARE);
}

/* Whether a request may ask for an ACK of its own, so that it counts as in flight */
static bool dcqcn_cc_counts(const struct sk_buff *skb)
{
	const void *ip = skb_network_header(skb);
	struct dcqcn_headers headers;

	return dcqcn_headers_find(&headers, ip, skb_headlen(skb),
				  ((const struct iphdr *)ip)->version == 6) &&
	       dcqcn_bth_may_request_ack(headers.bth);
}

/**
 * dcqcn_cc_asks() - whether a packet that leaves should ask for an ACK
 * @qp: its QP, which obeys an algorithm
 * @skb: the packet
 *
 * Context: @qp->lock is held.
 */
bool dcqcn_cc_asks(const struct dcqcn_qp *qp, struct sk_buff *skb)
{
	const struct dcqcn_packet *packet = &dcqcn_tx_of(skb)->packet;

	return packet->kind == DCQCN_PKT_REQUEST &&
	       dcqcn_cc_wants_ack(qp->cc, packet->bytes) && dcqcn_cc_counts(skb);
}

/* Whether a packet that asks for an ACK should ask the peer's module, too. Each stamp needs an
 * answer. Of delays, one per window or 16 KB is enough, so that answers stay near 1 % of the data.
 */
static bool dcqcn_cc_wants_answer(const struct dcqcn_cc_flow *f, u64 now)
{
	if (!f->answers)
		return now >= f->ask_time;
	return f->stamps || f->flight.sent - f->questioned >= min(DCQCN_CC_ASK, f->cc.window);
}

/* Ask the peer's module when a packet arrives, and for the stamps that switches put into it. The
 * peer may not have the module, or may not read stamps.
 */
static void dcqcn_cc_ask_peer(struct dcqcn_cc_flow *f, struct sk_buff *skb, u64 now)
{
	struct dcqcn_bth *bth;

	if (!dcqcn_cc_wants_answer(f, now))
		return;
	bth = dcqcn_ccc_bth(skb);
	/* this packet offers a context, and cannot ask for anything else */
	if (!bth || bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE))
		return;
	bth->qpn |= cpu_to_be32(DCQCN_BTH_REQUEST);
	f->ask_time = now + DCQCN_CC_ASK_AGAIN;
	f->questioned = f->flight.sent;
	if (!f->answers)
		return;
	if (f->stamps)
		dcqcn_stamp_add(skb);
	if (++f->unanswered >= DCQCN_CC_UNANSWERED)
		f->answers = false;
}

/**
 * dcqcn_cc_left() - a packet that was charged leaves
 * @qp: its QP, which obeys an algorithm
 * @skb: the packet
 * @ack_req: it asks for an ACK
 * @now: ns, read under the lock
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 * Return: false if the algorithm cannot handle such packets, so that the flow must obey DCQCN.
 */
bool dcqcn_cc_left(struct dcqcn_qp *qp, struct sk_buff *skb, bool ack_req, u64 now)
{
	const struct dcqcn_packet *packet = &dcqcn_tx_of(skb)->packet;
	struct dcqcn_cc_flow *f = qp->cc;
	bool alone;

	f->due = qp->flow.next;
	dcqcn_cc_wait(qp, now);
	if (packet->kind == DCQCN_PKT_RESPONSE)
		return !(dcqcn_cc_of(f)->flags & DCQCN_CC_NEEDS_ACKS);
	if (packet->kind != DCQCN_PKT_REQUEST)
		return true;
	alone = !dcqcn_flight_bytes(&f->flight) && now >= f->still;
	if (dcqcn_cc_counts(skb)) {
		dcqcn_flight_sent(&f->flight, packet->psn, packet->bytes, ack_req, now);
		if (ack_req && dcqcn_cc_of(f)->flags & DCQCN_CC_ASKS)
			dcqcn_cc_ask_peer(f, skb, now);
	} else {
		f->still = now + 2ULL * (f->cc.rtt ?: DCQCN_CC_RTT);
	}
	dcqcn_cc_steer(f, skb, alone);
	return true;
}
