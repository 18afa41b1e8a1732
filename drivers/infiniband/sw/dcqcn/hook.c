// SPDX-License-Identifier: GPL-2.0
/*
 * The netfilter hooks: decide whether a packet is RoCEv2, which port it belongs
 * to, and which part of the module handles it.
 *
 * LOCAL_IN steals CNPs and feedback, which rxe does not know, and shows CE-marked data
 * to the notification point, and what their peers send to contexts. It runs in softirq
 * context, or in process context with BH enabled if NFQUEUE has held the packet.
 *
 * LOCAL_OUT shows rxe's packets to the reaction point. It runs where rxe sends:
 * in process context with BH enabled, or in softirq context. It must be the last
 * hook, because a held packet resumes behind it.
 *
 * The hooks exist only in network namespaces with an rxe device, so others pay
 * nothing.
 */
#include <linux/cache.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "ccc.h"
#include "device.h"
#include "hook.h"
#include "limiter.h"
#include "packet.h"
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

/* rxe's packets are recognised by their destructor, which is learnt from the first of
 * them: it lies in rxe's module or, if rxe is built in, has a name of rxe's. Neither is
 * known while there are no hooks; no packet is taken for rxe's then.
 *
 * Where the user data of rxe's sockets is the QP's index instead of its address (kernels
 * 6.10 to 6.16), the destructor is kept in @dcqcn_index_destructor. @dcqcn_rxe_destructor
 * stays NULL there, so that the fast path of other kernels need not tell them apart.
 */
static void (*dcqcn_rxe_destructor)(struct sk_buff *skb) __read_mostly;
static void (*dcqcn_index_destructor)(struct sk_buff *skb) __read_mostly;
static const struct module *dcqcn_rxe_module __read_mostly;
static bool dcqcn_rxe_builtin __read_mostly;

/* Called with the mutex held, before the first hook is registered */
static void dcqcn_hook_know_rxe(const struct module *owner)
{
	WRITE_ONCE(dcqcn_rxe_builtin, !owner);
	WRITE_ONCE(dcqcn_rxe_module, owner);
}

/* Called with the mutex held, after the last hook was unregistered; may sleep. Runs
 * before rxe's module is freed, as another module may be loaded to its address.
 */
static void dcqcn_hook_forget_rxe(void)
{
	synchronize_net();
	WRITE_ONCE(dcqcn_rxe_module, NULL);
	WRITE_ONCE(dcqcn_rxe_builtin, false);
	WRITE_ONCE(dcqcn_rxe_destructor, NULL);
	WRITE_ONCE(dcqcn_index_destructor, NULL);
}

static __always_inline bool dcqcn_is_udp(const struct sk_buff *skb, bool v6)
{
	return (v6 ? ipv6_hdr(skb)->nexthdr : ip_hdr(skb)->protocol) ==
	       IPPROTO_UDP;
}

/* Return true if a packet to RoCEv2's port may be a CNP, feedback or CE-marked, an ACK that a
 * limited flow waits for, or data that a context counts; false for almost all packets. rxe
 * knows no opcode from 0x80 on: CNPs and vendors' are there. If the headers are not linear,
 * dcqcn_rx() looks at the port.
 */
static __always_inline bool dcqcn_in_matters(const struct sk_buff *skb, bool v6)
{
	struct dcqcn_view view;

	if (!dcqcn_is_udp(skb, v6))
		return false;
	if (!dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6))
		return true;
	if (!dcqcn_view_is_to_roce(&view))
		return false;
	return (view.tos & DCQCN_ECN_MASK) == DCQCN_ECN_CE ||
	       view.bth->opcode >= DCQCN_OPCODE_NOT_RXE ||
	       (static_branch_unlikely(&dcqcn_cccs) &&
		view.bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE)) ||
	       (dcqcn_bth_is_ack(view.bth) &&
		READ_ONCE(dcqcn_any_limited));
}

/* Whether a packet is data whose sender understands feedback, but has nothing to say */
static __always_inline bool dcqcn_in_is_plain(const struct sk_buff *skb,
					      const struct dcqcn_view *view, bool v6)
{
	u32 bits = be32_to_cpu(view->bth->qpn);
	u8 kind = dcqcn_opcode_kinds[view->bth->opcode];

	return (bits & (DCQCN_BTH_CAPABLE | DCQCN_BTH_SAYS)) ==
	       DCQCN_BTH_CAPABLE &&
	       (kind == DCQCN_PKT_REQUEST || kind == DCQCN_PKT_RESPONSE) &&
	       (view->tos & DCQCN_ECN_MASK) != DCQCN_ECN_CE &&
	       dcqcn_view_is_roce(view, skb_network_header(skb), skb->len, v6);
}

