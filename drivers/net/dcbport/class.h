/* SPDX-License-Identifier: GPL-2.0 */
/* The classes in which packets wait. See class.c. */
#ifndef DCBPORT_CLASS_H
#define DCBPORT_CLASS_H

#include <net/sch_generic.h>

#include "buffer.h"
#include "port.h"

/**
 * struct dcbport_cb - a port's private data of a packet
 * @time: ns; when it came or, once it is on the wire, when it arrives
 * @holding: the holding to which it is charged, or NULL
 * @tc: its class
 * @control: it is a PFC frame that we made, and in no class
 * @flow: its place among the flows of its class, or DCBPORT_NO_FLOW; only while flows are counted
 */
struct dcbport_cb {
	u64 time;
	struct dcbport_holding *holding;
	u8 tc;
	bool control;
	u16 flow;
} __packed __aligned(4);

static inline struct dcbport_cb *dcbport_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct dcbport_cb));
	return (struct dcbport_cb *)qdisc_skb_cb(skb)->data;
}

/* Bytes that a packet counts for in limits and in the switch's buffer: its length, but at least a
 * quarter of the memory that it takes, as hardware counts cells. So a full buffer takes at most
 * four times its size in memory. Frames of more than some hundred bytes count for their length.
 */
static inline u32 dcbport_packet_cost(const struct sk_buff *skb)
{
	return max(qdisc_pkt_len(skb), skb->truesize / 4);
}

enum dcbport_drop dcbport_class_refuses(struct dcbport *port,
					struct dcbport_class *class,
					struct dcbport_ingress *in, u8 prio,
					struct sk_buff *skb);
void dcbport_class_leaves(struct dcbport *port, struct dcbport_class *class,
			  struct sk_buff *skb, bool sent);
int dcbport_class_drop(struct dcbport *port, struct dcbport_class *class,
		       enum dcbport_drop why, struct sk_buff *skb,
		       struct sk_buff **to_free);
void dcbport_free_list(const struct dcbport *port, struct sk_buff *dropped);
void dcbport_class_purge(struct dcbport *port, u8 tc, enum dcbport_drop why,
			 struct sk_buff **to_free);
void dcbport_class_forget_flows(struct dcbport_class *class);
u64 dcbport_class_until(const struct dcbport *port, u8 tc);

/* Take the first packet of a class that has one. @sent: it goes onto the wire. */
static __always_inline struct sk_buff *
dcbport_class_take(struct dcbport *port, struct dcbport_class *class, struct Qdisc *sch,
		   bool sent)
{
	struct sk_buff *skb = class->queue.head;
	struct dcbport_cb *cb = dcbport_cb(skb);
	u32 len = qdisc_pkt_len(skb), cost = dcbport_packet_cost(skb);

	class->queue.head = skb->next;
	skb->next = NULL;
	class->bytes -= len;
	class->held -= cost;
	if (!--class->queue.qlen) {
		class->queue.tail = NULL;
		port->backlog &= ~class->bit;
	}
	if (unlikely(class->obeys != class->prios) && !--class->older)
		class->obeys = class->prios;
	if (unlikely(class->leaves))
		dcbport_class_leaves(port, class, skb, sent);
	sch->q.qlen--;
	sch->qstats.backlog -= len;
	if (cb->holding)
		dcbport_buffer_release(cb->holding, cost);
	return skb;
}

/* Whether dcbport_class_until() can be later than @now for any class */
static inline bool dcbport_holds(const struct dcbport *port, u64 now)
{
	return port->paced || dcbport_pause_last(&port->pause) > now;
}

#endif /* DCBPORT_CLASS_H */
