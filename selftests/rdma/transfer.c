// SPDX-License-Identifier: GPL-2.0
/*
 * Does the work of perftest's ib_write_bw, ib_read_bw and ib_send_bw, but sleeps until something
 * has completed. perftest polls, which would stop the clock of a simulated machine: it advances
 * only while all processes sleep.
 *
 * ib_atomic_write, which perftest lacks, sends one WRITE and then ATOMIC WRITEs of 8 bytes.
 *
 * usage: transfer ib_write_bw|ib_read_bw|ib_send_bw|ib_atomic_write OPTIONS [ADDRESS]
 *
 * With an address it is the client. Both sides get the same of perftest's options: -d DEV
 * -x GID-INDEX -p PORT -m MTU -s SIZE -q QPS -u TIMEOUT -c RC|UC|UD -t DEPTH -o READS -D SECONDS
 * --tclass=N -r RECEIVES; -b: both sides request. -F and -l have no effect.
 *
 * The client ends after -D, the server when the client is gone. Exit status: 0, or 1 if anything
 * failed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QKEY		0x11111111
#define GRH_LEN		40	/* the header that UD puts before a received message */
#define RECEIVES	512	/* posted receives, so that each message of UC or UD finds one */
#define LATE		1000	/* ms that the last requests may take to complete */
#define UNRELIABLE	25	/* byte/us, 200 Mb/s: what UC and UD send, which is above any limit */

/* What one side tells the other about a QP */
struct hello {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey, qpn;
};

struct pair {
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct hello there;
	unsigned int outstanding;
	int begun;
};

static const char *dev = "", *server;
static enum ibv_wr_opcode opcode;
static enum ibv_qp_type type = IBV_QPT_RC;
static int gid_index, port = 18515, mtu = 1024, qps = 1, timeout = 14, reads = 16, both;
static int tclass, seconds = 5, receives = RECEIVES;
static unsigned int depth = 128;
static size_t size = 65536;

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct pair *pairs;
static uint64_t messages;

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t len = size + GRH_LEN;
	struct ibv_device_attr attr;
	void *memory;
	int i, cqes;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), dev))
			context = ibv_open_device(list[i]);
	}
	if (!context)
		errx(1, "%s: no such device", dev);
	memory = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
	if (!memory)
		err(1, "%zu bytes", len);
	memset(memory, 0x5a, len);
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	if (!pd || !channel)
		err(1, "%s", dev);
	mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (ibv_query_device(context, &attr))
		err(1, "%s", dev);
	/* what completes is taken out at once: less than rxe's limit is enough for many QPs */
	cqes = qps * (opcode == IBV_WR_SEND ? depth + RECEIVES : depth);
	cq = ibv_create_cq(context, cqes < attr.max_cqe ? cqes : attr.max_cqe, NULL, channel, 0);
	if (!mr || !cq || fcntl(channel->fd, F_SETFL, O_NONBLOCK))
		err(1, "%s", dev);
}

static void receive(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, size + GRH_LEN, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = p - pairs, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(p->qp, &wr, &bad))
		err(1, "ibv_post_recv");
}

static void make_qp(struct pair *p)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { depth, RECEIVES, 1, 1, 0 },
		.pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	int i;

	if (opcode == IBV_WR_ATOMIC_WRITE) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	p->qp = ibv_create_qp_ex(context, &init);
	if (!p->qp)
		err(1, "ibv_create_qp");
	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)))
		err(1, "to INIT");
	for (i = 0; opcode == IBV_WR_SEND && i < receives; i++)
		receive(p);
}

static enum ibv_mtu path_mtu(void)
{
	int n = IBV_MTU_256;

	while (n < IBV_MTU_4096 && 128 << n < mtu)
		n++;
	return n;
}

