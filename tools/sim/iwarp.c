// SPDX-License-Identifier: GPL-2.0
/*
 * iwarp: connect two queue pairs of iWARP devices, such as soft-iWARP's.
 *
 * They use a TCP connection, which only the kernel's connection manager sets up: ibv_modify_qp()
 * does not. Both ends are in this process, so each step waits for its event.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include "traffic.h"

#define RESOLVE_MS	10000

static struct rdma_event_channel *channel;

static struct sockaddr_storage address(const union ibv_gid *gid, in_port_t port)
{
	struct sockaddr_storage out = {};

	if (is_ipv4(gid)) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)&out;

		v4->sin_family = AF_INET;
		v4->sin_port = port;
		memcpy(&v4->sin_addr, gid->raw + 12, 4);
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out;

		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		memcpy(&v6->sin6_addr, gid->raw, 16);
	}
	return out;
}

/* Waits for an event. Returns the id that it is about. */
static struct rdma_cm_id *await(const struct flow *f, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		die("line %u: connection events: %s", f->line, strerror(errno));
	if (event->event != type)
		die("line %u: connecting: %s instead of %s, status %d", f->line,
		    rdma_event_str(event->event), rdma_event_str(type), event->status);
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static struct rdma_cm_id *make_id(const struct flow *f)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("line %u: connection: %s", f->line, strerror(errno));
	return id;
}

/*
 * The requester connects, because the end that connects must send the first message. The connection
 * stays until the program ends.
 */
void connect_iwarp(const struct flow *f)
{
	const struct end *from = f->requester, *to = f->responder;
	struct rdma_conn_param param = {
		.initiator_depth = is_fetched(f) ? f->depth : 1,
		.responder_resources = is_fetched(f) ? f->depth : 1,
	};
	struct sockaddr_storage here = address(&from->gid, 0), there = address(&to->gid, 0);
	struct rdma_cm_id *listener, *id;

	if (!channel)
		channel = rdma_create_event_channel();
	if (!channel)
		die("line %u: connection events: %s", f->line, strerror(errno));

	enter(to->host);
	listener = make_id(f);
	if (rdma_bind_addr(listener, (struct sockaddr *)&there) || rdma_listen(listener, 1))
		die("line %u: listening on %s: %s", f->line, to->dev, strerror(errno));
	there = address(&to->gid, rdma_get_src_port(listener));

	enter(from->host);
	id = make_id(f);
	if (rdma_resolve_addr(id, (struct sockaddr *)&here, (struct sockaddr *)&there, RESOLVE_MS))
		die("line %u: address of %s: %s", f->line, to->dev, strerror(errno));
	await(f, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLVE_MS))
		die("line %u: route to %s: %s", f->line, to->dev, strerror(errno));
	await(f, RDMA_CM_EVENT_ROUTE_RESOLVED);
	param.qp_num = from->qp->qp_num;
	if (rdma_connect(id, &param))
		die("line %u: connecting %s: %s", f->line, from->dev, strerror(errno));

	id = await(f, RDMA_CM_EVENT_CONNECT_REQUEST);
	param.qp_num = to->qp->qp_num;
	if (rdma_accept(id, &param))
		die("line %u: accepting on %s: %s", f->line, to->dev, strerror(errno));
	await(f, RDMA_CM_EVENT_ESTABLISHED);
	await(f, RDMA_CM_EVENT_ESTABLISHED);
	rdma_destroy_id(listener);
}
