/* SPDX-License-Identifier: GPL-2.0 */
/* A port: the private part of its qdisc. See qdisc.c. */
#ifndef DCBPORT_PORT_H
#define DCBPORT_PORT_H

#include <linux/hrtimer.h>
#include <linux/netfilter.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "buffer.h"
#include "drr.h"
#include "flows.h"
#include "pause.h"
#include "prio.h"
#include "settings.h"
#include "wire.h"

struct dcbport_dcbnl;
struct dcbport_storm;

/* Why a packet was lost */
enum dcbport_drop {
	DCBPORT_DROP_LIMIT,	/* its class was full */
	DCBPORT_DROP_BUFFER,	/* its part of the switch's buffer was full */
	DCBPORT_DROP_STORM,	/* the watchdog's action */
	DCBPORT_DROP_MEMORY,	/* it could not be segmented */
	DCBPORT_DROP_RESET,	/* the port went down, was removed or replaced */
	DCBPORT_DROP_WRED,	/* it should have been marked, and could not be */
	DCBPORT_DROPS,
};

/* Extra work for packets of a class, one bit each */
enum dcbport_extra {
	DCBPORT_EXTRA_STORM = 1,	/* the watchdog drops them */
	DCBPORT_EXTRA_SHARE = 2,	/* the class has a dynamic limit */
	DCBPORT_EXTRA_WRED = 4,		/* those that cannot be marked are dropped */
	DCBPORT_EXTRA_FLOWS = 8,	/* flows are counted */
	DCBPORT_EXTRA_MARK = 16,	/* they are marked when they leave */
	DCBPORT_EXTRA_STAMP = 32,	/* they are stamped when they leave */
};

/**
 * struct dcbport_class_count - counters of a class (in = out + held + dropped), and of
 *	the priority with the same number
 * @most: the most bytes that were ever queued
 * @in_packets: packets that arrived, including those that were dropped
 * @in_bytes: their bytes
 * @out_packets: packets that reached the far end of the link
 * @out_bytes: their bytes
 * @marked: packets that were marked
 * @dropped: packets, by reason
 * @pauses: PFC frames sent that pause the priority
 * @resumes: PFC frames sent that end its pause
 * @storms: PFC storms that the watchdog found
 * @restores: how many of these have ended
 */
struct dcbport_class_count {
	u32 most;
	u64 in_packets;
	u64 in_bytes;
	u64 out_packets;
	u64 out_bytes;
	u64 marked;
	u64 dropped[DCBPORT_DROPS];
	u64 pauses;
	u64 resumes;
	u64 storms;
	u64 restores;
};

/**
 * struct dcbport_class - one of the eight classes
 * @queue: its waiting packets
 * @bytes: their length
 * @held: bytes that they count for; see dcbport_packet_cost()
 * @limit: the most that @held may be; from the settings
 * @curve: when to mark packets that enter; never if packets are marked when they leave
 * @bit: 1 << its number
 * @enters: extra work for packets that enter, see enum dcbport_extra
 * @leaves: extra work for packets that leave
 * @storm: there is a PFC storm, and the watchdog's action applies
 * @prios: priorities that belong to it, one bit each
 * @obeys: priorities whose pauses it obeys: @prios, and those that it has lost while their packets
 *	may still wait
 * @older: waiting packets that came before it last lost a priority, if @obeys differs from @prios
 * @counted: packets in the queue that are in @flows
 * @sent: ns; when a packet last went onto the wire
 * @count: its counters
 * @on_wire: its packets on the wire
 * @pace: a wire of its own, at its maxrate, which limits it in addition to the link
 * @flows: flows in the queue, or NULL if the class has never counted flows
 *
 * The fields that every packet needs come first, as they do in @count. Its size is that of four
 * cache lines, so that a class is found by a shift. Fields that few packets need are elsewhere
 * (storm.h).
 */
