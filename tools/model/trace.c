// SPDX-License-Identifier: GPL-2.0
/*
 * N flows and one queue over time: what the fluid model cannot say, because it has
 * neither chance nor delay. Packets are a fluid here; senders and marks are not:
 *
 *   - each flow has a rate of its own, which the module's rate.c makes: the very
 *     code that paces packets, with path.c where the path is measured;
 *   - the curve, and what the number of flows does to it, are dcbport's curve.c and
 *     flows.c;
 *   - a mark is a random event of a flow, at a rate per byte that has the curve's
 *     probability per packet: 1 / (1/p - 1/2), for the first packet comes half a
 *     packet's time from now;
 *   - its CNP arrives when the packet has waited, and a round trip has passed;
 *   - a port pauses and resumes as account.c has it, in floating point.
 *
 *   - a flow that lost a packet goes back to it when the receiver asks it to, once for each
 *     gap; if nothing of it arrives any more, or the packet is lost again, after its timeout.
 *
 * Time goes on in steps: short ones while the queue moves fast or ports may pause, longer
 * ones else. One computation at a time: its memory is static.
 */
#include <linux/kernel.h>
#include <linux/time64.h>

#include "number.h"
#include "path.h"
#include "trace.h"

#define BEGIN		1000000000ULL	/* ns: 0 means never to rate.c and path.c */
#define STEP_MOVE	0.02	/* of Kmax: what the queue may move by in a step */
#define BATCH		8		/* see pacer.c, here and below */
#define BATCH_NS	10000.0
#define RTT_STEPS	4
#define ANSWER_STEPS	16
#define XOFF_STEPS	8
#define KNOWN		0.1		/* of a bound: from here on it is known who holds what */
#define LOOKS		4	/* of rate.c in the increase timer's period */
#define ASKED		1e300		/* the packet that asks is still in its host */
#define CNPS		16384		/* that are on their way, a power of two */

/* Bins of a histogram of queues: from each power of two to the next 64 */
#define BIN_BITS	6
#define BINS		(40 << BIN_BITS)

#define SERIES		TRACE_STEPS_MAX

struct flow {
	double begin;		/* ns */
	double speed;		/* bytes/ns that it wants to send */
	double batch;		/* bytes that its pacer sends at once */
	double unsaid;		/* bytes that rate.c does not know yet */
	double backlog;		/* bytes that wait in its host */
	double packed;		/* bytes that its pacer has not sent yet */
	double flight;		/* bytes that left it, and are not acknowledged */
	double unmet;		/* of them, bytes that have not come far enough to be */
	double again;		/* ns; when it goes back to what was lost; 0: nothing was */
	double repeated;	/* bytes since it went back */
	bool asked;		/* by its receiver to go back, or nobody will hear that */
	double patience;	/* bytes until a mark, in units of 1/lambda */
	double ready;		/* ns; when its receiver may send a CNP again */
	double ack;		/* ns; when the ACK arrives that is awaited; 0: none; ASKED */
	double leaves;		/* ns; when the packet leaves its host that asks for it */
	double due;		/* ns; when rate.c is to look at it again */
	double sent;		/* bytes, measured */
	double unasked;		/* bytes since a packet asked for an ACK */
	u64 now;		/* rate.c's */
	u32 psn;
	u16 group;
	double arrives;		/* bytes in this step */
	bool started;
	struct dcqcn_rate rate;
	struct dcqcn_path path;
};

struct group {
	double shared;		/* bytes of the queue that came by it, in the pool */
	double head;		/* and in its headroom */
	double came;		/* bytes in this step */
	double before;		/* bytes that wait in the switch at its other end */
	double seen;		/* ns; when its last packet arrives at the receiver */
	double span;		/* ns; since the one of the step before */
	double fades;		/* share of what is under way that arrives in this step */
	bool stopped;		/* in this step */
	double density;		/* of that one's marks, per byte */
	double loses;		/* share of what came in the step before */
	double stop;		/* ns; when the last pause takes effect */
	double go;		/* and the end of it */
	bool paused;		/* as its port sees it */
};

