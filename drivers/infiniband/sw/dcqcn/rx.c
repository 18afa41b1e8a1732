// SPDX-License-Identifier: GPL-2.0
/*
 * LOCAL_IN: looks at the packets that rxe receives.
 *
 * Almost all packets pass the filter after a few comparisons. The others are parsed once and
 * go on by their kind. CNPs and feedback end here, as rxe knows neither.
 *
 * The hook runs in softirq, or in process context with BH enabled if NFQUEUE has held the packet.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "answer.h"
#include "cc.h"
#include "ccc.h"
#include "cnp.h"
#include "device.h"
#include "limiter.h"
#include "np.h"
#include "packet.h"
#include "qp.h"
#include "rx.h"

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

/* Charge the link for a packet that no context counts */
static noinline unsigned int dcqcn_rx_other(const struct sk_buff *skb)
{
	struct dcqcn_dev *dev = dcqcn_dev_by_ndev(skb->dev);

	if (dev)
		dcqcn_ccc_other(dev, skb);
	return NF_ACCEPT;
}

/* Describe a packet to RoCEv2's port. Return false if no port has it, or if there is no memory to
 * read it. @cccs: some port uses contexts.
 *
 * GRO may have joined packets. The stack splits them later, and may crash if the bytes of one
 * packet have moved to another's buffer (rx-gro-list). So look at the first packet only. RoCEv2
 * packets are not joined, because their UDP checksum is 0.
 */
static bool dcqcn_rx_describe(struct dcqcn_rx *rx, struct sk_buff *skb, bool cccs)
{
	struct dcqcn_pkt *pkt = &rx->pkt;
	bool joined = skb_is_gso(skb);
	const struct dcqcn_bth *bth;
	unsigned int len;

	BUILD_BUG_ON(DCQCN_PKT_HEADERS < 60 + sizeof(struct udphdr) +
					 sizeof(struct dcqcn_bth) + 8);
	rx->skb = skb;
	rx->dev = dcqcn_dev_by_ndev(skb->dev);
	if (!rx->dev)
		return false;
	len = min_t(unsigned int, joined ? skb_pagelen(skb) : skb->len,
		    DCQCN_PKT_HEADERS);
	if (!pskb_may_pull(skb, len))
		return false;
	dcqcn_pkt_parse(pkt, skb_network_header(skb), skb_headlen(skb));
	if (joined && pkt->kind != DCQCN_PKT_CNP && pkt->kind != DCQCN_PKT_FEEDBACK)
		pkt->kind = DCQCN_PKT_OTHER;

	rx->ce = pkt->kind != DCQCN_PKT_OTHER &&
		 dcqcn_pkt_ecn(pkt) == DCQCN_ECN_CE;
	rx->unicast = pkt->kind != DCQCN_PKT_OTHER &&
		      skb->pkt_type == PACKET_HOST &&
		      pkt->dest_qpn > DCQCN_QPN_GSI &&
		      pkt->dest_qpn < DCQCN_QPN_MULTICAST;
	/* an atomic operation's ACK counts as data if its sender says so */
	rx->capable = cccs && (pkt->kind == DCQCN_PKT_REQUEST ||
			       pkt->kind == DCQCN_PKT_RESPONSE ||
			       pkt->kind == DCQCN_PKT_ACK);
	rx->asks = pkt->kind == DCQCN_PKT_REQUEST || pkt->kind == DCQCN_PKT_RESPONSE;
	if (rx->capable || rx->asks) {
		bth = (const void *)(pkt->udp + 1);
		rx->capable &= !!(bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE));
		rx->asks &= (bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE | DCQCN_BTH_REQUEST)) ==
			    cpu_to_be32(DCQCN_BTH_REQUEST);
	}
	return true;
}

/* An ACK came while flows are limited. Takes the QP's lock if its flow waits for an ACK. */
static void dcqcn_rx_ack(const struct dcqcn_rx *rx)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(rx->dev, rx->pkt.dest_qpn);
	const struct dcqcn_path *path;
	struct in6_addr saddr;
	int syndrome;

	if (!qp || !READ_ONCE(qp->limited))
		return;
	path = READ_ONCE(qp->flow.path);
	if (!path || (!READ_ONCE(path->probe_time) &&
		      READ_ONCE(qp->obeys) != DCQCN_OBEYS_ALGORITHM))
		return;
	syndrome = dcqcn_pkt_syndrome(&rx->pkt);
	if (syndrome < 0)
		return;
	dcqcn_ip_saddr(rx->pkt.ip, &saddr);
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && dcqcn_qp_is_peer(qp, &saddr)) {
		if ((syndrome & DCQCN_AETH_KIND) == DCQCN_AETH_ACK)
			dcqcn_queue_acked(qp, rx->pkt.psn, dcqcn_ip_hops(rx->pkt.ip));
		else if (syndrome == DCQCN_AETH_NAK_SEQUENCE && dcqcn_qp_has_algorithm(qp))
			dcqcn_flight_missed(&qp->cc->flight);
	}
	spin_unlock_bh(&qp->lock);
}

/* Handle a packet that the filter did not let pass. Out of line to keep the fast path small. @cccs:
 * some port uses contexts. @skb is the second argument, as it is the hook's, and so stays in its
 * register.
 */
