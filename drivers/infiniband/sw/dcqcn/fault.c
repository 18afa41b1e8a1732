// SPDX-License-Identifier: GPL-2.0
/*
 * The one fault that neither the kernel's fault injection, nor tc, nor nft can
 * inject: an RDMA core that is slow to describe a QP. A file in debugfs, for all
 * ports.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "fault.h"

static u32 dcqcn_delay_resolve_ms;
static struct dentry *dcqcn_fault_dir;

/**
 * dcqcn_fault_delay_resolve() - wait as long as a test wants before the RDMA core
 *	is asked about a QP
 *
 * Context: process; may sleep.
 */
void dcqcn_fault_delay_resolve(void)
{
	u32 ms = READ_ONCE(dcqcn_delay_resolve_ms);

	if (ms)
		msleep(ms);
}

static int dcqcn_delay_resolve_get(void *data, u64 *value)
{
	*value = READ_ONCE(dcqcn_delay_resolve_ms);
	return 0;
}

static int dcqcn_delay_resolve_set(void *data, u64 value)
{
	if (value > MSEC_PER_SEC)
		return -ERANGE;
	WRITE_ONCE(dcqcn_delay_resolve_ms, value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(dcqcn_delay_resolve_fops, dcqcn_delay_resolve_get,
			 dcqcn_delay_resolve_set, "%llu\n");

/**
 * dcqcn_fault_init() - make the file
 *
 * A kernel without debugfs has none, and needs none.
 *
 * Context: process; may sleep.
 */
void dcqcn_fault_init(void)
{
	dcqcn_fault_dir = debugfs_create_dir("rdma_dcqcn", NULL);
	debugfs_create_file_unsafe("delay_resolve_ms", 0600, dcqcn_fault_dir,
				   NULL, &dcqcn_delay_resolve_fops);
}

/**
 * dcqcn_fault_exit() - undo dcqcn_fault_init()
 *
 * Context: process; waits for who reads or writes the file.
 */
void dcqcn_fault_exit(void)
{
	debugfs_remove_recursive(dcqcn_fault_dir);
}
