// SPDX-License-Identifier: GPL-2.0
/* dcqcn set: sets knobs and the algorithm, all at once, also to what a dump of a card has. */
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "dialect.h"
#include "fail.h"
#include "knob.h"

/* Take what a file has and is not given, and return the set of its settings */
static uint32_t set_from(const char *file, const char *name,
			 uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1],
			 uint32_t given, char **algorithm)
{
	struct dev *dev = dev_list(name);
	char before[DEV_NAME_LEN];
	uint32_t which;

	if (!dev)
		fail("%s: the device is gone", name);
	strcpy(before, dev->algorithm);
	which = dialect_read(file, dev) & ~given;
	/* an older module knows no algorithms */
	if (!*algorithm && strcmp(before, dev->algorithm))
		*algorithm = strdup(dev->algorithm);

	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (which & 1U << i)
			settings[i] = dev->settings[i];
	}
	dev_free(dev);
	return which;
}

int cmd_set(int argc, char **argv)
{
	static const struct option options[] = {
		{ "from", required_argument, NULL, 'f' },
		{}
	};
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1] = {};
	const char *file = NULL, *name;
	char *algorithm = NULL;
	uint32_t which = 0;

	while (arg_option(argc, argv, "+:", options) != -1) {
		if (file)
			fail("set: --from is given twice");
		file = optarg;
	}
	argc -= optind;
	argv += optind;
	if (argc > 0 && strcmp(argv[0], "dev"))
		arg_unexpected(argv[0]);
	if (argc < 2)
		arg_missing("the device");
	if (argc < 3 && !file)
		arg_missing("a knob");
	name = argv[1];
	for (int i = 2; i < argc; i += 2) {
		const struct knob *knob = knob_by_name(argv[i]);
		const char *problem;

		if (!strcmp(argv[i], KNOB_ALGORITHM)) {
			if (!argv[i + 1])
				arg_missing_value(argv[i]);
			if (algorithm)
				fail("set: %s is given twice", argv[i]);
			algorithm = argv[i + 1];
			continue;
		}
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
	if (file)
		which |= set_from(file, name, settings, which, &algorithm);
	/* a dump may have only the algorithm that is in use */
	if (algorithm || which)
		dev_set(name, NULL, algorithm, settings, which);
	return EXIT_SUCCESS;
}
