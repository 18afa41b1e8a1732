// SPDX-License-Identifier: GPL-2.0
/*
 * Tests ccc.c and both of its halves: two hosts in one program, a path between them that
 * takes time, and loses what the test says. Senders have as many packets as they may send.
 */
#include <string.h>

#include "contexts.h"
#include "random.h"
#include "tap.h"
#include "wire.h"

#define US		1000ULL		/* ns */
#define MS		1000000ULL
#define MBPS		100000U		/* unless a test says otherwise */
#define RTT		round_trip
#define SENDERS		128
#define USUAL		8		/* of them send, unless a test says otherwise */
#define LATER		8192
#define BUFFER		1000000		/* bytes; of the switch port */
#define KMARK		100000		/* bytes; from there on it marks */
#define RECEIVER	SENDERS		/* its number among the hosts */

/* Host i < SENDERS sends from its QP 100 + i to the receiver's QP 200 + i */
static struct host {
	struct dcqcn_dev dev;
	struct dcqcn_settings settings;
	struct dcqcn_counters counters;
	struct dcqcn_qp qps[SENDERS];
	u32 psn;
	u64 left;		/* packets that wait */
	u64 shown;		/* of these, that rxe has made; all, unless a test says otherwise */
	u64 start;		/* ns; when DCQCN lets it send the next one */
	bool off;		/* does not take part any more */
} hosts[SENDERS + 1];

static struct { u64 at; struct host *to; size_t len; u8 p[120]; } feedback[LATER];
static struct { u64 at; u32 bits, psn; unsigned int from; bool ce; } packets[LATER];
static unsigned int f_in, f_out, p_in, p_out, lose_feedback, lose_packets, dropped;
static u64 round_trip;		/* ns; 12 us, unless a test says otherwise */
static u64 link_free, delivered[SENDERS], told;
static u64 others, next_other;	/* ns; a packet of no context comes so often, 0 for never */
static unsigned int most_in_flight;
static unsigned int mbps, frame;	/* of the link; bytes of a packet */
static unsigned int burst;		/* packets that a DCQCN flow sends at once */
static u64 pace;			/* ns; from then on, one packet in this time */
static bool rxe_shows;			/* 64 packets, and the next when 16 of them are left */
static bool mark_all;
static bool at_line_rate;		/* packets of a sender leave no faster than that */
static bool one_packet;			/* each message is one */
static bool one_host;			/* sender 1 is another QP of sender 0's host */
static bool overheard;			/* packets are for another host */
static u64 stalled;			/* ns; the receiver's host takes no packet before; 0 if it never waits */

static void host_address(struct in6_addr *a, unsigned int host)
{
	address(a, host + 1);
}

static bool xmit_fails;

int dcqcn_xmit(struct net *n, int ifindex, const struct dcqcn_settings *settings,
	       struct dcqcn_cnp_spec *spec, const struct dcqcn_feedback *say)
{
	if (xmit_fails)
		return -ENOBUFS;
	told++;
	if (say->flags & DCQCN_FEEDBACK_ECHO)
		expect(be32_to_cpu(say->arrived) + be32_to_cpu(say->echo_held) == (u32)fuzz_now,
		       "arrived at %u, held for %u", be32_to_cpu(say->arrived),
		       be32_to_cpu(say->echo_held));
	if (lose_feedback && random_one_in(lose_feedback))
		return 0;
	spec->ttl = 64;
	feedback[f_in % LATER].len = dcqcn_feedback_build(feedback[f_in % LATER].p, spec, say);
	feedback[f_in % LATER].at = fuzz_now + RTT / 2;
	feedback[f_in++ % LATER].to = &hosts[spec->daddr.s6_addr[15] - 1];
	return 0;
}

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *n)
{
	return &hosts[RECEIVER].dev;
}

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *dev, u32 qpn)
{
	return &hosts[RECEIVER].qps[qpn - 200];
}

static struct sk_buff *packet(unsigned int from, u32 psn, u32 bits, bool ce)
{
	unsigned int host = one_host && from == 1 ? 0 : from;

	return data_packet(frame, host + 1, 0, RECEIVER + 1, 200 + from, bits, psn, ce);
}

static void on_the_wire(unsigned int from, struct sk_buff *skb, u32 psn)
{
	struct dcqcn_bth *bth = dcqcn_ccc_bth(skb);
	u64 queue = max(link_free, fuzz_now + RTT / 2) - fuzz_now - RTT / 2;

	if ((lose_packets && random_one_in(lose_packets)) || queue * mbps / 8000 > BUFFER) {
		dropped++;
		return;
	}
	link_free = fuzz_now + RTT / 2 + queue + frame * 8000ULL / mbps;
	packets[p_in % LATER].at = link_free;
	packets[p_in % LATER].bits = be32_to_cpu(bth->qpn) & ~DCQCN_QPN_MASK;
	packets[p_in % LATER].ce = mark_all || queue * mbps / 8000 > KMARK;
	packets[p_in % LATER].psn = psn;
	packets[p_in++ % LATER].from = from;
}

/* A sender sends what it may */
static void send(unsigned int from)
{
	struct host *h = &hosts[from];
	struct dcqcn_qp *qp = &h->qps[0];
	struct sk_buff *skb;

	while (h->left && !(at_line_rate && h->start > fuzz_now)) {
		spin_lock_bh(&qp->lock);
		if (dcqcn_ccc_is_ready(qp, &h->settings) &&
		    dcqcn_ccc_may_send(qp, false, fuzz_now)) {
			spin_unlock_bh(&qp->lock);
			return;
		}
		/* until the peer is known */
		if (!dcqcn_ccc_is_ready(qp, &h->settings)) {
			if (h->start > fuzz_now) {
				spin_unlock_bh(&qp->lock);
				return;
			}
			h->start = max(h->start, fuzz_now - burst * pace) + pace;
		}
		spin_unlock_bh(&qp->lock);
		skb = packet(from, h->psn, 0, false);
		if (!rxe_shows || h->shown <= 16)
			h->shown = rxe_shows ? min(h->left, 64ULL) : h->left;
		if (one_packet)
			dcqcn_ccc_bth(skb)->opcode = 0x0a;	/* RC WRITE, only */
		else if (h->left == 1)
			dcqcn_ccc_bth(skb)->opcode = 0x08;	/* RC WRITE, last */
		dcqcn_ccc_output(qp, &h->settings, skb, 0);
		h->left--;
		h->shown--;
		if (at_line_rate)
			h->start = max(h->start, fuzz_now) + frame * 8000ULL / mbps;
		spin_lock_bh(&qp->lock);
		if (dcqcn_ccc_is_ready(qp, &h->settings)) {
			dcqcn_ccc_sent(qp, skb, h->psn, frame, min(h->shown, 64ULL) * frame,
				       h->left > min(h->shown, 64ULL), fuzz_now);
			most_in_flight = max(most_in_flight,
					     dcqcn_ccc_flight(&qp->ccc->tx));
			spin_unlock_bh(&qp->lock);
		} else {
			spin_unlock_bh(&qp->lock);
		}
		on_the_wire(from, skb, h->psn++);
		free_packet(skb);
	}
}

static void arrive(unsigned int from, u32 psn, u32 bits, bool ce)
{
	struct sk_buff *skb = packet(from, psn, bits, ce);
	struct dcqcn_rx rx;

	if (from == RECEIVER) {
		dcqcn_ccc_other(&hosts[RECEIVER].dev, skb);
		free_packet(skb);
		return;
	}
	delivered[from] += frame;
	skb->pkt_type = overheard ? PACKET_OTHERHOST : PACKET_HOST;
	rx = rx_of(&hosts[RECEIVER].dev, skb);
	if (bits & DCQCN_BTH_CAPABLE && !hosts[RECEIVER].off)
		dcqcn_ccc_receive(&rx);
	free_packet(skb);
}

static void hear(struct host *h, const u8 *p, size_t len)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	struct dcqcn_rx rx;

	skb->len = len;
	skb->data = malloc(len);
	memcpy(skb->data, p, len);
	rx = rx_of(&h->dev, skb);
	dcqcn_ccc_feedback(&rx);
	free_packet(skb);
}

static void pass_time(u64 ns, unsigned int n)
{
	struct hrtimer *timer = &hosts[RECEIVER].dev.credit.timer;
	u64 end = fuzz_now + ns;
	unsigned int i;

	for (; fuzz_now < end; fuzz_now += 100) {
		for (; f_out != f_in && feedback[f_out % LATER].at <= fuzz_now; f_out++)
			hear(feedback[f_out % LATER].to, feedback[f_out % LATER].p,
			     feedback[f_out % LATER].len);
		for (i = 0; i < n; i++)
			send(i);
		if (others && next_other <= fuzz_now) {
			struct sk_buff *skb = packet(RECEIVER, 0, 0, false);

			on_the_wire(RECEIVER, skb, 0);
			free_packet(skb);
			next_other = max(next_other, fuzz_now - US) + others;
		}
		for (; p_out != p_in && max(packets[p_out % LATER].at, stalled) <= fuzz_now; p_out++) {
			stalled += stalled ? frame * 8000ULL / mbps : 0;
			arrive(packets[p_out % LATER].from, packets[p_out % LATER].psn,
			       packets[p_out % LATER].bits, packets[p_out % LATER].ce);
		}
		if (timer->queued && (u64)timer->expires <= fuzz_now) {
			timer->queued = false;
			bh_disabled++;
			timer->queued = timer->function(timer) == HRTIMER_RESTART;
			bh_disabled--;
		}
	}
}

static void set_up_qp(struct host *h, struct dcqcn_qp *qp, u32 qpn, unsigned int peer)
{
	*qp = (struct dcqcn_qp) { .qpn = qpn, .dev = &h->dev, .state = DCQCN_QP_LIVE,
				  .type = IB_QPT_RC, .atomic_psn = DCQCN_PSN_NONE };
	host_address(&qp->peer, peer);
}

static void set_up(u32 algorithms, u32 window)
{
	unsigned int i;

	for (i = 0; i <= SENDERS; i++) {
		struct host *h = &hosts[i];

		xa_destroy(&h->dev.qps);
		memset(h, 0, sizeof(*h));
		h->settings.ccc = (struct dcqcn_ccc_params) {
			.algorithms = algorithms, .base_rtt = 12, .initial_window = window };
		h->settings.np_enable = 0xff;
		h->settings.rp_enable = 0xff;
		h->dev.settings = &h->settings;
		h->dev.counters = &h->counters;
		h->dev.ndev = &ndev;
		h->dev.speed = MBPS;
		dcqcn_ccc_dev_init(&h->dev);
		dcqcn_ccc_credit_init(&h->dev);
		if (i < SENDERS) {
			set_up_qp(h, &h->qps[0], 100 + i, RECEIVER);
			set_up_qp(&hosts[RECEIVER], &hosts[RECEIVER].qps[i], 200 + i, i);
		}
	}
	for (i = 0; i < SENDERS; i++)
		set_up_qp(&hosts[RECEIVER], &hosts[RECEIVER].qps[i], 200 + i, i);
	fuzz_now = 7000 * MS;
	f_in = f_out = p_in = p_out = lose_feedback = lose_packets = dropped = 0;
	link_free = told = most_in_flight = others = next_other = 0;
	round_trip = 12 * US;
	mbps = MBPS;
	frame = FRAME;
	burst = 3;
	pace = 10 * US;
	rxe_shows = false;
	mark_all = false;
	at_line_rate = false;
	one_packet = false;
	one_host = false;
	overheard = false;
	stalled = 0;
	memset(delivered, 0, sizeof(delivered));
}

static void tear_down(void)
{
	unsigned int i;

	for (i = 0; i < SENDERS; i++) {
		spin_lock_bh(&hosts[i].qps[0].lock);
		dcqcn_ccc_leave(&hosts[i].qps[0]);
		spin_unlock_bh(&hosts[i].qps[0].lock);
		spin_lock_bh(&hosts[RECEIVER].qps[i].lock);
		dcqcn_ccc_leave(&hosts[RECEIVER].qps[i]);
		spin_unlock_bh(&hosts[RECEIVER].qps[i].lock);
		expect(!hosts[i].dev.contexts.num, "host %u has a context left", i);
	}
	expect(!hosts[RECEIVER].dev.contexts.num, "the receiver has a context left");
	expect(list_empty(&hosts[RECEIVER].dev.credit.sources), "and it is granted credit");
}

static struct dcqcn_ccc_sender *sender(unsigned int i)
{
	return &hosts[i].qps[0].ccc->tx;
}

static void test_agreement(void)
{
	set_up(DCQCN_CCC_NSCC, 65536);
	hosts[0].left = 1;
	pass_time(2 * RTT, 1);
	expect(sender(0)->agreed == DCQCN_CCC_NSCC, "not agreed");
	expect(sender(0)->window.least >= RTT && sender(0)->window.least < RTT + US,
	       "round trip %u", sender(0)->window.least);
	expect(told == 1, "%llu packets of feedback", told);
	tear_down();

	/* to each his own: DCQCN */
	set_up(DCQCN_CCC_NSCC, 65536);
	hosts[RECEIVER].settings.ccc.algorithms = 3;
	hosts[0].left = 10;
	pass_time(20 * RTT, 1);
	expect(!sender(0)->agreed, "agreed on different algorithms");
	tear_down();
}

