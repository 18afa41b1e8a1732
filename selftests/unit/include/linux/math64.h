/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit divisions and a wide multiplication. */
#ifndef SHIM_LINUX_MATH64_H
#define SHIM_LINUX_MATH64_H

#include <assert.h>
#include <stdint.h>
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

/* As the kernel does it where there is no 128-bit integer: more than 32 is undefined there,
 * and the result must fit.
 */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	u64 high = (a >> 32) * mul, low = (a & 0xffffffff) * mul >> shift;

	assert(shift <= 32);
	assert(high <= (UINT64_MAX - low) >> (32 - shift));
	return (high << (32 - shift)) + low;
}

#endif
