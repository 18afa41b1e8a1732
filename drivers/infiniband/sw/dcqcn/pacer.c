// SPDX-License-Identifier: GPL-2.0
/*
 * The pacer: makes one flow's packets leave at the rate that its limiter says.
 *
 * A flow has a FIFO, one soft hrtimer, and the time at which its next packet
 * may leave. Sending a packet moves that time on by what the packet costs at
 * the present rate. A late timer thereby earns credit: packets leave
 * until the schedule has caught up, within DCQCN_MAX_LATE_NS. A flow that has
 * nothing to send earns no more than DCQCN_IDLE_CREDIT_NS, and one that waited
 * while rxe found out about a loss earns nothing.
 *
 * At short gaps one timer serves several packets (DCQCN_BATCH). While a start sends less
 * than its rate allows, or a context is far from its bounds, the limiter looks at only one
 * packet in several (DCQCN_UNSEEN).
 *
 * Order: while packets are held, or being sent after that, all other packets of the flow
 * queue. What is due is sent by the timer, or by the hook when it finds the timer late:
 * only one of them at a time for a flow, and without the lock. BH stays disabled
 * meanwhile: a preempted sender would stall its flow.
 *
 * Requests and READ responses have a FIFO each and take turns, byte for byte:
 * a request must not wait for megabytes of responses while rxe's timer runs.
 *
 * Back-pressure is rxe's own: it stops a requester that has more than 64
 * unfreed packets, and held packets are unfreed. READ responses do not obey
 * that limit, nor do the ACKs that must not overtake them: they are dropped
 * beyond a bound on memory. A request that is held too long is sent at once, as
 * are those for which a port with many QPs has no memory.
 *
 * rxe's retransmission timer runs meanwhile, and each ACK restarts it. So a slow flow asks for
 * more ACKs than rxe does, and the gap between two requests has a bound: at 67 ms, perftest's
 * ack timeout, a flow may have 1 Mb/s. If rxe goes back to the same packet twice nevertheless,
 * the QP may be being destroyed: rxe waits until no packet is left, and repeats its requests
 * meanwhile. The worker asks the core, which forgets such a QP at once in newer kernels, and drops
 * what is held. Until then, and in older kernels, no more are held than leave before rxe goes back
 * again.
 *
 * What ends the wait of what is held, whatever rxe or the peer does:
 *
 *   a request             its turn at the rate, after half of the ack timeout at the latest; and
 *                         after DCQCN_HOLD_NS also behind many others
 *   a READ response, or   its turn at the rate, which is 1 Mb/s at least; there is a bound on
 *   an ACK behind one     the memory that they take
 *   rxe is stuck          rxe sends something new, beyond what it may have in flight, or goes
 *                         back to another packet: dcqcn_flow_is_stuck()
 *   a closed window       feedback or a timeout (window.c), or dcqcn_flow_is_overdue()
 *   an ACK for rxe's      another packet asks after a quarter of the ack timeout; what cannot
 *   timer                 ask is answered anyway
 *   an ACK in a start     see dcqcn_flow_asks()
 *
 * A flow whose peer has agreed on a context (ccc.c) obeys the context instead: its packets
 * leave at the line rate while window and credit last, and those that are held leave when
 * feedback comes. If that takes too long for rxe's timer, one leaves, and asks for an ACK.
 *
 * Locking: a flow belongs to struct dcqcn_qp and is protected by its lock.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/netdevice.h>
#include <linux/time64.h>
#include <net/dst.h>
#include <net/ip.h>

#include "ccc.h"
#include "device.h"
#include "limiter.h"
#include "pacer.h"
#include "qp.h"
#include "trace.h"
#include "tx.h"

/* Credit for lateness. Hypervisors take a CPU away for milliseconds. */
#define DCQCN_MAX_LATE_NS	(20 * NSEC_PER_MSEC)

/* Credit of a flow that had nothing to send: enough for the producer to be
 * scheduled a little late, too little for a burst that fills a switch
 */
#define DCQCN_IDLE_CREDIT_NS	(4 * NSEC_PER_MSEC)
#define DCQCN_IDLE_CREDIT_GAPS	16

/* Requests that may pass unseen after one that the limiter has seen, if all of them are due
 * by then. They are charged when it sees the next one, to a flow that by then has credit
 * for DCQCN_IDLE_CREDIT_GAPS packets at most: twice this, and the seen one, must fit.
 */
#define DCQCN_UNSEEN		((DCQCN_IDLE_CREDIT_GAPS - 1) / 2)

/* Packets that share a timer, unless that would delay one by more than
 * DCQCN_BATCH_NS
 */
#define DCQCN_BATCH		8
#define DCQCN_BATCH_NS		(10 * NSEC_PER_USEC)

/* Packets sent per turn, so that one flow cannot keep a CPU in softirq */
#define DCQCN_BUDGET		64

/* How long a request may be held at a low rate. 65 of 4 KB, all that rxe makes, take 2.2 s at
 * the lowest one, 1 Mb/s, and twice that beside READ responses.
 */
#define DCQCN_HOLD_NS		(5ULL * NSEC_PER_SEC)

DEFINE_STATIC_KEY_FALSE(dcqcn_hasty_rxe);

