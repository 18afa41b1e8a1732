/* SPDX-License-Identifier: GPL-2.0 */
/* How many events a port may send. See netlink_event.c. */
#ifndef DCQCN_BUDGET_H
#define DCQCN_BUDGET_H

#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct dcqcn_budget - rate limit of events
 * @lock: protects the other fields
 * @begin: jiffies; start of the current period
 * @sent: events sent in the current period
 * @suppressed: events suppressed since the last one sent
 */
struct dcqcn_budget {
	spinlock_t lock;	/* protects the fields below */
	unsigned long begin;
	u32 sent;
	u32 suppressed;
};

#endif /* DCQCN_BUDGET_H */
