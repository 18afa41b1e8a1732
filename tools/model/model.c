// SPDX-License-Identifier: GPL-2.0
/*
 * The model as a whole: closed forms (fabric.c, recommend.c, fluid.c, hops.c,
 * burst.c) and simulated time (trace.c), then what follows from them. Gives names to
 * what is wrong (findings.c).
 */
#include "algorithm.h"
#include "number.h"
#include "parts.h"
#include "runs.h"

#define SETTLE_RTTS	1000
#define SETTLE_TIMES	4	/* of what additive increase takes over half of the share */
#define SETTLE_MOST_US	100e3
#define SETTLE_PACKETS	50	/* of each flow */
#define SETTLE_START_US	20e3	/* a flow that does not know its path sends 64 KB slowly first */
#define BRAKE_MARGIN	(4.0 / 3)
/* How many packets are simulated, which is what takes time, 3 to 10 ms: so many, and so many
 * for each flow; at most. In time that was given, at most; if so few, three times.
 */
#define PACKETS_LEAST	20000
#define PACKETS_FLOW	150
#define PACKETS_MOST	50000
#define PACKETS_GIVEN	500000
#define PACKETS_RUNS	60000

static double given(double value, double else_value)
{
	return value == DCQCN_MODEL_AUTO ? else_value : value;
}

static void choose(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	out->kmax_bytes = given(in->kmax_bytes, out->best_kmax_bytes);
	out->kmin_bytes = given(in->kmin_bytes, out->best_kmin_bytes);
	if (in->kmax_bytes == DCQCN_MODEL_AUTO)
		out->kmax_bytes = number_max(out->kmax_bytes, out->kmin_bytes);
	if (in->kmin_bytes == DCQCN_MODEL_AUTO)
		out->kmin_bytes = number_min(out->kmin_bytes, out->kmax_bytes);
	out->pmax_share = given(in->pmax_share, out->best_pmax_share);
	if (!in->pfc)
		return;
	out->xoff_bytes = given(in->xoff_bytes, number_max(out->best_xoff_bytes,
							   given(in->xon_bytes, 0)));
	out->xon_bytes = given(in->xon_bytes, in->xoff_bytes == DCQCN_MODEL_AUTO ?
			       out->best_xon_bytes :
			       number_max(out->xoff_bytes - (out->best_xoff_bytes -
							     out->best_xon_bytes),
					  out->xoff_bytes / 2));
}

static void drains(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out);

	out->kmin_drain_us = out->kmin_bytes / speed;
	out->kmax_drain_us = out->kmax_bytes / speed;
	out->xoff_drain_us = out->xoff_bytes / speed;
	out->kmin_buffer_share = out->kmin_bytes / in->buffer_bytes;
	out->kmax_buffer_share = out->kmax_bytes / in->buffer_bytes;
}

static void fixed_point(const struct dcqcn_model_input *in, const struct senders *senders,
			struct dcqcn_model_output *out)
{
	struct fluid fluid = parts_fluid(in, out);

	out->fluid_p_share = fluid_fixed_point(&fluid, senders);
	out->fluid_above = out->fluid_p_share > out->pmax_share;
	out->fluid_queue_bytes = out->fluid_above ? out->kmax_bytes :
				 out->kmin_bytes + out->fluid_p_share / out->pmax_share *
				 (out->kmax_bytes - out->kmin_bytes);
}

/* T in us */
static double timer_us(const struct senders *senders, const struct dcqcn_model_output *out)
{
	return senders->rp.rpg_time_reset ? senders->rp.rpg_time_reset :
					    out->rtt_us + out->kmin_drain_us;
}

/* R_AI in bytes/us */
static double ai_speed(const struct dcqcn_model_input *in, const struct senders *senders,
		       const struct dcqcn_model_output *out)
{
	return senders->rp.rpg_ai_rate ? senders->rp.rpg_ai_rate / 8.0 :
					 parts_speed(in, out) / in->flows / 128;
}

/*
 * Kmax is passed, and each packet is marked from now on. The last flow hears of it
 * when its packet has come, waited and been answered, and may just have used up its
 * CNP interval. Until then each flow goes on as it did: at first with half of what it
 * gains in T by additive increase, then with more of it after each T. The queue grows
 * by no more than the links bring in.
 */
