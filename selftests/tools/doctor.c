// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor in a world of a few events, whose clock advances while it reads. The doctor begins
 * at each millisecond before, during and after what happens: a loop that works is healthy
 * whenever one looks, and one that does not is found whenever all of it is in the interval.
 *
 * Then the doctor is shown the facts of two hosts as text, with one fault after the other: each
 * must be found, and nothing else, and without a fault there must be nothing to find. "doctor.sh
 * matrix" prints what is found.
 *
 * facts.c and the checks are the tool's own. What they read comes from here.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "child.h"
#include "clock.h"
#include "fail.h"
#include "finding.h"
#include "host.h"
#include "icrc.h"
#include "probe.h"
#include "qp.h"
#include "transfer_checks.h"

#define MS		1000000ULL	/* ns */
#define INTERVAL	(500 * MS)	/* that the doctor looks */
#define READING		(5 * MS)	/* takes so long */
#define SSH		(40 * MS)	/* later than the peer, this host begins */

/* Something happens: a counter grows, or a packet passes */
struct event {
	int at;			/* ms */
	int host;
	const char *counter;
	enum sniff_way way;
	bool cnp;
	int dscp, ecn;
	int n;
};

bool option_json;

static const struct event *events;
static int num_events;
static uint64_t now, zero;	/* ns; zero: when the events' time begins */
static int host;		/* that is looked at */
static uint64_t sniffed;	/* ns; up to then, from when the socket was opened */

static FILE *nothing(void)
{
	return fopen("/dev/null", "r");
}

/* --- what the doctor reads ------------------------------------------------ */

static const char *const names[] = {
	"np_cnp_sent", "rp_cnp_handled", "out_of_seq_request", "rcvd_seq_err", "sent_pkts",
};

static size_t name;
static char directory[512];

static DIR *fake_opendir(const char *path)
{
	name = 0;
	snprintf(directory, sizeof(directory), "%s", path);
	if (strstr(path, "hw_counters"))
		now += READING;
	return (DIR *)directory;
}

static struct dirent *fake_readdir(void)
{
	static struct dirent entry;
	bool counters = strstr(directory, "hw_counters");
	bool class = !strcmp(directory, "/sys/class/infiniband");

	if (name == (counters ? sizeof(names) / sizeof(*names) : 1))
		return NULL;
	snprintf(entry.d_name, sizeof(entry.d_name), "%s",
		 counters ? names[name] : class ? "rxe0" : "0");
	name++;
	return &entry;
}

static bool is_past(const struct event *e)
{
	return zero + e->at * MS <= now;
}

static FILE *fake_fopen(const char *path)
{
	static char text[64];
	const char *base = strrchr(path, '/') + 1;
	unsigned long long sum = 1000;

	if (!strcmp(base, "parent")) {
		snprintf(text, sizeof(text), "lo\n");
	} else if (strstr(path, "gids")) {
		snprintf(text, sizeof(text), "::ffff:10.0.0.%d\n", host + 1);
	} else {
		for (int i = 0; i < num_events; i++) {
			const struct event *e = &events[i];

			if (e->counter && e->host == host && is_past(e) &&
			    !strcmp(e->counter, base))
				sum += e->n;
		}
		snprintf(text, sizeof(text), "%llu\n", sum);
	}
	return fmemopen(text, strlen(text), "r");
}

static bool fake_sniff_open(struct sniff *sniff)
{
	sniff->fd = 0;
	sniffed = now;
	return true;
}

static void fake_sniff_read(struct tally *tally)
{
	struct in6_addr to;

	for (int i = 0; i < num_events; i++) {
		const struct event *e = &events[i];

		if (e->counter || e->host != host || !is_past(e) ||
		    zero + e->at * MS <= sniffed)
			continue;
		if (!e->cnp) {
			tally->data[e->way][e->dscp][e->ecn] += e->n;
			continue;
		}
		tally->cnps[e->way][e->dscp] += e->n;
		inet_pton(AF_INET6, "::ffff:10.0.0.1", &to);
		if (e->way == SNIFF_OUT)
			sniff_count_to(tally, &to, e->n);
	}
	sniffed = now;
}

uint64_t clock_now(void)
{
	return now;
}

static int fake_poll(int ms)
{
	now += ms > 10 ? 10 * MS : ms * MS;	/* a packet comes */
	return 0;
}

FILE *child_open(char *const argv[], pid_t *child)
{
	(void)argv;
	*child = 0;
	now += 4 * READING;
	return nothing();
}

