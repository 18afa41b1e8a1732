// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion window for soft-RoCE, after the sender's half of Ultra Ethernet's
 * congestion control, NSCC.
 *
 * DCQCN slows down after a queue has built up. A window bounds what is in flight
 * before. Each report says how many bytes arrived, how long the round trip
 * was, and whether any of them met congestion (CE). The delay is what the round trip
 * takes beyond the least one seen:
 *
 *   CE   delay          action
 *   no   >= target      a fair increase, the same for all windows
 *   no   <  target      an increase in proportion to what is missing; after a window
 *                       with next to no delay, a fast one by a share of what arrives
 *   yes  >= target      at most once per base round trip, a cut in proportion to the
 *                       average delay beyond the target
 *   yes  <  target      none: the queue is short, or is not the path's fault
 *
 * In addition, the window grows by a constant once per base round trip, and shrinks by
 * what is lost. If packets were lost or the delay exceeds four targets, and less than an
 * eighth of the largest window got through in a base round trip plus the target, the
 * window becomes what did get through.
 *
 * The constants were chosen for a reference path of 150,000 bytes, which are 12 us at
 * 100 Gb/s. Others scale them: by a, the bandwidth-delay product (BDP) in units of
 * 150,000 bytes, and b, the target in units of 12 us:
 *
 *   alpha = 4 MSS a b / target    gain of the proportional increase, per byte and ns
 *   fi    = 5 MSS a               fair increase, per window
 *   eta   = 0.15 MSS a            constant increase, per base round trip
 *   a / 4                         of what arrives: fast increase; here at most all of it
 *
 * BDP = link speed * base round trip, and MSS <= window <= 1.5 BDP.
 *
 * Ultra Ethernet is also described with one increase for links of all speeds: the reference path's
 * BDP divided by a factor of 512 to 8192, each time that increases are added. The knob ccc_scaling
 * is that factor, and replaces alpha and fi.
 *
 * The average follows each packet with a gain of 1/80. A report of several packets is applied once
 * per packet, 16 times at most.
 *
 * Everything here is a pure function, as in rate.c: no clock, no lock, no kernel object.
 *
 * Overflow: BDP <= 2^28, so windows and what is acknowledged at once stay below 2^29
 * and 2^28 bytes; MSS < 2^16, and times <= 2^30 ns.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "nscc.h"

#define DCQCN_NSCC_BASE_BDP	150000U		/* bytes, of the reference path */
#define DCQCN_NSCC_BASE_RTT	12000U		/* ns */
#define DCQCN_NSCC_FAIR		5		/* in MSS */
#define DCQCN_NSCC_PROPORTIONAL	4		/* in MSS */
#define DCQCN_NSCC_AVG_SHIFT	8		/* of @avg */
#define DCQCN_NSCC_AVG_GAIN	80		/* 1 / 0.0125 */
#define DCQCN_NSCC_AVG_PACKETS	16
#define DCQCN_NSCC_COLLECT	8		/* MSS, until the increases are added */
#define DCQCN_NSCC_UNDELAYED	12		/* a 12th of the base round trip: 1 us */
#define DCQCN_NSCC_ADAPT_DELAY	4		/* targets */
#define DCQCN_NSCC_ADAPT_SHARE	8		/* an 8th of the largest window */
#define DCQCN_NSCC_COLLECTED_MAX	((u64)1 << 62)

/**
 * dcqcn_nscc_base() - return the base round trip
 * @n: state
 * @p: parameters
 *
 * Context: any. Return: ns; at least 1, at most DCQCN_NSCC_RTT_MAX.
 */
u32 dcqcn_nscc_base(const struct dcqcn_nscc *n,
		    const struct dcqcn_nscc_params *p)
{
	u32 base = p->base_rtt ?: n->least ?: DCQCN_NSCC_BASE_RTT;

	return min(base, DCQCN_NSCC_RTT_MAX);
}

/**
 * dcqcn_nscc_target() - return the target of the queueing delay
 * @n: state
 * @p: parameters
 *
 * Context: any. Return: ns; at least 1, at most DCQCN_NSCC_RTT_MAX.
 */
u32 dcqcn_nscc_target(const struct dcqcn_nscc *n,
		      const struct dcqcn_nscc_params *p)
{
	return p->target ? min(p->target, DCQCN_NSCC_RTT_MAX) :
			   dcqcn_nscc_base(n, p);
}

/**
 * dcqcn_nscc_bdp() - return the bandwidth-delay product
 * @n: state
 * @p: parameters
 *
 * Context: any. Return: bytes; at least one packet, at most DCQCN_NSCC_BDP_MAX.
 */
