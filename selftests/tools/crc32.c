// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the checksum of the simulator's kernel (tools/sim/crc32.h) with one bit by bit, at all
 * lengths up to 600 bytes and at any alignment, with and without the CPU's instruction. rxe checks
 * with the same function what it has computed, and so would not notice. Prints what is wrong.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

#define CRC32_POLY_LE		0xedb88320
#define unlikely(x)		(x)
#define get_unaligned(p) \
	({ __typeof__(*(p) + 0) value; memcpy(&value, p, sizeof(value)); value; })
#define get_unaligned_le32(p)	get_unaligned((const u32 *)(p))
#define put_unaligned(v, p) \
	({ __typeof__(*(p)) value = (v); memcpy(p, &value, sizeof(value)); })

static u32 crc32table_le[256];

static u32 bit_by_bit(u32 crc, const u8 *p, size_t len)
{
	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? CRC32_POLY_LE : 0);
	}
	return crc;
}

#define crc32_le_base bit_by_bit
#include "crc32.h"

int main(void)
{
	static u8 bytes[1024];
	u32 seed = 1, got, want;
	size_t len, at;

	for (int i = 0; i < 256; i++)
		crc32table_le[i] = bit_by_bit(0, &(u8){ i }, 1);
	for (at = 0; at < sizeof(bytes); at++)
		bytes[at] = (seed = seed * 1664525 + 1013904223) >> 24;
	if (~crc32_le_fast(~0, (const u8 *)"123456789", 9) != 0xcbf43926)
		printf("the known checksum of 123456789 is another one\n");
	for (int plain = 0; plain < 2; plain++) {
		if (plain)
			crc32_has_pclmul = false;
		for (len = 0; len < 600; len++) {
			at = len * 7 % 64;
			want = bit_by_bit(seed + len, bytes + at, len);
			got = crc32_le_fast(seed + len, bytes + at, len);
			if (got != want)
				printf("%zu bytes from %zu%s: %08x, not %08x\n", len, at,
				       plain ? ", without the instruction" : "", got, want);
		}
	}
	return 0;
}
