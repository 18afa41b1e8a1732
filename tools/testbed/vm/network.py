# SPDX-License-Identifier: GPL-2.0
"""The guests of a topology: booted, connected, with marking switches, with or without the module."""

import os
import re
import shutil
import subprocess

from ..core import sources
from ..core.errors import InputError, LabError
from ..core.paths import DCBPORT, LAB, TOP
from ..core.scenario import check_knobs
from .guest import HOST_NICE, SWITCH_NICE, ask, gather

# The parent of the queue: class dc1:1 for congestion-point's RED, or the root
QSAMPLE_PARENT = {"tc": "dc10001", "dcbport": "ffffffff"}
# Commands that set and show ports, in a switch
SETTER = {"tc": "/lab/congestion-point", "dcbport": "/lab/switch-port"}
SHOWER = {"tc": "/lab/congestion-point show br0", "dcbport": "/lab/switch-port show"}
COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"
ECN = "/sys/class/net/eth0/ecn"


def default_port(image):
    """The default kind of switch ports: dcbport if its module is built for the guests' kernel,
    otherwise tc."""
    module = image.built(TOP, DCBPORT)
    if not os.path.exists(module):
        return "tc"
    if os.path.isdir(image.root):       # or it will be built, for the newest kernel
        try:
            check_module(module, image)
        except LabError:
            return "tc"
    return "dcbport"


def check_module(module, image):
    """Raise InputError unless the module is built for the guests' kernel."""
    try:
        with open(module, "rb") as f:
            magic = re.search(rb"\0vermagic=(\S+)", f.read())
    except OSError as e:
        raise InputError("%s cannot be read: %s" % (module, e.strerror))
    if not magic:
        raise InputError("%s is not a kernel module" % module)
    if magic[1].decode() != image.release:
        raise InputError("%s is for kernel %s, but the guests run %s: make KDIR=%s, or "
                       "lab build --kernel" %
                       (module, magic[1].decode(), image.release, image.kdir))


def check_ports(topologies, image):
    """Raise an error if switches have ports of dcbport, unless its module is for the guests'
    kernel."""
    if any(p.port == "dcbport" for t in topologies for p in t.ports.values()):
        module = image.built(TOP, DCBPORT)
        if not os.path.exists(module):
            raise InputError("%s is not built, and switches have port = dcbport: make KDIR=%s, or "
                             "lab build --kernel" % (module, image.kdir))
        check_module(module, image)


