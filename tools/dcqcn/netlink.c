// SPDX-License-Identifier: GPL-2.0
/*
 * A generic netlink family: one socket, requests and dumps. An error ends the
 * program with the kernel's message.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clean.h"
#include "fail.h"
#include "netlink.h"

/* Bytes; the kernel fills as much of a buffer as it is offered */
#define BUFFER_SIZE		32768

static struct mnl_socket *sock;
static const struct netlink_family *spoken;
static unsigned int seq;
static char request[BUFFER_SIZE];
static char answer[BUFFER_SIZE];

/* The family of the request, and the name of its object in error messages */
static struct {
	const struct netlink_family *family;
	const char *object;
} requested;

/* A request, and the function that gets the answers. @unless: an error that does not end the
 * program, or 0; it becomes -1 if that is the answer.
 */
struct talk {
	const struct nlmsghdr *sent;
	uint16_t max;
	netlink_message message;
	void *data;
	int unless;
};

/* Attributes by type, if this version knows the type */
struct table {
	const struct nlattr **tb;
	uint16_t max;
};

static int table_cb(const struct nlattr *attr, void *data)
{
	struct table *table = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= table->max)
		table->tb[type] = attr;
	return MNL_CB_OK;
}

static void parse(const struct nlmsghdr *nlh, size_t offset,
		  const struct nlattr **tb, uint16_t max)
{
	struct table table = { .tb = tb, .max = max };

	memset(tb, 0, (max + 1) * sizeof(*tb));
	mnl_attr_parse(nlh, offset, table_cb, &table);
}

void netlink_nested(const struct nlattr *nest, const struct nlattr **tb,
		    uint16_t max)
{
	struct table table = { .tb = tb, .max = max };

	memset(tb, 0, (max + 1) * sizeof(*tb));
	if (nest)
		mnl_attr_parse_nested(nest, table_cb, &table);
}

uint64_t netlink_number(const struct nlattr *attr)
{
	if (!attr)
		return 0;
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint8_t):
		return mnl_attr_get_u8(attr);
	case sizeof(uint16_t):
		return mnl_attr_get_u16(attr);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(attr);
	default:
		return mnl_attr_get_u64(attr);
	}
}

/* Clean the string, because it is printed. We may write to the answer's buffer. */
const char *netlink_string(const struct nlattr *attr)
{
	return attr ? clean((char *)mnl_attr_get_str(attr)) : "";
}

/* IPv6, or the IPv4 address that is mapped to it; empty if there is none */
void netlink_address(const struct nlattr *attr, char to[NETLINK_ADDRESS])
{
	struct in6_addr addr;

	*to = '\0';
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(addr))
		return;
	memcpy(&addr, mnl_attr_get_payload(attr), sizeof(addr));
	if (IN6_IS_ADDR_V4MAPPED(&addr))
		inet_ntop(AF_INET, &addr.s6_addr32[3], to, NETLINK_ADDRESS);
	else
		inet_ntop(AF_INET6, &addr, to, NETLINK_ADDRESS);
}

static int message_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[UINT8_MAX + 1];
	struct talk *talk = data;

	parse(nlh, sizeof(struct genlmsghdr), tb, talk->max);
	if (talk->message)
		talk->message(tb, talk->data);
	return MNL_CB_OK;
}

/* If a number is out of range, the kernel says which one, by its place in the
 * request, and gives the range as a policy
 */
static void fail_range(const struct nlmsghdr *sent, const struct nlattr *place,
		       const struct nlattr *policy)
{
	const struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];
	const struct nlattr *attr = (void *)sent + netlink_number(place);
	char *text = NULL;
	size_t size;
	FILE *out;

	netlink_nested(policy, tb, NL_POLICY_TYPE_ATTR_MAX);
	if (!tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U])
		return;
	out = open_memstream(&text, &size);
	if (!out)
		fail_errno("memory");
	spoken->range(out, sent, attr,
		      netlink_number(tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]),
		      netlink_number(tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U]));
	fclose(out);
	fail("%s: %s", requested.object, text);
}

/* End the program with the kernel's message */
static _Noreturn void fail_talk(const struct talk *talk, int error,
		      const struct nlattr **tb)
{
	if (tb[NLMSGERR_ATTR_OFFS] && tb[NLMSGERR_ATTR_POLICY])
		fail_range(talk->sent, tb[NLMSGERR_ATTR_OFFS],
			   tb[NLMSGERR_ATTR_POLICY]);
	fail("%s: %s%s", requested.object,
	     tb[NLMSGERR_ATTR_MSG] ? netlink_string(tb[NLMSGERR_ATTR_MSG]) :
				     strerror(error),
	     error == ENODEV ? spoken->no_dev :
	     error == EPERM ? " (it needs CAP_NET_ADMIN)" : "");
}

