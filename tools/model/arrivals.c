// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that come at random, of sizes that were published: which CNPs help, and which come when
 * their message is over.
 *
 * Messages share the link. Whatever their sizes are, a new one then meets n - 1 others with the
 * probability (1 - load) load^(n - 1). All n send at line rate until a CNP comes, so the queue is
 * above Kmin from n Kmin / (n - 1) bytes on, and for a time t. A marker that looks at it every s
 * sees that at a moment U, any of s; if U is above t, it is not seen at all. The CNP comes at U and
 * a round trip later. It is false if the message is over by then.
 */
#include "number.h"
#include "parts.h"

#define REACT_US	50	/* if no other time is wanted */
#define MOST		32	/* messages at a time; as many stand for all more */
#define STEPS		8	/* from one point of a distribution to the next */
#define INTERVALS	16	/* that are tried */
#define SELDOM		0.05
#define POINTS		32

struct point {
	double bytes;
	double percent;
};

/* Of tools/sim/sizes, in the order of the words of the input */
static const struct point distributions[][POINTS] = {
#include "sizes.inc"
};

struct cnps {
	double false_ones;	/* of each message */
	double lasting[MOST + 1];	/* congestion of this many messages that outlasts the reaction */
};

/* What one size adds, met by n - 1 others; weight is how often that happens */
static void add(struct cnps *c, double bytes, double n, double weight, double sample,
		const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out), above = (n - 1) * bytes - out->kmin_bytes;
	double time, in_time;

	if (above <= 0)
		return;
	time = (above / (n - 1) + above) / speed;
	in_time = (bytes - n * out->kmin_bytes / (n - 1)) / speed - out->rtt_us;
	if (time > (in->react_us ? in->react_us : REACT_US))
		c->lasting[(int)n] += weight;
	if (sample)
		weight *= number_max(0, number_min(time, sample) - number_max(0, in_time)) / sample;
	else if (in_time >= 0)
		weight = 0;
	c->false_ones += weight;
}

static struct cnps cnps_of(double sample, double flows_min, const struct dcqcn_model_input *in,
			   const struct dcqcn_model_output *out)
{
	const struct point *from = distributions[(int)in->sizes - 1], *p;
	double chance = in->load_share;		/* of n - 1 others or more */
	struct cnps c = {};
	int n, i;

	for (n = 2; n <= MOST; n++, chance *= in->load_share) {
		double only = n < MOST ? chance * (1 - in->load_share) : chance;

		if (n < flows_min)
			continue;
		for (p = from + 1; p[-1].percent < 100; p++) {
			double step = (p->bytes - p[-1].bytes) / STEPS;

			for (i = 0; i < STEPS; i++)
				add(&c, p[-1].bytes + (i + 0.5) * step, n,
				    only * (p->percent - p[-1].percent) / 100 / STEPS, sample,
				    in, out);
		}
	}
	return c;
}

/* How many messages may go unmarked: those of which congestion seldom lasts */
static double best_flows_min(const struct cnps *c)
{
	double sum = 0, missed = 0;
	int n;

	for (n = 2; n <= MOST; n++)
		sum += c->lasting[n];
	for (n = 2; n < MOST && missed + c->lasting[n] <= SELDOM * sum; n++)
		missed += c->lasting[n];
	return n > 2 ? n : 0;
}

/**
 * arrivals_solve() - how marks meet messages that come at random
 * @in: sizes and load
 * @out: thresholds and the operating point are known
 */
void arrivals_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	double least = out->reaction_us - in->sample_us, most;
	struct cnps c;
	int i;

	if (!in->sizes)
		return;
	/* more than n are in progress with the probability load^(n + 1) */
	out->arrivals_flows = number_ceil(number_log(SELDOM) / number_log(in->load_share)) - 1;
	c = cnps_of(in->sample_us, in->flows_min, in, out);
	out->arrivals_false_share = c.false_ones;
	c = cnps_of(0, 0, in, out);
	out->best_flows_min = best_flows_min(&c);
	/* 0 would be off */
	out->best_flows_max = number_max(number_max(out->arrivals_flows, 1), out->best_flows_min);
	out->best_false_share = 1;
	most = number_max(0, (in->react_us ? in->react_us : REACT_US) - least);
	for (i = 0; i <= INTERVALS; i++) {
		c = cnps_of(i * most / INTERVALS, out->best_flows_min, in, out);
		if (c.false_ones >= out->best_false_share)
			continue;
		out->best_false_share = c.false_ones;
		out->best_sample_us = i * most / INTERVALS;
	}
}
