// SPDX-License-Identifier: GPL-2.0
/*
 * How a host is connected, as far as packets of RoCE depend on it: what its IP and UDP count,
 * its routes, the state of its network devices and of their neighbours, whether rdma_cm finds the
 * RDMA devices; and QPs that have failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host.h"

#define ROCE_PORT	4791
#define QP_ERR		6	/* IB_QPS_ERR */
#define BUFFER_SIZE	32768

/* --- what IP and UDP count ------------------------------------------------- */

/* Where a counter is: its file, "Group: name" of it, and our name */
static const struct {
	const char *file, *group, *name, *ours;
} wanted[] = {
	{ "/proc/net/snmp", "Udp:", "InDatagrams", "udp_in" },
	{ "/proc/net/snmp", "Udp:", "NoPorts", "udp_no_port" },
	{ "/proc/net/netstat", "TcpExt:", "IPReversePathFilter", "rp_filter" },
	{ "/proc/net/snmp6", NULL, "Udp6InDatagrams", "udp6_in" },
	{ "/proc/net/snmp6", NULL, "Udp6NoPorts", "udp6_no_port" },
};

#define WANTED	(sizeof(wanted) / sizeof(wanted[0]))

static void take(struct facts *facts, enum fact_moment moment, const char *file,
		 const char *group, const char *name, const char *value)
{
	for (size_t i = 0; i < WANTED; i++) {
		struct fact_counter *counter;

		if (strcmp(wanted[i].file, file) || strcmp(wanted[i].name, name) ||
		    (group && strcmp(wanted[i].group, group)))
			continue;
		counter = facts_counter(facts->net, &facts->num_net, wanted[i].ours);
		if (counter)
			counter->at[moment] = strtoull(value, NULL, 10);
	}
}

/* Pairs of lines that begin with the same word: one has names, the other their values */
static void read_table(struct facts *facts, enum fact_moment moment, const char *file)
{
	char *names = NULL, *values = NULL, *name, *value, *at, *to;
	size_t size = 0, room = 0;
	FILE *f = fopen(file, "r");

	while (f && getline(&names, &size, f) > 0 && getline(&values, &room, f) > 0) {
		const char *group = strtok_r(names, " \n", &at);

		if (!group || !strtok_r(values, " \n", &to))
			break;
		while ((name = strtok_r(NULL, " \n", &at)) &&
		       (value = strtok_r(NULL, " \n", &to)))
			take(facts, moment, file, group, name, value);
	}
	free(names);
	free(values);
	if (f)
		fclose(f);
}

/* One counter in each line */
static void read_list(struct facts *facts, enum fact_moment moment, const char *file)
{
	char name[64], value[32];
	FILE *f = fopen(file, "r");

	while (f && fscanf(f, "%63s %31s", name, value) == 2)
		take(facts, moment, file, NULL, name, value);
	if (f)
		fclose(f);
}

void host_counters(struct facts *facts, enum fact_moment moment)
{
	read_table(facts, moment, "/proc/net/snmp");
	read_table(facts, moment, "/proc/net/netstat");
	read_list(facts, moment, "/proc/net/snmp6");
}

/* --- routes ---------------------------------------------------------------- */

static struct sockaddr_storage socket_address(const struct in6_addr *addr, int port,
					      socklen_t *len)
{
	struct sockaddr_storage to = {};

	if (IN6_IS_ADDR_V4MAPPED(addr)) {
		struct sockaddr_in *in = (struct sockaddr_in *)&to;

		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, &addr->s6_addr[12], 4);
		*len = sizeof(*in);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&to;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_addr = *addr;
		*len = sizeof(*in6);
	}
	return to;
}

static struct in6_addr local_address(int fd)
{
	struct in6_addr addr = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	struct sockaddr_storage local = {};
	socklen_t len = sizeof(local);

	getsockname(fd, (struct sockaddr *)&local, &len);
	if (local.ss_family == AF_INET6)
		return ((struct sockaddr_in6 *)&local)->sin6_addr;
	memcpy(&addr.s6_addr[12], &((struct sockaddr_in *)&local)->sin_addr, 4);
	return addr;
}

