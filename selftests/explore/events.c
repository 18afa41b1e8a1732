// SPDX-License-Identifier: GPL-2.0
/*
 * Sequences of events: bytes in, events out, checks after each.
 *
 * An input is struct setup and then struct event after event. Whatever the bytes are, they mean
 * something. After the last event, the world heals: what is posted must be done, and nothing may
 * be left. A failure prints the sequence; fuzz_explore FILE replays it, and EXPLORE_VERBOSE=1 adds
 * each packet. With EXPLORE_CC=NAME, both ports begin with that algorithm or profile, whatever the
 * input says: "selftests/fuzz/run --events". With EXPLORE_PACKETS=N, messages end, and no more are
 * posted, once there have been N packets: "selftests/fuzz/run --packets".
 */
#include "checks.h"
#include "count.h"
#include "rxe.h"
#include "world.h"

#include "cc.h"
#include "qp.h"
#include "settings.h"

#define EVENTS_MAX	128
#define PACKETS		1000	/* EXPLORE_PACKETS */

struct setup {
	u8 profile;	/* of both ports, and contexts */
	u8 link;	/* rate and delay */
	u8 types;	/* of QPs */
	u8 timeout;	/* of RC */
	u8 size;	/* MTU, and memory of a packet */
	u8 psn;
} __packed;

struct event {
	u8 what;
	u8 a, b, c;
} __packed;

enum what {
	POST, POST_GREEDY, PASS, PASS_LONG, MARK, LOSE, LOSE_ACKS, LOSE_CNPS, DELAY, RATE,
	FORGE_ACK, FORGE_NAK, FORGE_CNP, RNR, ACKS, KNOB, PROFILE, PRIORITIES, CONTEXTS, TIMERS_LATE,
	WORKER_LATE, CONNECT, DESTROY, LINK_DOWN, SPEED, REMOVE, ADD, LOOK, MEMORY, TRANSMIT, SILENCE,
	WHATS
};

static struct setup setup;
static u64 total_choices;
static struct event events[EVENTS_MAX];
static u64 event_times[EVENTS_MAX];
static int num_events;
static u64 all_events;
static u64 num_tired;		/* sequences that became too long to wait for their end */

/* ns; 1 us to 0.5 s */
static u64 duration(u8 byte)
{
	return (1 + (byte & 15)) * US << (byte >> 4);
}

static const u32 sizes[] = { 0, 64, 1000, 1024, 4096, 4097, 20000, 65536, 262144, 1000000 };
static const u32 mtus[] = { 1024, 4096, 256, 2048 };
static const u32 memories[] = { 1, 2, 16, 64, 256 };
static const u8 timeouts[] = { 14, 8, 18, 0, 20, 10, 31 };
static const u64 rates[] = { 10000000000ULL, 1000000000ULL, 100000000ULL, 50000000ULL,
			     40000000000ULL, 10000000ULL };
static const u32 speeds[] = { 10000, 1000, 40000, 100, 1, 400000 };
static const char *const profiles[] = { "auto", "mlx5", "sigcomm15" };
static const char *const kinds[] = { "WRITE", "SEND", "READ", "ATOMIC", "FLUSH", "ATOMIC WRITE",
				     "SEND with invalidate" };

