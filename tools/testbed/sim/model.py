# SPDX-License-Identifier: GPL-2.0
"""The simulator's scenario files: networks, flows and expectations.

Documentation/infiniband/rdma_dcqcn_sim.rst has the keys.
"""

import copy
import os
import re

from ..core.errors import InputError, LabError
from ..core.expression import Expression
from ..core.paths import SIM
from ..core.scenario import PROFILES, Directory, Scenario, Table, names, priorities
from . import figures, modelled
from .workload import DURATION_MOST, Workload, pairs

SCENARIOS = Directory(os.path.join(SIM, "scenarios"))
PORTS = ("dcbport", "tc")
SHAPES = ("row", "ring")
WATCHDOG = ("drop", "forward", "alert", "off")
MTU = 4200          # of all network devices: RoCE's 4096, and headers
CNPS = 6            # the priority of CNPs; strict, so without PFC
STACKS = {          # what carries RDMA: its kind of device, and TCP's congestion control
    "rxe": ("rxe", None), "siw-cubic": ("siw", "cubic"), "siw-dctcp": ("siw", "dctcp")}
LINE = ("told", "measured")     # told: rpg_max_rate is set to the rate of the host's link;
                                # measured: the module finds the line rate itself
SWITCHES_MOST = 100
# Of dcbport: bit/s, ns, bytes of a frame and of a buffer, a share, and ns
RATE_MOST, DELAY_MOST, OVERHEAD_MOST, BUFFER_MOST = 10**12, 10**9, 1024, 2**32 - 1
ALPHA_MOST, WATCHDOG_MOST = 128, 60 * 10**9


class Link:
    """A cable: rate in bit/s, one-way delay and jitter in ns, and the overhead in bytes of each
    frame. On the way out of a switch, it loses a share of the packets, lets a share of them
    overtake all delayed ones, and delays RC's ACKs by an additional time."""

    def __init__(self, t, like=None):
        self.rate = t.take("rate", "rate", like and "%dbit" % like.rate, 1000,
                           RATE_MOST)
        self.delay = t.take("delay", "time", like and "%dns" % like.delay or "0us", 0, DELAY_MOST)
        self.overhead = t.take("overhead", "size", like and "%dB" % like.overhead or "0B", 0,
                               OVERHEAD_MOST)
        self.jitter = t.take("jitter", "time", like and "%dns" % like.jitter or "0us", 0,
                             DELAY_MOST)
        self.loss = t.take("loss", float, like and like.loss or 0.0)
        self.reorder = t.take("reorder", float, like and like.reorder or 0.0)
        self.ack_delay = t.take("ack_delay", "time", like and "%dns" % like.ack_delay or "0us", 0,
                                DELAY_MOST)
        for key, share in (("loss", self.loss), ("reorder", self.reorder)):
            if not 0 <= share < 1:
                raise t.error(key, "must be at least 0 and below 1")
        if self.reorder and not self.delay:
            raise t.error("reorder", "needs a delay: packets overtake those that are delayed")
        if self.jitter and (self.loss or self.reorder):
            raise t.error("jitter", "cannot be combined with loss or reorder")


class Host:
    def __init__(self, name, t, link, switch, profile, settings, kind, cnp_delay):
        self.name, self.link = name, Link(t, link)
        self.cnp_delay = t.take("cnp_delay", "time", "%dns" % cnp_delay, 0, DELAY_MOST)
        self.switch = t.take("switch", str, switch)
        self.profile = t.take("profile", PROFILES + ("off",), profile)
        if self.profile not in (profile, "off"):
            raise t.error("profile", "must be off or %s, as on all hosts: they share a module" %
                          profile)
        self.settings = {**settings, **t.knobs("settings")}
        t.done()
        self.number = int(re.fullmatch(r"h(\d+)", name)[1])
        self.address = "10.0.%d.%d" % divmod(self.number, 256)
        self.mac = "02:00:00:00:%02x:%02x" % divmod(self.number, 256)
        self.dev = "%s_%s" % (kind, name)


class Curve:
    """A queue's marking probability: 0 up to Kmin, Pmax at Kmax, 1 above."""

    def __init__(self, t, like=None):
        self.kmin = t.take("kmin", "size", like and like.kmin, 1)
        self.kmax = t.take("kmax", "size", like and like.kmax)
        self.pmax = t.take("pmax", "share", like and like.pmax, most=1)
        if not 0 < self.pmax:
            raise t.error("pmax", "must be above 0, up to 1")
        if self.kmin > self.kmax:
            raise t.error("kmax", "must not be below kmin")


