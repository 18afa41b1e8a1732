// SPDX-License-Identifier: GPL-2.0
/*
 * Outgoing packets: which QP sends them, and what that means for them. Data packets become
 * ECT(0), so that switches mark them instead of dropping them. Packets of a limited flow go
 * through the pacer.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/skbuff.h>

#include "ccc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "tx.h"

/* Return true if a packet may be the first of a flow with a slow start */
static bool dcqcn_tx_starts(const struct dcqcn_settings *settings,
			    enum dcqcn_pkt_kind kind, u8 prio)
{
	return settings->rp.start_burst && kind != DCQCN_PKT_ACK &&
	       settings->rp_enable & BIT(prio);
}

/* Give a QP that sends data a context, and offer that to its peer. Return true if the
 * packet may have to obey a limiter or a context; without the lock, as a filter. If not, it
 * leaves on the path of its flow.
 */
static noinline bool dcqcn_tx_offer(struct dcqcn_qp *qp, struct sk_buff *skb,
				    const struct dcqcn_bth *bth, u8 tos)
{
	const struct dcqcn_settings *settings;
	const struct dcqcn_ccc *ccc;

	settings = rcu_dereference(qp->dev->settings);
	if (settings->ccc.algorithms && settings->rp_enable & BIT(tos >> 5) &&
	    dcqcn_opcode_kinds[bth->opcode] != DCQCN_PKT_ACK)
		dcqcn_ccc_output(qp, settings, skb, tos >> 5);
	ccc = rcu_dereference(qp->ccc);
	if (READ_ONCE(qp->limited) || (ccc && READ_ONCE(ccc->tx.agreed)))
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
dcqcn_tx_pace(struct dcqcn_qp *qp, struct sk_buff *skb,
	      enum dcqcn_pkt_kind kind, const struct dcqcn_bth *bth, u8 tos)
{
	const struct dcqcn_settings *settings = rcu_dereference(qp->dev->settings);
	struct dcqcn_tx tx = {
		.skb = skb,
		.bth = bth,
		.psn = dcqcn_bth_psn(bth),
		.bytes = skb->len + ETH_HLEN,
		.kind = kind,
		.prio = tos >> 5,
		.limit = settings->rp_enable & BIT(tos >> 5),
		.ack_req = dcqcn_bth_wants_ack(bth),
	};

	return dcqcn_pacer_output(qp, &tx);
}

/* Hand a packet to its QP's limiter or context, if there is one */
static unsigned int dcqcn_tx_obey(struct dcqcn_qp *qp, struct sk_buff *skb,
				  const struct dcqcn_bth *bth, u8 tos)
{
	bool limited = READ_ONCE(qp->limited);

	if (static_branch_unlikely(&dcqcn_cccs))
		limited = dcqcn_tx_offer(qp, skb, bth, tos);
	if (!limited)
		return NF_ACCEPT;
	return dcqcn_tx_pace(qp, skb, dcqcn_opcode_kinds[bth->opcode], bth, tos);
}

/**
 * dcqcn_tx_review() - handle a packet that may change its QP's entry
 * @qp: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 *
 * A flow may begin with it, or its QP may be another one by now, or have a context.
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_tx_review(struct dcqcn_qp *qp, struct sk_buff *skb,
			     const struct dcqcn_bth *bth, u8 tos)
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
	if (pause && dcqcn_tx_starts(settings, kind, prio))
		dcqcn_limiter_start(qp, settings, pause, dcqcn_bth_may_ask(bth));
	return dcqcn_tx_obey(qp, skb, bth, tos);
}

/**
 * dcqcn_tx_begin() - handle an outgoing packet of a QP without an entry
 * @dev: the port
 * @qpn: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_tx_begin(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos)
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
	if (dcqcn_tx_starts(settings, kind, tos >> 5))
		dcqcn_limiter_start(qp, settings, ULONG_MAX,
				    dcqcn_bth_may_ask(bth));
	return dcqcn_tx_obey(qp, skb, bth, tos);
}

/* The limiter or the context of a packet's QP sees it */
static __always_inline unsigned int
dcqcn_tx_see(struct dcqcn_qp *qp, struct sk_buff *skb, enum dcqcn_pkt_kind kind,
	     const struct dcqcn_bth *bth, u8 tos)
{
	if (!dcqcn_qp_expects(qp, skb, dcqcn_bth_qpn(bth),
			      kind == DCQCN_PKT_ACK ? READ_ONCE(qp->prio) :
						      tos >> 5))
		return dcqcn_tx_review(qp, skb, bth, tos);
	return dcqcn_tx_pace(qp, skb, kind, bth, tos);
}

/* A request leaves that neither the limiter nor the context sees */
static __always_inline unsigned int
dcqcn_tx_send_unseen(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	dcqcn_pacer_pass(&qp->flow);
	dcqcn_count(qp->dev, DCQCN_RP_PASSED);
	dcqcn_pacer_send(skb);
	return NF_STOLEN;
}

/**
 * dcqcn_tx_limit() - handle an outgoing packet of a QP that is limited
 * @qp: the QP
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_tx_limit(struct dcqcn_qp *qp, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	/* its PSN tells that it is of the same connection */
	if (kind == DCQCN_PKT_REQUEST && dcqcn_pacer_may_pass(&qp->flow, skb, bth))
		return dcqcn_tx_send_unseen(qp, skb);
	return dcqcn_tx_see(qp, skb, kind, bth, tos);
}

