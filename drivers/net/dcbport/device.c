// SPDX-License-Identifier: GPL-2.0
/*
 * Which devices can be ports. A pause is between the two ends of one link: a device that stands
 * for several links, or lies on another device, would send its pauses to the wrong ones.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

#include "device.h"

static const struct {
	const char *kind;	/* as in ip link show type */
	bool pfc;		/* refused only with PFC */
	const char *why;
} refused[] = {
	{ "bridge", false, "a bridge is not a link: make its ports dcbport" },
	{ "bond", false, "a bond has several links: make its members dcbport" },
	{ "team", false, "a team has several links: make its members dcbport" },
	{ "vrf", false, "a VRF is not a link: make its members dcbport" },
	{ "hsr", false, "HSR and PRP have several links: make their members dcbport" },
	{ "batadv", false, "a mesh has several links: make its members dcbport" },
	{ "vlan", true, "PFC frames have no VLAN tag: set PFC at the device below" },
	{ "macvlan", true, "PFC is for the whole link: set it at the device below" },
	{ "macvtap", true, "PFC is for the whole link: set it at the device below" },
	{ "ipvlan", true, "PFC is for the whole link: set it at the device below" },
	{ "ipvtap", true, "PFC is for the whole link: set it at the device below" },
	{ "vxlan", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "geneve", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "gretap", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "ip6gretap", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "erspan", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "ip6erspan", true, "a tunnel cannot be paused: set PFC at the device below" },
	{ "ifb", true, "an IFB has no link: set PFC at the device whose packets it gets" },
};

/**
 * dcbport_device_refuse() - find a reason why a device cannot be a port
 * @dev: the device
 * @pfc: with PFC
 *
 * Return: the reason, or NULL.
 */
const char *dcbport_device_refuse(const struct net_device *dev, bool pfc)
{
	unsigned int i;

	if (dev->type != ARPHRD_ETHER)
		return "dcbport needs an Ethernet device";
	if (!dev->rtnl_link_ops)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i].pfc <= pfc &&
		    !strcmp(dev->rtnl_link_ops->kind, refused[i].kind))
			return refused[i].why;
	}
	return NULL;
}
