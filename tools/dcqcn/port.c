// SPDX-License-Identifier: GPL-2.0
/* Ports of the module dcbport, as the kernel tells them. */
#include <string.h>

#include "port.h"

const struct netlink_family port_family = {
	DCBPORT_FAMILY_NAME, DCBPORT_FAMILY_VERSION, "dcbport"
};

struct listener {
	port_message message;
	void *data;
};

static void parse_class(struct port *port, const struct nlattr *nest)
{
	const struct nlattr *tb[DCBPORT_A_CLASS_MAX + 1];
	unsigned int prio;

	netlink_nested(nest, tb, DCBPORT_A_CLASS_MAX);
	prio = netlink_number(tb[DCBPORT_A_CLASS_PRIO]);
	if (prio < PORT_CLASSES)
		memcpy(port->class[prio], tb, sizeof(tb));
}

/* Of attributes that come more than once the table has the last; they lie in a row */
static void port_cb(const struct nlattr **tb, void *data)
{
	const struct nlattr *last = tb[DCBPORT_A_PORT_CLASS];
	struct port port = { .tb = tb };
	const struct listener *listener = data;

	for (const struct nlattr *a = tb[DCBPORT_A_PORT_RESTORE]; last; ) {
		a = mnl_attr_next(a);
		if (mnl_attr_get_type(a) == DCBPORT_A_PORT_CLASS)
			parse_class(&port, a);
		if (a == last)
			break;
	}
	listener->message(&port, listener->data);
}

/* All ports, or the one of that name */
void port_dump(const char *dev, port_message message, void *data)
{
	struct listener listener = { message, data };
	struct nlmsghdr *nlh;

	netlink_open_family(&port_family);
	nlh = netlink_request(DCBPORT_CMD_PORT_GET);
	if (dev)
		mnl_attr_put_strz(nlh, DCBPORT_A_PORT_IFNAME, dev);
	netlink_dump(nlh, DCBPORT_A_PORT_MAX, port_cb, &listener);
}
