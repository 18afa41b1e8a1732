/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as the whole port needs in user space, except for its netlink interfaces: one
 * CPU, IPv4 packets of which only the headers exist, and a core that test_whole.c plays. Every
 * <linux/...> header that the port includes and include/ does not have is this file.
 */
#ifndef PORT_UNIT_KERNEL_H
#define PORT_UNIT_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <linux/bitops.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* --- language and types ---------------------------------------------------- */

#define __init
#define __net_init
#define __net_exit
#define __rcu
#define __percpu
#define __read_mostly
#define __maybe_unused		__attribute__((unused))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define ____cacheline_aligned_in_smp
#define __aligned(n)		__attribute__((aligned(n)))
#define unlikely(x)		(x)
#define likely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define IS_ENABLED(option)	0
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define kernel_assert(cond)	do { if (!(cond)) __builtin_trap(); } while (0)
#define WARN_ON_ONCE(cond)	kernel_assert(!(cond))
#define U16_MAX			0xffff
#define U64_MAX			UINT64_MAX
#define htons			cpu_to_be16
#define ntohs			be16_to_cpu
#define __ffs(x)		__builtin_ctzl(x)
#define strscpy(to, from, size)	((void)snprintf(to, size, "%s", from))
/* The kernel takes constants of another type, too */
#undef max
#define max(a, b) ({ __typeof__((a) + (b)) max_a = (a), max_b = (b); \
		     max_a > max_b ? max_a : max_b; })
#define max3(a, b, c)		max(max(a, b), c)
#define THIS_MODULE		NULL

/* --- memory ------------------------------------------------------------------ */

enum { GFP_KERNEL, GFP_KERNEL_ACCOUNT, GFP_ATOMIC };
#define kzalloc(size, gfp)	calloc(1, size)
#define kvzalloc(size, gfp)	calloc(1, size)
#define kvmalloc(size, gfp)	malloc(size)
#define kcalloc(n, size, gfp)	calloc(n, size)
#define kfree(p)		free(p)
#define kvfree(p)		free(p)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + (n) * sizeof((p)->member[0]))

struct kmem_cache { size_t size; };
#define KMEM_CACHE(name, flags) \
	({ struct kmem_cache *made = malloc(sizeof(*made)); made->size = sizeof(struct name); made; })
#define kmem_cache_zalloc(cache, gfp)	calloc(1, (cache)->size)
#define kmem_cache_free(cache, p)	free(p)
#define kmem_cache_destroy(cache)	free(cache)

#define CPUS	8
extern int core_cpu;	/* on which everything runs now */
#define alloc_percpu(type)	((type *)calloc(CPUS, sizeof(type)))
#define free_percpu(p)		free(p)
#define per_cpu_ptr(p, cpu)	((p) + (cpu))
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < CPUS; (cpu)++)
#define this_cpu_read(v)	((&(v))[core_cpu])
#define this_cpu_add_return(v, n)	((&(v))[core_cpu] += (n))
#define this_cpu_sub(v, n)	((&(v))[core_cpu] -= (n))

/* --- locks, RCU and atomic variables ------------------------------------------- */

/* There is one thread, so each grace period ends at once */
struct rcu_head { int unused; };
#define call_rcu(head, func)	func(head)
#define kvfree_rcu(p, member)	free(p)
#define rcu_barrier()		((void)0)
#define synchronize_net()	((void)0)
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_dereference_bh(p)	(p)
#define rcu_dereference_raw(p)	(p)
#define rcu_dereference_protected(p, cond)	(p)
#define rtnl_dereference(p)	(p)
#define rcu_access_pointer(p)	({ typeof(p) at = (p); core_looked(at); at; })
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)	((p) = (v))
#define RCU_INITIALIZER(p)	(p)
#define ASSERT_RTNL()		((void)0)
#define smp_mb()		((void)0)
#define smp_mb__after_atomic()	((void)0)
#define rtnl_lock()		((void)0)
#define rtnl_unlock()		((void)0)
#define CAP_NET_ADMIN		12
extern bool core_admin;		/* who adds ports is the machine's administrator */
#define capable(cap)		((void)(cap), core_admin)
#define local_bh_disable()	((void)0)
#define local_bh_enable()	((void)0)

