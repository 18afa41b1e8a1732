/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as hook.c, tx.c, rx.c, np.c, cnp.c and queue.c need in user space: one CPU,
 * no concurrency, packets in memory of exactly their size. Every <linux/...> header
 * that they include and include/ does not have is this file.
 *
 * What can fail does when the test says so.
 */
#ifndef UNIT_KERNEL_H
#define UNIT_KERNEL_H

/* A program of several files says "extern" here, and defines these variables once */
#ifndef KERNEL_STATE
#define KERNEL_STATE		static
#endif

#include <errno.h>
#include <limits.h>
#include <linux/bits.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* --- language and types -------------------------------------------------- */

#define noinline		__attribute__((noinline))
#define __init
#define __net_exit
#define __rcu
#define __percpu
#define ____cacheline_aligned_in_smp
#define __read_mostly
#define __must_hold(x)
#define __releases(x)
#define unlikely(x)		(x)
#define likely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define ETH_HLEN		14
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define htons			cpu_to_be16
#ifndef TRACE_EVENT
#define trace_dcqcn_ce_seen(...)	((void)0)
#define trace_dcqcn_cnp_sent(...)	((void)0)
#define trace_dcqcn_cnp_received(...)	((void)0)
#define trace_dcqcn_ccc_agreed(...)	((void)0)
#define trace_dcqcn_ccc_heard(...)	((void)0)
#define trace_dcqcn_entropy_changed(...)	((void)0)
#endif

#define IPPROTO_UDP		17
#define ETH_P_IP		0x0800
#define ETH_P_IPV6		0x86dd
#define PACKET_HOST		0
#define PACKET_OTHERHOST	3

enum { GFP_KERNEL, GFP_ATOMIC };
enum { NF_ACCEPT = 1, NF_STOLEN };
enum { NFPROTO_IPV4 = 2, NFPROTO_IPV6 = 10 };
enum { NF_INET_LOCAL_IN = 1, NF_INET_LOCAL_OUT = 3 };
enum { IB_QPT_RC = 2, IB_QPT_UC, IB_QPT_UD };
enum { MOD_TEXT };
#define NF_IP_PRI_LAST		INT32_MAX
#define NF_IP6_PRI_LAST		INT32_MAX

/* <linux/jump_label.h> */
struct static_key_false { int users; };

#define DECLARE_STATIC_KEY_FALSE(key)	extern struct static_key_false key
#define DEFINE_STATIC_KEY_FALSE(key)	struct static_key_false key
#define static_branch_unlikely(key)	((key)->users > 0)
#define static_branch_inc(key)		((key)->users++)
#define static_branch_dec(key)		((key)->users--)

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { int held; } spinlock_t;

struct mutex { int held; };
struct rcu_head { struct rcu_head *next; void (*func)(struct rcu_head *rcu); };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
struct list_head { struct list_head *next, *prev; };
struct kobject { struct list_head entry; };
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum { CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT };
typedef s64 ktime_t;
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	ktime_t expires;
	bool queued;
};
struct work_struct { void (*func)(struct work_struct *work); u64 due; bool queued; };
struct delayed_work { struct work_struct work; };
struct module { int unused; };
struct netlink_range_validation { u64 min, max; };

struct net { int unused; };
struct sk_buff;
struct sk_buff_head { struct sk_buff *next, *prev; u32 qlen; };
/* @lower: it is an upper device of */
struct net_device {
	struct net *net;
	int ifindex;
	struct net_device *lower;
	bool l3_master;
	u8 reg_state;
	u32 speed;		/* Mb/s */
};
struct dst_entry { struct net_device *dev; int error; };
struct sock { bool full; u16 sk_protocol; void *sk_user_data; };
struct ib_device {
	u32 index;
	const char *name;
	struct { u32 driver_id; const struct module *owner; } ops;
	struct { struct list_head port_list; } coredev;
	struct net_device *ndev;
	void *client_data;
};
struct rdma_restrack_entry { unsigned int refs; };
struct ib_qp {
	struct ib_device *device;
	u32 qp_num;
	u8 qp_type;
	struct rdma_restrack_entry res;
};
struct pernet_operations { void (*exit)(struct net *net); };

struct nf_hook_state {
	u8 pf;
	struct net_device *out;
	struct sock *sk;
};

