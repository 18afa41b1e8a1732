/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BPF_LINUX_KERNEL_H
#define BPF_LINUX_KERNEL_H

#include <linux/types.h>

#define U32_MAX		0xffffffffU
#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* BPF_LINUX_KERNEL_H */
