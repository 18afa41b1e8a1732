// SPDX-License-Identifier: GPL-2.0
/*
 * The start of a flow that knows nothing of its path, or whose knowledge is out of date.
 *
 * The flow sends a burst at once. When the burst's round trip is known, it goes on with 3 bursts in
 * 2 round trips, and is faster by 7/8 after each sample that finds no growing queue. Without
 * samples (UC, UD, READs, ACKs of later packets, or no ACK for a second) its rate goes up by time:
 * by half with each round trip, or a quarter near the line rate.
 *
 *   state      event                                 action                        next
 *   ---------  ------------------------------------  ----------------------------  ---------
 *   none       the flow begins, or after a pause     burst, 1 more in 100 ms       asks
 *              likewise, and cannot ask for an ACK   burst, 4 in a round trip,     blind
 *                                                    at most line / 32
 *              after a pause, and knows its share    burst, then its share: DCQCN  none
 *   asks       ACK of the burst                      3 bursts in 2 round trips     measures
 *              the same, after a pause, with a       a burst in the time that it   none
 *              queue of 8 round trips at most, and   spent in the queue: DCQCN
 *              no loss before
 *              ACK of a later packet                 as if it were the burst's     measures
 *              no ACK for 1 s, or what comes next    4 bursts in a round trip      blind
 *              cannot ask
 *              CNP                                   none: it answers the burst    asks
 *              idle for 300 ms and 64 round trips    line rate                     none
 *   measures   ACK, the round trip is as before,     7/8 more, after 8 packets     measures
 *              and of a packet sent since the step
 *              ACK, longer than the shortest by a    2/3 of the rate: DCQCN        none
 *              quarter
 *              ACK of a later packet, or no answer   none                          blind
 *              for 1 s
 *
 *   blind      a round trip and 8 packets            1/2 or 1/4 more               blind
 *              ACK, or an answer                     as measures; the first one    measures
 *                                                    as asks
 *              CNP for the burst, or the next 16     none                          blind
 *              packets
 *   measures,  CNP, loss                             cut from the rate found:      none
 *   blind                                            DCQCN
 *   any        the rate is at the line, or idle for  line rate                     none
 *              64 round trips and 4 turns
 *
 * Each state ends at the latest as follows. asks: when the next packet leaves after a second
 * without an ACK. All states: after 64 idle round trips, in asks not before 300 ms, and not before
 * 4 packets could have left at the rate. limiter.c then ends the limit.
 *
 * Pure, like rate.c.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "rate.h"
#include "start.h"

/* Until the round trip of a burst is known, at most one more burst leaves in this time: the bursts
 * of 32 flows take 63 ms at 50 Mb/s. From then on, this many bursts leave in two round trips. If
 * the bursts of many flows have met, the round trip is the time that all of them take, so this is
 * half as much again as the path carries. On a known path, the rate is at least this share of what
 * got through lately.
 */
#define DCQCN_START_WAIT_NS	(100 * NSEC_PER_MSEC)
#define DCQCN_START_BURSTS	3
#define DCQCN_START_KNOWN	4

/* A sample whose round trip differs from that of the one before by no more than the first share
 * finds no queue that grows, and allows a step of 7/8 of the rate. One that is longer than the
 * shortest one by more than the second share ends the start. After any other sample, including one
 * that is much shorter because the bursts are gone, the flow takes another sample. Flows that start
 * together overshoot by one step before they see the queue. A queue of other flows may stay between
 * the two shares.
 */
#define DCQCN_START_CLEAR	32
#define DCQCN_START_QUEUE	4

/* Without samples, the first rate is this many bursts per round trip, and at most this share of the
 * line rate. It grows by half up to that share, and by a quarter beyond.
 */
#define DCQCN_BLIND_BURSTS	4
#define DCQCN_BLIND_SHARE	32

/* Alpha of a flow that begins with its share of equal rounds is at most this. A cut with the alpha
 * that the first rounds have left would take almost half of a share that is right. A round is too
 * short to recover, so all flows would wait for the one that was cut last.
 */
#define DCQCN_START_ROUND_ALPHA	(1U << (DCQCN_ALPHA_SHIFT - 3))

/* Packets between two steps, at least */
#define DCQCN_START_PACKETS	8

/* CNPs for the burst say nothing about the rate. Without samples, a CNP counts only after
 * this many packets have followed the burst. A start that is idle for this many round trips,
 * and for this long if none is known, is over.
 */
#define DCQCN_START_DEAF	16
#define DCQCN_START_IDLE_RTTS	64
#define DCQCN_START_IDLE_NS	(300ULL * NSEC_PER_MSEC)

/* A start with packets to send waits for its turn, at a low rate longer than that: it is idle only
 * after the time of this many packets
 */
