// SPDX-License-Identifier: GPL-2.0
/*
 * RoCEv2 packets: parsing, the invariant CRC, building CNPs.
 *
 * Layouts: InfiniBand Architecture Specification volume 1, chapter 9 (BTH,
 * DETH) and annex A17 (RoCEv2, CNP, ICRC).
 *
 * No sockets, QPs or devices here: a packet is bytes in memory.
 */
#include <linux/crc32.h>
#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "packet.h"

#define DCQCN_BTH_BECN			0x40000000

/* CRC-32 over the 64 one-bits that stand for the LRH a RoCE packet lacks */
#define DCQCN_ICRC_SEED			0xdebb20e3

struct dcqcn_deth {
	__be32 qkey;
	__be32 src_qpn;
} __packed;

/* Transport service: the upper three bits of the opcode. Operation: the others */
#define DCQCN_SERVICE_UD		3

#define RC(_op)		(0 << 5 | (_op))
#define UC(_op)		(1 << 5 | (_op))
#define UD(_op)		(DCQCN_SERVICE_UD << 5 | (_op))

const u8 dcqcn_opcode_kinds[256] = {
	/* SEND, WRITE, READ request */
	[RC(0x00) ... RC(0x0c)] = DCQCN_PKT_REQUEST,
	/* READ response, first to only */
	[RC(0x0d) ... RC(0x10)] = DCQCN_PKT_RESPONSE,
	[DCQCN_OPCODE_ACK] = DCQCN_PKT_ACK,
	[DCQCN_OPCODE_ATOMIC_ACK] = DCQCN_PKT_ACK,
	/* compare and swap, fetch and add */
	[RC(0x13) ... RC(0x14)] = DCQCN_PKT_REQUEST,
	/* SEND with invalidate */
	[RC(0x16) ... RC(0x17)] = DCQCN_PKT_REQUEST,
	/* FLUSH, ATOMIC WRITE */
	[RC(0x1c) ... RC(0x1d)] = DCQCN_PKT_REQUEST,
	/* SEND, WRITE */
	[UC(0x00) ... UC(0x0b)] = DCQCN_PKT_REQUEST,
	/* SEND only, without and with immediate data */
	[UD(0x04) ... UD(0x05)] = DCQCN_PKT_REQUEST,
	[DCQCN_OPCODE_CNP] = DCQCN_PKT_CNP,
	[DCQCN_OPCODE_FEEDBACK] = DCQCN_PKT_FEEDBACK,
};

/* Find the UDP header; set @pkt->udp_len to the length left by the IP header */
static bool dcqcn_pkt_parse_ip(struct dcqcn_pkt *pkt, const void *ip,
			       size_t len)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;
	size_t hlen, total;

	if (len < sizeof(*iph))
		return false;

	if (iph->version == 4) {
		hlen = iph->ihl * 4;
		total = be16_to_cpu(iph->tot_len);
		if (iph->protocol != IPPROTO_UDP || hlen < sizeof(*iph) ||
		    total < hlen ||
		    iph->frag_off & cpu_to_be16(DCQCN_IP_FRAGMENT))
			return false;
		pkt->tos = iph->tos;
		pkt->v6 = false;
		pkt->plain = hlen == sizeof(*iph);
		total -= hlen;
	} else if (iph->version == 6) {
		hlen = sizeof(*ip6h);
		if (len < hlen || ip6h->nexthdr != IPPROTO_UDP)
			return false;
		total = be16_to_cpu(ip6h->payload_len);
		pkt->tos = ip6h->priority << 4 | ip6h->flow_lbl[0] >> 4;
		pkt->v6 = true;
		pkt->plain = true;
	} else {
		return false;
	}

	if (len < hlen + sizeof(struct udphdr))
		return false;
	pkt->ip = ip;
	pkt->udp = ip + hlen;
	pkt->len = len;
	pkt->udp_len = total;
	return true;
}

