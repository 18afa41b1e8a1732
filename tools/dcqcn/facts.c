// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen of a host within an interval: counters before and after,
 * settings, qdiscs, limited and failed QPs, the packets that came and went, and how the
 * network device is set up.
 *
 * Counters and packets cannot be read at the same moment, nor two hosts: what one reading
 * shows of an event, the other may show a little earlier or later. So both are also read for
 * some time before and after the interval. A finding says that one thing happened in the
 * interval and that another did not, not even around it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "child.h"
#include "clean.h"
#include "clock.h"
#include "facts.h"
#include "fail.h"
#include "finding.h"
#include "growth.h"
#include "host.h"
#include "probe.h"
#include "qp.h"

#define CLASS		"/sys/class/infiniband"
#define MODULE		"/sys/module/rdma_dcqcn"
#define PATH_LEN	512

/* ns; before and after the interval. A mark is answered, or was within the longest
 * min_time_between_cnps (131 ms); it takes some ms to find out about a QP.
 */
#define AROUND		150000000ULL

/* ms; so often this program looks at the clock, to notice when it cannot */
#define LOOK		20

/* ns; so long the other doctor is waited for, at each step */
#define STEP_MAX	30000000000ULL

/* Copy as much of a name as fits */
void facts_copy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
	clean(to);
}

/* The first word of a file */
static bool read_word(const char *path, char word[FACTS_WORD])
{
	FILE *f = fopen(path, "r");
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%63s", word) == 1;
	fclose(f);
	return ok;
}

struct fact_dev *facts_add_dev(struct facts *facts, const char *name,
			       const char *ifname)
{
	struct fact_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		fail_errno("devices");
	facts_copy(dev->name, name, sizeof(dev->name));
	facts_copy(dev->ifname, ifname, sizeof(dev->ifname));
	dev->sniff.fd = -1;
	dev->next = facts->devs;
	facts->devs = dev;
	return dev;
}

/* Findings have commands to copy, with the names of devices */
bool facts_usable(const char *name, const char *ifname)
{
	return clean_word(name) && clean_word(ifname);
}

static void find_dev(struct facts *facts, char *name, char *ifname)
{
	if (facts_usable(name, ifname))
		facts_add_dev(facts, name, ifname);
	else
		finding_note("%s on %s is left out: its name is not safe in a shell command",
			     clean(name), clean(ifname));
}

/* rxe devices have a file that names their network device */
static void find_devs(struct facts *facts, const char *name)
{
	char path[PATH_LEN], ifname[FACTS_WORD];
	DIR *dir = opendir(CLASS);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    (name && strcmp(name, entry->d_name)))
			continue;
		snprintf(path, sizeof(path), CLASS "/%s/parent", entry->d_name);
		if (read_word(path, ifname) && if_nametoindex(ifname) &&
		    host_has(entry->d_name))
			find_dev(facts, entry->d_name, ifname);
	}
	closedir(dir);
}

/* The counter of that name, or NULL if there are too many */
struct fact_counter *facts_counter(struct fact_counter *counters, int *num,
				   const char *name)
{
	for (int i = 0; i < *num; i++) {
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	}
	if (*num == FACTS_COUNTERS)
		return NULL;
	facts_copy(counters[*num].name, name, FACTS_WORD);
	return &counters[(*num)++];
}

static void read_counters(struct fact_dev *dev, enum fact_moment moment)
{
	char path[PATH_LEN], word[FACTS_WORD];
	struct fact_counter *counter;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), CLASS "/%s/ports/1/hw_counters",
		 dev->name);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), CLASS "/%s/ports/1/hw_counters/%s",
			 dev->name, entry->d_name);
		if (entry->d_name[0] == '.' || !read_word(path, word))
			continue;
		counter = facts_counter(dev->counters, &dev->num_counters,
					entry->d_name);
		if (!counter)
			break;
		counter->at[moment] = strtoull(word, NULL, 10);
	}
	closedir(dir);
}

/* Return false if it is none */
bool facts_add_gid(struct fact_dev *dev, const char *text)
{
	struct in6_addr gid;

	if (dev->num_gids == FACTS_GIDS || inet_pton(AF_INET6, text, &gid) != 1 ||
	    IN6_IS_ADDR_UNSPECIFIED(&gid))
		return false;
	if (!facts_has_gid(dev, &gid))
		dev->gids[dev->num_gids++] = gid;
	return true;
}

static void read_gids(struct fact_dev *dev)
{
	char path[PATH_LEN], word[FACTS_WORD];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), CLASS "/%s/ports/1/gids", dev->name);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), CLASS "/%s/ports/1/gids/%s",
			 dev->name, entry->d_name);
		if (entry->d_name[0] != '.' && read_word(path, word))
			facts_add_gid(dev, word);
	}
	closedir(dir);
}