bool child_close(FILE *from, pid_t child)
{
	(void)child;
	fclose(from);
	return true;
}

/* Nothing is known of the host but what its rxe device counts, and nothing is sent */
bool host_has(const char *dev)
{
	(void)dev;
	return true;
}

void host_counters(struct facts *facts, enum fact_moment moment)
{
	(void)facts;
	(void)moment;
}

void host_routes(struct facts *facts, const struct in6_addr *peers, int num_peers)
{
	(void)facts;
	(void)peers;
	(void)num_peers;
}

void host_link(struct fact_dev *dev)
{
	(void)dev;
}

void host_cm(struct fact_dev *dev)
{
	(void)dev;
}

void host_neighbours(struct fact_dev *dev)
{
	(void)dev;
}

void host_failed_qps(struct fact_dev *dev, bool again)
{
	(void)dev;
	(void)again;
}

void probe_open(struct probes *probes, const struct facts *facts)
{
	(void)facts;
	probes->num = 0;
}

void probe_send(const struct probes *probes)
{
	(void)probes;
}

void probe_close(struct probes *probes)
{
	(void)probes;
}

/* The module is not asked */
struct dev *dev_list(const char *dev)
{
	(void)dev;
	return NULL;
}

void dev_free(struct dev *list)
{
	(void)list;
}

void qp_dump(const struct qp_filter *filter, qp_each each, void *data)
{
	(void)filter;
	(void)each;
	(void)data;
}

#define opendir(path)		fake_opendir(path)
#define readdir(dir)		fake_readdir()
#define closedir(dir)		((void)(dir))
#define fopen(path, mode)	fake_fopen(path)
#define access(path, mode)	(-1)
#define close(fd)		((void)(fd))
#define poll(fds, n, ms)	((void)(fds), (void)(n), fake_poll(ms))
#define sniff_open(s, index)	fake_sniff_open(s)
#define sniff_read(s, tally)	fake_sniff_read(tally)
#define sniff_close(s)		((void)(s))

#include "facts.c"

/* --- what it finds -------------------------------------------------------- */

static char found[16][32], found_on[16][32];
static int num_found;

void finding_seen(const char *id, const char *on, const char *dev, const char *format, ...)
{
	(void)dev;
	(void)format;
	if (num_found == 16)
		return;
	snprintf(found_on[num_found], sizeof(found_on[0]), "%s", on);
	snprintf(found[num_found++], sizeof(found[0]), "%s", id);
}

void finding_why(const char *format, ...)
{
	(void)format;
}

/* Of all knobs that fixes set to something computed, the one with a bound: the kernel refuses more */
#define ALPHA_PERIOD_MAX	131071

static bool wrong_fix;

void finding_fix(const char *format, ...)
{
	char text[512], *value;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	value = strstr(text, " dce_tcp_rtt ");
	if (!value || strtoul(value + strlen(" dce_tcp_rtt "), NULL, 10) <= ALPHA_PERIOD_MAX)
		return;
	printf("# the kernel refuses this fix: %s\n", text);
	wrong_fix = true;
}

void finding_note(const char *format, ...)
{
	(void)format;
}

static bool finds(const char *id)
{
	for (int i = 0; i < num_found; i++) {
		if (!strcmp(found[i], id))
			return true;
	}
	return false;
}

/* --- looks ---------------------------------------------------------------- */

#define KNOB(name)	RDMA_DCQCN_A_SETTINGS_##name

static void gather(struct facts *facts, int of, uint64_t from)
{
	static const uint32_t settings[RDMA_DCQCN_A_SETTINGS_MAX + 1] = {
		[KNOB(NP_ENABLE)] = 255, [KNOB(RP_ENABLE)] = 255, [KNOB(CNP_DSCP)] = 48,
		[KNOB(MIN_TIME_BETWEEN_CNPS)] = 131071, [KNOB(RPG_MIN_DEC_FAC)] = 50,
		[KNOB(RPG_GD)] = 11, [KNOB(RPG_MIN_RATE)] = 1,
	};

	*facts = (struct facts) {};
	host = of;
	now = from;
	facts_find(facts, NULL);
	facts_gather(facts, INTERVAL, NULL, 0, NULL);
	facts->module = true;
	facts->devs->has_settings = true;
	facts->devs->line_rate = 10000000000ULL;
	memcpy(facts->devs->settings, settings, sizeof(settings));
}

