/* SPDX-License-Identifier: GPL-2.0 */
/* What can be seen of a host within an interval, and around it. See facts.c. */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stdio.h>

#include "dev.h"
#include "sniff.h"
#include "step.h"

#define FACTS_QDISCS	16
#define FACTS_VLANS	16
#define FACTS_COUNTERS	64
#define FACTS_QPS	64
#define FACTS_GIDS	64
#define FACTS_WORD	64
#define FACTS_NEIGHS	64
#define FACTS_ROUTES	16

/* The moments at which counters are read: the interval, and some time before and after it */
enum fact_moment {
	FACTS_FIRST,
	FACTS_BEGIN,
	FACTS_END,
	FACTS_LAST,
	FACTS_MOMENTS,
};

struct fact_counter {
	char name[FACTS_WORD];
	uint64_t at[FACTS_MOMENTS];
};

struct fact_qdisc {
	char kind[FACTS_WORD];
	bool loses;		/* on purpose */
	bool ecn;		/* it marks */
	uint64_t before;	/* dropped so far */
	uint64_t after;
};

/* A VLAN on the network device */
struct fact_vlan {
	char ifname[DEV_NAME_LEN];
	unsigned int mapped;	/* priorities that its egress map has, one bit each */
};

/* A limited QP */
struct fact_qp {
	uint64_t qpn;
	uint64_t rate;
	uint64_t floor;
	uint64_t rtt;		/* ns; 0 where it is not measured */
};

/* A QP of a program that was in the state ERR all the time */
struct fact_failed_qp {
	uint64_t qpn;
	uint64_t pid;
	char program[FACTS_WORD];
};

/* What the routing table says about an address of the peer */
struct fact_route {
	struct in6_addr remote;
	struct in6_addr local;		/* the address that packets to it would have */
	int error;			/* of errno, or 0 */
};

struct fact_dev {
	char name[DEV_NAME_LEN];
	char ifname[DEV_NAME_LEN];
	bool sniffed;			/* packets were counted */
	bool has_link;			/* the next three are known */
	bool up;
	unsigned int mtu;
	bool cm_fails;			/* rdma_cm does not find it by any of its addresses */
	char master[DEV_NAME_LEN];	/* the bridge, bond or VRF that it is a port of; or empty */
	struct in6_addr neighs[FACTS_NEIGHS];	/* whose link-layer address is not known */
	int num_neighs;
	struct fact_failed_qp failed_qps[FACTS_QPS];
	int num_failed_qps;
	bool other_cc;			/* its flows obey another algorithm than DCQCN */
	bool has_settings;
	uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1];
	uint64_t line_rate;
	struct fact_counter counters[FACTS_COUNTERS];
	int num_counters;
	struct fact_qdisc qdiscs[FACTS_QDISCS];
	int num_qdiscs;
	struct fact_vlan vlans[FACTS_VLANS];
	int num_vlans;
	struct fact_qp qps[FACTS_QPS];
	int num_qps;
	struct in6_addr gids[FACTS_GIDS];	/* the addresses it sends from */
	int num_gids;
	struct tally tally;	/* of the interval */
	struct tally around;	/* and of the time around it */
	struct sniff sniff;
	struct fact_dev *next;
};

struct facts {
	char host[FACTS_WORD];
	bool module;
	uint64_t nsec;				/* the interval */
	uint64_t stall;				/* ns; the longest time without this program */
	bool apart;				/* the other host may not have watched in the interval */
	struct fact_counter net[FACTS_COUNTERS];	/* of IP and UDP */
	int num_net;
	struct fact_route routes[FACTS_ROUTES];
	int num_routes;
	struct fact_dev *devs;
};

/* ns; a host that stood still for longer has seen less of another one's time than the time around the interval */
#define FACTS_STALL_MAX	100000000ULL

bool facts_find(struct facts *facts, const char *name);
void facts_gather(struct facts *facts, uint64_t nsec,
		  const struct in6_addr *peers, int num_peers, struct step *step);

/* As text, in facts_text.c */
void facts_print(FILE *out, const struct facts *facts);
void facts_read(FILE *in, struct facts *facts);

/* For those who fill them in */
struct fact_dev *facts_add_dev(struct facts *facts, const char *name,
			       const char *ifname);
bool facts_usable(const char *name, const char *ifname);
void facts_add_vlan(struct fact_dev *dev, const char *ifname, unsigned int mapped);
struct fact_counter *facts_counter(struct fact_counter *counters, int *num,
				   const char *name);
void facts_copy(char *to, const char *from, size_t size);
bool facts_add_gid(struct fact_dev *dev, const char *text);

/* In the interval */
uint64_t facts_growth(const struct fact_dev *dev, const char *counter);
uint64_t facts_data(const struct fact_dev *dev, enum sniff_way way, int prio,
		    int ecn);
uint64_t facts_cnps(const struct fact_dev *dev, enum sniff_way way);

/* In the interval or around it */
uint64_t facts_net_around(const struct facts *facts, const char *counter);
uint64_t facts_growth_around(const struct fact_dev *dev, const char *counter);
uint64_t facts_data_around(const struct fact_dev *dev, enum sniff_way way,
			   int dscp, int ecn);
uint64_t facts_cnps_around(const struct fact_dev *dev, enum sniff_way way,
			   int dscp);

/* Since the device exists */
uint64_t facts_total(const struct fact_dev *dev, const char *counter);

uint64_t facts_count_around(const struct fact_dev *dev, enum sniff_count kind);
uint64_t facts_naks_around(const struct fact_dev *dev, enum sniff_nak nak);
bool facts_has_gid(const struct fact_dev *dev, const struct in6_addr *addr);
uint64_t facts_cnps_to(const struct fact_dev *dev, const struct fact_dev *to);

/* Whether all packets of @dev went to @peer, or came from it */
bool facts_all_with(const struct fact_dev *dev, enum sniff_way way, const struct fact_dev *peer);

#endif /* FACTS_H */