class Network:
    """vms: hosts and switches, by name. Works on guests of this process, and on
    those of "lab up" in another process."""

    def __init__(self, topology, vms, share, clock):
        """clock: of the guests."""
        self.topology, self.vms, self.share, self.clock = topology, vms, share, clock
        self.hosts = [vms[h] for h in topology.hosts]
        self.module = os.path.join(share, "rdma_dcqcn.ko")
        self.marking, self.delay = {}, {}       # by port: settings that are in force
        self.obeying = {}                       # by host: settings by which it obeys pauses
        self.agents = False                     # whether those for DCBX run
        self._gids, self._epochs = None, {}

    @classmethod
    def boot(cls, topology, fabric, module=None):
        """Boot the guests in a Fabric. module: the file that set_profiles() and configure()
        load."""
        vms = {}
        for h in topology.hosts.values():
            vms[h.name] = fabric.vm(h.name, nice=HOST_NICE)
        for s in topology.switches:
            vms[s] = fabric.vm(s, nice=SWITCH_NICE)
        for h in topology.hosts.values():
            fabric.wire(vms[h.name].nic([h.address + "/16", h.address6 + "/64"]),
                        vms[h.switch].nic(rdma=False, name=h.name))
        for a, b, _ in topology.trunks:
            fabric.wire(vms[a.name].nic(rdma=False, name=b.name),
                        vms[b.name].nic(rdma=False, name=a.name))
        for name in ("qsample", "lateness"):
            try:
                subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o",
                                os.path.join(fabric.share, name),
                                os.path.join(LAB, "guest", name + ".c")], check=True)
            except (OSError, subprocess.CalledProcessError) as e:
                raise LabError("%s.c does not build (run tools/lab/deps?): %s" % (name, e))
        if module:
            check_module(module, fabric.image)
            shutil.copy(module, os.path.join(fabric.share, "rdma_dcqcn.ko"))
        cls._share_dcbport(fabric)
        fabric.boot()
        n = cls(topology, vms, fabric.share, fabric.clock)
        for s in topology.switches:
            vms[s].run("/lab/bridge %s && cp /lab/share/qsample /run/" %
                       " ".join(p.peer for p in n.ports(s)))
        for h in topology.hosts:
            other = next((o for o in topology.hosts.values() if o.name != h), None)
            if other:
                vms[h].wait_for("ping -c 1 -W 1 " + other.address)
        return n

    @staticmethod
    def _share_dcbport(fabric):
        """Give guests the module dcbport and the command dcqcn, which configures it."""
        if default_port(fabric.image) == "dcbport":
            for path in (fabric.image.built(TOP, DCBPORT), sources.dcqcn()):
                shutil.copy2(path, fabric.share)

    def ports(self, switch):
        return [p for p in self.topology.ports.values() if p.switch == switch]

    def configure(self, topology):
        """Configure switches and hosts as in a topology of the same shape."""
        self.topology = topology
        if self.agents and not topology.dcbx:
            self._silence()
        todo = [(self.vms[s], "\n".join(["set -e", *commands]))
                for s in topology.switches if (commands := self._switching(s))]
        gather(todo + [(self.vms[h.name], "set -e\n" + self._obeying(h) +
                        self._loading(h.profile) + self._setting(h.settings))
                       for h in topology.hosts.values()])
        if topology.dcbx:
            self._agree()

    def _silence(self):
        """Undo the settings of all ports, which stops the agents, too."""
        self.agents, self.obeying = False, {}
        out = [(self.vms[h], "/lab/switch-port undo eth0") for h in self.topology.hosts]
        for s in self.topology.switches:
            mine = self.ports(s)
            for p in mine:
                self.marking.pop(p.name, None)
            out.append((self.vms[s], "/lab/switch-port undo " + " ".join(p.peer for p in mine)))
        gather(out)

    def _switching(self, switch):
        """The commands that bring a switch to the topology's settings."""
        commands, peers = [], {}
        for p in self.ports(switch):
            before, wanted = self.marking.get(p.name, ("", "")), (p.port, p.wanted())
            if before[0] not in ("", p.port):
                commands += ["/lab/switch-port undo " + p.peer, "/lab/delay %s 0" % p.peer]
                self.delay.pop(p.name, None)
            if before != wanted:
                peers.setdefault(wanted, []).append(p.peer)
            if p.port == "tc" and self.delay.get(p.name, 0) != p.delay:
                commands.append("/lab/delay %s %d" % (p.peer, p.delay // 1000))
                self.delay[p.name] = p.delay
            self.marking[p.name] = wanted
        return commands + ["%s set %s %s" % (SETTER[port], " ".join(names), words)
                           for (port, words), names in peers.items()]

    def _obeying(self, host):
        """The commands that make a host obey its switch's pauses."""
        port = self.topology.ports["%s.%s" % (host.switch, host.name)]
        pfc = "none" if self.topology.dcbx else port.pfc
        wanted = ("rate %dbit pfc %s" % (port.rate, pfc)
                  if self.topology.dcbx or port.prios else "")
        if self.obeying.get(host.name, "") == wanted:
            return ""
        self.obeying[host.name] = wanted
        return "/lab/switch-port %s\n" % ("host " + wanted if wanted else "undo eth0")

    def _agree(self):
        """Make neighbours agree on PFC by DCBX, and wait until they do."""
        t = self.topology
        if not self.agents:
            self.agents = True
            gather([(self.vms[s], "/lab/switch-port announce " +
                     " ".join(p.peer for p in self.ports(s))) for s in t.switches] +
                   [(self.vms[h], "/lab/switch-port obey") for h in t.hosts])
        for h in t.hosts.values():
            wanted = t.ports["%s.%s" % (h.switch, h.name)].prios
            self.vms[h.name].wait_for(
                '[ "$(dcqcn -j port show dev eth0 | jq -c .[0].pfc)" = "%s" ]' %
                str(wanted).replace(" ", ""), what="%s to agree on PFC" % h.name)

    def look(self):
        """Update the topology's ports with the switches' present settings."""
        for s, switch in self.topology.switches.items():
            shown = self.vms[s].out(SHOWER[switch.port]).splitlines()
            for line in shown[::2]:
                peer, _, settings = line.partition(" ")
                self.topology.ports["%s.%s" % (s, peer)].take_marking(settings)

    def set_profiles(self, profiles):
        """By host: unload the module, and load it again with a profile, unless that is stock."""
        gather([(self.vms[host], "set -e\n" + self._loading(profile))
                for host, profile in profiles.items()])

    def set_knobs(self, host, settings):
        """Set knobs. settings: value by file name, with or without ecn/roce_np or ecn/roce_rp."""
        self.vms[host].run("set -e\n" + self._setting(settings))

    def _loading(self, profile):
        """The commands with which a host loads the module with a profile."""
        if profile != "stock" and not os.path.exists(self.module):
            raise LabError("profile %s needs the module, which this lab does not have" % profile)
        return "! grep -q ^rdma_dcqcn /proc/modules || rmmod rdma_dcqcn\n" + (
            "" if profile == "stock" else
            "insmod /lab/share/rdma_dcqcn.ko profile=%s\n" % profile)

    @staticmethod
    def _setting(settings):
        """The commands with which a host sets knobs."""
        commands = ""
        check_knobs("settings", settings)
        for name, value in settings.items():
            commands += (
                "cd %s || { echo the module is not loaded >&2; exit 1; }\n"
                "f=$(ls -d %s roce_?p/%s 2>/dev/null | head -n 1) || true\n"
                "[ -n \"$f\" ] || { echo there is no knob %s >&2; exit 1; }\n"
                "echo %s >$f\n" % (ECN, name, name, name, value))
        return commands

    def profile(self, host):
        """The profile with which a host has loaded the module; stock if it has not."""
        return self.vms[host].out(
            "cat /sys/module/rdma_dcqcn/parameters/profile 2>/dev/null || echo stock")

    def gids(self):
        """The index of each host's RoCEv2 address, by host."""
        if self._gids is None:
            self._gids = dict(zip(self.topology.hosts,
                                  gather([(h, "/lab/gid rxe0") for h in self.hosts])))
        return self._gids

    def epoch(self, guest):
        """A guest's uptime and real time at time 0 of the guests' clock. Read only once, without
        traffic, because an idle guest answers at once."""
        if guest not in self._epochs:
            best = None
            for _ in range(3):
                before = self.clock.monotonic()
                up, real = map(float, self.vms[guest].out(
                    "cut -d' ' -f1 /proc/uptime; date +%s.%N").split())
                after = self.clock.monotonic()
                if best is None or after - before < best[0]:
                    best = (after - before, up - (before + after) / 2, real - (before + after) / 2)
            self._epochs[guest] = best[1:]
        return self._epochs[guest]

    def ask_counters(self):
        """Ask all hosts for hw_counters; return a function that waits for the answers."""
        answers = ask([(h, "cd %s && grep . *" % COUNTERS) for h in self.hosts])
        return lambda: [{k: int(v) for k, v in (line.split(":") for line in text.splitlines())}
                        for text in answers()]

    def counters(self):
        return self.ask_counters()()

    def splats(self):
        return [line for v in self.vms.values() for line in v.splats()]
