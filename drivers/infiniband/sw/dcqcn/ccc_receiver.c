// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's half of congestion control contexts: it counts what a peer sends, answers
 * with feedback, and grants credit. The sender's half is in agree.c, window.c and hear.c, which
 * say how the two work together.
 *
 * Feedback leaves in answer to offers and requests, and after a number of bytes without either. One
 * hrtimer per port grants credit (rccc.c) in turn to the senders that ask, and each grant is
 * feedback too. The port owes for bytes that arrive without a grant: it grants that much less.
 *
 * Most packets carry neither a mark nor a request. They are only counted, without parsing all of
 * their headers and without reading the clock (dcqcn_ccc_receive_plain()).
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "ccc.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "rx.h"
#include "xmit.h"

#define DCQCN_UNGRANTED_SHIFT	10	/* ns -> the unit of dcqcn_credit.ungranted_since */

/* Bytes; half a grant. A port may send one packet of feedback in the time that its line takes for
 * these, or a million per second if that is more.
 */
#define DCQCN_CCC_SAY_BYTES	(DCQCN_RCCC_QUANTUM / 2)

#define DCQCN_CCC_TURNS		64	/* turns each time the timer fires */
#define DCQCN_CCC_SKIPS		8U	/* turns in a row that take no time */

/* Least time between two packets of feedback that grant a source nothing */
#define DCQCN_CCC_REPEAT_NS	(20ULL * NSEC_PER_USEC)

/* Whether the port may send feedback now. If not, the answer stays pending, and nothing is granted.
 */
static bool dcqcn_ccc_may_say(struct dcqcn_dev *dev,
			      const struct dcqcn_settings *settings)
{
	u64 gap = div64_u64(DCQCN_CCC_SAY_BYTES * 8ULL * NSEC_PER_SEC,
			    dcqcn_dev_line(dev, settings));

	if (dcqcn_xmit_charge(&dev->answers.feedback_paid,
			      clamp(gap, 1ULL, (u64)DCQCN_XMIT_GAP_NS)))
		return true;
	dcqcn_count(dev, DCQCN_NP_FEEDBACK_ERRORS);
	return false;
}

/* Fill in feedback that leaves now; the context's lock is held */
static void dcqcn_ccc_say(struct dcqcn_ccc *ccc,
			  const struct dcqcn_settings *settings, u64 now,
			  struct dcqcn_feedback *say)
{
	struct dcqcn_ccc_receiver *rx = &ccc->rx;
	u64 line = dcqcn_dev_line(ccc->dev, settings);
	u64 held = now - rx->echo_time;

	*say = (struct dcqcn_feedback) {
		.version = DCQCN_FEEDBACK_VERSION,
		.algorithms = settings->ccc.algorithms,
		.prio = ccc->prio,
		.flags = (rx->has_echo ? DCQCN_FEEDBACK_ECHO : 0) |
			 (rx->has_echo && rx->echo_marked ?
			  DCQCN_FEEDBACK_MARKED : 0) |
			 (rx->source.backlog ? DCQCN_FEEDBACK_OWED : 0),
		.epoch = cpu_to_be32(rx->epoch),
		.received = cpu_to_be32(rx->received),
		.marked = cpu_to_be32(rx->marked),
		.ahead = cpu_to_be32(rx->source.ahead),
		.mbps = cpu_to_be32(div_u64(line, DCQCN_BPS_PER_MBPS)),
		.echo_qpn = cpu_to_be32(rx->echo_qpn),
		.echo_psn = cpu_to_be32(rx->echo_psn),
		.echo_received = cpu_to_be32(rx->echo_received),
		.echo_held = cpu_to_be32(min(held, (u64)U32_MAX)),
		.arrived = cpu_to_be32(rx->echo_time),
	};
	rx->feedback_time = now;
	rx->has_echo = false;
	rx->echo_waits = false;
	rx->unreported = 0;
}

