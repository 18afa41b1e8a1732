// SPDX-License-Identifier: GPL-2.0
/*
 * The rate algorithm of the DCQCN reaction point.
 *
 * A CNP cuts the current rate R_C by alpha/2 and keeps the old rate in the target R_T; afterwards a
 * timer and a byte counter raise the rate in steps: F steps of fast recovery, each halving the
 * distance to R_T, then additive increase of R_T, and hyper increase once both the timer and the
 * byte counter have passed F. Alpha estimates how congested the path is: it rises with every cut
 * and decays in periods without one. On a NIC it is updated by a clock alone: once per period it
 * rises if a CNP came, and decays otherwise.
 *
 *   Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
 *   SIGCOMM 2015, section 5
 *
 * The parameters are those of mlx5's roce_rp, and alpha_on_cut. They can express both behaviours.
 * The paper's: alpha_on_cut and clamp_tgt_rate are 1, and the monitor period is shorter than the
 * interval between CNPs. The NIC's: at most one cut per monitor period, at its end if the CNP came
 * early; consecutive cuts leave the target alone; a cut takes no more than a given share.
 *
 * DCQCN is scale-free when it is written in units of the path. Where a knob is 0, "measured",
 * these units are the round trip, queues included, and the rate that gets through. The caller
 * measures both and passes them in:
 *
 *   T            Period of the timer and of alpha: the round trip less 5/8 of the shortest one. At
 *                least the time of 3 packets at the target rate or, if less, the round trip; and
 *                at least the time of 2 packets. The whole round trip for 16 increases after a
 *                start.
 *   cuts         One per round trip, because earlier CNPs answer packets that were sent before the
 *                last cut. None while nothing was sent since the last one, for the same reason: a
 *                queue may hold what the flow sent before it had a limit for many round trips.
 *                And one per 8 packets, where each CNP that comes too early counts as one more
 *                packet: a flow that sends only a few packets in a round trip then recovers
 *                between two cuts, unless all of them are marked.
 *   alpha        A cut within 2 round trips of the last one first moves it a quarter of the way to
 *                1.
 *   R_AI         1/128 of the target. Proportionally less if fewer than 2 packets leave in T, so
 *                that a packet raises the target by 1/256 at most. An eighth of it more with each
 *                increase after 32 without a cut. 7 times as much after a start, back to normal in
 *                144 increases.
 *   lower bound  3/4 of what gets through: a queue that takes many round trips to drain must not
 *                cut the rate below that.
 *   upper bound  Twice what gets through: a higher rate would make no difference. The first cut
 *                starts from no more than what gets through.
 *
 * Increases and cuts are in proportion to the rate, and CNPs to the packets
 * sent: flows that share a queue converge to the same rate.
 *
 * Everything here is a pure function of (state, parameters, line rate, time,
 * bytes): no clock, no lock, no kernel object. The caller serialises, and
 * passes times that never go back. Nothing runs between calls: each call
 * first catches up, in time order, on what was due since the last one. That takes
 * a bounded number of steps whatever the knobs are and however long the flow
 * was idle.
 *
 * Overflow: a rate is at most (2^32 - 1) Mb/s < 2^52 bit/s. Time is in ns
 * since boot. A sum of two rates, or of a rate and the largest increase
 * (DCQCN_STAGE_MAX * 2^52 < 2^58), fits u64.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "rate.h"
#include "start.h"

#define DCQCN_G_SHIFT		10		/* dce_tcp_g is in 2^-10 */

/* After this many increases of constant size, R_T - R_C has converged to that
 * size (it halves the difference each time, and starts below 2^52).
 */
#define DCQCN_CONVERGED		53

/* Increases by a share of the target that reach any line rate: from 1 to 2^32 Mb/s, 2855 of 1/128
 * each. More are due only while T is too short for the rate, as after a stall, because then each
 * adds a much smaller share.
 */
#define DCQCN_INCREASES_MAX	4000

/* Units of the path: see above */
#define DCQCN_PERIOD_PACKETS	2
#define DCQCN_CUT_PACKETS	8

/* Eighths of the shortest round trip that T leaves out.
 *
 * A flow settles at a fixed number of cuts per T. Its cuts are in proportion to what it sends, so
 * the rates of flows that share a queue are in inverse proportion to their T. These flows spend the
 * same time in the queue, but not on the path. If T leaves out 5/8 of the path, a flow whose round
 * trip is 50 times as long as another's still gets a third of the other's rate, or more. As
 * R_AI is a share of a flow's rate, all flows together grow by at most 8/3 of that share in a
 * round trip.
 */
