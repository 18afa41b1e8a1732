/* SPDX-License-Identifier: GPL-2.0 */
/* Stamps in packets that ask for them. See stamp.c. */
#ifndef DCBPORT_STAMP_H
#define DCBPORT_STAMP_H

#include <linux/types.h>

struct dcbport;
struct dcbport_class;
struct sk_buff;

void dcbport_stamp(struct dcbport *port, struct dcbport_class *class, struct sk_buff *skb);

#endif /* DCBPORT_STAMP_H */
