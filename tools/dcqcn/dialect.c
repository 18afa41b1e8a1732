// SPDX-License-Identifier: GPL-2.0
/*
 * Settings as ConnectX cards and their drivers show them: what "grep -r ." prints of ecn/ (MLNX_OFED)
 * and of cc_params/ (mlx5 in debugfs), and what "mlxconfig query" prints. All of these are read,
 * with the rest of the output around them, so that a dump of a card can be applied to a port.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dialect.h"
#include "fail.h"
#include "json.h"
#include "knob.h"

#define BLANKS	" \t\r\n:="

/* Names of the knobs elsewhere. In ecn/ they are ours. */
static const struct name {
	int attr;
	const char *cc_params;
	const char *mlxconfig;
} names[] = {
	{ RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE, "rp_clamp_tgt_rate", "CLAMP_TGT_RATE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_CLAMP_TGT_RATE_AFTER_TIME_INC,
	  "rp_clamp_tgt_rate_ati", "CLAMP_TGT_RATE_AFTER_TIME_INC_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_TIME_RESET, "rp_time_reset", "RPG_TIME_RESET_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_BYTE_RESET, "rp_byte_reset", "RPG_BYTE_RESET_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_THRESHOLD, "rp_threshold", "RPG_THRESHOLD_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_AI_RATE, "rp_ai_rate", "RPG_AI_RATE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_MAX_RATE, "rp_max_rate", "RPG_MAX_RATE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_HAI_RATE, "rp_hai_rate", "RPG_HAI_RATE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_MIN_DEC_FAC, "rp_min_dec_fac", "RPG_MIN_DEC_FAC_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_MIN_RATE, "rp_min_rate", "RPG_MIN_RATE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RATE_TO_SET_ON_FIRST_CNP,
	  "rp_rate_to_set_on_first_cnp", "RATE_TO_SET_ON_FIRST_CNP_P1" },
	{ RDMA_DCQCN_A_SETTINGS_DCE_TCP_G, "rp_dce_tcp_g", "DCE_TCP_G_P1" },
	{ RDMA_DCQCN_A_SETTINGS_DCE_TCP_RTT, "rp_dce_tcp_rtt", "DCE_TCP_RTT_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RATE_REDUCE_MONITOR_PERIOD,
	  "rp_rate_reduce_monitor_period", "RATE_REDUCE_MONITOR_PERIOD_P1" },
	{ RDMA_DCQCN_A_SETTINGS_INITIAL_ALPHA_VALUE,
	  "rp_initial_alpha_value", "INITIAL_ALPHA_VALUE_P1" },
	{ RDMA_DCQCN_A_SETTINGS_RPG_GD, "rp_gd", "RPG_GD_P1" },
	{ RDMA_DCQCN_A_SETTINGS_MIN_TIME_BETWEEN_CNPS,
	  "np_min_time_between_cnps", "MIN_TIME_BETWEEN_CNPS_P1" },
	{ RDMA_DCQCN_A_SETTINGS_CNP_DSCP, "np_cnp_dscp", "CNP_DSCP_P1" },
	{ RDMA_DCQCN_A_SETTINGS_CNP_802P_PRIO, "np_cnp_prio", "CNP_802P_PRIO_P1" },
	{}
};

/* Firmware has one set of priorities for both roles */
#define MLXCONFIG_PRIOS		"ROCE_CC_PRIO_MASK_P1"

/* Shows one setting */
typedef void put_fn(const struct dev *dev, const char *name, uint32_t value);

static void put_json(const struct dev *dev __attribute__((unused)),
		     const char *name, uint32_t value)
{
	json_number(name, value);
}

static void put_ecn(const struct dev *dev, const char *name, uint32_t value)
{
	printf("/sys/class/net/%s/ecn/%s:%u\n", dev->ifname, name, value);
}

