// SPDX-License-Identifier: GPL-2.0
/*
 * packet.c against captured packets, packets made here, and garbage.
 *
 * Every packet lies in a buffer of exactly its size, so that the address
 * sanitizer sees the first byte that is read too many.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "random.h"
#include "tap.h"
#include "wire.h"

#define FUZZ_CASES	4000000

/* A packet to be made. The payload is all between BTH and ICRC. */
struct shape {
	bool v6;
	size_t options;		/* bytes of IPv4 options, a multiple of 4 */
	u8 opcode;
	size_t payload;
};

static const struct shape cnp4 = { false, 0, CNP, CNP_RESERVED };
static const struct shape cnp6 = { true, 0, CNP, CNP_RESERVED };
static const struct shape cnp_options = { false, 40, CNP, CNP_RESERVED };
static const struct shape write4 = { false, 0, RC_WRITE_ONLY, 16 + 100 };
static const struct shape write6 = { true, 0, RC_WRITE_ONLY, 16 + 100 };
static const struct shape ud4 = { false, 0, UD_SEND_ONLY, DETH_LEN + 20 };
static const struct shape ud6 = { true, 0, UD_SEND_ONLY, DETH_LEN + 20 };
static const struct shape ud_options = { false, 40, UD_SEND_ONLY, DETH_LEN };
static const struct shape ack4 = { false, 0, RC_ACK, 4 };

static const struct shape *const shapes[] = {
	&cnp4, &cnp6, &cnp_options, &write4, &write6, &ud4, &ud6, &ud_options,
	&ack4
};

/* A packet with arbitrary bytes where any will do; to be freed */
static u8 *make(const struct shape *s, size_t *len)
{
	size_t ip = s->v6 ? IP6_LEN : IP4_LEN + s->options;
	size_t udp_len = UDP_LEN + BTH_LEN + s->payload + ICRC_LEN;
	size_t i;
	u8 *p;

	*len = ip + udp_len;
	p = malloc(*len);
	for (i = 0; i < *len; i++)
		p[i] = random_u64();

	if (s->v6) {
		p[0] = 0x60 | (p[0] & 0x0f);
		put16(p + 4, udp_len);
		p[6] = 17;
	} else {
		p[0] = 0x40 | ip / 4;
		put16(p + 2, *len);
		put16(p + 6, 0x4000);
		p[9] = 17;
	}
	put16(p + ip + 2, 4791);
	put16(p + ip + 4, udp_len);
	p[ip + UDP_LEN] = s->opcode;
	put_icrc(p, *len - ICRC_LEN);
	return p;
}

static struct dcqcn_pkt parse(const u8 *p, size_t len)
{
	struct dcqcn_pkt pkt;

	/* no field may be valid by luck */
	memset(&pkt, 0xa5, sizeof(pkt));
	dcqcn_pkt_parse(&pkt, p, len);
	return pkt;
}

static bool has_right_icrc(const u8 *p, size_t len)
{
	struct dcqcn_pkt pkt = parse(p, len);

	return pkt.kind != DCQCN_PKT_OTHER && dcqcn_pkt_icrc_ok(&pkt);
}

static bool is_valid_cnp(const u8 *p, size_t len)
{
	struct dcqcn_pkt pkt = parse(p, len);

	return pkt.kind == DCQCN_PKT_CNP && dcqcn_pkt_is_valid_cnp(&pkt);
}

static bool parses_as_expected(const u8 *p, size_t len)
{
	struct dcqcn_pkt pkt = parse(p, len);
	struct dcqcn_pkt e = expected_pkt(p, len, &pkt);

	if (!expect(pkt.kind == e.kind, "kind %u instead of %u", pkt.kind,
		    e.kind))
		return false;
	if (pkt.kind == DCQCN_PKT_OTHER)
		return true;
	return expect(pkt.ip == e.ip && pkt.udp == e.udp, "headers") &&
	       expect(pkt.udp_len == e.udp_len, "udp_len %u instead of %u",
		      pkt.udp_len, e.udp_len) &&
	       expect(pkt.tos == e.tos, "tos %x instead of %x", pkt.tos,
		      e.tos) &&
	       expect(pkt.v6 == e.v6 && pkt.plain == e.plain && pkt.ud == e.ud,
		      "flags") &&
	       expect(pkt.pkey == e.pkey, "pkey") &&
	       expect(pkt.dest_qpn == e.dest_qpn, "dest_qpn %x instead of %x",
		      pkt.dest_qpn, e.dest_qpn) &&
	       expect(pkt.src_qpn == e.src_qpn, "src_qpn %x instead of %x",
		      pkt.src_qpn, e.src_qpn) &&
	       expect(pkt.psn == e.psn, "psn");
}

/* A CNP from an independent implementation, Mellanox's published example */
static const u8 captured_cnp[60] = {
	0x45, 0x89, 0x00, 0x3c, 0x98, 0xc6, 0x40, 0x00, 0x20, 0x11, 0x69, 0x27,
	0x16, 0x16, 0x16, 0x08, 0x16, 0x16, 0x16, 0x07,
	0xdb, 0xae, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x00, 0xd2, 0x00, 0x00, 0x00, 0x00,
	[56] = 0xda, 0xfc, 0x1b, 0xef,
};

