/* SPDX-License-Identifier: GPL-2.0 */
/* The doctor's checks of a switch. See port_checks.c. */
#ifndef PORT_CHECKS_H
#define PORT_CHECKS_H

#include "port_facts.h"

void port_checks(const struct port_facts *facts, const char *host,
		 uint64_t nsec);

#endif /* PORT_CHECKS_H */
