// SPDX-License-Identifier: GPL-2.0
/*
 * The reaction point: CNPs in, slower packets out.
 *
 * A CNP is acted on when its length and ICRC are right, its destination is a
 * live QP of the port, and, for RC and UC, it came from that QP's peer. The
 * first one gives the QP's flow its limiter; the limiter ends by itself, when
 * the rate is back at the line rate and nothing is held (pacer.c).
 *
 * On output, data packets are marked ECT(0) so that switches mark them instead
 * of dropping them, and those of a limited flow go through the pacer.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>
#include <net/ipv6.h>

#include "device.h"
#include "packet.h"
#include "qp.h"
#include "report.h"
#include "rp.h"
#include "trace.h"

/* CNPs that may wait for one QP to be resolved */
#define DCQCN_PENDING_CNPS_MAX	1024

/* A CNP from @saddr for a live QP, whose lock is held */
static enum dcqcn_verdict dcqcn_rp_cnp(struct dcqcn_qp *qp,
				       const struct in6_addr *saddr)
{
	const struct dcqcn_settings *settings;
	struct dcqcn_flow *flow = &qp->flow;
	u64 now = ktime_get_ns();
	unsigned int done;
	u64 line, before;

	settings = rcu_dereference(qp->dev->settings);
	if (READ_ONCE(qp->dev->stopping))
		return DCQCN_CNP_STOPPING;
	if (!(settings->rp_enable & BIT(qp->prio)))
		return DCQCN_CNP_DISABLED;
	if (!dcqcn_qp_is_peer(qp, saddr))
		return DCQCN_CNP_NOT_PEER;

	line = dcqcn_dev_line(qp->dev, settings);
	if (!flow->limited || flow->released) {
		dcqcn_rate_init(&flow->rate, line, now);
		dcqcn_pacer_start(qp, now);
	}
	before = flow->rate.current_rate;
	done = dcqcn_rate_cnp(&flow->rate, &settings->rp, line, now);
	if (done)
		dcqcn_report_rate(qp, &settings->rp, done, before);
	qp->used = jiffies;
	qp->handled_time = now;
	return DCQCN_CNP_HANDLED;
}

/* @n CNPs have met their fate; @qp is NULL, or its lock is held */
static void dcqcn_rp_count(struct dcqcn_dev *dev, struct dcqcn_qp *qp,
			   enum dcqcn_verdict verdict, u32 n)
{
	bool handled = verdict == DCQCN_CNP_HANDLED;

	if (verdict == DCQCN_CNP_WAITS)
		return;
	dcqcn_count_add(dev, handled ? DCQCN_RP_CNP_HANDLED :
				       DCQCN_RP_CNP_IGNORED, n);
	if (qp && handled)
		qp->cnps_handled += n;
	else if (qp)
		qp->cnps_ignored += n;
}

/* A CNP from @saddr for a QP that may be yet unknown, and whose lock is held */
static enum dcqcn_verdict dcqcn_rp_accept(struct dcqcn_qp *qp,
					  const struct in6_addr *saddr)
{
	if (qp->state == DCQCN_QP_LIVE)
		return dcqcn_rp_cnp(qp, saddr);
	if (qp->state != DCQCN_QP_RESOLVING ||
	    qp->pending_cnps == DCQCN_PENDING_CNPS_MAX)
		return DCQCN_CNP_NO_QP;
	if (!qp->pending_cnps && !qp->pending_ce)
		qp->event.saddr = *saddr;
	if (!ipv6_addr_equal(&qp->event.saddr, saddr))
		return DCQCN_CNP_NOT_PEER;
	qp->pending_cnps++;
	return DCQCN_CNP_WAITS;
}

/**
 * dcqcn_rp_receive() - a packet of opcode 0x81 came in
 * @dev: the port it came to
 * @skb: the packet; stays the caller's, and may become linear
 * @pkt: @skb, parsed; parsed anew when @skb moves
 *
 * Context: softirq, under RCU. Takes the QP's lock.
 */
void dcqcn_rp_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt)
{
	enum dcqcn_verdict verdict = DCQCN_CNP_INVALID;
	struct in6_addr saddr;
	struct dcqcn_qp *qp;

	dcqcn_pkt_saddr(pkt, &saddr);
	if (skb_is_nonlinear(skb)) {
		if (skb_linearize(skb))
			goto ignore;
		dcqcn_pkt_parse(pkt, skb_network_header(skb), skb->len);
	}
	if (skb->pkt_type != PACKET_HOST || !dcqcn_pkt_is_valid_cnp(pkt) ||
	    pkt->dest_qpn <= DCQCN_QPN_GSI ||
	    pkt->dest_qpn == DCQCN_QPN_MULTICAST)
		goto ignore;

	verdict = DCQCN_CNP_NO_QP;
	qp = dcqcn_qp_find_or_add(dev, pkt->dest_qpn);
	if (!qp)
		goto ignore;
	spin_lock_bh(&qp->lock);
	verdict = dcqcn_rp_accept(qp, &saddr);
	dcqcn_rp_count(dev, qp, verdict, 1);
	spin_unlock_bh(&qp->lock);
	trace_cnp_received(dev, pkt->dest_qpn, &saddr, verdict);
	return;
ignore:
	dcqcn_rp_count(dev, NULL, verdict, 1);
	trace_cnp_received(dev, pkt->dest_qpn, &saddr, verdict);
}

