// SPDX-License-Identifier: GPL-2.0
/*
 * Receives CNPs, and slows down the flows that they are for.
 *
 * A CNP takes effect if its length and ICRC are correct, its destination is a
 * live QP of the port and, for RC and UC, it came from that QP's peer. The first
 * one gives the QP's flow a limiter, which ends when the rate is back at the line
 * rate and nothing is held (limiter.c).
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>

#include "cnp.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "rx.h"
#include "trace.h"

/* Maximum number of CNPs that wait for one QP to be resolved */
#define DCQCN_PENDING_CNPS_MAX	1024

/* Handle a CNP from @saddr for a live QP, whose lock is held */
static enum dcqcn_verdict dcqcn_cnp_handle(struct dcqcn_qp *qp,
					   const struct in6_addr *saddr)
{
	const struct dcqcn_settings *settings;
	u64 now;

	settings = rcu_dereference(qp->dev->settings);
	if (READ_ONCE(qp->dev->stopping))
		return DCQCN_CNP_STOPPING;
	if (!(settings->rp_enable & BIT(qp->prio)))
		return DCQCN_CNP_DISABLED;
	if (!dcqcn_qp_is_peer(qp, saddr))
		return DCQCN_CNP_NOT_PEER;

	qp->used = jiffies;
	if (dcqcn_qp_is_windowed(qp))
		return DCQCN_CNP_WINDOWED;
	now = ktime_get_ns();
	qp->handled_time = now >> DCQCN_HANDLED_SHIFT;
	dcqcn_queue_cnp(qp, settings, now);
	return DCQCN_CNP_HANDLED;
}

/* Count @n CNPs with this verdict; @qp is NULL, or its lock is held */
static void dcqcn_cnp_count(struct dcqcn_dev *dev, struct dcqcn_qp *qp,
			    enum dcqcn_verdict verdict, u32 n)
{
	bool handled = verdict == DCQCN_CNP_HANDLED;

	if (verdict == DCQCN_CNP_WAITS)
		return;
	dcqcn_count_add(dev, handled ? DCQCN_RP_CNP_HANDLED :
				       DCQCN_RP_CNP_IGNORED, n);
	if (qp && handled)
		qp->cnps_handled += n;
	else if (qp)
		qp->cnps_ignored += n;
}

/* Handle a CNP from @saddr for a QP that may not be resolved yet; its lock is held */
static enum dcqcn_verdict dcqcn_cnp_accept(struct dcqcn_qp *qp,
					   const struct in6_addr *saddr)
{
	struct dcqcn_waiting *waiting;

	if (qp->state == DCQCN_QP_LIVE)
		return dcqcn_cnp_handle(qp, saddr);
	if (qp->state != DCQCN_QP_RESOLVING)
		return DCQCN_CNP_NO_QP;
	waiting = dcqcn_qp_wait(qp);
	if (!waiting || waiting->cnps == DCQCN_PENDING_CNPS_MAX)
		return DCQCN_CNP_NO_ROOM;
	if (!waiting->cnps && !waiting->ce && !waiting->event.offer)
		waiting->event.saddr = *saddr;
	if (!ipv6_addr_equal(&waiting->event.saddr, saddr))
		return DCQCN_CNP_NOT_PEER;
	waiting->cnps++;
	return DCQCN_CNP_WAITS;
}

/**
 * dcqcn_cnp_receive() - handle a received packet of opcode 0x81
 * @rx: the packet
 *
 * Context: softirq, under RCU. Takes the QP's lock.
 */
void dcqcn_cnp_receive(const struct dcqcn_rx *rx)
{
	const struct dcqcn_pkt *pkt = &rx->pkt;
	struct dcqcn_dev *dev = rx->dev;
	enum dcqcn_verdict verdict;
	struct dcqcn_qp *qp = NULL;
	struct in6_addr saddr;

	dcqcn_ip_saddr(pkt->ip, &saddr);
	if (!rx->unicast || !dcqcn_pkt_is_valid_cnp(pkt)) {
		verdict = DCQCN_CNP_INVALID;
	} else {
		verdict = READ_ONCE(dev->stopping) ? DCQCN_CNP_STOPPING :
						     DCQCN_CNP_NO_ROOM;
		qp = dcqcn_qp_find_or_add(dev, pkt->dest_qpn);
	}
	if (qp) {
		spin_lock_bh(&qp->lock);
		verdict = dcqcn_cnp_accept(qp, &saddr);
		dcqcn_cnp_count(dev, qp, verdict, 1);
		spin_unlock_bh(&qp->lock);
	} else {
		dcqcn_cnp_count(dev, NULL, verdict, 1);
	}
	trace_dcqcn_cnp_received(dev, pkt->dest_qpn, &saddr, verdict);
}

/**
 * dcqcn_cnp_resolved() - handle CNPs that waited for a QP to be resolved
 * @qp: the QP, now live or absent
 * @saddr: their source address
 * @n: how many
 *
 * Context: process, BH on. Takes the QP's lock.
 */
void dcqcn_cnp_resolved(struct dcqcn_qp *qp, const struct in6_addr *saddr, u32 n)
{
	enum dcqcn_verdict verdict = DCQCN_CNP_NO_QP;

	rcu_read_lock();
	spin_lock_bh(&qp->lock);
	/* they arrived almost together, and cut the rate once */
	if (qp->state == DCQCN_QP_LIVE)
		verdict = dcqcn_cnp_handle(qp, saddr);
	dcqcn_cnp_count(qp->dev, qp, verdict, n);
	spin_unlock_bh(&qp->lock);
	trace_dcqcn_cnp_received(qp->dev, qp->qpn, saddr, verdict);
	rcu_read_unlock();
}
