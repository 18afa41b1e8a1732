// SPDX-License-Identifier: GPL-2.0
/* dcqcn plot: a picture of what dcqcn record wrote, drawn by gnuplot. */
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

#define SCRIPT		"rates.gp"
#define HEADER		"time,dev,qpn,state,rate,"

/* The name of the data with another ending */
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

/* Before anything is written: is it a record, with something in it? */
static void check_record(const char *csv)
{
	FILE *f = fopen(csv, "r");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		fail_errno(csv);
	errno = 0;
	if (getline(&line, &size, f) < 0 && errno)
		fail_errno(csv);
	if (!line || strncmp(line, HEADER, strlen(HEADER)))
		fail("%s: not a record (dcqcn record writes them)", csv);
	if (getline(&line, &size, f) < 0)
		fail("%s: the record is empty, no QP had met congestion", csv);
	free(line);
	fclose(f);
}

static int gnuplot(const char *csv, const char *output)
{
	const char *script = plot_script(SCRIPT);
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

	while (arg_option(argc, argv, "+:o:", NULL) != -1)
		output = optarg;
	csv = argv[optind];
	if (!csv)
		arg_missing("the record");
	arg_none(argv + optind + 1);
	if (!output)
		output = default_output(csv);
	plot_begin(output);
	check_record(csv);
	plot_end(gnuplot(csv, output));
	return EXIT_SUCCESS;
}
