// SPDX-License-Identifier: GPL-2.0
/*
 * Counts exactly how many flows have packets in a queue. Each flow has a place in a hash
 * table. A packet's flow is looked up by key when it arrives, and the packet remembers the
 * place until it leaves. Keys are hashed with a secret, so that no sender can pick flows
 * that share a list. While all places are taken, packets of further flows are not counted.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "curve.h"
#include "flows.h"

/**
 * dcbport_flows_setup() - begin with an empty queue
 * @flows: the queue's flows
 */
void dcbport_flows_setup(struct dcbport_flows *flows)
{
	int i;

	for (i = 0; i < DCBPORT_FLOWS; i++) {
		flows->hash[i] = DCBPORT_NO_FLOW;
		flows->flow[i].next = i + 1 < DCBPORT_FLOWS ? i + 1 :
							      DCBPORT_NO_FLOW;
	}
	flows->free = 0;
	flows->count = 0;
}

/* The head of the list that a flow is in */
static u16 *flows_list(struct dcbport_flows *flows, u64 key)
{
	return &flows->hash[key % DCBPORT_FLOWS];
}

/**
 * dcbport_flows_add() - count a packet that enters the queue
 * @flows: the queue's flows
 * @key: key of the packet's flow
 *
 * Return: its flow's place, for dcbport_flows_remove(), or DCBPORT_NO_FLOW if no
 * place is left.
 */
u16 dcbport_flows_add(struct dcbport_flows *flows, u64 key)
{
	u16 *list = flows_list(flows, key);
	struct dcbport_flow *flow;
	u16 at;

	for (at = *list; at != DCBPORT_NO_FLOW; at = flows->flow[at].next) {
		if (flows->flow[at].key == key) {
			flows->flow[at].packets++;
			return at;
		}
	}
	at = flows->free;
	if (at == DCBPORT_NO_FLOW)
		return at;
	flow = &flows->flow[at];
	flows->free = flow->next;
	flows->count++;
	flow->key = key;
	flow->packets = 1;
	flow->next = *list;
	*list = at;
	return at;
}

/**
 * dcbport_flows_remove() - stop counting a packet that leaves the queue
 * @flows: the queue's flows
 * @at: the place that dcbport_flows_add() returned for it
 */
void dcbport_flows_remove(struct dcbport_flows *flows, u16 at)
{
	struct dcbport_flow *flow = &flows->flow[at];
	u16 *link;

	if (--flow->packets)
		return;
	link = flows_list(flows, flow->key);
	while (*link != at)
		link = &flows->flow[*link].next;
	*link = flow->next;
	flow->next = flows->free;
	flows->free = at;
	flows->count--;
}

/**
 * dcbport_flows_chance() - adapt the probability of a mark to the number of flows
 * @bounds: how it depends on that number
 * @chance: the curve's probability, in units of 1 / DCBPORT_PMAX_ONE
 * @count: flows that were counted in the queue
 * @all: @count includes all flows in the queue
 */
u32 dcbport_flows_chance(const struct dcbport_flow_bounds *bounds, u32 chance,
			 u32 count, bool all)
{
	if (count < bounds->min && all)
		return 0;
	if (bounds->max && count > bounds->max)
		/* below 1.5 * 2^30 */
		return min_t(u32, chance + chance / 2, DCBPORT_PMAX_ONE);
	return chance;
}
