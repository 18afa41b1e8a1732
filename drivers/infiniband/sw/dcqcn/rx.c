// SPDX-License-Identifier: GPL-2.0
/*
 * A packet that came in and that the hook's filter let through: read it once, and hand it to
 * the part of the module that it concerns. CNPs and feedback end here, as rxe knows neither.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "ccc.h"
#include "cnp.h"
#include "device.h"
#include "np.h"
#include "packet.h"
#include "qp.h"
#include "rx.h"

/* Whether a packet is data whose sender understands feedback. An atomic operation's ACK counts as
 * data where its sender says so.
 */
static bool dcqcn_rx_is_capable(const struct dcqcn_pkt *pkt)
{
	const struct dcqcn_bth *bth;

	if (!static_branch_unlikely(&dcqcn_cccs) ||
	    (pkt->kind != DCQCN_PKT_REQUEST &&
	     pkt->kind != DCQCN_PKT_RESPONSE && pkt->kind != DCQCN_PKT_ACK))
		return false;
	bth = (const void *)(pkt->udp + 1);
	return bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE);
}

/* Return true if a UDP packet goes to RoCEv2's port, wherever its headers are */
static bool dcqcn_rx_is_to_roce(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct udphdr *udp;
	struct udphdr copy;

	udp = skb_header_pointer(skb, iph->version == 6 ? sizeof(struct ipv6hdr) :
							  iph->ihl * 4,
				 sizeof(copy), &copy);
	return udp && udp->dest == cpu_to_be16(DCQCN_UDP_PORT);
}

/**
 * dcqcn_rx_other() - a packet came that concerns no limiter and no context
 * @skb: the packet
 *
 * It takes time on the link.
 *
 * Context: softirq, or process if NFQUEUE has held the packet; under RCU.
 * Return: NF_ACCEPT.
 */
unsigned int dcqcn_rx_other(const struct sk_buff *skb)
{
	struct dcqcn_dev *dev = dcqcn_dev_by_ndev(skb->dev);

	if (dev)
		dcqcn_ccc_other(dev, skb);
	return NF_ACCEPT;
}

/* An ACK came while flows are limited. Takes the QP's lock if its flow waits for an ACK. */
static void dcqcn_rx_ack(struct dcqcn_dev *dev, const struct dcqcn_pkt *pkt)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, pkt->dest_qpn);
	const struct dcqcn_path *path;
	struct in6_addr saddr;

	if (!qp || !READ_ONCE(qp->limited))
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
 * dcqcn_rx() - handle a packet that may concern us
 * @skb: the packet
 *
 * Context: softirq, or process if NFQUEUE has held the packet; under RCU. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_rx(struct sk_buff *skb)
{
	struct dcqcn_dev *dev;
	struct dcqcn_pkt pkt;
	unsigned int len;
	bool joined, ce;

	if (!dcqcn_rx_is_to_roce(skb))
		return static_branch_unlikely(&dcqcn_cccs) ?
		       dcqcn_rx_other(skb) : NF_ACCEPT;
	dev = dcqcn_dev_by_ndev(skb->dev);
	if (!dev)
		return NF_ACCEPT;

	/* The stack takes apart what GRO has joined, and may crash if the bytes of one packet
	 * have moved to another's buffer (rx-gro-list). RoCEv2 is not joined, because its UDP
	 * checksum is 0, so look at the first packet only.
	 */
	joined = skb_is_gso(skb);
	len = min_t(unsigned int, joined ? skb_pagelen(skb) : skb->len,
		    DCQCN_PKT_HEADERS);
	if (!pskb_may_pull(skb, len))
		return NF_ACCEPT;
	dcqcn_pkt_parse(&pkt, skb_network_header(skb), skb_headlen(skb));
	if (joined && pkt.kind != DCQCN_PKT_CNP && pkt.kind != DCQCN_PKT_FEEDBACK)
		pkt.kind = DCQCN_PKT_OTHER;

	if (static_branch_unlikely(&dcqcn_cccs) &&
	    !dcqcn_rx_is_capable(&pkt))
		dcqcn_ccc_other(dev, skb);
	ce = pkt.kind != DCQCN_PKT_OTHER && dcqcn_pkt_ecn(&pkt) == DCQCN_ECN_CE;
	if (ce)
		dcqcn_count(dev, DCQCN_NP_ECN_MARKED);
	switch (pkt.kind) {
	case DCQCN_PKT_CNP:
		dcqcn_cnp_receive(dev, skb, &pkt);
		consume_skb(skb);
		return NF_STOLEN;
	case DCQCN_PKT_FEEDBACK:
		dcqcn_ccc_feedback(dev, skb, &pkt);
		consume_skb(skb);
		return NF_STOLEN;
	case DCQCN_PKT_REQUEST:
	case DCQCN_PKT_RESPONSE:
		if (dcqcn_rx_is_capable(&pkt) &&
		    dcqcn_ccc_receive(dev, skb, &pkt))
			return NF_ACCEPT;
		if (ce)
			dcqcn_np_receive(dev, skb, &pkt);
		return NF_ACCEPT;
	case DCQCN_PKT_ACK:
		if (dcqcn_rx_is_capable(&pkt))
			dcqcn_ccc_receive(dev, skb, &pkt);
		dcqcn_rx_ack(dev, &pkt);
		return NF_ACCEPT;
	default:
		return NF_ACCEPT;
	}
}
