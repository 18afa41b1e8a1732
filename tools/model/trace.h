/* SPDX-License-Identifier: GPL-2.0 */
/* N flows, a queue and time. See trace.c. */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include <rdma/dcqcn_cc.h>

#include "curve.h"
#include "flows.h"
#include "senders.h"

/**
 * struct trace_setup - what is simulated; times in ns, bytes in a switch's memory
 * @senders: knobs
 * @ops: what flows obey; NULL for DCQCN
 * @curve: of marks
 * @flow_bounds: and what the number of flows does to it
 * @cnp_gap: least time between two CNPs of all flows
 * @flows: at most DCQCN_MODEL_FLOWS_MAX
 * @hosts: that they come from, at most as many
 * @groups: ports by which they come in, at most as many
 * @uplinks: these ports lead to switches, not to hosts
 * @line_bps: of a sender
 * @speed: bytes/ns that leave
 * @uplink_bps: of an uplink
 * @packet: bytes of a packet
 * @frame: and on the wire
 * @rtt: without queue
 * @cable: one way, from a sender to its switch
 * @uplink_cable: one way, from there to the next switch
 * @response: how long a paused sender takes to stop
 * @uplink_response: and a paused uplink
 * @window: bytes in flight of a flow; 0: no limit
 * @host_queue: bytes of a flow that may wait in its host
 * @ack: bytes after which a flow asks for an ACK
 * @message: packets of a message, whose last one asks, too; 0: endless
 * @timeout: after which a flow repeats a loss that nothing told it about; 0: it repeats nothing
 * @stagger: between starts
 * @sample: how often the marker looks; 0: at each packet
 * @lossless: there is PFC
 * @reserve: bytes of a port, which it does not share; with PFC
 * @xoff: bytes of a port; with PFC
 * @xon: the same
 * @pool: bytes that ports share
 * @alpha: of what is free of it; 0: all of it
 * @duration: the second half is measured
 * @packets: at most; if they arrive earlier, the second half of them is measured
 * @seed: of random numbers
 */
struct trace_setup {
	struct senders senders;
	const struct dcqcn_cc_ops *ops;
	struct dcbport_curve curve;
	struct dcbport_flow_bounds flow_bounds;
	double cnp_gap;
	size_t flows;
	size_t hosts;
	size_t groups;
	bool uplinks;
	double line_bps;
	double speed;
	double uplink_bps;
	double packet;
	double frame;
	double rtt;
	double cable;
	double uplink_cable;
	double response;
	double uplink_response;
	double window;
	double host_queue;
	double ack;
	double message;
	double timeout;
	double stagger;
	double sample;
	bool lossless;
	double reserve;
	double xoff;
	double xon;
	double pool;
	double alpha;
	double duration;
	size_t packets;
	double seed;
};

/**
 * struct trace_result - what came of it, after the start unless said otherwise
 * @packets: that came in
 * @begin: ns; here the start ends
 * @duration: ns; less than was asked for if there were not enough of them
 * @marked_share: of packets
 * @used_share: of the link's time
 * @queue_mean: bytes
 * @queue_p5: longer for 95 % of the time
 * @queue_p95: for 5 %
 * @queue_p99: for 1 %
 * @queue_max: the longest
 * @start_peak: the longest in the start
 * @below_kmin_share: of the time
 * @above_kmax_share: of the time
 * @period: ns from swing to swing; 0: there are not two
 * @flow_rate: bytes/ns, mean
 * @jain: of the flows' rates
 * @cnps_per_s: of all flows
 * @frames_per_s: PFC frames
 * @start_frames: in the start
 * @paused_share: of the ports' time
 * @lost: bytes
 * @start_lost: bytes, in the start
 */
struct trace_result {
	double packets;
	double begin;
	double duration;
	double marked_share;
	double used_share;
	double queue_mean;
	double queue_p5;
	double queue_p95;
	double queue_p99;
	double queue_max;
	double start_peak;
	double below_kmin_share;
	double above_kmax_share;
	double period;
	double flow_rate;
	double jain;
	double cnps_per_s;
	double frames_per_s;
	double start_frames;
	double paused_share;
	double lost;
	double start_lost;
};

void trace_run(const struct trace_setup *setup, struct trace_result *result);
size_t trace_samples(const struct dcqcn_model_sample **samples);

#endif /* MODEL_TRACE_H */
