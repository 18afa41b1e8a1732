// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

#define PORT	1
#define READS	16	/* outstanding reads and atomics, of either side */

static int open_device(struct end *e)
{
	struct ibv_device **list;
	int i, n = 0, err = ENODEV;

	list = ibv_get_device_list(&n);
	for (i = 0; i < n; i++) {
		if (strcmp(ibv_get_device_name(list[i]), e->dev))
			continue;
		e->context = ibv_open_device(list[i]);
		err = e->context ? 0 : errno ?: EIO;
	}
	if (list)
		ibv_free_device_list(list);
	return err;
}

/* IPv4 addresses as the kernel maps them */
static int parse_address(const char *text, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return 0;
	gid->raw[10] = gid->raw[11] = 0xff;
	return inet_pton(AF_INET, text, gid->raw + 12) == 1 ? 0 : EINVAL;
}

static int find_gid(struct end *e)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;
	int i;

	if (ibv_query_port(e->context, PORT, &port) || port.state != IBV_PORT_ACTIVE)
		return ENETDOWN;
	for (i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(e->context, PORT, i, &gid, 0) ||
		    gid.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(&gid.gid, &e->gid, sizeof(e->gid)))
			continue;
		e->gid_index = i;
		return 0;
	}
	return EADDRNOTAVAIL;
}

static int non_blocking(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) ? errno : 0;
}

int end_open(struct end *e, void *memory, size_t len, int cqes, const char **what)
{
	int err;

	*what = "address";
	err = parse_address(e->addr, &e->gid);
	if (err)
		return err;
	*what = "open";
	err = open_device(e);
	if (err)
		return err;
	*what = "port and GID";
	err = find_gid(e);
	if (err)
		return err;
	*what = "protection domain";
	e->pd = ibv_alloc_pd(e->context);
	if (!e->pd)
		return errno ?: EIO;
	*what = "memory region";
	e->mr = ibv_reg_mr(e->pd, memory, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!e->mr)
		return errno ?: EIO;
	*what = "completion channel";
	e->channel = ibv_create_comp_channel(e->context);
	if (!e->channel)
		return errno ?: EIO;
	err = non_blocking(e->channel->fd);
	if (err)
		return err;
	*what = "completion queue";
	e->cq = ibv_create_cq(e->context, cqes, NULL, e->channel, 0);
	if (!e->cq)
		return errno ?: EIO;
	return 0;
}

void end_close(struct end *e)
{
	if (e->cq)
		ibv_destroy_cq(e->cq);
	if (e->channel)
		ibv_destroy_comp_channel(e->channel);
	if (e->mr)
		ibv_dereg_mr(e->mr);
	if (e->pd)
		ibv_dealloc_pd(e->pd);
	if (e->context)
		ibv_close_device(e->context);
	*e = (struct end){ .dev = e->dev, .addr = e->addr };
}

struct ibv_qp *end_qp(struct end *e, enum ibv_qp_type type, int depth)
{
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = type,
		.cap = { depth, depth, 1, 1, 0 },
	};

	return ibv_create_qp(e->pd, &init);
}

int end_connect(struct end *e, struct ibv_qp *qp, const struct end *peer, uint32_t peer_qpn,
		const struct path *path, const char **what)
{
	int rc = qp->qp_type == IBV_QPT_RC, err;
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = path->mtu, .dest_qp_num = peer_qpn,
		.rq_psn = path->psn, .max_dest_rd_atomic = READS, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = PORT,
			.grh = {
				.dgid = peer->gid, .sgid_index = e->gid_index, .hop_limit = 64,
			},
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = path->psn, .max_rd_atomic = READS,
		.timeout = path->timeout, .retry_cnt = path->retries, .rnr_retry = 7,
	};

	*what = "to INIT";
	err = ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	*what = "to RTR";
	err = ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	if (err)
		return err;
	*what = "to RTS";
	return ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC : 0));
}

int end_arm(struct end *e)
{
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_cq_event(e->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	return ibv_req_notify_cq(e->cq, 0);
}

int end_is_dying(struct end *e)
{
	/* rxe sends no event: the core removes the node, and waits for us */
	return access(e->context->device->dev_path, F_OK);
}
