// SPDX-License-Identifier: GPL-2.0
/*
 * The qdisc that makes a network device a port.
 *
 * A packet gets its priority from its DSCP or VLAN tag, waits in the class of that
 * priority, goes onto the wire when the wire is free, and leaves at the far end. The qdisc
 * is the wire: a pause holds packets that wait, while those on the wire still arrive, as
 * with hardware. PFC frames are made here as well, from the current state, when the port
 * sends next; code that changes that state only wakes the port.
 *
 * Everything is done under the qdisc's lock. Below it are two leaves: the lock of the
 * switch's buffer, and that of the pauses. No port takes another one's lock.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/dsfield.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "flow_key.h"
#include "hook.h"
#include "pfc.h"
#include "port.h"

/* Bytes that a network card takes in one go. A class with a maxrate makes up for as much of
 * what others have sent before it: seven frames of 9 KB.
 */
#define BURST		65536
/* A late timer, as in a busy guest, costs no bandwidth: what should have been sent
 * meanwhile is sent at once, for up to this many ns or, if that is more, a burst.
 */
#define LATE		NSEC_PER_MSEC
/* Most packets on a link: with 1 KB each, what 100 Gb/s send in 80 ms. Further packets
 * wait in their classes, which have limits.
 */
#define FLIGHT_MAX	1048576
/* ns; from one try to allocate a PFC frame to the next */
#define RETRY		(10 * NSEC_PER_USEC)

/**
 * struct port_cb - a port's private data of a packet
 * @time: ns; when it came or, once it is on the wire, when it arrives
 * @holding: what it is charged to, or NULL
 * @tc: its class
 * @control: it is a PFC frame that we made, and in no class
 * @flow: its place among the flows of its class, or DCBPORT_NO_FLOW
 */
struct port_cb {
	u64 time;
	struct dcbport_holding *holding;
	u8 tc;
	bool control;
	u16 flow;
} __packed __aligned(4);

static struct port_cb *port_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct port_cb));
	return (struct port_cb *)qdisc_skb_cb(skb)->data;
}

/**
 * dcbport_wake() - make a port look for something to do
 * @port: the port
 *
 * Context: softirqs are disabled; takes no locks. Before an active qdisc is freed,
 * the core waits for code that runs with softirqs disabled.
 */
void dcbport_wake(struct dcbport *port)
{
	if (rcu_access_pointer(port->sch->dev_queue->qdisc) == port->sch)
		__netif_schedule(port->sch);
}

/* --- enqueue -------------------------------------------------------------- */

/* Move the network header behind all VLAN tags. Return where it was, because the flow
 * dissector expects it there: a bridge has only the outer tag beside the frame.
 */
static int skip_tags(struct sk_buff *skb)
{
	int before = skb_network_offset(skb), depth;

	if (eth_type_vlan(skb->protocol) &&
	    __vlan_get_protocol(skb, skb->protocol, &depth))
		skb_set_network_header(skb, depth);
	return before;
}

static u8 packet_dscp(const struct dcbport_prio_map *map, struct sk_buff *skb)
{
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (pskb_network_may_pull(skb, sizeof(struct iphdr)))
			return map->dscp[ipv4_get_dsfield(ip_hdr(skb)) >> 2];
		break;
	case htons(ETH_P_IPV6):
		if (pskb_network_may_pull(skb, sizeof(struct ipv6hdr)))
			return map->dscp[ipv6_get_dsfield(ipv6_hdr(skb)) >> 2];
		break;
	}
	return DCBPORT_NO_PRIO;
}

/* The VLAN tag is in the frame if the device does not insert it */
static u8 packet_pcp(const struct dcbport_prio_map *map, struct sk_buff *skb)
{
	u16 tci;

	if (skb_vlan_tag_present(skb))
		tci = skb_vlan_tag_get(skb);
	else if (!eth_type_vlan(skb->protocol) ||
		 !pskb_may_pull(skb, VLAN_ETH_HLEN) ||
		 __vlan_get_tag(skb, &tci))
		return DCBPORT_NO_PRIO;
	return map->pcp[tci >> VLAN_PRIO_SHIFT |
			(tci & VLAN_CFI_MASK ? DCBPORT_PRIOS : 0)];
}

