/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints; all of them are about packets and flows that meet congestion. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_dcqcn

#if !defined(DCQCN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DCQCN_TRACE_H

#include <linux/in6.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "ccc.h"
#include "cnp.h"
#include "device.h"
#include "nscc.h"
#include "packet.h"
#include "qp.h"
#include "rate.h"

#ifndef DCQCN_TRACE_NAMES
#define DCQCN_TRACE_NAMES

static inline void dcqcn_trace_dev(char *to, const struct dcqcn_dev *dev)
{
	strscpy(to, dev->ibdev->name, IB_DEVICE_NAME_MAX);
}

#endif

TRACE_DEFINE_ENUM(DCQCN_START);
TRACE_DEFINE_ENUM(DCQCN_FAST_RECOVERY);
TRACE_DEFINE_ENUM(DCQCN_ADDITIVE);
TRACE_DEFINE_ENUM(DCQCN_HYPER);

#define dcqcn_show_phase(_phase)					\
	__print_symbolic(_phase,					\
			 { DCQCN_START,		"start" },		\
			 { DCQCN_FAST_RECOVERY,	"fast_recovery" },	\
			 { DCQCN_ADDITIVE,	"additive" },		\
			 { DCQCN_HYPER,		"hyper" })

#define dcqcn_show_by(_by)						\
	__print_flags(_by, "|",						\
		      { DCQCN_RATE_TIMER,	"timer" },		\
		      { DCQCN_RATE_BYTES,	"bytes" })

TRACE_DEFINE_ENUM(DCQCN_CNP_HANDLED);
TRACE_DEFINE_ENUM(DCQCN_CNP_WAITS);
TRACE_DEFINE_ENUM(DCQCN_CNP_INVALID);
TRACE_DEFINE_ENUM(DCQCN_CNP_NO_QP);
TRACE_DEFINE_ENUM(DCQCN_CNP_DISABLED);
TRACE_DEFINE_ENUM(DCQCN_CNP_NOT_PEER);
TRACE_DEFINE_ENUM(DCQCN_CNP_STOPPING);
TRACE_DEFINE_ENUM(DCQCN_CNP_WINDOWED);
TRACE_DEFINE_ENUM(DCQCN_CNP_NO_ROOM);

#define dcqcn_show_verdict(_verdict)					\
	__print_symbolic(_verdict,					\
			 { DCQCN_CNP_HANDLED,	"handled" },		\
			 { DCQCN_CNP_WAITS,	"waits" },		\
			 { DCQCN_CNP_INVALID,	"invalid" },		\
			 { DCQCN_CNP_NO_QP,	"no_qp" },		\
			 { DCQCN_CNP_DISABLED,	"disabled" },		\
			 { DCQCN_CNP_NOT_PEER,	"not_peer" },		\
			 { DCQCN_CNP_STOPPING,	"stopping" },		\
			 { DCQCN_CNP_WINDOWED,	"windowed" },		\
			 { DCQCN_CNP_NO_ROOM,	"no_room" })

/* A CE-marked data packet arrived */
TRACE_EVENT(dcqcn_ce_seen,
	TP_PROTO(const struct dcqcn_dev *dev, const struct dcqcn_pkt *pkt),
	TP_ARGS(dev, pkt),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, saddr, sizeof(struct in6_addr))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, prio)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, dev);
		dcqcn_ip_saddr(pkt->ip, (struct in6_addr *)__entry->saddr);
		__entry->qpn = pkt->dest_qpn;
		__entry->psn = pkt->psn;
		__entry->prio = dcqcn_pkt_prio(pkt);
	),
	TP_printk("dev=%s qpn=%u saddr=%pI6c psn=%u prio=%u",
		  __entry->dev, __entry->qpn, __entry->saddr, __entry->psn,
		  __entry->prio)
);