/* One that a ConnectX-4 Lx sent, from the tests of scapy's RoCE dissector */
static const u8 connectx4_cnp[60] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	[56] = 0x82, 0xfd, 0x00, 0x2a,
};

/* An ordinary packet with a UDP checksum, from the same tests: UC SEND */
static const u8 uc_send[64] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50,
	0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x78, 0xf3, 0x53, 0xf3,
};

static u8 *copy_of(const u8 *p, size_t len)
{
	return memcpy(malloc(len), p, len);
}

static void test_captured_cnp(void)
{
	u8 *p = copy_of(captured_cnp, sizeof(captured_cnp));
	struct dcqcn_pkt pkt = parse(p, sizeof(captured_cnp));
	struct in6_addr addr;

	if (!expect(pkt.kind == DCQCN_PKT_CNP, "kind %u", pkt.kind))
		goto out;
	expect(pkt.tos == 0x89, "tos %x", pkt.tos);
	expect(dcqcn_pkt_prio(&pkt) == 4, "prio %u", dcqcn_pkt_prio(&pkt));
	expect(dcqcn_pkt_ecn(&pkt) == 1, "ecn %u", dcqcn_pkt_ecn(&pkt));
	expect(!pkt.v6 && pkt.plain && !pkt.ud, "flags");
	expect(pkt.udp_len == 40, "udp_len %u", pkt.udp_len);
	expect(pkt.pkey == 0xffff, "pkey %x", pkt.pkey);
	expect(pkt.dest_qpn == 0xd2, "dest_qpn %x", pkt.dest_qpn);
	expect(pkt.src_qpn == 0, "src_qpn %x", pkt.src_qpn);
	expect(pkt.psn == 0, "psn %x", pkt.psn);
	dcqcn_ip_saddr(pkt.ip, &addr);
	expect(!memcmp(&addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x16\x16\x16\x08",
		       16), "source address");
	dcqcn_ip_daddr(pkt.ip, &addr);
	expect(!memcmp(&addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x16\x16\x16\x07",
		       16), "destination address");
	expect(is_valid_cnp(p, sizeof(captured_cnp)), "not a valid CNP");
out:
	free(p);

	p = copy_of(connectx4_cnp, sizeof(connectx4_cnp));
	pkt = parse(p, sizeof(connectx4_cnp));
	expect(is_valid_cnp(p, sizeof(connectx4_cnp)), "ConnectX: not valid");
	expect(pkt.dest_qpn == 0x118, "ConnectX: dest_qpn %x", pkt.dest_qpn);
	expect(dcqcn_pkt_prio(&pkt) == 6, "prio %u", dcqcn_pkt_prio(&pkt));
	expect(dcqcn_pkt_ecn(&pkt) == DCQCN_ECN_ECT_0, "ecn");
	free(p);
}

static void test_captured_uc_send(void)
{
	u8 *p = copy_of(uc_send, sizeof(uc_send));

	expect(parse(p, sizeof(uc_send)).kind == DCQCN_PKT_REQUEST, "kind");
	expect(has_right_icrc(p, sizeof(uc_send)), "ICRC");
	expect(icrc_is_right(p, sizeof(uc_send)), "the test's own ICRC");
	free(p);
}

/* Build what was captured. The id is 0 in ours, and under the ICRC: with the
 * captured one and its ICRC recomputed, all bytes must be the same.
 */
static void test_rebuild_captured(void)
{
	static const u8 *const captured[] = { captured_cnp, connectx4_cnp };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(captured); i++) {
		const u8 *c = captured[i];
		struct dcqcn_cnp_spec spec = {
			.dest_qpn = get24(c + 33),
			.pkey = get16(c + 30),
			.sport = get16(c + 20),
			.tos = c[1],
			.ttl = c[8],
		};
		u8 *p = malloc(DCQCN_CNP_V4_LEN);
		size_t k;

		memcpy(&spec.saddr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		memcpy(&spec.saddr.s6_addr[12], c + 12, 4);
		memcpy(&spec.daddr, &spec.saddr, 12);
		memcpy(&spec.daddr.s6_addr[12], c + 16, 4);
		expect(dcqcn_cnp_build(p, &spec) == 60, "length");
		expect(get16(p + 4) == 0, "id %x", get16(p + 4));
		expect(get16(p + 10) == 0, "checksum %x", get16(p + 10));
		expect(icrc_is_right(p, 60), "ICRC");
		expect(is_valid_cnp(p, 60), "not a valid CNP");

		memcpy(p + 4, c + 4, 2);
		memcpy(p + 10, c + 10, 2);
		put_icrc(p, 56);
		for (k = 0; k < 60; k++)
			expect(p[k] == c[k], "CNP %u byte %zu is %02x, not %02x",
			       i, k, p[k], c[k]);
		free(p);
	}
}

