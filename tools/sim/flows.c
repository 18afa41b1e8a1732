// SPDX-License-Identifier: GPL-2.0
/*
 * flows: the texts that traffic reads and writes: the flow file, flows.json with its latency
 * histogram, and progress.csv.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

struct flow *flows;
unsigned int nr_flows;

static const char *const verb_names[] = { "write", "send", "read", "atomic" };
static const struct {
	const char *name;
	enum ibv_qp_type type;
} transports[] = {
	{ "rc", IBV_QPT_RC }, { "uc", IBV_QPT_UC }, { "ud", IBV_QPT_UD },
};

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct number {
	const char *name;
	size_t offset;
	uint64_t min, max, def, unit;
	int required;
} numbers[] = {
	{ "id", offsetof(struct flow, id), 0, MAX_ID, 0, 1, 1 },
	{ "size", offsetof(struct flow, size), 1, 1 << 30, 65536, 1, 0 },
	{ "depth", offsetof(struct flow, depth), 1, MAX_DEPTH, 4, 1, 0 },
	{ "mtu", offsetof(struct flow, mtu), 256, 4096, 4096, 1, 0 },
	{ "timeout", offsetof(struct flow, timeout), 0, 31, 12, 1, 0 },
	{ "retry", offsetof(struct flow, retry), 0, 7, 7, 1, 0 },
	{ "tclass", offsetof(struct flow, tclass), 0, 255, 0, 1, 0 },
	{ "start_us", offsetof(struct flow, start), 0, MAX_US, 0, NSEC_PER_USEC, 0 },
	{ "stop_us", offsetof(struct flow, stop), 1, MAX_US, 0, NSEC_PER_USEC, 1 },
	{ "count", offsetof(struct flow, count), 0, UINT64_MAX, 0, 1, 0 },
	{ "scheduled", offsetof(struct flow, scheduled), 0, 1, 0, 1, 0 },
	{ "after", offsetof(struct flow, after), 0, MAX_ID, NO_FLOW, 1, 0 },
};

static const struct word {
	const char *name;
	size_t offset;
	int required;
} words[] = {
	{ "src_netns", offsetof(struct flow, src.netns), 0 },
	{ "dst_netns", offsetof(struct flow, dst.netns), 0 },
	{ "src_dev", offsetof(struct flow, src.dev), 1 },
	{ "dst_dev", offsetof(struct flow, dst.dev), 1 },
};

/* Bits of a mask that says which keys a line has; numbers and words follow. */
enum { SEEN_VERB, SEEN_TRANSPORT, SEEN_SRC_ADDR, SEEN_DST_ADDR, SEEN_TABLES };

static const char *file;

void bad_line(const char *path, unsigned int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "traffic: %s:%u: ", path, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

#define bad(line, ...) bad_line(file, line, __VA_ARGS__)

/* Returns 0, or -1 unless the text is a number of digits only, and up to @max. */
int parse_u64(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	/* strtoull() takes spaces and a minus sign: the first must be a digit. */
	return isdigit((unsigned char)*text) && !*end && !errno && *value <= max ? 0 : -1;
}

static uint64_t parse_number(unsigned int line, const struct number *key, const char *value)
{
	uint64_t n;

	if (parse_u64(value, key->max, &n) || n < key->min)
		bad(line, "%s=%s: want a number from %" PRIu64 " to %" PRIu64,
		    key->name, value, key->min, key->max);
	return n * key->unit;
}

static void parse_gid(unsigned int line, const char *key, const char *value, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET, value, gid->raw + 12) == 1) {
		gid->raw[10] = 0xff;
		gid->raw[11] = 0xff;
	} else if (inet_pton(AF_INET6, value, gid->raw) != 1) {
		bad(line, "%s=%s: neither an IPv4 nor an IPv6 address", key, value);
	}
}

/* Names become file names and JSON, so they must not need quoting. */
static int is_name(const char *s)
{
	size_t len = strlen(s), i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("_.:-", s[i]))
			return 0;
	return len > 0 && len < NAME_LEN && *s != '.';
}

