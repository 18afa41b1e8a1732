// SPDX-License-Identifier: GPL-2.0
/*
 * A port's side of Data Centre Bridging netlink, by which dcb(8), lldptool and LLDP agents show and
 * set it: IEEE 802.1Qaz and 802.1Qbb. A port refuses settings that it does not support. The
 * messages have no field for a reason, so the reason goes to the kernel's log.
 *
 * The core shows APP entries from a list of its own, by ifindex alone, and devices of two
 * namespaces may have the same ifindex. So a port has its own table, and gives the core a copy when
 * the core is about to show it: the core asks for ETS just before. The core then has the entries of
 * only one port with this ifindex.
 */
#include <linux/bitops.h>
#include <linux/dcbnl.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dcbnl.h>

#include "dcbnl.h"
#include "ets.h"
#include "port.h"

#define BPS_PER_KBPS	1000
/* bit/s; the bound of a link's rate, too */
#define MAXRATE_MAX	1000000000000ULL

/* The only supported mode: an agent on this machine speaks IEEE DCBX */
#define DCBX_MODE	(DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)

static LIST_HEAD(dcbnl_ports);	/* under rtnl */

static int refuse(const struct net_device *dev, int err, const char *why)
{
	net_info_ratelimited("%s: %s\n", dev->name, why);
	return err;
}

/* Find a port and copy its settings, for the caller to change. Return NULL if its qdisc has just
 * been removed; these operations will be removed next.
 */
static struct dcbport *dcbnl_port(const struct net_device *dev,
				  struct dcbport_settings *s)
{
	struct dcbport *port = dcbport_of(dev);

	if (port)
		*s = port->settings;
	return port;
}

static int dcbnl_change(struct dcbport *port, const struct dcbport_settings *s)
{
	struct netlink_ext_ack extack = {};
	int err = dcbport_change(port, s, port->buffer, &extack);

	if (extack._msg)
		refuse(port->dev, err, extack._msg);
	return err;
}

/* --- the copy of a port's APP table --------------------------------------- */

static void app_set_copy(struct dcbport *port, struct dcb_app *app, u8 want,
			 u8 *copy)
{
	u8 prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		app->priority = prio;
		/* even if @copy has it: the core drops all entries of an ifindex when one of
		 * its devices is unregistered
		 */
		if (want & 1 << prio) {
			if (!dcb_ieee_setapp(port->dev, app))
				*copy |= 1 << prio;
		} else if (*copy & 1 << prio) {
			dcb_ieee_delapp(port->dev, app);
			*copy &= ~(1 << prio);
		}
	}
}

/* Make these the only entries that the core has of the port. The core shows the last one
 * first.
 */
static void app_copy(struct dcbport *port, const struct dcbport_prio_rules *rules)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	int i;

	for (i = DCBPORT_DSCPS - 1; i >= 0; i--) {
		app.protocol = i;
		app_set_copy(port, &app, rules->dscp[i], &port->dcbnl->copy.dscp[i]);
	}
	app.selector = DCB_APP_SEL_PCP;
	for (i = DCBPORT_PCPS - 1; i >= 0; i--) {
		app.protocol = i;
		app_set_copy(port, &app, rules->pcp[i], &port->dcbnl->copy.pcp[i]);
	}
	app.selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE;
	app.protocol = 0;
	app_set_copy(port, &app, rules->other, &port->dcbnl->copy.other);
}

static bool app_same(const struct dcbport_prio_rules *a,
		     const struct dcbport_prio_rules *b)
{
	return !memcmp(a->dscp, b->dscp, sizeof(a->dscp)) &&
	       !memcmp(a->pcp, b->pcp, sizeof(a->pcp)) && a->other == b->other;
}

