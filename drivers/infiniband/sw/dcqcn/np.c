// SPDX-License-Identifier: GPL-2.0
/*
 * The notification point: answers a CE-marked packet with a CNP to the QP that sent it, at most one
 * per local QP and min_time_between_cnps. A UD QP receives from many senders: each recent one has
 * an interval of its own, so that a busy sender does not take the others' CNPs.
 *
 *   Zhu et al., SIGCOMM 2015, section 3.1; IBA annex A17.9.3
 *
 * Only packets with a correct ICRC from the peer of an existing QP are answered. The ICRC is
 * checked only when a CNP is due. xmit.c limits the CNPs of a port, so the cost of a flood of marks
 * is bounded: a million CNPs per second or, where the marked packets are long, a fourteenth of
 * their bytes, up to four million. 200 flows at 400 Gb/s need 3.2 million. As a port nears this
 * limit, each QP sends CNPs less often, so that no QP takes what others need.
 */
#include <linux/bits.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "device.h"
#include "np.h"
#include "packet.h"
#include "qp.h"
#include "rx.h"
#include "trace.h"
#include "xmit.h"

/* bytes, ns: a CNP costs less if it answers a packet that is longer than this, down to a quarter */
#define DCQCN_CNP_BYTES		1024
#define DCQCN_CNP_GAP_LEAST	(DCQCN_XMIT_GAP_NS / 4)

/* The interval between the CNPs of a QP doubles each time that the rest of the port's share halves,
 * up to 2^8 times: a thousand QPs with an interval of 4 us need that. An interval of 0 stays 0, so
 * nothing but the port's limit holds then.
 */
#define DCQCN_CNP_STRETCH_MAX	8

/* Senders to a UD QP that have an interval of their own: four for each value of a hash. A new
 * sender replaces the one whose last CNP is oldest.
 */
#define DCQCN_SENDER_SETS	16
#define DCQCN_SENDER_WAYS	4

/* ns; all senders to a UD QP together get a CNP no more often than this, unless
 * min_time_between_cnps is shorter. Anybody can send to a UD QP from as many addresses as they
 * like: this leaves others half of what a port may send.
 */
#define DCQCN_UD_GAP_NS		(2 * DCQCN_XMIT_GAP_NS)

/**
 * struct dcqcn_sender - a sender to a UD QP
 * @cnp_time: ns; its last CNP, 0 for never
 * @key: hash of its address and QP number. Two senders with the same key share an interval.
 */
struct dcqcn_sender {
	u64 cnp_time;
	u32 key;
};

struct dcqcn_senders {
	struct dcqcn_sender set[DCQCN_SENDER_SETS][DCQCN_SENDER_WAYS];
};

/* ns; cost of a CNP that answers a packet of @len bytes */
static u32 dcqcn_np_cost(u32 len)
{
	return clamp(DCQCN_XMIT_GAP_NS * DCQCN_CNP_BYTES / max(len, 1U),
		     DCQCN_CNP_GAP_LEAST, DCQCN_XMIT_GAP_NS);
}

/* log2; how much longer intervals are, because little of the port's share is left */
static u32 dcqcn_np_stretch(const struct dcqcn_dev *dev, u64 now)
{
	s64 left = now - atomic64_read(&dev->answers.cnp_paid);

	if (likely(left > DCQCN_XMIT_BURST_NS / 2))
		return 0;
	if (left <= DCQCN_XMIT_BURST_NS >> DCQCN_CNP_STRETCH_MAX)
		return DCQCN_CNP_STRETCH_MAX;
	return ilog2(DCQCN_XMIT_BURST_NS / (u32)left);
}

/* Whether a CNP is due, if the last one was sent at @last and the next may come after @gap ns */
static bool dcqcn_np_is_due(const struct dcqcn_dev *dev, u64 last, u64 gap, u64 now)
{
	return !last || now - last >= gap << dcqcn_np_stretch(dev, now);
}

/* ns; the least time between two CNPs of a QP or, for UD, to one sender */
static u64 dcqcn_np_interval(const struct dcqcn_settings *settings)
{
	return (u64)settings->np.min_time_between_cnps * NSEC_PER_USEC;
}

