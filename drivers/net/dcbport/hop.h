/* SPDX-License-Identifier: GPL-2.0 */
/* The load of a queue, for its stamps. See hop.c. */
#ifndef DCBPORT_HOP_H
#define DCBPORT_HOP_H

#include <linux/types.h>

/**
 * struct dcbport_hop - the load of a class
 * @since: ns; when the present interval began
 * @sent: bytes sent, as on the wire, since the class began to stamp
 * @sent_then: value of @sent at @since
 * @busy: share of the link that was used in the interval before, in 1/ROCE_STAMP_LOAD_ONE
 * @number: random, not 0; by which receivers distinguish hops
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
