/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel of the explorer: that of the unit tests, and in addition what client.c, device.c, qp.c and
 * settings.c need. Timers, workers and RCU callbacks run when world.c's clock says so.
 */
#ifndef EXPLORE_KERNEL_H
#define EXPLORE_KERNEL_H

struct sk_buff;
void world_free_skb(struct sk_buff *skb);

/* Tracepoints do nothing */
#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)
#define TRACE_DEFINE_ENUM(x)
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) { }
#define DECLARE_EVENT_CLASS(name, proto, ...)
#define DEFINE_EVENT(class, name, proto, ...) \
	static inline void trace_##name(proto) { }

#define KERNEL_STATE		extern
#define kfree_skb		world_free_skb

#include "../unit/kernel.h"

#define clamp_t(type, val, low, high)	clamp((type)(val), (type)(low), (type)(high))
#define swap(a, b) \
	do { __typeof__(a) swap_a = (a); (a) = (b); (b) = swap_a; } while (0)

/* --- memory ---------------------------------------------------------------- */

#undef kzalloc
#define kzalloc(size, gfp)	world_alloc(size, gfp)
#define alloc_percpu(type)	((type *)world_alloc(sizeof(type), GFP_KERNEL))
#define free_percpu(p)		free(p)
#define per_cpu_ptr(p, cpu)	((void)(cpu), (p))
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

void *world_alloc(size_t size, int gfp);

static inline void *kmemdup(const void *from, size_t size, int gfp)
{
	void *to = world_alloc(size, gfp);

	return to ? memcpy(to, from, size) : NULL;
}

/* --- locks, RCU and atomic variables -------------------------------------------- */

/* Where race.c lets another CPU go on: before a lock is taken, and before a timer is cancelled */
extern void (*world_pauses)(const void *at);
static inline void world_pause(const void *at)
{
	if (world_pauses)
		world_pauses(at);
}

#undef spin_lock_bh
#define spin_lock_bh(l)		(world_pause(l), bh_disabled++, ({ spin_lock(l); }))

#undef kfree_rcu
#define kfree_rcu(p, member)	world_free_later(p)
#define call_rcu		world_call_rcu
#define rcu_barrier		world_run_rcu
#define rcu_replace_pointer(p, v, c) \
	({ __typeof__(p) old_p = (p); (p) = (v); old_p; })
#define mutex_init(m)		((m)->held = 0)
#define mutex_destroy(m)	kernel_assert(!(m)->held)
#define cond_resched()		((void)0)
#define static_branch_enable(key)	((key)->users = 1)
#define atomic_inc_return(a)	(++(a)->counter)

void world_call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu));
void world_free_later(void *p);
void world_run_rcu(void);

/* What happens while somebody waits for others */
#undef synchronize_net
#define synchronize_net()	world_meanwhile()
void world_meanwhile(void);

#undef get_random_u32
#define get_random_u32		world_random

u32 world_random(void);

/* --- lists ------------------------------------------------------------------------ */

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define DEFINE_READ_MOSTLY_HASHTABLE	DEFINE_HASHTABLE
#define hash_chain(table, key)	(&(table)[(u32)(key) / 64 % ARRAY_SIZE(table)])
#define hash_add_rcu(table, node, key)	hlist_add_head_rcu(node, hash_chain(table, key))
#define hash_del_rcu(node)	hlist_del_rcu(node)
#define hash_for_each_possible_rcu(table, pos, member, key) \
	hlist_for_each_entry_rcu(pos, hash_chain(table, key), member)
#define hash_for_each(table, i, pos, member) \
	for ((i) = 0; (i) < (int)ARRAY_SIZE(table); (i)++) \
		hlist_for_each_entry_rcu(pos, &(table)[i], member)
#define hash_for_each_rcu	hash_for_each

/* --- time -------------------------------------------------------------------------- */

#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	(!time_after(b, a))

/* world.c has a list of timers that run */
void world_add_timer(struct hrtimer *timer);
void world_remove_timer(struct hrtimer *timer);

#define hrtimer_start(timer, at, mode) \
	(hrtimer_start(timer, at, mode), world_add_timer(timer))
#define hrtimer_cancel(timer) \
	(world_pause(timer), hrtimer_cancel(timer), world_remove_timer(timer))

struct workqueue_struct { int unused; };

enum { WQ_UNBOUND = 1 };
#define alloc_workqueue(name, flags, max)	world_alloc(sizeof(struct workqueue_struct), \
							    GFP_KERNEL)
#define destroy_workqueue(wq)	free(wq)
#define INIT_WORK(w, f)		((w)->func = (f), (w)->queued = false)
#define INIT_DELAYED_WORK(w, f)	INIT_WORK(&(w)->work, f)
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define queue_work(wq, w)	world_queue(w, 0, false)
#define queue_delayed_work(wq, w, ticks)	world_queue(&(w)->work, ticks, false)
#define mod_delayed_work(wq, w, ticks)	world_queue(&(w)->work, ticks, true)
#define cancel_work_sync(w)	world_cancel(w)
#define cancel_delayed_work_sync(w)	world_cancel(&(w)->work)

bool world_queue(struct work_struct *work, unsigned long ticks, bool modify);
void world_cancel(struct work_struct *work);

/* --- network devices ------------------------------------------------------------------ */

#define net_eq(a, b)		((a) == (b))
#define is_vlan_dev(dev)	((dev)->lower)
#define vlan_dev_real_dev(dev)	((dev)->lower)
#define rtnl_lock()		((void)0)
#define rtnl_unlock()		((void)0)
#define dev_put(dev)		((void)(dev))
#define pr_err(...)		((void)0)
#define dev_err(...)		((void)0)

