// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen of a host within an interval: counters before and after,
 * settings, qdiscs, limited QPs, and the packets that came and went. Another
 * host's facts come as text, as facts_print() writes it.
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
#include <unistd.h>

#include "child.h"
#include "clean.h"
#include "clock.h"
#include "facts.h"
#include "fail.h"
#include "finding.h"
#include "growth.h"
#include "knob.h"
#include "qp.h"

#define CLASS		"/sys/class/infiniband"
#define MODULE		"/sys/module/rdma_dcqcn"
#define PATH_LEN	512

/* ns; before and after the interval. A mark is answered, or was within the longest
 * min_time_between_cnps (131 ms); it takes some ms to find out about a QP.
 */
#define AROUND		150000000ULL

/* Copy as much of a name as fits */
static void copy(char *to, const char *from, size_t size)
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

static struct fact_dev *add_dev(struct facts *facts, const char *name,
				const char *ifname)
{
	struct fact_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		fail_errno("devices");
	copy(dev->name, name, sizeof(dev->name));
	copy(dev->ifname, ifname, sizeof(dev->ifname));
	dev->fd = -1;
	dev->next = facts->devs;
	facts->devs = dev;
	return dev;
}

/* Findings have commands to copy, with the names of devices */
static bool is_usable(const char *name, const char *ifname)
{
	return clean_word(name) && clean_word(ifname);
}

static void find_dev(struct facts *facts, char *name, char *ifname)
{
	if (is_usable(name, ifname))
		add_dev(facts, name, ifname);
	else
		finding_note("%s on %s is left out: a shell would change its name",
			     clean(name), clean(ifname));
}

/* rxe devices have a file that names their network device. Those of other network namespaces
 * may be shown here, too; the module lists only ours.
 */
static void find_devs(struct facts *facts, const char *name)
{
	struct dev *ours = access(MODULE, F_OK) ? NULL : dev_list(NULL);
	char path[PATH_LEN], ifname[FACTS_WORD];
	DIR *dir = opendir(CLASS);
	struct dirent *entry;

	if (!dir) {
		dev_free(ours);
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    (name && strcmp(name, entry->d_name)))
			continue;
		snprintf(path, sizeof(path), CLASS "/%s/parent", entry->d_name);
		if (read_word(path, ifname) && if_nametoindex(ifname) &&
		    (access(MODULE, F_OK) || dev_find(ours, entry->d_name)))
			find_dev(facts, entry->d_name, ifname);
	}
	closedir(dir);
	dev_free(ours);
}

static struct fact_counter *counter_of(struct fact_dev *dev, const char *name)
{
	for (int i = 0; i < dev->num_counters; i++) {
		if (!strcmp(dev->counters[i].name, name))
			return &dev->counters[i];
	}
	if (dev->num_counters == FACTS_COUNTERS)
		return NULL;
	copy(dev->counters[dev->num_counters].name, name, FACTS_WORD);
	return &dev->counters[dev->num_counters++];
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
		counter = counter_of(dev, entry->d_name);
		if (!counter)
			break;
		counter->at[moment] = strtoull(word, NULL, 10);
	}
	closedir(dir);
}

static void add_gid(struct fact_dev *dev, const char *text)
{
	struct in6_addr gid;

	if (dev->num_gids < FACTS_GIDS && inet_pton(AF_INET6, text, &gid) == 1 &&
	    !IN6_IS_ADDR_UNSPECIFIED(&gid))
		dev->gids[dev->num_gids++] = gid;
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
			add_gid(dev, word);
	}
	closedir(dir);
}

/* These qdiscs hold filters, and count packets that those drop on input, too */
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
			copy(qdisc->kind, kind, sizeof(qdisc->kind));
			qdisc->loses = strstr(line, " loss ");
			qdisc->ecn = strstr(line, " ecn");
		} else if (qdisc && at &&
			   sscanf(at, "(dropped %llu", &dropped) == 1) {
			*(after ? &qdisc->after : &qdisc->before) = dropped;
		}
	}
	dev->num_qdiscs = n;
	if (!child_close(tc, child) && !after)
		finding_note("%s: tc does not show the qdiscs of %s (is iproute2 installed?): problems of theirs will be missed",
			     dev->name, dev->ifname);
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
}

/* Count packets for @nsec */
static void sniff(struct facts *facts, uint64_t nsec, bool around)
{
	uint64_t end = clock_now() + nsec;

	for (uint64_t time = clock_now(); time < end; time = clock_now()) {
		struct pollfd fds[FACTS_QPS];
		int n = 0;

		for (struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
			sniff_read(dev->fd, around ? &dev->around : &dev->tally);
			if (n < FACTS_QPS)
				fds[n++] = (struct pollfd) {
					.fd = dev->fd, .events = POLLIN };
		}
		poll(fds, n, (end - time) / 1000000 + 1);
	}
}

