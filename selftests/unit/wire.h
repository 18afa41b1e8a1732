/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What packet.c does, written a second time from the specification: bytes at
 * offsets, none of packet.h's structs on the wire. It is right rather than fast.
 */
#ifndef WIRE_H
#define WIRE_H

#include <linux/types.h>

#include "packet.h"

#define IP4_LEN		20
#define IP6_LEN		40
#define UDP_LEN		8
#define BTH_LEN		12
#define DETH_LEN	8
#define ICRC_LEN	4
#define CNP_RESERVED	16

#define RC_SEND_MIDDLE	0x01
#define RC_WRITE_ONLY	0x0a
#define RC_ACK		0x11
#define UC_SEND_ONLY	0x24
#define UD_SEND_ONLY	0x64
#define CNP		0x81
#define FEEDBACK	0xc1

enum dcqcn_pkt_kind kind_of_opcode(u8 opcode);

u32 get16(const u8 *p);
u32 get24(const u8 *p);
void put16(u8 *p, u32 value);

size_t ip_len(const u8 *p);

/* The bits of byte @i that the ICRC does not cover, because routers change
 * them. The UDP header is at @udp.
 */
u8 uncovered_bits(const u8 *p, size_t udp, size_t i);

/* The ICRC of the @len bytes at @p, written behind them */
void put_icrc(u8 *p, size_t len);
void put_icrc_with_udp_at(u8 *p, size_t len, size_t udp);

/* Of @len bytes, the last four of which are the ICRC */
bool icrc_is_right(const u8 *p, size_t len);

/* What dcqcn_pkt_parse() should find. Fields that it leaves alone are those of
 * @found.
 */
struct dcqcn_pkt expected_pkt(const u8 *p, size_t len,
			      const struct dcqcn_pkt *found);

#endif
