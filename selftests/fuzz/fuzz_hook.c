// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks with any packet: the real hook.c, tx.c, rx.c, np.c, cnp.c and xmit.c, with a
 * table of one QP instead of qp.c, a pacer that only takes notes, and kernel.h.
 *
 * An input is struct fuzz_case and then the packet, from its IP header on. The
 * hooks see packets after the IP stack, so lengths are adjusted as the stack does
 * (as_the_stack_leaves_it). check_in() and check_out() have the conditions, with
 * wire.c as the reference.
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernel.h"

/* The module's own header of what is not here */
#define DCQCN_TRACE_H

#define hash_for_each_possible_rcu(table, pos, member, key) \
	for (pos = fuzz_dev; pos; pos = NULL)
#define DECLARE_HASHTABLE(name, bits) int name

struct dcqcn_dev;
static struct dcqcn_dev *fuzz_dev;

#include "hook.c"
#include "tx.c"
#include "rx.c"
#include "answer.c"
#include "np.c"
#include "cnp.c"
#include "xmit.c"
#include "wire.h"

/* What an input begins with */
struct fuzz_case {
	u8 flags;
	u8 faults;
	u8 qp_state;
	u8 qp_type;
	u8 enable;
	u8 head;		/* linear bytes of the packet */
	union {
		u8 since_cnp;	/* us */
		u8 way;		/* of a packet that leaves */
	};
};

enum {			/* flags */
	OUTPUT = 1,
	REPAIR_ADDRESS = 2,	/* UDP, its port, no fragment */
	REPAIR_LENGTHS = 4,
	REPAIR_ICRC = 8,
	FOREIGN_DEV = 16,	/* no rxe there; on output, not rxe's packet */
	OTHERHOST = 32,		/* not addressed to this host; output: cloned */
	LIMITED = 64,
	IS_PEER = 128,		/* the packet is from, or to, the QP's peer */
};

enum {			/* faults */
	NO_MEMORY = 1,
	NO_ROUTE = 2,
	NO_ENTRY = 4,
	STOPPING = 8,
	TAKEN = 16,		/* the pacer holds the packet */
	OTHER_QP = 32,		/* the table has an entry, for another QP */
	BUILT_IN = 64,		/* rxe is not a module */
	NOT_FULL = 128,		/* a foreign packet's socket is none, as a SYN-ACK's */
};

enum {			/* way */
	THROUGH = 3,		/* an index of way_out */
	ANOTHER_SOCKET = 4,	/* a tunnel's */
	AN_INDEX = 8,		/* the socket has the QP's index, as on kernels 6.10 to 6.16 */
	KNOWN = 16,		/* rxe has sent before */
};

enum {			/* qp_state */
	AGGREGATE = 4,		/* GRO has made the packet of several */
};

static struct net_device ndev, other_ndev;
static struct net_device vlan_ndev = { .lower = &ndev };
static struct net_device vrf_ndev = { .lower = &ndev, .l3_master = true };
static struct net_device *const way_out[] = { &ndev, &vlan_ndev, &vrf_ndev, &other_ndev };
static struct ib_device ibdev;
static struct module rxe_module;
static struct dcqcn_settings settings;
static struct dcqcn_counters counters;
static struct dcqcn_dev the_dev;
static struct dcqcn_qp the_qp;
static bool has_qp;
static const struct fuzz_case *now_testing;

/* What the code under test did */
static unsigned int entries, cuts, cnps_sent, answers, heard, holds, acks, told, counted, others,
	plain, looks, questions;
static u8 sent[DCQCN_CNP_V6_LEN], answer[DCQCN_FEEDBACK_V6_LEN];
static size_t sent_len, answer_len;

static void rxe_destructor(struct sk_buff *skb) { }
static void foreign_destructor(struct sk_buff *skb) { }

/* --- instead of device.c, qp.c, queue.c ----------------------------------- */

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *dev)
{
	looks++;
	return dev == &ndev ? &the_dev : NULL;
}

bool dcqcn_any_limited = true;
static struct dcqcn_path the_path;

