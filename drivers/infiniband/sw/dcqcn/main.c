// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN congestion control for soft-RoCE: module load, and unload in reverse
 * order.
 *
 * Where things are: hook.c registers the hooks by which tx.c sees each packet that rxe sends, and
 * rx.c each packet that it receives. np.c answers congestion marks with CNPs, which xmit.c sends;
 * cnp.c receives CNPs. limiter.c decides when a flow is limited, rate.c computes its rate, and
 * gate.c enforces it. Where both ends agree on a context, ccc.c bounds the bytes in flight instead,
 * with nscc.c's window and rccc.c's credit, and entropy.c decides when a flow leaves its path. cc.c
 * calls other algorithms. qp.c finds the QP of a packet, resolve.c asks the RDMA core about QPs,
 * and device.c finds the port, which client.c has added. sysfs.c, debugfs.c, counters.c, netlink.c
 * and trace.h are the user interface. fault.c injects a fault for tests.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <rdma_dcqcn_version.h>

#include "cc_bpf.h"
#include "debugfs.h"
#include "client.h"
#include "hook.h"
#include "netlink.h"
#include "qp.h"
#include "settings.h"

static int __init dcqcn_init(void)
{
	int err;

	err = dcqcn_settings_init();
	if (err)
		return err;
	err = dcqcn_hook_init();
	if (err)
		return err;
	err = dcqcn_netlink_init();
	if (err)
		goto exit_hook;
	dcqcn_debugfs_init();
	dcqcn_cc_bpf_init();
	err = dcqcn_client_init();
	if (err)
		goto exit_debugfs;
	return 0;

exit_debugfs:
	dcqcn_debugfs_exit();
	/* ports that were added before the failure may have left entries */
	dcqcn_qp_exit();
	dcqcn_netlink_exit();
exit_hook:
	dcqcn_hook_exit();
	return err;
}

static void __exit dcqcn_exit(void)
{
	dcqcn_client_exit();
	dcqcn_debugfs_exit();
	dcqcn_netlink_exit();
	dcqcn_hook_exit();
	dcqcn_qp_exit();
}

module_init(dcqcn_init);
module_exit(dcqcn_exit);

MODULE_DESCRIPTION("DCQCN congestion control for soft-RoCE");
MODULE_AUTHOR("The rdma_dcqcn developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(RDMA_DCQCN_VERSION);
MODULE_SOFTDEP("pre: rdma_rxe");
