// SPDX-License-Identifier: GPL-2.0
/*
 * Resolves QPs: a worker asks the RDMA core about them, and hands on the events that waited for the
 * answer. It is also the janitor of a port's table (qp.c).
 *
 * Nothing signals that a QP was destroyed or became idle. So the janitor sweeps the table: it asks
 * the core about QPs that have sent nothing lately, and frees the entries of those that are gone or
 * have not met congestion for a while. The pacer lets the worker ask about a QP that sends the same
 * packets again and again, as rxe does while it destroys one.
 *
 * Lock order: dcqcn_qp.lock, then dcqcn_resolver.lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "answer.h"
#include "cc.h"
#include "ccc.h"
#include "cnp.h"
#include "device.h"
#include "fault.h"
#include "limiter.h"
#include "np.h"
#include "qp.h"
#include "queue.h"
#include "resolve.h"

#define DCQCN_SWEEP_JIFFIES	(HZ / 5)

/* Bounds of a sweep: entries, and the time after which it leaves the others to the next one, 0.75 %
 * of a CPU. It looks at the clock after each DCQCN_SWEEP_STEP entries, so never for a short table.
 * At 0.7 us for an entry, 2000 instructions if the core is asked, the janitor comes round to each
 * of 10,000 once per second, and once in 10 s at 100,000.
 */
#define DCQCN_SWEEP_MAX		2048
#define DCQCN_SWEEP_STEP	64
#define DCQCN_SWEEP_NS		(1500 * NSEC_PER_USEC)

/* In the table: the entry's QP was absent when the core was asked last */
#define DCQCN_QP_MARK_ABSENT	XA_MARK_0

/* What the RDMA core says about a QP */
struct dcqcn_qp_info {
	u8 type;
	u8 prio;
	u8 ack_timeout;
	u32 peer_qpn;
	struct in6_addr peer;
};

static bool dcqcn_qp_state_sends(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD;
}

/* Return true if there is such a QP, in a state in which it can exchange packets.
 * May sleep.
 */
static bool dcqcn_qp_query(struct ib_device *ibdev, u32 qpn,
			   struct dcqcn_qp_info *info)
{
	struct rdma_restrack_entry *res;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	bool live = false;
	struct ib_qp *qp;

	res = rdma_restrack_get_byid(ibdev, RDMA_RESTRACK_QP, qpn);
	if (IS_ERR(res))
		return false;
	qp = container_of(res, struct ib_qp, res);
	info->type = qp->qp_type;
	if (ib_query_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_DEST_QPN |
			IB_QP_TIMEOUT, &init))
		goto put;
	live = dcqcn_qp_state_sends(attr.qp_state) &&
	       (info->type == IB_QPT_RC || info->type == IB_QPT_UC ||
		info->type == IB_QPT_UD);

	info->prio = 0;
	info->ack_timeout = 0;
	info->peer_qpn = 0;
	info->peer = in6addr_any;
	if (live && info->type != IB_QPT_UD) {
		const struct ib_global_route *grh =
			rdma_ah_read_grh(&attr.ah_attr);

		info->prio = grh->traffic_class >> 5;
		if (info->type == IB_QPT_RC)
			info->ack_timeout = attr.timeout;
		info->peer_qpn = attr.dest_qp_num;
		memcpy(&info->peer, &grh->dgid, sizeof(info->peer));
	}
put:
	rdma_restrack_put(res);
	return live;
}

static void dcqcn_resolve_set_absent(struct dcqcn_qp *qp, bool absent)
{
	struct xarray *qps = &qp->dev->qps;

	xa_lock_bh(qps);
	if (absent)
		__xa_set_mark(qps, qp->qpn, DCQCN_QP_MARK_ABSENT);
	else
		__xa_clear_mark(qps, qp->qpn, DCQCN_QP_MARK_ABSENT);
	xa_unlock_bh(qps);
}

/* Update @qp with what the core says; its lock is held */
static void dcqcn_qp_learn(struct dcqcn_qp *qp,
			   const struct dcqcn_qp_info *info)
{
	qp->type = info->type;
	/* UD: each packet has its own */
	if (info->type != IB_QPT_UD)
		qp->prio = info->prio;
	qp->ack_timeout = info->ack_timeout;
	qp->peer_qpn = info->peer_qpn;
	qp->peer = info->peer;
}

