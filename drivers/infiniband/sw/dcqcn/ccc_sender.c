// SPDX-License-Identifier: GPL-2.0
/*
 * The sender's half of congestion control contexts: when a packet may leave, and what
 * feedback means. ccc_receiver.c has the receiver's half.
 *
 * Agreement: a sender that is set to use contexts sets DCQCN_BTH_CAPABLE and
 * DCQCN_BTH_REQUEST in a data packet now and then. A receiver with the same
 * setting answers with feedback, an opcode of this module that is sent only in answer to
 * these bits. Once feedback names the same algorithms, the context is ready, and its flows
 * obey it until three timeouts have passed without feedback.
 *
 * Feedback is cumulative: bytes received, how many of them were marked, and credit,
 * so that the next one makes up for one that is lost. It goes out on request, and after
 * 32 KB without one. A request is a probe: the sender knows when it left, and how much it
 * had sent. The echo gives the round trip without the time that the receiver held it, and
 * what was lost before it. A mark alone does not trigger feedback, because the window needs
 * a round trip with it.
 *
 * The window: nscc.c. The credit: rccc.c; one hrtimer per port grants it in turn to the
 * senders whose packets say DCQCN_BTH_MORE, and each grant is feedback too.
 *
 * The path: entropy.c. Feedback that echoes a probe says whether half of the bytes for its
 * QP were marked since the last echo. A flow takes another path only when its last packet
 * has arrived, so that nothing of it is in flight and the peer sees no gap. A flow that
 * does not pause asks with DCQCN_BTH_LAST, and waits until that is answered.
 *
 * If only the window is in the way, one packet may leave when nothing is in flight, or no
 * answer is on its way. After a timeout, one may leave in any case.
 *
 * No wait is for one packet alone: feedback counts bytes, of whatever opcode, and a later one makes
 * up for one that is lost. If none comes, this ends the wait:
 *
 *   a full window, and    the next feedback; or a timeout, after which one packet leaves and
 *   an answer awaited     asks. After the third one the flows obey DCQCN.
 *   no credit             the next grant; or a timeout, of 20 ms at least
 *   flows in line before  feedback wakes all of them in turn; each also looks by itself when
 *                         the timeout is due, and none waits while nothing is in flight
 *   a change of path      the answer to the last packet; or dcqcn_route.until, on the old path
 *   an agreement          the peer's answer to a later offer; the flows obey DCQCN meanwhile
 *   bytes that were lent  no wait: the next holder of the lock counts them
 *
 * While a context is far from its bounds, most packets leave without its lock: it lends
 * its flows bytes (dcqcn_ccc_lend()), and each packet takes its length from these. After
 * taking the lock, the first thing to do is to count them as sent (dcqcn_ccc_settle()), so
 * that feedback never acknowledges what is not counted. Flows that do not keep to the path
 * that rxe chose, or may leave it soon, have none.
 *
 * Forged packets: data counts before its ICRC is checked, because an attacker who knows
 * addresses, QPN and PSN of a connection can do worse. Feedback must have the right epoch
 * or echo a probe, and cannot acknowledge more than was sent.
 */
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/time64.h>

#include "ccc.h"
#include "device.h"
#include "pacer.h"
#include "packet.h"
#include "qp.h"
#include "trace.h"

/* A sender asks after DCQCN_CCC_ASK bytes, or half of the window if that is less. But it asks
 * once per window if half of that is below DCQCN_CCC_WORTH: an answer takes 98 bytes of the
 * link, and should be no more than 1 %. In large windows it asks less often, so that
 * DCQCN_CCC_PROBES do not run out. Where credit is granted, which is feedback as well, it asks
 * after up to DCQCN_CCC_UNTOLD, but no more than a quarter of the window: the BDP and that
 * much more must fit into it.
 */
#define DCQCN_CCC_WORTH		9800U	/* bytes that are worth an answer */

/* Flows of a context that wait at a time for their last packet to arrive, so that there are
 * probes left
 */
#define DCQCN_CCC_HELD		4

/* After so many round trips without progress, what is in flight counts as lost. The lower bound
 * is higher where credit is missing, because a turn of all senders takes long; the upper one is
 * that of held requests.
 */
