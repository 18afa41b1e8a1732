// SPDX-License-Identifier: GPL-2.0
/* The model's answers: a page of text for people, JSON for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "model_page.h"

static const char *print(char buf[MODEL_VALUE], double value, const char *unit)
{
	snprintf(buf, MODEL_VALUE, "%.3g%s", value, unit);
	/* 3e+02 */
	if (strchr(buf, 'e'))
		snprintf(buf, MODEL_VALUE, "%.0f%s", value, unit);
	return buf;
}

static const char *print_bytes(char buf[MODEL_VALUE], double value)
{
	double size = fabs(value);

	if (size >= 999.5e6)
		return print(buf, value / 1e9, "GB");
	if (size >= 999.5e3)
		return print(buf, value / 1e6, "MB");
	return size >= 999.5 ? print(buf, value / 1e3, "KB") : print(buf, value, "B");
}

static const char *print_rate(char buf[MODEL_VALUE], double value)
{
	if (value >= 999.5e9)
		return print(buf, value / 1e12, "tbit");
	if (value >= 999.5e6)
		return print(buf, value / 1e9, "gbit");
	return value >= 999.5e3 ? print(buf, value / 1e6, "mbit") : print(buf, value / 1e3, "kbit");
}

static const char *print_time(char buf[MODEL_VALUE], double value)
{
	double size = fabs(value);

	if (size >= 999.5e3)
		return print(buf, value / 1e6, "s");
	if (size >= 999.5)
		return print(buf, value / 1e3, "ms");
	return size >= 1 || !size ? print(buf, value, "us") : print(buf, value * 1e3, "ns");
}

const char *model_value(char buf[MODEL_VALUE], const struct dcqcn_model_field *field,
			double value)
{
	if (field->automatic && value == DCQCN_MODEL_AUTO)
		return "auto";
	switch (field->unit) {
	case DCQCN_MODEL_WORD:
		return field->words[(int)value];
	case DCQCN_MODEL_BPS:
		return print_rate(buf, value);
	case DCQCN_MODEL_BYTES:
		return print_bytes(buf, value);
	case DCQCN_MODEL_US:
		return print_time(buf, value);
	case DCQCN_MODEL_SHARE:
		return print(buf, 100 * value, "%");
	case DCQCN_MODEL_M:
		return print(buf, value, "m");
	default:
		return print(buf, value, "");
	}
}

/* Print the lines of a group that has no format of its own */
static void print_group(const struct dcqcn_model_output *out, const char *group)
{
	char buf[MODEL_VALUE];

	printf("\n%s\n", group);
	for (const struct dcqcn_model_field *f = dcqcn_model_outputs; f->key; f++) {
		if (!strcmp(f->group, group))
			printf("  %-50s %10s\n", f->help,
			       model_value(buf, f, *(const double *)((const char *)out +
								     f->offset)));
	}
}

static void print_threshold(const char *name, const char *used, const char *best, double drain,
			    double share)
{
	char buf[MODEL_VALUE];

	printf("  %-10s %12s %12s", name, used, best);
	if (drain)
		printf(" %12s", print_time(buf, drain));
	if (share)
		printf(" %12s", print(buf, 100 * share, "%"));
	printf("\n");
}

static void print_thresholds(const struct dcqcn_model_output *out)
{
	char a[MODEL_VALUE], b[MODEL_VALUE];

	printf("\n%-12s %12s %12s %12s %12s\n", "thresholds", "used", "recommended", "drains in",
	       "of the buffer");
	print_threshold("Kmin", print_bytes(a, out->kmin_bytes),
			print_bytes(b, out->best_kmin_bytes), out->kmin_drain_us,
			out->kmin_buffer_share);
	print_threshold("Kmax", print_bytes(a, out->kmax_bytes),
			print_bytes(b, out->best_kmax_bytes), out->kmax_drain_us,
			out->kmax_buffer_share);
	print_threshold("Pmax", print(a, 100 * out->pmax_share, "%"),
			print(b, 100 * out->best_pmax_share, "%"), 0, 0);
	if (!out->xoff_bytes)
		return;
	print_threshold("xOFF", print_bytes(a, out->xoff_bytes),
			print_bytes(b, out->best_xoff_bytes), out->xoff_drain_us, 0);
	print_threshold("xON", print_bytes(a, out->xon_bytes),
			print_bytes(b, out->best_xon_bytes), 0, 0);
}

static void print_regime(const char *name, const char *queue, const char *marks, double time)
{
	char buf[MODEL_VALUE];

	printf("  %-10s %25s %12s %12s\n", name, queue, marks, print(buf, 100 * time, "%"));
}

/* Print the curve, one regime after the other */
static void print_curve(const struct dcqcn_model_output *out)
{
	char kmin[MODEL_VALUE], kmax[MODEL_VALUE], pmax[MODEL_VALUE];
	char queue[3 * MODEL_VALUE], marks[2 * MODEL_VALUE];
	double between = fmax(0, 1 - out->below_kmin_share - out->above_kmax_share);

	print_bytes(kmin, out->kmin_bytes);
	print_bytes(kmax, out->kmax_bytes);
	print(pmax, 100 * out->pmax_share, "%");
	printf("\n%-12s %25s %12s %12s\n", "curve", "queue", "marked", "of the time");
	snprintf(queue, sizeof(queue), "0 to %s", kmin);
	print_regime("none", queue, "0%", out->below_kmin_share);
	snprintf(queue, sizeof(queue), "%s to %s", kmin, kmax);
	snprintf(marks, sizeof(marks), "up to %s", pmax);
	print_regime("rising", queue, marks, between);
	snprintf(queue, sizeof(queue), "above %s", kmax);
	print_regime("all", queue, "100%", out->above_kmax_share);
}

