// SPDX-License-Identifier: GPL-2.0
/*
 * What is told about a flow's rate, to those who trace and those who listen on
 * netlink. The algorithm itself knows neither.
 */
#include "netlink.h"
#include "qp.h"
#include "rate.h"
#include "report.h"
#include "trace.h"

/**
 * dcqcn_report_rate() - a flow's rate was cut or increased
 * @qp: its QP
 * @p: the parameters it happened with
 * @done: what happened, DCQCN_RATE_*
 * @old_rate: bit/s; the rate before all of it
 *
 * Context: @qp->lock is held.
 */
void dcqcn_report_rate(struct dcqcn_qp *qp, const struct dcqcn_rp_params *p,
		       unsigned int done, u64 old_rate)
{
	unsigned int by = done & (DCQCN_RATE_TIMER | DCQCN_RATE_BYTES);

	if (by)
		trace_rate_increase(qp, old_rate, by,
				    dcqcn_rate_phase(&qp->flow.rate, p));
	if (done & DCQCN_RATE_CUT) {
		trace_rate_cut(qp, old_rate);
		dcqcn_netlink_rate(qp, RDMA_DCQCN_RATE_EVENT_CUT, old_rate);
	}
}

/**
 * dcqcn_report_end() - a flow's limiter has ended
 * @qp: its QP
 *
 * Context: @qp->lock is held.
 */
void dcqcn_report_end(struct dcqcn_qp *qp)
{
	trace_flow_dead(qp);
	dcqcn_netlink_rate(qp, RDMA_DCQCN_RATE_EVENT_RELEASED,
			   qp->flow.rate.current_rate);
}
