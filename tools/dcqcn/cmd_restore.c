// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn restore: what dcqcn save wrote. A line is a device, a knob and a value;
 * a device's lines are applied together. Devices that are not there are left
 * out: their turn comes when they appear.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "dev.h"
#include "knob.h"

#define DEFAULT_FILE	"/etc/rdma_dcqcn.conf"

struct saved {
	char name[DEV_NAME_LEN];
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	uint32_t which;
	struct saved *next;
};

static struct saved *saved_find(struct saved **list, const char *name)
{
	struct saved *saved;

	for (; *list; list = &(*list)->next) {
		if (!strcmp((*list)->name, name))
			return *list;
	}
	saved = calloc(1, sizeof(*saved));
	if (!saved)
		err(EXIT_FAILURE, "devices");
	strncpy(saved->name, name, sizeof(saved->name) - 1);
	*list = saved;
	return saved;
}

static void read_line(char *line, struct saved **list, const char *file, int n)
{
	const char *name, *knob_name, *value, *problem;
	const struct knob *knob;
	struct saved *saved;

	line[strcspn(line, "#\n")] = '\0';
	name = strtok(line, " \t");
	if (!name)
		return;
	knob_name = strtok(NULL, " \t");
	value = strtok(NULL, " \t");
	if (!value || strtok(NULL, " \t"))
		errx(EXIT_FAILURE, "%s:%d: not a device, a knob and a value",
		     file, n);
	knob = knob_by_name(knob_name);
	if (!knob)
		errx(EXIT_FAILURE, "%s:%d: no knob \"%s\"", file, n, knob_name);
	saved = saved_find(list, name);
	if (!knob_parse(knob, value, &saved->settings[knob_attr(knob)],
			&problem))
		errx(EXIT_FAILURE, "%s:%d: %s: \"%s\" is not %s", file, n,
		     knob_name, value, problem);
	saved->which |= 1U << knob_attr(knob);
}

static struct saved *read_file(const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "r") : stdin;
	struct saved *list = NULL;
	char *line = NULL;
	size_t size = 0;

	if (!f)
		err(EXIT_FAILURE, "%s", file);
	for (int n = 1; getline(&line, &size, f) != -1; n++)
		read_line(line, &list, file, n);
	if (ferror(f))
		err(EXIT_FAILURE, "%s", file);
	free(line);
	fclose(f);
	return list;
}

int cmd_restore(int argc, char **argv)
{
	const char *file = DEFAULT_FILE, *name = NULL;
	struct saved *list, *next;
	struct dev *devs;

	argc--;
	argv++;
	if (argc >= 2 && (!strcmp(*argv, "dev") || !strcmp(*argv, "--dev"))) {
		name = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (argc > 1)
		usage("restore");
	if (argc)
		file = *argv;

	devs = dev_list(NULL);
	list = read_file(file);
	for (; list; list = next) {
		next = list->next;
		if ((!name || !strcmp(name, list->name)) &&
		    dev_find(devs, list->name))
			dev_set(list->name, NULL, list->settings, list->which);
		free(list);
	}
	dev_free(devs);
	return EXIT_SUCCESS;
}