class Class:
    """A priority's own settings."""

    def __init__(self, t, like):
        self.curve = Curve(t, like)
        self.weight = t.take("weight", int, 1, 1, 100)
        t.done()


class Switch:
    """A switch. Each of its ports has queues of its own with these thresholds. They share a buffer
    only if the scenario gives an alpha, or has PFC."""

    def __init__(self, name, t):
        self.name = name
        self.buffer = t.take("buffer", "size", None, 1, BUFFER_MOST)
        self.curve = Curve(t)
        self.port = t.take("port", PORTS, "dcbport")
        self._dcbport(t)
        t.done()

    def _dcbport(self, t):
        """Settings that tc does not have."""
        extra = set(t.rest) & {"alpha", "pfc", "xoff", "xon", "headroom", "reserve", "class",
                               "watchdog", "detect", "restore", "flows_min", "flows_max", "stamp"}
        if self.port == "tc" and extra:
            raise t.error("port", "must be dcbport for " + ", ".join(sorted(extra)))
        self.xoff, self.xon, self.headroom, self.reserve = (
            t.take(key, "size", "0B", 0, BUFFER_MOST)
            for key in ("xoff", "xon", "headroom", "reserve"))
        self.pfc = priorities(t, "pfc", "0" if self.xoff else "none")
        self.shared = bool(self.pfc) or "alpha" in t.rest
        self.alpha = t.take("alpha", float, 1.0 if self.shared else 0.0, 0, ALPHA_MOST)
        self.flows_min, self.flows_max = (t.take(key, int, 0, 0, 1024)
                                          for key in ("flows_min", "flows_max"))
        self.stamp = t.take("stamp", int, 0, 0, 1)
        self.watchdog = t.take("watchdog", WATCHDOG, "drop")
        self.detect, self.restore = (t.take(key, "time", "200ms", 10**6, WATCHDOG_MOST)
                                     for key in ("detect", "restore"))
        own = t.table("class", {})
        for prio in own.rest:
            if prio not in tuple("01234567"):
                raise own.error(prio, "is not a priority, 0 to 7")
        self.classes = {prio: Class(own.table(str(prio), {}), self.curve)
                        for prio in range(8)}
        if any(own.curve.kmax > self.buffer for own in self.classes.values()):
            raise t.error("kmax", "must not be above buffer")
        if self.xon > self.xoff:
            raise t.error("xon", "must not be above xoff")
        if CNPS in self.pfc:
            raise t.error("pfc", "%d is the priority of CNPs, which must not wait" % CNPS)
        if self.pfc and not self.headroom:
            raise t.error("headroom", "must be above 0 with PFC, for packets in flight")


class Trunk:
    """A cable between two switches, or several, among which a hash of addresses and ports chooses."""

    def __init__(self, t, like, switches):
        self.ends = t.take("a", str), t.take("b", str)
        self.cables = t.take("cables", int, 1, 1, 16)
        self.link = Link(t, like)
        for key, end in zip("ab", self.ends):
            if end not in switches:
                raise t.error(key, "there is no switch %s" % end)
        t.done()

    def ports(self):
        """The ports of each cable at its two ends: ((switch, device), (switch, device))."""
        a, b = self.ends
        for number in ["_%d" % n for n in range(1, self.cables + 1)] if self.cables > 1 else [""]:
            yield (a, "to_%s%s" % (b, number)), (b, "to_%s%s" % (a, number))


class Topology:
    """Switches s1, s2, ... in a row, or in a ring that packets pass in one direction."""

    def __init__(self, t, like, table):
        self.shape = t.take("shape", SHAPES)
        count = t.take("switches", int, None, 3 if self.shape == "ring" else 2, SWITCHES_MOST)
        self.names = ["s%d" % n for n in range(1, count + 1)]
        self.trunks, switches = [], dict.fromkeys(self.names)
        ends = list(zip(self.names, self.names[1:]))
        if self.shape == "ring":
            ends.append((self.names[-1], self.names[0]))
        for a, b in ends:
            cable = Table(t.where, {**t.rest, "a": a, "b": b})
            self.trunks.append(Trunk(cable, like, switches))
        self.tables = self._tables(table)

    def _tables(self, table):
        """Each switch's table: the common one, or its own."""
        if not all(isinstance(v, dict) for v in table.rest.values()):
            return {name: Table(table.where, table.rest) for name in self.names}
        if sorted(table.rest) != sorted(self.names):
            raise InputError("%s: must be one for all, or one each for %s" %
                             (table.where, ", ".join(self.names)))
        return {name: table.table(name) for name in self.names}


