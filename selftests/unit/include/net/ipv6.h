/* SPDX-License-Identifier: GPL-2.0 */
/* IPv4-mapped addresses, for what is built in user space. */
#ifndef SHIM_NET_IPV6_H
#define SHIM_NET_IPV6_H

#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *a)
{
	return !a->s6_addr32[0] && !a->s6_addr32[1] &&
	       a->s6_addr32[2] == cpu_to_be32(0xffff);
}

static inline void ipv6_addr_set_v4mapped(const __be32 addr,
					  struct in6_addr *v4mapped)
{
	memset(v4mapped, 0, sizeof(*v4mapped));
	v4mapped->s6_addr32[2] = cpu_to_be32(0xffff);
	v4mapped->s6_addr32[3] = addr;
}

#endif