/* ns; how long a packet may be held, however slow its flow is */
static __always_inline u64 dcqcn_flow_longest_hold(void)
{
	return static_branch_unlikely(&dcqcn_hasty_rxe) ? DCQCN_HASTY_HOLD_NS :
							   DCQCN_HOLD_NS;
}

/* Packets that rxe has sent, and got no ACK for, before it stops */
#define DCQCN_RXE_UNACKED	128

/* Bytes of memory (skb->truesize) that the READ responses and ACKs of a flow may take: some 770
 * for the shortest response, 8.5 KB for one of 4 KB
 */
#define DCQCN_HELD_FLOW_MAX	(8 * 1024 * 1024)

/* Bytes of memory that the packets of a port may take, but for what CPUs count for themselves
 * (DCQCN_HELD_BATCH each), before each flow is left only its share.
 * Requests: all that rxe makes for 480 QPs at 4 KB, or 1800 at 1 KB.
 */
static const u32 dcqcn_held_dev_max[DCQCN_NUM_FIFOS] = {
	[DCQCN_REQUESTS] = 256 * 1024 * 1024,
	[DCQCN_RESPONSES] = 64 * 1024 * 1024,
};

/* One packet's bits in units of 10^-9 bit: 2^16 bytes * 8 * 10^9 < 2^49 */
#define DCQCN_COST_PER_BYTE	(8ULL * NSEC_PER_SEC)

/* In skb->cb of a held packet, after what the IP layer keeps there */
struct dcqcn_held {
	union {
		struct inet_skb_parm h4;
		struct inet6_skb_parm h6;
	} ip;
	u64 since;
	u32 psn;
	u32 bytes;
	u8 kind;
	bool ack_req;
};

static struct dcqcn_held *dcqcn_held(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct dcqcn_held) > sizeof(skb->cb));
	return (struct dcqcn_held *)skb->cb;
}

/* ns; the longest gap between two requests: half of the ack timeout, if there is one. 2^31 *
 * 4096 ns fits u64 easily.
 */
static u64 dcqcn_flow_longest_gap(const struct dcqcn_qp *qp)
{
	return qp->ack_timeout ? DCQCN_ACK_TIMEOUT_NS / 2 << qp->ack_timeout :
				 DCQCN_HOLD_NS;
}

/* ns; the longest gap that what is held allows, 0 for any. Held READ responses get half of the
 * bytes.
 */
static u64 dcqcn_flow_bound(const struct dcqcn_qp *qp)
{
	const struct dcqcn_flow *flow = &qp->flow;

	if (skb_queue_empty(&flow->fifo[DCQCN_REQUESTS].queue))
		return 0;
	return dcqcn_flow_longest_gap(qp) >>
	       !skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue);
}

/* Whether a gap in ns may be above dcqcn_flow_bound(), which is at least a quarter of the ack
 * timeout
 */
static __always_inline bool dcqcn_flow_may_exceed(const struct dcqcn_qp *qp,
						  s64 gap)
{
	return gap >> qp->ack_timeout >= (s64)(DCQCN_ACK_TIMEOUT_NS / 4);
}

/* Return @gap, or the longest one that what is held allows. Out of line like
 * dcqcn_flow_hasten() to keep the fast path small.
 */
static noinline u64 dcqcn_flow_shorten(const struct dcqcn_qp *qp, u64 gap)
{
	u64 bound = dcqcn_flow_bound(qp);

	return bound ? min(gap, bound) : gap;
}

/* A request was queued: the rate is that of the last packet, which may have been longer. Return
 * true if what is held is due earlier than before.
 */
static noinline bool dcqcn_flow_hasten(struct dcqcn_qp *qp, u64 now)
{
	u64 latest = now + dcqcn_flow_bound(qp);

	if (qp->flow.next <= latest)
		return false;
	qp->flow.next = latest;
	return true;
}

/* Charge a packet that leaves now */
static __always_inline void dcqcn_flow_charge(struct dcqcn_qp *qp,
					      struct dcqcn_terms terms,
					      u32 bytes, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 rate = dcqcn_limiter_rate(qp, terms, now, bytes), gap;

	flow->stat.paced_packets++;
	flow->stat.paced_bytes += bytes;
	if (unlikely(!rate || flow->burst)) {
		bool within = flow->burst > bytes;

		flow->burst -= min(flow->burst, bytes);
		if (!rate || within) {
			flow->next = now;
			return;
		}
	}
	gap = div64_u64_rem(bytes * DCQCN_COST_PER_BYTE + flow->remainder, rate,
			    &flow->remainder);
	if (unlikely(dcqcn_flow_may_exceed(qp, gap)))
		gap = dcqcn_flow_shorten(qp, gap);
	flow->next += gap;
	flow->gap = gap;
}

/* Take away the credit that a flow may not have after it had nothing to send */
static __always_inline void dcqcn_flow_forgive(struct dcqcn_flow *flow, u64 now)
{
	u64 credit = min_t(u64, (u64)DCQCN_IDLE_CREDIT_GAPS * flow->gap,
			   DCQCN_IDLE_CREDIT_NS);

	flow->next = max(flow->next + credit, now) - credit;
}

/* Charge the requests that have passed unseen, as if all of them had just left, and allow no
 * more. Each costs as much as the seen one before them, and has the same length.
 */
