// SPDX-License-Identifier: GPL-2.0
/* The port's arithmetic, compared with figures that were worked out by hand. */
#include <linux/kernel.h>
#include <linux/time64.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "curve.h"
#include "drr.h"
#include "ets.h"
#include "flows.h"
#include "hop.h"
#include "pause.h"
#include "pfc.h"
#include "prio.h"
#include "random.h"
#include "settings.h"
#include "tap.h"
#include "wire.h"

static const struct dcbport_curve paper = {
	.kmin = 5000, .kmax = 200000, .pmax = DCBPORT_PMAX_ONE / 100
};

/* --- the curve ------------------------------------------------------------ */

static void test_curve_chance(void)
{
	static const struct dcbport_curve step = { 1000, 1000, DCBPORT_PMAX_ONE };
	static const struct dcbport_curve off = { .kmin = 5000, .pmax = 1 };
	static const struct dcbport_curve wide = { 0, U32_MAX, DCBPORT_PMAX_ONE };

	expect(dcbport_curve_chance(&paper, 0) == 0, "an empty queue");
	expect(dcbport_curve_chance(&paper, 5000) == 0, "Kmin");
	expect(dcbport_curve_chance(&paper, 102500) == DCBPORT_PMAX_ONE / 200,
	       "half-way: %u", dcbport_curve_chance(&paper, 102500));
	expect(dcbport_curve_chance(&paper, 200000) == DCBPORT_PMAX_ONE / 100,
	       "Kmax");
	expect(dcbport_curve_chance(&paper, 200001) == DCBPORT_PMAX_ONE,
	       "above Kmax");
	expect(dcbport_curve_chance(&step, 1000) == 0 &&
	       dcbport_curve_chance(&step, 1001) == DCBPORT_PMAX_ONE, "a step");
	expect(dcbport_curve_chance(&off, U32_MAX) == 0, "no marks at all");
	expect(dcbport_curve_chance(&wide, U32_MAX) == DCBPORT_PMAX_ONE,
	       "the widest curve");
}

/* 500 of 100,000 are expected; 67 are three standard deviations */
static bool marks_at(u32 queue, u32 draw)
{
	return dcbport_curve_marks(dcbport_curve_chance(&paper, queue), draw);
}

static void test_curve_share(void)
{
	int marks = 0, all = 0, none = 0;

	expect(!dcbport_curve_marks(0, 0), "marked by chance 0");
	expect(dcbport_curve_marks(DCBPORT_PMAX_ONE / 2, 0x7fffffff) &&
	       !dcbport_curve_marks(DCBPORT_PMAX_ONE / 2, 0x80000000), "more or less than half");
	expect(dcbport_curve_marks(DCBPORT_PMAX_ONE, 0xffffffff), "not marked by chance 1");
	for (int i = 0; i < 100000; i++) {
		u32 draw = random_u64();

		marks += marks_at(102500, draw);
		all += marks_at(200001, draw);
		none += marks_at(5000, draw);
	}
	expect(abs(marks - 500) <= 67, "%d marks of 100000, not 500", marks);
	expect(all == 100000, "%d marks above Kmax", all);
	expect(none == 0, "%d marks at Kmin", none);
	expect(marks_at(200001, U32_MAX), "the largest draw");
}

/* --- flows ---------------------------------------------------------------- */

struct queued {
	u32 flow;
	u16 at;
};

/* Compared with a count of each flow's packets, with up to twice as many flows as places,
 * and keys that often share a list
 */
static void test_flows_count(void)
{
	enum { QUEUE = 6000, FLOWS = 2 * DCBPORT_FLOWS, STEPS = 1000000 };
	static struct dcbport_flows flows;
	static struct queued queue[QUEUE];
	static u32 packets[FLOWS];
	u32 held = 0, counted = 0, uncounted = 0, full = 0;

	memset(packets, 0, sizeof(packets));
	dcbport_flows_setup(&flows);
	for (int step = 0; step < STEPS || held; step++) {
		/* few flows, then more than there are places, and few again */
		u32 few = step / (STEPS / 5) % 2 ? FLOWS : 20;

		if (step < STEPS && held < QUEUE && !random_one_in(3)) {
			u32 flow = random_below(few);
			u16 at = dcbport_flows_add(&flows, (u64)flow << 8);

			queue[held++] = (struct queued){ flow, at };
			if (at == DCBPORT_NO_FLOW) {
				expect(!packets[flow] && counted == DCBPORT_FLOWS,
				       "no place for flow %u with %u", flow,
				       counted);
				uncounted++;
				full++;
			} else {
				counted += !packets[flow]++;
			}
		} else if (held) {
			u32 n = random_below(held);
			struct queued q = queue[n];

			queue[n] = queue[--held];
			if (q.at == DCBPORT_NO_FLOW) {
				uncounted--;
			} else {
				dcbport_flows_remove(&flows, q.at);
				counted -= !--packets[q.flow];
			}
		}
		if (!expect(flows.count == counted, "%u flows, not %u, in step %d",
			    flows.count, counted, step))
			return;
	}
	expect(!uncounted && !flows.count, "%u flows are left", flows.count);
	expect(full > 1000, "only %u found no place", full);
}

static void test_flows_chance(void)
{
	static const struct dcbport_flow_bounds none, both = { 4, 10 };
	static const struct dcbport_flow_bounds least = { 4, 0 };
	const u32 p = DCBPORT_PMAX_ONE / 100;

	for (u32 n = 1; n < 20; n++) {
		u32 wanted = n < 4 ? 0 : n > 10 ? p * 3 / 2 : p;

		expect(dcbport_flows_chance(&none, p, n, true) == p, "no bounds");
		expect(dcbport_flows_chance(&both, p, n, true) == wanted,
		       "%u flows", n);
		expect(dcbport_flows_chance(&least, p, n, true) ==
		       (n < 4 ? 0 : p), "%u flows, no upper bound", n);
		expect(dcbport_flows_chance(&both, p, n, false) ==
		       (wanted ?: p), "%u flows and others", n);
	}
	expect(dcbport_flows_chance(&both, DCBPORT_PMAX_ONE, 11, true) ==
	       DCBPORT_PMAX_ONE, "not above 1");
}

/* --- turns ---------------------------------------------------------------- */

static const u32 jumbo = 4178;

/* Bytes that each class sends when all are backlogged with frames of any length */
static void drr_run(struct dcbport_drr *drr, u8 ready, int n, u64 *bytes)
{
	u32 len[DCBPORT_PRIOS];

	for (int i = 0; i < DCBPORT_PRIOS; i++)
		len[i] = random_in(60, jumbo);
	while (n--) {
		int prio = dcbport_drr_pick(drr, ready, len);

		if (!expect(prio >= 0 && ready & 1 << prio, "class %d of %#x",
			    prio, ready))
			return;
		bytes[prio] += len[prio];
		dcbport_drr_sent(drr, prio, len[prio], false);
		len[prio] = random_in(60, jumbo);
	}
}

