// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: ports, QPs, contexts and profiles. netlink_event.c sends events when a rate
 * changes. Documentation/netlink/specs/rdma_dcqcn.yaml describes every message; policies and the
 * table of operations are generated from it (netlink_gen.c).
 *
 * A dump walks ports by index, QPs by number and contexts by hash under RCU, and continues
 * where it stopped even if some were added or freed meanwhile. The snapshot of a QP
 * (qp.c) or a context (ccc.c) takes its lock briefly and no other. Requests run in parallel with
 * each other and with other families.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "cc.h"
#include "ccc.h"
#include "counters.h"
#include "device.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "qp.h"
#include "settings.h"

/**
 * struct dcqcn_dump - position of a dump, in struct netlink_callback
 * @begun: the other fields are valid
 * @index: index of the RDMA device to continue with
 * @last_index: index of the last one to dump
 * @one_qpn: dump only the QP @qpn
 * @qpn: number of that QP
 * @chain: index of a chain in the port's table of contexts, see dcqcn_ccc_next()
 * @qp_at: local QP number to continue with
 * @at: position in that chain
 */
struct dcqcn_dump {
	bool begun;
	bool one_qpn;
	u32 index;
	u32 last_index;
	u32 qpn;
	u32 chain;
	unsigned long qp_at;
	u64 at;
};

static struct dcqcn_dump *dcqcn_dump(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct dcqcn_dump) > sizeof(cb->ctx));
	return (struct dcqcn_dump *)cb->ctx;
}

/* Find and keep the port that a message names; dcqcn_dev_unlock() must follow */
static struct dcqcn_dev *dcqcn_named_dev(const struct net *net, const struct nlattr *name,
					 struct netlink_ext_ack *extack)
{
	struct dcqcn_dev *dev = dcqcn_dev_lock(net, nla_data(name));

	if (!dev)
		NL_SET_ERR_MSG_ATTR(extack, name, "no such rxe device");
	return dev;
}

/* Called by the first dumpit(), because start() has no extack on older kernels */
static int dcqcn_dump_begin(struct netlink_callback *cb,
			    const struct nlattr *name, const struct nlattr *qpn)
{
	struct dcqcn_dump *dump = dcqcn_dump(cb);
	struct dcqcn_dev *dev;

	if (dump->begun)
		return 0;
	dump->begun = true;
	dump->last_index = U32_MAX;
	dump->one_qpn = qpn;
	if (qpn)
		dump->qpn = nla_get_u32(qpn);
	if (!name)
		return 0;
	dev = dcqcn_named_dev(sock_net(cb->skb->sk), name, cb->extack);
	if (!dev)
		return -ENODEV;
	dump->index = dev->ibdev->index;
	dump->last_index = dump->index;
	dcqcn_dev_unlock();
	return 0;
}

static struct dcqcn_dev *dcqcn_dump_dev(struct netlink_callback *cb)
{
	struct dcqcn_dump *dump = dcqcn_dump(cb);
	struct dcqcn_dev *dev;

	dev = dcqcn_dev_next(sock_net(cb->skb->sk), dump->index);
	if (!dev || dev->ibdev->index > dump->last_index)
		return NULL;
	if (dev->ibdev->index != dump->index) {
		dump->index = dev->ibdev->index;
		dump->chain = 0;
		dump->qp_at = 0;
		dump->at = 0;
	}
	return dev;
}

/* Go on to the next port. Return false if there is none. */
static bool dcqcn_dump_next_dev(struct netlink_callback *cb)
{
	struct dcqcn_dump *dump = dcqcn_dump(cb);

	if (dump->index == dump->last_index) {
		/* do not dump it again if the dump continues */
		dump->index = U32_MAX;
		dump->last_index = 0;
		return false;
	}
	dump->index++;
	dump->chain = 0;
	dump->qp_at = 0;
	dump->at = 0;
	return true;
}

/* The return value of a dump that has filled its buffer: an error only if not even one
 * message fits
 */
static int dcqcn_dump_end(const struct sk_buff *skb, int err)
{
	return err && !skb->len ? err : skb->len;
}