class Storm:
    """A host that pauses a priority all the time, from one moment to another."""

    def __init__(self, t, hosts, duration):
        self.host = t.take("host", str)
        self.prio = t.take("prio", int, 0, 0, 7)
        self.begin, self.end = t.take("from", "time", "0s"), t.take("to", "time")
        t.done()
        if self.host not in hosts:
            raise t.error("host", "no flow has %s" % self.host)
        if not 0 <= self.begin < self.end <= duration:
            raise t.error("to", "must be after from, and within the duration")


class Change:
    """A change of the rate of a host's link, or of a cable between two switches, in both
    directions, at a time in ns. A rate of 0 cuts a cable."""

    def __init__(self, t, hosts, trunks, duration):
        self.at = t.take("at", "time")
        self.host, port = t.take("host", str, ""), t.take("cable", str, "")
        self.rate = t.take("rate", "rate", None, 0 if port else 1000, RATE_MOST)
        t.done()
        if bool(self.host) == bool(port):
            raise t.error("host", "needs either host or cable")
        if self.host and self.host not in hosts:
            raise t.error("host", "no flow has %s" % self.host)
        self.cable = next((ends for trunk in trunks for ends in trunk.ports()
                           if port in map(".".join, ends)), None)
        if port and not self.cable:
            raise t.error("cable", "there is no port %s" % port)
        # of both ends
        self.ports = (self.host, "%s.%s" % (hosts[self.host].switch, self.host)) if self.host else \
            tuple(map(".".join, self.cable))
        if not 0 < self.at < duration:
            raise t.error("at", "is not within the duration")


class Reach:
    """The time until a group's goodput, or the bottleneck's queue, reaches a value."""

    def __init__(self, t, groups, duration):
        self.name = t.take("name", str)
        self.begin = t.take("from", "time")
        self.over = t.take("over", "time", least=1)
        self.group = t.take("group", str, "")
        self.goodput = t.take("goodput", "rate", "0bit")
        self.queue = t.take("queue", "size", "0B")
        t.done()
        if bool(self.goodput) == bool(self.queue):
            raise t.error(self.name, "needs either goodput or queue")
        if self.group and self.group not in groups:
            raise t.error("group", "no flow has %s" % self.group)
        if self.group and self.queue:
            raise t.error("group", "cannot be combined with queue: it is the bottleneck's, not a group's")
        if self.begin + self.over > duration:
            raise t.error("over", "must end within the duration")


class Stream:
    """TCP from one host to another, without a pause; it begins before the flows."""

    def __init__(self, src, dst, ecn):
        self.src, self.dst, self.ecn = src, dst, ecn


def _streams(t):
    found, ecn = pairs(t, "each"), t.take("ecn", int, 0, 0, 1)
    t.done()
    for a, b in found:
        if a == b:
            raise t.error("to", "TCP from %s to itself does not pass the network" % a)
    return [Stream(a, b, ecn) for a, b in found]


