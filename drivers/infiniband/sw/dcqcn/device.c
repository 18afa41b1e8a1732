// SPDX-License-Identifier: GPL-2.0
/*
 * One rxe port: created when the RDMA core adds an rxe device, freed when it
 * removes the device. rxe unregisters its device when the network device goes
 * away or changes its namespace, so there is nothing else to follow.
 *
 * Packets find the port by the RDMA device they leave or by the network device
 * they arrive on: two small tables, read under RCU.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "ccc.h"
#include "debugfs.h"
#include "device.h"
#include "hook.h"
#include "qp.h"
#include "requester.h"
#include "sysfs.h"

#define DCQCN_RXE_PORT		1	/* rxe devices have one port */

/* The port's max_msg_sz before "RDMA/rxe: Fix mismatched max_msg_sz". Mainline and each stable
 * series got that in the same release as "RDMA/rxe: Fix the warning "__rxe_cleanup..."" (6.1.129,
 * 6.12.13, 6.14), which nothing else outside rxe shows. A kernel's version would mislead, because
 * distributions backport both.
 */
#define DCQCN_MAX_MSG_SZ_BEFORE	0x800000

/* Mb/s, for network devices that do not know their speed; the RDMA core assumes
 * the same
 */
#define DCQCN_SPEED_UNKNOWN	1000

DEFINE_READ_MOSTLY_HASHTABLE(dcqcn_by_ibdev, DCQCN_TABLE_BITS);
static DEFINE_READ_MOSTLY_HASHTABLE(dcqcn_by_ndev, DCQCN_TABLE_BITS);
static DEFINE_MUTEX(dcqcn_table_mutex);	/* serialises table updates */

/* For work that sleeps: looking up QPs in the RDMA core, reading port speeds */
struct workqueue_struct *dcqcn_wq;

static struct ib_client dcqcn_client;

static struct dcqcn_dev *dcqcn_dev_find_ndev(const struct net_device *ndev)
{
	struct dcqcn_dev *dev;

	hash_for_each_possible_rcu(dcqcn_by_ndev, dev, ndev_node,
				   (unsigned long)ndev) {
		if (dev->ndev == ndev)
			return dev;
	}
	return NULL;
}

/**
 * dcqcn_dev_by_ndev() - find the port of a received packet
 * @ndev: where it arrived; a VLAN's packets belong to the device below it
 *
 * Context: under RCU. Return: the port, or NULL.
 */
struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *ndev)
{
	struct dcqcn_dev *dev = dcqcn_dev_find_ndev(ndev);

	if (!dev && is_vlan_dev(ndev))
		dev = dcqcn_dev_find_ndev(vlan_dev_real_dev(ndev));
	return dev;
}

/**
 * dcqcn_dev_of_client() - return the port of a device that has not been removed
 * @ibdev: an rxe device whose client data is set
 *
 * Context: any; called by its sysfs files. Return: the port.
 */
struct dcqcn_dev *dcqcn_dev_of_client(struct ib_device *ibdev)
{
	return ib_get_client_data(ibdev, &dcqcn_client);
}

/**
 * dcqcn_dev_next() - iterate over the ports of a namespace
 * @net: the namespace
 * @index: index of the RDMA device to start from
 *
 * Context: under RCU. Return: the port with the lowest index that is not below
 * @index, or NULL.
 */
struct dcqcn_dev *dcqcn_dev_next(const struct net *net, u32 index)
{
	struct dcqcn_dev *dev, *next = NULL;
	int bucket;

	hash_for_each_rcu(dcqcn_by_ibdev, bucket, dev, ibdev_node) {
		if (net_eq(dev_net(dev->ndev), net) &&
		    dev->ibdev->index >= index &&
		    (!next || dev->ibdev->index < next->ibdev->index))
			next = dev;
	}
	return next;
}

/**
 * dcqcn_dev_lock() - find a port by name and keep it
 * @net: its namespace
 * @name: name of the RDMA device
 *
 * Context: process; may sleep. Return: the port, valid until
 * dcqcn_dev_unlock(); or NULL, with nothing to unlock.
 */
struct dcqcn_dev *dcqcn_dev_lock(const struct net *net, const char *name)
{
	struct dcqcn_dev *dev;
	int bucket;

	mutex_lock(&dcqcn_table_mutex);
	hash_for_each(dcqcn_by_ibdev, bucket, dev, ibdev_node) {
		if (net_eq(dev_net(dev->ndev), net) &&
		    !strcmp(dev->ibdev->name, name))
			return dev;
	}
	mutex_unlock(&dcqcn_table_mutex);
	return NULL;
}

/**
 * dcqcn_dev_unlock() - release the port that dcqcn_dev_lock() returned
 *
 * Context: process.
 */
void dcqcn_dev_unlock(void)
{
	mutex_unlock(&dcqcn_table_mutex);
}

/**
 * dcqcn_dev_settings_begin() - begin to change a port's settings
 * @dev: the port
 *
 * Other writers wait until dcqcn_dev_settings_commit() or
 * dcqcn_dev_settings_abort().
 *
 * Context: process; may sleep. Return: a copy to change and to pass to one of
 * these, or NULL.
 */
