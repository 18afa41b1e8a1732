/* SPDX-License-Identifier: GPL-2.0 */
/* Which QPs a command is about. See filter.c. */
#ifndef FILTER_H
#define FILTER_H

#include "qp.h"

bool filter_parse(struct qp_filter *filter, int argc, char **argv);

#endif /* FILTER_H */
