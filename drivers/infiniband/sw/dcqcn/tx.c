// SPDX-License-Identifier: GPL-2.0
/*
 * LOCAL_OUT: finds the packets that rxe sends and their QPs, and passes them to the pacer if
 * needed.
 *
 * The fast path finds port and QP, and sets ECT(0) in data, so that switches mark packets
 * instead of dropping them. Almost all packets then leave: no port has met congestion, or
 * their QP has no limiter and has sent in this jiffy. The others are described once, in
 * struct dcqcn_tx, and go to the pacer if their QP is limited.
 *
 * The hook runs where rxe sends: in process context with BH enabled, or in softirq. It is the last
 * hook, because a packet that it steals continues behind all hooks.
 */
#include <linux/bits.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/dsfield.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "ccc.h"
#include "device.h"
#include "gate.h"
#include "limiter.h"
#include "packet.h"
#include "qp.h"
#include "tx.h"

/* rxe's packets are recognised by their destructor, which is learnt from the first of them: it lies
 * in rxe's module or, if rxe is built in, has a name of rxe's. While there are no hooks, both are
 * unknown, and no packet is taken for rxe's.
 *
 * Where the user data of rxe's sockets is the QP's index instead of its address (kernels 6.10 to
 * 6.16), the destructor is kept in @dcqcn_index_destructor. @dcqcn_rxe_destructor stays unknown
 * there, so that the fast path of other kernels need not distinguish the two. No packet has the
 * value that stands for unknown, so that a packet of rxe is recognised by one comparison.
 */
#define DCQCN_TX_UNKNOWN	((void (*)(struct sk_buff *))1L)
static void (*dcqcn_rxe_destructor)(struct sk_buff *skb) __read_mostly = DCQCN_TX_UNKNOWN;
static void (*dcqcn_index_destructor)(struct sk_buff *skb) __read_mostly;
static const struct module *dcqcn_rxe_module __read_mostly;
static bool dcqcn_rxe_builtin __read_mostly;

/**
 * dcqcn_tx_know_rxe() - let packets of rxe be recognised
 * @owner: rxe's module, NULL if rxe is built in
 *
 * Context: process; one at a time, before the first hook is registered.
 */
void dcqcn_tx_know_rxe(const struct module *owner)
{
	WRITE_ONCE(dcqcn_rxe_builtin, !owner);
	WRITE_ONCE(dcqcn_rxe_module, owner);
}

/**
 * dcqcn_tx_forget_rxe() - recognise no packet as rxe's any more
 *
 * Called before rxe's module is freed, as another module may be loaded to its address.
 *
 * Context: process; may sleep; one at a time, after the last hook was unregistered.
 */
void dcqcn_tx_forget_rxe(void)
{
	synchronize_net();
	WRITE_ONCE(dcqcn_rxe_module, NULL);
	WRITE_ONCE(dcqcn_rxe_builtin, false);
	WRITE_ONCE(dcqcn_rxe_destructor, DCQCN_TX_UNKNOWN);
	WRITE_ONCE(dcqcn_index_destructor, NULL);
}

/* Find the headers of a packet that rxe sends. Return false if it is no longer RoCEv2: IPsec sends
 * the transformed packet.
 */
static __always_inline bool dcqcn_tx_headers(struct dcqcn_headers *headers,
					     const struct sk_buff *skb, bool v6)
{
	const void *ip = skb_network_header(skb);

	return dcqcn_headers_find(headers, ip, skb_headlen(skb), v6) &&
	       dcqcn_ip_is_udp(ip, v6) && dcqcn_headers_are_to_roce(headers);
}

/*
 * Return true if a packet is rxe's, with rxe built in. The kernel's text has other
 * destructors too, and skb->sk need not be a full socket: a SYN-ACK carries a
 * request_sock, which is shorter than the offset of a socket's user data. So do the
 * cheap checks first, then compare the destructor's name.
 */
