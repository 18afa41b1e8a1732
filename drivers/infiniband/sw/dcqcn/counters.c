// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of one rxe port, as files beside rxe's own in hw_counters/. Names that
 * mlx5 has too mean the same as there.
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

#define DCQCN_COUNTER(_name, _counter)					\
	static struct dcqcn_counter_attr dcqcn_counter_##_name = {	\
		.attr = __ATTR(_name, 0444, dcqcn_counter_show, NULL),	\
		.counter = (_counter),					\
	}

DCQCN_COUNTER(np_ecn_marked_roce_packets, DCQCN_NP_ECN_MARKED);
DCQCN_COUNTER(np_cnp_sent, DCQCN_NP_CNP_SENT);
DCQCN_COUNTER(np_icrc_errors, DCQCN_NP_ICRC_ERRORS);
DCQCN_COUNTER(np_cnp_errors, DCQCN_NP_CNP_ERRORS);
DCQCN_COUNTER(rp_cnp_handled, DCQCN_RP_CNP_HANDLED);
DCQCN_COUNTER(rp_cnp_ignored, DCQCN_RP_CNP_IGNORED);
DCQCN_COUNTER(rp_passed_packets, DCQCN_RP_PASSED);
DCQCN_COUNTER(rp_held_packets, DCQCN_RP_HELD);
DCQCN_COUNTER(rp_released_packets, DCQCN_RP_RELEASED);
DCQCN_COUNTER(rp_expired_packets, DCQCN_RP_EXPIRED);
DCQCN_COUNTER(rp_drop_bound_packets, DCQCN_RP_DROP_BOUND);
DCQCN_COUNTER(rp_drop_stale_packets, DCQCN_RP_DROP_STALE);
DCQCN_COUNTER(rp_drop_dead_packets, DCQCN_RP_DROP_DEAD);
DCQCN_COUNTER(rp_ect_errors, DCQCN_RP_ECT_ERRORS);
DCQCN_COUNTER(qp_errors, DCQCN_QP_ERRORS);
DCQCN_COUNTER(np_feedback_sent, DCQCN_NP_FEEDBACK_SENT);
DCQCN_COUNTER(np_feedback_errors, DCQCN_NP_FEEDBACK_ERRORS);
DCQCN_COUNTER(rp_feedback_handled, DCQCN_RP_FEEDBACK_HANDLED);
DCQCN_COUNTER(rp_feedback_ignored, DCQCN_RP_FEEDBACK_IGNORED);
DCQCN_COUNTER(rp_window_timeouts, DCQCN_RP_WINDOW_TIMEOUTS);
DCQCN_COUNTER(rp_entropy_changes, DCQCN_RP_ENTROPY_CHANGES);
DCQCN_COUNTER(ccc_errors, DCQCN_CCC_ERRORS);
static IB_PORT_ATTR_RO(rp_limited_qps);
static IB_PORT_ATTR_RO(rp_held_bytes);
static IB_PORT_ATTR_RO(ccc_contexts);

static struct attribute *dcqcn_counter_attrs[] = {
	&dcqcn_counter_np_ecn_marked_roce_packets.attr.attr,
	&dcqcn_counter_np_cnp_sent.attr.attr,
	&dcqcn_counter_np_icrc_errors.attr.attr,
	&dcqcn_counter_np_cnp_errors.attr.attr,
	&dcqcn_counter_rp_cnp_handled.attr.attr,
	&dcqcn_counter_rp_cnp_ignored.attr.attr,
	&dcqcn_counter_rp_passed_packets.attr.attr,
	&dcqcn_counter_rp_held_packets.attr.attr,
	&dcqcn_counter_rp_released_packets.attr.attr,
	&dcqcn_counter_rp_expired_packets.attr.attr,
	&dcqcn_counter_rp_drop_bound_packets.attr.attr,
	&dcqcn_counter_rp_drop_stale_packets.attr.attr,
	&dcqcn_counter_rp_drop_dead_packets.attr.attr,
	&dcqcn_counter_rp_ect_errors.attr.attr,
	&dcqcn_counter_qp_errors.attr.attr,
	&dcqcn_counter_np_feedback_sent.attr.attr,
	&dcqcn_counter_np_feedback_errors.attr.attr,
	&dcqcn_counter_rp_feedback_handled.attr.attr,
	&dcqcn_counter_rp_feedback_ignored.attr.attr,
	&dcqcn_counter_rp_window_timeouts.attr.attr,
	&dcqcn_counter_rp_entropy_changes.attr.attr,
	&dcqcn_counter_ccc_errors.attr.attr,
	&ib_port_attr_rp_limited_qps.attr,
	&ib_port_attr_rp_held_bytes.attr,
	&ib_port_attr_ccc_contexts.attr,
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
