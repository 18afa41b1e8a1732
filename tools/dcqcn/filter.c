// SPDX-License-Identifier: GPL-2.0
/* Which QPs a command is about: "dev DEV" and "qpn QPN". */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define QPN_MAX		0xffffff

static long parse_qpn(const char *s)
{
	char *end;
	long qpn = strtol(s, &end, 0);

	if (*end || end == s || qpn < 0 || qpn > QPN_MAX)
		errx(EXIT_FAILURE, "\"%s\" is no QP number: 0 to %d", s,
		     QPN_MAX);
	return qpn;
}

/* False if that is not how it is said */
bool filter_parse(struct qp_filter *filter, int argc, char **argv)
{
	*filter = (struct qp_filter) { .qpn = -1 };
	for (; argc >= 2; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "dev"))
			filter->dev = argv[1];
		else if (!strcmp(argv[0], "qpn"))
			filter->qpn = parse_qpn(argv[1]);
		else
			return false;
	}
	return !argc;
}