static void check_shares(const struct dcbport_drr *drr, u8 ready,
			 const u64 *bytes)
{
	u64 sum = 0, weights = 0;

	for (int i = 0; i < DCBPORT_PRIOS; i++) {
		sum += bytes[i];
		weights += ready & 1 << i ? drr->weight[i] : 0;
	}
	for (int i = 0; i < DCBPORT_PRIOS; i++) {
		double share = (double)bytes[i] / sum;
		double wanted = ready & 1 << i ? (double)drr->weight[i] / weights : 0;

		expect(fabs(share - wanted) < 0.01, "class %d of %#x: %.4f, not %.4f",
		       i, ready, share, wanted);
	}
}

static void test_drr_shares(void)
{
	static const u8 weights[][DCBPORT_PRIOS] = {
		{ 60, 30, 10, 1, 1, 1, 1, 1 },
		{ 1, 1, 1, 1, 1, 1, 1, 1 },
		{ 100, 1, 50, 2, 25, 3, 12, 4 },
	};

	for (size_t w = 0; w < 3; w++) {
		for (int ready = 1; ready < 256; ready += 6) {
			struct dcbport_drr drr = {};
			u64 bytes[DCBPORT_PRIOS] = {};

			memcpy(drr.weight, weights[w], sizeof(drr.weight));
			drr_run(&drr, ready, 20000, bytes);
			check_shares(&drr, ready, bytes);
		}
	}
}

/* A class that was paused gets neither more nor less than its share afterwards */
static void test_drr_paused(void)
{
	struct dcbport_drr drr = { .weight = { 60, 30, 10, 1, 1, 1, 1, 1 } };
	u64 before[DCBPORT_PRIOS] = {}, without[DCBPORT_PRIOS] = {};
	u64 after[DCBPORT_PRIOS] = {};

	drr_run(&drr, 7, 20000, before);
	check_shares(&drr, 7, before);
	drr_run(&drr, 6, 20000, without);
	check_shares(&drr, 6, without);
	drr_run(&drr, 7, 20000, after);
	check_shares(&drr, 7, after);
}

/* No class gets a turn before it is due: a class that has saved enough bytes comes first */
static void test_drr_turns(void)
{
	for (int run = 0; run < 100; run++) {
		struct dcbport_drr drr = {};
		u32 len[DCBPORT_PRIOS];

		for (int i = 0; i < DCBPORT_PRIOS; i++) {
			drr.weight[i] = random_in(1, 100);
			len[i] = random_in(60, jumbo);
		}
		for (int n = 0; n < 1000; n++) {
			int prio = dcbport_drr_pick(&drr, 0xff, len);

			for (int i = 0; i < DCBPORT_PRIOS; i++) {
				if (!expect(i == prio || drr.deficit[i] < len[i],
					    "class %d has %u and waits with %u", i,
					    drr.deficit[i], len[i]))
					return;
			}
			dcbport_drr_sent(&drr, prio, len[prio], false);
			len[prio] = random_in(60, jumbo);
		}
	}
}

/* Pauses interrupt turns all the time, and no class saves more than a turn and a frame */
static void test_drr_interrupted(void)
{
	for (int run = 0; run < 100; run++) {
		struct dcbport_drr drr = {};
		u32 len[DCBPORT_PRIOS];

		for (int i = 0; i < DCBPORT_PRIOS; i++) {
			drr.weight[i] = random_in(1, 100);
			len[i] = random_in(60, jumbo);
		}
		for (int n = 0; n < 10000; n++) {
			int prio = dcbport_drr_pick(&drr, random_in(1, 255), len);

			if (!expect(drr.deficit[prio] < drr.weight[prio] * DCBPORT_QUANTUM + jumbo,
				    "class %d of weight %d has %u", prio, drr.weight[prio],
				    drr.deficit[prio]))
				return;
			dcbport_drr_sent(&drr, prio, len[prio], false);
			len[prio] = random_in(60, jumbo);
		}
	}
}

/* A frame of 9 KB at the smallest weight waits for its turn, but not for ever */
static void test_drr_strict(void)
{
	struct dcbport_drr drr = {
		.weight = { 1, 100, 1, 1, 1, 1, 1, 1 }, .strict = 0x60
	};
	const u32 len[DCBPORT_PRIOS] = { 9000, 60, 60, 60, 60, 60, 60, 60 };
	int waited = 0, prio;

	expect(dcbport_drr_pick(&drr, 0, len) == -1, "no class");
	expect(dcbport_drr_pick(&drr, 0xff, len) == 6, "the higher strict one");
	expect(dcbport_drr_pick(&drr, 0x3f, len) == 5, "the lower strict one");
	while ((prio = dcbport_drr_pick(&drr, 3, len)) != 0) {
		dcbport_drr_sent(&drr, prio, len[prio], false);
		if (!expect(++waited < 20000, "it waits for ever"))
			return;
	}
	/* 141 turns of 64 bytes, and as many of 6400 */
	expect(abs(waited - 141 * 6400 / 60) < 200, "it waited for %d", waited);
}

/* The short way for a class that is alone leads to the same state */
static void test_drr_alone(void)
{
	for (int run = 0; run < 10000; run++) {
		struct dcbport_drr drr = { .strict = random_below(256),
					   .turn = random_below(DCBPORT_PRIOS) };
		int prio = random_below(DCBPORT_PRIOS);
		u32 len[DCBPORT_PRIOS] = {};
		bool empty = random_one_in(2);
		struct dcbport_drr other;

		for (int i = 0; i < DCBPORT_PRIOS; i++) {
			drr.weight[i] = random_in(1, 100);
			drr.deficit[i] = random_below(drr.weight[i] * DCBPORT_QUANTUM + jumbo);
		}
		len[prio] = random_in(60, jumbo);
		other = drr;
		expect(dcbport_drr_pick(&other, 1 << prio, len) == prio, "it is alone");
		dcbport_drr_sent(&other, prio, len[prio], empty);
		dcbport_drr_send(&drr, prio, len[prio], empty);
		if (!expect(!memcmp(&drr, &other, sizeof(drr)),
			    "class %d: turn %d and deficit %u, not %d and %u", prio,
			    drr.turn, drr.deficit[prio], other.turn, other.deficit[prio]))
			return;
	}
}

/* --- the link ------------------------------------------------------------- */

