// SPDX-License-Identifier: GPL-2.0
/* dcqcn cc: list the congestion control algorithms, and choose one for devices or a QP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "filter.h"
#include "json.h"

static void list_json(const char *name, const struct dev *devs)
{
	json_open_object(NULL);
	json_string("algorithm", name);
	json_open_array("devs");
	for (; devs; devs = devs->next) {
		if (!strcmp(name, devs->algorithm))
			json_string(NULL, devs->name);
	}
	json_close_array();
	json_close_object();
}

static void list_text(const char *name, const struct dev *devs)
{
	printf("%s", name);
	for (; devs; devs = devs->next) {
		if (!strcmp(name, devs->algorithm))
			printf(" %s", devs->name);
	}
	putchar('\n');
}

/* All devices have the same algorithms */
int cmd_cc_list(int argc __attribute__((unused)), char **argv)
{
	struct dev *devs;
	char *names, *name;

	arg_none(argv + 1);
	devs = dev_list(NULL);
	names = strdup(devs ? devs->algorithms : "");
	if (!names)
		fail_errno("algorithms");
	if (option_json)
		json_open_array(NULL);
	for (name = strtok(names, " "); name; name = strtok(NULL, " "))
		(option_json ? list_json : list_text)(name, devs);
	if (option_json)
		json_close_array();
	free(names);
	dev_free(devs);
	return EXIT_SUCCESS;
}

/* "dev" stands for what the device uses */
int cmd_cc_use(int argc, char **argv)
{
	struct qp_filter qp;
	struct dev *devs;

	if (argc < 2)
		arg_missing("the algorithm");
	filter_parse(&qp, argv + 2);
	if (qp.qpn >= 0) {
		if (!qp.dev)
			arg_missing("the device");
		qp_set(&qp, strcmp(argv[1], "dev") ? argv[1] : "");
		return EXIT_SUCCESS;
	}
	devs = dev_list(qp.dev);
	/* it would check the name */
	if (!devs)
		fail("cc use: no rxe device here (rdma link add makes one)");
	for (const struct dev *d = devs; d; d = d->next)
		dev_set(d->name, NULL, argv[1], NULL, 0);
	dev_free(devs);
	return EXIT_SUCCESS;
}
