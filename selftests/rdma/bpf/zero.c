// SPDX-License-Identifier: GPL-2.0
/* An algorithm that is accepted: rate and window 0, and a timer in each nanosecond. Flows are slow. */
#include <linux/types.h>
#include <rdma/dcqcn_cc.h>

static void zero_answer(struct dcqcn_cc *cc)
{
	cc->rate = 0;
	cc->window = 0;
	cc->next_call = cc->now + 1;
}

static const struct dcqcn_cc_ops zero = {
	.name = "zero", .init = zero_answer, .timer = zero_answer, .cnp = zero_answer,
};
