/* SPDX-License-Identifier: GPL-2.0 */
/* How many events each algorithm has had. See count.c. */
#ifndef EXPLORE_COUNT_H
#define EXPLORE_COUNT_H

#include "kernel.h"

void count_begin(void);
/* @hostile: those of events.c's own algorithm */
void count_print(u64 hostile);

#endif /* EXPLORE_COUNT_H */
