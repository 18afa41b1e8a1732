// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of one flow, from the queue pair to the wire, which flows of one host share.
 *
 * The rate comes from the module's own rate.c, and from path.c where the path is measured; or
 * from an algorithm that plugs in (algorithm.c).
 * Between them and packets the module has queue.c and gate.c, of which this is a copy in floating point:
 * when a packet may leave, which packets share a timer, when a limiter begins and ends, and
 * what happens when a flow goes back. Queue pairs are those of soft-RoCE: a window of packets,
 * an ACK for every few of them, one answer to each gap, and a timeout. A host that queues its
 * packets makes new ones when that queue is nearly empty; one without a queue, a network card,
 * makes them when its wire is free.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "host.h"
#include "number.h"
#include "start.h"

#define BEGIN		1000000000ULL	/* ns: 0 means never to rate.c and path.c */
/* As in queue.c and gate.h */
#define MAX_LATE_NS	20e6
#define IDLE_NS		4e6
#define IDLE_GAPS	16
#define BATCH		8
#define BATCH_NS	10000.0
/* By which the first packet of a WRITE is longer: rate.c counts in the longest one seen */
#define RETH_BYTES	16

/* Times and rates are below 2^63: signed, they are converted by one instruction */
static u64 clock_ns(const struct hosts *all)
{
	return BEGIN + (u64)(long long)all->now;
}

static bool has_algorithm(const struct hosts *all)
{
	return all->setup->ops;
}

static double rate_bps(const struct host *h)
{
	return (double)(long long)h->rate.current_rate;
}

static bool has_queue(const struct hosts *all)
{
	return all->most > 0;
}

/* What limits a flow whose path is measured, bit/s */
static u64 line_of(const struct hosts *all, const struct host *h)
{
	const struct dcqcn_rp_params *p = &all->setup->senders.rp;
	u64 line = all->line, most, least;

	if (!all->measures || p->rpg_time_reset || p->rpg_max_rate)
		return line;
	most = 2 * dcqcn_path_most(&h->path);
	if (!most)
		return h->path.rtt ? (u64)DCQCN_RATE_MAX : line;
	if (h->rate.start)
		return max(2 * most, line);
	least = max(2 * dcqcn_rate_floor(p), (u64)DCQCN_BPS_PER_MBPS);
	return clamp(most, least, (u64)DCQCN_RATE_MAX);
}

/**
 * host_setup() - one that will begin
 * @all: what they have in common
 * @h: it
 * @begin: ns
 * @wire: the flow whose wire it is
 * @group: the port by which it comes into the switch with the queue
 */
void host_setup(const struct hosts *all, struct host *h, double begin, size_t wire, size_t group)
{
	*h = (struct host) {
		.begin = begin,
		.wire = (u16)wire,
		.group = (u16)group,
		.timer = PACKET_NEVER,
		.retry = PACKET_NEVER,
		.held = packets_empty(),
		.port = packets_empty(),
	};
	dcqcn_rate_init(&h->rate, all->line, BEGIN);
}

/* --- the wire --------------------------------------------------------------- */

static double wire_due(const struct host *h)
{
	return h->paused || h->port.head == PACKET_NONE ? PACKET_NEVER : h->free;
}

static void to_wire(const struct hosts *all, struct host *h, u32 at)
{
	packets_add(&all->host[h->wire].port, at);
}

static void make_packets(const struct hosts *all, struct host *h, size_t flow);

static bool left(const struct hosts *all, struct host *h, size_t flow)
{
	h->out--;
	if (!h->wants || h->out >= all->least)
		return false;
	h->wants = false;
	make_packets(all, h, flow);
	return true;
}

/* Returns the flow whose packet it was */
static size_t wire_send(const struct hosts *all, struct host *h)
{
	u32 at = packets_take(&h->port);
	size_t flow = packet_pool[at].flow;

	h->free = all->now + all->frame;
	packet_pool[at].time = h->free + all->setup->cable;
	packets_add(all->cable, at);
	all->host[flow].sent++;
	if (!has_queue(all))
		left(all, &all->host[flow], flow);
	return flow;
}

/**
 * host_room() - a packet has left a host that has a queue
 * @all: what they have in common
 * @h: it
 * @flow: its number
 *
 * It counts until it arrives at a switch.
 *
 * Return: whether the host has made others.
 */
bool host_room(const struct hosts *all, struct host *h, size_t flow)
{
	return has_queue(all) && left(all, h, flow);
}

/* --- the pacer -------------------------------------------------------------- */

static double pacer_due(const struct hosts *all, const struct host *h)
{
	if (h->released)
		return 0;
	if (h->gap >= BATCH_NS || !has_queue(all))
		return h->next;
	return h->next + number_min((BATCH - 1) * h->gap, BATCH_NS);
}

