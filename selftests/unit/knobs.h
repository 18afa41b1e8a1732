/* SPDX-License-Identifier: GPL-2.0 */
/* The reaction point's knobs: their ranges, and settings to test with. */
#ifndef KNOBS_H
#define KNOBS_H

#include "rate.h"

#define MBPS		1000000ULL	/* bit/s */
#define US		1000ULL		/* ns */
#define MS		(1000 * US)
#define SECOND		(1000 * MS)

#define N_KNOBS		17
#define N_LINES		6

struct knob {
	const char *name;
	size_t offset;
	u32 min;
	u32 max;
};

extern const struct knob knobs[N_KNOBS];
u32 *knob_of(struct dcqcn_rp_params *p, const struct knob *knob);

/* Line rates from the slowest to the fastest that the knobs can express */
extern const u64 lines[N_LINES];

extern const struct dcqcn_rp_params automatic;	/* profile auto, as settings.c has it */
extern const struct dcqcn_rp_params mlx5;	/* the NIC's defaults */
extern const struct dcqcn_rp_params sigcomm15;	/* the paper's, for 40 Gb/s */

struct dcqcn_rp_params knobs_random(void);
void knobs_print(const struct dcqcn_rp_params *p);

#endif
