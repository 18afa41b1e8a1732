/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion control contexts. See ccc.c; agree.c, window.c, hear.c (sending); ccc_receiver.c. */
#ifndef DCQCN_CCC_H
#define DCQCN_CCC_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/time64.h>

#include "device.h"
#include "nscc.h"
#include "packet.h"
#include "qp.h"
#include "rccc.h"

struct dcqcn_rx;
struct sk_buff;

/* Packets whose answer is awaited */
#define DCQCN_CCC_PROBES	16

/* Bytes after which a sender asks for feedback, see dcqcn_ccc_asks() */
#define DCQCN_CCC_ASK		16384U

/* Bytes after which a receiver sends feedback without being asked */
#define DCQCN_CCC_UNREPORTED	(2 * DCQCN_CCC_ASK)

/* A sender that has credit left, but was silent for longer than this, and than the receiver's line
 * takes for so many bytes, is granted no more. It has its initial credit again when it resumes. Two
 * jiffies, because the time of the last packet is that of the first one in a jiffy; four packets of
 * the longest kind, because a slow line delivers one in 8 ms.
 */
#define DCQCN_CCC_SILENT	max_t(u64, 8 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC / HZ)	/* ns */
#define DCQCN_CCC_SILENT_BYTES	(4 * 4200ULL)	/* bytes */

/**
 * struct dcqcn_probe - a packet that asked for feedback
 * @time: ns; when it left, 0 if it left twice
 * @local: its QP
 * @qpn: its destination QP
 * @last: its flow waits for the answer
 * @psn: its PSN
 * @sent: dcqcn_ccc_sender.sent when it had left
 */
struct dcqcn_probe {
	u64 time;
	u32 local;
	u32 qpn : 24;
	u32 last : 1;
	u32 psn;
	u32 sent;
};

/**
 * struct dcqcn_ccc_sender - the sender's half of a context
 *
 * Positions count the bytes sent to the peer, modulo 2^32.
 *
 * @agreed: DCQCN_CCC_*, once the peer has named the same; 0 before
 * @timeouts: number of timeouts in a row without feedback
 * @num_probes: number of @probes
 * @num_overtaken: number of oldest probes of which a later one was answered. They were lost or are
 *	on a slower path, and no answer is expected.
 * @marked: some of @newly were marked
 * @mbps: the peer's line rate
 * @sent: position up to which packets were sent
 * @acked: position up to which every byte has arrived or was lost
 * @limit: position up to which there is credit
 * @asked: position up to which credit was asked for, if that is beyond @limit
 * @asked_at: position of the last packet that asked, or of a later one that has arrived
 * @asked_from: an earlier position: nothing of @asked_since was asked for before
 * @asked_since: bytes of credit that packets after @asked_from asked for
 * @ahead: bytes; what leaves in a round trip at the line rate
 * @lone: bytes of one-packet messages that left since @round_time with nothing queued behind them
 * @lone_before: the same in the round trip before @round_time, 0 after a pause
 * @epoch: of the peer's counts
 * @received: bytes received, as the peer counted them in its last feedback
 * @peer_marked: bytes marked, as the peer counted them in its last feedback
 * @offset: our position minus the peer's count: bytes lost, and where the count began
 * @expired: bytes that a timeout took for lost, until an echo says how many were
 * @newly: bytes that have arrived since the window was last updated
 * @unasked: bytes sent since the last probe
 * @rtt: ns; the last one measured
 * @grant_gap: ns; how long a request for credit waits for a grant: the longest wait, which decays
 * @entropy_changes: how often its flows took another path
 * @lent: bytes; what @spare was when it was set
 * @spare: of @lent, bytes that have not left yet; packets take their bytes from it without
 *	the lock, and dcqcn_ccc_settle() adds these to @sent
 * @heard_time: ns; last feedback, or when the wait for feedback began
 * @grant_time: ns; when the peer last granted credit, or was first asked for more since then
 * @sent_time: ns; when a packet last left other than through dcqcn_ccc_passes()
 * @round_time: ns; when @lone was last set to 0
 * @offer_time: ns; when we last offered the context to the peer
 * @offer_gap: ns; until we offer it again
 * @window: state of NSCC
 * @waiting: flows that hold packets, dcqcn_qp.wait_node
 * @probes: oldest first
 */
struct dcqcn_ccc_sender {
	u8 agreed;
	u8 timeouts;
	u8 num_probes;
	u8 num_overtaken;
	bool marked;
	u32 mbps;
	u32 sent;
	u32 acked;
	u32 limit;
	u32 asked;
	u32 asked_at;
	u32 asked_from;
	u32 asked_since;
	u32 ahead;
	u32 lone;
	u32 lone_before;
	u32 epoch;
	u32 received;
	u32 peer_marked;
	u32 offset;
	u32 expired;
	u32 newly;
	u32 unasked;
	u32 rtt;
	u32 grant_gap;
	u32 entropy_changes;
	u32 lent;
	atomic_t spare;
	u64 heard_time;
	u64 grant_time;
	u64 sent_time;
	u64 round_time;
	u64 offer_time;
	u64 offer_gap;
	struct dcqcn_nscc window;
	struct list_head waiting;
	struct dcqcn_probe probes[DCQCN_CCC_PROBES];
};