/* The worker hands over the offer that waited */
static void resolved(struct dcqcn_qp *qp)
{
	struct dcqcn_waiting *waiting = qp->waiting;

	qp->waiting = NULL;
	if (waiting->event.offer)
		dcqcn_ccc_resolved(qp, &waiting->event);
	free(waiting);
}

/* The offer comes before the receiver knows its QP: it is answered when that is resolved, if it
 * was the peer's
 */
static void test_unresolved(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0];
	int live, peer;

	for (live = 0; live < 2; live++) {
		for (peer = 0; peer < 2; peer++) {
			set_up(3, 0);
			qp->state = DCQCN_QP_RESOLVING;
			hosts[0].left = 1;
			pass_time(2 * RTT, 1);
			expect(!told && !sender(0)->agreed, "an unknown QP was answered for");
			expect(qp->waiting && qp->waiting->event.offer, "the offer was not kept");
			qp->state = live ? DCQCN_QP_LIVE : DCQCN_QP_ABSENT;
			if (!peer)
				host_address(&qp->peer, 77);
			resolved(qp);
			expect(told == (live && peer), "told %llu", told);
			pass_time(RTT, 1);
			expect((sender(0)->agreed == 3) == (live && peer), "live %d, peer %d: agreed %u",
			       live, peer, sender(0)->agreed);
			expect(!!qp->ccc == (live && peer), "a context %d", !!qp->ccc);
			if (live && peer) {
				hosts[0].left = 10;
				pass_time(10 * RTT, 1);
				expect(!hosts[0].left, "%llu packets wait", hosts[0].left);
			}
			tear_down();
		}
	}
}

/* A sender that obeys a context counts the first packets of a new QP, so the receiver counts them, and the
 * credit that they ask for, as soon as it knows the QP
 */
static void test_counted_when_resolved(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0], *other = &hosts[RECEIVER].qps[1];
	u32 received, offset, sent;
	const struct dcqcn_feedback *say;
	struct dcqcn_ccc *ccc;
	int owed;

	set_up(3, 0);
	hosts[0].left = 1;
	pass_time(3 * RTT, 1);
	ccc = qp->ccc;
	set_up_qp(&hosts[RECEIVER], other, 300, 0);
	spin_lock_bh(&other->lock);
	expect(dcqcn_ccc_join(other, &ccc->local, &ccc->peer, 0) == ccc, "another context");
	spin_unlock_bh(&other->lock);
	spin_lock_bh(&qp->lock);
	dcqcn_ccc_leave(qp);
	qp->state = DCQCN_QP_RESOLVING;
	spin_unlock_bh(&qp->lock);

	owed = atomic_read(&hosts[RECEIVER].dev.credit.ungranted);
	received = ccc->rx.received;
	offset = sender(0)->offset;
	sent = sender(0)->sent;
	hosts[0].left = 20;
	pass_time(RTT, 1);
	sent = sender(0)->sent - sent;
	expect(sent && ccc->rx.received == received && qp->waiting->event.bytes == sent,
	       "%u sent, %u received, %u kept", sent, ccc->rx.received - received,
	       qp->waiting->event.bytes);
	expect(qp->waiting->event.asked, "no credit was asked for");
	expect(atomic_read(&hosts[RECEIVER].dev.credit.ungranted) == owed,
	       "the port owes for bytes that it will count");
	qp->state = DCQCN_QP_LIVE;
	/* if these packets ask for no answer, another QP's packet still gets the one it waits for */
	qp->waiting->event.time = 0;
	ccc->rx.has_echo = true;
	ccc->rx.echo_qpn = 300;
	ccc->rx.echo_time = fuzz_now;
	resolved(qp);
	say = (const void *)(feedback[(f_in - 1) % LATER].p + sizeof(struct iphdr) +
			     sizeof(struct udphdr));
	expect(say->flags & DCQCN_FEEDBACK_ECHO && be32_to_cpu(say->echo_qpn) == 300,
	       "flags %x, of %u", say->flags, be32_to_cpu(say->echo_qpn));
	expect(ccc->rx.received == received + sent, "%u of %u counted", ccc->rx.received - received,
	       sent);
	expect(ccc->rx.source.backlog, "the request for credit is lost");
	pass_time(10 * RTT, 1);
	expect(!hosts[0].left && sender(0)->offset == offset, "%llu packets wait, %d bytes lost",
	       hosts[0].left, sender(0)->offset - offset);
	spin_lock_bh(&other->lock);
	dcqcn_ccc_leave(other);
	spin_unlock_bh(&other->lock);
	tear_down();
}

/* A CE or CNPs that wait already do not push an offer of the same peer out, and one from elsewhere
 * is counted
 */
static void test_waits_beside(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0];
	struct dcqcn_waiting *waiting;
	unsigned int ce, same;

	for (ce = 0; ce < 2; ce++) {
		for (same = 0; same < 2; same++) {
			set_up(3, 0);
			qp->state = DCQCN_QP_RESOLVING;
			waiting = dcqcn_qp_wait(qp);
			waiting->ce = ce;
			waiting->cnps = !ce;
			waiting->event.len = ce * 1000;
			waiting->event.prio = ce * 3;
			host_address(&waiting->event.saddr, same ? 0 : 77);
			hosts[0].left = 1;
			pass_time(2 * RTT, 1);
			expect(waiting->event.offer == same, "offer %d", waiting->event.offer);
			expect(waiting->ce == ce && waiting->cnps == !ce, "an event is gone");
			expect(waiting->event.len == ce * 1000 && waiting->event.prio == ce * 3,
			       "a CE of %u bytes, priority %u", waiting->event.len,
			       waiting->event.prio);
			expect(hosts[RECEIVER].counters.value[DCQCN_CCC_ERRORS] == !same,
			       "%ld counted", (long)hosts[RECEIVER].counters.value[DCQCN_CCC_ERRORS]);
			qp->state = DCQCN_QP_LIVE;
			resolved(qp);
			pass_time(RTT, 1);
			expect((sender(0)->agreed == 3) == same, "agreed %u", sender(0)->agreed);
			tear_down();
		}
	}
}

/* The QP sends while a CNP waits, and thereby becomes known: the CNP does not keep it from joining a
 * context
 */
static void test_joins_beside(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0];
	struct dcqcn_waiting *waiting;
	struct in6_addr local;

	set_up(3, 0);
	qp->state = DCQCN_QP_RESOLVING;
	waiting = dcqcn_qp_wait(qp);
	waiting->cnps = 1;
	host_address(&waiting->event.saddr, 0);
	qp->state = DCQCN_QP_LIVE;
	host_address(&local, RECEIVER);
	spin_lock_bh(&qp->lock);
	expect(dcqcn_ccc_join(qp, &local, &qp->peer, 0), "no context while a CNP waits");
	spin_unlock_bh(&qp->lock);
	expect(qp->waiting == waiting && waiting->cnps == 1, "the CNP is gone");
	expect(!hosts[RECEIVER].counters.value[DCQCN_CCC_ERRORS], "an error is counted");
	resolved(qp);
	tear_down();
}

/* The QP becomes known because it sends something itself, or just before the worker hands over what
 * waits, and the next packet comes. It has joined the context then.
 */
static void test_joined_meanwhile(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0];
	struct in6_addr local;
	u32 sent;
	int n;

	set_up(3, 0);
	host_address(&local, RECEIVER);
	/* an offer waits, and then packets of a sender that obeys the context already */
	for (n = 0; n < 2; n++) {
		spin_lock_bh(&qp->lock);
		dcqcn_ccc_leave(qp);
		qp->state = DCQCN_QP_RESOLVING;
		spin_unlock_bh(&qp->lock);
		told = 0;
		sent = hosts[0].qps[0].ccc ? sender(0)->sent : 0;
		hosts[0].left = n ? 20 : 1;
		pass_time(RTT, 1);
		sent = sender(0)->sent - sent;
		expect(!told && qp->waiting && qp->waiting->event.bytes == sent, "%u sent, told %llu",
		       sent, told);
		spin_lock_bh(&qp->lock);
		qp->state = DCQCN_QP_LIVE;
		expect(dcqcn_ccc_join(qp, &local, &qp->peer, 0), "no context");
		spin_unlock_bh(&qp->lock);
		resolved(qp);
		expect(told == 1, "told %llu", told);
		expect(!n || qp->ccc->rx.received == sent, "%u of %u counted",
		       qp->ccc->rx.received, sent);
		pass_time(10 * RTT, 1);
		expect(sender(0)->agreed == 3 && !hosts[0].left, "agreed %u, %llu packets wait",
		       sender(0)->agreed, hosts[0].left);
	}
	expect(!hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "timeouts");
	tear_down();

	/* it has joined another one */
	set_up(3, 0);
	qp->state = DCQCN_QP_RESOLVING;
	hosts[0].left = 1;
	pass_time(RTT, 1);
	spin_lock_bh(&qp->lock);
	qp->state = DCQCN_QP_LIVE;
	qp->prio = 5;
	expect(dcqcn_ccc_join(qp, &local, &qp->peer, 5), "no context");
	spin_unlock_bh(&qp->lock);
	resolved(qp);
	expect(!told && !qp->ccc->rx.received, "told %llu", told);
	tear_down();
}

/* Two QPs of a host obey one context, and the receiver's end of one of them sends in another priority: its
 * packets count in the context as well. @resolving: the receiver has to ask for that QP first. @joined:
 * that QP has a context of its own.
 */
static void test_priority_differs(bool resolving, bool joined)
{
	struct dcqcn_qp *qp = &hosts[1].qps[0], *to = &hosts[RECEIVER].qps[1];
	struct in6_addr local;
	u32 offset, window;

	set_up(3, 0);
	one_host = true;
	at_line_rate = true;
	qp->dev = &hosts[0].dev;
	host_address(&to->peer, 0);
	host_address(&local, RECEIVER);
	to->prio = 5;
	hosts[0].left = 1000000;
	pass_time(MS, 2);
	offset = sender(0)->offset;
	window = sender(0)->window.cwnd;
	if (joined) {
		spin_lock_bh(&to->lock);
		expect(dcqcn_ccc_join(to, &local, &to->peer, 5), "no context");
		spin_unlock_bh(&to->lock);
	}
	to->state = resolving ? DCQCN_QP_RESOLVING : DCQCN_QP_LIVE;
	hosts[1].left = 1000000;
	pass_time(RTT, 2);
	if (resolving) {
		expect(to->waiting && to->waiting->event.bytes, "no packet waits");
		to->state = DCQCN_QP_LIVE;
		resolved(to);
	}
	pass_time(MS, 2);
	expect(qp->ccc == hosts[0].qps[0].ccc && delivered[1] > MS * MBPS / 8000 / 4, "%llu delivered",
	       delivered[1]);
	expect(sender(0)->offset == offset, "%d bytes lost", sender(0)->offset - offset);
	expect(resolving || sender(0)->window.cwnd >= window, "window %u, %u before",
	       sender(0)->window.cwnd, window);
	expect(!hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "timeouts");
	/* from elsewhere they do not count */
	one_host = false;
	window = hosts[RECEIVER].qps[0].ccc->rx.received;
	arrive(1, 5, DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED, false);
	expect(hosts[RECEIVER].qps[0].ccc->rx.received == window, "another host's packet counts");
	spin_lock_bh(&qp->lock);
	dcqcn_ccc_leave(qp);
	spin_unlock_bh(&qp->lock);
	tear_down();
}

static void test_priorities_differ(void)
{
	test_priority_differs(false, false);
	test_priority_differs(true, false);
	test_priority_differs(false, true);
}

/* A QP is connected to the same peer again, with another traffic class: it obeys the context of its new
 * priority, once that is agreed on
 */
static void test_priority_changes(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0], *to = &hosts[RECEIVER].qps[0];
	struct sk_buff *skb;
	int n;

	set_up(3, 0);
	hosts[0].left = 1000;
	pass_time(MS, 1);
	expect(sender(0)->agreed == 3, "not agreed");
	qp->obeys = DCQCN_OBEYS_CONTEXT;
	for (n = 0; n < 2; n++) {
		skb = packet(0, 77 + n, 0, false);
		dcqcn_ccc_output(qp, &hosts[0].settings, skb, 5);
		expect(qp->ccc->prio == 5 && hosts[0].dev.contexts.num == 1, "priority %u, %u contexts",
		       qp->ccc->prio, hosts[0].dev.contexts.num);
		expect(!sender(0)->agreed && dcqcn_qp_is_windowed(qp), "agreed %u", sender(0)->agreed);
		expect(!n == !!(dcqcn_ccc_bth(skb)->qpn & cpu_to_be32(DCQCN_BTH_REQUEST)),
		       "packet %d: offers %d", n, n);
		free_packet(skb);
	}
	expect(to->ccc->prio == 0, "the receiver has changed");
	tear_down();
}

