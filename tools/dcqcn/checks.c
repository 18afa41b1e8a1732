// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's checks of the control loop, one function each: at a sender (ECT,
 * reaction point), at a receiver (marks, notification point), on the path between
 * two hosts, and around them. They come after those in transfer_checks.c.
 */
#include <string.h>
#include <sys/param.h>

#include "checks.h"
#include "finding.h"
#include "growth.h"
#include "transfer_checks.h"
#include "unit.h"

#define PRIOS		8
#define ALL_PRIOS	0xff

#define KNOB(_dev, _name) ((_dev)->settings[RDMA_DCQCN_A_SETTINGS_##_name])

/* Packets that rxe sends: if so many do not pass its network device, they are looped back */
#define LOOPBACK_PACKETS	100

/* With this rpg_gd or more, alpha * 1024 / 2^rpg_gd is a cut of 1/16 or less */
#define GD_WEAK		14

/* A cut leaves at least this, in percent */
#define DEC_FAC_WEAK	90

#define BPS_PER_MBPS	1000000ULL
#define NSEC_PER_USEC	1000ULL
#define NSEC_PER_MSEC	1000000ULL

/* us; the longest dce_tcp_rtt */
#define ALPHA_PERIOD_MAX	131071U

/* Data leaves so much faster than the line rate, measured over so many packets */
#define LINE_EXCEEDED	1.25
#define ENOUGH_TO_JUDGE	100

#define BITS		8	/* in a byte */
#define NSEC_PER_SEC	1000000000.0

typedef unsigned long long ull;

/* The first priority with data that is not enabled, or -1 */
static int prio_off(const struct fact_dev *dev, enum sniff_way way,
		    uint32_t enabled)
{
	for (int prio = 0; prio < PRIOS; prio++) {
		if (!(enabled & 1U << prio) &&
		    facts_data(dev, way, prio, -1))
			return prio;
	}
	return -1;
}

static void check_module(const struct facts *facts, const struct fact_dev *dev,
			 const struct facts *peer)
{
	bool one_side = peer && peer->module;

	if (facts->module)
		return;
	finding_seen(one_side ? "one-side" : "no-module", facts->host, dev->name,
		     "rdma_dcqcn is not loaded%s; %llu packets came in with CE, %llu data packets left without ECT",
		     one_side ? " here, but on the other host" : "",
		     (ull)facts_data(dev, SNIFF_IN, -1, SNIFF_CE),
		     (ull)facts_data(dev, SNIFF_OUT, -1, SNIFF_NOT_ECT));
	finding_why("without it, marks are not answered with CNPs, CNPs are not obeyed, and switches drop data instead of marking it");
	finding_fix("modprobe rdma_dcqcn");
}

/* --- the sender ------------------------------------------------------------ */

static bool check_rp_prio(const struct facts *facts, const struct fact_dev *dev)
{
	int prio = prio_off(dev, SNIFF_OUT, KNOB(dev, RP_ENABLE));
	char prios[UNIT_LEN];

	if (prio < 0)
		return false;
	finding_seen("rp-off", facts->host, dev->name,
		     "%llu data packets left with priority %d, for which the reaction point is off%s",
		     (ull)facts_data(dev, SNIFF_OUT, prio, -1), prio,
		     KNOB(dev, RP_ENABLE) ? "; it is on for others" : "");
	finding_why("packets of that priority (DSCP >> 3) are not made ECT, and CNPs do not slow them down");
	finding_fix("dcqcn set dev %s rp_enable %s", dev->name,
		    unit_prios(prios, KNOB(dev, RP_ENABLE) | 1U << prio));
	return true;
}

static void check_ect(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t not_ect = facts_data(dev, SNIFF_OUT, -1, SNIFF_NOT_ECT);

	if (!not_ect)
		return;
	finding_seen("not-ect", facts->host, dev->name,
		     "%llu of %llu data packets left %s without ECT, though the reaction point is on for their priority",
		     (ull)not_ect, (ull)facts_data(dev, SNIFF_OUT, -1, -1),
		     dev->ifname);
	finding_why("a switch drops such packets where it would mark others; something on this host clears the bits after the module has set them");
	finding_fix("tc filter show dev %s egress; nft list ruleset  # which of them clears ECT?",
		    dev->ifname);
}

