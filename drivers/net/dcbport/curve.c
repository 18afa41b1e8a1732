// SPDX-License-Identifier: GPL-2.0
/*
 * The marking curve of DCQCN's congestion point, on the instantaneous queue:
 *
 *	p = 0					q <= Kmin
 *	    Pmax * (q - Kmin) / (Kmax - Kmin)	Kmin < q <= Kmax
 *	    1					q > Kmax
 *
 *   Zhu et al., SIGCOMM 2015, section 3.1, figure 5
 *
 * RED averages the queue and spaces its marks evenly, which about doubles the
 * share of marked packets at small probabilities. Here each packet has a random
 * draw of its own.
 */
#include <linux/kernel.h>
#include <linux/math64.h>

#include "curve.h"

/**
 * dcbport_curve_chance() - compute the probability of a mark
 * @curve: its parameters
 * @queue: bytes that are queued already
 *
 * Return: in units of 1 / DCBPORT_PMAX_ONE.
 */
u32 dcbport_curve_chance(const struct dcbport_curve *curve, u32 queue)
{
	if (dcbport_curve_is_quiet(curve, queue))
		return 0;
	if (queue > curve->kmax)
		return DCBPORT_PMAX_ONE;
	/* below 2^30 times below 2^32 */
	return div_u64((u64)curve->pmax * (queue - curve->kmin),
		       curve->kmax - curve->kmin);
}

/**
 * dcbport_curve_marks() - decide whether to mark a packet
 * @chance: the probability, in units of 1 / DCBPORT_PMAX_ONE
 * @draw: a random number, uniform in 32 bits
 */
bool dcbport_curve_marks(u32 chance, u32 draw)
{
	return ((u64)draw * DCBPORT_PMAX_ONE) >> 32 < chance;
}