/* The same from another address */
static void test_address_changes(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	struct in6_addr local;
	struct sk_buff *skb;
	int agreed;

	for (agreed = 0; agreed < 2; agreed++) {
		set_up(3, 0);
		hosts[0].left = 10;
		pass_time(agreed * MS + 100, 1);
		expect(sender(0)->agreed == 3 * agreed, "agreed %u", sender(0)->agreed);
		qp->obeys = DCQCN_OBEYS_CONTEXT;
		skb = data_packet(FRAME, 77, 0, RECEIVER + 1, 200, 0, 77, false);
		dcqcn_ccc_output(qp, &hosts[0].settings, skb, 0);
		address(&local, 77);
		expect(ipv6_addr_equal(&qp->ccc->local, &local) && hosts[0].dev.contexts.num == 1,
		       "another address, %u contexts", hosts[0].dev.contexts.num);
		expect(!sender(0)->agreed && dcqcn_qp_is_windowed(qp), "agreed %u", sender(0)->agreed);
		expect(dcqcn_ccc_bth(skb)->qpn & cpu_to_be32(DCQCN_BTH_REQUEST), "no offer");
		free_packet(skb);
		tear_down();
	}
}

/* The new priority is not limited, so that the QP keeps the context of the old one, but its packets
 * do not obey that
 */
static void test_priority_without_limit(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];

	set_up(3, 0);
	hosts[0].left = 10;
	pass_time(MS, 1);
	expect(dcqcn_ccc_is_ready(qp, &hosts[0].settings), "not ready");
	hosts[0].settings.rp_enable = 1;
	qp->prio = 5;
	expect(!dcqcn_ccc_is_ready(qp, &hosts[0].settings), "priority 5 obeys the context of 0");
	qp->prio = 0;
	expect(dcqcn_ccc_is_ready(qp, &hosts[0].settings), "priority 0 does not");
	tear_down();
}

/* Both ends are told something else while they send */
static void test_changed(void)
{
	set_up(3, 0);
	hosts[0].left = 1000000;
	pass_time(MS, 1);
	expect(sender(0)->agreed == 3, "not agreed");
	hosts[RECEIVER].settings.ccc.algorithms = 1;
	pass_time(MS, 1);
	expect(!sender(0)->agreed, "only the peer has changed, and they agree");
	hosts[0].settings.ccc.algorithms = 1;
	pass_time(30 * MS, 1);
	expect(sender(0)->agreed == 1, "agreed on %u", sender(0)->agreed);
	/* with nothing in flight that would tell */
	pass_time(MS, 1);
	hosts[0].settings.ccc.algorithms = 2;
	hosts[RECEIVER].settings.ccc.algorithms = 2;
	hosts[0].left = 1000000;
	pass_time(30 * MS, 1);
	expect(sender(0)->agreed == 2, "agreed on %u", sender(0)->agreed);
	hosts[0].settings.ccc.algorithms = 0;
	pass_time(MS, 1);
	expect(!dcqcn_ccc_is_ready(&hosts[0].qps[0], &hosts[0].settings), "0 is not DCQCN");
	tear_down();
}

/* All feedback about a window is lost. After the timeout, what was taken for lost has
 * arrived: the next feedback says more than is in flight then, and is believed.
 */
static void test_late(void)
{
	u64 ignored, timeouts;

	set_up(DCQCN_CCC_NSCC, 225000);
	hosts[0].left = 1000000;
	pass_time(MS, 1);
	ignored = hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED];
	timeouts = hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS];
	expect(sender(0)->agreed && sender(0)->window.cwnd > 2 * DCQCN_CCC_SLACK,
	       "a window of %u", sender(0)->window.cwnd);
	lose_feedback = 1;
	pass_time(MS / 2, 1);
	lose_feedback = 0;
	pass_time(5 * MS, 1);
	expect(hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS] - timeouts == 1, "timeouts");
	expect(hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED] == ignored, "%llu ignored",
	       hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED] - ignored);
	expect(sender(0)->agreed && sender(0)->window.cwnd > DCQCN_CCC_SLACK, "window %u",
	       sender(0)->window.cwnd);
	tear_down();
}

/* With nothing in flight a flow does not wait behind one that has nothing to send */
static void test_in_line(void)
{
	struct dcqcn_qp *idle = &hosts[0].qps[1], *qp = &hosts[0].qps[0];
	struct in6_addr local;

	set_up(DCQCN_CCC_NSCC, 0);
	hosts[0].left = 1;
	pass_time(3 * RTT, 1);
	expect(sender(0)->agreed && !dcqcn_ccc_flight(sender(0)), "%u in flight",
	       dcqcn_ccc_flight(sender(0)));
	set_up_qp(&hosts[0], idle, 150, RECEIVER);
	host_address(&local, 0);
	spin_lock_bh(&idle->lock);
	expect(dcqcn_ccc_join(idle, &local, &idle->peer, 0) == qp->ccc, "not the same context");
	list_add_tail(&idle->wait_node, &sender(0)->waiting);
	spin_unlock_bh(&idle->lock);
	spin_lock_bh(&qp->lock);
	expect(!dcqcn_ccc_may_send(qp, true, fuzz_now), "it waits");
	spin_unlock_bh(&qp->lock);
	spin_lock_bh(&idle->lock);
	dcqcn_ccc_leave(idle);
	spin_unlock_bh(&idle->lock);
	tear_down();
}

/* A dump sees each context once, whatever is added and freed meanwhile; here all of them
 * are in one chain
 */
static void test_dump(void)
{
	struct dcqcn_dev *dev = &hosts[RECEIVER].dev;
	struct dcqcn_ccc *ccc[5], *found;
	struct dcqcn_ccc_view view;
	unsigned int i, seen = 0;
	u32 chain = 0;
	u64 at = 0;

	set_up(3, 0);
	for (i = 0; i < 5; i++) {
		ccc[i] = calloc(1, sizeof(**ccc));
		ccc[i]->dev = dev;
		ccc[i]->id = ++dev->contexts.last_id;
		ccc[i]->prio = i;
		if (i < 4)
			hlist_add_head_rcu(&ccc[i]->node, &dev->contexts.chains[17]);
	}
	for (; (found = dcqcn_ccc_next(dev, &chain, &at)); at++) {
		dcqcn_ccc_look(found, &view);
		expect(chain == 17 && view.prio == 3 - seen, "context %u after %u", view.prio,
		       seen);
		seen++;
		/* the one found is freed, and another one added */
		if (seen == 2) {
			ccc[3]->node.next = ccc[1]->node.next == &ccc[0]->node ?
					    &ccc[1]->node : NULL;
			hlist_add_head_rcu(&ccc[4]->node, &dev->contexts.chains[17]);
		}
	}
	expect(seen == 4, "%u contexts", seen);
	dev->contexts.chains[17].first = NULL;
	for (i = 0; i < 5; i++)
		free(ccc[i]);
	tear_down();
}

static void test_look(void)
{
	struct dcqcn_ccc_view view;

	set_up(3, 0);
	hosts[0].left = 1000000;
	pass_time(MS, 1);
	dcqcn_ccc_look(hosts[0].qps[0].ccc, &view);
	expect(view.agreed == 3 && view.qps == 1 && view.base == RTT && view.target == RTT &&
	       view.line == MBPS * 1000000ULL && view.bdp == 150000 && view.max_window == 225000,
	       "agreed %u, base %u, line %llu, BDP %u, MaxWnd %u", view.agreed, view.base,
	       view.line, view.bdp, view.max_window);
	/* the packet that fills the window may be in it in part only */
	expect(view.rtt >= RTT && view.rtt < 3 * RTT && view.flight &&
	       view.flight < view.window + FRAME &&
	       view.window <= view.max_window, "rtt %u, %u of %u in flight", view.rtt,
	       view.flight, view.window);
	dcqcn_ccc_look(hosts[RECEIVER].qps[0].ccc, &view);
	expect(!view.agreed && view.received > 1000000 && view.granted > 0, "received %u, granted %d",
	       view.received, view.granted);
	tear_down();
}

static void test_stock_peer(void)
{
	set_up(3, 65536);
	hosts[RECEIVER].off = true;
	hosts[0].left = 100000;
	pass_time(40 * MS, 1);
	expect(!told && !sender(0)->agreed, "told %llu, agreed", told);
	tear_down();
}

/* Packets that a switch sends to all hosts, while it does not know where the receiver is */
static void test_overheard(void)
{
	set_up(3, 65536);
	overheard = true;
	hosts[0].left = 1000;
	pass_time(5 * MS, 1);
	expect(!told && !sender(0)->agreed && !hosts[RECEIVER].dev.contexts.num, "told %llu", told);
	tear_down();
}

/* 10^6 packets to a peer without the module, or to hardware: what differs from rxe's packet is
 * outside of the ICRC, and the opcode is rxe's
 */
static void test_valid_for_stock(void)
{
	size_t at = IP4_LEN + UDP_LEN + 4;	/* FECN, BECN and six reserved bits */
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	unsigned int n, offers = 0;
	u8 was[256];

	set_up(3, 65536);
	for (n = 0; n < 1000000; n++) {
		struct sk_buff *skb;
		u8 bits;

		frame = random_in(ETH_HLEN + IP4_LEN + UDP_LEN + BTH_LEN + ICRC_LEN, sizeof(was));
		skb = packet(0, n & 0xffffff, 0, false);
		memcpy(was, skb->data, skb->len);
		fuzz_now += random_below(20 * US);
		dcqcn_ccc_output(qp, &hosts[0].settings, skb, 0);
		bits = skb->data[at] ^ was[at];
		offers += !!bits;
		was[at] ^= bits;
		if (!expect(!memcmp(was, skb->data, skb->len) &&
			    !(bits & ~uncovered_bits(skb->data, IP4_LEN, at)),
			    "packet %u: bits %#x changed", n, bits)) {
			free_packet(skb);
			break;
		}
		free_packet(skb);
	}
	tap_note("%u of %u packets tell the peer", offers, n);
	expect(offers >= 10 && offers <= 100, "%u offers", offers);
	expect(!told && !sender(0)->agreed, "told %llu", told);
	tear_down();
}

/* 1024 packets, 4 of them in flight, take 256 round trips */
static void test_window(void)
{
	u64 begin;

	set_up(DCQCN_CCC_NSCC, 4 * 1082);
	frame = 1082;	/* MTU 1024 */
	/* 1.5 BDP are 4 packets */
	hosts[0].settings.ccc.base_rtt = 1;
	hosts[0].dev.speed = 23083;
	hosts[0].left = 1;
	pass_time(2 * RTT, 1);
	hosts[0].left = 1024;
	for (begin = fuzz_now; delivered[0] < 1025 * frame && fuzz_now - begin < 100 * MS;)
		pass_time(100, 1);
	expect(most_in_flight == 4 * frame, "%u bytes in flight", most_in_flight);
	tap_note("%.1f round trips", (fuzz_now - begin) / (double)RTT);
	expect(fuzz_now - begin > 256 * RTT && fuzz_now - begin < 256 * RTT * 11 / 10,
	       "took %llu ns", fuzz_now - begin);
	expect(!hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "timeouts");
	tear_down();
}

/* An answer for each 9,800 bytes, about 100 times its own, or for each window that is smaller
 * than that; marks or not
 */
static void test_few_answers(void)
{
	unsigned int window, least;

	for (window = 1; window <= 12; window++) {
		set_up(DCQCN_CCC_NSCC, window * FRAME);
		hosts[0].settings.ccc.base_rtt = 1;	/* 1.5 BDP are the window */
		hosts[0].dev.speed = window * FRAME * 8000 / 1500 + 1;
		mark_all = window % 2;
		hosts[0].left = 1;
		pass_time(2 * RTT, 1);
		told = 0;
		hosts[0].left = 1200;
		pass_time(1200 * 4 * RTT / window, 1);
		expect(delivered[0] == 1201 * FRAME, "%llu packets", delivered[0] / FRAME);
		least = min(window, 9800 / FRAME + 1U);
		expect(told <= 1200 / least + 1, "%llu answers with a window of %u packets", told,
		       window);
		expect(told >= 1200 / (max(window, 4U) + 1), "only %llu answers with %u", told, window);
		tear_down();
	}
}

/* All begin at once, with a window alone: it loses nothing while it grows */
static void test_all_at_once(void)
{
	static const struct { unsigned int n, mbps; } cases[] = {
		{ 8, 40000 }, { 32, 40000 }, { 64, 40000 }, { 128, 40000 },
		{ 8, 100000 }, { 32, 100000 }, { 64, 100000 },
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int n = cases[i].n;
		u64 sum = 0, ideal;

		set_up(DCQCN_CCC_NSCC, 0);
		mbps = cases[i].mbps;
		burst = 0;	/* and nothing before the peers agree */
		pace = 20 * MS;
		for (k = 0; k <= SENDERS; k++)
			hosts[k].dev.speed = mbps;
		for (k = 0; k < n; k++)
			hosts[k].left = 100000;
		pass_time(3 * MS, n);
		for (k = 0; k < n; k++) {
			sum += delivered[k];
			expect(sender(k)->agreed, "%u:1, %u Mb/s: sender %u is alone", n, mbps, k);
			expect(!hosts[k].counters.value[DCQCN_RP_WINDOW_TIMEOUTS],
			       "%u:1, %u Mb/s: timeouts of sender %u", n, mbps, k);
		}
		ideal = 3 * MS * mbps / 8000;
		tap_note("%u:1 at %u Mb/s: %.3f of the link, %u lost", n, mbps,
			 sum / (double)ideal, dropped);
		expect(!dropped, "%u packets dropped", dropped);
		expect(sum > ideal / 100 * 97, "%llu bytes of %llu", sum, ideal);
		tear_down();
	}
}

