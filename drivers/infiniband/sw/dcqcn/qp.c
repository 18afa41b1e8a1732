// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: which QP a packet belongs to.
 *
 * An entry is created when a CE or a CNP arrives for a QP without one. The packet
 * cannot be trusted to describe the QP, so the RDMA core is asked (resolve.c), and the event waits
 * in the entry. A data packet that the QP itself sends describes it at once; the core then tells
 * the rest. From then on each packet that the QP sends is checked against the entry: one that
 * contradicts it means that the QP was reconnected. If the packet contradicts the core, and not an
 * earlier packet, the core is asked again.
 *
 * A port's entries are in an xarray by local QPN. rxe numbers its QPs one after the other, so the
 * xarray is dense. QPNs from the wire may be any: each takes three nodes of the xarray, 1.7 KB,
 * beside its entry, so there is a bound on entries without a known QP.
 *
 * Entries are looked up under RCU, and freed only by the worker of resolve.c and on removal of
 * the device.
 */
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

#include "cc.h"
#include "ccc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "qp.h"
#include "queue.h"
#include "resolve.h"

/* How many times a flow may send DCQCN_BUDGET packets when it is released */
#define DCQCN_RELEASE_ROUNDS	64

/* Do not ask about a QP any more; its lock is held */
static void dcqcn_qp_forget(struct dcqcn_qp *qp)
{
	struct dcqcn_resolver *resolver = &qp->dev->resolver;

	spin_lock(&resolver->lock);
	list_del_init(&qp->resolve_node);
	spin_unlock(&resolver->lock);
}

/**
 * dcqcn_qp_kill() - mark an entry dead, so that nothing is added to it
 * @qp: the entry
 *
 * Context: any; @qp->lock is held.
 */
void dcqcn_qp_kill(struct dcqcn_qp *qp)
{
	if (qp->state != DCQCN_QP_LIVE)
		atomic_dec(&qp->dev->resolver.num_unresolved);
	qp->state = DCQCN_QP_DEAD;
}

static void dcqcn_qp_free_rcu(struct rcu_head *rcu)
{
	struct dcqcn_qp *qp = container_of(rcu, struct dcqcn_qp, rcu);

	kfree(qp->flow.path);
	kfree(qp->cc);
	kfree(qp->senders);
	kfree(qp);
}

/**
 * dcqcn_qp_free() - take an entry from the table and free it
 * @qp: the entry
 *
 * Context: process; called by the worker, or once it is cancelled.
 */
void dcqcn_qp_free(struct dcqcn_qp *qp)
{
	struct dcqcn_dev *dev = qp->dev;
	struct dcqcn_waiting *waiting;
	struct sk_buff_head dropped;

	__skb_queue_head_init(&dropped);
	xa_erase_bh(&dev->qps, qp->qpn);
	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_DEAD)
		dcqcn_qp_kill(qp);
	dcqcn_queue_reset(qp, &dropped);
	dcqcn_qp_forget_choice(qp);
	dcqcn_ccc_leave(qp);
	waiting = qp->waiting;
	qp->waiting = NULL;
	dcqcn_qp_forget(qp);
	spin_unlock_bh(&qp->lock);

	if (waiting)
		dcqcn_count_add(dev, DCQCN_RP_CNP_IGNORED, waiting->cnps);
	kfree(waiting);
	__skb_queue_purge(&dropped);
	hrtimer_cancel(&qp->flow.timer);
	call_rcu(&qp->rcu, dcqcn_qp_free_rcu);
}

/* Put @qp into the table. Return -EBUSY if its QP has an entry already, or -ENOMEM. */
static int dcqcn_qp_insert(struct dcqcn_dev *dev, struct dcqcn_qp *qp)
{
	return xa_insert_bh(&dev->qps, qp->qpn, qp, GFP_ATOMIC | __GFP_NOWARN);
}

static struct dcqcn_qp *dcqcn_qp_alloc(struct dcqcn_dev *dev, u32 qpn)
{
	struct dcqcn_qp *qp;

