// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control contexts. A context covers all data between one port and one peer in one
 * priority, in both directions. A window and credit bound it, instead of a rate per QP.
 *
 * Both hosts must have this module and the same ccc_algorithms. For all other peers,
 * DCQCN goes on as if contexts did not exist.
 *
 * This file creates, finds and frees them. The sender's half is in agree.c, window.c and
 * hear.c, which say how both halves work together; ccc_receiver.c has the receiver's.
 *
 * A QP uses one context for both directions, that of its own priority. Packets of other priorities
 * count where the peer has counted them, and DCQCN handles all others. Each QP's entry holds a
 * reference to its context; the last one frees it.
 */
#include <linux/hrtimer.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "ccc.h"
#include "device.h"
#include "qp.h"
#include "window.h"

/* Maximum number of contexts of a port; DCQCN limits flows to further peers. Only a QP that the
 * RDMA core knows can create one.
 */
#define DCQCN_CCC_MAX		4096

#define DCQCN_CCC_PKEY		0xffff	/* P_Key of feedback before the peer's first packet */

static struct hlist_head *dcqcn_ccc_chain(struct dcqcn_dev *dev,
					  const struct in6_addr *local,
					  const struct in6_addr *peer, u8 prio)
{
	u32 hash = jhash2((const u32 *)peer, sizeof(*peer) / sizeof(u32),
			  dev->contexts.seed ^ prio);

	hash = jhash2((const u32 *)local, sizeof(*local) / sizeof(u32), hash);
	return &dev->contexts.chains[hash >> (32 - DCQCN_CCC_BITS)];
}

/**
 * dcqcn_ccc_find() - look up a context
 * @dev: the port
 * @local: our address
 * @peer: the peer's
 * @prio: priority of the packets
 *
 * Context: under RCU, or with the lock of the table. Return: the context, or NULL.
 */
struct dcqcn_ccc *dcqcn_ccc_find(struct dcqcn_dev *dev,
				 const struct in6_addr *local,
				 const struct in6_addr *peer, u8 prio)
{
	struct dcqcn_ccc *ccc;

	hlist_for_each_entry_rcu(ccc, dcqcn_ccc_chain(dev, local, peer, prio),
				 node, lockdep_is_held(&dev->contexts.lock)) {
		if (ccc->prio == prio && ipv6_addr_equal(&ccc->peer, peer) &&
		    ipv6_addr_equal(&ccc->local, local))
			return ccc;
	}
	return NULL;
}

static struct dcqcn_ccc *dcqcn_ccc_alloc(struct dcqcn_dev *dev,
					 const struct in6_addr *local,
					 const struct in6_addr *peer, u8 prio)
{
	struct dcqcn_ccc *ccc;

	/* locks of debug and real-time kernels are larger */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_DEBUG_SPINLOCK) &&
		     !IS_ENABLED(CONFIG_PREEMPT_RT) && sizeof(*ccc) > 1024);

	ccc = kzalloc(sizeof(*ccc), GFP_ATOMIC | __GFP_NOWARN);
	if (!ccc)
		return NULL;
	spin_lock_init(&ccc->lock);
	ccc->dev = dev;
	ccc->local = *local;
	ccc->peer = *peer;
	ccc->prio = prio;
	ccc->tx.offer_gap = DCQCN_CCC_OFFER_MIN;
	INIT_LIST_HEAD(&ccc->tx.waiting);
	ccc->rx.epoch = get_random_u32();
	ccc->rx.pkey = DCQCN_CCC_PKEY;
	INIT_LIST_HEAD(&ccc->rx.grant_node);
	return ccc;
}

/**
 * dcqcn_ccc_join() - attach a QP to a context, which is created if there is none
 * @qp: the QP
 * @local: our address
 * @peer: the peer's
 * @prio: priority of the packets
 *
 * Context: @qp->lock is held, with BH disabled. Takes the lock of the table.
 * Return: the context; NULL if there is no room.
 */
struct dcqcn_ccc *dcqcn_ccc_join(struct dcqcn_qp *qp,
				 const struct in6_addr *local,
				 const struct in6_addr *peer, u8 prio)
{
	struct dcqcn_dev *dev = qp->dev;
	struct dcqcn_route *route;
	struct dcqcn_ccc *ccc;

	route = kzalloc(sizeof(*route), GFP_ATOMIC | __GFP_NOWARN);
	spin_lock(&dev->contexts.lock);
	ccc = route ? dcqcn_ccc_find(dev, local, peer, prio) : NULL;
	if (route && !ccc && dev->contexts.num < DCQCN_CCC_MAX) {
		ccc = dcqcn_ccc_alloc(dev, local, peer, prio);
		if (ccc) {
			ccc->id = ++dev->contexts.last_id;
			WRITE_ONCE(dev->contexts.num, dev->contexts.num + 1);
			hlist_add_head_rcu(&ccc->node,
					   dcqcn_ccc_chain(dev, local, peer,
							   prio));
		}
	}
	if (ccc)
		WRITE_ONCE(ccc->refs, ccc->refs + 1);
	spin_unlock(&dev->contexts.lock);
	if (ccc) {
		spin_lock(&ccc->lock);
		INIT_LIST_HEAD(&qp->wait_node);
		qp->route = route;
		rcu_assign_pointer(qp->ccc, ccc);
		spin_unlock(&ccc->lock);
	} else {
		kfree(route);
		dcqcn_count(dev, DCQCN_CCC_ERRORS);
	}
	return ccc;
}

