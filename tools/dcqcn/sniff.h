/* SPDX-License-Identifier: GPL-2.0 */
/* Counts RoCEv2 packets at a network device. See sniff.c. */
#ifndef SNIFF_H
#define SNIFF_H

#include <netinet/in.h>
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

/* Packets by DSCP and ECN */
struct tally {
	uint64_t data[SNIFF_WAYS][SNIFF_DSCPS][SNIFF_ECNS];
	uint64_t cnps[SNIFF_WAYS][SNIFF_DSCPS];
	struct sniff_cnps cnps_to[SNIFF_ADDRS];	/* up to the first count of 0 */
};

int sniff_open(unsigned int ifindex);
void sniff_count_to(struct tally *tally, const struct in6_addr *addr,
		    uint64_t count);
void sniff_read(int fd, struct tally *tally);

#endif /* SNIFF_H */
