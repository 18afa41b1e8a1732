// SPDX-License-Identifier: GPL-2.0
/*
 * The one fault that the kernel's fault injection, tc and nft cannot inject: an
 * RDMA core that takes long to describe a QP. A file in debugfs, for all ports.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "fault.h"

static u32 dcqcn_delay_resolve_ms;

/**
 * dcqcn_fault_delay_resolve() - delay a QP's lookup as a test asked
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
 * dcqcn_fault_add() - create the file
 * @dir: the module's directory in debugfs, which is removed with what is in it
 *
 * Context: process; may sleep.
 */
void dcqcn_fault_add(struct dentry *dir)
{
	debugfs_create_file_unsafe("delay_resolve_ms", 0600, dir, NULL,
				   &dcqcn_delay_resolve_fops);
}
