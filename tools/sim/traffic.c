// SPDX-License-Identifier: GPL-2.0
/*
 * traffic: run a scenario's RDMA flows between hosts that are network
 * namespaces of one kernel, and report what each of them achieved.
 *
 * usage: traffic [-i INTERVAL_US] [-w BEGIN_US,END_US] [-m MESSAGES] FLOWS OUTDIR
 *
 * FLOWS has one flow per line, key=value words; '#' begins a comment line:
 *
 *   id=0 verb=write|send|read|atomic transport=rc|uc|ud
 *   src_netns=h1 src_dev=rxe_h1 src_addr=10.0.0.1
 *   dst_netns=h3 dst_dev=rxe_h3 dst_addr=10.0.0.3	(all these on one line)
 *   size=65536 depth=4 mtu=4096 timeout=12 retry=7 tclass=0
 *   start_us=0 stop_us=500000 count=0
 *
 * Data flows from src to dst whatever the verb: a read is requested by dst.
 * @depth messages are outstanding at once. A flow stops at stop_us or after
 * count messages (0: no limit), whichever is first. Keys that are not required
 * default to the values above; netns "-" is that of the program itself. IPv6 works.
 * With after=ID, which must end where this flow starts, message n + 1 is posted when n
 * messages of that flow have arrived, as in the steps of a collective operation.
 * Note that rxe never gives up if retry is 7.
 *
 * MESSAGES is a schedule (messages.c has its format): messages with their sizes, when they
 * are due, and on which others they wait. The flows that it names, and those with scheduled=1,
 * send these and nothing else; their size is that of the largest message. depth bounds what a
 * flow has outstanding; more of its messages wait here, in the order in which they are due.
 *
 * Times are CLOCK_MONOTONIC and relative to t0, a multiple of 10 ms that is
 * printed ("t0 SECONDS") and written to OUTDIR/t0 once everything is set up.
 * The program ends when all flows have stopped and their messages are
 * accounted for, or 200 ms after the last stop_us of those whose are not, or on
 * SIGINT or SIGTERM. It prints "done" once these are written:
 *
 *   OUTDIR/progress.csv	time_us,id,bytes_total every INTERVAL_US (1000)
 *   OUTDIR/flows.json		per flow: QPNs, messages, bytes, bytes within the
 *				window of -w, latencies, errors
 *   OUTDIR/messages.csv	with -m, per message: its flow, when it was due, and when it came
 *
 * Exit status: 0 done, whether the flows succeeded or not; 1 set-up failed, or a CQ or an output
 * file did later; 2 FLOWS, MESSAGES or the command line is wrong, and nothing was started.
 *
 * It has one thread with one event loop, because it is meant for User-mode
 * Linux with time-travel=inf-cpu, where running costs no simulated time: only
 * sleeping lets time pass, and a program that polls stops the clock for ever. For
 * the same reason the clock is read once per turn of the loop: a reading costs
 * simulated time there.
 *
 * What counts as completed, and when:
 *   rc write, read	the requester's completion; the same for atomic
 *   send		the receiver's completion; latency of rc is the sender's
 *   uc write		is sent with immediate data, which completes a receive:
 *			a plain write that got lost would look like one that
 *			arrived, to both sides
 *   iwarp write	is followed by an empty send, which completes a receive: its own
 *			completion says that TCP has taken the data
 * UC's and UD's own completions mean that rxe gave the packets to the host's
 * queue, and say nothing about the network. They are bounded because rxe stops a
 * QP with more than 64 skbs in that queue. Flows without a schedule post new
 * messages only on a completion or at their start, so that queue, a qdisc with a
 * rate, paces the loop. On a host without one, everything would complete at once;
 * then the loop pauses in simulated time, and counts that in "held" in flows.json.
 * With uc and ud the immediate data is the message's number, which shows its
 * latency, from posting to arrival.
 *
 * Runs are repeatable: QPs are made in the order of ids, PSNs derive from the id, and
 * nothing is random.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

#define PORT		1
#define QKEY		0x11111111
#define GRH_LEN		40	/* the header that ud puts before a received message */
#define T0_UNIT		(10 * NSEC_PER_MSEC)
#define GRACE		(200 * NSEC_PER_MSEC)
/* Receives are posted for at least this many messages, so that each finds one. */
#define MIN_RECEIVES	64

/* How far back the post times of uc and ud messages are kept. */
#define DATAGRAM_RING	16384

/* More than this at once means that no queue holds packets back: see hold_back(). */
#define BURST_TIME	(10 * NSEC_PER_USEC)
#define BURST_MESSAGES	4096
#define BURST_BYTES	(4 << 20)

/* One rxe device in its namespace. */
struct host {
	const char *netns, *dev;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry *gids;
	ssize_t nr_gids;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint64_t cqes;
};