/**
 * struct dcqcn_ccc_receiver - what a peer sends to us
 * @epoch: random; redrawn when the counts restart
 * @received: bytes of data packets, modulo 2^32
 * @marked: of those, with CE
 * @unreported: bytes received since the last feedback
 * @askers: number of our QPs that have received a request
 * @echo_waits: the answer to a request waits for the next grant
 * @has_echo: a request has come since the last feedback
 * @echo_marked: half of the bytes for its QP, or more, were marked
 * @echo_qpn: destination QP of the last request
 * @echo_psn: PSN of the last request
 * @echo_received: value of @received when the last request had arrived
 * @echo_time: ns; when the last request arrived
 * @time: ns; last packet, or last turn of a source that could only wait for its turn
 * @source: state of RCCC
 * @grant_node: in dcqcn_credit.sources, while the peer is granted credit in turn
 * @feedback_time: ns; last feedback
 * @rtt: ns; the least time from a grant to the arrival of half of its bytes, 0 for unknown
 * @rtt_received: value of @received once half of the bytes of the timed grant have arrived or,
 *	after a pause, those that may be left from before it
 * @rtt_marked: value of @marked when the grant left; another after a pause: the time is not used
 * @rtt_time: ns; when the grant left or the pause ended, 0 for none
 * @rtt_blocked: no grant is timed, because a pause has ended
 * @ifindex: of the interface by which packets come
 * @pkey: P_Key of the last packet
 */
struct dcqcn_ccc_receiver {
	u32 epoch;
	u32 received;
	u32 marked;
	u32 unreported;
	u32 askers;
	bool echo_waits;
	bool has_echo;
	bool echo_marked;
	u32 echo_qpn;
	u32 echo_psn;
	u32 echo_received;
	u64 echo_time;
	u64 time;
	struct dcqcn_rccc_source source;
	struct list_head grant_node;
	u64 feedback_time;
	u32 rtt;
	u32 rtt_received;
	u32 rtt_marked;
	u64 rtt_time;
	bool rtt_blocked;
	int ifindex;
	u16 pkey;
};

/**
 * struct dcqcn_ccc - all traffic of one priority between us and one peer
 * @lock: protects @tx and @rx; nests in dcqcn_qp.lock and dcqcn_credit.lock
 * @node: in dcqcn_contexts.chains
 * @dev: the port
 * @id: each new context of the port gets a larger one
 * @local: our address
 * @peer: the peer's
 * @prio: priority of the packets
 * @refs: QPs that use it; protected by dcqcn_contexts.lock
 * @dead: it is in no list, and must not be added to one; protected by dcqcn_credit.lock
 * @tx: what we send
 * @rx: what we receive
 * @rcu: to free it
 */
struct dcqcn_ccc {
	spinlock_t lock;	/* protects @tx and @rx */
	struct hlist_node node;
	struct dcqcn_dev *dev;
	u64 id;
	struct in6_addr local;
	struct in6_addr peer;
	u8 prio;
	bool dead;
	u32 refs;
	struct dcqcn_ccc_sender tx;
	struct dcqcn_ccc_receiver rx;
	struct rcu_head rcu;
};

/**
 * struct dcqcn_ccc_view - snapshot of a context
 * @local: our address
 * @peer: the peer's
 * @prio: priority of the packets
 * @agreed: DCQCN_CCC_*, what both ends want; 0 if DCQCN limits the flows
 * @qps: local QPs that use it
 * @line: bit/s; the lower one of both ends' line rates
 * @base: ns; round trip without queues
 * @target: ns; queueing delay that the window aims at
 * @rtt: ns; round trip measured last, 0 for none
 * @delay: ns; average queueing delay
 * @bdp: bytes
 * @max_window: bytes
 * @window: bytes; 0 before the first agreement
 * @flight: bytes sent and not acknowledged
 * @credit: bytes that may be sent, negative for what was sent beyond that
 * @received: bytes of data packets from the peer, modulo 2^32
 * @marked: of those, with CE
 * @granted: bytes that the peer may still send, negative for what it has sent beyond that
 * @asks: the peer has more to send
 * @entropy_changes: how often our flows took another path
 */
struct dcqcn_ccc_view {
	struct in6_addr local;
	struct in6_addr peer;
	u8 prio;
	u8 agreed;
	u32 qps;
	u64 line;
	u32 base;
	u32 target;
	u32 rtt;
	u32 delay;
	u32 bdp;
	u32 max_window;
	u32 window;
	u32 flight;
	s32 credit;
	u32 received;
	u32 marked;
	s32 granted;
	bool asks;
	u32 entropy_changes;
};

