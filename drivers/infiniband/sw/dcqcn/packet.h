/* SPDX-License-Identifier: GPL-2.0 */
/* RoCEv2 packets on the wire. See packet.c. */
#ifndef DCQCN_PACKET_H
#define DCQCN_PACKET_H

#include <linux/bits.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#define DCQCN_UDP_PORT		4791

#define DCQCN_IP_FRAGMENT	0x3fff	/* MF and fragment offset */

#define DCQCN_ECN_MASK		0x03
#define DCQCN_ECN_NOT_ECT	0x00
#define DCQCN_ECN_ECT_0		0x02
#define DCQCN_ECN_CE		0x03

#define DCQCN_OPCODE_READ	0x0c		/* RC */
#define DCQCN_OPCODE_ACK	0x11
#define DCQCN_OPCODE_ATOMIC_ACK	0x12
#define DCQCN_OPCODE_FLUSH	0x1c
#define DCQCN_OPCODE_ATOMIC_WRITE 0x1d
#define DCQCN_OPCODE_NOT_RXE	0x80		/* and above: rxe knows none of them */
#define DCQCN_OPCODE_CNP	0x81
#define DCQCN_OPCODE_FEEDBACK	0xc1		/* vendor-specific: this module's */

#define DCQCN_QPN_MASK		0x00ffffff
#define DCQCN_QPN_GSI		1		/* and QP0 below it */
#define DCQCN_QPN_MULTICAST	0x00ffffff

/**
 * struct dcqcn_bth - base transport header
 * @opcode: transport service (3 bits) and operation (5 bits)
 * @flags: SE, M, pad count, TVer
 * @pkey: partition key
 * @qpn: FECN, BECN, 6 reserved bits, destination QP
 * @psn: ack request, 7 reserved bits, packet sequence number
 */
struct dcqcn_bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;
	__be32 psn;
} __packed;

/* In the six reserved bits beside the destination QP of data packets, in host order: they are
 * outside the ICRC, and receivers that do not know them ignore them
 */
#define DCQCN_BTH_CAPABLE	0x20000000	/* the sender understands feedback */
#define DCQCN_BTH_REQUEST	0x10000000	/* send feedback; alone: answer (answer.c) */
#define DCQCN_BTH_MORE_HIGH	0x08000000	/* it asks for credit: dcqcn_bth_more() */
#define DCQCN_BTH_WINDOWED	0x04000000	/* the sender obeys feedback, not CNPs */
#define DCQCN_BTH_LAST		0x02000000	/* its flow waits for the answer to its request;
						 * without REQUEST, it takes back credit that it
						 * asked for
						 */
#define DCQCN_BTH_MORE_LOW	0x01000000
#define DCQCN_BTH_SAYS		(DCQCN_BTH_REQUEST | DCQCN_BTH_MORE_HIGH | \
				 DCQCN_BTH_MORE_LOW | DCQCN_BTH_LAST)

#define DCQCN_BTH_MORE_MOST	4	/* quanta that one packet may ask for */

#define DCQCN_ATOMIC_ACK_LEN	8		/* behind the AETH */
#define DCQCN_AETH_KIND		0x60		/* in @syndrome */
#define DCQCN_AETH_ACK		0x00
#define DCQCN_AETH_NAK_SEQUENCE	0x60		/* a packet is missing */

/**
 * struct dcqcn_aeth - ACK extended transport header
 * @syndrome: ACK, NAK or RNR NAK, with credits, reason or timer
 * @msn: messages completed
 */
struct dcqcn_aeth {
	u8 syndrome;
	u8 msn[3];
} __packed;

/**
 * struct dcqcn_cnp - a congestion notification packet, from the BTH on
 * @bth: opcode 0x81, BECN set
 * @reserved: zero when sent, ignored when received
 * @icrc: invariant CRC
 */
struct dcqcn_cnp {
	struct dcqcn_bth bth;
	u8 reserved[16];
	__le32 icrc;
} __packed;

