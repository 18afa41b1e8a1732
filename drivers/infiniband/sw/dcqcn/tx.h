/* SPDX-License-Identifier: GPL-2.0 */
/* Outgoing packets. See tx.c. */
#ifndef DCQCN_TX_H
#define DCQCN_TX_H

#include <linux/bits.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>

#include "device.h"
#include "packet.h"
#include "qp.h"

/**
 * struct dcqcn_tx - a packet that rxe sends
 * @skb: the packet
 * @bth: its BTH, readable
 * @psn: its PSN
 * @bytes: its length on the wire as switches count it, without the FCS
 * @kind: what it is
 * @prio: its priority
 * @limit: a limit applies to that priority
 * @ack_req: it asks for an ACK of its own PSN
 */
struct dcqcn_tx {
	struct sk_buff *skb;
	const struct dcqcn_bth *bth;
	u32 psn;
	u32 bytes;
	enum dcqcn_pkt_kind kind;
	u8 prio;
	bool limit;
	bool ack_req;
};

unsigned int dcqcn_tx_begin(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos);
unsigned int dcqcn_tx_limit(struct dcqcn_qp *qp, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos);
unsigned int dcqcn_tx_review(struct dcqcn_qp *qp, struct sk_buff *skb,
			     const struct dcqcn_bth *bth, u8 tos);
unsigned int dcqcn_tx_pass_ccc(struct dcqcn_dev *dev, u32 qpn,
			       struct sk_buff *skb, const struct dcqcn_bth *bth,
			       u8 tos);
unsigned int dcqcn_tx_output_shared(struct dcqcn_dev *dev, u32 qpn,
				    struct sk_buff *skb, bool v6);

/* Let switches mark a packet that is not ECT instead of dropping it */
static __always_inline void dcqcn_tx_mark(struct sk_buff *skb, bool v6)
{
	if (v6)
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~DCQCN_ECN_MASK,
				    DCQCN_ECN_ECT_0);
	else
		dcqcn_ipv4_set_ect0(ip_hdr(skb));
}

/* Once a packet is ECT, see whether its QP has, or needs, a limiter. A QP without one
 * is checked once per jiffy, often enough to notice a pause.
 */
static __always_inline unsigned int
dcqcn_tx_pass(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
	      struct dcqcn_view view)
{
	struct dcqcn_qp *qp = NULL;

	if (static_branch_unlikely(&dcqcn_cccs))
		return dcqcn_tx_pass_ccc(dev, qpn, skb, view.bth, view.tos);
	if (READ_ONCE(dev->table.num))
		qp = dcqcn_qp_find(dev, qpn);
	if (!qp)
		return rcu_dereference(dev->settings)->rp.start_burst ?
		       dcqcn_tx_begin(dev, qpn, skb, view.bth, view.tos) : NF_ACCEPT;
	if (READ_ONCE(qp->limited))
		return dcqcn_tx_limit(qp, skb, view.bth, view.tos);
	if (dcqcn_qp_is_seen(qp))
		return NF_ACCEPT;
	return dcqcn_tx_review(qp, skb, view.bth, view.tos);
}

/**
 * dcqcn_tx_output() - handle a packet from rxe
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to, never QP0 or QP1
 * @skb: the packet
 * @view: its headers, including the BTH
 * @v6: IPv6
 *
 * While flows start at line rate and no QP of the port has met congestion,
 * packets are only marked ECT.
 * Inline, because every packet that rxe sends passes here. Few enough values live on
 * until the end for registers that need not be saved, and all calls are tail calls.
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
static __always_inline unsigned int
dcqcn_tx_output(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
		struct dcqcn_view view, bool v6)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	u32 dest = dcqcn_bth_qpn(view.bth);

	if (dest <= DCQCN_QPN_GSI || dest == DCQCN_QPN_MULTICAST)
		return NF_ACCEPT;
	if ((view.tos & DCQCN_ECN_MASK) == DCQCN_ECN_NOT_ECT &&
	    settings->rp_enable & BIT(view.tos >> 5) &&
	    !dcqcn_bth_is_ack(view.bth)) {
		if (unlikely(skb_cloned(skb)))
			return dcqcn_tx_output_shared(dev, qpn, skb, v6);
		dcqcn_tx_mark(skb, v6);
	}
	return dcqcn_tx_pass(dev, qpn, skb, view);
}

#endif /* DCQCN_TX_H */
