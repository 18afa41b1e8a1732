// SPDX-License-Identifier: GPL-2.0
/*
 * The queue: holds one flow's packets until the gate (gate.c) lets them leave.
 *
 * A flow has two FIFOs and one soft hrtimer. At short gaps one timer serves several packets
 * (DCQCN_BATCH).
 *
 * Order: while packets are held, or held ones are being sent, all other packets of the flow
 * queue. What is due is sent by the timer, or by the hook when it finds the timer late:
 * only one of them at a time for a flow, and without the lock. BH stays disabled
 * meanwhile: a preempted sender would stall its flow.
 *
 * Requests and READ responses have a FIFO each and take turns, byte for byte:
 * a request must not wait for megabytes of responses while rxe's timer runs.
 *
 * Back-pressure is rxe's own: it stops a requester whose QP has more than 64
 * unfreed packets, and held requests are unfreed. READ responses do not obey
 * that limit, nor do the ACKs that must not overtake them: rxe does not count
 * them while they are held, and they are dropped beyond a bound on memory. A
 * request that is held too long is sent at once, as are those for which a port
 * with many QPs has no memory.
 *
 * What ends the wait of a held packet, whatever rxe or the peer does:
 *
 *   a request             its turn at the rate, after half of the ack timeout at the latest; and
 *                         after DCQCN_HOLD_NS also behind many others
 *   a READ response, or   its turn at the rate, which is 1 Mb/s at least; there is a bound on
 *   an ACK behind one     the memory that they take
 *   rxe is stuck          rxe sends something new, beyond what it may have in flight, or goes
 *                         back to another packet: dcqcn_req_is_stuck()
 *   a closed window       feedback or a timeout (window.c), or dcqcn_req_patience()
 *   an ACK for rxe's      another packet requests one after a quarter of the ack timeout; what
 *   timer                 cannot request one is answered anyway
 *   an ACK in a start     see dcqcn_gate_probes()
 *
 * Locking: a flow belongs to struct dcqcn_qp and is protected by its lock.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <net/sock.h>

#include "cc.h"
#include "ccc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "qp.h"
#include "queue.h"
#include "requester.h"
#include "trace.h"
#include "tx.h"

/* Packets that share a timer, unless that would delay one by more than
 * DCQCN_BATCH_NS
 */
#define DCQCN_BATCH		8
#define DCQCN_BATCH_NS		(10 * NSEC_PER_USEC)

/* Packets sent at a time, so that one flow cannot keep a CPU in softirq */
#define DCQCN_BUDGET		64

/* Bytes of memory (skb->truesize) that the READ responses and ACKs of a flow may take: some 770
 * for the shortest response, 8.5 KB for one of 4 KB
 */
#define DCQCN_HELD_FLOW_MAX	(8 * 1024 * 1024)

/* Bytes of memory that the packets of a port may take before each flow is left only its share. CPUs
 * count up to DCQCN_HELD_BATCH for themselves on top of this. Requests: all that rxe makes for 480
 * QPs at 4 KB, or 1800 at 1 KB.
 */
static const u32 dcqcn_held_dev_max[DCQCN_NUM_FIFOS] = {
	[DCQCN_REQUESTS] = 256 * 1024 * 1024,
	[DCQCN_RESPONSES] = 64 * 1024 * 1024,
};

/* How long packets that are due may wait for others that share their timer */
static u32 dcqcn_queue_batch(const struct dcqcn_flow *flow)
{
	return flow->gap >= DCQCN_BATCH_NS ? 0 :
	       min_t(u32, (DCQCN_BATCH - 1) * flow->gap, DCQCN_BATCH_NS);
}

/* When the timer must fire */
static u64 dcqcn_queue_wake(const struct dcqcn_flow *flow)
{
	return flow->released ? 0 : flow->next + dcqcn_queue_batch(flow);
}

/* A packet is held, and no CPU is sending: let the timer fire at @wake, in ns, or earlier if it was
 * already set to. A timer that is set for later is brought forward, because packets may have become
 * due sooner, as when a window opens.
 */