enum { NETREG_REGISTERED = 1 };
enum {
	NETDEV_UP = 1, NETDEV_CHANGE, NETDEV_GOING_DOWN, NETDEV_UNREGISTER, NETDEV_CHANGEUPPER,
	NETDEV_CHANGELOWERSTATE,
};

/* Of NETDEV_CHANGEUPPER; the others get the device itself */
struct netdev_notifier_changeupper_info { struct net_device *upper_dev; };

enum { NOTIFY_DONE };
#define SPEED_UNKNOWN		(-1)

struct ethtool_link_ksettings { struct { u32 speed; } base; };
struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event, void *ptr);
};

#define netdev_notifier_info_to_dev(ptr)	((struct net_device *)(ptr))

static inline int __ethtool_get_link_ksettings(struct net_device *dev,
					       struct ethtool_link_ksettings *link)
{
	link->base.speed = dev->speed;
	return 0;
}

int register_netdevice_notifier(struct notifier_block *nb);
static inline void unregister_netdevice_notifier(struct notifier_block *nb) { }

/* The hooks and the routes are the world's */
#define nf_register_net_hooks	world_register_hooks
#define nf_unregister_net_hooks	world_unregister_hooks
int world_register_hooks(struct net *net, const struct nf_hook_ops *ops, int n);
void world_unregister_hooks(struct net *net, const struct nf_hook_ops *ops, int n);

#define ip_route_output_key	world_route4
#define ip6_dst_lookup_flow	world_route6
#define ip_local_out		world_local_out
#undef ip6_local_out
#define ip6_local_out		world_local_out
struct rtable *world_route4(struct net *net, struct flowi4 *fl4);
struct dst_entry *world_route6(struct net *net, const struct sock *sk, struct flowi6 *fl6,
			       const struct in6_addr *final_dst);
int world_local_out(struct net *net, struct sock *sk, struct sk_buff *skb);

/* --- the RDMA core ------------------------------------------------------------------------ */

enum ib_qp_state { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE,
		   IB_QPS_ERR };
enum { IB_QP_STATE = 1, IB_QP_AV = 2, IB_QP_DEST_QPN = 4, IB_QP_TIMEOUT = 8 };
enum { RDMA_RESTRACK_QP, RDMA_DRIVER_RXE };
#define IB_DEVICE_NAME_MAX	64

union ib_gid { u8 raw[16]; };
struct ib_global_route { union ib_gid dgid; u8 traffic_class; };
struct rdma_ah_attr { struct ib_global_route grh; };
struct ib_qp_attr {
	enum ib_qp_state qp_state;
	u32 dest_qp_num;
	u8 timeout;
	struct rdma_ah_attr ah_attr;
};
struct ib_qp_init_attr { int unused; };
struct ib_port_attr { u32 max_msg_sz; };
struct ib_client {
	const char *name;
	int (*add)(struct ib_device *ibdev);
	void (*remove)(struct ib_device *ibdev, void *client_data);
	void (*rename)(struct ib_device *ibdev, void *client_data);
};

#define in6addr_any		((struct in6_addr) {})
#define rdma_ah_read_grh(attr)	((const struct ib_global_route *)&(attr)->grh)
#define ib_set_client_data(ibdev, client, data)	((ibdev)->client_data = (data))
#define ib_get_client_data(ibdev, client)	((ibdev)->client_data)
#define ib_device_get_netdev(ibdev, port)	((ibdev)->ndev)
#define rdma_restrack_put(res)	((res)->refs--)

struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *ibdev, int type, u32 id);
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init);
int ib_register_client(struct ib_client *client);
static inline void ib_unregister_client(struct ib_client *client) { }

static inline int ib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	attr->max_msg_sz = 1U << 31;
	return 0;
}

/* Counters as files, which nobody reads here */
struct attribute { const char *name; };
struct attribute_group { const char *name; struct attribute **attrs; };
struct ib_port_attribute {
	struct attribute attr;
	ssize_t (*show)(struct ib_device *ibdev, u32 port, struct ib_port_attribute *attr, char *buf);
};
#define __ATTR(_name, mode, _show, _store)	{ .attr = { #_name }, .show = _show }
#define IB_PORT_ATTR_RO(_name) \
	struct ib_port_attribute ib_port_attr_##_name = __ATTR(_name, 0444, _name##_show, NULL)
static inline int sysfs_emit(char *buf, const char *format, ...) { return 0; }
#define sysfs_merge_group(kobj, group)	((void)(kobj), (void)(group), 0)
#define sysfs_unmerge_group(kobj, group)	((void)(kobj))

/* --- settings.c: module parameters, and ranges of the knobs -------------------------------- */

#define KBUILD_MODNAME		"rdma_dcqcn"
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define GENMASK(high, low)	((~0UL << (low)) & (~0UL >> (63 - (high))))

enum { NLA_U32 = 3, NLA_NUL_STRING };
struct nlattr { u16 nla_len, nla_type; };
struct nla_policy { u8 type; u32 len; };
struct netlink_ext_ack;
struct netlink_callback;
struct genl_info;
struct genl_family;
#define nla_validate(head, len, max, policy, extack) \
	world_validate((head)->nla_type, *(const u32 *)((head) + 1))
int world_validate(int knob, u32 value);

#endif /* EXPLORE_KERNEL_H */
