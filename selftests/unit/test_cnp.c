// SPDX-License-Identifier: GPL-2.0
/*
 * Tests rx.c, np.c, cnp.c and xmit.c: a mark and the CNP that answers it, a CNP and what is made of it. The
 * clock is the test's, and so is what the transmit path and the table of QPs do.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "tap.h"

/* Stubs for the module's other headers */
#define DCQCN_TRACE_H
#define hash_for_each_possible_rcu(table, pos, member, key) \
	for (pos = NULL; pos; pos = NULL)
#define DECLARE_HASHTABLE(name, bits) int name
struct workqueue_struct;

/* What the tracepoints tell */
static int told_err;
static int told_verdict;

static u8 pkt_type;		/* of packets that come in */
static bool spoiled;		/* their ICRCs are wrong */
static u8 syndrome;		/* of ACKs that come in */

#undef trace_dcqcn_cnp_sent
#undef trace_dcqcn_cnp_received
#define trace_dcqcn_cnp_sent(qp, qpn, daddr, err)	(told_err = (err))
#define trace_dcqcn_cnp_received(dev, qpn, saddr, verdict)	(told_verdict = (verdict))

#include "answer.c"
#include "cnp.c"
#include "np.c"
#include "rx.c"
#include "xmit.c"
#include "wire.h"

#define US		1000ULL		/* ns */
#define INTERVAL	50		/* us */
#define QPN		17
#define PEER_QPN	34
#define PKEY		0x7abc
#define CNP_BURST	10000		/* CNPs that a port may send at once */

static struct net net;
static struct net_device ndev = { .net = &net, .ifindex = 1 };
static struct dcqcn_settings settings;
static struct dcqcn_counters counters;
static struct dcqcn_dev dev;
static struct dcqcn_qp the_qp;
static bool no_entry;		/* there is no room for one */

/* CNPs that left */
static unsigned int num_sent;
static u64 last_sent;		/* ns */
static struct { u8 p[DCQCN_FEEDBACK_V6_LEN]; size_t len; } sent;
static unsigned int cuts, kept;

void fuzz_sent(const struct sk_buff *skb)
{
	num_sent++;
	last_sent = fuzz_now;
	sent.len = skb->len;
	memcpy(sent.p, skb->data, skb->len);
}

DEFINE_STATIC_KEY_FALSE(dcqcn_cccs);

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *d, u32 qpn)
{
	return no_entry ? NULL : dcqcn_qp_find(d, qpn);
}

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *n)
{
	return &dev;
}

bool dcqcn_any_limited;

static unsigned int acks;

void dcqcn_queue_acked(struct dcqcn_qp *qp, u32 psn, u8 hops)
{
	acks++;
}

void dcqcn_ccc_other(struct dcqcn_dev *d, const struct sk_buff *skb)
{
}

bool dcqcn_ccc_keep_offer(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	expect(event->offer && event->asks && event->time == fuzz_now, "not a question");
	kept++;
	return true;
}

/* What the flow's probe waits for, and has got */
static u32 probe_psn, held;

/* No algorithm, and no switch that stamps */
bool dcqcn_cc_answered(struct dcqcn_qp *qp, const struct dcqcn_feedback *said)
{
	return false;
}

void dcqcn_stamps_tell(struct dcqcn_dev *dev, u32 qpn, u32 psn, struct dcqcn_feedback *say)
{
}

bool dcqcn_queue_answered(struct dcqcn_qp *qp, u32 psn, u32 ns)
{
	if (psn == probe_psn)
		held = ns;
	return psn == probe_psn;
}

void dcqcn_ccc_feedback(const struct dcqcn_rx *in)
{
}

bool dcqcn_ccc_receive(const struct dcqcn_rx *in)
{
	return false;
}

bool dcqcn_ccc_receive_plain(const struct sk_buff *skb, struct dcqcn_headers headers)
{
	return false;
}

void dcqcn_queue_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *p, u64 now)
{
	cuts++;
}

/* 10.0.0.1, which has a live QP of this type; its peer is QP PEER_QPN of 10.0.0.2 */
static void set_up(u8 type)
{
	fuzz_now = 1000000000;
	fuzz_out_of_memory = false;
	fuzz_no_route = false;
	fuzz_xmit = 0;
	fuzz_route.dst.dev = &ndev;
	no_entry = false;
	num_sent = 0;
	cuts = 0;
	kept = 0;
	told_err = 0;
	told_verdict = -1;
	pkt_type = PACKET_HOST;
	spoiled = false;
	memset(&counters, 0, sizeof(counters));
	settings = (struct dcqcn_settings) {
		.np = { .min_time_between_cnps = INTERVAL, .cnp_dscp = 48 },
		.np_enable = 0xff, .rp_enable = 0xff,
	};
	xa_destroy(&dev.qps);
	free(the_qp.senders);
	dev = (struct dcqcn_dev) {
		.ndev = &ndev, .counters = &counters, .settings = &settings,
	};
	the_qp = (struct dcqcn_qp) {
		.dev = &dev, .qpn = QPN, .state = DCQCN_QP_LIVE, .type = type,
		.peer = { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 } },
		.peer_qpn = PEER_QPN, .atomic_psn = DCQCN_PSN_NONE,
	};
	xa_insert_bh(&dev.qps, QPN, &the_qp, GFP_ATOMIC);
}

