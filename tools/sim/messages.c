// SPDX-License-Identifier: GPL-2.0
/*
 * messages: traffic's schedule: when each message is due, after which others, and when it came.
 *
 * The file has one message per line, key=value words; '#' begins a comment line. A message's
 * number is that of its line among those that are no comments, from 0:
 *
 *   flows=0 size=65536 at=1000000
 *   flows=4-7 size=512 after=0 wait=20000
 *   after=0-1
 *
 * flows: the id of the flow that sends it, or of several, of which the one with the fewest
 * bytes outstanding sends it. Without it, and without a size, the line is a join: it sends
 * nothing, and others wait for it instead of for all messages that it waits for.
 * It is due @wait ns after the last of the messages @after has come, but not before @at ns
 * after t0. @after names earlier lines only, as 3, 5-9, or 3,5-9: so nothing waits for itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define MAX_MESSAGES	(1U << 24)
#define MAX_EDGES	(1U << 28)

struct message *messages;
uint32_t nr_messages, messages_left;

/* From a message to one that waits for it; edges of the same message are a list. */
static struct edge {
	uint32_t to, next;
} *edges;
static uint32_t nr_edges;

/* The messages that only wait for their time: a binary heap, the first one due on top. */
static uint32_t *heap;
static uint32_t heap_len;

static const char *file;

#define bad(line, ...) bad_line(file, line, __VA_ARGS__)

static void *grow(void *array, uint32_t n, size_t size, unsigned int line)
{
	if (n & (n - 1))	/* room is made in powers of two */
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	if (!array)
		bad(line, "out of memory");
	return array;
}

static int earlier(uint32_t a, uint32_t b)
{
	return messages[a].due < messages[b].due || (messages[a].due == messages[b].due && a < b);
}