/* The sources of epoll events; hosts' fds follow, two each. */
enum { ON_TIMER, ON_SIGNAL, ON_HOSTS };

static struct host *hosts;
static unsigned int nr_hosts;
static uint64_t *completions;	/* a bit per flow: it had some since it was pumped */
static int unsettled;		/* pumping is not enough: step() must check all flows */
static struct results results = { .interval = NSEC_PER_MSEC };
static void *buffer;
static size_t buffer_len;

void die(const char *format, ...)
{
	va_list args;

	fputs("traffic: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Go to a host's namespace. The kernel takes what it needs from the GID's
 * netdev, but libibverbs resolves a ud address with netlink from here.
 */
static void go_to(const char *netns)
{
	static const char *where = "-";
	static int home = -1;
	char path[NAME_LEN + 16];
	int fd;

	if (!strcmp(where, netns))
		return;
	if (home < 0)
		home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0)
		die("/proc/self/ns/net: %s", strerror(errno));
	if (!strcmp(netns, "-")) {
		if (setns(home, CLONE_NEWNET))
			die("setns: %s", strerror(errno));
	} else {
		snprintf(path, sizeof(path), "/run/netns/%s", netns);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || setns(fd, CLONE_NEWNET))
			die("%s: %s", path, strerror(errno));
		close(fd);
	}
	where = netns;
}

void enter(const struct host *h)
{
	go_to(h->netns);
}

/* Returns NULL if no device of this name is visible in this namespace. */
static struct ibv_context *open_device(const char *dev)
{
	struct ibv_context *context = NULL;
	struct ibv_device **list;
	int i, n = 0;

	list = ibv_get_device_list(&n);
	for (i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev))
			break;
	if (i < n) {
		context = ibv_open_device(list[i]);
		if (!context)
			die("open %s: %s", dev, strerror(errno));
	}
	if (list)
		ibv_free_device_list(list);
	return context;
}

static void open_host(struct host *h, unsigned int line)
{
	enter(h);
	h->context = open_device(h->dev);
	if (!h->context) {
		/* rxe's devices belong to the initial namespace; others may see them or not */
		go_to("-");
		h->context = open_device(h->dev);
	}
	if (!h->context)
		die("line %u: no RDMA device %s", line, h->dev);

	if (ibv_query_device(h->context, &h->attr) || ibv_query_port(h->context, PORT, &h->port))
		die("query %s: %s", h->dev, strerror(errno));
	h->gids = calloc(h->port.gid_tbl_len, sizeof(*h->gids));
	if (!h->gids)
		die("out of memory");
}

static unsigned int find_host(const struct end *e, unsigned int line)
{
	unsigned int i;

	for (i = 0; i < nr_hosts; i++) {
		if (strcmp(hosts[i].dev, e->dev))
			continue;
		if (strcmp(hosts[i].netns, e->netns))
			die("line %u: %s cannot be in both netns %s and %s", line, e->dev,
			    hosts[i].netns, e->netns);
		return i;
	}
	hosts = realloc(hosts, (nr_hosts + 1) * sizeof(*hosts));
	if (!hosts)
		die("out of memory");
	hosts[nr_hosts] = (struct host){ .netns = e->netns, .dev = e->dev, .cqes = 1 };
	open_host(&hosts[nr_hosts], line);
	return nr_hosts++;
}

