// SPDX-License-Identifier: GPL-2.0
/*
 * How a port handles incoming packets: it gives them their priority, and records that they
 * came in here. It takes PFC frames before a bridge can drop them. A port of a switch also
 * detaches packets from the socket that sent them, if that is on the same machine: as with a
 * real switch, the sender must not notice that a switch holds its packet. A socket that a BPF
 * program has chosen to receive a packet stays, as in the stack's own input.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_netdev.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "classify.h"
#include "hook.h"
#include "origin.h"
#include "pfc.h"
#include "port.h"
#include "storm.h"

#define PFC_CONTENT	20	/* bytes of a PFC frame that carry information */

/* A MAC control frame. What is not PFC goes on to the stack, which drops it. */
static noinline unsigned int hook_control(struct dcbport *port,
					  struct sk_buff *skb)
{
	u8 buffer[PFC_CONTENT];
	size_t len = min_t(size_t, skb->len, sizeof(buffer));
	const u8 *data = skb_header_pointer(skb, 0, len, buffer);
	struct dcbport_pfc pfc;

	if (!data || skb_vlan_tag_present(skb) ||
	    !ether_addr_equal(eth_hdr(skb)->h_dest, dcbport_pfc_address))
		return NF_ACCEPT;
	if (dcbport_pfc_is_global(data, len))
		dcbport_pause_global(&port->pause);
	if (!dcbport_pfc_is_pfc(data, len))
		return NF_ACCEPT;
	if (!dcbport_pfc_parse(data, len, &pfc))
		dcbport_pause_error(&port->pause);
	else if (dcbport_pause_hear(&port->pause, &pfc, ktime_get_ns()))
		dcbport_wake(port);
	consume_skb(skb);
	return NF_STOLEN;
}

/* Count a packet that comes in during a storm. Return true if it must be dropped: the watchdog cuts
 * off a port that suffers a PFC storm, in both directions.
 */
static bool hook_storm(struct dcbport *port, u8 prio)
{
	struct dcbport_storm *storm = &port->storm[prio];
	bool drop = READ_ONCE(port->drops) & 1 << prio;

	if (READ_ONCE(port->storms) & 1 << prio)
		atomic64_inc(drop ? &storm->in_dropped : &storm->in);
	return drop;
}

/* Handle a packet for which the DSCP alone does not decide everything */
static noinline unsigned int hook_any(struct dcbport *port, struct sk_buff *skb)
{
	u8 prio = dcbport_any_packet_prio(&port->prio, skb);

	if (hook_storm(port, prio))
		return NF_DROP;
	dcbport_origin_set(skb, port->origin, prio);
	return NF_ACCEPT;
}

static unsigned int hook_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	struct dcbport *port = priv;
	u8 prio;

	if (READ_ONCE(port->switched) && !skb_sk_is_prefetched(skb))
		skb_orphan(skb);
	if (unlikely(skb->protocol == htons(DCBPORT_PFC_ETHERTYPE)))
		return hook_control(port, skb);
	prio = dcbport_usual_prio(&port->prio, skb);
	if (unlikely(prio == DCBPORT_NO_PRIO))
		return hook_any(port, skb);
	dcbport_origin_set(skb, port->origin, prio);
	return NF_ACCEPT;
}

/**
 * dcbport_hook_begin() - begin to see incoming packets
 * @port: the port
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_hook_begin(struct dcbport *port)
{
	struct nf_hook_ops *ops = &port->hook;
	int err;

	ops->hook = hook_ingress;
	ops->dev = port->dev;
	ops->priv = port;
	ops->pf = NFPROTO_NETDEV;
	ops->hooknum = NF_NETDEV_INGRESS;
	ops->priority = INT_MIN;
	err = nf_register_net_hook(dev_net(port->dev), ops);
	if (err) {
		ops->hook = NULL;
		return err;
	}
	/* network cards, and virtio-net in QEMU, drop multicasts to addresses that are not
	 * registered
	 */
	dev_mc_add(port->dev, dcbport_pfc_address);
	return 0;
}

/**
 * dcbport_hook_end() - undo dcbport_hook_begin(), if it was done
 * @port: the port
 *
 * Waits for running hooks: if the creation of a qdisc has failed, older kernels free it without a
 * grace period.
 *
 * Context: rtnl is held; may sleep.
 */
void dcbport_hook_end(struct dcbport *port)
{
	if (!port->hook.hook)
		return;
	dev_mc_del(port->dev, dcbport_pfc_address);
	nf_unregister_net_hook(dev_net(port->dev), &port->hook);
	synchronize_net();
}
