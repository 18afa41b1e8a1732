// SPDX-License-Identifier: GPL-2.0
/*
 * The dcbport family of generic netlink, see Documentation/netlink/specs/dcbport.yaml. All
 * operations run under rtnl, so no port or switch can be removed meanwhile.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "buffer.h"
#include "dcbnl.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "origin.h"
#include "port.h"
#include "storm.h"

/* Bytes, more than a port takes in a message */
#define PORT_REPLY	16384
/* Bytes; the least size of one part of a dump: more than a port takes, but no more than the small
 * receive buffers of some programs hold. The core's default is less than a page.
 */
#define DUMP_PART	8192

/* --- showing ports -------------------------------------------------------- */

/* A snapshot of a class, for a dump */
struct class_view {
	struct dcbport_class_count count;
	struct dcbport_pause_count pause;
	u32 queue_packets;
	u32 queue_bytes;
	u32 wire_packets;
	u32 flows;
	struct dcbport_storm_count storms;
	struct dcbport_storm_count last_storm;
	bool storm;
	bool paused;
};

/* @clear: reset its watermark */
static void class_look(struct dcbport *port, u8 prio, struct class_view *view,
		       bool clear)
{
	struct dcbport_class *class = &port->class[prio];
	u64 now = ktime_get_ns();

	spin_lock_bh(qdisc_lock(port->sch));
	view->count = class->count;
	view->queue_packets = class->queue.qlen;
	view->queue_bytes = class->bytes;
	view->wire_packets = class->on_wire;
	view->storm = class->storm;
	view->flows = class->flows ? class->flows->count : 0;
	view->storms = dcbport_storm_read(port, prio, &view->last_storm);
	if (clear)
		class->count.most = class->bytes;
	spin_unlock_bh(qdisc_lock(port->sch));
	view->paused = dcbport_pause_read(&port->pause, prio, &view->pause,
					  now) > now;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, DCBPORT_A_CLASS_PAD);
}

static int put_class_profile(struct sk_buff *skb,
			     const struct dcbport_settings *s, u8 prio)
{
	const struct dcbport_thresholds *th = &s->thresholds[prio];

	return nla_put_u32(skb, DCBPORT_A_CLASS_RESERVE, th->reserve) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_XOFF, th->xoff) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_XON, th->xon) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_XON_OFFSET, th->xon_offset) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_HEADROOM, th->headroom) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_ALPHA, th->alpha);
}

static int put_class_settings(struct sk_buff *skb,
			      const struct dcbport_settings *s, u8 prio)
{
	return put_class_profile(skb, s, prio) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_SHARE, s->share[prio]) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_WRED, !!(s->wred & 1 << prio)) ||
	       put_u64(skb, DCBPORT_A_CLASS_MAXRATE, s->maxrate[prio]) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_PRIO, prio) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_TC, s->tc[prio]) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_WEIGHT, s->weight[prio]) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_LIMIT, s->limit[prio]) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_KMIN, s->curve[prio].kmin) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_KMAX, s->curve[prio].kmax) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_PMAX, s->curve[prio].pmax) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_FLOWS_MIN, s->flows[prio].min) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_FLOWS_MAX, s->flows[prio].max);
}

static int put_class_packets(struct sk_buff *skb, const struct class_view *v)
{
	const u64 *dropped = v->count.dropped;

	return put_u64(skb, DCBPORT_A_CLASS_IN_PACKETS, v->count.in_packets) ||
	       put_u64(skb, DCBPORT_A_CLASS_IN_BYTES, v->count.in_bytes) ||
	       put_u64(skb, DCBPORT_A_CLASS_OUT_PACKETS, v->count.out_packets) ||
	       put_u64(skb, DCBPORT_A_CLASS_OUT_BYTES, v->count.out_bytes) ||
	       put_u64(skb, DCBPORT_A_CLASS_MARKED, v->count.marked) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_QUEUE_PACKETS, v->queue_packets) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_QUEUE_BYTES, v->queue_bytes) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_QUEUE_BYTES_MAX, v->count.most) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_WIRE_PACKETS, v->wire_packets) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_FLOWS, v->flows) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_LIMIT,
		       dropped[DCBPORT_DROP_LIMIT]) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_BUFFER,
		       dropped[DCBPORT_DROP_BUFFER]) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_STORM,
		       dropped[DCBPORT_DROP_STORM]) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_MEMORY,
		       dropped[DCBPORT_DROP_MEMORY]) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_RESET,
		       dropped[DCBPORT_DROP_RESET]) ||
	       put_u64(skb, DCBPORT_A_CLASS_DROP_WRED,
		       dropped[DCBPORT_DROP_WRED]);
}

