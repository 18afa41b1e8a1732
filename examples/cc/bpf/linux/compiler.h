/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BPF_LINUX_COMPILER_H
#define BPF_LINUX_COMPILER_H

/* Keep the compiler from using what it knows about the value of a variable */
#define OPTIMIZER_HIDE_VAR(variable)	__asm__ volatile("" : "+r" (variable))

#endif /* BPF_LINUX_COMPILER_H */
