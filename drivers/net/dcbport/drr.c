// SPDX-License-Identifier: GPL-2.0
/*
 * Which class sends next: strict ones first, the others by deficit round robin
 * (Shreedhar and Varghese, SIGCOMM 1995).
 *
 * A class that is paused or empty is skipped, where sch_ets and sch_drr would stop all
 * others too. Turns in which no class has enough deficit to send are skipped by
 * arithmetic, so that a choice takes the same time whatever the weights.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "drr.h"

static u32 drr_quantum(const struct dcbport_drr *drr, int prio)
{
	return drr->weight[prio] * DCBPORT_QUANTUM;
}

static int drr_highest(u8 ready)
{
	return fls(ready) - 1;
}

/* The class @step places after the one whose turn it is */
static int drr_at(const struct dcbport_drr *drr, int step)
{
	return (drr->turn + step) % DCBPORT_PRIOS;
}

/**
 * dcbport_drr_pick() - choose the class that sends
 * @drr: the state; the turn moves on
 * @ready: classes that have a packet and are not paused, one bit each
 * @len: bytes of the first packet of each of these
 *
 * The caller must send from this class, and then call dcbport_drr_sent().
 * Return: the class, or -1 if none is ready.
 */
int dcbport_drr_pick(struct dcbport_drr *drr, u8 ready,
		     const u32 len[DCBPORT_PRIOS])
{
	u32 turns = U32_MAX;
	int step, prio, chosen = 0;

	if (ready & drr->strict)
		return drr_highest(ready & drr->strict);
	if (!ready)
		return -1;
	if (!(ready & (ready - 1))) {
		prio = drr_highest(ready);
		dcbport_drr_alone(drr, prio, len[prio]);
		return prio;
	}
	/* the rest of a turn */
	prio = drr->turn;
	if (ready & 1 << prio && len[prio] <= drr->deficit[prio])
		return prio;

	for (step = 1; step <= DCBPORT_PRIOS; step++) {
		prio = drr_at(drr, step);
		if (ready & 1 << prio && dcbport_drr_turns(drr, prio, len[prio]) < turns) {
			turns = dcbport_drr_turns(drr, prio, len[prio]);
			chosen = step;
		}
	}
	/* classes behind the chosen one have had one turn less; a class whose turn was interrupted
	 * continues that turn
	 */
	for (step = 1; step <= DCBPORT_PRIOS; step++) {
		prio = drr_at(drr, step);
		if (ready & 1 << prio && !(step == chosen && len[prio] <= drr->deficit[prio]))
			drr->deficit[prio] += (turns - (step > chosen)) *
					      drr_quantum(drr, prio);
	}
	drr->turn = drr_at(drr, chosen);
	return drr->turn;
}
