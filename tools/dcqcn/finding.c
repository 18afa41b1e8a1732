// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's findings, as text or JSON. A finding has three parts: what was
 * seen, why it matters, and the shell command that fixes it, or shows more. A
 * comment, or a fix for which there is no command, comes after a #.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "finding.h"
#include "json.h"

static int count;

static void part(const char *name, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		abort();
	if (option_json)
		json_string(name, text);
	else
		printf("    %-5s %s\n", name, text);
	free(text);
}

void finding_open(void)
{
	if (option_json)
		json_open_array(NULL);
}

void finding_seen(const char *id, const char *host, const char *dev,
		  const char *format, ...)
{
	va_list args;

	count++;
	if (option_json) {
		json_open_object(NULL);
		json_string("finding", id);
		json_string("host", host);
		json_string("dev", dev);
	} else {
		printf("%s: %s on %s\n", id, dev, host);
	}
	va_start(args, format);
	part("seen", format, args);
	va_end(args);
}

void finding_why(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	part("why", format, args);
	va_end(args);
}

void finding_fix(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	part("fix", format, args);
	va_end(args);
	if (option_json)
		json_close_object();
}

/* Worth knowing, but not a fault */
void finding_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Return the number of findings */
int finding_close(void)
{
	if (option_json)
		json_close_array();
	else if (!count)
		printf("nothing found\n");
	return count;
}
