// SPDX-License-Identifier: GPL-2.0
/*
 * PFC frames that a port sends. A frame is made when the port next sends, from the state at that
 * time; code that changes the state only wakes the port.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <net/pkt_sched.h>

#include "class.h"
#include "pfc.h"
#include "tell.h"

/* ns; between two attempts to allocate a PFC frame */
#define RETRY		(10 * NSEC_PER_USEC)

static struct sk_buff *pfc_frame(struct dcbport *port,
				 const struct dcbport_pfc *pfc)
{
	unsigned int room = LL_RESERVED_SPACE(port->dev);	/* it may change */
	struct sk_buff *skb = alloc_skb(room + DCBPORT_PFC_LEN, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	dcbport_pfc_build(skb_put(skb, DCBPORT_PFC_LEN), port->dev->dev_addr,
			  pfc);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->dev = port->dev;
	skb->protocol = htons(DCBPORT_PFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	qdisc_skb_cb(skb)->pkt_len = DCBPORT_PFC_LEN;
	dcbport_cb(skb)->holding = NULL;
	dcbport_cb(skb)->control = true;
	return skb;
}

/* ns; half as long as the pauses that this port asks for */
static u64 refresh_interval(const struct dcbport *port)
{
	return dcbport_pfc_nsec(DCBPORT_PFC_MAX, dcbport_rate(&port->settings)) / 2;
}

static void count_frame(struct dcbport *port, const struct dcbport_pfc *pfc)
{
	u8 prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (!(pfc->enable & 1 << prio))
			continue;
		if (pfc->quanta[prio])
			port->class[prio].count.pauses++;
		else
			port->class[prio].count.resumes++;
	}
}

/**
 * dcbport_tell() - make a frame that tells the other end what to pause
 * @port: the port
 * @want: see dcbport_wants()
 * @now: ns
 *
 * Return: the frame, or NULL if the other end has been told already, or no memory is left.
 */
struct sk_buff *dcbport_tell(struct dcbport *port, u8 want, u64 now)
{
	struct dcbport_pfc pfc;
	struct sk_buff *skb;
	u8 prio;

	if (want == port->told && now < port->tell_again)
		return NULL;
	pfc.enable = want | port->told;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		pfc.quanta[prio] = want & 1 << prio ? DCBPORT_PFC_MAX : 0;
	skb = pfc_frame(port, &pfc);
	if (!skb) {
		port->frame_errors++;
		port->tell_again = now + RETRY;
		return NULL;
	}
	count_frame(port, &pfc);
	port->told = want;
	port->tell_again = now + refresh_interval(port);
	return skb;
}

/**
 * dcbport_tell_lost() - note that a frame of dcbport_tell() does not arrive
 * @port: the port; the other end may still pause what the frame should have resumed
 * @skb: the frame
 */
void dcbport_tell_lost(struct dcbport *port, const struct sk_buff *skb)
{
	struct dcbport_pfc pfc;

	if (dcbport_pfc_parse(skb->data + ETH_HLEN, skb->len - ETH_HLEN, &pfc))
		port->told |= pfc.enable;
}

/**
 * dcbport_take_back() - end all pauses that a port asked for
 * @port: the port, which is being removed: its pauses must not last until they expire
 */
void dcbport_take_back(struct dcbport *port)
{
	const struct dcbport_pfc pfc = { .enable = port->told };
	struct sk_buff *skb;

	if (!port->told)
		return;
	skb = pfc_frame(port, &pfc);
	if (!skb)
		return;
	local_bh_disable();
	dev_direct_xmit(skb, 0);
	local_bh_enable();
}