/* Ask the core about @qp; may sleep. The next packet that the QP sends begins a flow. */
static void dcqcn_qp_identify(struct dcqcn_qp *qp)
{
	struct dcqcn_qp_info info;
	bool live;

	live = dcqcn_qp_query(qp->dev->ibdev, qp->qpn, &info);
	if (!live)
		dcqcn_resolve_set_absent(qp, true);
	spin_lock_bh(&qp->lock);
	/* otherwise a packet has described the QP meanwhile, and the worker will ask again */
	if (qp->state == DCQCN_QP_RESOLVING) {
		qp->owner = NULL;
		if (live) {
			dcqcn_qp_learn(qp, &info);
			qp->active = jiffies - DCQCN_UNUSED_JIFFIES;
			qp->state = DCQCN_QP_LIVE;
			atomic_dec(&qp->dev->resolver.num_unresolved);
		} else {
			qp->state = DCQCN_QP_ABSENT;
		}
	}
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_resolve_is_there() - ask the RDMA core whether there is a QP that can exchange packets
 * @dev: port
 * @qpn: local QP number
 *
 * Context: process; may sleep.
 */
bool dcqcn_resolve_is_there(const struct dcqcn_dev *dev, u32 qpn)
{
	struct dcqcn_qp_info info;

	return dcqcn_qp_query(dev->ibdev, qpn, &info);
}

static struct dcqcn_qp *dcqcn_qp_next_to_resolve(struct dcqcn_dev *dev)
{
	struct dcqcn_qp *qp;

	spin_lock_bh(&dev->resolver.lock);
	qp = list_first_entry_or_null(&dev->resolver.list, struct dcqcn_qp,
				      resolve_node);
	if (qp)
		list_del_init(&qp->resolve_node);
	spin_unlock_bh(&dev->resolver.lock);
	return qp;
}

/* Return true if @qp sent recently, so that it need not start again; its lock is held */
static bool dcqcn_qp_has_started(const struct dcqcn_qp *qp)
{
	const struct dcqcn_settings *settings;
	bool starts;

	rcu_read_lock();
	settings = rcu_dereference(qp->dev->settings);
	starts = dcqcn_settings_start(settings);
	rcu_read_unlock();
	return starts && time_before(jiffies, qp->active + DCQCN_UNUSED_JIFFIES);
}

/* Return true if the entry can be freed without asking the core; its lock is held */
static bool dcqcn_qp_is_unused(const struct dcqcn_qp *qp)
{
	bool unused = time_after(jiffies, qp->used + DCQCN_UNUSED_JIFFIES);

	switch (qp->state) {
	case DCQCN_QP_LIVE:
		return unused && !qp->limited && !dcqcn_qp_has_choice(qp) &&
		       !dcqcn_qp_has_started(qp);
	case DCQCN_QP_ABSENT:
		/* make room early when there are many */
		return unused || atomic_read(&qp->dev->resolver.num_unresolved) >
				 DCQCN_UNRESOLVED_MAX / 2;
	default:
		return false;
	}
}

/* Ask the core about a QP that has sent nothing lately; may sleep. Ends the flow of
 * one that was reconnected. Return false if the QP is gone.
 */
static bool dcqcn_qp_verify(struct dcqcn_qp *qp)
{
	unsigned long active = READ_ONCE(qp->active);
	struct sk_buff_head dropped;
	struct dcqcn_qp_info info;
	bool live;

	live = dcqcn_qp_query(qp->dev->ibdev, qp->qpn, &info);
	__skb_queue_head_init(&dropped);
	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_LIVE || !list_empty(&qp->resolve_node)) {
		/* a packet contradicted it meanwhile, and may be newer than the answer: the worker
		 * will ask again
		 */
		live = true;
	} else if (!live && READ_ONCE(qp->active) != active) {
		/* it has sent since, so it may be connected again: the janitor will ask again */
		live = true;
	} else if (!live) {
		dcqcn_qp_kill(qp);
	} else {
		if (qp->type != info.type || qp->peer_qpn != info.peer_qpn ||
		    !ipv6_addr_equal(&qp->peer, &info.peer)) {
			dcqcn_queue_reset(qp, &dropped);
			dcqcn_ccc_leave(qp);
			dcqcn_qp_forget_choice(qp);
			qp->owner = NULL;
		}
		dcqcn_qp_learn(qp, &info);
		dcqcn_queue_hasten(qp);
	}
	spin_unlock_bh(&qp->lock);
	__skb_queue_purge(&dropped);
	return live;
}

/* Take the events that waited for a QP, if it is resolved. A packet may have contradicted the core
 * meanwhile: then the worker will ask again.
 */
static struct dcqcn_waiting *dcqcn_qp_take_waiting(struct dcqcn_qp *qp)
{
	struct dcqcn_waiting *waiting = NULL;

	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_RESOLVING)
		swap(waiting, qp->waiting);
	spin_unlock_bh(&qp->lock);
	return waiting;
}

/* Resolve @qp, which was queued for the worker, and handle the events that waited for it. Return
 * false if the QP is gone; may sleep.
 */
static bool dcqcn_qp_resolve(struct dcqcn_qp *qp)
{
	struct dcqcn_waiting *waiting;

	if (!READ_ONCE(qp->dev->stopping))
		dcqcn_fault_delay_resolve();
	if (READ_ONCE(qp->state) == DCQCN_QP_RESOLVING)
		dcqcn_qp_identify(qp);
	else if (!dcqcn_qp_verify(qp))
		return false;
	waiting = dcqcn_qp_take_waiting(qp);
	if (!waiting)
		return true;
	if (waiting->ce)
		dcqcn_np_resolved(qp, &waiting->event);
	if (waiting->cnps)
		dcqcn_cnp_resolved(qp, &waiting->event.saddr, waiting->cnps);
	if (waiting->event.asks)
		dcqcn_answer_resolved(qp, &waiting->event);
	else if (waiting->event.offer)
		dcqcn_ccc_resolved(qp, &waiting->event);
	kfree(waiting);
	return true;
}