/**
 * dcqcn_pkt_parse() - parse and classify a packet
 * @pkt: result; @pkt->kind is DCQCN_PKT_OTHER for packets to leave alone
 * @ip: IP header
 * @len: readable bytes from @ip on; DCQCN_PKT_HEADERS of them, or the whole
 *	packet, are always enough
 *
 * A packet of opcode 0x81 is a CNP, and one of 0xc1 feedback, however malformed, unless
 * it is a fragment or has IPv6 extension headers.
 *
 * Context: any.
 */
void dcqcn_pkt_parse(struct dcqcn_pkt *pkt, const void *ip, size_t len)
{
	const struct dcqcn_deth *deth;
	const struct dcqcn_bth *bth;
	size_t payload;
	u16 udp_len;

	pkt->kind = DCQCN_PKT_OTHER;
	if (!dcqcn_pkt_parse_ip(pkt, ip, len))
		return;
	if (pkt->udp->dest != cpu_to_be16(DCQCN_UDP_PORT))
		return;
	udp_len = be16_to_cpu(pkt->udp->len);
	if (!udp_len && pkt->v6)
		udp_len = pkt->udp_len;		/* as the IPv6 stack does */
	if (udp_len > pkt->udp_len || udp_len <= sizeof(struct udphdr))
		return;
	pkt->udp_len = udp_len;

	bth = (const void *)(pkt->udp + 1);
	payload = min_t(size_t, udp_len - sizeof(struct udphdr),
			len - ((const void *)bth - ip));
	if (!payload)
		return;

	pkt->pkey = 0;
	pkt->dest_qpn = 0;
	pkt->src_qpn = 0;
	pkt->psn = 0;
	pkt->ud = bth->opcode >> 5 == DCQCN_SERVICE_UD;
	pkt->kind = dcqcn_opcode_kinds[bth->opcode];
	if (payload < sizeof(*bth)) {
		if (pkt->kind != DCQCN_PKT_CNP &&
		    pkt->kind != DCQCN_PKT_FEEDBACK)
			pkt->kind = DCQCN_PKT_OTHER;
		return;
	}
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->dest_qpn = dcqcn_bth_qpn(bth);
	pkt->psn = dcqcn_bth_psn(bth);

	if (pkt->ud) {
		deth = (const void *)(bth + 1);
		if (payload < sizeof(*bth) + sizeof(*deth))
			pkt->kind = DCQCN_PKT_OTHER;
		else
			pkt->src_qpn = be32_to_cpu(deth->src_qpn) &
				       DCQCN_QPN_MASK;
	}
}

/*
 * The ICRC of the @len bytes from the IP header to the end of the payload.
 * Fields that a switch or router may change count as ones.
 */
static __le32 dcqcn_icrc(const void *ip, bool v6, size_t len)
{
	u8 head[sizeof(struct ipv6hdr) + sizeof(struct udphdr) +
		sizeof(struct dcqcn_bth)];
	size_t ip_len = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	size_t head_len = ip_len + sizeof(struct udphdr) +
			  sizeof(struct dcqcn_bth);
	struct udphdr *udp = (void *)head + ip_len;
	struct dcqcn_bth *bth = (void *)(udp + 1);
	u32 crc;

	memcpy(head, ip, head_len);
	if (v6) {
		struct ipv6hdr *ip6h = (void *)head;

		ip6h->priority = 0xf;
		memset(ip6h->flow_lbl, 0xff, sizeof(ip6h->flow_lbl));
		ip6h->hop_limit = 0xff;
	} else {
		struct iphdr *iph = (void *)head;

		iph->tos = 0xff;
		iph->ttl = 0xff;
		memset(&iph->check, 0xff, sizeof(iph->check));
	}
	memset(&udp->check, 0xff, sizeof(udp->check));
	bth->qpn |= cpu_to_be32(~DCQCN_QPN_MASK);

	crc = crc32_le(DCQCN_ICRC_SEED, head, head_len);
	crc = crc32_le(crc, ip + head_len, len - head_len);
	return cpu_to_le32(~crc);
}

/**
 * dcqcn_pkt_icrc_ok() - check a packet's ICRC
 * @pkt: parsed packet, linear
 *
 * Other hooks may have cut the packet, or changed its lengths, since IP looked at them.
 *
 * Context: any. Return: true if there is one and it is correct.
 */