#define DCQCN_CCC_TIMEOUT_RTTS	8
#define DCQCN_CCC_TIMEOUT_MIN	((u64)NSEC_PER_MSEC)
#define DCQCN_CCC_TIMEOUT_TURN	(20 * NSEC_PER_MSEC)
#define DCQCN_CCC_TIMEOUT_MAX	(250 * NSEC_PER_MSEC)
#define DCQCN_CCC_TIMEOUTS	3	/* then the peer is gone */

/* Bytes by which the counts of both ends may differ for a while: what was sent before they
 * agreed
 */
#define DCQCN_CCC_SLACK		65536

/* When a peer is told that we are here: at once, then after twice as long each time */
#define DCQCN_CCC_OFFER_MIN	(20ULL * NSEC_PER_USEC)
#define DCQCN_CCC_OFFER_MAX	((u64)NSEC_PER_SEC)

#define DCQCN_CCC_WAKES		64	/* flows per feedback */

/**
 * dcqcn_ccc_init_sender() - set up the sender's half
 * @tx: of a new context, which nobody else can see yet
 */
void dcqcn_ccc_init_sender(struct dcqcn_ccc_sender *tx)
{
	tx->offer_gap = DCQCN_CCC_OFFER_MIN;
	INIT_LIST_HEAD(&tx->waiting);
}

/* What both ends want from now on, 0 for DCQCN; the lock is held */
static void dcqcn_ccc_set_agreed(struct dcqcn_ccc *ccc, u8 algorithms)
{
	if (ccc->tx.agreed == algorithms)
		return;
	WRITE_ONCE(ccc->tx.agreed, algorithms);
	trace_dcqcn_ccc_agreed(ccc);
}

static struct dcqcn_nscc_params
dcqcn_ccc_params(const struct dcqcn_ccc *ccc,
		 const struct dcqcn_settings *settings)
{
	u64 line = dcqcn_dev_line(ccc->dev, settings);
	u32 mbps = div_u64(line, DCQCN_BPS_PER_MBPS);

	return (struct dcqcn_nscc_params) {
		.mbps = max(min(mbps, ccc->tx.mbps ?: mbps), 1U),
		.base_rtt = settings->ccc.base_rtt * NSEC_PER_USEC,
		.target = settings->ccc.target_qdelay * NSEC_PER_USEC,
	};
}

/* Bytes in flight; the lock is held, as in all that follows */
static u32 dcqcn_ccc_flight(const struct dcqcn_ccc_sender *tx)
{
	return tx->sent - tx->acked;
}

/* Count what has left unseen, and let no more leave so, before anybody looks at @sent */
static void dcqcn_ccc_settle(struct dcqcn_ccc_sender *tx, u64 now)
{
	u32 bytes;

	if (!tx->lent)
		return;
	bytes = tx->lent - atomic_xchg(&tx->spare, 0);
	tx->lent = 0;
	if (!bytes)
		return;
	if (!dcqcn_ccc_flight(tx))
		tx->heard_time = now;
	tx->sent += bytes;
	tx->unasked += bytes;
}

static bool dcqcn_ccc_is_full(const struct dcqcn_ccc_sender *tx)
{
	return tx->agreed & DCQCN_CCC_NSCC &&
	       dcqcn_ccc_flight(tx) >= tx->window.cwnd;
}

/* How long ago @then was, in ns. Callers read @now before they take the context's lock; if
 * another CPU has set @then since, it was just now.
 */
static u64 dcqcn_ccc_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* Whether an answer is on its way */
static bool dcqcn_ccc_awaits(const struct dcqcn_ccc_sender *tx)
{
	return tx->num_probes > tx->num_overtaken;
}

/* Without a request, a window that was cut could stay full forever */
static bool dcqcn_ccc_in_window(const struct dcqcn_ccc_sender *tx)
{
	return !dcqcn_ccc_is_full(tx) || !dcqcn_ccc_awaits(tx);
}

static s32 dcqcn_ccc_credit(const struct dcqcn_ccc_sender *tx)
{
	return tx->limit - tx->sent;
}

static bool dcqcn_ccc_has_credit(const struct dcqcn_ccc_sender *tx)
{
	return !(tx->agreed & DCQCN_CCC_RCCC) || dcqcn_ccc_credit(tx) > 0;
}

static u64 dcqcn_ccc_timeout(const struct dcqcn_ccc_sender *tx)
{
	u64 least = dcqcn_ccc_has_credit(tx) ? DCQCN_CCC_TIMEOUT_MIN :
					       DCQCN_CCC_TIMEOUT_TURN;

	return clamp((u64)tx->rtt * DCQCN_CCC_TIMEOUT_RTTS, least,
		     (u64)DCQCN_CCC_TIMEOUT_MAX);
}

