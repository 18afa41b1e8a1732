// SPDX-License-Identifier: GPL-2.0
/*
 * A data centre switch port in software: module load, and unload in reverse order.
 *
 * Where things are: qdisc.c is the port. classify.c reads a packet's priority, by the tables
 * of prio.c; origin.c records where the packet came in. class.c has the queues, mark.c marks
 * their packets by curve.c, stamp.c writes a queue's load (hop.c) into them, and drr.c picks the
 * queue that sends. link.c is the cable, and wire.c says when a frame has been sent. flows.c counts
 * flows, by the keys of flow_key.c. buffer.c is a switch's memory, with the arithmetic in
 * account.c. tell.c sends PFC frames, hook.c receives them, pfc.c reads and writes them, pause.c
 * keeps the pauses that they ask for, and storm.c finds PFC storms. netlink.c and dcbnl.c (with
 * ets.c for percentages) show and change settings, settings.c checks them, apply.c applies them,
 * and device.c refuses devices that are not links.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma_dcqcn_version.h>

#include "buffer.h"
#include "netlink.h"
#include "origin.h"
#include "port.h"

static int __init dcbport_init(void)
{
	int err;

	err = dcbport_buffer_init();
	if (err)
		return err;
	err = dcbport_netlink_init();
	if (err)
		goto exit_buffer;
	err = dcbport_qdisc_init();
	if (err)
		goto exit_netlink;
	return 0;

exit_netlink:
	dcbport_netlink_exit();
exit_buffer:
	dcbport_buffer_exit();
	return err;
}

static void __exit dcbport_exit(void)
{
	dcbport_qdisc_exit();
	dcbport_netlink_exit();
	dcbport_buffer_exit();
	dcbport_origin_exit();
}

module_init(dcbport_init);
module_exit(dcbport_exit);

MODULE_DESCRIPTION("Data centre switch port: exact ECN marking and PFC in software");
MODULE_AUTHOR("The rdma_dcqcn developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(RDMA_DCQCN_VERSION);
MODULE_ALIAS("net-sch-dcbport");
MODULE_ALIAS("sch_dcbport");