/* The table has this entry and no other */
static void add_qp(void)
{
	if (the_qp.qpn)
		xa_insert_bh(&the_dev.qps, the_qp.qpn, &the_qp, GFP_ATOMIC);
	has_qp = true;
}

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *dev, u32 qpn)
{
	if (dcqcn_qp_find(dev, qpn))
		return &the_qp;
	entries++;
	if (has_qp || now_testing->faults & NO_ENTRY)
		return NULL;
	memset(&the_qp, 0, sizeof(the_qp));
	the_qp.qpn = qpn;
	the_qp.dev = dev;
	add_qp();
	return &the_qp;
}

bool dcqcn_qp_contradict(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	return false;
}

void dcqcn_queue_cnp(struct dcqcn_qp *qp, const struct dcqcn_settings *p, u64 now)
{
	struct dcqcn_flow *flow = &qp->flow;
	u64 line = dcqcn_dev_line(qp->dev, p);

	if (!qp->limited)
		dcqcn_rate_init(&flow->rate, line, now);
	qp->limited = true;
	cuts += !!(dcqcn_rate_cnp(&flow->rate, &p->rp, line, now) & DCQCN_RATE_CUT);
}

unsigned int dcqcn_queue_output(struct dcqcn_qp *qp, struct dcqcn_tx *tx)
{
	if (!(now_testing->faults & TAKEN))
		return NF_ACCEPT;
	holds++;
	return NF_STOLEN;
}

void dcqcn_queue_acked(struct dcqcn_qp *qp, u32 psn, u8 hops)
{
	check(qp->state == DCQCN_QP_LIVE && qp->limited);
	acks++;
}

void dcqcn_limiter_start(struct dcqcn_qp *qp, const struct dcqcn_settings *p,
			 bool asks)
{
	check(p->rp.start_burst || p->plugs);
}

void dcqcn_limiter_plug(struct dcqcn_qp *qp, const struct dcqcn_settings *p,
			bool asks)
{
	check(p->plugs && asks && !qp->limited);
}

struct dcqcn_qp *dcqcn_qp_begin(struct dcqcn_dev *dev, u32 qpn, const struct dcqcn_tx *tx)
{
	struct dcqcn_qp *qp = dcqcn_qp_find_or_add(dev, qpn);
	const u8 *p = skb_network_header(dcqcn_tx_skb(tx));

	check(tx->packet.kind == dcqcn_opcode_kinds[p[ip_len(p) + UDP_LEN]]);
	check(tx->packet.kind == DCQCN_PKT_REQUEST || tx->packet.kind == DCQCN_PKT_RESPONSE);
	if (qp)
		qp->state = DCQCN_QP_LIVE;
	return qp;
}

/* No algorithm, and no switch that stamps */
bool dcqcn_cc_answered(struct dcqcn_qp *qp, const struct dcqcn_feedback *said)
{
	return false;
}

void dcqcn_stamps_tell(struct dcqcn_dev *dev, u32 qpn, u32 psn, struct dcqcn_feedback *say)
{
}

bool dcqcn_queue_answered(struct dcqcn_qp *qp, u32 psn, u32 held)
{
	check(qp->state == DCQCN_QP_LIVE && qp->type != IB_QPT_UD);
	heard++;
	return psn & 1;
}

bool dcqcn_ccc_keep_offer(struct dcqcn_qp *qp, const struct dcqcn_event *event)
{
	check(qp->state == DCQCN_QP_RESOLVING && event->offer && event->asks);
	if (dcqcn_qp_wait(qp))
		qp->waiting->event = *event;
	return true;
}

/* --- in the place of ccc.c, which fuzz_ccc.c has ---------------------------- */

struct static_key_false dcqcn_cccs;

void dcqcn_ccc_feedback(const struct dcqcn_rx *in)
{
	check(in->pkt.kind == DCQCN_PKT_FEEDBACK);
	told++;
	if (dcqcn_pkt_is_valid_feedback(&in->pkt))
		dcqcn_answer_hear(in, (const void *)(in->pkt.udp + 1));
}

