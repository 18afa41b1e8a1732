// SPDX-License-Identifier: GPL-2.0
/* JSON on standard output, one value per line. */
#include <stdbool.h>
#include <stdio.h>

#include "json.h"

static int depth;
static bool first = true;	/* in the innermost array or object */

static void put_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void new_line(void)
{
	printf("\n%*s", 2 * depth, "");
}

/* What comes before each value */
static void begin(const char *name)
{
	if (!first)
		putchar(',');
	if (depth)
		new_line();
	first = false;
	if (name) {
		put_string(name);
		printf(": ");
	}
}

static void nest(const char *name, char c)
{
	begin(name);
	putchar(c);
	depth++;
	first = true;
}

static void unnest(char c)
{
	depth--;
	if (!first)
		new_line();
	putchar(c);
	first = false;
	if (!depth) {
		putchar('\n');
		first = true;
	}
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
	printf("%llu", (unsigned long long)value);
}

void json_real(const char *name, double value)
{
	begin(name);
	printf("%.9g", value);
}

/* All digits that tell it from other numbers */
void json_exact(const char *name, double value)
{
	begin(name);
	printf("%.17g", value);
}