/* CNPs that arrive at the device, but have no effect */
static void check_cnps_in(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t in = facts_cnps(dev, SNIFF_IN);
	uint64_t handled = facts_growth_around(dev, "rp_cnp_handled");
	uint64_t ignored = facts_growth_around(dev, "rp_cnp_ignored");

	if (!in || handled)
		return;
	if (!ignored) {
		finding_seen("cnp-filtered", facts->host, dev->name,
			     "%llu CNPs arrived on %s, none reached the module",
			     (ull)in, dev->ifname);
		finding_why("senders are not slowed down; usually a firewall drops UDP port 4791");
		finding_fix("nft insert rule inet filter input udp dport 4791 accept");
		return;
	}
	finding_seen("cnp-ignored", facts->host, dev->name,
		     "%llu CNPs arrived, all were ignored", (ull)in);
	finding_why("they are for priorities whose reaction point is off (rp_enable is 0x%02x), are not from the QP's peer, or have a wrong ICRC",
		    KNOB(dev, RP_ENABLE));
	if (KNOB(dev, RP_ENABLE) == ALL_PRIOS)
		finding_fix("trace-cmd stream -e rdma_dcqcn:dcqcn_cnp_received  # says why, for each CNP");
	else
		finding_fix("dcqcn set dev %s rp_enable all", dev->name);
}

/* Knobs with which a CNP cuts nothing, or almost nothing. The first two are of DCQCN alone. */
static void check_cut(const struct facts *facts, const struct fact_dev *dev)
{
	char line[UNIT_LEN];

	if (!dev->other_cc && KNOB(dev, RPG_MIN_DEC_FAC) >= DEC_FAC_WEAK) {
		finding_seen("no-cut-min-dec-fac", facts->host, dev->name,
			     "rpg_min_dec_fac is %u%%",
			     KNOB(dev, RPG_MIN_DEC_FAC));
		finding_why("a cut leaves at least that share of the rate, so CNPs hardly slow anything down");
		finding_fix("dcqcn set dev %s rpg_min_dec_fac 50%%",
			    dev->name);
	}
	if (!dev->other_cc && KNOB(dev, RPG_GD) >= GD_WEAK) {
		finding_seen("no-cut-gd", facts->host, dev->name, "rpg_gd is %u",
			     KNOB(dev, RPG_GD));
		finding_why("a cut takes alpha * 1024 / 2^%u of the rate, at most 1/%u; with 11 it is up to half",
			    KNOB(dev, RPG_GD),
			    1U << MIN(KNOB(dev, RPG_GD) - 10, 31U));	/* another host says it */
		finding_fix("dcqcn set dev %s rpg_gd 11", dev->name);
	}
	if (KNOB(dev, RPG_MIN_RATE) * BPS_PER_MBPS >= dev->line_rate) {
		finding_seen("no-cut-min-rate", facts->host, dev->name,
			     "rpg_min_rate is %umbit, the line rate %s",
			     KNOB(dev, RPG_MIN_RATE),
			     unit_rate(line, dev->line_rate));
		finding_why("a rate never falls below rpg_min_rate, so no CNP can slow a QP down");
		finding_fix("dcqcn set dev %s rpg_min_rate 1mbit", dev->name);
	}
}

/* A line rate below what the device really sends: at this rate limiters end, so none stays */
static void check_line(const struct facts *facts, const struct fact_dev *dev)
{
	double sent = facts->nsec ? dev->tally.counts[SNIFF_BYTES_OUT] * BITS * NSEC_PER_SEC /
				    (double)facts->nsec : 0;
	char line[UNIT_LEN], rate[UNIT_LEN];

	if (!dev->line_rate || sent < LINE_EXCEEDED * dev->line_rate ||
	    KNOB(dev, RPG_MIN_RATE) * BPS_PER_MBPS >= dev->line_rate ||
	    facts_data(dev, SNIFF_OUT, -1, -1) < ENOUGH_TO_JUDGE)
		return;
	finding_seen("line-too-low", facts->host, dev->name,
		     "%s sends %s, but its line rate is %s%s", dev->ifname,
		     unit_rate(rate, sent), unit_rate(line, dev->line_rate),
		     KNOB(dev, RPG_MAX_RATE) ? " (rpg_max_rate)" : " (what the device claims)");
	finding_why("a limiter ends when its rate reaches the line rate: with a line rate that is far too low, QPs are limited only briefly");
	finding_fix("dcqcn set dev %s rpg_max_rate %lluMbit  # or what the link really has", dev->name,
		    (ull)(sent / BPS_PER_MBPS) + 1);
}

