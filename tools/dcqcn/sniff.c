// SPDX-License-Identifier: GPL-2.0
/*
 * Counts RoCEv2 packets at a network device: after the host's own
 * qdisc on the way out, before its firewall on the way in.
 */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sniff.h"

#define ROCE_PORT	4791
#define SNAPLEN		96
#define RCVBUF		(4 << 20)

/* From the IP header on */
#define IP4_LEN		20
#define IP4_DADDR	16
#define IP6_LEN		40
#define IP6_DADDR	24
#define UDP_LEN		8
#define BTH_LEN		12

#define OP_ACK		0x11
#define OP_ATOMIC_ACK	0x12
#define OP_CNP		0x81
#define QPN_GSI		1
#define QPN_MULTICAST	0xffffff

/* UDP to the port, over IPv4 or IPv6; the kernel copies no more than that */
static struct sock_filter program[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x60, 6, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40, 0, 9),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 7),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
	BPF_JUMP(BPF_JMP | BPF_JA, 3, 0, 0),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 2),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IP6_LEN + 2),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_PORT, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 0),
	BPF_STMT(BPF_RET | BPF_K, SNAPLEN),
};

/* A descriptor, or a negative number with errno set */
int sniff_open(unsigned int ifindex)
{
	struct sock_fprog filter = {
		.len = sizeof(program) / sizeof(program[0]),
		.filter = program,
	};
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = ifindex,
	};
	int size = RCVBUF;
	int fd;

	/* protocol 0: receive nothing before everything is set up */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
		       sizeof(filter)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Add CNPs that left for @addr */
void sniff_count_to(struct tally *tally, const struct in6_addr *addr,
		    uint64_t count)
{
	for (int i = 0; i < SNIFF_ADDRS; i++) {
		struct sniff_cnps *to = &tally->cnps_to[i];

		if (to->count && !IN6_ARE_ADDR_EQUAL(&to->addr, addr))
			continue;
		to->addr = *addr;
		to->count += count;
		return;
	}
}

/* The destination of an IP packet */
static struct in6_addr daddr(const unsigned char *p)
{
	struct in6_addr addr = {};

	if (p[0] >> 4 == 4) {
		addr.s6_addr[10] = 0xff;
		addr.s6_addr[11] = 0xff;
		memcpy(&addr.s6_addr[12], p + IP4_DADDR, 4);
	} else {
		memcpy(addr.s6_addr, p + IP6_DADDR, sizeof(addr.s6_addr));
	}
	return addr;
}

static void count(struct tally *tally, enum sniff_way way,
		  const unsigned char *p, size_t len)
{
	const unsigned char *bth;
	unsigned int tos, qpn;
	uint8_t op;

	if (len < IP4_LEN)
		return;
	if (p[0] >> 4 == 4) {
		bth = p + (p[0] & 0xf) * 4 + UDP_LEN;
		tos = p[1];
	} else {
		bth = p + IP6_LEN + UDP_LEN;
		tos = (p[0] << 4 | p[1] >> 4) & 0xff;
	}
	if (bth + BTH_LEN > p + len)
		return;
	op = bth[0];
	qpn = bth[5] << 16 | bth[6] << 8 | bth[7];
	if (op == OP_CNP) {
		struct in6_addr to = daddr(p);

		tally->cnps[way][tos >> 2]++;
		if (way == SNIFF_OUT)
			sniff_count_to(tally, &to, 1);
	} else if ((op & 0x1f) != OP_ACK && (op & 0x1f) != OP_ATOMIC_ACK &&
		 qpn > QPN_GSI && qpn != QPN_MULTICAST) {
		tally->data[way][tos >> 2][tos & 3]++;
	}
}

/* Count all packets that have come so far */
void sniff_read(int fd, struct tally *tally)
{
	unsigned char packet[SNAPLEN];
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t len;

	for (;;) {
		size = sizeof(from);
		len = recvfrom(fd, packet, sizeof(packet), 0,
			       (struct sockaddr *)&from, &size);
		if (len < 0)
			return;
		if (from.sll_pkttype == PACKET_OUTGOING)
			count(tally, SNIFF_OUT, packet, len);
		else if (from.sll_pkttype == PACKET_HOST)
			count(tally, SNIFF_IN, packet, len);
	}
}
