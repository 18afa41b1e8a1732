// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts against any feedback and any data packet: ccc*.c, nscc.c, rccc.c and entropy.c as
 * they are, and kernel.h. An input is struct fuzz_case and then a packet, from its IP header on,
 * which is made to be for this host from its peer; what must hold afterwards is in
 * check_context().
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "contexts.h"
#include "wire.h"

/* What an input begins with */
struct fuzz_case {
	u8 flags;
	u8 algorithms;		/* ours, and what was agreed */
	u8 probes;
	u8 age;			/* ms since something was heard */
	u8 flight;		/* packets in flight */
	u8 head;		/* linear bytes of the packet */
	u8 turn;		/* of the flow, and how often it was congested */
};

enum {			/* flags */
	REPAIR_ICRC = 1,
	RIGHT_EPOCH = 2,
	RIGHT_ECHO = 4,
	OTHERHOST = 8,
	NO_MEMORY = 16,
	STOPPING = 32,
	ASKS = 64,		/* the peer asked for credit before */
	FULL_LINE = 128,
};

static struct dcqcn_settings settings;
static struct dcqcn_counters counters;
static struct dcqcn_dev dev;
static struct dcqcn_qp qp;
static unsigned int said;

int dcqcn_xmit(struct net *n, int ifindex, const struct dcqcn_settings *p,
	       struct dcqcn_cnp_spec *spec, const struct dcqcn_feedback *say)
{
	check(ipv6_addr_equal(&spec->daddr, &qp.peer) && say->algorithms == p->ccc.algorithms);
	said++;
	return 0;
}

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *n)
{
	return &dev;
}

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *d, u32 qpn)
{
	return qpn & 1 ? &qp : NULL;
}

static struct dcqcn_ccc *set_up(const struct fuzz_case *c)
{
	struct in6_addr local;
	struct dcqcn_ccc *ccc;
	int i;

	fuzz_now = 1000000000;
	fuzz_out_of_memory = false;
	said = 0;
	memset(&counters, 0, sizeof(counters));
	settings = (struct dcqcn_settings) {
		.ccc = { .algorithms = c->algorithms & 3, .initial_window = c->head,
			 .entropy = c->algorithms >> 4 & 1 },
		.np_enable = 0xff, .rp_enable = 0xff,
	};
	xa_destroy(&dev.qps);
	dev = (struct dcqcn_dev) {
		.ndev = &ndev, .counters = &counters, .settings = &settings,
		.speed = c->flags & FULL_LINE ? U32_MAX : 10000,
	};
	dcqcn_ccc_dev_init(&dev);
	dcqcn_ccc_credit_init(&dev);
	dev.stopping = c->flags & STOPPING;
	qp = (struct dcqcn_qp) { .dev = &dev, .state = DCQCN_QP_LIVE, .type = IB_QPT_RC,
				.atomic_psn = DCQCN_PSN_NONE };
	address(&qp.peer, 2);
	address(&local, 1);
	add_qp(&dev, &qp);
	ccc = dcqcn_ccc_join(&qp, &local, &qp.peer, 0);
	fuzz_out_of_memory = c->flags & NO_MEMORY;
	qp.route->move = c->turn % 3;
	qp.route->sent = c->flight * FRAME;
	qp.route->until = fuzz_now + 1000000;
	qp.route->entropy = (struct dcqcn_entropy) {
		.round_time = fuzz_now - 1000000, .rounds = c->turn, .changes = c->turn >> 4,
		.ev = c->turn & DCQCN_ENTROPY_MASK,
	};
	ccc->tx.agreed = c->algorithms >> 2 & 3;
	ccc->tx.epoch = 0x01020304;
	ccc->tx.window.mss = FRAME;
	ccc->tx.window.cwnd = 4 * FRAME;
	ccc->tx.sent = c->flight * FRAME;
	ccc->tx.heard_time = fuzz_now - c->age * 1000000ULL;
	for (i = 0; i < c->probes % (DCQCN_CCC_PROBES + 1); i++)
		dcqcn_ccc_probe(&ccc->tx, i % 5 ? qp.qpn : 99, 17, i, i % 3 == 0,
				fuzz_now - 100000 + i);
	ccc->tx.num_overtaken = min(ccc->tx.num_probes, (u8)(c->algorithms >> 5));
	if (c->flags & ASKS) {
		ccc->rx.source.backlog = DCQCN_RCCC_QUANTUM;
		dcqcn_ccc_grant(ccc);
	}
	return ccc;
}