typedef struct { int held; } spinlock_t;
#define spin_lock_init(l)	((l)->held = 0)
#define spin_lock(l)		kernel_assert(!(l)->held++)
#define spin_unlock(l)		kernel_assert(!--(l)->held)
#define spin_lock_bh		spin_lock
#define spin_unlock_bh		spin_unlock

typedef struct { s64 counter; } atomic64_t;
#define atomic64_read(a)	((a)->counter)
#define atomic64_set(a, n)	((a)->counter = (n))
#define atomic64_inc(a)		((a)->counter++)
#define atomic64_add(n, a)	((a)->counter += (n))
typedef struct { int counter; } refcount_t;
#define refcount_set(r, n)	((r)->counter = (n))
#define refcount_inc(r)		((r)->counter++)
#define refcount_dec_and_test(r)	(!--(r)->counter)

/* --- lists ----------------------------------------------------------------------- */

struct list_head { struct list_head *next, *prev; };
#define INIT_LIST_HEAD(head)	((head)->next = (head)->prev = (head))
#define list_first_entry(head, type, member) \
	container_of((head)->next, type, member)
#define list_for_each_entry(pos, head, member) \
	for (pos = list_first_entry(head, __typeof__(*pos), member); \
	     &pos->member != (head); \
	     pos = list_first_entry(&pos->member, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, head, member) \
	for (pos = list_first_entry(head, __typeof__(*pos), member); \
	     n = list_first_entry(&pos->member, __typeof__(*pos), member), \
	     &pos->member != (head); pos = n)

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_del(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

/* --- time -------------------------------------------------------------------------- */

typedef s64 ktime_t;
enum hrtimer_restart { HRTIMER_NORESTART };
enum { CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED };
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	ktime_t expires;
	bool queued;
};

extern u64 core_now;
#define ktime_get_ns()		core_now
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define ktime_to_ns(time)	(time)
#define hrtimer_setup(t, f, clock, mode)	((t)->function = (f))
#define hrtimer_start(t, at, mode)	((t)->expires = (at), (t)->queued = true)
#define hrtimer_cancel(t)	((t)->queued = false)
#define hrtimer_is_queued(t)	((t)->queued)
#define hrtimer_get_expires(t)	((t)->expires)
#define get_random_u32		core_random

void core_looked(const void *at);
u32 core_random(void);

/* --- devices -------------------------------------------------------------------------- */

struct Qdisc;
struct sk_buff;
struct nlattr;
struct net { void *generic; };
struct netlink_ext_ack { const char *_msg; };
struct netdev_queue { struct Qdisc *qdisc; };
struct rtnl_link_ops { const char *kind; };
struct net_device {
	char name[16];
	u16 type;
	u8 dev_addr[6];
	int ifindex;
	struct net *net;
	struct Qdisc *qdisc;
	struct netdev_queue queue;
	struct rtnl_link_ops *rtnl_link_ops;
	bool running;
	bool carrier;
};
struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event, void *ptr);
};
struct pernet_operations {
	int (*init)(struct net *net);
	void (*exit)(struct net *net);
	unsigned int *id;
	size_t size;
};

enum { ARPHRD_ETHER = 1 };
enum { NOTIFY_DONE };
enum { NETDEV_UP = 1, NETDEV_CHANGE = 4, NETDEV_UNREGISTER = 6 };
#define NETIF_F_GSO_MASK	0
typedef u64 netdev_features_t;
#define LL_RESERVED_SPACE(dev)	16
#define dev_net(dev)		((dev)->net)
#define net_eq(a, b)		((a) == (b))
#define net_generic(net, id)	((void)(id), (net)->generic)
#define netif_running(dev)	((dev)->running)
#define netif_carrier_ok(dev)	((dev)->carrier)
#define netdev_notifier_info_to_dev(ptr)	((struct net_device *)(ptr))
#define dev_mc_add(dev, address)	((void)(address))
#define dev_mc_del(dev, address)	((void)(address))
#define dev_get_by_index_rcu(net, index)	NULL
#define NL_SET_ERR_MSG(extack, text)	((extack)->_msg = (text))
#define net_info_ratelimited(...)	((void)0)
#define net_warn_ratelimited(...)	((void)0)

