# SPDX-License-Identifier: GPL-2.0
"""The simulator's scenario files: what is simulated, and what has to come out.

Documentation/infiniband/rdma_dcqcn_sim.rst has the keys.
"""

import os
import re

from ..core.errors import InputError
from ..core.expression import Expression
from ..core.paths import SIM
from ..core.scenario import (MTUS, PROFILES, TIMEOUT_MAX, TRANSPORTS, VERBS, Directory, Scenario,
                             check_verb, names)

SCENARIOS = Directory(os.path.join(SIM, "scenarios"))
PORTS = ("tc", "dcbport")
LINE = ("told", "measured")     # told: rpg_max_rate is set to the rate of the host's link


class Link:
    """A cable: rate in bit/s, one-way delay and jitter in ns; on the way out of a switch
    it loses a share of the packets, lets a share of them overtake all that it delays, and
    delays RC's ACKs by so much more."""

    def __init__(self, t, like=None):
        self.rate = t.take("rate", "rate", like and "%dbit" % like.rate, 1000)
        self.delay = t.take("delay", "time", like and "%dns" % like.delay or "0us")
        self.jitter = t.take("jitter", "time", like and "%dns" % like.jitter or "0us")
        self.loss = t.take("loss", float, like and like.loss or 0.0)
        self.reorder = t.take("reorder", float, like and like.reorder or 0.0)
        self.ack_delay = t.take("ack_delay", "time", like and "%dns" % like.ack_delay or "0us")
        for key, share in (("loss", self.loss), ("reorder", self.reorder)):
            if not 0 <= share < 1:
                raise t.error(key, "must be at least 0 and below 1")
        if self.reorder and not self.delay:
            raise t.error("reorder", "needs a delay, which packets overtake")
        if self.jitter and (self.loss or self.reorder):
            raise t.error("jitter", "cannot be had with loss or reorder")


class Host:
    def __init__(self, name, t, link, switch, profile, settings):
        self.name, self.link = name, Link(t, link)
        self.switch = t.take("switch", str, switch)
        self.profile = t.take("profile", PROFILES + ("off",), profile)
        self.settings = {**settings, **t.knobs("settings")}
        t.done()
        self.number = int(re.fullmatch(r"h(\d+)", name)[1])
        self.address = "10.0.%d.%d" % divmod(self.number, 256)
        self.mac = "02:00:00:00:%02x:%02x" % divmod(self.number, 256)
        self.dev = "rxe_" + name


class Switch:
    """Each of its ports has a queue of its own with these thresholds."""

    def __init__(self, name, t):
        self.name = name
        self.buffer = t.take("buffer", "size", least=1)
        self.kmin = t.take("kmin", "size", least=1)
        self.kmax = t.take("kmax", "size")
        self.pmax = t.take("pmax", float, most=1)
        self.marker = t.take("marker", ("exact", "red"), "exact")
        self.port = t.take("port", PORTS, "tc")
        self.alpha = t.take("alpha", float, 1.0, 0)
        self.xoff, self.xon, self.headroom = (t.take(key, "size", "0B")
                                              for key in ("xoff", "xon", "headroom"))
        if self.port == "tc" and (self.xoff or self.xon or self.headroom):
            raise t.error("port", "must be dcbport for xoff, xon and headroom")
        if self.xon > self.xoff:
            raise t.error("xon", "must not be above xoff")
        if not 0 < self.pmax:
            raise t.error("pmax", "must be above 0, up to 1")
        if self.kmin > self.kmax:
            raise t.error("kmax", "must not be below kmin")
        t.done()


class Trunk:
    """A cable between two switches."""

    def __init__(self, t, like, switches):
        self.ends = t.take("a", str), t.take("b", str)
        self.link = Link(t, like)
        for key, end in zip("ab", self.ends):
            if end not in switches:
                raise t.error(key, "there is no switch %s" % end)
        t.done()


