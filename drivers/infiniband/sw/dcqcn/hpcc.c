// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC: a window computed from the utilisation of the worst link, which switches report.
 *
 *   Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1 and section 3
 *
 *   on an ACK that reports a hop; txRate is the hop's rate since its last report:
 *     u = min(queue, queue at the last report) / (B * T) + txRate / B
 *     U = (1 - tau / T) * U + tau / T * u		tau: time since then, at most T
 *     U >= eta, or the fifth increase in a row was taken	W = Wc / (U / eta) + Wai
 *     otherwise						W = Wc + Wai
 *     once per round trip, Wc = W
 *   rate W / T
 *
 * The paper's constants are eta 95 %, five stages, and Wai = (1 - eta) * W at the start / N for N
 * flows; N is 8 here. T is the round trip without queues: the knob ccc_base_rtt, or else the
 * shortest one. The window starts with B * T of the host's link, and never exceeds it.
 *
 * The paper's packets carry all hops. A stamp has room for one (<net/roce_stamp.h>), the worst,
 * from which the paper would take u. Reports of two hops that alternate are kept apart. Two reports
 * of a hop that are far apart tell nothing: its counts have wrapped, or may have.
 *
 * Without reports, because no switch stamps packets or the peer does not read stamps, the window
 * grows by a packet per round trip, and a CNP halves it. A loss halves it in any case.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

#define DCQCN_HPCC_ONE		1048576U	/* U of a fully used link: 2^20 */
#define DCQCN_HPCC_ETA		996147U		/* 0.95 of it */
#define DCQCN_HPCC_STAGES	5
#define DCQCN_HPCC_FLOWS	8
#define DCQCN_HPCC_INITIAL	16800U		/* bytes, while no round trip is known */
#define DCQCN_HPCC_WINDOW_MAX	268435456U	/* bytes; 5 ms at 400 Gb/s */
#define DCQCN_HPCC_RTT_MAX	1073741824U	/* ns; longer ones count as this */
#define DCQCN_HPCC_SILENT	16		/* round trips without a report */

/**
 * struct dcqcn_hpcc - what HPCC keeps of a flow
 * @told_time: ns; last report of a switch, 0 for never
 * @cut_time: ns; the last halving
 * @hops: the two hops reported last, the latest first
 * @hop_times: ns; when they were reported
 * @u: U, in 1/DCQCN_HPCC_ONE
 * @w: W, bytes
 * @wc: Wc, bytes
 * @until: bytes to be acknowledged until Wc changes
 * @stage: increases in a row
 * @knows: a round trip is known, and the window has begun with that of the path
 */
struct dcqcn_hpcc {
	u64 told_time;
	u64 cut_time;
	struct dcqcn_cc_hop hops[2];
	u64 hop_times[2];
	u32 u;
	u32 w;
	u32 wc;
	u32 until;
	u8 stage;
	bool knows;
};

static u32 dcqcn_hpcc_base(const struct dcqcn_cc *cc)
{
	return min(cc->rtt_base ?: cc->rtt_min, DCQCN_HPCC_RTT_MAX);
}

/* Bytes that the host's link carries in T. 2^52 * 2^30 would overflow, so the line rate is in units
 * of 1024 bit/s, and at most 2^43 bit/s.
 */
static u32 dcqcn_hpcc_most(const struct dcqcn_cc *cc, u32 base)
{
	u64 bytes = div_u64(min_t(u64, cc->line >> 10, 1ULL << 33) * base, NSEC_PER_SEC / 128);

	return clamp_t(u64, bytes, cc->packet, max(DCQCN_HPCC_WINDOW_MAX, cc->packet));
}

/* As in the paper's simulator, a packet may leave while less than W is in flight. This matters if W
 * is a few packets.
 */
static void dcqcn_hpcc_set(struct dcqcn_cc *cc, u64 w)
{
	struct dcqcn_hpcc *h = dcqcn_cc_private(cc);
	u32 base = dcqcn_hpcc_base(cc);
	u32 most = base ? dcqcn_hpcc_most(cc, base) : max(DCQCN_HPCC_INITIAL, cc->packet);

	h->w = clamp_t(u64, w, cc->packet, most);
	cc->window = h->w + cc->packet - 1;
	cc->rate = base ? div_u64((u64)h->w * 8 * NSEC_PER_SEC, base) : cc->line;
}

static void dcqcn_hpcc_init(struct dcqcn_cc *cc)
{
	struct dcqcn_hpcc *h = dcqcn_cc_private(cc);

	BUILD_BUG_ON(sizeof(*h) > DCQCN_CC_PRIVATE);
	dcqcn_hpcc_set(cc, DCQCN_HPCC_WINDOW_MAX);
	h->wc = h->w;
	h->knows = dcqcn_hpcc_base(cc);
}