static void test_build_v6(void)
{
	struct dcqcn_cnp_spec spec = {
		.saddr.s6_addr = "\xfe\x80\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe",
		.daddr.s6_addr = "\xfe\x80\0\0\0\0\0\0\xff\xff\xff\xff\1\2\3\4",
		.dest_qpn = 0xfedcba,
		.pkey = 0x8001,
		.sport = 0xc123,
		.tos = 0xc2,
		.ttl = 63,
	};
	u8 expected[80] = {
		/* version, traffic class, flow label; length, UDP, hops */
		0x6c, 0x20, 0x00, 0x00, 0x00, 40, 17, 63,
		[40] = 0xc1, 0x23, 0x12, 0xb7, 0x00, 40, 0x00, 0x00,
		[48] = 0x81, 0x00, 0x80, 0x01, 0x40, 0xfe, 0xdc, 0xba,
	};
	u8 *p = malloc(DCQCN_CNP_V6_LEN);
	struct in6_addr addr;
	struct dcqcn_pkt pkt;
	size_t i;

	memcpy(expected + 8, &spec.saddr, 16);
	memcpy(expected + 24, &spec.daddr, 16);
	put_icrc(expected, 76);
	expect(dcqcn_cnp_build(p, &spec) == 80, "length");
	for (i = 0; i < 80; i++)
		expect(p[i] == expected[i], "byte %zu is %02x, not %02x", i,
		       p[i], expected[i]);

	pkt = parse(p, 80);
	expect(is_valid_cnp(p, 80), "not a valid CNP");
	expect(pkt.v6, "not IPv6");
	expect(pkt.tos == 0xc2, "tos %x", pkt.tos);
	expect(pkt.dest_qpn == 0xfedcba, "dest_qpn %x", pkt.dest_qpn);
	expect(pkt.pkey == 0x8001, "pkey %x", pkt.pkey);
	dcqcn_ip_saddr(pkt.ip, &addr);
	expect(!memcmp(&addr, &spec.saddr, 16), "source address");
	dcqcn_ip_daddr(pkt.ip, &addr);
	expect(!memcmp(&addr, &spec.daddr, 16), "destination address");

	/* almost IPv4-mapped is not IPv4 */
	for (i = 0; i < 12; i++) {
		memcpy(&spec.daddr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		spec.daddr.s6_addr[i] ^= 1;
		expect(dcqcn_cnp_build(p, &spec) == 80 && p[0] == 0x6c,
		       "IPv4 with byte %zu wrong", i);
	}
	free(p);
}

static void test_opcodes(void)
{
	unsigned int opcode, v6;

	for (opcode = 0; opcode < 256; opcode++) {
		for (v6 = 0; v6 < 2; v6++) {
			struct shape s = { v6, 0, opcode, 40 };
			struct dcqcn_pkt pkt;
			size_t len;
			u8 *p;

			p = make(&s, &len);
			pkt = parse(p, len);
			expect(pkt.kind == kind_of_opcode(opcode),
			       "opcode %02x is of kind %u, not %u", opcode,
			       pkt.kind, kind_of_opcode(opcode));
			parses_as_expected(p, len);
			free(p);
		}
	}
}

/* RC WRITEs of all lengths up to some hundred, and of the MTUs */
static void test_icrc_of_data(void)
{
	static const size_t mtus[] = { 256, 512, 1024, 2048, 4096 };
	struct shape s = { .opcode = RC_WRITE_ONLY };
	size_t i, len;
	u8 *p;

	for (i = 0; i < 2 * (200 + ARRAY_SIZE(mtus)); i++) {
		size_t n = i / 2;

		s.v6 = i % 2;
		s.payload = n < 200 ? n : 16 + mtus[n - 200];
		p = make(&s, &len);
		expect(parse(p, len).kind == DCQCN_PKT_REQUEST, "kind");
		expect(has_right_icrc(p, len), "v6 %u, payload %zu", s.v6,
		       s.payload);
		free(p);
	}

	/* What the IP header leaves room for behind the UDP length is padding:
	 * the ICRC is where UDP ends.
	 */
	p = make(&write4, &len);
	p = realloc(p, len + 6);
	memset(p + len, 0, 6);
	put16(p + 2, len + 6);
	put_icrc(p, len - ICRC_LEN);
	expect(has_right_icrc(p, len + 6), "with padding");
	free(p);

	/* too short for one */
	s = (struct shape) { .opcode = RC_ACK };
	p = make(&s, &len);
	put16(p + 2, len - 1);
	put16(p + IP4_LEN + 4, len - 1 - IP4_LEN);
	expect(!has_right_icrc(p, len - 1), "an ICRC of three bytes");
	free(p);
}

/* AckReq: the top bit of the PSN's word */
#define ASKS(p, s)	((p)[((s)->v6 ? IP6_LEN : IP4_LEN + (s)->options) + UDP_LEN + 8] >> 7)

static void test_ask(void)
{
	static const struct shape may[] = {
		{ .opcode = RC_SEND_MIDDLE, .payload = 1024 },
		{ .opcode = RC_WRITE_ONLY, .payload = 16 + 100 },
		{ .v6 = true, .opcode = RC_WRITE_ONLY, .payload = 16 + 4096 },
		{ .opcode = RC_SEND_MIDDLE },
	};
	static const struct shape may_not[] = {
		{ .options = 40, .opcode = RC_WRITE_ONLY, .payload = 116 },
		{ .opcode = DCQCN_OPCODE_READ, .payload = 16 },
		{ .opcode = RC_ACK, .payload = 4 },
		{ .opcode = UC_SEND_ONLY, .payload = 100 },
		{ .opcode = UD_SEND_ONLY, .payload = DETH_LEN + 20 },
		{ .opcode = CNP, .payload = CNP_RESERVED },
	};
	size_t i, len;
	u8 *p, *was;

	for (i = 0; i < ARRAY_SIZE(may); i++) {
		size_t bth = (may[i].v6 ? IP6_LEN : IP4_LEN) + UDP_LEN;

		p = make(&may[i], &len);
		was = copy_of(p, len);
		expect(dcqcn_pkt_request_ack(p, len) && ASKS(p, &may[i]), "shape %zu does not ask", i);
		expect(has_right_icrc(p, len), "shape %zu: wrong ICRC", i);
		was[bth + 8] |= 0x80;
		expect(!memcmp(p, was, len - ICRC_LEN), "shape %zu: another bit is different", i);
		expect(!dcqcn_pkt_request_ack(p, len - 1), "shape %zu: asks without its last byte", i);
		free(was);
		free(p);
	}
	for (i = 0; i < ARRAY_SIZE(may_not); i++) {
		p = make(&may_not[i], &len);
		was = copy_of(p, len);
		expect(!dcqcn_pkt_request_ack(p, len) && !memcmp(p, was, len),
		       "shape %zu was changed", i);
		free(was);
		free(p);
	}
}

/* RC SENDs and WRITEs alone: a READ or an atomic operation is answered anyway, and no
 * other service acknowledges
 */
static void test_ask_opcodes(void)
{
	unsigned int opcode, v6;

	for (opcode = 0; opcode < 256; opcode++) {
		for (v6 = 0; v6 < 2; v6++) {
			struct shape s = { v6, 0, opcode, 40 };
			bool may = opcode <= RC_WRITE_ONLY + 1;	/* with immediate data */
			size_t len;
			u8 *p, *was;

			p = make(&s, &len);
			was = copy_of(p, len);
			expect(dcqcn_pkt_request_ack(p, len) == may, "opcode %02x: asks %d", opcode, !may);
			expect(may ? ASKS(p, &s) && has_right_icrc(p, len) :
				     !memcmp(p, was, len), "opcode %02x: changed", opcode);
			free(was);
			free(p);
		}
	}
}

/* The source port and, if there is one, the flow label change, and the ICRC stays right: with
 * lengths that differ from one packet to the next, and another value now and then
 */
static void test_steer(void)
{
	static const size_t payloads[] = { 16 + 4096, 16 + 4096, 4, 0, 16 + 1024, 16 + 4096 };
	struct dcqcn_steering known = {};
	size_t i, len;
	u8 *p, *was;
	u16 ev = 1;

	for (i = 0; i < 3000; i++) {
		struct shape s = { .v6 = random_one_in(2), .opcode = RC_WRITE_ONLY,
				   .payload = payloads[random_u64() % ARRAY_SIZE(payloads)] };
		size_t ip = s.v6 ? IP6_LEN : IP4_LEN;

		if (random_one_in(10))
			ev = random_u64() % 0x4000;
		p = make(&s, &len);
		put16(p + ip, 0xc000 | (random_u64() & 0x3fff));
		put16(p + ip + 6, 0);
		put_icrc(p, len - ICRC_LEN);
		was = copy_of(p, len);
		expect(dcqcn_pkt_steer(p, len, ev, &known), "not steered");
		expect(has_right_icrc(p, len), "v6 %u, payload %zu, ev %u: wrong ICRC", s.v6,
		       s.payload, ev);
		expect(p[ip] >= 0xc0, "source port %u", p[ip] << 8 | p[ip + 1]);
		was[ip] ^= ev >> 8;
		was[ip + 1] ^= ev;
		if (s.v6) {
			was[2] ^= ev >> 8;
			was[3] ^= ev;
		}
		expect(!memcmp(p, was, len - ICRC_LEN), "another byte is different");
		free(was);

		/* and back */
		expect(dcqcn_pkt_steer(p, len, ev, &known) && has_right_icrc(p, len), "not back");
		free(p);
	}
}

/* What is cut short, or has no ICRC that is defined, or a UDP checksum, is left alone */
static void test_steer_not(void)
{
	static const struct shape options = { .options = 40, .opcode = RC_WRITE_ONLY,
					      .payload = 116 };
	struct dcqcn_steering known = {};
	unsigned int i;
	size_t len;
	u8 *p, *was;

	for (i = 0; i < 4; i++) {
		p = make(i == 0 ? &options : &write4, &len);
		put16(p + IP4_LEN + 6, i == 1 ? 0x1234 : 0);
		if (i == 2)
			put16(p + IP4_LEN + 2, 4792);
		was = copy_of(p, len);
		expect(!dcqcn_pkt_steer(p, i == 3 ? len - 1 : len, 77, &known) &&
		       !memcmp(p, was, len), "packet %u was changed", i);
		free(was);
		free(p);
	}
}

/* One wrong bit anywhere, except where routers write */
static void test_bit_flips(void)
{
	static const struct shape *const plain[] = {
		&cnp4, &cnp6, &write4, &write6, &ud4, &ud6
	};
	size_t i, k, len;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		bool is_cnp = plain[i]->opcode == CNP;
		u8 *p = make(plain[i], &len);

		expect(has_right_icrc(p, len), "shape %zu", i);
		expect(is_valid_cnp(p, len) == is_cnp, "shape %zu", i);
		for (k = 0; k < 8 * len; k++) {
			u8 bit = 1 << k % 8;
			bool accept = bit &
				uncovered_bits(p, ip_len(p), k / 8);

			p[k / 8] ^= bit;
			expect(has_right_icrc(p, len) == accept,
			       "shape %zu: byte %zu bit %02x", i, k / 8, bit);
			expect(is_valid_cnp(p, len) == (accept && is_cnp),
			       "shape %zu: byte %zu bit %02x", i, k / 8, bit);
			p[k / 8] ^= bit;
		}
		free(p);
	}
}

