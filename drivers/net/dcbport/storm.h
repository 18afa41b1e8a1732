/* SPDX-License-Identifier: GPL-2.0 */
/* Finds PFC storms. See storm.c. */
#ifndef DCBPORT_STORM_H
#define DCBPORT_STORM_H

#include "port.h"

/**
 * struct dcbport_storm_count - what happened during storms
 * @out: packets of the class that were sent
 * @dropped: packets of the class that the watchdog dropped
 * @in: incoming packets of the priority that were let through
 * @in_dropped: incoming packets of the priority that were dropped
 */
struct dcbport_storm_count {
	u64 out;
	u64 dropped;
	u64 in;
	u64 in_dropped;
};

/**
 * struct dcbport_storm - storms of a class and of the priority with the same number
 * @out: packets of the class that were sent during storms that have ended
 * @out_before: its packets that had been sent when its last storm began
 * @before: what had happened in storms by then
 * @in: packets of the priority that came in during storms, and were let through
 * @in_dropped: packets of the priority that came in during storms, and were dropped
 *
 * Not part of the class, because it is used only in storms.
 */
struct dcbport_storm {
	u64 out;
	u64 out_before;
	struct dcbport_storm_count before;
	atomic64_t in;
	atomic64_t in_dropped;
};

int dcbport_storm_setup(struct dcbport *port);
void dcbport_storm_free(struct dcbport *port);
struct dcbport_storm_count dcbport_storm_read(const struct dcbport *port, u8 n,
					      struct dcbport_storm_count *last);
void dcbport_storm_apply(struct dcbport *port);
void dcbport_storm_end(struct dcbport *port, u8 tc);
void dcbport_storm_watch(struct dcbport *port, u64 now);

#endif /* DCBPORT_STORM_H */
