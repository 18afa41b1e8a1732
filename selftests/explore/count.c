// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the events of each algorithm: calls of the functions that tell it something. Functions of
 * a struct dcqcn_cc_ops are replaced in the module's list; the linker wraps those of DCQCN, NSCC
 * and RCCC (WRAPPED in the Makefile). What DCQCN does inline while nothing is due is not counted.
 */
#include "checks.h"
#include "count.h"
#include "world.h"

#include "cc.h"
#include "ccc.h"
#include "nscc.h"
#include "rate.h"
#include "rccc.h"
#include "start.h"

static const struct dcqcn_cc_ops *real[DCQCN_CC_MAX];
static u64 events_of[DCQCN_CC_MAX], dcqcn, nscc, rccc;

/* --- the list ------------------------------------------------------------------------- */

static const struct dcqcn_cc_ops *count(struct dcqcn_cc *cc)
{
	long i = container_of(cc, struct dcqcn_cc_flow, cc)->slot - dcqcn_cc_slots;

	events_of[i]++;
	return real[i];
}

static void count_init(struct dcqcn_cc *cc)
{
	count(cc)->init(cc);
}

static void count_release(struct dcqcn_cc *cc)
{
	count(cc)->release(cc);
}

static void count_cnp(struct dcqcn_cc *cc)
{
	count(cc)->cnp(cc);
}

static void count_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	demand(!sample->delay || (sample->delay <= sample->rtt && sample->delay >= cc->rtt_min),
	       "a delay of %u in %u ns", sample->delay, sample->rtt);
	count(cc)->ack(cc, sample);
}

static void count_loss(struct dcqcn_cc *cc)
{
	count(cc)->loss(cc);
}

static void count_idle(struct dcqcn_cc *cc, u64 ns)
{
	count(cc)->idle(cc, ns);
}

static void count_timer(struct dcqcn_cc *cc)
{
	count(cc)->timer(cc);
}

static void count_sent(struct dcqcn_cc *cc, u32 bytes)
{
	count(cc)->sent(cc, bytes);
}

void count_begin(void)
{
	static struct dcqcn_cc_ops counting[DCQCN_CC_MAX];
	int i;

	for (i = 0; i < DCQCN_CC_MAX && dcqcn_cc_slots[i].ops; i++) {
		real[i] = dcqcn_cc_slots[i].ops;
		counting[i] = *real[i];
#define COUNT(name)	(counting[i].name = real[i]->name ? count_##name : NULL)
		COUNT(init);
		COUNT(release);
		COUNT(cnp);
		COUNT(ack);
		COUNT(loss);
		COUNT(idle);
		COUNT(timer);
		COUNT(sent);
		dcqcn_cc_slots[i].ops = &counting[i];
	}
}

/* --- DCQCN, NSCC, RCCC ------------------------------------------------------------------- */

/* @name is called with @args, of the types @types. Count it if @counts. */
#define WRAP(result, name, types, args, counter, counts)	\
	result __real_##name types;				\
	result __wrap_##name types;				\
	result __wrap_##name types				\
	{							\
		counter += counts;				\
		return __real_##name args;			\
	}

WRAP(unsigned int, dcqcn_rate_cnp,
	(struct dcqcn_rate *r, const struct dcqcn_rp_params *p, u64 line, u64 now),
	(r, p, line, now), dcqcn, 1)
WRAP(unsigned int, dcqcn_rate_work_off,
	(struct dcqcn_rate *r, const struct dcqcn_rp_params *p, u64 line, u64 now, u32 bytes),
	(r, p, line, now, bytes), dcqcn, 1)
WRAP(void, dcqcn_rate_resume,
	(struct dcqcn_rate *r, const struct dcqcn_rp_params *p, u64 now), (r, p, now), dcqcn, 1)
WRAP(void, dcqcn_start_sample,
	(struct dcqcn_rate *r, const struct dcqcn_rp_params *p, u64 left, u32 least, u64 now),
	(r, p, left, least, now), dcqcn, 1)
/* also called for the window's base alone, without NSCC */
WRAP(void, dcqcn_nscc_feedback,
	(struct dcqcn_nscc *n, const struct dcqcn_nscc_params *p, u32 bytes, u32 rtt, bool ce, u64 now),
	(n, p, bytes, rtt, ce, now), nscc,
	!!(container_of(n, struct dcqcn_ccc, tx.window)->tx.agreed & DCQCN_CCC_NSCC))
WRAP(void, dcqcn_nscc_loss, (struct dcqcn_nscc *n, u32 bytes), (n, bytes), nscc,
	!!(container_of(n, struct dcqcn_ccc, tx.window)->tx.agreed & DCQCN_CCC_NSCC))
WRAP(u32, dcqcn_rccc_received,
	(struct dcqcn_rccc_source *source, u32 bytes, u32 asked, u32 unsolicited),
	(source, bytes, asked, unsolicited), rccc, 1)
WRAP(bool, dcqcn_rccc_grant, (struct dcqcn_rccc_source *source, u32 most), (source, most), rccc, 1)

void count_print(u64 hostile)
{
	int i;

	printf("events of algorithms: dcqcn %llu, nscc %llu, rccc %llu", (unsigned long long)dcqcn,
	       (unsigned long long)nscc, (unsigned long long)rccc);
	for (i = 0; i < DCQCN_CC_MAX && real[i]; i++)
		printf(", %s %llu", real[i]->name, (unsigned long long)events_of[i]);
	printf(", hostile %llu\n", (unsigned long long)hostile);
}
