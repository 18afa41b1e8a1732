/* SPDX-License-Identifier: GPL-2.0 */
/* A flow's packets: FIFOs and timer. See queue.c. */
#ifndef DCQCN_QUEUE_H
#define DCQCN_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include "device.h"
#include "packet.h"
#include "path.h"
#include "rate.h"
#include "tx.h"

struct dcqcn_qp;

/**
 * struct dcqcn_flow_stat - what happened to a QP's packets since its entry was created
 * @paced_packets: sent through the limiter, held before or not
 * @paced_bytes: their length on the wire
 * @max_packets: most that were held at a time
 * @max_bytes: most bytes that were held at a time
 * @expired: sent before they were due
 * @drop_bound: dropped because the bound on held packets was reached
 * @drop_stale: dropped because rxe sends them again, or because the QP has a new connection
 * @drop_dead: dropped because QP or device went away
 */
struct dcqcn_flow_stat {
	u64 paced_packets;
	u64 paced_bytes;
	u32 max_packets;
	u32 max_bytes;
	u32 expired;
	u32 drop_bound;
	u32 drop_stale;
	u32 drop_dead;
};

/**
 * struct dcqcn_fifo - packets of a flow that must leave in order
 * @queue: the held packets
 * @last_psn: PSN of the last request, or READ response, of RC and UC
 * @begun: there was a request, or READ response, since the limit began
 * @skipped: requests that left without the lock, modulo 256; only rxe's requester changes it
 * @charged: value of @skipped up to which requests were charged
 * @allowed: value of @skipped up to which requests may leave; differs from @charged only in a start
 *	or with an open window, and while nothing is held
 */
struct dcqcn_fifo {
	struct sk_buff_head queue;
	u32 last_psn;
	bool begun;
	u8 skipped;
	u8 charged;
	u8 allowed;
};

/**
 * struct dcqcn_flow - the limiter of one QP; protected by dcqcn_qp.lock
 *
 * The fields that each held packet writes come first, and share a cache line with that lock.
 *
 * @released: the limit is off; what is held leaves, then dcqcn_qp.limited ends
 * @draining: a CPU is sending the flow's packets; all others queue
 * @sending_responses: READ responses, or ACKs that were behind them, are among the packets being
 *	sent
 * @stuck: rxe has gone back to @back_psn twice
 * @skip_bytes: length of the requests that may leave without the lock, below 5 KB like all of rxe's
 * @next: ns; when the next packet may leave
 * @remainder: what @next lost in rounding, in bit * 10^9 (< a rate in bit/s)
 * @gap: ns; cost of the last packet; 0.5 s for 64 KB at 1 Mb/s
 * @burst: bytes that may still leave at once
 * @ack_req_time: in units of 2^10 ns, modulo 2^32 units (73 min); when a request that requests an
 *	ACK last left
 * @back_psn: PSN to which rxe has last gone back since the limit began; or DCQCN_PSN_NONE
 * @held_bytes: length of all held packets on the wire
 * @lead: bytes that requests are ahead of responses, while both are held
 * @held_memory: bytes of memory that the packets of each FIFO take
 * @fifo: requests, and READ responses; the peer does not depend on their relative order
 * @stat: what happened to its packets
 * @path: measurements of its path; NULL if no knob depends on them or there was no memory
 * @rate: the rate algorithm's state
 * @timer: drains the FIFOs
 */
struct dcqcn_flow {
	bool released;
	bool draining;
	bool sending_responses;
	bool stuck;
	u16 skip_bytes;
	u64 next;
	u64 remainder;
	u32 gap;
	u32 burst;
	u32 ack_req_time;
	u32 back_psn;
	u32 held_bytes;
	s32 lead;
	u32 held_memory[DCQCN_NUM_FIFOS];
	struct dcqcn_fifo fifo[DCQCN_NUM_FIFOS];
	struct dcqcn_flow_stat stat;
	struct dcqcn_path *path;
	struct dcqcn_rate rate;
	struct hrtimer timer;
};

/* How many packets of a flow are held, in both FIFOs */
static inline u32 dcqcn_flow_held(const struct dcqcn_flow *flow)
{
	return skb_queue_len(&flow->fifo[DCQCN_REQUESTS].queue) +
	       skb_queue_len(&flow->fifo[DCQCN_RESPONSES].queue);
}

/* Note how many packets and bytes a flow holds. Called before there are fewer, and not for each
 * packet.
 */
static inline void dcqcn_flow_note_most(struct dcqcn_flow *flow)
{
	struct dcqcn_flow_stat *stat = &flow->stat;

	stat->max_packets = max(stat->max_packets, dcqcn_flow_held(flow));
	stat->max_bytes = max(stat->max_bytes, flow->held_bytes);
}

#define DCQCN_PSN_NONE	U32_MAX	/* a PSN has 24 bits */

/* ns -> the unit of dcqcn_flow.ack_req_time, 2^10 ns */
#define DCQCN_FLOW_CLOCK_SHIFT	10

static inline u32 dcqcn_flow_clock(u64 now)
{
	return now >> DCQCN_FLOW_CLOCK_SHIFT;
}

/* Send a packet of a limited flow. It continues behind our hook, which is the last one and has
 * stolen it. Do not tell rxe the result: a transmit error would stop the QP for good, but a lost
 * packet is only sent again.
 */
static __always_inline void dcqcn_queue_send(struct sk_buff *skb)
{
	dst_output(dev_net(skb_dst(skb)->dev), skb->sk, skb);
}

/* Which FIFO takes a kind of packet */
static inline enum dcqcn_fifo_kind dcqcn_fifo_of(enum dcqcn_pkt_kind kind)
{
	return kind == DCQCN_PKT_REQUEST ? DCQCN_REQUESTS : DCQCN_RESPONSES;
}

void dcqcn_queue_init(struct dcqcn_flow *flow);
unsigned int dcqcn_queue_output(struct dcqcn_qp *qp, struct dcqcn_tx *tx);
void dcqcn_queue_acked(struct dcqcn_qp *qp, u32 psn, u8 hops);
void dcqcn_queue_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *settings, u64 now);
bool dcqcn_queue_answered(struct dcqcn_qp *qp, u32 psn, u32 held);
void dcqcn_queue_kick(struct dcqcn_qp *qp);
void dcqcn_queue_hasten(struct dcqcn_qp *qp);
void dcqcn_queue_advance(struct dcqcn_qp *qp, u64 now);
void dcqcn_queue_release(struct dcqcn_qp *qp);
void dcqcn_queue_flush(struct dcqcn_qp *qp);
void dcqcn_queue_reset(struct dcqcn_qp *qp, struct sk_buff_head *dropped);

#endif /* DCQCN_QUEUE_H */
