// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the path of a flow: how long a round trip takes, and how much gets through.
 *
 * One packet at a time is a probe: a request that asks for an ACK, stamped when
 * it leaves the pacer. The ACK of exactly its PSN gives a round trip, queues
 * included. Two of them in a row give a rate: the bytes that left between the
 * probes, divided by the time between their ACKs.
 *
 * ACKs are cumulative: one beyond the probe ends the wait as well. The probe's own ACK was lost, or
 * the peer answers several packets with one ACK, or with the response to a READ. The delay of such
 * an ACK is unknown, so it gives only an upper bound of the round trip, and no rate.
 *
 * What ends the wait for a probe's ACK:
 *
 *   the probe is lost       rxe goes back, after a NAK or its timeout: dcqcn_path_repeat()
 *   RNR NAK                 likewise, when rxe sends the packet again
 *   its ACK alone is lost   an ACK beyond it
 *   the peer sends few      an ACK beyond it
 *   no ACK comes            DCQCN_PROBE_NS: the peer answers with READ responses alone, or rxe
 *                           sends nothing more that asks
 *   no answer comes         dcqcn_path.patience, if the peer's module was asked (answer.c)
 *
 * FLUSH and ATOMIC WRITE are answered like READ, so they are no probes. An atomic operation and
 * SEND with invalidate are acknowledged, and so is a message without data. READ
 * responses and UC have probes if the peer has this module, and UD has none.
 *
 * Nothing is learnt from packets sent before a loss: measuring begins again with the first packet
 * that is sent again. That packet gets an ACK of its own, because the responder has not seen it
 * before, or answers it as a duplicate. rxe answers each duplicate with an ACK of the last packet
 * that it has, so only the first of these ACKs tells something: the others are not for the next
 * probe.
 *
 * If rxe's timer has fired, and not a NAK come, the packets may only be late: where the bursts of
 * many flows meet in a slow link, round trips exceed the timer. Then the ACK of the first
 * transmission comes shortly after the second one, and would show a round trip that is far too
 * short. So of a packet that may have left twice, an ACK gives no sample (Karn and Partridge,
 * SIGCOMM 1987), and only ends the wait.
 *
 * Pure, like rate.c: no clock, no lock, no kernel object.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "path.h"

/* Round trips are clamped to 1 us and 1 s */
#define DCQCN_RTT_MIN		((u64)NSEC_PER_USEC)
#define DCQCN_RTT_MAX		((u64)NSEC_PER_SEC)

/* The difference of two PSNs, which have 24 bits */
static s32 dcqcn_path_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/**
 * dcqcn_path_probe() - a packet that will be acknowledged leaves
 * @path: what is known
 * @psn: its PSN
 * @now: ns
 *
 * Context: any. The caller serialises access to @path.
 */
void dcqcn_path_probe(struct dcqcn_path *path, u32 psn, u64 now)
{
	if (dcqcn_path_awaits(path, now))
		return;
	path->probe_time = now;
	path->probe_psn = psn;
	path->probe_sent = path->sent;
	path->probe_idle = path->idle;
	path->idle = false;
	path->asked = false;
}

/* How long a flow waits for an answer of the peer's module, in round trips, and the least wait in
 * ns. The wait doubles until an answer comes: it may be lost, or the peer may never answer.
 */
#define DCQCN_PATIENCE_RTTS	4
#define DCQCN_PATIENCE_MIN	(100 * NSEC_PER_USEC)

/**
 * dcqcn_path_ask() - a packet that asks the peer's module has left
 * @path: what is known; no probe is awaited
 * @psn: its PSN
 * @rtt: ns; a round trip, measured or guessed
 * @now: ns
 *
 * Context: any. The caller serialises access to @path.
 */
