/* SPDX-License-Identifier: GPL-2.0 */
/* What dcqcn record and dcqcn port record wrote. See recording.c. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stddef.h>
#include <stdio.h>

#define RECORDING_COLUMNS	8	/* at most */

/**
 * struct recording_row - a sample
 * @time: s
 * @value: of each of the columns that were asked for
 */
struct recording_row {
	double time;
	double value[RECORDING_COLUMNS];
};

/**
 * struct recording_series - the samples of one QP or class
 * @name: DEVICE:QPN or DEVICE:PRIO, clean
 */
struct recording_series {
	char *name;
	struct recording_row *rows;
	size_t num_rows, room;
};

struct recording {
	double begin, end;
	struct recording_series *series;
	size_t num_series;
};

void recording_read(struct recording *r, FILE *in, const char *file, char *header,
		    const char *key, const char *const *columns);

#endif /* RECORDING_H */