/* What connect() says without sending anything. Link-local addresses have no route of their own. */
void host_routes(struct facts *facts, const struct in6_addr *peers, int num_peers)
{
	for (int i = 0; i < num_peers && facts->num_routes < FACTS_ROUTES; i++) {
		struct fact_route *route = &facts->routes[facts->num_routes];
		struct sockaddr_storage to;
		socklen_t len;
		int fd;

		if (IN6_IS_ADDR_LINKLOCAL(&peers[i]))
			continue;
		to = socket_address(&peers[i], ROCE_PORT, &len);
		fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		*route = (struct fact_route) { .remote = peers[i] };
		if (connect(fd, (struct sockaddr *)&to, len))
			route->error = errno;
		else
			route->local = local_address(fd);
		close(fd);
		facts->num_routes++;
	}
}

/* --- network devices ------------------------------------------------------- */

void host_link(struct fact_dev *dev)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char path[128], target[256];
	struct ifreq request = {};
	ssize_t len;

	facts_copy(request.ifr_name, dev->ifname, sizeof(request.ifr_name));
	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &request)) {
		dev->up = (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
		dev->has_link = !ioctl(fd, SIOCGIFMTU, &request);
		dev->mtu = request.ifr_mtu;
	}
	close(fd);
	snprintf(path, sizeof(path), "/sys/class/net/%s/master", dev->ifname);
	len = readlink(path, target, sizeof(target) - 1);
	if (len > 0) {
		target[len] = '\0';
		if (strrchr(target, '/') && facts_usable(strrchr(target, '/') + 1, "x"))
			facts_copy(dev->master, strrchr(target, '/') + 1, sizeof(dev->master));
	}
}

/* --- rdma_cm --------------------------------------------------------------- */

#define CM_FILE		"/dev/infiniband/rdma_cm"
#define CM_TCP		0x0106	/* RDMA_PS_TCP */
#define CM_RC		2	/* IB_QPT_RC */

/* Return false with errno set if the kernel refuses */
static bool cm_command(int fd, uint32_t command, void *in, size_t size, size_t out)
{
	struct rdma_ucm_cmd_hdr head = { .cmd = command, .in = size, .out = out };
	char buffer[sizeof(head) + sizeof(struct rdma_ucm_bind)];

	memcpy(buffer, &head, sizeof(head));
	memcpy(buffer + sizeof(head), in, size);
	return write(fd, buffer, sizeof(head) + size) == (ssize_t)(sizeof(head) + size);
}

/* As rdma_bind_addr() of librdmacm; closing the file undoes it. Return 0 or an errno. */
static int cm_bind(const struct in6_addr *addr)
{
	struct rdma_ucm_create_id_resp id = {};
	struct rdma_ucm_create_id create = {
		.response = (uintptr_t)&id, .ps = CM_TCP, .qp_type = CM_RC,
	};
	struct rdma_ucm_bind bind = {};
	int fd = open(CM_FILE, O_RDWR | O_CLOEXEC), error = 0;
	struct sockaddr_storage to;
	socklen_t len;

	if (fd < 0)
		return errno;
	to = socket_address(addr, 0, &len);
	if (cm_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create), sizeof(id))) {
		bind.id = id.id;
		bind.addr_size = len;
		memcpy(&bind.addr, &to, sizeof(bind.addr));
		if (!cm_command(fd, RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind), 0))
			error = errno;
	} else {
		error = errno;
	}
	close(fd);
	return error;
}

/* Report nothing if user space has no rdma_cm, or about link-local addresses, which need a scope */
void host_cm(struct fact_dev *dev)
{
	for (int i = 0; i < dev->num_gids; i++) {
		if (IN6_IS_ADDR_LINKLOCAL(&dev->gids[i]))
			continue;
		dev->cm_fails = cm_bind(&dev->gids[i]) == ENODEV;
		if (!dev->cm_fails)
			return;
	}
}

/* --- netlink --------------------------------------------------------------- */

