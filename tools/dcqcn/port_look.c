// SPDX-License-Identifier: GPL-2.0
/* What the classes of ports have done so far, for commands that look repeatedly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fail.h"
#include "port.h"
#include "port_look.h"

static uint64_t sum(const struct nlattr *const *tb, const uint16_t *attr)
{
	uint64_t total = 0;

	for (; *attr; attr++)
		total += tb[*attr] ? netlink_number(tb[*attr]) : 0;
	return total;
}

static void add_class(struct port_look *look, const char *dev, int prio,
		      const struct nlattr *const *tb)
{
	static const uint16_t attrs[PORT_FIGURES][7] = {
		[PORT_OUT] = { DCBPORT_A_CLASS_OUT_BYTES },
		[PORT_QUEUE] = { DCBPORT_A_CLASS_QUEUE_BYTES },
		[PORT_MARKED] = { DCBPORT_A_CLASS_MARKED },
		[PORT_LOST] = { DCBPORT_A_CLASS_DROP_LIMIT,
			   DCBPORT_A_CLASS_DROP_BUFFER,
			   DCBPORT_A_CLASS_DROP_STORM,
			   DCBPORT_A_CLASS_DROP_MEMORY,
			   DCBPORT_A_CLASS_DROP_RESET,
			   DCBPORT_A_CLASS_DROP_WRED },
		[PORT_PAUSED] = { DCBPORT_A_CLASS_RX_PAUSE_DURATION },
		[PORT_HEARD] = { DCBPORT_A_CLASS_RX_PAUSE },
		[PORT_SAID] = { DCBPORT_A_CLASS_TX_PAUSE,
			   DCBPORT_A_CLASS_TX_RESUME },
	};
	struct port_sample *s;

	look->samples = reallocarray(look->samples, look->count + 1, sizeof(*s));
	if (!look->samples)
		fail_errno("ports");
	s = &look->samples[look->count++];
	snprintf(s->dev, sizeof(s->dev), "%s", dev);
	s->prio = prio;
	for (int i = 0; i < PORT_FIGURES; i++)
		s->value[i] = sum(tb, attrs[i]);
}

static void add_port(const struct port *port, void *data)
{
	const char *dev = netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]);

	for (int prio = 0; prio < PORT_CLASSES; prio++)
		add_class(data, dev, prio, port->class[prio]);
}

/* Look at all ports, or one */
struct port_look port_look(const char *dev)
{
	struct port_look look = { .time = clock_now() };

	port_dump(dev, add_port, &look);
	return look;
}

void port_look_free(struct port_look *look)
{
	free(look->samples);
}

/* The same class in that look, or NULL */
const struct port_sample *port_look_find(const struct port_look *look,
					 const struct port_sample *s)
{
	for (size_t i = 0; i < look->count; i++) {
		if (look->samples[i].prio == s->prio &&
		    !strcmp(look->samples[i].dev, s->dev))
			return &look->samples[i];
	}
	return NULL;
}
