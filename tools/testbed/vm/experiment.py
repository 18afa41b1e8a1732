# SPDX-License-Identifier: GPL-2.0
"""The lab's scenario files: a fabric, flows and expectations.

Documentation/lab.rst has the keys. If possible, runs use the same guests, one after the other.
"""

import os

from ..core.paths import LAB
from ..core.scenario import (MTUS, TIMEOUT_MAX, TRANSPORTS, VERBS, Directory, Scenario, Table,
                             check_verb, expansion, names)
from . import report
from .topology import PORTS, Topology

SCENARIOS = Directory(os.path.join(LAB, "scenarios"))

FABRIC_KEYS = ("hosts", "dcbx", "profile", "settings", "link", "switch", "trunk", "host")


class Flow:
    """QPs from one host to another, started and stopped together; times in ns."""

    def __init__(self, t, src, duration):
        self.src, self.dst = src, t.take("to", str)
        self.group = t.take("group", str, "")
        self.qps = t.take("qps", int, 1, 1)
        self.verb = t.take("verb", VERBS, "send")
        self.transport = t.take("transport", TRANSPORTS, "rc")
        self.mtu = t.take("mtu", MTUS, 1024)
        self.size = t.take("size", "size", self.mtu if self.transport == "ud" else 65536, 1)
        self.depth = t.take("depth", int, 4, 1)
        self.timeout = t.take("timeout", int, 17, 0, TIMEOUT_MAX)
        self.tclass = t.take("tclass", int, 0, 0, 255)
        self.start = t.take("start", "time", "0s")
        self.stop = t.take("stop", "time", "%dns" % duration)
        t.done()
        if self.src == self.dst:
            raise t.error("to", "a flow from %s to itself does not pass the network" % self.src)
        if self.start >= self.stop or self.stop > duration:
            raise t.error("start", "must be before stop, and stop within the duration")
        check_verb(t, self)

    @property
    def kind(self):
        """Everything except its times."""
        return (self.src, self.dst, self.qps, self.verb, self.transport, self.mtu, self.size,
                self.depth, self.timeout, self.tclass)

    @property
    def client(self):
        """The host whose perftest is the client: the target of a read requests it."""
        return self.dst if self.verb == "read" else self.src

    @property
    def server(self):
        return self.src if self.verb == "read" else self.dst


class Run:
    """One combination of the sweep's values."""

    def __init__(self, scenario, variables, t, scale):
        self.name = ",".join(str(v) for v in variables.values()) or "run"
        self.scenario, self.variables = scenario.name, variables
        self.timely = scenario.timely
        self.duration = t.take("duration", "time", least=1)
        self.window = t.window("window", self.duration)
        self.flows = [Flow(Table(d.where, d.rest), src, self.duration)
                      for d in t.tables("flow") for src in names(d, "from")]
        self.topology = Topology(t, {h for f in self.flows for h in (f.src, f.dst)}, scenario.port)
        t.done()
        if self.name in report.KEYS:
            raise t.error("sweep", "%s is a key of result.json, so no run can have this name" %
                          self.name)
        if not any(f.start == 0 for f in self.flows):
            raise t.error("flow", "no flow starts at 0")
        self._check_groups(t)
        for thing in (self, *self.flows):
            for key in ("duration", "start", "stop"):
                if hasattr(thing, key):
                    setattr(thing, key, round(getattr(thing, key) * scale))
        self.window = [round(w * scale) for w in self.window]

    def _check_groups(self, t):
        """Check that its hosts and transport show a QP's group: captures have nothing else."""
        groups = {}
        for f in self.flows:
            if groups.setdefault((f.src, f.dst, f.transport), f.group) != f.group:
                raise t.error("flow", "those from %s to %s have the same transport, so they must "
                              "have the same group" % (f.src, f.dst))

    @property
    def kinds(self):
        return [f.kind for f in self.flows]

    @property
    def content(self):
        """A value that is equal for two runs that differ only in their names."""
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

    @property
    def pausing(self):
        """The ports that may send PFC frames."""
        return [p for p in self.topology.ports.values() if p.prios]


class Experiment(Scenario):
    """short: fewer and shorter runs; port: the kind of ports, unless the file says."""

    directory = SCENARIOS

    def __init__(self, name, only=(), short=False, port=PORTS[0]):
        self.short, self.port = short, port
        super().__init__(name, only)

    def prepare(self, table):
        # whether the expected figures need guests that are on time
        self.timely = table.take("timely", bool, True)
        brief = table.table("short", {})
        self.scale = brief.take("scale", float, 0.6, 0.01, 1)
        self.brief = [str(r) for r in brief.take("runs", list, [])]
        brief.done()

    def run(self, variables, table):
        return Run(self, variables, table, self.scale if self.short else 1)

    def known(self, run):
        return report.known(run)

    def choose(self, only):
        super().choose(only or (self.brief if self.short else ()))


def fabric_tables(name):
    """The tables of a file's fabric; for a scenario, those of its first run."""
    table = SCENARIOS.load(name)
    where = os.path.basename(SCENARIOS.find(name))
    swept = "{" in str(table.get("profile", ""))
    _, _, table = expansion(where, table)[0]
    fabric = {k: v for k, v in table.items() if k in FABRIC_KEYS}
    t = Table(where, table)
    own = {h.take("name", str) for h in t.tables("host", [])}
    used = {h for f in t.tables("flow", []) for key in ("from", "to") for h in names(f, key)}
    fabric["host"] = fabric.get("host", []) + [{"name": h} for h in sorted(used - own)]
    if swept:
        del fabric["profile"]       # the default rather than the sweep's first
    return fabric
