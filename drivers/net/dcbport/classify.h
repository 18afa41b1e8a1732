/* SPDX-License-Identifier: GPL-2.0 */
/* The priority of a packet. See classify.c. */
#ifndef DCBPORT_CLASSIFY_H
#define DCBPORT_CLASSIFY_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <net/dsfield.h>

#include "prio.h"

int dcbport_network_offset(const struct sk_buff *skb, __be16 *protocol);
int dcbport_dsfield(const struct sk_buff *skb);
u8 dcbport_any_packet_prio(const struct dcbport_prio_map *map,
			   const struct sk_buff *skb);

/**
 * dcbport_usual_prio() - return a packet's priority in the usual case
 * @map: the priority of each DSCP and PCP
 * @skb: the packet, on its way in or out
 *
 * The usual case: IPv4, the header can be read in place, and its DSCP decides.
 * Return: DCBPORT_NO_PRIO if this is another case.
 */
static inline u8 dcbport_usual_prio(const struct dcbport_prio_map *map,
				    const struct sk_buff *skb)
{
	if (skb->protocol != htons(ETH_P_IP) || map->slow ||
	    skb_network_offset(skb) + sizeof(struct iphdr) > skb_headlen(skb))
		return DCBPORT_NO_PRIO;
	return map->dscp[ipv4_get_dsfield(ip_hdr(skb)) >> 2];
}

/**
 * dcbport_packet_prio() - return a packet's priority
 * @map: the priority of each DSCP and PCP
 * @skb: the packet, on its way in or out
 */
static inline u8 dcbport_packet_prio(const struct dcbport_prio_map *map,
				     const struct sk_buff *skb)
{
	u8 prio = dcbport_usual_prio(map, skb);

	return prio == DCBPORT_NO_PRIO ? dcbport_any_packet_prio(map, skb) : prio;
}

#endif /* DCBPORT_CLASSIFY_H */
