// SPDX-License-Identifier: GPL-2.0
/*
 * N flows and one queue over time, packet by packet: what the fluid model cannot say, because
 * it has neither chance nor delay.
 *
 *   - hosts, with the module's rate.c and path.c, make packets (host.c);
 *   - switches, with dcbport's curve.c, flows.c and account.c, mark, pause and lose them (port.c);
 *   - a receiver answers marks with CNPs, and what it is asked for with ACKs;
 *   - cables only take time.
 *
 * Events happen in order of their time: the head of each cable, the port's wire, and of all
 * hosts and uplinks the one that is due first, which a tournament finds. A receiver is
 * looked at when a packet leaves for it, for what it says comes back a constant time later.
 * One computation at a time: its memory is static.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "host.h"
#include "measure.h"
#include "number.h"
#include "port.h"
#include "trace.h"

#define FLOWS		DCQCN_MODEL_FLOWS_MAX
#define PLAYERS		(2 * FLOWS)	/* hosts, and uplinks */
#define PAUSE_BYTES	84		/* on the wire */
#define ENOUGH		0x40000000U	/* of headroom; findings.c says whether there is */

/* A port at which packets come into the switch with the queue */
struct entry {
	struct dcbport_account account;
	u16 wire;	/* of the host at its other end, if it is one */
	bool told;	/* that end, to pause */
	double since;	/* ns */
};

enum event { CABLE, PORT, PLAYER, ANSWER, TRUNK, PAUSE, TRUNK_PAUSE };

static struct {
	const struct trace_setup *setup;
	struct hosts hosts;
	struct port_terms terms;
	struct host host[FLOWS];
	struct port uplink[FLOWS];
	struct entry entry[FLOWS];
	bool told[FLOWS];	/* hosts, by the switch before an uplink */
	u32 queued[FLOWS];	/* packets of a flow in the queue */
	struct port port;
	struct packets cable;		/* from hosts to a switch */
	struct packets trunk;		/* from uplinks' switches to the one with the queue */
	struct packets back;		/* to hosts, from receivers */
	struct packets pauses;		/* to hosts */
	struct packets trunk_pauses;	/* to uplinks */
	double pause_delay;
	double trunk_pause_delay;
	double cnp;		/* the receiver's port sends none before that */
	double answer_delay;	/* from the queue by the receiver to the host */
	/* A tree: who is due first of those below each place, and when; of all, at 1 */
	u64 key[2 * PLAYERS];
	u16 winner[2 * PLAYERS];
	size_t players;		/* a power of two: where leaves begin */
	enum event other;	/* what is next of all from ANSWER on */
	double other_due;
	size_t groups;
	u64 random;
	double now;
	bool measured;
	struct {
		u32 came;
		u32 marked;
		u32 served;
		u32 cnps;
		u32 frames;
		double paused;	/* ns, all ports together */
	} sum;
} t;

/* 32 bits; xorshift64*, Vigna 2016 */
static u32 draw(void)
{
	t.random ^= t.random >> 12;
	t.random ^= t.random << 25;
	t.random ^= t.random >> 27;
	return (u32)(t.random * 0x2545f4914f6cdd1dULL >> 32);
}

/* --- who is due first --------------------------------------------------------- */

/* Doubles that are not negative sort like their bits. Comparing integers takes no branch, and
 * here branches would be mispredicted.
 */
static u64 key_of(double due)
{
	union {
		double value;
		u64 bits;
	} u = { .value = due };

	return u.bits;
}

static double time_of(u64 key)
{
	union {
		u64 bits;
		double value;
	} u = { .bits = key };

	return u.value;
}

/* From each pair, the one that is due first moves up, to the root; on a tie, the left one.
 * No branches: they would be mispredicted.
 */
static void set_due(size_t player, double due)
{
	size_t at = t.players + player, first = player;
	u64 key = key_of(due);

	if (t.key[at] == key)
		return;
	t.key[at] = key;
	while (at > 1) {
		u64 other = t.key[at ^ 1];
		u64 is_other = -(u64)(other < key + (at & 1));

		key ^= (key ^ other) & is_other;
		first ^= (first ^ t.winner[at ^ 1]) & (size_t)is_other;
		at /= 2;
		t.key[at] = key;
		t.winner[at] = (u16)first;
	}
}