/* No useful feedback has come for a long time: what was in flight is lost, and perhaps the peer
 * is gone. One packet may leave, which asks. Return false if it is too early for that.
 */
static bool dcqcn_ccc_expire(struct dcqcn_ccc *ccc, u64 now)
{
	struct dcqcn_ccc_sender *tx = &ccc->tx;

	if (dcqcn_ccc_since(now, tx->heard_time) < dcqcn_ccc_timeout(tx))
		return false;
	dcqcn_count(ccc->dev, DCQCN_RP_WINDOW_TIMEOUTS);
	dcqcn_nscc_loss(&tx->window, dcqcn_ccc_flight(tx));
	tx->acked = tx->sent;
	tx->num_probes = 0;
	tx->num_overtaken = 0;
	tx->unasked = DCQCN_CCC_ASK;
	tx->heard_time = now;
	if (++tx->timeouts >= DCQCN_CCC_TIMEOUTS)
		dcqcn_ccc_set_agreed(ccc, 0);
	return true;
}

/* Take a probe out. Return whether it was overtaken. */
static bool dcqcn_ccc_take_probe(struct dcqcn_ccc_sender *tx, int i)
{
	bool overtaken = i < tx->num_overtaken;

	tx->num_overtaken -= overtaken;
	tx->num_probes--;
	memmove(tx->probes + i, tx->probes + i + 1,
		(tx->num_probes - i) * sizeof(*tx->probes));
	return overtaken;
}

/* Until when a flow waits for the arrival of its last packet, 0 if it does not. If that
 * takes too long it goes on, on its old path.
 */
static u64 dcqcn_ccc_held(struct dcqcn_route *route, u64 now)
{
	if (route->turn != DCQCN_TURN_HELD)
		return 0;
	if (now < route->until)
		return route->until;
	route->turn = DCQCN_TURN_NONE;
	dcqcn_entropy_stay(&route->entropy);
	return 0;
}

/* Whether the receiver will take back what it had granted when the next packet comes. Bytes in
 * flight do not tell: the last packets of a message may not have asked for an answer. A context
 * with flows in line for credit has not paused. Call this before dcqcn_ccc_settle(), which does
 * not know when the packets left that it counts.
 */
static bool dcqcn_ccc_has_paused(const struct dcqcn_ccc_sender *tx, u64 now)
{
	return list_empty(&tx->waiting) &&
	       dcqcn_ccc_since(now, tx->sent_time) > DCQCN_CCC_SILENT &&
	       dcqcn_ccc_since(now, tx->heard_time) > DCQCN_CCC_SILENT;
}

/**
 * dcqcn_ccc_may_send() - whether a packet may leave
 * @qp: its QP, which has a context
 * @fresh: it has just come, and held packets of others go before it
 * @now: ns
 *
 * If not, the flow is in line for what opens the window.
 *
 * Context: @qp->lock is held, with BH disabled.
 * Return: 0 if it may; if not, when to ask again at the latest, in ns.
 */
u64 dcqcn_ccc_may_send(struct dcqcn_qp *qp, bool fresh, u64 now)
{
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc *ccc;
	struct dcqcn_ccc_sender *tx;
	bool first, may, paused;
	u64 until = 0;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc)
		return 0;
	tx = &ccc->tx;
	settings = rcu_dereference_bh(qp->dev->settings);
	spin_lock(&ccc->lock);
	paused = dcqcn_ccc_has_paused(tx, now);
	dcqcn_ccc_settle(tx, now);
	until = dcqcn_ccc_held(qp->route, now);
	if (until)
		goto unlock;
	if (paused)
		tx->limit = tx->sent + max(settings->ccc.initial_window, 1U);
	/* with nothing in flight, no feedback would wake those that wait */
	first = !fresh || list_empty(&tx->waiting) || !dcqcn_ccc_flight(tx);
	may = first && dcqcn_ccc_in_window(tx) && dcqcn_ccc_has_credit(tx);
	if (!may)
		may = dcqcn_ccc_expire(ccc, now);
	if (!may) {
		until = tx->heard_time + dcqcn_ccc_timeout(tx);
		if (list_empty(&qp->wait_node))
			list_add_tail(&qp->wait_node, &tx->waiting);
	}
unlock:
	spin_unlock(&ccc->lock);
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

