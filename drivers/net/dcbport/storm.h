/* SPDX-License-Identifier: GPL-2.0 */
/* Finds pauses without end. See storm.c. */
#ifndef DCBPORT_STORM_H
#define DCBPORT_STORM_H

#include "port.h"

struct dcbport_storm_count dcbport_storm_read(const struct dcbport *port, u8 n,
					      struct dcbport_storm_count *last);
void dcbport_storm_apply(struct dcbport *port);
void dcbport_storm_end(struct dcbport *port, u8 tc);
void dcbport_storm_watch(struct dcbport *port, u64 now);

#endif /* DCBPORT_STORM_H */
