/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs: which QP a packet belongs to. See qp.c. */
#ifndef DCQCN_QP_H
#define DCQCN_QP_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "entropy.h"
#include "packet.h"
#include "queue.h"
#include "settings.h"
#include "tx.h"

struct dcqcn_cc_flow;
struct dcqcn_ccc;
struct dcqcn_senders;
struct sock;

#define DCQCN_HANDLED_SHIFT	20	/* ns -> the unit of @handled_time */

/**
 * enum dcqcn_qp_state - what is known about a QP
 * @DCQCN_QP_RESOLVING: queued for the worker
 * @DCQCN_QP_LIVE: it exists, and the entry describes it
 * @DCQCN_QP_ABSENT: there is no such QP; kept for a while so that packets to
 *	it cost one lookup
 * @DCQCN_QP_DEAD: the entry is about to be freed; nothing may be added to it
 */
enum dcqcn_qp_state {
	DCQCN_QP_RESOLVING,
	DCQCN_QP_LIVE,
	DCQCN_QP_ABSENT,
	DCQCN_QP_DEAD,
};

/**
 * struct dcqcn_event - a CE, a CNP, an offer or a question, kept while its QP is resolved
 * @saddr: source address of the packet
 * @daddr: its destination address
 * @src_qpn: the QP that sent it, for UD
 * @offer_psn: PSN of the offer, and its priority in the upper bits; never of UD
 * @time: ns; when the offer came, 0 if there are only @bytes to count
 * @ifindex: network device that received it, maybe a VLAN
 * @len: its length, from the IP header on
 * @pkey: its P_Key
 * @prio: its priority, of a CE
 * @ud: it was UD
 * @offer: the peer offers a context (ccc.c), or asks for an answer
 * @asks: the peer asks for an answer (answer.c)
 * @bytes: length of the packets to this QP that the peer's context has counted
 * @asked: bytes of credit that they ask for
 */
struct dcqcn_event {
	struct in6_addr saddr;
	struct in6_addr daddr;
	u64 time;
	union {
		u32 src_qpn;
		u32 offer_psn;
	};
	int ifindex;
	u32 len;
	u16 pkey;
	u8 prio;
	bool ud;
	bool offer;
	bool asks;
	u32 bytes;
	u32 asked;
};

#define DCQCN_OFFER_PRIO_SHIFT	24	/* in @offer_psn */

/**
 * struct dcqcn_waiting - what waits for a QP to be resolved
 * @event: the first CE, CNP, offer or question
 * @cnps: number of CNPs
 * @ce: a CE waits
 */
struct dcqcn_waiting {
	struct dcqcn_event event;
	u16 cnps;
	bool ce;
};

/**
 * enum dcqcn_move - progress of a path change
 * @DCQCN_MOVE_NONE: the flow stays
 * @DCQCN_MOVE_WANTED: its next packet is the last one on the old path
 * @DCQCN_MOVE_HELD: it waits until that has arrived
 */
enum dcqcn_move {
	DCQCN_MOVE_NONE,
	DCQCN_MOVE_WANTED,
	DCQCN_MOVE_HELD,
};

/**
 * struct dcqcn_route - the path of a QP's packets, and of those that it receives;
 *	protected by the lock of its context
 * @entropy: when it changes
 * @move: see &enum dcqcn_move
 * @until: ns; the flow is held until then at the latest
 * @waits: ns; since when its next packet has waited for the window, 0 if it has not
 * @due: ns; when its next packet may leave at the rate, as of when it last had to wait
 * @sent: value of dcqcn_ccc_sender.sent when its last packet had left
 * @lent: @sent may be stale: packets may have left since without being counted
 * @introduced: one of its packets has asked the peer's module for an answer
 * @asked: it has received a request, and counts in dcqcn_ccc_receiver.askers
 * @received: bytes received since its peer last got a report of marks, modulo 2^32: one
 *	answer in 4 GB may be wrong
 * @marked: bytes of @received with CE
 * @steering: how its last packet was steered; protected by dcqcn_qp.lock
 */
struct dcqcn_route {
	struct dcqcn_entropy entropy;
	u64 until;
	u64 waits;
	u64 due;
	u32 sent;
	u32 received;
	u32 marked;
	struct dcqcn_steering steering;
	u8 move;
	bool lent;
	bool introduced;
	bool asked;
};

/**
 * enum dcqcn_obeys - what decides when a QP's packets leave, once they are limited
 * @DCQCN_OBEYS_RATE: DCQCN, see limiter.c
 * @DCQCN_OBEYS_CONTEXT: a context bounds what is in flight, and no rate below the line does
 * @DCQCN_OBEYS_ALGORITHM: an algorithm of struct dcqcn_cc_ops, see cc.c
 */
