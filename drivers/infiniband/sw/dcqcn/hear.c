// SPDX-License-Identifier: GPL-2.0
/*
 * Handles feedback, in which a peer that has agreed on a context reports the packets that it
 * received.
 *
 * Feedback is cumulative: bytes received, how many of them were marked, and credit, so that the
 * next feedback makes up for a lost one. It goes out on request, and after 32 KB without one. A
 * request is a probe: the sender knows when it left, and how much it had sent. The echo gives the
 * round trip, minus the time that the receiver held it, and the bytes lost before the probe. A mark
 * alone does not trigger feedback, because the window also needs a round trip.
 *
 * Forged packets: data counts before its ICRC is checked, because an attacker who knows
 * addresses, QPN and PSN of a connection can do worse. Feedback must have the right epoch
 * or echo a probe, and cannot acknowledge more than was sent.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/time64.h>

#include "answer.h"
#include "ccc.h"
#include "device.h"
#include "packet.h"
#include "qp.h"
#include "queue.h"
#include "rx.h"
#include "trace.h"
#include "window.h"

/* Bytes by which the counts of both ends may differ for a while: what was sent before they
 * agreed
 */
#define DCQCN_CCC_SLACK		65536

#define DCQCN_CCC_WAKES		64	/* flows per feedback */

/* Take out the probe that feedback echoes. All older probes are overtaken. */
static bool dcqcn_ccc_echoed(struct dcqcn_ccc_sender *tx,
			     const struct dcqcn_feedback *said,
			     struct dcqcn_probe *probe, bool *late)
{
	u32 qpn = be32_to_cpu(said->echo_qpn), psn = be32_to_cpu(said->echo_psn);
	int i;

	if (!(said->flags & DCQCN_FEEDBACK_ECHO))
		return false;
	for (i = 0; i < tx->num_probes; i++) {
		if (tx->probes[i].qpn == qpn && tx->probes[i].psn == psn)
			break;
	}
	if (i == tx->num_probes)
		return false;
	*probe = tx->probes[i];
	*late = dcqcn_ccc_take_probe(tx, i);
	if (!*late)
		tx->num_overtaken = i;
	return probe->time;
}

/* The peer starts its counts, or restarts them */
static void dcqcn_ccc_begin(struct dcqcn_ccc *ccc,
			    const struct dcqcn_settings *settings,
			    const struct dcqcn_feedback *said,
			    const struct dcqcn_probe *probe, u64 now)
{
	struct dcqcn_nscc_params params = dcqcn_ccc_params(ccc, settings);
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	int i;

	tx->epoch = be32_to_cpu(said->epoch);
	tx->received = be32_to_cpu(said->echo_received);
	tx->peer_marked = be32_to_cpu(said->marked);
	tx->offset = probe->sent - tx->received;
	tx->expired = 0;
	tx->newly = 0;
	tx->marked = false;
	if (tx->agreed)
		return;
	/* other offers' flows have sent packets that are not counted */
	for (i = 0; i < tx->num_probes; i++)
		tx->probes[i].local = 0;
	tx->acked = tx->sent;
	tx->offset = tx->sent - tx->received;
	tx->unasked = DCQCN_CCC_ASK;
	dcqcn_nscc_init(&tx->window, &params, settings->ccc.initial_window, now);
	dcqcn_ccc_restart(tx, settings);
	tx->ahead = dcqcn_nscc_bdp(&tx->window, &params);
	dcqcn_ccc_set_agreed(ccc, settings->ccc.algorithms);
}

/* Count the bytes that have arrived, and those that were lost */
static void dcqcn_ccc_count(struct dcqcn_ccc_sender *tx,
			    const struct dcqcn_feedback *said,
			    const struct dcqcn_probe *probe)
{
	u32 received = be32_to_cpu(said->received);
	u32 marked = be32_to_cpu(said->marked);
	s32 lost = 0, over;

	if (probe)
		lost = probe->sent - be32_to_cpu(said->echo_received) -
		       tx->offset;
	tx->offset += lost;
	tx->asked += lost;	/* moves like the limit, which comes from the peer's count */
	/* the last timeout has already shrunk the window by @expired */
	if (lost > 0 && (u32)lost > tx->expired)
		dcqcn_nscc_loss(&tx->window, lost - tx->expired);
	if (probe)
		tx->expired = 0;
	tx->newly += received - tx->received;
	tx->marked |= marked != tx->peer_marked;
	tx->received = received;
	tx->peer_marked = marked;
	tx->acked = received + tx->offset;
	over = tx->acked - tx->sent;
	if (over > 0) {
		tx->acked -= over;
		tx->offset -= over;
	}
	tx->newly = min(tx->newly, DCQCN_NSCC_BDP_MAX);
}

