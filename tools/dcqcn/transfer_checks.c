// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor's checks of transfers that fail, one function each: packets that do not arrive,
 * or that are not taken. They need nothing of the module. As long as packets do not arrive,
 * what the loop does not do with them says nothing.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "finding.h"
#include "transfer_checks.h"
#include "unit.h"

/* Packets that left. If none of so many arrived, this is not by chance: as many probes of each
 * size leave in an interval.
 */
#define ENOUGH		4

/* Packets that came in; fewer tell nothing about what takes them */
#define ENOUGH_IN	10

/* Requests whose ACKs were waited for; fewer tell nothing about the ACK timeout */
#define ENOUGH_ACKS	5

/* RNR NAKs are a fault if there is at least one per this many data packets */
#define RNR_SHARE	20

/* Packets were overtaken, and not lost, if this was so each time in so many that a QP's packets
 * began again further back. When soft-RoCE misses a packet, the sender goes back as well.
 */
#define OVERTAKEN_SHARE	4

/* What RoCE adds to its payload, over IPv6 */
#define HEADERS		80

#define NSEC_PER_USEC	1000ULL

/* Work completions of libibverbs, as programs print them */
#define RETRY_EXCEEDED	"IBV_WC_RETRY_EXC_ERR (12, \"transport retry counter exceeded\")"
#define GIVES_UP	"the QP fails with " RETRY_EXCEEDED " or, with a retry_cnt of 7, which soft-RoCE treats as no limit, hangs for ever"
#define RNR_EXCEEDED	"IBV_WC_RNR_RETRY_EXC_ERR (13, \"RNR retry counter exceeded\")"

typedef unsigned long long ull;

static const char *as_text(const struct in6_addr *addr)
{
	static char text[4][INET6_ADDRSTRLEN];
	static unsigned int next;
	char *to = text[next++ % 4];

	if (IN6_IS_ADDR_V4MAPPED(addr))
		inet_ntop(AF_INET, &addr->s6_addr[12], to, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, addr, to, INET6_ADDRSTRLEN);
	return to;
}

static uint64_t sum(const uint64_t n[SNIFF_SIZES])
{
	uint64_t total = 0;

	for (int i = 0; i < SNIFF_SIZES; i++)
		total += n[i];
	return total;
}

/* Add packets and probes between two addresses, by size */
static void add_flow(const struct tally *tally, const struct in6_addr *local,
		     const struct in6_addr *remote, enum sniff_way way,
		     uint64_t n[SNIFF_SIZES])
{
	for (int i = 0; i < tally->num_flows; i++) {
		const struct sniff_flow *flow = &tally->flows[i];

		if (!IN6_ARE_ADDR_EQUAL(&flow->local, local) ||
		    !IN6_ARE_ADDR_EQUAL(&flow->remote, remote))
			continue;
		for (int size = 0; size < SNIFF_SIZES; size++)
			n[size] += flow->packets[way][size] + flow->probes[way][size];
	}
}

/* All packets and probes that came in, in the interval and around it */
static uint64_t all_in(const struct fact_dev *dev, bool ip4, uint64_t *probes)
{
	const struct tally *tallies[] = { &dev->tally, &dev->around };
	uint64_t n = 0;

	*probes = 0;
	for (int t = 0; t < 2; t++) {
		for (int i = 0; i < tallies[t]->num_flows; i++) {
			const struct sniff_flow *flow = &tallies[t]->flows[i];

			/* packets for other addresses need not be taken */
			if (IN6_IS_ADDR_V4MAPPED(&flow->local) != ip4 ||
			    !facts_has_gid(dev, &flow->local))
				continue;
			n += sum(flow->packets[SNIFF_IN]);
			*probes += sum(flow->probes[SNIFF_IN]);
		}
	}
	return n + *probes;
}

/* --- the device ------------------------------------------------------------ */

/* A host that has no rxe device */
void transfer_checks_missing(const struct facts *facts)
{
	finding_seen("no-device", facts->host, "rdma_rxe", "%s has no rxe device", facts->host);
	finding_why("nothing there answers RoCE: a soft-RoCE device does not survive a reboot, or the removal of its network device");
	finding_fix("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0  # \"not found\": that kernel has no soft-RoCE, as Debian's cloud kernels");
}

