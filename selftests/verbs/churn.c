// SPDX-License-Identifier: GPL-2.0
/*
 * churn: traffic from one device to another on QPs that are reset and destroyed.
 *
 * usage: churn [-s SEED] [-q QPS] SRC_DEV SRC_ADDR DST_DEV DST_ADDR
 *
 * RC and UC QPs write, send and read; UD QPs send. At random, one is put into RESET or
 * ERR, destroyed, or reconnected, maybe to another QP, at either side. None of this is a
 * failure, and neither is a device that disappears: churn waits until it returns. Runs
 * until SIGTERM, and then prints how often each of these happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"

#define DEPTH		4
#define SIZE		16384	/* few: rxe sends, and resends, all of them before a QP is gone */
#define WAIT_MS		20	/* for a completion, and for a device */
#define ODDS		40	/* turns per random event */
#define DATAGRAM	1024	/* at most */
#define QKEY		0x1234

struct pair {
	struct ibv_qp *req, *rsp;
	struct ibv_ah *ah;	/* UD: to rsp */
	unsigned int outstanding;
	int connected;
};

static struct end src, dst;
static struct pair *pairs;
static unsigned int nr_pairs = 4;
static uint64_t random_state = 1;
static uint8_t *memory;
static volatile sig_atomic_t ended;

static struct {
	uint64_t opened, connected, completed, failed, reset, swapped, to_error, destroyed;
} counts;

static void break_up(struct pair *p)
{
	if (p->req)
		ibv_destroy_qp(p->req);
	if (p->rsp)
		ibv_destroy_qp(p->rsp);
	if (p->ah)
		ibv_destroy_ah(p->ah);
	*p = (struct pair){ 0 };
}

static void leave(void)
{
	unsigned int i;

	for (i = 0; i < nr_pairs; i++)
		break_up(&pairs[i]);
	end_close(&src);
	end_close(&dst);
}

static int enter(void)
{
	const char *what;

	if (end_open(&src, memory, SIZE, nr_pairs * 2 * DEPTH, &what) ||
	    end_open(&dst, memory, SIZE, nr_pairs * 2 * DEPTH, &what)) {
		leave();
		return -1;
	}
	counts.opened++;
	return 0;
}

static int connect_ud(struct pair *p, uint64_t r)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = QKEY };
	struct ibv_ah_attr way = {
		.is_global = 1, .port_num = 1,
		.grh = {
			.dgid = dst.gid, .sgid_index = src.gid_index, .hop_limit = 64,
			.traffic_class = r & 0xe0,
		},
	};
	struct ibv_qp *qps[] = { p->req, p->rsp };
	int i, state;

	if (!p->ah)
		p->ah = ibv_create_ah(src.pd, &way);
	if (!p->ah)
		return -1;
	for (i = 0; i < 2; i++) {
		for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
			attr.qp_state = state;
			if (ibv_modify_qp(qps[i], &attr, IBV_QP_STATE |
					  (state == IBV_QPS_INIT ? IBV_QP_PKEY_INDEX |
					   IBV_QP_PORT | IBV_QP_QKEY : 0) |
					  (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0)))
				return -1;
		}
	}
	return 0;
}

static int connect_rc_uc(struct pair *p, uint64_t r)
{
	struct path path = {
		.mtu = IBV_MTU_1024, .timeout = 10 + r % 5, .retries = 3,
		.psn = r >> 8 & 0xffffff,
	};
	const char *what;

	return end_connect(&src, p->req, &dst, p->rsp->qp_num, &path, &what) ||
	       end_connect(&dst, p->rsp, &src, p->req->qp_num, &path, &what);
}

static void connect_pair(struct pair *p)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD
	};
	uint64_t r = next_random(&random_state);
	enum ibv_qp_type type = types[r & 3];
	int i;

	if (!p->req)
		p->req = end_qp(&src, type, DEPTH);
	if (!p->rsp)
		p->rsp = end_qp(&dst, p->req ? p->req->qp_type : type, DEPTH);
	if (!p->req || !p->rsp || p->req->qp_type != p->rsp->qp_type ||
	    (p->req->qp_type == IBV_QPT_UD ? connect_ud(p, r >> 8) : connect_rc_uc(p, r >> 8))) {
		break_up(p);
		return;
	}
	for (i = 0; i < DEPTH; i++) {
		struct ibv_sge sge = { (uintptr_t)memory, SIZE, dst.mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = p - pairs, .sg_list = &sge, .num_sge = 1 }, *bad;

		ibv_post_recv(p->rsp, &wr, &bad);
	}
	p->connected = 1;
	p->outstanding = 0;
	counts.connected++;
}

/* To be reconnected */
static void reset(struct pair *p, struct ibv_qp *first)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	ibv_modify_qp(first, &attr, IBV_QP_STATE);
	ibv_modify_qp(first == p->req ? p->rsp : p->req, &attr, IBV_QP_STATE);
	p->connected = 0;
	counts.reset++;
}

static void swap(struct pair *p, struct pair *q)
{
	struct ibv_qp *rsp = p->rsp;

	p->rsp = q->rsp;
	q->rsp = rsp;
	counts.swapped++;
}

