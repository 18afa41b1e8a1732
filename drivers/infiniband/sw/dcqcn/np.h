/* SPDX-License-Identifier: GPL-2.0 */
/* The notification point. See np.c. */
#ifndef DCQCN_NP_H
#define DCQCN_NP_H

#include <linux/atomic.h>

struct dcqcn_cnp_spec;
struct dcqcn_dev;
struct dcqcn_event;
struct dcqcn_feedback;
struct dcqcn_pkt;
struct dcqcn_qp;
struct dcqcn_settings;
struct net;
struct sk_buff;

void dcqcn_np_receive(struct dcqcn_dev *dev, struct sk_buff *skb,
		      struct dcqcn_pkt *pkt);
bool dcqcn_np_charge(atomic64_t *account, s64 gap);
int dcqcn_np_xmit(struct net *net, int ifindex,
		  const struct dcqcn_settings *settings,
		  struct dcqcn_cnp_spec *spec,
		  const struct dcqcn_feedback *feedback);
void dcqcn_np_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event);

#endif /* DCQCN_NP_H */
