// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts for the memory of a switch's buffer. Each priority has an account at each port where
 * packets come in. An account fills its reserve first, then takes from the shared pool, and what
 * does not fit there goes into its headroom.
 *
 * Its share of the pool is bounded by xOFF, and by alpha times the free part of the pool (dynamic
 * thresholds, Choudhury and Hahne, 1998): n accounts that fill their shares hold alpha * size / (1
 * + alpha * n) each.
 *
 * An account that has reached its bound, or has no memory for a packet, pauses its sender until it
 * has fallen to xON, and is below the pool's current bound by xON's offset.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "account.h"

/**
 * dcbport_account_bytes() - return the bytes that an account holds
 * @account: the account
 */
u32 dcbport_account_bytes(const struct dcbport_account *account)
{
	return account->reserve + account->shared + account->headroom;
}

static u64 pool_free(const struct dcbport_pool *pool)
{
	/* the pool may have shrunk */
	return pool->size > pool->used ? pool->size - pool->used : 0;
}

/**
 * dcbport_pool_threshold() - return how much of the pool an account, or a queue, may hold now
 * @pool: the pool
 * @alpha: see struct dcbport_thresholds
 *
 * Return: bytes.
 */
u64 dcbport_pool_threshold(const struct dcbport_pool *pool, u32 alpha)
{
	if (!alpha)
		return pool->size;
	return div_u64(pool_free(pool) * alpha, DCBPORT_ALPHA_ONE);
}

/* The most bytes that the pool allows an account */
static u64 account_bound(const struct dcbport_pool *pool,
			 const struct dcbport_thresholds *th)
{
	return th->reserve + dcbport_pool_threshold(pool, th->alpha);
}

/* Bytes, without headroom, at which the sender must pause */
static u64 account_xoff(const struct dcbport_pool *pool,
			const struct dcbport_thresholds *th)
{
	u64 bound = account_bound(pool, th);

	return th->xoff ? min_t(u64, th->xoff, bound) : bound;
}

static bool account_resumes(const struct dcbport_account *account,
			    const struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th)
{
	u32 bytes = dcbport_account_bytes(account);

	if (!bytes)
		return true;
	if (account->headroom || bytes >= account_xoff(pool, th))
		return false;
	/* if the pool's bound is the lower one, the pause must not end right below it */
	if ((u64)bytes + th->xon_offset > account_bound(pool, th))
		return false;
	return !th->xoff || bytes <= th->xon;
}

/**
 * dcbport_account_charge() - take memory for a packet
 * @account: charged for it; its pause may begin
 * @pool: the pool that it shares
 * @th: its thresholds
 * @len: bytes
 *
 * Return: false if no memory is left: the packet is lost, and only the pause may have changed.
 */
bool dcbport_account_charge(struct dcbport_account *account,
			    struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th, u32 len)
{
	u64 xoff = account_xoff(pool, th);
	u32 held = account->reserve + account->shared;
	u32 reserve, shared, headroom;
	u64 room;

	if ((u64)dcbport_account_bytes(account) + len > U32_MAX)
		return false;
	reserve = min(len, th->reserve > account->reserve ?
			   th->reserve - account->reserve : 0);
	room = xoff > held + reserve ? xoff - held - reserve : 0;
	shared = min_t(u64, min(room, pool_free(pool)), len - reserve);
	headroom = len - reserve - shared;
	if (headroom && (u64)account->headroom + headroom > th->headroom) {
		/* if the headroom is smaller than a packet, the packet may be lost before xOFF is
		 * reached; a release ends the pause
		 */
		if (th->headroom && held + account->headroom)
			account->paused = true;
		return false;
	}

	account->reserve += reserve;
	account->shared += shared;
	account->headroom += headroom;
	pool->used += shared;
	account->most = max(account->most, dcbport_account_bytes(account));
	account->headroom_most = max(account->headroom_most, account->headroom);
	if (account->headroom || dcbport_account_bytes(account) >= xoff)
		account->paused = true;
	return true;
}

/**
 * dcbport_account_release() - give the memory of a packet back
 * @account: the one that was charged; its pause may end
 * @pool: the pool that it shares
 * @th: its thresholds
 * @len: bytes, as they were charged
 */
void dcbport_account_release(struct dcbport_account *account,
			     struct dcbport_pool *pool,
			     const struct dcbport_thresholds *th, u32 len)
{
	u32 headroom = min(len, account->headroom);
	u32 shared = min(len - headroom, account->shared);

	account->headroom -= headroom;
	account->shared -= shared;
	account->reserve -= len - headroom - shared;
	/* @pool may be out of date */
	pool->used -= min_t(u64, pool->used, shared);
	if (account->paused && account_resumes(account, pool, th))
		account->paused = false;
}

/**
 * dcbport_account_review() - begin or end a pause after thresholds have changed
 * @account: the account
 * @pool: the pool that it shares
 * @th: its thresholds from now on
 *
 * While packets are stuck, no charge or release would do this. Bytes in the headroom move to the
 * pool if it has room for them now.
 */
void dcbport_account_review(struct dcbport_account *account,
			    struct dcbport_pool *pool,
			    const struct dcbport_thresholds *th)
{
	u32 bytes = dcbport_account_bytes(account);
	u64 xoff = account_xoff(pool, th);
	u32 held = account->reserve + account->shared;
	u64 room = xoff > held ? xoff - held : 0;
	u32 move = min_t(u64, min(room, pool_free(pool)), account->headroom);

	account->headroom -= move;
	account->shared += move;
	pool->used += move;
	if (account->paused)
		account->paused = !account_resumes(account, pool, th);
	else
		account->paused = bytes && bytes >= xoff;
}
