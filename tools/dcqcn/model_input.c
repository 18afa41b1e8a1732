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

#include "fail.h"
#include "model_input.h"
#include "unit.h"

#define NAMES_LEN	256

static const struct {
	enum unit_kind kind;
	const char *example;
} units[] = {
	[DCQCN_MODEL_NUMBER] = { UNIT_KIND_NUMBER, "16" },
	[DCQCN_MODEL_BPS] = { UNIT_KIND_RATE, "400gbit" },
	[DCQCN_MODEL_BYTES] = { UNIT_KIND_SIZE, "200KB" },
	[DCQCN_MODEL_US] = { UNIT_KIND_TIME, "1.5us" },
	[DCQCN_MODEL_SHARE] = { UNIT_KIND_SHARE, "10%, or 0.1" },
	[DCQCN_MODEL_M] = { UNIT_KIND_LENGTH, "5m, or 25ns" },
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

/* The model's values are in the units of unit_read() */
static double parse(const struct dcqcn_model_field *f, const char *where, const char *text)
{
	double value;

	if (f->words)
		return parse_word(f, where, text);
	if (f->automatic && !strcmp(text, "auto"))
		return DCQCN_MODEL_AUTO;
	if (!unit_read(units[f->unit].kind, text, 1, &value))
		fail("%s%s: \"%s\" is not a value, such as %s%s", where, f->key, text,
		     units[f->unit].example, f->automatic ? ", or auto" : "");
	return value;
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

static size_t model_inputs(void)
{
	size_t n = 0;

	while (dcqcn_model_inputs[n].key)
		n++;
	return n;
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

/* The rest of a line, which may only be a comment */
static void end_line(char *s, const char *where)
{
	s = strip(s);
	if (*s && *s != '#')
		fail("%s\"%s\" is not expected after a value", where, s);
}

/* Split a value from the rest of the line. TOML wants quotes around all values but numbers. */
static char *value_of(char *s, const char *where)
{
	char quote = *s, *end;

	if (quote == '"' || quote == '\'') {
		end = strchr(++s, quote);
		if (!end)
			fail("%sthe closing quote is missing", where);
		*end = '\0';
		end_line(end + 1, where);
		if (quote == '"' && strchr(s, '\\'))
			fail("%s\"%s\": escapes in a value are not supported", where, s);
		return s;
	}
	end = strchr(s, '#');
	if (end)
		*end = '\0';
	s = strip(s);
	if (s[strspn(s, "0123456789.eE+-")] || !isdigit((unsigned char)*s))
		fail("%s%s is neither a number nor in quotes", where, *s ? s : "nothing");
	return s;
}

/* @seen: the keys until here */
static void note_key(bool seen[], const char *key, const char *where)
{
	const struct dcqcn_model_field *f = model_input_field(key);
	size_t i = f ? f - dcqcn_model_inputs + 1 : 0;

	if (!f && strcmp(key, "preset"))
		return;
	if (seen[i])
		fail("%s%s is given twice", where, key);
	seen[i] = true;
}

/* @preset: set if the line names one, which applies before all other lines */
static void read_line(struct dcqcn_model_input *in, const char *where, char *line, bool presets,
		      bool seen[])
{
	char *equals, *key;

	if (!*line || *line == '#')
		return;
	equals = strchr(line, '=');
	if (!equals)
		fail("%s\"%s\" is not KEY = VALUE", where, line);
	*equals = '\0';
	key = strip(line);
	note_key(seen, key, where);
	if (presets != !strcmp(key, "preset"))
		return;
	if (presets)
		model_input_preset(in, where, value_of(strip(equals + 1), where));
	else
		model_input_set(in, where, key, value_of(strip(equals + 1), where));
}

/* Whether a line begins our table, and no other: "[ model ]  # comment" */
static bool is_model(char *s, const char *where)
{
	char *end = strchr(++s, ']');

	if (*s == '[' || !end)
		return false;
	*end = '\0';
	if (strcmp(strip(s), "model"))
		return false;
	end_line(end + 1, where);
	return true;
}

static void read_lines(struct dcqcn_model_input *in, const char *path, FILE *file, bool presets)
{
	bool *seen = calloc(model_inputs() + 1, sizeof(*seen));
	bool ours = false, found = false;
	char *line = NULL, where[512];
	size_t size = 0;
	int number = 0;

	if (!seen)
		fail("out of memory");
	if (fseek(file, 0, SEEK_SET))
		fail("%s: must be a file, not a pipe, because it is read twice", path);
	while (getline(&line, &size, file) > 0) {
		char *s = strip(line);

		snprintf(where, sizeof(where), "%s:%d: ", path, ++number);
		if (*s == '[') {
			ours = is_model(s, where);
			if (ours && found)
				fail("%sthe table [model] is given twice", where);
			found |= ours;
		} else if (ours) {
			read_line(in, where, s, presets, seen);
		}
	}
	free(line);
	free(seen);
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
