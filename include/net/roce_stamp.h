/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stamp, in which a switch port reports the queue in which a RoCEv2 packet has waited.
 *
 * A sender that wants stamps, and whose receiver reads them, puts an empty stamp behind the packet:
 * behind the last byte of the IP datagram, in the same Ethernet frame. Each port that the frame
 * passes writes its own state into the stamp if its load is higher than the stamp's. So the stamp
 * that arrives is that of the worst hop.
 *
 * The datagram is not changed. For all others, bytes behind it are padding: hosts and routers cut
 * them off, as they do with the padding of short frames, and switches forward them. The ICRC does
 * not cover them. The length of the frame does not change on its path.
 */
#ifndef _NET_ROCE_STAMP_H
#define _NET_ROCE_STAMP_H

#include <linux/types.h>

#define ROCE_STAMP_MAGIC	0xa7c35401U	/* the last byte is the version */
#define ROCE_STAMP_LOAD_ONE	256U		/* @load of a full link without a queue */

/**
 * struct roce_stamp - a stamp, without alignment
 * @magic: ROCE_STAMP_MAGIC
 * @port: random number, not 0, of the class of the port that wrote this; 0 if none has
 * @load: what ports compare, in 1/ROCE_STAMP_LOAD_ONE: the share of the link that was used in the
 *	last microseconds, plus the time that the queue takes, in units of 16.4 us
 * @mbps: Mb/s; rate at which the queue is emptied
 * @queue: bytes that wait behind the packet
 * @sent: bytes sent from this queue, up to and including the packet, counted as on the wire; modulo
 *	2^32
 * @time: ns; when the packet began to leave, modulo 2^32, by the port's clock
 */
struct roce_stamp {
	__be32 magic;
	__be16 port;
	__be16 load;
	__be32 mbps;
	__be32 queue;
	__be32 sent;
	__be32 time;
} __packed;

#endif /* _NET_ROCE_STAMP_H */