void dcqcn_ccc_dev_init(struct dcqcn_dev *dev);
void dcqcn_ccc_dev_exit(struct dcqcn_dev *dev);
struct dcqcn_ccc *dcqcn_ccc_find(struct dcqcn_dev *dev,
				 const struct in6_addr *local,
				 const struct in6_addr *peer, u8 prio);
struct dcqcn_ccc *dcqcn_ccc_next(struct dcqcn_dev *dev, u32 *chain, u64 *at);
struct dcqcn_ccc *dcqcn_ccc_join(struct dcqcn_qp *qp,
				 const struct in6_addr *local,
				 const struct in6_addr *peer, u8 prio);
void dcqcn_ccc_leave(struct dcqcn_qp *qp);
void dcqcn_ccc_look(struct dcqcn_ccc *ccc, struct dcqcn_ccc_view *view);

/* agree.c */
void dcqcn_ccc_output(struct dcqcn_qp *qp,
		      const struct dcqcn_settings *settings,
		      struct sk_buff *skb, u8 prio);
void dcqcn_ccc_offer(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now);

/* window.c */
u16 dcqcn_ccc_ev(const struct dcqcn_qp *qp);
void dcqcn_ccc_steer(struct dcqcn_qp *qp, struct sk_buff *skb);
u64 dcqcn_ccc_may_send(struct dcqcn_qp *qp, bool fresh, u64 now);
bool dcqcn_ccc_sent(struct dcqcn_qp *qp, struct sk_buff *skb, u32 psn, u32 bytes,
		    u32 held, bool goes_on, u64 now);

/* hear.c */
void dcqcn_ccc_feedback(const struct dcqcn_rx *in);

/* ccc_receiver.c */
bool dcqcn_ccc_keep_offer(struct dcqcn_qp *qp, const struct dcqcn_event *event);
bool dcqcn_ccc_receive_plain(const struct sk_buff *skb, struct dcqcn_headers headers);
bool dcqcn_ccc_receive(const struct dcqcn_rx *in);
void dcqcn_ccc_other(struct dcqcn_dev *dev, const struct sk_buff *skb);
void dcqcn_ccc_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event);
void dcqcn_ccc_credit_init(struct dcqcn_dev *dev);

/* Stop granting credit to a peer; the lock of the grants is held */
static inline void dcqcn_ccc_ungrant(struct dcqcn_ccc *ccc)
{
	ccc->dev->credit.num -= !list_empty(&ccc->rx.grant_node);
	list_del_init(&ccc->rx.grant_node);
}

/* The path of a QP in a context whose lock is held, NULL if the QP has left the context */
static inline struct dcqcn_route *dcqcn_ccc_route(struct dcqcn_ccc *ccc,
						  struct dcqcn_qp *qp)
{
	return rcu_access_pointer(qp->ccc) == ccc ? qp->route : NULL;
}

/**
 * dcqcn_ccc_passes() - let a data packet leave without its context's lock, if it may
 * @ccc: the context
 * @bth: the packet's BTH; the context's bits are set in it
 * @bytes: on the wire
 *
 * A context that is far from its bounds lends its flows bytes. They send these without taking its
 * lock or reading the clock. dcqcn_ccc_sent() decides which flows may do so.
 *
 * Context: any, under RCU. Return: whether it leaves, and was charged.
 */
static inline bool dcqcn_ccc_passes(struct dcqcn_ccc *ccc, struct dcqcn_bth *bth,
				    u32 bytes)
{
	int spare = atomic_read(&ccc->tx.spare);

	if (spare < (int)bytes ||
	    !atomic_try_cmpxchg(&ccc->tx.spare, &spare, spare - (int)bytes))
		return false;
	bth->qpn |= cpu_to_be32(DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED);
	return true;
}

/* Whether @ns without a packet are a pause of the sender; @line: the receiver's, in bit/s */
static inline bool dcqcn_ccc_is_pause(u64 ns, u64 line)
{
	return ns > DCQCN_CCC_SILENT &&
	       ns > div64_u64(DCQCN_CCC_SILENT_BYTES * 8 * NSEC_PER_SEC, line);
}

/* Whether a QP's packets obey a context; its lock is held. A QP whose packets have taken another
 * priority keeps the old context if that priority is not limited.
 */
static inline bool dcqcn_ccc_is_ready(const struct dcqcn_qp *qp,
				      const struct dcqcn_settings *settings)
{
	const struct dcqcn_ccc *ccc;
	u8 agreed;

	ccc = rcu_dereference_protected(qp->ccc, lockdep_is_held(&qp->lock));
	agreed = ccc ? READ_ONCE(ccc->tx.agreed) : 0;

	return agreed && agreed == settings->ccc.algorithms &&
	       ccc->prio == READ_ONCE(qp->prio) && settings->rp_enable & BIT(ccc->prio);
}

#endif /* DCQCN_CCC_H */