bool dcqcn_pkt_icrc_ok(const struct dcqcn_pkt *pkt)
{
	size_t len = (const void *)pkt->udp - pkt->ip + pkt->udp_len;
	__le32 icrc;

	if (!pkt->plain || len > pkt->len ||
	    pkt->udp_len < sizeof(struct udphdr) + sizeof(struct dcqcn_bth) +
			   sizeof(icrc))
		return false;
	len -= sizeof(icrc);
	memcpy(&icrc, pkt->ip + len, sizeof(icrc));
	return icrc == dcqcn_icrc(pkt->ip, pkt->v6, len);
}

/**
 * dcqcn_pkt_request_ack() - let a packet ask for an ACK
 * @ip: its IP header; all of it is writable, and its ICRC right
 * @len: bytes from @ip on
 *
 * Context: any. Return: whether it asks now: RC SENDs and WRITEs may.
 */
bool dcqcn_pkt_request_ack(void *ip, size_t len)
{
	struct dcqcn_pkt pkt;
	struct dcqcn_bth *bth;
	size_t at, end;
	__le32 icrc;

	dcqcn_pkt_parse(&pkt, ip, len);
	if (pkt.kind != DCQCN_PKT_REQUEST || !pkt.plain ||
	    pkt.udp_len < sizeof(*pkt.udp) + sizeof(*bth) + sizeof(icrc))
		return false;
	at = (const void *)pkt.udp - ip;
	end = at + pkt.udp_len - sizeof(icrc);
	bth = ip + at + sizeof(*pkt.udp);
	if (end + sizeof(icrc) > len || !dcqcn_bth_may_request_ack(bth))
		return false;
	bth->psn |= cpu_to_be32(DCQCN_BTH_ACK_REQ);
	icrc = dcqcn_icrc(ip, pkt.v6, end);
	memcpy(ip + end, &icrc, sizeof(icrc));
	return true;
}

/* A CRC is linear: its change depends on the bits that are XORed into the packet and on the number
 * of bytes behind them, but not on any other byte
 */
static __le32 dcqcn_icrc_delta(__be16 port, size_t len)
{
	static const u8 zeros[256];
	u32 crc = crc32_le(0, (const u8 *)&port, sizeof(port));
	size_t n;

	for (len -= sizeof(port); len; len -= n) {
		n = min(len, sizeof(zeros));
		crc = crc32_le(crc, zeros, n);
	}
	return cpu_to_le32(crc);
}

/**
 * dcqcn_pkt_steer() - let a packet take another path
 * @ip: its IP header; all of it is writable, and its ICRC right
 * @len: bytes from @ip on
 * @ev: entropy value; XORed into the UDP source port and the IPv6 flow label
 * @known: zeroed, or as this function left it for an earlier packet
 *
 * Context: any. Return: whether the packet was changed; only RoCEv2 without UDP checksum and IPv4
 * options can be.
 */
bool dcqcn_pkt_steer(void *ip, size_t len, u16 ev, struct dcqcn_steering *known)
{
	struct ipv6hdr *ip6h = ip;
	struct dcqcn_pkt pkt;
	struct udphdr *udp;
	size_t at, behind;
	__le32 icrc;

	dcqcn_pkt_parse(&pkt, ip, len);
	if (pkt.kind == DCQCN_PKT_OTHER || !pkt.plain || pkt.udp->check ||
	    pkt.udp_len < sizeof(*udp) + sizeof(struct dcqcn_bth) + sizeof(icrc))
		return false;
	at = (const void *)pkt.udp - ip;
	behind = pkt.udp_len - sizeof(icrc);
	if (at + behind + sizeof(icrc) > len)
		return false;
	if (known->ev != ev || known->len != behind)
		*known = (struct dcqcn_steering) {
			.ev = ev,
			.len = behind,
			.delta = dcqcn_icrc_delta(cpu_to_be16(ev), behind),
		};
	udp = ip + at;
	udp->source ^= cpu_to_be16(ev);
	if (pkt.v6) {
		ip6h->flow_lbl[1] ^= ev >> 8;
		ip6h->flow_lbl[2] ^= ev;
	}
	memcpy(&icrc, ip + at + behind, sizeof(icrc));
	icrc ^= known->delta;
	memcpy(ip + at + behind, &icrc, sizeof(icrc));
	return true;
}

