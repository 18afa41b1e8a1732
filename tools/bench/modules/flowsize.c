// SPDX-License-Identifier: GPL-2.0
/* How much memory a QP's entry with its limiter takes in this kernel, and how much a context. */
#include <linux/module.h>
#include <linux/slab.h>

#include "../../../drivers/infiniband/sw/dcqcn/ccc.h"
#include "../../../drivers/infiniband/sw/dcqcn/qp.h"

static unsigned long bytes;
module_param(bytes, ulong, 0444);
MODULE_PARM_DESC(bytes, "Size of the slab object");

static unsigned long context_bytes;
module_param(context_bytes, ulong, 0444);
MODULE_PARM_DESC(context_bytes, "Size of a context's slab object");

static int __init flowsize_init(void)
{
	bytes = kmalloc_size_roundup(sizeof(struct dcqcn_qp));
	context_bytes = kmalloc_size_roundup(sizeof(struct dcqcn_ccc));
	return 0;
}

static void __exit flowsize_exit(void)
{
}

module_init(flowsize_init);
module_exit(flowsize_exit);
MODULE_DESCRIPTION("Tells the size of rdma_dcqcn's entry of a QP");
MODULE_LICENSE("GPL");
