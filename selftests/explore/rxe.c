// SPDX-License-Identifier: GPL-2.0
/*
 * rdma_rxe, as far as congestion control sees it. From its source (6.1 to 7.3):
 *
 *   requester   no more than 128 PSNs without an ACK, and no more than 64 packets that the NIC
 *               does not have, until they are fewer than 16; asks for an ACK with the last packet
 *               of a message, and with each 66th; goes back to the first PSN that is not
 *               acknowledged, after a NAK or a timeout
 *   completer   an ACK is for all before it, except READs; a NAK counts once, until an ACK comes;
 *               seven timeouts in a row end the QP
 *   responder   one NAK for a gap; all responses of a READ at once; FLUSH and ATOMIC WRITE are
 *               answered like a READ; what it has seen before is answered again
 */
#include "checks.h"
#include "rxe.h"
#include "wire.h"

#define UNACKED_MAX	128
#define UNFREED_HIGH	64
#define UNFREED_LOW	16
#define PACKETS_PER_ACK	64
#define PACKETS_MAX	200		/* of a message, so that a sequence comes to an end */
#define RNR_NS		(1280 * US)
#define AETH_LEN	4
#define RETH_LEN	16

struct rxe_qp qps[QPS];
u64 packets_made;
u64 packets_limit;

/* --- what is sent ---------------------------------------------------------------- */

/* The bits of an opcode that name the QP's type */
static u8 type_bits(const struct rxe_qp *qp)
{
	return qp->type == IB_QPT_UC ? 0x20 : qp->type == IB_QPT_UD ? 0x60 : 0;
}

static u8 opcode_of(const struct rxe_qp *qp, const struct message *m, u32 i)
{
	static const u8 opcodes[][4] = {	/* first, middle, last, only */
		[WRITE] = { 0x06, 0x07, 0x08, 0x0a },
		[SEND] = { 0x00, 0x01, 0x02, 0x04 },
		[READ] = { 0x0c, 0x0c, 0x0c, 0x0c },
		[ATOMIC] = { 0x13, 0x13, 0x13, 0x13 },
		[FLUSH] = { 0x1c, 0x1c, 0x1c, 0x1c },
		[ATOMIC_WRITE] = { 0x1d, 0x1d, 0x1d, 0x1d },
		[SEND_INVALIDATE] = { 0x00, 0x01, 0x16, 0x17 },
	};
	u8 opcode = opcodes[m->kind][m->packets == 1 ? 3 : i == 0 ? 0 : i + 1 == m->packets ? 2 : 1];

	return opcode | type_bits(qp);
}

static bool takes_psns_of_responses(const struct message *m)
{
	return m->kind == READ;
}

static void send(struct rxe_qp *qp, u8 kind, u8 opcode, u32 psn, u32 payload, u32 extra,
		 bool ack_req, u8 syndrome)
{
	u32 frame = ETH_HLEN + IP4_LEN + UDP_LEN + BTH_LEN + payload + ICRC_LEN;
	struct tx *tx = tx_alloc(qp, kind, opcode, psn & DCQCN_QPN_MASK, frame,
				 frame * qp->memory + 512);
	u8 *bth = tx->skb.data + IP4_LEN + UDP_LEN;

	bth[8] |= ack_req << 7;
	bth[BTH_LEN] = syndrome;
	if (opcode == DCQCN_OPCODE_READ)	/* how many responses, in place of the length */
		put16(bth + BTH_LEN + RETH_LEN - 2, extra);
	if (kind == DCQCN_PKT_ACK)
		put_icrc(tx->skb.data, tx->skb.len - ICRC_LEN);
	output(tx);
}

static struct message *message_of(struct rxe_qp *qp, u32 i)
{
	return &qp->sq[i % MESSAGES];
}

/* From @psn on, all is sent again */
static void go_back(struct rxe_qp *qp, u32 psn)
{
	u32 i;

	for (i = qp->sq_first; i != qp->sq_next; i++) {
		struct message *m = message_of(qp, i);

		if ((s32)(psn - m->first - m->packets) < 0) {
			qp->sq_now = i;
			qp->in_message = psn - m->first;
			qp->psn = psn;
			return;
		}
	}
}

