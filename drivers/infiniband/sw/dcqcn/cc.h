/* SPDX-License-Identifier: GPL-2.0 */
/* Flows that obey an algorithm of struct dcqcn_cc_ops. See cc.c; cc_list.c has the list of them. */
#ifndef DCQCN_CC_H
#define DCQCN_CC_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <rdma/dcqcn_cc.h>

#include "flight.h"
#include "qp.h"
#include "settings.h"

struct sk_buff;

/* Names that may ever be registered; 0 is DCQCN itself, which is no struct dcqcn_cc_ops */
#define DCQCN_CC_MAX	32
#define DCQCN_CC_DCQCN	0

/**
 * struct dcqcn_cc_flow - a flow that obeys an algorithm; protected by dcqcn_qp.lock
 * @cc: what the algorithm sees
 * @ops: the algorithm; valid while dcqcn_qp.obeys is DCQCN_OBEYS_ALGORITHM
 * @id: its place in the list
 * @marked: bytes that CNPs told of since the last ACK
 * @due: ns; when the next packet may leave at the rate. dcqcn_flow.next is earlier if there is
 *	something to do before.
 * @flight: what is in flight
 */
struct dcqcn_cc_flow {
	struct dcqcn_cc cc;
	const struct dcqcn_cc_ops *ops;
	u32 id;
	u32 marked;
	u64 due;
	struct dcqcn_flight flight;
};

/* Whether a QP obeys an algorithm; its lock is held */
static __always_inline bool dcqcn_qp_has_algorithm(const struct dcqcn_qp *qp)
{
	return qp->obeys == DCQCN_OBEYS_ALGORITHM;
}

/**
 * struct dcqcn_cc_slot - an algorithm, or the place of one that has gone
 * @name: its name; empty for a free place. Never changed once it is set.
 * @ops: RCU; NULL if there is none
 * @flows: that obey it
 */
struct dcqcn_cc_slot {
	char name[DCQCN_CC_NAME_MAX];
	const struct dcqcn_cc_ops __rcu *ops;
	atomic_t flows;
};

extern struct dcqcn_cc_slot dcqcn_cc_slots[DCQCN_CC_MAX];

bool dcqcn_cc_enter(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
		    bool acks, u64 now);
void dcqcn_cc_leave(struct dcqcn_qp *qp);
bool dcqcn_cc_is_chosen(const struct dcqcn_qp *qp, const struct dcqcn_settings *settings);
void dcqcn_cc_cnp(struct dcqcn_qp *qp, u64 now);
bool dcqcn_cc_acked(struct dcqcn_qp *qp, u32 psn, u8 hops, u64 now);
void dcqcn_cc_lost(struct dcqcn_qp *qp, u64 now);
void dcqcn_cc_idle(struct dcqcn_qp *qp, u64 idle, u64 now);
bool dcqcn_cc_opens(struct dcqcn_qp *qp, u64 now);
u64 dcqcn_cc_rate(struct dcqcn_qp *qp, u64 now, u32 bytes);
bool dcqcn_cc_asks(const struct dcqcn_qp *qp, struct sk_buff *skb);
bool dcqcn_cc_left(struct dcqcn_qp *qp, struct sk_buff *skb, bool ack_req, u64 now);

const struct dcqcn_cc_ops *dcqcn_cc_get(u32 id);
void dcqcn_cc_put(u32 id);
int dcqcn_cc_find(const char *name);
int dcqcn_cc_place(const char *name);
const char *dcqcn_cc_name(u32 id);
const char *dcqcn_cc_available(u32 id);
void dcqcn_cc_list(char *buf, size_t size);
#define DCQCN_CC_LIST_LEN	(DCQCN_CC_MAX * DCQCN_CC_NAME_MAX)

#endif /* DCQCN_CC_H */
