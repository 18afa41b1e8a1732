// SPDX-License-Identifier: GPL-2.0
/*
 * Two hosts with a port each, the link between them, and a clock: the module's timers, its worker,
 * RCU callbacks, packets on their way and rxe's timers run in the order of their times, when
 * pass() moves the clock.
 *
 * The module is the real one, as client.c registers it: the world only knows struct ib_client,
 * its netfilter hooks and its netdevice notifier.
 */
#include <stdarg.h>

#include "checks.h"
#include "rxe.h"
#include "wire.h"
#include "world.h"

#include "client.h"
#include "packet.h"
#include "stamp.h"
#include "debugfs.h"
#include "fault.h"
#include "hook.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "sysfs.h"

#define TIMERS		64
#define WORKS		8
#define HOOKS		8
#define FRAMES		8192		/* on their way in one direction */
#define HEAD		128		/* bytes of a packet that travel; zeros follow */
#define WORK_MAX	20000		/* steps of a sequence */
#define STEPS_MAX	1000000		/* in one moment: then nothing goes on */

/* The state of unit/kernel.h */
u64 fuzz_now;
int bh_disabled;
bool fuzz_out_of_memory;
unsigned int fuzz_peeks;
int fuzz_xmit;
bool fuzz_no_route;
unsigned int fuzz_dst_refs;
struct rtable fuzz_route;

struct port ports[PORTS];
struct path paths[PORTS];
bool verbose;
u64 timers_stop;
u64 worker_stops;
void (*world_pauses)(const void *at);
void (*world_answered)(void);
void (*world_registers)(void);
unsigned int transmit_fails;

static struct net net;
static struct ib_client *client;
static struct notifier_block *notifier;
static struct nf_hook_ops hooks[HOOKS];
static int num_hooks;
static struct hrtimer *timers[TIMERS];
static int num_timers;
static struct work_struct *works[WORKS];
static int num_works;
static u64 random_state;
static u64 numbers;
static u64 lateness;
static u64 work_done;

/* Callbacks and memory that wait for readers to leave */
static struct rcu_head *callbacks;
static struct { void *p; } later[256];
static int num_later;
static int readers;

struct frame {
	u64 departs;
	u64 arrives;
	struct rxe_qp *owner;	/* that counts it until it has departed */
	u32 len;
	bool lost;
	bool marked;
	u8 head[HEAD];
};

/* What is on its way: from @first on, up to @gone without the packets that have departed */
static struct link {
	struct frame frames[FRAMES];
	u32 first;
	u32 gone;
	u32 last;
	u64 busy;
} links[PORTS];

void world_say(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%12.6f ms  ", (double)(fuzz_now - SECOND) / MS);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* --- memory, RCU ------------------------------------------------------------- */

void *world_alloc(size_t size, int gfp)
{
	if (fuzz_out_of_memory && gfp != GFP_KERNEL)
		return NULL;
	return calloc(1, size);
}

u32 world_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 32;
}

void world_call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu))
{
	rcu->func = func;
	rcu->next = callbacks;
	callbacks = rcu;
}

void world_free_later(void *p)
{
	demand(num_later < (int)ARRAY_SIZE(later), "too much waits to be freed");
	later[num_later++].p = p;
}

/* Only where no code of the module is running */
void world_run_rcu(void)
{
	struct rcu_head *rcu;

	while (callbacks) {
		rcu = callbacks;
		callbacks = rcu->next;
		rcu->func(rcu);
	}
	while (num_later)
		free(later[--num_later].p);
}

/* --- timers and workers ---------------------------------------------------------- */

void world_add_timer(struct hrtimer *timer)
{
	int i;

	for (i = 0; i < num_timers; i++) {
		if (timers[i] == timer)
			return;
	}
	demand(num_timers < TIMERS, "too many timers");
	timers[num_timers++] = timer;
}

void world_remove_timer(struct hrtimer *timer)
{
	int i;

	for (i = 0; i < num_timers; i++) {
		if (timers[i] == timer) {
			timers[i] = timers[--num_timers];
			return;
		}
	}
}

