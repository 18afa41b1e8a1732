/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps what flows have measured of the paths to peers. See peer.c. */
#ifndef DCQCN_PEER_H
#define DCQCN_PEER_H

#include <linux/in6.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define DCQCN_PEER_BITS		4	/* sets of peers */
#define DCQCN_PEER_WAYS		4	/* peers of a set */

/**
 * struct dcqcn_peer - what the flows to a peer have measured
 * @addr: its address, IPv4-mapped for IPv4
 * @heard_time: ns; last measurement, 0 for none
 * @begun_time: ns; the first of the flows that @begun counts, 0 for none
 * @rtt: ns; round trip, queues included
 * @burst: bytes that a flow may send at once when it starts
 * @begun: flows that have begun while nothing was known of the peer
 * @shared: bytes; what these could send at once, together
 * @answers: the peer has this module, which answers (answer.c)
 */
struct dcqcn_peer {
	struct in6_addr addr;
	u64 heard_time;
	u64 begun_time;
	u64 shared;
	u32 rtt;
	u32 burst;
	u32 begun;
	bool answers;
};

/**
 * struct dcqcn_peers - the peers of a port
 * @lock: protects @peer; nests in dcqcn_qp.lock
 * @peer: peers by a hash of their address; the latest of each set
 */
struct dcqcn_peers {
	spinlock_t lock;	/* protects @peer */
	struct dcqcn_peer peer[1 << DCQCN_PEER_BITS][DCQCN_PEER_WAYS];
};

bool dcqcn_peer_look(struct dcqcn_peers *peers, const struct in6_addr *addr,
		     u64 now, struct dcqcn_peer *known);
u32 dcqcn_peer_begin(struct dcqcn_peers *peers, const struct in6_addr *addr,
		     u32 burst, u64 now);
void dcqcn_peer_learn(struct dcqcn_peers *peers, const struct in6_addr *addr,
		      const struct dcqcn_peer *known, u64 now);

#endif /* DCQCN_PEER_H */