/* Find rxe devices, or the one of that name. Return true if there is any. */
bool facts_find(struct facts *facts, const char *name)
{
	find_devs(facts, name);
	return facts->devs;
}

/* Gather facts about the devices of facts_find(), for @nsec */
void facts_gather(struct facts *facts, uint64_t nsec)
{
	struct fact_dev *dev;

	if (gethostname(facts->host, sizeof(facts->host) - 1))
		copy(facts->host, "?", sizeof(facts->host));
	facts->module = !access(MODULE, F_OK);
	read_all_counters(facts, FACTS_FIRST);
	for (dev = facts->devs; dev; dev = dev->next) {
		read_qdiscs(dev, false);
		dev->fd = sniff_open(if_nametoindex(dev->ifname));
		if (dev->fd < 0)
			fail("%s: listening failed: %s", dev->ifname,
			     strerror(errno));
	}
	sniff(facts, AROUND, true);
	read_all_counters(facts, FACTS_BEGIN);
	sniff(facts, nsec, false);
	read_all_counters(facts, FACTS_END);
	sniff(facts, AROUND, true);
	read_all_counters(facts, FACTS_LAST);
	for (dev = facts->devs; dev; dev = dev->next) {
		sniff_read(dev->fd, &dev->around);
		close(dev->fd);
		read_qdiscs(dev, true);
		read_gids(dev);
		if (facts->module)
			read_module(dev);
	}
}

/* @suffix: of the names of what is around the interval */
static void print_tally(FILE *out, const struct tally *tally, const char *suffix)
{
	for (int way = 0; way < SNIFF_WAYS; way++) {
		for (int dscp = 0; dscp < SNIFF_DSCPS; dscp++) {
			if (tally->cnps[way][dscp])
				fprintf(out, "cnps%s %d %d %llu\n", suffix, way,
					dscp, (unsigned long long)
					tally->cnps[way][dscp]);
			for (int ecn = 0; ecn < SNIFF_ECNS; ecn++) {
				if (tally->data[way][dscp][ecn])
					fprintf(out, "data%s %d %d %d %llu\n",
						suffix, way, dscp, ecn,
						(unsigned long long)
						tally->data[way][dscp][ecn]);
			}
		}
	}
}

static void print_cnps_to(FILE *out, const struct tally *tally)
{
	char addr[INET6_ADDRSTRLEN];

	for (int i = 0; i < SNIFF_ADDRS && tally->cnps_to[i].count; i++)
		fprintf(out, "cnps_to %s %llu\n",
			inet_ntop(AF_INET6, &tally->cnps_to[i].addr, addr,
				  sizeof(addr)),
			(unsigned long long)tally->cnps_to[i].count);
}

static void print_counter(FILE *out, const struct fact_counter *counter)
{
	/* the first two are all that older versions know */
	fprintf(out, "counter %s %llu %llu %llu %llu\n", counter->name,
		(unsigned long long)counter->at[FACTS_BEGIN],
		(unsigned long long)counter->at[FACTS_END],
		(unsigned long long)counter->at[FACTS_FIRST],
		(unsigned long long)counter->at[FACTS_LAST]);
}

void facts_print(FILE *out, const struct facts *facts)
{
	char addr[INET6_ADDRSTRLEN];

	fprintf(out, "host %s %d\n", facts->host, facts->module);
	for (const struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		fprintf(out, "dev %s %s %llu\n", dev->name, dev->ifname,
			(unsigned long long)dev->line_rate);
		for (int i = 0; i < dev->num_counters; i++)
			print_counter(out, &dev->counters[i]);
		for (int i = 1; dev->has_settings &&
		     i <= RDMA_DCQCN_A_SETTINGS_MAX; i++)
			fprintf(out, "knob %s %u\n", knobs[i].name,
				dev->settings[i]);
		for (int i = 0; i < dev->num_qdiscs; i++)
			fprintf(out, "qdisc %s %d %d %llu %llu\n",
				dev->qdiscs[i].kind, dev->qdiscs[i].loses,
				dev->qdiscs[i].ecn,
				(unsigned long long)dev->qdiscs[i].before,
				(unsigned long long)dev->qdiscs[i].after);
		for (int i = 0; i < dev->num_qps; i++)
			fprintf(out, "qp %llu %llu %llu %llu\n",
				(unsigned long long)dev->qps[i].qpn,
				(unsigned long long)dev->qps[i].rate,
				(unsigned long long)dev->qps[i].floor,
				(unsigned long long)dev->qps[i].rtt);
		for (int i = 0; i < dev->num_gids; i++)
			fprintf(out, "gid %s\n",
				inet_ntop(AF_INET6, &dev->gids[i], addr,
					  sizeof(addr)));
		print_cnps_to(out, &dev->tally);
		print_tally(out, &dev->tally, "");
		print_tally(out, &dev->around, "_around");
	}
	fprintf(out, "end\n");
}

