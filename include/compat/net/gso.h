/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.6 this was in linux/netdevice.h. */
#ifndef DCQCN_COMPAT_GSO_H
#define DCQCN_COMPAT_GSO_H

#include <linux/netdevice.h>

#ifndef DCQCN_HAVE_GSO_IN_NETDEVICE
#include_next <net/gso.h>
#endif

#endif /* DCQCN_COMPAT_GSO_H */
