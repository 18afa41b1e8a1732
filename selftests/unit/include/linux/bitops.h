/* SPDX-License-Identifier: GPL-2.0 */
/* User-space stand-in, for the unit tests. */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

/* The place of the highest bit, from 1 on; 0 if there is none */
static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

#endif /* SHIM_LINUX_BITOPS_H */