/* Returns the bit of the key that was set. */
static unsigned int parse_pair(struct flow *f, const char *key, const char *value)
{
	unsigned int i;

	for (i = 0; i < LEN(numbers); i++) {
		if (!strcmp(key, numbers[i].name)) {
			uint64_t *n = (uint64_t *)((char *)f + numbers[i].offset);

			*n = parse_number(f->line, &numbers[i], value);
			return SEEN_TABLES + i;
		}
	}
	for (i = 0; i < LEN(words); i++) {
		if (strcmp(key, words[i].name))
			continue;
		if (!is_name(value))
			bad(f->line, "%s=%s: not a name", key, value);
		strcpy((char *)f + words[i].offset, value);
		return SEEN_TABLES + LEN(numbers) + i;
	}
	if (!strcmp(key, "verb")) {
		for (i = 0; i < LEN(verb_names); i++) {
			if (!strcmp(value, verb_names[i])) {
				f->verb = i;
				return SEEN_VERB;
			}
		}
		bad(f->line, "verb=%s: want write, send, read or atomic", value);
	}
	if (!strcmp(key, "transport")) {
		for (i = 0; i < LEN(transports); i++) {
			if (!strcmp(value, transports[i].name)) {
				f->type = transports[i].type;
				return SEEN_TRANSPORT;
			}
		}
		bad(f->line, "transport=%s: want rc, uc or ud", value);
	}
	if (!strcmp(key, "src_addr")) {
		parse_gid(f->line, key, value, &f->src.gid);
		return SEEN_SRC_ADDR;
	}
	if (!strcmp(key, "dst_addr")) {
		parse_gid(f->line, key, value, &f->dst.gid);
		return SEEN_DST_ADDR;
	}
	bad(f->line, "unknown key %s", key);
}

static void require(unsigned int line, uint64_t seen, unsigned int bit, const char *name)
{
	if (!(seen & 1ULL << bit))
		bad(line, "%s is missing", name);
}

/* Check rules about several values. */
static void check_flow(const struct flow *f)
{
	unsigned int i;

	if (f->type == IBV_QPT_UD && f->verb != VERB_SEND)
		bad(f->line, "ud can only send");
	if (f->type == IBV_QPT_UC && is_fetched(f))
		bad(f->line, "uc cannot read");
	if (f->verb == VERB_ATOMIC && f->size != 8)
		bad(f->line, "size=%" PRIu64 ": an atomic operation has 8 bytes", f->size);
	if (f->mtu & (f->mtu - 1))
		bad(f->line, "mtu=%" PRIu64 ": want 256, 512, 1024, 2048 or 4096", f->mtu);
	if (f->type == IBV_QPT_UD && f->size > f->mtu)
		bad(f->line, "size=%" PRIu64 ": a ud message must fit one packet, mtu=%" PRIu64,
		    f->size, f->mtu);
	if (f->stop <= f->start)
		bad(f->line, "stop_us must be after start_us");
	if (is_ipv4(&f->src.gid) != is_ipv4(&f->dst.gid))
		bad(f->line, "src_addr and dst_addr are of different kinds");
	/*
	 * rxe would loop packets back above IP: no queue would ever hold one,
	 * and if CPU work costs no time, time would stand still.
	 */
	if (!strcmp(f->src.dev, f->dst.dev) ||
	    !memcmp(&f->src.gid, &f->dst.gid, sizeof(f->src.gid)))
		bad(f->line, "src and dst are the same");
	for (i = 0; i < nr_flows; i++)
		if (flows[i].id == f->id)
			bad(f->line, "id=%" PRIu64 " is taken by line %u", f->id, flows[i].line);
}

