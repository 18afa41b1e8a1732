// SPDX-License-Identifier: GPL-2.0
/*
 * How long dcqcn_qp_find() takes, in nodes like the kernel's and in a random order: hits, QPs
 * without an entry among the others, and numbers that nobody has. Not a test: "make time".
 */
#include "kernel.h"
#include "random.h"
#include <time.h>

#define DCQCN_TRACE_H
#define hash_for_each_possible_rcu(table, pos, member, key) \
	for (pos = NULL; pos; pos = NULL)
#define DECLARE_HASHTABLE(name, bits) int name
struct workqueue_struct;

#include "qp.h"

#define FIRST		17	/* QPN */
#define LOOKUPS		4000000

static u32 qpns[1 << 16];
static volatile unsigned int found;

static double lookups(const struct dcqcn_dev *dev)
{
	struct timespec from, to;
	unsigned int i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (i = 0; i < LOOKUPS; i++)
		found += !!dcqcn_qp_find(dev, qpns[i % ARRAY_SIZE(qpns)]);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / LOOKUPS;
}

int main(void)
{
	static struct dcqcn_qp qp;
	double hit, without, absent;
	unsigned int n, i;

	printf("QPs      hit   without an entry   absent (ns)\n");
	for (n = 1000; n <= 100000; n *= 10) {
		struct dcqcn_dev dev = {};

		/* each second QP has an entry */
		for (i = 0; i < 2 * n; i += 2)
			xa_insert_bh(&dev.qps, FIRST + i, &qp, GFP_ATOMIC);
		for (i = 0; i < ARRAY_SIZE(qpns); i++)
			qpns[i] = FIRST + 2 * random_below(n);
		hit = lookups(&dev);
		for (i = 0; i < ARRAY_SIZE(qpns); i++)
			qpns[i] = FIRST + 2 * random_below(n) + 1;
		without = lookups(&dev);
		for (i = 0; i < ARRAY_SIZE(qpns); i++)
			qpns[i] = 0x800000 + random_below(0x700000);
		absent = lookups(&dev);
		printf("%-6u %5.1f %18.1f %8.1f\n", n, hit, without, absent);
		xa_destroy(&dev.qps);
	}
	return 0;
}