static int put_class_storms(struct sk_buff *skb, const struct class_view *v)
{
	const struct dcbport_storm_count *all = &v->storms, *last = &v->last_storm;

	return put_u64(skb, DCBPORT_A_CLASS_STORM_OUT, all->out) ||
	       put_u64(skb, DCBPORT_A_CLASS_STORM_IN, all->in) ||
	       put_u64(skb, DCBPORT_A_CLASS_RX_DROP_STORM, all->in_dropped) ||
	       put_u64(skb, DCBPORT_A_CLASS_LAST_STORM_OUT, last->out) ||
	       put_u64(skb, DCBPORT_A_CLASS_LAST_STORM_DROP, last->dropped) ||
	       put_u64(skb, DCBPORT_A_CLASS_LAST_STORM_IN, last->in) ||
	       put_u64(skb, DCBPORT_A_CLASS_LAST_STORM_RX_DROP, last->in_dropped);
}

static int put_class_pauses(struct sk_buff *skb, const struct class_view *v)
{
	return put_u64(skb, DCBPORT_A_CLASS_RX_PAUSE, v->pause.frames) ||
	       put_u64(skb, DCBPORT_A_CLASS_RX_RESUME, v->pause.resumes) ||
	       put_u64(skb, DCBPORT_A_CLASS_RX_PAUSE_TRANSITION,
		       v->pause.transitions) ||
	       put_u64(skb, DCBPORT_A_CLASS_RX_PAUSE_DURATION,
		       div_u64(v->pause.paused, NSEC_PER_USEC)) ||
	       put_u64(skb, DCBPORT_A_CLASS_TX_PAUSE, v->count.pauses) ||
	       put_u64(skb, DCBPORT_A_CLASS_TX_RESUME, v->count.resumes) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_PAUSED, v->paused) ||
	       nla_put_u8(skb, DCBPORT_A_CLASS_STORM, v->storm) ||
	       put_u64(skb, DCBPORT_A_CLASS_STORMS, v->count.storms) ||
	       put_u64(skb, DCBPORT_A_CLASS_RESTORES, v->count.restores);
}

static int put_class_ingress(struct sk_buff *skb,
			     const struct dcbport_account *lossy,
			     const struct dcbport_account *lossless)
{
	return nla_put_u32(skb, DCBPORT_A_CLASS_INGRESS_BYTES,
			   dcbport_account_bytes(lossless)) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_INGRESS_BYTES_MAX,
			   lossless->most) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_HEADROOM_BYTES_MAX,
			   lossless->headroom_most) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_LOSSY_BYTES,
			   dcbport_account_bytes(lossy)) ||
	       nla_put_u32(skb, DCBPORT_A_CLASS_LOSSY_BYTES_MAX, lossy->most);
}

static int put_class(struct sk_buff *skb, struct dcbport *port, u8 prio,
		     const struct dcbport_account account[2][DCBPORT_PRIOS],
		     bool clear)
{
	struct nlattr *nest = nla_nest_start(skb, DCBPORT_A_PORT_CLASS);
	struct class_view view;

	if (!nest)
		return -EMSGSIZE;
	class_look(port, prio, &view, clear);
	if (put_class_settings(skb, &port->settings, prio) ||
	    put_class_packets(skb, &view) ||
	    put_class_pauses(skb, &view) ||
	    put_class_storms(skb, &view) ||
	    (port->buffer &&
	     put_class_ingress(skb, &account[0][prio], &account[1][prio])))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_classes(struct sk_buff *skb, struct dcbport *port, bool clear)
{
	struct dcbport_ingress *in = rtnl_dereference(port->ingress);
	struct dcbport_account account[2][DCBPORT_PRIOS];
	int prio, err = 0;

	if (in)
		dcbport_buffer_accounts(in, account, clear);
	for (prio = 0; prio < DCBPORT_PRIOS && !err; prio++)
		err = put_class(skb, port, prio, account, clear);
	return err;
}

/* The port's own keys set the profiles of all priorities. They are shown only if all profiles are
 * the same.
 */
static bool same_profiles(const struct dcbport_settings *s)
{
	int prio;

	for (prio = 1; prio < DCBPORT_PRIOS; prio++) {
		if (memcmp(&s->thresholds[prio], &s->thresholds[0],
			   offsetof(struct dcbport_thresholds, alpha)))
			return false;
	}
	return true;
}

static int put_profile(struct sk_buff *skb, const struct dcbport_settings *s)
{
	const struct dcbport_thresholds *th = &s->thresholds[0];

	if (!same_profiles(s))
		return 0;
	return nla_put_u32(skb, DCBPORT_A_PORT_RESERVE, th->reserve) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_XOFF, th->xoff) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_XON, th->xon) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_XON_OFFSET, th->xon_offset) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_HEADROOM, th->headroom);
}