bool world_queue(struct work_struct *work, unsigned long ticks, bool modify)
{
	int i;

	for (i = 0; i < num_works && works[i] != work; i++)
		;
	if (i == num_works) {
		demand(num_works < WORKS, "too many works");
		works[num_works++] = work;
	}
	if (work->queued && !modify)
		return false;
	work->queued = true;
	work->due = fuzz_now + ticks * (SECOND / HZ);
	return true;
}

void world_cancel(struct work_struct *work)
{
	int i;

	work->queued = false;
	for (i = 0; i < num_works; i++) {
		if (works[i] == work) {
			works[i] = works[--num_works];
			return;
		}
	}
}

static void run_timer(struct hrtimer *timer)
{
	timer->queued = false;
	bh_disabled++;
	readers++;
	if (timer->function(timer) == HRTIMER_RESTART)
		timer->queued = true;
	else if (!timer->queued)
		world_remove_timer(timer);
	readers--;
	bh_disabled--;
}

static void run_work(struct work_struct *work)
{
	work->queued = false;
	work->func(work);
}

/* --- what the module calls --------------------------------------------------------- */

int ib_register_client(struct ib_client *c)
{
	client = c;
	return 0;
}

int register_netdevice_notifier(struct notifier_block *nb)
{
	notifier = nb;
	return 0;
}

int world_register_hooks(struct net *n, const struct nf_hook_ops *ops, int count)
{
	demand(num_hooks + count <= HOOKS, "too many hooks");
	memcpy(hooks + num_hooks, ops, count * sizeof(*ops));
	num_hooks += count;
	if (world_registers)
		world_registers();
	return 0;
}

void world_unregister_hooks(struct net *n, const struct nf_hook_ops *ops, int count)
{
	num_hooks -= count;
}

static unsigned int run_hook(unsigned int hooknum, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	unsigned int verdict = NF_ACCEPT;
	int i;

	for (i = 0; i < num_hooks && verdict == NF_ACCEPT; i++) {
		if (hooks[i].hooknum == hooknum && hooks[i].pf == NFPROTO_IPV4) {
			readers++;
			verdict = hooks[i].hook(NULL, skb, state);
			readers--;
		}
	}
	return verdict;
}

/* rxe counts a packet no more */
static void rxe_skb_dtor(struct sk_buff *skb)
{
	rxe_freed(container_of(skb, struct tx, skb)->qp);
}

bool within_module_mem_type(unsigned long addr, const struct module *mod, int type)
{
	return addr == (unsigned long)rxe_skb_dtor;
}

int fuzz_snprintf(char *buf, size_t size, const char *format, void *function)
{
	demand(false, "rxe is not built in here");
}

struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *ibdev, int type, u32 id)
{
	struct rxe_qp *qp = rxe_find(container_of(ibdev, struct port, ibdev), id);

	if (!qp)
		return ERR_PTR(-ENOENT);
	qp->ib.res.refs++;
	return &qp->ib.res;
}

int ib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	struct rxe_qp *qp = container_of(ibqp, struct rxe_qp, ib);

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = qp->live ? IB_QPS_RTS : IB_QPS_ERR;
	attr->dest_qp_num = qp->peer->ib.qp_num;
	attr->timeout = qp->ack_timeout;
	attr->ah_attr.grh.traffic_class = qp->tos;
	memcpy(attr->ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\n\0\0", 15);
	attr->ah_attr.grh.dgid.raw[15] = qp->peer->port->last;
	if (world_answered)
		world_answered();
	return 0;
}

int dcqcn_sysfs_add(struct dcqcn_dev *dev)
{
	return 0;
}

void dcqcn_sysfs_remove(struct dcqcn_dev *dev) { }

void dcqcn_debugfs_add(struct dcqcn_dev *dev) { }

void dcqcn_debugfs_remove(struct dcqcn_dev *dev) { }

void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event, u64 old_rate) { }

void dcqcn_fault_delay_resolve(void) { }

const struct nla_policy rdma_dcqcn_settings_nl_policy[RDMA_DCQCN_A_SETTINGS_MAX + 1];

/* Ranges as in the specification, of the knobs that events.c sets */
int world_validate(int knob, u32 value)
{
	return 0;
}

