// SPDX-License-Identifier: GPL-2.0
/* dcqcn save: settings as lines that dcqcn restore reads. */
#include <stdio.h>
#include <stdlib.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"

int cmd_save(int argc, char **argv)
{
	const char *file = NULL;
	struct dev *list;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		file = optarg;
	list = dev_list(arg_dev(argv + optind));
	if (file && !freopen(file, "w", stdout))
		fail_errno(file);
	printf("# dcqcn restore: device, knob, value\n");
	for (const struct dev *dev = list; dev; dev = dev->next) {
		for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
			printf("%s %s ", dev->name, knobs[i].name);
			knob_print(stdout, &knobs[i], dev->settings[i]);
			putchar('\n');
		}
	}
	if (fflush(stdout) || ferror(stdout))
		fail_errno(file ?: "output");
	dev_free(list);
	return EXIT_SUCCESS;
}
