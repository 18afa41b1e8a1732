// SPDX-License-Identifier: GPL-2.0
/*
 * Counts RoCEv2 packets at a network device: after the host's own
 * qdisc on the way out, before its firewall on the way in.
 */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "icrc.h"
#include "sniff.h"

#define ROCE_PORT	4791
#define RCVBUF		(4 << 20)

/* Headers, up to the reason of a CM REJ; and a whole packet of RoCE's largest MTU */
#define HEAD		128
#define WHOLE		4400

/* Of this many packets the first is read as a whole, and its ICRC is computed; of the first 64
 * each is
 */
#define SAMPLE		64

/* So many packets are read before the caller looks at the clock again: they may come faster than
 * they are read
 */
#define MOST_PACKETS	1024
#define ETH_P_ROCE_V1	0x8915

/* From the IP header on */
#define IP4_LEN		20
#define IP4_SADDR	12
#define IP4_DADDR	16
#define IP6_LEN		40
#define IP6_SADDR	8
#define IP6_DADDR	24
#define UDP_LEN		8
#define ICRC_LEN	4

/* From the BTH on */
#define BTH_LEN		12
#define MAD		20
#define MAD_CLASS	(MAD + 1)
#define MAD_ATTRIBUTE	(MAD + 16)
#define REJ_REASON	(MAD + 34)

#define OP_SEND_ONLY	0x04
#define OP_READ		0x0c	/* the first request after SENDs and WRITEs, which have a PSN each */
#define OP_READ_RESPONSE 0x0d	/* the first of four responses before ACKs */
#define OP_ACK		0x11
#define OP_ATOMIC_ACK	0x12
#define OP_CNP		0x81
#define OWN_KINDS	0x80	/* CNPs, and what manufacturers have defined */
#define QPN_PROBE	0	/* of no QP: rxe drops it silently */
#define QPN_GSI		1
#define QPN_MULTICAST	0xffffff
#define CLASS_CM	0x07
#define ATTRIBUTE_REJ	0x0012

/* An ACK of up to this many PSNs later may still answer a request */
#define COALESCED	1024
#define PSN_MASK	0xffffff

#define PSN_HALF	0x800000

/* ns; after this silence, stop following a QP */
#define FOLLOW_MAX	100000000ULL

/* ns; after this time, stop waiting for the ACK of a request */
#define WAIT_MAX	4000000000ULL

const uint16_t sniff_sizes[SNIFF_SIZES] = {
	128, 592, 1104, 1280, 1400, 1450, 1500, 2128, 4176, 9000,
};

/* RoCE v1, or UDP to the port over IPv4 or IPv6; the kernel copies no more than asked for */
static struct sock_filter program[] = {
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_ROCE_V1, 14, 0),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x60, 6, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40, 0, 9),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 7),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
	BPF_JUMP(BPF_JMP | BPF_JA, 3, 0, 0),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 2),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IP6_LEN + 2),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_PORT, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 0),
	BPF_STMT(BPF_RET | BPF_K, WHOLE),
};

/* Return false with errno set if that fails */
bool sniff_open(struct sniff *sniff, unsigned int ifindex)
{
	struct sock_fprog filter = {
		.len = sizeof(program) / sizeof(program[0]),
		.filter = program,
	};
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = ifindex,
	};
	int size = RCVBUF, one = 1;
	int fd;

	/* protocol 0: receive nothing before everything is set up */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	*sniff = (struct sniff) { .fd = fd };
	if (fd < 0)
		return false;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
		       sizeof(filter)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		sniff_close(sniff);
		return false;
	}
	return true;
}

void sniff_close(struct sniff *sniff)
{
	if (sniff->fd >= 0)
		close(sniff->fd);
	sniff->fd = -1;
}

/* Add CNPs that left for @addr */
void sniff_count_to(struct tally *tally, const struct in6_addr *addr,
		    uint64_t count)
{
	for (int i = 0; i < SNIFF_ADDRS; i++) {
		struct sniff_cnps *to = &tally->cnps_to[i];

		if (to->count && !IN6_ARE_ADDR_EQUAL(&to->addr, addr))
			continue;
		to->addr = *addr;
		to->count += count;
		return;
	}
}

/* The class of an IP packet of @len bytes */
int sniff_size(size_t len)
{
	int i = 0;

	while (i < SNIFF_SIZES - 1 && len > sniff_sizes[i])
		i++;
	return i;
}

/* The flow between two addresses, or NULL if there are too many */
struct sniff_flow *sniff_flow(struct tally *tally, const struct in6_addr *local,
			      const struct in6_addr *remote)
{
	struct sniff_flow *flow;

	for (int i = 0; i < tally->num_flows; i++) {
		flow = &tally->flows[i];
		if (IN6_ARE_ADDR_EQUAL(&flow->local, local) &&
		    IN6_ARE_ADDR_EQUAL(&flow->remote, remote))
			return flow;
	}
	if (tally->num_flows == SNIFF_ADDRS)
		return NULL;
	flow = &tally->flows[tally->num_flows++];
	*flow = (struct sniff_flow) { .local = *local, .remote = *remote };
	return flow;
}

