/* SPDX-License-Identifier: GPL-2.0 */
/* Locks that must not be taken twice. */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <assert.h>
#include <stdbool.h>

typedef struct { bool held; } spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline void spin_lock(spinlock_t *lock)
{
	assert(!lock->held);
	lock->held = true;
}

static inline void spin_unlock(spinlock_t *lock)
{
	assert(lock->held);
	lock->held = false;
}

#define spin_lock_bh	spin_lock
#define spin_unlock_bh	spin_unlock

#endif