/* @clear: reset its watermarks */
static int put_port(struct sk_buff *skb, struct dcbport *port, bool clear)
{
	const struct dcbport_settings *s = &port->settings;
	const struct dcbport_buffer *buffer = port->buffer;

	return nla_put_u32(skb, DCBPORT_A_PORT_IFINDEX, port->dev->ifindex) ||
	       nla_put_string(skb, DCBPORT_A_PORT_IFNAME, port->dev->name) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_PORT_RATE, s->rate,
				 DCBPORT_A_PORT_PAD) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_DELAY, s->delay) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_OVERHEAD, s->overhead) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_PFC, s->pfc) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_STRICT, s->strict) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_TRUST, s->prio.trust) ||
	       nla_put_string(skb, DCBPORT_A_PORT_SWITCH,
			      buffer ? buffer->name : "") ||
	       put_profile(skb, s) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_ACTION, s->action) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_DETECT, s->detect) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_RESTORE, s->restore) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_PORT_PFC_ERRORS,
				 READ_ONCE(port->pause.errors),
				 DCBPORT_A_PORT_PAD) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_PORT_FRAME_ERRORS,
				 READ_ONCE(port->frame_errors),
				 DCBPORT_A_PORT_PAD) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_MARK, s->mark) ||
	       nla_put(skb, DCBPORT_A_PORT_DSCP, sizeof(s->prio.dscp),
		       s->prio.dscp) ||
	       nla_put(skb, DCBPORT_A_PORT_PCP, sizeof(s->prio.pcp),
		       s->prio.pcp) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_OTHER, s->prio.other) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_PORT_RX_GLOBAL_PAUSE,
				 READ_ONCE(port->pause.globals),
				 DCBPORT_A_PORT_PAD) ||
	       nla_put_u32(skb, DCBPORT_A_PORT_GRAIN,
			   READ_ONCE(port->grain.ns)) ||
	       nla_put_u8(skb, DCBPORT_A_PORT_STAMP, s->stamp) ||
	       put_classes(skb, port, clear);
}

static void *put_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &dcbport_nl_family, NLM_F_MULTI, cmd);
}

static int dump_port(struct sk_buff *skb, struct netlink_callback *cb,
		     struct dcbport *port)
{
	void *hdr = put_begin(skb, cb, DCBPORT_CMD_PORT_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (put_port(skb, port, false)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    const char *name)
{
	struct net_device *dev = __dev_get_by_name(sock_net(skb->sk), name);
	struct dcbport *port = dev ? dcbport_of(dev) : NULL;

	if (!port) {
		NL_SET_ERR_MSG(cb->extack,
			       "no such port: tc qdisc add dev DEV root dcbport makes one");
		return -ENODEV;
	}
	if (cb->args[0]++)
		return 0;
	return dump_port(skb, cb, port);
}

static int dump_all(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dcbport *port;
	int err;

	while ((port = dcbport_origin_next(sock_net(skb->sk), cb->args[0]))) {
		err = dump_port(skb, cb, port);
		if (err)
			return err;
		cb->args[0] = port->origin;
	}
	return 0;
}

/* If a message did not fit, the next part of the dump begins with it */
static int dump_end(struct sk_buff *skb, int err)
{
	return err == -EMSGSIZE && skb->len ? skb->len : err ?: skb->len;
}

int dcbport_nl_port_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = DUMP_PART;
	return 0;
}

int dcbport_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct nlattr *name =
		genl_info_dump(cb)->attrs[DCBPORT_A_PORT_IFNAME];
	int err;

	rtnl_lock();
	err = name ? dump_one(skb, cb, nla_data(name)) : dump_all(skb, cb);
	rtnl_unlock();
	return dump_end(skb, err);
}

/* --- setting ports -------------------------------------------------------- */

static void take_u8(u8 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u8(attr);
}

static void take_u32(u32 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u32(attr);
}

static void take_u64(u64 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u64(attr);
}