/* ns; the least time between two CNPs of a QP */
static u64 dcqcn_np_qp_gap(const struct dcqcn_qp *qp,
			   const struct dcqcn_settings *settings)
{
	u64 interval = dcqcn_np_interval(settings);

	return qp->type == IB_QPT_UD && READ_ONCE(qp->senders) ?
	       min_t(u64, interval, DCQCN_UD_GAP_NS) : interval;
}

/* Find the sender of a marked packet to a UD QP whose lock is held; a new sender replaces another
 * one. NULL if there is no memory: then all senders share the QP's interval.
 */
static struct dcqcn_sender *dcqcn_np_sender(struct dcqcn_qp *qp,
					    const struct dcqcn_event *event)
{
	u32 key = jhash2((const u32 *)&event->saddr, sizeof(event->saddr) / sizeof(u32),
			 qp->dev->contexts.seed ^ event->src_qpn);
	struct dcqcn_sender *set, *oldest;
	int i;

	if (!qp->senders)
		WRITE_ONCE(qp->senders, kzalloc(sizeof(*qp->senders), GFP_ATOMIC));
	if (!qp->senders)
		return NULL;
	set = qp->senders->set[key % DCQCN_SENDER_SETS];
	oldest = set;
	for (i = 0; i < DCQCN_SENDER_WAYS; i++) {
		if (set[i].key == key && set[i].cnp_time)
			return &set[i];
		if (set[i].cnp_time < oldest->cnp_time)
			oldest = &set[i];
	}
	oldest->key = key;
	oldest->cnp_time = 0;
	return oldest;
}

/* Answer a mark on @qp with a CNP. Called with the lock held; drops it. */
static void dcqcn_np_answer(struct dcqcn_qp *qp, struct net *net,
			    const struct dcqcn_settings *settings,
			    const struct dcqcn_event *event)
	__releases(&qp->lock)
{
	struct dcqcn_cnp_spec spec = {
		.saddr = event->daddr,
		.daddr = event->saddr,
		.pkey = event->pkey,
	};
	u64 now = ktime_get_ns(), last = qp->cnp_time, sender_last = 0;
	struct dcqcn_sender *sender = NULL;
	bool ud = qp->type == IB_QPT_UD;
	bool send;
	int err;

	spec.dest_qpn = ud ? event->src_qpn : qp->peer_qpn;
	send = event->ud == ud && dcqcn_qp_is_peer(qp, &event->saddr) &&
	       spec.dest_qpn > DCQCN_QPN_GSI && spec.dest_qpn < DCQCN_QPN_MULTICAST &&
	       dcqcn_np_is_due(qp->dev, last, dcqcn_np_qp_gap(qp, settings), now);
	if (send && ud)
		sender = dcqcn_np_sender(qp, event);
	if (sender) {
		sender_last = sender->cnp_time;
		send = dcqcn_np_is_due(qp->dev, sender_last, dcqcn_np_interval(settings), now);
	}
	if (send) {
		qp->cnp_time = now;
		if (sender)
			sender->cnp_time = now;
	}
	qp->used = jiffies;
	spin_unlock_bh(&qp->lock);

	if (!send)
		return;
	err = dcqcn_xmit_charge(&qp->dev->answers.cnp_paid,
				dcqcn_np_cost(event->len)) ?
	      dcqcn_xmit(net, event->ifindex, settings, &spec, NULL) : -EBUSY;
	dcqcn_count(qp->dev, err ? DCQCN_NP_CNP_ERRORS : DCQCN_NP_CNP_SENT);
	spin_lock_bh(&qp->lock);
	if (!err)
		qp->cnps_sent++;
	else if (qp->cnp_time == now)
		qp->cnp_time = last;	/* no CNP was sent: answer the next mark */
	if (err && sender && sender->cnp_time == now)
		sender->cnp_time = sender_last;
	spin_unlock_bh(&qp->lock);
	trace_dcqcn_cnp_sent(qp, spec.dest_qpn, &spec.daddr, err);
}