static void schedule(uint32_t m)
{
	uint32_t i = heap_len++;

	for (; i && earlier(m, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = m;
}

/* When the next message is due; NEVER if that is known of none. */
uint64_t next_due(void)
{
	return heap_len ? messages[heap[0]].due : NEVER;
}

/* Takes the first message that is due by now; NULL if there is none. */
struct message *take_due(uint64_t now)
{
	uint32_t top, last, i = 0, child;

	if (next_due() > now)
		return NULL;
	top = heap[0];
	last = heap[--heap_len];
	while ((child = 2 * i + 1) < heap_len) {
		if (child + 1 < heap_len && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return &messages[top];
}

/* A message has come, or a join is due. */
void message_done(struct message *m, uint64_t now)
{
	uint32_t e;

	m->done = now;
	messages_left--;
	for (e = m->heirs; e != NO_MESSAGE; e = edges[e].next) {
		struct message *heir = &messages[edges[e].to];

		if (--heir->missing)
			continue;
		heir->due = now + heir->wait;
		if (heir->due < heir->at)
			heir->due = heir->at;
		schedule(edges[e].to);
	}
}

static void parse_range(unsigned int line, const char *key, const char *text, uint64_t max,
			uint64_t *first, uint64_t *last)
{
	char word[48];
	char *dash;

	snprintf(word, sizeof(word), "%s", text);
	dash = strchr(word, '-');
	if (dash)
		*dash = '\0';
	if (parse_u64(word, max, first) || parse_u64(dash ? dash + 1 : word, max, last) ||
	    *last < *first || strlen(text) >= sizeof(word))
		bad(line, "%s=%s: want a number up to %" PRIu64 ", or two as 3-5", key, text, max);
}

static void parse_after(unsigned int line, char *list)
{
	uint64_t first, last;
	char *save, *word;

	if (!nr_messages)
		bad(line, "after=%s: the first message cannot wait for another one", list);
	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		parse_range(line, "after", word, nr_messages - 1, &first, &last);
		for (; first <= last; first++) {
			if (nr_edges == MAX_EDGES)
				bad(line, "messages wait for more than %u in all", MAX_EDGES);
			edges = grow(edges, nr_edges, sizeof(*edges), line);
			edges[nr_edges] = (struct edge){ nr_messages, messages[first].heirs };
			messages[first].heirs = nr_edges++;
			messages[nr_messages].missing++;
		}
	}
}

static struct flow *flow_by_id(uint64_t id)
{
	unsigned int low = 0, high = nr_flows;

	while (low < high) {	/* read_flows() has sorted them */
		unsigned int middle = (low + high) / 2;

		if (flows[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr_flows && flows[low].id == id ? &flows[low] : NULL;
}

static void parse_flows(unsigned int line, const char *text, struct message *m)
{
	uint64_t first, last, id;

	parse_range(line, "flows", text, MAX_ID, &first, &last);
	for (id = first; id <= last; id++) {
		struct flow *f = flow_by_id(id);

		if (!f)
			bad(line, "flows=%s: there is no flow of id %" PRIu64, text, id);
		if (f->count || f->after != NO_FLOW)
			bad(line, "flows=%s: flow %" PRIu64 " has count or after, and no schedule",
			    text, id);
		f->scheduled = 1;
		if (id == first)
			m->first_flow = f - flows;
		m->last_flow = f - flows;
	}
}

static void check_message(unsigned int line, const struct message *m)
{
	uint32_t i;

	if (m->first_flow == NO_MESSAGE) {
		if (m->size)
			bad(line, "size without flows");
		return;
	}
	if (!m->size)
		bad(line, "flows without a size");
	for (i = m->first_flow; i <= m->last_flow; i++)
		if (m->size > flows[i].size)
			bad(line, "size=%" PRIu64 " is more than that of flow %" PRIu64 ", %" PRIu64,
			    m->size, flows[i].id, flows[i].size);
}

static void parse_line(unsigned int line, char *text)
{
	char *save, *pair, *value;
	struct message *m;

	pair = strtok_r(text, " \t\r\n", &save);
	if (!pair || *pair == '#')
		return;
	if (nr_messages == MAX_MESSAGES)
		bad(line, "more than %u messages", MAX_MESSAGES);
	messages = grow(messages, nr_messages, sizeof(*messages), line);
	m = &messages[nr_messages];
	*m = (struct message){
		.first_flow = NO_MESSAGE, .heirs = NO_MESSAGE, .flow = NO_MESSAGE,
		.due = NEVER, .done = NEVER,
	};
	for (; pair; pair = strtok_r(NULL, " \t\r\n", &save)) {
		uint64_t *number = NULL, max = MAX_NS;

		value = strchr(pair, '=');
		if (!value)
			bad(line, "%s: want key=value", pair);
		*value++ = '\0';
		if (!strcmp(pair, "at")) {
			number = &m->at;
		} else if (!strcmp(pair, "wait")) {
			number = &m->wait;
		} else if (!strcmp(pair, "size")) {
			number = &m->size;
			max = 1 << 30;
		} else if (!strcmp(pair, "flows")) {
			parse_flows(line, value, m);
		} else if (!strcmp(pair, "after")) {
			parse_after(line, value);
		} else {
			bad(line, "unknown key %s", pair);
		}
		if (number && parse_u64(value, max, number))
			bad(line, "%s=%s: want a number up to %" PRIu64, pair, value, max);
	}
	check_message(line, m);
	nr_messages++;
}

/* After read_flows(); a mistake ends the program with status 2. */
void read_messages(const char *path)
{
	unsigned int line;
	uint32_t i;

	file = path;
	line = read_lines(path, parse_line);
	if (!nr_messages)
		bad(line, "no messages");
	messages_left = nr_messages;
	heap = malloc(nr_messages * sizeof(*heap));
	if (!heap)
		bad(line, "out of memory");
	for (i = 0; i < nr_messages; i++) {
		if (messages[i].missing)
			continue;
		messages[i].due = messages[i].at;
		schedule(i);
	}
}

/* Empty fields: a join has no flow, and a message that was not due, or has not come, no time. */
void write_messages(FILE *to)
{
	uint32_t i;

	fprintf(to, "flow,due_ns,done_ns\n");
	for (i = 0; i < nr_messages; i++) {
		const struct message *m = &messages[i];

		if (m->flow != NO_MESSAGE)
			fprintf(to, "%" PRIu64, flows[m->flow].id);
		fputc(',', to);
		if (m->due != NEVER)
			fprintf(to, "%" PRIu64, m->due);
		fputc(',', to);
		if (m->done != NEVER)
			fprintf(to, "%" PRIu64, m->done);
		fputc('\n', to);
	}
}