static bool has_address(const struct fact_dev *dev)
{
	for (int i = 0; i < dev->num_gids; i++) {
		if (!IN6_IS_ADDR_LINKLOCAL(&dev->gids[i]))
			return true;
	}
	return false;
}

static bool check_device(const struct facts *facts, const struct fact_dev *dev)
{
	if (dev->has_link && !dev->up) {
		finding_seen("unusable-device", facts->host, dev->name,
			     "%s is down, or has no carrier", dev->ifname);
		finding_why("the port of the rxe device is down with it: nothing can be sent or received");
		finding_fix("ip link set dev %s up; ip link show dev %s  # NO-CARRIER: look at the cable",
			    dev->ifname, dev->ifname);
		return true;
	}
	/* perftest does without rdma_cm; whoever has traffic does not need it */
	if ((has_address(dev) && !dev->cm_fails) || facts_data_around(dev, SNIFF_IN, -1, -1) ||
	    facts_data_around(dev, SNIFF_OUT, -1, -1))
		return false;
	if (has_address(dev)) {
		finding_seen("unusable-device", facts->host, dev->name,
			     "rdma_cm finds no RDMA device for the addresses of %s", dev->ifname);
		finding_why("programs that connect by rdma_cm (NVMe, NFS, rping, UCX) report RDMA_CM_EVENT_ADDR_ERROR, or ENODEV: before Linux 7.2, rdma_cm does not find soft-RoCE on devices without Ethernet addresses, such as WireGuard or tun");
		finding_fix("ip -d link show dev %s  # use an Ethernet device (as a tunnel: VXLAN or tap), or perftest without -R",
			    dev->ifname);
	} else if (*dev->master) {
		finding_seen("unusable-device", facts->host, dev->name,
			     "%s is a port of %s, and has no IP address of its own",
			     dev->ifname, dev->master);
		finding_why("rdma_cm finds a device by the IP address on its network device, and %s, which may have it, has no RDMA device; incoming packets go to %s as well",
			    dev->master, dev->master);
		finding_fix("rdma link delete %s; rdma link add %s type rxe netdev %s",
			    dev->name, dev->name, dev->master);
	} else {
		finding_seen("unusable-device", facts->host, dev->name,
			     "%s has no IP address other than link-local ones", dev->ifname);
		finding_why("rdma_cm (NVMe, NFS, rping, UCX) finds a device by the IP address of its network device");
		finding_fix("ip addr add ADDRESS/24 dev %s  # or use the network device that has one",
			    dev->ifname);
	}
	return true;
}

/* --- addresses ------------------------------------------------------------- */

static bool is_multicast(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_V4MAPPED(addr) ? addr->s6_addr[12] >> 4 == 14 :
					    IN6_IS_ADDR_MULTICAST(addr);
}

/* Packets for addresses that the device does not have */
static bool check_foreign(const struct facts *facts, const struct fact_dev *dev,
			  const struct tally *tally)
{
	for (int i = 0; i < tally->num_flows; i++) {
		const struct in6_addr *local = &tally->flows[i].local;
		uint64_t n[SNIFF_SIZES] = {};

		if (facts_has_gid(dev, local) || is_multicast(local))
			continue;
		add_flow(&dev->tally, local, &tally->flows[i].remote, SNIFF_IN, n);
		add_flow(&dev->around, local, &tally->flows[i].remote, SNIFF_IN, n);
		if (sum(n) < ENOUGH)
			continue;
		finding_seen("wrong-gid", facts->host, dev->name,
			     "%llu packets came in for %s, which is not an address of %s",
			     (ull)sum(n), as_text(local), dev->ifname);
		finding_why("the address is gone, or belongs to another device: the host does not accept these packets, and a QP that uses it as its GID can neither send nor receive");
		finding_fix("ip addr show; grep . /sys/class/infiniband/%s/ports/1/gids/*  # restore the address, or restart the transfer with another GID",
			    dev->name);
		return true;
	}
	return false;
}

