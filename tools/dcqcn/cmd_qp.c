// SPDX-License-Identifier: GPL-2.0
/* dcqcn qp: QPs that have met congestion, and their rates. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "filter.h"
#include "json.h"
#include "qp.h"
#include "unit.h"

#define V(_name)	((unsigned long long)qp->value[RDMA_DCQCN_A_QP_##_name])
#define HAS(_name)	(qp->has[RDMA_DCQCN_A_QP_##_name])

/* The measured or set values that drive the rate */
static void qp_path(const struct qp *qp)
{
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN];

	if (!HAS(RTT))
		return;
	printf("    rtt %s timer %s increase %s", unit_nsec(a, V(RTT)),
	       unit_nsec(b, V(TIMER_PERIOD)), unit_rate(c, V(AI_RATE)));
	if (HAS(DELIVERED_RATE))
		printf(" delivered %s", unit_rate(a, V(DELIVERED_RATE)));
	printf("\n");
}

static void qp_json(const struct qp *qp, void *data __attribute__((unused)))
{
	json_open_object(NULL);
	json_string("dev", qp->dev);
	json_number("lqpn", V(LQPN));
	if (HAS(RQPN))
		json_number("rqpn", V(RQPN));
	if (*qp->peer)
		json_string("peer", qp->peer);
	json_string("type", qp_type(qp));
	json_number("prio", V(PRIO));
	if (HAS(ACK_TIMEOUT))
		json_number("ack_timeout", V(ACK_TIMEOUT));
	json_string("state", qp_state(qp));
	if (*qp->algorithm)
		json_string("cc_algorithm", qp->algorithm);
	json_number("rate", V(RATE));
	json_number("target_rate", V(TARGET_RATE));
	json_number("floor_rate", V(FLOOR_RATE));
	json_number("line_rate", V(LINE_RATE));
	json_real("alpha", qp_alpha(qp));
	if (HAS(RTT))
		json_real("rtt", V(RTT) / 1e9);
	if (HAS(DELIVERED_RATE))
		json_number("delivered_rate", V(DELIVERED_RATE));
	if (HAS(TIMER_PERIOD))
		json_real("timer_period", V(TIMER_PERIOD) / 1e9);
	if (HAS(AI_RATE))
		json_number("ai_rate", V(AI_RATE));
	if (HAS(EV))
		json_number("ev", V(EV));
	json_number("timer_stage", V(TIMER_STAGE));
	json_number("byte_stage", V(BYTE_STAGE));
	json_number("paced_packets", V(PACED_PACKETS));
	json_number("paced_bytes", V(PACED_BYTES));
	json_number("queue_packets", V(QUEUE_PACKETS));
	json_number("queue_packets_max", V(QUEUE_PACKETS_MAX));
	json_number("queue_bytes", V(QUEUE_BYTES));
	json_number("queue_bytes_max", V(QUEUE_BYTES_MAX));
	if (HAS(ECN_MARKED))
		json_number("ecn_marked", V(ECN_MARKED));
	json_number("cnp_sent", V(CNP_SENT));
	json_number("cnp_handled", V(CNP_HANDLED));
	json_number("cnp_ignored", V(CNP_IGNORED));
	if (HAS(CNP_AGE))
		json_real("cnp_age", V(CNP_AGE) / 1e9);
	json_number("expired_packets", V(EXPIRED_PACKETS));
	json_number("drop_bound_packets", V(DROP_BOUND_PACKETS));
	json_number("drop_stale_packets", V(DROP_STALE_PACKETS));
	json_number("drop_dead_packets", V(DROP_DEAD_PACKETS));
	json_close_object();
}

static void qp_text(const struct qp *qp, void *data __attribute__((unused)))
{
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN], d[UNIT_LEN];

	printf("%s lqpn %llu", qp->dev, V(LQPN));
	if (*qp->peer)
		printf(" rqpn %llu peer %s", V(RQPN), qp->peer);
	printf(" type %s prio %llu state %s", qp_type(qp), V(PRIO), qp_state(qp));
	if (*qp->algorithm)
		printf(" cc %s", qp->algorithm);
	putchar('\n');
	printf("    rate %s target %s floor %s line %s\n",
	       unit_rate(a, V(RATE)), unit_rate(b, V(TARGET_RATE)),
	       unit_rate(c, V(FLOOR_RATE)), unit_rate(d, V(LINE_RATE)));
	printf("    alpha %.4f stages timer %llu byte %llu\n", qp_alpha(qp),
	       V(TIMER_STAGE), V(BYTE_STAGE));
	qp_path(qp);
	if (HAS(EV))
		printf("    ev %llu\n", V(EV));
	printf("    paced %llu packets %s\n", V(PACED_PACKETS),
	       unit_bytes(a, V(PACED_BYTES)));
	printf("    queue %llu packets %s max %llu packets %s\n",
	       V(QUEUE_PACKETS), unit_bytes(a, V(QUEUE_BYTES)),
	       V(QUEUE_PACKETS_MAX), unit_bytes(b, V(QUEUE_BYTES_MAX)));
	printf("    cnp handled %llu ignored %llu sent %llu", V(CNP_HANDLED),
	       V(CNP_IGNORED), V(CNP_SENT));
	if (HAS(ECN_MARKED))
		printf(" for %llu marks", V(ECN_MARKED));
	if (HAS(CNP_AGE))
		printf(" last %s ago", unit_nsec(a, V(CNP_AGE)));
	printf("\n    expired %llu dropped bound %llu stale %llu dead %llu\n",
	       V(EXPIRED_PACKETS), V(DROP_BOUND_PACKETS),
	       V(DROP_STALE_PACKETS), V(DROP_DEAD_PACKETS));
}

int cmd_qp(int argc __attribute__((unused)), char **argv)
{
	struct qp_filter filter;

	filter_parse(&filter, argv + 1);
	if (option_json)
		json_open_array(NULL);
	qp_dump(&filter, option_json ? qp_json : qp_text, NULL);
	if (option_json)
		json_close_array();
	return EXIT_SUCCESS;
}