static void test_incast(u32 algorithms, unsigned int feedback_loss, unsigned int packet_loss)
{
	double sum = 0, squares = 0;
	u64 before[USUAL], said;
	unsigned int i;

	set_up(algorithms, 0);
	lose_feedback = feedback_loss;
	lose_packets = packet_loss;
	for (i = 0; i < USUAL; i++)
		hosts[i].left = 1000000;
	pass_time(10 * MS, USUAL);
	memcpy(before, delivered, sizeof(before));
	said = told;
	pass_time(10 * MS, USUAL);
	for (i = 0; i < USUAL; i++) {
		double share = (delivered[i] - before[i]) * 8e3 / 10e6 / MBPS;

		expect(sender(i)->agreed, "sender %u lost its peer", i);
		sum += share;
		squares += share * share;
	}
	tap_note("%.4f of the link, Jain %.4f, %u lost, %.2f %% feedback", sum,
		 sum * sum / USUAL / squares, dropped, (told - said) * 98e2 / (sum * 10e6 * MBPS / 8e3));
	expect(sum > (packet_loss || feedback_loss ? 0.85 : 0.95), "%.4f of the link", sum);
	expect(sum * sum / USUAL / squares > 0.98, "Jain %.4f", sum * sum / USUAL / squares);
	if (algorithms & DCQCN_CCC_RCCC && !packet_loss)
		expect(!dropped, "%u packets dropped", dropped);
	if (algorithms == DCQCN_CCC_RCCC && !feedback_loss && !packet_loss)
		expect(sum < 0.992, "more than credit allows: %.4f", sum);
	/* credit comes in 16 KB, and what a window of more than that wants to know with it */
	expect((told - said) * 98 < (algorithms & DCQCN_CCC_RCCC && !feedback_loss ? 0.0065 : 0.01) *
				    sum * 10e6 * MBPS / 8e3, "too much feedback");
	tear_down();
}

/* rxe shows 64 packets, and more when 16 of them are left: one sender fills the link all the same */
static void test_one_sender(void)
{
	u32 algorithms;
	u64 before;

	for (algorithms = 2; algorithms <= 3; algorithms++) {
		set_up(algorithms, 0);
		rxe_shows = true;
		hosts[0].left = 1000000;
		pass_time(10 * MS, 1);
		before = delivered[0];
		pass_time(10 * MS, 1);
		tap_note("algorithms %u: %.4f of the link", algorithms,
			 (delivered[0] - before) * 8e3 / 10e6 / MBPS);
		expect(delivered[0] - before > 0.985 * 10e6 * MBPS / 8e3, "algorithms %u: %.4f of the link",
		       algorithms, (delivered[0] - before) * 8e3 / 10e6 / MBPS);
		expect(!dropped, "%u packets dropped", dropped);
		tear_down();
	}
}

/* Packets without a context use @share of the link. Return what senders with credit get. */
static double beside(double share)
{
	u64 before = 0, after = 0;
	unsigned int i;

	set_up(DCQCN_CCC_RCCC, 0);
	others = FRAME * 8000ULL / MBPS / share;
	for (i = 0; i < USUAL; i++)
		hosts[i].left = 1000000;
	pass_time(10 * MS, USUAL);
	for (i = 0; i < USUAL; i++)
		before += delivered[i];
	dropped = 0;
	pass_time(10 * MS, USUAL);
	for (i = 0; i < USUAL; i++)
		after += delivered[i];
	tear_down();
	return (after - before) * 8e3 / 10e6 / MBPS;
}

/* Credit leaves room for what needs none, up to a half of the link */
static void test_beside(void)
{
	double left = beside(0.3);

	expect(left > 0.68 && left < 0.695, "%.3f beside 0.3", left);
	expect(!dropped, "%u dropped", dropped);
	left = beside(0.48);
	expect(left > 0.50 && left < 0.515, "%.3f beside 0.48", left);
	expect(!dropped, "%u dropped", dropped);
}

/* 2 MB from each: the last of them is there within 5 % of what Ultra Ethernet's own model
 * takes for the same, and nothing is lost
 */
static void test_completion(u32 algorithms, unsigned int n, u64 expected)
{
	u64 begin, most;
	unsigned int i;

	set_up(algorithms, 0);
	for (i = 0; i < n; i++)
		hosts[i].left = 489;	/* of 4096 bytes */
	begin = fuzz_now;
	most = begin + expected * 11 / 10;
	do {
		pass_time(US, n);
		for (i = 0; i < n && delivered[i] == 489 * FRAME; i++)
			;
	} while (i < n && fuzz_now < most);
	tap_note("%u:1 took %llu us, %u lost", n, (fuzz_now - begin) / US, dropped);
	expect(!dropped, "%u packets dropped", dropped);
	expect(fuzz_now - begin <= expected * 105 / 100, "took %llu ns, not %llu",
	       fuzz_now - begin, expected);
	tear_down();
}

static void test_completion_rccc(void)
{
	test_completion(2, 8, 1315 * US);
	test_completion(2, 32, 5260 * US);
}

static void test_completion_both(void)
{
	test_completion(3, 8, 1323 * US);
	test_completion(3, 32, 5260 * US);
}

/* A packet comes for a QP of the receiver from sender 0 */
static void come(u32 qpn, u32 bits)
{
	struct sk_buff *skb = data_packet(frame, 1, 0, RECEIVER + 1, qpn,
					  DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED | bits, 0, false);
	struct dcqcn_rx rx = rx_of(&hosts[RECEIVER].dev, skb);
	struct dcqcn_headers headers;

	dcqcn_headers_find(&headers, skb->data, skb->len, false);
	if (bits || !dcqcn_ccc_receive_plain(skb, headers))
		dcqcn_ccc_receive(&rx);
	free_packet(skb);
}

/* On two CPUs, a packet that asks for credit may pass one of another QP that left before and does
 * not ask. What it asks for is granted all the same, and no more.
 */
static void test_overtaken_by_ask(void)
{
	struct dcqcn_ccc_receiver *rx;
	s32 ahead;

	set_up(DCQCN_CCC_RCCC, 0);
	set_up_qp(&hosts[RECEIVER], &hosts[RECEIVER].qps[1], 201, 0);
	hosts[0].left = 1;
	pass_time(2 * RTT, 1);
	come(201, dcqcn_bth_more(2));
	expect(hosts[RECEIVER].qps[0].ccc == hosts[RECEIVER].qps[1].ccc, "two contexts");
	rx = &hosts[RECEIVER].qps[0].ccc->rx;
	come(200, 0);
	expect(rx->source.backlog == 2 * DCQCN_RCCC_QUANTUM, "asks for %u", rx->source.backlog);
	ahead = rx->source.ahead;
	told = 0;
	pass_time(100 * US, 0);
	expect(rx->source.ahead == ahead + 2 * (s32)DCQCN_RCCC_QUANTUM && told == 2,
	       "granted %d, told %llu", rx->source.ahead - ahead, told);
	expect(list_empty(&hosts[RECEIVER].dev.credit.sources), "it asks for ever");
	pass_time(MS, 0);
	expect(told == 2, "told %llu", told);

	/* what is taken back may come before it is asked for, or after it was granted */
	come(201, dcqcn_bth_more(4));
	come(200, dcqcn_bth_more(1) | DCQCN_BTH_LAST);
	expect(rx->source.backlog == 3 * DCQCN_RCCC_QUANTUM, "asks for %u", rx->source.backlog);
	come(201, dcqcn_bth_more(4) | DCQCN_BTH_LAST);
	expect(!rx->source.backlog, "asks for %u", rx->source.backlog);
	/* a flow that waits for an answer asks for credit, too */
	come(201, dcqcn_bth_more(4) | DCQCN_BTH_LAST | DCQCN_BTH_REQUEST);
	expect(rx->source.backlog == 4 * DCQCN_RCCC_QUANTUM, "asks for %u", rx->source.backlog);
	tear_down();
}

/* The answer to a request waits for a grant, unless another QP's request may take its place. If that
 * is on a slow path, it has left before, and its answer does not tell that the other one is lost.
 */
static void test_several_ask(void)
{
	struct dcqcn_qp *second = &hosts[RECEIVER].qps[1];
	struct dcqcn_ccc_receiver *rx;
	int i;

	set_up(3, 0);
	set_up_qp(&hosts[RECEIVER], second, 201, 0);
	hosts[0].left = 1;
	pass_time(2 * RTT, 1);
	come(200, dcqcn_bth_more(4));
	rx = &hosts[RECEIVER].qps[0].ccc->rx;
	expect(!list_empty(&rx->grant_node), "no turn");
	rx->source.ahead = 0;
	told = 0;
	for (i = 0; i < 2; i++)
		come(200, DCQCN_BTH_REQUEST);
	expect(!told && rx->echo_waits, "told %llu of one path", told);
	for (i = 0; i < 4; i++) {
		come(201 - i % 2, DCQCN_BTH_REQUEST);
		expect(told == i + 1ULL && !rx->has_echo, "told %llu of %d", told, i + 1);
	}
	spin_lock_bh(&second->lock);
	dcqcn_ccc_leave(second);
	spin_unlock_bh(&second->lock);
	come(200, DCQCN_BTH_REQUEST);
	expect(told == 4 && rx->echo_waits, "told %llu, and one path is left", told);
	tear_down();
}

/* Who has sent all does not ask for more credit: the receiver falls silent */
static void test_silence(void)
{
	unsigned int i;
	u64 said;

	set_up(DCQCN_CCC_RCCC, 0);
	for (i = 0; i < USUAL; i++)
		hosts[i].left = 400 + i;
	pass_time(3 * MS, USUAL);
	for (i = 0; i < USUAL; i++)
		expect(delivered[i] == (400 + i) * FRAME, "sender %u is not done", i);
	said = told;
	pass_time(MS, USUAL);
	expect(told == said, "%llu packets of feedback for nothing", told - said);
	tear_down();
}

/* A message of @packets, and then a pause, 20 times. Return the longest that one took, in ns. */
static u64 longest_message(u32 algorithms, u32 packets, u64 pause)
{
	u64 begin, before, longest = 0;
	int i;

	set_up(algorithms, 0);
	at_line_rate = true;
	hosts[0].left = 1000;
	pass_time(MS, 1);
	for (i = 0; i < 20; i++) {
		pass_time(pause, 1);
		begin = fuzz_now;
		before = delivered[0];
		hosts[0].left = packets;
		while (delivered[0] - before < packets * frame && fuzz_now - begin < 100 * MS)
			pass_time(US, 1);
		longest = max(longest, fuzz_now - begin);
	}
	tear_down();
	return longest;
}

/* After a pause, the receiver has taken back what it granted before. A sender that used it for a
 * short message would have less than nothing for the next one.
 */
static void test_pauses(void)
{
	static const u32 packets[] = { 3, 30, 40 };
	u32 algorithms;
	unsigned int i;
	u64 longest;

	for (algorithms = 2; algorithms <= 3; algorithms++) {
		for (i = 0; i < ARRAY_SIZE(packets); i++) {
			longest = longest_message(algorithms, packets[i], 10 * MS);
			expect(longest < MS, "algorithms %u: %u packets took %llu us", algorithms,
			       packets[i], longest / US);
		}
	}
}

/* The last packet of a message uses up the credit while an answer to an earlier one is on its way:
 * the sender has to ask, or nothing would tell it that it has what it began with
 */
static void test_rounds(void)
{
	const unsigned int n = 64, packets = 16;
	unsigned int i, round, most = 0;
	u64 begin;

	set_up(DCQCN_CCC_NSCC | DCQCN_CCC_RCCC, 0);
	at_line_rate = true;
	for (round = 1; round <= 10; round++) {
		for (i = 0; i < n; i++)
			hosts[i].left = packets;
		begin = fuzz_now;
		do {
			pass_time(US, n);
			for (i = 0; i < n && delivered[i] == round * packets * frame; i++)
				;
		} while (i < n && fuzz_now - begin < 30 * MS);
		most = max(most, (unsigned int)((fuzz_now - begin) / US));
		pass_time(100 * US, n);
	}
	expect(!dropped, "%u packets dropped", dropped);
	tap_note("%u senders took up to %u us", n, most);
	expect(most < 1000, "%u senders took up to %u us", n, most);
	tear_down();
}

/* What all sources may still send without a new grant */
static s64 all_ahead(unsigned int n)
{
	s64 sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += hosts[RECEIVER].qps[i].ccc ? hosts[RECEIVER].qps[i].ccc->rx.source.ahead : 0;
	return sum;
}

/* A round of an incast each 3 ms: what a message leaves of its credit is less than a grant, however
 * many rounds there were
 */