typedef void (*host_message)(const struct nlmsghdr *nlh, void *data);

/* Report nothing if this fails: the kernel may have been built without it */
static void dump(int protocol, struct nlmsghdr *request, host_message message, void *data)
{
	struct mnl_socket *sock = mnl_socket_open(protocol);
	static char answer[BUFFER_SIZE];
	bool more = true;
	ssize_t len;

	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	if (!sock)
		return;
	more = !mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) &&
	       mnl_socket_sendto(sock, request, request->nlmsg_len) > 0;
	while (more && (len = mnl_socket_recvfrom(sock, answer, sizeof(answer))) > 0) {
		const struct nlmsghdr *nlh = (struct nlmsghdr *)answer;
		int left = len;

		for (; more && mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
			more = nlh->nlmsg_type != NLMSG_DONE && nlh->nlmsg_type != NLMSG_ERROR;
			if (more)
				message(nlh, data);
		}
	}
	mnl_socket_close(sock);
}

/* --- neighbours ------------------------------------------------------------ */

static void take_neighbour(const struct nlmsghdr *nlh, void *data)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	struct fact_dev *dev = data;
	struct in6_addr addr = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	const struct nlattr *attr;
	bool known = false;

	if (nlh->nlmsg_type != RTM_NEWNEIGH ||
	    (unsigned int)ndm->ndm_ifindex != if_nametoindex(dev->ifname) ||
	    !(ndm->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) ||
	    dev->num_neighs == FACTS_NEIGHS)
		return;
	mnl_attr_for_each(attr, nlh, sizeof(*ndm)) {
		if (mnl_attr_get_type(attr) != NDA_DST)
			continue;
		known = true;
		if (ndm->ndm_family == AF_INET && mnl_attr_get_payload_len(attr) == 4)
			memcpy(&addr.s6_addr[12], mnl_attr_get_payload(attr), 4);
		else if (ndm->ndm_family == AF_INET6 &&
			 mnl_attr_get_payload_len(attr) == sizeof(addr))
			memcpy(&addr, mnl_attr_get_payload(attr), sizeof(addr));
		else
			known = false;
	}
	if (known)
		dev->neighs[dev->num_neighs++] = addr;
}

/* List neighbours that were asked for their link-layer address and have not answered */
void host_neighbours(struct fact_dev *dev)
{
	char buffer[MNL_ALIGN(sizeof(struct nlmsghdr)) + MNL_ALIGN(sizeof(struct ndmsg))];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	memset(mnl_nlmsg_put_extra_header(nlh, sizeof(struct ndmsg)), 0, sizeof(struct ndmsg));
	nlh->nlmsg_type = RTM_GETNEIGH;
	dump(NETLINK_ROUTE, nlh, take_neighbour, dev);
}

/* --- what the RDMA core knows ---------------------------------------------- */

/* The RDMA core's description of a device or QP: the attributes that are wanted */
struct description {
	const struct nlattr *tb[RDMA_NLDEV_ATTR_NDEV_NAME + 1];
};