/**
 * dcqcn_pkt_is_valid_cnp() - check a CNP's length and ICRC
 * @pkt: parsed packet of kind DCQCN_PKT_CNP, readable as a whole
 *
 * BECN and the reserved bytes are ignored, as annex A17 says.
 *
 * Context: any. Return: true if the CNP may be acted on.
 */
bool dcqcn_pkt_is_valid_cnp(const struct dcqcn_pkt *pkt)
{
	return pkt->udp_len == sizeof(struct udphdr) +
			       sizeof(struct dcqcn_cnp) &&
	       dcqcn_pkt_icrc_ok(pkt);
}

/**
 * dcqcn_pkt_is_valid_feedback() - whether feedback may be acted on
 * @pkt: parsed packet of kind DCQCN_PKT_FEEDBACK, all of it readable
 *
 * Length, version and ICRC must be right.
 *
 * Context: any.
 */
bool dcqcn_pkt_is_valid_feedback(const struct dcqcn_pkt *pkt)
{
	const struct dcqcn_feedback *feedback = (const void *)(pkt->udp + 1);

	return pkt->udp_len == sizeof(struct udphdr) + sizeof(*feedback) &&
	       dcqcn_pkt_icrc_ok(pkt) &&
	       feedback->version == DCQCN_FEEDBACK_VERSION;
}

/**
 * dcqcn_pkt_syndrome() - check an ACK, and read its syndrome
 * @pkt: parsed packet of kind DCQCN_PKT_ACK, readable as a whole
 *
 * The ICRC must be correct.
 *
 * Context: any. Return: its syndrome, &dcqcn_aeth.syndrome; -1 if the packet is not valid.
 */
int dcqcn_pkt_syndrome(const struct dcqcn_pkt *pkt)
{
	const struct dcqcn_bth *bth = (const void *)(pkt->udp + 1);
	const struct dcqcn_aeth *aeth = (const void *)(bth + 1);
	size_t least = sizeof(*pkt->udp) + sizeof(*bth) + sizeof(*aeth) +
		       sizeof(__le32);

	if ((pkt->udp_len != least &&
	     pkt->udp_len != least + DCQCN_ATOMIC_ACK_LEN) ||
	    !dcqcn_pkt_icrc_ok(pkt))
		return -1;
	return aeth->syndrome;
}

#define DCQCN_HOPS_MAX	16

/**
 * dcqcn_ip_hops() - how many routers a packet has passed
 * @ip: its IP header
 *
 * Senders start with a TTL of 64, 128 or 255, so the number is the difference to the next of these.
 *
 * Context: any. Return: how many; 0 for unknown, if there are more than any data centre has.
 */
u8 dcqcn_ip_hops(const void *ip)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;
	u8 ttl = iph->version == 6 ? ip6h->hop_limit : iph->ttl;
	u8 hops = (ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255) - ttl;

	return hops <= DCQCN_HOPS_MAX ? hops : 0;
}

/**
 * dcqcn_ip_saddr() - source address of a packet
 * @ip: its IP header
 * @addr: result, IPv4-mapped for IPv4
 */
void dcqcn_ip_saddr(const void *ip, struct in6_addr *addr)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	if (iph->version == 6)
		*addr = ip6h->saddr;
	else
		ipv6_addr_set_v4mapped(iph->saddr, addr);
}

/**
 * dcqcn_ip_daddr() - destination address of a packet
 * @ip: its IP header
 * @addr: result, IPv4-mapped for IPv4
 */
void dcqcn_ip_daddr(const void *ip, struct in6_addr *addr)
{
	const struct ipv6hdr *ip6h = ip;
	const struct iphdr *iph = ip;

	if (iph->version == 6)
		*addr = ip6h->daddr;
	else
		ipv6_addr_set_v4mapped(iph->daddr, addr);
}

