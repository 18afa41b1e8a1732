# SPDX-License-Identifier: GPL-2.0
"""Scenario files: a fabric, what runs on it, and what has to come out.

Like the simulator's (tools/sim), with the keys of Documentation/lab.rst. Every
combination of the sweep's values is one run; runs follow each other on the same
guests where they can.
"""

import glob
import os
import tomllib

from tables import ScenarioError, Table, expand, expects, names
from topology import Topology

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "scenarios")

FABRIC_KEYS = ("hosts", "profile", "settings", "link", "switch", "trunk", "host")


class Flow:
    """QPs from a host to another, started and stopped together; times in ns."""

    def __init__(self, table, src, duration):
        t = Table("flow", table)
        self.src, self.dst = src, t.take("to", str)
        t.rest.pop("from")
        self.group = t.take("group", str, "")
        self.qps = t.take("qps", int, 1)
        self.verb = t.take("verb", ("send", "write", "read"), "send")
        self.transport = t.take("transport", ("rc", "uc", "ud"), "rc")
        self.mtu = t.take("mtu", int, 1024)
        self.size = t.take("size", "size", self.mtu if self.transport == "ud" else 65536)
        self.depth = t.take("depth", int, 4)
        self.timeout = t.take("timeout", int, 17)
        self.start = t.take("start", "time", "0s")
        self.stop = t.take("stop", "time", "%dns" % duration)
        t.done()
        if self.src == self.dst:
            raise ScenarioError("a flow from %s to itself does not pass the network" % self.src)
        if self.start >= self.stop or self.stop > duration:
            raise ScenarioError("a flow's start, stop and the duration must follow each other")
        if (self.transport == "ud" and self.verb != "send") or \
           (self.transport == "uc" and self.verb == "read"):
            raise ScenarioError("there is no %s over %s" % (self.verb, self.transport))

    @property
    def kind(self):
        """All but its times."""
        return (self.src, self.dst, self.qps, self.verb, self.transport, self.mtu, self.size,
                self.depth, self.timeout)

    @property
    def client(self):
        """Whose perftest takes the initiative: a read is asked for by its target."""
        return self.dst if self.verb == "read" else self.src

    @property
    def server(self):
        return self.src if self.verb == "read" else self.dst


class Run:
    """One combination of the sweep's values."""

    def __init__(self, scenario, variables, table, scale):
        self.name = ",".join(str(v) for v in variables.values()) or "run"
        self.scenario, self.variables = scenario.name, variables
        t = Table(scenario.file, table)
        self.duration = t.take("duration", "time")
        window = t.take("window", list)
        if len(window) != 2:
            raise ScenarioError("%s: a window has two ends" % scenario.file)
        ends = Table("window", dict(zip(("begin", "end"), window)))
        self.window = [ends.take("begin", "time"), ends.take("end", "time")]
        if not 0 <= self.window[0] < self.window[1] <= self.duration:
            raise ScenarioError("%s: window is not within the duration" % scenario.file)
        flows = t.take("flow", list)
        self.flows = [Flow(d, src, self.duration) for d in flows
                      for src in names(Table("flow", d).take("from", str))]
        self.topology = Topology(t, {h for f in self.flows for h in (f.src, f.dst)})
        t.done()
        for thing in (self, *self.flows):
            for key in ("duration", "start", "stop"):
                if hasattr(thing, key):
                    setattr(thing, key, round(getattr(thing, key) * scale))
        self.window = [round(w * scale) for w in self.window]
        if not any(f.start == 0 for f in self.flows):
            raise ScenarioError("%s: no flow starts at 0" % scenario.file)

    @property
    def kinds(self):
        return [f.kind for f in self.flows]

    @property
    def content(self):
        """What two runs have in common that differ in their names only."""
        return (self.kinds, [(f.start, f.stop) for f in self.flows], self.duration, self.window,
                self.topology.content)

    @property
    def targets(self):
        """The ports through which flows reach their hosts."""
        return list({p.name: p for f in self.flows
                     for p in self.topology.path(f.src, f.dst)[-1:]}.values())

    @property
    def queues(self):
        """The ports that flows pass."""
        return list({p.name: p for f in self.flows
                     for p in self.topology.path(f.src, f.dst)}.values())


def load(path):
    try:
        with open(path, "rb") as f:
            return tomllib.load(f)
    except FileNotFoundError:
        raise ScenarioError("there is no scenario %s; there are %s" %
                            (path, ", ".join(listed()))) from None
    except tomllib.TOMLDecodeError as e:
        raise ScenarioError("%s: %s" % (path, e)) from None


class Scenario:
    """only: runs that are wanted; short: as few and as short as still tell."""

    def __init__(self, name, only=(), short=False):
        self.path = find(name)
        self.file = os.path.basename(self.path)
        self.name = os.path.splitext(self.file)[0]
        table = load(self.path)
        self.title = table.pop("title", self.name)
        self.expect = table.pop("expect", [])
        brief = Table("short", table.pop("short", {}))
        scale, runs = brief.take("scale", float, 0.6), brief.take("runs", list, [])
        brief.done()
        self.runs = [Run(self, v, t, scale if short else 1)
                     for v, t in expand(table, table.pop("sweep", {}))]
        expects(self.file, self.expect, [r.variables for r in self.runs])
        if short:
            only = only or [str(r) for r in runs]
        self.names = {r.name for r in self.runs}
        missing = set(only) - self.names
        if missing:
            raise ScenarioError("%s has no run %s; it has %s" % (
                self.name, ", ".join(missing), ", ".join(r.name for r in self.runs)))
        if only:
            self.runs = [r for r in self.runs if r.name in only]


def find(name):
    return name if name.endswith(".toml") else os.path.join(SCENARIOS, name + ".toml")


def listed():
    return sorted(os.path.basename(p)[:-len(".toml")]
                  for p in glob.glob(os.path.join(SCENARIOS, "*.toml")))


def fabric_tables(name):
    """The tables of a file's fabric alone: of a scenario, those of its first run."""
    table = load(find(name))
    swept = "{" in str(table.get("profile", ""))
    _, table = expand(table, table.pop("sweep", {}))[0]
    fabric = {k: v for k, v in table.items() if k in FABRIC_KEYS}
    own = {h.get("name") for h in fabric.get("host", [])}
    used = {h for f in table.get("flow", []) for h in names(f["from"] + "," + f["to"])}
    fabric["host"] = fabric.get("host", []) + [{"name": h} for h in sorted(used - own)]
    if swept:
        del fabric["profile"]       # the usual one, rather than the sweep's first
    return fabric
