// SPDX-License-Identifier: GPL-2.0
/*
 * How the program ends after an error: one line on
 * standard error that names the object and the rule and, with -j, the same in
 * an object on standard output.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "commands.h"
#include "fail.h"
#include "json.h"

void fail(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	if (option_json)
		json_error(text);
	fprintf(stderr, "dcqcn: %s\n", clean(text));
	exit(EXIT_FAILURE);
}

void fail_errno(const char *object)
{
	fail("%s: %s", object, strerror(errno));
}
