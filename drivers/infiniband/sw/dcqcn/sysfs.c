// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs as files below /sys/class/net/<if>/ecn, with the names, modes and
 * formats of mlx5: roce_np/, roce_rp/, and enable/<prio> in each.
 * Documentation/ABI/testing/sysfs-class-net-ecn says what each means.
 *
 * A directory is one kobject that knows its port. A file is an entry in a
 * table: where its value is in struct dcqcn_settings, and what it may be. A
 * write publishes a changed copy of the settings; nothing here takes a lock of
 * the data path, nor rtnl, under which the files are removed.
 */
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/limits.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "device.h"
#include "settings.h"
#include "sysfs.h"

struct dcqcn_dir {
	struct kobject kobj;
	struct dcqcn_dev *dev;
};

struct dcqcn_knob {
	struct attribute attr;
	size_t offset;
	u32 min;
	u32 max;
};

static u32 *dcqcn_knob_value(struct dcqcn_settings *settings,
			     const struct dcqcn_knob *knob)
{
	return (void *)settings + knob->offset;
}

static ssize_t dcqcn_knob_show(struct kobject *kobj, struct attribute *attr,
			       char *buf)
{
	struct dcqcn_dir *dir = container_of(kobj, struct dcqcn_dir, kobj);
	struct dcqcn_knob *knob = container_of(attr, struct dcqcn_knob, attr);
	u32 value;

	rcu_read_lock();
	value = *dcqcn_knob_value(rcu_dereference(dir->dev->settings), knob);
	rcu_read_unlock();
	return sysfs_emit(buf, "%u\n", value);
}

static ssize_t dcqcn_knob_store(struct kobject *kobj, struct attribute *attr,
				const char *buf, size_t count)
{
	struct dcqcn_dir *dir = container_of(kobj, struct dcqcn_dir, kobj);
	struct dcqcn_knob *knob = container_of(attr, struct dcqcn_knob, attr);
	struct dcqcn_settings *old, *new;
	struct dcqcn_dev *dev = dir->dev;
	u32 value;
	int err;

	/* -EINVAL for what is no number, -ERANGE for what does not fit u32 */
	err = kstrtou32(buf, 10, &value);
	if (err)
		return err;
	if (value < knob->min || value > knob->max)
		return -ERANGE;

	new = kmalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	mutex_lock(&dev->settings_lock);
	old = rcu_dereference_protected(dev->settings,
					lockdep_is_held(&dev->settings_lock));
	*new = *old;
	*dcqcn_knob_value(new, knob) = value;
	rcu_assign_pointer(dev->settings, new);
	mutex_unlock(&dev->settings_lock);
	kfree_rcu(old, rcu);
	return count;
}

static const struct sysfs_ops dcqcn_knob_ops = {
	.show = dcqcn_knob_show,
	.store = dcqcn_knob_store,
};

#define DCQCN_KNOB_AT(_var, _name, _member, _min, _max)			\
	static struct dcqcn_knob _var = {				\
		.attr = { .name = (_name), .mode = 0644 },		\
		.offset = offsetof(struct dcqcn_settings, _member),	\
		.min = (_min),						\
		.max = (_max),						\
	}
#define DCQCN_KNOB(_role, _name, _min, _max)				\
	DCQCN_KNOB_AT(dcqcn_##_role##_##_name, #_name, _role._name,	\
		      _min, _max)
#define DCQCN_ENABLE(_role, _prio)					\
	DCQCN_KNOB_AT(dcqcn_##_role##_enable_##_prio, #_prio,		\
		      _role##_enable[_prio], 0, 1)
#define DCQCN_ENABLES(_role)						\
	DCQCN_ENABLE(_role, 0);						\
	DCQCN_ENABLE(_role, 1);						\
	DCQCN_ENABLE(_role, 2);						\
	DCQCN_ENABLE(_role, 3);						\
	DCQCN_ENABLE(_role, 4);						\
	DCQCN_ENABLE(_role, 5);						\
	DCQCN_ENABLE(_role, 6);						\
	DCQCN_ENABLE(_role, 7);						\
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
	static const struct attribute_group dcqcn_##_role##_enable = {	\
		.name = "enable",					\
		.attrs = dcqcn_##_role##_enable_attrs,			\
	}

/* Times in us end at 2^17 - 1, as in mlx5. Rates in Mb/s that are higher than
 * the line are taken for it where they are used.
 */
#define DCQCN_USEC_MAX		131071

DCQCN_KNOB(np, min_time_between_cnps, 0, DCQCN_USEC_MAX);
DCQCN_KNOB(np, cnp_dscp, 0, 63);
DCQCN_KNOB(np, cnp_802p_prio, 0, 7);
DCQCN_KNOB(np, cnp_udp_sport, 0, U16_MAX);
DCQCN_ENABLES(np);

