// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that look like RoCE, to the UDP port of RoCE, and that must not be fragmented. The
 * peer's doctor counts those that reach its network device. They are for queue pair 0, which no
 * soft-RoCE device has: it drops them before it looks any further.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

#define ROCE_PORT	4791
#define IP4_UDP		28	/* bytes of headers */
#define IP6_UDP		48
#define OP_SEND_ONLY	0x04
#define LARGEST		9000

static bool bind_to(int fd, const struct in6_addr *addr)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = *addr };

	memcpy(&in.sin_addr, &addr->s6_addr[12], 4);
	return IN6_IS_ADDR_V4MAPPED(addr) ?
	       !bind(fd, (struct sockaddr *)&in, sizeof(in)) :
	       !bind(fd, (struct sockaddr *)&in6, sizeof(in6));
}

static bool connect_to(int fd, const struct in6_addr *addr)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(ROCE_PORT) };
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_addr = *addr, .sin6_port = htons(ROCE_PORT),
	};

	memcpy(&in.sin_addr, &addr->s6_addr[12], 4);
	return IN6_IS_ADDR_V4MAPPED(addr) ?
	       !connect(fd, (struct sockaddr *)&in, sizeof(in)) :
	       !connect(fd, (struct sockaddr *)&in6, sizeof(in6));
}

/* Send as the device does: from its address, through its interface, whatever the path's MTU is */
static int open_to(const struct fact_route *route, const struct fact_dev *dev, bool ip6)
{
	int fd = socket(ip6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int probe = IP_PMTUDISC_PROBE, probe6 = IPV6_PMTUDISC_PROBE;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev->ifname, strlen(dev->ifname) + 1);
	if (ip6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe6, sizeof(probe6));
	else
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
	if (bind_to(fd, &route->local) && connect_to(fd, &route->remote))
		return fd;
	close(fd);
	return -1;
}

/* Send to the addresses that an rxe device can reach */
void probe_open(struct probes *probes, const struct facts *facts)
{
	probes->num = 0;
	for (int i = 0; i < facts->num_routes; i++) {
		const struct fact_route *route = &facts->routes[i];
		bool ip6 = !IN6_IS_ADDR_V4MAPPED(&route->remote);

		for (const struct fact_dev *dev = facts->devs; dev && !route->error;
		     dev = dev->next) {
			struct probe *to = &probes->to[probes->num];

			if (!facts_has_gid(dev, &route->local))
				continue;
			*to = (struct probe) {
				.fd = open_to(route, dev, ip6), .ip6 = ip6, .mtu = dev->mtu,
			};
			probes->num += to->fd >= 0;
			break;
		}
	}
}

/* Ignore errors: our own sniffer does not count probes that cannot be sent */
void probe_send(const struct probes *probes)
{
	static const unsigned char head[] = { OP_SEND_ONLY, 0, 0xff, 0xff };
	unsigned char packet[LARGEST] = {};

	memcpy(packet, head, sizeof(head));
	for (int i = 0; i < probes->num; i++) {
		const struct probe *to = &probes->to[i];

		for (int size = 0; size < SNIFF_SIZES; size++) {
			if (sniff_sizes[size] > to->mtu)
				break;
			/* sendto() may report an ICMP error of the previous probe */
			if (send(to->fd, packet, sniff_sizes[size] -
				 (to->ip6 ? IP6_UDP : IP4_UDP), 0) < 0)
				send(to->fd, packet, sniff_sizes[size] -
				     (to->ip6 ? IP6_UDP : IP4_UDP), 0);
		}
	}
}

void probe_close(struct probes *probes)
{
	for (int i = 0; i < probes->num; i++)
		close(probes->to[i].fd);
	probes->num = 0;
}