static void test_wire(void)
{
	static const u64 rates[] = { 50000000, 1000000000, 40000000000, 400000000000 };

	for (size_t r = 0; r < 4; r++) {
		struct dcbport_wire wire = { .rate = rates[r], .overhead = 24 };
		u64 bits = 0;	/* below 2^33 */
		u64 begin = 12345, end = begin;

		wire.free = begin;
		for (int i = 0; i < 100000; i++) {
			u32 len = random_in(60, 9000);

			bits += (len + 24) * 8;
			end = dcbport_wire_send(&wire, end, len);
		}
		expect(end - begin == bits * 1000000000 / rates[r],
		       "100000 frames at %llu bit/s took %llu ns",
		       (unsigned long long)rates[r], (unsigned long long)(end - begin));
	}
}

/* A rate that was set by mistake must not hold the link for longer than it is set */
static void test_wire_rate(void)
{
	static const u64 rates[] = { 0, 1, 1000, 1000000000, 1000000000000 };

	for (size_t from = 0; from < 5; from++) {
		for (size_t to = 0; to < 5; to++) {
			struct dcbport_wire wire = { .rate = rates[from], .overhead = 24 };
			u64 now = 1000000000, half, left;

			left = dcbport_wire_send(&wire, now, 9976) - now;
			half = now + left / 2;
			dcbport_wire_set_rate(&wire, rates[to], half);
			left = wire.free - half;
			if (!rates[from] || !rates[to])
				expect(!left, "%llu ns are left", (unsigned long long)left);
			else
				/* one bit is half a nanosecond more than the other rounding */
				expect(fabs(left - 40000e9 / rates[to]) <= 1 + 1e9 / rates[to],
				       "%llu ns are left at %llu bit/s",
				       (unsigned long long)left, (unsigned long long)rates[to]);
			/* what has been sent has been sent */
			wire.free = now;
			dcbport_wire_set_rate(&wire, 7, now + 5);
			expect(wire.free == now && wire.rate == 7, "an idle link");
		}
	}
}

/* --- frames --------------------------------------------------------------- */

static void test_pfc_bytes(void)
{
	static const u8 wanted[DCBPORT_PFC_LEN] = {
		0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 1, 0x88, 0x08,
		0x01, 0x01, 0x00, 0x28, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0,
		0x12, 0x34, 0, 0, 0, 0
	};
	static const u8 source[6] = { 2, 0, 0, 0, 0, 1 };
	const struct dcbport_pfc pfc = {
		.enable = 0x28, .quanta = { 7, 7, 7, 0xffff, 7, 0x1234, 7, 7 }
	};
	u8 frame[DCBPORT_PFC_LEN];
	struct dcbport_pfc back;

	dcbport_pfc_build(frame, source, &pfc);
	expect(!memcmp(frame, wanted, sizeof(frame)), "bytes differ");
	expect(dcbport_pfc_parse(frame + 14, sizeof(frame) - 14, &back), "it is one");
	expect(back.enable == 0x28 && back.quanta[3] == 0xffff &&
	       back.quanta[5] == 0x1234 && !back.quanta[0], "what it says");
}

/* 512 bit times each */
static void test_pfc_nsec(void)
{
	expect(dcbport_pfc_nsec(0xffff, 1000000000) == 33553920, "1 Gb/s");
	expect(dcbport_pfc_nsec(0xffff, 40000000000) == 838848, "40 Gb/s");
	expect(dcbport_pfc_nsec(0xffff, 100000000000) == 335539, "100 Gb/s");
	expect(dcbport_pfc_nsec(0xffff, 400000000000) == 83884, "400 Gb/s");
	expect(dcbport_pfc_nsec(0, 1) == 0, "none");
	expect(dcbport_pfc_nsec(0xffff, 1) == 33553920000000000ULL, "1 bit/s");
}

/* Random bytes of random length, in a buffer of exactly that length */
static void test_pfc_fuzz(void)
{
	const char *arg = getenv("CASES");
	u64 cases = arg ? strtoull(arg, NULL, 0) : 2000000, taken = 0;

	for (u64 n = 0; n < cases; n++) {
		size_t len = random_below(64);
		u8 *data = malloc(len);
		struct dcbport_pfc pfc;
		bool ok;

		for (size_t i = 0; i < len; i++)
			data[i] = random_u64();
		if (len >= 2 && !random_one_in(8))
			data[0] = data[1] = 1;
		ok = dcbport_pfc_parse(data, len, &pfc);
		if (!expect(ok == (len >= 20 && data[0] == 1 && data[1] == 1),
			    "a frame of %zu bytes", len))
			n = cases;
		for (int prio = 0; ok && prio < 8; prio++) {
			u16 timer = data[4 + 2 * prio] << 8 | data[5 + 2 * prio];

			expect(pfc.quanta[prio] ==
			       (data[3] & 1 << prio ? timer : 0), "a timer");
		}
		taken += ok;
		free(data);
	}
	expect(taken > cases / 4, "%llu frames were taken",
	       (unsigned long long)taken);
	tap_note("%llu cases, %llu of them frames", (unsigned long long)cases,
		 (unsigned long long)taken);
}

/* --- the buffer ----------------------------------------------------------- */

#define PORTS	16

static int shared, given;	/* how often the short ways were gone */

static void expect_same(const struct dcbport_account *a, const struct dcbport_pool *pool,
			const struct dcbport_account *b, const struct dcbport_pool *other)
{
	expect(a->reserve == b->reserve && a->shared == b->shared &&
	       a->headroom == b->headroom && a->most == b->most &&
	       a->headroom_most == b->headroom_most && a->paused == b->paused &&
	       pool->used == other->used, "the short way leads elsewhere");
}

/* Charge as the switch does, and check that the short way has the same result */
static bool charge(struct dcbport_account *a, struct dcbport_pool *pool,
		   const struct dcbport_thresholds *th, u32 len)
{
	struct dcbport_account b = *a;
	struct dcbport_pool other = *pool;

	if (!dcbport_account_shares(a, pool, th, len)) {
		expect_same(a, pool, &b, &other);
		return dcbport_account_charge(a, pool, th, len);
	}
	pool->used += len;
	shared++;
	expect(dcbport_account_charge(&b, &other, th, len), "it fits both ways");
	expect_same(a, pool, &b, &other);
	return true;
}

static void release(struct dcbport_account *a, struct dcbport_pool *pool,
		    const struct dcbport_thresholds *th, u32 len)
{
	struct dcbport_account b = *a;
	struct dcbport_pool other = *pool;

	dcbport_account_release(&b, &other, th, len);
	if (dcbport_account_gives(a, len)) {
		pool->used -= len;
		given++;
	}	else
		dcbport_account_release(a, pool, th, len);
	expect_same(a, pool, &b, &other);
}

