// SPDX-License-Identifier: GPL-2.0
/*
 * Weights as percentages of the link, as in Enhanced Transmission Selection
 * (802.1Qaz): whole numbers that add up to 100.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "ets.h"

static u32 ets_sum(const u8 *value, u8 strict)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < DCBPORT_PRIOS; i++) {
		if (!(strict & 1 << i))
			sum += value[i];
	}
	return sum;
}

/* The class whose percentage is farthest below (@sign 1) or above (@sign -1) its share by
 * weight. A percentage of 1 is not lowered.
 */
static int ets_farthest(const u8 *weight, const u8 *percent, u8 strict,
			u32 sum, int sign)
{
	int i, off, most = 0, found = -1;

	for (i = 0; i < DCBPORT_PRIOS; i++) {
		if (strict & 1 << i || !weight[i] ||
		    (sign < 0 && percent[i] == 1))
			continue;
		/* in 1 / (100 * @sum) of the link; below 2^17 */
		off = sign * ((int)(weight[i] * 100) - (int)(percent[i] * sum));
		if (found < 0 || off > most) {
			most = off;
			found = i;
		}
	}
	return found;
}

/**
 * dcbport_ets_percent() - convert weights to percentages
 * @weight: of each class, 1 to 100, or 0 for one that takes no part
 * @strict: classes that have no weight, one bit each
 * @percent: result: at least 1 each and 100 together, but 0 for strict classes
 *	and those without weight
 */
void dcbport_ets_percent(const u8 weight[DCBPORT_PRIOS], u8 strict,
			 u8 percent[DCBPORT_PRIOS])
{
	u32 sum = ets_sum(weight, strict);
	int i;

	for (i = 0; i < DCBPORT_PRIOS; i++)
		percent[i] = strict & 1 << i || !weight[i] ?
			     0 : max_t(u32, weight[i] * 100 / sum, 1);
	if (!sum)
		return;
	while (ets_sum(percent, strict) < 100)
		percent[ets_farthest(weight, percent, strict, sum, 1)]++;
	while (ets_sum(percent, strict) > 100)
		percent[ets_farthest(weight, percent, strict, sum, -1)]--;
}
