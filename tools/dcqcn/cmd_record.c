// SPDX-License-Identifier: GPL-2.0
/* dcqcn record: QPs over time, as CSV, with a line per sample and QP. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "filter.h"
#include "qp.h"
#include "record.h"

/* Attributes in the order of their columns, after time and device */
static const struct {
	int attr;
	const char *name;
} columns[] = {
	{ RDMA_DCQCN_A_QP_LQPN, "qpn" },
	{ RDMA_DCQCN_A_QP_STATE, "state" },
	{ RDMA_DCQCN_A_QP_RATE, "rate" },
	{ RDMA_DCQCN_A_QP_TARGET_RATE, "target_rate" },
	{ RDMA_DCQCN_A_QP_ALPHA, "alpha" },
	{ RDMA_DCQCN_A_QP_FLOOR_RATE, "floor_rate" },
	{ RDMA_DCQCN_A_QP_TIMER_STAGE, "timer_stage" },
	{ RDMA_DCQCN_A_QP_BYTE_STAGE, "byte_stage" },
	{ RDMA_DCQCN_A_QP_QUEUE_PACKETS, "queue_packets" },
	{ RDMA_DCQCN_A_QP_QUEUE_BYTES, "queue_bytes" },
	{ RDMA_DCQCN_A_QP_PACED_PACKETS, "paced_packets" },
	{ RDMA_DCQCN_A_QP_PACED_BYTES, "paced_bytes" },
	{ RDMA_DCQCN_A_QP_CNP_HANDLED, "cnp_handled" },
	{ RDMA_DCQCN_A_QP_CNP_IGNORED, "cnp_ignored" },
	{ RDMA_DCQCN_A_QP_CNP_SENT, "cnp_sent" },
	{ RDMA_DCQCN_A_QP_EXPIRED_PACKETS, "expired_packets" },
	{ RDMA_DCQCN_A_QP_DROP_BOUND_PACKETS, "drop_bound_packets" },
	{ RDMA_DCQCN_A_QP_DROP_STALE_PACKETS, "drop_stale_packets" },
	{ RDMA_DCQCN_A_QP_DROP_DEAD_PACKETS, "drop_dead_packets" },
	{}
};

static void put_header(void)
{
	printf("time,dev");
	for (int i = 0; columns[i].name; i++)
		printf(",%s", columns[i].name);
	putchar('\n');
}

static void put_line(const struct qp *qp, void *data)
{
	record_time(*(uint64_t *)data);
	record_name(qp->dev);
	for (int i = 0; columns[i].name; i++) {
		if (columns[i].attr == RDMA_DCQCN_A_QP_ALPHA)
			printf(",%.9f", qp_alpha(qp));
		else
			printf(",%llu", (unsigned long long)
			       qp->value[columns[i].attr]);
	}
	putchar('\n');
}

static void put_qps(uint64_t time, void *filter)
{
	qp_dump(filter, put_line, &time);
}

int cmd_record(int argc, char **argv)
{
	struct qp_filter filter;
	struct record r;

	record_options(&r, argc, argv);
	filter_parse(&filter, argv + optind);
	/* do not overwrite an older record if the device does not exist */
	dev_free(dev_list(filter.dev));
	record_write(&r, put_header, put_qps, &filter);
	return EXIT_SUCCESS;
}