static bool may_send(struct rxe_qp *qp)
{
	if (!qp->live || qp->sq_now == qp->sq_next || fuzz_now < qp->rnr_until)
		return false;
	if (qp->type == IB_QPT_RC && qp->psn - qp->una >= UNACKED_MAX)
		return false;
	if (qp->unfreed > UNFREED_HIGH)
		qp->throttled = true;
	return !qp->throttled;
}

static u64 timeout_of(const struct rxe_qp *qp)
{
	return qp->ack_timeout ? 4096ULL << qp->ack_timeout : 0;
}

static void finish(struct rxe_qp *qp);

static void send_next(struct rxe_qp *qp)
{
	struct message *m = message_of(qp, qp->sq_now);
	u32 i = qp->in_message, psn = qp->psn, payload;
	u8 opcode = opcode_of(qp, m, i);
	bool last, ask;

	if (takes_psns_of_responses(m)) {
		payload = RETH_LEN;
		last = true;
		qp->psn = m->first + m->packets;
	} else {
		last = i + 1 == m->packets;
		payload = last ? m->last_bytes : qp->mtu;
		qp->in_message++;
		qp->psn++;
	}
	ask = last || qp->unasked > PACKETS_PER_ACK;
	qp->unasked = ask ? 0 : qp->unasked + 1;
	if (last) {
		qp->sq_now++;
		qp->in_message = 0;
	}
	if ((s32)(qp->psn - qp->top) > 0)
		qp->top = qp->psn;
	if (qp->type == IB_QPT_RC && qp->ack_timeout && !qp->timeout_at)
		qp->timeout_at = fuzz_now + timeout_of(qp);
	send(qp, DCQCN_PKT_REQUEST, opcode, psn, payload, m->packets - i, ask, 0);
	if (qp->type != IB_QPT_RC) {
		qp->una = qp->psn;
		finish(qp);
	}
}

void rxe_run(struct rxe_qp *qp)
{
	while (may_send(qp))
		send_next(qp);
}

/* A program posts a message. Return false if it may not. */
bool rxe_post(struct rxe_qp *qp, enum message_kind kind, u32 bytes)
{
	struct message *m;

	if (!qp->live || qp->sq_next - qp->sq_first == MESSAGES || packets_made >= packets_limit)
		return false;
	if (qp->type == IB_QPT_UD) {
		kind = SEND;
		bytes = min(bytes, qp->mtu);
	} else if (qp->type == IB_QPT_UC && kind != SEND) {
		kind = WRITE;
	}
	if (kind == ATOMIC || kind == FLUSH || kind == ATOMIC_WRITE)
		bytes = 28;
	bytes = min(bytes, (u32)min((u64)PACKETS_MAX, packets_limit - packets_made) * qp->mtu);
	m = message_of(qp, qp->sq_next);
	*m = (struct message) {
		.kind = kind,
		.packets = max(1U, (bytes + qp->mtu - 1) / qp->mtu),
		.first = qp->sq_next == qp->sq_first ? qp->top :
			 message_of(qp, qp->sq_next - 1)->first +
			 message_of(qp, qp->sq_next - 1)->packets,
	};
	m->last_bytes = bytes - (m->packets - 1) * qp->mtu;
	qp->sq_next++;
	return true;
}

/* Messages that are acknowledged as a whole are done */
static void finish(struct rxe_qp *qp)
{
	while (qp->sq_first != qp->sq_next) {
		struct message m = *message_of(qp, qp->sq_first);

		if ((s32)(qp->una - m.first - m.packets) < 0)
			return;
		if (qp->sq_now == qp->sq_first) {
			qp->sq_now++;
			qp->in_message = 0;
			qp->psn = m.first + m.packets;
		}
		qp->sq_first++;
		qp->done++;
		if (qp->again) {
			qp->again--;
			rxe_post(qp, m.kind, (m.packets - 1) * qp->mtu + m.last_bytes);
		}
	}
}

