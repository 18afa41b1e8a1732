/* SPDX-License-Identifier: GPL-2.0 */
/* Which priority a packet has. See dscp.c. */
#ifndef DCBPORT_DSCP_H
#define DCBPORT_DSCP_H

#include <linux/types.h>

#define DCBPORT_DSCPS	64

/**
 * struct dcbport_dscp - how a packet's priority follows from its DSCP
 * @trust: it does; if not, all packets have the default priority
 * @app: priorities of APP entries for each DSCP, one bit each
 * @app_default: priorities of APP entries for what has none of these
 */
struct dcbport_dscp {
	bool trust;
	u8 app[DCBPORT_DSCPS];
	u8 app_default;
};

/**
 * struct dcbport_dscp_map - the same, to look priorities up
 * @prio: by DSCP
 * @other: of what is not IP
 */
struct dcbport_dscp_map {
	u8 prio[DCBPORT_DSCPS];
	u8 other;
};

void dcbport_dscp_map(const struct dcbport_dscp *dscp,
		      struct dcbport_dscp_map *map);

#endif /* DCBPORT_DSCP_H */
