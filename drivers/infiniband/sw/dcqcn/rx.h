/* SPDX-License-Identifier: GPL-2.0 */
/* Incoming packets. See rx.c. */
#ifndef DCQCN_RX_H
#define DCQCN_RX_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "packet.h"

struct dcqcn_dev;
struct nf_hook_state;

/**
 * struct dcqcn_rx - a received packet
 * @dev: the port that received it
 * @skb: the packet
 * @pkt: its parsed headers; a CNP, feedback or ACK is readable as a whole
 * @ce: a switch has marked it
 * @capable: its sender understands feedback
 * @asks: it asks for an answer (answer.c)
 * @unicast: it is for this host, and for a single QP: not QP0, QP1 or multicast
 */
struct dcqcn_rx {
	struct dcqcn_dev *dev;
	struct sk_buff *skb;
	struct dcqcn_pkt pkt;
	bool ce;
	bool capable;
	bool asks;
	bool unicast;
};

/* Make all of a packet readable, so that its ICRC can be checked. Return false if there is no
 * memory.
 */
static inline bool dcqcn_rx_linearize(struct dcqcn_rx *rx)
{
	if (!skb_is_nonlinear(rx->skb))
		return true;
	if (skb_linearize(rx->skb))
		return false;
	dcqcn_pkt_parse(&rx->pkt, skb_network_header(rx->skb), rx->skb->len);
	return true;
}

unsigned int dcqcn_local_in4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);
unsigned int dcqcn_local_in6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

#endif /* DCQCN_RX_H */
