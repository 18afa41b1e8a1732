// SPDX-License-Identifier: GPL-2.0
/*
 * The list of algorithms: those of this module, and those that others register.
 *
 * A port's choice is a name, and holds no reference. While there is no algorithm of that name,
 * because its module has gone, flows of the port obey DCQCN. If it is registered again, they obey
 * it again. Each place in the list counts the flows that obey its algorithm. An algorithm that is
 * unregistered is taken from its flows. cc_register.c registers and unregisters them.
 */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"
#include "cc.h"

struct dcqcn_cc_slot dcqcn_cc_slots[DCQCN_CC_MAX] = {
	{ .ops = RCU_INITIALIZER(&dcqcn_swift) },
	{ .ops = RCU_INITIALIZER(&dcqcn_timely) },
	{ .ops = RCU_INITIALIZER(&dcqcn_dctcp) },
	{ .ops = RCU_INITIALIZER(&dcqcn_fast) },
	{ .ops = RCU_INITIALIZER(&dcqcn_fast_oneway) },
	{ .ops = RCU_INITIALIZER(&dcqcn_hpcc) },
	{ .ops = RCU_INITIALIZER(&dcqcn_powertcp) },
};

static const char dcqcn_cc_dcqcn[] = "dcqcn";

/**
 * dcqcn_cc_ops() - the algorithm in a place of the list
 * @slot: the place
 *
 * Context: under RCU. Return: the algorithm, NULL if there is none.
 */
const struct dcqcn_cc_ops *dcqcn_cc_ops(const struct dcqcn_cc_slot *slot)
{
	return rcu_dereference_check(slot->ops, rcu_read_lock_bh_held());
}

/**
 * dcqcn_cc_find() - find an algorithm
 * @name: its name; may end in a newline
 *
 * Context: under RCU. Return: its place in the list, NULL for DCQCN or if there is none.
 */
struct dcqcn_cc_slot *dcqcn_cc_find(const char *name)
{
	struct dcqcn_cc_slot *slot;
	const struct dcqcn_cc_ops *ops;

	for (slot = dcqcn_cc_slots; slot < dcqcn_cc_slots + DCQCN_CC_MAX; slot++) {
		ops = dcqcn_cc_ops(slot);
		if (ops && sysfs_streq(ops->name, name))
			return slot;
	}
	return NULL;
}

/**
 * dcqcn_cc_choose() - choose a registered algorithm
 * @choice: DCQCN_CC_NAME_MAX bytes; set to the name, or to an empty string for DCQCN
 * @name: its name; may end in a newline
 *
 * Context: any. Return: 0, or -ENOENT.
 */
int dcqcn_cc_choose(char *choice, const char *name)
{
	const struct dcqcn_cc_slot *slot;
	const struct dcqcn_cc_ops *ops;
	int err = 0;

	rcu_read_lock();
	slot = dcqcn_cc_find(name);
	/* NULL also if it has just been unregistered */
	ops = slot ? dcqcn_cc_ops(slot) : NULL;
	if (ops)
		strscpy(choice, ops->name, DCQCN_CC_NAME_MAX);
	else if (sysfs_streq(dcqcn_cc_dcqcn, name))
		*choice = '\0';
	else
		err = -ENOENT;
	rcu_read_unlock();
	return err;
}

/**
 * dcqcn_cc_name() - the name of what was chosen
 * @choice: what dcqcn_cc_choose() has set
 *
 * Context: any. Return: the name.
 */
const char *dcqcn_cc_name(const char *choice)
{
	return *choice ? choice : dcqcn_cc_dcqcn;
}

/**
 * dcqcn_cc_list() - list the algorithms that a port can choose
 * @buf: gets their names, with spaces in between
 * @size: bytes of @buf; DCQCN_CC_LIST_LEN suffice
 *
 * Context: any.
 */
void dcqcn_cc_list(char *buf, size_t size)
{
	const struct dcqcn_cc_slot *slot;
	const struct dcqcn_cc_ops *ops;

	strscpy(buf, dcqcn_cc_dcqcn, size);
	rcu_read_lock();
	for (slot = dcqcn_cc_slots; slot < dcqcn_cc_slots + DCQCN_CC_MAX; slot++) {
		ops = dcqcn_cc_ops(slot);
		if (!ops)
			continue;
		strlcat(buf, " ", size);
		strlcat(buf, ops->name, size);
	}
	rcu_read_unlock();
}