/* These qdiscs hold filters. They also count input packets that the filters drop. */
static bool is_filter(const char *kind)
{
	return !strcmp(kind, "clsact") || !strcmp(kind, "ingress");
}

/* "qdisc KIND ..." and, some lines later, " Sent ... (dropped N, ..." */
static void read_qdiscs(struct fact_dev *dev, bool after)
{
	char *argv[] = { "tc", "-s", "qdisc", "show", "dev", dev->ifname, NULL };
	char line[1024], kind[FACTS_WORD];
	struct fact_qdisc *qdisc = NULL;
	unsigned long long dropped;
	int n = 0;
	pid_t child;
	FILE *tc;

	tc = child_open(argv, &child);
	if (!tc)
		fail_errno("tc");
	while (fgets(line, sizeof(line), tc)) {
		char *at = strstr(line, "(dropped ");

		if (sscanf(line, "qdisc %63s", kind) == 1) {
			qdisc = NULL;
			if (n == FACTS_QDISCS || is_filter(kind))
				continue;
			qdisc = &dev->qdiscs[n++];
			facts_copy(qdisc->kind, kind, sizeof(qdisc->kind));
			qdisc->loses = strstr(line, " loss ");
			qdisc->ecn = strstr(line, " ecn");
		} else if (qdisc && at &&
			   sscanf(at, "(dropped %llu", &dropped) == 1) {
			*(after ? &qdisc->after : &qdisc->before) = dropped;
		}
	}
	dev->num_qdiscs = n;
	if (!child_close(tc, child) && !after)
		finding_note("%s: tc does not show the qdiscs of %s (is iproute2 installed?): their problems will be missed",
			     dev->name, dev->ifname);
}

/* Leave out devices whose name a shell would change */
void facts_add_vlan(struct fact_dev *dev, const char *ifname, unsigned int mapped)
{
	struct fact_vlan *vlan = &dev->vlans[dev->num_vlans];

	if (dev->num_vlans == FACTS_VLANS || !clean_word(ifname))
		return;
	facts_copy(vlan->ifname, ifname, sizeof(vlan->ifname));
	vlan->mapped = mapped;
	dev->num_vlans++;
}

/* The priorities in "egress-qos-map { 6:6 7:7 }" */
static unsigned int mapped_prios(const char *map)
{
	unsigned int mapped = 0, prio, pcp;
	int len;

	map += strcspn(map, "{") + 1;
	while (sscanf(map, " %u:%u%n", &prio, &pcp, &len) == 2) {
		if (prio < 8)
			mapped |= 1U << prio;
		map += len;
	}
	return mapped;
}

/* "5: eth0.5@eth0: <..." and, on a line after that, the map if it has entries */
static void read_vlans(struct fact_dev *dev)
{
	char *argv[] = { "ip", "-d", "link", "show", "up", "type", "vlan", NULL };
	char line[1024], name[FACTS_WORD] = "", parent[FACTS_WORD];
	unsigned int mapped = 0;
	pid_t child;
	FILE *ip;

	ip = child_open(argv, &child);
	if (!ip)
		fail_errno("ip");
	while (fgets(line, sizeof(line), ip)) {
		char word[FACTS_WORD], *map = strstr(line, "egress-qos-map ");

		if (sscanf(line, "%*u: %63[^@]@%63[^:]:", word, parent) == 2) {
			if (*name)
				facts_add_vlan(dev, name, mapped);
			*name = '\0';
			mapped = 0;
			if (!strcmp(parent, dev->ifname))
				facts_copy(name, word, sizeof(name));
		} else if (map) {
			mapped = mapped_prios(map);
		}
	}
	if (*name)
		facts_add_vlan(dev, name, mapped);
	child_close(ip, child);
}

static void add_qp(const struct qp *qp, void *data)
{
	struct fact_dev *dev = data;
	struct fact_qp *fact;

	if (dev->num_qps == FACTS_QPS ||
	    qp->value[RDMA_DCQCN_A_QP_STATE] != RDMA_DCQCN_QP_STATE_LIMITED)
		return;
	fact = &dev->qps[dev->num_qps++];
	fact->qpn = qp->value[RDMA_DCQCN_A_QP_LQPN];
	fact->rate = qp->value[RDMA_DCQCN_A_QP_RATE];
	fact->floor = qp->value[RDMA_DCQCN_A_QP_FLOOR_RATE];
	fact->rtt = qp->value[RDMA_DCQCN_A_QP_RTT];
}

static void read_module(struct fact_dev *dev)
{
	struct qp_filter filter = { .dev = dev->name, .qpn = -1 };
	struct dev *list = dev_list(dev->name);

	if (!list)
		fail("%s: the device is gone", dev->name);
	dev->other_cc = strcmp(list->algorithm, "dcqcn");
	dev->has_settings = true;
	dev->line_rate = list->line_rate;
	memcpy(dev->settings, list->settings, sizeof(dev->settings));
	qp_dump(&filter, add_qp, dev);
	dev_free(list);
}