/* Knobs, and values within their ranges */
static const struct { const char *name; size_t offset; u32 values[6]; } knobs[] = {
#define KNOB_OF(name, ...) { #name, offsetof(struct dcqcn_settings, name), { __VA_ARGS__ } }
	KNOB_OF(rp.rpg_max_rate, 0, 1, 100, 1000, 40000, 4294967295U),
	KNOB_OF(rp.rpg_min_rate, 1, 10, 100, 1000, 1, 4294967295U),
	KNOB_OF(rp.rate_to_set_on_first_cnp, 0, 1, 100, 0, 4294967295U, 1000),
	KNOB_OF(rp.initial_alpha_value, 1023, 1, 512, 1023, 1, 512),
	KNOB_OF(rp.dce_tcp_g, 1019, 0, 1023, 512, 1008, 1),
	KNOB_OF(rp.dce_tcp_rtt, 0, 1, 55, 131071, 1000, 0),
	KNOB_OF(rp.rate_reduce_monitor_period, 0, 1, 4, 131071, 1000, 50),
	KNOB_OF(rp.rpg_gd, 11, 0, 15, 10, 12, 11),
	KNOB_OF(rp.rpg_min_dec_fac, 50, 1, 100, 90, 50, 10),
	KNOB_OF(rp.clamp_tgt_rate, 0, 1, 0, 1, 0, 1),
	KNOB_OF(rp.clamp_tgt_rate_after_time_inc, 0, 1, 0, 1, 0, 1),
	KNOB_OF(rp.rpg_time_reset, 0, 300, 1, 131071, 55, 1000),
	KNOB_OF(rp.rpg_byte_reset, 0, 32767, 1, 10000000, 4294967295U, 1000),
	KNOB_OF(rp.rpg_threshold, 1, 5, 31, 1, 5, 31),
	KNOB_OF(rp.rpg_ai_rate, 0, 5, 40, 1, 4294967295U, 1000),
	KNOB_OF(rp.rpg_hai_rate, 1, 50, 400, 4294967295U, 1, 1000),
	KNOB_OF(rp.start_burst, 12288, 0, 1, 65536, 4294967295U, 12288),
	KNOB_OF(np.min_time_between_cnps, 4, 0, 50, 1000, 131071, 4),
	KNOB_OF(ccc.base_rtt, 0, 10, 1000, 131071, 0, 1),
	KNOB_OF(ccc.target_qdelay, 0, 10, 1000, 131071, 0, 1),
	KNOB_OF(ccc.initial_window, 0, 12288, 1, 65536, 16777216, 4096),
	KNOB_OF(ccc.entropy, 0, 1, 0, 1, 0, 1),
	KNOB_OF(ccc.scaling, 0, 512, 8192, 1, 1024, 0),
	KNOB_OF(cc, 0),		/* any of algorithms[] */
	KNOB_OF(rp.alpha_on_cut, 0, 1, 0, 1, 0, 1),
	KNOB_OF(hop_stamps, 0, 1, 0, 1, 0, 1),
};

/* The knob cc is a name; "hostile" is not always there */
static const char *const algorithms[] = { "", "swift", "timely", "dctcp", "fast", "hostile",
	"hpcc", "powertcp", "fast-oneway" };

static u64 hostile_events;

/* An algorithm that answers anything to everything */
static void hostile_answer(struct dcqcn_cc *cc)
{
	u32 random = world_random();

	hostile_events++;
	kernel_assert(cc->rate >= cc->floor && cc->rate <= cc->line && cc->floor && cc->packet);
	cc->rate = random & 1 ? (u64)world_random() << (random >> 26) : random & 2 ? 0 : ~0ULL;
	cc->window = random & 4 ? world_random() >> (random >> 27) : random & 8 ? 0 : ~0U;
	cc->next_call = random & 16 ? cc->now + (world_random() >> (random >> 27)) :
			random & 32 ? 1 : 0;
	cc->path = random & 64 ? cc->path : random >> 16;
	memset(dcqcn_cc_private(cc), random, DCQCN_CC_PRIVATE);
}

static int hostile_flows;	/* that obey it */

static void hostile_init(struct dcqcn_cc *cc)
{
	hostile_flows++;
	hostile_answer(cc);
}

static void hostile_release(struct dcqcn_cc *cc)
{
	hostile_flows--;
	hostile_answer(cc);
}

static void hostile_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	kernel_assert(sample->delivered && sample->marked <= sample->delivered);
	hostile_answer(cc);
}

static void hostile_idle(struct dcqcn_cc *cc, u64 ns)
{
	hostile_answer(cc);
}

static void hostile_sent(struct dcqcn_cc *cc, u32 bytes)
{
	hostile_answer(cc);
}

static const struct dcqcn_cc_ops hostile = {
	.name = "hostile", .init = hostile_init, .release = hostile_release,
	.cnp = hostile_answer, .ack = hostile_ack, .loss = hostile_answer, .idle = hostile_idle,
	.timer = hostile_answer, .sent = hostile_sent,
};

/* Each flow that began to obey it is released when it goes, and only once */
static void plug_out(void)
{
	dcqcn_unregister_cc(&hostile);
	demand(!hostile_flows, "%d flows have not been released", hostile_flows);
}

