// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: events when a rate changes. netlink.c answers requests.
 */
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <net/genetlink.h>
#include <rdma/ib_verbs.h>

#include "budget.h"
#include "device.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "qp.h"

/* Events per port and period; more are suppressed, and counted in the next one */
#define DCQCN_EVENTS		100
#define DCQCN_EVENTS_JIFFIES	(HZ / 10)

static const struct genl_family *dcqcn_event_family;	/* the family whose group listeners join */

/* Return true if an event may be sent; *suppressed is the number suppressed before it */
static bool dcqcn_budget_take(struct dcqcn_budget *budget, u32 *suppressed)
{
	bool ok;

	spin_lock_bh(&budget->lock);
	/* time_after_eq() would be wrong after weeks without an event on 32 bits */
	if (jiffies - budget->begin >= DCQCN_EVENTS_JIFFIES) {
		budget->begin = jiffies;
		budget->sent = 0;
	}
	ok = budget->sent < DCQCN_EVENTS;
	if (ok) {
		*suppressed = budget->suppressed;
		budget->suppressed = 0;
		budget->sent++;
	} else {
		budget->suppressed++;
	}
	spin_unlock_bh(&budget->lock);
	return ok;
}

/* The event could not be sent after all: the next one counts it as suppressed */
static void dcqcn_budget_miss(struct dcqcn_budget *budget, u32 suppressed)
{
	spin_lock_bh(&budget->lock);
	budget->suppressed += suppressed + 1;
	spin_unlock_bh(&budget->lock);
}

static int dcqcn_put_rate(struct sk_buff *skb, const struct dcqcn_qp *qp,
			  enum rdma_dcqcn_rate_event event, u64 old_rate,
			  u32 suppressed)
{
	const struct dcqcn_rate *r = &qp->flow.rate;
	void *hdr;

	hdr = genlmsg_put(skb, 0, 0, dcqcn_event_family, 0, RDMA_DCQCN_CMD_RATE_NTF);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RDMA_DCQCN_A_RATE_DEV_NAME,
			   qp->dev->ibdev->name) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_RATE_LQPN, qp->qpn) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_RATE_EVENT, event) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_RATE_OLD_RATE, old_rate,
			      RDMA_DCQCN_A_RATE_PAD) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_RATE_RATE, r->current_rate,
			      RDMA_DCQCN_A_RATE_PAD) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_RATE_TARGET_RATE,
			      r->target_rate, RDMA_DCQCN_A_RATE_PAD) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_RATE_ALPHA, r->alpha) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_RATE_SUPPRESSED, suppressed))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * dcqcn_netlink_rate() - notify listeners that a rate was cut or released
 * @qp: its QP
 * @event: which of the two
 * @old_rate: bit/s; the rate before
 *
 * Context: @qp->lock is held.
 */
void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event,
			u64 old_rate)
{
	struct net *net = dev_net(qp->dev->ndev);
	struct sk_buff *skb;
	u32 suppressed;

	if (!genl_has_listeners(dcqcn_event_family, net, RDMA_DCQCN_NLGRP_RATE) ||
	    !dcqcn_budget_take(&qp->dev->rate_events, &suppressed))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb || dcqcn_put_rate(skb, qp, event, old_rate, suppressed)) {
		nlmsg_free(skb);
		dcqcn_budget_miss(&qp->dev->rate_events, suppressed);
		return;
	}
	genlmsg_multicast_netns(dcqcn_event_family, net, skb, 0, RDMA_DCQCN_NLGRP_RATE,
				GFP_ATOMIC);
}

/**
 * dcqcn_netlink_event_init() - let events be sent
 * @family: family of the events
 *
 * Context: process. No port has been added.
 */
void dcqcn_netlink_event_init(const struct genl_family *family)
{
	dcqcn_event_family = family;
}