/* Handle an outgoing packet of a QP that obeys a context. After a pause, the context sees the
 * first one: what it lent before is not worth much then.
 */
static unsigned int dcqcn_tx_window(struct dcqcn_qp *qp, struct dcqcn_ccc *ccc,
				    struct sk_buff *skb,
				    const struct dcqcn_bth *bth, u8 tos)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	if (kind == DCQCN_PKT_REQUEST && dcqcn_qp_is_seen(qp) &&
	    !skb_cloned(skb) && dcqcn_pacer_may_pass(&qp->flow, skb, bth) &&
	    dcqcn_ccc_passes(ccc, (struct dcqcn_bth *)bth, skb->len + ETH_HLEN))
		return dcqcn_tx_send_unseen(qp, skb);
	return dcqcn_tx_see(qp, skb, kind, bth, tos);
}

/**
 * dcqcn_tx_pass_ccc() - dcqcn_tx_pass() where some port uses contexts
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to
 * @skb: the packet
 * @bth: its BTH
 * @tos: its IPv4 TOS or IPv6 traffic class
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_tx_pass_ccc(struct dcqcn_dev *dev, u32 qpn,
			       struct sk_buff *skb, const struct dcqcn_bth *bth,
			       u8 tos)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, qpn);
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc *ccc;

	settings = rcu_dereference(dev->settings);
	if (!qp)
		return dcqcn_settings_start(settings) ?
		       dcqcn_tx_begin(dev, qpn, skb, bth, tos) :
		       NF_ACCEPT;
	ccc = rcu_dereference(qp->ccc);
	/* without the lock, as a filter: a flow that obeys a context has nothing to offer */
	if (READ_ONCE(qp->windowed) && ccc &&
	    READ_ONCE(ccc->tx.agreed) == settings->ccc.algorithms)
		return dcqcn_tx_window(qp, ccc, skb, bth, tos);
	if (dcqcn_qp_is_seen(qp) && !READ_ONCE(qp->limited) && !ccc)
		return NF_ACCEPT;
	return dcqcn_tx_review(qp, skb, bth, tos);
}

/**
 * dcqcn_tx_output_shared() - dcqcn_tx_output() for a cloned packet
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to
 * @skb: the packet to mark ECT, with a readable BTH; its headers move
 * @v6: IPv6
 *
 * If there is no memory for a copy, the packet stays unmarked and is counted.
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_tx_output_shared(struct dcqcn_dev *dev, u32 qpn,
				    struct sk_buff *skb, bool v6)
{
	struct dcqcn_view view;

	if (skb_ensure_writable(skb, v6 ? sizeof(struct ipv6hdr) :
					  sizeof(struct iphdr)))
		dcqcn_count(dev, DCQCN_RP_ECT_ERRORS);
	else
		dcqcn_tx_mark(skb, v6);
	dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6);
	return dcqcn_tx_pass(dev, qpn, skb, view);
}
