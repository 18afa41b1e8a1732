/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.7 what a dump was asked for was in a struct of its own. */
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

#endif /* DCQCN_COMPAT_GENETLINK_H */
