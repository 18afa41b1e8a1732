/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that show which sizes reach the peer. See probe.c. */
#ifndef PROBE_H
#define PROBE_H

#include "facts.h"

/* Each size is sent so often */
#define PROBE_ROUNDS	4

struct probe {
	int fd;
	bool ip6;
	unsigned int mtu;
};

struct probes {
	struct probe to[FACTS_ROUTES];
	int num;
};

void probe_open(struct probes *probes, const struct facts *facts);
void probe_send(const struct probes *probes);
void probe_close(struct probes *probes);

#endif /* PROBE_H */
