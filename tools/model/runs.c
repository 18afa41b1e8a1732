// SPDX-License-Identifier: GPL-2.0
/*
 * A run is one of many that chance may make. Where it is short, others with other random
 * numbers follow, and most of them decide. How many agree says how sure that is.
 */
#include "runs.h"

#define RUNS		3	/* odd, so that most of them say the same */
#define OTHER_SEED	0x9e37	/* from one run to the next */
#define SWING_PACKETS	8	/* a queue that moves by less is steady */

#define COUNT(type)	(sizeof(type) / sizeof(double))

static struct verdicts judge(const struct trace_result *r, const struct bounds *b)
{
	double swing = r->queue_p95 - r->queue_p5, least = SWING_PACKETS * b->packet;
	struct verdicts v = {
		.pfc = r->frames_per_s ? DCQCN_MODEL_ALWAYS :
		       r->start_frames ? DCQCN_MODEL_START : DCQCN_MODEL_NEVER,
		.loss = r->lost - r->start_lost > b->packet ? DCQCN_MODEL_ALWAYS :
			r->lost > b->packet ? DCQCN_MODEL_START : DCQCN_MODEL_NEVER,
		.used = r->used_share < b->used,
		.queue = swing > r->queue_mean && swing > least,
	};

	/* with PFC nothing is lost, unless the headroom is too small */
	if (b->lossless)
		v.loss = b->safe ? DCQCN_MODEL_NEVER : v.pfc;
	return v;
}

/* The value of most runs, or the middle one; values are @stride apart */
static double most(const double *value, size_t runs, size_t stride)
{
	const double *a = value, *b = a + stride, *c = b + stride;

	if (runs < RUNS || *a == *b || *a == *c)
		return *a;
	return *b == *c ? *b : (*a < *b) == (*b < *c) ? *b : (*b < *a) == (*a < *c) ? *a : *c;
}

static bool is_same(const struct verdicts *a, const struct verdicts *b)
{
	return a->pfc == b->pfc && a->loss == b->loss && a->used == b->used &&
	       a->queue == b->queue;
}

static void add(struct trace_result *sum, const struct trace_result *one, double share)
{
	const double *from = (const double *)one;
	double *to = (double *)sum;
	size_t i;

	for (i = 0; i < COUNT(*sum); i++)
		to[i] += from[i] * share;
}

/**
 * runs_solve() - simulate, once or several times
 * @setup: what is simulated; its seed changes
 * @bounds: by which runs are judged
 * @r: the result
 */
void runs_solve(struct trace_setup *setup, const struct bounds *bounds, struct runs_result *r)
{
	struct trace_result trace[RUNS];
	struct verdicts v[RUNS];
	size_t i;

	*r = (struct runs_result) { .runs = 1 };
	for (i = 0; i < r->runs; i++) {
		trace_run(setup, &trace[i]);
		v[i] = judge(&trace[i], bounds);
		setup->seed += OTHER_SEED;
		if (RUNS * trace[0].packets <= bounds->packets)
			r->runs = RUNS;
	}
	for (i = 0; i < COUNT(*v); i++)
		((double *)&r->verdicts)[i] = most((double *)v + i, r->runs, COUNT(*v));
	for (i = 0; i < r->runs; i++)
		r->agree += is_same(&v[i], &r->verdicts);
	for (i = 0; i < r->runs; i++) {
		if (!r->agree)
			add(&r->trace, &trace[i], 1.0 / r->runs);
		else if (is_same(&v[i], &r->verdicts))
			add(&r->trace, &trace[i], 1.0 / r->agree);
	}
}
