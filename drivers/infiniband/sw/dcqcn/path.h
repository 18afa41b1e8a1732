/* SPDX-License-Identifier: GPL-2.0 */
/* What a flow learns of its path. See path.c. */
#ifndef DCQCN_PATH_H
#define DCQCN_PATH_H

#include <linux/minmax.h>
#include <linux/types.h>

/* ns; the round trip of a path that has never been measured: the longest that
 * profile auto is made for
 */
#define DCQCN_RTT_UNKNOWN	(5 * NSEC_PER_MSEC)

/* ns; a probe is given up when no ACK has come for this long, and what was measured is forgotten:
 * longer than any round trip that is measured. 2^24 PSNs take longer to repeat.
 */
#define DCQCN_PROBE_NS		NSEC_PER_SEC

/**
 * struct dcqcn_path - what a flow measures; protected by dcqcn_qp.lock
 * @probe_time: ns; when the packet left whose ACK is awaited, 0 for none
 * @acked_time: ns; when the ACK before that arrived, 0 for unknown
 * @heard_time: ns; when the round trip was measured last
 * @probe_sent: @sent when the packet left whose ACK is awaited
 * @acked_sent: @sent when the packet left whose ACK was the last one
 * @sent: bytes on the wire: a flow may answer READs for hours before an ACK comes
 * @delivered: kb/s; what got through between the last two ACKs, and between
 *	the two before; 0 for unknown
 * @probe_psn: PSN of the packet whose ACK is awaited
 * @rtt: ns; round trip, queues included; 0 for unknown
 * @rtt_min: ns; the shortest one
 */
struct dcqcn_path {
	u64 probe_time;
	u64 acked_time;
	u64 heard_time;
	u64 probe_sent;
	u64 acked_sent;
	u64 sent;
	u32 delivered[2];
	u32 probe_psn;
	u32 rtt;
	u32 rtt_min;
};

/**
 * enum dcqcn_learnt - what an ACK tells of a path
 * @DCQCN_LEARNT_NOTHING: it is older than the probe, or there is none
 * @DCQCN_LEARNT_BOUND: the round trip is not longer than since the probe left
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
void dcqcn_path_restart(struct dcqcn_path *path);
void dcqcn_path_forget(struct dcqcn_path *path);

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

/* Whether a probe waits for its ACK, and may still get one */
static inline bool dcqcn_path_awaits(const struct dcqcn_path *path, u64 now)
{
	return path->probe_time && now - path->probe_time < DCQCN_PROBE_NS;
}

/* Forget what was measured too long ago. A flow that answers READs may get no ACK for hours: what
 * got through when it sent a few requests must not limit it.
 */
static inline void dcqcn_path_age(struct dcqcn_path *path, u64 now)
{
	if (path->rtt && now - path->heard_time >= DCQCN_PROBE_NS)
		dcqcn_path_forget(path);
}

/* bit/s; what got through lately at least, 0 for unknown */
static inline u64 dcqcn_path_least(const struct dcqcn_path *path)
{
	return min(path->delivered[0], path->delivered[1]) * 1000ULL;
}

/* bit/s; what got through lately at most, 0 for unknown */
static inline u64 dcqcn_path_most(const struct dcqcn_path *path)
{
	return max(path->delivered[0], path->delivered[1]) * 1000ULL;
}

#endif /* DCQCN_PATH_H */
