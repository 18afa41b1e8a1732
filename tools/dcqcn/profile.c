// SPDX-License-Identifier: GPL-2.0
/* Profiles: knobs that go together, as the module has them. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "knob.h"
#include "profile.h"

static void profile_message(const struct nlattr **tb, void *data)
{
	const struct nlattr *knob[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	struct profile ***tail = data;
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		fail_errno("profiles");
	strncpy(profile->name, netlink_string(tb[RDMA_DCQCN_A_PROFILE_NAME]),
		sizeof(profile->name) - 1);
	netlink_nested(tb[RDMA_DCQCN_A_PROFILE_SETTINGS], knob, RDMA_DCQCN_A_SETTINGS_MAX);
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		profile->sets[i] = knob[i];
		profile->settings[i] = netlink_number(knob[i]);
	}
	**tail = profile;
	*tail = &profile->next;
}

struct profile *profile_list(void)
{
	struct profile *list = NULL, **tail = &list;
	netlink_dump(netlink_request(&dev_family, RDMA_DCQCN_CMD_PROFILE_GET, NULL),
		     RDMA_DCQCN_A_PROFILE_MAX, profile_message, &tail);
	return list;
}

const struct profile *profile_find(const struct profile *list,
				   const char *name)
{
	while (list && strcmp(list->name, name))
		list = list->next;
	return list;
}

void profile_free(struct profile *list)
{
	struct profile *next;

	for (; list; list = next) {
		next = list->next;
		free(list);
	}
}

/* Return true if a device's knobs have the values of a profile */
bool profile_is(const struct profile *profile, const struct dev *dev)
{
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (profile->sets[i] && profile->settings[i] != dev->settings[i])
			return false;
	}
	return true;
}
