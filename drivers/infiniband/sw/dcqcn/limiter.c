// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter decides when a flow's limit begins and ends, and which rate it has in between.
 *
 * A limit begins with a flow's start, its first CNP, or when it obeys a context (ccc.c) or an
 * algorithm (cc.c). rate.c computes the rate, from what path.c has learnt of the flow's ACKs. The
 * limit ends when the rate is back at the line rate and nothing is held. The pacer asks for the
 * rate with each packet (limiter.h), so no timer runs for it.
 *
 *   state     event                                action                           next
 *   --------  -----------------------------------  -------------------------------  --------
 *   free      data: it begins, or begins again     a burst; start.c has the rest    starting
 *             after a pause, with start_burst set
 *             the same, and it knows its share     a burst; its share (path.c)      paced
 *             CNP                                  cut, from the line rate          paced
 *             data, its context is agreed on       limit at the line rate           windowed
 *             data, the port has an algorithm      limit at the algorithm's rate    plugged
 *   starting  start.c ends the start at a rate     go on from there                 paced
 *             or at the line rate                  -                                closing
 *             CNP, or rxe goes back: a loss        cut                              paced
 *
 *   paced     CNP; T has passed                    cut; increase                    paced
 *             the rate is back at the line         -                                closing
 *             rxe goes back                        the rate at which it last sent   paced
 *
 *   windowed  its context ends                     a start without a burst          starting
 *             no data for a second                 -                                closing
 *
 *   plugged   the port has no algorithm any more   a start without a burst          starting
 *             no data for a second                 -                                closing
 *
 *   closing   nothing is held, and no loss may     end the limit                    free
 *             be about to show
 *             CNP                                  cut, from the line rate          paced
 *             rxe goes back                        the rate at which it last sent   paced
 *
 *   starting, a message after a pause              as if it were free               starting
 *   paced,    its context is agreed on             limit at the line rate           windowed
 *   closing   the port chooses an algorithm        limit at the algorithm's rate    plugged
 *             the QP or the port goes away         drop or send what is held        free
 *
 * These fields hold the state: !dcqcn_qp.limited for free, dcqcn_rate.start for starting,
 * dcqcn_qp.obeys for windowed and plugged, dcqcn_flow.released for closing. Each state ends at the
 * latest as follows. starting: after 64 idle round trips and the time of 4 packets. paced: the rate
 * of an idle flow rises too, when the janitor (resolve.c) looks at it. windowed, plugged: after a
 * second without data. closing: by the bounds on what is held (queue.c), and two ack timeouts; or
 * with the QP, if the peer never asks again for an atomic operation whose ACK was dropped.
 *
 * All of it belongs to struct dcqcn_flow, and is protected by the QP's lock.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "cc.h"
#include "device.h"
#include "limiter.h"
#include "netlink.h"
#include "qp.h"
#include "start.h"
#include "trace.h"

/* A flow goes on as before a pause, with the same alpha, unless its burst met a queue longer than
 * this many round trips. Such a queue may have no room for the packets that follow, and the first
 * cut of a start is deeper.
 */
#define DCQCN_REJOIN_RTTS	8

/* A flow that obeys a context or an algorithm loses its limiter after this long without data */
#define DCQCN_SILENT_JIFFIES	HZ

bool dcqcn_any_limited __read_mostly;

/* Limited flows of all ports */
static atomic_t dcqcn_num_limited;

/* Report to tracers and netlink listeners what has changed the rate from @old_rate. @done:
 * DCQCN_RATE_*
 */
void dcqcn_limiter_tell(struct dcqcn_qp *qp, const struct dcqcn_rp_params *p,
			unsigned int done, u64 old_rate)
{
	unsigned int by = done & (DCQCN_RATE_TIMER | DCQCN_RATE_BYTES);

	if (by)
		trace_dcqcn_rate_increase(qp, old_rate, by,
					  dcqcn_rate_phase(&qp->flow.rate, p));
	if (done & DCQCN_RATE_CUT) {
		trace_dcqcn_rate_cut(qp, old_rate);
		dcqcn_netlink_rate(qp, RDMA_DCQCN_RATE_EVENT_CUT, old_rate);
	}
}

/* The line rate of a flow whose path is measured. @line: the line rate if the path was not
 * measured. The result is above the lowest rate, because a flow loses its limiter when its rate
 * reaches the line rate.
 */
