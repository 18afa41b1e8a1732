/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world that the module lives in: two hosts with a port each, a link between them, and a clock
 * that only pass() moves. See world.c.
 */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include "kernel.h"

#include "device.h"
#include "packet.h"

#define PORTS		2
#define US		1000ULL		/* ns */
#define MS		1000000ULL
#define SECOND		1000000000ULL

struct rxe_qp;

/**
 * struct port - a host's port
 * @ibdev: rxe's device
 * @kobj: of rxe's port
 * @ndev: its network device
 * @route: to the other host
 * @last: byte of its address 10.0.0.LAST
 * @dev: the module's part, NULL while rxe's device does not exist
 * @removed: it is being removed
 */
struct port {
	struct ib_device ibdev;
	struct kobject kobj;
	struct net_device ndev;
	struct rtable route;
	u8 last;
	struct dcqcn_dev *dev;
	bool removed;
};

/**
 * struct tx - a packet of rxe, from its birth until the NIC has it, or the module drops it
 * @skb: the packet
 * @older: of the same QP and FIFO
 * @newer: likewise
 * @qp: the QP that sends it
 * @since: ns; when rxe sent it
 * @number: how many rxe's QPs had sent before
 * @psn: of it
 * @kind: enum dcqcn_pkt_kind
 * @opcode: of it
 * @stale: rxe has sent it again, and that has left
 */
struct tx {
	struct sk_buff skb;
	struct tx *older;
	struct tx *newer;
	struct rxe_qp *qp;
	u64 since;
	u64 number;
	u32 psn;
	u8 kind;
	u8 opcode;
	bool stale;
};

/**
 * struct path - from one port to the other
 * @bps: bit/s
 * @delay: ns
 * @mark: so many of the next data packets get CE
 * @lose: so many of the next data packets are lost
 * @lose_acks: so many of the next ACKs
 * @lose_cnps: so many of the next CNPs and feedback packets
 * @down: it carries nothing
 */
struct path {
	u64 bps;
	u64 delay;
	u32 mark;
	u32 lose;
	u32 lose_acks;
	u32 lose_cnps;
	bool down;
};

extern struct port ports[PORTS];
extern struct path paths[PORTS];	/* from the port of this index */
extern bool verbose;
extern u64 timers_stop;			/* ns; until then no timer of the module runs */
extern u64 worker_stops;		/* ns; nor its worker */
extern void (*world_registers)(void);	/* what happens when a port registers its hooks */
extern void (*world_answered)(void);	/* what happens when the core has said what a QP is like */
extern unsigned int transmit_fails;	/* so many of the next CNPs and feedback packets */

void world_init(void);
void world_begin(u64 seed);
void world_end(void);
void port_add(struct port *port);
/* @meanwhile: what happens while it goes, or NULL */
void port_remove(struct port *port, void (*meanwhile)(void));
void port_down(struct port *port);
void port_changed(struct port *port);
void port_changed_below(struct port *port, struct net_device *below, bool moves);
u64 world_lateness(void);
bool world_is_tired(void);
u64 world_busy(void);
bool world_is_silent(void);

/* Let time pass, with all that happens meanwhile */
void pass(u64 ns);
/* Let happen what is due now */
void settle(void);

struct tx *tx_alloc(struct rxe_qp *qp, u8 kind, u8 opcode, u32 psn, u32 frame, u32 truesize);
void output(struct tx *tx);
void input(struct port *port, const u8 *packet, u32 len);

#define say(...) do {							\
	if (verbose)							\
		world_say(__VA_ARGS__);					\
} while (0)

void world_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* EXPLORE_WORLD_H */
