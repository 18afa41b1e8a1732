/* SPDX-License-Identifier: GPL-2.0 */
/* The notification point. See np.c. */
#ifndef DCQCN_NP_H
#define DCQCN_NP_H

struct dcqcn_dev;
struct dcqcn_event;
struct dcqcn_pkt;
struct dcqcn_qp;
struct sk_buff;

void dcqcn_np_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt);
void dcqcn_np_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event);

#endif /* DCQCN_NP_H */
