/* SPDX-License-Identifier: GPL-2.0 */
/* Samples on a grid, written as CSV. See record.c. */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>

/* In ns; duration 0: no end; file NULL: standard output */
struct record {
	uint64_t interval;
	uint64_t duration;
	const char *file;
};

typedef void (*record_moment)(uint64_t time, void *data);

void record_options(struct record *r, int argc, char **argv);
void record_write(const struct record *r, void (*header)(void),
		  record_moment moment, void *data);
void record_time(uint64_t time);
void record_name(const char *name);

#endif /* RECORD_H */