static noinline void dcqcn_flow_settle(struct dcqcn_flow *flow, u64 now)
{
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];
	u8 passed = READ_ONCE(fifo->passed);
	u32 n = (u8)(passed - fifo->charged);

	fifo->charged = passed;
	WRITE_ONCE(fifo->allowed, passed);
	if (!n)
		return;
	dcqcn_flow_forgive(flow, now);
	flow->next += (u64)n * flow->gap;
	dcqcn_rate_sent(&flow->rate, n * flow->unseen, now);
	flow->stat.paced_packets += n;
	flow->stat.paced_bytes += n * flow->unseen;
	if (flow->path)
		flow->path->sent += n * flow->unseen;
}

/* After a request has passed, in a start or with an open window: let others pass unseen, if
 * all of them are due
 */
static noinline void dcqcn_flow_allow(struct dcqcn_qp *qp, u32 bytes, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];

	/* PSNs of other types are not compared */
	if (qp->type != IB_QPT_RC || flow->burst || flow->released ||
	    flow->next + (u64)DCQCN_UNSEEN * flow->gap > now)
		return;
	flow->unseen = bytes;
	WRITE_ONCE(fifo->allowed, fifo->charged + DCQCN_UNSEEN);
}

/* Make a packet ask for an ACK. Return false if that is impossible. */
static bool dcqcn_flow_ask(struct sk_buff *skb)
{
	return !skb_cloned(skb) && !skb_is_nonlinear(skb) &&
	       dcqcn_pkt_ask(skb_network_header(skb), skb->len);
}

/* Decide whether a packet of a start is a probe, and make it ask for an ACK then. rxe itself
 * asks only with every 66th packet and the last one of a message: a start would take many
 * round trips.
 *
 * A start that waits, for its first round trip or for its next step, goes on by time when the
 * next probe cannot ask, such as a READ, or when no ACK has come for DCQCN_PROBE_NS. path.c says
 * what else ends the wait.
 */
static noinline bool dcqcn_flow_asks(struct dcqcn_qp *qp, struct sk_buff *skb,
				     bool ack_req, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_terms terms;

	if (flow->burst || dcqcn_path_awaits(flow->path, now) ||
	    !dcqcn_rate_wants_sample(&flow->rate, now))
		return false;
	if (flow->path->probe_time)
		dcqcn_path_restart(flow->path);
	else if (ack_req || dcqcn_flow_ask(skb))
		return true;
	terms = dcqcn_limiter_terms(qp);
	dcqcn_rate_go_blind(&flow->rate, &terms.settings->rp, terms.line);
	/* it was charged at the rate of a flow that waits for a sample */
	flow->next = min(flow->next, now);
	return false;
}

/*
 * Whether a quarter of the ack timeout has passed since a request asked for an ACK. rxe asks with
 * the last packet of a message, and with every 66th. Each ACK restarts its retransmission timer.
 */
static __always_inline bool dcqcn_flow_is_silent(const struct dcqcn_qp *qp,
						 u64 now)
{
	u32 elapsed = dcqcn_flow_clock(now) - qp->flow.asked;

	return (u64)elapsed << 11 >= dcqcn_flow_longest_gap(qp);
}

/* A request that should ask for an ACK leaves. Return false if it cannot ask. */
static noinline bool dcqcn_flow_asks_peer(struct dcqcn_flow *flow,
					  struct sk_buff *skb, bool ack_req,
					  u64 now)
{
	flow->asked = dcqcn_flow_clock(now);
	return ack_req || dcqcn_flow_ask(skb);
}

/* A packet leaves on a path that is measured. Out of line to keep the fast path of
 * other flows small.
 */
static noinline void dcqcn_flow_measure(struct dcqcn_qp *qp,
					struct sk_buff *skb, u32 psn, u32 bytes,
					bool ack_req, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	flow->rate.packet = max(flow->rate.packet, bytes);
	dcqcn_path_age(flow->path, now);
	if (flow->rate.starting && flow->rate.measured)
		ack_req = dcqcn_flow_asks(qp, skb, ack_req, now);
	dcqcn_path_sent(flow->path, psn, bytes, ack_req, now);
}

/* A packet of a QP that may have a context leaves. Return true if it was counted there.
 * Out of line like all that concerns contexts, to keep the fast path of others small.
 */
static noinline bool dcqcn_flow_count(struct dcqcn_qp *qp, struct sk_buff *skb,
				      enum dcqcn_pkt_kind kind, u32 psn,
				      u32 bytes, u64 now)
{
	bool data = kind != DCQCN_PKT_ACK, lent = false;

	if (!rcu_access_pointer(qp->ccc))
		return false;
	if (data && qp->windowed)
		lent = dcqcn_ccc_sent(qp, skb, psn, bytes, qp->flow.held_bytes,
				      now);
	else if (data)
		dcqcn_ccc_offer(qp, skb, now);
	dcqcn_ccc_steer(qp, skb);
	/* none may overtake those that were held */
	if (lent && kind == DCQCN_PKT_REQUEST && !qp->flow.draining)
		dcqcn_flow_allow(qp, bytes, now);
	return data && qp->windowed;
}

