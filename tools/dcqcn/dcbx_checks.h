/* SPDX-License-Identifier: GPL-2.0 */
/* Disagreements between a port and its neighbour. See dcbx_checks.c. */
#ifndef DCBX_CHECKS_H
#define DCBX_CHECKS_H

#include "port_facts.h"

void dcbx_checks(const struct fact_port *port, const char *host);

#endif /* DCBX_CHECKS_H */
