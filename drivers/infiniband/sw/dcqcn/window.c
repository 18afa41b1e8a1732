// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a context decides when a packet may leave. agree.c says how two hosts agree on a
 * context, hear.c what feedback means; ccc_receiver.c has the receiver's half.
 *
 * The window: nscc.c. The credit: rccc.c; one hrtimer per port grants it in turn to the senders
 * that have asked for it, and each grant is feedback too. A sender asks for as much as it can
 * foresee: for the bytes that its flow holds and, if the last held message goes on, for those that
 * leave in a round trip after them, because rxe makes only 64 packets at a time. While messages of
 * one packet follow each other, it expects more of them. It asks for each quantum once, and takes
 * back what it does not need when it sees the end of a message.
 *
 * The path: entropy.c. Feedback that echoes a probe says whether half of the bytes for its QP were
 * marked since the last echo. A flow takes another path only when its last packet has arrived, so
 * that nothing of the flow is in flight and the peer sees no gap. A flow that does not pause sets
 * DCQCN_BTH_LAST in a packet, and waits until the packet is answered.
 *
 * If only the window is full, one packet may leave when nothing is in flight, or when no answer is
 * awaited. After a timeout, one packet may leave in any case.
 *
 * No wait depends on a single packet: feedback counts bytes of all opcodes, and later feedback
 * makes up for lost feedback. If no feedback comes, these events end the wait:
 *
 *   a full window, and    the next feedback; or a timeout, after which one packet leaves and
 *   an answer awaited     asks. After the third one the flows obey DCQCN.
 *   no credit             the next grant. If a packet that asked was lost, the next feedback says
 *                         so: one packet leaves and asks. One also does when a grant is overdue,
 *                         and may be lost: dcqcn_ccc_overdue(). Or else a timeout of 20 ms or more
 *   flows in line before  feedback wakes all of them in turn; each also looks by itself when
 *                         the timeout is due, and none waits while nothing is in flight
 *   requests that do not  rxe's timer would expire, so they leave, and may keep the window full:
 *   wait for the window   each other flow sends a packet in each 250 ms
 *   a change of path      the answer to the last packet; or dcqcn_route.until, on the old path
 *   an agreement          the peer's answer to a later offer; the flows obey DCQCN meanwhile
 *   bytes that were lent  no wait: the next holder of the lock counts them
 *
 * While a context is far from its bounds, most packets leave without its lock: it lends its flows
 * bytes (dcqcn_ccc_lend()), and each packet takes its length from these. Code that takes the
 * lock counts these bytes as sent before anything else (dcqcn_ccc_settle()), so that feedback never
 * acknowledges uncounted bytes. Flows that have left the path that rxe chose, or may leave it soon,
 * are lent nothing.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/time64.h>

#include "ccc.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "trace.h"
#include "window.h"

/* A sender asks after DCQCN_CCC_ASK bytes, or half of the window if that is less. But it asks once
 * per window if half of that is below DCQCN_CCC_WORTH: an answer takes 102 bytes of the link, and
 * should be about 1 %. In large windows it asks less often, so that DCQCN_CCC_PROBES do not
 * run out. Where credit is granted, grants are feedback as well, so it asks after up to
 * DCQCN_CCC_UNREPORTED, but no more than a quarter of the window: the window must hold the BDP and
 * that much more.
 */
#define DCQCN_CCC_WORTH		9800U	/* bytes; an answer of 102 is about 1 % of this */

/* Flows of a context that wait at a time for their last packet to arrive, so that there are
 * probes left
 */
#define DCQCN_CCC_HELD		4

#define DCQCN_CCC_TIMEOUTS	3	/* timeouts in a row until the peer counts as gone */

/* A grant is overdue after this many round trips and waits for a grant, but not before 128 senders
 * to a port of 40 Gb/s may have had their turns
 */
#define DCQCN_CCC_OVERDUE	8
#define DCQCN_CCC_OVERDUE_MIN	(500ULL * NSEC_PER_USEC)

/* When missing credit is overdue, in ns: the last grant may be lost, and the peer does not repeat
 * it
 */