static int take_attribute(const struct nlattr *attr, void *data)
{
	struct description *d = data;

	if (mnl_attr_get_type(attr) <= RDMA_NLDEV_ATTR_NDEV_NAME)
		d->tb[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static uint64_t number(const struct nlattr *attr)
{
	if (!attr)
		return 0;
	return mnl_attr_get_payload_len(attr) == 1 ? mnl_attr_get_u8(attr) :
	       mnl_attr_get_payload_len(attr) == 4 ? mnl_attr_get_u32(attr) : 0;
}

struct wanted_dev {
	const char *name;
	uint32_t index;
	bool found;
};

static void take_dev(const struct nlmsghdr *nlh, void *data)
{
	struct wanted_dev *dev = data;
	struct description d = {};

	mnl_attr_parse(nlh, 0, take_attribute, &d);
	if (!d.tb[RDMA_NLDEV_ATTR_DEV_NAME] || !d.tb[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    strcmp(mnl_attr_get_str(d.tb[RDMA_NLDEV_ATTR_DEV_NAME]), dev->name))
		return;
	dev->index = number(d.tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	dev->found = true;
}

/* Of a program: rdma_cm keeps QPs of the kernel in this state for a while after their use */
static void take_qp(const struct nlattr *entry, struct fact_dev *dev)
{
	struct fact_failed_qp *qp = &dev->failed_qps[dev->num_failed_qps];
	struct description d = {};
	char path[64];
	FILE *f;

	mnl_attr_parse_nested(entry, take_attribute, &d);
	if (number(d.tb[RDMA_NLDEV_ATTR_RES_STATE]) != QP_ERR ||
	    !d.tb[RDMA_NLDEV_ATTR_RES_PID] || dev->num_failed_qps == FACTS_QPS)
		return;
	*qp = (struct fact_failed_qp) {
		.qpn = number(d.tb[RDMA_NLDEV_ATTR_RES_LQPN]),
		.pid = number(d.tb[RDMA_NLDEV_ATTR_RES_PID]),
		.program = "?",
	};
	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)qp->pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%63s", qp->program) == 1 && !facts_usable(qp->program, "x"))
		facts_copy(qp->program, "?", sizeof(qp->program));
	if (f)
		fclose(f);
	dev->num_failed_qps++;
}

static void take_qps(const struct nlmsghdr *nlh, void *data)
{
	struct description d = {};
	const struct nlattr *entry;

	mnl_attr_parse(nlh, 0, take_attribute, &d);
	if (!d.tb[RDMA_NLDEV_ATTR_RES_QP])
		return;
	mnl_attr_for_each_nested(entry, d.tb[RDMA_NLDEV_ATTR_RES_QP])
		take_qp(entry, data);
}

static struct nlmsghdr *rdma_request(char *buffer, uint16_t command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	return nlh;
}

static bool has_failed(const struct fact_failed_qp *qps, int n, uint64_t qpn)
{
	for (int i = 0; i < n; i++) {
		if (qps[i].qpn == qpn)
			return true;
	}
	return false;
}

static struct wanted_dev find_dev(const char *name)
{
	struct wanted_dev wanted = { .name = name };
	char buffer[256];

	dump(NETLINK_RDMA, rdma_request(buffer, RDMA_NLDEV_CMD_GET), take_dev, &wanted);
	return wanted;
}

static void take_port(const struct nlmsghdr *nlh, void *data)
{
	struct description d = {};
	bool *ours = data;

	mnl_attr_parse(nlh, 0, take_attribute, &d);
	*ours = *ours || d.tb[RDMA_NLDEV_ATTR_NDEV_INDEX];
}

/* Whether the device's network device is in this network namespace: /sys may show those of
 * others, and their network devices may have the same names
 */
bool host_has(const char *dev)
{
	struct wanted_dev wanted = find_dev(dev);
	struct nlmsghdr *nlh;
	char buffer[256];
	bool ours = false;

	if (!wanted.found)
		return false;
	nlh = rdma_request(buffer, RDMA_NLDEV_CMD_PORT_GET);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, wanted.index);
	dump(NETLINK_RDMA, nlh, take_port, &ours);
	return ours;
}

/* QPs in the state ERR; @again: keep those only that were before */
void host_failed_qps(struct fact_dev *dev, bool again)
{
	struct fact_failed_qp before[FACTS_QPS];
	struct wanted_dev wanted = find_dev(dev->name);
	int num_before = dev->num_failed_qps, n = 0;
	char buffer[256];
	struct nlmsghdr *nlh;

	memcpy(before, dev->failed_qps, sizeof(before));
	dev->num_failed_qps = 0;
	if (!wanted.found)
		return;
	nlh = rdma_request(buffer, RDMA_NLDEV_CMD_RES_QP_GET);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, wanted.index);
	dump(NETLINK_RDMA, nlh, take_qps, dev);
	for (int i = 0; again && i < dev->num_failed_qps; i++) {
		if (has_failed(before, num_before, dev->failed_qps[i].qpn))
			dev->failed_qps[n++] = dev->failed_qps[i];
	}
	if (again)
		dev->num_failed_qps = n;
}
