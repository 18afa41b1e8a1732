// SPDX-License-Identifier: GPL-2.0
/*
 * What the doctors of two hosts say to each other. One asks: over ssh, where it is "dcqcn doctor
 * --facts", or over TCP, where it is one line to "dcqcn doctor --serve". The other one says which
 * addresses its devices have, and that it is ready. Then both watch, in step, and the other one says
 * its facts.
 *
 * Anybody can ask a server. It says what any user of its host can see and how many packets of
 * which kind passed, for one peer at a time and a few seconds, executes nothing that it is told,
 * and sends probes only to the address that asks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clean.h"
#include "clock.h"
#include "exchange.h"
#include "fail.h"
#include "finding.h"

#define PORT		"4791"	/* of TCP; as that of RoCE, which is UDP */
#define READY		"ready 2"
#define HELLO		"dcqcn doctor 2 %llu"
#define LINE		256	/* bytes of a line that are looked at */
#define LONGEST_LINE	4096
#define GREETING_MAX	1000	/* lines */

/* s; until a host is taken to be unreachable or silent, until a busy one has its addresses, the
 * same over ssh, where sshd gives 120 to log in, and for one exchange at most, with two steps of
 * facts.c
 */
#define CONNECT_MAX	3
#define ANSWER_MAX	30
#define LOGIN_MAX	150
#define EXCHANGE_MAX	90
#define NSEC_MAX	10000000000ULL	/* that a server watches for one peer */
#define NOBODY		65534

typedef unsigned long long ull;

/* --- addresses ------------------------------------------------------------- */

void exchange_add(struct exchange_addresses *to, const char *text)
{
	if (to->num < EXCHANGE_PEERS && inet_pton(AF_INET6, text, &to->addr[to->num]) == 1)
		to->num++;
}

/* IPv4 first: if both work, more networks route IPv4 */
static void add_gids(struct exchange_addresses *to, const struct facts *facts, bool ip4)
{
	for (const struct fact_dev *dev = facts->devs; dev; dev = dev->next) {
		for (int i = 0; i < dev->num_gids; i++) {
			const struct in6_addr *gid = &dev->gids[i];

			if (to->num < EXCHANGE_PEERS && !IN6_IS_ADDR_LINKLOCAL(gid) &&
			    IN6_IS_ADDR_V4MAPPED(gid) == ip4)
				to->addr[to->num++] = *gid;
		}
	}
}

static struct exchange_addresses addresses_of(const struct facts *facts)
{
	struct exchange_addresses ours = {};

	add_gids(&ours, facts, true);
	add_gids(&ours, facts, false);
	return ours;
}

static void wait_at_most(int fd, int seconds)
{
	struct timeval patience = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

/* --- the host that asks ---------------------------------------------------- */

/* Read a line as far as it fits, and nothing after it. Return false if it does not end. */
static bool read_line(int fd, char line[LINE])
{
	size_t len = 0;
	char c;

	for (int n = 0; n < LONGEST_LINE && read(fd, &c, 1) == 1; n++) {
		if (c == '\n') {
			line[len] = '\0';
			return true;
		}
		if (len < LINE - 1)
			line[len++] = c;
	}
	return false;
}

/* Up to READY, the peer says which addresses it has; its shell may say something before. Return
 * false if it does not get there.
 */
static bool read_greeting(int fd, struct exchange_addresses *theirs)
{
	char line[LINE], word[64];

	for (int n = 0; n < GREETING_MAX && read_line(fd, line); n++) {
		if (!strcmp(line, READY))
			return true;
		if (sscanf(line, "address %63s", word) == 1)
			exchange_add(theirs, word);
	}
	return false;
}

static _Noreturn void exec_ssh(const char *peer, uint64_t nsec, const struct facts *here)
{
	struct exchange_addresses ours = addresses_of(here);
	char option[32], text[EXCHANGE_PEERS][INET6_ADDRSTRLEN];
	/* which bounds connecting, but not typing a password */
	char *argv[16 + 2 * EXCHANGE_PEERS] = {
		"ssh", "-oConnectTimeout=30", "--", (char *)peer,
		"dcqcn", "doctor", "--facts", "-i", option,
	};
	int n = 9;

	snprintf(option, sizeof(option), "%lluns", (ull)nsec);
	for (int i = 0; i < ours.num; i++) {
		argv[n++] = "--probe";
		argv[n++] = (char *)inet_ntop(AF_INET6, &ours.addr[i], text[i], sizeof(text[i]));
	}
	execvp("ssh", argv);
	fail_errno("ssh");
}

int exchange_ssh(const char *peer, uint64_t nsec, const struct facts *here,
		 struct exchange_addresses *theirs)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		fail_errno("ssh");
	switch (fork()) {
	case -1:
		fail_errno("fork");
	case 0:
		dup2(fd[1], STDIN_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);	/* it may still be connecting */
		exec_ssh(peer, nsec, here);
	}
	close(fd[1]);
	wait_at_most(fd[0], LOGIN_MAX);
	if (!read_greeting(fd[0], theirs))
		fail("%s: no answer (that host must accept root over ssh and have this version of dcqcn, or run \"dcqcn doctor --serve\")",
		     peer);
	wait_at_most(fd[0], ANSWER_MAX);
	return fd[0];
}

