/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_OVERFLOW_H
#define SHIM_LINUX_OVERFLOW_H

#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)

#endif
