// SPDX-License-Identifier: GPL-2.0
/* Congestion control contexts, as the module sees them. */
#include <stdlib.h>
#include <string.h>

#include "ccc.h"
#include "fail.h"

/* The kernel lists them in the order of a hash */
struct list {
	struct ccc *cccs;
	size_t len, room;
};

static bool is_number(int attr)
{
	switch (attr) {
	case RDMA_DCQCN_A_CCC_DEV_NAME:
	case RDMA_DCQCN_A_CCC_PAD:
	case RDMA_DCQCN_A_CCC_LOCAL:
	case RDMA_DCQCN_A_CCC_PEER:
		return false;
	default:
		return true;
	}
}

static void ccc_message(const struct nlattr **tb, void *data)
{
	struct list *list = data;
	struct ccc ccc = {};

	strncpy(ccc.dev, netlink_string(tb[RDMA_DCQCN_A_CCC_DEV_NAME]),
		sizeof(ccc.dev) - 1);
	netlink_address(tb[RDMA_DCQCN_A_CCC_LOCAL], ccc.local);
	netlink_address(tb[RDMA_DCQCN_A_CCC_PEER], ccc.peer);
	for (int i = 1; i <= RDMA_DCQCN_A_CCC_MAX; i++) {
		if (is_number(i))
			ccc.value[i] = netlink_number(tb[i]);
	}
	if (list->len == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->cccs = realloc(list->cccs, list->room * sizeof(ccc));
		if (!list->cccs)
			fail_errno("contexts");
	}
	list->cccs[list->len++] = ccc;
}

static int ccc_compare(const void *a, const void *b)
{
	const struct ccc *x = a, *y = b;
	int order = strcmp(x->dev, y->dev);

	if (!order)
		order = strcmp(x->peer, y->peer);
	if (!order)
		order = strcmp(x->local, y->local);
	if (order)
		return order;
	return (int)x->value[RDMA_DCQCN_A_CCC_PRIO] -
	       (int)y->value[RDMA_DCQCN_A_CCC_PRIO];
}

/* List the contexts of a device, or all of them if @dev is NULL */
void ccc_dump(const char *dev, ccc_each each)
{
	struct list list = {};
	struct nlmsghdr *nlh;

	nlh = netlink_request(&dev_family, RDMA_DCQCN_CMD_CCC_GET, dev);
	if (dev)
		mnl_attr_put_strz(nlh, RDMA_DCQCN_A_CCC_DEV_NAME, dev);
	netlink_dump(nlh, RDMA_DCQCN_A_CCC_MAX, ccc_message, &list);
	qsort(list.cccs, list.len, sizeof(*list.cccs), ccc_compare);
	for (size_t i = 0; i < list.len; i++)
		each(&list.cccs[i]);
	free(list.cccs);
}
