// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of Priority-based Flow Control (PFC), IEEE 802.1Qbb:
 *
 *	01 80 c2 00 00 01	never forwarded
 *	source
 *	88 08			MAC control
 *	01 01			PFC
 *	priority enable vector	16 bits; bit n is priority n, the upper 8 are 0
 *	8 timers		16 bits each, priority 0 first
 *	26 bytes of zeros	to the shortest frame, of 60 bytes without FCS
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "pfc.h"

#define PFC_HEADER	14	/* bytes before the opcode */
#define PFC_OPCODE	0x0101
#define PAUSE_OPCODE	0x0001	/* 802.3x: for all priorities at once */
#define PFC_TIMERS	4	/* bytes from the opcode to the first timer */
#define PFC_CONTENT	(PFC_TIMERS + 2 * DCBPORT_PRIOS)
#define PFC_QUANTUM	512	/* bit times */

const u8 dcbport_pfc_address[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

static void pfc_put(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static u16 pfc_get(const u8 *at)
{
	return at[0] << 8 | at[1];
}

/**
 * dcbport_pfc_build() - write a frame
 * @frame: result
 * @source: the sender's address
 * @pfc: its content; timers of priorities that @pfc->enable lacks are sent as 0
 */
void dcbport_pfc_build(u8 frame[DCBPORT_PFC_LEN], const u8 source[6],
		       const struct dcbport_pfc *pfc)
{
	u8 *at = frame + PFC_HEADER;
	int prio;

	memset(frame, 0, DCBPORT_PFC_LEN);
	memcpy(frame, dcbport_pfc_address, 6);
	memcpy(frame + 6, source, 6);
	pfc_put(frame + 12, DCBPORT_PFC_ETHERTYPE);
	pfc_put(at, PFC_OPCODE);
	pfc_put(at + 2, pfc->enable);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (pfc->enable & 1 << prio)
			pfc_put(at + PFC_TIMERS + 2 * prio, pfc->quanta[prio]);
	}
}

/**
 * dcbport_pfc_is_pfc() - check whether a MAC control frame claims to be PFC
 * @data: what follows the Ethernet header
 * @len: bytes that may be read
 */
bool dcbport_pfc_is_pfc(const u8 *data, size_t len)
{
	return len >= 2 && pfc_get(data) == PFC_OPCODE;
}

/**
 * dcbport_pfc_is_global() - check whether a MAC control frame pauses without PFC
 * @data: what follows the Ethernet header
 * @len: bytes that may be read
 */
bool dcbport_pfc_is_global(const u8 *data, size_t len)
{
	return len >= 2 && pfc_get(data) == PAUSE_OPCODE;
}

/**
 * dcbport_pfc_parse() - read a frame
 * @data: what follows the Ethernet header
 * @len: bytes that may be read
 * @pfc: result, if it is a PFC frame
 *
 * The reserved upper half of the vector is ignored, and so is a timer whose bit is
 * clear: it reads as 0.
 * Return: false if the frame is something else, or too short.
 */
bool dcbport_pfc_parse(const u8 *data, size_t len, struct dcbport_pfc *pfc)
{
	int prio;

	if (len < PFC_CONTENT || !dcbport_pfc_is_pfc(data, len))
		return false;
	pfc->enable = pfc_get(data + 2);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		pfc->quanta[prio] = pfc->enable & 1 << prio ?
				    pfc_get(data + PFC_TIMERS + 2 * prio) : 0;
	return true;
}

/**
 * dcbport_pfc_nsec() - compute how long a pause lasts
 * @quanta: at most DCBPORT_PFC_MAX
 * @rate: bit/s of the link; not 0
 */
u64 dcbport_pfc_nsec(u32 quanta, u64 rate)
{
	return div64_u64((u64)quanta * PFC_QUANTUM * NSEC_PER_SEC, rate);
}