/* Return true if @qp stays in the table; may sleep */
static bool dcqcn_qp_keep(struct dcqcn_qp *qp)
{
	bool unheard, unused;

	spin_lock_bh(&qp->lock);
	dcqcn_queue_advance(qp, ktime_get_ns());
	/* decided with the lock, or a CNP could start a limiter in between */
	unused = dcqcn_qp_is_unused(qp);
	if (unused)
		dcqcn_qp_kill(qp);
	unheard = qp->state == DCQCN_QP_LIVE &&
		  time_after(jiffies, qp->active + DCQCN_SWEEP_JIFFIES);
	spin_unlock_bh(&qp->lock);

	return !unused && (!unheard || dcqcn_qp_verify(qp));
}

/* Free the entries of absent QPs in time, however many others there are: an attacker could use up
 * the room for QPs that exist. There are at most DCQCN_UNRESOLVED_MAX absent ones.
 */
static void dcqcn_resolve_sweep_absent(struct dcqcn_dev *dev)
{
	struct dcqcn_qp *qp;
	unsigned long qpn;

	xa_for_each_marked(&dev->qps, qpn, qp, DCQCN_QP_MARK_ABSENT) {
		if (READ_ONCE(qp->state) != DCQCN_QP_ABSENT)
			dcqcn_resolve_set_absent(qp, false);
		else if (!dcqcn_qp_keep(qp))
			dcqcn_qp_free(qp);
		cond_resched();
	}
}

/* Entries may be added concurrently, but only this worker removes them */
static void dcqcn_resolve_sweep(struct dcqcn_dev *dev)
{
	unsigned long qpn = dev->resolver.next_qpn;
	struct dcqcn_qp *qp;
	u64 until = 0;
	unsigned int n;

	dcqcn_resolve_sweep_absent(dev);
	for (n = 0; n < DCQCN_SWEEP_MAX; n++) {
		if (n == DCQCN_SWEEP_STEP)
			until = ktime_get_ns() + DCQCN_SWEEP_NS;
		else if (n && n % DCQCN_SWEEP_STEP == 0 && ktime_get_ns() >= until)
			break;
		qp = xa_find(&dev->qps, &qpn, ULONG_MAX, XA_PRESENT);
		if (!qp) {
			qpn = 0;
			break;
		}
		if (!dcqcn_qp_keep(qp))
			dcqcn_qp_free(qp);
		qpn++;
		cond_resched();
	}
	dev->resolver.next_qpn = qpn;
	dcqcn_limiter_rest();
	dcqcn_cc_rest(dev);
}

/* Whether a sweep is due. time_after_eq() would be wrong after weeks of rest on 32 bits. */
static bool dcqcn_resolve_is_sweep_due(const struct dcqcn_resolver *resolver)
{
	unsigned long left = resolver->next_sweep - jiffies;

	return !left || left > DCQCN_SWEEP_JIFFIES;
}

static void dcqcn_resolve_work(struct work_struct *work)
{
	struct dcqcn_dev *dev = container_of(to_delayed_work(work),
					     struct dcqcn_dev, resolver.work);
	struct dcqcn_qp *qp;

	/* Sweep in between: a flood of unknown QPs must not delay it */
	do {
		qp = dcqcn_qp_next_to_resolve(dev);
		if (qp && !dcqcn_qp_resolve(qp))
			dcqcn_qp_free(qp);
		if (dcqcn_resolve_is_sweep_due(&dev->resolver)) {
			dcqcn_resolve_sweep(dev);
			dev->resolver.next_sweep = jiffies + DCQCN_SWEEP_JIFFIES;
		}
	} while (qp);
	if (!xa_empty(&dev->qps) && !READ_ONCE(dev->stopping))
		queue_delayed_work(dcqcn_wq, &dev->resolver.work,
				   DCQCN_SWEEP_JIFFIES);
}

/**
 * dcqcn_resolve_dev_init() - set up a port's resolver
 * @dev: the port
 */
void dcqcn_resolve_dev_init(struct dcqcn_dev *dev)
{
	struct dcqcn_resolver *resolver = &dev->resolver;

	spin_lock_init(&resolver->lock);
	INIT_LIST_HEAD(&resolver->list);
	INIT_DELAYED_WORK(&resolver->work, dcqcn_resolve_work);
	resolver->next_sweep = jiffies;
}

/**
 * dcqcn_resolve_dev_exit() - stop a port's resolver
 * @dev: the port, which packets no longer reach
 *
 * Context: process; may sleep.
 */
void dcqcn_resolve_dev_exit(struct dcqcn_dev *dev)
{
	cancel_delayed_work_sync(&dev->resolver.work);
}
