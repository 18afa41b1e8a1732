// SPDX-License-Identifier: GPL-2.0
/*
 * Tests queue.c, gate.c, requester.c and limiter.c, with a clock that the test advances. Races
 * between two CPUs run in a fixed order: while the pacer sends packets without the lock, the test lets rxe output
 * another one.
 */
#include <string.h>

#include "kernel.h"
#include "tap.h"

/* Stubs for the module's other headers */
#define DCQCN_TRACE_H
#define trace_dcqcn_rate_increase(...)		((void)0)
#define trace_dcqcn_path_measured(...)		((void)0)
#define trace_dcqcn_rate_cut(...)		((void)0)
#define trace_dcqcn_flow_born(...)		((void)0)
#define trace_dcqcn_flow_dead(...)		((void)0)
#define trace_dcqcn_packet_held(...)		((void)0)
#define trace_dcqcn_packet_released(...)	((void)0)

#define hash_for_each_possible_rcu(table, pos, member, key) \
	for (pos = NULL; pos; pos = NULL)
#define DECLARE_HASHTABLE(name, bits) int name
#define hash_for_each_rcu(table, bucket, pos, member) \
	for ((bucket) = 0, (pos) = only_port(); (bucket) < 1; (bucket)++)
struct workqueue_struct;

/* Others run while somebody waits for them */
#undef wait_var_event
#define wait_var_event(var, condition) \
	do { \
		if (!(condition)) \
			go_on(); \
		kernel_assert(condition); \
	} while (0)
static void go_on(void);

/* Another CPU may run behind each read of what RCU protects */
static void (*loaded)(void);
#undef rcu_dereference_check
#define rcu_dereference_check(p, c) \
	({ \
		__typeof__(p) value = (p); \
		if (loaded) \
			loaded(); \
		value; \
	})

/* The only port, and its QPs, for cc_list.c */
struct dcqcn_dev;
struct dcqcn_qp;
static struct dcqcn_dev *only_port(void);
struct dcqcn_qp *dcqcn_qp_next(struct dcqcn_dev *dev, unsigned long *qpn);

#include "peer.c"
#include "cc_list.c"
#include "cc_register.c"
#include "cc.c"
#include "limiter.c"
#include "requester.c"
#include "gate.c"
#include "queue.c"

#define MS		1000000ULL	/* ns */
#define MBPS		1000000ULL	/* bit/s */
#define QPS		131
#define SHORTEST	62		/* bytes of a READ response without data, as a frame */
#define UD_SEND		0x64
#define WRITE_FIRST	0x06	/* RC opcodes */
#define WRITE_MIDDLE	0x07
#define WRITE_ONLY	0x0a
#define READ_MIDDLE	0x0e	/* of a READ response */
#define UC_SEND		0x24	/* a message of one packet */
#define SHORTEST_SIZE	768		/* its truesize, bytes */
#define FULL		4170		/* bytes of a packet of 4 KB */
#define FULL_SIZE	8704		/* its truesize, bytes */
#define MB		(1 << 20)

static struct net_device ndev;
static struct net_device vlan = { .lower = &ndev };	/* the module has no reference to it */
static struct dst_entry dst = { .dev = &ndev };
static struct dcqcn_settings settings;
static struct dcqcn_counters counters, other_cpu;
static struct dcqcn_dev dev;
static struct dcqcn_qp qps[QPS];
static bool unpublished;	/* the port is in no list */
static int gone_waiting;	/* how often dcqcn_unregister_cc() has waited */

static struct dcqcn_dev *only_port(void)
{
	return &dev;
}

struct dcqcn_qp *dcqcn_qp_next(struct dcqcn_dev *port, unsigned long *qpn)
{
	return *qpn < QPS && !unpublished ? &qps[*qpn] : NULL;
}

bool dcqcn_resolve_is_there(const struct dcqcn_dev *port, u32 qpn)
{
	return qpn >= 17 && qpn < 17 + QPS;
}

struct dcqcn_qp *dcqcn_qp_find_or_add(struct dcqcn_dev *port, u32 qpn)
{
	return &qps[qpn - 17];
}

struct dcqcn_settings *dcqcn_dev_settings_begin(struct dcqcn_dev *port)
{
	return &settings;
}

void dcqcn_dev_settings_commit(struct dcqcn_dev *port, struct dcqcn_settings *new)
{
	new->plugs = *new->cc || new->qp_cc;
}

/* Packets sent, in order */
static struct { u8 kind, opcode; u32 psn; u16 sport; bool asks, ack_req, asks_module; } sent[8192];
static unsigned int num_sent, num_unseen, preemptible;

/* Runs on the other CPU while a packet is being sent */
static void (*meanwhile)(void);

void dcqcn_netlink_rate(struct dcqcn_qp *qp, enum rdma_dcqcn_rate_event event,
			u64 old_rate)
{
}

/* qp.c believes what a packet says of its QP */
static unsigned int believed;

bool dcqcn_qp_contradict(struct dcqcn_qp *qp, const struct dcqcn_tx *tx)
{
	believed++;
	return true;
}

static unsigned int num_asked;

void dcqcn_dev_resolve(struct dcqcn_dev *dev, struct list_head *entry)
{
	struct dcqcn_qp *qp = container_of(entry, struct dcqcn_qp, resolve_node);

	kernel_assert(qp->state == DCQCN_QP_LIVE);
	num_asked++;
}

/* Stamps that packets have got: in the place of stamp.c */
static unsigned int num_stamps;

bool dcqcn_stamp_add(struct sk_buff *skb)
{
	num_stamps++;
	return true;
}

DEFINE_STATIC_KEY_FALSE(dcqcn_cccs);
DEFINE_STATIC_KEY_FALSE(dcqcn_hasty_rxe);

/* A context, in the place of ccc.c: it lets @may_send packets leave */
static unsigned int may_send, in_context, steered, empty;
static u64 look_again;		/* ns; a flow that may not send looks again after this time */
static bool lends;
static bool more_behind;	/* of the last packet that left: more is held, and goes on */

u64 dcqcn_ccc_may_send(struct dcqcn_qp *qp, bool fresh, u64 now)
{
	empty += !fresh && !dcqcn_flow_held(&qp->flow);
	return may_send ? 0 : now + look_again;
}

bool dcqcn_ccc_sent(struct dcqcn_qp *qp, struct sk_buff *skb, u32 psn, u32 bytes,
		    u32 held, bool goes_on, u64 now)
{
	may_send -= !!may_send;
	in_context++;
	more_behind = held && goes_on;
	steered++;
	return lends;
}

void dcqcn_ccc_offer(struct dcqcn_qp *qp, struct sk_buff *skb, u64 now)
{
}

static void *moves;		/* headers that a steered packet leaves, as it was cloned */

void dcqcn_ccc_steer(struct dcqcn_qp *qp, struct sk_buff *skb)
{
	steered++;
	free(moves);
	moves = NULL;
}

struct dcqcn_bth *dcqcn_ccc_bth(struct sk_buff *skb)
{
	return skb->data ? (void *)skb->data + sizeof(struct iphdr) + sizeof(struct udphdr) : NULL;
}

static void learn_peer(const struct in6_addr *addr, u32 rtt, u32 burst, u64 now)
{
	dcqcn_peer_learn(&dev.peers, addr, &(struct dcqcn_peer){ .rtt = rtt, .burst = burst }, now);
}

static struct dcqcn_bth *bth_of(const struct sk_buff *skb)
{
	return (void *)skb->data + sizeof(struct iphdr) + sizeof(struct udphdr);
}

/* What tx.c tells the pacer of a packet */
static struct dcqcn_tx *describe(struct sk_buff *skb, enum dcqcn_pkt_kind kind,
				 const struct dcqcn_bth *bth, bool limit)
{
	struct dcqcn_tx *tx = dcqcn_tx_of(skb);

	*tx = (struct dcqcn_tx) {
		.bth = bth, .limit = limit,
		.packet = {
			.psn = dcqcn_bth_psn(bth), .bytes = skb->len + ETH_HLEN, .kind = kind,
			.opcode = bth->opcode, .ack_req = dcqcn_bth_requests_ack(bth),
		},
	};
	return tx;
}

static void leaves(const struct sk_buff *skb)
{
	sent[num_sent].kind = skb->protocol;
	sent[num_sent].psn = skb->priority;
	sent[num_sent].asks = skb->data && dcqcn_bth_requests_ack(bth_of(skb));
	sent[num_sent].ack_req = skb->data && bth_of(skb)->psn & cpu_to_be32(DCQCN_BTH_ACK_REQ);
	sent[num_sent].asks_module = skb->data && bth_of(skb)->qpn & cpu_to_be32(DCQCN_BTH_REQUEST);
	sent[num_sent].opcode = skb->data ? bth_of(skb)->opcode : 0;
	sent[num_sent].sport = skb->data ? be16_to_cpu(((struct udphdr *)bth_of(skb) - 1)->source) : 0;
	num_sent++;
}

int dst_output(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	void (*now)(void) = meanwhile;

	leaves(skb);
	preemptible += !bh_disabled;
	free(skb);
	meanwhile = NULL;
	if (now)
		now();
	return 0;
}

/* rxe outputs a packet: the length of its frame, and its truesize */
static void output_of(struct dcqcn_qp *qp, enum dcqcn_pkt_kind kind, u32 psn, u32 bytes,
		      u32 memory, bool limit)
{
	struct dcqcn_bth bth = {
		.opcode = kind == DCQCN_PKT_ACK ? DCQCN_OPCODE_ACK : 0, .psn = cpu_to_be32(psn),
	};
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	struct dcqcn_tx *tx;

	skb->len = bytes - ETH_HLEN;
	skb->truesize = memory;
	skb->dev = &vlan;
	skb->dst = &dst;
	skb->protocol = kind;
	skb->priority = psn;
	tx = describe(skb, kind, &bth, limit);
	if (dcqcn_queue_output(qp, tx) == NF_STOLEN)
		return;
	leaves(skb);
	free(skb);
}

/* rxe outputs data of an opcode, all of it, and tx.c does not show all requests to the pacer */
static void output_data(struct dcqcn_qp *qp, enum dcqcn_pkt_kind kind, u32 psn, u32 bytes,
			u8 opcode)
{
	u32 len = bytes - ETH_HLEN;
	struct sk_buff *skb = calloc(1, sizeof(*skb) + len);
	struct iphdr *iph = (void *)(skb + 1);
	struct udphdr *udp = (void *)(iph + 1);
	struct dcqcn_tx *tx;

	skb->data = (void *)iph;
	skb->len = len;
	skb->truesize = 2304;
	skb->dst = &dst;
	skb->protocol = kind;
	skb->priority = psn;
	*iph = (struct iphdr) {
		.version = 4, .ihl = 5, .tot_len = cpu_to_be16(len), .protocol = IPPROTO_UDP,
	};
	udp->dest = cpu_to_be16(DCQCN_UDP_PORT);
	udp->len = cpu_to_be16(len - sizeof(*iph));
	*bth_of(skb) = (struct dcqcn_bth) { .opcode = opcode, .psn = cpu_to_be32(psn) };
	tx = describe(skb, kind, bth_of(skb), true);
	if (kind == DCQCN_PKT_REQUEST && dcqcn_gate_may_skip(&qp->flow, skb, tx->bth)) {
		dcqcn_gate_skip(&qp->flow);
		num_unseen++;
	} else if (dcqcn_queue_output(qp, tx) == NF_STOLEN) {
		return;
	}
	leaves(skb);
	free(skb);
}

static void output_request(struct dcqcn_qp *qp, u32 psn, u32 bytes, u8 opcode)
{
	output_data(qp, DCQCN_PKT_REQUEST, psn, bytes, opcode);
}

static void output(enum dcqcn_pkt_kind kind, u32 psn)
{
	if (kind == DCQCN_PKT_REQUEST)
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	else
		output_of(&qps[0], kind, psn, kind == DCQCN_PKT_ACK ? 62 : 1000, 2304, true);
}

/* Advance the clock; the timer fires whenever it is due */
static void pass_time(struct dcqcn_qp *qp, u64 ns)
{
	struct hrtimer *timer = &qp->flow.timer;
	u64 end = fuzz_now + ns;

	while (timer->queued && (u64)timer->expires <= end) {
		fuzz_now = max(fuzz_now, (u64)timer->expires);
		timer->queued = false;
		bh_disabled++;
		if (timer->function(timer) == HRTIMER_RESTART)
			timer->queued = true;
		bh_disabled--;
	}
	fuzz_now = end;
}

/* QPs limited to a constant rate */
static void limited(u32 mbps, u8 type, u8 ack_timeout)
{
	int i;

	fuzz_now = 1000 * MS;
	num_sent = 0;
	num_unseen = 0;
	num_asked = 0;
	preemptible = 0;
	memset(&counters, 0, sizeof(counters));
	memset(&other_cpu, 0, sizeof(other_cpu));
	settings = (struct dcqcn_settings) {
		.rp = {
			.rpg_min_rate = mbps, .rate_to_set_on_first_cnp = mbps,
			.dce_tcp_g = 1019, .dce_tcp_rtt = 1, .alpha_on_cut = 1, .initial_alpha_value = 1023,
			.rate_reduce_monitor_period = 4, .rpg_gd = 11,
			.rpg_min_dec_fac = 50, .rpg_time_reset = 131071,
			.rpg_threshold = 31, .rpg_ai_rate = 1, .rpg_hai_rate = 1,
		},
		.rp_enable = 0xff,
	};
	dev = (struct dcqcn_dev) {
		.ndev = &ndev, .counters = &counters, .settings = &settings,
		.speed = 10000,
	};
	memset(qps, 0, sizeof(qps));
	for (i = 0; i < QPS; i++) {
		qps[i].dev = &dev;
		qps[i].qpn = i + 17;
		qps[i].state = DCQCN_QP_LIVE;
		qps[i].atomic_psn = DCQCN_PSN_NONE;
		qps[i].type = type;
		qps[i].ack_timeout = ack_timeout;
		dcqcn_queue_init(&qps[i].flow);
		dcqcn_queue_cnp(&qps[i], &settings, fuzz_now);
	}
}

/* Bytes of memory that the port's held packets take, by all accounts */
static long held_memory(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < DCQCN_NUM_FIFOS; i++)
		sum += dev.pacing.held_memory[i].counter + counters.held_memory[i] +
		       other_cpu.held_memory[i];
	return sum;
}

/* Flush every flow; the counters have to balance */
static void ends(void)
{
	int i;

	for (i = 0; i < QPS; i++) {
		dcqcn_queue_flush(&qps[i]);
		kfree(qps[i].flow.path);
		qps[i].flow.path = NULL;
	}
	expect(!held_memory(), "%ld bytes are counted as held", held_memory());
	expect(counters.value[DCQCN_RP_HELD] ==
	       counters.value[DCQCN_RP_RELEASED] + counters.value[DCQCN_RP_DROP_STALE] +
	       counters.value[DCQCN_RP_DROP_DEAD], "packets held are not packets released and dropped");
	expect(!dev.pacing.num_limited.counter, "%d QPs are limited", dev.pacing.num_limited.counter);
	expect(!bh_disabled, "BH is still disabled, %d times", bh_disabled);
}

/* QPs that stay at 1 Mb/s. The first one has no limit yet, and will begin with a burst. */
static void unstarted(u8 type, u8 ack_timeout)
{
	limited(1, type, ack_timeout);
	dcqcn_queue_flush(&qps[0]);
	settings.rp.start_burst = 12288;
	settings.rp.rpg_time_reset = 0;
}

static void ack_now(void)
{
	output(DCQCN_PKT_ACK, 14);
}

static void order_while_sending(void)
{
	limited(100, IB_QPT_RC, 0);
	output(DCQCN_PKT_RESPONSE, 10);
	expect(counters.value[DCQCN_RP_PASSED] == 1, "%lu packets passed, not one",
	       counters.value[DCQCN_RP_PASSED]);
	output(DCQCN_PKT_RESPONSE, 11);
	output(DCQCN_PKT_RESPONSE, 12);
	fuzz_now += 10 * MS;			/* a late timer sends both */
	meanwhile = ack_now;
	pass_time(&qps[0], 10 * MS);
	expect(num_sent == 4, "%u packets left, not 4", num_sent);
	expect(sent[1].psn == 11 && sent[2].psn == 12, "READ responses: PSN %u, %u",
	       sent[1].psn, sent[2].psn);
	expect(sent[3].kind == DCQCN_PKT_ACK, "the ACK left before the READ responses");
	output(DCQCN_PKT_ACK, 15);
	expect(num_sent == 5, "an ACK is held behind no packet");
	ends();
}

static void order_while_held(void)
{
	limited(1, IB_QPT_RC, 0);
	output(DCQCN_PKT_RESPONSE, 10);
	output(DCQCN_PKT_RESPONSE, 11);
	output(DCQCN_PKT_ACK, 12);
	expect(num_sent == 1, "an ACK overtakes a held READ response");
	pass_time(&qps[0], 100 * MS);
	expect(num_sent == 3 && sent[1].psn == 11 && sent[2].psn == 12,
	       "%u packets left", num_sent);
	expect(!qps[0].flow.held_bytes, "%u bytes are held of no packet", qps[0].flow.held_bytes);
	ends();
}

/* They may carry what an atomic operation returns */
static void order_of_acks(void)
{
	limited(1, IB_QPT_RC, 0);
	output(DCQCN_PKT_RESPONSE, 10);		/* passes */
	output(DCQCN_PKT_RESPONSE, 11);
	output(DCQCN_PKT_ACK, 12);
	output(DCQCN_PKT_ACK, 13);
	while (num_sent < 2)
		pass_time(&qps[0], MS);
	expect(dcqcn_flow_held(&qps[0].flow) == 2, "no ACKs are held behind a READ response");
	fuzz_now += 100 * MS;			/* a late timer sends both */
	meanwhile = ack_now;
	pass_time(&qps[0], 100 * MS);
	expect(num_sent == 5, "%u packets left, not 5", num_sent);
	expect(sent[2].psn == 12 && sent[3].psn == 13 && sent[4].psn == 14, "PSN %u, %u, %u",
	       sent[2].psn, sent[3].psn, sent[4].psn);
	ends();
}

static void stale_acks(void)
{
	u32 psn;

	limited(1, IB_QPT_RC, 0);
	output(DCQCN_PKT_RESPONSE, 10);
	output(DCQCN_PKT_RESPONSE, 11);
	output(DCQCN_PKT_RESPONSE, 12);
	output(DCQCN_PKT_ACK, 13);
	output(DCQCN_PKT_REQUEST, 500);
	output(DCQCN_PKT_RESPONSE, 11);		/* rxe goes back to it */
	expect(counters.value[DCQCN_RP_DROP_STALE] == 3,
	       "%lu packets were stale, not two READ responses and an ACK",
	       counters.value[DCQCN_RP_DROP_STALE]);
	pass_time(&qps[0], 200 * MS);
	expect(num_sent == 3, "%u packets left, not 3", num_sent);
	ends();

	/* what is before the place that rxe goes back to still leaves */
	limited(1, IB_QPT_RC, 0);
	for (psn = 10; psn < 14; psn++)
		output(DCQCN_PKT_RESPONSE, psn);
	output(DCQCN_PKT_RESPONSE, 12);
	expect(counters.value[DCQCN_RP_DROP_STALE] == 2, "%lu packets were stale, not 2",
	       counters.value[DCQCN_RP_DROP_STALE]);
	pass_time(&qps[0], 200 * MS);
	expect(num_sent == 3 && sent[1].psn == 11 && sent[2].psn == 12, "%u packets left, PSN %u, %u",
	       num_sent, sent[1].psn, sent[2].psn);
	ends();
}

static u32 responses_of(const struct dcqcn_qp *qp)
{
	return qp->flow.held_memory[DCQCN_RESPONSES];
}

/* A QP holds 8 MB of READ responses. A port holds 64 MB, and beyond that leaves each limited QP
 * its part of 64 MB: no more than 128 MB in all.
 */
static void memory(void)
{
	const u32 share = 64 * MB / QPS;
	long held = 0;
	unsigned int i, n;

	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < QPS; i++) {
		for (n = 0; n < (i < 9 ? 20000 : 800); n++)
			output_of(&qps[i], DCQCN_PKT_RESPONSE, n, SHORTEST, SHORTEST_SIZE, true);
		expect(responses_of(&qps[i]) <= 8 * MB, "a QP holds %u bytes of memory",
		       responses_of(&qps[i]));
		expect(responses_of(&qps[i]) > share, "QP %u of %u holds only %u bytes", i, QPS,
		       responses_of(&qps[i]));
		expect(i < 8 || responses_of(&qps[i]) <= share + SHORTEST_SIZE,
		       "QP %u holds %u bytes when the port is full", i, responses_of(&qps[i]));
		expect(dcqcn_flow_held(&qps[i].flow) * SHORTEST_SIZE == responses_of(&qps[i]),
		       "%u bytes of memory are counted for %u packets",
		       responses_of(&qps[i]), dcqcn_flow_held(&qps[i].flow));
		held += responses_of(&qps[i]);
	}
	expect(responses_of(&qps[0]) > 8 * MB - 2 * SHORTEST_SIZE, "a QP holds only %u bytes",
	       responses_of(&qps[0]));
	expect(held > 64 * MB && held <= 128 * MB, "a port holds %ld bytes of memory", held);
	/* one of each QP has passed */
	n = 9 * 20000 + (QPS - 9) * 800 - QPS - held / SHORTEST_SIZE;
	expect(counters.value[DCQCN_RP_DROP_BOUND] == n, "%lu dropped packets are counted, not %u",
	       counters.value[DCQCN_RP_DROP_BOUND], n);
	expect(held_memory() == held, "%ld bytes of memory are counted", held_memory());
	ends();
}

/* 130 QPs hold as many requests as rxe makes, 74 MB. Another QP, which holds nothing, answers a
 * READ of 256 KB.
 */
static void responses_beside_requests(void)
{
	unsigned int i, n;

	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < 130; i++) {
		for (n = 0; n < 66; n++)
			output_of(&qps[i], DCQCN_PKT_REQUEST, n, FULL, FULL_SIZE, true);
	}
	expect(held_memory() > 64 * MB, "only %ld bytes are held", held_memory());
	for (n = 0; n < 64; n++)
		output_of(&qps[130], DCQCN_PKT_RESPONSE, n, FULL, FULL_SIZE, true);
	expect(!counters.value[DCQCN_RP_DROP_BOUND], "%lu of 64 READ responses are dropped",
	       counters.value[DCQCN_RP_DROP_BOUND]);
	ends();
}

/* One CPU holds requests and another one drops them: the port knows how much it holds, but for a
 * batch of each CPU, and shows it exactly
 */
static void memory_on_two_cpus(void)
{
	long most = 0, least = 0, sum = 0, error;
	unsigned int i, n;

	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < QPS + 20; i++) {
		for (n = 0; n < 66; n++) {
			output_of(&qps[i % QPS], DCQCN_PKT_REQUEST, n, FULL, FULL_SIZE, true);
			sum += n ? FULL_SIZE : 0;	/* the first one passes */
			error = dev.pacing.held_memory[DCQCN_REQUESTS].counter - sum;
			most = max(most, error);
			least = min(least, error);
		}
		expect(held_memory() == sum, "%ld bytes are counted, and %ld held", held_memory(), sum);
		if (i < 20)
			continue;
		dev.counters = &other_cpu;
		dcqcn_queue_flush(&qps[i - 20]);
		dcqcn_queue_cnp(&qps[i - 20], &settings, fuzz_now);
		dev.counters = &counters;
		sum -= 65 * FULL_SIZE;
		expect(held_memory() == sum, "%ld bytes are counted, and %ld held", held_memory(), sum);
	}
	expect(most <= 2 * DCQCN_HELD_BATCH && least >= -2 * DCQCN_HELD_BATCH,
	       "the port counts %ld bytes too many, or %ld too few", most, -least);
	expect(counters.held_memory[DCQCN_REQUESTS] > 0, "%d bytes in a batch",
	       counters.held_memory[DCQCN_REQUESTS]);
	for (i = 0; i < DCQCN_NUM_COUNTERS; i++)
		counters.value[i] += other_cpu.value[i];
	ends();
}

/* Sixteen other CPUs have counted packets that they hold, and this one has passed on that it sent them:
 * the port holds less than nothing, and so has room, also where a long has 32 bits
 */
