// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold, whatever happens, and which states were reached. Most of it is seen from outside:
 * by when a packet leaves, in which order, and what is counted. What is looked at inside the module
 * is in flow_of() and state_of() only.
 */
#include <stdarg.h>

#include "checks.h"
#include "rxe.h"
#include "wire.h"

#include "cc.h"
#include "ccc.h"
#include "limiter.h"
#include "qp.h"

/* A packet is held no longer. The module says 5 s for requests, and looks once per gap; a READ
 * response waits for 8 MB at half of 1 Mb/s.
 */
#define REQUEST_HELD	(5500 * MS)
#define RESPONSE_HELD	(140 * SECOND)

/* Of what is held, a packet leaves within this: 4 KB at 1 Mb/s take 33 ms; behind a context's window,
 * four flows wait for each other's timeouts of 250 ms
 */
#define PROGRESS	(100 * MS)
#define PROGRESS_WINDOW	(2500 * MS)

/* A start that waits gives a probe up after a second; one that goes on makes a step after a second,
 * or after eight packets
 */
#define WAITS		(1300 * MS)
#define NO_STEP		(4 * SECOND)

/* What a flow may send at once after a pause: a burst, and the credit of an idle flow */
#define CREDIT_PACKETS	18

/* Bounds of the module's memory, and one packet more */
#define RESPONSES_MAX	(8 << 20)

/* Credit: what ccc_initial_window gives, 16 MB at most, and a backlog; or a round trip of the line
 * that a port claims, which may be a thousand times what its path carries
 */
#define CREDIT_MAX	((1 << 25) + (s32)DCQCN_NSCC_BDP_MAX)

#define COUNTED		(1 << 13)	/* libFuzzer's view of transitions */
#define TRANSITIONS	(1 << 16)

/* What is known of a QP beside struct rxe_qp */
static struct flow_notes {
	u64 waited;		/* ns; since then it is held up, by a start that waits */
	u64 no_step;		/* ns; since then, by a start whose rate is @rate */
	u64 rate;
	u64 progress;		/* ns; a packet left, or began to wait */
	u64 output;		/* ns; rxe sent data */
	u32 psn[2];		/* of its last request, and READ response */
	u64 begins;		/* ns; a flow began after a pause */
	u64 line;		/* bit/s; of its port then, 0 if no start is expected */
	u32 burst;		/* bytes that left in that moment */
	u32 cnps;		/* handled when the flow last had a packet to send */
	u32 longest;		/* bytes */
	u64 cnp;		/* ns; last CNP, 0 for never */
	bool cnp_excused;	/* the interval has changed since */
	bool knows_timeout;	/* the module knows the ack timeout */
	const void *cnp_entry;	/* the QP's entry then */
	bool cnp_due;		/* one must leave now */
	bool unneeded;		/* its entry, at LOOK_BEFORE */
	u32 state;
} notes[QPS];

static bool tampered;		/* memory fails */

#define PAUSE_MS	20	/* that is always a pause: four times the longest guess of a round trip */
#define BURSTS		8	/* start_burst at once at most, on a path that was idle */

static struct {
	u64 sequences, checks, nanoseconds, packets, looks;
	u64 states, transitions;
	u64 longest_progress[2], longest_held[2];
} total;
static u8 states_seen[1 << 21];
static u64 transitions_seen[TRANSITIONS];

__attribute__((section("__libfuzzer_extra_counters")))
static u8 counted[COUNTED];

void failed(const char *file, int line, const char *cond, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "\n%s:%d: %s\n", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, cond);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	print_events();
	abort();
}

static int index_of(const struct rxe_qp *qp)
{
	return qp - qps;
}

static enum dcqcn_fifo_kind fifo_of(const struct tx *tx)
{
	return tx->kind == DCQCN_PKT_REQUEST ? DCQCN_REQUESTS : DCQCN_RESPONSES;
}

/* --- inside the module ------------------------------------------------------------- */

static struct dcqcn_qp *entry_of(const struct rxe_qp *qp)
{
	return qp->port->dev ? dcqcn_qp_find(qp->port->dev, qp->ib.qp_num) : NULL;
}

static const struct dcqcn_settings *settings_of(const struct port *port)
{
	return port->dev->settings;
}

