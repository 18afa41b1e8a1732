/* SPDX-License-Identifier: GPL-2.0 */
/* A flow's sender, and the link of its host. See host.c. */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include "account.h"
#include "algorithm.h"
#include "packet.h"
#include "path.h"
#include "rate.h"
#include "trace.h"

/**
 * struct host - the sender of one flow; times in ns
 *
 * Flows of one sender share the wire of its first one.
 *
 * @begin: when it begins
 * @next: when its pacer lets the next packet go
 * @gap: and how long it waits for the one after that
 * @timer: when the pacer's timer fires
 * @free: when its wire is
 * @retry: when it gives up waiting for an ACK
 * @held: packets that wait in the pacer
 * @port: and those that wait for the wire, of all flows that share it
 * @wire: the flow whose wire it is
 * @group: the port by which it comes into the switch with the queue
 * @out: packets that it has made and not yet sent, see host_room()
 * @psn: of the next packet
 * @acked: those before are acknowledged
 * @unasked: packets since one asked for an ACK
 * @burst: bytes that the pacer lets pass
 * @sent: packets, measured
 * @started: it has begun
 * @limited: there is a limiter
 * @released: the limiter ends as soon as nothing is held
 * @seen: by the limiter, of this flow
 * @wants: it would make packets if there were room
 * @back: it goes back to a lost packet
 * @retried: it went back, and no ACK has come since
 * @paused: as its port sees it
 * @rate: the module's
 * @path: the module's
 * @algorithm: if it obeys one, and not DCQCN
 * @account: in the switch at which its packets come in
 * @queued: packets in the queue there
 * @expected: PSN that the receiver expects
 * @asked: the receiver has asked for it
 * @cnp: when the receiver may send a CNP again
 */
struct host {
	double begin;
	double next;
	double gap;
	double timer;
	double free;
	double retry;
	struct packets held;
	struct packets port;
	u16 wire;
	u16 group;
	u32 out;
	u32 psn;
	u32 acked;
	u32 unasked;
	u32 burst;
	u32 sent;
	bool started;
	bool limited;
	bool released;
	bool seen;
	bool wants;
	bool back;
	bool retried;
	bool paused;
	struct dcqcn_rate rate;
	struct dcqcn_path path;
	struct algorithm_flow algorithm;
	struct dcbport_account account;
	u32 queued;
	u32 expected;
	bool asked;
	double cnp;
};

/**
 * struct hosts - what they have in common
 * @setup: what is simulated
 * @host: all of them
 * @cable: packets on the way to a switch
 * @now: ns
 * @line: bit/s of their wires
 * @frame: ns that a frame takes on their wires
 * @window: packets that are not acknowledged, at most
 * @ack: packets after which one asks for an ACK
 * @message: packets of a message, or 0
 * @most: packets that a host has; it makes more from
 * @least: packets on
 * @floor: bit/s; of what is held, see gate.c
 * @hold: ns; what is held leaves within
 * @measures: their paths are measured
 */
struct hosts {
	const struct trace_setup *setup;
	struct host *host;
	struct packets *cable;
	double now;
	u64 line;
	double frame;
	u32 window;
	u32 ack;
	u32 message;
	u32 most;
	u32 least;
	double floor;
	double hold;
	bool measures;
};

void host_setup(const struct hosts *all, struct host *h, double begin, size_t wire, size_t group);
double host_due(const struct host *h);
size_t host_run(const struct hosts *all, struct host *h, size_t flow);
bool host_room(const struct hosts *all, struct host *h, size_t flow);
void host_cnp(const struct hosts *all, struct host *h);
void host_ack(const struct hosts *all, struct host *h, size_t flow, u32 psn);
void host_nak(const struct hosts *all, struct host *h, size_t flow, u32 psn);

#endif /* MODEL_HOST_H */
