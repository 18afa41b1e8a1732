// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn port save and restore: switches and ports as lines, such as
 *
 *	switch NAME KEY VALUE ...
 *	port DEV KEY VALUE ... prio PRIO KEY VALUE ...
 *
 * Restoring makes the switches that do not exist, and ports of the devices that do. A device that
 * does not exist is skipped: udev restores it when it appears, with the switches.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "child.h"
#include "clean.h"
#include "commands.h"
#include "fail.h"
#include "port.h"
#include "portkey.h"
#include "port_request.h"
#include "replace.h"

#define DEFAULT_FILE	"/etc/dcbport.conf"
#define WORDS		512	/* of a line; a port has 330 */

/* --- save ----------------------------------------------------------------- */

static void save_keys(FILE *out, const struct portkey *keys,
		      const struct nlattr * const *tb)
{
	for (; keys->name; keys++) {
		if (!tb[keys->attr])
			continue;
		fprintf(out, " %s ", keys->name);
		portkey_save(out, keys, tb[keys->attr]);
	}
}

static void save_switch(const struct nlattr **tb, void *out)
{
	fprintf(out, "switch %s", netlink_string(tb[DCBPORT_A_SWITCH_NAME]));
	save_keys(out, switch_keys, tb);
	putc('\n', out);
}

/* What the port's keys set for all priorities is in the keys of each */
static void save_port(const struct port *port, void *out)
{
	const struct nlattr *tb[DCBPORT_A_PORT_MAX + 1];

	memcpy(tb, port->tb, sizeof(tb));
	for (const struct portkey *key = class_keys; key->name; key++) {
		const struct portkey *all = portkey_find(port_keys, key->name);

		if (all)
			tb[all->attr] = NULL;
	}
	fprintf(out, "port %s", netlink_string(tb[DCBPORT_A_PORT_IFNAME]));
	save_keys(out, port_keys, tb);
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		fprintf(out, " prio %d", prio);
		save_keys(out, class_keys, port->class[prio]);
	}
	putc('\n', out);
}

int cmd_port_save(int argc, char **argv)
{
	const char *file = NULL, *dev;
	char *text = NULL;
	size_t len;
	FILE *out;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		file = optarg;
	dev = arg_dev(argv + optind);
	out = open_memstream(&text, &len);
	if (!out)
		fail_errno("memory");
	fprintf(out, "# dcqcn port restore: switches, ports\n");
	netlink_dump(netlink_request(&port_family, DCBPORT_CMD_SWITCH_GET, NULL),
		     DCBPORT_A_SWITCH_MAX, save_switch, out);
	port_dump(dev, save_port, out);
	if (fclose(out))
		fail_errno("memory");
	if (file)
		replace_file(file, text, len);
	else
		fputs(text, stdout);
	free(text);
	return EXIT_SUCCESS;
}

/* --- restore -------------------------------------------------------------- */

/* Adding the same qdisc again changes nothing */
static void make_port(const char *dev)
{
	char *argv[] = { "tc", "qdisc", "replace", "dev", (char *)dev, "root",
			 "dcbport", NULL };
	pid_t child;
	FILE *in = child_open(argv, &child);

	if (!in || !child_close(in, child))
		fail("%s: tc qdisc replace dev %s root dcbport fails: run it to see why",
		     dev, dev);
}

/* tc loads it when it makes a port, but switches come first. If it is loaded, modprobe does
 * nothing; if it is being loaded, as for another device, modprobe waits.
 */
static void load_module(void)
{
	char *argv[] = { "modprobe", "-q", "dcbport", NULL };
	static bool loaded;
	pid_t child;
	FILE *in;

	if (loaded)
		return;
	in = child_open(argv, &child);
	if (in)
		child_close(in, child);
	loaded = true;
}

/* A line of the file, as words with a NULL after them. @where: the file and the number. @again: of a
 * switch that must wait for its ports.
 */
struct line {
	char *where, *text, *words[WORDS + 1];
	bool again;
};

struct lines {
	struct line *line;
	size_t num;
};

static bool is_switch(const struct line *line)
{
	return !strcmp(line->words[0], "switch");
}

/* Takes @text */
static void add_line(struct lines *lines, char *text, const char *file, int n)
{
	struct line line = { .text = text };
	int num = 0;

	clean_line(text);
	for (char *w = strtok(text, " \t"); w && num < WORDS; w = strtok(NULL, " \t"))
		line.words[num++] = w;
	if (!num) {
		free(text);
		return;
	}
	if (asprintf(&line.where, "%s:%d: ", file, n) < 0)
		fail_errno("memory");
	if (num < 2 || (!is_switch(&line) && strcmp(line.words[0], "port")))
		fail("%smust begin with switch or port, and its name", line.where);
	lines->line = reallocarray(lines->line, lines->num + 1, sizeof(line));
	if (!lines->line)
		fail_errno("memory");
	lines->line[lines->num++] = line;
}

static struct lines read_lines(const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "r") : stdin;
	struct lines lines = {};
	char *text = NULL;
	size_t size = 0;

	if (!f)
		fail_errno(file);
	for (int n = 1; getline(&text, &size, f) != -1; n++, text = NULL, size = 0)
		add_line(&lines, text, file, n);
	if (ferror(f))
		fail_errno(file);
	free(text);
	fclose(f);
	return lines;
}

/* @only: the only device to restore, or NULL */
static bool is_port(const struct line *line, const char *only)
{
	return !is_switch(line) && (!only || !strcmp(only, line->words[1])) &&
	       if_nametoindex(line->words[1]);
}

/* A device that appears and has no line must change nothing, neither switches */
static bool concerns(const struct lines *lines, const char *only)
{
	for (size_t i = 0; only && i < lines->num; i++) {
		if (is_port(&lines->line[i], only))
			return true;
	}
	return !only;
}

static void restore_line(void *data)
{
	struct line *line = data;

	fail_at(line->where);
	if (is_switch(line)) {
		load_module();
		line->again = !port_switch_restore(line->words[1], line->words + 2);
	} else {
		make_port(line->words[1]);
		port_set(line->words[1], line->words + 2);
	}
}

static void set_again(void *data)
{
	struct line *line = data;

	fail_at(line->where);
	port_switch(DCBPORT_CMD_SWITCH_SET, line->words[1], line->words + 2);
}

/* A line that fails costs only itself. Return whether none does. */
static bool restore(const struct lines *lines, const char *only)
{
	bool ok = true;

	for (size_t i = 0; i < lines->num; i++) {
		struct line *line = &lines->line[i];

		if (is_switch(line) || is_port(line, only))
			ok &= fail_survive(restore_line, line);
	}
	for (size_t i = 0; i < lines->num; i++) {
		if (lines->line[i].again)
			ok &= fail_survive(set_again, &lines->line[i]);
	}
	fail_at("");
	return ok;
}

int cmd_port_restore(int argc, char **argv)
{
	const char *file = DEFAULT_FILE, *only = NULL;
	struct lines lines;
	bool ok;

	argc--;
	argv++;
	if (argc && !strcmp(*argv, "dev")) {
		if (argc < 2)
			arg_missing("the device");
		only = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (argc) {
		file = *argv;
		arg_none(argv + 1);
	}
	lines = read_lines(file);
	ok = !concerns(&lines, only) || restore(&lines, only);
	for (size_t i = 0; i < lines.num; i++) {
		free(lines.line[i].where);
		free(lines.line[i].text);
	}
	free(lines.line);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