/* A packet of 10.0.0.LAST with these ECN bits, and these beside the QPN, comes in: all of it, or
 * its headers, are linear
 */
static void arrives_with(u8 opcode, u8 last, bool linear, u8 ecn, u8 bits)
{
	/* data is longer than what is read of each packet, and an ACK has an AETH */
	size_t rest = opcode == CNP ? CNP_RESERVED : opcode == RC_ACK ? 4 : 256;
	size_t len = IP4_LEN + UDP_LEN + BTH_LEN + rest + ICRC_LEN;
	struct sk_buff skb = { .dev = &ndev, .len = len, .pkt_type = pkt_type };
	u8 *p = calloc(1, len), *bth = p + IP4_LEN + UDP_LEN;

	p[0] = 0x45;
	p[1] = ecn;
	p[9] = 17;
	put16(p + 2, len);
	memcpy(p + 12, "\12\0\0\0\12\0\0\1", 8);
	p[15] = last;
	put16(p + IP4_LEN + 2, DCQCN_UDP_PORT);
	put16(p + IP4_LEN + 4, len - IP4_LEN);
	bth[0] = opcode;
	put16(bth + 2, PKEY);
	bth[4] = bits;
	bth[7] = QPN;
	bth[11] = 99;
	if (opcode == UD_SEND_ONLY)
		bth[BTH_LEN + 7] = last;	/* the QP that it is from */
	if (opcode == RC_ACK)
		bth[BTH_LEN] = syndrome;
	put_icrc(p, len - ICRC_LEN);
	p[len - 1] ^= spoiled;

	skb.data_len = linear ? 0 : 2 * ICRC_LEN;
	skb.data = malloc(len - skb.data_len);
	skb.frag = malloc(skb.data_len);
	memcpy(skb.data, p, len - skb.data_len);
	memcpy(skb.frag, p + len - skb.data_len, skb.data_len);
	expect(dcqcn_local_in4(NULL, &skb, NULL) == (opcode == CNP ? NF_STOLEN : NF_ACCEPT),
	       "verdict");
	free(skb.data);
	free(skb.frag);
	free(p);
	expect(!the_qp.lock.held && !bh_disabled, "a lock is held");
	expect(!fuzz_dst_refs, "a route is held");
}

static void arrives(u8 opcode, u8 last, bool linear)
{
	arrives_with(opcode, last, linear, 3, 0);
}

static void mark_arrives(void)
{
	arrives(the_qp.type == IB_QPT_UD ? UD_SEND_ONLY : RC_WRITE_ONLY, 2, true);
}

static void cnp_arrives(void)
{
	arrives(CNP, 2, true);
}

static void forget_waiting(void)
{
	free(the_qp.waiting);
	the_qp.waiting = NULL;
}

static void expect_cnp(unsigned int n, u32 to_qpn, u8 to_host)
{
	const u8 *p = sent.p;

	if (!expect(num_sent == n && counters.value[DCQCN_NP_CNP_SENT] == n &&
		    the_qp.cnps_sent == n, "%u CNPs instead of %u; counted: %lu, by the QP: %u",
		    num_sent, n, counters.value[DCQCN_NP_CNP_SENT], the_qp.cnps_sent) || !n)
		return;
	expect(sent.len == 60 && p[IP4_LEN + UDP_LEN] == CNP && icrc_is_right(p, 60), "not a CNP");
	expect(p[1] == (48 << 2 | 2), "TOS %#x", p[1]);
	expect(p[15] == 1 && p[19] == to_host, "from .%u to .%u", p[15], p[19]);
	expect(get24(p + IP4_LEN + UDP_LEN + 5) == to_qpn, "to QP %u",
	       get24(p + IP4_LEN + UDP_LEN + 5));
	expect(get16(p + IP4_LEN + UDP_LEN + 2) == PKEY, "P_Key");
}

static void test_answer(void)
{
	static const u8 types[] = { IB_QPT_RC, IB_QPT_UC };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		set_up(types[i]);
		mark_arrives();
		expect_cnp(1, PEER_QPN, 2);
		arrives(RC_WRITE_ONLY, 3, true);
		fuzz_now += INTERVAL * US;
		arrives(RC_WRITE_ONLY, 3, true);
		arrives(UD_SEND_ONLY, 2, true);
		expect(num_sent == 1, "type %u: a stranger, or another type, is answered",
		       types[i]);
	}
	expect(!counters.value[DCQCN_NP_CNP_ERRORS], "errors");
}

