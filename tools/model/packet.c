// SPDX-License-Identifier: GPL-2.0
/* Packets: a fixed number of them, which are used again. */
#include "packet.h"

struct packet packet_pool[PACKETS];
u32 packet_unused;
u32 packet_fresh;

/**
 * packet_setup() - begin with none
 */
void packet_setup(void)
{
	packet_unused = PACKET_NONE;
	packet_fresh = 0;
}
