// SPDX-License-Identifier: GPL-2.0
/*
 * A port of a switch like dcbport: curve.c, flows.c and account.c are the module's own;
 * what is here is what qdisc.c makes of them.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "number.h"
#include "port.h"

/**
 * port_setup() - an empty queue
 * @port: it
 * @pool: bytes that who comes in shares
 * @frame: ns that a frame takes on its wire
 */
void port_setup(struct port *port, double pool, double frame)
{
	*port = (struct port) {
		.queue = packets_empty(),
		.pool = { .size = (u64)pool },
		.frame = frame,
	};
}

static u32 queue_seen(const struct port_terms *terms, struct port *port, double now)
{
	u32 queue = port->queue.count * terms->packet;

	if (!terms->sample)
		return queue;
	if (now >= port->marks_next) {
		port->marks_queue = queue;
		port->marks_next = now + terms->sample;
	}
	return port->marks_queue;
}

static bool marks(const struct port_terms *terms, struct port *port, double now, u32 draw)
{
	u32 chance = dcbport_curve_chance(&terms->curve, queue_seen(terms, port, now));

	if (chance && (terms->flow_bounds.min || terms->flow_bounds.max))
		chance = dcbport_flows_chance(&terms->flow_bounds, chance, port->flows, true);
	return chance && dcbport_curve_marks(chance, draw);
}

/**
 * port_takes() - a packet comes in
 * @terms: what ports have in common
 * @port: where it is to leave
 * @account: of where it came in
 * @queued: packets of its flow in the queue
 * @at: the packet
 * @now: ns
 * @draw: a random number
 *
 * Return: false if it is lost.
 */
bool port_takes(const struct port_terms *terms, struct port *port,
		struct dcbport_account *account, u32 *queued, u32 at, double now, u32 draw)
{
	if (!dcbport_account_charge(account, &port->pool, &terms->thresholds, terms->packet))
		return false;
	port->flows += !*queued;
	++*queued;
	if (marks(terms, port, now, draw))
		packet_pool[at].marked = true;
	packets_add(&port->queue, at);
	return true;
}
