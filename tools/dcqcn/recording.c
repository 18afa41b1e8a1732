// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what dcqcn record and dcqcn port record wrote. People send each other records, so a
 * line must be exactly what those write.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "fail.h"
#include "recording.h"

#define MANY_COLUMNS	64	/* of a file */

/* Which columns of a file are needed, and where they are in a line */
struct layout {
	const char *file, *key;
	const char *const *names;
	size_t count, dev_at, key_at, at[RECORDING_COLUMNS];
};

/* The end of a cell in quotes, which are removed; NULL if it does not end */
static char *unquote(char *cell)
{
	char *to = cell;

	for (char *from = cell + 1; *from; from++) {
		if (*from == '"' && *++from != '"') {
			*to = '\0';
			return from;
		}
		*to++ = *from;
	}
	return NULL;
}

/* Split at commas, in place; returns how many, or 0 */
static size_t split(char *line, char *cells[MANY_COLUMNS])
{
	size_t n = 0;
	char *end;

	line[strcspn(line, "\n")] = '\0';
	for (; n < MANY_COLUMNS; line = end + 1) {
		cells[n++] = line;
		end = *line == '"' ? unquote(line) : line + strcspn(line, ",");
		if (!end || (*end && *end != ','))
			return 0;
		if (!*end)
			return n;
		*end = '\0';
	}
	return 0;
}

static size_t find(const struct layout *layout, char *const *cells, const char *name)
{
	for (size_t i = 0; i < layout->count; i++) {
		if (!strcmp(cells[i], name))
			return i;
	}
	fail("%s: not a record: it has no column %s", layout->file, name);
}

static void read_header(struct layout *layout, char *header)
{
	char *cells[MANY_COLUMNS];

	layout->count = split(header, cells);
	layout->dev_at = find(layout, cells, "dev");
	layout->key_at = find(layout, cells, layout->key);
	for (size_t i = 0; layout->names[i]; i++)
		layout->at[i] = find(layout, cells, layout->names[i]);
}

/* The series of a cell's name; @hint is often its place */
static struct recording_series *series_of(struct recording *r, const char *name, size_t hint)
{
	struct recording_series *s;

	for (size_t i = 0; i < r->num_series; i++) {
		s = &r->series[(hint + i) % r->num_series];
		if (!strcmp(s->name, name))
			return s;
	}
	r->series = reallocarray(r->series, r->num_series + 1, sizeof(*s));
	if (!r->series)
		fail_errno("memory");
	s = &r->series[r->num_series++];
	*s = (struct recording_series){ .name = strdup(name) };
	if (!s->name)
		fail_errno("memory");
	return s;
}

static struct recording_row *add_row(struct recording_series *s)
{
	if (s->num_rows == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->rows = reallocarray(s->rows, s->room, sizeof(*s->rows));
		if (!s->rows)
			fail_errno("memory");
	}
	return &s->rows[s->num_rows++];
}

static double number(const struct layout *layout, size_t line, const char *name, const char *cell)
{
	char *end;
	double value = strtod(cell, &end);

	if (!isdigit((unsigned char)*cell) || *end || !isfinite(value))
		fail("%s:%zu: %s: \"%s\" is not a number", layout->file, line, name, cell);
	return value;
}

static void read_line(struct recording *r, const struct layout *layout, char *text, size_t line,
		      size_t *hint)
{
	char *cells[MANY_COLUMNS], *name;
	struct recording_series *s;
	struct recording_row *row;

	if (split(text, cells) != layout->count)
		fail("%s:%zu: must have %zu columns, as the first line has", layout->file, line,
		     layout->count);
	if (!r->num_series)
		r->begin = number(layout, line, "time", cells[0]);
	number(layout, line, layout->key, cells[layout->key_at]);
	if (asprintf(&name, "%s:%s", cells[layout->dev_at], cells[layout->key_at]) < 0)
		fail_errno("memory");
	s = series_of(r, clean(name), *hint);
	free(name);
	*hint = s - r->series + 1;
	row = add_row(s);
	row->time = number(layout, line, "time", cells[0]);
	for (size_t i = 0; layout->names[i]; i++)
		row->value[i] = number(layout, line, layout->names[i], cells[layout->at[i]]);
	r->end = row->time;
}

/* Read what follows the @header, whose first column is the time. @columns end with NULL. An error
 * ends the program. A last line that is not complete, as of a full disk, is left out.
 */
void recording_read(struct recording *r, FILE *in, const char *file, char *header,
		    const char *key, const char *const *columns)
{
	struct layout layout = { .file = file, .key = key, .names = columns };
	char *text = NULL;
	size_t size = 0, hint = 0;

	*r = (struct recording){};
	read_header(&layout, header);
	for (size_t line = 2; getline(&text, &size, in) > 0; line++) {
		if (strchr(text, '\n'))
			read_line(r, &layout, text, line, &hint);
	}
	if (ferror(in))
		fail_errno(file);
	free(text);
}
