// SPDX-License-Identifier: GPL-2.0
/* Marks packets as having met congestion, with the probability of curve.c and flows.c. */
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>

#include "classify.h"
#include "mark.h"

static bool packet_mark(struct sk_buff *skb)
{
	/* a bridge has only the outer tag beside the frame, and the flow dissector expects the
	 * network header behind that one
	 */
	int before = skb_network_offset(skb), at;
	__be16 protocol;
	bool marked;

	at = dcbport_network_offset(skb, &protocol);
	if (at < 0)
		return false;
	skb_set_network_header(skb, at);
	marked = INET_ECN_set_ce(skb);
	skb_set_network_header(skb, before);
	return marked;
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
