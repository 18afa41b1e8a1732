/* SPDX-License-Identifier: GPL-2.0 */
/* How dcb(8) and LLDP agents show and set a port. See dcbnl.c. */
#ifndef DCBPORT_DCBNL_H
#define DCBPORT_DCBNL_H

#include <linux/list.h>
#include <linux/types.h>

#include "prio.h"

struct dcbport;

/**
 * struct dcbport_dcbnl - what the core of DCB netlink knows about a port; under rtnl
 * @node: in the list of ports that the core knows
 * @port: the port
 * @copy: the APP entries that the port has given to the core
 * @shown: the core has these, and none of another port with the same ifindex
 */
struct dcbport_dcbnl {
	struct list_head node;
	struct dcbport *port;
	struct dcbport_prio_rules copy;
	bool shown;
};

#if IS_ENABLED(CONFIG_DCB)
int dcbport_dcbnl_begin(struct dcbport *port);
void dcbport_dcbnl_end(struct dcbport *port);
void dcbport_dcbnl_notify(struct dcbport *port);
void dcbport_dcbnl_forget(int ifindex);
#else
static inline int dcbport_dcbnl_begin(struct dcbport *port) { return 0; }
static inline void dcbport_dcbnl_end(struct dcbport *port) { }
static inline void dcbport_dcbnl_notify(struct dcbport *port) { }
static inline void dcbport_dcbnl_forget(int ifindex) { }
#endif

#endif /* DCBPORT_DCBNL_H */