struct dcbport_class {
	struct qdisc_skb_head queue;
	u32 bytes;
	u32 held;
	u32 limit;
	struct dcbport_curve curve;
	u8 bit;
	u8 enters;
	u8 leaves;
	bool storm;
	u8 prios;
	u8 obeys;
	u32 older;
	u32 counted;
	u64 sent;
	struct dcbport_class_count count;
	u32 on_wire;
	struct dcbport_wire pace;
	struct dcbport_flows *flows;
} ____cacheline_aligned_in_smp;

/**
 * struct dcbport - a port; under its qdisc's lock unless stated otherwise
 * @sch: its qdisc
 * @dev: its network device
 * @settings: as set by users; written under rtnl and the lock
 * @prio: the priority of each DSCP and PCP; from the settings. Packets that come in are
 *	looked up without the lock.
 * @origin: its number, which packets that came in here carry; see origin.c
 * @switched: it belongs to a switch; read without the lock by the hook
 * @storms: priorities whose incoming packets are counted, because there is a PFC storm on their
 *	class, one bit each; read without the lock by the hook
 * @drops: priorities whose incoming packets are dropped, one bit each; read like @storms
 * @ingress: memory of packets that came in here, or NULL; written like @buffer, and other ports
 *	read it under RCU
 * @dcbnl: its entry in DCB netlink, or NULL; under rtnl
 * @timer: runs the qdisc when there is something to do
 * @hook: at the device's ingress
 * @pause: the pauses that it must obey; has its own lock
 * @hops: load of each class, or NULL if stamping was never enabled; see stamp.c. It precedes an
 *	aligned field, so it takes no extra space.
 * @class: by number
 * @of: the class of each priority
 * @came: ns; when the last packet arrived, 0 if none has since the last dequeue
 * @backlog: classes in which packets wait, one bit each
 * @paced: classes with a maxrate, one bit each
 * @plain: packets arrive when they are sent: there is no rate, delay or maxrate
 * @told: priorities that the other end was told to pause, one bit each
 * @drr: whose turn it is
 * @wire: the link
 * @burst: ns; how long the link takes to send a burst
 * @late: ns; the most lateness of a timer that the port makes up for
 * @armed: ns; when the timer is due, 0 if it is not needed
 * @grain: how late this machine's timers are
 * @flight: frames on the link, in order of arrival
 * @buffer: the switch, or NULL; written under rtnl and the lock
 * @tell_again: ns; when the pauses of @told must be refreshed
 * @poll: ns; when the watchdog looks again, 0 if it need not
 * @frame_errors: PFC frames that could not be allocated
 * @storm: what happened in storms, by class and priority; see storm.c
 *
 * Together with the struct Qdisc before it, it fits into 4 KiB. The slab allocator would round a
 * larger size up to 8 KiB.
 */
struct dcbport {
	struct Qdisc *sch;
	struct net_device *dev;
	struct dcbport_settings settings;
	struct dcbport_prio_map prio;
	u16 origin;
	bool switched;
	u8 storms;
	u8 drops;
	struct dcbport_ingress __rcu *ingress;
	struct dcbport_dcbnl *dcbnl;
	struct hrtimer timer;
	struct nf_hook_ops hook;
	struct dcbport_pause pause;
	struct dcbport_hop *hops;
	struct dcbport_class class[DCBPORT_PRIOS];
	struct dcbport_class *of[DCBPORT_PRIOS];
	u64 came;
	u8 backlog;
	u8 paced;
	bool plain;
	u8 told;
	struct dcbport_drr drr;
	struct dcbport_wire wire;
	u64 burst;
	u64 late;
	u64 armed;
	struct dcbport_grain grain;
	struct qdisc_skb_head flight;
	struct dcbport_buffer *buffer;
	u64 tell_again;
	u64 poll;
	u64 frame_errors;
	struct dcbport_storm *storm;
};

struct dcbport *dcbport_of(const struct net_device *dev);
struct dcbport *dcbport_of_rcu(const struct net_device *dev);
void dcbport_wake(struct dcbport *port);
int dcbport_change(struct dcbport *port, const struct dcbport_settings *s,
		   struct dcbport_buffer *buffer,
		   struct netlink_ext_ack *extack);

int dcbport_qdisc_init(void);
void dcbport_qdisc_exit(void);

#endif /* DCBPORT_PORT_H */
