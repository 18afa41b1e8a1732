/* SPDX-License-Identifier: GPL-2.0 */
/* Before 7.0 qdiscs had no drop reasons of their own. */
#ifndef DCQCN_COMPAT_SCH_GENERIC_H
#define DCQCN_COMPAT_SCH_GENERIC_H

#include_next <net/sch_generic.h>

#ifndef DCQCN_HAVE_QDISC_DROP
#define QDISC_DROP_GENERIC	0
#define QDISC_DROP_OVERLIMIT	0
#define QDISC_DROP_CONGESTED	0
#define qdisc_drop_reason(skb, sch, to_free, reason) \
	((void)(reason), qdisc_drop(skb, sch, to_free))
#define tcf_kfree_skb_list(skb, sch, txq, dev) \
	((void)(sch), (void)(dev), \
	 kfree_skb_list_reason(skb, SKB_DROP_REASON_QDISC_DROP))
#endif

#endif /* DCQCN_COMPAT_SCH_GENERIC_H */
