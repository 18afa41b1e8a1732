/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the path of a flow. See path.c. */
#ifndef DCQCN_PATH_H
#define DCQCN_PATH_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* For the round trip of a path that was never measured: its assumed capacity, which varies less
 * than rate and length do. Before the first mark, assume the capacity of a short link. After it,
 * assume the longest path that profile auto is made for.
 */
#define DCQCN_PATH_SHORT	100000U		/* bytes */
#define DCQCN_PATH_LONG		625000U		/* bytes */
#define DCQCN_RTT_LONGEST	(5 * NSEC_PER_MSEC)

/* ns; after this long without an ACK, a probe is given up and earlier results are forgotten. This
 * is longer than any measured round trip, and shorter than 2^24 PSNs take to repeat.
 */
#define DCQCN_PROBE_NS		NSEC_PER_SEC

/**
 * struct dcqcn_path - what a flow measures; protected by dcqcn_qp.lock
 * @probe_time: ns; when the packet left whose ACK is awaited, 0 for none
 * @acked_time: ns; when the ACK before that arrived, 0 for unknown
 * @heard_time: ns; when the round trip was measured last
 * @told_time: ns; when @told_psn was acknowledged, 0 for unknown
 * @probe_sent: @sent when the packet left whose ACK is awaited
 * @acked_sent: @sent when the packet left whose ACK was the last one
 * @sent: bytes sent on the wire; a flow may answer READs for hours before an ACK comes
 * @delivered: kb/s; what got through between the last two ACKs, and between
 *	the two before; 0 for unknown
 * @probe_psn: PSN of the packet whose ACK is awaited
 * @told_psn: PSN of the last ACK of a probe, or beyond one
 * @again_psn: PSN of the last packet that had left when rxe's timer fired
 * @again: an ACK of up to @again_psn may be of what left before rxe's timer fired
 * @asked: the peer's module answers the probe (answer.c), and not rxe
 * @answered: the peer's module has answered before
 * @patience: ns; how long the flow waits for the module's answer
 * @idle: the flow has had nothing to send since the last probe left
 * @probe_idle: the flow had nothing to send between the last two probes
 * @idled: all samples were left out because the flow had nothing to send, so no rate is known
 * @rtt: ns; round trip, queues included; 0 for unknown
 * @rtt_last: ns; the last sample, 0 for unknown
 * @rtt_recent: ns; the longer one of the last two samples, U32_MAX for unknown
 * @rtt_min: ns; the shortest one
 * @paused_rtt: ns; the shortest one before the last pauses
 * @paused_rate: kb/s; the most that got through before the last pause, 0 for unknown
 * @burst: bytes that the flow sends at once after a pause; 0 for unknown
 * @begun: value of @sent when it last did so
 * @begun_time: ns; when it last did so
 * @share: kb/s; the rate with which the flow begins again, 0 if it has met no congestion
 * @calm: number of pauses since the flow with a @share last met congestion
 * @round: bytes that it sent before the last pause
 * @in_rounds: its rounds are equal: it sent as much before the pause before that, and lost nothing
 * @owed: bytes of a burst that its rate has to make up for
 * @marked: since @begun_time, a CNP came, or the burst met a queue after a pause that followed CNPs
 * @queued: since @begun_time, the flow's burst met a queue
 * @lost: since @begun_time, packets were lost
 * @was_marked: value of @marked before the last pause
 * @was_lost: value of @lost before the last pause
 * @shares: the flow began with a share of a burst, as nothing was known of its peer
 * @published_rtt: ns; round trip that was last published to other flows
 * @published_time: ns; when it was published
 */
struct dcqcn_path {
	u64 probe_time;
	u64 acked_time;
	u64 heard_time;
	u64 told_time;
	u64 probe_sent;
	u64 acked_sent;
	u64 sent;
	u32 delivered[2];
	u32 probe_psn;
	u32 told_psn;
	u32 again_psn;
	u32 patience;
	bool again;
	bool asked;
	bool answered;
	bool idle;
	bool probe_idle;
	bool idled;
	u32 rtt;
	u32 rtt_last;
	u32 rtt_recent;
	u32 rtt_min;
	u32 paused_rtt;
	u32 paused_rate;
	u32 burst;
	u64 begun;
	u64 begun_time;
	u32 share;
	u32 owed;
	u64 round;
	u8 calm;
	bool in_rounds;
	bool marked;
	bool queued;
	bool lost;
	bool was_marked;
	bool was_lost;
	bool shares;
	u32 published_rtt;
	u64 published_time;
};