/* It goes, or comes back */
static void plug_in_or_out(void)
{
	if (dcqcn_register_cc(&hostile))
		plug_out();
}

#define PICK(table, byte)	((table)[(byte) % ARRAY_SIZE(table)])

static const char *all_begin_with;	/* EXPLORE_CC; NULL for what an input says */

static struct rxe_qp *qp_of(u8 byte)
{
	return &qps[byte % QPS];
}

/* What a QP is to obey; NULL for what its port does */
static const char *choice_of(const struct event *e)
{
	return e->c % 9 == 8 ? NULL : PICK(algorithms, e->c % 9);
}

/* --- as text --------------------------------------------------------------------------- */

/* What a KNOB event sets */
static u32 value_of(const struct event *e)
{
	if (PICK(knobs, e->b).offset == offsetof(struct dcqcn_settings, cc))
		return e->c % ARRAY_SIZE(algorithms);
	return PICK(PICK(knobs, e->b).values, e->c);
}

static void print_event(const struct event *e)
{
	unsigned int qpn = qp_of(e->a)->ib.qp_num, port = e->a % PORTS;
	double ms = (double)duration(e->b) / MS;

	switch (e->what % WHATS) {
	case POST:
		fprintf(stderr, "QP %u posts a %s of %u bytes, %u times\n", qpn, PICK(kinds, e->b),
			PICK(sizes, e->c), 1 + e->c / 16);
		break;
	case POST_GREEDY:
		fprintf(stderr, "QP %u posts a %s of %u bytes, %u times one after the other\n", qpn,
			PICK(kinds, e->b), PICK(sizes, e->c), 4 * (1 + e->c / 16));
		break;
	case PASS:
		fprintf(stderr, "%.3f ms pass\n", (double)duration(e->a) / MS);
		break;
	case PASS_LONG:
		fprintf(stderr, "%u ms pass\n", e->a * 20);
		break;
	case MARK:
		fprintf(stderr, "%u packets from port %u will be marked\n", e->b, port);
		break;
	case LOSE:
		fprintf(stderr, "%u data packets from port %u will be lost\n", 1 + e->b % 16, port);
		break;
	case LOSE_ACKS:
		fprintf(stderr, "%u ACKs from port %u will be lost\n", 1 + e->b % 16, port);
		break;
	case LOSE_CNPS:
		fprintf(stderr, "%u CNPs and feedback packets from port %u will be lost\n", e->b, port);
		break;
	case DELAY:
		fprintf(stderr, "the way from port %u takes %.3f ms\n", port, ms / 4);
		break;
	case RATE:
		fprintf(stderr, "the link from port %u has %llu Mb/s\n", port,
			(unsigned long long)PICK(rates, e->b) / 1000000);
		break;
	case FORGE_ACK:
		fprintf(stderr, "QP %u gets an ACK for its first unacknowledged PSN %+d\n", qpn,
			(s8)e->b);
		break;
	case FORGE_NAK:
		fprintf(stderr, "QP %u gets %s for its first unacknowledged PSN %+d\n", qpn,
			e->c & 1 ? "an RNR NAK" : "a NAK", (s8)e->b);
		break;
	case FORGE_CNP:
		fprintf(stderr, "QP %u gets a CNP\n", qpn);
		break;
	case RNR:
		fprintf(stderr, "QP %u has no receive request for %u SENDs\n", qpn, e->b % 8);
		break;
	case ACKS:
		fprintf(stderr, "QP %u acknowledges %s\n", qpn, e->b % ACK_MODES == ACK_EACH ? "all" :
			e->b % ACK_MODES == ACK_SOME ? "one request in four" : "no request");
		break;
	case KNOB:
		fprintf(stderr, "port %u: %s = %u\n", port, PICK(knobs, e->b).name,
			value_of(e));
		break;
	case PROFILE:
		fprintf(stderr, "port %u: profile %s\n", port, PICK(profiles, e->b));
		break;
	case PRIORITIES:
		fprintf(stderr, "port %u: RP and NP in the priorities 0x%02x, 0x%02x\n", port,
			e->b & 1 ? 0xff : e->b, e->c & 1 ? 0xff : e->c);
		break;
	case CONTEXTS:
		if (e->b & 0x80)
			fprintf(stderr, "the hostile algorithm comes or goes\n");
		else if (e->b & 0x40)
			fprintf(stderr, "QP %u obeys \"%s\"\n", qpn, choice_of(e) ?: "what its port does");
		else
			fprintf(stderr, "port %u: contexts %u\n", port, e->b % 4);
		break;
	case TIMERS_LATE:
		fprintf(stderr, "no timer runs for %.3f ms\n", ms / 2);
		break;
	case WORKER_LATE:
		fprintf(stderr, "no worker runs for %.3f ms\n", ms);
		break;
	case CONNECT:
		fprintf(stderr, "QPs %u and %u are destroyed, and created anew\n",
			qps[e->a % PAIRS].ib.qp_num, qps[e->a % PAIRS].peer->ib.qp_num);
		break;
	case DESTROY:
		fprintf(stderr, "QP %u is destroyed\n", qpn);
		break;
	case LINK_DOWN:
		fprintf(stderr, "the link of port %u goes down\n", port);
		break;
	case SPEED:
		fprintf(stderr, "port %u says that it has %u Mb/s\n", port, PICK(speeds, e->b));
		break;
	case REMOVE:
		fprintf(stderr, "port %u is removed%s\n", port, e->b & 0x80 ?
			", and the hostile algorithm with it" : "");
		break;
	case ADD:
		fprintf(stderr, "port %u is added, if it is not there\n", port);
		break;
	case LOOK:
		fprintf(stderr, "a user looks\n");
		break;
	case MEMORY:
		fprintf(stderr, "there is %s memory\n", e->a & 1 ? "no" : "enough");
		break;
	case TRANSMIT:
		fprintf(stderr, "%u CNPs or feedback packets cannot leave\n", e->a % 8);
		break;
	case SILENCE:
		fprintf(stderr, "nothing more is posted until all is done or %u ms have passed\n",
			e->a * 20);
		break;
	}
}