	/* entry and limiter fit one kmalloc-512 object, except with the larger
	 * locks of debug and real-time kernels
	 */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_DEBUG_SPINLOCK) &&
		     !IS_ENABLED(CONFIG_PREEMPT_RT) && sizeof(*qp) > 512);

	qp = kzalloc(sizeof(*qp), GFP_ATOMIC | __GFP_NOWARN);
	if (!qp)
		return NULL;
	spin_lock_init(&qp->lock);
	INIT_LIST_HEAD(&qp->resolve_node);
	qp->qpn = qpn;
	qp->dev = dev;
	qp->atomic_psn = DCQCN_PSN_NONE;
	qp->active = jiffies;
	qp->sent_time = dcqcn_flow_clock(ktime_get_ns()) - BIT(31);	/* long ago */
	qp->used = jiffies;
	dcqcn_queue_init(&qp->flow);
	return qp;
}

/* Let a data packet that a QP sends describe the QP in its entry, which is not in the table yet, or
 * whose lock is held. Return false if the packet carries no data.
 */
static bool dcqcn_qp_read(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	if (tx->packet.kind != DCQCN_PKT_REQUEST && tx->packet.kind != DCQCN_PKT_RESPONSE)
		return false;
	qp->state = DCQCN_QP_LIVE;
	qp->type = dcqcn_bth_qp_type(tx->bth);
	qp->prio = tx->prio;
	qp->owner = dcqcn_tx_skb(tx)->sk;
	qp->active = jiffies;
	if (qp->type != IB_QPT_UD) {
		qp->peer_qpn = dcqcn_bth_qpn(tx->bth);
		dcqcn_ip_daddr(skb_network_header(dcqcn_tx_skb(tx)), &qp->peer);
	}
	return true;
}

/**
 * dcqcn_qp_begin() - create the entry of a local QP that starts to send
 * @dev: port
 * @qpn: local QP number
 * @tx: the packet that it sends
 *
 * The packet fills in enough to start with; the worker asks for the rest.
 *
 * Context: under RCU; process with BH enabled, or softirq. Return: the entry, or
 * NULL if there is no memory or the port is going away.
 */
struct dcqcn_qp *dcqcn_qp_begin(struct dcqcn_dev *dev, u32 qpn,
				const struct dcqcn_tx *tx)
{
	struct dcqcn_qp *qp;
	int err;

	if (READ_ONCE(dev->stopping))
		return NULL;
	qp = dcqcn_qp_alloc(dev, qpn);
	if (!qp) {
		dcqcn_count(dev, DCQCN_QP_ERRORS);
		return NULL;
	}
	if (!dcqcn_qp_read(qp, tx)) {
		kfree(qp);
		return NULL;
	}
	err = dcqcn_qp_insert(dev, qp);
	if (err) {
		if (err != -EBUSY)
			dcqcn_count(dev, DCQCN_QP_ERRORS);
		kfree(qp);
		return dcqcn_qp_find(dev, qpn);	/* another CPU's, or none */
	}
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE)
		dcqcn_dev_resolve(dev, &qp->resolve_node);
	spin_unlock_bh(&qp->lock);
	return qp;
}

/**
 * dcqcn_qp_find_or_add() - find or create the entry of a local QP
 * @dev: port
 * @qpn: local QP number, from the wire
 *
 * A new entry is in state DCQCN_QP_RESOLVING.
 *
 * Context: softirq, under RCU. Return: the entry, or NULL if there is no memory
 * or there are too many entries without a known QP.
 */
struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *dev, u32 qpn)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, qpn);
	int err;

	if (qp)
		return qp;
	if (READ_ONCE(dev->stopping))
		return NULL;
	/* dcqcn_qp_contradict() exceeds the bound, so equality would not do */
	if (atomic_inc_return(&dev->resolver.num_unresolved) > DCQCN_UNRESOLVED_MAX)
		goto unresolved;

	qp = dcqcn_qp_alloc(dev, qpn);
	if (!qp)
		goto unresolved;
	qp->active = jiffies - DCQCN_UNUSED_JIFFIES;	/* it has not sent */
	err = dcqcn_qp_insert(dev, qp);
	if (err == -EBUSY) {
		/* lost a race with another CPU */
		kfree(qp);
		atomic_dec(&dev->resolver.num_unresolved);
		return dcqcn_qp_find(dev, qpn);
	}
	if (err)
		goto free;
	spin_lock_bh(&qp->lock);
	/* The QP may have sent a packet meanwhile, which described it, and may be gone since: then
	 * the worker is freeing the entry
	 */
	if (qp->state == DCQCN_QP_RESOLVING)
		dcqcn_dev_resolve(qp->dev, &qp->resolve_node);
	spin_unlock_bh(&qp->lock);
	return qp;