/* Where packets leave the limiter */
static __always_inline void dcqcn_flow_leaves(struct dcqcn_qp *qp,
					      struct sk_buff *skb,
					      enum dcqcn_pkt_kind kind, u32 psn,
					      u32 bytes, bool ack_req, u64 now)
{
	if (qp->ack_timeout && kind == DCQCN_PKT_REQUEST &&
	    (ack_req || dcqcn_flow_is_silent(qp, now)))
		ack_req = dcqcn_flow_asks_peer(&qp->flow, skb, ack_req, now);
	if (static_branch_unlikely(&dcqcn_cccs) &&
	    dcqcn_flow_count(qp, skb, kind, psn, bytes, now))
		return;
	if (qp->flow.path)
		dcqcn_flow_measure(qp, skb, psn, bytes, ack_req, now);
}

/* Whether the context lets a packet leave. @fresh: it is not held. If it may not leave, the
 * flow waits for dcqcn_pacer_kick(), or for a timeout, and looks often enough for
 * dcqcn_flow_is_overdue().
 */
static noinline bool dcqcn_flow_in_window(struct dcqcn_qp *qp, bool fresh, u64 now)
{
	u64 until = dcqcn_ccc_may_send(qp, fresh, now);

	if (!until)
		return true;
	qp->flow.next = min(until, now + min(dcqcn_flow_longest_gap(qp),
					     dcqcn_flow_longest_hold()) / 2);
	return false;
}

static __always_inline bool dcqcn_flow_is_due(struct dcqcn_qp *qp, bool fresh,
					      u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->released)
		return true;
	return flow->next <= now &&
	       (!dcqcn_qp_is_windowed(qp) ||
		dcqcn_flow_in_window(qp, fresh, now));
}

/* When the timer must fire */
static u64 dcqcn_flow_wake(const struct dcqcn_flow *flow)
{
	if (flow->released)
		return 0;
	if (flow->gap >= DCQCN_BATCH_NS)
		return flow->next;
	return flow->next +
	       min_t(u64, (u64)(DCQCN_BATCH - 1) * flow->gap, DCQCN_BATCH_NS);
}

/* Start the timer, when something is held and no CPU is sending. @late: it must be started
 * anew, because what is held is due earlier than when it was started.
 */
static void dcqcn_flow_arm(struct dcqcn_flow *flow, bool late)
{
	if (!hrtimer_is_queued(&flow->timer) || flow->released || late)
		hrtimer_start(&flow->timer, ns_to_ktime(dcqcn_flow_wake(flow)),
			      HRTIMER_MODE_ABS_SOFT);
}

/* Whether the timer was started while the flow's context was full, and is too late now. The flow
 * may have left the context since.
 */
static noinline bool dcqcn_flow_overslept(const struct dcqcn_qp *qp)
{
	return (u64)ktime_to_ns(hrtimer_get_expires(&qp->flow.timer)) >
	       dcqcn_flow_wake(&qp->flow);
}

/* Which FIFO takes a kind of packet */
static inline enum dcqcn_fifo_kind dcqcn_fifo_of(enum dcqcn_pkt_kind kind)
{
	return kind == DCQCN_PKT_REQUEST ? DCQCN_REQUESTS : DCQCN_RESPONSES;
}

/* Count the memory of a packet that is held from now on, or no longer */
static inline void dcqcn_flow_account(struct dcqcn_qp *qp,
				      enum dcqcn_fifo_kind kind, int memory)
{
	qp->flow.held_memory[kind] += memory;
	dcqcn_dev_hold(qp->dev, kind, memory);
}

static inline void dcqcn_flow_take(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	struct dcqcn_held *held = dcqcn_held(skb);
	enum dcqcn_fifo_kind kind = dcqcn_fifo_of(held->kind);

	__skb_unlink(skb, &qp->flow.fifo[kind].queue);
	qp->flow.held_bytes -= held->bytes;
	dcqcn_flow_account(qp, kind, -(int)skb->truesize);
}

/* Whether a flow holds more of a kind than its share, which keeps QPs of one user from using up
 * the memory of another's
 */
static noinline bool dcqcn_flow_exceeds_share(const struct dcqcn_qp *qp,
					      enum dcqcn_fifo_kind kind)
{
	return qp->flow.held_memory[kind] >
	       dcqcn_held_dev_max[kind] /
	       (u32)atomic_read(&qp->dev->pacing.num_limited);
}

/* Whether a port holds as much of a kind as it may, counting @memory bytes that come, and this flow
 * more than its share
 */
static __always_inline bool dcqcn_flow_is_crowded(const struct dcqcn_qp *qp,
						  enum dcqcn_fifo_kind kind,
						  u32 memory)
{
	return unlikely(atomic_long_read(&qp->dev->pacing.held_memory[kind]) + memory >
			dcqcn_held_dev_max[kind]) &&
	       dcqcn_flow_exceeds_share(qp, kind);
}

/* Whether a packet is held that may soon have no QP, where rxe does not wait */
static __always_inline bool dcqcn_flow_is_unsafe(struct sk_buff *skb, u64 now)
{
	return static_branch_unlikely(&dcqcn_hasty_rxe) && skb &&
	       now - dcqcn_held(skb)->since >= DCQCN_HASTY_HOLD_NS;
}

/* Whether a request has been held for so long that it leaves before it is due. Behind a closed
 * window, rxe's timer must not fire: one leaves, and asks, when a flow has asked for no ACK for
 * half of the ack timeout. If rxe goes back again and again, all that is held for so long leave.
 */