/**
 * struct dcqcn_feedback - what a receiver tells a sender, from the BTH on
 * @bth: opcode 0xc1, to QP 0, so that rxe drops it if the module has just gone
 * @version: DCQCN_FEEDBACK_VERSION
 * @algorithms: algorithms that the receiver is set to, see &struct dcqcn_ccc_params
 * @prio: priority of the sender's packets
 * @flags: DCQCN_FEEDBACK_*
 * @epoch: random; redrawn when the counts restart; in an answer, the QP that asked
 * @received: bytes of data packets received, modulo 2^32; with DCQCN_FEEDBACK_HOP, the queue of
 *	&struct roce_stamp
 * @marked: bytes of those with CE, modulo 2^32; with DCQCN_FEEDBACK_HOP, bytes sent by the hop
 * @ahead: bytes of credit beyond @received, signed; with DCQCN_FEEDBACK_HOP, the hop's time
 * @mbps: Mb/s; the receiver's line rate, or the hop's
 * @echo_qpn: destination QP of the packet with DCQCN_BTH_REQUEST that this answers
 * @echo_psn: PSN of that packet
 * @echo_received: value of @received when that packet had arrived; with DCQCN_FEEDBACK_HOP, the
 *	hop's number
 * @echo_held: ns that have passed since then
 * @arrived: ns, modulo 2^32; when that packet had arrived, by the receiver's clock
 * @icrc: invariant CRC
 */
struct dcqcn_feedback {
	struct dcqcn_bth bth;
	u8 version;
	u8 algorithms;
	u8 prio;
	u8 flags;
	__be32 epoch;
	__be32 received;
	__be32 marked;
	__be32 ahead;
	__be32 mbps;
	__be32 echo_qpn;
	__be32 echo_psn;
	__be32 echo_received;
	__be32 echo_held;
	__be32 arrived;
	__le32 icrc;
} __packed;

/* 1: a packet asked for credit without saying how much; 2: no @arrived */
#define DCQCN_FEEDBACK_VERSION	3
#define DCQCN_FEEDBACK_ECHO	1	/* the echo_* fields are valid */
#define DCQCN_FEEDBACK_MARKED	2	/* at least half of the bytes for the echoed QP since its
					 * last echo had CE
					 */
#define DCQCN_FEEDBACK_OWED	4	/* not all credit that was asked for is granted */
#define DCQCN_FEEDBACK_ANSWER	8	/* for the QP in @epoch: only the echo is valid */
#define DCQCN_FEEDBACK_STAMPS	16	/* in an answer: the receiver reads stamps, see stamp.c */
#define DCQCN_FEEDBACK_HOP	32	/* in an answer: the echoed packet had a stamp */

/**
 * enum dcqcn_pkt_kind - the kinds of packets that congestion control tells apart
 * @DCQCN_PKT_OTHER: not RoCEv2, or not acted on
 * @DCQCN_PKT_REQUEST: RC, UC or UD request; consumes a PSN of the requester
 * @DCQCN_PKT_RESPONSE: RC READ response
 * @DCQCN_PKT_ACK: RC ACK, NAK or atomic ACK
 * @DCQCN_PKT_CNP: opcode 0x81, well-formed or not
 * @DCQCN_PKT_FEEDBACK: opcode 0xc1, well-formed or not
 */
enum dcqcn_pkt_kind {
	DCQCN_PKT_OTHER,
	DCQCN_PKT_REQUEST,
	DCQCN_PKT_RESPONSE,
	DCQCN_PKT_ACK,
	DCQCN_PKT_CNP,
	DCQCN_PKT_FEEDBACK,
};

/**
 * struct dcqcn_pkt - one parsed packet
 * @ip: its IP header
 * @udp: its UDP header
 * @len: readable bytes from @ip on
 * @udp_len: length in the UDP header, within that of the IP header
 * @kind: see &enum dcqcn_pkt_kind
 * @tos: IPv4 TOS or IPv6 traffic class
 * @v6: IPv6
 * @plain: no IPv4 options, so that the ICRC is defined
 * @ud: unreliable datagram; @src_qpn is valid
 * @pkey: P_Key
 * @dest_qpn: destination QP
 * @src_qpn: source QP, from the DETH
 * @psn: packet sequence number
 *
 * The fields behind @kind are valid unless it is DCQCN_PKT_OTHER; those from
 * @pkey on may be zero in a truncated CNP or feedback.
 */