struct cnp {
	double time;
	size_t flow;
};

static struct {
	struct flow flow[TRACE_FLOWS];
	struct group group[TRACE_FLOWS];
	struct cnp cnp[CNPS];
	u32 cnp_head, cnp_tail;
	double histogram[BINS];	/* ns with such a queue */
	float series[SERIES];
	size_t measured;	/* of them */
	struct dcqcn_model_sample sample[DCQCN_MODEL_SAMPLES];
	size_t samples;
	u64 random;
	double now, queue;
	double marker_queue;	/* as the marker saw it when it last looked */
	double marker_next;	/* ns; when it looks again */
	size_t flows, groups;	/* of which each stands for so many: */
	double flow_weight, group_weight;
	size_t work;		/* flows that were looked at, all steps together */
	double look;		/* ns; how often rate.c looks at a flow */
	bool held_known;	/* the groups' share of the queue */
	bool bounded;		/* a group may be near its bound */
} t;

/* Uniform in (0, 1); xorshift64*, Vigna 2016 */
static double draw(void)
{
	t.random ^= t.random >> 12;
	t.random ^= t.random << 25;
	t.random ^= t.random >> 27;
	return ((double)(t.random * 0x2545f4914f6cdd1dULL >> 11) + 0.5) * 0x1p-53;
}

static double wait_for_mark(void)
{
	return -number_log(draw());
}

static u64 clock_ns(double ns)
{
	return BEGIN + (u64)ns;
}

/* As in pacer.c: what limits a flow whose path is measured */
static u64 flow_line(const struct flow *f, const struct trace_setup *s)
{
	u64 line = (u64)s->line_bps, most = 2 * dcqcn_path_most(&f->path);

	if (s->senders.rp.rpg_time_reset || !most)
		return line;
	if (f->rate.starting)
		return max(most, line);
	return clamp(most, (u64)DCQCN_BPS_PER_MBPS, (u64)DCQCN_RATE_MAX);
}

/* And how many bytes share a timer: as in pacer.c, which soft-RoCE needs */
static void flow_set_speed(struct flow *f, const struct trace_setup *s)
{
	double gap;

	f->speed = number_min((double)f->rate.current_rate, s->line_bps) / 8e9;
	gap = s->packet / f->speed;
	f->batch = s->packet;
	if (s->host_queue && gap < BATCH_NS)
		f->batch *= 1 + number_min(BATCH - 1, number_floor(BATCH_NS / gap));
}

/* Let a flow's time pass. What left it may have asked for an ACK. Returns the time. */
static u64 flow_advance(struct flow *f, const struct trace_setup *s, double at)
{
	u64 now = max(clock_ns(at), f->now);
	u32 bytes = (u32)f->unsaid;
	bool ask;

	f->now = now;

	f->unsaid -= bytes;
	dcqcn_rate_advance(&f->rate, &s->senders.rp, flow_line(f, s), now, bytes);
	if (!s->senders.rp.rpg_time_reset) {
		f->unasked += bytes;
		ask = f->unasked >= s->ack;
		if (ask)
			f->unasked -= s->ack;
		/* as in pacer.c: a start asks when it wants to know */
		if (f->rate.starting && f->rate.measured)
			ask = bytes && !f->path.probe_time &&
			      dcqcn_rate_wants_sample(&f->rate, now);
		if (ask)
			f->psn = (f->psn + 1) & 0xffffff;
		dcqcn_path_sent(&f->path, f->psn, bytes, ask, now);
		if (ask && f->path.probe_psn == f->psn) {
			f->ack = ASKED;
			f->leaves = at + number_max(0, f->backlog - s->packet) /
					 (s->line_bps / 8e9);
		}
	} else if (f->rate.born && f->rate.current_rate >= (u64)s->line_bps &&
		   !f->backlog) {
		/* its limiter is released, and the next CNP finds a new flow */
		dcqcn_rate_init(&f->rate, (u64)s->line_bps, now);
		f->rate.packet = (u32)s->packet;
	}
	flow_set_speed(f, s);
	return now;
}

