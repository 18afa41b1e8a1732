// SPDX-License-Identifier: GPL-2.0
/* dcqcn plot: draws the records of dcqcn record and dcqcn port record with gnuplot. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "commands.h"
#include "fail.h"
#include "plot.h"
#include "recording.h"

/* A kind of record, recognised by its first line */
struct kind {
	const char *header;
	const char *script;
	const char *empty;	/* why it may be */
	const char *key;	/* what tells the series of a device apart */
	const char *columns[RECORDING_COLUMNS];
	void (*about)(FILE *gnuplot, const struct recording *r);
	void (*put)(FILE *gnuplot, const struct recording_series *s, double begin);
};

enum { STATE, RATE, ALPHA, HELD, CNPS };

/* Whether any QP was limited: at a receiver none is, and gnuplot needs a scale for no lines */
static void about_qps(FILE *gnuplot, const struct recording *r)
{
	bool limited = false;

	for (size_t i = 0; i < r->num_series; i++) {
		for (size_t k = 0; k < r->series[i].num_rows; k++)
			limited |= r->series[i].rows[k].value[STATE] != 0;
	}
	plot_number(gnuplot, "limited", limited);
}

/* The line of a QP is interrupted while it is not limited, except that of its CNPs */
static void put_qp(FILE *gnuplot, const struct recording_series *s, double begin)
{
	for (size_t i = 0; i < s->num_rows; i++) {
		const double *value = s->rows[i].value;

		fprintf(gnuplot, "%.9f ", s->rows[i].time - begin);
		if (value[STATE])
			fprintf(gnuplot, "%.9g %.9g %.9g", value[RATE] / 1e6, value[ALPHA],
				value[HELD] / 1e3);
		else
			fprintf(gnuplot, "NaN NaN NaN");
		fprintf(gnuplot, " %.9g\n", value[CNPS]);
	}
}

enum { QUEUE, OUT, MARKED, LOST, SENT, PAUSED, NUM_COUNTERS };

/* Counters grow; those of a port that was created again do so from zero */
static void put_class(FILE *gnuplot, const struct recording_series *s, double begin)
{
	/* Mb/s, per second, and per cent */
	static const double unit[NUM_COUNTERS] = {
		[OUT] = 125e3, [MARKED] = 1, [LOST] = 1, [SENT] = 1, [PAUSED] = 1e4,
	};

	for (size_t i = 0; i < s->num_rows; i++) {
		const struct recording_row *row = &s->rows[i], *old = i ? row - 1 : row;
		double seconds = row->time - old->time;

		fprintf(gnuplot, "%.9f %.9g", row->time - begin, row->value[QUEUE] / 1e3);
		for (int c = QUEUE + 1; c < NUM_COUNTERS; c++) {
			double now = row->value[c], grown = now - old->value[c];

			if (seconds > 0)
				fprintf(gnuplot, " %.9g",
					(grown < 0 ? now : grown) / seconds / unit[c]);
			else
				fprintf(gnuplot, " NaN");
		}
		putc('\n', gnuplot);
	}
}

static const struct kind kinds[] = {
	{ "time,dev,qpn,state,rate,", "rates.gp", "no QP had met congestion", "qpn",
	  { [STATE] = "state", [RATE] = "rate", [ALPHA] = "alpha", [HELD] = "queue_bytes",
	    [CNPS] = "cnp_handled" }, about_qps, put_qp },
	{ "time,dev,prio,out_bytes,", "port.gp", "no port had sent anything", "prio",
	  { [QUEUE] = "queue_bytes", [OUT] = "out_bytes", [MARKED] = "marked", [LOST] = "lost",
	    [SENT] = "tx_pause", [PAUSED] = "paused_us" }, NULL, put_class },
	{}
};

/* The name of the record with another extension */
static const char *default_output(const char *csv)
{
	static char path[PATH_MAX];
	size_t n = strlen(csv);

	if (n > 4 && !strcmp(csv + n - 4, ".csv"))
		n -= 4;
	if (snprintf(path, sizeof(path), "%.*s.png", (int)n, csv) >=
	    (int)sizeof(path))
		fail("%s: the name is too long", csv);
	return path;
}

/* Read the whole record before anything is written */
static const struct kind *read_record(struct recording *r, const char *csv)
{
	const struct kind *kind = kinds;
	FILE *f = fopen(csv, "r");
	char *header = NULL;
	size_t size = 0;

	if (!f)
		fail_errno(csv);
	errno = 0;
	if (getline(&header, &size, f) < 0 && errno)
		fail_errno(csv);
	while (kind->header &&
	       (!header || strncmp(header, kind->header, strlen(kind->header))))
		kind++;
	if (!kind->header)
		fail("%s: not a record (dcqcn record and dcqcn port record write them)", csv);
	recording_read(r, f, csv, header, kind->key, kind->columns);
	if (!r->num_series)
		fail("%s: the record is empty, %s", csv, kind->empty);
	if (r->end == r->begin)
		fail("%s: all samples have the same time: record for longer", csv);
	free(header);
	fclose(f);
	return kind;
}

static void draw(const struct kind *kind, const struct recording *r, const char *output)
{
	FILE *gnuplot = plot_begin(output);
	char name[32];

	plot_number(gnuplot, "end", r->end - r->begin);
	plot_number(gnuplot, "num", r->num_series);
	if (kind->about)
		kind->about(gnuplot, r);
	fprintf(gnuplot, "array name[%zu]\n", r->num_series);
	for (size_t i = 0; i < r->num_series; i++) {
		snprintf(name, sizeof(name), "name[%zu]", i + 1);
		plot_text(gnuplot, name, r->series[i].name);
	}
	fprintf(gnuplot, "$samples << END\n");
	for (size_t i = 0; i < r->num_series; i++) {
		kind->put(gnuplot, &r->series[i], r->begin);
		/* two empty lines end a series */
		fprintf(gnuplot, "\n\n");
	}
	fprintf(gnuplot, "END\n");
	plot_end(gnuplot, kind->script);
}

int cmd_plot(int argc, char **argv)
{
	const char *csv, *output = NULL;
	const struct kind *kind;
	struct recording record;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		output = optarg;
	csv = argv[optind];
	if (!csv)
		arg_missing("the record");
	arg_none(argv + optind + 1);
	if (!output)
		output = default_output(csv);
	plot_check(output);
	kind = read_record(&record, csv);
	draw(kind, &record, output);
	return EXIT_SUCCESS;
}