/* Update the credit. If the peer has granted all it knows of, and each packet up to @asked_from has
 * arrived or was lost, then only requests in later packets may still bring credit. All else that is
 * asked for was lost. A stream always has a packet in flight that asks, so it would not do to wait
 * until all of them have arrived.
 */
static void dcqcn_ccc_granted(struct dcqcn_ccc_sender *tx,
			      const struct dcqcn_feedback *said, u64 now)
{
	u32 limit = tx->acked + be32_to_cpu(said->ahead);
	u64 gap = min(now - tx->grant_time, (u64)DCQCN_CCC_TIMEOUT_TURN);

	if ((s32)(limit - tx->limit) > 0) {
		tx->grant_gap = max(gap, (u64)tx->grant_gap - tx->grant_gap / 8);
		tx->grant_time = now;
	}
	tx->limit = limit;
	if ((s32)(tx->acked - tx->asked_at) >= 0) {
		tx->asked_at = tx->acked;
		tx->asked_since = 0;
	}
	if ((s32)(tx->acked - tx->asked_from) < 0)
		return;
	tx->asked_from = tx->acked;	/* not left behind by more than 2^31 bytes */
	if (said->flags & DCQCN_FEEDBACK_OWED)
		return;
	tx->asked = limit + min(dcqcn_ccc_asked(tx), tx->asked_since);
	tx->asked_from = tx->asked_at;
	tx->asked_since = 0;
}

/* Whether feedback may be true: it reports no more bytes arrived or lost than were sent, and no
 * fewer than before, unless a later report has overtaken this one. Bytes that a timeout took for
 * lost may still arrive.
 */
static bool dcqcn_ccc_is_plausible(const struct dcqcn_ccc_sender *tx,
				   const struct dcqcn_feedback *said, bool same,
				   const struct dcqcn_probe *probe)
{
	u32 echo_received = be32_to_cpu(said->echo_received);
	u32 acked = same ? tx->received + tx->offset : tx->acked;
	s64 most = (s64)(tx->sent - acked) + DCQCN_CCC_SLACK;
	s32 more, lost = 0;

	more = be32_to_cpu(said->received) -
	       (same ? tx->received : echo_received);
	if (same && probe)
		lost = probe->sent - echo_received - tx->offset;
	return more >= 0 && more <= most && lost >= -DCQCN_CCC_SLACK &&
	       lost <= most;
}

/* A probe has arrived, and its flow may take another path. @counts: the flow's packets are counted;
 * false for an offer, whose answer says nothing of the packets that left behind it. Return the
 * flow's QP if it was held until its last packet had arrived.
 */
static struct dcqcn_qp *dcqcn_ccc_reroute(struct dcqcn_ccc *ccc,
					  const struct dcqcn_probe *probe,
					  bool marked, bool counts, u64 now)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(ccc->dev, probe->local);
	struct dcqcn_route *route;
	bool idle, held;

	route = qp ? dcqcn_ccc_route(ccc, qp) : NULL;
	if (!route)
		return NULL;
	idle = counts && route->sent == probe->sent && !route->lent;
	if (route->move == DCQCN_MOVE_NONE) {
		if (!dcqcn_entropy_echo(&route->entropy, marked, idle,
					ccc->tx.rtt, now))
			return NULL;
		route->move = DCQCN_MOVE_WANTED;
	}
	if (!idle)
		return NULL;
	held = route->move == DCQCN_MOVE_HELD;
	route->move = DCQCN_MOVE_NONE;
	dcqcn_entropy_change(&route->entropy, get_random_u32());
	ccc->tx.entropy_changes++;
	dcqcn_count(ccc->dev, DCQCN_RP_ENTROPY_CHANGES);
	trace_dcqcn_entropy_changed(qp, &route->entropy);
	return held ? qp : NULL;
}

/* Handle feedback for a context whose lock is held. Return whether it was accepted. *turned is a QP
 * that was held and goes on with another path.
 */
static bool dcqcn_ccc_hear(struct dcqcn_ccc *ccc,
			   const struct dcqcn_settings *settings,
			   const struct dcqcn_feedback *said, u64 now,
			   struct dcqcn_qp **turned)
{
	struct dcqcn_nscc_params params;
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_probe probe;
	bool late = false;
	bool echoed = dcqcn_ccc_echoed(tx, said, &probe, &late);
	bool same = tx->agreed && be32_to_cpu(said->epoch) == tx->epoch;
	bool more = !same || be32_to_cpu(said->received) != tx->received;
	u64 rtt;

