// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps what the flows of a port have measured of the paths to other hosts.
 *
 * A flow that answers READs gets no ACKs, nor does a UC flow, and a new flow has not got any yet.
 * Such flows use the round trip that another flow to the same host has measured; the round trip to
 * another host may be a thousand times as long. They also begin with that flow's burst, which is
 * longer if the path is idle. Flows that begin together to a host of which nothing is known, and
 * that ask for ACKs, share one burst: 20 hosts with ten flows each to the same port would fill a
 * switch. From its first ACK on, each goes on with the average of their bursts.
 *
 * The table holds 64 peers, four for each value of a hash. A new peer replaces the one of its set
 * whose last measurement, or first flow, is the oldest. That one becomes unknown. An attacker who
 * chooses addresses that collide cannot do more harm than this. UD has no peer.
 */
#include <linux/hash.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "peer.h"

/* ns; older results are ignored */
#define DCQCN_PEER_NS	(10ULL * NSEC_PER_SEC)
/* ns; flows to an unknown peer that begin within this time begin together, unless it answers */
#define DCQCN_PEER_TOGETHER_NS	(100ULL * NSEC_PER_MSEC)

static struct dcqcn_peer *dcqcn_peer_set(struct dcqcn_peers *peers,
					 const struct in6_addr *addr)
{
	__be32 all = addr->s6_addr32[0] ^ addr->s6_addr32[1] ^
		     addr->s6_addr32[2] ^ addr->s6_addr32[3];

	return peers->peer[hash_32((__force u32)all, DCQCN_PEER_BITS)];
}

/**
 * dcqcn_peer_look() - look up a peer
 * @peers: those of the port
 * @addr: the peer's address
 * @now: ns
 * @known: result
 *
 * Context: BH off. Takes the lock of @peers. Return: whether the peer is known.
 */
bool dcqcn_peer_look(struct dcqcn_peers *peers, const struct in6_addr *addr,
		     u64 now, struct dcqcn_peer *known)
{
	struct dcqcn_peer *peer = dcqcn_peer_set(peers, addr);
	bool found = false;
	int i;

	spin_lock(&peers->lock);
	for (i = 0; i < DCQCN_PEER_WAYS; i++, peer++) {
		if (peer->heard_time && ipv6_addr_equal(&peer->addr, addr) &&
		    (s64)(now - peer->heard_time) < (s64)DCQCN_PEER_NS) {
			*known = *peer;
			found = true;
		}
	}
	spin_unlock(&peers->lock);
	return found;
}

/* The peer's entry, which may be a new one; the lock of @peers is held */
static struct dcqcn_peer *dcqcn_peer_get(struct dcqcn_peers *peers,
					 const struct in6_addr *addr)
{
	struct dcqcn_peer *set = dcqcn_peer_set(peers, addr), *oldest = set;
	int i;

	for (i = 0; i < DCQCN_PEER_WAYS; i++) {
		if (ipv6_addr_equal(&set[i].addr, addr))
			return &set[i];
		if (max(set[i].heard_time, set[i].begun_time) <
		    max(oldest->heard_time, oldest->begun_time))
			oldest = &set[i];
	}
	*oldest = (struct dcqcn_peer) { .addr = *addr };
	return oldest;
}

/**
 * dcqcn_peer_begin() - a flow begins to send to a peer that dcqcn_peer_look() does not know
 * @peers: those of the port
 * @addr: the peer's address
 * @burst: bytes that a flow sends at once on a path for it alone
 * @now: ns
 *
 * Context: BH off. Takes the lock of @peers.
 * Return: bytes that it sends at once, its share of @burst; at least 1.
 */
u32 dcqcn_peer_begin(struct dcqcn_peers *peers, const struct in6_addr *addr,
		     u32 burst, u64 now)
{
	struct dcqcn_peer *peer;
	u32 share;

	spin_lock(&peers->lock);
	peer = dcqcn_peer_get(peers, addr);
	if (!peer->begun ||
	    (s64)(now - peer->begun_time) >= (s64)DCQCN_PEER_TOGETHER_NS) {
		peer->begun_time = now;
		peer->begun = 0;
		peer->shared = 0;
	}
	share = max(burst / ++peer->begun, 1U);
	peer->shared += share;
	spin_unlock(&peers->lock);
	return share;
}

/**
 * dcqcn_peer_learn() - a flow to a peer has measured its path
 * @peers: those of the port
 * @addr: the peer's address
 * @known: what the flow has measured; the other fields are set here
 * @now: ns
 *
 * Context: BH off. Takes the lock of @peers.
 */
void dcqcn_peer_learn(struct dcqcn_peers *peers, const struct in6_addr *addr,
		      const struct dcqcn_peer *known, u64 now)
{
	struct dcqcn_peer *peer;

	spin_lock(&peers->lock);
	peer = dcqcn_peer_get(peers, addr);
	peer->rtt = known->rtt;
	peer->burst = known->burst;
	peer->answers = known->answers;
	peer->heard_time = now;
	spin_unlock(&peers->lock);
}
