/* SPDX-License-Identifier: GPL-2.0 */
/* algorithm.bpf.c does without these */
#ifndef BPF_LINUX_MODULE_H
#define BPF_LINUX_MODULE_H

#define __init			__attribute__((unused))
#define __exit			__attribute__((unused))
#define module_init(function)
#define module_exit(function)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)

#endif /* BPF_LINUX_MODULE_H */
