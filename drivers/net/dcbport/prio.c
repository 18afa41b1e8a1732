// SPDX-License-Identifier: GPL-2.0
/*
 * Determines the priority of a packet from the trusted fields: the DSCP, the priority code point
 * (PCP) of the VLAN tag, both in either order, or none. APP entries (802.1Qaz) map values of a
 * field to priorities; if several match, the highest priority counts, as in other drivers. A field
 * without any entries gives the upper three bits of the DSCP, or the PCP itself. If no trusted
 * field gives a priority, the default applies.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <uapi/linux/dcbport.h>

#include "prio.h"

/* The highest bit that is set, or 0 */
static u8 prio_highest(u8 prios)
{
	u8 prio = 0;

	while (prios >>= 1)
		prio++;
	return prio;
}

static bool prio_any(const u8 *entries, int n)
{
	while (n--) {
		if (entries[n])
			return true;
	}
	return false;
}

static void prio_map_dscp(const struct dcbport_prio_rules *rules, u8 *map)
{
	bool entries = prio_any(rules->dscp, DCBPORT_DSCPS);
	int i;

	for (i = 0; i < DCBPORT_DSCPS; i++) {
		if (!entries)
			map[i] = i >> 3;
		else if (rules->dscp[i])
			map[i] = prio_highest(rules->dscp[i]);
	}
}

static void prio_map_pcp(const struct dcbport_prio_rules *rules, u8 *map)
{
	bool entries = prio_any(rules->pcp, DCBPORT_PCPS);
	int i;

	for (i = 0; i < DCBPORT_PCPS; i++) {
		if (!entries)
			map[i] = i & 7;
		else if (rules->pcp[i])
			map[i] = prio_highest(rules->pcp[i]);
	}
}

/**
 * dcbport_prio_map() - compute the priority for each DSCP and PCP
 * @rules: the configured rules
 * @map: the result
 */
void dcbport_prio_map(const struct dcbport_prio_rules *rules,
		      struct dcbport_prio_map *map)
{
	memset(map->dscp, DCBPORT_NO_PRIO, sizeof(map->dscp));
	memset(map->pcp, DCBPORT_NO_PRIO, sizeof(map->pcp));
	if (rules->trust != DCBPORT_TRUST_NONE &&
	    rules->trust != DCBPORT_TRUST_PCP)
		prio_map_dscp(rules, map->dscp);
	if (rules->trust != DCBPORT_TRUST_NONE &&
	    rules->trust != DCBPORT_TRUST_DSCP)
		prio_map_pcp(rules, map->pcp);
	map->other = prio_highest(rules->other);
	map->pcp_first = rules->trust == DCBPORT_TRUST_PCP_DSCP;
	map->slow = map->pcp_first;
}
