// SPDX-License-Identifier: GPL-2.0
/*
 * Registers the netfilter hooks: rx.c has LOCAL_IN, tx.c has LOCAL_OUT.
 *
 * They exist only in network namespaces with an rxe device, so others pay nothing.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "hook.h"
#include "rx.h"
#include "tx.h"

/**
 * struct dcqcn_net_hooks - the hooks of one network namespace
 * @node: in dcqcn_hooks
 * @net: the namespace; NULL once it is gone, and the hooks with it
 * @users: ports in the namespace
 */
struct dcqcn_net_hooks {
	struct list_head node;
	struct net *net;
	unsigned int users;
};

static LIST_HEAD(dcqcn_hooks);
static DEFINE_MUTEX(dcqcn_hook_mutex);	/* protects dcqcn_hooks */

static const struct nf_hook_ops dcqcn_hook_ops[] = {
	{
		.hook = dcqcn_local_in4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = dcqcn_local_in6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
	{
		.hook = dcqcn_local_out4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = dcqcn_local_out6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
};

static struct dcqcn_net_hooks *dcqcn_hook_find(const struct net *net)
{
	struct dcqcn_net_hooks *hooks;

	list_for_each_entry(hooks, &dcqcn_hooks, node) {
		if (hooks->net == net)
			return hooks;
	}
	return NULL;
}

static struct dcqcn_net_hooks *dcqcn_hook_add(struct net *net)
{
	struct dcqcn_net_hooks *hooks;
	int err;

	hooks = kzalloc(sizeof(*hooks), GFP_KERNEL);
	if (!hooks)
		return ERR_PTR(-ENOMEM);
	err = nf_register_net_hooks(net, dcqcn_hook_ops,
				    ARRAY_SIZE(dcqcn_hook_ops));
	if (err) {
		kfree(hooks);
		return ERR_PTR(err);
	}
	hooks->net = net;
	list_add(&hooks->node, &dcqcn_hooks);
	return hooks;
}

static void dcqcn_hook_unregister(struct dcqcn_net_hooks *hooks)
{
	if (!hooks->net)
		return;
	nf_unregister_net_hooks(hooks->net, dcqcn_hook_ops,
				ARRAY_SIZE(dcqcn_hook_ops));
	hooks->net = NULL;
}

/**
 * dcqcn_hook_get() - get the hooks of a new port's namespace
 * @ndev: its network device
 * @owner: rxe's module, NULL if rxe is built in
 *
 * The device may be moved to another namespace at any time. A namespace that exits first moves its
 * devices away, and then dcqcn_hook_net_exit() takes the mutex. So the namespace in which the
 * device is found under the mutex stays until the mutex is released.
 *
 * Context: process; may sleep. Return: its hooks, or an ERR_PTR.
 */
struct dcqcn_net_hooks *dcqcn_hook_get(const struct net_device *ndev,
				       const struct module *owner)
{
	struct dcqcn_net_hooks *hooks;
	struct net *net;

	mutex_lock(&dcqcn_hook_mutex);
	net = dev_net(ndev);
	dcqcn_tx_know_rxe(owner);
	hooks = dcqcn_hook_find(net);
	if (!hooks)
		hooks = dcqcn_hook_add(net);
	if (!IS_ERR(hooks))
		hooks->users++;
	else if (list_empty(&dcqcn_hooks))
		dcqcn_tx_forget_rxe();
	mutex_unlock(&dcqcn_hook_mutex);
	return hooks;
}

/**
 * dcqcn_hook_put() - put the hooks of a port that has left its namespace
 * @hooks: what dcqcn_hook_get() returned
 *
 * Waits for packets in the hooks only if this was the last port.
 *
 * Context: process; may sleep.
 */
void dcqcn_hook_put(struct dcqcn_net_hooks *hooks)
{
	mutex_lock(&dcqcn_hook_mutex);
	if (!--hooks->users) {
		dcqcn_hook_unregister(hooks);
		list_del(&hooks->node);
		kfree(hooks);
		if (list_empty(&dcqcn_hooks))
			dcqcn_tx_forget_rxe();
	}
	mutex_unlock(&dcqcn_hook_mutex);
}

/* A namespace may exit before rxe has unregistered its ports */
static void __net_exit dcqcn_hook_net_exit(struct net *net)
{
	struct dcqcn_net_hooks *hooks;

	mutex_lock(&dcqcn_hook_mutex);
	hooks = dcqcn_hook_find(net);
	if (hooks)
		dcqcn_hook_unregister(hooks);
	mutex_unlock(&dcqcn_hook_mutex);
}

static struct pernet_operations dcqcn_hook_net_ops = {
	.exit = dcqcn_hook_net_exit,
};

/**
 * dcqcn_hook_init() - watch for namespaces that exit
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_hook_init(void)
{
	return register_pernet_subsys(&dcqcn_hook_net_ops);
}

/**
 * dcqcn_hook_exit() - undo dcqcn_hook_init()
 *
 * Context: process; may sleep. No port is left.
 */
void dcqcn_hook_exit(void)
{
	unregister_pernet_subsys(&dcqcn_hook_net_ops);
}
