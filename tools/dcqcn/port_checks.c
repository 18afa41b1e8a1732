// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's checks of a switch, one function each. Only classes that have carried
 * packets are checked: an unused class does no harm.
 */
#include <stdio.h>
#include <sys/param.h>

#include "dcbx_checks.h"
#include "finding.h"
#include "growth.h"
#include "port_checks.h"
#include "unit.h"

/* The default DSCP of CNPs, and the priority that it is in the upper bits */
#define CNP_DSCP	48
#define CNP_PRIO	6
#define CNP_LEN		74	/* bytes */

/* Bytes for each unit of weight and turn, as in the module's drr.h */
#define QUANTUM		64

/* Bytes that may go before a CNP: four of RoCE's largest frames */
#define CNP_WAIT	(4 * 4170)

/* Percent of the interval; PFC is meant for shorter pauses */
#define PAUSED_LONG	50

#define ETHERNET	14	/* bytes of a header */
#define PFC_FRAME	84	/* bytes on the wire */
#define DEFAULT_MTU	1500

typedef unsigned long long ull;

/* The arguments of all checks */
struct view {
	const struct port_facts *facts;
	const struct fact_port *port;
	const struct fact_switch *owner;
	const char *host;
};

static uint64_t port_value(const struct view *v, int attr)
{
	return v->port->value[attr];
}

static uint64_t class_value(const struct view *v, int tc, int attr)
{
	return v->port->class[tc].after[attr];
}

static uint64_t class_growth(const struct view *v, int tc, int attr)
{
	return growth(v->port->class[tc].before[attr], v->port->class[tc].after[attr]);
}

static bool class_used(const struct view *v, int tc)
{
	return class_value(v, tc, DCBPORT_A_CLASS_IN_PACKETS);
}

static int class_of(const struct view *v, int prio)
{
	return class_value(v, prio, DCBPORT_A_CLASS_TC) % PORT_CLASSES;
}

/* A priority with PFC that is in the class, or -1 */
static int class_pfc(const struct view *v, int tc)
{
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		if (port_value(v, DCBPORT_A_PORT_PFC) & 1U << prio &&
		    class_of(v, prio) == tc)
			return prio;
	}
	return -1;
}

/* --- storms and pauses ---------------------------------------------------- */

static void check_pauses(const struct view *v, int prio, uint64_t nsec)
{
	int tc = class_of(v, prio);
	uint64_t paused = class_growth(v, prio,
				       DCBPORT_A_CLASS_RX_PAUSE_DURATION);
	uint64_t percent = MIN(paused * 100000 / MAX(nsec, 1), 100);
	uint64_t others = port_value(v, DCBPORT_A_PORT_PFC) & ~(1ULL << prio);
	char prios[UNIT_LEN];

	if (class_value(v, tc, DCBPORT_A_CLASS_STORM) ||
	    class_growth(v, tc, DCBPORT_A_CLASS_STORMS)) {
		finding_seen("pause-storm", v->host, v->port->name,
			     "PFC storm on priority %d: %llu PFC frames came in meanwhile",
			     prio, (ull)class_growth(v, prio,
						     DCBPORT_A_CLASS_RX_PAUSE));
		finding_why("the device at the other end never ends its pauses: a broken card, or a switch that is stuck itself");
		finding_fix("dcqcn port set dev %s pfc %s  # until that device is repaired",
			    v->port->name, unit_prios(prios, others));
		return;
	}
	if (percent < PAUSED_LONG)
		return;
	finding_seen("paused", v->host, v->port->name,
		     "priority %d was paused for %llu %% of the time", prio,
		     (ull)percent);
	finding_why("the other end runs out of room: it marks too late, or its own next hop pauses it; everything with this priority waits");
	finding_fix("dcqcn doctor  # at the other end: Kmin and Kmax must be well below xOFF, and senders must answer marks");
}

/* --- marks ---------------------------------------------------------------- */

/* The most bytes that the class can ever hold */
static uint64_t class_reach(const struct view *v, int tc)
{
	uint64_t limit = class_value(v, tc, DCBPORT_A_CLASS_LIMIT);
	uint64_t ports, alpha, pool, own, each, xoff;
	int pfc = class_pfc(v, tc), prio = pfc < 0 ? tc : pfc;
	bool lossless = pfc >= 0;

	if (!v->owner)
		return limit;
	ports = v->owner->value[DCBPORT_A_SWITCH_PORTS];
	alpha = class_value(v, prio, DCBPORT_A_CLASS_ALPHA) ?:
		v->owner->value[DCBPORT_A_SWITCH_ALPHA];
	pool = lossless ? v->owner->value[DCBPORT_A_SWITCH_SIZE] -
			  v->owner->value[DCBPORT_A_SWITCH_ROOM] :
			  v->owner->value[DCBPORT_A_SWITCH_LOSSY];
	own = lossless ? class_value(v, prio, DCBPORT_A_CLASS_RESERVE) +
			 class_value(v, prio, DCBPORT_A_CLASS_HEADROOM) : 0;
	/* alpha * pool / (1 + alpha * ports) for each of them */
	each = alpha ? pool * alpha / (DCBPORT_ALPHA_ONE + alpha * ports) :
		       pool;
	xoff = lossless ? class_value(v, prio, DCBPORT_A_CLASS_XOFF) : 0;
	if (xoff)
		each = MIN(each, xoff);
	return MIN(limit, ports * (each + own));
}