u32 dcqcn_nscc_bdp(const struct dcqcn_nscc *n,
		   const struct dcqcn_nscc_params *p)
{
	/* Mb/s * ns are 10^-3 bit; 2^32 * 2^30 */
	u64 bytes = div_u64((u64)p->mbps * dcqcn_nscc_base(n, p), 8000);

	bytes = min_t(u64, bytes, DCQCN_NSCC_BDP_MAX);
	return max_t(u32, bytes, n->mss);
}

/**
 * dcqcn_nscc_max() - the largest window
 * @n: state
 * @p: parameters
 *
 * Context: any. Return: bytes.
 */
u32 dcqcn_nscc_max(const struct dcqcn_nscc *n,
		   const struct dcqcn_nscc_params *p)
{
	u32 bdp = dcqcn_nscc_bdp(n, p);

	return bdp + bdp / 2;
}

/**
 * dcqcn_nscc_delay() - the average queueing delay
 * @n: state
 *
 * Context: any. Return: ns.
 */
u32 dcqcn_nscc_delay(const struct dcqcn_nscc *n)
{
	return n->avg >> DCQCN_NSCC_AVG_SHIFT;
}

/**
 * dcqcn_nscc_init() - a window begins
 * @n: state to set up; its longest packet and least round trip stay
 * @p: parameters
 * @window: bytes; its size, if that is within its bounds
 * @now: ns
 *
 * Context: any. The caller serialises access to @n.
 */
void dcqcn_nscc_init(struct dcqcn_nscc *n, const struct dcqcn_nscc_params *p,
		     u32 window, u64 now)
{
	*n = (struct dcqcn_nscc) {
		.mss = max(n->mss, 1U),
		.least = n->least,
		.collect_time = now,
		.eta_time = now,
		.adapt_time = now,
	};
	n->cwnd = clamp(window, n->mss, dcqcn_nscc_max(n, p));
}

/* @bytes scaled by a; < 2^29 * 2^28 */
static u32 dcqcn_nscc_scale(u32 bytes, u32 bdp)
{
	u64 scaled = div_u64((u64)bytes * bdp, DCQCN_NSCC_BASE_BDP);

	return min(scaled, (u64)2 * DCQCN_NSCC_BDP_MAX);
}

static void dcqcn_nscc_collect(struct dcqcn_nscc *n, u64 amount)
{
	n->collected = min(n->collected + amount, DCQCN_NSCC_COLLECTED_MAX);
}

/* < 2^3 * 2^16 * 2^28 */
static void dcqcn_nscc_fair(struct dcqcn_nscc *n, u32 bytes)
{
	dcqcn_nscc_collect(n, (u64)DCQCN_NSCC_FAIR * n->mss * bytes);
}

/* @missing: ns up to the target. It is converted to units of 12 us with 16 fractional bits:
 * < 2^33. Times 2^28 bytes it is < 2^61; times 4 MSS, shifted right by 16 bits, < 2^63.
 */
static void dcqcn_nscc_proportional(struct dcqcn_nscc *n, u32 bytes, u32 missing)
{
	u64 share = div_u64((u64)missing << 16, DCQCN_NSCC_BASE_RTT);

	dcqcn_nscc_collect(n, mul_u64_u32_shr(share * bytes,
					      DCQCN_NSCC_PROPORTIONAL * n->mss,
					      16));
}

/* Whether the window grows fast */
static bool dcqcn_nscc_fast(struct dcqcn_nscc *n, u32 bytes, u32 delay, u32 base,
			    u32 bdp)
{
	if (delay >= max(base / DCQCN_NSCC_UNDELAYED, 1U)) {
		n->undelayed = 0;
		return false;
	}
	if (n->undelayed < n->cwnd) {
		n->undelayed += bytes;
		return false;
	}
	n->cwnd += min(dcqcn_nscc_scale(bytes, bdp) / 4, bytes);
	n->undelayed = U32_MAX;	/* stays above the window, however that grows */
	return true;
}

static void dcqcn_nscc_cut(struct dcqcn_nscc *n, u32 base, u32 target, u64 now)
{
	u32 avg = dcqcn_nscc_delay(n), cut;

	if (avg <= target || (n->cut_time && now - n->cut_time < base))
		return;
	/* gamma is 4/5; 2^29 * 2^2 * 2^31 */
	cut = div64_u64((u64)n->cwnd * 4 * (avg - target), 5ULL * avg);
	n->cwnd -= min(cut, n->cwnd / 2);
	n->cut_time = now;
}

static void dcqcn_nscc_average(struct dcqcn_nscc *n, u32 bytes, u32 delay)
{
	s64 off = ((s64)delay << DCQCN_NSCC_AVG_SHIFT) - (s64)n->avg;
	u32 packets = clamp(bytes / n->mss, 1U, (u32)DCQCN_NSCC_AVG_PACKETS);

	n->avg += div_s64(off * packets, DCQCN_NSCC_AVG_GAIN);
}

/* Set the window to the bytes that got through, if it must shrink. Return whether it was set. If
 * the round trip is long and reports are rare, only a proportional part of the bytes counts. The
 * product is < 2^28 * 2^31.
 */
