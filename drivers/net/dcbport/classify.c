// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a packet's headers, and its priority out of its DSCP or the PCP of its VLAN tag. It does
 * not change the packet, which may be shared at the ingress.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>

#include "classify.h"
#include "drr.h"

/* As many VLAN tags as the core's vlan_get_protocol() skips */
#define MAX_TAGS	8

/**
 * dcbport_network_offset() - find what follows a packet's VLAN tags
 * @skb: the packet; the outer tag may be in it, or beside it
 * @protocol: result
 *
 * Return: bytes from @skb->data, or a negative number if the packet is malformed.
 */
int dcbport_network_offset(const struct sk_buff *skb, __be16 *protocol)
{
	int tags, at = skb_mac_offset(skb) + ETH_HLEN;
	const struct vlan_hdr *tag;
	struct vlan_hdr buffer;

	*protocol = skb->protocol;
	for (tags = 0; eth_type_vlan(*protocol); tags++) {
		tag = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
		if (!tag || tags == MAX_TAGS)
			return -EINVAL;
		*protocol = tag->h_vlan_encapsulated_proto;
		at += sizeof(buffer);
	}
	return at;
}

/**
 * dcbport_dsfield() - read a packet's DSCP and ECN
 * @skb: the packet, on its way in or out
 *
 * Return: the upper six bits are the DSCP, the lower two the ECN; negative if the packet is not IP.
 */
int dcbport_dsfield(const struct sk_buff *skb)
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
		return -EINVAL;
	switch (protocol) {
	case htons(ETH_P_IP):
		ip = skb_header_pointer(skb, at, sizeof(*ip), &buffer);
		return ip ? ipv4_get_dsfield(ip) : -EINVAL;
	case htons(ETH_P_IPV6):
		ip6 = skb_header_pointer(skb, at, sizeof(*ip6), &buffer);
		return ip6 ? ipv6_get_dsfield(ip6) : -EINVAL;
	default:
		return -EINVAL;
	}
}

static u8 packet_dscp(const struct dcbport_prio_map *map,
		      const struct sk_buff *skb)
{
	int dsfield = dcbport_dsfield(skb);

	return dsfield < 0 ? DCBPORT_NO_PRIO : map->dscp[dsfield >> 2];
}

/* The outer tag is in the frame unless a device has removed it, or will insert it */
static u8 packet_pcp(const struct dcbport_prio_map *map,
		     const struct sk_buff *skb)
{
	const struct vlan_hdr *tag;
	struct vlan_hdr buffer;
	u16 tci;

	if (skb_vlan_tag_present(skb)) {
		tci = skb_vlan_tag_get(skb);
	} else {
		if (!eth_type_vlan(skb->protocol))
			return DCBPORT_NO_PRIO;
		tag = skb_header_pointer(skb, skb_mac_offset(skb) + ETH_HLEN,
					 sizeof(buffer), &buffer);
		if (!tag)
			return DCBPORT_NO_PRIO;
		tci = ntohs(tag->h_vlan_TCI);
	}
	return map->pcp[tci >> VLAN_PRIO_SHIFT |
			(tci & VLAN_CFI_MASK ? DCBPORT_PRIOS : 0)];
}

/**
 * dcbport_any_packet_prio() - return a packet's priority, out of line
 * @map: the priority of each DSCP and PCP
 * @skb: the packet
 */
u8 dcbport_any_packet_prio(const struct dcbport_prio_map *map,
			   const struct sk_buff *skb)
{
	u8 prio = map->pcp_first ? packet_pcp(map, skb) : packet_dscp(map, skb);

	if (prio == DCBPORT_NO_PRIO)
		prio = map->pcp_first ? packet_dscp(map, skb) :
					packet_pcp(map, skb);
	return prio == DCBPORT_NO_PRIO ? map->other : prio;
}
