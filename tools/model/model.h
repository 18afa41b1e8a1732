/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a fabric to Kmin, Kmax, Pmax and xOFF: what thresholds do.
 *
 * A library without I/O, memory allocation or global settings, for the command
 * dcqcn model, its tests, and a page in the browser. See model.c, and
 * Documentation/model.rst for the formulas and their sources.
 *
 * It needs no C library: of the compiler it uses sqrt, floor, ceil and fabs
 * (instructions of WebAssembly, and of any CPU with a square root), and memcpy(),
 * memset() where the compiler calls them. Logarithms and powers are its own, so
 * that all builds give the same bits (with -ffp-contract=off).
 *
 * Everything is a double. Names end in the unit: bps is bit/s, us is
 * microseconds, share is 0 to 1, m is metres; what has none is a number. A word,
 * such as a profile, is its index in the field's list of words. No output is ever
 * NaN or infinite.
 */
#ifndef DCQCN_MODEL_H
#define DCQCN_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Of an input: take what the model recommends, computes, or the profile has */
#define DCQCN_MODEL_AUTO	(-1.0)

#define DCQCN_MODEL_FLOWS_MAX	1024
#define DCQCN_MODEL_SAMPLES	400
#define DCQCN_MODEL_FINDINGS_MAX	16
#define DCQCN_MODEL_TEXT	512	/* room for each text, but a configuration */
#define DCQCN_MODEL_CONFIG_TEXT	4096

/**
 * struct dcqcn_model_input - a fabric, its load and its settings
 * @speed_bps: speed of the congested link
 * @tiers: tiers of switches: 1 leaf, 2 with spine, 3 with super-spine
 * @spine_speed_bps: speed of links from leaf to spine; 0: as @speed_bps
 * @core_speed_bps: speed of links from spine to super-spine; 0: as @speed_bps
 * @cable_m: cable from host to leaf
 * @spine_cable_m: cable from leaf to spine
 * @core_cable_m: cable from spine to super-spine
 * @switch_delay_us: delay of each switch, without its queue
 * @host_delay_us: delay of both ends together, from a packet to its answer
 * @rtt_us: round trip without queues; AUTO: computed from the fabric
 * @mtu_bytes: RoCE payload of a packet
 * @congested_hops: queues that mark on the longest path
 * @flows: flows that share the congested link
 * @senders: hosts that send the flows, which share their hosts' links; 0: one for each flow
 * @uplinks: ports of the congested switch to other switches, by which flows come in; 0: one port
 *	for each sender; AUTO: 0 with one tier, else as many as a leaf needs to carry everything
 *	that its hosts send
 * @window_bytes: bytes that a flow may have in flight; 0: no limit
 * @host_queue_bytes: bytes that a flow queues in its host beyond the limiter: 0 for NICs, 64
 *	packets for soft-RoCE
 * @ack_bytes: bytes after which a flow asks for an ACK, by which profile auto measures its path
 * @message_bytes: size of messages, whose last packets ask for an ACK, too; 0: endless
 * @timeout_us: time after which a flow sends a lost packet again if no NAK reports the loss; 0:
 *	never
 * @stagger_us: time between the flows' starts
 * @burst: preset: none, allreduce, replication, inference, own
 * @burst_bytes: bytes of each sender in a burst; AUTO: the preset's
 * @burst_flows: senders that burst together; AUTO: the preset's
 * @burst_period_us: time from burst to burst; AUTO: the preset's
 * @sizes: sizes of messages that come at random: none, hadoop, storage, websearch
 * @load_share: load of the link by these messages
 * @profile: profile of the senders: auto, mlx5, sigcomm15
 * @algorithm: algorithm of the senders in simulated time: dcqcn, or a pluggable one; results
 *	computed without simulated time are those of DCQCN
 * @max_rate_bps: line rate set at the senders; 0: they measure it
 * @g_share: g; AUTO, here and below: the profile's
 * @gd: a cut takes alpha 1024 / 2^gd of the rate
 * @alpha_period_us: alpha's period; 0, here and below: measured, in units of the path
 * @timer_us: T, the increase timer
 * @byte_counter_bytes: B; 0 is off
 * @recovery_steps: F
 * @ai_bps: R_AI, in whole Mb/s
 * @hai_bps: R_HAI, in whole Mb/s
 * @cnp_interval_us: least time between two CNPs of a flow
 * @cnp_cap: CNPs per second that the receiver's port sends at most; 0: no cap
 * @monitor_us: at most one cut in this time
 * @kmin_bytes: queue up to which no packet is marked; AUTO, here and below: recommended
 * @kmax_bytes: queue above which all packets are marked
 * @pmax_share: probability of a mark at Kmax
 * @graduated: in the recommendation by tier, spine and core get 1.5 and 2 times Kmin, 1.2 and 1.5
 *	times Kmax, and three quarters and half of Pmax: no, yes
 * @buffer_bytes: the switch's memory for this traffic, headroom included
 * @reserve_bytes: buffer that each port and priority with PFC keeps for itself
 * @alpha: share of the pool's free part that one port may take; 0: all
 * @ports: ports of the switch, each of which needs headroom
 * @lossless: priorities with PFC, of which this traffic is one
 * @pfc: whether there is PFC: no, yes
 * @xoff_bytes: bytes held by a port when it pauses its sender; AUTO: recommended
 * @xon_bytes: bytes held by a port when its sender may continue; AUTO: recommended
 * @headroom_bytes: buffer for bytes that arrive after the decision to pause; AUTO: computed
 * @response_quanta: time that the sender takes to pause, in units of 512 bits of the port's own
 *	link, or of an uplink if flows come in by uplinks; AUTO: what 802.3 allows at that link's
 *	speed
 * @stop_us: time from the decision to pause until the peer's last byte came in, measured at a port
 *	by which flows come in. The part that cable and frames do not explain is the peer's
 *	response. AUTO: @response_quanta
 * @flows_min: no marks with fewer flows in the queue; 0: off
 * @flows_max: 1.5 times the marks with more flows; 0: off
 * @sample_us: interval at which the marker reads the queue; 0: at each packet
 * @utilisation_share: wanted utilisation of the link
 * @react_us: time to answer congestion that lasts; 0: no bound
 * @duration_us: simulated time, whose second half is measured; 0: as long as flows need to settle;
 *	shorter if there are too many events
 * @seed: seed of the random numbers
 */
