/* SPDX-License-Identifier: GPL-2.0 */
/* Counts the flows that have packets in a queue. See flows.c. */
#ifndef DCBPORT_FLOWS_H
#define DCBPORT_FLOWS_H

#include <linux/types.h>

/* Flows that a queue can count: twice the largest bound, so that a full table is above any bound */
#define DCBPORT_FLOWS	2048
#define DCBPORT_NO_FLOW	0xffff

/**
 * struct dcbport_flow - a flow that has packets in the queue
 * @key: its key, see flow_key.c
 * @packets: number of its packets in the queue
 * @next: the next flow with the same hash, or the next free place
 */
struct dcbport_flow {
	u64 key;
	u32 packets;
	u16 next;
};

/**
 * struct dcbport_flows - the flows of a queue; 36 KB
 * @hash: the first flow of each hash, or DCBPORT_NO_FLOW
 * @flow: all places
 * @free: an unused place, or DCBPORT_NO_FLOW
 * @count: number of used places
 */
struct dcbport_flows {
	u16 hash[DCBPORT_FLOWS];
	struct dcbport_flow flow[DCBPORT_FLOWS];
	u16 free;
	u16 count;
};

/**
 * struct dcbport_flow_bounds - how marks depend on the number of flows
 * @min: with fewer flows, there are no marks
 * @max: with more flows, marks are 1.5 times as probable; 0 for no such bound
 */
struct dcbport_flow_bounds {
	u32 min;
	u32 max;
};

void dcbport_flows_setup(struct dcbport_flows *flows);
u16 dcbport_flows_add(struct dcbport_flows *flows, u64 key);
void dcbport_flows_remove(struct dcbport_flows *flows, u16 at);
u32 dcbport_flows_chance(const struct dcbport_flow_bounds *bounds, u32 chance,
			 u32 count, bool all);

#endif /* DCBPORT_FLOWS_H */
