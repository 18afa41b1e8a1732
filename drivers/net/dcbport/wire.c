// SPDX-License-Identifier: GPL-2.0
/*
 * The link behind a port, because veth and virtio take no time to send a frame.
 * Fractions of a nanosecond are carried over, so that a stream of frames has
 * exactly the link's rate.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/time64.h>

#include "wire.h"

/**
 * dcbport_wire_send() - send a frame
 * @wire: the link
 * @begin: ns; not before @wire->free
 * @len: bytes of the frame, below 2^20
 *
 * Return: ns; when its last bit is sent.
 */
u64 dcbport_wire_send(struct dcbport_wire *wire, u64 begin, u32 len)
{
	u64 work;

	/* after a break, there is no fraction to carry over */
	if (begin != wire->free)
		wire->rest = 0;
	wire->free = begin;
	if (!wire->rate)
		return wire->free;
	work = (u64)(len + wire->overhead) * 8 * NSEC_PER_SEC + wire->rest;
	wire->free += div64_u64_rem(work, wire->rate, &wire->rest);
	return wire->free;
}
