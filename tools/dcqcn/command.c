// SPDX-License-Identifier: GPL-2.0
/*
 * The table of commands. Finds a command by its words, which may be shortened,
 * and prints help at every level.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "commands.h"
#include "fail.h"
#include "model_page.h"

#define DEPTH		3	/* words of a command, at most */

/* Commands that begin with the same words stand together; the first of them is
 * what those words mean alone.
 */
struct command {
	const char *word[DEPTH];
	int (*run)(int argc, char **argv);
	bool text_only;
	const char *arguments;
	const char *help;
};

static const struct command commands[] = {
	{ { "show" }, cmd_show, false, "[--as DIALECT] [dev DEV]",
	  "show devices and their settings, also under the names of ecn, cc_params or mlxconfig" },
	{ { "qp" }, cmd_qp, false, "[dev DEV] [qpn QPN]",
	  "show QPs that have met congestion, and their rates" },
	{ { "ccc" }, cmd_ccc, false, "[dev DEV]",
	  "show congestion control contexts, which bound the bytes in flight" },
	{ { "stat" }, cmd_stat, false, "[-i INTERVAL] [dev DEV]",
	  "show counters, and their growth per second" },
	{ { "watch" }, cmd_watch, true,
	  "[-i INTERVAL] [-n COUNT] [dev DEV] [qpn QPN]",
	  "show devices and QPs as a table that refreshes" },
	{ { "set" }, cmd_set, false, "[--from FILE] dev DEV [KNOB VALUE ...]",
	  "set knobs, also to those in the dump of a card; after an error, none is changed" },
	{ { "profile", "list" }, cmd_profile_list, false, "",
	  "list profiles, and the devices that use their values" },
	{ { "profile", "show" }, cmd_profile_show, false, "PROFILE",
	  "show a profile's values" },
	{ { "profile", "apply" }, cmd_profile_apply, false,
	  "PROFILE [dev DEV]", "set knobs to a profile's values" },
	{ { "cc", "list" }, cmd_cc_list, false, "",
	  "list congestion control algorithms, and the devices that use them" },
	{ { "cc", "use" }, cmd_cc_use, false,
	  "ALGORITHM [dev DEV [qpn QPN]]",
	  "choose the congestion control algorithm of devices, or of one QP" },
	{ { "cc", "load" }, cmd_cc_load, false, "FILE",
	  "add an algorithm in eBPF" },
	{ { "cc", "unload" }, cmd_cc_unload, false, "ALGORITHM",
	  "remove what cc load has added" },
	{ { "save" }, cmd_save, true, "[-o FILE] [dev DEV]",
	  "write settings as text" },
	{ { "restore" }, cmd_restore, false, "[dev DEV] [FILE]",
	  "read settings, from /etc/rdma_dcqcn.conf by default" },
	{ { "record" }, cmd_record, true,
	  "[-i INTERVAL] [-d DURATION] [-o FILE] [dev DEV] [qpn QPN]",
	  "record QPs over time, as CSV" },
	{ { "plot" }, cmd_plot, false, "[-o FILE.png|FILE.svg] FILE.csv",
	  "draw a record" },
	{ { "doctor" }, cmd_doctor, false,
	  "[--peer HOST] [--serve] [-i INTERVAL] [HOST] [dev DEV]",
	  "find what is broken and how to fix it" },
	{ { "try" }, cmd_try, false,
	  "[--check] [-d DURATION] [--rate RATE] [--loss SHARE] [--delay TIME] [--load] [--stock] [-- COMMAND ...]",
	  "show what DCQCN does, on this machine alone" },
	{ { "port", "show" }, cmd_port_show, false, "[dev DEV]",
	  "show switch ports of the module dcbport" },
	{ { "port", "stat" }, cmd_port_stat, false, "[--as ethtool] [dev DEV]",
	  "show the counters of ports, also in the form of ethtool -S" },
	{ { "port", "watch" }, cmd_port_watch, false,
	  "[-i INTERVAL] [-n COUNT] [dev DEV]",
	  "show what the classes of ports do, as a table that refreshes" },
	{ { "port", "record" }, cmd_port_record, true,
	  "[-i INTERVAL] [-d DURATION] [-o FILE] [dev DEV]",
	  "record ports over time, as CSV" },
	{ { "port", "set" }, cmd_port_set, false,
	  "dev DEV [KEY VALUE ...] [prio PRIO KEY VALUE ...]",
	  "set keys of a port and its classes; after an error, none is changed" },
	{ { "port", "clear" }, cmd_port_clear, false, "dev DEV",
	  "show a port's counters, and reset its watermarks (..._max)" },
	{ { "port", "save" }, cmd_port_save, true, "[-o FILE] [dev DEV]",
	  "write the settings of switches and ports as text" },
	{ { "port", "restore" }, cmd_port_restore, false, "[dev DEV] [FILE]",
	  "read these settings, from /etc/dcbport.conf by default" },
	{ { "port", "switch", "show" }, cmd_switch_show, false, "",
	  "show switches, whose ports share a buffer" },
	{ { "port", "switch", "new" }, cmd_switch_new, false,
	  "NAME [KEY VALUE ...]", "add a switch" },
	{ { "port", "switch", "set" }, cmd_switch_set, false,
	  "NAME KEY VALUE [KEY VALUE ...]", "change a switch" },
	{ { "port", "switch", "del" }, cmd_switch_del, false, "NAME",
	  "remove a switch that has no ports" },
	{ { "model" }, cmd_model, false,
	  "[-o FILE.png|FILE.svg] [--preset NAME] [--config TARGET] [--sweep KEY=VALUE,VALUE,...] [--simulate] [FILE.toml] [KEY VALUE ...]",
	  "recommend thresholds for a fabric, and predict what they do" },
	{}
};

