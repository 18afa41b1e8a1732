# SPDX-License-Identifier: GPL-2.0
"""The parts of a fabric, from the tables of a scenario or fabric file.

    dcbx        on: LLDP agents at switches and hosts agree on PFC
    [link]      of every host to its switch: rate, delay
    [switch]    one switch, s1; or [switch.s1], [switch.s2]: thresholds
    [[trunk]]   a link between two switches: a, b, rate, delay
    [[host]]    what is different about a host: name, switch, rate, delay,
                profile, settings

A rate is that of the switch's port; traffic from a guest into the switch is not
limited. A delay is one way. Documentation/lab.rst has all keys.
"""

import re

from ..core.scenario import PROFILES, priorities

# keys in the words of congestion-point and guest/switch-port, in their order
MARKING = ("kmin", "kmax", "pmax", "buffer", "cnp", "ecn")
PAUSING = ("pfc", "xoff", "xon", "headroom")
# The headroom is what 48 Mb/s send in 67 ms: emulated guests on a busy machine may obey that late
PAUSES = {"xoff": "60KB", "xon": "30KB", "headroom": "400KB"}
PORTS = ("dcbport", "tc")
CNPS = 6            # the priority of CNPs
# congestion-point's ranges: bit/s, and bytes
RATE, BUFFER_MAX = (10**6, 400 * 10**9), 10**9
HOSTS_MAX = 64      # more than any machine has memory for


class Link:
    """Rate in bit/s, one-way delay in ns."""

    def __init__(self, table, like=None):
        self.rate = table.take("rate", "rate", like and "%dbit" % like.rate, *RATE)
        self.delay = table.take("delay", "time", "%dns" % like.delay if like else "0ms")


class Switch:
    """A switch: the thresholds of each of its ports."""

    def __init__(self, name, t, port):
        """port: the kind of its ports unless its table says."""
        self.name = name
        if not re.fullmatch(r"s\d+", name):
            raise t.error(name, "switches are s1, s2, and so on")
        self.kmin = t.take("kmin", "size", least=1, most=BUFFER_MAX)
        self.kmax = t.take("kmax", "size", least=2, most=BUFFER_MAX)
        self.pmax = t.take("pmax", "share", least=1e-6, most=1)
        self.buffer = t.take("buffer", "size", least=2000, most=BUFFER_MAX)
        if self.kmin >= self.kmax:
            raise t.error("kmin", "%d is not below kmax, %d" % (self.kmin, self.kmax))
        if self.kmax > self.buffer:
            raise t.error("kmax", "%d is above the buffer, %d" % (self.kmax, self.buffer))
        self.cnp = t.take("cnp", ("strict", "data"), "strict")
        self.ecn = t.take("ecn", ("mark", "strip"), "mark")
        self.port = t.take("port", PORTS, port)
        self._pausing(t)
        t.done()

    def _pausing(self, t):
        """Read the keys that only ports of dcbport have."""
        prios = priorities(t, "pfc", "none")
        self.pfc = ",".join(map(str, prios)) or "none"
        if prios and self.port == "tc":
            raise t.error("port", "must be dcbport for pfc (make builds that module)")
        if CNPS in prios:
            raise t.error("pfc", "%d is the priority of CNPs, which must not wait" % CNPS)
        if prios and self.cnp != "strict":
            raise t.error("cnp", "must be strict with pfc: CNPs queued with the data would be paused")
        for key, usual in PAUSES.items():
            setattr(self, key, t.take(key, "size", usual, most=BUFFER_MAX))
        if self.xon > self.xoff:
            raise t.error("xon", "must not be above xoff")
        if prios and not self.headroom:
            raise t.error("headroom", "must be above 0 with pfc, for packets in flight")


class Host:
    def __init__(self, name, t, link, switch, profile, settings):
        m = re.fullmatch(r"h([1-9]\d{0,2})", name)
        if not m:
            raise t.error("name", "%s: hosts are h1, h2, and so on" % name)
        self.name = name
        self.link = Link(t, link)
        self.switch = t.take("switch", str, switch)
        self.profile = t.take("profile", PROFILES, profile)
        self.settings = {**settings, **t.knobs("settings")}
        t.done()
        high, low = divmod(int(m[1]) - 1, 250)
        self.address = "10.0.%d.%d" % (high, low + 1)
        self.address6 = "fd00::%s" % m[1]