/* What no CNP answers begins no interval either: the mark after it is answered */
static void test_unanswered(void)
{
	set_up(IB_QPT_RC);
	settings.np_enable = 0xfe;	/* all but the packets' priority */
	mark_arrives();
	settings.np_enable = 1;
	pkt_type = PACKET_OTHERHOST;
	mark_arrives();
	pkt_type = PACKET_HOST;
	spoiled = true;
	mark_arrives();
	spoiled = false;
	the_qp.peer_qpn = 1;
	mark_arrives();
	expect_cnp(0, 0, 0);
	expect(counters.value[DCQCN_NP_ICRC_ERRORS] == 1, "%lu wrong ICRCs instead of 1",
	       counters.value[DCQCN_NP_ICRC_ERRORS]);
	the_qp.peer_qpn = PEER_QPN;
	mark_arrives();
	expect_cnp(1, PEER_QPN, 2);
}

/* Each UD packet has its own source, and says which QP that is */
static void test_ud(void)
{
	set_up(IB_QPT_UD);
	arrives(UD_SEND_ONLY, 9, true);
	expect_cnp(1, 9, 9);
	fuzz_now += INTERVAL * US;
	arrives(UD_SEND_ONLY, 7, false);
	expect_cnp(2, 7, 7);
	fuzz_now += INTERVAL * US;
	arrives(UD_SEND_ONLY, 1, true);	/* from QP1 */
	arrives(RC_WRITE_ONLY, 2, true);
	expect_cnp(2, 7, 7);
}

/* In which of the sets of senders 10.0.0.@from is */
static unsigned int set_of_sender(u8 from)
{
	unsigned int set, way;

	set_up(IB_QPT_UD);
	arrives(UD_SEND_ONLY, from, true);
	for (set = 0; set < DCQCN_SENDER_SETS; set++) {
		for (way = 0; way < DCQCN_SENDER_WAYS; way++) {
			if (the_qp.senders->set[set][way].cnp_time)
				return set;
		}
	}
	return set;
}

/* 10.0.0.2 sends all the time, others now and then: each gets CNPs at its own pace */
static void test_ud_senders(void)
{
	unsigned int i, j, others = 0, busy = 0, n = 0;
	u8 five[5] = { 0 };

	set_up(IB_QPT_UD);
	for (i = 0; i < 10000; i++, fuzz_now += US) {
		mark_arrives();
		busy += num_sent - n;
		n = num_sent;
		if (i % 1000 == 7) {
			fuzz_now += 2 * US;	/* all together, they have to wait */
			arrives(UD_SEND_ONLY, 3 + i / 1000, true);
			others += num_sent - n;
			n = num_sent;
		}
	}
	expect(atomic_read(&the_qp.ce_received) == 10010, "%d marks of 10010 are the QP's",
	       atomic_read(&the_qp.ce_received));
	expect(others == 10, "%u of 10 marks of others are answered", others);
	expect(busy == 10020 / INTERVAL + 1, "%u CNPs for the busy sender", busy);

	/* 24 in turn, 48 us: none makes another's interval forgotten */
	set_up(IB_QPT_UD);
	settings.np.min_time_between_cnps = 100;
	for (i = 0; i < 24 * 300; i++, fuzz_now += 2 * US)
		arrives(UD_SEND_ONLY, 2 + i % 24, true);
	expect(num_sent == 24 * 100, "%u CNPs for 24 senders in 14.4 ms", num_sent);

	/* a fifth sender of a set takes the place of the one that was answered first, and no other */
	for (i = 0, j = 2; i < 5 && j < 250; j++) {
		if (!set_of_sender(j))
			five[i++] = j;
	}
	expect(i == 5, "only %u senders are in a set", i);
	set_up(IB_QPT_UD);
	settings.np.min_time_between_cnps = 100;
	for (i = 0; i < 5; i++, fuzz_now += 2 * US)
		arrives(UD_SEND_ONLY, five[i], true);
	expect(num_sent == 5, "%u CNPs for 5 senders", num_sent);
	for (i = 1; i < 5; i++, fuzz_now += 2 * US)
		arrives(UD_SEND_ONLY, five[i], true);
	expect(num_sent == 5, "%u intervals are forgotten", num_sent - 5);
	arrives(UD_SEND_ONLY, five[0], true);
	expect(num_sent == 6, "%u CNPs, and the first sender has no place", num_sent);

	/* new senders without end have no memory, and leave half of what the port may send */
	set_up(IB_QPT_UD);
	for (i = 0; i < 10; i++) {
		for (j = 2; j < 250; j++, fuzz_now += US / 2)
			arrives(UD_SEND_ONLY, j, true);
	}
	expect(num_sent > 500 && num_sent <= 10 * 248 / 4 + 1, "%u CNPs in 1240 us", num_sent);
	expect(!counters.value[DCQCN_NP_CNP_ERRORS], "more than the port may send");

	/* without memory all share the QP's interval */
	set_up(IB_QPT_UD);
	fuzz_out_of_memory = true;
	arrives(UD_SEND_ONLY, 9, true);
	fuzz_now += 10 * US;
	arrives(UD_SEND_ONLY, 7, true);
	expect(!the_qp.senders && num_sent <= 1, "%u CNPs without memory", num_sent);
	fuzz_out_of_memory = false;
	arrives(UD_SEND_ONLY, 7, true);
	n = num_sent;
	fuzz_now += 10 * US;
	arrives(UD_SEND_ONLY, 7, true);
	expect(num_sent == n, "a sender's interval is not kept");

	/* a CNP that did not leave begins no interval, of the sender neither */
	set_up(IB_QPT_UD);
	fuzz_no_route = true;
	mark_arrives();
	expect(!num_sent && counters.value[DCQCN_NP_CNP_ERRORS] == 1, "no route");
	fuzz_no_route = false;
	fuzz_now += US;
	mark_arrives();
	expect(num_sent == 1, "silent after a CNP that did not leave");
	/* the QP number now is of an RC QP, whose interval is the whole one */
	the_qp.type = IB_QPT_RC;
	fuzz_now += 10 * US;
	mark_arrives();
	expect(num_sent == 1, "too early for an RC QP");
}