/* Make room for a probe: the oldest one for whose answer no flow waits goes */
static void dcqcn_ccc_forget_probe(struct dcqcn_ccc_sender *tx, u64 now)
{
	int i = 0;

	while (i < tx->num_probes - 1 &&
	       dcqcn_ccc_is_last(tx, &tx->probes[i], now))
		i++;
	dcqcn_ccc_take_probe(tx, i);
}

/* A packet asks for feedback */
static void dcqcn_ccc_probe(struct dcqcn_ccc_sender *tx, u32 local, u32 qpn,
			    u32 psn, bool last, u64 now)
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
		enough = DCQCN_CCC_UNTOLD;
	if (tx->agreed & DCQCN_CCC_NSCC) {
		enough = min(enough, max(DCQCN_CCC_ASK, window / 4));
		enough = window / 2 < DCQCN_CCC_WORTH ? window :
			 clamp(enough, window / 8, window / 2);
	}
	return enough;
}

/* Whether a packet asks for feedback; @wants: it asks for credit */
static bool dcqcn_ccc_asks(const struct dcqcn_ccc_sender *tx, bool wants)
{
	if (tx->unasked >= dcqcn_ccc_enough(tx))
		return true;
	/* no grant will come, and an answer on its way does not know of this packet */
	if (!wants && !dcqcn_ccc_has_credit(tx))
		return true;
	/* nothing more will leave before an answer comes */
	return !dcqcn_ccc_awaits(tx) &&
	       (dcqcn_ccc_is_full(tx) || !dcqcn_ccc_has_credit(tx));
}

/* Whether more credit is needed than there is. A message that goes on will need some
 * before a report can come.
 */
static bool dcqcn_ccc_wants(const struct dcqcn_ccc_sender *tx, u32 held,
			    bool goes_on)
{
	s32 credit = dcqcn_ccc_credit(tx);

	if (!(tx->agreed & DCQCN_CCC_RCCC))
		return false;
	if (tx->agreed & DCQCN_CCC_NSCC)
		held = min(held, tx->window.cwnd);
	if (goes_on || !list_empty(&tx->waiting))
		held = max(held, DCQCN_RCCC_QUANTUM);
	return held && (s32)held > credit;
}

/* Bytes that could leave without a reason to look at any packet: up to half of the window,
 * while there is more credit than for what packets ask for more, until one asks for feedback
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

/* Lend what there is room for. Return false if that is less than a packet. */
static bool dcqcn_ccc_lend(struct dcqcn_ccc_sender *tx)
{
	s64 room = dcqcn_ccc_room(tx);

	if (room < tx->window.mss)
		return false;
	tx->lent = room;
	atomic_set(&tx->spare, room);
	return true;
}

/* After a packet of a flow has left: whether those that follow may borrow. A flow that was
 * lent some does not know when its last packet left, so it must not be about to change its
 * path; and packets that leave unseen are not steered.
 */
static bool dcqcn_ccc_lends(struct dcqcn_ccc_sender *tx, struct dcqcn_route *route)
{
	route->lent = route->turn == DCQCN_TURN_NONE && !route->entropy.ev &&
		      !route->entropy.rounds && dcqcn_ccc_lend(tx);
	return route->lent;
}

static struct dcqcn_bth *dcqcn_ccc_bth(struct sk_buff *skb)
{
	u8 *ip = skb_network_header(skb);
	struct dcqcn_view view;

	/* ours to write, unless somebody else has a copy */
	if (skb_cloned(skb) ||
	    !dcqcn_view(&view, ip, skb_headlen(skb), ip[0] >> 4 == 6))
		return NULL;
	return (struct dcqcn_bth *)view.bth;
}

/* The last packet of a flow on its old path leaves */
static void dcqcn_ccc_hold(const struct dcqcn_ccc *ccc, struct dcqcn_route *route,
			   u64 now)
{
	if (route->turn == DCQCN_TURN_HELD)
		return;
	route->turn = DCQCN_TURN_HELD;
	route->until = now + dcqcn_ccc_timeout(&ccc->tx);
}

/**
 * dcqcn_ccc_ev() - the entropy value of what a QP sends
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
 * dcqcn_ccc_steer() - a packet leaves on the path of its flow
 * @qp: its QP
 * @skb: the packet; counted already if it is data
 *
 * ACKs have the path of READ responses, as they must not overtake them.
 *
 * Context: @qp->lock is held, with BH disabled.
 */
