// SPDX-License-Identifier: GPL-2.0
/*
 * lateness: record how late this guest's timers are.
 *
 * usage: lateness PERIOD_US
 *
 * Prints, for each timer until it is killed: CLOCK_MONOTONIC in nanoseconds
 * when the timer was due, and how many nanoseconds later the program ran. It
 * goes before all other processes, so what delays it is that the guest itself
 * had no CPU, or that its kernel had more to do than time.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "lateness: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 99 };
	struct sigaction action = { .sa_handler = end };
	long long due, now, period;
	struct timespec ts;

	if (argc != 2) {
		fprintf(stderr, "usage: lateness PERIOD_US\n");
		return 2;
	}
	period = strtoll(argv[1], NULL, 10) * 1000;
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("sched_setscheduler");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	/* By default a sleep may last 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	sigaction(SIGTERM, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	due = ts.tv_sec * 1000000000LL + ts.tv_nsec;
	while (!ended) {
		due += period;
		ts = (struct timespec){ due / 1000000000, due % 1000000000 };
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			continue;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = ts.tv_sec * 1000000000LL + ts.tv_nsec;
		printf("%lld %lld\n", due, now - due);
	}
	return fflush(stdout) ? 1 : 0;
}
