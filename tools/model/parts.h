/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the model tell each other. */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include "fluid.h"
#include "model.h"
#include "senders.h"

#define NS_PER_M	5.0	/* light in fibre, and about the same in copper */
#define WIRE_BYTES	24	/* preamble, FCS, gap: what memory does not hold */
#define HEADER_BYTES	58	/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4 */

/* Bytes of memory that leave per us */
static inline double parts_speed(const struct dcqcn_model_input *in,
				 const struct dcqcn_model_output *out)
{
	return in->speed_bps / 8e6 * out->packet_bytes / out->frame_bytes;
}

/* Of an uplink */
static inline double parts_uplink_bps(const struct dcqcn_model_input *in)
{
	return in->spine_speed_bps ? in->spine_speed_bps : in->speed_bps;
}

double parts_uplinks(const struct dcqcn_model_input *in);

/* Hosts that the flows come from */
static inline double parts_hosts(const struct dcqcn_model_input *in)
{
	return in->senders && in->senders < in->flows ? in->senders : in->flows;
}

/* Between two CNPs of a flow, where all of them use up what the receiver's port may send */
static inline double parts_cnp_us(const struct dcqcn_model_input *in)
{
	return in->cnp_cap ? in->flows * 1e6 / in->cnp_cap : 0;
}

/* Ports by which the flows come in */
static inline double parts_groups(const struct dcqcn_model_input *in)
{
	double hosts = parts_hosts(in), uplinks = parts_uplinks(in);
	double ports = uplinks ? uplinks : hosts;

	return ports < hosts ? ports : hosts;
}

double parts_port_room(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		       double full);
struct fluid parts_fluid(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out);
double parts_headroom(const struct dcqcn_model_input *in, double bps, double cable_us);
double parts_cable_us(const struct dcqcn_model_input *in);
double parts_response_us(const struct dcqcn_model_input *in, double bps);

void path_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out);
void headroom_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out);
void recommend(const struct dcqcn_model_input *in, const struct senders *senders,
	       struct dcqcn_model_output *out);
void tiers_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		 struct dcqcn_model_output *out);
void burst_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out);
void arrivals_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out);
void hops_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		struct dcqcn_model_output *out);
void findings_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		    const struct dcqcn_model_output *out);

#endif /* MODEL_PARTS_H */
