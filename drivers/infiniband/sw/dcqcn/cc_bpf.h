/* SPDX-License-Identifier: GPL-2.0 */
/* Algorithms in eBPF. See cc_bpf.c, or cc_no_bpf.c for kernels that do not support them. */
#ifndef DCQCN_CC_BPF_H
#define DCQCN_CC_BPF_H

void dcqcn_cc_bpf_init(void);

#endif /* DCQCN_CC_BPF_H */