static void memory_below_zero(void)
{
	const int batches = 16 * DCQCN_HELD_BATCH;
	unsigned int n;

	limited(1, IB_QPT_RC, 0);
	atomic_long_add(-batches, &dev.pacing.held_memory[DCQCN_RESPONSES]);
	other_cpu.held_memory[DCQCN_RESPONSES] += batches;
	for (n = 0; n < 100; n++)
		output_of(&qps[0], DCQCN_PKT_RESPONSE, n, FULL, FULL_SIZE, true);
	expect(!counters.value[DCQCN_RP_DROP_BOUND], "%lu of %u READ responses are dropped",
	       counters.value[DCQCN_RP_DROP_BOUND], n);
	atomic_long_add(batches, &dev.pacing.held_memory[DCQCN_RESPONSES]);
	other_cpu.held_memory[DCQCN_RESPONSES] -= batches;
	ends();
}

/* QPs with jumbo frames hold more requests than a port may: then each keeps its part, and the
 * others leave, in order, and are paid for
 */
static void memory_of_requests(void)
{
	const u32 size = 128 << 10, share = 256 * MB / QPS;
	struct dcqcn_flow *flow = &qps[QPS - 1].flow;
	unsigned int i, n, held;

	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < QPS - 1; i++) {
		for (n = 0; n < 20; n++)
			output_of(&qps[i], DCQCN_PKT_REQUEST, n, 9000, size, true);
	}
	expect(held_memory() > 256 * MB - (int)size && held_memory() <= 512 * MB,
	       "%ld bytes of requests are held", held_memory());

	num_sent = 0;
	for (n = 0; n < 40; n++) {
		output_of(&qps[QPS - 1], DCQCN_PKT_REQUEST, n, 9000, size, true);
		expect(flow->held_memory[DCQCN_REQUESTS] <= share, "a QP holds %u bytes",
		       flow->held_memory[DCQCN_REQUESTS]);
	}
	held = dcqcn_flow_held(flow);
	expect(held == share / size, "%u requests are held, not %u", held, share / size);
	expect(num_sent == 40 - held, "%u requests left, and %u are held", num_sent, held);
	for (n = 0; n < num_sent; n++)
		expect(sent[n].psn == n, "request %u leaves in the place of %u", sent[n].psn, n);
	expect(flow->stat.expired == num_sent - 1, "%u requests are counted", flow->stat.expired);
	expect(flow->next - fuzz_now == num_sent * 72 * MS, "%u requests at 1 Mb/s take %llu ms",
	       num_sent, (unsigned long long)(flow->next - fuzz_now) / MS);
	expect(!counters.value[DCQCN_RP_DROP_BOUND], "%lu requests are dropped",
	       counters.value[DCQCN_RP_DROP_BOUND]);

	/* where there is room again, the rate holds */
	for (i = 0; i < QPS / 2; i++)
		dcqcn_queue_flush(&qps[i]);
	output_of(&qps[QPS - 1], DCQCN_PKT_REQUEST, 40, 9000, size, true);
	expect(dcqcn_flow_held(flow) == held + 1, "%u requests are held, not %u",
	       dcqcn_flow_held(flow), held + 1);
	ends();
}

/* Held packets may outlive the VLAN that rxe gave them to */
static void held_device(void)
{
	struct sk_buff *skb;
	int i;

	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < 3; i++) {
		output_of(&qps[0], DCQCN_PKT_REQUEST, i, 1000, 2304, true);
		output_of(&qps[0], DCQCN_PKT_RESPONSE, i, 1000, 2304, true);
	}
	expect(dcqcn_flow_held(&qps[0].flow) == 5, "%u packets are held",
	       dcqcn_flow_held(&qps[0].flow));
	for (i = 0; i < DCQCN_NUM_FIFOS; i++) {
		skb = skb_peek(&qps[0].flow.fifo[i].queue);
		expect(skb->dev == &ndev, "a held packet points to a device without a reference");
	}
	ends();
}

/* A request held together with 3 MB of READ responses, at an ack timeout of 67 ms */
static void mixed_floor(void)
{
	u64 half = 2048ULL << 14, floor = 8ULL * 1000 * 1000000000 / half;
	unsigned int n;

	limited(1, IB_QPT_RC, 14);
	output(DCQCN_PKT_REQUEST, 1);
	output(DCQCN_PKT_REQUEST, 2);
	expect(dcqcn_gate_floor(&qps[0]) == floor, "%llu bit/s for requests alone",
	       (unsigned long long)dcqcn_gate_floor(&qps[0]));
	for (n = 0; n < 800; n++)
		output_of(&qps[0], DCQCN_PKT_RESPONSE, n, 4000, 8704, true);
	expect(dcqcn_gate_floor(&qps[0]) / 2 == floor, "%llu bit/s with READ responses",
	       (unsigned long long)dcqcn_gate_floor(&qps[0]));
	pass_time(&qps[0], 50 * MS);
	expect(!dcqcn_gate_floor(&qps[0]), "a floor of %llu bit/s without requests",
	       (unsigned long long)dcqcn_gate_floor(&qps[0]));
	ends();
}

/* A request behind a long one, which takes 33 ms at 1 Mb/s, waits no longer than half of rxe's ack
 * timeout of 4.2 ms
 */
static void after_a_long_one(void)
{
	limited(1, IB_QPT_RC, 10);
	output_request(&qps[0], 1, FULL, WRITE_MIDDLE);
	output_request(&qps[0], 2, SHORTEST, WRITE_MIDDLE);
	expect(num_sent == 1, "%u requests leave at once", num_sent);
	pass_time(&qps[0], (2048ULL << 10) - 1);
	expect(num_sent == 1, "the request leaves before half of the ack timeout");
	pass_time(&qps[0], 1);
	expect(num_sent == 2, "the request waits for more than half of the ack timeout");
	output_request(&qps[0], 3, FULL, WRITE_MIDDLE);
	output_request(&qps[0], 4, SHORTEST, WRITE_MIDDLE);
	pass_time(&qps[0], MS);
	expect(num_sent == 3, "%u requests left, not 3", num_sent);
	pass_time(&qps[0], 2048ULL << 10);
	expect(num_sent == 4, "the request behind a held one waits for more than that");
	ends();
}

/* Requests are held for five seconds at most, at any ack timeout, or without one */
static void longest_hold(void)
{
	static const struct { u8 type, ack_timeout; } kinds[] = {
		{ IB_QPT_RC, 20 }, { IB_QPT_RC, 31 }, { IB_QPT_RC, 0 }, { IB_QPT_UC, 0 },
	};
	unsigned int n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		limited(1, kinds[i].type, kinds[i].ack_timeout);
		for (n = 0; n < 65; n++)
			output_request(&qps[0], n, 60000, WRITE_MIDDLE);
		pass_time(&qps[0], 4900 * MS);
		expect(num_sent < 15, "type %u, timeout %u: %u packets left in 4.9 s",
		       kinds[i].type, kinds[i].ack_timeout, num_sent);
		pass_time(&qps[0], 600 * MS);
		expect(num_sent == 65, "type %u, timeout %u: only %u packets left in 5.5 s",
		       kinds[i].type, kinds[i].ack_timeout, num_sent);
		expect(qps[0].flow.stat.expired > 40, "%u requests expired",
		       qps[0].flow.stat.expired);
		expect(qps[0].flow.stat.max_packets == 64 &&
		       qps[0].flow.stat.max_bytes == 64 * 60000, "at most %u packets, %u bytes",
		       qps[0].flow.stat.max_packets, qps[0].flow.stat.max_bytes);
		expect(counters.value[DCQCN_RP_EXPIRED] == qps[0].flow.stat.expired,
		       "%lu requests are counted, and %u expired", counters.value[DCQCN_RP_EXPIRED],
		       qps[0].flow.stat.expired);
		ends();
	}
}

/* What packets cost at a rate without a bound, which is less than a nanosecond each, is not charged
 * at the low rate that follows
 */
static void remainder_of_high_rate(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int n;

	limited(1, IB_QPT_RC, 0);
	flow->rate.current_rate = DCQCN_RATE_MAX;
	flow->rate.target_rate = DCQCN_RATE_MAX;
	for (n = 0; n < 8; n++)
		dcqcn_gate_pay(&qps[0], DCQCN_RATE_MAX, 4000, fuzz_now);
	expect(flow->next <= fuzz_now, "they take %llu ns",
	       (unsigned long long)(flow->next - fuzz_now));
	dcqcn_gate_pay(&qps[0], DCQCN_BPS_PER_MBPS, 4000, fuzz_now);
	expect(flow->next - fuzz_now <= 32 * MS + 1, "the next one takes %llu ns",
	       (unsigned long long)(flow->next - fuzz_now));
	ends();
}

/* Requests that were held for five seconds leave at once. The READ responses beside them wait for
 * no more than one packet of 480 ms at 1 Mb/s.
 */
static void after_a_long_hold(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int n;

	limited(1, IB_QPT_RC, 0);
	for (n = 0; n < 65; n++)
		output_request(&qps[0], n, 60000, WRITE_MIDDLE);
	for (n = 0; n < 20; n++)
		output_of(&qps[0], DCQCN_PKT_RESPONSE, n, 60000, 65536, true);
	for (n = 0; n < 550 && !skb_queue_empty(&flow->fifo[DCQCN_REQUESTS].queue); n++)
		pass_time(&qps[0], 10 * MS);
	expect(flow->stat.expired > 40 && n < 550, "%u requests expired in %u ms",
	       flow->stat.expired, 10 * n);
	expect(!skb_queue_empty(&flow->fifo[DCQCN_RESPONSES].queue), "no response is held");
	expect(flow->next - fuzz_now <= 480 * MS, "they wait for %llu ms",
	       (unsigned long long)(flow->next - fuzz_now) / MS);
	ends();
}

/* At 1 Mb/s and an ack timeout of 67 ms, 4 KB take as long as half of that */
static void asks(void)
{
	unsigned int n, silent = 0;

	limited(1, IB_QPT_RC, 14);
	for (n = 0; n < 65; n++)
		output_request(&qps[0], n, n % 2 ? 500 : 4170, WRITE_MIDDLE);
	pass_time(&qps[0], 1300 * MS);
	expect(num_sent == 65, "%u packets left in 1.3 s, not 65", num_sent);
	for (n = 0; n < num_sent; n++) {
		silent = sent[n].asks ? 0 : silent + 1;
		expect(silent < 2, "%u packets in a row ask for no ACK", silent);
	}
	ends();

	limited(100, IB_QPT_RC, 14);
	for (n = 0; n < 65; n++)
		output_request(&qps[0], n, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], 10 * MS);
	for (n = 0; n < num_sent; n++)
		expect(!sent[n].asks, "packet %u asks for an ACK at 100 Mb/s", n);
	ends();
}

/* What rxe sends again after a pause has no credit for the pause: a loss is no reason for a burst */
static void back_without_credit(void)
{
	unsigned int i;

	limited(100, IB_QPT_RC, 0);
	output_request(&qps[0], 0, 1000, WRITE_MIDDLE);
	output_request(&qps[0], 1, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], 10 * MS);
	expect(num_sent == 2, "%u packets left, not 2", num_sent);
	for (i = 1; i < 33; i++)
		output_request(&qps[0], i, 1000, WRITE_MIDDLE);
	expect(num_sent == 3, "rxe goes back, and %u packets leave at once", num_sent - 2);
	ends();
}

/* rxe goes back to the same packet each 67 ms, as while a QP is destroyed: all that is held
 * leaves in between, and from the second time on the core is asked whether there is still such a
 * QP. Once rxe sends what it may only send after an ACK, all is held again.
 */
static void stuck(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int n, turn;

	limited(1, IB_QPT_RC, 14);
	output_request(&qps[0], 999, 4170, WRITE_MIDDLE);
	for (turn = 0; turn < 5; turn++) {
		for (n = 0; n < 128; n++)
			output_request(&qps[0], 1000 + n, 2000, WRITE_MIDDLE);
		expect(dcqcn_flow_held(flow) < 4 || turn < 2, "%u packets are held",
		       dcqcn_flow_held(flow));
		expect(num_asked == (turn < 2 ? 0 : turn - 1), "the core is asked %u times",
		       num_asked);
		pass_time(&qps[0], 4096 << 14);
		expect(!dcqcn_flow_held(flow) || turn < 2, "%u packets are left",
		       dcqcn_flow_held(flow));
	}
	for (n = 0; n < 10; n++)
		output_request(&qps[0], 1129 + n, 2000, WRITE_MIDDLE);
	expect(dcqcn_flow_held(flow) > 8, "%u packets are held", dcqcn_flow_held(flow));
	ends();

	/* while the worker frees the entry, it must not be queued for the worker again */
	limited(1, IB_QPT_RC, 14);
	for (turn = 0; turn < 4; turn++) {
		qps[0].state = turn < 2 ? DCQCN_QP_LIVE : DCQCN_QP_DEAD;
		for (n = 0; n < 3; n++)
			output_request(&qps[0], 1000 + n, 2000, WRITE_MIDDLE);
	}
	expect(!num_asked, "the core is asked about an entry that is freed");
	ends();
}

/* As many requests as rxe may have in flight leave in time, despite held READ responses */
static void turns(void)
{
	unsigned int n, requests = 0;

	limited(1, IB_QPT_RC, 14);
	for (n = 0; n < 3000; n++)
		output(DCQCN_PKT_RESPONSE, n);
	for (n = 0; n < 65; n++)
		output(DCQCN_PKT_REQUEST, n);
	/* 8 ms each, and as much for READ responses */
	pass_time(&qps[0], 1050 * MS);
	for (n = 0; n < num_sent; n++)
		requests += sent[n].kind == DCQCN_PKT_REQUEST;
	expect(requests == 65, "%u of 65 requests left in time", requests);
	expect(num_sent - requests > 60, "only %u READ responses left beside them",
	       num_sent - requests);
	expect(!qps[0].flow.stat.expired, "%u requests were sent because they were too old",
	       qps[0].flow.stat.expired);
	/* those that are held, of equal length, one by one; the first response has passed */
	for (n = 2; n < 130; n++)
		expect(sent[n].kind != sent[n - 1].kind, "packets %u and %u are of one kind", n - 1, n);
	ends();
}

/* At 1 Mb/s beside READ responses, one request leaves in about half of the ack timeout, 8 ms. If
 * the responses are short, dozens of them are worth one request, and have most of the turns. If a
 * packet takes a quarter of the timeout or longer, the turns alternate.
 */
static void turns_in_time(void)
{
	static const unsigned int lens[] = { 78, 1000 };
	unsigned int n, requests, k;
	u64 last;

	for (k = 0; k < ARRAY_SIZE(lens); k++) {
		limited(1, IB_QPT_RC, 12);
		for (n = 0; n < 1000; n++)
			output_of(&qps[0], DCQCN_PKT_RESPONSE, n, lens[k], 2304, true);
		for (n = 0; n < 40; n++)
			output_request(&qps[0], n, 4154, WRITE_MIDDLE);
		last = fuzz_now;
		for (requests = 0; requests < 40 && num_sent < 1000;) {
			n = num_sent;
			pass_time(&qps[0], MS / 16);
			for (; n < num_sent; n++) {
				if (sent[n].kind != DCQCN_PKT_REQUEST)
					continue;
				expect(!requests || fuzz_now - last < (4096ULL << 11) + MS / 4,
				       "request %u leaves after %llu us", requests + 1,
				       (fuzz_now - last) / 1000);
				requests++;
				last = fuzz_now;
			}
		}
		expect(requests == 40, "%u of 40 requests left", requests);
		n = num_sent - requests;
		expect(k ? n >= 39 && n <= 41 : n > 2 * requests,
		       "%u responses of %u bytes left beside them", n, lens[k]);
		ends();
	}
}

/* A timer that is late by more than 20 ms, as where a hypervisor has stopped the CPU, earns credit
 * for 20 ms, and one that is less late for all of it
 */
static void late_timer(void)
{
	static const struct { unsigned int ms, packets; } late[] = {
		{ 5, 6 }, { 19, 20 }, { 21, 21 }, { 100, 21 },
	};
	unsigned int n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(late); i++) {
		limited(8, IB_QPT_RC, 0);		/* 1000 bytes take 1 ms */
		for (n = 0; n < 60; n++)
			output(DCQCN_PKT_REQUEST, n);
		pass_time(&qps[0], 10 * MS);
		num_sent = 0;
		fuzz_now += late[i].ms * MS + MS / 2;
		pass_time(&qps[0], 0);
		expect(num_sent >= late[i].packets - 1 && num_sent <= late[i].packets + 1,
		       "%u packets left at once after %u ms, not %u", num_sent, late[i].ms,
		       late[i].packets);
		ends();
	}
}

/* The timer is late, so rxe's task sends in process context */
static void no_preemption(void)
{
	limited(1, IB_QPT_RC, 0);
	output(DCQCN_PKT_REQUEST, 1);
	output(DCQCN_PKT_REQUEST, 2);
	output(DCQCN_PKT_REQUEST, 3);
	fuzz_now += 100 * MS;
	preemptible = 0;
	output(DCQCN_PKT_REQUEST, 4);
	expect(num_sent == 4, "%u packets left, not 4", num_sent);
	expect(!preemptible, "%u packets were sent in preemptible context", preemptible);
	ends();
}

static void other_priority(void)
{
	unsigned int i;

	limited(1, IB_QPT_UD, 0);
	output(DCQCN_PKT_REQUEST, 1);
	output(DCQCN_PKT_REQUEST, 2);
	output_of(&qps[0], DCQCN_PKT_REQUEST, 3, 1000, 2304, false);
	expect(num_sent == 2 && sent[1].psn == 3, "a datagram of another priority waits");
	expect(!qps[0].flow.released, "a datagram of another priority ends the limit");
	pass_time(&qps[0], 100 * MS);
	expect(num_sent == 3, "%u packets left, not 3", num_sent);

	limited(1, IB_QPT_RC, 0);
	output(DCQCN_PKT_REQUEST, 1);
	output(DCQCN_PKT_REQUEST, 2);
	output_of(&qps[0], DCQCN_PKT_REQUEST, 3, 1000, 2304, false);
	pass_time(&qps[0], MS);
	expect(num_sent == 3 && sent[2].psn == 3, "an RC QP waits although its priority is disabled");
	ends();

	/* a firewall may give ACKs another priority than data */
	limited(1, IB_QPT_RC, 0);
	for (i = 0; i < 10; i++)
		output(DCQCN_PKT_RESPONSE, i);
	output_of(&qps[0], DCQCN_PKT_ACK, 10, 62, 2304, false);
	pass_time(&qps[0], MS);
	expect(num_sent == 1 && !qps[0].flow.released, "an ACK of another priority ends the limit");
	pass_time(&qps[0], 100 * MS);
	expect(num_sent == 11 && sent[10].psn == 10, "%u packets left, not 11", num_sent);
	ends();
}

/* The limit ends while 1,000 READ responses are held. The kernel reads the clock once for all timers
 * that a softirq runs: one that is set for a time before that fires again at once, and would keep the
 * CPU until nothing is held.
 */
static void release_in_turns(void)
{
	struct hrtimer *timer = &qps[0].flow.timer;
	u32 psn, before, fires = 0;
	u64 basenow;

	limited(1, IB_QPT_RC, 14);
	for (psn = 0; psn < 1000; psn++)
		output_of(&qps[0], DCQCN_PKT_RESPONSE, psn, SHORTEST, SHORTEST_SIZE, true);
	output_of(&qps[0], DCQCN_PKT_REQUEST, 5, 1000, 2304, false);
	before = num_sent;
	basenow = fuzz_now;
	while (timer->queued && (u64)timer->expires <= basenow) {
		fuzz_now += 64000;
		timer->queued = false;
		bh_disabled++;
		timer->queued = timer->function(timer) == HRTIMER_RESTART;
		bh_disabled--;
		fires++;
	}
	expect(fires == 1 && num_sent == before + 64, "%u packets leave in one softirq, which fires %u times",
	       num_sent - before, fires);
	pass_time(&qps[0], MS);
	expect(!dcqcn_flow_held(&qps[0].flow) && num_sent >= 1000, "%u packets left", num_sent);
	ends();
}

/* As when the module is unloaded: more packets than one turn sends, in order */
static void release(void)
{
	unsigned int n;

	limited(1, IB_QPT_RC, 0);
	for (n = 0; n < 100; n++)
		output(DCQCN_PKT_RESPONSE, n);
	dcqcn_queue_release(&qps[0]);
	expect(num_sent == 1 + 64 && qps[0].limited, "%u packets left at once", num_sent);
	output(DCQCN_PKT_RESPONSE, n);
	pass_time(&qps[0], MS);
	for (n = 0; n < num_sent; n++)
		expect(sent[n].psn == n, "READ response %u left instead of %u",
		       sent[n].psn, n);
	expect(num_sent == 101, "%u packets left, not 101", num_sent);
	expect(!qps[0].limited, "the limiter has not ended");
	ends();
}

/* A flow that stops sending recovers its rate, and its limiter ends */
static void idle(void)
{
	limited(100, IB_QPT_UC, 0);
	settings.rp.rpg_max_rate = 200;
	settings.rp.rpg_threshold = 1;
	settings.rp.rpg_ai_rate = 100;
	settings.rp.rpg_time_reset = 1000;
	fuzz_now += 5 * MS / 10;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(qps[0].limited, "the limiter ended too early");
	fuzz_now += 1000 * MS;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(!qps[0].limited, "the limiter of an idle flow has not ended");
	ends();
}

/* ACKs are read from the first limit on, until the janitor finds none */
static void acks_are_read(void)
{
	dcqcn_limiter_rest();
	expect(!dcqcn_any_limited, "read without a limit");
	limited(80, IB_QPT_RC, 0);
	expect(dcqcn_any_limited, "not read while flows are limited");
	dcqcn_limiter_rest();
	expect(dcqcn_any_limited, "not read any more while flows are limited");
	ends();
	expect(dcqcn_any_limited, "each limit that ends writes what all packets read");
	dcqcn_limiter_rest();
	expect(!dcqcn_any_limited, "read for ever");
}

/* 1000 packets of 1000 bytes at 80 Mb/s: 100 us each */
static void pace(void)
{
	unsigned int psn = 1;
	u64 began, took;

	limited(80, IB_QPT_UC, 0);
	output(DCQCN_PKT_REQUEST, 0);
	began = fuzz_now;
	while (num_sent < 1001) {
		if (dcqcn_flow_held(&qps[0].flow) < 8)
			output(DCQCN_PKT_REQUEST, psn++);
		else
			pass_time(&qps[0], MS / 10);
	}
	took = fuzz_now - began;
	expect(took >= 100 * MS - MS / 10 && took <= 100 * MS + MS / 10,
	       "1000 packets took %llu ns, not 100 ms", (unsigned long long)took);
	ends();
}

/* What a gap loses in rounding, the next one has: at 7 Mb/s, 1000 bytes take 1142857 ns and 1/7 */
static void pace_exactly(void)
{
	u32 psn;
	u64 began;

	limited(7, IB_QPT_UC, 0);
	began = fuzz_now;
	for (psn = 0; psn < 701; psn++) {
		output(DCQCN_PKT_REQUEST, psn);
		pass_time(&qps[0], MS);
	}
	pass_time(&qps[0], 1000 * MS);
	expect(num_sent == 701 && qps[0].flow.next - began == 801142857,
	       "%u packets at 7 Mb/s take %llu ns, not 801142857", num_sent,
	       (unsigned long long)(qps[0].flow.next - began));
	ends();
}

/* A flow that had nothing to send has credit for 16 packets, but not for more than 4 ms */
static void credit_of_idle(void)
{
	static const struct { u32 mbps, packets; } rates[] = { { 80, 17 }, { 20, 11 }, { 1, 1 } };
	unsigned int n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		limited(rates[i].mbps, IB_QPT_RC, 0);
		output(DCQCN_PKT_REQUEST, 0);
		pass_time(&qps[0], 1000 * MS);
		for (n = 1; n < 40; n++)
			output(DCQCN_PKT_REQUEST, n);
		expect(num_sent - 1 == rates[i].packets, "%u packets leave at once at %u Mb/s, not %u",
		       num_sent - 1, rates[i].mbps, rates[i].packets);
		ends();
	}
}

