// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn record: QPs over time, as CSV. A line per QP and moment; moments lie
 * on a grid of INTERVAL from the first one on, and those that are missed are
 * left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "filter.h"
#include "qp.h"

/* Attributes in the order of their columns, behind time and device */
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
	uint64_t time = *(uint64_t *)data;

	printf("%llu.%09llu,%s", (unsigned long long)(time / NSEC_PER_SEC),
	       (unsigned long long)(time % NSEC_PER_SEC), qp->dev);
	for (int i = 0; columns[i].name; i++) {
		if (columns[i].attr == RDMA_DCQCN_A_QP_ALPHA)
			printf(",%.9f", qp_alpha(qp));
		else
			printf(",%llu", (unsigned long long)
			       qp->value[columns[i].attr]);
	}
	putchar('\n');
}

static void record(const struct qp_filter *filter, uint64_t interval,
		   uint64_t duration)
{
	uint64_t begin = clock_now(), time = begin, due = begin;

	do {
		time = clock_now();
		qp_dump(filter, put_line, &time);
		if (ferror(stdout))
			return;
		/* the next one that is not over yet */
		due += interval;
		time = clock_now();
		if (due < time)
			due += (time - due + interval - 1) / interval * interval;
		if (duration && due - begin > duration)
			return;
	} while (clock_wait(due));
}

int cmd_record(int argc, char **argv)
{
	uint64_t interval = 10000000, duration = 0;
	struct qp_filter filter;
	const char *file = NULL;
	int c;

	while ((c = arg_option(argc, argv, "+:i:d:o:", NULL)) != -1) {
		switch (c) {
		case 'i':
			interval = arg_interval(optarg);
			break;
		case 'd':
			duration = arg_nsec(optarg);
			break;
		case 'o':
			file = optarg;
			break;
		}
	}
	filter_parse(&filter, argv + optind);
	/* a device that is not there shall not cost an older record */
	dev_free(dev_list(filter.dev));
	if (file && !freopen(file, "w", stdout))
		fail_errno(file);
	clock_end_on_signals();
	put_header();
	fflush(stdout);
	record(&filter, interval, duration);
	if (fflush(stdout) || ferror(stdout))
		fail_errno(file ?: "output");
	return EXIT_SUCCESS;
}