static bool dcqcn_flow_is_overdue(const struct dcqcn_qp *qp,
				  struct sk_buff *request, u64 now)
{
	u64 waited = now - dcqcn_held(request)->since, asked;

	if (!dcqcn_qp_is_windowed(qp) || dcqcn_flow_is_unsafe(request, now))
		return waited >= dcqcn_flow_longest_hold();
	asked = (u64)(dcqcn_flow_clock(now) - qp->flow.asked) << 10;
	if (qp->ack_timeout && !qp->flow.stuck)
		waited = min(waited, asked);
	return waited >= min(dcqcn_flow_longest_gap(qp),
			     dcqcn_flow_longest_hold());
}

/* Return the packet that leaves next, or NULL if none must leave yet */
static struct sk_buff *dcqcn_flow_next(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *request, *response;

	request = skb_peek(&flow->fifo[DCQCN_REQUESTS].queue);
	response = skb_peek(&flow->fifo[DCQCN_RESPONSES].queue);
	if (!dcqcn_flow_is_due(qp, false, now)) {
		if (dcqcn_flow_is_unsafe(response, now)) {
			flow->stat.expired++;
			dcqcn_count(qp->dev, DCQCN_RP_EXPIRED);
			return response;
		}
		if (!request ||
		    (!dcqcn_flow_is_overdue(qp, request, now) &&
		     !dcqcn_flow_is_crowded(qp, DCQCN_REQUESTS, 0)))
			return NULL;
		flow->stat.expired++;
		dcqcn_count(qp->dev, DCQCN_RP_EXPIRED);
		return request;
	}
	if (!request || !response) {
		flow->turn = 0;
		return request ?: response;
	}
	if (flow->turn > 0) {
		flow->turn -= dcqcn_held(response)->bytes;
		return response;
	}
	flow->turn += dcqcn_held(request)->bytes;
	return request;
}

/* Let a flow obey its context, or DCQCN again */
static noinline void dcqcn_flow_turn(struct dcqcn_qp *qp,
				     const struct dcqcn_settings *settings,
				     bool windowed)
{
	u64 now = ktime_get_ns();

	dcqcn_flow_settle(&qp->flow, now);
	dcqcn_limiter_turn(qp, settings, windowed, now);
}

/* Called before packets are sent: the context may have become ready, or have ended */
static noinline void dcqcn_flow_follow(struct dcqcn_qp *qp)
{
	const struct dcqcn_settings *settings;
	bool ready;

	if (!rcu_access_pointer(qp->ccc) && !qp->windowed)
		return;
	settings = rcu_dereference_bh(qp->dev->settings);
	ready = dcqcn_ccc_is_ready(qp, settings) && !READ_ONCE(qp->dev->stopping);
	if (unlikely(ready != qp->windowed ||
		     (ready && (!qp->limited || qp->flow.released))))
		dcqcn_flow_turn(qp, settings, ready);
}

/*
 * Send what is due. Called with the lock held and BH disabled; drops the lock while sending.
 * Return true if packets are left, for which the timer must run.
 */
static bool dcqcn_flow_drain(struct dcqcn_qp *qp)
	__must_hold(&qp->lock)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_terms terms;
	struct sk_buff_head due;
	struct sk_buff *skb;
	u64 now;

	if (flow->draining)
		return false;
	flow->draining = true;
	__skb_queue_head_init(&due);

	if (static_branch_unlikely(&dcqcn_cccs))
		dcqcn_flow_follow(qp);
	terms = dcqcn_limiter_terms(qp);
	now = ktime_get_ns();
	flow->next = max(flow->next + DCQCN_MAX_LATE_NS, now) -
		     DCQCN_MAX_LATE_NS;
	while (skb_queue_len(&due) < DCQCN_BUDGET &&
	       (skb = dcqcn_flow_next(qp, now))) {
		struct dcqcn_held *held = dcqcn_held(skb);

		dcqcn_flow_take(qp, skb);
		dcqcn_flow_charge(qp, terms, held->bytes, now);
		dcqcn_flow_leaves(qp, skb, held->kind, held->psn, held->bytes,
				  held->ack_req, now);
		trace_dcqcn_packet_released(qp, held->psn, held->bytes,
					    now - held->since);
		if (held->kind != DCQCN_PKT_REQUEST)
			flow->sending_responses = true;
		__skb_queue_tail(&due, skb);
	}
	dcqcn_count_add(qp->dev, DCQCN_RP_RELEASED, skb_queue_len(&due));

	spin_unlock(&qp->lock);
	while ((skb = __skb_dequeue(&due)))
		dcqcn_pacer_send(skb);
	spin_lock(&qp->lock);

	flow->draining = false;
	flow->sending_responses = false;
	if (dcqcn_flow_held(flow))
		return true;
	dcqcn_limiter_end(qp);
	return false;
}

