/* SPDX-License-Identifier: GPL-2.0 */
/* Quantities with units. See unit.c. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any of the unit_*() strings */
#define UNIT_LEN	24

enum unit {
	UNIT_NONE,
	UNIT_USEC,
	UNIT_MBPS,
	UNIT_BYTES,
	UNIT_PERCENT,
};

/* What is read, and the unit of the value */
enum unit_kind {
	UNIT_KIND_NUMBER,
	UNIT_KIND_RATE,		/* bit/s */
	UNIT_KIND_TIME,		/* us */
	UNIT_KIND_SIZE,		/* bytes */
	UNIT_KIND_SHARE,	/* of 1 */
	UNIT_KIND_LENGTH,	/* m */
};

bool unit_read(enum unit_kind kind, const char *s, double plain, double *value);

bool unit_parse(enum unit unit, const char *s, uint64_t *value,
		const char **problem);
bool unit_parse_nsec(const char *s, uint64_t *nsec);
bool unit_parse_share(const char *s, double *value);

bool unit_parse_prios(const char *s, uint64_t *prios);

const char *unit_rate(char buf[UNIT_LEN], uint64_t bps);
const char *unit_bytes(char buf[UNIT_LEN], uint64_t bytes);
const char *unit_nsec(char buf[UNIT_LEN], uint64_t nsec);
const char *unit_prios(char buf[UNIT_LEN], uint64_t prios);
const char *unit_value(char buf[UNIT_LEN], enum unit unit, uint64_t value);

#endif /* UNIT_H */
