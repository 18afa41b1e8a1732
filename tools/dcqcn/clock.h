/* SPDX-License-Identifier: GPL-2.0 */
/* Time, and waiting for it. See clock.c. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NSEC_PER_SEC	1000000000ULL

uint64_t clock_now(void);
void clock_end_on_signals(void);
bool clock_wait(uint64_t due);

#endif /* CLOCK_H */
