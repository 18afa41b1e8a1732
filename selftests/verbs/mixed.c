// SPDX-License-Identifier: GPL-2.0
/*
 * mixed: RC queue pairs whose two ends both send, read and do atomics.
 *
 * usage: mixed [options] DEV ADDR DEV ADDR
 *
 *   -q QPS      (4)
 *   -d DEPTH    requests that each end has posted (24)
 *   -r BYTES    of a READ (8192)
 *   -t TIMEOUT  for an ack, 4.096 us * 2^TIMEOUT (20)
 *
 * Each end posts a READ, an atomic and SENDs of 1024 bytes in turn and never waits for one
 * before it posts the next. So a host sends READ responses, atomic responses, ACKs and
 * requests of one QP at the same time. Completions must be successful and in order, and READs
 * and atomics must return the right data.
 *
 * Runs until SIGTERM, then prints what completed.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

#define SENT		1024	/* bytes of a SEND */
#define MAX_READ	65536
#define MAX_DEPTH	256
#define TURN		8	/* requests of a turn: a READ, an atomic, SENDs */
#define SILENCE_MS	120000	/* without a completion: hangs */

enum op { SEND, READ, FETCH_ADD, NUM_OPS };

static const char *const op_names[] = { "send", "read", "fetch_add" };

/* An end of a pair. Others read from source and add to word. */
struct side {
	uint8_t source[MAX_READ], target[MAX_READ], received[SENT];
	uint64_t word, old[MAX_DEPTH];
	struct end *end;
	struct ibv_qp *qp;
	struct side *peer;
	uint64_t posted, completed, added;
};

static struct end ends[2];
static struct side *sides;
static unsigned int nr_sides = 8, depth = 24, read_size = 8192;
static uint64_t counts[NUM_OPS];
static volatile sig_atomic_t ended;

__attribute__((noreturn))
static void die(const char *what, const char *why)
{
	fprintf(stderr, "mixed: %s: %s\n", what, why);
	exit(1);
}

static enum op op_of(uint64_t n)
{
	return n % TURN ? n % TURN == TURN / 2 ? FETCH_ADD : SEND : READ;
}

static void post_receive(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->received, SENT, s->end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = s - sides, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(s->qp, &wr, &bad);

	if (err)
		die("posting a receive", strerror(err));
}

