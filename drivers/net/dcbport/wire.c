// SPDX-License-Identifier: GPL-2.0
/*
 * The link behind a port, because veth and virtio take no time to send a frame.
 * Fractions of a nanosecond are carried over, so that a stream of frames has
 * exactly the link's rate.
 *
 * A timer costs more than a packet, and is late by the time that the machine takes for an interrupt
 * and a softirq. So the port does not wait for less than this: it goes on at once, early by less
 * than the timer would have been late. Where timers are exact, as in simulated time, the port
 * always waits.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "wire.h"

/* Number of timers of which the least lateness counts: a single timer may be late by chance */
#define GRAIN_SAMPLES	64
/* ns; bound of the lateness: a pause cannot stop bytes that were sent early, 12 KB at 1 Gb/s */
#define GRAIN_MAX	(100 * NSEC_PER_USEC)

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

/**
 * dcbport_wire_set_rate() - change a link's rate
 * @wire: the link. If a frame is being sent, its rest goes at the new rate.
 * @rate: bit/s, 0 for a link that takes no time
 * @now: ns
 */
void dcbport_wire_set_rate(struct dcbport_wire *wire, u64 rate, u64 now)
{
	u64 left = wire->free > now ? wire->free - now : 0;

	/* @left is a frame, or what a port sends early: below 2^57 in 1 / 10^9 bit */
	if (left && rate != wire->rate)
		wire->free = now + (rate ? div64_u64(left * wire->rate, rate) : 0);
	wire->rate = rate;
	wire->rest = 0;
}

/**
 * dcbport_grain_learn() - learn from a timer
 * @grain: what is known
 * @late: ns; how late it was
 */
void dcbport_grain_learn(struct dcbport_grain *grain, u64 late)
{
	late = min_t(u64, late, GRAIN_MAX);
	if (!grain->samples || late < grain->least)
		grain->least = late;
	if (++grain->samples < GRAIN_SAMPLES)
		return;
	grain->ns = grain->least;
	grain->samples = 0;
}
