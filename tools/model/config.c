// SPDX-License-Identifier: GPL-2.0
/* Thresholds as the configuration of a switch, or of hosts. */
#include <linux/kernel.h>
#include <uapi/linux/dcbport.h>

#include "algorithm.h"
#include "number.h"
#include "parts.h"
#include "text.h"

#define PRIO	"3"		/* of lossless traffic, as most networks have it */
#define SONIC_PORT	"Ethernet0"	/* a name that SONiC gives ports */
#define RED_AVPKT	1000
/* As in Documentation/netlink/specs/dcbport.yaml; lengths are u32 in there, and in tc */
#define PORT_RATE_MAX	1e12
#define LENGTH_MAX	U32_MAX

const char * const dcqcn_model_targets[DCQCN_MODEL_TARGETS] = {
	[DCQCN_MODEL_DCBPORT] = "dcbport",
	[DCQCN_MODEL_TC] = "tc",
	[DCQCN_MODEL_HOST] = "host",
	[DCQCN_MODEL_SONIC] = "sonic",
	[DCQCN_MODEL_OTHER] = "other",
};

const char * const dcqcn_model_target_notes[DCQCN_MODEL_TARGETS] = {
	[DCQCN_MODEL_DCBPORT] = "tested: selftests/port executes it on a port",
	[DCQCN_MODEL_TC] = "tested: selftests/port executes it on a network device",
	[DCQCN_MODEL_HOST] = "tested: selftests/rdma executes it on soft-RoCE",
	[DCQCN_MODEL_SONIC] = "not tested: it has not been run on a SONiC switch",
	[DCQCN_MODEL_OTHER] = "the numbers alone, for switches with other commands",
};

static void add_whole(struct text *t, const char *before, double value, const char *after)
{
	text_add(t, before);
	text_whole(t, value);
	text_add(t, after);
}

static void add_share(struct text *t, const char *before, double share, const char *after)
{
	text_add(t, before);
	text_number(t, 100 * share, 6);
	text_add(t, after);
}

/* No queue gets longer than what a u32 holds: dcbport's accounts and tc's queues are u32, too */
static double limit(const struct dcqcn_model_input *in)
{
	return number_min(in->buffer_bytes, LENGTH_MAX);
}

static bool rate_fits(const struct dcqcn_model_input *in, struct text *t)
{
	if (in->speed_bps <= PORT_RATE_MAX)
		return true;
	text_add(t, "speed: ");
	text_value(t, DCQCN_MODEL_BPS, in->speed_bps);
	text_add(t, " is above dcbport's maximum, ");
	text_value(t, DCQCN_MODEL_BPS, PORT_RATE_MAX);
	text_add(t, ": choose a lower speed, or another target");
	return false;
}

static bool length_fits(const char *key, double value, struct text *t)
{
	if (value <= LENGTH_MAX)
		return true;
	text_add(t, key);
	add_whole(t, ": ", value, "B is above dcbport's maximum, ");
	add_whole(t, "", LENGTH_MAX, "B: choose less, or another target");
	return false;
}

/* A port's alpha is in units of this, and its 0 means the whole buffer */
#define ALPHA_LEAST	(1.0 / DCBPORT_ALPHA_ONE)

static bool alpha_fits(const struct dcqcn_model_input *in, struct text *t)
{
	if (!in->alpha || in->alpha >= ALPHA_LEAST / 2)
		return true;
	text_add(t, "alpha: ");
	text_number(t, in->alpha, 3);
	text_add(t, " is below dcbport's minimum, ");
	text_number(t, ALPHA_LEAST, 3);
	text_add(t, ": choose more, or another target");
	return false;
}

/* What a port with PFC refuses, and the model does not */
static bool pfc_fits(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		     struct text *t)
{
	if (out->headroom_bytes < 0.5) {
		text_add(t, "headroom: dcbport needs headroom for PFC: choose more, pfc no, or another "
			 "target");
		return false;
	}
	if (in->reserve_bytes <= out->xoff_bytes)
		return true;
	text_add(t, "reserve: ");
	text_value(t, DCQCN_MODEL_BYTES, in->reserve_bytes);
	text_add(t, " is more than xoff, ");
	text_value(t, DCQCN_MODEL_BYTES, out->xoff_bytes);
	text_add(t, ", which dcbport refuses: choose less, a higher xoff, or another target");
	return false;
}