static void flow_acked(struct flow *f, const struct trace_setup *s)
{
	u64 left = f->path.probe_time, at;
	u32 least = f->path.rtt_min;

	at = flow_advance(f, s, f->ack);
	f->ack = 0;
	if (!dcqcn_path_acked(&f->path, f->path.probe_psn, at))
		return;
	dcqcn_rate_set_rtt(&f->rate, f->path.rtt, f->path.rtt_min);
	dcqcn_rate_sample(&f->rate, &s->senders.rp, left, least, at);
	if (dcqcn_path_least(&f->path))
		dcqcn_rate_set_delivered(&f->rate, &s->senders.rp, dcqcn_path_least(&f->path),
					 dcqcn_path_most(&f->path));
	flow_set_speed(f, s);
}

static void flow_start(struct flow *f, const struct trace_setup *s)
{
	f->started = true;
	if (s->senders.rp.start_burst) {
		f->rate.rtt = (u32)DCQCN_RTT_UNKNOWN;
		dcqcn_rate_start(&f->rate, &s->senders.rp, (u64)s->line_bps, 0, true,
				 clock_ns(t.now));
		f->backlog = s->senders.rp.start_burst;
		f->unsaid = f->backlog;
		f->packed = 0;
	}
	flow_set_speed(f, s);
}

static void setup_flows(const struct trace_setup *s)
{
	size_t i;

	for (i = 0; i < t.flows; i++) {
		struct flow *f = &t.flow[i];

		*f = (struct flow) {
			.begin = i * s->stagger * t.flow_weight,
			.patience = wait_for_mark(),
			.repeated = s->ack,
			.packed = draw() * s->packet,
			.group = i % t.groups,
		};
		dcqcn_rate_init(&f->rate, (u64)s->line_bps, BEGIN);
		f->rate.packet = (u32)s->packet;
	}
	for (i = 0; i < t.groups; i++)
		t.group[i] = (struct group) {};
	for (i = 0; i < BINS; i++)
		t.histogram[i] = 0;
	t.cnp_head = 0;
	t.cnp_tail = 0;
	t.queue = 0;
	t.marker_queue = 0;
	t.marker_next = 0;
	t.now = 0;
	t.samples = 0;
	t.measured = 0;
	t.held_known = false;
	t.bounded = false;
}

/* Of a queue, whole packets wait behind the one that is being sent */
static double waiting(const struct trace_setup *s, double queue)
{
	return number_floor(queue / s->packet) * s->packet;
}

/* Marks per byte that comes into a queue */
static double mark_density(const struct trace_setup *s, double queue)
{
	u32 chance = dcbport_curve_chance(&s->curve,
					  (u32)number_min(waiting(s, queue), 4e9));

	if (!chance)
		return 0;
	if (s->flow_bounds.min || s->flow_bounds.max) {
		/* of so many packets of so many flows */
		double known = s->flows * -number_expm1(-queue / s->packet / s->flows);

		chance = dcbport_flows_chance(&s->flow_bounds, chance, (u32)(known + 0.5),
					      true);
		if (!chance)
			return 0;
	}
	return 1 / ((double)DCBPORT_PMAX_ONE / chance - 0.5) / s->packet;
}

/* A packet of a flow was marked, and sends a CNP when it has waited */
static void mark(size_t i, double seen, const struct trace_setup *s)
{
	struct flow *f = &t.flow[i];
	u32 next = (t.cnp_tail + 1) % CNPS;

	f->patience = wait_for_mark();
	f->ready = seen + s->senders.cnp_interval_us * 1000.0;
	if (next == t.cnp_head)
		return;
	t.cnp[t.cnp_tail] = (struct cnp) { .time = seen + s->rtt, .flow = i };
	t.cnp_tail = next;
}

/* Of bytes that a flow sent in a step, and which arrive within a span of time, some are marked.
 * After a CNP there is none for a while, which may end in between.
 */