static void test_left_over(unsigned int n, u32 packets, bool one)
{
	unsigned int i, round;
	s64 most = 0;

	set_up(DCQCN_CCC_RCCC, 0);
	one_packet = one;
	mbps = 40000;
	for (i = 0; i <= SENDERS; i++)
		hosts[i].dev.speed = mbps;
	at_line_rate = true;
	for (round = 1; round <= 10; round++) {
		for (i = 0; i < n; i++)
			hosts[i].left = packets;
		pass_time(3 * MS, n);
		for (i = 0; i < n; i++)
			expect(delivered[i] == round * packets * frame, "round %u: sender %u has sent %llu",
			       round, i, delivered[i]);
		most = max(most, all_ahead(n));
	}
	tap_note("%u senders of %u packets leave up to %lld bytes", n, packets, most);
	expect(most <= (s64)n * (DCQCN_RCCC_QUANTUM + FRAME), "%lld bytes are left", most);
	expect(!dropped, "%u packets dropped", dropped);
	tear_down();
}

static void test_left_over_all(void)
{
	test_left_over(8, 60, false);
	test_left_over(8, 200, false);
	test_left_over(32, 16, false);
	/* a burst of messages of one packet says nothing about what follows it */
	test_left_over(8, 4, true);
	test_left_over(8, 60, true);
	test_left_over(32, 16, true);
}

/* A message of one packet in each @gap, as each step of a ring sends one, after 100 that come ever
 * faster. None waits. The last one leaves no more than two grants, and asks for none.
 */
static void test_stream(u64 gap, u32 algorithms)
{
	unsigned int i, waits = 0;

	set_up(algorithms, 0);
	one_packet = true;
	for (i = 0; i < 500; i++) {
		hosts[0].left++;
		pass_time(max(gap, RTT - min(i, 100U) * RTT / 100), 1);
		waits += i >= 100 && hosts[0].left;
	}
	pass_time(MS, 1);
	expect(!waits, "one each %llu ns: %u of 400 waited", gap, waits);
	expect(all_ahead(1) <= 2 * DCQCN_RCCC_QUANTUM, "one each %llu ns: %lld bytes are left", gap,
	       all_ahead(1));
	expect(!hosts[RECEIVER].qps[0].ccc->rx.source.backlog, "it asks for ever");
	/* more may not come */
	sender(0)->lone_before = 10 * DCQCN_RCCC_QUANTUM;
	expect(dcqcn_ccc_needs(sender(0), 0, false, true) == DCQCN_RCCC_QUANTUM, "it needs %u",
	       dcqcn_ccc_needs(sender(0), 0, false, true));
	tear_down();
}

static void test_streams(void)
{
	unsigned int gap, i;
	u32 algorithms;

	for (algorithms = 2; algorithms <= 3; algorithms++) {
		for (gap = 1; gap <= 4; gap *= 2)
			test_stream(RTT / gap, algorithms);
	}
	/* after a pause, nothing is expected to follow */
	set_up(DCQCN_CCC_RCCC, 0);
	one_packet = true;
	for (i = 0; i < 100; i++) {
		hosts[0].left = 1;
		pass_time(3 * MS, 1);
		expect(all_ahead(1) <= DCQCN_RCCC_QUANTUM, "%lld bytes are left", all_ahead(1));
	}
	tear_down();
}

/* The last packets of all messages are lost: the port does not grant to silent senders what they
 * asked for long ago
 */
static void test_lost_end(void)
{
	unsigned int i, n = 8;

	set_up(DCQCN_CCC_RCCC, 0);
	at_line_rate = true;
	for (i = 0; i < n; i++)
		hosts[i].left = 60;
	for (i = 0; i < n; ) {
		pass_time(US, n);
		for (i = 0; i < n && hosts[i].left <= 20; i++)
			;
	}
	lose_packets = 1;
	pass_time(30 * MS, n);
	tap_note("%lld bytes may come at once", all_ahead(n));
	expect(all_ahead(n) <= (s64)n * 60 * FRAME, "%lld bytes may come at once", all_ahead(n));
	tear_down();
}

/* The ports think that the link has @told Mb/s. Return the share of the link that is used. */
static double wrong_line(u32 told_mbps, u32 base_rtt, unsigned int n)
{
	u64 before = 0, after = 0;
	unsigned int i;

	set_up(DCQCN_CCC_RCCC, 0);
	mbps = 10000;
	burst = 0;	/* and nothing before the peers agree */
	pace = 20 * MS;
	for (i = 0; i <= SENDERS; i++) {
		hosts[i].dev.speed = told_mbps;
		hosts[i].settings.ccc.base_rtt = base_rtt;
	}
	for (i = 0; i < n; i++)
		hosts[i].left = 1000000;
	pass_time(10 * MS, n);
	for (i = 0; i < n; i++)
		before += delivered[i];
	pass_time(10 * MS, n);
	for (i = 0; i < n; i++)
		after += delivered[i];
	expect(!dropped, "%u senders, told %u Mb/s: %u packets dropped", n, told_mbps, dropped);
	/* turns that bring nothing cost the port nothing of what it may say */
	expect(!hosts[RECEIVER].counters.value[DCQCN_NP_FEEDBACK_ERRORS], "%u senders: %lu refused, %llu told", n,
	       hosts[RECEIVER].counters.value[DCQCN_NP_FEEDBACK_ERRORS], told);
	tear_down();
	return (after - before) * 8e3 / 10e6 / mbps;
}

/* Where a port's speed is said to be four times that of the path, credit comes as packets arrive */
static void test_wrong_line(void)
{
	static const unsigned int senders[] = { 1, 8, 32 };
	unsigned int i, rtt;
	double used;

	for (i = 0; i < ARRAY_SIZE(senders); i++) {
		for (rtt = 0; rtt <= 12; rtt += 12) {
			used = wrong_line(40000, rtt, senders[i]);
			tap_note("%u senders, round trip of %u us: %.3f", senders[i], rtt, used);
			expect(used > 0.98, "%u senders use %.3f of the link", senders[i], used);
		}
	}
}

/* A stream loses packets that ask for credit. Its share of the link afterwards is at least @share of
 * what it was: it does not wait for this credit for ever, although it always has a packet in flight
 * that asks.
 */
static void test_lost_asks_of(u32 algorithms, double share)
{
	u64 before, after;
	unsigned int i;

	set_up(algorithms, 0);
	round_trip = 100 * US;
	for (i = 0; i <= SENDERS; i++)
		hosts[i].settings.ccc.base_rtt = 0;
	at_line_rate = true;
	rxe_shows = true;
	hosts[0].left = 10000000;
	pass_time(30 * MS, 1);
	before = delivered[0];
	pass_time(10 * MS, 1);
	before = delivered[0] - before;
	lose_packets = 300;
	pass_time(40 * MS, 1);
	lose_packets = 0;
	pass_time(30 * MS, 1);
	after = delivered[0];
	pass_time(10 * MS, 1);
	after = delivered[0] - after;
	tap_note("algorithms %u: %.3f of the link, %.3f after %u losses", algorithms,
		 before * 8 / 10e3 / mbps, after * 8 / 10e3 / mbps, dropped);
	expect(after >= share * before, "%llu bytes, and %llu before the losses", after, before);
	tear_down();
}

static void test_lost_asks(void)
{
	struct dcqcn_feedback said = { .flags = DCQCN_FEEDBACK_OWED };
	struct dcqcn_ccc_sender tx = {};
	unsigned int i;

	test_lost_asks_of(3, 0.95);
	/* losses are not noticed while more than 512 KB are in flight */
	test_lost_asks_of(2, 0.4);

	/* the peer has owed some for 3 GB; then what the last packets asked for is still to come */
	for (i = 0; i <= 3; i++) {
		tx.acked = i << 30;
		tx.asked_at = tx.acked + 1;
		tx.asked = tx.acked + 100000;
		tx.asked_since = 40000;
		said.flags = i < 3 ? DCQCN_FEEDBACK_OWED : 0;
		dcqcn_ccc_granted(&tx, &said, fuzz_now);
		expect(dcqcn_ccc_asked(&tx) == (i < 3 ? 100000 : 40000), "%u: asked for %u", i,
		       dcqcn_ccc_asked(&tx));
	}
	/* and these have arrived, too */
	tx.acked++;
	dcqcn_ccc_granted(&tx, &said, fuzz_now);
	expect(!dcqcn_ccc_asked(&tx), "asked for %u", dcqcn_ccc_asked(&tx));
}

/* One sender on a path whose round trip the receiver has to measure. Return the receiver's half. */
static struct dcqcn_ccc_receiver *measured(u32 algorithms)
{
	unsigned int i;

	set_up(algorithms, 0);
	for (i = 0; i <= SENDERS; i++)
		hosts[i].settings.ccc.base_rtt = 0;
	at_line_rate = true;
	rxe_shows = true;
	hosts[0].left = 1000000;
	pass_time(5 * MS, 1);
	return &hosts[RECEIVER].qps[0].ccc->rx;
}

/* What was in flight while the receiver's host stalled, or what was granted before a pause and used
 * after it, arrives sooner than a round trip after the next grant. Neither shortens the round trip that
 * the receiver knows, which would bound the sender's credit for ever.
 */
static void test_false_round_trips(void)
{
	static const u64 stalls[] = { 8100 * US, 25 * MS };
	struct dcqcn_ccc_receiver *rx;
	u32 algorithms, rtt;
	unsigned int i;

	for (algorithms = 2; algorithms <= 3; algorithms++) {
		rx = measured(algorithms);
		rtt = rx->rtt;
		expect(rtt >= RTT && rtt < RTT + 2 * US, "round trip %u", rtt);
		for (i = 0; i < ARRAY_SIZE(stalls); i++) {
			stalled = fuzz_now + stalls[i];
			pass_time(stalls[i] + 2 * MS, 1);
			stalled = 0;
			expect(rx->rtt == rtt, "round trip %u after a stall of %llu us", rx->rtt,
			       stalls[i] / US);
		}
		for (i = 0; i < 6; i++) {
			hosts[0].left = 64;
			pass_time(100 * US, 1);
			pass_time((7900 + 3 * i) * US, 1);
			expect(rx->rtt == rtt, "round trip %u after a pause", rx->rtt);
		}
		tear_down();
	}
}

/* A queue without marks does not lengthen it, as that would add to the queue. But after a second without
 * packets, the path may be another one.
 */
static void test_round_trips_age(void)
{
	struct dcqcn_ccc_receiver *rx = measured(DCQCN_CCC_RCCC);
	u32 rtt = rx->rtt;

	rx->rtt_time = fuzz_now - 10 * RTT;
	rx->rtt_received = rx->received;
	rx->rtt_marked = rx->marked;
	dcqcn_ccc_time_grant(rx, fuzz_now);
	expect(rx->rtt == rtt, "round trip %u, behind a queue %u", rtt, rx->rtt);
	hosts[0].left = 0;
	pass_time(10 * MS, 1);
	/* a shorter pause does not keep it from being measured again */
	rx->rtt = 0;
	hosts[0].left = 500;
	pass_time(10 * MS, 1);
	expect(!hosts[0].left && rx->rtt >= RTT && rx->rtt < RTT + 2 * US,
	       "round trip %u after a pause", rx->rtt);
	rx->rtt = 600;
	fuzz_now += NSEC_PER_SEC;
	hosts[0].left = 100;
	pass_time(MS, 1);
	expect(rx->rtt >= RTT && rx->rtt < RTT + 2 * US, "round trip %u after a second", rx->rtt);
	tear_down();
}

/* The receiver also measures the round trip of a stream that follows a short message and a pause, or
 * that begins with credit of its own
 */
static void test_late_streams(void)
{
	static const struct { u32 initial_window; u64 first; } cases[] = {
		{ 0, 1 }, { 0, 8 }, { 60000, 1 }, { 60000, 64 }, { 60000, 100000 },
	};
	struct dcqcn_ccc_receiver *rx;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		set_up(DCQCN_CCC_RCCC, cases[i].initial_window);
		hosts[0].settings.ccc.base_rtt = 0;
		hosts[RECEIVER].settings.ccc.base_rtt = 0;
		at_line_rate = true;
		hosts[0].left = cases[i].first;
		pass_time(13 * MS, 1);
		hosts[0].left = 100000;
		pass_time(10 * MS, 1);
		rx = &hosts[RECEIVER].qps[0].ccc->rx;
		expect(rx->rtt >= RTT && rx->rtt < RTT + 2 * US, "%u: round trip %u", i, rx->rtt);
		tear_down();
	}
}

/* The receiver measures the round trip within a few rounds of one message and a pause, whatever the
 * size of the messages
 */
static void test_rounds_of_one_size(void)
{
	const struct dcqcn_ccc_receiver *rx;
	unsigned int size, round, most = 0;

	for (size = 32; size <= 256; size += 16) {
		set_up(DCQCN_CCC_RCCC, 0);
		round_trip = 100 * US;
		hosts[0].settings.ccc.base_rtt = 0;
		hosts[RECEIVER].settings.ccc.base_rtt = 0;
		at_line_rate = true;
		rxe_shows = true;
		hosts[0].left = 1;
		pass_time(MS, 1);
		rx = &hosts[RECEIVER].qps[0].ccc->rx;
		for (round = 0; round < 100 && !rx->rtt; round++) {
			fuzz_now += 10 * MS;
			hosts[0].left = size;
			pass_time(2 * MS, 1);
		}
		expect(rx->rtt >= RTT && rx->rtt < RTT + 2 * US, "%u packets: round trip %u", size,
		       rx->rtt);
		most = max(most, round);
		tear_down();
	}
	tap_note("measured after %u rounds at the latest", most);
}

