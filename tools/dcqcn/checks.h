/* SPDX-License-Identifier: GPL-2.0 */
/* The doctor's checks of the control loop. See checks.c. */
#ifndef CHECKS_H
#define CHECKS_H

#include "facts.h"

void checks_host(const struct facts *facts, const struct fact_dev *dev,
		 const struct facts *peer);
void checks_alone(const struct facts *facts, const struct fact_dev *dev);
void checks_pair(const struct facts *from, const struct fact_dev *sender,
		 const struct facts *to, const struct fact_dev *receiver);

#endif /* CHECKS_H */