void dcqcn_path_ask(struct dcqcn_path *path, u32 psn, u32 rtt, u64 now)
{
	u64 again = path->asked && path->probe_time ? 2ULL * path->patience : 0;

	if (path->probe_time)
		dcqcn_path_restart(path);
	dcqcn_path_probe(path, psn, now);
	path->asked = true;
	path->patience = clamp(max(again, (u64)rtt * DCQCN_PATIENCE_RTTS),
			       (u64)DCQCN_PATIENCE_MIN, (u64)DCQCN_PROBE_NS);
}

/* Believe a longer round trip at once, and a shorter one slowly: marks come from the
 * long ones, and an increase that comes before them overshoots
 */
static void dcqcn_path_learn_rtt(struct dcqcn_path *path, u64 ns, u64 now)
{
	u32 rtt = clamp(ns, DCQCN_RTT_MIN, DCQCN_RTT_MAX);

	if (!path->rtt_min || rtt < path->rtt_min)
		path->rtt_min = rtt;
	path->rtt_recent = max(rtt, path->rtt_last);
	path->rtt_last = rtt;
	if (rtt < path->rtt)
		rtt += (path->rtt - rtt) / 8 * 7;
	path->rtt = rtt;
	path->heard_time = now;
}

/* bytes, below 2^40: 22 s at 400 Gb/s; longer samples add little */
#define DCQCN_SAMPLE_MAX	(256ULL * U32_MAX)

/* If the flow had nothing to send for a while, its rate says nothing about the path, unless the
 * path is known to carry less
 */
static bool dcqcn_path_learn_rate(struct dcqcn_path *path, u64 now)
{
	u64 bytes = min(path->probe_sent - path->acked_sent, DCQCN_SAMPLE_MAX);
	u64 since = path->acked_time;
	u32 kbps, most;

	path->acked_time = now;
	path->acked_sent = path->probe_sent;
	if (!since || now <= since)
		return false;
	/* 8 bits in ns are 8 * 10^6 kb/s: 2^40 * 8 * 10^6 < 2^63 */
	kbps = min_t(u64, U32_MAX,
		     div64_u64(bytes * 8 * USEC_PER_SEC, now - since));
	most = max(path->delivered[0], path->delivered[1]);
	if (path->probe_idle && (!most || kbps <= most)) {
		path->idled = true;
		return false;
	}
	path->delivered[1] = path->delivered[0];
	path->delivered[0] = kbps;
	return true;
}

/* Whether an ACK only repeats what is acknowledged already. After DCQCN_PROBE_NS, PSNs may have
 * wrapped. What the peer's module says is never repeated.
 */
static bool dcqcn_path_is_repeated(const struct dcqcn_path *path, u32 psn, u64 now)
{
	return path->told_time && !path->asked && now - path->told_time < DCQCN_PROBE_NS &&
	       dcqcn_path_psn_diff(psn, path->told_psn) <= 0;
}

/* Whether rxe has sent a packet twice, so that its ACK may be of either */
static bool dcqcn_path_is_twice(const struct dcqcn_path *path, u32 psn)
{
	return path->again && !path->asked && dcqcn_path_psn_diff(psn, path->again_psn) <= 0;
}

/**
 * dcqcn_path_left() - when what an ACK or answer is for has left
 * @path: what is known
 * @psn: its PSN
 *
 * Context: any. The caller serialises access to @path.
 * Return: ns; of what may have left twice, the earliest time: when the flow began.
 */
u64 dcqcn_path_left(const struct dcqcn_path *path, u32 psn)
{
	return dcqcn_path_is_twice(path, psn) ? path->begun_time : path->probe_time;
}

/**
 * dcqcn_path_acked() - a positive ACK or an answer arrives
 * @path: what is known
 * @psn: its PSN
 * @now: ns, not before the probe left
 *
 * Context: any. The caller serialises access to @path.
 * Return: what was learnt: nothing, a bound of the round trip, the round trip, or also what
 * gets through.
 */
enum dcqcn_learnt dcqcn_path_acked(struct dcqcn_path *path, u32 psn, u64 now)
{
	s32 diff = dcqcn_path_psn_diff(psn, path->probe_psn);
	bool twice = dcqcn_path_is_twice(path, psn);
	u64 ns = now - path->probe_time;

