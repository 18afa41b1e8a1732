// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port watch: what the classes of ports do, again and again. A class that has
 * done nothing since the last look, and holds nothing, is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "json.h"
#include "port.h"
#include "unit.h"

#define NAME_LEN	16
#define COUNT_MAX	1000000000
#define USEC_PER_SEC	1000000.

enum { OUT, QUEUE, MARKED, LOST, PAUSED, HEARD, SAID, FIGURES };

/* Of a class */
struct sample {
	char dev[NAME_LEN];
	int prio;
	uint64_t value[FIGURES];
};

/* One look at all of them */
struct look {
	uint64_t time;
	struct sample *samples;
	size_t count;
};

static uint64_t sum(const struct nlattr *const *tb, const uint16_t *attr)
{
	uint64_t total = 0;

	for (; *attr; attr++)
		total += tb[*attr] ? netlink_number(tb[*attr]) : 0;
	return total;
}

static void add_class(struct look *look, const char *dev, int prio,
		      const struct nlattr *const *tb)
{
	static const uint16_t attrs[FIGURES][6] = {
		[OUT] = { DCBPORT_A_CLASS_OUT_BYTES },
		[QUEUE] = { DCBPORT_A_CLASS_QUEUE_BYTES },
		[MARKED] = { DCBPORT_A_CLASS_MARKED },
		[LOST] = { DCBPORT_A_CLASS_DROP_LIMIT,
			   DCBPORT_A_CLASS_DROP_BUFFER,
			   DCBPORT_A_CLASS_DROP_STORM,
			   DCBPORT_A_CLASS_DROP_MEMORY,
			   DCBPORT_A_CLASS_DROP_RESET },
		[PAUSED] = { DCBPORT_A_CLASS_RX_PAUSE_DURATION },
		[HEARD] = { DCBPORT_A_CLASS_RX_PAUSE },
		[SAID] = { DCBPORT_A_CLASS_TX_PAUSE,
			   DCBPORT_A_CLASS_TX_RESUME },
	};
	struct sample *s;

	look->samples = reallocarray(look->samples, look->count + 1, sizeof(*s));
	if (!look->samples)
		fail_errno("ports");
	s = &look->samples[look->count++];
	snprintf(s->dev, sizeof(s->dev), "%s", dev);
	s->prio = prio;
	for (int i = 0; i < FIGURES; i++)
		s->value[i] = sum(tb, attrs[i]);
}

static void add_port(const struct port *port, void *data)
{
	const char *dev = netlink_string(port->tb[DCBPORT_A_PORT_IFNAME]);

	for (int prio = 0; prio < PORT_CLASSES; prio++)
		add_class(data, dev, prio, port->class[prio]);
}

static struct look take(const char *dev)
{
	struct look look = { .time = clock_now() };

	port_dump(dev, add_port, &look);
	return look;
}

static const struct sample *same_class(const struct look *look,
				       const struct sample *s)
{
	for (size_t i = 0; i < look->count; i++) {
		if (look->samples[i].prio == s->prio &&
		    !strcmp(look->samples[i].dev, s->dev))
			return &look->samples[i];
	}
	return NULL;
}

/* By how much it grew; a port that went and came back counts from zero */
static uint64_t grown(const struct sample *s, const struct sample *old, int i)
{
	return s->value[i] < old->value[i] ? s->value[i] :
					     s->value[i] - old->value[i];
}

static bool is_idle(const struct sample *s, const struct sample *old)
{
	for (int i = 0; i < FIGURES; i++) {
		if (i == QUEUE ? s->value[i] : grown(s, old, i))
			return false;
	}
	return true;
}

static void print_text(const struct sample *s, const struct sample *old,
		       double seconds)
{
	char rate[UNIT_LEN], queue[UNIT_LEN];

	printf("%-15s %4d %11s %10s %10.0f %9.0f %6.1f%% %8.0f %8.0f\n",
	       s->dev, s->prio,
	       unit_rate(rate, 8 * grown(s, old, OUT) / seconds),
	       unit_bytes(queue, s->value[QUEUE]),
	       grown(s, old, MARKED) / seconds, grown(s, old, LOST) / seconds,
	       100 * grown(s, old, PAUSED) / (seconds * USEC_PER_SEC),
	       grown(s, old, HEARD) / seconds, grown(s, old, SAID) / seconds);
}

static void print_json(const struct sample *s, const struct sample *old,
		       double seconds)
{
	json_open_object(NULL);
	json_string("dev", s->dev);
	json_number("prio", s->prio);
	json_real("rate", 8 * grown(s, old, OUT) / seconds);
	json_number("queue_bytes", s->value[QUEUE]);
	json_real("marked", grown(s, old, MARKED) / seconds);
	json_real("lost", grown(s, old, LOST) / seconds);
	json_real("paused", grown(s, old, PAUSED) / (seconds * USEC_PER_SEC));
	json_real("rx_pause", grown(s, old, HEARD) / seconds);
	json_real("tx_pause", grown(s, old, SAID) / seconds);
	json_close_object();
}

static void print_look(const struct look *look, const struct look *before)
{
	double seconds = (look->time - before->time) / (double)NSEC_PER_SEC;

	if (option_json)
		json_open_array(NULL);
	else
		printf("%-15s %4s %11s %10s %10s %9s %7s %8s %8s\n", "DEV",
		       "PRIO", "RATE", "QUEUE", "MARKED/S", "LOST/S", "PAUSED",
		       "HEARD/S", "SAID/S");
	for (size_t i = 0; i < look->count; i++) {
		const struct sample *s = &look->samples[i];
		const struct sample *old = same_class(before, s) ?: s;

		if (is_idle(s, old))
			continue;
		if (option_json)
			print_json(s, old, seconds);
		else
			print_text(s, old, seconds);
	}
	if (option_json)
		json_close_array();
	else
		putchar('\n');
	fflush(stdout);
}

static void watch(const char *dev, uint64_t interval, unsigned long count)
{
	struct look old = take(dev), new;
	uint64_t due = old.time;

	/* of an array for each look */
	if (option_json)
		json_open_array(NULL);
	while (clock_wait(due += interval)) {
		new = take(dev);
		if (new.time > due + interval)
			due = new.time;
		print_look(&new, &old);
		free(old.samples);
		old = new;
		if (ferror(stdout) || (count && !--count))
			break;
	}
	if (option_json)
		json_close_array();
	free(old.samples);
}

int cmd_port_watch(int argc, char **argv)
{
	uint64_t interval = NSEC_PER_SEC;
	unsigned long count = 0;
	const char *dev;
	int c;

	while ((c = arg_option(argc, argv, "+:i:n:", NULL)) != -1) {
		if (c == 'i')
			interval = arg_interval(optarg);
		else
			count = arg_number("count", optarg, COUNT_MAX);
	}
	dev = arg_dev(argv + optind);
	/* JSON is printed when it is complete */
	if (option_json && !count)
		fail("port watch: JSON needs an end, give -n COUNT");
	clock_end_on_signals();
	watch(dev, interval, count);
	return EXIT_SUCCESS;
}