static int connect_to(const struct addrinfo *to, int seconds)
{
	struct timeval patience = { .tv_sec = seconds };
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	/* also bounds connect() */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, to->ai_addr, to->ai_addrlen))
		return fd;
	close(fd);
	return -1;
}

/* Ask a server; negative if there is none */
int exchange_ask(const char *peer, uint64_t nsec, struct exchange_addresses *theirs)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *to;
	int fd = -1;

	if (getaddrinfo(peer, PORT, &hints, &list))
		return -1;
	for (to = list; to && fd < 0; to = to->ai_next)
		fd = connect_to(to, CONNECT_MAX);
	freeaddrinfo(list);
	if (fd < 0)
		return -1;
	if (nsec > NSEC_MAX)
		fail("%s: the doctor there watches for at most %llu seconds (-i)", peer,
		     NSEC_MAX / NSEC_PER_SEC);
	wait_at_most(fd, ANSWER_MAX);
	dprintf(fd, HELLO "\n", (ull)nsec);
	if (!read_greeting(fd, theirs))
		fail("%s: the doctor there does not answer (it is busy with another host, or has another version)",
		     peer);
	return fd;
}

/* --- the host that answers ------------------------------------------------- */

void exchange_answer(int in, int out, struct facts *facts, uint64_t nsec,
		     const struct exchange_addresses *theirs)
{
	struct exchange_addresses ours = addresses_of(facts);
	struct step step = { .in = in, .out = out };
	char text[INET6_ADDRSTRLEN];
	FILE *f = fdopen(out, "w");

	if (!f)
		fail_errno("doctor");
	for (int i = 0; i < ours.num; i++)
		fprintf(f, "address %s\n",
			inet_ntop(AF_INET6, &ours.addr[i], text, sizeof(text)));
	fprintf(f, READY "\n");
	fflush(f);
	facts_gather(facts, nsec, theirs->addr, theirs->num, &step);
	facts_print(f, facts);
	fflush(f);
}

/* Keep the right to count packets, and no other */
static void drop_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid())
		return;		/* not root: keep what there is */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		fail_errno("privileges");
	data[0].effective = 1U << CAP_NET_RAW;
	data[0].permitted = 1U << CAP_NET_RAW;
	if (syscall(SYS_capset, &header, data))
		fail_errno("capset");
}

/* v4-mapped for IPv4 */
static struct in6_addr address_of(const struct sockaddr_storage *from)
{
	struct in6_addr addr = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (from->ss_family == AF_INET6)
		return ((const struct sockaddr_in6 *)from)->sin6_addr;
	memcpy(&addr.s6_addr[12], &((const struct sockaddr_in *)from)->sin_addr, 4);
	return addr;
}

/* Answer in a process of its own, which a timer ends */
static _Noreturn void serve_one(int fd, const char *dev, const struct in6_addr *from)
{
	struct exchange_addresses theirs = { .addr = { *from }, .num = 1 };
	struct facts facts = {};
	char line[LINE];
	ull nsec;

	alarm(EXCHANGE_MAX);
	wait_at_most(fd, CONNECT_MAX);
	if (!read_line(fd, line) || sscanf(line, HELLO, &nsec) != 1 || !nsec ||
	    nsec > NSEC_MAX)
		exit(EXIT_FAILURE);
	facts_find(&facts, dev);
	exchange_answer(fd, fd, &facts, nsec, &theirs);
	exit(EXIT_SUCCESS);
}

/* For both versions of IP, or for IPv4 if the kernel has no other one (ipv6.disable=1) */
static int listening_socket(void)
{
	const struct sockaddr_in6 all = {
		.sin6_family = AF_INET6, .sin6_port = htons(strtoul(PORT, NULL, 10)),
	};
	const struct sockaddr_in all4 = { .sin_family = AF_INET, .sin_port = all.sin6_port };
	const struct sockaddr *here = (const struct sockaddr *)&all;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, zero = 0;
	socklen_t len = sizeof(all);

	if (fd < 0 && errno == EAFNOSUPPORT) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		here = (const struct sockaddr *)&all4;
		len = sizeof(all4);
	}
	if (fd < 0)
		fail_errno("--serve");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, here, len) || listen(fd, 1))
		fail("--serve: TCP port " PORT ": %s", strerror(errno));
	return fd;
}

/* Until interrupted, one peer after the other */
void exchange_serve(const char *dev)
{
	int listening = listening_socket(), fd;
	char text[INET6_ADDRSTRLEN];

	drop_privileges();
	finding_note("answering doctors on TCP port " PORT " until interrupted; anybody who reaches it learns what \"dcqcn doctor\" sees here");
	for (;;) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		struct in6_addr from;
		pid_t child;

		fd = accept(listening, (struct sockaddr *)&peer, &len);
		if (fd < 0) {
			sleep(1);	/* out of descriptors or memory, maybe: the peer stays queued */
			continue;
		}
		from = address_of(&peer);
		finding_note("%s asks", inet_ntop(AF_INET6, &from, text, sizeof(text)));
		child = fork();
		if (!child) {
			close(listening);
			serve_one(fd, dev, &from);
		}
		close(fd);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}