static void braking(const struct dcqcn_model_input *in, const struct senders *senders,
		    struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out), timer = timer_us(senders, out);
	double us = out->rtt_us + out->kmax_drain_us +
		    number_max(senders->cnp_interval_us, parts_cnp_us(in)) +
		    in->flows * out->packet_bytes / speed;
	double gain = in->flows * ai_speed(in, senders, out) * (us / timer + 1);

	out->brake_bytes = number_min(gain / 2, (parts_hosts(in) - 1) * speed) * us;
	if (!in->pfc)
		return;
	out->brake_room_bytes = number_min(out->xoff_bytes, out->dynamic_xoff_bytes) *
				parts_groups(in) - out->kmax_bytes;
	out->brake = out->brake_bytes * BRAKE_MARGIN < out->brake_room_bytes ?
		     DCQCN_MODEL_BRAKE_NONE :
		     out->brake_bytes < out->brake_room_bytes * BRAKE_MARGIN ?
		     DCQCN_MODEL_BRAKE_MAY : DCQCN_MODEL_BRAKE_WILL;
}

/* All flows send at line rate until the first packet that was marked, at Kmax at the
 * latest, has been answered
 */
static void start(const struct dcqcn_model_input *in, const struct senders *senders,
		  struct dcqcn_model_output *out)
{
	double hosts = parts_hosts(in), others = hosts - 1, speed = parts_speed(in, out);
	double burst = senders->rp.start_burst ? senders->rp.start_burst : 12288;

	out->start_line_bytes = out->kmax_bytes * (others ? hosts : 0) +
				others * speed * out->rtt_us;
	if (in->window_bytes)
		out->start_line_bytes = number_min(out->start_line_bytes,
						   in->flows * in->window_bytes);
	out->start_auto_bytes = in->flows * burst * others / hosts;
}

static double settle_us(const struct dcqcn_model_input *in, const struct senders *senders,
			const struct dcqcn_model_output *out)
{
	double share = parts_speed(in, out) / in->flows, settle;

	settle = SETTLE_TIMES * share / 2 / ai_speed(in, senders, out) * timer_us(senders, out);
	settle = number_min(settle, SETTLE_MOST_US);
	settle = number_max(settle, SETTLE_RTTS * out->rtt_us);
	settle = number_max(settle, SETTLE_PACKETS * out->packet_bytes / share);
	if (senders->rp.start_burst)
		settle = number_max(settle, SETTLE_START_US);
	return settle;
}

static double duration_us(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	return in->duration_us ? in->duration_us :
				 2 * out->settle_us + in->stagger_us * in->flows;
}

static double packets(const struct dcqcn_model_input *in)
{
	return number_min(PACKETS_LEAST + PACKETS_FLOW * in->flows, PACKETS_MOST);
}

