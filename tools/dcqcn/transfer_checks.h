/* SPDX-License-Identifier: GPL-2.0 */
/* The doctor's checks of transfers that fail. See transfer_checks.c. */
#ifndef TRANSFER_CHECKS_H
#define TRANSFER_CHECKS_H

#include "facts.h"

void transfer_checks_missing(const struct facts *facts);
bool transfer_checks_host(const struct facts *facts, const struct fact_dev *dev, bool alone);
bool transfer_checks_pair(const struct facts *here, const struct fact_dev *a,
			  const struct facts *peer, const struct fact_dev *b, bool watched);
bool transfer_checks_overtaken(const struct fact_dev *dev);
void transfer_checks_answers(const struct facts *facts, const struct fact_dev *dev, bool alone);

#endif /* TRANSFER_CHECKS_H */