/* LOCAL_IN where some port uses contexts, which count most of what comes */
static __always_inline unsigned int dcqcn_local_in_ccc(struct sk_buff *skb, bool v6)
{
	struct dcqcn_view view;

	if (dcqcn_is_udp(skb, v6) &&
	    dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6) &&
	    dcqcn_in_is_plain(skb, &view, v6) && dcqcn_ccc_receive_plain(skb, view))
		return NF_ACCEPT;
	return dcqcn_in_matters(skb, v6) ? dcqcn_rx(skb) :
					   dcqcn_rx_other(skb);
}

static noinline unsigned int dcqcn_local_in4_ccc(struct sk_buff *skb)
{
	return dcqcn_local_in_ccc(skb, false);
}

static noinline unsigned int dcqcn_local_in6_ccc(struct sk_buff *skb)
{
	return dcqcn_local_in_ccc(skb, true);
}

static unsigned int dcqcn_local_in4(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	if (static_branch_unlikely(&dcqcn_cccs))
		return dcqcn_local_in4_ccc(skb);
	return dcqcn_in_matters(skb, false) ? dcqcn_rx(skb) : NF_ACCEPT;
}

static unsigned int dcqcn_local_in6(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	if (static_branch_unlikely(&dcqcn_cccs))
		return dcqcn_local_in6_ccc(skb);
	return dcqcn_in_matters(skb, true) ? dcqcn_rx(skb) : NF_ACCEPT;
}

/*
 * Return true if a packet is rxe's, with rxe built in. The kernel's text has other
 * destructors too, and skb->sk need not be a full socket: a SYN-ACK carries a
 * request_sock, which is shorter than the offset of a socket's user data. So do the
 * cheap checks first, then compare the destructor's name.
 */
static bool dcqcn_is_builtin_rxe(const struct sk_buff *skb, bool v6)
{
	char name[sizeof("rxe_")];
	struct dcqcn_view view;

	if (!sk_fullsock(skb->sk) || skb->sk->sk_protocol != IPPROTO_UDP ||
	    skb->destructor == sock_wfree || skb->destructor == sock_efree ||
	    !dcqcn_is_udp(skb, v6))
		return false;
	if (!dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6) ||
	    !dcqcn_view_is_to_roce(&view))
		return false;
	snprintf(name, sizeof(name), "%ps", skb->destructor);
	return !strcmp(name, "rxe_");
}

/* Return true if a packet with an unknown destructor is rxe's */
static bool dcqcn_is_rxe(const struct sk_buff *skb, bool v6)
{
	const struct module *owner = READ_ONCE(dcqcn_rxe_module);

	if (!skb->destructor || !skb->sk)
		return false;
	if (owner)
		return within_module_mem_type((unsigned long)skb->destructor,
					      owner, MOD_TEXT);
	return READ_ONCE(dcqcn_rxe_builtin) && dcqcn_is_builtin_rxe(skb, v6);
}

/* A packet leaves through another device than the port's. That is one above it, such as a VLAN
 * or a bond, or else the packet passes here twice: a VRF shows it to the hook before it leaves,
 * and what is below the port, such as the device of an ipvlan, does so afterwards.
 */
static noinline unsigned int dcqcn_send_above(struct dcqcn_dev *dev, u32 qpn,
					      struct sk_buff *skb,
					      const struct nf_hook_state *state, bool v6)
{
	struct dcqcn_view view;

	if (!netdev_has_upper_dev_all_rcu(dev->ndev, state->out) ||
	    netif_is_l3_master(state->out))
		return NF_ACCEPT;
	dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6);
	return dcqcn_tx_output(dev, qpn, skb, view, v6);
}

/* Handle a packet that rxe sends from QP @qpn of port @dev */
static __always_inline unsigned int
dcqcn_send_from(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
		const struct nf_hook_state *state, bool v6)
{
	struct dcqcn_view view;

	/* never QP0 or QP1 (GSI) */
	if (qpn <= DCQCN_QPN_GSI)
		return NF_ACCEPT;
	if (!dcqcn_view(&view, skb_network_header(skb), skb_headlen(skb), v6))
		return NF_ACCEPT;
	if (!dcqcn_is_udp(skb, v6) || !dcqcn_view_is_to_roce(&view))
		return NF_ACCEPT;
	if (unlikely(state->out != dev->ndev))
		return dcqcn_send_above(dev, qpn, skb, state, v6);
	return dcqcn_tx_output(dev, qpn, skb, view, v6);
}

/* The same where it is rare: the compiler must not see more places that use it inline, or it
 * calls what it inlines in the fast path now
 */
static noinline unsigned int
dcqcn_send_rarely(struct dcqcn_dev *dev, u32 qpn, struct sk_buff *skb,
		  const struct nf_hook_state *state, bool v6)
{
	return dcqcn_send_from(dev, qpn, skb, state, v6);
}