u64 dcqcn_limiter_measured_line(const struct dcqcn_qp *qp,
				const struct dcqcn_settings *settings, u64 line)
{
	u64 most, least;

	if (settings->rp.rpg_time_reset || settings->rp.rpg_max_rate)
		return line;
	/* a start that waits for an ACK may be faster than the port says, and goes up no further */
	if (qp->flow.rate.start == DCQCN_START_ASKS)
		return max(line, 2 * qp->flow.rate.current_rate);
	most = 2 * dcqcn_path_most(qp->flow.path);
	/* a flow that has never kept the path busy keeps its rate */
	if (!most && qp->flow.path->idled)
		return max(line, qp->flow.rate.current_rate);
	/* a share is known first, then the round trip, and a sample later what gets through */
	if (!most)
		return qp->flow.path->rtt ? DCQCN_RATE_MAX :
					    max(line, 2000ULL * qp->flow.path->share);
	/* a start raises its rate beyond what was measured so far */
	if (qp->flow.rate.start)
		return max(2 * most, line);
	least = max(2 * dcqcn_rate_floor(&settings->rp), DCQCN_BPS_PER_MBPS);
	return min(max(most, least), DCQCN_RATE_MAX);
}

/* Whether other flows to the peer of a QP have measured their path */
static bool dcqcn_limiter_look(const struct dcqcn_qp *qp, u64 now,
			       struct dcqcn_peer *peer)
{
	return qp->type != IB_QPT_UD &&
	       dcqcn_peer_look(&qp->dev->peers, &qp->peer, now, peer);
}

/* ns; the flow's own round trip or, while that is unknown, that of another flow to the same peer.
 * @holds: bytes; assumed capacity of the path if neither is known
 */
static u32 dcqcn_limiter_rtt(const struct dcqcn_qp *qp,
			     const struct dcqcn_settings *settings, u32 holds,
			     u64 now)
{
	const struct dcqcn_path *path = qp->flow.path;
	u32 rtt = path ? path->rtt : 0;
	struct dcqcn_peer peer;

	if (!rtt && dcqcn_limiter_look(qp, now, &peer))
		rtt = peer.rtt;
	return rtt ?: dcqcn_path_unknown_rtt(dcqcn_dev_line(qp->dev, settings),
					     holds);
}

/* Let other flows know the round trip, if it has changed by more than an eighth, or was last
 * published long ago
 */
static void dcqcn_limiter_publish(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_path *path = qp->flow.path;

	if (now - path->published_time < NSEC_PER_SEC / 10 &&
	    path->rtt - path->published_rtt + path->published_rtt / 8 <=
	    path->published_rtt / 4)
		return;
	path->published_rtt = path->rtt;
	path->published_time = now;
	dcqcn_peer_learn(&qp->dev->peers, &qp->peer, &(struct dcqcn_peer) {
			 .rtt = path->rtt,
			 .burst = path->marked || path->lost ? 0 : path->burst,
			 .answers = path->answered }, now);
}

/* bit/s; what got through lately, 0 for unknown */
static u64 dcqcn_limiter_known(const struct dcqcn_flow *flow)
{
	return flow->path ? dcqcn_path_most(flow->path) : 0;
}

/* Measure a flow's path from now on, if there is memory for that */
static void dcqcn_limiter_measure(struct dcqcn_flow *flow)
{
	struct dcqcn_path *path;

	path = kzalloc(sizeof(*path), GFP_ATOMIC | __GFP_NOWARN);
	if (path)
		dcqcn_path_forget(path);
	smp_store_release(&flow->path, path);	/* lockless readers find it empty */
}

/**
 * dcqcn_limiter_begin() - begin to limit a flow that has no limit or was released
 * @qp: its QP; its rate is set
 * @settings: the port's
 * @now: ns
 *
 * Context: any; @qp->lock is held.
 */
