// SPDX-License-Identifier: GPL-2.0
/*
 * The buffer that the ports of a switch share. A packet is charged to the port where it came in
 * while it waits at the port where it leaves, so that senders that fill the buffer are paused.
 *
 * The accounts of each port have a lock of their own, which is a leaf: it is taken with a
 * qdisc's lock held, and no lock is taken below it. Code that changes a pause wakes the
 * port that must announce it, and never takes that port's lock. The pools belong to all
 * ports; they are counted by each CPU.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "buffer.h"
#include "port.h"

/* 12 MiB and 1/8 are from ns-3's switch, which models a Trident 2 */
const struct dcbport_buffer_settings dcbport_buffer_defaults = {
	.size = 12 << 20,
	.lossy = 12 << 20,
	.alpha = DCBPORT_ALPHA_ONE / 8,
};

struct buffer_net {
	struct list_head buffers;	/* under rtnl */
};

static unsigned int buffer_net_id;

/* A cache, because an ingress is a little larger than a power of two */
static struct kmem_cache *ingress_cache;

static struct list_head *buffer_list(struct net *net)
{
	struct buffer_net *bn = net_generic(net, buffer_net_id);

	return &bn->buffers;
}

/**
 * dcbport_buffer_find() - find a switch by name
 * @net: its network namespace
 * @name: its name
 *
 * Context: rtnl is held.
 */
struct dcbport_buffer *dcbport_buffer_find(struct net *net, const char *name)
{
	struct dcbport_buffer *buffer;

	ASSERT_RTNL();
	list_for_each_entry(buffer, buffer_list(net), node) {
		if (!strcmp(buffer->name, name))
			return buffer;
	}
	return NULL;
}

/**
 * dcbport_buffer_next() - find a switch by its position in the list
 * @net: its network namespace
 * @skip: how many switches to skip
 *
 * Context: rtnl is held.
 */
struct dcbport_buffer *dcbport_buffer_next(struct net *net, unsigned int skip)
{
	struct dcbport_buffer *buffer;

	ASSERT_RTNL();
	list_for_each_entry(buffer, buffer_list(net), node) {
		if (!skip--)
			return buffer;
	}
	return NULL;
}

/* Called with the lock held: wake the port if a pause of its sender begins or ends */
static void holding_tell(const struct dcbport_holding *holding)
{
	struct dcbport_ingress *in = holding->in;
	ptrdiff_t prio = holding - in->holding[1];
	u8 now;

	if (prio < 0)
		return;
	now = in->paused & ~(1 << prio);
	if (holding->account.paused)
		now |= 1 << prio;
	if (now == in->paused)
		return;
	WRITE_ONCE(in->paused, now);
	if (in->port)
		dcbport_wake(in->port);
}

/* Called with the lock held: update the pool after a change of the account's part of it */
static void holding_settle(struct dcbport_holding *holding, u32 shared_before)
{
	s64 change = (s64)holding->account.shared - shared_before;

	/* a CPU's counter cannot take all of a headroom, which may be 4 GiB */
	if (change > DCBPORT_POOL_BATCH || change < -DCBPORT_POOL_BATCH)
		atomic64_add(change, &holding->shared->used);
	else if (change)
		dcbport_shared_add(holding->shared, change);
	holding_tell(holding);
}

/* Called with the lock held */
static void ingress_review(struct dcbport_ingress *in)
{
	struct dcbport_holding *holding;
	struct dcbport_pool pool;
	u32 before;
	u8 prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		holding = &in->holding[1][prio];
		pool = dcbport_shared_read(holding->shared);
		pool.used = dcbport_shared_used(holding->shared);
		before = holding->account.shared;
		dcbport_account_review(&holding->account, &pool,
				       &holding->thresholds);
		holding_settle(holding, before);
	}
}

static void ingress_holdings(struct dcbport_ingress *in)
{
	struct dcbport_holding *holding;
	u8 lossless, prio;

	for (lossless = 0; lossless < 2; lossless++) {
		for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
			holding = &in->holding[lossless][prio];
			holding->shared = &in->buffer->pool[lossless];
			holding->in = in;
		}
	}
}

/* Called with the lock held, or before anybody else can find the ingress */
static void ingress_apply(struct dcbport_ingress *in,
			  const struct dcbport_settings *s)
{
	struct dcbport_thresholds th;
	bool lossless;
	u8 prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		th = s->thresholds[prio];
		if (!th.alpha)
			th.alpha = in->buffer->settings.alpha;
		in->holding[1][prio].thresholds = th;
		in->holding[0][prio].thresholds = (struct dcbport_thresholds) {
			.alpha = th.alpha };
		lossless = s->pfc & 1 << prio;
		in->charged[prio] = &in->holding[lossless][prio];
	}
}

