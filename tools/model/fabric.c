// SPDX-License-Identifier: GPL-2.0
/*
 * What cables and switches give: round trip, headroom.
 *
 * Headroom is what still arrives after the decision to pause, and the terms of
 * IEEE 802.3 and 802.1Q (annex on PFC): a frame that has just begun before the
 * pause at either end, the pause itself, both directions of the cable, and what
 * the peer may take to respond, in quanta of 512 bit times of that link (802.3
 * clauses 31B and, by speed, those of its physical layer).
 */
#include "number.h"
#include "parts.h"

#define PAUSE_BYTES	84	/* 64, preamble and gap */
#define QUANTUM_BYTES	64	/* 512 bit times, at any speed */
#define TIGHT		1.1	/* times what is needed: less has no margin */

/* What a peer may take to respond. We know no figure for 800 Gb/s and more, and take twice
 * that of half the speed.
 */
static const struct {
	double speed_bps;
	double quanta;
} responses[] = {
	{ 1e9, 2 }, { 10e9, 67 }, { 25e9, 80 }, { 40e9, 118 }, { 100e9, 394 }, { 200e9, 453 },
	{ 400e9, 905 }, { 800e9, 1810 }, { 1600e9, 3620 },
};

/**
 * parts_uplinks() - ports that lead to other switches, by which flows come in; 0: hosts' ports
 * @in: the number; AUTO: as many of a leaf's ports as carry what its hosts send, and more than
 *	the congested link
 */
double parts_uplinks(const struct dcqcn_model_input *in)
{
	double bps = parts_uplink_bps(in);

	if (in->uplinks != DCQCN_MODEL_AUTO)
		return in->uplinks;
	if (in->tiers == 1)
		return 0;
	return number_max(number_floor(in->ports * in->speed_bps / (in->speed_bps + bps)),
			  number_floor(in->speed_bps / bps) + 1);
}

/* The port by which flows come in: an uplink's, or a host's */
static double port_bps(const struct dcqcn_model_input *in)
{
	return parts_uplinks(in) ? parts_uplink_bps(in) : in->speed_bps;
}

/**
 * parts_cable_us() - one way on the cable of such a port
 * @in: cables
 */
double parts_cable_us(const struct dcqcn_model_input *in)
{
	return (parts_uplinks(in) && in->tiers > 1 ? in->spine_cable_m : in->cable_m) *
	       NS_PER_M / 1000;
}

/* What comes in anyway until a pause has crossed the cable */
static double cable_bytes(double bps, double cable_us)
{
	return 2 * cable_us * (bps / 8e6);
}

static double frames_bytes(const struct dcqcn_model_input *in)
{
	return 2 * (in->mtu_bytes + HEADER_BYTES + WIRE_BYTES);
}

static double response_bytes(const struct dcqcn_model_input *in, double bps)
{
	size_t i, last = sizeof(responses) / sizeof(responses[0]) - 1;

	if (in->stop_us != DCQCN_MODEL_AUTO)
		return number_max(0, in->stop_us * port_bps(in) / 8e6 -
				     cable_bytes(port_bps(in), parts_cable_us(in)) -
				     frames_bytes(in) - PAUSE_BYTES) * bps / port_bps(in);
	if (in->response_quanta != DCQCN_MODEL_AUTO)
		return in->response_quanta * QUANTUM_BYTES;
	for (i = 0; i < last && responses[i].speed_bps < bps; i++)
		;
	return responses[i].quanta * QUANTUM_BYTES;
}

/**
 * parts_response_us() - until a sender obeys a pause that has arrived
 * @in: quanta, if they are given
 * @bps: of the link between them: a host's, or an uplink's
 */
double parts_response_us(const struct dcqcn_model_input *in, double bps)
{
	return response_bytes(in, bps) * 8e6 / bps;
}

static double frame_us(const struct dcqcn_model_output *out, double bps)
{
	return out->frame_bytes * 8e6 / bps;
}

/* Links, a full packet's time on each of them, and switches */
static double rtt_us(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	double cables = 2 * in->cable_m, packet = 2 * frame_us(out, in->speed_bps);

	if (in->tiers > 1) {
		cables += 2 * in->spine_cable_m;
		packet += 2 * frame_us(out, parts_uplink_bps(in));
	}
	if (in->tiers > 2) {
		cables += 2 * in->core_cable_m;
		packet += 2 * frame_us(out, in->core_speed_bps ? in->core_speed_bps :
								 in->speed_bps);
	}
	return 2 * (cables * NS_PER_M / 1000 + (2 * in->tiers - 1) * in->switch_delay_us) +
	       packet + in->host_delay_us;
}

/**
 * path_solve() - round trip, and lengths of packets
 * @in: the fabric
 * @out: set
 */
void path_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	out->packet_bytes = in->mtu_bytes + HEADER_BYTES;
	out->frame_bytes = out->packet_bytes + WIRE_BYTES;
	out->rtt_us = in->rtt_us == DCQCN_MODEL_AUTO ? rtt_us(in, out) : in->rtt_us;
	out->bdp_bytes = in->speed_bps / 8e6 * out->rtt_us;
	out->uplinks = parts_uplinks(in);
}

/**
 * parts_headroom() - what a port sets aside for what arrives after a pause
 * @in: given, or what it is computed from
 * @bps: of its link
 * @cable_us: one way
 */
double parts_headroom(const struct dcqcn_model_input *in, double bps, double cable_us)
{
	return in->headroom_bytes != DCQCN_MODEL_AUTO ? in->headroom_bytes :
	       number_ceil(TIGHT * (frames_bytes(in) + PAUSE_BYTES + cable_bytes(bps, cable_us) +
				    response_bytes(in, bps)));
}

/**
 * headroom_solve() - headroom, and what it leaves of the buffer
 * @in: the fabric
 * @out: set
 */
void headroom_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	out->shared_bytes = in->buffer_bytes;
	if (!in->pfc)
		return;
	out->headroom_frames_bytes = frames_bytes(in);
	out->headroom_pause_bytes = PAUSE_BYTES;
	out->headroom_cable_bytes = cable_bytes(port_bps(in), parts_cable_us(in));
	out->headroom_response_bytes = response_bytes(in, port_bps(in));
	out->headroom_needed_bytes = out->headroom_frames_bytes + out->headroom_pause_bytes +
				     out->headroom_cable_bytes + out->headroom_response_bytes;
	out->headroom_bytes = parts_headroom(in, port_bps(in), parts_cable_us(in));
	out->headroom_left_bytes = out->headroom_bytes - out->headroom_needed_bytes;
	out->headroom_state = out->headroom_left_bytes < 0 ? DCQCN_MODEL_HEADROOM_SHORT :
			      out->headroom_bytes < TIGHT * out->headroom_needed_bytes ?
			      DCQCN_MODEL_HEADROOM_TIGHT : DCQCN_MODEL_HEADROOM_SAFE;
	out->headroom_total_bytes = (out->headroom_bytes + in->reserve_bytes) * in->ports *
				    in->lossless;
	out->shared_bytes = number_max(0, in->buffer_bytes - out->headroom_total_bytes);
	out->dynamic_xoff_bytes = parts_port_room(in, out, parts_groups(in));
}

/**
 * parts_port_room() - what a port with PFC may hold, whatever its xOFF is
 * @in: the fabric
 * @out: buffer that is left to share
 * @full: ports that hold so much at the same time
 */
double parts_port_room(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		       double full)
{
	if (!in->alpha)
		return in->reserve_bytes + out->shared_bytes / parts_groups(in);
	return in->reserve_bytes + in->alpha * out->shared_bytes / (1 + in->alpha * full);
}
