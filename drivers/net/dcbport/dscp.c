// SPDX-License-Identifier: GPL-2.0
/*
 * Which priority a packet has, by its DSCP: that of the DSCP's APP entries
 * (802.1Qaz), of which several may exist and the highest counts, as in other
 * drivers. Without any such entry, for whatever DSCP, it is the upper three bits.
 */
#include <linux/kernel.h>

#include "dscp.h"

/* The highest bit, 0 if there is none */
static u8 dscp_highest(u8 prios)
{
	u8 prio = 0;

	while (prios >>= 1)
		prio++;
	return prio;
}

static bool dscp_has_entries(const struct dcbport_dscp *dscp)
{
	int i;

	for (i = 0; i < DCBPORT_DSCPS; i++) {
		if (dscp->app[i])
			return true;
	}
	return false;
}

/**
 * dcbport_dscp_map() - work out the priority of each DSCP
 * @dscp: what is known
 * @map: where to
 */
void dcbport_dscp_map(const struct dcbport_dscp *dscp,
		      struct dcbport_dscp_map *map)
{
	bool entries = dscp_has_entries(dscp);
	int i;

	map->other = dscp_highest(dscp->app_default);
	for (i = 0; i < DCBPORT_DSCPS; i++) {
		if (!dscp->trust)
			map->prio[i] = map->other;
		else if (!entries)
			map->prio[i] = i >> 3;
		else
			map->prio[i] = dscp->app[i] ?
				       dscp_highest(dscp->app[i]) : map->other;
	}
}
