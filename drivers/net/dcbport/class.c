// SPDX-License-Identifier: GPL-2.0
/*
 * The classes in which packets wait: each is a FIFO, which is under the qdisc's lock. A
 * packet that waits, or is on the wire, has private data of its own.
 */
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "class.h"
#include "flow_key.h"
#include "mark.h"
#include "stamp.h"

/* The kernel has fewer drop reasons than a port, and older kernels have only one */
static u32 drop_reason(enum dcbport_drop why)
{
	switch (why) {
	case DCBPORT_DROP_LIMIT:
	case DCBPORT_DROP_BUFFER:
		return QDISC_DROP_OVERLIMIT;
	case DCBPORT_DROP_STORM:
	case DCBPORT_DROP_WRED:
		return QDISC_DROP_CONGESTED;
	default:
		return QDISC_DROP_GENERIC;
	}
}

/* Count a packet's flow, or let the packet belong to no flow if its class no longer counts flows */
static void flow_enter(const struct dcbport *port, struct dcbport_class *class,
		       struct sk_buff *skb)
{
	struct dcbport_cb *cb = dcbport_cb(skb);

	cb->flow = DCBPORT_NO_FLOW;
	if (dcbport_settings_counts_flows(&port->settings, class - port->class))
		cb->flow = dcbport_flows_add(class->flows, dcbport_flow_key(skb));
	class->counted += cb->flow != DCBPORT_NO_FLOW;
}

/* Undo flow_enter() */
static void flow_leave(struct dcbport_class *class, struct sk_buff *skb)
{
	struct dcbport_cb *cb = dcbport_cb(skb);

	if (!(class->enters & DCBPORT_EXTRA_FLOWS) || cb->flow == DCBPORT_NO_FLOW)
		return;
	class->counted--;
	dcbport_flows_remove(class->flows, cb->flow);
}

/**
 * dcbport_class_drop() - drop a packet that is in no queue
 * @port: the port
 * @class: its class
 * @why: reason
 * @skb: the packet
 * @to_free: list of packets that the caller must free
 *
 * Return: the return value of enqueue.
 */
int dcbport_class_drop(struct dcbport *port, struct dcbport_class *class,
		       enum dcbport_drop why, struct sk_buff *skb,
		       struct sk_buff **to_free)
{
	class->count.dropped[why]++;
	if (why == DCBPORT_DROP_BUFFER)
		flow_leave(class, skb);
	return qdisc_drop_reason(skb, port->sch, to_free, drop_reason(why));
}

/**
 * dcbport_free_list() - free packets that dcbport_class_drop() has dropped
 * @port: the port
 * @dropped: list of packets
 *
 * Not to be called in enqueue, where the core frees them.
 */
void dcbport_free_list(const struct dcbport *port, struct sk_buff *dropped)
{
	tcf_kfree_skb_list(dropped, port->sch, port->sch->dev_queue, port->dev);
}

/* Whether a class may hold @bytes in total, by its share of the free part of the buffer. Packets
 * that did not come in at a port of the switch take no memory from the buffer, so no share bounds
 * them.
 */
static bool class_may_hold(const struct dcbport *port,
			   const struct dcbport_class *class,
			   const struct dcbport_ingress *in, u8 prio, u64 bytes)
{
	u32 share = port->settings.share[class - port->class];
	struct dcbport_shared *shared;
	struct dcbport_pool pool;

	if (!in)
		return true;
	shared = READ_ONCE(in->charged[prio])->shared;
	pool = dcbport_shared_read(shared);
	if (bytes <= dcbport_pool_threshold(&pool, share))
		return true;
	/* other CPUs may have given back more than they have told */
	pool.used = dcbport_shared_used(shared);
	return bytes <= dcbport_pool_threshold(&pool, share);
}

/**
 * dcbport_class_refuses() - do the extra work for a packet that enters a class
 * @port: the port
 * @class: its class
 * @in: ingress where it came in, or NULL
 * @prio: its priority
 * @skb: the packet
 *
 * Return: why it must be dropped, or DCBPORT_DROPS.
 */
enum dcbport_drop dcbport_class_refuses(struct dcbport *port,
					struct dcbport_class *class,
					struct dcbport_ingress *in, u8 prio,
					struct sk_buff *skb)
{
	if (class->enters & DCBPORT_EXTRA_STORM)
		return DCBPORT_DROP_STORM;
	if (class->enters & DCBPORT_EXTRA_SHARE &&
	    !class_may_hold(port, class, in, prio,
			    (u64)class->held + dcbport_packet_cost(skb)))
		return DCBPORT_DROP_LIMIT;
	if (class->enters & DCBPORT_EXTRA_FLOWS)
		flow_enter(port, class, skb);
	if (class->enters & DCBPORT_EXTRA_WRED &&
	    dcbport_mark_drops(port, class, skb)) {
		flow_leave(class, skb);
		return DCBPORT_DROP_WRED;
	}
	return DCBPORT_DROPS;
}

/**
 * dcbport_class_leaves() - do the extra work for a packet that leaves its class
 * @port: the port
 * @class: its class, which no longer counts its bytes
 * @skb: the packet
 * @sent: it goes onto the wire
 */
void dcbport_class_leaves(struct dcbport *port, struct dcbport_class *class,
			  struct sk_buff *skb, bool sent)
{
	if (sent && class->leaves & DCBPORT_EXTRA_MARK)
		dcbport_mark(port, class, skb);
	if (sent && class->leaves & DCBPORT_EXTRA_STAMP)
		dcbport_stamp(port, class, skb);
	flow_leave(class, skb);
}

/**
 * dcbport_class_forget_flows() - let the waiting packets of a class belong to no flow
 * @class: the class, which begins to count flows
 */
void dcbport_class_forget_flows(struct dcbport_class *class)
{
	struct sk_buff *skb;

	for (skb = class->queue.head; skb; skb = skb->next)
		dcbport_cb(skb)->flow = DCBPORT_NO_FLOW;
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
				   dcbport_class_take(port, class, port->sch,
						      false),
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
