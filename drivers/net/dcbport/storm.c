// SPDX-License-Identifier: GPL-2.0
/*
 * The watchdog finds PFC storms, which are pauses that do not end, and drops or sends the packets
 * that they hold. While any class is paused, it looks at all classes from time to time.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "class.h"
#include "storm.h"

/**
 * dcbport_storm_setup() - allocate a port's counters of storms
 * @port: the port
 *
 * Context: may sleep. Return: 0 or a negative error.
 */
int dcbport_storm_setup(struct dcbport *port)
{
	port->storm = kcalloc(DCBPORT_PRIOS, sizeof(*port->storm),
			      GFP_KERNEL_ACCOUNT);
	return port->storm ? 0 : -ENOMEM;
}

/**
 * dcbport_storm_free() - undo dcbport_storm_setup(), if it was done
 * @port: the port, which no packet uses any more
 */
void dcbport_storm_free(struct dcbport *port)
{
	kfree(port->storm);
}

/* ns from @then to @now, but not less than 0: another CPU may just have written a @then
 * that is later than @now.
 */
static u64 elapsed(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* ns; how long the class has had packets to send, and was paused */
static u64 class_stuck(const struct dcbport *port, u8 tc,
		       const struct dcbport_pause_count *pause, u64 now)
{
	const struct dcbport_class *class = &port->class[tc];

	return elapsed(now, max3(class->sent, pause->since,
				 (u64)dcbport_cb(class->queue.head)->time));
}

/* Return until when the class is paused. @pause: when the pause began, and when a frame last asked
 * for it. All priorities of the class count.
 */
static u64 class_pause(struct dcbport *port, u8 tc,
		       struct dcbport_pause_count *pause, u64 now)
{
	struct dcbport_pause_count one;
	u64 until, last = 0;
	u8 prios;

	pause->since = now;
	pause->asked = 0;
	for (prios = port->class[tc].obeys; prios; prios &= prios - 1) {
		until = dcbport_pause_read(&port->pause, __ffs(prios), &one,
					   now);
		last = max(last, until);
		pause->asked = max(pause->asked, one.asked);
		if (until > now)
			pause->since = min(pause->since, one.since);
	}
	return last;
}

/* Count what has happened in storms until now, to a class and to the priority of the same number */
static struct dcbport_storm_count storm_count(const struct dcbport *port, u8 n)
{
	const struct dcbport_class *class = &port->class[n];
	const struct dcbport_storm *storm = &port->storm[n];
	struct dcbport_storm_count count = {
		.out = storm->out,
		.dropped = class->count.dropped[DCBPORT_DROP_STORM],
		.in = atomic64_read(&storm->in),
		.in_dropped = atomic64_read(&storm->in_dropped),
	};

	if (class->storm)
		count.out += class->count.out_packets - storm->out_before;
	return count;
}

/**
 * dcbport_storm_read() - return what has happened in storms
 * @port: the port
 * @n: number of a class, and of a priority
 * @last: result: what has happened in the last one
 *
 * Return: what has happened in all of them.
 */
struct dcbport_storm_count dcbport_storm_read(const struct dcbport *port, u8 n,
					      struct dcbport_storm_count *last)
{
	const struct dcbport_storm_count *before = &port->storm[n].before;
	struct dcbport_storm_count all = storm_count(port, n);

	last->out = all.out - before->out;
	last->dropped = all.dropped - before->dropped;
	last->in = all.in - before->in;
	last->in_dropped = all.in_dropped - before->in_dropped;
	return all;
}

static void storm_begin(struct dcbport *port, u8 tc)
{
	struct dcbport_class *class = &port->class[tc];
	struct dcbport_storm *storm = &port->storm[tc];
	struct dcbport_storm_count now = storm_count(port, tc);
	u8 prio, left;

	storm->before.out = now.out;
	storm->before.dropped = now.dropped;
	storm->out_before = class->count.out_packets;
	for (left = class->prios; left; left &= left - 1) {
		prio = __ffs(left);
		now = storm_count(port, prio);
		port->storm[prio].before.in = now.in;
		port->storm[prio].before.in_dropped = now.in_dropped;
	}
	class->storm = true;
	class->count.storms++;
	dcbport_storm_apply(port);
}

/**
 * dcbport_storm_apply() - apply the watchdog's action
 * @port: the port, whose storms or settings have changed
 */
void dcbport_storm_apply(struct dcbport *port)
{
	bool drop = port->settings.action == DCBPORT_ACTION_DROP;
	struct dcbport_class *class;
	u8 tc, storms = 0;

	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		class = &port->class[tc];
		class->enters &= ~DCBPORT_EXTRA_STORM;
		if (!class->storm)
			continue;
		storms |= class->prios & port->settings.pfc;
		if (drop)
			class->enters |= DCBPORT_EXTRA_STORM;
	}
	WRITE_ONCE(port->storms, storms);
	WRITE_ONCE(port->drops, drop ? storms : 0);
	WRITE_ONCE(port->prio.slow, port->prio.pcp_first || storms);
}