free:
	kfree(qp);
unresolved:
	atomic_dec(&dev->resolver.num_unresolved);
	dcqcn_count(dev, DCQCN_QP_ERRORS);
	return NULL;
}

/**
 * dcqcn_qp_next() - iterate over the entries of a port
 * @dev: port
 * @qpn: local QP number to search from; set to that of the entry found. Add one to continue, even
 *	if entries were added or freed meanwhile.
 *
 * Context: under RCU. Return: the entry, or NULL.
 */
struct dcqcn_qp *dcqcn_qp_next(struct dcqcn_dev *dev, unsigned long *qpn)
{
	return xa_find(&dev->qps, qpn, ULONG_MAX, XA_PRESENT);
}

/* ns; when RP last acted on a CNP, 0 for never */
static u64 dcqcn_qp_handled_time(const struct dcqcn_qp *qp, u64 now)
{
	u32 age = (u32)(now >> DCQCN_HANDLED_SHIFT) - qp->handled_time;

	if (!qp->cnps_handled)
		return 0;
	return now - min_t(u64, (u64)age << DCQCN_HANDLED_SHIFT, now - 1);
}

/**
 * dcqcn_qp_look() - take a snapshot of a QP, with its rate as of now
 * @qp: the QP
 * @view: the snapshot
 *
 * Context: under RCU; process or softirq. Takes @qp->lock briefly.
 * Return: true if the QP is live; otherwise @view is undefined.
 */
bool dcqcn_qp_look(struct dcqcn_qp *qp, struct dcqcn_qp_view *view)
{
	const struct dcqcn_settings *settings;
	struct dcqcn_flow *flow = &qp->flow;
	u64 line, now;

	settings = rcu_dereference(qp->dev->settings);
	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_LIVE) {
		spin_unlock_bh(&qp->lock);
		return false;
	}
	now = ktime_get_ns();
	dcqcn_queue_advance(qp, now);
	dcqcn_flow_note_most(flow);
	line = dcqcn_limiter_line(qp, settings);
	/* no bound is known yet: show the port's speed */
	if (line == DCQCN_RATE_MAX)
		line = dcqcn_dev_line(qp->dev, settings);
	*view = (struct dcqcn_qp_view) {
		.now = now,
		.qpn = qp->qpn,
		.type = qp->type,
		.prio = qp->prio,
		.ack_timeout = qp->ack_timeout,
		.limited = qp->limited,
		.released = flow->released,
		.peer_qpn = qp->peer_qpn,
		.peer = qp->peer,
		.rate = flow->rate,
		.line = line,
		.floor = dcqcn_gate_floor(qp),
		.delivered = flow->path ? dcqcn_path_most(flow->path) : 0,
		.period = dcqcn_rate_timer_period(&flow->rate, &settings->rp),
		.ai = qp->limited ?
		      dcqcn_rate_ai(&flow->rate, &settings->rp) : 0,
		.ev = dcqcn_qp_has_algorithm(qp) ? qp->cc->ev : dcqcn_ccc_ev(qp),
		.queue_packets = dcqcn_flow_held(flow),
		.queue_bytes = flow->held_bytes,
		.stat = flow->stat,
		.chosen = dcqcn_qp_has_choice(qp),
		.ce_received = atomic_read(&qp->ce_received),
		.cnps_sent = qp->cnps_sent,
		.cnps_handled = qp->cnps_handled,
		.cnps_ignored = qp->cnps_ignored,
		.handled_time = dcqcn_qp_handled_time(qp, now),
	};
	if (view->chosen)
		memcpy(view->choice, qp->cc->choice, sizeof(view->choice));
	spin_unlock_bh(&qp->lock);

	/* without a limiter a flow has no rate */
	if (view->limited)
		view->rate.alpha = dcqcn_rate_alpha(&view->rate, &settings->rp,
						    now);
	view->floor = min(max(view->floor, dcqcn_rate_floor(&settings->rp)), line);
	return true;
}

/* Whether a packet of a live QP shows that the core's answer about the QP is out of date. A
 * firewall may have changed the packet's addresses, but not its opcode or the QP to which it goes.
 */