static u64 dcqcn_ccc_overdue(const struct dcqcn_ccc_sender *tx)
{
	u64 patience = ((u64)tx->rtt + tx->grant_gap) * DCQCN_CCC_OVERDUE;

	return max(tx->heard_time, tx->sent_time) +
	       clamp(patience, DCQCN_CCC_OVERDUE_MIN,
		     (u64)DCQCN_CCC_TIMEOUT_TURN);
}

/* Whether one packet may leave without credit, to ask for a lost grant */
static bool dcqcn_ccc_may_probe(struct dcqcn_ccc_sender *tx, u64 now)
{
	if (dcqcn_ccc_has_credit(tx) || now < dcqcn_ccc_overdue(tx))
		return false;
	tx->unasked = max(tx->unasked, DCQCN_CCC_UNREPORTED);
	return true;
}

/* Until when a flow waits for window and credit at the latest: other flows' requests may keep the
 * one full and use up the other, as they leave before rxe's timer expires. However many flows wait,
 * a packet of 4 KB in that time is an eighth of the lowest rate of a limiter.
 */
static u64 dcqcn_ccc_patience(struct dcqcn_route *route, u64 now)
{
	route->waits = route->waits ?: now;
	return route->waits + DCQCN_CCC_TIMEOUT_MAX;
}

/* Set the algorithms that both ends want from now on, 0 for DCQCN; the lock is held */
void dcqcn_ccc_set_agreed(struct dcqcn_ccc *ccc, u8 algorithms)
{
	if (ccc->tx.agreed == algorithms)
		return;
	WRITE_ONCE(ccc->tx.agreed, algorithms);
	trace_dcqcn_ccc_agreed(ccc);
}

/* No useful feedback has come for a long time: packets in flight are lost, and perhaps the peer is
 * gone. One packet may leave, and asks. Return false if it is too early for that.
 */
static bool dcqcn_ccc_expire(struct dcqcn_ccc *ccc, u64 now)
{
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	u32 missing = tx->sent - tx->received - tx->offset;

	if (dcqcn_ccc_since(now, tx->heard_time) < dcqcn_ccc_timeout(tx))
		return false;
	dcqcn_count(ccc->dev, DCQCN_RP_WINDOW_TIMEOUTS);
	dcqcn_nscc_loss(&tx->window, missing - min(missing, tx->expired));
	tx->expired = missing;
	tx->acked = tx->sent;
	tx->asked = tx->limit;
	tx->num_probes = 0;
	tx->num_overtaken = 0;
	tx->unasked = DCQCN_CCC_ASK;
	tx->heard_time = now;
	if (++tx->timeouts >= DCQCN_CCC_TIMEOUTS)
		dcqcn_ccc_set_agreed(ccc, 0);
	return true;
}

/* Take a probe out. Return whether it was overtaken. */
bool dcqcn_ccc_take_probe(struct dcqcn_ccc_sender *tx, int i)
{
	bool overtaken = i < tx->num_overtaken;

	tx->num_overtaken -= overtaken;
	tx->num_probes--;
	memmove(tx->probes + i, tx->probes + i + 1,
		(tx->num_probes - i) * sizeof(*tx->probes));
	return overtaken;
}

/* Until when a flow waits for the arrival of its last packet, 0 if it does not wait. If that takes
 * too long, the flow goes on with its old path.
 */
static u64 dcqcn_ccc_held(struct dcqcn_route *route, u64 now)
{
	if (route->move != DCQCN_MOVE_HELD)
		return 0;
	if (now < route->until)
		return route->until;
	route->move = DCQCN_MOVE_NONE;
	dcqcn_entropy_stay(&route->entropy);
	return 0;
}

/* Reset the credit to its initial value */
void dcqcn_ccc_restart(struct dcqcn_ccc_sender *tx,
		       const struct dcqcn_settings *settings)
{
	tx->limit = tx->sent + max(settings->ccc.initial_window, 1U);
	tx->asked = tx->limit;
}

/* Whether the receiver will take back unused grants when the next packet comes, because the sender
 * has paused. Bytes in flight do not show this: the last packets of a message may not have asked
 * for an answer. A context with flows in line for credit has not paused. Call this before
 * dcqcn_ccc_settle(), which cannot date the packets it counts.
 */
