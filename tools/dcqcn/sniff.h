/* SPDX-License-Identifier: GPL-2.0 */
/* What RoCEv2 packets look like on a network device. See sniff.c. */
#ifndef SNIFF_H
#define SNIFF_H

#include <stdint.h>

#define SNIFF_DSCPS	64

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

/* Packets by DSCP and ECN */
struct tally {
	uint64_t data[SNIFF_WAYS][SNIFF_DSCPS][SNIFF_ECNS];
	uint64_t cnps[SNIFF_WAYS][SNIFF_DSCPS];
};

int sniff_open(unsigned int ifindex);
void sniff_read(int fd, struct tally *tally);

#endif /* SNIFF_H */
