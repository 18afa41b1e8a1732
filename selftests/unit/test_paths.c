// SPDX-License-Identifier: GPL-2.0
/*
 * Flows that leave a congested path: the code of contexts and entropy.c themselves, two hosts in
 * one program, and between them two paths, which a hash of the UDP source port chooses. The
 * receiver checks that each QP's packets come in order: rxe would send a NAK for each gap.
 */
#include <string.h>

#include "contexts.h"
#include "random.h"
#include "tap.h"
#include "wire.h"

#define US		1000ULL		/* ns */
#define MS		1000000ULL
#define MBPS		100000U		/* of each path */
#define RTT		(12 * US)
#define QPS		64
#define LATER		1024
#define PATHS		2
#define HERE		1		/* last byte of the hosts' addresses */
#define THERE		2

static struct host {
	struct dcqcn_dev dev;
	struct dcqcn_settings settings;
	struct dcqcn_counters counters;
	struct dcqcn_qp qps[QPS];
} here, there;

/* What a sender's QP does, and what came of it */
static struct flow {
	u32 psn;
	u32 expected;		/* PSN at the receiver */
	u16 port;
	u64 left;		/* packets to send */
	u8 path;		/* of its last packet */
} flows[QPS];

static struct path {
	struct { u64 at; u32 bits, psn; unsigned int qp; bool ce; } packets[LATER];
	unsigned int in, out;
	u64 free;
	u64 slower;		/* ns */
	unsigned int marks;	/* of 100 packets */
	u64 carried;
} paths[PATHS];

static struct { u64 at; size_t len; u8 p[120]; } feedback[LATER];
static unsigned int f_in, f_out, gaps, lose_feedback;
static u32 key;			/* of the hash that chooses a path */

int dcqcn_xmit(struct net *n, int ifindex, const struct dcqcn_settings *settings,
	       struct dcqcn_cnp_spec *spec, const struct dcqcn_feedback *say)
{
	if (lose_feedback && random_one_in(lose_feedback))
		return 0;
	spec->ttl = 64;
	feedback[f_in % LATER].len = dcqcn_feedback_build(feedback[f_in % LATER].p, spec, say);
	feedback[f_in++ % LATER].at = fuzz_now + RTT / 2;
	return 0;
}

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *n)
{
	return &there.dev;
}

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *dev, u32 qpn)
{
	return &there.qps[qpn - 200];
}

static struct sk_buff *packet(unsigned int qp, u32 psn, u32 bits, bool ce)
{
	return data_packet(FRAME, HERE, flows[qp].port, THERE, 200 + qp, bits, psn, ce);
}

static unsigned int path_of(u16 port)
{
	return (port ^ key) * 0x9e3779b1U >> 31;
}

static struct path *choose(const struct sk_buff *skb)
{
	const struct udphdr *udp = (const void *)skb->data + sizeof(struct iphdr);
	u16 port = be16_to_cpu(udp->source);

	expect(port >= 0xc000, "source port %u", port);
	return &paths[path_of(port)];
}

static void on_the_wire(unsigned int qp, struct sk_buff *skb)
{
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	struct path *path = choose(skb);
	u64 begin = max(path->free, fuzz_now + RTT / 2);
	unsigned int i = path->in++ % LATER;

	path->free = begin + FRAME * 8000ULL / MBPS;
	path->packets[i].at = path->free + path->slower;
	path->packets[i].bits = be32_to_cpu(bth->qpn) & ~DCQCN_QPN_MASK;
	path->packets[i].psn = dcqcn_bth_psn(bth);
	path->packets[i].qp = qp;
	path->packets[i].ce = random_below(100) < path->marks;
	flows[qp].path = path - paths;
}