static bool dcqcn_tx_is_builtin_rxe(const struct sk_buff *skb, bool v6)
{
	char name[sizeof("rxe_")];
	struct dcqcn_headers headers;

	if (!sk_fullsock(skb->sk) || skb->sk->sk_protocol != IPPROTO_UDP ||
	    skb->destructor == sock_wfree || skb->destructor == sock_efree ||
	    !dcqcn_tx_headers(&headers, skb, v6))
		return false;
	snprintf(name, sizeof(name), "%ps", skb->destructor);
	return !strcmp(name, "rxe_");
}

/* Return true if a packet with an unknown destructor is rxe's */
static bool dcqcn_tx_is_rxe(const struct sk_buff *skb, bool v6)
{
	const struct module *owner = READ_ONCE(dcqcn_rxe_module);

	if (!skb->destructor || !skb->sk)
		return false;
	if (owner)
		return within_module_mem_type((unsigned long)skb->destructor,
					      owner, MOD_TEXT);
	return READ_ONCE(dcqcn_rxe_builtin) && dcqcn_tx_is_builtin_rxe(skb, v6);
}

/* Describe a packet in its control block, once it is clear that the fast path does not suffice. The
 * IP layer uses no more of it than dcqcn_tx.ip.
 */
static __always_inline struct dcqcn_tx *
dcqcn_tx_describe(const struct dcqcn_settings *settings, struct sk_buff *skb,
		  const struct dcqcn_bth *bth, enum dcqcn_pkt_kind kind, u8 tos)
{
	struct dcqcn_tx *tx = dcqcn_tx_of(skb);

	tx->bth = bth;
	tx->packet = (struct dcqcn_packet) {
		.psn = dcqcn_bth_psn(bth),
		.bytes = skb->len + ETH_HLEN,
		.kind = kind,
		.opcode = bth->opcode,
		.ack_req = dcqcn_bth_requests_ack(bth),
	};
	tx->prio = tos >> 5;
	tx->limit = settings->rp_enable >> (tos >> 5) & 1;
	return tx;
}

/* Compare a packet with the entry of its QP, which is created if there is none. A flow may start
 * with the packet. Return the entry, or NULL.
 */
static noinline struct dcqcn_qp *
dcqcn_tx_confirm(struct dcqcn_dev *dev, u32 qpn, struct dcqcn_qp *qp,
		 const struct dcqcn_tx *tx)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	bool begins = true, acks;

	if (tx->packet.kind == DCQCN_PKT_OTHER)
		return NULL;
	if (qp)
		begins = dcqcn_qp_confirm(qp, tx);
	else if (tx->limit && (tx->packet.kind == DCQCN_PKT_REQUEST ||
			       tx->packet.kind == DCQCN_PKT_RESPONSE))
		qp = dcqcn_qp_begin(dev, qpn, tx);
	if (!qp || tx->packet.kind == DCQCN_PKT_ACK || !tx->limit ||
	    !dcqcn_settings_limits(settings))
		return qp;
	acks = dcqcn_bth_may_request_ack(tx->bth);
	if (dcqcn_limiter_watch(qp, tx->bth) || begins)
		dcqcn_limiter_start(qp, settings, acks);
	else if (settings->plugs && acks && !READ_ONCE(qp->limited))
		dcqcn_limiter_plug(qp, settings, acks);
	return qp;
}

/* Handle a packet of a QP without an entry, or one that may change the entry. Out of line, because
 * almost no packet comes here.
 */
static noinline unsigned int
dcqcn_tx_first(struct dcqcn_dev *dev, struct sk_buff *skb, u32 qpn,
	       const struct dcqcn_bth *bth, u8 tos)
{
	struct dcqcn_tx *tx = dcqcn_tx_describe(rcu_dereference(dev->settings), skb, bth,
						dcqcn_opcode_kinds[bth->opcode], tos);
	struct dcqcn_qp *qp;

	qp = dcqcn_tx_confirm(dev, qpn, dcqcn_qp_find(dev, qpn), tx);
	return qp && READ_ONCE(qp->limited) ? dcqcn_queue_output(qp, tx) :
					      NF_ACCEPT;
}

