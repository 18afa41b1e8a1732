# SPDX-License-Identifier: GPL-2.0
"""Tests under User-mode Linux: the kernel, what is built for it, and the script
that it runs as its first process.

Hosts are network namespaces around a switch, as in the simulator's scenarios: hN has eth0 with
10.0.0.N and fd00::N, and the rxe device rxe_hN. Class TestNetwork describes them.
"""

import os
import re
import shutil
import subprocess

from testbed.core import command, sources
from testbed.core.errors import LabError
from testbed.core.kernel import Kernel
from testbed.core.paths import DCBPORT, MODULE, MODULE_PARTS, OUT, SIM, TOP
from testbed.core.tap import Tap
from testbed.sim import uml
from testbed.sim.builtin_rxe import BuiltIn

HERE = os.path.dirname(os.path.realpath(__file__))
SILENCE = 600   # s; tests say little, and machines are busy
MTU = 4200      # RoCE's 4096 and its headers


def arguments(name, what, seconds=None, seed=True):
    """A test's parser. seconds: the default duration, if there is an option for it; seed: the
    test is random."""
    p = command.Parser(prog=name, description=what)
    if seconds:
        p.add_argument("--seconds", type=command.number(1), default=seconds,
                       help="default: %d" % seconds)
    if seed:
        p.add_argument("--seed", type=command.number(0), default=1, help="default: 1")
    p.add_argument("--out", default=os.path.join(OUT, name), metavar="DIR",
                   type=command.directory, help="default: out/%s" % name)
    return p


def batches(lines):
    """The same, with one process for each run of ip or tc commands in a namespace, because
    starting processes takes the most time."""
    out, last = [], None
    for line in lines:
        m = re.match(r"((?:ip|tc) -n \w+) (.*)", line)
        if m and m[1] == last:
            out[-1] += m[2] + "\n"
        elif m:
            out.append("%s -batch - <<'END'\n%s\n" % m.groups())
        else:
            out.append(line)
        last = m and m[1]
    return [text + "END" if " -batch - <<" in text else text for text in out]


class TestNetwork:
    """A number of hosts; shell commands that set up all of them, or one."""

    def __init__(self, hosts, host_rate, port_rate, port="", red="", plain=(), without_rxe=()):
        self.hosts = ["h%d" % (i + 1) for i in range(hosts)]
        self.host_rate, self.port_rate = host_rate, port_rate
        self.netem, self.red = port, red
        self.plain = plain      # hosts whose switch ports do nothing: slow themselves
        self.without_rxe = without_rxe

    def host(self, name):
        out = ["ip netns add %s" % name, "ip -n %s link set lo up" % name] + self.link(name)
        if name not in self.without_rxe:
            out.append("ip netns exec %s rdma link add rxe_%s type rxe netdev eth0" % (name, name))
        return out

    def neighbours(self, name):
        """Restore what a network device loses when it is down or moved."""
        out = ["ip -n %s addr replace 10.0.0.%s/24 dev eth0" % (name, name[1:]),
               "ip -n %s addr replace fd00::%s/64 dev eth0 nodad" % (name, name[1:])]
        for m in range(1, len(self.hosts) + 1):
            for address in ("10.0.0.%d", "fd00::%d"):
                out.append("ip -n %s neigh replace %s lladdr 02:00:00:00:00:%02x dev eth0 "
                           "nud permanent" % (name, address % m, m))
        return out

    def link(self, name):
        """The cable between a host and the switch, addresses and queues."""
        n = int(name[1:])
        out = ["ip link add eth0 address 02:00:00:00:00:%02x mtu %d netns %s "
               "type veth peer name %s netns s1" % (n, MTU, name, name),
               "ip -n s1 link set %s mtu %d master br0 up" % (name, MTU),
               "ip -n %s link set eth0 up" % name] + self.neighbours(name)
        out.append("tc -n %s qdisc add dev eth0 root tbf rate %s burst 60000 limit 1073741824" %
                   (name, self.port_rate if name in self.plain else self.host_rate))
        return out if name in self.plain else out + self.port(name)

    def port(self, name):
        """The switch's port to a host."""
        out, parent = [], "root"
        if self.netem:
            out.append("tc -n s1 qdisc add dev %s root handle 1: netem limit 100000 %s" %
                       (name, self.netem))
            parent = "parent 1:1"
        out.append("tc -n s1 qdisc add dev %s %s handle 10: tbf rate %s burst 20000 "
                   "limit 10000000" % (name, parent, self.port_rate))
        if self.red:
            out.append("tc -n s1 qdisc add dev %s parent 10:1 red %s" % (name, self.red))
        return out

    def commands(self):
        out = ["ip netns add s1",
               "ip -n s1 link set lo up",
               "ip -n s1 link add name br0 mtu %d type bridge stp_state 0 mcast_snooping 0" % MTU,
               "ip -n s1 link set br0 up"]
        for name in self.hosts:
            out += self.host(name)
        return batches(out)