static bool check_gid(const struct facts *facts, const struct fact_dev *dev)
{
	if (dev->tally.counts[SNIFF_V1_IN]) {
		finding_seen("wrong-gid", facts->host, dev->name,
			     "%llu frames of RoCE v1 (Ethernet type 0x8915) came in",
			     (ull)dev->tally.counts[SNIFF_V1_IN]);
		finding_why("soft-RoCE accepts RoCE v2 only: the peer uses a GID of the type \"RoCE v1\"");
		finding_fix("# at the peer: grep . /sys/class/infiniband/*/ports/1/gid_attrs/types/*, and choose the index of a \"RoCE v2\" GID (ib_write_bw -x, NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX)");
		return true;
	}
	return check_foreign(facts, dev, &dev->tally) || check_foreign(facts, dev, &dev->around);
}

static bool check_link_local(const struct facts *facts, const struct fact_dev *dev)
{
	int n = 0;

	for (const struct fact_dev *d = facts->devs; d; d = d->next)
		n++;
	if (n < 2 || facts_growth_around(dev, "rcvd_pkts"))
		return false;
	for (int i = 0; i < dev->num_neighs; i++) {
		if (!IN6_IS_ADDR_LINKLOCAL(&dev->neighs[i]))
			continue;
		finding_seen("wrong-gid", facts->host, dev->name,
			     "%s does not answer on %s, and %d devices here have link-local GIDs",
			     as_text(&dev->neighs[i]), dev->ifname, n);
		finding_why("a link-local address is valid on one link only: this device is probably not on the peer's");
		finding_fix("# use a GID with an IPv4 or a global IPv6 address, or the device on the peer's link");
		return true;
	}
	return false;
}

/* --- packets that arrive, and are not taken -------------------------------- */

/* What IP and UDP counted, of IPv4 or of IPv6 */
struct udp {
	uint64_t in, no_port, forged;
};

static struct udp udp_of(const struct facts *facts, bool ip4)
{
	if (ip4)
		return (struct udp) {
			.in = facts_net_around(facts, "udp_in"),
			.no_port = facts_net_around(facts, "udp_no_port"),
			.forged = facts_net_around(facts, "rp_filter"),
		};
	return (struct udp) {
		.in = facts_net_around(facts, "udp6_in"),
		.no_port = facts_net_around(facts, "udp6_no_port"),
	};
}

/* Packets that did not come as far as the socket of rxe. UDP may have got other packets as well,
 * which can hide this, but cannot feign it.
 */
static bool check_udp(const struct facts *facts, const struct fact_dev *dev, bool ip4)
{
	struct udp udp = udp_of(facts, ip4);
	uint64_t probes, in = all_in(dev, ip4, &probes);
	int version = ip4 ? 4 : 6;

	if (in < ENOUGH_IN || !facts->num_net || udp.in >= in / 2)
		return false;
	if (udp.forged >= in / 2) {
		finding_seen("arrives-but-dropped", facts->host, dev->name,
			     "%llu RoCE packets came in on %s; the kernel's reverse path filter dropped %llu packets",
			     (ull)in, dev->ifname, (ull)udp.forged);
		finding_why("the route back to the sender leaves by another device, so the filter considers the packets forged");
		finding_fix("sysctl net.ipv4.conf.%s.rp_filter=2 net.ipv4.conf.all.rp_filter=2  # or add a route to the sender through %s",
			    dev->ifname, dev->ifname);
	} else if (udp.no_port >= in / 2) {
		finding_seen("arrives-but-dropped", facts->host, dev->name,
			     "%llu RoCE packets came in on %s, and nothing listens on UDP port 4791 in this network namespace",
			     (ull)in, dev->ifname);
		finding_why("before Linux 7.2, rxe listens in the initial network namespace only");
		finding_fix("ip link set dev %s netns 1  # use it outside of containers and namespaces, or a newer kernel",
			    dev->ifname);
	} else {
		finding_seen("arrives-but-dropped", facts->host, dev->name,
			     "%llu RoCE packets came in on %s by IPv%d, but UDP got only %llu packets in all",
			     (ull)in, dev->ifname, version, (ull)udp.in);
		finding_why("something between the network device and UDP drops them: a firewall that does not accept UDP port 4791, or a tc filter");
		finding_fix("nft insert rule inet filter input udp dport 4791 accept  # or ip%stables -I INPUT -p udp --dport 4791 -j ACCEPT; ufw allow 4791/udp; firewall-cmd --add-port=4791/udp; tc filter show dev %s ingress",
			    ip4 ? "" : "6", dev->ifname);
	}
	return true;
}

