// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's sniffer, with packets of our own: it reads any of them in bounds, and returns
 * although more come all the time. Prints what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static ssize_t receive(struct msghdr *msg);

#define recvmsg(fd, msg, flags)	receive(msg)
#include "sniff.c"

#define ENOUGH	1000000	/* packets; until then it must have returned */

static unsigned int header, length;	/* bytes: of IP's header, of the packet */
static int left;

/* A SEND_ONLY for QP 17 */
static ssize_t receive(struct msghdr *msg)
{
	struct sockaddr_ll from = { .sll_pkttype = PACKET_HOST };
	size_t len = length < msg->msg_iov->iov_len ? length : msg->msg_iov->iov_len;
	unsigned char *p = msg->msg_iov->iov_base;

	if (!left--)
		return -1;
	memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_controllen = 0;
	memset(p, 0, len);
	p[0] = 0x40 | header / 4;
	p[2] = length >> 8;
	p[3] = length;
	if (len > header + UDP_LEN + 7) {
		p[header + UDP_LEN] = OP_SEND_ONLY;
		p[header + UDP_LEN + 7] = 17;
	}
	return len;
}

int main(void)
{
	static struct tally tally;
	struct sniff sniff = { .fd = 0 };

	/* as many bytes of IP as there are in its header, and as there can be */
	for (header = 0; header <= 60; header += 4) {
		for (length = 20; length < 200; length++) {
			left = 1;
			sniff_read(&sniff, &tally);
			sniff.seen = 0;		/* read each as a whole */
		}
	}
	if (!tally.counts[SNIFF_ICRC_LOOKED])
		printf("# no ICRC was computed\n");
	header = 20;
	length = 100;
	left = ENOUGH;
	sniff_read(&sniff, &tally);
	if (left <= 0)
		printf("# it reads as long as packets come\n");
	return left <= 0 || !tally.counts[SNIFF_ICRC_LOOKED];
}
