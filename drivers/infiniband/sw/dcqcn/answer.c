// SPDX-License-Identifier: GPL-2.0
/*
 * Answers: round trips for packets that get no ACK.
 *
 * READ responses and UC packets are never acknowledged. A flow that obeys no context (ccc.c) asks
 * the peer's module for an answer with DCQCN_BTH_REQUEST, which a stock peer ignores. The module
 * answers with feedback that names the QP that asked, and the PSN. The packet that asked is a probe
 * (path.c), like a packet that gets an ACK.
 *
 * Flows that obey an algorithm ask to learn about the way to the peer: the answer has the packet's
 * stamp (stamp.c), and the time when it arrived (flight.c). Their packets get ACKs, too. cc.c
 * decides which of them ask.
 *
 * Otherwise, gate.c decides which packets ask. An answer may be lost, and is never repeated: the
 * wait for it ends after some round trips. A peer that has never answered is asked ever more
 * rarely.
 *
 * Only a packet with a correct ICRC from the peer of an existing QP is answered, within the budget
 * of feedback (xmit.c). An answer is believed if it comes from the flow's peer, and names the
 * probe.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "answer.h"
#include "cc.h"
#include "ccc.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "rx.h"
#include "stamp.h"
#include "xmit.h"

/* Answer the packet that asked @qp. Called with the lock held; drops it. */
static void dcqcn_answer_say(struct dcqcn_qp *qp, struct net *net,
			     const struct dcqcn_settings *settings,
			     const struct dcqcn_event *event)
	__releases(&qp->lock)
{
	u64 held = ktime_get_ns() - event->time;
	struct dcqcn_feedback say = {
		.version = DCQCN_FEEDBACK_VERSION,
		.prio = event->offer_psn >> DCQCN_OFFER_PRIO_SHIFT,
		.flags = DCQCN_FEEDBACK_ECHO | DCQCN_FEEDBACK_ANSWER,
		.epoch = cpu_to_be32(qp->peer_qpn),
		.echo_qpn = cpu_to_be32(qp->qpn),
		.echo_psn = cpu_to_be32(event->offer_psn & DCQCN_QPN_MASK),
		.echo_held = cpu_to_be32(min(held, (u64)U32_MAX)),
		.arrived = cpu_to_be32(event->time),
	};
	struct dcqcn_cnp_spec spec = {
		.saddr = event->daddr,
		.daddr = event->saddr,
		.pkey = event->pkey,
	};
	bool says = qp->type != IB_QPT_UD && dcqcn_qp_is_peer(qp, &event->saddr);
	int err;

	if (says)
		qp->used = jiffies;
	spin_unlock_bh(&qp->lock);
	if (!says)
		return;
	dcqcn_stamps_tell(qp->dev, qp->qpn, event->offer_psn & DCQCN_QPN_MASK, &say);
	err = dcqcn_xmit_charge(&qp->dev->answers.feedback_paid, DCQCN_XMIT_GAP_NS) ?
	      dcqcn_xmit(net, event->ifindex, settings, &spec, &say) : -EBUSY;
	dcqcn_count(qp->dev, err ? DCQCN_NP_FEEDBACK_ERRORS : DCQCN_NP_FEEDBACK_SENT);
}

/**
 * dcqcn_answer_receive() - answer a received data packet that asks
 * @in: the packet; may be linearised, and parsed again then
 *
 * Context: softirq, under RCU. Takes the QP's lock; may send.
 */
void dcqcn_answer_receive(struct dcqcn_rx *in)
{
	const struct dcqcn_settings *settings = rcu_dereference(in->dev->settings);
	struct dcqcn_pkt *pkt = &in->pkt;
	struct dcqcn_event event;
	struct dcqcn_qp *qp;

	if (!in->unicast || pkt->ud || !(settings->np_enable & BIT(dcqcn_pkt_prio(pkt))))
		return;
	if (!dcqcn_rx_linearize(in)) {
		dcqcn_count(in->dev, DCQCN_NP_FEEDBACK_ERRORS);
		return;
	}
	if (!dcqcn_pkt_icrc_ok(pkt)) {
		dcqcn_count(in->dev, DCQCN_NP_ICRC_ERRORS);
		return;
	}
	qp = dcqcn_qp_find_or_add(in->dev, pkt->dest_qpn);
	if (!qp)
		return;
	event = (struct dcqcn_event) {
		.time = ktime_get_ns(),
		.offer_psn = (u32)dcqcn_pkt_prio(pkt) << DCQCN_OFFER_PRIO_SHIFT | pkt->psn,
		.ifindex = in->skb->dev->ifindex,
		.pkey = pkt->pkey,
		.offer = true,
		.asks = true,
	};
	dcqcn_ip_saddr(pkt->ip, &event.saddr);
	dcqcn_ip_daddr(pkt->ip, &event.daddr);
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE) {
		dcqcn_answer_say(qp, dev_net(in->skb->dev), settings, &event);
		return;
	}
	if (qp->state == DCQCN_QP_RESOLVING)
		dcqcn_ccc_keep_offer(qp, &event);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_answer_resolved() - answer the packet that waited for its QP to be resolved
 * @qp: the QP, now live or absent
 * @event: the packet that asked
 *
 * Context: process, BH on. Takes the QP's lock; may send.
 */
void dcqcn_answer_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	rcu_read_lock();
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE)
		dcqcn_answer_say(qp, dev_net(qp->dev->ndev),
				 rcu_dereference(qp->dev->settings), event);
	else
		spin_unlock_bh(&qp->lock);
	rcu_read_unlock();
}

/**
 * dcqcn_answer_hear() - handle an answer from the peer's module
 * @in: the packet, valid feedback
 * @said: its content
 *
 * Context: softirq, under RCU. Takes the QP's lock. Return: whether the flow had asked.
 */
bool dcqcn_answer_hear(const struct dcqcn_rx *in, const struct dcqcn_feedback *said)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(in->dev, be32_to_cpu(said->epoch));
	bool heard = false;
	struct in6_addr saddr;

	if (!qp)
		return false;
	dcqcn_ip_saddr(in->pkt.ip, &saddr);
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && qp->type != IB_QPT_UD &&
	    dcqcn_qp_is_peer(qp, &saddr) && qp->peer_qpn == be32_to_cpu(said->echo_qpn))
		heard = dcqcn_qp_has_algorithm(qp) ? dcqcn_cc_answered(qp, said) :
			dcqcn_queue_answered(qp, be32_to_cpu(said->echo_psn),
					     be32_to_cpu(said->echo_held));
	spin_unlock_bh(&qp->lock);
	return heard;
}
