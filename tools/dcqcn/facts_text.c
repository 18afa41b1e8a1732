// SPDX-License-Identifier: GPL-2.0
/* Facts as text: what one host tells another, line by line. */
#include <arpa/inet.h>
#include <string.h>

#include "facts.h"
#include "fail.h"
#include "knob.h"

/* More than any host has to say: a peer that goes on for ever is not waited for */
#define LINES_MAX	20000

typedef unsigned long long ull;

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

static const char *as_text(const struct in6_addr *addr)
{
	static char text[4][INET6_ADDRSTRLEN];
	static unsigned int next;

	return inet_ntop(AF_INET6, addr, text[next++ % 4], INET6_ADDRSTRLEN);
}

static void print_flows(FILE *out, const struct tally *tally, const char *suffix)
{
	for (int i = 0; i < tally->num_flows; i++) {
		const struct sniff_flow *flow = &tally->flows[i];

		fprintf(out, "asks%s %s %s %llu\n", suffix, as_text(&flow->local),
			as_text(&flow->remote), (ull)flow->asks);
		for (int way = 0; way < SNIFF_WAYS; way++) {
			for (int size = 0; size < SNIFF_SIZES; size++) {
				if (flow->packets[way][size] || flow->probes[way][size])
					fprintf(out, "flow%s %s %s %d %d %llu %llu\n", suffix,
						as_text(&flow->local), as_text(&flow->remote), way,
						sniff_sizes[size],
						(ull)flow->packets[way][size],
						(ull)flow->probes[way][size]);
			}
		}
	}
}

/* By number: new kinds come at the end */
static void print_kinds(FILE *out, const struct tally *tally, const char *suffix)
{
	for (int way = 0; way < SNIFF_WAYS; way++) {
		for (int nak = 0; nak < SNIFF_NAKS; nak++) {
			if (tally->naks[way][nak])
				fprintf(out, "naks%s %d %d %llu\n", suffix, way, nak,
					(ull)tally->naks[way][nak]);
		}
	}
	for (int kind = 0; kind < SNIFF_COUNTS; kind++) {
		if (tally->counts[kind])
			fprintf(out, "count%s %d %llu\n", suffix, kind,
				(ull)tally->counts[kind]);
	}
}

static void print_cnps_to(FILE *out, const struct tally *tally)
{
	for (int i = 0; i < SNIFF_ADDRS && tally->cnps_to[i].count; i++)
		fprintf(out, "cnps_to %s %llu\n", as_text(&tally->cnps_to[i].addr),
			(unsigned long long)tally->cnps_to[i].count);
}

static void print_counter(FILE *out, const char *word,
			  const struct fact_counter *counter)
{
	/* the first two are all that older versions know */
	fprintf(out, "%s %s %llu %llu %llu %llu\n", word, counter->name,
		(unsigned long long)counter->at[FACTS_BEGIN],
		(unsigned long long)counter->at[FACTS_END],
		(unsigned long long)counter->at[FACTS_FIRST],
		(unsigned long long)counter->at[FACTS_LAST]);
}

/* How the device and its network device are set up, and what does not work there */
static void print_link(FILE *out, const struct fact_dev *dev)
{
	fprintf(out, "sniffed %d\n", dev->sniffed);
	if (dev->has_link)
		fprintf(out, "link %d %u %s\n", dev->up, dev->mtu,
			*dev->master ? dev->master : "-");
	if (dev->cm_fails)
		fprintf(out, "cm_fails 1\n");
	if (dev->other_cc)
		fprintf(out, "other_cc 1\n");
	for (int i = 0; i < dev->num_neighs; i++)
		fprintf(out, "neigh %s\n", as_text(&dev->neighs[i]));
	for (int i = 0; i < dev->num_failed_qps; i++)
		fprintf(out, "failed_qp %llu %llu %s\n", (ull)dev->failed_qps[i].qpn,
			(ull)dev->failed_qps[i].pid, dev->failed_qps[i].program);
}