/* A QP sends one packet if it may */
static void send(unsigned int i)
{
	struct dcqcn_qp *qp = &here.qps[i];
	struct flow *f = &flows[i];
	struct sk_buff *skb;
	bool ready, may;

	if (!f->left)
		return;
	spin_lock_bh(&qp->lock);
	ready = dcqcn_ccc_is_ready(qp, &here.settings);
	may = ready ? !dcqcn_ccc_may_send(qp, false, fuzz_now) : !f->psn;
	spin_unlock_bh(&qp->lock);
	if (!may)
		return;
	skb = packet(i, f->psn, 0, false);
	dcqcn_ccc_output(qp, &here.settings, skb, 0);
	f->left--;
	spin_lock_bh(&qp->lock);
	if (dcqcn_ccc_is_ready(qp, &here.settings))
		dcqcn_ccc_sent(qp, skb, f->psn, FRAME, f->left ? 64 * FRAME : 0, f->left, fuzz_now);
	else
		dcqcn_ccc_steer(qp, skb);
	spin_unlock_bh(&qp->lock);
	on_the_wire(i, skb);
	free_packet(skb);
	f->psn++;
}

static void arrive(struct path *path)
{
	unsigned int i = path->out++ % LATER, qp = path->packets[i].qp;
	struct sk_buff *skb = packet(qp, path->packets[i].psn, path->packets[i].bits,
				     path->packets[i].ce);
	struct dcqcn_rx rx = rx_of(&there.dev, skb);

	gaps += path->packets[i].psn != flows[qp].expected;
	flows[qp].expected = path->packets[i].psn + 1;
	path->carried++;
	if (path->packets[i].bits & DCQCN_BTH_CAPABLE)
		dcqcn_ccc_receive(&rx);
	free_packet(skb);
}

static void hear(void)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	unsigned int i = f_out++ % LATER;
	struct dcqcn_rx rx;

	skb->len = feedback[i].len;
	skb->data = malloc(skb->len);
	memcpy(skb->data, feedback[i].p, skb->len);
	rx = rx_of(&here.dev, skb);
	dcqcn_ccc_feedback(&rx);
	free_packet(skb);
}

static void pass_time(u64 ns)
{
	struct hrtimer *timer = &there.dev.credit.timer;
	u64 end = fuzz_now + ns;
	unsigned int i, first = 0;

	for (; fuzz_now < end; fuzz_now += 100) {
		while (f_out != f_in && feedback[f_out % LATER].at <= fuzz_now)
			hear();
		/* in turn */
		for (i = 0; i < QPS; i++)
			send((first + i) % QPS);
		first++;
		for (i = 0; i < PATHS; i++) {
			while (paths[i].out != paths[i].in &&
			       paths[i].packets[paths[i].out % LATER].at <= fuzz_now)
				arrive(&paths[i]);
		}
		if (timer->queued && (u64)timer->expires <= fuzz_now) {
			timer->queued = false;
			bh_disabled++;
			timer->queued = timer->function(timer) == HRTIMER_RESTART;
			bh_disabled--;
		}
	}
}

static void set_up_host(struct host *h, u32 algorithms, u32 first_qpn, unsigned int peer)
{
	unsigned int i;

	xa_destroy(&h->dev.qps);
	memset(h, 0, sizeof(*h));
	h->settings.ccc = (struct dcqcn_ccc_params) {
		.algorithms = algorithms, .base_rtt = 12, .entropy = 1 };
	h->settings.np_enable = 0xff;
	h->settings.rp_enable = 0xff;
	h->dev.settings = &h->settings;
	h->dev.counters = &h->counters;
	h->dev.ndev = &ndev;
	h->dev.speed = MBPS;
	dcqcn_ccc_dev_init(&h->dev);
	dcqcn_ccc_credit_init(&h->dev);
	for (i = 0; i < QPS; i++) {
		struct dcqcn_qp *qp = &h->qps[i];

		*qp = (struct dcqcn_qp) { .qpn = first_qpn + i, .dev = &h->dev,
					  .state = DCQCN_QP_LIVE, .type = IB_QPT_RC,
					  .atomic_psn = DCQCN_PSN_NONE };
		address(&qp->peer, peer);
		add_qp(&h->dev, qp);
	}
}

