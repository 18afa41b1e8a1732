/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's types for algorithms in eBPF */
#ifndef BPF_LINUX_TYPES_H
#define BPF_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#endif /* BPF_LINUX_TYPES_H */