struct dcqcn_pkt {
	const void *ip;
	const struct udphdr *udp;
	size_t len;
	u16 udp_len;
	u8 kind;
	u8 tos;
	bool v6;
	bool plain;
	bool ud;
	u16 pkey;
	u32 dest_qpn;
	u32 src_qpn;
	u32 psn;
};

/**
 * struct dcqcn_steering - how packets of one length are steered
 * @ev: entropy value
 * @len: bytes from the UDP source port to the ICRC, 0 for none
 * @delta: what their ICRC is XORed with
 */
struct dcqcn_steering {
	u16 ev;
	u16 len;
	__le32 delta;
};

void dcqcn_pkt_parse(struct dcqcn_pkt *pkt, const void *ip, size_t len);
bool dcqcn_pkt_icrc_ok(const struct dcqcn_pkt *pkt);
bool dcqcn_pkt_is_valid_cnp(const struct dcqcn_pkt *pkt);
bool dcqcn_pkt_request_ack(void *ip, size_t len);
bool dcqcn_pkt_steer(void *ip, size_t len, u16 ev, struct dcqcn_steering *known);
bool dcqcn_pkt_is_valid_feedback(const struct dcqcn_pkt *pkt);
int dcqcn_pkt_syndrome(const struct dcqcn_pkt *pkt);
void dcqcn_ip_saddr(const void *ip, struct in6_addr *addr);
void dcqcn_ip_daddr(const void *ip, struct in6_addr *addr);
u8 dcqcn_ip_hops(const void *ip);

static inline u8 dcqcn_pkt_prio(const struct dcqcn_pkt *pkt)
{
	return pkt->tos >> 5;
}

static inline u8 dcqcn_pkt_ecn(const struct dcqcn_pkt *pkt)
{
	return pkt->tos & DCQCN_ECN_MASK;
}

/**
 * struct dcqcn_headers - the headers that the hooks look at first
 * @bth: BTH, if it is a RoCEv2 packet
 * @tos: IPv4 TOS or IPv6 traffic class
 */
struct dcqcn_headers {
	const struct dcqcn_bth *bth;
	u8 tos;
};

/* Find what the hooks' fast paths read, behind an IP header of @ip_len bytes */
static __always_inline bool dcqcn_headers_behind(struct dcqcn_headers *headers, const void *ip,
						 size_t ip_len, size_t len, bool v6)
{
	size_t at = ip_len + sizeof(struct udphdr);
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	headers->bth = ip + at;
	headers->tos = v6 ? ip6h->priority << 4 | ip6h->flow_lbl[0] >> 4 : iph->tos;
	return len >= at + sizeof(struct dcqcn_bth);
}

/**
 * dcqcn_headers_find() - find what the hooks' fast paths read; most packets need no more
 * @headers: what it finds
 * @ip: IP header, readable
 * @len: readable bytes from @ip on
 * @v6: IPv6
 *
 * Always inlined, so unused fields cost nothing.
 *
 * Context: any. Return: true if the BTH, if it is one, is readable as a whole. It is one
 * if a UDP header precedes it.
 */
static __always_inline bool dcqcn_headers_find(struct dcqcn_headers *headers,
					       const void *ip, size_t len, bool v6)
{
	const struct iphdr *iph = ip;

	return dcqcn_headers_behind(headers, ip, v6 ? sizeof(struct ipv6hdr) : iph->ihl * 4,
				    len, v6);
}

#define DCQCN_IPV4_PLAIN	0x45	/* version 4, and 20 bytes: no options */

/**
 * dcqcn_headers_find_plain() - dcqcn_headers_find() for IP headers without options
 * @headers: what it finds
 * @ip: IP header, readable
 * @len: readable bytes from @ip on
 * @v6: IPv6
 *
 * All of rxe's packets leave like this. As the BTH is at a fixed place, finding it costs half.
 *
 * Context: any. Return: as dcqcn_headers_find(), and false if there are options.
 */
static __always_inline bool dcqcn_headers_find_plain(struct dcqcn_headers *headers,
						     const void *ip, size_t len, bool v6)
{
	return (v6 || *(const u8 *)ip == DCQCN_IPV4_PLAIN) &&
	       dcqcn_headers_behind(headers, ip, v6 ? sizeof(struct ipv6hdr) :
						      sizeof(struct iphdr), len, v6);
}

