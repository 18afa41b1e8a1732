// SPDX-License-Identifier: GPL-2.0
/*
 * Swift: a window that keeps the round trip at a target.
 *
 *   Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 *   Datacenter", SIGCOMM 2020, algorithm 1 and section 3
 *
 *   on an ACK     delay < target    cwnd += ai * acked / cwnd	(packets; ai * acked below 1)
 *                 otherwise         cwnd *= max(1 - beta * (delay - target) / delay, 1 - max_mdf)
 *   on a loss                       cwnd *= 1 - max_mdf; the fifth in a row: the least window
 *   target        base + hops * h + max(0, min(a / sqrt(cwnd) + b, range))
 *                 a = range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)), b = -a / sqrt(fs_max)
 *
 * Decreases come once per round trip. A window below a packet is a pause: one packet in
 * rtt / cwnd. So hundreds of flows can share a port.
 *
 * The paper's constants are beta 0.8, max_mdf 0.5, ai 1, and flow scaling from 0.1 to 100 packets.
 * It gives times for one network only. Here base is 3/2 and range 2 of the round trip without
 * queues, and h is 1 us. So the target is a queue of half a round trip, and a longer one where many
 * flows share it. All flows of a network should know the same round trip: the knob ccc_base_rtt.
 * Otherwise each flow uses the shortest round trip that it has measured. Flows that began behind a
 * queue then have longer targets, and take the others' share. The paper splits the delay of the
 * fabric from that of the host: the round trip here begins behind the module's queue, and includes
 * the peer's rxe.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_SWIFT_INITIAL	4	/* packets */
#define DCQCN_SWIFT_LEAST	100	/* 1/100 packet */
#define DCQCN_SWIFT_WINDOW_MAX	268435456U	/* bytes; 5 ms at 400 Gb/s */
#define DCQCN_SWIFT_HOP_NS	1000U
#define DCQCN_SWIFT_RTT_MAX	1073741824U	/* ns; longer ones count as this */
#define DCQCN_SWIFT_RETX_RESET	5	/* losses in a row */

/* In units of 2^-10: 1 / sqrt(fs_min) - 1 / sqrt(fs_max) = 3.0623, sqrt(fs_max) = 10 */
#define DCQCN_SWIFT_FS_SPAN	3136U
#define DCQCN_SWIFT_FS_MAX	10

/**
 * struct dcqcn_swift - what Swift keeps of a flow
 * @cut_time: ns; the last decrease
 * @cwnd: bytes
 * @losses: losses in a row
 */
struct dcqcn_swift {
	u64 cut_time;
	u32 cwnd;
	u32 losses;
};

/* The square root of a number below 2^62, rounded down. It has no branches, and
 * OPTIMIZER_HIDE_VAR() keeps the compiler from turning @fits into one: in eBPF, the verifier would
 * follow each branch.
 */
static u32 dcqcn_swift_root(u64 n)
{
	u64 root = 0, bit, fits;

	for (bit = 1ULL << 30; bit; bit >>= 1) {
		fits = ~(u64)((s64)(n - (root | bit) * (root | bit)) >> 63);
		OPTIMIZER_HIDE_VAR(fits);
		root |= bit & fits;
	}
	return root;
}

/* ns; added to the target for flows that share a queue, because their windows are small. sqrt(cwnd)
 * in packets has 10 fractional bits: 2^28 bytes * 2^20 fit.
 */
static u32 dcqcn_swift_flow_scaling(const struct dcqcn_cc *cc, u32 cwnd, u32 range)
{
	u32 root = dcqcn_swift_root(div_u64((u64)cwnd << 20, cc->packet));
	u64 a = div_u64((u64)range << 10, DCQCN_SWIFT_FS_SPAN);
	u64 scaled = div_u64(a << 10, max(root, 1U)), less = div_u64(a, DCQCN_SWIFT_FS_MAX);

	return scaled <= less ? 0 : min_t(u64, scaled - less, range);
}

static u32 dcqcn_swift_target(const struct dcqcn_cc *cc, u32 cwnd)
{
	u32 least = min(cc->rtt_base ?: cc->rtt_min, DCQCN_SWIFT_RTT_MAX);

	return least + least / 2 + cc->hops * DCQCN_SWIFT_HOP_NS +
	       dcqcn_swift_flow_scaling(cc, cwnd, least * 2);
}

static bool dcqcn_swift_may_cut(const struct dcqcn_cc *cc, const struct dcqcn_swift *s)
{
	return !s->cut_time || cc->now - s->cut_time >= cc->rtt;
}

/* The window has changed from @before */
static void dcqcn_swift_set(struct dcqcn_cc *cc, struct dcqcn_swift *s, u32 before)
{
	u32 least = max(cc->packet / DCQCN_SWIFT_LEAST, 1U);

	s->cwnd = clamp(s->cwnd, least, max(DCQCN_SWIFT_WINDOW_MAX, least));
	if (s->cwnd < before)
		s->cut_time = cc->now;
	cc->window = s->cwnd;
	cc->rate = cc->line;
	if (s->cwnd < cc->packet && cc->rtt)
		cc->rate = div_u64(s->cwnd * 8ULL * NSEC_PER_SEC, cc->rtt);
}

static void dcqcn_swift_init(struct dcqcn_cc *cc)
{
	struct dcqcn_swift *s = dcqcn_cc_private(cc);

	/* the length of packets is not known yet: one of 4 KB, and headers */
	s->cwnd = DCQCN_SWIFT_INITIAL * 4200;
	dcqcn_swift_set(cc, s, 0);
}

static void dcqcn_swift_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_swift *s = dcqcn_cc_private(cc);
	u32 delay = min(sample->rtt, DCQCN_SWIFT_RTT_MAX), before = s->cwnd, target, most;
	u64 step;

	s->losses = 0;
	if (!delay)
		return;
	target = dcqcn_swift_target(cc, s->cwnd);
	if (delay < target) {
		/* a window does not grow unless it is used */
		if (sample->app_limited)
			return;
		step = s->cwnd >= cc->packet ?
		       div_u64((u64)cc->packet * sample->delivered, s->cwnd) : sample->delivered;
		s->cwnd += min_t(u64, step, DCQCN_SWIFT_WINDOW_MAX);
	} else if (dcqcn_swift_may_cut(cc, s)) {
		/* beta is 4/5; 2^28 * 4 * 2^30 < 2^63 */
		most = s->cwnd / 2;
		step = div64_u64(4ULL * s->cwnd * (delay - target), 5ULL * delay);
		s->cwnd -= min_t(u64, step, most);
	}
	dcqcn_swift_set(cc, s, before);
}

static void dcqcn_swift_loss(struct dcqcn_cc *cc)
{
	struct dcqcn_swift *s = dcqcn_cc_private(cc);
	u32 before = s->cwnd;

	if (++s->losses >= DCQCN_SWIFT_RETX_RESET)
		s->cwnd = 0;
	else if (dcqcn_swift_may_cut(cc, s))
		s->cwnd -= s->cwnd / 2;
	dcqcn_swift_set(cc, s, before);
}

const struct dcqcn_cc_ops dcqcn_swift = {
	.name = "swift",
	.flags = DCQCN_CC_NEEDS_ACKS,
	.init = dcqcn_swift_init,
	.ack = dcqcn_swift_ack,
	.loss = dcqcn_swift_loss,
};
