# SPDX-License-Identifier: GPL-2.0
"""Switches and hosts whose ports are those of the module dcbport: how they are set
up, and what their counters say.

A host's port is the wire from the host to the switch, and a switch's the one back.
Data has priority 0, which has PFC where the switch has an xOFF.
"""

import glob
import json
import os

ROOT = "ffffffff"       # of the device, as qsample wants it
STATS = "ports."        # what the files with counters are called


def used(run):
    return any(s.port == "dcbport" for s in run.switches.values())


def _set(netns, binaries, device, words):
    return "ip netns exec %s %s/dcqcn port set dev %s %s" % (netns, binaries, device, words)


def _link(link):
    return "rate %dbit delay %dns" % (link.rate, link.delay)


def switch(switch, binaries):
    """Shell commands, once the namespace is there."""
    if switch.port != "dcbport":
        return []
    return ["ip netns exec %s %s/dcqcn port switch new %s size %dB lossy %dB alpha %g" %
            (switch.name, binaries, switch.name, switch.buffer, switch.buffer, switch.alpha)]


def port(device, link, switch, binaries):
    """Shell commands that make a device of a switch a port of it."""
    words = [_link(link)]
    if switch.xoff:
        words.append("pfc 0 xoff %dB xon %dB headroom %dB" %
                     (switch.xoff, switch.xon, switch.headroom))
    words.append("switch %s prio 0 limit %dB kmin %dB kmax %dB pmax %.9f" %
                 (switch.name, switch.buffer, switch.kmin, switch.kmax, switch.pmax))
    return ["tc -n %s qdisc add dev %s root dcbport" % (switch.name, device),
            _set(switch.name, binaries, device, " ".join(words))]


def host(host, switch, binaries):
    """The same for a host. Its marks are the switch's business, and the switch knows
    where it is: what is flooded would be charged for each port."""
    return ["bridge -n %s fdb replace %s dev %s master static" %
            (host.switch, host.mac, host.name),
            "tc -n %s qdisc add dev eth0 root dcbport" % host.name,
            _set(host.name, binaries, "eth0", "%s pfc %s prio 0 limit 1GB kmin 0 kmax 0" %
                 (_link(host.link), "0" if switch.xoff else "none"))]


def record(run, binaries):
    """Shell commands that leave all counters behind."""
    if not used(run):
        return []
    return ["ip netns exec %s %s/dcqcn -j port stat >%s%s" % (n, binaries, STATS, n)
            for n in [*run.switches, *run.hosts]]


def _sum(ports, form):
    return sum(p.get(form % prio, 0) for p in ports for prio in range(8))


def figures(run, out):
    """What the counters come to, over the whole run."""
    if not used(run):
        return {}
    stats = {}
    for path in glob.glob(os.path.join(out, STATS + "*")):
        with open(path) as f:
            stats[os.path.basename(path)[len(STATS):]] = json.load(f)
    switches = [p for n in run.switches for p in stats[n]]
    everybody = [p for ports in stats.values() for p in ports]
    came, left = _sum(everybody, "tx_prio%d_in_packets"), _sum(everybody, "tx_prio%d_packets")
    held = _sum(everybody, "tx_prio%d_queue_packets") + _sum(everybody, "tx_prio%d_wire_packets")
    lost = sum(_sum(everybody, "tx_prio%d_drop_" + why)
               for why in ("limit", "buffer", "storm", "memory", "reset"))
    senders = {f.src for f in run.flows}
    paused = [stats[n][0]["rx_prio0_pause_duration"] * 1000 / run.duration for n in senders]
    return {
        "pfc_frames": _sum(switches, "tx_prio%d_pause") + _sum(switches, "tx_prio%d_resume"),
        "pfc_received": sum(_sum(stats[n], "rx_prio%d_pause") for n in run.hosts),
        "paused_share": sum(paused) / len(paused),
        "ingress_max": max(p["rx_prio0_buffer_bytes_max"] for p in switches),
        "headroom_max": max(p["rx_prio0_headroom_bytes_max"] for p in switches),
        "port_drops": lost,
        "unaccounted": came - left - held - lost,
        "storms": _sum(everybody, "tx_prio%d_storms"),
    }
