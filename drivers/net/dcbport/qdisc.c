// SPDX-License-Identifier: GPL-2.0
/*
 * The qdisc that makes a network device a port.
 *
 * A packet gets its priority from its DSCP or VLAN tag, waits in the class of that
 * priority, goes onto the wire when the wire is free, and leaves at the far end. The qdisc
 * is the wire: a pause holds packets that wait, while those on the wire still arrive, as
 * with hardware.
 *
 * Everything is done under the qdisc's lock. Below it are two leaves: the lock of the
 * accounts of the port where a packet came in, and that of the pauses. No port takes the
 * lock of another one's qdisc.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "apply.h"
#include "class.h"
#include "dcbnl.h"
#include "device.h"
#include "hook.h"
#include "link.h"
#include "mark.h"
#include "origin.h"
#include "port.h"
#include "storm.h"
#include "tell.h"

/* ns; how long a port that the core has halted waits before it checks whether it runs again */
#define HALT_WAITS	(100 * NSEC_PER_USEC)

static void port_look_later(struct dcbport *port)
{
	hrtimer_start(&port->timer, ns_to_ktime(ktime_get_ns() + HALT_WAITS),
		      HRTIMER_MODE_ABS_PINNED);
}

static bool port_runs(const struct dcbport *port)
{
	return rcu_access_pointer(port->sch->dev_queue->qdisc) == port->sch &&
	       !test_bit(__QDISC_STATE_DEACTIVATED, &port->sch->state);
}

/**
 * dcbport_wake() - make a port look for something to do
 * @port: the port
 *
 * To change a device's clsact or the length of its queue, the core halts the qdisc briefly, and
 * does not notify it when it runs again. So a halted port checks again later.
 *
 * Context: softirqs or interrupts are disabled; takes no locks but the timer's. Before the core
 * frees an active qdisc, it waits until code in such a context has finished.
 */
void dcbport_wake(struct dcbport *port)
{
	bool runs;

	/* From 6.19 on, __netif_schedule() does nothing while packets wait to be queued, because
	 * the CPU that takes them runs the qdisc. It must see the change that this call is for. If
	 * a halt makes it drop them, the next packet or timer finds the change.
	 */
	smp_mb();
	runs = port_runs(port);
	if (runs)
		__netif_schedule(port->sch);
	/* if it has been halted meanwhile, nothing was scheduled */
	if (!runs || !port_runs(port))
		port_look_later(port);
}

static bool port_is_linked(const struct dcbport *port)
{
	return netif_running(port->dev) && netif_carrier_ok(port->dev);
}

/* A device that is down, or has no link, need not be looked at again: device_event() sees it come
 * back.
 */
static enum hrtimer_restart port_timer(struct hrtimer *timer)
{
	struct dcbport *port = container_of(timer, struct dcbport, timer);

	rcu_read_lock();
	if (port_runs(port) || port_is_linked(port))
		dcbport_wake(port);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* --- enqueue -------------------------------------------------------------- */

/* @in: ingress to charge, or NULL */
static __always_inline int enqueue_one(struct dcbport *port, struct Qdisc *sch,
				       struct dcbport_ingress *in, u8 prio,
				       struct sk_buff *skb,
				       struct sk_buff **to_free)
{
	struct dcbport_class *class = port->of[prio];
	struct dcbport_cb *cb = dcbport_cb(skb);
	u32 len = qdisc_pkt_len(skb), cost = dcbport_packet_cost(skb);
	enum dcbport_drop why;