struct nf_hook_ops {
	unsigned int (*hook)(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);
	u8 pf;
	unsigned int hooknum;
	int priority;
};

/* --- what is not called, or does not matter ------------------------------ */

#define LIST_HEAD(name)		struct list_head name = { &name, &name }
#define DEFINE_MUTEX(name)	struct mutex name
#define mutex_lock(m)		((m)->held++)
#define mutex_unlock(m)		((m)->held--)
#define hlist_entry_or_null(node, type, member) \
	((node) ? container_of(node, type, member) : NULL)
#define hlist_for_each_entry_rcu(pos, head, member, ...) \
	for (pos = hlist_entry_or_null((head)->first, __typeof__(*pos), member); \
	     pos; \
	     pos = hlist_entry_or_null(pos->member.next, __typeof__(*pos), member))
#define list_first_entry(head, type, member) \
	container_of((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_for_each_entry(pos, head, member) \
	for (pos = list_first_entry(head, __typeof__(*pos), member); \
	     &pos->member != (head); \
	     pos = list_first_entry(&pos->member, __typeof__(*pos), member))
#define kzalloc(size, gfp)	(fuzz_out_of_memory ? NULL : calloc(1, size))
#define smp_store_release(p, v)	(*(p) = (v))
#define kfree			free
#define IS_ERR(p)		((uintptr_t)(p) > (uintptr_t)-4096)
#define ERR_PTR(err)		((void *)(intptr_t)(err))
#define ERR_CAST(p)		((void *)(p))
#define PTR_ERR(p)		((int)(intptr_t)(p))
#define RCU_INITIALIZER(p)	(p)
#define synchronize_rcu()	((void)0)
/* Nobody else is there who could end a wait */
#define wait_var_event(var, condition)	kernel_assert(condition)
#define wake_up_var(var)	((void)(var))
#define EXPORT_SYMBOL_GPL(name)	struct name##_exported
#define msleep(ms)		kernel_assert(!"sleeps")
static inline bool sysfs_streq(const char *a, const char *b)
{
	return strcspn(a, "\n") == strcspn(b, "\n") && !strncmp(a, b, strcspn(a, "\n"));
}
#define memset_startat(obj, value, member) \
	memset((char *)(obj) + offsetof(__typeof__(*(obj)), member), value, \
	       sizeof(*(obj)) - offsetof(__typeof__(*(obj)), member))
#define strscpy(to, from, size)	((void)memccpy(to, from, 0, size))
#define strlcat(to, from, size)	((void)strncat(to, from, (size) - strlen(to) - 1))
#define isalnum(c)		((((c) | 32) >= 'a' && ((c) | 32) <= 'z') || ((c) >= '0' && (c) <= '9'))
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_dereference(p)	(p)
#define rcu_dereference_check(p, c)	(p)
#define ilog2(value)		(31 - __builtin_clz(value))
#define hash_32(value, bits)	((u32)(value) * 0x61c88647u >> (32 - (bits)))
#define spin_lock(l)		kernel_assert(!(l)->held++)
#define spin_unlock(l)		kernel_assert(!--(l)->held)
#define spin_lock_bh(l)		(bh_disabled++, ({ spin_lock(l); }))
#define spin_unlock_bh(l)	(({ spin_unlock(l); }), bh_disabled--)
#define rcu_dereference_bh(p)	(p)
#define rcu_access_pointer(p)	(p)
#define rcu_dereference_protected(p, c)	(p)
#define lockdep_is_held(l)	((l)->held)
#define INIT_LIST_HEAD(head)	((head)->next = (head)->prev = (head))
#define atomic_read(a)		((a)->counter)
#define atomic_inc(a)		((void)(a)->counter++)
#define atomic_dec(a)		((void)(a)->counter--)
#define atomic_dec_and_test(a)	(!--(a)->counter)
#define atomic_add(n, a)	((void)((a)->counter += (n)))
#define atomic_set(a, n)	((void)((a)->counter = (n)))

static inline int atomic_xchg(atomic_t *a, int value)
{
	int old = a->counter;

	a->counter = value;
	return old;
}
#define atomic_long_read(a)	((a)->counter)
#define atomic_long_add(n, a)	((void)((a)->counter += (n)))
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define ktime_to_ns(t)		(t)
#define this_cpu_inc(c)		((c)++)
#define this_cpu_add(c, n)	((c) += (n))
#define this_cpu_read(c)	(c)
#define this_cpu_sub(c, n)	((c) -= (n))
#define list_empty(head)	((head)->next == (head))
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)	((p) = (v))
#define kfree_rcu(p, member)	free(p)
#define get_random_u32()	0x9e3779b9U
#define IS_ENABLED(option)	1
#define __GFP_NOWARN		0
#define U16_MAX			0xffff
#define spin_lock_init(l)	((l)->held = 0)
#define synchronize_net()	((void)0)
#define smp_mb()		((void)0)
#define smp_mb__after_atomic()	((void)0)
#define pr_warn_once(...)	((void)0)
#define sk_fullsock(sk)		((sk)->full)
#define atomic64_read(a)	((a)->counter)
#define jiffies			fuzz_jiffies()
#define HZ			1000
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define ktime_get_ns()		fuzz_now

#define kernel_assert(cond)	do { if (!(cond)) __builtin_trap(); } while (0)

KERNEL_STATE u64 fuzz_now;
KERNEL_STATE bool fuzz_out_of_memory;
KERNEL_STATE int bh_disabled;

/* A function, so that "divisions" does not take its division for one of the modules */
static inline unsigned long fuzz_jiffies(void)
{
	return 1000UL + (unsigned long)(fuzz_now / 1000000);
}

/* --- lists ----------------------------------------------------------------- */

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_add(struct list_head *node, struct list_head *head)
{
	list_add_tail(node, head->next);
}

static inline void list_del(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

static inline void list_del_init(struct list_head *node)
{
	list_del(node);
	node->next = node;
	node->prev = node;
}

static inline void list_move_tail(struct list_head *node, struct list_head *head)
{
	list_del_init(node);
	list_add_tail(node, head);
}

static inline void hlist_add_head_rcu(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static inline void hlist_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

/* --- an xarray, with nodes as the kernel's: the code under test walks them --- */

#define XA_CHUNK_SHIFT		6
#define XA_CHUNK_SIZE		(1U << XA_CHUNK_SHIFT)
#define XA_CHUNK_MASK		(XA_CHUNK_SIZE - 1)
#define XA_FLAGS_LOCK_BH	1

/* What to look for: all entries, or those with the only mark that there is */
typedef enum { XA_PRESENT, XA_MARK_0 } xa_mark_t;

/* @shift: bits of an index that are looked up in nodes below this one */
struct xa_node {
	u8 shift;
	u8 count;
	u64 marks;		/* of entries, where @shift is 0 */
	void *slots[XA_CHUNK_SIZE];
};

struct xarray {
	spinlock_t xa_lock;
	void *xa_head;
	unsigned int nodes;
};

/* As in the kernel, a pointer to a node has a bit set that pointers to entries do not have */
static inline struct xa_node *xa_to_node(const void *entry)
{
	kernel_assert(((uintptr_t)entry & 3) == 2);
	return (struct xa_node *)((uintptr_t)entry - 2);
}

static inline void *xa_head(const struct xarray *xa)
{
	return xa->xa_head;
}

static inline bool xa_empty(const struct xarray *xa)
{
	return !xa->xa_head;
}

static inline void xa_init_flags(struct xarray *xa, int flags)
{
	*xa = (struct xarray) {};
}

static inline void *xa_new_node(struct xarray *xa, u8 shift)
{
	struct xa_node *node = calloc(1, sizeof(*node));

	node->shift = shift;
	xa->nodes++;
	return (char *)node + 2;
}

static inline int xa_insert_bh(struct xarray *xa, unsigned long index, void *entry, int gfp)
{
	struct xa_node *node;
	u8 shift = 0;
	void **slot;

	kernel_assert(!((uintptr_t)entry & 3));
	if (fuzz_out_of_memory)
		return -ENOMEM;
	if (!xa->xa_head) {
		while (index >> shift > XA_CHUNK_MASK)
			shift += XA_CHUNK_SHIFT;
		xa->xa_head = xa_new_node(xa, shift);
	}
	while (index >> xa_to_node(xa->xa_head)->shift > XA_CHUNK_MASK) {
		node = xa_to_node(xa_new_node(xa, xa_to_node(xa->xa_head)->shift + XA_CHUNK_SHIFT));
		node->slots[0] = xa->xa_head;
		node->count = 1;
		xa->xa_head = (char *)node + 2;
	}
	for (node = xa_to_node(xa->xa_head); ; node = xa_to_node(*slot)) {
		slot = &node->slots[(index >> node->shift) & XA_CHUNK_MASK];
		if (*slot && !node->shift)
			return -EBUSY;
		if (*slot)
			continue;
		node->count++;
		*slot = node->shift ? xa_new_node(xa, node->shift - XA_CHUNK_SHIFT) : entry;
		if (!node->shift)
			return 0;
	}
}

/* Below @slot; frees what is empty then */
static inline void *xa_erase_below(struct xarray *xa, void **slot, unsigned long index)
{
	struct xa_node *node = xa_to_node(*slot);
	unsigned int i = (index >> node->shift) & XA_CHUNK_MASK;
	void *entry = node->slots[i];

	if (entry && node->shift) {
		entry = xa_erase_below(xa, &node->slots[i], index);
	} else {
		node->slots[i] = NULL;
		node->marks &= ~(1ULL << i);
	}
	if (entry && !node->slots[i] && !--node->count) {
		*slot = NULL;
		xa->nodes--;
		free(node);
	}
	return entry;
}

static inline void *xa_erase_bh(struct xarray *xa, unsigned long index)
{
	if (!xa->xa_head || index >> xa_to_node(xa->xa_head)->shift > XA_CHUNK_MASK)
		return NULL;
	return xa_erase_below(xa, &xa->xa_head, index);
}

static inline void *xa_find_below(void *head, unsigned long *index, unsigned long base, xa_mark_t mark)
{
	struct xa_node *node = xa_to_node(head);
	unsigned int i = *index > base ? (*index - base) >> node->shift : 0;
	void *found;

	for (; i < XA_CHUNK_SIZE; i++) {
		found = node->slots[i];
		if (!found || (mark && !node->shift && !(node->marks >> i & 1)))
			continue;
		if (node->shift)
			found = xa_find_below(found, index, base + ((unsigned long)i << node->shift), mark);
		else
			*index = base + i;
		if (found)
			return found;
	}
	return NULL;
}

static inline void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, xa_mark_t mark)
{
	return xa->xa_head ? xa_find_below(xa->xa_head, index, 0, mark) : NULL;
}

#define xa_for_each_marked(xa, index, entry, mark)				\
	for (index = 0; (entry = xa_find(xa, &(index), ULONG_MAX, mark)); index++)
#define xa_for_each(xa, index, entry)	xa_for_each_marked(xa, index, entry, XA_PRESENT)

#define xa_lock_bh(xa)		spin_lock_bh(&(xa)->xa_lock)
#define xa_unlock_bh(xa)	spin_unlock_bh(&(xa)->xa_lock)

static inline void xa_mark_entry(struct xarray *xa, unsigned long index, bool marked)
{
	struct xa_node *node = xa->xa_head ? xa_to_node(xa->xa_head) : NULL;
	u64 bit = 1ULL << (index & XA_CHUNK_MASK);

	kernel_assert(xa->xa_lock.held);
	if (!node || index >> node->shift > XA_CHUNK_MASK)
		return;
	while (node->shift) {
		void *below = node->slots[(index >> node->shift) & XA_CHUNK_MASK];

		if (!below)
			return;
		node = xa_to_node(below);
	}
	if (marked && node->slots[index & XA_CHUNK_MASK])
		node->marks |= bit;
	else
		node->marks &= ~bit;
}

#define __xa_set_mark(xa, index, mark)		xa_mark_entry(xa, index, true)
#define __xa_clear_mark(xa, index, mark)	xa_mark_entry(xa, index, false)

/* Frees the nodes, not the entries */
static inline void xa_destroy(struct xarray *xa)
{
	unsigned long index;
	void *entry;

	xa_for_each(xa, index, entry)
		xa_erase_bh(xa, index);
	kernel_assert(!xa->nodes);
}

/* The same for the same bytes on all CPUs, unlike the kernel's, which mixes better */
static inline u32 jhash2(const u32 *words, u32 n, u32 seed)
{
	for (; n; n--)
		seed = (seed ^ __le32_to_cpu(*words++)) * 0x9e3779b9U;
	return seed;
}

static inline int nf_register_net_hooks(struct net *net,
					const struct nf_hook_ops *ops, int n)
{
	return 0;
}

static inline void nf_unregister_net_hooks(struct net *net,
					   const struct nf_hook_ops *ops, int n)
{
}

static inline int register_pernet_subsys(struct pernet_operations *ops)
{
	return 0;
}

static inline void unregister_pernet_subsys(struct pernet_operations *ops)
{
}

static inline bool atomic_try_cmpxchg(atomic_t *a, int *old, int new)
{
	kernel_assert(a->counter == *old);
	a->counter = new;
	return true;
}

static inline bool atomic64_try_cmpxchg(atomic64_t *a, s64 *old, s64 new)
{
	kernel_assert(a->counter == *old);
	a->counter = new;
	return true;
}

/* --- packets ------------------------------------------------------------- */

/*
 * The linear part lies in memory of its own, exactly as long as it is, so that
 * the address sanitizer sees reads beyond it, and pointers that were kept when it
 * moved.
 */
struct sk_buff {
	struct sk_buff *next, *prev;	/* as in struct sk_buff_head */
	struct net_device *dev;
	struct sock *sk;
	void (*destructor)(struct sk_buff *skb);
	struct dst_entry *dst;
	u8 *data;
	u8 *frag;
	unsigned int len;
	unsigned int data_len;		/* of it in @frag */
	unsigned int truesize;
	char cb[48] __attribute__((aligned(8)));
	u32 priority;
	__be16 protocol;
	u8 pkt_type;
	bool cloned;
	bool consumed;
	bool gso;			/* GRO has made it of several */
};

bool within_module_mem_type(unsigned long addr, const struct module *mod,
			    int type);

static inline void sock_wfree(struct sk_buff *skb) { }
static inline void sock_efree(struct sk_buff *skb) { }
static inline void sock_hold(struct sock *sk) { }

static inline void skb_orphan(struct sk_buff *skb)
{
	if (skb->destructor)
		skb->destructor(skb);
	skb->destructor = NULL;
	skb->sk = NULL;
}

/* Of "%ps", which tells a function's name */
int fuzz_snprintf(char *buf, size_t size, const char *format, void *function);
#define snprintf		fuzz_snprintf

struct inet_skb_parm { char unused[24]; };
struct inet6_skb_parm { char unused[20]; };

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->next = (struct sk_buff *)list;
	list->prev = (struct sk_buff *)list;
	list->qlen = 0;
}

static inline u32 skb_queue_len(const struct sk_buff_head *list)
{
	return list->qlen;
}

static inline bool skb_queue_empty(const struct sk_buff_head *list)
{
	return list->next == (const struct sk_buff *)list;
}

static inline struct sk_buff *skb_peek(const struct sk_buff_head *list)
{
	return skb_queue_empty(list) ? NULL : list->next;
}

static inline struct sk_buff *skb_peek_tail(const struct sk_buff_head *list)
{
	return skb_queue_empty(list) ? NULL : list->prev;
}

/* A packet and the head of a list begin with the same two pointers */
static inline void __skb_queue_tail(struct sk_buff_head *list, struct sk_buff *skb)
{
	skb->next = (struct sk_buff *)list;
	skb->prev = list->prev;
	if (skb_queue_empty(list))
		list->next = skb;
	else
		list->prev->next = skb;
	list->prev = skb;
	list->qlen++;
}

static inline void __skb_unlink(struct sk_buff *skb, struct sk_buff_head *list)
{
	struct sk_buff *head = (struct sk_buff *)list;

	kernel_assert(list->qlen--);
	if (skb->prev == head)
		list->next = skb->next;
	else
		skb->prev->next = skb->next;
	if (skb->next == head)
		list->prev = skb->prev;
	else
		skb->next->prev = skb->prev;
	skb->next = NULL;
	skb->prev = NULL;
}

static inline void skb_mark_not_on_list(struct sk_buff *skb)
{
	skb->next = NULL;
}

static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek(list);

	if (skb)
		__skb_unlink(skb, list);
	return skb;
}