static void each_ecn(const struct dev *dev, put_fn *put)
{
	char name[64];

	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		const struct knob *knob = &knobs[i];

		if (!knob->prios) {
			snprintf(name, sizeof(name), "roce_%s/%s", knob->role, knob->name);
			put(dev, name, dev->settings[i]);
			continue;
		}
		for (int prio = 0; prio < 8; prio++) {
			snprintf(name, sizeof(name), "roce_%s/enable/%d", knob->role, prio);
			put(dev, name, dev->settings[i] >> prio & 1);
		}
	}
	if (option_json)
		json_string("roce_rp/" KNOB_ALGORITHM, dev->algorithm);
	else
		printf("/sys/class/net/%s/ecn/roce_rp/" KNOB_ALGORITHM ":%s\n", dev->ifname,
		       dev->algorithm);
}

static void put_cc_params(const struct dev *dev, const char *name, uint32_t value)
{
	printf("/sys/kernel/debug/rdma_dcqcn/%s/cc_params/%s:%u\n", dev->name, name, value);
}

static void each_cc_params(const struct dev *dev, put_fn *put)
{
	for (const struct name *name = names; name->attr; name++)
		put(dev, name->cc_params, dev->settings[name->attr]);
}

static void put_mlxconfig(const struct dev *dev __attribute__((unused)),
			  const char *name, uint32_t value)
{
	printf("        %-43s %u\n", name, value);
}

static void each_mlxconfig(const struct dev *dev, put_fn *put)
{
	for (const struct name *name = names; name->attr; name++)
		put(dev, name->mlxconfig, dev->settings[name->attr]);
	if (dev->settings[RDMA_DCQCN_A_SETTINGS_NP_ENABLE] ==
	    dev->settings[RDMA_DCQCN_A_SETTINGS_RP_ENABLE])
		put(dev, MLXCONFIG_PRIOS, dev->settings[RDMA_DCQCN_A_SETTINGS_RP_ENABLE]);
}

static const struct dialect {
	const char *name;
	void (*each)(const struct dev *dev, put_fn *put);
	put_fn *put;
} dialects[] = {
	{ "ecn", each_ecn, put_ecn },
	{ "cc_params", each_cc_params, put_cc_params },
	{ "mlxconfig", each_mlxconfig, put_mlxconfig },
	{}
};

/* NULL if there is none of that name */
const struct dialect *dialect_find(const char *name)
{
	for (const struct dialect *d = dialects; d->name; d++) {
		if (!strcmp(d->name, name))
			return d;
	}
	return NULL;
}

/* The settings of a port, as text or as members of a JSON object */
void dialect_print(const struct dialect *dialect, const struct dev *dev)
{
	dialect->each(dev, option_json ? put_json : dialect->put);
}

/**
 * struct reading - what a file has told so far
 * @file: its name
 * @line: number of the line
 * @settings: by RDMA_DCQCN_A_SETTINGS_*
 * @known: the bits of those values that were in the file
 * @algorithm: its name, empty if it was not in the file
 */
struct reading {
	const char *file;
	int line;
	uint32_t *settings;
	uint32_t known[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	char algorithm[DEV_NAME_LEN];
};

static void keep(struct reading *r, int attr, uint32_t bits, uint32_t value)
{
	if ((r->settings[attr] ^ value) & bits & r->known[attr])
		fail("%s:%d: %s has two values: the file must describe only one port",
		     r->file, r->line, knobs[attr].name);
	r->settings[attr] = (r->settings[attr] & ~bits) | (value & bits);
	r->known[attr] |= bits;
}

/* 5, 0x5, True(1) */
static uint32_t value_of(const struct reading *r, const char *name, const char *text)
{
	const char *paren = strchr(text, '(');
	unsigned long value;
	char *end;

	text = paren ? paren + 1 : text;
	errno = 0;
	value = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)*text) || (paren ? strcmp(end, ")") : *end) ||
	    errno || value > UINT32_MAX)
		fail("%s:%d: %s: \"%s\" is not a number", r->file, r->line, name, text);
	return value;
}

/* roce_rp/enable/3 */
static bool keep_prio(struct reading *r, const char *path, const char *text)
{
	static const struct {
		const char *dir;
		int attr;
	} roles[] = {
		{ "roce_np/enable/", RDMA_DCQCN_A_SETTINGS_NP_ENABLE },
		{ "roce_rp/enable/", RDMA_DCQCN_A_SETTINGS_RP_ENABLE },
	};

	for (int i = 0; i < 2; i++) {
		const char *at = strstr(path, roles[i].dir);

		if (!at)
			continue;
		at += strlen(roles[i].dir);
		if (*at < '0' || *at > '7' || at[1])
			continue;
		keep(r, roles[i].attr, 1U << (*at - '0'),
		     value_of(r, path, text) ? 0xff : 0);
		return true;
	}
	return false;
}

