// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn doctor: finds out why transfers fail, and why the control loop does not work. Looks at
 * this host, at its ports if it is a switch and, over ssh or TCP, at what the same command finds
 * on the other host.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arg.h"
#include "checks.h"
#include "clock.h"
#include "commands.h"
#include "exchange.h"
#include "facts.h"
#include "fail.h"
#include "finding.h"
#include "port_checks.h"
#include "port_facts.h"
#include "transfer_checks.h"
#include "unit.h"

#define STATUS_FOUND	2
/* With fewer data packets, the doctor says that there is next to no traffic */
#define FEW		10

/* Say on a terminal what the doctor is doing */
static void say(const char *what, const char *peer)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%s%s\n", what, peer);
}

static void say_idle(const struct facts *here)
{
	for (const struct fact_dev *dev = here->devs; dev; dev = dev->next) {
		if (facts_data(dev, SNIFF_IN, -1, -1) +
		    facts_data(dev, SNIFF_OUT, -1, -1) >= FEW)
			continue;
		finding_note("%s: next to no RoCEv2 traffic on %s: problems that show only under load may be missed",
			     dev->name, dev->ifname);
	}
}

static _Noreturn void no_such(const char *name)
{
	if (name)
		fail("%s: no such rxe device or port (rdma link show and dcqcn port list them)",
		     name);
	fail("doctor: no rxe device and no port here (rdma link add or tc qdisc add makes one)");
}

struct request {
	const char *peer, *dev;
	bool ssh, serve, only_facts;
	uint64_t nsec;
	struct exchange_addresses probe;
};

static struct request parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "peer", required_argument, NULL, 'p' },
		{ "serve", no_argument, NULL, 's' },
		/* for the doctor that asks */
		{ "facts", no_argument, NULL, 'f' },
		{ "probe", required_argument, NULL, 'a' },
		{}
	};
	struct request r = { .nsec = 1000000000 };
	bool has_interval = false;
	int c;

	while ((c = arg_option(argc, argv, "+:i:", options)) != -1) {
		switch (c) {
		case 'i':
			r.nsec = arg_interval(optarg);
			has_interval = true;
			break;
		case 'p':
			r.peer = optarg;
			r.ssh = true;
			break;
		case 's':
			r.serve = true;
			break;
		case 'f':
			r.only_facts = true;
			break;
		case 'a':
			exchange_add(&r.probe, optarg);
			break;
		}
	}
	if (r.serve && (r.peer || has_interval))
		fail("doctor: --serve takes no --peer and no -i: the doctor that asks chooses the interval");
	argv += optind;
	if (*argv && strcmp(*argv, "dev") && !r.peer && !r.serve && !r.only_facts) {
		if (**argv == '-')
			arg_unexpected(*argv);
		r.peer = *argv++;
	}
	r.dev = arg_dev(argv);
	return r;
}

/* The peer's doctor: a server if there is one, or over ssh */
static int ask(const struct request *r, const struct facts *here,
	       struct exchange_addresses *theirs)
{
	int fd = -1;

	/* the other doctor may end before it has read everything */
	signal(SIGPIPE, SIG_IGN);
	if (!r->ssh) {
		say("asking the doctor at ", r->peer);
		fd = exchange_ask(r->peer, r->nsec, theirs);
	}
	if (fd < 0) {
		say("asking over ssh: ", r->peer);
		fd = exchange_ssh(r->peer, r->nsec, here, theirs);
	}
	return fd;
}

static void read_peer(const struct step *step, const char *name, struct facts *peer)
{
	FILE *in = fdopen(step->in, "r");

	if (!in || step->lost)
		fail("%s: the doctor there has ended without a report", name);
	facts_read(in, peer);
	fclose(in);
}

int cmd_doctor(int argc, char **argv)
{
	struct request r = parse(argc, argv);
	struct exchange_addresses theirs = {};
	struct facts here = {}, peer = {};
	struct port_facts ports = {};
	uint64_t began = clock_now(), nsec;
	struct step step = {};
	char time[UNIT_LEN];

	if (!r.only_facts && !r.serve)
		port_facts_gather(&ports, r.dev);
	/* for a host without a device, the peer's doctor says it */
	if (!facts_find(&here, r.dev) && !ports.num && (r.dev || !(r.serve || r.only_facts)))
		no_such(r.dev);
	if (r.peer && !here.devs)
		fail("%s: no rxe device here that could send to the peer (rdma link add makes one)",
		     r.peer);
	if (r.serve)
		exchange_serve(r.dev);
	if (r.only_facts) {
		exchange_answer(STDIN_FILENO, STDOUT_FILENO, &here, r.nsec, &r.probe);
		return EXIT_SUCCESS;
	}
	if (r.peer)
		step.in = step.out = ask(&r, &here, &theirs);
	say(r.peer ? "watching RoCE packets at both hosts, for " : "watching RoCE packets, for ",
	    unit_nsec(time, r.nsec));
	facts_gather(&here, r.nsec, theirs.addr, theirs.num, r.peer ? &step : NULL);
	port_facts_gather(&ports, r.dev);
	nsec = clock_now() - began;
	port_checks(&ports, here.host, nsec);
	if (r.peer) {
		read_peer(&step, r.peer, &peer);
		checks_both(&here, &peer);
	} else {
		for (const struct fact_dev *dev = here.devs; dev; dev = dev->next)
			checks_host(&here, dev);
	}
	say_idle(&here);
	return finding_close() ? STATUS_FOUND : EXIT_SUCCESS;
}