/* Limited QPs that the pacer must send faster than their rate */
static void check_floor(const struct facts *facts, const struct fact_dev *dev)
{
	char rate[UNIT_LEN], floor[UNIT_LEN];

	for (int i = 0; i < dev->num_qps; i++) {
		const struct fact_qp *qp = &dev->qps[i];

		if (qp->floor <= qp->rate ||
		    qp->floor <= KNOB(dev, RPG_MIN_RATE) * BPS_PER_MBPS)
			continue;
		finding_seen("ack-timeout-floor", facts->host, dev->name,
			     "QP %llu has a rate of %s but sends at its floor of %s",
			     (ull)qp->qpn, unit_rate(rate, qp->rate),
			     unit_rate(floor, qp->floor));
		finding_why("requests must follow each other within half of the QP's ACK timeout, or rxe sends them again: the QP cannot be slowed down further");
		finding_fix("ib_write_bw -u 18 -m 1024  # a longer ACK timeout, or a smaller MTU");
		return;
	}
}

/* A timer that was set by hand and is shorter than the measured round trip */
static void check_timer(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t period = KNOB(dev, RPG_TIME_RESET);

	for (int i = 0; i < dev->num_qps; i++) {
		const struct fact_qp *qp = &dev->qps[i];

		if (dev->other_cc || !period || period * NSEC_PER_USEC >= qp->rtt)
			continue;
		finding_seen("knob-overrides", facts->host, dev->name,
			     "rpg_time_reset is %lluus, a round trip of QP %llu takes %lluus",
			     (ull)period, (ull)qp->qpn,
			     (ull)(qp->rtt / NSEC_PER_USEC));
		finding_why("rates rise before a mark can say that they are too high");
		finding_fix("dcqcn set dev %s rpg_time_reset 0us  # follows the round trip",
			    dev->name);
		return;
	}
}

/* --- the receiver ---------------------------------------------------------- */

static bool check_np_prio(const struct facts *facts, const struct fact_dev *dev)
{
	int prio = prio_off(dev, SNIFF_IN, KNOB(dev, NP_ENABLE));
	char prios[UNIT_LEN];

	if (prio < 0)
		return false;
	finding_seen("np-off", facts->host, dev->name,
		     "%llu data packets, %llu of them with CE, came in with priority %d, for which the notification point is off%s",
		     (ull)facts_data(dev, SNIFF_IN, prio, -1),
		     (ull)facts_data(dev, SNIFF_IN, prio, SNIFF_CE), prio,
		     KNOB(dev, NP_ENABLE) ? "; it is on for others" : "");
	finding_why("marks of that priority (DSCP >> 3) are not answered, so their senders do not slow down");
	finding_fix("dcqcn set dev %s np_enable %s", dev->name,
		    unit_prios(prios, KNOB(dev, NP_ENABLE) | 1U << prio));
	return true;
}

static void check_answer(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t seen = facts_growth(dev, "np_ecn_marked_roce_packets");
	/* only data: the counter includes marked ACKs and CNPs, which are not answered */
	uint64_t ce = facts_data(dev, SNIFF_IN, -1, SNIFF_CE);
	uint64_t sent = facts_growth_around(dev, "np_cnp_sent");
	uint64_t icrc = facts_growth_around(dev, "np_icrc_errors");
	uint64_t errors = facts_growth_around(dev, "np_cnp_errors");

	if (icrc && !facts_count_around(dev, SNIFF_ICRC_WRONG)) {
		finding_seen("icrc-errors", facts->host, dev->name,
			     "%llu packets with CE had a wrong ICRC",
			     (ull)icrc);
		finding_why("they are not answered; something on the path rewrites more of the packet than DSCP, ECN and TTL");
		finding_fix("nft list ruleset; tc filter show dev %s ingress  # which of them rewrites it?",
			    dev->ifname);
	}
	if (errors) {
		finding_seen("cnp-errors", facts->host, dev->name,
			     "%llu CNPs could not be sent", (ull)errors);
		finding_why("there is no route to the sender, or this host's own firewall or qdisc drops them");
		finding_fix("ip route get ADDRESS oif %s; tc -s qdisc show dev %s  # ADDRESS: the sender's",
			    dev->ifname, dev->ifname);
	}
	/* feedback tells a context of marks, and takes the place of CNPs */
	if (KNOB(dev, CCC_ALGORITHMS) && facts_growth_around(dev, "np_feedback_sent"))
		return;
	if (!ce || sent || icrc || errors)
		return;
	finding_seen("ce-unanswered", facts->host, dev->name,
		     "%llu packets came in with CE, the module saw %llu of them and sent no CNP",
		     (ull)ce, (ull)seen);
	finding_why("senders are not slowed down; a mark is answered only if it comes from the QP's own peer");
	finding_fix("nft list ruleset; rdma resource show qp link %s/1  # is the sender the peer of a QP?",
		    dev->name);
}

