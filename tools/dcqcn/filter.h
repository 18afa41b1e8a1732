/* SPDX-License-Identifier: GPL-2.0 */
/* Which QPs a command is about. See filter.c. */
#ifndef FILTER_H
#define FILTER_H

#include "qp.h"

void filter_parse(struct qp_filter *filter, char **argv);

#endif /* FILTER_H */
