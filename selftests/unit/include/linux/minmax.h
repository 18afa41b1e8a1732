/* SPDX-License-Identifier: GPL-2.0 */
/*
 * min(), max() and clamp(). As in the oldest kernel that the module supports,
 * both sides must have the same type: a mix that would only fail there fails
 * here too.
 */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#include <assert.h>

#define shim_same_type(a, b) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(a), \
						    __typeof__(b)), \
		       "comparison of distinct types")

#define min(a, b) ({ \
	__auto_type min_a = (a); \
	__auto_type min_b = (b); \
	shim_same_type(min_a, min_b); \
	min_a < min_b ? min_a : min_b; })

#define max(a, b) ({ \
	__auto_type max_a = (a); \
	__auto_type max_b = (b); \
	shim_same_type(max_a, max_b); \
	max_a > max_b ? max_a : max_b; })

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))

/* The kernel's result with low > high depends on the version */
#define clamp(val, low, high) ({ \
	__auto_type clamp_low = (low); \
	__auto_type clamp_high = (high); \
	assert(clamp_low <= clamp_high); \
	min(max(val, clamp_low), clamp_high); })
#define clamp_t(type, val, low, high)	clamp((type)(val), (type)(low), (type)(high))

#endif