#define DCQCN_START_IDLE_PACKETS	4

/* Whether a start has sent nothing for so long that it is over */
static bool dcqcn_start_is_idle(const struct dcqcn_rate *r, u64 now)
{
	u64 idle = (u64)r->rtt * DCQCN_START_IDLE_RTTS;
	u64 since = now - r->active_time;

	/* a guess of the round trip may be too short */
	if (r->start == DCQCN_START_ASKS)
		idle = max(idle, DCQCN_START_IDLE_NS);
	/* 4 * 2^17 bytes * 8 * 10^9 < 2^52 */
	return since >= idle &&
	       since >= div64_u64(DCQCN_START_IDLE_PACKETS * 8ULL * NSEC_PER_SEC * r->packet,
				  r->current_rate);
}

/**
 * dcqcn_start_advance() - raise the rate, because there was no sign of congestion yet
 * @r: state, of a flow that starts
 * @line: line rate, bit/s
 * @now: ns
 * @bytes: sent since the last call
 *
 * Context: any. The caller serialises access to @r. Return: what happened, as DCQCN_RATE_* bits.
 */
unsigned int dcqcn_start_advance(struct dcqcn_rate *r, u64 line, u64 now,
				 u32 bytes)
{
	/* if there was no memory for a path, the length of packets is unknown */
	u32 enough = DCQCN_START_PACKETS * r->packet ?: r->burst;
	unsigned int done = 0;

	r->sent += bytes;
	if (now - r->timer_time >= r->rtt && (r->sampled || r->start == DCQCN_START_BLIND) &&
	    r->sent >= enough) {
		if (r->start != DCQCN_START_BLIND)
			r->current_rate += r->current_rate / 8 * 7;
		else if (r->current_rate < line / DCQCN_BLIND_SHARE)
			r->current_rate += r->current_rate / 2;
		else
			r->current_rate += r->current_rate / 4;
		r->timer_time = now;
		r->sent = 0;
		r->sampled = 0;
		if (r->timer_stage < DCQCN_STAGE_MAX)
			r->timer_stage++;
		done = DCQCN_RATE_TIMER;
	}
	if (r->current_rate >= line || dcqcn_start_is_idle(r, now)) {
		r->current_rate = line;
		r->start = DCQCN_START_NONE;
		r->bytes = 0;	/* it was last_rtt */
		r->cut_time = 0;	/* it was burst */
		done = DCQCN_RATE_TIMER;
	}
	r->target_rate = r->current_rate;
	if (bytes)
		dcqcn_rate_touch(r, now);
	return done;
}

/* bit/s; @bursts in @ns. 4 * 2^24 bytes * 8 * 10^9 are less than 2^60 */
static u64 dcqcn_burst_rate(const struct dcqcn_rate *r, u32 bursts, u32 ns)
{
	return div_u64(bursts * 8ULL * NSEC_PER_SEC *
		       min(r->burst, DCQCN_START_BURST_MAX), ns);
}

static u64 dcqcn_blind_rate(const struct dcqcn_rate *r, u64 line)
{
	return min(dcqcn_burst_rate(r, DCQCN_BLIND_BURSTS, r->rtt),
		   line / DCQCN_BLIND_SHARE);
}

/**
 * dcqcn_start_begin() - begin the start of a flow
 * @r: state, whose round trip is set
 * @p: parameters
 * @line: line rate, bit/s
 * @burst: bytes that it sends at once
 * @known: bit/s; what got through lately, 0 for unknown
 * @asks: its packets can ask for an ACK, so that there will be samples
 * @now: ns
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_begin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		       u64 line, u32 burst, u64 known, bool asks, u64 now)
{
	u32 rtt = r->rtt, packet = r->packet, alpha = r->alpha;
	u64 rate;

	r->burst = burst;
	rate = asks ? dcqcn_burst_rate(r, 1, DCQCN_START_WAIT_NS) :
		      dcqcn_blind_rate(r, line);
	rate = max(rate, known / DCQCN_START_KNOWN);
	/* A port may say less than what gets through. At the line rate, a start is over, unless it
	 * waits for an ACK.
	 */
	if (!asks)
		rate = min(rate, line / 2);
	rate = max(rate, min(dcqcn_rate_floor(p), line));
	dcqcn_rate_init(r, rate, now);
	r->packet = packet;
	r->burst = burst;
	r->alpha = alpha;	/* for dcqcn_start_rejoin() */
	r->start = asks ? DCQCN_START_ASKS : DCQCN_START_BLIND;
	dcqcn_rate_set_rtt(r, rtt, 0);
}

