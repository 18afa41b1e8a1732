// SPDX-License-Identifier: GPL-2.0
/*
 * The reaction point: CNPs in, slower packets out.
 *
 * A CNP takes effect if its length and ICRC are correct, its destination is a
 * live QP of the port and, for RC and UC, it came from that QP's peer. The first
 * one gives the QP's flow a limiter, which ends when the rate is back at the line
 * rate and nothing is held (limiter.c).
 *
 * On output, data packets are marked ECT(0) so that switches mark them instead
 * of dropping them. Packets of a limited flow go through the pacer.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "ccc.h"
#include "device.h"
#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "rp.h"
#include "trace.h"

/* Most CNPs that may wait for one QP to be resolved */
#define DCQCN_PENDING_CNPS_MAX	1024

/* Handle a CNP from @saddr for a live QP, whose lock is held */
static enum dcqcn_verdict dcqcn_rp_cnp(struct dcqcn_qp *qp,
				       const struct in6_addr *saddr)
{
	const struct dcqcn_settings *settings;
	u64 now;

	settings = rcu_dereference(qp->dev->settings);
	if (READ_ONCE(qp->dev->stopping))
		return DCQCN_CNP_STOPPING;
	if (!(settings->rp_enable & BIT(qp->prio)))
		return DCQCN_CNP_DISABLED;
	if (!dcqcn_qp_is_peer(qp, saddr))
		return DCQCN_CNP_NOT_PEER;

	qp->used = jiffies;
	if (dcqcn_qp_is_windowed(qp))
		return DCQCN_CNP_WINDOWED;
	now = ktime_get_ns();
	qp->handled_time = now >> DCQCN_HANDLED_SHIFT;
	dcqcn_pacer_cnp(qp, settings, now);
	return DCQCN_CNP_HANDLED;
}

/* Count @n CNPs with this verdict; @qp is NULL, or its lock is held */
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

/* Handle a CNP from @saddr for a QP that may not be resolved yet; its lock is held */
static enum dcqcn_verdict dcqcn_rp_accept(struct dcqcn_qp *qp,
					  const struct in6_addr *saddr)
{
	struct dcqcn_waiting *waiting;

	if (qp->state == DCQCN_QP_LIVE)
		return dcqcn_rp_cnp(qp, saddr);
	if (qp->state != DCQCN_QP_RESOLVING)
		return DCQCN_CNP_NO_QP;
	waiting = dcqcn_qp_wait(qp);
	if (!waiting || waiting->cnps == DCQCN_PENDING_CNPS_MAX)
		return DCQCN_CNP_NO_ROOM;
	if (!waiting->cnps && !waiting->ce && !waiting->event.offer)
		waiting->event.saddr = *saddr;
	if (!ipv6_addr_equal(&waiting->event.saddr, saddr))
		return DCQCN_CNP_NOT_PEER;
	waiting->cnps++;
	return DCQCN_CNP_WAITS;
}

/**
 * dcqcn_rp_receive() - handle a received packet of opcode 0x81
 * @dev: the port that received it
 * @skb: the packet; the caller keeps it; may be linearised
 * @pkt: @skb, parsed; parsed again if @skb moves
 *
 * Context: softirq, under RCU. Takes the QP's lock.
 */
void dcqcn_rp_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt)
{
	enum dcqcn_verdict verdict = DCQCN_CNP_NO_ROOM;
	struct in6_addr saddr;
	struct dcqcn_qp *qp;

	dcqcn_pkt_saddr(pkt, &saddr);
	if (skb_is_nonlinear(skb)) {
		if (skb_linearize(skb))
			goto ignore;
		dcqcn_pkt_parse(pkt, skb_network_header(skb), skb->len);
	}
	verdict = DCQCN_CNP_INVALID;
	if (skb->pkt_type != PACKET_HOST || !dcqcn_pkt_is_valid_cnp(pkt) ||
	    pkt->dest_qpn <= DCQCN_QPN_GSI ||
	    pkt->dest_qpn == DCQCN_QPN_MULTICAST)
		goto ignore;

	verdict = READ_ONCE(dev->stopping) ? DCQCN_CNP_STOPPING :
					     DCQCN_CNP_NO_ROOM;
	qp = dcqcn_qp_find_or_add(dev, pkt->dest_qpn);
	if (!qp)
		goto ignore;
	spin_lock_bh(&qp->lock);
	verdict = dcqcn_rp_accept(qp, &saddr);
	dcqcn_rp_count(dev, qp, verdict, 1);
	spin_unlock_bh(&qp->lock);
	trace_dcqcn_cnp_received(dev, pkt->dest_qpn, &saddr, verdict);
	return;
ignore:
	dcqcn_rp_count(dev, NULL, verdict, 1);
	trace_dcqcn_cnp_received(dev, pkt->dest_qpn, &saddr, verdict);
}

