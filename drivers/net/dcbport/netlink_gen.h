/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/dcbport.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_DCBPORT_GEN_H
#define _LINUX_DCBPORT_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/dcbport.h>

/* Common nested types */
extern const struct nla_policy dcbport_class_nl_policy[DCBPORT_A_CLASS_LAST_STORM_RX_DROP + 1];

int dcbport_nl_port_get_start(struct netlink_callback *cb);

int dcbport_nl_port_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int dcbport_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info);
int dcbport_nl_switch_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int dcbport_nl_switch_new_doit(struct sk_buff *skb, struct genl_info *info);
int dcbport_nl_switch_set_doit(struct sk_buff *skb, struct genl_info *info);
int dcbport_nl_switch_del_doit(struct sk_buff *skb, struct genl_info *info);
int dcbport_nl_port_clear_doit(struct sk_buff *skb, struct genl_info *info);

extern struct genl_family dcbport_nl_family;

#endif /* _LINUX_DCBPORT_GEN_H */
