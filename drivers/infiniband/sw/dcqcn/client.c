// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and frees ports: one is created when the RDMA core adds an rxe device, and freed when it
 * removes the device. rxe unregisters its device when the network device goes away or changes its
 * namespace, so there is nothing else to follow.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "ccc.h"
#include "client.h"
#include "debugfs.h"
#include "device.h"
#include "hook.h"
#include "qp.h"
#include "resolve.h"
#include "settings.h"
#include "stamp.h"
#include "sysfs.h"

#define DCQCN_RXE_PORT		1	/* rxe devices have one port */

/* The port's max_msg_sz before "RDMA/rxe: Fix mismatched max_msg_sz". Mainline and each stable
 * series got that in the same release as "RDMA/rxe: Fix the warning "__rxe_cleanup..."" (6.1.129,
 * 6.12.13, 6.14), which leaves no other trace outside rxe. A kernel's version would mislead,
 * because distributions backport both.
 */
#define DCQCN_MAX_MSG_SZ_BEFORE	0x800000

/* Mb/s, for network devices that do not know their speed; the RDMA core assumes
 * the same
 */
#define DCQCN_SPEED_UNKNOWN	1000

static struct ib_client dcqcn_client;

/*
 * Without a link most devices do not know their speed. The port keeps the last known speed: limited
 * flows would otherwise fall to DCQCN_SPEED_UNKNOWN.
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

/* Check whether this kernel's rxe frees a QP that packets still point to. The answer is the same
 * for all rxe devices. May sleep.
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
	spin_lock_init(&dev->peers.lock);
	spin_lock_init(&dev->rate_events.lock);
	dev->rate_events.begin = jiffies;
	dcqcn_qp_dev_init(dev);
	dcqcn_resolve_dev_init(dev);
	dcqcn_ccc_dev_init(dev);
	dcqcn_ccc_credit_init(dev);
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

static int dcqcn_client_add(struct ib_device *ibdev)
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

	dev->hooks = dcqcn_hook_get(ndev, ibdev->ops.owner);
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
	/* the link may have come up before dcqcn_netdev_event() could find the port */
	dcqcn_dev_read_speed(&dev->speed_work);
	return 0;

remove_counters:
	dcqcn_ccc_dev_exit(dev);	/* a user may have enabled contexts already */
	dcqcn_stamps_exit(dev);
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

static void dcqcn_client_remove(struct ib_device *ibdev, void *client_data)
{
	struct dcqcn_dev *dev = client_data;
	struct net_device *ndev;

	if (!dev)
		return;
	ndev = dev->ndev;

	/* Send held packets while later ones still queue behind them, so that
	 * unloading the module does not reorder packets. A limit that begins
	 * now may have missed @stopping: wait until it can be seen.
	 */
	WRITE_ONCE(dev->stopping, true);
	synchronize_net();
	dcqcn_qp_dev_release(dev);
	dcqcn_debugfs_remove(dev);
	dcqcn_sysfs_remove(dev);
	dcqcn_counters_remove(dev);
	dcqcn_dev_unpublish(dev);
	cancel_work_sync(&dev->speed_work);
	dcqcn_hook_put(dev->hooks);
	dcqcn_qp_dev_release(dev);
	dcqcn_resolve_dev_exit(dev);
	dcqcn_qp_dev_exit(dev);
	dcqcn_ccc_dev_exit(dev);
	dcqcn_stamps_exit(dev);
	dcqcn_dev_free(dev);
	dev_put(ndev);
}

static void dcqcn_client_rename(struct ib_device *ibdev, void *client_data)
{
	struct dcqcn_dev *dev = client_data;

	if (!dev)
		return;
	dcqcn_debugfs_remove(dev);
	dcqcn_debugfs_add(dev);
}

static struct ib_client dcqcn_client = {
	.name = "dcqcn",
	.add = dcqcn_client_add,
	.remove = dcqcn_client_remove,
	.rename = dcqcn_client_rename,
};

/**
 * dcqcn_client_dev() - return the port of a device that has not been removed
 * @ibdev: an rxe device whose client data is set
 *
 * Context: any; called by its sysfs files. Return: the port.
 */
struct dcqcn_dev *dcqcn_client_dev(struct ib_device *ibdev)
{
	return ib_get_client_data(ibdev, &dcqcn_client);
}

/* The speed of a device may have changed, and that of devices above it: a bond has the speed of
 * those of its links that are up, and no event of its own when one of several comes up
 */
static void dcqcn_netdev_changed(struct net_device *ndev)
{
	struct dcqcn_dev *dev;
	int bucket;

	hash_for_each_rcu(dcqcn_by_ibdev, bucket, dev, ibdev_node) {
		if (dev->ndev == ndev || netdev_has_upper_dev_all_rcu(ndev, dev->ndev))
			queue_work(dcqcn_wq, &dev->speed_work);
	}
}

static int dcqcn_netdev_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	const struct netdev_notifier_changeupper_info *change = ptr;
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct dcqcn_dev *dev;

	rcu_read_lock();
	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_CHANGELOWERSTATE:
		dcqcn_netdev_changed(ndev);
		break;
	case NETDEV_CHANGEUPPER:	/* a device joins another, or leaves it */
		dcqcn_netdev_changed(change->upper_dev);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_UNREGISTER:
		dev = dcqcn_dev_find_ndev(ndev);
		if (dev)
			dcqcn_qp_dev_flush(dev);
		break;
	}
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block dcqcn_netdev_notifier = {
	.notifier_call = dcqcn_netdev_event,
};

/**
 * dcqcn_client_init() - add all rxe devices, present and future
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_client_init(void)
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
 * dcqcn_client_exit() - remove all rxe devices
 *
 * Context: process; may sleep.
 */
void dcqcn_client_exit(void)
{
	ib_unregister_client(&dcqcn_client);
	unregister_netdevice_notifier(&dcqcn_netdev_notifier);
	destroy_workqueue(dcqcn_wq);
}