static void print_setup(void)
{
	fprintf(stderr, "profile %s, contexts %u, start with %llu Mb/s and %.3f ms; types 0x%02x; ack timeout %u; MTU %u, memory %u; PSN %u\n",
		PICK(profiles, setup.profile), setup.profile >> 6,
		(unsigned long long)PICK(rates, setup.link) / 1000000,
		(double)duration(setup.link) / 4 / MS, setup.types, PICK(timeouts, setup.timeout),
		PICK(mtus, setup.size), PICK(memories, setup.size / 4), setup.psn);
}

void print_events(void)
{
	int i;

	print_setup();
	for (i = 0; i < num_events; i++) {
		fprintf(stderr, "%12.6f ms  ", (double)(event_times[i] - SECOND) / MS);
		print_event(&events[i]);
	}
	fprintf(stderr, "%12.6f ms  now\n", (double)(fuzz_now - SECOND) / MS);
}

/* --- what they do -------------------------------------------------------------------- */

static void set(struct port *port, size_t offset, u32 value)
{
	struct dcqcn_settings *new;

	if (!port->dev)
		return;
	new = dcqcn_dev_settings_begin(port->dev);
	if (offset == offsetof(struct dcqcn_settings, cc))
		strcpy(new->cc, PICK(algorithms, value));
	else
		*(u32 *)((u8 *)new + offset) = value;
	dcqcn_dev_settings_commit(port->dev, new);
	check_settings(port);
}

#define SET(port, field, value)	set(port, offsetof(struct dcqcn_settings, field), value)

/* A QP gets an algorithm of its own, or NULL to follow its port */
static void choose(struct rxe_qp *qp, const char *name)
{
	if (!qp->port->dev || !qp->live)
		return;
	if (!dcqcn_cc_choose_for_qp(qp->port->dev, qp->ib.qp_num, name))
		total_choices++;
	check_settings(qp->port);
}

static void set_profile(struct port *port, const char *name)
{
	struct dcqcn_settings *new;

	if (!port->dev)
		return;
	new = dcqcn_dev_settings_begin(port->dev);
	dcqcn_settings_apply(new, dcqcn_profile_find(name));
	dcqcn_dev_settings_commit(port->dev, new);
	check_settings(port);
}