static inline u32 dcqcn_bth_qpn(const struct dcqcn_bth *bth)
{
	return be32_to_cpu(bth->qpn) & DCQCN_QPN_MASK;
}

static inline u32 dcqcn_bth_psn(const struct dcqcn_bth *bth)
{
	return be32_to_cpu(bth->psn) & DCQCN_QPN_MASK;
}

#define DCQCN_BTH_ACK_REQ	0x80000000	/* in @psn */

/* RC requests, below opcode 0x20, that rxe answers with a READ response and never with an ACK */
#define DCQCN_ANSWERED_AS_READ	(BIT(DCQCN_OPCODE_READ) | BIT(DCQCN_OPCODE_FLUSH) | \
				 BIT(DCQCN_OPCODE_ATOMIC_WRITE))

/* The bits that ask for 0, 1, 2 or 4 quanta of credit */
static inline u32 dcqcn_bth_more(u32 quanta)
{
	return (quanta & 5 ? DCQCN_BTH_MORE_LOW : 0) |
	       (quanta & 6 ? DCQCN_BTH_MORE_HIGH : 0);
}

/* How many quanta of credit a packet asks for, negative if it takes that many back */
static inline s32 dcqcn_bth_asked(u32 bits)
{
	s32 quanta = (bits & DCQCN_BTH_MORE_LOW ? 1 : 0) +
		     (bits & DCQCN_BTH_MORE_HIGH ? 2 : 0);

	if (quanta == 3)
		quanta = DCQCN_BTH_MORE_MOST;
	return (bits & (DCQCN_BTH_REQUEST | DCQCN_BTH_LAST)) == DCQCN_BTH_LAST ?
	       -quanta : quanta;
}

/* Return true if a packet asks for an ACK of its own PSN */
static inline bool dcqcn_bth_requests_ack(const struct dcqcn_bth *bth)
{
	return bth->psn & cpu_to_be32(DCQCN_BTH_ACK_REQ) &&
	       bth->opcode >> 5 == 0 &&
	       !(BIT(bth->opcode) & DCQCN_ANSWERED_AS_READ);
}

#define DCQCN_OPCODE_LAST_WRITE	0x0b	/* RC; SENDs and WRITEs up to here */

/* Whether a packet may ask for an ACK of its own PSN: an RC SEND or WRITE */
static inline bool dcqcn_bth_may_request_ack(const struct dcqcn_bth *bth)
{
	return bth->opcode <= DCQCN_OPCODE_LAST_WRITE;
}

/* Whether the message goes on after a packet: SEND, WRITE or READ response, first or
 * middle
 */
static inline bool dcqcn_opcode_goes_on(u8 opcode)
{
	return opcode < 0x40 && 0x60c3 >> (opcode & 0x1f) & 1;
}

static inline bool dcqcn_bth_goes_on(const struct dcqcn_bth *bth)
{
	return dcqcn_opcode_goes_on(bth->opcode);
}

/* Whether a packet neither begins nor ends a message: the middle of a SEND, WRITE or READ response,
 * or an ACK
 */
static inline bool dcqcn_bth_is_inside(const struct dcqcn_bth *bth)
{
	return bth->opcode < 0x40 && 0x64082 >> (bth->opcode & 0x1f) & 1;
}

/* Whether a packet begins a message; false for its other packets, and for ACKs */
static inline bool dcqcn_bth_begins(const struct dcqcn_bth *bth)
{
	return bth->opcode >= 0x40 || !(0x46c38e >> (bth->opcode & 0x1f) & 1);
}

/* ACK, NAK or atomic ACK */
static inline bool dcqcn_bth_is_ack(const struct dcqcn_bth *bth)
{
	return bth->opcode == DCQCN_OPCODE_ACK ||
	       bth->opcode == DCQCN_OPCODE_ATOMIC_ACK;
}

static __always_inline bool dcqcn_ip_is_udp(const void *ip, bool v6)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	return (v6 ? ip6h->nexthdr : iph->protocol) == IPPROTO_UDP;
}

/* Whether a UDP packet whose BTH is readable as a whole goes to RoCEv2's port */
static __always_inline bool dcqcn_headers_are_to_roce(const struct dcqcn_headers *headers)
{
	const struct udphdr *udp = (const struct udphdr *)headers->bth - 1;

	return udp->dest == cpu_to_be16(DCQCN_UDP_PORT);
}