/* Anybody may ask for ETS, so this must cost little while nothing changes */
static void app_show(struct dcbport *port)
{
	static const struct dcbport_prio_rules none;
	struct dcbport_dcbnl *other;

	if (port->dcbnl->shown &&
	    app_same(&port->dcbnl->copy, &port->settings.prio))
		return;
	list_for_each_entry(other, &dcbnl_ports, node) {
		if (other->port != port &&
		    other->port->dev->ifindex == port->dev->ifindex) {
			app_copy(other->port, &none);
			other->shown = false;
		}
	}
	app_copy(port, &port->settings.prio);
	port->dcbnl->shown = true;
}

/* --- weights and classes -------------------------------------------------- */

static int ets_get(struct net_device *dev, struct ieee_ets *ets)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	int tc;

	if (!port)
		return -ENODEV;
	app_show(port);
	ets->ets_cap = DCBPORT_PRIOS;
	memcpy(ets->prio_tc, s.tc, sizeof(ets->prio_tc));
	dcbport_ets_percent(s.weight, s.strict, ets->tc_tx_bw);
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		ets->tc_tsa[tc] = s.strict & 1 << tc ? IEEE_8021QAZ_TSA_STRICT :
						       IEEE_8021QAZ_TSA_ETS;
	return 0;
}

static int ets_take_classes(const struct net_device *dev,
			    const struct ieee_ets *ets,
			    struct dcbport_settings *s)
{
	int i;

	s->strict = 0;
	for (i = 0; i < DCBPORT_PRIOS; i++) {
		if (ets->prio_tc[i] >= DCBPORT_PRIOS)
			return refuse(dev, -EINVAL,
				      "traffic classes are 0 to 7");
		s->tc[i] = ets->prio_tc[i];
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_STRICT)
			s->strict |= 1 << i;
		else if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			return refuse(dev, -EOPNOTSUPP,
				      "a traffic class must be strict or ETS");
	}
	return 0;
}

/* Many switches recommend ETS with 0 % for classes without a priority */
static int ets_take_weights(const struct net_device *dev,
			    const struct ieee_ets *ets,
			    struct dcbport_settings *s)
{
	unsigned int sum = 0;
	int tc;

	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		if (s->strict & 1 << tc)
			continue;
		sum += ets->tc_tx_bw[tc];
		/* the sum of more than 100 is refused below */
		s->weight[tc] = min_t(u8, ets->tc_tx_bw[tc], 100);
	}
	if (sum && sum != 100)
		return refuse(dev, -EINVAL,
			      "the bandwidths of the ETS classes must add up to 100 %");
	return 0;
}

/* A program that changes something else repeats the percentages that it was shown. Then
 * the weights, which are more precise, must not change.
 */
static bool ets_same_weights(const struct ieee_ets *ets,
			     const struct dcbport_settings *old, u8 strict)
{
	u8 percent[DCBPORT_PRIOS];
	int tc;

	if (strict != old->strict)
		return false;
	dcbport_ets_percent(old->weight, strict, percent);
	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		if (!(strict & 1 << tc) && percent[tc] != ets->tc_tx_bw[tc])
			return false;
	}
	return true;
}

/* Ignores willingness and recommendations: only the agent needs them */
static int ets_set(struct net_device *dev, struct ieee_ets *ets)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	int err;

	if (!port)
		return -ENODEV;
	if (ets->cbs)
		return refuse(dev, -EOPNOTSUPP,
			      "a credit-based shaper is not supported");
	err = ets_take_classes(dev, ets, &s);
	if (err)
		return err;
	if (!ets_same_weights(ets, &port->settings, s.strict)) {
		err = ets_take_weights(dev, ets, &s);
		if (err)
			return err;
	}
	return dcbnl_change(port, &s);
}

/* In kbit/s. A bound below 1 kbit/s must not be shown as 0, which means that there is no bound. */
static u64 maxrate_shown(u64 rate)
{
	return DIV_ROUND_UP_ULL(rate, BPS_PER_KBPS);
}

static int maxrate_get(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct dcbport_settings s;
	int tc;

	if (!dcbnl_port(dev, &s))
		return -ENODEV;
	for (tc = 0; tc < DCBPORT_PRIOS; tc++)
		maxrate->tc_maxrate[tc] = maxrate_shown(s.maxrate[tc]);
	return 0;
}

