// SPDX-License-Identifier: GPL-2.0
/*
 * qsample: record one RED qdisc's queue and counters at a steady pace.
 *
 * usage: qsample DEVICE PARENT PERIOD_US
 *
 * PARENT is the hexadecimal class the qdisc hangs below, e.g. 200001 for
 * 20:1. Prints one line per sample until it is killed: CLOCK_MONOTONIC in
 * nanoseconds, bytes and packets sent, packets and bytes queued, drops, marks.
 *
 * One netlink request per sample instead of one tc process: in an emulated
 * guest, that would cost more than the observed traffic.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

static void die(const char *what)
{
	fprintf(stderr, "qsample: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Find an attribute and copy at most @size bytes of it, the rest zero. */
static const struct rtattr *find(const struct rtattr *a, int len, int type, void *to, size_t size)
{
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if ((a->rta_type & NLA_TYPE_MASK) != type)
			continue;
		if (to) {
			size_t have = RTA_PAYLOAD(a);

			memset(to, 0, size);
			memcpy(to, RTA_DATA(a), have < size ? have : size);
		}
		return a;
	}
	fprintf(stderr, "qsample: attribute %d is missing\n", type);
	exit(1);
}

static void sample(int fd, int ifindex, unsigned int parent)
{
	struct {
		struct nlmsghdr h;
		struct tcmsg t;
	} req = {
		.h.nlmsg_len = sizeof(req),
		.h.nlmsg_type = RTM_GETQDISC,
		/* Without ECHO, the answer would go only to the multicast group. */
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO,
		.t.tcm_family = AF_UNSPEC,
		.t.tcm_ifindex = ifindex,
		.t.tcm_parent = parent,
	};
	static char buf[16384] __attribute__((aligned(8)));
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	struct tc_red_xstats red;
	const struct rtattr *a;
	struct timespec ts;
	ssize_t n;
	int len;

	if (send(fd, &req, sizeof(req), 0) < 0)
		die("send");
	n = recv(fd, buf, sizeof(buf), 0);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (n < 0)
		die("recv");
	if (h->nlmsg_type == NLMSG_ERROR) {
		errno = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
		die("RTM_GETQDISC");
	}
	a = (struct rtattr *)((char *)NLMSG_DATA(h) + NLMSG_ALIGN(sizeof(struct tcmsg)));
	len = h->nlmsg_len - NLMSG_SPACE(sizeof(struct tcmsg));
	a = find(a, len, TCA_STATS2, NULL, 0);
	len = RTA_PAYLOAD(a);
	a = RTA_DATA(a);
	find(a, len, TCA_STATS_BASIC, &basic, sizeof(basic));
	find(a, len, TCA_STATS_QUEUE, &queue, sizeof(queue));
	find(a, len, TCA_STATS_APP, &red, sizeof(red));
	printf("%lld %llu %u %u %u %u %u\n", ts.tv_sec * 1000000000LL + ts.tv_nsec,
	       (unsigned long long)basic.bytes, basic.packets, queue.qlen, queue.backlog,
	       queue.drops, red.marked);
}

int main(int argc, char **argv)
{
	unsigned int ifindex, parent;
	struct timespec next;
	long period;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: qsample DEVICE PARENT PERIOD_US\n");
		return 2;
	}
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		die(argv[1]);
	parent = strtoul(argv[2], NULL, 16);
	period = strtol(argv[3], NULL, 10) * 1000;
	setlinebuf(stdout);	/* we are killed at the end */
	/* By default a sleep may last 50 us longer, until some other timer is due:
	 * samples would be taken just when a packet arrives or leaves.
	 */
	prctl(PR_SET_TIMERSLACK, 1);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0)
		die("socket");

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		struct timespec now;

		sample(fd, ifindex, parent);
		next.tv_nsec += period;
		while (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		/* After a pause, continue from now, without a burst of late samples. */
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > next.tv_sec + 1)
			next = now;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
