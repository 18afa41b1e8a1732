// SPDX-License-Identifier: GPL-2.0
/*
 * datagrams: a UD queue pair that sends up to 16 KB each millisecond.
 *
 * usage: datagrams SRC_DEV SRC_ADDR DST_DEV DST_ADDR
 *
 * Prints the sending QP's number. Datagrams have traffic class 0; after SIGUSR1 one has 0xe0,
 * which is priority 7. Runs until it is killed.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

#define DEPTH	16
#define LENGTH	1024
#define QKEY	0x1234

static uint8_t memory[LENGTH];
static volatile sig_atomic_t other;

static void on_signal(int number)
{
	(void)number;
	other = 1;
}

static struct ibv_ah *way(struct end *src, const struct end *dst, uint8_t traffic_class)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = {
			.dgid = dst->gid, .sgid_index = src->gid_index, .hop_limit = 64,
			.traffic_class = traffic_class,
		},
	};

	return ibv_create_ah(src->pd, &attr);
}

static int ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = QKEY };
	int state, err = 0;

	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS && !err; state++) {
		attr.qp_state = state;
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				    (state == IBV_QPS_INIT ? IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_QKEY : 0) |
				    (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0));
	}
	return err;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct end src = { 0 }, dst = { 0 };
	struct ibv_ah *ways[2];
	struct ibv_qp *qp, *sink;
	unsigned int outstanding = 0;
	const char *what;

	if (argc != 5) {
		fprintf(stderr, "usage: datagrams SRC_DEV SRC_ADDR DST_DEV DST_ADDR\n");
		return 2;
	}
	src.dev = argv[1];
	src.addr = argv[2];
	dst.dev = argv[3];
	dst.addr = argv[4];
	sigaction(SIGUSR1, &action, NULL);
	if (end_open(&src, memory, sizeof(memory), DEPTH, &what) ||
	    end_open(&dst, memory, sizeof(memory), DEPTH, &what)) {
		fprintf(stderr, "datagrams: %s failed\n", what);
		return 1;
	}
	qp = end_qp(&src, IBV_QPT_UD, DEPTH);
	sink = end_qp(&dst, IBV_QPT_UD, DEPTH);
	ways[0] = way(&src, &dst, 0);
	ways[1] = way(&src, &dst, 0xe0);
	if (!qp || !sink || !ways[0] || !ways[1] || ready(qp) || ready(sink)) {
		perror("datagrams");
		return 1;
	}
	printf("%u\n", qp->qp_num);
	fflush(stdout);
	for (;;) {
		struct ibv_sge sge = { (uintptr_t)memory, LENGTH, src.mr->lkey };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
			.opcode = IBV_WR_SEND,
			.wr.ud = { .remote_qpn = sink->qp_num, .remote_qkey = QKEY },
		}, *bad;
		struct ibv_wc wc[DEPTH];
		int n;

		while (outstanding < DEPTH) {
			wr.wr.ud.ah = ways[other];
			other = 0;
			if (ibv_post_send(qp, &wr, &bad))
				return 1;
			outstanding++;
		}
		/* rxe may complete each datagram at once: without a pause, no simulated time would pass */
		usleep(1000);
		n = ibv_poll_cq(src.cq, DEPTH, wc);
		if (n < 0)
			return 1;
		outstanding -= n;
	}
}