/* Marks every microsecond: a CNP in each interval, neither earlier nor later */
static void test_interval(void)
{
	u64 before = 0;
	unsigned int i, n = 0;

	set_up(IB_QPT_RC);
	for (i = 0; i < 10000; i++, fuzz_now += US) {
		mark_arrives();
		if (num_sent == n)
			continue;
		n = num_sent;
		if (before && !expect(last_sent - before == INTERVAL * US,
				      "CNP %u after %llu ns", n,
				      (unsigned long long)(last_sent - before)))
			return;
		before = last_sent;
	}
	expect(n == 10000 / INTERVAL, "%u CNPs", n);

	settings.np.min_time_between_cnps = 0;
	for (i = 0; i < 100; i++, fuzz_now += US)
		mark_arrives();
	expect(num_sent == n + 100, "without an interval: %u CNPs for 100 marks", num_sent - n);
}

/* The port has sent all that it may: marks are counted, and the first one that it may answer
 * is answered, however little time has passed since one that it could not answer.
 */
static void test_budget(void)
{
	unsigned int i;

	set_up(IB_QPT_RC);
	settings.np.min_time_between_cnps = 0;
	for (i = 0; i < CNP_BURST + 10; i++)
		mark_arrives();
	/* an account that is exactly used up is not overdrawn yet */
	expect(num_sent == CNP_BURST + 1 && counters.value[DCQCN_NP_CNP_ERRORS] == 9,
	       "%u CNPs at once, %lu refused", num_sent, counters.value[DCQCN_NP_CNP_ERRORS]);
	expect(told_err == -EBUSY, "error %d", told_err);
	fuzz_now += 100 * US;
	for (i = 0; i < 200; i++)
		mark_arrives();
	expect(num_sent == CNP_BURST + 101, "%u CNPs after 100 us", num_sent - CNP_BURST - 1);

	settings.np.min_time_between_cnps = INTERVAL;
	fuzz_now += 256 * INTERVAL * US;
	dev.answers.cnp_paid.counter = fuzz_now + 1;
	mark_arrives();
	expect(num_sent == CNP_BURST + 101, "the port's bound does not hold");
	fuzz_now += US;
	mark_arrives();
	expect(num_sent == CNP_BURST + 102, "silent after a CNP that did not leave");
	expect(the_qp.cnps_sent == num_sent &&
	       counters.value[DCQCN_NP_CNP_SENT] == num_sent, "miscounted");
	fuzz_now += INTERVAL * US - 1;
	mark_arrives();
	expect(num_sent == CNP_BURST + 102, "a CNP too early");
}