void facts_print(FILE *out, const struct facts *facts)
{
	fprintf(out, "host %s %d\n", facts->host, facts->module);
	fprintf(out, "time %llu %llu %d\n", (ull)facts->nsec, (ull)facts->stall, facts->apart);
	for (int i = 0; i < facts->num_net; i++)
		print_counter(out, "net", &facts->net[i]);
	for (int i = 0; i < facts->num_routes; i++)
		fprintf(out, "route %s %s %d\n", as_text(&facts->routes[i].remote),
			as_text(&facts->routes[i].local), facts->routes[i].error);
	for (const struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		fprintf(out, "dev %s %s %llu\n", dev->name, dev->ifname,
			(unsigned long long)dev->line_rate);
		for (int i = 0; i < dev->num_counters; i++)
			print_counter(out, "counter", &dev->counters[i]);
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
		for (int i = 0; i < dev->num_vlans; i++)
			fprintf(out, "vlan %s %u\n", dev->vlans[i].ifname, dev->vlans[i].mapped);
		for (int i = 0; i < dev->num_qps; i++)
			fprintf(out, "qp %llu %llu %llu %llu\n",
				(unsigned long long)dev->qps[i].qpn,
				(unsigned long long)dev->qps[i].rate,
				(unsigned long long)dev->qps[i].floor,
				(unsigned long long)dev->qps[i].rtt);
		for (int i = 0; i < dev->num_gids; i++)
			fprintf(out, "gid %s\n", as_text(&dev->gids[i]));
		print_link(out, dev);
		print_cnps_to(out, &dev->tally);
		print_tally(out, &dev->tally, "");
		print_tally(out, &dev->around, "_around");
		print_flows(out, &dev->tally, "");
		print_flows(out, &dev->around, "_around");
		print_kinds(out, &dev->tally, "");
		print_kinds(out, &dev->around, "_around");
	}
	fprintf(out, "end\n");
}

static void read_counter(struct fact_counter *counter, int n,
			 const unsigned long long v[4])
{
	if (!counter)
		return;
	counter->at[FACTS_BEGIN] = v[0];
	counter->at[FACTS_END] = v[1];
	counter->at[FACTS_FIRST] = v[n == 5 ? 2 : 0];
	counter->at[FACTS_LAST] = v[n == 5 ? 3 : 1];
}

static bool read_address(const char *text, struct in6_addr *addr)
{
	return inet_pton(AF_INET6, text, addr) == 1;
}

/* Facts about the host, which come before its devices */
static bool read_host(const char *line, struct facts *facts)
{
	char word[FACTS_WORD], other[FACTS_WORD];
	struct fact_route route;
	unsigned long long v[4];
	int n;

	v[1] = 0;
	v[2] = 0;
	if (sscanf(line, "time %llu %llu %llu", v, v + 1, v + 2) >= 1) {
		facts->nsec = v[0];
		facts->stall = v[1];
		facts->apart = v[2];
	} else if ((n = sscanf(line, "net %63s %llu %llu %llu %llu", word, v, v + 1,
			       v + 2, v + 3)) == 5) {
		read_counter(facts_counter(facts->net, &facts->num_net, word), n, v);
	} else if (sscanf(line, "route %63s %63s %d", word, other, &route.error) == 3) {
		if (facts->num_routes < FACTS_ROUTES &&
		    read_address(word, &route.remote) &&
		    read_address(other, &route.local))
			facts->routes[facts->num_routes++] = route;
	} else {
		return false;
	}
	return true;
}

/* What print_link() wrote */
static bool read_link(const char *line, struct fact_dev *dev)
{
	char word[FACTS_WORD];
	unsigned long long a, b;
	int up;

	if (sscanf(line, "sniffed %d", &up) == 1) {
		dev->sniffed = up;
	} else if (sscanf(line, "cm_fails %d", &up) == 1) {
		dev->cm_fails = up;
	} else if (sscanf(line, "other_cc %d", &up) == 1) {
		dev->other_cc = up;
	} else if (sscanf(line, "link %d %llu %63s", &up, &a, word) == 3) {
		dev->has_link = true;
		dev->up = up;
		dev->mtu = a;
		if (strcmp(word, "-") && facts_usable(word, word))
			facts_copy(dev->master, word, sizeof(dev->master));
	} else if (sscanf(line, "neigh %63s", word) == 1) {
		if (dev->num_neighs < FACTS_NEIGHS &&
		    read_address(word, &dev->neighs[dev->num_neighs]))
			dev->num_neighs++;
	} else if (sscanf(line, "failed_qp %llu %llu %63s", &a, &b, word) == 3) {
		if (dev->num_failed_qps == FACTS_QPS)
			return true;
		dev->failed_qps[dev->num_failed_qps] = (struct fact_failed_qp) {
			.qpn = a, .pid = b };
		facts_copy(dev->failed_qps[dev->num_failed_qps++].program, word,
			   FACTS_WORD);
	} else {
		return false;
	}
	return true;
}