enum dcqcn_obeys {
	DCQCN_OBEYS_RATE,
	DCQCN_OBEYS_CONTEXT,
	DCQCN_OBEYS_ALGORITHM,
};

/**
 * struct dcqcn_qp - a local QP that has met congestion, or is limited before it does
 *
 * A packet of a QP without a limit reads only the first cache line, which changes once per jiffy.
 * The packets of a limited flow, its timer and ACKs write the fields from @lock on.
 *
 * @qpn: local QP number
 * @state: see &enum dcqcn_qp_state
 * @type: RC, UC or UD
 * @prio: priority of its data packets
 * @ack_timeout: RC: exponent of its ack timeout, 0 for none
 * @dev: its port
 * @peer_qpn: RC, UC: the remote QP
 * @limited: its packets must pass through @flow
 * @obeys: see &enum dcqcn_obeys
 * @peer: RC, UC: the remote address
 * @owner: socket of the QP as last seen on output; compared, never dereferenced. NULL until a
 *	packet has matched what the core says
 * @active: jiffies; last packet with data that it sent, long ago if there was none
 * @ccc: the context that its packets belong to, NULL for none; RCU
 * @lock: protects @flow, and the other fields that packets change
 * @flow: its limiter
 * @sent_time: in units of 2^10 ns, modulo 2^32 units (73 min); when it last began or ended a
 *	message without a limit
 * @used: jiffies; last received packet that needed the entry: a CE, a CNP, a question, or data that
 *	a context counts
 * @cnp_time: ns; when NP sent its last CNP, 0 for never
 * @waiting: what waits for the QP to be resolved, or NULL; until the worker has taken it
 * @wait_node: in dcqcn_ccc_sender.waiting
 * @route: of a QP with a context; @lock and @ccc, or the context's lock and @ccc, protect it
 * @cnps_sent: CNPs that NP sent
 * @cnps_handled: CNPs that RP acted on
 * @cnps_ignored: CNPs that RP did not act on
 * @handled_time: in units of 2^20 ns, modulo 2^32 units (52 days); last CNP that RP
 *	acted on
 * @cc: its choice, and its state in an algorithm; NULL if it never had either
 * @senders: UD: when NP sent each of them its last CNP, NULL before the first
 * @ce_received: packets with CE that NP saw; without the lock
 * @atomic_psn: PSN of the last ACK of an atomic operation that was dropped and has not come again;
 *	or DCQCN_PSN_NONE
 * @resolve_node: in dcqcn_resolver.list
 * @rcu: frees it, once it is on no list
 */
struct dcqcn_qp {
	u32 qpn;
	u8 state;
	u8 type;
	u8 prio;
	u8 ack_timeout;
	struct dcqcn_dev *dev;
	u32 peer_qpn;
	bool limited;
	u8 obeys;
	struct in6_addr peer;
	const struct sock *owner;
	unsigned long active;
	struct dcqcn_ccc __rcu *ccc;

	spinlock_t lock ____cacheline_aligned_in_smp;	/* protects what packets change */
	u32 sent_time;		/* but not this */
	struct dcqcn_flow flow;
	unsigned long used;
	u64 cnp_time;
	struct dcqcn_waiting *waiting;
	struct list_head wait_node;
	struct dcqcn_route *route;
	u32 cnps_sent;
	u32 cnps_handled;
	u32 cnps_ignored;
	u32 handled_time;
	struct dcqcn_cc_flow *cc;
	struct dcqcn_senders *senders;
	union {
		struct list_head resolve_node;
		struct rcu_head rcu;
	};
	atomic_t ce_received;
	u32 atomic_psn;
};

/* Whether a QP obeys a context; its lock is held */
static __always_inline bool dcqcn_qp_is_windowed(const struct dcqcn_qp *qp)
{
	return qp->obeys == DCQCN_OBEYS_CONTEXT;
}

/* Whether a QP obeys a context or an algorithm, and not DCQCN; its lock is held */
static __always_inline bool dcqcn_qp_is_bounded(const struct dcqcn_qp *qp)
{
	return qp->obeys != DCQCN_OBEYS_RATE;
}

