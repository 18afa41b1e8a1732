/* SPDX-License-Identifier: GPL-2.0 */
/* The buffer that the ports of a switch share. See buffer.c. */
#ifndef DCBPORT_BUFFER_H
#define DCBPORT_BUFFER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "account.h"
#include "settings.h"

struct dcbport;
struct net;
struct netlink_ext_ack;

#define DCBPORT_NAME_MAX	15	/* characters, as for a network device */

/* Bytes that each CPU may take from a pool, or give back, before others see it: a few frames
 * of 1 KB, so that the ports' CPUs rarely write the same line. A pool may hold this much more for
 * each CPU; with one CPU it is exact. It may also look fuller by as much, so before a packet is
 * refused, all CPUs are counted.
 */
#define DCBPORT_POOL_BATCH	8192

/**
 * struct dcbport_buffer_settings - settings of a switch
 * @size: bytes for priorities with PFC: reserves, headrooms and the shared pool
 * @lossy: bytes for all others together
 * @alpha: alpha of priorities that have none of their own, in units of 1 / DCBPORT_ALPHA_ONE
 */
struct dcbport_buffer_settings {
	u64 size;
	u64 lossy;
	u32 alpha;
};

/**
 * struct dcbport_shared - memory that the ports of a switch share
 * @size: bytes; written under rtnl, read without it
 * @local: bytes that each CPU has taken and not added to @used yet
 * @used: bytes; together with all of @local, what all accounts take
 */
struct dcbport_shared {
	u64 size;
	s32 __percpu *local;
	atomic64_t used ____cacheline_aligned_in_smp;
};

/**
 * struct dcbport_buffer - a switch
 * @node: in the list of its network namespace
 * @name: its name
 * @ingresses: the ingresses of its ports; under rtnl
 * @ports: number of its ports; under rtnl
 * @room: bytes that their reserves and headrooms take; under rtnl
 * @settings: as set by users; under rtnl
 * @users: references, which the list and each ingress hold
 * @pool: pool 0 is for priorities without PFC, pool 1 for those with PFC
 */
struct dcbport_buffer {
	struct list_head node;
	char name[DCBPORT_NAME_MAX + 1];
	struct list_head ingresses;
	unsigned int ports;
	u64 room;
	struct dcbport_buffer_settings settings;
	refcount_t users;
	struct dcbport_shared pool[2] ____cacheline_aligned_in_smp;
};

/**
 * struct dcbport_holding - memory of a pool that an ingress holds for one priority
 * @account: its bytes
 * @shared: the pool
 * @thresholds: the account's; without PFC all but alpha are 0
 * @in: the ingress
 */
struct dcbport_holding {
	struct dcbport_account account;
	struct dcbport_shared *shared;
	struct dcbport_thresholds thresholds;
	struct dcbport_ingress *in;
};

/**
 * struct dcbport_ingress - memory of packets that came in at one port of a switch
 * @node: in the switch's list
 * @rcu: frees it
 * @buffer: the switch
 * @lock: a leaf; protects the fields below
 * @port: NULL once it has left; packets may still be charged
 * @packets: number of packets that are charged
 * @paused: priorities whose sender must pause, one bit each; read without the lock by the
 *	port itself
 * @charged: the holding to which packets of a priority are charged; depends on its PFC
 * @holding: by pool and priority
 */
struct dcbport_ingress {
	struct list_head node;
	struct rcu_head rcu;
	struct dcbport_buffer *buffer;
	spinlock_t lock;	/* see above */
	struct dcbport *port;
	unsigned int packets;
	u8 paused;
	struct dcbport_holding *charged[DCBPORT_PRIOS];
	struct dcbport_holding holding[2][DCBPORT_PRIOS];
};

extern const struct dcbport_buffer_settings dcbport_buffer_defaults;

struct dcbport_buffer *dcbport_buffer_find(struct net *net, const char *name);
struct dcbport_buffer *dcbport_buffer_next(struct net *net, unsigned int skip);
int dcbport_buffer_new(struct net *net, const char *name,
		       const struct dcbport_buffer_settings *s,
		       struct netlink_ext_ack *extack);