/* The reader has only the first bytes; the headers speak of more */
static void test_readable_part(void)
{
	size_t i, n, len;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		u8 *whole = make(shapes[i], &len);

		for (n = 0; n <= len; n++) {
			u8 *p = copy_of(whole, n);

			if (!parses_as_expected(p, n))
				tap_note("shape %zu, %zu bytes", i, n);
			/* this many bytes are always enough */
			if (n >= DCQCN_PKT_HEADERS)
				expect(parse(p, n).kind ==
				       kind_of_opcode(shapes[i]->opcode),
				       "shape %zu, %zu bytes", i, n);
			free(p);
		}
		free(whole);
	}
}

/* The packet itself is short, and its lengths say so */
static void test_truncated_packets(void)
{
	size_t i, n, len;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		bool is_cnp = shapes[i]->opcode == CNP;
		u8 *whole = make(shapes[i], &len);
		size_t ip = ip_len(whole);

		for (n = ip + UDP_LEN; n < len; n++) {
			u8 *p = copy_of(whole, n);

			put16(p + (shapes[i]->v6 ? 4 : 2),
			      shapes[i]->v6 ? n - ip : n);
			put16(p + ip + 4, n - ip);
			if (!parses_as_expected(p, n))
				tap_note("shape %zu, %zu bytes", i, n);
			expect((parse(p, n).kind == DCQCN_PKT_CNP) ==
			       (is_cnp && n > ip + UDP_LEN),
			       "shape %zu, %zu bytes", i, n);
			/* not even where the ICRC is right */
			if (n >= ip + UDP_LEN + BTH_LEN + ICRC_LEN)
				put_icrc(p, n - ICRC_LEN);
			expect(!is_valid_cnp(p, n), "shape %zu, %zu bytes", i,
			       n);
			free(p);
		}
		free(whole);
	}
}

