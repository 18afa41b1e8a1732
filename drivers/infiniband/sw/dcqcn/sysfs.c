// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs as files below /sys/class/net/<if>/ecn, with the names, modes and
 * formats of mlx5: roce_np/, roce_rp/, and enable/<prio> in each.
 * Documentation/ABI/testing/sysfs-class-net-ecn describes them.
 *
 * A directory is a kobject that knows its port; a file knows its knob. A write
 * publishes a changed copy of the settings. Nothing here takes a lock of the data
 * path, or rtnl, under which the files are removed.
 *
 * When the network device is deleted, its directory may vanish with everything
 * below it before rxe's device is removed. Therefore enable/ is a kobject too:
 * sysfs warns about a named attribute group that is already gone.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "cc.h"
#include "device.h"
#include "settings.h"
#include "sysfs.h"

/* Directories below ecn/ */
enum dcqcn_dir_id {
	DCQCN_DIR_NP,		/* roce_np/ */
	DCQCN_DIR_NP_ENABLE,	/* roce_np/enable/ */
	DCQCN_DIR_RP,		/* roce_rp/ */
	DCQCN_DIR_RP_ENABLE,	/* roce_rp/enable/ */
	DCQCN_NUM_DIRS
};

/**
 * struct dcqcn_sysfs - the directories of one port
 * @ecn: ``ecn/``
 * @dirs: what is below it
 */
struct dcqcn_sysfs {
	struct kobject *ecn;
	struct kobject *dirs[DCQCN_NUM_DIRS];
};

struct dcqcn_dir {
	struct kobject kobj;
	struct dcqcn_dev *dev;
};

/**
 * struct dcqcn_file - a file that is a knob, or one bit of it
 * @attr: name and mode
 * @knob: RDMA_DCQCN_A_SETTINGS_*
 * @prio: the bit, or DCQCN_NUM_PRIOS for all of the knob
 * @show: for a file that is a text, and no @knob
 * @set: likewise; sets settings that are not published yet, or returns an error
 */
struct dcqcn_file {
	struct attribute attr;
	u8 knob;
	u8 prio;
	ssize_t (*show)(const struct dcqcn_dev *dev, char *buf);
	int (*set)(struct dcqcn_settings *settings, const char *text);
};

static ssize_t dcqcn_show_algorithm(const struct dcqcn_dev *dev, char *buf)
{
	ssize_t len;

	rcu_read_lock();
	len = sysfs_emit(buf, "%s\n", dcqcn_cc_name(rcu_dereference(dev->settings)->cc));
	rcu_read_unlock();
	return len;
}

static int dcqcn_set_algorithm(struct dcqcn_settings *settings, const char *text)
{
	return dcqcn_cc_choose(settings->cc, text);
}

static ssize_t dcqcn_show_available(const struct dcqcn_dev *dev, char *buf)
{
	dcqcn_cc_list(buf, PAGE_SIZE - 1);
	strcat(buf, "\n");
	return strlen(buf);
}

static ssize_t dcqcn_file_show(struct kobject *kobj, struct attribute *attr,
			       char *buf)
{
	struct dcqcn_dir *dir = container_of(kobj, struct dcqcn_dir, kobj);
	struct dcqcn_file *file = container_of(attr, struct dcqcn_file, attr);
	u32 value;

	if (file->show)
		return file->show(dir->dev, buf);
	rcu_read_lock();
	value = dcqcn_settings_get(rcu_dereference(dir->dev->settings),
				   file->knob);
	rcu_read_unlock();
	if (file->prio < DCQCN_NUM_PRIOS)
		value = !!(value & BIT(file->prio));
	return sysfs_emit(buf, "%u\n", value);
}

static int dcqcn_file_set(struct dcqcn_settings *settings,
			  const struct dcqcn_file *file, u32 value)
{
	u32 bits;

	if (file->prio == DCQCN_NUM_PRIOS)
		return dcqcn_settings_set(settings, file->knob, value);
	if (value > 1)
		return -ERANGE;
	bits = dcqcn_settings_get(settings, file->knob) & ~BIT(file->prio);
	return dcqcn_settings_set(settings, file->knob,
				  bits | value << file->prio);
}