static noinline u8 any_packet_prio(const struct dcbport_prio_map *map,
				   struct sk_buff *skb)
{
	int network = skip_tags(skb);
	u8 prio = map->pcp_first ? packet_pcp(map, skb) : packet_dscp(map, skb);

	if (prio == DCBPORT_NO_PRIO)
		prio = map->pcp_first ? packet_dscp(map, skb) :
					packet_pcp(map, skb);
	skb_set_network_header(skb, network);
	return prio == DCBPORT_NO_PRIO ? map->other : prio;
}

/* The usual case without a call: IPv4, and the header can be read in place */
static u8 packet_prio(const struct dcbport_prio_map *map, struct sk_buff *skb)
{
	u8 prio = DCBPORT_NO_PRIO;

	if (skb->protocol == htons(ETH_P_IP) && !map->pcp_first &&
	    skb_network_offset(skb) + sizeof(struct iphdr) <= skb_headlen(skb))
		prio = map->dscp[ipv4_get_dsfield(ip_hdr(skb)) >> 2];
	return prio == DCBPORT_NO_PRIO ? any_packet_prio(map, skb) : prio;
}

static bool class_drops(const struct dcbport *port,
			const struct dcbport_class *class)
{
	return class->storm && port->settings.action == DCBPORT_ACTION_DROP;
}

/* The kernel's reasons are fewer than ours, and older kernels have only one */
static u32 drop_reason(enum dcbport_drop why)
{
	switch (why) {
	case DCBPORT_DROP_LIMIT:
	case DCBPORT_DROP_BUFFER:
		return QDISC_DROP_OVERLIMIT;
	case DCBPORT_DROP_STORM:
		return QDISC_DROP_CONGESTED;
	default:
		return QDISC_DROP_GENERIC;
	}
}

static int port_drop(struct dcbport *port, struct dcbport_class *class,
		     enum dcbport_drop why, struct sk_buff *skb,
		     struct sk_buff **to_free)
{
	class->count.dropped[why]++;
	return qdisc_drop_reason(skb, port->sch, to_free, drop_reason(why));
}

/* Free what port_drop() has dropped, if the caller is not enqueue: there the core does it */
static void port_free(const struct dcbport *port, struct sk_buff *dropped)
{
	tcf_kfree_skb_list(dropped, port->sch, port->sch->dev_queue, port->dev);
}

/* Return the packet's place among the flows, or DCBPORT_NO_FLOW */
static noinline u16 flow_enter(struct dcbport_class *class,
			       const struct sk_buff *skb)
{
	u16 flow = dcbport_flows_add(class->flows, dcbport_flow_key(skb));

	if (flow != DCBPORT_NO_FLOW)
		class->counted++;
	return flow;
}

static noinline void flow_leave(struct dcbport_class *class, u16 flow)
{
	class->counted--;
	dcbport_flows_remove(class->flows, flow);
}

static bool packet_mark(struct sk_buff *skb)
{
	int network = skip_tags(skb);
	bool marked = INET_ECN_set_ce(skb);

	skb_set_network_header(skb, network);
	return marked;
}

/* Mark a packet that enters the queue, with the curve's probability. Its flow is counted
 * already.
 */
static noinline void class_mark(struct dcbport *port,
				struct dcbport_class *class, struct sk_buff *skb)
{
	u8 tc = class - port->class;
	u32 chance = dcbport_curve_chance(&class->curve, class->bytes);

	if (chance && class->counts_flows)
		chance = dcbport_flows_chance(&port->settings.flows[tc], chance,
					      class->flows->count,
					      class->counted > class->queue.qlen);
	if (chance && dcbport_curve_marks(chance, get_random_u32()) &&
	    packet_mark(skb)) {
		class->count.marked++;
		qdisc_qstats_overlimit(port->sch);
	}
}

