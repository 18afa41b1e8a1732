// SPDX-License-Identifier: GPL-2.0
/* dcqcn show: devices and their settings, also under other systems' names. */
#include <stdio.h>
#include <stdlib.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "dialect.h"
#include "fail.h"
#include "json.h"
#include "knob.h"
#include "unit.h"

static void show_json(const struct dev *dev, const struct dialect *dialect)
{
	json_open_object(NULL);
	json_string("dev", dev->name);
	json_string("netdev", dev->ifname);
	json_number("ifindex", dev->ifindex);
	json_number("line_rate", dev->line_rate);
	json_open_object("settings");
	if (dialect)
		dialect_print(dialect, dev);
	for (int i = 1; !dialect && i <= RDMA_DCQCN_A_SETTINGS_MAX; i++)
		knob_json(&knobs[i], dev->settings[i]);
	if (!dialect)
		json_string(KNOB_ALGORITHM, dev->algorithm);
	json_close_object();
	json_close_object();
}

static void show_text(const struct dev *dev)
{
	char rate[UNIT_LEN];

	printf("%s netdev %s line %s\n", dev->name, dev->ifname,
	       unit_rate(rate, dev->line_rate));
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		printf("    %-30s ", knobs[i].name);
		knob_print(stdout, &knobs[i], dev->settings[i]);
		if (knobs[i].note)
			printf(" (%s)", knobs[i].note);
		putchar('\n');
	}
	printf("    %-30s %s (cc list)\n", KNOB_ALGORITHM, dev->algorithm);
}

int cmd_show(int argc, char **argv)
{
	static const struct option options[] = {
		{ "as", required_argument, NULL, 'a' },
		{}
	};
	const struct dialect *dialect = NULL;
	struct dev *list;

	while (arg_option(argc, argv, "+:", options) != -1) {
		dialect = dialect_find(optarg);
		if (!dialect)
			fail("show: \"%s\" is not ecn, cc_params or mlxconfig", optarg);
	}
	list = dev_list(arg_dev(argv + optind));
	if (option_json)
		json_open_array(NULL);
	for (struct dev *dev = list; dev; dev = dev->next) {
		if (option_json)
			show_json(dev, dialect);
		else if (dialect)
			dialect_print(dialect, dev);
		else
			show_text(dev);
	}
	if (option_json)
		json_close_array();
	dev_free(list);
	return EXIT_SUCCESS;
}
