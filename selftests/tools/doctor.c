// SPDX-License-Identifier: GPL-2.0
/*
 * The doctor in a world of a few events, whose clock advances while it reads. The doctor begins
 * at each millisecond before, during and after what happens: a loop that works is healthy
 * whenever one looks, and one that does not is found whenever all of it is in the interval.
 *
 * facts.c and checks.c are the tool's own. What they read comes from here.
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
#include "qp.h"

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

static int fake_sniff_open(void)
{
	sniffed = now;
	return 0;
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

/* The module is not asked */
struct dev *dev_list(const char *dev)
{
	(void)dev;
	return NULL;
}

struct dev *dev_find(struct dev *list, const char *dev)
{
	(void)dev;
	return list;
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
#define sniff_open(index)	fake_sniff_open()
#define sniff_read(fd, tally)	fake_sniff_read(tally)

#include "facts.c"

/* --- what it finds -------------------------------------------------------- */

static char found[16][32];
static int num_found;

void finding_seen(const char *id, const char *on, const char *dev, const char *format, ...)
{
	(void)on;
	(void)dev;
	(void)format;
	if (num_found < 16)
		snprintf(found[num_found++], sizeof(found[0]), "%s", id);
}

void finding_why(const char *format, ...)
{
	(void)format;
}

void finding_fix(const char *format, ...)
{
	(void)format;
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
	facts_gather(facts, INTERVAL);
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
	checks_host(&facts, facts.devs, NULL);
	checks_alone(&facts, facts.devs);
	free(facts.devs);
}

/* Both, as the doctor with --peer: that host begins first */
static void look_at_both(int at, int peer)
{
	struct facts facts[2];

	gather(&facts[!peer], !peer, zero + at * (int64_t)MS + SSH);
	gather(&facts[peer], peer, zero + at * (int64_t)MS);
	over_ssh(&facts[peer]);
	for (int i = 0; i < 2; i++) {
		checks_host(&facts[i], facts[i].devs, &facts[!i]);
		checks_pair(&facts[i], facts[i].devs, &facts[!i], facts[!i].devs);
	}
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

int main(void)
{
	int failed = 0;

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
	return failed;
}
