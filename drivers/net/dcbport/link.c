// SPDX-License-Identifier: GPL-2.0
/*
 * The link behind a port. The port starts a frame when the link is free, and the frame arrives when
 * its last bit has been sent and has travelled. Frames on the link can no longer be paused.
 */
#include <linux/minmax.h>

#include "link.h"
#include "wire.h"

/**
 * dcbport_link_begin() - return the time at which a packet goes onto the wire
 * @port: the port
 * @cb: private data of the packet
 * @now: ns
 *
 * This is the time at which it would have gone if no timer had been late: after it came, and while
 * its class was not paused. A pause that another CPU has received since the class was chosen comes
 * too late, and must not hold the wire.
 * Return: ns.
 */
u64 dcbport_link_begin(const struct dcbport *port, const struct dcbport_cb *cb,
		       u64 now)
{
	u64 begin = now > port->late ? now - port->late : 0;

	begin = max3(begin, (u64)cb->time, port->wire.free);
	if (dcbport_holds(port, begin))
		begin = max(begin, min(dcbport_class_until(port, cb->tc), now));
	return begin;
}

/**
 * dcbport_link_pace() - charge a packet to its class's maxrate
 * @port: the port
 * @class: its class
 * @skb: the packet
 * @begin: ns; see dcbport_link_begin()
 *
 * It is charged from the time at which it could have begun on a free link, so that other classes do
 * not slow the class down.
 */
void dcbport_link_pace(struct dcbport *port, struct dcbport_class *class,
		       const struct sk_buff *skb, u64 begin)
{
	const struct dcbport_cb *cb = dcbport_cb(skb);
	u64 from = begin > port->burst ? begin - port->burst : 0;

	from = max3(from, (u64)cb->time, min(dcbport_class_until(port, cb->tc), begin));
	dcbport_wire_send(&class->pace, from, qdisc_pkt_len(skb));
}

/**
 * dcbport_link_send() - put a frame onto the wire
 * @port: the port
 * @skb: the frame; its time becomes that of its arrival
 * @begin: ns; not before the wire is free
 */
void dcbport_link_send(struct dcbport *port, struct sk_buff *skb, u64 begin)
{
	dcbport_cb(skb)->time = dcbport_wire_send(&port->wire, begin,
						  qdisc_pkt_len(skb)) +
				port->settings.delay;
}

/**
 * dcbport_flight_enter() - keep a frame that is on the wire
 * @port: the port
 * @skb: the frame, which does not arrive at once, or has others before it
 *
 * The qdisc counts it as a packet, though not its bytes, which wait no more: when a halt ends, the
 * core resumes a qdisc only if it has packets. From 7.2 on, a halt does not reset the qdisc, and
 * during it the core does not go on with a qdisc that has sent as much as it may at once.
 */
void dcbport_flight_enter(struct dcbport *port, struct sk_buff *skb)
{
	if (!dcbport_cb(skb)->control)
		port->class[dcbport_cb(skb)->tc].on_wire++;
	__qdisc_enqueue_tail(skb, &port->flight);
	port->sch->q.qlen++;
}

/**
 * dcbport_flight_leave() - take the frame that arrives first
 * @port: the port, which has a frame on the wire
 */
struct sk_buff *dcbport_flight_leave(struct dcbport *port)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&port->flight);

	port->sch->q.qlen--;
	if (!dcbport_cb(skb)->control)
		port->class[dcbport_cb(skb)->tc].on_wire--;
	return skb;
}
