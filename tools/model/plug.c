// SPDX-License-Identifier: GPL-2.0
/*
 * An algorithm for the model's senders, from the same source as its module: SOURCE, with a
 * struct dcqcn_cc_ops of the name OPS, which the model knows as NAME. The Makefile sets these, and
 * takes what eBPF has in place of the kernel's headers (examples/cc/bpf).
 */
#include <rdma/dcqcn_cc.h>

/* of the module */
#define dcqcn_register_cc(ops)		((void)(ops), 0)
#define dcqcn_unregister_cc(ops)	((void)(ops))

#include SOURCE

extern const struct dcqcn_cc_ops *const NAME;
const struct dcqcn_cc_ops *const NAME = &OPS;