void dcqcn_ccc_steer(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	u16 ev = dcqcn_ccc_ev(qp);

	/* somebody else may have a copy */
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
 * dcqcn_ccc_sent() - a data packet leaves that obeys a context
 * @qp: its QP
 * @skb: the packet; gets its bits
 * @psn: its PSN
 * @bytes: on the wire
 * @held: bytes of the flow that wait behind it
 * @now: ns
 *
 * Context: @qp->lock is held, with BH disabled.
 * Return: whether the flow's next packets of this length may leave by dcqcn_ccc_passes().
 */
bool dcqcn_ccc_sent(struct dcqcn_qp *qp, struct sk_buff *skb, u32 psn, u32 bytes,
		    u32 held, u64 now)
{
	u32 bits = DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED;
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	struct dcqcn_ccc_sender *tx;
	struct dcqcn_route *route;
	struct dcqcn_ccc *ccc;
	bool last, wants, lent;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc || !bth)
		return false;
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
	last = route->turn == DCQCN_TURN_HELD ||
	       (route->turn == DCQCN_TURN_WANTED && dcqcn_ccc_may_hold(tx, now));
	wants = dcqcn_ccc_wants(tx, held, dcqcn_bth_goes_on(bth));
	if (last || dcqcn_ccc_asks(tx, wants)) {
		dcqcn_ccc_probe(tx, qp->qpn, dcqcn_bth_qpn(bth), psn, last, now);
		bits |= DCQCN_BTH_REQUEST;
	}
	if (last) {
		bits |= DCQCN_BTH_LAST;
		dcqcn_ccc_hold(ccc, route, now);
	}
	if (wants)
		bits |= DCQCN_BTH_MORE;
	lent = dcqcn_ccc_lends(tx, route);
	spin_unlock(&ccc->lock);
	bth->qpn |= cpu_to_be32(bits);
	return lent;
}

/**
 * dcqcn_ccc_offer() - a data packet leaves whose peer has not agreed yet
 * @qp: its QP
 * @skb: the packet; tells the peer that we are here, if it is time for that
 * @now: ns
 *
 * Context: @qp->lock is held, with BH disabled.
 */
void dcqcn_ccc_offer(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now)
{
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc_sender *tx;
	struct dcqcn_ccc *ccc;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc || !bth)
		return;
	tx = &ccc->tx;
	settings = rcu_dereference_bh(qp->dev->settings);
	spin_lock(&ccc->lock);
	dcqcn_ccc_settle(tx, now);
	/* the setting has changed here, and may have at the peer */
	if (tx->agreed && tx->agreed != settings->ccc.algorithms) {
		dcqcn_ccc_set_agreed(ccc, 0);
		tx->offer_gap = DCQCN_CCC_OFFER_MIN;
	}
	if (settings->ccc.algorithms && !tx->agreed &&
	    (!tx->offer_time ||
	     dcqcn_ccc_since(now, tx->offer_time) >= tx->offer_gap)) {
		if (tx->offer_time)
			tx->offer_gap = min(2 * tx->offer_gap,
					    DCQCN_CCC_OFFER_MAX);
		tx->offer_time = now;
		dcqcn_ccc_probe(tx, qp->qpn, dcqcn_bth_qpn(bth),
				dcqcn_bth_psn(bth), false, now);
		bth->qpn |= cpu_to_be32(DCQCN_BTH_CAPABLE | DCQCN_BTH_REQUEST);
	}
	spin_unlock(&ccc->lock);
}

/**
 * dcqcn_ccc_output() - a data packet of a QP leaves rxe
 * @qp: the QP
 * @settings: the port's, set to use contexts
 * @skb: the packet
 * @prio: its priority
 *
 * Gives the QP a context unless it has one, and offers it to the peer until that agrees.
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock.
 */
void dcqcn_ccc_output(struct dcqcn_qp *qp,
		      const struct dcqcn_settings *settings,
		      struct sk_buff *skb, u8 prio)
{
	struct in6_addr local, peer;
	struct dcqcn_ccc *ccc;
	struct dcqcn_pkt pkt;