static void read_all_counters(struct facts *facts, enum fact_moment moment)
{
	for (struct fact_dev *dev = facts->devs; dev; dev = dev->next)
		read_counters(dev, moment);
	host_counters(facts, moment);
}

/* Count packets for @nsec, or until the other doctor says @word; and send probes meanwhile, if there
 * is anybody to send them to
 */
static void sniff(struct facts *facts, uint64_t nsec, bool around, struct probes *probes,
		  struct step *step, const char *word)
{
	uint64_t begin = clock_now(), end = begin + nsec, last = begin;
	int round = 0;

	for (uint64_t time = begin; time < end; time = clock_now()) {
		struct pollfd fds[FACTS_QPS + 1];
		uint64_t next = end;
		int n = 0;

		facts->stall = MAX(facts->stall, time - last);
		last = time;
		if (probes && round < PROBE_ROUNDS) {
			next = begin + nsec * (2 * round + 1) / (2 * PROBE_ROUNDS);
			if (time >= next) {
				probe_send(probes);
				round++;
				continue;
			}
		}
		for (struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
			sniff_read(&dev->sniff, around ? &dev->around : &dev->tally);
			if (dev->sniff.fd >= 0 && n < FACTS_QPS)
				fds[n++] = (struct pollfd) {
					.fd = dev->sniff.fd, .events = POLLIN };
		}
		if (step && (step_heard(step, word) || step->lost))
			return;
		if (step)
			fds[n++] = (struct pollfd) { .fd = step->in, .events = POLLIN };
		poll(fds, n, MIN((next - time) / 1000000 + 1, LOOK));
	}
}

/* Find rxe devices, or the one of that name. Return true if there is any. */
bool facts_find(struct facts *facts, const char *name)
{
	find_devs(facts, name);
	for (struct fact_dev *dev = facts->devs; dev; dev = dev->next)
		read_gids(dev);
	return facts->devs;
}

static void open_sniffers(struct facts *facts)
{
	for (struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		dev->sniffed = sniff_open(&dev->sniff, if_nametoindex(dev->ifname));
		if (!dev->sniffed && errno != EPERM)
			fail("%s: listening failed: %s", dev->ifname,
			     strerror(errno));
		if (!dev->sniffed)
			finding_note("%s: cannot count packets without CAP_NET_RAW: most problems will be missed",
				     dev->name);
	}
}

/* Go on watching until the other doctor has come as far */
static void keep_step(struct facts *facts, struct step *step, const char *word)
{
	uint64_t begin = clock_now();

	if (!step)
		return;
	step_say(step, word);
	sniff(facts, STEP_MAX, true, NULL, step, word);
	facts->apart |= step->lost || clock_now() - begin >= STEP_MAX;
}

/* Gather facts about the devices of facts_find(), for @nsec; and about the way to these addresses
 * of a peer, in step with its doctor
 */
void facts_gather(struct facts *facts, uint64_t nsec,
		  const struct in6_addr *peers, int num_peers, struct step *step)
{
	struct probes probes;
	struct fact_dev *dev;
	uint64_t begin;

	if (gethostname(facts->host, sizeof(facts->host) - 1))
		facts_copy(facts->host, "?", sizeof(facts->host));
	facts->module = !access(MODULE, F_OK);
	host_routes(facts, peers, num_peers);
	read_all_counters(facts, FACTS_FIRST);
	for (dev = facts->devs; dev; dev = dev->next) {
		read_qdiscs(dev, false);
		host_link(dev);
		host_cm(dev);
		host_failed_qps(dev, false);
	}
	probe_open(&probes, facts);
	open_sniffers(facts);
	sniff(facts, AROUND, true, NULL, NULL, NULL);
	keep_step(facts, step, "watching");
	read_all_counters(facts, FACTS_BEGIN);
	begin = clock_now();
	sniff(facts, nsec, false, &probes, NULL, NULL);
	facts->nsec = clock_now() - begin;
	read_all_counters(facts, FACTS_END);
	keep_step(facts, step, "watched");
	sniff(facts, AROUND, true, NULL, NULL, NULL);
	read_all_counters(facts, FACTS_LAST);
	probe_close(&probes);
	for (dev = facts->devs; dev; dev = dev->next) {
		sniff_read(&dev->sniff, &dev->around);
		sniff_close(&dev->sniff);
		read_qdiscs(dev, true);
		read_vlans(dev);
		read_gids(dev);
		host_neighbours(dev);
		host_failed_qps(dev, true);
		if (facts->module)
			read_module(dev);
	}
}

static const struct fact_counter *find_counter(const struct fact_counter *counters,
					       int num, const char *name)
{
	static const struct fact_counter none;

	for (int i = 0; i < num; i++) {
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	}
	return &none;
}

