/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of 64 bytes at a time, for the simulator's kernel (kernel.py).
 *
 * rxe computes it over each packet's payload, twice. The kernel's generic function takes byte by
 * byte, because architectures that matter have instructions for it. User-mode Linux does not use
 * them, and spent up to half of its CPU time there.
 *
 * A polynomial of 128 bits is folded into the one that lies n bits behind it by two carry-less
 * products, with x^(n+64) and x^n modulo the CRC's polynomial: Gopal et al., "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", 2009. The last 128 bits, and CPUs without
 * the instruction, take eight bytes at a time, by slicing: Kounavis and Berry, "A Systematic
 * Approach to Building High Performance Software-Based CRC Generators", 2005.
 *
 * User-mode Linux may use these registers: processes have their own, a signal's frame keeps them,
 * and nothing else runs in between, because this does not sleep. On a PC they are those of the
 * process that was interrupted, so only User-mode Linux is built with this.
 */
#include <linux/crc32poly.h>
#include <linux/unaligned.h>

#define CRC32_PCLMUL	__attribute__((target("pclmul,sse2")))

typedef long long crc32_wide __attribute__((vector_size(16)));

/* crc32_slices[n][b]: CRC of byte b with n zero bytes behind it */
static u32 crc32_slices[8][256];

/* What folds by 64 and by 16 bytes, and whether the CPU can */
static crc32_wide crc32_by_64, crc32_by_16;
static bool crc32_has_pclmul;

/* x^n modulo the polynomial, with the bits in the order of the CRC, and one bit up: the product of
 * two polynomials in that order lies one bit too low
 */
static u64 crc32_power(unsigned int n)
{
	u32 power = 1U << 31;

	while (n--)
		power = power >> 1 ^ (power & 1 ? CRC32_POLY_LE : 0);
	return (u64)power << 1;
}

static void crc32_fill(void)
{
	u32 ax = 1, bx, cx, dx;

	for (int b = 0; b < 256; b++) {
		u32 crc = crc32table_le[b];

		for (int n = 0; n < 8; n++) {
			crc32_slices[n][b] = crc;
			crc = crc >> 8 ^ crc32table_le[crc & 255];
		}
	}
	crc32_by_64 = (crc32_wide){ crc32_power(512 + 32), crc32_power(512 - 32) };
	crc32_by_16 = (crc32_wide){ crc32_power(128 + 32), crc32_power(128 - 32) };
	asm("cpuid" : "+a" (ax), "=b" (bx), "=c" (cx), "=d" (dx));
	crc32_has_pclmul = cx & 1 << 1;
}

static u32 crc32_four(u32 word, int after)
{
	return crc32_slices[after + 3][word & 255] ^ crc32_slices[after + 2][word >> 8 & 255] ^
	       crc32_slices[after + 1][word >> 16 & 255] ^ crc32_slices[after][word >> 24];
}

static u32 crc32_le_slices(u32 crc, const u8 *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8)
		crc = crc32_four(crc ^ get_unaligned_le32(p), 4) ^
		      crc32_four(get_unaligned_le32(p + 4), 0);
	return crc32_le_base(crc, p, len);
}

static inline CRC32_PCLMUL crc32_wide crc32_load(const u8 *p)
{
	return (crc32_wide){ get_unaligned((const s64 *)p), get_unaligned((const s64 *)(p + 8)) };
}

static inline CRC32_PCLMUL crc32_wide crc32_fold(crc32_wide a, crc32_wide by)
{
	return __builtin_ia32_pclmulqdq128(a, by, 0x00) ^ __builtin_ia32_pclmulqdq128(a, by, 0x11);
}

/* Leaves less than 16 bytes. @len: at least 64 */
static CRC32_PCLMUL u32 crc32_le_folds(u32 crc, const u8 **at, size_t *len)
{
	crc32_wide a[4], by = crc32_by_64;
	const u8 *p = *at;
	u8 last[16];
	int i;

	for (i = 0; i < 4; i++)
		a[i] = crc32_load(p + 16 * i);
	a[0] ^= (crc32_wide){ crc, 0 };
	for (p += 64, *len -= 64; *len >= 64; p += 64, *len -= 64) {
		for (i = 0; i < 4; i++)
			a[i] = crc32_fold(a[i], by) ^ crc32_load(p + 16 * i);
	}
	by = crc32_by_16;
	for (i = 1; i < 4; i++)
		a[0] = crc32_fold(a[0], by) ^ a[i];
	for (; *len >= 16; p += 16, *len -= 16)
		a[0] = crc32_fold(a[0], by) ^ crc32_load(p);
	*at = p;
	put_unaligned(a[0][0], (s64 *)last);
	put_unaligned(a[0][1], (s64 *)(last + 8));
	return crc32_le_slices(0, last, 16);
}

static u32 crc32_le_fast(u32 crc, const u8 *p, size_t len)
{
	if (unlikely(!crc32_slices[0][1]))	/* filled twice, it would be the same */
		crc32_fill();
	if (len >= 64 && crc32_has_pclmul)
		crc = crc32_le_folds(crc, &p, &len);
	return crc32_le_slices(crc, p, len);
}
