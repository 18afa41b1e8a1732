# SPDX-License-Identifier: GPL-2.0
"""Commands for the running lab."""

import re
import shlex
import signal
import subprocess
import time

from ..core.errors import InputError
from ..core.scenario import PROFILES, Table, check_knobs
from ..core.units import quantity
from .experiment import fabric_tables
from .guest import die_with_parent
from .network import SETTER, SHOWER
from .topology import MARKING, PAUSING, Link, Switch, Topology

MARKS = (*MARKING, *PAUSING, "rate", "delay")       # keys of a switch
SIZES = ("kmin", "kmax", "buffer", "xoff", "xon", "headroom")

LINK_KEYS = ("rate", "delay")
SWITCH_KEYS = ("port", "kmin", "kmax", "pmax", "buffer", "cnp", "pfc", "xoff", "xon", "headroom")
DCBX_PFC = "3"      # the priority that neighbours agree on by default


def changed_tables(fabric, hosts, port, changes):
    """A fabric's tables, changed: hosts is another number of hosts at one switch, and changes has
    other values of LINK_KEYS, SWITCH_KEYS, profile and dcbx. None changes nothing. port: the kind
    of ports unless the fabric or the values say otherwise."""
    tables = fabric_tables(fabric)
    if changes.get("dcbx"):
        tables["dcbx"] = "on"
    if hosts is not None:
        tables["host"], tables["trunk"] = [], []
        tables["hosts"] = hosts
    if changes.get("profile"):
        tables["profile"] = changes["profile"]
    # remove these keys from single hosts and trunks
    changed = [k for k in (*LINK_KEYS, "profile") if changes.get(k) is not None]
    for section in "host", "trunk":
        tables[section] = [{k: v for k, v in t.rest.items() if k not in changed}
                           for t in Table(fabric, tables).tables(section, [])]
    for section, keys in (("link", LINK_KEYS), ("switch", SWITCH_KEYS)):
        table = Table(fabric, tables).take(section, dict)
        parts = [v for v in table.values() if isinstance(v, dict)] or [table]
        if section == "switch" and hosts is not None:
            tables["switch"], parts = parts[0], parts[:1]
        for part in parts:
            part.update({k: changes[k] for k in keys if changes.get(k) is not None})
            if section == "switch":
                part.setdefault("port", port)
                if tables.get("dcbx") == "on":
                    part.setdefault("pfc", DCBX_PFC)
    Topology(Table(fabric, tables))     # raises on errors
    return tables


def status(lab):
    """The lab's state, for people and for programs."""
    t = lab.network.topology
    return {
        "since": lab.state["since"], "kernel": lab.state["release"], "tdf": lab.clock.tdf,
        "hosts": [{"name": h.name, "address": h.address, "address6": h.address6,
                   "switch": h.switch, "running": lab.runs(h.name),
                   "profile": lab.network.profile(h.name) if lab.runs(h.name) else None}
                  for h in t.hosts.values()],
        "switches": [{"name": s, "running": lab.runs(s), "ports": ports(lab, s)}
                     for s in t.switches]}


def ports(lab, switch):
    if not lab.runs(switch):
        return []
    lines = lab.vm(switch).out(SHOWER[lab.network.topology.switches[switch].port]).splitlines()
    out = []
    for settings, counters in zip(lines[::2], lines[1::2]):
        peer, *words = settings.split()
        port = {"name": "%s.%s" % (switch, peer),
                **{k: _value(v) for k, v in zip(words[::2], words[1::2])}}
        for key, what in (("queue_bytes", r"queue (\d+) bytes"),
                          ("queue_packets", r"(\d+) packets; sent"), ("sent", r"sent (\d+)"),
                          ("marked", r"marked (\d+)"), ("dropped", r"dropped (\d+)"),
                          ("cnps_first", r"CNPs first (\d+)"),
                          ("pfc_frames", r"PFC frames (\d+)")):
            if counted := re.search(what, counters):
                port[key] = int(counted[1])
        port["text"] = "%s.%s\n%s" % (switch, settings, counters)
        out.append(port)
    return out


def _value(word):
    """Convert to a number if it is one; rates are in bit/s."""
    for kind in int, float:
        try:
            return kind(word.removesuffix("bit"))
        except ValueError:
            pass
    return word


def print_status(now):
    print("up since %s, kernel %s%s" % (
        time.strftime("%H:%M:%S", time.localtime(now["since"])), now["kernel"],
        "" if now["tdf"] == 1 else ", time dilation %d" % now["tdf"]))
    for h in now["hosts"]:
        state = "at %s, %s" % (h["switch"], h["profile"]) if h["running"] else "has ended"
        print("%-4s %-10s %-9s %s" % (h["name"], h["address"], h["address6"], state))
    for s in now["switches"]:
        if not s["running"]:
            print("%s has ended" % s["name"])
        for port in s["ports"]:
            print(port["text"])