static int is_iwarp(const struct host *h)
{
	return h->context->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* Returns 0, or -1 if the device does not have the address (yet). */
static int find_gid(struct end *e)
{
	struct host *h = e->host;
	ssize_t i;

	if (ibv_query_port(h->context, PORT, &h->port) || h->port.state != IBV_PORT_ACTIVE)
		return -1;
	if (is_iwarp(h))	/* its GID is not an address */
		return 0;
	h->nr_gids = ibv_query_gid_table(h->context, h->gids, h->port.gid_tbl_len, 0);
	for (i = 0; i < h->nr_gids; i++) {
		const struct ibv_gid_entry *g = &h->gids[i];

		if (g->gid_type == IBV_GID_TYPE_ROCE_V2 && g->port_num == PORT &&
		    !memcmp(&g->gid, &e->gid, sizeof(e->gid))) {
			e->gid_index = g->gid_index;
			return 0;
		}
	}
	return -1;
}

/* rxe and the core add GIDs from a workqueue, some time after the address. */
static void wait_for_gid(struct end *e)
{
	static const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	char text[INET6_ADDRSTRLEN];
	unsigned int tries;

	enter(e->host);
	for (tries = 0; find_gid(e); tries++) {
		if (tries == 10000)
			die("%s: the port is not up, or has no RoCE v2 GID %s, after 10 s",
			    e->dev, inet_ntop(AF_INET6, e->gid.raw, text, sizeof(text)));
		nanosleep(&pause, NULL);
	}
}

static uint64_t receives(const struct flow *f)
{
	if (!counted_at_receiver(f))
		return 0;
	return f->depth * 2 > MIN_RECEIVES ? f->depth * 2 : MIN_RECEIVES;
}

/* Check what the devices can do, before anything is created on them. */
static void check_limits(const struct flow *f)
{
	const struct host *req = f->requester->host, *rsp = f->responder->host;
	uint64_t mtu = 128U << f->src.host->port.active_mtu;

	if (128U << f->dst.host->port.active_mtu < mtu)
		mtu = 128U << f->dst.host->port.active_mtu;
	if (f->iwarp && (f->type != IBV_QPT_RC || f->verb == VERB_ATOMIC))
		die("line %u: iWARP has rc only, and no atomic operations", f->line);
	if (f->mtu > mtu)
		die("line %u: mtu=%" PRIu64 ", but the ports have %" PRIu64, f->line, f->mtu, mtu);
	if (f->size > req->port.max_msg_sz)
		die("line %u: size=%" PRIu64 ", but %s takes %u at most", f->line, f->size,
		    req->dev, req->port.max_msg_sz);
	if (f->depth > (uint64_t)req->attr.max_qp_wr || receives(f) > (uint64_t)rsp->attr.max_qp_wr)
		die("line %u: depth=%" PRIu64 " is more than %s can queue", f->line, f->depth,
		    req->dev);
	if (is_fetched(f) && (f->depth > (uint64_t)req->attr.max_qp_init_rd_atom ||
			      f->depth > (uint64_t)rsp->attr.max_qp_rd_atom))
		die("line %u: depth=%" PRIu64 ", but %s can have %d reads and atomics outstanding and %s serve %d",
		    f->line, f->depth, req->dev, req->attr.max_qp_init_rd_atom, rsp->dev,
		    rsp->attr.max_qp_rd_atom);
}

static void non_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		die("fcntl: %s", strerror(errno));
}

/*
 * libsiw takes a mapping at page 0x90 of a context, SIW_INVAL_UOBJ_KEY of rdma/siw-abi.h, for one
 * that failed, and the 48th queue pair or so gets this page. A context's first mapping is its CQ:
 * make it so long that it includes that page, and no other mapping begins there.
 */
#define IWARP_CQES	(0x90 * 4096 / 32 + 1)	/* sizeof(struct siw_cqe) is 32 */

static void make_host(struct host *h)
{
	enter(h);
	if (is_iwarp(h) && h->cqes < IWARP_CQES)
		h->cqes = IWARP_CQES;
	if (h->cqes > (uint64_t)h->attr.max_cqe)
		die("%s: the flows' depths need a CQ of %" PRIu64 ", its limit is %d", h->dev,
		    h->cqes, h->attr.max_cqe);
	h->pd = ibv_alloc_pd(h->context);
	if (!h->pd)
		die("%s: protection domain: %s", h->dev, strerror(errno));
	/* All devices share the buffer, as its content does not matter. */
	h->mr = ibv_reg_mr(h->pd, buffer, buffer_len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!h->mr)
		die("%s: memory region of %zu bytes: %s", h->dev, buffer_len, strerror(errno));
	h->channel = ibv_create_comp_channel(h->context);
	if (!h->channel)
		die("%s: completion channel: %s", h->dev, strerror(errno));
	h->cq = ibv_create_cq(h->context, h->cqes ?: 1, NULL, h->channel, 0);
	if (!h->cq)
		die("%s: CQ of %" PRIu64 ": %s", h->dev, h->cqes, strerror(errno));
	non_blocking(h->channel->fd);
	non_blocking(h->context->async_fd);
}

static void make_qp(const struct flow *f, struct end *e)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->host->cq,
		.recv_cq = e->host->cq,
		.qp_type = f->type,
		/* The idle side of a queue pair is as small as possible. */
		.cap.max_send_wr = e == f->requester ? f->depth * f->stride : 1,
		.cap.max_recv_wr = e == f->responder && counted_at_receiver(f) ? receives(f) : 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};

	enter(e->host);
	e->qp = ibv_create_qp(e->host->pd, &attr);
	if (!e->qp)
		die("line %u: QP on %s: %s", f->line, e->dev, strerror(errno));
}

static void modify(const struct flow *f, struct end *e, struct ibv_qp_attr *attr, int mask,
		   const char *state)
{
	int err = ibv_modify_qp(e->qp, attr, mask);

	if (err)
		die("line %u: QP on %s to %s: %s", f->line, e->dev, state, strerror(err));
}

