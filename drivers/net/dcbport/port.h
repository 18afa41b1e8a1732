/* SPDX-License-Identifier: GPL-2.0 */
/* A port: the private part of its qdisc. See qdisc.c. */
#ifndef DCBPORT_PORT_H
#define DCBPORT_PORT_H

#include <linux/netfilter.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "buffer.h"
#include "dcbnl.h"
#include "drr.h"
#include "flows.h"
#include "pause.h"
#include "prio.h"
#include "settings.h"
#include "wire.h"

/* Why a packet was lost */
enum dcbport_drop {
	DCBPORT_DROP_LIMIT,	/* its class held too much */
	DCBPORT_DROP_BUFFER,	/* its part of the switch's buffer was full */
	DCBPORT_DROP_STORM,	/* the watchdog's action */
	DCBPORT_DROP_MEMORY,	/* it could not be segmented */
	DCBPORT_DROP_RESET,	/* the port went down, or away */
	DCBPORT_DROPS,
};

/**
 * struct dcbport_class_count - counters of a class, where in = out + held + dropped,
 *	and of the priority of the same number
 * @most: the most bytes that were in the queue
 * @in_packets: packets that came, including lost ones
 * @in_bytes: likewise
 * @out_packets: packets that left the link's far end
 * @out_bytes: likewise
 * @marked: packets that were marked
 * @dropped: packets, by reason
 * @pauses: PFC frames sent that pause the priority
 * @resumes: PFC frames sent that end its pause
 * @storms: pauses without end that the watchdog found
 * @restores: those of them that ended
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
 * @queue: its packets
 * @bytes: their length
 * @limit: most of them; a copy of the settings', as the next two are
 * @curve: marks
 * @bit: 1 << its number
 * @counts_flows: marks depend on the number of flows
 * @storm: the watchdog's action is in force
 * @prios: priorities that are in it, one bit each
 * @counted: packets in the queue that are in @flows
 * @sent: ns; when a packet last went onto the wire
 * @count: its counters
 * @on_wire: its packets on the wire
 * @pace: a virtual wire with its maxrate, which holds it back besides the link
 * @flows: flows in the queue, or NULL if they were never needed
 *
 * What every packet needs is at the beginning, and in the first of @count.
 */
struct dcbport_class {
	struct qdisc_skb_head queue;
	u32 bytes;
	u32 limit;
	struct dcbport_curve curve;
	u8 bit;
	bool counts_flows;
	bool storm;
	u8 prios;
	u32 counted;
	u64 sent;
	struct dcbport_class_count count;
	u32 on_wire;
	struct dcbport_wire pace;
	struct dcbport_flows *flows;
} ____cacheline_aligned_in_smp;

/**
 * struct dcbport - a port; under its qdisc's lock unless said otherwise
 * @sch: its qdisc
 * @dev: its network device
 * @settings: as set by users; written under rtnl and the lock
 * @prio: priorities of packets, as the settings have them
 * @dcbnl: what the core knows about it; under rtnl
 * @timer: runs the qdisc when there is something to do
 * @hook: at the device's ingress
 * @pause: the pauses that it must obey; has its own lock
 * @class: by number
 * @of: the class of each priority
 * @came: ns; when a packet came since the last dequeue, or 0
 * @backlog: classes in which packets wait, one bit each
 * @paced: classes with a maxrate, likewise
 * @plain: what is sent arrives at once: neither the link nor a class takes time
 * @drr: whose turn it is
 * @wire: the link
 * @late: ns; how much lateness of a timer is made up for
 * @flight: frames on the link, in order of arrival
 * @switched: it is in a switch; read by the hook
 * @buffer: the switch, or NULL; written under rtnl and the lock
 * @ingress: account of what came in here, or NULL; likewise
 * @told: priorities that the other end was told to pause, one bit each
 * @tell_again: ns; when these pauses must be refreshed
 * @poll: ns; when the watchdog looks again, 0 if it need not
 * @frame_errors: PFC frames that could not be allocated
 */
struct dcbport {
	struct Qdisc *sch;
	struct net_device *dev;
	struct dcbport_settings settings;
	struct dcbport_prio_map prio;
	struct dcbport_dcbnl dcbnl;
	struct qdisc_watchdog timer;
	struct nf_hook_ops hook;
	struct dcbport_pause pause;
	struct dcbport_class class[DCBPORT_PRIOS];
	struct dcbport_class *of[DCBPORT_PRIOS];
	u64 came;
	u8 backlog;
	u8 paced;
	bool plain;
	struct dcbport_drr drr;
	struct dcbport_wire wire;
	u64 late;
	struct qdisc_skb_head flight;
	bool switched;
	struct dcbport_buffer *buffer;
	struct dcbport_ingress *ingress;
	u8 told;
	u64 tell_again;
	u64 poll;
	u64 frame_errors;
};

struct dcbport *dcbport_of(const struct net_device *dev);
void dcbport_wake(struct dcbport *port);
int dcbport_change(struct dcbport *port, const struct dcbport_settings *s,
		   struct dcbport_buffer *buffer,
		   struct netlink_ext_ack *extack);

int dcbport_qdisc_init(void);
void dcbport_qdisc_exit(void);

#endif /* DCBPORT_PORT_H */
