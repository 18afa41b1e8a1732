/* SPDX-License-Identifier: GPL-2.0 */
/* Algorithms in eBPF. See cc_bpf.c; where a kernel cannot have them, cc_no_bpf.c takes its place. */
#ifndef DCQCN_CC_BPF_H
#define DCQCN_CC_BPF_H

void dcqcn_cc_bpf_init(void);

#endif /* DCQCN_CC_BPF_H */
