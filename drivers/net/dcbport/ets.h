/* SPDX-License-Identifier: GPL-2.0 */
/* Weights as percentages of the link. See ets.c. */
#ifndef DCBPORT_ETS_H
#define DCBPORT_ETS_H

#include <linux/types.h>

#include "drr.h"

void dcbport_ets_percent(const u8 weight[DCBPORT_PRIOS], u8 strict,
			 u8 percent[DCBPORT_PRIOS]);

#endif /* DCBPORT_ETS_H */
