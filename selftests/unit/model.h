/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion on the reaction point: the same knobs, floating point, and
 * every event worked off on its own, in time order. See model.c.
 */
#ifndef MODEL_H
#define MODEL_H

#include "rate.h"

enum model_increase {
	MODEL_NO_INCREASE,
	MODEL_TIMER_INCREASE,
	MODEL_BYTES_INCREASE,
};

struct model {
	const struct dcqcn_rp_params *knobs;
	double line;		/* bit/s */
	double rate;		/* R_C, bit/s */
	double target;		/* R_T, bit/s */
	double alpha;		/* 0 … 1 */
	bool throttled;		/* the first CNP came */
	bool cut_waits;
	bool cnp_came;		/* in alpha's period */
	enum model_increase last_increase;	/* since the last cut */
	unsigned int timer_events;		/* T and BC of the paper */
	unsigned int byte_events;
	u64 now;		/* all times in ns */
	u64 alpha_due;
	u64 timer_due;
	u64 window_end;		/* no cut before */
	u64 bytes_to_go;
	unsigned long cuts;
};

void model_init(struct model *m, const struct dcqcn_rp_params *knobs,
		double line, u64 now);
void model_advance(struct model *m, u64 until, u64 bytes);
void model_cnp(struct model *m);
void model_set_line(struct model *m, double line);

#endif