/**
 * dcqcn_start_go_blind() - the packets of a starting flow cannot ask for an ACK
 * @r: state
 * @line: line rate, bit/s
 *
 * The flow must not wait for a sample: its rate goes up by time, until a sample comes after all.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_go_blind(struct dcqcn_rate *r, u64 line)
{
	r->start = DCQCN_START_BLIND;
	r->current_rate = max(r->current_rate, dcqcn_blind_rate(r, line));
	r->target_rate = r->current_rate;
}

/* The first round trip of a start is known: @rtt, or less */
static void dcqcn_start_go(struct dcqcn_rate *r, u32 rtt, u64 now)
{
	r->current_rate = max(r->current_rate,
			      dcqcn_burst_rate(r, DCQCN_START_BURSTS, 2 * rtt));
	r->target_rate = r->current_rate;
	r->timer_time = now;
	r->timer_stage = 0;
	r->sent = 0;
	r->start = DCQCN_START_MEASURES;
}

/**
 * dcqcn_start_sample() - a starting flow's packet was acknowledged
 * @r: state; nothing happens if it is not starting
 * @p: parameters
 * @left: ns; when the packet left
 * @least: ns; the shortest round trip before this one, 0 if it is the first
 * @now: ns
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_sample(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
			u64 left, u32 least, u64 now)
{
	u64 rtt = now - left, before = r->last_rtt;

	if (!r->start)
		return;
	r->last_rtt = min_t(u64, rtt, U32_MAX);
	if (r->start == DCQCN_START_BLIND)
		r->start = DCQCN_START_MEASURES;
	if (r->start == DCQCN_START_ASKS || !least)
		dcqcn_start_go(r, r->rtt, now);
	else if (rtt > least + least / DCQCN_START_QUEUE)
		/* the rate before the last step was enough, and a little less lets the queue drain;
		 * < 2^53
		 */
		dcqcn_rate_begin(r, p, div_u64(2 * r->current_rate, 3), now);
	else if (rtt <= before + before / DCQCN_START_CLEAR &&
		 rtt >= before - before / DCQCN_START_CLEAR &&
		 left >= r->timer_time)
		r->sampled = 1;
}

/**
 * dcqcn_start_skip() - a flow begins again at a known rate, or its start ends at one
 * @r: state
 * @p: parameters
 * @rate: bit/s
 * @round: the flow takes part in equal rounds, and @rate is its share
 * @now: ns
 *
 * R_AI and T are as after a start. Alpha stays, unless no CNP has ever come. In equal rounds it is
 * at most DCQCN_START_ROUND_ALPHA.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_skip(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		      u64 rate, bool round, u64 now)
{
	u32 alpha = r->alpha;

	r->start = DCQCN_START_ASKS;
	dcqcn_rate_begin(r, p, rate, now);
	r->alpha = min(alpha ?: r->alpha, round ? DCQCN_START_ROUND_ALPHA : U32_MAX);
	r->had_cnp = 1;
}

/**
 * dcqcn_start_rejoin() - a start after a pause finds a queue in its path
 * @r: state, which waits for its first sample
 * @p: parameters
 * @queued: ns, more than 0; how long the burst has waited in the queue
 * @known: bit/s; what got through before the pause
 * @now: ns
 *
 * The bursts of all flows have met, and take @queued to leave the queue. So this flow's share is
 * one burst in that time. The flow goes on from no more than that. Bursts of other flows may be
 * longer and gone soon, so the target is the rate that got through before.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_rejoin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
			u64 queued, u64 known, u64 now)
{
	u64 rate = dcqcn_burst_rate(r, 1, min_t(u64, queued, U32_MAX));

	dcqcn_start_skip(r, p, max(rate, dcqcn_rate_floor(p)), false, now);
	r->target_rate = max(r->target_rate, known);
}

/**
 * dcqcn_start_bound() - a later packet than a starting flow's probe was acknowledged
 * @r: state; nothing happens if it is not starting
 * @left: ns; when the probe left
 * @now: ns
 *
 * The first such ACK is taken for the burst's: the flow goes on as if the round trip was as long. A
 * later one says nothing about a queue: the rate goes up by time until a sample comes.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_start_bound(struct dcqcn_rate *r, u64 left, u64 now)
{
	if (r->start == DCQCN_START_ASKS)
		dcqcn_start_go(r, clamp(now - left, 1ULL, (u64)NSEC_PER_SEC), now);
	else if (r->start)
		r->start = DCQCN_START_BLIND;
}

/**
 * dcqcn_start_ignores_cnp() - whether a CNP that comes now answers the burst of a start
 * @r: state
 *
 * Context: any. Return: whether it does.
 */
bool dcqcn_start_ignores_cnp(const struct dcqcn_rate *r)
{
	if (r->start != DCQCN_START_BLIND)
		return r->start == DCQCN_START_ASKS;
	return !r->timer_stage &&
	       r->sent < r->burst + (u64)DCQCN_START_DEAF * r->packet;
}
