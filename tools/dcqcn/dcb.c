// SPDX-License-Identifier: GPL-2.0
/*
 * APP entries, which map DSCPs to priorities: a device's, read by Data Centre Bridging
 * netlink, or a neighbour's.
 */
#include <libmnl/libmnl.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "dcb.h"

void dcb_add(struct dcb_app_table *table, int selector, int id, int prio)
{
	if (prio > 7)
		return;
	if (selector == IEEE_8021QAZ_APP_SEL_DSCP && id < DCB_DSCPS)
		table->dscp[id] |= 1 << prio;
	else if (selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE && !id)
		table->other |= 1 << prio;
}

bool dcb_has_dscps(const struct dcb_app_table *table)
{
	for (int i = 0; i < DCB_DSCPS; i++) {
		if (table->dscp[i])
			return true;
	}
	return false;
}

static int highest(uint8_t prios)
{
	return prios ? 31 - __builtin_clz(prios) : 0;
}

/* As in the module's prio.c, the highest of several priorities counts */
int dcb_prio(const struct dcb_app_table *table, int dscp)
{
	if (!dcb_has_dscps(table))
		return dscp >> 3;
	return highest(table->dscp[dscp] ?: table->other);
}

static int app_cb(const struct nlattr *attr, void *data)
{
	const struct dcb_app *app = mnl_attr_get_payload(attr);

	if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE_APP &&
	    mnl_attr_get_payload_len(attr) >= sizeof(*app))
		dcb_add(data, app->selector, app->protocol, app->priority);
	return MNL_CB_OK;
}

static int ieee_cb(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE_APP_TABLE)
		mnl_attr_parse_nested(attr, app_cb, data);
	return MNL_CB_OK;
}

static int device_cb(const struct nlattr *attr, void *data)
{
	struct dcb_app_table *table = data;

	if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE) {
		table->known = true;
		mnl_attr_parse_nested(attr, ieee_cb, data);
	}
	return MNL_CB_OK;
}

static int answer_cb(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, sizeof(struct dcbmsg), device_cb, data);
	return MNL_CB_STOP;
}

static void ask(struct mnl_socket *sock, const char *dev,
		struct dcb_app_table *table)
{
	char buffer[8192] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct dcbmsg *dcb;
	ssize_t len;

	nlh->nlmsg_type = RTM_GETDCB;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	dcb = mnl_nlmsg_put_extra_header(nlh, sizeof(*dcb));
	dcb->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, dev);
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		return;
	len = mnl_socket_recvfrom(sock, buffer, sizeof(buffer));
	if (len > 0)
		mnl_cb_run(buffer, len, 0, 0, answer_cb, table);
}

/* Leave the table unknown if the kernel has none */
void dcb_apps(const char *dev, struct dcb_app_table *table)
{
	struct mnl_socket *sock = mnl_socket_open(NETLINK_ROUTE);

	if (!sock)
		return;
	if (!mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID))
		ask(sock, dev, table);
	mnl_socket_close(sock);
}
