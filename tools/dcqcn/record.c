// SPDX-License-Identifier: GPL-2.0
/*
 * Common code of the commands that record. Samples are taken on a grid of INTERVAL from
 * the first one on; those that are missed are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "clock.h"
#include "fail.h"
#include "record.h"

#define DEFAULT_INTERVAL	10000000	/* ns */

/* Take the options -i INTERVAL -d DURATION -o FILE. The next word is at optind. */
void record_options(struct record *r, int argc, char **argv)
{
	int c;

	*r = (struct record){ .interval = DEFAULT_INTERVAL };
	while ((c = arg_option(argc, argv, "+:i:d:o:", NULL)) != -1) {
		switch (c) {
		case 'i':
			r->interval = arg_interval(optarg);
			break;
		case 'd':
			r->duration = arg_nsec(optarg);
			if (!r->duration)
				fail("-d: the duration must be longer than 0 (without -d, recording lasts until interrupted)");
			break;
		case 'o':
			r->file = optarg;
			break;
		}
	}
}

static void moments(const struct record *r, record_moment moment, void *data)
{
	uint64_t begin = clock_now(), time = begin, due = begin;

	do {
		time = clock_now();
		moment(time, data);
		if (ferror(stdout))
			return;
		/* the next point of the grid that lies ahead */
		due += r->interval;
		time = clock_now();
		if (due < time)
			due += (time - due + r->interval - 1) / r->interval *
			       r->interval;
		if (r->duration && due - begin > r->duration)
			return;
	} while (clock_wait(due));
}

/* Record until the end or an interrupt; an error ends the program */
void record_write(const struct record *r, void (*header)(void),
		  record_moment moment, void *data)
{
	if (r->file && !freopen(r->file, "w", stdout))
		fail_errno(r->file);
	clock_end_on_signals();
	header();
	fflush(stdout);
	moments(r, moment, data);
	if (fflush(stdout) || ferror(stdout))
		fail_errno(r->file ?: "output");
}

/* A line's first column */
void record_time(uint64_t time)
{
	printf("%llu.%09llu", (unsigned long long)(time / NSEC_PER_SEC),
	       (unsigned long long)(time % NSEC_PER_SEC));
}

/* A column with a name, which may have any characters: in quotes if it needs them (RFC 4180) */
void record_name(const char *name)
{
	if (!strpbrk(name, ",\"")) {
		printf(",%s", name);
		return;
	}
	fputs(",\"", stdout);
	for (; *name; name++)
		printf(*name == '"' ? "\"\"" : "%c", *name);
	putchar('"');
}