#define skb_queue_walk_safe(list, skb, tmp)				\
	for (skb = (list)->next, tmp = skb->next;			\
	     skb != (struct sk_buff *)(list); skb = tmp, tmp = skb->next)

static inline struct dst_entry *skb_dst(const struct sk_buff *skb)
{
	return skb->dst;
}

#ifndef kfree_skb
#define kfree_skb		free	/* of one whose bytes are not its own */
#endif

static inline void kfree_skb_list(struct sk_buff *skb)
{
	struct sk_buff *next;

	for (; skb; skb = next) {
		next = skb->next;
		kfree_skb(skb);
	}
}

static inline void __skb_queue_purge(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		kfree_skb(skb);
}

/* --- timers: the test looks at them --------------------------------------- */

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 int clock, int mode)
{
	timer->function = function;
}

static inline void hrtimer_start(struct hrtimer *timer, ktime_t at, int mode)
{
	timer->expires = at;
	timer->queued = true;
}

static inline ktime_t hrtimer_get_expires(const struct hrtimer *timer)
{
	return timer->expires;
}

static inline bool hrtimer_is_queued(const struct hrtimer *timer)
{
	return timer->queued;
}

static inline void hrtimer_cancel(struct hrtimer *timer)
{
	timer->queued = false;
}

static inline void hrtimer_set_expires(struct hrtimer *timer, ktime_t at)
{
	timer->expires = at;
}

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline bool skb_is_gso(const struct sk_buff *skb)
{
	return skb->gso;
}

