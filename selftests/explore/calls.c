// SPDX-License-Identifier: GPL-2.0
/*
 * Writes each call of a function of the module, and each return, to the file that EXPLORE_CALLS
 * names: one byte, and the function's offset in the program. selftests/rooms reads it.
 */
#include <stdio.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))

extern const char __executable_start[];

void __cyg_profile_func_enter(void *function, void *from) QUIET;
void __cyg_profile_func_exit(void *function, void *from) QUIET;

static QUIET void say_call(char what, const char *function)
{
	static FILE *file;

	if (!file)
		file = fopen(getenv("EXPLORE_CALLS"), "w");
	if (!file || fprintf(file, "%c%lx\n", what, (long)(function - __executable_start)) < 0)
		abort();
}

void __cyg_profile_func_enter(void *function, void *from)
{
	say_call('>', function);
}

void __cyg_profile_func_exit(void *function, void *from)
{
	say_call('<', function);
}