static void test_invalid_cnps(void)
{
	static const struct shape cases[] = {
		{ false, 0, CNP, CNP_RESERVED + 1 },
		{ false, 0, CNP, CNP_RESERVED - 1 },
		{ true, 0, CNP, CNP_RESERVED + 4 },
		{ true, 0, CNP, 1000 },
		{ false, 4, CNP, CNP_RESERVED },
		{ false, 40, CNP, CNP_RESERVED },
	};
	size_t i, len;
	u8 *p;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		p = make(&cases[i], &len);
		expect(parse(p, len).kind == DCQCN_PKT_CNP, "case %zu", i);
		expect(!is_valid_cnp(p, len), "case %zu", i);
		expect(parse(p, len).plain == (cases[i].options == 0),
		       "case %zu", i);
		/* nor with an ICRC that takes the options for UDP */
		put_icrc_with_udp_at(p, len - ICRC_LEN,
				     cases[i].v6 ? IP6_LEN : IP4_LEN);
		expect(!is_valid_cnp(p, len), "case %zu", i);
		free(p);
	}

	/* BECN, FECN, the reserved bytes, the flags: all may be anything */
	for (i = 0; i < 1000; i++) {
		p = make(i % 2 ? &cnp6 : &cnp4, &len);
		expect(is_valid_cnp(p, len), "CNP %zu with arbitrary bits", i);
		free(p);
	}
}

