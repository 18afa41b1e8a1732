// SPDX-License-Identifier: GPL-2.0
/* dcqcn set: sets knobs, all of them at once. */
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"

int cmd_set(int argc, char **argv)
{
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1] = {};
	uint32_t which = 0;

	if (argc > 1 && strcmp(argv[1], "dev"))
		arg_unexpected(argv[1]);
	if (argc < 3)
		arg_missing("the device");
	if (argc < 4)
		arg_missing("a knob");
	for (int i = 3; i < argc; i += 2) {
		const struct knob *knob = knob_by_name(argv[i]);
		const char *problem;

		if (!knob)
			fail("set: \"%s\": no such knob (dcqcn show lists them)",
			     argv[i]);
		if (!argv[i + 1])
			arg_missing_value(knob->name);
		if (which & 1U << knob_attr(knob))
			fail("set: %s is given twice", knob->name);
		if (!knob_parse(knob, argv[i + 1],
				&settings[knob_attr(knob)], &problem))
			fail("%s: \"%s\" is not %s", knob->name,
			     argv[i + 1], problem);
		which |= 1U << knob_attr(knob);
	}
	dev_set(argv[2], NULL, settings, which);
	return EXIT_SUCCESS;
}
