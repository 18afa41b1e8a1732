/* SPDX-License-Identifier: GPL-2.0 */
/* What can be seen of a switch within an interval. See port_facts.c. */
#ifndef PORT_FACTS_H
#define PORT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dcb.h"
#include "neighbour.h"
#include "port.h"

#define PORT_NAME	16

struct fact_class {
	uint64_t before[DCBPORT_A_CLASS_MAX + 1];
	uint64_t after[DCBPORT_A_CLASS_MAX + 1];
};

struct fact_port {
	char name[PORT_NAME];
	char owner[PORT_NAME];		/* the switch, or empty */
	uint64_t value[DCBPORT_A_PORT_MAX + 1];
	struct fact_class class[PORT_CLASSES];
	struct dcb_app_table app;
	struct neighbour neighbour;
};

struct fact_switch {
	char name[PORT_NAME];
	uint64_t value[DCBPORT_A_SWITCH_MAX + 1];
};

struct port_facts {
	struct fact_port *port;
	int num;
	struct fact_switch *owner;
	int num_owners;
	bool again;		/* this is the second look */
};

void port_facts_gather(struct port_facts *facts, const char *name);
bool port_facts_trusts_dscp(const struct fact_port *port);
const struct fact_switch *port_facts_owner(const struct port_facts *facts,
					   const struct fact_port *port);

#endif /* PORT_FACTS_H */
