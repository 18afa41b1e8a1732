// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn watch and dcqcn port watch without a kernel: "watch qp PEER" or "watch port" draws two
 * tables of what is made up here. watch.py looks at them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "clock.h"
#include "filter.h"
#include "port_look.h"

#define QPS	40

bool option_json;
static const char *peer;

uint64_t clock_now(void)
{
	static uint64_t now;

	return now += NSEC_PER_SEC;
}

bool clock_wait(uint64_t due)
{
	(void)due;
	return true;
}

void clock_end_on_signals(void)
{
}

struct dev *dev_list(const char *name)
{
	struct dev *dev = calloc(1, sizeof(*dev));

	(void)name;
	strcpy(dev->name, "rxe0");
	dev->counters[RDMA_DCQCN_A_COUNTERS_RP_HELD_BYTES] = 12345;
	return dev;
}

struct dev *dev_find(struct dev *list, const char *name)
{
	(void)name;
	return list;
}

void dev_free(struct dev *list)
{
	free(list);
}

void qp_dump(const struct qp_filter *filter, qp_each each, void *data)
{
	struct qp qp = { .dev = "rxe0", .value = {
		[RDMA_DCQCN_A_QP_STATE] = RDMA_DCQCN_QP_STATE_LIMITED,
		[RDMA_DCQCN_A_QP_RATE] = 1234000000, [RDMA_DCQCN_A_QP_TARGET_RATE] = 2345000000,
	} };

	(void)filter;
	strcpy(qp.peer, peer);
	for (int i = 0; i < QPS; i++) {
		qp.value[RDMA_DCQCN_A_QP_LQPN] = 16000000 / QPS * (i + 1);
		each(&qp, data);
	}
}

void filter_parse(struct qp_filter *filter, char **argv)
{
	(void)argv;
	*filter = (struct qp_filter) { .qpn = -1 };
}

struct port_look port_look(const char *dev)
{
	static uint64_t looks;
	struct port_look look = {
		.time = clock_now(), .samples = calloc(QPS, sizeof(struct port_sample)),
		.count = QPS };

	(void)dev;
	looks++;
	for (int i = 0; i < QPS; i++) {
		struct port_sample *s = &look.samples[i];

		snprintf(s->dev, sizeof(s->dev), "sw%d", i);
		for (int v = 0; v < PORT_FIGURES; v++)
			s->value[v] = looks * 1000;
	}
	return look;
}

void port_look_free(struct port_look *look)
{
	free(look->samples);
}

const struct port_sample *port_look_find(const struct port_look *look, const struct port_sample *s)
{
	for (size_t i = 0; i < look->count; i++) {
		if (!strcmp(look->samples[i].dev, s->dev))
			return &look->samples[i];
	}
	return NULL;
}

const char *qp_state(const struct qp *qp)
{
	(void)qp;
	return "limited";
}

double qp_alpha(const struct qp *qp)
{
	(void)qp;
	return .5;
}

/* -n 2, and no other word */
int arg_option(int argc, char **argv, const char *options, const struct option *longs)
{
	static bool told;
	bool first = !told;

	(void)argc;
	(void)argv;
	(void)options;
	(void)longs;
	told = true;
	return first ? 'n' : -1;
}

unsigned long arg_count(const char *text)
{
	(void)text;
	return 2;
}

uint64_t arg_interval(const char *text)
{
	(void)text;
	return NSEC_PER_SEC;
}

const char *arg_dev(char **argv)
{
	(void)argv;
	return NULL;
}

int cmd_watch(int argc, char **argv);
int cmd_port_watch(int argc, char **argv);

int main(int argc, char **argv)
{
	peer = argc > 2 ? argv[2] : "";
	return strcmp(argv[1], "port") ? cmd_watch(argc, argv) : cmd_port_watch(argc, argv);
}