class Run:
    """One combination of the sweep's values: name, hosts, switches, flows, ..."""

    def __init__(self, scenario, variables, t):
        self.scenario, self.variables = scenario, variables
        self.name = ",".join("%s=%s" % kv for kv in variables.items()) or "run"
        # later stages count in us, so it must be at least one
        self.duration = t.take("duration", "time", None, 1000, DURATION_MOST)
        self.window = t.window("window", self.duration, ["0s", "%dns" % self.duration])
        self.profile = t.take("profile", PROFILES)
        self.settings = t.knobs("settings")
        self.device, self.tcp_control = STACKS[t.take("stack", tuple(STACKS), "rxe")]
        if self.device != "rxe" and self.profile != "stock":
            raise t.error("stack", "rdma_dcqcn is for rxe: the profile must be stock")
        self.line = t.take("line", LINE, "told")
        self.tick = t.take("tick", "time", "0s", 0, 10**9)
        self.cnp_delay = t.take("cnp_delay", "time", "0s", 0, DELAY_MOST)
        self.sample = t.take("sample", "time", "%dns" % max(10_000, self.duration // 50_000), 1000)
        if 2 * self.sample > self.window[1] - self.window[0]:
            raise t.error("sample", "must be at most half of the window")
        self.record = t.take("record", "time", "%dns" % max(100_000, self.duration // 1000), 1000)
        link = t.table("link")
        self.link = Link(link)
        link.done()
        self.shape = "tree"
        self._switches(t)
        own = {}
        for d in t.tables("host", []):
            for name in names(d, "name"):
                if name in own:
                    raise d.error("name", "host %s is defined twice" % name)
                own[name] = Table(d.where, d.rest)
        self.workload = Workload(self.duration, self.link.rate, t.take("seed", int, 1, 0),
                                 rc_only=self.device == "siw")
        for d in t.tables("flow", []):
            self.workload.flow(d)
        for d in t.tables("collective", []):
            self.workload.collective(d)
        for d in t.tables("trace", []):
            self.workload.trace(d)
        self.flows = self.workload.flows
        if not self.flows:
            raise t.error("flow", "is missing")
        self.streams = [s for d in t.tables("tcp", []) for s in _streams(d)]
        ecn = {s.src: s.ecn for s in self.streams}
        if any(ecn[s.src] != s.ecn for s in self.streams):
            raise t.error("tcp", "streams from the same host must have the same ecn, its setting")
        used = sorted({h for f in self.flows + self.streams for h in (f.src, f.dst)},
                      key=lambda h: int(h[1:]))
        self.hosts = {name: self._host(name, own.pop(name, t.empty("host " + name)))
                      for name in used}
        if own:
            raise t.error("host", "hosts without a flow: " + ", ".join(own))
        self.changes = sorted((Change(d, self.hosts, self.trunks, self.duration)
                               for d in t.tables("change", [])), key=lambda change: change.at)
        self.storms = [Storm(d, self.hosts, self.duration) for d in t.tables("storm", [])]
        self._check_ways(t)
        self._check_ports(t)
        self.reaches = [Reach(d, {f.group for f in self.flows}, self.duration)
                        for d in t.tables("reach", [])]
        if len({r.name for r in self.reaches}) != len(self.reaches):
            raise t.error("reach", "two have the same name")
        t.done()

    def _switches(self, t):
        """Read the switches and the cables between them."""
        switches, trunks = t.table("switch"), t.tables("trunk", [])
        topology = t.table("topology", {})
        if not switches.rest:
            raise t.error("switch", "is missing")
        if topology.rest:
            if trunks:
                raise t.error("trunk", "cannot be combined with a topology, which has its own")
            made = Topology(topology, self.link, switches)
            self.shape, self.trunks = made.shape, made.trunks
            self.switches = {n: Switch(n, own) for n, own in made.tables.items()}
            return
        # [switch] is one switch, s1; [switch.s1] and [switch.s2] are two
        if all(isinstance(v, dict) for v in switches.rest.values()):
            self.switches = {n: Switch(n, switches.table(n)) for n in list(switches.rest)}
        else:
            self.switches = {"s1": Switch("s1", switches)}
        self.trunks = [Trunk(d, self.link, self.switches) for d in trunks]

    def next_switch(self, here, there):
        """A switch's next hop to another switch; None if there is no path."""
        if self.shape == "ring":
            return next(b for a, b in (trunk.ends for trunk in self.trunks) if a == here)
        way, reached = {there: there}, [there]
        for name in reached:
            for ends in (trunk.ends for trunk in self.trunks):
                if name in ends:
                    other = ends[1 - ends.index(name)]
                    if other not in way:
                        way[other] = name
                        reached.append(other)
        return way.get(here)

    def _check_ways(self, t):
        """Check that each flow has a path, and that no packet goes in circles."""
        groups = {name: {name} for name in self.switches}
        for a, b in (trunk.ends for trunk in self.trunks if self.shape != "ring"):
            if b in groups[a]:
                raise t.error("trunk", "%s and %s are connected twice; a ring is a topology" %
                              (a, b))
            both = groups[a] | groups[b]
            groups.update(dict.fromkeys(both, both))
        for f in self.flows + self.streams:
            a, b = (self.hosts[h].switch for h in (f.src, f.dst))
            if self.next_switch(a, b) is None:
                raise t.error("trunk", "no path leads from %s of %s to %s of %s" %
                              (a, f.src, b, f.dst))

    def _check_ports(self, t):
        """Check that the kind of port supports the settings: dcbport, or netem and tc."""
        if len({s.port for s in self.switches.values()}) > 1:
            raise t.error("switch", "all switches must have the same port")
        links = [h.link for h in self.hosts.values()] + [tr.link for tr in self.trunks]
        if next(iter(self.switches.values())).port == "tc":
            if self.shape == "ring":
                raise t.error("topology", "a ring needs port = dcbport")
            if self.storms:
                raise t.error("storm", "needs port = dcbport")
            if any(link.overhead for link in links):
                raise t.error("link", "overhead needs port = dcbport")
            return
        self._check_room(t)
        if any(link.jitter or link.loss or link.reorder or link.ack_delay for link in links):
            raise t.error("link", "jitter, loss, reorder and ack_delay need port = tc")

    def _check_room(self, t):
        """Check that there is headroom for each priority with PFC of each port."""
        for s in self.switches.values():
            ports = sum(h.switch == s.name for h in self.hosts.values())
            ports += sum(trunk.cables for trunk in self.trunks if s.name in trunk.ends)
            room = ports * len(s.pfc) * (s.headroom + s.reserve)
            if room > s.buffer:
                raise t.error("switch", "the headroom of %d ports of %s is %d bytes, and its "
                              "buffer %d" % (ports, s.name, room, s.buffer))

    def rates(self, port, link):
        """[(ns, bit/s)]: the rates of a port's link, and the time from which it has each; 0 if it
        is cut."""
        return [(0, link.rate)] + [(c.at, c.rate) for c in self.changes if port in c.ports]

    def mean_rate(self, port, link):
        """The mean of these over the window."""
        begin, end = self.window
        steps = self.rates(port, link) + [(end, 0)]
        return sum(rate * max(0, min(until, end) - max(at, begin))
                   for (at, rate), (until, _) in zip(steps, steps[1:])) / (end - begin)

    def path(self, src, dst):
        """The cables from one host to another, through switches."""
        here, there = self.hosts[src].switch, self.hosts[dst].switch
        out = [self.hosts[src].link]
        if self.switches[here].port == "tc":    # tc delays packets on the way out of a switch only
            out = [copy.copy(out[0])]
            out[0].delay = 0
        while here != there:
            other = self.next_switch(here, there)
            out.append(next(t.link for t in self.trunks if set(t.ends) == {here, other}))
            here = other
        return out + [self.hosts[dst].link]

    def notes(self):
        """The scenario's notes on this run, and the flows that are left out."""
        out = [note.text for note in self.scenario.notes if note.applies(self)]
        if self.workload.left_out:
            out.append("soft-iWARP has no %s: such flows are left out" %
                       ", ".join(self.workload.left_out))
        return out

    def _host(self, name, t):
        host = Host(name, t, self.link, next(iter(self.switches)), self.profile, self.settings,
                    self.device, self.cnp_delay)
        if host.switch not in self.switches:
            raise t.error("switch", "there is no switch %s" % host.switch)
        return host


class Note:
    """A note: its condition and its text."""

    def __init__(self, t):
        self.where, condition, self.text = t.where, t.take("if", str), t.take("text", str)
        t.done()
        self.condition = _expression(t, "if", condition)

    def applies(self, run):
        try:
            return bool(self.condition.value(run.values))
        except InputError as e:
            raise InputError("%s: if: %s" % (self.where, e)) from None


class Same:
    """[[same]]: a run takes over the figures of the run that differs from it only in having these
    values, if the condition holds for those figures."""

    def __init__(self, t):
        self.where, self.variables = t.where, t.take("as", dict)
        self.condition = _expression(t, "if", t.take("if", str))
        t.done()

    def check(self, runs):
        """Check that there are such runs."""
        if not any(self.other(run, runs) for run in runs):
            raise InputError("%s: as: matches no run of the sweep" % self.where)

    def other(self, run, runs):
        """The run that may have the same figures; None if there is none."""
        wanted = {**run.variables, **self.variables}
        if wanted == run.variables:
            return None
        return next((r for r in runs if r.variables == wanted), None)

    def holds(self, run, figures):
        try:
            return bool(self.condition.value({**run.values, **figures}))
        except InputError as e:
            raise LabError("%s: if: %s" % (self.where, e)) from None


class Panel:
    """An expression for the colour, with its best and worst value."""

    def __init__(self, t):
        self.title, text = t.take("title", str), t.take("value", str)
        self.best, self.worst = t.take("best", float), t.take("worst", float)
        t.done()
        self.value = _expression(t, "value", text)
        if self.best == self.worst:
            raise t.error("best", "must not be the same as worst")


class Line:
    """A line over x."""

    def __init__(self, t):
        self.title, text = t.take("title", str), t.take("value", str)
        t.done()
        self.value = _expression(t, "value", text)


class Graph:
    """[graph]: an expression for x, and one for each line."""

    def __init__(self, t):
        self.title, text = t.take("title", str), t.take("x", str)
        self.x = _expression(t, "x", text)
        self.lines = [Line(d) for d in t.tables("line")]
        t.done()
        if not self.lines:
            raise t.error("line", "is missing")


def _expression(t, key, text):
    try:
        return Expression(text)
    except InputError as e:
        raise t.error(key, e) from None


def _merge(names, others):
    """Add names that only the others have, and the same within names."""
    for name, value in others.items():
        if isinstance(value, dict) and isinstance(names.setdefault(name, {}), dict):
            _merge(names[name], value)
        else:
            names.setdefault(name, value)


class Picture:
    """[picture]: lists of variables x, y and rows. The combinations of their values are the columns
    and rows of a panel, and the rows of panels."""

    def __init__(self, t):
        self.x, self.y = t.take("x", list), t.take("y", list)
        self.rows = t.take("rows", list, [])
        self.panels = [Panel(d) for d in t.tables("panel")]
        t.done()
        self.error = t.error
        if not self.panels:
            raise t.error("panel", "is missing")

    def check(self, variables):
        """Check that the runs have these variables."""
        for key, names in (("x", self.x), ("y", self.y), ("rows", self.rows)):
            for name in names:
                if name not in list(variables):     # it may be a table
                    raise self.error(key, "the sweep has no variable %s" % name)


class Simulation(Scenario):
    directory = SCENARIOS

    def __init__(self, name, only=(), must_expect=True):
        super().__init__(name, only)
        if must_expect:
            self.must_expect()
        for run in self.runs:
            run.notes()
            run.order = self._place(run)
        for same in self.same:
            same.check(self.runs)
        if self.picture:
            self.picture.check(self.runs[0].variables)
        both = {name for run in self.runs for name in run.values if name in run.known}
        for where, expression in self._figures():
            self._check_once(where, expression, both)
            for run in self.runs:
                self._check(where, expression, {**run.values, **run.known})
        if self.picture:
            # a panel may show figures that only some of the runs have
            names = {}
            for run in self.runs:
                _merge(names, {**run.values, **run.known})
            for panel in self.picture.panels:
                self._check_once("picture: panel", panel.value, both)
                self._check("picture: panel", panel.value, names)

    def _check_once(self, where, expression, both):
        """Check that no name in it means a figure as well as a value of the sweep."""
        for name in both.intersection(path[0] for path in expression.paths()):
            raise InputError("%s: %s: %s: is both a figure and a name of the sweep or of "
                             "let; rename the latter" % (self.file, where, name))

    def _check(self, where, expression, names):
        try:
            expression.check(names)
        except InputError as e:
            raise InputError("%s: %s: %s" % (self.file, where, e)) from None

    def _figures(self):
        """Expressions whose figures each run must have: (where, expression)."""
        yield from (("same", same.condition) for same in self.same)
        if self.graph:
            yield "graph", self.graph.x
            yield from (("graph: line", line.value) for line in self.graph.lines)

    def prepare(self, table):
        self.notes = [Note(d) for d in table.tables("note", [])]
        self.same = [Same(d) for d in table.tables("same", [])]
        self._order = _expression(table, "order", table.take("order", str, "0"))
        picture = table.table("picture", {})
        self.picture = Picture(picture) if picture.rest else None
        graph = table.table("graph", {})
        self.graph = Graph(graph) if graph.rest else None
        # dcqcn model has checked it already
        if table.take("model", dict, {}):
            table.rest.update(modelled.tables(self.path))

    def _place(self, run):
        try:
            return float(self._order.value(run.values))
        except (InputError, TypeError, ValueError) as e:
            raise InputError("%s: order: %s" % (self.file, e)) from None

    def run(self, variables, table):
        return Run(self, variables, table)

    def known(self, run):
        return figures.known(run)