	class->count.in_packets++;
	class->count.in_bytes += len;
	if ((u64)class->held + cost > class->limit)
		return dcbport_class_drop(port, class, DCBPORT_DROP_LIMIT, skb, to_free);
	if (unlikely(class->enters)) {
		why = dcbport_class_refuses(port, class, in, prio, skb);
		if (why != DCBPORT_DROPS)
			return dcbport_class_drop(port, class, why, skb, to_free);
	}
	cb->holding = NULL;
	if (in && !dcbport_buffer_charge(in, prio, cost, &cb->holding))
		return dcbport_class_drop(port, class, DCBPORT_DROP_BUFFER, skb, to_free);
	cb->time = port->came;
	cb->tc = class - port->class;
	cb->control = false;
	if (!dcbport_curve_is_quiet(&class->curve, class->bytes))
		dcbport_mark(port, class, skb);
	__qdisc_enqueue_tail(skb, &class->queue);
	port->backlog |= class->bit;
	class->bytes += len;
	class->held += cost;
	if (class->count.most < class->bytes)
		class->count.most = class->bytes;
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
}

/* Segment a large packet, as the sender's network card would */
static noinline int enqueue_segments(struct dcbport *port,
				     struct dcbport_ingress *in, u8 prio,
				     struct sk_buff *skb, struct sk_buff **to_free)
{
	struct dcbport_class *class = port->of[prio];
	netdev_features_t features = netif_skb_features(skb);
	struct sk_buff *segs, *next;
	int queued = 0;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		class->count.in_packets++;
		class->count.in_bytes += qdisc_pkt_len(skb);
		return dcbport_class_drop(port, class, DCBPORT_DROP_MEMORY, skb,
				 to_free);
	}
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = segs->len;
		if (enqueue_one(port, port->sch, in, prio, segs, to_free) ==
		    NET_XMIT_SUCCESS)
			queued++;
	}
	consume_skb(skb);
	return queued ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

static int port_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct dcbport *port = qdisc_priv(sch);
	struct dcbport_ingress *in;
	u8 prio;

	in = dcbport_origin_find(port, skb, &prio);
	port->came = ktime_get_ns();
	if (skb_is_gso(skb))
		return enqueue_segments(port, in, prio, skb, to_free);
	return enqueue_one(port, sch, in, prio, skb, to_free);
}

/* --- dequeue -------------------------------------------------------------- */

static noinline u8 port_ready(const struct dcbport *port, u64 now)
{
	u8 tc, left, ready = 0;

	for (left = port->backlog; left; left &= left - 1) {
		tc = __ffs(left);
		if (dcbport_class_until(port, tc) <= now)
			ready |= 1 << tc;
	}
	return ready;
}

static noinline int port_choose(struct dcbport *port, u8 ready)
{
	u32 len[DCBPORT_PRIOS];	/* of the first packet of each ready class */
	u8 tc, left;

	for (left = ready; left; left &= left - 1) {
		tc = __ffs(left);
		len[tc] = qdisc_pkt_len(port->class[tc].queue.head);
	}
	return dcbport_drr_pick(&port->drr, ready, len);
}

/* The class that sends next, or -1 */
static int port_pick(struct dcbport *port, u64 now)
{
	u8 tc, ready = port->backlog;

	if (dcbport_holds(port, now))
		ready = port_ready(port, now);
	if (!ready)
		return -1;
	if (ready & (ready - 1))
		return port_choose(port, ready);
	tc = __ffs(ready);
	dcbport_drr_alone(&port->drr, tc,
			  qdisc_pkt_len(port->class[tc].queue.head));
	return tc;
}

/* The frame that goes onto the wire next, with the time when it arrives, or NULL */
static struct sk_buff *port_next(struct dcbport *port, u64 now)
{
	u8 want = dcbport_wants(port);
	struct dcbport_class *class;
	struct sk_buff *skb;
	u64 begin;
	u32 len;
	int tc;

	if (want | port->told) {
		skb = dcbport_tell(port, want, now);
		if (skb) {
			dcbport_link_send(port, skb, max(now, port->wire.free));
			return skb;
		}
	}
	tc = port_pick(port, now);
	if (tc < 0)
		return NULL;
	class = &port->class[tc];
	skb = dcbport_class_take(port, class, port->sch, true);
	len = qdisc_pkt_len(skb);
	class->sent = now;
	dcbport_drr_sent(&port->drr, tc, len, !class->queue.qlen);
	begin = dcbport_link_begin(port, dcbport_cb(skb), now);
	if (class->pace.rate)
		dcbport_link_pace(port, class, skb, begin);
	dcbport_link_send(port, skb, begin);
	return skb;
}

