# SPDX-License-Identifier: GPL-2.0
"""The simulator's scenario files: what is simulated, and what has to come out.

Documentation/infiniband/rdma_dcqcn_sim.rst has the keys.
"""

import os
import re

from ..core.paths import SIM
from ..core.scenario import (MTUS, PROFILES, TIMEOUT_MAX, TRANSPORTS, VERBS, Directory, Scenario,
                             check_verb, names)

SCENARIOS = Directory(os.path.join(SIM, "scenarios"))


class Link:
    """A cable: rate in bit/s, one-way delay and jitter in ns."""

    def __init__(self, t, like=None):
        self.rate = t.take("rate", "rate", like and "%dbit" % like.rate, 1000)
        self.delay = t.take("delay", "time", like and "%dns" % like.delay or "0us")
        self.jitter = t.take("jitter", "time", like and "%dns" % like.jitter or "0us")


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
        t.done()

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


class Simulation(Scenario):
    directory = SCENARIOS

    def __init__(self, name, only=()):
        super().__init__(name, only)
        self.must_expect()

    def run(self, variables, table):
        return Run(self, variables, table)