/* The peer's facts come as text */
static void over_ssh(struct facts *facts)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	facts_print(f, facts);
	fclose(f);
	free(facts->devs);
	*facts = (struct facts) {};
	f = fmemopen(text, len, "r");
	facts_read(f, facts);
	fclose(f);
	free(text);
}

/* One host by itself */
static void look_alone(int at)
{
	struct facts facts;

	gather(&facts, 0, zero + at * (int64_t)MS);
	checks_host(&facts, facts.devs);
	free(facts.devs);
}

/* Both, as the doctor with --peer: that host begins first */
static void look_at_both(int at, int peer)
{
	struct facts facts[2];

	gather(&facts[!peer], !peer, zero + at * (int64_t)MS + SSH);
	gather(&facts[peer], peer, zero + at * (int64_t)MS);
	over_ssh(&facts[peer]);
	checks_pair(&facts[0], facts[0].devs, &facts[1], facts[1].devs);
	free(facts[0].devs);
	free(facts[1].devs);
}

static void look(int at, bool both)
{
	num_found = 0;
	if (both) {
		look_at_both(at, 0);
		look_at_both(at, 1);
	} else {
		look_alone(at);
	}
}

#define COUNTS(ms, of, name, times)	{ .at = ms, .host = of, .counter = name, .n = times }
#define DATA(ms, of, to, value, bits, times) \
	{ .at = ms, .host = of, .way = to, .dscp = value, .ecn = bits, .n = times }
#define CNPS(ms, of, to, times) \
	{ .at = ms, .host = of, .cnp = true, .way = to, .dscp = 48, .n = times }
/* Data passes all the time; the first of two DSCPs before the second */
#define PASSES(ms, first, second) \
	DATA(ms, 0, SNIFF_OUT, first, SNIFF_ECT_0, 10), DATA((ms) + 1, 1, SNIFF_IN, first, SNIFF_ECT_0, 10), \
	DATA((ms) + 100, 0, SNIFF_OUT, second, SNIFF_ECT_0, 10), \
	DATA((ms) + 101, 1, SNIFF_IN, second, SNIFF_ECT_0, 10)
#define STREAM(first, second) \
	PASSES(-2000, first, second), PASSES(-1700, first, second), PASSES(-1400, first, second), \
	PASSES(-1100, first, second), PASSES(-800, first, second), PASSES(-500, first, second), \
	PASSES(-200, first, second), PASSES(100, first, second), PASSES(400, first, second), \
	PASSES(700, first, second), PASSES(1000, first, second)

static const struct world {
	const char *what;
	const char *finding;		/* that must not be there; and none at all if it is healthy */
	bool both, healthy;
	struct event works[64], broken[64];
} worlds[] = { {
	/* the second mark comes within min_time_between_cnps */
	"a mark is answered", "ce-unanswered", false, true,
	{ DATA(0, 0, SNIFF_IN, 0, SNIFF_CE, 1), COUNTS(20, 0, "np_cnp_sent", 1),
	  DATA(130, 0, SNIFF_IN, 0, SNIFF_CE, 1) },
	{ DATA(0, 0, SNIFF_IN, 0, SNIFF_CE, 1) },
}, {
	"a CNP is obeyed", "cnp-filtered", false, true,
	{ CNPS(0, 0, SNIFF_IN, 1), COUNTS(20, 0, "rp_cnp_handled", 1) },
	{ CNPS(0, 0, SNIFF_IN, 1) },
}, {
	"a loss after a mark", "loss-without-marks", false, true,
	{ DATA(0, 0, SNIFF_IN, 0, SNIFF_CE, 1), COUNTS(1, 0, "np_cnp_sent", 1),
	  COUNTS(100, 0, "out_of_seq_request", 1) },
	{ COUNTS(0, 0, "out_of_seq_request", 1) },
}, {
	"what rxe sends passes the device", "loopback", false, true,
	{ COUNTS(0, 0, "sent_pkts", 100), DATA(20, 0, SNIFF_OUT, 0, SNIFF_ECT_0, 100) },
	{ COUNTS(0, 0, "sent_pkts", 100) },
}, {
	"CNPs that leave one host come in at the other", "cnp-lost", true, true,
	{ STREAM(0, 0), DATA(0, 1, SNIFF_IN, 0, SNIFF_CE, 1), COUNTS(1, 1, "np_cnp_sent", 3),
	  CNPS(1, 1, SNIFF_OUT, 3), CNPS(2, 0, SNIFF_IN, 3), COUNTS(3, 0, "rp_cnp_handled", 3) },
	{ STREAM(0, 0), DATA(0, 1, SNIFF_IN, 0, SNIFF_CE, 1), COUNTS(1, 1, "np_cnp_sent", 3),
	  CNPS(1, 1, SNIFF_OUT, 3) },
}, {
	"a packet without ECT left without it", "ecn-cleared", true, false,
	{ STREAM(0, 0), DATA(0, 0, SNIFF_OUT, 0, SNIFF_NOT_ECT, 1),
	  DATA(1, 1, SNIFF_IN, 0, SNIFF_NOT_ECT, 1) },
	{ STREAM(0, 0), DATA(1, 1, SNIFF_IN, 0, SNIFF_NOT_ECT, 1) },
}, {
	"two DSCPs by turns", "dscp-rewritten", true, true,
	{ STREAM(0, 24) },
	{ DATA(0, 0, SNIFF_OUT, 0, SNIFF_ECT_0, 10), DATA(1, 1, SNIFF_IN, 24, SNIFF_ECT_0, 10) },
} };

