/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code of contexts itself, for a program that has hosts, and says what their ports send
 * (dcqcn_xmit()) and which QPs they have.
 */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <stdlib.h>

#include "kernel.h"

#define DCQCN_NETLINK_H
#define DCQCN_TRACE_H
#define hash_for_each_possible_rcu(table, pos, member, key) \
	for (pos = NULL; pos; pos = NULL)
#define DECLARE_HASHTABLE(name, bits) int name
struct workqueue_struct;

#include "ccc.c"
#include "agree.c"
#include "window.c"
#include "hear.c"
#include "ccc_receiver.c"

DEFINE_STATIC_KEY_FALSE(dcqcn_cccs);

#define FRAME		4154		/* bytes: MTU 4096 */

/* answer.c, whose tests are test_cnp.c and test_pacer.c */
bool dcqcn_answer_hear(const struct dcqcn_rx *in, const struct dcqcn_feedback *said)
{
	return false;
}

static struct net net;
static struct net_device ndev = { .net = &net, .ifindex = 1 };

/* The port has sent all that it may */
static bool used_up;
static s64 last_gap;		/* ns; what one more costs */
static s64 paid;		/* ns; as dcqcn_xmit_charge() in xmit.c */

bool dcqcn_xmit_charge(atomic64_t *account, s64 gap)
{
	last_gap = gap;
	/* it is later than that only if a test has begun since */
	if (paid > (s64)fuzz_now + DCQCN_XMIT_GAP_NS)
		paid = 0;
	if (used_up || paid > (s64)fuzz_now)
		return false;
	paid = max(paid, (s64)(fuzz_now - DCQCN_XMIT_BURST_NS)) + gap;
	return true;
}

void dcqcn_queue_kick(struct dcqcn_qp *qp)
{
}

/* What rx.c makes of a packet */
static inline struct dcqcn_rx rx_of(struct dcqcn_dev *dev, struct sk_buff *skb)
{
	struct dcqcn_rx rx = { .dev = dev, .skb = skb, .capable = true };

	dcqcn_pkt_parse(&rx.pkt, skb->data, skb_headlen(skb));
	rx.ce = dcqcn_pkt_ecn(&rx.pkt) == DCQCN_ECN_CE;
	rx.unicast = skb->pkt_type == PACKET_HOST && rx.pkt.dest_qpn > DCQCN_QPN_GSI &&
		     rx.pkt.dest_qpn < DCQCN_QPN_MULTICAST;
	return rx;
}

/* Put a QP into the table, in the place of qp.c */
static inline void add_qp(struct dcqcn_dev *dev, struct dcqcn_qp *qp)
{
	kernel_assert(!xa_insert_bh(&dev->qps, qp->qpn, qp, GFP_ATOMIC));
}

/* 10.0.0.LAST */
static inline void address(struct in6_addr *a, u8 last)
{
	*a = (struct in6_addr) { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, last } };
}

/* RC WRITE, middle, with the last bytes of two addresses, in memory of exactly its size.
 * bits: of the BTH, beside the destination QP
 */
static inline struct sk_buff *data_packet(u32 frame, u8 from, u16 port, u8 to, u32 qpn,
					  u32 bits, u32 psn, bool ce)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	struct iphdr *iph;
	struct udphdr *udp;
	struct dcqcn_bth *bth;

	skb->len = frame - ETH_HLEN;
	skb->data = calloc(1, skb->len);
	skb->dev = &ndev;
	iph = (void *)skb->data;
	*iph = (struct iphdr) { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP,
				.tos = ce ? 3 : 2, .tot_len = cpu_to_be16(skb->len),
				.saddr = cpu_to_be32(0x0a000000 + from),
				.daddr = cpu_to_be32(0x0a000000 + to) };
	udp = (void *)(iph + 1);
	udp->source = cpu_to_be16(port);
	udp->dest = cpu_to_be16(DCQCN_UDP_PORT);
	udp->len = cpu_to_be16(skb->len - sizeof(*iph));
	bth = (void *)(udp + 1);
	bth->opcode = 0x07;
	bth->qpn = cpu_to_be32(bits | qpn);
	bth->psn = cpu_to_be32(psn);
	return skb;
}

static inline void free_packet(struct sk_buff *skb)
{
	free(skb->data);
	free(skb);
}

#endif /* CONTEXTS_H */