/* Takes the marks of every second QP. An ACK may count as a READ response, if it says so. */
bool dcqcn_ccc_receive(const struct dcqcn_rx *in)
{
	const struct dcqcn_pkt *pkt = &in->pkt;
	const struct dcqcn_bth *bth = (const void *)(pkt->udp + 1);

	check(pkt->kind == DCQCN_PKT_REQUEST || pkt->kind == DCQCN_PKT_RESPONSE ||
	      (pkt->kind == DCQCN_PKT_ACK && bth->qpn & cpu_to_be32(DCQCN_BTH_CAPABLE)));
	counted++;
	return pkt->dest_qpn & 1;
}

/* Counts what comes to every second pair of QPs, unless it is UD, which no context has */
bool dcqcn_ccc_receive_plain(const struct sk_buff *skb, struct dcqcn_headers headers)
{
	check((headers.tos & DCQCN_ECN_MASK) != DCQCN_ECN_CE);
	check((be32_to_cpu(headers.bth->qpn) & (DCQCN_BTH_CAPABLE | DCQCN_BTH_SAYS)) ==
	      DCQCN_BTH_CAPABLE);
	if (skb->dev != &ndev || headers.bth->opcode >> 5 == 3 ||
	    !(dcqcn_bth_qpn(headers.bth) & 2))
		return false;
	counted++;
	plain++;
	return true;
}

void dcqcn_ccc_other(struct dcqcn_dev *dev, const struct sk_buff *skb)
{
	others++;
}

void dcqcn_ccc_output(struct dcqcn_qp *qp, const struct dcqcn_settings *p, struct sk_buff *skb,
		      u8 prio)
{
	struct dcqcn_headers headers;

	check(p->ccc.algorithms && p->rp_enable & BIT(prio));
	check(dcqcn_headers_find(&headers, skb_network_header(skb), skb_headlen(skb),
			 ip_hdr(skb)->version == 6) && !dcqcn_bth_is_ack(headers.bth));
}

/* dcqcn_pkt_steer() is in fuzz_packet.c */
void dcqcn_ccc_steer(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	check(qp->lock.held);
}

bool within_module_mem_type(unsigned long addr, const struct module *mod,
			    int type)
{
	questions++;
	return addr == (unsigned long)rxe_destructor;
}

int fuzz_snprintf(char *buf, size_t size, const char *format, void *function)
{
	const char *name = function == rxe_destructor ? "rxe_skb_tx_dtor" : "tcp_wfree";

	questions++;
	check(!strcmp(format, "%ps") && size <= strlen(name));
	memcpy(buf, name, size - 1);
	buf[size - 1] = 0;
	return strlen(name);
}

