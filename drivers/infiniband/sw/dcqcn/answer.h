/* SPDX-License-Identifier: GPL-2.0 */
/* Round trips for packets that get no ACK. See answer.c. */
#ifndef DCQCN_ANSWER_H
#define DCQCN_ANSWER_H

#include <linux/types.h>

struct dcqcn_event;
struct dcqcn_feedback;
struct dcqcn_qp;
struct dcqcn_rx;

void dcqcn_answer_receive(struct dcqcn_rx *in);
void dcqcn_answer_resolved(struct dcqcn_qp *qp, const struct dcqcn_event *event);
bool dcqcn_answer_hear(const struct dcqcn_rx *in, const struct dcqcn_feedback *said);

#endif /* DCQCN_ANSWER_H */
