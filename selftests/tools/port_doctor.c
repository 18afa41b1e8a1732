// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn doctor about CNPs that PFC pauses: what it proposes puts them into a class without PFC, and
 * leaves everything else as it was. And about DSCPs that have other priorities at the neighbour: no
 * other DSCP gets another priority than it has there. Prints what is wrong.
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

static char *found, *fix;

void finding_seen(const char *id, const char *host, const char *dev, const char *format, ...)
{
	(void)host;
	(void)dev;
	(void)format;
	found = strdup(id);
}

void finding_why(const char *format, ...)
{
	(void)format;
}

void finding_fix(const char *format, ...)
{
	va_list args;

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
	(void)facts;
	(void)port;
	return NULL;
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
		fix = NULL;
		dcbx_checks(&port, "h");
		if (fix && !strncmp(fix, neighbours[i].fix, strlen(neighbours[i].fix)))
			continue;
		printf("case %zu of neighbours: %s instead of %s\n", i, fix ?: "nothing",
		       neighbours[i].fix);
		wrong = 1;
	}
	return wrong;
}

int main(void)
{
	int wrong = check_neighbours();

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
