// SPDX-License-Identifier: GPL-2.0
/* Which QPs a command is about: "dev DEV" and "qpn QPN". */
#include <string.h>

#include "arg.h"
#include "filter.h"

#define QPN_MAX		0xffffff

void filter_parse(struct qp_filter *filter, char **argv)
{
	*filter = (struct qp_filter) { .qpn = -1 };
	for (; *argv; argv += 2) {
		if (!strcmp(*argv, "dev") && !filter->dev) {
			if (!argv[1])
				arg_missing("the device");
			filter->dev = argv[1];
		} else if (!strcmp(*argv, "qpn") && filter->qpn < 0) {
			if (!argv[1])
				arg_missing("the QP number");
			filter->qpn = arg_number("QP number", argv[1], 0,
						 QPN_MAX);
		} else {
			arg_unexpected(*argv);
		}
	}
}
