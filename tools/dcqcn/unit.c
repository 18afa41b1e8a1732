// SPDX-License-Identifier: GPL-2.0
/*
 * Quantities with units, as people type and read them. unit_parse() reads
 * what unit_value() prints.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "unit.h"

#define PRIOS		8
#define ALL_PRIOS	((1U << PRIOS) - 1)

/* A unit's name, and its value in the knob's own unit */
struct name {
	const char *name;
	double worth;
};

static const struct name usec_names[] = {
	{ "us", 1 }, { "usec", 1 }, { "ms", 1e3 }, { "msec", 1e3 },
	{ "s", 1e6 }, { "sec", 1e6 }, { "ns", 1e-3 }, { "nsec", 1e-3 }, {}
};

static const struct name mbps_names[] = {
	{ "mbit", 1 }, { "gbit", 1e3 }, { "kbit", 1e-3 }, { "bit", 1e-6 },
	{ "mb/s", 1 }, { "gb/s", 1e3 }, { "kb/s", 1e-3 }, { "tbit", 1e6 }, {}
};

static const struct name byte_names[] = {
	{ "b", 1 }, { "kb", 1e3 }, { "mb", 1e6 }, { "gb", 1e9 },
	{ "kib", 0x1p10 }, { "mib", 0x1p20 }, { "gib", 0x1p30 }, {}
};

static const struct name percent_names[] = {
	{ "%", 1 }, {}
};

static const struct name no_names[] = {
	{}
};

static const struct {
	const struct name *names;
	const char *whole;
} units[] = {
	[UNIT_NONE] = { no_names, "a whole number" },
	[UNIT_USEC] = { usec_names, "a time in whole us, such as 55us or 4ms" },
	[UNIT_MBPS] = { mbps_names,
			"a rate in whole Mb/s, such as 20mbit or 1gbit" },
	[UNIT_BYTES] = { byte_names, "bytes, such as 32767 or 10MB" },
	[UNIT_PERCENT] = { percent_names, "a percentage, such as 50%" },
};

/* A number that may have decimals, and a name; without one it is in the unit
 * itself. No signs, no exponents, no hexadecimal.
 */
static bool parse(const char *s, const struct name *names, double *value)
{
	double worth = 1;
	char *end;

	if (!isdigit((unsigned char)*s) || tolower(s[1]) == 'x')
		return false;
	*value = strtod(s, &end);
	for (const char *c = s; c < end; c++) {
		if (!isdigit((unsigned char)*c) && *c != '.')
			return false;
	}
	if (*end) {
		for (; names->name && strcasecmp(names->name, end); names++)
			;
		if (!names->name)
			return false;
		worth = names->worth;
	}
	*value *= worth;
	return true;
}

/*
 * @problem says what was expected. Accepts any whole number that a double can
 * hold; the kernel checks the range.
 */
bool unit_parse(enum unit unit, const char *s, uint64_t *value,
		const char **problem)
{
	double v;

	*problem = units[unit].whole;
	if (!parse(s, units[unit].names, &v) || v > 0x1p53)
		return false;
	/* 0.02gbit is whole, if not exactly so in binary */
	if (fabs(v - round(v)) > 1e-9 * (v + 1))
		return false;
	*value = round(v);
	return true;
}

/* Without a name it is in seconds, as for sleep(1) */
bool unit_parse_nsec(const char *s, uint64_t *nsec)
{
	static const struct name names[] = {
		{ "ns", 1e-9 }, { "nsec", 1e-9 }, { "us", 1e-6 },
		{ "usec", 1e-6 }, { "ms", 1e-3 }, { "msec", 1e-3 },
		{ "s", 1 }, { "sec", 1 }, { "m", 60 }, { "min", 60 },
		{ "h", 3600 }, {}
	};
	double v;

	if (!parse(s, names, &v) || v * 1e9 > 0x1p62)
		return false;
	*nsec = round(v * 1e9);
	return true;
}

/* "none", "all", or digits with commas between: 0,3 */
bool unit_parse_prios(const char *s, uint64_t *prios)
{
	*prios = 0;
	if (!strcmp(s, "none"))
		return true;
	if (!strcmp(s, "all")) {
		*prios = ALL_PRIOS;
		return true;
	}
	for (;;) {
		if (*s < '0' || *s >= '0' + PRIOS)
			return false;
		*prios |= 1U << (*s++ - '0');
		if (!*s)
			return true;
		if (*s++ != ',')
			return false;
	}
}

/* At most three decimals, and no zeros at their end */
static const char *print(char buf[UNIT_LEN], double v, const char *name)
{
	char number[UNIT_LEN - 8];

	snprintf(number, sizeof(number), "%.3f", v);
	for (size_t n = strlen(number); number[n - 1] == '0'; n--)
		number[n - 1] = '\0';
	if (number[strlen(number) - 1] == '.')
		number[strlen(number) - 1] = '\0';
	snprintf(buf, UNIT_LEN, "%s%s", number, name);
	return buf;
}

const char *unit_rate(char buf[UNIT_LEN], uint64_t bps)
{
	if (bps >= 1000000000)
		return print(buf, bps / 1e9, "gbit");
	if (bps >= 1000000)
		return print(buf, bps / 1e6, "mbit");
	if (bps >= 1000)
		return print(buf, bps / 1e3, "kbit");
	return print(buf, bps, "bit");
}

const char *unit_bytes(char buf[UNIT_LEN], uint64_t bytes)
{
	if (bytes >= 1000000000)
		return print(buf, bytes / 1e9, "GB");
	if (bytes >= 1000000)
		return print(buf, bytes / 1e6, "MB");
	if (bytes >= 1000)
		return print(buf, bytes / 1e3, "kB");
	return print(buf, bytes, "B");
}

const char *unit_nsec(char buf[UNIT_LEN], uint64_t nsec)
{
	if (nsec >= 1000000000)
		return print(buf, nsec / 1e9, "s");
	if (nsec >= 1000000)
		return print(buf, nsec / 1e6, "ms");
	if (nsec >= 1000)
		return print(buf, nsec / 1e3, "us");
	return print(buf, nsec, "ns");
}

/* In the form that unit_parse_prios() reads */
const char *unit_prios(char buf[UNIT_LEN], uint64_t prios)
{
	size_t len = 0;

	if (!prios || prios == ALL_PRIOS)
		return prios ? "all" : "none";
	for (int prio = 0; prio < PRIOS; prio++) {
		if (prios & 1U << prio)
			len += snprintf(buf + len, UNIT_LEN - len, "%s%d",
					len ? "," : "", prio);
	}
	return buf;
}

/* Exactly, because no digit may be lost */
const char *unit_value(char buf[UNIT_LEN], enum unit unit, uint64_t value)
{
	static const char * const names[] = {
		[UNIT_NONE] = "",
		[UNIT_USEC] = "us",
		[UNIT_MBPS] = "mbit",
		[UNIT_BYTES] = "B",
		[UNIT_PERCENT] = "%",
	};

	snprintf(buf, UNIT_LEN, "%llu%s", (unsigned long long)value,
		 names[unit]);
	return buf;
}