/* How long a sender of a port of @mb Mb/s may be silent at most, as both ends see it, in ns */
static void test_pause_at(u32 mb, u64 most)
{
	struct dcqcn_ccc_receiver *rx;
	struct dcqcn_ccc_sender *tx;
	u32 bits = DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED;
	int longer;

	for (longer = 0; longer < 2; longer++) {
		set_up(DCQCN_CCC_RCCC, 0);
		hosts[RECEIVER].dev.speed = mb;
		hosts[0].left = 1;
		pass_time(MS, 1);
		rx = &hosts[RECEIVER].qps[0].ccc->rx;
		tx = sender(0);
		expect(tx->agreed && tx->mbps == mb, "the peer's line is %u", tx->mbps);
		rx->source.ahead = 100000;
		rx->source.backlog = 2 * DCQCN_RCCC_QUANTUM;
		tx->sent_time = tx->heard_time = rx->time = fuzz_now;
		fuzz_now += most + longer;
		expect(dcqcn_ccc_has_paused(tx, fuzz_now) == longer, "%u Mb/s: the sender, %d", mb, longer);
		arrive(0, 5, bits, false);
		expect(rx->source.ahead == (longer ? 1 : 100000 - (s32)frame), "%u Mb/s: ahead %d", mb,
		       rx->source.ahead);
		rx->source.ahead = 1;
		rx->source.backlog = 2 * DCQCN_RCCC_QUANTUM;
		rx->time = fuzz_now - most - longer;
		dcqcn_ccc_grant(hosts[RECEIVER].qps[0].ccc);
		dcqcn_ccc_turn(hosts[RECEIVER].qps[0].ccc, &hosts[RECEIVER].settings,
			       &(struct dcqcn_feedback){});
		expect(longer ? !rx->source.backlog : rx->source.backlog, "%u Mb/s: asks for %u", mb, rx->source.backlog);
		tear_down();
	}
}

/* A line that takes 8 ms for a packet does not make each packet follow a pause. Fast lines have 8 ms. */
static void test_slow_line(void)
{
	test_pause_at(1, 134400 * US);
	test_pause_at(4, 33600 * US);
	test_pause_at(17, 8 * MS);
	test_pause_at(MBPS, 8 * MS);
}

#undef HZ
#define HZ	100

/* The time of a packet that skips locks may be that of another one, a jiffy earlier */
static void test_slow_ticks(void)
{
	expect(DCQCN_CCC_SILENT == 20 * MS, "%llu ns", DCQCN_CCC_SILENT);
}

/* A turn of all that wait for credit may take longer than the time after which a source counts as
 * silent: six at 50 Mb/s take 16 ms
 */
static void test_long_turn(void)
{
	unsigned int i, n = 6;
	u32 algorithms;

	for (algorithms = 2; algorithms <= 3; algorithms++) {
		u64 before = 0, after = 0, timeouts = 0;

		set_up(algorithms, 0);
		at_line_rate = true;
		mbps = 50;
		burst = 1;
		pace = 2 * MS;
		for (i = 0; i <= SENDERS; i++)
			hosts[i].dev.speed = mbps;
		for (i = 0; i < n; i++)
			hosts[i].left = 1000000;
		pass_time(50 * MS, n);
		for (i = 0; i < n; i++) {
			before += delivered[i];
			timeouts -= hosts[i].counters.value[DCQCN_RP_WINDOW_TIMEOUTS];
		}
		pass_time(400 * MS, n);
		for (i = 0; i < n; i++) {
			after += delivered[i];
			timeouts += hosts[i].counters.value[DCQCN_RP_WINDOW_TIMEOUTS];
		}
		tap_note("algorithms %u: %.3f of the link, %llu timeouts", algorithms,
			 (after - before) * 8 / 400e3 / mbps, timeouts);
		expect((after - before) * 8 / 400e3 > 0.95 * mbps, "%llu bytes", after - before);
		expect(!timeouts, "%llu timeouts", timeouts);
		tear_down();
	}
}

static void test_nscc(void) { test_incast(1, 0, 0); }
static void test_rccc(void) { test_incast(2, 0, 0); }
static void test_both(void) { test_incast(3, 0, 0); }
static void test_lost_feedback(void) { test_incast(3, 4, 0); }
static void test_lost_packets(void) { test_incast(3, 0, 1000); }

/* A peer that is gone: a packet per timeout, three times, and then DCQCN */
static void test_vanished(void)
{
	u64 before;

	set_up(3, 0);
	hosts[0].left = 1000000;
	pass_time(MS, 1);
	expect(sender(0)->agreed, "not agreed");
	hosts[RECEIVER].off = true;
	before = hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS];
	pass_time(70 * MS, 1);
	expect(!sender(0)->agreed, "still waits");
	expect(hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS] - before == 3, "timeouts");
	hosts[RECEIVER].off = false;
	pass_time(30 * MS, 1);
	expect(sender(0)->agreed == 3, "did not agree anew");
	tear_down();
}

/* What a forger says, who knows neither epoch nor probes, changes nothing; whoever knows them
 * cannot acknowledge more than was sent
 */
static void test_forged(void)
{
	struct dcqcn_feedback say = {
		.version = DCQCN_FEEDBACK_VERSION, .algorithms = 1, .flags = DCQCN_FEEDBACK_ECHO,
	};
	struct dcqcn_cnp_spec spec = { .ttl = 64 };
	struct dcqcn_ccc_sender before;
	u64 ignored;
	u8 p[120];
	int i;

	set_up(DCQCN_CCC_NSCC, 65536);
	hosts[0].left = 100;
	pass_time(3 * RTT, 1);
	host_address(&spec.saddr, RECEIVER);
	host_address(&spec.daddr, 0);
	for (i = 0; i < 10000; i++) {
		say.epoch = cpu_to_be32(random_u64() & 0x7fffffff);	/* it is above that */
		/* every other one would do no more than repeat the last one */
		say.received = cpu_to_be32(i % 2 ? sender(0)->received : random_u64());
		say.ahead = cpu_to_be32(random_u64());
		say.echo_qpn = cpu_to_be32(random_below(1 << 24) | 1 << 23);
		before = *sender(0);
		ignored = hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED];
		hear(&hosts[0], p, dcqcn_feedback_build(p, &spec, &say));
		expect(!memcmp(&before, sender(0), sizeof(before)) &&
		       hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED] == ignored + 1,
		       "case %d was believed", i);
	}
	say.epoch = cpu_to_be32(sender(0)->epoch);
	for (i = 0; i < 10000; i++) {
		say.received = cpu_to_be32(sender(0)->received + random_log(1, 1U << 31));
		say.marked = cpu_to_be32(random_u64());
		say.ahead = cpu_to_be32(random_u64());
		say.mbps = cpu_to_be32(random_u64());
		hear(&hosts[0], p, dcqcn_feedback_build(p, &spec, &say));
		expect(dcqcn_ccc_flight(sender(0)) <= 100 * FRAME &&
		       sender(0)->window.cwnd <= 225000, "case %d: %u in flight, window %u", i,
		       dcqcn_ccc_flight(sender(0)), sender(0)->window.cwnd);
	}
	/* and it goes on */
	hosts[0].left = 100000;
	pass_time(70 * MS, 1);
	expect(hosts[0].left < 50000, "%llu packets left", hosts[0].left);
	tear_down();
}

/* Whoever knows the epoch, and says again and again that nothing has arrived and that there is
 * no credit, stops a context for three timeouts, not for ever
 */
static void test_stalled(u32 algorithms)
{
	struct dcqcn_feedback say = {
		.version = DCQCN_FEEDBACK_VERSION, .algorithms = algorithms,
		.ahead = cpu_to_be32(-1000000),
	};
	struct dcqcn_cnp_spec spec = { .ttl = 64 };
	u8 p[120];
	int i;

	set_up(algorithms, 0);
	hosts[0].left = 1000000;
	pass_time(MS, 1);
	expect(sender(0)->agreed, "not agreed");
	hosts[RECEIVER].off = true;
	pass_time(MS / 10, 1);
	host_address(&spec.saddr, RECEIVER);
	host_address(&spec.daddr, 0);
	say.epoch = cpu_to_be32(sender(0)->epoch);
	for (i = 0; i < 70 && sender(0)->agreed; i++) {
		say.received = cpu_to_be32(sender(0)->received);
		hear(&hosts[0], p, dcqcn_feedback_build(p, &spec, &say));
		pass_time(MS, 1);
	}
	expect(!sender(0)->agreed, "algorithms %u: waits after 70 ms", algorithms);
	tear_down();
}

static void test_stalled_all(void)
{
	u32 algorithms;

	for (algorithms = 1; algorithms <= 3; algorithms++)
		test_stalled(algorithms);
}

/* A packet of a sender leaves that its context sees. Return whether others may follow unseen. */
static bool leave_seen(unsigned int from, u32 *bits)
{
	struct host *h = &hosts[from];
	struct sk_buff *skb = packet(from, h->psn, 0, false);
	struct dcqcn_qp *qp = &h->qps[0];
	bool lent;

	spin_lock_bh(&qp->lock);
	expect(!dcqcn_ccc_may_send(qp, true, fuzz_now), "it may not send");
	lent = dcqcn_ccc_sent(qp, skb, h->psn, frame, 0, false, fuzz_now);
	spin_unlock_bh(&qp->lock);
	*bits = be32_to_cpu(dcqcn_ccc_bth(skb)->qpn) & ~DCQCN_QPN_MASK;
	on_the_wire(from, skb, h->psn++);
	free_packet(skb);
	return lent;
}

/* Up to @most packets leave unseen. Return how many did. */
static unsigned int leave_unseen(unsigned int from, unsigned int most)
{
	struct host *h = &hosts[from];
	unsigned int n = 0;
	struct sk_buff *skb;
	bool passes = true;

	while (passes && n < most) {
		skb = packet(from, h->psn, 0, false);
		passes = dcqcn_ccc_passes(h->qps[0].ccc, dcqcn_ccc_bth(skb), frame);
		if (passes) {
			on_the_wire(from, skb, h->psn++);
			n++;
		}
		free_packet(skb);
	}
	return n;
}

/* A window of 1 MB and as much credit: two hosts have agreed, and nothing is in flight */
static void open_window(void)
{
	set_up(DCQCN_CCC_NSCC | DCQCN_CCC_RCCC, 1000000);
	hosts[0].settings.ccc.base_rtt = 100;
	hosts[0].left = 1;
	pass_time(2 * RTT, 1);
	expect(sender(0)->agreed == 3 && !dcqcn_ccc_flight(sender(0)), "not agreed");
}

/* The first packet of each QP asks, although an answer is on its way: the peer may not know the QP */
static void test_introduced(void)
{
	struct host *h = &hosts[0];
	struct dcqcn_qp *qp = &h->qps[1];
	struct dcqcn_ccc *ccc;
	struct sk_buff *skb;
	u32 bits, n;

	open_window();
	ccc = h->qps[0].ccc;
	set_up_qp(h, qp, 300, RECEIVER);
	spin_lock_bh(&qp->lock);
	expect(dcqcn_ccc_join(qp, &ccc->local, &ccc->peer, 0) == ccc, "another context");
	for (n = 0; n < 2; n++) {
		skb = packet(0, n, 0, false);
		dcqcn_ccc_sent(qp, skb, n, frame, 0, true, fuzz_now);
		bits = be32_to_cpu(dcqcn_ccc_bth(skb)->qpn);
		expect(!!(bits & DCQCN_BTH_REQUEST) == !n, "packet %u: bits %08x", n, bits);
		free_packet(skb);
	}
	dcqcn_ccc_leave(qp);
	spin_unlock_bh(&qp->lock);
	tear_down();
}

/* Feedback may report all bytes in flight as arrived or as lost, and differ by 64 KB that were sent
 * before both agreed, but no more
 */
