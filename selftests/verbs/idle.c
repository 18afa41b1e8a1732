// SPDX-License-Identifier: GPL-2.0
/*
 * idle: RC queue pairs that are connected and idle.
 *
 * usage: idle QPS SRC_DEV SRC_ADDR DST_DEV DST_ADDR
 *
 * Prints the QP numbers of the destination, one per line, then "ready". Both directions
 * begin with PSN 0. Runs until it is killed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

static uint8_t memory[4096];

static void check(int err, const char *dev, const char *what)
{
	if (err) {
		fprintf(stderr, "idle: %s: %s: %s\n", dev, what, strerror(err));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct path path = { .mtu = IBV_MTU_1024, .timeout = 20, .retries = 7 };
	struct end src, dst;
	const char *what;
	int n;

	if (argc != 6 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: idle QPS SRC_DEV SRC_ADDR DST_DEV DST_ADDR\n");
		return 2;
	}
	src = (struct end){ .dev = argv[2], .addr = argv[3] };
	dst = (struct end){ .dev = argv[4], .addr = argv[5] };
	check(end_open(&src, memory, sizeof(memory), 1, &what), src.dev, what);
	check(end_open(&dst, memory, sizeof(memory), 1, &what), dst.dev, what);
	for (n = atoi(argv[1]); n > 0; n--) {
		struct ibv_qp *req = end_qp(&src, IBV_QPT_RC, 1);
		struct ibv_qp *rsp = end_qp(&dst, IBV_QPT_RC, 1);

		if (!req || !rsp) {
			perror("idle: making a QP");
			return 1;
		}
		check(end_connect(&src, req, &dst, rsp->qp_num, &path, &what), src.dev, what);
		check(end_connect(&dst, rsp, &src, req->qp_num, &path, &what), dst.dev, what);
		printf("%u\n", rsp->qp_num);
	}
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
