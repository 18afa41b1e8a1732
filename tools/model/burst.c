// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts: n senders send some bytes each at line rate, all at once. While they do,
 * the queue grows by n - 1 times the link's speed; then it drains.
 *
 * A marker that looks once in s sees a burst with the probability min(1, t / s), where
 * t is how long the queue is above Kmin. A packet that arrives at x, into a queue of
 * (n - 1) C x, is answered at x + (n - 1) x + round trip. If the burst is over by
 * then, the CNP slows down what comes next.
 */
#include "number.h"
#include "parts.h"

static const struct {
	double bytes;
	double flows;
	double period_us;
} presets[] = {
	[DCQCN_MODEL_BURST_ALLREDUCE] = { 1e6, 4, 2000 },	/* a ring's chunk, in step */
	[DCQCN_MODEL_BURST_REPLICATION] = { 4e6, 3, 10000 },	/* three copies of a write */
	[DCQCN_MODEL_BURST_INFERENCE] = { 64e3, 32, 1000 },	/* answers of all shards */
	[DCQCN_MODEL_BURST_OWN] = { 1e6, 8, 10000 },
};

static double given(double value, double preset)
{
	return value == DCQCN_MODEL_AUTO ? preset : value;
}

/**
 * burst_solve() - what bursts do
 * @in: the bursts
 * @out: thresholds and the operating point are known
 */
void burst_solve(const struct dcqcn_model_input *in, struct dcqcn_model_output *out)
{
	double speed = parts_speed(in, out), bytes, flows, above, begin, late;

	out->reaction_us = in->sample_us + out->rtt_us +
			   (out->kmax_bytes + in->flows * out->packet_bytes) / speed;
	if (!in->burst)
		return;
	bytes = given(in->burst_bytes, presets[(int)in->burst].bytes);
	flows = given(in->burst_flows, presets[(int)in->burst].flows);
	if (in->window_bytes)
		bytes = number_min(bytes, in->window_bytes);
	out->burst_us = bytes / speed;
	out->burst_queue_bytes = number_min((flows - 1) * bytes, out->shared_bytes);
	above = out->burst_queue_bytes - out->kmin_bytes;
	if (above <= 0)
		return;
	begin = out->kmin_bytes / (flows - 1) / speed;	/* the queue is at Kmin */
	out->burst_seen_share = in->sample_us ?
		number_min(1, (above / (flows - 1) + above) / speed / in->sample_us) : 1;
	out->burst_late_us = begin * flows + out->rtt_us - out->burst_us;
	late = number_clamp((out->burst_us - out->rtt_us) / flows, begin, out->burst_us);
	out->burst_late_share = number_clamp((out->burst_us - late) / (out->burst_us - begin), 0,
					     1);
	if (out->burst_late_share > 0.5 && flows < in->flows)
		out->burst_flows_min = flows + 1;
}
