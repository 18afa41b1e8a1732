// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: what a port knows of the paths to other hosts.
 *
 * A flow that answers READs, or of UC, gets no ACKs, and a new one has not got any yet. They take
 * the round trip that another flow to the same host has measured: that of another host may be a
 * thousand times as long. And they begin with the burst of that flow, which is longer if the path
 * is idle.
 *
 * The table holds 64 peers, four for each value of a hash. A new peer takes the place of the one
 * of its set that was heard of longest ago. That one becomes unknown, as if nothing had been
 * measured: whoever chooses addresses that collide cannot do more. UD has no peer.
 */
#include <linux/hash.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <net/ipv6.h>

#include "peer.h"

/* ns; what was measured so long ago is not believed */
#define DCQCN_PEER_NS	(10ULL * NSEC_PER_SEC)

static struct dcqcn_peer *dcqcn_peer_set(struct dcqcn_peers *peers,
					 const struct in6_addr *addr)
{
	__be32 all = addr->s6_addr32[0] ^ addr->s6_addr32[1] ^
		     addr->s6_addr32[2] ^ addr->s6_addr32[3];

	return peers->peer[hash_32((__force u32)all, DCQCN_PEER_BITS)];
}

/**
 * dcqcn_peer_look() - what is known of a peer
 * @peers: those of the port
 * @addr: its address
 * @now: ns
 * @known: is set to it
 *
 * Context: BH off. Takes the lock of @peers. Return: whether anything is.
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

/**
 * dcqcn_peer_learn() - a flow to a peer has measured its path
 * @peers: those of the port
 * @addr: the peer's address
 * @known: what it has measured; the rest is set here
 * @now: ns
 *
 * Context: BH off. Takes the lock of @peers.
 */
void dcqcn_peer_learn(struct dcqcn_peers *peers, const struct in6_addr *addr,
		      const struct dcqcn_peer *known, u64 now)
{
	struct dcqcn_peer *set = dcqcn_peer_set(peers, addr), *peer = set;
	int i;

	spin_lock(&peers->lock);
	for (i = 0; i < DCQCN_PEER_WAYS; i++) {
		if (ipv6_addr_equal(&set[i].addr, addr)) {
			peer = &set[i];
			break;
		}
		if (set[i].heard_time < peer->heard_time)
			peer = &set[i];
	}
	peer->addr = *addr;
	peer->rtt = known->rtt;
	peer->burst = known->burst;
	peer->answers = known->answers;
	peer->heard_time = now;
	spin_unlock(&peers->lock);
}