/* A random event for a QP */
static void befall(struct pair *p)
{
	uint64_t r = next_random(&random_state);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp **which = r & 8 ? &p->req : &p->rsp;
	struct pair *other = &pairs[(r >> 8) % nr_pairs];

	if ((r & 3) == 0) {
		ibv_destroy_qp(*which);
		*which = NULL;
		p->connected = 0;
		counts.destroyed++;
	} else if (r & 4) {
		reset(p, *which);
		if (other->connected && other->req->qp_type == p->req->qp_type) {
			reset(other, other->req);
			swap(p, other);
		}
	} else {
		/* that is final */
		ibv_modify_qp(*which, &attr, IBV_QP_STATE);
		break_up(p);
		counts.to_error++;
	}
}

static void post(struct pair *p)
{
	uint64_t r = next_random(&random_state);
	struct ibv_sge sge = { (uintptr_t)memory, 1 + (r >> 8) % SIZE, src.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = p - pairs, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory, dst.mr->rkey },
	}, *bad;

	if (p->ah) {
		wr.opcode = IBV_WR_SEND;
		sge.length = 1 + (r >> 8) % DATAGRAM;
		wr.wr.ud.ah = p->ah;
		wr.wr.ud.remote_qpn = p->rsp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (r % 8 == 0) {
		wr.opcode = IBV_WR_SEND;
	} else if (r % 8 < 3 && p->req->qp_type == IBV_QPT_RC) {
		wr.opcode = IBV_WR_RDMA_READ;
	}
	if (ibv_post_send(p->req, &wr, &bad))
		p->connected = 0;
	else
		p->outstanding++;
}

static void drain(struct end *e)
{
	struct ibv_wc wc[16];
	int i, n;

	while ((n = ibv_poll_cq(e->cq, 16, wc)) > 0) {
		for (i = 0; i < n; i++) {
			struct pair *p = &pairs[wc[i].wr_id];
			struct ibv_sge sge = { (uintptr_t)memory, SIZE, dst.mr->lkey };
			struct ibv_recv_wr wr = { .wr_id = wc[i].wr_id, .sg_list = &sge,
						  .num_sge = 1 }, *bad;

			if (wc[i].status == IBV_WC_SUCCESS)
				counts.completed++;
			else
				counts.failed++;
			if (wc[i].status != IBV_WC_SUCCESS) {
				p->connected = 0;
				continue;
			}
			if (e == &dst && p->rsp)
				ibv_post_recv(p->rsp, &wr, &bad);
			/* a datagram is on its way until it is received */
			if (e == (p->ah ? &dst : &src) && p->outstanding)
				p->outstanding--;
		}
	}
}

static void live(void)
{
	struct pollfd fds[2] = {
		{ .fd = src.channel->fd, .events = POLLIN },
		{ .fd = dst.channel->fd, .events = POLLIN },
	};
	unsigned int i;

	while (!ended && !end_is_dying(&src) && !end_is_dying(&dst)) {
		for (i = 0; i < nr_pairs; i++) {
			struct pair *p = &pairs[i];

			if (p->connected && next_random(&random_state) % ODDS == 0)
				befall(p);
			if (!p->connected)
				connect_pair(p);
			while (p->connected && p->outstanding < DEPTH)
				post(p);
		}
		if (end_arm(&src) || end_arm(&dst))
			break;
		drain(&src);
		drain(&dst);
		poll(fds, 2, WAIT_MS);
	}
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

int main(int argc, char **argv)
{
	static const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000 };
	struct sigaction action = { .sa_handler = on_signal };
	int option;

	while ((option = getopt(argc, argv, "s:q:")) != -1) {
		if (option == 's')
			random_state = strtoull(optarg, NULL, 0);
		else if (option == 'q')
			nr_pairs = atoi(optarg);
		else
			return 2;
	}
	if (argc - optind != 4 || !nr_pairs) {
		fprintf(stderr, "usage: churn [-s SEED] [-q QPS] SRC_DEV SRC_ADDR DST_DEV DST_ADDR\n");
		return 2;
	}
	src.dev = argv[optind];
	src.addr = argv[optind + 1];
	dst.dev = argv[optind + 2];
	dst.addr = argv[optind + 3];
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pairs = calloc(nr_pairs, sizeof(*pairs));
	if (memory == MAP_FAILED || !pairs)
		return 1;
	sigaction(SIGTERM, &action, NULL);
	while (!ended) {
		if (enter()) {
			nanosleep(&pause, NULL);
			continue;
		}
		live();
		leave();
	}
	printf("{\"opened\": %" PRIu64 ", \"connected\": %" PRIu64 ", \"completed\": %" PRIu64
	       ", \"failed\": %" PRIu64 ", \"reset\": %" PRIu64 ", \"swapped\": %" PRIu64
	       ", \"to_error\": %" PRIu64 ", \"destroyed\": %" PRIu64 "}\n",
	       counts.opened, counts.connected, counts.completed, counts.failed, counts.reset,
	       counts.swapped, counts.to_error, counts.destroyed);
	return 0;
}
