/* SPDX-License-Identifier: GPL-2.0 */
/* The link behind a port. See link.c. */
#ifndef DCBPORT_LINK_H
#define DCBPORT_LINK_H

#include "class.h"

/* The most packets on a link: with 1 KB each, as many as 100 Gb/s carries in 80 ms. Further packets
 * wait in their classes, which have limits.
 */
#define DCBPORT_FLIGHT_MAX	1048576

u64 dcbport_link_begin(const struct dcbport *port, const struct dcbport_cb *cb,
		       u64 now);
void dcbport_link_pace(struct dcbport *port, struct dcbport_class *class,
		       const struct sk_buff *skb, u64 begin);
void dcbport_link_send(struct dcbport *port, struct sk_buff *skb, u64 begin);
void dcbport_flight_enter(struct dcbport *port, struct sk_buff *skb);
struct sk_buff *dcbport_flight_leave(struct dcbport *port);

/* When the wire can take another frame; in the past if it can now */
static inline u64 dcbport_link_takes(const struct dcbport *port)
{
	if (port->flight.qlen < DCBPORT_FLIGHT_MAX)
		return port->wire.free;
	return max(port->wire.free, (u64)dcbport_cb(port->flight.head)->time);
}

/* A wait that ends by this time is too short for a timer */
static inline u64 dcbport_link_soon(const struct dcbport *port, u64 now)
{
	return now + port->grain.ns;
}

/* Learn how late a timer was, if a timer has woken the port */
static inline void dcbport_link_woken(struct dcbport *port, u64 now)
{
	if (!port->armed || now < port->armed ||
	    hrtimer_is_queued(&port->timer))
		return;
	dcbport_grain_learn(&port->grain, now - port->armed);
	port->armed = 0;
}

#endif /* DCBPORT_LINK_H */
