/* SPDX-License-Identifier: GPL-2.0 */
/* Tells the other end of the link what to pause. See tell.c. */
#ifndef DCBPORT_TELL_H
#define DCBPORT_TELL_H

#include "buffer.h"
#include "port.h"

struct sk_buff *dcbport_tell(struct dcbport *port, u8 want, u64 now);
void dcbport_tell_lost(struct dcbport *port, const struct sk_buff *skb);
void dcbport_take_back(struct dcbport *port);

/* Priorities that the other end must pause, one bit each */
static inline u8 dcbport_wants(const struct dcbport *port)
{
	/* it changes only under the qdisc's lock, which is held */
	const struct dcbport_ingress *in = rcu_dereference_raw(port->ingress);

	return in ? READ_ONCE(in->paused) & port->settings.pfc : 0;
}

#endif /* DCBPORT_TELL_H */