/* A request leaves without the locks of its flow and its context */
static __always_inline unsigned int dcqcn_tx_skip(struct dcqcn_qp *qp,
						  struct sk_buff *skb)
{
	dcqcn_gate_skip(&qp->flow);
	dcqcn_count(qp->dev, DCQCN_RP_PASSED);
	dcqcn_queue_send(skb);
	return NF_STOLEN;
}

/* The pacer looks at a packet. Out of line, so that one that skips the lock saves no registers. */
static noinline unsigned int
dcqcn_tx_paced(struct dcqcn_qp *qp, struct sk_buff *skb,
	       const struct dcqcn_bth *bth, enum dcqcn_pkt_kind kind, u8 tos)
{
	struct dcqcn_dev *dev = qp->dev;
	struct dcqcn_tx *tx = dcqcn_tx_describe(rcu_dereference(dev->settings), skb, bth,
						kind, tos);

	if (!dcqcn_qp_expects(qp, tx)) {
		dcqcn_tx_confirm(dev, qp->qpn, qp, tx);
		if (!READ_ONCE(qp->limited))
			return NF_ACCEPT;
	}
	return dcqcn_queue_output(qp, tx);
}

/* Handle a packet of a QP that is limited */
static __always_inline unsigned int
dcqcn_tx_limited(struct dcqcn_qp *qp, struct sk_buff *skb,
		 const struct dcqcn_bth *bth, u8 tos)
{
	enum dcqcn_pkt_kind kind = dcqcn_opcode_kinds[bth->opcode];

	if (kind == DCQCN_PKT_OTHER)
		return NF_ACCEPT;
	/* its PSN shows that it is of the same connection */
	if (kind == DCQCN_PKT_REQUEST && dcqcn_gate_may_skip(&qp->flow, skb, bth))
		return dcqcn_tx_skip(qp, skb);
	return dcqcn_tx_paced(qp, skb, bth, kind, tos);
}

/* Whether a packet of a QP that obeys a context may leave with lent bytes. The context must see the
 * first packet after a pause: bytes lent before say little then.
 */
static bool dcqcn_tx_is_lent(struct dcqcn_qp *qp, struct dcqcn_ccc *ccc,
			     struct sk_buff *skb, const struct dcqcn_bth *bth)
{
	return dcqcn_opcode_kinds[bth->opcode] == DCQCN_PKT_REQUEST &&
	       dcqcn_qp_is_active(qp) && !skb_cloned(skb) &&
	       dcqcn_gate_may_skip(&qp->flow, skb, bth) &&
	       dcqcn_ccc_passes(ccc, (struct dcqcn_bth *)bth, skb->len + ETH_HLEN);
}

/* Give a QP that sends data a context, and offer the context to the peer. Return true if the packet
 * may have to obey a limiter or a context; read without the lock, as a filter. If not, the packet
 * leaves on the path of its flow.
 */
static bool dcqcn_tx_offer(struct dcqcn_qp *qp, const struct dcqcn_settings *settings,
			   const struct dcqcn_tx *tx)
{
	const struct dcqcn_ccc *ccc;

	if (settings->ccc.algorithms && tx->limit && tx->packet.kind != DCQCN_PKT_ACK)
		dcqcn_ccc_output(qp, settings, dcqcn_tx_skb(tx), tx->prio);
	ccc = rcu_dereference(qp->ccc);
	if (READ_ONCE(qp->limited) || (ccc && READ_ONCE(ccc->tx.agreed)))
		return true;
	if (ccc && READ_ONCE(ccc->tx.entropy_changes)) {
		spin_lock_bh(&qp->lock);
		dcqcn_ccc_steer(qp, dcqcn_tx_skb(tx));
		spin_unlock_bh(&qp->lock);
	}
	return false;
}

/* Whether a QP obeys a context, and need not offer one. Read without the lock, as a filter. */
static __always_inline bool dcqcn_tx_is_windowed(const struct dcqcn_qp *qp,
						 const struct dcqcn_ccc *ccc,
						 const struct dcqcn_settings *settings)
{
	return ccc && READ_ONCE(qp->obeys) == DCQCN_OBEYS_CONTEXT &&
	       READ_ONCE(ccc->tx.agreed) == settings->ccc.algorithms;
}