/* A packet, as far as it was read */
struct packet {
	enum sniff_way way;
	uint64_t time;			/* ns */
	const unsigned char *ip, *bth;
	size_t header, read, total;	/* bytes: of IP's header, in @ip, of the IP packet */
	size_t bth_read;
	unsigned int tos;
	struct in6_addr from, to;
	uint8_t op;
	uint32_t qpn, psn;
};

static struct in6_addr address(const unsigned char *p, bool ip4)
{
	struct in6_addr addr = {};

	if (ip4) {
		addr.s6_addr[10] = 0xff;
		addr.s6_addr[11] = 0xff;
		memcpy(&addr.s6_addr[12], p, 4);
	} else {
		memcpy(addr.s6_addr, p, sizeof(addr.s6_addr));
	}
	return addr;
}

static uint32_t be24(const unsigned char *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}

/* Return false if it is too short. p->ip and p->read are set. */
static bool parse(struct packet *p)
{
	const unsigned char *ip = p->ip;
	bool ip4 = ip[0] >> 4 == 4;

	if (p->read < IP4_LEN)
		return false;
	p->header = ip4 ? (ip[0] & 0xf) * 4 : IP6_LEN;
	if (p->read < p->header + UDP_LEN + BTH_LEN)
		return false;
	p->total = ip4 ? ip[2] << 8 | ip[3] : IP6_LEN + (ip[4] << 8 | ip[5]);
	p->tos = ip4 ? ip[1] : (ip[0] << 4 | ip[1] >> 4) & 0xff;
	p->from = address(ip + (ip4 ? IP4_SADDR : IP6_SADDR), ip4);
	p->to = address(ip + (ip4 ? IP4_DADDR : IP6_DADDR), ip4);
	p->bth = ip + p->header + UDP_LEN;
	p->bth_read = p->read - p->header - UDP_LEN;
	p->op = p->bth[0];
	p->qpn = be24(p->bth + 5);
	p->psn = be24(p->bth + 9);
	return true;
}

static void count_nak(struct tally *tally, const struct packet *p)
{
	static const enum sniff_nak naks[] = {
		SNIFF_NAK_SEQ, SNIFF_NAK_INVALID, SNIFF_NAK_ACCESS, SNIFF_NAK_OPERATION,
	};
	uint8_t syndrome = p->bth_read > BTH_LEN ? p->bth[BTH_LEN] : 0;

	if (syndrome >> 5 == 1)
		tally->naks[p->way][SNIFF_NAK_RNR]++;
	else if (syndrome >> 5 == 3 && (syndrome & 0x1f) < sizeof(naks) / sizeof(naks[0]))
		tally->naks[p->way][naks[syndrome & 0x1f]]++;
}

static bool is_nak(const struct packet *p)
{
	return p->op == OP_ACK && p->bth_read > BTH_LEN && p->bth[BTH_LEN] >> 5;
}

static void count_cm(struct tally *tally, const struct packet *p)
{
	const unsigned char *bth = p->bth;

	if (p->way == SNIFF_OUT || p->bth_read < REJ_REASON + 2 ||
	    bth[MAD_CLASS] != CLASS_CM ||
	    (bth[MAD_ATTRIBUTE] << 8 | bth[MAD_ATTRIBUTE + 1]) != ATTRIBUTE_REJ)
		return;
	tally->counts[SNIFF_CM_REFUSED]++;
	tally->counts[SNIFF_CM_REASON] = bth[REJ_REASON] << 8 | bth[REJ_REASON + 1];
}

static void count_icrc(struct tally *tally, const struct packet *p)
{
	const unsigned char *last = p->ip + p->total - ICRC_LEN;

	if (p->read < p->total || p->total < p->header + UDP_LEN + BTH_LEN + ICRC_LEN)
		return;
	tally->counts[SNIFF_ICRC_LOOKED]++;
	if (icrc_compute(p->ip, p->header, p->total - ICRC_LEN) !=
	    (last[0] | last[1] << 8 | last[2] << 16 | (uint32_t)last[3] << 24))
		tally->counts[SNIFF_ICRC_WRONG]++;
}

/* A request that wants an ACK leaves: wait for it, or it is the one that is waited for */
static void ask(struct sniff_ask *ask, const struct packet *p)
{
	if (ask->waits && p->time < ask->left + WAIT_MAX) {
		if (p->psn == ask->psn && p->qpn == ask->qpn && !ask->repeated &&
		    IN6_ARE_ADDR_EQUAL(&ask->to, &p->to))
			ask->repeated = p->time;
		return;
	}
	*ask = (struct sniff_ask) {
		.waits = true, .to = p->to, .qpn = p->qpn, .psn = p->psn, .left = p->time,
	};
}