/* A burst of 12 packets; the 13th asks for an ACK, and what is behind it waits for that */
static void start(void)
{
	unsigned int i, asked = 0;

	unstarted(IB_QPT_RC, 0);
	dcqcn_limiter_start(&qps[0], &settings, true);
	for (i = 0; i < 40; i++)
		output_request(&qps[0], i, 1000, WRITE_MIDDLE);
	expect(num_sent == 13, "%u packets left at once, not 13", num_sent);
	for (i = 0; i < num_sent; i++)
		expect(sent[i].asks == (i == 12), "packet %u: asks %d", i, sent[i].asks);

	fuzz_now += MS / 10;
	dcqcn_queue_acked(&qps[0], 12, 0);
	pass_time(&qps[0], 0);
	expect(num_sent > 13, "no packet leaves when the ACK has come");
	/* 3 * 12288 bytes in 0.2 ms are 9 packets in 49 us */
	pass_time(&qps[0], 49 * MS / 1000);
	expect(num_sent >= 22 && num_sent <= 24, "%u packets left", num_sent);
	pass_time(&qps[0], MS);
	for (i = 13; i < num_sent; i++)
		asked += sent[i].asks;
	expect(asked == 1, "%u packets ask while one is on its way", asked);
	ends();
}

/* The end of a burst is lost. One packet follows after 1 ms, of which the peer learns
 * that, and rxe goes back: a packet leaves at once, and asks.
 */
static void start_tail(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	learn_peer(&qps[0].peer, MS / 10, 12288, fuzz_now);
	dcqcn_limiter_start(&qps[0], &settings, true);
	for (i = 0; i < 40; i++)
		output_request(&qps[0], i, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], MS - 1);
	expect(num_sent == 13, "%u packets left, not 13", num_sent);
	pass_time(&qps[0], 1);
	expect(num_sent == 14, "none follows the burst after 1 ms");
	pass_time(&qps[0], MS);
	expect(num_sent == 14, "%u packets follow the burst", num_sent - 13);
	for (i = 10; i < 40; i++)
		output_request(&qps[0], i, 1000, WRITE_MIDDLE);
	expect(num_sent == 15 && sent[14].psn == 10 && sent[14].asks,
	       "rxe goes back, and %u packets leave", num_sent - 14);
	pass_time(&qps[0], MS / 10);
	dcqcn_queue_acked(&qps[0], 10, 0);
	pass_time(&qps[0], MS / 10);
	expect(num_sent > 16 && flow->rate.start == DCQCN_START_MEASURES, "it goes on waiting");
	ends();
}

/* READ responses with start_burst 12288, of which the first 13 leave at once */
static void responds(void)
{
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	dcqcn_limiter_start(&qps[0], &settings, false);
	for (i = 0; i < 200; i++)
		output_data(&qps[0], DCQCN_PKT_RESPONSE, i, 1000, READ_MIDDLE);
	expect(num_sent == 13, "%u packets left, not 13", num_sent);
}

/* All of a burst is lost, and rxe goes back after its timeout. That was no pause: the start goes on,
 * and does not end at the line rate. The janitor has not looked meanwhile.
 */
static void start_loses_burst(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	enum dcqcn_pkt_kind kind;
	unsigned int i;

	for (kind = DCQCN_PKT_REQUEST; kind <= DCQCN_PKT_RESPONSE; kind++) {
		bool reads = kind == DCQCN_PKT_RESPONSE;

		unstarted(IB_QPT_RC, 0);
		dcqcn_limiter_start(&qps[0], &settings, !reads);
		for (i = 0; i < 26; i++) {
			if (i == 13)
				fuzz_now += 400 * MS;
			output_data(&qps[0], kind, i % 13, 1000, reads ? READ_MIDDLE : WRITE_MIDDLE);
		}
		expect(qps[0].limited && !flow->released &&
		       flow->rate.start == (reads ? DCQCN_START_BLIND : DCQCN_START_ASKS),
		       "kind %d: the start ends at %llu bit/s", kind,
		       (unsigned long long)flow->rate.current_rate);
		expect(num_sent == 13 + 1, "kind %d: %u packets leave at once", kind, num_sent - 13);
		ends();
	}
}

/* The round trip was measured with short messages, and is a tenth of the time that a READ response
 * of 4 KB takes to leave a port of 100 Mb/s. The start must not end between two of them.
 */
static void start_waits_for_turn(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	dev.speed = 100;
	learn_peer(&qps[0].peer, MS / 33, 12288, fuzz_now);
	dcqcn_limiter_start(&qps[0], &settings, false);
	for (i = 0; i < 40; i++)
		output_data(&qps[0], DCQCN_PKT_RESPONSE, i, 4154, READ_MIDDLE);
	expect(num_sent == 3, "%u packets left, not 3", num_sent);
	/* at 1/32 of the line, one packet in 10.6 ms */
	pass_time(&qps[0], 12 * MS);
	expect(num_sent == 4 && !flow->released && flow->rate.start,
	       "%u packets left, the start is at %llu bit/s", num_sent,
	       (unsigned long long)flow->rate.current_rate);
	ends();

	/* a start that has nothing to send is over soon after that */
	unstarted(IB_QPT_RC, 0);
	dev.speed = 100;
	learn_peer(&qps[0].peer, MS / 33, 12288, fuzz_now);
	dcqcn_limiter_start(&qps[0], &settings, false);
	output_data(&qps[0], DCQCN_PKT_RESPONSE, 0, 4154, READ_MIDDLE);
	fuzz_now += 42 * MS;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(flow->rate.start, "a start is over that could have sent 3 packets");
	fuzz_now += MS;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(!flow->rate.start, "a start that sends nothing goes on");
	ends();
}

/* A start of READ responses ends with a CNP, or a loss, and no round trip is known: the flow goes
 * on as if the path was long, 625,000 bytes at 10 Gb/s
 */
static void start_ends_unmeasured(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	bool lost;

	for (lost = false;; lost = true) {
		responds();
		pass_time(&qps[0], MS);
		if (lost)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, 20, 1000, READ_MIDDLE);
		else
			dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		expect(!flow->rate.start && flow->rate.rtt == MS / 2, "%s: a round trip of %u ns",
		       lost ? "loss" : "CNP", flow->rate.rtt);
		ends();
		if (lost)
			break;
	}
}

static unsigned int asked_module(unsigned int from)
{
	unsigned int n = 0;

	for (; from < num_sent; from++)
		n += sent[from].asks_module;
	return n;
}

/* What gets no ACK asks the peer's module with the last packet of a burst. The answer is a
 * sample without the time for which it was held.
 */
static void start_answered(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int n;

	responds();
	expect(asked_module(0) == 1 && sent[12].asks_module, "%u packets ask", asked_module(0));
	pass_time(&qps[0], MS / 10);
	expect(!dcqcn_queue_answered(&qps[0], 11, 0), "an answer for another packet is taken");
	dcqcn_queue_acked(&qps[0], 12, 0);
	expect(flow->rate.start == DCQCN_START_BLIND, "an ACK is taken for the answer");
	n = num_sent;
	expect(dcqcn_queue_answered(&qps[0], 12, MS / 50), "the answer is not taken");
	expect(!dcqcn_queue_answered(&qps[0], 12, MS / 50), "it is taken twice");
	expect(flow->path->rtt == 80000, "the round trip is %u ns", flow->path->rtt);
	/* 3 * 12288 bytes in 0.16 ms are 18 packets in 80 us */
	pass_time(&qps[0], 80 * MS / 1000);
	expect(num_sent >= n + 16 && num_sent <= n + 20, "%u packets left", num_sent - n);
	expect(flow->rate.start == DCQCN_START_MEASURES, "it goes up by time");

	/* one round trip after the first sample it wants another one, and asks once for that */
	n = num_sent;
	pass_time(&qps[0], 80 * MS / 1000);
	expect(asked_module(n) == 1, "%u packets ask for the second sample", asked_module(n));
	/* which is lost: the next one asks when the first one's time is over */
	n = num_sent;
	pass_time(&qps[0], 320 * MS / 1000);
	expect(asked_module(n) == 1 && flow->rate.start == DCQCN_START_MEASURES,
	       "%u packets ask after a lost answer", asked_module(n));
	ends();
}

/* The peer's module has answered, and is unloaded: the flow goes up by time then */
static void start_loses_answers(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u64 rate, began = 0;
	unsigned int i = 200;

	responds();
	pass_time(&qps[0], MS / 10);
	expect(dcqcn_queue_answered(&qps[0], 12, 0), "the answer is not taken");
	began = fuzz_now;
	rate = flow->rate.current_rate;
	while (flow->rate.current_rate == rate && fuzz_now - began < 5000 * MS) {
		while (dcqcn_flow_held(flow) < 16)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, i++, 1000, READ_MIDDLE);
		pass_time(&qps[0], MS / 10);
		if (num_sent > ARRAY_SIZE(sent) / 2)
			num_sent = 0;
	}
	/* when it asks the next time after a second */
	expect(fuzz_now - began > 990 * MS && fuzz_now - began < 2100 * MS,
	       "%llu ms at %llu bit/s", (unsigned long long)(fuzz_now - began) / MS,
	       (unsigned long long)rate);
	ends();
}

/* A stock peer never answers: it is asked ever more rarely, and the flow goes up by time */
static void start_unanswered(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i, n = 0;

	responds();
	for (i = 200; i < 8000; i++) {
		output_data(&qps[0], DCQCN_PKT_RESPONSE, i, 1000, READ_MIDDLE);
		pass_time(&qps[0], MS / 10);
		n = num_sent;
		if (n > 4000)
			break;
	}
	/* at 0, 0.3 ms, 1 ms, ... in 780 ms at most */
	expect(asked_module(0) >= 2 && asked_module(0) <= 12, "%u packets of %u ask",
	       asked_module(0), n);
	expect(flow->rate.start != DCQCN_START_MEASURES, "it waits for a sample");
	ends();
}

/* A start whose first packet is a request goes on to answer READs, of a stock peer. It does not wait
 * for an ACK, whether or not it has asked for one: the ACK may stand behind the READ responses of a
 * peer that waits likewise.
 */
static void start_answers_reads(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int requests, i;
	u64 began;

	for (requests = 1; requests <= 14; requests += 13) {
		unstarted(IB_QPT_RC, 0);
		began = fuzz_now;
		dcqcn_limiter_start(&qps[0], &settings, true);
		for (i = 0; i < requests; i++)
			output_request(&qps[0], i, 1000, WRITE_MIDDLE);
		for (i = 0; i < 200; i++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, i, 1000, READ_MIDDLE);
		while (flow->rate.start == DCQCN_START_ASKS && fuzz_now - began < 5000 * MS)
			pass_time(&qps[0], MS / 2);
		/* a packet behind the burst takes 8 ms at the rate of a flow that waits */
		expect(fuzz_now - began <= (requests == 1 ? MS : 10 * MS),
		       "%u requests: waits for %llu ms", requests,
		       (unsigned long long)(fuzz_now - began) / MS);
		expect(requests > 1 || asked_module(0) > 0, "no READ response asks");
		ends();
	}
}

/* A start at 1.47 Gb/s whose first round trip is known; 16 packets have left */
static void started(void)
{
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	dcqcn_limiter_start(&qps[0], &settings, true);
	for (i = 0; i < 16; i++)
		output_request(&qps[0], i, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], MS / 10);
	dcqcn_queue_acked(&qps[0], 12, 0);
	pass_time(&qps[0], MS / 10);
	expect(num_sent == 16 && !num_unseen, "%u packets left, %u of them unseen", num_sent,
	       num_unseen);
}

/* Flows that have begun together go on alike, whichever was the first: with three times the average
 * of their bursts in two round trips. A flow to a peer that is known has a burst of its own.
 */
static void start_goes_on_alike(void)
{
	/* bytes in a round trip of 0.1 ms */
	static const struct { bool known; u32 flows, bytes; } cases[] = {
		{ false, 1, 12288 * 3 / 2 }, { false, 3, (12288 + 6144 + 4096) / 3 * 3 / 2 },
		{ false, 4, (12288 + 6144 + 4096 + 3072) / 4 * 3 / 2 }, { true, 4, 12288 * 3 / 2 },
	};
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 wanted = cases[i].bytes * 8ULL * NSEC_PER_SEC / (MS / 10);

		unstarted(IB_QPT_RC, 0);
		memset(&dev.peers, 0, sizeof(dev.peers));
		if (cases[i].known)
			learn_peer(&qps[0].peer, MS / 10, 12288, fuzz_now);
		/* one that has begun long ago is none of them */
		dcqcn_peer_begin(&dev.peers, &qps[0].peer, 100000, fuzz_now - 100 * MS);
		dcqcn_limiter_start(&qps[0], &settings, true);
		for (n = 1; n < cases[i].flows; n++)
			dcqcn_peer_begin(&dev.peers, &qps[0].peer, 12288, fuzz_now);
		for (n = 0; n < 16; n++)
			output_request(&qps[0], n, 1000, WRITE_MIDDLE);
		pass_time(&qps[0], MS / 10);
		dcqcn_queue_acked(&qps[0], 12, 0);
		expect(flow->rate.current_rate > wanted * 99 / 100 &&
		       flow->rate.current_rate < wanted * 101 / 100,
		       "case %u: %llu bit/s, not %llu", i,
		       (unsigned long long)flow->rate.current_rate, (unsigned long long)wanted);
		ends();
	}
}

/* A burst of 96 KB after a pause meets a queue: the ACK of its last packet takes 1 ms, where the path
 * takes 0.1 ms. If nothing was marked before the pause, the flow goes on with three such bursts in two
 * round trips, and otherwise with three of the usual 12 KB. If the queue is no longer than 8 round
 * trips, it goes on with a burst in the time of the queue, marked or not. If starts have been turned
 * off meanwhile, there is no usual burst.
 */
static void start_meets_queue(void)
{
	static const struct { bool marked, off; u32 burst, share; u64 ns, of, bursts; } cases[] = {
		{ false, false, 49152, 98304, MS, 2 * MS, 3 },
		{ true, false, 196608, 12288, MS, 2 * MS, 3 },
		{ false, false, 49152, 98304, 6 * MS / 10, 5 * MS / 10, 1 },
		{ true, false, 196608, 12288, 6 * MS / 10, 5 * MS / 10, 1 },
		{ true, true, 196608, 98304, 6 * MS / 10, 5 * MS / 10, 1 },
	};
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 rate, wanted = cases[i].share * 8ULL * NSEC_PER_SEC * cases[i].bursts /
				   cases[i].of;
		u32 psn = 16, last = 0;

		started();
		flow->path->burst = cases[i].burst;
		flow->path->sent += cases[i].burst;
		flow->path->marked = cases[i].marked;
		dcqcn_path_restart(flow->path);
		fuzz_now += 100 * MS;
		num_sent = 0;
		for (; psn < 16 + 120; psn++)
			output_request(&qps[0], psn, 1000, psn == 16 ? WRITE_FIRST : WRITE_MIDDLE);
		expect(flow->rate.start == DCQCN_START_ASKS, "no start after a pause");
		while (last < num_sent && !sent[last].asks)
			last++;
		expect(last < num_sent, "none of %u packets asks", num_sent);
		fuzz_now += cases[i].ns;
		if (cases[i].off)
			settings.rp.start_burst = 0;
		dcqcn_queue_acked(&qps[0], sent[last].psn, 0);
		rate = flow->rate.current_rate;
		expect(rate > wanted * 9 / 10 && rate < wanted * 11 / 10,
		       "case %u: %llu bit/s after a burst of %u packets, not %llu", i,
		       (unsigned long long)rate, num_sent, (unsigned long long)wanted);
		ends();
	}
}

/* A flow that got 1 Gb/s and met marks begins again with a burst, and then sends 12 packets of
 * 1,074 bytes in the time that they take at that rate. It waits for no ACK, and obeys CNPs. A port
 * that says 100 Mb/s changes nothing, and nor do contexts, to a burst that has grown.
 */
static void knows_share(u32 speed, u32 bursts, bool contexts)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u32 psn = 16, burst, later;

	started();
	flow->path->marked = true;
	flow->path->begun_time = fuzz_now;
	flow->path->begun = flow->path->sent;
	flow->path->sent += 1250000;
	flow->path->heard_time = fuzz_now + 10 * MS;
	flow->path->burst = bursts * 12288;
	flow->path->delivered[0] = 1000000;
	flow->rate.seen_rate = 900 * MBPS;
	dcqcn_path_restart(flow->path);
	dev.speed = speed;
	if (contexts) {
		dcqcn_cccs.users = 1;
		settings.ccc.algorithms = DCQCN_CCC_NSCC;
		settings.ccc.initial_window = MB;
	}
	fuzz_now += 100 * MS;
	num_sent = 0;
	for (; psn < 16 + 120; psn++)
		output_request(&qps[0], psn, 1000, psn == 16 ? WRITE_FIRST : WRITE_MIDDLE);
	burst = num_sent;
	expect(!flow->rate.start && flow->rate.current_rate == 1000 * MBPS, "at %llu bit/s",
	       (unsigned long long)flow->rate.current_rate);
	expect(burst * 1074 >= 12288 && burst * 1074 < 12288 + 2 * 1074, "a burst of %u packets",
	       burst);
	pass_time(&qps[0], 12 * 1074 * 8);
	later = num_sent - burst;
	expect(later >= 11 && later <= 13, "%u packets after it", later);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	fuzz_now += MS;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	expect(flow->rate.current_rate < 1000 * MBPS, "CNPs leave it at %llu bit/s",
	       (unsigned long long)flow->rate.current_rate);
	dcqcn_cccs.users = 0;
	settings.ccc.algorithms = 0;
	settings.ccc.initial_window = 0;
	ends();
	kfree(flow->path);
	flow->path = NULL;
}

static void start_knows_share(void)
{
	knows_share(10000, 1, false);
	knows_share(100, 1, false);
	knows_share(10000, 4, true);
}

/* A flow that has sent as much as in the round before goes on with exactly what it got, 1 Gb/s. Its
 * burst of 12 packets is part of that, so the next packet waits for as long as they take. Cuts are
 * small. A pause is longer than the last round trip and three without a queue: 1.3 ms here, and 4 ms
 * if the rounds are not equal, or if no round trip without a queue is known.
 */
static void start_in_rounds(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u32 psn = 16, burst, equal;

	for (equal = 0; equal < 2; equal++) {
		started();
		flow->path->marked = true;
		flow->path->begun_time = fuzz_now;
		flow->path->begun = flow->path->sent;
		flow->path->sent += 1250000;
		flow->path->round = equal ? 1250000 : 625000;
		flow->path->heard_time = fuzz_now + 10 * MS;
		flow->rate.alpha = 1U << 30;
		flow->rate.seen_rate = 800 * MBPS;
		dcqcn_path_restart(flow->path);
		fuzz_now += 100 * MS;
		num_sent = 0;
		for (psn = 16; psn < 16 + 60; psn++)
			output_request(&qps[0], psn, 1000, psn == 16 ? WRITE_FIRST : WRITE_MIDDLE);
		burst = num_sent;
		expect(burst == 12 || burst == 13, "a burst of %u packets", burst);
		expect(!flow->rate.start && flow->rate.current_rate == 1000 * MBPS,
		       "at %llu bit/s", (unsigned long long)flow->rate.current_rate);
		expect(flow->rate.alpha == 1U << (equal ? 27 : 30), "alpha is %u", flow->rate.alpha);
		pass_time(&qps[0], 11 * 1074 * 8);
		expect(equal ? num_sent == burst : num_sent > burst + 9,
		       "%u packets in the time of the burst", num_sent - burst);
		pass_time(&qps[0], 12 * 1074 * 8);
		expect(num_sent >= burst + (equal ? 10 : 22), "%u packets after that",
		       num_sent - burst);
		pass_time(&qps[0], 10 * MS);
		expect(num_sent == 60, "%u of 60 packets left", num_sent);
		dcqcn_path_restart(flow->path);
		flow->path->paused_rtt = MS / 10;
		flow->path->rtt_recent = MS;
		flow->rate.rtt = MS;
		fuzz_now = flow->rate.active_time + 13 * MS / 10;
		output_request(&qps[0], psn++, 1000, WRITE_ONLY);
		expect(flow->path->begun_time != fuzz_now, "a pause of 1.3 ms");
		fuzz_now = flow->rate.active_time + 13 * MS / 10 + 1;
		dcqcn_path_restart(flow->path);
		flow->path->paused_rtt = 0;
		flow->path->rtt_recent = MS;
		output_request(&qps[0], psn++, 1000, WRITE_ONLY);
		expect(flow->path->begun_time != fuzz_now, "a pause, with no round trip known");
		flow->path->paused_rtt = MS / 10;
		fuzz_now = flow->rate.active_time + 13 * MS / 10 + 1;
		dcqcn_path_restart(flow->path);
		flow->path->rtt_recent = MS;
		output_request(&qps[0], psn, 1000, WRITE_FIRST);
		expect((flow->path->begun_time == fuzz_now) == equal, "a longer pause %s",
		       equal ? "is none" : "is one");
		ends();
		kfree(flow->path);
		flow->path = NULL;
	}
}

/* A flow of 1 Mb/s that has its limit from a CNP, and measures its path */
static struct dcqcn_flow *met_cnp(void)
{
	limited(1, IB_QPT_RC, 0);
	dcqcn_queue_flush(&qps[0]);
	settings.rp.rpg_time_reset = 0;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	return &qps[0].flow;
}

/* A burst of a MB counts for half a second of the share at most, here at 1 Mb/s */
static void start_in_slow_rounds(void)
{
	struct dcqcn_flow *flow = met_cnp();

	flow->burst = 900;
	flow->path->owed = MB;
	output_request(&qps[0], 0, 1000, WRITE_FIRST);
	expect(flow->next - fuzz_now == 500 * MS && flow->gap == 500 * MS, "the next one in %llu ns",
	       (unsigned long long)(flow->next - fuzz_now));
	ends();
}

/* start_burst was 0, and a flow that CNPs limit has paused. Then start_burst is set: the flow has
 * never begun with a burst, so it knows no share.
 */
static void start_knows_no_share(void)
{
	struct dcqcn_flow *flow = met_cnp();

	flow->rate.rtt = MS;
	flow->path->marked = true;
	fuzz_now += 2 * MS;
	output_request(&qps[0], 0, 1000, WRITE_FIRST);
	flow->path->sent += 1250000;
	flow->path->heard_time = fuzz_now + 10 * MS;
	fuzz_now += 100 * MS;
	settings.rp.start_burst = 12288;
	output_request(&qps[0], 1, 1000, WRITE_FIRST);
	expect(flow->rate.start == DCQCN_START_ASKS, "it begins with a share of %u kb/s",
	       flow->path->share);
	ends();
}

/* A server's ACK of a request does not hide that its reply comes after a pause */
static void pauses_of_data(void)
{
	struct sock sk = {};
	struct sk_buff skb = { .sk = &sk }, reply = skb;
	struct dcqcn_bth bth = { .opcode = UD_SEND, .qpn = cpu_to_be32(1) };
	struct dcqcn_tx *data = describe(&skb, DCQCN_PKT_REQUEST, &bth, true);
	struct dcqcn_tx *ack = describe(&reply, DCQCN_PKT_ACK, &bth, true);
	struct dcqcn_qp *qp = &qps[0];

	limited(100, IB_QPT_UD, 0);
	qp->owner = &sk;
	qp->active = jiffies - HZ - 1;
	expect(!dcqcn_qp_confirm(qp, ack), "an ACK begins something");
	expect(dcqcn_qp_confirm(qp, data), "the ACK ended the pause");
	expect(!dcqcn_qp_confirm(qp, data), "the pause goes on");
	ends();
}

/* A QP that the core has not described yet begins with its first packet of data, which does. One
 * that has contradicted the core waits for it.
 */
static void first_packet_describes(void)
{
	struct sock sk = {};
	struct sk_buff skb = { .sk = &sk }, reply = skb;
	struct dcqcn_bth bth = { .qpn = cpu_to_be32(1) };
	struct dcqcn_tx *data = describe(&skb, DCQCN_PKT_REQUEST, &bth, true);
	struct dcqcn_tx *ack = describe(&reply, DCQCN_PKT_ACK, &bth, true);
	struct dcqcn_qp *qp = &qps[0];

	limited(100, IB_QPT_RC, 0);
	believed = 0;
	qp->state = DCQCN_QP_RESOLVING;
	qp->active = jiffies - 100;
	expect(!dcqcn_qp_confirm(qp, ack) && !believed, "an ACK begins something");
	expect(dcqcn_qp_confirm(qp, data) && believed == 1,
	       "the first packet begins nothing");
	qp->owner = &sk;
	expect(!dcqcn_qp_confirm(qp, data) && believed == 1,
	       "a packet is believed that contradicts the core");
	qp->state = DCQCN_QP_ABSENT;
	expect(dcqcn_qp_confirm(qp, data), "a new QP begins nothing");
	qp->state = DCQCN_QP_DEAD;
	expect(!dcqcn_qp_confirm(qp, data) && believed == 2, "an entry lives again");
	ends();
}

