// SPDX-License-Identifier: GPL-2.0
/*
 * JSON on standard output: one value, on one line or, pretty, on many. Nothing is
 * printed before the value is complete, so an error never leaves half of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clean.h"
#include "json.h"

bool json_pretty;

static FILE *out;
static char *text;
static size_t size;
static int depth;
static bool first = true;	/* in the innermost array or object */
static bool printed;

static void put_string(const char *s)
{
	size_t len;

	putc('"', out);
	for (; *s; s += len) {
		unsigned char c = *s;

		len = clean_len(s);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (len)
			fwrite(s, 1, len, out);
		else
			fputs("\\ufffd", out);
		len += !len;
	}
	putc('"', out);
}

static void new_line(void)
{
	if (json_pretty)
		fprintf(out, "\n%*s", 2 * depth, "");
}

/* Print what separates a value from the one before it */
static void begin(const char *name)
{
	if (!out)
		out = open_memstream(&text, &size);
	if (!out)
		abort();
	if (!first)
		putc(',', out);
	if (depth)
		new_line();
	first = false;
	if (name) {
		put_string(name);
		fputs(json_pretty ? ": " : ":", out);
	}
}

static void nest(const char *name, char c)
{
	begin(name);
	putc(c, out);
	depth++;
	first = true;
}

static void discard(void)
{
	if (out)
		fclose(out);
	free(text);
	out = NULL;
	text = NULL;
	depth = 0;
	first = true;
}

static void print(void)
{
	putc('\n', out);
	fflush(out);
	fputs(text, stdout);
	discard();
	printed = true;
}

static void unnest(char c)
{
	depth--;
	if (!first)
		new_line();
	putc(c, out);
	first = false;
	if (!depth)
		print();
}

void json_open_array(const char *name)
{
	nest(name, '[');
}

void json_close_array(void)
{
	unnest(']');
}

void json_open_object(const char *name)
{
	nest(name, '{');
}

void json_close_object(void)
{
	unnest('}');
}

void json_string(const char *name, const char *value)
{
	begin(name);
	put_string(value);
}

void json_number(const char *name, uint64_t value)
{
	begin(name);
	fprintf(out, "%llu", (unsigned long long)value);
}

void json_real(const char *name, double value)
{
	begin(name);
	if (isfinite(value))
		fprintf(out, "%.9g", value);
	else
		fputs("null", out);
}

/* As many digits as tell it from all other numbers */
void json_exact(const char *name, double value)
{
	begin(name);
	if (isfinite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("null", out);
}

/* A list is easier to read than a number made of bits */
void json_bits(const char *name, uint64_t bits)
{
	json_open_array(name);
	for (int i = 0; bits; i++, bits >>= 1) {
		if (bits & 1)
			json_number(NULL, i);
	}
	json_close_array();
}

/* Print an object with the error, instead of the value that was begun */
void json_error(const char *error)
{
	if (printed)
		return;
	discard();
	json_open_object(NULL);
	json_string("error", error);
	json_close_object();
}

/* With -j, print a value even if there is nothing to show */
void json_end(void)
{
	if (printed)
		return;
	json_open_object(NULL);
	json_close_object();
}