/**
 * struct dcqcn_qp_view - snapshot of a QP
 * @now: ns; the moment
 * @qpn: local QP number
 * @type: RC, UC or UD
 * @prio: priority of its data packets
 * @ack_timeout: RC: exponent of its ack timeout, 0 for none
 * @limited: packets must pass the limiter
 * @released: the limit is off
 * @peer_qpn: RC, UC: the remote QP
 * @peer: RC, UC: the remote address
 * @rate: state of the rate algorithm, alpha decayed up to @now
 * @line: bit/s; line rate
 * @floor: bit/s; least rate of the pacer
 * @delivered: bit/s; recent throughput of the path, 0 for unknown
 * @period: ns; T
 * @ai: bit/s; R_AI
 * @ev: entropy value, 0 for the path that rxe chose
 * @queue_packets: held packets
 * @queue_bytes: their length on the wire
 * @stat: what happened to its packets
 * @chosen: @choice was made for the QP
 * @choice: its algorithm, empty for DCQCN
 * @ce_received: packets with CE that NP saw
 * @cnps_sent: CNPs that NP sent
 * @cnps_handled: CNPs that RP acted on
 * @cnps_ignored: CNPs that RP did not act on
 * @handled_time: ns; last CNP that RP acted on, 0 for never
 */
struct dcqcn_qp_view {
	u64 now;
	u32 qpn;
	u8 type;
	u8 prio;
	u8 ack_timeout;
	bool limited;
	bool released;
	u32 peer_qpn;
	struct in6_addr peer;
	struct dcqcn_rate rate;
	u64 line;
	u64 floor;
	u64 delivered;
	u64 period;
	u64 ai;
	u16 ev;
	u32 queue_packets;
	u32 queue_bytes;
	struct dcqcn_flow_stat stat;
	bool chosen;
	char choice[DCQCN_CC_NAME_MAX];
	u32 ce_received;
	u32 cnps_sent;
	u32 cnps_handled;
	u32 cnps_ignored;
	u64 handled_time;
};

void dcqcn_qp_exit(void);
void dcqcn_qp_dev_init(struct dcqcn_dev *dev);
void dcqcn_qp_dev_flush(struct dcqcn_dev *dev);
void dcqcn_qp_dev_release(struct dcqcn_dev *dev);
void dcqcn_qp_dev_exit(struct dcqcn_dev *dev);

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *dev, u32 qpn);
struct dcqcn_qp *dcqcn_qp_begin(struct dcqcn_dev *dev, u32 qpn,
				const struct dcqcn_tx *tx);
struct dcqcn_qp *dcqcn_qp_next(struct dcqcn_dev *dev, unsigned long *qpn);
void dcqcn_qp_kill(struct dcqcn_qp *qp);
void dcqcn_qp_free(struct dcqcn_qp *qp);
bool dcqcn_qp_look(struct dcqcn_qp *qp, struct dcqcn_qp_view *view);
bool dcqcn_qp_contradict(struct dcqcn_qp *qp, const struct dcqcn_tx *tx);

/**
 * dcqcn_qp_find() - find the entry of a local QP
 * @dev: port
 * @qpn: local QP number
 *
 * Like xa_load(), but inline, because every packet that rxe sends passes here. QP0 and QP1 have no
 * entries, so that the head of the xarray is a node. UBSAN need not check shift and index, which
 * are in range: a call that reports an error would make the compiler save registers for each
 * packet.
 *
 * Context: under RCU. Return: the entry, or NULL.
 */
static __always_inline struct dcqcn_qp *dcqcn_qp_find(const struct dcqcn_dev *dev, u32 qpn)
{
	void *entry = xa_head(&dev->qps);
	const struct xa_node *node;
	unsigned int shift;

	if (!entry)
		return NULL;
	node = xa_to_node(entry);
	shift = node->shift % 32;
	if (qpn >> shift > XA_CHUNK_MASK)
		return NULL;
	for (;;) {
		entry = rcu_dereference(*(node->slots + ((qpn >> shift) & XA_CHUNK_MASK)));
		if (!entry || !shift)
			return entry;
		node = xa_to_node(entry);
		shift = node->shift % 32;
	}
}

/**
 * dcqcn_qp_wait() - let an event wait for a QP to be resolved
 * @qp: the QP, which is resolving; its lock is held
 *
 * Context: any. Return: the struct to add the event to; NULL if there is no memory.
 */
static inline struct dcqcn_waiting *dcqcn_qp_wait(struct dcqcn_qp *qp)
{
	if (!qp->waiting)
		qp->waiting = kzalloc(sizeof(*qp->waiting), GFP_ATOMIC | __GFP_NOWARN);
	if (!qp->waiting)
		dcqcn_count(qp->dev, DCQCN_QP_ERRORS);
	return qp->waiting;
}

