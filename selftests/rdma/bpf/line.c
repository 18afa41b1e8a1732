// SPDX-License-Identifier: GPL-2.0
/* An algorithm that writes what only the module may write. The verifier refuses it. */
#include <linux/types.h>
#include <rdma/dcqcn_cc.h>

static void line_init(struct dcqcn_cc *cc)
{
	cc->line = ~0ULL;
}

static const struct dcqcn_cc_ops line = { .name = "line", .init = line_init };