static bool dcbport_takes(const struct dcqcn_model_input *in,
			  const struct dcqcn_model_output *out, struct text *t)
{
	return rate_fits(in, t) && alpha_fits(in, t) && length_fits("kmin", out->kmin_bytes, t) &&
	       length_fits("kmax", out->kmax_bytes, t) &&
	       (!in->pfc || (length_fits("xoff", out->xoff_bytes, t) &&
			     length_fits("xon", out->xon_bytes, t) &&
			     length_fits("headroom", out->headroom_bytes, t) &&
			     pfc_fits(in, out, t)));
}

static void dcbport(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		    struct text *t)
{
	add_whole(t, "dcqcn port switch new s1 size ", in->buffer_bytes, "B");
	add_whole(t, " lossy ", in->buffer_bytes, "B alpha ");
	text_number(t, in->alpha, 3);
	text_add(t, "\n# for each port DEV:\ntc qdisc add dev DEV root dcbport\n");
	add_whole(t, "dcqcn port set dev DEV switch s1 rate ",
		  number_max(1, in->speed_bps / 1e6), "mbit");
	if (in->pfc) {
		add_whole(t, " pfc " PRIO " xoff ", out->xoff_bytes, "B");
		add_whole(t, " xon ", out->xon_bytes, "B");
		add_whole(t, " headroom ", out->headroom_bytes, "B");
		if (in->reserve_bytes)
			add_whole(t, " reserve ", in->reserve_bytes, "B");
	}
	add_whole(t, " \\\n    prio " PRIO " limit ", limit(in), "B");
	add_whole(t, " kmin ", out->kmin_bytes, "B");
	add_whole(t, " kmax ", out->kmax_bytes, "B");
	add_share(t, " pmax ", out->pmax_share, "%");
	if (in->flows_min)
		add_whole(t, " flows_min ", in->flows_min, "");
	if (in->flows_max)
		add_whole(t, " flows_max ", in->flows_max, "");
	text_add(t, "\n");
	if (in->pfc)
		text_add(t, "# or, for an LLDP agent and its peers:\n"
			 "dcb pfc set dev DEV prio-pfc " PRIO ":on\n");
}

/* tc averages the queue over as many packets as fit under kmin, and counts the curve's slope, per
 * byte, in powers of two down to this
 */
#define RED_SLOPE_LEAST	0x1p-31

static bool tc_takes(const struct dcqcn_model_output *out, struct text *t)
{
	double least = (out->kmax_bytes - out->kmin_bytes) * RED_SLOPE_LEAST;

	if (out->kmin_bytes < RED_AVPKT + 0.5) {
		add_whole(t, "kmin: ", out->kmin_bytes, "B is below the minimum of tc's red, ");
		add_whole(t, "", RED_AVPKT + 1, "B: choose more, or another target");
		return false;
	}
	if (out->pmax_share > least)
		return true;
	add_share(t, "pmax: ", out->pmax_share, "% is below the minimum of tc's red from kmin to ");
	add_share(t, "kmax, ", least, "%: choose more, a lower kmax, or another target");
	return false;
}

static void tc(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
	       struct text *t)
{
	add_whole(t, "tc qdisc add dev DEV root handle 1: tbf rate ", in->speed_bps, "bit");
	add_whole(t, " burst ", number_max(2 * out->frame_bytes, in->speed_bps / 8 / 1e5), "");
	add_whole(t, " limit ", limit(in), "\n");
	add_whole(t, "tc qdisc add dev DEV parent 1: handle 2: red limit ", limit(in), "");
	add_whole(t, " min ", out->kmin_bytes, "");
	add_whole(t, " max ", number_max(out->kmax_bytes, out->kmin_bytes + 1), "");
	add_whole(t, " avpkt 1000 burst ", number_floor(out->kmin_bytes / RED_AVPKT) + 1, "");
	text_add(t, " bandwidth 4gbit probability ");
	text_number(t, number_min(out->pmax_share, 0.999999), 6);
	text_add(t, " ecn nodrop\n");
	if (in->pfc)
		text_add(t, "# tc has no Priority-based Flow Control: dcbport has it\n");
}

#define KNOB(_field, _knob, _unit) \
	{ offsetof(struct dcqcn_model_input, _field), _knob, _unit }

/* Inputs that are knobs, and the knobs' units */
static const struct {
	size_t offset;
	const char *name;
	double unit;
} knobs[] = {
	KNOB(max_rate_bps, "rpg_max_rate", 1e6),
	KNOB(gd, "rpg_gd", 1),
	KNOB(alpha_period_us, "dce_tcp_rtt", 1),
	KNOB(timer_us, "rpg_time_reset", 1),
	KNOB(byte_counter_bytes, "rpg_byte_reset", 1),
	KNOB(recovery_steps, "rpg_threshold", 1),
	KNOB(ai_bps, "rpg_ai_rate", 1e6),
	KNOB(hai_bps, "rpg_hai_rate", 1e6),
	KNOB(cnp_interval_us, "min_time_between_cnps", 1),
	KNOB(monitor_us, "rate_reduce_monitor_period", 1),
};