/* A packet of another type, to another QP or to another address is of another connection */
static void other_connection(void)
{
	struct sock sk = {}, other = {};
	struct iphdr iph = { .version = 4, .daddr = cpu_to_be32(0x0a000002) };
	struct ipv6hdr ip6h = { .version = 6, .daddr.s6_addr32[3] = iph.daddr };
	struct sk_buff skb = { .sk = &sk, .data = (void *)&iph };
	struct dcqcn_bth bth = { .qpn = cpu_to_be32(17) };
	struct dcqcn_tx *tx = describe(&skb, DCQCN_PKT_REQUEST, &bth, true);
	struct dcqcn_qp qp = { .type = IB_QPT_RC, .peer_qpn = 17, .owner = &sk };

	qp.peer.s6_addr32[2] = cpu_to_be32(0xffff);
	qp.peer.s6_addr32[3] = iph.daddr;
	expect(dcqcn_qp_matches(&qp, tx), "its own packet");
	qp.peer_qpn = 18;
	expect(!dcqcn_qp_matches(&qp, tx), "to another QP");
	qp.type = IB_QPT_UD;
	expect(!dcqcn_qp_matches(&qp, tx), "of a QP of another type");
	bth.opcode = UD_SEND;
	expect(dcqcn_qp_matches(&qp, tx), "a datagram to another QP");
	qp.owner = &other;
	expect(!dcqcn_qp_matches(&qp, tx), "of another socket");
	bth.opcode = WRITE_FIRST;
	qp = (struct dcqcn_qp) { .type = IB_QPT_RC, .peer_qpn = 17, .peer = qp.peer };
	iph.daddr ^= cpu_to_be32(1);
	expect(!dcqcn_qp_matches(&qp, tx), "to another IPv4 address");
	skb.data = (void *)&ip6h;
	expect(!dcqcn_qp_matches(&qp, tx), "to another IPv6 address");
	qp.peer = ip6h.daddr;
	expect(dcqcn_qp_matches(&qp, tx), "to its IPv6 address");
}

/* RESET to RTS within the time that packets are held, to the same QP of the peer, which accepts UC's
 * messages whatever their PSNs are
 */
static void uc_reconnected(void)
{
	u32 psn, i;

	for (i = 0; i < 2; i++) {
		limited(1, IB_QPT_UC, 0);
		for (psn = 100; psn < 164; psn++)
			output_request(&qps[0], psn + (psn > 130) * 3, 1000, UC_SEND);
		expect(dcqcn_flow_held(&qps[0].flow) > 60, "packets that rxe did not send");
		/* above, and below */
		output_request(&qps[0], i ? 0 : 7000, 1000, UC_SEND);
		expect(dcqcn_flow_held(&qps[0].flow) == 1, "%u packets are held",
		       dcqcn_flow_held(&qps[0].flow));
		ends();
	}
}

/* What has left since @num_sent was 0: PSNs, those of ACKs as negative numbers */
static void expect_left(const int *psns, unsigned int num)
{
	unsigned int i;
	int psn;

	expect(num_sent == num, "%u packets left, not %u", num_sent, num);
	for (i = 0; i < min(num, num_sent); i++) {
		psn = sent[i].kind == DCQCN_PKT_ACK ? -(int)sent[i].psn : (int)sent[i].psn;
		expect(psn == psns[i], "packet %u is %d, not %d", i, psn, psns[i]);
	}
}

/* A peer's timer fires while its READ is answered, so that the request before the READ comes again,
 * too. Its other ACK does not get between the READ's responses, whether the READ comes again or not:
 * rxe would complete it without its data.
 */
static void read_repeated(void)
{
	static const int psns[] = { -10, 11, 12, 13, 14, 15, 16, -10 };
	static const int again[] = { -10, 11, 12, 11, 12, 13, 14, 15, 16 };
	u32 psn, turn;

	for (turn = 0; turn < 2; turn++) {
		limited(1, IB_QPT_RC, 14);
		output(DCQCN_PKT_ACK, 10);
		for (psn = 11; psn <= 16; psn++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, psn, 1000, READ_MIDDLE);
		while (turn && num_sent < 3)
			pass_time(&qps[0], MS / 10);
		output(DCQCN_PKT_ACK, 10);
		for (psn = 11; turn && psn <= 16; psn++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, psn, 1000, READ_MIDDLE);
		pass_time(&qps[0], 200 * MS);
		if (turn)
			expect_left(again, ARRAY_SIZE(again));
		else
			expect_left(psns, ARRAY_SIZE(psns));
		ends();
	}
}

/* As before, and an atomic operation is behind the repeated request. rxe answers the latter with the
 * PSN of the former: in front of the atomic operation's ACK, this would complete it without its data.
 */
static void atomic_repeated(void)
{
	static const int psns[] = { 7, 8, 7, 8, 9, -11, -12, -13 };
	u32 psn, turn;

	limited(1, IB_QPT_RC, 14);
	for (turn = 0; turn < 2; turn++) {
		for (psn = 7; psn <= 9; psn++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, psn, 1000, READ_MIDDLE);
		output_data(&qps[0], DCQCN_PKT_ACK, turn ? 11 : 10, 62, DCQCN_OPCODE_ACK);
		output_data(&qps[0], DCQCN_PKT_ACK, 11, 70, DCQCN_OPCODE_ATOMIC_ACK);
		while (!turn && num_sent < 2)
			pass_time(&qps[0], MS / 10);
	}
	/* the ACK of a request before another one stays */
	output_data(&qps[0], DCQCN_PKT_ACK, 12, 62, DCQCN_OPCODE_ACK);
	output_data(&qps[0], DCQCN_PKT_ACK, 13, 70, DCQCN_OPCODE_ATOMIC_ACK);
	pass_time(&qps[0], 200 * MS);
	expect_left(psns, ARRAY_SIZE(psns));
	expect(sent[num_sent - 3].opcode == DCQCN_OPCODE_ATOMIC_ACK, "opcode %x",
	       sent[num_sent - 3].opcode);
	ends();
}

/* The bound on memory drops an atomic operation's ACK behind READ responses 7 and 8, which leave */
static void drop_atomic_ack(u32 psn)
{
	limited(1, IB_QPT_RC, 14);
	output_data(&qps[0], DCQCN_PKT_RESPONSE, 7, 1000, READ_MIDDLE);
	output_data(&qps[0], DCQCN_PKT_RESPONSE, 8, 1000, READ_MIDDLE);
	qps[0].flow.held_memory[DCQCN_RESPONSES] += DCQCN_HELD_FLOW_MAX;
	output_data(&qps[0], DCQCN_PKT_ACK, psn, 70, DCQCN_OPCODE_ATOMIC_ACK);
	qps[0].flow.held_memory[DCQCN_RESPONSES] -= DCQCN_HELD_FLOW_MAX;
	pass_time(&qps[0], 100 * MS);
}

/* As before, but the timer is late, so that nothing is held any more when the other ACK comes. It must
 * not leave even then, unless the atomic operation's ACK has, or rxe has executed more.
 */
static void atomic_repeated_late(void)
{
	static const int psns[] = { 7, 8, -10, -10 }, bound[] = { 7, 8, -11, -10 };
	u32 turn;

	limited(1, IB_QPT_RC, 14);
	output_data(&qps[0], DCQCN_PKT_RESPONSE, 7, 1000, READ_MIDDLE);
	for (turn = 0; turn < 2; turn++) {
		output_data(&qps[0], DCQCN_PKT_RESPONSE, 8, 1000, READ_MIDDLE);
		output_data(&qps[0], DCQCN_PKT_ACK, turn ? 10 : 9, 62, DCQCN_OPCODE_ACK);
		output_data(&qps[0], DCQCN_PKT_ACK, 10, 70, DCQCN_OPCODE_ATOMIC_ACK);
		fuzz_now += 100 * MS;
	}
	expect(num_sent == 3 && sent[2].opcode == DCQCN_OPCODE_ATOMIC_ACK,
	       "%u packets left, the last has opcode %x", num_sent, sent[2].opcode);
	output_data(&qps[0], DCQCN_PKT_ACK, 10, 62, DCQCN_OPCODE_ACK);
	expect_left(psns, ARRAY_SIZE(psns));
	ends();
	drop_atomic_ack(10);
	output_data(&qps[0], DCQCN_PKT_ACK, 10, 62, DCQCN_OPCODE_ACK);
	output_data(&qps[0], DCQCN_PKT_ACK, 11, 62, DCQCN_OPCODE_ACK);
	output_data(&qps[0], DCQCN_PKT_ACK, 10, 62, DCQCN_OPCODE_ACK);
	expect_left(bound, ARRAY_SIZE(bound));
	ends();
}

/* The same, and meanwhile the limit would end, or begins again: whether ACKs may leave is known only
 * while there is a limit, and until the atomic operation's ACK has left.
 */
static void atomic_repeated_later(void)
{
	static const int psns[] = { 7, 8, -10 };
	u32 turn;

	for (turn = 0; turn < 3; turn++) {
		drop_atomic_ack(10);
		qps[0].flow.released = true;
		if (turn == 1)
			dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		dcqcn_limiter_end(&qps[0]);
		expect(qps[0].limited, "the limit has ended");
		if (turn < 2)
			output_data(&qps[0], DCQCN_PKT_ACK, 10, 62, DCQCN_OPCODE_ACK);
		dev.stopping = turn == 2;
		if (!dev.stopping)
			output_data(&qps[0], DCQCN_PKT_ACK, 10, 70, DCQCN_OPCODE_ATOMIC_ACK);
		qps[0].flow.released = true;
		dcqcn_limiter_end(&qps[0]);
		expect(!qps[0].limited, "the limit does not end: %u", turn);
		dev.stopping = false;
		expect_left(psns, turn < 2 ? 3 : 2);
		ends();
	}
}

/* RESET to RTS while READ responses are held, to the same QP of the peer: its requester would take
 * them for answers to its new requests. A peer may have sent 2^16 packets behind a READ.
 */
static void rc_reconnected(void)
{
	static const struct { enum dcqcn_pkt_kind kind; u32 psn; bool other; } cases[] = {
		{ DCQCN_PKT_ACK, 0, false }, { DCQCN_PKT_ACK, 4999, false },
		{ DCQCN_PKT_ACK, 5064, false }, { DCQCN_PKT_ACK, 5063 + 0x10000, false },
		{ DCQCN_PKT_ACK, 5064 + 0x10000, true }, { DCQCN_PKT_ACK, 0x800000, true },
		{ DCQCN_PKT_ACK, (5000 - 0x10002) & 0xffffff, true },
		{ DCQCN_PKT_ACK, (5000 - 0xffff) & 0xffffff, false },
		{ DCQCN_PKT_RESPONSE, 5064, false }, { DCQCN_PKT_RESPONSE, 5063 + 0x10000, false },
		{ DCQCN_PKT_RESPONSE, 0x400000, true }, { DCQCN_PKT_RESPONSE, 17, true },
	};
	unsigned int i, held;
	u32 psn;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		limited(1, IB_QPT_RC, 14);
		for (psn = 5000; psn < 5064; psn++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, psn, 1000, READ_MIDDLE);
		held = dcqcn_flow_held(&qps[0].flow);
		expect(held > 60, "%u are held", held);
		if (cases[i].kind == DCQCN_PKT_ACK)
			output(DCQCN_PKT_ACK, cases[i].psn);
		else
			output_data(&qps[0], DCQCN_PKT_RESPONSE, cases[i].psn, 1000, READ_MIDDLE);
		expect(dcqcn_flow_held(&qps[0].flow) == (cases[i].other ? 1 : held + 1),
		       "PSN %u: %u are held", cases[i].psn, dcqcn_flow_held(&qps[0].flow));
		expect(qps[0].flow.stat.drop_stale == (cases[i].other ? held : 0),
		       "PSN %u: %u are dropped", cases[i].psn, qps[0].flow.stat.drop_stale);
		ends();
	}
}

/* A QP is reconnected, to a peer at the end of a longer path: what was measured of the one before is
 * forgotten, with the burst and the share that the flow had there
 */
static void start_reconnected(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	bool shares;

	for (shares = false;; shares = true) {
		started();
		flow->path->burst = 8 * 12288;
		flow->path->share = shares ? 100000 : 0;
		flow->path->answered = true;
		dcqcn_queue_flush(&qps[0]);
		expect(flow->path->rtt_recent == U32_MAX, "it knows a recent round trip");
		qps[0].peer.s6_addr[15]++;
		learn_peer(&qps[0].peer, 3 * MS, 12288, fuzz_now);
		dcqcn_limiter_start(&qps[0], &settings, true);
		expect(flow->burst == 12288, "its burst has %u bytes", flow->burst);
		expect(flow->rate.rtt == 3 * MS, "its round trip is %u ns", flow->rate.rtt);
		expect(flow->rate.start == DCQCN_START_ASKS, "it begins with a share of another path");
		expect(!flow->path->answered, "another peer has answered");
		ends();
		if (shares)
			break;
	}
}

/* A start that does not use up its rate: one packet in eight is seen, and all are charged */
static void start_unseen(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u32 psn = 16, bytes;

	started();
	bytes = flow->path->sent;
	for (; psn < 16 + 80; psn++) {
		pass_time(&qps[0], MS / 20);
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	}
	expect(num_sent == psn, "%u packets left, not %u", num_sent, psn);
	expect(num_unseen == 70, "%u of 80 packets are unseen, not 70", num_unseen);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(flow->stat.paced_packets == psn, "%llu packets are counted, not %u",
	       (unsigned long long)flow->stat.paced_packets, psn);
	expect(flow->path->sent - bytes == 80 * 1000, "%llu bytes are counted, not 80000",
	       (unsigned long long)flow->path->sent - bytes);

	/* after a wait no more of them leave at once than of another flow */
	pass_time(&qps[0], 3 * MS / 10);
	num_sent = 0;
	for (; psn < 200; psn++)
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	expect(num_sent <= DCQCN_IDLE_CREDIT_GAPS + 1 && num_sent >= DCQCN_IDLE_CREDIT_GAPS,
	       "%u packets left at once, not %u", num_sent, DCQCN_IDLE_CREDIT_GAPS + 1);
	pass_time(&qps[0], MS);
	expect(num_sent == 104, "%u packets left, not 104", num_sent);
	ends();
}

/* What was allowed is taken back, or does not apply */
static void start_seen(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	int i;

	for (i = 0; i < 5; i++) {
		started();
		output_request(&qps[0], 16, 1000, WRITE_MIDDLE);
		output_request(&qps[0], 17, 1000, WRITE_MIDDLE);
		expect(num_unseen == 1, "%u packets are unseen, not 1", num_unseen);
		switch (i) {
		case 0:
			dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
			output_request(&qps[0], 18, 1000, WRITE_MIDDLE);
			break;
		case 1:
			output_request(&qps[0], 17, 1000, WRITE_MIDDLE);
			expect(!flow->rate.start, "a start goes on after a loss");
			break;
		case 2:
			output_request(&qps[0], 18, 500, WRITE_MIDDLE);
			break;
		case 3:
			output_request(&qps[0], 0x80000000 | 18, 1000, WRITE_MIDDLE);
			break;
		case 4:
			dcqcn_queue_advance(&qps[0], fuzz_now);
			output_request(&qps[0], 18, 1000, WRITE_MIDDLE);
			break;
		}
		expect(num_unseen == 1, "case %d: %u packets are unseen, not 1", i,
		       num_unseen);
		ends();
	}
}

/* READs cannot ask, and do not wait for an ACK, even if the flow began with a WRITE */
static void start_of_reads(void)
{
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	dcqcn_limiter_start(&qps[0], &settings, true);
	output_request(&qps[0], 0, 1000, WRITE_MIDDLE);
	for (i = 1; i < 60; i++)
		output_request(&qps[0], i, 1000, DCQCN_OPCODE_READ);
	/* as fast as READ responses, below */
	pass_time(&qps[0], 7 * MS);
	expect(num_sent == 60, "%u requests left, not 60", num_sent);
	ends();
}

/* How a peer acknowledges */
enum acks { EACH, LATER, FIRST_LOST, NEVER };

#define SEND_ONLY		0x04	/* RC opcodes */
#define COMPARE_SWAP		0x13
#define SEND_INVALIDATE		0x17
#define FLUSH			0x1c
#define ATOMIC_WRITE		0x1d

/* A packet of a start arrives after half of a round trip, a peer sends ACKs as @acks says, and READ
 * responses where they are due. Return the PSN that it acknowledges, or DCQCN_PSN_NONE.
 */
static u32 peer_acks(enum acks acks, unsigned int i, unsigned int *asked)
{
	u8 opcode = sent[i].opcode;

	if (!sent[i].ack_req || opcode == DCQCN_OPCODE_READ || opcode == FLUSH ||
	    opcode == ATOMIC_WRITE || acks == NEVER)
		return DCQCN_PSN_NONE;
	if (!(*asked)++ && acks == FIRST_LOST)
		return DCQCN_PSN_NONE;
	return (sent[i].psn + (acks == LATER)) & DCQCN_QPN_MASK;
}

/* A start whose messages have one packet each, with the opcodes of @messages in turn. Return how
 * long it waits for its first round trip, in ms.
 */
static u64 start_waits(const u8 *messages, unsigned int n, enum acks acks, u8 ack_timeout)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i = 0, asked = 0;
	u32 psn = 0, ack;
	u64 began;

	unstarted(IB_QPT_RC, ack_timeout);
	began = fuzz_now;
	dcqcn_limiter_start(&qps[0], &settings, true);
	while (flow->rate.start == DCQCN_START_ASKS && fuzz_now - began < 5000 * MS) {
		while (dcqcn_flow_held(flow) < 16) {
			output_request(&qps[0], DCQCN_BTH_ACK_REQ | psn, 1000, messages[psn % n]);
			psn++;
		}
		pass_time(&qps[0], MS / 2);
		/* an ACK for the packet behind it comes when that has come */
		for (; i + (acks == LATER) < num_sent; i++) {
			ack = peer_acks(acks, i, &asked);
			if (ack != DCQCN_PSN_NONE)
				dcqcn_queue_acked(&qps[0], ack, 0);
		}
	}
	expect(flow->rate.start && flow->rate.current_rate > 2000000,
	       "goes on at %llu bit/s", (unsigned long long)flow->rate.current_rate);
	/* 4 ms at 2 Mb/s, and 8 ms at the rate of a flow that waits */
	expect(flow->next < fuzz_now + 6 * MS, "goes on, and waits for another %llu us",
	       (unsigned long long)(flow->next - fuzz_now) / 1000);
	expect(!flow->path->rtt || flow->path->rtt == MS / 2, "a round trip of %u ns was learnt",
	       flow->path->rtt);
	ends();
	return (fuzz_now - began) / MS;
}

/* A start goes on whatever it sends, and however a peer acknowledges it: after the next packet or
 * two at 1 Mb/s, of 8 ms, or after a second if ACKs never come
 */
static void start_ends_waiting(void)
{
	static const struct { u8 opcodes[3]; unsigned int n; } messages[] = {
		{ { WRITE_ONLY }, 1 }, { { SEND_ONLY }, 1 }, { { SEND_INVALIDATE }, 1 },
		{ { COMPARE_SWAP }, 1 }, { { WRITE_ONLY, FLUSH }, 2 },
		{ { FLUSH, WRITE_ONLY }, 2 }, { { WRITE_ONLY, WRITE_ONLY, FLUSH }, 3 },
		{ { ATOMIC_WRITE }, 1 }, { { FLUSH }, 1 }, { { WRITE_ONLY, ATOMIC_WRITE }, 2 },
		{ { WRITE_ONLY, DCQCN_OPCODE_READ }, 2 },
	};
	enum acks acks;
	size_t i;
	u8 ack_timeout;
	u64 ms;

	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		for (acks = EACH; acks <= NEVER; acks++) {
			for (ack_timeout = 0; ack_timeout <= 14; ack_timeout += 14) {
				ms = start_waits(messages[i].opcodes, messages[i].n, acks,
						 ack_timeout);
				expect(ms <= (acks == NEVER ? 1020 : acks == EACH ? 10 : 50),
				       "messages %zu, ACKs %u, ack timeout %u: waits for %llu ms",
				       i, acks, ack_timeout, (unsigned long long)ms);
			}
		}
	}
}

/* Nor does a start end at its first rate if no ACK is a sample after the first one: it goes up by
 * time, at once where ACKs come that are no sample, or else after a second
 */
static void start_without_samples(void)
{
	enum acks acks;

	for (acks = LATER; acks <= NEVER; acks++) {
		struct dcqcn_flow *flow = &qps[0].flow;
		unsigned int i = 16;
		u32 psn = 16;
		u64 rate, began;

		started();
		began = fuzz_now;
		rate = flow->rate.current_rate;
		while (flow->rate.current_rate == rate && fuzz_now - began < 5000 * MS) {
			while (dcqcn_flow_held(flow) < 16)
				output_request(&qps[0], psn++, 1000, WRITE_MIDDLE);
			pass_time(&qps[0], MS / 10);
			for (; i + 1 < num_sent; i++) {
				if (acks == LATER && sent[i].ack_req)
					dcqcn_queue_acked(&qps[0], sent[i].psn + 1, 0);
			}
			if (num_sent > ARRAY_SIZE(sent) / 2)
				num_sent = i = 0;
		}
		expect(fuzz_now - began < (acks == LATER ? 2 : 1002) * MS,
		       "ACKs %u: %llu ms at %llu bit/s", acks,
		       (unsigned long long)(fuzz_now - began) / MS, (unsigned long long)rate);
		ends();
		if (acks == LATER)
			acks = NEVER - 1;
	}
}

static u32 start_bytes;		/* that start_rtt() may send at once */

/* Start a flow of @type that cannot ask. Return the round trip that it counts on, in us. */
static u32 start_rtt(u8 type, u8 peer, u32 speed)
{
	struct dcqcn_peers peers = dev.peers;
	u32 us;

	limited(1, type, 0);
	dcqcn_queue_flush(&qps[0]);
	dev.peers = peers;
	dev.speed = speed;
	settings.rp.start_burst = 12288;
	settings.rp.rpg_time_reset = 0;
	qps[0].peer.s6_addr[15] = peer;
	dcqcn_limiter_start(&qps[0], &settings, type == IB_QPT_RC);
	us = qps[0].flow.rate.rtt / 1000;
	start_bytes = qps[0].flow.burst;
	ends();
	return us;
}

/* The round trip of a peer is that of no other, and an unknown one is that of a short path, which
 * becomes a long one with the first CNP
 */
