/* SPDX-License-Identifier: GPL-2.0 */
/* Two RDMA devices of one kernel, and RC or UC queue pairs between them. */
#ifndef ENDS_H
#define ENDS_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct end {
	const char *dev, *addr;		/* as the user names them */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	union ibv_gid gid;
	int gid_index;
};

struct path {
	enum ibv_mtu mtu;
	uint8_t timeout, retries;
	uint32_t psn;
};

/* All return 0, or an errno; *what then says what failed. */
int end_open(struct end *e, void *memory, size_t len, int cqes, const char **what);
int end_connect(struct end *e, struct ibv_qp *qp, const struct end *peer, uint32_t peer_qpn,
		const struct path *path, const char **what);

/* Free everything except the QPs, which must be destroyed before. */
void end_close(struct end *e);

struct ibv_qp *end_qp(struct end *e, enum ibv_qp_type type, int depth);

/* Make the next completion wake up a poll of e->channel->fd. */
int end_arm(struct end *e);

/* True if the device goes away, and waits for us to close it. */
int end_is_dying(struct end *e);

/* splitmix64 (Steele, Lea, Flood 2014) */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
