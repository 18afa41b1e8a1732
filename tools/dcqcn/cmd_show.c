// SPDX-License-Identifier: GPL-2.0
/* dcqcn show: devices and their settings. */
#include <stdio.h>
#include <stdlib.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "json.h"
#include "knob.h"
#include "unit.h"

static void show_json(const struct dev *dev)
{
	json_open_object(NULL);
	json_string("dev", dev->name);
	json_string("netdev", dev->ifname);
	json_number("ifindex", dev->ifindex);
	json_number("line_rate", dev->line_rate);
	json_open_object("settings");
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++)
		knob_json(&knobs[i], dev->settings[i]);
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
}

int cmd_show(int argc __attribute__((unused)), char **argv)
{
	struct dev *list = dev_list(arg_dev(argv + 1));

	if (option_json)
		json_open_array(NULL);
	for (struct dev *dev = list; dev; dev = dev->next)
		(option_json ? show_json : show_text)(dev);
	if (option_json)
		json_close_array();
	dev_free(list);
	return EXIT_SUCCESS;
}
