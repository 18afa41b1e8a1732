/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's short type names, on top of the system's UAPI header. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s32 s32;
typedef __s64 s64;

#define __packed __attribute__((__packed__))
#define __force

#endif
