/* SPDX-License-Identifier: GPL-2.0 */
/* The link behind a port. See wire.c. */
#ifndef DCBPORT_WIRE_H
#define DCBPORT_WIRE_H

#include <linux/types.h>

/**
 * struct dcbport_wire - a link that carries one frame after the other
 * @rate: bit/s, 0 for one that takes no time
 * @overhead: bytes that a frame takes on the wire besides itself
 * @free: ns; when the last frame's last bit was sent
 * @rest: in 1 / @rate ns; the fraction by which @free is too early
 */
struct dcbport_wire {
	u64 rate;
	u32 overhead;
	u64 free;
	u64 rest;
};

u64 dcbport_wire_send(struct dcbport_wire *wire, u64 begin, u32 len);

#endif /* DCBPORT_WIRE_H */
