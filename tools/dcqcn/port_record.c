// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port record: what the classes of ports do over time, as CSV, with a line per
 * sample and class, for classes that were ever active.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "port_look.h"
#include "record.h"

static const char * const columns[PORT_FIGURES] = {
	[PORT_OUT] = "out_bytes",
	[PORT_QUEUE] = "queue_bytes",
	[PORT_MARKED] = "marked",
	[PORT_LOST] = "lost",
	[PORT_PAUSED] = "paused_us",
	[PORT_HEARD] = "rx_pause",
	[PORT_SAID] = "tx_pause",
};

static void put_header(void)
{
	printf("time,dev,prio");
	for (int i = 0; i < PORT_FIGURES; i++)
		printf(",%s", columns[i]);
	putchar('\n');
}

static void put_class(uint64_t time, const struct port_sample *s)
{
	uint64_t any = 0;

	for (int i = 0; i < PORT_FIGURES; i++)
		any |= s->value[i];
	if (!any)
		return;
	record_time(time);
	record_name(s->dev);
	printf(",%d", s->prio);
	for (int i = 0; i < PORT_FIGURES; i++)
		printf(",%llu", (unsigned long long)s->value[i]);
	putchar('\n');
}

static void put_ports(uint64_t time, void *dev)
{
	struct port_look look = port_look(dev);

	for (size_t i = 0; i < look.count; i++)
		put_class(time, &look.samples[i]);
	port_look_free(&look);
}

int cmd_port_record(int argc, char **argv)
{
	struct port_look first;
	struct record r;
	const char *dev;

	record_options(&r, argc, argv);
	dev = arg_dev(argv + optind);
	/* do not overwrite an older record if the port does not exist */
	first = port_look(dev);
	port_look_free(&first);
	record_write(&r, put_header, put_ports, (void *)dev);
	return EXIT_SUCCESS;
}
