// SPDX-License-Identifier: GPL-2.0
/* The ICRC, which covers what nothing on the path may change. */
#include <string.h>

#include "icrc.h"

#define POLYNOMIAL	0xedb88320
#define UDP_LEN		8
#define BTH_LEN		12
#define BTH_RESV	4	/* has FECN and BECN */
#define IP_LEN_MAX	60	/* IPv4, with as many options as there can be */
#define MOST_HEADERS	(IP_LEN_MAX + UDP_LEN + BTH_LEN)

static uint32_t add(uint32_t crc, const uint8_t *data, size_t len)
{
	static uint32_t table[256];

	if (!table[1]) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int bit = 0; bit < 8; bit++)
				c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
			table[i] = c;
		}
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
	return crc;
}

/* Fields that change on the path count as ones */
static void mask(uint8_t *p, size_t header)
{
	if (p[0] >> 4 == 4) {
		p[1] = 0xff;			/* TOS */
		p[8] = 0xff;			/* TTL */
		memset(p + 10, 0xff, 2);	/* checksum */
	} else {
		p[0] |= 0x0f;			/* traffic class and flow label */
		memset(p + 1, 0xff, 3);
		p[7] = 0xff;			/* hop limit */
	}
	memset(p + header + 6, 0xff, 2);	/* UDP checksum */
	p[header + UDP_LEN + BTH_RESV] = 0xff;
}

/* Of an IP packet with a header of @header bytes, from there to the last byte before its ICRC.
 * As a number whose bytes are stored from the lowest on.
 */
uint32_t icrc_compute(const uint8_t *packet, size_t header, size_t len)
{
	static const uint8_t ones[8] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	size_t headers = header + UDP_LEN + BTH_LEN;
	uint8_t masked[MOST_HEADERS];
	uint32_t crc;

	memcpy(masked, packet, headers);
	mask(masked, header);
	crc = add(~0U, ones, sizeof(ones));
	crc = add(crc, masked, headers);
	return ~add(crc, packet + headers, len - headers);
}
