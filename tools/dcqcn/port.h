/* SPDX-License-Identifier: GPL-2.0 */
/* Ports of the module dcbport, as the kernel shows them. See port.c. */
#ifndef PORT_H
#define PORT_H

#include <libmnl/libmnl.h>
#include <linux/dcbport.h>

#include "netlink.h"

#define PORT_CLASSES	8

/* A port with its classes; attributes that the kernel does not show are NULL */
struct port {
	const struct nlattr **tb;
	const struct nlattr *class[PORT_CLASSES][DCBPORT_A_CLASS_MAX + 1];
};

typedef void (*port_message)(const struct port *port, void *data);

extern const struct netlink_family port_family;

void port_clear(const char *dev, port_message message, void *data);
void port_dump(const char *dev, port_message message, void *data);

#endif /* PORT_H */
