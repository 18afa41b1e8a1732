// SPDX-License-Identifier: GPL-2.0
/* dcqcn: shows and sets the congestion control of rxe devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma_dcqcn_version.h>

#include "command.h"
#include "commands.h"
#include "fail.h"
#include "json.h"

bool option_json;

static bool is_option(const char *arg, const char *name)
{
	arg++;
	if (*arg == '-')
		arg++;
	return *arg && !strncmp(name, arg, strlen(arg));
}

/* Fail if the output could not be written */
static _Noreturn void finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		fail_errno("standard output");
	exit(status);
}

/* Options come before the command, with one dash or two, and may be shortened.
 * Return their number.
 */
static int take_options(char **argv)
{
	int n;

	for (n = 0; argv[n] && *argv[n] == '-'; n++) {
		if (is_option(argv[n], "json")) {
			option_json = true;
		} else if (is_option(argv[n], "pretty")) {
			json_pretty = true;
		} else if (is_option(argv[n], "Version") ||
			   is_option(argv[n], "version")) {
			printf("dcqcn " RDMA_DCQCN_VERSION "\n");
			finish(EXIT_SUCCESS);
		} else if (is_option(argv[n], "help")) {
			command_help();
			finish(EXIT_SUCCESS);
		} else {
			fail("\"%s\": no such option (dcqcn help lists them)",
			     argv[n]);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	int n = take_options(argv + 1) + 1, status;

	if (!argv[n])
		fail("a command is missing (dcqcn help lists them)");
	status = command_run(argc - n, argv + n);
	if (option_json)
		json_end();
	finish(status);
}