/* --- the link ------------------------------------------------------------------------ */

static const u8 *bth_of(const u8 *packet)
{
	return packet + IP4_LEN + UDP_LEN;
}

static bool lose(struct path *path, const u8 *packet)
{
	u8 opcode = bth_of(packet)[0];
	u32 *left = opcode == DCQCN_OPCODE_ACK ? &path->lose_acks :
		    opcode >= DCQCN_OPCODE_NOT_RXE ? &path->lose_cnps : &path->lose;

	if (path->down)
		return true;
	if (!*left)
		return false;
	(*left)--;
	return true;
}

/* A packet enters the NIC of a port. @owner counts it until it has left that. */
static void enqueue(struct port *port, const u8 *packet, u32 len, struct rxe_qp *owner)
{
	struct path *path = &paths[port - ports];
	struct link *link = &links[port - ports];
	struct frame *frame = &link->frames[link->last % FRAMES];
	u8 opcode = bth_of(packet)[0];
	u64 last;

	if (link->last - link->first == FRAMES) {
		if (owner)
			rxe_freed(owner);
		return;
	}
	last = link->last == link->first ? 0 : link->frames[(link->last - 1) % FRAMES].arrives;
	link->busy = max(link->busy, fuzz_now) + (len + ETH_HLEN + 24) * 8 * SECOND / path->bps;
	frame->departs = link->busy;
	frame->arrives = max(last, frame->departs + path->delay);
	frame->owner = owner;
	frame->len = len;
	frame->lost = lose(path, packet);
	frame->marked = (packet[1] & 3) == 2 && opcode < DCQCN_OPCODE_NOT_RXE && path->mark &&
			path->mark--;
	memcpy(frame->head, packet, min(len, (u32)HEAD));
	link->last++;
}

/* A packet leaves the IP layer for the NIC */
int dst_output(struct net *n, struct sock *sk, struct sk_buff *skb)
{
	struct tx *tx = container_of(skb, struct tx, skb);
	struct rxe_qp *qp = tx->qp;

	check_leaves(tx);
	enqueue(qp->port, skb->data, skb->len, skb->destructor == rxe_skb_dtor ? qp : NULL);
	free(skb->data);
	free(tx);
	return 0;
}

void world_free_skb(struct sk_buff *skb)
{
	struct tx *tx = container_of(skb, struct tx, skb);

	check_dropped(tx);
	if (skb->destructor == rxe_skb_dtor)
		skb_orphan(skb);
	free(skb->data);
	free(tx);
}

struct rtable *world_route4(struct net *n, struct flowi4 *fl4)
{
	int i;

	if (fuzz_no_route)
		return ERR_PTR(-ENETUNREACH);
	for (i = 0; i < PORTS; i++) {
		if (be32_to_cpu(fl4->saddr) == 0x0a000000U + ports[i].last) {
			fuzz_dst_refs++;
			return &ports[i].route;
		}
	}
	demand(false, "an answer leaves from another address");
}

struct dst_entry *world_route6(struct net *n, const struct sock *sk, struct flowi6 *fl6,
			       const struct in6_addr *final_dst)
{
	demand(false, "an answer is IPv6");
}

int world_local_out(struct net *n, struct sock *sk, struct sk_buff *skb)
{
	struct port *port = container_of(skb->dst->dev, struct port, ndev);
	int err = 0;

	if (transmit_fails) {
		transmit_fails--;
		err = NET_XMIT_DROP;
	} else {
		if (bth_of(skb->data)[0] == DCQCN_OPCODE_CNP)
			check_cnp(port, skb->data, skb->len);
		say("port %d sends %s", (int)(port - ports),
		    bth_of(skb->data)[0] == DCQCN_OPCODE_CNP ? "a CNP" : "feedback");
		enqueue(port, skb->data, skb->len, NULL);
	}
	dst_release(skb->dst);
	free(skb->data);
	free(skb);
	return err;
}

struct tx *tx_alloc(struct rxe_qp *qp, u8 kind, u8 opcode, u32 psn, u32 frame, u32 truesize)
{
	struct tx *tx = calloc(1, sizeof(*tx));
	struct sk_buff *skb = &tx->skb;
	u8 *p;

