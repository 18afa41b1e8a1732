// SPDX-License-Identifier: GPL-2.0
/*
 * Marks packets as having met congestion, with the probability of curve.c and flows.c. A packet
 * that a bridge floods, or that somebody captures, shares its data with its copies: it gets
 * headers of its own first, because its copies have not met this congestion.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "classify.h"
#include "mark.h"

/* Whether the packet says that its sender reacts to marks, and has none yet */
static bool may_mark(u8 dsfield)
{
	u8 ecn = dsfield & INET_ECN_MASK;

	return ecn != INET_ECN_NOT_ECT && ecn != INET_ECN_CE;
}

/* Make the first bytes of a packet its own. Its memory counts as before: it was charged
 * already, and the copy differs at most by the slab's rounding.
 */
static bool own_header(struct sk_buff *skb, int len)
{
	unsigned int truesize = skb->truesize;
	int err = skb_ensure_writable(skb, len);

	skb->truesize = truesize;
	return !err;
}

static bool mark_ip(struct sk_buff *skb, int at)
{
	int end = at + sizeof(struct iphdr);
	struct iphdr buffer;
	const struct iphdr *ip = skb_header_pointer(skb, at, sizeof(buffer),
						    &buffer);

	return ip && may_mark(ipv4_get_dsfield(ip)) && own_header(skb, end) &&
	       IP_ECN_set_ce((struct iphdr *)(skb->data + at));
}

static bool mark_ipv6(struct sk_buff *skb, int at)
{
	int end = at + sizeof(struct ipv6hdr);
	struct ipv6hdr buffer;
	const struct ipv6hdr *ip = skb_header_pointer(skb, at, sizeof(buffer),
						      &buffer);

	return ip && may_mark(ipv6_get_dsfield(ip)) && own_header(skb, end) &&
	       IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + at));
}

/* Return false if the packet cannot be marked, or was before it came */
static bool packet_mark(struct sk_buff *skb)
{
	__be16 protocol;
	int at = dcbport_network_offset(skb, &protocol);

	if (at < 0)
		return false;
	switch (protocol) {
	case htons(ETH_P_IP):
		return mark_ip(skb, at);
	case htons(ETH_P_IPV6):
		return mark_ipv6(skb, at);
	default:
		return false;
	}
}

/* The ECN field of a packet, or Not-ECT if it is not IP */
static u8 packet_ecn(const struct sk_buff *skb)
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
		return INET_ECN_NOT_ECT;
	switch (protocol) {
	case htons(ETH_P_IP):
		ip = skb_header_pointer(skb, at, sizeof(*ip), &buffer);
		return ip ? ipv4_get_dsfield(ip) & INET_ECN_MASK : INET_ECN_NOT_ECT;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, at, sizeof(*ip6), &buffer);
		return ip6 ? ipv6_get_dsfield(ip6) & INET_ECN_MASK : INET_ECN_NOT_ECT;
	default:
		return INET_ECN_NOT_ECT;
	}
}

/* Draw whether the next packet is one to mark. Its flow is counted already, and its bytes are not
 * among those of the class.
 */
static bool draw(const struct dcbport *port, const struct dcbport_class *class)
{
	const struct dcbport_settings *s = &port->settings;
	u8 tc = class - port->class;
	u32 chance = dcbport_curve_chance(&s->curve[tc], class->bytes);

	if (chance && dcbport_settings_counts_flows(s, tc))
		chance = dcbport_flows_chance(&s->flows[tc], chance,
					      class->flows->count,
					      class->counted > class->queue.qlen);
	return chance && dcbport_curve_marks(chance, get_random_u32());
}

/**
 * dcbport_mark_drops() - decide whether to drop a packet because it cannot be marked
 * @port: the port
 * @class: its class, which drops such packets
 * @skb: the packet, which enters the class
 */
bool dcbport_mark_drops(const struct dcbport *port,
			const struct dcbport_class *class,
			const struct sk_buff *skb)
{
	return packet_ecn(skb) == INET_ECN_NOT_ECT && draw(port, class);
}

/**
 * dcbport_mark() - mark a packet that enters or leaves a queue, with the curve's probability
 * @port: the port
 * @class: its class
 * @skb: the packet, whose flow is counted
 */
void dcbport_mark(struct dcbport *port, struct dcbport_class *class,
		  struct sk_buff *skb)
{
	if (draw(port, class) && packet_mark(skb)) {
		class->count.marked++;
		qdisc_qstats_overlimit(port->sch);
	}
}