/* The congestion control that a port has when the sequence begins */
static void begin_with(struct port *port)
{
	static const char *const contexts[] = { "", "nscc", "rccc" };
	u32 i;

	set_profile(port, PICK(profiles, setup.profile));
	SET(port, ccc.algorithms, setup.profile >> 6);
	i = setup.psn % 16;
	SET(port, cc, i < 6 ? i : i >= 14 ? i - 8 : 0);
	if (!all_begin_with)
		return;
	SET(port, ccc.algorithms, 0);
	SET(port, cc, 0);
	if (dcqcn_profile_find(all_begin_with)) {
		set_profile(port, all_begin_with);
		/* most of them do not limit a flow without CNPs */
		paths[port - ports].mark = 1000;
	}
	for (i = 1; i < ARRAY_SIZE(contexts); i++) {
		if (!strcmp(contexts[i], all_begin_with))
			SET(port, ccc.algorithms, i);
	}
	for (i = 1; i < ARRAY_SIZE(algorithms); i++) {
		if (!strcmp(algorithms[i], all_begin_with))
			SET(port, cc, i);
	}
}

static bool connect(unsigned int pair, u8 types)
{
	static const u8 of_types[] = { IB_QPT_RC, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };

	return rxe_connect(pair, of_types[types % 4], PICK(timeouts, setup.timeout),
		    PICK(mtus, setup.size), PICK(memories, setup.size / 4),
		    setup.psn & 1 ? 0xffffff - setup.psn : setup.psn, setup.psn & 0x40 ? 0x20 : 0);
}

static void post(const struct event *e, u32 times, u32 again)
{
	struct rxe_qp *qp = qp_of(e->a);

	while (times-- && rxe_post(qp, e->b % MESSAGE_KINDS, PICK(sizes, e->c)))
		;
	qp->again += again;
}

static bool all_idle(void)
{
	int i;

	for (i = 0; i < QPS; i++) {
		if (!rxe_is_idle(&qps[i]) || qps[i].held[0] || qps[i].held[1])
			return false;
	}
	return true;
}

static void wait_idle(u64 ns)
{
	u64 end = fuzz_now + ns;

	while (fuzz_now < end && !all_idle() && !world_is_tired())
		pass(min(5 * MS, end - fuzz_now));
}

static void do_event(const struct event *e)
{
	struct rxe_qp *qp = qp_of(e->a);
	struct port *port = &ports[e->a % PORTS];
	struct path *path = &paths[e->a % PORTS];
	int i;

	switch (e->what % WHATS) {
	case POST:
		post(e, 1 + e->c / 16, 0);
		break;
	case POST_GREEDY:
		post(e, 4, 4 * (e->c / 16));
		break;
	case PASS:
		pass(duration(e->a));
		break;
	case PASS_LONG:
		pass(e->a * 20 * MS);
		break;
	case MARK:
		path->mark = e->b;
		break;
	case LOSE:
		path->lose = 1 + e->b % 16;
		break;
	case LOSE_ACKS:
		path->lose_acks = 1 + e->b % 16;
		break;
	case LOSE_CNPS:
		path->lose_cnps = e->b;
		break;
	case DELAY:
		path->delay = duration(e->b) / 4;
		break;
	case RATE:
		path->bps = PICK(rates, e->b);
		break;
	case FORGE_ACK:
		check_forged(qp);
		rxe_forge(qp, DCQCN_OPCODE_ACK, 0, qp->una + (s8)e->b);
		break;
	case FORGE_NAK:
		check_forged(qp);
		rxe_forge(qp, DCQCN_OPCODE_ACK, e->c & 1 ? 0x20 : 0x60, qp->una + (s8)e->b);
		break;
	case FORGE_CNP:
		rxe_forge(qp, DCQCN_OPCODE_CNP, 0, 0);
		break;
	case RNR:
		qp->rnr = e->b % 8;
		break;
	case ACKS:
		qp->acks = e->b % ACK_MODES;
		break;
	case KNOB:
		set(port, PICK(knobs, e->b).offset, value_of(e));
		break;
	case PROFILE:
		set_profile(port, PICK(profiles, e->b));
		break;
	case PRIORITIES:
		SET(port, rp_enable, e->b & 1 ? 0xff : e->b);
		SET(port, np_enable, e->c & 1 ? 0xff : e->c);
		break;
	case CONTEXTS:
		if (e->b & 0x80)
			plug_in_or_out();
		else if (e->b & 0x40)
			choose(qp, choice_of(e));
		else
			SET(port, ccc.algorithms, e->b % 4);
		break;
	case TIMERS_LATE:
		timers_stop = fuzz_now + duration(e->b) / 2;
		break;
	case WORKER_LATE:
		worker_stops = fuzz_now + duration(e->b);
		break;
	case CONNECT:
		rxe_destroy(&qps[e->a % PAIRS]);
		rxe_destroy(qps[e->a % PAIRS].peer);
		for (i = 0; i < 100 && !connect(e->a % PAIRS, e->b); i++)
			pass(MS);
		break;
	case DESTROY:
		rxe_destroy(qp);
		break;
	case LINK_DOWN:
		port_down(port);
		check_down(port);
		break;
	case SPEED:
		port->ndev.speed = PICK(speeds, e->b);
		port_changed(port);
		break;
	case REMOVE:
		port_remove(port, e->b & 0x80 ? plug_out : NULL);
		break;
	case ADD:
		port_add(port);
		check_settings(port);
		break;
	case LOOK:
		check_views();
		break;
	case MEMORY:
		fuzz_out_of_memory = e->a & 1;
		check_settings(port);
		break;
	case TRANSMIT:
		transmit_fails = e->a % 8;
		break;
	case SILENCE:
		wait_idle(e->a * 20 * MS);
		break;
	}
	settle();
}

