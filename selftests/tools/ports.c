// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port without a kernel: every kind of loss is one. Prints what is wrong.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "port.h"
#include "port_look.h"

bool option_json;
static int wrong;

/* Why the kernel loses packets that it is to send */
static const uint16_t losses[] = {
	DCBPORT_A_CLASS_DROP_LIMIT, DCBPORT_A_CLASS_DROP_BUFFER, DCBPORT_A_CLASS_DROP_STORM,
	DCBPORT_A_CLASS_DROP_MEMORY, DCBPORT_A_CLASS_DROP_RESET, DCBPORT_A_CLASS_DROP_WRED,
};

#define LOSSES	(sizeof(losses) / sizeof(*losses))

uint64_t clock_now(void)
{
	return 0;
}

/* One port, whose class 3 has lost a packet for each reason */
void port_dump(const char *dev, port_message message, void *data)
{
	char buffer[256] = {}, name[64] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer), *has = mnl_nlmsg_put_header(name);
	const struct nlattr *tb[DCBPORT_A_PORT_MAX + 1] = {};
	struct port port = { .tb = tb };

	mnl_attr_put_strz(has, DCBPORT_A_PORT_IFNAME, dev);
	tb[DCBPORT_A_PORT_IFNAME] = mnl_nlmsg_get_payload(has);
	for (size_t i = 0; i < LOSSES; i++) {
		port.class[3][losses[i]] = mnl_nlmsg_get_payload_tail(nlh);
		mnl_attr_put_u64(nlh, losses[i], 1);
	}
	message(&port, data);
}

uint64_t netlink_number(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	default:
		return mnl_attr_get_u64(attr);
	}
}

const char *netlink_string(const struct nlattr *attr)
{
	return mnl_attr_get_str(attr);
}

static void check_losses(void)
{
	struct port_look look = port_look("a0");

	for (size_t i = 0; i < look.count; i++) {
		const struct port_sample *s = &look.samples[i];
		uint64_t want = s->prio == 3 ? LOSSES : 0;

		if (s->value[PORT_LOST] == want)
			continue;
		printf("class %d has lost %llu packets instead of %llu\n", s->prio,
		       (unsigned long long)s->value[PORT_LOST], (unsigned long long)want);
		wrong = 1;
	}
	port_look_free(&look);
}

int main(void)
{
	check_losses();
	return wrong;
}
