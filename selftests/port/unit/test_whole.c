// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the whole port. Most are with a core that halts its device, as for a clsact: what waits
 * for a timer must go on afterwards. The core is that of kernels that reset a halted qdisc (6.1 to
 * 6.18), or that do not (7.2 and later).
 */
#include "kernel.h"

#include "classify.h"
#include "device.h"
#include "hook.h"
#include "link.h"
#include "origin.h"
#include "port.h"
#include "storm.h"
#include "tell.h"

#include "flow_key.h"
#include "tap.h"

#define DEVICES		2
#define US		1000ULL		/* ns */
#define MS		1000000ULL
#define PRIO		3
#define LENGTH		1082
#define RATE		1000000000ULL
#define LONGEST		33553920ULL	/* ns; 65535 quanta, which are repeated after half of that */
#define HALT		(20 * MS)

u64 core_now;
int core_cpu;
bool core_admin = true;

static struct net net;
static struct net_device devices[DEVICES];
static struct nf_hook_ops *hooks[DEVICES];
static struct Qdisc noop;
static const struct Qdisc_ops *qdisc_ops;
static struct notifier_block *notifier;
static bool resets;		/* a halt resets the qdisc */

/* What another CPU does when the port draws a random number, once */
static void (*meanwhile)(void);

/* What another CPU does when a port is about to be scheduled, once */
static void (*before)(void);

/* What another CPU does when a port has seen that it is halted, in its timer and again to be woken,
 * once
 */
static void (*afterwards)(void);
static int looks;

/* What left a device */
static struct { unsigned int data, pauses, resumes; u64 last; } left[DEVICES];

int register_pernet_subsys(struct pernet_operations *ops)
{
	net.generic = calloc(1, ops->size);
	return ops->init(&net);
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	ops->exit(&net);
	free(net.generic);
}

int register_netdevice_notifier(struct notifier_block *nb)
{
	notifier = nb;
	return 0;
}

void unregister_netdevice_notifier(struct notifier_block *nb)
{
	(void)nb;
	notifier = NULL;
}

int register_qdisc(struct Qdisc_ops *ops)
{
	qdisc_ops = ops;
	return 0;
}

void unregister_qdisc(struct Qdisc_ops *ops)
{
	(void)ops;
}

int nf_register_net_hook(struct net *n, struct nf_hook_ops *ops)
{
	(void)n;
	hooks[ops->dev - devices] = ops;
	return 0;
}

/* The port that replaces another one has registered its own */
void nf_unregister_net_hook(struct net *n, struct nf_hook_ops *ops)
{
	(void)n;
	if (hooks[ops->dev - devices] == ops)
		hooks[ops->dev - devices] = NULL;
}

u64 dcbport_flow_key(const struct sk_buff *skb)
{
	(void)skb;
	return 0;
}

u32 core_random(void)
{
	void (*other)(void) = meanwhile;

	meanwhile = NULL;
	if (other)
		other();
	return 0x9e3779b9;
}

void core_looked(const void *at)
{
	void (*other)(void) = afterwards;

	if (!other || at != &noop || --looks)
		return;
	afterwards = NULL;
	other();
}

void __netif_schedule(struct Qdisc *sch)
{
	void (*other)(void) = before;

	before = NULL;
	if (other)
		other();
	if (!(sch->state & 1 << __QDISC_STATE_DEACTIVATED))
		sch->scheduled = true;
}

struct sk_buff *core_alloc_skb(void)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	skb->data = skb->memory + 2;
	skb->truesize = 768;
	return skb;
}

/* --- devices --------------------------------------------------------------- */

static void leave(struct sk_buff *skb, int device)
{
	struct dcbport_pfc pfc;

	if (skb->protocol != htons(DCBPORT_PFC_ETHERTYPE)) {
		left[device].data++;
	} else {
		expect(dcbport_pfc_parse(skb->data + ETH_HLEN, skb->len - ETH_HLEN, &pfc),
		       "a bad PFC frame");
		if (pfc.quanta[PRIO])
			left[device].pauses++;
		else
			left[device].resumes++;
		left[device].last = core_now;
	}
	free(skb);
}

