/* SPDX-License-Identifier: GPL-2.0 */
/* One rxe port. See device.c. */
#ifndef DCQCN_DEVICE_H
#define DCQCN_DEVICE_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "budget.h"
#include "counters.h"
#include "rccc.h"
#include "settings.h"

#define DCQCN_TABLE_BITS	4	/* hash tables of ports */
#define DCQCN_QP_BITS		10	/* a port's hash table of QPs */
#define DCQCN_CCC_BITS		6	/* a port's hash table of contexts */

typedef int (*dcqcn_okfn)(struct net *net, struct sock *sk,
			  struct sk_buff *skb);

struct dcqcn_net_hooks;
struct dcqcn_sysfs;

/**
 * enum dcqcn_fifo_kind - the two FIFOs of a flow
 * @DCQCN_REQUESTS: rxe's requester fills it, with 65 packets at most
 * @DCQCN_RESPONSES: READ responses, and ACKs that must not overtake them
 */
enum dcqcn_fifo_kind {
	DCQCN_REQUESTS,
	DCQCN_RESPONSES,
	DCQCN_NUM_FIFOS
};

/**
 * struct dcqcn_dev - congestion control of one rxe device
 * @ibdev_node: in the table by @ibdev
 * @ndev_node: in the table by @ndev
 * @ibdev: the rxe device; valid until its client is removed
 * @ndev: its network device; referenced
 * @hooks: the netfilter hooks of its network namespace
 * @counters: per CPU
 * @settings: current settings, RCU
 * @settings_lock: serialises writers of @settings
 * @speed: Mb/s, of the port
 * @speed_work: reads @speed
 * @stopping: no new limiters
 * @qp_table: QPs as chains by the upper bits of dcqcn_dev_qp_hash(), in its
 *	order; RCU, changed under @qp_lock
 * @qp_lock: protects @qp_table and @num_qps
 * @qp_factor: odd and random, so that an attacker cannot choose QPNs that share
 *	a chain
 * @num_qps: entries in @qp_table
 * @num_unresolved: entries that are resolving or absent
 * @num_limited: flows that are limited
 * @rtt: ns; round trip that any flow measured last, 0 for unknown
 * @okfn: sends a held packet on behind our hook, whatever its address family
 * @resolve_lock: protects @resolve_list
 * @resolve_list: entries that wait for @qp_work
 * @qp_work: resolves entries, and is the janitor
 * @next_sweep: jiffies; when the janitor is due
 * @held_memory: bytes of memory that the packets in all flows' FIFOs take
 * @cnp_paid: ns; the CNPs sent so far use up the port's share until then
 * @feedback_paid: ns; and the feedback
 * @uses_cccs: it uses contexts, or did; protected by @settings_lock
 * @ccc_table: contexts by the upper bits of a hash; RCU, changed under @ccc_lock
 * @ccc_lock: protects @ccc_table, @ccc_id and @num_cccs; nests in dcqcn_qp.lock
 * @ccc_id: of the context that was added last
 * @ccc_seed: random, so that nobody can choose addresses of one chain
 * @num_cccs: contexts in @ccc_table
 * @grant_lock: protects @grants and @grant_pace
 * @grants: contexts whose peer asks for credit, in turn
 * @grant_pace: when the next one may get some
 * @ungranted: bytes that came without credit, and that @grant_pace does not know of yet
 * @ungranted_since: in units of 2^10 ns, modulo 2^32 units (73 min); when the first of
 *	them came
 * @grant_timer: grants it
 * @rate_events: rate limit of netlink events, see netlink.c
 * @sysfs: its directories below ``ecn/``
 */
struct dcqcn_dev {
	struct hlist_node ibdev_node;
	struct hlist_node ndev_node;
	struct ib_device *ibdev;
	struct net_device *ndev;
	struct dcqcn_net_hooks *hooks;
	struct dcqcn_counters __percpu *counters;

	struct dcqcn_settings __rcu *settings;
	struct mutex settings_lock;	/* writers of @settings */
	u32 speed;
	struct work_struct speed_work;
	bool stopping;

	struct hlist_head qp_table[1 << DCQCN_QP_BITS];
	spinlock_t qp_lock;	/* protects @qp_table and @num_qps */
	u32 qp_factor;
	unsigned int num_qps;
	atomic_t num_unresolved;
	atomic_t num_limited;
	u32 rtt;
	dcqcn_okfn okfn;
	spinlock_t resolve_lock;	/* protects @resolve_list */
	struct list_head resolve_list;
	struct delayed_work qp_work;
	unsigned long next_sweep;

