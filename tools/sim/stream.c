// SPDX-License-Identifier: GPL-2.0
/*
 * stream: send over TCP without a pause from one host to another, both of which are network
 * namespaces of one kernel, and print how much arrived.
 *
 * usage: stream SRC_NETNS DST_NETNS DST_ADDRESS PERIOD_US
 *
 * Prints a line per period until it is killed: CLOCK_MONOTONIC in nanoseconds, and the bytes
 * that the receiver has read. Like traffic, it has one thread that sleeps whenever there is
 * nothing to do.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static char block[256 << 10];	/* what is sent and read at once */

static void die(const char *what)
{
	fprintf(stderr, "stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int tcp_socket(const char *netns)
{
	char path[PATH_MAX];
	int ns, fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		die(path);
	close(ns);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

/* Sockets do not block, and epoll tells when there is more to do (edge-triggered). */
static void watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events | EPOLLET, .data.fd = fd };

	if (fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
}

static void fill(int fd)
{
	while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
		;
	if (errno != EAGAIN)
		die("send");
}

static uint64_t drain(int fd)
{
	uint64_t total = 0;
	ssize_t n;

	while ((n = recv(fd, block, sizeof(block), 0)) > 0)
		total += n;
	if (!n || errno != EAGAIN)
		die("recv");
	return total;
}

static void report(int timer, uint64_t total)
{
	struct timespec ts;
	uint64_t fired;

	if (read(timer, &fired, sizeof(fired)) != sizeof(fired))
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	printf("%lld %llu\n", ts.tv_sec * 1000000000LL + ts.tv_nsec, (unsigned long long)total);
}

static int start_timer(long period_us)
{
	struct timespec period = { period_us / 1000000, period_us % 1000000 * 1000 };
	struct itimerspec when = { period, period };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (timer < 0 || timerfd_settime(timer, 0, &when, NULL))
		die("timer");
	return timer;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	int listener, sender, receiver, timer, epoll, i, n;
	struct epoll_event events[4];
	uint64_t total = 0;
	long period;

	if (argc != 5)
		goto usage;
	period = strtol(argv[4], NULL, 10);
	if (period <= 0 || inet_pton(AF_INET, argv[3], &to.sin_addr) != 1)
		goto usage;
	setlinebuf(stdout);
	listener = tcp_socket(argv[2]);
	if (bind(listener, (struct sockaddr *)&to, sizeof(to)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&to, &len))
		die("listen");
	sender = tcp_socket(argv[1]);
	if (connect(sender, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	receiver = accept(listener, NULL, NULL);
	if (receiver < 0)
		die("accept");
	epoll = epoll_create1(EPOLL_CLOEXEC);
	timer = start_timer(period);
	watch(epoll, sender, EPOLLOUT);
	watch(epoll, receiver, EPOLLIN);
	watch(epoll, timer, EPOLLIN);
	for (;;) {
		n = epoll_wait(epoll, events, 4, -1);
		if (n < 0 && errno != EINTR)
			die("epoll_wait");
		for (i = 0; i < n; i++) {
			if (events[i].data.fd == sender)
				fill(sender);
			else if (events[i].data.fd == receiver)
				total += drain(receiver);
			else
				report(timer, total);
		}
	}
usage:
	fprintf(stderr, "usage: stream SRC_NETNS DST_NETNS DST_ADDRESS PERIOD_US\n");
	return 2;
}