/* What GRO has joined is in one list of fragments, each with a packet */
static inline unsigned int skb_pagelen(const struct sk_buff *skb)
{
	return skb->gso ? skb_headlen(skb) : skb->len;
}

static inline bool skb_is_nonlinear(const struct sk_buff *skb)
{
	return skb->data_len;
}

static inline bool netdev_has_upper_dev_all_rcu(struct net_device *dev,
						struct net_device *upper)
{
	return upper->lower == dev;
}

static inline bool netif_is_l3_master(const struct net_device *dev)
{
	return dev->l3_master;
}

static inline bool skb_cloned(const struct sk_buff *skb)
{
	return skb->cloned;
}

static inline u8 *skb_network_header(const struct sk_buff *skb)
{
	return skb->data;
}

static inline struct iphdr *ip_hdr(const struct sk_buff *skb)
{
	return (struct iphdr *)skb->data;
}

static inline struct ipv6hdr *ipv6_hdr(const struct sk_buff *skb)
{
	return (struct ipv6hdr *)skb->data;
}

/* The first @n bytes become linear, and the linear part moves */
static inline bool skb_move(struct sk_buff *skb, unsigned int n)
{
	unsigned int head = skb_headlen(skb);
	u8 *data, *frag;

	if (fuzz_out_of_memory)
		return false;
	data = malloc(n);
	frag = malloc(skb->len - n);
	memcpy(data, skb->data, head);
	memcpy(data + head, skb->frag, n - head);
	memcpy(frag, skb->frag + n - head, skb->len - n);
	free(skb->data);
	free(skb->frag);
	skb->data = data;
	skb->frag = frag;
	skb->data_len = skb->len - n;
	return true;
}

