// SPDX-License-Identifier: GPL-2.0
/*
 * What the doctors of two hosts do when something is missing. Without IPv6, as with ipv6.disable=1,
 * --serve listens on IPv4, and sends its probes to the address that asks. Over ssh, a password can
 * be typed, and no host is waited for without end. Out of descriptors, --serve does not spin.
 * Prints what is wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int bound_to;
static long waits;
static jmp_buf gave_up;

static int socket_without_ipv6(int family)
{
	if (family == AF_INET6)
		errno = EAFNOSUPPORT;
	return family == AF_INET6 ? -1 : 0;
}

static int note_bind(const struct sockaddr *addr, socklen_t len)
{
	bound_to = addr->sa_family == AF_INET && len == 16 ? AF_INET : -1;
	return 0;
}

/* A host that says nothing */
static ssize_t read_nothing(int fd)
{
	struct timeval patience = {};
	socklen_t len = sizeof(patience);

	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, &len);
	waits = patience.tv_sec;
	return 0;
}

static int refuse(const socklen_t *len)
{
	static int refused;

	(void)len;
	if (refused++) {
		printf("# out of descriptors, --serve spins\n");
		exit(EXIT_FAILURE);
	}
	errno = EMFILE;
	return -1;
}

#define accept(fd, addr, len)	refuse(len)
#define sleep(s)		exit(EXIT_SUCCESS)
#define geteuid()		1	/* keeps its privileges */
#define read(fd, to, len)	read_nothing(fd)
#define execvp(file, argv)	_exit(!*(argv))
#define socket(family, ...)	socket_without_ipv6(family)
#define bind(fd, addr, len)	note_bind(addr, len)
#define listen(fd, n)		0
#include "exchange.c"

bool facts_find(struct facts *facts, const char *name)
{
	(void)facts;
	return name;
}

void facts_gather(struct facts *facts, uint64_t nsec, const struct in6_addr *peers, int num_peers,
		  struct step *step)
{
	(void)facts;
	(void)nsec;
	(void)peers;
	(void)num_peers;
	(void)step;
}

void facts_print(FILE *out, const struct facts *facts)
{
	(void)out;
	(void)facts;
}

void finding_note(const char *format, ...)
{
	(void)format;
}

void fail(const char *format, ...)
{
	if (strstr(format, "no answer"))
		longjmp(gave_up, 1);
	printf("# it does not listen: %s\n", format);
	exit(EXIT_FAILURE);
}

void fail_errno(const char *object)
{
	printf("# it does not listen: %s: %s\n", object, strerror(errno));
	exit(EXIT_FAILURE);
}

int main(void)
{
	struct sockaddr_storage from = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&from;
	struct exchange_addresses theirs = {};
	char text[INET6_ADDRSTRLEN];
	struct facts facts = {};
	struct in6_addr addr;

	if (listening_socket() || bound_to != AF_INET) {
		printf("# it does not listen on IPv4\n");
		return EXIT_FAILURE;
	}
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0x0a000001);
	addr = address_of(&from);
	if (strcmp(inet_ntop(AF_INET6, &addr, text, sizeof(text)), "::ffff:10.0.0.1")) {
		printf("# 10.0.0.1 asks, and %s is answered\n", text);
		return EXIT_FAILURE;
	}
	if (!setjmp(gave_up))
		exchange_ssh("h2", 1, &facts, &theirs);
	/* sshd gives 120 s to type a password */
	if (waits <= 120) {
		printf("# over ssh, it waits %ld s for a host (0: without end), not over 120 s\n",
		       waits);
		return EXIT_FAILURE;
	}
	exchange_serve(NULL);
}
