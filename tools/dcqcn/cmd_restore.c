// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn restore: reads what dcqcn save wrote. A line is a device, a knob and a value;
 * a device's lines are applied together. Devices that do not exist are skipped:
 * udev restores them when they appear. Knobs that are unknown, as those of a newer
 * release are, algorithms that are not loaded, and devices that refuse their values
 * cost only themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arg.h"
#include "clean.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "knob.h"

#define DEFAULT_FILE	"/etc/rdma_dcqcn.conf"

struct saved {
	char name[DEV_NAME_LEN];
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	uint32_t which;
	char *algorithm;
	const struct dev *dev;		/* that exists */
	struct saved *next;
};

/* What to say in the end of the first knob or algorithm that is unknown */
static char *unknown;

static struct saved *saved_find(struct saved **list, const char *name)
{
	struct saved *saved;

	for (; *list; list = &(*list)->next) {
		if (!strcmp((*list)->name, name))
			return *list;
	}
	saved = calloc(1, sizeof(*saved));
	if (!saved)
		fail_errno("devices");
	strncpy(saved->name, name, sizeof(saved->name) - 1);
	*list = saved;
	return saved;
}

static void read_line(char *line, struct saved **list, const char *file, int n)
{
	const char *name, *knob_name, *value, *problem;
	const struct knob *knob;
	struct saved *saved;

	clean_line(line);
	name = strtok(line, " \t");
	if (!name)
		return;
	knob_name = strtok(NULL, " \t");
	value = strtok(NULL, " \t");
	if (!value || strtok(NULL, " \t"))
		fail("%s:%d: must be a device, a knob and a value", file, n);
	if (!strcmp(knob_name, KNOB_ALGORITHM)) {
		saved = saved_find(list, name);
		free(saved->algorithm);
		saved->algorithm = strdup(value);
		if (!saved->algorithm)
			fail_errno(file);
		return;
	}
	knob = knob_by_name(knob_name);
	if (!knob) {
		if (!unknown &&
		    asprintf(&unknown, "%s:%d: \"%s\": no such knob (dcqcn show lists them); all others are restored",
			     file, n, knob_name) < 0)
			fail_errno(file);
		return;
	}
	saved = saved_find(list, name);
	if (!knob_parse(knob, value, &saved->settings[knob_attr(knob)],
			&problem))
		fail("%s:%d: %s: \"%s\" is not %s", file, n,
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
		fail_errno(file);
	for (int n = 1; getline(&line, &size, f) != -1; n++)
		read_line(line, &list, file, n);
	if (ferror(f))
		fail_errno(file);
	free(line);
	fclose(f);
	return list;
}

static bool has_algorithm(const struct dev *dev, const char *name)
{
	size_t len = strlen(name);

	/* names with spaces in between */
	for (const char *at = dev->algorithms; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (strcspn(at, " ") == len && !strncmp(at, name, len))
			return true;
	}
	return false;
}

static void restore(void *data)
{
	const struct saved *saved = data;
	const struct dev *dev = saved->dev;
	const char *algorithm = saved->algorithm;

	/* older modules know neither another one nor the attribute */
	if (algorithm && !strcmp(algorithm, dev->algorithm))
		algorithm = NULL;
	if (algorithm && !has_algorithm(dev, algorithm)) {
		if (!unknown &&
		    asprintf(&unknown, "%s: \"%s\": no such algorithm (dcqcn cc list lists them); all other settings are restored",
			     dev->name, algorithm) < 0)
			fail_errno(dev->name);
		algorithm = NULL;
	}
	if (algorithm || saved->which)
		dev_set(dev->name, NULL, algorithm, saved->settings, saved->which);
}

int cmd_restore(int argc, char **argv)
{
	const char *file = DEFAULT_FILE, *name = NULL;
	struct saved *list, *next;
	struct dev *devs;
	bool ok = true;

	argc--;
	argv++;
	if (argc && !strcmp(*argv, "dev")) {
		if (argc < 2)
			arg_missing("the device");
		name = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (argc) {
		file = *argv;
		arg_none(argv + 1);
	}

	list = read_file(file);
	devs = dev_list(NULL);
	for (; list; list = next) {
		next = list->next;
		list->dev = dev_find(devs, list->name);
		if (list->dev && (!name || !strcmp(name, list->name)))
			ok &= fail_survive(restore, list);
		free(list->algorithm);
		free(list);
	}
	dev_free(devs);
	if (unknown)
		fail("%s", unknown);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
