/* SPDX-License-Identifier: GPL-2.0 */
/* User-space stand-in, for the unit tests. */
#ifndef SHIM_LINUX_BITS_H
#define SHIM_LINUX_BITS_H

#define BIT(n) (1UL << (n))

#endif /* SHIM_LINUX_BITS_H */