static struct ibv_ah_attr route(const struct flow *f, const struct end *from, const struct end *to)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = PORT,
		.grh.dgid = to->gid,
		.grh.sgid_index = from->gid_index,
		.grh.hop_limit = 64,
		.grh.traffic_class = f->tclass,
	};
}

static void connect_qp(struct flow *f, struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = PORT };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	uint8_t reads = is_fetched(f) ? f->depth : 1;

	enter(e->host);
	if (f->iwarp) {
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
		modify(f, e, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, "INIT");
		return;
	}
	if (f->type == IBV_QPT_UD) {
		attr.qkey = QKEY;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC;
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	modify(f, e, &attr, mask, "INIT");

	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR };
	mask = IBV_QP_STATE;
	if (f->type != IBV_QPT_UD) {
		attr.ah_attr = route(f, e, peer);
		attr.path_mtu = __builtin_ctzll(f->mtu) - 7;	/* IBV_MTU_256 is 1 */
		attr.dest_qp_num = peer->qp->qp_num;
		attr.rq_psn = peer->psn;
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	}
	if (f->type == IBV_QPT_RC) {
		attr.max_dest_rd_atomic = reads;
		attr.min_rnr_timer = 1;		/* 10 µs, the shortest */
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	}
	modify(f, e, &attr, mask, "RTR");

	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = e->psn };
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (f->type == IBV_QPT_RC) {
		attr.timeout = f->timeout;
		attr.retry_cnt = f->retry;
		attr.rnr_retry = 7;
		attr.max_rd_atomic = reads;
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	}
	modify(f, e, &attr, mask, "RTS");

	if (f->type == IBV_QPT_UD && e == f->requester) {
		struct ibv_ah_attr to = route(f, e, peer);

		f->ah = ibv_create_ah(e->host->pd, &to);
		if (!f->ah)
			die("line %u: address handle on %s: %s", f->line, e->dev, strerror(errno));
	}
}

static void error(struct flow *f, int status, const char *text, const char *side, uint64_t now)
{
	struct error *e = f->errors;

	while (e < f->errors + f->nr_errors && e->status != status)
		e++;
	if (e == f->errors + MAX_ERRORS)
		return;
	if (e == f->errors + f->nr_errors) {
		f->nr_errors++;
		*e = (struct error){ status, text, side, now, 0 };
	}
	e->count++;
}

static void stop(struct flow *f, uint64_t now)
{
	if (f->state != STOPPED)
		f->stopped_at = now;
	f->state = STOPPED;
	unsettled = 1;
}

static void fail(struct flow *f, int status, const char *text, const char *side, uint64_t now)
{
	error(f, status, text, side, now);
	f->failed = 1;
	stop(f, now);
}

static void post_receive(struct flow *f, uint64_t now)
{
	struct ibv_recv_wr *bad;
	int err = ibv_post_recv(f->responder->qp, &f->recv_wr, &bad);

	if (err)
		fail(f, -err, "posting a receive failed", "receiver", now);
}

/* Fill in everything in a flow's work requests that never changes. */
static void prepare(struct flow *f)
{
	uint64_t id = f - flows, i;
	const struct host *req = f->requester->host, *rsp = f->responder->host;

	for (i = 0; i < BATCH * f->stride; i++)
		f->wr[i].next = i + 1 < BATCH * f->stride ? &f->wr[i + 1] : NULL;
	for (i = 0; i < BATCH; i++) {
		struct ibv_send_wr *wr = &f->wr[i * f->stride];

		f->wr_sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)buffer, .length = f->size, .lkey = req->mr->lkey,
		};
		wr->wr_id = id << 1;
		wr->sg_list = &f->wr_sge[i];
		wr->num_sge = 1;
		wr->send_flags = IBV_SEND_SIGNALED;
		if (f->type == IBV_QPT_UD) {
			wr->opcode = IBV_WR_SEND_WITH_IMM;
			wr->wr.ud.ah = f->ah;
			wr->wr.ud.remote_qpn = f->responder->qp->qp_num;
			wr->wr.ud.remote_qkey = QKEY;
			continue;
		}
		if (f->verb == VERB_SEND) {
			wr->opcode = f->type == IBV_QPT_RC ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
			continue;
		}
		if (f->verb == VERB_ATOMIC) {
			wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
			wr->wr.atomic.remote_addr = (uintptr_t)buffer;
			wr->wr.atomic.rkey = rsp->mr->rkey;
			wr->wr.atomic.compare_add = 1;
			continue;
		}
		wr->wr.rdma.remote_addr = (uintptr_t)buffer;
		wr->wr.rdma.rkey = rsp->mr->rkey;
		if (f->stride > 1) {
			wr->send_flags = 0;
			wr[1].wr_id = id << 1;
			wr[1].opcode = IBV_WR_SEND;
			wr[1].send_flags = IBV_SEND_SIGNALED;
		}
		if (f->verb == VERB_READ)
			wr->opcode = IBV_WR_RDMA_READ;
		else
			wr->opcode = f->type == IBV_QPT_RC ? IBV_WR_RDMA_WRITE :
							     IBV_WR_RDMA_WRITE_WITH_IMM;
	}

	f->ring_mask = DATAGRAM_RING - 1;
	if (f->type == IBV_QPT_RC)
		for (f->ring_mask = 0; f->ring_mask + 1 < f->depth; )
			f->ring_mask = f->ring_mask * 2 + 1;
	f->ring = calloc(f->ring_mask + 1, sizeof(*f->ring));
	if (!f->ring)
		die("out of memory");

	f->recv_sge = (struct ibv_sge){
		.addr = (uintptr_t)buffer, .length = f->size + GRH_LEN, .lkey = rsp->mr->lkey,
	};
	f->recv_wr = (struct ibv_recv_wr){
		.wr_id = id << 1 | 1, .sg_list = &f->recv_sge, .num_sge = 1,
	};
	for (i = 0; i < receives(f); i++)
		post_receive(f, 0);
	if (f->failed)
		die("line %u: posting receives on %s: %s", f->line, f->responder->dev,
		    strerror(-f->errors[0].status));
}

