/* SPDX-License-Identifier: GPL-2.0 */
/* Accounts for the memory of a switch's buffer. See account.c. */
#ifndef DCBPORT_ACCOUNT_H
#define DCBPORT_ACCOUNT_H

#include <linux/types.h>
#include <uapi/linux/dcbport.h>

/**
 * struct dcbport_pool - memory that accounts share
 * @size: bytes
 * @used: bytes
 */
struct dcbport_pool {
	u64 size;
	u64 used;
};

/**
 * struct dcbport_thresholds - the profile of a priority: when its account pauses its sender
 * @reserve: bytes that the account has for itself
 * @xoff: bytes; 0 if only @alpha bounds the account
 * @xon: bytes, not above @xoff
 * @xon_offset: bytes by which the account must also be below the pool's bound before the sender
 *	resumes
 * @headroom: bytes for what arrives before the sender has paused
 * @alpha: the share of the pool's free part that the account may take, in units of
 *	1 / DCBPORT_ALPHA_ONE; 0 for all of it
 */
struct dcbport_thresholds {
	u32 reserve;
	u32 xoff;
	u32 xon;
	u32 xon_offset;
	u32 headroom;
	u32 alpha;
};

/**
 * struct dcbport_account - memory of packets that came in at one port with one priority
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

void dcbport_account_review(struct dcbport_account *account,
			    struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th);
u32 dcbport_account_bytes(const struct dcbport_account *account);
u64 dcbport_pool_threshold(const struct dcbport_pool *pool, u32 alpha);
bool dcbport_account_charge(struct dcbport_account *account,
			    struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th, u32 len);
void dcbport_account_release(struct dcbport_account *account,
			     struct dcbport_pool *pool,
			     const struct dcbport_thresholds *th, u32 len);

/**
 * dcbport_account_shares() - charge a packet that the pool takes without a pause
 * @account: charged for it
 * @pool: the pool that it shares
 * @th: its thresholds
 * @len: bytes
 *
 * The usual case of dcbport_account_charge(), without a call; the caller takes the bytes
 * from the pool.
 * Return: false if this is another case, and nothing has changed.
 */
static inline bool dcbport_account_shares(struct dcbport_account *account,
					  const struct dcbport_pool *pool,
					  const struct dcbport_thresholds *th,
					  u32 len)
{
	u64 held = (u64)account->reserve + account->shared + len;
	u64 used = pool->used + len;
	u64 share = pool->size;

	/* another case, also if it would reach xOFF; an xOFF of 0 wraps to the largest u32 */
	if (account->headroom || account->reserve < th->reserve ||
	    used > pool->size || held > (u32)(th->xoff - 1))
		return false;
	if (th->alpha)
		share = (pool->size - pool->used) * th->alpha / DCBPORT_ALPHA_ONE;
	if (held >= th->reserve + share)
		return false;
	account->shared += len;
	if (account->most < held)
		account->most = held;
	return true;
}

/**
 * dcbport_account_gives() - give the memory of a packet back to the pool
 * @account: the one that was charged
 * @len: bytes, as they were charged
 *
 * The usual case of dcbport_account_release(), without a call; the caller gives the bytes
 * back to the pool.
 * Return: false if this is another case, and nothing has changed.
 */
static inline bool dcbport_account_gives(struct dcbport_account *account,
					 u32 len)
{
	if (account->headroom || account->paused || account->shared < len)
		return false;
	account->shared -= len;
	return true;
}

#endif /* DCBPORT_ACCOUNT_H */