struct dcqcn_model_input {
	/* the fabric */
	double speed_bps;
	double tiers;
	double spine_speed_bps;
	double core_speed_bps;
	double cable_m;
	double spine_cable_m;
	double core_cable_m;
	double switch_delay_us;
	double host_delay_us;
	double rtt_us;
	double mtu_bytes;
	double congested_hops;
	/* the load */
	double flows;
	double senders;
	double uplinks;
	double window_bytes;
	double host_queue_bytes;
	double ack_bytes;
	double message_bytes;
	double timeout_us;
	double stagger_us;
	double burst;
	double burst_bytes;
	double burst_flows;
	double burst_period_us;
	double sizes;
	double load_share;
	/* the senders */
	double profile;
	double algorithm;
	double max_rate_bps;
	double g_share;
	double gd;
	double alpha_period_us;
	double timer_us;
	double byte_counter_bytes;
	double recovery_steps;
	double ai_bps;
	double hai_bps;
	double cnp_interval_us;
	double cnp_cap;
	double monitor_us;
	/* the switch */
	double kmin_bytes;
	double kmax_bytes;
	double pmax_share;
	double graduated;
	double buffer_bytes;
	double reserve_bytes;
	double alpha;
	double ports;
	double lossless;
	double pfc;
	double xoff_bytes;
	double xon_bytes;
	double headroom_bytes;
	double response_quanta;
	double stop_us;
	double flows_min;
	double flows_max;
	double sample_us;
	/* what is wanted */
	double utilisation_share;
	double react_us;
	/* how it is computed */
	double duration_us;
	double seed;
};