/* Whether a QP must come to an end: RC without an ack timeout may wait for what was lost for ever */
static bool must_finish(const struct rxe_qp *qp)
{
	return qp->type != IB_QPT_RC || (qp->ack_timeout && qp->ack_timeout <= 18);
}

/* From now on all goes well: what was posted is done, and what is held leaves */
static void heal(void)
{
	u64 bytes = 0, retries = 0, end;
	int i;

	fuzz_out_of_memory = false;
	transmit_fails = 0;
	timers_stop = worker_stops = 0;
	plug_out();
	for (i = 0; i < PORTS; i++) {
		paths[i] = (struct path) { .bps = 10000000000ULL, .delay = 10 * US };
		check_settings(&ports[i]);
	}
	for (i = 0; i < QPS; i++) {
		struct rxe_qp *qp = &qps[i];
		u32 n;

		qp->again = 0;
		qp->rnr = 0;
		/* or most READ responses are dropped, and each few take an ack timeout */
		qp->memory = 1;
		qp->acks = ACK_EACH;
		for (n = qp->sq_first; n != qp->sq_next; n++)
			bytes += qp->sq[n % MESSAGES].packets * (u64)(qp->mtu + 100);
		bytes += (qp->held[0] + qp->held[1]) * (u64)(qp->mtu + 100);
		/* the peer may be gone: rxe gives it up after its last timeout, if that is near */
		if (qp->type == IB_QPT_RC && qp->ack_timeout && qp->ack_timeout <= 20)
			retries = max(retries, (u64)(RXE_RETRIES + 2) * 4096 << qp->ack_timeout);
	}
	/* at 1 Mb/s, beside as many responses, all of it twice, and behind what waits for a slow link */
	end = max(fuzz_now, world_busy()) + bytes * 8 * SECOND / 1000000 * 4 + max(20 * SECOND, retries);
	while (fuzz_now < end && !all_idle() && !world_is_tired())
		pass(5 * MS);
	check_views();
	num_tired += world_is_tired();
	if (world_is_tired())
		return;
	for (i = 0; i < QPS; i++) {
		demand(!qps[i].held[0] && !qps[i].held[1], "QP %u still holds %u requests and %u others",
		       qps[i].ib.qp_num, qps[i].held[0], qps[i].held[1]);
		demand(rxe_is_idle(&qps[i]) || !must_finish(&qps[i]) || !qps[i].peer->live,
		       "QP %u is not done: PSN %u of %u", qps[i].ib.qp_num, qps[i].una, qps[i].top);
	}
	/* A sweep asks about a QP that has sent nothing for 200 ms. It comes 400 ms after the last one
	 * at the latest, if the worker has resolved a QP in between.
	 */
	pass(7 * SECOND / 10);
	if (world_is_tired())
		return;
	check_entries(LOOK_SOON);
	/* a slow link brings packets for long, also to a QP that is gone */
	if (!all_idle() || !world_is_silent())
		return;
	pass(2 * SECOND);
	if (world_is_tired())
		return;
	/* a limit that waits for rxe's timer may end just now, and the next sweep comes in 400 ms */
	check_entries(LOOK_BEFORE);
	pass(SECOND / 2);
	if (!world_is_tired())
		check_entries(LOOK_LATE);
}

