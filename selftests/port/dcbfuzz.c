// SPDX-License-Identifier: GPL-2.0
/*
 * usage: dcbfuzz SEED MESSAGES DEVICE...
 *
 * Sends DCB netlink that is mostly well formed but seldom makes sense to these devices, in
 * this namespace. Prints how many messages it sent, how many of them were changes that were
 * accepted or refused, and how many were answered with an error.
 *
 * Up to BATCH messages are one datagram, and their answers are read at once: system calls would
 * take most of the time. A datagram may have one message, behind which there is nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH		64		/* messages of a datagram, at most */
#define LONGEST		32000		/* bytes of a message: two tables of a thousand entries */
#define DATAGRAM	150000		/* less than a socket may send at once */
#define ANSWER		32768
#define ROOM		(8 << 20)	/* for the answers to all of them */

/* newer than some headers */
#define BUFFER	10
#define TRUST	11
#define REWR	12
#define DSCP	5
#define DCB_APP	2	/* a table's entry, of which IEEE knows nothing */
#define PCP	255

static uint64_t state;
static char datagram[DATAGRAM];
static char *message;		/* the one that is composed */
static struct nlmsghdr *head;
static unsigned long composed, taken, refused, errors;

static uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % below;
}

static int one_in(uint32_t n)
{
	return !any(n);
}

static struct nlattr *put(int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)message + head->nlmsg_len;

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((void *)attr + NLA_HDRLEN, data, len);
	head->nlmsg_len += NLA_ALIGN(attr->nla_len);
	return attr;
}

static void end(struct nlattr *nest)
{
	nest->nla_len = (void *)message + head->nlmsg_len - (void *)nest;
	if (one_in(200))
		nest->nla_len = any(UINT16_MAX);
}

/* Now and then too short, too long, or random bytes */
static void put_struct(int type, void *data, size_t len)
{
	static unsigned char twice[1024];

	memcpy(twice, data, len);
	if (one_in(20))
		len = any(2 * len);
	while (len && one_in(4))
		twice[any(len)] = any(256);
	put(type, twice, len);
}

