// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: which QP a packet belongs to.
 *
 * An entry is created when a CE or a CNP arrives for a QP without one. The packet
 * cannot be trusted to describe the QP, so a worker asks the RDMA core while the
 * event waits in the entry. A data packet that the QP itself sends describes it at once; the
 * core then tells the rest. From then on each packet that the QP sends is checked
 * against the entry: one that contradicts it means that the QP was reconnected.
 * If the packet contradicts the core, and not an earlier packet, the core is asked again.
 *
 * Nothing signals that a QP was destroyed or became idle. The same worker is also
 * a janitor that sweeps the table: it asks the core about QPs that have sent
 * nothing lately, and frees the entries of those that are gone or have not met
 * congestion for a while. The pacer lets it ask about a QP that sends the same
 * again and again, as rxe does while it destroys one.
 *
 * Entries are looked up under RCU, and freed only by the worker and on removal of
 * the device. Lock order: dcqcn_qp.lock, then dcqcn_resolver.lock.
 */
#include <linux/build_bug.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "ccc.h"
#include "cnp.h"
#include "device.h"
#include "fault.h"
#include "gate.h"
#include "limiter.h"
#include "np.h"
#include "qp.h"

/* Most entries without a known QP: bounds the memory that a flood of packets to QPs
 * that do not exist can take
 */
#define DCQCN_UNRESOLVED_MAX	1024

#define DCQCN_SWEEP_JIFFIES	(HZ / 5)

/* Lifetime of an entry after its last CE or CNP, also for an absent QP */
#define DCQCN_UNUSED_JIFFIES	HZ

/* Turns for a flow to empty its FIFO when it is released */
#define DCQCN_RELEASE_TURNS	64

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

/**
 * dcqcn_qp_ask() - let the worker ask the RDMA core about a QP
 * @qp: its entry, which is not dead
 *
 * If there is no such QP any more, the worker drops what is held and frees the entry.
 *
 * Context: any; @qp->lock is held.
 */