void dcqcn_limiter_begin(struct dcqcn_qp *qp,
			 const struct dcqcn_settings *settings, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	int i;

	/* a limit that goes on, under another rule, knows when an ACK was requested last */
	if (!qp->limited || flow->released)
		flow->ack_req_time = dcqcn_flow_clock(now);
	flow->released = false;
	flow->next = now;
	flow->remainder = 0;
	flow->gap = 0;
	for (i = 0; i < DCQCN_NUM_FIFOS; i++) {
		flow->fifo[i].begun = false;
		flow->fifo[i].charged = READ_ONCE(flow->fifo[i].skipped);
		WRITE_ONCE(flow->fifo[i].allowed, flow->fifo[i].charged);
	}
	flow->stuck = false;
	flow->back_psn = DCQCN_PSN_NONE;
	flow->burst = 0;
	if (flow->path) {
		dcqcn_path_restart(flow->path);
		/* the QP may have been reconnected */
		flow->path->told_time = 0;
		flow->path->again = false;
	} else if (!settings->rp.rpg_time_reset || settings->rp.start_burst) {
		dcqcn_limiter_measure(flow);
	}
	if (qp->limited)
		return;
	atomic_inc(&qp->dev->pacing.num_limited);
	atomic_inc(&dcqcn_num_limited);
	smp_mb__after_atomic();	/* pairs with smp_mb() in dcqcn_limiter_rest() */
	if (!READ_ONCE(dcqcn_any_limited))
		WRITE_ONCE(dcqcn_any_limited, true);
	WRITE_ONCE(qp->limited, true);
	trace_dcqcn_flow_born(qp);
}

/* Let a flow obey the algorithm that was chosen for it, if there is one. @acks: its packets may ask
 * for ACKs. Return false if there is none, if it needs ACKs and gets none, or if there is no
 * memory.
 */
static bool dcqcn_limiter_obey(struct dcqcn_qp *qp,
			       const struct dcqcn_settings *settings, bool acks,
			       u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (!dcqcn_cc_is_wanted(qp, settings))
		return false;
	/* only a flow with a path tells its algorithm of packets that leave */
	if (!flow->path)
		dcqcn_limiter_measure(flow);
	if (!flow->path || !dcqcn_cc_enter(qp, settings, acks, now))
		return false;
	dcqcn_rate_init(&flow->rate, qp->cc->cc.rate, now);
	flow->rate.rtt = dcqcn_limiter_rtt(qp, settings, DCQCN_PATH_SHORT, now);
	dcqcn_limiter_begin(qp, settings, now);
	return true;
}

/* Whether an ACK or answer is the first that a start gets for its burst. @least: the shortest round
 * trip before
 */
static bool dcqcn_limiter_is_first(const struct dcqcn_flow *flow, u32 least)
{
	return flow->rate.start == DCQCN_START_ASKS ||
	       (flow->rate.start == DCQCN_START_BLIND && flow->path->asked && !least);
}

/* Whether the burst of a start met a queue of other flows' packets. @ns: round trip of the first
 * ACK or answer
 */
static bool dcqcn_limiter_meets_queue(const struct dcqcn_flow *flow, u64 line,
				      u64 ns)
{
	const struct dcqcn_path *path = flow->path;
	u64 own;

	if (!path->paused_rtt)
		return false;
	/* bits / (kb/s) * 10^6; less than 2^58 before the division */
	own = div64_u64(flow->rate.burst * 8ULL * USEC_PER_SEC,
			max_t(u64, path->paused_rate, div_u64(line, 1000)));
	return ns > path->paused_rtt + path->paused_rtt / 4 + own;
}

/* A start goes on from its burst. Flows that began together have shared one burst, of which the
 * first got more than the last. They all go on from the average of their shares.
 */
static void dcqcn_limiter_average_burst(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_path *path = qp->flow.path;
	struct dcqcn_peer peer;

	if (path->shares && dcqcn_limiter_look(qp, now, &peer) && peer.begun)
		qp->flow.rate.burst = div_u64(peer.shared, peer.begun);
	path->shares = false;
}