/* alpha * B / (1 + alpha * n): B = 12 MB, alpha = 1/8 */
static void test_dynamic_threshold(void)
{
	static const int ports[] = { 1, 4, 8, 16 };
	static const u32 wanted[] = { 1333333, 1000000, 750000, 500000 };
	static const struct dcbport_thresholds th = {
		.headroom = 10000, .alpha = DCBPORT_ALPHA_ONE / 8
	};

	for (size_t i = 0; i < 4; i++) {
		struct dcbport_pool pool = { .size = 12000000 };
		struct dcbport_account account[PORTS] = {};
		int paused = 0;

		/* each continues until it is told to pause */
		while (paused < ports[i]) {
			paused = 0;
			for (int p = 0; p < ports[i]; p++) {
				if (account[p].paused)
					paused++;
				else
					charge(&account[p], &pool, &th, 1000);
			}
		}
		for (int p = 0; p < ports[i]; p++)
			expect(abs((int)account[p].shared - (int)wanted[i]) <= 2000,
			       "%d ports: %u bytes, not %u", ports[i],
			       account[p].shared, wanted[i]);
	}
}

static void test_static_threshold(void)
{
	static const struct dcbport_thresholds th = {
		.reserve = 2000, .xoff = 60000, .xon = 40000, .headroom = 10000
	};
	struct dcbport_pool pool = { .size = 100000 };
	struct dcbport_account a = {};
	int n = 0;

	for (; !a.paused; n++)
		expect(charge(&a, &pool, &th, 1000), "it fits");
	expect(n == 60, "paused after %d KB", n);
	while (charge(&a, &pool, &th, 1000))
		n++;
	expect(n == 70 && a.headroom == 10000 && a.reserve == 2000 &&
	       a.shared == 58000 && pool.used == 58000, "full with %d KB", n);
	for (; a.paused; n--)
		release(&a, &pool, &th, 1000);
	expect(n == 40 && !a.headroom, "goes on with %d KB", n);
	for (; n; n--)
		release(&a, &pool, &th, 1000);
	expect(!dcbport_account_bytes(&a) && !pool.used && a.most == 70000 &&
	       a.headroom_most == 10000, "empty");
}

/* To the byte: what a headroom takes, and when an account goes on: below its threshold by
 * the offset, and never while something is in its headroom, which the pool may outgrow
 */
static void test_account_exact(void)
{
	struct dcbport_thresholds th = { .xoff = 10000, .xon = 5000, .headroom = 3000 };
	static const struct dcbport_thresholds by_pool = { .xon_offset = 3072, .headroom = 3000 };
	struct dcbport_pool pool = { .size = 100000 };
	struct dcbport_account a = {}, b = {};

	charge(&a, &pool, &th, 10000);
	expect(charge(&a, &pool, &th, 3000) && !charge(&a, &pool, &th, 1),
	       "a headroom of 3000 bytes takes %u", a.headroom);
	release(&a, &pool, &th, 13000);

	charge(&a, &pool, &by_pool, 100000);
	expect(a.paused, "an account with all of the pool is not paused");
	release(&a, &pool, &by_pool, by_pool.xon_offset - 1);
	expect(a.paused, "goes on %u bytes below the threshold", by_pool.xon_offset - 1);
	release(&a, &pool, &by_pool, 1);
	expect(!a.paused, "does not go on %u bytes below the threshold", by_pool.xon_offset);

	charge(&a, &pool, &by_pool, by_pool.xon_offset);
	charge(&b, &pool, &by_pool, 2000);
	release(&a, &pool, &by_pool, 100000);
	expect(b.headroom == 2000 && b.paused, "%u bytes in the headroom of a full pool", b.headroom);
	release(&b, &pool, &by_pool, 1999);
	expect(b.paused, "goes on with a byte in its headroom");
	release(&b, &pool, &by_pool, 1);
	expect(!b.paused, "does not go on when it is empty");
}

/* Fill an account, and take a packet out and put one in, as at a full port. Return the
 * transitions of its pause.
 */
static int account_swings(const struct dcbport_thresholds *th,
			  struct dcbport_pool pool, int packets)
{
	struct dcbport_account a = {};
	int swings = 0;
	bool before = false;

	while (packets--) {
		if (!a.paused)
			charge(&a, &pool, th, 1000);
		swings += a.paused != before;
		before = a.paused;
		if (packets % 2)
			release(&a, &pool, th, 1000);
		swings += a.paused != before;
		before = a.paused;
	}
	return swings;
}

/* alpha's bound of 1/9 of the pool is below xON: the pause must not end right below it */
static void test_account_offset(void)
{
	const struct dcbport_pool pool = { .size = 450000 };
	struct dcbport_thresholds th = {
		.xoff = 100000, .xon = 90000, .headroom = 10000, .alpha = DCBPORT_ALPHA_ONE / 8
	};
	int none = account_swings(&th, pool, 50000), some, high;

	th.xon_offset = 20000;
	some = account_swings(&th, pool, 50000);
	th.xoff = th.xon = 0;
	high = account_swings(&th, pool, 50000);
	expect(none > 20000, "without an offset: %d transitions", none);
	expect(some > 100 && some < none / 10, "with one: %d transitions", some);
	expect(high == some, "without xOFF: %d, not %d", high, some);
}

/* Thresholds change while nothing moves */
static void test_account_review(void)
{
	struct dcbport_thresholds th = { .xoff = 60000, .xon = 40000, .headroom = 10000 };
	struct dcbport_pool pool = { .size = 1000000 };
	struct dcbport_account a = {};

	while (!a.paused)
		charge(&a, &pool, &th, 1000);
	dcbport_account_review(&a, &pool, &th);
	expect(a.paused, "nothing has changed");
	th.xoff = 70000;
	dcbport_account_review(&a, &pool, &th);
	expect(a.paused, "above xON");
	th.xon = 60000;
	dcbport_account_review(&a, &pool, &th);
	expect(!a.paused, "at the new xON");
	th.xoff = th.xon = 50000;
	dcbport_account_review(&a, &pool, &th);
	expect(a.paused, "above the new xOFF");
	th.xoff = th.xon = 0;
	dcbport_account_review(&a, &pool, &th);
	expect(!a.paused, "no xOFF");
	pool.size = 50000;
	dcbport_account_review(&a, &pool, &th);
	expect(a.paused, "a smaller pool");
	while (charge(&a, &pool, &th, 1000))
		;
	expect(a.headroom == 10000, "its headroom is full");
	pool.size = 1000000;
	dcbport_account_review(&a, &pool, &th);
	expect(!a.paused && !a.headroom && pool.used == a.shared,
	       "the pool takes what is in the headroom");
	while (dcbport_account_bytes(&a))
		release(&a, &pool, &th, 1000);
	expect(!pool.used, "and gets it back");
	pool.size = 0;
	dcbport_account_review(&a, &pool, &th);
	expect(!a.paused, "an empty account pauses");
}