/**
 * dcqcn_rp_ack() - handle an ACK while flows are limited
 * @dev: the port that received it
 * @pkt: the packet, parsed, readable as a whole
 *
 * Context: softirq, under RCU. Takes the QP's lock if its flow waits for an ACK.
 */
void dcqcn_rp_ack(struct dcqcn_dev *dev, const struct dcqcn_pkt *pkt)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, pkt->dest_qpn);
	const struct dcqcn_path *path;
	struct in6_addr saddr;

	if (!qp || !READ_ONCE(qp->flow.limited))
		return;
	path = READ_ONCE(qp->flow.path);
	if (!path || !READ_ONCE(path->probe_time))
		return;
	dcqcn_pkt_saddr(pkt, &saddr);
	if (!dcqcn_pkt_is_valid_ack(pkt))
		return;
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && dcqcn_qp_is_peer(qp, &saddr))
		dcqcn_pacer_ack(qp, pkt->psn);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_rp_resolved() - handle CNPs that waited for a QP to be resolved
 * @qp: the QP, now live or absent
 * @saddr: their source address
 * @n: how many
 *
 * Context: process, BH on. Takes the QP's lock.
 */
void dcqcn_rp_resolved(struct dcqcn_qp *qp, const struct in6_addr *saddr, u32 n)
{
	enum dcqcn_verdict verdict = DCQCN_CNP_NO_QP;

	rcu_read_lock();
	spin_lock_bh(&qp->lock);
	/* they arrived almost at once: one cut */
	if (qp->state == DCQCN_QP_LIVE)
		verdict = dcqcn_rp_cnp(qp, saddr);
	dcqcn_rp_count(qp->dev, qp, verdict, n);
	spin_unlock_bh(&qp->lock);
	trace_dcqcn_cnp_received(qp->dev, qp->qpn, saddr, verdict);
	rcu_read_unlock();
}

/* Return true if a packet may be the first of a flow with a slow start */
static bool dcqcn_rp_starts(const struct dcqcn_settings *settings,
			    enum dcqcn_pkt_kind kind, u8 prio)
{
	return settings->rp.start_burst && kind != DCQCN_PKT_ACK &&
	       settings->rp_enable & BIT(prio);
}

/* Give a QP that sends data a context, and offer that to its peer. Return true if the
 * packet may have to obey a limiter or a context; without the lock, as a filter. If not, it
 * leaves on the path of its flow.
 */
static noinline bool dcqcn_rp_offer(struct dcqcn_qp *qp, struct sk_buff *skb,
				    const struct dcqcn_bth *bth, u8 tos)
{
	const struct dcqcn_settings *settings;
	const struct dcqcn_ccc *ccc;

	settings = rcu_dereference(qp->dev->settings);
	if (settings->ccc.algorithms && settings->rp_enable & BIT(tos >> 5) &&
	    dcqcn_opcode_kinds[bth->opcode] != DCQCN_PKT_ACK)
		dcqcn_ccc_output(qp, settings, skb, tos >> 5);
	ccc = rcu_dereference(qp->ccc);
	if (READ_ONCE(qp->flow.limited) || (ccc && READ_ONCE(ccc->tx.agreed)))
		return true;
	if (ccc && READ_ONCE(ccc->tx.entropy_changes)) {
		spin_lock_bh(&qp->lock);
		dcqcn_ccc_steer(qp, skb);
		spin_unlock_bh(&qp->lock);
	}
	return false;
}

