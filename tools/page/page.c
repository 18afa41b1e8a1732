// SPDX-License-Identifier: GPL-2.0
/*
 * The model as the page calls it: numbers in arrays, texts as UTF-8 that ends in a zero.
 * All structures of the model are doubles in the order of its tables, so the page needs
 * no offsets.
 */
#include <linux/types.h>

#include "model.h"
#include "text.h"

#define EXPORT(name)	__attribute__((export_name(name)))

#define FIELDS_TEXT	65536

static struct dcqcn_model_input input;
static struct dcqcn_model_output output;
static char problem[DCQCN_MODEL_TEXT];
static char config[DCQCN_MODEL_CONFIG_TEXT];
static char fields[FIELDS_TEXT];
static double range[3];

static const char * const units[] = {
	[DCQCN_MODEL_NUMBER] = "number",
	[DCQCN_MODEL_BPS] = "bps",
	[DCQCN_MODEL_BYTES] = "bytes",
	[DCQCN_MODEL_US] = "us",
	[DCQCN_MODEL_SHARE] = "share",
	[DCQCN_MODEL_M] = "m",
	[DCQCN_MODEL_WORD] = "word",
};

/* JSON; no text of the model needs an escape but for these */
static void add_string(struct text *t, const char *string)
{
	char c[2] = "";

	text_add(t, "\"");
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			text_add(t, "\\");
		c[0] = *string == '\n' ? ' ' : *string;
		text_add(t, c);
	}
	text_add(t, "\"");
}

static void add_member(struct text *t, const char *name, const char *value)
{
	add_string(t, name);
	text_add(t, ":");
	add_string(t, value);
	text_add(t, ",");
}

static void add_words(struct text *t, const char * const *words)
{
	size_t i;

	text_add(t, "\"words\":[");
	for (i = 0; words && words[i]; i++) {
		text_add(t, i ? "," : "");
		add_string(t, words[i]);
	}
	text_add(t, "],");
}

static void add_fields(struct text *t, const char *name, const struct dcqcn_model_field *f)
{
	bool first = true;

	add_string(t, name);
	text_add(t, ":[");
	for (; f->key; f++) {
		text_add(t, first ? "{" : ",{");
		first = false;
		add_member(t, "group", f->group);
		add_member(t, "key", f->key);
		add_member(t, "name", f->name);
		add_member(t, "unit", units[f->unit]);
		add_member(t, "help", f->help);
		add_words(t, f->words);
		text_add(t, f->whole ? "\"whole\":true," : "\"whole\":false,");
		text_add(t, f->automatic ? "\"automatic\":true}" : "\"automatic\":false}");
	}
	text_add(t, "]");
}

static void add_names(struct text *t)
{
	size_t i;

	text_add(t, ",\"presets\":[");
	for (i = 0; dcqcn_model_presets[i].name; i++) {
		text_add(t, i ? ",{" : "{");
		add_member(t, "name", dcqcn_model_presets[i].name);
		text_add(t, "\"title\":");
		add_string(t, dcqcn_model_presets[i].title);
		text_add(t, "}");
	}
	text_add(t, "],\"targets\":[");
	for (i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		text_add(t, i ? "," : "");
		add_string(t, dcqcn_model_targets[i]);
	}
	text_add(t, "],\"notes\":[");
	for (i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		text_add(t, i ? "," : "");
		add_string(t, dcqcn_model_target_notes[i]);
	}
	text_add(t, "]}");
}

/* What inputs, outputs, presets and targets there are: JSON */
EXPORT("fields") const char *page_fields(void)
{
	struct text t = text_begin(fields, sizeof(fields));

	text_add(&t, "{");
	add_fields(&t, "inputs", dcqcn_model_inputs);
	text_add(&t, ",");
	add_fields(&t, "outputs", dcqcn_model_outputs);
	add_names(&t);
	return fields;
}

/* Least, greatest and usual value of an input */
EXPORT("range") const double *page_range(size_t index)
{
	const struct dcqcn_model_field *f = &dcqcn_model_inputs[index];

	range[0] = f->min;
	range[1] = f->max;
	range[2] = f->value;
	return range;
}

EXPORT("input") const struct dcqcn_model_input *page_input(void)
{
	return &input;
}

EXPORT("output") const struct dcqcn_model_output *page_output(void)
{
	return &output;
}

EXPORT("preset") void page_preset(size_t preset)
{
	dcqcn_model_preset(&input, preset);
}

/* An empty text, and the output is set; else what is wrong with the input */
EXPORT("solve") const char *page_solve(void)
{
	problem[0] = '\0';
	if (dcqcn_model_check(&input, problem))
		dcqcn_model_solve(&input, &output);
	return problem;
}

EXPORT("chance") double page_chance(double queue_bytes)
{
	return dcqcn_model_chance(&output, queue_bytes);
}

/* Each sample is three numbers; see struct dcqcn_model_sample */
EXPORT("samples") const struct dcqcn_model_sample *page_samples(void)
{
	const struct dcqcn_model_sample *samples;

	dcqcn_model_samples(&samples);
	return samples;
}

EXPORT("num_samples") size_t page_num_samples(void)
{
	const struct dcqcn_model_sample *samples;

	return dcqcn_model_samples(&samples);
}

EXPORT("num_findings") size_t page_num_findings(void)
{
	const struct dcqcn_model_finding *findings;

	return dcqcn_model_findings(&findings);
}

EXPORT("finding_field") const char *page_finding_field(size_t index)
{
	const struct dcqcn_model_finding *findings;

	dcqcn_model_findings(&findings);
	return findings[index].field;
}

EXPORT("finding_text") const char *page_finding_text(size_t index)
{
	const struct dcqcn_model_finding *findings;

	dcqcn_model_findings(&findings);
	return findings[index].text;
}

EXPORT("finding_severe") bool page_finding_severe(size_t index)
{
	const struct dcqcn_model_finding *findings;

	dcqcn_model_findings(&findings);
	return findings[index].severe;
}

EXPORT("finding_should") double page_finding_should(size_t index)
{
	const struct dcqcn_model_finding *findings;

	dcqcn_model_findings(&findings);
	return findings[index].should;
}

EXPORT("config") const char *page_config(size_t target)
{
	dcqcn_model_config(&input, &output, target, config);
	return config;
}
