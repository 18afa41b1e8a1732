/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_LINUX_KERNEL_H
#define MODEL_LINUX_KERNEL_H

#include <linux/types.h>

#define U32_MAX	0xffffffffU

#endif