static void parse_line(unsigned int line, char *text)
{
	char *save, *pair, *value;
	uint64_t seen = 0;
	struct flow *f;
	unsigned int i;

	pair = strtok_r(text, " \t\r\n", &save);
	if (!pair || *pair == '#')
		return;
	flows = realloc(flows, (nr_flows + 1) * sizeof(*flows));
	if (!flows)
		bad(line, "out of memory");
	f = &flows[nr_flows];
	memset(f, 0, sizeof(*f));
	f->line = line;
	for (i = 0; i < LEN(numbers); i++)
		*(uint64_t *)((char *)f + numbers[i].offset) = numbers[i].def * numbers[i].unit;
	strcpy(f->src.netns, "-");
	strcpy(f->dst.netns, "-");

	for (; pair; pair = strtok_r(NULL, " \t\r\n", &save)) {
		uint64_t bit;

		value = strchr(pair, '=');
		if (!value)
			bad(line, "%s: want key=value", pair);
		*value++ = '\0';
		bit = 1ULL << parse_pair(f, pair, value);
		if (seen & bit)
			bad(line, "%s is given twice", pair);
		seen |= bit;
	}

	require(line, seen, SEEN_VERB, "verb");
	require(line, seen, SEEN_TRANSPORT, "transport");
	require(line, seen, SEEN_SRC_ADDR, "src_addr");
	require(line, seen, SEEN_DST_ADDR, "dst_addr");
	for (i = 0; i < LEN(numbers); i++)
		if (numbers[i].required)
			require(line, seen, SEEN_TABLES + i, numbers[i].name);
	for (i = 0; i < LEN(words); i++)
		if (words[i].required)
			require(line, seen, SEEN_TABLES + LEN(numbers) + i, words[i].name);
	check_flow(f);
	nr_flows++;
}

