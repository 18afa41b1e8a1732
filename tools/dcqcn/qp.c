// SPDX-License-Identifier: GPL-2.0
/* QPs that have met congestion, as the module sees them. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "qp.h"

/* The kernel lists them in the order of a hash */
struct list {
	struct qp *qps;
	size_t len, room;
};

static void qp_message(const struct nlattr **tb, void *data)
{
	struct list *list = data;
	struct qp qp = {};

	strncpy(qp.dev, netlink_string(tb[RDMA_DCQCN_A_QP_DEV_NAME]),
		sizeof(qp.dev) - 1);
	netlink_address(tb[RDMA_DCQCN_A_QP_PEER], qp.peer);
	if (tb[RDMA_DCQCN_A_QP_CC_ALGORITHM])
		strncpy(qp.algorithm, netlink_string(tb[RDMA_DCQCN_A_QP_CC_ALGORITHM]),
			sizeof(qp.algorithm) - 1);
	for (int i = 1; i <= RDMA_DCQCN_A_QP_MAX; i++) {
		if (!tb[i] || i == RDMA_DCQCN_A_QP_DEV_NAME ||
		    i == RDMA_DCQCN_A_QP_PEER || i == RDMA_DCQCN_A_QP_PAD ||
		    i == RDMA_DCQCN_A_QP_CC_ALGORITHM)
			continue;
		qp.has[i] = true;
		qp.value[i] = netlink_number(tb[i]);
	}
	if (list->len == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->qps = realloc(list->qps, list->room * sizeof(qp));
		if (!list->qps)
			fail_errno("QPs");
	}
	list->qps[list->len++] = qp;
}

static int qp_compare(const void *a, const void *b)
{
	const struct qp *x = a, *y = b;
	int order = strcmp(x->dev, y->dev);

	if (order)
		return order;
	return (x->value[RDMA_DCQCN_A_QP_LQPN] > y->value[RDMA_DCQCN_A_QP_LQPN]) -
	       (x->value[RDMA_DCQCN_A_QP_LQPN] < y->value[RDMA_DCQCN_A_QP_LQPN]);
}

void qp_dump(const struct qp_filter *filter, qp_each each, void *data)
{
	struct list list = {};
	struct nlmsghdr *nlh;
	nlh = netlink_request(&dev_family, RDMA_DCQCN_CMD_QP_GET, filter->dev);
	if (filter->dev)
		mnl_attr_put_strz(nlh, RDMA_DCQCN_A_QP_DEV_NAME, filter->dev);
	if (filter->qpn >= 0)
		mnl_attr_put_u32(nlh, RDMA_DCQCN_A_QP_LQPN, filter->qpn);
	netlink_dump(nlh, RDMA_DCQCN_A_QP_MAX, qp_message, &list);
	qsort(list.qps, list.len, sizeof(*list.qps), qp_compare);
	for (size_t i = 0; i < list.len; i++)
		each(&list.qps[i], data);
	free(list.qps);
}

/* @algorithm: empty to let it follow its device */
void qp_set(const struct qp_filter *qp, const char *algorithm)
{
	struct nlmsghdr *nlh = netlink_request(&dev_family, RDMA_DCQCN_CMD_QP_SET, qp->dev);

	mnl_attr_put_strz(nlh, RDMA_DCQCN_A_QP_DEV_NAME, qp->dev);
	mnl_attr_put_u32(nlh, RDMA_DCQCN_A_QP_LQPN, qp->qpn);
	netlink_put_name(nlh, RDMA_DCQCN_A_QP_CC_ALGORITHM, algorithm, DEV_ALGORITHM_MAX);
	netlink_do(nlh);
}

const char *qp_type(const struct qp *qp)
{
	switch (qp->value[RDMA_DCQCN_A_QP_TYPE]) {
	case RDMA_DCQCN_QP_TYPE_RC:
		return "RC";
	case RDMA_DCQCN_QP_TYPE_UC:
		return "UC";
	case RDMA_DCQCN_QP_TYPE_UD:
		return "UD";
	default:
		return "?";
	}
}

const char *qp_state(const struct qp *qp)
{
	switch (qp->value[RDMA_DCQCN_A_QP_STATE]) {
	case RDMA_DCQCN_QP_STATE_IDLE:
		return "idle";
	case RDMA_DCQCN_QP_STATE_LIMITED:
		return "limited";
	case RDMA_DCQCN_QP_STATE_RELEASED:
		return "released";
	case RDMA_DCQCN_QP_STATE_STARTING:
		return "starting";
	default:
		return "?";
	}
}

double qp_alpha(const struct qp *qp)
{
	return qp->value[RDMA_DCQCN_A_QP_ALPHA] /
	       (double)RDMA_DCQCN_ALPHA_ONE;
}
