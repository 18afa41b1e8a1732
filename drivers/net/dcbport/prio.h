/* SPDX-License-Identifier: GPL-2.0 */
/* Determines the priority of a packet. See prio.c. */
#ifndef DCBPORT_PRIO_H
#define DCBPORT_PRIO_H

#include <linux/types.h>

#define DCBPORT_DSCPS	64
#define DCBPORT_PCPS	16	/* priority code points of VLAN tags, with and without DEI */
#define DCBPORT_NO_PRIO	0xff

/**
 * struct dcbport_prio_rules - where a packet's priority comes from
 * @trust: the fields that count; enum dcbport_trust
 * @dscp: priorities in the APP entries of each DSCP, one bit each
 * @pcp: likewise of each PCP, plus 8 with DEI
 * @other: priorities in the APP entries for all other packets
 */
struct dcbport_prio_rules {
	u8 trust;
	u8 dscp[DCBPORT_DSCPS];
	u8 pcp[DCBPORT_PCPS];
	u8 other;
};

/**
 * struct dcbport_prio_map - the same rules as tables
 * @dscp: priority of each DSCP, or DCBPORT_NO_PRIO: ask the other field
 * @pcp: likewise of each PCP, plus 8 with DEI
 * @other: priority if neither field has one
 * @pcp_first: ask the VLAN tag before the DSCP
 * @slow: the DSCP alone does not decide everything about a packet
 */
struct dcbport_prio_map {
	u8 dscp[DCBPORT_DSCPS];
	u8 pcp[DCBPORT_PCPS];
	u8 other;
	bool pcp_first;
	bool slow;
};

void dcbport_prio_map(const struct dcbport_prio_rules *rules,
		      struct dcbport_prio_map *map);

#endif /* DCBPORT_PRIO_H */
