// SPDX-License-Identifier: GPL-2.0
/*
 * integrity: every verb of RC with distinguishable data, and a check of each byte.
 *
 * usage: integrity [options] SRC_DEV SRC_ADDR DST_DEV DST_ADDR
 *
 *   -s SEED      of operations, sizes and data (1)
 *   -q QPS       at once (4)
 *   -n MESSAGES  of each QP (200); 0: until SIGTERM
 *   -m BYTES     longest message (8388608)
 *   -u MTU       (1024)
 *   -t TIMEOUT   for an ack, 4.096 us * 2^TIMEOUT (14)
 *   -o FILE      what completed, in order
 *
 * Each QP writes, sends, reads and does atomics, a few at a time, with and without
 * immediate data. The first messages have the sizes 1, 2, 4 ... bytes. The target of
 * data is filled with something else before, and has a guard around it. Completions
 * must come in the order of posting, all successful, one for each request and one for
 * each receive. FILE lists them by QP: it depends only on the seed, so that two runs
 * can be compared.
 *
 * No read or atomic is posted until earlier writes and sends are acknowledged, because
 * of a fault in rxe: when a write is repeated, the responder's answer acknowledges
 * everything after it, too. If the answer of an atomic was lost, the requester then
 * completes it without its data (upstream/atomic-without-data/).
 *
 * Both ends are one event loop, for User-mode Linux in simulated time.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ends.h"

#define SLOTS		4
#define GUARD		64
#define MAX_SIZE	(8 << 20)
#define SILENCE_MS	120000	/* without a completion: hangs */
#define WORD		0	/* of a QP's memory: what atomics work on */

enum op { WRITE, WRITE_IMM, SEND, SEND_IMM, READ, FETCH_ADD, COMPARE_SWAP, NUM_OPS };

static const char *const op_names[] = {
	"write", "write_imm", "send", "send_imm", "read", "fetch_add", "compare_swap"
};

struct message {
	enum op op;
	uint32_t size;
	int waits;		/* completions that it waits for */
	uint64_t before;	/* atomics: what the word has to be */
};

struct pair {
	unsigned int id;
	struct ibv_qp *req, *rsp;
	uint8_t *here, *there;	/* memory of requester and responder */
	uint64_t random, word;
	uint64_t posted, sent, received;
	enum op next;		/* what is posted next */
	unsigned int unacked;	/* writes and sends */
	uint64_t receives;	/* posted */
	uint64_t *receive_of;	/* ring: the messages that take the receives */
	struct message slot[SLOTS];
	FILE *log[2];
	char *text[2];
	size_t len[2];
};

