// SPDX-License-Identifier: GPL-2.0
/* dcqcn save: settings as lines that dcqcn restore reads. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"

/* What is written until it is complete; empty if @file is written itself */
static char new_file[PATH_MAX];
/* Behind symbolic links, which stay */
static char target[PATH_MAX];

static _Noreturn void give_up(const char *file)
{
	int error = errno;

	if (*new_file)
		unlink(new_file);
	errno = error;
	fail_errno(file ?: "output");
}

/* An error must not cost the settings that were saved before. A terminal or a pipe cannot be
 * replaced.
 */
static void begin(const char *file)
{
	struct stat st;
	bool is_new = stat(file, &st);

	if (!realpath(file, target))
		snprintf(target, sizeof(target), "%s", file);
	if ((is_new || S_ISREG(st.st_mode)) &&
	    snprintf(new_file, sizeof(new_file), "%s.new", target) >= (int)sizeof(new_file))
		fail("%.20s...: the name is too long", file);
	if (!freopen(*new_file ? new_file : file, "w", stdout))
		fail_errno(file);
	if (*new_file && !is_new && fchmod(STDOUT_FILENO, st.st_mode & 07777))
		give_up(file);
}

static void end(const char *file)
{
	if (fflush(stdout) || ferror(stdout))
		give_up(file);
	if (*new_file && (fsync(STDOUT_FILENO) || rename(new_file, target)))
		give_up(file);
}

int cmd_save(int argc, char **argv)
{
	const char *file = NULL;
	struct dev *list;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		file = optarg;
	list = dev_list(arg_dev(argv + optind));
	if (file)
		begin(file);
	printf("# dcqcn restore: device, knob, value\n");
	for (const struct dev *dev = list; dev; dev = dev->next) {
		for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
			printf("%s %s ", dev->name, knobs[i].name);
			knob_print(stdout, &knobs[i], dev->settings[i]);
			putchar('\n');
		}
	}
	end(file);
	dev_free(list);
	return EXIT_SUCCESS;
}
