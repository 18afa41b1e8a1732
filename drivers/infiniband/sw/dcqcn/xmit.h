/* SPDX-License-Identifier: GPL-2.0 */
/* Sends the module's own packets. See xmit.c. */
#ifndef DCQCN_XMIT_H
#define DCQCN_XMIT_H

#include <linux/atomic.h>
#include <linux/time64.h>

struct dcqcn_cnp_spec;
struct dcqcn_feedback;
struct dcqcn_settings;
struct net;

/* ns; cost of a CNP or feedback: a million of each per second */
#define DCQCN_XMIT_GAP_NS	1000U
/* ns; maximum unused budget that a port saves up, which covers the start of an incast */
#define DCQCN_XMIT_BURST_NS	(10 * NSEC_PER_MSEC)

bool dcqcn_xmit_charge(atomic64_t *account, s64 gap);
int dcqcn_xmit(struct net *net, int ifindex,
	       const struct dcqcn_settings *settings, struct dcqcn_cnp_spec *spec,
	       const struct dcqcn_feedback *feedback);

#endif /* DCQCN_XMIT_H */
