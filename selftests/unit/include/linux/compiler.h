/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#define OPTIMIZER_HIDE_VAR(variable)	__asm__ volatile("" : "+r" (variable))

#endif /* SHIM_LINUX_COMPILER_H */