static __always_inline void dcqcn_queue_arm(struct dcqcn_qp *qp, u64 wake)
{
	struct hrtimer *timer = &qp->flow.timer;

	if (!hrtimer_is_queued(timer) ||
	    ktime_to_ns(hrtimer_get_expires(timer)) > (s64)wake)
		hrtimer_start(timer, ns_to_ktime(wake), HRTIMER_MODE_ABS_SOFT);
}

/* Add to the memory of held packets, or subtract from it */
static inline void dcqcn_queue_account(struct dcqcn_qp *qp,
				       enum dcqcn_fifo_kind kind, int memory)
{
	qp->flow.held_memory[kind] += memory;
	dcqcn_dev_hold(qp->dev, kind, memory);
}

static __always_inline void dcqcn_queue_take(struct dcqcn_qp *qp,
					     unsigned int kind,
					    struct sk_buff *skb)
{
	__skb_unlink(skb, &qp->flow.fifo[kind].queue);
	qp->flow.held_bytes -= dcqcn_tx_of(skb)->packet.bytes;
	dcqcn_queue_account(qp, kind, -(int)skb->truesize);
}

/* Whether a flow holds more of a kind than its share, which keeps QPs of one user from using up
 * the memory of another's
 */
static noinline bool dcqcn_queue_exceeds_share(const struct dcqcn_qp *qp,
					       enum dcqcn_fifo_kind kind)
{
	return qp->flow.held_memory[kind] >
	       dcqcn_held_dev_max[kind] /
	       (u32)atomic_read(&qp->dev->pacing.num_limited);
}

/* Whether a port would exceed its bound on a kind of packets with @memory more bytes, and this flow
 * exceeds its share
 */
static __always_inline bool dcqcn_queue_is_crowded(const struct dcqcn_qp *qp,
						   enum dcqcn_fifo_kind kind,
						  u32 memory)
{
	/* what the port holds may be below 0 by batches of CPUs, and a long may have 32 bits */
	return unlikely(dcqcn_dev_held(qp->dev, kind) + (long)memory >
			(long)dcqcn_held_dev_max[kind]) &&
	       dcqcn_queue_exceeds_share(qp, kind);
}

/* The packet whose turn it is: requests and READ responses get half of the bytes each, unless a
 * request must request an ACK: beside short responses, its turn may be many gaps away.
 */
static __always_inline struct sk_buff *dcqcn_queue_turn(struct dcqcn_qp *qp, u64 now)
{
	struct sk_buff *request, *response;
	struct dcqcn_flow *flow = &qp->flow;

	request = skb_peek(&flow->fifo[DCQCN_REQUESTS].queue);
	if (likely(skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue))) {
		flow->lead = 0;
		return request;
	}
	response = skb_peek(&flow->fifo[DCQCN_RESPONSES].queue);
	if (!request) {
		flow->lead = 0;
		return response;
	}
	if (flow->lead > 0 && !dcqcn_req_is_urgent(qp, now)) {
		flow->lead -= dcqcn_tx_of(response)->packet.bytes;
		return response;
	}
	/* responses may never catch up with requests that leave out of turn */
	flow->lead = min(flow->lead, 0) + (s32)dcqcn_tx_of(request)->packet.bytes;
	return request;
}

/* Return a packet that leaves before it is due, or NULL. If many leave at once because all of them
 * were held for too long, the flow pays for only one of them: otherwise the packets that it still
 * holds would wait for seconds, and READ responses have no other bound. If they leave for want of
 * memory, which may last, READ responses have their turn, and the flow pays for all, so that its
 * rate holds when there is room again.
 */
