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

/**
 * dcbport_mark() - mark a packet that enters a queue, with the curve's probability
 * @port: the port
 * @class: its class
 * @skb: the packet, whose flow is counted already
 */
void dcbport_mark(struct dcbport *port, struct dcbport_class *class,
		  struct sk_buff *skb)
{
	u8 tc = class - port->class;
	u32 chance = dcbport_curve_chance(&class->curve, class->bytes);

	if (chance && class->counts_flows)
		chance = dcbport_flows_chance(&port->settings.flows[tc], chance,
					      class->flows->count,
					      class->counted > class->queue.qlen);
	if (chance && dcbport_curve_marks(chance, get_random_u32()) &&
	    packet_mark(skb)) {
		class->count.marked++;
		qdisc_qstats_overlimit(port->sch);
	}
}
