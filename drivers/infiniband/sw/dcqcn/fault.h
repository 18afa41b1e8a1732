/* SPDX-License-Identifier: GPL-2.0 */
/* Faults on purpose, for tests. See fault.c. */
#ifndef DCQCN_FAULT_H
#define DCQCN_FAULT_H

#include <linux/jump_label.h>
#include <linux/types.h>

/**
 * enum dcqcn_fault - what can be made to go wrong; names in fault.c, meaning in
 * Documentation/ABI/testing/debugfs-rdma_dcqcn
 */
enum dcqcn_fault {
	DCQCN_FAULT_DROP_CNPS,
	DCQCN_FAULT_FAIL_ALLOCS,
	DCQCN_FAULT_MARK_CE,
	DCQCN_FAULT_DELAY_RESOLVE,
	DCQCN_NUM_FAULTS
};

DECLARE_STATIC_KEY_FALSE(dcqcn_faults_on);

void dcqcn_fault_init(void);
void dcqcn_fault_exit(void);
bool dcqcn_fault_take(enum dcqcn_fault fault);
bool dcqcn_fault_is_nth(enum dcqcn_fault fault);
void dcqcn_fault_sleep(enum dcqcn_fault fault);

/* No branch, but a nop, while no fault is wanted */
static __always_inline bool dcqcn_faults(void)
{
	return static_branch_unlikely(&dcqcn_faults_on);
}

/* Whether a CNP that came in is to be lost */
static __always_inline bool dcqcn_fault_drop_cnp(void)
{
	return dcqcn_faults() && dcqcn_fault_take(DCQCN_FAULT_DROP_CNPS);
}

/* Whether an allocation is to fail */
static __always_inline bool dcqcn_fault_alloc(void)
{
	return dcqcn_faults() && dcqcn_fault_take(DCQCN_FAULT_FAIL_ALLOCS);
}

/* Whether a data packet that came in is to be taken for CE-marked */
static __always_inline bool dcqcn_fault_ce(void)
{
	return dcqcn_faults() && dcqcn_fault_is_nth(DCQCN_FAULT_MARK_CE);
}

/* Have whoever asks the RDMA core wait; may sleep */
static __always_inline void dcqcn_fault_delay_resolve(void)
{
	if (dcqcn_faults())
		dcqcn_fault_sleep(DCQCN_FAULT_DELAY_RESOLVE);
}

#endif /* DCQCN_FAULT_H */
