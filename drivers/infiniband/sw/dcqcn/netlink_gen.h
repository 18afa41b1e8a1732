/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rdma_dcqcn.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_RDMA_DCQCN_GEN_H
#define _LINUX_RDMA_DCQCN_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/rdma/rdma_dcqcn.h>

/* Common nested types */
extern const struct nla_policy rdma_dcqcn_settings_nl_policy[RDMA_DCQCN_A_SETTINGS_HOP_STAMPS + 1];

int rdma_dcqcn_nl_dev_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int rdma_dcqcn_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info);
int rdma_dcqcn_nl_qp_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int rdma_dcqcn_nl_profile_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb);
int rdma_dcqcn_nl_ccc_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int rdma_dcqcn_nl_qp_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	RDMA_DCQCN_NLGRP_RATE,
};

extern struct genl_family rdma_dcqcn_nl_family;

#endif /* _LINUX_RDMA_DCQCN_GEN_H */
