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
 * struct dcbport_buffer_settings - of a switch
 * @size: bytes for priorities with PFC: reserves, headrooms and the shared pool
 * @lossy: bytes for all others together
 * @alpha: for both pools, in units of 1 / DCBPORT_ALPHA_ONE
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
 * @room: bytes of their reserves and headrooms; under rtnl
 * @settings: as set by users; under rtnl
 * @users: the list, and each ingress; under @lock
 * @lock: a leaf; protects the fields below
 * @ingresses: those whose port is in it, by ifindex
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

/**
 * struct dcbport_ingress - what came in at one port of a switch
 * @node: in the switch's hash
 * @buffer: the switch
 * @port: NULL once it has left; packets may still be charged
 * @ifindex: index of its device
 * @packets: number of packets that are charged
 * @pfc: priorities with PFC, one bit each
 * @paused: priorities whose sender must pause, one bit each; written under the
 *	buffer's lock, read without it by the port itself
 * @thresholds: of priorities with PFC
 * @account: by pool and priority
 */
struct dcbport_ingress {
	struct hlist_node node;
	struct dcbport_buffer *buffer;
	struct dcbport *port;
	int ifindex;
	unsigned int packets;
	u8 pfc;
	u8 paused;
	struct dcbport_thresholds thresholds;
	struct dcbport_account account[2][DCBPORT_PRIOS];
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

bool dcbport_buffer_charge(struct dcbport_buffer *buffer, int ifindex, u8 prio,
			   u32 len, struct dcbport_ingress **in, bool *lossless);
void dcbport_buffer_release(struct dcbport_ingress *in, u8 prio, bool lossless,
			    u32 len);
void dcbport_buffer_accounts(struct dcbport_ingress *in,
			     struct dcbport_account account[2][DCBPORT_PRIOS]);

int dcbport_buffer_init(void);
void dcbport_buffer_exit(void);

#endif /* DCBPORT_BUFFER_H */
