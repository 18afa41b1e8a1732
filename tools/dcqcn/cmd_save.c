// SPDX-License-Identifier: GPL-2.0
/* dcqcn save: settings as lines that dcqcn restore reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"
#include "replace.h"

int cmd_save(int argc, char **argv)
{
	const char *file = NULL;
	struct dev *list;
	char *text = NULL;
	size_t len;
	FILE *out;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		file = optarg;
	list = dev_list(arg_dev(argv + optind));
	out = file ? open_memstream(&text, &len) : stdout;
	if (!out)
		fail_errno(file);
	fprintf(out, "# dcqcn restore: device, knob, value\n");
	for (const struct dev *dev = list; dev; dev = dev->next) {
		for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
			fprintf(out, "%s %s ", dev->name, knobs[i].name);
			knob_print(out, &knobs[i], dev->settings[i]);
			putc('\n', out);
		}
		fprintf(out, "%s %s %s\n", dev->name, KNOB_ALGORITHM, dev->algorithm);
	}
	if (file) {
		if (fclose(out))
			fail_errno(file);
		replace_file(file, text, len);
		free(text);
	}
	dev_free(list);
	return EXIT_SUCCESS;
}
