// SPDX-License-Identifier: GPL-2.0
/* What can be seen of a switch within an interval: its ports' settings, their
 * neighbours, and counters before and after.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clean.h"
#include "fail.h"
#include "finding.h"
#include "port_facts.h"

#define MODULE	"/sys/module/dcbport"

/* The port to look at, or empty for all */
struct look {
	struct port_facts *facts;
	const char *name;
};

static void copy(char to[PORT_NAME], const struct nlattr *attr)
{
	snprintf(to, PORT_NAME, "%s", netlink_string(attr));
}

static void *grow(void *list, int num, size_t size)
{
	list = realloc(list, (num + 1) * size);
	if (!list)
		fail_errno("ports");
	memset((char *)list + num * size, 0, size);
	return list;
}

static struct fact_port *find(struct port_facts *facts, const char *name)
{
	for (int i = 0; i < facts->num; i++) {
		if (!strcmp(facts->port[i].name, name))
			return &facts->port[i];
	}
	return NULL;
}

/* A port that was added meanwhile has no first look to compare with */
static struct fact_port *place(struct port_facts *facts, const char *name)
{
	struct fact_port *port = find(facts, name);

	if (port || facts->again)
		return port;
	facts->port = grow(facts->port, facts->num, sizeof(*facts->port));
	return &facts->port[facts->num++];
}

static bool is_number(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) <= sizeof(uint64_t);
}

static void port_cb(const struct port *port, void *data)
{
	const struct look *look = data;
	const char *name = netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]);
	struct fact_port *fact;

	if (look->name && strcmp(look->name, name))
		return;
	if (!clean_word(name)) {
		if (!look->facts->again)
			finding_note("%s is left out: its name is not safe in a shell command", name);
		return;
	}
	fact = place(look->facts, name);
	if (!fact)
		return;
	copy(fact->name, port->tb[DCBPORT_A_PORT_IFNAME]);
	copy(fact->owner, port->tb[DCBPORT_A_PORT_SWITCH]);
	for (int i = 1; i <= DCBPORT_A_PORT_MAX; i++) {
		if (i != DCBPORT_A_PORT_IFNAME && i != DCBPORT_A_PORT_SWITCH &&
		    is_number(port->tb[i]))
			fact->value[i] = netlink_number(port->tb[i]);
	}
	for (int c = 0; c < PORT_CLASSES; c++) {
		uint64_t *to = look->facts->again ? fact->class[c].after :
						    fact->class[c].before;

		for (int i = 1; i <= DCBPORT_A_CLASS_MAX; i++)
			to[i] = netlink_number(port->class[c][i]);
	}
}

static void switch_cb(const struct nlattr **tb, void *data)
{
	struct port_facts *facts = data;
	struct fact_switch *fact;

	facts->owner = grow(facts->owner, facts->num_owners,
			    sizeof(*facts->owner));
	fact = &facts->owner[facts->num_owners++];
	copy(fact->name, tb[DCBPORT_A_SWITCH_NAME]);
	for (int i = 1; i <= DCBPORT_A_SWITCH_MAX; i++) {
		if (i != DCBPORT_A_SWITCH_NAME)
			fact->value[i] = netlink_number(tb[i]);
	}
}

/* Look at all ports, or the one of that name, twice: before and after the interval */
void port_facts_gather(struct port_facts *facts, const char *name)
{
	struct look look = { facts, name };

	if (access(MODULE, F_OK))
		return;
	port_dump(NULL, port_cb, &look);
	if (facts->again) {
		netlink_dump(netlink_request(&port_family, DCBPORT_CMD_SWITCH_GET, NULL),
			     DCBPORT_A_SWITCH_MAX, switch_cb, facts);
		for (int i = 0; i < facts->num; i++) {
			dcb_apps(facts->port[i].name, &facts->port[i].app);
			neighbour_ask(facts->port[i].name,
				      &facts->port[i].neighbour);
		}
	}
	facts->again = true;
}

/* Whether the DSCP counts, if only after the VLAN tag */
bool port_facts_trusts_dscp(const struct fact_port *port)
{
	uint64_t trust = port->value[DCBPORT_A_PORT_TRUST];

	return trust != DCBPORT_TRUST_NONE && trust != DCBPORT_TRUST_PCP;
}

/* The switch that a port is in, or NULL */
const struct fact_switch *port_facts_owner(const struct port_facts *facts,
					   const struct fact_port *port)
{
	for (int i = 0; i < facts->num_owners; i++) {
		if (!strcmp(facts->owner[i].name, port->owner))
			return &facts->owner[i];
	}
	return NULL;
}