static int error_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = {};
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	struct talk *talk = data;
	size_t len = sizeof(*e);

	if (e->error && talk->sent->nlmsg_type == GENL_ID_CTRL &&
	    e->error == -ENOENT)
		fail("%s: not loaded (modprobe %s loads it)", spoken->module,
		     spoken->module);
	if (e->error && -e->error == talk->unless) {
		talk->unless = -1;
		return MNL_CB_STOP;
	}
	/* the request comes back, too, unless it is capped */
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		len += mnl_nlmsg_get_payload_len(&e->msg);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		parse(nlh, len, tb, NLMSGERR_ATTR_MAX);
	if (e->error)
		fail_talk(talk, -e->error, tb);
	/* success, with a warning */
	if (tb[NLMSGERR_ATTR_MSG])
		fprintf(stderr, "dcqcn: %s: warning: %s\n",
			requested.object,
			netlink_string(tb[NLMSGERR_ATTR_MSG]));
	return MNL_CB_STOP;
}

/* A dump may end with an error, too */
static int done_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = {};
	const int *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error) || *error >= 0)
		return MNL_CB_STOP;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		parse(nlh, sizeof(*error), tb, NLMSGERR_ATTR_MAX);
	fail_talk(data, -*error, tb);
}

static mnl_cb_t control[] = {
	[NLMSG_ERROR] = error_cb,
	[NLMSG_DONE] = done_cb,
};

/* Return false if the answer is the error @unless */
static bool talk(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		 void *data, int unless)
{
	struct talk talk = {
		.sent = nlh,
		.max = max,
		.message = message,
		.data = data,
		.unless = unless,
	};
	ssize_t len;
	int more;

	nlh->nlmsg_seq = ++seq;
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		fail_errno("netlink");
	do {
		len = mnl_socket_recvfrom(sock, answer, sizeof(answer));
		if (len < 0)
			fail_errno("netlink");
		more = mnl_cb_run2(answer, len, seq,
				   mnl_socket_get_portid(sock), message_cb,
				   &talk, control, MNL_ARRAY_SIZE(control));
		if (more == MNL_CB_ERROR)
			fail_errno("netlink");
	} while (more != MNL_CB_STOP);
	return talk.unless >= 0;
}

static struct nlmsghdr *begin(char *buffer, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

static void family_message(const struct nlattr **tb, void *data)
{
	*(uint16_t *)data = netlink_number(tb[CTRL_ATTR_FAMILY_ID]);
}

/* A family's number; ends the program if its module is not loaded. One family is
 * in use at a time.
 */
static uint16_t open_family(const struct netlink_family *f)
{
	static uint16_t family;
	char buffer[256];
	struct nlmsghdr *nlh;
	int on = 1;

	if (sock && spoken == f && family)
		return family;
	if (sock)
		mnl_socket_close(sock);
	spoken = f;
	family = 0;	/* the program may survive that it is not found, see fail_survive() */
	sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0)
		fail_errno("netlink");
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(sock, NETLINK_GET_STRICT_CHK, &on, sizeof(on));

	nlh = begin(buffer, CTRL_CMD_GETFAMILY, 1);
	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_flags |= NLM_F_ACK;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, f->name);
	talk(nlh, CTRL_ATTR_MAX, family_message, &family, 0);
	return family;
}

/* A request has no room for words of any length, and the kernel would not say why it refuses one */
static void check_name(const char *name, size_t most)
{
	if (strlen(name) > most)
		fail("%.20s%s: names have at most %zu characters", name,
		     strlen(name) > 20 ? "..." : "", most);
}

void netlink_put_name(struct nlmsghdr *nlh, uint16_t type, const char *name, size_t most)
{
	check_name(name, most);
	mnl_attr_put_strz(nlh, type, name);
}

/* A request to fill with attributes; there is one at a time. @object names what it
 * is about, or is NULL for everything.
 */
struct nlmsghdr *netlink_request(const struct netlink_family *f, uint8_t cmd,
				 const char *object)
{
	if (object)
		check_name(object, f->name_max);
	requested.family = f;
	requested.object = object ?: f->module;
	return begin(request, cmd, f->version);
}

/* @message gets the attributes up to @max of each message */
void netlink_dump(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		  void *data)
{
	nlh->nlmsg_type = open_family(requested.family);
	nlh->nlmsg_flags |= NLM_F_DUMP;
	talk(nlh, max, message, data, 0);
}

void netlink_do(struct nlmsghdr *nlh)
{
	netlink_ask(nlh, 0, NULL, NULL);
}

/* The same; return false if the kernel refuses with @error, which does not end the program */
bool netlink_try(struct nlmsghdr *nlh, int error)
{
	nlh->nlmsg_type = open_family(requested.family);
	nlh->nlmsg_flags |= NLM_F_ACK;
	return talk(nlh, 0, NULL, NULL, error);
}

/* The same; @message gets the attributes up to @max of the answer */
void netlink_ask(struct nlmsghdr *nlh, uint16_t max, netlink_message message,
		 void *data)
{
	nlh->nlmsg_type = open_family(requested.family);
	nlh->nlmsg_flags |= NLM_F_ACK;
	talk(nlh, max, message, data, 0);
}