/* Called under rtnl */
static void buffer_pools(struct dcbport_buffer *buffer)
{
	const struct dcbport_buffer_settings *s = &buffer->settings;

	WRITE_ONCE(buffer->pool[0].size, s->lossy);
	WRITE_ONCE(buffer->pool[1].size, s->size - buffer->room);
}

static void buffer_put(struct dcbport_buffer *buffer)
{
	if (!refcount_dec_and_test(&buffer->users))
		return;
	free_percpu(buffer->pool[0].local);
	free_percpu(buffer->pool[1].local);
	kfree(buffer);
}

static struct dcbport_buffer *buffer_alloc(void)
{
	struct dcbport_buffer *buffer = kzalloc(sizeof(*buffer),
						GFP_KERNEL_ACCOUNT);

	if (!buffer)
		return NULL;
	refcount_set(&buffer->users, 1);
	INIT_LIST_HEAD(&buffer->ingresses);
	buffer->pool[0].local = alloc_percpu(s32);
	buffer->pool[1].local = alloc_percpu(s32);
	if (!buffer->pool[0].local || !buffer->pool[1].local) {
		buffer_put(buffer);
		return NULL;
	}
	return buffer;
}

/**
 * dcbport_shared_tell() - add the bytes that this CPU has taken from a pool to the common count
 * @shared: the pool
 * @bytes: how many; negative if it has given some back
 *
 * Context: softirqs are disabled.
 */
void dcbport_shared_tell(struct dcbport_shared *shared, s32 bytes)
{
	atomic64_add(bytes, &shared->used);
	this_cpu_sub(*shared->local, bytes);
}

/**
 * dcbport_shared_used() - return what all CPUs have taken from a pool
 * @shared: the pool
 *
 * Return: bytes; exact only while no packets move.
 */
u64 dcbport_shared_used(const struct dcbport_shared *shared)
{
	s64 used = atomic64_read(&shared->used);
	int cpu;

	for_each_possible_cpu(cpu)
		used += *per_cpu_ptr(shared->local, cpu);
	return max_t(s64, used, 0);
}

/**
 * dcbport_buffer_new() - make a switch
 * @net: its network namespace
 * @name: its name; at most DCBPORT_NAME_MAX characters
 * @s: its settings
 * @extack: what is wrong
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_buffer_new(struct net *net, const char *name,
		       const struct dcbport_buffer_settings *s,
		       struct netlink_ext_ack *extack)
{
	struct dcbport_buffer *buffer;

	if (!*name) {
		NL_SET_ERR_MSG(extack, "a switch needs a name");
		return -EINVAL;
	}
	if (dcbport_buffer_find(net, name)) {
		NL_SET_ERR_MSG(extack, "a switch of this name already exists");
		return -EEXIST;
	}
	buffer = buffer_alloc();
	if (!buffer)
		return -ENOMEM;
	strscpy(buffer->name, name, sizeof(buffer->name));
	buffer->settings = *s;
	buffer_pools(buffer);
	list_add_tail(&buffer->node, buffer_list(net));
	return 0;
}

/**
 * dcbport_buffer_set() - change a switch
 * @buffer: the switch
 * @s: its new settings
 * @extack: what is wrong
 *
 * Context: rtnl is held. Return: 0 or a negative error.
 */
int dcbport_buffer_set(struct dcbport_buffer *buffer,
		       const struct dcbport_buffer_settings *s,
		       struct netlink_ext_ack *extack)
{
	struct dcbport_ingress *in;

	if (s->size < buffer->room) {
		NL_SET_ERR_MSG(extack,
			       "the size is below the reserves and headrooms of the switch's ports");
		return -ENOSPC;
	}
	buffer->settings = *s;
	buffer_pools(buffer);
	list_for_each_entry(in, &buffer->ingresses, node) {
		spin_lock_bh(&in->lock);
		ingress_apply(in, &in->port->settings);
		ingress_review(in);
		spin_unlock_bh(&in->lock);
	}
	return 0;
}

static void buffer_del(struct dcbport_buffer *buffer)
{
	list_del(&buffer->node);
	buffer_put(buffer);
}

/**
 * dcbport_buffer_del() - remove a switch
 * @buffer: the switch
 * @extack: what is wrong
 *
 * Packets that are charged to it keep its memory until they have left.
 *
 * Context: rtnl is held. Return: 0 or a negative error.
 */