static void start_of_peer(void)
{
	struct in6_addr other = {};
	struct dcqcn_peer known;
	unsigned int i;

	memset(&dev.peers, 0, sizeof(dev.peers));
	fuzz_now = 1000 * MS;
	learn_peer(&(struct in6_addr){ .s6_addr[15] = 1 }, 3 * MS, 49152, fuzz_now);
	expect(start_rtt(IB_QPT_RC, 1, 40000) == 3000, "its round trip is not known");
	expect(start_bytes == 49152, "nor its burst: %u bytes", start_bytes);
	expect(start_rtt(IB_QPT_RC, 2, 40000) == 20, "the round trip of another peer is used");
	expect(start_bytes == 12288, "and its burst: %u bytes", start_bytes);
	expect(start_rtt(IB_QPT_UD, 1, 40000) == 20, "UD has a peer");
	expect(start_rtt(IB_QPT_RC, 2, 10000) == 80, "on a slower line");
	expect(start_bytes == 6144, "two flows that begin together send %u bytes each", start_bytes);
	expect(start_rtt(IB_QPT_RC, 2, 100) == 5000, "on a slow line");
	expect(start_bytes == 4096, "three flows that begin together send %u bytes each", start_bytes);
	start_rtt(IB_QPT_UD, 2, 40000);
	expect(start_bytes == 12288, "UD shares a burst: %u bytes", start_bytes);
	start_rtt(IB_QPT_RC, 1, 40000);
	expect(start_bytes == 49152, "a known peer's burst is shared: %u bytes", start_bytes);
	start_rtt(IB_QPT_UC, 2, 40000);
	expect(start_bytes == 12288, "UC, which asks for no ACK, shares a burst: %u bytes", start_bytes);
	other.s6_addr[15] = 2;
	expect(dcqcn_peer_begin(&dev.peers, &other, 12000, fuzz_now + 100 * MS - 1) == 3000, "they are forgotten");
	expect(dcqcn_peer_begin(&dev.peers, &other, 12000, fuzz_now - 1) == 2400, "another CPU's earlier clock starts a count");
	expect(dcqcn_peer_begin(&dev.peers, &other, 12000, fuzz_now + 100 * MS) == 12000, "flows share a burst for ever");
	expect(dcqcn_peer_begin(&dev.peers, &other, 1, fuzz_now + 100 * MS) == 1, "a share of a byte is none");

	/* the latest 64 addresses, some of whose sets may be full */
	for (i = 2; i < 66; i++) {
		other.s6_addr[15] = i;
		learn_peer(&other, i * MS, 1, fuzz_now + i);
	}
	expect(dcqcn_peer_look(&dev.peers, &other, fuzz_now, &known) && known.rtt == 65 * MS, "the last one is unknown");
	other.s6_addr[15] = 1;
	for (i = 0; i < 256; i++)
		learn_peer(&(struct in6_addr){ .s6_addr[13] = i }, MS, 1, fuzz_now + 99);
	expect(!dcqcn_peer_look(&dev.peers, &other, fuzz_now, &known), "the table has no bound");
	learn_peer(&other, MS, 1, fuzz_now);
	expect(!dcqcn_peer_look(&dev.peers, &other, fuzz_now + 10001 * MS, &known), "it is known for ever");

	limited(1, IB_QPT_UC, 0);
	dcqcn_queue_flush(&qps[0]);
	dev.speed = 40000;
	settings.rp.start_burst = 12288;
	settings.rp.rpg_time_reset = 0;
	dcqcn_limiter_start(&qps[0], &settings, false);
	for (i = 0; i < 40; i++)
		output_of(&qps[0], DCQCN_PKT_REQUEST, i, 1000, 2304, true);
	pass_time(&qps[0], MS / 10);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	expect(!qps[0].flow.rate.start && qps[0].flow.rate.rtt == 125000,
	       "after a CNP it counts on %u ns", qps[0].flow.rate.rtt);
	ends();
}

/* What cannot be acknowledged does not wait for it */
static void start_blind(void)
{
	unsigned int i;

	unstarted(IB_QPT_RC, 0);
	learn_peer(&qps[0].peer, 5 * MS, 12288, fuzz_now);
	dcqcn_limiter_start(&qps[0], &settings, false);
	for (i = 0; i < 40; i++)
		output(DCQCN_PKT_RESPONSE, i);
	/* 4 bursts in 5 ms, one of them at once; then it is faster */
	pass_time(&qps[0], 3 * MS);
	expect(num_sent == 40, "%u READ responses left, not 40", num_sent);
	ends();
}

/* Without memory, a flow measures no path. Its start goes up all the same. */
static void start_without_memory(void)
{
	u64 rate;
	u32 psn;

	unstarted(IB_QPT_RC, 0);
	fuzz_out_of_memory = true;
	dcqcn_limiter_start(&qps[0], &settings, true);
	expect(qps[0].flow.rate.start && !qps[0].flow.path, "no start, or a path without memory");
	rate = qps[0].flow.rate.current_rate;
	for (psn = 0; psn < 60; psn++)
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], 200 * MS);
	expect(qps[0].flow.rate.current_rate >= 2 * rate, "it stays at %llu of %llu bit/s",
	       (unsigned long long)qps[0].flow.rate.current_rate, (unsigned long long)rate);
	fuzz_out_of_memory = false;
	ends();
}

/* A CNP for the burst of a start counts, but changes nothing; what another one has set stays after
 * a pause, which begins no new start
 */
static void start_deaf(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i;

	limited(10, IB_QPT_RC, 0);
	dcqcn_queue_flush(&qps[0]);
	settings.rp.start_burst = 12288;
	learn_peer(&qps[0].peer, 5 * MS, 12288, fuzz_now);
	dcqcn_limiter_start(&qps[0], &settings, false);
	for (i = 0; i < 28; i++)
		output(DCQCN_PKT_RESPONSE, i);
	pass_time(&qps[0], 3 * MS);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	expect(flow->rate.start && !flow->rate.had_cnp, "a CNP for the burst counts");
	for (; i < 40; i++)
		output(DCQCN_PKT_RESPONSE, i);
	pass_time(&qps[0], 3 * MS);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	expect(!flow->rate.start && flow->rate.current_rate == 10000000,
	       "a CNP after the burst sets %llu bit/s, not 10 Mb/s",
	       (unsigned long long)flow->rate.current_rate);
	pass_time(&qps[0], 100 * MS);
	dcqcn_limiter_start(&qps[0], &settings, false);
	expect(!flow->rate.start && flow->rate.current_rate == 10000000,
	       "a limit ends after a pause");
	ends();
}

/* A packet of a flow without a limit, whose round trip is 0.1 ms, leaves @pause ns after one of
 * opcode @before. Return whether the flow begins again.
 */
static bool begins_after(u8 before, u8 opcode, u64 pause)
{
	struct dcqcn_bth bth = { .opcode = before };
	bool begins;

	limited(1, IB_QPT_RC, 0);
	dcqcn_queue_flush(&qps[0]);
	qps[0].flow.rate.rtt = MS / 10;
	qps[0].sent_time = dcqcn_flow_clock(fuzz_now - 100 * MS);
	dcqcn_limiter_watch(&qps[0], &bth);
	fuzz_now += pause;
	bth.opcode = opcode;
	begins = dcqcn_limiter_watch(&qps[0], &bth);
	ends();
	return begins;
}

/* A flow without a limit pauses between messages, and a pause need not last several jiffies */
static void pauses(void)
{
	static const u8 begin[] = { 0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c, 0x0d, 0x10, 0x13,
				    0x14, 0x17, 0x1c, 0x1d, 0x20, 0x24, 0x26, 0x2a, 0x64, 0x65 },
			go_on[] = { 0x01, 0x02, 0x03, 0x07, 0x08, 0x09, 0x0e, 0x0f, 0x11, 0x12,
				    0x16, 0x21, 0x22, 0x27, 0x28 };
	unsigned int i;

	for (i = 0; i < sizeof(begin); i++) {
		expect(begins_after(0x02, begin[i], 410000), "opcode %02x begins nothing", begin[i]);
		expect(!begins_after(0x02, begin[i], 390000), "opcode %02x begins too soon",
		       begin[i]);
	}
	for (i = 0; i < sizeof(go_on); i++)
		expect(!begins_after(0x02, go_on[i], 410000), "opcode %02x begins something",
		       go_on[i]);
	/* what ends a message ends the time that counts, what is inside does not */
	expect(begins_after(0x01, 0x00, 310000), "a long message hides a pause");

	/* a limit that ends leaves no pause behind */
	limited(1, IB_QPT_RC, 0);
	qps[0].flow.rate.rtt = MS / 10;
	output(DCQCN_PKT_REQUEST, 1);
	dcqcn_queue_release(&qps[0]);
	expect(!qps[0].limited && !dcqcn_limiter_watch(&qps[0], &(struct dcqcn_bth){ .opcode = 4 }),
	       "the end of a limit looks like a pause");
	ends();
}

enum paused {
	PAUSED_IDLE,
	PAUSED_RELEASED,	/* the rate has come back to the line, which the next packet finds out */
	PAUSED_FAST,		/* four times as much gets through as the port says */
	PAUSED_UNACKED,		/* the last packet waits for its ACK */
	PAUSED_HELD,		/* a packet is held meanwhile */
	PAUSED_BACK,		/* rxe goes back */
	PAUSED_AT_LINE,		/* flows start at the line rate */
	PAUSED_INSIDE,		/* the pause is in the middle of a message */
};

/* A flow whose round trip is 0.1 ms, and whose start is over, pauses after a message, and sends 40
 * packets. Return whether it starts again.
 */
static bool restarts_after(enum paused kind, u64 pause)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i, asked = 0;
	bool starts;

	started();
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	pass_time(&qps[0], MS / 10);
	output_request(&qps[0], 0x80000000 | 16, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], MS / 10);
	if (kind != PAUSED_UNACKED)
		dcqcn_queue_acked(&qps[0], 16, 0);
	expect(num_sent == 17 && !flow->rate.start, "%u packets left", num_sent);
	if (kind == PAUSED_AT_LINE)
		settings.rp.start_burst = 0;
	if (kind == PAUSED_RELEASED)
		flow->released = true;
	if (kind == PAUSED_FAST)
		flow->path->delivered[0] = 4 * dev.speed * 1000;
	if (kind == PAUSED_HELD) {
		flow->next = fuzz_now + pause + 1;
		output_request(&qps[0], 17, 1000, WRITE_MIDDLE);
	}
	/* what was sent last was, a round trip ago */
	fuzz_now += pause - MS / 10;
	num_sent = 0;
	for (i = 0; i < 40; i++)
		output_request(&qps[0], (kind == PAUSED_BACK ? 10 : 18) + i, 1000,
			       i || kind == PAUSED_INSIDE ? WRITE_MIDDLE : WRITE_FIRST);
	starts = flow->rate.start == DCQCN_START_ASKS;
	for (i = 0; i < num_sent; i++)
		asked += sent[i].asks;
	expect(!starts || (num_sent == 13 && asked == 1 && sent[12].asks),
	       "case %u: %u packets leave at once, %u ask", kind, num_sent, asked);
	ends();
	return starts;
}

/* A limiter that is left over must not let a window go after a pause */
static void restarts(void)
{
	enum paused kind;

	for (kind = PAUSED_IDLE; kind <= PAUSED_INSIDE; kind++) {
		expect(!restarts_after(kind, 4 * MS / 10), "case %u: after four round trips", kind);
		expect(restarts_after(kind, 4 * MS / 10 + 1) == (kind <= PAUSED_FAST),
		       "case %u: after more than four round trips", kind);
	}
}

/* A flow has met a queue of 1 ms, and then had @samples round trips of 0.1 ms. Return whether it starts
 * again after a pause. @shift: ns; by how much the pause moves the time from which the share counts
 */
static bool restarts_behind_queue(unsigned int samples, u64 pause, u64 *shift)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u32 psn = 16;
	u64 begun;
	bool starts;

	started();
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	for (; psn <= 16 + samples; psn++) {
		pass_time(&qps[0], 10 * MS);
		output_request(&qps[0], 0x80000000 | psn, 1000, WRITE_MIDDLE);
		pass_time(&qps[0], psn == 16 ? MS : MS / 10);
		dcqcn_queue_acked(&qps[0], psn, 0);
	}
	expect(num_sent == psn && flow->rate.rtt > MS / 2, "%u packets left, T follows %u ns",
	       num_sent, flow->rate.rtt);
	fuzz_now += pause - MS / 10;
	begun = flow->path->begun_time;
	output_request(&qps[0], psn, 1000, WRITE_FIRST);
	*shift = flow->path->begun_time - begun;
	starts = flow->rate.start == DCQCN_START_ASKS;
	ends();
	return starts;
}

/* A pause is one of four round trips as they are now, while T still follows a queue that is gone. One
 * short round trip is not believed. A shorter pause begins nothing, and no share counts it.
 */
static void restarts_behind_old_queue(void)
{
	u64 shift;

	expect(!restarts_behind_queue(1, MS, &shift), "one short round trip is believed");
	expect(!restarts_behind_queue(2, 4 * MS / 10, &shift) && shift == 4 * MS / 10,
	       "after four round trips, the share counts from %llu ns later",
	       (unsigned long long)shift);
	expect(restarts_behind_queue(2, 4 * MS / 10 + 1, &shift), "no start after a pause");
}

/* 20 KB/s get through while most packets are lost. The CNP that follows must have an effect. */
static void hardly_delivered(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u64 line;

	limited(1, IB_QPT_RC, 0);
	settings.rp.rpg_time_reset = 0;
	flow->path = calloc(1, sizeof(*flow->path));
	flow->path->rtt = MS;
	flow->path->delivered[0] = 160;
	flow->path->delivered[1] = 160;
	line = dcqcn_limiter_line(&qps[0], &settings);
	expect(line == 2000000, "the line is %llu bit/s", (unsigned long long)line);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	output(DCQCN_PKT_REQUEST, 1);
	output(DCQCN_PKT_REQUEST, 2);
	expect(num_sent == 1 && !flow->released, "the flow is not limited at the lowest rate");
	ends();
}

/* A flow without a limit knows its round trip, but not what gets through: it only answers short
 * READs, for example. A CNP cuts from the port's speed.
 */
static void never_delivered(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;

	limited(1000, IB_QPT_RC, 0);
	settings.rp.rpg_time_reset = 0;
	settings.rp.rpg_min_rate = 1;
	settings.rp.rate_to_set_on_first_cnp = 0;
	dcqcn_queue_flush(&qps[0]);
	flow->path = calloc(1, sizeof(*flow->path));
	flow->path->rtt = MS;
	flow->path->heard_time = fuzz_now;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	expect(flow->rate.current_rate < 10000000000ULL, "at %llu bit/s",
	       (unsigned long long)flow->rate.current_rate);
	ends();
	kfree(flow->path);
	flow->path = NULL;
}

/* CNPs that come after the last packet of a message begin a limit at half of 10 Gb/s, which rises in
 * the pause that follows. The first packet that the limiter sees keeps that rate if it begins a message,
 * and otherwise may be one that is sent again, so that it does not. While rxe's timer may have fired, any
 * packet may be one.
 */
static void first_after_cnps(void)
{
	const u64 timeout = 4096ULL << 14;
	const struct { u8 opcode; u64 pause; bool keeps; } cases[] = {
		{ WRITE_FIRST, MS, true }, { WRITE_MIDDLE, MS, false },
		{ WRITE_FIRST, timeout / 2 - 1, true }, { WRITE_FIRST, timeout / 2, false },
		{ WRITE_FIRST, 2 * timeout - 1, false }, { WRITE_FIRST, 2 * timeout, true },
	};
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i;
	u64 cut;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		limited(1000, IB_QPT_RC, 14);
		dcqcn_queue_flush(&qps[0]);
		settings.rp.rpg_time_reset = 300;
		settings.rp.rpg_min_rate = 1;
		settings.rp.rate_to_set_on_first_cnp = 0;
		dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		cut = flow->rate.current_rate;
		expect(cut >= 4900 * MBPS && cut <= 5100 * MBPS, "cut to %llu bit/s",
		       (unsigned long long)cut);
		fuzz_now += cases[i].pause;
		output_request(&qps[0], 100, 1000, cases[i].opcode);
		expect(cases[i].keeps ? flow->rate.current_rate > 9000 * MBPS :
					flow->rate.current_rate == cut,
		       "opcode %02x leaves at %llu bit/s after %llu us, and a cut to %llu", cases[i].opcode,
		       (unsigned long long)flow->rate.current_rate, cases[i].pause / 1000,
		       (unsigned long long)cut);
		ends();
	}
}

/* Less gets through than the rate allows, because of congestion. The line falls to the rate, but
 * the flow stays limited, until the rate has not been cut for T.
 */
static void less_delivered(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;

	limited(100, IB_QPT_RC, 0);
	settings.rp.rpg_min_rate = 1;
	settings.rp.rpg_time_reset = 0;
	flow->path = calloc(1, sizeof(*flow->path));
	flow->path->rtt = MS;
	flow->path->rtt_min = MS;
	flow->path->heard_time = fuzz_now;
	dcqcn_rate_set_rtt(&flow->rate, MS, MS);
	flow->rate.timer_time = fuzz_now;
	flow->path->delivered[0] = 20000;
	output(DCQCN_PKT_REQUEST, 1);
	expect(flow->rate.current_rate == 40000000, "limited to %llu bit/s",
	       (unsigned long long)flow->rate.current_rate);
	expect(!flow->released, "the limit ends when the line falls");
	fuzz_now += flow->rate.period;
	output(DCQCN_PKT_REQUEST, 2);
	expect(flow->released, "the limit does not end after T");
	ends();
}

/* A flow sent a few requests, of which 20 KB/s got through, and answers READs from then on, which
 * nobody acknowledges. After a second, that does not limit them: neither those that leave, nor
 * from the next CNP on.
 */
static void old_measure(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i, limited_now;

	for (limited_now = 0; limited_now < 2; limited_now++) {
		limited(1000, IB_QPT_RC, 14);
		settings.rp.rpg_time_reset = 0;
		settings.rp.rpg_min_rate = 1;
		settings.rp.rate_to_set_on_first_cnp = 0;
		if (!limited_now)
			dcqcn_queue_flush(&qps[0]);
		flow->path = calloc(1, sizeof(*flow->path));
		for (i = 0; i < 3; i++) {
			dcqcn_path_sent(flow->path, i, 20000, true, fuzz_now);
			fuzz_now += 1000 * MS - 1;
			dcqcn_path_acked(flow->path, i, fuzz_now);
		}
		pass_time(&qps[0], 999 * MS);
		if (limited_now)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, 0, 1000, READ_MIDDLE);
		expect(dcqcn_limiter_line(&qps[0], &settings) == 2000000, "forgotten too early");
		pass_time(&qps[0], MS);
		if (limited_now)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, 1, 1000, READ_MIDDLE);
		else
			dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		pass_time(&qps[0], 10 * MS);
		expect(dcqcn_limiter_line(&qps[0], &settings) == 10000000000ULL,
		       "the line is %llu bit/s",
		       (unsigned long long)dcqcn_limiter_line(&qps[0], &settings));
		expect(limited_now || flow->rate.current_rate > 1000000000, "at %llu bit/s",
		       (unsigned long long)flow->rate.current_rate);
		ends();
	}
}

static void ack_of(u32 psn);

/* The administrator sets rpg_time_reset to 0 while a flow is limited. The flow sends without a pause,
 * and its first attempt to measure its path fails for lack of memory.
 */
static void measured_late(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u64 left = 0;
	u32 psn;

	limited(1000, IB_QPT_RC, 14);
	output(DCQCN_PKT_REQUEST, 0);
	dcqcn_queue_advance(&qps[0], fuzz_now);	/* as the janitor does */
	expect(!flow->path, "the path is measured though T is set");
	settings.rp.rpg_time_reset = 0;
	fuzz_out_of_memory = true;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(!flow->path, "the path is measured without memory");
	fuzz_out_of_memory = false;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	for (psn = 1; psn < 8192 && !sent[num_sent - 1].asks; psn++) {
		left = fuzz_now;
		output(DCQCN_PKT_REQUEST, psn);
		pass_time(&qps[0], 20 * NSEC_PER_USEC);
	}
	expect(psn < 8192, "no packet has asked for an ACK");
	pass_time(&qps[0], 30 * NSEC_PER_USEC);
	ack_of(psn - 1);
	expect(flow->rate.rtt == fuzz_now - left, "a round trip of %u ns was assumed, not measured",
	       flow->rate.rtt);
	ends();
}

/* rxe takes no second NAK before an ACK: what it sends again asks for one, once */
static void asks_again(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int i, n, measured, base;

	for (n = 0; n < 4; n++) {
		measured = n & 1;
		base = n & 2 ? 0xfffffc : 100;	/* rxe goes back to PSN 0xffffff, or 103 */
		limited(100, IB_QPT_RC, 0);
		if (measured)
			flow->path = calloc(1, sizeof(*flow->path));
		for (i = 0; i < 8; i++)
			output_request(&qps[0], (base + i) & 0xffffff, 1000, WRITE_MIDDLE);
		pass_time(&qps[0], 10 * MS);
		expect(num_sent == 8, "%u packets left, not 8", num_sent);
		for (i = 3; i < 8; i++)
			output_request(&qps[0], (base + i) & 0xffffff, 1000, WRITE_MIDDLE);
		pass_time(&qps[0], 10 * MS);
		expect(num_sent == 13, "%u packets left, not 13", num_sent);
		for (i = 0; i < num_sent; i++)
			expect(sent[i].asks == (measured && (i == 8 || i == 9)),
			       "packet %u, PSN %u: asks %d", i, sent[i].psn, sent[i].asks);
		ends();
	}
}

static struct dcqcn_ccc context;

/* QPs whose peer has agreed on a window */
static void windowed(u32 start_burst)
{
	int i;

	limited(1000, IB_QPT_RC, 0);
	settings.ccc.algorithms = DCQCN_CCC_NSCC;
	dcqcn_cccs.users = 1;
	settings.rp.start_burst = start_burst;
	settings.rp.rpg_time_reset = 0;
	context.tx.agreed = DCQCN_CCC_NSCC;
	for (i = 0; i < QPS; i++)
		qps[i].ccc = &context;
	may_send = in_context = steered = empty = 0;
	look_again = MS;
	lends = false;
}

/* A QP that only receives has no limit, though its context is ready: the janitor would end the limit
 * five times a second
 */
static void window_of_receiver(void)
{
	windowed(12288);
	dcqcn_queue_flush(&qps[0]);
	output(DCQCN_PKT_ACK, 0);
	expect(!qps[0].limited && !dcqcn_qp_is_windowed(&qps[0]), "an ACK begins a limit");
	output(DCQCN_PKT_REQUEST, 0);
	expect(qps[0].limited && dcqcn_qp_is_windowed(&qps[0]), "a request does not");
	ends();
}

static void window(void)
{
	int i;

	windowed(0);
	may_send = 3;
	for (i = 0; i < 10; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], MS / 100);	/* the line's pace */
	}
	output(DCQCN_PKT_ACK, 77);
	expect(num_sent == 4 && sent[3].kind == DCQCN_PKT_ACK, "%u packets left, not 4", num_sent);
	expect(qps[0].flow.timer.queued, "nobody asks again");
	dcqcn_queue_kick(&qps[0]);
	expect(num_sent == 4, "sent without a window");
	may_send = 2;
	dcqcn_queue_kick(&qps[0]);
	pass_time(&qps[0], MS / 10);
	expect(num_sent == 6 && sent[5].psn == 4, "%u packets left, not 6", num_sent);
	may_send = 1;
	pass_time(&qps[0], 2 * MS);		/* a timeout */
	expect(num_sent == 7 && in_context == 6, "%u packets left, %u counted", num_sent,
	       in_context);
	may_send = 100;
	dcqcn_queue_kick(&qps[0]);
	output(DCQCN_PKT_REQUEST, 10);
	pass_time(&qps[0], MS);
	expect(num_sent == 12 && sent[11].psn == 10, "%u packets left, not 12", num_sent);
	expect(steered == num_sent, "%u of %u packets have the flow's path", steered, num_sent);
	ends();
}

/* What would share a timer, in 10 us, leaves at once when the window opens, and the rest at the line's
 * pace: one packet of 4154 bytes in 3.3 us. Of two flows of a port, each may send half of that at once.
 */
static void window_opens(void)
{
	u32 i, n, others;

	for (n = 1; n < 3; n++) {
		windowed(0);
		others = atomic_read(&dev.pacing.num_limited) - n;
		atomic_set(&dev.pacing.num_limited, n);
		may_send = 1;
		for (i = 0; i < 21; i++)
			output_request(&qps[0], i, 4154, WRITE_MIDDLE);
		pass_time(&qps[0], MS / 2);
		expect(num_sent == 1, "%u packets left, not 1", num_sent);
		may_send = 100;
		dcqcn_queue_kick(&qps[0]);
		expect(num_sent == 1 + 4 / n, "%u packets left at once, not %u", num_sent - 1, 4 / n);
		pass_time(&qps[0], MS / 10);
		expect(num_sent == 21, "%u packets left, not 21", num_sent);
		atomic_set(&dev.pacing.num_limited, others + n);
		ends();
	}
}

/* A flow whose last packet has left does not ask when its timer fires: it would wait in line with nothing to
 * send, and its next packet for a timeout
 */
static void window_of_nothing(void)
{
	windowed(0);
	output(DCQCN_PKT_REQUEST, 0);
	expect(!num_sent, "sent without a window");
	may_send = 1;
	dcqcn_queue_kick(&qps[0]);
	pass_time(&qps[0], 3 * MS / 2);
	expect(num_sent == 1 && !qps[0].flow.timer.queued, "%u packets left", num_sent);
	may_send = 1;
	output(DCQCN_PKT_REQUEST, 1);
	expect(num_sent == 2 && !empty, "%u packets left; asked %u times for none", num_sent, empty);
	ends();
}

