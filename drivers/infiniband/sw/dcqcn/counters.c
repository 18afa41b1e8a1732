// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of one rxe port, as files beside rxe's own in hw_counters/. A name that mlx5 has too
 * means the same there.
 */
#include <linux/kernel.h>
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>
#include <rdma/ib_verbs.h>

#include "client.h"
#include "counters.h"
#include "device.h"

struct dcqcn_counter_attr {
	struct ib_port_attribute attr;
	enum dcqcn_counter counter;
};

static ssize_t dcqcn_counter_show(struct ib_device *ibdev, u32 port_num,
				  struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_counter_attr *c =
		container_of(attr, struct dcqcn_counter_attr, attr);
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%lu\n", dcqcn_counter_sum(dev, c->counter));
}

static ssize_t rp_limited_qps_show(struct ib_device *ibdev, u32 port_num,
				   struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%d\n", atomic_read(&dev->pacing.num_limited));
}

static ssize_t rp_held_bytes_show(struct ib_device *ibdev, u32 port_num,
				  struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%ld\n", dcqcn_held_memory_sum(dev));
}

static ssize_t ccc_contexts_show(struct ib_device *ibdev, u32 port_num,
				 struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(dev->contexts.num));
}

/* named like mlx5's optional counters of congestion control, which "rdma statistic" shows */

static ssize_t cc_rx_ce_pkts_show(struct ib_device *ibdev, u32 port_num,
				  struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%lu\n", dcqcn_counter_sum(dev, DCQCN_NP_ECN_MARKED));
}

static ssize_t cc_rx_cnp_pkts_show(struct ib_device *ibdev, u32 port_num,
				   struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%lu\n", dcqcn_counter_sum(dev, DCQCN_RP_CNP_HANDLED) +
					dcqcn_counter_sum(dev, DCQCN_RP_CNP_IGNORED));
}

static ssize_t cc_tx_cnp_pkts_show(struct ib_device *ibdev, u32 port_num,
				   struct ib_port_attribute *attr, char *buf)
{
	struct dcqcn_dev *dev = dcqcn_client_dev(ibdev);

	return sysfs_emit(buf, "%lu\n", dcqcn_counter_sum(dev, DCQCN_NP_CNP_SENT));
}

static struct dcqcn_counter_attr dcqcn_counter_files[DCQCN_NUM_COUNTERS] = {
#define DCQCN_COUNTER(_id, _name, _attribute)				\
	[DCQCN_##_id] = {						\
		.attr = __ATTR(_name, 0444, dcqcn_counter_show, NULL),	\
		.counter = DCQCN_##_id,					\
	},
#include "counter_list.h"
#undef DCQCN_COUNTER
};

static IB_PORT_ATTR_RO(rp_limited_qps);
static IB_PORT_ATTR_RO(rp_held_bytes);
static IB_PORT_ATTR_RO(ccc_contexts);
static IB_PORT_ATTR_RO(cc_rx_ce_pkts);
static IB_PORT_ATTR_RO(cc_rx_cnp_pkts);
static IB_PORT_ATTR_RO(cc_tx_cnp_pkts);

static struct attribute *dcqcn_counter_attrs[] = {
#define DCQCN_COUNTER(_id, _name, _attribute)	\
	[DCQCN_##_id] = &dcqcn_counter_files[DCQCN_##_id].attr.attr,
#include "counter_list.h"
#undef DCQCN_COUNTER
	&ib_port_attr_rp_limited_qps.attr,
	&ib_port_attr_rp_held_bytes.attr,
	&ib_port_attr_ccc_contexts.attr,
	&ib_port_attr_cc_rx_ce_pkts.attr,
	&ib_port_attr_cc_rx_cnp_pkts.attr,
	&ib_port_attr_cc_tx_cnp_pkts.attr,
	NULL
};

static const struct attribute_group dcqcn_counter_group = {
	.name = "hw_counters",
	.attrs = dcqcn_counter_attrs,
};

/* The directory of an rxe device's only port */
static struct kobject *dcqcn_port_kobj(struct ib_device *ibdev)
{
	return list_first_entry_or_null(&ibdev->coredev.port_list,
					struct kobject, entry);
}

/**
 * dcqcn_counters_add() - add a port's counter files
 * @dev: the port
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcqcn_counters_add(struct dcqcn_dev *dev)
{
	struct kobject *port = dcqcn_port_kobj(dev->ibdev);

	return port ? sysfs_merge_group(port, &dcqcn_counter_group) : -ENODEV;
}

/**
 * dcqcn_counters_remove() - undo dcqcn_counters_add()
 * @dev: the port
 *
 * Context: process; waits for readers.
 */
void dcqcn_counters_remove(struct dcqcn_dev *dev)
{
	sysfs_unmerge_group(dcqcn_port_kobj(dev->ibdev), &dcqcn_counter_group);
}
