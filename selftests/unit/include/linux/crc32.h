/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crc32_le(): reflected CRC-32, without inversion before or after.
 *
 * Eight bytes at a time, by tables: quick enough for the fuzzing, and not the
 * bit-by-bit way in which test_packet.c computes the ICRCs it expects.
 */
#ifndef SHIM_LINUX_CRC32_H
#define SHIM_LINUX_CRC32_H

#include <linux/types.h>

static u32 crc32_tables[8][256];

static inline void crc32_begin(void)
{
	u32 i, n, crc;

	for (i = 0; i < 256; i++) {
		for (crc = i, n = 0; n < 8; n++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		crc32_tables[0][i] = crc;
	}
	for (i = 0; i < 256; i++) {
		for (n = 1; n < 8; n++) {
			crc = crc32_tables[n - 1][i];
			crc32_tables[n][i] = crc >> 8 ^ crc32_tables[0][crc & 255];
		}
	}
}

static inline u32 crc32_le(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;

	if (!crc32_tables[0][1])
		crc32_begin();
	for (; len >= 8; len -= 8, p += 8)
		crc = crc32_tables[7][p[0] ^ (crc & 255)] ^
		      crc32_tables[6][p[1] ^ (crc >> 8 & 255)] ^
		      crc32_tables[5][p[2] ^ (crc >> 16 & 255)] ^
		      crc32_tables[4][p[3] ^ crc >> 24] ^
		      crc32_tables[3][p[4]] ^ crc32_tables[2][p[5]] ^
		      crc32_tables[1][p[6]] ^ crc32_tables[0][p[7]];
	while (len--)
		crc = crc >> 8 ^ crc32_tables[0][(crc ^ *p++) & 255];
	return crc;
}

#endif
