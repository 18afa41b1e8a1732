// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn try: shows what DCQCN does, on this machine alone. A script does the work, with the values
 * of the options in bit/s, nanoseconds and percent.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arg.h"
#include "command.h"
#include "commands.h"
#include "fail.h"
#include "script.h"
#include "unit.h"

#define OPTIONS_MAX	16	/* words that are passed on */
#define RATE_MIN	1e6	/* bit/s */
#define RATE_MAX	100e9
#define NSEC_PER_SEC	1000000000ULL
#define DURATION_MAX	3600	/* s */

static char **words;
static int n;

static void add(const char *word)
{
	words[n++] = (char *)word;
}

static void add_number(const char *name, double value)
{
	char *text;

	if (asprintf(&text, "--%s=%.15g", name, value) < 0)
		abort();
	add(text);
}

static void add_rate(const char *text)
{
	double rate;

	if (!unit_read(UNIT_KIND_RATE, text, 0, &rate))
		fail("--rate: \"%s\" is not a rate, such as 100mbit", text);
	if (rate < RATE_MIN || rate > RATE_MAX)
		fail("--rate: %s is out of range: 1mbit to 100gbit", text);
	add_number("rate", rate);
}

static void add_loss(const char *text)
{
	double share;

	if (!unit_read(UNIT_KIND_SHARE, text, 0, &share) || share > 1)
		fail("--loss: \"%s\" is not a share, such as 0.1%%", text);
	add_number("loss", share * 100);
}

static void add_duration(const char *text)
{
	uint64_t nsec = arg_nsec(text);

	if (nsec < NSEC_PER_SEC || nsec > DURATION_MAX * NSEC_PER_SEC)
		fail("-d: %s is out of range: 1s to 1h", text);
	add_number("seconds", nsec / (double)NSEC_PER_SEC);
}

int cmd_try(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, 'c' },
		{ "rate", required_argument, NULL, 'r' },
		{ "loss", required_argument, NULL, 'l' },
		{ "delay", required_argument, NULL, 'y' },
		{ "load", no_argument, NULL, 'o' },
		{ "stock", no_argument, NULL, 's' },
		{}
	};
	bool command_only = false, check = false;
	char self[PATH_MAX];
	int c;

	words = calloc(argc + OPTIONS_MAX, sizeof(*words));
	if (!words)
		fail_errno("try");
	add("python3");
	add("-B");
	add(script_find("../try", "try"));
	if (option_json)
		add("--json");
	/* each at most as often as there are words */
	while ((c = arg_option(argc, argv, "+:d:", options)) != -1) {
		switch (c) {
		case 'c':
			check = true;
			add("--check");
			break;
		case 'd':
			add_duration(optarg);
			break;
		case 'r':
			add_rate(optarg);
			break;
		case 'l':
			add_loss(optarg);
			break;
		case 'y':
			add_number("delay", arg_nsec(optarg));
			break;
		case 'o':
		case 's':
			command_only = true;
			add(c == 'o' ? "--load" : "--stock");
			break;
		}
	}
	if (check && option_json)
		fail("try: --check prints TAP, no JSON");
	if (command_only && !argv[optind])
		fail("try: --load and --stock need a COMMAND");
	if (argv[optind]) {
		add("--");
		while (argv[optind])
			add(argv[optind++]);
	}
	/* it asks the doctor about a program that hangs */
	if (setenv("DCQCN_COMMAND", realpath("/proc/self/exe", self) ?: "dcqcn", true))
		fail_errno("try");
	execvp(words[0], words);
	fail_errno("python3");
}
