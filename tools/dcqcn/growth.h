/* SPDX-License-Identifier: GPL-2.0 */
/* What a counter has grown by between two looks. */
#ifndef GROWTH_H
#define GROWTH_H

#include <stdint.h>

/* If its object was replaced meanwhile, the counter began at 0 */
static inline uint64_t growth(uint64_t before, uint64_t after)
{
	return after < before ? after : after - before;
}

#endif /* GROWTH_H */