static void setup_players(size_t count)
{
	size_t i;

	for (t.players = 2; t.players < count; t.players *= 2)
		;
	for (i = 0; i < t.players; i++) {
		t.key[t.players + i] = key_of(PACKET_NEVER);
		t.winner[t.players + i] = (u16)i;
	}
	for (i = t.players - 1; i; i--) {
		t.key[i] = t.key[2 * i];
		t.winner[i] = t.winner[2 * i];
	}
}

/* A flow, or the wire that it shares */
static void host_changed(size_t flow)
{
	size_t wire = t.host[flow].wire;

	set_due(flow, host_due(&t.host[flow]));
	if (wire != flow)
		set_due(wire, host_due(&t.host[wire]));
}

static void uplink_changed(size_t group)
{
	set_due(t.setup->flows + group, port_due(&t.uplink[group]));
}

static size_t group_of(size_t flow)
{
	return t.host[flow].group;
}

/* What the switch before an uplink has of the host that a flow comes from */
static struct dcbport_account *account_before(size_t flow)
{
	return &t.host[t.host[flow].wire].account;
}

/* --- events -------------------------------------------------------------------- */

static void consider(enum event event, double due, enum event *next, double *when)
{
	if (due < *when) {
		*next = event;
		*when = due;
	}
}

/* What is on its way back, or from an uplink, has changed. Most events change none of this. */
static void others_changed(void)
{
	t.other = ANSWER;
	t.other_due = t.back.due;
	consider(TRUNK, t.trunk.due, &t.other, &t.other_due);
	consider(PAUSE, t.pauses.due, &t.other, &t.other_due);
	consider(TRUNK_PAUSE, t.trunk_pauses.due, &t.other, &t.other_due);
}

/* --- answers, pauses ---------------------------------------------------------- */

static void send(struct packets *list, enum packet_kind kind, size_t flow, u32 psn, double delay)
{
	u32 at = packet_new(kind, flow, psn);

	if (at == PACKET_NONE)
		return;
	packet_pool[at].time = t.now + delay;
	packets_add(list, at);
	others_changed();
}

static void answer(const struct packet *p)
{
	struct host *h = &t.host[p->flow];
	int ahead = (int)(p->psn - h->expected);

	if (p->marked && t.now >= h->cnp && t.now >= t.cnp) {
		t.cnp = t.now + t.setup->cnp_gap;
		h->cnp = t.now + t.setup->senders.cnp_interval_us * 1000.0;
		send(&t.back, PACKET_CNP, p->flow, 0, t.answer_delay);
	}
	if (ahead > 0) {
		if (!h->asked)
			send(&t.back, PACKET_NAK, p->flow, h->expected, t.answer_delay);
		h->asked = true;
		return;
	}
	if (!ahead) {
		h->expected++;
		h->asked = false;
	}
	/* what comes twice is acknowledged each time */
	if (p->asks || ahead < 0)
		send(&t.back, PACKET_ACK, p->flow, h->expected - 1, t.answer_delay);
}

static void tell(bool *told, bool paused, struct packets *list, size_t whom, double delay)
{
	if (!t.terms.lossless || *told == paused)
		return;
	*told = paused;
	send(list, paused ? PACKET_PAUSE : PACKET_RESUME, whom, 0, delay);
	t.sum.frames++;
}

static void tell_entry(size_t group)
{
	struct entry *e = &t.entry[group];
	bool paused = e->account.paused;

	if (!t.terms.lossless || e->told == paused)
		return;
	if (paused)
		e->since = t.now;
	else
		t.sum.paused += t.now - e->since;
	if (t.setup->uplinks)
		tell(&e->told, paused, &t.trunk_pauses, group, t.trunk_pause_delay);
	else
		tell(&e->told, paused, &t.pauses, e->wire, t.pause_delay);
}