	dcqcn_ccc_settle(tx, now);
	if (!same && !echoed)
		return false;
	/* bytes missing before an overtaken probe are not known to be lost */
	if (!dcqcn_ccc_is_plausible(tx, said, same,
				    echoed && !late ? &probe : NULL))
		return false;
	if (said->algorithms != settings->ccc.algorithms) {
		dcqcn_ccc_set_agreed(ccc, 0);
		return true;
	}
	tx->mbps = be32_to_cpu(said->mbps);
	if (!same)
		dcqcn_ccc_begin(ccc, settings, said, &probe, now);
	dcqcn_ccc_count(tx, said, echoed && same && !late ? &probe : NULL);
	dcqcn_ccc_granted(tx, said, now);
	/* feedback that neither reports new bytes nor lets packets leave must not postpone the
	 * timeout forever
	 */
	if (more || (dcqcn_ccc_in_window(tx) && dcqcn_ccc_has_credit(tx))) {
		tx->heard_time = now;
		tx->timeouts = 0;
	}
	tx->offer_gap = DCQCN_CCC_OFFER_MIN;
	if (!echoed)
		return true;
	rtt = now - probe.time;
	rtt -= min_t(u64, rtt, be32_to_cpu(said->echo_held));
	/* at least 1, because 0 means unknown */
	tx->rtt = min_t(u64, rtt, DCQCN_NSCC_RTT_MAX) ?: 1;
	params = dcqcn_ccc_params(ccc, settings);
	dcqcn_nscc_feedback(&tx->window, &params, tx->newly, tx->rtt, tx->marked,
			    now);
	tx->ahead = dcqcn_nscc_bdp(&tx->window, &params);
	trace_dcqcn_ccc_heard(ccc, &params, tx->newly, tx->marked);
	tx->newly = 0;
	tx->marked = false;
	if (settings->ccc.entropy)
		*turned = dcqcn_ccc_reroute(ccc, &probe, said->flags &
					    DCQCN_FEEDBACK_MARKED, same, now);
	return true;
}

/* Let waiting flows go on, one after the other */
static void dcqcn_ccc_wake(struct dcqcn_ccc *ccc)
{
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_qp *qp;
	int n;

	for (n = 0; n < DCQCN_CCC_WAKES; n++) {
		spin_lock_bh(&ccc->lock);
		qp = NULL;
		if (!tx->agreed ||
		    (dcqcn_ccc_in_window(tx) && dcqcn_ccc_in_credit(tx)))
			qp = list_first_entry_or_null(&tx->waiting,
						      struct dcqcn_qp,
						      wait_node);
		if (qp)
			list_del_init(&qp->wait_node);
		spin_unlock_bh(&ccc->lock);
		if (!qp)
			break;
		dcqcn_queue_kick(qp);
	}
}

/**
 * dcqcn_ccc_feedback() - handle a received packet of opcode 0xc1
 * @in: the packet
 *
 * Context: softirq, under RCU. Takes locks of the context and of QPs; may send.
 */
void dcqcn_ccc_feedback(const struct dcqcn_rx *in)
{
	const struct dcqcn_settings *settings = rcu_dereference(in->dev->settings);
	const struct dcqcn_pkt *pkt = &in->pkt;
	struct dcqcn_dev *dev = in->dev;
	const struct dcqcn_feedback *said;
	struct in6_addr local, peer;
	struct dcqcn_qp *turned = NULL;
	struct dcqcn_ccc *ccc;
	bool taken = false;

	if (READ_ONCE(dev->stopping) || in->skb->pkt_type != PACKET_HOST ||
	    !dcqcn_pkt_is_valid_feedback(pkt))
		goto count;
	said = (const void *)(pkt->udp + 1);
	if (said->flags & DCQCN_FEEDBACK_ANSWER) {
		taken = dcqcn_answer_hear(in, said);
		goto count;
	}
	if (!settings->ccc.algorithms)
		goto count;
	dcqcn_ip_saddr(pkt->ip, &peer);
	dcqcn_ip_daddr(pkt->ip, &local);
	ccc = dcqcn_ccc_find(dev, &local, &peer, said->prio);
	if (!ccc)
		goto count;
	spin_lock_bh(&ccc->lock);
	taken = dcqcn_ccc_hear(ccc, settings, said, ktime_get_ns(), &turned);
	/* lend bytes to flows again */
	if (taken && ccc->tx.agreed)
		dcqcn_ccc_lend(&ccc->tx);
	spin_unlock_bh(&ccc->lock);
	if (turned)
		dcqcn_queue_kick(turned);
	if (taken)
		dcqcn_ccc_wake(ccc);
count:
	dcqcn_count(dev, taken ? DCQCN_RP_FEEDBACK_HANDLED :
				 DCQCN_RP_FEEDBACK_IGNORED);
}
