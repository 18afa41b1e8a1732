// SPDX-License-Identifier: GPL-2.0
/* Algorithms in eBPF are unavailable on this kernel: modules can define struct_ops since Linux
 * 6.12.
 */
#include "cc_bpf.h"

void dcqcn_cc_bpf_init(void)
{
}
