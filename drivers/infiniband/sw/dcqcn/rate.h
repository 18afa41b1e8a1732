/* SPDX-License-Identifier: GPL-2.0 */
/* The rate algorithm of the DCQCN reaction point. See rate.c. */
#ifndef DCQCN_RATE_H
#define DCQCN_RATE_H

#include <linux/time64.h>
#include <linux/types.h>

#define DCQCN_BPS_PER_MBPS	1000000ULL	/* knob unit -> bit/s */
#define DCQCN_RATE_MAX		(U32_MAX * DCQCN_BPS_PER_MBPS)	/* bit/s; < 2^52 */

/* Stages saturate here, above the largest rpg_threshold (31): only "more than
 * F" and the hyper increase's multiplier depend on how far they got.
 */
#define DCQCN_STAGE_MAX		63

/**
 * struct dcqcn_rp_params - the reaction point's knobs, in sysfs units
 *
 * A knob with "0: measured" follows the path if it is 0: see rate.c.
 *
 * @rpg_max_rate: Mb/s; the line rate of the limiter, 0 for the port speed
 * @rpg_min_rate: Mb/s; a rate never falls below this
 * @rate_to_set_on_first_cnp: Mb/s; rate and target on a flow's first CNP,
 *	0 to cut from the line rate instead
 * @initial_alpha_value: 1/1024; alpha on a flow's first CNP
 * @dce_tcp_g: 1/1024; share of alpha kept per update (the paper's 1 - g)
 * @dce_tcp_rtt: us; alpha's period; 0: measured
 * @alpha_on_cut: 1: a cut raises alpha and starts a new period, at whose end alpha falls;
 *	0: at the end of each period alpha rises if a CNP came in it, and falls otherwise
 * @rate_reduce_monitor_period: us; at most one cut per period; 0: measured
 * @rpg_gd: log2; a cut takes R * alpha * 1024 / 2^rpg_gd
 * @rpg_min_dec_fac: percent; a cut leaves at least this share of the rate
 * @clamp_tgt_rate: 1: every cut sets the target to the rate before the cut;
 *	0: only the first cut after an increase does
 * @clamp_tgt_rate_after_time_inc: with @clamp_tgt_rate 0, whether an increase
 *	that came from the timer counts for that
 * @rpg_time_reset: us; period of the increase timer (T); 0: measured
 * @rpg_byte_reset: bytes between byte counter increases (B), 0 for none
 * @rpg_threshold: increases of one kind until fast recovery ends (F)
 * @rpg_ai_rate: Mb/s; additive increase of the target (R_AI); 0: a share of the
 *	target
 * @rpg_hai_rate: Mb/s; hyper increase of the target (R_HAI)
 * @start_burst: bytes that a flow sends at once when it begins, before it is
 *	paced until its first CNP; 0: it is not paced until then
 */
struct dcqcn_rp_params {
	u32 rpg_max_rate;
	u32 rpg_min_rate;
	u32 rate_to_set_on_first_cnp;
	u32 initial_alpha_value;
	u32 dce_tcp_g;
	u32 dce_tcp_rtt;
	u32 alpha_on_cut;
	u32 rate_reduce_monitor_period;
	u32 rpg_gd;
	u32 rpg_min_dec_fac;
	u32 clamp_tgt_rate;
	u32 clamp_tgt_rate_after_time_inc;
	u32 rpg_time_reset;
	u32 rpg_byte_reset;
	u32 rpg_threshold;
	u32 rpg_ai_rate;
	u32 rpg_hai_rate;
	u32 start_burst;
};

/* Alpha in units of 2^-30: 1.0 fits u32, and alpha * 1024 fits u64. At the coarser 2^-10 of the
 * knobs alpha could not rise past 820 with g = 5/1024.
 */
#define DCQCN_ALPHA_SHIFT	30

/**
 * enum dcqcn_start - progress of a flow's start; start.c has the transitions
 * @DCQCN_START_NONE: it is over, or there was none
 * @DCQCN_START_ASKS: it has sent its burst, and waits for the first round trip
 * @DCQCN_START_MEASURES: its rate grows with samples of the path
 * @DCQCN_START_BLIND: its rate grows with time
 */
