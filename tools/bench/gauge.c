// SPDX-License-Identifier: GPL-2.0
/*
 * gauge: how many instructions the CPU spent on anything but idling, and how
 * far counters moved meanwhile. For a guest of one CPU under QEMU's -icount
 * shift=0, where the TSC counts executed instructions: time that passes while
 * the CPU sleeps counts too, so a process of the lowest priority keeps it from
 * sleeping and says how many instructions it got. All others are the load's,
 * switching to and from that process included.
 *
 * usage: gauge spin SPINS		be that process
 *        gauge SPINS MS FILE...	measure
 *
 * Prints "busy N of M" and one "FILE N" per file, which holds a number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_FILES	16
#define SPIN_INSNS	2

struct sample {
	uint64_t tsc, spins;
	uint64_t value[MAX_FILES];
};

static volatile uint64_t *spins;
static int nr_files, fds[MAX_FILES];

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "gauge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void map_spins(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || ftruncate(fd, sizeof(*spins)))
		die(path);
	spins = mmap(NULL, sizeof(*spins), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (spins == MAP_FAILED)
		die(path);
}

__attribute__((noreturn))
static void spin(void)
{
	struct sched_param none = { 0 };

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("SCHED_IDLE");
	for (;;)
		asm volatile("1: incq %0\n\tjmp 1b" : "+m"(*spins));
}

static void take(struct sample *s)
{
	char text[32];
	ssize_t n;
	int i;

	s->tsc = __rdtsc();
	s->spins = *spins;
	for (i = 0; i < nr_files; i++) {
		n = pread(fds[i], text, sizeof(text) - 1, 0);
		if (n <= 0)
			die("reading a counter");
		text[n] = '\0';
		s->value[i] = strtoull(text, NULL, 10);
	}
}

int main(int argc, char **argv)
{
	struct timespec pause;
	struct sample a, b;
	unsigned long ms;
	uint64_t all;
	int i;

	nr_files = argc - 3;
	if (nr_files < 0 || nr_files > MAX_FILES) {
		fprintf(stderr, "usage: gauge spin SPINS | gauge SPINS MS FILE...\n");
		return 2;
	}
	if (!strcmp(argv[1], "spin")) {
		map_spins(argv[2]);
		spin();
	}
	map_spins(argv[1]);
	ms = strtoul(argv[2], NULL, 10);
	pause = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	for (i = 0; i < nr_files; i++) {
		fds[i] = open(argv[3 + i], O_RDONLY);
		if (fds[i] < 0)
			die(argv[3 + i]);
	}
	take(&a);	/* faults everything in */
	take(&a);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	take(&b);

	all = b.tsc - a.tsc;
	printf("busy %" PRIu64 " of %" PRIu64 "\n", all - (b.spins - a.spins) * SPIN_INSNS, all);
	for (i = 0; i < nr_files; i++)
		printf("%s %" PRIu64 "\n", argv[3 + i], b.value[i] - a.value[i]);
	return 0;
}
