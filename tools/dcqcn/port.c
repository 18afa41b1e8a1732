// SPDX-License-Identifier: GPL-2.0
/* Ports of the module dcbport, as the kernel shows them. */
#include <string.h>

#include "fail.h"
#include "port.h"
#include "portkey.h"

static const struct portkey *key_of(const struct portkey *keys, uint16_t attr)
{
	while (keys->name && keys->attr != attr)
		keys++;
	return keys->name ? keys : NULL;
}

/* The key of @attr of a request about a port, a class or a switch, or NULL */
static const struct portkey *attr_key(const struct nlmsghdr *sent,
				      const struct nlattr *attr)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(sent);
	uint16_t type = mnl_attr_get_type(attr);
	const struct nlattr *top;

	if (genl->cmd != DCBPORT_CMD_PORT_SET)
		return key_of(switch_keys, type);
	mnl_attr_for_each(top, sent, sizeof(*genl)) {
		if (top == attr)
			return key_of(port_keys, type);
	}
	return key_of(class_keys, type);
}

static void port_range(FILE *out, const struct nlmsghdr *sent,
		       const struct nlattr *attr, uint64_t min, uint64_t max)
{
	const struct portkey *key = attr_key(sent, attr);

	if (!key)
		fail("an attribute that this version does not know is out of range");
	portkey_range(out, key, netlink_number(attr), min, max);
}

const struct netlink_family port_family = {
	.name = DCBPORT_FAMILY_NAME,
	.version = DCBPORT_FAMILY_VERSION,
	.module = "dcbport",
	.name_max = PORTKEY_NAME_MAX,
	.no_dev = "",
	.range = port_range,
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

/* If an attribute comes several times, in a row, the table has the last one */
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

/* Reset the watermarks of a port, and return what it had before */
void port_clear(const char *dev, port_message message, void *data)
{
	struct nlmsghdr *nlh = netlink_request(&port_family,
					       DCBPORT_CMD_PORT_CLEAR, dev);
	struct listener listener = { message, data };

	mnl_attr_put_strz(nlh, DCBPORT_A_PORT_IFNAME, dev);
	netlink_ask(nlh, DCBPORT_A_PORT_MAX, port_cb, &listener);
}

/* List all ports, or the one of that name */
void port_dump(const char *dev, port_message message, void *data)
{
	struct listener listener = { message, data };
	struct nlmsghdr *nlh;
	nlh = netlink_request(&port_family, DCBPORT_CMD_PORT_GET, dev);
	if (dev)
		mnl_attr_put_strz(nlh, DCBPORT_A_PORT_IFNAME, dev);
	netlink_dump(nlh, DCBPORT_A_PORT_MAX, port_cb, &listener);
}