	tx->qp = qp;
	tx->kind = kind;
	tx->opcode = opcode;
	tx->psn = psn;
	skb->len = frame - ETH_HLEN;
	skb->data = malloc(skb->len);
	skb->truesize = truesize;
	skb->dev = &qp->port->ndev;
	skb->sk = rxe_sock(qp);
	skb->destructor = rxe_skb_dtor;
	skb->dst = &qp->port->route.dst;
	p = skb->data;
	memset(p, 0, min(skb->len, (u32)HEAD));
	p[0] = 0x45;
	p[1] = qp->tos;
	put16(p + 2, skb->len);
	p[8] = 64;
	p[9] = IPPROTO_UDP;
	p[12] = p[16] = 10;
	p[15] = qp->port->last;
	p[19] = qp->peer->port->last;
	put16(p + 20, 0xc000 + qp->ib.qp_num);
	put16(p + 22, DCQCN_UDP_PORT);
	put16(p + 24, skb->len - IP4_LEN);
	p += IP4_LEN + UDP_LEN;
	p[0] = opcode;
	put16(p + 2, 0xffff);
	put16(p + 6, qp->peer->ib.qp_num);
	p[9] = psn >> 16;
	put16(p + 10, psn);
	return tx;
}

/* rxe sends a packet */
void output(struct tx *tx)
{
	struct rxe_qp *qp = tx->qp;
	struct nf_hook_state state = {
		.pf = NFPROTO_IPV4, .out = &qp->port->ndev, .sk = rxe_sock(qp),
	};

	tx->since = fuzz_now;
	tx->number = ++numbers;
	qp->unfreed++;
	packets_made++;
	say("QP %u: opcode %02x PSN %u, %u bytes", qp->ib.qp_num, tx->opcode, tx->psn,
	    tx->skb.len + ETH_HLEN);
	check_output(tx);
	if (run_hook(NF_INET_LOCAL_OUT, &tx->skb, &state) == NF_ACCEPT)
		dst_output(&net, rxe_sock(qp), &tx->skb);
}

/* The ICRC of a packet whose bytes are zero from the header's end on */
static void complete(u8 *packet, u32 len)
{
	put_icrc(packet, len - ICRC_LEN);
}

/* A packet arrives at a port, all of it, or its first HEAD bytes */
static void arrive(struct port *port, u8 *data, u32 head, u32 len)
{
	struct nf_hook_state state = { .pf = NFPROTO_IPV4 };
	struct sk_buff skb = {
		.data = data, .len = len, .data_len = len - head, .dev = &port->ndev,
		.pkt_type = PACKET_HOST,
	};
	unsigned int verdict;

	bh_disabled++;
	verdict = run_hook(NF_INET_LOCAL_IN, &skb, &state);
	bh_disabled--;
	if (verdict == NF_ACCEPT)
		rxe_receive(port, skb.data, skb.len);
	free(skb.data);
}

void input(struct port *port, const u8 *packet, u32 len)
{
	u8 *data = malloc(len);

	memcpy(data, packet, len);
	complete(data, len);
	arrive(port, data, len, len);
}

/* Whether the peer's module looks at all of a packet: it asks for an answer */
static bool asks(const u8 *packet)
{
	return bth_of(packet)[4] & DCQCN_BTH_REQUEST >> 24;
}

static void deliver(struct link *link, struct port *port)
{
	struct frame frame = link->frames[link->first % FRAMES];
	u32 head = min(frame.len, (u32)HEAD);
	bool whole = frame.marked || asks(frame.head);
	u8 *data;

	link->first++;
	if (frame.lost) {
		say("lost: opcode %02x PSN %u", bth_of(frame.head)[0], get24(bth_of(frame.head) + 9));
		return;
	}
	if (whole)
		head = frame.len;
	data = calloc(1, head);
	memcpy(data, frame.head, min(frame.len, (u32)HEAD));
	if (frame.marked)
		data[1] |= 3;
	if (whole)
		complete(data, frame.len);
	if (frame.marked)
		check_marked(port, data, frame.len);
	arrive(port, data, head, frame.len);
}