/* The less a port has left of its share, the less often a QP sends CNPs */
static void test_stretch(void)
{
	static const struct { u64 left_us, intervals; } cases[] = {
		{ 10000, 1 }, { 5001, 1 }, { 5000, 2 }, { 2600, 2 }, { 2500, 4 }, { 1251, 4 },
		{ 1250, 8 }, { 100, 64 }, { 30, 256 }, { 0, 256 },
	};
	unsigned int i, n;
	u64 due;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_up(IB_QPT_RC);
		fuzz_now += 100000 * US;
		mark_arrives();
		n = num_sent;
		due = fuzz_now + cases[i].intervals * INTERVAL * US;
		fuzz_now = due - 1;
		dev.answers.cnp_paid.counter = fuzz_now - cases[i].left_us * US;
		mark_arrives();
		expect(num_sent == n, "%llu us are left: a CNP before %llu intervals",
		       (unsigned long long)cases[i].left_us, (unsigned long long)cases[i].intervals);
		fuzz_now++;
		dev.answers.cnp_paid.counter++;
		mark_arrives();
		expect(num_sent == n + 1, "%llu us are left: none after %llu intervals",
		       (unsigned long long)cases[i].left_us, (unsigned long long)cases[i].intervals);
	}
}

/* A port may send more CNPs where they answer long packets */
static void test_cost(void)
{
	static const struct { u32 len, ns; } cases[] = {
		{ 0, 1000 }, { 60, 1000 }, { 1024, 1000 }, { 2048, 500 }, { 4096, 250 },
		{ 9000, 250 }, { U32_MAX, 250 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(dcqcn_np_cost(cases[i].len) == cases[i].ns, "%u bytes: %u ns", cases[i].len,
		       dcqcn_np_cost(cases[i].len));
}

/* A CNP that cannot leave is counted as an error, and the next mark is answered */
static void test_errors(void)
{
	static const struct { const char *what; int xmit, err; bool memory, route; } cases[] = {
		{ "no route", 0, -ENETUNREACH, true, false },
		{ "no memory", 0, -ENOMEM, false, true },
		{ "dropped by a qdisc", NET_XMIT_DROP, -ENOBUFS, true, true },
		{ "refused by a hook", -EPERM, -EPERM, true, true },
		{ "congestion", NET_XMIT_CN, 0, true, true },	/* left, or another one did not */
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool ok = !cases[i].err;

		set_up(IB_QPT_RC);
		mark_arrives();
		fuzz_now += INTERVAL * US;
		fuzz_xmit = cases[i].xmit;
		fuzz_out_of_memory = !cases[i].memory;
		fuzz_no_route = !cases[i].route;
		mark_arrives();
		expect(told_err == cases[i].err, "%s: error %d instead of %d", cases[i].what,
		       told_err, cases[i].err);
		expect(counters.value[DCQCN_NP_CNP_ERRORS] == !ok &&
		       the_qp.cnps_sent == 1U + ok, "%s: %lu errors, %u CNPs", cases[i].what,
		       counters.value[DCQCN_NP_CNP_ERRORS], the_qp.cnps_sent);
		fuzz_xmit = 0;
		fuzz_out_of_memory = false;
		fuzz_no_route = false;
		fuzz_now += US;
		mark_arrives();
		expect(num_sent == 2, "%s: %u CNPs in the end", cases[i].what, num_sent);
	}
}

static void expect_verdict(int verdict, unsigned long handled, unsigned long ignored)
{
	expect(told_verdict == verdict, "verdict %d instead of %d", told_verdict, verdict);
	expect(counters.value[DCQCN_RP_CNP_HANDLED] == handled &&
	       counters.value[DCQCN_RP_CNP_IGNORED] == ignored, "%lu handled, %lu ignored",
	       counters.value[DCQCN_RP_CNP_HANDLED], counters.value[DCQCN_RP_CNP_IGNORED]);
}

static void test_verdicts(void)
{
	unsigned int i;

	/* a port that goes obeys none, although the QP lives */
	set_up(IB_QPT_RC);
	dev.stopping = true;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_STOPPING, 0, 1);
	expect(!cuts, "%u cuts while the port goes", cuts);

	set_up(IB_QPT_RC);
	cnp_arrives();
	expect_verdict(DCQCN_CNP_HANDLED, 1, 0);
	expect(cuts == 1, "no cut");
	arrives(CNP, 3, true);
	expect_verdict(DCQCN_CNP_NOT_PEER, 1, 1);
	arrives(CNP, 2, false);
	expect_verdict(DCQCN_CNP_HANDLED, 2, 1);
	the_qp.state = DCQCN_QP_ABSENT;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_NO_QP, 2, 2);

	/* no room: in the table, or in the entry */
	no_entry = true;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_NO_ROOM, 2, 3);
	dev.stopping = true;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_STOPPING, 2, 4);
	dev.stopping = false;
	no_entry = false;
	the_qp.state = DCQCN_QP_RESOLVING;
	for (i = 0; i < 1024; i++)
		cnp_arrives();
	expect_verdict(DCQCN_CNP_WAITS, 2, 4);
	cnp_arrives();
	expect_verdict(DCQCN_CNP_NO_ROOM, 2, 5);

	/* those that waited are one cut */
	the_qp.state = DCQCN_QP_LIVE;
	expect(the_qp.waiting && the_qp.waiting->cnps == 1024, "none waits");
	dcqcn_cnp_resolved(&the_qp, &the_qp.waiting->event.saddr, the_qp.waiting->cnps);
	expect_verdict(DCQCN_CNP_HANDLED, 1026, 5);
	expect(cuts == 3, "%u cuts", cuts);

	settings.rp_enable = 0xfe;	/* all but the QP's priority */
	cnp_arrives();
	expect_verdict(DCQCN_CNP_DISABLED, 1026, 6);
	settings.rp_enable = 1;
	spoiled = true;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_INVALID, 1026, 7);
	spoiled = false;
	pkt_type = PACKET_OTHERHOST;
	cnp_arrives();
	expect_verdict(DCQCN_CNP_INVALID, 1026, 8);
	expect(cuts == 3, "%u cuts, too many", cuts);
	forget_waiting();
}

