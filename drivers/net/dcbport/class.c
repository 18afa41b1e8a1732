// SPDX-License-Identifier: GPL-2.0
/*
 * The classes in which packets wait: each is a FIFO, which is under the qdisc's lock. A
 * packet that waits, or is on the wire, has private data of its own.
 */
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "class.h"
#include "flow_key.h"

/* The kernel's reasons are fewer than ours, and older kernels have only one */
static u32 drop_reason(enum dcbport_drop why)
{
	switch (why) {
	case DCBPORT_DROP_LIMIT:
	case DCBPORT_DROP_BUFFER:
		return QDISC_DROP_OVERLIMIT;
	case DCBPORT_DROP_STORM:
		return QDISC_DROP_CONGESTED;
	default:
		return QDISC_DROP_GENERIC;
	}
}

/**
 * dcbport_class_drop() - drop a packet that is in no queue
 * @port: the port
 * @class: its class
 * @why: reason
 * @skb: the packet
 * @to_free: list of packets that the caller must free
 *
 * Return: what enqueue returns for it.
 */
int dcbport_class_drop(struct dcbport *port, struct dcbport_class *class,
		       enum dcbport_drop why, struct sk_buff *skb,
		       struct sk_buff **to_free)
{
	class->count.dropped[why]++;
	return qdisc_drop_reason(skb, port->sch, to_free, drop_reason(why));
}

/**
 * dcbport_free_list() - free what dcbport_class_drop() has dropped
 * @port: the port
 * @dropped: list of packets
 *
 * Not for enqueue: there the core does it.
 */
void dcbport_free_list(const struct dcbport *port, struct sk_buff *dropped)
{
	tcf_kfree_skb_list(dropped, port->sch, port->sch->dev_queue, port->dev);
}

/**
 * dcbport_flow_enter() - count a packet among the flows of its class
 * @class: its class, which counts flows
 * @skb: the packet
 *
 * Return: its place, or DCBPORT_NO_FLOW.
 */
u16 dcbport_flow_enter(struct dcbport_class *class, const struct sk_buff *skb)
{
	u16 flow = dcbport_flows_add(class->flows, dcbport_flow_key(skb));

	if (flow != DCBPORT_NO_FLOW)
		class->counted++;
	return flow;
}

/**
 * dcbport_flow_leave() - count off a packet that leaves its class
 * @class: its class
 * @flow: what dcbport_flow_enter() returned for it
 */
void dcbport_flow_leave(struct dcbport_class *class, u16 flow)
{
	class->counted--;
	dcbport_flows_remove(class->flows, flow);
}

/**
 * dcbport_class_purge() - drop all packets that wait in a class
 * @port: the port
 * @tc: the class
 * @why: reason
 * @to_free: list of packets that the caller must free
 */
void dcbport_class_purge(struct dcbport *port, u8 tc, enum dcbport_drop why,
			 struct sk_buff **to_free)
{
	struct dcbport_class *class = &port->class[tc];

	while (class->queue.qlen)
		dcbport_class_drop(port, class, why,
				   dcbport_class_take(port, class, port->sch),
				   to_free);
	port->drr.deficit[tc] = 0;
}

/**
 * dcbport_class_until() - return when a class may send
 * @port: the port
 * @tc: the class
 *
 * It waits if any of its priorities is paused, because all its packets are in one queue.
 * Return: ns; in the past if it may now.
 */
u64 dcbport_class_until(const struct dcbport *port, u8 tc)
{
	const struct dcbport_class *class = &port->class[tc];
	u64 until = class->pace.free;
	u8 prios;

	if (class->storm && port->settings.action == DCBPORT_ACTION_FORWARD)
		return until;
	for (prios = class->obeys; prios; prios &= prios - 1)
		until = max(until, dcbport_pause_until(&port->pause,
						       __ffs(prios)));
	return until;
}