static struct sk_buff *dcqcn_queue_next_early(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *skb = skb_peek(&flow->fifo[DCQCN_RESPONSES].queue);
	bool late;

	/* it has waited for READ responses, which have left, and a window does not count it */
	if (skb && dcqcn_qp_is_windowed(qp) && dcqcn_tx_of(skb)->packet.kind == DCQCN_PKT_ACK)
		return skb;
	/* an algorithm's window bounds requests: an ACK behind responses may open the peer's */
	if (skb && dcqcn_qp_has_algorithm(qp) && qp->cc->due <= now) {
		flow->next = max(qp->cc->due, dcqcn_tx_of(skb)->since);
		dcqcn_gate_limit_credit(flow, DCQCN_MAX_LATE_NS, now);
		return skb;
	}
	skb = skb_peek(&flow->fifo[DCQCN_REQUESTS].queue);
	if (!skb)
		return NULL;
	late = dcqcn_gate_is_overdue(qp, skb, now);
	if (!late && !dcqcn_queue_is_crowded(qp, DCQCN_REQUESTS, 0))
		return NULL;
	if (!late)
		skb = dcqcn_queue_turn(qp, now);
	if (late)
		flow->next = min(flow->next, now);
	else if (dcqcn_qp_has_algorithm(qp))	/* behind its window, @next is its next look */
		flow->next = max(qp->cc->due, now);
	flow->stat.expired++;
	dcqcn_count(qp->dev, DCQCN_RP_EXPIRED);
	return skb;
}

/* Return the packet that leaves now, or NULL if none is due */
static __always_inline struct sk_buff *dcqcn_queue_next(struct dcqcn_qp *qp, u64 now)
{
	if (!dcqcn_gate_opens(qp, DCQCN_PKT_OTHER, now))
		return dcqcn_queue_next_early(qp, now);
	return dcqcn_queue_turn(qp, now);
}

/*
 * Send what is due. Called with the lock held and BH disabled; drops the lock while sending.
 * Return when the timer must fire for the packets that are left, in ns, or 0 if there are none.
 */
static u64 dcqcn_queue_drain(struct dcqcn_qp *qp)
	__must_hold(&qp->lock)
{
	struct sk_buff *skb, *due = NULL, *last = NULL;
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_terms terms;
	unsigned int n = 0;
	u64 now;

	if (flow->draining)
		return 0;
	flow->draining = true;
	dcqcn_flow_note_most(flow);
	if (unlikely(rcu_access_pointer(qp->ccc)))
		dcqcn_gate_follow(qp);
	terms = dcqcn_limiter_terms(qp);
	now = ktime_get_ns();
	dcqcn_gate_limit_credit(flow, DCQCN_MAX_LATE_NS, now);
	for (; n < DCQCN_BUDGET && (skb = dcqcn_queue_next(qp, now)); n++) {
		const struct dcqcn_tx *tx = dcqcn_tx_of(skb);
		enum dcqcn_fifo_kind kind = dcqcn_fifo_of(tx->packet.kind);

		dcqcn_queue_take(qp, kind, skb);
		dcqcn_gate_charge(qp, terms, skb, now);
		trace_dcqcn_packet_released(qp, tx->packet.psn, tx->packet.bytes,
					    now - tx->since);
		if (kind == DCQCN_RESPONSES)
			flow->sending_responses = true;
		if (last)
			last->next = skb;
		else
			due = skb;
		last = skb;
	}
	dcqcn_count_add(qp->dev, DCQCN_RP_RELEASED, n);
	dcqcn_dev_held(qp->dev, DCQCN_REQUESTS);
	if (flow->sending_responses)
		dcqcn_dev_held(qp->dev, DCQCN_RESPONSES);

	spin_unlock(&qp->lock);
	while (due) {
		skb = due;
		due = skb->next;
		skb_mark_not_on_list(skb);
		dcqcn_queue_send(skb);
	}
	spin_lock(&qp->lock);

	flow->draining = false;
	flow->sending_responses = false;
	if (!dcqcn_flow_held(flow)) {
		dcqcn_limiter_end(qp);
		return 0;
	}
	/* not in the past: hrtimers would fire again before any other softirq runs */
	if (unlikely(n == DCQCN_BUDGET || flow->released))
		return max(dcqcn_queue_wake(flow), ktime_get_ns());
	return dcqcn_queue_wake(flow);
}

/* Send what is due, and set the timer for the rest. Called like dcqcn_queue_drain(). */
static void dcqcn_queue_run(struct dcqcn_qp *qp)
	__must_hold(&qp->lock)
{
	u64 wake = dcqcn_queue_drain(qp);

	if (wake)
		dcqcn_queue_arm(qp, wake);
}

