// SPDX-License-Identifier: GPL-2.0
/*
 * Disagreements between a port and its neighbour, according to the neighbour's DCBX
 * TLVs: one function for each.
 */
#include <stdio.h>
#include <string.h>

#include "dcbx_checks.h"
#include "finding.h"

#define LIST_LEN	(2 * PORT_CLASSES + sizeof("none"))

/* "2,4,5" or "none", because lldptool has no "all" */
static const char *list(char text[LIST_LEN], unsigned int prios)
{
	char *at = text;

	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		if (prios & 1U << prio)
			at += sprintf(at, "%s%d", at == text ? "" : ",", prio);
	}
	if (at == text)
		strcpy(text, "none");
	return text;
}

static void check_cee(const struct fact_port *port, const char *host)
{
	if (!port->neighbour.cee || port->neighbour.ieee)
		return;
	finding_seen("cee-neighbour", host, port->name,
		     "the neighbour speaks CEE DCBX, not IEEE 802.1Qaz");
	finding_why("a port offers IEEE DCBX only: the two cannot agree, and each keeps its own settings");
	finding_fix("dcb pfc set dev %s prio-pfc 3:on  # set both ends by hand, or make the neighbour speak IEEE DCBX",
		    port->name);
}

static void check_pfc(const struct fact_port *port, const char *host)
{
	unsigned int here = port->value[DCBPORT_A_PORT_PFC];
	char a[LIST_LEN], b[LIST_LEN];

	if (!port->neighbour.has_pfc || port->neighbour.pfc == here)
		return;
	finding_seen("pfc-mismatch", host, port->name,
		     "priorities with PFC: %s here, %s at the neighbour",
		     list(a, here), list(b, port->neighbour.pfc));
	finding_why("if only one end has PFC, pauses are ignored or never sent, and packets are lost");
	finding_fix("lldptool -T -i %s -V PFC willing=yes  # or enabled=%s, as at the neighbour",
		    port->name, list(b, port->neighbour.pfc));
}

/* Only one of the two maps DSCPs to priorities */
static void check_trust(const struct fact_port *port, const char *host,
			bool trusted)
{
	const struct dcb_app_table *there = &port->neighbour.app;
	bool here = trusted && dcb_has_dscps(&port->app);

	if (!there->known || here == dcb_has_dscps(there) ||
	    (trusted && !here))
		return;
	finding_seen("dscp-one-side", host, port->name,
		     here ? "DSCPs have priorities here, but not at the neighbour" :
			    "the neighbour maps DSCPs to priorities, but this port does not trust DSCPs");
	finding_why("a packet changes its priority on its path, so PFC and weights apply to the wrong traffic");
	if (here)
		finding_fix("lldptool -T -i DEV -V APP app=PRIORITY,5,DSCP  # at the neighbour");
	else
		finding_fix("dcqcn port set dev %s trust dscp", port->name);
}

/* The first entry of a DSCP takes all other DSCPs from their priorities. So a port without entries
 * needs all of the neighbour's at once.
 */
static void fix_dscps(const struct fact_port *port, int dscp)
{
	const struct dcb_app_table *there = &port->neighbour.app;
	char entries[DCB_DSCPS * sizeof(" 63:7")] = "", *at = entries;

	if (dcb_has_dscps(&port->app)) {
		finding_fix("dcb app replace dev %s dscp-prio %d:%d  # or lldptool -T -i %s -V APP app=%d,5,%d",
			    port->name, dscp, dcb_prio(there, dscp),
			    port->name, dcb_prio(there, dscp), dscp);
		return;
	}
	for (int i = 0; i < DCB_DSCPS; i++) {
		if (there->dscp[i])
			at += sprintf(at, " %d:%d", i, dcb_prio(there, i));
	}
	finding_fix("dcb app replace dev %s dscp-prio%s  # all that the neighbour has",
		    port->name, entries);
}

static void check_dscps(const struct fact_port *port, const char *host)
{
	const struct dcb_app_table *there = &port->neighbour.app;

	for (int dscp = 0; dscp < DCB_DSCPS; dscp++) {
		int here = dcb_prio(&port->app, dscp);

		if (!there->dscp[dscp] || dcb_prio(there, dscp) == here)
			continue;
		finding_seen("dscp-mismatch", host, port->name,
			     "DSCP %d is priority %d here, and %d at the neighbour",
			     dscp, here, dcb_prio(there, dscp));
		finding_why("PFC pauses the wrong packets, because the two ends put different traffic into a priority");
		fix_dscps(port, dscp);
		return;
	}
}

/* All disagreements between a port and its neighbour */
void dcbx_checks(const struct fact_port *port, const char *host)
{
	bool trusted = port_facts_trusts_dscp(port);

	check_cee(port, host);
	check_pfc(port, host);
	if (!port->app.known)
		return;
	check_trust(port, host, trusted);
	if (trusted)
		check_dscps(port, host);
}
