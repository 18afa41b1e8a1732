// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that rdma_dcqcn exports, for the versions of these symbols: a kernel with
 * CONFIG_MODVERSIONS loads an algorithm only if it was built against the same types. The Makefile
 * builds this module and uses its Module.symvers; nothing loads it.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <rdma/dcqcn_cc.h>

int dcqcn_register_cc(const struct dcqcn_cc_ops *ops)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(dcqcn_register_cc);

void dcqcn_unregister_cc(const struct dcqcn_cc_ops *ops)
{
}
EXPORT_SYMBOL_GPL(dcqcn_unregister_cc);

MODULE_DESCRIPTION("Versions of the symbols of rdma_dcqcn");
MODULE_LICENSE("GPL");