static bool class_settable(int attr)
{
	switch (attr) {
	case DCBPORT_A_CLASS_PRIO ... DCBPORT_A_CLASS_PMAX:
	case DCBPORT_A_CLASS_FLOWS_MIN ... DCBPORT_A_CLASS_FLOWS_MAX:
	case DCBPORT_A_CLASS_TC:
	case DCBPORT_A_CLASS_RESERVE ... DCBPORT_A_CLASS_MAXRATE:
		return true;
	default:
		return false;
	}
}

static void take_profile(struct dcbport_thresholds *th, struct nlattr **tb)
{
	take_u32(&th->reserve, tb[DCBPORT_A_CLASS_RESERVE]);
	take_u32(&th->xoff, tb[DCBPORT_A_CLASS_XOFF]);
	take_u32(&th->xon, tb[DCBPORT_A_CLASS_XON]);
	take_u32(&th->xon_offset, tb[DCBPORT_A_CLASS_XON_OFFSET]);
	take_u32(&th->headroom, tb[DCBPORT_A_CLASS_HEADROOM]);
	take_u32(&th->alpha, tb[DCBPORT_A_CLASS_ALPHA]);
}

static void take_bit(u8 *bits, u8 bit, const struct nlattr *attr)
{
	if (!attr)
		return;
	*bits &= ~(1 << bit);
	if (nla_get_u8(attr))
		*bits |= 1 << bit;
}

static int take_class(struct dcbport_settings *s, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[DCBPORT_A_CLASS_MAX + 1];
	int err, attr;
	u8 prio;

	err = nla_parse_nested(tb, DCBPORT_A_CLASS_MAX, nest,
			       dcbport_class_nl_policy, extack);
	if (err)
		return err;
	if (!tb[DCBPORT_A_CLASS_PRIO]) {
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "the priority of the class is missing");
		return -EINVAL;
	}
	for (attr = 0; attr <= DCBPORT_A_CLASS_MAX; attr++) {
		if (tb[attr] && !class_settable(attr)) {
			NL_SET_ERR_MSG_ATTR(extack, tb[attr],
					    "a counter cannot be set");
			return -EINVAL;
		}
	}
	prio = nla_get_u8(tb[DCBPORT_A_CLASS_PRIO]);
	take_profile(&s->thresholds[prio], tb);
	take_u8(&s->tc[prio], tb[DCBPORT_A_CLASS_TC]);
	take_u32(&s->share[prio], tb[DCBPORT_A_CLASS_SHARE]);
	take_bit(&s->wred, prio, tb[DCBPORT_A_CLASS_WRED]);
	take_u64(&s->maxrate[prio], tb[DCBPORT_A_CLASS_MAXRATE]);
	take_u8(&s->weight[prio], tb[DCBPORT_A_CLASS_WEIGHT]);
	take_u32(&s->limit[prio], tb[DCBPORT_A_CLASS_LIMIT]);
	take_u32(&s->curve[prio].kmin, tb[DCBPORT_A_CLASS_KMIN]);
	take_u32(&s->curve[prio].kmax, tb[DCBPORT_A_CLASS_KMAX]);
	take_u32(&s->curve[prio].pmax, tb[DCBPORT_A_CLASS_PMAX]);
	take_u32(&s->flows[prio].min, tb[DCBPORT_A_CLASS_FLOWS_MIN]);
	take_u32(&s->flows[prio].max, tb[DCBPORT_A_CLASS_FLOWS_MAX]);
	return 0;
}

static int take_classes(struct dcbport_settings *s, struct genl_info *info)
{
	const struct nlattr *attr;
	int err, rest;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(attr) != DCBPORT_A_PORT_CLASS)
			continue;
		err = take_class(s, attr, info->extack);
		if (err)
			return err;
	}
	return 0;
}

/* The profiles of all priorities */
static void take_profiles(struct dcbport_settings *s, struct nlattr **attrs)
{
	struct dcbport_thresholds *th = s->thresholds;

	for (; th < s->thresholds + DCBPORT_PRIOS; th++) {
		take_u32(&th->reserve, attrs[DCBPORT_A_PORT_RESERVE]);
		take_u32(&th->xoff, attrs[DCBPORT_A_PORT_XOFF]);
		take_u32(&th->xon, attrs[DCBPORT_A_PORT_XON]);
		take_u32(&th->xon_offset, attrs[DCBPORT_A_PORT_XON_OFFSET]);
		take_u32(&th->headroom, attrs[DCBPORT_A_PORT_HEADROOM]);
	}
}

/* The policy checks the exact length */
static void take_bytes(u8 *to, const struct nlattr *attr)
{
	if (attr)
		memcpy(to, nla_data(attr), nla_len(attr));
}