int dst_output(struct net *n, struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

void fuzz_sent(const struct sk_buff *skb)
{
	if (skb->data[ip_len(skb->data) + UDP_LEN] == FEEDBACK) {
		answers++;
		check(skb->len <= sizeof(answer));
		answer_len = skb->len;
		memcpy(answer, skb->data, answer_len);
		return;
	}
	cnps_sent++;
	check(skb->len <= sizeof(sent));
	sent_len = skb->len;
	memcpy(sent, skb->data, sent_len);
}

/* --- a case ----------------------------------------------------------------- */

static void repair(u8 *p, size_t len, u8 how)
{
	size_t ip = ip_len(p), end;

	if (len < ip + UDP_LEN)
		return;
	if (how & REPAIR_ADDRESS) {
		p[p[0] >> 4 == 6 ? 6 : 9] = 17;
		if (p[0] >> 4 == 4)
			put16(p + 6, get16(p + 6) & 0xc000);
		put16(p + ip + 2, 4791);
	}
	if (how & REPAIR_LENGTHS)
		put16(p + ip + 4, len - ip);
	end = ip + get16(p + ip + 4);
	if (how & REPAIR_ICRC && end <= len &&
	    end >= ip + UDP_LEN + BTH_LEN + ICRC_LEN)
		put_icrc(p, end - ICRC_LEN);
}

/* Returns the packet's length, 0 if the stack drops it */
static size_t as_the_stack_leaves_it(u8 *p, size_t len)
{
	if (len < IP4_LEN)
		return 0;
	if (p[0] >> 4 == 4) {
		if ((p[0] & 15) < 5 || ip_len(p) > len)
			return 0;
		put16(p + 2, len);
	} else if (p[0] >> 4 == 6) {
		/* nor a source that would be taken for IPv4 (ip6_rcv_core) */
		if (len < IP6_LEN ||
		    !memcmp(p + 8, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12))
			return 0;
		put16(p + 4, len - IP6_LEN);
	} else {
		return 0;
	}
	return len;
}

/* Whether rxe's destructor is known before a packet leaves */
static bool knows_rxe(const struct fuzz_case *c)
{
	return c->flags & OUTPUT && c->way & KNOWN;
}

static void set_up(const struct fuzz_case *c, const u8 *p, size_t len)
{
	size_t ip = ip_len(p);
	bool v6 = p[0] >> 4 == 6;
	const u8 *peer = v6 ? p + 8 : p + 12;

	fuzz_now = 1000000000;
	fuzz_out_of_memory = c->faults & NO_MEMORY;
	fuzz_no_route = c->faults & NO_ROUTE;
	fuzz_route.dst.dev = &ndev;
	now_testing = c;
	entries = cuts = cnps_sent = answers = heard = holds = acks = told = counted = others = plain = 0;
	looks = questions = fuzz_peeks = 0;
	dcqcn_cccs.users = c->faults & STOPPING;

	settings = (struct dcqcn_settings) {
		.np.min_time_between_cnps = 50,
		.np.cnp_dscp = 48,
		.rp = {
			.dce_tcp_g = 1019, .dce_tcp_rtt = 1,
			.rate_reduce_monitor_period = 4,
			.initial_alpha_value = 1023, .rpg_gd = 11,
			.rpg_min_dec_fac = 50, .rpg_time_reset = 300,
			.rpg_threshold = 1, .rpg_min_rate = 1,
			.rpg_ai_rate = 5, .rpg_hai_rate = 50,
		},
		.ccc.algorithms = c->faults & STOPPING ? 3 : 0,
		.np_enable = c->enable & 1 ? 0xff : c->enable,
		.rp_enable = c->enable & 1 ? 0xff : c->enable,
	};
	memset(&counters, 0, sizeof(counters));
	xa_destroy(&the_dev.qps);
	the_dev = (struct dcqcn_dev) {
		.ibdev = &ibdev, .ndev = &ndev, .counters = &counters,
		.settings = &settings, .stopping = c->faults & STOPPING,
		.speed = 1000,
	};
	fuzz_dev = &the_dev;
	dcqcn_rxe_module = c->faults & BUILT_IN ? NULL : &rxe_module;
	dcqcn_rxe_builtin = c->faults & BUILT_IN;
	dcqcn_rxe_destructor = knows_rxe(c) && !(c->way & AN_INDEX) ? rxe_destructor : DCQCN_TX_UNKNOWN;
	dcqcn_index_destructor = knows_rxe(c) && c->way & AN_INDEX ? rxe_destructor : NULL;

	free(the_qp.waiting);
	free(the_qp.senders);
	memset(&the_qp, 0, sizeof(the_qp));
	the_qp.dev = &the_dev;
	the_qp.state = c->qp_state % 4;
	the_qp.type = IB_QPT_RC + c->qp_type % 3;
	the_qp.peer_qpn = c->qp_type / 3;
	the_qp.limited = c->flags & LIMITED;
	the_path.probe_time = c->flags & LIMITED;
	the_qp.flow.path = &the_path;
	the_qp.cnp_time = c->since_cnp ? fuzz_now - c->since_cnp * 1000ULL : 0;
	the_qp.active = jiffies - (c->qp_state >> 4 & 3);
	has_qp = c->qp_state & 0x80;
	if (len >= ip + UDP_LEN + BTH_LEN)
		the_qp.qpn = get24(p + ip + UDP_LEN + 5) ^
			     (c->faults & OTHER_QP ? 5 : 0);
	if (c->flags & OUTPUT)
		peer += v6 ? 16 : 4;
	if (c->flags & IS_PEER && v6) {
		memcpy(&the_qp.peer, peer, 16);
	} else if (c->flags & IS_PEER) {
		memcpy(&the_qp.peer, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		memcpy(&the_qp.peer.s6_addr[12], peer, 4);
	}
	if (has_qp)
		add_qp();
}

static struct sk_buff *make_skb(const struct fuzz_case *c, const u8 *p, size_t len)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	size_t head = len;

	/* the stack has pulled the IP header; rxe's packets are linear up to
	 * the BTH at least
	 */
	if (c->head)
		head = min_t(size_t, len, ip_len(p) + c->head - 1);
	skb->len = len;
	skb->gso = c->qp_state & AGGREGATE;
	skb->data_len = len - head;
	skb->data = malloc(head);
	skb->frag = malloc(len - head);
	memcpy(skb->data, p, head);
	memcpy(skb->frag, p + head, len - head);
	return skb;
}

static void skb_bytes(const struct sk_buff *skb, u8 *to)
{
	memcpy(to, skb->data, skb_headlen(skb));
	memcpy(to + skb_headlen(skb), skb->frag, skb->data_len);
}

/* The length of the packet up to its ICRC's end, if the ICRC is right; or 0 */
static size_t right_icrc(const u8 *p, const struct dcqcn_pkt *e)
{
	size_t end = ip_len(p) + e->udp_len;

	return e->plain && e->udp_len >= UDP_LEN + BTH_LEN + ICRC_LEN &&
	       icrc_is_right(p, end) ? end : 0;
}

/* --- conditions ----------------------------------------------------------- */

/* Whether the UDP port is RoCEv2's, whatever else is wrong */
static bool is_to_roce(const u8 *p, size_t len)
{
	return (p[0] >> 4 == 6 ? p[6] : p[9]) == IPPROTO_UDP && len >= ip_len(p) + UDP_LEN &&
	       get16(p + ip_len(p) + 2) == 4791;
}

static bool is_marked(const struct dcqcn_pkt *e)
{
	return (e->tos & 3) == 3;
}

/* A CNP that was sent answers @p and nothing else */
static void check_sent(const u8 *p, const struct dcqcn_pkt *e)
{
	struct dcqcn_pkt cnp;
	size_t at = e->v6 ? 8 : 12, n = e->v6 ? 16 : 4;

	check(cnps_sent == 1);
	check(the_qp.state == DCQCN_QP_LIVE && has_qp);
	check(e->kind == DCQCN_PKT_REQUEST || e->kind == DCQCN_PKT_RESPONSE);
	check(is_marked(e) && right_icrc(p, e));
	check(settings.np_enable & 1 << (e->tos >> 5));
	check(e->dest_qpn > 1 && e->dest_qpn != 0xffffff);
	check(!(now_testing->flags & OTHERHOST));
	check(e->ud == (the_qp.type == IB_QPT_UD));
	if (!e->ud)
		check(now_testing->flags & IS_PEER ||
		      !memcmp(p + at, the_qp.peer.s6_addr + (e->v6 ? 0 : 12), n));
	check(!now_testing->since_cnp || now_testing->since_cnp >= 50);

	memset(&cnp, 0xa5, sizeof(cnp));
	cnp = expected_pkt(sent, sent_len, &cnp);
	check(cnp.kind == DCQCN_PKT_CNP && right_icrc(sent, &cnp) == sent_len);
	check(cnp.dest_qpn > 1 && cnp.dest_qpn < 0xffffff && cnp.pkey == e->pkey);
	check(cnp.dest_qpn == (e->ud ? e->src_qpn : the_qp.peer_qpn));
	/* to the source of its cause, and no longer than that */
	check(cnp.v6 == e->v6);
	check(!memcmp(sent + at, p + at + n, n));
	check(!memcmp(sent + at + n, p + at, n));
	check(get16(sent + ip_len(sent) + 4) == 40);
}

/* An answer is to a question of the QP's peer, and goes where that came from */
static void check_answer(const u8 *p, const struct dcqcn_pkt *e)
{
	size_t at = e->v6 ? 8 : 12, n = e->v6 ? 16 : 4;

	check(answers == 1 && the_qp.state == DCQCN_QP_LIVE && has_qp && !e->ud);
	check(e->kind == DCQCN_PKT_REQUEST || e->kind == DCQCN_PKT_RESPONSE);
	check((p[ip_len(p) + UDP_LEN + 4] & 0x30) == 0x10 && right_icrc(p, e));
	check(e->dest_qpn == the_qp.qpn && settings.np_enable & 1 << (e->tos >> 5));
	check(!(now_testing->flags & OTHERHOST) && the_qp.type != IB_QPT_UD);
	check(now_testing->flags & IS_PEER ||
	      !memcmp(p + at, the_qp.peer.s6_addr + (e->v6 ? 0 : 12), n));
	check(icrc_is_right(answer, answer_len));
	check(!memcmp(answer + at, p + at + n, n) && !memcmp(answer + at + n, p + at, n));
}

/* Whether a packet that came in must be answered with a CNP */
static bool must_answer(const struct fuzz_case *c, const u8 *p, const struct dcqcn_pkt *e)
{
	bool ud = the_qp.type == IB_QPT_UD;
	u32 answers = ud ? e->src_qpn : the_qp.peer_qpn;

	if ((e->kind != DCQCN_PKT_REQUEST && e->kind != DCQCN_PKT_RESPONSE) || !is_marked(e) ||
	    c->flags & OTHERHOST || c->faults & (NO_MEMORY | NO_ROUTE | OTHER_QP | STOPPING) ||
	    c->qp_state & AGGREGATE || !right_icrc(p, e))
		return false;
	if (!(c->qp_state & 0x80) || the_qp.state != DCQCN_QP_LIVE || e->ud != ud ||
	    e->dest_qpn <= 1 || e->dest_qpn == 0xffffff || answers <= 1 || answers == 0xffffff)
		return false;
	return settings.np_enable & 1 << (e->tos >> 5) && (!c->since_cnp || c->since_cnp >= 50) &&
	       (ud || c->flags & IS_PEER);
}

static void check_in(const struct fuzz_case *c, const u8 *p, size_t len,
		     struct sk_buff *skb, const u8 *data, unsigned int verdict)
{
	struct dcqcn_pkt e;
	const struct dcqcn_waiting *waiting = the_qp.waiting;
	unsigned long marks = counters.value[DCQCN_NP_ECN_MARKED];
	u8 tos = p[0] >> 4 == 6 ? p[0] << 4 | p[1] >> 4 : p[1];
	u8 *after;

	memset(&e, 0, sizeof(e));
	e = expected_pkt(p, len, &e);
	if (c->flags & FOREIGN_DEV)
		e.kind = DCQCN_PKT_OTHER;

	check(verdict == NF_ACCEPT || verdict == NF_STOLEN);
	check(skb->consumed == (verdict == NF_STOLEN));
	/* rxe sees neither CNP nor feedback, unless there is no memory to look at it */
	check(told == (e.kind == DCQCN_PKT_FEEDBACK && verdict == NF_STOLEN));
	/* each packet takes time on the link once: for a context, or for all others */
	check(others + counted <= 1);
	if (static_branch_unlikely(&dcqcn_cccs) && !(c->flags & FOREIGN_DEV) &&
	    !fuzz_out_of_memory)
		check(others + counted == 1);
	if (plain)
		check(e.kind == DCQCN_PKT_REQUEST || e.kind == DCQCN_PKT_RESPONSE);
	if (counted)
		check(p[ip_len(p) + UDP_LEN + 4] & 0x20);
	if (e.kind != DCQCN_PKT_CNP && e.kind != DCQCN_PKT_FEEDBACK)
		check(verdict == NF_ACCEPT);
	else if (!fuzz_out_of_memory &&
		 !(skb->gso && c->head && c->head <= UDP_LEN + BTH_LEN))
		check(verdict == NF_STOLEN);

	/* other traffic is neither looked up nor moved, but it takes time on a context's link */
	if (!is_to_roce(p, len)) {
		check(looks == static_branch_unlikely(&dcqcn_cccs));
		check(skb->data == data);
		/* nor looked at twice, if its headers are where they should be, without options */
		check(!fuzz_peeks || (p[0] >> 4 == 4 && ip_len(p) != sizeof(struct iphdr)) ||
		      skb_headlen(skb) < ip_len(p) + UDP_LEN + BTH_LEN);
	}
	/* nor may what GRO has joined be moved: the stack takes it apart again, where it was */
	if (skb->gso && verdict == NF_ACCEPT)
		check(skb->data == data);

	/* who gets the packet gets all of it, as it was */
	after = malloc(len);
	check(skb->len == len);
	skb_bytes(skb, after);
	check(!memcmp(after, p, len));
	free(after);

	if (e.kind == DCQCN_PKT_OTHER)
		check(!entries && !cuts && !cnps_sent && !waiting);
	if (entries || cuts || waiting) {
		check(right_icrc(p, &e));
		check(!(c->flags & OTHERHOST));
		check(e.dest_qpn > 1 && e.dest_qpn != 0xffffff);
		/* a mark and a question, if there is no room for the first */
		check(entries <= 1 + fuzz_out_of_memory + !!(c->faults & NO_ENTRY) +
		      (has_qp && the_qp.qpn != e.dest_qpn));
	}
	if (cuts || (waiting && waiting->cnps)) {
		check(e.kind == DCQCN_PKT_CNP);
		check(e.udp_len == UDP_LEN + BTH_LEN + CNP_RESERVED + ICRC_LEN);
		check(has_qp && the_qp.qpn == e.dest_qpn);
	}
	if (cuts) {
		check(!(c->faults & STOPPING));
		check(settings.rp_enable & 1 << the_qp.prio);
		check(the_qp.type == IB_QPT_UD || c->flags & IS_PEER ||
		      !memcmp(p + (e.v6 ? 8 : 12),
			      the_qp.peer.s6_addr + (e.v6 ? 0 : 12), e.v6 ? 16 : 4));
		check(the_qp.flow.rate.current_rate >= dcqcn_rate_floor(&settings.rp));
	}
	if (acks) {
		check(e.kind == DCQCN_PKT_ACK && right_icrc(p, &e));
		check(the_qp.qpn == e.dest_qpn);
		check(the_qp.type == IB_QPT_UD || c->flags & IS_PEER ||
		      !memcmp(p + (e.v6 ? 8 : 12),
			      the_qp.peer.s6_addr + (e.v6 ? 0 : 12), e.v6 ? 16 : 4));
	}
	if (waiting && waiting->ce)
		check(is_marked(&e));
	if (cnps_sent)
		check_sent(p, &e);
	if (must_answer(c, p, &e))
		check(cnps_sent == 1 && marks == 1);
	/* nothing else is counted as marked */
	check(!marks || (marks == 1 && (tos & 3) == 3 && is_to_roce(p, len)));
	check(the_qp.cnps_sent == cnps_sent);
	if (answers)
		check_answer(p, &e);
	if (heard)
		check(right_icrc(p, &e) && (the_qp.type == IB_QPT_UD || c->flags & IS_PEER ||
					    !memcmp(p + (e.v6 ? 8 : 12),
						    the_qp.peer.s6_addr + (e.v6 ? 0 : 12),
						    e.v6 ? 16 : 4)));
	check(!fuzz_dst_refs && !the_qp.lock.held);
}

static u16 ip4_sum(const u8 *p)
{
	u32 sum = 0;
	size_t i;

	for (i = 0; i < ip_len(p); i += 2)
		sum += get16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void check_out(const struct fuzz_case *c, const u8 *p, size_t len,
		      struct sk_buff *skb, unsigned int verdict)
{
	bool v6 = p[0] >> 4 == 6;
	u8 *after = malloc(len);
	u8 tos = v6 ? p[0] << 4 | p[1] >> 4 : p[1];
	bool may_mark, must_mark, ack;
	size_t i, qpn;

	check(verdict == NF_ACCEPT || verdict == NF_STOLEN);
	check((verdict == NF_STOLEN) == holds);
	/* where contexts are used, who sends gets an entry */
	check(!skb->consumed && !cnps_sent && !answers && !cuts);
	check(entries <= !!settings.ccc.algorithms);
	check(skb->len == len);
	skb_bytes(skb, after);
	/* of data that rxe sends, and not QP1, Not-ECT may become ECT(0) */
	qpn = ip_len(p) + UDP_LEN + 5;
	may_mark = !(c->flags & FOREIGN_DEV) && qpn + 7 <= len &&
		   get24(p + qpn) > 1 && get24(p + qpn) != 0xffffff &&
		   is_to_roce(p, len) &&
		   !(c->way & ANOTHER_SOCKET) &&
		   (way_out[c->way & THROUGH] == &ndev || way_out[c->way & THROUGH] == &vlan_ndev);
	if (!may_mark)
		check(!holds && !entries);
	ack = qpn + 7 <= len && (p[qpn - 5] == DCQCN_OPCODE_ACK ||
				 p[qpn - 5] == DCQCN_OPCODE_ATOMIC_ACK);
	may_mark &= !ack && settings.rp_enable & 1 << (tos >> 5);
	must_mark = may_mark && the_qp.qpn > 1 && !(tos & 3) &&
		    skb_headlen(skb) >= qpn + 7 && !fuzz_out_of_memory;
	if (must_mark)
		check(memcmp(after, p, len));
	/* rxe's destructor is learnt once */
	if (knows_rxe(c))
		check(!questions);
	if (memcmp(after, p, len)) {
		check(may_mark && (v6 ? !(p[1] & 0x30) : !(p[1] & 3)));
		check(v6 ? after[1] == (p[1] | 0x20) : after[1] == (p[1] | 2));
		if (!v6)
			check(ip4_sum(after) == ip4_sum(p));
		for (i = 0; i < len; i++)
			check(after[i] == p[i] || i == 1 ||
			      (!v6 && (i == 10 || i == 11)));
	}
	free(after);
	check(!the_qp.lock.held);
}

static void run(const struct fuzz_case *c, const u8 *p, size_t len)
{
	bool v6 = p[0] >> 4 == 6, output = c->flags & OUTPUT;
	struct nf_hook_state state = {};
	struct sk_buff *skb = make_skb(c, p, len);
	struct ib_qp ibqp = { .device = &ibdev, .qp_num = the_qp.qpn };
	struct sock sk = { .full = true, .sk_protocol = IPPROTO_UDP, .sk_user_data = &ibqp };
	struct sock foreign = {
		.full = !(c->faults & NOT_FULL), .sk_protocol = IPPROTO_UDP,
	};
	const u8 *data = skb->data;
	unsigned int verdict;

	/* a SYN-ACK's ends before it */
	ASAN_POISON_MEMORY_REGION(&foreign.sk_user_data, sizeof(foreign.sk_user_data));
	if (output) {
		skb->sk = !(c->flags & FOREIGN_DEV) ? &sk : c->enable & 1 ? NULL : &foreign;
		skb->destructor = !(c->flags & FOREIGN_DEV) ? rxe_destructor :
				  c->enable & 2 ? sock_wfree : foreign_destructor;
		skb->cloned = c->flags & OTHERHOST;
		skb->dev = &ndev;
		state.out = way_out[c->way & THROUGH];
		state.sk = c->way & ANOTHER_SOCKET ? NULL : skb->sk;
		if (c->way & AN_INDEX)
			sk.sk_user_data = (void *)(unsigned long)the_qp.qpn;
		verdict = v6 ? dcqcn_local_out6(NULL, skb, &state) :
			       dcqcn_local_out4(NULL, skb, &state);
		check_out(c, p, len, skb, verdict);
	} else {
		skb->dev = c->flags & FOREIGN_DEV ? &other_ndev : &ndev;
		skb->pkt_type = c->flags & OTHERHOST ? PACKET_OTHERHOST : PACKET_HOST;
		verdict = v6 ? dcqcn_local_in6(NULL, skb, &state) :
			       dcqcn_local_in4(NULL, skb, &state);
		check_in(c, p, len, skb, data, verdict);
	}
	ASAN_UNPOISON_MEMORY_REGION(&foreign.sk_user_data, sizeof(foreign.sk_user_data));
	free(skb->data);
	free(skb->frag);
	free(skb);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_case *c = (const void *)data;
	size_t len;
	u8 *p;

	if (size < sizeof(*c))
		return 0;
	len = size - sizeof(*c);
	p = malloc(len);
	memcpy(p, data + sizeof(*c), len);
	if (as_the_stack_leaves_it(p, len)) {
		repair(p, len, c->flags);
		set_up(c, p, len);
		run(c, p, len);
	}
	free(p);
	return 0;
}