int dcbport_buffer_set(struct dcbport_buffer *buffer,
		       const struct dcbport_buffer_settings *s,
		       struct netlink_ext_ack *extack);
int dcbport_buffer_del(struct dcbport_buffer *buffer,
		       struct netlink_ext_ack *extack);
bool dcbport_buffer_has_room(const struct dcbport_buffer *buffer, u64 room);

int dcbport_buffer_join(struct dcbport_buffer *buffer, struct dcbport *port,
			const struct dcbport_settings *s);
void dcbport_buffer_update(struct dcbport *port,
			   const struct dcbport_settings *s);
void dcbport_buffer_inherit(struct dcbport *heir, struct dcbport *port);
void dcbport_buffer_leave(struct dcbport *port);

void dcbport_shared_tell(struct dcbport_shared *shared, s32 bytes);
u64 dcbport_shared_used(const struct dcbport_shared *shared);
bool dcbport_holding_charge(struct dcbport_holding *holding,
			    struct dcbport_pool *pool, u32 len);
void dcbport_holding_release(struct dcbport_holding *holding, u32 len);
void dcbport_ingress_free(struct dcbport_ingress *in);
void dcbport_buffer_accounts(struct dcbport_ingress *in,
			     struct dcbport_account account[2][DCBPORT_PRIOS],
			     bool clear);

int dcbport_buffer_init(void);
void dcbport_buffer_exit(void);

/* The pool as this CPU sees it. Changes of an account must be written back by dcbport_shared_add().
 * Softirqs are disabled for both.
 */
static inline struct dcbport_pool dcbport_shared_read(struct dcbport_shared *shared)
{
	s64 used = atomic64_read(&shared->used) + this_cpu_read(*shared->local);

	return (struct dcbport_pool) {
		.size = READ_ONCE(shared->size),
		.used = max_t(s64, used, 0),
	};
}

static inline void dcbport_shared_add(struct dcbport_shared *shared, s32 bytes)
{
	s32 local = this_cpu_add_return(*shared->local, bytes);

	if (local + DCBPORT_POOL_BATCH > 2 * DCBPORT_POOL_BATCH ||
	    local + DCBPORT_POOL_BATCH < 0)
		dcbport_shared_tell(shared, local);
}

/**
 * dcbport_buffer_charge() - take memory for a packet
 * @in: ingress where it came in; it is charged unless that port has left its switch
 * @prio: its priority
 * @len: bytes
 * @result: the holding that was charged, or NULL
 *
 * Context: under RCU; softirqs are disabled; the lock of the qdisc where it leaves is held.
 * Return: false if no memory is left: the packet is lost.
 */
static inline bool dcbport_buffer_charge(struct dcbport_ingress *in, u8 prio,
					 u32 len,
					 struct dcbport_holding **result)
{
	struct dcbport_holding *holding = NULL;
	struct dcbport_pool pool;
	bool ok = true;

	spin_lock(&in->lock);
	if (likely(in->port)) {
		holding = in->charged[prio];
		pool = dcbport_shared_read(holding->shared);
		if (dcbport_account_shares(&holding->account, &pool,
					   &holding->thresholds, len))
			dcbport_shared_add(holding->shared, len);
		else
			ok = dcbport_holding_charge(holding, &pool, len);
		in->packets += ok;
	}
	spin_unlock(&in->lock);
	*result = holding;
	return ok;
}

/**
 * dcbport_buffer_release() - give the memory of a packet back
 * @holding: the holding that was charged; the caller must not use it afterwards
 * @len: as it was charged
 *
 * Context: softirqs are disabled.
 */
static inline void dcbport_buffer_release(struct dcbport_holding *holding, u32 len)
{
	struct dcbport_ingress *in = holding->in;
	bool last;

	spin_lock(&in->lock);
	if (dcbport_account_gives(&holding->account, len))
		dcbport_shared_add(holding->shared, -(s32)len);
	else
		dcbport_holding_release(holding, len);
	last = !--in->packets && !in->port;
	spin_unlock(&in->lock);
	if (last)
		dcbport_ingress_free(in);
}

#endif /* DCBPORT_BUFFER_H */