def port_of(lab, name):
    known = lab.network.topology.ports
    if name not in known:
        raise InputError("%s: no such port; there are %s" % (name, " ".join(known)))
    return known[name]


def check_filter(lab, port, packets):
    """Raise an InputError unless tcpdump accepts this expression."""
    compiled = lab.vm(port.switch).run(["tcpdump", "-d", "-i", port.peer, packets], check=False)
    if compiled.returncode:
        raise InputError("--filter: %s: %s" % (packets, compiled.stderr.strip()))


def capture(lab, port, out, snaplen, packets, seconds):
    """Run tcpdump at a switch port until it is stopped or the time is over; return its status."""
    vm = lab.vm(port.switch)
    pid = "/run/capture.%d" % time.monotonic_ns()
    command = "echo $$ >%s; exec tcpdump -p -n -U -Z root -i %s -s %d -w - %s" % (
        pid, port.peer, snaplen, shlex.quote(packets))
    # in a session of its own, because Ctrl-C must stop tcpdump and not the connection to it
    job = subprocess.Popen(vm.ssh_argv(command), stdin=subprocess.DEVNULL, stdout=out,
                           start_new_session=True, preexec_fn=die_with_parent)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return job.wait(lab.clock.host(seconds))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        vm.run("kill -INT $(cat %s)" % pid, check=False)
        return job.wait()


def change(lab, words):
    """Set keys. words: names of hosts, switches and ports, and KEY=VALUE. Changes nothing if any
    of them is invalid."""
    t = lab.network.topology
    settings = [w.partition("=")[::2] for w in words if "=" in w]
    targets = [w for w in words if "=" not in w]
    if not settings:
        raise InputError("KEY=VALUE is missing, for instance kmin=20KB or rpg_ai_rate=5")
    for w in targets:
        if w not in t.hosts and w not in t.switches and w not in t.ports:
            raise InputError("%s: no such host, switch or port; there are %s" % (
                w, " ".join([*t.hosts, *t.switches, *t.ports])))
    hosts = [h for h in t.hosts if h in targets or not targets]
    ports = [p for p in t.ports.values()
             if not targets or p.switch in targets or p.name in targets]
    marks = [(k, v) for k, v in settings if k in MARKS]
    knobs = {k: v for k, v in settings if k not in (*MARKS, "profile")}
    check_knobs("set", knobs)
    for name, value in settings:
        if not (ports if name in MARKS else hosts):
            raise InputError("%s is for %s" % (name, "switches" if hosts else "hosts"))
        if name == "profile" and value not in PROFILES:
            raise InputError("%s: no such profile; there are %s" % (value, " ".join(PROFILES)))
        if name in PAUSING and any(p.port == "tc" for p in ports):
            raise InputError("%s needs switches with port = dcbport" % name)
    if marks:
        _check(lab, ports, dict(marks))
    marks = [(k, _checked(k, v)) for k, v in marks]
    for s, switch in t.switches.items():
        mine = [p.peer for p in ports if p.switch == s]
        words = [w for k, v in marks if k != "delay" for w in (k, v)]
        if words and mine:
            lab.vm(s).run([SETTER[switch.port], "set", *mine, *words])
    for name, value in marks:
        if name == "delay":
            for p in ports:     # as in a file: a host's port delays for both directions of its link
                ns = value * 2 if p.peer in t.hosts else value
                lab.vm(p.switch).run("/lab/delay %s %d" % (p.peer, ns // 1000) if p.port == "tc" else
                                     "/lab/switch-port set %s delay %dns" % (p.peer, ns))
        elif name == "rate" or (name == "pfc" and not t.dcbx):
            _tell_hosts(lab, ports)
    for name, value in settings:
        if name == "profile":
            lab.network.set_profiles(dict.fromkeys(hosts, value))
    for h in hosts:
        lab.network.set_knobs(h, knobs)


def _check(lab, ports, marks):
    """Raise an InputError unless a file may have these settings beside the others of the ports."""
    lab.network.look()
    for p in ports:
        table = Table(p.name, {**{k: getattr(p, k) for k in p.keys}, **marks})
        Link(table, p)
        Switch(p.switch, table, p.port)


def _checked(key, value):
    """The value in the form that a switch takes."""
    if key in SIZES:
        return str(quantity("size", value))
    if key == "rate":
        return "%dbit" % quantity("rate", value)
    if key == "pmax":
        return "%.9f" % quantity("share", value)
    if key == "delay":
        return quantity("time", value)
    return value


def _tell_hosts(lab, ports):
    """Give hosts their switch's new rate and, unless an agent does so, its priorities."""
    lab.network.look()
    for p in ports:
        if p.peer in lab.network.topology.hosts and p.port == "dcbport":
            dcbx = lab.network.topology.dcbx
            lab.vm(p.peer).run("/lab/switch-port host rate %dbit pfc %s" %
                               (p.rate, "none" if dcbx else p.pfc)
                               if dcbx or p.prios else "/lab/switch-port undo eth0")
