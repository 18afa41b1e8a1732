// SPDX-License-Identifier: GPL-2.0
/*
 * One rxe port, and how to find it. client.c adds and removes ports.
 *
 * Packets find the port by the RDMA device they leave or by the network device
 * they arrive on: two small tables, read under RCU.
 */
#include <linux/if_vlan.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "settings.h"
#include "stamp.h"

DEFINE_READ_MOSTLY_HASHTABLE(dcqcn_by_ibdev, DCQCN_TABLE_BITS);
static DEFINE_READ_MOSTLY_HASHTABLE(dcqcn_by_ndev, DCQCN_TABLE_BITS);
static DEFINE_MUTEX(dcqcn_table_mutex);	/* serialises table updates */

DEFINE_STATIC_KEY_FALSE(dcqcn_cccs);
DEFINE_STATIC_KEY_FALSE(dcqcn_hasty_rxe);

/* For work that sleeps: looking up QPs in the RDMA core, reading port speeds */
struct workqueue_struct *dcqcn_wq;

/**
 * dcqcn_dev_find_ndev() - find the port of a network device
 * @ndev: the device; a VLAN above a port has none
 *
 * Context: under RCU. Return: the port, or NULL.
 */
struct dcqcn_dev *dcqcn_dev_find_ndev(const struct net_device *ndev)
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

/* A port begins to use contexts. Its packets then take the slower path until the port is removed,
 * because flows that obey a context must notice when contexts are switched off.
 */
static void dcqcn_dev_use_cccs(struct dcqcn_dev *dev,
			       const struct dcqcn_settings *settings)
{
	if (dev->contexts.used || !settings->ccc.algorithms)
		return;
	dev->contexts.used = true;
	static_branch_inc(&dcqcn_cccs);
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

	new->plugs = *new->cc || new->qp_cc;
	old = rcu_replace_pointer(dev->settings, new,
				  lockdep_is_held(&dev->settings_lock));
	dcqcn_dev_use_cccs(dev, new);
	dcqcn_stamps_read(dev, new->hop_stamps);
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

/**
 * dcqcn_dev_resolve() - let the worker ask the RDMA core about a QP
 * @dev: its port
 * @entry: dcqcn_qp.resolve_node, of a QP that is not dead
 *
 * If there is no such QP any more, the worker drops held packets and frees the entry.
 *
 * Context: any; the QP's lock is held.
 */
void dcqcn_dev_resolve(struct dcqcn_dev *dev, struct list_head *entry)
{
	spin_lock_bh(&dev->resolver.lock);
	if (list_empty(entry))
		list_add_tail(entry, &dev->resolver.list);
	spin_unlock_bh(&dev->resolver.lock);
	if (!READ_ONCE(dev->stopping))
		mod_delayed_work(dcqcn_wq, &dev->resolver.work, 0);
}

/**
 * dcqcn_dev_publish() - let packets and events find a port
 * @dev: the port
 *
 * Context: process; may sleep.
 */
void dcqcn_dev_publish(struct dcqcn_dev *dev)
{
	mutex_lock(&dcqcn_table_mutex);
	hash_add_rcu(dcqcn_by_ibdev, &dev->ibdev_node, dcqcn_ibdev_key(dev->ibdev));
	hash_add_rcu(dcqcn_by_ndev, &dev->ndev_node, (unsigned long)dev->ndev);
	mutex_unlock(&dcqcn_table_mutex);
}

/**
 * dcqcn_dev_unpublish() - undo dcqcn_dev_publish()
 * @dev: the port, which packets and events no longer find when this returns
 *
 * Context: process; may sleep.
 */
void dcqcn_dev_unpublish(struct dcqcn_dev *dev)
{
	mutex_lock(&dcqcn_table_mutex);
	hash_del_rcu(&dev->ibdev_node);
	hash_del_rcu(&dev->ndev_node);
	mutex_unlock(&dcqcn_table_mutex);
	synchronize_net();
}

/**
 * dcqcn_counter_sum() - read a counter
 * @dev: the port
 * @counter: the counter
 *
 * Context: any. Return: its value, summed over all CPUs.
 */
unsigned long dcqcn_counter_sum(const struct dcqcn_dev *dev,
				enum dcqcn_counter counter)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->value[counter]);
	return sum;
}

/**
 * dcqcn_held_memory_sum() - return the memory of the packets that a port holds
 * @dev: the port
 *
 * Context: any. Return: bytes.
 */
long dcqcn_held_memory_sum(const struct dcqcn_dev *dev)
{
	long sum = 0;
	int cpu, i;

	for (i = 0; i < DCQCN_NUM_FIFOS; i++) {
		sum += atomic_long_read(&dev->pacing.held_memory[i]);
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->held_memory[i]);
	}
	return max(sum, 0L);	/* packets may have left during the loop */
}