class Port:
    """A switch's port, named after its neighbour."""

    def __init__(self, switch, peer, link, delay):
        self.switch, self.peer, self.rate, self.delay = switch.name, peer, link.rate, delay
        self.name = "%s.%s" % (switch.name, peer)
        self.port = switch.port
        self.keys = MARKING + PAUSING * (self.port == "dcbport")
        for key in MARKING + PAUSING:
            setattr(self, key, getattr(switch, key))

    def wanted(self):
        """The words that configure it, the first time and later."""
        return self.marking() + " delay %dns" % self.delay * (self.port == "dcbport")

    def marking(self):
        """Its settings, as congestion-point or switch-port takes and shows them."""
        return "rate %dbit " % self.rate + " ".join("%s %s" % (key, getattr(self, key))
                                                    for key in self.keys)

    @property
    def prios(self):
        """Its priorities with PFC."""
        return [int(p) for p in self.pfc.split(",")] if self.pfc != "none" else []

    def take_marking(self, text):
        words = text.split()
        shown = dict(zip(words[::2], words[1::2]))
        self.rate = int(shown["rate"][:-len("bit")])
        for key in self.keys:
            setattr(self, key, type(getattr(self, key))(shown[key]))


class Topology:
    """hosts, switches: by name; ports: of all switches, by name."""

    def __init__(self, table, hosts=(), port=PORTS[0]):
        """Takes its keys from a Table. hosts: hosts that must exist; port: the kind of ports
        by default."""
        self.dcbx = table.take("dcbx", ("off", "on"), "off") == "on"
        profile = table.take("profile", PROFILES, "auto")
        settings = table.knobs("settings")
        t = table.table("link")
        link = Link(t)
        t.done()
        t = table.table("switch")
        if t.rest and all(isinstance(v, dict) for v in t.rest.values()):
            self.switches = {n: Switch(n, t.table(n), port) for n in list(t.rest)}
        else:
            self.switches = {"s1": Switch("s1", t, port)}
        if self.dcbx and any(s.port == "tc" for s in self.switches.values()):
            raise table.error("dcbx", "needs switches with port = dcbport (make builds that module)")
        own = {}
        for h in table.tables("host", []):
            name = h.take("name", str)
            if name in own:
                raise h.error("name", "host %s is defined twice" % name)
            own[name] = h
        count = table.take("hosts", int, 0, 0, HOSTS_MAX)
        wanted = set(own) | set(hosts) | {"h%d" % (n + 1) for n in range(count)}
        if not wanted:
            raise table.error("hosts", "a fabric needs at least one")
        first = next(iter(self.switches))
        self.hosts = {}
        for name in sorted(wanted, key=lambda n: (len(n), n)):
            t = own.get(name) or table.empty("host " + name)
            h = self.hosts[name] = Host(name, t, link, first, profile, settings)
            if h.switch not in self.switches:
                raise t.error("switch", "there is no switch %s" % h.switch)
        self.table = table
        self.trunks = [self._trunk(t, link) for t in table.tables("trunk", [])]
        self.ports = {}
        for h in self.hosts.values():
            self._port(self.switches[h.switch], h.name, h.link, 2 * h.link.delay)
        for a, b, own_link in self.trunks:
            self._port(a, b.name, own_link, own_link.delay)
            self._port(b, a.name, own_link, own_link.delay)
        if len(self.trunks) >= len(self.switches):
            raise table.error("trunk", "the trunks form a loop, and bridges would circulate packets")
        # everything that cannot be changed without other guests and wires
        self.shape = (tuple((h.name, h.switch) for h in self.hosts.values()),
                      tuple((a.name, b.name) for a, b, _ in self.trunks))
        for h in self.hosts.values():
            self.path(next(iter(self.hosts)), h.name)     # check that all are connected

    @property
    def content(self):
        """All of it, for comparison."""
        return (self.shape, self.dcbx, [(p.marking(), p.delay) for p in self.ports.values()],
                [(h.profile, h.settings) for h in self.hosts.values()])

    def _trunk(self, t, link):
        ends = t.take("a", str), t.take("b", str)
        for key, end in zip("ab", ends):
            if end not in self.switches:
                raise t.error(key, "there is no switch %s" % end)
        own_link = Link(t, link)
        t.done()
        return self.switches[ends[0]], self.switches[ends[1]], own_link

    def _port(self, switch, peer, link, delay):
        p = Port(switch, peer, link, delay)
        if p.name in self.ports:
            raise self.table.error("trunk", "%s and %s are connected twice" % (switch.name, peer))
        self.ports[p.name] = p

    def path(self, src, dst):
        """The ports that packets pass from one host to another."""
        if src == dst:
            return []
        start, goal = self.hosts[src].switch, self.hosts[dst].switch
        ways = {start: []}
        todo = [start]
        for s in todo:
            for p in self.ports.values():
                if p.switch == s and p.peer in self.switches and p.peer not in ways:
                    ways[p.peer] = ways[s] + [p]
                    todo.append(p.peer)
        if goal not in ways:
            raise self.table.error("trunk", "no path leads from %s to %s" % (src, dst))
        return ways[goal] + [self.ports["%s.%s" % (goal, dst)]]