static void tell_before(size_t flow)
{
	size_t wire = t.host[flow].wire;

	tell(&t.told[wire], t.host[wire].account.paused, &t.pauses, wire, t.pause_delay);
}

static void lose(u32 at, struct trace_result *r)
{
	struct packet *p = &packet_pool[at];

	r->lost += t.setup->packet;
	if (!t.measured)
		r->start_lost += t.setup->packet;
	/* where nothing is sent again, nobody misses it */
	p->marked = false;
	if (!t.setup->timeout)
		answer(p);
	packet_free(at);
}

/* --- switches ------------------------------------------------------------------ */

static void port_goes_on(void)
{
	u32 at;
	size_t flow;

	if (port_due(&t.port) > t.now)
		return;
	measure_until(t.now, t.port.queue.count);
	at = port_sends(&t.port, t.now);
	flow = packet_pool[at].flow;
	port_releases(&t.terms, &t.port, &t.entry[group_of(flow)].account, &t.queued[flow]);
	tell_entry(group_of(flow));
	answer(&packet_pool[at]);
	packet_free(at);
	t.sum.served++;
}

static void port_comes(u32 at, struct trace_result *r)
{
	size_t flow = packet_pool[at].flow;
	struct entry *e = &t.entry[group_of(flow)];

	r->packets++;
	measure_came();
	measure_until(t.now, t.port.queue.count);
	t.sum.came++;
	if (!port_takes(&t.terms, &t.port, &e->account, &t.queued[flow], at, t.now, draw())) {
		lose(at, r);
		return;
	}
	t.sum.marked += packet_pool[at].marked;
	tell_entry(group_of(flow));
	port_goes_on();
}

static void uplink_goes_on(size_t group)
{
	struct port *up = &t.uplink[group];
	size_t flow;
	u32 at;

	if (port_due(up) <= t.now) {
		at = port_sends(up, t.now);
		flow = packet_pool[at].flow;
		port_releases(&t.terms, up, account_before(flow), &t.host[flow].queued);
		tell_before(flow);
		packet_pool[at].time = up->free + t.setup->uplink_cable;
		packets_add(&t.trunk, at);
		others_changed();
	}
	uplink_changed(group);
}

static void uplink_comes(u32 at, struct trace_result *r)
{
	size_t flow = packet_pool[at].flow;

	if (!port_takes(&t.terms, &t.uplink[group_of(flow)], account_before(flow),
			&t.host[flow].queued, at, t.now, draw())) {
		lose(at, r);
		return;
	}
	tell_before(flow);
	uplink_goes_on(group_of(flow));
}

/* --- what arrives --------------------------------------------------------------- */

static void cable_ends(struct trace_result *r)
{
	u32 at = packets_take(&t.cable);
	size_t flow = packet_pool[at].flow;

	if (t.setup->uplinks)
		uplink_comes(at, r);
	else
		port_comes(at, r);
	if (host_room(&t.hosts, &t.host[flow], flow))
		host_changed(flow);
}

static void trunk_ends(struct trace_result *r)
{
	u32 at = packets_take(&t.trunk);

	others_changed();
	port_comes(at, r);
}

static void answer_comes(void)
{
	u32 at = packets_take(&t.back);
	size_t flow = packet_pool[at].flow;
	struct host *h = &t.host[flow];

	others_changed();
	if (packet_pool[at].kind == PACKET_CNP) {
		t.sum.cnps++;
		host_cnp(&t.hosts, h);
	} else if (packet_pool[at].kind == PACKET_ACK) {
		host_ack(&t.hosts, h, flow, packet_pool[at].psn);
	} else {
		host_nak(&t.hosts, h, flow, packet_pool[at].psn);
	}
	packet_free(at);
	host_changed(flow);
}

static void pause_comes(void)
{
	u32 at = packets_take(&t.pauses);
	size_t flow = packet_pool[at].flow;

	others_changed();
	t.host[flow].paused = packet_pool[at].kind == PACKET_PAUSE;
	packet_free(at);
	host_changed(flow);
}

