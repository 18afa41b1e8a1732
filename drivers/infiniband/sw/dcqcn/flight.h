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
 * @way: ns, modulo 2^32; when it arrived, by the peer's clock, less @time; valid if @told
 * @told: the peer's module has told when it arrived
 * @again: the peer may have had it before, so its ACK may be older than @time
 * @resent: it was sent before
 */
struct dcqcn_milestone {
	u64 time;
	u32 sent;
	u32 psn;
	u32 way;
	bool told;
	bool again;
	bool resent;
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
 * @way: that of the packet that was acknowledged last, if @told
 * @told: the peer's module has told when that packet arrived
 * @resent: that packet was sent more than once
 * @missed: the peer misses the first packet that is not acknowledged
 * @resends: packets up to @last were sent before
 * @repeats: the peer may have these
 * @last: highest PSN that was sent
 * @marks: ring of milestones, the oldest at @first
 */
struct dcqcn_flight {
	u64 acked_time;
	u32 sent;
	u32 acked;
	u32 asked;
	u8 first;
	u8 num;
	bool told;
	bool missed;
	bool resent;
	bool resends;
	bool repeats;
	u32 way;
	u32 last;
	struct dcqcn_milestone marks[DCQCN_FLIGHT_MARKS];
};

/**
 * struct dcqcn_way - how the peer's clock differs from this host's
 * @time: ns; time up to which a drift is allowed for in @least; 0 if nothing is known
 * @least: ns, modulo 2^32; &dcqcn_milestone.way of a packet that meets no queue is not below this
 */
struct dcqcn_way {
	u64 time;
	u32 least;
};

/* Bytes in flight */
static inline u32 dcqcn_flight_bytes(const struct dcqcn_flight *f)
{
	return f->sent - f->acked;
}

/* A NAK says that the peer misses a packet, the first one that is not acknowledged. rxe goes back
 * to it, now or when its timer fires.
 */
static inline void dcqcn_flight_missed(struct dcqcn_flight *f)
{
	f->missed = true;
}

void dcqcn_flight_sent(struct dcqcn_flight *f, u32 psn, u32 bytes, bool asks, u64 now);
u32 dcqcn_flight_acked(struct dcqcn_flight *f, u32 psn, u64 now, u32 *rtt, u32 *interval);
bool dcqcn_flight_arrived(struct dcqcn_flight *f, u32 psn, u32 arrived);
u32 dcqcn_way_queued(struct dcqcn_way *w, u32 way, u32 excess, u64 now);
void dcqcn_flight_lost(struct dcqcn_flight *f);
void dcqcn_flight_pause(struct dcqcn_flight *f);

#endif /* DCQCN_FLIGHT_H */
