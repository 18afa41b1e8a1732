# SPDX-License-Identifier: GPL-2.0
"""Switches and hosts whose ports are tc's qdiscs, as on a bridge without the module dcbport.

A host's egress is shaped to its link's rate by tbf. A switch's port has, from the root down:

	netem	the link's delay
	tbf	the link's rate
	prio	CNPs in band 0, everything else in band 1
	red	the queue of the congestion point

All ports of switches have netem, and those of hosts have none. netem orphans packets, and rxe takes
packets that it no longer owns for sent, which must not happen before they have left the host. So a
round trip between two hosts has the delay of each host's link once, on the way out of a switch.
"""

from .model import MTU

FRAME = MTU + 14
QUEUE = "200002"     # the marking queue's parent, prio's band 1, for qsample
QUEUE_HANDLE = 0x30  # handle of the marking queue
CNP_TOS = 0xc0       # DSCP 48
RC_ACK = 0x11       # BTH opcode
BTH_AT = 28         # behind IPv4 and UDP
SHORTEST = 100      # ns; a cable without any delay would orphan nothing
MAX_P = 1 - 2**-30  # tc puts it into 32 bits
DEEP = 1 << 30       # bytes; a host's own queue never overflows, rxe stops before


def batch(tool, netns, lines):
    """A shell command that gives lines to ip, tc or bridge."""
    return "%s -n %s -batch - <<END\n%s\nEND" % (tool, netns, "\n".join(lines))


def tbf(rate):
    """A tbf whose burst is two frames, and the bytes of a tick of tc's clock (64 ns)."""
    return "tbf rate %dbit burst %d" % (rate, 2 * FRAME + rate * 64 // 8 // 10**9)


def _netem(link, delay):
    """netem's arguments for a cable on which a packet takes this many ns."""
    out = "netem limit 1000000 delay %.3fus" % (max(delay, SHORTEST) / 1000)
    if link.reorder:
        out += " reorder %.6f%%" % (100 * link.reorder)
    if link.loss:
        out += " loss %.6f%%" % (100 * link.loss)
    if link.jitter:
        # netem's own jitter reorders. Slots do not: packets that came before the
        # next slot leave in it.
        out += " slot 0ns %dns" % (2 * link.jitter)
    return out


def _late_acks(device, link):
    """Commands that give RC's ACKs a path of their own. It has no rate, because ACKs are short."""
    return ["qdisc add dev %s root handle 2: prio bands 2 priomap %s" %
            (device, " ".join("1" * 16)),
            "filter add dev %s parent 2: protocol ip prio 1 u32 match ip protocol 17 0xff "
            "match u8 %#x 0xff at %d flowid 2:1" % (device, RC_ACK, BTH_AT),
            "qdisc add dev %s parent 2:1 %s" % (device, _netem(link, link.delay + link.ack_delay))]


def _port_rate(rate):
    """The place and settings of a switch port's tbf, after its device's name."""
    return "parent 1:1 handle 10: %s limit %d" % (tbf(rate), DEEP)


def _host_rate(rate):
    """The same for a host's port."""
    return "root handle 9: %s limit %d" % (tbf(rate), DEEP)


def switch(_switch, _binaries):
    """Shell commands to run once the namespace exists."""
    return []


def port(device, link, switch, _binaries):
    """Shell commands for a switch port's egress."""
    curve = switch.curve
    out = _late_acks(device, link) if link.ack_delay else []
    out.append("qdisc add dev %s %s handle 1: %s" %
               (device, "parent 2:2" if out else "root", _netem(link, link.delay)))
    out.append("qdisc add dev %s %s" % (device, _port_rate(link.rate)))
    out.append("qdisc add dev %s parent 10:1 handle 20: prio bands 2 priomap %s" %
               (device, " ".join("1" * 16)))
    out.append("filter add dev %s parent 20: protocol ip prio 1 u32 match ip tos %#x 0xfc "
               "flowid 20:1" % (device, CNP_TOS))
    # These numbers make RED's average as short as it can be, also after idle times
    out.append("qdisc add dev %s parent 20:2 handle %x: red limit %d min %d max %d avpkt 1000 "
               "burst %d bandwidth 4gbit probability %.9f ecn nodrop" %
               (device, QUEUE_HANDLE, switch.buffer, curve.kmin, curve.kmax,
                curve.kmin // 1000 + 1, min(curve.pmax, MAX_P)))
    return [batch("tc", switch.name, out)]


def host(host, _switch, _binaries):
    """Shell commands for a host's egress."""
    return [batch("tc", host.name, ["qdisc add dev eth0 %s" % _host_rate(host.link.rate)])]


def change(netns, device, rate, _binaries):
    """The command that changes the rate of a port; eth0 is a host's."""
    return "tc -n %s qdisc change dev %s %s" % (
        netns, device, _host_rate(rate) if device == "eth0" else _port_rate(rate))