/* Let @put dump each port, or only the one named @name */
static int dcqcn_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct nlattr *name, const struct nlattr *qpn,
			   int (*put)(struct sk_buff *skb, struct netlink_callback *cb,
				      struct dcqcn_dev *dev))
{
	struct dcqcn_dev *dev;
	int err;

	err = dcqcn_dump_begin(cb, name, qpn);
	if (err)
		return err;
	rcu_read_lock();
	while ((dev = dcqcn_dump_dev(cb))) {
		err = put(skb, cb, dev);
		if (err || !dcqcn_dump_next_dev(cb))
			break;
	}
	rcu_read_unlock();
	return dcqcn_dump_end(skb, err);
}

/* @all: also what no profile sets */
static int dcqcn_put_settings(struct sk_buff *skb, int type,
			      const struct dcqcn_settings *settings, bool all)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int knob;

	if (!nest)
		return -EMSGSIZE;
	for (knob = 1; knob <= RDMA_DCQCN_A_SETTINGS_MAX; knob++) {
		if ((all || dcqcn_profile_sets(knob)) &&
		    nla_put_u32(skb, knob, dcqcn_settings_get(settings, knob)))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int dcqcn_put_counters(struct sk_buff *skb, const struct dcqcn_dev *dev)
{
	static const u8 type[DCQCN_NUM_COUNTERS] = {
#define DCQCN_COUNTER(_id, _name, _attribute)	\
		[DCQCN_##_id] = RDMA_DCQCN_A_COUNTERS_##_attribute,
#include "counter_list.h"
#undef DCQCN_COUNTER
	};
	struct nlattr *nest = nla_nest_start(skb, RDMA_DCQCN_A_DEV_COUNTERS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < DCQCN_NUM_COUNTERS; i++) {
		if (nla_put_u64_64bit(skb, type[i], dcqcn_counter_sum(dev, i),
				      RDMA_DCQCN_A_COUNTERS_PAD))
			return -EMSGSIZE;
	}
	if (nla_put_u64_64bit(skb, RDMA_DCQCN_A_COUNTERS_RP_LIMITED_QPS,
			      atomic_read(&dev->pacing.num_limited),
			      RDMA_DCQCN_A_COUNTERS_PAD) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_COUNTERS_RP_HELD_BYTES,
			      dcqcn_held_memory_sum(dev),
			      RDMA_DCQCN_A_COUNTERS_PAD) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_COUNTERS_CCC_CONTEXTS,
			      READ_ONCE(dev->contexts.num),
			      RDMA_DCQCN_A_COUNTERS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dcqcn_put_algorithms(struct sk_buff *skb, const struct dcqcn_settings *settings)
{
	char all[DCQCN_CC_LIST_LEN];

	dcqcn_cc_list(all, sizeof(all));
	return nla_put_string(skb, RDMA_DCQCN_A_DEV_CC_ALGORITHM, dcqcn_cc_name(settings->cc)) ||
	       nla_put_string(skb, RDMA_DCQCN_A_DEV_CC_AVAILABLE, all);
}

static int dcqcn_put_dev(struct sk_buff *skb, struct netlink_callback *cb,
			 struct dcqcn_dev *dev)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &rdma_dcqcn_nl_family, NLM_F_MULTI, RDMA_DCQCN_CMD_DEV_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RDMA_DCQCN_A_DEV_NAME, dev->ibdev->name) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_DEV_IFINDEX, dev->ndev->ifindex) ||
	    nla_put_string(skb, RDMA_DCQCN_A_DEV_IFNAME, dev->ndev->name) ||
	    nla_put_u64_64bit(skb, RDMA_DCQCN_A_DEV_LINE_RATE,
			      dcqcn_dev_line(dev, settings),
			      RDMA_DCQCN_A_DEV_PAD) ||
	    dcqcn_put_settings(skb, RDMA_DCQCN_A_DEV_SETTINGS, settings, true) ||
	    dcqcn_put_counters(skb, dev) ||
	    dcqcn_put_algorithms(skb, settings)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int rdma_dcqcn_nl_dev_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct nlattr **attrs = genl_info_dump(cb)->attrs;

	return dcqcn_dump_devs(skb, cb, attrs[RDMA_DCQCN_A_DEV_NAME], NULL, dcqcn_put_dev);
}