static void test_implausible(void)
{
	static const struct {
		s32 arrived, lost;	/* bytes; 1 << 16 of them are the difference allowed */
		bool in_flight;		/* and those */
		bool believed;
	} cases[] = {
		{ 1 << 16, 0, true, true }, { (1 << 16) + 1, 0, true, false },
		{ 0, 0, false, true }, { -1, 0, false, false },
		{ 0, 1 << 16, true, true }, { 0, (1 << 16) + 1, true, false },
		{ 0, -(1 << 16), false, true }, { 0, -(1 << 16) - 1, false, false },
	};
	struct dcqcn_cnp_spec spec = { .ttl = 64 };
	const struct dcqcn_probe *probe;
	struct dcqcn_feedback say;
	struct dcqcn_ccc_sender *tx;
	u32 bits, flight, i;
	u8 p[120];

	host_address(&spec.saddr, RECEIVER);
	host_address(&spec.daddr, 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		open_window();
		tx = sender(0);
		tx->unasked = dcqcn_ccc_enough(tx);
		leave_seen(0, &bits);
		expect(tx->num_probes == 1, "%u probes", tx->num_probes);
		probe = &tx->probes[0];
		flight = cases[i].in_flight ? dcqcn_ccc_flight(tx) : 0;
		say = (struct dcqcn_feedback) {
			.version = DCQCN_FEEDBACK_VERSION, .algorithms = 3,
			.flags = DCQCN_FEEDBACK_ECHO, .epoch = cpu_to_be32(tx->epoch),
			.received = cpu_to_be32(tx->received + cases[i].arrived +
						(cases[i].lost ? 0 : flight)),
			.echo_qpn = cpu_to_be32(probe->qpn), .echo_psn = cpu_to_be32(probe->psn),
			.echo_received = cpu_to_be32(probe->sent - tx->offset - cases[i].lost -
						     (cases[i].lost ? flight : 0)),
		};
		hear(&hosts[0], p, dcqcn_feedback_build(p, &spec, &say));
		expect(hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED] == !cases[i].believed,
		       "case %u: %d arrived, %d lost", i, cases[i].arrived, cases[i].lost);
		tear_down();
	}
}

/* Credit is overdue after a few of the times that grants have taken, however long nothing was asked
 * for before
 */
static void test_overdue(void)
{
	struct dcqcn_ccc_sender *tx;
	u32 round;

	set_up(DCQCN_CCC_RCCC, 0);
	for (round = 0; round < 5; round++) {
		hosts[0].left = 64;
		pass_time(40 * RTT, 1);
		expect(!hosts[0].left, "round %u: %llu packets wait", round, hosts[0].left);
		tx = sender(0);
		expect(tx->grant_gap && tx->grant_gap < 4 * RTT, "round %u: %u ns", round,
		       tx->grant_gap);
		pass_time(9 * MS, 1);
	}
	tear_down();
}

static void test_unseen(void)
{
	struct dcqcn_ccc_view view;
	u32 before, received, bits;
	unsigned int n;

	open_window();
	sender(0)->unasked = dcqcn_ccc_enough(sender(0));
	leave_seen(0, &bits);
	expect(bits & DCQCN_BTH_REQUEST, "no request");
	pass_time(2 * RTT, 1);
	before = sender(0)->sent;
	received = hosts[RECEIVER].qps[0].ccc->rx.received;

	expect(leave_seen(0, &bits) && !(bits & DCQCN_BTH_REQUEST), "bits %x", bits);
	n = 1 + leave_unseen(0, 100);
	expect(n == dcqcn_ccc_enough(sender(0)) / frame, "%u packets before the next request",
	       n);
	expect(sender(0)->sent == before + frame, "counted already");
	dcqcn_ccc_look(hosts[0].qps[0].ccc, &view);
	expect(view.flight == n * frame, "%u of %u packets in flight", view.flight / frame, n);
	expect(!leave_unseen(0, 1), "a packet passes that was not lent");

	/* feedback for the next one comes while others are not counted yet */
	n++;
	expect(leave_seen(0, &bits) && bits & DCQCN_BTH_REQUEST, "bits %x", bits);
	n += leave_unseen(0, 5);
	pass_time(4 * RTT, 1);
	expect(sender(0)->sent == before + n * frame, "%u of %u packets are counted",
	       (sender(0)->sent - before) / frame, n);
	expect(hosts[RECEIVER].qps[0].ccc->rx.received == received + n * frame,
	       "the receiver counts others");
	expect(leave_unseen(0, 2) == 2, "none goes on after feedback");
	n += 2;
	dcqcn_ccc_look(hosts[0].qps[0].ccc, &view);
	expect(sender(0)->sent == before + n * frame, "they are not counted");
	expect(!leave_seen(0, &bits) || leave_unseen(0, 1), "none may pass");
	expect(!hosts[0].counters.value[DCQCN_RP_FEEDBACK_IGNORED] &&
	       (s32)dcqcn_ccc_flight(sender(0)) >= 0 && sender(0)->offset ==
	       sender(0)->acked - sender(0)->received, "feedback was not believed");
	tear_down();
}

/* What the first packets after a pause find: time to wait for an answer begins with them */
static void test_unseen_pause(void)
{
	u32 bits;

	open_window();
	leave_seen(0, &bits);
	pass_time(2 * RTT, 1);
	leave_seen(0, &bits);
	leave_seen(0, &bits);
	sender(0)->acked = sender(0)->sent;
	sender(0)->heard_time = fuzz_now - 100 * MS;
	expect(leave_unseen(0, 2) == 2, "none may pass");
	leave_seen(0, &bits);
	expect(sender(0)->heard_time == fuzz_now, "heard %llu ns ago",
	       fuzz_now - sender(0)->heard_time);
	expect(!hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "timeouts");
	tear_down();
}

/* Nor does one after a message whose last packets asked for no answer, and so stay in flight */
static void test_end_in_flight(void)
{
	u64 timeouts;
	u32 window;
	int i;

	set_up(DCQCN_CCC_NSCC, 0);
	hosts[0].left = 10000;
	pass_time(10 * MS, 1);
	window = sender(0)->window.cwnd;
	timeouts = hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS];
	expect(!hosts[0].left && window > 100000, "%llu packets left, window %u", hosts[0].left,
	       window);
	for (i = 0; i < 5; i++) {
		hosts[0].left = 100;
		pass_time(5 * MS, 1);
		expect(dcqcn_ccc_flight(sender(0)), "message %d: nothing is in flight", i);
		expect(sender(0)->window.cwnd >= window, "message %d: window %u, before %u", i,
		       sender(0)->window.cwnd, window);
	}
	timeouts = hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS] - timeouts;
	expect(!timeouts, "%llu timeouts", timeouts);
	tear_down();
}

/* Feedback comes to another CPU after this one has read the clock: that was just now, and no
 * timeout ago
 */
static void test_clock_of_another_cpu(void)
{
	struct dcqcn_ccc_sender *tx;
	u32 bits, limit;

	open_window();
	leave_seen(0, &bits);
	tx = sender(0);
	tx->window.cwnd = 1;
	tx->num_probes = 1;
	tx->heard_time = fuzz_now + 1;
	expect(dcqcn_ccc_flight(tx), "nothing is in flight");
	expect(dcqcn_ccc_may_send(&hosts[0].qps[0], false, fuzz_now), "it may send");
	expect(!hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS], "a timeout");
	tx->acked = tx->sent;
	limit = tx->limit;
	dcqcn_ccc_may_send(&hosts[0].qps[0], false, fuzz_now);
	expect(tx->limit == limit, "its credit is gone");
	tear_down();
}

/* Bytes that a timeout takes for lost, and that are, shrink the window once. @more: a second timeout follows */
static void lose_once(bool more)
{
	struct dcqcn_ccc_sender *tx;
	u32 before, missing;
	u64 timeouts;

	set_up(3, 65536);
	hosts[0].left = 4000;
	pass_time(4 * MS, 1);
	tx = sender(0);
	lose_packets = 1;
	hosts[0].left = 10;
	pass_time(100 * US, 1);
	before = tx->window.cwnd;
	for (timeouts = 0; timeouts <= more; timeouts++) {
		missing = dcqcn_ccc_flight(tx);
		lose_packets = timeouts < more;
		/* there is no credit, and a grant is not overdue either */
		tx->limit = tx->sent;
		tx->asked = tx->limit + DCQCN_RCCC_QUANTUM;
		hosts[0].left = 1;
		while (hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS] == timeouts && fuzz_now < 7100 * MS) {
			tx->sent_time = fuzz_now;
			pass_time(100, 1);
		}
		expect(missing && tx->window.cwnd == before - missing, "window %u, not %u - %u",
		       tx->window.cwnd, before, missing);
		before = tx->window.cwnd;
	}
	pass_time(2 * RTT, 1);
	expect(!dcqcn_ccc_flight(tx) && tx->window.cwnd >= before, "window %u, not %u, and %u in flight",
	       tx->window.cwnd, before, dcqcn_ccc_flight(tx));
	/* later losses count */
	lose_packets = 1;
	hosts[0].left = 10;
	pass_time(10 * US, 1);
	lose_packets = 0;
	before = tx->window.cwnd;
	hosts[0].left = 20;
	pass_time(2 * RTT, 1);
	expect(tx->window.cwnd < before, "window %u after a loss, %u before", tx->window.cwnd, before);
	tear_down();
}

static void test_lost_once(void)
{
	lose_once(false);
	lose_once(true);
}

/* Other flows of the context keep the window full, and with @credit use up all credit, too */
static void keep_full(struct dcqcn_ccc_sender *tx, bool credit)
{
	tx->window.cwnd = 1;
	tx->num_probes = 1;
	tx->heard_time = fuzz_now;
	if (credit) {
		tx->agreed |= DCQCN_CCC_RCCC;
		tx->limit = tx->sent - 100 * frame;
		tx->grant_time = fuzz_now;
	}
}

/* A flow whose window others keep full sends one packet after 250 ms, and no more */
static void test_kept_full(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	struct dcqcn_ccc_sender *tx;
	u32 bits;
	int i;

	for (i = 0; i < 2; i++) {
		open_window();
		leave_seen(0, &bits);
		tx = sender(0);
		keep_full(tx, i);
		expect(dcqcn_ccc_may_send(qp, false, fuzz_now), "it may send at once");
		fuzz_now += DCQCN_CCC_TIMEOUT_MAX - 1;
		keep_full(tx, i);
		expect(dcqcn_ccc_may_send(qp, false, fuzz_now) == fuzz_now + 1,
		       "it looks again later");
		fuzz_now++;
		keep_full(tx, i);
		expect(!dcqcn_ccc_may_send(qp, false, fuzz_now), "it waits for longer");
		leave_seen(0, &bits);
		keep_full(tx, i);
		expect(dcqcn_ccc_may_send(qp, false, fuzz_now), "it may send a second one");
		tear_down();
	}
}

/* Credit comes while the window is full, and the answer that is awaited was lost: the flow waits for
 * no longer than the timeout of a window
 */
static void test_credit_while_full(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	struct dcqcn_ccc_sender *tx;
	u64 until;
	u32 bits;

	open_window();
	leave_seen(0, &bits);
	tx = sender(0);
	keep_full(tx, true);
	until = dcqcn_ccc_may_send(qp, false, fuzz_now);
	expect(until == fuzz_now + DCQCN_CCC_TIMEOUT_MIN, "it looks again after %lld ns",
	       (s64)(until - fuzz_now));
	fuzz_now = until;
	until = dcqcn_ccc_may_send(qp, false, fuzz_now);
	expect(until == fuzz_now + DCQCN_CCC_TIMEOUT_MIN, "it may send without credit");
	fuzz_now = until;
	tx->limit = tx->sent + 100 * frame;
	expect(dcqcn_ccc_is_full(tx) && !dcqcn_ccc_may_send(qp, false, fuzz_now),
	       "it does not send with credit");
	expect(hosts[0].counters.value[DCQCN_RP_WINDOW_TIMEOUTS] == 1, "no timeout");
	tear_down();
}

/* The context ends while a flow waits, whose packets leave as DCQCN lets them. When both have agreed again, it has
 * not waited for long.
 */
static void test_kept_full_again(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	struct dcqcn_ccc_sender *tx;
	struct sk_buff *skb;
	u32 bits;

	open_window();
	leave_seen(0, &bits);
	tx = sender(0);
	keep_full(tx, false);
	expect(dcqcn_ccc_may_send(qp, false, fuzz_now), "it may send at once");
	tx->agreed = 0;
	skb = packet(0, 77, 0, false);
	dcqcn_ccc_output(qp, &hosts[0].settings, skb, 0);
	free_packet(skb);
	fuzz_now += 2 * DCQCN_CCC_TIMEOUT_MAX;
	tx->agreed = DCQCN_CCC_NSCC;
	keep_full(tx, false);
	expect(dcqcn_ccc_may_send(qp, false, fuzz_now), "it may send through a full window");
	tear_down();
}

/* A flow that is woken by feedback, often, leaves no earlier than its rate would have let it */
static void test_woken_early(void)
{
	struct dcqcn_qp *qp = &hosts[0].qps[0];
	u64 turn = fuzz_now - 300;
	u32 bits;
	int i;

	open_window();
	leave_seen(0, &bits);
	qp->flow.next = turn;
	for (i = 0; i < 2; i++) {
		keep_full(sender(0), true);
		expect(dcqcn_ccc_may_send(qp, false, fuzz_now), "it may send");
		qp->flow.next = fuzz_now - 5000;
	}
	sender(0)->window.cwnd = 100 * frame;
	sender(0)->limit = sender(0)->sent + 100 * frame;
	expect(!dcqcn_ccc_may_send(qp, false, fuzz_now), "it may not send");
	expect(qp->flow.next == turn, "it leaves %lld ns too early", (s64)(turn - qp->flow.next));
	tear_down();
}