struct dcqcn_settings *dcqcn_dev_settings_begin(struct dcqcn_dev *dev)
{
	const struct dcqcn_settings *old;
	struct dcqcn_settings *new;

	mutex_lock(&dev->settings_lock);
	old = rcu_dereference_protected(dev->settings,
					lockdep_is_held(&dev->settings_lock));
	new = kmemdup(old, sizeof(*old), GFP_KERNEL);
	if (!new)
		mutex_unlock(&dev->settings_lock);
	return new;
}

/**
 * dcqcn_dev_settings_commit() - publish changed settings
 * @dev: the port
 * @new: what dcqcn_dev_settings_begin() returned
 *
 * Context: process.
 */
void dcqcn_dev_settings_commit(struct dcqcn_dev *dev,
			       struct dcqcn_settings *new)
{
	struct dcqcn_settings *old;

	old = rcu_replace_pointer(dev->settings, new,
				  lockdep_is_held(&dev->settings_lock));
	dcqcn_ccc_dev_set(dev, new);
	mutex_unlock(&dev->settings_lock);
	kfree_rcu(old, rcu);
}

/**
 * dcqcn_dev_settings_abort() - leave the settings as they were
 * @dev: the port
 * @new: what dcqcn_dev_settings_begin() returned
 *
 * Context: process.
 */
void dcqcn_dev_settings_abort(struct dcqcn_dev *dev,
			      struct dcqcn_settings *new)
{
	mutex_unlock(&dev->settings_lock);
	kfree(new);
}

/*
 * Without a link most devices do not know their speed. The port keeps the last one that they
 * knew: flows that are limited would otherwise fall to DCQCN_SPEED_UNKNOWN.
 *
 * In a worker, because a notifier cannot tell whether the device's instance lock
 * is held, which depends on kernel and device. __ethtool_get_link_ksettings()
 * takes that lock if the device has one.
 */
static void dcqcn_dev_read_speed(struct work_struct *work)
{
	struct dcqcn_dev *dev = container_of(work, struct dcqcn_dev, speed_work);
	struct ethtool_link_ksettings link;

	rtnl_lock();
	if (dev->ndev->reg_state == NETREG_REGISTERED &&
	    !__ethtool_get_link_ksettings(dev->ndev, &link) &&
	    link.base.speed && link.base.speed != (u32)SPEED_UNKNOWN)
		WRITE_ONCE(dev->speed, link.base.speed);
	rtnl_unlock();
}

/* Look whether rxe frees a QP under its packets, which all rxe devices of a kernel have in common.
 * May sleep.
 */
static void dcqcn_dev_check_rxe(struct ib_device *ibdev)
{
	struct ib_port_attr attr;

	if (ib_query_port(ibdev, DCQCN_RXE_PORT, &attr) ||
	    attr.max_msg_sz != DCQCN_MAX_MSG_SZ_BEFORE)
		return;
	static_branch_enable(&dcqcn_hasty_rxe);
	pr_warn_once("this kernel's soft-RoCE may crash when a queue pair is destroyed while its packets are on their way: holding them for %llu ms at most (update the kernel, see Documentation/kernels.rst)\n",
		     DCQCN_HASTY_HOLD_NS / NSEC_PER_MSEC);
}

static struct dcqcn_dev *dcqcn_dev_alloc(struct ib_device *ibdev,
					 struct net_device *ndev)
{
	struct dcqcn_settings *settings;
	struct dcqcn_dev *dev;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->counters = alloc_percpu(struct dcqcn_counters);
	if (!dev->counters)
		goto free_dev;
	settings = dcqcn_settings_alloc();
	if (!settings)
		goto free_counters;
	RCU_INIT_POINTER(dev->settings, settings);
	mutex_init(&dev->settings_lock);
	dev->ibdev = ibdev;
	dev->ndev = ndev;
	dev->speed = DCQCN_SPEED_UNKNOWN;
	INIT_WORK(&dev->speed_work, dcqcn_dev_read_speed);
	spin_lock_init(&dev->rate_events.lock);
	dev->rate_events.begin = jiffies;
	dcqcn_qp_dev_init(dev);
	dcqcn_ccc_dev_init(dev);
	return dev;

free_counters:
	free_percpu(dev->counters);
free_dev:
	kfree(dev);
	return NULL;
}

static void dcqcn_dev_free(struct dcqcn_dev *dev)
{
	kfree(rcu_dereference_protected(dev->settings, true));
	free_percpu(dev->counters);
	mutex_destroy(&dev->settings_lock);
	kfree(dev);
}

static void dcqcn_dev_publish(struct dcqcn_dev *dev)
{
	mutex_lock(&dcqcn_table_mutex);
	hash_add_rcu(dcqcn_by_ibdev, &dev->ibdev_node,
		     (unsigned long)dev->ibdev);
	hash_add_rcu(dcqcn_by_ndev, &dev->ndev_node, (unsigned long)dev->ndev);
	mutex_unlock(&dcqcn_table_mutex);
}