static ssize_t dcqcn_file_store(struct kobject *kobj, struct attribute *attr,
				const char *buf, size_t count)
{
	struct dcqcn_dir *dir = container_of(kobj, struct dcqcn_dir, kobj);
	struct dcqcn_file *file = container_of(attr, struct dcqcn_file, attr);
	struct dcqcn_settings *new;
	u32 value = 0;
	int err;

	if (file->show && !file->set)
		return -EPERM;
	/* -EINVAL unless it is a number, -ERANGE unless it fits u32 */
	err = file->set ? 0 : kstrtou32(buf, 10, &value);
	if (err)
		return err;
	new = dcqcn_dev_settings_begin(dir->dev);
	if (!new)
		return -ENOMEM;
	err = file->set ? file->set(new, buf) : dcqcn_file_set(new, file, value);
	if (err) {
		dcqcn_dev_settings_abort(dir->dev, new);
		return err;
	}
	dcqcn_dev_settings_commit(dir->dev, new);
	return count;
}

static const struct sysfs_ops dcqcn_file_ops = {
	.show = dcqcn_file_show,
	.store = dcqcn_file_store,
};

#define DCQCN_FILE_AT(_var, _name, _knob, _prio)			\
	static struct dcqcn_file _var = {				\
		.attr = { .name = (_name), .mode = 0644 },		\
		.knob = RDMA_DCQCN_A_SETTINGS_##_knob,			\
		.prio = (_prio),					\
	}