/* Who must be seen: a flow on another path, or about to take one, and near a bound all */
static void test_seen(void)
{
	struct dcqcn_route *route;
	u32 bits;
	int i;

	for (i = 0; i < 6; i++) {
		open_window();
		leave_seen(0, &bits);
		pass_time(2 * RTT, 1);
		route = hosts[0].qps[0].route;
		route->entropy.ev = i == 1;
		route->entropy.rounds = i == 2;
		route->move = i == 3 ? DCQCN_MOVE_WANTED : DCQCN_MOVE_NONE;
		if (i == 4)
			sender(0)->window.cwnd = 3 * frame;
		if (i == 5)
			sender(0)->limit = sender(0)->sent + DCQCN_RCCC_QUANTUM + frame;
		expect(leave_seen(0, &bits) == !i && route->lent == !i, "case %d", i);
		expect(leave_unseen(0, 1) == !i, "case %d: a packet passes", i);
		tear_down();
	}
}

/* Contexts are turned off, and on again. The answer to the offer says nothing of the packets that left meanwhile,
 * which no context counts: the flow does not take another path while they are in flight. @more: they fill a queue,
 * so that another offer is answered later, which left before the two agreed
 */
static void test_offer_moves_nothing(bool more)
{
	struct dcqcn_ccc_sender *tx;
	struct dcqcn_route *route;
	u32 changes;

	set_up(DCQCN_CCC_NSCC, 65536);
	hosts[0].settings.ccc.entropy = 1;
	add_qp(&hosts[0].dev, &hosts[0].qps[0]);
	hosts[0].left = 1000000;
	mark_all = true;
	do {
		pass_time(US, 1);
		tx = sender(0);
		route = hosts[0].qps[0].route;
	} while (route->entropy.rounds < 5 && fuzz_now < 7010 * MS);
	changes = tx->entropy_changes;
	expect(!changes && route->entropy.rounds >= 5, "%u rounds, %u changes", route->entropy.rounds,
	       changes);
	hosts[0].settings.ccc.algorithms = 0;
	pass_time(3 * RTT, 1);
	hosts[0].settings.ccc.algorithms = 2;
	pass_time(3 * RTT, 1);
	pace = more ? 200 : pace;
	pass_time(100 * US, 1);
	hosts[0].settings.ccc.algorithms = 1;
	expect(!tx->agreed, "still agreed");
	if (more) {
		route->entropy.rounds = 2;
		tx->offer_gap = DCQCN_CCC_OFFER_MIN;
		pass_time(30 * US, 1);
		hosts[0].left = 0;
	}
	while (!tx->agreed && fuzz_now < 7020 * MS)
		pass_time(US, 1);
	expect(tx->agreed && tx->entropy_changes == changes, "agreed %u, %u path changes", tx->agreed,
	       tx->entropy_changes - changes);
	hosts[0].left = 0;
	expect(!more || dcqcn_ccc_awaits(tx), "no other offer is in flight");
	pass_time(10 * RTT, 1);
	expect(tx->entropy_changes == changes, "%u path changes", tx->entropy_changes - changes);
	tear_down();
}

static void test_offers_move_nothing(void)
{
	test_offer_moves_nothing(false);
	test_offer_moves_nothing(true);
}

/* A receiver only counts what says nothing, and looks at all the rest */
static void test_plain(void)
{
	struct dcqcn_qp *qp = &hosts[RECEIVER].qps[0];
	struct dcqcn_ccc_receiver *rx;
	struct dcqcn_headers headers;
	struct sk_buff *skb;
	unsigned int n;

	open_window();
	rx = &qp->ccc->rx;
	add_qp(&hosts[RECEIVER].dev, qp);
	skb = packet(0, 77, DCQCN_BTH_CAPABLE | DCQCN_BTH_WINDOWED, false);
	dcqcn_headers_find(&headers, skb->data, skb->len, false);
	bh_disabled++;
	qp->used = jiffies - 1;
	expect(!dcqcn_ccc_receive_plain(skb, headers), "the first one in a jiffy");
	qp->used = jiffies;
	n = rx->received;
	rx->unreported = 0;
	expect(dcqcn_ccc_receive_plain(skb, headers), "it is looked at");
	expect(rx->received == n + frame && rx->unreported == frame && !qp->ccc->lock.held,
	       "%u bytes", rx->received - n);
	skb->pkt_type = PACKET_OTHERHOST;
	expect(!dcqcn_ccc_receive_plain(skb, headers), "another host's");
	skb->pkt_type = PACKET_HOST;
	((struct iphdr *)skb->data)->saddr ^= cpu_to_be32(1);
	expect(!dcqcn_ccc_receive_plain(skb, headers), "from another host");
	((struct iphdr *)skb->data)->saddr ^= cpu_to_be32(1);
	headers.tos ^= 0x20;
	expect(!dcqcn_ccc_receive_plain(skb, headers), "of another priority");
	headers.tos ^= 0x20;
	hosts[RECEIVER].settings.ccc.algorithms = 0;
	expect(!dcqcn_ccc_receive_plain(skb, headers), "contexts are off");
	hosts[RECEIVER].settings.ccc.algorithms = 3;
	for (n = 1; n < 100 && dcqcn_ccc_receive_plain(skb, headers); n++)
		;
	expect(n == DCQCN_CCC_UNREPORTED / frame, "%u packets without feedback", n);
	bh_disabled--;
	free_packet(skb);
	tear_down();
}

/* The port has sent all that it may: what there is to say waits, neither the answer to a request
 * nor credit is lost
 */
static void test_budget(void)
{
	struct host *to = &hosts[RECEIVER];
	u32 bits = DCQCN_BTH_CAPABLE;
	const struct dcqcn_feedback *say;
	unsigned int n;

	set_up(DCQCN_CCC_NSCC, 65536);
	used_up = true;
	arrive(0, 5, bits | DCQCN_BTH_REQUEST, false);
	expect(!told && to->counters.value[DCQCN_NP_FEEDBACK_ERRORS] == 1 &&
	       !to->counters.value[DCQCN_NP_FEEDBACK_SENT], "told %llu, %lu refused", told,
	       to->counters.value[DCQCN_NP_FEEDBACK_ERRORS]);
	used_up = false;
	for (n = 1; !told && n < 100; n++)
		arrive(0, 5 + n, bits, false);
	say = (const void *)(feedback[0].p + sizeof(struct iphdr) + sizeof(struct udphdr));
	expect(told == 1 && n == (DCQCN_CCC_UNREPORTED + frame - 1) / frame, "told %llu, after %u packets",
	       told, n);
	expect(say->flags & DCQCN_FEEDBACK_ECHO && be32_to_cpu(say->echo_psn) == 5 &&
	       be32_to_cpu(say->received) == n * frame, "flags %u, PSN %u", say->flags,
	       be32_to_cpu(say->echo_psn));
	xmit_fails = true;
	arrive(0, 5 + n, bits | DCQCN_BTH_REQUEST, false);
	xmit_fails = false;
	expect(to->counters.value[DCQCN_NP_FEEDBACK_ERRORS] == 2 &&
	       to->counters.value[DCQCN_NP_FEEDBACK_SENT] == 1, "%lu errors, %lu sent",
	       to->counters.value[DCQCN_NP_FEEDBACK_ERRORS],
	       to->counters.value[DCQCN_NP_FEEDBACK_SENT]);
	tear_down();

	/* credit */
	set_up(DCQCN_CCC_RCCC, 0);
	used_up = true;
	arrive(0, 5, bits | dcqcn_bth_more(1), false);
	pass_time(MS, 0);
	expect(!told && to->counters.value[DCQCN_NP_FEEDBACK_ERRORS] > 1, "nothing was refused");
	expect(to->qps[0].ccc->rx.source.ahead < 0, "granted, and told nobody");
	used_up = false;
	pass_time(MS, 0);
	expect(told && to->qps[0].ccc->rx.source.ahead > 0, "told %llu, ahead %d", told,
	       to->qps[0].ccc->rx.source.ahead);
	tear_down();

	/* a million a second, or one for each 8 KB that the line carries */
	set_up(DCQCN_CCC_NSCC, 65536);
	to->dev.speed = 40000;
	arrive(0, 5, bits | DCQCN_BTH_REQUEST, false);
	expect(last_gap == 1000, "%lld ns at 40 Gb/s", (long long)last_gap);
	to->dev.speed = 400000;
	arrive(0, 6, bits | DCQCN_BTH_REQUEST, false);
	expect(last_gap == 163, "%lld ns at 400 Gb/s", (long long)last_gap);
	tear_down();

	/* of a QP that was being resolved */
	set_up(DCQCN_CCC_NSCC, 65536);
	to->qps[0].state = DCQCN_QP_RESOLVING;
	arrive(0, 5, bits | DCQCN_BTH_REQUEST, false);
	used_up = true;
	to->qps[0].state = DCQCN_QP_LIVE;
	resolved(&to->qps[0]);
	expect(!told && to->counters.value[DCQCN_NP_FEEDBACK_ERRORS] == 1 &&
	       to->qps[0].ccc->rx.has_echo, "told %llu", told);
	used_up = false;
	tear_down();
}

static const struct tap_test tests[] = {
	{ "each QP asks for an answer of its own when it joins a context", test_introduced },
	{ "a grant is overdue by what grants take, and not by pauses", test_overdue },
	{ "two hosts agree in a round trip, if they want the same", test_agreement },
	{ "an offer waits for the QP to be resolved", test_unresolved },
	{ "and packets that were counted", test_counted_when_resolved },
	{ "a CE or a CNP waits beside it", test_waits_beside },
	{ "a CNP that waits does not keep its QP from joining", test_joins_beside },
	{ "a QP that has joined meanwhile misses nothing", test_joined_meanwhile },
	{ "a QP whose ends have different priorities does not ruin a context", test_priorities_differ },
	{ "a QP whose priority changes takes another context", test_priority_changes },
	{ "or whose address does", test_address_changes },
	{ "and one whose priority is not limited obeys none", test_priority_without_limit },
	{ "both ends change their minds", test_changed },
	{ "feedback after a timeout", test_late },
	{ "nobody waits in line while nothing is in flight", test_in_line },
	{ "a dump sees each context once", test_dump },
	{ "a snapshot says what is so", test_look },
	{ "a peer without contexts is told nothing", test_stock_peer },
	{ "a packet for another host makes no context", test_overheard },
	{ "a stock peer gets 10^6 packets that are valid for it", test_valid_for_stock },
	{ "a window of 4 packets", test_window },
	{ "an answer is for 9,800 bytes, or a window", test_few_answers },
	{ "8:1 with a window", test_nscc },
	{ "8:1 to 128:1 all at once, with a window", test_all_at_once },
	{ "8:1 with credit", test_rccc },
	{ "8:1 with both", test_both },
	{ "one sender fills the link", test_one_sender },
	{ "8:1 with credit beside packets without", test_beside },
	{ "8:1 while a quarter of the feedback is lost", test_lost_feedback },
	{ "8:1 while one packet of 1000 is lost", test_lost_packets },
	{ "2 MB from 8 and from 32 senders with credit", test_completion_rccc },
	{ "2 MB from 8 and from 32 senders with both", test_completion_both },
	{ "nobody grants credit when all has arrived", test_silence },
	{ "a packet that asks for credit is heard although it came too early", test_overtaken_by_ask },
	{ "an answer waits for a grant, unless several QPs ask", test_several_ask },
	{ "when a message ends, no sender is left without credit", test_rounds },
	{ "credit does not pile up over rounds", test_left_over_all },
	{ "nor after the end of a message is lost", test_lost_end },
	{ "messages of one packet ask for credit before they run out of it", test_streams },
	{ "a stream does not wait for credit that lost packets have asked for", test_lost_asks },
	{ "a line rate of four times the truth", test_wrong_line },
	{ "a stall or a pause does not seem to shorten the round trip", test_false_round_trips },
	{ "a queue does not lengthen it, and a second's silence ends it", test_round_trips_age },
	{ "a stream that begins late, or with credit, has a round trip, too", test_late_streams },
	{ "and so have messages of one size, with pauses between them", test_rounds_of_one_size },
	{ "packets that come slowly are no pauses on a slow line", test_slow_line },
	{ "nor where ticks are rare", test_slow_ticks },
	{ "sources that wait long for their turn stay in line", test_long_turn },
	{ "after a pause, no message waits for a timeout", test_pauses },
	{ "a peer vanishes, and comes back", test_vanished },
	{ "forged feedback", test_forged },
	{ "feedback that cannot be true", test_implausible },
	{ "what leaves unseen is counted before feedback is believed", test_unseen },
	{ "a pause does not count as a wait for answers", test_unseen_pause },
	{ "nor does one after the end of a message", test_end_in_flight },
	{ "feedback that another CPU has just heard is not old", test_clock_of_another_cpu },
	{ "what a timeout takes for lost is lost once", test_lost_once },
	{ "a flow sends now and then while others keep the window full", test_kept_full },
	{ "but not for having waited before the context ended", test_kept_full_again },
	{ "a full window's timeout begins when credit comes", test_credit_while_full },
	{ "a flow that is woken keeps to its rate", test_woken_early },
	{ "who must be seen", test_seen },
	{ "the answer to an offer does not move a flow", test_offers_move_nothing },
	{ "a receiver only counts what says nothing", test_plain },
	{ "what the port's budget refuses waits", test_budget },
	{ "feedback that says nothing new does not stop a context for ever", test_stalled_all },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