/* Find the port and the QP that send a packet of rxe: its socket's user data is the QP. A tunnel
 * sends the packet again, with rxe's destructor but from a socket of its own, and IPsec sends the
 * transformed packet. Return NULL for these.
 */
static __always_inline struct dcqcn_dev *
dcqcn_find_sender(const struct sk_buff *skb, const struct nf_hook_state *state,
		  u32 *qpn)
{
	const struct ib_qp *ibqp;
	struct dcqcn_dev *dev;

	if (state->sk != skb->sk)
		return NULL;
	/* The RDMA core keeps struct ib_qp at the start of rxe's QP */
	ibqp = READ_ONCE(skb->sk->sk_user_data);
	if (!ibqp)
		return NULL;
	dev = dcqcn_dev_by_ibdev(ibqp->device);
	if (dev)
		*qpn = ibqp->qp_num;
	return dev;
}

static __always_inline unsigned int
dcqcn_send(struct sk_buff *skb, const struct nf_hook_state *state, bool v6)
{
	struct dcqcn_dev *dev;
	u32 qpn;

	dev = dcqcn_find_sender(skb, state, &qpn);
	return dev ? dcqcn_send_from(dev, qpn, skb, state, v6) : NF_ACCEPT;
}

/* Handle a packet from rxe whose socket's user data is the QP's index. That is the QPN, except
 * for QP1's, whose packets go to QP1. The destructor finds rxe's device in the same way.
 */
static noinline unsigned int
dcqcn_send_by_index(struct sk_buff *skb, const struct nf_hook_state *state, bool v6)
{
	unsigned long index = (unsigned long)READ_ONCE(skb->sk->sk_user_data);
	struct dcqcn_dev *dev;

	if (state->sk != skb->sk || index > DCQCN_QPN_MASK)
		return NF_ACCEPT;
	dev = dcqcn_dev_by_ndev(skb->dev);
	return dev ? dcqcn_send_rarely(dev, index, skb, state, v6) : NF_ACCEPT;
}

/* Handle a packet while @dcqcn_rxe_destructor is unknown */
static noinline unsigned int
dcqcn_send_unknown(struct sk_buff *skb, const struct nf_hook_state *state,
		   bool v6)
{
	void (*by_index)(struct sk_buff *skb) = READ_ONCE(dcqcn_index_destructor);
	unsigned long user_data;
	struct dcqcn_dev *dev;
	u32 qpn;

	if (by_index)
		return skb->destructor == by_index ?
		       dcqcn_send_by_index(skb, state, v6) : NF_ACCEPT;
	if (!dcqcn_is_rxe(skb, v6))
		return NF_ACCEPT;
	user_data = (unsigned long)READ_ONCE(skb->sk->sk_user_data);
	if (!user_data)
		return NF_ACCEPT;
	if (user_data <= DCQCN_QPN_MASK) {
		WRITE_ONCE(dcqcn_index_destructor, skb->destructor);
		return dcqcn_send_by_index(skb, state, v6);
	}
	WRITE_ONCE(dcqcn_rxe_destructor, skb->destructor);
	dev = dcqcn_find_sender(skb, state, &qpn);
	return dev ? dcqcn_send_rarely(dev, qpn, skb, state, v6) : NF_ACCEPT;
}

/* All calls are tail calls, so that the fast path saves no registers */
static __always_inline unsigned int
dcqcn_local_out(struct sk_buff *skb, const struct nf_hook_state *state, bool v6)
{
	void (*destructor)(struct sk_buff *skb) = READ_ONCE(dcqcn_rxe_destructor);

	if (unlikely(!destructor))
		return dcqcn_send_unknown(skb, state, v6);
	if (skb->destructor != destructor)
		return NF_ACCEPT;
	return dcqcn_send(skb, state, v6);
}

static unsigned int dcqcn_local_out4(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return dcqcn_local_out(skb, state, false);
}

static unsigned int dcqcn_local_out6(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	return dcqcn_local_out(skb, state, true);
}

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
 * dcqcn_hook_get() - get a namespace's hooks for a new port
 * @net: the namespace
 * @owner: rxe's module, NULL if rxe is built in
 *
 * Context: process; may sleep. Return: its hooks, or an ERR_PTR.
 */
struct dcqcn_net_hooks *dcqcn_hook_get(struct net *net,
				       const struct module *owner)
{
	struct dcqcn_net_hooks *hooks;

	mutex_lock(&dcqcn_hook_mutex);
	dcqcn_hook_know_rxe(owner);
	hooks = dcqcn_hook_find(net);
	if (!hooks)
		hooks = dcqcn_hook_add(net);
	if (!IS_ERR(hooks))
		hooks->users++;
	else if (list_empty(&dcqcn_hooks))
		dcqcn_hook_forget_rxe();
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
			dcqcn_hook_forget_rxe();
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