/* A context is told whether the message goes on after all that is held */
static void window_goes_on(void)
{
	int i;

	windowed(0);
	for (i = 0; i < 4; i++) {
		output_request(&qps[0], i, 1000, i == 3 ? 0x0a /* WRITE, only */ : WRITE_MIDDLE);
		may_send = i != 1;
		dcqcn_queue_kick(&qps[0]);
		pass_time(&qps[0], MS);
		/* the first is not held, and the last one ends its message */
		expect(more_behind == (i == 2), "packet %d", i);
	}
	may_send = 100;
	dcqcn_queue_kick(&qps[0]);
	pass_time(&qps[0], MS);
	expect(num_sent == 4 && !more_behind, "%u packets left", num_sent);
	ends();
}

/* The ACK of an atomic operation is counted like a READ response, and waits for the window like one;
 * without a context it leaves at once
 */
static void window_of_atomics(void)
{
	struct dcqcn_bth bth = { .opcode = DCQCN_OPCODE_ATOMIC_ACK };
	unsigned int i, before;

	for (i = 0; i < 2; i++) {
		struct sk_buff *skb = calloc(1, sizeof(*skb));

		windowed(0);
		if (i)
			qps[0].ccc = NULL;
		skb->len = 70;
		skb->truesize = SHORTEST_SIZE;
		skb->dst = &dst;
		may_send = 1;
		output(DCQCN_PKT_RESPONSE, 1);
		before = in_context;
		bth.psn = cpu_to_be32(2);
		if (dcqcn_queue_output(&qps[0], describe(skb, DCQCN_PKT_ACK, &bth, true)) ==
		    NF_ACCEPT)
			free(skb);
		expect(dcqcn_flow_held(&qps[0].flow) == !i, "%u packets are held",
		       dcqcn_flow_held(&qps[0].flow));
		may_send = 1;
		pass_time(&qps[0], 2 * MS);
		expect(in_context - before == !i, "%u are counted", in_context - before);
		expect(!dcqcn_flow_held(&qps[0].flow), "it never leaves");
		ends();
	}
}

/* ACKs that have waited for a READ response leave with it, and do not wait for the window */
static void window_of_acks(void)
{
	windowed(0);
	output(DCQCN_PKT_RESPONSE, 1);
	output(DCQCN_PKT_ACK, 2);
	output(DCQCN_PKT_ACK, 3);
	expect(dcqcn_flow_held(&qps[0].flow) == 3, "%u packets are held, not 3",
	       dcqcn_flow_held(&qps[0].flow));
	may_send = 1;
	dcqcn_queue_kick(&qps[0]);
	expect(num_sent == 3 && sent[0].psn == 1 && sent[1].psn == 2 && sent[2].psn == 3,
	       "%u packets left, not 3, or in another order", num_sent);
	expect(!qps[0].flow.stat.expired, "they count as held for too long");
	ends();
}

/* A window that lets one packet leave every 3 ms: rxe's timer, 67 ms, does not fire, and a request
 * that is held for longer than that stays behind the window
 */
static void window_asks(void)
{
	unsigned int n = 0, silent = 0, most = 0;

	windowed(0);
	qps[0].ack_timeout = 14;
	while (num_sent < 128) {
		while (dcqcn_flow_held(&qps[0].flow) < 64)
			output_request(&qps[0], n++, 4154, WRITE_MIDDLE);
		may_send = 1;
		dcqcn_queue_kick(&qps[0]);
		pass_time(&qps[0], 3 * MS);
	}
	for (n = 0; n < num_sent; n++) {
		silent = sent[n].asks ? 0 : silent + 1;
		most = max(most, silent);
	}
	expect(most * 3 < 67 / 2, "%u packets in a row ask for no ACK, for %u ms", most, most * 3);
	expect(!qps[0].flow.stat.expired, "%u requests leave before they may",
	       qps[0].flow.stat.expired);
	ends();
}

/* A window that stays closed: one request leaves each half ack timeout, and asks. If rxe goes back
 * again and again, all leave before the next time.
 */
static void window_closed(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	unsigned int n, turn;

	windowed(0);
	qps[0].ack_timeout = 14;
	look_again = 250 * MS;
	flow->ack_req_time = dcqcn_flow_clock(fuzz_now);
	for (n = 0; n < 65; n++)
		output_request(&qps[0], n, 4154, WRITE_MIDDLE);
	for (n = 1; n <= 20; n++) {
		pass_time(&qps[0], 4096 << 14);
		/* it looks each quarter */
		expect(num_sent >= n && num_sent <= 2 * n, "%u requests in %u ack timeouts",
		       num_sent, n);
	}
	for (n = 0; n < num_sent; n++)
		expect(sent[n].asks, "request %u asks for no ACK", n);
	ends();

	windowed(0);
	qps[0].ack_timeout = 14;
	look_again = 250 * MS;
	for (turn = 0; turn < 5; turn++) {
		for (n = 0; n < 65; n++)
			output_request(&qps[0], n, 4154, WRITE_MIDDLE);
		expect(dcqcn_flow_held(flow) > 60, "%u packets are held", dcqcn_flow_held(flow));
		pass_time(&qps[0], 4096 << 14);
		expect(!dcqcn_flow_held(flow) || turn < 2, "%u packets are left",
		       dcqcn_flow_held(flow));
	}
	ends();
}

/* A context lends: seven requests follow each one that it sees, and all are charged. A READ
 * response is seen, and takes the loan back.
 */
static void window_unseen(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;
	u32 psn;

	windowed(0);
	may_send = 100;
	for (psn = 0; psn < 8; psn++) {
		pass_time(&qps[0], MS);
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	}
	expect(!num_unseen && in_context == 8, "%u packets are unseen, and none is lent", num_unseen);
	lends = true;
	for (; psn < 8 + 80; psn++) {
		pass_time(&qps[0], MS);
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	}
	expect(num_sent == psn && num_unseen == 70 && in_context == 18,
	       "%u packets left, %u of them unseen, %u seen", num_sent, num_unseen, in_context);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(flow->stat.paced_packets == psn, "%llu packets are charged, not %u",
	       (unsigned long long)flow->stat.paced_packets, psn);
	pass_time(&qps[0], MS);
	output_request(&qps[0], psn++, 1000, WRITE_MIDDLE);
	lends = false;
	pass_time(&qps[0], MS);
	output(DCQCN_PKT_RESPONSE, 7);
	output_request(&qps[0], psn++, 1000, WRITE_MIDDLE);
	expect(num_unseen == 70, "a request passes after a READ response");
	ends();
}

/* Seven requests may follow unseen only if all of them are due */
static void window_unseen_when_due(void)
{
	u32 psn;

	windowed(0);
	may_send = 100;
	lends = true;
	/* at half of the rate, each packet leaves credit for one more */
	for (psn = 0; psn < 10; psn++) {
		pass_time(&qps[0], psn ? 2 * qps[0].flow.gap : MS);
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
		expect(num_unseen == (psn == 9), "request %u: %u are unseen", psn, num_unseen);
	}
	ends();
}

/* What is held is sent in order when the port goes, and when the peer is gone */
static void window_ends(void)
{
	int i;

	windowed(0);
	for (i = 0; i < 10; i++)
		output(DCQCN_PKT_REQUEST, i);
	dev.stopping = true;
	dcqcn_queue_release(&qps[0]);
	expect(num_sent == 10 && sent[9].psn == 9 && !in_context, "%u packets left", num_sent);
	expect(!qps[0].limited, "limited while the port goes");
	output(DCQCN_PKT_REQUEST, 10);
	expect(num_sent == 11 && !qps[0].limited, "limited anew");
	expect(steered == num_sent, "%u of %u packets have the flow's path", steered, num_sent);
	ends();

	windowed(0);
	for (i = 0; i < 10; i++)
		output(DCQCN_PKT_REQUEST, i);
	context.tx.agreed = 0;
	pass_time(&qps[0], 2 * MS);
	expect(num_sent == 10 && !in_context && !qps[0].limited, "%u packets left", num_sent);
	ends();

	/* the timer does not wait for what would have opened the window */
	windowed(12288);
	look_again = 250 * MS;
	for (i = 0; i < 4; i++)
		output(DCQCN_PKT_REQUEST, i);
	context.tx.agreed = 0;
	output(DCQCN_PKT_REQUEST, 4);
	expect(qps[0].flow.rate.start && dcqcn_flow_held(&qps[0].flow), "does not start");
	pass_time(&qps[0], 20 * MS);
	expect(num_sent == 5, "only %u packets left in 20 ms", num_sent);
	ends();

	windowed(12288);
	for (i = 0; i < 10; i++)
		output(DCQCN_PKT_REQUEST, i);
	context.tx.agreed = 0;
	pass_time(&qps[0], 2 * MS);
	expect(qps[0].limited && qps[0].flow.rate.start, "does not start");
	pass_time(&qps[0], 200 * MS);
	expect(num_sent == 10 && !in_context, "%u packets left", num_sent);
	ends();
	for (i = 0; i < QPS; i++) {
		dcqcn_queue_flush(&qps[i]);
		free(qps[i].flow.path);
	}
}

/* A context ends after ten seconds: what its flow measured before is out of date, but not what
 * another flow to the same peer has measured
 */
static void window_ends_late(void)
{
	struct dcqcn_flow *flow = &qps[0].flow;

	windowed(12288);
	dcqcn_queue_flush(&qps[0]);
	may_send = 2;
	output(DCQCN_PKT_REQUEST, 0);
	flow->path->rtt = MS / 10;
	flow->path->heard_time = fuzz_now;
	pass_time(&qps[0], 10000 * MS);
	learn_peer(&qps[0].peer, 3 * MS, 12288, fuzz_now);
	context.tx.agreed = 0;
	output(DCQCN_PKT_REQUEST, 1);
	expect(flow->rate.start && flow->rate.rtt == 3 * MS, "it starts with a round trip of %u ns",
	       flow->rate.rtt);
	ends();
}

/* The limit of a context ends with the port's link, or after a second without data. The flow's next
 * packet may begin a start, but if the context still holds, it obeys that.
 */
static void window_comes_back(void)
{
	windowed(12288);
	may_send = 1;
	output(DCQCN_PKT_REQUEST, 0);
	dcqcn_queue_flush(&qps[0]);
	expect(!qps[0].limited && num_sent == 1 && in_context == 1, "%u packets left", num_sent);
	dcqcn_limiter_start(&qps[0], &settings, true);
	expect(qps[0].flow.rate.start, "no start");
	may_send = 1;
	output(DCQCN_PKT_REQUEST, 1);
	expect(num_sent == 2 && in_context == 2 && !qps[0].flow.rate.start,
	       "a flow obeys a context, and is in a start");
	ends();
}

/* A context ends while one of its flows has no limit, because it was silent, or the link was down. The
 * flow's packets do not come to the gate any more, and a CNP is for DCQCN.
 */
static void window_ends_unseen(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		windowed(0);
		may_send = 1;
		output(DCQCN_PKT_REQUEST, 0);
		expect(qps[0].limited && dcqcn_qp_is_windowed(&qps[0]), "obeys no context");
		qps[0].active = jiffies - 2 * HZ;
		if (i)
			dcqcn_queue_flush(&qps[0]);
		else
			dcqcn_queue_advance(&qps[0], fuzz_now);
		context.tx.agreed = 0;
		/* cnp.c ignores CNPs for flows that obey a context */
		expect(!qps[0].limited && !dcqcn_qp_is_windowed(&qps[0]), "obeys a context without a limit");
		dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		expect(qps[0].limited && qps[0].flow.rate.had_cnp, "no CNP cuts its rate");
		ends();
	}
}

/* A cloned packet of a start gets other memory when it is steered, and nothing looks at the old one. The
 * flow has left the path that rxe chose, and its context has ended.
 */
static void window_left_headers_move(void)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	struct dcqcn_bth *bth = calloc(1, sizeof(*bth));

	windowed(12288);
	settings.ccc.initial_window = 12288;
	context.tx.agreed = 0;
	dcqcn_queue_flush(&qps[0]);
	dcqcn_limiter_start(&qps[0], &settings, true);
	expect(qps[0].flow.rate.start, "no start");
	*bth = (struct dcqcn_bth) { .opcode = WRITE_FIRST, .psn = cpu_to_be32(1) };
	skb->len = 1000;
	skb->truesize = 2304;
	skb->dst = &dst;
	moves = bth;
	expect(dcqcn_queue_output(&qps[0], describe(skb, DCQCN_PKT_REQUEST, bth, true)) == NF_STOLEN &&
	       num_sent == 1 && !moves, "it did not leave, or stayed where it was");
	settings.ccc.initial_window = 0;
	ends();
}

/* No rate below the line, and no faster than it: 1000 packets of 1000 bytes at 10 Gb/s */
static void window_pace(void)
{
	u64 began, took;
	u32 psn = 0;

	windowed(0);
	may_send = 5000;
	output(DCQCN_PKT_REQUEST, psn++);
	pass_time(&qps[0], MS);
	began = fuzz_now;
	while (num_sent < 1001) {
		if (dcqcn_flow_held(&qps[0].flow) < 16)
			output(DCQCN_PKT_REQUEST, psn++);
		else
			pass_time(&qps[0], MS / 1000);
	}
	took = fuzz_now - began;
	expect(took >= 780000 && took <= 810000, "1000 packets took %llu ns, not 0.8 ms",
	       (unsigned long long)took);
	ends();
}

/* Where rxe frees a QP under its packets, none is held for long, neither behind a rate nor behind a
 * window
 */
static void hasty_rxe(void)
{
	unsigned int i, n;

	for (i = 0; i < 4; i++) {
		if (i & 1)
			windowed(0);
		else
			limited(1, IB_QPT_RC, 0);
		may_send = 0;
		look_again = 10000 * MS;
		qps[0].ack_timeout = i & 2 ? 14 : 20;
		dcqcn_hasty_rxe.users = 1;
		for (n = 0; n < 60; n++)
			output_request(&qps[0], n, 4000, WRITE_MIDDLE);
		expect(num_sent < 2, "%u: %u packets leave at once", i, num_sent);
		pass_time(&qps[0], 80 * MS);
		expect(num_sent == 60, "%u: %u packets left in 80 ms", i, num_sent);
		expect(qps[0].flow.stat.expired &&
		       counters.value[DCQCN_RP_EXPIRED] == qps[0].flow.stat.expired,
		       "%u: %lu packets are counted, and %u left early", i,
		       counters.value[DCQCN_RP_EXPIRED], qps[0].flow.stat.expired);
		ends();
		dcqcn_hasty_rxe.users = 0;
	}
}

/* --- an algorithm of struct dcqcn_cc_ops ------------------------------------------------------ */

/* What it answers to every event, and what it was told */
static u64 plug_rate, plug_gap;
static u32 plug_window, plug_path;
static struct { int init, release, cnp, ack, loss, idle, timer, sent; } told;
static struct dcqcn_cc_sample sampled;
static struct dcqcn_cc seen;

static void plug_answer(struct dcqcn_cc *cc, int *event)
{
	(*event)++;
	seen = *cc;
	kernel_assert(cc->rate >= cc->floor && cc->rate <= cc->line && cc->floor);
	cc->rate = plug_rate;
	cc->window = plug_window;
	cc->path = plug_path;
	cc->next_call = plug_gap ? cc->now + plug_gap : 0;
	memset(dcqcn_cc_private(cc), 0xee, DCQCN_CC_PRIVATE);
}

static void plug_init(struct dcqcn_cc *cc)
{
	u64 *private = dcqcn_cc_private(cc);

	expect(!private[0] && !private[15], "the private state is not zeroed");
	plug_answer(cc, &told.init);
}

static void plug_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	sampled = *sample;
	plug_answer(cc, &told.ack);
}

static void plug_release(struct dcqcn_cc *cc) { plug_answer(cc, &told.release); }
static void plug_cnp(struct dcqcn_cc *cc) { plug_answer(cc, &told.cnp); }
static void plug_loss(struct dcqcn_cc *cc) { plug_answer(cc, &told.loss); }
static void plug_idle(struct dcqcn_cc *cc, u64 ns) { plug_answer(cc, &told.idle); }
static void plug_timer(struct dcqcn_cc *cc) { plug_answer(cc, &told.timer); }
static void plug_sent(struct dcqcn_cc *cc, u32 bytes) { plug_answer(cc, &told.sent); }

static const struct dcqcn_cc_ops plug = {
	.name = "plug", .flags = DCQCN_CC_NEEDS_ACKS,
	.init = plug_init, .release = plug_release, .cnp = plug_cnp, .ack = plug_ack,
	.loss = plug_loss, .idle = plug_idle, .timer = plug_timer, .sent = plug_sent,
};

static void plugged_as(struct dcqcn_cc_ops *ops, const char *name, u32 flags);

/* A port that has chosen it, and flows that begin with their first packet. Its answers: bit/s, bytes,
 * ns until the next call.
 */
static void plugged(u64 rate, u32 window, u64 gap, u8 ack_timeout)
{
	limited(1, IB_QPT_RC, ack_timeout);
	ends();
	memset(&counters, 0, sizeof(counters));
	memset(&told, 0, sizeof(told));
	num_sent = 0;
	plug_rate = rate;
	plug_window = window;
	plug_gap = gap;
	expect(!dcqcn_register_cc(&plug), "it is not registered");
	expect(!dcqcn_cc_choose(settings.cc, "plug"), "it cannot be chosen");
	settings.plugs = true;
	qps[0].active = jiffies;
	dcqcn_limiter_start(&qps[0], &settings, true);
	expect(told.init == 1 && qps[0].limited && dcqcn_qp_has_algorithm(&qps[0]),
	       "the flow does not obey it");
}

static void unplugged(void)
{
	int i;

	ends();
	dcqcn_unregister_cc(&plug);
	expect(told.init == told.release, "%d flows began, %d ended", told.init, told.release);
	for (i = 0; i < QPS; i++) {
		kfree(qps[i].cc);
		qps[i].cc = NULL;
	}
}

static void ack_of(u32 psn)
{
	bh_disabled++;
	spin_lock(&qps[0].lock);
	dcqcn_queue_acked(&qps[0], psn, 0);
	spin_unlock(&qps[0].lock);
	bh_disabled--;
}

/* 1000 bytes at 100 Mb/s take 80 us */
static void plug_paces(void)
{
	u32 i;

	plugged(100 * MBPS, DCQCN_CC_NO_WINDOW, 0, 0);
	for (i = 0; i < 11; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], 8 * MS / 10);
	expect(num_sent == 11, "%u packets in 800 us, not 11", num_sent);
	expect(told.sent == 11 && seen.in_flight == 10000, "%d told, %u bytes in flight", told.sent,
	       seen.in_flight);
	/* the rate grows tenfold while a packet waits: so does what is left of its wait shrink */
	output(DCQCN_PKT_REQUEST, 11);
	plug_rate = 1000 * MBPS;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	pass_time(&qps[0], MS / 100);
	ack_of(0);				/* nobody asked for it: it tells nothing */
	expect(!told.ack && told.cnp == 1, "%d ACKs, %d CNPs", told.ack, told.cnp);
	unplugged();
}

static void plug_windows(void)
{
	u32 i;

	plugged(10000 * MBPS, 3000, 0, 14);
	for (i = 0; i < 8; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], MS / 100);
	}
	expect(num_sent == 3, "%u packets left, not 3", num_sent);
	expect(sent[0].asks && sent[1].asks && sent[2].asks, "they ask for no ACK");
	pass_time(&qps[0], MS);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	ack_of(1);
	expect(told.ack == 1 && sampled.delivered == 2000 && sampled.rtt == MS + 7 * MS / 100 &&
	       sampled.marked == 1000 && !sampled.app_limited,
	       "%d ACKs: %u bytes, %u ns, %u marked", told.ack, sampled.delivered, sampled.rtt,
	       sampled.marked);
	expect(seen.rtt == sampled.rtt && seen.rtt_min == sampled.rtt, "round trips %u, %u", seen.rtt,
	       seen.rtt_min);
	pass_time(&qps[0], MS / 100);
	expect(num_sent == 5, "%u packets left, not 5", num_sent);
	ack_of(2);
	ack_of(4);
	pass_time(&qps[0], MS / 100);
	expect(num_sent == 8 && sent[7].psn == 7, "%u packets left, not 8", num_sent);
	expect(seen.rtt_min && seen.rtt_min < MS / 100, "the shortest round trip is %u", seen.rtt_min);
	ack_of(7);
	expect(sampled.app_limited && seen.in_flight == 0, "%u in flight", seen.in_flight);
	/* rxe goes back */
	output(DCQCN_PKT_REQUEST, 6);
	expect(told.loss == 1 && num_sent == 9, "%d losses, %u packets", told.loss, num_sent);
	unplugged();
}

/* What a CNP changes counts at once: the rate, and when the timer is due. A packet takes 80 us. */
static void plug_cnps(void)
{
	plugged(100 * MBPS, DCQCN_CC_NO_WINDOW, 0, 14);
	output(DCQCN_PKT_REQUEST, 0);
	output(DCQCN_PKT_REQUEST, 1);
	plug_gap = 30000;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	pass_time(&qps[0], 35000);
	expect(told.timer == 1 && num_sent == 1, "%d calls, %u packets", told.timer, num_sent);
	plug_gap = 0;
	plug_rate = 10000 * MBPS;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	pass_time(&qps[0], 5000);
	expect(num_sent == 2, "the packet waits as before");
	unplugged();
}

/* An algorithm that is not told of ACKs has a window all the same. Without one, it needs no ACKs. */
static void plug_deaf(void)
{
	static struct dcqcn_cc_ops deaf;
	u32 i;

	plugged_as(&deaf, "deaf", 0);
	deaf.ack = NULL;
	plug_window = 3000;
	for (i = 0; i < 8; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], MS / 100);
	}
	expect(num_sent == 3 && sent[2].asks, "%u packets left, not 3", num_sent);
	ack_of(2);
	pass_time(&qps[0], MS / 100);
	expect(num_sent == 6, "%u packets left, not 6", num_sent);
	ack_of(5);
	pass_time(&qps[0], MS / 100);
	ack_of(7);
	plug_window = DCQCN_CC_NO_WINDOW;
	output(DCQCN_PKT_REQUEST, 8);
	for (i = 9; i < 40; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS);
	expect(num_sent == 40, "%u packets left, not 40", num_sent);
	for (i = 9; i < 40; i++)
		expect(!sent[i].asks, "packet %u asks for an ACK", i);
	ends();
	dcqcn_unregister_cc(&deaf);
	unplugged();
}

/* A CNP stands for a packet as long as the longest. If short ones were marked, an algorithm hears of
 * marks until these have arrived, and not longer. CNPs for several packets may come before the first
 * of their ACKs.
 */
static void plug_marks(void)
{
	u32 psn;

	plugged(10000 * MBPS, 3000, 0, 14);
	for (psn = 0; psn < 21; psn++) {
		output_request(&qps[0], psn, psn ? 100 : 1000, WRITE_MIDDLE);
		if (psn < 10)
			dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
		pass_time(&qps[0], MS / 100);
		ack_of(psn);
		if (psn && psn % 4 == 0)
			expect(sampled.delivered == 400 && sampled.marked == (psn < 16 ? 400 : 0),
			       "packet %u: %u of %u bytes were marked", psn, sampled.marked,
			       sampled.delivered);
	}
	for (; psn < 24; psn++)
		output_request(&qps[0], psn, 1000, WRITE_MIDDLE);
	pass_time(&qps[0], MS / 100);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	for (psn = 21; psn < 24; psn++) {
		ack_of(psn);
		expect(sampled.delivered == 1000 && sampled.marked == (psn < 23 ? 1000 : 0),
		       "ACK of %u: %u of %u bytes were marked", psn, sampled.marked,
		       sampled.delivered);
	}
	unplugged();
}

/* Behind a closed window, one leaves after half of the ack timeout, whenever the algorithm looks
 * before
 */