int dev_direct_xmit(struct sk_buff *skb, u16 queue)
{
	(void)queue;
	leave(skb, skb->dev - devices);
	return 0;
}

static void run(struct Qdisc *sch)
{
	struct sk_buff *skb;

	sch->scheduled = false;
	for (;;) {
		spin_lock(qdisc_lock(sch));
		skb = sch->ops->dequeue(sch);
		spin_unlock(qdisc_lock(sch));
		if (!skb)
			return;
		leave(skb, sch->dev - devices);
	}
}

static void softirq(void)
{
	for (int i = 0; i < DEVICES; i++) {
		if (devices[i].qdisc != &noop && devices[i].qdisc->scheduled)
			run(devices[i].qdisc);
	}
}

static struct dcbport *port_at(int device)
{
	return qdisc_priv(devices[device].qdisc);
}

static void pass(u64 ns)
{
	u64 until = core_now + ns;
	struct hrtimer *timer, *first;

	for (;;) {
		first = NULL;
		for (int i = 0; i < DEVICES; i++) {
			if (devices[i].qdisc == &noop)
				continue;
			timer = &port_at(i)->timer;
			if (timer->queued && (!first || timer->expires < first->expires))
				first = timer;
		}
		if (!first || (u64)first->expires > until)
			break;
		core_now = max(core_now, (u64)first->expires);
		first->queued = false;
		first->function(first);
		softirq();
	}
	core_now = until;
}

static void send(struct sk_buff *skb, int device)
{
	struct Qdisc *sch = devices[device].queue.qdisc;
	struct sk_buff *to_free = NULL;

	skb->dev = &devices[device];
	qdisc_pkt_len(skb) = skb->len;
	if (sch == &noop) {
		free(skb);
		return;
	}
	spin_lock(qdisc_lock(sch));
	sch->ops->enqueue(skb, sch, &to_free);
	spin_unlock(qdisc_lock(sch));
	tcf_kfree_skb_list(to_free, sch, NULL, NULL);
	run(sch);
}

/* Return false if the hook takes or drops the packet */
static bool come(struct sk_buff *skb, int device)
{
	unsigned int verdict;

	skb->skb_iif = device + 1;
	skb->data += ETH_HLEN;
	skb->len -= ETH_HLEN;
	verdict = hooks[device]->hook(hooks[device]->priv, skb, NULL);
	if (verdict == NF_DROP)
		free(skb);
	if (verdict != NF_ACCEPT)
		return false;
	skb->data -= ETH_HLEN;
	skb->len += ETH_HLEN;
	return true;
}

static struct sk_buff *packet(u8 prio)
{
	struct sk_buff *skb = core_alloc_skb();

	skb->protocol = htons(ETH_P_IP);
	skb->mac = skb->data;
	skb->network = skb->data + ETH_HLEN;
	skb->len = LENGTH;
	ip_hdr(skb)->tos = prio << 5;
	return skb;
}

/* Packets that come in at device 0 and leave at device 1 */
static void forward(u8 prio, int n)
{
	struct sk_buff *skb;

	while (n--) {
		skb = packet(prio);
		if (come(skb, 0))
			send(skb, 1);
		softirq();
	}
}

static void pause(int device, u16 quanta)
{
	static const u8 source[6];
	struct dcbport_pfc pfc = { .enable = 1 << PRIO };
	struct sk_buff *skb = core_alloc_skb();

	pfc.quanta[PRIO] = quanta;
	skb->protocol = htons(DCBPORT_PFC_ETHERTYPE);
	skb->mac = skb->data;
	skb->len = DCBPORT_PFC_LEN;
	dcbport_pfc_build(skb->data, source, &pfc);
	expect(!come(skb, device), "a PFC frame was not taken");
	softirq();
}

/* --- what the core does ---------------------------------------------------------- */

static void deactivate(struct net_device *dev, bool reset)
{
	struct Qdisc *sch = dev->qdisc;

	sch->state |= 1 << __QDISC_STATE_DEACTIVATED;
	dev->queue.qdisc = &noop;
	if (!reset)
		return;
	spin_lock(qdisc_lock(sch));
	sch->ops->reset(sch);
	expect(!sch->q.qlen, "a reset leaves %u packets", sch->q.qlen);
	spin_unlock(qdisc_lock(sch));
}

