// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the state of a queue into the stamps of packets that leave it, if their senders ask for
 * that: see <net/roce_stamp.h>. The sender has added an empty stamp, so the packet keeps its
 * length, and the datagram is not changed.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <net/roce_stamp.h>

#include "class.h"
#include "classify.h"
#include "hop.h"
#include "stamp.h"

/* Find where a packet's IP datagram ends. Return bytes from skb->data; negative if the packet is
 * not IP, or shorter than its IP header says.
 */
static int datagram_end(const struct sk_buff *skb)
{
	union {
		struct iphdr ip;
		struct ipv6hdr ip6;
	} buffer;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;
	__be16 protocol;
	int at = dcbport_network_offset(skb, &protocol);

	if (at < 0)
		return at;
	if (protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, at, sizeof(*ip), &buffer);
		return ip ? at + ntohs(ip->tot_len) : -EINVAL;
	}
	if (protocol != htons(ETH_P_IPV6))
		return -EINVAL;
	ip6 = skb_header_pointer(skb, at, sizeof(*ip6), &buffer);
	return ip6 ? at + (int)sizeof(*ip6) + ntohs(ip6->payload_len) : -EINVAL;
}

/* Whether a packet has a stamp at @at that is empty, or has a lower load than @load */
static bool wants_stamp(const struct sk_buff *skb, int at, u16 load)
{
	const struct roce_stamp *stamp;
	struct roce_stamp buffer;

	if (at < 0 || at + sizeof(*stamp) > skb->len)
		return false;
	stamp = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
	return stamp && be32_to_cpu(stamp->magic) == ROCE_STAMP_MAGIC &&
	       (!stamp->port || load > be16_to_cpu(stamp->load));
}

/* Write a stamp into a packet, which may share its bytes with copies, and may have a checksum of
 * all of its bytes
 */
static void write_stamp(struct sk_buff *skb, int at, const struct roce_stamp *stamp)
{
	unsigned int truesize = skb->truesize;
	int err = skb_ensure_writable(skb, at + sizeof(*stamp));

	skb->truesize = truesize;	/* as in mark.c */
	if (err)
		return;
	memcpy(skb->data + at, stamp, sizeof(*stamp));
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
}

/**
 * dcbport_stamp() - stamp a packet that goes onto the wire, if its sender asks for that
 * @port: the port, which has a rate
 * @class: its class, which no longer counts its bytes
 * @skb: the packet
 */
void dcbport_stamp(struct dcbport *port, struct dcbport_class *class, struct sk_buff *skb)
{
	u64 rate = class->pace.rate ? min(class->pace.rate, port->wire.rate) : port->wire.rate;
	u64 now = max(ktime_get_ns(), port->wire.free);
	struct dcbport_hop *hop = &port->hops[class - port->class];
	struct roce_stamp stamp;
	int at;
	u16 load;

	dcbport_hop_sent(hop, rate, qdisc_pkt_len(skb) + port->wire.overhead, now);
	load = dcbport_hop_load(hop, rate, class->bytes);
	at = datagram_end(skb);
	if (!wants_stamp(skb, at, load))
		return;
	stamp = (struct roce_stamp) {
		.magic = cpu_to_be32(ROCE_STAMP_MAGIC),
		.port = cpu_to_be16(hop->number),
		.load = cpu_to_be16(load),
		.mbps = cpu_to_be32(div_u64(rate, 1000000)),
		.queue = cpu_to_be32(class->bytes),
		.sent = cpu_to_be32(hop->sent),
		.time = cpu_to_be32(now),
	};
	write_stamp(skb, at, &stamp);
}