static enum hrtimer_restart dcqcn_queue_timer(struct hrtimer *timer)
{
	struct dcqcn_qp *qp = container_of(timer, struct dcqcn_qp, flow.timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	u64 wake;

	spin_lock(&qp->lock);	/* BH is off already */
	/* HRTIMER_RESTART is cheaper than hrtimer_start(). Another CPU may have started the timer
	 * since it fired, and the expiry of a queued timer must not be set. An ACK that came while
	 * packets were being sent may have made it too late.
	 */
	wake = dcqcn_queue_drain(qp);
	if (wake) {
		if (hrtimer_is_queued(timer)) {
			dcqcn_queue_arm(qp, wake);
		} else {
			hrtimer_set_expires(timer, ns_to_ktime(wake));
			restart = HRTIMER_RESTART;
		}
	}
	spin_unlock(&qp->lock);
	return restart;
}

static void dcqcn_queue_count_stale(struct dcqcn_qp *qp)
{
	qp->flow.stat.drop_stale++;
	dcqcn_count(qp->dev, DCQCN_RP_DROP_STALE);
}

/*
 * rxe has gone back to @psn, and sends everything from there on again, including ACKs behind READ
 * responses. Or what is held is of the QP's last connection. Take these packets out of the FIFO,
 * and return them as a list. An ACK of a lower PSN behind READ responses is a duplicate's, and goes
 * with them: within those that are sent again, it would end the peer's READ without its data.
 */
static noinline struct sk_buff *
dcqcn_queue_take_stale(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo, enum dcqcn_stale stale,
		       u32 psn)
{
	struct sk_buff *skb, *next, *taken = NULL;
	const struct dcqcn_packet *packet;

	dcqcn_flow_note_most(&qp->flow);
	skb_queue_walk_safe(&fifo->queue, skb, next) {
		packet = &dcqcn_tx_of(skb)->packet;
		if (stale == DCQCN_STALE_FROM && !dcqcn_psn_reaches(packet->psn, psn) &&
		    !(taken && packet->opcode == DCQCN_OPCODE_ACK))
			continue;
		if (stale == DCQCN_STALE_FROM && packet->opcode == DCQCN_OPCODE_ATOMIC_ACK)
			qp->atomic_psn = packet->psn;
		dcqcn_queue_take(qp, fifo - qp->flow.fifo, skb);
		dcqcn_queue_count_stale(qp);
		skb->next = taken;
		taken = skb;
	}
	dcqcn_dev_held(qp->dev, fifo - qp->flow.fifo);
	return taken;
}

/* rxe makes no requests while too many packets of their QP are not freed. It makes any number of
 * READ responses, and would make no request as long as they are held. So let rxe take this packet
 * for freed. It keeps its socket, which chooses the transmit queue as for packets that pass.
 */
static void dcqcn_queue_adopt(struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	sock_hold(sk);
	skb_orphan(skb);
	skb->sk = sk;
	skb->destructor = sock_efree;
}

/* Queue a packet */
static __always_inline void dcqcn_queue_hold(struct dcqcn_qp *qp,
					     enum dcqcn_fifo_kind kind,
					    struct sk_buff *skb, u64 now)
{
	struct dcqcn_tx *tx = dcqcn_tx_of(skb);
	struct dcqcn_flow *flow = &qp->flow;

