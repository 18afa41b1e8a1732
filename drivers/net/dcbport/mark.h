/* SPDX-License-Identifier: GPL-2.0 */
/* Marks packets as having met congestion. See mark.c. */
#ifndef DCBPORT_MARK_H
#define DCBPORT_MARK_H

#include "port.h"

bool dcbport_mark_drops(const struct dcbport *port,
			const struct dcbport_class *class,
			const struct sk_buff *skb);
void dcbport_mark(struct dcbport *port, struct dcbport_class *class,
		  struct sk_buff *skb);

#endif /* DCBPORT_MARK_H */
