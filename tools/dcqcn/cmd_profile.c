// SPDX-License-Identifier: GPL-2.0
/* dcqcn profile: list, show and apply the module's profiles. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dev.h"
#include "json.h"
#include "knob.h"
#include "profile.h"

static const struct profile *find(const struct profile *list, const char *name)
{
	const struct profile *profile = profile_find(list, name);

	if (!profile)
		errx(EXIT_FAILURE, "no profile \"%s\": see dcqcn profile list",
		     name);
	return profile;
}

static void list_json(const struct profile *profile, const struct dev *devs)
{
	json_open_object(NULL);
	json_string("profile", profile->name);
	json_open_array("devs");
	for (; devs; devs = devs->next) {
		if (profile_is(profile, devs))
			json_string(NULL, devs->name);
	}
	json_close_array();
	json_close_object();
}

static void list_text(const struct profile *profile, const struct dev *devs)
{
	printf("%s", profile->name);
	for (; devs; devs = devs->next) {
		if (profile_is(profile, devs))
			printf(" %s", devs->name);
	}
	putchar('\n');
}

static void list(const struct profile *profiles)
{
	struct dev *devs = dev_list(NULL);

	if (option_json)
		json_open_array(NULL);
	for (; profiles; profiles = profiles->next)
		(option_json ? list_json : list_text)(profiles, devs);
	if (option_json)
		json_close_array();
	dev_free(devs);
}

static void show(const struct profile *profile)
{
	if (option_json)
		json_open_object(NULL);
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (!profile_has(i))
			continue;
		if (option_json) {
			knob_json(&knobs[i], profile->settings[i]);
			continue;
		}
		printf("%-30s ", knobs[i].name);
		knob_print(stdout, &knobs[i], profile->settings[i]);
		if (knobs[i].note)
			printf(" (%s)", knobs[i].note);
		putchar('\n');
	}
	if (option_json)
		json_close_object();
}

static void apply(const struct profile *profile, const char *name)
{
	struct dev *devs = dev_list(name);

	for (const struct dev *dev = devs; dev; dev = dev->next)
		dev_set(dev->name, profile->name, NULL, 0);
	dev_free(devs);
}

int cmd_profile(int argc, char **argv)
{
	struct profile *profiles;
	const char *name = NULL;

	if (argc == 5 && (!strcmp(argv[3], "dev") || !strcmp(argv[3], "--dev")))
		name = argv[4];
	else if (argc > 3)
		usage(argv[0]);
	if (argc > 3 && strcmp(argv[1], "apply"))
		usage(argv[0]);

	profiles = profile_list();
	if (argc == 1 || (argc == 2 && !strcmp(argv[1], "list")))
		list(profiles);
	else if (argc == 3 && !strcmp(argv[1], "show"))
		show(find(profiles, argv[2]));
	else if (argc >= 3 && !strcmp(argv[1], "apply"))
		apply(find(profiles, argv[2]), name);
	else
		usage(argv[0]);
	profile_free(profiles);
	return EXIT_SUCCESS;
}
