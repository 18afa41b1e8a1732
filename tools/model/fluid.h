/* SPDX-License-Identifier: GPL-2.0 */
/* The fixed point of the fluid model. See fluid.c. */
#ifndef MODEL_FLUID_H
#define MODEL_FLUID_H

#include "senders.h"

/**
 * struct fluid - N flows that share a link
 * @flow_packets: packets/s of each
 * @packet_bytes: of a packet
 * @rtt_s: round trip without queues
 * @speed_bytes: of the link, per second
 * @cnp_s: between two CNPs of a flow at least, whatever the knobs say
 * @kmin_bytes: Kmin
 * @kmax_bytes: Kmax
 * @pmax_share: Pmax
 */
struct fluid {
	double flow_packets;
	double packet_bytes;
	double rtt_s;
	double speed_bytes;
	double cnp_s;
	double kmin_bytes;
	double kmax_bytes;
	double pmax_share;
};

double fluid_balance(double p, const struct fluid *fl, const struct senders *s);
double fluid_fixed_point(const struct fluid *fluid, const struct senders *senders);

#endif /* MODEL_FLUID_H */
