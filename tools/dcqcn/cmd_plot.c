// SPDX-License-Identifier: GPL-2.0
/* dcqcn plot: a picture of what dcqcn record wrote, drawn by gnuplot. */
#include <err.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

#define SCRIPT		"rates.gp"

/* Where it was installed, or else beside the source */
static const char *find_script(void)
{
	static char path[PATH_MAX];
	char self[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", PLOTDIR, SCRIPT);
	if (!access(path, R_OK))
		return path;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		err(EXIT_FAILURE, "/proc/self/exe");
	self[n] = '\0';
	if (snprintf(path, sizeof(path), "%s/../plot/%s", dirname(self),
		     SCRIPT) >= (int)sizeof(path) || access(path, R_OK))
		errx(EXIT_FAILURE, "%s is in neither %s nor ../plot", SCRIPT,
		     PLOTDIR);
	return path;
}

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
	const char *csv, *output = NULL, *ending;
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
	ending = strrchr(output, '.');
	if (!ending || (strcmp(ending, ".png") && strcmp(ending, ".svg")))
		errx(EXIT_FAILURE, "%s: only .png and .svg", output);

	execlp("gnuplot", "gnuplot", "-c", find_script(), csv, output, NULL);
	err(EXIT_FAILURE, "gnuplot");
}
