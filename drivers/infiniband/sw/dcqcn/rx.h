/* SPDX-License-Identifier: GPL-2.0 */
/* Incoming packets. See rx.c. */
#ifndef DCQCN_RX_H
#define DCQCN_RX_H

struct sk_buff;

unsigned int dcqcn_rx(struct sk_buff *skb);
unsigned int dcqcn_rx_other(const struct sk_buff *skb);

#endif /* DCQCN_RX_H */