static double timer_due(const struct hosts *all, const struct host *h)
{
	double due, call;

	if (!has_algorithm(all))
		return pacer_due(all, h);
	due = algorithm_has_room(&h->algorithm) ? pacer_due(all, h) : PACKET_NEVER;
	if (!h->algorithm.cc.next_call)
		return due;
	call = (double)(long long)(h->algorithm.cc.next_call - BEGIN);
	return number_min(due, call);
}

static void end_limit(struct host *h)
{
	if (h->released && h->limited && h->held.head == PACKET_NONE)
		h->limited = false;
}

/* A packet leaves the pacer now. Returns what to pace at, bit/s; 0 for no limit. */
static double advance(const struct hosts *all, struct host *h, u32 bytes)
{
	u64 line = line_of(all, h);
	unsigned int done;

	if (has_algorithm(all))
		return (double)(long long)h->algorithm.cc.rate;
	if (h->released)
		return 0;
	done = dcqcn_rate_advance(&h->rate, &all->setup->senders.rp, line, clock_ns(all), bytes);
	if (dcqcn_rate_is_back(&h->rate, line, done))
		h->released = true;
	if (h->held.head == PACKET_NONE)
		return rate_bps(h);
	return number_max(rate_bps(h), number_min(all->floor, (double)(long long)line));
}

static void charge(const struct hosts *all, struct host *h)
{
	u32 bytes = (u32)all->setup->packet;
	double rate = advance(all, h, bytes);

	if (!rate || h->burst) {
		bool within = h->burst > bytes;

		h->burst -= min(h->burst, bytes);
		if (!rate || within) {
			h->next = all->now;
			return;
		}
	}
	h->gap = bytes * 8e9 / rate;
	h->next += h->gap;
}

static void measure_path(const struct hosts *all, struct host *h, u32 at)
{
	struct packet *p = &packet_pool[at];
	u32 bytes = (u32)all->setup->packet;
	u64 now = clock_ns(all);
	bool asks = p->asks;

	if (has_algorithm(all))
		p->asks = algorithm_sent(&h->algorithm, p->psn, bytes, p->asks, now);
	if (!all->measures)
		return;
	h->rate.packet = bytes + RETH_BYTES;
	if (h->rate.start == DCQCN_START_ASKS || h->rate.start == DCQCN_START_MEASURES) {
		asks = !h->burst && !h->path.probe_time && dcqcn_start_wants_sample(&h->rate, now);
		p->asks |= asks;
	}
	dcqcn_path_sent(&h->path, p->psn, bytes, asks, now);
}

/* Whether rate and window let a packet leave */
static bool may_leave(const struct hosts *all, struct host *h)
{
	if (!has_algorithm(all))
		return h->released || h->next <= all->now;
	algorithm_time(&h->algorithm, clock_ns(all));
	return h->next <= all->now && algorithm_has_room(&h->algorithm);
}

/* What was held is due from now on, too */
static void drain(const struct hosts *all, struct host *h)
{
	h->next = number_max(h->next + MAX_LATE_NS, all->now) - MAX_LATE_NS;
	while (h->held.head != PACKET_NONE && may_leave(all, h)) {
		u32 at = packets_take(&h->held);

		charge(all, h);
		measure_path(all, h, at);
		to_wire(all, h, at);
	}
	h->timer = PACKET_NEVER;
	if (h->held.head != PACKET_NONE)
		h->timer = timer_due(all, h);
	else
		end_limit(h);
}

static bool may_pass(const struct hosts *all, struct host *h)
{
	double credit = number_min(IDLE_GAPS * h->gap, IDLE_NS);

	if (h->held.head != PACKET_NONE)
		return false;
	h->next = number_max(h->next + credit, all->now) - credit;
	return may_leave(all, h);
}

static void hold(const struct hosts *all, struct host *h, u32 at)
{
	double latest = all->now + all->hold;

	packets_add(&h->held, at);
	if (h->held.count == 1)
		h->next = number_min(h->next, latest);
	if (all->now >= timer_due(all, h))
		drain(all, h);
	else if (h->timer == PACKET_NEVER)
		h->timer = timer_due(all, h);
}

/* While it waited for what was lost nothing could be marked, so its rate rose for nothing */
static void resume(const struct hosts *all, struct host *h)
{
	const struct dcqcn_rp_params *p = &all->setup->senders.rp;

	if (has_algorithm(all)) {
		if (h->seen)
			algorithm_lost(&h->algorithm, clock_ns(all));
		h->next = number_max(h->next, all->now);
		return;
	}
	if (h->rate.start && h->seen)
		dcqcn_rate_cnp(&h->rate, p, line_of(all, h), clock_ns(all));
	else
		dcqcn_rate_resume(&h->rate, p, clock_ns(all));
	dcqcn_path_restart(&h->path);
	h->next = number_max(h->next, all->now);
	h->released = false;
}

