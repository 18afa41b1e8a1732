/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control algorithms that plug into rdma_dcqcn.
 *
 * An algorithm gives each of its flows, the packets that a queue pair sends, a rate, a window, or
 * both. It is a set of functions that the module calls when something happens to a flow. A module
 * registers it with dcqcn_register_cc(), and a port chooses it by name: ``dcqcn cc use NAME``, or
 * the file ``roce_rp/cc_algorithm``. examples/cc/aimd.c is a short one to begin with, and
 * Documentation/infiniband/rdma_dcqcn_cc.rst explains how to try and judge one.
 *
 * All functions but @init may be NULL. They run in softirq, or in process context with bottom
 * halves disabled, under RCU and with the flow's lock, so they must not sleep. Calls for one flow
 * never overlap; those for two flows run at the same time on different CPUs.
 *
 * The module enforces what an algorithm writes within bounds, so that a bad one may be slow but
 * cannot harm the host: see &struct dcqcn_cc. It also keeps rxe's retransmission timer from
 * firing behind a low rate or a closed window, as it does for its own algorithms.
 */
#ifndef _RDMA_DCQCN_CC_H
#define _RDMA_DCQCN_CC_H

#include <linux/types.h>

#define DCQCN_CC_NAME_MAX	16		/* with the final 0 */
#define DCQCN_CC_NO_WINDOW	0xffffffffU
#define DCQCN_CC_PRIVATE	128		/* bytes */

/* Flags of an algorithm. It needs ACKs: flows without ACKs, which are UC, UD and READ responses,
 * keep DCQCN.
 */
#define DCQCN_CC_NEEDS_ACKS	0x1
/* It wants to know the worst hop: packets carry stamps for switches to fill in, if the peer reads
 * them
 */
#define DCQCN_CC_WANTS_HOPS	0x2
/* It wants to know the delay on the way to the peer: a packet per window, or per 16 KB, asks the
 * peer's module when it arrived, if the module has answered before
 */
#define DCQCN_CC_WANTS_DELAY	0x4

/**
 * struct dcqcn_cc - a flow, as its algorithm sees it
 *
 * What the module writes before each call:
 *
 * @now: ns; monotonic clock, never before the last call's
 * @line: bit/s; rate of the port, or the knob rpg_max_rate
 * @floor: bit/s; the knob rpg_min_rate, at least 1 Mb/s and at most @line
 * @packet: bytes; longest packet of the flow so far, headers included; at least 1
 * @in_flight: bytes of requests that were sent and neither acknowledged nor lost
 * @rtt: ns; the round trip measured last, queues included; 0 for unknown
 * @rtt_min: ns; the shortest one since the flow began, or began again after a second without data;
 *	0 for unknown. If other flows never let the queue drain, it includes that queue. One of a
 *	packet that is sent again is taken back if the peer turns out to have had that packet.
 * @rtt_base: ns; round trip of the longest path without queues, if the knob ccc_base_rtt says so,
 *	up to 131 ms; 0 for unknown
 * @hops: routers between the peer and this host, by the TTL of ACKs; 0 for none or unknown
 *
 * What the algorithm may write, and the module keeps from call to call:
 *
 * @rate: bit/s; packets leave at this rate. The module clamps it to @floor and @line before and
 *	after each call. It is @line before @init.
 * @next_call: ns, absolute; when to call @timer, 0 for never. It is called once, not earlier than
 *	DCQCN_CC_TIMER_MIN_NS from the call that sets it. If the flow has nothing to send then, it
 *	is called just before the next event.
 * @window: bytes; a packet leaves only if @in_flight and a packet of length @packet fit, or if
 *	nothing is in flight. So a window of 0 lets one packet leave each round trip.
 *	DCQCN_CC_NO_WINDOW, as before @init, for no bound. Only requests whose ACK can be asked for
 *	count.
 * @path: write another number to ask for another path, or 0 for that of rxe: requests get another
 *	UDP source port, by which switches choose one of several paths. Its lowest 14 bits count.
 *	Requests are held until nothing of the flow is in flight, because rxe takes an overtaken
 *	packet for lost.
 * @private: zeroed before @init; use dcqcn_cc_private()
 */
struct dcqcn_cc {
	__u64 now;
	__u64 line;
	__u64 floor;
	__u32 packet;
	__u32 in_flight;
	__u32 rtt;
	__u32 rtt_min;
	__u32 hops;
	__u32 rtt_base;

	__u64 rate;
	__u64 next_call;
	__u32 window;
	__u32 path;
	__u64 private[DCQCN_CC_PRIVATE / 8];
};

#define DCQCN_CC_TIMER_MIN_NS	20000U

