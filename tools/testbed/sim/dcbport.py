# SPDX-License-Identifier: GPL-2.0
"""Switches and hosts with ports of the module dcbport: their setup and their counters.

A host's port also emulates the wire to the switch, and a switch's port the wire back.
"""

import glob
import json
import os

from .uml import PYTHON

QUEUE = "ffffffff"      # the root, for qsample
STATS = "ports."        # names of the files with counters
PRIOS = range(8)
UNBOUNDED = 1 << 40     # bytes; more than all classes of all ports hold


def used(run):
    return any(s.port == "dcbport" for s in run.switches.values())


def _set(netns, binaries, device, words):
    return "ip netns exec %s %s/dcqcn port set dev %s %s" % (netns, binaries, device, words)


def _link(link):
    return "rate %dbit delay %dns overhead %dB" % (link.rate, link.delay, link.overhead)


def _pfc(switch):
    return "pfc " + (",".join(map(str, switch.pfc)) or "none")


def switch(switch, binaries):
    """Shell commands to run once the namespace exists."""
    lossy = switch.buffer if switch.shared else UNBOUNDED
    return ["ip netns exec %s %s/dcqcn port switch new %s size %dB lossy %dB alpha %g" %
            (switch.name, binaries, switch.name, switch.buffer, lossy, switch.alpha)]


def port(device, link, switch, binaries):
    """Shell commands that make a device of a switch a port of it."""
    words = [_link(link), _pfc(switch),
             "action %s detect %dns restore %dns" %
             (switch.watchdog, switch.detect, switch.restore)]
    if switch.pfc:
        words.append("xoff %dB xon %dB headroom %dB reserve %dB" %
                     (switch.xoff, switch.xon, switch.headroom, switch.reserve))
    words.append("switch %s" % switch.name)
    if switch.stamp:
        words.append("stamp on")
    for prio, own in switch.classes.items():
        words.append("prio %d weight %d limit %dB kmin %dB kmax %dB pmax %.9f flows_min %d "
                     "flows_max %d" %
                     (prio, own.weight, switch.buffer, own.curve.kmin, own.curve.kmax,
                      own.curve.pmax, switch.flows_min, switch.flows_max))
    return ["tc -n %s qdisc add dev %s root dcbport" % (switch.name, device),
            _set(switch.name, binaries, device, " ".join(words))]


def host(host, switch, binaries):
    """Shell commands that make a host's device a port, without marks and without a watchdog: rxe
    ends a QP if the host itself drops its packets."""
    words = [_link(host.link), _pfc(switch), "action off"]
    words += ["prio %d weight %d limit 1GB kmin 0 kmax 0" % (prio, own.weight)
              for prio, own in switch.classes.items()]
    return ["tc -n %s qdisc add dev eth0 root dcbport" % host.name,
            _set(host.name, binaries, "eth0", " ".join(words))]


def change(netns, device, rate, binaries):
    """The command that changes the rate of a port."""
    return _set(netns, binaries, device, "rate %dbit" % rate)


def pausable(run):
    """Ports that PFC frames reach: {name: (namespace, device, link)}. The name is that of the host
    or, for a switch's port, that of its queue."""
    out = {h.name: (h.name, "eth0", h.link) for h in run.hosts.values()}
    out.update(("%s.%s" % (h.switch, h.name), (h.switch, h.name, h.link))
               for h in run.hosts.values())
    for trunk in run.trunks:
        for here, device in (end for cable in trunk.ports() for end in cable):
            out["%s.%s" % (here, device)] = here, device, trunk.link
    return out


def pauses(run):
    """Return true if there can be PFC frames."""
    return bool(run.storms) or any(s.pfc for s in run.switches.values())


def listen(run):
    """Shell commands that record PFC frames, in the background."""
    if not pauses(run):
        return ""
    return "%sframes.py %s >frames.csv &\nframes=$!" % (PYTHON, " ".join(
        "%s:%s:%s" % (name, netns, device) for name, (netns, device, _) in pausable(run).items()))


def storms(run):
    """Shell commands that make PFC storms, in the background."""
    return "\n".join("ip netns exec %s %sstorm.py eth0 %d %d %d %d &" %
                     (s.host, PYTHON, s.prio, s.begin, s.end, run.hosts[s.host].link.rate)
                     for s in run.storms)


def record(run, binaries):
    """Shell commands that save all counters."""
    if not used(run):
        return []
    return ["ip netns exec %s %s/dcqcn -j port stat >%s%s" % (n, binaries, STATS, n)
            for n in [*run.switches, *run.hosts]]


def release(run, binaries):
    """Shell commands that end the pauses of hosts; switches may stay paused for ever."""
    return [_set(h.name, binaries, "eth0", "pfc none") for h in run.hosts.values()
            if run.switches[h.switch].pfc]


def _sum(ports, form, prios=PRIOS):
    return sum(p.get(form % prio, 0) for p in ports for prio in prios)


def _most(ports, form):
    return max(p[form % prio] for p in ports for prio in PRIOS)


def _lost(ports, prios=PRIOS):
    return sum(_sum(ports, "tx_prio%d_drop_" + why, prios)
               for why in ("limit", "buffer", "storm", "memory", "reset", "wred")) + _sum(
        ports, "rx_prio%d_drop_storm", prios)


# paused_share is calculated in pauses.py
FIGURES = ("pfc_frames", "pfc_received", "paused_share", "ingress_max", "headroom_max",
           "port_drops", "held_packets", "unaccounted", "storms", "restores")


def known(run):
    """Names of these figures, as in figures.known()."""
    return {**dict.fromkeys(FIGURES, 0),
            **{"prio%d" % prio: dict.fromkeys(("pfc_frames", "marked", "drops"), 0)
               for prio in PRIOS}} if used(run) else {}


def figures(run, out):
    """Figures from the counters, over the whole run."""
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
    lost = _lost(everybody)
    return {
        "pfc_frames": _sum(switches, "tx_prio%d_pause") + _sum(switches, "tx_prio%d_resume"),
        "pfc_received": sum(_sum(stats[n], "rx_prio%d_pause") + _sum(stats[n], "rx_prio%d_resume")
                            for n in run.hosts),
        "ingress_max": _most(switches, "rx_prio%d_buffer_bytes_max"),
        "headroom_max": _most(switches, "rx_prio%d_headroom_bytes_max"),
        "port_drops": lost,
        "held_packets": held,
        "unaccounted": came - left - held - lost,
        "storms": _sum(everybody, "tx_prio%d_storms"),
        "restores": _sum(everybody, "tx_prio%d_restores"),
        **{"prio%d" % prio: {
            "pfc_frames": _sum(switches, "tx_prio%d_pause", [prio]) +
                          _sum(switches, "tx_prio%d_resume", [prio]),
            "marked": _sum(switches, "tx_prio%d_marked", [prio]),
            "drops": _lost(everybody, [prio]),
        } for prio in PRIOS},
    }