static void depart(struct link *link)
{
	struct frame *frame = &link->frames[link->gone % FRAMES];

	link->gone++;
	if (frame->owner)
		rxe_freed(frame->owner);
}

/* --- the clock ---------------------------------------------------------------------- */

static u64 when(u64 due, u64 not_before)
{
	return max(due, not_before);
}

/* The time of what is due first; do it if it is due by @end */
static bool step(u64 end)
{
	struct hrtimer *timer = NULL;
	struct work_struct *work = NULL;
	struct link *departs = NULL, *arrives = NULL;
	u64 first = end + 1, at;
	bool rxe = false;
	int i;

	for (i = 0; i < num_timers; i++) {
		at = when(timers[i]->expires, timers_stop);
		if (timers[i]->queued && at < first) {
			first = at;
			timer = timers[i];
		}
	}
	for (i = 0; i < num_works; i++) {
		at = when(works[i]->due, worker_stops);
		if (works[i]->queued && at < first) {
			first = at;
			work = works[i];
		}
	}
	for (i = 0; i < PORTS; i++) {
		struct link *link = &links[i];

		if (link->gone != link->last && link->frames[link->gone % FRAMES].departs < first) {
			first = link->frames[link->gone % FRAMES].departs;
			departs = link;
			arrives = NULL;
		}
		if (link->first != link->gone && link->frames[link->first % FRAMES].arrives < first) {
			first = link->frames[link->first % FRAMES].arrives;
			arrives = link;
			departs = NULL;
		}
	}
	at = rxe_due();
	if (at < first) {
		first = at;
		rxe = true;
	}
	if (first > end)
		return false;
	fuzz_now = max(fuzz_now, first);
	if (rxe) {
		rxe_timers();
	} else if (arrives) {
		deliver(arrives, &ports[1 - (arrives - links)]);
	} else if (departs) {
		depart(departs);
	} else if (work) {
		lateness = max(lateness, fuzz_now - work->due);
		run_work(work);
	} else {
		lateness = max(lateness, fuzz_now - min(fuzz_now, (u64)timer->expires));
		run_timer(timer);
	}
	world_run_rcu();
	return true;
}

void settle(void)
{
	unsigned int steps = 0;

	world_run_rcu();
	while (step(fuzz_now))
		demand(steps++ < STEPS_MAX, "the module does not come to an end");
	check_all();
}

/* Whether a sequence has become so long that it must end */
bool world_is_tired(void)
{
	return work_done > WORK_MAX;
}

/* ns; when both links have sent what waits for them, maybe in the past */
u64 world_busy(void)
{
	return max(links[0].busy, links[1].busy);
}

/* Whether no packet is on its way */
bool world_is_silent(void)
{
	return links[0].first == links[0].last && links[1].first == links[1].last;
}

void pass(u64 ns)
{
	u64 end = fuzz_now + ns, before = fuzz_now;
	unsigned int steps = 0;

	settle();
	while (!world_is_tired() && step(end)) {
		work_done++;
		if (fuzz_now != before) {
			before = fuzz_now;
			steps = 0;
		}
		demand(steps++ < STEPS_MAX, "the module does not come to an end");
		check_all();
	}
	/* a tired world stands still: nothing that is due later has had its turn */
	if (!world_is_tired())
		fuzz_now = end;
}

/* ns; the most by which a timer or the worker has been late, or is so far */
u64 world_lateness(void)
{
	u64 most = lateness;
	int i;

	for (i = 0; i < num_timers; i++)
		if (timers[i]->queued)
			most = max(most, fuzz_now - min(fuzz_now, (u64)timers[i]->expires));
	for (i = 0; i < num_works; i++)
		if (works[i]->queued)
			most = max(most, fuzz_now - min(fuzz_now, (u64)works[i]->due));
	return most;
}

/* --- stamps: switches tell anything, in the place of stamp.c ------------------------------ */

bool dcqcn_stamp_add(struct sk_buff *skb)
{
	return true;
}

void dcqcn_stamps_read(struct dcqcn_dev *dev, bool on)
{
}

void dcqcn_stamps_exit(struct dcqcn_dev *dev)
{
}

