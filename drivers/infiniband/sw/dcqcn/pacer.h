/* SPDX-License-Identifier: GPL-2.0 */
/* A flow's limiter: FIFO, credit and timer. See pacer.c. */
#ifndef DCQCN_PACER_H
#define DCQCN_PACER_H

#include <linux/hrtimer.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "packet.h"
#include "rate.h"

struct dcqcn_qp;

typedef int (*dcqcn_okfn)(struct net *net, struct sock *sk,
			  struct sk_buff *skb);

/**
 * struct dcqcn_flow_stat - what happened to a QP's packets since its first CE
 *	or CNP
 * @paced_packets: sent through the limiter, held before or not
 * @paced_bytes: their length on the wire
 * @max_packets: most that were held at a time
 * @max_bytes: most bytes that were held at a time
 * @expired: sent before they were due
 * @drop_bound: dropped at the byte bound
 * @drop_stale: dropped because they come again
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
 * struct dcqcn_flow - the limiter of one QP; protected by dcqcn_qp.lock
 * @limited: packets must pass through here
 * @released: the limit is off; what is held leaves, then @limited ends
 * @draining: somebody is sending; everyone else queues
 * @rate: the rate algorithm's state
 * @next: ns; when the next packet may leave
 * @remainder: what @next lost in rounding, in bit * 10^9 (< a rate in bit/s)
 * @gap: ns; what the last packet cost
 * @floor: bit/s; rate that the held requests need to leave in time
 * @queue: held packets, in order
 * @held_bytes: their length on the wire
 * @held_requests: how many are requests
 * @held_responses: how many are READ responses
 * @last_psn: PSN of the last request and READ response
 * @seen: whether there was one
 * @request_bytes: longest request seen, on the wire
 * @floor_bytes: what @floor makes leave in time; 0 with it
 * @stat: what happened to its packets
 * @okfn: sends a packet on behind our hook
 * @timer: drains
 */
struct dcqcn_flow {
	bool limited;
	bool released;
	bool draining;
	struct dcqcn_rate rate;
	u64 next;
	u64 remainder;
	u64 gap;
	u64 floor;
	struct sk_buff_head queue;
	u32 held_bytes;
	u32 held_requests;
	u32 held_responses;
	u32 last_psn[2];
	bool seen[2];
	u32 request_bytes;
	u32 floor_bytes;
	struct dcqcn_flow_stat stat;
	dcqcn_okfn okfn;
	struct hrtimer timer;
};

void dcqcn_pacer_init(struct dcqcn_flow *flow);
void dcqcn_pacer_start(struct dcqcn_qp *qp, u64 now);
bool dcqcn_pacer_output(struct dcqcn_qp *qp, struct sk_buff *skb,
			enum dcqcn_pkt_kind kind, u32 psn, bool limit,
			dcqcn_okfn okfn);
void dcqcn_pacer_advance(struct dcqcn_qp *qp, u64 now);
void dcqcn_pacer_tick(struct dcqcn_qp *qp);
void dcqcn_pacer_release(struct dcqcn_qp *qp);
void dcqcn_pacer_flush(struct dcqcn_qp *qp);
void dcqcn_pacer_reset(struct dcqcn_qp *qp, struct sk_buff_head *dropped);

#endif /* DCQCN_PACER_H */
