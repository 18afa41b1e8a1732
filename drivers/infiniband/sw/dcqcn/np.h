/* SPDX-License-Identifier: GPL-2.0 */
/* The notification point. See np.c. */
#ifndef DCQCN_NP_H
#define DCQCN_NP_H

struct dcqcn_event;
struct dcqcn_qp;
struct dcqcn_rx;

void dcqcn_np_receive(struct dcqcn_rx *rx);
void dcqcn_np_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event);

#endif /* DCQCN_NP_H */