static void put_ets(void)
{
	static const uint8_t tsa[] = { 0, 0, 2, 2, 2, 1, 3, 255 };
	struct ieee_ets ets = { .cbs = one_in(20) };
	uint32_t left = 100;

	for (int i = 0; i < 8; i++) {
		ets.prio_tc[i] = any(one_in(10) ? 16 : 8);
		ets.tc_tsa[i] = tsa[any(one_in(10) ? 8 : 5)];
		ets.tc_tx_bw[i] = i < 7 && left ? any(left + 1) : left;
		left -= ets.tc_tx_bw[i];
		/* strict classes do not count, but often the sum is 100 anyway */
		if (!ets.tc_tsa[i] && one_in(2)) {
			left += ets.tc_tx_bw[i];
			ets.tc_tx_bw[i] = 0;
		}
	}
	put_struct(DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
}

static void put_pfc(void)
{
	struct ieee_pfc pfc = { .pfc_en = any(256), .mbc = any(2),
				.delay = one_in(10) ? any(65536) : 0 };

	put_struct(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
}

static void put_maxrate(void)
{
	struct ieee_maxrate maxrate;

	for (int i = 0; i < 8; i++)
		maxrate.tc_maxrate[i] = one_in(10) ? (uint64_t)any(UINT32_MAX) << any(33) :
						     one_in(2) ? 0 : any(10000000);
	put_struct(DCB_ATTR_IEEE_MAXRATE, &maxrate, sizeof(maxrate));
}

static void put_buffer(void)
{
	struct {
		uint8_t prio2buffer[8];
		uint32_t size[8];
		uint32_t total;
	} buffer = {};
	uint32_t size = any(200000), enabled = any(256);

	for (uint32_t i = 0; i < 8; i++) {
		buffer.prio2buffer[i] = one_in(20) ? any(10) : i;
		buffer.size[i] = enabled & 1 << i ? size : 0;
	}
	put_struct(BUFFER, &buffer, sizeof(buffer));
}

static void put_apps(int table)
{
	struct nlattr *nest = put(table | NLA_F_NESTED, NULL, 0);

	for (int n = any(one_in(50) ? 1000 : 8); n >= 0; n--) {
		struct dcb_app app = {
			.selector = one_in(10) ? any(256) : DSCP,
			.priority = any(one_in(20) ? 256 : 8),
			.protocol = one_in(20) ? any(65536) : any(64),
		};

		if (one_in(10)) {
			app.selector = 1;
			app.protocol = any(2);
		}
		if (one_in(5)) {
			app.selector = PCP;
			app.protocol = any(20);
		}
		put_struct(one_in(20) ? any(6) : app.selector == PCP ? DCB_APP :
								       DCB_ATTR_IEEE_APP,
			   &app, sizeof(app));
	}
	end(nest);
}

static void put_trust(void)
{
	struct nlattr *nest = put(TRUST | NLA_F_NESTED, NULL, 0);

	for (int n = any(one_in(10) ? 300 : 2); n > 0; n--) {
		uint8_t selector = one_in(4) ? any(256) : one_in(2) ? PCP : DSCP;

		put_struct(one_in(10) ? any(5) : selector == PCP ? DCB_APP : DCB_ATTR_IEEE_APP,
			   &selector, 1);
	}
	end(nest);
}

static void put_ieee(void)
{
	struct nlattr *nest = put(DCB_ATTR_IEEE | (one_in(2) ? NLA_F_NESTED : 0), NULL, 0);

	if (one_in(3))
		put_ets();
	if (one_in(3))
		put_pfc();
	if (one_in(4))
		put_maxrate();
	if (one_in(4))
		put_buffer();
	if (one_in(2))
		put_apps(DCB_ATTR_IEEE_APP_TABLE);
	if (one_in(8))
		put_trust();
	if (one_in(8))
		put_apps(REWR);
	end(nest);
}

static void put_junk(void)
{
	unsigned char data[64];
	size_t len = any(sizeof(data));

	for (size_t i = 0; i < len; i++)
		data[i] = any(256);
	put(any(20), data, len);
}

static void put_cee_app(void)
{
	struct nlattr *nest = put(DCB_ATTR_APP | NLA_F_NESTED, NULL, 0);
	uint8_t byte = any(2), prio = any(256);
	uint16_t id = any(65536);

	put(DCB_APP_ATTR_IDTYPE, &byte, 1);
	put(DCB_APP_ATTR_ID, &id, 2);
	put(DCB_APP_ATTR_PRIORITY, &prio, 1);
	end(nest);
}

static void compose(const char *device)
{
	static const uint8_t usual[] = { DCB_CMD_IEEE_SET, DCB_CMD_IEEE_SET, DCB_CMD_IEEE_SET,
					 DCB_CMD_IEEE_DEL, DCB_CMD_IEEE_GET, DCB_CMD_GDCBX,
					 DCB_CMD_SDCBX, DCB_CMD_SAPP, DCB_CMD_GAPP };
	struct dcbmsg *dcb = NLMSG_DATA(head);
	uint8_t mode = any(256);

	memset(head, 0, sizeof(*head));
	head->nlmsg_len = NLMSG_LENGTH(sizeof(*dcb));
	head->nlmsg_flags = NLM_F_REQUEST;
	dcb->dcb_family = 0;
	dcb->dcb_pad = 0;
	dcb->cmd = one_in(8) ? any(32) : usual[any(sizeof(usual))];
	head->nlmsg_type = dcb->cmd == DCB_CMD_IEEE_GET || one_in(50) ? RTM_GETDCB : RTM_SETDCB;
	if (!one_in(200))
		put(DCB_ATTR_IFNAME, device, strlen(device) + 1);
	if (dcb->cmd == DCB_CMD_SDCBX)
		put(DCB_ATTR_DCBX, &mode, 1);
	if (dcb->cmd == DCB_CMD_SAPP || dcb->cmd == DCB_CMD_GAPP)
		put_cee_app();
	if (dcb->cmd == DCB_CMD_IEEE_SET || dcb->cmd == DCB_CMD_IEEE_DEL)
		put_ieee();
	while (one_in(8))
		put_junk();
	/* after the header, which must stay intact */
	while (one_in(16))
		message[NLMSG_HDRLEN + any(head->nlmsg_len - NLMSG_HDRLEN)] ^= 1 << any(8);
}

static void look_at(const struct nlmsghdr *nlh, size_t len)
{
	const struct nlattr *attr = NLMSG_DATA(nlh) + sizeof(struct dcbmsg);

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		errors++;
		return;
	}
	if (len < NLMSG_LENGTH(sizeof(struct dcbmsg)) + sizeof(*attr) + 1)
		return;
	/* the answer to a change is its error */
	if ((attr->nla_type & NLA_TYPE_MASK) == DCB_ATTR_IEEE && attr->nla_len == NLA_HDRLEN + 1) {
		if (*((const char *)attr + NLA_HDRLEN))
			refused++;
		else
			taken++;
	}
}

static void drain(int s)
{
	static char answer[BATCH][ANSWER];
	static struct iovec room[BATCH];
	static struct mmsghdr got[BATCH];
	int n;

	for (int i = 0; i < BATCH; i++) {
		room[i] = (struct iovec) { answer[i], ANSWER };
		got[i].msg_hdr = (struct msghdr) { .msg_iov = &room[i], .msg_iovlen = 1 };
	}
	while ((n = recvmmsg(s, got, BATCH, MSG_DONTWAIT, NULL)) > 0 || (n < 0 && errno == ENOBUFS)) {
		for (int i = 0; i < n; i++) {
			if (got[i].msg_len >= sizeof(struct nlmsghdr))
				look_at((void *)answer[i], got[i].msg_len);
		}
		if (n >= 0 && n < BATCH)
			break;
	}
}

/* Some messages, one behind the other, to any of the devices; returns their length */
static size_t compose_some(unsigned long count, char **devices, int n)
{
	size_t length = 0;

	while (count-- && length + LONGEST <= DATAGRAM) {
		message = datagram + length;
		head = (struct nlmsghdr *)message;
		compose(devices[any(n)]);
		length += NLMSG_ALIGN(head->nlmsg_len);
		composed++;
	}
	return length;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned long messages;
	int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), room = ROOM;

	if (s < 0 || argc < 4 ||
	    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		return EXIT_FAILURE;
	state = 0x9e3779b97f4a7c15 ^ strtoull(argv[1], NULL, 0);
	messages = strtoul(argv[2], NULL, 0);
	while (composed < messages) {
		unsigned long left = messages - composed, some = one_in(8) ? 1 : 1 + any(BATCH);
		size_t length = compose_some(some < left ? some : left, argv + 3, argc - 3);

		if (sendto(s, datagram, length, 0, (void *)&kernel, sizeof(kernel)) < 0)
			return EXIT_FAILURE;
		drain(s);
	}
	printf("%lu %lu %lu %lu\n", composed, taken, refused, errors);
	return EXIT_SUCCESS;
}
