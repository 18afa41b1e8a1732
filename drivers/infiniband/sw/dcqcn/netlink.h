/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink. See netlink.c. */
#ifndef DCQCN_NETLINK_H
#define DCQCN_NETLINK_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/rdma/rdma_dcqcn.h>

struct dcqcn_qp;

/**
 * struct dcqcn_budget - how many events may be told
 * @lock: protects the others
 * @begin: jiffies; when the present period began
 * @told: events told in it
 * @suppressed: events not told since the last one that was
 */
struct dcqcn_budget {
	spinlock_t lock;	/* protects all below it */
	unsigned long begin;
	u32 told;
	u32 suppressed;
};

int dcqcn_netlink_init(void);
void dcqcn_netlink_exit(void);
void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event,
			u64 old_rate);

#endif /* DCQCN_NETLINK_H */
