/* SPDX-License-Identifier: GPL-2.0 */
/* Decides when a flow's limit begins and ends, and what its rate is. See limiter.c. */
#ifndef DCQCN_LIMITER_H
#define DCQCN_LIMITER_H

#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include "device.h"
#include "path.h"
#include "qp.h"
#include "rate.h"
#include "settings.h"

/* Base of the ack timeout, 4.096 us * 2^exponent (IBA 9.7.6.1.3) */
#define DCQCN_ACK_TIMEOUT_NS	4096ULL

/* Flows of any port are limited, or were lately. Otherwise rx.c lets ACKs pass unread. All CPUs
 * read this, so it is not written for each flow.
 */
extern bool dcqcn_any_limited;

/* A flow that has sent nothing for more than this many round trips begins again: what it knows of
 * the queues on its path is out of date
 */
#define DCQCN_PAUSE_RTTS	4

/**
 * struct dcqcn_terms - values that do not change while several packets are sent
 * @settings: the port's
 * @line: bit/s
 */
struct dcqcn_terms {
	const struct dcqcn_settings *settings;
	u64 line;
};

u64 dcqcn_limiter_measured_line(const struct dcqcn_qp *qp,
				const struct dcqcn_settings *settings, u64 line);
u64 dcqcn_limiter_other_rate(struct dcqcn_qp *qp, u64 line, u64 now, u32 bytes);
void dcqcn_limiter_tell(struct dcqcn_qp *qp, const struct dcqcn_rp_params *p,
			unsigned int done, u64 old_rate);

/**
 * dcqcn_limiter_line() - the line rate of a flow
 * @qp: its QP
 * @settings: the port's
 *
 * A port's speed may be wrong: many virtual devices report an arbitrary one. So where the path is
 * measured, the line rate is twice what gets through, because a limit above that has no effect, and
 * at least twice rpg_min_rate. In a start it is four times what gets through, or the port's if that
 * is more. It is DCQCN_RATE_MAX while only the round trip is known. Before that, it is at least
 * twice the current rate in a start, and twice the share of a flow that begins with one.
 *
 * Context: @qp->lock is held. Return: bit/s; at least 1 Mb/s, less than 2^52.
 */
static __always_inline u64 dcqcn_limiter_line(const struct dcqcn_qp *qp,
					      const struct dcqcn_settings *settings)
{
	u64 line = dcqcn_dev_line(qp->dev, settings);

	return qp->flow.path && !dcqcn_qp_is_bounded(qp) ?
	       dcqcn_limiter_measured_line(qp, settings, line) : line;
}

/* What applies to a flow now. Under RCU; the QP's lock is held. */
static __always_inline struct dcqcn_terms
dcqcn_limiter_terms(const struct dcqcn_qp *qp)
{
	struct dcqcn_terms terms;

	terms.settings = rcu_dereference_bh(qp->dev->settings);
	terms.line = dcqcn_limiter_line(qp, terms.settings);
	return terms;
}

/**
 * dcqcn_limiter_rate() - advance the rate of a limited flow
 * @qp: its QP
 * @terms: what applies to it
 * @now: ns, read under the lock
 * @bytes: length of the packet that is sent now
 *
 * Context: @qp->lock is held. Return: bit/s to pace at, 0 for no limit.
 */
static __always_inline u64 dcqcn_limiter_rate(struct dcqcn_qp *qp,
					      struct dcqcn_terms terms,
					      u64 now, u32 bytes)
{
	const struct dcqcn_settings *settings = terms.settings;
	struct dcqcn_flow *flow = &qp->flow;
	u64 before = flow->rate.current_rate;
	u64 line = terms.line, rate;
	unsigned int done;

	if (flow->released)
		return 0;
	if (dcqcn_qp_is_bounded(qp))
		return dcqcn_limiter_other_rate(qp, line, now, bytes);

	done = dcqcn_rate_advance(&flow->rate, &settings->rp, line, now, bytes);
	if (done)
		dcqcn_limiter_tell(qp, &settings->rp, done, before);
	rate = flow->rate.current_rate;
	if (dcqcn_rate_is_back(&flow->rate, line, done))
		flow->released = true;
	return rate;
}

