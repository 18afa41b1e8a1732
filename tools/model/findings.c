// SPDX-License-Identifier: GPL-2.0
/* What is wrong with thresholds, by name, and what to change by how much. */
#include "number.h"
#include "parts.h"
#include "text.h"

#define SCALE		5	/* thresholds this far from ours suit another speed */
#define MEMORY_SHORT	3	/* alpha has forgotten most between two CNPs */
#define MEMORY_LONG	100	/* it remembers this many of them */
#define USED_UP		0.95	/* of a cap */
#define SELDOM		0.05

static struct dcqcn_model_finding findings[DCQCN_MODEL_FINDINGS_MAX];
static size_t found;

/* Add a finding whose text begins with @sentence; return its text */
static struct text find(const char *field, bool severe, double is, double should,
			const char *sentence)
{
	static char overflow[DCQCN_MODEL_TEXT];
	struct dcqcn_model_finding *f;
	struct text t;

	if (found == DCQCN_MODEL_FINDINGS_MAX)
		return text_begin(overflow, sizeof(overflow));
	f = &findings[found++];
	*f = (struct dcqcn_model_finding) {
		.field = field,
		.severe = severe,
		.is = is,
		.should = should,
	};
	t = text_begin(f->text, sizeof(f->text));
	text_add(&t, sentence);
	return t;
}

static void add_value(struct text *t, const char *before, enum dcqcn_model_unit unit,
		      double value, const char *after)
{
	text_add(t, before);
	text_value(t, unit, value);
	text_add(t, after);
}

static void about_kmin(const struct dcqcn_model_output *out)
{
	struct text t;

	if (!out->state_used || out->kmin_bytes >= out->best_kmin_bytes)
		return;
	t = find("kmin", true, out->kmin_bytes, out->best_kmin_bytes,
		 "Kmin is too low: the queue runs empty before flows that were cut recover, and ");
	add_value(&t, "", DCQCN_MODEL_SHARE, out->utilisation_share, " of the link is used; ");
	add_value(&t, "raise it to ", DCQCN_MODEL_BYTES, out->best_kmin_bytes, "");
	add_value(&t, ", ", DCQCN_MODEL_SHARE, out->best_kmin_bytes / out->bdp_bytes,
		  " of the bandwidth-delay product");
}

static void about_kmax(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	double should = number_min(out->best_kmax_bytes,
				   (out->brake_room_bytes + out->kmax_bytes - out->brake_bytes) /
				   (4.0 / 3));
	struct text t;

	should = number_max(should, 2 * out->packet_bytes);
	if (!in->pfc || (out->brake == DCQCN_MODEL_BRAKE_NONE &&
			 out->state_pfc != DCQCN_MODEL_ALWAYS))
		return;
	if (out->brake == DCQCN_MODEL_BRAKE_NONE) {
		t = find("kmax", true, out->kmax_bytes, out->best_kmax_bytes,
			 "PFC fires all the time, although ");
		add_value(&t, "a port pauses ", DCQCN_MODEL_BYTES, out->brake_room_bytes,
			  " above Kmax: marks do not slow senders down enough");
		return;
	}
	t = find("kmax", out->state_pfc == DCQCN_MODEL_ALWAYS, out->kmax_bytes, should,
		 "Kmax is too close to PFC: ");
	add_value(&t, "a port pauses ", DCQCN_MODEL_BYTES, number_max(0, out->brake_room_bytes),
		  " above it");
	add_value(&t, ", and the queue grows by up to ", DCQCN_MODEL_BYTES, out->brake_bytes,
		  " before senders slow down");
	if (should < out->kmax_bytes)
		add_value(&t, "; lower it to ", DCQCN_MODEL_BYTES, should, "");
	else
		text_add(&t, "; raise xOFF, or give the switch more memory");
}