static unsigned long count_of(const struct port *port, enum dcqcn_counter counter)
{
	return dcqcn_counter_sum(port->dev, counter);
}

enum {
	LIMITED = 1 << 0, RELEASED = 1 << 1, WINDOWED = 1 << 2, STARTING = 1 << 3, WAITING = 1 << 4,
	MEASURED = 1 << 5, RUNNING = 1 << 6, HAD_CNP = 1 << 7, CUT_PENDING = 1 << 8, STUCK = 1 << 9,
	BURST = 1 << 10, PROBE = 1 << 11, RTT = 1 << 12, UNSEEN = 1 << 13, CONTEXT = 1 << 14,
	HELD_REQUESTS = 1 << 15, HELD_RESPONSES = 1 << 16, LIVE = 1 << 17, ABSENT = 1 << 18,
	ENTRY = 1 << 19, PLUGGED = 1 << 20,
};

static const char *const state_names[] = {
	"limited", "released", "windowed", "starting", "waiting", "measured", "running", "had a CNP",
	"cut_pending", "stuck", "burst", "probe", "rtt", "unseen", "context", "held_requests",
	"held_responses", "live", "absent", "entry", "plugged",
};

/* What the module knows of a flow, as the product of its flags */
static u32 state_of(const struct dcqcn_qp *entry)
{
	const struct dcqcn_flow *flow;
	const struct dcqcn_rate *rate;
	u32 state = ENTRY;

	if (!entry)
		return 0;
	flow = &entry->flow;
	rate = &flow->rate;
	state |= entry->state == DCQCN_QP_LIVE ? LIVE : entry->state == DCQCN_QP_ABSENT ? ABSENT : 0;
	state |= entry->ccc ? CONTEXT : 0;
	if (!entry->limited)
		return state;
	state |= LIMITED;
	state |= flow->released ? RELEASED : 0;
	state |= entry->obeys == DCQCN_OBEYS_CONTEXT ? WINDOWED : 0;
	state |= entry->obeys == DCQCN_OBEYS_ALGORITHM ? PLUGGED : 0;
	state |= rate->start ? STARTING : 0;
	state |= rate->start == DCQCN_START_ASKS ? WAITING : 0;
	state |= rate->start == DCQCN_START_MEASURES ? MEASURED : 0;
	state |= rate->running ? RUNNING : 0;
	state |= rate->had_cnp ? HAD_CNP : 0;
	state |= rate->cut_pending ? CUT_PENDING : 0;
	state |= flow->stuck ? STUCK : 0;
	state |= flow->burst ? BURST : 0;
	state |= flow->path && flow->path->probe_time ? PROBE : 0;
	state |= flow->path && flow->path->rtt ? RTT : 0;
	state |= flow->fifo[DCQCN_REQUESTS].allowed != flow->fifo[DCQCN_REQUESTS].skipped ? UNSEEN : 0;
	state |= skb_queue_empty(&flow->fifo[DCQCN_REQUESTS].queue) ? 0 : HELD_REQUESTS;
	state |= skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue) ? 0 : HELD_RESPONSES;
	return state;
}

static u64 rate_of(const struct dcqcn_qp *entry)
{
	return entry->flow.rate.current_rate;
}

/* --- packets ----------------------------------------------------------------------- */

/* bit/s; the line rate of a port whose flows start slowly; 0 otherwise */
static u64 starting_line(const struct rxe_qp *qp)
{
	const struct dcqcn_settings *settings;
	u64 line;

	if (!qp->port->dev || tampered)
		return 0;
	settings = settings_of(qp->port);
	if (!settings->rp.start_burst || !(settings->rp_enable & BIT(qp->tos >> 5)) ||
	    settings->ccc.algorithms || settings->plugs || qp->port->dev->stopping)
		return 0;
	/* each byte raises the rate: the first packet that continues brings it to the line */
	if (settings->rp.rpg_byte_reset == 1)
		return 0;
	line = dcqcn_dev_line(qp->port->dev, settings);
	return dcqcn_rate_floor(&settings->rp) < line ? line : 0;
}

/* ns; the module takes a longer time without packets for a pause. A flow that waits for an answer
 * does not pause.
 */
