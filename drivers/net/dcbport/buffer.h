/* SPDX-License-Identifier: GPL-2.0 */
/* The buffer that the ports of a switch share. See buffer.c. */
#ifndef DCBPORT_BUFFER_H
#define DCBPORT_BUFFER_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "account.h"
#include "settings.h"

struct dcbport;
struct net;
struct netlink_ext_ack;

#define DCBPORT_NAME_MAX	15	/* characters, as for a network device */

/* Ports are found by ifindex; 512 of them in lists of two */
#define DCBPORT_INGRESS_HASH	256

/**
 * struct dcbport_buffer_settings - settings of a switch
 * @size: bytes for priorities with PFC: reserves, headrooms and the shared pool
 * @lossy: bytes for all others together
 * @alpha: of both pools, in units of 1 / DCBPORT_ALPHA_ONE
 */
struct dcbport_buffer_settings {
	u64 size;
	u64 lossy;
	u32 alpha;
};

/**
 * struct dcbport_buffer - a switch
 * @node: in the list of its network namespace
 * @name: its name
 * @ports: number of its ports; under rtnl
 * @room: bytes that their reserves and headrooms take; under rtnl
 * @settings: as set by users; under rtnl
 * @lock: a leaf; protects the fields below
 * @users: references: of the list, and of each ingress
 * @ingresses: by ifindex, without those whose port has left
 * @pool: 0 for priorities without PFC, 1 for those with it
 */
struct dcbport_buffer {
	struct list_head node;
	char name[DCBPORT_NAME_MAX + 1];
	unsigned int ports;
	u64 room;
	struct dcbport_buffer_settings settings;

	spinlock_t lock;	/* see above */
	unsigned int users;
	struct hlist_head ingresses[DCBPORT_INGRESS_HASH];
	struct dcbport_pool pool[2];
};

/* The list in which the ingress of a device would be */
static inline struct hlist_head *dcbport_buffer_list(struct dcbport_buffer *buffer,
						     unsigned int ifindex)
{
	return &buffer->ingresses[ifindex % DCBPORT_INGRESS_HASH];
}

/**
 * struct dcbport_holding - what an ingress holds of a pool, with one priority
 * @account: its bytes
 * @pool: the pool
 * @thresholds: the account's
 * @in: the ingress
 */
struct dcbport_holding {
	struct dcbport_account account;
	struct dcbport_pool *pool;
	const struct dcbport_thresholds *thresholds;
	struct dcbport_ingress *in;
};

/**
 * struct dcbport_ingress - what came in at one port of a switch, and is still held
 * @node: in the switch's hash table
 * @buffer: the switch
 * @port: NULL once it has left; packets may still be charged
 * @ifindex: index of its device
 * @packets: number of packets that are charged
 * @paused: priorities whose sender must pause, one bit each; written under the
 *	buffer's lock, read without it by the port itself
 * @thresholds: of priorities with PFC
 * @charged: what packets of a priority are charged to; depends on its PFC
 * @holding: by pool and priority
 */
struct dcbport_ingress {
	struct hlist_node node;
	struct dcbport_buffer *buffer;
	struct dcbport *port;
	int ifindex;
	unsigned int packets;
	u8 paused;
	struct dcbport_thresholds thresholds;
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
void dcbport_buffer_leave(struct dcbport *port);

bool dcbport_holding_charge(struct dcbport_holding *holding, u32 len);
void dcbport_holding_release(struct dcbport_holding *holding, u32 len);
void dcbport_ingress_free(struct dcbport_ingress *in);
void dcbport_buffer_accounts(struct dcbport_ingress *in,
			     struct dcbport_account account[2][DCBPORT_PRIOS]);

int dcbport_buffer_init(void);
void dcbport_buffer_exit(void);

/**
 * dcbport_buffer_charge() - take memory for a packet
 * @buffer: the switch
 * @ifindex: where it came in; it is charged only if that is a port of this switch
 * @prio: its priority
 * @len: bytes
 * @result: what it was charged to, or NULL
 *
 * Context: softirqs are disabled; the lock of the qdisc where it leaves is held.
 * Return: false if no memory is left: the packet is lost.
 */
static inline bool dcbport_buffer_charge(struct dcbport_buffer *buffer,
					 int ifindex, u8 prio, u32 len,
					 struct dcbport_holding **result)
{
	struct dcbport_holding *holding = NULL;
	struct dcbport_ingress *in;
	bool ok = true;

	spin_lock(&buffer->lock);
	hlist_for_each_entry(in, dcbport_buffer_list(buffer, ifindex), node) {
		if (in->ifindex != ifindex)
			continue;
		holding = in->charged[prio];
		ok = dcbport_account_shares(&holding->account, holding->pool,
					    holding->thresholds, len) ||
		     dcbport_holding_charge(holding, len);
		in->packets += ok;
		break;
	}
	spin_unlock(&buffer->lock);
	*result = holding;
	return ok;
}

/**
 * dcbport_buffer_release() - give the memory of a packet back
 * @holding: what was charged; the caller must not use it afterwards
 * @len: as it was charged
 *
 * Context: softirqs are disabled.
 */
static inline void dcbport_buffer_release(struct dcbport_holding *holding, u32 len)
{
	struct dcbport_ingress *in = holding->in;
	struct dcbport_buffer *buffer = in->buffer;
	bool last;

	spin_lock(&buffer->lock);
	if (!dcbport_account_gives(&holding->account, holding->pool, len))
		dcbport_holding_release(holding, len);
	last = !--in->packets && !in->port;
	spin_unlock(&buffer->lock);
	if (last)
		dcbport_ingress_free(in);
}

#endif /* DCBPORT_BUFFER_H */