static void about_speed(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	double ratio = out->kmax_bytes / out->best_kmax_bytes;
	struct text t;

	if (in->kmax_bytes == DCQCN_MODEL_AUTO || (ratio < SCALE && ratio * SCALE > 1))
		return;
	t = find("kmax", false, out->kmax_bytes, out->best_kmax_bytes,
		 "the curve suits another speed: ");
	add_value(&t, "Kmax drains in ", DCQCN_MODEL_US, out->kmax_drain_us, ", a round trip takes ");
	add_value(&t, "", DCQCN_MODEL_US, out->rtt_us, "; at this speed, Kmax should be ");
	add_value(&t, "", DCQCN_MODEL_BYTES, out->best_kmax_bytes, "");
}

static void about_pmax(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	struct text t;

	if (!out->fluid_above)
		return;
	t = find("pmax", out->state_queue, out->pmax_share, out->best_pmax_share,
		 "Pmax is too low: ");
	text_whole(&t, in->flows);
	add_value(&t, " flows settle where ", DCQCN_MODEL_SHARE, out->fluid_p_share,
		  " of the packets are marked, so the queue jumps to Kmax and back");
	add_value(&t, "; raise it to ", DCQCN_MODEL_SHARE, out->best_pmax_share, "");
}

static void about_g(const struct dcqcn_model_input *in, const struct senders *senders,
		    const struct dcqcn_model_output *out)
{
	double g = (1024 - senders->rp.dce_tcp_g) / 1024.0, memory, gap, should;
	struct text t;

	if (!senders->rp.dce_tcp_rtt || !out->cnps_per_s || senders->rp.dce_tcp_g > 1023)
		return;
	memory = senders->rp.dce_tcp_rtt / g;
	gap = 1e6 * in->flows / out->cnps_per_s;
	if (memory * MEMORY_SHORT >= gap && memory <= MEMORY_LONG * gap)
		return;
	should = number_clamp(senders->rp.dce_tcp_rtt / (5 * gap), 0.001, 0.5);
	t = find("g", false, g, should, memory < gap ? "g is too large: alpha forgets within " :
						       "g is too small: alpha remembers ");
	add_value(&t, "", DCQCN_MODEL_US, memory, ", and a flow gets a CNP every ");
	add_value(&t, "", DCQCN_MODEL_US, gap, memory < gap ? ", so cuts are tiny" :
							      ", so cuts answer old congestion");
	add_value(&t, "; with this period of alpha, choose ", DCQCN_MODEL_NUMBER, should, "");
}

static void about_cnp_cap(const struct dcqcn_model_input *in, const struct senders *senders,
			  const struct dcqcn_model_output *out)
{
	double packets = in->speed_bps / 8 / out->frame_bytes;
	double interval = senders->cnp_interval_us, should = packets;
	struct text t;

	if (!in->cnp_cap || out->cnps_per_s < USED_UP * in->cnp_cap)
		return;
	if (interval)
		should = number_min(should, in->flows * 1e6 / interval);
	t = find("cnp_cap", out->state_pfc == DCQCN_MODEL_ALWAYS || out->above_kmax_share > 0.1,
		 in->cnp_cap, should, "the receiver's port sends as many CNPs as its cap allows: ");
	add_value(&t, "a flow gets one every ", DCQCN_MODEL_US, parts_cnp_us(in),
		  ", however many of its packets are marked; ");
	text_whole(&t, in->flows);
	add_value(&t, " flows need up to ", DCQCN_MODEL_NUMBER, should, " per second: raise the cap, "
		  "or share the port between fewer flows");
}

static void about_loss(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	double should = out->start_line_bytes + (in->buffer_bytes - out->shared_bytes);
	struct text t;

	if (!out->state_loss || in->pfc)
		return;
	t = find("buffer", true, in->buffer_bytes, should, "");
	add_value(&t, "the buffer cannot hold the start: ", DCQCN_MODEL_BYTES,
		  out->lost_bytes, " are lost");
	text_add(&t, out->state_loss == DCQCN_MODEL_START ? " until flows have slowed down" : "");
	add_value(&t, "; flows that start together put ", DCQCN_MODEL_BYTES,
		  out->start_line_bytes, " into it before the first cut");
	text_add(&t, ": use PFC, or a profile that starts slowly (auto)");
}

