/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rate.c, path.c and flows.c need of a kernel, without one and without a C
 * library: these headers are all of it.
 */
#ifndef MODEL_LINUX_TYPES_H
#define MODEL_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef u32 __u32;
typedef u64 __u64;

#endif