/* The NIC has a packet, or it was dropped */
void rxe_freed(struct rxe_qp *qp)
{
	demand(qp->unfreed, "a packet of QP %u is freed twice", qp->ib.qp_num);
	qp->unfreed--;
	if (qp->unfreed < UNFREED_LOW)
		qp->throttled = false;
}

/* --- what comes --------------------------------------------------------------------- */

/* The count that a PSN on the wire stands for, near @near */
static u32 count_of(u32 psn, u32 near)
{
	return near + ((s32)((psn - near) << 8) >> 8);
}

static void progress(struct rxe_qp *qp, u32 una)
{
	if ((s32)(una - qp->una) <= 0)
		return;
	qp->una = una;
	if ((s32)(qp->psn - una) < 0)
		go_back(qp, una);
	qp->retries = 0;
	qp->retrying = false;
	qp->timeout_at = qp->ack_timeout && qp->psn != una ? fuzz_now + timeout_of(qp) : 0;
	finish(qp);
}

static void retry(struct rxe_qp *qp)
{
	if (qp->retrying || qp->una == qp->psn)
		return;
	qp->retrying = true;
	go_back(qp, qp->una);
}

/* The first READ that is not done: no ACK is for it, or for what is behind it */
static u32 first_read(struct rxe_qp *qp)
{
	u32 i;

	for (i = qp->sq_first; i != qp->sq_next; i++) {
		struct message *m = message_of(qp, i);

		if (m->kind == READ || m->kind == FLUSH || m->kind == ATOMIC_WRITE)
			return max(qp->una, m->first);
	}
	return qp->top;
}

static void receive_ack(struct rxe_qp *qp, u32 psn, u8 syndrome)
{
	u32 acked = syndrome & DCQCN_AETH_KIND ? psn : psn + 1, read = first_read(qp);

	if ((s32)(acked - qp->top) > 0)
		return;
	progress(qp, (s32)(acked - read) > 0 ? read : acked);
	if ((syndrome & DCQCN_AETH_KIND) == 0x20) {		/* RNR NAK */
		qp->rnr_until = fuzz_now + RNR_NS;
		go_back(qp, qp->una);
	} else if (syndrome & DCQCN_AETH_KIND || (s32)(acked - read) > 0) {
		retry(qp);
	}
}

static void receive_response(struct rxe_qp *qp, u32 psn)
{
	if (psn == qp->una && qp->una != qp->top)
		progress(qp, psn + 1);
	else if ((s32)(psn - qp->una) > 0)
		retry(qp);
}

static void acknowledge(struct rxe_qp *qp, u32 psn, u8 opcode, u8 syndrome)
{
	u32 payload = AETH_LEN + (opcode == DCQCN_OPCODE_ATOMIC_ACK ? 8 : 0);

	send(qp, DCQCN_PKT_ACK, opcode, psn, payload, 0, false, syndrome);
}

static void respond(struct rxe_qp *qp, u32 psn, u32 n, u32 payload)
{
	u32 i;

	for (i = 0; i < n; i++)
		send(qp, DCQCN_PKT_RESPONSE, n == 1 ? 0x10 : i == 0 ? 0x0d : i + 1 == n ? 0x0f : 0x0e,
		     psn + i, payload, 0, false, 0);
}

static void answer(struct rxe_qp *qp, const u8 *bth, u32 psn, bool asks)
{
	u8 opcode = bth[0] & 0x1f;

	if (opcode == DCQCN_OPCODE_READ)
		respond(qp, psn, get24(bth + BTH_LEN + RETH_LEN - 3) & 0xffff, qp->mtu);
	else if (opcode == 0x13 || opcode == 0x14)
		acknowledge(qp, psn, DCQCN_OPCODE_ATOMIC_ACK, 0);
	else if (opcode == DCQCN_OPCODE_FLUSH || opcode == DCQCN_OPCODE_ATOMIC_WRITE)
		respond(qp, psn, 1, 0);
	else if (asks && (qp->acks == ACK_EACH || (qp->acks == ACK_SOME && !(++qp->asked % 4))))
		acknowledge(qp, psn, DCQCN_OPCODE_ACK, 0);
}