static void activate(struct net_device *dev)
{
	struct Qdisc *sch = dev->qdisc;

	sch->state = 0;
	dev->queue.qdisc = sch;
	if (!resets && sch->q.qlen)
		sch->scheduled = true;
	softirq();
}

/* As for a clsact, or the length of the queue. @during: what happens, or NULL */
static void halt(int device, void (*during)(void))
{
	deactivate(&devices[device], resets);
	if (during)
		during();
	pass(HALT);
	activate(&devices[device]);
}

static void destroy(struct Qdisc *sch)
{
	spin_lock(qdisc_lock(sch));
	sch->ops->reset(sch);
	spin_unlock(qdisc_lock(sch));
	sch->ops->destroy(sch);
	expect(!((struct dcbport *)qdisc_priv(sch))->timer.queued, "a timer is left");
	free(sch);
}

static struct Qdisc *create(struct net_device *dev)
{
	struct Qdisc *sch = calloc(1, sizeof(*sch) + qdisc_ops->priv_size);
	struct netlink_ext_ack extack = {};

	sch->ops = qdisc_ops;
	sch->parent = TC_H_ROOT;
	sch->dev = dev;
	sch->dev_queue = &dev->queue;
	expect(!qdisc_ops->init(sch, NULL, &extack), "init: %s", extack._msg ?: "");
	return sch;
}

static void replace(int device, u64 ns)
{
	struct net_device *dev = &devices[device];
	struct Qdisc *old = dev->qdisc, *new = create(dev);

	deactivate(dev, resets);
	dev->qdisc = new;
	destroy(old);
	pass(ns);
	activate(dev);
}

/* --- two ports of a switch ----------------------------------------------------------- */

static void set(int device, const struct dcbport_settings *s)
{
	struct netlink_ext_ack extack = {};

	expect(!dcbport_change(port_at(device), s, dcbport_buffer_find(&net, "s"), &extack),
	       "settings: %s", extack._msg ?: "");
	softirq();
}

static void begin(u64 delay)
{
	struct dcbport_settings s = dcbport_defaults;
	struct netlink_ext_ack extack = {};

	core_now = 1000 * MS;
	memset(left, 0, sizeof(left));
	expect(!dcbport_buffer_init() && !dcbport_qdisc_init(), "init");
	expect(!dcbport_buffer_new(&net, "s", &dcbport_buffer_defaults, &extack), "a switch");
	s.pfc = 1 << PRIO;
	s.rate = RATE;
	s.delay = delay;
	s.thresholds[PRIO] = (struct dcbport_thresholds) {
		.xoff = 60000, .xon = 40000, .headroom = 200000 };
	for (int i = 0; i < DCBPORT_PRIOS; i++) {
		s.curve[i].kmax = 0;
		s.thresholds[i].headroom = 200000;
	}
	for (int i = 0; i < DEVICES; i++) {
		devices[i] = (struct net_device) {
			.type = ARPHRD_ETHER, .ifindex = i + 1, .net = &net,
			.running = true, .carrier = true, .qdisc = &noop,
		};
	}
	for (int i = 0; i < DEVICES; i++) {
		devices[i].qdisc = create(&devices[i]);
		activate(&devices[i]);
		set(i, &s);
	}
}

static void end(void)
{
	struct netlink_ext_ack extack = {};
	struct Qdisc *sch;

	for (int i = 0; i < DEVICES; i++) {
		sch = devices[i].qdisc;
		deactivate(&devices[i], true);
		devices[i].qdisc = &noop;
		destroy(sch);
	}
	expect(!dcbport_buffer_del(dcbport_buffer_find(&net, "s"), &extack), "the switch has ports");
	dcbport_qdisc_exit();
	dcbport_buffer_exit();
}

/* --- tests ------------------------------------------------------------------------------ */

static void both_kernels(void (*test)(void))
{
	for (int i = 0; i < 2; i++) {
		resets = i;
		test();
	}
}

