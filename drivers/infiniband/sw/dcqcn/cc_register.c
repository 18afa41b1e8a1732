// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms of other modules come and go.
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

#include "cc.h"
#include "device.h"
#include "limiter.h"
#include "qp.h"

/* Serialises changes of the list */
static DEFINE_MUTEX(dcqcn_cc_mutex);

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
 * Return: 0; -EINVAL for a bad name or no @init, -EEXIST if the name is taken, -ENOSPC if there
 * were too many names since rdma_dcqcn was loaded.
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
	slot = &dcqcn_cc_slots[id];
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
		msleep(20);
	}
unlock:
	mutex_unlock(&dcqcn_cc_mutex);
}
EXPORT_SYMBOL_GPL(dcqcn_unregister_cc);