static void plug_waits(void)
{
	u64 ms, longest = 2048ULL << 14;

	for (ms = 1; ms < 34; ms++) {
		plugged(10000 * MBPS, 1, 0, 14);
		output(DCQCN_PKT_REQUEST, 0);
		output(DCQCN_PKT_REQUEST, 1);
		expect(num_sent == 1 && sent[0].asks, "%u packets left, not 1", num_sent);
		pass_time(&qps[0], ms * MS);
		dcqcn_queue_kick(&qps[0]);
		pass_time(&qps[0], longest - ms * MS - 2000);
		expect(num_sent == 1, "one more has left before %llu us", longest / 1000);
		pass_time(&qps[0], 2000 + 10000);	/* and a batch */
		expect(num_sent == 2, "a look after %llu ms, and %u leave in time", ms, num_sent - 1);
		unplugged();
	}
}

/* Responses that wait alone do not wait for the requests' window, whether the first one waits for the
 * pacer or not
 */
static void plug_answers(void)
{
	u32 i, late;

	for (late = 0; late < 2; late++) {
		plugged(1000 * MBPS, 1, 0, 14);
		output(DCQCN_PKT_REQUEST, 0);
		pass_time(&qps[0], late * MS);
		for (i = 0; i < 100; i++)
			output(DCQCN_PKT_RESPONSE, i);
		/* the first one that leaves lets the flow obey DCQCN, without a limit */
		expect(num_sent == (late ? 101 : 1), "%u packets left at once", num_sent);
		pass_time(&qps[0], 2 * MS);
		expect(num_sent == 101, "%u responses left, not 100", num_sent - 1);
		unplugged();
	}
}

/* Rate and window 0, a timer as often as possible: packets leave all the same, before rxe's timer
 * fires, and the timer has its interval
 */
static void plug_hostile(void)
{
	static const u64 rates[] = { 0, ~0ULL, 1 }, gaps[] = { 1, 1, 0 };
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(rates); k++) {
		plugged(rates[k], 0, gaps[k], 14);
		for (i = 0; i < 8; i++)
			output(DCQCN_PKT_REQUEST, i);
		for (i = 0; i < 8; i++) {
			pass_time(&qps[0], 50 * MS);	/* of 67 */
			expect(num_sent >= i + 1, "rate %llu: %u packets after %u turns", rates[k],
			       num_sent, i);
			if (num_sent == i + 1)
				expect(sent[i].asks, "rate %llu: packet %u does not ask", rates[k], i);
		}
		pass_time(&qps[0], 100 * MS);
		expect(num_sent == 8, "rate %llu: %u packets left", rates[k], num_sent);
		expect(told.timer <= 500 * 50, "rate %llu: %d calls in 0.5 s", rates[k], told.timer);
		expect(!gaps[k] || told.timer > 1000, "rate %llu: %d calls only", rates[k], told.timer);
		unplugged();
	}
}

static void clock_init(struct dcqcn_cc *cc)
{
	cc->rate = plug_rate;
	cc->next_call = cc->now + 30000;
}

static void clock_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	told.ack++;
}

static void clock_timer(struct dcqcn_cc *cc)
{
	told.timer++;
	cc->next_call = cc->now + 1;
}

static void clock_sent(struct dcqcn_cc *cc, u32 bytes)
{
	told.sent++;
}

/* A timer that only itself sets: events that leave it alone do not put it off. It is called every 20
 * us or with the next event, while a packet leaves and an ACK comes every 10 us.
 */
static void plug_clock(void)
{
	struct dcqcn_cc_ops clock = {
		.name = "clock", .flags = DCQCN_CC_NEEDS_ACKS, .init = clock_init,
		.ack = clock_ack, .timer = clock_timer, .sent = clock_sent,
	};
	u32 i;

	limited(1, IB_QPT_RC, 14);
	ends();
	memset(&told, 0, sizeof(told));
	num_sent = 0;
	plug_rate = 10000 * MBPS;
	expect(!dcqcn_register_cc(&clock) && !dcqcn_cc_choose(settings.cc, "clock"),
	       "it cannot be chosen");
	settings.plugs = true;
	dcqcn_limiter_start(&qps[0], &settings, true);
	for (i = 0; i < 100; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], 5000);
		ack_of(i);
		pass_time(&qps[0], 5000);
	}
	expect(told.sent == 100, "%d packets left", told.sent);
	expect(told.timer >= 48 && told.timer <= 50, "%d calls in 1 ms", told.timer);
	ends();
	dcqcn_unregister_cc(&clock);
	kfree(qps[0].cc);
	qps[0].cc = NULL;
}

/* The port chooses DCQCN, or the algorithm goes: the flow goes on, and nobody calls it any more.
 * When it is there again, so is the flow.
 */
static void plug_changes(void)
{
	char choice[DCQCN_CC_NAME_MAX];
	u32 i;

	plugged(100 * MBPS, DCQCN_CC_NO_WINDOW, 0, 0);
	expect(dcqcn_register_cc(&plug) == -EEXIST, "it is registered twice");
	for (i = 0; i < 4; i++)
		output(DCQCN_PKT_REQUEST, i);
	*settings.cc = '\0';
	settings.rp.start_burst = 12288;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(told.release == 1 && !dcqcn_qp_has_algorithm(&qps[0]), "the flow still obeys it");
	pass_time(&qps[0], MS);
	expect(num_sent == 4, "%u packets left, not 4", num_sent);
	strcpy(settings.cc, "plug");
	dcqcn_queue_advance(&qps[0], fuzz_now);	/* as the janitor does */
	expect(told.init == 2 && dcqcn_qp_has_algorithm(&qps[0]), "the flow does not obey it again");

	dcqcn_unregister_cc(&plug);
	expect(told.release == 2 && !dcqcn_qp_has_algorithm(&qps[0]), "it went, and its flow obeys");
	expect(dcqcn_cc_choose(choice, "plug") == -ENOENT, "it went, and can be chosen");
	i = told.sent;
	output(DCQCN_PKT_REQUEST, 4);
	pass_time(&qps[0], MS);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(num_sent == 5 && told.sent == (int)i, "%u packets left", num_sent);
	expect(!dcqcn_register_cc(&plug), "it cannot come back");
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(told.init == 3, "the flow does not obey it after its return");
	/* silent for more than a second */
	pass_time(&qps[0], 1100 * MS);
	qps[0].active = jiffies - 2 * HZ;
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(told.release == 3 && !qps[0].limited, "a silent flow keeps its limit");
	unplugged();
}

/* A flow has been silent for more than a second, and keeps its limit because its ack timeout is long.
 * With its next message it begins to obey its algorithm again.
 */
static void plug_returns(void)
{
	u32 i;

	plugged(100 * MBPS, DCQCN_CC_NO_WINDOW, 0, 20);
	output_request(&qps[0], 0, 1000, WRITE_FIRST);
	pass_time(&qps[0], 1100 * MS);
	qps[0].active = jiffies - 2 * HZ;
	dcqcn_queue_advance(&qps[0], fuzz_now);	/* as the janitor does */
	expect(qps[0].limited && qps[0].flow.released, "its limit does not wait for a loss to show");
	qps[0].active = jiffies;
	for (i = 1; i < 12; i++)
		output_request(&qps[0], i, 1000, i == 1 ? WRITE_FIRST : WRITE_MIDDLE);
	expect(num_sent < 4, "%u packets have left at once", num_sent);
	expect(told.init == 2 && told.release == 1 && qps[0].limited, "%d times begun, %d times released",
	       told.init, told.release);
	pass_time(&qps[0], MS);
	expect(num_sent == 12 && told.sent == 12, "%u packets left, %d told", num_sent, told.sent);
	expect(!told.idle, "it was idle and has begun");
	unplugged();
}

/* What a window has held leaves when the port chooses DCQCN, and does not wait for half of the ack
 * timeout
 */
static void plug_window_goes(void)
{
	u32 i;

	plugged(100 * MBPS, 1, 0, 0);
	qps[0].ack_timeout = 20;
	for (i = 0; i < 4; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], 10 * MS);
	expect(num_sent == 1, "%u packets left through a window of one", num_sent);
	*settings.cc = '\0';
	dcqcn_queue_advance(&qps[0], fuzz_now);
	pass_time(&qps[0], MS);
	expect(num_sent == 4, "%u packets left, not 4", num_sent);
	unplugged();
}

/* A window that shrinks below what is in flight, of which no packet has asked for an ACK: the next
 * one asks, and the others wait for its ACK
 */
static void plug_window_shrinks(void)
{
	u32 i;

	plugged(1000 * MBPS, 1000000, 0, 0);
	for (i = 0; i < 3; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS);
	expect(num_sent == 3 && !sent[0].asks && !sent[1].asks && !sent[2].asks,
	       "%u packets left, not 3, or one asks", num_sent);
	plug_window = 1;
	dcqcn_limiter_cnp(&qps[0], &settings, fuzz_now);
	for (i = 3; i < 6; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], 10 * MS);
	expect(num_sent == 4 && sent[3].asks, "%u packets left, not 4, or the last does not ask",
	       num_sent);
	unplugged();
}

/* A QP obeys an algorithm of its own, until it follows its port again, or is another QP */
static void plug_of_qp(void)
{
	struct dcqcn_qp *qp = &qps[1];
	char none[DCQCN_CC_NAME_MAX] = "";

	plugged(100 * MBPS, DCQCN_CC_NO_WINDOW, 0, 0);
	*settings.cc = '\0';
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(told.release == 1, "it obeys what its port has not");
	qp->active = qps[2].active = jiffies;
	expect(dcqcn_cc_choose_for_qp(&dev, 16, "plug") == -ENOENT, "there is no such QP");
	expect(!dcqcn_cc_choose_for_qp(&dev, 18, "plug") && settings.plugs, "it cannot be chosen");
	dcqcn_limiter_plug(qp, &settings, true);
	dcqcn_limiter_plug(&qps[2], &settings, true);
	expect(told.init == 2 && dcqcn_qp_has_algorithm(qp), "the QP does not obey its own");
	expect(!qps[2].limited, "another QP obeys it");
	strcpy(settings.cc, "swift");
	dcqcn_queue_advance(qp, fuzz_now);
	expect(told.release == 1, "it follows its port");
	expect(!dcqcn_cc_choose_for_qp(&dev, 18, none), "it cannot have DCQCN");
	expect(told.release == 2 && !dcqcn_qp_has_algorithm(qp), "it does not obey DCQCN");
	dcqcn_queue_advance(qp, fuzz_now);
	expect(!dcqcn_qp_has_algorithm(qp), "it does not keep DCQCN");
	expect(!dcqcn_cc_choose_for_qp(&dev, 18, NULL) && !dcqcn_qp_has_choice(qp),
	       "it has a choice");
	dcqcn_limiter_plug(qp, &settings, true);
	expect(dcqcn_qp_has_algorithm(qp) && told.init == 2, "it does not follow its port again");
	expect(!dcqcn_cc_choose_for_qp(&dev, 18, "plug") && told.init == 3, "it has no choice");
	dcqcn_cc_rest(&dev);
	expect(settings.qp_cc && settings.plugs, "its choice is forgotten");
	dcqcn_qp_forget_choice(qp);
	dcqcn_queue_advance(qp, fuzz_now);
	expect(told.release == 3 && dcqcn_qp_has_algorithm(qp), "another QP has its choice");
	*settings.cc = '\0';
	dcqcn_cc_rest(&dev);
	expect(!settings.qp_cc && !settings.plugs && !atomic_read(&dev.num_choices),
	       "packets of the port still take the longer way: %d choices",
	       atomic_read(&dev.num_choices));
	unplugged();
}

/* What no ACK answers obeys DCQCN */
static void plug_needs_acks(void)
{
	plugged(100 * MBPS, 3000, 0, 0);
	settings.rp.start_burst = 12288;
	output(DCQCN_PKT_REQUEST, 0);
	qps[0].flow.path->heard_time = fuzz_now;
	qps[0].flow.path->rtt = 100 * MS;
	qps[0].flow.path->rtt_min = MS / 50;
	output(DCQCN_PKT_RESPONSE, 70);
	pass_time(&qps[0], MS);
	expect(told.release == 1 && !dcqcn_qp_has_algorithm(&qps[0]), "READ responses obey it");
	expect(qps[0].flow.rate.rtt == MS / 50, "it starts with a round trip of %u ns",
	       qps[0].flow.rate.rtt);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(told.init == 1, "READ responses obey it again");
	qps[1].type = IB_QPT_UC;
	dcqcn_limiter_start(&qps[1], &settings, true);
	expect(told.init == 1 && qps[1].limited, "UC obeys it");
	fuzz_out_of_memory = true;
	dcqcn_limiter_start(&qps[2], &settings, true);
	fuzz_out_of_memory = false;
	expect(told.init == 1 && !dcqcn_qp_has_algorithm(&qps[2]), "it has no memory, and obeys");
	unplugged();
}

/* A queue that never empties does not become a part of the path */
static void plug_shortest(void)
{
	u32 i;

	plugged(10000 * MBPS, 1000, 0, 14);
	settings.ccc.base_rtt = 7;
	for (i = 0; i < 400; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], 100 * MS);
		fuzz_now += i ? MS : MS / 100;
		ack_of(i);
		expect(seen.rtt_base == 7000, "the known one is %u", seen.rtt_base);
	}
	expect(told.ack == 400 && seen.rtt == 101 * MS && seen.rtt_min < 100 * MS + MS / 10,
	       "%d ACKs, after 40 s it is %u", told.ack, seen.rtt_min);
	unplugged();
}

/* The peer has sent a NAK, and rxe goes back to @psn. An ACK of it comes @ns later. */
static void plug_resends(u32 psn, u64 ns)
{
	dcqcn_flight_missed(&qps[0].cc->flight);
	output(DCQCN_PKT_REQUEST, psn);
	pass_time(&qps[0], ns);
	ack_of(psn);
	expect(sampled.delivered == 1000 && sampled.rtt == ns, "packet %u: a round trip of %u", psn,
	       sampled.rtt);
}

/* A packet is sent once, and its ACK comes @ns later. Return the shortest round trip. */
static u32 plug_shortest_after(u32 psn, u64 ns)
{
	output(DCQCN_PKT_REQUEST, psn);
	pass_time(&qps[0], ns);
	ack_of(psn);
	return seen.rtt_min;
}

/* Packets are overtaken and not lost: the ACK of the first transmission comes just behind the second
 * one, which the peer answers once more, as it is a duplicate. So that was not a round trip. It is
 * one if the peer does not have to answer a duplicate.
 */
static void plug_overtaken(void)
{
	u32 i, known, shortest;

	for (known = 0; known < 2; known++) {
		plugged(10000 * MBPS, 4000, 0, 14);
		for (i = 0; i < 4; i++)
			output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], MS);
		if (known)
			ack_of(0);
		plug_resends(known, MS / 100);
		plug_resends(known + 1, MS / 200);
		ack_of(known + 1);
		ack_of(known + 1);
		shortest = plug_shortest_after(4, 2 * MS);
		expect(known ? shortest >= MS && shortest < 2 * MS : shortest == 2 * MS,
		       "the shortest is %u, and not that before", shortest);
		output(DCQCN_PKT_REQUEST, 5);
		plug_resends(5, MS / 2);
		expect(plug_shortest_after(6, MS) == MS / 2, "the shortest is %u", seen.rtt_min);
		ack_of(6);
		expect(plug_shortest_after(7, MS) == MS / 2, "the shortest was taken back: %u",
		       seen.rtt_min);
		unplugged();
	}
}

static u32 arrived_at;

static bool answer_of(u32 psn, u8 flags, u32 queue)
{
	struct dcqcn_feedback said = {
		.flags = DCQCN_FEEDBACK_ECHO | DCQCN_FEEDBACK_ANSWER | flags,
		.echo_psn = cpu_to_be32(psn), .received = cpu_to_be32(queue),
		.marked = cpu_to_be32(2), .ahead = cpu_to_be32(3), .mbps = cpu_to_be32(4),
		.echo_received = cpu_to_be32(5), .arrived = cpu_to_be32(arrived_at),
	};
	bool heard;

	bh_disabled++;
	spin_lock(&qps[0].lock);
	heard = dcqcn_cc_answered(&qps[0], &said);
	spin_unlock(&qps[0].lock);
	bh_disabled--;
	return heard;
}

/* The flow of an algorithm that is also called @name, and has @flags */
static void plugged_as(struct dcqcn_cc_ops *ops, const char *name, u32 flags)
{
	plugged(10000 * MBPS, 1000, 0, 14);
	unplugged();
	*ops = plug;
	strcpy(ops->name, name);
	ops->flags |= flags;
	expect(!dcqcn_register_cc(ops) && !dcqcn_cc_choose(settings.cc, name), "no such algorithm");
	memset(&told, 0, sizeof(told));
	memset(&sampled, 0, sizeof(sampled));
	num_stamps = num_sent = 0;
	qps[0].active = jiffies;
	dcqcn_limiter_start(&qps[0], &settings, true);
}

/* The peer is asked whether it reads stamps, rarely while it does not. Only if it does, packets get
 * some, and the algorithm gets to know what it tells with the next ACK.
 */
static void plug_hops(void)
{
	static struct dcqcn_cc_ops hops;
	u32 i, psn = 0;

	plugged_as(&hops, "hops", DCQCN_CC_WANTS_HOPS);
	for (i = 0; i < 20; i++) {
		output(DCQCN_PKT_REQUEST, psn);
		expect(sent[num_sent - 1].asks_module == (i == 0 || i == 10), "packet %u asks", i);
		pass_time(&qps[0], 10 * MS);
		ack_of(psn++);
	}
	expect(!num_stamps && !sampled.hop.mbps, "%u packets have a stamp", num_stamps);
	pass_time(&qps[0], 10 * MS);
	output(DCQCN_PKT_REQUEST, psn);
	expect(!answer_of(psn + 1, DCQCN_FEEDBACK_STAMPS, 0), "an answer to nothing is believed");
	expect(answer_of(psn, DCQCN_FEEDBACK_STAMPS, 0), "the answer is not believed");
	ack_of(psn++);
	expect(!sampled.hop.mbps, "a hop is told");
	output(DCQCN_PKT_REQUEST, psn);
	expect(num_stamps == 1 && sent[num_sent - 1].asks_module, "%u packets have a stamp", num_stamps);
	expect(answer_of(psn, DCQCN_FEEDBACK_STAMPS | DCQCN_FEEDBACK_HOP, 7777), "no answer");
	ack_of(psn++);
	expect(sampled.hop.queue == 7777 && sampled.hop.sent == 2 && sampled.hop.time == 3 &&
	       sampled.hop.mbps == 4 && sampled.hop.number == 5, "a queue of %u", sampled.hop.queue);
	for (i = 0; i < 100; i++) {
		output(DCQCN_PKT_REQUEST, psn);
		pass_time(&qps[0], MS / 100);
		ack_of(psn++);
		expect(!sampled.hop.mbps, "a hop is told again");
	}
	expect(num_stamps == 1 + DCQCN_CC_UNANSWERED, "%u have a stamp without an answer", num_stamps);
	ends();
	dcqcn_unregister_cc(&hops);
	unplugged();
}

/* A packet takes @there and its ACK @back, by clocks that differ by an hour */
static void plug_goes(u32 psn, u32 there, u32 back, bool answers)
{
	output(DCQCN_PKT_REQUEST, psn);
	pass_time(&qps[0], there);
	arrived_at = fuzz_now + 3600000 * MS;
	if (answers)
		expect(answer_of(psn, DCQCN_FEEDBACK_STAMPS, 0), "the answer is not believed");
	pass_time(&qps[0], back);
	ack_of(psn);
}

/* The peer's module is asked, rarely until it answers. Then the delay leaves out the wait of the ACK,
 * and no packet gets a stamp. If answers stop, it is the round trip again.
 */
static void plug_delay(void)
{
	static struct dcqcn_cc_ops delay;
	u32 i, n, psn = 0;

	plugged_as(&delay, "delay", DCQCN_CC_WANTS_DELAY);
	for (i = 0; i < 20; i++) {
		plug_goes(psn++, 5 * MS, 5 * MS, false);
		expect(sent[num_sent - 1].asks_module == (i == 0 || i == 10), "packet %u asks", i);
		expect(sampled.rtt && sampled.delay == sampled.rtt, "a delay of %u", sampled.delay);
	}
	pass_time(&qps[0], 10 * MS);
	plug_goes(psn++, 5 * MS, 5 * MS, true);
	for (i = 0; i < 20; i++) {
		u32 there = i * 77777 % (5 * MS), back = i * 1234567 % (5 * MS);

		/* a shorter round trip: what was known of the clocks is void */
		if (i == 10) {
			plug_goes(psn++, 4 * MS, 4 * MS, false);
			plug_goes(psn++, 5 * MS, 7 * MS, true);
			expect(sampled.delay == sampled.rtt, "a delay of %u", sampled.delay);
		}
		plug_goes(psn++, i < 10 ? 5 * MS : 4 * MS, i < 10 ? 5 * MS : 4 * MS, true);
		plug_goes(psn++, 5 * MS + there, 5 * MS + back, true);
		n = i < 10 ? 10 * MS : 8 * MS;
		expect(sent[num_sent - 1].asks_module, "packet %u does not ask", psn);
		expect(sampled.delay >= 5 * MS + n / 2 + there &&
		       sampled.delay <= 5 * MS + n / 2 + there + 5000,
		       "%u ns there and %u back: a delay of %u", there, back, sampled.delay);
	}
	/* in a window of five packets, one asks */
	plug_window = 5000;
	for (i = 0; i < 20; i++) {
		plug_goes(psn++, 4 * MS, 4 * MS, i % 5 == 4);
		expect(sent[num_sent - 1].asks_module == (i % 5 == 4) &&
		       sampled.delay == (i % 5 == 4 ? sampled.rtt : 0), "packet %u: a delay of %u", i,
		       sampled.delay);
	}
	plug_window = 1000;
	for (i = n = 0; i < 2 * DCQCN_CC_UNANSWERED; i++) {
		plug_goes(psn++, MS / 2, MS / 2, false);
		n += sent[num_sent - 1].asks_module;
		expect(sampled.delay == (i < DCQCN_CC_UNANSWERED - 1 ? 0 : sampled.rtt),
		       "packet %u: a delay of %u", i, sampled.delay);
	}
	expect(n == DCQCN_CC_UNANSWERED, "%u packets ask without an answer", n);
	expect(!num_stamps, "%u packets have a stamp", num_stamps);
	ends();
	dcqcn_unregister_cc(&delay);
	unplugged();
}

static bool last_left(u32 num, u32 psn, u16 sport)
{
	return expect(num_sent == num && sent[num - 1].psn == psn && sent[num - 1].sport == sport,
		      "%u packets left, the last one is %u from port %u, and not %u, %u, %u", num_sent,
		      sent[num_sent - 1].psn, sent[num_sent - 1].sport, num, psn, sport);
}

/* If rxe goes back while packets wait for the window, what it sends again leaves at once */
static void plug_goes_back(void)
{
	u32 i;

	plugged(10000 * MBPS, 3000, 0, 14);
	for (i = 0; i < 5; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS);
	expect(num_sent == 3, "%u packets leave within the window", num_sent);
	for (i = 1; i < 5; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS / 100);
	expect(told.loss == 1 && num_sent == 6 && sent[3].psn == 1,
	       "%d losses, %u packets left, not 6", told.loss, num_sent);
	unplugged();
}

/* A closed window keeps requests, but neither READ responses nor the ACKs behind them: these wait for
 * their turn at the rate
 */
static void plug_answers_reads(void)
{
	static struct dcqcn_cc_ops reads;
	u32 i;

	plugged_as(&reads, "reads", 0);
	reads.flags = 0;
	plug_rate = 8 * MBPS;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	for (i = 0; i < 4; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], 10 * MS);
	expect(num_sent == 1, "%u requests leave within the window", num_sent);
	for (i = 0; i < 5; i++)
		output_data(&qps[0], DCQCN_PKT_RESPONSE, 100 + i, 1000, READ_MIDDLE);
	output(DCQCN_PKT_ACK, 105);
	expect(num_sent == 2, "%u packets left, not one response", num_sent);
	pass_time(&qps[0], 2 * MS + MS / 2);
	expect(num_sent == 4, "%u packets left, and 3 responses were due", num_sent);
	pass_time(&qps[0], 4 * MS);
	expect(num_sent == 7 && sent[6].kind == DCQCN_PKT_ACK, "%u packets left", num_sent);
	expect(skb_queue_len(&qps[0].flow.fifo[DCQCN_REQUESTS].queue) == 3, "a request left");
	/* a timer that is 300 ms late earns credit for 20 ms */
	for (i = 0; i < 60; i++)
		output_data(&qps[0], DCQCN_PKT_RESPONSE, 105 + i, 1000, READ_MIDDLE);
	num_sent = 0;
	fuzz_now += 300 * MS;
	pass_time(&qps[0], MS / 10);
	expect(num_sent >= 20 && num_sent <= 22, "%u responses leave at once", num_sent);
	ends();
	dcqcn_unregister_cc(&reads);
	unplugged();
}

