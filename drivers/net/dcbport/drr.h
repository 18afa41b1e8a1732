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
 * @weight: weight of each class, 1 to 100
 * @deficit: bytes that a class may still send in its turn. A turn that a pause interrupts continues
 *	later, and the next turn begins when the deficit is used up.
 * @strict: classes that are sent first, the highest number first, one bit each
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

/* How many turns this class must wait until it may send @len bytes; at least one */
static inline u32 dcbport_drr_turns(const struct dcbport_drr *drr, int prio,
				    u32 len)
{
	u32 quantum = drr->weight[prio] * DCBPORT_QUANTUM;

	if (len <= drr->deficit[prio])
		return 1;
	return (len - drr->deficit[prio] + quantum - 1) / quantum;
}

/**
 * dcbport_drr_alone() - let the only class that is ready send
 * @drr: the state; the turn moves on
 * @prio: the class
 * @len: bytes of its first packet
 *
 * Does what dcbport_drr_pick() does in this case.
 */
static inline void dcbport_drr_alone(struct dcbport_drr *drr, int prio, u32 len)
{
	if (drr->strict & 1 << prio)
		return;
	if (len > drr->deficit[prio])
		drr->deficit[prio] += dcbport_drr_turns(drr, prio, len) *
				      drr->weight[prio] * DCBPORT_QUANTUM;
	drr->turn = prio;
}

/**
 * dcbport_drr_sent() - account for what the chosen class has sent
 * @drr: the state
 * @prio: the class
 * @len: bytes
 * @empty: it has nothing more to send, and loses the rest of its turn
 */
static inline void dcbport_drr_sent(struct dcbport_drr *drr, int prio, u32 len,
				    bool empty)
{
	if (drr->strict & 1 << prio)
		return;
	drr->deficit[prio] = empty ? 0 : drr->deficit[prio] - len;
}

/**
 * dcbport_drr_send() - let the only class that is ready send, and account for it
 * @drr: the state; the turn moves on
 * @prio: the class
 * @len: bytes that it sends
 * @empty: it has nothing more to send
 *
 * Does what dcbport_drr_pick() and dcbport_drr_sent() do in this case.
 */
static inline void dcbport_drr_send(struct dcbport_drr *drr, int prio, u32 len,
				    bool empty)
{
	if (drr->strict & 1 << prio)
		return;
	if (!empty)
		dcbport_drr_alone(drr, prio, len);
	drr->turn = prio;
	drr->deficit[prio] = empty ? 0 : drr->deficit[prio] - len;
}

#endif /* DCBPORT_DRR_H */