static bool dcqcn_ccc_has_paused(const struct dcqcn_ccc_sender *tx, u64 now)
{
	u64 silent = dcqcn_ccc_since(now, max(tx->sent_time, tx->heard_time));

	return tx->agreed & DCQCN_CCC_RCCC && list_empty(&tx->waiting) &&
	       dcqcn_ccc_is_pause(silent, max(tx->mbps, 1U) * DCQCN_BPS_PER_MBPS);
}

/**
 * dcqcn_ccc_may_send() - whether a packet may leave
 * @qp: its QP, which has a context
 * @fresh: it has just come, and packets that other flows hold go before it
 * @now: ns
 *
 * If not, the flow is put in line, and is woken when the window opens.
 *
 * Context: @qp->lock is held, with BH disabled.
 * Return: 0 if it may; if not, when to ask again at the latest, in ns.
 */
u64 dcqcn_ccc_may_send(struct dcqcn_qp *qp, bool fresh, u64 now)
{
	struct dcqcn_ccc *ccc;
	struct dcqcn_ccc_sender *tx;
	bool first, may, paused;
	u64 until = 0;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc)
		return 0;
	tx = &ccc->tx;
	/* the flow was woken, perhaps before its turn at the rate */
	qp->flow.next = max(qp->flow.next, qp->route->due);
	spin_lock(&ccc->lock);
	paused = dcqcn_ccc_has_paused(tx, now);
	dcqcn_ccc_settle(tx, now);
	until = dcqcn_ccc_held(qp->route, now);
	if (until)
		goto unlock;
	if (paused)
		dcqcn_ccc_restart(tx, rcu_dereference_bh(qp->dev->settings));
	/* with nothing in flight, no feedback would wake waiting flows */
	first = !fresh || list_empty(&tx->waiting) || !dcqcn_ccc_flight(tx);
	may = first && dcqcn_ccc_in_window(tx) && dcqcn_ccc_in_credit(tx);
	if (!may)
		may = dcqcn_ccc_expire(ccc, now) ||
		      (dcqcn_ccc_in_window(tx) && dcqcn_ccc_may_probe(tx, now)) ||
		      now >= dcqcn_ccc_patience(qp->route, now);
	if (!may) {
		until = min(tx->heard_time + dcqcn_ccc_timeout(tx),
			    dcqcn_ccc_patience(qp->route, now));
		/* credit that comes while the window is full wakes no flow, and the timeout is
		 * shorter from then on
		 */
		if (!dcqcn_ccc_has_credit(tx))
			until = min(until, dcqcn_ccc_in_window(tx) ?
				    dcqcn_ccc_overdue(tx) :
				    now + dcqcn_ccc_timeout_of(tx, true));
		if (list_empty(&qp->wait_node))
			list_add_tail(&qp->wait_node, &tx->waiting);
	}
unlock:
	spin_unlock(&ccc->lock);
	if (until)
		qp->route->due = qp->flow.next;
	return until;
}

/* Whether a flow still waits for the answer to a probe */
static bool dcqcn_ccc_is_last(const struct dcqcn_ccc_sender *tx,
			      const struct dcqcn_probe *probe, u64 now)
{
	return probe->last &&
	       dcqcn_ccc_since(now, probe->time) < dcqcn_ccc_timeout(tx);
}

/* Whether one more flow may wait for its last packet to arrive */
static bool dcqcn_ccc_may_hold(const struct dcqcn_ccc_sender *tx, u64 now)
{
	int i, n = 0;

	for (i = 0; i < tx->num_probes; i++)
		n += dcqcn_ccc_is_last(tx, &tx->probes[i], now);
	return n < DCQCN_CCC_HELD;
}

/* Make room for a probe: drop the oldest one whose answer no flow waits for */
static void dcqcn_ccc_forget_probe(struct dcqcn_ccc_sender *tx, u64 now)
{
	int i = 0;

	while (i < tx->num_probes - 1 &&
	       dcqcn_ccc_is_last(tx, &tx->probes[i], now))
		i++;
	dcqcn_ccc_take_probe(tx, i);
}

