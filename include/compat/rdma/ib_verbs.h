/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.12, the RDMA core did not export ib_device_get_netdev(). */
#ifndef DCQCN_COMPAT_IB_VERBS_H
#define DCQCN_COMPAT_IB_VERBS_H

#include_next <rdma/ib_verbs.h>

#ifndef DCQCN_HAVE_IB_DEVICE_GET_NETDEV
#include <rdma/ib_cache.h>

/* Find the device by the default GID, which a RoCE port always has */
static inline struct net_device *
ib_device_get_netdev(struct ib_device *ibdev, u32 port)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, port, 0);
	struct net_device *ndev;

	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}
#endif

#endif /* DCQCN_COMPAT_IB_VERBS_H */
