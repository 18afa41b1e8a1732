/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink. See netlink.c. */
#ifndef DCQCN_NETLINK_H
#define DCQCN_NETLINK_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/rdma/rdma_dcqcn.h>

struct dcqcn_qp;

/**
 * struct dcqcn_budget - rate limit of events
 * @lock: protects the other fields
 * @begin: jiffies; start of the current period
 * @told: events sent in it
 * @suppressed: events suppressed since the last one sent
 */
struct dcqcn_budget {
	spinlock_t lock;	/* protects the fields below */
	unsigned long begin;
	u32 told;
	u32 suppressed;
};

int dcqcn_netlink_init(void);
void dcqcn_netlink_exit(void);
void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event,
			u64 old_rate);

#endif /* DCQCN_NETLINK_H */