static enum hrtimer_restart dcqcn_flow_timer(struct hrtimer *timer)
{
	struct dcqcn_qp *qp = container_of(timer, struct dcqcn_qp, flow.timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;

	spin_lock(&qp->lock);	/* BH is off already */
	/* This is cheaper than starting it again. Another CPU may have started it since
	 * it fired, and the expiry of a queued timer must not be set.
	 */
	if (dcqcn_flow_drain(qp) && !hrtimer_is_queued(timer)) {
		hrtimer_set_expires(timer,
				    ns_to_ktime(dcqcn_flow_wake(&qp->flow)));
		restart = HRTIMER_RESTART;
	}
	spin_unlock(&qp->lock);
	return restart;
}

/* Whether PSN @a is @b or follows it, modulo 2^24 */
static bool dcqcn_psn_reaches(u32 a, u32 b)
{
	return !((a - b) & 0x800000);
}

/*
 * rxe has gone back to @psn, and sends everything from there on again, including ACKs behind
 * READ responses. Take what this FIFO holds of that, and return it as a list.
 */
static struct sk_buff *dcqcn_flow_take_stale(struct dcqcn_qp *qp,
					     struct dcqcn_fifo *fifo, u32 psn)
{
	struct sk_buff *skb, *next, *stale = NULL;

	skb_queue_walk_safe(&fifo->queue, skb, next) {
		if (!dcqcn_psn_reaches(dcqcn_held(skb)->psn, psn))
			continue;
		dcqcn_flow_take(qp, skb);
		qp->flow.stat.drop_stale++;
		dcqcn_count(qp->dev, DCQCN_RP_DROP_STALE);
		skb->next = stale;
		stale = skb;
	}
	return stale;
}

/*
 * Handle a packet of a limited flow that does not follow the last one of its FIFO: the first
 * one, or one that was sent before. Return held packets that are stale now, as a list.
 *
 * Where the path is measured, the first packet that is sent again asks for an ACK. Until an
 * ACK comes, rxe ignores further NAKs: a second loss before the end of the message would
 * cost the ack timeout, and all that rxe may send meanwhile.
 */
static noinline struct sk_buff *
dcqcn_flow_go_back(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo,
		   struct dcqcn_tx *tx, u64 now)
{
	bool first = !fifo->seen;

	dcqcn_limiter_resume(qp, fifo->seen, now);
	fifo->seen = true;
	/* PSNs of packets from before the limiter's birth are unknown */
	if (first)
		return NULL;
	if (qp->flow.path && dcqcn_flow_ask(tx->skb))
		tx->ack_req = true;
	if (fifo == &qp->flow.fifo[DCQCN_REQUESTS]) {
		qp->flow.stuck = tx->psn == qp->flow.back_psn;
		qp->flow.back_psn = tx->psn;
		if (qp->flow.stuck && qp->state == DCQCN_QP_LIVE)
			dcqcn_qp_ask(qp);
	}
	return dcqcn_flow_take_stale(qp, fifo, tx->psn);
}

/* Compare a packet of a limited flow with the one before it. Return held packets that are
 * stale now, as a list.
 */
static struct sk_buff *dcqcn_flow_find_stale(struct dcqcn_qp *qp,
					     struct dcqcn_fifo *fifo,
					     struct dcqcn_tx *tx, u64 now)
{
	struct sk_buff *stale = NULL;

	if (qp->type != IB_QPT_RC || tx->kind == DCQCN_PKT_ACK)
		return NULL;
	if (unlikely(!fifo->seen || dcqcn_psn_reaches(fifo->last_psn, tx->psn)))
		stale = dcqcn_flow_go_back(qp, fifo, tx, now);
	fifo->last_psn = tx->psn;
	return stale;
}

/* Queue a packet. Return true if held packets are due earlier than before. */
static bool dcqcn_flow_hold(struct dcqcn_qp *qp, struct dcqcn_fifo *fifo,
			    const struct dcqcn_tx *tx, u64 now)
{
	struct dcqcn_held *held = dcqcn_held(tx->skb);
	struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *skb = tx->skb;

	held->since = now;
	held->psn = tx->psn;
	held->bytes = tx->bytes;
	held->kind = tx->kind;
	held->ack_req = tx->ack_req;
	/* @skb may be on a VLAN, or another upper device of the port, to which it has no
	 * reference. Some versions of rxe look at it when they free the packet. The port keeps
	 * its own device, and the IP layer sets the packet's again from its route.
	 */
	skb->dev = qp->dev->ndev;
	__skb_queue_tail(&fifo->queue, skb);
	flow->held_bytes += tx->bytes;
	dcqcn_flow_account(qp, dcqcn_fifo_of(tx->kind), skb->truesize);
	flow->stat.max_packets = max(flow->stat.max_packets,
				     dcqcn_flow_held(flow));
	flow->stat.max_bytes = max(flow->stat.max_bytes, flow->held_bytes);
	dcqcn_count(qp->dev, DCQCN_RP_HELD);
	trace_dcqcn_packet_held(qp, tx->psn, tx->bytes);
	return tx->kind == DCQCN_PKT_REQUEST &&
	       unlikely(dcqcn_flow_may_exceed(qp, flow->next - now)) &&
	       dcqcn_flow_hasten(qp, now);
}

/* Whether a packet may leave at once. After a pause, the flow has no more than the credit of
 * an idle one.
 */
static bool dcqcn_flow_may_pass(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->draining || dcqcn_flow_held(flow))
		return false;
	dcqcn_flow_forgive(flow, now);
	return dcqcn_flow_is_due(qp, true, now);
}

