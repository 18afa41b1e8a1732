/* SPDX-License-Identifier: GPL-2.0 */
/* The link behind a port. See wire.c. */
#ifndef DCBPORT_WIRE_H
#define DCBPORT_WIRE_H

#include <linux/types.h>

/**
 * struct dcbport_wire - a link that carries one frame after the other
 * @rate: bit/s, 0 for one that takes no time
 * @overhead: bytes that a frame takes on the wire in addition to its own length
 * @free: ns; when the last frame's last bit was sent
 * @rest: in 1 / @rate ns; the fraction by which @free is too early
 */
struct dcbport_wire {
	u64 rate;
	u32 overhead;
	u64 free;
	u64 rest;
};

/**
 * struct dcbport_grain - lateness that all timers have
 * @ns: the least lateness of the last timers: a shorter wait is not worth a timer
 * @least: ns; the least lateness since @ns was set
 * @samples: number of timers since @ns was set
 */
struct dcbport_grain {
	u32 ns;
	u32 least;
	u32 samples;
};

void dcbport_grain_learn(struct dcbport_grain *grain, u64 late);
void dcbport_wire_set_rate(struct dcbport_wire *wire, u64 rate, u64 now);
u64 dcbport_wire_send(struct dcbport_wire *wire, u64 begin, u32 len);

#endif /* DCBPORT_WIRE_H */
