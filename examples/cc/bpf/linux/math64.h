/* SPDX-License-Identifier: GPL-2.0 */
/* eBPF divides 64-bit numbers itself. A division by 0 yields 0. */
#ifndef BPF_LINUX_MATH64_H
#define BPF_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* There was no signed division before -mcpu=v4 */
static inline s64 div_s64(s64 dividend, s32 divisor)
{
	u64 quotient = (u64)(dividend < 0 ? -dividend : dividend) /
		       (u64)(divisor < 0 ? -(s64)divisor : divisor);

	return (dividend < 0) == (divisor < 0) ? (s64)quotient : -(s64)quotient;
}

#endif /* BPF_LINUX_MATH64_H */
