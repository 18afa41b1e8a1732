# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what is simulated, and what has to come out.

A scenario is a TOML file (Documentation/infiniband/rdma_dcqcn_sim.rst has the
keys). Strings may contain {name} of a sweep's variable; every combination of
the sweep's values is one run.
"""

import os
import re
import tomllib

from expression import evaluate
from figures import OPERATORS
from grid import Picture
from tables import ScenarioError, Table, combinations, fill, names, number, quantity

LINE = ("told", "measured")     # told: rpg_max_rate is set to the rate of the host's link


class Link:
    """A cable: rate in bit/s, one-way delay and jitter in ns; on the way out of a switch
    it loses a share of the packets, lets a share of them overtake all that it delays, and
    delays RC's ACKs by so much more."""

    def __init__(self, where, table, like=None):
        t = Table(where, table)
        self.rate = t.take("rate", "rate", like and "%dbit" % like.rate)
        self.delay = t.take("delay", "time", like and "%dns" % like.delay or "0us")
        self.jitter = t.take("jitter", "time", like and "%dns" % like.jitter or "0us")
        self.loss = t.take("loss", float, like and like.loss or 0.0)
        self.reorder = t.take("reorder", float, like and like.reorder or 0.0)
        self.ack_delay = t.take("ack_delay", "time", like and "%dns" % like.ack_delay or "0us")
        for key, share in (("loss", self.loss), ("reorder", self.reorder)):
            if not 0 <= share < 1:
                raise ScenarioError("%s: %s: must be at least 0 and below 1" % (where, key))
        if self.reorder and not self.delay:
            raise ScenarioError("%s: reorder: needs a delay, which packets overtake" % where)
        if self.jitter and (self.loss or self.reorder):
            raise ScenarioError("%s: jitter: cannot be had with loss or reorder" % where)
        self.rest = t


class Host:
    def __init__(self, name, switch, link, profile, settings):
        self.name, self.switch, self.link = name, switch, link
        self.profile, self.settings = profile, settings
        self.number = int(re.fullmatch(r"h(\d+)", name)[1])
        self.address = "10.0.%d.%d" % divmod(self.number, 256)
        self.mac = "02:00:00:00:%02x:%02x" % divmod(self.number, 256)
        self.dev = "rxe_" + name


class Switch:
    """Each of its ports has a queue of its own with these thresholds."""

    def __init__(self, where, name, table):
        t = Table(where, table)
        self.name = name
        self.buffer = t.take("buffer", "size")
        self.kmin = t.take("kmin", "size")
        self.kmax = t.take("kmax", "size")
        self.pmax = t.take("pmax", float)
        self.marker = t.take("marker", str, "exact")
        if self.marker not in ("exact", "red"):
            raise ScenarioError("%s: marker is neither exact nor red" % where)
        if not 0 < self.pmax <= 1 or self.kmin > self.kmax:
            raise ScenarioError("%s: wants Kmin <= Kmax and 0 < Pmax <= 1" % where)
        t.done()


class Trunk:
    """A cable between two switches."""

    def __init__(self, where, table, like):
        self.link = Link(where, {k: v for k, v in table.items() if k not in "ab"}, like)
        self.ends = self.link.rest.take("a", str, table.get("a")), table.get("b")
        self.link.rest.done()


class Change:
    """From a time on, in ns, a host's link has another rate, in both directions."""

    def __init__(self, table):
        t = Table("change", table)
        self.at = t.take("at", "time")
        self.host = t.take("host", str)
        self.rate = t.take("rate", "rate")
        t.done()


class Reach:
    """How long after a time a group's goodput, or the bottleneck's queue, has its value."""

    def __init__(self, table):
        t = Table("reach", table)
        self.name = t.take("name", str)
        self.begin = t.take("from", "time")
        self.over = t.take("over", "time")
        self.group = t.take("group", str, "")
        self.goodput = t.take("goodput", "rate", "0bit")
        self.queue = t.take("queue", "size", "0B")
        if bool(self.goodput) == bool(self.queue):
            raise ScenarioError("reach %s: wants either goodput or queue" % self.name)
        t.done()


class Flow:
    pass


