/* SPDX-License-Identifier: GPL-2.0 */
/* The start of a flow. See start.c. */
#ifndef DCQCN_START_H
#define DCQCN_START_H

#include <linux/types.h>

#include "rate.h"

#define DCQCN_START_BURST_MAX	16777216U	/* bytes; more counts as this much */

void dcqcn_start_begin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		       u64 line, u32 burst, u64 known, bool asks, u64 now);
void dcqcn_start_skip(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
		      u64 rate, bool round, u64 now);
void dcqcn_start_rejoin(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
			u64 queued, u64 known, u64 now);
void dcqcn_start_go_blind(struct dcqcn_rate *r, u64 line);
void dcqcn_start_sample(struct dcqcn_rate *r, const struct dcqcn_rp_params *p,
			u64 left, u32 least, u64 now);
void dcqcn_start_bound(struct dcqcn_rate *r, u64 left, u64 now);
unsigned int dcqcn_start_advance(struct dcqcn_rate *r, u64 line, u64 now,
				 u32 bytes);
bool dcqcn_start_ignores_cnp(const struct dcqcn_rate *r);

/* Whether a start needs a sample from a packet that leaves now. It does so half a round trip after
 * a step, because the first packets at a higher rate find no queue yet. After the first round trip
 * it waits a whole one: until the bursts that have met are gone, a new queue may be as long as
 * theirs, and look like an empty path.
 */
static inline bool dcqcn_start_wants_sample(const struct dcqcn_rate *r, u64 now)
{
	u32 since = r->timer_stage ? r->rtt / 2 : r->rtt;

	return r->start == DCQCN_START_ASKS ||
	       (r->start == DCQCN_START_MEASURES &&
		now - r->timer_time >= since);
}

#endif /* DCQCN_START_H */