/* Hand a packet to its QP's limiter */
static __always_inline unsigned int
dcqcn_rp_pace(struct dcqcn_qp *qp, struct sk_buff *skb,
	      enum dcqcn_pkt_kind kind, const struct dcqcn_bth *bth, u8 tos,
	      dcqcn_okfn okfn)
{
	const struct dcqcn_settings *settings;

	settings = rcu_dereference(qp->dev->settings);
	return dcqcn_pacer_output(qp, skb, kind, bth,
				  settings->rp_enable & BIT(tos >> 5), okfn);
}

/* Hand a packet to its QP's limiter or context, if there is one */
static unsigned int dcqcn_rp_obey(struct dcqcn_qp *qp, struct sk_buff *skb,
				  const struct dcqcn_bth *bth, u8 tos,
				  dcqcn_okfn okfn)
{
	bool limited = READ_ONCE(qp->flow.limited);

	if (static_branch_unlikely(&dcqcn_cccs))
		limited = dcqcn_rp_offer(qp, skb, bth, tos);
	if (!limited)
		return NF_ACCEPT;
	return dcqcn_rp_pace(qp, skb, dcqcn_opcode_kinds[bth->opcode], bth, tos,
			     okfn);
}

/**
 * dcqcn_rp_review() - handle a packet that may change its QP's entry
 * @qp: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 * @okfn: resumes the packet behind our hook
 *
 * A flow may begin with it, or its QP may be another one by now, or have a context.
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_review(struct dcqcn_qp *qp, struct sk_buff *skb,
			     const struct dcqcn_bth *bth, u8 tos,
			     dcqcn_okfn okfn)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];
	const struct dcqcn_settings *settings;
	bool data = kind != DCQCN_PKT_ACK;
	u8 prio = tos >> 5;
	unsigned long pause;

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	settings = rcu_dereference(qp->dev->settings);
	pause = dcqcn_qp_confirm(qp, skb, dcqcn_bth_qpn(bth),
				 data ? prio : READ_ONCE(qp->prio), data);
	if (pause && dcqcn_rp_starts(settings, kind, prio))
		dcqcn_limiter_start(qp, settings, pause, dcqcn_bth_may_ask(bth));
	return dcqcn_rp_obey(qp, skb, bth, tos, okfn);
}

/**
 * dcqcn_rp_begin() - handle an outgoing packet of a QP without an entry
 * @dev: the port
 * @qpn: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 * @okfn: resumes the packet behind our hook
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_begin(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos,
			    dcqcn_okfn okfn)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];
	struct dcqcn_qp *qp;

	if ((kind != DCQCN_PKT_REQUEST && kind != DCQCN_PKT_RESPONSE) ||
	    !(settings->rp_enable & BIT(tos >> 5)))
		return NF_ACCEPT;
	qp = dcqcn_qp_begin(dev, qpn, skb);
	if (!qp)
		return NF_ACCEPT;
	if (dcqcn_rp_starts(settings, kind, tos >> 5))
		dcqcn_limiter_start(qp, settings, ULONG_MAX,
				    dcqcn_bth_may_ask(bth));
	return dcqcn_rp_obey(qp, skb, bth, tos, okfn);
}

/* The limiter or the context of a packet's QP sees it */
static __always_inline unsigned int
dcqcn_rp_see(struct dcqcn_qp *qp, struct sk_buff *skb, enum dcqcn_pkt_kind kind,
	     const struct dcqcn_bth *bth, u8 tos, dcqcn_okfn okfn)
{
	if (!dcqcn_qp_expects(qp, skb, dcqcn_bth_qpn(bth),
			      kind == DCQCN_PKT_ACK ? READ_ONCE(qp->prio) :
						      tos >> 5))
		return dcqcn_rp_review(qp, skb, bth, tos, okfn);
	return dcqcn_rp_pace(qp, skb, kind, bth, tos, okfn);
}

