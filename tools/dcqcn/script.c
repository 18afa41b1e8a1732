// SPDX-License-Identifier: GPL-2.0
/* Scripts that the program runs, and that are installed with it. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "fail.h"
#include "script.h"

/* Find a script where it was installed, or in the directory @source beside ours */
const char *script_find(const char *source, const char *name)
{
	const char * const places[] = { "../share/rdma_dcqcn", source };
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
