// SPDX-License-Identifier: GPL-2.0
/*
 * Reads traffic's flows and its schedule, and plays the schedule without a network: a message of
 * N bytes comes N ns after it is due. Prints what traffic writes to messages.csv.
 */
#include <stdlib.h>

#include "../../tools/sim/traffic.h"

static struct message **flying;
static uint32_t nr_flying;

static uint64_t arrival(const struct message *m)
{
	return m->due + m->size;
}

/* The first one to come; of several, the one that was due first. */
static uint32_t first(void)
{
	uint32_t i, best = 0;

	for (i = 1; i < nr_flying; i++)
		if (arrival(flying[i]) < arrival(flying[best]))
			best = i;
	return best;
}

int main(int argc, char **argv)
{
	struct message *m;
	uint64_t now;
	uint32_t i;

	if (argc != 3)
		return 1;
	read_flows(argv[1]);
	read_messages(argv[2]);
	flying = calloc(nr_messages, sizeof(*flying));
	if (!flying)
		return 1;
	while (nr_flying || next_due() != NEVER) {
		now = next_due();
		if (nr_flying && arrival(flying[first()]) <= now) {
			i = first();
			m = flying[i];
			flying[i] = flying[--nr_flying];
			message_done(m, arrival(m));
			continue;
		}
		m = take_due(now);
		m->flow = m->first_flow;
		flying[nr_flying++] = m;
	}
	write_messages(stdout);
	return messages_left ? 1 : 0;
}