static void receive_request(struct rxe_qp *qp, const u8 *bth)
{
	u32 psn = count_of(get24(bth + 9), qp->epsn), n = 1;
	bool asks = bth[8] >> 7, send_op = (bth[0] & 0x1f) < 5 || (bth[0] & 0x1e) == 0x16;
	s32 ahead = psn - qp->epsn;

	if (bth[0] >> 5)
		return;		/* nobody answers UC and UD */
	if (ahead > 0) {
		if (!qp->nak_sent)
			acknowledge(qp, qp->epsn, DCQCN_OPCODE_ACK, 0x60);
		qp->nak_sent = true;
		return;
	}
	if ((bth[0] & 0x1f) == DCQCN_OPCODE_READ)
		n = get24(bth + BTH_LEN + RETH_LEN - 3) & 0xffff;
	if (ahead < 0) {
		if ((bth[0] & 0x1f) < DCQCN_OPCODE_READ || (bth[0] & 0x1e) == 0x16)
			acknowledge(qp, qp->epsn - 1, DCQCN_OPCODE_ACK, 0);
		else
			answer(qp, bth, psn, true);
		if ((s32)(psn + n - qp->epsn) > 0)
			qp->epsn = psn + n;
		return;
	}
	if (send_op && qp->rnr) {
		qp->rnr--;
		acknowledge(qp, psn, DCQCN_OPCODE_ACK, 0x20);
		return;
	}
	qp->nak_sent = false;
	qp->epsn += n;
	answer(qp, bth, psn, asks);
}

struct rxe_qp *rxe_find(const struct port *port, u32 qpn)
{
	int i;

	for (i = 0; i < QPS; i++) {
		if (qps[i].port == port && qps[i].ib.qp_num == qpn)
			return &qps[i];
	}
	return NULL;
}

void rxe_receive(struct port *port, const u8 *packet, u32 len)
{
	const u8 *bth = packet + IP4_LEN + UDP_LEN;
	struct rxe_qp *qp = rxe_find(port, get24(bth + 5));
	u32 psn;

	demand(bth[0] < DCQCN_OPCODE_NOT_RXE || !port->dev || fuzz_out_of_memory, "rxe gets a packet of opcode %02x", bth[0]);
	/* a late packet may be for a QP of another type, which had the number before */
	if (!qp || !qp->live || (bth[0] & 0xe0) != type_bits(qp))
		return;
	psn = count_of(get24(bth + 9), qp->una);
	if (bth[0] == DCQCN_OPCODE_ACK || bth[0] == DCQCN_OPCODE_ATOMIC_ACK)
		receive_ack(qp, psn, bth[BTH_LEN]);
	else if (bth[0] >= 0x0d && bth[0] <= 0x10)
		receive_response(qp, psn);
	else
		receive_request(qp, bth);
}

/* A packet arrives that nobody sent: an ACK, a NAK or a CNP for @to, from its peer */
void rxe_forge(struct rxe_qp *to, u8 opcode, u8 syndrome, u32 psn)
{
	u8 p[IP4_LEN + UDP_LEN + BTH_LEN + CNP_RESERVED + ICRC_LEN] = { 0x45 };
	u32 len = opcode == DCQCN_OPCODE_ACK ? sizeof(p) - CNP_RESERVED + AETH_LEN : sizeof(p);
	u8 *bth = p + IP4_LEN + UDP_LEN;

	p[1] = 2;
	put16(p + 2, len);
	p[8] = 64;
	p[9] = IPPROTO_UDP;
	p[12] = p[16] = 10;
	p[15] = to->peer->port->last;
	p[19] = to->port->last;
	put16(p + 22, DCQCN_UDP_PORT);
	put16(p + 24, len - IP4_LEN);
	bth[0] = opcode;
	put16(bth + 2, 0xffff);
	put16(bth + 6, to->ib.qp_num);
	bth[9] = psn >> 16;
	put16(bth + 10, psn);
	bth[BTH_LEN] = syndrome;
	input(to->port, p, len);
}

/* --- time ------------------------------------------------------------------------- */