static void mark_some(size_t i, double bytes, double density, double seen, double span,
		      const struct trace_setup *s)
{
	double byte = span / bytes, quiet = s->senders.cnp_interval_us * 1000.0 / byte;
	struct flow *f = &t.flow[i];
	double at = number_max(0, (f->ready - (seen - span)) / byte);

	while (at < bytes) {
		double needed = f->patience / density;

		if (at + needed > bytes) {
			f->patience -= (bytes - at) * density;
			return;
		}
		at += needed;
		mark(i, seen - span + at * byte, s);
		at += number_max(quiet, s->packet);
	}
}

/* CNPs that have arrived */
static size_t deliver(const struct trace_setup *s)
{
	size_t n = 0;

	while (t.cnp_head != t.cnp_tail && t.cnp[t.cnp_head].time <= t.now) {
		struct flow *f = &t.flow[t.cnp[t.cnp_head].flow];
		u64 now = flow_advance(f, s, t.cnp[t.cnp_head].time);

		dcqcn_rate_cnp(&f->rate, &s->senders.rp, flow_line(f, s), now);
		flow_set_speed(f, s);
		t.cnp_head = (t.cnp_head + 1) % CNPS;
		n++;
	}
	return n;
}

/* A pause and its end take as long to arrive, so the other one may still be in force */
static bool is_stopped(const struct group *g)
{
	if (g->go > g->stop)
		return t.now >= g->stop && t.now < g->go;
	return (g->stop > 0 && t.now >= g->stop) || t.now < g->go;
}

static bool is_limited(const struct flow *f)
{
	return f->rate.born || f->rate.starting;
}

/* What a flow has for its host to send in a step: packets that are due, or as much as the host
 * takes while it has no limiter
 */
static double flow_offers(struct flow *f, const struct trace_setup *s, double step,
			  double line)
{
	double due;

	if (!is_limited(f))
		return line + s->host_queue - f->backlog;
	f->packed += f->speed * step;
	if (f->packed < f->batch)
		return 0;
	due = number_floor(f->packed / s->packet) * s->packet;
	f->packed -= due;
	return due;
}

/* What waits before an uplink is marked as well: a switch like this one is there. It is
 * paused in the place of its senders.
 */
static void group_begin(struct group *g, const struct trace_setup *s, double step)
{
	double seen = t.now + t.queue / s->speed;

	g->came = 0;
	g->density = s->uplinks ? mark_density(s, g->before / t.group_weight) : 0;
	if (s->uplinks)
		seen += g->before / t.group_weight / s->group_speed;
	g->span = number_max(seen - g->seen, 1);
	g->seen = seen;
	g->fades = number_min(1, step / (seen - t.now + s->rtt));
	g->stopped = is_stopped(g);
}

static double group_end(struct group *g, const struct trace_setup *s, double step)
{
	double sends = g->stopped ? 0 : s->group_speed * t.group_weight * step;

	if (!s->uplinks)
		return g->came;
	sends = number_min(g->before + g->came, sends);
	g->before += g->came - sends;
	g->came = sends;
	return sends;
}

/* Packets arrive, and some of them ask for an ACK. That leaves room in the window, unless it comes
 * behind a gap.
 */
static void flow_acknowledged(struct flow *f, const struct group *g, const struct trace_setup *s)
{
	if (f->again)
		return;
	f->unmet -= f->unmet * g->fades;
	if (f->flight - f->unmet < s->ack)
		return;
	f->flight -= number_floor((f->flight - f->unmet) / s->ack) * s->ack;
}

static double flow_sends(struct flow *f, const struct group *g, const struct trace_setup *s,
			 double step, double line)
{
	double bytes = flow_offers(f, s, step, line), sends;

	if (s->window)
		bytes = number_min(bytes, s->window - f->flight - f->backlog);
	bytes = number_max(bytes, 0);
	sends = !s->uplinks && g->stopped ? 0 : number_min(f->backlog + bytes, line);
	bytes = number_min(bytes, s->host_queue + sends - f->backlog);
	bytes = number_max(bytes, 0);
	f->backlog += bytes - sends;
	f->flight += sends;
	f->unmet += sends;
	f->unsaid += bytes;
	return sends;
}

