// SPDX-License-Identifier: GPL-2.0
/*
 * Records where a packet came in, and with which priority. A switch classifies packets at the port
 * where they come in, and charges that port, but both are needed at the port where they leave.
 * Nothing in the packet's headers tells them there: the VLAN tag may be gone, and maps differ.
 *
 * The record is skb->tc_index, the "traffic control index": the upper 13 bits are the number
 * of the port, the lower 3 the priority, all inverted. The ingress hook writes it. Unlike
 * skb->skb_iif, skb->priority and skb->cb, it is left alone by bridges, routers, VLAN devices,
 * bonds and VRFs, by neighbour queues and by NFQUEUE, and it is copied to clones and fragments. A
 * local packet has 0. The port that sends the packet clears it. Filters of tc overwrite it in two
 * places: at the egress (clsact), and at the ingress of a device above the port. They write the
 * minor number of a class, which is small as a rule; inverted, it is the number of a port only if
 * there are thousands. For a packet that has lost its record, or has never met the hook because a
 * filter redirected it before, only the device where it came in is known.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "classify.h"
#include "origin.h"
#include "port.h"

#define FIRST_ROOM	64	/* ports; twice as many whenever there is no room */
/* The numbers are for all network namespaces, and users may own one: half of the numbers are for
 * the machine's administrator
 */
#define ROOM_FOR_ALL	((DCBPORT_ORIGIN_MAX + 2) / 2)

static struct dcbport_origins no_origins;
struct dcbport_origins __rcu *dcbport_origins = RCU_INITIALIZER(&no_origins);
static unsigned int origin_last;

static unsigned int origins_room(void)
{
	return capable(CAP_NET_ADMIN) ? DCBPORT_ORIGIN_MAX + 2 : ROOM_FOR_ALL;
}

/* Make room for more ports */
static int origins_grow(struct dcbport_origins *old)
{
	unsigned int room = max(2 * old->room, FIRST_ROOM), i;
	struct dcbport_origins *new;

	if (room > origins_room())
		return -ENOSPC;
	new = kvzalloc(struct_size(new, port, room), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->room = room;
	for (i = 0; i < old->room; i++)
		RCU_INIT_POINTER(new->port[i], rtnl_dereference(old->port[i]));
	rcu_assign_pointer(dcbport_origins, new);
	if (old != &no_origins)
		kvfree_rcu(old, rcu);
	return 0;
}

/* The next free number, or 0 if there is none */
static unsigned int origins_free(const struct dcbport_origins *origins)
{
	unsigned int room = min(origins->room, origins_room()), i, number;

	for (i = 1; i <= room; i++) {
		number = (origin_last + i) % room;
		if (number && number <= DCBPORT_ORIGIN_MAX &&
		    !rcu_access_pointer(origins->port[number]))
			return number;
	}
	return 0;
}

/**
 * dcbport_origin_begin() - give a port a number
 * @port: the port
 * @extack: what is wrong
 *
 * Numbers are used in turn, so that records of an old port are not soon taken for those of a new
 * one.
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_origin_begin(struct dcbport *port, struct netlink_ext_ack *extack)
{
	struct dcbport_origins *origins = rtnl_dereference(dcbport_origins);
	int err;

	port->origin = origins_free(origins);
	if (!port->origin) {
		err = origins_grow(origins);
		if (err) {
			NL_SET_ERR_MSG(extack, "no further port can be added");
			return err;
		}
		origins = rtnl_dereference(dcbport_origins);
		port->origin = origins_free(origins);
	}
	origin_last = port->origin;
	rcu_assign_pointer(origins->port[port->origin], port);
	return 0;
}

/**
 * dcbport_origin_end() - undo dcbport_origin_begin(), if it was done
 * @port: the port, which others may still find until a grace period has passed
 *
 * Context: rtnl is held.
 */
void dcbport_origin_end(struct dcbport *port)
{
	struct dcbport_origins *origins = rtnl_dereference(dcbport_origins);

	if (port->origin)
		RCU_INIT_POINTER(origins->port[port->origin], NULL);
}

/**
 * dcbport_origin_next() - find the port with the next number
 * @net: its network namespace
 * @after: number of the one before, or 0
 *
 * Context: rtnl is held. Return: the port, or NULL.
 */
struct dcbport *dcbport_origin_next(const struct net *net, unsigned long after)
{
	struct dcbport_origins *origins = rtnl_dereference(dcbport_origins);
	struct dcbport *port;

	while (++after < origins->room) {
		port = rtnl_dereference(origins->port[after]);
		if (port && net_eq(dev_net(port->dev), net))
			return port;
	}
	return NULL;
}

/**
 * dcbport_origin_exit() - free the table of numbers
 *
 * Context: process; may sleep. No port is left, and no packet meets one.
 */
void dcbport_origin_exit(void)
{
	struct dcbport_origins *origins =
		rcu_dereference_protected(dcbport_origins, true);

	if (origins != &no_origins)
		kvfree(origins);
}

/* Find the port of a received packet without a record */
static struct dcbport *origin_by_device(const struct dcbport *port,
					const struct sk_buff *skb)
{
	const struct net_device *dev =
		dev_get_by_index_rcu(dev_net(port->dev), skb->skb_iif);

	return dev ? dcbport_of_rcu(dev) : NULL;
}

/* The port where the packet came in, of the same network namespace as @port, or NULL */
static struct dcbport *origin_port(struct dcbport *port, struct sk_buff *skb,
				   u8 *prio)
{
	u16 record = ~skb->tc_index;
	struct dcbport *from;

	if (skb->tc_index) {
		skb->tc_index = 0;
		from = dcbport_origin_port(record >> DCBPORT_PRIO_BITS);
		if (from && net_eq(dev_net(from->dev), dev_net(port->dev))) {
			*prio = record & ((1 << DCBPORT_PRIO_BITS) - 1);
			return from;
		}
	}
	from = skb->skb_iif ? origin_by_device(port, skb) : NULL;
	*prio = dcbport_packet_prio(from ? &from->prio : &port->prio, skb);
	return from;
}

/**
 * dcbport_origin_any() - find where a packet came in, out of line
 * @port: the port where it leaves
 * @skb: the packet; it forgets the record
 * @prio: its priority
 *
 * Context: under RCU; softirqs are disabled.
 * Return: the ingress to charge, or NULL.
 */
struct dcbport_ingress *dcbport_origin_any(struct dcbport *port,
					   struct sk_buff *skb, u8 *prio)
{
	struct dcbport *from = origin_port(port, skb, prio);
	struct dcbport_ingress *in;

	if (!from || !port->buffer)
		return NULL;
	in = rcu_dereference_bh(from->ingress);
	return in && in->buffer == port->buffer ? in : NULL;
}