/* Packets that are lost before they are marked. The receiver knows best; a sender
 * sees NAKs, but no marks.
 */
static void check_loss(const struct facts *facts, const struct fact_dev *dev,
		       const struct facts *peer)
{
	uint64_t gaps = facts_growth(dev, "out_of_seq_request");
	uint64_t naks = peer ? 0 : facts_growth(dev, "rcvd_seq_err");

	/* what follows a packet for which nothing was ready makes a gap, too, as does one that is late */
	if (facts_naks_around(dev, SNIFF_NAK_RNR) || transfer_checks_overtaken(dev))
		return;
	if ((!gaps || facts_data_around(dev, SNIFF_IN, -1, SNIFF_CE)) &&
	    (!naks || facts_cnps_around(dev, SNIFF_IN, -1)))
		return;
	finding_seen("loss-without-marks", facts->host, dev->name,
		     "%llu gaps in received data, %llu NAKs for gaps, but no CE and no CNP",
		     (ull)gaps, (ull)naks);
	finding_why("the switch drops before it marks: it does not mark at all, its thresholds are above its buffer, or packets do not reach it as ECT");
	finding_fix("tc qdisc replace dev PORT parent 1:1 red limit 300000 min 10000 max 100000 avpkt 1000 burst 11 probability 0.1 bandwidth 48mbit ecn nodrop  # at the switch");
}

/* Packets that arrive without ECT, when nothing is known about the sender */
static void check_ect_in(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t not_ect = facts_data(dev, SNIFF_IN, -1, SNIFF_NOT_ECT);

	if (!not_ect)
		return;
	finding_seen("not-ect-in", facts->host, dev->name,
		     "%llu of %llu data packets came in without ECT",
		     (ull)not_ect, (ull)facts_data(dev, SNIFF_IN, -1, -1));
	finding_why("the sender has no reaction point for them, or something on the path clears the ECN bits; switches drop them instead of marking");
	finding_fix("dcqcn doctor --peer SENDER  # which of them is it?");
}

/* --- around ---------------------------------------------------------------- */

static bool paces_or_marks(const struct fact_qdisc *qdisc)
{
	static const char * const kinds[] = {
		"fq", "fq_codel", "fq_pie", "codel", "pie", "cake", "dualpi2",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(qdisc->kind, kinds[i]))
			return true;
	}
	return qdisc->ecn;
}

static void check_qdisc(const struct facts *facts, const struct fact_dev *dev)
{
	const struct fact_qdisc *host = NULL;
	int n = 0;

	for (int i = 0; i < dev->num_qdiscs; i++) {
		const struct fact_qdisc *qdisc = &dev->qdiscs[i];

		if (paces_or_marks(qdisc)) {
			host = qdisc;
			n++;
		}
		if (!qdisc->loses && !growth(qdisc->before, qdisc->after))
			continue;
		finding_seen("lossy-qdisc", facts->host, dev->name,
			     "qdisc %s of %s %sdropped %llu packets meanwhile",
			     qdisc->kind, dev->ifname,
			     qdisc->loses ? "is set to lose packets, and " : "",
			     (ull)growth(qdisc->before, qdisc->after));
		finding_why("a loss on the host itself costs a retransmission, and from Linux 6.12 on it stops the QP");
		finding_fix("tc qdisc replace dev %s root pfifo limit 10000",
			    dev->ifname);
	}
	if (!host)
		return;
	finding_seen("host-qdisc", facts->host, dev->name, "%s has %s%s", dev->ifname,
		     host->kind, n > 1 ? " on each of its queues" : "");
	finding_why("it marks or paces on the host itself, so the module does not control the rate alone");
	finding_fix("tc qdisc replace dev %s root pfifo limit 10000",
		    dev->ifname);
}

