/* SPDX-License-Identifier: GPL-2.0 */
/* When a flow takes another path. See entropy.c. */
#ifndef DCQCN_ENTROPY_H
#define DCQCN_ENTROPY_H

#include <linux/types.h>

/* Bits of an entropy value. It is XORed into the UDP source port, which stays within RoCEv2's
 * 49152..65535.
 */
#define DCQCN_ENTROPY_MASK	0x3fff

/**
 * struct dcqcn_entropy - the path of one flow
 * @round_time: ns; when the round began, 0 for never
 * @echoes: number of echoes in this round
 * @marked: how many of @echoes reported congestion
 * @rounds: congested rounds in a row
 * @ev: entropy value; at most DCQCN_ENTROPY_MASK, 0: the path that rxe chose
 * @changes: path changes since the last round that was not congested
 */
struct dcqcn_entropy {
	u64 round_time;
	u16 echoes;
	u16 marked;
	u16 rounds;
	u16 ev;
	u8 changes;
};

bool dcqcn_entropy_echo(struct dcqcn_entropy *e, bool marked, bool idle, u32 rtt,
			u64 now);
void dcqcn_entropy_change(struct dcqcn_entropy *e, u32 random);
void dcqcn_entropy_stay(struct dcqcn_entropy *e);

#endif /* DCQCN_ENTROPY_H */