static noinline unsigned int dcqcn_rx(bool cccs, struct sk_buff *skb)
{
	struct dcqcn_rx rx;

	if (!dcqcn_rx_is_to_roce(skb))
		return cccs ? dcqcn_rx_other(skb) : NF_ACCEPT;
	if (!dcqcn_rx_describe(&rx, skb, cccs))
		return NF_ACCEPT;
	if (cccs && !rx.capable)
		dcqcn_ccc_other(rx.dev, skb);
	if (rx.ce)
		dcqcn_count(rx.dev, DCQCN_NP_ECN_MARKED);
	switch (rx.pkt.kind) {
	case DCQCN_PKT_CNP:
		dcqcn_cnp_receive(&rx);
		consume_skb(skb);
		return NF_STOLEN;
	case DCQCN_PKT_FEEDBACK:
		dcqcn_ccc_feedback(&rx);
		consume_skb(skb);
		return NF_STOLEN;
	case DCQCN_PKT_REQUEST:
	case DCQCN_PKT_RESPONSE:
		if (rx.capable && dcqcn_ccc_receive(&rx))
			return NF_ACCEPT;
		if (rx.asks)
			dcqcn_answer_receive(&rx);
		if (rx.ce)
			dcqcn_np_receive(&rx);
		return NF_ACCEPT;
	case DCQCN_PKT_ACK:
		if (rx.capable)
			dcqcn_ccc_receive(&rx);
		dcqcn_rx_ack(&rx);
		return NF_ACCEPT;
	default:
		return NF_ACCEPT;
	}
}

/* Return false for packets to RoCEv2's port that need no closer look, which are almost all. Return
 * true if a packet may be a CNP, feedback, CE-marked, an ACK that a limited flow waits for, data
 * that asks for an answer, or data that a context counts (@cccs: some port uses contexts). rxe
 * knows no opcode from 0x80 on; CNPs and vendors' opcodes are there. If the headers are not linear,
 * dcqcn_rx() looks at the port.
 */
static __always_inline bool dcqcn_rx_filter(const struct sk_buff *skb, bool v6,
					    bool cccs)
{
	u32 bits = DCQCN_BTH_REQUEST | (cccs ? DCQCN_BTH_CAPABLE : 0);
	struct dcqcn_headers headers;

	if (!dcqcn_ip_is_udp(skb_network_header(skb), v6))
		return false;
	if (!dcqcn_headers_find_plain(&headers, skb_network_header(skb), skb_headlen(skb), v6))
		return true;
	if (!dcqcn_headers_are_to_roce(&headers))
		return false;
	return (headers.tos & DCQCN_ECN_MASK) == DCQCN_ECN_CE ||
	       headers.bth->opcode >= DCQCN_OPCODE_NOT_RXE ||
	       headers.bth->qpn & cpu_to_be32(bits) ||
	       (dcqcn_bth_is_ack(headers.bth) &&
		READ_ONCE(dcqcn_any_limited));
}

/* Whether a packet is unmarked data whose sender understands feedback, and requests nothing */
static __always_inline bool dcqcn_rx_is_plain(const struct sk_buff *skb,
					      const struct dcqcn_headers *headers, bool v6)
{
	u32 bits = be32_to_cpu(headers->bth->qpn);
	u8 kind = dcqcn_opcode_kinds[headers->bth->opcode];

	return (bits & (DCQCN_BTH_CAPABLE | DCQCN_BTH_SAYS)) ==
	       DCQCN_BTH_CAPABLE &&
	       (kind == DCQCN_PKT_REQUEST || kind == DCQCN_PKT_RESPONSE) &&
	       (headers->tos & DCQCN_ECN_MASK) != DCQCN_ECN_CE &&
	       dcqcn_headers_are_roce(headers, skb_network_header(skb), skb->len, v6);
}

/* LOCAL_IN while some port uses contexts, which count most received packets */
static __always_inline unsigned int dcqcn_rx_ccc(struct sk_buff *skb, bool v6)
{
	struct dcqcn_headers headers;

	if (dcqcn_ip_is_udp(skb_network_header(skb), v6) &&
	    dcqcn_headers_find_plain(&headers, skb_network_header(skb), skb_headlen(skb), v6) &&
	    dcqcn_rx_is_plain(skb, &headers, v6) && dcqcn_ccc_receive_plain(skb, headers))
		return NF_ACCEPT;
	return dcqcn_rx_filter(skb, v6, true) ? dcqcn_rx(true, skb) :
						dcqcn_rx_other(skb);
}

static noinline unsigned int dcqcn_rx_ccc4(struct sk_buff *skb)
{
	return dcqcn_rx_ccc(skb, false);
}

static noinline unsigned int dcqcn_rx_ccc6(struct sk_buff *skb)
{
	return dcqcn_rx_ccc(skb, true);
}

static __always_inline unsigned int dcqcn_local_in(struct sk_buff *skb, bool v6)
{
	if (static_branch_unlikely(&dcqcn_cccs))
		return v6 ? dcqcn_rx_ccc6(skb) : dcqcn_rx_ccc4(skb);
	return dcqcn_rx_filter(skb, v6, false) ? dcqcn_rx(false, skb) : NF_ACCEPT;
}

/**
 * dcqcn_local_in4() - LOCAL_IN of IPv4
 * @priv: unused
 * @skb: a packet
 * @state: of the hook
 *
 * Context: under RCU; softirq, or process if NFQUEUE has held the packet. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_local_in4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	return dcqcn_local_in(skb, false);
}

/**
 * dcqcn_local_in6() - LOCAL_IN of IPv6
 * @priv: unused
 * @skb: a packet
 * @state: of the hook
 *
 * Context: under RCU; softirq, or process if NFQUEUE has held the packet. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_local_in6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	return dcqcn_local_in(skb, true);
}
