/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion control contexts. See ccc.c. */
#ifndef CCC_H
#define CCC_H

#include "dev.h"
#include "netlink.h"

struct ccc {
	char dev[DEV_NAME_LEN];
	char local[NETLINK_ADDRESS];
	char peer[NETLINK_ADDRESS];
	uint64_t value[RDMA_DCQCN_A_CCC_MAX + 1];	/* of numbers */
};

typedef void (*ccc_each)(const struct ccc *ccc);

void ccc_dump(const char *dev, ccc_each each);

#endif /* CCC_H */