/**
 * enum dcqcn_learnt - what an ACK has told about a path
 * @DCQCN_LEARNT_NOTHING: it is older than the probe, or there is none
 * @DCQCN_LEARNT_BOUND: the round trip is at most the time since dcqcn_path_left()
 * @DCQCN_LEARNT_RTT: the round trip
 * @DCQCN_LEARNT_RATE: the round trip, and what gets through
 */
enum dcqcn_learnt {
	DCQCN_LEARNT_NOTHING,
	DCQCN_LEARNT_BOUND,
	DCQCN_LEARNT_RTT,
	DCQCN_LEARNT_RATE,
};

void dcqcn_path_probe(struct dcqcn_path *path, u32 psn, u64 now);
enum dcqcn_learnt dcqcn_path_acked(struct dcqcn_path *path, u32 psn, u64 now);
u64 dcqcn_path_left(const struct dcqcn_path *path, u32 psn);
void dcqcn_path_ask(struct dcqcn_path *path, u32 psn, u32 rtt, u64 now);
void dcqcn_path_restart(struct dcqcn_path *path);
void dcqcn_path_repeat(struct dcqcn_path *path, u32 last, u64 timeout, u64 now);
void dcqcn_path_forget(struct dcqcn_path *path);
u32 dcqcn_path_burst(struct dcqcn_path *path, u32 usual, bool asks, u64 rate,
		     u64 now);

/**
 * dcqcn_path_sent() - a packet leaves
 * @path: what is known
 * @psn: its PSN
 * @bytes: its length on the wire
 * @ack_req: it will be answered with an ACK of its PSN
 * @now: ns
 *
 * Inline, because few packets ask for an ACK.
 *
 * Context: any. The caller serialises access to @path.
 */
static inline void dcqcn_path_sent(struct dcqcn_path *path, u32 psn, u32 bytes,
				   bool ack_req, u64 now)
{
	path->sent += bytes;
	if (ack_req)
		dcqcn_path_probe(path, psn, now);
}

/* bytes between two packets that ask for an answer, after a start; an answer takes 102 bytes */
#define DCQCN_PATH_ASK		16384U

/* Whether a probe waits for its ACK or answer, and may still get one */
static inline bool dcqcn_path_awaits(const struct dcqcn_path *path, u64 now)
{
	return path->probe_time &&
	       now - path->probe_time < (path->asked ? path->patience : DCQCN_PROBE_NS);
}

/* Forget old results. A flow that answers READs may get no ACK for hours: the low rate of a few
 * earlier requests must not limit it.
 */
static inline void dcqcn_path_age(struct dcqcn_path *path, u64 now)
{
	if (path->rtt && now - path->heard_time >= DCQCN_PROBE_NS)
		dcqcn_path_forget(path);
}

/* ns; the round trip of a path of which only line rate and capacity are known */
static inline u32 dcqcn_path_unknown_rtt(u64 line, u32 holds)
{
	return clamp(div64_u64(holds * 8ULL * NSEC_PER_SEC, line), (u64)NSEC_PER_USEC,
		     (u64)DCQCN_RTT_LONGEST);
}

/* bit/s; the least that got through lately, 0 for unknown */
static inline u64 dcqcn_path_least(const struct dcqcn_path *path)
{
	return min(path->delivered[0], path->delivered[1]) * 1000ULL;
}

/* bit/s; the most that got through lately, 0 for unknown */
static inline u64 dcqcn_path_most(const struct dcqcn_path *path)
{
	return max(path->delivered[0], path->delivered[1]) * 1000ULL;
}

#endif /* DCQCN_PATH_H */