/* The first packet of a limiter, or the first one that is sent again */
static void go_on_from(const struct hosts *all, struct host *h, u32 at)
{
	bool first = !h->seen;

	resume(all, h);
	h->seen = true;
	if (first)
		return;
	if (all->measures)
		packet_pool[at].asks = true;
	while (h->held.head != PACKET_NONE) {
		packet_free(packets_take(&h->held));
		h->out--;
	}
}

static void pace(const struct hosts *all, struct host *h, u32 at)
{
	if (!h->seen || h->back)
		go_on_from(all, h, at);
	if (!may_pass(all, h)) {
		hold(all, h, at);
		return;
	}
	charge(all, h);
	measure_path(all, h, at);
	to_wire(all, h, at);
	end_limit(h);
}

static void begin_limit(const struct hosts *all, struct host *h)
{
	h->released = false;
	h->next = all->now;
	h->gap = 0;
	h->seen = false;
	h->burst = 0;
	h->limited = true;
	dcqcn_path_restart(&h->path);
}

/* An event has changed what an algorithm says, whose rate was @before: if it has grown, the next
 * packet leaves earlier
 */
static void obey(const struct hosts *all, struct host *h, u64 before)
{
	u64 rate = h->algorithm.cc.rate;

	if (rate > before && h->next > all->now)
		h->next = all->now + (h->next - all->now) * (double)(long long)before /
			  (double)(long long)rate;
	if (h->held.head != PACKET_NONE)
		drain(all, h);
}

static u32 rtt_of(const struct hosts *all, const struct host *h)
{
	return all->measures && h->path.rtt ? h->path.rtt : dcqcn_path_unknown_rtt(all->line, DCQCN_PATH_LONG);
}

/* --- the queue pair --------------------------------------------------------- */

/* The timeout counts from the last time that a queue pair did something */
static void awake(const struct hosts *all, struct host *h)
{
	if (all->setup->timeout)
		h->retry = all->now + all->setup->timeout;
}

/* Whether the packet before h->psn asks for an ACK */
static bool asks(const struct hosts *all, struct host *h)
{
	bool last = all->message && h->psn % all->message == 0;

	if (!last && h->unasked++ <= all->ack)
		return false;
	h->unasked = 0;
	return true;
}

static void make_packets(const struct hosts *all, struct host *h, size_t flow)
{
	while (h->psn - h->acked <= all->window) {
		u32 at;

		h->wants = true;
		if (h->out > all->most)
			break;
		at = packet_new(PACKET_DATA, flow, h->psn);
		if (at == PACKET_NONE)
			break;
		h->psn++;
		h->out++;
		packet_pool[at].asks = asks(all, h);
		awake(all, h);
		if (h->limited)
			pace(all, h, at);
		else
			to_wire(all, h, at);
		h->back = false;
		h->wants = false;
	}
}

static void go_back(const struct hosts *all, struct host *h, size_t flow)
{
	if (h->psn == h->acked)
		return;
	h->psn = h->acked;
	h->back = true;
	h->retried = true;
	make_packets(all, h, flow);
}

static void start(const struct hosts *all, struct host *h, size_t flow)
{
	const struct dcqcn_rp_params *p = &all->setup->senders.rp;
	struct host *wire = &all->host[h->wire];

	h->started = true;
	wire->free = number_max(wire->free, all->now);
	if (has_algorithm(all)) {
		u64 line = p->rpg_max_rate ? p->rpg_max_rate * (u64)DCQCN_BPS_PER_MBPS : all->line;

		algorithm_begin(&h->algorithm, all->setup->ops, min(line, all->line),
				dcqcn_rate_floor(p), (u32)all->setup->packet + RETH_BYTES,
				clock_ns(all));
		begin_limit(all, h);
	} else if (p->start_burst) {
		h->rate.rtt = dcqcn_path_unknown_rtt(all->line, DCQCN_PATH_SHORT);
		dcqcn_start_begin(&h->rate, p, all->line, p->start_burst, 0, true,
				 clock_ns(all));
		begin_limit(all, h);
		h->burst = p->start_burst;
	}
	make_packets(all, h, flow);
}

/**
 * host_due() - when it has something to do
 * @h: it
 *
 * Return: ns.
 */
double host_due(const struct host *h)
{
	if (!h->started)
		return number_min(h->begin, wire_due(h));
	return number_min(number_min(h->timer, wire_due(h)), h->retry);
}

