// SPDX-License-Identifier: GPL-2.0
/*
 * Computes the load of a queue. A stamp has room for one hop, so the hops of a path are compared by
 * HPCC's U: the used share of the link, plus the queue in units of the bytes that the link carries
 * in a base round trip. Ports do not know round trips, and assume 16.4 us.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/roce_stamp.h>

#include "hop.h"

#define HOP_INTERVAL	16384U	/* ns */
/* Higher loads count as this: 4.2 ms of queue */
#define HOP_LOAD_MAX	65535U
/* Bytes; longer queues count as this, because 2^31 * 8 * 10^9 is less than 2^64 */
#define HOP_QUEUE_MAX	2147483648U

/**
 * dcbport_hop_sent() - count a packet that leaves
 * @hop: load of its class
 * @rate: bit/s, not 0
 * @bytes: its length on the wire
 * @now: ns
 *
 * The first packet after HOP_INTERVAL ends the interval. Idle time before that packet counts as
 * part of the interval.
 */
void dcbport_hop_sent(struct dcbport_hop *hop, u64 rate, u32 bytes, u64 now)
{
	u64 elapsed = now > hop->since ? now - hop->since : 0, carried;

	if (elapsed >= HOP_INTERVAL) {
		/* in units of 64 ns: 1 Tb/s and a second do not overflow */
		elapsed = min_t(u64, elapsed, NSEC_PER_SEC) / 64;
		carried = max(div_u64(rate / 8 * elapsed, NSEC_PER_SEC / 64), 1ULL);
		hop->busy = min_t(u64, div64_u64((hop->sent - hop->sent_then) *
						 ROCE_STAMP_LOAD_ONE, carried),
				  ROCE_STAMP_LOAD_ONE);
		hop->since = now;
		hop->sent_then = hop->sent;
	}
	hop->sent += bytes;
}

/**
 * dcbport_hop_load() - return the load for a stamp
 * @hop: load of the class
 * @rate: bit/s, not 0
 * @queue: bytes that wait
 *
 * Return: in 1/ROCE_STAMP_LOAD_ONE.
 */
u16 dcbport_hop_load(const struct dcbport_hop *hop, u64 rate, u32 queue)
{
	u64 wait = div64_u64((u64)min(queue, HOP_QUEUE_MAX) * 8 * NSEC_PER_SEC, rate);

	wait = min_t(u64, wait, (u64)HOP_LOAD_MAX * HOP_INTERVAL);

	return min_t(u64, hop->busy + wait * ROCE_STAMP_LOAD_ONE / HOP_INTERVAL, HOP_LOAD_MAX);
}
