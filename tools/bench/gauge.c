// SPDX-License-Identifier: GPL-2.0
/*
 * gauge: print how much numbers in files, and the TSC, grow within a time.
 *
 * usage: gauge MS FILE[:KEY]...
 *
 * The number is the first in the file, or the first after KEY. Prints one line:
 * the TSC's difference, then the files' in their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_FILES	16

struct sample {
	uint64_t tsc;
	uint64_t value[MAX_FILES];
};

static int nr_files;
static struct {
	const char *name, *key;
	int fd;
} files[MAX_FILES];

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "gauge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t number(int i)
{
	static char text[16384];
	ssize_t n = pread(files[i].fd, text, sizeof(text) - 1, 0);
	const char *at = text;

	if (n <= 0)
		die(files[i].name);
	text[n] = '\0';
	if (files[i].key) {
		at = strstr(text, files[i].key);
		if (!at)
			die(files[i].key);
		at += strlen(files[i].key);
	}
	return strtoull(at, NULL, 10);
}

static void take(struct sample *s)
{
	int i;

	s->tsc = __rdtsc();
	for (i = 0; i < nr_files; i++)
		s->value[i] = number(i);
}

int main(int argc, char **argv)
{
	struct timespec pause;
	struct sample a, b;
	unsigned long ms;
	char *colon;
	int i;

	nr_files = argc - 2;
	if (nr_files < 0 || nr_files > MAX_FILES) {
		fprintf(stderr, "usage: gauge MS FILE[:KEY]...\n");
		return 2;
	}
	ms = strtoul(argv[1], NULL, 10);
	pause = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	for (i = 0; i < nr_files; i++) {
		colon = strchr(argv[2 + i], ':');
		if (colon) {
			*colon = '\0';
			files[i].key = colon + 1;
		}
		files[i].name = argv[2 + i];
		files[i].fd = open(files[i].name, O_RDONLY);
		if (files[i].fd < 0)
			die(files[i].name);
	}
	take(&a);	/* faults everything in */
	take(&a);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	take(&b);

	printf("%" PRIu64, b.tsc - a.tsc);
	for (i = 0; i < nr_files; i++)
		printf(" %" PRIu64, b.value[i] - a.value[i]);
	putchar('\n');
	return 0;
}