/* Whether any packet of these bytes meets its fate */
static bool any_of(double bytes, const struct trace_setup *s)
{
	return bytes > 0 && draw() > number_exp(-bytes / s->packet);
}

/* Of what a flow sends, a share is lost. The first packet behind a gap makes the receiver ask for
 * what is missing, once. As in rxe, the sender hears that once before the next ACK.
 */
static void flow_loses(struct flow *f, double sends, double share, double seen,
		       const struct trace_setup *s)
{
	double behind = sends * (1 - share);

	if (!f->again && any_of(sends * share, s)) {
		f->again = t.now + s->timeout;
		f->asked = f->repeated < s->ack;
		behind /= 2;
	}
	f->repeated += sends;
	if (f->again && !f->asked && any_of(behind, s)) {
		f->again = seen + s->rtt;
		f->asked = true;
	}
}

/* As in pacer.c: while it waited nothing could be marked, so its rate rose for nothing */
static void flow_goes_back(struct flow *f, const struct trace_setup *s)
{
	f->again = 0;
	f->flight = 0;
	f->unmet = 0;
	f->repeated = 0;
	if (!is_limited(f))
		return;
	if (f->rate.starting)
		dcqcn_rate_cnp(&f->rate, &s->senders.rp, flow_line(f, s), clock_ns(t.now));
	else
		dcqcn_rate_resume(&f->rate, &s->senders.rp, clock_ns(t.now));
	if (!s->senders.rp.rpg_time_reset) {
		dcqcn_path_restart(&f->path);
		f->ack = 0;
	}
	f->packed = number_min(f->packed, s->packet);
	flow_set_speed(f, s);
}

/* What all flows put into the queue in a step; smooth: as if it did not come in packets */
static double arrivals(const struct trace_setup *s, double step, bool measured, double *drift)
{
	double line = s->line_bps / 8e9 * step, seen, all = 0, smooth = 0;
	size_t i;

	for (i = 0; i < t.groups; i++)
		group_begin(&t.group[i], s, step);
	for (i = 0; i < t.flows; i++) {
		struct flow *f = &t.flow[i];
		struct group *g = &t.group[f->group];
		double sends;

		f->arrives = 0;
		if (t.now < f->begin)
			continue;
		t.work++;
		if (!f->started)
			flow_start(f, s);
		if (f->ack == ASKED && t.now >= f->leaves)
			f->ack = f->leaves + t.queue / s->speed + s->rtt;
		if (f->ack && t.now >= f->ack)
			flow_acked(f, s);
		if (t.now >= f->due) {
			flow_advance(f, s, t.now);
			f->due = f->rate.starting ? t.now : t.now + t.look;
		}
		if (f->again && t.now >= f->again)
			flow_goes_back(f, s);
		seen = g->seen;
		if (s->window)
			flow_acknowledged(f, g, s);
		sends = flow_sends(f, g, s, step, line);
		smooth += (is_limited(f) && !g->stopped && !f->again ? f->speed * step : sends) *
			  t.flow_weight;
		g->came += sends * t.flow_weight;
		if (measured)
			f->sent += sends;
		if (s->timeout && (g->loses > 0 || f->again || f->repeated < s->ack))
			flow_loses(f, sends, g->loses, seen, s);
		f->arrives = sends * (1 - g->loses);
	}
	for (i = 0; i < t.groups; i++)
		all += group_end(&t.group[i], s, step);
	*drift = s->uplinks ? all : smooth;
	return all;
}

/* Marks per byte that came while the queue went from one length to the present one, by Simpson's
 * rule
 */
static double density_since(const struct trace_setup *s, double before)
{
	if (s->sample)
		return mark_density(s, t.marker_queue);
	return (mark_density(s, before) + 4 * mark_density(s, (before + t.queue) / 2) +
		mark_density(s, t.queue)) / 6;
}