static void check_reach(const struct view *v, int tc)
{
	uint64_t kmin = class_value(v, tc, DCBPORT_A_CLASS_KMIN);
	uint64_t reach = class_reach(v, tc);
	char a[UNIT_LEN], b[UNIT_LEN];

	if (!class_value(v, tc, DCBPORT_A_CLASS_KMAX) || kmin < reach)
		return;
	finding_seen("no-marks", v->host, v->port->name,
		     "Kmin of class %d is %s, but the class can hold at most %s",
		     tc, unit_bytes(a, kmin), unit_bytes(b, reach));
	finding_why("packets are lost, or senders paused, before any packet is marked: senders never slow down in time");
	finding_fix("dcqcn port set dev %s prio %d kmin %lluB kmax %lluB",
		    v->port->name, tc, (ull)reach / 10, (ull)reach / 2);
}

static void check_ecn(const struct view *v, int tc)
{
	int prio = class_pfc(v, tc);

	if (prio < 0 || !v->owner ||
	    class_value(v, tc, DCBPORT_A_CLASS_KMAX))
		return;
	finding_seen("pfc-without-ecn", v->host, v->port->name,
		     "priority %d has PFC, but class %d marks nothing", prio, tc);
	finding_why("only pauses slow senders down; they stop all traffic of the priority, and spread upstream");
	finding_fix("dcqcn port set dev %s prio %d kmin 5KB kmax 200KB pmax 1%%",
		    v->port->name, tc);
}

/* --- the buffer ----------------------------------------------------------- */

static uint64_t frame_len(const struct view *v)
{
	unsigned int mtu = DEFAULT_MTU;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", v->port->name);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%u", &mtu) != 1)
			mtu = DEFAULT_MTU;
		fclose(f);
	}
	return mtu + ETHERNET + port_value(v, DCBPORT_A_PORT_OVERHEAD);
}

static bool has_pfc(const struct view *v, int prio)
{
	return port_value(v, DCBPORT_A_PORT_PFC) & 1U << prio;
}

/* The smallest headroom of priorities with PFC, or the largest */
static uint64_t headroom(const struct view *v, bool largest)
{
	uint64_t found = largest ? 0 : UINT64_MAX, one;

	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		one = class_value(v, prio, DCBPORT_A_CLASS_HEADROOM);
		if (has_pfc(v, prio))
			found = largest ? MAX(found, one) : MIN(found, one);
	}
	return found;
}

/* A priority that has enough keeps what it has */
static void fix_headroom(const struct view *v, uint64_t need)
{
	char keys[PORT_CLASSES * sizeof(" prio 7 headroom 4294967295B")] = "", *at = keys;

	if (headroom(v, true) < need) {
		finding_fix("dcqcn port set dev %s headroom %lluB", v->port->name, (ull)need);
		return;
	}
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		if (has_pfc(v, prio) && class_value(v, prio, DCBPORT_A_CLASS_HEADROOM) < need)
			at += snprintf(at, keys + sizeof(keys) - at, " prio %d headroom %lluB",
				       prio, (ull)need);
	}
	finding_fix("dcqcn port set dev %s%s", v->port->name, keys);
}

/* Two frames, the pause frame, and what is in flight in both directions */
static void check_headroom(const struct view *v)
{
	uint64_t room = headroom(v, false);
	uint64_t need = 2 * frame_len(v) + PFC_FRAME +
			(uint64_t)(2.0 * port_value(v, DCBPORT_A_PORT_RATE) *
				   port_value(v, DCBPORT_A_PORT_DELAY) / 8e9);
	char a[UNIT_LEN], b[UNIT_LEN];

	if (!v->owner || !port_value(v, DCBPORT_A_PORT_PFC) || room >= need)
		return;
	finding_seen("headroom-short", v->host, v->port->name,
		     "the headroom is %s; this link needs %s",
		     unit_bytes(a, room), unit_bytes(b, need));
	finding_why("after a pause is sent, two frames and everything in flight still arrive; what exceeds the headroom is lost");
	fix_headroom(v, need);
}

