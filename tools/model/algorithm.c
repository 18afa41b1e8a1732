// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms that plug in, instead of DCQCN: those of the module that need no stamps, examples,
 * and one of the user's (plug.c). What surrounds them is a copy of the module's cc.c, with its own
 * flight.c. The round trip of the path is unknown, as with the module's default ccc_base_rtt. No
 * flow is ever idle here.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "algorithm.h"

/* As in cc.c */
#define ASK		16384U
#define ASK_SHARE	8

/* Lines PLUG(name), made when this is built */
#define PLUG(name)	extern const struct dcqcn_cc_ops *const plug_##name;
#include "algorithms.inc"
#undef PLUG

const char *const algorithm_names[] = {
	"dcqcn",
#define PLUG(name)	#name,
#include "algorithms.inc"
#undef PLUG
	NULL
};

/**
 * algorithm_ops() - what flows obey
 * @word: index into algorithm_names
 *
 * Return: NULL for DCQCN.
 */
const struct dcqcn_cc_ops *algorithm_ops(double word)
{
	const struct dcqcn_cc_ops *const ops[] = {
		NULL,
#define PLUG(name)	plug_##name,
#include "algorithms.inc"
#undef PLUG
	};

	return ops[(int)word];
}

static void clamp_flow(struct algorithm_flow *f)
{
	struct dcqcn_cc *cc = &f->cc;

	cc->rate = clamp(cc->rate, cc->floor, cc->line);
	if (cc->next_call && cc->next_call != f->call)
		cc->next_call = max(cc->next_call, cc->now + DCQCN_CC_TIMER_MIN_NS);
	f->call = cc->next_call;
}

/**
 * algorithm_time() - set the time of an event, and run the timer first if it was due
 * @f: the flow
 * @now: ns
 */
void algorithm_time(struct algorithm_flow *f, u64 now)
{
	struct dcqcn_cc *cc = &f->cc;

	cc->now = now;
	cc->in_flight = dcqcn_flight_bytes(&f->flight);
	if (!cc->next_call || now < cc->next_call)
		return;
	cc->next_call = 0;
	f->call = 0;
	if (f->ops->timer)
		f->ops->timer(cc);
	clamp_flow(f);
}

/**
 * algorithm_begin() - a flow begins
 * @f: the flow
 * @ops: what it obeys
 * @line: bit/s
 * @floor: bit/s
 * @packet: bytes of its longest packet
 * @now: ns
 */
void algorithm_begin(struct algorithm_flow *f, const struct dcqcn_cc_ops *ops, u64 line,
		     u64 floor, u32 packet, u64 now)
{
	*f = (struct algorithm_flow) {
		.ops = ops,
		.cc = {
			.now = now, .line = line, .floor = min(floor, line), .rate = line,
			.packet = packet, .window = DCQCN_CC_NO_WINDOW,
		},
	};
	ops->init(&f->cc);
	clamp_flow(f);
}

/**
 * algorithm_has_room() - whether the window lets a packet leave
 * @f: the flow
 *
 * Return: true or false.
 */
bool algorithm_has_room(const struct algorithm_flow *f)
{
	u64 flight = dcqcn_flight_bytes(&f->flight);

	return !flight || flight + f->cc.packet <= f->cc.window;
}

static bool wants_ack(const struct algorithm_flow *f, u32 bytes)
{
	u64 flight = (u64)dcqcn_flight_bytes(&f->flight) + bytes;

	if (!f->ops->ack && f->cc.window == DCQCN_CC_NO_WINDOW)
		return false;
	return flight + f->cc.packet > f->cc.window ||
	       f->flight.sent - f->flight.asked + bytes >= min(ASK, f->cc.window / ASK_SHARE);
}

/**
 * algorithm_sent() - a packet leaves
 * @f: the flow
 * @psn: its number
 * @bytes: its length
 * @asks: it asks for an ACK anyway
 * @now: ns
 *
 * Return: whether it asks for one.
 */
bool algorithm_sent(struct algorithm_flow *f, u32 psn, u32 bytes, bool asks, u64 now)
{
	asks |= wants_ack(f, bytes);
	algorithm_time(f, now);
	if (f->ops->sent) {
		f->ops->sent(&f->cc, bytes);
		clamp_flow(f);
	}
	dcqcn_flight_sent(&f->flight, psn, bytes, asks, now);
	return asks;
}

/**
 * algorithm_cnp() - a CNP came
 * @f: the flow
 * @now: ns
 */
void algorithm_cnp(struct algorithm_flow *f, u64 now)
{
	algorithm_time(f, now);
	f->marked = min(f->marked, U32_MAX / 2) + f->cc.packet;
	if (f->ops->cnp)
		f->ops->cnp(&f->cc);
	clamp_flow(f);
}

/**
 * algorithm_acked() - an ACK came
 * @f: the flow
 * @psn: what is acknowledged
 * @held: packets wait
 * @now: ns
 */
void algorithm_acked(struct algorithm_flow *f, u32 psn, bool held, u64 now)
{
	struct dcqcn_cc_sample sample = {};

	sample.delivered = dcqcn_flight_acked(&f->flight, psn, now, &sample.rtt,
					      &sample.interval);
	if (!sample.delivered)
		return;
	/* nothing waits on the way back */
	sample.delay = sample.rtt;
	if (sample.rtt) {
		f->cc.rtt = sample.rtt;
		f->cc.rtt_min = f->cc.rtt_min ? min(f->cc.rtt_min, sample.rtt) : sample.rtt;
	}
	sample.marked = min(f->marked, sample.delivered);
	f->marked = min(f->marked - sample.marked, dcqcn_flight_bytes(&f->flight));
	algorithm_time(f, now);
	sample.app_limited = !held && (u64)f->cc.in_flight + f->cc.packet <= f->cc.window;
	if (f->ops->ack)
		f->ops->ack(&f->cc, &sample);
	clamp_flow(f);
}

/**
 * algorithm_lost() - the flow goes back
 * @f: it
 * @now: ns
 */
void algorithm_lost(struct algorithm_flow *f, u64 now)
{
	dcqcn_flight_lost(&f->flight);
	algorithm_time(f, now);
	if (f->ops->loss)
		f->ops->loss(&f->cc);
	clamp_flow(f);
}