/**
 * struct dcqcn_model_output - recommendations and predictions
 * @rtt_us: round trip without queues
 * @bdp_bytes: bytes that the path holds: speed times round trip
 * @packet_bytes: size of a full packet in a switch's memory
 * @frame_bytes: size of a full packet on the wire
 * @uplinks: uplinks in use
 * @kmin_bytes: Kmin in use: the given value, or else the recommended one
 * @kmax_bytes: the same
 * @pmax_share: the same
 * @xoff_bytes: the same; 0 without PFC, here and below
 * @xon_bytes: the same
 * @headroom_bytes: the same
 * @best_kmin_bytes: recommended value, whatever was given
 * @best_kmax_bytes: the same
 * @best_pmax_share: the same
 * @best_xoff_bytes: the same
 * @best_xon_bytes: the same
 * @leaf_kmin_bytes: recommended value for a leaf's ports to hosts, whatever its buffer is
 * @leaf_kmax_bytes: the same
 * @leaf_pmax_share: the same
 * @leaf_buffer_bytes: buffer that a leaf needs for these values, with headroom
 * @spine_kmin_bytes: recommended value for a spine's ports to leaves; 0 if there is no spine, here
 *	and below
 * @spine_kmax_bytes: the same
 * @spine_pmax_share: the same
 * @spine_buffer_bytes: buffer that a spine needs
 * @core_kmin_bytes: recommended value for a super-spine's ports to spines
 * @core_kmax_bytes: the same
 * @core_pmax_share: the same
 * @core_buffer_bytes: buffer that a super-spine needs
 * @kmin_drain_us: how long a queue of Kmin takes to drain
 * @kmax_drain_us: how long a queue of Kmax takes
 * @xoff_drain_us: how long a queue of xOFF takes
 * @kmin_buffer_share: Kmin's part of the buffer
 * @kmax_buffer_share: Kmax's part
 * @headroom_frames_bytes: frames that have begun at both ends
 * @headroom_pause_bytes: the pause frame
 * @headroom_cable_bytes: both directions of the cable
 * @headroom_response_bytes: bytes until the sender obeys
 * @headroom_needed_bytes: sum of these
 * @headroom_left_bytes: given minus needed
 * @headroom_state: none (no PFC), safe, tight, short
 * @headroom_total_bytes: headroom and reserve of all ports and priorities
 * @shared_bytes: part of the buffer that is left to share
 * @dynamic_xoff_bytes: bound of a port by @alpha, when all of them are full
 * @fluid_p_share: fixed point of the fluid model: probability of a mark
 * @fluid_queue_bytes: queue at which the curve has this probability; Kmax if there is none
 * @fluid_above: no queue up to Kmax has this probability: no, yes
 * @marked_share: share of packets that are marked; in simulated time, here and below
 * @queue_mean_bytes: mean queue
 * @queue_p5_bytes: the queue is longer for 95 % of the time
 * @queue_p95_bytes: longer for 5 % of the time
 * @queue_p99_bytes: longer for 1 % of the time
 * @queue_max_bytes: longest queue, after the start
 * @utilisation_share: share of the link that is used
 * @flow_bps: mean rate of a flow
 * @jain: fairness index of the flows' rates
 * @cnps_per_s: CNPs of all flows
 * @below_kmin_share: share of the time in which nothing is marked
 * @above_kmax_share: share of the time in which everything is marked
 * @swing_bytes: from @queue_p5_bytes to @queue_p95_bytes
 * @swing_rtts: from swing to swing, in round trips with the mean queue
 * @brake_bytes: how far the queue grows from a mark to slower packets
 * @brake_room_bytes: from Kmax to where PFC fires; 0 without PFC
 * @brake: whether this growth makes PFC fire: none, may, will
 * @start_line_bytes: bytes that flows starting at line rate put into the buffer before the first
 *	cut
 * @start_auto_bytes: the same with the start of profile auto
 * @start_peak_bytes: the longest queue of the start, in simulated time
 * @pfc_per_s: PFC frames, after the start
 * @paused_share: share of the time that senders are paused, after the start
 * @lost_bytes: bytes lost in total
 * @start_lost_bytes: bytes lost in the start
 * @state_pfc: PFC fires: none, start, always
 * @state_loss: packets are lost: none, start, always
 * @state_used: the link is: full, under-used
 * @state_queue: the queue: steady, swings
 * @agree_share: share of runs that have exactly these verdicts
 * @any_share: a packet is marked on one of @congested_hops queues, each of which
 *	marks @marked_share
 * @amplification: @any_share over @marked_share
 * @graduated_pmax_share: Pmax for each of these queues that reduces @any_share to @marked_share
 * @graduated_kmax_bytes: Kmax that does the same with the given Pmax
 * @long_share: rate of a flow over all of these queues divided by that of a flow over one; 0:
 *	unknown, as with knobs that follow the path
 * @burst_us: time in which a burst comes in
 * @burst_queue_bytes: queue that a burst builds up, on top of the mean
 * @burst_seen_share: share of bursts that the marker sees
 * @burst_late_us: how long after its end the first slower packet comes; negative:
 *	before
 * @burst_late_share: share of CNPs that come after the burst
 * @burst_flows_min: flows_min with which such bursts are not marked; 0: none is
 *	needed
 * @reaction_us: time from lasting congestion to slower packets
 * @arrivals_flows: messages in progress, exceeded for at most 5 % of the time; 0 without @sizes, here
 *	and below
 * @arrivals_false_share: share of these messages that get a CNP after their end
 * @best_sample_us: sampling interval with which there are fewest of these, if lasting congestion is
 *	to be answered within @react_us, or within 50 us
 * @best_flows_min: flows_min; fewer messages seldom congest the link for so long; 0: off
 * @best_flows_max: flows_max; as @arrivals_flows, and at least @best_flows_min and 1
 * @best_false_share: share of messages that get a CNP after their end with these values
 * @runs: number of runs, each with other random numbers
 * @packets: packets of each run, in simulated time
 * @settle_us: time in which flows settle, if they start at once
 * @start_us: time of the start, which is not measured
 * @duration_us: simulated time
 */
