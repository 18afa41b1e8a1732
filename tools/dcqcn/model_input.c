// SPDX-License-Identifier: GPL-2.0
/*
 * Inputs of the model as people write them: KEY VALUE on the command line, or in a
 * TOML file, of which this reads
 *
 *	[model]
 *	key = 12.5		# or "12.5", "40gbit", "word", 'word'
 *
 * and nothing else: other tables are the simulator's.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fail.h"
#include "model_input.h"

#define NAMES_LEN	256

struct name {
	const char *name;
	double worth;
};

static const struct name rate_names[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 }, { "tbit", 1e12 }, {}
};

static const struct name byte_names[] = {
	{ "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 },
	{ "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, {}
};

static const struct name time_names[] = {
	{ "us", 1 }, { "ns", 1e-3 }, { "ms", 1e3 }, { "s", 1e6 }, {}
};

static const struct name share_names[] = {
	{ "%", 0.01 }, {}
};

static const struct name length_names[] = {
	{ "m", 1 }, { "km", 1e3 }, { "us", 200 }, { "ns", 0.2 }, {}	/* 5 ns per metre */
};

static const struct name no_names[] = {
	{}
};

static const struct {
	const struct name *names;
	const char *example;
} units[] = {
	[DCQCN_MODEL_NUMBER] = { no_names, "16" },
	[DCQCN_MODEL_BPS] = { rate_names, "400gbit" },
	[DCQCN_MODEL_BYTES] = { byte_names, "200KB" },
	[DCQCN_MODEL_US] = { time_names, "1.5us" },
	[DCQCN_MODEL_SHARE] = { share_names, "10%, or 0.1" },
	[DCQCN_MODEL_M] = { length_names, "5m, or 25ns" },
};

const struct dcqcn_model_field *model_input_field(const char *key)
{
	const struct dcqcn_model_field *f;

	for (f = dcqcn_model_inputs; f->key; f++) {
		if (!strcmp(f->key, key))
			return f;
	}
	return NULL;
}

/* Add a name to the list of allowed ones */
static void list(char all[NAMES_LEN], const char *name)
{
	size_t len = strlen(all);

	snprintf(all + len, NAMES_LEN - len, "%s%s", len ? ", " : "", name);
}

static double parse_word(const struct dcqcn_model_field *f, const char *where, const char *text)
{
	char all[NAMES_LEN] = "";

	for (int i = 0; f->words[i]; i++) {
		if (!strcmp(f->words[i], text))
			return i;
	}
	for (int i = 0; f->words[i]; i++)
		list(all, f->words[i]);
	fail("%s%s: \"%s\" is not one of %s", where, f->key, text, all);
}

/* A number that may have an exponent, and a unit */
static double parse(const struct dcqcn_model_field *f, const char *where, const char *text)
{
	const struct name *n;
	double value;
	char *end;

	if (f->words)
		return parse_word(f, where, text);
	n = units[f->unit].names;
	if (f->automatic && !strcmp(text, "auto"))
		return DCQCN_MODEL_AUTO;
	value = strtod(text, &end);
	/* no sign, no "nan", no "inf", no hexadecimal */
	if (!isdigit((unsigned char)*text) || tolower((unsigned char)text[1]) == 'x')
		end = (char *)text;
	for (; end > text && *end && n->name && strcasecmp(n->name, end); n++)
		;
	if (end == text || (*end && !n->name))
		fail("%s%s: \"%s\" is not a value, such as %s%s", where, f->key, text,
		     units[f->unit].example, f->automatic ? ", or auto" : "");
	return *end ? value * n->worth : value;
}

/* Wrong keys and values end the program. @where: precedes the key in error messages */
void model_input_set(struct dcqcn_model_input *in, const char *where, const char *key,
		     const char *text)
{
	const struct dcqcn_model_field *f = model_input_field(key);

	if (!f)
		fail("%s%s: no such input (dcqcn model help lists them)", where, key);
	*dcqcn_model_at(in, f) = parse(f, where, text);
}

void model_input_preset(struct dcqcn_model_input *in, const char *where, const char *name)
{
	char all[NAMES_LEN] = "";

	for (size_t i = 0; dcqcn_model_presets[i].name; i++) {
		if (!strcmp(dcqcn_model_presets[i].name, name)) {
			dcqcn_model_preset(in, i);
			return;
		}
	}
	for (size_t i = 0; dcqcn_model_presets[i].name; i++)
		list(all, dcqcn_model_presets[i].name);
	fail("%spreset: \"%s\" is not one of %s", where, name, all);
}

static char *strip(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Split a value without its quotes from the rest of the line, which may be a comment */
static char *value_of(char *s, const char *where)
{
	char quote = *s, *end;

	if (quote == '"' || quote == '\'') {
		end = strchr(++s, quote);
		if (!end)
			fail("%sa quote is missing", where);
		*end++ = '\0';
		end = strip(end);
		if (*end && *end != '#')
			fail("%s\"%s\" after a value", where, end);
		return s;
	}
	end = strchr(s, '#');
	if (end)
		*end = '\0';
	return strip(s);
}

/* @preset: set if the line names one, which applies before all other lines */
static void read_line(struct dcqcn_model_input *in, const char *where, char *line, bool presets)
{
	char *equals, *key;

	if (!*line || *line == '#')
		return;
	equals = strchr(line, '=');
	if (!equals)
		fail("%s\"%s\" is not KEY = VALUE", where, line);
	*equals = '\0';
	key = strip(line);
	if (presets != !strcmp(key, "preset"))
		return;
	if (presets)
		model_input_preset(in, where, value_of(strip(equals + 1), where));
	else
		model_input_set(in, where, key, value_of(strip(equals + 1), where));
}

static void read_lines(struct dcqcn_model_input *in, const char *path, FILE *file, bool presets)
{
	bool ours = false, found = false;
	char *line = NULL, where[512];
	size_t size = 0;
	int number = 0;

	if (fseek(file, 0, SEEK_SET))
		fail("%s: is a pipe; it is read twice, so it must be a file", path);
	while (getline(&line, &size, file) > 0) {
		char *s = strip(line);

		snprintf(where, sizeof(where), "%s:%d: ", path, ++number);
		if (*s == '[') {
			ours = !strncmp(s, "[model]", 7);
			found |= ours;
		} else if (ours) {
			read_line(in, where, s, presets);
		}
	}
	free(line);
	if (!found)
		fail("%s: has no table [model]", path);
}

void model_input_read(struct dcqcn_model_input *in, const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail_errno(path);
	read_lines(in, path, file, true);
	read_lines(in, path, file, false);
	fclose(file);
}

/* Write everything that model_input_read() needs to read the same inputs */
void model_input_write(const struct dcqcn_model_input *in, FILE *file)
{
	fprintf(file, "[model]\n");
	for (const struct dcqcn_model_field *f = dcqcn_model_inputs; f->key; f++) {
		double value = *(const double *)((const char *)in + f->offset);

		if (f->words)
			fprintf(file, "%s = \"%s\"\n", f->key, f->words[(int)value]);
		else if (f->automatic && value == DCQCN_MODEL_AUTO)
			fprintf(file, "%s = \"auto\"\n", f->key);
		else
			fprintf(file, "%s = %.17g\n", f->key, value);
	}
}