/* --- classes -------------------------------------------------------------- */

static void check_trust(const struct view *v)
{
	if (port_facts_trusts_dscp(v->port))
		return;
	finding_seen("dscp-untrusted", v->host, v->port->name,
		     "the DSCP is not trusted: all packets%s have one priority",
		     port_value(v, DCBPORT_A_PORT_TRUST) == DCBPORT_TRUST_PCP ?
		     " without a VLAN tag" : "");
	finding_why("CNPs wait behind data, and PFC stops everything at once");
	finding_fix("dcqcn port set dev %s trust dscp", v->port->name);
}

/* Bytes of other classes that may go before a CNP in deficit round robin */
static uint64_t cnp_wait(const struct view *v, int tc)
{
	uint64_t own = class_value(v, tc, DCBPORT_A_CLASS_WEIGHT) * QUANTUM;
	uint64_t others = 0;

	for (int c = 0; c < PORT_CLASSES; c++) {
		if (c != tc && class_used(v, c))
			others += class_value(v, c, DCBPORT_A_CLASS_WEIGHT) *
				  QUANTUM;
	}
	return own ? others * ((CNP_LEN + own - 1) / own) : 0;
}

/* An APP entry is a fix only if CNPs have another priority than CNP_PRIO. The first entry of a
 * DSCP takes all other DSCPs from their priorities.
 */
static void fix_cnp_pauses(const struct view *v, int prio)
{
	uint64_t pfc = port_value(v, DCBPORT_A_PORT_PFC);
	char prios[UNIT_LEN];

	if (prio != CNP_PRIO)
		finding_fix("dcb app replace dev %s dscp-prio %d:%d  # a class without PFC",
			    v->port->name, CNP_DSCP, CNP_PRIO);
	else if (pfc & 1U << prio)
		finding_fix("dcqcn port set dev %s pfc %s  # all but that of CNPs", v->port->name,
			    unit_prios(prios, pfc & ~(1ULL << prio)));
	else
		finding_fix("dcqcn port set dev %s prio %d tc %d  # a class without PFC",
			    v->port->name, prio, prio);
}

static void check_cnp_pauses(const struct view *v, int prio, int tc)
{
	if (class_pfc(v, tc) < 0)
		return;
	finding_seen("cnp-lossless", v->host, v->port->name,
		     "CNPs (DSCP %d, priority %d) are in class %d, which PFC pauses",
		     CNP_DSCP, prio, tc);
	finding_why("the packets that slow senders down wait while the class is paused, and pauses spread instead");
	fix_cnp_pauses(v, prio);
}

static void check_cnps(const struct view *v)
{
	int prio = dcb_prio(&v->port->app, CNP_DSCP), tc = class_of(v, prio);
	char wait[UNIT_LEN], strict[UNIT_LEN];

	/* check_trust() has reported an untrusted DSCP */
	if (!class_used(v, tc) || !port_facts_trusts_dscp(v->port))
		return;
	check_cnp_pauses(v, prio, tc);
	if (port_value(v, DCBPORT_A_PORT_STRICT) & 1U << tc ||
	    cnp_wait(v, tc) < CNP_WAIT)
		return;
	finding_seen("cnp-starved", v->host, v->port->name,
		     "CNPs (priority %d) are in class %d, which is not strict: %s of other data may go before one",
		     prio, tc, unit_bytes(wait, cnp_wait(v, tc)));
	finding_why("the packets that slow senders down wait behind the data that is sent too fast");
	finding_fix("dcqcn port set dev %s strict %s", v->port->name,
		    unit_prios(strict, port_value(v, DCBPORT_A_PORT_STRICT) |
				1U << tc));
}

static void check_port(const struct view *v, uint64_t nsec)
{
	check_trust(v);
	dcbx_checks(v->port, v->host);
	check_cnps(v);
	check_headroom(v);
	for (int i = 0; i < PORT_CLASSES; i++) {
		if (!class_used(v, i))
			continue;
		check_reach(v, i);
		check_ecn(v, i);
	}
	for (int prio = 0; prio < PORT_CLASSES; prio++) {
		if (port_value(v, DCBPORT_A_PORT_PFC) & 1U << prio)
			check_pauses(v, prio, nsec);
	}
}

/* Everything that the ports of a host show within @nsec */
void port_checks(const struct port_facts *facts, const char *host,
		 uint64_t nsec)
{
	for (int i = 0; i < facts->num; i++) {
		struct view v = {
			.facts = facts,
			.port = &facts->port[i],
			.owner = port_facts_owner(facts, &facts->port[i]),
			.host = host,
		};

		check_port(&v, nsec);
	}
}
