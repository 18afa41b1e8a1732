/* SPDX-License-Identifier: GPL-2.0 */
/* The DCBX settings of the device at the other end of a link. See neighbour.c. */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "dcb.h"

struct neighbour {
	bool ieee;			/* it speaks IEEE 802.1Qaz */
	bool cee;			/* it speaks CEE, the draft before */
	bool has_pfc;
	uint8_t pfc;			/* priorities, one bit each */
	struct dcb_app_table app;
};

void neighbour_ask(const char *dev, struct neighbour *n);

#endif /* NEIGHBOUR_H */
