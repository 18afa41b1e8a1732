// SPDX-License-Identifier: GPL-2.0
/*
 * Registers and unregisters algorithms, and chooses an algorithm for a single QP.
 *
 * dcqcn_unregister_cc() takes the algorithm from each flow. After an RCU grace period, no flow
 * begins to obey the algorithm; then it is taken from all flows of all ports. A few flows may be in
 * no list, because their port or their QP is being removed. dcqcn_unregister_cc() waits until the
 * removal has released these flows; the removal itself waits for no user. So all flows are
 * released, and what an algorithm has allocated for them is freed. Each function of an algorithm is
 * called under RCU, so none runs after another grace period.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <rdma/dcqcn_cc.h>

#include "cc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "qp.h"
#include "queue.h"
#include "resolve.h"

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
 * Return: 0; -EINVAL for a bad name or no @init, -EEXIST if the name is taken, -ENOSPC if there are
 * too many algorithms.
 */
int dcqcn_register_cc(const struct dcqcn_cc_ops *ops)
{
	struct dcqcn_cc_slot *slot = dcqcn_cc_slots;
	char name[DCQCN_CC_NAME_MAX];
	int err = 0;

	if (!dcqcn_cc_is_name(ops->name) || !ops->init)
		return -EINVAL;
	mutex_lock(&dcqcn_cc_mutex);
	while (slot < dcqcn_cc_slots + DCQCN_CC_MAX && rcu_access_pointer(slot->ops))
		slot++;
	if (!dcqcn_cc_choose(name, ops->name)) {
		err = -EEXIST;
	} else if (slot == dcqcn_cc_slots + DCQCN_CC_MAX) {
		err = -ENOSPC;
	} else {
		slot->closed = false;
		rcu_assign_pointer(slot->ops, ops);
	}
	mutex_unlock(&dcqcn_cc_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(dcqcn_register_cc);

/* Let those flows of a port that obey the algorithm in @slot obey DCQCN */
static void dcqcn_cc_take_from(struct dcqcn_dev *dev, const struct dcqcn_cc_slot *slot)
{
	unsigned long qpn;
	struct dcqcn_qp *qp;

	for (qpn = 0; (qp = dcqcn_qp_next(dev, &qpn)); qpn++) {
		spin_lock_bh(&qp->lock);
		if (dcqcn_qp_has_algorithm(qp) && qp->cc->slot == slot) {
			dcqcn_limiter_switch(qp, rcu_dereference(dev->settings),
					     DCQCN_OBEYS_RATE, ktime_get_ns());
			dcqcn_queue_hasten(qp);
		}
		spin_unlock_bh(&qp->lock);
	}
}

/**
 * dcqcn_unregister_cc() - undo dcqcn_register_cc()
 * @ops: the algorithm
 *
 * When this returns, after two RCU grace periods, the algorithm's flows have been released and obey
 * DCQCN, and none of its functions runs.
 *
 * Context: process; may sleep.
 */
void dcqcn_unregister_cc(const struct dcqcn_cc_ops *ops)
{
	struct dcqcn_cc_slot *slot = dcqcn_cc_slots;
	struct dcqcn_dev *dev;
	int bucket;

	mutex_lock(&dcqcn_cc_mutex);
	while (slot < dcqcn_cc_slots + DCQCN_CC_MAX && rcu_access_pointer(slot->ops) != ops)
		slot++;
	if (slot == dcqcn_cc_slots + DCQCN_CC_MAX)
		goto unlock;
	WRITE_ONCE(slot->closed, true);
	synchronize_rcu();	/* no flow begins to obey it any more */
	rcu_read_lock();
	hash_for_each_rcu(dcqcn_by_ibdev, bucket, dev, ibdev_node)
		dcqcn_cc_take_from(dev, slot);
	rcu_read_unlock();
	wait_var_event(&slot->flows, !atomic_read(&slot->flows));
	RCU_INIT_POINTER(slot->ops, NULL);
	synchronize_rcu();	/* no function of it runs any more */
unlock:
	mutex_unlock(&dcqcn_cc_mutex);
}
EXPORT_SYMBOL_GPL(dcqcn_unregister_cc);

/**
 * dcqcn_cc_choose_for_qp() - choose an algorithm for one QP
 * @dev: the port
 * @qpn: local QP number
 * @choice: what dcqcn_cc_choose() has set, or NULL to let the QP follow its port again
 *
 * The choice ends when the QP is destroyed or reconnected. The QP's entry stays until then.
 *
 * Context: process; may sleep. Return: 0, -ENOENT if there is no such QP, -EAGAIN if its entry is
 * about to be freed, or -ENOMEM.
 */
int dcqcn_cc_choose_for_qp(struct dcqcn_dev *dev, u32 qpn, const char *choice)
{
	struct dcqcn_settings *settings;
	struct dcqcn_cc_flow *flow;
	struct dcqcn_qp *qp;
	int err = -ENOMEM;

	if (!dcqcn_resolve_is_there(dev, qpn))
		return -ENOENT;
	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	settings = flow ? dcqcn_dev_settings_begin(dev) : NULL;
	if (!settings) {
		kfree(flow);
		return -ENOMEM;
	}
	atomic_inc(&dev->num_choices);	/* keeps qp_cc set until the choice is made */
	settings->qp_cc = true;
	dcqcn_dev_settings_commit(dev, settings);

	rcu_read_lock();
	qp = dcqcn_qp_find_or_add(dev, qpn);
	if (qp) {
		spin_lock_bh(&qp->lock);
		if (!qp->cc) {
			qp->cc = flow;
			flow = NULL;
		}
		dcqcn_qp_set_choice(qp, choice && qp->state != DCQCN_QP_DEAD);
		if (choice)
			strscpy(qp->cc->choice, choice, sizeof(qp->cc->choice));
		if (qp->state == DCQCN_QP_LIVE) {
			dcqcn_queue_advance(qp, ktime_get_ns());
		} else if (qp->state == DCQCN_QP_ABSENT) {
			/* it has been connected since, so do not forget the choice soon */
			qp->state = DCQCN_QP_RESOLVING;
			dcqcn_dev_resolve(dev, &qp->resolve_node);
		}
		err = choice && qp->state == DCQCN_QP_DEAD ? -EAGAIN : 0;
		spin_unlock_bh(&qp->lock);
	}
	rcu_read_unlock();
	atomic_dec(&dev->num_choices);
	kfree(flow);
	return err;
}

/**
 * dcqcn_cc_rest() - return a port to the fast path when no QP has a choice of its own any more
 * @dev: the port
 *
 * Context: process; may sleep; called by the port's janitor.
 */
void dcqcn_cc_rest(struct dcqcn_dev *dev)
{
	struct dcqcn_settings *settings;
	bool rests;

	rcu_read_lock();
	rests = rcu_dereference(dev->settings)->qp_cc && !atomic_read(&dev->num_choices);
	rcu_read_unlock();
	settings = rests ? dcqcn_dev_settings_begin(dev) : NULL;
	if (!settings)
		return;
	settings->qp_cc = atomic_read(&dev->num_choices);	/* read again under the lock */
	dcqcn_dev_settings_commit(dev, settings);
}
