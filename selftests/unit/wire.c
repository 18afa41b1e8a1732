// SPDX-License-Identifier: GPL-2.0
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/*
 * What the specification (volume 1, table 38; annex A17 for the CNP) says of
 * each opcode, 32 to a line: R request, P READ response, A acknowledgment,
 * C CNP; the rest is reserved, or a transport that soft-RoCE does not have.
 */
static const char opcodes[256 + 1] =
	/* RC */ "RRRRRRRRRRRRRPPPPAARR.RR....RR.."
	/* UC */ "RRRRRRRRRRRR...................."
	/* RD */ "................................"
	/* UD */ "....RR.........................."
	/* 80 */ ".C.............................."
	/* XRC*/ "................................"
	/* c0 */ ".F.............................."
	/* e0 */ "................................";

enum dcqcn_pkt_kind kind_of_opcode(u8 opcode)
{
	switch (opcodes[opcode]) {
	case 'R':
		return DCQCN_PKT_REQUEST;
	case 'P':
		return DCQCN_PKT_RESPONSE;
	case 'A':
		return DCQCN_PKT_ACK;
	case 'C':
		return DCQCN_PKT_CNP;
	case 'F':
		return DCQCN_PKT_FEEDBACK;
	default:
		return DCQCN_PKT_OTHER;
	}
}

u32 get16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

u32 get24(const u8 *p)
{
	return p[0] << 16 | get16(p + 1);
}

void put16(u8 *p, u32 value)
{
	p[0] = value >> 8;
	p[1] = value;
}

size_t ip_len(const u8 *p)
{
	return p[0] >> 4 == 6 ? IP6_LEN : (p[0] & 15) * 4;
}

u8 uncovered_bits(const u8 *p, size_t udp, size_t i)
{
	if (i == udp + 6 || i == udp + 7)	/* UDP checksum */
		return 0xff;
	if (i == udp + UDP_LEN + 4)		/* FECN, BECN, reserved */
		return 0xff;
	if (p[0] >> 4 == 6) {
		if (i == 0)			/* traffic class, upper half */
			return 0x0f;
		/* its lower half, flow label; hop limit */
		return (i >= 1 && i <= 3) || i == 7 ? 0xff : 0;
	}
	/* TOS, TTL, header checksum */
	return i == 1 || i == 8 || i == 10 || i == 11 ? 0xff : 0;
}

void put_icrc_with_udp_at(u8 *p, size_t len, size_t udp)
{
	size_t headers = min(len, udp + UDP_LEN + BTH_LEN), i;
	u32 crc = crc32_le(0xffffffff, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);	/* no LRH */
	u8 byte;

	for (i = 0; i < headers; i++) {
		byte = p[i] | uncovered_bits(p, udp, i);
		crc = crc32_le(crc, &byte, 1);
	}
	crc = crc32_le(crc, p + headers, len - headers);
	for (i = 0; i < ICRC_LEN; i++)
		p[len + i] = ~crc >> 8 * i;
}

void put_icrc(u8 *p, size_t len)
{
	put_icrc_with_udp_at(p, len, ip_len(p));
}

bool icrc_is_right(const u8 *p, size_t len)
{
	u8 *copy = malloc(len);
	bool right;

	memcpy(copy, p, len);
	put_icrc(copy, len - ICRC_LEN);
	right = memcmp(copy, p, len) == 0;
	free(copy);
	return right;
}

struct dcqcn_pkt expected_pkt(const u8 *p, size_t len,
			      const struct dcqcn_pkt *found)
{
	struct dcqcn_pkt pkt = *found;
	size_t ip, room, udp_len, payload, least;
	const u8 *bth;

	pkt.kind = DCQCN_PKT_OTHER;
	if (len < 1)
		return pkt;
	ip = ip_len(p);
	if (len < ip + UDP_LEN + 1)
		return pkt;

	if (p[0] >> 4 == 4) {
		if (ip < IP4_LEN || p[9] != 17 || get16(p + 6) & 0x3fff ||
		    get16(p + 2) < ip)
			return pkt;
		room = get16(p + 2) - ip;
	} else if (p[0] >> 4 == 6) {
		if (p[6] != 17)
			return pkt;
		room = get16(p + 4);
	} else {
		return pkt;
	}

	udp_len = get16(p + ip + 4);
	if (!udp_len && p[0] >> 4 == 6)
		udp_len = room;
	if (get16(p + ip + 2) != 4791 || udp_len > room ||
	    udp_len < UDP_LEN + 1)
		return pkt;

	bth = p + ip + UDP_LEN;
	payload = min(udp_len, len - ip) - UDP_LEN;
	least = bth[0] == CNP || bth[0] == FEEDBACK ? 1 :
		bth[0] >> 5 == 3 ? BTH_LEN + DETH_LEN : BTH_LEN;
	if (payload < least)
		return pkt;

	pkt.kind = kind_of_opcode(bth[0]);
	pkt.v6 = p[0] >> 4 == 6;
	pkt.plain = pkt.v6 || ip == IP4_LEN;
	pkt.tos = pkt.v6 ? get16(p) >> 4 : p[1];
	pkt.ip = p;
	pkt.udp = (const void *)(p + ip);
	pkt.udp_len = udp_len;
	pkt.ud = bth[0] >> 5 == 3;
	pkt.pkey = payload < BTH_LEN ? 0 : get16(bth + 2);
	pkt.dest_qpn = payload < BTH_LEN ? 0 : get24(bth + 5);
	pkt.psn = payload < BTH_LEN ? 0 : get24(bth + 9);
	pkt.src_qpn = pkt.ud ? get24(bth + BTH_LEN + 5) : 0;
	return pkt;
}
