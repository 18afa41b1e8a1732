/* SPDX-License-Identifier: GPL-2.0 */
/* Pauses that the other end of the link asks for. See pause.c. */
#ifndef DCBPORT_PAUSE_H
#define DCBPORT_PAUSE_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "pfc.h"

/**
 * struct dcbport_pause_count - counters of one priority; under the pauses' lock
 * @frames: received PFC frames that pause it
 * @resumes: received PFC frames that end its pause
 * @transitions: from running to paused
 * @paused: ns; added when a pause is asked for, corrected when it ends earlier
 * @since: ns; when the current pause began
 * @asked: ns; when a frame last asked for a pause
 */
struct dcbport_pause_count {
	u64 frames;
	u64 resumes;
	u64 transitions;
	u64 paused;
	u64 since;
	u64 asked;
};

/**
 * struct dcbport_pause - the pauses that a port must obey
 * @lock: a leaf; taken in softirq
 * @enable: priorities that obey, one bit each
 * @rate: bit/s of the link, which gives a quantum its length
 * @errors: malformed PFC frames
 * @globals: pause frames of 802.3x, which are ignored
 * @last: ns; after this time, no priority is paused. Written under @lock, read
 *	without it.
 * @until: ns; each priority sends nothing before this time. Written under @lock, read
 *	without it.
 * @count: of each priority
 */
struct dcbport_pause {
	spinlock_t lock;	/* see above */
	u8 enable;
	u64 rate;
	u64 errors;
	u64 globals;
	atomic64_t last;
	atomic64_t until[DCBPORT_PRIOS];
	struct dcbport_pause_count count[DCBPORT_PRIOS];
};

void dcbport_pause_setup(struct dcbport_pause *p);
void dcbport_pause_set(struct dcbport_pause *p, u8 enable, u64 rate, u64 now);
bool dcbport_pause_hear(struct dcbport_pause *p, const struct dcbport_pfc *pfc,
			u64 now);
void dcbport_pause_error(struct dcbport_pause *p);
void dcbport_pause_global(struct dcbport_pause *p);
void dcbport_pause_forget(struct dcbport_pause *p, u64 now);
void dcbport_pause_inherit(struct dcbport_pause *heir, struct dcbport_pause *p, u64 now);
u64 dcbport_pause_read(struct dcbport_pause *p, int prio,
		       struct dcbport_pause_count *count, u64 now);

/* When a priority may send again; in the past if it may send now */
static inline u64 dcbport_pause_until(const struct dcbport_pause *p, int prio)
{
	return atomic64_read(&p->until[prio]);
}

/* When all priorities may send again at the latest; in the past if they may now */
static inline u64 dcbport_pause_last(const struct dcbport_pause *p)
{
	return atomic64_read(&p->last);
}

#endif /* DCBPORT_PAUSE_H */