/* Send what the wire takes. Return a frame that has arrived by now, or for which a timer would
 * be late, or NULL.
 */
static struct sk_buff *port_frame(struct dcbport *port, u64 now)
{
	u64 soon = dcbport_link_soon(port, now);
	struct sk_buff *skb;

	for (;;) {
		if (port->flight.qlen &&
		    dcbport_cb(port->flight.head)->time <= soon)
			return dcbport_flight_leave(port);
		if (dcbport_link_takes(port) > soon)
			return NULL;
		skb = port_next(port, now);
		if (!skb)
			return NULL;
		if (!port->flight.qlen && dcbport_cb(skb)->time <= soon)
			return skb;
		dcbport_flight_enter(port, skb);
	}
}

/* When there is something to do next, after port_frame() has found nothing */
static noinline u64 port_wakeup(const struct dcbport *port, u64 now)
{
	u64 at = U64_MAX, takes = dcbport_link_takes(port);
	u8 left;

	if (port->flight.qlen)
		at = dcbport_cb(port->flight.head)->time;
	if (port->poll)
		at = min(at, port->poll);
	if (dcbport_wants(port) != port->told &&
	    takes > dcbport_link_soon(port, now))
		at = min(at, takes);
	else if (dcbport_wants(port) | port->told)
		at = min(at, max(port->tell_again, takes));
	for (left = port->backlog; left; left &= left - 1)
		at = min(at, max(takes, dcbport_class_until(port, __ffs(left))));
	return at;
}

static void port_sleep(struct dcbport *port, u64 now)
{
	u64 at = port_wakeup(port, now);

	port->armed = 0;
	if (at == U64_MAX)
		return;
	port->armed = at;
	if (!hrtimer_is_queued(&port->timer) ||
	    ktime_to_ns(hrtimer_get_expires(&port->timer)) != (s64)at)
		hrtimer_start(&port->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_PINNED);
}

static void count_out(struct Qdisc *sch, struct dcbport_class *class, u32 len)
{
	class->count.out_packets++;
	class->count.out_bytes += len;
	_bstats_update(&sch->bstats, len, 1);
}

static noinline struct sk_buff *dequeue_any(struct dcbport *port, struct Qdisc *sch,
					    u64 now)
{
	struct sk_buff *skb;

	if (!now)
		now = ktime_get_ns();
	dcbport_link_woken(port, now);
	if (port->poll || dcbport_pause_last(&port->pause) > now)
		dcbport_storm_watch(port, now);
	skb = port_frame(port, now);
	if (!skb)
		port_sleep(port, now);
	else if (dcbport_cb(skb)->control)
		_bstats_update(&sch->bstats, qdisc_pkt_len(skb), 1);
	else
		count_out(sch, &port->class[dcbport_cb(skb)->tc], qdisc_pkt_len(skb));
	return skb;
}

/* Whether only one class has packets, and the next may be sent and arrives at once */
static bool port_passes(const struct dcbport *port, u64 now)
{
	return port->plain && now && !(port->backlog & (port->backlog - 1)) &&
	       dcbport_pause_last(&port->pause) <= now && port->wire.free <= now;
}

/* Do what dequeue_any() does where port_passes() is true: the usual case */
static noinline struct sk_buff *dequeue_plain(struct dcbport *port,
					      struct Qdisc *sch, u64 now)
{
	u8 tc = __ffs(port->backlog);
	struct dcbport_class *class = &port->class[tc];
	u32 len = qdisc_pkt_len(class->queue.head);
	bool empty = class->queue.qlen == 1;

	dcbport_drr_send(&port->drr, tc, len, empty);
	class->sent = now;
	count_out(sch, class, len);
	return dcbport_class_take(port, class, sch, true);
}

