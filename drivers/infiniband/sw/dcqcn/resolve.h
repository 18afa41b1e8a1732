/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the RDMA core about QPs, and frees unused entries. See resolve.c. */
#ifndef DCQCN_RESOLVE_H
#define DCQCN_RESOLVE_H

#include <linux/jiffies.h>

struct dcqcn_dev;

/* Maximum number of entries without a known QP: bounds the memory that a flood of packets to QPs
 * that do not exist can take
 */
#define DCQCN_UNRESOLVED_MAX	1024

/* Lifetime of an entry after dcqcn_qp.used, also for an absent QP */
#define DCQCN_UNUSED_JIFFIES	HZ

void dcqcn_resolve_dev_init(struct dcqcn_dev *dev);
void dcqcn_resolve_dev_exit(struct dcqcn_dev *dev);

bool dcqcn_resolve_is_there(const struct dcqcn_dev *dev, u32 qpn);

#endif /* DCQCN_RESOLVE_H */