/* A packet that does not fit pauses the sender, if its account holds others */
static void test_account_small_headroom(void)
{
	struct dcbport_thresholds th = { .xoff = 60000, .xon = 40000, .headroom = 500 };
	static const struct dcbport_thresholds lossy;
	struct dcbport_pool pool = { .size = 1000000 };
	struct dcbport_account a = {};
	int n = 0;

	while (n < 100 && charge(&a, &pool, &th, 1082))
		n++;
	expect(n == 55 && a.paused, "paused %d with %d packets", a.paused, n);
	for (; n && a.paused; n--)
		release(&a, &pool, &th, 1082);
	expect(n == 36, "goes on with %d", n);
	for (; n; n--)
		release(&a, &pool, &th, 1082);
	/* nothing would end this pause */
	th.xoff = th.xon = 500;
	expect(!charge(&a, &pool, &th, 1082) && !a.paused, "an empty account pauses");
	pool.size = 1500;
	expect(charge(&a, &pool, &lossy, 1082) && !charge(&a, &pool, &lossy, 1082) && !a.paused,
	       "an account without PFC pauses");
}

struct packet {
	int account;
	u32 len;
};

/* Bounds always hold, and nothing is left in the end, in any order of packets */
static void test_account_bounds(void)
{
	enum { HELD = 500, STEPS = 200000 };
	static struct packet held[HELD];
	struct dcbport_pool pool = { .size = 300000 };
	struct dcbport_account a[PORTS] = {};
	struct dcbport_thresholds th[PORTS];
	int n = 0, lost = 0;

	for (int i = 0; i < PORTS; i++) {
		th[i] = (struct dcbport_thresholds){
			.reserve = random_below(5000),
			.xoff = random_one_in(2) ? random_in(5000, 60000) : 0,
			.headroom = random_below(20000),
			/* each its own, or none */
			.alpha = random_one_in(4) ? 0 : DCBPORT_ALPHA_ONE / random_in(1, 8),
		};
		th[i].xon = th[i].xoff ? random_below(th[i].xoff) : 0;
	}
	for (int step = 0; step < STEPS || n; step++) {
		int i = random_below(PORTS);
		u32 len = random_in(60, 9000);
		u64 used = 0;

		if (step < STEPS && n < HELD && !random_one_in(2)) {
			if (charge(&a[i], &pool, &th[i], len))
				held[n++] = (struct packet){ i, len };
			else
				lost++;
		} else if (n) {
			int at = random_below(n);

			i = held[at].account;
			release(&a[i], &pool, &th[i], held[at].len);
			held[at] = held[--n];
		}
		for (int p = 0; p < PORTS; p++)
			used += a[p].shared;
		if (!expect(a[i].reserve <= th[i].reserve &&
			    a[i].headroom <= th[i].headroom &&
			    (!th[i].xoff || dcbport_account_bytes(&a[i]) <=
			     (u64)th[i].xoff + th[i].headroom) &&
			    used == pool.used && pool.used <= pool.size,
			    "bounds in step %d", step))
			return;
		if (!dcbport_account_bytes(&a[i]))
			expect(!a[i].paused, "an empty account pauses");
	}
	expect(!pool.used, "%llu bytes are left", (unsigned long long)pool.used);
	expect(lost > 100, "only %d were lost", lost);
	expect(shared > 1000 && given > 1000, "the short ways were gone %d and %d times",
	       shared, given);
}

/* An account counts in 32 bits, even if its pool and its thresholds allow more */
static void test_account_most(void)
{
	static const struct dcbport_thresholds th = {
		.reserve = 1U << 31, .headroom = 1U << 31,
	};
	struct dcbport_pool pool = { .size = 1ULL << 40 };
	struct dcbport_account a = {};
	int taken = 0;

	while (taken < 100 && charge(&a, &pool, &th, 1U << 30))
		taken++;
	expect(taken == 3, "%d GiB were taken", taken);
	expect(dcbport_account_bytes(&a) == 3U << 30, "and are held");
	while (taken--)
		release(&a, &pool, &th, 1U << 30);
	expect(!pool.used && !dcbport_account_bytes(&a) && !a.paused,
	       "nothing is left");
}

/* --- priorities ----------------------------------------------------------- */

static void check_map(const struct dcbport_prio_rules *rules, const u8 *wanted,
		      const char *what)
{
	struct dcbport_prio_map map;

	dcbport_prio_map(rules, &map);
	for (int i = 0; i < DCBPORT_DSCPS; i++)
		expect(map.dscp[i] == wanted[i], "%s: DSCP %d has %d, not %d",
		       what, i, map.dscp[i], wanted[i]);
	for (int i = 0; i < DCBPORT_PCPS; i++)
		expect(map.pcp[i] == DCBPORT_NO_PRIO, "%s: PCP %d has %d",
		       what, i, map.pcp[i]);
	expect(map.other == wanted[DCBPORT_DSCPS], "%s: what is not IP has %d",
	       what, map.other);
}

static void test_dscp(void)
{
	struct dcbport_prio_rules rules = { .trust = DCBPORT_TRUST_DSCP };
	u8 wanted[DCBPORT_DSCPS + 1];

	for (int i = 0; i < DCBPORT_DSCPS; i++)
		wanted[i] = i / 8;
	wanted[DCBPORT_DSCPS] = 0;
	check_map(&rules, wanted, "no entries");
	wanted[DCBPORT_DSCPS] = 4;
	rules.other = 0x11;
	check_map(&rules, wanted, "a default alone");
	memset(wanted, DCBPORT_NO_PRIO, DCBPORT_DSCPS);
	wanted[0] = 0;
	wanted[26] = 7;
	wanted[63] = 5;
	rules.dscp[0] = 1;
	rules.dscp[26] = 0x89;
	rules.dscp[63] = 0x20;
	check_map(&rules, wanted, "entries");
	rules.trust = DCBPORT_TRUST_NONE;
	memset(wanted, DCBPORT_NO_PRIO, DCBPORT_DSCPS);
	check_map(&rules, wanted, "not trusted");
}

