/* SPDX-License-Identifier: GPL-2.0 */
/* A congestion window driven by delay and ECN (NSCC). See nscc.c. */
#ifndef DCQCN_NSCC_H
#define DCQCN_NSCC_H

#include <linux/types.h>

#define DCQCN_NSCC_BDP_MAX	0x10000000U	/* bytes */
#define DCQCN_NSCC_RTT_MAX	0x40000000U	/* ns */

/**
 * struct dcqcn_nscc_params - the path, and the goal of the window
 * @mbps: Mb/s; link speed, the lower one of sender and receiver; at least 1
 * @base_rtt: ns; round trip of the longest path without queues, 0: as measured
 * @target: ns; target of the queueing delay, 0: one base round trip
 * @scaling: an increase is the reference path's BDP divided by this, 0: the path's own
 */
struct dcqcn_nscc_params {
	u32 mbps;
	u32 base_rtt;
	u32 target;
	u32 scaling;
};

/**
 * struct dcqcn_nscc - the state of one window
 * @collected: increases that wait to be added, in bytes * bytes before the scale of
 *	the path and the division by the window; at most 2^62
 * @collect_time: ns; when they were added last
 * @eta_time: ns; when the constant increase came last
 * @cut_time: ns; the last decrease, 0 for never
 * @adapt_time: ns; since when @got counts
 * @avg: average queueing delay, in units of 2^-8 ns
 * @cwnd: bytes; the window
 * @least: ns; the least round trip seen, 0 for none
 * @mss: bytes; the longest packet on the wire, below 2^16; set by the caller
 * @acked: bytes acknowledged since @collect_time
 * @undelayed: bytes acknowledged in a row with next to no delay, U32_MAX once the
 *	window grows fast
 * @got: bytes acknowledged since @adapt_time
 * @lost: bytes were lost since @adapt_time
 */
struct dcqcn_nscc {
	u64 collected;
	u64 collect_time;
	u64 eta_time;
	u64 cut_time;
	u64 adapt_time;
	u64 avg;
	u32 cwnd;
	u32 least;
	u32 mss;
	u32 acked;
	u32 undelayed;
	u32 got;
	bool lost;
};

void dcqcn_nscc_init(struct dcqcn_nscc *n, const struct dcqcn_nscc_params *p,
		     u32 window, u64 now);
void dcqcn_nscc_feedback(struct dcqcn_nscc *n,
			 const struct dcqcn_nscc_params *p, u32 bytes, u32 rtt,
			 bool ce, u64 now);
void dcqcn_nscc_loss(struct dcqcn_nscc *n, u32 bytes);
u32 dcqcn_nscc_base(const struct dcqcn_nscc *n,
		    const struct dcqcn_nscc_params *p);
u32 dcqcn_nscc_target(const struct dcqcn_nscc *n,
		      const struct dcqcn_nscc_params *p);
u32 dcqcn_nscc_delay(const struct dcqcn_nscc *n);
u32 dcqcn_nscc_bdp(const struct dcqcn_nscc *n,
		   const struct dcqcn_nscc_params *p);
u32 dcqcn_nscc_max(const struct dcqcn_nscc *n,
		   const struct dcqcn_nscc_params *p);

#endif /* DCQCN_NSCC_H */
