/* SPDX-License-Identifier: GPL-2.0 */
/* What the classes of ports have done so far. See port_look.c. */
#ifndef PORT_LOOK_H
#define PORT_LOOK_H

#include <stddef.h>
#include <stdint.h>

#define PORT_NAME_LEN	16

/* Bytes sent and queued; packets marked and lost; us paused; PFC frames received that pause, and
 * sent that pause or resume
 */
enum { PORT_OUT, PORT_QUEUE, PORT_MARKED, PORT_LOST, PORT_PAUSED, PORT_HEARD, PORT_SAID, PORT_FIGURES };

/* Of a class */
struct port_sample {
	char dev[PORT_NAME_LEN];
	int prio;
	uint64_t value[PORT_FIGURES];
};

/* One look at all of them */
struct port_look {
	uint64_t time;
	struct port_sample *samples;
	size_t count;
};

struct port_look port_look(const char *dev);
void port_look_free(struct port_look *look);
const struct port_sample *port_look_find(const struct port_look *look,
					 const struct port_sample *s);

#endif /* PORT_LOOK_H */