/* The profile, and what differs from it */
static void host(const struct dcqcn_model_input *in, struct text *t)
{
	const struct dcqcn_model_field *f = dcqcn_model_inputs;
	size_t i;

	while (f->offset != offsetof(struct dcqcn_model_input, profile))
		f++;
	text_add(t, "dcqcn profile apply ");
	text_add(t, f->words[(int)in->profile]);
	text_add(t, "\n");
	for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		double value = *(const double *)((const char *)in + knobs[i].offset);

		if (value == DCQCN_MODEL_AUTO)
			continue;
		text_add(t, "dcqcn set dev DEV ");
		text_add(t, knobs[i].name);
		/* a knob of 0 has another meaning */
		add_whole(t, " ", value ? number_max(1, value / knobs[i].unit) : 0, "\n");
	}
	if (in->algorithm) {
		text_add(t, "dcqcn cc use ");
		text_add(t, algorithm_names[(int)in->algorithm]);
		text_add(t, " dev DEV\n");
	}
	if (in->g_share != DCQCN_MODEL_AUTO)
		add_whole(t, "dcqcn set dev DEV dce_tcp_g ", 1024 * (1 - in->g_share), "\n");
}

/* Which power of two comes nearest to alpha: SONiC's dynamic_th, -8 to 7 */
static int alpha_exponent(double alpha)
{
	int exponent = -8;

	/* the middle between two powers, on a scale of logarithms */
	for (double middle = 1.41421356 / 256; exponent < 7 && alpha > middle; middle *= 2)
		exponent++;
	return exponent;
}

/* Entries "0": "0" to "last": "7", where each @step values have the next number */
static void sonic_map(struct text *t, const char *table, int entries, int step)
{
	text_add(t, ",\n  \"");
	text_add(t, table);
	text_add(t, "\": {\n    \"RDMA\": {");
	for (int i = 0; i < entries; i++) {
		text_add(t, i ? "," : "");
		text_add(t, i % 8 ? " " : "\n      ");
		add_whole(t, "\"", i, "\": ");
		add_whole(t, "\"", i / step, "\"");
	}
	text_add(t, "\n    }\n  }");
}

/* SONiC's xoff is the headroom. Its pause ends below the larger of xon and the limit less xon_offset.
 * A static limit is our xOFF; with a dynamic one, only alpha bounds what a port takes.
 */
static void sonic_pfc(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		      struct text *t)
{
	bool dynamic = in->alpha > 0;

	text_add(t, ",\n  \"BUFFER_POOL\": {\n    \"ingress_lossless_pool\": {\n"
		 "      \"type\": \"ingress\",\n      \"mode\": \"");
	text_add(t, dynamic ? "dynamic" : "static");
	add_whole(t, "\",\n      \"size\": \"", in->buffer_bytes, "\"\n    }\n  }");
	text_add(t, ",\n  \"BUFFER_PROFILE\": {\n    \"RDMA_lossless\": {\n"
		 "      \"pool\": \"ingress_lossless_pool\",\n");
	add_whole(t, "      \"size\": \"", out->headroom_bytes + in->reserve_bytes, "\",\n");
	add_whole(t, "      \"xoff\": \"", out->headroom_bytes, "\",\n      \"xon\": \"0\",\n");
	add_whole(t, "      \"xon_offset\": \"", out->xoff_bytes - out->xon_bytes, "\",\n");
	if (dynamic)
		add_whole(t, alpha_exponent(in->alpha) < 0 ? "      \"dynamic_th\": \"-" :
			  "      \"dynamic_th\": \"",
			  alpha_exponent(in->alpha) < 0 ? -alpha_exponent(in->alpha) :
			  alpha_exponent(in->alpha), "\"\n    }\n  }");
	else
		add_whole(t, "      \"static_th\": \"", out->xoff_bytes, "\"\n    }\n  }");
	text_add(t, ",\n  \"BUFFER_PG\": {\n    \"" SONIC_PORT "|" PRIO "\": {\n"
		 "      \"profile\": \"RDMA_lossless\"\n    }\n  }");
	sonic_map(t, "TC_TO_PRIORITY_GROUP_MAP", 8, 1);
	sonic_map(t, "MAP_PFC_PRIORITY_TO_QUEUE", 8, 1);
}