static void trunk_pause_comes(void)
{
	u32 at = packets_take(&t.trunk_pauses);
	size_t group = packet_pool[at].flow;

	others_changed();
	t.uplink[group].paused = packet_pool[at].kind == PACKET_PAUSE;
	packet_free(at);
	uplink_changed(group);
}

static void player_runs(void)
{
	size_t player = t.winner[1], other;

	if (player >= t.setup->flows) {
		uplink_goes_on(player - t.setup->flows);
		return;
	}
	other = host_run(&t.hosts, &t.host[player], player);
	host_changed(player);
	if (other != player)
		host_changed(other);
}

/* --- the run -------------------------------------------------------------------- */

/* What happens next, and when, ns */
static enum event next_event(double *when)
{
	enum event next = CABLE;
	double first = time_of(t.key[1]), port = port_due(&t.port);

	*when = t.cable.due;
	consider(PORT, port, &next, when);
	consider(PLAYER, first, &next, when);
	consider(t.other, t.other_due, &next, when);
	*when = number_max(*when, t.now);
	return next;
}

static void happen(enum event event, struct trace_result *r)
{
	switch (event) {
	case CABLE:
		cable_ends(r);
		break;
	case TRUNK:
		trunk_ends(r);
		break;
	case ANSWER:
		answer_comes();
		break;
	case PAUSE:
		pause_comes();
		break;
	case TRUNK_PAUSE:
		trunk_pause_comes();
		break;
	case PORT:
		port_goes_on();
		break;
	default:
		player_runs();
	}
}

/* The start is over, and what it has added up does not count */
static void begin(struct trace_result *r)
{
	size_t i;

	measure_until(t.now, t.port.queue.count);
	measure_begin(t.now);
	t.measured = true;
	r->start_frames = t.sum.frames;
	t.sum = (typeof(t.sum)) {};
	for (i = 0; i < t.setup->flows; i++)
		t.host[i].sent = 0;
	for (i = 0; i < t.groups; i++)
		t.entry[i].since = t.now;
}

static void setup_hosts(const struct trace_setup *s)
{
	double line = s->line_bps / 8e9, queue = (s->host_queue + s->cable * line) / s->packet;
	/* as in requester.h: the longest gap between two requests */
	double gap = s->timeout ? s->timeout / 2 : 5e9;
	size_t i, wire = 0, last = 0, hosts = min(s->hosts, s->flows);

	t.hosts = (struct hosts) {
		.setup = s,
		.host = t.host,
		.cable = &t.cable,
		.line = (u64)s->line_bps,
		.frame = s->frame / line,
		.window = s->window ? (u32)number_max(1, s->window / s->packet) : 0x7fffffff,
		.message = (u32)number_ceil(s->message),
		.least = 1,
		.hold = PACKET_NEVER,
		.measures = !s->ops && (!s->senders.rp.rpg_time_reset ||
					s->senders.rp.start_burst),
	};
	/* else it would wait for an ACK for ever */
	t.hosts.ack = (u32)number_min(s->ack / s->packet, t.hosts.window - 1);
	if (s->host_queue) {
		t.hosts.most = (u32)number_max(1, number_floor(queue + 0.5));
		t.hosts.least = max(1U, t.hosts.most / 4);
		t.hosts.floor = s->packet * 8e9 / gap;
		t.hosts.hold = gap;
	}
	for (i = 0; i < s->flows; i++) {
		size_t host = i * hosts / s->flows, group = host % t.groups;

		if (!i || host != last)
			wire = i;
		last = host;
		host_setup(&t.hosts, &t.host[i], i * s->stagger, wire, group);
		t.entry[group].wire = (u16)wire;
		t.queued[i] = 0;
		t.told[i] = false;
		host_changed(i);
	}
}