static void dcqcn_ccc_xmit(struct dcqcn_ccc *ccc, struct net *net,
			   const struct dcqcn_settings *settings,
			   const struct dcqcn_feedback *say)
{
	struct dcqcn_cnp_spec spec = {
		.saddr = ccc->local,
		.daddr = ccc->peer,
		.pkey = READ_ONCE(ccc->rx.pkey),
	};
	int err;

	err = dcqcn_xmit(net, READ_ONCE(ccc->rx.ifindex), settings, &spec, say);
	dcqcn_count(ccc->dev, err ? DCQCN_NP_FEEDBACK_ERRORS :
				    DCQCN_NP_FEEDBACK_SENT);
}

/* A source asks for credit: it gets its turn from now on */
static void dcqcn_ccc_grant(struct dcqcn_ccc *ccc)
{
	struct dcqcn_dev *dev = ccc->dev;
	bool first;

	spin_lock_bh(&dev->credit.lock);
	if (!ccc->dead && list_empty(&ccc->rx.grant_node) &&
	    !READ_ONCE(dev->stopping)) {
		dev->credit.num++;
		first = list_empty(&dev->credit.sources);
		list_add_tail(&ccc->rx.grant_node, &dev->credit.sources);
		if (first)
			hrtimer_start(&dev->credit.timer, 0,
				      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&dev->credit.lock);
}

/* If half of the bytes of a grant have come, after those that were granted before, the time since
 * the grant is a round trip or more, unless a mark shows that they waited in a queue.
 */
static void dcqcn_ccc_time_grant(struct dcqcn_ccc_receiver *rx, u64 now)
{
	u32 rtt;

	if (!rx->rtt_time || (s32)(rx->received - rx->rtt_received) < 0)
		return;
	rtt = min(now - rx->rtt_time, (u64)DCQCN_NSCC_RTT_MAX);
	if (rx->marked == rx->rtt_marked)
		rx->rtt = min(rx->rtt ?: DCQCN_NSCC_RTT_MAX, max(rtt, 1U));
	rx->rtt_time = 0;
}

/* A sender begins, or begins again after a pause. It may still use earlier grants, or send without
 * credit because feedback was late. Such packets may come sooner than a round trip after the next
 * grant, so no grant is timed until DCQCN_RCCC_OWED_MAX bytes have come, or up to twice as many.
 * The number varies because with a fixed one, messages of one size could end each wait at a place
 * in a message that no grant follows. After a second none of these packets is left, and the path
 * may be another one.
 */
static void dcqcn_ccc_resume(struct dcqcn_ccc_receiver *rx,
			     const struct dcqcn_settings *settings, u64 now)
{
	u32 old = rx->received + max(rx->source.ahead, 0);

	if (now - rx->time > NSEC_PER_SEC) {
		rx->rtt = 0;
		rx->rtt_time = 0;
	} else {
		if (!rx->rtt_time || !rx->rtt_blocked)
			rx->rtt_received = old + DCQCN_RCCC_OWED_MAX +
					   hash_32(old, ilog2(DCQCN_RCCC_OWED_MAX));
		else if ((s32)(old - rx->rtt_received) > 0)
			rx->rtt_received = old;
		rx->rtt_blocked = true;
		rx->rtt_time = now;
		rx->rtt_marked = rx->marked - 1;
	}
	dcqcn_rccc_restart(&rx->source, max(settings->ccc.initial_window, 1U));
}

/* Credit above which a source gets no more */
static u32 dcqcn_ccc_most(const struct dcqcn_ccc *ccc, const struct dcqcn_settings *settings)
{
	u32 rtt = settings->ccc.base_rtt * NSEC_PER_USEC;

	return dcqcn_rccc_most(dcqcn_dev_line(ccc->dev, settings),
			       min(rtt ?: ccc->rx.rtt, DCQCN_NSCC_RTT_MAX),
			       ccc->dev->credit.num);
}

/* Grant a source credit, if it asks for some and does not have too much. Return whether it got
 * some.
 */
static bool dcqcn_ccc_grant_one(struct dcqcn_ccc_receiver *rx, u32 most, u64 now)
{
	u32 before = max(rx->source.ahead, 0);

	if (!dcqcn_rccc_grant(&rx->source, most))
		return false;
	if (!rx->rtt_time) {
		rx->rtt_time = now;
		rx->rtt_received = rx->received + before + DCQCN_RCCC_QUANTUM / 2;
		rx->rtt_marked = rx->marked;
		rx->rtt_blocked = false;
	}
	return true;
}

/* Count bytes that came without credit. Stop at the bound: a port that grants nothing must not
 * build up endless debt.
 */
static void dcqcn_ccc_owe(struct dcqcn_dev *dev, u32 bytes)
{
	u32 before = atomic_read(&dev->credit.ungranted);

	if (!bytes || before >= DCQCN_RCCC_OWED_MAX)
		return;
	if (!before)
		WRITE_ONCE(dev->credit.ungranted_since,
			   ktime_get_ns() >> DCQCN_UNGRANTED_SHIFT);
	atomic_add(min(bytes, DCQCN_RCCC_OWED_MAX), &dev->credit.ungranted);
}

/* Whether to repeat feedback to a source that does not use its credit, as the last feedback may
 * have been lost. A source that stays silent gets feedback ever more rarely.
 */
static bool dcqcn_ccc_repeats(const struct dcqcn_ccc_receiver *rx, u64 now)
{
	return now - rx->feedback_time >= max((now - rx->time) / 2, DCQCN_CCC_REPEAT_NS);
}

/* Handle a source's turn. If it has enough credit, the next turn comes at once, unless many turns
 * in a row granted nothing. The lock of the grants is held. Return whether feedback must be sent.
 */
static bool dcqcn_ccc_turn(struct dcqcn_ccc *ccc,
			   const struct dcqcn_settings *settings,
			   struct dcqcn_feedback *say)
{
	struct dcqcn_ccc_receiver *rx = &ccc->rx;
	struct dcqcn_dev *dev = ccc->dev;
	u64 line = dcqcn_dev_line(dev, settings);
	bool granted, says;
	u32 most;
	u64 now;

	spin_lock(&ccc->lock);
	now = ktime_get_ns();	/* read under the lock, so that no time in @rx is later */
	/* A source that has used up all credit can only wait for its turn, which may take longer
	 * than a pause. One that owes more than this grant is silent for another reason.
	 */
	if (rx->source.ahead <= 0 && rx->source.ahead > -(s32)DCQCN_RCCC_QUANTUM)
		rx->time = now;
	if (!(settings->ccc.algorithms & DCQCN_CCC_RCCC) ||
	    dcqcn_ccc_is_pause(now - rx->time, line))
		rx->source.backlog = 0;
	most = dcqcn_ccc_most(ccc, settings);
	says = dcqcn_rccc_may_grant(&rx->source, most) || rx->echo_waits ||
	       (rx->source.backlog && dcqcn_ccc_repeats(rx, now));
	/* a turn that sends no feedback costs none of the budget for it */
	if (says && !dcqcn_ccc_may_say(dev, settings)) {
		dcqcn_rccc_charge(&dev->credit.pace, line);
		list_move_tail(&rx->grant_node, &dev->credit.sources);
		says = false;
		goto unlock;
	}
	granted = dcqcn_ccc_grant_one(rx, most, now);
	if (granted ||
	    ++dev->credit.skipped >= min(dev->credit.num, DCQCN_CCC_SKIPS)) {
		dcqcn_rccc_charge(&dev->credit.pace, line);
		dev->credit.skipped = 0;
	}
	if (rx->source.backlog)
		list_move_tail(&rx->grant_node, &dev->credit.sources);
	else
		dcqcn_ccc_ungrant(ccc);
	if (says)
		dcqcn_ccc_say(ccc, settings, now, say);
unlock:
	spin_unlock(&ccc->lock);
	return says;
}

/* The next source, if credit may be granted now. If not, *due is the time when it may be, or 0 if
 * no source asks. The lock is held.
 */
static struct dcqcn_ccc *
dcqcn_ccc_next_turn(struct dcqcn_dev *dev, const struct dcqcn_settings *settings,
		    u64 now, u64 *due)
{
	u64 line, since;

	*due = 0;
	if (list_empty(&dev->credit.sources) || READ_ONCE(dev->stopping))
		return NULL;
	line = dcqcn_dev_line(dev, settings);
	if (atomic_read(&dev->credit.ungranted)) {
		since = (u32)(now >> DCQCN_UNGRANTED_SHIFT) -
			READ_ONCE(dev->credit.ungranted_since);
		/* time before these bytes came does not pay for them */
		dcqcn_rccc_due(&dev->credit.pace, line,
			       now - min(now, since << DCQCN_UNGRANTED_SHIFT));
		dcqcn_rccc_owe(&dev->credit.pace,
			       atomic_xchg(&dev->credit.ungranted, 0));
	}
	*due = dcqcn_rccc_due(&dev->credit.pace, line, now);
	return *due > now ? NULL : list_first_entry(&dev->credit.sources,
						    struct dcqcn_ccc,
						    rx.grant_node);
}

/* A port may grant credit again. Takes the lock of the grants, and contexts' locks below it; sends
 * feedback.
 */
static enum hrtimer_restart dcqcn_ccc_grants(struct hrtimer *timer)
{
	struct dcqcn_dev *dev = container_of(timer, struct dcqcn_dev, credit.timer);
	const struct dcqcn_settings *settings;
	struct dcqcn_feedback say;
	struct dcqcn_ccc *ccc;
	int n = 0;
	bool says;
	u64 due;

	rcu_read_lock();
	settings = rcu_dereference(dev->settings);
	spin_lock(&dev->credit.lock);	/* BH is off already */
	while ((ccc = dcqcn_ccc_next_turn(dev, settings, ktime_get_ns(),
					  &due)) &&
	       n++ < DCQCN_CCC_TURNS) {
		says = dcqcn_ccc_turn(ccc, settings, &say);
		spin_unlock(&dev->credit.lock);
		if (says)
			dcqcn_ccc_xmit(ccc, dev_net(dev->ndev), settings, &say);
		spin_lock(&dev->credit.lock);
	}
	/* a first source that was added meanwhile has restarted the timer */
	if (hrtimer_is_queued(timer))
		due = 0;
	if (due)
		hrtimer_set_expires(timer, ns_to_ktime(due));
	spin_unlock(&dev->credit.lock);
	rcu_read_unlock();
	return due ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/**
 * dcqcn_ccc_credit_init() - set up the granting of credit to a port's peers
 * @dev: the port
 */
void dcqcn_ccc_credit_init(struct dcqcn_dev *dev)
{
	spin_lock_init(&dev->credit.lock);
	INIT_LIST_HEAD(&dev->credit.sources);
	hrtimer_setup(&dev->credit.timer, dcqcn_ccc_grants, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * dcqcn_ccc_keep_offer() - keep an offer, or a question, until its QP is resolved
 * @qp: the QP, which is being resolved, and whose lock is held
 * @event: the offer
 *
 * Without this, the next offer might come only a round trip later, and DCQCN would limit the peer
 * until then. If the peer obeys a context already, it has counted these packets, so they must be
 * counted here, too. A CE or a CNP from the same peer may wait beside it.
 *
 * Context: any. Return: whether it was kept.
 */
bool dcqcn_ccc_keep_offer(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	struct dcqcn_waiting *waiting = dcqcn_qp_wait(qp);
	struct dcqcn_event ce;

	if (!waiting)
		return false;
	if (((waiting->event.offer || waiting->ce || waiting->cnps) &&
	     !ipv6_addr_equal(&waiting->event.saddr, &event->saddr)) ||
	    (waiting->ce && waiting->event.ud)) {
		dcqcn_count(qp->dev, DCQCN_CCC_ERRORS);
		return false;
	}
	if (!waiting->event.offer) {
		ce = waiting->event;
		waiting->event = *event;
		/* for the CNP that answers a CE: its cost, and whether it is enabled */
		waiting->event.len = ce.len;
		waiting->event.prio = ce.prio;
		return true;
	}
	if (waiting->event.asks || !event->bytes)
		return false;
	waiting->event.bytes += event->bytes;
	waiting->event.asked += event->asked;
	if (event->time) {
		waiting->event.offer_psn = event->offer_psn;
		waiting->event.time = event->time;
	}
	return true;
}

/* The context that counts a packet for a live QP that has none; the QP's lock is held. The QP joins
 * it, unless its own packets have another priority. Then the peer's end may obey the context that
 * other QPs have agreed on, as the peer chooses it by the priority of what it sends.
 */
static struct dcqcn_ccc *dcqcn_ccc_admit(struct dcqcn_qp *qp, const struct dcqcn_event *event,
					 u8 prio)
{
	if (qp->state != DCQCN_QP_LIVE || qp->type == IB_QPT_UD ||
	    READ_ONCE(qp->dev->stopping) || !dcqcn_qp_is_peer(qp, &event->saddr))
		return NULL;
	if (qp->prio == prio)
		return dcqcn_ccc_join(qp, &event->daddr, &event->saddr, prio);
	return event->bytes ? dcqcn_ccc_find(qp->dev, &event->daddr, &event->saddr, prio) : NULL;
}

/* Return the context that was offered, if the QP may join it, or has joined it meanwhile, when it
 * sent or received other data; or that counts the packets that have waited
 */
static struct dcqcn_ccc *dcqcn_ccc_accept(struct dcqcn_qp *qp,
					  const struct dcqcn_event *event)
{
	u8 prio = event->offer_psn >> DCQCN_OFFER_PRIO_SHIFT;
	struct dcqcn_ccc *ccc;

	spin_lock_bh(&qp->lock);
	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc)
		ccc = dcqcn_ccc_admit(qp, event, prio);
	spin_unlock_bh(&qp->lock);
	if (!ccc || !ipv6_addr_equal(&ccc->local, &event->daddr) ||
	    !ipv6_addr_equal(&ccc->peer, &event->saddr))
		return NULL;
	if (ccc->prio != prio)
		ccc = event->bytes ? dcqcn_ccc_find(qp->dev, &ccc->local, &ccc->peer, prio) : NULL;
	return ccc;
}

/* Count a packet's bytes, for its QP as well; it asks for @asked bytes of credit. Inline, because
 * most received packets pass here.
 */
static __always_inline void
dcqcn_ccc_add(struct dcqcn_ccc *ccc, struct dcqcn_qp *qp,
	      const struct dcqcn_settings *settings, u32 bytes, u32 asked)
{
	struct dcqcn_route *route = dcqcn_ccc_route(ccc, qp);
	struct dcqcn_ccc_receiver *rx = &ccc->rx;

	rx->received += bytes;
	rx->unreported += bytes;
	if (route)
		route->received += bytes;
	if (!(settings->ccc.algorithms & DCQCN_CCC_RCCC))
		return;
	if (asked || !dcqcn_rccc_is_even(&rx->source, bytes, settings->ccc.initial_window))
		bytes = dcqcn_rccc_received(&rx->source, bytes, asked,
					    max(settings->ccc.initial_window, 1U));
	dcqcn_ccc_owe(ccc->dev, bytes);
}

/* A request has arrived: the next feedback answers it */
static void dcqcn_ccc_echo(struct dcqcn_ccc_receiver *rx, u32 qpn, u32 psn,
			   bool marked, u64 time)
{
	rx->has_echo = true;
	rx->echo_marked = marked;
	rx->echo_qpn = qpn;
	rx->echo_psn = psn;
	rx->echo_received = rx->received;
	rx->echo_time = time;
}

/**
 * dcqcn_ccc_resolved() - answer the offer that waited for a QP to be resolved
 * @qp: the QP, now live or absent
 * @event: the offer
 *
 * Context: process, BH on. Takes locks of the context and the QP; may send.
 */
void dcqcn_ccc_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc_receiver *rx;
	struct dcqcn_feedback say;
	struct dcqcn_ccc *ccc;
	bool says, asks;
	u64 now;

	rcu_read_lock();
	settings = rcu_dereference(qp->dev->settings);
	if (!settings->ccc.algorithms)
		goto unlock;
	ccc = dcqcn_ccc_accept(qp, event);
	if (!ccc)
		goto unlock;
	rx = &ccc->rx;
	spin_lock_bh(&ccc->lock);
	now = ktime_get_ns();
	WRITE_ONCE(rx->ifindex, event->ifindex);
	WRITE_ONCE(rx->pkey, event->pkey);
	if (dcqcn_ccc_is_pause(now - rx->time, dcqcn_dev_line(qp->dev, settings)))
		dcqcn_ccc_resume(rx, settings, now);
	if (event->bytes)
		dcqcn_ccc_add(ccc, qp, settings, event->bytes, event->asked);
	rx->time = now;
	if (event->time)
		dcqcn_ccc_echo(rx, qp->qpn, event->offer_psn & DCQCN_QPN_MASK,
			       false, event->time);
	says = dcqcn_ccc_may_say(qp->dev, settings);
	asks = rx->source.backlog && list_empty(&rx->grant_node);
	if (says)
		dcqcn_ccc_say(ccc, settings, now, &say);
	spin_unlock_bh(&ccc->lock);
	if (says)
		dcqcn_ccc_xmit(ccc, dev_net(qp->dev->ndev), settings, &say);
	if (asks)
		dcqcn_ccc_grant(ccc);
unlock:
	rcu_read_unlock();
}

/* The context that counts a packet that a QP received; NULL if the packet is not from its peer, or
 * if there is no context of its priority. Sets *later if the packet will be counted once the QP is
 * resolved.
 */
static struct dcqcn_ccc *dcqcn_ccc_of(struct dcqcn_qp *qp, const struct dcqcn_rx *in,
				      u32 bits, bool *later)
{
	const struct dcqcn_pkt *pkt = &in->pkt;
	u8 prio = dcqcn_pkt_prio(pkt);
	struct dcqcn_event event;
	struct dcqcn_ccc *ccc;

	ccc = rcu_dereference(qp->ccc);
	if (unlikely(!ccc)) {
		event = (struct dcqcn_event) {
			.time = bits & DCQCN_BTH_REQUEST ? ktime_get_ns() : 0,
			.offer_psn = (u32)prio << DCQCN_OFFER_PRIO_SHIFT | pkt->psn,
			.ifindex = in->skb->dev->ifindex,
			.pkey = pkt->pkey,
			.offer = true,
		};
		if (bits & DCQCN_BTH_WINDOWED) {
			event.bytes = in->skb->len + ETH_HLEN;
			event.asked = max(dcqcn_bth_asked(bits), 0) * DCQCN_RCCC_QUANTUM;
		}
		dcqcn_ip_saddr(pkt->ip, &event.saddr);
		dcqcn_ip_daddr(pkt->ip, &event.daddr);
		spin_lock_bh(&qp->lock);
		ccc = rcu_dereference_protected(qp->ccc,
						lockdep_is_held(&qp->lock));
		if (!ccc && qp->state == DCQCN_QP_RESOLVING &&
		    bits & (DCQCN_BTH_REQUEST | DCQCN_BTH_WINDOWED))
			*later = dcqcn_ccc_keep_offer(qp, &event) && event.bytes;
		else if (!ccc)
			ccc = dcqcn_ccc_admit(qp, &event, prio);
		spin_unlock_bh(&qp->lock);
	}
	if (!ccc || !dcqcn_ip_is_to(pkt->ip, &ccc->local) ||
	    !dcqcn_ip_is_from(pkt->ip, &ccc->peer))
		return NULL;
	if (unlikely(ccc->prio != prio))
		ccc = bits & DCQCN_BTH_WINDOWED ?
		      dcqcn_ccc_find(qp->dev, &ccc->local, &ccc->peer, prio) : NULL;
	return ccc;
}

/**
 * dcqcn_ccc_other() - account for a received packet that no context counts
 * @dev: the port it came to
 * @skb: the packet
 *
 * The packet uses the link too, so the port grants that much less.
 *
 * Context: softirq, under RCU.
 */
void dcqcn_ccc_other(struct dcqcn_dev *dev, const struct sk_buff *skb)
{
	if (rcu_dereference(dev->settings)->ccc.algorithms & DCQCN_CCC_RCCC)
		dcqcn_ccc_owe(dev, skb->len + ETH_HLEN);
}

/* Count a packet's bytes for its path. If it is a request, return whether at least half of the
 * bytes for its QP since the last request were marked.
 */
static bool dcqcn_ccc_marked(struct dcqcn_route *route,
			     const struct dcqcn_pkt *pkt, u32 bits, u32 bytes)
{
	bool marked;

	if (dcqcn_pkt_ecn(pkt) == DCQCN_ECN_CE)
		route->marked += bytes;
	if (!(bits & DCQCN_BTH_REQUEST))
		return false;
	marked = 2ULL * route->marked >= route->received;
	route->received = 0;
	route->marked = 0;
	return marked;
}

/* Count a packet of a QP. Return whether feedback must leave at once. */
static bool dcqcn_ccc_arrived(struct dcqcn_ccc *ccc, struct dcqcn_qp *qp,
			      const struct dcqcn_settings *settings,
			      const struct dcqcn_pkt *pkt, u32 bits, u32 bytes,
			      u64 now)
{
	bool nscc = settings->ccc.algorithms & DCQCN_CCC_NSCC;
	struct dcqcn_ccc_receiver *rx = &ccc->rx;
	/* read without the lock of the grants: it only decides which feedback can wait for a turn
	 */
	bool turn = !list_empty(&rx->grant_node);
	struct dcqcn_route *route = dcqcn_ccc_route(ccc, qp);
	s32 asked = dcqcn_bth_asked(bits) * (s32)DCQCN_RCCC_QUANTUM;
	bool marked;
	u32 since;

	if (dcqcn_ccc_is_pause(now - rx->time, dcqcn_dev_line(ccc->dev, settings)))
		dcqcn_ccc_resume(rx, settings, now);
	if (asked < 0)
		rx->source.backlog -= min_t(u32, rx->source.backlog, -asked);
	dcqcn_ccc_add(ccc, qp, settings, bytes, max(asked, 0));
	rx->time = now;
	if (dcqcn_pkt_ecn(pkt) == DCQCN_ECN_CE)
		rx->marked += bytes;
	dcqcn_ccc_time_grant(rx, now);
	marked = route && dcqcn_ccc_marked(route, pkt, bits, bytes);
	if (bits & DCQCN_BTH_REQUEST) {
		since = rx->received - rx->echo_received;
		dcqcn_ccc_echo(rx, pkt->dest_qpn, pkt->psn, marked, now);
		if (route && !route->asked) {
			route->asked = true;
			rx->askers++;
		}
		/* The answer can wait for the next grant, because a grant is as large as the
		 * distance between requests of a large window. It cannot wait if a small window or
		 * a flow needs it, nor if another QP's request may take its place: on a slower
		 * path, that may come later but have left earlier, and the sender would await both
		 * answers.
		 */
		if (!turn || bits & DCQCN_BTH_LAST || rx->askers > 1 ||
		    (nscc && since < DCQCN_CCC_ASK && rx->source.ahead > 0))
			return true;
		rx->echo_waits = true;
	}
	return rx->unreported >= DCQCN_CCC_UNREPORTED;
}

/* The context that counts a packet; NULL if none does, or if the packet is counted *later. *of is
 * set to its QP.
 */
static struct dcqcn_ccc *
dcqcn_ccc_that_counts(const struct dcqcn_rx *in, const struct dcqcn_settings *settings,
		      u32 bits, struct dcqcn_qp **of, bool *later)
{
	const struct dcqcn_pkt *pkt = &in->pkt;
	struct dcqcn_qp *qp;
	struct dcqcn_ccc *ccc;

	if (!settings->ccc.algorithms || pkt->ud || !in->unicast ||
	    !(settings->np_enable & BIT(dcqcn_pkt_prio(pkt))))
		return NULL;
	qp = dcqcn_qp_find_or_add(in->dev, pkt->dest_qpn);
	if (!qp)
		return NULL;
	ccc = dcqcn_ccc_of(qp, in, bits, later);
	if (ccc && time_after(jiffies, READ_ONCE(qp->used)))
		WRITE_ONCE(qp->used, jiffies);
	*of = qp;
	return ccc;
}

/* The QP and the context of a packet that may be counted without a closer look, NULL if there
 * is none. The first packet of a QP in each jiffy needs one: dcqcn_ccc_that_counts() notes when
 * it came, and dcqcn_ccc_arrived() whether its sender had paused.
 */
static struct dcqcn_ccc *dcqcn_ccc_of_plain(struct dcqcn_dev *dev,
					    const struct sk_buff *skb,
					    struct dcqcn_headers headers,
					    struct dcqcn_qp **of)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	const void *ip = skb_network_header(skb);
	unsigned long now = jiffies;
	struct dcqcn_ccc *ccc;

	if (!settings->ccc.algorithms || skb->pkt_type != PACKET_HOST ||
	    !(settings->np_enable & BIT(headers.tos >> 5)))
		return NULL;
	*of = dcqcn_qp_find(dev, dcqcn_bth_qpn(headers.bth));
	if (!*of || READ_ONCE((*of)->used) != now)
		return NULL;
	ccc = rcu_dereference((*of)->ccc);
	return ccc && ccc->prio == headers.tos >> 5 &&
	       dcqcn_ip_is_to(ip, &ccc->local) &&
	       dcqcn_ip_is_from(ip, &ccc->peer) ? ccc : NULL;
}

/**
 * dcqcn_ccc_receive_plain() - count a data packet that needs no answer
 * @skb: the packet; its sender understands feedback
 * @headers: its headers; unmarked, and without any of DCQCN_BTH_SAYS
 *
 * Context: softirq, or process if NFQUEUE has held the packet; under RCU. Takes the context's
 * lock.
 * Return: whether it was counted; if not, dcqcn_ccc_receive() has to look at it.
 */
bool dcqcn_ccc_receive_plain(const struct sk_buff *skb, struct dcqcn_headers headers)
{
	struct dcqcn_dev *dev = dcqcn_dev_by_ndev(skb->dev);
	u32 bytes = skb->len + ETH_HLEN;
	struct dcqcn_ccc *ccc;
	struct dcqcn_qp *qp;
	bool plain;

	ccc = dev ? dcqcn_ccc_of_plain(dev, skb, headers, &qp) : NULL;
	if (!ccc)
		return false;
	spin_lock_bh(&ccc->lock);	/* NFQUEUE reinjects packets with BH on */
	plain = ccc->rx.unreported + bytes < DCQCN_CCC_UNREPORTED;
	if (plain)
		dcqcn_ccc_add(ccc, qp, rcu_dereference(dev->settings), bytes,
			      0);
	spin_unlock_bh(&ccc->lock);
	return plain;
}

/**
 * dcqcn_ccc_receive() - handle a data packet whose sender understands feedback
 * @in: the packet
 *
 * Context: softirq, under RCU. Takes locks of the context and the QP; may send.
 * Return: whether feedback takes the place of CNPs.
 */
bool dcqcn_ccc_receive(const struct dcqcn_rx *in)
{
	const struct dcqcn_settings *settings = rcu_dereference(in->dev->settings);
	const struct dcqcn_bth *bth = (const void *)(in->pkt.udp + 1);
	const struct sk_buff *skb = in->skb;
	u32 bits = be32_to_cpu(bth->qpn);
	struct dcqcn_feedback say;
	struct dcqcn_ccc *ccc;
	struct dcqcn_qp *qp;
	bool says, asks, later = false;
	u64 now;

	ccc = dcqcn_ccc_that_counts(in, settings, bits, &qp, &later);
	if (!ccc) {
		if (!later)
			dcqcn_ccc_other(in->dev, skb);
		return false;
	}
	spin_lock_bh(&ccc->lock);
	now = ktime_get_ns();
	WRITE_ONCE(ccc->rx.ifindex, skb->dev->ifindex);
	WRITE_ONCE(ccc->rx.pkey, in->pkt.pkey);
	says = dcqcn_ccc_arrived(ccc, qp, settings, &in->pkt, bits,
				 skb->len + ETH_HLEN, now) &&
	       dcqcn_ccc_may_say(in->dev, settings);
	asks = ccc->rx.source.backlog && list_empty(&ccc->rx.grant_node);
	if (says)
		dcqcn_ccc_say(ccc, settings, now, &say);
	spin_unlock_bh(&ccc->lock);
	if (says)
		dcqcn_ccc_xmit(ccc, dev_net(skb->dev), settings, &say);
	if (asks)
		dcqcn_ccc_grant(ccc);
	return bits & DCQCN_BTH_WINDOWED;
}