static int maxrate_set(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	int tc;

	if (!port)
		return -ENODEV;
	for (tc = 0; tc < DCBPORT_PRIOS; tc++) {
		if (maxrate->tc_maxrate[tc] > MAXRATE_MAX / BPS_PER_KBPS)
			return refuse(dev, -ERANGE,
				      "a class's rate can be at most 1 Tbit/s");
		/* to change another class, dcb repeats what was shown, which is less precise */
		if (maxrate->tc_maxrate[tc] != maxrate_shown(s.maxrate[tc]))
			s.maxrate[tc] = maxrate->tc_maxrate[tc] * BPS_PER_KBPS;
	}
	return dcbnl_change(port, &s);
}

/* --- PFC and its buffers -------------------------------------------------- */

static int pfc_get(struct net_device *dev, struct ieee_pfc *pfc)
{
	u64 now = ktime_get_ns();
	struct dcbport_pause_count heard;
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	int prio;

	if (!port)
		return -ENODEV;
	pfc->pfc_cap = DCBPORT_PRIOS;
	pfc->pfc_en = s.pfc;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		dcbport_pause_read(&port->pause, prio, &heard, now);
		pfc->indications[prio] = heard.frames + heard.resumes;
	}
	spin_lock_bh(qdisc_lock(port->sch));
	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		pfc->requests[prio] = port->class[prio].count.pauses +
				      port->class[prio].count.resumes;
	spin_unlock_bh(qdisc_lock(port->sch));
	return 0;
}

static int pfc_set(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);

	if (!port)
		return -ENODEV;
	/* pfc->mbc, MACsec bypass, has no effect without MACsec */
	if (pfc->delay)
		return refuse(dev, -EOPNOTSUPP,
			      "PFC's delay cannot be set: set the headroom with dcqcn port set");
	s.pfc = pfc->pfc_en;
	return dcbnl_change(port, &s);
}

static int buffer_get(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	int prio;

	if (!port)
		return -ENODEV;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		buffer->prio2buffer[prio] = prio;
		buffer->buffer_size[prio] = min_t(u64, U32_MAX,
						  dcbport_settings_buffer(&s, prio));
	}
	if (port->buffer)
		buffer->total_size = min_t(u64, port->buffer->settings.size,
					   U32_MAX);
	return 0;
}

/* The part of a buffer beyond the reserve of its priority is headroom */
static int buffer_set(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct dcbport_thresholds *th;
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	u32 size;
	int prio;

	if (!port)
		return -ENODEV;
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		th = &s.thresholds[prio];
		size = buffer->buffer_size[prio];
		if (buffer->prio2buffer[prio] != prio)
			return refuse(dev, -EOPNOTSUPP,
				      "each priority has a buffer of its own, of the same number");
		if (!(s.pfc & 1 << prio)) {
			if (size)
				return refuse(dev, -EOPNOTSUPP,
					      "priorities without PFC have no buffer of their own");
			continue;
		}
		if (size < th->reserve)
			return refuse(dev, -EINVAL,
				      "a buffer is smaller than its priority's reserve");
		th->headroom = size - th->reserve;
	}
	return dcbnl_change(port, &s);
}

/* --- priorities of packets ------------------------------------------------ */

/* Find the priorities of the table's entry for @app, or NULL if it cannot have one */
static u8 *app_entry(struct dcbport_prio_rules *rules,
		     const struct dcb_app *app)
{
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP &&
	    app->protocol < DCBPORT_DSCPS)
		return &rules->dscp[app->protocol];
	if (app->selector == DCB_APP_SEL_PCP && app->protocol < DCBPORT_PCPS)
		return &rules->pcp[app->protocol];
	if (app->selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE && !app->protocol)
		return &rules->other;
	return NULL;
}

