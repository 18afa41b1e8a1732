/* SPDX-License-Identifier: GPL-2.0 */
/* The marking curve of DCQCN's congestion point. See curve.c. */
#ifndef DCBPORT_CURVE_H
#define DCBPORT_CURVE_H

#include <linux/types.h>
#include <uapi/linux/dcbport.h>

/**
 * struct dcbport_curve - how the probability of a mark depends on the queue
 * @kmin: bytes; no packet is marked up to here
 * @kmax: bytes; every packet is marked above. 0 disables marking.
 * @pmax: probability at @kmax, in units of 1 / DCBPORT_PMAX_ONE
 */
struct dcbport_curve {
	u32 kmin;
	u32 kmax;
	u32 pmax;
};

/* Whether no packet is marked */
static inline bool dcbport_curve_is_quiet(const struct dcbport_curve *curve,
					  u32 queue)
{
	return queue <= curve->kmin || !curve->kmax;
}

u32 dcbport_curve_chance(const struct dcbport_curve *curve, u32 queue);
bool dcbport_curve_marks(u32 chance, u32 draw);

#endif /* DCBPORT_CURVE_H */
