// SPDX-License-Identifier: GPL-2.0
/*
 * Two netfilter hooks that do nothing, at the places of rdma_dcqcn's own for IPv4: the
 * least that a module costs that is called for every packet.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>

static unsigned int null_hook(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

static const struct nf_hook_ops null_ops[] = {
	{
		.hook = null_hook,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = null_hook,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
};

static int __net_init null_net_init(struct net *net)
{
	return nf_register_net_hooks(net, null_ops, ARRAY_SIZE(null_ops));
}

static void __net_exit null_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, null_ops, ARRAY_SIZE(null_ops));
}

static struct pernet_operations null_net_ops = {
	.init = null_net_init,
	.exit = null_net_exit,
};

static int __init null_init(void)
{
	return register_pernet_subsys(&null_net_ops);
}

static void __exit null_exit(void)
{
	unregister_pernet_subsys(&null_net_ops);
}

module_init(null_init);
module_exit(null_exit);
MODULE_DESCRIPTION("Two empty netfilter hooks, to measure their cost");
MODULE_LICENSE("GPL");