/* A packet asks for feedback */
void dcqcn_ccc_probe(struct dcqcn_ccc_sender *tx, u32 local, u32 qpn, u32 psn,
		     bool last, u64 now)
{
	struct dcqcn_probe *probe = tx->probes;
	int i;

	for (i = 0; i < tx->num_probes; i++, probe++) {
		if (probe->qpn == qpn && probe->psn == psn) {
			probe->time = 0;
			return;
		}
	}
	if (tx->num_probes == DCQCN_CCC_PROBES)
		dcqcn_ccc_forget_probe(tx, now);
	tx->probes[tx->num_probes++] = (struct dcqcn_probe) {
		.time = now, .local = local, .qpn = qpn, .last = last,
		.psn = psn, .sent = tx->sent,
	};
	tx->unasked = 0;
}

/* Bytes after which a packet asks for feedback */
static u32 dcqcn_ccc_enough(const struct dcqcn_ccc_sender *tx)
{
	u32 window = tx->window.cwnd, enough = DCQCN_CCC_ASK;

	if (tx->agreed & DCQCN_CCC_RCCC)
		enough = DCQCN_CCC_UNREPORTED;
	if (tx->agreed & DCQCN_CCC_NSCC) {
		enough = min(enough, max(DCQCN_CCC_ASK, window / 4));
		enough = window / 2 < DCQCN_CCC_WORTH ? window :
			 clamp(enough, window / 8, window / 2);
	}
	return enough;
}

/* Whether a packet asks for feedback */
static bool dcqcn_ccc_asks(const struct dcqcn_ccc_sender *tx)
{
	if (tx->unasked >= dcqcn_ccc_enough(tx))
		return true;
	/* no grant will come, and an answer on its way does not know of this packet */
	if (!dcqcn_ccc_has_credit(tx) && !dcqcn_ccc_asked(tx))
		return true;
	/* nothing more will leave before an answer comes */
	return !dcqcn_ccc_awaits(tx) &&
	       (dcqcn_ccc_is_full(tx) || !dcqcn_ccc_has_credit(tx));
}

/* A packet leaves. @bytes: of a message of one packet with nothing behind it, else 0. Once per
 * round trip, count how many such bytes have left in it. None count after a pause, because nothing
 * may follow.
 */
static void dcqcn_ccc_follow(struct dcqcn_ccc_sender *tx, u32 bytes, u64 now)
{
	u64 took = dcqcn_ccc_since(now, tx->round_time);

	if (took >= tx->rtt) {
		tx->lone_before = took / 2 < tx->rtt ? tx->lone : 0;
		tx->lone = 0;
		tx->round_time = now;
	}
	tx->lone += bytes;
}

/* Bytes that are expected to leave after a packet. A message that goes on also needs the bytes that
 * leave in a round trip, before a grant for rxe's next packets can come. A message of one packet
 * foresees nothing, and a stream of them would wait for each grant. So as much is expected after it
 * as in the last round trip, but at most a quantum, because it may not come. Packets of a burst
 * have others behind them, and say nothing about what follows the burst.
 */
static u32 dcqcn_ccc_needs(const struct dcqcn_ccc_sender *tx, u32 held,
			   bool goes_on, bool alone)
{
	u32 more = max(tx->ahead, DCQCN_RCCC_QUANTUM);

	if (goes_on || !list_empty(&tx->waiting))
		held += more;
	else if (alone)
		held = min(tx->lone_before, DCQCN_RCCC_QUANTUM);
	return tx->agreed & DCQCN_CCC_NSCC ? min(held, tx->window.cwnd + more) :
					     held;
}

/* Bytes of credit that will be missing when @needs more have left, negative for a surplus */
static s64 dcqcn_ccc_lacks(const struct dcqcn_ccc_sender *tx, u32 needs)
{
	return (s64)needs - dcqcn_ccc_credit(tx) - dcqcn_ccc_asked(tx);
}

/* Let a packet ask for credit if it must; @needs bytes will leave after it. Return its bits. */
static u32 dcqcn_ccc_ask(struct dcqcn_ccc_sender *tx, u32 needs, u64 now)
{
	u32 asked = dcqcn_ccc_asked(tx), quanta, most;
	s64 lacks = dcqcn_ccc_lacks(tx, needs);

	if (lacks <= 0)
		return 0;
	most = DCQCN_RCCC_BACKLOG_MAX - min(asked, DCQCN_RCCC_BACKLOG_MAX);
	quanta = dcqcn_rccc_ask(min(DIV_ROUND_UP((u32)lacks, DCQCN_RCCC_QUANTUM),
				    most / DCQCN_RCCC_QUANTUM));
	if (!quanta)
		return 0;
	if (!asked)
		tx->grant_time = now;
	tx->asked = tx->limit + asked + quanta * DCQCN_RCCC_QUANTUM;
	tx->asked_at = tx->sent;
	tx->asked_since += quanta * DCQCN_RCCC_QUANTUM;
	return dcqcn_bth_more(quanta);
}