static void print_findings(void)
{
	const struct dcqcn_model_finding *list;
	size_t n = dcqcn_model_findings(&list);

	printf("\nfindings\n");
	for (size_t i = 0; i < n; i++)
		printf("  %s %s: %s\n", list[i].severe ? "!" : "-", list[i].field, list[i].text);
	if (!n)
		printf("  nothing is wrong with these thresholds\n");
}

void model_page_text(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	char speed[MODEL_VALUE], rtt[MODEL_VALUE], bdp[MODEL_VALUE];
	const struct dcqcn_model_field *f = dcqcn_model_inputs;
	double word = in->algorithm ? in->algorithm : in->profile;
	const char *what = in->algorithm ? "algorithm" : "profile";

	while (strcmp(f->key, what))
		f++;
	printf("%.0f flows of %s %s over %s", in->flows, what, f->words[(int)word],
	       print_rate(speed, in->speed_bps));
	if (out->uplinks)
		printf(" behind %.0f uplink%s", out->uplinks, out->uplinks == 1 ? "" : "s");
	printf(", round trip %s, bandwidth-delay product %s\n", print_time(rtt, out->rtt_us),
	       print_bytes(bdp, out->bdp_bytes));
	print_thresholds(out);
	if (in->tiers > 1)
		print_group(out, "leaf: ports to hosts");
	if (in->tiers > 1)
		print_group(out, "spine: ports to leaves");
	if (in->tiers > 2)
		print_group(out, "core: ports to spines");
	print_curve(out);
	print_group(out, "operating point");
	print_group(out, "stability");
	print_group(out, "start");
	if (in->pfc) {
		print_group(out, "headroom");
		print_group(out, "braking distance");
	}
	print_group(out, "pauses and losses");
	if (in->congested_hops > 1)
		print_group(out, "several hops");
	if (in->burst)
		print_group(out, "bursts");
	if (in->sizes)
		print_group(out, "arrivals");
	print_group(out, "verdicts");
	print_findings();
	print_group(out, "computation");
}

static void json_fields(const char *name, const struct dcqcn_model_field *fields,
			const void *structure)
{
	json_open_object(name);
	for (const struct dcqcn_model_field *f = fields; f->key; f++) {
		double value = *(const double *)((const char *)structure + f->offset);

		if (f->words)
			json_string(f->name, f->words[(int)value]);
		else
			json_exact(f->name, value);
	}
	json_close_object();
}

static void json_findings(void)
{
	const struct dcqcn_model_finding *list;
	size_t n = dcqcn_model_findings(&list);

	json_open_array("findings");
	for (size_t i = 0; i < n; i++) {
		json_open_object(NULL);
		json_string("field", list[i].field);
		json_number("severe", list[i].severe);
		json_exact("is", list[i].is);
		json_exact("should", list[i].should);
		json_string("text", list[i].text);
		json_close_object();
	}
	json_close_array();
}

static void json_samples(void)
{
	const struct dcqcn_model_sample *list;
	size_t n = dcqcn_model_samples(&list);

	json_open_array("samples");
	for (size_t i = 0; i < n; i++) {
		json_open_object(NULL);
		json_exact("time_us", list[i].time_us);
		json_exact("queue_bytes", list[i].queue_bytes);
		json_exact("rate_bps", list[i].rate_bps);
		json_close_object();
	}
	json_close_array();
}

void model_page_json(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out)
{
	char text[DCQCN_MODEL_CONFIG_TEXT];

	json_open_object(NULL);
	json_fields("input", dcqcn_model_inputs, in);
	json_fields("output", dcqcn_model_outputs, out);
	json_findings();
	json_samples();
	json_open_object("config");
	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		dcqcn_model_config(in, out, i, text);
		json_string(dcqcn_model_targets[i], text);
	}
	json_close_object();
	json_close_object();
}

void model_page_help(void)
{
	char low[MODEL_VALUE], high[MODEL_VALUE], value[MODEL_VALUE];
	const char *group = "";

	for (const struct dcqcn_model_field *f = dcqcn_model_inputs; f->key; f++) {
		if (strcmp(f->group, group))
			printf("\n%s\n", f->group);
		group = f->group;
		printf("  %-15s %-52s %10s  ", f->key, f->help, model_value(value, f, f->value));
		if (f->words) {
			for (int i = 0; f->words[i]; i++)
				printf("%s%s", i ? ", " : "", f->words[i]);
		} else {
			printf("%s to %s", model_value(low, f, f->min),
			       model_value(high, f, f->max));
		}
		printf("\n");
	}
	printf("\npresets\n");
	for (const struct dcqcn_model_preset *p = dcqcn_model_presets; p->name; p++)
		printf("  %-15s %s\n", p->name, p->title);
	printf("\nconfigurations\n");
	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++)
		printf("  %-15s %s\n", dcqcn_model_targets[i], dcqcn_model_target_notes[i]);
}