static u64 pause_of(const struct dcqcn_qp *entry)
{
	if (!entry)
		return PAUSE_MS * MS;
	if (entry->flow.path && entry->limited && dcqcn_path_awaits(entry->flow.path, fuzz_now))
		return ~0ULL;
	return max(PAUSE_MS * MS, DCQCN_PAUSE_RTTS * (u64)max(dcqcn_limiter_recent_rtt(&entry->flow),
							      entry->flow.rate.rtt));
}

/* A flow that stops in the middle of a message, or before it sends something again (@back), waits
 * for ACKs, or for its own link
 */
static void check_pause(struct rxe_qp *qp, struct flow_notes *n, u8 opcode, u32 bytes, bool back)
{
	const struct dcqcn_qp *entry = entry_of(qp);
	struct dcqcn_bth bth = { .opcode = opcode };
	u64 pause = fuzz_now - n->output;

	if (dcqcn_bth_begins(&bth) &&
	    (!n->output || (!back && pause > pause_of(entry)))) {
		n->begins = fuzz_now;
		n->burst = 0;
		n->longest = bytes;
		/* a CNP in the pause has given the flow a limit, in place of a start */
		n->line = qp->held[DCQCN_REQUESTS] || qp->held[DCQCN_RESPONSES] ||
			  (entry && entry->cnps_handled != n->cnps) ? 0 : starting_line(qp);
	}
	n->output = fuzz_now;
	n->cnps = entry ? entry->cnps_handled : 0;
}

void check_output(struct tx *tx)
{
	struct rxe_qp *qp = tx->qp;
	enum dcqcn_fifo_kind f = fifo_of(tx);
	struct flow_notes *n = &notes[index_of(qp)];
	bool back = tx->kind != DCQCN_PKT_ACK && (tx->psn - n->psn[f] - 1) & 0x800000;

	if (tx->kind != DCQCN_PKT_ACK) {
		check_pause(qp, n, tx->opcode, tx->skb.len + ETH_HLEN, back);
		n->psn[f] = tx->psn;
	}
	/* what was awaited is lost, and a start begins to wait anew */
	if (back && tx->kind == DCQCN_PKT_REQUEST)
		n->waited = n->no_step = fuzz_now;
	if (!qp->held[0] && !qp->held[1])
		n->progress = fuzz_now;
	tx->older = qp->newest[f];
	if (tx->older)
		tx->older->newer = tx;
	else
		qp->oldest[f] = tx;
	qp->newest[f] = tx;
	qp->held[f]++;
	qp->held_memory[f] += tx->skb.truesize;
}

static void gone(struct tx *tx)
{
	struct rxe_qp *qp = tx->qp;
	enum dcqcn_fifo_kind f = fifo_of(tx);
	struct flow_notes *n = &notes[index_of(qp)];

	if (tx->older)
		tx->older->newer = tx->newer;
	else
		qp->oldest[f] = tx->newer;
	if (tx->newer)
		tx->newer->older = tx->older;
	else
		qp->newest[f] = tx->older;
	qp->held[f]--;
	qp->held_memory[f] -= tx->skb.truesize;
	total.longest_held[f] = max(total.longest_held[f], fuzz_now - tx->since);
	n->progress = fuzz_now;
}

/* Whether rxe sends PSN @psn, and all that follows it, again */
static bool is_stale(const struct tx *tx, u32 psn)
{
	return tx->qp->type == IB_QPT_RC && !((tx->psn - psn) & 0x800000);
}

/* A packet leaves. What it overtakes must be stale, and be dropped: it may still be, as the module
 * does so without its lock.
 */
static void check_order(const struct tx *tx)
{
	struct tx *older;

	for (older = tx->older; older && tx->qp->type != IB_QPT_UD; older = older->older) {
		demand(is_stale(older, tx->psn),
		       "QP %u: opcode %02x PSN %u overtakes opcode %02x PSN %u", tx->qp->ib.qp_num,
		       tx->opcode, tx->psn, older->opcode, older->psn);
		older->stale = true;
	}
}

