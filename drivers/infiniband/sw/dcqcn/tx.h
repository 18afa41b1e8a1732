/* SPDX-License-Identifier: GPL-2.0 */
/* Outgoing packets. See tx.c. */
#ifndef DCQCN_TX_H
#define DCQCN_TX_H

#include <linux/types.h>

#include "packet.h"

struct module;
struct nf_hook_state;
struct sk_buff;

/**
 * struct dcqcn_packet - description of a packet that rxe sends, also kept while it is held
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
 * struct dcqcn_tx - a packet that rxe sends
 * @skb: the packet
 * @bth: its BTH, readable
 * @packet: its description
 * @prio: its priority
 * @limit: a limit applies to that priority
 */
struct dcqcn_tx {
	struct sk_buff *skb;
	const struct dcqcn_bth *bth;
	struct dcqcn_packet packet;
	u8 prio;
	bool limit;
};

void dcqcn_tx_know_rxe(const struct module *owner);
void dcqcn_tx_forget_rxe(void);
unsigned int dcqcn_local_out4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);
unsigned int dcqcn_local_out6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state);

#endif /* DCQCN_TX_H */
