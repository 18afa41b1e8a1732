/* SPDX-License-Identifier: GPL-2.0 */
/* The dcbport family of generic netlink. See netlink.c. */
#ifndef DCBPORT_NETLINK_H
#define DCBPORT_NETLINK_H

int dcbport_netlink_init(void);
void dcbport_netlink_exit(void);

#endif /* DCBPORT_NETLINK_H */