/* Of what came in a step */
static void mark_arrivals(const struct trace_setup *s, double density)
{
	size_t i;

	for (i = 0; i < t.flows; i++) {
		struct flow *f = &t.flow[i];
		const struct group *g = &t.group[f->group];

		if (f->arrives > 0 && g->seen >= f->ready && density + g->density > 0)
			mark_some(i, f->arrives, density + g->density, g->seen, g->span, s);
	}
}

/* Bytes of the pool that a port may hold */
static double port_bound(const struct trace_setup *s, double used)
{
	double free = number_max(0, s->pool - used);
	double bound = s->alpha ? s->alpha * free : s->pool;

	return s->lossless ? number_min(s->xoff, bound) : bound;
}

/* Whether any port can be near its bound, within a part of it */
static bool ports_matter(const struct trace_setup *s, double part)
{
	size_t i;

	if (t.queue >= port_bound(s, t.queue) * part || t.queue >= s->pool)
		return true;
	for (i = 0; i < t.groups && t.held_known; i++) {
		if (t.group[i].paused || t.group[i].head > 0)
			return true;
	}
	return false;
}

/* From now on the ports are looked at: each holds what it brings in */
static void learn_held(double came, double before)
{
	size_t i;

	for (i = 0; i < t.groups; i++) {
		t.group[i].shared = came ? before * t.group[i].came / came : 0;
		t.group[i].head = 0;
	}
	t.held_known = true;
}

/* What came goes into the pool up to a port's bound. The rest goes into its headroom, which
 * is enough by definition, for steps are longer than what it is made of; without one it is
 * lost.
 */
static double charge(const struct trace_setup *s, struct group *g, double bound, double *free)
{
	double shared = number_min(number_max(0, bound - g->shared), *free);

	shared = number_min(shared, g->came);
	g->shared += shared;
	*free -= shared;
	if (!s->lossless)
		return g->came - shared;
	g->head += g->came - shared;
	return 0;
}

static void release(struct group *g, double bytes)
{
	double head = number_min(g->head, bytes);

	g->head -= head;
	g->shared = number_max(0, g->shared - (bytes - head));
}

/* Returns whether its pause has begun or ended */
static bool pause(const struct trace_setup *s, struct group *g, double bound)
{
	double held = g->shared + g->head;

	if (!g->paused && (g->head > 0 || held >= bound) && held > 0) {
		g->paused = true;
		g->stop = t.now + s->pause_delay;
		return true;
	}
	if (g->paused && (held < 1 || (g->head <= 0 && held < bound &&
				       held <= s->xon * t.group_weight))) {
		g->paused = false;
		g->go = t.now + s->pause_delay;
		return true;
	}
	return false;
}

/* Of what came and left, port by port: who pauses, and what is lost, which it returns */
static double account(const struct trace_setup *s, double came, double left, size_t *frames)
{
	double before = t.queue + left, used = 0, bound, free, lost = 0;
	size_t i;

	t.bounded = ports_matter(s, 1);
	/* who holds what must be known before */
	if (!t.bounded && !ports_matter(s, KNOWN)) {
		for (i = 0; i < t.groups && t.held_known; i++)
			t.group[i].loses = 0;
		t.held_known = false;
		return 0;
	}
	if (!t.held_known)
		learn_held(came, number_max(0, before - came));
	for (i = 0; i < t.groups; i++)
		used += t.group[i].shared;
	bound = port_bound(s, used) * t.group_weight;
	free = number_max(0, s->pool - used);
	for (i = 0; i < t.groups; i++) {
		struct group *g = &t.group[i];
		double over = charge(s, g, bound, &free);

		g->loses = over > 0 ? over / g->came : 0;
		lost += over;
		if (before > 0)
			release(g, left * number_min(1, (g->shared + g->head) / before));
		if (s->lossless)
			*frames += pause(s, g, bound);
	}
	return lost;
}

static size_t bin_of(double queue)
{
	union {
		double value;
		u64 bits;
	} u = { .value = queue + 1 };

	return min((size_t)((u.bits >> (52 - BIN_BITS)) - (1023ULL << BIN_BITS)),
		   (size_t)(BINS - 1));
}