	atomic_long_t held_memory[DCQCN_NUM_FIFOS];
	atomic64_t cnp_paid;
	atomic64_t feedback_paid;

	bool uses_cccs;
	struct hlist_head ccc_table[1 << DCQCN_CCC_BITS];
	spinlock_t ccc_lock;	/* protects @ccc_table, @ccc_id and @num_cccs */
	u64 ccc_id;
	u32 ccc_seed;
	unsigned int num_cccs;
	spinlock_t grant_lock;	/* protects @grants and @grant_pace */
	struct list_head grants;
	struct dcqcn_rccc_port grant_pace;
	atomic_t ungranted;
	u32 ungranted_since;
	struct hrtimer grant_timer;

	struct dcqcn_budget rate_events;

	struct dcqcn_sysfs *sysfs;
};

int dcqcn_device_init(void);
void dcqcn_device_exit(void);

struct dcqcn_settings *dcqcn_dev_settings_begin(struct dcqcn_dev *dev);
void dcqcn_dev_settings_commit(struct dcqcn_dev *dev,
			       struct dcqcn_settings *new);
void dcqcn_dev_settings_abort(struct dcqcn_dev *dev,
			      struct dcqcn_settings *new);

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *ndev);
struct dcqcn_dev *dcqcn_dev_of_client(struct ib_device *ibdev);
struct dcqcn_dev *dcqcn_dev_next(const struct net *net, u32 index);
struct dcqcn_dev *dcqcn_dev_lock(const struct net *net, const char *name);
void dcqcn_dev_unlock(void);

extern struct workqueue_struct *dcqcn_wq;
extern DECLARE_HASHTABLE(dcqcn_by_ibdev, DCQCN_TABLE_BITS);

/**
 * dcqcn_dev_by_ibdev() - find the port of an RDMA device
 * @ibdev: any pointer; it is compared, never dereferenced
 *
 * Inline, because every packet that rxe sends passes here.
 *
 * Context: under RCU. Return: the port, or NULL.
 */
static inline struct dcqcn_dev *
dcqcn_dev_by_ibdev(const struct ib_device *ibdev)
{
	struct dcqcn_dev *dev;

	hash_for_each_possible_rcu(dcqcn_by_ibdev, dev, ibdev_node,
				   (unsigned long)ibdev) {
		if (dev->ibdev == ibdev)
			return dev;
	}
	return NULL;
}

/**
 * dcqcn_dev_line() - return a port's line rate
 * @dev: the port
 * @settings: its settings
 *
 * Context: any. Return: bit/s; at least 1 Mb/s, less than 2^52.
 */
static inline u64 dcqcn_dev_line(const struct dcqcn_dev *dev,
				 const struct dcqcn_settings *settings)
{
	u32 mbps = settings->rp.rpg_max_rate ?: READ_ONCE(dev->speed);

	return mbps * DCQCN_BPS_PER_MBPS;
}

/* Bytes of memory that all packets take that a port holds */
static inline long dcqcn_dev_held_memory(const struct dcqcn_dev *dev)
{
	return atomic_long_read(&dev->held_memory[DCQCN_REQUESTS]) +
	       atomic_long_read(&dev->held_memory[DCQCN_RESPONSES]);
}

/* Multiply-shift hashing; the odd factor makes it a bijection of QPNs */
static inline u32 dcqcn_dev_qp_hash(const struct dcqcn_dev *dev, u32 qpn)
{
	return qpn * dev->qp_factor;
}

static inline struct hlist_head *dcqcn_dev_qp_chain(struct dcqcn_dev *dev,
						    u32 hash)
{
	return &dev->qp_table[hash >> (32 - DCQCN_QP_BITS)];
}

static inline void dcqcn_count(struct dcqcn_dev *dev, enum dcqcn_counter c)
{
	this_cpu_inc(dev->counters->value[c]);
}

static inline void dcqcn_count_add(struct dcqcn_dev *dev, enum dcqcn_counter c,
				   unsigned long n)
{
	this_cpu_add(dev->counters->value[c], n);
}

#endif /* DCQCN_DEVICE_H */