static int app_set(struct net_device *dev, struct dcb_app *app)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	u8 *entry = app_entry(&s.prio, app);

	if (!port)
		return -ENODEV;
	if (!entry)
		return refuse(dev, -EOPNOTSUPP,
			      "only APP entries for a DSCP, a PCP or the default are supported");
	if (app->priority >= DCBPORT_PRIOS)
		return refuse(dev, -EINVAL, "priorities are 0 to 7");
	if (*entry & 1 << app->priority)
		return -EEXIST;
	/* as network cards do: programs such as mlnx_qos do not delete the old one */
	if (app->selector != IEEE_8021QAZ_APP_SEL_ETHERTYPE)
		*entry = 0;
	*entry |= 1 << app->priority;
	return dcbnl_change(port, &s);
}

static int app_del(struct net_device *dev, struct dcb_app *app)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	u8 *entry = app_entry(&s.prio, app);

	if (!port)
		return -ENODEV;
	if (!entry || app->priority >= DCBPORT_PRIOS || !*entry)
		return -ENOENT;
	/* programs that replace an entry add the new one, and then delete the old one */
	if (!(*entry & 1 << app->priority))
		return app->selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE ?
		       -ENOENT : 0;
	*entry &= ~(1 << app->priority);
	return dcbnl_change(port, &s);
}

/* The selectors of each enum dcbport_trust, in their order */
static const struct {
	u8 n;
	u8 selectors[2];
} trust_orders[] __maybe_unused = {
	[DCBPORT_TRUST_NONE] = { 0 },
	[DCBPORT_TRUST_DSCP] = { 1, { IEEE_8021QAZ_APP_SEL_DSCP } },
	[DCBPORT_TRUST_PCP] = { 1, { DCB_APP_SEL_PCP } },
	[DCBPORT_TRUST_DSCP_PCP] = { 2, { IEEE_8021QAZ_APP_SEL_DSCP,
					  DCB_APP_SEL_PCP } },
	[DCBPORT_TRUST_PCP_DSCP] = { 2, { DCB_APP_SEL_PCP,
					  IEEE_8021QAZ_APP_SEL_DSCP } },
};

static int __maybe_unused trust_set(struct net_device *dev, u8 *selectors,
				    int n)
{
	struct dcbport_settings s;
	struct dcbport *port = dcbnl_port(dev, &s);
	unsigned int i;

	if (!port)
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(trust_orders); i++) {
		if (n == trust_orders[i].n &&
		    !memcmp(selectors, trust_orders[i].selectors, n)) {
			s.prio.trust = i;
			return dcbnl_change(port, &s);
		}
	}
	return refuse(dev, -EOPNOTSUPP, "only DSCP and PCP can be trusted");
}

static int __maybe_unused trust_get(struct net_device *dev, u8 *selectors,
				    int *n)
{
	struct dcbport_settings s;

	if (!dcbnl_port(dev, &s))
		return -ENODEV;
	*n = trust_orders[s.prio.trust].n;
	memcpy(selectors, trust_orders[s.prio.trust].selectors, *n);
	return 0;
}

/* Without this, the core would keep entries that have no effect */
static int __maybe_unused rewr_refuse(struct net_device *dev,
				      struct dcb_app *app)
{
	return refuse(dev, -EOPNOTSUPP, "rewriting of DSCPs is not supported");
}

/* --- DCBX ----------------------------------------------------------------- */

static u8 dcbx_get(struct net_device *dev)
{
	return DCBX_MODE;
}

/* Unlike other operations, this returns 1 for failure */
static u8 dcbx_set(struct net_device *dev, u8 mode)
{
	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		refuse(dev, 0, "no firmware manages DCBX: run an LLDP agent such as lldpad");
	else if (mode != DCBX_MODE)
		refuse(dev, 0, "only IEEE DCBX by an agent on the host is supported");
	return mode != DCBX_MODE;
}

/* For agents that speak CEE, the draft before 802.1Qaz. Without this, the core would keep
 * their entries, which have no effect.
 */