/**
 * host_run() - do what is due
 * @all: what they have in common
 * @h: it
 * @flow: its number
 *
 * Return: another flow for which this has changed something, or the same.
 */
size_t host_run(const struct hosts *all, struct host *h, size_t flow)
{
	if (!h->started && all->now >= h->begin)
		start(all, h, flow);
	if (all->now >= h->timer)
		drain(all, h);
	if (all->now >= h->retry) {
		h->retry = PACKET_NEVER;
		go_back(all, h, flow);
	}
	return all->now >= wire_due(h) ? wire_send(all, h) : flow;
}

/**
 * host_cnp() - a CNP arrives
 * @all: what they have in common
 * @h: the host
 */
void host_cnp(const struct hosts *all, struct host *h)
{
	const struct dcqcn_rp_params *p = &all->setup->senders.rp;
	u64 line = line_of(all, h), now = clock_ns(all);

	if (has_algorithm(all)) {
		line = h->algorithm.cc.rate;
		algorithm_cnp(&h->algorithm, now);
		obey(all, h, line);
		return;
	}
	if (!h->limited || h->released) {
		dcqcn_rate_init(&h->rate, line, now);
		dcqcn_rate_set_rtt(&h->rate, rtt_of(all, h), all->measures ? h->path.rtt_min : 0);
		begin_limit(all, h);
	}
	line = dcqcn_rate_cut_line(&h->rate, p, line,
				   all->measures ? dcqcn_path_most(&h->path) : 0);
	dcqcn_rate_cnp(&h->rate, p, line, now);
}

/* An ACK, of which a flow whose path is measured learns */
static void learn(const struct hosts *all, struct host *h, u32 psn)
{
	const struct dcqcn_rp_params *p = &all->setup->senders.rp;
	u64 left = h->path.probe_time, now = clock_ns(all);
	u32 least = h->path.rtt_min;
	enum dcqcn_learnt learnt;
	bool waited;

	if (has_algorithm(all)) {
		u64 before = h->algorithm.cc.rate;

		algorithm_acked(&h->algorithm, psn, h->held.head != PACKET_NONE, now);
		obey(all, h, before);
	}
	if (!h->limited || !all->measures)
		return;
	learnt = dcqcn_path_acked(&h->path, psn, now);
	if (learnt == DCQCN_LEARNT_NOTHING)
		return;
	advance(all, h, 0);
	/* while only a bound is known, it stands for the round trip */
	dcqcn_rate_set_rtt(&h->rate,
			   h->path.rtt ?: clamp(now - left, 1ULL, (u64)h->rate.rtt),
			   h->path.rtt_min);
	waited = h->rate.start == DCQCN_START_ASKS;
	if (learnt == DCQCN_LEARNT_BOUND)
		dcqcn_start_bound(&h->rate, left, now);
	else
		dcqcn_start_sample(&h->rate, p, left, least, now);
	if (waited && h->rate.start != DCQCN_START_ASKS) {
		dcqcn_path_restart(&h->path);
		h->next = number_min(h->next, all->now);
		if (h->held.head != PACKET_NONE)
			h->timer = timer_due(all, h);
	}
	if (learnt == DCQCN_LEARNT_RATE && dcqcn_path_least(&h->path))
		dcqcn_rate_set_delivered(&h->rate, p, dcqcn_path_least(&h->path),
					 dcqcn_path_most(&h->path));
}

/**
 * host_ack() - an ACK arrives
 * @all: what they have in common
 * @h: the host
 * @flow: its number
 * @psn: what is acknowledged
 */
void host_ack(const struct hosts *all, struct host *h, size_t flow, u32 psn)
{
	learn(all, h, psn);
	awake(all, h);
	if ((int)(psn - h->acked) < 0)
		return;
	h->acked = psn + 1;
	/* what was sent before it went back may be acknowledged late */
	if ((int)(h->psn - h->acked) < 0)
		h->psn = h->acked;
	h->retried = false;
	if (!h->wants)
		make_packets(all, h, flow);
}

/**
 * host_nak() - the receiver asks for what is missing
 * @all: what they have in common
 * @h: the host
 * @flow: its number
 * @psn: of the first that is
 *
 * As in rxe, it goes back once until the next ACK.
 */
void host_nak(const struct hosts *all, struct host *h, size_t flow, u32 psn)
{
	awake(all, h);
	if ((int)(psn - h->acked) > 0)
		h->acked = psn;
	if ((int)(h->psn - h->acked) < 0)
		h->psn = h->acked;
	if (!h->retried)
		go_back(all, h, flow);
	else if (!h->wants)
		make_packets(all, h, flow);
}
