/* SPDX-License-Identifier: GPL-2.0 */
/* What the module sends by itself. See xmit.c. */
#ifndef DCQCN_XMIT_H
#define DCQCN_XMIT_H

#include <linux/atomic.h>

struct dcqcn_cnp_spec;
struct dcqcn_feedback;
struct dcqcn_settings;
struct net;

bool dcqcn_xmit_charge(atomic64_t *account);
int dcqcn_xmit(struct net *net, int ifindex,
	       const struct dcqcn_settings *settings, struct dcqcn_cnp_spec *spec,
	       const struct dcqcn_feedback *feedback);

#endif /* DCQCN_XMIT_H */
