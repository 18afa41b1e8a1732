/* SPDX-License-Identifier: GPL-2.0 */
/* Which devices can be ports. See device.c. */
#ifndef DCBPORT_DEVICE_H
#define DCBPORT_DEVICE_H

#include <linux/types.h>

struct net_device;

const char *dcbport_device_refuse(const struct net_device *dev, bool pfc);

#endif /* DCBPORT_DEVICE_H */