/* What waits for a QP to be resolved takes memory only then; without memory it is counted */
static void test_waiting(void)
{
	const struct dcqcn_event *event;

	set_up(IB_QPT_RC);
	cnp_arrives();
	mark_arrives();
	expect(!the_qp.waiting, "something waits for a QP that is known");

	set_up(IB_QPT_RC);
	the_qp.state = DCQCN_QP_RESOLVING;
	fuzz_out_of_memory = true;
	cnp_arrives();
	mark_arrives();
	expect(!the_qp.waiting && counters.value[DCQCN_QP_ERRORS] == 2, "%lu errors",
	       counters.value[DCQCN_QP_ERRORS]);
	expect(counters.value[DCQCN_RP_CNP_IGNORED] == 1, "%lu ignored",
	       counters.value[DCQCN_RP_CNP_IGNORED]);

	/* the first mark waits beside CNPs of the same address */
	fuzz_out_of_memory = false;
	cnp_arrives();
	mark_arrives();
	arrives(RC_WRITE_ONLY, 3, true);
	cnp_arrives();
	expect(the_qp.waiting && the_qp.waiting->ce && the_qp.waiting->cnps == 2, "not kept");
	the_qp.state = DCQCN_QP_LIVE;
	dcqcn_np_resolved(&the_qp, &the_qp.waiting->event);
	expect_cnp(1, PEER_QPN, 2);
	/* a packet on another CPU has been answered meanwhile */
	dcqcn_np_resolved(&the_qp, &the_qp.waiting->event);
	expect(num_sent == 1, "a CNP too early");
	forget_waiting();

	/* it keeps all of an offer of the same peer that waits already */
	set_up(IB_QPT_RC);
	the_qp.state = DCQCN_QP_RESOLVING;
	dcqcn_qp_wait(&the_qp)->event = (struct dcqcn_event) {
		.saddr = { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 } },
		.time = 5, .offer_psn = 99, .offer = true, .bytes = 4096, .asked = 16384,
	};
	mark_arrives();
	event = &the_qp.waiting->event;
	expect(the_qp.waiting->ce && event->offer && event->time == 5 && event->offer_psn == 99 &&
	       event->bytes == 4096 && event->asked == 16384 && event->len,
	       "%u bytes, %u asked, time %llu, length %u", event->bytes, event->asked,
	       (unsigned long long)event->time, event->len);
	forget_waiting();
	/* and without one, there are no bytes to count */
	the_qp.state = DCQCN_QP_RESOLVING;
	mark_arrives();
	expect(!the_qp.waiting->event.bytes && !the_qp.waiting->event.asked, "%u bytes, %u asked",
	       the_qp.waiting->event.bytes, the_qp.waiting->event.asked);
	forget_waiting();

	/* nor where the priority of the mark has been disabled meanwhile */
	set_up(IB_QPT_RC);
	the_qp.state = DCQCN_QP_RESOLVING;
	mark_arrives();
	the_qp.state = DCQCN_QP_LIVE;
	settings.np_enable = 0xfe;	/* all but the packets' priority */
	dcqcn_np_resolved(&the_qp, &the_qp.waiting->event);
	expect(!num_sent, "a priority that is disabled answers");
	settings.np_enable = 1;
	dcqcn_np_resolved(&the_qp, &the_qp.waiting->event);
	expect(num_sent == 1, "one that is enabled does not");
	forget_waiting();

	/* of a QP that does not exist, nothing is answered */
	set_up(IB_QPT_RC);
	the_qp.state = DCQCN_QP_RESOLVING;
	mark_arrives();
	the_qp.state = DCQCN_QP_ABSENT;
	dcqcn_np_resolved(&the_qp, &the_qp.waiting->event);
	expect(!num_sent, "a QP that does not exist answers");
	forget_waiting();
}

#define REQUEST		(DCQCN_BTH_REQUEST >> 24)
#define CAPABLE		(DCQCN_BTH_CAPABLE >> 24)