	ccc = rcu_dereference(qp->ccc);
	if (ccc && READ_ONCE(ccc->tx.agreed) == settings->ccc.algorithms)
		return;
	pkt.ip = skb_network_header(skb);
	pkt.v6 = ip_hdr(skb)->version == 6;
	dcqcn_pkt_saddr(&pkt, &local);
	dcqcn_pkt_daddr(&pkt, &peer);
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && qp->type != IB_QPT_UD &&
	    !READ_ONCE(qp->dev->stopping) && dcqcn_qp_is_peer(qp, &peer)) {
		ccc = rcu_dereference_protected(qp->ccc,
						lockdep_is_held(&qp->lock));
		if (!ccc)
			ccc = dcqcn_ccc_join(qp, &local, &peer, prio);
		/* or else when it leaves the limiter */
		if (ccc && !qp->flow.limited)
			dcqcn_ccc_offer(qp, skb, ktime_get_ns());
	}
	spin_unlock_bh(&qp->lock);
}

/* Take out the probe that feedback echoes. All that are older are overtaken. */
static bool dcqcn_ccc_echoed(struct dcqcn_ccc_sender *tx,
			     const struct dcqcn_feedback *said,
			     struct dcqcn_probe *probe, bool *late)
{
	u32 qpn = be32_to_cpu(said->echo_qpn), psn = be32_to_cpu(said->echo_psn);
	int i;

	if (!(said->flags & DCQCN_FEEDBACK_ECHO))
		return false;
	for (i = 0; i < tx->num_probes; i++) {
		if (tx->probes[i].qpn == qpn && tx->probes[i].psn == psn)
			break;
	}
	if (i == tx->num_probes)
		return false;
	*probe = tx->probes[i];
	*late = dcqcn_ccc_take_probe(tx, i);
	if (!*late)
		tx->num_overtaken = i;
	return probe->time;
}

/* The peer starts its counts, or restarts them */
static void dcqcn_ccc_begin(struct dcqcn_ccc *ccc,
			    const struct dcqcn_settings *settings,
			    const struct dcqcn_feedback *said,
			    const struct dcqcn_probe *probe, u64 now)
{
	struct dcqcn_nscc_params params = dcqcn_ccc_params(ccc, settings);
	struct dcqcn_ccc_sender *tx = &ccc->tx;

	tx->epoch = be32_to_cpu(said->epoch);
	tx->received = be32_to_cpu(said->echo_received);
	tx->peer_marked = be32_to_cpu(said->marked);
	tx->offset = probe->sent - tx->received;
	tx->newly = 0;
	tx->marked = false;
	if (tx->agreed)
		return;
	tx->acked = tx->sent;
	tx->offset = tx->sent - tx->received;
	tx->unasked = DCQCN_CCC_ASK;
	dcqcn_nscc_init(&tx->window, &params, settings->ccc.initial_window, now);
	tx->limit = tx->sent + max(settings->ccc.initial_window, 1U);
	dcqcn_ccc_set_agreed(ccc, settings->ccc.algorithms);
}

/* More has arrived, and perhaps less than was sent */
static void dcqcn_ccc_count(struct dcqcn_ccc_sender *tx,
			    const struct dcqcn_feedback *said,
			    const struct dcqcn_probe *probe)
{
	u32 received = be32_to_cpu(said->received);
	u32 marked = be32_to_cpu(said->marked);
	s32 lost = 0, over;

	if (probe)
		lost = probe->sent - be32_to_cpu(said->echo_received) -
		       tx->offset;
	tx->offset += lost;
	if (lost > 0)
		dcqcn_nscc_loss(&tx->window, lost);
	tx->newly += received - tx->received;
	tx->marked |= marked != tx->peer_marked;
	tx->received = received;
	tx->peer_marked = marked;
	tx->acked = received + tx->offset;
	over = tx->acked - tx->sent;
	if (over > 0) {
		tx->acked -= over;
		tx->offset -= over;
	}
	tx->newly = min(tx->newly, DCQCN_NSCC_BDP_MAX);
}

/* Whether feedback may be true: no more has arrived than was sent, nor was lost, and what
 * arrived before has not gone, unless a later report has overtaken this one. What a
 * timeout took for lost may arrive all the same.
 */
static bool dcqcn_ccc_is_plausible(const struct dcqcn_ccc_sender *tx,
				   const struct dcqcn_feedback *said, bool same,
				   const struct dcqcn_probe *probe)
{
	u32 echo_received = be32_to_cpu(said->echo_received);
	u32 acked = same ? tx->received + tx->offset : tx->acked;
	s64 most = (s64)(tx->sent - acked) + DCQCN_CCC_SLACK;
	s32 more, lost = 0;

	more = be32_to_cpu(said->received) -
	       (same ? tx->received : echo_received);
	if (same && probe)
		lost = probe->sent - echo_received - tx->offset;
	return more >= 0 && more <= most && lost >= -DCQCN_CCC_SLACK &&
	       lost <= most;
}