/* Keep the first CE for a QP that is being resolved, and whose lock is held */
static void dcqcn_np_keep(struct dcqcn_qp *qp, struct dcqcn_event *ce)
{
	struct dcqcn_waiting *waiting = dcqcn_qp_wait(qp);
	struct dcqcn_event *event;

	if (!waiting || waiting->ce)
		return;
	event = &waiting->event;
	/* a CNP that waits must be from the same address, the peer's */
	if (waiting->cnps && !ipv6_addr_equal(&event->saddr, &ce->saddr))
		return;
	/* keep the offer of this packet or an earlier one */
	if (event->offer && !ce->ud &&
	    ipv6_addr_equal(&event->saddr, &ce->saddr)) {
		ce->offer = true;
		ce->asks = event->asks;
		ce->time = event->time;
		ce->offer_psn = event->offer_psn;
		ce->bytes = event->bytes;
		ce->asked = event->asked;
	} else if (event->offer) {
		/* there is no room for both */
		dcqcn_count(qp->dev, DCQCN_CCC_ERRORS);
	}
	*event = *ce;
	waiting->ce = true;
}

/* Return true if a CNP would come too early. Read without the lock: only a filter. */
static bool dcqcn_np_is_early(const struct dcqcn_qp *qp,
			      const struct dcqcn_settings *settings)
{
	u64 last = READ_ONCE(qp->cnp_time);

	return last && !dcqcn_np_is_due(qp->dev, last, dcqcn_np_qp_gap(qp, settings),
					ktime_get_ns());
}

/**
 * dcqcn_np_receive() - handle a CE-marked data packet
 * @rx: the packet; may be linearised, and parsed again then
 *
 * Context: softirq, under RCU. Takes the QP's lock; may send.
 */
void dcqcn_np_receive(struct dcqcn_rx *rx)
{
	const struct dcqcn_settings *settings = rcu_dereference(rx->dev->settings);
	struct dcqcn_pkt *pkt = &rx->pkt;
	struct dcqcn_dev *dev = rx->dev;
	struct sk_buff *skb = rx->skb;
	struct dcqcn_event event;
	struct dcqcn_qp *qp;

	trace_dcqcn_ce_seen(dev, pkt);
	if (!rx->unicast || !(settings->np_enable & BIT(dcqcn_pkt_prio(pkt))) ||
	    (pkt->ud && pkt->src_qpn <= DCQCN_QPN_GSI))
		return;

	qp = dcqcn_qp_find(dev, pkt->dest_qpn);
	if (qp) {
		atomic_inc(&qp->ce_received);
		if (dcqcn_np_is_early(qp, settings))
			return;
	}

	if (!dcqcn_rx_linearize(rx)) {
		dcqcn_count(dev, DCQCN_NP_CNP_ERRORS);
		return;
	}
	if (!dcqcn_pkt_icrc_ok(pkt)) {
		dcqcn_count(dev, DCQCN_NP_ICRC_ERRORS);
		return;
	}

	if (!qp) {
		qp = dcqcn_qp_find_or_add(dev, pkt->dest_qpn);
		if (!qp)
			return;
		atomic_inc(&qp->ce_received);
	}

	event = (struct dcqcn_event) {
		.src_qpn = pkt->src_qpn,
		.ifindex = skb->dev->ifindex,
		.len = skb->len,
		.pkey = pkt->pkey,
		.prio = dcqcn_pkt_prio(pkt),
		.ud = pkt->ud,
	};
	dcqcn_ip_saddr(pkt->ip, &event.saddr);
	dcqcn_ip_daddr(pkt->ip, &event.daddr);

	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE) {
		dcqcn_np_answer(qp, dev_net(skb->dev), settings, &event);
		return;
	}
	if (qp->state == DCQCN_QP_RESOLVING)
		dcqcn_np_keep(qp, &event);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_np_resolved() - answer the CE that waited for a QP to be resolved
 * @qp: the QP, now live or absent
 * @event: the CE
 *
 * Context: process, BH on. Takes the QP's lock; may send.
 */
void dcqcn_np_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	const struct dcqcn_settings *settings;

	rcu_read_lock();
	settings = rcu_dereference(qp->dev->settings);
	spin_lock_bh(&qp->lock);
	/* the user may have disabled the priority meanwhile */
	if (qp->state == DCQCN_QP_LIVE && settings->np_enable & BIT(event->prio))
		dcqcn_np_answer(qp, dev_net(qp->dev->ndev), settings, event);
	else
		spin_unlock_bh(&qp->lock);
	rcu_read_unlock();
}
