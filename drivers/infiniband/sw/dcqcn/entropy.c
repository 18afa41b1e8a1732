// SPDX-License-Identifier: GPL-2.0
/*
 * When a flow takes another path, after Linux's Protective Load Balancing (PLB,
 * net/ipv4/tcp_plb.c).
 *
 * Switches that have several paths choose one by a hash of the packet's header, so another entropy
 * value in the header may select another path. A round is a round trip. A round is congested if at
 * least half of what arrived in it was marked (CE). After 12 congested rounds in a row the flow
 * changes its path, or after three if it has nothing in flight, because then it costs nothing. A
 * round that is not congested resets the count.
 *
 * Where all paths are congested, as with many senders to one port, no change helps. After
 * eight changes in a row, each takes twice as many rounds as the one before, up to a bound.
 * Eight, because half of all changes are in vain where one of two paths is congested: of 64
 * flows, one needs six or more.
 *
 * Ultra Ethernet's window (nscc.c) asks for another path when marks come with a short
 * queueing delay. Here the delay does not matter, so that credit alone has the same rule.
 *
 * Everything here is a pure function, as in rate.c: no clock, no lock, no kernel object.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "entropy.h"

#define DCQCN_ENTROPY_ROUNDS		12
#define DCQCN_ENTROPY_ROUNDS_IDLE	3
#define DCQCN_ENTROPY_EAGER		7	/* after more changes, the next takes longer */
#define DCQCN_ENTROPY_SHIFT_MAX		6	/* 12 << 6 = 768 rounds */
#define DCQCN_ENTROPY_ROUNDS_MAX	(DCQCN_ENTROPY_ROUNDS << DCQCN_ENTROPY_SHIFT_MAX)
#define DCQCN_ENTROPY_ECHOES_MAX	0x7fff

/**
 * dcqcn_entropy_echo() - learn whether a flow's packets were marked
 * @e: state
 * @marked: at least half of the bytes since the last call were marked
 * @idle: nothing of the flow is in flight
 * @rtt: ns; its round trip
 * @now: ns, not before the last call's
 *
 * Context: any. The caller serialises access to @e.
 * Return: whether the flow should change its path; then call dcqcn_entropy_change() or
 * dcqcn_entropy_stay().
 */
bool dcqcn_entropy_echo(struct dcqcn_entropy *e, bool marked, bool idle, u32 rtt,
			u64 now)
{
	u32 enough = idle ? DCQCN_ENTROPY_ROUNDS_IDLE : DCQCN_ENTROPY_ROUNDS;

	if (e->changes > DCQCN_ENTROPY_EAGER)
		enough <<= min(e->changes - DCQCN_ENTROPY_EAGER,
			       DCQCN_ENTROPY_SHIFT_MAX);
	if (!e->round_time) {
		e->round_time = now;
		return false;
	}
	if (e->echoes < DCQCN_ENTROPY_ECHOES_MAX) {
		e->echoes++;
		e->marked += marked;
	}
	if (now - e->round_time >= rtt) {
		if (2 * e->marked < e->echoes) {
			e->rounds = 0;
			e->changes = 0;
		} else if (e->rounds < DCQCN_ENTROPY_ROUNDS_MAX) {
			e->rounds++;
		}
		e->echoes = 0;
		e->marked = 0;
		e->round_time = now;
	}
	return e->rounds >= enough;
}

/**
 * dcqcn_entropy_stay() - a flow keeps its path for now
 * @e: state
 *
 * Counting starts again at 0.
 *
 * Context: any. The caller serialises access to @e.
 */
void dcqcn_entropy_stay(struct dcqcn_entropy *e)
{
	e->round_time = 0;
	e->echoes = 0;
	e->marked = 0;
	e->rounds = 0;
}

/**
 * dcqcn_entropy_change() - give another entropy value to a flow that has nothing in flight
 * @e: state
 * @random: any number
 *
 * Context: any. The caller serialises access to @e.
 */
void dcqcn_entropy_change(struct dcqcn_entropy *e, u32 random)
{
	/* every other value is equally likely */
	e->ev = (e->ev + 1 + random % DCQCN_ENTROPY_MASK) & DCQCN_ENTROPY_MASK;
	if (e->changes <= DCQCN_ENTROPY_EAGER + DCQCN_ENTROPY_SHIFT_MAX)
		e->changes++;
	dcqcn_entropy_stay(e);
}
