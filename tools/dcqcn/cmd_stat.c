// SPDX-License-Identifier: GPL-2.0
/* dcqcn stat: counters, and how much they grow per second. */
#include <stdio.h>
#include <stdlib.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "dev.h"
#include "growth.h"
#include "json.h"

/* Gauges: they go up and down */
static bool is_level(int counter)
{
	return counter == RDMA_DCQCN_A_COUNTERS_RP_LIMITED_QPS ||
	       counter == RDMA_DCQCN_A_COUNTERS_RP_HELD_BYTES ||
	       counter == RDMA_DCQCN_A_COUNTERS_CCC_CONTEXTS;
}

static double per_second(const struct dev *before, const struct dev *dev,
			 int counter, double seconds)
{
	return growth(before->counters[counter], dev->counters[counter]) / seconds;
}

static void stat_json(const struct dev *dev, const struct dev *before,
		      double seconds)
{
	json_open_object(NULL);
	json_string("dev", dev->name);
	json_string("netdev", dev->ifname);
	json_open_object("counters");
	for (int i = 1; i <= RDMA_DCQCN_A_COUNTERS_MAX; i++) {
		if (counter_names[i])
			json_number(counter_names[i], dev->counters[i]);
	}
	json_close_object();
	if (before) {
		json_open_object("per_second");
		for (int i = 1; i <= RDMA_DCQCN_A_COUNTERS_MAX; i++) {
			if (counter_names[i] && !is_level(i))
				json_real(counter_names[i],
					  per_second(before, dev, i, seconds));
		}
		json_close_object();
	}
	json_close_object();
}

static void stat_text(const struct dev *dev, const struct dev *before,
		      double seconds)
{
	printf("%s netdev %s\n", dev->name, dev->ifname);
	for (int i = 1; i <= RDMA_DCQCN_A_COUNTERS_MAX; i++) {
		if (!counter_names[i])
			continue;
		printf("    %-28s %14llu", counter_names[i],
		       (unsigned long long)dev->counters[i]);
		if (before && !is_level(i))
			printf(" %12.1f/s",
			       per_second(before, dev, i, seconds));
		putchar('\n');
	}
}

int cmd_stat(int argc, char **argv)
{
	uint64_t interval = NSEC_PER_SEC;
	struct dev *before = NULL, *list;
	double seconds;
	uint64_t begin = 0;
	const char *name;

	while (arg_option(argc, argv, "+:i:", NULL) != -1)
		interval = arg_nsec(optarg);
	name = arg_dev(argv + optind);
	if (interval) {
		before = dev_list(name);
		begin = clock_now();
		clock_wait(begin + interval);
	}
	list = dev_list(name);
	seconds = (clock_now() - begin) / (double)NSEC_PER_SEC;

	if (option_json)
		json_open_array(NULL);
	for (struct dev *dev = list; dev; dev = dev->next)
		(option_json ? stat_json : stat_text)
			(dev, dev_find(before, dev->name), seconds);
	if (option_json)
		json_close_array();
	dev_free(before);
	dev_free(list);
	return EXIT_SUCCESS;
}
