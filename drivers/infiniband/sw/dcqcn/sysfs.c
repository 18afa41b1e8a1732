// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs as files below /sys/class/net/<if>/ecn, with the names, modes and
 * formats of mlx5: roce_np/, roce_rp/, and enable/<prio> in each.
 * Documentation/ABI/testing/sysfs-class-net-ecn describes them.
 *
 * A directory is a kobject that knows its port; a file knows its knob. A write
 * publishes a changed copy of the settings. Neither reads nor writes take a lock of
 * the data path, or rtnl, under which the files are added and removed.
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
 * @dirs: the directories below it
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
 * @set: the same; changes settings that are not published yet, or returns an error
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

	/* as with netlink: root may have given it away */
	if ((file->show && !file->set) || !capable(CAP_NET_ADMIN))
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

#define DCQCN_FILE(_name, _knob, _prio)					\
	{								\
		.attr = { .name = (_name), .mode = 0644 },		\
		.knob = RDMA_DCQCN_A_SETTINGS_##_knob,			\
		.prio = (_prio),					\
	}

/* The files of all knobs, by RDMA_DCQCN_A_SETTINGS_* */
static struct dcqcn_file dcqcn_files[] = {
#define DCQCN_KNOB(_role, _attr, _name, ...)				\
	[RDMA_DCQCN_A_SETTINGS_##_attr] = DCQCN_FILE(#_name, _attr, DCQCN_NUM_PRIOS),
#define DCQCN_ENABLE(_role, _attr, ...)
#include "knob_list.h"
#undef DCQCN_ENABLE
#undef DCQCN_KNOB
};

#define DCQCN_ENABLES(_role, _attr)					\
	static struct dcqcn_file dcqcn_##_role##_enable[] = {		\
		DCQCN_FILE("0", _attr, 0), DCQCN_FILE("1", _attr, 1),	\
		DCQCN_FILE("2", _attr, 2), DCQCN_FILE("3", _attr, 3),	\
		DCQCN_FILE("4", _attr, 4), DCQCN_FILE("5", _attr, 5),	\
		DCQCN_FILE("6", _attr, 6), DCQCN_FILE("7", _attr, 7),	\
	};								\
	static struct attribute *dcqcn_##_role##_enable_attrs[] = {	\
		&dcqcn_##_role##_enable[0].attr,			\
		&dcqcn_##_role##_enable[1].attr,			\
		&dcqcn_##_role##_enable[2].attr,			\
		&dcqcn_##_role##_enable[3].attr,			\
		&dcqcn_##_role##_enable[4].attr,			\
		&dcqcn_##_role##_enable[5].attr,			\
		&dcqcn_##_role##_enable[6].attr,			\
		&dcqcn_##_role##_enable[7].attr,			\
		NULL							\
	};								\
	ATTRIBUTE_GROUPS(dcqcn_##_role##_enable)

DCQCN_ENABLES(np, NP_ENABLE);
DCQCN_ENABLES(rp, RP_ENABLE);

#define DCQCN_ENABLE(_role, _attr, ...)
#define DCQCN_KNOB(_role, _attr, ...)					\
	DCQCN_OF_##_role(&dcqcn_files[RDMA_DCQCN_A_SETTINGS_##_attr].attr)
#define DCQCN_OF_np(_attr)	_attr,
#define DCQCN_OF_rp(_attr)
static struct attribute *dcqcn_np_attrs[] = {
#include "knob_list.h"
	NULL
};

ATTRIBUTE_GROUPS(dcqcn_np);
#undef DCQCN_OF_np
#undef DCQCN_OF_rp
#define DCQCN_OF_np(_attr)
#define DCQCN_OF_rp(_attr)	_attr,
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
#include "knob_list.h"
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

/* Directories below ecn/, parents first; a directory that is its own parent is directly below ecn/
 */
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
 * sysfs lets its users ensure that a directory is not removed while something is added to it: the
 * network device removes its own under rtnl.
 *
 * Context: process; may sleep. Takes rtnl. Return: 0 or a negative error.
 */
int dcqcn_sysfs_add(struct dcqcn_dev *dev)
{
	struct dcqcn_sysfs *sysfs;
	int i, err = -ENOMEM;

	sysfs = kzalloc(sizeof(*sysfs), GFP_KERNEL);
	if (!sysfs)
		return -ENOMEM;
	dev->sysfs = sysfs;
	rtnl_lock();
	if (dev->ndev->reg_state != NETREG_REGISTERED) {
		err = -ENODEV;
		goto free;
	}
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
	rtnl_unlock();
	return 0;

remove:
	while (i--)
		dcqcn_dir_remove(sysfs->dirs[i]);
	dcqcn_dir_remove(sysfs->ecn);
free:
	rtnl_unlock();
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