static u8 dcqcn_qp_type(const struct dcqcn_qp_view *view)
{
	switch (view->type) {
	case IB_QPT_RC:
		return RDMA_DCQCN_QP_TYPE_RC;
	case IB_QPT_UC:
		return RDMA_DCQCN_QP_TYPE_UC;
	default:
		return RDMA_DCQCN_QP_TYPE_UD;
	}
}

static u8 dcqcn_qp_state(const struct dcqcn_qp_view *view)
{
	if (!view->limited)
		return RDMA_DCQCN_QP_STATE_IDLE;
	if (view->rate.start)
		return RDMA_DCQCN_QP_STATE_STARTING;
	return view->released ? RDMA_DCQCN_QP_STATE_RELEASED :
				RDMA_DCQCN_QP_STATE_LIMITED;
}

static int dcqcn_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, RDMA_DCQCN_A_QP_PAD);
}

static int dcqcn_put_qp_peer(struct sk_buff *skb,
			     const struct dcqcn_qp_view *view)
{
	if (view->type == IB_QPT_UD)
		return 0;
	return nla_put_u32(skb, RDMA_DCQCN_A_QP_RQPN, view->peer_qpn) ||
	       nla_put_in6_addr(skb, RDMA_DCQCN_A_QP_PEER, &view->peer) ||
	       nla_put_u8(skb, RDMA_DCQCN_A_QP_ACK_TIMEOUT, view->ack_timeout);
}

/* A flow without a limiter runs at line rate */
static int dcqcn_put_qp_rate(struct sk_buff *skb,
			     const struct dcqcn_qp_view *view)
{
	const struct dcqcn_rate *r = &view->rate;
	bool limited = view->limited && !view->released;

	return dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_LINE_RATE, view->line) ||
	       dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_RATE,
			     limited ? r->current_rate : view->line) ||
	       dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_TARGET_RATE,
			     limited ? r->target_rate : view->line) ||
	       dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_FLOOR_RATE, view->floor) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_ALPHA, r->alpha) ||
	       nla_put_u8(skb, RDMA_DCQCN_A_QP_TIMER_STAGE, r->timer_stage) ||
	       nla_put_u8(skb, RDMA_DCQCN_A_QP_BYTE_STAGE, r->byte_stage);
}

static int dcqcn_put_qp_path(struct sk_buff *skb,
			     const struct dcqcn_qp_view *view)
{
	if (dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_RTT, view->rate.rtt) ||
	    dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_TIMER_PERIOD, view->period) ||
	    dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_AI_RATE, view->ai))
		return -EMSGSIZE;
	if (view->ev && nla_put_u32(skb, RDMA_DCQCN_A_QP_EV, view->ev))
		return -EMSGSIZE;
	if (!view->delivered)
		return 0;
	return dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_DELIVERED_RATE,
			     view->delivered);
}

static int dcqcn_put_qp_packets(struct sk_buff *skb,
				const struct dcqcn_qp_view *view)
{
	const struct dcqcn_flow_stat *stat = &view->stat;

	return dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_PACED_PACKETS,
			     stat->paced_packets) ||
	       dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_PACED_BYTES,
			     stat->paced_bytes) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_QUEUE_PACKETS,
			   view->queue_packets) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_QUEUE_PACKETS_MAX,
			   stat->max_packets) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_QUEUE_BYTES,
			   view->queue_bytes) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_QUEUE_BYTES_MAX,
			   stat->max_bytes) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_EXPIRED_PACKETS,
			   stat->expired) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_DROP_BOUND_PACKETS,
			   stat->drop_bound) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_DROP_STALE_PACKETS,
			   stat->drop_stale) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_QP_DROP_DEAD_PACKETS,
			   stat->drop_dead);
}

static int dcqcn_put_qp_cnps(struct sk_buff *skb,
			     const struct dcqcn_qp_view *view)
{
	if (nla_put_u32(skb, RDMA_DCQCN_A_QP_ECN_MARKED, view->ce_received) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_QP_CNP_SENT, view->cnps_sent) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_QP_CNP_HANDLED,
			view->cnps_handled) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_QP_CNP_IGNORED, view->cnps_ignored))
		return -EMSGSIZE;
	if (!view->handled_time)
		return 0;
	return dcqcn_put_u64(skb, RDMA_DCQCN_A_QP_CNP_AGE,
			     view->now - view->handled_time);
}