class Change:
    """From a time on, in ns, a host's link has another rate, in both directions."""

    def __init__(self, t, hosts, duration):
        self.at = t.take("at", "time")
        self.host = t.take("host", str)
        self.rate = t.take("rate", "rate", least=1000)
        t.done()
        if self.host not in hosts:
            raise t.error("host", "no flow has %s" % self.host)
        if not 0 < self.at < duration:
            raise t.error("at", "is not within the duration")


class Reach:
    """How long after a time a group's goodput, or the bottleneck's queue, has its value."""

    def __init__(self, t, groups):
        self.name = t.take("name", str)
        self.begin = t.take("from", "time")
        self.over = t.take("over", "time", least=1)
        self.group = t.take("group", str, "")
        self.goodput = t.take("goodput", "rate", "0bit")
        self.queue = t.take("queue", "size", "0B")
        t.done()
        if bool(self.goodput) == bool(self.queue):
            raise t.error(self.name, "wants either goodput or queue")
        if self.group and self.group not in groups:
            raise t.error("group", "no flow has %s" % self.group)


class Flow:
    pass


class Run:
    """One combination of the sweep's values: name, hosts, switches, flows, ..."""

    def __init__(self, scenario, variables, t):
        self.scenario, self.variables = scenario, variables
        self.name = ",".join("%s=%s" % kv for kv in variables.items()) or "run"
        # in us from here on
        self.duration = t.take("duration", "time", least=1000)
        self.window = t.window("window", self.duration, ["0s", "%dns" % self.duration])
        self.profile = t.take("profile", PROFILES)
        self.settings = t.knobs("settings")
        self.line = t.take("line", LINE, "told")
        self.sample = t.take("sample", "time", "%dns" % max(10_000, self.duration // 50_000), 1000)
        self.record = t.take("record", "time", "%dns" % max(100_000, self.duration // 1000), 1000)
        link = t.table("link")
        self.link = Link(link)
        link.done()
        switches = t.table("switch")
        # [switch] is one switch, s1; [switch.s1] and [switch.s2] are two
        if all(isinstance(v, dict) for v in switches.rest.values()):
            self.switches = {n: Switch(n, switches.table(n)) for n in list(switches.rest)}
        else:
            self.switches = {"s1": Switch("s1", switches)}
        if not self.switches:
            raise t.error("switch", "is missing")
        self.trunks = [Trunk(d, self.link, self.switches) for d in t.tables("trunk", [])]
        own = {d.take("name", str): d for d in t.tables("host", [])}
        self.flows = []
        for d in t.tables("flow"):
            self._flows(d)
        if not self.flows:
            raise t.error("flow", "is missing")
        used = sorted({h for f in self.flows for h in (f.src, f.dst)}, key=lambda h: int(h[1:]))
        self.hosts = {name: self._host(name, own.pop(name, t.empty("host " + name)))
                      for name in used}
        if own:
            raise t.error("host", "hosts without a flow: " + ", ".join(own))
        self.changes = [Change(d, self.hosts, self.duration) for d in t.tables("change", [])]
        self._check_ports(t)
        self.reaches = [Reach(d, {f.group for f in self.flows}) for d in t.tables("reach", [])]
        t.done()

    def _check_ports(self, t):
        """What a port of dcbport cannot do: netem and tc do that."""
        if len({s.port for s in self.switches.values()}) > 1:
            raise t.error("switch", "all switches must have the same port")
        if next(iter(self.switches.values())).port == "tc":
            return
        if self.changes:
            raise t.error("change", "needs port = tc")
        for link in [h.link for h in self.hosts.values()] + [tr.link for tr in self.trunks]:
            if link.jitter or link.loss or link.reorder or link.ack_delay:
                raise t.error("link", "jitter, loss, reorder and ack_delay need port = tc")

    def link_rate(self, host):
        """Mean over the window of the rate of a host's link."""
        begin, end = self.window
        steps = [(0, host.link.rate)] + [(c.at, c.rate) for c in self.changes
                                         if c.host == host.name] + [(end, 0)]
        return sum(rate * max(0, min(until, end) - max(at, begin))
                   for (at, rate), (until, _) in zip(steps, steps[1:])) / (end - begin)

    def notes(self):
        """What the scenario says of it before it is simulated: what it cannot reach, and why."""
        return [note.text for note in self.scenario.notes if note.applies(self)]

    def _host(self, name, t):
        host = Host(name, t, self.link, next(iter(self.switches)), self.profile, self.settings)
        if host.switch not in self.switches:
            raise t.error("switch", "there is no switch %s" % host.switch)
        return host

    def _flows(self, t):
        sources, targets = names(t, "from"), names(t, "to")
        if len(targets) != 1:
            raise t.error("to", "must be one host")
        start, stagger = t.take("start", "time", "0s"), t.take("stagger", "time", "0s")
        qps = t.take("qps", int, 1, 1)
        common = {
            "verb": t.take("verb", VERBS, "write"),
            "transport": t.take("transport", TRANSPORTS, "rc"),
            "size": t.take("size", "size", "64KiB", 1), "depth": t.take("depth", int, 4, 1),
            "mtu": t.take("mtu", MTUS, 4096), "timeout": t.take("timeout", int, 14, 0, TIMEOUT_MAX),
            "count": t.take("count", int, 0, 0), "tclass": t.take("tclass", int, 0, 0, 255),
            "stop": t.take("stop", "time", "%dns" % self.duration, 0, self.duration),
            "group": t.take("group", str, ""),
        }
        t.done()
        for i, src in enumerate(s for s in sources for _ in range(qps)):
            f = Flow()
            f.__dict__.update(common, id=len(self.flows), src=src, dst=targets[0],
                              start=start + i * stagger)
            if f.src == f.dst:
                raise t.error("to", "a flow from %s to itself does not pass the network" % f.src)
            if f.start >= f.stop:
                raise t.error("start", "flow %d of it would start after its stop" % (i + 1))
            check_verb(t, f)
            self.flows.append(f)


class Note:
    """Of which runs, and what is to be said of them."""

    def __init__(self, t):
        self.where, condition, self.text = t.where, t.take("if", str), t.take("text", str)
        t.done()
        try:
            self.condition = Expression(condition)
        except InputError as e:
            raise t.error("if", e) from None

    def applies(self, run):
        try:
            return bool(self.condition.value(run.values))
        except InputError as e:
            raise InputError("%s: if: %s" % (self.where, e)) from None


class Panel:
    """What is coloured, as an expression, and of it the best and the worst."""

    def __init__(self, t):
        self.title, text = t.take("title", str), t.take("value", str)
        self.best, self.worst = t.take("best", float), t.take("worst", float)
        t.done()
        try:
            self.value = Expression(text)
        except InputError as e:
            raise t.error("value", e) from None
        if self.best == self.worst:
            raise t.error("best", "is the worst too")


class Picture:
    """All runs as coloured cells: lists of variables whose combinations are the columns and
    rows of a panel, and of those that have panels of their own, below each other."""

    def __init__(self, t):
        self.x, self.y = t.take("x", list), t.take("y", list)
        self.rows = t.take("rows", list, [])
        self.panels = [Panel(d) for d in t.tables("panel")]
        t.done()
        self.error = t.error

    def check(self, variables):
        """Whether the runs have these."""
        for key, names in (("x", self.x), ("y", self.y), ("rows", self.rows)):
            for name in names:
                if name not in variables:
                    raise self.error(key, "the sweep has no variable %s" % name)


class Simulation(Scenario):
    directory = SCENARIOS

    def __init__(self, name, only=()):
        super().__init__(name, only)
        self.must_expect()
        for run in self.runs:
            run.notes()
        if self.picture:
            self.picture.check(self.runs[0].variables)

    def prepare(self, table):
        self.notes = [Note(d) for d in table.tables("note", [])]
        picture = table.table("picture", {})
        self.picture = Picture(picture) if picture.rest else None

    def run(self, variables, table):
        return Run(self, variables, table)