static inline bool pskb_may_pull(struct sk_buff *skb, unsigned int len)
{
	if (len <= skb_headlen(skb))
		return true;
	return len <= skb->len && skb_move(skb, len);
}

KERNEL_STATE unsigned int fuzz_peeks;

/* @len bytes at @offset, which are copied to @buf if they are not linear */
static inline void *skb_header_pointer(const struct sk_buff *skb, unsigned int offset,
				       unsigned int len, void *buf)
{
	unsigned int head = skb_headlen(skb), n = 0;

	fuzz_peeks++;
	if (offset + len <= head)
		return skb->data + offset;
	if (offset + len > skb->len)
		return NULL;
	if (offset < head) {
		n = head - offset;
		memcpy(buf, skb->data + offset, n);
	}
	memcpy((u8 *)buf + n, skb->frag + offset + n - head, len - n);
	return buf;
}

static inline int skb_linearize(struct sk_buff *skb)
{
	return !skb->data_len || skb_move(skb, skb->len) ? 0 : -ENOMEM;
}

static inline int skb_ensure_writable(struct sk_buff *skb, unsigned int len)
{
	if (!pskb_may_pull(skb, len))
		return -ENOMEM;
	if (!skb->cloned)
		return 0;
	if (!skb_move(skb, skb_headlen(skb)))
		return -ENOMEM;
	skb->cloned = false;
	return 0;
}