static void set_world(const struct event e[64])
{
	events = e;
	for (num_events = 0; num_events < 64 && e[num_events].n; num_events++)
		;
}

/* --- faults and findings ---------------------------------------------------- */

#define H1	"::ffff:10.0.0.1"
#define H2	"::ffff:10.0.0.2"
#define H3	"::ffff:10.0.0.3"

/* Probes of each size, in and out */
#define PROBES(pair) \
	"flow " pair " 0 592 0 4\nflow " pair " 0 1104 0 4\nflow " pair " 0 1280 0 4\n" \
	"flow " pair " 0 1500 0 4\nflow " pair " 0 2128 0 4\nflow " pair " 0 4176 0 4\n" \
	"flow " pair " 1 592 0 4\nflow " pair " 1 1104 0 4\nflow " pair " 1 1280 0 4\n" \
	"flow " pair " 1 1500 0 4\nflow " pair " 1 2128 0 4\nflow " pair " 1 4176 0 4\n"

#define KNOBS \
	"knob np_enable 255\nknob rp_enable 255\nknob cnp_dscp 48\nknob rpg_min_dec_fac 50\n" \
	"knob rpg_gd 11\nknob rpg_min_rate 1\nknob min_time_between_cnps 50\n"

/* h1 sends to h2, which answers; both have the module. Lines that are said again count. */
static const char * const well[2] = {
	"host h1 1\ntime 1000000000\nnet udp_in 0 1000 0 1300\nnet udp_no_port 0 0 0 0\n"
	"net rp_filter 0 0 0 0\nroute " H2 " " H1 " 0\ndev rxe0 eth0 10000000000\n"
	"counter sent_pkts 0 10000 0 13000\ncounter rcvd_pkts 0 1000 0 1300\n" KNOBS
	"sniffed 1\nlink 1 4200 -\ngid " H1 "\ngid fe80::1\ndata 1 0 2 10000\n"
	"asks " H1 " " H2 " 1000\n" PROBES(H1 " " H2)
	"flow " H1 " " H2 " 0 128 1000 4\nflow " H1 " " H2 " 1 1104 10000 4\n"
	"count 0 10000000\ncount 6 100\n",
	"host h2 1\ntime 1000000000\nnet udp_in 0 10000 0 13000\nnet udp_no_port 0 0 0 0\n"
	"net rp_filter 0 0 0 0\nroute " H1 " " H2 " 0\ndev rxe0 eth0 10000000000\n"
	"counter sent_pkts 0 1000 0 1300\ncounter rcvd_pkts 0 10000 0 13000\n" KNOBS
	"sniffed 1\nlink 1 4200 -\ngid " H2 "\ngid fe80::2\ndata 0 0 2 10000\n"
	PROBES(H2 " " H1)
	"flow " H2 " " H1 " 1 128 1000 4\nflow " H2 " " H1 " 0 1104 10000 4\ncount 2 200\n",
};

#define STALL(ms)	"time 1000000000 " ms "000000\n"
#define SILENT(pair, way) \
	"flow " pair " " way " 128 0 0\nflow " pair " " way " 592 0 0\nflow " pair " " way " 1104 0 0\n" \
	"flow " pair " " way " 1280 0 0\nflow " pair " " way " 1500 0 0\nflow " pair " " way " 2128 0 0\n" \
	"flow " pair " " way " 4176 0 0\n"