/* Begin to limit a flow: let it send a burst, and then raise its rate step by step */
static void dcqcn_limiter_feel(struct dcqcn_qp *qp,
			       const struct dcqcn_settings *settings, bool asks,
			       u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 line = dcqcn_dev_line(qp->dev, settings), most, share = 0;
	u32 burst = settings->rp.start_burst;
	struct dcqcn_peer peer;
	bool known;

	if (dcqcn_limiter_obey(qp, settings, asks, now) || !burst)
		return;
	if (!flow->path)
		dcqcn_limiter_measure(flow);
	if (flow->path) {
		dcqcn_path_age(flow->path, now);
		/* a port may say less than gets through */
		most = max(line, dcqcn_limiter_line(qp, settings));
		known = flow->path->burst;
		if (!known && dcqcn_limiter_look(qp, now, &peer)) {
			known = true;
			flow->path->answered |= peer.answers;
			if (asks || flow->path->answered)
				flow->path->burst = peer.burst;
		}
		burst = dcqcn_path_burst(flow->path, burst, asks || flow->path->answered,
					 flow->rate.seen_rate < most ? flow->rate.seen_rate : 0,
					 now);
		flow->path->shares = asks && !known;
		if (flow->path->shares)
			burst = dcqcn_peer_begin(&qp->dev->peers, &qp->peer, burst, now);
		/* answers say too little of what READ responses got */
		if (asks)
			share = min(flow->path->share * 1000ULL, most);
	}
	flow->rate.rtt = dcqcn_limiter_rtt(qp, settings, DCQCN_PATH_SHORT, now);
	if (share)
		dcqcn_start_skip(&flow->rate, &settings->rp, share, flow->path->in_rounds, now);
	else
		dcqcn_start_begin(&flow->rate, &settings->rp, line, burst,
				  dcqcn_limiter_known(flow), asks && flow->path, now);
	dcqcn_limiter_begin(qp, settings, now);
	if (flow->path)
		dcqcn_path_forget(flow->path);
	flow->burst = share ? min(burst, settings->rp.start_burst) : burst;
	/* a context, which the peer may agree on soon, starts with no more than this */
	if (dcqcn_settings_cccs(settings))
		flow->burst = min(flow->burst, settings->ccc.initial_window);
	if (flow->path)
		flow->path->owed = share && flow->path->in_rounds ?
				   min(flow->burst, DCQCN_START_BURST_MAX) : 0;
}

/**
 * dcqcn_limiter_start() - limit a flow that begins, or begins again after a pause
 * @qp: its QP
 * @settings: the port's
 * @asks: its packets may ask for an ACK
 *
 * The flow keeps the limiter until it has found its rate. A flow that has one already is left
 * alone.
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock.
 */
void dcqcn_limiter_start(struct dcqcn_qp *qp,
			 const struct dcqcn_settings *settings, bool asks)
{
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && !qp->limited &&
	    !READ_ONCE(qp->dev->stopping))
		dcqcn_limiter_feel(qp, settings, asks, ktime_get_ns());
	spin_unlock_bh(&qp->lock);
}

/**
 * dcqcn_limiter_plug() - limit a flow for which an algorithm was chosen, and which has no limit
 * @qp: its QP
 * @settings: the port's
 * @acks: its packets may ask for an ACK
 *
 * Context: under RCU; process with BH on, or softirq. Takes @qp->lock.
 */
void dcqcn_limiter_plug(struct dcqcn_qp *qp,
			const struct dcqcn_settings *settings, bool acks)
{
	/* only other QPs of the port have an algorithm */
	if (!*settings->cc && !READ_ONCE(qp->cc))
		return;
	spin_lock_bh(&qp->lock);
	if (qp->state == DCQCN_QP_LIVE && !qp->limited &&
	    !READ_ONCE(qp->dev->stopping))
		dcqcn_limiter_obey(qp, settings, acks, ktime_get_ns());
	spin_unlock_bh(&qp->lock);
}

/* ns; a longer idle time is a pause. In equal rounds, the queue that the flow has met is that of
 * the last round, which is over: only the last packets' wait in it counts.
 */
static u64 dcqcn_limiter_pause(const struct dcqcn_flow *flow)
{
	const struct dcqcn_path *path = flow->path;
	u64 recent = dcqcn_limiter_recent_rtt(flow);

	if (path && path->share && path->in_rounds)
		return recent + (DCQCN_PAUSE_RTTS - 1) * (path->paused_rtt ?: recent);
	return DCQCN_PAUSE_RTTS * recent;
}

/**
 * dcqcn_limiter_go_on() - a limited flow sends a new packet after a pause
 * @qp: its QP
 * @idle: ns; length of the pause
 * @bth: BTH of the new packet
 * @now: ns
 *
 * A pause of more than one round trip was not caused by the path. After a few round trips, other
 * flows may have filled the path, or may have paused as well, as in the rounds of an incast.
 * Meanwhile the rate has risen, after a long pause up to the line rate. So the flow starts again,
 * unless it waits for an ACK or is in the middle of a message. In the middle of a message it waits
 * for its host, which may take longer than a round trip for each packet.
 *
 * Context: any, under RCU; @qp->lock is held.
 */