/**
 * dcqcn_ccc_leave() - detach a QP from its context
 * @qp: the QP
 *
 * Context: @qp->lock is held, with BH disabled. Its flow has been reset, or goes on by what the
 * caller lets it obey.
 */
void dcqcn_ccc_leave(struct dcqcn_qp *qp)
{
	struct dcqcn_dev *dev = qp->dev;
	struct dcqcn_ccc *ccc;
	bool last;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc)
		return;
	if (dcqcn_qp_is_windowed(qp))
		WRITE_ONCE(qp->obeys, DCQCN_OBEYS_RATE);
	spin_lock(&ccc->lock);
	RCU_INIT_POINTER(qp->ccc, NULL);
	list_del_init(&qp->wait_node);
	ccc->rx.askers -= qp->route->asked;
	spin_unlock(&ccc->lock);
	kfree(qp->route);

	spin_lock(&dev->contexts.lock);
	WRITE_ONCE(ccc->refs, ccc->refs - 1);
	last = !ccc->refs;
	if (last) {
		hlist_del_rcu(&ccc->node);
		WRITE_ONCE(dev->contexts.num, dev->contexts.num - 1);
	}
	spin_unlock(&dev->contexts.lock);
	if (!last)
		return;
	spin_lock(&dev->credit.lock);
	ccc->dead = true;
	dcqcn_ccc_ungrant(ccc);
	spin_unlock(&dev->credit.lock);
	kfree_rcu(ccc, rcu);
}

/**
 * dcqcn_ccc_next() - iterate over the contexts of a port
 * @dev: the port
 * @chain: index of a chain in its table; 0 to begin
 * @at: position in that chain; 0 to begin. Both are set to those of the context found. Add one to
 *	@at to continue. This works even if contexts were added or freed meanwhile, because new ones
 *	are put first in a chain.
 *
 * Context: under RCU. Return: the context, or NULL.
 */
struct dcqcn_ccc *dcqcn_ccc_next(struct dcqcn_dev *dev, u32 *chain, u64 *at)
{
	struct dcqcn_ccc *ccc;

	for (; *chain < ARRAY_SIZE(dev->contexts.chains); ++*chain, *at = 0) {
		hlist_for_each_entry_rcu(ccc, &dev->contexts.chains[*chain], node) {
			if (~ccc->id >= *at) {
				*at = ~ccc->id;
				return ccc;
			}
		}
	}
	return NULL;
}

/**
 * dcqcn_ccc_params() - return the parameters of a context's window
 * @ccc: the context, whose lock is held
 * @settings: the port's
 *
 * Context: any.
 */
struct dcqcn_nscc_params
dcqcn_ccc_params(const struct dcqcn_ccc *ccc,
		 const struct dcqcn_settings *settings)
{
	u64 line = dcqcn_dev_line(ccc->dev, settings);
	u32 mbps = div_u64(line, DCQCN_BPS_PER_MBPS);

	return (struct dcqcn_nscc_params) {
		.mbps = max(min(mbps, ccc->tx.mbps ?: mbps), 1U),
		.base_rtt = settings->ccc.base_rtt * NSEC_PER_USEC,
		.target = settings->ccc.target_qdelay * NSEC_PER_USEC,
		.scaling = settings->ccc.scaling,
	};
}

/**
 * dcqcn_ccc_look() - take a snapshot of a context
 * @ccc: the context
 * @view: the snapshot
 *
 * Context: under RCU; process or softirq. Takes the context's lock.
 */
void dcqcn_ccc_look(struct dcqcn_ccc *ccc, struct dcqcn_ccc_view *view)
{
	const struct dcqcn_ccc_receiver *rx = &ccc->rx;
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_nscc_params params;

	spin_lock_bh(&ccc->lock);
	dcqcn_ccc_settle(tx, ktime_get_ns());
	params = dcqcn_ccc_params(ccc, rcu_dereference(ccc->dev->settings));
	*view = (struct dcqcn_ccc_view) {
		.local = ccc->local,
		.peer = ccc->peer,
		.prio = ccc->prio,
		.agreed = tx->agreed,
		.qps = READ_ONCE(ccc->refs),
		.line = params.mbps * DCQCN_BPS_PER_MBPS,
		.base = dcqcn_nscc_base(&tx->window, &params),
		.target = dcqcn_nscc_target(&tx->window, &params),
		.rtt = tx->rtt,
		.delay = dcqcn_nscc_delay(&tx->window),
		.bdp = dcqcn_nscc_bdp(&tx->window, &params),
		.max_window = dcqcn_nscc_max(&tx->window, &params),
		.window = tx->window.cwnd,
		.flight = dcqcn_ccc_flight(tx),
		.credit = dcqcn_ccc_credit(tx),
		.received = rx->received,
		.marked = rx->marked,
		.granted = rx->source.ahead,
		.asks = rx->source.backlog,
		.entropy_changes = tx->entropy_changes,
	};
	spin_unlock_bh(&ccc->lock);
}

/**
 * dcqcn_ccc_dev_init() - set up the contexts of a port
 * @dev: the port
 */
void dcqcn_ccc_dev_init(struct dcqcn_dev *dev)
{
	spin_lock_init(&dev->contexts.lock);
	dev->contexts.seed = get_random_u32();
}

/**
 * dcqcn_ccc_dev_exit() - stop granting
 * @dev: the port, which no packet reaches any more, and whose QPs are gone
 *
 * Context: process; may sleep.
 */
void dcqcn_ccc_dev_exit(struct dcqcn_dev *dev)
{
	hrtimer_cancel(&dev->credit.timer);
	if (dev->contexts.used)
		static_branch_dec(&dcqcn_cccs);
}
