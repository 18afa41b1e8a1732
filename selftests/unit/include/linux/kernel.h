/* SPDX-License-Identifier: GPL-2.0 */
/* What the code under test expects linux/kernel.h to bring along. */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <asm/byteorder.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))

#define noinline __attribute__((noinline))

#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)

#define U32_MAX 0xffffffff

#define cpu_to_be16 __cpu_to_be16
#define cpu_to_be32 __cpu_to_be32
#define cpu_to_le32 __cpu_to_le32
#define be16_to_cpu __be16_to_cpu
#define be32_to_cpu __be32_to_cpu

#endif
