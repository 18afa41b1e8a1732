// SPDX-License-Identifier: GPL-2.0
/*
 * How the program ends after an error: one line on
 * standard error that names the object and the rule and, with -j, the same in
 * an object on standard output. If a command goes on with its other objects, that has the first
 * error.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "commands.h"
#include "fail.h"
#include "json.h"

/* Where fail() leads instead of the end of the program, or NULL */
static jmp_buf *survivor;

static const char *place = "";

/* From now on, messages begin with @where, such as "file:3: " */
void fail_at(const char *where)
{
	place = where;
}

void fail(const char *format, ...)
{
	va_list args;
	char *said, *text;

	va_start(args, format);
	if (vasprintf(&said, format, args) < 0 || asprintf(&text, "%s%s", place, said) < 0)
		abort();
	va_end(args);
	if (option_json)
		json_error(text);
	fprintf(stderr, "dcqcn: %s\n", clean(text));
	if (!survivor)
		exit(EXIT_FAILURE);
	free(said);
	free(text);
	longjmp(*survivor, 1);
}

/* Return false if an error ends @work, which then does not end the program */
bool fail_survive(void (*work)(void *data), void *data)
{
	jmp_buf here;

	if (setjmp(here)) {
		survivor = NULL;
		return false;
	}
	survivor = &here;
	work(data);
	survivor = NULL;
	return true;
}

void fail_errno(const char *object)
{
	fail("%s: %s", object, strerror(errno));
}