int dcbport_buffer_del(struct dcbport_buffer *buffer,
		       struct netlink_ext_ack *extack)
{
	if (buffer->ports) {
		NL_SET_ERR_MSG(extack, "the switch still has ports: take them out first");
		return -EBUSY;
	}
	buffer_del(buffer);
	return 0;
}

/**
 * dcbport_buffer_has_room() - check whether more reserves and headrooms fit
 * @buffer: the switch
 * @room: bytes that they need in addition to those of its ports
 *
 * Context: rtnl is held.
 */
bool dcbport_buffer_has_room(const struct dcbport_buffer *buffer, u64 room)
{
	return buffer->room + room <= buffer->settings.size;
}

static void port_switch(struct dcbport *port, struct dcbport_buffer *buffer,
			struct dcbport_ingress *in)
{
	spin_lock_bh(qdisc_lock(port->sch));
	port->buffer = buffer;
	rcu_assign_pointer(port->ingress, in);
	WRITE_ONCE(port->switched, buffer);
	spin_unlock_bh(qdisc_lock(port->sch));
}

/**
 * dcbport_buffer_join() - put a port into a switch
 * @buffer: the switch, which has room for it
 * @port: the port, which is in no switch
 * @s: its settings from now on
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_buffer_join(struct dcbport_buffer *buffer, struct dcbport *port,
			const struct dcbport_settings *s)
{
	struct dcbport_ingress *in = kmem_cache_zalloc(ingress_cache,
						       GFP_KERNEL_ACCOUNT);

	if (!in)
		return -ENOMEM;
	spin_lock_init(&in->lock);
	in->buffer = buffer;
	in->port = port;
	ingress_holdings(in);
	ingress_apply(in, s);

	buffer->ports++;
	buffer->room += dcbport_settings_room(s);
	refcount_inc(&buffer->users);
	buffer_pools(buffer);
	list_add_tail(&in->node, &buffer->ingresses);

	port_switch(port, buffer, in);
	return 0;
}

static void ingress_update(struct dcbport_ingress *in,
			   const struct dcbport_settings *old,
			   const struct dcbport_settings *s)
{
	struct dcbport_buffer *buffer = in->buffer;

	buffer->room -= dcbport_settings_room(old);
	buffer->room += dcbport_settings_room(s);
	buffer_pools(buffer);
	spin_lock_bh(&in->lock);
	ingress_apply(in, s);
	ingress_review(in);
	spin_unlock_bh(&in->lock);
}

/**
 * dcbport_buffer_update() - apply changed settings of a port
 * @port: the port, which is in a switch and still has its old settings
 * @s: its new ones, for which there is room
 *
 * Context: rtnl is held.
 */
void dcbport_buffer_update(struct dcbport *port,
			   const struct dcbport_settings *s)
{
	ingress_update(rtnl_dereference(port->ingress), &port->settings, s);
}

/**
 * dcbport_buffer_inherit() - let a port take the place of another one in its switch
 * @heir: the port, which is in no switch; for its settings there is room in place of the other's
 * @port: the one that it replaces on its device; packets stay charged
 *
 * Context: rtnl is held; no qdisc's lock is.
 */
void dcbport_buffer_inherit(struct dcbport *heir, struct dcbport *port)
{
	struct dcbport_ingress *in = rtnl_dereference(port->ingress);

	spin_lock_bh(qdisc_lock(port->sch));
	heir->told = port->told;
	port->told = 0;
	spin_unlock_bh(qdisc_lock(port->sch));
	port_switch(port, NULL, NULL);
	port_switch(heir, in->buffer, in);
	spin_lock_bh(&in->lock);
	in->port = heir;
	spin_unlock_bh(&in->lock);
	ingress_update(in, &port->settings, &heir->settings);
}

/**
 * dcbport_buffer_leave() - take a port out of its switch
 * @port: the port, which still has its settings
 *
 * Context: rtnl is held; the qdisc's lock is not.
 */
void dcbport_buffer_leave(struct dcbport *port)
{
	struct dcbport_ingress *in = rtnl_dereference(port->ingress);
	struct dcbport_buffer *buffer = port->buffer;
	bool idle;

	port_switch(port, NULL, NULL);
	buffer->ports--;
	buffer->room -= dcbport_settings_room(&port->settings);
	buffer_pools(buffer);
	list_del(&in->node);
	spin_lock_bh(&in->lock);
	in->port = NULL;
	/* else the last packet frees it */
	idle = !in->packets;
	spin_unlock_bh(&in->lock);
	if (idle)
		dcbport_ingress_free(in);
}