/* Whether rxe would send a request again before it has left. The ACKs of a QP that is being
 * destroyed still come, so only @psn tells that rxe goes on.
 */
static bool dcqcn_flow_is_stuck(struct dcqcn_qp *qp, u32 psn)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 before = skb_queue_len(&flow->fifo[DCQCN_REQUESTS].queue);

	if (((psn - flow->back_psn) & DCQCN_QPN_MASK) > DCQCN_RXE_UNACKED)
		flow->stuck = false;
	return flow->stuck && before * flow->gap >= dcqcn_flow_longest_gap(qp);
}

/* Whether a READ response or an ACK of @memory bytes would exceed a bound */
static bool dcqcn_flow_is_full(const struct dcqcn_qp *qp, u32 memory)
{
	return qp->flow.held_memory[DCQCN_RESPONSES] + memory >
	       DCQCN_HELD_FLOW_MAX ||
	       dcqcn_flow_is_crowded(qp, DCQCN_RESPONSES, memory);
}

/* Whether a packet need not queue: an ACK that can overtake neither a READ response nor an
 * ACK, which may be an atomic operation's, or a UD packet of a priority without a limit
 */
static bool dcqcn_flow_spares(const struct dcqcn_qp *qp,
			      const struct dcqcn_tx *tx)
{
	const struct dcqcn_flow *flow = &qp->flow;

	if (tx->kind == DCQCN_PKT_ACK)
		return !flow->sending_responses &&
		       skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue);
	return !tx->limit && qp->type == IB_QPT_UD;
}

/* A packet comes of a flow that may obey a context. If it does not queue, it leaves on the
 * flow's path.
 *
 * A context takes the ACK of an atomic operation for a READ response: it counts it, and changes
 * the flow's path only when it has arrived. The requester would take one that is overtaken for
 * lost.
 */
static noinline void dcqcn_flow_enter(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	dcqcn_flow_follow(qp);
	if (qp->windowed && tx->bth->opcode == DCQCN_OPCODE_ATOMIC_ACK)
		tx->kind = DCQCN_PKT_RESPONSE;
	if (!qp->limited || dcqcn_flow_spares(qp, tx))
		dcqcn_ccc_steer(qp, tx->skb);
}

/**
 * dcqcn_pacer_output() - a packet of a QP that may be limited leaves rxe
 * @qp: its QP
 * @tx: the packet
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock. May
 * send packets.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_pacer_output(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	struct sk_buff *skb = tx->skb, *drop = NULL;
	struct dcqcn_flow *flow = &qp->flow;
	unsigned int verdict = NF_ACCEPT;
	bool pass = false, earlier;
	struct dcqcn_fifo *fifo;
	u64 now;

	spin_lock_bh(&qp->lock);
	if (static_branch_unlikely(&dcqcn_cccs))
		dcqcn_flow_enter(qp, tx);
	if (!qp->limited || dcqcn_flow_spares(qp, tx))
		goto unlock;
	now = ktime_get_ns();	/* with the lock, so that it never goes back */

	verdict = NF_STOLEN;
	if (flow->rate.starting || dcqcn_qp_is_windowed(qp))
		dcqcn_flow_settle(flow, now);
	fifo = &flow->fifo[dcqcn_fifo_of(tx->kind)];
	drop = dcqcn_flow_find_stale(qp, fifo, tx, now);
	if (!tx->limit)
		flow->released = true;
	pass = dcqcn_flow_may_pass(qp, now);
	if (pass) {
		dcqcn_flow_charge(qp, dcqcn_limiter_terms(qp), tx->bytes,
				  now);
		dcqcn_flow_leaves(qp, skb, tx->kind, tx->psn, tx->bytes,
				  tx->ack_req, now);
		dcqcn_count(qp->dev, DCQCN_RP_PASSED);
		if (flow->rate.starting && tx->kind == DCQCN_PKT_REQUEST)
			dcqcn_flow_allow(qp, tx->bytes, now);
		if (unlikely(flow->released))
			dcqcn_limiter_end(qp);
		goto unlock;
	}

	if (tx->kind == DCQCN_PKT_REQUEST ?
	    unlikely(flow->stuck) && dcqcn_flow_is_stuck(qp, tx->psn) :
	    dcqcn_flow_is_full(qp, skb->truesize)) {
		flow->stat.drop_bound++;
		dcqcn_count(qp->dev, DCQCN_RP_DROP_BOUND);
		skb->next = drop;
		drop = skb;
		goto unlock;
	}
	earlier = dcqcn_flow_hold(qp, fifo, tx, now);
	/* If the timer is late, or a request has no memory, send in its place. If it
	 * waits for a batch, leave that to it.
	 */
	if (!flow->draining &&
	    ((now < dcqcn_flow_wake(flow) &&
	      !dcqcn_flow_is_crowded(qp, DCQCN_REQUESTS, 0)) ||
	     dcqcn_flow_drain(qp)))
		dcqcn_flow_arm(flow, earlier ||
			       (static_branch_unlikely(&dcqcn_cccs) &&
				dcqcn_flow_overslept(qp)));
unlock:
	spin_unlock_bh(&qp->lock);
	if (pass)
		dcqcn_pacer_send(skb);
	if (unlikely(drop))
		kfree_skb_list(drop);
	return verdict;
}