static inline void consume_skb(struct sk_buff *skb)
{
	kernel_assert(!skb->consumed);
	skb->consumed = true;
}

static inline u8 ipv6_get_dsfield(const struct ipv6hdr *ip6h)
{
	const u8 *p = (const u8 *)ip6h;

	return p[0] << 4 | p[1] >> 4;
}

static inline void ipv6_change_dsfield(struct ipv6hdr *ip6h, u8 mask, u8 value)
{
	u8 tos = (ipv6_get_dsfield(ip6h) & mask) | value;
	u8 *p = (u8 *)ip6h;

	p[0] = (p[0] & 0xf0) | tos >> 4;
	p[1] = (p[1] & 0x0f) | (u8)(tos << 4);
}

/* --- sending ------------------------------------------------------------- */

struct flowi4 {
	int flowi4_oif;
	u8 flowi4_proto;
	__be32 saddr, daddr;
};

struct flowi6 {
	int flowi6_oif;
	u8 flowi6_proto;
	struct in6_addr saddr, daddr;
};

struct rtable { struct dst_entry dst; };

/* Room for the longest link header, so that a push would be seen. Another CPU may change what a device
 * needs: most often more than when it was last read.
 */
static inline unsigned int LL_RESERVED_SPACE(const struct net_device *dev)
{
	static unsigned int reads;

	return 16 + reads++ % 4 * 16;
}