/* Bytes as a share of what a link carries in @ns. 2^28 * 2^13 * 2^20 do not overflow. */
static u64 dcqcn_hpcc_share(u32 bytes, u32 mbps, u32 ns)
{
	return div64_u64(min(bytes, DCQCN_HPCC_WINDOW_MAX) * 8000ULL * DCQCN_HPCC_ONE,
			 max((u64)mbps * ns, 1ULL));
}

/* Learn from a hop's report. Return whether the hop was reported before, and not long ago: what it
 * can send meanwhile must be below DCQCN_HPCC_WINDOW_MAX.
 */
static bool dcqcn_hpcc_measure(struct dcqcn_hpcc *h, const struct dcqcn_cc_hop *hop, u32 base,
			       u64 now)
{
	struct dcqcn_cc_hop then = h->hops[0];
	u64 then_time = h->hop_times[0], u;
	u32 elapsed, tau;

	if (then.number != hop->number || !then.mbps) {
		then = h->hops[1];
		then_time = h->hop_times[1];
		h->hops[1] = h->hops[0];
		h->hop_times[1] = h->hop_times[0];
	}
	h->hops[0] = *hop;
	h->hop_times[0] = now;
	elapsed = hop->time - then.time;
	if (then.number != hop->number || !then.mbps || !elapsed || elapsed >> 31 ||
	    (now - then_time) >> 31 ||
	    (u64)hop->mbps * elapsed > DCQCN_HPCC_WINDOW_MAX * 8000ULL)
		return false;
	u = dcqcn_hpcc_share(min(hop->queue, then.queue), hop->mbps, base) +
	    dcqcn_hpcc_share(hop->sent - then.sent, hop->mbps, elapsed);
	tau = min(elapsed, base);
	u = div_u64((u64)h->u * (base - tau) + min_t(u64, u, U32_MAX) * tau, base);
	h->u = max_t(u64, u, 1);
	return true;
}

/* Compute the window from the utilisation of the link */
static void dcqcn_hpcc_adjust(struct dcqcn_cc *cc, struct dcqcn_hpcc *h, u32 base)
{
	bool use = h->u >= DCQCN_HPCC_ETA || h->stage >= DCQCN_HPCC_STAGES;
	u64 w = h->wc;

	if (use)
		w = div_u64(w * DCQCN_HPCC_ETA, h->u);
	w += max(dcqcn_hpcc_most(cc, base) / (20 * DCQCN_HPCC_FLOWS), 1U);
	dcqcn_hpcc_set(cc, w);
	if (h->until)
		return;
	h->wc = h->w;
	h->stage = use ? 0 : h->stage + 1;
	h->until = max(cc->in_flight, 1U);
}

static void dcqcn_hpcc_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	struct dcqcn_hpcc *h = dcqcn_cc_private(cc);
	u32 base = dcqcn_hpcc_base(cc);

	if (!base)
		return;
	if (!h->knows) {
		h->knows = true;
		h->wc = dcqcn_hpcc_most(cc, base);
		dcqcn_hpcc_set(cc, h->wc);
	}
	h->until -= min(sample->delivered, h->until);
	if (sample->hop.mbps) {
		h->told_time = cc->now;
		if (dcqcn_hpcc_measure(h, &sample->hop, base, cc->now))
			dcqcn_hpcc_adjust(cc, h, base);
	} else if (!h->told_time || cc->now - h->told_time > (u64)DCQCN_HPCC_SILENT * base) {
		if (sample->app_limited)
			return;
		h->told_time = 0;
		dcqcn_hpcc_set(cc, h->w + div_u64((u64)cc->packet * sample->delivered, h->w));
		h->wc = h->w;
	}
}

static void dcqcn_hpcc_halve(struct dcqcn_cc *cc)
{
	struct dcqcn_hpcc *h = dcqcn_cc_private(cc);

	if (h->cut_time && cc->now - h->cut_time < cc->rtt)
		return;
	h->cut_time = cc->now;
	dcqcn_hpcc_set(cc, h->w / 2);
	h->wc = h->w;
}

static void dcqcn_hpcc_cnp(struct dcqcn_cc *cc)
{
	struct dcqcn_hpcc *h = dcqcn_cc_private(cc);

	if (!h->told_time)
		dcqcn_hpcc_halve(cc);
}

const struct dcqcn_cc_ops dcqcn_hpcc = {
	.name = "hpcc",
	.flags = DCQCN_CC_NEEDS_ACKS | DCQCN_CC_WANTS_HOPS,
	.init = dcqcn_hpcc_init,
	.ack = dcqcn_hpcc_ack,
	.cnp = dcqcn_hpcc_cnp,
	.loss = dcqcn_hpcc_halve,
};