void check_leaves(struct tx *tx)
{
	struct rxe_qp *qp = tx->qp;
	struct flow_notes *n = &notes[index_of(qp)];

	say("QP %u: opcode %02x PSN %u leaves after %.3f ms", qp->ib.qp_num, tx->opcode, tx->psn,
	    (double)(fuzz_now - tx->since) / MS);
	if (tx->kind != DCQCN_PKT_ACK)
		n->output = fuzz_now;
	demand(!tx->stale, "QP %u: opcode %02x PSN %u leaves, and what followed it has left",
	       qp->ib.qp_num, tx->opcode, tx->psn);
	check_order(tx);
	gone(tx);
	if (fuzz_now != n->begins || tx->kind == DCQCN_PKT_ACK)
		return;
	n->burst += tx->skb.len + ETH_HLEN;
	n->longest = max(n->longest, tx->skb.len + ETH_HLEN);
	/* at a lower line rate, a start may be at its end */
	if (starting_line(qp) != n->line)
		n->line = 0;
	demand(!n->line ||
	       n->burst <= (u64)BURSTS * settings_of(qp->port)->rp.start_burst +
	       CREDIT_PACKETS * n->longest,
	       "QP %u sends %u bytes at once after a pause", qp->ib.qp_num, n->burst);
}

void check_dropped(struct tx *tx)
{
	say("QP %u: opcode %02x PSN %u is dropped after %.3f ms", tx->qp->ib.qp_num, tx->opcode,
	    tx->psn, (double)(fuzz_now - tx->since) / MS);
	demand(!tx->qp->port->removed || !tx->qp->live || tx->stale,
	       "QP %u: opcode %02x PSN %u is dropped because its port goes", tx->qp->ib.qp_num,
	       tx->opcode, tx->psn);
	gone(tx);
}

/* --- CNPs: each that is due is sent, and no other ------------------------------------- */

void check_marked(struct port *port, const u8 *packet, u32 len)
{
	const u8 *bth = packet + IP4_LEN + UDP_LEN;
	struct rxe_qp *qp = rxe_find(port, get24(bth + 5));
	const struct dcqcn_settings *settings;
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth[0]];
	struct dcqcn_qp *entry;
	struct flow_notes *n;

	if (!qp || !qp->live || !port->dev || tampered ||
	    (kind != DCQCN_PKT_REQUEST && kind != DCQCN_PKT_RESPONSE))
		return;
	settings = settings_of(port);
	entry = entry_of(qp);
	n = &notes[index_of(qp)];
	if (!(settings->np_enable & BIT(packet[1] >> 5)) || settings->ccc.algorithms ||
	    !entry || entry->state != DCQCN_QP_LIVE || entry->type != qp->type || transmit_fails ||
	    n->cnp_excused)
		return;
	if (n->cnp && n->cnp_entry == entry &&
	    fuzz_now - n->cnp < (u64)settings->np.min_time_between_cnps * US)
		return;
	/* Of UD, the source QP is in a header that is not modelled. A packet of UD may have been on its
	 * way when its QP was created anew with another type.
	 */
	n->cnp_due = qp->type != IB_QPT_UD && (bth[0] & 0xe0) != 0x60;
}

void check_cnp(struct port *port, const u8 *packet, u32 len)
{
	const u8 *bth = packet + IP4_LEN + UDP_LEN;
	u32 qpn = get24(bth + 5);
	struct rxe_qp *qp = rxe_find(&ports[1 - (port - ports)], qpn);
	struct flow_notes *n;
	struct dcqcn_qp *entry;

	demand(qp, "a CNP for QP %u", qpn);
	qp = qp->peer;
	n = &notes[index_of(qp)];
	entry = entry_of(qp);
	demand(!n->cnp || n->cnp_excused || n->cnp_entry != entry || fuzz_now - n->cnp >=
	       (u64)settings_of(port)->np.min_time_between_cnps * US,
	       "a CNP for QP %u is early: %.3f ms", qpn, (double)(fuzz_now - n->cnp) / MS);
	demand(settings_of(port)->np_enable, "a CNP, although no priority may send one");
	n->cnp = fuzz_now;
	n->cnp_entry = entry;
	n->cnp_excused = false;
	n->cnp_due = false;
}

/* --- flows ------------------------------------------------------------------------------ */

