# SPDX-License-Identifier: GPL-2.0
"""Runs on the debug kernel, or on the simulator's: random DCB netlink to ports under traffic, of
which two have the same ifindex. The kernel must report nothing, all packets must be accounted for,
and nothing may be left in the end.

usage: dcbfuzz.py MODULE BINARIES MESSAGES SEED
"""

import collections
import resource
import struct
import subprocess
import sys
import time

from cases import same
from dcbnl import ETS, FIELDS, MAXRATE, Dcbnl
from lldp import wait
from wire import MS, S, Port, Socket, dcb, mac, packet, sh, sleep, unaccounted

MODULE, BINARIES, MESSAGES, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ROUND = 100000      # messages, after which the ports are looked at; at least ten times
TRAFFIC = 10 * MS   # from one load of packets to the next
PROGRESS = 60       # s between lines that say how far it is
COUNTED = "messages", "changes taken", "changes refused", "errors"


def cpu():
    """What the fuzzers that have ended have used, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shares(netns, device):
    """Percentage and algorithm of each class, and the class of each priority."""
    with Dcbnl(netns, device) as nl:
        form, names = FIELDS[ETS]
        values = dict(zip(names.split(), struct.unpack(form, nl.get(ETS))))
    return values["tx_bw"], values["tsa"], values["prio_tc"]


def check(netns, device):
    """Check what must always hold for a port; return its number of APP entries."""
    percent, tsa, classes = shares(netns, device)
    assert sum(percent) in (0, 100), percent
    for tc in classes:
        assert tsa[tc] == 0 or percent[tc], "class %d: %s %s" % (tc, percent, tsa)
    shown = dcb(netns, device, "app")
    entries = sum(map(len, shown.values()))
    assert entries <= 168, entries
    return entries


def main():
    sh("insmod " + MODULE)
    print("1..2", flush=True)
    sh("for n in a b; do ip netns add $n; done; "
       "ip link add a0 netns a mtu 4200 type veth peer name b0 netns b; "
       "ip -n a link set a0 up; ip -n b link set b0 mtu 4200 up; "
       "ip netns exec a %s/dcqcn port switch new s" % BINARIES)
    ports = [Port(BINARIES, "a", "a0"), Port(BINARIES, "b", "b0")]
    ports[0].set("switch s headroom 20KB")
    sockets = [Socket("a", "a0"), Socket("b", "b0")]
    entries, done = 0, collections.Counter()
    rounds = max(10, MESSAGES // ROUND)
    began, idle = time.monotonic(), cpu()
    told = began
    for n in range(rounds):
        fuzzers = [subprocess.Popen(["ip", "netns", "exec", netns, BINARIES + "/dcbfuzz",
                                     str(SEED * 1000 + n * 2 + i),
                                     str(MESSAGES // rounds // 2), *[netns + "0"] * 19, "lo"],
                                    stdout=subprocess.PIPE, text=True)
                   for i, netns in enumerate("ab")]
        while any(f.poll() is None for f in fuzzers):
            for s in sockets:
                s.send(*(packet(mac(2), mac(1), dscp=d) for d in range(64)))
                s.take()
            sleep(TRAFFIC)
        for f in fuzzers:
            done.update(dict(zip(COUNTED, map(int, f.stdout.read().split()))))
            same("its end", f.wait(), 0)
        entries += check("a", "a0") + check("b", "b0")
        # It counts as hung if it is silent for ten minutes
        if time.monotonic() - told > PROGRESS or n == rounds - 1:
            told = time.monotonic()
            print("# %d messages in %.0f s, %.0f per second of the fuzzers' CPU" %
                  (done["messages"], told - began, done["messages"] / max(cpu() - idle, .01)),
                  flush=True)
    print("# %s" % ", ".join("%s %d" % d for d in done.items()))
    assert entries and all(done.values()), "not of each kind"
    print("ok 1 - DCB netlink of any kind is taken or refused", flush=True)
    for port in ports:
        port.set("pfc none")
        with Dcbnl(port.netns, port.device) as nl:
            same("rates", nl.change(MAXRATE, rates=[0] * 8), 0)
    sleep(3000 * MS)
    for port in ports:
        same("unaccounted", unaccounted(port.stat()), [0] * 8)
    for s in sockets:
        s.s.close()
    sh("tc -n a qdisc del dev a0 root; tc -n b qdisc del dev b0 root")
    # the core keeps nothing of them that a new port would show
    Port(BINARIES, "a", "a0")
    same("entries", dcb("a", "a0", "app"), {})
    sh("ip netns del a; ip netns del b")
    # The kernel removes namespaces, and with them ports, in the background
    wait("unused", lambda: open("/sys/module/dcbport/refcnt").read() == "0\n", 60 * S)
    sh("rmmod dcbport")
    print("ok 2 - nothing is left of it", flush=True)


main()
