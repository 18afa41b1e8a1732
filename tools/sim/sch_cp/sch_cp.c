// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN's congestion point, exactly as in the paper: a FIFO that marks ECT packets with
 * the probability that the paper's curve gives for the queue at that moment.
 *
 *	p = 0					q <= Kmin
 *	    Pmax * (q - Kmin) / (Kmax - Kmin)	Kmin < q <= Kmax
 *	    1					q > Kmax
 *
 *   Zhu et al., SIGCOMM 2015, section 3.1, figure 5
 *
 * RED averages the queue and spaces its marks evenly, which about doubles the
 * share of marked packets at small probabilities. This qdisc draws for each packet
 * separately.
 *
 * It takes RED's place in the simulator's kernel: same name, same netlink
 * attributes, same statistics, so tc configures and shows it:
 *
 *	tc qdisc add ... red limit L min KMIN max KMAX probability PMAX ecn nodrop
 *
 * The options that shape RED's average are accepted and have no effect. Packets
 * that are not ECT are never marked, and dropped only at the limit ("nodrop").
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

/**
 * struct cp_sched_data - one marking queue
 * @limit: bytes; what does not fit is lost
 * @kmin: bytes
 * @kmax: bytes; not below @kmin
 * @pmax: in units of 2^-32
 * @stats: as RED counts them
 */
struct cp_sched_data {
	u32 limit;
	u32 kmin;
	u32 kmax;
	u32 pmax;
	struct tc_red_xstats stats;
};

static bool cp_marks(const struct cp_sched_data *cp, u32 queue)
{
	if (queue <= cp->kmin)
		return false;
	if (queue > cp->kmax)
		return true;
	/* pmax and the difference are below 2^32 each */
	return get_random_u32() < div_u64((u64)cp->pmax * (queue - cp->kmin),
					  cp->kmax - cp->kmin);
}

static int cp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		      struct sk_buff **to_free)
{
	struct cp_sched_data *cp = qdisc_priv(sch);
	u32 queue = sch->qstats.backlog;

	if (queue + qdisc_pkt_len(skb) > cp->limit) {
		cp->stats.pdrop++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (cp_marks(cp, queue)) {
		qdisc_qstats_overlimit(sch);
		cp->stats.marked += INET_ECN_set_ce(skb);
	}
	return qdisc_enqueue_tail(skb, sch);
}

static const struct nla_policy cp_policy[TCA_RED_MAX + 1] = {
	[TCA_RED_PARMS] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_red_qopt)),
	[TCA_RED_STAB] = { .type = NLA_BINARY },
	[TCA_RED_MAX_P] = { .type = NLA_U32 },
	[TCA_RED_FLAGS] = NLA_POLICY_BITFIELD32(TC_RED_HISTORIC_FLAGS |
						  TC_RED_NODROP),
};

static int cp_change(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct cp_sched_data *cp = qdisc_priv(sch);
	struct nlattr *tb[TCA_RED_MAX + 1];
	const struct tc_red_qopt *parms;
	int err;

	if (!opt) {
		NL_SET_ERR_MSG(extack, "Kmin, Kmax and Pmax are required");
		return -EINVAL;
	}
	err = nla_parse_nested_deprecated(tb, TCA_RED_MAX, opt, cp_policy,
					  extack);
	if (err)
		return err;
	if (!tb[TCA_RED_PARMS] || !tb[TCA_RED_MAX_P]) {
		NL_SET_ERR_MSG(extack, "Kmin, Kmax or Pmax is missing");
		return -EINVAL;
	}
	parms = nla_data(tb[TCA_RED_PARMS]);
	if (parms->qth_min > parms->qth_max) {
		NL_SET_ERR_MSG(extack, "Kmin is above Kmax");
		return -EINVAL;
	}

	sch_tree_lock(sch);
	cp->limit = parms->limit;
	cp->kmin = parms->qth_min;
	cp->kmax = parms->qth_max;
	cp->pmax = nla_get_u32(tb[TCA_RED_MAX_P]);
	sch_tree_unlock(sch);
	return 0;
}

static int cp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct cp_sched_data *cp = qdisc_priv(sch);
	const struct tc_red_qopt parms = {
		.limit = cp->limit,
		.qth_min = cp->kmin,
		.qth_max = cp->kmax,
		.flags = TC_RED_ECN,
	};
	struct nlattr *opts = nla_nest_start_noflag(skb, TCA_OPTIONS);

	if (!opts ||
	    nla_put(skb, TCA_RED_PARMS, sizeof(parms), &parms) ||
	    nla_put_u32(skb, TCA_RED_MAX_P, cp->pmax)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int cp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct cp_sched_data *cp = qdisc_priv(sch);

	return gnet_stats_copy_app(d, &cp->stats, sizeof(cp->stats));
}

static struct Qdisc_ops cp_qdisc_ops __read_mostly = {
	.id = "red",
	.priv_size = sizeof(struct cp_sched_data),
	.enqueue = cp_enqueue,
	.dequeue = qdisc_dequeue_head,
	.peek = qdisc_peek_head,
	.init = cp_change,
	.reset = qdisc_reset_queue,
	.change = cp_change,
	.dump = cp_dump,
	.dump_stats = cp_dump_stats,
	.owner = THIS_MODULE,
};

static int __init cp_module_init(void)
{
	return register_qdisc(&cp_qdisc_ops);
}

static void __exit cp_module_exit(void)
{
	unregister_qdisc(&cp_qdisc_ops);
}

module_init(cp_module_init);
module_exit(cp_module_exit);
MODULE_DESCRIPTION("DCQCN congestion point, marking exactly by the instantaneous queue");
MODULE_LICENSE("GPL");
