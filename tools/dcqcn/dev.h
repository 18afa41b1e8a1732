/* SPDX-License-Identifier: GPL-2.0 */
/* The rxe devices, as the module sees them. See dev.c. */
#ifndef DEV_H
#define DEV_H

#include <stdbool.h>

#include <rdma/rdma_dcqcn.h>

#include "netlink.h"

#define DEV_NAME_LEN	64
#define DEV_ALGORITHM_MAX	15	/* characters of its name; as DCQCN_CC_NAME_MAX, without the final 0 */

struct dev {
	char name[DEV_NAME_LEN];
	char ifname[DEV_NAME_LEN];
	unsigned int ifindex;
	uint64_t line_rate;
	char algorithm[DEV_NAME_LEN];
	char algorithms[1024];	/* names, with spaces in between */
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	uint64_t counters[RDMA_DCQCN_A_COUNTERS_MAX + 1];
	struct dev *next;
};

/* By RDMA_DCQCN_A_COUNTERS_*; NULL for those that are not counters */
extern const char * const counter_names[RDMA_DCQCN_A_COUNTERS_MAX + 1];

extern const struct netlink_family dev_family;

struct dev *dev_list(const char *name);
struct dev *dev_find(struct dev *list, const char *name);
void dev_free(struct dev *list);
void dev_set(const char *name, const char *profile, const char *algorithm,
	     const uint32_t *settings, uint32_t which);

#endif /* DEV_H */