/* Device 1 stays paused: device 0 must repeat its pause in time, until it ends */
static void check_pauses(void)
{
	left[0].pauses = 0;
	for (int i = 0; i < 10; i++) {
		pause(1, 0xffff);
		pass(17 * MS);
		expect(core_now - left[0].last < LONGEST, "the last pause %llu us ago",
		       (unsigned long long)((core_now - left[0].last) / US));
	}
	expect(left[0].pauses >= 10 && !left[0].resumes, "%u pauses, %u resumes",
	       left[0].pauses, left[0].resumes);
	pause(1, 0);
	pass(10 * MS);
	expect(left[0].resumes == 1, "%u resumes", left[0].resumes);
}

/* Fill the account of device 0 */
static void congest(void)
{
	pause(1, 0xffff);
	forward(PRIO, 100);
}

static void pausing(void)
{
	begin(0);
	congest();
	pass(10 * MS);
	expect(left[0].pauses == 1, "%u pauses", left[0].pauses);
	pause(1, 0xffff);
	halt(0, NULL);
	check_pauses();
	end();
}

static void pause_begins(void)
{
	begin(0);
	halt(0, congest);
	check_pauses();
	end();
}

static void halt_begins(void)
{
	deactivate(&devices[0], resets);
}

/* The halt begins when the port has seen that it runs, and wants to be scheduled */
static void wakes_for_nothing(void)
{
	begin(0);
	pause(1, 0xffff);
	before = halt_begins;
	forward(PRIO, 100);
	expect(!before, "the port was not woken");
	pass(HALT);
	activate(&devices[0]);
	check_pauses();
	end();
}

static void halt_ends(void)
{
	activate(&devices[0]);
}

/* The halt ends when the port has seen that it does not run */
static void wakes_too_early(void)
{
	begin(0);
	congest();
	pass(10 * MS);
	deactivate(&devices[0], resets);
	afterwards = halt_ends;
	looks = 2;
	pass(HALT);
	expect(!afterwards, "the port was not woken");
	check_pauses();
	end();
}

static void replaced(void)
{
	begin(0);
	congest();
	replace(0, HALT);
	check_pauses();
	end();
}

static void on_the_wire(void)
{
	begin(1 * MS);
	forward(0, 3);
	/* none waits any more, so the core does not resume the qdisc by itself */
	pass(100 * US);
	expect(!left[1].data, "%u arrived at once", left[1].data);
	halt(1, NULL);
	pass(1 * MS);
	expect(left[1].data == (resets ? 0 : 3), "%u of 3 arrived", left[1].data);
	end();
}

/* A late timer has run the port, and the core has taken as many packets at once as it may. A halt
 * begins then, and the core's request to go on is ignored.
 */
static void on_the_wire_unscheduled(void)
{
	struct sk_buff *skb;
	struct Qdisc *sch;

	begin(1 * MS);
	forward(0, 3);
	pass(100 * US);
	sch = devices[1].qdisc;
	expect(sch->q.qlen == 3 && !sch->qstats.backlog, "%u packets, %u bytes wait", sch->q.qlen,
	       sch->qstats.backlog);
	port_at(1)->timer.queued = false;
	core_now += 2 * MS;
	spin_lock(qdisc_lock(sch));
	skb = sch->ops->dequeue(sch);
	spin_unlock(qdisc_lock(sch));
	expect(skb, "none has arrived");
	leave(skb, 1);
	halt(1, NULL);
	pass(1 * MS);
	expect(left[1].data == (resets ? 1 : 3), "%u of 3 arrived", left[1].data);
	expect(!sch->q.qlen, "%u packets are left", sch->q.qlen);
	end();
}

static void storm(void)
{
	begin(0);
	for (int i = 0; i < 30; i++) {
		pause(1, 0xffff);
		forward(PRIO, !i);
		pass(20 * MS);
	}
	expect(port_at(1)->class[PRIO].storm, "no storm");
	halt(1, NULL);
	pass(1000 * MS);
	expect(!port_at(1)->class[PRIO].storm && !port_at(1)->drops, "the storm goes on");
	end();
}

/* A halt that takes no time */
static void reset(int device)
{
	deactivate(&devices[device], true);
	activate(&devices[device]);
}

static void replace_at_once(int device)
{
	replace(device, 0);
}

static void lose_link(int device)
{
	devices[device].carrier = false;
	reset(device);
	devices[device].carrier = true;
}

