// SPDX-License-Identifier: GPL-2.0
/*
 * What dcqcn doctor proposes for a switch must not spoil anything else. CNPs that PFC pauses get a
 * class without PFC. If DSCPs have other priorities at the neighbour, no other DSCP gets another
 * priority than it has there. If a headroom is short, none becomes smaller. Prints what is wrong.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dcbx_checks.h"
#include "finding.h"
#include "port_checks.h"

bool option_json;

/* Of the finding with the name @wanted */
static const char *wanted;
static char *found, *fix;

void finding_seen(const char *id, const char *host, const char *dev, const char *format, ...)
{
	(void)host;
	(void)dev;
	(void)format;
	if (!strcmp(id, wanted))
		found = strdup(id);
}

void finding_why(const char *format, ...)
{
	(void)format;
}

void finding_fix(const char *format, ...)
{
	va_list args;

	if (!found || fix)
		return;
	va_start(args, format);
	if (vasprintf(&fix, format, args) < 0)
		abort();
	va_end(args);
}

bool port_facts_trusts_dscp(const struct fact_port *port)
{
	return port;
}

const struct fact_switch *port_facts_owner(const struct port_facts *facts,
					   const struct fact_port *port)
{
	(void)port;
	return facts->owner;
}

/* @pfc: priorities; @tc: the class of priority 6; @app: the only APP entry, priority of DSCP 48 */
static const struct {
	unsigned int pfc;
	int tc, app;
	const char *fix;
} cases[] = {
	{ 1 << 3, 6, -1, NULL },
	{ 1 << 3, 6, 6, NULL },
	{ 1 << 3, 6, 3, "dcb app replace dev p0 dscp-prio 48:6 " },
	{ 1 << 3 | 1 << 6, 6, -1, "dcqcn port set dev p0 pfc 3 " },
	{ 0xff, 6, 6, "dcqcn port set dev p0 pfc 0,1,2,3,4,5,7 " },
	{ 1 << 6, 6, -1, "dcqcn port set dev p0 pfc none " },
	{ 1 << 3, 3, -1, "dcqcn port set dev p0 prio 6 tc 6 " },
	{ 1 << 3, 3, 6, "dcqcn port set dev p0 prio 6 tc 6 " },
};

/* APP entries here, of DSCP 26 and 34, or 0; the neighbour has 26:3, 34:5 and 48:6 */
static const struct {
	uint8_t dscp26, dscp34;
	const char *fix;
} neighbours[] = {
	{ 0, 0, "dcb app replace dev p0 dscp-prio 26:3 34:5 48:6 " },
	{ 1 << 3, 1 << 4, "dcb app replace dev p0 dscp-prio 34:5 " },
	{ 1 << 4, 1 << 5, "dcb app replace dev p0 dscp-prio 26:3 " },
};

static int check_neighbours(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(neighbours) / sizeof(*neighbours); i++) {
		struct fact_port port = { .name = "p0", .app.known = true, .neighbour.app.known = true };

		port.app.dscp[26] = neighbours[i].dscp26;
		port.app.dscp[34] = neighbours[i].dscp34;
		port.neighbour.app.dscp[26] = 1 << 3;
		port.neighbour.app.dscp[34] = 1 << 5;
		port.neighbour.app.dscp[48] = 1 << 6;
		wanted = "dscp-mismatch";
		found = fix = NULL;
		dcbx_checks(&port, "h");
		if (fix && !strncmp(fix, neighbours[i].fix, strlen(neighbours[i].fix)))
			continue;
		printf("case %zu of neighbours: %s instead of %s\n", i, fix ?: "nothing",
		       neighbours[i].fix);
		wrong = 1;
	}
	return wrong;
}

/* Headrooms of priorities 3 and 4, which have PFC; the link needs 3,160 bytes */
static const struct {
	uint32_t prio3, prio4;
	const char *fix;
} headrooms[] = {
	{ 3160, 3160, NULL },
	{ 3000, 100, "dcqcn port set dev p0 headroom 3160B" },
	{ 3000, 100000, "dcqcn port set dev p0 prio 3 headroom 3160B" },
	{ 100000, 0, "dcqcn port set dev p0 prio 4 headroom 3160B" },
};

static int check_headrooms(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(headrooms) / sizeof(*headrooms); i++) {
		struct fact_switch owner = { .name = "s" };
		struct fact_port port = { .name = "p0" };
		struct port_facts facts = { .port = &port, .num = 1, .owner = &owner, .num_owners = 1 };

		port.value[DCBPORT_A_PORT_PFC] = 1 << 3 | 1 << 4;
		port.value[DCBPORT_A_PORT_OVERHEAD] = 24;
		port.class[3].after[DCBPORT_A_CLASS_HEADROOM] = headrooms[i].prio3;
		port.class[4].after[DCBPORT_A_CLASS_HEADROOM] = headrooms[i].prio4;
		wanted = "headroom-short";
		found = fix = NULL;
		port_checks(&facts, "h", 1000000000);
		if (headrooms[i].fix ? fix && !strcmp(fix, headrooms[i].fix) : !found)
			continue;
		printf("headrooms %u, %u: %s: %s\n", headrooms[i].prio3, headrooms[i].prio4,
		       found ?: "nothing found", fix ?: "");
		wrong = 1;
	}
	return wrong;
}

int main(void)
{
	int wrong = check_neighbours() | check_headrooms();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fact_port port = { .name = "p0" };
		struct port_facts facts = { .port = &port, .num = 1 };

		port.value[DCBPORT_A_PORT_PFC] = cases[i].pfc;
		port.value[DCBPORT_A_PORT_STRICT] = 0xff;
		for (int c = 0; c < PORT_CLASSES; c++) {
			port.class[c].after[DCBPORT_A_CLASS_IN_PACKETS] = 1;
			port.class[c].after[DCBPORT_A_CLASS_TC] = c == 6 ? cases[i].tc : c;
		}
		if (cases[i].app >= 0)
			port.app.dscp[48] = 1 << cases[i].app;
		wanted = "cnp-lossless";
		found = fix = NULL;
		port_checks(&facts, "h", 1000000000);
		if (cases[i].fix ? fix && !strncmp(fix, cases[i].fix, strlen(cases[i].fix)) : !found)
			continue;
		printf("PFC %#x, priority 6 in class %d, DSCP 48 with priority %d: %s: %s\n",
		       cases[i].pfc, cases[i].tc, cases[i].app, found ?: "nothing found", fix ?: "");
		wrong = 1;
	}
	return wrong;
}