/* Facts of h1, which finds it alone as well; and facts of h2 */
#define HERE(fault, id, facts) \
	{ .what = fault, .finding = id, .on = "h1", .says = { facts }, .alone = true }
#define ALONE(fault, id, facts) \
	{ .what = fault, .finding = id, .on = "h1", .says = { facts }, .alone = true, \
	  .only_alone = true }
#define THERE(fault, id, facts) \
	{ .what = fault, .finding = id, .on = "h2", .says = { "", facts } }

static const struct fault {
	const char *what, *finding;
	const char *on;			/* the host; NULL: the one that does not ask */
	const char *says[2];		/* what the facts of h1 and h2 say besides, or otherwise */
	const char *silent;		/* the beginning of lines that h1 does not say */
	bool alone;			/* h1 finds it by itself as well */
	bool only_alone;		/* with h2's facts, another finding says more */
} faults[] = {
	{ .what = "no fault" },
	HERE("no carrier", "unusable-device", "link 0 4200 -\n"),
	{ .what = "a port of a bridge, without traffic", .finding = "unusable-device", .on = "h1", .says = { "link 1 4200 br0\ndata 1 0 2 0\n" SILENT(H1 " " H2, "0") SILENT(H1 " " H2, "1") },
	  .silent = "gid ::ffff", .alone = true },
	HERE("an address that rdma_cm does not find", "unusable-device",
	     "cm_fails 1\ndata 1 0 2 0\n" SILENT(H1 " " H2, "0") SILENT(H1 " " H2, "1")),
	{ .what = "addresses that rdma_cm does not find, and traffic",
	  .says = { "cm_fails 1\n", "cm_fails 1\n" } },
	{ .what = "no route", .finding = "no-route", .on = "h1", .says = { "route " H2 " :: 101\n" },
	  .silent = "route" },
	{ .what = "a route by another device", .finding = "no-route", .on = "h1", .says = { "route " H2 " ::ffff:192.168.0.1 0\n" },
	  .silent = "route" },
	{ .what = "no answer to ARP", .finding = "arp-incomplete", .on = "h1", .says = { "neigh " H2 "\n" } },
	{ .what = "an old link-local neighbour that failed", .says = { "neigh fe80::2\n" } },
	HERE("packets wait for ARP", "arp-incomplete", "neigh " H2 "\ndata 1 0 2 0\n" SILENT(H1 " " H2, "0") SILENT(H1 " " H2, "1")),
	THERE("an address that is gone", "wrong-gid", "flow ::ffff:10.0.0.9 " H1 " 0 1104 100 0\n"),
	HERE("RoCE v1", "wrong-gid", "count 1 20\n"),
	THERE("a firewall", "arrives-but-dropped", "net udp_in 7 7 7 7\ncounter rcvd_pkts 7 7 7 7\n"),
	THERE("a firewall, without traffic", "arrives-but-dropped",
	      "net udp_in 7 7 7 7\nflow " H2 " " H1 " 0 1104 0 4\nflow " H2 " " H1 " 0 128 0 4\n"),
	HERE("a link-local GID on the wrong link", "wrong-gid",
	     "dev rxe1 eth1 0\ngid ::ffff:192.168.0.1\nsniffed 1\nlink 1 4200 -\nneigh fe80::99\n"),
	HERE("a firewall here", "arrives-but-dropped", "net udp_in 7 7 7 7\ncounter rcvd_pkts 7 7 7 7\n"),
	THERE("a reverse path filter", "arrives-but-dropped", "net udp_in 7 7 7 7\nnet rp_filter 0 10000 0 13000\ncounter rcvd_pkts 7 7 7 7\n"),
	THERE("another network namespace", "arrives-but-dropped", "net udp_in 7 7 7 7\nnet udp_no_port 0 10000 0 13000\ncounter rcvd_pkts 7 7 7 7\n"),
	THERE("no QP there", "arrives-but-dropped", "counter rcvd_pkts 7 7 7 7\n"),
	{ .what = "a cut cable", .finding = "nothing-arrives", .says = { SILENT(H1 " " H2, "0"), SILENT(H2 " " H1, "0") } },
	THERE("an access list", "one-way", SILENT(H2 " " H1, "0")),
	THERE("an MTU of 1500 on the path", "large-only", "flow " H2 " " H1 " 0 2128 0 0\nflow " H2 " " H1 " 0 4176 0 0\n"),
	ALONE("no answer", "no-answer", SILENT(H1 " " H2, "0")),
	THERE("changed packets", "icrc-errors", "count 3 7\n"),
	THERE("packets that are overtaken", "out-of-order", "count 10 20\ncount 11 10\ncounter out_of_seq_request 0 9 0 9\n"),
	THERE("packets that are lost again", "loss-without-marks", "count 10 20\ncount 11 4\ncounter out_of_seq_request 0 9 0 9\n"),
	HERE("no listener", "cm-refused", "count 4 1\ncount 5 8\n"),
	THERE("no receives", "rnr", "naks 1 4 600\n"),
	ALONE("no receives", "rnr", "naks 0 4 600\n"),
	HERE("a short timeout", "ack-timeout", "count 7 90\ncount 8 5000000\ncount 9 9000000\n"),
	HERE("a failed QP", "qp-in-error", "failed_qp 17 4711 ib_write_bw\n"),
	HERE("a line rate that is too low", "line-too-low", "count 0 2000000000\n"),
	THERE("no module there", "one-side", "host h2 0\n"),
	ALONE("no module", "no-module", "host h1 0\n"),
	HERE("priorities off", "rp-off", "knob rp_enable 254\n"),
	THERE("priorities off", "np-off", "knob np_enable 254\n"),
	HERE("no cut", "no-cut-gd", "knob rpg_gd 15\n"),
	HERE("no cut", "no-cut-min-dec-fac", "knob rpg_min_dec_fac 95\n"),
	HERE("no cut", "no-cut-min-rate", "knob rpg_min_rate 10000\n"),
	HERE("a qdisc that loses", "lossy-qdisc", "qdisc netem 1 0 0 0\n"),
	HERE("a qdisc that paces", "host-qdisc", "qdisc fq 0 0 0 0\n"),
	THERE("a VLAN without an egress map", "cnp-pcp", "knob cnp_802p_prio 6\nvlan eth0.5 1\n"),
	{ .what = "VLANs that are mapped, or whose names a shell would change",
	  .says = { "knob cnp_802p_prio 6\nvlan eth0.5 64\nvlan eth$0 0\n", "vlan eth0.5 0\n" } },
	THERE("gaps", "loss-without-marks", "counter out_of_seq_request 0 9 0 9\n"),
	HERE("ECT cleared here", "not-ect", "data 1 0 0 10\n"),
	THERE("ECN cleared on the way", "ecn-cleared", "data 0 0 0 10\n"),
	THERE("another sender without the module", "not-ect-in",
	      "flow " H2 " " H3 " 0 1104 1500 0\ndata 0 26 0 1500\n"),
	{ .what = "another sender of more data, with another DSCP",
	  .says = { NULL, "flow " H2 " " H3 " 0 1104 15000 0\ndata 0 26 2 15000\n" } },
	THERE("another DSCP", "dscp-rewritten", "data 0 0 2 0\ndata 0 8 2 10000\n"),
	THERE("CNPs lost", "cnp-lost", "cnps 1 48 20\ncnps_to " H1 " 20\n"),
	HERE("CNPs filtered", "cnp-filtered", "cnps 0 48 20\n"),
	HERE("CNPs ignored", "cnp-ignored", "cnps 0 48 20\ncounter rp_cnp_ignored 0 20 0 20\n"),
	THERE("marks unanswered", "ce-unanswered", "data 0 0 3 20\n"),
	{ .what = "marks of which feedback tells a context",
	  .says = { "", "data 0 0 3 20\nknob ccc_algorithms 3\n"
		    "counter np_feedback_sent 0 9 0 9\n" } },
	THERE("marks unanswered, and feedback for READs", "ce-unanswered",
	      "data 0 0 3 20\ncounter np_feedback_sent 0 9 0 9\n"),
	THERE("CNPs that cannot be sent", "cnp-errors", "data 0 0 3 20\ncounter np_cnp_errors 0 3 0 3\n"),
	ALONE("data without ECT", "not-ect-in", "data 0 0 0 10\n"),
	HERE("CNPs too rare", "cnp-interval", "knob dce_tcp_rtt 50\n"),
	{ .what = "CNPs far too rare", .finding = "cnp-interval", .on = "h1", .alone = true,
	  .says = { "knob dce_tcp_rtt 50\n", "knob min_time_between_cnps 131071\n" } },
	HERE("a timer by hand", "knob-overrides", "knob rpg_time_reset 100\nqp 17 5000000000 0 300000\n"),
	{ .what = "knobs of DCQCN, beside another algorithm",
	  .says = { "other_cc 1\nknob rpg_gd 15\nknob rpg_min_dec_fac 95\nknob dce_tcp_rtt 50\n"
		    "knob rpg_time_reset 100\nqp 17 5000000000 0 300000\n" } },
	HERE("no cut, beside another algorithm", "no-cut-min-rate", "other_cc 1\nknob rpg_min_rate 10000\n"),
	HERE("a short ACK timeout", "ack-timeout-floor", "qp 17 1000000 8000000 100\n"),
	ALONE("a host's traffic to itself", "loopback",
	      "data 1 0 2 0\n" SILENT(H1 " " H2, "0") SILENT(H1 " " H2, "1")),
	/* a host that stood still most of the time shows only its own faults */
	{ .what = "an access list, and a long stall",
	  .says = { "", STALL("501") SILENT(H2 " " H1, "0") } },
	{ .what = "a smaller MTU, and a long stall at the other end",
	  .says = { STALL("501"), "flow " H2 " " H1 " 0 2128 0 0\nflow " H2 " " H1 " 0 4176 0 0\n" } },
	THERE("an access list, and a stall", "one-way", STALL("499") SILENT(H2 " " H1, "0")),
	{ .what = "a smaller MTU, and a stall at the other end", .finding = "large-only", .on = "h2",
	  .says = { STALL("499"), "flow " H2 " " H1 " 0 2128 0 0\nflow " H2 " " H1 " 0 4176 0 0\n" } },
	{ .what = "ECN cleared on the way, and a stall", .says = { STALL("101"), "data 0 0 0 10\n" } },
	{ .what = "an access list, and doctors out of step",
	  .says = { "time 1000000000 0 1\n", SILENT(H2 " " H1, "0") } },
	THERE("ECN cleared on the way, and a short stall", "ecn-cleared", STALL("99") "data 0 0 0 10\n"),
	HERE("a firewall, and a stall", "arrives-but-dropped",
	     STALL("900") "net udp_in 7 7 7 7\ncounter rcvd_pkts 7 7 7 7\n"),
};