/* Whether a UDP packet whose BTH is readable as a whole is RoCEv2, and as long as its UDP
 * header says. Almost all are; dcqcn_pkt_parse() looks at the others.
 */
static __always_inline bool
dcqcn_headers_are_roce(const struct dcqcn_headers *headers, const void *ip, size_t len,
		       bool v6)
{
	const struct udphdr *udp = (const struct udphdr *)headers->bth - 1;
	const struct iphdr *iph = ip;

	if (!v6 && iph->frag_off & cpu_to_be16(DCQCN_IP_FRAGMENT))
		return false;
	return dcqcn_headers_are_to_roce(headers) &&
	       (size_t)((const void *)udp - ip) + be16_to_cpu(udp->len) == len;
}

/* enum dcqcn_pkt_kind of each opcode */
extern const u8 dcqcn_opcode_kinds[256];

/* Return true if the packet with this IP header goes to @addr, IPv4-mapped for IPv4 */
static inline bool dcqcn_ip_is_to(const void *ip, const struct in6_addr *addr)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	if (iph->version == 6)
		return ipv6_addr_equal(&ip6h->daddr, addr);
	return addr->s6_addr32[3] == iph->daddr && ipv6_addr_v4mapped(addr);
}

/* Return true if it comes from @addr */
static inline bool dcqcn_ip_is_from(const void *ip, const struct in6_addr *addr)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	if (iph->version == 6)
		return ipv6_addr_equal(&ip6h->saddr, addr);
	return addr->s6_addr32[3] == iph->saddr && ipv6_addr_v4mapped(addr);
}

/* Set ECT(0) in an IPv4 packet that is Not-ECT. Unlike ipv4_change_dsfield(), this relies on the
 * old ECN bits being 0: the TOS grows by 2, so the checksum falls by 2, and by 1 more for the
 * carry.
 */
static inline void dcqcn_ipv4_set_ect0(struct iphdr *iph)
{
	u16 check = (__force u16)iph->check;
	bool borrow = check_sub_overflow(check, (__force u16)cpu_to_be16(DCQCN_ECN_ECT_0), &check);

	iph->check = (__force __sum16)(check - borrow);
	iph->tos |= DCQCN_ECN_ECT_0;
}

/**
 * struct dcqcn_cnp_spec - addresses and header fields of a CNP or feedback to build
 * @saddr: source address, IPv4-mapped for IPv4
 * @daddr: destination address, of the same family
 * @dest_qpn: the QP that sent the marked packet; 0 for feedback
 * @pkey: P_Key of the marked packet
 * @sport: UDP source port
 * @tos: IPv4 TOS or IPv6 traffic class
 * @ttl: IPv4 TTL or IPv6 hop limit
 */
struct dcqcn_cnp_spec {
	struct in6_addr saddr;
	struct in6_addr daddr;
	u32 dest_qpn;
	u16 pkey;
	u16 sport;
	u8 tos;
	u8 ttl;
};

#define DCQCN_CNP_V4_LEN	(sizeof(struct iphdr) + \
				 sizeof(struct udphdr) + \
				 sizeof(struct dcqcn_cnp))
#define DCQCN_CNP_V6_LEN	(sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr) + \
				 sizeof(struct dcqcn_cnp))

#define DCQCN_FEEDBACK_V4_LEN	(sizeof(struct iphdr) + \
				 sizeof(struct udphdr) + \
				 sizeof(struct dcqcn_feedback))
#define DCQCN_FEEDBACK_V6_LEN	(sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr) + \
				 sizeof(struct dcqcn_feedback))

/* Bytes of a received packet to make readable: the longest headers that dcqcn_pkt_parse() reads,
 * which are IPv4 with options, UDP, BTH and DETH; and all of an ACK, a CNP or feedback, which is
 * the longest of these
 */
#define DCQCN_PKT_HEADERS	DCQCN_FEEDBACK_V6_LEN

size_t dcqcn_cnp_build(void *buf, const struct dcqcn_cnp_spec *spec);
size_t dcqcn_feedback_build(void *buf, const struct dcqcn_cnp_spec *spec,
			    const struct dcqcn_feedback *feedback);

#endif /* DCQCN_PACKET_H */
