/* SPDX-License-Identifier: GPL-2.0 */
/* Records where a packet came in, and with which priority. See origin.c. */
#ifndef DCBPORT_ORIGIN_H
#define DCBPORT_ORIGIN_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "buffer.h"
#include "port.h"

struct net;
struct netlink_ext_ack;

#define DCBPORT_PRIO_BITS	3
/* As many ports as the rest of skb->tc_index can number; 0 stands for none, and the one after the
 * last would make it 0
 */
#define DCBPORT_ORIGIN_MAX	((1 << (16 - DCBPORT_PRIO_BITS)) - 2)

int dcbport_origin_begin(struct dcbport *port, struct netlink_ext_ack *extack);
void dcbport_origin_end(struct dcbport *port);
void dcbport_origin_exit(void);
struct dcbport *dcbport_origin_next(const struct net *net, unsigned long after);
struct dcbport_ingress *dcbport_origin_any(struct dcbport *port,
					   struct sk_buff *skb, u8 *prio);

/**
 * struct dcbport_origins - ports by number
 * @rcu: frees it
 * @room: numbers that it has room for
 * @port: under RCU; changed under rtnl
 */
struct dcbport_origins {
	struct rcu_head rcu;
	unsigned int room;
	struct dcbport __rcu *port[];
};

extern struct dcbport_origins __rcu *dcbport_origins;

/**
 * dcbport_origin_set() - record where a packet comes in
 * @skb: the packet
 * @origin: number of the port
 * @prio: the priority that the port gives it
 */
static inline void dcbport_origin_set(struct sk_buff *skb, u16 origin, u8 prio)
{
	skb->tc_index = ~(origin << DCBPORT_PRIO_BITS | prio);
}

/**
 * dcbport_origin_port() - find the port with a number
 * @number: the number
 *
 * Context: under RCU. Return: the port, or NULL.
 */
static inline struct dcbport *dcbport_origin_port(unsigned int number)
{
	struct dcbport_origins *origins = rcu_dereference_bh(dcbport_origins);

	return number < origins->room ?
	       rcu_dereference_bh(origins->port[number]) : NULL;
}

/**
 * dcbport_origin_find() - find where a packet came in
 * @port: the port where it leaves
 * @skb: the packet; it forgets the record
 * @prio: its priority: by the port where it came in or, if there is none, by @port
 *
 * The usual case without a call: the two ports are in one switch.
 *
 * Context: under RCU; softirqs are disabled.
 * Return: the ingress to charge, or NULL.
 */
static inline struct dcbport_ingress *
dcbport_origin_find(struct dcbport *port, struct sk_buff *skb, u8 *prio)
{
	struct dcbport_ingress *in;
	u16 record = ~skb->tc_index;
	struct dcbport *from;

	from = dcbport_origin_port(record >> DCBPORT_PRIO_BITS);
	if (!from || !port->buffer)
		return dcbport_origin_any(port, skb, prio);
	in = rcu_dereference_bh(from->ingress);
	if (!in || in->buffer != port->buffer)
		return dcbport_origin_any(port, skb, prio);
	skb->tc_index = 0;
	*prio = record & ((1 << DCBPORT_PRIO_BITS) - 1);
	return in;
}

#endif /* DCBPORT_ORIGIN_H */