#define DCQCN_PERIOD_LESS	5

/* Packets in the shortest T that leaves something out. If it had fewer, a flow that is cut at most
 * once per 8 packets would recover before its next cut.
 */
#define DCQCN_PERIOD_MANY	3

/* Increases after a start for which T is the whole round trip: flows that start together fill the
 * queue before any of them has seen it empty, so they do not know the shortest round trip
 */
#define DCQCN_PERIOD_WHOLE	16

/* A second cut within this many round trips means that the first one was too small, and alpha
 * goes this share of the way to 1. Otherwise flows whose link slows down, or whose packets
 * are lost, overrun the switch for dozens of round trips that a full queue makes long.
 */
#define DCQCN_AGAIN_RTTS	2
#define DCQCN_AGAIN_SHARE	4

#define DCQCN_AI_SHIFT		7	/* 1/128 of the target */
#define DCQCN_AI_PACKETS	2	/* in T, for the whole R_AI */
#define DCQCN_AI_PATIENCE	24	/* R_AI grows from 24 + 8 increases on, */
#define DCQCN_AI_GROWTH		8	/* by an eighth with each */

/* After a start R_AI is larger by a 24th of it for each of this many increases that are still to
 * come: a new flow has to find the rate that older flows have
 */
#define DCQCN_AI_BOOST		144
#define DCQCN_AI_BOOST_SHARE	24

static u64 dcqcn_bps(u32 mbps)
{
	return mbps * DCQCN_BPS_PER_MBPS;
}

static void dcqcn_rate_clamp(struct dcqcn_rate *r,
			     const struct dcqcn_rp_params *p, u64 line)
{
	u64 floor = min(dcqcn_rate_floor(p), line);

	r->target_rate = clamp(r->target_rate, floor, line);
	r->current_rate = clamp(r->current_rate, floor, line);
}

/* alpha * (g / 1024)^periods, by repeated squaring */
static u32 dcqcn_alpha_decayed(u32 alpha, u32 g, u64 periods)
{
	u64 factor = (u64)g << (DCQCN_ALPHA_SHIFT - DCQCN_G_SHIFT);

	for (; periods && alpha; periods >>= 1) {
		if (periods & 1)
			alpha = (alpha * factor) >> DCQCN_ALPHA_SHIFT;
		factor = (factor * factor) >> DCQCN_ALPHA_SHIFT;
	}
	return alpha;
}

static u64 dcqcn_alpha_period(const struct dcqcn_rate *r,
			      const struct dcqcn_rp_params *p)
{
	return p->dce_tcp_rtt ? (u64)p->dce_tcp_rtt * NSEC_PER_USEC :
				r->period;
}

/* Whole periods since alpha was last updated. A CNP at the very end of a
 * period belongs to it: that period does not decay.
 */
static u64 dcqcn_alpha_periods(const struct dcqcn_rate *r,
			       const struct dcqcn_rp_params *p, u64 now)
{
	u64 period = dcqcn_alpha_period(r, p);

	if (now - r->alpha_time <= period)
		return 0;
	return div64_u64(now - r->alpha_time - 1, period);
}

static u32 dcqcn_alpha_risen(u32 alpha, u32 g)
{
	return (((u64)alpha * g) >> DCQCN_G_SHIFT) +
	       (((1ULL << DCQCN_G_SHIFT) - g) <<
		(DCQCN_ALPHA_SHIFT - DCQCN_G_SHIFT));
}

/* Alpha @n periods after it was updated. A CNP came in the first of them, or in none. */
static u32 dcqcn_alpha_after(const struct dcqcn_rate *r,
			     const struct dcqcn_rp_params *p, u64 n)
{
	u32 alpha = r->alpha;

	if (n && r->alpha_rises && !p->alpha_on_cut) {
		alpha = dcqcn_alpha_risen(alpha, p->dce_tcp_g);
		n--;
	}
	return dcqcn_alpha_decayed(alpha, p->dce_tcp_g, n);
}

/* Only cuts use alpha, and CNPs change it, so it is brought up to date only there */
static void dcqcn_alpha_advance(struct dcqcn_rate *r,
				const struct dcqcn_rp_params *p, u64 now)
{
	u64 n = dcqcn_alpha_periods(r, p, now);

	if (!n)
		return;
	r->alpha = dcqcn_alpha_after(r, p, n);
	r->alpha_time += n * dcqcn_alpha_period(r, p);
	r->alpha_rises = 0;
}

