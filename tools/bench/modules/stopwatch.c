// SPDX-License-Identifier: GPL-2.0
/*
 * Counts instructions from a CE-marked packet in LOCAL_IN to the CNP in POST_ROUTING,
 * and from a CNP in LOCAL_IN until it is freed, when the rate has been cut. For a guest
 * with one CPU, whose TSC counts instructions.
 */
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <asm/tsc.h>

#define ROCE_PORT	4791
#define OPCODE_CNP	0x81
#define ECN_CE		3

static unsigned long ce_insns, ce_count, cnp_insns, cnp_count;
module_param(ce_insns, ulong, 0444);
MODULE_PARM_DESC(ce_insns, "Sum of instructions from CE in to CNP out");
module_param(ce_count, ulong, 0444);
MODULE_PARM_DESC(ce_count, "How many times");
module_param(cnp_insns, ulong, 0444);
MODULE_PARM_DESC(cnp_insns, "Sum of instructions from CNP in to its end");
module_param(cnp_count, ulong, 0444);
MODULE_PARM_DESC(cnp_count, "How many times");

static u64 ce_time, cnp_time;

/* The BTH's opcode of a RoCEv2 packet, or -1 */
static int opcode(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct udphdr *udp = (void *)iph + sizeof(*iph);

	if (iph->ihl * 4 != sizeof(*iph) || iph->protocol != IPPROTO_UDP ||
	    skb_headlen(skb) < sizeof(*iph) + sizeof(*udp) + 1 ||
	    udp->dest != htons(ROCE_PORT))
		return -1;
	return *(u8 *)(udp + 1);
}

static void cnp_end(struct sk_buff *skb)
{
	cnp_insns += rdtsc() - cnp_time;
	cnp_count++;
}

static unsigned int stopwatch_in(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	int op = opcode(skb);

	if (op == OPCODE_CNP) {
		skb_orphan(skb);
		skb->destructor = cnp_end;
		cnp_time = rdtsc();
	} else if (op >= 0 && (ip_hdr(skb)->tos & ECN_CE) == ECN_CE) {
		ce_time = rdtsc();
	}
	return NF_ACCEPT;
}

static unsigned int stopwatch_out(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	u64 now = rdtsc();

	if (ce_time && opcode(skb) == OPCODE_CNP) {
		ce_insns += now - ce_time;
		ce_count++;
		ce_time = 0;
	}
	return NF_ACCEPT;
}

static const struct nf_hook_ops stopwatch_ops[] = {
	{
		.hook = stopwatch_in,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST - 1,
	},
	{
		.hook = stopwatch_out,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_POST_ROUTING,
		.priority = NF_IP_PRI_FIRST,
	},
};

static int __net_init stopwatch_net_init(struct net *net)
{
	return nf_register_net_hooks(net, stopwatch_ops,
				     ARRAY_SIZE(stopwatch_ops));
}

static void __net_exit stopwatch_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, stopwatch_ops, ARRAY_SIZE(stopwatch_ops));
}

static struct pernet_operations stopwatch_net_ops = {
	.init = stopwatch_net_init,
	.exit = stopwatch_net_exit,
};

static int __init stopwatch_init(void)
{
	return register_pernet_subsys(&stopwatch_net_ops);
}

static void __exit stopwatch_exit(void)
{
	unregister_pernet_subsys(&stopwatch_net_ops);
}

module_init(stopwatch_init);
module_exit(stopwatch_exit);
MODULE_DESCRIPTION("Instructions from CE to CNP, and from CNP to cut");
MODULE_LICENSE("GPL");
