// SPDX-License-Identifier: GPL-2.0
/* Reads a packet's priority out of its headers: its DSCP, or the PCP of its VLAN tag. */
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>

#include "classify.h"
#include "drr.h"

/**
 * dcbport_skip_tags() - move the network header behind all VLAN tags
 * @skb: the packet; a bridge has only the outer tag beside the frame
 *
 * Return: where it was. The flow dissector expects it there.
 */
int dcbport_skip_tags(struct sk_buff *skb)
{
	int before = skb_network_offset(skb), depth;

	if (eth_type_vlan(skb->protocol) &&
	    __vlan_get_protocol(skb, skb->protocol, &depth))
		skb_set_network_header(skb, depth);
	return before;
}

static u8 packet_dscp(const struct dcbport_prio_map *map, struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (pskb_network_may_pull(skb, sizeof(struct iphdr)))
			return map->dscp[ipv4_get_dsfield(ip_hdr(skb)) >> 2];
		break;
	case htons(ETH_P_IPV6):
		if (pskb_network_may_pull(skb, sizeof(struct ipv6hdr)))
			return map->dscp[ipv6_get_dsfield(ipv6_hdr(skb)) >> 2];
		break;
	}
	return DCBPORT_NO_PRIO;
}

/* The VLAN tag is in the frame if the device does not insert it */
static u8 packet_pcp(const struct dcbport_prio_map *map, struct sk_buff *skb)
{
	u16 tci;

	if (skb_vlan_tag_present(skb))
		tci = skb_vlan_tag_get(skb);
	else if (!eth_type_vlan(skb->protocol) ||
		 !pskb_may_pull(skb, VLAN_ETH_HLEN) ||
		 __vlan_get_tag(skb, &tci))
		return DCBPORT_NO_PRIO;
	return map->pcp[tci >> VLAN_PRIO_SHIFT |
			(tci & VLAN_CFI_MASK ? DCBPORT_PRIOS : 0)];
}

/**
 * dcbport_any_packet_prio() - return a packet's priority, out of line
 * @map: the priority of each DSCP and PCP
 * @skb: the packet
 */
u8 dcbport_any_packet_prio(const struct dcbport_prio_map *map,
			   struct sk_buff *skb)
{
	int network = dcbport_skip_tags(skb);
	u8 prio = map->pcp_first ? packet_pcp(map, skb) : packet_dscp(map, skb);

	if (prio == DCBPORT_NO_PRIO)
		prio = map->pcp_first ? packet_dscp(map, skb) :
					packet_pcp(map, skb);
	skb_set_network_header(skb, network);
	return prio == DCBPORT_NO_PRIO ? map->other : prio;
}
