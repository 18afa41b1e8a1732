/* SPDX-License-Identifier: GPL-2.0 */
/* What a flow has in flight. See flight.c. */
#ifndef DCQCN_FLIGHT_H
#define DCQCN_FLIGHT_H

#include <linux/types.h>

/* Packets whose ACK is awaited */
#define DCQCN_FLIGHT_MARKS	14

/**
 * struct dcqcn_milestone - a packet that has asked for an ACK
 * @time: ns; when it left
 * @sent: position; bytes sent up to and including this packet
 * @psn: its PSN
 */
struct dcqcn_milestone {
	u64 time;
	u32 sent;
	u32 psn;
};

/**
 * struct dcqcn_flight - what a flow has in flight
 *
 * Positions are counts of bytes modulo 2^32: rxe has 128 packets in flight at most.
 *
 * @acked_time: ns; when the last ACK came, 0 for unknown
 * @sent: position up to which packets were sent
 * @acked: position up to which every byte was acknowledged or lost
 * @asked: position of the packet that last asked for an ACK
 * @first: index of the oldest milestone
 * @num: number of milestones
 * @marks: ring of milestones, the oldest at @first
 */
struct dcqcn_flight {
	u64 acked_time;
	u32 sent;
	u32 acked;
	u32 asked;
	u8 first;
	u8 num;
	struct dcqcn_milestone marks[DCQCN_FLIGHT_MARKS];
};

/* Bytes in flight */
static inline u32 dcqcn_flight_bytes(const struct dcqcn_flight *f)
{
	return f->sent - f->acked;
}

void dcqcn_flight_sent(struct dcqcn_flight *f, u32 psn, u32 bytes, bool asks, u64 now);
u32 dcqcn_flight_acked(struct dcqcn_flight *f, u32 psn, u64 now, u32 *rtt, u32 *interval);
bool dcqcn_flight_awaits(const struct dcqcn_flight *f, u32 psn);
void dcqcn_flight_lost(struct dcqcn_flight *f);
void dcqcn_flight_pause(struct dcqcn_flight *f);

#endif /* DCQCN_FLIGHT_H */