/* Write the headers of a packet of @len bytes, the rest of which is zero. Returns its
 * BTH.
 */
static struct dcqcn_bth *dcqcn_head_build(void *buf, size_t len,
					  const struct dcqcn_cnp_spec *spec)
{
	bool v6 = !ipv6_addr_v4mapped(&spec->daddr);
	size_t ip_len = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct udphdr *udp = buf + ip_len;
	struct dcqcn_bth *bth = (void *)(udp + 1);

	memset(buf, 0, len);
	if (v6) {
		struct ipv6hdr *ip6h = buf;

		ip6h->version = 6;
		ip6h->priority = spec->tos >> 4;
		ip6h->flow_lbl[0] = spec->tos << 4;
		ip6h->payload_len = cpu_to_be16(len - ip_len);
		ip6h->nexthdr = IPPROTO_UDP;
		ip6h->hop_limit = spec->ttl;
		ip6h->saddr = spec->saddr;
		ip6h->daddr = spec->daddr;
	} else {
		struct iphdr *iph = buf;

		iph->version = 4;
		iph->ihl = sizeof(*iph) / 4;
		iph->tos = spec->tos;
		iph->tot_len = cpu_to_be16(len);
		iph->frag_off = cpu_to_be16(0x4000);	/* DF */
		iph->ttl = spec->ttl;
		iph->protocol = IPPROTO_UDP;
		iph->saddr = spec->saddr.s6_addr32[3];
		iph->daddr = spec->daddr.s6_addr32[3];
	}
	udp->source = cpu_to_be16(spec->sport);
	udp->dest = cpu_to_be16(DCQCN_UDP_PORT);
	udp->len = cpu_to_be16(len - ip_len);
	bth->pkey = cpu_to_be16(spec->pkey);
	bth->qpn = cpu_to_be32(spec->dest_qpn);
	return bth;
}

/**
 * dcqcn_cnp_build() - write a CNP, from the IP header on
 * @buf: DCQCN_CNP_V4_LEN or DCQCN_CNP_V6_LEN bytes
 * @spec: addresses, QP and header fields
 *
 * The IPv4 header checksum is left to the sender.
 *
 * Context: any. Return: bytes written.
 */
size_t dcqcn_cnp_build(void *buf, const struct dcqcn_cnp_spec *spec)
{
	bool v6 = !ipv6_addr_v4mapped(&spec->daddr);
	size_t len = v6 ? DCQCN_CNP_V6_LEN : DCQCN_CNP_V4_LEN;
	struct dcqcn_bth *bth = dcqcn_head_build(buf, len, spec);
	struct dcqcn_cnp *cnp = (void *)bth;

	bth->opcode = DCQCN_OPCODE_CNP;
	bth->qpn |= cpu_to_be32(DCQCN_BTH_BECN);
	cnp->icrc = dcqcn_icrc(buf, v6, len - sizeof(cnp->icrc));
	return len;
}

/**
 * dcqcn_feedback_build() - write feedback, from the IP header on
 * @buf: DCQCN_FEEDBACK_V4_LEN or DCQCN_FEEDBACK_V6_LEN bytes
 * @spec: addresses and header fields
 * @feedback: what it says; its BTH and ICRC do not matter
 *
 * The IPv4 header checksum is left to the sender.
 *
 * Context: any. Return: bytes written.
 */
size_t dcqcn_feedback_build(void *buf, const struct dcqcn_cnp_spec *spec,
			    const struct dcqcn_feedback *feedback)
{
	bool v6 = !ipv6_addr_v4mapped(&spec->daddr);
	size_t len = v6 ? DCQCN_FEEDBACK_V6_LEN : DCQCN_FEEDBACK_V4_LEN;
	struct dcqcn_bth *bth = dcqcn_head_build(buf, len, spec);
	struct dcqcn_feedback *out = (void *)bth;
	struct dcqcn_bth head = *bth;

	head.opcode = DCQCN_OPCODE_FEEDBACK;
	*out = *feedback;
	out->bth = head;
	out->icrc = dcqcn_icrc(buf, v6, len - sizeof(out->icrc));
	return len;
}
