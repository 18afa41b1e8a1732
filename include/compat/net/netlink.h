/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.8, a policy pointed to a range that was not const. */
#ifndef DCQCN_COMPAT_NETLINK_H
#define DCQCN_COMPAT_NETLINK_H

#include_next <net/netlink.h>

#ifndef DCQCN_HAVE_CONST_RANGE
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, _range) {				\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),			\
	.validation_type = NLA_VALIDATE_RANGE_PTR,			\
	.range = (struct netlink_range_validation *)(_range),		\
}
#endif

#endif /* DCQCN_COMPAT_NETLINK_H */
