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

/* What a path asks for; the buffer may not have it */
static void best_curve(struct dcqcn_model_output *out)
{
	out->best_kmin_bytes = number_nice(number_max(KMIN_PACKETS * out->packet_bytes,
						      out->bdp_bytes / KMIN_SHARE));
	out->best_kmax_bytes = number_nice(number_max(KMAX_PACKETS * out->packet_bytes,
						      out->bdp_bytes));
}

/* With which one port alone may hold what marks need: the opposite of parts_port_room() */
static double shared_for(const struct dcqcn_model_input *in, double room)
{
	if (!in->pfc)
		return room;
	room = number_max(0, room - in->reserve_bytes);
	return in->alpha ? room * (1 + in->alpha) / in->alpha : room * parts_groups(in);
}

/* A tier's thresholds are those of its own links; where they are graduated, the higher ones mark
 * later and less, so that a packet which passes all of them is not marked three times as often
 */
static void solve_tier(struct dcqcn_model_input in, const struct senders *senders,
		       struct dcqcn_model_output out, double bps, double headroom,
		       const double times[3], double tier[4])
{
	in.speed_bps = bps;
	out.bdp_bytes = bps / 8e6 * out.rtt_us;
	best_curve(&out);
	tier[0] = out.best_kmin_bytes * times[0];
	tier[1] = out.best_kmax_bytes * times[1];
	tier[2] = best_pmax(&in, senders, &out) * times[2];
	tier[3] = shared_for(&in, XOFF_OVER_KMAX * tier[1] + out.bdp_bytes);
	if (in.pfc)
		tier[3] += (headroom + in.reserve_bytes) * in.ports * in.lossless;
}

/**
 * tiers_solve() - thresholds of each tier, and the buffer that they need
 * @in: the fabric
 * @senders: their knobs
 * @out: path is known; leaf_*, spine_* and core_* are set
 */
void tiers_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		 struct dcqcn_model_output *out)
{
	static const double times[3][3] = { { 1, 1, 1 }, { 1.5, 1.2, 0.75 }, { 2, 1.5, 0.5 } };
	const double bps[3] = { in->speed_bps, parts_uplink_bps(in),
				in->core_speed_bps ? in->core_speed_bps : in->speed_bps };
	const double cable_m[3] = { in->cable_m, in->spine_cable_m, in->core_cable_m };
	double *tier = &out->leaf_kmin_bytes, headroom[4] = {};
	size_t i;

	for (i = 0; i < in->tiers; i++)
		headroom[i] = parts_headroom(in, bps[i], cable_m[i] * NS_PER_M / 1000);
	/* a switch has ports to the tier below and above */
	for (i = 0; i < in->tiers; i++, tier += 4)
		solve_tier(*in, senders, *out, bps[i], number_max(headroom[i], headroom[i + 1]),
			   times[in->graduated ? i : 0], tier);
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

	best_curve(out);
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
