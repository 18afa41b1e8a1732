// SPDX-License-Identifier: GPL-2.0
/*
 * Identifies a packet's flow by a keyed 64-bit hash of its addresses, protocol and ports and, for
 * RoCEv2, the destination queue pair, because many of these share their ports. The probability that
 * two of 2,000 flows have the same key is 1 in 10^13.
 */
#include <linux/in.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/flow_dissector.h>

#include "flow_key.h"

#define ROCE_PORT	4791
#define BTH_QPN		5	/* bytes before the three bytes of the destination QP */

/* All that identifies a flow, without padding */
struct flow_words {
	struct in6_addr src;
	struct in6_addr dst;
	__be32 ports;
	u32 protocol;
	u8 qpn[8];
} __aligned(SIPHASH_ALIGNMENT);

static void flow_qpn(const struct sk_buff *skb, const struct flow_keys *keys,
		     u8 qpn[8])
{
	int at = keys->control.thoff + sizeof(struct udphdr) + BTH_QPN;
	u8 buffer[3];
	const u8 *data;

	if (keys->basic.ip_proto != IPPROTO_UDP ||
	    keys->ports.dst != htons(ROCE_PORT) ||
	    keys->control.flags & FLOW_DIS_IS_FRAGMENT)
		return;
	data = skb_header_pointer(skb, at, sizeof(buffer), buffer);
	if (data)
		memcpy(qpn, data, sizeof(buffer));
}

/**
 * dcbport_flow_key() - compute the key of a packet's flow
 * @skb: the packet; all packets that are not IP are one flow
 */
u64 dcbport_flow_key(const struct sk_buff *skb)
{
	static siphash_key_t secret;
	struct flow_words words = {};
	struct flow_keys keys;

	get_random_once(&secret, sizeof(secret));
	skb_flow_dissect_flow_keys(skb, &keys, 0);
	switch (keys.control.addr_type) {
	case FLOW_DISSECTOR_KEY_IPV4_ADDRS:
		words.src.s6_addr32[0] = keys.addrs.v4addrs.src;
		words.dst.s6_addr32[0] = keys.addrs.v4addrs.dst;
		break;
	case FLOW_DISSECTOR_KEY_IPV6_ADDRS:
		words.src = keys.addrs.v6addrs.src;
		words.dst = keys.addrs.v6addrs.dst;
		break;
	}
	words.ports = keys.ports.ports;
	words.protocol = keys.basic.ip_proto;
	flow_qpn(skb, &keys, words.qpn);
	return siphash(&words, sizeof(words), &secret);
}