static void setup_switches(const struct trace_setup *s)
{
	size_t i;

	t.terms = (struct port_terms) {
		.curve = s->curve,
		.flow_bounds = s->flow_bounds,
		.lossless = s->lossless,
		.packet = (u32)s->packet,
		.sample = s->sample,
	};
	if (s->lossless)
		t.terms.thresholds = (struct dcbport_thresholds) {
			.reserve = (u32)s->reserve,
			.xoff = (u32)number_clamp(s->xoff, 1, 4e9),
			.xon = (u32)number_min(s->xon, 4e9),
			.headroom = ENOUGH,
		};
	/* 0 stands for the whole pool: anything less counts as the least that a port can have */
	if (s->alpha)
		t.terms.thresholds.alpha = (u32)number_max(1, s->alpha * DCBPORT_ALPHA_ONE + 0.5);
	port_setup(&t.port, s->pool, s->packet / s->speed);
	for (i = 0; i < t.groups; i++) {
		t.entry[i] = (struct entry) {};
		port_setup(&t.uplink[i], s->pool, s->frame * 8e9 / s->uplink_bps);
	}
	t.cable = packets_empty();
	t.trunk = packets_empty();
	t.back = packets_empty();
	t.pauses = packets_empty();
	t.trunk_pauses = packets_empty();
	others_changed();
	t.pause_delay = s->cable + s->response + PAUSE_BYTES * 8e9 / s->line_bps;
	t.trunk_pause_delay = s->uplink_cable + s->uplink_response +
			      PAUSE_BYTES * 8e9 / s->uplink_bps;
	t.answer_delay = s->rtt - s->cable - s->frame * 8e9 / s->line_bps;
	if (s->uplinks)
		t.answer_delay -= s->uplink_cable + s->frame * 8e9 / s->line_bps;
	t.answer_delay = number_max(t.answer_delay, 0);
}

static double jain(size_t n)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += t.host[i].sent;
		squares += (double)t.host[i].sent * t.host[i].sent;
	}
	return squares ? sum * sum / squares / n : 1;
}

static void conclude(const struct trace_setup *s, struct trace_result *r)
{
	double time;
	size_t i;

	measure_until(t.now, t.port.queue.count);
	measure_end(r, s->curve.kmin, s->curve.kmax);
	time = r->duration - r->begin;
	for (i = 0; i < t.groups; i++)
		t.sum.paused += t.entry[i].told ? t.now - t.entry[i].since : 0;
	r->marked_share = t.sum.came ? (double)t.sum.marked / t.sum.came : 0;
	r->used_share = number_min(1, t.sum.served * s->packet / s->speed / time);
	r->flow_rate = t.sum.served * s->packet / time / s->flows;
	r->jain = jain(s->flows);
	r->cnps_per_s = t.sum.cnps * 1e9 / time;
	r->frames_per_s = t.sum.frames * 1e9 / time;
	r->paused_share = t.sum.paused / time / t.groups;
}

/**
 * trace_run() - let time pass
 * @s: what is simulated
 * @r: what comes of it
 */
void trace_run(const struct trace_setup *s, struct trace_result *r)
{
	double half = s->duration / 2, when;
	double most = (double)s->packets, start_most = number_floor(most / 2);

	*r = (struct trace_result) {};
	t.setup = s;
	t.random = (u64)s->seed * 0x9e3779b97f4a7c15ULL;
	t.groups = min(s->groups, s->hosts);
	t.now = 0;
	t.cnp = 0;
	t.measured = false;
	t.sum = (typeof(t.sum)) {};
	packet_setup();
	measure_setup(s->duration, s->packet);
	setup_players(s->flows + (s->uplinks ? t.groups : 0));
	setup_switches(s);
	setup_hosts(s);
	/* where so much happens that packets do not suffice for all of the time, half of them
	 * are measured
	 */
	while (r->packets < most) {
		enum event event = next_event(&when);

		if (!t.measured && (when >= half || r->packets >= start_most)) {
			t.now = number_min(when, half);
			begin(r);
		}
		if (when >= s->duration) {
			t.now = s->duration;
			break;
		}
		t.now = when;
		t.hosts.now = when;
		happen(event, r);
	}
	conclude(s, r);
}

/**
 * trace_samples() - the last run over time
 * @samples: set to the samples
 *
 * Return: how many there are.
 */
size_t trace_samples(const struct dcqcn_model_sample **samples)
{
	return measure_samples(samples);
}