/* Handle a packet that may not skip its context's lock, or that has no context */
static noinline unsigned int
dcqcn_tx_ccc_slow(struct dcqcn_dev *dev, u32 qpn, struct dcqcn_qp *qp, struct sk_buff *skb,
		  const struct dcqcn_bth *bth, u8 tos)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);
	const struct dcqcn_ccc *ccc = qp ? rcu_dereference(qp->ccc) : NULL;
	struct dcqcn_tx *tx;

	if (!qp && !dcqcn_settings_start(settings))
		return NF_ACCEPT;
	if (qp && !ccc && !READ_ONCE(qp->limited) && dcqcn_qp_is_active(qp) &&
	    dcqcn_bth_is_inside(bth))
		return NF_ACCEPT;
	tx = dcqcn_tx_describe(settings, skb, bth, dcqcn_opcode_kinds[bth->opcode], tos);
	if (dcqcn_tx_is_windowed(qp, ccc, settings) && tx->packet.kind != DCQCN_PKT_OTHER &&
	    dcqcn_qp_expects(qp, tx))
		return dcqcn_queue_output(qp, tx);
	qp = dcqcn_tx_confirm(dev, qpn, qp, tx);
	return qp && dcqcn_tx_offer(qp, settings, tx) ?
	       dcqcn_queue_output(qp, tx) : NF_ACCEPT;
}

/* Handle a packet where some port uses contexts. Most packets skip the lock. The code for all
 * others is elsewhere, so no registers need saving.
 */
static noinline unsigned int
dcqcn_tx_ccc(struct dcqcn_dev *dev, struct sk_buff *skb, u32 qpn,
	     const struct dcqcn_bth *bth, u8 tos)
{
	struct dcqcn_qp *qp = dcqcn_qp_find(dev, qpn);
	struct dcqcn_ccc *ccc = qp ? rcu_dereference(qp->ccc) : NULL;

	if (dcqcn_tx_is_windowed(qp, ccc, rcu_dereference(dev->settings)) &&
	    dcqcn_tx_is_lent(qp, ccc, skb, bth))
		return dcqcn_tx_skip(qp, skb);
	return dcqcn_tx_ccc_slow(dev, qpn, qp, skb, bth, tos);
}

/* Let switches mark a packet that is not ECT instead of dropping it */
static __always_inline void dcqcn_tx_set_ect(struct sk_buff *skb, bool v6)
{
	if (v6)
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~DCQCN_ECN_MASK,
				    DCQCN_ECN_ECT_0);
	else
		dcqcn_ipv4_set_ect0(ip_hdr(skb));
}

/* Whether to set ECT(0) in a packet */
static __always_inline bool dcqcn_tx_wants_ect(const struct dcqcn_dev *dev,
					       const struct dcqcn_headers *headers)
{
	const struct dcqcn_settings *settings = rcu_dereference(dev->settings);

	return (headers->tos & DCQCN_ECN_MASK) == DCQCN_ECN_NOT_ECT &&
	       settings->rp_enable & BIT(headers->tos >> 5) &&
	       !dcqcn_bth_is_ack(headers->bth);
}

/* Whether a packet goes to a QP for which there is congestion control */
static __always_inline bool dcqcn_tx_is_for_qp(const struct dcqcn_headers *headers)
{
	__be32 qpn = headers->bth->qpn;

	BUILD_BUG_ON(DCQCN_QPN_GSI != 1 || DCQCN_QPN_MULTICAST != DCQCN_QPN_MASK);
	return qpn & cpu_to_be32(DCQCN_QPN_MASK & ~DCQCN_QPN_GSI) &&
	       ~qpn & cpu_to_be32(DCQCN_QPN_MULTICAST);
}

/* See whether the QP of a packet has, or needs, a limiter. One without is checked once per jiffy,
 * and whenever a message begins or ends, between which it may pause.
 */
static __always_inline unsigned int
dcqcn_tx_from(struct dcqcn_dev *dev, struct sk_buff *skb, u32 qpn,
	      struct dcqcn_headers headers)
{
	struct dcqcn_qp *qp;

