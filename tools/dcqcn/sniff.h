/* SPDX-License-Identifier: GPL-2.0 */
/* Counts RoCEv2 packets at a network device. See sniff.c. */
#ifndef SNIFF_H
#define SNIFF_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define SNIFF_DSCPS	64

/* Addresses that CNPs go to; CNPs to any more are not in cnps_to */
#define SNIFF_ADDRS	64

enum sniff_ecn {
	SNIFF_NOT_ECT,
	SNIFF_ECT_1,
	SNIFF_ECT_0,
	SNIFF_CE,
	SNIFF_ECNS,
};

enum sniff_way {
	SNIFF_IN,
	SNIFF_OUT,
	SNIFF_WAYS,
};

/* CNPs that left for an address, which is v4-mapped for IPv4 as in a GID */
struct sniff_cnps {
	struct in6_addr addr;
	uint64_t count;
};

/* Packets are counted by the length of the IP packet: up to the first of these sizes that it
 * does not exceed. They are also the sizes of probes: the headers and payloads of RoCE's MTUs,
 * and what is left of an Ethernet frame by common tunnels.
 */
#define SNIFF_SIZES	10

extern const uint16_t sniff_sizes[SNIFF_SIZES];

/* Packets between two addresses */
struct sniff_flow {
	struct in6_addr local, remote;
	uint64_t packets[SNIFF_WAYS][SNIFF_SIZES];
	uint64_t probes[SNIFF_WAYS][SNIFF_SIZES];	/* of doctors */
	uint64_t asks;		/* requests that left and want an ACK */
};

/* Why a packet was refused, by the AETH of its answer */
enum sniff_nak {
	SNIFF_NAK_SEQ,
	SNIFF_NAK_INVALID,
	SNIFF_NAK_ACCESS,
	SNIFF_NAK_OPERATION,
	SNIFF_NAK_RNR,
	SNIFF_NAKS,
};

/* What does not fit into the tables of packets by DSCP, address or kind */
enum sniff_count {
	SNIFF_BYTES_OUT,	/* of data */
	SNIFF_V1_IN,		/* RoCE v1 frames */
	SNIFF_ICRC_LOOKED,	/* data packets that came in and whose ICRC was computed */
	SNIFF_ICRC_WRONG,
	SNIFF_CM_REFUSED,	/* connection requests that were refused by the peer */
	SNIFF_CM_REASON,	/* of the last one */
	SNIFF_ACKED,		/* requests that left and were waited for, and their ACK came */
	SNIFF_REPEATED,		/* of these, sent again before it came */
	SNIFF_REPEAT_NS,	/* after this time; the shortest */
	SNIFF_ACK_NS,		/* the time the ACK took; the longest of those sent again */
	SNIFF_BACK,		/* times that requests of a QP came in further back than before */
	SNIFF_OVERTAKEN,	/* of these, they then went on where they had been */
	SNIFF_COUNTS,
};

/* Packets by DSCP and ECN, and more */
struct tally {
	uint64_t data[SNIFF_WAYS][SNIFF_DSCPS][SNIFF_ECNS];
	uint64_t cnps[SNIFF_WAYS][SNIFF_DSCPS];
	struct sniff_cnps cnps_to[SNIFF_ADDRS];	/* up to the first count of 0 */
	struct sniff_flow flows[SNIFF_ADDRS];
	int num_flows;
	uint64_t naks[SNIFF_WAYS][SNIFF_NAKS];
	uint64_t counts[SNIFF_COUNTS];
};

/* A request that left and whose ACK is waited for, one at a time */
struct sniff_ask {
	bool waits;
	struct in6_addr to;
	uint32_t qpn, psn;
	uint64_t left, repeated;	/* ns; repeated: 0 if it was not sent again */
};

/* Requests that come in for a QP, one QP at a time */
struct sniff_order {
	struct in6_addr from;
	uint32_t qpn, newest;	/* newest: PSN */
	bool back;		/* the last packet was an older one */
	uint64_t last;		/* ns; when that was */
};

struct sniff {
	int fd;
	uint64_t seen;
	struct sniff_ask ask;
	struct sniff_order order;
};

bool sniff_open(struct sniff *sniff, unsigned int ifindex);
void sniff_close(struct sniff *sniff);
void sniff_read(struct sniff *sniff, struct tally *tally);
void sniff_count_to(struct tally *tally, const struct in6_addr *addr,
		    uint64_t count);
struct sniff_flow *sniff_flow(struct tally *tally, const struct in6_addr *local,
			      const struct in6_addr *remote);
int sniff_size(size_t len);

#endif /* SNIFF_H */