static __always_inline int enqueue_one(struct dcbport *port, struct Qdisc *sch,
				       u8 prio, struct sk_buff *skb,
				       struct sk_buff **to_free)
{
	struct dcbport_class *class = port->of[prio];
	struct port_cb *cb = port_cb(skb);
	u32 len = qdisc_pkt_len(skb);

	class->count.in_packets++;
	class->count.in_bytes += len;
	if (class_drops(port, class))
		return port_drop(port, class, DCBPORT_DROP_STORM, skb, to_free);
	if ((u64)class->bytes + len > class->limit)
		return port_drop(port, class, DCBPORT_DROP_LIMIT, skb, to_free);
	cb->holding = NULL;
	if (port->buffer &&
	    !dcbport_buffer_charge(port->buffer, skb->skb_iif, prio, len,
				   &cb->holding))
		return port_drop(port, class, DCBPORT_DROP_BUFFER, skb, to_free);
	cb->time = port->came;
	cb->tc = class - port->class;
	cb->control = false;
	cb->flow = class->counts_flows ? flow_enter(class, skb) : DCBPORT_NO_FLOW;
	if (!dcbport_curve_is_quiet(&class->curve, class->bytes))
		class_mark(port, class, skb);
	__qdisc_enqueue_tail(skb, &class->queue);
	port->backlog |= class->bit;
	class->bytes += len;
	if (class->count.most < class->bytes)
		class->count.most = class->bytes;
	sch->q.qlen++;
	sch->qstats.backlog += len;
	return NET_XMIT_SUCCESS;
}

/* Segment a large packet, as the sender's network card would */
static noinline int enqueue_segments(struct dcbport *port, u8 prio,
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
		return port_drop(port, class, DCBPORT_DROP_MEMORY, skb,
				 to_free);
	}
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = segs->len;
		if (enqueue_one(port, port->sch, prio, segs, to_free) == NET_XMIT_SUCCESS)
			queued++;
	}
	consume_skb(skb);
	return queued ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

static int port_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct dcbport *port = qdisc_priv(sch);
	u8 prio = packet_prio(&port->prio, skb);

	port->came = ktime_get_ns();
	if (skb_is_gso(skb))
		return enqueue_segments(port, prio, skb, to_free);
	return enqueue_one(port, sch, prio, skb, to_free);
}

/* --- the classes ---------------------------------------------------------- */

/* Take the first packet of a class that has one */
static __always_inline struct sk_buff *
class_take(struct dcbport *port, struct dcbport_class *class, struct Qdisc *sch)
{
	struct sk_buff *skb = class->queue.head;
	struct port_cb *cb = port_cb(skb);
	u32 len = qdisc_pkt_len(skb);

	class->queue.head = skb->next;
	skb->next = NULL;
	class->bytes -= len;
	if (!--class->queue.qlen) {
		class->queue.tail = NULL;
		port->backlog &= ~class->bit;
	}
	if (cb->flow != DCBPORT_NO_FLOW)
		flow_leave(class, cb->flow);
	sch->q.qlen--;
	sch->qstats.backlog -= len;
	if (cb->holding)
		dcbport_buffer_release(cb->holding, len);
	return skb;
}

static void class_purge(struct dcbport *port, u8 tc, enum dcbport_drop why,
			struct sk_buff **to_free)
{
	struct dcbport_class *class = &port->class[tc];

	while (class->queue.qlen)
		port_drop(port, class, why, class_take(port, class, port->sch),
			  to_free);
	port->drr.deficit[tc] = 0;
}

/* When the class may send; in the past if it may now. It waits if any of its priorities
 * is paused, because all its packets are in one queue.
 */
static u64 class_until(const struct dcbport *port, u8 tc)
{
	const struct dcbport_class *class = &port->class[tc];
	u64 until = class->pace.free;
	u8 prios;

	if (class->storm && port->settings.action == DCBPORT_ACTION_FORWARD)
		return until;
	for (prios = class->prios; prios; prios &= prios - 1)
		until = max(until, dcbport_pause_until(&port->pause,
						       __ffs(prios)));
	return until;
}