static double bin_value(size_t bin)
{
	union {
		u64 bits;
		double value;
	} u = { .bits = (2 * (u64)bin + 1 + (1023ULL << (BIN_BITS + 1))) << (51 - BIN_BITS) };

	return number_max(0, u.value - 1);
}

/* The queue that is not exceeded for a time */
static double percentile(double time)
{
	double sum = 0;
	size_t bin;

	for (bin = 0; bin < BINS - 1; bin++) {
		sum += t.histogram[bin];
		if (sum >= time)
			break;
	}
	return bin ? bin_value(bin) : 0;
}

/* How often the queue comes up from a quarter of the way to three quarters */
static size_t swings(double low, double high)
{
	double down = low + (high - low) / 4, up = high - (high - low) / 4;
	bool was_down = false;
	size_t i, count = 0;

	for (i = 0; i < t.measured; i++) {
		if (t.series[i] <= down) {
			was_down = true;
		} else if (t.series[i] >= up && was_down) {
			was_down = false;
			count++;
		}
	}
	return count;
}

static void take_sample(const struct trace_setup *s, double came, double step)
{
	size_t at = (size_t)(t.now / s->duration * DCQCN_MODEL_SAMPLES);
	struct dcqcn_model_sample *sample;

	at = min(at, (size_t)DCQCN_MODEL_SAMPLES - 1);
	while (t.samples <= at)
		t.sample[t.samples++] = (struct dcqcn_model_sample) {
			.time_us = at * s->duration / DCQCN_MODEL_SAMPLES / 1000,
		};
	sample = &t.sample[at];
	sample->queue_bytes = number_max(sample->queue_bytes, t.queue);
	sample->rate_bps = came * 8e9 / step;
}

static double jain(size_t n)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += t.flow[i].sent;
		squares += t.flow[i].sent * t.flow[i].sent;
	}
	return squares ? sum * sum / squares / n : 1;
}

/* The increase timer's period, or what takes its place */
static double period_of(const struct trace_setup *s)
{
	const struct dcqcn_rp_params *p = &s->senders.rp;
	double period = p->rpg_time_reset ? p->rpg_time_reset * 1000.0 : s->rtt;

	if (p->rpg_byte_reset)
		period = number_min(period, p->rpg_byte_reset / (s->speed / s->flows));
	return period;
}

/* The shortest step: a part of what a mark takes to be answered, and of what a port takes
 * to reach xOFF
 */
static double shortest_step(const struct trace_setup *s)
{
	double answer = (s->rtt + t.queue / s->speed) / ANSWER_STEPS;

	if (s->lossless)
		answer = number_min(answer, s->xoff / (s->line_bps / 8e9) / XOFF_STEPS);
	return number_max(answer, s->rtt / RTT_STEPS);
}

/* How long the next step may be; came: bytes in the one before */
static double next_step(const struct trace_setup *s, double came, double step)
{
	double shortest = shortest_step(s), longest = 2 * s->duration / TRACE_STEPS;
	double move = STEP_MOVE * s->curve.kmax + s->packet;
	double drift = number_abs(came / step - s->speed);

	/* an empty queue stays so */
	if (t.queue <= 0 && came / step < s->speed)
		drift = 0;
	/* what one of few flows does moves the queue most */
	longest = number_min(longest, (s->rtt + s->curve.kmin / s->speed) *
				      number_clamp(s->flows / 8.0, 1, 3));
	longest = number_max(longest, shortest);
	return t.bounded ? shortest :
	       number_clamp(move / number_max(drift, 1e-9), shortest, longest);
}

/* Of all the steps that there may be, a part */
static bool is_spent(size_t steps, double part)
{
	return steps >= part * TRACE_STEPS_MAX || t.work >= part * TRACE_WORK;
}

/* What is added up in the second half */
struct sums {
	double time;
	double served;
	double came;
	double marked;
	double queue;
	double cnps;
	double frames;
	double paused;
	double above;
};