int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);
int register_netdevice_notifier(struct notifier_block *nb);
void unregister_netdevice_notifier(struct notifier_block *nb);
int dev_direct_xmit(struct sk_buff *skb, u16 queue);

/* --- packets ----------------------------------------------------------------------------- */

#define ETH_HLEN		14
#define ETH_P_IP		0x0800
#define ETH_P_IPV6		0x86dd
#define ETH_P_8021Q		0x8100
#define VLAN_PRIO_SHIFT		13
#define VLAN_CFI_MASK		0x1000
#define TC_PRIO_CONTROL		7
enum { CHECKSUM_NONE, CHECKSUM_COMPLETE };
enum { SKB_DROP_REASON_QDISC_DROP };

struct ethhdr { u8 h_dest[6], h_source[6]; __be16 h_proto; };
struct vlan_hdr { __be16 h_vlan_TCI, h_vlan_encapsulated_proto; };

/* @memory: of the headers, the Ethernet header aligned as IP needs it */
struct sk_buff {
	struct sk_buff *next;
	u8 cb[48] __aligned(8);
	u8 memory[96] __aligned(4);
	u8 *data;
	u8 *mac;
	u8 *network;
	u32 len;
	u32 truesize;
	__be16 protocol;
	u16 tc_index;
	int skb_iif;
	u32 priority;
	u8 ip_summed;
	struct net_device *dev;
};

#define skb_mac_offset(skb)	((int)((skb)->mac - (skb)->data))
#define skb_network_offset(skb)	((int)((skb)->network - (skb)->data))
#define skb_headlen(skb)	((skb)->len)
#define ip_hdr(skb)		((struct iphdr *)(skb)->network)
#define eth_hdr(skb)		((struct ethhdr *)(skb)->mac)
#define ether_addr_equal(a, b)	(!memcmp(a, b, 6))
#define eth_type_vlan(protocol)	((protocol) == htons(ETH_P_8021Q))
#define skb_vlan_tag_present(skb)	((void)(skb), false)
#define skb_vlan_tag_get(skb)	((void)(skb), 0)
#define ipv4_get_dsfield(ip)	((ip)->tos)
#define ipv6_get_dsfield(ip)	((void)(ip), 0)
#define INET_ECN_is_not_ect(dsfield)	(!((dsfield) & 3))
#define INET_ECN_is_ce(dsfield)	(((dsfield) & 3) == 3)
#define IP_ECN_set_ce(ip)	((ip)->tos |= 3, 1)
#define IP6_ECN_set_ce(skb, ip6)	((void)(ip6), 1)
#define skb_ensure_writable(skb, len)	((void)(len), 0)
#define skb_orphan(skb)		((void)(skb))
#define skb_sk_is_prefetched(skb)	((void)(skb), false)
#define skb_is_gso(skb)		((void)(skb), false)
#define skb_gso_segment(skb, features)	((void)(features), (struct sk_buff *)NULL)
#define netif_skb_features(skb)	0
#define skb_list_walk_safe(first, skb, next) \
	for ((void)(next); (skb) = (first), (skb); )
#define skb_mark_not_on_list(skb)	((skb)->next = NULL)
#define IS_ERR_OR_NULL(p)	(!(p))
#define alloc_skb(size, gfp)	core_alloc_skb()
#define kfree_skb_reason(skb, reason)	free(skb)
#define consume_skb(skb)	free(skb)
#define skb_reserve(skb, n)	((skb)->data += (n))
#define skb_put(skb, n)		((skb)->len += (n), (skb)->data)
#define skb_reset_mac_header(skb)	((skb)->mac = (skb)->data)
#define skb_set_network_header(skb, at)	((skb)->network = (skb)->data + (at))

struct sk_buff *core_alloc_skb(void);

static inline void *skb_header_pointer(const struct sk_buff *skb, int at, int len, void *buffer)
{
	(void)buffer;
	return at >= 0 && (u32)(at + len) <= skb->len ? skb->data + at : NULL;
}

/* --- netfilter ------------------------------------------------------------------------------ */

enum { NF_DROP, NF_ACCEPT, NF_STOLEN };
enum { NFPROTO_NETDEV = 5, NF_NETDEV_INGRESS = 0 };
struct nf_hook_state { int unused; };
struct nf_hook_ops {
	unsigned int (*hook)(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);
	struct net_device *dev;
	void *priv;
	u8 pf;
	unsigned int hooknum;
	int priority;
};

