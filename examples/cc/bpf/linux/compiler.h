/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BPF_LINUX_COMPILER_H
#define BPF_LINUX_COMPILER_H

/* Compilers must not conclude anything from the value of a variable */
#define OPTIMIZER_HIDE_VAR(variable)	__asm__ volatile("" : "+r" (variable))

#endif /* BPF_LINUX_COMPILER_H */