static struct attribute *dcqcn_np_attrs[] = {
	&dcqcn_np_min_time_between_cnps.attr,
	&dcqcn_np_cnp_dscp.attr,
	&dcqcn_np_cnp_802p_prio.attr,
	&dcqcn_np_cnp_udp_sport.attr,
	NULL
};

static const struct attribute_group dcqcn_np_group = {
	.attrs = dcqcn_np_attrs,
};

DCQCN_KNOB(rp, rpg_max_rate, 0, U32_MAX);
DCQCN_KNOB(rp, rpg_min_rate, 1, U32_MAX);
DCQCN_KNOB(rp, rate_to_set_on_first_cnp, 0, U32_MAX);
DCQCN_KNOB(rp, initial_alpha_value, 1, 1023);
DCQCN_KNOB(rp, dce_tcp_g, 0, 1023);
DCQCN_KNOB(rp, dce_tcp_rtt, 1, DCQCN_USEC_MAX);
DCQCN_KNOB(rp, rate_reduce_monitor_period, 1, DCQCN_USEC_MAX);
DCQCN_KNOB(rp, rpg_gd, 0, 15);
DCQCN_KNOB(rp, rpg_min_dec_fac, 1, 100);
DCQCN_KNOB(rp, clamp_tgt_rate, 0, 1);
DCQCN_KNOB(rp, clamp_tgt_rate_after_time_inc, 0, 1);
DCQCN_KNOB(rp, rpg_time_reset, 1, DCQCN_USEC_MAX);
DCQCN_KNOB(rp, rpg_byte_reset, 0, U32_MAX);
DCQCN_KNOB(rp, rpg_threshold, 1, 31);
DCQCN_KNOB(rp, rpg_ai_rate, 1, U32_MAX);
DCQCN_KNOB(rp, rpg_hai_rate, 1, U32_MAX);
DCQCN_ENABLES(rp);

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
	NULL
};

static const struct attribute_group dcqcn_rp_group = {
	.attrs = dcqcn_rp_attrs,
};

static const struct attribute_group *dcqcn_np_groups[] = {
	&dcqcn_np_group, &dcqcn_np_enable, NULL
};

static const struct attribute_group *dcqcn_rp_groups[] = {
	&dcqcn_rp_group, &dcqcn_rp_enable, NULL
};

static void dcqcn_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct dcqcn_dir, kobj));
}

static const struct kobj_type dcqcn_np_ktype = {
	.release = dcqcn_dir_release,
	.sysfs_ops = &dcqcn_knob_ops,
	.default_groups = dcqcn_np_groups,
};

static const struct kobj_type dcqcn_rp_ktype = {
	.release = dcqcn_dir_release,
	.sysfs_ops = &dcqcn_knob_ops,
	.default_groups = dcqcn_rp_groups,
};

static struct kobject *dcqcn_dir_add(struct dcqcn_dev *dev,
				     const struct kobj_type *ktype,
				     const char *name)
{
	struct dcqcn_dir *dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	int err;

	if (!dir)
		return ERR_PTR(-ENOMEM);
	dir->dev = dev;
	err = kobject_init_and_add(&dir->kobj, ktype, dev->ecn, "%s", name);
	if (err) {
		kobject_put(&dir->kobj);
		return ERR_PTR(err);
	}
	return &dir->kobj;
}

static void dcqcn_dir_remove(struct kobject *kobj)
{
	/* waits for readers and writers; a later put only frees memory */
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
	int err;

	dev->ecn = kobject_create_and_add("ecn", &dev->ndev->dev.kobj);
	if (!dev->ecn)
		return -ENOMEM;
	dev->np_dir = dcqcn_dir_add(dev, &dcqcn_np_ktype, "roce_np");
	if (IS_ERR(dev->np_dir)) {
		err = PTR_ERR(dev->np_dir);
		goto remove_ecn;
	}
	dev->rp_dir = dcqcn_dir_add(dev, &dcqcn_rp_ktype, "roce_rp");
	if (IS_ERR(dev->rp_dir)) {
		err = PTR_ERR(dev->rp_dir);
		goto remove_np;
	}
	return 0;

remove_np:
	dcqcn_dir_remove(dev->np_dir);
remove_ecn:
	dcqcn_dir_remove(dev->ecn);
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
	dcqcn_dir_remove(dev->rp_dir);
	dcqcn_dir_remove(dev->np_dir);
	dcqcn_dir_remove(dev->ecn);
}