int nf_register_net_hook(struct net *net, struct nf_hook_ops *ops);
void nf_unregister_net_hook(struct net *net, struct nf_hook_ops *ops);

/* --- qdiscs ---------------------------------------------------------------------------------- */

enum { NET_XMIT_SUCCESS, NET_XMIT_DROP };
enum { QDISC_DROP_GENERIC, QDISC_DROP_OVERLIMIT, QDISC_DROP_CONGESTED };
enum { __QDISC_STATE_DEACTIVATED };
#define TC_H_ROOT		0xffffffff

struct sk_buff_head { u32 qlen; };
struct qdisc_skb_head { struct sk_buff *head, *tail; u32 qlen; spinlock_t lock; };
struct gnet_dump { int unused; };
struct tc_red_xstats { u32 marked, pdrop; };
struct Qdisc_ops {
	const char *id;
	int priv_size;
	int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
	struct sk_buff *(*dequeue)(struct Qdisc *sch);
	struct sk_buff *(*peek)(struct Qdisc *sch);
	int (*init)(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
	void (*reset)(struct Qdisc *sch);
	void (*destroy)(struct Qdisc *sch);
	int (*dump_stats)(struct Qdisc *sch, struct gnet_dump *d);
	void *owner;
};
struct Qdisc {
	const struct Qdisc_ops *ops;
	u32 parent;
	struct net_device *dev;
	struct netdev_queue *dev_queue;
	struct sk_buff_head gso_skb, skb_bad_txq;	/* only their lengths are looked at */
	struct qdisc_skb_head q;
	struct { u64 bytes, packets; } bstats;
	struct { u32 backlog, drops, overlimits; } qstats;
	unsigned long state;
	bool scheduled;
};
struct qdisc_skb_cb { u32 pkt_len; u32 unused; u8 data[20]; };

#define qdisc_priv(sch)		((void *)((sch) + 1))
#define qdisc_dev(sch)		((sch)->dev)
#define qdisc_lock(sch)		(&(sch)->q.lock)
#define qdisc_skb_cb(skb)	((struct qdisc_skb_cb *)(skb)->cb)
#define qdisc_pkt_len(skb)	(qdisc_skb_cb(skb)->pkt_len)
#define qdisc_cb_private_validate(skb, size)	BUILD_BUG_ON((size) > 20)
#define qdisc_peek_dequeued	NULL
#define qdisc_qstats_overlimit(sch)	((sch)->qstats.overlimits++)
#define _bstats_update(stats, n, count)	((stats)->bytes += (n), (stats)->packets += (count))
#define gnet_stats_copy_app(d, st, size)	((void)(st), 0)
#define test_bit(bit, word)	(*(word) >> (bit) & 1)
void __netif_schedule(struct Qdisc *sch);

int register_qdisc(struct Qdisc_ops *ops);
void unregister_qdisc(struct Qdisc_ops *ops);

static inline bool skb_queue_empty(const struct sk_buff_head *list)
{
	return !list->qlen;
}

static inline void __qdisc_enqueue_tail(struct sk_buff *skb, struct qdisc_skb_head *q)
{
	skb->next = NULL;
	if (q->tail)
		q->tail->next = skb;
	else
		q->head = skb;
	q->tail = skb;
	q->qlen++;
}

static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *q)
{
	struct sk_buff *skb = q->head;

	q->head = skb->next;
	if (!--q->qlen)
		q->tail = NULL;
	skb->next = NULL;
	return skb;
}

static inline int qdisc_drop_reason(struct sk_buff *skb, struct Qdisc *sch,
				    struct sk_buff **to_free, u32 reason)
{
	(void)reason;
	skb->next = *to_free;
	*to_free = skb;
	sch->qstats.drops++;
	return NET_XMIT_DROP;
}

static inline void tcf_kfree_skb_list(struct sk_buff *skb, struct Qdisc *sch,
				      struct netdev_queue *queue, struct net_device *dev)
{
	struct sk_buff *next;

	(void)sch;
	(void)queue;
	(void)dev;
	for (; skb; skb = next) {
		next = skb->next;
		free(skb);
	}
}

#endif /* PORT_UNIT_KERNEL_H */