enum dcqcn_start {
	DCQCN_START_NONE,
	DCQCN_START_ASKS,
	DCQCN_START_MEASURES,
	DCQCN_START_BLIND,
};

/**
 * struct dcqcn_rate - one flow's state in the rate algorithm
 * @current_rate: bit/s; what the pacer obeys (R_C)
 * @target_rate: bit/s; where recovery heads (R_T)
 * @alpha_time: ns; when alpha was last updated, or its period began
 * @timer_time: ns; when the increase timer last fired or was restarted
 * @cut_time: ns; the last cut
 * @burst: bytes; instead of @cut_time in a start: what it sent at once or, once the answer has
 *	come, what the flows that began with it sent on average
 * @active_time: ns; when the flow last sent or was cut
 * @seen_rate: bit/s; the current rate right after that
 * @bytes: bytes sent since the byte counter last fired or was restarted; below rpg_byte_reset, as
 *	that was then
 * @last_rtt: ns; instead of @bytes in a start: round trip of its latest sample
 * @alpha: estimate of congestion, in units of 2^-30, at most 2^30
 * @rtt: ns; measured round trip, the queues on the way included
 * @least_rtt: ns; the shortest one, 0 for unknown
 * @packet: bytes of the longest packet on the wire, less than 2^17; set by the caller
 * @period: ns; T and alpha's period, where they follow the path
 * @sent: bytes sent since the last cut, or step of the start, modulo 2^32; each CNP that comes too
 *	early counts as one more packet
 * @timer_stage: timer increases since the last cut
 * @byte_stage: byte counter increases since the last cut
 * @ai_boost: increases for which R_AI in units of the path is still larger
 * @start: see &enum dcqcn_start
 * @sampled: a sample came since the last step of a start, and found no queue
 * @running: a CNP came, or a start found the path full
 * @had_cnp: a CNP came
 * @cut_pending: a CNP waits for the monitor period to end
 * @clamp_target: the next cut sets the target to the rate before the cut
 * @alpha_rises: a CNP came in alpha's present period, at whose end it will rise
 */
struct dcqcn_rate {
	u64 current_rate;
	u64 target_rate;
	u64 alpha_time;
	u64 timer_time;
	union {
		u64 cut_time;
		u32 burst;
	};
	u64 active_time;
	u64 seen_rate;
	union {
		u32 bytes;
		u32 last_rtt;
	};
	u32 alpha;
	u32 rtt;
	u32 least_rtt;
	u32 packet;
	u32 period;
	u32 sent;
	u8 timer_stage;
	u8 byte_stage;
	u8 ai_boost;
	u8 start : 2;
	u8 sampled : 1;
	u8 running : 1;
	u8 had_cnp : 1;
	u8 cut_pending : 1;
	u8 clamp_target : 1;
	u8 alpha_rises : 1;
};

/* What happened to a rate, as bits: it was cut, or the timer or the byte
 * counter raised it
 */
#define DCQCN_RATE_CUT		1
#define DCQCN_RATE_TIMER	2
#define DCQCN_RATE_BYTES	4

/**
 * enum dcqcn_phase - how a rate recovers
 * @DCQCN_START: the rate grows by a share, with samples or with time
 * @DCQCN_FAST_RECOVERY: the rate grows towards the target, which stays
 * @DCQCN_ADDITIVE: the target grows by rpg_ai_rate
 * @DCQCN_HYPER: the target grows by multiples of rpg_hai_rate
 */
enum dcqcn_phase {
	DCQCN_START,
	DCQCN_FAST_RECOVERY,
	DCQCN_ADDITIVE,
	DCQCN_HYPER,
};

void dcqcn_rate_init(struct dcqcn_rate *r, u64 line, u64 now);
void dcqcn_rate_begin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		      u64 rate, u64 now);
unsigned int dcqcn_rate_work_off(struct dcqcn_rate *r,
				 const struct dcqcn_rp_params *p,
				 u64 line, u64 now, u32 bytes);
unsigned int dcqcn_rate_cnp(struct dcqcn_rate *r,
			    const struct dcqcn_rp_params *p,
			    u64 line, u64 now);