static void see_transition(u32 from, u32 to)
{
	u64 both = (u64)from << 32 | to | 1ULL << 63;
	u32 hash = (both * 0x9e3779b97f4a7c15ULL) >> 32, i;

	if (!states_seen[to]) {
		states_seen[to] = 1;
		total.states++;
	}
	if (counted[hash % COUNTED] < 255)
		counted[hash % COUNTED]++;
	for (i = 0; i < 64; i++) {
		u64 *slot = &transitions_seen[(hash + i) % TRANSITIONS];

		if (*slot == both)
			return;
		if (!*slot) {
			*slot = both;
			total.transitions++;
			return;
		}
	}
}

static void check_state(struct rxe_qp *qp, struct flow_notes *n, u64 late)
{
	const struct dcqcn_qp *entry = entry_of(qp);
	u32 state = state_of(entry);
	bool backlog = state & HELD_REQUESTS, responses = state & HELD_RESPONSES;

	demand(!(state & WINDOWED) || !(state & STARTING),
	       "QP %u obeys a context, and is in a start", qp->ib.qp_num);
	demand(!entry || entry->limited || entry->obeys == DCQCN_OBEYS_RATE,
	       "QP %u obeys %u, and has no limit", qp->ib.qp_num, entry->obeys);
	if (state != n->state)
		see_transition(n->state, state);
	/* what it obeys now has a bound of its own */
	if ((state ^ n->state) & (PLUGGED | WINDOWED))
		n->progress = fuzz_now;
	n->state = state;

	if (!(state & WAITING) || state & WINDOWED || (!backlog && !responses))
		n->waited = fuzz_now;
	demand(fuzz_now - n->waited <= WAITS + 2 * late,
	       "QP %u: a start with packets to send waits for %.0f ms", qp->ib.qp_num,
	       (double)(fuzz_now - n->waited) / MS);
	if (!(state & STARTING) || state & (WINDOWED | RELEASED | WAITING) || (!backlog && !responses) ||
	    rate_of(entry) != n->rate)
		n->no_step = fuzz_now;
	n->rate = entry ? rate_of(entry) : 0;
	demand(fuzz_now - n->no_step <= NO_STEP + 2 * late,
	       "QP %u: a start with packets to send stays at %llu b/s for %.0f ms", qp->ib.qp_num,
	       (unsigned long long)n->rate, (double)(fuzz_now - n->no_step) / MS);
}

/* ns; of what is held, a packet leaves within this. Behind an algorithm's closed window, a request does
 * after half of the ack timeout, or after 5 s if there is none, or if the module does not know it yet:
 * its worker is late, or the QP was created anew with another type.
 */
static u64 longest_stall(const struct rxe_qp *qp, const struct flow_notes *n, bool windowed)
{
	if (n->state & PLUGGED && qp->held[DCQCN_REQUESTS])
		return min((n->knows_timeout ? 2048ULL << qp->ack_timeout : REQUEST_HELD) + PROGRESS,
			   REQUEST_HELD);
	return windowed || n->state & CONTEXT ? PROGRESS_WINDOW : PROGRESS;
}

/* Once the module knows the ack timeout, it waits for half of that from then on */
static void look_for_timeout(const struct rxe_qp *qp, struct flow_notes *n)
{
	const struct dcqcn_qp *entry = entry_of(qp);
	bool known = entry && entry->type == qp->type && entry->ack_timeout == qp->ack_timeout &&
		     qp->ack_timeout;

	if (known != n->knows_timeout)
		n->progress = fuzz_now;
	n->knows_timeout = known;
}

static void check_held(struct rxe_qp *qp, struct flow_notes *n, u64 late)
{
	u64 age;
	bool windowed = (qp->port->dev && settings_of(qp->port)->ccc.algorithms) ||
			n->state & PLUGGED;
	int f;

	look_for_timeout(qp, n);
	if (!qp->held[0] && !qp->held[1])
		return;
	age = fuzz_now - n->progress;
	total.longest_progress[windowed] = max(total.longest_progress[windowed], age);
	demand(age <= longest_stall(qp, n, windowed) + 2 * late,
	       "QP %u holds %u requests and %u others, and none leaves for %.0f ms", qp->ib.qp_num,
	       qp->held[0], qp->held[1], (double)age / MS);
	for (f = 0; f < FIFOS; f++) {
		if (!qp->oldest[f])
			continue;
		age = fuzz_now - qp->oldest[f]->since;
		demand(age <= (f == DCQCN_REQUESTS ? REQUEST_HELD : RESPONSE_HELD) + 2 * late,
		       "QP %u: opcode %02x PSN %u is held for %.0f ms", qp->ib.qp_num,
		       qp->oldest[f]->opcode, qp->oldest[f]->psn, (double)age / MS);
	}
	demand(qp->held_memory[DCQCN_RESPONSES] <= RESPONSES_MAX,
	       "QP %u holds %llu bytes of READ responses", qp->ib.qp_num,
	       (unsigned long long)qp->held_memory[DCQCN_RESPONSES]);
}

