/* SPDX-License-Identifier: GPL-2.0 */
/* How the program ends after an error. See fail.c. */
#ifndef FAIL_H
#define FAIL_H

#include <stdbool.h>

void fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void fail_errno(const char *object) __attribute__((noreturn));
void fail_at(const char *where);
bool fail_survive(void (*work)(void *data), void *data);

#endif /* FAIL_H */
