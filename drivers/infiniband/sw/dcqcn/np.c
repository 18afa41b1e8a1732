// SPDX-License-Identifier: GPL-2.0
/*
 * The notification point: answers a CE-marked packet with a CNP to the QP that
 * sent it, at most one per local QP and min_time_between_cnps.
 *
 *   Zhu et al., SIGCOMM 2015, section 3.1; IBA annex A17.9.3
 *
 * Only packets with a correct ICRC from the peer of an existing QP are answered.
 * The ICRC is checked only when a CNP is due. xmit.c limits what a port sends, so a flood
 * of marks has a bounded cost: a million CNPs per second, or a fourteenth of the bytes that they
 * answer, up to four million, where 200 flows at 400 Gb/s need 3.2 million. While that is not
 * enough, each QP sends CNPs less often, so that none takes what others need.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
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

/* The interval between the CNPs of a QP doubles for each half of what is left of the port's share,
 * up to 2^8 times: a thousand QPs of 4 us need that
 */
#define DCQCN_CNP_STRETCH_MAX	8

/* ns; what a CNP costs that answers a packet of @len bytes */
static u32 dcqcn_np_cost(u32 len)
{
	return clamp(DCQCN_XMIT_GAP_NS * DCQCN_CNP_BYTES / max(len, 1U),
		     DCQCN_CNP_GAP_LEAST, DCQCN_XMIT_GAP_NS);
}

/* ns; the least time between two CNPs of a QP */
static u64 dcqcn_np_interval(const struct dcqcn_dev *dev,
			     const struct dcqcn_settings *settings, u64 now)
{
	u64 interval = (u64)settings->np.min_time_between_cnps * NSEC_PER_USEC;
	s64 left = now - atomic64_read(&dev->answers.cnp_paid);

	if (likely(left > DCQCN_XMIT_BURST_NS / 2))
		return interval;
	if (left <= DCQCN_XMIT_BURST_NS >> DCQCN_CNP_STRETCH_MAX)
		return interval << DCQCN_CNP_STRETCH_MAX;
	return interval << ilog2(DCQCN_XMIT_BURST_NS / (u32)left);
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
	u64 now = ktime_get_ns();
	u64 gap = dcqcn_np_interval(qp->dev, settings, now);
	u64 last = qp->cnp_time;
	bool ud = qp->type == IB_QPT_UD;
	bool send;
	int err;

	spec.dest_qpn = ud ? event->src_qpn : qp->peer_qpn;
	send = event->ud == ud && dcqcn_qp_is_peer(qp, &event->saddr) &&
	       spec.dest_qpn > DCQCN_QPN_GSI &&
	       (!last || now - last >= gap);
	if (send)
		qp->cnp_time = now;
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
		qp->cnp_time = last;	/* none left: answer the next mark */
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
	/* what the same packet, or one before, offered */
	if (event->offer && !ce->ud &&
	    ipv6_addr_equal(&event->saddr, &ce->saddr)) {
		ce->offer = true;
		ce->offer_psn = event->offer_psn;
	} else if (event->offer) {
		/* there is no place for both */
		dcqcn_count(qp->dev, DCQCN_CCC_ERRORS);
	}
	*event = *ce;
	waiting->ce = true;
}

/* Return true if a CNP would come too early. Read without the lock: only a filter. */
static bool dcqcn_np_is_early(const struct dcqcn_qp *qp,
			      const struct dcqcn_settings *settings)
{
	u64 last = READ_ONCE(qp->cnp_time), now;

	if (!last)
		return false;
	now = ktime_get_ns();
	return now - last < dcqcn_np_interval(qp->dev, settings, now);
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
	if (qp && dcqcn_np_is_early(qp, settings))
		return;

	if (skb_is_nonlinear(skb)) {
		if (skb_linearize(skb)) {
			dcqcn_count(dev, DCQCN_NP_CNP_ERRORS);
			return;
		}
		dcqcn_pkt_parse(pkt, skb_network_header(skb), skb->len);
	}
	if (!dcqcn_pkt_icrc_ok(pkt)) {
		dcqcn_count(dev, DCQCN_NP_ICRC_ERRORS);
		return;
	}

	if (!qp)
		qp = dcqcn_qp_find_or_add(dev, pkt->dest_qpn);
	if (!qp)
		return;

	dcqcn_ip_saddr(pkt->ip, &event.saddr);
	dcqcn_ip_daddr(pkt->ip, &event.daddr);
	event.src_qpn = pkt->src_qpn;
	event.ifindex = skb->dev->ifindex;
	event.len = skb->len;
	event.pkey = pkt->pkey;
	event.ud = pkt->ud;
	event.offer = false;

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
	rcu_read_lock();
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE)
		dcqcn_np_answer(qp, dev_net(qp->dev->ndev),
				rcu_dereference(qp->dev->settings), event);
	else
		spin_unlock_bh(&qp->lock);
	rcu_read_unlock();
}