static bool dcqcn_nscc_adapt(struct dcqcn_nscc *n, u32 max_window, u32 rtt,
			     u32 delay, u32 base, u32 target, u64 now)
{
	bool bad = n->lost || delay / DCQCN_NSCC_ADAPT_DELAY > target;
	u64 took = now - n->adapt_time, within = (u64)base + target;
	u32 got = n->got;

	if (took < within)
		return false;
	if (rtt > within)
		got = div64_u64(got * within, min(took, (u64)rtt));
	n->adapt_time = now;
	n->got = 0;
	n->lost = false;
	if (!bad || got >= max_window / DCQCN_NSCC_ADAPT_SHARE)
		return false;
	n->cwnd = got;
	n->collected = 0;
	return true;
}

/* Bytes that the collected increases add to the window */
static u32 dcqcn_nscc_step(const struct dcqcn_nscc *n, const struct dcqcn_nscc_params *p,
			   u32 bdp)
{
	u64 step;

	if (p->scaling)
		return n->collected ? DIV_ROUND_UP(DCQCN_NSCC_BASE_BDP, p->scaling) : 0;
	step = div_u64(n->collected, n->cwnd);
	return dcqcn_nscc_scale(min_t(u64, step, DCQCN_NSCC_BDP_MAX), bdp);
}

static void dcqcn_nscc_add(struct dcqcn_nscc *n, const struct dcqcn_nscc_params *p,
			   u32 base, u32 bdp, u64 now)
{
	if (n->acked >= DCQCN_NSCC_COLLECT * n->mss ||
	    now - n->collect_time >= base) {
		n->cwnd += dcqcn_nscc_step(n, p, bdp);
		n->collected = 0;
		n->acked = 0;
		n->collect_time = now;
	}
	if (now - n->eta_time >= base) {
		n->cwnd += div_u64((u64)dcqcn_nscc_scale(n->mss, bdp) * 15, 100);
		n->eta_time = now;
	}
}

/**
 * dcqcn_nscc_feedback() - bytes were acknowledged
 * @n: state
 * @p: parameters; they may differ from those of the last call
 * @bytes: that arrived since the last call
 * @rtt: ns; round trip of a packet that was not sent twice
 * @ce: some of them were marked
 * @now: ns, not before the last call's
 *
 * Context: any; does not sleep. The caller serialises access to @n.
 */
void dcqcn_nscc_feedback(struct dcqcn_nscc *n,
			 const struct dcqcn_nscc_params *p, u32 bytes, u32 rtt,
			 bool ce, u64 now)
{
	u32 base, target, bdp, max_window, delay;

	rtt = clamp(rtt, 1U, DCQCN_NSCC_RTT_MAX);
	bytes = min(bytes, DCQCN_NSCC_BDP_MAX);
	if (!n->least || rtt < n->least)
		n->least = rtt;
	delay = rtt - n->least;
	base = dcqcn_nscc_base(n, p);
	target = dcqcn_nscc_target(n, p);
	bdp = dcqcn_nscc_bdp(n, p);
	max_window = dcqcn_nscc_max(n, p);
	/* a packet longer than all before may have left since; increases are divided by the window
	 */
	n->cwnd = max(n->cwnd, n->mss);

	n->acked = min(n->acked + bytes, DCQCN_NSCC_BDP_MAX);
	n->got = min(n->got + bytes, DCQCN_NSCC_BDP_MAX);
	dcqcn_nscc_average(n, bytes, delay);
	if (!dcqcn_nscc_adapt(n, max_window, rtt, delay, base, target, now)) {
		if (ce && delay >= target)
			dcqcn_nscc_cut(n, base, target, now);
		else if (!ce && delay >= target)
			dcqcn_nscc_fair(n, bytes);
		else if (!ce && !dcqcn_nscc_fast(n, bytes, delay, base, bdp))
			dcqcn_nscc_proportional(n, bytes, target - delay);
		if (ce || delay >= target)
			n->undelayed = 0;
		dcqcn_nscc_add(n, p, base, bdp, now);
	}
	n->cwnd = clamp(n->cwnd, n->mss, max_window);
}

/**
 * dcqcn_nscc_loss() - bytes were lost
 * @n: state
 * @bytes: how many
 *
 * Increases that wait to be added will be divided by the window. They are scaled down with it, so
 * that they add no more bytes than before: a window that was lost as a whole must not jump up
 * again.
 *
 * Context: any. The caller serialises access to @n.
 */
void dcqcn_nscc_loss(struct dcqcn_nscc *n, u32 bytes)
{
	u32 before = n->cwnd;

	n->cwnd = max(before - min(bytes, before), n->mss);
	n->collected = div_u64(n->collected, before) * min(n->cwnd, before);
	n->lost = true;
	n->undelayed = 0;
}