static struct end src, dst;
static struct pair *pairs;
static unsigned int nr_pairs = 4;
static uint64_t seed = 1, limit = 200, max_size = MAX_SIZE, bytes, counts[NUM_OPS];
static volatile sig_atomic_t ended;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	va_list args;

	fputs("integrity: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static size_t slot_len(void)
{
	return max_size + 2 * GUARD;
}

static size_t pair_len(void)
{
	return GUARD + SLOTS * slot_len();
}

static uint8_t *area(uint8_t *memory, uint64_t seq)
{
	return memory + GUARD + seq % SLOTS * slot_len() + GUARD;
}

/* A message's data differ from the first byte on, so that data at the wrong place, or of
 * another message, are noticed
 */
static uint64_t data_word(const struct pair *p, uint64_t seq, size_t i)
{
	uint64_t x = seed ^ (uint64_t)p->id << 48 ^ seq << 24 ^ i;

	return next_random(&x);
}

static void fill(const struct pair *p, uint64_t seq, uint8_t *to, size_t n)
{
	uint64_t w;
	size_t i;

	for (i = 0; i < n; i += 8) {
		w = data_word(p, seq, i);
		memcpy(to + i, &w, n - i < 8 ? n - i : 8);
	}
}

static void poison(uint8_t *at, size_t n)
{
	memset(at - GUARD, 0x5a, n + 2 * GUARD);
}

static void verify(const struct pair *p, uint64_t seq, const uint8_t *at, size_t n)
{
	const struct message *m = &p->slot[seq % SLOTS];
	uint64_t w;
	size_t i;

	for (i = 0; i < n; i += 8) {
		w = data_word(p, seq, i);
		if (memcmp(at + i, &w, n - i < 8 ? n - i : 8))
			die("QP %u: message %" PRIu64 ", a %s of %u bytes: wrong data at byte %zu",
			    p->id, seq, op_names[m->op], m->size, i);
	}
	for (i = 0; i < GUARD; i++)
		if (at[(ssize_t)i - GUARD] != 0x5a || at[n + i] != 0x5a)
			die("QP %u: message %" PRIu64 ", a %s of %u bytes, wrote beside its place",
			    p->id, seq, op_names[m->op], m->size);
}

static uint32_t pick_size(struct pair *p, uint64_t seq)
{
	uint64_t r = next_random(&p->random), base, n;

	if (seq < 24)
		base = 1ULL << seq, r = 0;
	else
		base = 1ULL << r % 24;
	switch (r >> 32 & 3) {
	case 1:
		n = base - (base > 1);
		break;
	case 2:
		n = base + 1;
		break;
	case 3:
		n = base + (r >> 40) % base;
		break;
	default:
		n = base;
	}
	return n < max_size ? n : max_size;
}

static void post_receive(struct pair *p, uint64_t seq, uint8_t *to, uint32_t n)
{
	struct ibv_sge sge = { (uintptr_t)to, n, dst.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = p->id, .sg_list = &sge, .num_sge = n ? 1 : 0 }, *bad;
	int err = ibv_post_recv(p->rsp, &wr, &bad);

	if (err)
		die("QP %u: posting a receive: %s", p->id, strerror(err));
	p->receive_of[p->receives++ % SLOTS] = seq;
}

static void prepare_atomic(struct pair *p, struct message *m, struct ibv_send_wr *wr)
{
	uint64_t a = next_random(&p->random), b = next_random(&p->random);

	m->before = p->word;
	wr->wr.atomic.remote_addr = (uintptr_t)p->there + WORD;
	wr->wr.atomic.rkey = dst.mr->rkey;
	if (m->op == FETCH_ADD) {
		wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.compare_add = a;
		p->word += a;
		return;
	}
	wr->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr->wr.atomic.compare_add = a & 1 ? p->word : p->word ^ b;
	wr->wr.atomic.swap = b;
	if (wr->wr.atomic.compare_add == p->word)
		p->word = b;
}

static int may_post(const struct pair *p)
{
	return !ended && (!limit || p->posted < limit) && !p->slot[p->posted % SLOTS].waits &&
	       (p->next < READ || !p->unacked);
}

static void post(struct pair *p)
{
	uint64_t seq = p->posted++;
	struct message *m = &p->slot[seq % SLOTS];
	uint8_t *here = area(p->here, seq), *there = area(p->there, seq);
	struct ibv_sge sge = { .addr = (uintptr_t)here, .lkey = src.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = p->id, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(seq),
	}, *bad;
	int err;

	m->op = p->next;
	p->next = next_random(&p->random) % NUM_OPS;
	p->unacked += m->op < READ;
	m->size = pick_size(p, seq);
	m->waits = 1;
	if (m->op >= FETCH_ADD)
		m->size = 8;
	sge.length = m->size;

	if (m->op == READ) {
		fill(p, seq, there, m->size);
		poison(here, m->size);
	} else if (m->op >= FETCH_ADD) {
		poison(here, m->size);
	} else {
		fill(p, seq, here, m->size);
		poison(there, m->size);
	}
	wr.wr.rdma.remote_addr = (uintptr_t)there;
	wr.wr.rdma.rkey = dst.mr->rkey;
	switch (m->op) {
	case WRITE:
		wr.opcode = IBV_WR_RDMA_WRITE;
		break;
	case WRITE_IMM:
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		post_receive(p, seq, NULL, 0);
		m->waits++;
		break;
	case SEND:
	case SEND_IMM:
		wr.opcode = m->op == SEND ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
		post_receive(p, seq, there, m->size);
		m->waits++;
		break;
	case READ:
		wr.opcode = IBV_WR_RDMA_READ;
		break;
	default:
		prepare_atomic(p, m, &wr);
	}
	err = ibv_post_send(p->req, &wr, &bad);
	if (err)
		die("QP %u: posting message %" PRIu64 ": %s", p->id, seq, strerror(err));
}

static void check_data(struct pair *p, uint64_t seq)
{
	struct message *m = &p->slot[seq % SLOTS];
	uint64_t got;

	if (m->op == READ) {
		verify(p, seq, area(p->here, seq), m->size);
	} else if (m->op >= FETCH_ADD) {
		memcpy(&got, area(p->here, seq), 8);
		if (got != m->before)
			die("QP %u: message %" PRIu64 ", %s: the word was %#" PRIx64
			    ", not %#" PRIx64, p->id, seq, op_names[m->op], got, m->before);
	} else {
		verify(p, seq, area(p->there, seq), m->size);
	}
}

static void complete(const struct ibv_wc *wc, int receive)
{
	static const enum ibv_wc_opcode expected[2][NUM_OPS] = {
		{ IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_SEND, IBV_WC_SEND,
		  IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD, IBV_WC_COMP_SWAP },
		{ -1, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_RECV, IBV_WC_RECV, -1, -1, -1 },
	};
	struct pair *p = &pairs[wc->wr_id];
	struct message *m;
	uint64_t seq;

	if (wc->status != IBV_WC_SUCCESS)
		die("QP %u: %s, after %" PRIu64 " messages: %s", p->id,
		    receive ? "responder" : "requester", p->sent, ibv_wc_status_str(wc->status));
	if (receive ? p->received == p->receives : p->sent == p->posted)
		die("QP %u: a completion of nothing", p->id);
	seq = receive ? p->receive_of[p->received++ % SLOTS] : p->sent++;
	m = &p->slot[seq % SLOTS];
	p->unacked -= !receive && m->op < READ;
	if (wc->opcode != expected[receive][m->op])
		die("QP %u: message %" PRIu64 ", a %s, completes as %d", p->id, seq,
		    op_names[m->op], wc->opcode);
	if (receive && wc->byte_len != m->size)
		die("QP %u: message %" PRIu64 ", a %s of %u bytes, came as %u", p->id, seq,
		    op_names[m->op], m->size, wc->byte_len);
	if (receive && m->op != SEND &&
	    (!(wc->wc_flags & IBV_WC_WITH_IMM) || be32toh(wc->imm_data) != (uint32_t)seq))
		die("QP %u: message %" PRIu64 ": wrong immediate data", p->id, seq);
	if (p->log[receive])
		fprintf(p->log[receive], "%u %s %" PRIu64 " %s %u\n", p->id,
			receive ? "receive" : "request", seq, op_names[m->op], m->size);
	/* a receive that completes says that its data is there */
	if (receive || m->waits == 1 || m->op < WRITE_IMM)
		check_data(p, seq);
	if (!--m->waits) {
		bytes += m->size;
		counts[m->op]++;
	}
}

static unsigned int drain(struct end *e)
{
	struct ibv_wc wc[16];
	unsigned int seen = 0;
	int i, n;

	while ((n = ibv_poll_cq(e->cq, 16, wc)) > 0)
		for (i = 0; i < n; i++, seen++)
			complete(&wc[i], e == &dst);
	if (n < 0)
		die("polling a CQ failed");
	return seen;
}

/* Return true if there is still something to wait for. */
static int pump(void)
{
	unsigned int i;
	int busy = 0;

	for (i = 0; i < nr_pairs; i++) {
		struct pair *p = &pairs[i];

		while (may_post(p))
			post(p);
		busy |= p->sent < p->posted || p->received < p->receives;
	}
	return busy;
}

static void run(void)
{
	struct pollfd fds[2] = {
		{ .fd = src.channel->fd, .events = POLLIN },
		{ .fd = dst.channel->fd, .events = POLLIN },
	};

	while (pump()) {
		if (drain(&src) + drain(&dst))
			continue;
		if (end_arm(&src) || end_arm(&dst))
			die("arming a CQ failed");
		if (drain(&src) + drain(&dst))
			continue;
		if (!poll(fds, 2, SILENCE_MS))
			die("nothing completed for %d s", SILENCE_MS / 1000);
	}
}

static void set_up(enum ibv_mtu mtu, uint8_t timeout)
{
	size_t len = 2 * nr_pairs * pair_len();
	const char *what;
	uint8_t *memory;
	unsigned int i;
	int err;

	memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pairs = calloc(nr_pairs, sizeof(*pairs));
	if (memory == MAP_FAILED || !pairs)
		die("out of memory");
	err = end_open(&src, memory, len, nr_pairs * SLOTS * 2, &what);
	if (err)
		die("%s: %s: %s", src.dev, what, strerror(err));
	err = end_open(&dst, memory, len, nr_pairs * SLOTS * 2, &what);
	if (err)
		die("%s: %s: %s", dst.dev, what, strerror(err));

	for (i = 0; i < nr_pairs; i++) {
		struct pair *p = &pairs[i];
		struct path path = {
			.mtu = mtu, .timeout = timeout, .retries = 7,
			/* soon wraps around in 24 bits */
			.psn = (0xfffff0 + i * 0x1000) & 0xffffff,
		};
		int k;

		p->id = i;
		p->random = seed + i;
		p->next = next_random(&p->random) % NUM_OPS;
		p->here = memory + 2 * i * pair_len();
		p->there = p->here + pair_len();
		p->receive_of = calloc(SLOTS, sizeof(*p->receive_of));
		for (k = 0; k < 2; k++)
			p->log[k] = limit ? open_memstream(&p->text[k], &p->len[k]) : NULL;
		p->req = end_qp(&src, IBV_QPT_RC, SLOTS);
		p->rsp = end_qp(&dst, IBV_QPT_RC, SLOTS);
		if (!p->req || !p->rsp)
			die("making QP %u: %s", i, strerror(errno));
		err = end_connect(&src, p->req, &dst, p->rsp->qp_num, &path, &what);
		if (!err)
			err = end_connect(&dst, p->rsp, &src, p->req->qp_num, &path, &what);
		if (err)
			die("QP %u %s: %s", i, what, strerror(err));
	}
}

static void write_log(const char *path)
{
	FILE *to = fopen(path, "w");
	unsigned int i, k;

	if (!to)
		die("%s: %s", path, strerror(errno));
	for (i = 0; i < nr_pairs; i++) {
		for (k = 0; k < 2; k++) {
			fclose(pairs[i].log[k]);
			fwrite(pairs[i].text[k], 1, pairs[i].len[k], to);
		}
	}
	if (ferror(to) | fclose(to))
		die("writing %s failed", path);
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

__attribute__((noreturn))
static void usage(void)
{
	fprintf(stderr, "usage: integrity [-s SEED] [-q QPS] [-n MESSAGES] [-m BYTES] [-u MTU] "
		"[-t TIMEOUT] [-o FILE] SRC_DEV SRC_ADDR DST_DEV DST_ADDR\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	const char *log = NULL;
	enum ibv_mtu mtu = IBV_MTU_1024;
	int option, i, timeout = 14;

	while ((option = getopt(argc, argv, "s:q:n:m:u:t:o:")) != -1) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'q':
			nr_pairs = atoi(optarg);
			break;
		case 'n':
			limit = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			max_size = strtoull(optarg, NULL, 0);
			break;
		case 'u':
			for (mtu = IBV_MTU_256; 128 << mtu < atoi(optarg); mtu++)
				;
			break;
		case 't':
			timeout = atoi(optarg);
			break;
		case 'o':
			log = optarg;
			break;
		default:
			usage();
		}
	}
	if (argc - optind != 4 || !nr_pairs || max_size < 8 || (log && !limit) ||
	    mtu > IBV_MTU_4096 || timeout < 0 || timeout > 31)
		usage();
	src.dev = argv[optind];
	src.addr = argv[optind + 1];
	dst.dev = argv[optind + 2];
	dst.addr = argv[optind + 3];
	sigaction(SIGTERM, &action, NULL);
	set_up(mtu, timeout);
	run();
	if (log)
		write_log(log);
	printf("{\"seed\": %" PRIu64 ", \"qps\": %u, \"bytes\": %" PRIu64, seed, nr_pairs, bytes);
	for (i = 0; i < NUM_OPS; i++)
		printf(", \"%s\": %" PRIu64, op_names[i], counts[i]);
	printf("}\n");
	return 0;
}
