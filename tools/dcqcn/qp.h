/* SPDX-License-Identifier: GPL-2.0 */
/* QPs that have met congestion. See qp.c. */
#ifndef QP_H
#define QP_H

#include <stdbool.h>

#include "dev.h"
#include "netlink.h"

struct qp {
	char dev[DEV_NAME_LEN];
	char peer[NETLINK_ADDRESS];	/* empty if it has none */
	char algorithm[DEV_NAME_LEN];	/* chosen for it, or empty */
	uint64_t value[RDMA_DCQCN_A_QP_MAX + 1];	/* of numbers */
	bool has[RDMA_DCQCN_A_QP_MAX + 1];
};

/* The requested QPs: NULL for all devices, a negative number for all QPs */
struct qp_filter {
	const char *dev;
	long qpn;
};

typedef void (*qp_each)(const struct qp *qp, void *data);

void qp_dump(const struct qp_filter *filter, qp_each each, void *data);
void qp_set(const struct qp_filter *qp, const char *algorithm);
const char *qp_type(const struct qp *qp);
const char *qp_state(const struct qp *qp);
double qp_alpha(const struct qp *qp);

#endif /* QP_H */
