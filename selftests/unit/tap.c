// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

/* One mistake often shows in every later step: the first few tell the story */
#define MESSAGES_PER_TEST 5

static unsigned int failures;	/* in the running test */

bool tap_expect(bool cond, const char *file, int line, const char *fmt, ...)
{
	va_list args;

	if (cond)
		return true;
	if (failures++ >= MESSAGES_PER_TEST)
		return false;
	printf("# %s:%d: ", file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return false;
}

void tap_note(const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void tap_plan(size_t n)
{
	/* a sanitizer that ends the program must not take the results along */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", n);
}

int tap_run(const struct tap_test *tests, size_t n)
{
	size_t failed = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		failures = 0;
		tests[i].run();
		if (failures)
			failed++;
		printf("%s %zu - %s\n", failures ? "not ok" : "ok", i + 1,
		       tests[i].name);
	}
	return failed ? 1 : 0;
}