void dcqcn_rate_resume(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		       u64 now);
u64 dcqcn_rate_ai(const struct dcqcn_rate *r, const struct dcqcn_rp_params *p);
u32 dcqcn_rate_alpha(const struct dcqcn_rate *r,
		     const struct dcqcn_rp_params *p, u64 now);
enum dcqcn_phase dcqcn_rate_phase(const struct dcqcn_rate *r,
				  const struct dcqcn_rp_params *p);
void dcqcn_rate_set_rtt(struct dcqcn_rate *r, u32 rtt, u32 least);
void dcqcn_rate_set_delivered(struct dcqcn_rate *r,
			      const struct dcqcn_rp_params *p, u64 least,
			      u64 most);
u64 dcqcn_rate_cut_line(const struct dcqcn_rate *r,
			const struct dcqcn_rp_params *p, u64 line, u64 most);

/**
 * dcqcn_rate_floor() - the lowest rate, unless the line rate is lower
 * @p: parameters
 *
 * Context: any. Return: bit/s.
 */
static inline u64 dcqcn_rate_floor(const struct dcqcn_rp_params *p)
{
	return p->rpg_min_rate * DCQCN_BPS_PER_MBPS;
}

/* T in ns */
static inline u64 dcqcn_rate_timer_period(const struct dcqcn_rate *r,
					  const struct dcqcn_rp_params *p)
{
	return p->rpg_time_reset ? (u64)p->rpg_time_reset * NSEC_PER_USEC :
				   r->period;
}

/* Whether an increase that @done names has brought the rate back to the line rate. A line rate that
 * falls to the rate does not count: less gets through than before.
 */
static inline bool dcqcn_rate_is_back(const struct dcqcn_rate *r, u64 line,
				      unsigned int done)
{
	return done & (DCQCN_RATE_TIMER | DCQCN_RATE_BYTES) &&
	       r->current_rate >= line;
}

/* The flow has just sent, or was cut */
static inline void dcqcn_rate_touch(struct dcqcn_rate *r, u64 now)
{
	r->active_time = now;
	r->seen_rate = r->current_rate;
}

/* Count @bytes that a starting flow has sent: the next dcqcn_rate_advance() takes them into account
 */
static inline void dcqcn_rate_sent(struct dcqcn_rate *r, u32 bytes, u64 now)
{
	r->sent += bytes;
	dcqcn_rate_touch(r, now);
}

/* Whether nothing is due up to @now, @bytes included, and the rates are within
 * their bounds. R_C never exceeds R_T.
 */
static inline bool dcqcn_rate_is_steady(const struct dcqcn_rate *r,
					const struct dcqcn_rp_params *p,
					u64 line, u64 now, u32 bytes)
{
	return !r->cut_pending && !r->start &&
	       now - r->timer_time < dcqcn_rate_timer_period(r, p) &&
	       (!p->rpg_byte_reset ||
		(u64)r->bytes + bytes < p->rpg_byte_reset) &&
	       r->current_rate >= dcqcn_rate_floor(p) && r->target_rate <= line;
}

/**
 * dcqcn_rate_advance() - catch up on what was due up to @now
 * @r: state
 * @p: parameters; they may differ from those of the last call
 * @line: line rate, bit/s, at least 1 Mb/s; may differ too
 * @now: ns, not before the last call's
 * @bytes: sent since the last call
 *
 * Applies a cut that waited for its monitor period and the increases of timer
 * and byte counter, and keeps both rates between rpg_min_rate and @line.
 *
 * Inline, because for almost every packet there is nothing to do.
 *
 * Context: any; does not sleep. The caller serialises access to @r.
 * Return: what happened, as DCQCN_RATE_* bits.
 */
static inline unsigned int
dcqcn_rate_advance(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		   u64 line, u64 now, u32 bytes)
{
	if (!dcqcn_rate_is_steady(r, p, line, now, bytes))
		return dcqcn_rate_work_off(r, p, line, now, bytes);
	if (bytes) {
		if (p->rpg_byte_reset)
			r->bytes += bytes;
		r->sent += bytes;
		dcqcn_rate_touch(r, now);
	}
	return 0;
}

#endif /* DCQCN_RATE_H */