/* Ignore other lines, and facts of newer versions of this program */
static void read_fact(const char *line, struct facts *facts)
{
	char word[FACTS_WORD], other[FACTS_WORD];
	struct fact_dev *dev = facts->devs;
	unsigned long long a, b, c, d = 0;
	const struct knob *knob;
	int way, dscp, ecn, loses, n;
	struct in6_addr addr;

	if (sscanf(line, "host %63s %d", word, &way) == 2) {
		copy(facts->host, word, sizeof(facts->host));
		facts->module = way;
	} else if (sscanf(line, "dev %63s %63s %llu", word, other, &a) == 3) {
		if (!is_usable(word, other))
			fail("%s on %s: the peer's device has a name that a shell would change",
			     word, other);
		add_dev(facts, word, other)->line_rate = a;
	} else if (!dev) {
		return;
	} else if ((n = sscanf(line, "counter %63s %llu %llu %llu %llu", word,
			       &a, &b, &c, &d)) >= 3) {
		struct fact_counter *counter = counter_of(dev, word);

		if (counter) {
			counter->at[FACTS_BEGIN] = a;
			counter->at[FACTS_END] = b;
			counter->at[FACTS_FIRST] = n == 5 ? c : a;
			counter->at[FACTS_LAST] = n == 5 ? d : b;
		}
	} else if (sscanf(line, "knob %63s %llu", word, &a) == 2) {
		knob = knob_by_name(word);
		if (knob)
			dev->settings[knob_attr(knob)] = a;
		dev->has_settings = true;
	} else if (sscanf(line, "qdisc %63s %d %d %llu %llu", word, &loses,
			  &ecn, &a, &b) == 5) {
		if (dev->num_qdiscs == FACTS_QDISCS)
			return;
		dev->qdiscs[dev->num_qdiscs] = (struct fact_qdisc) {
			.loses = loses, .ecn = ecn, .before = a, .after = b };
		copy(dev->qdiscs[dev->num_qdiscs++].kind, word, FACTS_WORD);
	} else if (sscanf(line, "qp %llu %llu %llu %llu", &a, &b, &c, &d) >= 3) {
		if (dev->num_qps < FACTS_QPS)
			dev->qps[dev->num_qps++] = (struct fact_qp) {
				.qpn = a, .rate = b, .floor = c, .rtt = d };
	} else if (sscanf(line, "gid %63s", word) == 1) {
		add_gid(dev, word);
	} else if (sscanf(line, "cnps_to %63s %llu", word, &a) == 2) {
		if (inet_pton(AF_INET6, word, &addr) == 1)
			sniff_count_to(&dev->tally, &addr, a);
	} else if (sscanf(line, "cnps %d %d %llu", &way, &dscp, &a) == 3) {
		dev->tally.cnps[way & 1][dscp & 63] = a;
	} else if (sscanf(line, "data %d %d %d %llu", &way, &dscp, &ecn,
			  &a) == 4) {
		dev->tally.data[way & 1][dscp & 63][ecn & 3] = a;
	} else if (sscanf(line, "cnps_around %d %d %llu", &way, &dscp, &a) == 3) {
		dev->around.cnps[way & 1][dscp & 63] = a;
	} else if (sscanf(line, "data_around %d %d %d %llu", &way, &dscp, &ecn,
			  &a) == 4) {
		dev->around.data[way & 1][dscp & 63][ecn & 3] = a;
	}
}

/* Ends the program if the facts are incomplete */
void facts_read(FILE *in, struct facts *facts)
{
	char line[1024];

	while (fgets(line, sizeof(line), in)) {
		if (!strcmp(line, "end\n"))
			return;
		read_fact(line, facts);
	}
	fail("the peer's answer is incomplete (is its dcqcn older or newer?)");
}

static uint64_t growth_of(const struct fact_dev *dev, const char *counter,
			  enum fact_moment from, enum fact_moment to)
{
	for (int i = 0; i < dev->num_counters; i++) {
		const struct fact_counter *c = &dev->counters[i];

		if (!strcmp(c->name, counter))
			return growth(c->at[from], c->at[to]);
	}
	return 0;
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
		for (int g = 0; g < to->num_gids; g++) {
			if (IN6_ARE_ADDR_EQUAL(&cnps[i].addr, &to->gids[g])) {
				sum += cnps[i].count;
				break;
			}
		}
	}
	return sum;
}
