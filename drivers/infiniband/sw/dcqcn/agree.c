// SPDX-License-Identifier: GPL-2.0
/*
 * Agreement on a context: a sender that is set to use contexts sets DCQCN_BTH_CAPABLE and
 * DCQCN_BTH_REQUEST in a data packet now and then. A receiver with the same setting answers
 * with feedback, an opcode of this module that is sent only in answer to these bits. Once
 * feedback names the same algorithms (hear.c), the context is ready, and its flows obey it until
 * three timeouts have passed without feedback (window.c).
 */
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "ccc.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "window.h"

/**
 * dcqcn_ccc_offer() - offer a context to a peer that has not agreed yet
 * @qp: its QP
 * @skb: a data packet that leaves; carries the offer if one is due
 * @now: ns
 *
 * Context: @qp->lock is held, with BH disabled.
 */
void dcqcn_ccc_offer(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now)
{
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	const struct dcqcn_settings *settings;
	struct dcqcn_ccc_sender *tx;
	struct dcqcn_ccc *ccc;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	if (!ccc || !bth)
		return;
	tx = &ccc->tx;
	settings = rcu_dereference_bh(qp->dev->settings);
	spin_lock(&ccc->lock);
	dcqcn_ccc_settle(tx, now);
	qp->route->waits = 0;	/* a wait for the window has ended with the context */
	/* the setting has changed here, and perhaps at the peer too */
	if (tx->agreed && tx->agreed != settings->ccc.algorithms) {
		dcqcn_ccc_set_agreed(ccc, 0);
		tx->offer_gap = DCQCN_CCC_OFFER_MIN;
	}
	if (settings->ccc.algorithms && !tx->agreed &&
	    (!tx->offer_time ||
	     dcqcn_ccc_since(now, tx->offer_time) >= tx->offer_gap)) {
		if (tx->offer_time)
			tx->offer_gap = min(2 * tx->offer_gap,
					    DCQCN_CCC_OFFER_MAX);
		tx->offer_time = now;
		dcqcn_ccc_probe(tx, qp->qpn, dcqcn_bth_qpn(bth),
				dcqcn_bth_psn(bth), false, now);
		bth->qpn |= cpu_to_be32(DCQCN_BTH_CAPABLE | DCQCN_BTH_REQUEST);
	}
	spin_unlock(&ccc->lock);
}

/**
 * dcqcn_ccc_output() - a data packet of a QP leaves rxe
 * @qp: the QP
 * @settings: settings of the port, which uses contexts
 * @skb: the packet
 * @prio: its priority
 *
 * Gives the QP a context unless it has one of that priority and of the packet's source address, and
 * offers it to the peer until the peer agrees.
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock.
 */
void dcqcn_ccc_output(struct dcqcn_qp *qp,
		      const struct dcqcn_settings *settings,
		      struct sk_buff *skb, u8 prio)
{
	struct in6_addr local, peer;
	struct dcqcn_ccc *ccc;
	u8 obeys;

	ccc = rcu_dereference(qp->ccc);
	if (ccc && ccc->prio == prio && READ_ONCE(ccc->tx.agreed) == settings->ccc.algorithms &&
	    dcqcn_ip_is_from(skb_network_header(skb), &ccc->local))
		return;
	dcqcn_ip_saddr(skb_network_header(skb), &local);
	dcqcn_ip_daddr(skb_network_header(skb), &peer);
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && qp->type != IB_QPT_UD &&
	    !READ_ONCE(qp->dev->stopping) && dcqcn_qp_is_peer(qp, &peer)) {
		ccc = rcu_dereference_protected(qp->ccc,
						lockdep_is_held(&qp->lock));
		/* Connected again with another traffic class or from another address. The flow may
		 * hold packets: it goes on when the gate sees whether the new context is ready.
		 */
		if (ccc && (ccc->prio != prio || !ipv6_addr_equal(&ccc->local, &local))) {
			obeys = qp->obeys;
			dcqcn_ccc_leave(qp);
			ccc = dcqcn_ccc_join(qp, &local, &peer, prio);
			if (ccc)
				WRITE_ONCE(qp->obeys, obeys);
		} else if (!ccc) {
			ccc = dcqcn_ccc_join(qp, &local, &peer, prio);
		}
		/* a packet that the limiter holds carries the offer when it leaves */
		if (ccc && !qp->limited)
			dcqcn_ccc_offer(qp, skb, ktime_get_ns());
	}
	spin_unlock_bh(&qp->lock);
}
