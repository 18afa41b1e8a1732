/* SPDX-License-Identifier: GPL-2.0 */
/* Identifies a packet's flow. See flow_key.c. */
#ifndef DCBPORT_FLOW_KEY_H
#define DCBPORT_FLOW_KEY_H

#include <linux/types.h>

struct sk_buff;

u64 dcbport_flow_key(const struct sk_buff *skb);

#endif /* DCBPORT_FLOW_KEY_H */