static int dcqcn_put_qp(struct sk_buff *skb, struct netlink_callback *cb,
			const struct dcqcn_dev *dev,
			const struct dcqcn_qp_view *view)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &rdma_dcqcn_nl_family, NLM_F_MULTI, RDMA_DCQCN_CMD_QP_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RDMA_DCQCN_A_QP_DEV_NAME, dev->ibdev->name) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_QP_LQPN, view->qpn) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_QP_TYPE, dcqcn_qp_type(view)) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_QP_PRIO, view->prio) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_QP_STATE, dcqcn_qp_state(view)) ||
	    dcqcn_put_qp_peer(skb, view) ||
	    dcqcn_put_qp_rate(skb, view) ||
	    (view->limited && dcqcn_put_qp_path(skb, view)) ||
	    dcqcn_put_qp_packets(skb, view) ||
	    dcqcn_put_qp_cnps(skb, view) ||
	    (view->chosen && nla_put_string(skb, RDMA_DCQCN_A_QP_CC_ALGORITHM,
					    dcqcn_cc_name(view->choice)))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int dcqcn_dump_qp(struct sk_buff *skb, struct netlink_callback *cb,
			 struct dcqcn_dev *dev, struct dcqcn_qp *qp)
{
	struct dcqcn_qp_view view;

	return dcqcn_qp_look(qp, &view) ? dcqcn_put_qp(skb, cb, dev, &view) : 0;
}

/* Dump the remaining QPs of a port */
static int dcqcn_dump_qps(struct sk_buff *skb, struct netlink_callback *cb,
			  struct dcqcn_dev *dev)
{
	struct dcqcn_dump *dump = dcqcn_dump(cb);
	struct dcqcn_qp *qp;
	int err;

	if (dump->one_qpn) {
		qp = dcqcn_qp_find(dev, dump->qpn);
		return qp ? dcqcn_dump_qp(skb, cb, dev, qp) : 0;
	}
	for (; (qp = dcqcn_qp_next(dev, &dump->qp_at)); dump->qp_at++) {
		err = dcqcn_dump_qp(skb, cb, dev, qp);
		if (err)
			return err;
	}
	return 0;
}

int rdma_dcqcn_nl_qp_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct nlattr **attrs = genl_info_dump(cb)->attrs;

	return dcqcn_dump_devs(skb, cb, attrs[RDMA_DCQCN_A_QP_DEV_NAME],
			       attrs[RDMA_DCQCN_A_QP_LQPN], dcqcn_dump_qps);
}

static int dcqcn_put_ccc_sender(struct sk_buff *skb,
				const struct dcqcn_ccc_view *view)
{
	return nla_put_u64_64bit(skb, RDMA_DCQCN_A_CCC_LINE_RATE, view->line,
				 RDMA_DCQCN_A_CCC_PAD) ||
	       nla_put_u64_64bit(skb, RDMA_DCQCN_A_CCC_BASE_RTT, view->base,
				 RDMA_DCQCN_A_CCC_PAD) ||
	       nla_put_u64_64bit(skb, RDMA_DCQCN_A_CCC_TARGET_QDELAY,
				 view->target, RDMA_DCQCN_A_CCC_PAD) ||
	       nla_put_u64_64bit(skb, RDMA_DCQCN_A_CCC_RTT, view->rtt,
				 RDMA_DCQCN_A_CCC_PAD) ||
	       nla_put_u64_64bit(skb, RDMA_DCQCN_A_CCC_QDELAY, view->delay,
				 RDMA_DCQCN_A_CCC_PAD) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_BDP, view->bdp) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_MAX_WINDOW, view->max_window) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_WINDOW, view->window) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_IN_FLIGHT, view->flight) ||
	       nla_put_s32(skb, RDMA_DCQCN_A_CCC_CREDIT, view->credit) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_ENTROPY_CHANGES,
			   view->entropy_changes);
}

static int dcqcn_put_ccc_receiver(struct sk_buff *skb,
				  const struct dcqcn_ccc_view *view)
{
	return nla_put_u32(skb, RDMA_DCQCN_A_CCC_RECEIVED, view->received) ||
	       nla_put_u32(skb, RDMA_DCQCN_A_CCC_MARKED, view->marked) ||
	       nla_put_s32(skb, RDMA_DCQCN_A_CCC_GRANTED, view->granted) ||
	       nla_put_u8(skb, RDMA_DCQCN_A_CCC_ASKS, view->asks);
}

