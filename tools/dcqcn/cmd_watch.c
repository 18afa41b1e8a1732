// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn watch: a table of devices and QPs that refreshes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "filter.h"
#include "growth.h"
#include "qp.h"
#include "screen.h"
#include "unit.h"

#define BAR_WIDTH	20

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

/* Print a line, or two on a narrow terminal. Return how many. */
static unsigned int draw_dev(const struct screen *screen, const struct dev *dev,
			     const struct dev *old, double s)
{
	char held[UNIT_LEN], acts[256], rest[128];
	int len;

	len = snprintf(acts, sizeof(acts), "%-10s %8.0f CE/s %8.0f CNPs sent/s %8.0f handled/s",
		       dev->name,
		       growth(C(old, NP_ECN_MARKED_ROCE_PACKETS),
			      C(dev, NP_ECN_MARKED_ROCE_PACKETS)) / s,
		       growth(C(old, NP_CNP_SENT), C(dev, NP_CNP_SENT)) / s,
		       growth(C(old, RP_CNP_HANDLED), C(dev, RP_CNP_HANDLED)) / s);
	len += snprintf(rest, sizeof(rest), "%6.0f ignored/s  %llu limited, %s held",
			growth(C(old, RP_CNP_IGNORED), C(dev, RP_CNP_IGNORED)) / s,
			(unsigned long long)C(dev, RP_LIMITED_QPS),
			unit_bytes(held, C(dev, RP_HELD_BYTES)));
	if (!screen->columns || len < (int)screen->columns) {
		printf("%s %s\n", acts, rest);
		return 1;
	}
	printf("%.*s\n%.*s\n", (int)screen->columns, acts, (int)screen->columns, rest);
	return 2;
}

enum { DEV, QPN, STATE, RATE, BAR, TARGET, ALPHA, QUEUE, CNPS, PEER, COLUMNS };

static void draw_qp(const struct screen *screen, const struct screen_column columns[COLUMNS],
		    unsigned int shown, const struct qp *qp, const struct qp *old, double s,
		    uint64_t most)
{
	char qpn[UNIT_LEN], rate[UNIT_LEN], target[UNIT_LEN], alpha[UNIT_LEN], queue[UNIT_LEN],
		cnps[UNIT_LEN], peer[NETLINK_ADDRESS + 1], buf[BAR_WIDTH + 1];
	const char *const cells[COLUMNS] = {
		qp->dev, qpn, qp_state(qp), unit_rate(rate, V(qp, RATE)), bar(buf, qp, most),
		unit_rate(target, V(qp, TARGET_RATE)), alpha,
		unit_bytes(queue, V(qp, QUEUE_BYTES)), cnps, peer,
	};

	snprintf(qpn, sizeof(qpn), "%llu", (unsigned long long)V(qp, LQPN));
	snprintf(alpha, sizeof(alpha), "%.3f", qp_alpha(qp));
	/* a new entry counts from zero */
	snprintf(cnps, sizeof(cnps), "%.0f",
		 (V(qp, CNP_HANDLED) - (old ? V(old, CNP_HANDLED) : 0)) / s);
	snprintf(peer, sizeof(peer), " %s", qp->peer);
	screen_row(screen, columns, COLUMNS, shown, cells);
}

static void draw(const struct screen *screen, const struct picture *picture,
		 const struct picture *old)
{
	struct screen_column columns[COLUMNS] = {
		[DEV] = { "DEV", -10 },
		[QPN] = { "QPN", 6 },
		[STATE] = { "STATE", -8, 3 },
		[RATE] = { "RATE", 11 },
		[BAR] = { "", -BAR_WIDTH, 1 },
		[TARGET] = { "TARGET", 11, 4 },
		[ALPHA] = { "ALPHA", 6, 2 },
		[QUEUE] = { "QUEUE", 10, 6 },
		[CNPS] = { "CNPS/S", 7, 5 },
		[PEER] = { " PEER", -5, 7 },
	};
	double s = (picture->time - old->time) / (double)NSEC_PER_SEC;
	uint64_t most = scale(picture);
	/* room for the headings, the line about what is left out, and the cursor */
	unsigned int used = 3, shown;

	for (size_t i = 0; i < picture->num_qps; i++) {
		const struct qp *qp = &picture->qps[i];

		columns[DEV].width = MIN(columns[DEV].width, -(int)strlen(qp->dev));
		columns[QPN].width = MAX(columns[QPN].width,
					 snprintf(NULL, 0, "%llu",
						  (unsigned long long)V(qp, LQPN)));
		columns[PEER].width = MIN(columns[PEER].width, -(int)strlen(qp->peer) - 1);
	}
	shown = screen_fit(screen, columns, COLUMNS);
	for (struct dev *dev = picture->devs; dev; dev = dev->next) {
		const struct dev *before = dev_find(old->devs, dev->name);

		used += draw_dev(screen, dev, before ?: dev, s);
	}
	screen_row(screen, columns, COLUMNS, shown, NULL);
	for (size_t i = 0; i < picture->num_qps; i++) {
		const struct qp *qp = &picture->qps[i];
		const struct qp *before = same_qp(old, qp);

		if (screen->lines && ++used > screen->lines) {
			printf("... and %zu more\n", picture->num_qps - i);
			break;
		}
		/* the entry was removed and added again */
		if (before && V(before, CNP_HANDLED) > V(qp, CNP_HANDLED))
			before = NULL;
		draw_qp(screen, columns, shown, qp, before, s, most);
	}
}

static void watch(const struct qp_filter *filter, uint64_t interval,
		  unsigned long count)
{
	struct picture old = take(filter), new;
	uint64_t due = old.time;

	while (clock_wait(due += interval)) {
		struct screen screen;

		new = take(filter);
		if (new.time > due + interval)
			due = new.time;
		screen = screen_begin();
		draw(&screen, &new, &old);
		screen_end(&screen);
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
			count = arg_count(optarg);
	}
	filter_parse(&filter, argv + optind);
	clock_end_on_signals();
	watch(&filter, interval, count);
	return EXIT_SUCCESS;
}
