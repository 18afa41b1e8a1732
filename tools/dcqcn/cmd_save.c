// SPDX-License-Identifier: GPL-2.0
/* dcqcn save: settings as lines that dcqcn restore reads. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "dev.h"
#include "knob.h"

int cmd_save(int argc, char **argv)
{
	const char *file = NULL;
	struct dev *list;
	int c;

	while ((c = getopt(argc, argv, "+o:")) != -1) {
		if (c != 'o')
			usage(argv[0]);
		file = optarg;
	}
	if (argc > optind + 1)
		usage(argv[0]);
	list = dev_list(argv[optind]);
	if (file && !freopen(file, "w", stdout))
		err(EXIT_FAILURE, "%s", file);
	printf("# dcqcn restore: device, knob, value\n");
	for (const struct dev *dev = list; dev; dev = dev->next) {
		for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
			printf("%s %s ", dev->name, knobs[i].name);
			knob_print(stdout, &knobs[i], dev->settings[i]);
			putchar('\n');
		}
	}
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "%s", file ?: "output");
	dev_free(list);
	return EXIT_SUCCESS;
}