static void still_paused(void)
{
	void (*change[])(int device) = { reset, replace_at_once };

	for (int i = 0; i < 2; i++) {
		begin(0);
		pause(1, 0xffff);
		change[i](1);
		forward(PRIO, 1);
		pass(20 * MS);
		expect(!left[1].data, "sent while paused: %d", i);
		pass(20 * MS);
		expect(left[1].data == 1, "not sent afterwards: %d", i);
		pause(1, 0xffff);
		lose_link(1);
		forward(PRIO, 1);
		pass(100 * US);
		expect(left[1].data == 2, "paused by what was before the link was down");
		end();
	}
}

/* The frame that ends a pause is on the wire, and does not arrive */
static void resume_lost(void)
{
	void (*change[])(int device) = { reset, replace_at_once };

	for (int i = 0; i < 2; i++) {
		begin(1 * MS);
		congest();
		pass(10 * MS);
		pause(1, 0);
		pass(900 * US);
		expect(left[0].pauses && !left[0].resumes && !port_at(0)->told,
		       "%u pauses, %u resumes", left[0].pauses, left[0].resumes);
		change[i](0);
		pass(2 * MS);
		expect(left[0].resumes == 1, "%u resumes after a change: %d", left[0].resumes, i);
		end();
	}
}

static void moved(void)
{
	struct dcbport_settings s;

	begin(0);
	pause(1, 0xffff);
	forward(PRIO, 5);
	s = port_at(1)->settings;
	s.tc[PRIO] = 1;
	s.tc[4] = PRIO;
	set(1, &s);
	forward(4, 100);
	expect(!left[1].data, "%u sent while paused", left[1].data);
	pause(1, 0);
	/* five frames take 44 us */
	pass(60 * US);
	expect(left[1].data > 5 && left[1].data < 20, "%u sent", left[1].data);
	pause(1, 0xffff);
	pass(2 * MS);
	expect(left[1].data == 105, "%u sent: what remained obeys a priority that has moved away",
	       left[1].data);
	end();
}

static void pause_again(void)
{
	const struct dcbport_pfc pfc = { .enable = 1 << PRIO, .quanta[PRIO] = 0xffff };

	dcbport_pause_hear(&port_at(1)->pause, &pfc, core_now);
}

/* A pause comes when its class has been chosen: one packet leaves, and others need not wait */
static void test_pause_races(void)
{
	for (int i = 0; i < 2; i++) {
		struct dcbport_settings s;

		begin(0);
		s = port_at(1)->settings;
		/* a packet that leaves draws a random number if others wait */
		s.mark = DCBPORT_MARK_DEQUEUE;
		s.curve[PRIO] = (struct dcbport_curve) { .kmax = 1 };
		s.maxrate[PRIO] = i ? RATE : 0;
		set(1, &s);
		pause(1, 0xffff);
		forward(PRIO, 3);
		meanwhile = pause_again;
		pause(1, 0);
		expect(!meanwhile, "no pause came");
		pass(100 * US);
		expect(left[1].data == 1, "%u sent", left[1].data);
		forward(4, 1);
		pass(100 * US);
		expect(left[1].data == 2, "another priority waits for a pause");
		pause(1, 0);
		pass(100 * US);
		expect(left[1].data == 4, "the class waits for a pause that is over");
		end();
	}
}

static void test_pausing(void)
{
	both_kernels(pausing);
}

static void test_pause_begins(void)
{
	both_kernels(pause_begins);
}

static void test_wakes_for_nothing(void)
{
	both_kernels(wakes_for_nothing);
}

static void test_wakes_too_early(void)
{
	both_kernels(wakes_too_early);
}

static void test_replaced(void)
{
	both_kernels(replaced);
}

/* tc destroys the old port late, and the new one has been set meanwhile */
static void replace_late(int device, const struct dcbport_settings *s)
{
	struct net_device *dev = &devices[device];
	struct Qdisc *old = dev->qdisc;

	deactivate(dev, false);
	dev->qdisc = create(dev);
	expect(!dcbport_change(port_at(device), s, NULL, &(struct netlink_ext_ack){}), "settings");
	destroy(old);
	activate(dev);
}