static void connect_qp(struct pair *p)
{
	int rc = type == IBV_QPT_RC, ud = type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = path_mtu(), .dest_qp_num = p->there.qpn,
		.max_dest_rd_atomic = reads, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = {
				.dgid = p->there.gid, .sgid_index = gid_index, .hop_limit = 64,
				.traffic_class = tclass,
			},
		},
	};

	if (ud) {
		p->ah = ibv_create_ah(pd, &attr.ah_attr);
		if (!p->ah)
			err(1, "ibv_create_ah");
	}
	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
			  (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)))
		err(1, "to RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = timeout, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = reads,
	};
	if (ibv_modify_qp(p->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC : 0)))
		err(1, "to RTS");
}

/* ibv_post_send() cannot do this */
static void atomic_write(struct pair *p)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(p->qp);

	ibv_wr_start(qp);
	qp->wr_id = p - pairs;
	qp->wr_flags = IBV_SEND_SIGNALED;
	if (p->begun++) {
		ibv_wr_atomic_write(qp, p->there.rkey, p->there.addr, mr->addr);
	} else {
		ibv_wr_rdma_write(qp, p->there.rkey, p->there.addr);
		ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)mr->addr, size);
	}
	errno = ibv_wr_complete(qp);
	if (errno)
		err(1, "ibv_wr_complete");
	p->outstanding++;
}

/* Only requests that are polled for may fail without an answer */
static void request(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, size, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = p - pairs, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_WRITE) {
		atomic_write(p);
		return;
	}
	if (type == IBV_QPT_UD) {
		wr.wr.ud.ah = p->ah;
		wr.wr.ud.remote_qpn = p->there.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = p->there.addr;
		wr.wr.rdma.rkey = p->there.rkey;
	}
	errno = ibv_post_send(p->qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
	p->outstanding++;
}

/* Handle completions; after a request, post the next one if there is time */
static void complete(int more)
{
	struct ibv_wc wc[32];
	struct ibv_cq *of;
	void *unused;
	int i, n;

	while (!ibv_get_cq_event(channel, &of, &unused))
		ibv_ack_cq_events(of, 1);
	if (ibv_req_notify_cq(cq, 0))
		err(1, "ibv_req_notify_cq");
	while ((n = ibv_poll_cq(cq, 32, wc)) > 0) {
		for (i = 0; i < n; i++) {
			struct pair *p = &pairs[wc[i].wr_id];

			if (wc[i].status)
				errx(1, "%s", ibv_wc_status_str(wc[i].status));
			if (wc[i].opcode & IBV_WC_RECV) {
				receive(p);
				continue;
			}
			p->outstanding--;
			messages++;
			/* rxe may complete it at once, and then nothing else would sleep */
			if (type != IBV_QPT_RC)
				usleep(size / UNRELIABLE);
			if (more)
				request(p);
		}
	}
	if (n < 0)
		errx(1, "ibv_poll_cq");
}

