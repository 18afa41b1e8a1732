/* SPDX-License-Identifier: GPL-2.0 */
/* How a host is connected: routes, neighbours, devices, and what IP and UDP count. See host.c. */
#ifndef HOST_H
#define HOST_H

#include "facts.h"

bool host_has(const char *dev);
void host_counters(struct facts *facts, enum fact_moment moment);
void host_routes(struct facts *facts, const struct in6_addr *peers, int num_peers);
void host_link(struct fact_dev *dev);
void host_cm(struct fact_dev *dev);
void host_neighbours(struct fact_dev *dev);
void host_failed_qps(struct fact_dev *dev, bool again);

#endif /* HOST_H */