static int by_id(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Find the flow that a flow waits for, once all of them are in their places. */
static void find_leader(struct flow *f)
{
	unsigned int i;

	if (f->after == NO_FLOW)
		return;
	for (i = 0; i < nr_flows && flows[i].id != f->after; i++)
		;
	if (i == nr_flows || &flows[i] == f)
		bad(f->line, "after=%" PRIu64 ": there is no other flow of this id", f->after);
	if (strcmp(flows[i].dst.dev, f->src.dev))
		bad(f->line, "after=%" PRIu64 ": it ends at %s, not at %s", f->after,
		    flows[i].dst.dev, f->src.dev);
	f->leader = &flows[i];
	flows[i].leads = 1;
}

/* Parse the lines of a file, from 1 on; return how many. A mistake ends the program with status 2. */
unsigned int read_lines(const char *path, void (*parse)(unsigned int line, char *text))
{
	unsigned int line = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *from;

	from = fopen(path, "r");
	if (!from) {
		fprintf(stderr, "traffic: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	while (getline(&text, &size, from) >= 0)
		parse(++line, text);
	if (ferror(from))
		bad_line(path, line, "%s", strerror(errno));
	free(text);
	fclose(from);
	return line;
}

/* Read all flows, sorted by id. */
void read_flows(const char *path)
{
	unsigned int line, i;

	file = path;
	line = read_lines(path, parse_line);
	if (!nr_flows)
		bad(line, "no flows");
	qsort(flows, nr_flows, sizeof(*flows), by_id);
	for (i = 0; i < nr_flows; i++)
		find_leader(&flows[i]);
}

void hist_add(struct hist *h, uint64_t ns)
{
	unsigned int shift = 0;

	if (ns > h->max)
		h->max = ns;
	h->n++;
	if (ns >= 256)
		shift = 63 - __builtin_clzll(ns) - 7;
	if (shift >= HIST_SHIFTS) {	/* 4.9 hours */
		h->bucket[HIST_LEN - 1]++;
		return;
	}
	h->bucket[shift * 128 + (ns >> shift)]++;
}

/* The smallest latency that at least @percent of the messages did not exceed. */
static double percentile(const struct hist *h, unsigned int percent)
{
	uint64_t want = (h->n * percent + 99) / 100, seen = 0, ns;
	unsigned int i, shift;

	for (i = 0; i < HIST_LEN - 1; i++) {
		seen += h->bucket[i];
		if (seen >= want)
			break;
	}
	shift = i < 256 ? 0 : i / 128 - 1;
	ns = ((uint64_t)(i - shift * 128) << shift) + ((1ULL << shift) >> 1);
	return (ns < h->max ? ns : h->max) / 1e3;
}

void write_progress(FILE *to, uint64_t time)
{
	unsigned int i;

	for (i = 0; i < nr_flows; i++)
		fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", time / NSEC_PER_USEC,
			flows[i].id, flows[i].bytes);
}

static void write_latency(FILE *to, const struct hist *h)
{
	if (!h->n) {
		fprintf(to, "null,\n");
		return;
	}
	fprintf(to, "{\"n\": %" PRIu64 ", \"p50\": %.3f, \"p90\": %.3f, ", h->n,
		percentile(h, 50), percentile(h, 90));
	fprintf(to, "\"p99\": %.3f, \"max\": %.3f},\n", percentile(h, 99), h->max / 1e3);
}

static void write_errors(FILE *to, const struct flow *f)
{
	unsigned int i;

	fprintf(to, "   \"failed\": %s, \"errors\": [", f->failed ? "true" : "false");
	for (i = 0; i < f->nr_errors; i++) {
		const struct error *e = &f->errors[i];

		fprintf(to, "%s\n    {\"status\": %d, \"wc\": \"%s\", \"side\": \"%s\", ",
			i ? "," : "", e->status, e->text, e->side);
		fprintf(to, "\"time_us\": %.3f, \"count\": %" PRIu64 "}",
			e->first / 1e3, e->count);
	}
	fprintf(to, "]}");
}

static void write_flow(FILE *to, const struct flow *f)
{
	unsigned int i;

	for (i = 0; transports[i].type != f->type; i++)
		;
	fprintf(to, "  {\"id\": %" PRIu64 ", \"verb\": \"%s\", \"transport\": \"%s\",\n",
		f->id, verb_names[f->verb], transports[i].name);
	fprintf(to, "   \"size\": %" PRIu64 ", \"depth\": %" PRIu64 ", \"mtu\": %" PRIu64 ",\n",
		f->size, f->depth, f->mtu);
	fprintf(to, "   \"src_dev\": \"%s\", \"src_qpn\": %u,\n", f->src.dev, f->src.qp->qp_num);
	fprintf(to, "   \"dst_dev\": \"%s\", \"dst_qpn\": %u,\n", f->dst.dev, f->dst.qp->qp_num);
	fprintf(to, "   \"messages_posted\": %" PRIu64 ", \"messages\": %" PRIu64 ",\n",
		f->posted, f->messages);
	fprintf(to, "   \"bytes\": %" PRIu64 ", \"window_bytes\": %" PRIu64 ",\n",
		f->bytes, f->window_bytes);
	fprintf(to, "   \"held\": %" PRIu64 ",\n", f->held);
	fprintf(to, "   \"stopped_us\": %.3f, ", f->stopped_at / 1e3);
	if (f->messages)
		fprintf(to, "\"first_us\": %.3f, \"last_us\": %.3f,\n",
			f->first / 1e3, f->last / 1e3);
	else
		fprintf(to, "\"first_us\": null, \"last_us\": null,\n");
	fprintf(to, "   \"latency_us\": ");
	write_latency(to, &f->latency);
	write_errors(to, f);
}

void write_results(FILE *to, const struct results *r)
{
	unsigned int i;

	fprintf(to, "{\"t0\": %" PRIu64 ".%09" PRIu64 ", \"ended\": \"%s\",\n",
		r->t0 / NSEC_PER_SEC, r->t0 % NSEC_PER_SEC, r->ended);
	fprintf(to, " \"end_us\": %.3f, \"interval_us\": %" PRIu64 ",\n", r->end / 1e3,
		r->interval / NSEC_PER_USEC);
	if (r->window_end)
		fprintf(to, " \"window_us\": [%" PRIu64 ", %" PRIu64 "],\n",
			r->window_begin / NSEC_PER_USEC,
			r->window_end / NSEC_PER_USEC);
	else
		fprintf(to, " \"window_us\": null,\n");
	fprintf(to, " \"flows\": [\n");
	for (i = 0; i < nr_flows; i++) {
		write_flow(to, &flows[i]);
		fputs(i + 1 < nr_flows ? ",\n" : "\n", to);
	}
	fprintf(to, " ]}\n");
}
