/* SPDX-License-Identifier: GPL-2.0 */
/* A flow that obeys a struct dcqcn_cc_ops. See algorithm.c. */
#ifndef MODEL_ALGORITHM_H
#define MODEL_ALGORITHM_H

#include <rdma/dcqcn_cc.h>

#include "flight.h"

/**
 * struct algorithm_flow - a flow, as the module's cc.c keeps it
 * @ops: what it obeys
 * @cc: as that sees it
 * @flight: what it has in flight
 * @call: ns; its next_call, as last clamped
 * @marked: bytes that CNPs stand for, and no ACK yet
 */
struct algorithm_flow {
	const struct dcqcn_cc_ops *ops;
	struct dcqcn_cc cc;
	struct dcqcn_flight flight;
	u64 call;
	u32 marked;
};

extern const char *const algorithm_names[];

const struct dcqcn_cc_ops *algorithm_ops(double word);
void algorithm_begin(struct algorithm_flow *f, const struct dcqcn_cc_ops *ops, u64 line,
		     u64 floor, u32 packet, u64 now);
void algorithm_time(struct algorithm_flow *f, u64 now);
bool algorithm_has_room(const struct algorithm_flow *f);
bool algorithm_sent(struct algorithm_flow *f, u32 psn, u32 bytes, bool asks, u64 now);
void algorithm_cnp(struct algorithm_flow *f, u64 now);
void algorithm_acked(struct algorithm_flow *f, u32 psn, bool held, u64 now);
void algorithm_lost(struct algorithm_flow *f, u64 now);

#endif /* MODEL_ALGORITHM_H */
