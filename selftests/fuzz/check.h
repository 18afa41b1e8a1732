/* SPDX-License-Identifier: GPL-2.0 */
/* What must hold, or the fuzzer has found something. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define check(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
		abort();						\
	}								\
} while (0)

#endif /* FUZZ_CHECK_H */
