/* SPDX-License-Identifier: GPL-2.0 */
/* Applies settings to a port. See apply.c. */
#ifndef DCBPORT_APPLY_H
#define DCBPORT_APPLY_H

#include "port.h"

int dcbport_prepare(struct dcbport *port, const struct dcbport_settings *s);
void dcbport_apply(struct dcbport *port, const struct dcbport_settings *s);

#endif /* DCBPORT_APPLY_H */
