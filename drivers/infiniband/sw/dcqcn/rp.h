/* SPDX-License-Identifier: GPL-2.0 */
/* The reaction point. See rp.c. */
#ifndef DCQCN_RP_H
#define DCQCN_RP_H

#include "pacer.h"

struct dcqcn_dev;
struct dcqcn_pkt;
struct dcqcn_qp;
struct dcqcn_view;
struct sk_buff;

/**
 * enum dcqcn_verdict - what became of a CNP
 * @DCQCN_CNP_HANDLED: its QP's rate was or will be cut
 * @DCQCN_CNP_WAITS: until its QP is known
 * @DCQCN_CNP_INVALID: length, ICRC or destination are wrong
 * @DCQCN_CNP_NO_QP: no such QP, or no room to find out
 * @DCQCN_CNP_DISABLED: RP is off for the QP's priority
 * @DCQCN_CNP_NOT_PEER: it is not from the QP's peer
 * @DCQCN_CNP_STOPPING: the port goes away
 */
enum dcqcn_verdict {
	DCQCN_CNP_HANDLED,
	DCQCN_CNP_WAITS,
	DCQCN_CNP_INVALID,
	DCQCN_CNP_NO_QP,
	DCQCN_CNP_DISABLED,
	DCQCN_CNP_NOT_PEER,
	DCQCN_CNP_STOPPING,
};

void dcqcn_rp_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt);
void dcqcn_rp_resolved(struct dcqcn_qp *qp);
unsigned int dcqcn_rp_output(struct dcqcn_dev *dev, u32 qpn,
			     struct sk_buff *skb, struct dcqcn_view *view,
			     dcqcn_okfn okfn);

#endif /* DCQCN_RP_H */
