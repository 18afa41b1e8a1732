// SPDX-License-Identifier: GPL-2.0
/* Applies changed settings to a port. */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/sch_generic.h>

#include "apply.h"
#include "buffer.h"
#include "class.h"
#include "device.h"
#include "hop.h"
#include "storm.h"

/* Bytes that a network card sends in one burst: seven frames of 9 KB. After other classes have used
 * the link, a class with a maxrate may catch up by this much.
 */
#define BURST		65536
/* A late timer, as in a busy guest, costs no bandwidth: what should have been sent
 * meanwhile is sent at once, for up to this many ns or, if that is more, a burst.
 */
#define LATE		NSEC_PER_MSEC

/* Set the extra work for a class's packets, except for that of the watchdog */
static void class_extras(struct dcbport *port, u8 tc)
{
	const struct dcbport_settings *s = &port->settings;
	struct dcbport_class *class = &port->class[tc];
	u8 old = class->enters;

	class->enters = old & DCBPORT_EXTRA_STORM;
	class->leaves = 0;
	if (s->share[tc])
		class->enters |= DCBPORT_EXTRA_SHARE;
	if (s->wred & 1 << tc)
		class->enters |= DCBPORT_EXTRA_WRED;
	/* packets whose flows were counted may still wait */
	if (class->counted || dcbport_settings_counts_flows(s, tc)) {
		class->enters |= DCBPORT_EXTRA_FLOWS;
		class->leaves |= DCBPORT_EXTRA_FLOWS;
		if (!(old & DCBPORT_EXTRA_FLOWS))
			dcbport_class_forget_flows(class);
	}
	if (s->stamp && s->rate)
		class->leaves |= DCBPORT_EXTRA_STAMP;
	class->curve = s->curve[tc];
	if (s->mark == DCBPORT_MARK_DEQUEUE && s->curve[tc].kmax) {
		class->leaves |= DCBPORT_EXTRA_MARK;
		class->curve = (struct dcbport_curve) {};
	}
}

static void class_apply(struct dcbport *port, u8 tc)
{
	const struct dcbport_settings *s = &port->settings;
	struct dcbport_class *class = &port->class[tc];
	u8 prio, before = class->prios;

	/* packets may still wait in a class that no longer has a priority */
	port->drr.weight[tc] = s->weight[tc] ?: 1;
	port->drr.deficit[tc] = 0;
	class->bit = 1 << tc;
	class->limit = s->limit[tc];
	class_extras(port, tc);
	class->prios = 0;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (s->tc[prio] == tc)
			class->prios |= 1 << prio;
	}
	/* packets of a priority that has left it may still wait */
	if (before & ~class->prios)
		class->older = class->queue.qlen;
	class->obeys = class->prios | (class->older ? class->obeys : 0);
	class->pace = (struct dcbport_wire) {
		.rate = s->maxrate[tc], .overhead = s->overhead };
	if (s->maxrate[tc])
		port->paced |= 1 << tc;
	if (!(s->pfc & class->obeys) || s->action == DCBPORT_ACTION_OFF)
		dcbport_storm_end(port, tc);
}

static void wire_apply(struct dcbport *port, const struct dcbport_settings *s, u64 now)
{
	struct sk_buff *last = port->flight.tail;
	u64 delay = port->settings.delay, arrives = port->wire.free + delay;

	/* pauses that the other end obeys are shorter at a higher rate */
	if (s->rate != port->settings.rate)
		port->tell_again = 0;
	dcbport_wire_set_rate(&port->wire, s->rate, now);
	port->wire.overhead = s->overhead;
	/* if the last frame is still being sent, it arrives earlier, or later, by the same time */
	if (last && dcbport_cb(last)->time == arrives)
		dcbport_cb(last)->time = port->wire.free + delay;
}

/**
 * dcbport_apply() - apply settings
 * @port: the port
 * @s: its settings from now on
 *
 * Context: its qdisc's lock is held, or no other code can find the port yet.
 */
