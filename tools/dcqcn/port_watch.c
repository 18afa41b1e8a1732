// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port watch: a table of what the classes of ports do that refreshes. A class that
 * has done nothing since the last look, and holds nothing, is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "arg.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "json.h"
#include "port_look.h"
#include "screen.h"
#include "unit.h"

#define USEC_PER_SEC	1000000.

/* How much it grew; a port that was removed and added again counts from zero */
static uint64_t grown(const struct port_sample *s, const struct port_sample *old, int i)
{
	return s->value[i] < old->value[i] ? s->value[i] :
					     s->value[i] - old->value[i];
}

static bool is_idle(const struct port_sample *s, const struct port_sample *old)
{
	for (int i = 0; i < PORT_FIGURES; i++) {
		if (i == PORT_QUEUE ? s->value[i] : grown(s, old, i))
			return false;
	}
	return true;
}

enum { DEV, PRIO, RATE, QUEUE, MARKED, LOST, PAUSED, HEARD, SAID, COLUMNS };

static void print_text(const struct screen *screen, const struct screen_column columns[COLUMNS],
		       unsigned int shown, const struct port_sample *s,
		       const struct port_sample *old, double seconds)
{
	char prio[UNIT_LEN], rate[UNIT_LEN], queue[UNIT_LEN], marked[UNIT_LEN], lost[UNIT_LEN],
		paused[UNIT_LEN], heard[UNIT_LEN], said[UNIT_LEN];
	const char *const cells[COLUMNS] = {
		s->dev, prio, unit_rate(rate, 8 * grown(s, old, PORT_OUT) / seconds),
		unit_bytes(queue, s->value[PORT_QUEUE]), marked, lost, paused, heard, said,
	};

	snprintf(prio, sizeof(prio), "%d", s->prio);
	snprintf(marked, sizeof(marked), "%.0f", grown(s, old, PORT_MARKED) / seconds);
	snprintf(lost, sizeof(lost), "%.0f", grown(s, old, PORT_LOST) / seconds);
	snprintf(paused, sizeof(paused), "%.1f%%",
		 100 * grown(s, old, PORT_PAUSED) / (seconds * USEC_PER_SEC));
	snprintf(heard, sizeof(heard), "%.0f", grown(s, old, PORT_HEARD) / seconds);
	snprintf(said, sizeof(said), "%.0f", grown(s, old, PORT_SAID) / seconds);
	screen_row(screen, columns, COLUMNS, shown, cells);
}

static void print_json(const struct port_sample *s, const struct port_sample *old,
		       double seconds)
{
	json_open_object(NULL);
	json_string("dev", s->dev);
	json_number("prio", s->prio);
	json_real("rate", 8 * grown(s, old, PORT_OUT) / seconds);
	json_number("queue_bytes", s->value[PORT_QUEUE]);
	json_real("marked", grown(s, old, PORT_MARKED) / seconds);
	json_real("lost", grown(s, old, PORT_LOST) / seconds);
	json_real("paused", grown(s, old, PORT_PAUSED) / (seconds * USEC_PER_SEC));
	json_real("rx_pause", grown(s, old, PORT_HEARD) / seconds);
	json_real("tx_pause", grown(s, old, PORT_SAID) / seconds);
	json_close_object();
}

static void print_table(const struct port_look *look, const struct port_look *before,
			double seconds)
{
	struct screen_column columns[COLUMNS] = {
		[DEV] = { "DEV", -15 },
		[PRIO] = { "PRIO", 4 },
		[RATE] = { "RATE", 11 },
		[QUEUE] = { "QUEUE", 10, 5 },
		[MARKED] = { "MARKED/S", 10, 4 },
		[LOST] = { "LOST/S", 9, 3 },
		[PAUSED] = { "PAUSED", 7, 2 },
		[HEARD] = { "RX-PFC/S", 8, 1 },
		[SAID] = { "TX-PFC/S", 8, 1 },
	};
	struct screen screen = screen_begin();
	/* room for the headings, the line about what is left out, and the cursor */
	unsigned int used = 3, shown;

	/* with names that are usually shorter, all columns fit 80 characters */
	if (screen.columns) {
		columns[DEV].width = -5;
		for (size_t i = 0; i < look->count; i++)
			columns[DEV].width = MIN(columns[DEV].width,
						 -(int)strlen(look->samples[i].dev));
	}
	shown = screen_fit(&screen, columns, COLUMNS);
	screen_row(&screen, columns, COLUMNS, shown, NULL);
	for (size_t i = 0; i < look->count; i++) {
		const struct port_sample *s = &look->samples[i];
		const struct port_sample *old = port_look_find(before, s) ?: s;

		if (is_idle(s, old))
			continue;
		if (screen.lines && ++used > screen.lines) {
			printf("...\n");
			break;
		}
		print_text(&screen, columns, shown, s, old, seconds);
	}
	screen_end(&screen);
}

static void print_array(const struct port_look *look, const struct port_look *before,
			double seconds)
{
	json_open_array(NULL);
	for (size_t i = 0; i < look->count; i++) {
		const struct port_sample *s = &look->samples[i];
		const struct port_sample *old = port_look_find(before, s) ?: s;

		if (!is_idle(s, old))
			print_json(s, old, seconds);
	}
	json_close_array();
}

static void print_look(const struct port_look *look, const struct port_look *before)
{
	double seconds = (look->time - before->time) / (double)NSEC_PER_SEC;

	if (option_json)
		print_array(look, before, seconds);
	else
		print_table(look, before, seconds);
}

static void watch(const char *dev, uint64_t interval, unsigned long count)
{
	struct port_look old = port_look(dev), new;
	uint64_t due = old.time;

	/* of an array for each look */
	if (option_json)
		json_open_array(NULL);
	while (clock_wait(due += interval)) {
		new = port_look(dev);
		if (new.time > due + interval)
			due = new.time;
		print_look(&new, &old);
		port_look_free(&old);
		old = new;
		if (ferror(stdout) || (count && !--count))
			break;
	}
	if (option_json)
		json_close_array();
	port_look_free(&old);
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
			count = arg_count(optarg);
	}
	dev = arg_dev(argv + optind);
	/* JSON is printed when it is complete */
	if (option_json && !count)
		fail("port watch: -j needs -n COUNT");
	clock_end_on_signals();
	watch(dev, interval, count);
	return EXIT_SUCCESS;
}