static int dcqcn_put_ccc(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct dcqcn_dev *dev,
			 const struct dcqcn_ccc_view *view)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &rdma_dcqcn_nl_family, NLM_F_MULTI,
			  RDMA_DCQCN_CMD_CCC_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RDMA_DCQCN_A_CCC_DEV_NAME, dev->ibdev->name) ||
	    nla_put_in6_addr(skb, RDMA_DCQCN_A_CCC_LOCAL, &view->local) ||
	    nla_put_in6_addr(skb, RDMA_DCQCN_A_CCC_PEER, &view->peer) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_CCC_PRIO, view->prio) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_CCC_STATE,
		       view->agreed ? RDMA_DCQCN_CCC_STATE_READY :
				      RDMA_DCQCN_CCC_STATE_IDLE) ||
	    nla_put_u8(skb, RDMA_DCQCN_A_CCC_ALGORITHMS, view->agreed) ||
	    nla_put_u32(skb, RDMA_DCQCN_A_CCC_QPS, view->qps) ||
	    dcqcn_put_ccc_sender(skb, view) ||
	    dcqcn_put_ccc_receiver(skb, view)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Dump the remaining contexts of a port */
static int dcqcn_dump_cccs(struct sk_buff *skb, struct netlink_callback *cb,
			   struct dcqcn_dev *dev)
{
	struct dcqcn_dump *dump = dcqcn_dump(cb);
	struct dcqcn_ccc_view view;
	struct dcqcn_ccc *ccc;
	int err;

	for (; (ccc = dcqcn_ccc_next(dev, &dump->chain, &dump->at));
	     dump->at++) {
		dcqcn_ccc_look(ccc, &view);
		err = dcqcn_put_ccc(skb, cb, dev, &view);
		if (err)
			return err;
	}
	return 0;
}

int rdma_dcqcn_nl_ccc_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct nlattr **attrs = genl_info_dump(cb)->attrs;

	return dcqcn_dump_devs(skb, cb, attrs[RDMA_DCQCN_A_CCC_DEV_NAME], NULL, dcqcn_dump_cccs);
}

static int dcqcn_put_profile(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct dcqcn_profile *profile)
{
	struct dcqcn_settings settings = {};
	void *hdr;

	dcqcn_settings_apply(&settings, profile);
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &rdma_dcqcn_nl_family, NLM_F_MULTI,
			  RDMA_DCQCN_CMD_PROFILE_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RDMA_DCQCN_A_PROFILE_NAME, profile->name) ||
	    dcqcn_put_settings(skb, RDMA_DCQCN_A_PROFILE_SETTINGS,
			       &settings, false)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int rdma_dcqcn_nl_profile_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb)
{
	const struct dcqcn_profile *profile;
	int err = 0;

	while ((profile = dcqcn_profile_get(cb->args[0]))) {
		err = dcqcn_put_profile(skb, cb, profile);
		if (err)
			break;
		cb->args[0]++;
	}
	return dcqcn_dump_end(skb, err);
}

static int dcqcn_change_settings(struct dcqcn_settings *settings,
				 const struct nlattr *nest,
				 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	int err, knob;

	err = nla_parse_nested(tb, RDMA_DCQCN_A_SETTINGS_MAX, nest,
			       rdma_dcqcn_settings_nl_policy, extack);
	if (err)
		return err;
	for (knob = 1; knob <= RDMA_DCQCN_A_SETTINGS_MAX; knob++) {
		if (!tb[knob])
			continue;
		err = dcqcn_settings_set(settings, knob, nla_get_u32(tb[knob]));
		if (err)
			return err;
	}
	return 0;
}

/* Change everything that was asked for, or nothing. @cc: the algorithm, or NULL to keep it */
static int dcqcn_change_dev(struct dcqcn_dev *dev,
			    const struct dcqcn_profile *profile, const char *cc,
			    const struct nlattr *nest,
			    struct netlink_ext_ack *extack)
{
	struct dcqcn_settings *new = dcqcn_dev_settings_begin(dev);
	int err = 0;