class Run:
    """One combination of the sweep's values: name, hosts, switches, flows, ..."""

    def __init__(self, scenario, variables, values, table):
        self.scenario, self.variables, self.values = scenario, variables, values
        self.name = ",".join("%s=%s" % kv for kv in variables.items()) or "run"
        t = Table("run", table)
        self.duration = t.take("duration", "time")
        window = t.take("window", list, ["0s", table["duration"]])
        self.window = [quantity("time", w) for w in window]
        if len(window) != 2 or not 0 <= self.window[0] < self.window[1] <= self.duration:
            raise ScenarioError("window: is not within the duration")
        self.profile = t.take("profile", str)
        self.settings = t.take("settings", dict, {})
        self.line = t.take("line", LINE, "told")
        self.sample = t.take("sample", "time", "%dns" % max(10_000, self.duration // 50_000))
        self.record = t.take("record", "time", "%dns" % max(100_000, self.duration // 1000))
        self.link = Link("link", t.take("link", dict))
        self.link.rest.done()
        self.switches = {n: Switch("switch " + n, n, s)
                         for n, s in self._switches(t.take("switch", dict)).items()}
        self.trunks = [Trunk("trunk", d, self.link) for d in t.take("trunk", list, [])]
        own = {d["name"]: d for d in t.take("host", list, [])}
        self.flows = []
        for d in t.take("flow", list):
            self._flows(d)
        self.changes = [Change(d) for d in t.take("change", list, [])]
        self.reaches = [Reach(d) for d in t.take("reach", list, [])]
        t.done()
        used = sorted({h for f in self.flows for h in (f.src, f.dst)}, key=lambda h: int(h[1:]))
        self.hosts = {name: self._host(name, own.pop(name, {})) for name in used}
        if own:
            raise ScenarioError("hosts without a flow: " + ", ".join(own))
        for c in self.changes:
            if c.host not in self.hosts:
                raise ScenarioError("change: host: no flow has %s" % c.host)
            if not 0 < c.at < self.duration:
                raise ScenarioError("change: at: is not within the duration")
        for r in self.reaches:
            if r.group and r.group not in {f.group for f in self.flows}:
                raise ScenarioError("reach %s: group: no flow has %s" % (r.name, r.group))

    def link_rate(self, host):
        """Mean over the window of the rate of a host's link."""
        begin, end = self.window
        steps = [(0, host.link.rate)] + [(c.at, c.rate) for c in self.changes
                                         if c.host == host.name] + [(end, 0)]
        return sum(rate * max(0, min(until, end) - max(at, begin))
                   for (at, rate), (until, _) in zip(steps, steps[1:])) / (end - begin)

    def _switches(self, table):
        """[switch] is one switch, s1; [switch.s1] and [switch.s2] are two."""
        return table if all(isinstance(v, dict) for v in table.values()) else {"s1": table}

    def _host(self, name, table):
        table = {k: v for k, v in table.items() if k != "name"}
        link = Link("host " + name, table, self.link)
        switch = link.rest.take("switch", str, next(iter(self.switches)))
        profile = link.rest.take("profile", str, self.profile)
        settings = link.rest.take("settings", dict, {})
        link.rest.done()
        if switch not in self.switches:
            raise ScenarioError("host %s: there is no switch %s" % (name, switch))
        return Host(name, switch, link, profile, {**self.settings, **settings})

    def _flows(self, table):
        t = Table("flow", table)
        sources = names(t.take("from", str))
        target = t.take("to", str)
        start, stagger = t.take("start", "time", "0s"), t.take("stagger", "time", "0s")
        qps = t.take("qps", int, 1)
        common = {
            "verb": t.take("verb", str, "write"), "transport": t.take("transport", str, "rc"),
            "size": t.take("size", "size", "64KiB"), "depth": t.take("depth", int, 4),
            "mtu": t.take("mtu", int, 4096), "timeout": t.take("timeout", int, 14),
            "count": t.take("count", int, 0), "tclass": t.take("tclass", int, 0),
            "stop": t.take("stop", "time", "%dns" % self.duration),
            "group": t.take("group", str, ""),
        }
        t.done()
        for i, src in enumerate(s for s in sources for _ in range(qps)):
            f = Flow()
            f.__dict__.update(common, id=len(self.flows), src=src, dst=names(target)[0],
                              start=start + i * stagger)
            self.flows.append(f)


def _note(table):
    """Of which runs, and what is to be said of them."""
    t = Table("note", table)
    out = t.take("if", str), t.take("text", str)
    t.done()
    return out


def _expectation(table):
    """A mistake shall be told before anything is simulated."""
    t = Table("expect", table)
    out = {"when": t.take("when", dict, {}), "if": t.take("if", str, "1"),
           "than": t.take("than", dict, {})}
    for name, texts in t.rest.items():
        out[name] = texts if isinstance(texts, list) else [texts]
        for text in out[name]:
            op, _, limit = str(text).partition(" ")
            if op not in OPERATORS or not limit:
                raise ScenarioError("expect: %s: %r is not one of %s and a limit" %
                                    (name, text, " ".join(OPERATORS)))
    return out


class Values(dict):
    """The sweep's values as numbers, and what [let] makes of them, in any order."""

    def __init__(self, inner, let):
        super().__init__({k: number(v) for k, v in inner.items()})
        self.let = {k: v for k, v in let.items() if k not in inner}
        self.asked = []

    def __missing__(self, name):
        if name not in self.let:
            raise KeyError(name)
        if name in self.asked:
            raise ScenarioError("let: %s: is made of itself" % name)
        self.asked.append(name)
        value = evaluate(self.let[name], self)
        self[name] = round(value) if isinstance(value, float) and value > 1e6 else value
        self.asked.pop()
        return self[name]

    def all(self):
        return {**{name: self[name] for name in self.let}, **self}


def _load(path, above=()):
    """The tables of a file; what it has not is as in the scenario that it is like."""
    try:
        with open(path, "rb") as f:
            table = tomllib.load(f)
    except FileNotFoundError:
        raise ScenarioError("there is no scenario %s" % path) from None
    except tomllib.TOMLDecodeError as e:
        raise ScenarioError(str(e)) from None
    like = table.pop("like", None)
    if like is None:
        return table
    path = os.path.join(os.path.dirname(path), "%s.toml" % like)
    if path in above:
        raise ScenarioError("like: %s is like itself" % like)
    other = _load(path, (*above, path))
    return {**other, **table, "let": {**other.get("let", {}), **table.get("let", {})}}


class Scenario:
    def __init__(self, path):
        self.path = os.path.basename(path)
        self.name = os.path.splitext(self.path)[0]
        try:
            table = _load(path)
            self.title = table.pop("title", self.name)
            self.expect = [_expectation(e) for e in table.pop("expect", [])]
            self.notes = [_note(n) for n in table.pop("note", [])]
            picture = table.pop("picture", None)
            self.picture = picture and Picture(picture)
            let, skip = table.pop("let", {}), table.pop("skip", "0")
            self.runs = []
            for variables, inner in combinations(table.pop("sweep", {})):
                values = Values(inner, let).all()
                if not evaluate(skip, values):
                    self.runs.append(Run(self, variables, values,
                                         fill(table, {**values, **inner})))
        except ScenarioError as e:
            raise ScenarioError("%s: %s" % (self.path, e)) from None
