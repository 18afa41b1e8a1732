/* SPDX-License-Identifier: GPL-2.0 */
/* The reaction point. See rp.c. */
#ifndef DCQCN_RP_H
#define DCQCN_RP_H

#include <linux/netfilter.h>
#include <rdma/ib_verbs.h>

struct dcqcn_dev;
struct dcqcn_pkt;
struct dcqcn_qp;
struct sk_buff;

void dcqcn_rp_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt);
void dcqcn_rp_resolved(struct dcqcn_qp *qp);
unsigned int dcqcn_rp_output(struct dcqcn_dev *dev, const struct ib_qp *ibqp,
			     struct sk_buff *skb, const struct dcqcn_pkt *pkt,
			     const struct nf_hook_state *state);

#endif /* DCQCN_RP_H */
