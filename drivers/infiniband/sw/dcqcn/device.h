/* SPDX-License-Identifier: GPL-2.0 */
/* One rxe port. See device.c. */
#ifndef DCQCN_DEVICE_H
#define DCQCN_DEVICE_H

#include <linux/cache.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "budget.h"
#include "counters.h"
#include "peer.h"
#include "rccc.h"
#include "settings.h"

#define DCQCN_TABLE_BITS	4	/* hash tables of ports */
#define DCQCN_CCC_BITS		6	/* a port's hash table of contexts */

struct dcqcn_debugfs;
/* Set once, and never reset, if rxe frees a QP 200 jiffies after its destruction began even if
 * packets point to it; see client.c
 */
DECLARE_STATIC_KEY_FALSE(dcqcn_hasty_rxe);

/* ns; how long requests are held then: 50 of the 200 jiffies, because a QP that is being destroyed
 * still retransmits
 */
#define DCQCN_HASTY_HOLD_NS	(50ULL * NSEC_PER_SEC / HZ)

struct dcqcn_net_hooks;
struct dcqcn_sysfs;

/**
 * struct dcqcn_resolver - asks the RDMA core about QPs, and removes unused entries
 * @num_unresolved: entries that are resolving or absent
 * @lock: protects @list
 * @list: entries that wait for @work
 * @work: resolves entries, and sweeps the table
 * @next_sweep: jiffies; when the next sweep is due
 * @next_qpn: QP number at which the sweep continues
 */
struct dcqcn_resolver {
	atomic_t num_unresolved;
	spinlock_t lock;	/* protects @list */
	struct list_head list;
	struct delayed_work work;
	unsigned long next_sweep;
	unsigned long next_qpn;
};

/**
 * struct dcqcn_pacing - what the limited flows of a port have in common
 * @num_limited: number of limited flows
 * @held_memory: bytes of memory of the packets in all FIFOs, except those that CPUs still count in
 *	dcqcn_counters.held_memory
 */
struct dcqcn_pacing {
	atomic_t num_limited;
	atomic_long_t held_memory[DCQCN_NUM_FIFOS];
};

/**
 * struct dcqcn_answers - bounds on what a port sends by itself
 * @cnp_paid: ns; until when the CNPs sent so far use up the port's share
 * @feedback_paid: ns; the same for feedback
 */
struct dcqcn_answers {
	atomic64_t cnp_paid;
	atomic64_t feedback_paid;
};

/**
 * struct dcqcn_credit - grants credit to the peers of a port in turn
 * @lock: protects @sources and @pace
 * @sources: contexts whose peer asks for credit
 * @num: number of @sources
 * @skipped: turns in a row that brought no grant
 * @pace: when the next source may get credit
 * @ungranted: bytes that came without credit and are not charged to @pace yet
 * @ungranted_since: in units of 2^10 ns, modulo 2^32 units (73 min); when the first of these bytes
 *	came
 * @timer: grants credit
 */
struct dcqcn_credit {
	spinlock_t lock;	/* protects @sources and @pace */
	struct list_head sources;
	u32 num;
	u32 skipped;
	struct dcqcn_rccc_port pace;
	atomic_t ungranted;
	u32 ungranted_since;
	struct hrtimer timer;
};

/**
 * struct dcqcn_contexts - the contexts of a port
 * @chains: by the upper bits of a hash; RCU, changed under @lock
 * @lock: protects @chains, @last_id and @num; nests in dcqcn_qp.lock
 * @last_id: id of the context that was added last
 * @seed: random, so that nobody can choose addresses that share a chain
 * @num: number of contexts
 * @used: the port uses contexts, or did; protected by dcqcn_dev.settings_lock
 */
struct dcqcn_contexts {
	struct hlist_head chains[1 << DCQCN_CCC_BITS];
	spinlock_t lock;	/* protects @chains, @last_id and @num */
	u64 last_id;
	u32 seed;
	unsigned int num;
	bool used;
};

/**
 * struct dcqcn_dev - congestion control of one rxe device
 *
 * Packets on all CPUs read the first fields, which seldom change. Fields that packets write are in
 * structures with cache lines of their own.
 *
 * @ibdev_node: in the table by @ibdev
 * @ibdev: the rxe device; valid until its client is removed
 * @ndev: its network device; referenced
 * @settings: current settings, RCU
 * @counters: per CPU
 * @speed: Mb/s, of the port
 * @stopping: no new limiters
 * @ndev_node: in the table by @ndev
 * @qps: entries of QPs, by number; see qp.c. Each packet looks its QP up.
 * @pacing: its limited flows
 * @peers: what flows have measured; see peer.c
 * @resolver: asks the RDMA core about @qps
 * @answers: bounds on CNPs and feedback
 * @contexts: see ccc.c
 * @credit: grants credit to peers in contexts
 * @hooks: the netfilter hooks of its network namespace
 * @num_choices: QPs that have an algorithm of their own; see cc_register.c
 * @settings_lock: serialises writers of @settings
 * @speed_work: reads @speed
 * @rate_events: rate limit of netlink events, see netlink_event.c
 * @stamps: stamps that switches have put into received packets, or NULL; see stamp.c
 * @sysfs: its directories below ``ecn/``
 * @debugfs: its files in debugfs
 */