/* How long a packet takes at a rate, in ns; 2^17 bytes * 8 * 10^9 < 2^50 */
static u64 dcqcn_packet_ns(const struct dcqcn_rate *r, u64 rate)
{
	return div64_u64((u64)r->packet * 8 * NSEC_PER_SEC, rate);
}

/* The rate, the round trip or the length of packets has changed */
static void dcqcn_rate_retime(struct dcqcn_rate *r)
{
	u64 packet = dcqcn_packet_ns(r, r->target_rate);
	u64 period = r->rtt, less;

	if (r->ai_boost <= DCQCN_AI_BOOST - DCQCN_PERIOD_WHOLE) {
		less = (u64)min(r->least_rtt, r->rtt) * DCQCN_PERIOD_LESS / 8;
		period = max(period - less, min(period, DCQCN_PERIOD_MANY * packet));
	}
	r->period = clamp(max(period, DCQCN_PERIOD_PACKETS * packet),
			  (u64)NSEC_PER_USEC, (u64)U32_MAX);
}

/* R_AI in units of the path */
static u64 dcqcn_path_step(const struct dcqcn_rate *r)
{
	u64 step = div_u64((r->target_rate >> DCQCN_AI_SHIFT) *
			   (DCQCN_AI_BOOST_SHARE + r->ai_boost),
			   DCQCN_AI_BOOST_SHARE);
	u64 whole = DCQCN_AI_PACKETS * dcqcn_packet_ns(r, r->current_rate);

	if (r->timer_stage > DCQCN_AI_PATIENCE + DCQCN_AI_GROWTH)
		step = step * (r->timer_stage - DCQCN_AI_PATIENCE) /
		       DCQCN_AI_GROWTH;
	/* a share below 1 in 2^-16; the product is carried in 96 bits */
	if (r->period < whole)
		step = mul_u64_u32_shr(step, div64_u64((u64)r->period << 16,
						       whole), 16);
	return max(step, 1ULL);
}

/**
 * dcqcn_rate_ai() - R_AI, set or in units of the path
 * @r: state
 * @p: parameters
 *
 * Context: any. Return: bit/s.
 */
u64 dcqcn_rate_ai(const struct dcqcn_rate *r, const struct dcqcn_rp_params *p)
{
	return p->rpg_ai_rate ? dcqcn_bps(p->rpg_ai_rate) : dcqcn_path_step(r);
}

/* What one increase adds to the target, in the present stages */
static u64 dcqcn_target_step(const struct dcqcn_rate *r,
			     const struct dcqcn_rp_params *p)
{
	u32 behind = min(r->timer_stage, r->byte_stage);

	switch (dcqcn_rate_phase(r, p)) {
	case DCQCN_HYPER:
		return (behind - p->rpg_threshold) * dcqcn_bps(p->rpg_hai_rate);
	case DCQCN_ADDITIVE:
		return dcqcn_rate_ai(r, p);
	default:
		return 0;
	}
}

/*
 * @n more increases that each add @step, once R_T - R_C has settled: while the
 * target still grows it stays ahead by one step, then R_C closes in on it. The
 * target's last step to the line may be a shorter one. @step is not 0: fast
 * recovery is over, and the knobs of what follows are at least 1.
 */
static void dcqcn_increase_rest(struct dcqcn_rate *r, u64 line, u64 step, u64 n)
{
	u64 gap = r->target_rate - r->current_rate;
	u64 to_line, last_step;

	to_line = div64_u64_rem(line - r->target_rate, step, &last_step);
	if (n <= to_line) {
		r->target_rate += n * step;
	} else {
		r->target_rate = line;
		gap += last_step;
		gap >>= min_t(u64, n - to_line, DCQCN_CONVERGED);
	}
	r->current_rate = r->target_rate - gap;
}