void dcqcn_limiter_go_on(struct dcqcn_qp *qp, u64 idle,
			 const struct dcqcn_bth *bth, u64 now)
{
	const struct dcqcn_settings *settings = rcu_dereference(qp->dev->settings);
	struct dcqcn_flow *flow = &qp->flow;

	if (flow->draining || dcqcn_flow_held(flow) ||
	    (flow->path && dcqcn_path_awaits(flow->path, now)))
		return;
	if (dcqcn_qp_has_algorithm(qp)) {
		if (!flow->released) {
			dcqcn_cc_idle(qp, idle, now);
			return;
		}
		/* silent for a second: the flow begins to obey it again */
		dcqcn_cc_leave(qp);
	}
	if (flow->path)
		flow->path->idle = true;
	if (!dcqcn_bth_begins(bth))
		return;
	if (idle <= dcqcn_limiter_pause(flow)) {
		/* 0 if it has had no burst yet */
		if (flow->path && flow->path->begun_time)
			flow->path->begun_time += idle;
		return;
	}
	if (!dcqcn_settings_limits(settings) || READ_ONCE(qp->dev->stopping) ||
	    dcqcn_qp_is_windowed(qp))
		return;
	dcqcn_limiter_feel(qp, settings, dcqcn_bth_may_request_ack(bth), now);
}

/* A CNP or a loss may have ended a start. If it has measured no round trip, the flow goes on with
 * that of a long path. @starting: whether it was in a start before
 */
static void dcqcn_limiter_found(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
				bool starting, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (starting && !flow->rate.start && !(flow->path && flow->path->rtt))
		dcqcn_rate_set_rtt(&flow->rate,
				   dcqcn_limiter_rtt(qp, settings, DCQCN_PATH_LONG, now), 0);
}

/**
 * dcqcn_limiter_cnp() - a CNP came for a flow
 * @qp: its QP
 * @settings: the port's
 * @now: ns
 *
 * The first one gives the flow its limiter.
 *
 * Context: softirq, or process with BH off; @qp->lock is held.
 */
void dcqcn_limiter_cnp(struct dcqcn_qp *qp,
		       const struct dcqcn_settings *settings, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	unsigned int done;
	u64 before, line;
	bool starting;

	if (dcqcn_qp_has_algorithm(qp)) {
		dcqcn_cc_cnp(qp, now);
		return;
	}
	if (flow->path) {
		dcqcn_path_age(flow->path, now);
		flow->path->marked = true;
	}
	line = dcqcn_limiter_line(qp, settings);
	if (!qp->limited || flow->released) {
		dcqcn_rate_init(&flow->rate, line, now);
		dcqcn_rate_set_rtt(&flow->rate,
				   dcqcn_limiter_rtt(qp, settings, DCQCN_PATH_LONG, now),
				   flow->path ? flow->path->rtt_min : 0);
		dcqcn_limiter_begin(qp, settings, now);
	}
	before = flow->rate.current_rate;
	/* the line may be DCQCN_RATE_MAX: half of that limits nothing */
	line = dcqcn_rate_cut_line(&flow->rate, &settings->rp, line,
				   dcqcn_limiter_known(flow) ?:
				   dcqcn_dev_line(qp->dev, settings));
	starting = flow->rate.start;
	done = dcqcn_rate_cnp(&flow->rate, &settings->rp, line, now);
	dcqcn_limiter_found(qp, settings, starting, now);
	if (done)
		dcqcn_limiter_tell(qp, &settings->rp, done, before);
}

/**
 * dcqcn_limiter_learn() - learn about a limited flow's path from an ACK
 * @qp: its QP
 * @learnt: what the ACK has told
 * @left: ns; when the probe left
 * @least: ns; the shortest round trip before, 0 for unknown
 * @now: ns
 *
 * Context: softirq, under RCU; @qp->lock is held.
 * Return: true if this is what a start has waited for, so that held packets may leave.
 */
