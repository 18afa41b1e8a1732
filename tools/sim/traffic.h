/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of traffic: a flow, its settings, and its results */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>

#define NAME_LEN	64
#define NSEC_PER_USEC	UINT64_C(1000)
#define NSEC_PER_MSEC	UINT64_C(1000000)
#define NSEC_PER_SEC	UINT64_C(1000000000)

/* The longest queue of a flow; rxe's own limit is far above. */
#define MAX_DEPTH	16384

#define MAX_ID		0xffffff
#define NO_FLOW		(MAX_ID + 1)
#define NO_MESSAGE	UINT32_MAX
#define NEVER		UINT64_MAX

/* Times in the files are below a year, so that their sums fit 64 bits of ns with ease. */
#define MAX_US		UINT64_C(31536000000000)
#define MAX_NS		(MAX_US * NSEC_PER_USEC)

enum verb { VERB_WRITE, VERB_SEND, VERB_READ, VERB_ATOMIC };

/* WAITING for its start, RUNNING, STOPPED: no new messages, old ones may come. */
enum state { WAITING, RUNNING, STOPPED };

struct host;

/* One end of a flow: from the file, and from set-up. */
struct end {
	char netns[NAME_LEN];
	char dev[NAME_LEN];
	union ibv_gid gid;
	struct host *host;
	struct ibv_qp *qp;
	uint32_t psn;
	uint8_t gid_index;
};

/*
 * Latencies in ns, log-linear: exact below 256, above that 128 buckets for each
 * doubling, so that a bucket's middle is within 0.4 % of each of its values.
 */
#define HIST_SHIFTS	37
#define HIST_LEN	(HIST_SHIFTS * 128 + 128)

struct hist {
	uint64_t n, max;
	uint32_t bucket[HIST_LEN];
};

/* Errors of one kind; @status is a work completion's, or -errno of a post. */
struct error {
	int status;
	const char *text, *side;
	uint64_t first, count;
};

#define MAX_ERRORS	8
#define BATCH		32
#define MAX_STRIDE	2

struct post_time {
	uint32_t seq;
	uint64_t time;
};

struct flow {
	/* From the file; the numbers are uint64_t for the parser's sake. */
	unsigned int line;
	enum verb verb;
	enum ibv_qp_type type;
	struct end src, dst;
	uint64_t id, size, depth, mtu, timeout, retry, tclass, after;
	uint64_t start, stop;		/* ns after t0 */
	uint64_t count;
	uint64_t scheduled;		/* it sends the messages of the schedule, nothing else */
	int iwarp;			/* between iWARP devices */

	const struct flow *leader;	/* the flow of id @after, if any */
	int leads;			/* another flow waits for this one's messages */

	/* The end that posts the work, and the one that only answers or posts receives. */
	struct end *requester, *responder;
	struct ibv_ah *ah;
	unsigned int stride;		/* requests that a message takes */
	struct ibv_send_wr wr[BATCH * MAX_STRIDE];
	struct ibv_sge wr_sge[BATCH];
	struct ibv_recv_wr recv_wr;
	struct ibv_sge recv_sge;

	enum state state;
	int failed;
	uint64_t stopped_at;
	uint64_t posted, outstanding, acked;	/* messages, at the requester */
	uint64_t burst_start, burst_posted, held_until, held;
	struct post_time *ring;
	uint32_t ring_mask;

	/* Of the schedule: messages that wait for their turn, and those posted, by number. */
	uint32_t queue_first, queue_last;
	uint64_t queued, backlog;	/* messages that wait; bytes that have not come yet */
	uint32_t *order;
	uint64_t order_len;

	/* Results. Times are ns after t0. */
	uint64_t messages, bytes, window_bytes;
	uint64_t first, last;
	struct hist latency;
	struct error errors[MAX_ERRORS];
	unsigned int nr_errors;
};

/* True if the receiver's completions tell what has arrived. */
static inline int counted_at_receiver(const struct flow *f)
{
	return f->verb == VERB_SEND || f->type == IBV_QPT_UC || (f->iwarp && f->verb == VERB_WRITE);
}

/*
 * Whether a message is outstanding until the receiver has it. iWARP's sender learns only when
 * TCP has taken it, which may be megabytes ahead of the receiver and its receive requests.
 */
static inline int bounded_at_receiver(const struct flow *f)
{
	return f->iwarp && counted_at_receiver(f);
}

/* Whether the responder answers with data, for which it has a bound on requests. */
static inline int is_fetched(const struct flow *f)
{
	return f->verb == VERB_READ || f->verb == VERB_ATOMIC;
}

/* RoCE v2 writes an IPv4 address as an IPv4-mapped IPv6 one. */
static inline int is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

extern struct flow *flows;
extern unsigned int nr_flows;

/*
 * One message of the schedule: it is due @wait after the last message that it waits for has
 * come, but not before @at. One without flows is a join: it sends nothing, and has come when
 * it is due.
 */
struct message {
	uint64_t size, at, wait;
	uint32_t first_flow, last_flow;	/* that with the smallest backlog; or NO_MESSAGE */
	uint32_t missing;		/* messages that it still waits for */
	uint32_t heirs;			/* edges to those that wait for it */
	uint32_t next;			/* in the flow's queue */
	uint32_t flow;			/* that sent it */
	uint64_t due, done;		/* NEVER: not yet */
};

extern struct message *messages;
extern uint32_t nr_messages, messages_left;

struct results {
	const char *ended;		/* "done", "deadline" or "signal" */
	uint64_t t0, end, interval;	/* ns; end is after t0 */
	uint64_t window_begin, window_end;
};

__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *format, ...);
void enter(const struct host *h);
void connect_iwarp(const struct flow *f);
__attribute__((noreturn, format(printf, 3, 4)))
void bad_line(const char *path, unsigned int line, const char *format, ...);
int parse_u64(const char *text, uint64_t max, uint64_t *value);
unsigned int read_lines(const char *path, void (*parse)(unsigned int line, char *text));
void read_flows(const char *path);
void read_messages(const char *path);
uint64_t next_due(void);
struct message *take_due(uint64_t now);
void message_done(struct message *m, uint64_t now);
void write_messages(FILE *to);
void hist_add(struct hist *h, uint64_t ns);
void write_progress(FILE *to, uint64_t time);
void write_results(FILE *to, const struct results *r);

#endif
