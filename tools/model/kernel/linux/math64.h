/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_LINUX_MATH64_H
#define MODEL_LINUX_MATH64_H

#include <linux/types.h>

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

/* As the kernel has it where there is no integer of 128 bits; shift <= 32 */
static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	u64 low = (u64)(u32)a * mul >> shift;
	u64 high = (a >> 32) * mul;

	return low + (high << (32 - shift));
}

#endif