/* The notification point sent a CNP, or failed to */
TRACE_EVENT(dcqcn_cnp_sent,
	TP_PROTO(const struct dcqcn_qp *qp, u32 dest_qpn,
		 const struct in6_addr *daddr, int err),
	TP_ARGS(qp, dest_qpn, daddr, err),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, daddr, sizeof(struct in6_addr))
		__field(u32, qpn)
		__field(u32, dest_qpn)
		__field(int, err)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		memcpy(__entry->daddr, daddr, sizeof(*daddr));
		__entry->qpn = qp->qpn;
		__entry->dest_qpn = dest_qpn;
		__entry->err = err;
	),
	TP_printk("dev=%s qpn=%u daddr=%pI6c dest_qpn=%u err=%d",
		  __entry->dev, __entry->qpn, __entry->daddr,
		  __entry->dest_qpn, __entry->err)
);

/* A CNP arrived; those that waited for their QP are one event */
TRACE_EVENT(dcqcn_cnp_received,
	TP_PROTO(const struct dcqcn_dev *dev, u32 qpn,
		 const struct in6_addr *saddr, enum dcqcn_verdict verdict),
	TP_ARGS(dev, qpn, saddr, verdict),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, saddr, sizeof(struct in6_addr))
		__field(u32, qpn)
		__field(u32, verdict)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, dev);
		memcpy(__entry->saddr, saddr, sizeof(*saddr));
		__entry->qpn = qpn;
		__entry->verdict = verdict;
	),
	TP_printk("dev=%s qpn=%u saddr=%pI6c verdict=%s",
		  __entry->dev, __entry->qpn, __entry->saddr,
		  dcqcn_show_verdict(__entry->verdict))
);

/* An ACK told something about a path; least and most in bit/s, times in ns */
TRACE_EVENT(dcqcn_path_measured,
	TP_PROTO(const struct dcqcn_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u64, least)
		__field(u64, most)
		__field(u32, qpn)
		__field(u32, rtt)
		__field(u32, period)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		__entry->least = dcqcn_path_least(qp->flow.path);
		__entry->most = dcqcn_path_most(qp->flow.path);
		__entry->qpn = qp->qpn;
		__entry->rtt = qp->flow.path->rtt;
		__entry->period = qp->flow.rate.period;
	),
	TP_printk("dev=%s qpn=%u rtt=%u least=%llu most=%llu period=%u",
		  __entry->dev, __entry->qpn, __entry->rtt, __entry->least,
		  __entry->most, __entry->period)
);

/* A rate was cut; rates in bit/s, alpha in units of 2^-30 */
TRACE_EVENT(dcqcn_rate_cut,
	TP_PROTO(const struct dcqcn_qp *qp, u64 old_rate),
	TP_ARGS(qp, old_rate),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u64, old_rate)
		__field(u64, rate)
		__field(u64, target)
		__field(u32, qpn)
		__field(u32, alpha)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		__entry->old_rate = old_rate;
		__entry->rate = qp->flow.rate.current_rate;
		__entry->target = qp->flow.rate.target_rate;
		__entry->qpn = qp->qpn;
		__entry->alpha = qp->flow.rate.alpha;
	),
	TP_printk("dev=%s qpn=%u old_rate=%llu rate=%llu target=%llu alpha=%u",
		  __entry->dev, __entry->qpn, __entry->old_rate, __entry->rate,
		  __entry->target, __entry->alpha)
);

/* One or more increases, applied together */
TRACE_EVENT(dcqcn_rate_increase,
	TP_PROTO(const struct dcqcn_qp *qp, u64 old_rate, unsigned int by,
		 enum dcqcn_phase phase),
	TP_ARGS(qp, old_rate, by, phase),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u64, old_rate)
		__field(u64, rate)
		__field(u64, target)
		__field(u32, qpn)
		__field(u8, by)
		__field(u8, phase)
		__field(u8, timer_stage)
		__field(u8, byte_stage)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		__entry->old_rate = old_rate;
		__entry->rate = qp->flow.rate.current_rate;
		__entry->target = qp->flow.rate.target_rate;
		__entry->qpn = qp->qpn;
		__entry->by = by;
		__entry->phase = phase;
		__entry->timer_stage = qp->flow.rate.timer_stage;
		__entry->byte_stage = qp->flow.rate.byte_stage;
	),
	TP_printk("dev=%s qpn=%u old_rate=%llu rate=%llu target=%llu by=%s kind=%s timer_stage=%u byte_stage=%u",
		  __entry->dev, __entry->qpn, __entry->old_rate, __entry->rate,
		  __entry->target, dcqcn_show_by(__entry->by),
		  dcqcn_show_phase(__entry->phase), __entry->timer_stage,
		  __entry->byte_stage)
);