/**
 * dcbport_storm_end() - end a class's storm, if there is one
 * @port: the port
 * @tc: the class
 */
void dcbport_storm_end(struct dcbport *port, u8 tc)
{
	struct dcbport_class *class = &port->class[tc];
	struct dcbport_storm *storm = &port->storm[tc];

	if (!class->storm)
		return;
	storm->out += class->count.out_packets - storm->out_before;
	class->storm = false;
	class->count.restores++;
	dcbport_storm_apply(port);
}

/* Look at one class. Return true if the watchdog must look again. */
static bool class_watch(struct dcbport *port, u8 tc, u64 now)
{
	struct dcbport_class *class = &port->class[tc];
	struct dcbport_pause_count pause;
	u64 until;

	until = class_pause(port, tc, &pause, now);
	if (class->storm) {
		if (elapsed(now, pause.asked) <
		    dcbport_settings_restore(&port->settings) * NSEC_PER_MSEC)
			return true;
		dcbport_storm_end(port, tc);
		net_info_ratelimited("%s: PFC storm on class %u is over\n",
				     port->dev->name, tc);
	}
	if (until <= now || !class->queue.qlen)
		return until > now;
	if (class_stuck(port, tc, &pause, now) >=
	    dcbport_settings_detect(&port->settings) * NSEC_PER_MSEC) {
		storm_begin(port, tc);
		net_warn_ratelimited("%s: PFC storm on class %u\n",
				     port->dev->name, tc);
	}
	return true;
}

static u64 port_poll_interval(const struct dcbport *port)
{
	return min(dcbport_settings_detect(&port->settings),
		   dcbport_settings_restore(&port->settings)) * NSEC_PER_MSEC;
}

/**
 * dcbport_storm_watch() - look for PFC storms that begin or end
 * @port: the port
 * @now: ns
 *
 * Looks at all classes, as often as the shorter of detect and restore, while any is paused.
 */
void dcbport_storm_watch(struct dcbport *port, u64 now)
{
	struct sk_buff *to_free = NULL;
	bool again = false;
	u8 tc;

	if (port->settings.action == DCBPORT_ACTION_OFF || !port->settings.pfc) {
		port->poll = 0;
		return;
	}
	if (!port->poll) {
		if (dcbport_pause_last(&port->pause) > now)
			port->poll = now + port_poll_interval(port);
		return;
	}
	if (now < port->poll)
		return;
	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		/* a class that has lost its priorities obeys none, but its storm must end */
		if (!port->class[tc].storm && !(port->settings.pfc & port->class[tc].obeys))
			continue;
		again |= class_watch(port, tc, now);
		if (port->class[tc].enters & DCBPORT_EXTRA_STORM)
			dcbport_class_purge(port, tc, DCBPORT_DROP_STORM, &to_free);
	}
	port->poll = again ? now + port_poll_interval(port) : 0;
	dcbport_free_list(port, to_free);
}
