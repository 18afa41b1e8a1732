/* SPDX-License-Identifier: GPL-2.0 */
/* Receives CNPs. See cnp.c. */
#ifndef DCQCN_CNP_H
#define DCQCN_CNP_H

#include <linux/types.h>

struct dcqcn_qp;
struct dcqcn_rx;
struct in6_addr;

/**
 * enum dcqcn_verdict - what happened to a CNP
 * @DCQCN_CNP_HANDLED: it is accepted, and cuts its QP's rate unless it comes too soon
 * @DCQCN_CNP_WAITS: it waits until its QP is known
 * @DCQCN_CNP_INVALID: wrong length, ICRC or destination
 * @DCQCN_CNP_NO_QP: no such QP
 * @DCQCN_CNP_DISABLED: RP is off for the QP's priority
 * @DCQCN_CNP_NOT_PEER: it is not from the QP's peer
 * @DCQCN_CNP_STOPPING: the port is going away
 * @DCQCN_CNP_WINDOWED: the QP obeys a context, which learns of marks from feedback
 * @DCQCN_CNP_NO_ROOM: no memory, too many unresolved QPs, or too many CNPs that wait for this QP
 */
enum dcqcn_verdict {
	DCQCN_CNP_HANDLED,
	DCQCN_CNP_WAITS,
	DCQCN_CNP_INVALID,
	DCQCN_CNP_NO_QP,
	DCQCN_CNP_DISABLED,
	DCQCN_CNP_NOT_PEER,
	DCQCN_CNP_STOPPING,
	DCQCN_CNP_WINDOWED,
	DCQCN_CNP_NO_ROOM,
};

void dcqcn_cnp_receive(const struct dcqcn_rx *rx);
void dcqcn_cnp_resolved(struct dcqcn_qp *qp, const struct in6_addr *saddr, u32 n);

#endif /* DCQCN_CNP_H */
