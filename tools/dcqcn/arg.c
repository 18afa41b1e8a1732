// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments that commands share. A wrong one ends the program; the message says what is wrong
 * and how the command is used.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "command.h"
#include "fail.h"
#include "unit.h"

#define COUNT_MAX	1000000000

void arg_unexpected(const char *word)
{
	fail("%s: \"%s\" is not expected here (usage: dcqcn %s)",
	     command_name(), word, command_usage());
}

void arg_missing(const char *what)
{
	fail("%s: %s is missing (usage: dcqcn %s)", command_name(), what,
	     command_usage());
}

void arg_missing_value(const char *name)
{
	fail("%s: the value of %s is missing (usage: dcqcn %s)",
	     command_name(), name, command_usage());
}

/* Like getopt_long(), but only for options that precede all other words. Return -1 after the last
 * one. @letters begin with "+:".
 */
int arg_option(int argc, char **argv, const char *letters,
	       const struct option *names)
{
	static const struct option none[] = { {} };
	int at = optind, c;

	opterr = 0;
	c = getopt_long(argc, argv, letters, names ?: none, NULL);
	if (c == ':')
		arg_missing_value(argv[optind - 1]);
	if (c == '?')
		arg_unexpected(argv[at]);
	return c;
}

uint64_t arg_nsec(const char *text)
{
	uint64_t nsec;

	if (!unit_parse_nsec(text, &nsec))
		fail("%s: \"%s\" is not a time, such as 10us, 50ms or 2s",
		     command_name(), text);
	return nsec;
}

uint64_t arg_interval(const char *text)
{
	uint64_t nsec = arg_nsec(text);

	if (!nsec)
		fail("%s: the interval must be longer than 0", command_name());
	return nsec;
}

/* A whole number, decimal or hexadecimal with 0x */
unsigned long arg_number(const char *what, const char *text, unsigned long least,
			 unsigned long most)
{
	unsigned long number;
	char *end = NULL;

	errno = 0;
	number = isdigit((unsigned char)*text) ?
		 strtoul(text, &end, tolower((unsigned char)text[1]) == 'x' ? 16 : 10) : 0;
	if (!end || *end || errno || number < least || number > most)
		fail("%s: \"%s\" is not a %s, %lu to %lu", command_name(), text,
		     what, least, most);
	return number;
}

/* How often; there is no end without it */
unsigned long arg_count(const char *text)
{
	return arg_number("count", text, 1, COUNT_MAX);
}

/* "dev DEV", or NULL for all devices; nothing may follow */
const char *arg_dev(char **argv)
{
	if (!*argv)
		return NULL;
	if (strcmp(*argv, "dev"))
		arg_unexpected(*argv);
	if (!argv[1])
		arg_missing("the device");
	arg_none(argv + 2);
	return argv[1];
}

void arg_none(char **argv)
{
	if (*argv)
		arg_unexpected(*argv);
}