static void say_all(void)
{
	fflush(stderr);
	printf("\nexplored: %llu events, %llu choices for a QP; %llu sequences were cut off\n",
	       (unsigned long long)all_events, (unsigned long long)total_choices,
	       (unsigned long long)num_tired);
	count_print(hostile_events);
	print_coverage();
	fflush(stdout);
}

/* --- libFuzzer ------------------------------------------------------------------------- */

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);

/* What follows on what: traffic and time more often than the rest */
static u8 likely_event(u32 random)
{
	static const u8 likely[] = {
		POST, POST, POST_GREEDY, POST_GREEDY, PASS, PASS, PASS, PASS_LONG, MARK, LOSE, LOSE_ACKS,
	};

	return random & 1 ? PICK(likely, random >> 1) : (random >> 1) % WHATS;
}

/* Mutate whole events: insert, remove, change, copy and move them. Bytes only now and then. */
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	u64 r = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	size_t n, room, at, from;
	struct event *list = (void *)(data + sizeof(setup)), new;

	r ^= r >> 29;
	if (size < sizeof(setup) || !(r % 8))
		return LLVMFuzzerMutate(data, size, max);
	n = (size - sizeof(setup)) / sizeof(*list);
	room = (max - sizeof(setup)) / sizeof(*list);
	room = min(room, (size_t)EVENTS_MAX);
	at = n ? (r >> 8) % n : 0;
	from = n ? (r >> 16) % n : 0;
	new = (struct event) { likely_event(r >> 24), r >> 32, r >> 40, r >> 48 };
	switch (r >> 56 & 7) {
	case 0:
		data[(r >> 8) % sizeof(setup)] = r >> 32;
		break;
	case 1:		/* remove */
		if (!n)
			break;
		memmove(list + at, list + at + 1, (n - at - 1) * sizeof(*list));
		n--;
		break;
	case 2:		/* change an argument */
		if (n)
			((u8 *)&list[at])[1 + (r >> 30) % 3] = r >> 40;
		break;
	case 3:		/* swap */
		if (n)
			swap(list[at], list[from]);
		break;
	case 4:		/* copy */
		if (n)
			new = list[from];
		/* fallthrough */
	default:	/* insert */
		if (n >= room)
			break;
		memmove(list + at + 1, list + at, (n - at) * sizeof(*list));
		list[at] = new;
		n++;
	}
	return sizeof(setup) + n * sizeof(*list);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	verbose = getenv("EXPLORE_VERBOSE");
	all_begin_with = getenv("EXPLORE_CC");
	packets_limit = strtoull(getenv("EXPLORE_PACKETS") ?: "0", NULL, 10) ?: PACKETS;
	world_init();
	count_begin();
	atexit(say_all);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned int i;

	dcqcn_register_cc(&hostile);
	memset(&setup, 0, sizeof(setup));
	memcpy(&setup, data, min(size, sizeof(setup)));
	size = (size - min(size, sizeof(setup))) / sizeof(*events);
	num_events = 0;
	world_begin(size);
	rxe_begin();
	checks_begin();
	for (i = 0; i < PORTS; i++) {
		begin_with(&ports[i]);
		paths[i].bps = PICK(rates, setup.link);
		paths[i].delay = duration(setup.link) / 4;
	}
	for (i = 0; i < PAIRS; i++)
		connect(i, setup.types >> 2 * i);
	for (i = 0; i < size && i < EVENTS_MAX && !world_is_tired(); i++) {
		memcpy(&events[i], data + sizeof(setup) + i * sizeof(*events), sizeof(*events));
		event_times[i] = fuzz_now;
		num_events++;
		if (verbose) {
			fprintf(stderr, "%12.6f ms  --- ", (double)(fuzz_now - SECOND) / MS);
			print_event(&events[i]);
		}
		do_event(&events[i]);
	}
	all_events += num_events;
	heal();
	world_end();
	checks_end();
	return 0;
}