static void answer(struct tally *tally, struct sniff_ask *ask, const struct packet *p)
{
	uint64_t *counts = tally->counts, repeat;

	if (!ask->waits || ((p->psn - ask->psn) & PSN_MASK) >= COALESCED ||
	    !IN6_ARE_ADDR_EQUAL(&ask->to, &p->from))
		return;
	ask->waits = false;
	/* after a NAK it had to be sent again */
	if (is_nak(p))
		return;
	counts[SNIFF_ACKED]++;
	if (!ask->repeated)
		return;
	counts[SNIFF_REPEATED]++;
	repeat = ask->repeated - ask->left;
	if (!counts[SNIFF_REPEAT_NS] || repeat < counts[SNIFF_REPEAT_NS])
		counts[SNIFF_REPEAT_NS] = repeat;
	if (p->time - ask->left > counts[SNIFF_ACK_NS])
		counts[SNIFF_ACK_NS] = p->time - ask->left;
}

/* A sender that goes back sends everything from there on again. A packet that was overtaken comes
 * alone: after it, packets go on behind the newest.
 */
static void follow(struct tally *tally, struct sniff_order *order, const struct packet *p)
{
	bool was_back = order->back;

	if (p->qpn != order->qpn || !IN6_ARE_ADDR_EQUAL(&p->from, &order->from)) {
		if (order->last && p->time < order->last + FOLLOW_MAX)
			return;
		*order = (struct sniff_order) { .from = p->from, .qpn = p->qpn, .newest = p->psn };
	}
	order->last = p->time;
	order->back = ((p->psn - order->newest) & PSN_MASK) >= PSN_HALF;
	if (order->back) {
		tally->counts[SNIFF_BACK] += !was_back;
		return;
	}
	if (was_back && p->psn == ((order->newest + 1) & PSN_MASK))
		tally->counts[SNIFF_OVERTAKEN]++;
	order->newest = p->psn;
}

static void count(struct sniff *sniff, struct tally *tally, const struct packet *p)
{
	bool out = p->way == SNIFF_OUT;
	struct sniff_flow *flow = sniff_flow(tally, out ? &p->from : &p->to,
					     out ? &p->to : &p->from);
	bool rc = p->op >> 5 == 0, ack = (p->op & 0x1f) == OP_ACK || (p->op & 0x1f) == OP_ATOMIC_ACK;

	if (p->qpn == QPN_PROBE && p->op == OP_SEND_ONLY) {
		if (flow)
			flow->probes[p->way][sniff_size(p->total)]++;
		return;
	}
	/* the module takes CNPs and its own packets before UDP counts them */
	if (flow && !(p->op & OWN_KINDS))
		flow->packets[p->way][sniff_size(p->total)]++;
	if (p->op == OP_CNP) {
		tally->cnps[p->way][p->tos >> 2]++;
		if (out)
			sniff_count_to(tally, &p->to, 1);
	} else if (p->qpn == QPN_GSI) {
		count_cm(tally, p);
	} else if (rc && ack) {
		count_nak(tally, p);
	}
	if (rc && !out && (p->op & 0x1f) >= OP_READ_RESPONSE && p->op <= OP_ATOMIC_ACK)
		answer(tally, &sniff->ask, p);
	if (rc && out && p->op < OP_READ_RESPONSE && p->bth[8] & 0x80) {
		ask(&sniff->ask, p);
		if (flow)
			flow->asks++;
	}
	if (p->op == OP_CNP || ack || p->qpn <= QPN_GSI || p->qpn == QPN_MULTICAST)
		return;
	tally->data[p->way][p->tos >> 2][p->tos & 3]++;
	if (out) {
		tally->counts[SNIFF_BYTES_OUT] += p->total;
		return;
	}
	count_icrc(tally, p);
	if (p->op >> 5 < 2 && (p->op & 0x1f) < OP_READ)
		follow(tally, &sniff->order, p);
}

static uint64_t stamp(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct timespec t;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
		return 0;
	memcpy(&t, CMSG_DATA(c), sizeof(t));
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Count the packets that have come so far, or many of them */
void sniff_read(struct sniff *sniff, struct tally *tally)
{
	char control[CMSG_SPACE(sizeof(struct timespec))];
	unsigned char packet[WHOLE];
	struct sockaddr_ll from;
	ssize_t len;

	for (int n = 0; sniff->fd >= 0 && n < MOST_PACKETS; n++) {
		bool whole = sniff->seen < SAMPLE || sniff->seen % SAMPLE == 0;
		struct iovec iov = { packet, whole ? WHOLE : HEAD };
		struct msghdr msg = {
			.msg_name = &from, .msg_namelen = sizeof(from),
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct packet p = { .ip = packet };

		len = recvmsg(sniff->fd, &msg, 0);
		if (len < 0)
			return;
		if (from.sll_pkttype != PACKET_OUTGOING && from.sll_pkttype != PACKET_HOST)
			continue;
		sniff->seen++;
		p.way = from.sll_pkttype == PACKET_OUTGOING ? SNIFF_OUT : SNIFF_IN;
		if (from.sll_protocol == htons(ETH_P_ROCE_V1)) {
			tally->counts[SNIFF_V1_IN] += p.way == SNIFF_IN;
			continue;
		}
		p.time = stamp(&msg);
		p.read = len;
		if (parse(&p))
			count(sniff, tally, &p);
	}
}
