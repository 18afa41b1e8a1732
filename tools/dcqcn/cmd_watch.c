// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn watch: a table of devices and QPs that refreshes. On a terminal each table
 * replaces the last one; elsewhere they follow each other, as plain text with an
 * empty line between.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "filter.h"
#include "growth.h"
#include "qp.h"
#include "unit.h"

#define BAR_WIDTH	20
#define COUNT_MAX	1000000000

#define V(_qp, _name)	((_qp)->value[RDMA_DCQCN_A_QP_##_name])
#define C(_dev, _name)	((_dev)->counters[RDMA_DCQCN_A_COUNTERS_##_name])

/* The content of one table */
struct picture {
	uint64_t time;
	struct dev *devs;
	struct qp *qps;
	size_t num_qps;
};

static void add_qp(const struct qp *qp, void *data)
{
	struct picture *picture = data;

	picture->qps = reallocarray(picture->qps, picture->num_qps + 1,
				    sizeof(*qp));
	if (!picture->qps)
		fail_errno("QPs");
	picture->qps[picture->num_qps++] = *qp;
}

static struct picture take(const struct qp_filter *filter)
{
	struct picture picture = { .time = clock_now() };

	picture.devs = dev_list(filter->dev);
	qp_dump(filter, add_qp, &picture);
	return picture;
}

static void forget(struct picture *picture)
{
	dev_free(picture->devs);
	free(picture->qps);
}

static const struct qp *same_qp(const struct picture *picture,
				const struct qp *qp)
{
	for (size_t i = 0; i < picture->num_qps; i++) {
		if (V(&picture->qps[i], LQPN) == V(qp, LQPN) &&
		    !strcmp(picture->qps[i].dev, qp->dev))
			return &picture->qps[i];
	}
	return NULL;
}

/* The fastest limited QP, which has the longest bar */
static uint64_t scale(const struct picture *picture)
{
	uint64_t most = 1;

	for (size_t i = 0; i < picture->num_qps; i++) {
		const struct qp *qp = &picture->qps[i];

		if (V(qp, STATE) == RDMA_DCQCN_QP_STATE_LIMITED &&
		    V(qp, RATE) > most)
			most = V(qp, RATE);
	}
	return most;
}

static const char *bar(char buf[BAR_WIDTH + 1], const struct qp *qp,
		       uint64_t most)
{
	size_t n = BAR_WIDTH;

	if (V(qp, STATE) != RDMA_DCQCN_QP_STATE_LIMITED)
		return "";
	if (V(qp, RATE) < most)
		n = BAR_WIDTH * (double)V(qp, RATE) / most + 0.5;
	memset(buf, '#', n);
	buf[n] = '\0';
	return buf;
}

static void draw_dev(const struct dev *dev, const struct dev *old, double s)
{
	char held[UNIT_LEN];

	printf("%-10s %8.0f CE/s %8.0f CNPs sent/s %8.0f handled/s %6.0f ignored/s  %llu limited, %s held\n",
	       dev->name,
	       growth(C(old, NP_ECN_MARKED_ROCE_PACKETS),
		      C(dev, NP_ECN_MARKED_ROCE_PACKETS)) / s,
	       growth(C(old, NP_CNP_SENT), C(dev, NP_CNP_SENT)) / s,
	       growth(C(old, RP_CNP_HANDLED), C(dev, RP_CNP_HANDLED)) / s,
	       growth(C(old, RP_CNP_IGNORED), C(dev, RP_CNP_IGNORED)) / s,
	       (unsigned long long)C(dev, RP_LIMITED_QPS),
	       unit_bytes(held, C(dev, RP_HELD_BYTES)));
}

static void draw_qp(const struct qp *qp, const struct qp *old, double s,
		    uint64_t most)
{
	char rate[UNIT_LEN], target[UNIT_LEN], queue[UNIT_LEN];
	char buf[BAR_WIDTH + 1];

	printf("%-10s %6llu %-8s %11s %-*s %11s %6.3f %10s",
	       qp->dev, (unsigned long long)V(qp, LQPN), qp_state(qp),
	       unit_rate(rate, V(qp, RATE)), BAR_WIDTH, bar(buf, qp, most),
	       unit_rate(target, V(qp, TARGET_RATE)), qp_alpha(qp),
	       unit_bytes(queue, V(qp, QUEUE_BYTES)));
	/* a new entry counts from zero */
	printf(" %7.0f  %s\n",
	       (V(qp, CNP_HANDLED) - (old ? V(old, CNP_HANDLED) : 0)) / s,
	       qp->peer);
}

/* At most @lines lines, 0 for all */
static void draw(const struct picture *picture, const struct picture *old,
		 unsigned int lines)
{
	double s = (picture->time - old->time) / (double)NSEC_PER_SEC;
	uint64_t most = scale(picture);
	unsigned int used = 2;

	for (struct dev *dev = picture->devs; dev; dev = dev->next) {
		const struct dev *before = dev_find(old->devs, dev->name);

		draw_dev(dev, before ?: dev, s);
		used++;
	}
	printf("%-10s %6s %-8s %11s %-*s %11s %6s %10s %7s  %s\n", "DEV",
	       "QPN", "STATE", "RATE", BAR_WIDTH, "", "TARGET", "ALPHA",
	       "QUEUE", "CNPS/S", "PEER");
	for (size_t i = 0; i < picture->num_qps; i++) {
		const struct qp *qp = &picture->qps[i];
		const struct qp *before = same_qp(old, qp);

		if (lines && ++used > lines) {
			printf("... and %zu more\n", picture->num_qps - i);
			break;
		}
		/* an entry that was removed and added again */
		if (before && V(before, CNP_HANDLED) > V(qp, CNP_HANDLED))
			before = NULL;
		draw_qp(qp, before, s, most);
	}
}

/* Lines of a terminal whose screen can be redrawn, or 0 */
static unsigned int terminal_lines(void)
{
	const char *term = getenv("TERM");
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || !term || !*term ||
	    !strcmp(term, "dumb"))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4)
		return 24;
	return size.ws_row;
}

static void watch(const struct qp_filter *filter, uint64_t interval,
		  unsigned long count)
{
	struct picture old = take(filter), new;
	uint64_t due = old.time;

	while (clock_wait(due += interval)) {
		unsigned int lines = terminal_lines();

		new = take(filter);
		if (new.time > due + interval)
			due = new.time;
		/* home, and clear what is below */
		if (lines)
			printf("\033[H\033[J");
		draw(&new, &old, lines);
		if (!lines)
			putchar('\n');
		fflush(stdout);
		if (ferror(stdout))
			break;
		forget(&old);
		old = new;
		if (count && !--count)
			break;
	}
	forget(&old);
}

int cmd_watch(int argc, char **argv)
{
	uint64_t interval = NSEC_PER_SEC;
	struct qp_filter filter;
	unsigned long count = 0;
	int c;

	while ((c = arg_option(argc, argv, "+:i:n:", NULL)) != -1) {
		if (c == 'i')
			interval = arg_interval(optarg);
		else
			count = arg_number("count", optarg, COUNT_MAX);
	}
	filter_parse(&filter, argv + optind);
	clock_end_on_signals();
	watch(&filter, interval, count);
	return EXIT_SUCCESS;
}