static bool dcqcn_qp_is_newer(const struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	u8 type = dcqcn_bth_qp_type(tx->bth);

	return type != qp->type ||
	       (type != IB_QPT_UD && qp->peer_qpn != dcqcn_bth_qpn(tx->bth));
}

/**
 * dcqcn_qp_contradict() - handle a packet that its QP's entry does not describe
 * @qp: the entry
 * @tx: the packet, which the QP sends
 *
 * Ends the flow of a QP that was reconnected. The entry takes over what the packet says, and the
 * worker asks the core for the rest. But if only the packet's addresses contradict the core, it is
 * not believed, because a firewall may have changed them: the core is asked again.
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock.
 * Return: true if a flow begins with the packet.
 */
bool dcqcn_qp_contradict(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	struct sk_buff_head dropped;
	bool begins = false, live;

	__skb_queue_head_init(&dropped);
	spin_lock_bh(&qp->lock);
	live = qp->state == DCQCN_QP_LIVE;
	if (qp->state == DCQCN_QP_DEAD ||
	    (live && dcqcn_qp_matches(qp, tx)))
		goto unlock;
	if (live) {
		dcqcn_queue_reset(qp, &dropped);
		dcqcn_ccc_leave(qp);
		dcqcn_qp_forget_choice(qp);
	}
	/* @owner is set once a packet has matched a live entry or, in any other entry, once a
	 * packet was not believed
	 */
	if (live == !!qp->owner || (live && dcqcn_qp_is_newer(qp, tx)))
		begins = dcqcn_qp_read(qp, tx);
	if (live && !begins) {
		qp->owner = dcqcn_tx_skb(tx)->sk;
		qp->state = DCQCN_QP_RESOLVING;
		atomic_inc(&qp->dev->resolver.num_unresolved);
	} else if (!live && begins) {
		atomic_dec(&qp->dev->resolver.num_unresolved);
	} else if (!live) {
		qp->state = DCQCN_QP_RESOLVING;
	}
	dcqcn_dev_resolve(qp->dev, &qp->resolve_node);
unlock:
	spin_unlock_bh(&qp->lock);
	__skb_queue_purge(&dropped);
	return begins;
}

/**
 * dcqcn_qp_dev_init() - set up the table of a port
 * @dev: the port
 */
void dcqcn_qp_dev_init(struct dcqcn_dev *dev)
{
	xa_init_flags(&dev->qps, XA_FLAGS_LOCK_BH);
}

/**
 * dcqcn_qp_dev_flush() - drop all packets that a port holds
 * @dev: the port
 *
 * Context: process. Takes the QPs' locks.
 */
void dcqcn_qp_dev_flush(struct dcqcn_dev *dev)
{
	struct dcqcn_qp *qp;
	unsigned long qpn;

	rcu_read_lock();
	xa_for_each(&dev->qps, qpn, qp)
		dcqcn_queue_flush(qp);
	rcu_read_unlock();
}

/**
 * dcqcn_qp_dev_release() - send all packets that a port holds, in order
 * @dev: the port, which is stopping, so there are no new limiters
 *
 * Context: process. Takes the QPs' locks; sends.
 */
void dcqcn_qp_dev_release(struct dcqcn_dev *dev)
{
	struct dcqcn_qp *qp;
	unsigned long qpn;
	int round;

	rcu_read_lock();
	xa_for_each(&dev->qps, qpn, qp) {
		for (round = 0; round < DCQCN_RELEASE_ROUNDS &&
		     READ_ONCE(qp->limited); round++)
			dcqcn_queue_release(qp);
	}
	rcu_read_unlock();
}

/**
 * dcqcn_qp_dev_exit() - empty the table of a port
 * @dev: the port, which packets no longer reach
 *
 * Context: process; may sleep.
 */
void dcqcn_qp_dev_exit(struct dcqcn_dev *dev)
{
	struct dcqcn_qp *qp;
	unsigned long qpn;

	xa_for_each(&dev->qps, qpn, qp)
		dcqcn_qp_free(qp);
	/* an insertion without memory may have left nodes without entries */
	xa_destroy(&dev->qps);
	dcqcn_limiter_rest();
}

/**
 * dcqcn_qp_exit() - wait until all entries are freed
 *
 * Context: process; may sleep. No port is left.
 */
void dcqcn_qp_exit(void)
{
	rcu_barrier();
}