static void test_pcp(void)
{
	struct dcbport_prio_rules rules = { .trust = DCBPORT_TRUST_PCP };
	struct dcbport_prio_map map;

	dcbport_prio_map(&rules, &map);
	for (int i = 0; i < DCBPORT_PCPS; i++)
		expect(map.pcp[i] == i % 8, "PCP %d has %d", i, map.pcp[i]);
	expect(map.dscp[46] == DCBPORT_NO_PRIO, "DSCP 46 has %d", map.dscp[46]);
	rules.pcp[3] = 0x24;
	rules.pcp[11] = 1;
	dcbport_prio_map(&rules, &map);
	for (int i = 0; i < DCBPORT_PCPS; i++) {
		u8 wanted = i == 3 ? 5 : i == 11 ? 0 : DCBPORT_NO_PRIO;

		expect(map.pcp[i] == wanted, "with entries PCP %d has %d", i,
		       map.pcp[i]);
	}
	expect(!map.pcp_first, "PCP is first where the DSCP does not count");
	rules.trust = DCBPORT_TRUST_DSCP_PCP;
	dcbport_prio_map(&rules, &map);
	expect(map.pcp[3] == 5 && map.dscp[26] == 3 && !map.pcp_first,
	       "DSCP before PCP");
	rules.trust = DCBPORT_TRUST_PCP_DSCP;
	dcbport_prio_map(&rules, &map);
	expect(map.pcp[3] == 5 && map.dscp[26] == 3 && map.pcp_first,
	       "PCP before DSCP");
}

/* The least of 64 timers in a row, and never more than 100 us */
static void test_grain(void)
{
	struct dcbport_grain grain = {};

	for (int i = 0; i < 63; i++)
		dcbport_grain_learn(&grain, 2000 + i);
	expect(!grain.ns, "%u ns after 63 timers", grain.ns);
	dcbport_grain_learn(&grain, 1500);
	expect(grain.ns == 1500, "%u ns, not 1500", grain.ns);
	for (int i = 0; i < 64; i++)
		dcbport_grain_learn(&grain, i == 30 ? 0 : 2000);
	expect(!grain.ns, "%u ns, though one timer was exact", grain.ns);
	for (int i = 0; i < 64; i++)
		dcbport_grain_learn(&grain, 1ULL << 40);
	expect(grain.ns == 100000, "%u ns, not 100 us", grain.ns);
}

static void test_pause_forget(void)
{
	struct dcbport_pfc pfc = { .enable = 9, .quanta = { 1000, 0, 0, 1000 } };
	struct dcbport_pause_count count;
	struct dcbport_pause p = {};

	dcbport_pause_setup(&p);
	dcbport_pause_set(&p, 9, 1000000000, 0);
	dcbport_pause_hear(&p, &pfc, 1000);
	expect(dcbport_pause_last(&p) == 513000, "paused");
	dcbport_pause_forget(&p, 2000);
	expect(dcbport_pause_last(&p) <= 2000 && dcbport_pause_until(&p, 0) <= 2000 &&
	       dcbport_pause_until(&p, 3) <= 2000, "forgotten");
	dcbport_pause_read(&p, 3, &count, 10000);
	expect(count.paused == 1000 && count.transitions == 1 && count.frames == 1 &&
	       !count.resumes, "counted: %llu ns", (unsigned long long)count.paused);
	pfc.quanta[3] = 0;
	dcbport_pause_hear(&p, &pfc, 3000);
	dcbport_pause_read(&p, 3, &count, 10000);
	expect(count.frames == 1 && count.resumes == 1, "frames and resumes");
}

/* A port that replaces another one goes on with its pauses, but for those of which it heard more */
static void test_pause_inherit(void)
{
	struct dcbport_pfc pfc = { .enable = 9, .quanta = { 1000, 0, 0, 1000 } };
	struct dcbport_pause old = {}, heir = {}, none = {};
	struct dcbport_pause_count count;

	dcbport_pause_setup(&old);
	dcbport_pause_setup(&heir);
	dcbport_pause_set(&old, 9, 1000000000, 0);
	dcbport_pause_set(&heir, 9, 1000000000, 0);
	dcbport_pause_hear(&old, &pfc, 1000);
	pfc = (struct dcbport_pfc) { .enable = 1 };
	dcbport_pause_hear(&heir, &pfc, 2000);
	dcbport_pause_inherit(&heir, &old, 3000);
	expect(dcbport_pause_until(&heir, 3) == 513000 && dcbport_pause_last(&heir) == 513000,
	       "until %llu ns", (unsigned long long)dcbport_pause_until(&heir, 3));
	expect(dcbport_pause_until(&heir, 0) <= 2000, "it heard that this pause is over");
	/* as from one that could not be made after all */
	dcbport_pause_inherit(&heir, &none, 3000);
	expect(dcbport_pause_until(&heir, 3) == 513000, "no pause ends another one");
	dcbport_pause_read(&heir, 3, &count, 10000);
	expect(count.paused == 7000 && count.since == 3000 && count.asked == 1000 && !count.frames,
	       "counted: %llu ns", (unsigned long long)count.paused);
}

/* --- percentages ---------------------------------------------------------- */

static void check_percent(const u8 *weight, u8 strict)
{
	u8 percent[DCBPORT_PRIOS];
	int sum = 0, all = 0;

	dcbport_ets_percent(weight, strict, percent);
	for (int i = 0; i < DCBPORT_PRIOS; i++) {
		sum += strict & 1 << i ? 0 : weight[i];
		all += percent[i];
	}
	expect(all == (sum ? 100 : 0), "%d %% together", all);
	for (int i = 0; i < DCBPORT_PRIOS; i++) {
		double share = 100.0 * weight[i] / (sum ?: 1);

		if (strict & 1 << i || !weight[i]) {
			expect(!percent[i], "%d %% of a class without part",
			       percent[i]);
			continue;
		}
		expect(percent[i] >= 1, "a class of weight %d has nothing",
		       weight[i]);
		/* up to 7 others may have been lifted to 1 %% */
		expect(fabs(percent[i] - share) < 8, "%d %% for %.2f %%",
		       percent[i], share);
		for (int j = 0; j < i; j++)
			expect(strict & 1 << j || weight[i] != weight[j] ||
			       abs(percent[i] - percent[j]) <= 1,
			       "%d and %d %% for one weight", percent[i],
			       percent[j]);
	}
}