/* Packets and events no longer find @dev when this returns */
static void dcqcn_dev_unpublish(struct dcqcn_dev *dev)
{
	mutex_lock(&dcqcn_table_mutex);
	hash_del_rcu(&dev->ibdev_node);
	hash_del_rcu(&dev->ndev_node);
	mutex_unlock(&dcqcn_table_mutex);
	synchronize_net();
}

static int dcqcn_add_one(struct ib_device *ibdev)
{
	struct net_device *ndev;
	struct dcqcn_dev *dev;
	int err;

	if (ibdev->ops.driver_id != RDMA_DRIVER_RXE)
		return -EOPNOTSUPP;

	ndev = ib_device_get_netdev(ibdev, DCQCN_RXE_PORT);
	if (!ndev)
		return -ENODEV;
	dev = dcqcn_dev_alloc(ibdev, ndev);
	if (!dev) {
		err = -ENOMEM;
		goto put_ndev;
	}
	dcqcn_dev_read_speed(&dev->speed_work);
	dcqcn_dev_check_rxe(ibdev);

	dev->hooks = dcqcn_hook_get(dev_net(ndev), ibdev->ops.owner);
	if (IS_ERR(dev->hooks)) {
		err = PTR_ERR(dev->hooks);
		goto free_dev;
	}
	ib_set_client_data(ibdev, &dcqcn_client, dev);
	err = dcqcn_counters_add(dev);
	if (err)
		goto put_hooks;
	err = dcqcn_sysfs_add(dev);
	if (err)
		goto remove_counters;
	dcqcn_debugfs_add(dev);
	dcqcn_dev_publish(dev);
	return 0;

remove_counters:
	dcqcn_ccc_dev_exit(dev);	/* its knob may have been written already */
	dcqcn_counters_remove(dev);
put_hooks:
	dcqcn_hook_put(dev->hooks);
free_dev:
	dcqcn_dev_free(dev);
put_ndev:
	dev_put(ndev);
	dev_err(&ibdev->dev, "dcqcn: no congestion control: error %d\n", err);
	return err;
}

static void dcqcn_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct dcqcn_dev *dev = client_data;
	struct net_device *ndev;

	if (!dev)
		return;
	ndev = dev->ndev;

	/* Send held packets while later ones still queue behind them, so that
	 * unloading the module does not reorder packets
	 */
	WRITE_ONCE(dev->stopping, true);
	dcqcn_qp_dev_release(dev);
	dcqcn_debugfs_remove(dev);
	dcqcn_sysfs_remove(dev);
	dcqcn_counters_remove(dev);
	dcqcn_dev_unpublish(dev);
	cancel_work_sync(&dev->speed_work);
	dcqcn_hook_put(dev->hooks);
	dcqcn_qp_dev_release(dev);
	dcqcn_qp_dev_exit(dev);
	dcqcn_ccc_dev_exit(dev);
	dcqcn_dev_free(dev);
	dev_put(ndev);
}

static void dcqcn_rename_one(struct ib_device *ibdev, void *client_data)
{
	struct dcqcn_dev *dev = client_data;

	if (!dev)
		return;
	dcqcn_debugfs_remove(dev);
	dcqcn_debugfs_add(dev);
}

static struct ib_client dcqcn_client = {
	.name = "dcqcn",
	.add = dcqcn_add_one,
	.remove = dcqcn_remove_one,
	.rename = dcqcn_rename_one,
};

static int dcqcn_netdev_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct dcqcn_dev *dev;

	rcu_read_lock();
	dev = dcqcn_dev_find_ndev(ndev);
	if (!dev)
		goto unlock;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		queue_work(dcqcn_wq, &dev->speed_work);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_UNREGISTER:
		dcqcn_qp_dev_flush(dev);
		break;
	}
unlock:
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block dcqcn_netdev_notifier = {
	.notifier_call = dcqcn_netdev_event,
};

/**
 * dcqcn_device_init() - add all rxe devices, present and future
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_device_init(void)
{
	int err;

	dcqcn_wq = alloc_workqueue("rdma_dcqcn", WQ_UNBOUND, 0);
	if (!dcqcn_wq)
		return -ENOMEM;
	err = register_netdevice_notifier(&dcqcn_netdev_notifier);
	if (err)
		goto destroy_wq;
	err = ib_register_client(&dcqcn_client);
	if (err)
		goto unregister_notifier;
	return 0;

unregister_notifier:
	unregister_netdevice_notifier(&dcqcn_netdev_notifier);
destroy_wq:
	destroy_workqueue(dcqcn_wq);
	return err;
}

/**
 * dcqcn_device_exit() - remove all rxe devices
 *
 * Context: process; may sleep.
 */
void dcqcn_device_exit(void)
{
	ib_unregister_client(&dcqcn_client);
	unregister_netdevice_notifier(&dcqcn_netdev_notifier);
	destroy_workqueue(dcqcn_wq);
}