static void test_replaced_late(void)
{
	static const struct { u32 headroom; bool fits; } cases[] = {
		{ 900000, true }, { 12500000, false },
	};
	struct dcbport_buffer *buffer;
	struct dcbport_settings s;
	u64 room;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(0);
		buffer = dcbport_buffer_find(&net, "s");
		room = buffer->room;
		s = port_at(0)->settings;
		s.thresholds[PRIO].headroom += cases[i].headroom;
		replace_late(0, &s);
		expect(!!port_at(0)->buffer == cases[i].fits, "a headroom of %u more",
		       cases[i].headroom);
		room = cases[i].fits ? room + cases[i].headroom : room / 2;
		expect(buffer->room == room, "the ports have room for %llu, not %llu",
		       (unsigned long long)buffer->room, (unsigned long long)room);
		end();
	}
}

/* No frame could end a pause that a port without PFC inherits, and one at the old, lower rate would
 * last too long
 */
static void test_inherited(void)
{
	static const u64 slow = 1000000;

	for (int pfc = 0; pfc < 2; pfc++) {
		struct dcbport_settings s;

		begin(0);
		s = port_at(1)->settings;
		s.rate = slow;
		set(1, &s);
		pause(1, 0xffff);
		s.rate = RATE;
		s.pfc = pfc << PRIO;
		replace_late(1, &s);
		forward(PRIO, 3);
		pass(1 * MS);
		expect(left[1].data == (pfc ? 0 : 3), "%u of 3 sent", left[1].data);
		pass(2 * LONGEST);
		expect(left[1].data == 3, "%u of 3 sent, and the pause lasts", left[1].data);
		end();
	}
}

/* A switch refuses PFC without headroom, which a port that is in none may have */
static void test_heir_refused(void)
{
	struct dcbport_settings s;

	begin(0);
	s = port_at(0)->settings;
	s.thresholds[PRIO].headroom = 0;
	replace_late(0, &s);
	expect(!port_at(0)->buffer, "it is in the switch");
	end();
}

/* CPU 0 queues a packet, which another CPU will send */
static void queue_only(u8 prio)
{
	struct sk_buff *skb = packet(prio), *to_free = NULL;

	come(skb, 0);
	skb->dev = &devices[1];
	qdisc_pkt_len(skb) = skb->len;
	qdisc_ops->enqueue(skb, devices[1].qdisc, &to_free);
	tcf_kfree_skb_list(to_free, NULL, NULL, NULL);
}

/* CPU 0 queues packets, others send them, and have not told yet what they gave back: a pause must
 * end at xON
 */
static void test_other_cpus_resume(void)
{
	static const struct dcbport_pfc over = { .enable = 1 << PRIO };
	struct dcbport_buffer *buffer;
	struct dcbport_buffer_settings small = dcbport_buffer_defaults;
	struct dcbport_settings s;
	u32 bytes;

	begin(0);
	buffer = dcbport_buffer_find(&net, "s");
	s = port_at(1)->settings;
	s.rate = 0;
	set(1, &s);
	s = port_at(0)->settings;
	s.thresholds[PRIO].alpha = DCBPORT_ALPHA_ONE;
	set(0, &s);
	small.size = buffer->room + 110000;
	expect(!dcbport_buffer_set(buffer, &small, &(struct netlink_ext_ack){}), "a small switch");
	for (int i = 0; i < 7 * (CPUS - 1); i++) {
		queue_only(PRIO);
		core_cpu = 1 + i % (CPUS - 1);
		run(devices[1].qdisc);
		core_cpu = 0;
	}
	pause(1, 0xffff);
	for (int i = 0; i < 200 && !port_at(0)->ingress->paused; i++)
		forward(PRIO, 1);
	expect(port_at(0)->ingress->paused, "no pause");
	dcbport_pause_hear(&port_at(1)->pause, &over, core_now);
	core_cpu = 1;
	while (port_at(0)->ingress->paused)
		leave(qdisc_ops->dequeue(devices[1].qdisc), 1);
	core_cpu = 0;
	bytes = dcbport_account_bytes(&port_at(0)->ingress->holding[1][PRIO].account);
	expect(bytes > 40000 - LENGTH, "the pause ends at %u bytes", bytes);
	end();
}