/* Packets that rxe got, and of which it took none */
static bool check_taken(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t probes4, probes6, in;

	in = all_in(dev, true, &probes4) + all_in(dev, false, &probes6);
	in -= probes4 + probes6;
	if (in < ENOUGH_IN || facts_growth_around(dev, "rcvd_pkts"))
		return false;
	finding_seen("arrives-but-dropped", facts->host, dev->name,
		     "%llu RoCE packets came in on %s and reached UDP, but rxe accepted none", (ull)in,
		     dev->ifname);
	finding_why("no QP of this device has the number that they carry, and their sender as its peer: the QP has ended or failed, or belongs to another device");
	finding_fix("rdma resource show qp link %s/1  # restart the transfer at both ends",
		    dev->name);
	return true;
}

static bool check_icrc(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t wrong = facts_count_around(dev, SNIFF_ICRC_WRONG);

	if (!wrong)
		return false;
	finding_seen("icrc-errors", facts->host, dev->name,
		     "%llu of %llu checked data packets came in with a wrong ICRC",
		     (ull)wrong, (ull)facts_count_around(dev, SNIFF_ICRC_LOOKED));
	finding_why("rxe drops them silently: something on the path changes more of a packet than DSCP, ECN and TTL, or a network card that supports RoCE has replaced the ICRC");
	finding_fix("ethtool -K %s tx off rx off; nft list ruleset; tc filter show dev %s ingress  # which of them rewrites it? NAT does, and so do some offloads at the sender",
		    dev->ifname, dev->ifname);
	return true;
}

/* Whether gaps are packets that come late, and not packets that are lost */
bool transfer_checks_overtaken(const struct fact_dev *dev)
{
	uint64_t overtaken = facts_count_around(dev, SNIFF_OVERTAKEN);

	return overtaken >= ENOUGH &&
	       overtaken * OVERTAKEN_SHARE >= facts_count_around(dev, SNIFF_BACK);
}

static bool check_order(const struct facts *facts, const struct fact_dev *dev)
{
	if (!transfer_checks_overtaken(dev))
		return false;
	finding_seen("out-of-order", facts->host, dev->name,
		     "%llu times a packet of a QP came in on %s after newer ones; %llu times the sender went back to an earlier packet",
		     (ull)facts_count_around(dev, SNIFF_OVERTAKEN), dev->ifname,
		     (ull)facts_count_around(dev, SNIFF_BACK));
	finding_why("soft-RoCE accepts packets in order only: after each late packet, all packets from there on are sent again. Something on the path splits a flow over several paths (a bond in the mode balance-rr, switches that balance per packet, netem), or this host handles one flow on several CPUs");
	finding_fix("ip -d link show %s  # balance per flow (a bond in mode 802.3ad or active-backup), and disable RPS in /sys/class/net/%s/queues/rx-*/rps_cpus",
		    dev->ifname, dev->ifname);
	return true;
}

/* --- answers --------------------------------------------------------------- */

static bool check_cm(const struct facts *facts, const struct fact_dev *dev)
{
	unsigned int reason = facts_count_around(dev, SNIFF_CM_REASON);

	if (!facts_count_around(dev, SNIFF_CM_REFUSED))
		return false;
	reason = dev->tally.counts[SNIFF_CM_REASON] ?: reason;
	finding_seen("cm-refused", facts->host, dev->name,
		     "the peer refused %llu rdma_cm connections, the last for reason %u%s",
		     (ull)facts_count_around(dev, SNIFF_CM_REFUSED), reason,
		     reason == 8 ? " (nothing listens on that port)" :
		     reason == 28 ? " (the program there refused it)" : "");
	finding_why("programs report RDMA_CM_EVENT_REJECTED, or ECONNREFUSED");
	finding_fix("rdma resource show cm_id  # at the peer: does the server listen there, on this address and port?");
	return true;
}

