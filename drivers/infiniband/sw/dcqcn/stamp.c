// SPDX-License-Identifier: GPL-2.0
/*
 * Stamps, in which switches report the queues on a packet's path (<net/roce_stamp.h>).
 *
 *   sender                           switch           receiver
 *   a data packet asks for an ACK,
 *   for an answer (answer.c), and
 *   has an empty stamp behind it     writes into it   reads it where the packet comes in, and
 *                                                     reports it in the answer
 *
 * A sender adds stamps only if its flow's algorithm wants them, and only for a peer whose answers
 * say that it reads them, because its knob hop_stamps is set. Other hosts never get a stamp.
 *
 * The IP layer cuts off bytes behind a datagram before LOCAL_IN. So the receiver has an ingress
 * hook of its own, which exists once the knob was set. The hook keeps the stamp until LOCAL_IN sees
 * the packet, which may be some packets later. A stamp whose packet never gets there is
 * overwritten.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/roce_stamp.h>

#include "device.h"
#include "packet.h"
#include "stamp.h"

/* Stamps of packets that are between both hooks: 64 packets per CPU, of which few have a stamp */
#define DCQCN_STAMPS_BITS	6

/**
 * struct dcqcn_stamps - the stamps that a port has read
 * @hook: the ingress hook; its device is NULL while it is not registered
 * @on: the knob is set
 * @lock: protects @kept
 * @kept: the last stamps, by QPN and PSN of their packets; a QPN of 0 for none
 */
struct dcqcn_stamps {
	struct nf_hook_ops hook;
	bool on;
	spinlock_t lock;	/* protects @kept */
	struct {
		u32 qpn;
		u32 psn;
		struct roce_stamp stamp;
	} kept[1 << DCQCN_STAMPS_BITS];
};

/**
 * dcqcn_stamp_add() - let switches stamp a packet
 * @skb: the packet, on its way out; its headers may move
 *
 * IPsec would encrypt the stamp with the datagram, and in transport mode the peer's kernel would
 * count it as part of that.
 *
 * Context: any, with BH disabled. Return: whether there is room for a stamp in its frame.
 */
bool dcqcn_stamp_add(struct sk_buff *skb)
{
	const struct roce_stamp empty = { .magic = cpu_to_be32(ROCE_STAMP_MAGIC) };

	if (skb->len + sizeof(empty) > dst_mtu(skb_dst(skb)) || dst_xfrm(skb_dst(skb)) ||
	    skb_shared(skb) || skb_is_nonlinear(skb))
		return false;
	if (skb_tailroom(skb) < (int)sizeof(empty) &&
	    pskb_expand_head(skb, 0, sizeof(empty), GFP_ATOMIC))
		return false;
	memcpy(skb_put(skb, sizeof(empty)), &empty, sizeof(empty));
	return true;
}

/* Length of an IP datagram, from its header; 0 if it is not one */
static unsigned int dcqcn_stamps_datagram(const struct sk_buff *skb, unsigned int *headers)
{
	union {
		struct iphdr ip;
		struct ipv6hdr ip6;
	} buffer;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;

	if (skb->protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, 0, sizeof(*ip), &buffer);
		if (!ip || ip->protocol != IPPROTO_UDP)
			return 0;
		*headers = ip->ihl * 4;
		return ntohs(ip->tot_len);
	}
	if (skb->protocol != htons(ETH_P_IPV6))
		return 0;
	ip6 = skb_header_pointer(skb, 0, sizeof(*ip6), &buffer);
	if (!ip6 || ip6->nexthdr != IPPROTO_UDP)
		return 0;
	*headers = sizeof(*ip6);
	return sizeof(*ip6) + ntohs(ip6->payload_len);
}

static u32 dcqcn_stamps_place(u32 qpn, u32 psn)
{
	return hash_32(qpn << 8 ^ psn, DCQCN_STAMPS_BITS);
}

static void dcqcn_stamps_keep(struct dcqcn_stamps *stamps, const struct dcqcn_bth *bth,
			      const struct roce_stamp *stamp)
{
	u32 qpn = dcqcn_bth_qpn(bth), psn = dcqcn_bth_psn(bth);
	u32 at = dcqcn_stamps_place(qpn, psn);

	spin_lock_bh(&stamps->lock);
	stamps->kept[at].qpn = qpn;
	stamps->kept[at].psn = psn;
	stamps->kept[at].stamp = *stamp;
	spin_unlock_bh(&stamps->lock);
}

/* Look for a stamp in a received packet. The packet may be shared, so it is only read. Almost all
 * packets end where their datagram ends.
 */