static uint64_t growth_of(const struct fact_dev *dev, const char *counter,
			  enum fact_moment from, enum fact_moment to)
{
	const struct fact_counter *c = find_counter(dev->counters, dev->num_counters,
						    counter);

	return growth(c->at[from], c->at[to]);
}

uint64_t facts_net_around(const struct facts *facts, const char *counter)
{
	const struct fact_counter *c = find_counter(facts->net, facts->num_net, counter);

	return growth(c->at[FACTS_FIRST], c->at[FACTS_LAST]);
}

uint64_t facts_total(const struct fact_dev *dev, const char *counter)
{
	return find_counter(dev->counters, dev->num_counters, counter)->at[FACTS_LAST];
}

uint64_t facts_count_around(const struct fact_dev *dev, enum sniff_count kind)
{
	return dev->tally.counts[kind] + dev->around.counts[kind];
}

/* NAKs, in both directions */
uint64_t facts_naks_around(const struct fact_dev *dev, enum sniff_nak nak)
{
	return dev->tally.naks[SNIFF_IN][nak] + dev->tally.naks[SNIFF_OUT][nak] +
	       dev->around.naks[SNIFF_IN][nak] + dev->around.naks[SNIFF_OUT][nak];
}

bool facts_has_gid(const struct fact_dev *dev, const struct in6_addr *addr)
{
	for (int i = 0; i < dev->num_gids; i++) {
		if (IN6_ARE_ADDR_EQUAL(&dev->gids[i], addr))
			return true;
	}
	return false;
}

uint64_t facts_growth(const struct fact_dev *dev, const char *counter)
{
	return growth_of(dev, counter, FACTS_BEGIN, FACTS_END);
}

uint64_t facts_growth_around(const struct fact_dev *dev, const char *counter)
{
	return growth_of(dev, counter, FACTS_FIRST, FACTS_LAST);
}

/* Data packets; a negative @prio or @ecn stands for all of them */
uint64_t facts_data(const struct fact_dev *dev, enum sniff_way way, int prio,
		    int ecn)
{
	uint64_t sum = 0;

	for (int dscp = 0; dscp < SNIFF_DSCPS; dscp++) {
		if (prio >= 0 && dscp >> 3 != prio)
			continue;
		for (int e = 0; e < SNIFF_ECNS; e++) {
			if (ecn < 0 || e == ecn)
				sum += dev->tally.data[way][dscp][e];
		}
	}
	return sum;
}

uint64_t facts_cnps(const struct fact_dev *dev, enum sniff_way way)
{
	uint64_t sum = 0;

	for (int dscp = 0; dscp < SNIFF_DSCPS; dscp++)
		sum += dev->tally.cnps[way][dscp];
	return sum;
}

/* Data packets; a negative @dscp or @ecn stands for all of them */
uint64_t facts_data_around(const struct fact_dev *dev, enum sniff_way way,
			   int dscp, int ecn)
{
	uint64_t sum = 0;

	for (int d = 0; d < SNIFF_DSCPS; d++) {
		for (int e = 0; e < SNIFF_ECNS; e++) {
			if ((dscp < 0 || d == dscp) && (ecn < 0 || e == ecn))
				sum += dev->tally.data[way][d][e] +
				       dev->around.data[way][d][e];
		}
	}
	return sum;
}

/* CNPs; a negative @dscp stands for all of them */
uint64_t facts_cnps_around(const struct fact_dev *dev, enum sniff_way way,
			   int dscp)
{
	uint64_t sum = 0;

	for (int d = 0; d < SNIFF_DSCPS; d++) {
		if (dscp < 0 || d == dscp)
			sum += dev->tally.cnps[way][d] + dev->around.cnps[way][d];
	}
	return sum;
}

/* CNPs that left @dev for addresses of the device @to */
uint64_t facts_cnps_to(const struct fact_dev *dev, const struct fact_dev *to)
{
	const struct sniff_cnps *cnps = dev->tally.cnps_to;
	uint64_t sum = 0;

	for (int i = 0; i < SNIFF_ADDRS && cnps[i].count; i++) {
		if (facts_has_gid(to, &cnps[i].addr))
			sum += cnps[i].count;
	}
	return sum;
}

bool facts_all_with(const struct fact_dev *dev, enum sniff_way way, const struct fact_dev *peer)
{
	const struct tally *tally = &dev->tally;

	for (int i = 0; i < tally->num_flows; i++) {
		const struct sniff_flow *flow = &tally->flows[i];

		if (facts_has_gid(peer, &flow->remote))
			continue;
		for (int size = 0; size < SNIFF_SIZES; size++) {
			if (flow->packets[way][size])
				return false;
		}
	}
	return tally->num_flows < SNIFF_ADDRS;
}