static void about_start(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->pfc || out->state_pfc != DCQCN_MODEL_START)
		return;
	t = find("xoff", false, out->xoff_bytes, out->start_line_bytes / parts_groups(in),
		 "xOFF is too low for the start, in which PFC fires: ");
	add_value(&t, "flows that start together put ", DCQCN_MODEL_BYTES, out->start_line_bytes,
		  " into the buffer before the first cut");
	add_value(&t, ", and a port pauses at ", DCQCN_MODEL_BYTES,
		  number_min(out->xoff_bytes, out->dynamic_xoff_bytes),
		  "; harmless if they seldom start together; profile auto starts slowly");
}

static void about_tiers(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	struct text t;

	if (in->congested_hops < 2 || out->amplification < 1.5)
		return;
	t = find("pmax", false, out->pmax_share, out->graduated_pmax_share, "over ");
	text_whole(&t, in->congested_hops);
	add_value(&t, " queues a packet is marked ", DCQCN_MODEL_NUMBER, out->amplification,
		  " times as often");
	if (out->long_share)
		add_value(&t, ", and a long flow gets ", DCQCN_MODEL_SHARE,
			  out->long_share, " of a short one's rate");
	else
		text_add(&t, ", and a long flow's share is unknown: its T and R_AI follow its path");
	add_value(&t, "; with Pmax ", DCQCN_MODEL_SHARE, out->graduated_pmax_share,
		  " on each of them, it is marked as often as on one, until the queues have grown"
		  " and their own flows get as many marks as before");
}

static void about_headroom(const struct dcqcn_model_input *in,
			   const struct dcqcn_model_output *out)
{
	struct text t;

	if (out->headroom_state >= DCQCN_MODEL_HEADROOM_TIGHT) {
		t = find("headroom", out->headroom_state == DCQCN_MODEL_HEADROOM_SHORT,
			 out->headroom_bytes, number_ceil(1.1 * out->headroom_needed_bytes),
			 "headroom is ");
		text_add(&t, out->headroom_left_bytes < 0 ? "short by " : "tight: it has only ");
		add_value(&t, "", DCQCN_MODEL_BYTES, number_abs(out->headroom_left_bytes),
			  out->headroom_left_bytes < 0 ? ", and packets may be lost" : " left");
		add_value(&t, "; ", DCQCN_MODEL_BYTES, out->headroom_needed_bytes,
			  " are needed for frames, pause, cable and response");
	}
	if (!in->pfc || out->headroom_total_bytes <= 0.5 * in->buffer_bytes)
		return;
	t = find("buffer", out->shared_bytes < out->best_kmax_bytes, in->buffer_bytes,
		 2 * out->headroom_total_bytes, "headroom of all ports takes ");
	add_value(&t, "", DCQCN_MODEL_SHARE, number_min(1, out->headroom_total_bytes /
							   in->buffer_bytes),
		  " of the buffer: use PFC on fewer ports or priorities, or shorter cables");
}

static void about_xoff(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->pfc || in->xoff_bytes == DCQCN_MODEL_AUTO ||
	    out->xoff_bytes <= out->dynamic_xoff_bytes)
		return;
	t = find("xoff", false, out->xoff_bytes, out->dynamic_xoff_bytes,
		 "while all ports are full, they pause below xOFF, because of alpha: at ");
	add_value(&t, "", DCQCN_MODEL_BYTES, out->dynamic_xoff_bytes, "");
}