void dcbport_apply(struct dcbport *port, const struct dcbport_settings *s)
{
	struct dcbport_prio_map map;
	u64 now = ktime_get_ns();
	u8 tc, prio;

	wire_apply(port, s, now);
	port->settings = *s;
	port->paced = 0;
	port->burst = s->rate ? div64_u64(BURST * 8ULL * NSEC_PER_SEC, s->rate) : 0;
	port->late = max_t(u64, LATE, port->burst);
	port->drr.strict = s->strict;
	/* in one assignment, because the hook looks up incoming packets meanwhile */
	dcbport_prio_map(&s->prio, &map);
	port->prio = map;
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		class_apply(port, tc);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		port->of[prio] = &port->class[s->tc[prio]];
	dcbport_storm_apply(port);
	port->plain = !s->rate && !s->delay && !port->paced;
	/* only the watchdog ends a storm, and if packets are dropped nothing else wakes it */
	if (port->poll)
		port->poll = now;
	dcbport_pause_set(&port->pause, s->pfc, dcbport_rate(s), now);
}

static bool has_room(const struct dcbport *port,
		     const struct dcbport_settings *s,
		     const struct dcbport_buffer *buffer)
{
	u64 old = port->buffer ? dcbport_settings_room(&port->settings) : 0;
	u64 new = dcbport_settings_room(s);

	return !buffer || new <= old ||
	       dcbport_buffer_has_room(buffer, new - old);
}

static int prepare_hops(struct dcbport *port)
{
	u8 tc;

	if (port->hops)
		return 0;
	port->hops = kcalloc(DCBPORT_PRIOS, sizeof(*port->hops), GFP_KERNEL_ACCOUNT);
	if (!port->hops)
		return -ENOMEM;
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		port->hops[tc].number = get_random_u32() % U16_MAX + 1;
	return 0;
}

/**
 * dcbport_prepare() - allocate tables for classes that must count flows, and the load of classes
 * @port: the port; its classes keep their tables from then on, because packets refer to places in
 *	them
 * @s: its settings from now on
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_prepare(struct dcbport *port, const struct dcbport_settings *s)
{
	struct dcbport_flows *flows;
	u8 tc;

	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		if (port->class[tc].flows ||
		    !dcbport_settings_counts_flows(s, tc))
			continue;
		flows = kvmalloc(sizeof(*flows), GFP_KERNEL_ACCOUNT);
		if (!flows)
			return -ENOMEM;
		dcbport_flows_setup(flows);
		port->class[tc].flows = flows;
	}
	return s->stamp ? prepare_hops(port) : 0;
}

/**
 * dcbport_change() - change a port's settings
 * @port: the port
 * @s: its new settings; each value is in its own range
 * @buffer: the switch that it will be in, or NULL; a port that is in one can only stay or
 *	leave
 * @extack: an error or a warning
 *
 * Context: rtnl is held; may sleep.
 * Return: 0, or a negative error, and nothing has changed.
 */
int dcbport_change(struct dcbport *port, const struct dcbport_settings *s,
		   struct dcbport_buffer *buffer,
		   struct netlink_ext_ack *extack)
{
	const char *problem = dcbport_settings_check(s, buffer);
	int err = -EINVAL;

	if (!problem) {
		problem = dcbport_device_refuse(port->dev, s->pfc);
		err = -EOPNOTSUPP;
	}
	if (problem) {
		if (extack)
			extack->_msg = problem;
		return err;
	}
	if (!has_room(port, s, buffer)) {
		NL_SET_ERR_MSG(extack,
			       "the switch has no room for this headroom and reserve: enlarge it");
		return -ENOSPC;
	}
	err = dcbport_prepare(port, s);
	if (err)
		return err;
	if (port->buffer && !buffer) {
		dcbport_buffer_leave(port);
	} else if (port->buffer) {
		dcbport_buffer_update(port, s);
	} else if (buffer) {
		err = dcbport_buffer_join(buffer, port, s);
		if (err)
			return err;
	}
	spin_lock_bh(qdisc_lock(port->sch));
	dcbport_apply(port, s);
	dcbport_wake(port);
	spin_unlock_bh(qdisc_lock(port->sch));
	if (extack)
		extack->_msg = dcbport_settings_warn(s);
	return 0;
}
