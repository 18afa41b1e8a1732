/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of eight bytes at a time, for the simulator's kernel (kernel.py).
 *
 * rxe computes it over each packet's payload, twice. The kernel's generic function takes byte by
 * byte, because architectures that matter have instructions for it. User-mode Linux does not use
 * them and spent up to half of its CPU time there.
 *
 * Slicing by 8, from Kounavis and Berry, "A Systematic Approach to Building High Performance
 * Software-Based CRC Generators", 2005.
 */
#include <linux/unaligned.h>

/* crc32_slices[n][b]: CRC of byte b with n zero bytes behind it */
static u32 crc32_slices[8][256];

static void crc32_fill_slices(void)
{
	for (int b = 0; b < 256; b++) {
		u32 crc = crc32table_le[b];

		for (int n = 0; n < 8; n++) {
			crc32_slices[n][b] = crc;
			crc = crc >> 8 ^ crc32table_le[crc & 255];
		}
	}
}

static u32 crc32_four(u32 word, int after)
{
	return crc32_slices[after + 3][word & 255] ^ crc32_slices[after + 2][word >> 8 & 255] ^
	       crc32_slices[after + 1][word >> 16 & 255] ^ crc32_slices[after][word >> 24];
}

static u32 crc32_le_slices(u32 crc, const u8 *p, size_t len)
{
	if (unlikely(!crc32_slices[0][1]))	/* filled twice, it would be the same */
		crc32_fill_slices();
	for (; len >= 8; len -= 8, p += 8)
		crc = crc32_four(crc ^ get_unaligned_le32(p), 4) ^
		      crc32_four(get_unaligned_le32(p + 4), 0);
	return crc32_le_base(crc, p, len);
}