#define DCQCN_FILE(_role, _name, _knob)					\
	DCQCN_FILE_AT(dcqcn_##_role##_##_name, #_name, _knob, DCQCN_NUM_PRIOS)
#define DCQCN_ENABLE(_role, _knob, _prio)				\
	DCQCN_FILE_AT(dcqcn_##_role##_enable_##_prio, #_prio, _knob, _prio)
#define DCQCN_ENABLES(_role, _knob)					\
	DCQCN_ENABLE(_role, _knob, 0);					\
	DCQCN_ENABLE(_role, _knob, 1);					\
	DCQCN_ENABLE(_role, _knob, 2);					\
	DCQCN_ENABLE(_role, _knob, 3);					\
	DCQCN_ENABLE(_role, _knob, 4);					\
	DCQCN_ENABLE(_role, _knob, 5);					\
	DCQCN_ENABLE(_role, _knob, 6);					\
	DCQCN_ENABLE(_role, _knob, 7);					\
	static struct attribute *dcqcn_##_role##_enable_attrs[] = {	\
		&dcqcn_##_role##_enable_0.attr,				\
		&dcqcn_##_role##_enable_1.attr,				\
		&dcqcn_##_role##_enable_2.attr,				\
		&dcqcn_##_role##_enable_3.attr,				\
		&dcqcn_##_role##_enable_4.attr,				\
		&dcqcn_##_role##_enable_5.attr,				\
		&dcqcn_##_role##_enable_6.attr,				\
		&dcqcn_##_role##_enable_7.attr,				\
		NULL							\
	};								\
	ATTRIBUTE_GROUPS(dcqcn_##_role##_enable)

DCQCN_FILE(np, min_time_between_cnps, MIN_TIME_BETWEEN_CNPS);
DCQCN_FILE(np, cnp_dscp, CNP_DSCP);
DCQCN_FILE(np, cnp_802p_prio, CNP_802P_PRIO);
DCQCN_FILE(np, cnp_udp_sport, CNP_UDP_SPORT);
DCQCN_ENABLES(np, NP_ENABLE);

static struct attribute *dcqcn_np_attrs[] = {
	&dcqcn_np_min_time_between_cnps.attr,
	&dcqcn_np_cnp_dscp.attr,
	&dcqcn_np_cnp_802p_prio.attr,
	&dcqcn_np_cnp_udp_sport.attr,
	NULL
};

ATTRIBUTE_GROUPS(dcqcn_np);

DCQCN_FILE(rp, rpg_max_rate, RPG_MAX_RATE);
DCQCN_FILE(rp, rpg_min_rate, RPG_MIN_RATE);
DCQCN_FILE(rp, rate_to_set_on_first_cnp, RATE_TO_SET_ON_FIRST_CNP);
DCQCN_FILE(rp, initial_alpha_value, INITIAL_ALPHA_VALUE);
DCQCN_FILE(rp, dce_tcp_g, DCE_TCP_G);
DCQCN_FILE(rp, dce_tcp_rtt, DCE_TCP_RTT);
DCQCN_FILE(rp, rate_reduce_monitor_period, RATE_REDUCE_MONITOR_PERIOD);
DCQCN_FILE(rp, rpg_gd, RPG_GD);
DCQCN_FILE(rp, rpg_min_dec_fac, RPG_MIN_DEC_FAC);
DCQCN_FILE(rp, clamp_tgt_rate, CLAMP_TGT_RATE);
DCQCN_FILE(rp, clamp_tgt_rate_after_time_inc, CLAMP_TGT_RATE_AFTER_TIME_INC);
DCQCN_FILE(rp, rpg_time_reset, RPG_TIME_RESET);
DCQCN_FILE(rp, rpg_byte_reset, RPG_BYTE_RESET);
DCQCN_FILE(rp, rpg_threshold, RPG_THRESHOLD);
DCQCN_FILE(rp, rpg_ai_rate, RPG_AI_RATE);
DCQCN_FILE(rp, rpg_hai_rate, RPG_HAI_RATE);
DCQCN_FILE(rp, alpha_on_cut, ALPHA_ON_CUT);
DCQCN_FILE(rp, start_burst, START_BURST);
DCQCN_FILE(rp, ccc_algorithms, CCC_ALGORITHMS);
DCQCN_FILE(rp, ccc_base_rtt, CCC_BASE_RTT);
DCQCN_FILE(rp, ccc_target_qdelay, CCC_TARGET_QDELAY);
DCQCN_FILE(rp, ccc_initial_window, CCC_INITIAL_WINDOW);
DCQCN_FILE(rp, ccc_entropy, CCC_ENTROPY);
DCQCN_ENABLES(rp, RP_ENABLE);

static struct dcqcn_file dcqcn_rp_cc_algorithm = {
	.attr = { .name = "cc_algorithm", .mode = 0644 },
	.show = dcqcn_show_algorithm,
	.set = dcqcn_set_algorithm,
};

static struct dcqcn_file dcqcn_rp_cc_available = {
	.attr = { .name = "cc_available", .mode = 0444 },
	.show = dcqcn_show_available,
};

static struct attribute *dcqcn_rp_attrs[] = {
	&dcqcn_rp_rpg_max_rate.attr,
	&dcqcn_rp_rpg_min_rate.attr,
	&dcqcn_rp_rate_to_set_on_first_cnp.attr,
	&dcqcn_rp_initial_alpha_value.attr,
	&dcqcn_rp_dce_tcp_g.attr,
	&dcqcn_rp_dce_tcp_rtt.attr,
	&dcqcn_rp_rate_reduce_monitor_period.attr,
	&dcqcn_rp_rpg_gd.attr,
	&dcqcn_rp_rpg_min_dec_fac.attr,
	&dcqcn_rp_clamp_tgt_rate.attr,
	&dcqcn_rp_clamp_tgt_rate_after_time_inc.attr,
	&dcqcn_rp_rpg_time_reset.attr,
	&dcqcn_rp_rpg_byte_reset.attr,
	&dcqcn_rp_rpg_threshold.attr,
	&dcqcn_rp_rpg_ai_rate.attr,
	&dcqcn_rp_rpg_hai_rate.attr,
	&dcqcn_rp_alpha_on_cut.attr,
	&dcqcn_rp_start_burst.attr,
	&dcqcn_rp_ccc_algorithms.attr,
	&dcqcn_rp_ccc_base_rtt.attr,
	&dcqcn_rp_ccc_target_qdelay.attr,
	&dcqcn_rp_ccc_initial_window.attr,
	&dcqcn_rp_ccc_entropy.attr,
	&dcqcn_rp_cc_algorithm.attr,
	&dcqcn_rp_cc_available.attr,
	NULL
};

ATTRIBUTE_GROUPS(dcqcn_rp);

static void dcqcn_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct dcqcn_dir, kobj));
}

