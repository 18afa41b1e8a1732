// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on purpose: what the network, the allocator or the RDMA core do now
 * and then, when a test wants it. Files in debugfs, for all ports together.
 *
 * While all of them are zero, which is the normal case, the data path has a nop
 * where a fault could be.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/mutex.h>

#include "fault.h"

DEFINE_STATIC_KEY_FALSE(dcqcn_faults_on);

/**
 * struct dcqcn_fault_file - one kind of fault
 * @name: of its file
 * @max: greatest value
 * @value: as written, or what is left of it; 0 for no fault
 * @seen: occasions so far
 */
struct dcqcn_fault_file {
	const char *name;
	unsigned int max;
	atomic_t value;
	atomic_t seen;
};

static struct dcqcn_fault_file dcqcn_fault_files[DCQCN_NUM_FAULTS] = {
	[DCQCN_FAULT_DROP_CNPS] = { "drop_cnps", INT_MAX },
	[DCQCN_FAULT_FAIL_ALLOCS] = { "fail_allocs", INT_MAX },
	[DCQCN_FAULT_MARK_CE] = { "mark_ce", INT_MAX },
	[DCQCN_FAULT_DELAY_RESOLVE] = { "delay_resolve_ms", MSEC_PER_SEC },
};

static DEFINE_MUTEX(dcqcn_fault_mutex);	/* whoever switches faults on or off */
static struct dentry *dcqcn_fault_dir;

/**
 * dcqcn_fault_take() - one of the faults that were ordered, if any is left
 * @fault: which
 *
 * Context: any. Return: whether it shall happen now.
 */
bool dcqcn_fault_take(enum dcqcn_fault fault)
{
	return atomic_dec_if_positive(&dcqcn_fault_files[fault].value) >= 0;
}

/**
 * dcqcn_fault_is_nth() - whether it is the turn of a fault that comes regularly
 * @fault: which
 *
 * Context: any.
 */
bool dcqcn_fault_is_nth(enum dcqcn_fault fault)
{
	struct dcqcn_fault_file *file = &dcqcn_fault_files[fault];
	unsigned int n = atomic_read(&file->value);

	return n && (u32)atomic_inc_return(&file->seen) % n == 0;
}

/**
 * dcqcn_fault_sleep() - wait as long as a fault says
 * @fault: which
 *
 * Context: process; sleeps.
 */
void dcqcn_fault_sleep(enum dcqcn_fault fault)
{
	msleep(atomic_read(&dcqcn_fault_files[fault].value));
}

static int dcqcn_fault_get(void *data, u64 *value)
{
	struct dcqcn_fault_file *file = data;

	*value = atomic_read(&file->value);
	return 0;
}

static int dcqcn_fault_set(void *data, u64 value)
{
	struct dcqcn_fault_file *file = data;
	bool any = false;
	unsigned int i;

	if (value > file->max)
		return -ERANGE;

	mutex_lock(&dcqcn_fault_mutex);
	atomic_set(&file->value, value);
	for (i = 0; i < DCQCN_NUM_FAULTS; i++)
		any |= atomic_read(&dcqcn_fault_files[i].value) > 0;
	if (any)
		static_branch_enable(&dcqcn_faults_on);
	else
		static_branch_disable(&dcqcn_faults_on);
	mutex_unlock(&dcqcn_fault_mutex);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(dcqcn_fault_fops, dcqcn_fault_get, dcqcn_fault_set,
			 "%llu\n");

/**
 * dcqcn_fault_init() - make the files
 *
 * A kernel without debugfs has none, and needs none.
 *
 * Context: process; may sleep.
 */
void dcqcn_fault_init(void)
{
	unsigned int i;

	dcqcn_fault_dir = debugfs_create_dir("rdma_dcqcn", NULL);
	for (i = 0; i < DCQCN_NUM_FAULTS; i++)
		debugfs_create_file_unsafe(dcqcn_fault_files[i].name, 0600,
					   dcqcn_fault_dir,
					   &dcqcn_fault_files[i],
					   &dcqcn_fault_fops);
}

/**
 * dcqcn_fault_exit() - undo dcqcn_fault_init()
 *
 * Context: process; waits for who reads or writes a file.
 */
void dcqcn_fault_exit(void)
{
	debugfs_remove_recursive(dcqcn_fault_dir);
}