static void dcqcn_increase(struct dcqcn_rate *r,
			   const struct dcqcn_rp_params *p, u64 line,
			   unsigned int kind, u64 n)
{
	u8 *stage = kind == DCQCN_RATE_TIMER ? &r->timer_stage :
					       &r->byte_stage;
	u32 steady = 0, steps = 0;

	r->clamp_target = kind == DCQCN_RATE_BYTES ||
			  p->clamp_tgt_rate_after_time_inc;

	for (; n; n--) {
		bool last = *stage == DCQCN_STAGE_MAX;
		u64 step;

		if (!last)
			(*stage)++;
		if (r->ai_boost)
			r->ai_boost--;
		step = dcqcn_target_step(r, p);
		/* drop the rest: the caller brings T up to date */
		if (last && steps++ == DCQCN_INCREASES_MAX)
			return;
		/* steps that are a share of the target are not constant */
		if (last && (p->rpg_ai_rate || r->target_rate == line ||
			     dcqcn_rate_phase(r, p) == DCQCN_HYPER) &&
		    steady++ == DCQCN_CONVERGED) {
			dcqcn_increase_rest(r, line, step, n);
			return;
		}
		r->target_rate = min(r->target_rate + step, line);
		r->current_rate += (r->target_rate - r->current_rate + 1) / 2;
	}
}

static unsigned int dcqcn_increase_time(struct dcqcn_rate *r,
					const struct dcqcn_rp_params *p,
					u64 line, u64 now)
{
	u64 period = dcqcn_rate_timer_period(r, p);
	u64 n;

	if (now - r->timer_time < period)
		return 0;
	n = div64_u64(now - r->timer_time, period);
	r->timer_time += n * period;
	dcqcn_increase(r, p, line, DCQCN_RATE_TIMER, n);
	return DCQCN_RATE_TIMER;
}

static unsigned int dcqcn_increase_bytes(struct dcqcn_rate *r,
					 const struct dcqcn_rp_params *p,
					 u64 line, u32 bytes)
{
	u64 sum = (u64)r->bytes + bytes, rest;

	if (!p->rpg_byte_reset)
		return 0;
	if (sum < p->rpg_byte_reset) {
		r->bytes = sum;
		return 0;
	}
	dcqcn_increase(r, p, line, DCQCN_RATE_BYTES,
		       div64_u64_rem(sum, p->rpg_byte_reset, &rest));
	r->bytes = rest;
	return DCQCN_RATE_BYTES;
}

static unsigned int dcqcn_cut(struct dcqcn_rate *r,
			      const struct dcqcn_rp_params *p,
			      u64 line, u64 now)
{
	u64 least, cut;

	if (p->clamp_tgt_rate || r->clamp_target)
		r->target_rate = r->current_rate;
	r->clamp_target = 0;

	/* alpha * 1024 / 2^gd, alpha being in 2^-30; the product is < 2^82,
	 * which mul_u64_u32_shr() carries in 96 bits, and shifted it is < 2^62.
	 * In two steps, because 32 bits are the most that it can shift by.
	 */
	cut = mul_u64_u32_shr(r->current_rate, r->alpha,
			      DCQCN_ALPHA_SHIFT - DCQCN_G_SHIFT) >> p->rpg_gd;
	least = div_u64(r->current_rate * p->rpg_min_dec_fac, 100);
	r->current_rate -= min(cut, r->current_rate - least);

	if (p->alpha_on_cut) {
		r->alpha = dcqcn_alpha_risen(r->alpha, p->dce_tcp_g);
		r->alpha_time = now;
	}
	r->timer_time = now;
	r->cut_time = now;
	r->bytes = 0;
	r->sent = 0;
	r->timer_stage = 0;
	r->byte_stage = 0;
	r->cut_pending = 0;
	dcqcn_rate_clamp(r, p, line);
	dcqcn_rate_retime(r);
	dcqcn_rate_touch(r, now);
	return DCQCN_RATE_CUT;
}

/**
 * dcqcn_rate_set_rtt() - the round trip was measured
 * @r: state
 * @rtt: ns; queues included
 * @least: ns; the shortest one, 0 for unknown
 *
 * Sets T::
 *
 *	P = packet / target
 *	T = max(rtt - 5/8 * least, min(rtt, 3 * P), 2 * P)	within 1 us and 2^32 ns
 *
 * and without @least for the first 16 increases after a start.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_rate_set_rtt(struct dcqcn_rate *r, u32 rtt, u32 least)
{
	r->rtt = rtt;
	r->least_rtt = least;
	dcqcn_rate_retime(r);
}

/**
 * dcqcn_rate_set_delivered() - learn how much gets through
 * @r: state, brought up to date
 * @p: parameters
 * @least: bit/s; the least that got through lately
 * @most: bit/s; the most that got through lately, not less than @least
 *
 * Bounds a rate that follows the path.
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_rate_set_delivered(struct dcqcn_rate *r,
			      const struct dcqcn_rp_params *p, u64 least,
			      u64 most)
{
	if (p->rpg_time_reset || r->start)
		return;
	r->current_rate = clamp(r->current_rate, least - least / 4, 2 * most);
	r->target_rate = clamp(r->target_rate, r->current_rate, 2 * most);
	dcqcn_rate_retime(r);
}

/**
 * dcqcn_rate_cut_line() - the line rate from which a CNP cuts
 * @r: state
 * @p: parameters
 * @line: line rate, bit/s
 * @most: bit/s; the most that got through lately, 0 for unknown
 *
 * Until its first CNP, a rate that follows the path grows up to twice what gets
 * through, and half of that would leave the queue as it is. So the first cut starts from
 * no more than gets through.
 *
 * Context: any. The caller serialises access to @r. Return: bit/s for dcqcn_rate_cnp().
 */