	tx->since = now;
	/* @skb->dev may be a VLAN, or another upper device of the port, without a reference.
	 * Some versions of rxe look at it when they free the packet. So set it to the port's own
	 * device, to which the port has a reference. The IP layer sets it again from the route.
	 */
	skb->dev = qp->dev->ndev;
	__skb_queue_tail(&flow->fifo[kind].queue, skb);
	flow->held_bytes += tx->packet.bytes;
	dcqcn_queue_account(qp, kind, skb->truesize);
	dcqcn_count(qp->dev, DCQCN_RP_HELD);
	trace_dcqcn_packet_held(qp, tx->packet.psn, tx->packet.bytes);
	if (kind == DCQCN_REQUESTS) {
		if (unlikely(dcqcn_req_may_exceed(qp, flow->next - now)))
			dcqcn_gate_hasten(qp, now);
		return;
	}
	dcqcn_queue_adopt(skb);
	/* @next may be the next look at a closed window, which does not bound this packet */
	if (unlikely(dcqcn_qp_has_algorithm(qp)))
		flow->next = min(flow->next, max(qp->cc->due, now));
}

/* Whether a READ response or an ACK of @memory bytes would exceed a bound */
static bool dcqcn_queue_is_full(const struct dcqcn_qp *qp, u32 memory)
{
	return qp->flow.held_memory[DCQCN_RESPONSES] + memory >
	       DCQCN_HELD_FLOW_MAX ||
	       dcqcn_queue_is_crowded(qp, DCQCN_RESPONSES, memory);
}

/* Whether a packet need not queue: an ACK that can overtake neither a READ response nor an
 * ACK, which may be an atomic operation's, or a UD packet of a priority without a limit
 */
static bool dcqcn_queue_spares(const struct dcqcn_qp *qp,
			       const struct dcqcn_tx *tx)
{
	const struct dcqcn_flow *flow = &qp->flow;

	if (tx->packet.kind == DCQCN_PKT_ACK)
		return !flow->sending_responses &&
		       skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue);
	return !tx->limit && qp->type == IB_QPT_UD;
}

/**
 * dcqcn_queue_output() - a packet of a QP that may be limited leaves rxe
 * @qp: its QP
 * @tx: the packet
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock. May
 * send packets.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_queue_output(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	struct sk_buff *skb = dcqcn_tx_skb(tx), *drop = NULL;
	struct dcqcn_flow *flow = &qp->flow;
	unsigned int verdict = NF_ACCEPT;
	enum dcqcn_fifo_kind kind;
	struct dcqcn_fifo *fifo;
	enum dcqcn_stale stale;
	bool pass = false;
	u64 now, wake;

	spin_lock_bh(&qp->lock);
	if (unlikely(rcu_access_pointer(qp->ccc)))
		dcqcn_gate_enter(qp, tx);
	if (tx->packet.kind != DCQCN_PKT_REQUEST &&
	    unlikely(qp->atomic_psn != DCQCN_PSN_NONE) && dcqcn_req_precedes_atomic(qp, tx)) {
		verdict = NF_STOLEN;
		dcqcn_count(qp->dev, DCQCN_RP_HELD);
		dcqcn_queue_count_stale(qp);
		drop = skb;
		goto unlock;
	}
	if (!qp->limited || dcqcn_queue_spares(qp, tx)) {
		if (unlikely(rcu_access_pointer(qp->ccc)))
			dcqcn_ccc_steer(qp, skb);
		goto unlock;
	}
	now = ktime_get_ns();	/* with the lock, so that it never goes back */

	verdict = NF_STOLEN;
	kind = dcqcn_fifo_of(tx->packet.kind);
	fifo = &flow->fifo[kind];
	stale = dcqcn_gate_arrive(qp, fifo, tx, now);
	if (unlikely(stale != DCQCN_STALE_NONE))
		drop = dcqcn_queue_take_stale(qp, fifo, stale, tx->packet.psn);
	pass = dcqcn_gate_pass(qp, tx, now);
	if (pass)
		goto unlock;

	if (kind == DCQCN_REQUESTS ?
	    unlikely(flow->stuck) && dcqcn_req_is_stuck(qp, tx->packet.psn) :
	    dcqcn_queue_is_full(qp, skb->truesize)) {
		flow->stat.drop_bound++;
		dcqcn_count(qp->dev, DCQCN_RP_DROP_BOUND);
		if (tx->packet.opcode == DCQCN_OPCODE_ATOMIC_ACK)
			qp->atomic_psn = tx->packet.psn;
		skb->next = drop;
		drop = skb;
		goto unlock;
	}
	dcqcn_queue_hold(qp, kind, skb, now);
	if (flow->draining)
		goto unlock;
	/* If the timer is late, or requests take too much memory, send in place of the timer. If
	 * it waits for a batch, leave the packet to it.
	 */
	wake = dcqcn_queue_wake(flow);
	if (now >= wake || dcqcn_queue_is_crowded(qp, DCQCN_REQUESTS, 0))
		dcqcn_queue_run(qp);
	else
		dcqcn_queue_arm(qp, wake);