static void set_up(u32 algorithms, unsigned int qps, u64 packets)
{
	unsigned int i;

	set_up_host(&here, algorithms, 100, THERE);
	set_up_host(&there, algorithms, 200, HERE);
	memset(flows, 0, sizeof(flows));
	memset(paths, 0, sizeof(paths));
	fuzz_now = 7000 * MS;
	f_in = f_out = gaps = lose_feedback = 0;
	key = random_u64();
	for (i = 0; i < QPS; i++) {
		flows[i].port = 0xc000 | random_below(0x4000);
		flows[i].left = i < qps ? packets : 0;
	}
}

static void tear_down(void)
{
	unsigned int i;

	expect(!gaps, "%u gaps", gaps);
	for (i = 0; i < QPS; i++) {
		spin_lock_bh(&here.qps[i].lock);
		dcqcn_ccc_leave(&here.qps[i]);
		spin_unlock_bh(&here.qps[i].lock);
		spin_lock_bh(&there.qps[i].lock);
		dcqcn_ccc_leave(&there.qps[i]);
		spin_unlock_bh(&there.qps[i].lock);
	}
	expect(!here.dev.contexts.num && !there.dev.contexts.num, "a context is left");
}

static unsigned int on_path(unsigned int path, unsigned int qps)
{
	unsigned int i, n = 0;

	for (i = 0; i < qps; i++)
		n += flows[i].path == path;
	return n;
}

static u64 changes(void)
{
	return here.counters.value[DCQCN_RP_ENTROPY_CHANGES];
}

/* Each QP that the path which marks @marks % of the packets had at first leaves it, and no other
 * one moves
 */
static void leave(u32 algorithms, unsigned int qps, unsigned int marks, u64 slower)
{
	bool was[QPS], bad = false;
	unsigned int i, moved = 0, had = 0;

	set_up(algorithms, qps, 1000000);
	/* as many on each path, or the only one on the bad one */
	for (i = 0; i < qps; i++) {
		while (path_of(flows[i].port) != (i + 1) % 2)
			flows[i].port = 0xc000 | random_below(0x4000);
		was[i] = (i + 1) % 2;
	}
	paths[1].marks = marks;
	paths[1].slower = slower;
	for (i = 0; i < 300; i++) {
		pass_time(MS);
		if (!on_path(1, qps))
			break;
	}
	expect(!on_path(1, qps), "%u of %u QPs are there after %u ms", on_path(1, qps), qps, i);
	for (i = 0; i < qps; i++) {
		const struct dcqcn_route *route = here.qps[i].route;

		/* a round being an answer for it, the 12th at the latest */
		bad |= route->entropy.rounds >= 12 || route->entropy.changes > 12;
		had += was[i];
		moved += was[i] && route->entropy.ev;
		expect(was[i] || !route->entropy.ev || marks < 100, "QP %u left a good path", i);
	}
	expect(!bad, "a QP has had more than 12 congested rounds in a row");
	expect(moved == had, "%u of %u have moved", moved, had);
	expect(changes() == here.qps[0].ccc->tx.entropy_changes && changes() >= moved,
	       "%llu changes, %u moved", changes(), moved);
	expect(!here.counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "timeouts");
	tap_note("%u QPs, algorithms %u, %u %% marked, %llu us slower: %llu changes of %u QPs",
		 qps, algorithms, marks, slower / US, changes(), had);
	tear_down();
}

static void test_leave(void)
{
	u32 algorithms;

	for (algorithms = 1; algorithms <= 3; algorithms++) {
		leave(algorithms, QPS, 100, 0);
		leave(algorithms, QPS, 60, 0);
		leave(algorithms, QPS, 100, RTT);
		leave(algorithms, 1, 100, 0);
	}
}

/* A QP of which nothing is in flight when an answer comes has left after three rounds; one of
 * which something always is, after 12
 */