u64 dcqcn_rate_cut_line(const struct dcqcn_rate *r,
			const struct dcqcn_rp_params *p, u64 line, u64 most)
{
	if (p->rpg_time_reset || p->rate_to_set_on_first_cnp || r->start ||
	    r->had_cnp || !most)
		return line;
	return min(line, most);
}

/**
 * dcqcn_rate_init() - the state of a flow that has seen no CNP
 * @r: state to set up
 * @line: line rate, bit/s
 * @now: ns
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_rate_init(struct dcqcn_rate *r, u64 line, u64 now)
{
	*r = (struct dcqcn_rate) {
		.current_rate = line,
		.target_rate = line,
		.alpha_time = now,
		.timer_time = now,
		.active_time = now,
		.seen_rate = line,
		.period = NSEC_PER_USEC,	/* until a round trip is set */
	};
}

/**
 * dcqcn_rate_work_off() - dcqcn_rate_advance() when there is something to do
 * @r: state
 * @p: parameters
 * @line: line rate, bit/s
 * @now: ns
 * @bytes: sent since the last call
 *
 * Context: any; does not sleep. The caller serialises access to @r.
 * Return: what happened, as DCQCN_RATE_* bits.
 */
unsigned int dcqcn_rate_work_off(struct dcqcn_rate *r,
				 const struct dcqcn_rp_params *p,
				 u64 line, u64 now, u32 bytes)
{
	unsigned int done = 0;

	if (r->start)
		return dcqcn_start_advance(r, line, now, bytes);
	dcqcn_rate_clamp(r, p, line);
	if (r->cut_pending) {
		u64 due = r->cut_time +
			  (u64)p->rate_reduce_monitor_period * NSEC_PER_USEC;

		/* a no-op unless the period was lowered since */
		due = max(due, max(r->timer_time, r->alpha_time));
		if (due <= now) {
			done |= dcqcn_increase_time(r, p, line, due);
			dcqcn_alpha_advance(r, p, due);
			done |= dcqcn_cut(r, p, line, due);
		}
	}
	done |= dcqcn_increase_time(r, p, line, now);
	done |= dcqcn_increase_bytes(r, p, line, bytes);
	if (done) {
		dcqcn_rate_clamp(r, p, line);
		dcqcn_rate_retime(r);
	}
	r->sent += bytes;
	if (bytes)
		dcqcn_rate_touch(r, now);
	return done;
}

/**
 * dcqcn_rate_begin() - a flow meets congestion for the first time, or its start is over
 * @r: state; only its round trips and the length of packets stay
 * @p: parameters
 * @rate: bit/s
 * @now: ns
 *
 * Context: any. The caller serialises access to @r.
 */
void dcqcn_rate_begin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		      u64 rate, u64 now)
{
	u32 rtt = r->rtt, least = r->least_rtt, packet = r->packet;
	bool starting = r->start != DCQCN_START_NONE;

	dcqcn_rate_init(r, rate, now);
	r->packet = packet;
	r->running = 1;
	r->ai_boost = starting ? DCQCN_AI_BOOST : 0;
	r->cut_time = now;
	r->alpha = p->initial_alpha_value << (DCQCN_ALPHA_SHIFT - DCQCN_G_SHIFT);
	dcqcn_rate_set_rtt(r, rtt, least);
}

/**
 * dcqcn_rate_resume() - go on after a stall as if no time had passed
 * @r: state
 * @p: parameters
 * @now: ns, not before the last call's
 *
 * Takes back the increases of a time in which nothing was sent, so that no
 * congestion could show. Recovery starts anew, and alpha has not decayed. Does
 * nothing unless the stall was long enough for an increase.
 *
 * Context: any; does not sleep. The caller serialises access to @r.
 */