/* Packets that look like RoCEv2, but must be left alone */
static void test_other_packets(void)
{
	static const struct {
		const char *what;
		const struct shape *shape;
		size_t at;		/* two bytes there become … */
		u16 value;
	} cases[] = {
		{ "version 5", &cnp4, 0, 0x5500 },
		{ "version 0", &cnp4, 0, 0x0500 },
		{ "version 15", &cnp6, 0, 0xf000 },
		{ "IHL 4", &cnp4, 0, 0x4400 },
		{ "IHL 0", &cnp4, 0, 0x4000 },
		{ "IP length 0", &cnp4, 2, 0 },
		{ "IP length below the IP header", &cnp4, 2, 19 },
		{ "IP length below the UDP header", &cnp4, 2, 27 },
		{ "IP length below the UDP length", &cnp4, 2, 59 },
		{ "first fragment", &cnp4, 6, 0x2000 },
		{ "middle fragment", &cnp4, 6, 0x2001 },
		{ "last fragment", &cnp4, 6, 0x1fff },
		{ "small offset", &cnp4, 6, 0x0001 },
		{ "TCP", &cnp4, 8, 0x4006 },
		{ "UDP-Lite", &cnp4, 8, 0x4088 },
		{ "source port only", &cnp4, 22, 4790 },
		{ "byte-swapped port", &cnp4, 22, 0xb712 },
		{ "UDP length 0", &cnp4, 24, 0 },
		{ "UDP length 7", &cnp4, 24, 7 },
		{ "UDP length 8", &cnp4, 24, 8 },
		{ "UDP length beyond IP", &cnp4, 24, 41 },
		{ "UDP length far beyond IP", &cnp4, 24, 0xffff },
		{ "payload length 0 (jumbogram)", &cnp6, 4, 0 },
		{ "payload length below the UDP length", &cnp6, 4, 39 },
		{ "hop-by-hop options", &cnp6, 6, 0x0040 },
		{ "routing header", &cnp6, 6, 0x2b40 },
		{ "fragment header", &cnp6, 6, 0x2c40 },
		{ "destination options", &cnp6, 6, 0x3c40 },
		{ "IPv6 port", &cnp6, 42, 4792 },
		{ "IPv6 UDP length 7", &cnp6, 44, 7 },
		{ "IPv6 UDP length beyond IP", &cnp6, 44, 41 },
		{ "IPv6 header on IPv4", &cnp4, 0, 0x6000 },
		{ "IPv4 header on IPv6", &cnp6, 0, 0x4500 },
	};
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 *p = make(cases[i].shape, &len);

		/* bytes that would be the other family's must not fit by luck */
		if (cases[i].shape->v6)
			memset(p + 8, 0, 32);
		else
			memset(p + IP4_LEN + UDP_LEN + BTH_LEN, 0,
			       CNP_RESERVED);
		put16(p + cases[i].at, cases[i].value);
		expect(parse(p, len).kind == DCQCN_PKT_OTHER, "%s",
		       cases[i].what);
		parses_as_expected(p, len);
		free(p);
	}

	/* DF and the reserved flag do not make a fragment */
	for (i = 0; i < 4; i++) {
		u8 *p = make(&cnp4, &len);

		put16(p + 6, i << 14);
		put_icrc(p, len - ICRC_LEN);
		expect(is_valid_cnp(p, len), "flags %zx", i << 14);
		free(p);
	}
}

static void test_fields(void)
{
	size_t i, len;

	for (i = 0; i < 2000; i++) {
		const struct shape *s = shapes[i % ARRAY_SIZE(shapes)];
		u8 *p = make(s, &len);

		parses_as_expected(p, len);
		free(p);
	}

	for (i = 0; i < 256; i++) {
		u8 *p = make(i % 2 ? &write4 : &write6, &len);
		struct dcqcn_pkt pkt;

		if (i % 2)
			p[1] = i;
		else
			put16(p, 0x6000 | i << 4 | (p[1] & 15));
		pkt = parse(p, len);
		expect(pkt.tos == i, "tos %x instead of %zx", pkt.tos, i);
		expect(dcqcn_pkt_ecn(&pkt) == i % 4, "ecn of %zx", i);
		/* the DSCP's upper three bits */
		expect(dcqcn_pkt_prio(&pkt) == i / 4 / 8, "prio of %zx", i);
		free(p);
	}
}

/* Random bytes, most of them made to look right at each of the places where
 * parsing would otherwise end
 */
static void fuzz_case(u8 *p, size_t len)
{
	static const u8 some_opcodes[] = {
		RC_SEND_MIDDLE, RC_WRITE_ONLY, RC_ACK, UC_SEND_ONLY,
		UD_SEND_ONLY, CNP, CNP, 0x15, 0x6f
	};
	size_t i, ip;

	for (i = 0; i + 8 <= len; i += 8) {
		u64 x = random_u64();

		memcpy(p + i, &x, 8);
	}
	for (; i < len; i++)
		p[i] = random_u64();

	if (len < IP4_LEN)
		return;
	if (!random_one_in(16))
		p[0] = random_one_in(2) ? 0x60 | (p[0] & 15) :
		       random_one_in(4) ? 0x40 | (p[0] & 15) : 0x45;
	ip = ip_len(p);
	if (p[0] >> 4 == 6) {
		if (!random_one_in(16))
			p[6] = 17;
		if (!random_one_in(8))
			put16(p + 4, len - ip + random_below(3) - 1);
	} else {
		if (!random_one_in(16))
			p[9] = 17;
		if (!random_one_in(16))
			put16(p + 6, p[6] << 8 & 0xc000);
		if (!random_one_in(8))
			put16(p + 2, len + random_below(3) - 1);
	}

	if (len < ip + UDP_LEN)
		return;
	if (!random_one_in(16))
		put16(p + ip + 2, 4791);
	if (!random_one_in(8))
		put16(p + ip + 4, len - ip - random_below(3));
	if (len > ip + UDP_LEN && !random_one_in(4))
		p[ip + UDP_LEN] =
			some_opcodes[random_below(ARRAY_SIZE(some_opcodes))];
	if (len >= ip + UDP_LEN + BTH_LEN + ICRC_LEN && random_one_in(2))
		put_icrc(p, len - ICRC_LEN);
}

