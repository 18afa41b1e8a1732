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

#define DIGITS		"0123456789"
#define PRIOS		8
#define ALL_PRIOS	((1U << PRIOS) - 1)

/*
 * The units that all tools read, as selftests/tools/units.txt tests; those in Python have them in
 * testbed/core/units.py, the model's page in page.js. unit.h says which unit a kind's value is in.
 */
struct name {
	const char *name;
	double worth;
};

static const struct name no_names[] = {
	{}
};

static const struct name rate_names[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 }, { "tbit", 1e12 },
	{ "b/s", 1 }, { "kb/s", 1e3 }, { "mb/s", 1e6 }, { "gb/s", 1e9 }, { "tb/s", 1e12 }, {}
};

static const struct name time_names[] = {
	{ "us", 1 }, { "usec", 1 }, { "ns", 1e-3 }, { "nsec", 1e-3 },
	{ "ms", 1e3 }, { "msec", 1e3 }, { "s", 1e6 }, { "sec", 1e6 },
	{ "m", 60e6 }, { "min", 60e6 }, { "h", 3600e6 }, {}
};

static const struct name size_names[] = {
	{ "b", 1 }, { "kb", 1e3 }, { "mb", 1e6 }, { "gb", 1e9 }, { "tb", 1e12 },
	{ "kib", 0x1p10 }, { "mib", 0x1p20 }, { "gib", 0x1p30 }, { "tib", 0x1p40 }, {}
};

static const struct name share_names[] = {
	{ "%", 0.01 }, {}
};

static const struct name length_names[] = {
	{ "m", 1 }, { "km", 1e3 }, { "us", 200 }, { "ns", 0.2 }, {}	/* 5 ns per metre */
};

static const struct name * const kinds[] = {
	[UNIT_KIND_NUMBER] = no_names,
	[UNIT_KIND_RATE] = rate_names,
	[UNIT_KIND_TIME] = time_names,
	[UNIT_KIND_SIZE] = size_names,
	[UNIT_KIND_SHARE] = share_names,
	[UNIT_KIND_LENGTH] = length_names,
};

/* Digits, decimals, and an exponent. No signs, no hexadecimal, no "inf" */
static const char *number(const char *s, double *value)
{
	const char *end = s + strspn(s, DIGITS), *digits;

	if (end == s)
		return NULL;
	if (*end == '.')
		end += 1 + strspn(end + 1, DIGITS);
	if (tolower((unsigned char)*end) == 'e') {
		digits = end + 1 + (end[1] == '+' || end[1] == '-');
		if (isdigit((unsigned char)*digits))
			end = digits + strspn(digits, DIGITS);
	}
	*value = strtod(s, NULL);
	return isfinite(*value) ? end : NULL;
}

/* Small and capital letters are the same, except that MB/s is not Mb/s */
static bool is_name(const char *name, const char *s)
{
	return !strcasecmp(name, s) && !(strchr(s, '/') && strchr(s, 'B'));
}

/*
 * A number, and the name of a unit, maybe after blanks. @plain: what a number without one is worth;
 * 0: it must have one.
 */
bool unit_read(enum unit_kind kind, const char *s, double plain, double *value)
{
	const struct name *n = kinds[kind];

	s = number(s, value);
	if (!s)
		return false;
	if (!*s) {
		*value *= plain;
		return plain && isfinite(*value);
	}
	s += strspn(s, " ");
	for (; n->name && !is_name(n->name, s); n++)
		;
	if (!n->name || !*s)
		return false;
	*value *= n->worth;
	return isfinite(*value);
}

static const struct {
	enum unit_kind kind;
	double worth;		/* of the knob's own unit */
	const char *whole;
} units[] = {
	[UNIT_NONE] = { UNIT_KIND_NUMBER, 1, "a whole number" },
	[UNIT_USEC] = { UNIT_KIND_TIME, 1, "a time in whole us, such as 55us or 4ms" },
	[UNIT_MBPS] = { UNIT_KIND_RATE, 1e6, "a rate in whole Mb/s, such as 20mbit or 1gbit" },
	[UNIT_BYTES] = { UNIT_KIND_SIZE, 1, "bytes, such as 32767 or 10MB" },
	[UNIT_PERCENT] = { UNIT_KIND_SHARE, 0.01, "a percentage, such as 50%" },
};

/*
 * @problem says what was expected. Accepts any whole number that a double can
 * hold; the kernel checks the range.
 */
bool unit_parse(enum unit unit, const char *s, uint64_t *value,
		const char **problem)
{
	double v;

	*problem = units[unit].whole;
	if (!unit_read(units[unit].kind, s, units[unit].worth, &v))
		return false;
	v /= units[unit].worth;
	/* 0.02gbit is whole, if not exactly so in binary */
	if (v > 0x1p53 || fabs(v - round(v)) > 1e-9 * (v + 1))
		return false;
	*value = round(v);
	return true;
}

/* Without a name it is in seconds, as for sleep(1) */
bool unit_parse_nsec(const char *s, uint64_t *nsec)
{
	double usec;

	if (!unit_read(UNIT_KIND_TIME, s, 1e6, &usec) || usec * 1e3 > 0x1p62)
		return false;
	*nsec = round(usec * 1e3);
	return true;
}

/* Such as 0.1, 10% or 1/16 */
bool unit_parse_share(const char *s, double *value)
{
	const char *end;
	double part;

	end = number(s, value);
	if (!end || *end != '/')
		return unit_read(UNIT_KIND_SHARE, s, 1, value);
	end = number(end + 1, &part);
	if (!end || *end || !part)
		return false;
	*value /= part;
	return isfinite(*value);
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

/* Print at most three decimals, without trailing zeros */
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

/* Print every digit, because none may be lost */
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
