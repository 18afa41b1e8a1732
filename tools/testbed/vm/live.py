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
from .topology import MARKING, Topology

LINK_KEYS, SWITCH_KEYS = ("rate", "delay"), ("kmin", "kmax", "pmax", "buffer", "cnp")


def changed_tables(fabric, hosts, changes):
    """A fabric's tables with another number of hosts at one switch, and other values of
    LINK_KEYS and SWITCH_KEYS. None changes nothing."""
    tables = fabric_tables(fabric)
    if hosts is not None:
        tables["host"], tables["trunk"] = [], []
        tables["hosts"] = hosts
    for section, keys in (("link", LINK_KEYS), ("switch", SWITCH_KEYS)):
        table = Table(fabric, tables).take(section, dict)
        parts = [v for v in table.values() if isinstance(v, dict)] or [table]
        for part in parts:
            part.update({k: changes[k] for k in keys if changes.get(k) is not None})
    Topology(Table(fabric, tables))     # raises what is wrong
    return tables


def status(lab):
    """Its state, for people and for programs."""
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
    lines = lab.vm(switch).out("/lab/congestion-point show br0").splitlines()
    out = []
    for settings, counters in zip(lines[::2], lines[1::2]):
        peer, *words = settings.split()
        port = {"name": "%s.%s" % (switch, peer),
                **{k: _value(v) for k, v in zip(words[::2], words[1::2])}}
        for key, what in (("queue_bytes", r"queue (\d+) bytes"),
                          ("queue_packets", r"(\d+) packets; sent"), ("sent", r"sent (\d+)"),
                          ("marked", r"marked (\d+)"), ("dropped", r"dropped (\d+)"),
                          ("cnps_first", r"CNPs first (\d+)")):
            port[key] = int(re.search(what, counters)[1])
        port["text"] = "%s.%s\n%s" % (switch, settings, counters)
        out.append(port)
    return out


def _value(word):
    """A number as one: a rate in bit/s."""
    try:
        return float(word) if "." in word else int(word.removesuffix("bit"))
    except ValueError:
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
        raise InputError("there is no port %s; there are %s" % (name, " ".join(known)))
    return known[name]


def capture(lab, port, out, snaplen, packets, seconds):
    """tcpdump at a switch's port, until it is stopped or the time is over; its exit status."""
    vm = lab.vm(port.switch)
    pid = "/run/capture.%d" % time.monotonic_ns()
    command = "echo $$ >%s; exec tcpdump -p -n -U -Z root -i %s -s %d -w - %s" % (
        pid, port.peer, snaplen, shlex.quote(packets))
    # In a session of its own: Ctrl-C is to stop tcpdump, not the way to it.
    job = subprocess.Popen(vm.ssh_argv(command), stdin=subprocess.DEVNULL, stdout=out,
                           start_new_session=True, preexec_fn=die_with_parent)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return job.wait(lab.clock.host(seconds))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        vm.run("kill -INT $(cat %s)" % pid, check=False)
        return job.wait()


def change(lab, words):
    """Names of hosts, switches and ports, and KEY=VALUE for them. Changes nothing if one of
    them is invalid."""
    t = lab.network.topology
    settings = [w.partition("=")[::2] for w in words if "=" in w]
    targets = [w for w in words if "=" not in w]
    if not settings:
        raise InputError("set what? for instance kmin=20KB or rpg_ai_rate=5")
    for w in targets:
        if w not in t.hosts and w not in t.switches and w not in t.ports:
            raise InputError("there is no %s; there are %s" % (
                w, " ".join([*t.hosts, *t.switches, *t.ports])))
    hosts = [h for h in t.hosts if h in targets or not targets]
    ports = [p for p in t.ports.values()
             if not targets or p.switch in targets or p.name in targets]
    marks = [(k, v) for k, v in settings if k in MARKING + ("rate",)]
    knobs = {k: v for k, v in settings if k not in MARKING + ("rate", "delay", "profile")}
    check_knobs("set", knobs)
    for name, value in settings:
        if not (ports if name in MARKING + ("rate", "delay") else hosts):
            raise InputError("%s is for %s" % (name, "switches" if hosts else "hosts"))
        if name == "profile" and value not in PROFILES:
            raise InputError("profile %s: there are %s" % (value, " ".join(PROFILES)))
        if name == "delay":
            quantity("time", value)
    for s in t.switches:
        mine = [p.peer for p in ports if p.switch == s]
        if marks and mine:
            lab.vm(s).run(["/lab/congestion-point", "set", *mine,
                           *(w for kv in marks for w in kv)])
    for name, value in settings:
        if name == "delay":
            for p in ports:
                lab.vm(p.switch).run("/lab/delay %s %d" % (p.peer,
                                                           quantity("time", value) // 1000))
        elif name == "profile":
            lab.network.set_profiles(dict.fromkeys(hosts, value))
    for h in hosts:
        lab.network.set_knobs(h, knobs)
