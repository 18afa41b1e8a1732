// SPDX-License-Identifier: GPL-2.0
/* The rxe devices, as the module sees them. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"
#include "fail.h"
#include "knob.h"

const char * const counter_names[] = {
#define DCQCN_COUNTER(_id, _name, _attr) [RDMA_DCQCN_A_COUNTERS_##_attr] = #_name,
#include "../../drivers/infiniband/sw/dcqcn/counter_list.h"
	/* gauges: what there is at this moment */
	[RDMA_DCQCN_A_COUNTERS_RP_LIMITED_QPS] = "rp_limited_qps",
	[RDMA_DCQCN_A_COUNTERS_RP_HELD_BYTES] = "rp_held_bytes",
	[RDMA_DCQCN_A_COUNTERS_CCC_CONTEXTS] = "ccc_contexts",
};

/* Only knobs have ranges */
static void dev_range(FILE *out,
		      const struct nlmsghdr *sent __attribute__((unused)),
		      const struct nlattr *attr, uint64_t min, uint64_t max)
{
	const struct knob *knob = knob_by_attr(mnl_attr_get_type(attr));

	if (!knob)
		fail("an attribute that this version does not know is out of range");
	fprintf(out, "%s: ", knob->name);
	knob_print(out, knob, netlink_number(attr));
	fprintf(out, " is out of range: ");
	knob_print(out, knob, min);
	fprintf(out, " to ");
	knob_print(out, knob, max);
}

const struct netlink_family dev_family = {
	.name = RDMA_DCQCN_FAMILY_NAME,
	.version = RDMA_DCQCN_FAMILY_VERSION,
	.module = "rdma_dcqcn",
	.name_max = DEV_NAME_LEN - 1,
	.no_dev = " (dcqcn show lists them)",
	.range = dev_range,
};

static void dev_settings(const struct nlattr *nest,
			 uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1])
{
	const struct nlattr *tb[RDMA_DCQCN_A_SETTINGS_MAX + 1];

	netlink_nested(nest, tb, RDMA_DCQCN_A_SETTINGS_MAX);
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++)
		settings[i] = netlink_number(tb[i]);
}

static void dev_counters(const struct nlattr *nest, struct dev *dev)
{
	const struct nlattr *tb[RDMA_DCQCN_A_COUNTERS_MAX + 1];

	netlink_nested(nest, tb, RDMA_DCQCN_A_COUNTERS_MAX);
	for (int i = 1; i <= RDMA_DCQCN_A_COUNTERS_MAX; i++) {
		if (counter_names[i])
			dev->counters[i] = netlink_number(tb[i]);
	}
}

static void dev_message(const struct nlattr **tb, void *data)
{
	struct dev ***tail = data;
	struct dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		fail_errno("devices");
	strncpy(dev->name, netlink_string(tb[RDMA_DCQCN_A_DEV_NAME]),
		sizeof(dev->name) - 1);
	strncpy(dev->ifname, netlink_string(tb[RDMA_DCQCN_A_DEV_IFNAME]),
		sizeof(dev->ifname) - 1);
	dev->ifindex = netlink_number(tb[RDMA_DCQCN_A_DEV_IFINDEX]);
	dev->line_rate = netlink_number(tb[RDMA_DCQCN_A_DEV_LINE_RATE]);
	/* older modules send neither */
	strncpy(dev->algorithm, tb[RDMA_DCQCN_A_DEV_CC_ALGORITHM] ?
		netlink_string(tb[RDMA_DCQCN_A_DEV_CC_ALGORITHM]) : "dcqcn",
		sizeof(dev->algorithm) - 1);
	strncpy(dev->algorithms, tb[RDMA_DCQCN_A_DEV_CC_AVAILABLE] ?
		netlink_string(tb[RDMA_DCQCN_A_DEV_CC_AVAILABLE]) : "dcqcn",
		sizeof(dev->algorithms) - 1);
	dev_settings(tb[RDMA_DCQCN_A_DEV_SETTINGS], dev->settings);
	dev_counters(tb[RDMA_DCQCN_A_DEV_COUNTERS], dev);
	**tail = dev;
	*tail = &dev->next;
}

/* All devices, or the one of that name */
struct dev *dev_list(const char *name)
{
	struct dev *list = NULL, **tail = &list;
	struct nlmsghdr *nlh;
	nlh = netlink_request(&dev_family, RDMA_DCQCN_CMD_DEV_GET, name);
	if (name)
		mnl_attr_put_strz(nlh, RDMA_DCQCN_A_DEV_NAME, name);
	netlink_dump(nlh, RDMA_DCQCN_A_DEV_MAX, dev_message, &tail);
	return list;
}

struct dev *dev_find(struct dev *list, const char *name)
{
	while (list && strcmp(list->name, name))
		list = list->next;
	return list;
}

void dev_free(struct dev *list)
{
	struct dev *next;

	for (; list; list = next) {
		next = list->next;
		free(list);
	}
}

/* @profile and @algorithm may be NULL. Set those @settings whose bit is set in @which. An
 * error ends the program.
 */
void dev_set(const char *name, const char *profile, const char *algorithm,
	     const uint32_t *settings, uint32_t which)
{
	struct nlattr *nest;
	struct nlmsghdr *nlh;
	nlh = netlink_request(&dev_family, RDMA_DCQCN_CMD_DEV_SET, name);
	mnl_attr_put_strz(nlh, RDMA_DCQCN_A_DEV_NAME, name);
	if (profile)
		netlink_put_name(nlh, RDMA_DCQCN_A_DEV_PROFILE, profile, DEV_NAME_LEN - 1);
	if (algorithm)
		netlink_put_name(nlh, RDMA_DCQCN_A_DEV_CC_ALGORITHM, algorithm,
				 DEV_ALGORITHM_MAX);
	if (which) {
		nest = mnl_attr_nest_start(nlh, RDMA_DCQCN_A_DEV_SETTINGS);
		_Static_assert(RDMA_DCQCN_A_SETTINGS_MAX < 32, "a set has 32 bits");
		for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
			if (which & 1U << i)
				mnl_attr_put_u32(nlh, i, settings[i]);
		}
		mnl_attr_nest_end(nlh, nest);
	}
	netlink_do(nlh);
}
