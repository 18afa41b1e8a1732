// SPDX-License-Identifier: GPL-2.0
/* What the commands that draw with gnuplot have in common. */
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "plot.h"

static const char *picture;
static bool is_new;

/* Find a script where it was installed, or beside the source */
const char *plot_script(const char *name)
{
	static const char * const places[] = { "../share/rdma_dcqcn", "../plot" };
	static char path[PATH_MAX];
	char self[PATH_MAX];
	const char *here;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		fail_errno("/proc/self/exe");
	self[n] = '\0';
	here = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (snprintf(path, sizeof(path), "%s/%s/%s", here, places[i],
			     name) < (int)sizeof(path) && !access(path, R_OK))
			return path;
	}
	fail("%s is in neither %s nor %s of %s", name, places[0], places[1], here);
}

/* Called before anything is written */
void plot_begin(const char *output)
{
	const char *ending = strrchr(output, '.');

	if (!ending || (strcmp(ending, ".png") && strcmp(ending, ".svg")))
		fail("%s: must end in .png or .svg", output);
	picture = output;
	is_new = access(output, F_OK);
}

/* @status: of gnuplot. Remove a picture that it has begun and not finished. */
void plot_end(int status)
{
	if (!status)
		return;
	if (is_new)
		unlink(picture);
	fail("%s: gnuplot failed to draw it", picture);
}
