/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles: knobs that go together. See profile.c. */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdbool.h>

#include "dev.h"

#define PROFILE_NAME_LEN	32

struct profile {
	char name[PROFILE_NAME_LEN];
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	bool sets[RDMA_DCQCN_A_SETTINGS_MAX + 1];	/* it sets the knob */
	struct profile *next;
};

struct profile *profile_list(void);
const struct profile *profile_find(const struct profile *list,
				   const char *name);
void profile_free(struct profile *list);
bool profile_is(const struct profile *profile, const struct dev *dev);

#endif /* PROFILE_H */