/* A packet of a limited flow is held; queue_* include it */
TRACE_EVENT(dcqcn_packet_held,
	TP_PROTO(const struct dcqcn_qp *qp, u32 psn, u32 bytes),
	TP_ARGS(qp, psn, bytes),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, bytes)
		__field(u32, queue_packets)
		__field(u32, queue_bytes)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->bytes = bytes;
		__entry->queue_packets = dcqcn_flow_held(&qp->flow);
		__entry->queue_bytes = qp->flow.held_bytes;
	),
	TP_printk("dev=%s qpn=%u psn=%u bytes=%u queue_packets=%u queue_bytes=%u",
		  __entry->dev, __entry->qpn, __entry->psn, __entry->bytes,
		  __entry->queue_packets, __entry->queue_bytes)
);

/* A held packet is sent; queue_* exclude it, times in ns */
TRACE_EVENT(dcqcn_packet_released,
	TP_PROTO(const struct dcqcn_qp *qp, u32 psn, u32 bytes, u64 held),
	TP_ARGS(qp, psn, bytes, held),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u64, held)
		__field(u64, gap)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, bytes)
		__field(u32, queue_packets)
		__field(u32, queue_bytes)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		__entry->held = held;
		__entry->gap = qp->flow.gap;
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->bytes = bytes;
		__entry->queue_packets = dcqcn_flow_held(&qp->flow);
		__entry->queue_bytes = qp->flow.held_bytes;
	),
	TP_printk("dev=%s qpn=%u psn=%u bytes=%u held=%llu gap=%llu queue_packets=%u queue_bytes=%u",
		  __entry->dev, __entry->qpn, __entry->psn, __entry->bytes,
		  __entry->held, __entry->gap, __entry->queue_packets,
		  __entry->queue_bytes)
);

DECLARE_EVENT_CLASS(dcqcn_flow,
	TP_PROTO(const struct dcqcn_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, peer, sizeof(struct in6_addr))
		__field(u32, qpn)
		__field(u32, peer_qpn)
		__field(u64, paced_packets)
		__field(u64, paced_bytes)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		memcpy(__entry->peer, &qp->peer, sizeof(qp->peer));
		__entry->qpn = qp->qpn;
		__entry->peer_qpn = qp->peer_qpn;
		__entry->paced_packets = qp->flow.stat.paced_packets;
		__entry->paced_bytes = qp->flow.stat.paced_bytes;
	),
	TP_printk("dev=%s qpn=%u peer=%pI6c peer_qpn=%u paced_packets=%llu paced_bytes=%llu",
		  __entry->dev, __entry->qpn, __entry->peer, __entry->peer_qpn,
		  __entry->paced_packets, __entry->paced_bytes)
);

/* A limiter starts */
DEFINE_EVENT(dcqcn_flow, dcqcn_flow_born, TP_PROTO(const struct dcqcn_qp *qp), TP_ARGS(qp));

/* A limiter ends */
DEFINE_EVENT(dcqcn_flow, dcqcn_flow_dead, TP_PROTO(const struct dcqcn_qp *qp), TP_ARGS(qp));