static int take_port(struct dcbport_settings *s, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	u8 action = s->action;

	take_u64(&s->rate, attrs[DCBPORT_A_PORT_RATE]);
	take_u32(&s->delay, attrs[DCBPORT_A_PORT_DELAY]);
	take_u32(&s->overhead, attrs[DCBPORT_A_PORT_OVERHEAD]);
	take_u8(&s->pfc, attrs[DCBPORT_A_PORT_PFC]);
	take_u8(&s->strict, attrs[DCBPORT_A_PORT_STRICT]);
	if (attrs[DCBPORT_A_PORT_TRUST])
		s->prio.trust = nla_get_u8(attrs[DCBPORT_A_PORT_TRUST]);
	take_profiles(s, attrs);
	if (attrs[DCBPORT_A_PORT_MARK])
		s->mark = nla_get_u8(attrs[DCBPORT_A_PORT_MARK]);
	take_bytes(s->prio.dscp, attrs[DCBPORT_A_PORT_DSCP]);
	take_bytes(s->prio.pcp, attrs[DCBPORT_A_PORT_PCP]);
	take_u8(&s->prio.other, attrs[DCBPORT_A_PORT_OTHER]);
	take_u8(&s->stamp, attrs[DCBPORT_A_PORT_STAMP]);
	take_u8(&action, attrs[DCBPORT_A_PORT_ACTION]);
	s->action = action;
	take_u32(&s->detect, attrs[DCBPORT_A_PORT_DETECT]);
	take_u32(&s->restore, attrs[DCBPORT_A_PORT_RESTORE]);
	return take_classes(s, info);
}

/* The switch that the port is put into, or NULL */
static int take_switch(const struct dcbport *port, struct genl_info *info,
		       struct dcbport_buffer **buffer)
{
	const struct nlattr *attr = info->attrs[DCBPORT_A_PORT_SWITCH];

	*buffer = port->buffer;
	if (!attr)
		return 0;
	if (!*(char *)nla_data(attr)) {
		*buffer = NULL;
		return 0;
	}
	*buffer = dcbport_buffer_find(genl_info_net(info), nla_data(attr));
	if (!*buffer) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such switch");
		return -ENOENT;
	}
	if (port->buffer && port->buffer != *buffer) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the port is in another switch: take it out first");
		return -EBUSY;
	}
	return 0;
}

/* Change everything that was asked for, or nothing */
static int change_port(struct dcbport *port, struct genl_info *info)
{
	struct dcbport_settings s = port->settings;
	struct dcbport_buffer *buffer;
	int err;

	err = take_port(&s, info);
	if (err)
		return err;
	err = take_switch(port, info, &buffer);
	if (err)
		return err;
	err = dcbport_change(port, &s, buffer, info->extack);
	if (!err)
		dcbport_dcbnl_notify(port);
	return err;
}

/* Called under rtnl; reports an error if there is no such port */
static struct dcbport *named_port(struct genl_info *info)
{
	const struct nlattr *name = info->attrs[DCBPORT_A_PORT_IFNAME];
	struct net_device *dev;
	struct dcbport *port;

	if (!name) {
		NL_SET_ERR_MSG(info->extack,
			       "the device name of the port is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_name(genl_info_net(info), nla_data(name));
	port = dev ? dcbport_of(dev) : NULL;
	if (!port) {
		NL_SET_ERR_MSG_ATTR(info->extack, name,
				    "no such port: tc qdisc add dev DEV root dcbport makes one");
		return ERR_PTR(-ENODEV);
	}
	return port;
}

int dcbport_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dcbport *port;
	int err;

	rtnl_lock();
	port = named_port(info);
	err = IS_ERR(port) ? PTR_ERR(port) : change_port(port, info);
	rtnl_unlock();
	return err;
}

/* Reply with the port's state and reset its watermarks in one step, so that no peak is lost */
static int clear_port(struct dcbport *port, struct genl_info *info)
{
	struct sk_buff *reply = nlmsg_new(PORT_REPLY, GFP_KERNEL);
	void *hdr;

	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &dcbport_nl_family, 0,
				DCBPORT_CMD_PORT_CLEAR);
	if (!hdr || put_port(reply, port, true)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

int dcbport_nl_port_clear_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dcbport *port;
	int err;

	rtnl_lock();
	port = named_port(info);
	err = IS_ERR(port) ? PTR_ERR(port) : clear_port(port, info);
	rtnl_unlock();
	return err;
}

/* --- switches ------------------------------------------------------------- */

static int put_switch(struct sk_buff *skb, struct dcbport_buffer *buffer)
{
	u64 lossy = dcbport_shared_used(&buffer->pool[0]);
	u64 used = dcbport_shared_used(&buffer->pool[1]);

	return nla_put_string(skb, DCBPORT_A_SWITCH_NAME, buffer->name) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_SWITCH_SIZE,
				 buffer->settings.size, DCBPORT_A_SWITCH_PAD) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_SWITCH_LOSSY,
				 buffer->settings.lossy, DCBPORT_A_SWITCH_PAD) ||
	       nla_put_u32(skb, DCBPORT_A_SWITCH_ALPHA,
			   buffer->settings.alpha) ||
	       nla_put_u32(skb, DCBPORT_A_SWITCH_PORTS, buffer->ports) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_SWITCH_ROOM, buffer->room,
				 DCBPORT_A_SWITCH_PAD) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_SWITCH_USED, used,
				 DCBPORT_A_SWITCH_PAD) ||
	       nla_put_u64_64bit(skb, DCBPORT_A_SWITCH_LOSSY_USED, lossy,
				 DCBPORT_A_SWITCH_PAD);
}