struct dcqcn_model_output {
	/* the path */
	double rtt_us;
	double bdp_bytes;
	double packet_bytes;
	double frame_bytes;
	double uplinks;
	/* thresholds in use */
	double kmin_bytes;
	double kmax_bytes;
	double pmax_share;
	double xoff_bytes;
	double xon_bytes;
	double headroom_bytes;
	/* recommended */
	double best_kmin_bytes;
	double best_kmax_bytes;
	double best_pmax_share;
	double best_xoff_bytes;
	double best_xon_bytes;
	/* by tier */
	double leaf_kmin_bytes;
	double leaf_kmax_bytes;
	double leaf_pmax_share;
	double leaf_buffer_bytes;
	double spine_kmin_bytes;
	double spine_kmax_bytes;
	double spine_pmax_share;
	double spine_buffer_bytes;
	double core_kmin_bytes;
	double core_kmax_bytes;
	double core_pmax_share;
	double core_buffer_bytes;
	/* what they mean */
	double kmin_drain_us;
	double kmax_drain_us;
	double xoff_drain_us;
	double kmin_buffer_share;
	double kmax_buffer_share;
	/* headroom */
	double headroom_frames_bytes;
	double headroom_pause_bytes;
	double headroom_cable_bytes;
	double headroom_response_bytes;
	double headroom_needed_bytes;
	double headroom_left_bytes;
	double headroom_state;
	double headroom_total_bytes;
	double shared_bytes;
	double dynamic_xoff_bytes;
	/* the operating point */
	double fluid_p_share;
	double fluid_queue_bytes;
	double fluid_above;
	double marked_share;
	double queue_mean_bytes;
	double queue_p5_bytes;
	double queue_p95_bytes;
	double queue_p99_bytes;
	double queue_max_bytes;
	double utilisation_share;
	double flow_bps;
	double jain;
	double cnps_per_s;
	/* stability */
	double below_kmin_share;
	double above_kmax_share;
	double swing_bytes;
	double swing_rtts;
	/* braking distance */
	double brake_bytes;
	double brake_room_bytes;
	double brake;
	/* the start */
	double start_line_bytes;
	double start_auto_bytes;
	double start_peak_bytes;
	/* pauses and losses */
	double pfc_per_s;
	double paused_share;
	double lost_bytes;
	double start_lost_bytes;
	/* verdicts */
	double state_pfc;
	double state_loss;
	double state_used;
	double state_queue;
	double agree_share;
	/* several hops */
	double any_share;
	double amplification;
	double graduated_pmax_share;
	double graduated_kmax_bytes;
	double long_share;
	/* bursts */
	double burst_us;
	double burst_queue_bytes;
	double burst_seen_share;
	double burst_late_us;
	double burst_late_share;
	double burst_flows_min;
	double reaction_us;
	/* messages that come at random */
	double arrivals_flows;
	double arrivals_false_share;
	double best_sample_us;
	double best_flows_min;
	double best_flows_max;
	double best_false_share;
	/* how it was computed */
	double runs;
	double packets;
	double settle_us;
	double start_us;
	double duration_us;
};

enum dcqcn_model_burst {
	DCQCN_MODEL_BURST_NONE,
	DCQCN_MODEL_BURST_ALLREDUCE,
	DCQCN_MODEL_BURST_REPLICATION,
	DCQCN_MODEL_BURST_INFERENCE,
	DCQCN_MODEL_BURST_OWN,
};

enum dcqcn_model_headroom {
	DCQCN_MODEL_HEADROOM_NONE,
	DCQCN_MODEL_HEADROOM_SAFE,
	DCQCN_MODEL_HEADROOM_TIGHT,
	DCQCN_MODEL_HEADROOM_SHORT,
};

enum dcqcn_model_brake {
	DCQCN_MODEL_BRAKE_NONE,
	DCQCN_MODEL_BRAKE_MAY,
	DCQCN_MODEL_BRAKE_WILL,
};

/* Of state_pfc and state_loss */
enum dcqcn_model_when {
	DCQCN_MODEL_NEVER,
	DCQCN_MODEL_START,
	DCQCN_MODEL_ALWAYS,
};