static void test_ets(void)
{
	static const u8 even[DCBPORT_PRIOS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static const u8 exact[DCBPORT_PRIOS] = { 60, 30, 10, 9, 9, 9, 9, 9 };
	static const u8 steep[DCBPORT_PRIOS] = { 1, 100, 100, 100, 100, 100, 100, 1 };
	static const u8 some[DCBPORT_PRIOS] = { 0, 2, 1, 0, 0, 100, 0, 0 };
	u8 percent[DCBPORT_PRIOS];

	dcbport_ets_percent(exact, 0xf8, percent);
	expect(percent[0] == 60 && percent[1] == 30 && percent[2] == 10,
	       "percentages stay: %d %d %d", percent[0], percent[1], percent[2]);
	for (int strict = 0; strict < 256; strict++) {
		check_percent(even, strict);
		check_percent(steep, strict);
		check_percent(some, strict);
	}
	for (int run = 0; run < 100000; run++) {
		u8 weight[DCBPORT_PRIOS];

		for (int i = 0; i < DCBPORT_PRIOS; i++)
			weight[i] = random_one_in(3) ? 1 : random_in(1, 100);
		check_percent(weight, random_u64());
	}
}

/* --- pauses --------------------------------------------------------------- */

/* Frames, settings and dumps in any order. Each has read the clock up to @lag ns ago, because
 * others had the lock meanwhile.
 */
static void check_pauses(u64 lag)
{
	const u64 begin = 1000000000, rate = 40000000000;
	u64 now = begin, then, until = 0, paused = 0;
	struct dcbport_pause_count count;
	struct dcbport_pause p = { 0 };
	struct dcbport_pfc pfc = { .enable = 1 };
	bool enabled = true;

	dcbport_pause_setup(&p);
	dcbport_pause_set(&p, 1, rate, now);
	for (int i = 0; i < 1000; i++) {
		then = now;
		now += random_in(0, 20000);
		if (until > then)
			paused += min(now, until) - then;
		then = now - random_in(0, lag);
		if (random_one_in(4)) {
			enabled = random_in(0, 1);
			dcbport_pause_set(&p, enabled, rate, then);
			if (!enabled)
				until = now;
		} else {
			pfc.quanta[0] = random_one_in(3) ? 0 : random_in(1, 2000);
			dcbport_pause_hear(&p, &pfc, then);
			if (enabled)
				until = now + dcbport_pfc_nsec(pfc.quanta[0], rate);
		}
		dcbport_pause_read(&p, 0, &count, now - random_in(0, lag));
		if (!lag)
			expect(count.paused == paused, "paused for %llu of %llu ns",
			       (unsigned long long)count.paused, (unsigned long long)paused);
		expect(count.paused <= now - begin + lag, "paused for %llu ns in %llu",
		       (unsigned long long)count.paused, (unsigned long long)(now - begin));
	}
}

/* A pause begins and ends, and is read, with a clock from before it began */
static void test_pause_older(void)
{
	const u64 now = 1000000000, rate = 40000000000;
	struct dcbport_pause_count count;
	struct dcbport_pause p = { 0 };
	struct dcbport_pfc pfc = { .enable = 1, .quanta = { 100 } };

	dcbport_pause_setup(&p);
	dcbport_pause_set(&p, 1, rate, now);
	dcbport_pause_hear(&p, &pfc, now);
	dcbport_pause_read(&p, 0, &count, now - 1);
	expect(!count.paused && count.transitions == 1, "read: %llu ns",
	       (unsigned long long)count.paused);
	pfc.quanta[0] = 0;
	expect(dcbport_pause_hear(&p, &pfc, now - 1), "it may not send earlier");
	expect(dcbport_pause_until(&p, 0) <= now, "it is paused");
	dcbport_pause_read(&p, 0, &count, now);
	expect(!count.paused, "ended: %llu ns", (unsigned long long)count.paused);
}

/* A pause from before the rate was raised lasts no longer than the longest one at the new rate */
static void test_pause_rate(void)
{
	struct dcbport_pfc pfc = { .enable = 3, .quanta = { DCBPORT_PFC_MAX, 1 } };
	const u64 now = 1000000000, most = now + 838848;
	struct dcbport_pause_count count;
	struct dcbport_pause p = { 0 };

	dcbport_pause_setup(&p);
	dcbport_pause_set(&p, 3, 1000000, now - 1000);
	dcbport_pause_hear(&p, &pfc, now - 1000);
	expect(dcbport_pause_until(&p, 0) == now - 1000 + 33553920000, "33.6 s at 1 Mb/s");
	dcbport_pause_set(&p, 3, 40000000000, now);
	expect(dcbport_pause_until(&p, 0) == most, "until %llu ns from then",
	       (unsigned long long)(dcbport_pause_until(&p, 0) - now));
	expect(dcbport_pause_until(&p, 1) == now - 1000 + 512000, "a shorter one stays");
	expect(dcbport_pause_last(&p) == most, "the last one");
	dcbport_pause_read(&p, 0, &count, most + 1000);
	expect(count.paused == most - now + 1000 && count.transitions == 1,
	       "paused for %llu ns", (unsigned long long)count.paused);
	/* the same rate again changes nothing */
	dcbport_pause_set(&p, 3, 40000000000, now + 1000);
	expect(dcbport_pause_until(&p, 0) == most, "again");
}

static void test_pauses(void)
{
	for (int i = 0; i < 100; i++) {
		check_pauses(0);
		check_pauses(random_in(1, 5000));
	}
}

/* --- settings ------------------------------------------------------------- */

/* By default, the watchdog waits for several of the longest pauses */
static void test_watchdog(void)
{
	static const struct {
		u64 rate;	/* Mb/s */
		u64 detect;
		u64 restore;
	} wanted[] = {
		{ 0, 200, 200 },
		{ 400000, 200, 200 },
		{ 1000, 200, 200 },
		{ 168, 600, 200 },
		{ 50, 2016, 672 },
		{ 1, 100662, 33554 },
	};
	struct dcbport_settings s = dcbport_defaults;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		s.rate = wanted[i].rate * 1000000;
		expect(dcbport_settings_detect(&s) == wanted[i].detect &&
		       dcbport_settings_restore(&s) == wanted[i].restore,
		       "at %llu Mb/s: %llu and %llu ms",
		       (unsigned long long)wanted[i].rate,
		       (unsigned long long)dcbport_settings_detect(&s),
		       (unsigned long long)dcbport_settings_restore(&s));
	}
	s.detect = 5;
	s.restore = 6;
	expect(dcbport_settings_detect(&s) == 5 &&
	       dcbport_settings_restore(&s) == 6, "what is set holds");
	s.pfc = 8;
	expect(dcbport_settings_warn(&s), "a warning of what is too short");
	s.action = DCBPORT_ACTION_OFF;
	expect(!dcbport_settings_warn(&s), "no watchdog, no warning");
}

static void refused(struct dcbport_settings s, bool in_switch, const char *why)
{
	const char *problem = dcbport_settings_check(&s, in_switch);

	expect(problem && strstr(problem, why), "%s: %s", why,
	       problem ? problem : "taken");
}