/* Let a packet that is not a request take back credit that was asked for and is not needed. One
 * quantum stays asked for if there is no credit, because only its grant tells when there is credit
 * again. Return the packet's bits.
 */
static u32 dcqcn_ccc_take_back(struct dcqcn_ccc_sender *tx, u32 needs)
{
	u32 asked = dcqcn_ccc_asked(tx), quanta;
	s64 lacks = dcqcn_ccc_lacks(tx, needs);

	if (lacks >= 0)
		return 0;
	if (!dcqcn_ccc_has_credit(tx))
		asked -= min(asked, DCQCN_RCCC_QUANTUM);
	quanta = dcqcn_rccc_ask((u32)min(-lacks, (s64)asked) / DCQCN_RCCC_QUANTUM);
	if (!quanta)
		return 0;
	tx->asked -= quanta * DCQCN_RCCC_QUANTUM;
	return dcqcn_bth_more(quanta) | DCQCN_BTH_LAST;
}

/* Bytes that can leave before a packet must be looked at: up to half of the window, as long as no
 * packet needs to ask for credit, and until one must ask for feedback
 */
static s64 dcqcn_ccc_room(const struct dcqcn_ccc_sender *tx)
{
	s64 room = (s64)dcqcn_ccc_enough(tx) - tx->unasked;

	if (!list_empty(&tx->waiting))
		return 0;
	if (tx->agreed & DCQCN_CCC_NSCC)
		room = min(room, (s64)tx->window.cwnd / 2 - dcqcn_ccc_flight(tx));
	if (tx->agreed & DCQCN_CCC_RCCC)
		room = min(room, (s64)dcqcn_ccc_credit(tx) - DCQCN_RCCC_QUANTUM);
	return room;
}

/* Lend the bytes that there is room for. Return false if they are less than a packet. */
bool dcqcn_ccc_lend(struct dcqcn_ccc_sender *tx)
{
	s64 room = dcqcn_ccc_room(tx);

	if (room < tx->window.mss)
		return false;
	tx->lent = room;
	atomic_set(&tx->spare, room);
	return true;
}

/* After a packet of a flow has left, with @held bytes behind it, which none may overtake: whether
 * the next packets may use lent bytes. The flow then does not know when its last packet left, so it
 * must not be about to change its path. Packets that skip the lock are not steered.
 */
static bool dcqcn_ccc_lends(struct dcqcn_ccc_sender *tx, struct dcqcn_route *route, u32 held)
{
	route->lent = !held && route->move == DCQCN_MOVE_NONE && !route->entropy.ev &&
		      !route->entropy.rounds && dcqcn_ccc_lend(tx);
	return route->lent;
}

/* The BTH of a packet that may be changed, or NULL */
struct dcqcn_bth *dcqcn_ccc_bth(struct sk_buff *skb)
{
	u8 *ip = skb_network_header(skb);
	struct dcqcn_headers headers;

	/* may be written unless the packet is cloned */
	if (skb_cloned(skb) ||
	    !dcqcn_headers_find(&headers, ip, skb_headlen(skb), ip[0] >> 4 == 6))
		return NULL;
	return (struct dcqcn_bth *)headers.bth;
}

/* The last packet of a flow on its old path leaves */
static void dcqcn_ccc_hold(const struct dcqcn_ccc *ccc, struct dcqcn_route *route,
			   u64 now)
{
	if (route->move == DCQCN_MOVE_HELD)
		return;
	route->move = DCQCN_MOVE_HELD;
	route->until = now + dcqcn_ccc_timeout(&ccc->tx);
}

/**
 * dcqcn_ccc_ev() - the entropy value of a QP's packets
 * @qp: the QP
 *
 * Context: @qp->lock is held. Return: 0 for the path that rxe chose.
 */