static int dump_switch(struct sk_buff *skb, struct netlink_callback *cb,
		       struct dcbport_buffer *buffer)
{
	void *hdr = put_begin(skb, cb, DCBPORT_CMD_SWITCH_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (put_switch(skb, buffer)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int dcbport_nl_switch_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct dcbport_buffer *buffer;
	int err = 0;

	rtnl_lock();
	while (!err && (buffer = dcbport_buffer_next(sock_net(skb->sk),
						     cb->args[0]))) {
		err = dump_switch(skb, cb, buffer);
		if (!err)
			cb->args[0]++;
	}
	rtnl_unlock();
	return dump_end(skb, err);
}

static void take_buffer(struct dcbport_buffer_settings *s,
			struct genl_info *info)
{
	take_u64(&s->size, info->attrs[DCBPORT_A_SWITCH_SIZE]);
	take_u64(&s->lossy, info->attrs[DCBPORT_A_SWITCH_LOSSY]);
	take_u32(&s->alpha, info->attrs[DCBPORT_A_SWITCH_ALPHA]);
}

/* Called under rtnl; reports an error if there is no such switch */
static struct dcbport_buffer *named_buffer(struct genl_info *info)
{
	const struct nlattr *name = info->attrs[DCBPORT_A_SWITCH_NAME];
	struct dcbport_buffer *buffer;

	if (!name) {
		NL_SET_ERR_MSG(info->extack,
			       "the name of the switch is missing");
		return NULL;
	}
	buffer = dcbport_buffer_find(genl_info_net(info), nla_data(name));
	if (!buffer)
		NL_SET_ERR_MSG_ATTR(info->extack, name, "no such switch");
	return buffer;
}

int dcbport_nl_switch_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dcbport_buffer_settings s = dcbport_buffer_defaults;
	const struct nlattr *name = info->attrs[DCBPORT_A_SWITCH_NAME];
	int err;

	take_buffer(&s, info);
	rtnl_lock();
	err = dcbport_buffer_new(genl_info_net(info),
				 name ? nla_data(name) : "", &s, info->extack);
	rtnl_unlock();
	return err;
}

int dcbport_nl_switch_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dcbport_buffer_settings s;
	struct dcbport_buffer *buffer;
	int err = -ENOENT;

	rtnl_lock();
	buffer = named_buffer(info);
	if (buffer) {
		s = buffer->settings;
		take_buffer(&s, info);
		err = dcbport_buffer_set(buffer, &s, info->extack);
	}
	rtnl_unlock();
	return err;
}

int dcbport_nl_switch_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct dcbport_buffer *buffer;
	int err = -ENOENT;

	rtnl_lock();
	buffer = named_buffer(info);
	if (buffer)
		err = dcbport_buffer_del(buffer, info->extack);
	rtnl_unlock();
	return err;
}

/**
 * dcbport_netlink_init() - register the family
 *
 * Context: process; may sleep. Return: 0 or a negative error.
 */
int dcbport_netlink_init(void)
{
	return genl_register_family(&dcbport_nl_family);
}

/**
 * dcbport_netlink_exit() - undo dcbport_netlink_init()
 *
 * Context: process; may sleep.
 */
void dcbport_netlink_exit(void)
{
	genl_unregister_family(&dcbport_nl_family);
}
