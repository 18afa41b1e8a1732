/* SPDX-License-Identifier: GPL-2.0 */
/* Families of generic netlink. See netlink.c. */
#ifndef NETLINK_H
#define NETLINK_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <rdma/rdma_dcqcn.h>

/* Gets the attributes of one message, by their type */
typedef void (*netlink_message)(const struct nlattr **tb, void *data);

struct netlink_family {
	const char *name;
	uint8_t version;
	const char *module;
};

void netlink_open(void);
void netlink_open_family(const struct netlink_family *f);
struct nlmsghdr *netlink_request(uint8_t cmd);
void netlink_dump(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		  void *data);
void netlink_do(struct nlmsghdr *nlh);

void netlink_nested(const struct nlattr *nest, const struct nlattr **tb,
		    uint16_t max);
uint64_t netlink_number(const struct nlattr *attr);
const char *netlink_string(const struct nlattr *attr);

#endif /* NETLINK_H */