/**
 * dcqcn_rp_resolved() - a QP for which CNPs waited is known now, or absent
 * @qp: the QP
 *
 * Context: process, BH on. Takes the QP's lock.
 */
void dcqcn_rp_resolved(struct dcqcn_qp *qp)
{
	enum dcqcn_verdict verdict = DCQCN_CNP_NO_QP;
	struct in6_addr saddr;
	u16 n;

	rcu_read_lock();
	spin_lock_bh(&qp->lock);
	n = qp->pending_cnps;
	qp->pending_cnps = 0;
	saddr = qp->event.saddr;
	/* they came within a moment: one cut */
	if (n && qp->state == DCQCN_QP_LIVE)
		verdict = dcqcn_rp_cnp(qp, &saddr);
	dcqcn_rp_count(qp->dev, qp, verdict, n);
	spin_unlock_bh(&qp->lock);
	if (n)
		trace_cnp_received(qp->dev, qp->qpn, &saddr, verdict);
	rcu_read_unlock();
}

/* Let switches mark a packet instead of dropping it */
static __always_inline void dcqcn_rp_mark_ect(struct sk_buff *skb, bool v6)
{
	if (v6)
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~DCQCN_ECN_MASK,
				    DCQCN_ECN_ECT_0);
	else
		ipv4_change_dsfield(ip_hdr(skb), (u8)~DCQCN_ECN_MASK,
				    DCQCN_ECN_ECT_0);
}

/* dcqcn_rp_output() when there is more to it. Apart from it, so that those
 * packets for which there is not pass with as few instructions as possible.
 */
static noinline unsigned int
dcqcn_rp_output_slow(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
		     const struct nf_hook_state *state, bool enabled,
		     bool mark)
{
	bool v6 = state->pf == NFPROTO_IPV6;
	const struct dcqcn_bth *bth;
	enum dcqcn_pkt_kind kind;
	struct dcqcn_qp *qp;
	const void *ip;
	u8 tos;

	if (mark && skb_cloned(skb) &&
	    skb_ensure_writable(skb, v6 ? sizeof(struct ipv6hdr) :
					  sizeof(struct iphdr)))
		dcqcn_count(dev, DCQCN_RP_ECT_ERRORS);
	else if (mark)
		dcqcn_rp_mark_ect(skb, v6);

	qp = dcqcn_qp_find(dev, qpn);
	if (!qp)
		return NF_ACCEPT;
	ip = skb_network_header(skb);
	bth = dcqcn_pkt_bth(ip, skb_headlen(skb), v6);
	kind = dcqcn_opcode_kinds[bth->opcode];
	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	tos = v6 ? ipv6_get_dsfield(ip) : ipv4_get_dsfield(ip);
	dcqcn_qp_confirm(qp, skb, dcqcn_bth_qpn(bth),
			 kind == DCQCN_PKT_ACK ? READ_ONCE(qp->prio) : tos >> 5);
	if (READ_ONCE(qp->flow.limited) &&
	    dcqcn_pacer_output(qp, skb, kind, dcqcn_bth_psn(bth), enabled,
			       state->okfn))
		return NF_STOLEN;
	return NF_ACCEPT;
}

/**
 * dcqcn_rp_output() - a packet leaves rxe
 * @dev: the port it belongs to
 * @ibqp: the QP it belongs to; neither QP0 nor QP1
 * @skb: the packet
 * @state: of the hook
 *
 * While no QP of the port has met congestion, packets are only marked ECT.
 *
 * Context: under RCU; process with BH on, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_output(struct dcqcn_dev *dev, const struct ib_qp *ibqp,
			     struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	const void *ip = skb_network_header(skb);
	bool v6 = state->pf == NFPROTO_IPV6;
	const struct dcqcn_bth *bth;
	bool enabled, mark;
	u32 dest;
	u8 tos;

	bth = dcqcn_pkt_bth(ip, skb_headlen(skb), v6);
	if (!bth)
		return NF_ACCEPT;
	dest = dcqcn_bth_qpn(bth);
	if (dest <= DCQCN_QPN_GSI || dest == DCQCN_QPN_MULTICAST)
		return NF_ACCEPT;

	tos = v6 ? ipv6_get_dsfield(ip) : ipv4_get_dsfield(ip);
	enabled = settings->rp_enable & BIT(tos >> 5);
	mark = enabled && (tos & DCQCN_ECN_MASK) == DCQCN_ECN_NOT_ECT &&
	       !dcqcn_bth_is_ack(bth);

	if (unlikely(!xa_empty(&dev->qps) || skb_cloned(skb)))
		return dcqcn_rp_output_slow(dev, ibqp->qp_num, skb, state,
					    enabled, mark);
	if (mark)
		dcqcn_rp_mark_ect(skb, v6);
	return NF_ACCEPT;
}