unlock:
	spin_unlock_bh(&qp->lock);
	if (pass)
		dcqcn_queue_send(skb);
	if (unlikely(drop))
		kfree_skb_list(drop);
	return verdict;
}

/* An ACK of @psn, or the answer, has come for a flow that may wait for it */
static void dcqcn_flow_heard(struct dcqcn_qp *qp, u32 psn, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_path *path = flow->path;
	u64 left = dcqcn_path_left(path, psn);
	enum dcqcn_learnt learnt;
	u32 least = path->rtt_min;

	learnt = dcqcn_path_acked(path, psn, now);
	if (learnt == DCQCN_LEARNT_NOTHING)
		return;
	dcqcn_gate_settle(flow, now);
	if (!dcqcn_limiter_learn(qp, learnt, left, least, now))
		return;
	flow->next = min(flow->next, now);
	if (dcqcn_flow_held(flow) && !flow->draining)
		dcqcn_queue_arm(qp, dcqcn_queue_wake(flow));
}

/**
 * dcqcn_queue_acked() - an ACK came for a flow
 * @qp: its QP
 * @psn: PSN of the ACK
 * @hops: routers that it has passed, 0 for unknown
 *
 * Context: softirq, under RCU; @qp->lock is held.
 */
void dcqcn_queue_acked(struct dcqcn_qp *qp, u32 psn, u8 hops)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 now = ktime_get_ns();

	if (!qp->limited || !flow->path)
		return;
	if (!dcqcn_qp_has_algorithm(qp)) {
		if (!flow->path->asked)
			dcqcn_flow_heard(qp, psn, now);
		return;
	}
	if (!dcqcn_cc_acked(qp, psn, hops, now))
		return;
	flow->next = min(flow->next, now);
	if (dcqcn_flow_held(flow))
		dcqcn_queue_run(qp);
}

/**
 * dcqcn_queue_answered() - the peer's module has answered a flow
 * @qp: its QP
 * @psn: PSN of the packet that asked, as the answer says
 * @held: ns; how long the peer held the packet, as the answer says
 *
 * Context: softirq, under RCU; @qp->lock is held. Return: whether that packet was the flow's probe.
 */
bool dcqcn_queue_answered(struct dcqcn_qp *qp, u32 psn, u32 held)
{
	struct dcqcn_path *path = qp->flow.path;
	u64 now = ktime_get_ns();

	if (!qp->limited || !path || !path->asked ||
	    !path->probe_time || path->probe_psn != psn)
		return false;
	path->answered = true;
	path->probe_time += min((u64)held, now - path->probe_time);
	dcqcn_flow_heard(qp, psn, now);
	return true;
}

/**
 * dcqcn_queue_kick() - let a flow go on that waited for its context
 * @qp: its QP
 *
 * Context: softirq, under RCU. Takes @qp->lock; may send.
 */
void dcqcn_queue_kick(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;
	u32 batch;

	spin_lock_bh(&qp->lock);
	/* What would share a timer may leave at once, though not before its turn at the rate: see
	 * dcqcn_ccc_may_send(). All flows of a port together may burst like one. If another CPU is
	 * sending, it looks at this when it has sent.
	 */
	batch = dcqcn_queue_batch(flow) / max(atomic_read(&qp->dev->pacing.num_limited), 1);
	flow->next = min(flow->next, ktime_get_ns() - batch);
	if (dcqcn_flow_held(flow))
		dcqcn_queue_run(qp);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_queue_hasten() - let held packets leave earlier, if they may
 * @qp: the flow's QP. Its ack timeout has become known or has changed, or it obeys no algorithm any
 *	more.
 *
 * Context: @qp->lock is held, with BH disabled.
 */
void dcqcn_queue_hasten(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->draining || !dcqcn_flow_held(flow))
		return;
	if (!skb_queue_empty(&flow->fifo[DCQCN_REQUESTS].queue))
		dcqcn_gate_hasten(qp, ktime_get_ns());
	dcqcn_queue_arm(qp, dcqcn_queue_wake(flow));
}

