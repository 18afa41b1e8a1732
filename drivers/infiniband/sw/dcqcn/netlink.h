/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink. See netlink.c and netlink_event.c. */
#ifndef DCQCN_NETLINK_H
#define DCQCN_NETLINK_H

#include <linux/types.h>
#include <uapi/rdma/rdma_dcqcn.h>

struct dcqcn_qp;
struct genl_family;

int dcqcn_netlink_init(void);
void dcqcn_netlink_exit(void);
void dcqcn_netlink_event_init(const struct genl_family *family);
void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event,
			u64 old_rate);

#endif /* DCQCN_NETLINK_H */
