// SPDX-License-Identifier: GPL-2.0
/*
 * The notification point: answers a CE-marked packet with a CNP to the QP that
 * sent it, at most one per local QP and min_time_between_cnps.
 *
 *   Zhu et al., SIGCOMM 2015, section 3.1; IBA annex A17.9.3
 *
 * Only packets with a correct ICRC from the peer of an existing QP are answered.
 * The ICRC is checked only when a CNP is due. DCQCN_CNP_GAP_NS limits what a port
 * sends, so a flood of marks has a bounded cost.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/time64.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "device.h"
#include "np.h"
#include "packet.h"
#include "qp.h"
#include "trace.h"

/* Upper bound on the CNPs of a port, whatever its QPs and knobs: a million per second in
 * the long run, where 32 flows at 100 Gb/s need 750,000. It may save up 10 ms of them,
 * which covers the start of an incast.
 */
#define DCQCN_CNP_GAP_NS	1000
#define DCQCN_CNP_BURST_NS	(10 * NSEC_PER_MSEC)

static struct dst_entry *dcqcn_cnp_route4(struct net *net, int ifindex,
					  const struct dcqcn_cnp_spec *spec)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = spec->saddr.s6_addr32[3],
		.daddr = spec->daddr.s6_addr32[3],
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *dcqcn_cnp_route6(struct net *net, int ifindex,
					  const struct dcqcn_cnp_spec *spec)
{
	struct flowi6 fl6 = {
		.flowi6_oif = ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = spec->saddr,
		.daddr = spec->daddr,
	};
	struct dst_entry *dst = ip6_route_output(net, NULL, &fl6);
	int err = dst->error;

	if (!err)
		return dst;
	dst_release(dst);
	return ERR_PTR(err);
}

/**
 * dcqcn_np_xmit() - send a CNP or feedback
 * @net: namespace
 * @ifindex: of the interface that what it answers came by
 * @settings: the port's
 * @spec: addresses, QP and P_Key; gets the other header fields
 * @feedback: what it says, NULL for a CNP
 *
 * Context: under RCU; softirq, or process with BH on. Return: 0 or a negative error.
 */
int dcqcn_np_xmit(struct net *net, int ifindex,
		  const struct dcqcn_settings *settings,
		  struct dcqcn_cnp_spec *spec,
		  const struct dcqcn_feedback *feedback)
{
	bool v4 = ipv6_addr_v4mapped(&spec->daddr);
	struct dst_entry *dst;
	size_t len;
	struct sk_buff *skb;
	int err;

	if (feedback)
		len = v4 ? DCQCN_FEEDBACK_V4_LEN : DCQCN_FEEDBACK_V6_LEN;
	else
		len = v4 ? DCQCN_CNP_V4_LEN : DCQCN_CNP_V6_LEN;
	dst = v4 ? dcqcn_cnp_route4(net, ifindex, spec) :
		   dcqcn_cnp_route6(net, ifindex, spec);
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	skb = alloc_skb(LL_RESERVED_SPACE(dst->dev) + len, GFP_ATOMIC);
	if (!skb) {
		dst_release(dst);
		return -ENOMEM;
	}
	skb_reserve(skb, LL_RESERVED_SPACE(dst->dev));
	spec->sport = settings->np.cnp_udp_sport;
	spec->tos = settings->np.cnp_dscp << 2 | DCQCN_ECN_ECT_0;
	spec->ttl = v4 ? ip4_dst_hoplimit(dst) : ip6_dst_hoplimit(dst);
	if (feedback)
		dcqcn_feedback_build(skb_put(skb, len), spec, feedback);
	else
		dcqcn_cnp_build(skb_put(skb, len), spec);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, v4 ? sizeof(struct iphdr) :
					   sizeof(struct ipv6hdr));
	skb->protocol = v4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb->priority = settings->np.cnp_802p_prio;
	skb_dst_set(skb, dst);

	err = v4 ? ip_local_out(net, NULL, skb) : ip6_local_out(net, NULL, skb);
	/* a queue that drops says so with a positive number */
	return err > 0 ? net_xmit_errno(err) : err;
}

/**
 * dcqcn_np_charge() - whether a port may send one more CNP, or feedback
 * @account: ns; up to when those sent so far have used up the port's share
 * @gap: ns; that one costs
 *
 * If so, charge it. The clock is read after @account: if a hypervisor stops this CPU in
 * between, payments that other CPUs make meanwhile must not seem to lie in the future.
 *
 * Context: any. Return: whether it may.
 */
bool dcqcn_np_charge(atomic64_t *account, s64 gap)
{
	s64 paid = atomic64_read(account), now, from;

	do {
		now = ktime_get_ns();
		from = max_t(s64, paid, now - DCQCN_CNP_BURST_NS);
		if (from > now)
			return false;
	} while (!atomic64_try_cmpxchg(account, &paid, from + gap));
	return true;
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
	u64 gap = (u64)settings->np.min_time_between_cnps * NSEC_PER_USEC;
	u64 now = ktime_get_ns();
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
	err = dcqcn_np_charge(&qp->dev->answers.cnp_paid, DCQCN_CNP_GAP_NS) ?
	      dcqcn_np_xmit(net, event->ifindex, settings, &spec, NULL) : -EBUSY;
	dcqcn_count(qp->dev, err ? DCQCN_NP_CNP_ERRORS : DCQCN_NP_CNP_SENT);
	spin_lock_bh(&qp->lock);
	if (!err)
		qp->cnps_sent++;
	else if (qp->cnp_time == now)
		qp->cnp_time = last;	/* none left: answer the next mark */
	spin_unlock_bh(&qp->lock);
	trace_dcqcn_cnp_sent(qp, spec.dest_qpn, &spec.daddr, err);
}

/* Return true if a CNP would come too early. Read without the lock: only a filter. */
static bool dcqcn_np_is_early(const struct dcqcn_qp *qp,
			      const struct dcqcn_settings *settings)
{
	u64 last = READ_ONCE(qp->cnp_time);

	return last && ktime_get_ns() - last <
		       (u64)settings->np.min_time_between_cnps * NSEC_PER_USEC;
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

/**
 * dcqcn_np_receive() - handle a CE-marked data packet
 * @dev: the port that received it
 * @skb: the packet; the caller keeps it; may be linearised
 * @pkt: @skb, parsed; parsed again if @skb moves
 *
 * Context: softirq, under RCU. Takes the QP's lock; may send.
 */
void dcqcn_np_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	struct dcqcn_event event;
	struct dcqcn_qp *qp;

	trace_dcqcn_ce_seen(dev, pkt);
	if (!(settings->np_enable & BIT(dcqcn_pkt_prio(pkt))) ||
	    skb->pkt_type != PACKET_HOST ||
	    pkt->dest_qpn <= DCQCN_QPN_GSI ||
	    pkt->dest_qpn == DCQCN_QPN_MULTICAST ||
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

	dcqcn_pkt_saddr(pkt, &event.saddr);
	dcqcn_pkt_daddr(pkt, &event.daddr);
	event.src_qpn = pkt->src_qpn;
	event.ifindex = skb->dev->ifindex;
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
