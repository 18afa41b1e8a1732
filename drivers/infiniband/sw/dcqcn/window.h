/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of a context's sending half. See window.c, agree.c and hear.c. */
#ifndef DCQCN_WINDOW_H
#define DCQCN_WINDOW_H

#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "ccc.h"
#include "nscc.h"

struct dcqcn_settings;
struct sk_buff;

/* After this many round trips without progress, what is in flight counts as lost. The lower bound
 * is higher if credit is missing, because it takes long until all senders have had their turns. The
 * upper bound is also the longest time that a flow waits for window and credit.
 */
#define DCQCN_CCC_TIMEOUT_RTTS	8
#define DCQCN_CCC_TIMEOUT_MIN	((u64)NSEC_PER_MSEC)
#define DCQCN_CCC_TIMEOUT_TURN	(20 * NSEC_PER_MSEC)
#define DCQCN_CCC_TIMEOUT_MAX	(250 * NSEC_PER_MSEC)

/* Time between two offers of a context to a peer: it doubles each time */
#define DCQCN_CCC_OFFER_MIN	(20ULL * NSEC_PER_USEC)
#define DCQCN_CCC_OFFER_MAX	((u64)NSEC_PER_SEC)

/* Bytes in flight; the lock is held, as for all functions below */
static inline u32 dcqcn_ccc_flight(const struct dcqcn_ccc_sender *tx)
{
	return tx->sent - tx->acked;
}

/* Count the bytes that have left without the lock, and lend no more, before anyone reads @sent */
static inline void dcqcn_ccc_settle(struct dcqcn_ccc_sender *tx, u64 now)
{
	u32 bytes;

	if (!tx->lent)
		return;
	bytes = tx->lent - atomic_xchg(&tx->spare, 0);
	tx->lent = 0;
	if (!bytes)
		return;
	if (!dcqcn_ccc_flight(tx))
		tx->heard_time = now;
	tx->sent += bytes;
	tx->unasked += bytes;
}

static inline bool dcqcn_ccc_is_full(const struct dcqcn_ccc_sender *tx)
{
	return tx->agreed & DCQCN_CCC_NSCC &&
	       dcqcn_ccc_flight(tx) >= tx->window.cwnd;
}

/* How long ago @then was, in ns. Callers read @now before they take the context's lock; if
 * another CPU has set @then since, it was just now.
 */
static inline u64 dcqcn_ccc_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* Whether an answer is on its way */
static inline bool dcqcn_ccc_awaits(const struct dcqcn_ccc_sender *tx)
{
	return tx->num_probes > tx->num_overtaken;
}

/* Without a request, a window that was cut could stay full forever */
static inline bool dcqcn_ccc_in_window(const struct dcqcn_ccc_sender *tx)
{
	return !dcqcn_ccc_is_full(tx) || !dcqcn_ccc_awaits(tx);
}

static inline s32 dcqcn_ccc_credit(const struct dcqcn_ccc_sender *tx)
{
	return tx->limit - tx->sent;
}

static inline bool dcqcn_ccc_has_credit(const struct dcqcn_ccc_sender *tx)
{
	return !(tx->agreed & DCQCN_CCC_RCCC) || dcqcn_ccc_credit(tx) > 0;
}

/* Bytes of credit that were asked for, and are not granted yet */
static inline u32 dcqcn_ccc_asked(const struct dcqcn_ccc_sender *tx)
{
	return max((s32)(tx->asked - tx->limit), 0);
}

/* Without a request and without a grant that will come, credit could be missing forever */
static inline bool dcqcn_ccc_in_credit(const struct dcqcn_ccc_sender *tx)
{
	return dcqcn_ccc_has_credit(tx) ||
	       (!dcqcn_ccc_asked(tx) && !dcqcn_ccc_awaits(tx));
}

static inline u64 dcqcn_ccc_timeout_of(const struct dcqcn_ccc_sender *tx, bool credit)
{
	return clamp((u64)tx->rtt * DCQCN_CCC_TIMEOUT_RTTS,
		     credit ? DCQCN_CCC_TIMEOUT_MIN : DCQCN_CCC_TIMEOUT_TURN,
		     (u64)DCQCN_CCC_TIMEOUT_MAX);
}

static inline u64 dcqcn_ccc_timeout(const struct dcqcn_ccc_sender *tx)
{
	return dcqcn_ccc_timeout_of(tx, dcqcn_ccc_has_credit(tx));
}

/* ccc.c */
struct dcqcn_nscc_params
dcqcn_ccc_params(const struct dcqcn_ccc *ccc,
		 const struct dcqcn_settings *settings);

/* window.c */
void dcqcn_ccc_set_agreed(struct dcqcn_ccc *ccc, u8 algorithms);
void dcqcn_ccc_restart(struct dcqcn_ccc_sender *tx,
		       const struct dcqcn_settings *settings);
void dcqcn_ccc_probe(struct dcqcn_ccc_sender *tx, u32 local, u32 qpn, u32 psn,
		     bool last, u64 now);
bool dcqcn_ccc_take_probe(struct dcqcn_ccc_sender *tx, int i);
bool dcqcn_ccc_lend(struct dcqcn_ccc_sender *tx);
struct dcqcn_bth *dcqcn_ccc_bth(struct sk_buff *skb);

#endif /* DCQCN_WINDOW_H */
