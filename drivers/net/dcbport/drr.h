/* SPDX-License-Identifier: GPL-2.0 */
/* Which class sends next. See drr.c. */
#ifndef DCBPORT_DRR_H
#define DCBPORT_DRR_H

#include <linux/types.h>

#define DCBPORT_PRIOS	8

/* Bytes per turn for a weight of 1: small, so that classes alternate often */
#define DCBPORT_QUANTUM	64

/**
 * struct dcbport_drr - strict priorities, and the turns of the others
 * @weight: of each class, 1 to 100
 * @deficit: bytes that a class may still send in this turn
 * @strict: classes that are sent first, the highest first, one bit each
 * @turn: the class whose turn it is
 */
struct dcbport_drr {
	u8 weight[DCBPORT_PRIOS];
	u32 deficit[DCBPORT_PRIOS];
	u8 strict;
	u8 turn;
};

int dcbport_drr_pick(struct dcbport_drr *drr, u8 ready,
		     const u32 len[DCBPORT_PRIOS]);
void dcbport_drr_sent(struct dcbport_drr *drr, int prio, u32 len, bool empty);

#endif /* DCBPORT_DRR_H */