static struct sk_buff *port_dequeue(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	u64 more, now = port->came;

	/* The core has just cleared its flag that the qdisc is scheduled. A dcbport_wake() that
	 * still found the flag set did not schedule it: see the change that it was called for.
	 */
	smp_mb__after_atomic();
	more = port->flight.qlen | port->poll | dcbport_wants(port) | port->told;
	/* if a packet has just come, enqueue has read the clock */
	port->came = 0;
	if (!(more | port->backlog)) {
		port->armed = 0;
		return NULL;
	}
	if (!more && port_passes(port, now))
		return dequeue_plain(port, sch, now);
	return dequeue_any(port, sch, now);
}

/* --- the qdisc ------------------------------------------------------------ */

static int port_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct dcbport *port = qdisc_priv(sch);
	const struct dcbport_settings *s = &dcbport_defaults;
	struct dcbport *old;
	const char *problem;
	int err;

	port->sch = sch;
	port->dev = qdisc_dev(sch);
	hrtimer_setup(&port->timer, port_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	dcbport_pause_setup(&port->pause);
	/* inherit the settings of the port that this one replaces; its switch follows later */
	old = dcbport_of(port->dev);
	if (old)
		s = &old->settings;
	err = dcbport_storm_setup(port);
	if (err)
		return err;
	err = dcbport_prepare(port, s);
	if (err)
		return err;
	dcbport_apply(port, s);
	problem = dcbport_device_refuse(port->dev, false);
	if (problem) {
		if (extack)
			extack->_msg = problem;
		return -EOPNOTSUPP;
	}
	if (sch->parent != TC_H_ROOT) {
		NL_SET_ERR_MSG(extack, "dcbport must be the root qdisc");
		return -EOPNOTSUPP;
	}
	if (opt) {
		NL_SET_ERR_MSG(extack,
			       "dcbport has no options in tc: use dcqcn port set");
		return -EINVAL;
	}
	err = dcbport_hook_begin(port);
	if (err) {
		NL_SET_ERR_MSG(extack, "the netfilter ingress hook cannot be registered");
		return err;
	}
	err = dcbport_origin_begin(port, extack);
	if (err)
		return err;
	return dcbport_dcbnl_begin(port);
}

/* Also called when a device goes down. @told stays: when the port runs again, it tells the other
 * end again what to pause, because the other end may have forgotten. Storms and received pauses end
 * with the link: the next device at the other end may be a different one, or have been reset. The
 * core also resets a qdisc when it halts a device briefly, or removes queues from it. The link then
 * stays up, and so do storms and pauses.
 */
static void port_reset(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	struct sk_buff *skb, *to_free = NULL;
	bool linked = port_is_linked(port);
	struct dcbport_class *class;
	u8 tc;

	/* the core drops what the driver has refused, which may be a frame that ends a pause */
	if (!skb_queue_empty(&sch->gso_skb) || !skb_queue_empty(&sch->skb_bad_txq))
		port->told |= port->settings.pfc;
	hrtimer_cancel(&port->timer);
	/* the core does not always hold the lock here */
	local_bh_disable();
	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		dcbport_class_purge(port, tc, DCBPORT_DROP_RESET, &to_free);
		port->class[tc].pace.free = 0;
		if (!linked)
			dcbport_storm_end(port, tc);
	}
	local_bh_enable();
	while (port->flight.qlen) {
		skb = dcbport_flight_leave(port);
		class = &port->class[dcbport_cb(skb)->tc];
		if (dcbport_cb(skb)->control) {
			dcbport_tell_lost(port, skb);
			kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		} else {
			dcbport_class_drop(port, class, DCBPORT_DROP_RESET, skb, &to_free);
		}
	}
	dcbport_free_list(port, to_free);
	if (!linked) {
		dcbport_pause_forget(&port->pause, ktime_get_ns());
		port->poll = 0;
	}
	port->wire.free = 0;
	port->came = 0;
	port->tell_again = 0;
	port->armed = 0;
	port_look_later(port);
}