/* A packet of a flow has arrived, which may take another path. Return its QP if it waited
 * for that.
 */
static struct dcqcn_qp *dcqcn_ccc_reroute(struct dcqcn_ccc *ccc,
					  const struct dcqcn_probe *probe,
					  bool marked, u64 now)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(ccc->dev, probe->local);
	struct dcqcn_route *route;
	bool idle, held;

	route = qp ? dcqcn_ccc_route(ccc, qp) : NULL;
	if (!route)
		return NULL;
	idle = route->sent == probe->sent && !route->lent;
	if (route->turn == DCQCN_TURN_NONE) {
		if (!dcqcn_entropy_echo(&route->entropy, marked, idle,
					ccc->tx.rtt, now))
			return NULL;
		route->turn = DCQCN_TURN_WANTED;
	}
	if (!idle)
		return NULL;
	held = route->turn == DCQCN_TURN_HELD;
	route->turn = DCQCN_TURN_NONE;
	dcqcn_entropy_change(&route->entropy, get_random_u32());
	ccc->tx.entropy_changes++;
	dcqcn_count(ccc->dev, DCQCN_RP_ENTROPY_CHANGES);
	trace_dcqcn_entropy_changed(qp, &route->entropy);
	return held ? qp : NULL;
}

/* Feedback for a context whose lock is held. Return whether it was taken. A QP that goes on
 * with it on another path is in *turned.
 */
static bool dcqcn_ccc_hear(struct dcqcn_ccc *ccc,
			   const struct dcqcn_settings *settings,
			   const struct dcqcn_feedback *said, u64 now,
			   struct dcqcn_qp **turned)
{
	struct dcqcn_nscc_params params;
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_probe probe;
	bool late = false;
	bool echoed = dcqcn_ccc_echoed(tx, said, &probe, &late);
	bool same = tx->agreed && be32_to_cpu(said->epoch) == tx->epoch;
	bool more = !same || be32_to_cpu(said->received) != tx->received;
	u64 rtt;

	dcqcn_ccc_settle(tx, now);
	if (!same && !echoed)
		return false;
	/* what is missing before one that was overtaken is not known to be lost */
	if (!dcqcn_ccc_is_plausible(tx, said, same,
				    echoed && !late ? &probe : NULL))
		return false;
	if (said->algorithms != settings->ccc.algorithms) {
		dcqcn_ccc_set_agreed(ccc, 0);
		return true;
	}
	tx->mbps = be32_to_cpu(said->mbps);
	if (!same)
		dcqcn_ccc_begin(ccc, settings, said, &probe, now);
	dcqcn_ccc_count(tx, said, echoed && same && !late ? &probe : NULL);
	tx->limit = tx->acked + be32_to_cpu(said->ahead);
	/* what neither says that more has arrived nor lets more leave must not keep a
	 * context waiting for ever
	 */
	if (more || (dcqcn_ccc_in_window(tx) && dcqcn_ccc_has_credit(tx))) {
		tx->heard_time = now;
		tx->timeouts = 0;
	}
	tx->offer_gap = DCQCN_CCC_OFFER_MIN;
	if (!echoed)
		return true;
	rtt = now - probe.time;
	rtt -= min_t(u64, rtt, be32_to_cpu(said->echo_held));
	/* where nothing takes time, it is 0 */
	tx->rtt = min_t(u64, rtt, DCQCN_NSCC_RTT_MAX) ?: 1;
	params = dcqcn_ccc_params(ccc, settings);
	dcqcn_nscc_feedback(&tx->window, &params, tx->newly, tx->rtt, tx->marked,
			    now);
	trace_dcqcn_ccc_heard(ccc, &params, tx->newly, tx->marked);
	tx->newly = 0;
	tx->marked = false;
	if (settings->ccc.entropy)
		*turned = dcqcn_ccc_reroute(ccc, &probe, said->flags &
					    DCQCN_FEEDBACK_MARKED, now);
	return true;
}

