/* SPDX-License-Identifier: GPL-2.0 */
/* Several runs with other random numbers. See runs.c. */
#ifndef MODEL_RUNS_H
#define MODEL_RUNS_H

#include "model.h"
#include "trace.h"

/**
 * struct verdicts - on one run, or by most of them
 * @pfc: DCQCN_MODEL_ALWAYS, ..._START, ..._NEVER
 * @loss: the same
 * @used: the link is under-used
 * @queue: it swings
 */
struct verdicts {
	double pfc;
	double loss;
	double used;
	double queue;
};

/**
 * struct bounds - by which a run is judged
 * @used: share of the link
 * @packet: bytes
 * @packets: of all runs together
 * @lossless: there is PFC
 * @safe: with headroom that is enough
 */
struct bounds {
	double used;
	double packet;
	double packets;
	bool lossless;
	bool safe;
};

/**
 * struct runs_result - the result of all runs
 * @trace: means of the runs that agree with the majority
 * @verdicts: of the majority
 * @runs: how many
 * @agree: how many of them have exactly these verdicts
 */
struct runs_result {
	struct trace_result trace;
	struct verdicts verdicts;
	size_t runs;
	size_t agree;
};

void runs_solve(struct trace_setup *setup, const struct bounds *bounds, struct runs_result *r);

#endif /* MODEL_RUNS_H */