/**
 * struct dcqcn_cc_hop - the hop with the highest load on a packet's path, when the packet left it
 * @mbps: Mb/s; rate at which its queue is emptied; 0 if nothing is known
 * @queue: bytes that waited behind the packet
 * @sent: bytes that the hop has sent from this queue, modulo 2^32, counted as on the wire. Compare
 *	it with that of another sample only if both have the same @number.
 * @time: ns; when the packet left, modulo 2^32, by the hop's clock
 * @number: identifies the hop
 */
struct dcqcn_cc_hop {
	__u32 mbps;
	__u32 queue;
	__u32 sent;
	__u32 time;
	__u32 number;
};

/**
 * struct dcqcn_cc_sample - what the module learns from an ACK
 * @rtt: ns; from the departure of the packet that is acknowledged, behind the module's own queue,
 *	to the arrival of its ACK; 0 if the ACK is for several packets, and not its own, or if the
 *	peer may have had the packet before, as the ACK may be older then
 * @delay: ns; @rtt less the time that its ACK waited in queues on the way back, which says nothing
 *	about the path of the flow's packets. That is rtt_min of the flow, and what queues on the
 *	way to the peer have added. Needs DCQCN_CC_WANTS_DELAY. It is @rtt while the peer's module
 *	does not answer, and 0 if it does, but not for this packet. An upper bound, because the
 *	clocks of both hosts drift apart: flight.c has the formula. The wait in the peer's rxe
 *	counts as on the way back.
 * @interval: ns; time since the previous ACK; 0 if there was none since a pause or a loss
 * @delivered: bytes that this ACK is the first to acknowledge
 * @marked: bytes of @delivered that had CE, as CNPs report them: each CNP stands for a packet of
 *	the flow's longest length. It is exact if packets are of one length, and the receiver sends
 *	a CNP for each mark (min_time_between_cnps 0). With fewer CNPs it is too low.
 * @app_limited: the flow had nothing to send, so that neither rate nor window limited it
 * @hop: the worst hop, if a stamp was reported since the last ACK; needs DCQCN_CC_WANTS_HOPS
 */
struct dcqcn_cc_sample {
	__u32 rtt;
	__u32 delay;
	__u32 interval;
	__u32 delivered;
	__u32 marked;
	__u32 app_limited;
	struct dcqcn_cc_hop hop;
};

/**
 * struct dcqcn_cc_ops - an algorithm
 * @name: its name, of letters, digits, ``-`` and ``_``
 * @flags: DCQCN_CC_*
 * @init: a flow begins to obey this algorithm; must not fail
 * @release: a flow no longer obeys this algorithm, and its private state is lost. Called once for
 *	each @init.
 * @cnp: a congestion notification packet (CNP) came
 * @ack: an ACK came that acknowledges something new. If set, the module makes packets ask for ACKs
 *	often enough: when the window is full, and after an eighth of it or 16 KB.
 * @loss: rxe goes back to a packet that it has sent before; what was in flight counts as lost
 * @idle: the flow sends again after it had nothing to send for @ns, more than a round trip
 * @timer: the time @next_call has come
 * @sent: a packet of @bytes, headers included, leaves
 *
 * The algorithm's module may be unloaded at any time: dcqcn_unregister_cc() releases its flows, so
 * no reference to the module is taken. The struct must stay valid and unchanged from
 * dcqcn_register_cc() to the end of dcqcn_unregister_cc().
 */
struct dcqcn_cc_ops {
	char name[DCQCN_CC_NAME_MAX];
	__u32 flags;
	void (*init)(struct dcqcn_cc *cc);
	void (*release)(struct dcqcn_cc *cc);
	void (*cnp)(struct dcqcn_cc *cc);
	void (*ack)(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample);
	void (*loss)(struct dcqcn_cc *cc);
	void (*idle)(struct dcqcn_cc *cc, __u64 ns);
	void (*timer)(struct dcqcn_cc *cc);
	void (*sent)(struct dcqcn_cc *cc, __u32 bytes);
};

/**
 * dcqcn_cc_private() - the state that an algorithm keeps of a flow
 * @cc: the flow
 *
 * Check the size of the struct that it is used for with BUILD_BUG_ON(): DCQCN_CC_PRIVATE bytes.
 *
 * Return: the state, aligned to 8 bytes.
 */
static inline void *dcqcn_cc_private(struct dcqcn_cc *cc)
{
	return cc->private;
}

int dcqcn_register_cc(const struct dcqcn_cc_ops *ops);
void dcqcn_unregister_cc(const struct dcqcn_cc_ops *ops);

#endif /* _RDMA_DCQCN_CC_H */