	if (!path->probe_time || diff < 0 || dcqcn_path_is_repeated(path, psn, now))
		return DCQCN_LEARNT_NOTHING;
	if (!path->asked) {
		path->told_psn = psn;
		path->told_time = now;
		path->again = twice;
	}
	if (diff > 0 || twice) {
		if (!twice && ns < path->rtt)
			dcqcn_path_learn_rtt(path, ns, now);
		dcqcn_path_restart(path);
		return DCQCN_LEARNT_BOUND;
	}
	dcqcn_path_learn_rtt(path, ns, now);
	path->probe_time = 0;
	return dcqcn_path_learn_rate(path, now) ? DCQCN_LEARNT_RATE :
						  DCQCN_LEARNT_RTT;
}

/**
 * dcqcn_path_restart() - packets were lost, or the flow paused
 * @path: what is known
 *
 * A sample that spans this event would mean nothing. Earlier results stay.
 *
 * Context: any. The caller serialises access to @path.
 */
void dcqcn_path_restart(struct dcqcn_path *path)
{
	path->probe_time = 0;
	path->acked_time = 0;
}

/**
 * dcqcn_path_repeat() - rxe sends requests again
 * @path: what is known
 * @last: PSN of the last request that has left
 * @timeout: ns; the QP's ack timeout, 0 for unknown
 * @now: ns
 *
 * If a probe has waited about that long, rxe's timer has fired, which counts jiffies and so may
 * fire a little early. A NAK, which says that a packet has not arrived, comes sooner.
 *
 * Context: any. The caller serialises access to @path.
 */
void dcqcn_path_repeat(struct dcqcn_path *path, u32 last, u64 timeout, u64 now)
{
	if (path->probe_time && !path->asked)
		path->again = timeout && now - path->probe_time >= timeout / 4 * 3;
	if (path->again)
		path->again_psn = last;
	dcqcn_path_restart(path);
}

/**
 * dcqcn_path_forget() - a flow begins again, or nothing was measured for a long time
 * @path: what is known
 *
 * The flow may take another path by now, or may have a larger share of it.
 *
 * Context: any. The caller serialises access to @path.
 */
void dcqcn_path_forget(struct dcqcn_path *path)
{
	path->rtt = 0;
	path->rtt_last = 0;
	path->rtt_recent = U32_MAX;
	path->rtt_min = 0;
	path->delivered[0] = 0;
	path->delivered[1] = 0;
	path->idled = false;
}

/* A burst that met no queue is followed by one that is twice as long, up to this many times the
 * usual length: if the bursts of all flows together cause no marks, twice as much fits the switch.
 * A burst that met a queue is followed by one that is half as long, down to the usual length.
 */
#define DCQCN_BURST_MOST	8

/* After a loss, a burst has the usual length divided by this: those of all flows together did not
 * fit the switch. It is not shorter after another loss, since rxe also goes back where nothing was
 * too much: after RNR NAKs, or because its timer has met a slow start.
 */
#define DCQCN_BURST_LOST	4

/* Flows that share a path in rounds, as in a collective operation, begin again together. One that
 * met congestion begins with the share that it got, if it sent at least this many bursts: the time
 * of a short message is mostly a round trip. A share grows by a quarter with each pause since
 * congestion was met last, or by an eighth if the rounds are equal, and is forgotten after more
 * than this many: the others are gone.
 */
#define DCQCN_SHARE_BURSTS	4
#define DCQCN_SHARE_CALM	4

/* A flow that sends as much before each pause as before the last one, to within this share, takes
 * part in equal rounds, like those of a collective operation. Messages of random lengths are rarely
 * that equal.
 */
#define DCQCN_ROUND_EQUAL	64

/* Whether as many bytes were sent before this pause as before the last one */
static bool dcqcn_path_is_round(const struct dcqcn_path *path, u64 bytes)
{
	return max(bytes, path->round) - min(bytes, path->round) <=
	       path->round / DCQCN_ROUND_EQUAL;
}