/**
 * dcqcn_queue_cnp() - a CNP came for a flow
 * @qp: its QP
 * @settings: the port's
 * @now: ns, read under the lock
 *
 * Context: softirq, or process with BH off; under RCU; @qp->lock is held.
 */
void dcqcn_queue_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *settings, u64 now)
{
	u64 next;

	dcqcn_gate_settle(&qp->flow, now);
	next = qp->flow.next;
	dcqcn_limiter_cnp(qp, settings, now);
	/* an algorithm may have raised the rate, or set its timer */
	if (qp->flow.next < next)
		dcqcn_queue_hasten(qp);
}

/**
 * dcqcn_queue_advance() - let time pass for a flow
 * @qp: its QP
 * @now: ns, read under the lock
 *
 * Context: under RCU; @qp->lock is held, with BH disabled.
 */
void dcqcn_queue_advance(struct dcqcn_qp *qp, u64 now)
{
	u64 next;

	if (!qp->limited)
		return;
	dcqcn_gate_settle(&qp->flow, now);
	next = qp->flow.next;
	dcqcn_limiter_advance(qp, now);
	/* the flow obeys something else now, and its timer is still set for the old rule */
	if (qp->flow.next < next)
		dcqcn_queue_hasten(qp);
}

/**
 * dcqcn_queue_release() - take the limit off and send what is held, in order
 * @qp: its QP
 *
 * Packets that rxe sends meanwhile queue behind these.
 *
 * Context: process or softirq. Takes @qp->lock; sends.
 */
void dcqcn_queue_release(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;

	spin_lock_bh(&qp->lock);
	flow->released = true;
	dcqcn_queue_run(qp);
	dcqcn_limiter_end(qp);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_queue_reset() - end a flow at once, and forget its path
 * @qp: its QP
 * @dropped: receives what was held, for the caller to free without the lock
 *
 * The timer may still fire. It then finds nothing to do.
 *
 * Context: @qp->lock is held.
 */
void dcqcn_queue_reset(struct dcqcn_qp *qp, struct sk_buff_head *dropped)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *skb;
	int i;

	dcqcn_flow_note_most(flow);
	for (i = 0; i < DCQCN_NUM_FIFOS; i++) {
		while ((skb = skb_peek(&flow->fifo[i].queue))) {
			dcqcn_queue_take(qp, i, skb);
			flow->stat.drop_dead++;
			dcqcn_count(qp->dev, DCQCN_RP_DROP_DEAD);
			__skb_queue_tail(dropped, skb);
		}
		dcqcn_dev_held(qp->dev, i);
	}
	flow->released = true;
	qp->atomic_psn = DCQCN_PSN_NONE;
	dcqcn_limiter_end(qp);
	/* the QP's next connection may be to another peer */
	if (flow->path) {
		memset(flow->path, 0, sizeof(*flow->path));
		dcqcn_path_forget(flow->path);
	}
}

/**
 * dcqcn_queue_flush() - drop what a flow holds and end it
 * @qp: its QP
 *
 * Context: process or softirq. Takes @qp->lock.
 */
void dcqcn_queue_flush(struct dcqcn_qp *qp)
{
	struct sk_buff_head dropped;

	__skb_queue_head_init(&dropped);
	spin_lock_bh(&qp->lock);
	dcqcn_queue_reset(qp, &dropped);
	spin_unlock_bh(&qp->lock);
	__skb_queue_purge(&dropped);
}

/**
 * dcqcn_queue_init() - set up a flow that is not limited
 * @flow: zeroed
 */
void dcqcn_queue_init(struct dcqcn_flow *flow)
{
	int i;

	for (i = 0; i < DCQCN_NUM_FIFOS; i++)
		__skb_queue_head_init(&flow->fifo[i].queue);
	hrtimer_setup(&flow->timer, dcqcn_queue_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}