/* Return true if @addr may be the QP's peer; @qp->lock is held */
static inline bool dcqcn_qp_is_peer(const struct dcqcn_qp *qp,
				    const struct in6_addr *addr)
{
	return qp->type == IB_QPT_UD || ipv6_addr_equal(&qp->peer, addr);
}

/* The type of a packet's QP, 0 for one that rxe does not have */
static inline u8 dcqcn_bth_qp_type(const struct dcqcn_bth *bth)
{
	static const u8 types[8] = { IB_QPT_RC, IB_QPT_UC, 0, IB_QPT_UD };

	return types[bth->opcode >> 5];
}

/* Return true if a packet from a live QP matches its entry */
static inline bool dcqcn_qp_matches(const struct dcqcn_qp *qp,
				    const struct dcqcn_tx *tx)
{
	if (qp->type != dcqcn_bth_qp_type(tx->bth) ||
	    (qp->owner && qp->owner != dcqcn_tx_skb(tx)->sk))
		return false;
	if (qp->type == IB_QPT_UD)
		return true;
	return qp->peer_qpn == dcqcn_bth_qpn(tx->bth) &&
	       dcqcn_ip_is_to(skb_network_header(dcqcn_tx_skb(tx)), &qp->peer);
}

/* Whether a QP has already sent a packet in this jiffy */
static inline bool dcqcn_qp_is_active(const struct dcqcn_qp *qp)
{
	unsigned long now = jiffies;

	return READ_ONCE(qp->active) == now;
}

/* The priority of the packet's QP, which is that of its data: an ACK may have another */
static inline u8 dcqcn_qp_prio(const struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	return tx->packet.kind == DCQCN_PKT_ACK ? READ_ONCE(qp->prio) : tx->prio;
}

/* Whether a request directly follows the last one that the pacer saw: then it is of the same
 * connection
 */
static inline bool dcqcn_qp_is_next(const struct dcqcn_qp *qp,
				    const struct dcqcn_tx *tx)
{
	return tx->packet.kind == DCQCN_PKT_REQUEST &&
	       tx->packet.psn == READ_ONCE(qp->flow.fifo[DCQCN_REQUESTS].last_psn) + 1;
}

/* Return true if a packet from a limited QP changes nothing in its entry: the QP is live, it sent
 * in this jiffy, and with the same priority. Without the lock: a torn read looks like a
 * change, which dcqcn_qp_confirm() then looks at.
 */
static inline bool dcqcn_qp_expects(const struct dcqcn_qp *qp,
				    const struct dcqcn_tx *tx)
{
	return READ_ONCE(qp->state) == DCQCN_QP_LIVE && qp->owner &&
	       dcqcn_qp_is_active(qp) && READ_ONCE(qp->prio) == dcqcn_qp_prio(qp, tx) &&
	       (dcqcn_qp_is_next(qp, tx) || dcqcn_qp_matches(qp, tx));
}

/**
 * dcqcn_qp_confirm() - check a packet that a QP sends against its entry
 * @qp: the entry
 * @tx: the packet. An ACK neither ends a pause nor shortens it.
 *
 * Context: under RCU; process with BH enabled, or softirq. Takes @qp->lock if the entry does
 * not describe the packet. Return: whether the QP begins to send, or has not sent for a second.
 */
static inline bool dcqcn_qp_confirm(struct dcqcn_qp *qp,
				    const struct dcqcn_tx *tx)
{
	bool data = tx->packet.kind != DCQCN_PKT_ACK;
	u8 prio = dcqcn_qp_prio(qp, tx);
	u8 state = READ_ONCE(qp->state);
	unsigned long active = READ_ONCE(qp->active), now = jiffies;

	/* A packet that is not believed has asked the core already */
	if (state == DCQCN_QP_DEAD ||
	    (state == DCQCN_QP_RESOLVING && (qp->owner || !data)))
		return false;
	/* Read without the lock: a torn read looks like a contradiction, which is
	 * checked again under the lock
	 */
	if (state != DCQCN_QP_LIVE || !dcqcn_qp_matches(qp, tx))
		return dcqcn_qp_contradict(qp, tx);
	if (!qp->owner)
		WRITE_ONCE(qp->owner, dcqcn_tx_skb(tx)->sk);
	if (qp->prio != prio)
		WRITE_ONCE(qp->prio, prio);
	if (active == now || !data)
		return false;
	WRITE_ONCE(qp->active, now);
	return now - active > HZ;
}

#endif /* DCQCN_QP_H */
