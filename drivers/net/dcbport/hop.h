/* SPDX-License-Identifier: GPL-2.0 */
/* The load of a queue, as its stamps tell it. See hop.c. */
#ifndef DCBPORT_HOP_H
#define DCBPORT_HOP_H

#include <linux/types.h>

/**
 * struct dcbport_hop - what a class knows of its load
 * @since: ns; when the present interval began
 * @sent: bytes on the wire, since the class stamps
 * @sent_then: @sent at @since
 * @busy: share of the link that was used in the interval before, in 1/ROCE_STAMP_LOAD_ONE
 * @number: random, not 0, so that receivers tell hops apart
 */
struct dcbport_hop {
	u64 since;
	u64 sent;
	u64 sent_then;
	u32 busy;
	u16 number;
};

void dcbport_hop_sent(struct dcbport_hop *hop, u64 rate, u32 bytes, u64 now);
u16 dcbport_hop_load(const struct dcbport_hop *hop, u64 rate, u32 queue);

#endif /* DCBPORT_HOP_H */
