/* SPDX-License-Identifier: GPL-2.0 */
/* The doctor's checks of hosts. See checks.c. */
#ifndef CHECKS_H
#define CHECKS_H

#include "facts.h"

void checks_host(const struct facts *facts, const struct fact_dev *dev);
void checks_pair(const struct facts *here, const struct fact_dev *a,
		 const struct facts *peer, const struct fact_dev *b);
void checks_both(const struct facts *here, const struct facts *peer);

#endif /* CHECKS_H */