void dcqcn_stamps_tell(struct dcqcn_dev *dev, u32 qpn, u32 psn, struct dcqcn_feedback *say)
{
	say->flags |= DCQCN_FEEDBACK_STAMPS;
	if (psn & 7)
		say->flags |= DCQCN_FEEDBACK_HOP;
	say->received = cpu_to_be32(psn & 64 ? psn * 1000 : 0);
	say->marked = cpu_to_be32(fuzz_now * 5);
	say->ahead = cpu_to_be32(fuzz_now);
	say->mbps = cpu_to_be32(psn & 32 ? 40000 : 10000);
	say->echo_received = cpu_to_be32(psn & 32);
}

/* --- ports ----------------------------------------------------------------------------- */

void port_add(struct port *port)
{
	int err;

	if (port->dev)
		return;
	port->ibdev.client_data = NULL;
	err = client->add(&port->ibdev);
	demand(!err, "error %d", err);
	port->dev = port->ibdev.client_data;
}

static void (*meanwhile_do)(void);

void world_meanwhile(void)
{
	if (meanwhile_do)
		meanwhile_do();
}

void port_remove(struct port *port, void (*meanwhile)(void))
{
	struct dcqcn_dev *dev = port->dev;

	if (!dev)
		return;
	meanwhile_do = meanwhile;
	port->removed = true;
	client->remove(&port->ibdev, dev);
	port->removed = false;
	meanwhile_do = NULL;
	port->dev = NULL;
	world_run_rcu();
}

void port_down(struct port *port)
{
	notifier->notifier_call(notifier, NETDEV_GOING_DOWN, &port->ndev);
}

void port_changed(struct port *port)
{
	notifier->notifier_call(notifier, NETDEV_CHANGE, &port->ndev);
}

/* A device that is below a port's has changed, or @moves: it joins the port's, or leaves it */
void port_changed_below(struct port *port, struct net_device *below, bool moves)
{
	struct netdev_notifier_changeupper_info info = { .upper_dev = &port->ndev };

	if (moves)
		notifier->notifier_call(notifier, NETDEV_CHANGEUPPER, &info);
	else
		notifier->notifier_call(notifier, NETDEV_CHANGELOWERSTATE, below);
}

void world_init(void)
{
	if (dcqcn_client_init() || dcqcn_hook_init())
		abort();
}

void world_begin(u64 seed)
{
	static struct module rxe;
	int i;

	fuzz_now = SECOND;
	random_state = seed;
	numbers = 0;
	lateness = 0;
	work_done = 0;
	timers_stop = 0;
	worker_stops = 0;
	transmit_fails = 0;
	fuzz_out_of_memory = false;
	fuzz_no_route = false;
	demand(!num_timers && !num_works && !num_hooks, "something is left of the last sequence");
	for (i = 0; i < PORTS; i++) {
		links[i].first = links[i].gone = links[i].last = 0;
		links[i].busy = 0;
		paths[i] = (struct path) { .bps = 10000000000ULL, .delay = 10 * US };
		ports[i] = (struct port) {
			.last = i + 1,
			.ibdev = { .index = i, .name = i ? "rxe1" : "rxe0",
				   .ops = { .driver_id = RDMA_DRIVER_RXE, .owner = &rxe } },
			.ndev = { .net = &net, .ifindex = i + 1, .reg_state = NETREG_REGISTERED,
				  .speed = 10000 },
		};
		ports[i].ibdev.ndev = &ports[i].ndev;
		INIT_LIST_HEAD(&ports[i].ibdev.coredev.port_list);
		list_add(&ports[i].kobj.entry, &ports[i].ibdev.coredev.port_list);
		ports[i].route.dst.dev = &ports[i].ndev;
		port_add(&ports[i]);
	}
}

void world_end(void)
{
	int i;

	for (i = 0; i < PORTS; i++)
		port_remove(&ports[i], NULL);
	world_run_rcu();
	demand(!bh_disabled && !readers && !fuzz_dst_refs, "BH is off, or a reference is kept");
	demand(!num_timers, "%d timers are left", num_timers);
	num_works = 0;
}