bool dcqcn_limiter_learn(struct dcqcn_qp *qp, enum dcqcn_learnt learnt,
			 u64 left, u32 least, u64 now)
{
	struct dcqcn_terms terms = dcqcn_limiter_terms(qp);
	struct dcqcn_flow *flow = &qp->flow;
	struct dcqcn_path *path = flow->path;
	bool first, queue;

	if (path->rtt)
		dcqcn_limiter_publish(qp, now);
	dcqcn_limiter_rate(qp, terms, now, 0);
	dcqcn_rate_set_rtt(&flow->rate,
			   path->rtt ?: clamp(now - left, 1ULL, (u64)flow->rate.rtt),
			   path->rtt_min);
	first = dcqcn_limiter_is_first(flow, least);
	queue = first &&
		dcqcn_limiter_meets_queue(flow, dcqcn_dev_line(qp->dev, terms.settings),
					  now - left);
	path->queued |= queue;
	if (first)
		dcqcn_limiter_average_burst(qp, now);
	/* Without marks before the pause, bursts of other flows have grown, too. After marks they
	 * may be shorter than this one, which must not get a larger share. Starts may have been
	 * turned off meanwhile.
	 */
	if (queue && path->was_marked)
		flow->rate.burst = min(flow->rate.burst,
				       terms.settings->rp.start_burst ?: U32_MAX);
	if (learnt == DCQCN_LEARNT_BOUND) {
		dcqcn_start_bound(&flow->rate, left, now);
	} else if (queue && !path->was_lost &&
		   now - left <= (u64)DCQCN_REJOIN_RTTS * path->paused_rtt) {
		path->marked |= path->was_marked;
		dcqcn_start_rejoin(&flow->rate, &terms.settings->rp,
				   now - left - path->paused_rtt,
				   min(path->paused_rate * 1000ULL, terms.line), now);
	} else {
		dcqcn_start_sample(&flow->rate, &terms.settings->rp, left,
				   least, now);
	}
	/* the time that the start waited says nothing about the throughput */
	if (first)
		dcqcn_path_restart(path);
	/* what got through before a loss may be more than gets through now */
	if (learnt == DCQCN_LEARNT_RATE && dcqcn_path_least(path))
		dcqcn_rate_set_delivered(&flow->rate, &terms.settings->rp,
					 dcqcn_path_least(path),
					 dcqcn_path_most(path));
	trace_dcqcn_path_measured(qp);
	return first;
}

/* ns; the QP's ack timeout, 0 for unknown. Exponents above 20 count as 20: 4 s. */
static u64 dcqcn_limiter_timeout(const struct dcqcn_qp *qp)
{
	return qp->ack_timeout ? DCQCN_ACK_TIMEOUT_NS << min_t(u8, qp->ack_timeout, 20) : 0;
}

/* Whether the last packets may have been lost without rxe's knowledge. rxe takes two ack timeouts
 * at most to notice.
 */
static bool dcqcn_limiter_may_stall(const struct dcqcn_qp *qp, u64 now)
{
	return qp->type == IB_QPT_RC &&
	       now - qp->flow.rate.active_time < 2 * dcqcn_limiter_timeout(qp);
}

/**
 * dcqcn_limiter_may_repeat() - whether rxe's timer may just have fired
 * @qp: the flow's QP
 * @now: ns, read under the lock
 *
 * CNPs for the last packets may have come for half of the ack timeout after these.
 *
 * Context: @qp->lock is held.
 */
bool dcqcn_limiter_may_repeat(const struct dcqcn_qp *qp, u64 now)
{
	return dcqcn_limiter_may_stall(qp, now) &&
	       now - qp->flow.rate.active_time >= dcqcn_limiter_timeout(qp) / 2;
}

/**
 * dcqcn_limiter_resume() - a limited flow sends its first packet, or sends one again
 * @qp: its QP
 * @again: it is not the first one
 * @acked: it is a request, which an ACK may follow, and not a READ response
 * @last: PSN of the last one that has left, if it is sent again
 * @now: ns
 *
 * Packets were lost, or not acknowledged. While rxe waited, it sent nothing that could be marked,
 * so the rate rose. Flows that lost packets together would come back faster each time, and their
 * credit for the wait alone would fill a switch. So take back both the increase and the credit.
 *
 * Context: any, under RCU; @qp->lock is held.
 */
