// SPDX-License-Identifier: GPL-2.0
/* dcqcn plot: a picture of what dcqcn record wrote, drawn by gnuplot. */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "plot.h"

#define SCRIPT		"rates.gp"

/* The name of the data with another ending */
static const char *default_output(const char *csv)
{
	static char path[PATH_MAX];
	size_t n = strlen(csv);

	if (n > 4 && !strcmp(csv + n - 4, ".csv"))
		n -= 4;
	if (snprintf(path, sizeof(path), "%.*s.png", (int)n, csv) >=
	    (int)sizeof(path))
		errx(EXIT_FAILURE, "%s: the name is too long", csv);
	return path;
}

int cmd_plot(int argc, char **argv)
{
	const char *csv, *output = NULL;
	int c;

	while ((c = getopt(argc, argv, "+o:")) != -1) {
		if (c != 'o')
			usage(argv[0]);
		output = optarg;
	}
	if (argc != optind + 1)
		usage(argv[0]);
	csv = argv[optind];
	if (access(csv, R_OK))
		err(EXIT_FAILURE, "%s", csv);
	if (!output)
		output = default_output(csv);
	plot_check_output(output);

	execlp("gnuplot", "gnuplot", "-c", plot_script(SCRIPT), csv, output, NULL);
	err(EXIT_FAILURE, "gnuplot");
}
