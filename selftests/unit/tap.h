/* SPDX-License-Identifier: GPL-2.0 */
/* Test Anything Protocol: a program is a table of named tests. */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

/* The value of @cond. If false, the running test fails, and says why. */
#define expect(cond, ...) tap_expect((cond), __FILE__, __LINE__, __VA_ARGS__)

bool tap_expect(bool cond, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A remark for people */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The head of the output; nothing may be printed before */
void tap_plan(size_t n);

/* Return: the program's exit status */
int tap_run(const struct tap_test *tests, size_t n);

#endif