static void sonic(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		  struct text *t)
{
	text_add(t, "{\n  \"WRED_PROFILE\": {\n    \"RDMA\": {\n"
		 "      \"wred_green_enable\": \"true\",\n      \"ecn\": \"ecn_green\",\n");
	add_whole(t, "      \"green_min_threshold\": \"", out->kmin_bytes, "\",\n");
	add_whole(t, "      \"green_max_threshold\": \"", out->kmax_bytes, "\",\n");
	add_whole(t, "      \"green_drop_probability\": \"",
		  number_max(1, 100 * out->pmax_share), "\"\n    }\n  }");
	text_add(t, ",\n  \"QUEUE\": {\n    \"" SONIC_PORT "|" PRIO "\": {\n"
		 "      \"wred_profile\": \"RDMA\"\n    }\n  }");
	if (in->pfc)
		sonic_pfc(in, out, t);
	sonic_map(t, "DSCP_TO_TC_MAP", 64, 8);
	sonic_map(t, "TC_TO_QUEUE_MAP", 8, 1);
	text_add(t, ",\n  \"PORT_QOS_MAP\": {\n    \"" SONIC_PORT "\": {\n"
		 "      \"dscp_to_tc_map\": \"RDMA\",\n      \"tc_to_queue_map\": \"RDMA\"");
	if (in->pfc)
		text_add(t, ",\n      \"tc_to_pg_map\": \"RDMA\",\n"
			 "      \"pfc_to_queue_map\": \"RDMA\",\n      \"pfc_enable\": \"" PRIO "\"");
	text_add(t, "\n    }\n  }\n}\n");
}

static void other(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out,
		  struct text *t)
{
	add_whole(t, "Kmin      ", out->kmin_bytes, " bytes\n");
	add_whole(t, "Kmax      ", out->kmax_bytes, " bytes\n");
	add_share(t, "Pmax      ", out->pmax_share, " %\n");
	if (!in->pfc)
		return;
	add_whole(t, "xOFF      ", out->xoff_bytes, " bytes of a port and priority\n");
	add_whole(t, "xON       ", out->xon_bytes, " bytes\n");
	add_whole(t, "headroom  ", out->headroom_bytes, " bytes of a port and priority\n");
	if (in->reserve_bytes)
		add_whole(t, "reserve   ", in->reserve_bytes, " bytes of a port and priority\n");
}

/**
 * dcqcn_model_config_check() - whether a target accepts thresholds
 * @in: what was given
 * @out: the thresholds
 * @target: of what
 * @problem: else which of them it refuses, and why
 *
 * Return: whether dcqcn_model_config() gives a configuration.
 */
bool dcqcn_model_config_check(const struct dcqcn_model_input *in,
			      const struct dcqcn_model_output *out,
			      enum dcqcn_model_target target, char problem[DCQCN_MODEL_TEXT])
{
	struct text t = text_begin(problem, DCQCN_MODEL_TEXT);

	switch (target) {
	case DCQCN_MODEL_DCBPORT:
		return dcbport_takes(in, out, &t);
	case DCQCN_MODEL_TC:
		return tc_takes(out, &t);
	default:
		return true;
	}
}

/**
 * dcqcn_model_config() - thresholds as a configuration
 * @in: what was given
 * @out: the thresholds
 * @target: of what
 * @text: room for it; a comment, if the target does not accept them
 *
 * Return: its length.
 */
size_t dcqcn_model_config(const struct dcqcn_model_input *in,
			  const struct dcqcn_model_output *out, enum dcqcn_model_target target,
			  char text[DCQCN_MODEL_CONFIG_TEXT])
{
	struct text t = text_begin(text, DCQCN_MODEL_CONFIG_TEXT);
	char problem[DCQCN_MODEL_TEXT];

	if (!dcqcn_model_config_check(in, out, target, problem)) {
		text_add(&t, "# ");
		text_add(&t, problem);
		text_add(&t, "\n");
		return t.length;
	}
	switch (target) {
	case DCQCN_MODEL_DCBPORT:
		dcbport(in, out, &t);
		break;
	case DCQCN_MODEL_TC:
		tc(in, out, &t);
		break;
	case DCQCN_MODEL_HOST:
		host(in, &t);
		break;
	case DCQCN_MODEL_SONIC:
		sonic(in, out, &t);
		break;
	default:
		other(in, out, &t);
	}
	return t.length;
}
