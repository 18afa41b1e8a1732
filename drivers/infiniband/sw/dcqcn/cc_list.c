// SPDX-License-Identifier: GPL-2.0
/*
 * The list of algorithms: those of this module, and those that others register.
 *
 * A name keeps its place in the list for good, so a port's choice is a number, and holds no
 * reference. While a name has no algorithm, because its module has gone, flows of ports that have
 * chosen it obey DCQCN. If it is registered again, they obey it again.
 *
 * dcqcn_unregister_cc() does not wait for users: it takes the algorithm from each flow. Flows find
 * it under RCU, and each that has it is counted.
 */
#include <linux/atomic.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"
#include "cc.h"
#include "device.h"
#include "limiter.h"
#include "qp.h"

/**
 * struct dcqcn_cc_slot - an algorithm, or the place of one that has gone
 * @name: its name; empty for a free place. Never changed once it is set.
 * @ops: RCU; NULL if there is none
 * @flows: that obey it
 */
struct dcqcn_cc_slot {
	char name[DCQCN_CC_NAME_MAX];
	const struct dcqcn_cc_ops __rcu *ops;
	atomic_t flows;
};

static struct dcqcn_cc_slot dcqcn_cc_slots[DCQCN_CC_MAX] = {
	[DCQCN_CC_DCQCN] = { .name = "dcqcn" },
	{ .name = "swift", .ops = RCU_INITIALIZER(&dcqcn_swift) },
	{ .name = "timely", .ops = RCU_INITIALIZER(&dcqcn_timely) },
	{ .name = "dctcp", .ops = RCU_INITIALIZER(&dcqcn_dctcp) },
	{ .name = "fast", .ops = RCU_INITIALIZER(&dcqcn_fast) },
};

/* Serialises changes of the list */
static DEFINE_MUTEX(dcqcn_cc_mutex);

static struct dcqcn_cc_slot *dcqcn_cc_slot(u32 id)
{
	return &dcqcn_cc_slots[min_t(u32, id, DCQCN_CC_MAX - 1)];
}

/**
 * dcqcn_cc_get() - find an algorithm for a flow, and count that
 * @id: its place in the list
 *
 * Context: under RCU. Return: the algorithm; NULL for DCQCN, or if it has gone.
 */
const struct dcqcn_cc_ops *dcqcn_cc_get(u32 id)
{
	struct dcqcn_cc_slot *slot = dcqcn_cc_slot(id);
	const struct dcqcn_cc_ops *ops = rcu_dereference_bh(slot->ops);

	if (ops)
		atomic_inc(&slot->flows);
	return ops;
}

/**
 * dcqcn_cc_put() - a flow no longer uses what dcqcn_cc_get() has found
 * @id: its place in the list
 *
 * Context: any.
 */
void dcqcn_cc_put(u32 id)
{
	atomic_dec(&dcqcn_cc_slot(id)->flows);
}

/**
 * dcqcn_cc_name() - the name of a place in the list
 * @id: the place
 *
 * Context: any. Return: the name, empty if there is none.
 */
const char *dcqcn_cc_name(u32 id)
{
	return dcqcn_cc_slot(id)->name;
}

/**
 * dcqcn_cc_available() - the name of an algorithm that a port can choose
 * @id: its place in the list, from 0 to DCQCN_CC_MAX - 1
 *
 * Context: any. Return: the name, or NULL if there is none.
 */
const char *dcqcn_cc_available(u32 id)
{
	const struct dcqcn_cc_slot *slot = dcqcn_cc_slot(id);

	return id == DCQCN_CC_DCQCN || rcu_access_pointer(slot->ops) ? slot->name : NULL;
}

/**
 * dcqcn_cc_list() - list the algorithms that a port can choose
 * @buf: gets their names, with spaces in between
 * @size: bytes of @buf; DCQCN_CC_LIST_LEN suffice
 *
 * Context: any.
 */
void dcqcn_cc_list(char *buf, size_t size)
{
	u32 id;

	*buf = '\0';
	for (id = 0; id < DCQCN_CC_MAX; id++) {
		if (!dcqcn_cc_available(id))
			continue;
		if (*buf)
			strlcat(buf, " ", size);
		strlcat(buf, dcqcn_cc_name(id), size);
	}
}