/* With all ports full it pauses even earlier, but then all of them hold more than Kmax */
static void about_one_port(const struct dcqcn_model_input *in,
			   const struct dcqcn_model_output *out)
{
	double pause = number_min(out->xoff_bytes, parts_port_room(in, out, 1));
	struct text t;

	if (!in->pfc || parts_groups(in) == 1 || pause > out->kmax_bytes)
		return;
	t = find("xoff", false, pause, out->best_xoff_bytes,
		 "a port that brings in most of the traffic pauses at ");
	add_value(&t, "", DCQCN_MODEL_BYTES, pause, ", below Kmax: PFC begins before marks slow its senders down; ");
	if (out->best_xoff_bytes > out->kmax_bytes)
		add_value(&t, "raise xOFF to ", DCQCN_MODEL_BYTES, out->best_xoff_bytes, "");
	else
		text_add(&t, "raise alpha, or give the switch more memory");
}

static void about_window(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->window_bytes || in->flows * in->window_bytes >= out->bdp_bytes + out->kmin_bytes)
		return;
	t = find("window", true, in->window_bytes,
		 (out->bdp_bytes + out->kmin_bytes) / in->flows,
		 "all windows together are smaller than the bandwidth-delay product and Kmin: ");
	add_value(&t, "no queue builds up, and at most ", DCQCN_MODEL_SHARE,
		  number_min(1, in->flows * in->window_bytes / out->bdp_bytes),
		  " of the link is used");
}

static void about_reaction(const struct dcqcn_model_input *in,
			   const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->react_us || out->reaction_us <= in->react_us)
		return;
	t = find("react", false, out->reaction_us, in->react_us,
		 "senders react to lasting congestion only after ");
	add_value(&t, "", DCQCN_MODEL_US, out->reaction_us, "; lower Kmax, or sample more often");
}

static void about_bursts(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->burst || out->burst_late_share <= 0.5)
		return;
	t = find("flows_min", false, in->flows_min, out->burst_flows_min, "");
	add_value(&t, "", DCQCN_MODEL_SHARE, out->burst_late_share,
		  " of the CNPs for a burst arrive after it is over");
	if (out->burst_flows_min) {
		add_value(&t, "; with flows_min ", DCQCN_MODEL_NUMBER, out->burst_flows_min,
			  " it is not marked, but neither is other congestion of so few flows");
	}
}

static void about_arrivals(const struct dcqcn_model_input *in,
			   const struct dcqcn_model_output *out)
{
	struct text t;

	if (!in->sizes || out->arrivals_false_share < SELDOM ||
	    out->arrivals_false_share < 2 * out->best_false_share)
		return;
	t = find("sample", false, in->sample_us, out->best_sample_us, "");
	add_value(&t, "", DCQCN_MODEL_SHARE, out->arrivals_false_share,
		  " of the messages get a CNP after their end; ");
	add_value(&t, "with sample ", DCQCN_MODEL_US, out->best_sample_us, "");
	if (out->best_flows_min)
		add_value(&t, " and flows_min ", DCQCN_MODEL_NUMBER, out->best_flows_min, "");
	add_value(&t, " the share is ", DCQCN_MODEL_SHARE, out->best_false_share, "");
}

/**
 * findings_solve() - look for all of them
 * @in: what was given
 * @senders: their knobs
 * @out: all answers
 */
void findings_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		    const struct dcqcn_model_output *out)
{
	found = 0;
	about_headroom(in, out);
	about_loss(in, out);
	about_start(in, out);
	about_kmax(in, out);
	about_kmin(out);
	about_pmax(in, out);
	about_window(in, out);
	about_g(in, senders, out);
	about_cnp_cap(in, senders, out);
	about_speed(in, out);
	about_xoff(in, out);
	about_one_port(in, out);
	about_tiers(in, out);
	about_bursts(in, out);
	about_arrivals(in, out);
	about_reaction(in, out);
}

/**
 * dcqcn_model_findings() - what the last solution found
 * @list: set to it
 *
 * Return: how many there are.
 */
size_t dcqcn_model_findings(const struct dcqcn_model_finding **list)
{
	*list = findings;
	return found;
}