/* A flow holds READ responses that it made for an algorithm that needs no ACKs. Another one, which
 * needs them, does not get it, and they leave at DCQCN's rate.
 */
static void plug_refuses_reads(void)
{
	static struct dcqcn_cc_ops reads, needs;
	u32 i;

	plugged_as(&reads, "reads", 0);
	reads.flags = 0;
	plug_rate = 8 * MBPS;
	for (i = 0; i < 200; i++)
		output_data(&qps[0], DCQCN_PKT_RESPONSE, 100 + i, 1000, READ_MIDDLE);
	expect(dcqcn_qp_has_algorithm(&qps[0]), "it does not obey");
	needs = plug;
	strcpy(needs.name, "needs");
	expect(!dcqcn_register_cc(&needs) && !dcqcn_cc_choose(settings.cc, "needs"), "no such algorithm");
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	qps[0].flow.fifo[DCQCN_RESPONSES].begun = false;	/* as a limit that begins does */
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(!dcqcn_qp_has_algorithm(&qps[0]), "it obeys what needs ACKs");
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	num_sent = 0;
	memset(&told, 0, sizeof(told));
	pass_time(&qps[0], MS / 10);
	expect(num_sent < 100 && !told.init, "%u of 200 leave at once, and it obeys %d times",
	       num_sent, told.init);
	ends();
	dcqcn_unregister_cc(&needs);
	dcqcn_unregister_cc(&reads);
	unplugged();
}

/* Another path is taken when nothing is in flight, neither requests that count nor READs: until then
 * requests are held. Numbers are equal modulo 2^14.
 */
static void plug_moves(void)
{
	u32 i;

	plugged(10000 * MBPS, 3000, 0, 20);
	for (i = 0; i < 3; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS);
	last_left(3, 2, 0);
	plug_path = 5;
	ack_of(0);
	for (; i < 5; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], MS);
	last_left(3, 2, 0);
	ack_of(2);
	pass_time(&qps[0], MS / 10);
	last_left(5, 4, 5);
	expect(sent[3].sport == 5, "packet 3 leaves from port %u", sent[3].sport);
	/* what overtakes nothing of its own kind stays where it is */
	output(DCQCN_PKT_ACK, 0);
	last_left(6, 0, 0);
	plug_path = 0x4005;
	ack_of(4);
	output(DCQCN_PKT_REQUEST, 5);
	output(DCQCN_PKT_REQUEST, 6);
	pass_time(&qps[0], MS / 10);
	last_left(8, 6, 5);
	/* a READ may be on its way for two round trips, of 0.1 ms */
	output_request(&qps[0], 7, 1000, DCQCN_OPCODE_READ);
	pass_time(&qps[0], MS / 100);
	last_left(9, 7, 5);
	plug_path = 6;
	ack_of(6);
	expect(seen.rtt >= MS / 10 && seen.rtt < MS / 8, "a round trip of %u", seen.rtt);
	output(DCQCN_PKT_REQUEST, 8);
	pass_time(&qps[0], MS / 10);
	last_left(9, 7, 5);
	pass_time(&qps[0], MS);
	last_left(10, 8, 6);
	/* after a loss nothing is in flight, so the path changes at once */
	plug_path = 0;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	output(DCQCN_PKT_REQUEST, 9);
	pass_time(&qps[0], MS / 10);
	last_left(10, 8, 6);
	output(DCQCN_PKT_REQUEST, 8);
	pass_time(&qps[0], MS / 10);
	expect(told.loss == 1, "%d losses", told.loss);
	last_left(11, 8, 0);
	unplugged();
	/* a READ, or UC, without a measured round trip: two times a millisecond */
	plugged(10000 * MBPS, 3000, 0, 20);
	output_request(&qps[0], 0, 1000, DCQCN_OPCODE_READ);
	plug_path = 5;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	output(DCQCN_PKT_REQUEST, 1);
	pass_time(&qps[0], 2 * MS - MS / 100);
	last_left(1, 0, 0);
	pass_time(&qps[0], MS / 10);
	last_left(2, 1, 5);
	plug_path = 0;
	unplugged();
	/* one that leaves nevertheless overtakes nothing: if no packet has asked for an ACK */
	plugged(10000 * MBPS, DCQCN_CC_NO_WINDOW, 0, 20);
	for (i = 0; i < 3; i++)
		output(DCQCN_PKT_REQUEST, i);
	pass_time(&qps[0], 3 * MS);
	plug_path = 5;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	output(DCQCN_PKT_REQUEST, 3);
	output(DCQCN_PKT_REQUEST, 4);
	pass_time(&qps[0], MS / 10);
	last_left(4, 3, 0);
	expect(sent[3].asks, "it does not ask for an ACK");
	ack_of(3);
	pass_time(&qps[0], MS / 10);
	last_left(5, 4, 5);
	plug_path = 0;
	unplugged();
	/* or if a READ takes longer than a request may be held, 34 ms */
	plugged(10000 * MBPS, 3000, 0, 14);
	output(DCQCN_PKT_REQUEST, 0);
	pass_time(&qps[0], 20 * MS);
	ack_of(0);
	output_request(&qps[0], 1, 1000, DCQCN_OPCODE_READ);
	plug_path = 5;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	output(DCQCN_PKT_REQUEST, 2);
	pass_time(&qps[0], 30 * MS);
	last_left(2, 1, 0);
	pass_time(&qps[0], 5 * MS);
	last_left(3, 2, 0);
	plug_path = 0;
	unplugged();
}

/* The flow gets another algorithm, and sends a packet 1 us later. Return whether it leaves at once. */
static bool plug_follows(const char *name)
{
	u32 before = num_sent;

	strcpy(settings.cc, name);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	pass_time(&qps[0], 1000);
	output(DCQCN_PKT_REQUEST, before);
	return num_sent > before;
}

/* A flow takes path 5 with its next packet, whose ACK has a round trip of a millisecond */
static void plug_takes_path(void)
{
	plug_path = 5;
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	pass_time(&qps[0], 3 * MS);
	plug_goes(num_sent, MS / 2, MS / 2, false);
	output(DCQCN_PKT_REQUEST, num_sent);
	last_left(num_sent, num_sent - 1, 5);
}

/* A flow that has taken another path gets another algorithm. It takes the first path again when what is
 * in flight has had two round trips to arrive. It is there already if it has obeyed DCQCN meanwhile,
 * or has begun again.
 */
static void plug_path_after(void)
{
	static struct dcqcn_cc_ops other;

	other = plug;
	strcpy(other.name, "other");
	plugged(10000 * MBPS, 3000, 0, 20);
	expect(!dcqcn_register_cc(&other), "it is not registered");
	settings.rp.start_burst = 12288;
	plug_takes_path();
	plug_path = 0;
	expect(!plug_follows("other"), "it overtakes packets");
	pass_time(&qps[0], 2 * MS - MS / 100);
	last_left(2, 1, 5);
	pass_time(&qps[0], MS / 10);
	last_left(3, 2, 0);
	ack_of(2);
	plug_takes_path();
	expect(plug_follows("plug"), "it waits to stay where it is");
	last_left(6, 5, 5);
	plug_path = 0;
	expect(plug_follows(""), "DCQCN holds it");
	last_left(7, 6, 0);
	expect(plug_follows("other"), "it waits, and is where it should be");
	last_left(8, 7, 0);
	ack_of(7);
	plug_takes_path();
	pass_time(&qps[0], 1100 * MS);
	qps[0].active = jiffies - 2 * HZ;
	dcqcn_queue_advance(&qps[0], fuzz_now);	/* as the janitor does */
	expect(qps[0].limited && qps[0].flow.released, "it is not silent");
	qps[0].active = jiffies;
	plug_path = 0;
	output_request(&qps[0], 10, 1000, WRITE_FIRST);
	last_left(11, 10, 0);
	ends();
	dcqcn_unregister_cc(&other);
	unplugged();
}

/* Other QPs hold as much as the port may */
static void crowd(bool begins)
{
	atomic_long_add((begins ? 1 : -1) * 300L * MB, &dev.pacing.held_memory[DCQCN_REQUESTS]);
	atomic_add((begins ? 1 : -1) * 100000, &dev.pacing.num_limited);
}

/* READ responses have no bound on the time that they are held but their turn. Those that leave for
 * want of memory are counted, as requests are.
 */
static void crowded_reads(void)
{
	u32 psn = 0, responses = 0, all = 0, ms, i;

	limited(100, IB_QPT_RC, 14);
	crowd(true);
	for (ms = 0; ms < 500; ms++) {
		num_sent = 0;
		while (skb_queue_len(&qps[0].flow.fifo[DCQCN_REQUESTS].queue) < 64 && num_sent < 64)
			output_request(&qps[0], psn++, 1000, WRITE_MIDDLE);
		for (i = 0; ms == 100 && i < 64; i++)
			output_data(&qps[0], DCQCN_PKT_RESPONSE, i, 1000, READ_MIDDLE);
		pass_time(&qps[0], MS);
		for (i = 0; i < num_sent; i++)
			responses += sent[i].kind == DCQCN_PKT_RESPONSE;
		all += num_sent;
	}
	expect(responses == 64, "%u of 64 READ responses have left", responses);
	expect(qps[0].flow.stat.expired == all - 1 &&
	       counters.value[DCQCN_RP_EXPIRED] == all - 1,
	       "%u of %u are counted as early, and %lu of the port, but only one was due",
	       qps[0].flow.stat.expired, all, counters.value[DCQCN_RP_EXPIRED]);
	crowd(false);
	ends();
}

/* With a closed window, the port is out of memory, and a packet leaves early. It is charged at the
 * flow's rate, and not with the time after which the algorithm would have looked again.
 */
static void plug_crowded(void)
{
	u32 i, before;

	plugged(10000 * MBPS, 3000, 0, 20);
	crowd(true);
	for (i = 0; i < 65; i++) {
		output(DCQCN_PKT_REQUEST, i);
		pass_time(&qps[0], MS / 100);
	}
	crowd(false);
	expect(num_sent > 3 && num_sent < 65, "%u of 65 have left", num_sent);
	before = num_sent;
	ack_of(sent[before - 1].psn);
	pass_time(&qps[0], MS);
	expect(num_sent > before, "nothing leaves, although all of it has arrived");
	unplugged();
}

static void plug_names(void)
{
	static struct dcqcn_cc_ops bad[] = {
		{ .name = "", .init = plug_init }, { .name = "a b", .init = plug_init },
		{ .name = "0123456789abcdef", .init = plug_init }, { .name = "none" },
	};
	static struct dcqcn_cc_ops taken[] = {
		{ .name = "swift", .init = plug_init }, { .name = "dcqcn", .init = plug_init },
	};
	struct dcqcn_cc_ops many[DCQCN_CC_MAX] = {};
	char choice[DCQCN_CC_NAME_MAX] = "x";
	u32 i, k, n = 0;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		expect(dcqcn_register_cc(&bad[i]) == -EINVAL, "name %u is taken", i);
	for (i = 0; i < ARRAY_SIZE(taken); i++)
		expect(dcqcn_register_cc(&taken[i]) == -EEXIST, "\"%s\" again", taken[i].name);
	expect(!dcqcn_cc_choose(choice, "swift\n") && !strcmp(choice, "swift"), "\"%s\"", choice);
	expect(dcqcn_cc_choose(choice, "") == -ENOENT, "the empty name is one");
	expect(!dcqcn_cc_choose(choice, "dcqcn") && !*choice, "DCQCN is \"%s\"", choice);
	/* a name that has gone leaves its place to others */
	for (k = 0; k < 3; k++) {
		for (i = n = 0; i < ARRAY_SIZE(many); i++) {
			many[i] = plug;
			sprintf(many[i].name, "many%u-%u", k, i);
			n += !dcqcn_register_cc(&many[i]);
		}
		expect(n == DCQCN_CC_MAX - 7 && dcqcn_register_cc(&many[n]) == -ENOSPC,
		       "turn %u: %u names", k, n);
		for (i = 0; i < n; i++)
			dcqcn_unregister_cc(&many[i]);
	}
}

/* While dcqcn_unregister_cc() waits, flows still obey the algorithm, and their port goes */
static void go_on(void)
{
	struct sk_buff *skb;
	struct sk_buff_head dropped;

	gone_waiting++;
	expect(!told.release && dcqcn_qp_has_algorithm(&qps[0]), "it waits for nothing");
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	ack_of(0);
	expect(told.cnp == 1 && told.ack == 1, "%d CNPs, %d ACKs: it is called no more", told.cnp,
	       told.ack);
	__skb_queue_head_init(&dropped);
	bh_disabled++;
	spin_lock(&qps[0].lock);
	dcqcn_queue_reset(&qps[0], &dropped);
	spin_unlock(&qps[0].lock);
	bh_disabled--;
	while ((skb = skb_peek(&dropped))) {
		__skb_unlink(skb, &dropped);
		kfree_skb(skb);
	}
}

/* The port of a flow goes while its algorithm does: no list has the port any more. The flow is
 * released all the same, and then no function of the algorithm runs any more, not even if another
 * one takes its place.
 */
static void plug_goes_with_port(void)
{
	static struct dcqcn_cc_ops other;
	u32 i;

	plugged(100 * MBPS, 3000, 100000, 14);
	for (i = 0; i < 8; i++)
		output(DCQCN_PKT_REQUEST, i);
	unpublished = true;
	gone_waiting = 0;
	dcqcn_unregister_cc(&plug);
	expect(gone_waiting == 1 && told.release == 1, "%d releases", told.release);
	memset(&told, 0, sizeof(told));
	other = plug;
	strcpy(other.name, "other");
	expect(!dcqcn_register_cc(&other), "another one is not registered");
	dcqcn_queue_cnp(&qps[0], &settings, fuzz_now);
	ack_of(0);
	pass_time(&qps[0], 200 * MS);
	output(DCQCN_PKT_REQUEST, 0);
	pass_time(&qps[0], 20 * MS);
	dcqcn_queue_advance(&qps[0], fuzz_now);
	expect(!told.init && !told.cnp && !told.ack && !told.timer && !told.sent && !told.loss &&
	       !told.release, "a function runs after its end");
	expect(!dcqcn_qp_has_algorithm(&qps[0]), "the flow obeys what has gone");
	dcqcn_unregister_cc(&other);
	unpublished = false;
	unplugged();
}

static int loads_left;

static void goes_behind_load(void)
{
	if (--loads_left)
		return;
	loaded = NULL;
	dcqcn_unregister_cc(&plug);
}

/* An algorithm is unregistered while a user chooses it: behind each read of the list */
static void plug_goes_while_chosen(void)
{
	char choice[DCQCN_CC_NAME_MAX];
	int loads, err, found = 0;

	for (loads = 1; loads <= 2 * DCQCN_CC_MAX; loads++) {
		strcpy(choice, "none");
		expect(!dcqcn_register_cc(&plug), "it is not registered");
		loads_left = loads;
		loaded = goes_behind_load;
		err = dcqcn_cc_choose(choice, "plug");
		loaded = NULL;
		dcqcn_unregister_cc(&plug);
		found += !err;
		expect(err == -ENOENT || (!err && !strcmp(choice, "plug")), "error %d, \"%s\"",
		       err, choice);
	}
	expect(found > DCQCN_CC_MAX, "found %d times", found);
}

static const struct tap_test tests[] = {
	{ "a limited flow starts again after four round trips", restarts },
	{ "a packet follows a burst whose end may be lost", start_tail },
	{ "a start goes on when rxe sends its burst again", start_loses_burst },
	{ "a start that waits for its turn is not idle", start_waits_for_turn },
	{ "a start that ends without a round trip assumes a long one", start_ends_unmeasured },
	{ "a start of READ responses goes up by answers", start_answered },
	{ "a peer that does not answer is asked rarely", start_unanswered },
	{ "a start goes up by time when its peer answers no more", start_loses_answers },
	{ "a start that goes on to answer READs waits no longer", start_answers_reads },
	{ "a start counts on the round trip of its peer, or on one that suits the line", start_of_peer },
	{ "ACKs are read only while flows are limited", acks_are_read },
	{ "an ACK does not overtake READ responses that are being sent", order_while_sending },
	{ "an ACK does not overtake READ responses that are held", order_while_held },
	{ "an ACK does not overtake ACKs that are being sent", order_of_acks },
	{ "ACKs behind stale READ responses are dropped with them", stale_acks },
	{ "the memory of held READ responses is bounded, and each QP has its part", memory },
	{ "READ responses have room beside any requests", responses_beside_requests },
	{ "memory is counted by each CPU, and the port knows it but for a batch", memory_on_two_cpus },
	{ "and a port that seems to hold less than nothing has room", memory_below_zero },
	{ "the memory of held requests is bounded, and each QP has its part", memory_of_requests },
	{ "a held packet points to no device but the port's", held_device },
	{ "held READ responses do not raise the floor of requests", mixed_floor },
	{ "a slow flow asks for an ACK before rxe's timer fires", asks },
	{ "what is sent again has no credit for a pause", back_without_credit },
	{ "requests that rxe repeats without an ACK leave before the next time", stuck },
	{ "a request behind a long one waits for half of the ack timeout", after_a_long_one },
	{ "a request is held for five seconds at most", longest_hold },
	{ "a low rate is not charged for packets at a high one", remainder_of_high_rate },
	{ "responses get their turn after requests that were held too long", after_a_long_hold },
	{ "requests and READ responses take turns", turns },
	{ "a request leaves in time beside short READ responses", turns_in_time },
	{ "a late timer earns credit for 20 ms at most", late_timer },
	{ "held packets are sent with preemption disabled", no_preemption },
	{ "a datagram of a priority without congestion control leaves the limit", other_priority },
	{ "a release sends held packets in order", release },
	{ "a release lets other softirqs run", release_in_turns },
	{ "the limiter of an idle flow ends", idle },
	{ "packets leave at the rate", pace },
	{ "no gap is lost in rounding", pace_exactly },
	{ "a flow that had nothing to send has a bounded credit", credit_of_idle },
	{ "a start sends a burst, and waits for the ACK of its last packet", start },
	{ "a QP that is reconnected starts as a new one", start_reconnected },
	{ "a UC QP that is reconnected sends nothing of its old connection", uc_reconnected },
	{ "a duplicate's ACK does not get between a READ's responses", read_repeated },
	{ "a duplicate's ACK does not complete an atomic operation", atomic_repeated },
	{ "it does not even when nothing is held", atomic_repeated_late },
	{ "nor when the limit would end, or begins again", atomic_repeated_later },
	{ "an RC QP that is reconnected sends no READ response of its old connection", rc_reconnected },
	{ "a start below its rate shows few packets to the limiter", start_unseen },
	{ "what a start was allowed to send unseen is taken back", start_seen },
	{ "a start of READs waits for no ACK", start_of_reads },
	{ "a start goes on, whatever it sends and however that is acknowledged", start_ends_waiting },
	{ "a start goes up also without samples", start_without_samples },
	{ "a start of READ responses waits for no ACK", start_blind },
	{ "a start goes up also without memory to measure", start_without_memory },
	{ "flows that begin together go on alike", start_goes_on_alike },
	{ "a burst that meets a queue counts by its length, if nothing was marked before", start_meets_queue },
	{ "a flow begins again with the share that it got", start_knows_share },
	{ "in equal rounds, the burst is part of the share, and cuts are small", start_in_rounds },
	{ "a long burst is not all of a slow share", start_in_slow_rounds },
	{ "a flow that has had no burst knows no share", start_knows_no_share },
	{ "a CNP for the burst of a start changes nothing, and a pause ends no limit", start_deaf },
	{ "a flow without a limit begins again after four round trips", pauses },
	{ "a pause is judged by the last round trips", restarts_behind_old_queue },
	{ "an ACK does not end a pause in data", pauses_of_data },
	{ "a QP that nobody has described yet begins with its first packet", first_packet_describes },
	{ "packets to another address or QP are of another connection", other_connection },
	{ "where hardly anything gets through, the lowest rate is a limit", hardly_delivered },
	{ "a CNP cuts from the port's speed if no rate is known", never_delivered },
	{ "the first message after CNPs keeps the rate of its pause", first_after_cnps },
	{ "a limit goes on where the line falls to it", less_delivered },
	{ "what was measured long ago limits nobody", old_measure },
	{ "a limited flow measures its path as soon as T is measured", measured_late },
	{ "what is sent again asks for an ACK, where the path is measured", asks_again },
	{ "a window holds packets, and a kick or a timeout sends them", window },
	{ "a window that opens lets a batch leave", window_opens },
	{ "a window is not asked when nothing is held", window_of_nothing },
	{ "a QP that only receives has no window", window_of_receiver },
	{ "a window knows whether more comes behind what is held", window_goes_on },
	{ "ACKs behind responses do not wait for a window", window_of_acks },
	{ "an atomic operation's ACK counts as a READ response in a window", window_of_atomics },
	{ "a flow with a small window asks for ACKs, and obeys it", window_asks },
	{ "behind a closed window, rxe's timer does not fire", window_closed },
	{ "with an open window, one request in eight is seen, and all are charged", window_unseen },
	{ "requests behind a window are unseen only if all that may be are due", window_unseen_when_due },
	{ "a window ends with the port, and with the peer", window_ends },
	{ "a window that ends late leaves no old round trip", window_ends_late },
	{ "a flow that comes back to its window is in no start", window_comes_back },
	{ "a context that ends while its flow has no limit leaves the flow to DCQCN", window_ends_unseen },
	{ "headers of a packet in a start may move", window_left_headers_move },
	{ "packets of a window leave at the line rate", window_pace },
	{ "an algorithm sets the rate", plug_paces },
	{ "an algorithm sets the window, and is told of ACKs, CNPs and losses", plug_windows },
	{ "a CNP may change an algorithm's rate and timer", plug_cnps },
	{ "an algorithm that is not told of ACKs has a window", plug_deaf },
	{ "an algorithm hears of marks as long as marked packets may be in flight", plug_marks },
	{ "behind an algorithm's window, rxe's timer does not fire", plug_waits },
	{ "responses do not wait for the window of requests", plug_answers },
	{ "a hostile algorithm is slow, and harms nothing", plug_hostile },
	{ "events do not put off an algorithm's timer", plug_clock },
	{ "a flow follows its port's choice, and algorithms that go and come back", plug_changes },
	{ "after a second of silence, a flow obeys its algorithm again", plug_returns },
	{ "a packet asks for an ACK if a window has shrunk and none has asked", plug_window_shrinks },
	{ "what a window has held leaves when its algorithm is not chosen any more", plug_window_goes },
	{ "what no ACK answers obeys DCQCN", plug_needs_acks },
	{ "a QP has an algorithm of its own", plug_of_qp },
	{ "an algorithm hears of hops only from a peer that reads stamps", plug_hops },
	{ "an algorithm hears of the delay on the way to a peer that answers", plug_delay },
	{ "an algorithm takes another path when nothing is in flight", plug_moves },
	{ "a flow with another algorithm does not overtake its packets", plug_path_after },
	{ "an algorithm's flow goes on at once when rxe goes back", plug_goes_back },
	{ "READ responses and ACKs leave behind an algorithm's closed window", plug_answers_reads },
	{ "an algorithm that needs ACKs gets no flow that holds READ responses", plug_refuses_reads },
	{ "READ responses have their turn while a port holds all that it may", crowded_reads },
	{ "a flow goes on after a packet has left early because memory was short", plug_crowded },
	{ "algorithms have names", plug_names },
	{ "an algorithm and the port of its flow go at the same time", plug_goes_with_port },
	{ "an algorithm goes while it is chosen", plug_goes_while_chosen },
	{ "the shortest round trip stays the shortest", plug_shortest },
	{ "an overtaken packet does not give the shortest round trip", plug_overtaken },
	{ "nothing is held for long where rxe frees QPs under their packets", hasty_rxe },
};

int main(void)
{
	tap_plan(ARRAY_SIZE(tests));
	return tap_run(tests, ARRAY_SIZE(tests));
}