static void set_up(void)
{
	struct flow *f, *end = flows + nr_flows;
	unsigned int i;

	/* Two rounds, because hosts move while their number grows. */
	for (f = flows; f < end; f++) {
		find_host(&f->src, f->line);
		find_host(&f->dst, f->line);
		if (f->size + GRH_LEN > buffer_len)
			buffer_len = f->size + GRH_LEN;
	}
	completions = calloc((nr_flows + 63) / 64, sizeof(*completions));
	if (!completions)
		die("out of memory");
	buffer = mmap(NULL, buffer_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		die("out of memory");

	for (f = flows; f < end; f++) {
		f->requester = f->verb == VERB_READ ? &f->dst : &f->src;
		f->responder = f->verb == VERB_READ ? &f->src : &f->dst;
		f->src.host = &hosts[find_host(&f->src, f->line)];
		f->dst.host = &hosts[find_host(&f->dst, f->line)];
		f->src.psn = (f->id * 0x1000 + 0x100) & 0xffffff;
		f->dst.psn = (f->id * 0x1000 + 0x900) & 0xffffff;
		wait_for_gid(&f->src);
		wait_for_gid(&f->dst);
		f->iwarp = is_iwarp(f->requester->host);
		f->stride = f->iwarp && f->verb == VERB_WRITE ? 2 : 1;
		check_limits(f);
		f->requester->host->cqes += f->depth;
		f->responder->host->cqes += receives(f);
	}
	for (i = 0; i < nr_hosts; i++)
		make_host(&hosts[i]);
	for (f = flows; f < end; f++) {
		make_qp(f, &f->src);
		make_qp(f, &f->dst);
	}
	for (f = flows; f < end; f++) {
		connect_qp(f, &f->src, &f->dst);
		connect_qp(f, &f->dst, &f->src);
		prepare(f);
		if (f->iwarp)
			connect_iwarp(f);
	}
}

/* The flow's message number @seq has come. */
static void completed(struct flow *f, uint64_t seq, uint64_t now)
{
	uint64_t size = f->size;

	if (f->scheduled) {
		struct message *m = &messages[f->order[seq]];

		size = m->size;
		f->backlog -= size;
		message_done(m, now);
		unsettled |= !messages_left;
	}
	if (!f->messages++)
		f->first = now;
	f->last = now;
	f->bytes += size;
	unsettled |= f->leads;
	if (now >= results.window_begin && now < results.window_end)
		f->window_bytes += size;
}

static void add_latency(struct flow *f, uint32_t seq, uint64_t now)
{
	const struct post_time *p = &f->ring[seq & f->ring_mask];

	/* The slot of a datagram that took very long may have been reused. */
	if (p->seq == seq)
		hist_add(&f->latency, now - p->time);
}

static void complete(const struct ibv_wc *wc, uint64_t now)
{
	uint64_t id = wc->wr_id >> 1;
	struct flow *f = &flows[id];
	int received = wc->wr_id & 1;

	completions[id / 64] |= 1ULL << id % 64;
	unsettled |= f->state == STOPPED;
	if (received == bounded_at_receiver(f))
		f->outstanding--;
	if (wc->status != IBV_WC_SUCCESS) {
		fail(f, wc->status, ibv_wc_status_str(wc->status),
		     f->verb == VERB_READ || received ? "receiver" : "sender", now);
		return;
	}
	if (received) {
		uint32_t seq = f->type == IBV_QPT_RC ? f->messages : ntohl(wc->imm_data);

		if (f->type != IBV_QPT_RC || bounded_at_receiver(f))
			add_latency(f, seq, now);
		completed(f, seq, now);
		post_receive(f, now);
		return;
	}
	/* A QP's requests complete in order, so counting them names them. */
	if (f->type == IBV_QPT_RC && !bounded_at_receiver(f))
		add_latency(f, f->acked, now);
	if (!counted_at_receiver(f))
		completed(f, f->acked, now);
	f->acked++;
}

static void drain(struct host *h, uint64_t now)
{
	struct ibv_wc wc[32];
	int i, n;

	while ((n = ibv_poll_cq(h->cq, 32, wc)) > 0)
		for (i = 0; i < n; i++)
			complete(&wc[i], now);
	if (n < 0)
		die("%s: polling the CQ failed", h->dev);
}

/* The order matters: a completion after the last poll brings a new event. */
static void on_completions(struct host *h, uint64_t now)
{
	struct ibv_cq *cq;
	void *context;

	if (!ibv_get_cq_event(h->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	drain(h, now);
	if (ibv_req_notify_cq(h->cq, 0))
		die("%s: arming the CQ failed", h->dev);
	drain(h, now);
}

/*
 * Failures of QPs show in their completions. This reports the others.
 * A lost completion would make a flow wait for ever, so it ends the run.
 */
static void on_async(struct host *h, uint64_t now)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(h->context, &event))
		return;
	switch (event.event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_GID_CHANGE:
		break;		/* a late event from before the set-up */
	default:
		fprintf(stderr, "traffic: %s at %.3f us: %s\n", h->dev, now / 1e3,
			ibv_event_type_str(event.event_type));
	}
	if (event.event_type == IBV_EVENT_CQ_ERR)
		die("%s: the CQ overflowed", h->dev);
	ibv_ack_async_event(&event);
}

/*
 * True if a flow posts more than any network takes. That happens if no queue holds
 * packets back. No time would pass while the loop is busy then, so make it wait: with
 * a wrong topology the run is slow, but does not hang.
 */
static int hold_back(struct flow *f, uint64_t now)
{
	if (f->scheduled)	/* a schedule fits the network, and has an end */
		return 0;
	if (now < f->held_until)
		return 1;
	if (now - f->burst_start >= BURST_TIME) {
		f->burst_start = now;
		f->burst_posted = 0;
	}
	/* Filling the queue at the start does not count as such, whatever its size. */
	if (f->burst_posted < 2 * f->depth ||
	    (f->burst_posted < BURST_MESSAGES && f->burst_posted * f->size < BURST_BYTES))
		return 0;
	f->held_until = f->burst_start + BURST_TIME;
	f->held++;
	unsettled = 1;
	return 1;
}

/* How many messages a flow may post, unless its queue is full. */
static uint64_t due(const struct flow *f)
{
	uint64_t n = f->count ? f->count - f->posted : BATCH;

	if (f->scheduled)
		return f->queued;
	if (f->leader)
		n = min64(n, f->leader->messages + 1 - f->posted);
	return n;
}

/* The schedule's next message becomes the flow's number @seq. Returns its size. */
static uint64_t take_message(struct flow *f, uint64_t seq)
{
	const struct message *m = &messages[f->queue_first];

	if (seq == f->order_len) {
		f->order_len = f->order_len * 2 ?: 64;
		f->order = realloc(f->order, f->order_len * sizeof(*f->order));
		if (!f->order)
			die("out of memory");
	}
	f->order[seq] = f->queue_first;
	f->queue_first = m->next;
	f->queued--;
	return m->size;
}

/* Give the messages that are due to their flows: each to the one with the smallest backlog. */
static void release_messages(uint64_t now)
{
	struct message *m;

	while ((m = take_due(now))) {
		uint32_t i = m - messages, id;
		struct flow *f;

		if (m->first_flow == NO_MESSAGE) {
			message_done(m, m->due);
			continue;
		}
		f = &flows[m->first_flow];
		for (id = m->first_flow + 1; id <= m->last_flow; id++)
			if (flows[id].backlog < f->backlog)
				f = &flows[id];
		id = f - flows;
		m->flow = id;
		if (f->queued++)
			messages[f->queue_last].next = i;
		else
			f->queue_first = i;
		f->queue_last = i;
		f->backlog += m->size;
		completions[id / 64] |= 1ULL << id % 64;
	}
	unsettled |= nr_messages && !messages_left;
}

/* Post as many messages as there is room for. */
static void pump(struct flow *f, uint64_t now)
{
	while (f->state == RUNNING && f->outstanding < f->depth && due(f) && !hold_back(f, now)) {
		uint64_t i, n = min64(min64(f->depth - f->outstanding, BATCH), due(f));
		struct ibv_send_wr *bad = NULL;
		int err;

		for (i = 0; i < n; i++) {
			uint32_t seq = f->posted + i;

			f->wr[i * f->stride].imm_data = htonl(seq);
			if (f->scheduled)
				f->wr_sge[i].length = take_message(f, f->posted + i);
			f->ring[seq & f->ring_mask] = (struct post_time){ seq, now };
		}
		f->wr[n * f->stride - 1].next = NULL;
		err = ibv_post_send(f->requester->qp, f->wr, &bad);
		if (n < BATCH)
			f->wr[n * f->stride - 1].next = &f->wr[n * f->stride];
		if (err)
			n = bad ? (bad - f->wr) / f->stride : 0;
		f->posted += n;
		f->outstanding += n;
		f->burst_posted += n;
		if (err)
			fail(f, -err, "posting a message failed",
			     f->verb == VERB_READ ? "receiver" : "sender", now);
		else if (f->count && f->posted == f->count)
			stop(f, now);
	}
}

/* Is every message of a stopped flow accounted for? */
static int is_over(const struct flow *f)
{
	if (f->failed)
		return 1;
	return !f->outstanding && (!counted_at_receiver(f) || f->messages == f->posted);
}

/* Pump the flows that had completions. Most of the time, nothing else is needed. */
static void pump_completed(uint64_t now)
{
	unsigned int i;

	for (i = 0; i * 64 < nr_flows; i++) {
		while (completions[i]) {
			pump(&flows[i * 64 + __builtin_ctzll(completions[i])], now);
			completions[i] &= completions[i] - 1;
		}
	}
}

/*
 * Start, stop and pump flows. Returns the time of the next call if nothing happens
 * before, which is now or earlier if there is nothing more to do.
 */
static uint64_t step(uint64_t now)
{
	uint64_t next = NEVER, last_stop = 0;
	int over = 1;
	unsigned int i;

	unsettled = 0;
	memset(completions, 0, (nr_flows + 63) / 64 * sizeof(*completions));
	for (i = 0; i < nr_flows; i++) {
		struct flow *f = &flows[i];

		if (f->state == WAITING && now >= f->start)
			f->state = RUNNING;
		if (f->state == RUNNING &&
		    (now >= f->stop || (f->scheduled && !messages_left)))
			stop(f, now);
		pump(f, now);

		if (f->state == WAITING)
			next = min64(next, f->start);
		if (f->state == RUNNING)
			next = min64(next, now < f->held_until ?
					   min64(f->held_until, f->stop) : f->stop);
		/* A flow that has posted its count has stopped, but has until stop_us for it. */
		if (f->state == STOPPED)
			last_stop = max64(last_stop, is_over(f) ? f->stopped_at : f->stop);
		over &= f->state == STOPPED && is_over(f);
	}
	if (over) {
		results.ended = "done";
		return 0;
	}
	if (next == NEVER) {
		results.ended = "deadline";
		next = last_stop + GRACE;
	}
	return next;
}

static void watch(int epoll, int fd, unsigned int what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = what };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

static void set_timer(int fd, uint64_t at)
{
	struct itimerspec when = {
		.it_value.tv_sec = at / NSEC_PER_SEC,
		.it_value.tv_nsec = at % NSEC_PER_SEC,
	};

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime: %s", strerror(errno));
}

/* Returns the time it ended, after t0. */
static uint64_t run(int epoll, int timer, uint64_t t0, FILE *progress)
{
	uint64_t now = 0, tick = results.interval, written = 0, next = 0, wake, armed = 0, fired;
	struct epoll_event events[64];
	int i, n, early;

	/* The first turn comes at t0. */
	set_timer(timer, t0);
	for (;;) {
		n = epoll_wait(epoll, events, 64, -1);
		if (n < 0 && errno != EINTR)
			die("epoll_wait: %s", strerror(errno));
		now = clock_ns();
		early = now < t0;	/* a port's event, or a signal */
		now = early ? 0 : now - t0;

		/* before the completions, which may be younger than the tick */
		if (now >= tick) {
			written = now - now % results.interval;
			write_progress(progress, written);
			tick = written + results.interval;
		}
		for (i = 0; i < n; i++) {
			unsigned int what = events[i].data.u32;
			struct host *h = &hosts[(what - ON_HOSTS) / 2];

			if (what == ON_SIGNAL) {
				results.ended = "signal";
				goto out;
			} else if (what == ON_TIMER) {
				if (read(timer, &fired, sizeof(fired)) == sizeof(fired))
					armed = 0;
			} else if ((what - ON_HOSTS) % 2) {
				on_async(h, now);
			} else {
				on_completions(h, now);
			}
		}
		if (early)
			continue;
		release_messages(now);
		if (now < next && !unsettled)
			pump_completed(now);
		if (now >= next || unsettled)
			next = step(now);
		if (next <= now)
			break;
		wake = min64(min64(next, tick), next_due());
		if (wake != armed) {
			set_timer(timer, t0 + wake);
			armed = wake;
		}
	}
out:
	for (i = 0; i < (int)nr_flows; i++)
		stop(&flows[i], now);
	if (now / NSEC_PER_USEC > written / NSEC_PER_USEC)
		write_progress(progress, now);
	return now;
}

static FILE *create(const char *dir, const char *name)
{
	char path[PATH_MAX];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	to = fopen(path, "w");
	if (!to)
		die("%s: %s", path, strerror(errno));
	return to;
}

static void finish(FILE *to, const char *name)
{
	if (ferror(to) | fclose(to))
		die("writing %s failed", name);
}

/* Renamed into place, so that a waiting program finds it complete. */
static void announce(const char *dir, uint64_t t0)
{
	char from[PATH_MAX], to[PATH_MAX];
	FILE *file = create(dir, "t0.new");

	fprintf(file, "%" PRIu64 ".%09" PRIu64 "\n", t0 / NSEC_PER_SEC,
		t0 % NSEC_PER_SEC);
	finish(file, "t0");
	snprintf(from, sizeof(from), "%s/t0.new", dir);
	snprintf(to, sizeof(to), "%s/t0", dir);
	if (rename(from, to))
		die("%s: %s", to, strerror(errno));
	printf("t0 %" PRIu64 ".%09" PRIu64 "\n", t0 / NSEC_PER_SEC,
	       t0 % NSEC_PER_SEC);
}

__attribute__((noreturn))
static void usage(void)
{
	fprintf(stderr, "usage: traffic [-i INTERVAL_US] [-w BEGIN_US,END_US] [-m MESSAGES] "
		"FLOWS OUTDIR\n");
	exit(2);
}

/* Returns the schedule's file, or NULL. */
static const char *parse_options(int argc, char **argv)
{
	const char *schedule = NULL;
	unsigned long long a, b;
	int option, n;

	while ((option = getopt(argc, argv, "i:m:w:")) != -1) {
		n = 0;
		if (option == 'i') {
			if (sscanf(optarg, "%9llu%n", &a, &n) != 1 || optarg[n] || !a)
				usage();
			results.interval = a * NSEC_PER_USEC;
		} else if (option == 'm') {
			schedule = optarg;
		} else if (option == 'w') {
			if (sscanf(optarg, "%15llu,%15llu%n", &a, &b, &n) != 2 || optarg[n] ||
			    a >= b)
				usage();
			results.window_begin = a * NSEC_PER_USEC;
			results.window_end = b * NSEC_PER_USEC;
		} else {
			usage();
		}
	}
	if (argc - optind != 2)
		usage();
	return schedule;
}

int main(int argc, char **argv)
{
	int epoll, timer, signals;
	FILE *progress, *json, *csv;
	const char *dir, *schedule;
	unsigned int i;
	sigset_t set;

	schedule = parse_options(argc, argv);
	setlinebuf(stdout);
	read_flows(argv[optind]);
	if (schedule)
		read_messages(schedule);
	dir = argv[optind + 1];
	if (mkdir(dir, 0777) && errno != EEXIST)
		die("%s: %s", dir, strerror(errno));
	progress = create(dir, "progress.csv");
	fprintf(progress, "time_us,id,bytes_total\n");
	set_up();

	/* not earlier, so that set-up can be interrupted while it waits */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (signals < 0 || timer < 0 || epoll < 0)
		die("event loop: %s", strerror(errno));
	watch(epoll, timer, ON_TIMER);
	watch(epoll, signals, ON_SIGNAL);
	for (i = 0; i < nr_hosts; i++) {
		watch(epoll, hosts[i].channel->fd, ON_HOSTS + 2 * i);
		watch(epoll, hosts[i].context->async_fd, ON_HOSTS + 2 * i + 1);
		if (ibv_req_notify_cq(hosts[i].cq, 0))
			die("%s: arming the CQ failed", hosts[i].dev);
	}

	results.t0 = (clock_ns() / T0_UNIT + 1) * T0_UNIT;
	announce(dir, results.t0);
	results.end = run(epoll, timer, results.t0, progress);
	finish(progress, "progress.csv");
	json = create(dir, "flows.json");
	write_results(json, &results);
	finish(json, "flows.json");
	if (schedule) {
		csv = create(dir, "messages.csv");
		write_messages(csv);
		finish(csv, "messages.csv");
	}
	puts("done");
	return 0;
}