#define DCQCN_DIR(_name, _parent, _groups)				\
	{								\
		.name = (_name),					\
		.parent = (_parent),					\
		.type = {						\
			.release = dcqcn_dir_release,			\
			.sysfs_ops = &dcqcn_file_ops,			\
			.default_groups = (_groups),			\
		},							\
	}

/* Directories below ecn/, parents first; one that names itself is directly below ecn/ */
static const struct {
	const char *name;
	enum dcqcn_dir_id parent;
	const struct kobj_type type;
} dcqcn_dirs[DCQCN_NUM_DIRS] = {
	[DCQCN_DIR_NP] = DCQCN_DIR("roce_np", DCQCN_DIR_NP, dcqcn_np_groups),
	[DCQCN_DIR_NP_ENABLE] = DCQCN_DIR("enable", DCQCN_DIR_NP,
					  dcqcn_np_enable_groups),
	[DCQCN_DIR_RP] = DCQCN_DIR("roce_rp", DCQCN_DIR_RP, dcqcn_rp_groups),
	[DCQCN_DIR_RP_ENABLE] = DCQCN_DIR("enable", DCQCN_DIR_RP,
					  dcqcn_rp_enable_groups),
};

static struct kobject *dcqcn_dir_add(struct dcqcn_dev *dev,
				     enum dcqcn_dir_id id)
{
	enum dcqcn_dir_id parent = dcqcn_dirs[id].parent;
	struct dcqcn_sysfs *sysfs = dev->sysfs;
	struct dcqcn_dir *dir;
	int err;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return ERR_PTR(-ENOMEM);
	dir->dev = dev;
	err = kobject_init_and_add(&dir->kobj, &dcqcn_dirs[id].type,
				   parent == id ? sysfs->ecn : sysfs->dirs[parent],
				   "%s", dcqcn_dirs[id].name);
	if (err) {
		kobject_put(&dir->kobj);
		return ERR_PTR(err);
	}
	return &dir->kobj;
}

static void dcqcn_dir_remove(struct kobject *kobj)
{
	/* waits for readers and writers; the put below only frees memory */
	kobject_del(kobj);
	kobject_put(kobj);
}

/**
 * dcqcn_sysfs_add() - create ``ecn/`` below a port's network device
 * @dev: the port
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_sysfs_add(struct dcqcn_dev *dev)
{
	struct dcqcn_sysfs *sysfs;
	int i, err = -ENOMEM;

	sysfs = kzalloc(sizeof(*sysfs), GFP_KERNEL);
	if (!sysfs)
		return -ENOMEM;
	dev->sysfs = sysfs;
	sysfs->ecn = kobject_create_and_add("ecn", &dev->ndev->dev.kobj);
	if (!sysfs->ecn)
		goto free;
	for (i = 0; i < DCQCN_NUM_DIRS; i++) {
		sysfs->dirs[i] = dcqcn_dir_add(dev, i);
		if (IS_ERR(sysfs->dirs[i])) {
			err = PTR_ERR(sysfs->dirs[i]);
			goto remove;
		}
	}
	return 0;

remove:
	while (i--)
		dcqcn_dir_remove(sysfs->dirs[i]);
	dcqcn_dir_remove(sysfs->ecn);
free:
	kfree(sysfs);
	return err;
}

/**
 * dcqcn_sysfs_remove() - undo dcqcn_sysfs_add()
 * @dev: the port
 *
 * Context: process; waits for readers and writers.
 */
void dcqcn_sysfs_remove(struct dcqcn_dev *dev)
{
	struct dcqcn_sysfs *sysfs = dev->sysfs;
	int i;

	for (i = DCQCN_NUM_DIRS; i--; )
		dcqcn_dir_remove(sysfs->dirs[i]);
	dcqcn_dir_remove(sysfs->ecn);
	kfree(sysfs);
}