static void test_rounds(void)
{
	unsigned int n;

	set_up(3, 1, 1);
	flows[0].port = 0xc000;
	paths[0].marks = paths[1].marks = 100;
	/* the answer to the first message makes two hosts agree, and begins a round; of the
	 * others, every second one asks
	 */
	for (n = 0; n < 20 && !changes(); n++) {
		flows[0].left = 1;
		pass_time(4 * RTT);
	}
	expect(n == 6, "it left after %u messages, not 6", n);
	tear_down();

	set_up(3, 1, 1000000);
	here.settings.ccc.initial_window = 20 * FRAME;
	there.settings.ccc.initial_window = 20 * FRAME;
	paths[0].marks = paths[1].marks = 100;
	for (n = 0; n < 100 && !changes(); n++)
		pass_time(RTT);
	expect(n >= 12 && n <= 20, "it left after %u round trips", n);
	tear_down();
}

/* Fewer marks than half: all stay. So do they with the knob off. */
static void test_stay(void)
{
	set_up(3, QPS, 1000000);
	paths[1].marks = 10;
	pass_time(20 * MS);
	expect(changes() <= 8, "%llu changes with 10 %% marked", changes());
	tear_down();

	set_up(3, QPS, 1000000);
	here.settings.ccc.entropy = 0;
	paths[1].marks = 100;
	pass_time(20 * MS);
	expect(!changes(), "%llu changes with ccc_entropy 0", changes());
	tear_down();
}

/* All paths mark: ever fewer changes, and next to no time lost */
static void test_no_better(void)
{
	u64 before, early;

	set_up(3, 1, 10000000);
	paths[0].marks = paths[1].marks = 100;
	pass_time(20 * MS);
	early = changes();
	before = paths[0].carried + paths[1].carried;
	pass_time(20 * MS);
	expect(early <= 15 && changes() - early <= 3, "%llu changes in 20 ms, then %llu", early,
	       changes() - early);
	tap_note("%llu changes in 20 ms, then %llu; %llu packets", early, changes() - early,
		 paths[0].carried + paths[1].carried - before);
	tear_down();
}

/* The answer to the last packet is lost: the flow goes on in time, where it was */
static void test_lost(void)
{
	struct dcqcn_route *route;
	u64 since, packets;
	u16 ev;

	set_up(3, 2, 10000000);
	here.settings.ccc.initial_window = 20 * FRAME;
	there.settings.ccc.initial_window = 20 * FRAME;
	paths[0].marks = paths[1].marks = 100;
	pass_time(4 * RTT);
	route = here.qps[0].route;
	for (since = fuzz_now; route->move != DCQCN_MOVE_HELD && fuzz_now - since < 2 * MS;)
		pass_time(100);
	expect(route->move == DCQCN_MOVE_HELD, "it is not held");
	ev = route->entropy.ev;
	lose_feedback = 1;
	pass_time(RTT);
	lose_feedback = 0;
	packets = flows[0].psn;
	for (since = fuzz_now; flows[0].psn == packets && fuzz_now - since < 300 * MS;)
		pass_time(10 * US);
	expect(route->entropy.ev == ev, "it has changed");
	expect(fuzz_now - since < 25 * MS, "held for %llu us", (fuzz_now - since) / US);
	pass_time(20 * MS);
	expect(route->entropy.ev != ev, "it never changes");
	tear_down();

	/* and one of 20 answers, always */
	set_up(3, QPS, 1000000);
	paths[1].marks = 100;
	pass_time(10 * RTT);	/* they agree */
	lose_feedback = 20;
	pass_time(200 * MS);
	tap_note("%llu packets and %llu changes while one of 20 answers is lost",
		 paths[0].carried + paths[1].carried, changes());
	expect(on_path(1, QPS) <= QPS / 8, "%u are there", on_path(1, QPS));
	tear_down();
}

static const struct tap_test tests[] = {
	{ "QPs leave a path that marks, without a gap", test_leave },
	{ "after 3 rounds with pauses, after 12 without", test_rounds },
	{ "they stay where less than half is marked, and with ccc_entropy 0", test_stay },
	{ "where all paths mark, changes become rare", test_no_better },
	{ "an answer that is lost does not stop a flow", test_lost },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
