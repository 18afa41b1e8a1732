// SPDX-License-Identifier: GPL-2.0
/* Packets: a fixed number of them, which are used again. */
#include "packet.h"

#define PACKETS	65536

struct packet packet_pool[PACKETS];

static u32 fresh;	/* from here on none was used yet */

u32 packet_unused;

/**
 * packet_setup() - begin with none
 */
void packet_setup(void)
{
	packet_unused = PACKET_NONE;
	fresh = 0;
}

/**
 * packet_new() - make one
 * @kind: what it is
 * @flow: whose it is, or the port that is told
 * @psn: its number, or that which is acknowledged or asked for
 *
 * Return: it, or PACKET_NONE if all are in use.
 */
u32 packet_new(enum packet_kind kind, size_t flow, u32 psn)
{
	u32 at = packet_unused;

	if (at != PACKET_NONE)
		packet_unused = packet_pool[at].next;
	else if (fresh < PACKETS)
		at = fresh++;
	else
		return at;
	packet_pool[at].psn = psn;
	packet_pool[at].flow = (u16)flow;
	packet_pool[at].kind = kind;
	packet_pool[at].asks = false;
	packet_pool[at].marked = false;
	return at;
}
