// SPDX-License-Identifier: GPL-2.0
/* dcqcn set: turn knobs, all of them at once. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dev.h"
#include "knob.h"

int cmd_set(int argc, char **argv)
{
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1] = {};
	uint32_t which = 0;

	if (argc < 5 || argc % 2 == 0 || strcmp(argv[1], "dev"))
		usage(argv[0]);
	for (int i = 3; i < argc; i += 2) {
		const struct knob *knob = knob_by_name(argv[i]);
		const char *problem;

		if (!knob)
			errx(EXIT_FAILURE, "no knob \"%s\": see dcqcn show",
			     argv[i]);
		if (!knob_parse(knob, argv[i + 1],
				&settings[knob_attr(knob)], &problem))
			errx(EXIT_FAILURE, "%s: \"%s\" is not %s", knob->name,
			     argv[i + 1], problem);
		which |= 1U << knob_attr(knob);
	}
	dev_set(argv[2], NULL, settings, which);
	return EXIT_SUCCESS;
}