#define FAULTS	(sizeof(faults) / sizeof(faults[0]))

static struct facts told(const char *first, const char *second, const char *silent)
{
	struct facts facts = {};
	char *text, *lines, *line, *at;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	lines = strdup(first);
	for (line = strtok_r(lines, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		if (!silent || strncmp(line, silent, strlen(silent)))
			fprintf(f, "%s\n", line);
	}
	fprintf(f, "%send\n", second ?: "");
	fclose(f);
	free(lines);
	f = fmemopen(text, len, "r");
	facts_read(f, &facts);
	fclose(f);
	free(text);
	return facts;
}

/* With the argument "matrix": for each fault what is found, by name */
static bool matrix;

static void print_row(const struct fault *fault, bool pair)
{
	printf("%-48s %-5s", fault->what, pair ? "both" : "alone");
	for (int i = 0; i < num_found; i++)
		printf(" %s", found[i]);
	printf("%s\n", num_found ? "" : " -");
}

/* Return whether exactly this is found, and say so otherwise */
static bool only(const struct fault *fault, bool pair)
{
	bool healthy = !fault->finding || (!pair && !fault->alone);

	if (matrix)
		print_row(fault, pair);
	if (healthy ? !num_found : num_found == 1 && !strcmp(found[0], fault->finding) &&
				   (!fault->on || !strcmp(found_on[0], fault->on)))
		return true;
	printf("# %s, %s:", fault->what, pair ? "both" : "alone");
	for (int i = 0; i < num_found; i++)
		printf(" %s@%s", found[i], found_on[i]);
	printf("%s\n", num_found ? "" : " nothing found");
	return false;
}

/* Return whether the doctor finds each fault, and nothing else; @whose facts are ours */
static bool finds_faults(int whose)
{
	bool ok = true;

	for (size_t i = 0; i < FAULTS; i++) {
		struct facts facts[2];

		for (int h = 0; h < 2; h++)
			facts[h] = told(well[h], faults[i].says[h], h ? NULL : faults[i].silent);
		num_found = 0;
		checks_pair(&facts[whose], facts[whose].devs, &facts[!whose], facts[!whose].devs);
		if (!faults[i].only_alone)
			ok = only(&faults[i], true) && ok;
		num_found = 0;
		checks_host(&facts[0], facts[0].devs);
		if (!faults[i].finding || faults[i].alone)
			ok = only(&faults[i], false) && ok;
	}
	return ok;
}

/* A second network, with a little less traffic on h1 and, as it looks a little later, more on h2 */
static bool finds_pair(void)
{
	static const struct fault none = { .what = "two networks" };
	static const char * const second[2] = {
		"route ::ffff:10.0.1.2 ::ffff:10.0.1.1 0\ndev rxe1 eth1 10000000000\n" KNOBS
		"counter sent_pkts 0 9900 0 13000\nsniffed 1\nlink 1 4200 -\ngid ::ffff:10.0.1.1\n"
		"data 1 0 2 9900\nflow ::ffff:10.0.1.1 ::ffff:10.0.1.2 1 1104 9900 4\n",
		"route ::ffff:10.0.1.1 ::ffff:10.0.1.2 0\ndev rxe1 eth1 10000000000\n" KNOBS
		"counter rcvd_pkts 0 10100 0 13000\nsniffed 1\nlink 1 4200 -\ngid ::ffff:10.0.1.2\n"
		"data 0 0 2 10100\nflow ::ffff:10.0.1.2 ::ffff:10.0.1.1 0 1104 10100 4\n",
	};
	struct facts facts[2];

	for (int h = 0; h < 2; h++)
		facts[h] = told(well[h], second[h], NULL);
	num_found = 0;
	checks_both(&facts[0], &facts[1]);
	return only(&none, true);
}

/* A peer without a device: there is nothing of it to compare */
static bool finds_no_device(void)
{
	static const struct fault fault = { "no device at the peer", "no-device", .on = "h2" };
	struct facts facts = { .host = "h2" };

	num_found = 0;
	transfer_checks_missing(&facts);
	return only(&fault, true);
}

/* The ICRC depends on each byte but those that the path may change */
static int icrc_covers(void)
{
	static const struct { size_t header; uint8_t version, changes[8]; } kinds[] = {
		{ 20, 0x45, { 1, 8, 10, 11, 26, 27, 32 } },
		{ 40, 0x60, { 0, 1, 2, 3, 7, 46, 47, 52 } },
		/* with as many options as there can be */
		{ 60, 0x4f, { 1, 8, 10, 11, 66, 67, 72 } },
	};
	int wrong = 0;

	for (int k = 0; k < 3; k++) {
		size_t len = kinds[k].header + 8 + 12 + 16;
		uint8_t p[96];
		uint32_t icrc;

		for (size_t i = 0; i < len; i++)
			p[i] = 7 * i;
		p[0] = kinds[k].version;
		icrc = icrc_compute(p, kinds[k].header, len);
		for (size_t i = 0; i < len; i++) {
			bool changes = i ? !!memchr(kinds[k].changes, i, 8) : k == 1;

			p[i] ^= 1;
			if ((icrc_compute(p, kinds[k].header, len) == icrc) != changes) {
				printf("# the ICRC of a packet with %zu bytes of IP header %s byte %zu\n",
				       kinds[k].header, changes ? "covers" : "does not cover", i);
				wrong = 1;
			}
			p[i] ^= 1;
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int failed = icrc_covers();

	matrix = argc > 1 && !strcmp(argv[1], "matrix");

	failed |= !finds_no_device();
	failed |= !finds_pair();
	zero = 100000 * MS;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++) {
		const struct world *w = &worlds[i];
		int wrong = 0, at = 0;

		set_world(w->works);
		for (int ms = -1300; ms < 600; ms++) {
			look(ms, w->both);
			if (finds(w->finding) || (w->healthy && num_found)) {
				wrong++;
				at = ms;
				if (wrong == 1)
					printf("# %s: finds %s\n", w->what, found[0]);
			}
		}
		if (wrong)
			printf("# %s: wrong in %d of 1900 looks, the last at %d ms\n", w->what,
			       wrong, at);
		set_world(w->broken);
		look(-400, w->both);
		if (!finds(w->finding))
			printf("# %s, if not: does not find %s\n", w->what, w->finding);
		failed |= wrong || !finds(w->finding);
	}
	for (int whose = 0; whose < (matrix ? 1 : 2); whose++)
		failed |= !finds_faults(whose);
	return failed || wrong_fix;
}