static void check_loopback(const struct facts *facts,
			   const struct fact_dev *dev)
{
	uint64_t sent = facts_growth(dev, "sent_pkts");

	if (!dev->sniffed || sent < LOOPBACK_PACKETS ||
	    facts_data_around(dev, SNIFF_OUT, -1, -1) ||
	    facts_data_around(dev, SNIFF_IN, -1, -1))
		return;
	finding_seen("loopback", facts->host, dev->name,
		     "rxe sent %llu packets, but no data packet passed %s",
		     (ull)sent, dev->ifname);
	finding_why("traffic of a host to itself stays inside rxe: it is neither marked nor limited");
	finding_fix("# run the other end on another host or in another VM");
}

/* The PCP of CNPs, where the kernel writes the tag. NICs need no map for it. */
static void check_vlans(const struct facts *facts, const struct fact_dev *dev)
{
	uint32_t prio = KNOB(dev, CNP_802P_PRIO);

	for (int i = 0; prio && i < dev->num_vlans; i++) {
		const char *vlan = dev->vlans[i].ifname;

		if (dev->vlans[i].mapped >> prio & 1)
			continue;
		finding_seen("cnp-pcp", facts->host, dev->name,
			     "the egress map of %s has no entry for priority %u (cnp_802p_prio)",
			     vlan, prio);
		finding_why("CNPs leave with PCP 0 in their VLAN tag, where switches that trust the PCP put them behind everything else");
		finding_fix("ip link set dev %s type vlan egress-qos-map %u:%u", vlan, prio, prio);
		return;
	}
}

/* --- from here to there ---------------------------------------------------- */

static void check_interval(const struct facts *from,
			   const struct fact_dev *sender,
			   const struct facts *to,
			   const struct fact_dev *receiver)
{
	uint32_t gap = KNOB(receiver, MIN_TIME_BETWEEN_CNPS);
	uint32_t period = KNOB(sender, DCE_TCP_RTT);

	/* 0: follows the round trip */
	if (sender->other_cc || !period || gap < period)
		return;
	finding_seen("cnp-interval", from->host, sender->name,
		     "alpha decays every %uus (dce_tcp_rtt), but min_time_between_cnps of %s is %uus%s",
		     period, to->host, gap,
		     from == to ? ", and its receivers probably have the same" : "");
	finding_why("under steady congestion alpha has decayed before the next CNP arrives, so cuts get smaller and smaller");
	finding_fix("dcqcn set dev %s dce_tcp_rtt %uus  # or dcqcn profile apply auto",
		    sender->name, MIN(gap * 10, ALPHA_PERIOD_MAX));
}

static void check_ecn_cleared(const struct fact_dev *sender,
			      const struct facts *to,
			      const struct fact_dev *receiver)
{
	uint64_t not_ect = facts_data(receiver, SNIFF_IN, -1, SNIFF_NOT_ECT);

	if (!not_ect || facts_data_around(sender, SNIFF_OUT, -1, SNIFF_NOT_ECT))
		return;
	finding_seen("ecn-cleared", to->host, receiver->name,
		     "%llu data packets came in without ECT, though all left %s with it",
		     (ull)not_ect, sender->ifname);
	finding_why("something on the path clears the ECN bits, and with them every mark");
	finding_fix("# at routers and switches on the path: trust DSCP, and rewrite it without the two ECN bits (nft: ip dscp set, not ip tos)");
}

/* The DSCP of most packets in @n[], or -1 if there are none */
static int main_dscp(const uint64_t n[SNIFF_DSCPS])
{
	int most = -1;

	for (int dscp = 0; dscp < SNIFF_DSCPS; dscp++) {
		if (n[dscp] && (most < 0 || n[dscp] > n[most]))
			most = dscp;
	}
	return most;
}

static int data_dscp(const struct fact_dev *dev, enum sniff_way way)
{
	uint64_t n[SNIFF_DSCPS] = {};

	for (int dscp = 0; dscp < SNIFF_DSCPS; dscp++) {
		for (int ecn = 0; ecn < SNIFF_ECNS; ecn++)
			n[dscp] += dev->tally.data[way][dscp][ecn];
	}
	return main_dscp(n);
}

static void say_dscp(const char *what, int left, int came,
		     const struct facts *facts, const struct fact_dev *dev)
{
	if (left < 0 || came < 0 || left == came)
		return;
	finding_seen("dscp-rewritten", facts->host, dev->name,
		     "%s left with DSCP %d and came in with %d", what, left,
		     came);
	finding_why("priorities are taken from the DSCP (>> 3): switches put the packets into another queue, and knobs that are on for one priority may be off for another");
	finding_fix("# at routers and switches on the path: trust DSCP");
}

