/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crc32_le(): reflected CRC-32, without inversion before or after.
 *
 * Four bits at a time, by table: quick enough for the fuzzing, and not the
 * bit-by-bit way in which test_packet.c computes the ICRCs it expects.
 */
#ifndef SHIM_LINUX_CRC32_H
#define SHIM_LINUX_CRC32_H

#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void *data, size_t len)
{
	static const u32 table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *p = data;

	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

#endif
