/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a switch's port tells about the queue in which a RoCEv2 packet has waited.
 *
 * A sender that wants to know, and whose receiver reads it, puts a stamp without a port behind the
 * packet: behind the last byte of the IP datagram, in the same Ethernet frame. Each port that the
 * frame passes puts itself there if its load is higher than what is there already. So the stamp
 * that arrives is that of the worst hop.
 *
 * The datagram is not changed. Bytes behind it are padding for everybody else: hosts and routers
 * cut them off, as they do with the padding of short frames, and switches forward them. The ICRC
 * does not cover them. The length of the frame does not change on the way.
 */
#ifndef _NET_ROCE_STAMP_H
#define _NET_ROCE_STAMP_H

#include <linux/types.h>

#define ROCE_STAMP_MAGIC	0xa7c35401U	/* the last byte is the version */
#define ROCE_STAMP_LOAD_ONE	256U		/* @load of a full link without a queue */

/**
 * struct roce_stamp - a stamp, without alignment
 * @magic: ROCE_STAMP_MAGIC
 * @port: number of the port and class, random, not 0; 0 for no port yet
 * @load: by which ports compare themselves, in 1/ROCE_STAMP_LOAD_ONE: the share of the
 *	link that was used in the last microseconds, and the time that the queue takes, in units
 *	of 16.4 us
 * @mbps: Mb/s; rate at which the queue is emptied
 * @queue: bytes that wait behind the packet
 * @sent: bytes sent from this queue, up to and with the packet; modulo 2^32, as on the wire
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
