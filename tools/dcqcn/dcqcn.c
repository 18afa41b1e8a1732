// SPDX-License-Identifier: GPL-2.0
/* dcqcn: see and set the congestion control of rxe devices. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "unit.h"

bool option_json;

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool json;
	const char *arguments;
	const char *help;
};

static const struct command commands[] = {
	{ "show", cmd_show, true, "[DEV]", "devices and their settings" },
	{ "qp", cmd_qp, true, "[dev DEV] [qpn QPN]",
	  "QPs that have met congestion, and their rates" },
	{ "stat", cmd_stat, true, "[-i INTERVAL] [DEV]",
	  "counters, and what they grow by per second" },
	{ "watch", cmd_watch, false, "[-i INTERVAL] [-n COUNT] [dev DEV] [qpn QPN]",
	  "devices and QPs, again and again" },
	{ "set", cmd_set, false, "dev DEV KNOB VALUE [KNOB VALUE ...]",
	  "turn knobs, all at once or none" },
	{ "profile", cmd_profile, true,
	  "[list | show PROFILE | apply PROFILE [dev DEV]]",
	  "knobs that go together" },
	{ "save", cmd_save, false, "[-o FILE] [DEV]", "settings as text" },
	{ "restore", cmd_restore, false, "[dev DEV] [FILE]",
	  "what save wrote, from /etc/rdma_dcqcn.conf by default" },
	{ "record", cmd_record, false,
	  "[-i INTERVAL] [-d DURATION] [-o FILE] [dev DEV] [qpn QPN]",
	  "QPs over time, as CSV" },
	{ "plot", cmd_plot, false, "[-o FILE.png|FILE.svg] FILE.csv",
	  "a picture of a record" },
	{ "doctor", cmd_doctor, true,
	  "[--peer HOST] [-i INTERVAL] [dev DEV]",
	  "what keeps the control loop from working" },
	{ "port", cmd_port, true,
	  "[show [DEV] | stat [DEV] | watch [-i INTERVAL] [-n COUNT] [DEV] | "
	  "set dev DEV KEY VALUE ... [prio PRIO KEY VALUE ...] | "
	  "switch [new NAME | set NAME | del NAME] [KEY VALUE ...]]",
	  "switch ports of the module dcbport" },
	{ "model", cmd_model, true,
	  "[-o FILE.png|FILE.svg] [--preset NAME] [--config TARGET] [--sweep KEY=VALUE,VALUE,...] "
	  "[--simulate] [FILE.toml] [KEY VALUE ...]",
	  "thresholds for a fabric, and what they do" },
	{}
};

static void print_usage(FILE *out)
{
	fprintf(out, "usage: dcqcn [-j] COMMAND ...\n\n");
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  dcqcn %s %s\n\t%s\n", c->name, c->arguments,
			c->help);
	fprintf(out, "\n-j: JSON. See dcqcn(8).\n");
}

static const struct command *find(const char *name)
{
	for (const struct command *c = commands; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

void usage(const char *command)
{
	fprintf(stderr, "usage: dcqcn %s %s\n", command,
		find(command)->arguments);
	exit(EXIT_FAILURE);
}

unsigned long long option_nsec(const char *arg)
{
	uint64_t nsec;

	if (!unit_parse_nsec(arg, &nsec))
		errx(EXIT_FAILURE, "\"%s\" is no time: use 10us, 50ms or 2s",
		     arg);
	return nsec;
}

/* -j is taken anywhere, as long as it is a word of its own */
static int take_json(int argc, char **argv)
{
	int kept = 1;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-j") || !strcmp(argv[i], "--json"))
			option_json = true;
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	return kept;
}

int main(int argc, char **argv)
{
	const struct command *command;

	argc = take_json(argc, argv);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_FAILURE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return EXIT_SUCCESS;
	}
	command = find(argv[1]);
	if (!command)
		errx(EXIT_FAILURE, "no command \"%s\": see dcqcn help",
		     argv[1]);
	if (option_json && !command->json)
		errx(EXIT_FAILURE, "%s knows no JSON", command->name);
	return command->run(argc - 1, argv + 1);
}