/* --- the watchdog --------------------------------------------------------- */

/* ns from @then to @now, but not less than 0: another CPU may just have written a @then
 * that is later than @now.
 */
static u64 elapsed(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

/* ns; for how long the class has had packets to send, but not been allowed to */
static u64 class_stuck(const struct dcbport *port, u8 tc,
		       const struct dcbport_pause_count *pause, u64 now)
{
	const struct dcbport_class *class = &port->class[tc];

	return elapsed(now, max3(class->sent, pause->since,
				 (u64)port_cb(class->queue.head)->time));
}

/* Return until when the class is paused. @pause: since when, and when that was last asked
 * for. All its priorities count.
 */
static u64 class_pause(struct dcbport *port, u8 tc,
		       struct dcbport_pause_count *pause, u64 now)
{
	struct dcbport_pause_count one;
	u64 until, last = 0;
	u8 prios;

	pause->since = now;
	pause->asked = 0;
	for (prios = port->class[tc].prios; prios; prios &= prios - 1) {
		until = dcbport_pause_read(&port->pause, __ffs(prios), &one,
					   now);
		last = max(last, until);
		pause->asked = max(pause->asked, one.asked);
		if (until > now)
			pause->since = min(pause->since, one.since);
	}
	return last;
}

static void storm_end(struct dcbport_class *class)
{
	class->count.restores += class->storm;
	class->storm = false;
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
		storm_end(class);
		net_info_ratelimited("%s: class %u is no longer paused without end\n",
				     port->dev->name, tc);
	}
	if (until <= now || !class->queue.qlen)
		return until > now;
	if (class_stuck(port, tc, &pause, now) >=
	    dcbport_settings_detect(&port->settings) * NSEC_PER_MSEC) {
		class->storm = true;
		class->count.storms++;
		net_warn_ratelimited("%s: class %u is paused without end\n",
				     port->dev->name, tc);
	}
	return true;
}

static u64 port_poll_interval(const struct dcbport *port)
{
	return min(dcbport_settings_detect(&port->settings),
		   dcbport_settings_restore(&port->settings)) * NSEC_PER_MSEC;
}

/* Look at all classes, as often as the shorter of detect and restore, while any is paused */
static noinline void port_watch(struct dcbport *port, u64 now)
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
		if (!(port->settings.pfc & port->class[tc].prios))
			continue;
		again |= class_watch(port, tc, now);
		if (class_drops(port, &port->class[tc]))
			class_purge(port, tc, DCBPORT_DROP_STORM, &to_free);
	}
	port->poll = again ? now + port_poll_interval(port) : 0;
	port_free(port, to_free);
}

/* --- PFC frames ----------------------------------------------------------- */

static u8 port_wants(const struct dcbport *port)
{
	if (!port->ingress)
		return 0;
	return READ_ONCE(port->ingress->paused) & port->settings.pfc;
}

static struct sk_buff *pfc_frame(struct dcbport *port,
				 const struct dcbport_pfc *pfc)
{
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(port->dev) +
					DCBPORT_PFC_LEN, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(port->dev));
	dcbport_pfc_build(skb_put(skb, DCBPORT_PFC_LEN), port->dev->dev_addr,
			  pfc);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->dev = port->dev;
	skb->protocol = htons(DCBPORT_PFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	qdisc_skb_cb(skb)->pkt_len = DCBPORT_PFC_LEN;
	port_cb(skb)->holding = NULL;
	port_cb(skb)->control = true;
	return skb;
}

/* ns; half as long as the pauses that this port asks for */
static u64 refresh_interval(const struct dcbport *port)
{
	return dcbport_pfc_nsec(DCBPORT_PFC_MAX, dcbport_rate(&port->settings)) / 2;
}

static void count_frame(struct dcbport *port, const struct dcbport_pfc *pfc)
{
	u8 prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (!(pfc->enable & 1 << prio))
			continue;
		if (pfc->quanta[prio])
			port->class[prio].count.pauses++;
		else
			port->class[prio].count.resumes++;
	}
}

