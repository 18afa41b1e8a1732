/* SPDX-License-Identifier: GPL-2.0 */
/* A switch's port, where flows meet. See port.c. */
#ifndef MODEL_PORT_H
#define MODEL_PORT_H

#include "account.h"
#include "curve.h"
#include "flows.h"
#include "packet.h"

/**
 * struct port_terms - what ports have in common
 * @curve: of marks
 * @flow_bounds: and what the number of flows does to it
 * @thresholds: of who comes in
 * @lossless: there is PFC
 * @packet: bytes
 * @sample: ns; how often the marker looks; 0: at each packet
 */
struct port_terms {
	struct dcbport_curve curve;
	struct dcbport_flow_bounds flow_bounds;
	struct dcbport_thresholds thresholds;
	bool lossless;
	u32 packet;
	double sample;
};

/**
 * struct port - its queue and its wire
 * @queue: of packets
 * @pool: of its switch
 * @frame: ns that a frame takes
 * @free: ns; when the wire is
 * @paused: by who is at its other end
 * @flows: with packets in the queue
 * @marks_queue: bytes; what the marker saw
 * @marks_next: ns; when it looks again
 */
struct port {
	struct packets queue;
	struct dcbport_pool pool;
	double frame;
	double free;
	bool paused;
	u32 flows;
	u32 marks_queue;
	double marks_next;
};

void port_setup(struct port *port, double pool, double frame);
bool port_takes(const struct port_terms *terms, struct port *port,
		struct dcbport_account *account, u32 *queued, u32 at, double now, u32 draw);

/* When it has something to send, ns */
static inline double port_due(const struct port *port)
{
	return port->paused || port->queue.head == PACKET_NONE ? PACKET_NEVER : port->free;
}

/**
 * port_sends() - the first packet goes onto the wire
 * @port: it has one, and may send
 * @now: ns
 *
 * Return: the packet, which is on the cable from port->free on.
 */
static inline u32 port_sends(struct port *port, double now)
{
	port->free = now + port->frame;
	return packets_take(&port->queue);
}

/**
 * port_releases() - a packet has left
 * @terms: what ports have in common
 * @port: where
 * @account: of where it came in
 * @queued: packets of its flow in the queue
 */
static inline void port_releases(const struct port_terms *terms, struct port *port,
				 struct dcbport_account *account, u32 *queued)
{
	dcbport_account_release(account, &port->pool, &terms->thresholds, terms->packet);
	port->flows -= !--*queued;
}

#endif /* MODEL_PORT_H */