	if (!new)
		return -ENOMEM;
	if (profile)
		dcqcn_settings_apply(new, profile);
	if (cc)
		strscpy(new->cc, cc, sizeof(new->cc));
	if (nest)
		err = dcqcn_change_settings(new, nest, extack);
	if (err)
		dcqcn_dev_settings_abort(dev, new);
	else
		dcqcn_dev_settings_commit(dev, new);
	return err;
}

/* Copy the name of a registered algorithm, for dcqcn_settings.cc; empty for DCQCN */
static int dcqcn_named_algorithm(char *cc, const struct nlattr *algorithm,
				 struct netlink_ext_ack *extack)
{
	int err = dcqcn_cc_choose(cc, nla_data(algorithm));

	if (err)
		NL_SET_ERR_MSG_ATTR(extack, algorithm, "no such algorithm");
	return err;
}

int rdma_dcqcn_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *name = info->attrs[RDMA_DCQCN_A_DEV_NAME];
	const struct nlattr *nest = info->attrs[RDMA_DCQCN_A_DEV_SETTINGS];
	const struct nlattr *attr = info->attrs[RDMA_DCQCN_A_DEV_PROFILE];
	const struct nlattr *algorithm = info->attrs[RDMA_DCQCN_A_DEV_CC_ALGORITHM];
	const struct dcqcn_profile *profile = NULL;
	struct dcqcn_dev *dev;
	char cc[DCQCN_CC_NAME_MAX];
	int err;

	if (!name) {
		NL_SET_ERR_MSG(info->extack, "the device name is missing");
		return -EINVAL;
	}
	if (!attr && !nest && !algorithm) {
		NL_SET_ERR_MSG(info->extack,
			       "nothing to set: neither profile, algorithm nor settings");
		return -EINVAL;
	}
	if (attr) {
		profile = dcqcn_profile_find(nla_data(attr));
		if (!profile) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "no such profile");
			return -ENOENT;
		}
	}
	if (algorithm) {
		err = dcqcn_named_algorithm(cc, algorithm, info->extack);
		if (err)
			return err;
	}
	dev = dcqcn_named_dev(genl_info_net(info), name, info->extack);
	if (!dev)
		return -ENODEV;
	err = dcqcn_change_dev(dev, profile, algorithm ? cc : NULL, nest, info->extack);
	dcqcn_dev_unlock();
	return err;
}

int rdma_dcqcn_nl_qp_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *name = info->attrs[RDMA_DCQCN_A_QP_DEV_NAME];
	const struct nlattr *qpn = info->attrs[RDMA_DCQCN_A_QP_LQPN];
	const struct nlattr *algorithm = info->attrs[RDMA_DCQCN_A_QP_CC_ALGORITHM];
	char choice[DCQCN_CC_NAME_MAX];
	struct dcqcn_dev *dev;
	bool follow;
	int err;

	if (!name || !qpn || !algorithm) {
		NL_SET_ERR_MSG(info->extack, "device name, QP number or algorithm is missing");
		return -EINVAL;
	}
	follow = !*(const char *)nla_data(algorithm);
	err = follow ? 0 : dcqcn_named_algorithm(choice, algorithm, info->extack);
	if (err)
		return err;
	dev = dcqcn_named_dev(genl_info_net(info), name, info->extack);
	if (!dev)
		return -ENODEV;
	err = dcqcn_cc_choose_for_qp(dev, nla_get_u32(qpn), follow ? NULL : choice);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, qpn, "no such queue pair, or not connected");
	else if (err == -EAGAIN)
		NL_SET_ERR_MSG_ATTR(info->extack, qpn, "its entry is being freed: try again");
	dcqcn_dev_unlock();
	return err;
}

/**
 * dcqcn_netlink_init() - register the netlink family
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_netlink_init(void)
{
	dcqcn_netlink_event_init(&rdma_dcqcn_nl_family);
	return genl_register_family(&rdma_dcqcn_nl_family);
}

/**
 * dcqcn_netlink_exit() - undo dcqcn_netlink_init()
 *
 * Context: process; may sleep. No port is left.
 */
void dcqcn_netlink_exit(void)
{
	genl_unregister_family(&rdma_dcqcn_nl_family);
}