/* A frame that tells the other end what to pause, or NULL if it knows. @want: see
 * port_wants().
 */
static noinline struct sk_buff *port_tell(struct dcbport *port, u8 want, u64 now)
{
	struct dcbport_pfc pfc;
	struct sk_buff *skb;
	u8 prio;

	if (want == port->told && now < port->tell_again)
		return NULL;
	pfc.enable = want | port->told;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		pfc.quanta[prio] = want & 1 << prio ? DCBPORT_PFC_MAX : 0;
	skb = pfc_frame(port, &pfc);
	if (!skb) {
		port->frame_errors++;
		port->tell_again = now + RETRY;
		return NULL;
	}
	count_frame(port, &pfc);
	port->told = want;
	port->tell_again = now + refresh_interval(port);
	return skb;
}

/* The port is being removed: end the pauses that it asked for, rather than let them expire */
static void port_take_back(struct dcbport *port)
{
	const struct dcbport_pfc pfc = { .enable = port->told };
	struct sk_buff *skb;

	if (!port->told)
		return;
	skb = pfc_frame(port, &pfc);
	if (!skb)
		return;
	local_bh_disable();
	dev_direct_xmit(skb, 0);
	local_bh_enable();
}

/* --- dequeue -------------------------------------------------------------- */

/* Whether class_until() is later than @now for any class */
static bool port_holds(const struct dcbport *port, u64 now)
{
	return port->paced || dcbport_pause_last(&port->pause) > now;
}

static noinline u8 port_ready(const struct dcbport *port, u64 now)
{
	u8 tc, left, ready = 0;

	for (left = port->backlog; left; left &= left - 1) {
		tc = __ffs(left);
		if (class_until(port, tc) <= now)
			ready |= 1 << tc;
	}
	return ready;
}

static noinline int port_choose(struct dcbport *port, u8 ready)
{
	u32 len[DCBPORT_PRIOS];	/* of those that are ready */
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

	if (port_holds(port, now))
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

/* When the packet would have gone onto the wire if no timer had been late: after it came,
 * and while its class was not paused
 */
static u64 packet_begin(const struct dcbport *port, const struct port_cb *cb,
			u64 now)
{
	u64 begin = now > port->late ? now - port->late : 0;

	begin = max3(begin, (u64)cb->time, port->wire.free);
	if (port_holds(port, begin))
		begin = max(begin, class_until(port, cb->tc));
	return begin;
}

/* Charge a packet to its class's maxrate, from when it might have begun on a free link: others
 * that share the link do not slow the class down.
 */
static noinline void class_pace(struct dcbport *port, struct dcbport_class *class,
				const struct sk_buff *skb, u64 begin)
{
	const struct port_cb *cb = port_cb(skb);
	u64 from = begin > port->burst ? begin - port->burst : 0;

	from = max3(from, (u64)cb->time, class_until(port, cb->tc));
	dcbport_wire_send(&class->pace, from, qdisc_pkt_len(skb));
}

static void port_onto_wire(struct dcbport *port, struct sk_buff *skb, u64 begin)
{
	port_cb(skb)->time = dcbport_wire_send(&port->wire, begin,
					       qdisc_pkt_len(skb)) +
			     port->settings.delay;
}

/* The frame that goes onto the wire next, with the time when it arrives, or NULL */
static struct sk_buff *port_next(struct dcbport *port, u64 now)
{
	u8 want = port_wants(port);
	struct dcbport_class *class;
	struct sk_buff *skb;
	u64 begin;
	u32 len;
	int tc;

	if (want | port->told) {
		skb = port_tell(port, want, now);
		if (skb) {
			port_onto_wire(port, skb, max(now, port->wire.free));
			return skb;
		}
	}
	tc = port_pick(port, now);
	if (tc < 0)
		return NULL;
	class = &port->class[tc];
	skb = class_take(port, class, port->sch);
	len = qdisc_pkt_len(skb);
	class->sent = now;
	dcbport_drr_sent(&port->drr, tc, len, !class->queue.qlen);
	begin = packet_begin(port, port_cb(skb), now);
	if (class->pace.rate)
		class_pace(port, class, skb, begin);
	port_onto_wire(port, skb, begin);
	return skb;
}

/* When the wire can take another frame; in the past if it can now */
static u64 wire_takes(const struct dcbport *port)
{
	if (port->flight.qlen < FLIGHT_MAX)
		return port->wire.free;
	return max(port->wire.free, (u64)port_cb(port->flight.head)->time);
}

/* A frame that does not arrive at once, or has others before it, is on the wire */
static void flight_enter(struct dcbport *port, struct sk_buff *skb)
{
	if (!port_cb(skb)->control)
		port->class[port_cb(skb)->tc].on_wire++;
	__qdisc_enqueue_tail(skb, &port->flight);
}

static struct sk_buff *flight_leave(struct dcbport *port)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&port->flight);

	if (!port_cb(skb)->control)
		port->class[port_cb(skb)->tc].on_wire--;
	return skb;
}