	if (static_branch_unlikely(&dcqcn_cccs))
		return dcqcn_tx_ccc(dev, skb, qpn, headers.bth, headers.tos);
	qp = dcqcn_qp_find(dev, qpn);
	if (!qp) {
		if (!dcqcn_settings_limits(rcu_dereference(dev->settings)))
			return NF_ACCEPT;
	} else {
		if (READ_ONCE(qp->limited))
			return dcqcn_tx_limited(qp, skb, headers.bth, headers.tos);
		if (dcqcn_qp_is_active(qp) && dcqcn_bth_is_inside(headers.bth))
			return NF_ACCEPT;
	}
	return dcqcn_tx_first(dev, skb, qpn, headers.bth, headers.tos);
}

/* Whether @out, which is not the port's device, is above it, such as a VLAN or a bond. Otherwise
 * the packet passes here twice: a VRF shows it to the hook before it leaves, and a device below the
 * port, such as that of an ipvlan, afterwards.
 */
static bool dcqcn_tx_is_above(const struct dcqcn_dev *dev, struct net_device *out)
{
	return netdev_has_upper_dev_all_rcu(dev->ndev, out) &&
	       !netif_is_l3_master(out);
}

/* Handle a packet that rxe sends from QP @qpn of port @dev through @out, as dcqcn_tx_fast() does,
 * in the rare cases. A clone whose header cannot be copied stays Not-ECT, and is counted.
 */
static noinline unsigned int
dcqcn_tx_slow(struct dcqcn_dev *dev, struct sk_buff *skb, u32 qpn,
	      struct net_device *out, bool v6)
{
	struct dcqcn_headers headers;

	if (qpn <= DCQCN_QPN_GSI || !dcqcn_tx_headers(&headers, skb, v6) ||
	    (out != dev->ndev && !dcqcn_tx_is_above(dev, out)) ||
	    !dcqcn_tx_is_for_qp(&headers))
		return NF_ACCEPT;
	if (dcqcn_tx_wants_ect(dev, &headers)) {
		if (skb_ensure_writable(skb, v6 ? sizeof(struct ipv6hdr) :
						  sizeof(struct iphdr)))
			dcqcn_count(dev, DCQCN_RP_ECT_ERRORS);
		else
			dcqcn_tx_set_ect(skb, v6);
		dcqcn_tx_headers(&headers, skb, v6);	/* its headers may have moved */
	}
	return dcqcn_tx_from(dev, skb, qpn, headers);
}

/* Inline, because every packet that rxe sends passes here. Keep few live values, so no registers
 * need saving. All calls are tail calls, and @skb is their second argument as it is the hook's, so
 * that it stays in its register.
 */
static __always_inline unsigned int
dcqcn_tx_fast(struct dcqcn_dev *dev, struct sk_buff *skb, u32 qpn,
	      const struct nf_hook_state *state, bool v6)
{
	struct dcqcn_headers headers;

	/* never QP0 or QP1 (GSI) */
	if (qpn <= DCQCN_QPN_GSI)
		return NF_ACCEPT;
	if (unlikely(state->out != dev->ndev ||
		     !dcqcn_headers_find_plain(&headers, skb_network_header(skb),
					       skb_headlen(skb), v6)))
		return dcqcn_tx_slow(dev, skb, qpn, state->out, v6);
	if (!dcqcn_ip_is_udp(skb_network_header(skb), v6) ||
	    !dcqcn_headers_are_to_roce(&headers) || !dcqcn_tx_is_for_qp(&headers))
		return NF_ACCEPT;
	if (dcqcn_tx_wants_ect(dev, &headers)) {
		if (unlikely(skb_cloned(skb)))
			return dcqcn_tx_slow(dev, skb, qpn, state->out, v6);
		dcqcn_tx_set_ect(skb, v6);
	}
	return dcqcn_tx_from(dev, skb, qpn, headers);
}

/* Find the port and the QP that send a packet of rxe: its socket's user data is the QP. A tunnel
 * sends the packet again, with rxe's destructor but from a socket of its own. Return NULL for that.
 */