static void question_arrives(u8 opcode, u8 last)
{
	arrives_with(opcode, last, true, 2, REQUEST);
}

/* A question is answered to the QP's peer, with feedback that names the QP that asked, and the
 * packet
 */
static void test_question(void)
{
	const u8 *said = sent.p + IP4_LEN + UDP_LEN + BTH_LEN;

	set_up(IB_QPT_UC);
	question_arrives(UC_SEND_ONLY, 2);
	if (!expect(num_sent == 1 && counters.value[DCQCN_NP_FEEDBACK_SENT] == 1, "%u answers",
		    num_sent))
		return;
	expect(sent.p[IP4_LEN + UDP_LEN] == FEEDBACK && icrc_is_right(sent.p, sent.len), "feedback");
	expect(sent.p[15] == 1 && sent.p[19] == 2, "from .%u to .%u", sent.p[15], sent.p[19]);
	expect(get24(sent.p + IP4_LEN + UDP_LEN + 5) == 0, "it is not to QP 0");
	expect(said[0] == 3 && said[1] == 0 && said[3] == 9, "version %u, algorithms %u, flags %u",
	       said[0], said[1], said[3]);
	expect(get24(said + 5) == PEER_QPN, "to QP %u", get24(said + 5));
	expect(get24(said + 25) == QPN && get24(said + 29) == 99, "of QP %u, PSN %u",
	       get24(said + 25), get24(said + 29));

	/* an offer of a context is none, nor is one in an ACK, from elsewhere or switched off */
	arrives_with(UC_SEND_ONLY, 2, true, 2, REQUEST | CAPABLE);
	question_arrives(RC_ACK, 2);
	question_arrives(UC_SEND_ONLY, 3);
	question_arrives(UD_SEND_ONLY, 2);
	settings.np_enable = 0;
	question_arrives(UC_SEND_ONLY, 2);
	settings.np_enable = 0xff;
	no_entry = true;
	question_arrives(UC_SEND_ONLY, 2);
	no_entry = false;
	expect(num_sent == 1, "%u answers to no question", num_sent - 1);

	/* a mark as well */
	arrives_with(UC_SEND_ONLY, 2, true, 3, REQUEST);
	expect(num_sent == 3 && the_qp.cnps_sent == 1, "a question hides a mark");
}

/* One for a QP that is being resolved is kept, and its answer says for how long */
static void test_question_waits(void)
{
	const u8 *said = sent.p + IP4_LEN + UDP_LEN + BTH_LEN;
	struct dcqcn_event event = {
		.time = 1000000000, .offer_psn = 3 << 24 | 99, .offer = true, .asks = true,
		.saddr = { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 } },
		.daddr = { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 } },
	};

	set_up(IB_QPT_RC);
	the_qp.state = DCQCN_QP_RESOLVING;
	question_arrives(RC_WRITE_ONLY, 2);
	expect(kept == 1 && !num_sent, "%u are kept, %u answered", kept, num_sent);
	fuzz_now += 1000;
	dcqcn_answer_resolved(&the_qp, &event);
	expect(!num_sent, "a QP that is not there answers");
	the_qp.state = DCQCN_QP_LIVE;
	dcqcn_answer_resolved(&the_qp, &event);
	expect(num_sent == 1 && get16(said + 38) == 1000, "%u answers; held for %u ns", num_sent,
	       get16(said + 38));
	expect(said[2] == 3 && get24(said + 29) == 99, "priority %u, PSN %u", said[2],
	       get24(said + 29));
	expect(get16(said + 40) == event.time >> 16 && get16(said + 42) == (event.time & 0xffff),
	       "arrived at %u.%u", get16(said + 40), get16(said + 42));
}

/* What the port may not say is an error, and no more */
static void test_question_budget(void)
{
	unsigned int i;

	set_up(IB_QPT_RC);
	for (i = 0; i < 2 * CNP_BURST; i++)
		question_arrives(RC_WRITE_ONLY, 2);
	expect(num_sent <= CNP_BURST + 1 && num_sent >= CNP_BURST, "%u answers at once", num_sent);
	expect(counters.value[DCQCN_NP_FEEDBACK_ERRORS] == 2 * CNP_BURST - num_sent, "%lu errors",
	       counters.value[DCQCN_NP_FEEDBACK_ERRORS]);
}