/**
 * dcqcn_pacer_floor() - the least rate that held requests allow
 * @qp: the flow's QP
 *
 * Context: @qp->lock is held. Return: bit/s for requests as long as the first, 0 for any.
 */
u64 dcqcn_pacer_floor(const struct dcqcn_qp *qp)
{
	struct sk_buff *skb = skb_peek(&qp->flow.fifo[DCQCN_REQUESTS].queue);

	return skb ? div64_u64(dcqcn_held(skb)->bytes * DCQCN_COST_PER_BYTE,
			       dcqcn_flow_bound(qp)) : 0;
}

/**
 * dcqcn_pacer_ack() - an ACK came for a flow
 * @qp: its QP
 * @psn: PSN of the ACK
 *
 * Context: softirq, under RCU; @qp->lock is held.
 */
void dcqcn_pacer_ack(struct dcqcn_qp *qp, u32 psn)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_path *path = flow->path;
	u64 now = ktime_get_ns(), left;
	enum dcqcn_learnt learnt;
	u32 least;

	if (!qp->limited || !path || dcqcn_qp_is_windowed(qp))
		return;
	left = path->probe_time;
	least = path->rtt_min;
	learnt = dcqcn_path_acked(path, psn, now);
	if (learnt == DCQCN_LEARNT_NOTHING)
		return;
	dcqcn_flow_settle(flow, now);
	if (!dcqcn_limiter_learn(qp, learnt, left, least, now))
		return;
	flow->next = min(flow->next, now);
	if (dcqcn_flow_held(flow) && !flow->draining)
		dcqcn_flow_arm(flow, true);
}

/**
 * dcqcn_pacer_cnp() - a CNP came for a flow
 * @qp: its QP
 * @settings: the port's
 * @now: ns
 *
 * Context: softirq, or process with BH off; @qp->lock is held.
 */
void dcqcn_pacer_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
		     u64 now)
{
	dcqcn_flow_settle(&qp->flow, now);
	dcqcn_limiter_cnp(qp, settings, now);
}

/**
 * dcqcn_pacer_kick() - let a flow go on that waited for its context
 * @qp: its QP
 *
 * Context: softirq, under RCU. Takes @qp->lock; may send.
 */
void dcqcn_pacer_kick(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;

	spin_lock_bh(&qp->lock);
	/* also if another CPU is sending: it looks at this when it has sent */
	flow->next = min(flow->next, ktime_get_ns());
	if (dcqcn_flow_held(flow) && dcqcn_flow_drain(qp))
		dcqcn_flow_arm(flow, true);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_pacer_advance() - let time pass for a flow
 * @qp: its QP
 * @now: ns, read under the lock
 *
 * Context: @qp->lock is held.
 */
void dcqcn_pacer_advance(struct dcqcn_qp *qp, u64 now)
{
	if (!qp->limited)
		return;
	dcqcn_flow_settle(&qp->flow, now);
	dcqcn_limiter_advance(qp, now);
}

/**
 * dcqcn_pacer_release() - take the limit off and send what is held, in order
 * @qp: its QP
 *
 * Packets that rxe sends meanwhile queue behind these.
 *
 * Context: process or softirq. Takes @qp->lock; sends.
 */
void dcqcn_pacer_release(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;

	spin_lock_bh(&qp->lock);
	flow->released = true;
	if (dcqcn_flow_drain(qp))
		dcqcn_flow_arm(flow, false);
	dcqcn_limiter_end(qp);
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_pacer_reset() - end a flow at once
 * @qp: its QP
 * @dropped: receives what was held, for the caller to free without the lock
 *
 * The timer may still fire. It then finds nothing to do.
 *
 * Context: @qp->lock is held.
 */
void dcqcn_pacer_reset(struct dcqcn_qp *qp, struct sk_buff_head *dropped)
{
	struct dcqcn_flow *flow = &qp->flow;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < DCQCN_NUM_FIFOS; i++) {
		while ((skb = skb_peek(&flow->fifo[i].queue))) {
			dcqcn_flow_take(qp, skb);
			flow->stat.drop_dead++;
			dcqcn_count(qp->dev, DCQCN_RP_DROP_DEAD);
			__skb_queue_tail(dropped, skb);
		}
	}
	flow->released = true;
	dcqcn_limiter_end(qp);
}

/**
 * dcqcn_pacer_flush() - drop what a flow holds and end it
 * @qp: its QP
 *
 * Context: process or softirq. Takes @qp->lock.
 */
void dcqcn_pacer_flush(struct dcqcn_qp *qp)
{
	struct sk_buff_head dropped;

	__skb_queue_head_init(&dropped);
	spin_lock_bh(&qp->lock);
	dcqcn_pacer_reset(qp, &dropped);
	spin_unlock_bh(&qp->lock);
	__skb_queue_purge(&dropped);
}

/**
 * dcqcn_pacer_init() - set up a flow that is not limited
 * @flow: zeroed
 */
void dcqcn_pacer_init(struct dcqcn_flow *flow)
{
	int i;

	for (i = 0; i < DCQCN_NUM_FIFOS; i++)
		__skb_queue_head_init(&flow->fifo[i].queue);
	hrtimer_setup(&flow->timer, dcqcn_flow_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}