struct dcqcn_dev {
	struct hlist_node ibdev_node;
	struct ib_device *ibdev;
	struct net_device *ndev;
	struct dcqcn_settings __rcu *settings;
	struct dcqcn_counters __percpu *counters;
	u32 speed;
	bool stopping;
	struct hlist_node ndev_node;

	struct xarray qps ____cacheline_aligned_in_smp;
	struct dcqcn_pacing pacing ____cacheline_aligned_in_smp;
	struct dcqcn_peers peers ____cacheline_aligned_in_smp;
	struct dcqcn_resolver resolver ____cacheline_aligned_in_smp;
	struct dcqcn_answers answers ____cacheline_aligned_in_smp;
	struct dcqcn_contexts contexts ____cacheline_aligned_in_smp;
	struct dcqcn_credit credit ____cacheline_aligned_in_smp;

	struct dcqcn_net_hooks *hooks ____cacheline_aligned_in_smp;
	atomic_t num_choices;
	struct mutex settings_lock;	/* writers of @settings */
	struct work_struct speed_work;
	struct dcqcn_budget rate_events;
	struct dcqcn_stamps *stamps;
	struct dcqcn_sysfs *sysfs;
	struct dcqcn_debugfs *debugfs;
};

struct dcqcn_settings *dcqcn_dev_settings_begin(struct dcqcn_dev *dev);
void dcqcn_dev_settings_commit(struct dcqcn_dev *dev,
			       struct dcqcn_settings *new);
void dcqcn_dev_settings_abort(struct dcqcn_dev *dev,
			      struct dcqcn_settings *new);

struct dcqcn_dev *dcqcn_dev_by_ndev(const struct net_device *ndev);
struct dcqcn_dev *dcqcn_dev_find_ndev(const struct net_device *ndev);
struct dcqcn_dev *dcqcn_dev_next(const struct net *net, u32 index);
struct dcqcn_dev *dcqcn_dev_lock(const struct net *net, const char *name);
void dcqcn_dev_unlock(void);
void dcqcn_dev_resolve(struct dcqcn_dev *dev, struct list_head *entry);
void dcqcn_dev_publish(struct dcqcn_dev *dev);
void dcqcn_dev_unpublish(struct dcqcn_dev *dev);

extern struct workqueue_struct *dcqcn_wq;
extern DECLARE_HASHTABLE(dcqcn_by_ibdev, DCQCN_TABLE_BITS);

/* Key of an RDMA device in dcqcn_by_ibdev: half of its address, which is cheaper to hash */
static inline u32 dcqcn_ibdev_key(const struct ib_device *ibdev)
{
	return (u32)(unsigned long)ibdev;
}

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

	hash_for_each_possible_rcu(dcqcn_by_ibdev, dev, ibdev_node, dcqcn_ibdev_key(ibdev)) {
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

/**
 * dcqcn_dev_hold() - add to the memory of held packets, or subtract from it
 * @dev: the port
 * @kind: in which FIFOs
 * @memory: bytes; negative for those that are no longer held
 *
 * Each CPU counts for itself, so that CPUs do not contend for a cache line with each packet.
 * dcqcn_dev_held() must follow after one or several calls.
 *
 * Context: any, with BH disabled.
 */
static inline void dcqcn_dev_hold(struct dcqcn_dev *dev, enum dcqcn_fifo_kind kind, int memory)
{
	this_cpu_add(dev->counters->held_memory[kind], memory);
}

/**
 * dcqcn_dev_held() - pass on what this CPU has counted, if it is more than DCQCN_HELD_BATCH
 * @dev: the port
 * @kind: in which FIFOs
 *
 * Context: any, with BH disabled. Return: bytes of memory of the packets that the port holds,
 * except up to a batch per CPU.
 */
static inline long dcqcn_dev_held(struct dcqcn_dev *dev, enum dcqcn_fifo_kind kind)
{
	int here = this_cpu_read(dev->counters->held_memory[kind]);

	if (unlikely(here > DCQCN_HELD_BATCH || here < -DCQCN_HELD_BATCH)) {
		this_cpu_sub(dev->counters->held_memory[kind], here);
		atomic_long_add(here, &dev->pacing.held_memory[kind]);
	}
	return atomic_long_read(&dev->pacing.held_memory[kind]);
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