static const struct command *current = commands;

static const char *word(const struct command *c, int depth)
{
	return depth < DEPTH ? c->word[depth] : NULL;
}

/* The command's words with blanks between them */
static const char *path(const struct command *c, int depth)
{
	static char text[64];
	size_t len = 0;

	*text = '\0';
	for (int i = 0; i < depth && c->word[i]; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s",
				i ? " " : "", c->word[i]);
	return text;
}

const char *command_name(void)
{
	return path(current, DEPTH);
}

const char *command_usage(void)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s%s%s", command_name(),
		 *current->arguments ? " " : "", current->arguments);
	return text;
}

static void print_help(const struct command *first, const struct command *end,
		       int depth)
{
	printf("usage: dcqcn [OPTIONS] %s%s...\n\n", path(first, depth),
	       depth ? " " : "COMMAND ");
	for (const struct command *c = first; c < end; c++) {
		current = c;
		printf("  dcqcn %s\n\t%s\n", command_usage(), c->help);
	}
	printf("\nOPTIONS: -j[son], -p[retty] (JSON, indented), -V[ersion], -h[elp].\n"
	       "Commands may be shortened; dcqcn(8) has the details.\n");
	if (end - first == 1 && first->run == cmd_model)
		model_page_help();
}

static const struct command *table_end(void)
{
	return commands + sizeof(commands) / sizeof(commands[0]) - 1;
}

void command_help(void)
{
	print_help(commands, table_end(), 0);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "-h") || !strcmp(arg, "-help") ||
	       !strcmp(arg, "--help");
}

/* Narrow first..end to the commands that have @arg at @depth, in full or as an
 * unambiguous beginning
 */
static void choose(const struct command **first, const struct command **end,
		   int depth, const char *arg)
{
	const struct command *from = *first, *to = *end;
	const char *found = NULL;
	char names[256] = "";
	size_t len = 0;
	int n = 0;

	for (const struct command *c = from; c < to; c++) {
		const char *name = word(c, depth);

		if (strncmp(name, arg, strlen(arg)) ||
		    (found && !strcmp(found, name)))
			continue;
		found = name;
		n++;
		len += snprintf(names + len, sizeof(names) - len, "%s%s",
				*names ? ", " : "", name);
		if (!strcmp(name, arg)) {
			n = 1;
			break;
		}
	}
	if (n > 1)
		fail("\"%s\" is ambiguous: %s", arg, names);
	if (!n)
		fail("%s%s\"%s\": no such command (dcqcn %s%shelp lists them)",
		     path(from, depth), depth ? ": " : "", arg,
		     path(from, depth), depth ? " " : "");
	while (strcmp(word(from, depth), found))
		from++;
	*first = from;
	while (from < to && !strcmp(word(from, depth), found))
		from++;
	*end = from;
}

/* argv[] begins with the command's words */
int command_run(int argc, char **argv)
{
	const struct command *first = commands, *end = table_end();
	int depth = 0;

	while (word(first, depth) && argv[depth] && !is_help(argv[depth]) &&
	       strcmp(argv[depth], "help")) {
		choose(&first, &end, depth, argv[depth]);
		depth++;
	}
	if (argv[depth] && !strcmp(argv[depth], "help")) {
		print_help(first, end, depth);
		option_json = false;
		return EXIT_SUCCESS;
	}
	for (int i = depth; i < argc && strcmp(argv[i], "--"); i++) {
		if (is_help(argv[i])) {
			print_help(first, end, depth);
			option_json = false;
			return EXIT_SUCCESS;
		}
	}
	current = first;
	if (option_json && first->text_only)
		fail("%s: prints text only, no JSON", command_name());
	depth = depth ?: 1;
	return first->run(argc - depth + 1, argv + depth - 1);
}