static void test_settings(void)
{
	struct dcbport_settings s = dcbport_defaults;

	expect(!dcbport_settings_check(&s, false) &&
	       !dcbport_settings_check(&s, true), "defaults");
	s.curve[2].kmin = s.curve[2].kmax + 1;
	refused(s, false, "Kmin is above Kmax");
	s.curve[2].kmax = 0;
	expect(!dcbport_settings_check(&s, false), "no marks, whatever Kmin is");
	s = dcbport_defaults;
	s.curve[7].kmax = s.limit[7] + 1;
	refused(s, false, "above the class's limit");
	s = dcbport_defaults;
	s.flows[1] = (struct dcbport_flow_bounds){ 3, 2 };
	refused(s, false, "flows_min is above");
	s.flows[1].max = 0;
	expect(!dcbport_settings_check(&s, false), "no upper bound");
	s = dcbport_defaults;
	s.pfc = s.strict;
	expect(!dcbport_settings_check(&s, false), "a strict class with PFC");
	s = dcbport_defaults;
	s.weight[5] = 0;
	refused(s, false, "starve");
	s.tc[5] = 4;
	expect(!dcbport_settings_check(&s, false), "no weight, and no priority");
	s.tc[5] = 5;
	s.strict |= 1 << 5;
	expect(!dcbport_settings_check(&s, false), "no weight, but strict");
	s = dcbport_defaults;
	s.thresholds[7].xon = 1;
	refused(s, false, "xON is above xOFF");
	s = dcbport_defaults;
	s.pfc = 9;
	refused(s, true, "headroom");
	s.thresholds[0].headroom = 100;
	refused(s, true, "headroom");
	s.thresholds[3].headroom = 200;
	s.thresholds[0].reserve = 11;
	s.thresholds[1].headroom = 1000;
	expect(!dcbport_settings_check(&s, true), "two priorities with PFC");
	expect(dcbport_settings_room(&s) == 311, "their room");
	expect(!dcbport_settings_warn(&s), "nothing to warn of");
	s.thresholds[0].xoff = s.curve[0].kmax - 1;
	expect(dcbport_settings_warn(&s), "Kmax above xOFF");
	s.tc[0] = 2;
	s.thresholds[3].xoff = s.thresholds[0].xoff;
	s.curve[0].kmax = s.curve[3].kmax = s.thresholds[0].xoff;
	expect(dcbport_settings_warn(&s), "Kmax of the class that it is in");
	s.curve[2].kmax = s.thresholds[0].xoff;
	expect(!dcbport_settings_warn(&s), "no class with PFC has a Kmax above xOFF");
}

/* --- stamps --------------------------------------------------------------- */

/* Frames of 1024 ns at 8 Gb/s, with pauses of @gap ns in between, for 1 ms */
static u32 hop_busy(u64 gap)
{
	struct dcbport_hop hop = {};
	u64 now;

	for (now = 1000; now < 1001000; now += 1024 + gap)
		dcbport_hop_sent(&hop, 8000000000ULL, 1024, now);
	return dcbport_hop_load(&hop, 8000000000ULL, 0);
}

static void test_hop(void)
{
	struct dcbport_hop hop = {};
	u32 load;
	u64 rate;

	expect(hop_busy(0) == 256, "a full link: %u", hop_busy(0));
	load = hop_busy(1024);
	expect(load >= 120 && load <= 136, "half of it: %u", load);
	load = hop_busy(7 * 1024);
	expect(load >= 28 && load <= 36, "an eighth: %u", load);
	/* 16384 bytes take 16.384 us */
	expect(dcbport_hop_load(&hop, 8000000000ULL, 16384) == 256, "a queue of 16 us");
	expect(dcbport_hop_load(&hop, 8000000000ULL, 4096) == 64, "a quarter of that");
	for (rate = 1000000; rate <= 1000000000000ULL; rate *= 10) {
		expect(dcbport_hop_load(&hop, rate, U32_MAX) == 65535, "the longest queue");
		/* 2^64 / (8 * 10^9), rounded up */
		expect(dcbport_hop_load(&hop, rate, 2305843010U) == 65535, "one in 65 bits");
		expect(dcbport_hop_load(&hop, rate, 0) == 0, "none");
	}
	/* a second of 1 Tb/s, and a clock that is older */
	dcbport_hop_sent(&hop, 1000000000000ULL, U32_MAX, 1000);
	dcbport_hop_sent(&hop, 1000000000000ULL, 1, NSEC_PER_SEC + 1000);
	expect(hop.busy == 8, "4 GB in a second: %u", hop.busy);
	dcbport_hop_sent(&hop, 1000000000000ULL, 1, 5);
	expect(hop.since == NSEC_PER_SEC + 1000 && hop.busy == 8, "an older clock");
}

static const struct tap_test tests[] = {
	{ "the curve has the paper's values", test_curve_chance },
	{ "marks come as often as the curve says", test_curve_share },
	{ "flows are counted exactly, as they start and end", test_flows_count },
	{ "marks by the number of flows", test_flows_chance },
	{ "weights are shares within 1 %", test_drr_shares },
	{ "a paused class leaves its share to the others", test_drr_paused },
	{ "no class gets a turn before it is due", test_drr_turns },
	{ "interrupted turns add up to no credit", test_drr_interrupted },
	{ "strict classes first, and no class waits for ever", test_drr_strict },
	{ "a class that is alone ends in the same state by the short way", test_drr_alone },
	{ "a stream of frames has the link's rate exactly", test_wire },
	{ "a frame that is being sent takes the link's new rate", test_wire_rate },
	{ "a PFC frame, byte by byte", test_pfc_bytes },
	{ "quanta in ns", test_pfc_nsec },
	{ "any bytes as a PFC frame", test_pfc_fuzz },
	{ "dynamic thresholds are those of the formula", test_dynamic_threshold },
	{ "xOFF, xON and headroom to the byte", test_static_threshold },
	{ "an account's bounds to the byte", test_account_exact },
	{ "the offset keeps a pause from ending right below alpha's bound", test_account_offset },
	{ "changed thresholds begin and end pauses", test_account_review },
	{ "a headroom below a packet", test_account_small_headroom },
	{ "an account's bounds, as ports and packets are added and removed", test_account_bounds },
	{ "an account's bounds in 32 bits", test_account_most },
	{ "the priority of each DSCP", test_dscp },
	{ "the priority of each PCP", test_pcp },
	{ "weights as percentages", test_ets },
	{ "pauses last as long as they do, whatever clock is older", test_pauses },
	{ "a pause whose end has an older clock", test_pause_older },
	{ "a pause shrinks with the quanta of a higher rate", test_pause_rate },
	{ "a link that is down ends pauses", test_pause_forget },
	{ "a port inherits pauses", test_pause_inherit },
	{ "a shorter wait than timers are late", test_grain },
	{ "the watchdog waits for the longest pause", test_watchdog },
	{ "settings that do not go together", test_settings },
	{ "the load of a hop", test_hop },
};

int main(int argc, char **argv)
{
	tap_plan(sizeof(tests) / sizeof(*tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
