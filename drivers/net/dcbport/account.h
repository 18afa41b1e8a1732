/* SPDX-License-Identifier: GPL-2.0 */
/* Who holds how much of a switch's buffer. See account.c. */
#ifndef DCBPORT_ACCOUNT_H
#define DCBPORT_ACCOUNT_H

#include <linux/types.h>
#include <uapi/linux/dcbport.h>

/* As in ns-3's SwitchMmu: about three frames of 1 KB */
#define DCBPORT_RESUME		3072

/**
 * struct dcbport_pool - memory that accounts share
 * @size: bytes
 * @used: bytes
 * @alpha: the share of the free part that an account may take, in units of
 *	1 / DCBPORT_ALPHA_ONE; 0 for all of it
 */
struct dcbport_pool {
	u64 size;
	u64 used;
	u32 alpha;
};

/**
 * struct dcbport_thresholds - when an account pauses its sender
 * @reserve: bytes that the account has for itself
 * @xoff: bytes; 0 leaves it to the pool's alpha
 * @xon: bytes, not above @xoff; with an @xoff of 0 it is DCBPORT_RESUME below
 *	the pool's threshold
 * @headroom: bytes for what arrives before the sender has paused
 */
struct dcbport_thresholds {
	u32 reserve;
	u32 xoff;
	u32 xon;
	u32 headroom;
};

/**
 * struct dcbport_account - what came in at one port with one priority
 * @reserve: bytes in the reserve
 * @shared: bytes in the pool
 * @headroom: bytes in the headroom
 * @most: the most bytes that it ever held
 * @headroom_most: the most bytes that were ever in the headroom
 * @paused: the sender must pause
 */
struct dcbport_account {
	u32 reserve;
	u32 shared;
	u32 headroom;
	u32 most;
	u32 headroom_most;
	bool paused;
};

u32 dcbport_account_bytes(const struct dcbport_account *account);
u64 dcbport_pool_threshold(const struct dcbport_pool *pool);
bool dcbport_account_charge(struct dcbport_account *account,
			    struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th, u32 len);
void dcbport_account_release(struct dcbport_account *account,
			     struct dcbport_pool *pool,
			     const struct dcbport_thresholds *th, u32 len);

#endif /* DCBPORT_ACCOUNT_H */