static void test_fuzz(void)
{
	unsigned long cnps = 0, valid = 0, i;

	for (i = 0; i < FUZZ_CASES; i++) {
		/* now and then around the length of a CNP */
		size_t len = random_one_in(4) ? IP4_LEN + 40 :
			     random_one_in(4) ? IP6_LEN + 40 :
						random_below(120);
		u8 *p = malloc(len);
		struct dcqcn_pkt pkt;
		bool ok;

		fuzz_case(p, len);
		ok = parses_as_expected(p, len);
		pkt = parse(p, len);
		if (ok && pkt.kind != DCQCN_PKT_OTHER) {
			size_t end = ip_len(p) + pkt.udp_len;

			/* never beyond what is readable */
			ok = expect(dcqcn_pkt_icrc_ok(&pkt) ==
				    (pkt.plain && end <= len && pkt.udp_len >= UDP_LEN +
				     BTH_LEN + ICRC_LEN &&
				     icrc_is_right(p, end)), "ICRC");
			cnps += pkt.kind == DCQCN_PKT_CNP;
			valid += is_valid_cnp(p, len);
		}
		free(p);
		if (!ok) {
			tap_note("that was case %lu, %zu bytes", i, len);
			break;
		}
	}
	tap_note("%lu packets, %lu of them CNPs, %lu valid", i, cnps, valid);
	expect(cnps > i / 50 && valid > i / 1000, "too little got through");
}

