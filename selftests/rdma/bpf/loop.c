// SPDX-License-Identifier: GPL-2.0
/* An algorithm that does not end. The verifier refuses it. */
#include <linux/types.h>
#include <rdma/dcqcn_cc.h>

static void loop_init(struct dcqcn_cc *cc)
{
	while (cc->packet)
		cc->window = cc->packet;
}

static const struct dcqcn_cc_ops loop = { .name = "loop", .init = loop_init };