/* Let flows go on that wait, one after the other */
static void dcqcn_ccc_wake(struct dcqcn_ccc *ccc)
{
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_qp *qp;
	int n;

	for (n = 0; n < DCQCN_CCC_WAKES; n++) {
		spin_lock_bh(&ccc->lock);
		qp = NULL;
		if (!tx->agreed ||
		    (dcqcn_ccc_in_window(tx) && dcqcn_ccc_has_credit(tx)))
			qp = list_first_entry_or_null(&tx->waiting,
						      struct dcqcn_qp,
						      wait_node);
		if (qp)
			list_del_init(&qp->wait_node);
		spin_unlock_bh(&ccc->lock);
		if (!qp)
			break;
		dcqcn_pacer_kick(qp);
	}
}

/**
 * dcqcn_ccc_feedback() - a packet of opcode 0xc1 came in
 * @dev: the port it came to
 * @skb: the packet; stays the caller's, and may become linear
 * @pkt: @skb, parsed; parsed again if @skb moves
 *
 * Context: softirq, under RCU. Takes locks of the context and of QPs; may send.
 */
void dcqcn_ccc_feedback(struct dcqcn_dev *dev, struct sk_buff *skb,
			struct dcqcn_pkt *pkt)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	const struct dcqcn_feedback *said;
	struct in6_addr local, peer;
	struct dcqcn_qp *turned = NULL;
	struct dcqcn_ccc *ccc;
	bool taken = false;

	if (!settings->ccc.algorithms || READ_ONCE(dev->stopping) ||
	    skb->pkt_type != PACKET_HOST)
		goto ignore;
	if (skb_is_nonlinear(skb)) {
		if (skb_linearize(skb))
			goto ignore;
		dcqcn_pkt_parse(pkt, skb_network_header(skb), skb->len);
	}
	if (!dcqcn_pkt_is_valid_feedback(pkt))
		goto ignore;
	said = (const void *)(pkt->udp + 1);
	dcqcn_pkt_saddr(pkt, &peer);
	dcqcn_pkt_daddr(pkt, &local);
	ccc = dcqcn_ccc_find(dev, &local, &peer, said->prio);
	if (!ccc)
		goto ignore;
	spin_lock_bh(&ccc->lock);
	taken = dcqcn_ccc_hear(ccc, settings, said, ktime_get_ns(), &turned);
	/* flows that had some may go on with it */
	if (taken && ccc->tx.agreed)
		dcqcn_ccc_lend(&ccc->tx);
	spin_unlock_bh(&ccc->lock);
	if (turned)
		dcqcn_pacer_kick(turned);
	if (taken)
		dcqcn_ccc_wake(ccc);
ignore:
	dcqcn_count(dev, taken ? DCQCN_RP_FEEDBACK_HANDLED :
				 DCQCN_RP_FEEDBACK_IGNORED);
}

/**
 * dcqcn_ccc_look() - take a snapshot of a context
 * @ccc: the context
 * @view: the snapshot
 *
 * Context: under RCU; process or softirq. Takes the context's lock.
 */
void dcqcn_ccc_look(struct dcqcn_ccc *ccc, struct dcqcn_ccc_view *view)
{
	const struct dcqcn_ccc_receiver *rx = &ccc->rx;
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_nscc_params params;

	spin_lock_bh(&ccc->lock);
	dcqcn_ccc_settle(tx, ktime_get_ns());
	params = dcqcn_ccc_params(ccc, rcu_dereference(ccc->dev->settings));
	*view = (struct dcqcn_ccc_view) {
		.local = ccc->local,
		.peer = ccc->peer,
		.prio = ccc->prio,
		.agreed = tx->agreed,
		.qps = READ_ONCE(ccc->refs),
		.line = params.mbps * DCQCN_BPS_PER_MBPS,
		.base = dcqcn_nscc_base(&tx->window, &params),
		.target = dcqcn_nscc_target(&tx->window, &params),
		.rtt = tx->rtt,
		.delay = dcqcn_nscc_delay(&tx->window),
		.bdp = dcqcn_nscc_bdp(&tx->window, &params),
		.max_window = dcqcn_nscc_max(&tx->window, &params),
		.window = tx->window.cwnd,
		.flight = dcqcn_ccc_flight(tx),
		.credit = dcqcn_ccc_credit(tx),
		.received = rx->received,
		.marked = rx->marked,
		.granted = rx->source.ahead,
		.asks = rx->source.asks,
		.entropy_changes = tx->entropy_changes,
	};
	spin_unlock_bh(&ccc->lock);
}