static void check_port(struct port *port)
{
	u64 memory = 0;
	u32 held = 0;
	int i, f;

	for (i = 0; i < QPS; i++) {
		for (f = 0; f < FIFOS && qps[i].port == port; f++) {
			held += qps[i].held[f];
			memory += qps[i].held_memory[f];
		}
	}
	if (!port->dev) {
		demand(!held, "%u packets are held, and the port is gone", held);
		return;
	}
	demand((u64)dcqcn_held_memory_sum(port->dev) == memory,
	       "%ld bytes are counted as held, and %llu are", dcqcn_held_memory_sum(port->dev),
	       (unsigned long long)memory);
	demand(count_of(port, DCQCN_RP_HELD) == count_of(port, DCQCN_RP_RELEASED) +
	       count_of(port, DCQCN_RP_DROP_STALE) + count_of(port, DCQCN_RP_DROP_DEAD) + held,
	       "%lu packets were held, %lu released, %lu stale, %lu dead, and %u are held",
	       count_of(port, DCQCN_RP_HELD), count_of(port, DCQCN_RP_RELEASED),
	       count_of(port, DCQCN_RP_DROP_STALE), count_of(port, DCQCN_RP_DROP_DEAD), held);
}

void check_all(void)
{
	u64 late = world_lateness();
	int i;

	total.checks++;
	demand(!bh_disabled, "BH is off");
	for (i = 0; i < QPS; i++) {
		demand(!notes[i].cnp_due, "QP %u answers a mark with no CNP", qps[i].ib.qp_num);
		check_held(&qps[i], &notes[i], late);
		check_state(&qps[i], &notes[i], late);
	}
	for (i = 0; i < PORTS; i++)
		check_port(&ports[i]);
}

/* What a user sees */
static void look_at_qps(struct port *port)
{
	struct dcqcn_qp_view view;
	struct dcqcn_qp *entry;
	unsigned long at;
	int choices = 0;

	for (at = 0; (entry = dcqcn_qp_next(port->dev, &at)); at++)
		choices += dcqcn_qp_has_choice(entry);
	demand(choices == atomic_read(&port->dev->num_choices), "%d QPs have a choice, not %d", choices,
	       atomic_read(&port->dev->num_choices));
	demand(!choices || settings_of(port)->plugs, "a QP has a choice, and its port does not know");
	for (at = 0; (entry = dcqcn_qp_next(port->dev, &at)); at++) {
		u64 floor = dcqcn_rate_floor(&settings_of(port)->rp);

		if (!dcqcn_qp_look(entry, &view) || !view.limited || view.released)
			continue;
		demand((view.rate.current_rate >= min(floor, view.line) || view.rate.start) &&
		       view.rate.current_rate <= view.rate.target_rate &&
		       view.rate.target_rate <= DCQCN_RATE_MAX,
		       "QP %u: %llu b/s, target %llu, floor %llu, line %llu", view.qpn,
		       (unsigned long long)view.rate.current_rate,
		       (unsigned long long)view.rate.target_rate, (unsigned long long)floor,
		       (unsigned long long)view.line);
	}
}

static void look_at_contexts(struct port *port)
{
	struct dcqcn_ccc_view view;
	struct dcqcn_ccc *ccc;
	u32 chain = 0;
	u64 at = 0;

	while ((ccc = dcqcn_ccc_next(port->dev, &chain, &at))) {
		at++;
		dcqcn_ccc_look(ccc, &view);
		demand((s32)view.flight >= 0, "%d bytes in flight", view.flight);
		/* without an agreement, this is what the last one has left; the next one resets it */
		demand(!(view.agreed & DCQCN_CCC_RCCC) ||
		       (view.credit >= -(1 << 24) && view.credit <= CREDIT_MAX),
		       "a credit of %d bytes", view.credit);
		demand(view.granted >= -(s32)DCQCN_RCCC_OWED_MAX - (1 << 17) &&
		       view.granted <= CREDIT_MAX, "%d bytes granted",
		       view.granted);
	}
}

