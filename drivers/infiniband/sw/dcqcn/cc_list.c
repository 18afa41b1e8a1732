// SPDX-License-Identifier: GPL-2.0
/*
 * The list of algorithms: those of this module, and those that others register.
 *
 * A name keeps its place in the list for good, so a port's choice is a number, and holds no
 * reference. While a name has no algorithm, because its module has gone, flows of ports that have
 * chosen it obey DCQCN. If it is registered again, they obey it again. cc_register.c does both.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"
#include "cc.h"

struct dcqcn_cc_slot dcqcn_cc_slots[DCQCN_CC_MAX] = {
	[DCQCN_CC_DCQCN] = { .name = "dcqcn" },
	{ .name = "swift", .ops = RCU_INITIALIZER(&dcqcn_swift) },
	{ .name = "timely", .ops = RCU_INITIALIZER(&dcqcn_timely) },
	{ .name = "dctcp", .ops = RCU_INITIALIZER(&dcqcn_dctcp) },
	{ .name = "fast", .ops = RCU_INITIALIZER(&dcqcn_fast) },
};

static struct dcqcn_cc_slot *dcqcn_cc_slot(u32 id)
{
	return &dcqcn_cc_slots[min_t(u32, id, DCQCN_CC_MAX - 1)];
}

/**
 * dcqcn_cc_get() - find an algorithm for a flow, and count that
 * @id: its place in the list
 *
 * Context: under RCU. Return: the algorithm; NULL for DCQCN, or if it has gone.
 */
const struct dcqcn_cc_ops *dcqcn_cc_get(u32 id)
{
	struct dcqcn_cc_slot *slot = dcqcn_cc_slot(id);
	const struct dcqcn_cc_ops *ops = rcu_dereference_bh(slot->ops);

	if (ops)
		atomic_inc(&slot->flows);
	return ops;
}

/**
 * dcqcn_cc_put() - a flow no longer uses what dcqcn_cc_get() has found
 * @id: its place in the list
 *
 * Context: any.
 */
void dcqcn_cc_put(u32 id)
{
	atomic_dec(&dcqcn_cc_slot(id)->flows);
}

/**
 * dcqcn_cc_name() - the name of a place in the list
 * @id: the place
 *
 * Context: any. Return: the name, empty if there is none.
 */
const char *dcqcn_cc_name(u32 id)
{
	return dcqcn_cc_slot(id)->name;
}

/**
 * dcqcn_cc_available() - the name of an algorithm that a port can choose
 * @id: its place in the list, from 0 to DCQCN_CC_MAX - 1
 *
 * Context: any. Return: the name, or NULL if there is none.
 */
const char *dcqcn_cc_available(u32 id)
{
	const struct dcqcn_cc_slot *slot = dcqcn_cc_slot(id);

	return id == DCQCN_CC_DCQCN || rcu_access_pointer(slot->ops) ? slot->name : NULL;
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
	u32 id;

	*buf = '\0';
	for (id = 0; id < DCQCN_CC_MAX; id++) {
		if (!dcqcn_cc_available(id))
			continue;
		if (*buf)
			strlcat(buf, " ", size);
		strlcat(buf, dcqcn_cc_name(id), size);
	}
}

/**
 * dcqcn_cc_place() - find the place of a name
 * @name: the name, may end in a newline
 *
 * Context: any. Return: the place, or -ENOENT.
 */
int dcqcn_cc_place(const char *name)
{
	int id;

	for (id = 0; id < DCQCN_CC_MAX; id++) {
		if (sysfs_streq(dcqcn_cc_slots[id].name, name) && *name)
			return id;
	}
	return -ENOENT;
}

/**
 * dcqcn_cc_find() - find an algorithm that a port can choose
 * @name: its name, may end in a newline
 *
 * Context: any. Return: its place in the list, or -ENOENT.
 */
int dcqcn_cc_find(const char *name)
{
	int id = dcqcn_cc_place(name);

	return id < 0 || dcqcn_cc_available(id) ? id : -ENOENT;
}