/* A request leaves that neither the limiter nor the context sees */
static __always_inline unsigned int
dcqcn_rp_send_unseen(struct dcqcn_qp *qp, struct sk_buff *skb, dcqcn_okfn okfn)
{
	dcqcn_pacer_pass(&qp->flow);
	dcqcn_count(qp->dev, DCQCN_RP_PASSED);
	dcqcn_pacer_send(skb, okfn);
	return NF_STOLEN;
}

/**
 * dcqcn_rp_limit() - handle an outgoing packet of a QP that is limited
 * @qp: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 * @okfn: resumes the packet behind our hook
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_limit(struct dcqcn_qp *qp, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos,
			    dcqcn_okfn okfn)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	/* its PSN tells that it is of the same connection */
	if (kind == DCQCN_PKT_REQUEST && dcqcn_pacer_may_pass(&qp->flow, skb, bth))
		return dcqcn_rp_send_unseen(qp, skb, okfn);
	return dcqcn_rp_see(qp, skb, kind, bth, tos, okfn);
}

/* Handle an outgoing packet of a QP that obeys a context. After a pause, the context sees the
 * first one: what it lent before is not worth much then.
 */
static unsigned int dcqcn_rp_window(struct dcqcn_qp *qp, struct dcqcn_ccc *ccc,
				    struct sk_buff *skb,
				    const struct dcqcn_bth *bth, u8 tos,
				    dcqcn_okfn okfn)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	if (kind == DCQCN_PKT_REQUEST && dcqcn_qp_is_seen(qp) &&
	    !skb_cloned(skb) && dcqcn_pacer_may_pass(&qp->flow, skb, bth) &&
	    dcqcn_ccc_passes(ccc, (struct dcqcn_bth *)bth, skb->len + ETH_HLEN))
		return dcqcn_rp_send_unseen(qp, skb, okfn);
	return dcqcn_rp_see(qp, skb, kind, bth, tos, okfn);
}

/**
 * dcqcn_rp_pass_ccc() - dcqcn_rp_pass() where some port uses contexts
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 * @okfn: resumes the packet behind our hook
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_pass_ccc(struct dcqcn_dev *dev, u32 qpn,
			       struct sk_buff *skb, const struct dcqcn_bth *bth,
			       u8 tos, dcqcn_okfn okfn)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, qpn);
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc *ccc;

	settings = rcu_dereference(dev->settings);
	if (!qp)
		return dcqcn_settings_start(settings) ?
		       dcqcn_rp_begin(dev, qpn, skb, bth, tos, okfn) :
		       NF_ACCEPT;
	ccc = rcu_dereference(qp->ccc);
	/* without the lock, as a filter: a flow that obeys a context has nothing to offer */
	if (READ_ONCE(qp->windowed) && ccc &&
	    READ_ONCE(ccc->tx.agreed) == settings->ccc.algorithms)
		return dcqcn_rp_window(qp, ccc, skb, bth, tos, okfn);
	if (dcqcn_qp_is_seen(qp) && !READ_ONCE(qp->flow.limited) && !ccc)
		return NF_ACCEPT;
	return dcqcn_rp_review(qp, skb, bth, tos, okfn);
}

/**
 * dcqcn_rp_output_shared() - dcqcn_rp_output() for a cloned packet
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to
 * @skb: the packet to mark ECT, with a readable BTH; its headers move
 * @v6: IPv6
 * @okfn: resumes the packet behind our hook
 *
 * If there is no memory for a copy, the packet stays unmarked and is counted.
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rp_output_shared(struct dcqcn_dev *dev, u32 qpn,
				    struct sk_buff *skb, bool v6,
				    dcqcn_okfn okfn)
{
	struct dcqcn_view view;

	if (skb_ensure_writable(skb, v6 ? sizeof(struct ipv6hdr) :
					  sizeof(struct iphdr)))
		dcqcn_count(dev, DCQCN_RP_ECT_ERRORS);
	else
		dcqcn_rp_mark(skb, v6);
	dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6);
	return dcqcn_rp_pass(dev, qpn, skb, view, okfn);
}
