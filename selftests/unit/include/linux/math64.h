/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit divisions and a wide multiplication. */
#ifndef SHIM_LINUX_MATH64_H
#define SHIM_LINUX_MATH64_H

#include <assert.h>
#include <linux/types.h>

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

/* Where there is no 128-bit integer, the kernel's version shifts a half left
 * by (32 - shift): more than 32 is undefined there, and the result must fit.
 */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	unsigned __int128 product = (unsigned __int128)a * mul >> shift;

	assert(shift <= 32);
	assert(product >> 64 == 0);
	return product;
}

#endif