u64 rxe_due(void)
{
	u64 first = UINT64_MAX;
	int i;

	for (i = 0; i < QPS; i++) {
		struct rxe_qp *qp = &qps[i];

		if (qp->timeout_at)
			first = min(first, qp->timeout_at);
		if (qp->rnr_until > fuzz_now)
			first = min(first, qp->rnr_until);
		if (may_send(qp))
			first = fuzz_now;
	}
	return first;
}

static void timed_out(struct rxe_qp *qp)
{
	qp->timeout_at = 0;
	if (qp->una == qp->psn)
		return;
	if (++qp->retries > RXE_RETRIES) {
		say("QP %u gives up", qp->ib.qp_num);
		rxe_destroy(qp);
		return;
	}
	say("QP %u goes back to PSN %u", qp->ib.qp_num, qp->una & DCQCN_QPN_MASK);
	qp->retrying = true;
	go_back(qp, qp->una);
	qp->timeout_at = fuzz_now + timeout_of(qp);
}

void rxe_timers(void)
{
	int i;

	for (i = 0; i < QPS; i++) {
		if (qps[i].timeout_at && qps[i].timeout_at <= fuzz_now)
			timed_out(&qps[i]);
		rxe_run(&qps[i]);
	}
}

/* --- QPs ---------------------------------------------------------------------------- */

/* Nothing is left to do */
bool rxe_is_idle(const struct rxe_qp *qp)
{
	return !qp->live || qp->sq_first == qp->sq_next;
}

/* It sends and receives no more; its packets may still be on their way */
void rxe_destroy(struct rxe_qp *qp)
{
	qp->live = false;
	qp->timeout_at = 0;
	qp->rnr_until = 0;
	qp->sq_first = qp->sq_now = qp->sq_next = 0;
	qp->again = 0;
}

static void set_up(struct rxe_qp *qp, u8 type, u8 ack_timeout, u32 mtu, u32 memory, u32 psn, u8 tos)
{
	qp->type = type;
	qp->ib.qp_type = type;
	qp->ack_timeout = type == IB_QPT_RC ? ack_timeout : 0;
	qp->mtu = mtu;
	qp->memory = memory;
	qp->tos = tos;
	qp->live = true;
	qp->sk ^= 1;
	qp->sq_first = qp->sq_now = qp->sq_next = qp->in_message = 0;
	qp->psn = qp->una = qp->top = qp->epsn = psn;
	qp->unasked = qp->retries = qp->rnr = qp->asked = qp->again = 0;
	qp->acks = ACK_EACH;
	qp->retrying = qp->nak_sent = false;
	qp->timeout_at = qp->rnr_until = 0;
}

struct sock *rxe_sock(struct rxe_qp *qp)
{
	return &qp->socks[qp->sk];
}

/* Both ends of a pair become new QPs with the old numbers. Return false if packets of the old ones
 * are still on their way, for which rxe waits.
 */
bool rxe_connect(unsigned int pair, u8 type, u8 ack_timeout, u32 mtu, u32 memory, u32 psn, u8 tos)
{
	if (qps[pair].unfreed || qps[PAIRS + pair].unfreed)
		return false;
	set_up(&qps[pair], type, ack_timeout, mtu, memory, psn, tos);
	set_up(&qps[PAIRS + pair], type, ack_timeout, mtu, memory, psn + 1000, tos);
	qps[pair].epsn = qps[PAIRS + pair].psn;
	qps[PAIRS + pair].epsn = qps[pair].psn;
	return true;
}

void rxe_begin(void)
{
	int i;

	memset(qps, 0, sizeof(qps));
	packets_made = 0;
	for (i = 0; i < QPS; i++) {
		struct rxe_qp *qp = &qps[i];

		qp->port = &ports[i / PAIRS];
		qp->peer = &qps[(i + PAIRS) % QPS];
		qp->ib.device = &qp->port->ibdev;
		qp->ib.qp_num = 17 + i;
		qp->socks[0] = qp->socks[1] = (struct sock) {
			.full = true, .sk_protocol = IPPROTO_UDP, .sk_user_data = &qp->ib,
		};
	}
}