static void post(struct side *s)
{
	struct ibv_sge sge = { .lkey = s->end->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = s - sides, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	uint64_t n = s->posted++;
	int err;

	switch (op_of(n)) {
	case READ:
		wr.opcode = IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = (uintptr_t)s->peer->source;
		wr.wr.rdma.rkey = s->peer->end->mr->rkey;
		sge.addr = (uintptr_t)s->target;
		sge.length = read_size;
		break;
	case FETCH_ADD:
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = (uintptr_t)&s->peer->word;
		wr.wr.atomic.rkey = s->peer->end->mr->rkey;
		wr.wr.atomic.compare_add = 1;
		sge.addr = (uintptr_t)&s->old[n % MAX_DEPTH];
		sge.length = sizeof(s->old[0]);
		break;
	default:
		wr.opcode = IBV_WR_SEND;
		sge.addr = (uintptr_t)s->source;
		sge.length = SENT;
	}
	err = ibv_post_send(s->qp, &wr, &bad);
	if (err)
		die("posting a request", strerror(err));
}

static void complete(const struct ibv_wc *wc)
{
	static const enum ibv_wc_opcode expected[] = {
		IBV_WC_SEND, IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD
	};
	struct side *s = &sides[wc->wr_id];
	enum op op;
	uint64_t n;

	if (wc->status != IBV_WC_SUCCESS)
		die("completion", ibv_wc_status_str(wc->status));
	if (wc->opcode == IBV_WC_RECV) {
		post_receive(s);
		return;
	}
	n = s->completed++;
	op = op_of(n);
	if (n == s->posted || wc->opcode != expected[op])
		die("completion", "of another request");
	if (op == READ && memcmp(s->target, s->peer->source, read_size))
		die("READ", "wrong data");
	if (op == FETCH_ADD && s->old[n % MAX_DEPTH] != s->added++)
		die("atomic", "wrong value");
	counts[op]++;
}

static unsigned int drain(struct end *e)
{
	struct ibv_wc wc[16];
	unsigned int seen = 0;
	int i, n;

	while ((n = ibv_poll_cq(e->cq, 16, wc)) > 0)
		for (i = 0; i < n; i++, seen++)
			complete(&wc[i]);
	if (n < 0)
		die("polling", "failed");
	return seen;
}

/* A SEND's receive completes before the SEND does. The second look at both queues therefore
 * finds it, and posts it again before the next SEND.
 */
static unsigned int drain_all(void)
{
	unsigned int seen = drain(&ends[0]) + drain(&ends[1]);

	return seen ? seen + drain(&ends[0]) + drain(&ends[1]) : 0;
}

static void run(void)
{
	struct pollfd fds[2] = {
		{ .fd = ends[0].channel->fd, .events = POLLIN },
		{ .fd = ends[1].channel->fd, .events = POLLIN },
	};
	unsigned int i;

	while (!ended) {
		for (i = 0; i < nr_sides; i++)
			while (sides[i].posted - sides[i].completed < depth)
				post(&sides[i]);
		if (drain_all())
			continue;
		if (end_arm(&ends[0]) || end_arm(&ends[1]))
			die("arming a CQ", "failed");
		if (drain_all())
			continue;
		if (!poll(fds, 2, SILENCE_MS))
			die("completions", "none for two minutes");
	}
}

static void set_up(int timeout)
{
	struct path path = { .mtu = IBV_MTU_1024, .timeout = timeout, .retries = 7 };
	size_t len = nr_sides * sizeof(*sides);
	const char *what;
	unsigned int i, n;
	int err;

	if (posix_memalign((void **)&sides, sysconf(_SC_PAGESIZE), len))
		die("memory", strerror(ENOMEM));
	memset(sides, 0, len);
	for (i = 0; i < 2; i++) {
		err = end_open(&ends[i], sides, len, nr_sides * depth * 3, &what);
		if (err)
			die(what, strerror(err));
	}
	for (i = 0; i < nr_sides; i++) {
		struct side *s = &sides[i];

		s->end = &ends[i % 2];
		s->peer = &sides[i ^ 1];
		s->qp = end_qp(s->end, IBV_QPT_RC, 2 * depth);
		if (!s->qp)
			die("making a QP", strerror(errno));
		for (n = 0; n < read_size; n++)
			s->source[n] = n * 7 + n / 256 + i;
	}
	for (i = 0; i < nr_sides; i++) {
		struct side *s = &sides[i];

		err = end_connect(s->end, s->qp, s->peer->end, s->peer->qp->qp_num, &path, &what);
		if (err)
			die(what, strerror(err));
		for (n = 0; n < 2 * depth; n++)
			post_receive(s);
	}
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	int option, i, timeout = 20;

	while ((option = getopt(argc, argv, "q:d:r:t:")) != -1) {
		if (option == 'q')
			nr_sides = 2 * atoi(optarg);
		else if (option == 'd')
			depth = atoi(optarg);
		else if (option == 'r')
			read_size = atoi(optarg);
		else if (option == 't')
			timeout = atoi(optarg);
		else
			argc = 0;
	}
	if (argc - optind != 4 || !nr_sides || !depth || depth > MAX_DEPTH ||
	    !read_size || read_size > MAX_READ) {
		fprintf(stderr, "usage: mixed [-q QPS] [-d DEPTH] [-r BYTES] [-t TIMEOUT] "
			"DEV ADDR DEV ADDR\n");
		return 2;
	}
	for (i = 0; i < 2; i++) {
		ends[i].dev = argv[optind + 2 * i];
		ends[i].addr = argv[optind + 2 * i + 1];
	}
	sigaction(SIGTERM, &action, NULL);
	set_up(timeout);
	run();
	printf("{\"qps\": %u", nr_sides / 2);
	for (i = 0; i < NUM_OPS; i++)
		printf(", \"%s\": %" PRIu64, op_names[i], counts[i]);
	printf("}\n");
	return 0;
}
