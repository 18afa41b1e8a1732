// SPDX-License-Identifier: GPL-2.0
/*
 * Sends PFC frames, many of them malformed, and prints what a port should have
 * counted.
 *
 * usage: pfcfuzz DEVICE PRIORITIES FRAMES SEED
 *
 * PRIORITIES: those that obey, one bit each. Prints the number of malformed frames, then of
 * the frames for each priority.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH	64
#define LONGEST	4214		/* bytes; above a page, the kernel keeps it in fragments */
#define TIMERS	18		/* their offsets in a frame */
#define END	34		/* of the required part of a frame */

static uint64_t state;

/* Marsaglia's xorshift */
static uint32_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static bool one_in(uint32_t n)
{
	return any() % n == 0;
}

static size_t length(void)
{
	if (one_in(100))
		return 60 + any() % (LONGEST - 60);
	return one_in(4) ? ETH_HLEN + any() % 64 : 60;
}

/* Writes a frame, and returns its length */
static size_t make(uint8_t *frame)
{
	static const uint8_t head[] = {
		0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 8, 1, 1,
	};
	static const uint8_t tag[] = { 0x81, 0, 0x60, 5 };
	size_t len = length(), i;

	memcpy(frame, head, sizeof(head));
	for (i = sizeof(head); i < END; i++)
		frame[i] = one_in(8) ? 0 : any();
	memset(frame + END, 0, LONGEST - END);
	if (one_in(16))
		frame[any() % (TIMERS - 2)] ^= 1 << any() % 8;
	if (one_in(32)) {
		memmove(frame + 16, frame + 12, 60 - 16);
		memcpy(frame + 12, tag, sizeof(tag));
	}
	return len;
}

/* How a port should count it */
static void judge(const uint8_t *frame, size_t len, unsigned int obeyed,
		  unsigned long *errors, unsigned long *counts)
{
	static const uint8_t address[] = { 0x01, 0x80, 0xc2, 0, 0, 1 };
	static const uint8_t kind[] = { 0x88, 8, 1, 1 };

	if (len < 16 || memcmp(frame, address, sizeof(address)) ||
	    memcmp(frame + 12, kind, sizeof(kind)))
		return;
	if (len < END) {
		++*errors;
		return;
	}
	for (int prio = 0; prio < 8; prio++)
		counts[prio] += (frame[17] & obeyed) >> prio & 1;
}

int main(int argc, char **argv)
{
	static uint8_t frames[BATCH][LONGEST + 4];
	struct mmsghdr messages[BATCH] = {};
	struct iovec parts[BATCH];
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
	};
	unsigned long errors = 0, counts[8] = {}, left;
	unsigned int obeyed;
	int s;

	if (argc != 5)
		errx(1, "usage: pfcfuzz DEVICE PRIORITIES FRAMES SEED");
	obeyed = strtoul(argv[2], NULL, 0);
	left = strtoul(argv[3], NULL, 0);
	state = strtoul(argv[4], NULL, 0) * 2654435761u + 88172645463325252u;
	to.sll_ifindex = if_nametoindex(argv[1]);
	s = socket(AF_PACKET, SOCK_RAW, 0);
	if (s < 0 || bind(s, (struct sockaddr *)&to, sizeof(to)))
		err(1, "%s", argv[1]);
	while (left) {
		int n = left < BATCH ? left : BATCH, done = 0, sent;

		for (int i = 0; i < n; i++) {
			parts[i].iov_base = frames[i];
			parts[i].iov_len = make(frames[i]);
			messages[i].msg_hdr.msg_iov = &parts[i];
			messages[i].msg_hdr.msg_iovlen = 1;
			judge(frames[i], parts[i].iov_len, obeyed, &errors, counts);
		}
		for (; done < n; done += sent) {
			sent = sendmmsg(s, messages + done, n - done, 0);
			if (sent < 0)
				err(1, "sendmmsg");
		}
		left -= n;
	}
	printf("%lu", errors);
	for (int prio = 0; prio < 8; prio++)
		printf(" %lu", counts[prio]);
	printf("\n");
	return 0;
}
