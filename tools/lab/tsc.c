// SPDX-License-Identifier: GPL-2.0
/*
 * Print this machine's TSC frequency in kHz, or nothing without a TSC.
 *
 * An emulated guest sees the host's TSC and measures its frequency while it
 * boots. On a busy host, the result may be wrong by up to a factor of fifty,
 * and so is the guest's clock. So the guest is told.
 */
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>

struct moment {
	double ns;
	unsigned long long tsc;
};

/* Read both clocks at once: of many readings, use the one that took least time. */
static struct moment now(void)
{
	unsigned long long best = ~0ULL;
	struct moment m = { 0 };
	int i;

	for (i = 0; i < 1000; i++) {
		unsigned long long before = __rdtsc(), took;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		took = __rdtsc() - before;
		if (took < best) {
			best = took;
			m.ns = ts.tv_sec * 1e9 + ts.tv_nsec;
			m.tsc = before + took / 2;
		}
	}
	return m;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 50000000 };
	struct moment a = now(), b;

	nanosleep(&pause, NULL);
	b = now();
	printf("%.0f\n", (b.tsc - a.tsc) / (b.ns - a.ns) * 1e6);
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