static void keep_algorithm(struct reading *r, const char *name)
{
	if (*r->algorithm && strcmp(r->algorithm, name))
		fail("%s:%d: %s has two values: the file must describe only one port", r->file,
		     r->line, KNOB_ALGORITHM);
	strncpy(r->algorithm, name, sizeof(r->algorithm) - 1);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* RDMA_DCQCN_A_SETTINGS_*, 0 if no dialect knows the name */
static int attr_of(const char *name)
{
	const struct knob *knob = knob_by_name(name);

	if (knob && !knob->prios)
		return knob_attr(knob);
	for (const struct name *n = names; n->attr; n++) {
		if (!strcmp(n->cc_params, name) || !strcmp(n->mlxconfig, name))
			return n->attr;
	}
	return 0;
}

/* Colons end a name, except in the directories of its path: a PCI address has some */
static void join_path(char *line)
{
	char *slash = memrchr(line, '/', strcspn(line, " \t"));

	for (char *s = line; slash && s < slash; s++) {
		if (*s == ':')
			*s = '.';
	}
}

/* A name, and the last word after it: mlxconfig may show what applies now before what will */
static void read_line(struct reading *r, char *line)
{
	const char *name, *value = NULL;
	int attr;

	join_path(line);
	name = strtok(line, BLANKS);
	if (name && !strcmp(name, "*"))		/* differs from the default */
		name = strtok(NULL, BLANKS);
	if (!name)
		return;
	for (const char *word; (word = strtok(NULL, BLANKS));)
		value = word;
	if (!value || keep_prio(r, name, value))
		return;
	name = last_part(name);
	if (!strcmp(name, MLXCONFIG_PRIOS)) {
		keep(r, RDMA_DCQCN_A_SETTINGS_NP_ENABLE, 0xff, value_of(r, name, value));
		keep(r, RDMA_DCQCN_A_SETTINGS_RP_ENABLE, 0xff, value_of(r, name, value));
		return;
	}
	if (!strcmp(name, KNOB_ALGORITHM)) {
		keep_algorithm(r, value);
		return;
	}
	attr = attr_of(name);
	if (attr)
		keep(r, attr, UINT32_MAX, value_of(r, name, value));
}

/* A dump of a card, which has none of our own knobs, is of one that behaves as if these were 0, and
 * obeys DCQCN
 */
static void keep_card(struct reading *r)
{
	static const int own[] = {
		RDMA_DCQCN_A_SETTINGS_ALPHA_ON_CUT, RDMA_DCQCN_A_SETTINGS_START_BURST
	};

	if (!r->known[RDMA_DCQCN_A_SETTINGS_DCE_TCP_RTT] ||
	    !r->settings[RDMA_DCQCN_A_SETTINGS_DCE_TCP_RTT] || r->known[own[0]] || r->known[own[1]])
		return;
	for (int i = 0; i < 2; i++)
		keep(r, own[i], UINT32_MAX, 0);
	if (!*r->algorithm)
		keep_algorithm(r, "dcqcn");
}

/* Read a dump into the settings and the algorithm of @dev, which has the present ones. Return the set
 * of those settings that it has.
 */
uint32_t dialect_read(const char *file, struct dev *dev)
{
	struct reading r = { .file = file, .settings = dev->settings };
	FILE *f = strcmp(file, "-") ? fopen(file, "r") : stdin;
	uint32_t which = 0;
	char *line = NULL;
	size_t size = 0;

	if (!f)
		fail_errno(file);
	while (getline(&line, &size, f) != -1) {
		r.line++;
		read_line(&r, line);
	}
	if (ferror(f))
		fail_errno(file);
	free(line);
	fclose(f);
	keep_card(&r);
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (r.known[i])
			which |= 1U << i;
	}
	if (*r.algorithm)
		strcpy(dev->algorithm, r.algorithm);
	else if (!which)
		fail("%s: has no setting of ecn/, cc_params/ or mlxconfig", file);
	return which;
}
