/* SPDX-License-Identifier: GPL-2.0 */
/* Outgoing packets. See tx.c. */
#ifndef DCQCN_TX_H
#define DCQCN_TX_H

#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/ip.h>

#include "packet.h"

struct module;
struct nf_hook_state;

/**
 * struct dcqcn_packet - description of a packet that rxe sends
 * @psn: its PSN
 * @bytes: its length on the wire as switches count it, without the FCS
 * @kind: &enum dcqcn_pkt_kind
 * @opcode: opcode of its BTH
 * @ack_req: it asks for an ACK of its own PSN
 */
struct dcqcn_packet {
	u32 psn;
	u32 bytes;
	u8 kind;
	u8 opcode;
	bool ack_req;
};

/**
 * struct dcqcn_tx - a packet that rxe sends, in its skb->cb
 * @ip: what the IP layer keeps there
 * @bth: its BTH, readable; until the packet is held or charged, which may move its headers
 * @since: ns; when it was held
 * @packet: its description
 * @prio: its priority
 * @limit: a limit applies to that priority
 */
struct dcqcn_tx {
	union {
		struct inet_skb_parm h4;
		struct inet6_skb_parm h6;
	} ip;
	union {
		const struct dcqcn_bth *bth;
		u64 since;
	};
	struct dcqcn_packet packet;
	u8 prio;
	bool limit;
};

static inline struct dcqcn_tx *dcqcn_tx_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct dcqcn_tx) > sizeof(skb->cb));
	return (struct dcqcn_tx *)skb->cb;
}

static inline struct sk_buff *dcqcn_tx_skb(const struct dcqcn_tx *tx)
{
	return container_of((void *)tx, struct sk_buff, cb);
}

void dcqcn_tx_know_rxe(const struct module *owner);
void dcqcn_tx_forget_rxe(void);
unsigned int dcqcn_local_out4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);
unsigned int dcqcn_local_out6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);

#endif /* DCQCN_TX_H */