enum { NET_XMIT_DROP = 1, NET_XMIT_CN };
#define net_xmit_errno(err)	((err) != NET_XMIT_CN ? -ENOBUFS : 0)

KERNEL_STATE int fuzz_xmit;	/* what the transmit path returns */
KERNEL_STATE bool fuzz_no_route;
KERNEL_STATE unsigned int fuzz_dst_refs;
KERNEL_STATE struct rtable fuzz_route;

/* Given what was sent; implemented by the target */
void fuzz_sent(const struct sk_buff *skb);

static inline struct net *dev_net(const struct net_device *dev)
{
	return dev->net;
}

static inline struct rtable *ip_route_output_key(struct net *net,
						 struct flowi4 *fl4)
{
	if (fuzz_no_route)
		return ERR_PTR(-ENETUNREACH);
	fuzz_dst_refs++;
	return &fuzz_route;
}

static inline struct dst_entry *ip6_dst_lookup_flow(struct net *net, const struct sock *sk,
						    struct flowi6 *fl6,
						    const struct in6_addr *final_dst)
{
	if (fuzz_no_route)
		return ERR_PTR(-ENETUNREACH);
	fuzz_dst_refs++;
	return &fuzz_route.dst;
}

static inline u8 ip4_dst_hoplimit(const struct dst_entry *dst)
{
	return 64;
}

static inline u8 ip6_dst_hoplimit(const struct dst_entry *dst)
{
	return 64;
}

static inline void dst_release(struct dst_entry *dst)
{
	kernel_assert(fuzz_dst_refs--);
}

static inline void skb_dst_set(struct sk_buff *skb, struct dst_entry *dst)
{
	skb->dst = dst;
}

static inline struct sk_buff *alloc_skb(unsigned int size, int gfp)
{
	struct sk_buff *skb;

	if (fuzz_out_of_memory)
		return NULL;
	skb = calloc(1, sizeof(*skb));
	skb->data = malloc(size);
	skb->truesize = size;	/* until it is sent: room that is left */
	return skb;
}

/* Of a new packet only */
static inline void skb_reserve(struct sk_buff *skb, unsigned int len)
{
	kernel_assert(!skb->len && len <= skb->truesize);
	skb->truesize -= len;
}

static inline u8 *skb_put(struct sk_buff *skb, unsigned int len)
{
	kernel_assert(!skb->len && len <= skb->truesize);
	free(skb->data);
	skb->data = malloc(len);
	skb->len = len;
	return skb->data;
}

static inline void skb_reset_network_header(struct sk_buff *skb) { }
static inline void skb_set_transport_header(struct sk_buff *skb, int offset) { }

/* Where the IP layer goes on behind the hooks: the program's */
int dst_output(struct net *net, struct sock *sk, struct sk_buff *skb);

static inline int ip_local_out(struct net *net, struct sock *sk,
			       struct sk_buff *skb)
{
	if (!fuzz_xmit || fuzz_xmit == NET_XMIT_CN)
		fuzz_sent(skb);
	dst_release(skb->dst);
	free(skb->data);
	free(skb);
	return fuzz_xmit;
}

#define ip6_local_out		ip_local_out

#endif