/* The receiver's fault, if its host is known */
static bool check_rnr(const struct facts *facts, const struct fact_dev *dev, bool alone)
{
	uint64_t out = dev->tally.naks[SNIFF_OUT][SNIFF_NAK_RNR];
	uint64_t in = alone ? dev->tally.naks[SNIFF_IN][SNIFF_NAK_RNR] : 0;
	uint64_t data = facts_data(dev, out > in ? SNIFF_IN : SNIFF_OUT, -1, -1);

	if (MAX(in, out) < 2 || MAX(in, out) * RNR_SHARE < data)
		return false;
	finding_seen("rnr", facts->host, dev->name,
		     "%llu NAKs %s, because no receive buffer was posted (RNR); %llu data packets",
		     (ull)MAX(in, out), out > in ? "left" : "came in", (ull)data);
	finding_why("the sender waits after each of them, and gives up with " RNR_EXCEEDED " unless its rnr_retry is 7; the receiving program posts too few receives, or is too slow");
	finding_fix("# in the receiving program: post more receives (ib_send_bw -r 512), before the peer sends; min_rnr_timer says how long the sender waits");
	return true;
}

static bool check_ack_timeout(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t acked = facts_count_around(dev, SNIFF_ACKED);
	uint64_t repeated = facts_count_around(dev, SNIFF_REPEATED);
	uint64_t repeat = dev->tally.counts[SNIFF_REPEAT_NS] ?:
			  dev->around.counts[SNIFF_REPEAT_NS];
	uint64_t ack = MAX(dev->tally.counts[SNIFF_ACK_NS], dev->around.counts[SNIFF_ACK_NS]);

	if (acked < ENOUGH_ACKS || repeated * 2 <= acked)
		return false;
	finding_seen("ack-timeout", facts->host, dev->name,
		     "%llu of %llu requests were sent again before their ACK came, the earliest after %lluus; ACKs take up to %lluus",
		     (ull)repeated, (ull)acked, (ull)(repeat / NSEC_PER_USEC),
		     (ull)(ack / NSEC_PER_USEC));
	finding_why("the QP's ACK timeout is shorter than the round trip: each packet is sent several times, and after retry_cnt retries " GIVES_UP);
	finding_fix("ib_write_bw -u 18  # a longer timeout: 4.096us * 2^18 = 1s (NCCL_IB_TIMEOUT=20, UCX_RC_TIMEOUT=1s)");
	return true;
}

/* RC requests that nobody answers, when nothing is known about the other host */
static bool check_answers(const struct facts *facts, const struct fact_dev *dev)
{
	for (int i = 0; i < dev->tally.num_flows; i++) {
		const struct sniff_flow *flow = &dev->tally.flows[i];
		uint64_t in[SNIFF_SIZES] = {};

		add_flow(&dev->tally, &flow->local, &flow->remote, SNIFF_IN, in);
		add_flow(&dev->around, &flow->local, &flow->remote, SNIFF_IN, in);
		if (!flow->asks || sum(flow->packets[SNIFF_OUT]) < ENOUGH || sum(in))
			continue;
		finding_seen("no-answer", facts->host, dev->name,
			     "%llu packets left for %s, %llu of them ask for an ACK; nothing came back",
			     (ull)sum(flow->packets[SNIFF_OUT]), as_text(&flow->remote),
			     (ull)flow->asks);
		finding_why("they do not arrive there, or are not accepted, or the answers get lost; " GIVES_UP);
		finding_fix("dcqcn doctor %s  # looks at both hosts, and finds out which",
			    as_text(&flow->remote));
		return true;
	}
	return false;
}