/* The checksum of an IPv4 header */
static u16 checksum(const u8 *p)
{
	u32 sum = 0;
	size_t i;

	for (i = 0; i < IP4_LEN; i += 2) {
		if (i != 10)
			sum += get16(p + i);
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* With each checksum that there is, as the ID changes */
static void test_ect0(void)
{
	static const u8 tos[] = { 0x00, 0x60, 0xb8, 0xfc };
	struct iphdr iph;
	u8 *p = (u8 *)&iph;
	size_t i;
	u32 id;

	for (i = 0; i < ARRAY_SIZE(tos); i++) {
		for (id = 0; id < 65536; id++) {
			memset(p, 0x45, IP4_LEN);
			p[1] = tos[i];
			put16(p + 4, id);
			put16(p + 10, checksum(p));
			dcqcn_ipv4_set_ect0(&iph);
			if (!expect(p[1] == (tos[i] | 2) &&
				    get16(p + 10) == checksum(p),
				    "TOS %#x, ID %#x", tos[i], id))
				return;
		}
	}
}

/* Feedback as the module sends it; cut short, of another version, or with a bit that is
 * wrong it is not valid
 */
static void test_feedback(void)
{
	const struct dcqcn_feedback say = {
		.version = DCQCN_FEEDBACK_VERSION, .algorithms = 3, .prio = 5,
		.flags = DCQCN_FEEDBACK_ECHO, .received = cpu_to_be32(0x12345678),
		.echo_held = cpu_to_be32(0x9abcdef0), .arrived = cpu_to_be32(0x87654321),
	};
	int v6;

	for (v6 = 0; v6 < 2; v6++) {
		size_t len = v6 ? 108 : 88, ip = v6 ? IP6_LEN : IP4_LEN, n;
		struct dcqcn_cnp_spec spec = {
			.pkey = 0xffff, .tos = 0xc2, .ttl = 64,
			.saddr.s6_addr = { 0xfd, [15] = 1 }, .daddr.s6_addr = { 0xfd, [15] = 2 },
		};
		struct dcqcn_pkt pkt;
		u8 *p = malloc(len);

		if (!v6) {
			spec.saddr = (struct in6_addr) {
				.s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
			spec.daddr = (struct in6_addr) {
				.s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 2 } };
		}
		expect(dcqcn_feedback_build(p, &spec, &say) == len, "length");
		expect(icrc_is_right(p, len), "ICRC");
		dcqcn_pkt_parse(&pkt, p, len);
		expect(pkt.kind == DCQCN_PKT_FEEDBACK && pkt.dest_qpn == 0 &&
		       dcqcn_pkt_is_valid_feedback(&pkt), "not valid");
		expect(p[ip + UDP_LEN] == FEEDBACK && p[ip + UDP_LEN + BTH_LEN + 2] == 5 &&
		       p[ip + UDP_LEN + BTH_LEN + 8] == 0x12 && p[len - 9] == 0xf0 &&
		       p[len - 5] == 0x21,
		       "bytes on the wire");
		for (n = ip + UDP_LEN; n < len; n++) {
			u8 bit = 1 << n % 8;

			if (!(uncovered_bits(p, ip, n) & bit)) {
				p[n] ^= bit;
				dcqcn_pkt_parse(&pkt, p, len);
				expect(pkt.kind != DCQCN_PKT_FEEDBACK ||
				       !dcqcn_pkt_is_valid_feedback(&pkt), "byte %zu", n);
				p[n] ^= bit;
			}
		}
		p[ip + UDP_LEN + BTH_LEN]++;
		put_icrc(p, len - ICRC_LEN);
		dcqcn_pkt_parse(&pkt, p, len);
		expect(!dcqcn_pkt_is_valid_feedback(&pkt), "another version");
		free(p);
	}
}

/* Another hook may cut a packet behind IP's own checks: what is missing must not be read */
static void expect_cut_is_invalid(const u8 *p, size_t len, u8 kind,
				  bool (*is_valid)(const struct dcqcn_pkt *pkt))
{
	struct dcqcn_pkt pkt;
	size_t n;

	for (n = 0; n <= len; n++) {
		u8 *cut = malloc(n + !n);

		memcpy(cut, p, n);
		dcqcn_pkt_parse(&pkt, cut, n);
		expect((pkt.kind == kind && is_valid(&pkt)) == (n == len), "%zu of %zu bytes", n, len);
		free(cut);
	}
}

/* An ACK in place of an IPv6 CNP: four bytes of AETH instead of sixteen. Return: its length */
static size_t put_ack(u8 *p, size_t len, u8 syndrome)
{
	len += 4 - CNP_RESERVED;
	put16(p + 4, len - IP6_LEN);
	put16(p + IP6_LEN + 4, len - IP6_LEN);
	p[IP6_LEN + UDP_LEN] = RC_ACK;
	p[IP6_LEN + UDP_LEN + BTH_LEN] = syndrome;
	put_icrc(p, len - ICRC_LEN);
	return len;
}

static bool is_valid_ack(const struct dcqcn_pkt *pkt)
{
	return dcqcn_pkt_syndrome(pkt) >= 0;
}

/* IBTA's syndromes: two bits of kind, five of credits, of a timer or of an error */
static void test_syndromes(void)
{
	static const u8 syndromes[] = {
		0x00, 0x1f,	/* ACK */
		0x20, 0x3f,	/* RNR NAK */
		0x40,		/* reserved */
		0x60, 0x61,	/* NAK: PSN, invalid request */
	};
	struct dcqcn_cnp_spec spec = {
		.pkey = 0xffff, .ttl = 64,
		.saddr.s6_addr = { 0xfd, [15] = 1 }, .daddr.s6_addr = { 0xfd, [15] = 2 },
	};
	struct dcqcn_pkt pkt;
	size_t i, len;
	u8 p[128];

	for (i = 0; i < ARRAY_SIZE(syndromes); i++) {
		len = put_ack(p, dcqcn_cnp_build(p, &spec), syndromes[i]);
		dcqcn_pkt_parse(&pkt, p, len);
		expect(pkt.kind == DCQCN_PKT_ACK && dcqcn_pkt_syndrome(&pkt) == syndromes[i],
		       "syndrome %02x, not %02x", dcqcn_pkt_syndrome(&pkt), syndromes[i]);
		p[len - 1] ^= 1;
		expect(!is_valid_ack(&pkt), "a wrong ICRC is right");
	}
}

static void test_cut(void)
{
	const struct dcqcn_feedback say = { .version = DCQCN_FEEDBACK_VERSION };
	struct dcqcn_cnp_spec spec = {
		.pkey = 0xffff, .ttl = 64,
		.saddr.s6_addr = { 0xfd, [15] = 1 }, .daddr.s6_addr = { 0xfd, [15] = 2 },
	};
	u8 p[128];
	size_t len;

	len = dcqcn_feedback_build(p, &spec, &say);
	expect_cut_is_invalid(p, len, DCQCN_PKT_FEEDBACK, dcqcn_pkt_is_valid_feedback);
	len = dcqcn_cnp_build(p, &spec);
	expect_cut_is_invalid(p, len, DCQCN_PKT_CNP, dcqcn_pkt_is_valid_cnp);
	len = put_ack(p, len, 0);
	expect_cut_is_invalid(p, len, DCQCN_PKT_ACK, is_valid_ack);
}

static const struct tap_test tests[] = {
	{ "captured CNPs", test_captured_cnp },
	{ "a captured UC SEND", test_captured_uc_send },
	{ "building the captured CNPs", test_rebuild_captured },
	{ "building an IPv6 CNP", test_build_v6 },
	{ "kinds of all opcodes", test_opcodes },
	{ "ICRC of data packets", test_icrc_of_data },
	{ "packets that are to ask for an ACK", test_ask },
	{ "no other packet is made to ask", test_ask_opcodes },
	{ "packets that take another path", test_steer },
	{ "packets that cannot", test_steer_not },
	{ "ICRC against single wrong bits", test_bit_flips },
	{ "any part of a packet readable", test_readable_part },
	{ "packets cut short", test_truncated_packets },
	{ "feedback, valid and not", test_feedback },
	{ "only positive ACKs acknowledge", test_syndromes },
	{ "what is left of a packet that was cut", test_cut },
	{ "marking ECT(0), with any checksum", test_ect0 },
	{ "CNPs that are not valid", test_invalid_cnps },
	{ "packets to leave alone", test_other_packets },
	{ "fields", test_fields },
	{ "garbage", test_fuzz },
};

int main(int argc, char **argv)
{
	tap_plan(ARRAY_SIZE(tests));
	random_seed(argc > 1 ? argv[1] : NULL);
	return tap_run(tests, ARRAY_SIZE(tests));
}