/* Send what the wire takes. Return a frame that has arrived by now, or NULL. */
static struct sk_buff *port_frame(struct dcbport *port, u64 now)
{
	struct sk_buff *skb;

	for (;;) {
		if (port->flight.qlen &&
		    port_cb(port->flight.head)->time <= now)
			return flight_leave(port);
		if (wire_takes(port) > now)
			return NULL;
		skb = port_next(port, now);
		if (!skb)
			return NULL;
		if (!port->flight.qlen && port_cb(skb)->time <= now)
			return skb;
		flight_enter(port, skb);
	}
}

/* When there is something to do next */
static noinline u64 port_wakeup(const struct dcbport *port, u64 now)
{
	u64 at = U64_MAX, takes = wire_takes(port);
	u8 left;

	if (port->flight.qlen)
		at = port_cb(port->flight.head)->time;
	if (port->poll)
		at = min(at, port->poll);
	if (port_wants(port) != port->told && takes > now)
		at = min(at, takes);
	else if (port_wants(port) | port->told)
		at = min(at, max(port->tell_again, takes));
	for (left = port->backlog; left; left &= left - 1)
		at = min(at, max(takes, class_until(port, __ffs(left))));
	return at;
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
	u64 at;

	if (!now)
		now = ktime_get_ns();
	if (port->poll || dcbport_pause_last(&port->pause) > now)
		port_watch(port, now);
	skb = port_frame(port, now);
	if (skb && port_cb(skb)->control) {
		_bstats_update(&sch->bstats, qdisc_pkt_len(skb), 1);
	} else if (skb) {
		count_out(sch, &port->class[port_cb(skb)->tc], qdisc_pkt_len(skb));
	} else {
		at = port_wakeup(port, now);
		if (at != U64_MAX)
			qdisc_watchdog_schedule_ns(&port->timer, at);
	}
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
	return class_take(port, class, sch);
}

static struct sk_buff *port_dequeue(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	u64 more = port->flight.qlen | port->poll | port_wants(port) | port->told;
	u64 now = port->came;

	/* if a packet has just come, enqueue has read the clock */
	port->came = 0;
	if (!(more | port->backlog))
		return NULL;
	if (!more && port_passes(port, now))
		return dequeue_plain(port, sch, now);
	return dequeue_any(port, sch, now);
}

/* --- the qdisc ------------------------------------------------------------ */

static void class_apply(struct dcbport *port, u8 tc)
{
	const struct dcbport_settings *s = &port->settings;
	struct dcbport_class *class = &port->class[tc];
	u8 prio;

	/* packets may still wait in a class that no longer has a priority */
	port->drr.weight[tc] = s->weight[tc] ?: 1;
	port->drr.deficit[tc] = 0;
	class->bit = 1 << tc;
	class->limit = s->limit[tc];
	class->curve = s->curve[tc];
	class->counts_flows = dcbport_settings_counts_flows(s, tc);
	class->prios = 0;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (s->tc[prio] == tc)
			class->prios |= 1 << prio;
	}
	class->pace = (struct dcbport_wire) {
		.rate = s->maxrate[tc], .overhead = s->overhead };
	if (s->maxrate[tc])
		port->paced |= 1 << tc;
	if (!(s->pfc & class->prios) || s->action == DCBPORT_ACTION_OFF)
		storm_end(class);
}

