/* SPDX-License-Identifier: GPL-2.0 */
/* Repeatable random numbers. */
#ifndef RANDOM_H
#define RANDOM_H

#include <linux/types.h>

/* The seed is @arg, or else $SEED, or else fixed; it is printed. */
void random_seed(const char *arg);

u64 random_u64(void);
u64 random_below(u64 n);		/* 0 … n-1 */
u64 random_in(u64 low, u64 high);	/* low … high */
u64 random_log(u64 low, u64 high);	/* same, each magnitude alike */
bool random_one_in(u32 n);

#endif