void dcqcn_rate_resume(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		       u64 now)
{
	u64 stalled = now - r->active_time;

	if (stalled < dcqcn_rate_timer_period(r, p))
		return;
	r->current_rate = min(r->current_rate, r->seen_rate);
	r->target_rate = r->current_rate;
	r->alpha_time = min(r->alpha_time + stalled, now);
	r->timer_time = now;
	r->bytes = 0;
	r->timer_stage = 0;
	r->byte_stage = 0;
	dcqcn_rate_touch(r, now);
}

/**
 * dcqcn_rate_cnp() - a CNP arrived for this flow
 * @r: state
 * @p: parameters
 * @line: line rate, bit/s
 * @now: ns, not before the last call's
 *
 * Cuts at once, or at the end of the monitor period that the last cut began; CNPs that come while a
 * cut waits are merged into it.
 *
 * Context: any; does not sleep. The caller serialises access to @r.
 * Return: what happened, as DCQCN_RATE_* bits.
 */
unsigned int dcqcn_rate_cnp(struct dcqcn_rate *r,
			    const struct dcqcn_rp_params *p,
			    u64 line, u64 now)
{
	u64 period = (u64)p->rate_reduce_monitor_period * NSEC_PER_USEC;
	bool starting = r->start != DCQCN_START_NONE;
	unsigned int done;

	if (dcqcn_start_ignores_cnp(r))
		return 0;
	/* a start may have ended without one */
	if (!r->had_cnp && (!r->running || p->rate_to_set_on_first_cnp)) {
		dcqcn_rate_begin(r, p, r->running || r->start ?
				min(r->current_rate, line) : line, now);
		r->had_cnp = 1;
		if (p->rate_to_set_on_first_cnp) {
			r->current_rate = dcqcn_bps(p->rate_to_set_on_first_cnp);
			r->target_rate = r->current_rate;
			dcqcn_rate_clamp(r, p, line);
			dcqcn_rate_touch(r, now);
		} else {
			dcqcn_cut(r, p, line, now);
			/* the old rate was never known to get through */
			if (starting) {
				r->target_rate = r->current_rate;
				dcqcn_rate_retime(r);
			}
		}
		return DCQCN_RATE_CUT;
	}

	r->had_cnp = 1;
	done = dcqcn_rate_advance(r, p, line, now, 0);
	if (!p->alpha_on_cut) {
		dcqcn_alpha_advance(r, p, now);
		r->alpha_rises = 1;
	}
	if (!period && (now - r->cut_time < r->rtt || r->active_time <= r->cut_time))
		return done;
	if (!period && r->sent < DCQCN_CUT_PACKETS * r->packet) {
		r->sent += r->packet;
		return done;
	}
	if (now - r->cut_time < period) {
		r->cut_pending = 1;
		return done;
	}
	dcqcn_alpha_advance(r, p, now);
	if (!period && now - r->cut_time < (u64)r->rtt * DCQCN_AGAIN_RTTS)
		r->alpha += ((1U << DCQCN_ALPHA_SHIFT) - r->alpha) /
			    DCQCN_AGAIN_SHARE;
	return done | dcqcn_cut(r, p, line, now);
}

/**
 * dcqcn_rate_alpha() - alpha as it would be if it were used now
 * @r: state
 * @p: parameters
 * @now: ns, not before the last call's
 *
 * Context: any. Return: alpha in units of 2^-30.
 */
u32 dcqcn_rate_alpha(const struct dcqcn_rate *r,
		     const struct dcqcn_rp_params *p, u64 now)
{
	return dcqcn_alpha_after(r, p, dcqcn_alpha_periods(r, p, now));
}

/**
 * dcqcn_rate_phase() - the phase of the last increase, derived from its stages
 * @r: state
 * @p: parameters
 *
 * Context: any. Return: the phase; fast recovery before any increase.
 */
enum dcqcn_phase dcqcn_rate_phase(const struct dcqcn_rate *r,
				  const struct dcqcn_rp_params *p)
{
	if (r->start)
		return DCQCN_START;
	if (max(r->timer_stage, r->byte_stage) < p->rpg_threshold)
		return DCQCN_FAST_RECOVERY;
	if (min(r->timer_stage, r->byte_stage) > p->rpg_threshold)
		return DCQCN_HYPER;
	return DCQCN_ADDITIVE;
}