/* What print_flows() and print_kinds() wrote; @suffix as there */
static bool read_flows(const char *line, const char *suffix, struct tally *tally)
{
	char format[64], local[FACTS_WORD], remote[FACTS_WORD];
	struct in6_addr here, there;
	struct sniff_flow *flow;
	unsigned long long a, b;
	int way, kind;

	snprintf(format, sizeof(format), "asks%s %%63s %%63s %%llu", suffix);
	if (sscanf(line, format, local, remote, &a) == 3 &&
	    read_address(local, &here) && read_address(remote, &there)) {
		flow = sniff_flow(tally, &here, &there);
		if (flow)
			flow->asks = a;
		return true;
	}
	snprintf(format, sizeof(format), "flow%s %%63s %%63s %%d %%d %%llu %%llu", suffix);
	if (sscanf(line, format, local, remote, &way, &kind, &a, &b) == 6 && kind >= 0 &&
	    read_address(local, &here) && read_address(remote, &there)) {
		flow = sniff_flow(tally, &here, &there);
		if (flow) {
			flow->packets[way & 1][sniff_size(kind)] = a;
			flow->probes[way & 1][sniff_size(kind)] = b;
		}
		return true;
	}
	snprintf(format, sizeof(format), "naks%s %%d %%d %%llu", suffix);
	if (sscanf(line, format, &way, &kind, &a) == 3 && kind >= 0 && kind < SNIFF_NAKS) {
		tally->naks[way & 1][kind] = a;
		return true;
	}
	snprintf(format, sizeof(format), "count%s %%d %%llu", suffix);
	if (sscanf(line, format, &kind, &a) == 2 && kind >= 0 && kind < SNIFF_COUNTS) {
		tally->counts[kind] = a;
		return true;
	}
	return false;
}

/* Ignore other lines, and facts of newer versions of this program */
static void read_fact(const char *line, struct facts *facts)
{
	char word[FACTS_WORD], other[FACTS_WORD];
	struct fact_dev *dev = facts->devs;
	unsigned long long a, b, c, d = 0, v[4];
	const struct knob *knob;
	int way, dscp, ecn, loses, n;
	struct in6_addr addr;

	if (sscanf(line, "host %63s %d", word, &way) == 2) {
		facts_copy(facts->host, word, sizeof(facts->host));
		facts->module = way;
	} else if (read_host(line, facts)) {
		return;
	} else if (sscanf(line, "dev %63s %63s %llu", word, other, &a) == 3) {
		if (!facts_usable(word, other))
			fail("%s on %s: the peer's device has a name that is not safe in a shell command",
			     word, other);
		facts_add_dev(facts, word, other)->line_rate = a;
	} else if (!dev || read_link(line, dev) ||
		   read_flows(line, "", &dev->tally) ||
		   read_flows(line, "_around", &dev->around)) {
		return;
	} else if ((n = sscanf(line, "counter %63s %llu %llu %llu %llu", word,
			       v, v + 1, v + 2, v + 3)) >= 3) {
		read_counter(facts_counter(dev->counters, &dev->num_counters, word), n, v);
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
		facts_copy(dev->qdiscs[dev->num_qdiscs++].kind, word, FACTS_WORD);
	} else if (sscanf(line, "vlan %63s %llu", word, &a) == 2) {
		facts_add_vlan(dev, word, a);
	} else if (sscanf(line, "qp %llu %llu %llu %llu", &a, &b, &c, &d) >= 3) {
		if (dev->num_qps < FACTS_QPS)
			dev->qps[dev->num_qps++] = (struct fact_qp) {
				.qpn = a, .rate = b, .floor = c, .rtt = d };
	} else if (sscanf(line, "gid %63s", word) == 1) {
		facts_add_gid(dev, word);
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

	for (int n = 0; n < LINES_MAX && fgets(line, sizeof(line), in); n++) {
		if (!strcmp(line, "end\n"))
			return;
		read_fact(line, facts);
	}
	fail("the peer's answer is incomplete (is its dcqcn older or newer?)");
}

