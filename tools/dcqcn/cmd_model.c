// SPDX-License-Identifier: GPL-2.0
/* dcqcn model: thresholds for a fabric, and what they do. */
#include <err.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
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
		errx(EXIT_FAILURE, "%s", problem);
}

static void print_config(const struct dcqcn_model_input *in,
			 const struct dcqcn_model_output *out, const char *target)
{
	char text[DCQCN_MODEL_CONFIG_TEXT];

	for (int i = 0; i < DCQCN_MODEL_TARGETS; i++) {
		if (strcmp(dcqcn_model_targets[i], target))
			continue;
		dcqcn_model_config(in, out, i, text);
		fputs(text, stdout);
		return;
	}
	errx(EXIT_FAILURE, "--config: \"%s\" is none of dcbport, tc, host, sonic, other", target);
}

/* The simulator is beside the source only. It is told the inputs in a file. */
static _Noreturn void simulate(const struct dcqcn_model_input *in)
{
	char file[] = "/tmp/dcqcn-model-XXXXXX.toml", sim[PATH_MAX], self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;
	FILE *f;

	if (n < 0)
		err(EXIT_FAILURE, "/proc/self/exe");
	self[n] = '\0';
	if (snprintf(sim, sizeof(sim), "%s/../sim/sim", dirname(self)) >= (int)sizeof(sim) ||
	    access(sim, X_OK))
		errx(EXIT_FAILURE,
		     "--simulate: there is no simulator (it works in a source tree only)");
	fd = mkstemps(file, strlen(".toml"));
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		err(EXIT_FAILURE, "%s", file);
	model_input_write(in, f);
	if (fclose(f))
		err(EXIT_FAILURE, "%s", file);
	execl(sim, "sim", "model", "--remove", file, NULL);
	err(EXIT_FAILURE, "%s", sim);
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
		errx(EXIT_FAILURE, "--sweep: \"%s\" is not KEY=VALUE,VALUE,...", text);
	*values++ = '\0';
	field = model_input_field(text);
	if (!field)
		errx(EXIT_FAILURE, "--sweep: %s: no such input (dcqcn model --help lists them)",
		     text);
	for (char *v = strtok(values, ","); v; v = strtok(NULL, ",")) {
		if (n == SWEEP_MAX)
			errx(EXIT_FAILURE, "--sweep: more than %d values", SWEEP_MAX);
		model_input_set(&in, "--sweep: ", text, v);
		check(&in);
		dcqcn_model_solve(&in, &points[n].out);
		points[n++].value = *dcqcn_model_at(&in, field);
	}
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
	const char *command = "model";

	if (*words && !model_input_field(*words) && access(*words, F_OK) == 0)
		model_input_read(in, *words++);
	for (; *words; words += 2) {
		if (!words[1] && model_input_field(words[0]))
			errx(EXIT_FAILURE, "%s: its value is missing", words[0]);
		if (!words[1] && strchr(words[0], '.'))
			err(EXIT_FAILURE, "%s", words[0]);
		if (!words[1])
			usage(command);
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
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	const char *output = NULL, *target = NULL;
	struct dcqcn_model_input in;
	struct dcqcn_model_output out;
	char *swept = NULL;
	bool simulated = false;
	int c;

	dcqcn_model_defaults(&in);
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			output = optarg;
			plot_check_output(output);
			break;
		case 'p':
			model_input_preset(&in, "", optarg);
			break;
		case 'c':
			target = optarg;
			break;
		case 's':
			swept = optarg;
			break;
		case 'S':
			simulated = true;
			break;
		case 'h':
			model_page_help();
			return EXIT_SUCCESS;
		default:
			usage(argv[0]);
		}
	}
	read_words(&in, argv + optind);
	if (swept) {
		sweep(in, swept, output);
		return EXIT_SUCCESS;
	}
	check(&in);
	if (simulated)
		simulate(&in);
	dcqcn_model_solve(&in, &out);
	if (output)
		model_plot(output, &in, &out);
	if (target)
		print_config(&in, &out, target);
	else if (option_json)
		model_page_json(&in, &out);
	else
		model_page_text(&in, &out);
	return EXIT_SUCCESS;
}