/* Give the received pauses, and the place in the switch, to the port that replaces this one */
static void port_bequeath(struct dcbport *port)
{
	struct dcbport *heir = dcbport_of(port->dev);

	if (!heir || heir == port)
		return;
	dcbport_pause_inherit(&heir->pause, &port->pause, ktime_get_ns());
	if (heir->buffer || !port->buffer)
		return;
	/* tc may destroy the old port late, and the new one may have been set meanwhile */
	if (dcbport_settings_check(&heir->settings, true) ||
	    !dcbport_buffer_has_room(port->buffer, dcbport_settings_room(&heir->settings) -
						   dcbport_settings_room(&port->settings)))
		return;
	dcbport_buffer_inherit(heir, port);
	/* the heir repeats the pauses, once the device is active again */
	port_look_later(heir);
}

static void port_destroy(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	u8 tc;

	dcbport_dcbnl_end(port);
	dcbport_origin_end(port);
	dcbport_hook_end(port);
	port_bequeath(port);
	dcbport_take_back(port);
	if (port->buffer)
		dcbport_buffer_leave(port);
	/* it has left its hook and its switch, so nothing starts the timer again */
	hrtimer_cancel(&port->timer);
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		kvfree(port->class[tc].flows);
	kfree(port->hops);
	dcbport_storm_free(port);
}

/* In RED's format, for programs that read it from tc */
static int port_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct dcbport *port = qdisc_priv(sch);
	struct tc_red_xstats st = {};
	u8 prio, why;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		st.marked += port->class[prio].count.marked;
		for (why = 0; why < DCBPORT_DROPS; why++)
			st.pdrop += port->class[prio].count.dropped[why];
	}
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops port_qdisc_ops __read_mostly = {
	.id = "dcbport",
	.priv_size = sizeof(struct dcbport),
	.enqueue = port_enqueue,
	.dequeue = port_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = port_init,
	.reset = port_reset,
	.destroy = port_destroy,
	.dump_stats = port_dump_stats,
	.owner = THIS_MODULE,
};

/**
 * dcbport_of() - find the port of a device
 * @dev: the device
 *
 * Context: rtnl is held. Return: the port, or NULL if the device is not a port.
 */
struct dcbport *dcbport_of(const struct net_device *dev)
{
	struct Qdisc *sch = rtnl_dereference(dev->qdisc);

	return sch && sch->ops == &port_qdisc_ops ? qdisc_priv(sch) : NULL;
}

/**
 * dcbport_of_rcu() - find the port of a device
 * @dev: the device
 *
 * Context: under RCU. Return: the port, or NULL if the device is not a port.
 */
struct dcbport *dcbport_of_rcu(const struct net_device *dev)
{
	struct Qdisc *sch = rcu_dereference_bh(dev->qdisc);

	return sch && sch->ops == &port_qdisc_ops ? qdisc_priv(sch) : NULL;
}

/* While a device is down, its port cannot be woken. When it comes up, it may have to announce
 * pauses, or to end some.
 */
static int device_event(struct notifier_block *unused, unsigned long event,
			void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct dcbport *port = dcbport_of(dev);

	if (event == NETDEV_UNREGISTER)
		dcbport_dcbnl_forget(dev->ifindex);
	if (port && (event == NETDEV_UP || event == NETDEV_CHANGE)) {
		local_bh_disable();
		dcbport_wake(port);
		local_bh_enable();
	}
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = {
	.notifier_call = device_event,
};

/**
 * dcbport_qdisc_init() - register the qdisc
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcbport_qdisc_init(void)
{
	int err;

	err = register_netdevice_notifier(&device_notifier);
	if (err)
		return err;
	err = register_qdisc(&port_qdisc_ops);
	if (err)
		unregister_netdevice_notifier(&device_notifier);
	return err;
}

/**
 * dcbport_qdisc_exit() - undo dcbport_qdisc_init()
 *
 * Context: process; may sleep. No port is left.
 */
void dcbport_qdisc_exit(void)
{
	unregister_qdisc(&port_qdisc_ops);
	unregister_netdevice_notifier(&device_notifier);
}