/* --- failed QPs ------------------------------------------------------------ */

static const char *completion(const struct fact_dev *dev)
{
	static const char * const naks[SNIFF_NAKS] = {
		[SNIFF_NAK_INVALID] = "IBV_WC_REM_INV_REQ_ERR (9, \"remote invalid request error\")",
		[SNIFF_NAK_ACCESS] = "IBV_WC_REM_ACCESS_ERR (10, \"remote access error\")",
		[SNIFF_NAK_OPERATION] = "IBV_WC_REM_OP_ERR (11, \"remote operation error\")",
	};

	for (int nak = 0; nak < SNIFF_NAKS; nak++) {
		if (naks[nak] && (dev->tally.naks[SNIFF_IN][nak] ||
				  dev->around.naks[SNIFF_IN][nak]))
			return naks[nak];
	}
	if (facts_total(dev, "retry_exceeded_err"))
		return RETRY_EXCEEDED;
	if (facts_total(dev, "retry_rnr_exceeded_err"))
		return RNR_EXCEEDED;
	return "not known: neither retries nor RNR retries were exceeded on this device";
}

/* Report it only if its cause was not found */
static void check_failed(const struct facts *facts, const struct fact_dev *dev)
{
	const struct fact_failed_qp *qp = dev->failed_qps;

	if (!dev->num_failed_qps)
		return;
	finding_seen("qp-in-error", facts->host, dev->name,
		     "%d QPs are in the state ERR, such as QP %llu of %s (process %llu); the likely error is %s",
		     dev->num_failed_qps, (ull)qp->qpn, qp->program, (ull)qp->pid,
		     completion(dev));
	finding_why("a failed QP sends and receives nothing more, and its peer waits until its own retries are exceeded");
	finding_fix("rdma resource show qp link %s/1 | grep ERR  # the program must connect again; the counters that grow say why it failed: rdma statistic show link %s/1",
		    dev->name, dev->name);
}

/* --- from one host to the other -------------------------------------------- */

static bool is_unknown(const struct fact_dev *dev, const struct in6_addr *addr)
{
	for (int i = 0; i < dev->num_neighs; i++) {
		if (IN6_ARE_ADDR_EQUAL(&dev->neighs[i], addr))
			return true;
	}
	return false;
}

/* One address that is reached is enough */
static bool check_route(const struct facts *from, const struct fact_dev *sender,
			const struct fact_dev *receiver)
{
	const struct fact_route *bad = NULL;

	for (int i = 0; i < from->num_routes; i++) {
		const struct fact_route *route = &from->routes[i];

		if (!facts_has_gid(receiver, &route->remote))
			continue;
		if (!route->error && facts_has_gid(sender, &route->local))
			return false;
		bad = bad ?: route;
	}
	if (!bad)
		return false;
	if (bad->error)
		finding_seen("no-route", from->host, sender->name, "%s: %s",
			     as_text(&bad->remote), strerror(bad->error));
	else
		finding_seen("no-route", from->host, sender->name,
			     "packets to %s get the source address %s, which %s does not have",
			     as_text(&bad->remote), as_text(&bad->local), sender->ifname);
	finding_why("soft-RoCE sends by the host's routing table, from the device's own addresses");
	finding_fix("ip route get %s; ip route add %s dev %s", as_text(&bad->remote),
		    as_text(&bad->remote), sender->ifname);
	return true;
}

static bool check_neighbour(const struct facts *from, const struct fact_dev *sender,
			    const struct fact_dev *receiver)
{
	for (int i = 0; i < receiver->num_gids; i++) {
		const struct in6_addr *addr = &receiver->gids[i];
		bool ip4 = IN6_IS_ADDR_V4MAPPED(addr);

		/* nothing uses this address now, so it may have failed long ago */
		if (IN6_IS_ADDR_LINKLOCAL(addr) && has_address(receiver))
			continue;
		if (!is_unknown(sender, addr))
			continue;
		finding_seen("arp-incomplete", from->host, sender->name,
			     "%s does not answer %s on %s, so it has no link-layer address",
			     as_text(addr), ip4 ? "ARP" : "neighbour solicitations", sender->ifname);
		finding_why("packets to it cannot leave: the two devices are not on one link (another VLAN, another switch), or something drops %s",
			    ip4 ? "ARP" : "ICMPv6");
		finding_fix("ip neigh show to %s dev %s; tcpdump -ni %s %s  # at both hosts: do the requests arrive?",
			    as_text(addr), sender->ifname, sender->ifname, ip4 ? "arp" : "icmp6");
		return true;
	}
	return false;
}