/* ns; the round trip by which a pause is judged. dcqcn_rate.rtt falls slowly, and a flow that sends
 * little has few samples: it would take its next pauses for waits in a queue that is gone. One
 * short sample proves little: where flows begin together, the first packets find no queue yet.
 */
static __always_inline u32 dcqcn_limiter_recent_rtt(const struct dcqcn_flow *flow)
{
	return flow->path ? min(flow->path->rtt_recent, flow->rate.rtt) : flow->rate.rtt;
}

/**
 * dcqcn_limiter_idle() - how long a limited flow has sent nothing, if more than a round trip
 * @flow: the flow
 * @now: ns, read under the lock
 *
 * It is unknown when the requests that skipped the lock left. The last request of a message never
 * skips it, so a pause that is missed here is a wait for ACKs in the middle of a message.
 *
 * Context: the QP's lock is held. Return: ns, 0 for a shorter time.
 */
static __always_inline u64 dcqcn_limiter_idle(const struct dcqcn_flow *flow, u64 now)
{
	const struct dcqcn_fifo *fifo = &flow->fifo[DCQCN_REQUESTS];
	u64 idle = now - flow->rate.active_time;

	return unlikely(idle > dcqcn_limiter_recent_rtt(flow)) &&
	       READ_ONCE(fifo->skipped) == fifo->charged ? idle : 0;
}

/**
 * dcqcn_limiter_watch() - detect pauses of a flow that may have no limit
 * @qp: its QP
 * @bth: BTH of the packet that it sends
 *
 * A pause between messages means that the flow had nothing to send. A pause in the middle of a
 * message is a wait for ACKs or for the host's own link.
 *
 * Context: any, without the lock: a torn read may report a pause that did not happen, or miss one.
 * Return: whether the flow begins again after a pause, if it has no limit.
 */
static inline bool dcqcn_limiter_watch(struct dcqcn_qp *qp,
				       const struct dcqcn_bth *bth)
{
	u32 now, idle;

	if (dcqcn_bth_is_inside(bth) || READ_ONCE(qp->limited))
		return false;
	now = dcqcn_flow_clock(ktime_get_ns());
	idle = now - READ_ONCE(qp->sent_time);
	WRITE_ONCE(qp->sent_time, now);
	return dcqcn_bth_begins(bth) &&
	       (u64)idle << 10 > (u64)DCQCN_PAUSE_RTTS * qp->flow.rate.rtt;
}

void dcqcn_limiter_begin(struct dcqcn_qp *qp,
			 const struct dcqcn_settings *settings, u64 now);
void dcqcn_limiter_go_on(struct dcqcn_qp *qp, u64 idle,
			 const struct dcqcn_bth *bth, u64 now);
void dcqcn_limiter_start(struct dcqcn_qp *qp,
			 const struct dcqcn_settings *settings, bool asks);
void dcqcn_limiter_plug(struct dcqcn_qp *qp,
			const struct dcqcn_settings *settings, bool acks);
void dcqcn_limiter_cnp(struct dcqcn_qp *qp,
		       const struct dcqcn_settings *settings, u64 now);
bool dcqcn_limiter_learn(struct dcqcn_qp *qp, enum dcqcn_learnt learnt,
			 u64 left, u32 least, u64 now);
bool dcqcn_limiter_may_repeat(const struct dcqcn_qp *qp, u64 now);
void dcqcn_limiter_resume(struct dcqcn_qp *qp, bool again, bool acked, u32 last, u64 now);
void dcqcn_limiter_switch(struct dcqcn_qp *qp,
			  const struct dcqcn_settings *settings,
			enum dcqcn_obeys obeys, u64 now);
void dcqcn_limiter_advance(struct dcqcn_qp *qp, u64 now);
void dcqcn_limiter_end(struct dcqcn_qp *qp);
void dcqcn_limiter_rest(void);

#endif /* DCQCN_LIMITER_H */