static int outstanding(void)
{
	int i, n = 0;

	for (i = 0; i < qps; i++)
		n += pairs[i].outstanding;
	return n;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int connection(void)
{
	struct sockaddr_in6 here = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to;
	int fd, listening, one = 1;
	char service[8];

	if (!server) {
		listening = socket(AF_INET6, SOCK_STREAM, 0);
		setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (listening < 0 || bind(listening, (struct sockaddr *)&here, sizeof(here)) ||
		    listen(listening, 1))
			err(1, "port %d", port);
		fd = accept(listening, NULL, NULL);
		close(listening);
	} else {
		snprintf(service, sizeof(service), "%d", port);
		if (getaddrinfo(server, service, &hints, &to))
			errx(1, "%s: no address", server);
		fd = socket(to->ai_family, SOCK_STREAM, 0);
		if (connect(fd, to->ai_addr, to->ai_addrlen))
			err(1, "%s", server);
		freeaddrinfo(to);
	}
	if (fd < 0)
		err(1, "port %d", port);
	return fd;
}

static void exchange(int fd, const void *ours, void *theirs, size_t len)
{
	if (send(fd, ours, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recv(fd, theirs, len, MSG_WAITALL) != (ssize_t)len)
		errx(1, "the other side has gone");
}

static void connect_pairs(int fd)
{
	struct hello here = { .addr = (uintptr_t)mr->addr, .rkey = mr->rkey };
	char ready = 0;
	int i;

	if (ibv_query_gid(context, 1, gid_index, &here.gid))
		errx(1, "%s: no GID %d", dev, gid_index);
	for (i = 0; i < qps; i++) {
		make_qp(&pairs[i]);
		here.qpn = pairs[i].qp->qp_num;
		exchange(fd, &here, &pairs[i].there, sizeof(here));
		connect_qp(&pairs[i]);
	}
	exchange(fd, &ready, &ready, 1);
}

/* Run until the time is over or, at the server, the client is gone */
static void work(int fd)
{
	struct pollfd fds[] = {
		{ .fd = channel->fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	int requests = server || both, more = 1, i;
	int64_t end = now_ms() + seconds * 1000LL;
	unsigned int n;

	ibv_req_notify_cq(cq, 0);
	for (n = 0; requests && n < depth; n++) {
		for (i = 0; i < qps; i++)
			request(&pairs[i]);
	}
	for (;;) {
		int64_t left = end - now_ms();

		if (server && left <= 0) {
			if (!outstanding() || left < -LATE)
				return;
			more = 0;
			left += LATE;
		}
		/* rounded up, so as not to wake up too early again and again */
		if (poll(fds, 2, server ? left + 1 : -1) < 0)
			err(1, "poll");
		if (fds[1].revents) {
			if (server)
				errx(1, "the server has gone");
			return;
		}
		if (fds[0].revents)
			complete(more);
	}
}

static const struct option long_options[] = {
	{ "tclass", required_argument, NULL, 'T' },
	{}
};

static int parse(int argc, char **argv)
{
	int c;

	if (argc < 2)
		return 0;
	if (!strcmp(argv[1], "ib_write_bw"))
		opcode = IBV_WR_RDMA_WRITE;
	else if (!strcmp(argv[1], "ib_read_bw"))
		opcode = IBV_WR_RDMA_READ;
	else if (!strcmp(argv[1], "ib_send_bw"))
		opcode = IBV_WR_SEND;
	else if (!strcmp(argv[1], "ib_atomic_write"))
		opcode = IBV_WR_ATOMIC_WRITE;
	else
		return 0;
	argc--;
	argv++;
	while ((c = getopt_long(argc, argv, "Fbd:x:p:m:s:q:u:c:t:o:D:l:r:", long_options, NULL)) != -1) {
		switch (c) {
		case 'F': case 'l': break;
		case 'b': both = 1; break;
		case 'd': dev = optarg; break;
		case 'x': gid_index = atoi(optarg); break;
		case 'p': port = atoi(optarg); break;
		case 'm': mtu = atoi(optarg); break;
		case 's': size = atol(optarg); break;
		case 'q': qps = atoi(optarg); break;
		case 'u': timeout = atoi(optarg); break;
		case 't': depth = atoi(optarg); break;
		case 'o': reads = atoi(optarg); break;
		case 'D': seconds = atoi(optarg); break;
		case 'T': tclass = atoi(optarg); break;
		case 'r': receives = atoi(optarg); break;
		case 'c':
			type = !strcmp(optarg, "UC") ? IBV_QPT_UC :
			       !strcmp(optarg, "UD") ? IBV_QPT_UD : IBV_QPT_RC;
			break;
		default:
			return 0;
		}
	}
	server = argv[optind];
	return depth > 0 && qps > 0 && size > 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (!parse(argc, argv))
		errx(2, "usage: transfer ib_write_bw|ib_read_bw|ib_send_bw|ib_atomic_write OPTIONS [ADDRESS]");
	pairs = calloc(qps, sizeof(*pairs));
	if (!pairs)
		err(1, "%d QPs", qps);
	open_device();
	fd = connection();
	connect_pairs(fd);
	work(fd);
	printf("%llu messages of %zu bytes\n", (unsigned long long)messages, size);
	return 0;
}
