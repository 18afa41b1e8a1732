// SPDX-License-Identifier: GPL-2.0
/* What the commands that draw with gnuplot have in common. */
#include <err.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot.h"

/* A script, where it was installed, or else beside the source */
const char *plot_script(const char *name)
{
	static char path[PATH_MAX];
	char self[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", PLOTDIR, name);
	if (!access(path, R_OK))
		return path;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		err(EXIT_FAILURE, "/proc/self/exe");
	self[n] = '\0';
	if (snprintf(path, sizeof(path), "%s/../plot/%s", dirname(self),
		     name) >= (int)sizeof(path) || access(path, R_OK))
		errx(EXIT_FAILURE, "%s is in neither %s nor ../plot", name,
		     PLOTDIR);
	return path;
}

void plot_check_output(const char *output)
{
	const char *ending = strrchr(output, '.');

	if (!ending || (strcmp(ending, ".png") && strcmp(ending, ".svg")))
		errx(EXIT_FAILURE, "%s: only .png and .svg", output);
}
