/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Before 6.7, the attributes of a dump request were in a struct of their own. Before 6.2, one entry
 * had all callbacks of an operation; each of our operations has only one.
 */
#ifndef DCQCN_COMPAT_GENETLINK_H
#define DCQCN_COMPAT_GENETLINK_H

#include_next <net/genetlink.h>

#ifndef DCQCN_HAVE_GENL_INFO_DUMP
static inline const struct genl_dumpit_info *
genl_info_dump(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb);
}
#endif

#ifndef DCQCN_HAVE_GENL_SPLIT_OPS
#define genl_split_ops genl_ops
#define split_ops ops
#define n_split_ops n_ops
#endif

#endif /* DCQCN_COMPAT_GENETLINK_H */
