// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "random.h"
#include "tap.h"

#define DEFAULT_SEED "1"

static u64 state;

void random_seed(const char *arg)
{
	if (!arg)
		arg = getenv("SEED");
	if (!arg)
		arg = DEFAULT_SEED;
	state = strtoull(arg, NULL, 0);
	tap_note("seed %llu (argument or $SEED; 0x and 0 prefixes work)", state);
}

/* splitmix64 (Steele, Lea, Flood 2014): any seed is a good seed */
u64 random_u64(void)
{
	u64 x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

u64 random_below(u64 n)
{
	return random_u64() % n;
}

u64 random_in(u64 low, u64 high)
{
	return low + random_below(high - low + 1);
}

u64 random_log(u64 low, u64 high)
{
	u64 range = high - low;
	unsigned int bits = 0;

	while (bits < 63 && range >> bits)
		bits++;
	bits = random_in(0, bits);
	range = random_below(1ULL << bits);
	return range > high - low ? high : low + range;
}

bool random_one_in(u32 n)
{
	return random_below(n) == 0;
}
