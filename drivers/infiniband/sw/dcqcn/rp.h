/* SPDX-License-Identifier: GPL-2.0 */
/* The reaction point. See rp.c. */
#ifndef DCQCN_RP_H
#define DCQCN_RP_H

#include <linux/bits.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>

#include "device.h"
#include "pacer.h"
#include "packet.h"
#include "qp.h"

/**
 * enum dcqcn_verdict - what happened to a CNP
 * @DCQCN_CNP_HANDLED: it is accepted, and cuts its QP's rate unless it comes too soon
 * @DCQCN_CNP_WAITS: it waits until its QP is known
 * @DCQCN_CNP_INVALID: wrong length, ICRC or destination
 * @DCQCN_CNP_NO_QP: no such QP
 * @DCQCN_CNP_DISABLED: RP is off for the QP's priority
 * @DCQCN_CNP_NOT_PEER: it is not from the QP's peer
 * @DCQCN_CNP_STOPPING: the port is going away
 * @DCQCN_CNP_WINDOWED: the QP obeys a context, which hears of marks otherwise
 * @DCQCN_CNP_NO_ROOM: no memory, too many QPs to ask about, or too many CNPs that
 *	wait for this one
 */
enum dcqcn_verdict {
	DCQCN_CNP_HANDLED,
	DCQCN_CNP_WAITS,
	DCQCN_CNP_INVALID,
	DCQCN_CNP_NO_QP,
	DCQCN_CNP_DISABLED,
	DCQCN_CNP_NOT_PEER,
	DCQCN_CNP_STOPPING,
	DCQCN_CNP_WINDOWED,
	DCQCN_CNP_NO_ROOM,
};

void dcqcn_rp_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt);
void dcqcn_rp_ack(struct dcqcn_dev *dev, const struct dcqcn_pkt *pkt);
void dcqcn_rp_resolved(struct dcqcn_qp *qp, const struct in6_addr *saddr, u32 n);
unsigned int dcqcn_rp_begin(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos,
			    dcqcn_okfn okfn);
unsigned int dcqcn_rp_limit(struct dcqcn_qp *qp, struct sk_buff *skb,
			    const struct dcqcn_bth *bth, u8 tos,
			    dcqcn_okfn okfn);
unsigned int dcqcn_rp_review(struct dcqcn_qp *qp, struct sk_buff *skb,
			     const struct dcqcn_bth *bth, u8 tos,
			     dcqcn_okfn okfn);
unsigned int dcqcn_rp_pass_ccc(struct dcqcn_dev *dev, u32 qpn,
			       struct sk_buff *skb, const struct dcqcn_bth *bth,
			       u8 tos, dcqcn_okfn okfn);
unsigned int dcqcn_rp_output_shared(struct dcqcn_dev *dev, u32 qpn,
				    struct sk_buff *skb, bool v6,
				    dcqcn_okfn okfn);

/* Let switches mark a packet that is not ECT instead of dropping it */
static __always_inline void dcqcn_rp_mark(struct sk_buff *skb, bool v6)
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
dcqcn_rp_pass(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
	      struct dcqcn_view view, dcqcn_okfn okfn)
{
	struct dcqcn_qp *qp = NULL;

	if (static_branch_unlikely(&dcqcn_cccs))
		return dcqcn_rp_pass_ccc(dev, qpn, skb, view.bth, view.tos,
					 okfn);
	if (READ_ONCE(dev->table.num))
		qp = dcqcn_qp_find(dev, qpn);
	if (!qp)
		return rcu_dereference(dev->settings)->rp.start_burst ?
		       dcqcn_rp_begin(dev, qpn, skb, view.bth, view.tos,
				      okfn) : NF_ACCEPT;
	if (READ_ONCE(qp->flow.limited))
		return dcqcn_rp_limit(qp, skb, view.bth, view.tos, okfn);
	if (dcqcn_qp_is_seen(qp))
		return NF_ACCEPT;
	return dcqcn_rp_review(qp, skb, view.bth, view.tos, okfn);
}

/**
 * dcqcn_rp_output() - handle a packet from rxe
 * @dev: the port it belongs to
 * @qpn: the QP it belongs to, never QP0 or QP1
 * @skb: the packet
 * @view: its headers, including the BTH
 * @v6: IPv6
 * @state: of the hook; its okfn resumes the packet behind it
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
dcqcn_rp_output(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
		struct dcqcn_view view, bool v6, const struct nf_hook_state *state)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	u32 dest = dcqcn_bth_qpn(view.bth);

	if (dest <= DCQCN_QPN_GSI || dest == DCQCN_QPN_MULTICAST)
		return NF_ACCEPT;
	if ((view.tos & DCQCN_ECN_MASK) == DCQCN_ECN_NOT_ECT &&
	    settings->rp_enable & BIT(view.tos >> 5) &&
	    !dcqcn_bth_is_ack(view.bth)) {
		if (unlikely(skb_cloned(skb)))
			return dcqcn_rp_output_shared(dev, qpn, skb, v6,
						      state->okfn);
		dcqcn_rp_mark(skb, v6);
	}
	return dcqcn_rp_pass(dev, qpn, skb, view, state->okfn);
}

#endif /* DCQCN_RP_H */
