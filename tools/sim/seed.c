// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into User-mode Linux: replaces the host's random numbers, for which its
 * kernel asks, with a sequence that starts with SIM_SEED (splitmix64).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t next_random(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t z;

	if (!seeded) {
		const char *seed = getenv("SIM_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		seeded = 1;
	}
	z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	char *to = buf;
	size_t done, n;

	(void)flags;
	for (done = 0; done < len; done += n) {
		uint64_t r = next_random();

		n = len - done < sizeof(r) ? len - done : sizeof(r);
		memcpy(to + done, &r, n);
	}
	return len;
}