/**
 * dcbport_holding_charge() - take memory for a packet, out of line
 * @holding: charged for it
 * @pool: its pool, as it was read
 * @len: bytes
 *
 * Context: the ingress's lock is held.
 * Return: false if no memory is left: the packet is lost.
 */
bool dcbport_holding_charge(struct dcbport_holding *holding,
			    struct dcbport_pool *pool, u32 len)
{
	u32 before = holding->account.shared;
	bool ok;

	/* an empty pool must not look full because other CPUs have not told what they gave back */
	if ((u64)holding->account.reserve + len > holding->thresholds.reserve)
		pool->used = dcbport_shared_used(holding->shared);
	ok = dcbport_account_charge(&holding->account, pool,
				    &holding->thresholds, len);
	holding_settle(holding, before);
	return ok;
}

/**
 * dcbport_holding_release() - give the memory of a packet back, out of line
 * @holding: the holding that was charged
 * @len: as it was charged
 *
 * Context: the ingress's lock is held.
 */
void dcbport_holding_release(struct dcbport_holding *holding, u32 len)
{
	struct dcbport_pool pool = dcbport_shared_read(holding->shared);
	const struct dcbport_thresholds *th = &holding->thresholds;
	struct dcbport_account *account = &holding->account;
	u32 before = account->shared;

	dcbport_account_release(account, &pool, th, len);
	holding_settle(holding, before);
	/* a pause must not last because other CPUs have not told what they gave back */
	if (account->paused && !account->headroom &&
	    (!th->xoff || dcbport_account_bytes(account) <= th->xon)) {
		pool.used = dcbport_shared_used(holding->shared);
		dcbport_account_release(account, &pool, th, 0);
		holding_tell(holding);
	}
}

static void ingress_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(ingress_cache,
			container_of(rcu, struct dcbport_ingress, rcu));
}

/**
 * dcbport_ingress_free() - free the ingress of a port that has left
 * @in: the ingress, to which no packet is charged any more
 *
 * Code that found it just before may still read @in->port.
 */
void dcbport_ingress_free(struct dcbport_ingress *in)
{
	buffer_put(in->buffer);
	call_rcu(&in->rcu, ingress_free_rcu);
}

/* Called with the lock held */
static void account_clear(struct dcbport_account *account)
{
	account->most = dcbport_account_bytes(account);
	account->headroom_most = account->headroom;
}

/**
 * dcbport_buffer_accounts() - read a port's accounts
 * @in: the port's ingress
 * @account: result, by pool and priority
 * @clear: reset their watermarks
 *
 * Context: rtnl is held.
 */
void dcbport_buffer_accounts(struct dcbport_ingress *in,
			     struct dcbport_account account[2][DCBPORT_PRIOS],
			     bool clear)
{
	struct dcbport_account *from;
	u8 pool, prio;

	spin_lock_bh(&in->lock);
	for (pool = 0; pool < 2; pool++) {
		for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
			from = &in->holding[pool][prio].account;
			account[pool][prio] = *from;
			if (clear)
				account_clear(from);
		}
	}
	spin_unlock_bh(&in->lock);
}

static int __net_init buffer_net_init(struct net *net)
{
	INIT_LIST_HEAD(buffer_list(net));
	return 0;
}

/* The namespace's devices and their qdiscs are gone, or have moved to another namespace */
static void __net_exit buffer_net_exit(struct net *net)
{
	struct dcbport_buffer *buffer, *next;

	rtnl_lock();
	list_for_each_entry_safe(buffer, next, buffer_list(net), node) {
		WARN_ON_ONCE(buffer->ports);
		buffer_del(buffer);
	}
	rtnl_unlock();
}

static struct pernet_operations buffer_net_ops = {
	.init = buffer_net_init,
	.exit = buffer_net_exit,
	.id = &buffer_net_id,
	.size = sizeof(struct buffer_net),
};

/**
 * dcbport_buffer_init() - prepare for switches
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcbport_buffer_init(void)
{
	int err;

	ingress_cache = KMEM_CACHE(dcbport_ingress, SLAB_HWCACHE_ALIGN);
	if (!ingress_cache)
		return -ENOMEM;
	/* a subsystem's exit runs after the namespace's devices are gone */
	err = register_pernet_subsys(&buffer_net_ops);
	if (err)
		kmem_cache_destroy(ingress_cache);
	return err;
}

/**
 * dcbport_buffer_exit() - remove all switches
 *
 * Context: process; may sleep. No port is left.
 */
void dcbport_buffer_exit(void)
{
	unregister_pernet_subsys(&buffer_net_ops);
	rcu_barrier();
	kmem_cache_destroy(ingress_cache);
}
