// SPDX-License-Identifier: GPL-2.0
/* dcqcn profile: list, show and apply the module's profiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "dev.h"
#include "fail.h"
#include "json.h"
#include "knob.h"
#include "profile.h"

static const struct profile *find(const struct profile *list, const char *name)
{
	const struct profile *profile = profile_find(list, name);

	if (!profile)
		fail("\"%s\": no such profile (dcqcn profile list lists them)",
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
		if (!profile->sets[i])
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

int cmd_profile_list(int argc __attribute__((unused)), char **argv)
{
	struct profile *profiles;

	arg_none(argv + 1);
	profiles = profile_list();
	list(profiles);
	profile_free(profiles);
	return EXIT_SUCCESS;
}

int cmd_profile_show(int argc, char **argv)
{
	struct profile *profiles;

	if (argc < 2)
		arg_missing("the profile");
	arg_none(argv + 2);
	profiles = profile_list();
	show(find(profiles, argv[1]));
	profile_free(profiles);
	return EXIT_SUCCESS;
}

int cmd_profile_apply(int argc, char **argv)
{
	struct profile *profiles;
	struct dev *devs;
	const char *dev;

	if (argc < 2)
		arg_missing("the profile");
	dev = arg_dev(argv + 2);
	profiles = profile_list();
	find(profiles, argv[1]);
	devs = dev_list(dev);
	if (!devs)
		fail("profile apply: no rxe device here (rdma link add makes one)");
	for (const struct dev *d = devs; d; d = d->next)
		dev_set(d->name, argv[1], NULL, NULL, 0);
	dev_free(devs);
	profile_free(profiles);
	return EXIT_SUCCESS;
}
