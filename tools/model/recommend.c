// SPDX-License-Identifier: GPL-2.0
/*
 * Thresholds that we recommend. Rules, which Documentation/model.rst explains and
 * the simulator has tried:
 *
 *   Kmin	BDP / 6, for DCTCP keeps a link full with a seventh; at least 5 packets
 *   Kmax	BDP, at least 50 packets; below PFC by a third and a round trip
 *   Pmax	so that the fluid model's p for twice as many flows is half of it
 *   xOFF	Kmax and a third, and a round trip, as if one port brought in everything; when several
 *		are full, alpha pauses them earlier
 *   xON	a round trip of the cable and three frames below xOFF
 */
#include "number.h"
#include "parts.h"

#define KMIN_PACKETS	5
#define KMIN_SHARE	6	/* of the BDP, a sixth */
#define KMAX_PACKETS	50
#define XOFF_OVER_KMAX	(4.0 / 3)
#define XON_FRAMES	3
#define CHANCE		1.35	/* times as many marks for a flow that is marked at random */

/**
 * parts_fluid() - the fluid model's view
 * @in: load
 * @out: path and curve
 */
struct fluid parts_fluid(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out) * 1e6;

	return (struct fluid) {
		.flow_packets = speed / out->packet_bytes / in->flows,
		.packet_bytes = out->packet_bytes,
		.rtt_s = out->rtt_us * 1e-6,
		.speed_bytes = speed,
		.cnp_s = parts_cnp_us(in) * 1e-6,
		.kmin_bytes = out->kmin_bytes,
		.kmax_bytes = out->kmax_bytes,
		.pmax_share = out->pmax_share,
	};
}

static double best_pmax(const struct dcqcn_model_input *in, const struct senders *senders,
			const struct dcqcn_model_output *out)
{
	static const double choice[] = { 0.1, 0.2, 0.5 };
	struct fluid fluid = parts_fluid(in, out);
	size_t i;

	fluid.flow_packets /= 2;
	fluid.cnp_s *= 2;
	fluid.kmin_bytes = out->best_kmin_bytes;
	fluid.kmax_bytes = out->best_kmax_bytes;
	for (i = 0; i < sizeof(choice) / sizeof(choice[0]); i++) {
		fluid.pmax_share = choice[i];
		if (2 * CHANCE * fluid_fixed_point(&fluid, senders) <= choice[i])
			return choice[i];
	}
	return 1;
}

/* What a port may hold at most, whatever xOFF says */
static double port_room(const struct dcqcn_model_input *in,
			const struct dcqcn_model_output *out)
{
	return in->pfc ? out->dynamic_xoff_bytes : out->shared_bytes;
}

/**
 * recommend() - what thresholds should be
 * @in: the fabric
 * @senders: their knobs
 * @out: path and headroom are known; best_* are set
 */
void recommend(const struct dcqcn_model_input *in, const struct senders *senders,
	       struct dcqcn_model_output *out)
{
	double ports = parts_groups(in), room = port_room(in, out);
	double cable = 2 * parts_cable_us(in) * in->speed_bps / 8e6;
	double most;

	out->best_kmin_bytes = number_nice(number_max(KMIN_PACKETS * out->packet_bytes,
						      out->bdp_bytes / KMIN_SHARE));
	out->best_kmax_bytes = number_nice(number_max(KMAX_PACKETS * out->packet_bytes,
						      out->bdp_bytes));
	/* what all ports hold together, when one of them pauses or loses */
	most = (room * (in->pfc ? ports : 1) - out->bdp_bytes) / XOFF_OVER_KMAX;
	out->best_kmax_bytes = number_max(number_min(out->best_kmax_bytes, most),
					  2 * out->packet_bytes);
	out->best_kmin_bytes = number_min(out->best_kmin_bytes, out->best_kmax_bytes / 2);
	if (in->pfc) {
		out->best_xoff_bytes = number_min(parts_port_room(in, out, 1),
						  XOFF_OVER_KMAX * out->best_kmax_bytes +
						  out->bdp_bytes);
		out->best_xon_bytes = number_max(out->best_xoff_bytes - cable -
						 XON_FRAMES * out->frame_bytes,
						 out->best_xoff_bytes / 2);
	}
	out->best_pmax_share = best_pmax(in, senders, out);
}
