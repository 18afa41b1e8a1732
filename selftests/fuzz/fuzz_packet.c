// SPDX-License-Identifier: GPL-2.0
/*
 * packet.c with any bytes: its results must equal those of wire.c, it must accept
 * exactly the ICRCs that wire.c accepts, and a CNP that it builds must parse back.
 *
 * The first byte of an input selects repairs of the rest: see "repair". The rest is
 * in memory of exactly its size.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "packet.h"
#include "wire.h"

enum repair {
	REPAIR_ADDRESS = 1,	/* UDP, its port, no fragment */
	REPAIR_LENGTHS = 2,	/* of IP and UDP, to what is there */
	REPAIR_ICRC = 4,	/* at the end of what is there */
	BREAK_BIT = 8,		/* afterwards, the one that the next two bytes say */
	BUILD_CNP = 16,		/* from what the rest says instead */
};

static void repair(u8 *p, size_t len, u8 how)
{
	size_t ip, end;

	if (len < IP4_LEN)
		return;
	ip = ip_len(p);
	if (ip < IP4_LEN || len < ip + UDP_LEN)
		return;
	if (how & REPAIR_ADDRESS) {
		p[p[0] >> 4 == 6 ? 6 : 9] = 17;
		if (p[0] >> 4 == 4)
			put16(p + 6, get16(p + 6) & 0xc000);
		put16(p + ip + 2, 4791);
	}
	if (how & REPAIR_LENGTHS) {
		put16(p + (p[0] >> 4 == 6 ? 4 : 2), p[0] >> 4 == 6 ? len - ip : len);
		put16(p + ip + 4, len - ip);
	}
	end = ip + get16(p + ip + 4);
	if (how & REPAIR_ICRC && end <= len &&
	    end >= ip + UDP_LEN + BTH_LEN + ICRC_LEN)
		put_icrc(p, end - ICRC_LEN);
}

static void check_parse(const u8 *p, size_t len)
{
	struct dcqcn_pkt pkt, e;
	struct in6_addr addr;
	size_t end;
	bool right;

	memset(&pkt, 0xa5, sizeof(pkt));
	dcqcn_pkt_parse(&pkt, p, len);
	e = expected_pkt(p, len, &pkt);
	check(pkt.kind == e.kind);
	if (pkt.kind == DCQCN_PKT_OTHER)
		return;
	check(pkt.ip == e.ip && pkt.udp == e.udp && pkt.udp_len == e.udp_len);
	check(pkt.tos == e.tos && pkt.v6 == e.v6 && pkt.plain == e.plain);
	check(pkt.ud == e.ud && pkt.pkey == e.pkey && pkt.psn == e.psn);
	check(pkt.dest_qpn == e.dest_qpn && pkt.src_qpn == e.src_qpn);
	dcqcn_ip_saddr(pkt.ip, &addr);
	check(!memcmp(pkt.v6 ? p + 8 : p + 12,
		      addr.s6_addr + (pkt.v6 ? 0 : 12), pkt.v6 ? 16 : 4));
	dcqcn_ip_daddr(pkt.ip, &addr);
	check(dcqcn_ip_is_to(pkt.ip, &addr));

	end = ip_len(p) + pkt.udp_len;
	right = pkt.plain && end <= len && pkt.udp_len >= UDP_LEN + BTH_LEN + ICRC_LEN &&
		icrc_is_right(p, end);
	check(dcqcn_pkt_icrc_ok(&pkt) == right);
	if (pkt.kind == DCQCN_PKT_CNP)
		check(dcqcn_pkt_is_valid_cnp(&pkt) ==
		      (right && pkt.udp_len == UDP_LEN + BTH_LEN + CNP_RESERVED +
					       ICRC_LEN));
}

/* Any CNP that is built must be valid and parse back, and only bits that routers change
 * may flip
 */
static void check_build(const u8 *data, size_t size)
{
	u8 in[45] = { 0 };
	struct dcqcn_cnp_spec spec;
	struct in6_addr addr;
	struct dcqcn_pkt pkt;
	size_t len, bit;
	bool v6;
	u8 *p;

	memcpy(in, data, min(size, sizeof(in)));
	v6 = in[0] & 1;
	memcpy(&spec.saddr, v6 ? in + 1 : (void *)"\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	memcpy(&spec.saddr.s6_addr[12], in + 13, 4);
	memcpy(&spec.daddr, v6 ? in + 17 : (void *)"\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	memcpy(&spec.daddr.s6_addr[12], in + 29, 4);
	spec.dest_qpn = get24(in + 33);
	spec.pkey = get16(in + 36);
	spec.sport = get16(in + 38);
	spec.tos = in[40];
	spec.ttl = in[41];
	v6 = memcmp(&spec.daddr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

	p = malloc(v6 ? DCQCN_CNP_V6_LEN : DCQCN_CNP_V4_LEN);
	len = dcqcn_cnp_build(p, &spec);
	check(len == (v6 ? DCQCN_CNP_V6_LEN : DCQCN_CNP_V4_LEN));
	dcqcn_pkt_parse(&pkt, p, len);
	check(pkt.kind == DCQCN_PKT_CNP && pkt.v6 == v6 && pkt.plain);
	check(dcqcn_pkt_is_valid_cnp(&pkt) && icrc_is_right(p, len));
	check(pkt.dest_qpn == spec.dest_qpn && pkt.pkey == spec.pkey);
	check(pkt.tos == spec.tos && pkt.psn == 0 && pkt.src_qpn == 0);
	dcqcn_ip_saddr(pkt.ip, &addr);
	/* a mapped source does not go with a destination that is not */
	check(v6 ? !memcmp(&addr, &spec.saddr, 16) :
		   !memcmp(&addr.s6_addr[12], &spec.saddr.s6_addr[12], 4));
	check(dcqcn_ip_is_to(pkt.ip, &spec.daddr));

	bit = get16(in + 42) % (8 * len);
	p[bit / 8] ^= 1 << bit % 8;
	memset(&pkt, 0xa5, sizeof(pkt));
	dcqcn_pkt_parse(&pkt, p, len);
	if (!(uncovered_bits(p, ip_len(p), bit / 8) & 1 << bit % 8))
		check(pkt.kind != DCQCN_PKT_CNP ||
		      ip_len(p) + pkt.udp_len > len ||
		      !dcqcn_pkt_is_valid_cnp(&pkt));
	free(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t len, bit;
	u8 how, *p;

	if (size < 3)
		return 0;
	how = data[0];
	bit = get16(data + 1);
	data += 3;
	len = size - 3;
	if (how & BUILD_CNP) {
		check_build(data, len);
		return 0;
	}

	p = malloc(len);
	memcpy(p, data, len);
	repair(p, len, how);
	if (how & BREAK_BIT && len)
		p[bit / 8 % len] ^= 1 << bit % 8;
	check_parse(p, len);
	free(p);
	return 0;
}
