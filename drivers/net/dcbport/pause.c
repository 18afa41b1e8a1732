// SPDX-License-Identifier: GPL-2.0
/*
 * Pauses that the other end of the link asks for. A frame's timer replaces what
 * remains of the previous pause; 0 ends it.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "pause.h"

/**
 * dcbport_pause_setup() - begin with no pauses
 * @p: all zero
 */
void dcbport_pause_setup(struct dcbport_pause *p)
{
	spin_lock_init(&p->lock);
}

/* Called with the lock held: pause @prio from @now until @until */
static void pause_change(struct dcbport_pause *p, int prio, u64 until, u64 now)
{
	struct dcbport_pause_count *count = &p->count[prio];
	u64 old = atomic64_read(&p->until[prio]);

	/* another CPU may have begun the pause after the caller read the clock */
	now = max(now, count->since);
	if (old <= now && until <= now)
		return;		/* it was not paused, and is not now */
	if (old > now) {
		count->paused -= old - now;
	} else {
		count->transitions++;
		count->since = now;
	}
	if (until > now)
		count->paused += until - now;
	atomic64_set(&p->until[prio], until);
	if (until > dcbport_pause_last(p))
		atomic64_set(&p->last, until);
}

/**
 * dcbport_pause_set() - set which priorities obey pauses
 * @p: the pauses; those of other priorities end, and no pause lasts longer than a frame that comes
 *	now could ask for
 * @enable: priorities, one bit each
 * @rate: bit/s of the link; not 0
 * @now: ns
 *
 * Context: any, with softirqs enabled or not.
 */
void dcbport_pause_set(struct dcbport_pause *p, u8 enable, u64 rate, u64 now)
{
	u64 most = now + dcbport_pfc_nsec(DCBPORT_PFC_MAX, rate), last = 0;
	int prio;

	spin_lock_bh(&p->lock);
	p->enable = enable;
	p->rate = rate;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		pause_change(p, prio, enable & 1 << prio ?
			     min(dcbport_pause_until(p, prio), most) : now, now);
		last = max(last, dcbport_pause_until(p, prio));
	}
	atomic64_set(&p->last, last);
	spin_unlock_bh(&p->lock);
}

/**
 * dcbport_pause_hear() - process a PFC frame
 * @p: the pauses
 * @pfc: the frame's content
 * @now: ns
 *
 * Context: softirqs are disabled.
 * Return: true if a paused priority may now send earlier.
 */
bool dcbport_pause_hear(struct dcbport_pause *p, const struct dcbport_pfc *pfc,
			u64 now)
{
	bool earlier = false;
	u64 old, until;
	int prio;

	spin_lock(&p->lock);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (!(pfc->enable & p->enable & 1 << prio))
			continue;
		if (pfc->quanta[prio]) {
			p->count[prio].frames++;
			p->count[prio].asked = now;
		} else {
			p->count[prio].resumes++;
		}
		old = dcbport_pause_until(p, prio);
		until = now + dcbport_pfc_nsec(pfc->quanta[prio], p->rate);
		if (old > now && until < old)
			earlier = true;
		pause_change(p, prio, until, now);
	}
	spin_unlock(&p->lock);
	return earlier;
}

/**
 * dcbport_pause_error() - count a malformed PFC frame
 * @p: the pauses
 *
 * Context: softirqs are disabled.
 */
void dcbport_pause_error(struct dcbport_pause *p)
{
	spin_lock(&p->lock);
	p->errors++;
	spin_unlock(&p->lock);
}

/**
 * dcbport_pause_global() - count a pause frame that is not for a priority
 * @p: the pauses
 *
 * Context: softirqs are disabled.
 */
void dcbport_pause_global(struct dcbport_pause *p)
{
	spin_lock(&p->lock);
	p->globals++;
	spin_unlock(&p->lock);
}

/**
 * dcbport_pause_forget() - end all pauses: the link is down
 * @p: the pauses
 * @now: ns
 *
 * Context: any, with softirqs enabled or not.
 */
void dcbport_pause_forget(struct dcbport_pause *p, u64 now)
{
	int prio;

	spin_lock_bh(&p->lock);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		pause_change(p, prio, now, now);
	atomic64_set(&p->last, now);
	spin_unlock_bh(&p->lock);
}

/**
 * dcbport_pause_read() - read the counters of a priority
 * @p: the pauses
 * @prio: the priority
 * @count: result; @count->paused includes the current pause up to now
 * @now: ns
 *
 * Context: any, with softirqs enabled or not.
 * Return: ns; when the priority may send again; in the past if it may now.
 */
u64 dcbport_pause_read(struct dcbport_pause *p, int prio,
		       struct dcbport_pause_count *count, u64 now)
{
	u64 until;

	spin_lock_bh(&p->lock);
	*count = p->count[prio];
	until = dcbport_pause_until(p, prio);
	spin_unlock_bh(&p->lock);
	now = max(now, count->since);	/* as in pause_change() */
	if (until > now)
		count->paused -= until - now;
	return until;
}

/**
 * dcbport_pause_inherit() - take over the pauses of priorities that no frame has named since
 * @heir: the pauses of a port, which may have settings of its own already
 * @p: those of the port that it replaces on its link
 * @now: ns
 *
 * As in dcbport_pause_set(), a pause lasts at most as long as a frame can ask for at the new rate.
 * No frame could end that of a priority without PFC.
 *
 * Context: any, with softirqs enabled or not.
 */
void dcbport_pause_inherit(struct dcbport_pause *heir, struct dcbport_pause *p, u64 now)
{
	struct dcbport_pause_count old, *own;
	u64 until;
	int prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		until = dcbport_pause_read(p, prio, &old, now);
		own = &heir->count[prio];
		spin_lock_bh(&heir->lock);
		until = min(until, now + dcbport_pfc_nsec(DCBPORT_PFC_MAX, heir->rate));
		if (heir->enable & 1 << prio && until > now && !own->frames && !own->resumes) {
			own->asked = old.asked;
			pause_change(heir, prio, until, now);
		}
		spin_unlock_bh(&heir->lock);
	}
}