static void check_cnps_lost(const struct fact_dev *sender,
			    const struct facts *to,
			    const struct fact_dev *receiver)
{
	/* those to other senders are not lost */
	uint64_t sent = facts_cnps_to(receiver, sender);

	/* one may be in flight */
	if (sent < 2 || facts_cnps_around(sender, SNIFF_IN, -1) ||
	    facts_growth_around(sender, "rp_cnp_handled") ||
	    facts_growth_around(sender, "rp_cnp_ignored"))
		return;
	finding_seen("cnp-lost", to->host, receiver->name,
		     "%llu CNPs left for the sender, none came in on its %s",
		     (ull)sent, sender->ifname);
	finding_why("the sender does not slow down; CNPs are small packets with DSCP %u: something on the path drops or diverts them",
		    KNOB(receiver, CNP_DSCP));
	finding_fix("# at the switch: give CNPs a queue with strict priority; look for filters on UDP port 4791");
}

/* The loop's checks of one host by itself */
static void check_host(const struct facts *facts, const struct fact_dev *dev,
		       const struct facts *peer)
{
	check_module(facts, dev, peer);
	check_qdisc(facts, dev);
	check_loopback(facts, dev);
	check_loss(facts, dev, peer);
	if (!facts->module)
		return;
	if (!check_rp_prio(facts, dev))
		check_ect(facts, dev);
	if (!check_np_prio(facts, dev))
		check_answer(facts, dev);
	check_vlans(facts, dev);
	check_cnps_in(facts, dev);
	check_cut(facts, dev);
	check_line(facts, dev);
	check_floor(facts, dev);
	check_timer(facts, dev);
}

/* The checks that must guess, because nothing is known about the other host */
static void check_alone(const struct facts *facts, const struct fact_dev *dev)
{
	int dscp;

	check_ect_in(facts, dev);
	if (!facts->module)
		return;
	check_interval(facts, dev, facts, dev);
	dscp = main_dscp(dev->tally.cnps[SNIFF_OUT]);
	say_dscp("CNPs", dscp < 0 ? -1 : (int)KNOB(dev, CNP_DSCP), dscp, facts,
		 dev);
}

/* Whether data came in as it left */
static void check_data(const struct fact_dev *sender, const struct facts *to,
		       const struct fact_dev *receiver)
{
	int dscp = data_dscp(receiver, SNIFF_IN);

	check_ecn_cleared(sender, to, receiver);
	/* which of several DSCPs most packets have differs from look to look */
	if (!facts_data_around(sender, SNIFF_OUT, dscp, -1))
		say_dscp("data", data_dscp(sender, SNIFF_OUT), dscp, to, receiver);
}

/* The loop's checks of the path from one host to the other */
static void check_pair(const struct facts *from, const struct fact_dev *sender,
		       const struct facts *to, const struct fact_dev *receiver)
{
	int dscp;

	if (from->module && to->module)
		check_interval(from, sender, to, receiver);
	if (!facts_data(sender, SNIFF_OUT, -1, -1) ||
	    !facts_data(receiver, SNIFF_IN, -1, -1))
		return;
	/* what others send comes in with bits and DSCPs of its own */
	if (facts_all_with(receiver, SNIFF_IN, sender))
		check_data(sender, to, receiver);
	else if (!facts_data_around(sender, SNIFF_OUT, -1, SNIFF_NOT_ECT))
		check_ect_in(to, receiver);
	dscp = main_dscp(sender->tally.cnps[SNIFF_IN]);
	if (facts_all_with(sender, SNIFF_OUT, receiver) &&
	    !facts_cnps_around(receiver, SNIFF_OUT, dscp))
		say_dscp("CNPs", main_dscp(receiver->tally.cnps[SNIFF_OUT]), dscp,
			 from, sender);
	if (from->module && to->module)
		check_cnps_lost(sender, to, receiver);
}

/* All checks of one host, if nothing is known about its peers */
void checks_host(const struct facts *facts, const struct fact_dev *dev)
{
	/* as long as packets do not arrive, the rest says nothing */
	if (transfer_checks_host(facts, dev, true))
		return;
	transfer_checks_answers(facts, dev, true);
	check_host(facts, dev, NULL);
	check_alone(facts, dev);
}

