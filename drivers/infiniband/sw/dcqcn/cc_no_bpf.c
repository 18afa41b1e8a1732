// SPDX-License-Identifier: GPL-2.0
/* Algorithms in eBPF: this kernel lets no module have struct_ops, which Linux 6.12 does. */
#include "cc_bpf.h"

void dcqcn_cc_bpf_init(void)
{
}