static void port_apply(struct dcbport *port, const struct dcbport_settings *s)
{
	u64 now = ktime_get_ns();
	u8 tc, prio;

	port->settings = *s;
	port->wire.rate = s->rate;
	port->wire.overhead = s->overhead;
	port->wire.rest = 0;
	port->paced = 0;
	port->burst = s->rate ? div64_u64(BURST * 8ULL * NSEC_PER_SEC, s->rate) : 0;
	port->late = max_t(u64, LATE, port->burst);
	port->drr.strict = s->strict;
	dcbport_prio_map(&s->prio, &port->prio);
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		class_apply(port, tc);
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		port->of[prio] = &port->class[s->tc[prio]];
	port->plain = !s->rate && !s->delay && !port->paced;
	/* only the watchdog ends a storm, and where packets are dropped nothing else wakes it */
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

/* Allocate tables for classes that must count flows. They keep them from then on, because
 * their packets refer to places in them.
 */
static int prepare_flows(struct dcbport *port, const struct dcbport_settings *s)
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
	return 0;
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
	int err;

	if (problem) {
		if (extack)
			extack->_msg = problem;
		return -EINVAL;
	}
	if (!has_room(port, s, buffer)) {
		NL_SET_ERR_MSG(extack,
			       "the switch has no room for this headroom and reserve: see its size");
		return -ENOSPC;
	}
	err = prepare_flows(port, s);
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
	port_apply(port, s);
	dcbport_wake(port);
	spin_unlock_bh(qdisc_lock(port->sch));
	if (extack)
		extack->_msg = dcbport_settings_warn(s);
	return 0;
}

static int port_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct dcbport *port = qdisc_priv(sch);
	int err;

	port->sch = sch;
	port->dev = qdisc_dev(sch);
	qdisc_watchdog_init(&port->timer, sch);
	dcbport_pause_setup(&port->pause);
	port_apply(port, &dcbport_defaults);
	if (port->dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "dcbport needs an Ethernet device");
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
	dcbport_dcbnl_begin(port);
	return 0;
}

/* Also called when a device goes down. @told stays: when the device comes up, the port
 * tells the other end again what to pause, because it may have forgotten. A storm ends: what
 * is at the other end then may be another device, or the same one after a reset.
 */
static void port_reset(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	struct sk_buff *skb, *to_free = NULL;
	struct dcbport_class *class;
	u8 tc;

	qdisc_watchdog_cancel(&port->timer);
	/* the core does not always hold the lock here */
	local_bh_disable();
	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		class_purge(port, tc, DCBPORT_DROP_RESET, &to_free);
		port->class[tc].pace.free = 0;
		storm_end(&port->class[tc]);
	}
	local_bh_enable();
	while (port->flight.qlen) {
		skb = flight_leave(port);
		class = &port->class[port_cb(skb)->tc];
		if (port_cb(skb)->control)
			kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		else
			port_drop(port, class, DCBPORT_DROP_RESET, skb, &to_free);
	}
	port_free(port, to_free);
	port->wire.free = 0;
	port->poll = 0;
	port->came = 0;
	port->tell_again = 0;
}

static void port_destroy(struct Qdisc *sch)
{
	struct dcbport *port = qdisc_priv(sch);
	u8 tc;

	dcbport_dcbnl_end(port);
	dcbport_hook_end(port);
	qdisc_watchdog_cancel(&port->timer);
	port_take_back(port);
	if (port->buffer)
		dcbport_buffer_leave(port);
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		kvfree(port->class[tc].flows);
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

/* While a device is down, its port has no timer and cannot be woken. When it comes up,
 * it may have to announce pauses, or to end some.
 */
static int device_event(struct notifier_block *unused, unsigned long event,
			void *info)
{
	struct dcbport *port = dcbport_of(netdev_notifier_info_to_dev(info));

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
