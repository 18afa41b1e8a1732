// SPDX-License-Identifier: GPL-2.0
/*
 * Marks packets as having met congestion, with the probability of curve.c and flows.c. A packet
 * that a bridge floods, or that is captured, shares its data with its copies: it gets headers of
 * its own first, because its copies have not met this congestion.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>

#include "classify.h"
#include "mark.h"

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

/* Return false if the packet cannot be marked, or was marked before it came */
static bool packet_mark(struct sk_buff *skb)
{
	int at, dsfield = dcbport_dsfield(skb);
	__be16 protocol;

	if (dsfield < 0 || INET_ECN_is_not_ect(dsfield) || INET_ECN_is_ce(dsfield))
		return false;
	at = dcbport_network_offset(skb, &protocol);
	if (protocol == htons(ETH_P_IP))
		return own_header(skb, at + sizeof(struct iphdr)) &&
		       IP_ECN_set_ce((struct iphdr *)(skb->data + at));
	return own_header(skb, at + sizeof(struct ipv6hdr)) &&
	       IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + at));
}

/* Decide at random whether to mark the next packet. Its flow is counted already, and its bytes are
 * not among those of the class.
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
	int dsfield = dcbport_dsfield(skb);

	return (dsfield < 0 || INET_ECN_is_not_ect(dsfield)) && draw(port, class);
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