/* That none of many packets arrived means something if both hosts watched most of the time */
static bool has_watched(const struct facts *facts)
{
	if (facts->apart) {
		finding_note("%s got no message from the other doctor in time: lost packets are not checked. Run it again",
			     facts->host);
		return false;
	}
	if (facts->stall <= facts->nsec / 2)
		return true;
	finding_note("%s stalled for %llu ms while it was measuring: lost packets are not checked. Stop the programs that use its CPUs, or run it again with a longer interval (-i 5s)",
		     facts->host, (ull)(facts->stall / NSEC_PER_MSEC));
	return false;
}

/* A host whose CPUs are taken away receives late what others have sent in time */
static bool is_on_time(const struct facts *facts)
{
	if (facts->stall <= FACTS_STALL_MAX)
		return true;
	finding_note("%s stalled for %llu ms while it was measuring: changes and losses of single packets are not checked. Stop the programs that use its CPUs, or run it again",
		     facts->host, (ull)(facts->stall / NSEC_PER_MSEC));
	return false;
}

/* All checks of two hosts, and of the path between them */
void checks_pair(const struct facts *here, const struct fact_dev *a,
		 const struct facts *peer, const struct fact_dev *b)
{
	bool watched = has_watched(here) & has_watched(peer);

	if (transfer_checks_host(here, a, false) | transfer_checks_host(peer, b, false) ||
	    transfer_checks_pair(here, a, peer, b, watched))
		return;
	transfer_checks_answers(here, a, false);
	transfer_checks_answers(peer, b, false);
	check_host(here, a, peer);
	check_host(peer, b, here);
	if (!watched || !(is_on_time(here) & is_on_time(peer)))
		return;
	check_pair(here, a, peer, b);
	check_pair(peer, b, here, a);
}

/* One data packet tells as much about which device is used as this many probes */
#define DATA_COUNTS	1000

/* All packets, and probes where there are no packets */
static uint64_t packets_of(const struct fact_dev *dev)
{
	uint64_t n = 0;

	for (int i = 0; i < dev->tally.num_flows; i++) {
		for (int size = 0; size < SNIFF_SIZES; size++)
			n += dev->tally.flows[i].probes[SNIFF_IN][size] +
			     dev->tally.flows[i].probes[SNIFF_OUT][size];
	}
	return n + DATA_COUNTS * (facts_data(dev, SNIFF_IN, -1, -1) +
				  facts_data(dev, SNIFF_OUT, -1, -1));
}

/* The device with the most traffic, if there are several */
static const struct fact_dev *busiest(const struct facts *facts)
{
	const struct fact_dev *best = facts->devs;
	uint64_t most = 0;

	for (const struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		uint64_t n = packets_of(dev);

		if (n > most) {
			best = dev;
			most = n;
		}
	}
	return best;
}

/* Packets between two devices, and probes where there are no packets, as @a saw them */
static uint64_t packets_between(const struct fact_dev *a, const struct fact_dev *b)
{
	uint64_t n = 0;

	for (int i = 0; i < a->tally.num_flows; i++) {
		const struct sniff_flow *flow = &a->tally.flows[i];

		if (!facts_has_gid(a, &flow->local) || !facts_has_gid(b, &flow->remote))
			continue;
		for (int size = 0; size < SNIFF_SIZES; size++)
			n += flow->probes[SNIFF_IN][size] + flow->probes[SNIFF_OUT][size] +
			     DATA_COUNTS * (flow->packets[SNIFF_IN][size] +
					    flow->packets[SNIFF_OUT][size]);
	}
	return n;
}

/* All checks of two hosts, which may share more than one network. Of each host, take the device
 * that has the most traffic with one of the other.
 */
void checks_both(const struct facts *here, const struct facts *peer)
{
	const struct fact_dev *a = busiest(here), *b = busiest(peer);
	uint64_t most = 0;

	if (!b) {
		transfer_checks_missing(peer);
		return;
	}
	for (const struct fact_dev *x = here->devs; x; x = x->next) {
		for (const struct fact_dev *y = peer->devs; y; y = y->next) {
			uint64_t n = packets_between(x, y) + packets_between(y, x);

			if (n > most) {
				most = n;
				a = x;
				b = y;
			}
		}
	}
	checks_pair(here, a, peer, b);
}
