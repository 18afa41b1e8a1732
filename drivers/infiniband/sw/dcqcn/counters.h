/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of one rxe port. See counters.c. */
#ifndef DCQCN_COUNTERS_H
#define DCQCN_COUNTERS_H

#include <linux/percpu.h>

struct dcqcn_dev;

/* What is counted: DCQCN_NP_CNP_SENT and so on, see counter_list.h */
enum dcqcn_counter {
#define DCQCN_COUNTER(_id, _name, _attribute)	DCQCN_##_id,
#include "counter_list.h"
#undef DCQCN_COUNTER
	DCQCN_NUM_COUNTERS
};

/**
 * enum dcqcn_fifo_kind - the two FIFOs of a flow
 * @DCQCN_REQUESTS: rxe's requester fills it, with 65 packets at most
 * @DCQCN_RESPONSES: READ responses, and ACKs that must not overtake them
 */
enum dcqcn_fifo_kind {
	DCQCN_REQUESTS,
	DCQCN_RESPONSES,
	DCQCN_NUM_FIFOS
};

/* Bytes of memory that a CPU counts for itself: some 8 packets of 4 KB. A port may exceed its
 * bounds by this much for each CPU.
 */
#define DCQCN_HELD_BATCH	65536

/**
 * struct dcqcn_counters - what a CPU counts for a port
 * @value: machine words: no tearing, no lock, and one instruction per count
 * @held_memory: bytes of memory of packets that this CPU has held, minus those that it has sent,
 *	as far as they are not yet in dcqcn_pacing.held_memory
 */
struct dcqcn_counters {
	unsigned long value[DCQCN_NUM_COUNTERS];
	int held_memory[DCQCN_NUM_FIFOS];
};

int dcqcn_counters_add(struct dcqcn_dev *dev);
void dcqcn_counters_remove(struct dcqcn_dev *dev);
unsigned long dcqcn_counter_sum(const struct dcqcn_dev *dev,
				enum dcqcn_counter counter);
long dcqcn_held_memory_sum(const struct dcqcn_dev *dev);

#endif /* DCQCN_COUNTERS_H */
