# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what is simulated, and what has to come out.

A scenario is a TOML file (Documentation/infiniband/rdma_dcqcn_sim.rst has the
keys). Strings may contain {name} of a sweep's variable; every combination of
the sweep's values is one run.
"""

import os
import re
import tomllib

from tables import ScenarioError, Table, expand, expects, names, quantity

class Link:
    """A cable: rate in bit/s, one-way delay and jitter in ns."""

    def __init__(self, where, table, like=None):
        t = Table(where, table)
        self.rate = t.take("rate", "rate", like and "%dbit" % like.rate)
        self.delay = t.take("delay", "time", like and "%dns" % like.delay or "0us")
        self.jitter = t.take("jitter", "time", like and "%dns" % like.jitter or "0us")
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


class Flow:
    pass


class Run:
    """One combination of the sweep's values: name, hosts, switches, flows, ..."""

    def __init__(self, scenario, variables, table):
        self.scenario, self.variables = scenario, variables
        self.name = ",".join("%s=%s" % kv for kv in variables.items()) or "run"
        t = Table(scenario.path, table)
        self.duration = t.take("duration", "time")
        window = t.take("window", list, ["0s", table["duration"]])
        self.window = [quantity("time", w) for w in window]
        if len(window) != 2 or not 0 <= self.window[0] < self.window[1] <= self.duration:
            raise ScenarioError("%s: window is not within the duration" % scenario.path)
        self.profile = t.take("profile", str)
        self.settings = t.take("settings", dict, {})
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
        t.done()
        used = sorted({h for f in self.flows for h in (f.src, f.dst)}, key=lambda h: int(h[1:]))
        self.hosts = {name: self._host(name, own.pop(name, {})) for name in used}
        if own:
            raise ScenarioError("hosts without a flow: " + ", ".join(own))

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


class Scenario:
    def __init__(self, path):
        self.path = os.path.basename(path)
        self.name = os.path.splitext(self.path)[0]
        try:
            with open(path, "rb") as f:
                table = tomllib.load(f)
        except FileNotFoundError:
            raise ScenarioError("there is no scenario %s" % path) from None
        except tomllib.TOMLDecodeError as e:
            raise ScenarioError("%s: %s" % (path, e)) from None
        self.title = table.pop("title", self.name)
        self.expect = table.pop("expect", [])
        sweep = table.pop("sweep", {})
        self.runs = [Run(self, variables, filled) for variables, filled in expand(table, sweep)]
        expects(self.path, self.expect, [r.variables for r in self.runs])