/* The place of a name, or -ENOENT */
static int dcqcn_cc_place(const char *name)
{
	int id;

	for (id = 0; id < DCQCN_CC_MAX; id++) {
		if (sysfs_streq(dcqcn_cc_slots[id].name, name) && *name)
			return id;
	}
	return -ENOENT;
}

/**
 * dcqcn_cc_find() - find an algorithm that a port can choose
 * @name: its name, may end in a newline
 *
 * Context: any. Return: its place in the list, or -ENOENT.
 */
int dcqcn_cc_find(const char *name)
{
	int id = dcqcn_cc_place(name);

	return id < 0 || dcqcn_cc_available(id) ? id : -ENOENT;
}

static bool dcqcn_cc_is_name(const char *name)
{
	size_t len = strnlen(name, DCQCN_CC_NAME_MAX), i;

	for (i = 0; i < len; i++) {
		if (!isalnum(name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	}
	return len && len < DCQCN_CC_NAME_MAX;
}

/**
 * dcqcn_register_cc() - let ports choose an algorithm
 * @ops: the algorithm
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL for a bad name or no @init, -EEXIST if the name is taken, -ENOSPC if there were
 * too many names since rdma_dcqcn was loaded.
 */
int dcqcn_register_cc(const struct dcqcn_cc_ops *ops)
{
	struct dcqcn_cc_slot *slot;
	int id, err = 0;

	if (!dcqcn_cc_is_name(ops->name) || !ops->init)
		return -EINVAL;
	mutex_lock(&dcqcn_cc_mutex);
	id = dcqcn_cc_place(ops->name);
	for (slot = dcqcn_cc_slots; id < 0 && slot < dcqcn_cc_slots + DCQCN_CC_MAX; slot++) {
		if (*slot->name)
			continue;
		id = slot - dcqcn_cc_slots;
		strscpy(slot->name, ops->name, DCQCN_CC_NAME_MAX);
	}
	if (id < 0)
		err = -ENOSPC;
	else if (dcqcn_cc_available(id))
		err = -EEXIST;
	else
		rcu_assign_pointer(dcqcn_cc_slots[id].ops, ops);
	mutex_unlock(&dcqcn_cc_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(dcqcn_register_cc);

/* Let the flows of a port obey DCQCN that obey the algorithm in place @id */
static void dcqcn_cc_take_from(struct dcqcn_dev *dev, u32 id)
{
	unsigned long qpn;
	struct dcqcn_qp *qp;

	for (qpn = 0; (qp = dcqcn_qp_next(dev, &qpn)); qpn++) {
		spin_lock_bh(&qp->lock);
		if (dcqcn_qp_has_algorithm(qp) && qp->cc->id == id)
			dcqcn_limiter_turn(qp, rcu_dereference(dev->settings),
					   DCQCN_OBEYS_RATE, ktime_get_ns());
		spin_unlock_bh(&qp->lock);
	}
}

/**
 * dcqcn_unregister_cc() - undo dcqcn_register_cc()
 * @ops: the algorithm
 *
 * Its flows obey DCQCN from now on. None of its functions runs any more when this returns.
 *
 * Context: process; may sleep.
 */
void dcqcn_unregister_cc(const struct dcqcn_cc_ops *ops)
{
	struct dcqcn_cc_slot *slot;
	struct dcqcn_dev *dev;
	int bucket, id;

	mutex_lock(&dcqcn_cc_mutex);
	id = dcqcn_cc_place(ops->name);
	if (id < 0 || rcu_access_pointer(dcqcn_cc_slots[id].ops) != ops)
		goto unlock;
	slot = dcqcn_cc_slot(id);
	RCU_INIT_POINTER(slot->ops, NULL);
	synchronize_rcu();	/* no flow finds it any more */
	for (;;) {
		rcu_read_lock();
		hash_for_each_rcu(dcqcn_by_ibdev, bucket, dev, ibdev_node)
			dcqcn_cc_take_from(dev, id);
		rcu_read_unlock();
		/* an entry that is about to be freed is in no list */
		if (!atomic_read(&slot->flows))
			break;
		msleep(1);
	}
unlock:
	mutex_unlock(&dcqcn_cc_mutex);
}
EXPORT_SYMBOL_GPL(dcqcn_unregister_cc);