static void measure(const struct trace_setup *s, struct sums *sum, double step, double came,
		    double left, double density)
{
	double queue = waiting(s, t.queue);
	size_t i;

	sum->time += step;
	sum->served += left;
	sum->came += came;
	density *= s->packet;
	sum->marked += came * density / (1 + density / 2);
	sum->queue += queue * step;
	if (queue > s->curve.kmax)
		sum->above += step;
	for (i = 0; i < t.groups && s->lossless; i++)
		sum->paused += t.group[i].stopped ? step : 0;
	if (t.measured < SERIES)
		t.series[t.measured++] = (float)queue;
	t.histogram[bin_of(queue)] += step;
}

static void conclude(const struct trace_setup *s, const struct sums *sum,
		     struct trace_result *r)
{
	size_t n;

	r->marked_share = sum->came ? sum->marked / sum->came : 0;
	r->used_share = number_min(1, sum->served / (s->speed * sum->time));
	r->queue_mean = sum->queue / sum->time;
	r->queue_p5 = percentile(0.05 * sum->time);
	r->queue_p95 = percentile(0.95 * sum->time);
	r->queue_p99 = percentile(0.99 * sum->time);
	r->above_kmax_share = sum->above / sum->time;
	n = swings(r->queue_p5, r->queue_p95);
	r->period = n > 1 ? sum->time / n : 0;
	r->flow_rate = sum->served / sum->time / s->flows;
	r->jain = jain(t.flows);
	r->cnps_per_s = sum->cnps * t.flow_weight * 1e9 / sum->time;
	r->frames_per_s = sum->frames * t.group_weight * 1e9 / sum->time;
	r->paused_share = sum->paused / sum->time / t.groups;
}

/**
 * trace_run() - let time pass
 * @s: what is simulated
 * @r: what comes of it
 */
void trace_run(const struct trace_setup *s, struct trace_result *r)
{
	double half = s->duration / 2, came, drift = 0, step = 1;
	bool measured = false;
	struct sums sum = {};
	size_t steps = 0;

	*r = (struct trace_result) {};
	t.random = (u64)s->seed * 0x9e3779b97f4a7c15ULL;
	t.look = period_of(s) / LOOKS;
	t.flows = min(s->flows, (size_t)TRACE_FLOWS);
	t.flow_weight = (double)s->flows / t.flows;
	t.groups = min(s->groups, t.flows);
	t.group_weight = (double)s->groups / t.groups;
	t.work = 0;
	setup_flows(s);
	/* where so much happens that steps do not suffice for all of the time, half of them
	 * are measured
	 */
	while ((t.now < s->duration && !is_spent(steps, 1)) || !sum.time) {
		double left, lost, cnps, density, before;
		size_t frames = 0;

		if (!measured && (t.now >= half || is_spent(steps, 0.5))) {
			measured = true;
			r->begin = t.now;
		}
		steps++;
		step = next_step(s, drift, step);
		t.now += step;
		cnps = deliver(s);
		before = t.queue;
		came = arrivals(s, step, measured, &drift);
		left = number_min(t.queue + came, s->speed * step);
		t.queue += came - left;
		density = density_since(s, before);
		mark_arrivals(s, density);
		lost = account(s, came, left, &frames);
		t.queue = number_max(0, t.queue - lost);
		if (t.now >= t.marker_next) {
			t.marker_queue = t.queue;
			t.marker_next = t.now + s->sample;
		}
		take_sample(s, came, step);
		r->lost += lost;
		if (measured) {
			measure(s, &sum, step, came, left, density);
			sum.cnps += cnps;
			sum.frames += frames;
			r->queue_max = number_max(r->queue_max, t.queue);
		} else {
			r->start_peak = number_max(r->start_peak, t.queue);
			r->start_lost += lost;
			r->start_frames += frames;
		}
	}
	r->steps = steps;
	r->duration = t.now;
	conclude(s, &sum, r);
}

/**
 * trace_samples() - the last run over time
 * @samples: set to the samples
 *
 * Return: how many there are.
 */
size_t trace_samples(const struct dcqcn_model_sample **samples)
{
	*samples = t.sample;
	return t.samples;
}