static unsigned int dcqcn_stamps_ingress(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	struct {
		struct udphdr udp;
		struct dcqcn_bth bth;
	} __packed buffer;
	const struct dcqcn_stamps *stamps = priv;
	const typeof(buffer) *roce;
	const struct roce_stamp *stamp;
	struct roce_stamp copy;
	unsigned int end, headers;

	if (!READ_ONCE(stamps->on))
		return NF_ACCEPT;
	end = dcqcn_stamps_datagram(skb, &headers);
	if (!end || skb->len < end + sizeof(*stamp))
		return NF_ACCEPT;
	stamp = skb_header_pointer(skb, end, sizeof(copy), &copy);
	roce = skb_header_pointer(skb, headers, sizeof(buffer), &buffer);
	if (!stamp || !roce || headers + sizeof(*roce) > end ||
	    stamp->magic != cpu_to_be32(ROCE_STAMP_MAGIC) || !stamp->port ||
	    roce->udp.dest != cpu_to_be16(DCQCN_UDP_PORT))
		return NF_ACCEPT;
	dcqcn_stamps_keep(priv, &roce->bth, stamp);
	return NF_ACCEPT;
}

static struct dcqcn_stamps *dcqcn_stamps_alloc(struct dcqcn_dev *dev)
{
	struct dcqcn_stamps *stamps = kzalloc(sizeof(*stamps), GFP_KERNEL);

	if (!stamps)
		return NULL;
	spin_lock_init(&stamps->lock);
	stamps->hook.hook = dcqcn_stamps_ingress;
	stamps->hook.priv = stamps;
	stamps->hook.pf = NFPROTO_NETDEV;
	stamps->hook.hooknum = NF_NETDEV_INGRESS;
	smp_store_release(&dev->stamps, stamps);	/* lockless readers find it set up */
	return stamps;
}

/**
 * dcqcn_stamps_read() - begin or stop to read stamps
 * @dev: the port
 * @on: whether to read them
 *
 * The memory stays allocated until the port is removed, because packets look at it without a lock.
 * So does the hook: to unregister it, its network device must stay in its namespace, and the lock
 * for that is rtnl, which writers of sysfs files must not take.
 *
 * Context: process; may sleep; dcqcn_dev.settings_lock is held.
 */
void dcqcn_stamps_read(struct dcqcn_dev *dev, bool on)
{
	struct dcqcn_stamps *stamps = dev->stamps;
	int err = 0;

	if (on && !stamps)
		stamps = dcqcn_stamps_alloc(dev);
	if (on && !stamps)
		err = -ENOMEM;
	if (on && stamps && !stamps->hook.dev) {
		stamps->hook.dev = dev->ndev;
		err = nf_register_net_hook(dev_net(dev->ndev), &stamps->hook);
		if (err)
			stamps->hook.dev = NULL;
	}
	if (stamps)
		WRITE_ONCE(stamps->on, on && !err);
	if (err)
		pr_warn("%s: cannot read stamps of switches: error %d\n",
			dev_name(&dev->ibdev->dev), err);
}

/**
 * dcqcn_stamps_tell() - put a packet's stamp, if one was kept, into an answer
 * @dev: the port
 * @qpn: the packet's destination QP
 * @psn: its PSN
 * @say: the answer
 *
 * Context: any.
 */
void dcqcn_stamps_tell(struct dcqcn_dev *dev, u32 qpn, u32 psn, struct dcqcn_feedback *say)
{
	struct dcqcn_stamps *stamps = READ_ONCE(dev->stamps);
	u32 at = dcqcn_stamps_place(qpn, psn);
	const struct roce_stamp *stamp;

	if (!stamps || !READ_ONCE(stamps->on))
		return;
	say->flags |= DCQCN_FEEDBACK_STAMPS;
	spin_lock_bh(&stamps->lock);
	if (stamps->kept[at].qpn == qpn && stamps->kept[at].psn == psn) {
		stamp = &stamps->kept[at].stamp;
		say->flags |= DCQCN_FEEDBACK_HOP;
		say->received = stamp->queue;
		say->marked = stamp->sent;
		say->ahead = stamp->time;
		say->mbps = stamp->mbps;
		say->echo_received = cpu_to_be32(be16_to_cpu(stamp->port));
		stamps->kept[at].qpn = 0;
	}
	spin_unlock_bh(&stamps->lock);
}

/**
 * dcqcn_stamps_exit() - stop reading stamps, and free the kept ones
 * @dev: the port, which packets no longer reach
 *
 * Context: process; may sleep. Takes rtnl.
 */
void dcqcn_stamps_exit(struct dcqcn_dev *dev)
{
	struct dcqcn_stamps *stamps = dev->stamps;

	if (!stamps)
		return;
	/* rxe is often unregistered while its network device moves to another namespace */
	rtnl_lock();
	if (stamps->hook.dev)
		nf_unregister_net_hook(dev_net(dev->ndev), &stamps->hook);
	rtnl_unlock();
	synchronize_net();	/* the hook may still run */
	kfree(stamps);
}
