// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn save, restore, set --from, cc use and profile apply without a kernel: prints what they
 * would set of two devices, whose kernel has three algorithms and a profile, or of none. settings.sh
 * says what that must be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"
#include "profile.h"
#include "qp.h"

bool option_json;

static struct dev devs[] = {
	{ .name = "rxe0", .algorithm = "dcqcn", .algorithms = "dcqcn swift timely", .next = &devs[1] },
	{ .name = "rxe1", .algorithm = "swift", .algorithms = "dcqcn swift timely" },
};

static bool no_devices;

struct dev *dev_list(const char *name)
{
	return no_devices ? NULL : name ? dev_find(devs, name) : devs;
}

struct dev *dev_find(struct dev *list, const char *name)
{
	while (list && strcmp(list->name, name))
		list = list->next;
	return list;
}

void dev_free(struct dev *list)
{
	(void)list;
}

void dev_set(const char *name, const char *profile, const char *algorithm,
	     const uint32_t *settings, uint32_t which)
{
	if (profile)
		printf("%s profile %s\n", name, profile);
	else if (!algorithm && !which)
		fail("%s: nothing to set", name);
	if (algorithm && strcmp(algorithm, "dcqcn") && strcmp(algorithm, "swift") &&
	    strcmp(algorithm, "timely"))
		fail("%s: no such algorithm", name);
	if (which & 1U << RDMA_DCQCN_A_SETTINGS_RPG_GD && settings[RDMA_DCQCN_A_SETTINGS_RPG_GD] > 31)
		fail("%s: out of range", name);
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (which & 1U << i)
			printf("%s %s %u\n", name, knobs[i].name, settings[i]);
	}
	if (algorithm)
		printf("%s cc_algorithm %s\n", name, algorithm);
}

void qp_set(const struct qp_filter *qp, const char *algorithm)
{
	fail("%s, QP %ld: %s", qp->dev, qp->qpn, algorithm);
}

struct profile *profile_list(void)
{
	static struct profile mlx5 = { .name = "mlx5" };

	return &mlx5;
}

const struct profile *profile_find(const struct profile *list, const char *name)
{
	return strcmp(list->name, name) ? NULL : list;
}

void profile_free(struct profile *list)
{
	(void)list;
}

bool profile_has(int knob)
{
	return knob;
}

bool profile_is(const struct profile *profile, const struct dev *dev)
{
	return profile && dev;
}

const char *command_name(void)
{
	return "settings";
}

const char *command_usage(void)
{
	return "";
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return EXIT_FAILURE;
	no_devices = strstr(argv[1], "-nowhere");
	return !strcmp(argv[1], "set") ? cmd_set(argc - 1, argv + 1) :
	       !strncmp(argv[1], "use", 3) ? cmd_cc_use(argc - 1, argv + 1) :
	       !strncmp(argv[1], "apply", 5) ? cmd_profile_apply(argc - 1, argv + 1) :
	       strcmp(argv[1], "save") ? cmd_restore(argc - 1, argv + 1) :
	       cmd_save(argc - 1, argv + 1);
}