static int cee_setapp(struct net_device *dev, u8 type, u16 id, u8 prios)
{
	return refuse(dev, -EOPNOTSUPP, "CEE is not supported: use IEEE DCBX");
}

static int cee_getapp(struct net_device *dev, u8 type, u16 id)
{
	return -EOPNOTSUPP;
}

static const struct dcbnl_rtnl_ops dcbnl_ops = {
	.ieee_getets = ets_get,
	.ieee_setets = ets_set,
	.ieee_getmaxrate = maxrate_get,
	.ieee_setmaxrate = maxrate_set,
	.ieee_getpfc = pfc_get,
	.ieee_setpfc = pfc_set,
	.ieee_setapp = app_set,
	.ieee_delapp = app_del,
	.getdcbx = dcbx_get,
	.setdcbx = dcbx_set,
	.setapp = cee_setapp,
	.getapp = cee_getapp,
	.dcbnl_getbuffer = buffer_get,
	.dcbnl_setbuffer = buffer_set,
	DCBNL_APPTRUST_OPS(trust_set, trust_get)
	DCBNL_REWR_OPS(rewr_refuse, rewr_refuse)
};

/* When a port replaces another one on its device, both are listed for a moment */
static bool dcbnl_has_other(const struct net_device *dev)
{
	struct dcbport_dcbnl *dcbnl;

	list_for_each_entry(dcbnl, &dcbnl_ports, node) {
		if (dcbnl->port->dev == dev)
			return true;
	}
	return false;
}

/**
 * dcbport_dcbnl_begin() - make a port known to the core of DCB netlink
 * @port: the port; left alone if its device's driver speaks DCB itself
 *
 * Context: rtnl is held; may sleep. Return: 0 or a negative error.
 */
int dcbport_dcbnl_begin(struct dcbport *port)
{
	ASSERT_RTNL();
	if (port->dev->dcbnl_ops && port->dev->dcbnl_ops != &dcbnl_ops)
		return 0;
	port->dcbnl = kzalloc(sizeof(*port->dcbnl), GFP_KERNEL_ACCOUNT);
	if (!port->dcbnl)
		return -ENOMEM;
	port->dcbnl->port = port;
	port->dev->dcbnl_ops = &dcbnl_ops;
	list_add_tail(&port->dcbnl->node, &dcbnl_ports);
	return 0;
}

/**
 * dcbport_dcbnl_end() - undo dcbport_dcbnl_begin(), if it was done
 * @port: the port, of which the core then has no entries
 *
 * Context: rtnl is held.
 */
void dcbport_dcbnl_end(struct dcbport *port)
{
	static const struct dcbport_prio_rules none;

	if (!port->dcbnl)
		return;
	ASSERT_RTNL();
	app_copy(port, &none);
	list_del(&port->dcbnl->node);
	kfree(port->dcbnl);
	port->dcbnl = NULL;
	if (!dcbnl_has_other(port->dev))
		port->dev->dcbnl_ops = NULL;
}

/**
 * dcbport_dcbnl_forget() - note that the core has dropped all entries of an ifindex
 * @ifindex: of a device that is unregistered, in any network namespace
 *
 * Context: rtnl is held.
 */
void dcbport_dcbnl_forget(int ifindex)
{
	struct dcbport_dcbnl *dcbnl;

	list_for_each_entry(dcbnl, &dcbnl_ports, node) {
		if (dcbnl->port->dev->ifindex == ifindex)
			dcbnl->shown = false;
	}
}

/**
 * dcbport_dcbnl_notify() - notify listeners of DCB netlink that a port has changed
 * @port: the port, changed by other means than DCB netlink
 *
 * Context: rtnl is held; may sleep.
 */
void dcbport_dcbnl_notify(struct dcbport *port)
{
	if (port->dcbnl)
		dcbnl_ieee_notify(port->dev, RTM_SETDCB, DCB_CMD_IEEE_SET, 0, 0);
}
