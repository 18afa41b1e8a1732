/* SPDX-License-Identifier: GPL-2.0 */
/* Finds pauses without end. See storm.c. */
#ifndef DCBPORT_STORM_H
#define DCBPORT_STORM_H

#include "port.h"

void dcbport_storm_end(struct dcbport_class *class);
void dcbport_storm_watch(struct dcbport *port, u64 now);

#endif /* DCBPORT_STORM_H */