static void in_time(const struct dcqcn_model_input *in, const struct senders *senders,
		    struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out), groups = parts_groups(in);
	double uplink = parts_uplink_bps(in);
	struct trace_setup s = {
		.senders = *senders,
		.ops = algorithm_ops(in->algorithm),
		.curve = {
			.kmin = (u32)number_min(out->kmin_bytes, ~0U),
			.kmax = (u32)number_min(out->kmax_bytes, ~0U),
			.pmax = (u32)(out->pmax_share * DCBPORT_PMAX_ONE + 0.5),
		},
		.flow_bounds = {
			.min = (u32)in->flows_min,
			.max = (u32)in->flows_max,
		},
		.cnp_gap = in->cnp_cap ? 1e9 / in->cnp_cap : 0,
		.flows = (size_t)in->flows,
		.hosts = (size_t)parts_hosts(in),
		.groups = (size_t)groups,
		.uplinks = out->uplinks > 0,
		.line_bps = in->speed_bps,
		.speed = speed / 1000,
		.uplink_bps = uplink,
		.packet = out->packet_bytes,
		.frame = out->frame_bytes,
		.rtt = out->rtt_us * 1000,
		.cable = in->cable_m * NS_PER_M,
		.uplink_cable = parts_cable_us(in) * 1000,
		.response = parts_response_us(in, in->speed_bps) * 1000,
		.uplink_response = parts_response_us(in, uplink) * 1000,
		.window = in->window_bytes,
		.host_queue = in->host_queue_bytes,
		.ack = in->ack_bytes,
		.message = in->message_bytes / in->mtu_bytes,
		.timeout = in->timeout_us * 1000,
		.stagger = in->stagger_us * 1000,
		.sample = in->sample_us * 1000,
		.lossless = in->pfc,
		.reserve = in->reserve_bytes,
		.xoff = out->xoff_bytes,
		.xon = out->xon_bytes,
		.pool = out->shared_bytes,
		.alpha = in->alpha,
		.duration = 1000 * duration_us(in, out),
		.packets = in->duration_us ? PACKETS_GIVEN : (size_t)packets(in),
		.seed = in->seed,
	};

	const struct bounds bounds = {
		.used = in->utilisation_share,
		.packet = out->packet_bytes,
		.packets = in->duration_us ? PACKETS_RUNS : packets(in),
		.lossless = in->pfc,
		.safe = out->headroom_left_bytes >= 0,
	};
	struct runs_result runs;
	const struct trace_result *r = &runs.trace;

	runs_solve(&s, &bounds, &runs);
	out->state_pfc = runs.verdicts.pfc;
	out->state_loss = runs.verdicts.loss;
	out->state_used = runs.verdicts.used;
	out->state_queue = runs.verdicts.queue;
	out->runs = runs.runs;
	out->agree_share = (double)runs.agree / runs.runs;
	out->packets = r->packets;
	out->duration_us = r->duration / 1000;
	out->start_us = r->begin / 1000;
	out->marked_share = r->marked_share;
	out->queue_mean_bytes = r->queue_mean;
	out->queue_p5_bytes = r->queue_p5;
	out->queue_p95_bytes = r->queue_p95;
	out->queue_p99_bytes = r->queue_p99;
	out->queue_max_bytes = r->queue_max;
	out->utilisation_share = r->used_share;
	out->flow_bps = r->flow_rate * 8e9 * out->frame_bytes / out->packet_bytes;
	out->jain = r->jain;
	out->cnps_per_s = r->cnps_per_s;
	out->below_kmin_share = r->below_kmin_share;
	out->above_kmax_share = r->above_kmax_share;
	out->swing_bytes = r->queue_p95 - r->queue_p5;
	out->swing_rtts = r->period / 1000 / (out->rtt_us + r->queue_mean / speed);
	out->start_peak_bytes = r->start_peak;
	out->pfc_per_s = r->frames_per_s;
	out->paused_share = r->paused_share;
	out->lost_bytes = r->lost;
	out->start_lost_bytes = r->start_lost;
}

/**
 * dcqcn_model_solve() - all answers
 * @in: inputs that dcqcn_model_check() has found right
 * @out: all of it is set
 *
 * What dcqcn_model_samples() and dcqcn_model_findings() give belongs to the last
 * call: one at a time.
 */
void dcqcn_model_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	struct senders senders = senders_of(in);

	*out = (struct dcqcn_model_output) {};
	path_solve(in, out);
	headroom_solve(in, out);
	recommend(in, &senders, out);
	tiers_solve(in, &senders, out);
	choose(in, out);
	drains(in, out);
	fixed_point(in, &senders, out);
	braking(in, &senders, out);
	start(in, &senders, out);
	out->settle_us = settle_us(in, &senders, out);
	in_time(in, &senders, out);
	hops_solve(in, &senders, out);
	burst_solve(in, out);
	arrivals_solve(in, out);
	findings_solve(in, &senders, out);
}

/**
 * dcqcn_model_chance() - the curve
 * @out: thresholds
 * @queue_bytes: a queue
 *
 * Return: the probability of a mark.
 */
double dcqcn_model_chance(const struct dcqcn_model_output *out, double queue_bytes)
{
	if (queue_bytes <= out->kmin_bytes)
		return 0;
	if (queue_bytes > out->kmax_bytes)
		return 1;
	return out->pmax_share * (queue_bytes - out->kmin_bytes) /
	       (out->kmax_bytes - out->kmin_bytes);
}

/**
 * dcqcn_model_samples() - the last solution over time
 * @samples: set to the samples
 *
 * Return: how many there are.
 */
size_t dcqcn_model_samples(const struct dcqcn_model_sample **samples)
{
	return trace_samples(samples);
}
