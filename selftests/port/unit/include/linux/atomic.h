/* SPDX-License-Identifier: GPL-2.0 */
/* What one thread needs of 64-bit atomics. */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

typedef struct { s64 counter; } atomic64_t;

static inline s64 atomic64_read(const atomic64_t *a)
{
	return a->counter;
}

static inline void atomic64_set(atomic64_t *a, s64 value)
{
	a->counter = value;
}

#endif