/* What became of the packets from one address to another */
struct fate {
	uint64_t left[SNIFF_SIZES];	/* in the interval */
	uint64_t came[SNIFF_SIZES];	/* and around it */
};

static struct fate fate_of(const struct fact_dev *sender, const struct fact_dev *receiver,
			   const struct in6_addr *local, const struct in6_addr *remote)
{
	struct fate fate = {};

	add_flow(&sender->tally, local, remote, SNIFF_OUT, fate.left);
	add_flow(&receiver->tally, remote, local, SNIFF_IN, fate.came);
	add_flow(&receiver->around, remote, local, SNIFF_IN, fate.came);
	return fate;
}

static bool is_lost(const struct fate *fate)
{
	return sum(fate->left) >= ENOUGH && !sum(fate->came);
}

static void say_nothing(const struct facts *from, const struct fact_dev *sender,
			const struct facts *to, const struct fact_dev *receiver,
			const struct in6_addr *local, const struct in6_addr *remote,
			const struct fate *fate, const struct fate *back)
{
	bool one_way = sum(back->came);

	finding_seen(one_way ? "one-way" : "nothing-arrives", to->host, receiver->name,
		     "%llu RoCE packets left %s on %s for %s, none came in on %s; of those in the other direction, %llu left and %llu came in",
		     (ull)sum(fate->left), as_text(local), from->host, as_text(remote),
		     receiver->ifname, (ull)sum(back->left), (ull)sum(back->came));
	finding_why("something between the hosts drops UDP packets to port 4791, or sends them elsewhere: a firewall, a security group, an access list, another VLAN%s",
		    one_way ? ", or a stale link-layer address" : "");
	finding_fix("ip neigh show to %s dev %s; tcpdump -ni %s udp port 4791  # first at %s, then at each hop: where do the packets stop?",
		    as_text(remote), sender->ifname, sender->ifname, from->host);
}

/* The largest packet of RoCE that a device with that MTU sends */
static int largest_size(unsigned int mtu)
{
	int payload = 4096;

	while (payload > 256 && payload + HEADERS > (int)mtu)
		payload /= 2;
	return sniff_size(payload + HEADERS);
}

static bool check_large(const struct facts *from, const struct fact_dev *sender,
			const struct facts *to, const struct fact_dev *receiver,
			const struct fate *fate, const struct in6_addr *remote)
{
	int lost = SNIFF_SIZES, ok = -1;
	uint64_t n = 0;

	for (int i = 0; i < SNIFF_SIZES; i++) {
		if (fate->came[i])
			ok = i;
	}
	for (int i = SNIFF_SIZES - 1; i > ok; i--) {
		if (fate->left[i] >= ENOUGH)
			lost = i;
		n += fate->left[i];
	}
	if (ok < 0 || !sender->has_link || lost > largest_size(sender->mtu))
		return false;
	/* otherwise size is not the cause: these packets came in before something went wrong */
	for (int i = 0; i < ok; i++) {
		if (fate->left[i] >= ENOUGH && !fate->came[i])
			return false;
	}
	finding_seen("large-only", to->host, receiver->name,
		     "%llu packets of %u bytes and more left %s for %s, none came in; those of up to %u bytes do",
		     (ull)n, sniff_sizes[lost], from->host, as_text(remote), sniff_sizes[ok]);
	finding_why("something on the path has a smaller MTU than %s, whose MTU is %u (that of %s is %u), and drops what does not fit: soft-RoCE packets are never fragmented",
		    sender->ifname, sender->mtu, receiver->ifname, receiver->mtu);
	finding_fix("ip link set dev %s mtu %u  # on both hosts; or give each switch port an MTU of at least %u. For perftest alone: -m 1024",
		    sender->ifname, sniff_sizes[ok], sender->mtu);
	return true;
}