/* A context is ready, with the algorithms of both ends; or has ended, with 0 */
TRACE_EVENT(dcqcn_ccc_agreed,
	TP_PROTO(const struct dcqcn_ccc *ccc),
	TP_ARGS(ccc),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, peer, sizeof(struct in6_addr))
		__field(u8, prio)
		__field(u8, algorithms)
		__field(u8, timeouts)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, ccc->dev);
		memcpy(__entry->peer, &ccc->peer, sizeof(ccc->peer));
		__entry->prio = ccc->prio;
		__entry->algorithms = ccc->tx.agreed;
		__entry->timeouts = ccc->tx.timeouts;
	),
	TP_printk("dev=%s peer=%pI6c prio=%u algorithms=%u timeouts=%u",
		  __entry->dev, __entry->peer, __entry->prio,
		  __entry->algorithms, __entry->timeouts)
);

/* A context got the round trip from feedback; sizes in bytes, times in ns */
TRACE_EVENT(dcqcn_ccc_heard,
	TP_PROTO(const struct dcqcn_ccc *ccc,
		 const struct dcqcn_nscc_params *params, u32 newly, bool marked),
	TP_ARGS(ccc, params, newly, marked),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, peer, sizeof(struct in6_addr))
		__field(u8, prio)
		__field(u8, algorithms)
		__field(bool, marked)
		__field(u32, newly)
		__field(u32, bdp)
		__field(u32, max_window)
		__field(u32, window)
		__field(u32, in_flight)
		__field(s32, credit)
		__field(u32, base_rtt)
		__field(u32, rtt)
		__field(u32, delay)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, ccc->dev);
		memcpy(__entry->peer, &ccc->peer, sizeof(ccc->peer));
		__entry->prio = ccc->prio;
		__entry->algorithms = ccc->tx.agreed;
		__entry->marked = marked;
		__entry->newly = newly;
		__entry->bdp = dcqcn_nscc_bdp(&ccc->tx.window, params);
		__entry->max_window = dcqcn_nscc_max(&ccc->tx.window, params);
		__entry->window = ccc->tx.window.cwnd;
		__entry->in_flight = ccc->tx.sent - ccc->tx.acked;
		__entry->credit = ccc->tx.limit - ccc->tx.sent;
		__entry->base_rtt = dcqcn_nscc_base(&ccc->tx.window, params);
		__entry->rtt = ccc->tx.rtt;
		__entry->delay = dcqcn_nscc_delay(&ccc->tx.window);
	),
	TP_printk("dev=%s peer=%pI6c prio=%u algorithms=%u newly=%u marked=%d bdp=%u max_window=%u window=%u in_flight=%u credit=%d base_rtt=%u rtt=%u delay=%u",
		  __entry->dev, __entry->peer, __entry->prio,
		  __entry->algorithms, __entry->newly, __entry->marked,
		  __entry->bdp, __entry->max_window, __entry->window,
		  __entry->in_flight, __entry->credit, __entry->base_rtt,
		  __entry->rtt, __entry->delay)
);

/* A flow has another entropy value, and perhaps another path */
TRACE_EVENT(dcqcn_entropy_changed,
	TP_PROTO(const struct dcqcn_qp *qp, const struct dcqcn_entropy *entropy),
	TP_ARGS(qp, entropy),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__array(u8, peer, sizeof(struct in6_addr))
		__field(u32, qpn)
		__field(u32, peer_qpn)
		__field(u16, ev)
		__field(u8, changes)
	),
	TP_fast_assign(
		dcqcn_trace_dev(__entry->dev, qp->dev);
		memcpy(__entry->peer, &qp->peer, sizeof(qp->peer));
		__entry->qpn = qp->qpn;
		__entry->peer_qpn = qp->peer_qpn;
		__entry->ev = entropy->ev;
		__entry->changes = entropy->changes;
	),
	TP_printk("dev=%s qpn=%u peer=%pI6c peer_qpn=%u ev=%u changes=%u",
		  __entry->dev, __entry->qpn, __entry->peer, __entry->peer_qpn,
		  __entry->ev, __entry->changes)
);

#endif /* DCQCN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