void dcqcn_limiter_resume(struct dcqcn_qp *qp, bool again, bool acked, u32 last, u64 now)
{
	const struct dcqcn_settings *settings;
	struct dcqcn_flow *flow = &qp->flow;

	if (READ_ONCE(qp->dev->stopping))
		return;
	if (dcqcn_qp_has_algorithm(qp)) {
		if (again)
			dcqcn_cc_lost(qp, acked, now);
		flow->next = max(flow->next, now);
		flow->released = false;
		return;
	}
	settings = rcu_dereference(qp->dev->settings);
	if (again && flow->path)
		flow->path->lost = true;
	if (flow->rate.start && again) {
		dcqcn_rate_cnp(&flow->rate, &settings->rp,
			       dcqcn_limiter_line(qp, settings), now);
		dcqcn_limiter_found(qp, settings, true, now);
		/* a start that has lost its burst is not cut, but was not idle either */
		dcqcn_rate_touch(&flow->rate, now);
	} else {
		dcqcn_rate_resume(&flow->rate, &settings->rp, now);
	}
	/* A request that is sent again asks for an ACK, and a start waits for that one. If only
	 * READ responses are sent again, the ACK that the start already waits for may still come.
	 */
	if (flow->path && again && acked)
		dcqcn_path_repeat(flow->path, last, dcqcn_limiter_timeout(qp), now);
	else if (flow->path && (acked || flow->rate.start != DCQCN_START_ASKS))
		dcqcn_path_restart(flow->path);
	if (flow->rate.start == DCQCN_START_ASKS && acked)
		flow->next = now;
	flow->next = max(flow->next, now);
	flow->released = false;
}

/* Whether a flow gets ACKs, judged by its last packets, and by those that it holds since before its
 * limit began: READ responses get none
 */
static bool dcqcn_limiter_gets_acks(const struct dcqcn_flow *flow)
{
	const struct dcqcn_fifo *responses = &flow->fifo[DCQCN_RESPONSES];

	return !responses->begun && skb_queue_empty(&responses->queue);
}

/**
 * dcqcn_limiter_other_rate() - the rate of a flow that obeys a context or an algorithm
 * @qp: its QP
 * @line: bit/s; line rate
 * @now: ns, read under the lock
 * @bytes: length of the packet that is sent now
 *
 * Context: @qp->lock is held. Return: bit/s.
 */
u64 dcqcn_limiter_other_rate(struct dcqcn_qp *qp, u64 line, u64 now, u32 bytes)
{
	return dcqcn_qp_has_algorithm(qp) ? dcqcn_cc_rate(qp, now, bytes) : line;
}

/**
 * dcqcn_limiter_switch() - let a flow obey its context, or whatever was chosen for it
 * @qp: its QP
 * @settings: the port's
 * @obeys: DCQCN_OBEYS_CONTEXT; or DCQCN_OBEYS_RATE for the chosen algorithm, or DCQCN
 * @now: ns
 *
 * Context: any, under RCU; @qp->lock is held.
 */
void dcqcn_limiter_switch(struct dcqcn_qp *qp,
			  const struct dcqcn_settings *settings,
			enum dcqcn_obeys obeys, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 line = dcqcn_dev_line(qp->dev, settings);
	bool had_algorithm = dcqcn_qp_has_algorithm(qp);

	dcqcn_cc_leave(qp);
	WRITE_ONCE(qp->obeys, obeys);
	flow->next = now;
	if (obeys == DCQCN_OBEYS_CONTEXT) {
		dcqcn_rate_init(&flow->rate, line, now);
		if (!qp->limited || flow->released)
			dcqcn_limiter_begin(qp, settings, now);
		flow->burst = 0;
		return;
	}
	/* a context keeps its own round trip, so the flow's is out of date; rxe may go back even if
	 * there is no start, and then it is needed
	 */
	if (flow->path)
		dcqcn_path_age(flow->path, now);
	flow->rate.rtt = dcqcn_limiter_rtt(qp, settings, DCQCN_PATH_SHORT, now);
	/* A flow that both writes and answers READs changes again and again. Its ACKs wait behind
	 * the peer's READ responses, so a start at that round trip would slow down both ends.
	 */
	if (had_algorithm && flow->path && flow->path->rtt_min)
		flow->rate.rtt = min(flow->rate.rtt, flow->path->rtt_min);
	if (qp->limited && !flow->released &&
	    dcqcn_limiter_obey(qp, settings, dcqcn_limiter_gets_acks(flow), now))
		return;
	if (!settings->rp.start_burst)
		flow->released = true;
	else if (qp->limited && !flow->released)
		dcqcn_start_begin(&flow->rate, &settings->rp, line,
				  settings->rp.start_burst, 0, false, now);
}

