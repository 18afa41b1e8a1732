/* SPDX-License-Identifier: GPL-2.0 */
/* Families of generic netlink. See netlink.c. */
#ifndef NETLINK_H
#define NETLINK_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdio.h>

/* Room for an address as text */
#define NETLINK_ADDRESS	48

/* Gets the attributes of one message, by their type */
typedef void (*netlink_message)(const struct nlattr **tb, void *data);

struct netlink_family {
	const char *name;
	uint8_t version;
	const char *module;
	size_t name_max;	/* characters of a name in a request */
	const char *no_dev;	/* attributes with names of devices */
	/* prints which attribute of a request is out of range, and the range */
	void (*range)(FILE *out, const struct nlmsghdr *sent,
		      const struct nlattr *attr, uint64_t min, uint64_t max);
};

struct nlmsghdr *netlink_request(const struct netlink_family *f, uint8_t cmd,
				 const char *object);
void netlink_put_name(struct nlmsghdr *nlh, uint16_t type, const char *name, size_t most);
void netlink_dump(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		  void *data);
void netlink_do(struct nlmsghdr *nlh);
bool netlink_try(struct nlmsghdr *nlh, int error);
void netlink_ask(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		 void *data);

void netlink_nested(const struct nlattr *nest, const struct nlattr **tb,
		    uint16_t max);
uint64_t netlink_number(const struct nlattr *attr);
const char *netlink_string(const struct nlattr *attr);
void netlink_address(const struct nlattr *attr, char to[NETLINK_ADDRESS]);

#endif /* NETLINK_H */
