// SPDX-License-Identifier: GPL-2.0
/* dcqcn model: recommends thresholds for a fabric, and predicts what they do. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "fail.h"
#include "json.h"
#include "model_input.h"
#include "model_page.h"
#include "model_plot.h"
#include "plot.h"

#define SWEEP_MAX	64

static void check(const struct dcqcn_model_input *in)
{
	char problem[DCQCN_MODEL_TEXT];

	if (!dcqcn_model_check(in, problem))
		fail("%s", problem);
}

static int find_target(const char *name)
{
	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		if (!strcmp(dcqcn_model_targets[i], name))
			return i;
	}
	fail("--config: \"%s\" is not one of dcbport, tc, host, sonic, other", name);
}

static void check_config(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out, int target)
{
	char problem[DCQCN_MODEL_TEXT];

	if (!dcqcn_model_config_check(in, out, target, problem))
		fail("--config %s: %s", dcqcn_model_targets[target], problem);
}

static void print_config(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out, int target)
{
	char text[DCQCN_MODEL_CONFIG_TEXT];

	dcqcn_model_config(in, out, target, text);
	if (option_json) {
		json_open_object(NULL);
		json_string(dcqcn_model_targets[target], text);
		json_close_object();
	} else {
		fputs(text, stdout);
	}
}

/* The simulator exists only in a source tree. It gets the inputs in a file. */
static _Noreturn void simulate(const struct dcqcn_model_input *in)
{
	char file[] = "/tmp/dcqcn-model-XXXXXX.toml", sim[PATH_MAX], self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;
	FILE *f;

	if (option_json)
		fail("--simulate: prints text only, no JSON (sim model --json does)");
	if (n < 0)
		fail_errno("/proc/self/exe");
	self[n] = '\0';
	if (snprintf(sim, sizeof(sim), "%s/../sim/sim", dirname(self)) >= (int)sizeof(sim) ||
	    access(sim, X_OK))
		fail("--simulate: no simulator found (it works in a source tree only)");
	fd = mkstemps(file, strlen(".toml"));
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		fail_errno(file);
	model_input_write(in, f);
	if (fclose(f))
		fail_errno(file);
	execl(sim, "sim", "model", "--remove", file, NULL);
	fail_errno(sim);
}

static void print_points(const struct dcqcn_model_field *field, const struct model_point *points,
			 size_t n)
{
	static const char * const keys[] = { "utilisation", "queue_mean", "queue_p95", "marked",
					     "pfc_per_s", "state_pfc", "state_loss", "state_queue" };
	char buf[MODEL_VALUE];

	printf("%-14s", field->key);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		printf(" %12s", keys[k]);
	printf("\n");
	for (size_t i = 0; i < n; i++) {
		printf("%-14s", model_value(buf, field, points[i].value));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			const struct dcqcn_model_field *f = dcqcn_model_outputs;

			while (strcmp(f->key, keys[k]))
				f++;
			printf(" %12s", model_value(buf, f,
						    *(const double *)((const char *)&points[i].out +
								      f->offset)));
		}
		printf("\n");
	}
}

static void json_points(const struct dcqcn_model_field *field, const struct model_point *points,
			size_t n)
{
	json_open_array(NULL);
	for (size_t i = 0; i < n; i++) {
		json_open_object(NULL);
		if (field->words)
			json_string(field->name, field->words[(int)points[i].value]);
		else
			json_exact(field->name, points[i].value);
		json_open_object("output");
		for (const struct dcqcn_model_field *f = dcqcn_model_outputs; f->key; f++) {
			double value = *(const double *)((const char *)&points[i].out + f->offset);

			if (f->words)
				json_string(f->name, f->words[(int)value]);
			else
				json_exact(f->name, value);
		}
		json_close_object();
		json_close_object();
	}
	json_close_array();
}

/* KEY=VALUE,VALUE,... */
static void sweep(struct dcqcn_model_input in, char *text, const char *output)
{
	static struct model_point points[SWEEP_MAX];
	const struct dcqcn_model_field *field;
	char *values = strchr(text, '=');
	size_t n = 0;

	if (!values)
		fail("--sweep: \"%s\" is not KEY=VALUE,VALUE,...", text);
	*values++ = '\0';
	field = model_input_field(text);
	if (!field)
		fail("--sweep: %s: no such input (dcqcn model help lists them)", text);
	for (char *v = strtok(values, ","); v; v = strtok(NULL, ",")) {
		if (n == SWEEP_MAX)
			fail("--sweep: more than %d values", SWEEP_MAX);
		model_input_set(&in, "--sweep: ", text, v);
		check(&in);
		dcqcn_model_solve(&in, &points[n].out);
		points[n++].value = *dcqcn_model_at(&in, field);
	}
	if (!n)
		fail("--sweep: %s: no values", text);
	if (output)
		model_plot_sweep(output, field, points, n);
	if (option_json)
		json_points(field, points, n);
	else
		print_points(field, points, n);
}

/* A file, and KEY VALUE */
static void read_words(struct dcqcn_model_input *in, char **words)
{
	if (*words && !model_input_field(*words) && access(*words, F_OK) == 0)
		model_input_read(in, *words++);
	for (; *words; words += 2) {
		if (*words[0] == '-')
			fail("model: %s: options must come before inputs", words[0]);
		if (!words[1] && access(words[0], F_OK) == 0)
			fail("model: %s: give at most one file, before all inputs", words[0]);
		if (!words[1] && strchr(words[0], '.'))
			fail_errno(words[0]);
		if (!words[1] && model_input_field(words[0]))
			arg_missing_value(words[0]);
		model_input_set(in, "", words[0], words[1]);
	}
}

int cmd_model(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "preset", required_argument, NULL, 'p' },
		{ "config", required_argument, NULL, 'c' },
		{ "sweep", required_argument, NULL, 's' },
		{ "simulate", no_argument, NULL, 'S' },
		{}
	};
	const char *output = NULL;
	struct dcqcn_model_input in;
	struct dcqcn_model_output out;
	int c, target = -1;
	char *swept = NULL;
	bool simulated = false;

	dcqcn_model_defaults(&in);
	while ((c = arg_option(argc, argv, "+:o:", options)) != -1) {
		switch (c) {
		case 'o':
			output = optarg;
			plot_check(output);
			break;
		case 'p':
			model_input_preset(&in, "", optarg);
			break;
		case 'c':
			target = find_target(optarg);
			break;
		case 's':
			swept = optarg;
			break;
		case 'S':
			simulated = true;
			break;
		}
	}
	read_words(&in, argv + optind);
	if (swept && (simulated || target >= 0))
		fail("model: --sweep cannot be combined with --simulate or --config");
	if (simulated && (output || target >= 0))
		fail("model: --simulate cannot be combined with -o or --config");
	if (swept) {
		sweep(in, swept, output);
		return EXIT_SUCCESS;
	}
	check(&in);
	if (simulated)
		simulate(&in);
	dcqcn_model_solve(&in, &out);
	if (target >= 0)
		check_config(&in, &out, target);
	if (output)
		model_plot(output, &in, &out);
	if (target >= 0)
		print_config(&in, &out, target);
	else if (option_json)
		model_page_json(&in, &out);
	else
		model_page_text(&in, &out);
	return EXIT_SUCCESS;
}
