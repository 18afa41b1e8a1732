// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn doctor: finds out why the control loop does not work. Looks at this host, at its ports
 * if it is a switch and, over ssh, at what the same command finds on the other host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arg.h"
#include "checks.h"
#include "clock.h"
#include "commands.h"
#include "facts.h"
#include "fail.h"
#include "finding.h"
#include "port_checks.h"
#include "port_facts.h"

#define STATUS_FOUND	2
#define READY		"ready\n"

/* With fewer data packets, the doctor says that there is next to no traffic */
#define FEW		10

/* The other host says when it begins */
static FILE *ask_peer(const char *peer, uint64_t nsec)
{
	char option[32], line[256];
	FILE *in;
	int fd[2];

	snprintf(option, sizeof(option), "%lluns", (unsigned long long)nsec);
	if (pipe(fd))
		fail_errno("pipe");
	switch (fork()) {
	case -1:
		fail_errno("fork");
	case 0:
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execlp("ssh", "ssh", "-n", "--", peer, "dcqcn", "doctor",
		       "--facts", "-i", option, NULL);
		fail_errno("ssh");
	}
	close(fd[1]);
	in = fdopen(fd[0], "r");
	if (!in)
		fail_errno("pipe");
	do {
		if (!fgets(line, sizeof(line), in))
			fail("%s: no answer (it needs root over ssh, and dcqcn on that host)",
			     peer);
	} while (strcmp(line, READY));
	return in;
}

/* The device with the most traffic, if there are several */
static const struct fact_dev *busiest(const struct facts *facts)
{
	const struct fact_dev *best = facts->devs;
	uint64_t most = 0;

	for (const struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		uint64_t n = facts_data(dev, SNIFF_IN, -1, -1) +
			     facts_data(dev, SNIFF_OUT, -1, -1);

		if (n > most) {
			best = dev;
			most = n;
		}
	}
	return best;
}

static void check_both(const struct facts *here, const struct facts *peer)
{
	const struct fact_dev *a = busiest(here), *b = busiest(peer);

	checks_host(here, a, peer);
	checks_host(peer, b, here);
	checks_pair(here, a, peer, b);
	checks_pair(peer, b, here, a);
}

static void check_here(const struct facts *here)
{
	for (const struct fact_dev *dev = here->devs; dev; dev = dev->next) {
		checks_host(here, dev, NULL);
		checks_alone(here, dev);
	}
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

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "peer", required_argument, NULL, 'p' },
		{ "facts", no_argument, NULL, 'f' },
		{}
	};
	const char *peer_name = NULL, *name;
	struct facts here = {}, peer = {};
	struct port_facts ports = {};
	uint64_t nsec = 1000000000, began;
	bool only_facts = false;
	FILE *in = NULL;
	int c;

	while ((c = arg_option(argc, argv, "+:i:", options)) != -1) {
		switch (c) {
		case 'i':
			nsec = arg_interval(optarg);
			break;
		case 'p':
			peer_name = optarg;
			break;
		case 'f':
			only_facts = true;
			break;
		}
	}
	name = arg_dev(argv + optind);
	began = clock_now();
	if (!only_facts)
		port_facts_gather(&ports, name);
	if (!facts_find(&here, name) && !ports.num)
		no_such(name);
	if (peer_name && !here.devs)
		fail("--peer: no rxe device here, whose packets the peer could have (rdma link add makes one)");
	if (only_facts) {
		printf(READY);
		fflush(stdout);
		facts_gather(&here, nsec);
		facts_print(stdout, &here);
		return EXIT_SUCCESS;
	}
	if (peer_name)
		in = ask_peer(peer_name, nsec);
	facts_gather(&here, nsec);
	port_facts_gather(&ports, name);
	nsec = clock_now() - began;
	finding_open();
	port_checks(&ports, here.host, nsec);
	if (in && here.devs) {
		facts_read(in, &peer);
		wait(NULL);
		check_both(&here, &peer);
	} else {
		check_here(&here);
	}
	say_idle(&here);
	return finding_close() ? STATUS_FOUND : EXIT_SUCCESS;
}