/* A flow that either host has seen */
static bool check_flow(const struct facts *here, const struct fact_dev *a,
		       const struct facts *peer, const struct fact_dev *b,
		       const struct in6_addr *local, const struct in6_addr *remote)
{
	struct fate there = fate_of(a, b, local, remote);
	struct fate back = fate_of(b, a, remote, local);

	if (is_lost(&there)) {
		say_nothing(here, a, peer, b, local, remote, &there, &back);
		return true;
	}
	if (is_lost(&back)) {
		say_nothing(peer, b, here, a, remote, local, &back, &there);
		return true;
	}
	return check_large(here, a, peer, b, &there, remote) ||
	       check_large(peer, b, here, a, &back, local);
}

static bool check_flows(const struct facts *here, const struct fact_dev *a,
			const struct facts *peer, const struct fact_dev *b)
{
	for (int i = 0; i < a->tally.num_flows; i++) {
		const struct sniff_flow *flow = &a->tally.flows[i];

		if (facts_has_gid(a, &flow->local) && facts_has_gid(b, &flow->remote) &&
		    check_flow(here, a, peer, b, &flow->local, &flow->remote))
			return true;
	}
	for (int i = 0; i < b->tally.num_flows; i++) {
		const struct sniff_flow *flow = &b->tally.flows[i];

		if (facts_has_gid(b, &flow->local) && facts_has_gid(a, &flow->remote) &&
		    check_flow(here, a, peer, b, &flow->remote, &flow->local))
			return true;
	}
	return false;
}

/* The checks of the way between two hosts. Return whether packets do not arrive. @watched: what one
 * host saw can be compared with what the other did
 */
bool transfer_checks_pair(const struct facts *here, const struct fact_dev *a,
			  const struct facts *peer, const struct fact_dev *b, bool watched)
{
	bool broken;

	broken = check_route(here, a, b) | check_route(peer, b, a);
	if (broken || !a->sniffed || !b->sniffed)
		return broken;
	broken = check_neighbour(here, a, b) | check_neighbour(peer, b, a);
	return broken || (watched && check_flows(here, a, peer, b));
}

/* Without a peer's word: packets wait for an address that nobody has */
static bool check_waiting(const struct facts *facts, const struct fact_dev *dev)
{
	uint64_t sent = facts_growth(dev, "sent_pkts");

	if (!dev->num_neighs || sent < ENOUGH || facts_data_around(dev, SNIFF_OUT, -1, -1))
		return false;
	finding_seen("arp-incomplete", facts->host, dev->name,
		     "rxe sent %llu packets, and none left %s; %s has no link-layer address",
		     (ull)sent, dev->ifname, as_text(&dev->neighs[0]));
	finding_why("nobody answers for this address: the peer is not on this link, or is down");
	finding_fix("ip neigh show dev %s; tcpdump -ni %s arp or icmp6", dev->ifname, dev->ifname);
	return true;
}

/* The checks of one host that tell whether it can send and takes what comes. Return true if not. */
bool transfer_checks_host(const struct facts *facts, const struct fact_dev *dev, bool alone)
{
	if (check_device(facts, dev) || check_link_local(facts, dev) || check_gid(facts, dev))
		return true;
	if (alone && check_waiting(facts, dev))
		return true;
	return check_udp(facts, dev, true) || check_udp(facts, dev, false) ||
	       check_icrc(facts, dev) || check_taken(facts, dev) ||
	       (alone && check_answers(facts, dev));
}

/* The checks of what the peer answers, where packets arrive and are taken */
void transfer_checks_answers(const struct facts *facts, const struct fact_dev *dev, bool alone)
{
	if (!(check_order(facts, dev) | check_cm(facts, dev) | check_rnr(facts, dev, alone) |
	      check_ack_timeout(facts, dev)))
		check_failed(facts, dev);
}
