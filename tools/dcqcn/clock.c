// SPDX-License-Identifier: GPL-2.0
/* The monotonic clock in ns, and commands that run until they are interrupted. */
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "clock.h"

static volatile sig_atomic_t ended;

static void end(int signal __attribute__((unused)))
{
	ended = 1;
}

uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* From now on, SIGHUP, SIGINT and SIGTERM end the command through clock_wait() */
void clock_end_on_signals(void)
{
	/* what is being written is written to its end */
	struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };

	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Wait until @due, in ns. Return true unless the command was interrupted. */
bool clock_wait(uint64_t due)
{
	struct timespec ts = {
		.tv_sec = due / NSEC_PER_SEC,
		.tv_nsec = due % NSEC_PER_SEC,
	};

	if (!ended)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return !ended;
}
