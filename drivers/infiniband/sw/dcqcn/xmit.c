// SPDX-License-Identifier: GPL-2.0
/*
 * Sends the module's own packets: CNPs and feedback. The port's knobs set their header fields. CNPs
 * and feedback have a budget each.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/time64.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "packet.h"
#include "settings.h"
#include "xmit.h"

static struct dst_entry *dcqcn_xmit_route4(struct net *net, int ifindex,
					   const struct dcqcn_cnp_spec *spec)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = spec->saddr.s6_addr32[3],
		.daddr = spec->daddr.s6_addr32[3],
	};
	struct rtable *rt = ip_route_output_key(net, &fl4);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *dcqcn_xmit_route6(struct net *net, int ifindex,
					   const struct dcqcn_cnp_spec *spec)
{
	struct flowi6 fl6 = {
		.flowi6_oif = ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = spec->saddr,
		.daddr = spec->daddr,
	};

	/* unlike ip6_route_output(), it asks the policies of IPsec, as the IPv4 function does */
	return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
}

/**
 * dcqcn_xmit() - send a CNP or feedback
 * @net: namespace
 * @ifindex: interface that received the packet that this answers
 * @settings: the port's
 * @spec: addresses, QP and P_Key; the other header fields are set here
 * @feedback: content of the feedback, NULL for a CNP
 *
 * Context: under RCU; softirq, or process with BH on. Return: 0 or a negative error.
 */
int dcqcn_xmit(struct net *net, int ifindex,
	       const struct dcqcn_settings *settings, struct dcqcn_cnp_spec *spec,
	       const struct dcqcn_feedback *feedback)
{
	bool v4 = ipv6_addr_v4mapped(&spec->daddr);
	unsigned int headroom;
	struct dst_entry *dst;
	struct sk_buff *skb;
	size_t len;
	int err;

	if (feedback)
		len = v4 ? DCQCN_FEEDBACK_V4_LEN : DCQCN_FEEDBACK_V6_LEN;
	else
		len = v4 ? DCQCN_CNP_V4_LEN : DCQCN_CNP_V6_LEN;
	dst = v4 ? dcqcn_xmit_route4(net, ifindex, spec) :
		   dcqcn_xmit_route6(net, ifindex, spec);
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	headroom = LL_RESERVED_SPACE(dst->dev);	/* it may change */
	skb = alloc_skb(headroom + len, GFP_ATOMIC);
	if (!skb) {
		dst_release(dst);
		return -ENOMEM;
	}
	skb_reserve(skb, headroom);
	spec->sport = settings->np.cnp_udp_sport;
	spec->tos = settings->np.cnp_dscp << 2 | DCQCN_ECN_ECT_0;
	spec->ttl = v4 ? ip4_dst_hoplimit(dst) : ip6_dst_hoplimit(dst);
	if (feedback)
		dcqcn_feedback_build(skb_put(skb, len), spec, feedback);
	else
		dcqcn_cnp_build(skb_put(skb, len), spec);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, v4 ? sizeof(struct iphdr) :
					   sizeof(struct ipv6hdr));
	skb->protocol = v4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb->priority = settings->np.cnp_802p_prio;
	skb_dst_set(skb, dst);

	err = v4 ? ip_local_out(net, NULL, skb) : ip6_local_out(net, NULL, skb);
	/* a queue that drops the packet returns a positive number */
	return err > 0 ? net_xmit_errno(err) : err;
}

/**
 * dcqcn_xmit_charge() - whether a port may send one more CNP, or feedback
 * @account: ns; until when the packets sent so far have used up the port's share
 * @gap: ns; cost of this packet
 *
 * If so, charge it. The clock is read after @account: if a hypervisor stops this CPU in between,
 * charges by other CPUs meanwhile must not seem to lie in the future.
 *
 * Context: any. Return: whether it may.
 */
bool dcqcn_xmit_charge(atomic64_t *account, s64 gap)
{
	s64 paid = atomic64_read(account), now, from;

	do {
		now = ktime_get_ns();
		from = max_t(s64, paid, now - DCQCN_XMIT_BURST_NS);
		if (from > now)
			return false;
	} while (!atomic64_try_cmpxchg(account, &paid, from + gap));
	return true;
}
