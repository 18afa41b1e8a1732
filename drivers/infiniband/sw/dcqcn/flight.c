// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what a flow has in flight, from ACKs.
 *
 * An ACK names a PSN, and packets differ in length. So a packet that asks for an ACK is a
 * milestone: it records how many bytes were sent up to it, and when it left. An ACK of its PSN, or
 * of a later one, acknowledges all of these. Only its own ACK gives a round trip.
 *
 * There is room for DCQCN_FLIGHT_MARKS milestones. Beyond that, the latest replaces the one before
 * it, so that ACKs acknowledge more at once.
 *
 * The peer's module may tell when such a packet arrived, by its own clock. The clocks have nothing
 * in common, but each round trip bounds their difference: see dcqcn_way_queued().
 *
 * An ACK for a later packet ends the wait for an ACK. If a NAK comes, or no ACK, rxe goes back: it
 * sends again what was in flight, which is counted again. After a NAK, the peer lacks the missing
 * packet and drops what follows, so packets that are sent again give round trips. But a packet that
 * was overtaken, and not lost, arrives after the NAK: its ACK then seems to answer the second
 * transmission, and the round trip seems short. See dcqcn_cc_unlearn_rtt().
 *
 * Without a NAK, the peer may have received the packets before, and they give no round trip: an ACK
 * may answer the first transmission. And if only ACKs were lost, the peer's rxe answers each
 * duplicate with an ACK of the last packet that it has, which the sender may have sent again just
 * before.
 *
 * Pure, like rate.c: no clock, no lock, no kernel object.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"

/* Clocks of two hosts drift apart by less than 2^-13, 122 ppm: crystals are accurate to 50 ppm
 * each. While NTP slews a clock, which the kernel bounds to 500 ppm (MAXFREQ), they may drift
 * faster.
 */
#define DCQCN_WAY_DRIFT_SHIFT	13

/* Whether PSN @a is @b or follows it, modulo 2^24 */
static bool dcqcn_flight_reaches(u32 a, u32 b)
{
	return !((a - b) & 0x800000);
}

/**
 * dcqcn_flight_sent() - count a packet that leaves, and that will be acknowledged
 * @f: state
 * @psn: its PSN
 * @bytes: its length on the wire
 * @asks: it asks for an ACK
 * @now: ns, not before the last call's
 *
 * Context: any. The caller serialises access to @f.
 */
void dcqcn_flight_sent(struct dcqcn_flight *f, u32 psn, u32 bytes, bool asks, u64 now)
{
	f->resends &= dcqcn_flight_reaches(f->last, psn);
	f->repeats &= f->resends;
	if (!f->resends)
		f->last = psn;
	f->sent += bytes;
	if (!asks)
		return;
	f->asked = f->sent;
	if (f->num < DCQCN_FLIGHT_MARKS)
		f->num++;
	f->marks[(f->first + f->num - 1) % DCQCN_FLIGHT_MARKS] = (struct dcqcn_milestone) {
		.time = now, .sent = f->sent, .psn = psn,
		.again = f->repeats, .resent = f->resends,
	};
}

/**
 * dcqcn_flight_acked() - a positive ACK arrives
 * @f: state
 * @psn: its PSN
 * @now: ns, not before the last call's
 * @rtt: is set to the round trip in ns, 0 for unknown
 * @interval: is set to the time since the last ACK in ns, 0 for unknown
 *
 * Context: any. The caller serialises access to @f.
 * Return: bytes that it is the first to acknowledge; 0 if it acknowledges nothing new.
 */
u32 dcqcn_flight_acked(struct dcqcn_flight *f, u32 psn, u64 now, u32 *rtt, u32 *interval)
{
	const struct dcqcn_milestone *mark = NULL;
	bool own;
	u32 bytes;

	while (f->num && dcqcn_flight_reaches(psn, f->marks[f->first].psn)) {
		mark = &f->marks[f->first];
		f->first = (f->first + 1) % DCQCN_FLIGHT_MARKS;
		f->num--;
	}
	if (!mark)
		return 0;
	own = mark->psn == psn && !mark->again;
	f->told = own && mark->told;
	f->way = mark->way;
	f->resent = mark->resent;
	*rtt = own ? clamp(now - mark->time, 1ULL, (u64)U32_MAX) : 0;
	*interval = f->acked_time ? min(now - f->acked_time, (u64)U32_MAX) : 0;
	bytes = mark->sent - f->acked;
	f->acked = mark->sent;
	f->acked_time = now;
	f->missed = false;
	return bytes;
}

/**
 * dcqcn_flight_arrived() - the peer's module tells when a packet arrived
 * @f: state
 * @psn: its PSN
 * @arrived: ns, modulo 2^32, by the peer's clock
 *
 * Context: any. The caller serialises access to @f.
 * Return: whether the packet has asked for an ACK that has not come.
 */
bool dcqcn_flight_arrived(struct dcqcn_flight *f, u32 psn, u32 arrived)
{
	struct dcqcn_milestone *mark;
	int i;

	for (i = 0; i < f->num; i++) {
		mark = &f->marks[(f->first + i) % DCQCN_FLIGHT_MARKS];
		if (mark->psn == psn) {
			mark->way = arrived - mark->time;
			mark->told = true;
			return true;
		}
	}
	return false;
}

/**
 * dcqcn_way_queued() - how long a packet waited in queues on its way to the peer
 * @w: what is known of the clocks
 * @way: ns, modulo 2^32; its &dcqcn_milestone.way
 * @excess: ns; by how much its round trip exceeds the shortest one
 * @now: ns, not before the last call's
 *
 * The difference of the clocks and the time without queues do not change, apart from drift, and are
 * a part of each @way. A packet waited on its way for at least 0 and at most @excess, so this part
 * is at most @way, and at least @way - @excess. The highest of these lower bounds is the best: it
 * is exact after a packet whose ACK has met no queue. From then on, it is lowered by as much as the
 * clocks may have drifted apart. So an error makes the wait seem longer: by 12 us after 100 ms in
 * which queues on the way back never emptied. The wait never seems longer than @excess, which is
 * what is known without the peer's clock.
 *
 * Context: any. The caller serialises access to @w.
 * Return: ns; an upper bound.
 */
u32 dcqcn_way_queued(struct dcqcn_way *w, u32 way, u32 excess, u64 now)
{
	u64 drift = (now - w->time) >> DCQCN_WAY_DRIFT_SHIFT;
	s64 queued = (s32)(way - w->least) + (s64)drift;

	queued = w->time ? clamp(queued, 0LL, (s64)excess) : excess;
	w->time = w->time ? w->time + (drift << DCQCN_WAY_DRIFT_SHIFT) : now;
	w->least = way - queued;
	return queued;
}

/**
 * dcqcn_flight_lost() - rxe goes back, and sends again what is in flight
 * @f: state
 *
 * Context: any. The caller serialises access to @f.
 */
void dcqcn_flight_lost(struct dcqcn_flight *f)
{
	f->acked = f->sent;
	f->asked = f->sent;
	f->num = 0;
	f->resends = f->sent;
	f->repeats |= !f->missed;
	f->missed = false;
	f->acked_time = 0;
}

/**
 * dcqcn_flight_pause() - the flow resumes after it had nothing to send
 * @f: state
 *
 * Context: any. The caller serialises access to @f.
 */
void dcqcn_flight_pause(struct dcqcn_flight *f)
{
	f->acked_time = 0;
}