/* CPU 0 queues packets one at a time, others send them: none may be lost in an empty pool */
static void test_other_cpus(void)
{
	const struct dcbport_buffer_settings small = { .size = 500000, .lossy = 20000 };
	struct dcbport_settings s;

	for (int share = 0; share < 2; share++) {
		begin(0);
		s = port_at(1)->settings;
		s.rate = 0;
		s.share[0] = share * DCBPORT_ALPHA_ONE;
		set(1, &s);
		s = port_at(0)->settings;
		s.thresholds[0].headroom = 0;
		set(0, &s);
		expect(!dcbport_buffer_set(dcbport_buffer_find(&net, "s"), &small,
					   &(struct netlink_ext_ack){}), "a small switch");
		for (int i = 0; i < 1000; i++) {
			queue_only(0);
			core_cpu = 1 + i % (CPUS - 1);
			run(devices[1].qdisc);
			core_cpu = 0;
		}
		expect(left[1].data == 1000, "%u of 1000 packets left", left[1].data);
		end();
	}
}

/* What tc_run() writes when a filter with a flowid has let a local packet pass */
static void test_flowid(void)
{
	struct sk_buff *skb = packet(PRIO);

	begin(0);
	pause(1, 0xffff);
	skb->tc_index = port_at(0)->origin << 3 | PRIO;
	send(skb, 1);
	expect(!dcbport_account_bytes(&port_at(0)->ingress->holding[1][PRIO].account),
	       "a port is charged for a packet that did not come in there");
	end();
}

/* Users who own a network namespace leave numbers to others */
static void test_numbers(void)
{
	static struct dcbport ports[DCBPORT_ORIGIN_MAX + 1];
	struct netlink_ext_ack extack = {};
	unsigned int users, all;

	core_admin = false;
	for (users = 0; !dcbport_origin_begin(&ports[users], &extack); users++)
		;
	core_admin = true;
	for (all = users; !dcbport_origin_begin(&ports[all], &extack); all++)
		;
	expect(users == 4095, "users have %u ports", users);
	expect(all == DCBPORT_ORIGIN_MAX, "all have %u ports", all);
	for (unsigned int i = 0; i < all; i++)
		dcbport_origin_end(&ports[i]);
}

static void test_wire(void)
{
	both_kernels(on_the_wire);
}

static void test_wire_unscheduled(void)
{
	both_kernels(on_the_wire_unscheduled);
}

static void test_storm(void)
{
	both_kernels(storm);
}

static void test_received(void)
{
	both_kernels(still_paused);
}

static void test_moved(void)
{
	both_kernels(moved);
}

