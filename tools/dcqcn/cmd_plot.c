// SPDX-License-Identifier: GPL-2.0
/* dcqcn plot: draws the records of dcqcn record and dcqcn port record with gnuplot. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "fail.h"
#include "plot.h"

/* A kind of record, recognised by its first line */
struct kind {
	const char *header;
	const char *script;
	const char *empty;	/* why it may be */
};

static const struct kind kinds[] = {
	{ "time,dev,qpn,state,rate,", "rates.gp", "no QP had met congestion" },
	{ "time,dev,prio,out_bytes,", "port.gp", "no port had sent anything" },
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

/* Check before anything is written that this is a record, and not empty */
static const struct kind *check_record(const char *csv)
{
	const struct kind *kind = kinds;
	FILE *f = fopen(csv, "r");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		fail_errno(csv);
	errno = 0;
	if (getline(&line, &size, f) < 0 && errno)
		fail_errno(csv);
	while (kind->header &&
	       (!line || strncmp(line, kind->header, strlen(kind->header))))
		kind++;
	if (!kind->header)
		fail("%s: not a record (dcqcn record and dcqcn port record write them)", csv);
	if (getline(&line, &size, f) < 0)
		fail("%s: the record is empty, %s", csv, kind->empty);
	free(line);
	fclose(f);
	return kind;
}

static int gnuplot(const struct kind *kind, const char *csv, const char *output)
{
	const char *script = plot_script(kind->script);
	pid_t pid = fork();
	int status;

	if (!pid) {
		execlp("gnuplot", "gnuplot", "-c", script, csv, output, NULL);
		fprintf(stderr, "dcqcn: gnuplot: %s\n", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail_errno("gnuplot");
	return status;
}

int cmd_plot(int argc, char **argv)
{
	const char *csv, *output = NULL;
	const struct kind *kind;

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		output = optarg;
	csv = argv[optind];
	if (!csv)
		arg_missing("the record");
	arg_none(argv + optind + 1);
	if (!output)
		output = default_output(csv);
	plot_begin(output);
	kind = check_record(csv);
	plot_end(gnuplot(kind, csv, output));
	return EXIT_SUCCESS;
}