enum dcqcn_model_unit {
	DCQCN_MODEL_NUMBER,
	DCQCN_MODEL_BPS,
	DCQCN_MODEL_BYTES,
	DCQCN_MODEL_US,
	DCQCN_MODEL_SHARE,
	DCQCN_MODEL_M,
	DCQCN_MODEL_WORD,
};

/**
 * struct dcqcn_model_field - an input or output
 * @group: its heading
 * @key: its name without the unit, as people type it: kmin
 * @name: with it, as programs read it: kmin_bytes
 * @unit: what it is counted in
 * @words: of a word: what it may be, by index, NULL at the end
 * @help: half a sentence
 * @offset: in its structure, of a double
 * @min: range of an input
 * @max: of an input
 * @value: of an input: its default
 * @whole: it has no fraction
 * @automatic: it may be DCQCN_MODEL_AUTO, too
 */
struct dcqcn_model_field {
	const char *group;
	const char *key;
	const char *name;
	enum dcqcn_model_unit unit;
	const char * const *words;
	const char *help;
	size_t offset;
	double min;
	double max;
	double value;
	bool whole;
	bool automatic;
};

/* In the order of the structures; a NULL key ends them */
extern const struct dcqcn_model_field dcqcn_model_inputs[];
extern const struct dcqcn_model_field dcqcn_model_outputs[];

/* A field's value in its structure */
static inline double *dcqcn_model_at(void *structure,
				     const struct dcqcn_model_field *field)
{
	return (double *)((char *)structure + field->offset);
}

/**
 * struct dcqcn_model_preset - inputs that go together
 * @name: short, as people type it
 * @title: for people
 */
struct dcqcn_model_preset {
	const char *name;
	const char *title;
};

/* A NULL name ends them; the first one has the defaults */
extern const struct dcqcn_model_preset dcqcn_model_presets[];

/**
 * struct dcqcn_model_finding - what is wrong with thresholds
 * @field: key of the input to change, "kmin"
 * @severe: it breaks something; else it only costs
 * @is: what it is, in its unit
 * @should: what it had better be
 * @text: a sentence
 */
struct dcqcn_model_finding {
	const char *field;
	bool severe;
	double is;
	double should;
	char text[DCQCN_MODEL_TEXT];
};

/**
 * struct dcqcn_model_sample - simulated time
 * @time_us: since the first flow's start
 * @queue_bytes: the longest queue since the last sample
 * @rate_bps: what all flows send
 */
struct dcqcn_model_sample {
	double time_us;
	double queue_bytes;
	double rate_bps;
};

/* Configurations, by whom they are for; see dcqcn_model_config() */
enum dcqcn_model_target {
	DCQCN_MODEL_DCBPORT,	/* our switch: dcqcn port, dcb */
	DCQCN_MODEL_TC,		/* a plain Linux switch: tc red */
	DCQCN_MODEL_HOST,	/* ecn/ of the senders and receivers */
	DCQCN_MODEL_SONIC,	/* WRED_PROFILE, BUFFER_PROFILE: JSON */
	DCQCN_MODEL_OTHER,	/* the numbers and their units */
	DCQCN_MODEL_TARGETS
};

/* Each target's name: dcbport, tc, host, sonic, other */
extern const char * const dcqcn_model_targets[DCQCN_MODEL_TARGETS];
/* and whether its configurations have ever been executed */
extern const char * const dcqcn_model_target_notes[DCQCN_MODEL_TARGETS];

void dcqcn_model_defaults(struct dcqcn_model_input *in);
void dcqcn_model_preset(struct dcqcn_model_input *in, size_t preset);
bool dcqcn_model_check(const struct dcqcn_model_input *in,
		       char problem[DCQCN_MODEL_TEXT]);
void dcqcn_model_solve(const struct dcqcn_model_input *in,
		       struct dcqcn_model_output *out);
double dcqcn_model_chance(const struct dcqcn_model_output *out,
			  double queue_bytes);
size_t dcqcn_model_samples(const struct dcqcn_model_sample **samples);
size_t dcqcn_model_findings(const struct dcqcn_model_finding **findings);
bool dcqcn_model_config_check(const struct dcqcn_model_input *in,
			      const struct dcqcn_model_output *out,
			      enum dcqcn_model_target target,
			      char problem[DCQCN_MODEL_TEXT]);
size_t dcqcn_model_config(const struct dcqcn_model_input *in,
			  const struct dcqcn_model_output *out,
			  enum dcqcn_model_target target,
			  char text[DCQCN_MODEL_CONFIG_TEXT]);

#endif /* DCQCN_MODEL_H */