u16 dcqcn_ccc_ev(const struct dcqcn_qp *qp)
{
	return rcu_access_pointer(qp->ccc) ?
	       READ_ONCE(qp->route->entropy.ev) : 0;
}

/**
 * dcqcn_ccc_steer() - send a packet on the path of its flow
 * @qp: its QP
 * @skb: the packet; counted already if it is data
 *
 * ACKs take the path of READ responses, because they must not overtake them.
 *
 * Context: @qp->lock is held, with BH disabled.
 */
void dcqcn_ccc_steer(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	u16 ev = dcqcn_ccc_ev(qp);

	/* the packet may be cloned */
	if (ev && !skb_ensure_writable(skb, skb->len))
		dcqcn_pkt_steer(skb_network_header(skb), skb->len, ev,
				&qp->route->steering);
}

/* Whether the timeout starts with this packet: nothing is in flight, or only packets of an earlier
 * message that asked for no answer
 */
static bool dcqcn_ccc_begins(const struct dcqcn_ccc_sender *tx, u64 now)
{
	return !dcqcn_ccc_flight(tx) ||
	       (list_empty(&tx->waiting) && !dcqcn_ccc_awaits(tx) &&
		dcqcn_ccc_since(now, tx->sent_time) >= dcqcn_ccc_timeout(tx));
}

/**
 * dcqcn_ccc_sent() - count a data packet that obeys a context, and send it on its flow's path
 * @qp: its QP
 * @skb: the packet; the context's bits are set in it, and it is steered
 * @psn: its PSN
 * @bytes: on the wire
 * @held: bytes of the flow that wait behind it
 * @goes_on: the message goes on after the last held packet
 * @now: ns
 *
 * Context: @qp->lock is held, with BH disabled.
 * Return: whether the flow's next packets of this length may leave by dcqcn_ccc_passes().
 */
bool dcqcn_ccc_sent(struct dcqcn_qp *qp, struct sk_buff *skb, u32 psn, u32 bytes,
		    u32 held, bool goes_on, u64 now)
{
	u32 bits = DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED;
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	struct dcqcn_ccc_sender *tx;
	struct dcqcn_route *route;
	struct dcqcn_ccc *ccc;
	bool last, alone, lent = false;
	u32 needs = 0;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc || !bth)
		goto steer;
	tx = &ccc->tx;
	route = qp->route;
	spin_lock(&ccc->lock);
	dcqcn_ccc_settle(tx, now);
	if (dcqcn_ccc_begins(tx, now))
		tx->heard_time = now;
	tx->sent_time = now;
	tx->sent += bytes;
	tx->unasked += bytes;
	tx->window.mss = max(tx->window.mss, min(bytes, (u32)U16_MAX));
	route->sent = tx->sent;
	route->waits = 0;
	last = route->move == DCQCN_MOVE_HELD ||
	       (route->move == DCQCN_MOVE_WANTED && dcqcn_ccc_may_hold(tx, now));
	if (tx->agreed & DCQCN_CCC_RCCC) {
		goes_on = held ? goes_on : dcqcn_bth_goes_on(bth);
		alone = !held && !goes_on && dcqcn_bth_begins(bth) &&
			list_empty(&tx->waiting);
		dcqcn_ccc_follow(tx, alone ? bytes : 0, now);
		needs = dcqcn_ccc_needs(tx, held, goes_on, alone);
		bits |= dcqcn_ccc_ask(tx, needs, now);
	}
	/* the answer to a QP's first packet shows that the peer knows the QP */
	if (last || !route->introduced || dcqcn_ccc_asks(tx)) {
		route->introduced = true;
		dcqcn_ccc_probe(tx, qp->qpn, dcqcn_bth_qpn(bth), psn, last, now);
		bits |= DCQCN_BTH_REQUEST;
	} else if (tx->agreed & DCQCN_CCC_RCCC) {
		bits |= dcqcn_ccc_take_back(tx, needs);
	}
	if (last) {
		bits |= DCQCN_BTH_LAST;
		dcqcn_ccc_hold(ccc, route, now);
	}
	lent = dcqcn_ccc_lends(tx, route, held);
	spin_unlock(&ccc->lock);
	bth->qpn |= cpu_to_be32(bits);
steer:
	dcqcn_ccc_steer(qp, skb);
	return lent;
}