/* A user looks at everything, which must change nothing that matters */
void check_views(void)
{
	int i;

	total.looks++;
	for (i = 0; i < PORTS; i++) {
		if (ports[i].dev) {
			look_at_qps(&ports[i]);
			look_at_contexts(&ports[i]);
		}
	}
}

/* Entries of QPs that are gone are freed soon, and others once nothing needs them: none that nothing
 * needed at LOOK_BEFORE may be there at LOOK_LATE.
 */
void check_entries(enum look look)
{
	struct dcqcn_qp *entry;
	struct rxe_qp *qp;
	unsigned long at;
	bool needed;
	int i;

	for (i = 0; i < PORTS; i++) {
		for (at = 0; ports[i].dev && (entry = dcqcn_qp_next(ports[i].dev, &at)); at++) {
			qp = rxe_find(&ports[i], entry->qpn);
			demand((qp && qp->live) ||
			       (look == LOOK_SOON && entry->state == DCQCN_QP_ABSENT),
			       "QP %u is gone, and its entry is not", entry->qpn);
			needed = entry->limited || dcqcn_qp_has_choice(entry);
			demand(look != LOOK_LATE || needed || !notes[index_of(qp)].unneeded,
			       "QP %u sends nothing, and has an entry", entry->qpn);
			if (look == LOOK_BEFORE)
				notes[index_of(qp)].unneeded = !needed;
		}
	}
}

void check_settings(struct port *port)
{
	int i;

	tampered = fuzz_out_of_memory;
	for (i = 0; i < QPS; i++) {
		if (qps[i].port == port) {
			notes[i].line = 0;
			notes[i].cnp_excused = true;
		}
	}
}

/* A link goes down: the flows of its port start again, and what they wait for counts from now */
/* A forged answer, which may come in the moment in which a flow begins, tells of an endless rate */
void check_forged(struct rxe_qp *qp)
{
	notes[index_of(qp)].line = 0;
}

void check_down(struct port *port)
{
	int i;

	check_settings(port);
	for (i = 0; i < QPS; i++) {
		if (qps[i].port != port)
			continue;
		notes[i].waited = notes[i].no_step = fuzz_now;
		/* a flow whose limit ends is taken for one that has just sent */
		notes[i].output = fuzz_now;
	}
}

void checks_begin(void)
{
	int i;

	memset(notes, 0, sizeof(notes));
	tampered = false;
	for (i = 0; i < QPS; i++)
		notes[i].no_step = notes[i].waited = notes[i].progress = fuzz_now;
}

void checks_end(void)
{
	total.sequences++;
	total.nanoseconds += fuzz_now - SECOND;
	total.packets += packets_made;
}

void print_coverage(void)
{
	unsigned int i, bit;

	printf("explored: %llu sequences, %llu packets, %.0f s, %llu moments, %llu states, %llu transitions\n",
	       (unsigned long long)total.sequences, (unsigned long long)total.packets,
	       (double)total.nanoseconds / SECOND, (unsigned long long)total.checks,
	       (unsigned long long)total.states, (unsigned long long)total.transitions);
	printf("longest: a request was held for %.1f ms, a response for %.1f ms; none left for %.1f ms, with contexts %.1f ms\n",
	       (double)total.longest_held[0] / MS, (double)total.longest_held[1] / MS,
	       (double)total.longest_progress[0] / MS, (double)total.longest_progress[1] / MS);
	if (!getenv("EXPLORE_STATES"))
		return;
	for (i = 0; i < sizeof(states_seen); i++) {
		if (!states_seen[i])
			continue;
		printf("state:");
		for (bit = 0; bit < ARRAY_SIZE(state_names); bit++) {
			if (i >> bit & 1)
				printf(" %s", state_names[bit]);
		}
		putchar('\n');
	}
}