def programs(directory):
    """Build the programs that run in there."""
    subprocess.run(["make", "-s", "-C", os.path.join(TOP, "selftests/verbs"), "O=" + directory],
                   check=True)
    shutil.copy2(sources.dcqcn(), directory)


class TestKernel:
    """A kernel, its modules and our programs."""

    # A file of 96 MiB, whose pages the kernel may reclaim
    large, make_large = "/mnt/large", "truncate -s 96M /mnt/large"

    def __init__(self, out, debug=False, coverage=False, builtin=False):
        self.debug, self.coverage = debug, coverage
        self.kernel = (BuiltIn if builtin else Kernel)(debug).ensure()
        self.built = os.path.join(out, "built")
        self.bin = os.path.join(self.built, "bin")
        subprocess.run(["make", "-s", "-C", SIM, "OUT=" + self.bin,
                        self.bin + "/seed.so"], check=True)
        programs(self.bin)
        module = os.path.join(self.built, "module")
        if coverage:
            # the compiler's notes are read there afterwards
            shutil.rmtree(module, ignore_errors=True)
            self.kernel.module(TOP, MODULE_PARTS, module, ["GCOV_PROFILE=y"])
            self.dcqcn, self.dcbport = (os.path.join(module, m) for m in (MODULE, DCBPORT))
        else:
            self.dcqcn, self.dcbport = self.kernel.ours(module)
        self.modules = self.kernel.modules(*(
            "lib/dim/dimlib", "drivers/infiniband/core/ib_core",
            "drivers/infiniband/core/ib_uverbs_support", "drivers/infiniband/core/ib_uverbs",
            "net/sched/sch_red", "net/ipv4/udp_tunnel", "net/ipv6/ip6_udp_tunnel",
            "drivers/infiniband/sw/rxe/rdma_rxe"))

    def run(self, lines, out, silence=SILENCE):
        """Boot, and run these lines of shell. The directory is /mnt in there."""
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        mounts = ["mount -t debugfs debugfs /sys/kernel/debug"]
        if self.debug:
            mounts.append("mount -t tracefs tracefs /sys/kernel/tracing")
        uml.boot(self.kernel, os.path.join(self.bin, "seed.so"), self.modules,
                 "\n".join(mounts + lines), out,
                 mode=uml.REAL if self.debug else uml.SIMULATED, silence=silence)


def foreign(kernel, seed, seconds):
    """Shell commands for traffic that is not RoCE: foreign_traffic.py."""
    hosts = ["h%d" % n for n in range(1, 7)]
    net = TestNetwork(6, "1gbit", "1gbit", plain=hosts, without_rxe=hosts[3:])
    return net.commands() + ["python3 %s/foreign_traffic.py %s %s %d %d" % (
        HERE, kernel.dcqcn, kernel.bin, seed, seconds)]


def run_tap(kernel, lines, out, *comments, afterwards=lambda tap: None):
    """Boot, and run lines of shell. The last line is a program that prints TAP, which is passed
    on. afterwards(tap) may test what it left. The last test is that the kernel found no fault.
    Returns the exit status."""
    tap = Tap(*comments)
    error = None
    try:
        kernel.run(lines, out)
    except LabError as e:
        error = str(e)
    try:
        with open(os.path.join(out, "console")) as f:
            tap.relay(f.read())
    except FileNotFoundError:
        pass
    afterwards(tap)
    tap.result(not error, "the kernel found no fault", error)
    return tap.done()
