// SPDX-License-Identifier: GPL-2.0
/*
 * Connect many QPs to an address, which needs no listener, and keep them:
 * qps DEV SGID-INDEX DGID COUNT [uc]
 *
 * They are RC, or UC with "uc". Each QP's peer has the QP's own number. SIGUSR1 resets the QPs
 * and connects them again, each time to the next higher number. SIGUSR2 moves them to the state
 * ERR, as an error does.
 *
 * Prints the number of each, then "ready", and "ready" again after each signal. Runs until
 * it is killed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	}
	if (!context)
		errx(EXIT_FAILURE, "%s: no such device", name);
	return context;
}

/* it can receive and answer; for that it needs only a known peer */
static void connect_qp(struct ibv_qp *qp, const union ibv_gid *dgid,
		       int sgid_index, unsigned int times)
{
	int rc = qp->qp_type == IBV_QPT_RC ?
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num + times,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = *dgid,
				.sgid_index = sgid_index,
				.hop_limit = 64,
			},
		},
	};

	if (ibv_modify_qp(qp, &reset, IBV_QP_STATE) ||
	    ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  rc))
		err(EXIT_FAILURE, "ibv_modify_qp");
}

/* As after an error */
static void fail_qp(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		err(EXIT_FAILURE, "ibv_modify_qp");
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_context *context;
	union ibv_gid dgid = {};
	struct ibv_qp **qps;
	struct ibv_pd *pd;
	sigset_t again;
	int count, got;

	if (argc != 5 && (argc != 6 || strcmp(argv[5], "uc")))
		errx(EXIT_FAILURE, "usage: qps DEV SGID-INDEX DGID COUNT [uc]");
	if (argc == 6)
		attr.qp_type = IBV_QPT_UC;
	sigemptyset(&again);
	sigaddset(&again, SIGUSR1);
	sigaddset(&again, SIGUSR2);
	sigprocmask(SIG_BLOCK, &again, NULL);
	if (inet_pton(AF_INET6, argv[3], &dgid) != 1)
		errx(EXIT_FAILURE, "%s: no GID", argv[3]);
	context = open_device(argv[1]);
	pd = ibv_alloc_pd(context);
	attr.send_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	if (!pd || !attr.send_cq)
		err(EXIT_FAILURE, "%s", argv[1]);

	count = atoi(argv[4]);
	qps = calloc(count, sizeof(*qps));
	if (!qps)
		err(EXIT_FAILURE, "%d QPs", count);
	for (int n = 0; n < count; n++) {
		qps[n] = ibv_create_qp(pd, &attr);
		if (!qps[n])
			err(EXIT_FAILURE, "ibv_create_qp, the %dth", n + 1);
		connect_qp(qps[n], &dgid, atoi(argv[2]), 0);
		printf("%u\n", qps[n]->qp_num);
	}
	for (unsigned int times = 1; ; times++) {
		printf("ready\n");
		fflush(stdout);
		sigwait(&again, &got);
		for (int n = 0; n < count; n++) {
			if (got == SIGUSR2)
				fail_qp(qps[n]);
			else
				connect_qp(qps[n], &dgid, atoi(argv[2]), times);
		}
	}
}