/* From the peer, to here, with right lengths */
static void repair(const struct fuzz_case *c, u8 *p, size_t len)
{
	u8 *fb = p + IP4_LEN + UDP_LEN + BTH_LEN;

	p[0] = 0x45;
	put16(p + 2, len);
	put16(p + 6, 0);
	p[9] = 17;
	memcpy(p + 12, "\12\0\0\2\12\0\0\1", 8);
	put16(p + IP4_LEN + 2, 4791);
	put16(p + IP4_LEN + 4, len - IP4_LEN);
	if (len >= IP4_LEN + UDP_LEN + sizeof(struct dcqcn_feedback)) {
		if (c->flags & RIGHT_EPOCH)
			memcpy(fb + 4, "\1\2\3\4", 4);
		if (c->flags & RIGHT_ECHO)
			memcpy(fb + 24, "\0\0\0\21\0\0\0\1", 8);
	}
	if (c->flags & REPAIR_ICRC)
		put_icrc(p, len - ICRC_LEN);
}

static void check_context(struct dcqcn_ccc *ccc, u32 flight, s32 before, u16 ev)
{
	struct dcqcn_ccc_sender *tx = &ccc->tx;
	struct dcqcn_nscc_params params = dcqcn_ccc_params(ccc, &settings);

	check(!ccc->lock.held && !qp.lock.held && !dev.credit.lock.held && !bh_disabled);
	check(tx->num_probes <= DCQCN_CCC_PROBES && tx->num_overtaken <= tx->num_probes);
	check(qp.route->entropy.ev <= DCQCN_ENTROPY_MASK && qp.route->move <= DCQCN_MOVE_HELD);
	/* another path only with nothing in flight, and if that is wanted at all */
	if (qp.route->entropy.ev != ev)
		check(settings.ccc.entropy && counters.value[DCQCN_RP_ENTROPY_CHANGES] == 1 &&
		      qp.route->move == DCQCN_MOVE_NONE);
	else
		check(!counters.value[DCQCN_RP_ENTROPY_CHANGES]);
	/* nothing more is in flight than was sent; what never agreed was not counted */
	check((s32)dcqcn_ccc_flight(tx) >= 0);
	if (counters.value[DCQCN_RP_FEEDBACK_HANDLED])
		check(!tx->agreed || tx->window.cwnd <=
		      max(dcqcn_nscc_max(&tx->window, &params), (u32)(4 * FRAME)));
	else
		check(dcqcn_ccc_flight(tx) == flight);
	check(ccc->rx.source.ahead >= before - 70000);
	check(ccc->rx.source.backlog <= DCQCN_RCCC_BACKLOG_MAX &&
	      !(ccc->rx.source.backlog % DCQCN_RCCC_QUANTUM));
	check(said <= 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct fuzz_case *c = (const void *)data;
	struct sk_buff *skb;
	struct dcqcn_ccc *ccc;
	struct dcqcn_rx rx;
	size_t len, head;
	u32 flight;
	s32 before;
	u16 ev;

	if (size < sizeof(*c) + IP4_LEN + UDP_LEN + BTH_LEN + ICRC_LEN)
		return 0;
	len = size - sizeof(*c);
	ccc = set_up(c);
	skb = calloc(1, sizeof(*skb));
	head = min_t(size_t, len, DCQCN_PKT_HEADERS + c->head);
	skb->len = len;
	skb->data_len = len - head;
	skb->data = malloc(len);
	memcpy(skb->data, data + sizeof(*c), len);
	repair(c, skb->data, len);
	skb->frag = malloc(len - head);
	memcpy(skb->frag, skb->data + head, len - head);
	skb->dev = &ndev;
	skb->pkt_type = c->flags & OTHERHOST ? PACKET_OTHERHOST : PACKET_HOST;
	skb->data = realloc(skb->data, head);
	flight = dcqcn_ccc_flight(&ccc->tx);
	before = ccc->rx.source.ahead;
	ev = qp.route->entropy.ev;

	rx = rx_of(&dev, skb);
	if (rx.pkt.kind == DCQCN_PKT_FEEDBACK) {
		dcqcn_ccc_feedback(&rx);
		check(counters.value[DCQCN_RP_FEEDBACK_HANDLED] +
		      counters.value[DCQCN_RP_FEEDBACK_IGNORED] == 1);
		if (counters.value[DCQCN_RP_FEEDBACK_HANDLED])
			check(c->flags & (RIGHT_EPOCH | RIGHT_ECHO) || c->probes ||
			      !ccc->tx.epoch || ccc->tx.epoch == 0x01020304);
		if (c->flags & (OTHERHOST | STOPPING))
			check(counters.value[DCQCN_RP_FEEDBACK_IGNORED]);
	} else if (rx.pkt.kind == DCQCN_PKT_REQUEST || rx.pkt.kind == DCQCN_PKT_RESPONSE) {
		dcqcn_ccc_receive(&rx);
		if (c->flags & OTHERHOST || !settings.ccc.algorithms)
			check(!said && !ccc->rx.received);
	}
	check_context(ccc, flight, before, ev);

	spin_lock_bh(&qp.lock);
	dcqcn_ccc_leave(&qp);
	spin_unlock_bh(&qp.lock);
	check(list_empty(&dev.credit.sources) && !dev.credit.num && !dev.contexts.num);
	free(skb->data);
	free(skb->frag);
	free(skb);
	return 0;
}