static __always_inline struct dcqcn_dev *
dcqcn_tx_find_sender(const struct sk_buff *skb, const struct nf_hook_state *state,
		     u32 *qpn)
{
	const struct ib_qp *ibqp;
	struct dcqcn_dev *dev;

	if (state->sk != skb->sk)
		return NULL;
	/* The RDMA core keeps struct ib_qp at the start of rxe's QP */
	ibqp = READ_ONCE(skb->sk->sk_user_data);
	if (!ibqp)
		return NULL;
	dev = dcqcn_dev_by_ibdev(ibqp->device);
	if (dev)
		*qpn = ibqp->qp_num;
	return dev;
}

/* Handle a packet from rxe whose socket's user data is the QP's index. That is the QPN, except
 * for QP1's, whose packets go to QP1. The destructor finds rxe's device in the same way.
 */
static unsigned int dcqcn_tx_by_index(struct sk_buff *skb,
				      const struct nf_hook_state *state, bool v6)
{
	unsigned long index = (unsigned long)READ_ONCE(skb->sk->sk_user_data);
	struct dcqcn_dev *dev;

	if (state->sk != skb->sk || index > DCQCN_QPN_MASK)
		return NF_ACCEPT;
	dev = dcqcn_dev_by_ndev(skb->dev);
	return dev ? dcqcn_tx_slow(dev, skb, index, state->out, v6) : NF_ACCEPT;
}

/* Handle a packet while @dcqcn_rxe_destructor is unknown */
static noinline unsigned int
dcqcn_tx_unknown(bool v6, struct sk_buff *skb, const struct nf_hook_state *state)
{
	void (*by_index)(struct sk_buff *skb) = READ_ONCE(dcqcn_index_destructor);
	unsigned long user_data;
	struct dcqcn_dev *dev;
	u32 qpn;

	if (by_index)
		return skb->destructor == by_index ?
		       dcqcn_tx_by_index(skb, state, v6) : NF_ACCEPT;
	if (!dcqcn_tx_is_rxe(skb, v6))
		return NF_ACCEPT;
	user_data = (unsigned long)READ_ONCE(skb->sk->sk_user_data);
	if (!user_data)
		return NF_ACCEPT;
	if (user_data <= DCQCN_QPN_MASK) {
		WRITE_ONCE(dcqcn_index_destructor, skb->destructor);
		return dcqcn_tx_by_index(skb, state, v6);
	}
	WRITE_ONCE(dcqcn_rxe_destructor, skb->destructor);
	dev = dcqcn_tx_find_sender(skb, state, &qpn);
	return dev ? dcqcn_tx_slow(dev, skb, qpn, state->out, v6) : NF_ACCEPT;
}

static __always_inline unsigned int
dcqcn_local_out(struct sk_buff *skb, const struct nf_hook_state *state, bool v6)
{
	void (*destructor)(struct sk_buff *skb) = READ_ONCE(dcqcn_rxe_destructor);
	struct dcqcn_dev *dev;
	u32 qpn;

	if (skb->destructor != destructor)
		return unlikely(destructor == DCQCN_TX_UNKNOWN) ?
		       dcqcn_tx_unknown(v6, skb, state) : NF_ACCEPT;
	dev = dcqcn_tx_find_sender(skb, state, &qpn);
	return dev ? dcqcn_tx_fast(dev, skb, qpn, state, v6) : NF_ACCEPT;
}

/**
 * dcqcn_local_out4() - LOCAL_OUT of IPv4
 * @priv: unused
 * @skb: a packet
 * @state: of the hook
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_local_out4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	return dcqcn_local_out(skb, state, false);
}

/**
 * dcqcn_local_out6() - LOCAL_OUT of IPv6
 * @priv: unused
 * @skb: a packet
 * @state: of the hook
 *
 * Context: under RCU; process with BH enabled, or softirq. May send.
 * Return: a netfilter verdict, NF_ACCEPT or NF_STOLEN.
 */
unsigned int dcqcn_local_out6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	return dcqcn_local_out(skb, state, true);
}
