// SPDX-License-Identifier: GPL-2.0
/*
 * Files in debugfs, below rdma_dcqcn/: a port's knobs under the names and in the format of mlx5's
 * directory cc_params, so scripts for mlx5 need only another path.
 * Documentation/ABI/testing/debugfs-rdma_dcqcn describes them.
 *
 * Without debugfs, or without memory, there are no files, and everything else works.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "debugfs.h"
#include "device.h"
#include "fault.h"
#include "settings.h"

#define DCQCN_CC_NONE	0	/* a file without a knob: this module lacks the feature */

/**
 * struct dcqcn_cc_name - a file of cc_params/
 * @name: its name
 * @knob: RDMA_DCQCN_A_SETTINGS_*, or DCQCN_CC_NONE
 */
struct dcqcn_cc_name {
	const char *name;
	u8 knob;
};

#define DCQCN_CC(_name, _knob) { _name, RDMA_DCQCN_A_SETTINGS_##_knob }

static const struct dcqcn_cc_name dcqcn_cc_names[] = {
	DCQCN_CC("rp_clamp_tgt_rate", CLAMP_TGT_RATE),
	DCQCN_CC("rp_clamp_tgt_rate_ati", CLAMP_TGT_RATE_AFTER_TIME_INC),
	DCQCN_CC("rp_time_reset", RPG_TIME_RESET),
	DCQCN_CC("rp_byte_reset", RPG_BYTE_RESET),
	DCQCN_CC("rp_threshold", RPG_THRESHOLD),
	DCQCN_CC("rp_ai_rate", RPG_AI_RATE),
	DCQCN_CC("rp_max_rate", RPG_MAX_RATE),
	DCQCN_CC("rp_hai_rate", RPG_HAI_RATE),
	DCQCN_CC("rp_min_dec_fac", RPG_MIN_DEC_FAC),
	DCQCN_CC("rp_min_rate", RPG_MIN_RATE),
	DCQCN_CC("rp_rate_to_set_on_first_cnp", RATE_TO_SET_ON_FIRST_CNP),
	DCQCN_CC("rp_dce_tcp_g", DCE_TCP_G),
	DCQCN_CC("rp_dce_tcp_rtt", DCE_TCP_RTT),
	DCQCN_CC("rp_rate_reduce_monitor_period", RATE_REDUCE_MONITOR_PERIOD),
	DCQCN_CC("rp_initial_alpha_value", INITIAL_ALPHA_VALUE),
	DCQCN_CC("rp_gd", RPG_GD),
	DCQCN_CC("np_min_time_between_cnps", MIN_TIME_BETWEEN_CNPS),
	DCQCN_CC("np_cnp_dscp", CNP_DSCP),
	DCQCN_CC("np_cnp_prio", CNP_802P_PRIO),
	/* 0: CNPs have the priority of @np_cnp_prio */
	{ "np_cnp_prio_mode", DCQCN_CC_NONE },
	/* the NIC's answers to round-trip probes */
	{ "rtt_resp_dscp_valid", DCQCN_CC_NONE },
	{ "rtt_resp_dscp", DCQCN_CC_NONE },
};

/**
 * struct dcqcn_cc_file - what a file of a port is
 * @dev: the port
 * @knob: RDMA_DCQCN_A_SETTINGS_*, or DCQCN_CC_NONE
 */
struct dcqcn_cc_file {
	struct dcqcn_dev *dev;
	u8 knob;
};

/**
 * struct dcqcn_debugfs - the directory of a port
 * @dir: the directory
 * @files: below its cc_params/
 */
struct dcqcn_debugfs {
	struct dentry *dir;
	struct dcqcn_cc_file files[ARRAY_SIZE(dcqcn_cc_names)];
};

static struct dentry *dcqcn_debugfs_dir;

static int dcqcn_cc_get(void *data, u64 *value)
{
	const struct dcqcn_cc_file *file = data;

	rcu_read_lock();
	*value = file->knob == DCQCN_CC_NONE ? 0 :
		 dcqcn_settings_get(rcu_dereference(file->dev->settings),
				    file->knob);
	rcu_read_unlock();
	return 0;
}

static int dcqcn_cc_set(void *data, u64 value)
{
	const struct dcqcn_cc_file *file = data;
	struct dcqcn_settings *new;
	int err;

	if (value > U32_MAX)
		return -ERANGE;
	if (file->knob == DCQCN_CC_NONE)
		return value ? -EOPNOTSUPP : 0;
	new = dcqcn_dev_settings_begin(file->dev);
	if (!new)
		return -ENOMEM;
	err = dcqcn_settings_set(new, file->knob, value);
	if (err)
		dcqcn_dev_settings_abort(file->dev, new);
	else
		dcqcn_dev_settings_commit(file->dev, new);
	return err;
}

DEFINE_DEBUGFS_ATTRIBUTE(dcqcn_cc_fops, dcqcn_cc_get, dcqcn_cc_set, "%llu\n");

/* Create a port's directory. Devices in different network namespaces may have the same name: a
 * later one appends its index.
 */
static struct dentry *dcqcn_debugfs_create_dir(const struct ib_device *ibdev)
{
	char name[IB_DEVICE_NAME_MAX + sizeof(".4294967295")];
	struct dentry *other;

	other = debugfs_lookup(dev_name(&ibdev->dev), dcqcn_debugfs_dir);
	if (IS_ERR_OR_NULL(other))
		return debugfs_create_dir(dev_name(&ibdev->dev),
					  dcqcn_debugfs_dir);
	dput(other);
	snprintf(name, sizeof(name), "%s.%u", dev_name(&ibdev->dev),
		 ibdev->index);
	return debugfs_create_dir(name, dcqcn_debugfs_dir);
}

/**
 * dcqcn_debugfs_add() - create the files of a port
 * @dev: the port
 *
 * Context: process; may sleep.
 */
void dcqcn_debugfs_add(struct dcqcn_dev *dev)
{
	struct dcqcn_debugfs *files;
	struct dentry *dir;
	int i;

	files = kzalloc(sizeof(*files), GFP_KERNEL);
	if (!files)
		return;
	files->dir = dcqcn_debugfs_create_dir(dev->ibdev);
	dir = debugfs_create_dir("cc_params", files->dir);
	for (i = 0; i < ARRAY_SIZE(dcqcn_cc_names); i++) {
		files->files[i].dev = dev;
		files->files[i].knob = dcqcn_cc_names[i].knob;
		debugfs_create_file_unsafe(dcqcn_cc_names[i].name, 0600, dir,
					   &files->files[i], &dcqcn_cc_fops);
	}
	dev->debugfs = files;
}

/**
 * dcqcn_debugfs_remove() - remove the files of a port
 * @dev: the port
 *
 * Context: process; waits for their readers and writers.
 */
void dcqcn_debugfs_remove(struct dcqcn_dev *dev)
{
	if (!dev->debugfs)
		return;
	debugfs_remove_recursive(dev->debugfs->dir);
	kfree(dev->debugfs);
	dev->debugfs = NULL;
}

/**
 * dcqcn_debugfs_init() - create the module's directory
 *
 * Context: process; may sleep. Before any port is added.
 */
void dcqcn_debugfs_init(void)
{
	dcqcn_debugfs_dir = debugfs_create_dir("rdma_dcqcn", NULL);
	dcqcn_fault_add(dcqcn_debugfs_dir);
}

/**
 * dcqcn_debugfs_exit() - undo dcqcn_debugfs_init()
 *
 * Context: process; waits for readers and writers. No port is left.
 */
void dcqcn_debugfs_exit(void)
{
	debugfs_remove_recursive(dcqcn_debugfs_dir);
}
