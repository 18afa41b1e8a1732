/* SPDX-License-Identifier: GPL-2.0 */
/* Flows that obey an algorithm of struct dcqcn_cc_ops. See cc.c; cc_list.c has the list of them. */
#ifndef DCQCN_CC_H
#define DCQCN_CC_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <rdma/dcqcn_cc.h>

#include "device.h"
#include "entropy.h"
#include "flight.h"
#include "packet.h"
#include "qp.h"
#include "settings.h"

struct dcqcn_feedback;
struct sk_buff;

/* Maximum number of algorithms, those of this module included */
#define DCQCN_CC_MAX	32

/**
 * struct dcqcn_cc_flow - a flow that obeys an algorithm; protected by dcqcn_qp.lock
 * @chosen: @choice was made for this QP, which does not follow its port
 * @choice: the name, empty for DCQCN
 * @cc: what the algorithm sees. This field and those below are reset when the algorithm changes.
 * @slot: place of the algorithm in the list; valid while dcqcn_qp.obeys is DCQCN_OBEYS_ALGORITHM
 * @call: ns; &dcqcn_cc.next_call as last clamped
 * @marked: bytes that CNPs reported and that no ACK has covered yet; each ACK lowers this to the
 *	bytes in flight
 * @due: ns; when the next packet may leave at the rate. dcqcn_flow.next is earlier if there is
 *	something to do before.
 * @hop: content of the peer's last answer, until an ACK comes
 * @ask_time: ns; when to ask again if @answers is false
 * @rtt_before: ns; &dcqcn_cc.rtt_min to go back to if @doubted
 * @answers: the peer's answers tell what the algorithm wants to know
 * @questioned: position of the packet that last asked the peer, see &struct dcqcn_flight
 * @stamps: the peer reads stamps
 * @doubted: packets that were sent again have lowered &dcqcn_cc.rtt_min, and none that was sent
 *	once has been acknowledged since
 * @unanswered: packets that have asked the peer since its last answer
 * @ev: entropy value of its path, see dcqcn_pkt_steer(); kept if another algorithm follows at once
 * @steering: how its last request was steered
 * @still: ns; by then, every request that is not counted, such as a READ or one of UC, has arrived
 * @way: how the peer's clock differs from this host's
 * @flight: what is in flight
 */
struct dcqcn_cc_flow {
	bool chosen;
	char choice[DCQCN_CC_NAME_MAX];
	struct dcqcn_cc cc;
	struct dcqcn_cc_slot *slot;
	u64 call;
	u32 marked;
	u64 due;
	struct dcqcn_cc_hop hop;
	u64 ask_time;
	u32 rtt_before;
	u32 questioned;
	bool answers;
	bool stamps;
	bool doubted;
	u8 unanswered;
	u16 ev;
	struct dcqcn_steering steering;
	u64 still;
	struct dcqcn_way way;
	struct dcqcn_flight flight;
};

/* Whether a QP obeys an algorithm; its lock is held */
static __always_inline bool dcqcn_qp_has_algorithm(const struct dcqcn_qp *qp)
{
	return qp->obeys == DCQCN_OBEYS_ALGORITHM;
}

/* Whether an algorithm was chosen for a QP, and not for its port; its lock is held */
static inline bool dcqcn_qp_has_choice(const struct dcqcn_qp *qp)
{
	return qp->cc && qp->cc->chosen;
}

/* Set whether a QP has a choice of its own; its lock is held, and dcqcn_qp.cc is not NULL */
static inline void dcqcn_qp_set_choice(struct dcqcn_qp *qp, bool chosen)
{
	atomic_add(chosen - qp->cc->chosen, &qp->dev->num_choices);
	qp->cc->chosen = chosen;
}

/* The QP was reconnected or is gone: drop its choice; its lock is held */
static inline void dcqcn_qp_forget_choice(struct dcqcn_qp *qp)
{
	if (qp->cc)
		dcqcn_qp_set_choice(qp, false);
}

/**
 * struct dcqcn_cc_slot - a place for an algorithm
 * @ops: RCU; NULL if the place is free
 * @flows: how many flows obey it
 * @closed: no further flow may obey it, because it is being unregistered
 */
struct dcqcn_cc_slot {
	const struct dcqcn_cc_ops __rcu *ops;
	atomic_t flows;
	bool closed;
};

extern struct dcqcn_cc_slot dcqcn_cc_slots[DCQCN_CC_MAX];

bool dcqcn_cc_enter(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
		    bool acks, u64 now);
void dcqcn_cc_leave(struct dcqcn_qp *qp);
bool dcqcn_cc_is_wanted(const struct dcqcn_qp *qp, const struct dcqcn_settings *settings);
bool dcqcn_cc_is_chosen(const struct dcqcn_qp *qp, const struct dcqcn_settings *settings);
void dcqcn_cc_cnp(struct dcqcn_qp *qp, u64 now);
bool dcqcn_cc_answered(struct dcqcn_qp *qp, const struct dcqcn_feedback *said);
bool dcqcn_cc_acked(struct dcqcn_qp *qp, u32 psn, u8 hops, u64 now);
void dcqcn_cc_lost(struct dcqcn_qp *qp, bool acked, u64 now);
void dcqcn_cc_idle(struct dcqcn_qp *qp, u64 idle, u64 now);
u64 dcqcn_cc_may_send(struct dcqcn_qp *qp, bool request, u64 now);
u64 dcqcn_cc_rate(struct dcqcn_qp *qp, u64 now, u32 bytes);
bool dcqcn_cc_asks(const struct dcqcn_qp *qp, struct sk_buff *skb);
bool dcqcn_cc_left(struct dcqcn_qp *qp, struct sk_buff *skb, bool ack_req, u64 now);

int dcqcn_cc_choose_for_qp(struct dcqcn_dev *dev, u32 qpn, const char *choice);
void dcqcn_cc_rest(struct dcqcn_dev *dev);
const struct dcqcn_cc_ops *dcqcn_cc_ops(const struct dcqcn_cc_slot *slot);
struct dcqcn_cc_slot *dcqcn_cc_find(const char *name);
int dcqcn_cc_choose(char *choice, const char *name);
const char *dcqcn_cc_name(const char *choice);
void dcqcn_cc_list(char *buf, size_t size);
#define DCQCN_CC_LIST_LEN	((DCQCN_CC_MAX + 1) * DCQCN_CC_NAME_MAX)

#endif /* DCQCN_CC_H */
