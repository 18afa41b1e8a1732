// SPDX-License-Identifier: GPL-2.0
/* How much memory a port in a switch takes in this kernel, for all of its priorities. */
#include <linux/module.h>
#include <linux/slab.h>

#include "../../../drivers/net/dcbport/dcbnl.h"
#include "../../../drivers/net/dcbport/port.h"
#include "../../../drivers/net/dcbport/storm.h"

static unsigned long bytes;
module_param(bytes, ulong, 0444);
MODULE_PARM_DESC(bytes, "Size of the port's slab objects");

static int __init portsize_init(void)
{
	/* as the core allocates a qdisc */
	bytes = kmalloc_size_roundup(sizeof(struct Qdisc) +
				     sizeof(struct dcbport)) +
		kmalloc_size_roundup(DCBPORT_PRIOS * sizeof(struct dcbport_storm)) +
		kmalloc_size_roundup(sizeof(struct dcbport_dcbnl)) +
		/* from a cache of its own */
		ALIGN(sizeof(struct dcbport_ingress), cache_line_size());
	return 0;
}

static void __exit portsize_exit(void)
{
}

module_init(portsize_init);
module_exit(portsize_exit);
MODULE_DESCRIPTION("Tells the size of dcbport's port");
MODULE_LICENSE("GPL");