/* An answer is heard that names a QP, its peer and the packet that asked */
static void test_heard(void)
{
	struct iphdr iph = { .version = 4, .ihl = 5, .saddr = cpu_to_be32(0x0a000002) };
	struct dcqcn_rx in = { .dev = &dev, .pkt = { .ip = &iph } };
	struct dcqcn_feedback said = {
		.epoch = cpu_to_be32(QPN), .echo_qpn = cpu_to_be32(PEER_QPN),
		.echo_psn = cpu_to_be32(99), .echo_held = cpu_to_be32(5),
	}, other;

	set_up(IB_QPT_RC);
	probe_psn = 99;
	expect(dcqcn_answer_hear(&in, &said) && held == 5, "not heard");
	other = said;
	other.epoch = cpu_to_be32(QPN + 1);
	expect(!dcqcn_answer_hear(&in, &other), "another QP's");
	other = said;
	other.echo_qpn = cpu_to_be32(PEER_QPN + 1);
	expect(!dcqcn_answer_hear(&in, &other), "of another QP");
	other = said;
	other.echo_psn = cpu_to_be32(98);
	expect(!dcqcn_answer_hear(&in, &other), "of another packet");
	iph.saddr = cpu_to_be32(0x0a000003);
	expect(!dcqcn_answer_hear(&in, &said), "a stranger's");
	iph.saddr = cpu_to_be32(0x0a000002);
	the_qp.state = DCQCN_QP_ABSENT;
	expect(!dcqcn_answer_hear(&in, &said), "to a QP that is not there");
	the_qp.state = DCQCN_QP_LIVE;
	the_qp.type = IB_QPT_UD;
	expect(!dcqcn_answer_hear(&in, &said), "to a UD QP");
	expect(!the_qp.lock.held && !bh_disabled, "a lock is held");
}

/* Only the peer's ACKs tell how long the path is */
static void test_acks(void)
{
	struct dcqcn_path path = { .probe_time = 1 };

	set_up(IB_QPT_RC);
	the_qp.limited = true;
	the_qp.flow.path = &path;
	dcqcn_any_limited = true;
	acks = 0;
	arrives_with(RC_ACK, 3, true, 2, 0);
	expect(!acks, "a stranger's ACK counts");
	arrives_with(RC_ACK, 2, true, 2, 0);
	expect(acks == 1, "the peer's ACK does not count");
	spoiled = true;
	arrives_with(RC_ACK, 2, true, 2, 0);
	expect(acks == 1, "an ACK with a wrong ICRC counts");
	dcqcn_any_limited = false;
}

/* A NAK is not an ACK. A flow that obeys an algorithm hears of a NAK for a missing packet. */
static void test_naks(void)
{
	static const u8 naks[] = { 0x60, 0x61, 0x20, 0x40 };	/* sequence, request, RNR, reserved */
	struct dcqcn_cc_flow cc = {};
	struct dcqcn_path path = { .probe_time = 1 };
	unsigned int i;

	set_up(IB_QPT_RC);
	the_qp.limited = true;
	the_qp.flow.path = &path;
	dcqcn_any_limited = true;
	acks = 0;
	for (i = 0; i < 2 * ARRAY_SIZE(naks); i++) {
		syndrome = naks[i / 2];
		/* without an algorithm there is nothing to write to */
		the_qp.obeys = i % 2 ? DCQCN_OBEYS_ALGORITHM : DCQCN_OBEYS_RATE;
		the_qp.cc = i % 2 ? &cc : NULL;
		cc.flight.missed = false;
		arrives_with(RC_ACK, 3, true, 2, 0);
		expect(!cc.flight.missed, "a stranger's NAK %02x counts", syndrome);
		arrives_with(RC_ACK, 2, true, 2, 0);
		expect(!acks && cc.flight.missed == (i == 1), "NAK %02x: %u ACKs, missed %d", syndrome,
		       acks, cc.flight.missed);
	}
	syndrome = 0;
	dcqcn_any_limited = false;
}

static const struct tap_test tests[] = {
	{ "a mark is answered with a CNP to the QP's peer", test_answer },
	{ "a mark on UD is answered with a CNP to its sender", test_ud },
	{ "priorities without NP, other hosts' packets, wrong ICRCs and QP1 are not answered",
	  test_unanswered },
	{ "UD: an interval for each sender", test_ud_senders },
	{ "CNPs are one interval apart, neither less nor more", test_interval },
	{ "what the port's budget refuses begins no interval", test_budget },
	{ "a QP sends CNPs less often while the port may send few", test_stretch },
	{ "a CNP costs less where it answers a long packet", test_cost },
	{ "a CNP that cannot leave is an error and begins no interval", test_errors },
	{ "each CNP has its verdict, and is counted", test_verdicts },
	{ "ACKs of the peer count, and no others", test_acks },
	{ "NAKs are no ACKs, and tell algorithms what is missing", test_naks },
	{ "a question is answered to the peer that asks", test_question },
	{ "a question waits for its QP", test_question_waits },
	{ "answers have a budget", test_question_budget },
	{ "an answer is heard by the flow that asked", test_heard },
	{ "events wait for a QP that is resolved, for no other", test_waiting },
};

int main(void)
{
	tap_plan(ARRAY_SIZE(tests));
	return tap_run(tests, ARRAY_SIZE(tests));
}
