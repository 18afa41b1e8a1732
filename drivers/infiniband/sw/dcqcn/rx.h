/* SPDX-License-Identifier: GPL-2.0 */
/* Incoming packets. See rx.c. */
#ifndef DCQCN_RX_H
#define DCQCN_RX_H

struct nf_hook_state;
struct sk_buff;

unsigned int dcqcn_local_in4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);
unsigned int dcqcn_local_in6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

#endif /* DCQCN_RX_H */