/* Learn the share from the time since the flow began. @rate: bit/s; its last rate, 0 if it had no
 * limit. A slow flow's last rate is higher than its average, as faster ones were done before it. So
 * half of the difference makes shares equal. In equal rounds all flows would get more than their
 * share, since all of them see the last rates rise: what each got is right, as long as it met
 * congestion. After a loss, rxe may have waited for its timer most of the time: the share is at
 * least a quarter of the highest rate that got through, and unknown if that rate is.
 */
static void dcqcn_path_learn_share(struct dcqcn_path *path, u32 usual, u64 rate,
				   u64 now)
{
	u64 bytes = min(path->sent - path->begun, DCQCN_SAMPLE_MAX), kbps;
	u32 most = max(path->delivered[0], path->delivered[1]);
	bool met = path->marked || path->queued || path->lost;

	path->in_rounds = rate && !path->lost && dcqcn_path_is_round(path, bytes);
	path->round = bytes;
	if (!rate || now - path->heard_time >= DCQCN_PROBE_NS || (path->lost && !most)) {
		path->share = 0;
		return;
	}
	if ((!met && !path->share) || !path->begun_time ||
	    path->heard_time <= path->begun_time)
		return;
	if (bytes < (u64)DCQCN_SHARE_BURSTS * max(usual, path->burst)) {
		/* too short to teach a share, but those that it was shared with may be gone */
		if (!met && bytes > path->burst && ++path->calm > DCQCN_SHARE_CALM)
			path->share = 0;
		return;
	}
	/* as in dcqcn_path_learn_rate() */
	kbps = div64_u64(bytes * 8 * USEC_PER_SEC, path->heard_time - path->begun_time);
	if (path->lost)
		kbps = max_t(u64, kbps, most / 4);
	if (!path->in_rounds)
		kbps += min(max(div_u64(rate, 1000), kbps) - kbps, kbps) / 2;
	path->calm = met ? 0 : path->calm + 1;
	if (path->calm)
		kbps += kbps >> (path->in_rounds ? 3 : 2);
	path->share = path->calm > DCQCN_SHARE_CALM ? 0 : min_t(u64, kbps, U32_MAX);
}

/**
 * dcqcn_path_burst() - how much a flow that begins, or begins again, may send at once
 * @path: what is known
 * @usual: bytes; how much on an unknown path
 * @asks: its packets may ask for an ACK, so that the flow learns soon how much was too much
 * @rate: bit/s; its last rate, 0 if it had no limit
 * @now: ns
 *
 * Context: any. The caller serialises access to @path. Return: bytes.
 */
u32 dcqcn_path_burst(struct dcqcn_path *path, u32 usual, bool asks, u64 rate,
		     u64 now)
{
	u32 burst = path->burst ?: usual;
	u32 most = min_t(u64, (u64)usual * DCQCN_BURST_MOST, U32_MAX);
	u32 grown = path->paused_rtt + path->paused_rtt / 8;

	dcqcn_path_learn_share(path, usual, rate, now);
	if (path->lost)
		burst = max(usual / DCQCN_BURST_LOST, 1U);
	else if (path->marked && !asks)
		burst = min(burst, usual);
	else if (path->marked)
		burst = max(burst / 2, min(burst, usual));
	else if (path->burst && !path->share && path->sent - path->begun >= burst)
		burst = min(burst, U32_MAX / 2) * 2;
	path->burst = min(burst, most);
	/* all of a short message may have met a queue */
	if (path->rtt_min)
		path->paused_rtt = path->paused_rtt ? min(path->rtt_min, grown) :
						      path->rtt_min;
	path->paused_rate = max(path->delivered[0], path->delivered[1]) ?:
			    path->paused_rate;
	path->was_marked = path->marked;
	path->was_lost = path->lost;
	path->begun = path->sent;
	path->begun_time = now;
	path->marked = false;
	path->queued = false;
	path->lost = false;
	return path->burst;
}
