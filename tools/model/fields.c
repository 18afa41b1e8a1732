// SPDX-License-Identifier: GPL-2.0
/* What goes into the model and comes out: names, units, ranges, defaults, presets. */
#include "algorithm.h"
#include "parts.h"
#include "text.h"

#define ROOM_PACKETS	4	/* to share, at least */

#define AUTO	DCQCN_MODEL_AUTO

static const char * const profiles[] = { "auto", "mlx5", "sigcomm15", NULL };
static const char * const bursts[] = { "none", "allreduce", "replication", "inference", "own",
				       NULL };
static const char * const sizes[] = { "none", "hadoop", "storage", "websearch", NULL };
static const char * const no_yes[] = { "no", "yes", NULL };
static const char * const headrooms[] = { "none", "safe", "tight", "short", NULL };
static const char * const brakes[] = { "none", "may", "will", NULL };
static const char * const whens[] = { "none", "start", "always", NULL };
static const char * const uses[] = { "full", "under-used", NULL };
static const char * const queues[] = { "steady", "swings", NULL };

/* How many plug in: lines PLUG(name), made when this is built */
#define PLUG(name)	+ 1
enum {
	ALGORITHMS = 0
#include "algorithms.inc"
};
#undef PLUG

#define INPUT(_group, _key, _end, _unit, _help, _min, _max, _value, ...) \
	{ .group = (_group), .key = #_key, .name = #_key #_end, .unit = DCQCN_MODEL_##_unit, \
	  .help = (_help), .offset = offsetof(struct dcqcn_model_input, _key##_end), \
	  .min = (_min), .max = (_max), .value = (_value), __VA_ARGS__ }

const struct dcqcn_model_field dcqcn_model_inputs[] = {
#define GROUP "fabric"
	INPUT(GROUP, speed, _bps, BPS, "speed of the congested link", 1e6, 1.6e12, 100e9),
	INPUT(GROUP, tiers, , NUMBER, "tiers of switches: leaf, spine, super-spine", 1, 3, 1,
	      .whole = true),
	INPUT(GROUP, spine_speed, _bps, BPS, "leaf-to-spine link speed; 0: same as speed", 0,
	      6.4e12, 0),
	INPUT(GROUP, core_speed, _bps, BPS, "spine-to-super-spine link speed; 0: same as speed",
	      0, 6.4e12, 0),
	INPUT(GROUP, cable, _m, M, "cable from host to leaf", 0, 1e5, 5),
	INPUT(GROUP, spine_cable, _m, M, "cable from leaf to spine", 0, 1e5, 30),
	INPUT(GROUP, core_cable, _m, M, "cable from spine to super-spine", 0, 1e5, 100),
	INPUT(GROUP, switch_delay, _us, US, "delay of each switch, without its queue", 0, 1e4, 0.5),
	INPUT(GROUP, host_delay, _us, US, "delay of both ends, from a packet to its answer", 0,
	      1e5, 2),
	INPUT(GROUP, rtt, _us, US, "round trip without queues; auto: computed", 0.1, 1e5, AUTO,
	      .automatic = true),
	INPUT(GROUP, mtu, _bytes, BYTES, "RoCE payload of a packet", 256, 4096, 4096,
	      .whole = true),
	INPUT(GROUP, congested_hops, , NUMBER, "queues that mark on the longest path", 1, 5, 1,
	      .whole = true),
#undef GROUP
#define GROUP "load"
	INPUT(GROUP, flows, , NUMBER, "flows that share the congested link", 1,
	      DCQCN_MODEL_FLOWS_MAX, 16, .whole = true),
	INPUT(GROUP, senders, , NUMBER, "hosts that send the flows; 0: one for each", 0,
	      DCQCN_MODEL_FLOWS_MAX, 0, .whole = true),
	INPUT(GROUP, uplinks, , NUMBER, "uplinks where flows come in; 0: ports of the senders", 0,
	      DCQCN_MODEL_FLOWS_MAX, AUTO, .automatic = true, .whole = true),
	INPUT(GROUP, window, _bytes, BYTES, "bytes that a flow may have in flight; 0: no limit", 0,
	      1e9, 0),
	INPUT(GROUP, host_queue, _bytes, BYTES, "bytes that a flow queues in its host; 0 for NICs",
	      0, 1e8, 0),
	INPUT(GROUP, ack, _bytes, BYTES, "bytes after which a flow asks for an ACK", 256, 1e9,
	      65536),
	INPUT(GROUP, message, _bytes, BYTES, "size of messages, which end with an ACK; 0: endless",
	      0, 1e9, 0),
	INPUT(GROUP, timeout, _us, US, "time until a lost packet is sent again; 0: never", 0, 1e7,
	      0),
	INPUT(GROUP, stagger, _us, US, "time between the starts of two flows", 0, 1e6, 0),
	INPUT(GROUP, burst, , WORD, "bursts that recur: a preset, or own", 0, 4, 0,
	      .words = bursts),
	INPUT(GROUP, burst_bytes, , BYTES, "bytes of each sender in a burst", 1, 1e10, AUTO,
	      .automatic = true),
	INPUT(GROUP, burst_flows, , NUMBER, "senders that burst together", 1, 1e5, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, burst_period, _us, US, "time from burst to burst", 1, 1e9, AUTO,
	      .automatic = true),
	INPUT(GROUP, sizes, , WORD, "sizes of messages that arrive at random", 0, 3, 0,
	      .words = sizes),
	INPUT(GROUP, load, _share, SHARE, "load of the link by these messages", 0.01, 0.99, 0.5),
#undef GROUP
#define GROUP "senders"
	INPUT(GROUP, profile, , WORD, "profile of the congestion control", 0, 2, 0,
	      .words = profiles),
	INPUT(GROUP, algorithm, , WORD, "algorithm to simulate: dcqcn, or a pluggable one", 0,
	      ALGORITHMS, 0, .words = algorithm_names),
	INPUT(GROUP, max_rate, _bps, BPS, "line rate set at the senders; 0: measured", 0, 1.6e12,
	      AUTO, .automatic = true),
	INPUT(GROUP, g, _share, SHARE, "g: alpha's gain", 0.001, 1, AUTO, .automatic = true),
	INPUT(GROUP, gd, , NUMBER, "a cut takes alpha * 1024 / 2^gd of the rate", 0, 15, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, alpha_period, _us, US, "alpha's period; 0: measured", 0, 131071, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, timer, _us, US, "T, the increase timer; 0: measured", 0, 131071, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, byte_counter, _bytes, BYTES, "B, the byte counter; 0: off", 0, 4294967295.0,
	      AUTO, .automatic = true, .whole = true),
	INPUT(GROUP, recovery_steps, , NUMBER, "F, steps of fast recovery", 1, 31, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, ai, _bps, BPS, "R_AI, in whole Mb/s; 0: measured", 0, 1e12, AUTO,
	      .automatic = true),
	INPUT(GROUP, hai, _bps, BPS, "R_HAI, in whole Mb/s", 1e6, 1e12, AUTO, .automatic = true),
	INPUT(GROUP, cnp_interval, _us, US, "time between two CNPs of a flow", 0, 131071, AUTO,
	      .automatic = true, .whole = true),
	INPUT(GROUP, cnp_cap, , NUMBER, "CNPs per second of the receiver's port; 0: no cap", 0, 1e9,
	      0),
	INPUT(GROUP, monitor, _us, US, "at most one cut in this time; 0: measured", 0, 131071, AUTO,
	      .automatic = true, .whole = true),
#undef GROUP
#define GROUP "switch"
	INPUT(GROUP, kmin, _bytes, BYTES, "queue up to which no packet is marked", 0, 1e9, AUTO,
	      .automatic = true),
	INPUT(GROUP, kmax, _bytes, BYTES, "queue above which all packets are marked", 1, 1e9, AUTO,
	      .automatic = true),
	INPUT(GROUP, pmax, _share, SHARE, "probability of a mark at kmax", 1e-6, 1, AUTO,
	      .automatic = true),
	INPUT(GROUP, graduated, , WORD, "spine and core mark longer queues only, and less", 0, 1, 0,
	      .words = no_yes),
	INPUT(GROUP, buffer, _bytes, BYTES, "switch's buffer for this traffic, headroom included", 1e4,
	      1e10, 16e6),
	INPUT(GROUP, reserve, _bytes, BYTES, "part of the buffer that each port with PFC keeps", 0,
	      1e9, 0),
	INPUT(GROUP, alpha, , NUMBER, "one port's share of the free buffer; 0: all", 0, 128, 1),
	INPUT(GROUP, ports, , NUMBER, "ports of the switch, each with headroom", 1, 4096, 32,
	      .whole = true),
	INPUT(GROUP, lossless, , NUMBER, "priorities with PFC", 1, 8, 1, .whole = true),
	INPUT(GROUP, pfc, , WORD, "Priority-based Flow Control", 0, 1, 1, .words = no_yes),
	INPUT(GROUP, xoff, _bytes, BYTES, "bytes held by a port when it pauses its sender", 1, 1e10,
	      AUTO, .automatic = true),
	INPUT(GROUP, xon, _bytes, BYTES, "bytes held by a port when it resumes its sender", 0, 1e10,
	      AUTO, .automatic = true),
	INPUT(GROUP, headroom, _bytes, BYTES,
	      "buffer of each port for bytes that arrive after xoff", 0, 1e10, AUTO,
	      .automatic = true),
	INPUT(GROUP, response_quanta, , NUMBER, "time that a sender takes to pause; auto: 802.3", 0,
	      65535, AUTO, .automatic = true),
	INPUT(GROUP, stop, _us, US, "time from a pause to a peer's last byte, measured", 0, 1e5,
	      AUTO, .automatic = true),
	INPUT(GROUP, flows_min, , NUMBER, "no marks with fewer flows in the queue; 0: off", 0, 1024,
	      0, .whole = true),
	INPUT(GROUP, flows_max, , NUMBER, "1.5 times as many marks with more flows; 0: off", 0, 1024, 0,
	      .whole = true),
	INPUT(GROUP, sample, _us, US, "interval of queue samples; 0: at each packet", 0, 1e5,
	      0),
#undef GROUP
#define GROUP "goal"
	INPUT(GROUP, utilisation, _share, SHARE, "wanted utilisation of the link", 0.5, 1, 0.95),
	INPUT(GROUP, react, _us, US, "time to answer lasting congestion; 0: no bound", 0, 1e7, 0),
#undef GROUP
#define GROUP "computation"
	INPUT(GROUP, duration, _us, US, "simulated time; 0: until flows have settled", 0, 1e7, 0),
	INPUT(GROUP, seed, , NUMBER, "seed of random numbers", 1, 1e9, 1, .whole = true),
#undef GROUP
	{}
};

#define OUTPUT(_group, _key, _end, _unit, _help, ...) \
	{ .group = (_group), .key = #_key, .name = #_key #_end, .unit = DCQCN_MODEL_##_unit, \
	  .help = (_help), .offset = offsetof(struct dcqcn_model_output, _key##_end), \
	  __VA_ARGS__ }

const struct dcqcn_model_field dcqcn_model_outputs[] = {
#define GROUP "path"
	OUTPUT(GROUP, rtt, _us, US, "round trip without queues"),
	OUTPUT(GROUP, bdp, _bytes, BYTES, "bandwidth-delay product (BDP)"),
	OUTPUT(GROUP, packet, _bytes, BYTES, "size of a full packet in a switch's memory"),
	OUTPUT(GROUP, frame, _bytes, BYTES, "size of a full packet on the wire"),
	OUTPUT(GROUP, uplinks, , NUMBER, "uplinks where flows come in; 0: ports of the senders"),
#undef GROUP
#define GROUP "thresholds"
	OUTPUT(GROUP, kmin, _bytes, BYTES, "queue up to which no packet is marked"),
	OUTPUT(GROUP, kmax, _bytes, BYTES, "queue above which all packets are marked"),
	OUTPUT(GROUP, pmax, _share, SHARE, "probability of a mark at Kmax"),
	OUTPUT(GROUP, xoff, _bytes, BYTES, "bytes held by a port when it pauses its sender"),
	OUTPUT(GROUP, xon, _bytes, BYTES, "bytes held by a port when it resumes its sender"),
	OUTPUT(GROUP, headroom, _bytes, BYTES,
	      "buffer of each port for bytes that arrive after xOFF"),
#undef GROUP
#define GROUP "recommended"
	OUTPUT(GROUP, best_kmin, _bytes, BYTES, "Kmin"),
	OUTPUT(GROUP, best_kmax, _bytes, BYTES, "Kmax"),
	OUTPUT(GROUP, best_pmax, _share, SHARE, "Pmax"),
	OUTPUT(GROUP, best_xoff, _bytes, BYTES, "xOFF"),
	OUTPUT(GROUP, best_xon, _bytes, BYTES, "xON"),
#undef GROUP
#define GROUP "leaf: ports to hosts"
	OUTPUT(GROUP, leaf_kmin, _bytes, BYTES, "Kmin"),
	OUTPUT(GROUP, leaf_kmax, _bytes, BYTES, "Kmax"),
	OUTPUT(GROUP, leaf_pmax, _share, SHARE, "Pmax"),
	OUTPUT(GROUP, leaf_buffer, _bytes, BYTES, "buffer for which they need not be lower"),
#undef GROUP
#define GROUP "spine: ports to leaves"
	OUTPUT(GROUP, spine_kmin, _bytes, BYTES, "Kmin"),
	OUTPUT(GROUP, spine_kmax, _bytes, BYTES, "Kmax"),
	OUTPUT(GROUP, spine_pmax, _share, SHARE, "Pmax"),
	OUTPUT(GROUP, spine_buffer, _bytes, BYTES, "buffer for which they need not be lower"),
#undef GROUP
#define GROUP "core: ports to spines"
	OUTPUT(GROUP, core_kmin, _bytes, BYTES, "Kmin"),
	OUTPUT(GROUP, core_kmax, _bytes, BYTES, "Kmax"),
	OUTPUT(GROUP, core_pmax, _share, SHARE, "Pmax"),
	OUTPUT(GROUP, core_buffer, _bytes, BYTES, "buffer for which they need not be lower"),
#undef GROUP
#define GROUP "drain"
	OUTPUT(GROUP, kmin_drain, _us, US, "time to drain a queue of Kmin"),
	OUTPUT(GROUP, kmax_drain, _us, US, "time to drain a queue of Kmax"),
	OUTPUT(GROUP, xoff_drain, _us, US, "time to drain a queue of xOFF"),
	OUTPUT(GROUP, kmin_buffer, _share, SHARE, "Kmin's part of the buffer"),
	OUTPUT(GROUP, kmax_buffer, _share, SHARE, "Kmax's part of the buffer"),
#undef GROUP
#define GROUP "headroom"
	OUTPUT(GROUP, headroom_frames, _bytes, BYTES, "frames already being sent at both ends"),
	OUTPUT(GROUP, headroom_pause, _bytes, BYTES, "the pause frame"),
	OUTPUT(GROUP, headroom_cable, _bytes, BYTES, "the cable, both directions"),
	OUTPUT(GROUP, headroom_response, _bytes, BYTES, "bytes sent until the sender obeys"),
	OUTPUT(GROUP, headroom_needed, _bytes, BYTES, "needed: the sum of these"),
	OUTPUT(GROUP, headroom_left, _bytes, BYTES, "left: given minus needed"),
	OUTPUT(GROUP, headroom_state, , WORD, "verdict", .words = headrooms),
	OUTPUT(GROUP, headroom_total, _bytes, BYTES, "headroom and reserve of all ports"),
	OUTPUT(GROUP, shared, _bytes, BYTES, "buffer that is left to share"),
	OUTPUT(GROUP, dynamic_xoff, _bytes, BYTES, "a port's bound when all of them are full"),
#undef GROUP
#define GROUP "operating point"
	OUTPUT(GROUP, fluid_p, _share, SHARE, "marks, by the fluid model"),
	OUTPUT(GROUP, fluid_queue, _bytes, BYTES, "queue, by the fluid model"),
	OUTPUT(GROUP, fluid_above, , WORD, "the fluid model needs more marks than Pmax",
	      .words = no_yes),
	OUTPUT(GROUP, marked, _share, SHARE, "marks, in simulated time"),
	OUTPUT(GROUP, queue_mean, _bytes, BYTES, "mean queue"),
	OUTPUT(GROUP, queue_p5, _bytes, BYTES, "the queue is longer for 95 % of the time"),
	OUTPUT(GROUP, queue_p95, _bytes, BYTES, "the queue is longer for 5 % of the time"),
	OUTPUT(GROUP, queue_p99, _bytes, BYTES, "the queue is longer for 1 % of the time"),
	OUTPUT(GROUP, queue_max, _bytes, BYTES, "the longest queue, after the start"),
	OUTPUT(GROUP, utilisation, _share, SHARE, "share of the link that is used"),
	OUTPUT(GROUP, flow, _bps, BPS, "mean rate of a flow"),
	OUTPUT(GROUP, jain, , NUMBER, "fairness index of the flows"),
	OUTPUT(GROUP, cnps_per_s, , NUMBER, "CNPs per second, of all flows"),
#undef GROUP
#define GROUP "stability"
	OUTPUT(GROUP, below_kmin, _share, SHARE, "time with a queue up to Kmin"),
	OUTPUT(GROUP, above_kmax, _share, SHARE, "time with a queue above Kmax"),
	OUTPUT(GROUP, swing, _bytes, BYTES, "swing: from the 5 % queue to the 95 % queue"),
	OUTPUT(GROUP, swing_rtts, , NUMBER, "time from one swing to the next, in round trips"),
#undef GROUP
#define GROUP "braking distance"
	OUTPUT(GROUP, brake_bytes, , BYTES, "growth of the queue until a mark slows packets down"),
	OUTPUT(GROUP, brake_room, _bytes, BYTES, "room from Kmax to where PFC fires"),
	OUTPUT(GROUP, brake, , WORD, "whether this growth makes PFC fire", .words = brakes),
#undef GROUP
#define GROUP "start"
	OUTPUT(GROUP, start_line, _bytes, BYTES, "queued before the first cut, at line rate"),
	OUTPUT(GROUP, start_auto, _bytes, BYTES, "queued with the start of profile auto"),
	OUTPUT(GROUP, start_peak, _bytes, BYTES, "longest queue while these flows start"),
#undef GROUP
#define GROUP "pauses and losses"
	OUTPUT(GROUP, pfc_per_s, , NUMBER, "PFC frames per second, after the start"),
	OUTPUT(GROUP, paused, _share, SHARE, "time that a port is paused, after the start"),
	OUTPUT(GROUP, lost, _bytes, BYTES, "bytes lost in all"),
	OUTPUT(GROUP, start_lost, _bytes, BYTES, "bytes lost in the start"),
#undef GROUP
#define GROUP "verdicts"
	OUTPUT(GROUP, state_pfc, , WORD, "PFC fires", .words = whens),
	OUTPUT(GROUP, state_loss, , WORD, "packets are lost", .words = whens),
	OUTPUT(GROUP, state_used, , WORD, "the link", .words = uses),
	OUTPUT(GROUP, state_queue, , WORD, "the queue", .words = queues),
	OUTPUT(GROUP, agree, _share, SHARE, "share of runs with other random numbers that agree"),
#undef GROUP
#define GROUP "several hops"
	OUTPUT(GROUP, any, _share, SHARE, "share of packets marked on any of the hops"),
	OUTPUT(GROUP, amplification, , NUMBER, "ratio of that to the share on one hop"),
	OUTPUT(GROUP, graduated_pmax, _share, SHARE, "Pmax of each hop that compensates for this"),
	OUTPUT(GROUP, graduated_kmax, _bytes, BYTES, "or Kmax of each hop that does, with the same Pmax"),
	OUTPUT(GROUP, long_share, , NUMBER, "rate of a long flow over a short one's; 0: unknown"),
#undef GROUP
#define GROUP "bursts"
	OUTPUT(GROUP, burst_us, , US, "time in which a burst comes in"),
	OUTPUT(GROUP, burst_queue, _bytes, BYTES, "queue that it builds up, on top of the mean"),
	OUTPUT(GROUP, burst_seen, _share, SHARE, "share of bursts that the marker sees"),
	OUTPUT(GROUP, burst_late, _us, US, "time from its end to the first slower packet"),
	OUTPUT(GROUP, burst_late_share, , SHARE, "share of CNPs that come after its end"),
	OUTPUT(GROUP, burst_flows_min, , NUMBER,
	      "flows_min that spares such bursts; 0: none needed"),
	OUTPUT(GROUP, reaction, _us, US, "time from lasting congestion to slower packets"),
#undef GROUP
#define GROUP "arrivals"
	OUTPUT(GROUP, arrivals_flows, , NUMBER, "concurrent messages, exceeded at most 5 % of the time"),
	OUTPUT(GROUP, arrivals_false, _share, SHARE,
	      "share of messages that get a CNP after their end"),
	OUTPUT(GROUP, best_sample, _us, US, "sample with the fewest of these messages"),
	OUTPUT(GROUP, best_flows_min, , NUMBER,
	      "flows_min, below which congestion seldom lasts; 0: off"),
	OUTPUT(GROUP, best_flows_max, , NUMBER, "flows_max, above which there seldom are more"),
	OUTPUT(GROUP, best_false, _share, SHARE, "share of messages that then get such a CNP"),
#undef GROUP
#define GROUP "computation"
	OUTPUT(GROUP, runs, , NUMBER, "runs, each with other random numbers"),
	OUTPUT(GROUP, packets, , NUMBER, "packets of a run, in simulated time"),
	OUTPUT(GROUP, settle, _us, US, "longest time that flows need to settle"),
	OUTPUT(GROUP, start, _us, US, "time of the start, which is not measured"),
	OUTPUT(GROUP, duration, _us, US, "all of simulated time"),
#undef GROUP
	{}
};

const struct dcqcn_model_preset dcqcn_model_presets[] = {
	{ "100g-leaf", "16 hosts at a leaf of 100 Gb/s" },
	{ "400g-ai", "32 hosts over a spine of 400 Gb/s, all-reduce" },
	{ "800g-superpod", "64 hosts over three tiers of 800 Gb/s, all-reduce" },
	{ "lab-48m", "four virtual machines at 48 Mb/s" },
	{}
};

/**
 * dcqcn_model_defaults() - the value of each input that was not given
 * @in: all of it is set
 */
void dcqcn_model_defaults(struct dcqcn_model_input *in)
{
	const struct dcqcn_model_field *f;

	for (f = dcqcn_model_inputs; f->key; f++)
		*dcqcn_model_at(in, f) = f->value;
}

/**
 * dcqcn_model_preset() - the inputs of a preset
 * @in: all of it is set
 * @preset: index in dcqcn_model_presets
 */
void dcqcn_model_preset(struct dcqcn_model_input *in, size_t preset)
{
	dcqcn_model_defaults(in);
	switch (preset) {
	case 1:
		in->speed_bps = 400e9;
		in->tiers = 2;
		in->cable_m = 3;
		in->flows = 32;
		in->buffer_bytes = 64e6;
		in->ports = 64;
		in->congested_hops = 2;
		in->burst = DCQCN_MODEL_BURST_ALLREDUCE;
		break;
	case 2:
		in->speed_bps = 800e9;
		in->tiers = 3;
		in->cable_m = 3;
		in->flows = 64;
		in->buffer_bytes = 160e6;
		in->ports = 64;
		in->congested_hops = 3;
		in->burst = DCQCN_MODEL_BURST_ALLREDUCE;
		break;
	case 3:
		in->speed_bps = 48e6;
		in->rtt_us = 1000;
		in->mtu_bytes = 1024;
		in->flows = 4;
		in->window_bytes = 128 * 1082;
		in->host_queue_bytes = 64 * 1082;
		in->timeout_us = 4.096 * (1 << 14);
		in->buffer_bytes = 1e6;
		in->ports = 4;
		in->pfc = 0;
		break;
	}
}

static const char *range_text(const struct dcqcn_model_field *f, struct text *t)
{
	size_t i;

	if (f->words) {
		for (i = 0; f->words[i]; i++) {
			text_add(t, i ? ", " : "");
			text_add(t, f->words[i]);
		}
		return t->at;
	}
	text_value(t, f->unit, f->min);
	text_add(t, " to ");
	text_value(t, f->unit, f->max);
	if (f->automatic)
		text_add(t, ", or auto");
	return t->at;
}

/* Whether a value is one of those that a field may have; NaN is none */
static bool is_within(const struct dcqcn_model_field *f, double value)
{
	if (f->automatic && value == AUTO)
		return true;
	if (!(value >= f->min && value <= f->max))
		return false;
	return !(f->whole || f->words) || value == (double)(long long)value;
}

static bool in_range(const struct dcqcn_model_input *in, struct text *t)
{
	const struct dcqcn_model_field *f;

	for (f = dcqcn_model_inputs; f->key; f++) {
		double value = *(const double *)((const char *)in + f->offset);

		if (is_within(f, value))
			continue;
		text_add(t, f->key);
		text_add(t, f->whole && value >= f->min && value <= f->max ?
			 ": must be a whole number, " : ": must be within ");
		range_text(f, t);
		return false;
	}
	return true;
}

static const struct dcqcn_model_field *input_of(const char *key)
{
	const struct dcqcn_model_field *f;
	size_t i;

	for (f = dcqcn_model_inputs; f->key; f++) {
		for (i = 0; f->key[i] && f->key[i] == key[i]; i++)
			;
		if (f->key[i] == key[i])
			return f;
	}
	return NULL;
}

/* @low and @high are keys of inputs of which the first must not exceed the second */
static bool in_order(const struct dcqcn_model_input *in, const char *low, const char *high,
		     const char *why, struct text *t)
{
	const struct dcqcn_model_field *f = input_of(low), *g = input_of(high);
	struct dcqcn_model_input copy = *in;
	double a = *dcqcn_model_at(&copy, f), b = *dcqcn_model_at(&copy, g);

	if (a == AUTO || b == AUTO || a <= b)
		return true;
	text_add(t, low);
	text_add(t, ": ");
	text_value(t, f->unit, a);
	text_add(t, " is more than ");
	text_add(t, high);
	text_add(t, ", ");
	text_value(t, g->unit, b);
	text_add(t, ": ");
	text_add(t, why);
	return false;
}

static bool has_room(const struct dcqcn_model_input *in, struct text *t)
{
	struct dcqcn_model_output out = {};

	path_solve(in, &out);
	headroom_solve(in, &out);
	if (out.shared_bytes >= ROOM_PACKETS * out.packet_bytes)
		return true;
	text_add(t, !in->pfc ? "buffer: " : in->reserve_bytes ?
		 "reserve: with headroom, all ports and priorities take " :
		 "headroom: all ports and priorities take ");
	text_value(t, DCQCN_MODEL_BYTES, in->pfc ? out.headroom_total_bytes : in->buffer_bytes);
	text_add(t, in->pfc ? ", which leaves nothing to share of a buffer of " :
		 " is too small for packets of ");
	text_value(t, DCQCN_MODEL_BYTES, in->pfc ? in->buffer_bytes : out.packet_bytes);
	text_add(t, in->pfc ? ": choose a larger buffer, or fewer ports" : ": choose a larger one");
	return false;
}

static bool is_congested(const struct dcqcn_model_input *in, struct text *t)
{
	double groups = parts_groups(in), most = groups * parts_uplink_bps(in);

	if (in->senders == 1 && in->flows > 1) {
		text_add(t, "senders: one host cannot send more than its link carries, so its flows queue "
			 "in the host, not in the switch: choose more senders, or 0 for one per flow");
		return false;
	}
	if (!parts_uplinks(in) || most > in->speed_bps ||
	    (parts_hosts(in) == 1 && most == in->speed_bps))
		return true;
	text_add(t, "uplinks: together they are not faster than speed, so the queue is "
		 "elsewhere: choose more uplinks, or a higher spine_speed");
	return false;
}

/**
 * dcqcn_model_check() - whether inputs make sense
 * @in: the inputs
 * @problem: else what is wrong: the field, its range or the rule, and why
 *
 * Return: whether dcqcn_model_solve() may be called.
 */
bool dcqcn_model_check(const struct dcqcn_model_input *in, char problem[DCQCN_MODEL_TEXT])
{
	struct text t = text_begin(problem, DCQCN_MODEL_TEXT);

	return in_range(in, &t) &&
	       in_order(in, "kmin", "kmax", "the curve rises from kmin to kmax", &t) &&
	       in_order(in, "kmin", "buffer", "no queue gets that long", &t) &&
	       in_order(in, "kmax", "buffer", "no queue gets that long", &t) &&
	       (!in->flows_max ||
		in_order(in, "flows_min", "flows_max", "marking must begin before it increases", &t)) &&
	       (!in->pfc ||
		(in_order(in, "xon", "xoff", "a pause would end as soon as it began", &t) &&
		 in_order(in, "xoff", "buffer", "packets are lost before a pause", &t))) &&
	       has_room(in, &t) && is_congested(in, &t);
}