void dcqcn_qp_ask(struct dcqcn_qp *qp)
{
	struct dcqcn_dev *dev = qp->dev;

	spin_lock_bh(&dev->resolver.lock);
	if (list_empty(&qp->resolve_node))
		list_add_tail(&qp->resolve_node, &dev->resolver.list);
	spin_unlock_bh(&dev->resolver.lock);
	if (!READ_ONCE(dev->stopping))
		mod_delayed_work(dcqcn_wq, &dev->resolver.work, 0);
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

/* Ask the core who @qp is; may sleep. Its first packet begins a flow. */
static void dcqcn_qp_identify(struct dcqcn_qp *qp)
{
	struct dcqcn_qp_info info;
	bool live;

	live = dcqcn_qp_query(qp->dev->ibdev, qp->qpn, &info);
	spin_lock_bh(&qp->lock);
	/* or else a packet has told meanwhile, and the worker will ask again */
	if (qp->state == DCQCN_QP_RESOLVING) {
		qp->owner = NULL;
		if (live) {
			dcqcn_qp_learn(qp, &info);
			qp->seen = jiffies - DCQCN_UNUSED_JIFFIES;
			qp->state = DCQCN_QP_LIVE;
			atomic_dec(&qp->dev->resolver.num_unresolved);
		} else {
			qp->state = DCQCN_QP_ABSENT;
		}
	}
	spin_unlock_bh(&qp->lock);
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

/* Mark @qp dead, so that nothing is added to it; its lock is held */
static void dcqcn_qp_kill(struct dcqcn_qp *qp)
{
	if (qp->state != DCQCN_QP_LIVE)
		atomic_dec(&qp->dev->resolver.num_unresolved);
	qp->state = DCQCN_QP_DEAD;
}

static void dcqcn_qp_free_rcu(struct rcu_head *rcu)
{
	struct dcqcn_qp *qp = container_of(rcu, struct dcqcn_qp, rcu);

	kfree(qp->flow.path);
	kfree(qp);
}

/* Called by the worker, or once it is cancelled */
static void dcqcn_qp_free(struct dcqcn_qp *qp)
{
	struct dcqcn_dev *dev = qp->dev;
	struct dcqcn_waiting *waiting;
	struct sk_buff_head dropped;

	__skb_queue_head_init(&dropped);
	spin_lock_bh(&dev->table.lock);
	hlist_del_rcu(&qp->node);
	WRITE_ONCE(dev->table.num, dev->table.num - 1);
	spin_unlock_bh(&dev->table.lock);
	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_DEAD)
		dcqcn_qp_kill(qp);
	dcqcn_pacer_reset(qp, &dropped);
	dcqcn_ccc_leave(qp);
	waiting = qp->waiting;
	qp->waiting = NULL;
	spin_lock(&dev->resolver.lock);
	list_del_init(&qp->resolve_node);
	spin_unlock(&dev->resolver.lock);
	spin_unlock_bh(&qp->lock);

	if (waiting)
		dcqcn_count_add(dev, DCQCN_RP_CNP_IGNORED, waiting->cnps);
	kfree(waiting);
	__skb_queue_purge(&dropped);
	hrtimer_cancel(&qp->flow.timer);
	call_rcu(&qp->rcu, dcqcn_qp_free_rcu);
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
	return starts && time_before(jiffies, qp->seen + DCQCN_UNUSED_JIFFIES);
}

/* Return true if the entry can be freed without asking the core; its lock is held */
static bool dcqcn_qp_is_unused(const struct dcqcn_qp *qp)
{
	bool unused = time_after(jiffies, qp->used + DCQCN_UNUSED_JIFFIES);

	switch (qp->state) {
	case DCQCN_QP_LIVE:
		return unused && !qp->limited &&
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
	struct sk_buff_head dropped;
	struct dcqcn_qp_info info;
	bool live;

	live = dcqcn_qp_query(qp->dev->ibdev, qp->qpn, &info);
	__skb_queue_head_init(&dropped);
	spin_lock_bh(&qp->lock);
	if (qp->state != DCQCN_QP_LIVE) {
		/* a packet contradicted it meanwhile: the worker will ask again */
		live = true;
	} else if (!live) {
		dcqcn_qp_kill(qp);
	} else {
		if (qp->type != info.type || qp->peer_qpn != info.peer_qpn ||
		    !ipv6_addr_equal(&qp->peer, &info.peer)) {
			dcqcn_pacer_reset(qp, &dropped);
			dcqcn_ccc_leave(qp);
			qp->owner = NULL;
		}
		dcqcn_qp_learn(qp, &info);
	}
	spin_unlock_bh(&qp->lock);
	__skb_queue_purge(&dropped);
	return live;
}

/* Take what waited for a QP, if that is resolved. A packet may have contradicted what the core said
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

/* It is the turn of @qp, which was queued for the worker: then handle what waited for that.
 * Return false if the QP is gone; may sleep.
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
	if (waiting->event.offer)
		dcqcn_ccc_resolved(qp, &waiting->event);
	kfree(waiting);
	return true;
}

/* Return true if @qp stays in the table; may sleep */
static bool dcqcn_qp_keep(struct dcqcn_qp *qp)
{
	bool unheard, unused;

	spin_lock_bh(&qp->lock);
	dcqcn_pacer_advance(qp, ktime_get_ns());
	/* decided with the lock, or a CNP could start a limiter in between */
	unused = dcqcn_qp_is_unused(qp);
	if (unused)
		dcqcn_qp_kill(qp);
	unheard = qp->state == DCQCN_QP_LIVE &&
		  time_after(jiffies, qp->seen + DCQCN_SWEEP_JIFFIES);
	spin_unlock_bh(&qp->lock);

	return !unused && (!unheard || dcqcn_qp_verify(qp));
}

/* Entries may be added concurrently, but only this worker removes them */
static void dcqcn_qp_sweep(struct dcqcn_dev *dev)
{
	struct hlist_node *next;
	struct dcqcn_qp *qp;
	int i;

	hash_for_each_safe(dev->table.chains, i, next, qp, node) {
		if (!dcqcn_qp_keep(qp))
			dcqcn_qp_free(qp);
		cond_resched();
	}
	dcqcn_limiter_rest();
}

static void dcqcn_qp_work(struct work_struct *work)
{
	struct dcqcn_dev *dev = container_of(to_delayed_work(work),
					     struct dcqcn_dev, resolver.work);
	struct dcqcn_qp *qp;

	/* Sweep in between: a flood of unknown QPs must not delay it */
	do {
		qp = dcqcn_qp_next_to_resolve(dev);
		if (qp && !dcqcn_qp_resolve(qp))
			dcqcn_qp_free(qp);
		if (time_after_eq(jiffies, dev->resolver.next_sweep)) {
			dcqcn_qp_sweep(dev);
			dev->resolver.next_sweep = jiffies + DCQCN_SWEEP_JIFFIES;
		}
	} while (qp);
	if (READ_ONCE(dev->table.num) && !READ_ONCE(dev->stopping))
		queue_delayed_work(dcqcn_wq, &dev->resolver.work,
				   DCQCN_SWEEP_JIFFIES);
}

/* Put @qp into the table. Return false if its QP has an entry already. */
static bool dcqcn_qp_insert(struct dcqcn_dev *dev, struct dcqcn_qp *qp)
{
	u32 hash = dcqcn_dev_qp_hash(dev, qp->qpn);
	struct dcqcn_qp *next, *prev = NULL;
	struct hlist_head *chain;

	chain = dcqcn_dev_qp_chain(dev, hash);
	spin_lock_bh(&dev->table.lock);
	hlist_for_each_entry(next, chain, node) {
		if (dcqcn_dev_qp_hash(dev, next->qpn) >= hash)
			break;
		prev = next;
	}
	if (next && next->qpn == qp->qpn) {
		spin_unlock_bh(&dev->table.lock);
		return false;
	}
	if (prev)
		hlist_add_behind_rcu(&qp->node, &prev->node);
	else
		hlist_add_head_rcu(&qp->node, chain);
	WRITE_ONCE(dev->table.num, dev->table.num + 1);
	spin_unlock_bh(&dev->table.lock);
	return true;
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
	qp->seen = jiffies;
	qp->used = jiffies;
	dcqcn_pacer_init(&qp->flow);
	return qp;
}

/* Let a data packet that a QP sends describe the QP in its entry, which is not in the table yet, or
 * whose lock is held. Return false if the packet carries no data.
 */
static bool dcqcn_qp_read(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	static const u8 types[] = { IB_QPT_RC, IB_QPT_UC, 0, IB_QPT_UD };	/* of requests */

	if (tx->kind != DCQCN_PKT_REQUEST && tx->kind != DCQCN_PKT_RESPONSE)
		return false;
	qp->state = DCQCN_QP_LIVE;
	qp->type = types[tx->bth->opcode >> 5];
	qp->prio = tx->prio;
	qp->owner = tx->skb->sk;
	qp->seen = jiffies;
	if (qp->type != IB_QPT_UD) {
		qp->peer_qpn = dcqcn_bth_qpn(tx->bth);
		dcqcn_ip_daddr(skb_network_header(tx->skb), &qp->peer);
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
	if (!dcqcn_qp_insert(dev, qp)) {
		kfree(qp);
		return dcqcn_qp_find(dev, qpn);
	}
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE)
		dcqcn_qp_ask(qp);
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

	if (qp)
		return qp;
	if (READ_ONCE(dev->stopping))
		return NULL;
	if (!atomic_add_unless(&dev->resolver.num_unresolved, 1, DCQCN_UNRESOLVED_MAX))
		goto count;

	qp = dcqcn_qp_alloc(dev, qpn);
	if (!qp)
		goto unresolved;
	qp->seen = jiffies - DCQCN_UNUSED_JIFFIES;	/* it has not sent */
	if (!dcqcn_qp_insert(dev, qp)) {
		/* lost a race with another CPU */
		kfree(qp);
		atomic_dec(&dev->resolver.num_unresolved);
		return dcqcn_qp_find(dev, qpn);
	}
	spin_lock_bh(&qp->lock);
	dcqcn_qp_ask(qp);
	spin_unlock_bh(&qp->lock);
	return qp;

unresolved:
	atomic_dec(&dev->resolver.num_unresolved);
count:
	dcqcn_count(dev, DCQCN_QP_ERRORS);
	return NULL;
}

/**
 * dcqcn_qp_next() - iterate over the entries of a port
 * @dev: port
 * @at: position to search from, 0 for the first entry; set to that of the entry
 *	found. Add one to continue, even if entries were added or freed meanwhile.
 *
 * Context: under RCU. Return: the entry, or NULL.
 */
struct dcqcn_qp *dcqcn_qp_next(struct dcqcn_dev *dev, u64 *at)
{
	struct dcqcn_qp *qp;
	u64 chain;
	u32 hash;

	for (chain = *at >> (32 - DCQCN_QP_BITS);
	     chain < ARRAY_SIZE(dev->table.chains); chain++) {
		hlist_for_each_entry_rcu(qp, &dev->table.chains[chain], node) {
			hash = dcqcn_dev_qp_hash(dev, qp->qpn);
			if (hash >= *at) {
				*at = hash;
				return qp;
			}
		}
	}
	return NULL;
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
	dcqcn_pacer_advance(qp, now);
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
		.floor = dcqcn_pacer_floor(qp),
		.delivered = flow->path ? dcqcn_path_most(flow->path) : 0,
		.period = dcqcn_rate_timer_period(&flow->rate, &settings->rp),
		.ai = qp->limited ?
		      dcqcn_rate_ai(&flow->rate, &settings->rp) : 0,
		.ev = dcqcn_ccc_ev(qp),
		.queue_packets = dcqcn_flow_held(flow),
		.queue_bytes = flow->held_bytes,
		.stat = flow->stat,
		.cnps_sent = qp->cnps_sent,
		.cnps_handled = qp->cnps_handled,
		.cnps_ignored = qp->cnps_ignored,
		.handled_time = dcqcn_qp_handled_time(qp, now),
	};
	spin_unlock_bh(&qp->lock);

	/* without a limiter a flow has no rate */
	if (view->limited)
		view->rate.alpha = dcqcn_rate_alpha(&view->rate, &settings->rp,
						    now);
	view->floor = min(max(view->floor, dcqcn_rate_floor(&settings->rp)), line);
	return true;
}

/**
 * dcqcn_qp_contradict() - handle a packet that its QP's entry does not describe
 * @qp: the entry
 * @tx: the packet, which the QP sends
 *
 * Ends the flow of a QP that was reconnected. The entry becomes what the packet says, and the
 * worker asks the core for the rest. But a packet that contradicts what the core says is not
 * believed, as where a firewall changes addresses: the core is asked again.
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
		dcqcn_pacer_reset(qp, &dropped);
		dcqcn_ccc_leave(qp);
	}
	/* an owner in a live entry has sent what matched it; in another one, what did not */
	if (live == !!qp->owner)
		begins = dcqcn_qp_read(qp, tx);
	if (live && !begins) {
		qp->owner = tx->skb->sk;
		qp->state = DCQCN_QP_RESOLVING;
		atomic_inc(&qp->dev->resolver.num_unresolved);
	} else if (!live && begins) {
		atomic_dec(&qp->dev->resolver.num_unresolved);
	} else if (!live) {
		qp->state = DCQCN_QP_RESOLVING;
	}
	dcqcn_qp_ask(qp);
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
	hash_init(dev->table.chains);
	spin_lock_init(&dev->table.lock);
	dev->table.factor = get_random_u32() | 1;
	spin_lock_init(&dev->resolver.lock);
	INIT_LIST_HEAD(&dev->resolver.list);
	INIT_DELAYED_WORK(&dev->resolver.work, dcqcn_qp_work);
	dev->resolver.next_sweep = jiffies;
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
	int i;

	rcu_read_lock();
	hash_for_each_rcu(dev->table.chains, i, qp, node)
		dcqcn_pacer_flush(qp);
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
	int i, turn;

	rcu_read_lock();
	hash_for_each_rcu(dev->table.chains, i, qp, node) {
		for (turn = 0; turn < DCQCN_RELEASE_TURNS &&
		     READ_ONCE(qp->limited); turn++)
			dcqcn_pacer_release(qp);
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
	struct hlist_node *next;
	struct dcqcn_qp *qp;
	int i;

	cancel_delayed_work_sync(&dev->resolver.work);
	hash_for_each_safe(dev->table.chains, i, next, qp, node)
		dcqcn_qp_free(qp);
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
