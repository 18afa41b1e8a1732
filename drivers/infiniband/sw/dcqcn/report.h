/* SPDX-License-Identifier: GPL-2.0 */
/* What is told about a flow's rate. See report.c. */
#ifndef DCQCN_REPORT_H
#define DCQCN_REPORT_H

#include <linux/types.h>

struct dcqcn_qp;
struct dcqcn_rp_params;

void dcqcn_report_rate(struct dcqcn_qp *qp, const struct dcqcn_rp_params *p,
		       unsigned int done, u64 old_rate);
void dcqcn_report_end(struct dcqcn_qp *qp);

#endif /* DCQCN_REPORT_H */