/* Kinds of Ethernet devices, and which are refused: all, with PFC, or none */
static void test_kinds(void)
{
	static const struct {
		const char *kind, *refused;
	} kinds[] = {
		{ "bridge", "all" }, { "bond", "all" }, { "team", "all" },
		{ "vrf", "all" }, { "hsr", "all" }, { "batadv", "all" },
		{ "vlan", "PFC" }, { "macvlan", "PFC" }, { "macvtap", "PFC" }, { "ipvlan", "PFC" },
		{ "ipvtap", "PFC" }, { "vxlan", "PFC" }, { "geneve", "PFC" }, { "gretap", "PFC" },
		{ "ip6gretap", "PFC" }, { "erspan", "PFC" }, { "ip6erspan", "PFC" }, { "ifb", "PFC" },
		{ "veth", "none" }, { "dummy", "none" }, { "tun", "none" }, { "dsa", "none" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct rtnl_link_ops ops = { .kind = kinds[i].kind };
		struct net_device dev = { .type = ARPHRD_ETHER, .rtnl_link_ops = &ops };

		expect(!dcbport_device_refuse(&dev, false) == !!strcmp(kinds[i].refused, "all"),
		       "%s is not as it should be", kinds[i].kind);
		expect(!dcbport_device_refuse(&dev, true) == !strcmp(kinds[i].refused, "none"),
		       "%s with PFC is not as it should be", kinds[i].kind);
	}
}

/* 3 GiB that came while xOFF was low are in the headroom, and move to the pool when it is raised */
static void test_large_headroom(void)
{
	const struct dcbport_buffer_settings huge = { .size = 16ULL << 30, .lossy = 1 };
	struct dcbport_holding *holding = NULL;
	struct netlink_ext_ack extack = {};
	struct dcbport_settings s;
	struct dcbport_buffer *buffer;
	u64 used;

	begin(0);
	buffer = dcbport_buffer_find(&net, "s");
	expect(!dcbport_buffer_set(buffer, &huge, &extack), "a huge switch");
	s = port_at(0)->settings;
	s.thresholds[PRIO].headroom = U32_MAX;
	set(0, &s);
	for (int i = 0; i < 3; i++)
		expect(dcbport_buffer_charge(port_at(0)->ingress, PRIO, 1 << 30, &holding), "no room");
	used = dcbport_shared_used(&buffer->pool[1]);
	expect(used == 60000, "%llu bytes are in the pool", (unsigned long long)used);
	s.thresholds[PRIO].xoff = U32_MAX;
	set(0, &s);
	used = dcbport_shared_used(&buffer->pool[1]);
	expect(used == 3ULL << 30, "%llu bytes are in the pool, not 3 GiB", (unsigned long long)used);
	for (int i = 0; i < 3; i++)
		dcbport_buffer_release(holding, 1 << 30);
	used = dcbport_shared_used(&buffer->pool[1]);
	expect(!used && atomic64_read(&buffer->pool[1].used) >= -DCBPORT_POOL_BATCH,
	       "%lld bytes are left in the pool", (long long)atomic64_read(&buffer->pool[1].used));
	end();
}

/* The driver refuses the frame that ends a pause, and the core drops it in a reset */
static void resume_refused(void)
{
	struct sk_buff_head *refused[2];

	for (int i = 0; i < 2; i++) {
		begin(1 * MS);
		congest();
		pass(10 * MS);
		pause(1, 0);
		pass(2 * MS);
		expect(left[0].resumes == 1, "%u resumes", left[0].resumes);
		reset(0);
		pass(2 * MS);
		expect(left[0].resumes == 1, "%u resumes, where nothing was lost", left[0].resumes);
		refused[0] = &port_at(0)->sch->gso_skb;
		refused[1] = &port_at(0)->sch->skb_bad_txq;
		refused[i]->qlen = 1;
		reset(0);
		refused[i]->qlen = 0;
		pass(2 * MS);
		expect(left[0].resumes == 2, "%u resumes after a reset: %d", left[0].resumes, i);
		end();
	}
}

static void test_resume_lost(void)
{
	both_kernels(resume_lost);
	both_kernels(resume_refused);
}

static const struct tap_test tests[] = {
	{ "a port repeats its pauses after a halt", test_pausing },
	{ "a pause that begins in a halt", test_pause_begins },
	{ "a halt that begins while a port is woken", test_wakes_for_nothing },
	{ "a halt that ends while a port is woken", test_wakes_too_early },
	{ "a port that replaces another one repeats its pauses", test_replaced },
	{ "a port that has been set before it replaces another one", test_replaced_late },
	{ "frames on the wire arrive after a halt", test_wire },
	{ "they do so if the halt begins when they are due", test_wire_unscheduled },
	{ "a PFC storm ends after a halt", test_storm },
	{ "a received pause outlasts a halt, but not the link", test_received },
	{ "the end of a pause is told again if the frame is lost in a reset", test_resume_lost },
	{ "a pause that comes too late for a packet holds no others", test_pause_races },
	{ "a class forgets a priority that moved when its packets have left", test_moved },
	{ "devices that are no link of their own are refused", test_kinds },
	{ "more than 2 GiB move from a headroom to the pool", test_large_headroom },
	{ "a pause that is inherited ends", test_inherited },
	{ "a port that replaces another one may not fit into its switch", test_heir_refused },
	{ "a pause ends at xON, whichever CPU gives the memory back", test_other_cpus_resume },
	{ "no packet is lost for what other CPUs have given back", test_other_cpus },
	{ "a filter's class is not taken for a port", test_flowid },
	{ "users leave half of the ports' numbers to the administrator", test_numbers },
};

int main(void)
{
	tap_plan(sizeof(tests) / sizeof(*tests));
	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