/* If another algorithm was chosen, or DCQCN, let a limited flow obey it */
static void dcqcn_limiter_follow(struct dcqcn_qp *qp, u64 now)
{
	const struct dcqcn_settings *settings = rcu_dereference_bh(qp->dev->settings);

	if (dcqcn_cc_is_chosen(qp, settings) || READ_ONCE(qp->dev->stopping))
		return;
	if (dcqcn_qp_has_algorithm(qp))
		dcqcn_limiter_switch(qp, settings, DCQCN_OBEYS_RATE, now);
	else
		dcqcn_limiter_obey(qp, settings, dcqcn_limiter_gets_acks(&qp->flow), now);
}

/**
 * dcqcn_limiter_advance() - let time pass for a limited flow
 * @qp: its QP
 * @now: ns, read under the lock
 *
 * Brings the rate up to date, and ends the limit of an idle flow whose rate is back at the line
 * rate. If the path is to be measured and is not yet, begins to.
 *
 * Context: @qp->lock is held.
 */
void dcqcn_limiter_advance(struct dcqcn_qp *qp, u64 now)
{
	struct dcqcn_rate *rate = &qp->flow.rate;
	struct dcqcn_terms terms;

	if (!dcqcn_qp_is_windowed(qp))
		dcqcn_limiter_follow(qp, now);
	/* T may have become measured since the limit began, or there was no memory then */
	if (!qp->flow.path && !rcu_dereference_bh(qp->dev->settings)->rp.rpg_time_reset)
		dcqcn_limiter_measure(&qp->flow);
	terms = dcqcn_limiter_terms(qp);
	if (dcqcn_qp_is_windowed(qp)) {
		/* it is paced at the line rate, which may have changed */
		rate->current_rate = terms.line;
		rate->target_rate = terms.line;
	}
	/* the limit of a context or an algorithm ends when the flow has been silent for a while */
	if (dcqcn_qp_is_bounded(qp) && !dcqcn_flow_held(&qp->flow) &&
	    time_after(jiffies, qp->active + DCQCN_SILENT_JIFFIES))
		qp->flow.released = true;
	dcqcn_limiter_rate(qp, terms, now, 0);
	if (!dcqcn_limiter_may_stall(qp, now))
		dcqcn_limiter_end(qp);
}

/**
 * dcqcn_limiter_end() - end the limit, if the rate is back and nothing is held
 * @qp: the flow's QP
 *
 * If the ACK of an atomic operation was dropped, the limit lasts until rxe has sent it again: only
 * in limited flows are other ACKs kept from leaving before it. The removal of the port does not
 * wait for this.
 *
 * The limit of a dead entry ends even while another CPU sends its packets: no packet that would
 * need the timer may be queued.
 *
 * Context: any; @qp->lock is held.
 */
void dcqcn_limiter_end(struct dcqcn_qp *qp)
{
	struct dcqcn_flow *flow = &qp->flow;

	if (!flow->released || !qp->limited || dcqcn_flow_held(flow) ||
	    (flow->draining && qp->state != DCQCN_QP_DEAD) ||
	    (qp->atomic_psn != DCQCN_PSN_NONE && !READ_ONCE(qp->dev->stopping)))
		return;
	WRITE_ONCE(qp->sent_time, dcqcn_flow_clock(flow->rate.active_time));
	dcqcn_cc_leave(qp);
	/* The context may end before the flow sends again. If it does not, the gate lets the flow
	 * obey it again.
	 */
	WRITE_ONCE(qp->obeys, DCQCN_OBEYS_RATE);
	WRITE_ONCE(qp->limited, false);
	atomic_dec(&qp->dev->pacing.num_limited);
	atomic_dec(&dcqcn_num_limited);
	trace_dcqcn_flow_dead(qp);
	dcqcn_netlink_rate(qp, RDMA_DCQCN_RATE_EVENT_RELEASED,
			   flow->rate.current_rate);
}

/**
 * dcqcn_limiter_rest() - let ACKs pass unread again, if no flow is limited
 *
 * Context: any; called by the ports' janitors.
 */
void dcqcn_limiter_rest(void)
{
	if (!READ_ONCE(dcqcn_any_limited) || atomic_read(&dcqcn_num_limited))
		return;
	WRITE_ONCE(dcqcn_any_limited, false);
	smp_mb();	/* a limit that begins meanwhile sees this, or is seen */
	if (atomic_read(&dcqcn_num_limited))
		WRITE_ONCE(dcqcn_any_limited, true);
}
