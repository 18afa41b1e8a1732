# SPDX-License-Identifier: GPL-2.0
"""Runs inside the debug kernel: performs random operations on the module, the rxe devices, the
network devices and the QPs, and checks after each round that everything is in order.

usage: torture_operations.py SETTINGS.json RESULT.json

h1 and h2 send to h3, on QPs that are reset and destroyed (churn.c). Operations concern only these
three. h4 sends to h5 and checks each byte (integrity.c): this unrelated QP must never fail.
"""

import contextlib
import glob
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from testbed.core import roce_packet as roce

import netlink
from commands import PATIENCE, Wrong, inside, read, run, write
from device_changes import Changes
from foreign_traffic import Echo, ask

VICTIMS = ("h1", "h2", "h3")
DELAY = "/sys/kernel/debug/rdma_dcqcn/delay_resolve_ms"
FAILSLAB = "/sys/kernel/debug/failslab"
TRACING = "/sys/kernel/tracing"
KMEMLEAK = "/sys/kernel/debug/kmemleak"
GOING = "/proc/sys/net/core/netdev_unregister_timeout_secs"
YOUNG = 6           # s; kmemleak does not report younger objects
PROFILES = ("auto", "mlx5", "sigcomm15")
ALGORITHMS = ("dcqcn", "swift", "timely", "dctcp", "fast", "fast-oneway", "hpcc", "powertcp")
STAMPED = ALGORITHMS[-2:]
HOG = "/run/hog"    # takes memory
SPARED = 24 << 10   # KiB; so that the kernel need not kill a process
ENOUGH = 10000      # pages that the kernel has scanned to reclaim some
UNKNOWN_MAX = 1024  # QPs that a port does not know yet, Documentation says
SLABS = ("kmalloc-512", "skbuff_head_cache")    # for entries of QPs, and for packets
DEVICE_CHANGES = 3  # in a round, of either
FEW = 100           # objects of the unrelated QP and other users
ECHO = 7009         # port
SOL_PACKET, PACKET_VNET_HDR = 263, 15


def objects(slab):
    """Number of objects, without those that wait for reuse."""
    path = "/sys/kernel/slab/%s/" % slab
    if not write(path + "shrink", 1):
        raise Wrong("%s does not shrink" % slab)
    return int(read(path + "objects").split()[0])


def functions(*names):
    """Where they begin and end."""
    symbols = read("/proc/kallsyms")
    addresses = sorted(int(line.split()[0], 16) for line in symbols.splitlines())
    for name in names:
        start = int(re.search(r"^(\w+) . %s$" % name, symbols, re.M)[1], 16)
        yield start, next(a for a in addresses if a > start)


class Job:
    """A program that runs until it is told to stop."""

    def __init__(self, *command):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def running(self):
        return self.process.poll() is None

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Its output. Raise an error if it failed."""
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Wrong("%s does not end" % self.name)
        if self.process.returncode:
            raise Wrong("%s: exit status %d: %s" % (self.name, self.process.returncode, err))
        return out


class Stranger:
    """Sends from h4, with any address, to a victim."""

    def __init__(self, src, dst, to, *options):
        with inside("h4"):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.socket.bind(("eth0", 0))
        for option in options:
            self.socket.setsockopt(SOL_PACKET, option, 1)
        self.src, self.dst = src, dst
        self.ether = bytes.fromhex("02000000000" + to[1:]) + self.socket.getsockname()[4] + \
            (b"\x86\xdd" if ":" in dst else b"\x08\x00")

    def send(self, packet, before=b""):
        with contextlib.suppress(OSError):      # the queue may be full
            self.socket.send(before + (self.ether + packet).ljust(60, b"\0"))

    def close(self):
        self.socket.close()


class Storm(threading.Thread):
    """Packets of strangers, with their own or with forged addresses: a few hundred per second,
    which leaves time for other things."""

    def __init__(self, seed, *way):
        super().__init__(daemon=True)
        self.random, self.way = random.Random(seed), way
        self.ended = threading.Event()

    def run(self):
        short, large = Stranger(*self.way), Stranger(*self.way, PACKET_VNET_HDR)
        for i in range(600):
            short.send(roce.any_packet(self.random, short.src, short.dst, 64))
            if i % 20 == 0:
                self.send_in_parts(large, i % 40)
                if self.ended.wait(0.05):
                    break
        short.close()
        large.close()

    def send_in_parts(self, large, marked):
        """A page or more, of which the kernel keeps only the headers linear."""
        opcode, tos = (roce.WRITE_ONLY, 0x03) if marked else (roce.CNP, 0xc2)
        bth = roce.bth(opcode, self.random.randrange(16, 1 << 24))
        large.send(roce.roce(large.src, large.dst, bth + bytes(4096), tos=tos),
                   struct.pack("=BBHHHH", 0, 0, 64, 0, 0, 0))

    def stop(self):
        self.ended.set()
        self.join()


class Torture:
    def __init__(self, settings):
        self.s = settings
        self.random = random.Random(settings["seed"])
        self.operations = 0
        self.churned = {}
        self.handled = self.held = self.scanned = 0
        self.agreed = self.feedback = 0
        self.slowest = (0, None)
        self.jobs, self.storm, self.listeners = [], None, {}
        # rxe's devices wait for each other, and for QPs that rxe destroys, up to a minute
        self.changes, self.echoed = Changes(self.random, limit=PATIENCE), 0

    # --- state ----------------------------------------------------------------

    def sys(self, host, path):
        return "/run/sys/%s/%s" % (host, path)

    def ecn(self, host):
        return self.sys(host, "class/net/eth0/ecn")

    def counters(self, host):
        """A port's counters, {} if it has none of ours."""
        base = "/sys/class/infiniband/rxe_%s/ports/1/hw_counters" % host
        out = {}
        for path in glob.glob(base + "/[nrq]p_*"):
            value = read(path)
            if value is not None:
                out[os.path.basename(path)] = int(value)
        return out

    def loaded(self):
        return os.path.exists("/sys/module/rdma_dcqcn")

    # --- operations -----------------------------------------------------------

    def load(self):
        run("insmod %s profile=%s" % (self.s["module"], self.random.choice(PROFILES)))
        for host in VICTIMS + ("h4", "h5"):
            write(self.ecn(host) + "/roce_rp/rpg_max_rate", 200)
        self.random.choice((self.contexts, self.stamps))()
        self.listeners = {host: self.listen(host) for host in VICTIMS}

    def contexts(self):
        """Another way to bound what is in flight, for all hosts, so that they agree."""
        algorithms = self.random.choice((0, 1, 2, 3))
        for host in VICTIMS + ("h4", "h5"):
            write(self.ecn(host) + "/roce_rp/ccc_algorithms", algorithms)
        self.agreed |= algorithms
        self.algorithms()

    def algorithms(self):
        """Other algorithms for flows without a context; each host has its own."""
        for host in VICTIMS + ("h4", "h5"):
            write(self.ecn(host) + "/roce_rp/cc_algorithm", self.random.choice(ALGORITHMS))

    def stamps(self):
        """Flows obey what the switch tells: if it does, and if receivers read it."""
        for host in VICTIMS:
            write(self.ecn(host) + "/roce_rp/ccc_algorithms", 0)
            write(self.ecn(host) + "/roce_rp/cc_algorithm", self.random.choice(STAMPED))
            run("ip netns exec s1 %s/dcqcn port set dev %s stamp %s" %
                (self.s["bin"], host, self.random.choice(("on", "on", "off"))))
            write(self.ecn(host) + "/roce_np/hop_stamps", self.random.choice((1, 1, 0)))

    def listen(self, host):
        """A listener for all rate events, which reads them slowly."""
        with inside(host):
            nl = netlink.Netlink()
        nl.sock.setsockopt(netlink.SOL_NETLINK, netlink.ADD_MEMBERSHIP, nl.groups["rate"])
        return nl

    def unload(self):
        self.failslab_off()
        for host in VICTIMS:
            c = self.counters(host)
            self.handled += c.get("rp_cnp_handled", 0)
            self.held += c.get("rp_held_packets", 0)
            self.feedback += c.get("rp_feedback_handled", 0)
        run("rmmod rdma_dcqcn")
        for nl in self.listeners.values():      # free the events that they have not read
            nl.sock.close()

    def reload(self):
        self.unload()
        run("insmod %s profile=none" % self.s["module"], may_fail=True)
        if self.loaded():
            raise Wrong("the module loads with a profile that there is not")
        # first come its own, then those of its first port; with kmemleak's there are 300
        for nth in self.random.sample(range(1, 45), 16) + self.random.sample(range(45, 300), 8):
            self.load_without_memory(nth)
        self.load()

    def load_without_memory(self, nth):
        """One of the allocations while the module is loaded fails: then loading fails, or a port
        is left out."""
        self.failslab_in(*self.initcall, 0)
        run("echo %d >/proc/self/fail-nth && exec insmod %s" % (nth, self.s["module"]),
            may_fail=True)
        if self.loaded():
            run("rmmod rdma_dcqcn")

    def add_rxe(self, host, net=None):
        with inside(net or host):
            run("rdma link add rxe_%s type rxe netdev eth0" % host)

    def link_del_add(self):
        host = self.random.choice(VICTIMS)
        with inside(host):
            run("rdma link del rxe_%s" % host)
        self.add_rxe(host)

    def restore(self, host):
        """Restore neighbours and IPv6 addresses, which a device loses when it is down."""
        for line in self.s["restore"][host]:
            run(line)

    def down_up(self):
        host = self.random.choice(VICTIMS)
        run("ip -n %s link set eth0 down" % host)
        self.pause()
        run("ip -n %s link set eth0 up" % host)
        self.restore(host)

    def gone(self, host):
        self.wait(lambda: not os.path.exists("/sys/class/infiniband/rxe_" + host),
                  "rxe_%s goes with its network device" % host)

    def rebuild(self, host):
        """Set up a host again whose network device is gone."""
        self.gone(host)
        for line in self.s["link"][host]:
            run(line)
        self.add_rxe(host)

    def netdev_del(self):
        host = self.random.choice(VICTIMS)
        run("ip -n %s link del eth0" % host)
        self.rebuild(host)

    def netns_move(self):
        host = self.random.choice(VICTIMS)
        run("ip -n %s link set eth0 netns elsewhere" % host)
        self.gone(host)
        if self.random.randrange(2):
            self.add_rxe(host, "elsewhere")
        run("ip -n elsewhere link set eth0 netns %s" % host)
        self.gone(host)
        run("ip -n %s link set eth0 up" % host)
        self.restore(host)
        self.add_rxe(host)

    def mount_sys(self, host):
        with inside(host):
            run("mount -t sysfs sys_%s /run/sys/%s" % (host, host))

    def netns_del(self):
        """End a network namespace with everything in it."""
        host = self.random.choice(VICTIMS)
        self.listeners.pop(host).sock.close()       # or it would last for as long
        run("ip netns del %s" % host)
        run("umount /run/sys/%s" % host)
        # The RDMA core asks each device for its port when a namespace is created, and a device that
        # has lost its network device does not answer
        self.gone(host)
        run("ip netns add %s" % host)
        run("ip -n %s link set lo up" % host)
        self.mount_sys(host)
        self.rebuild(host)
        self.listeners[host] = self.listen(host)

    def rename(self):
        host = self.random.choice(VICTIMS)
        for old, new in (("eth0", "other0"), ("other0", "eth0")):
            run("ip -n %s link set %s down" % (host, old))
            run("ip -n %s link set %s name %s" % (host, old, new))
            run("ip -n %s link set %s up" % (host, new))
            self.pause()
        self.restore(host)

    def mtu(self):
        host = self.random.choice(VICTIMS)
        run("ip -n %s link set eth0 mtu %d" % (host, self.random.randint(1500, 4200)))

    def knobs(self):
        base = self.ecn(self.random.choice(VICTIMS))
        files = sorted(glob.glob(base + "/*/*") + glob.glob(base + "/*/enable/*"))
        for _ in range(20):
            if files:
                path = self.random.choice(files)
                write(path, self.random.choice([0, 1, self.random.randrange(1 << 32), "x", -1,
                                                read(path, 1)]))

    def requests(self):
        """Settings by netlink, and dumps of all kinds."""
        host = self.random.choice(VICTIMS)
        with inside(host):
            nl = netlink.Netlink(4096)      # dumps come in parts

        def name():
            return netlink.string(netlink.NAME, self.random.choice(["rxe_" + host, "rxe_h9"]))

        def profile():
            return netlink.string(netlink.PROFILE, self.random.choice(PROFILES + ("none",)))

        def setting():
            knob = self.random.choice(sorted(netlink.RANGES))
            return netlink.attr(netlink.SETTINGS | netlink.NESTED, netlink.u32(
                knob, self.random.choice(netlink.RANGES[knob] + (self.random.randrange(1 << 32),))))

        requests = [
            lambda: nl.do(netlink.DEV_SET, name() + setting()),
            lambda: nl.do(netlink.DEV_SET, name() + profile()),
            lambda: nl.do(netlink.DEV_SET, name() + profile() + setting()),
            lambda: nl.do(netlink.DEV_SET, self.random.choice((name, profile))()),
            lambda: nl.dump(netlink.PROFILE_GET),
            lambda: nl.dump(netlink.DEV_GET, name()),
            lambda: nl.dump(netlink.QP_GET, name()),
            lambda: nl.dump(netlink.QP_GET, netlink.u32(netlink.QP_LQPN,
                                                        self.random.randrange(16, 64))),
            lambda: nl.dump(netlink.QP_GET)] * 8
        self.random.shuffle(requests)
        before = {}
        with contextlib.suppress(netlink.Refused):
            before = nl.settings("rxe_" + host)
        for request in requests:
            with contextlib.suppress(netlink.Refused):
                request()
        # or little is limited in the rest of the round
        with contextlib.suppress(netlink.Refused):
            nl.set("rxe_" + host, b"".join(netlink.u32(*knob) for knob in before.items()))

    def dcqcn(self, what):
        return json.loads(run("%s/dcqcn -j %s" % (self.s["bin"], what), may_fail=True))

    def dump(self):
        for host in (self.random.choice(VICTIMS), "h4"):    # h4's contexts last
            with inside(host):
                for what in ("qp", "ccc", "show", "stat"):
                    self.dcqcn(what)

    def own(self):
        """QPs get an algorithm of their own, or follow their port again."""
        host = self.random.choice(VICTIMS)
        with inside(host):
            nl = netlink.Netlink()
            qps = self.dcqcn("qp")
            for qp in qps if isinstance(qps, list) else ():     # or an error, without memory
                with contextlib.suppress(netlink.Refused):
                    nl.do(netlink.QP_SET, netlink.string(netlink.QP_DEV, "rxe_" + host) +
                          netlink.u32(netlink.QP_LQPN, qp["lqpn"]) +
                          netlink.string(netlink.QP_ALGORITHM,
                                         self.random.choice(ALGORITHMS + ("", "nonesuch"))))

    def files(self):
        """Read all counters, and all knobs in debugfs, which then refuse values and take their old
        ones."""
        for host in VICTIMS:
            for path in glob.glob("/sys/class/infiniband/rxe_%s/ports/1/hw_counters/*" % host):
                read(path)
            for path in glob.glob("/sys/kernel/debug/rdma_dcqcn/rxe_%s*/cc_params/*" % host):
                old = read(path, 0)
                for value in (1 << 32, (1 << 32) - 1, old):
                    write(path, value)

    def rename_rxe(self):
        name = "rxe_" + self.random.choice(VICTIMS)
        for old, new in ((name, "rxe_other"), ("rxe_other", name)):
            run("rdma dev set %s name %s" % (old, new))
            self.pause()

    def trace(self):
        if not write(TRACING + "/events/rdma_dcqcn/enable", 1):
            raise Wrong("there are no tracepoints")
        self.pause()
        read(TRACING + "/trace")
        write(TRACING + "/events/rdma_dcqcn/enable", self.random.randrange(2))

    def slow_core(self, ms):
        """Delay the RDMA core's description of each QP. False if there was no memory to open
        the file."""
        return write(DELAY, ms) and int(read(DELAY, ms)) == ms

    def resolving(self):
        ms = self.random.choice((0, 20))
        if not self.slow_core(ms) and read(os.path.join(FAILSLAB, "probability")) == "0":
            raise Wrong("%s does not take %d" % (DELAY, ms))

    def failslab_in(self, start, end, probability):
        """Make allocations fail that have such an address in their stack. Without memory for its
        own, the check of timers and work would switch itself off."""
        for name, value in (("verbose", 0), ("stacktrace-depth", 32),
                            ("require-start", hex(start)), ("require-end", hex(end)),
                            ("reject-start", hex(self.pool[0])), ("reject-end", hex(self.pool[1])),
                            ("ignore-gfp-wait", "N"), ("times", -1), ("probability", probability)):
            if not write(os.path.join(FAILSLAB, name), value):
                raise Wrong("failslab does not take %s" % name)

    def failslab_on(self, probability):
        start = int(read("/sys/module/rdma_dcqcn/sections/.text"), 16)
        self.failslab_in(start, start + self.s["text"], probability)

    def failslab_off(self):
        write(FAILSLAB + "/probability", 0)

    def failslab(self):
        if self.random.randrange(2):
            self.failslab_on(self.random.choice([2, 20, 100]))
        else:
            self.failslab_off()

    def hostile(self):
        if self.storm and self.storm.is_alive():
            return
        to, src = self.random.sample(VICTIMS, 2)
        address = "fd00::%s" if self.random.randrange(4) == 0 else "10.0.0.%s"
        self.storm = Storm(self.random.randrange(1 << 32), address % src[1:], address % to[1:], to)
        self.storm.start()

    def flood(self):
        """CNPs to QPs that do not exist, without memory for an entry, and while the RDMA core is
        slow."""
        self.failslab_off()
        self.slow_core(0)
        host = self.random.choice(VICTIMS)
        if not self.counters(host):     # it came when there was no memory
            return
        s = Stranger("10.0.0.4", "10.0.0." + host[1:], host)
        first = self.random.randrange(1 << 20, 1 << 23)

        def refused(qpns, what):
            before = self.counters(host)["qp_errors"]
            for qpn in qpns:
                s.send(roce.roce(s.src, s.dst, roce.bth(roce.CNP, qpn, becn=1) + bytes(16),
                                 tos=0xc2))
            self.wait(lambda: self.counters(host)["qp_errors"] > before, what)

        self.failslab_on(100)
        refused(range(first, first + 10), "QPs are refused without memory")
        self.failslab_off()
        self.slow_core(1000)
        refused(range(first, first + UNKNOWN_MAX + 20),
                "no more than so many unknown QPs are remembered")
        s.close()
        with inside(host):
            netlink.Netlink().dump(netlink.QP_GET)
        self.slow_core(0)

    def routes(self):
        """The receiver cannot answer the senders."""
        others = [a % n for n in (1, 2) for a in ("10.0.0.%d/32", "fd00::%d/128")]
        for address in others:
            run("ip -n h3 route add unreachable %s" % address)
        for _ in range(5):
            self.pause()
        for address in others:
            run("ip -n h3 route del unreachable %s" % address)

    def priorities(self):
        """End all limits of a host at once, and let them start again."""
        files = glob.glob(self.ecn(self.random.choice(VICTIMS)) + "/roce_rp/enable/*")
        for value in (0, 1):
            for path in files:
                write(path, value)
            self.pause()

    def scans(self):
        """Pages that the kernel has scanned for reclaim."""
        return sum(int(line.split()[1]) for line in read("/proc/vmstat").splitlines()
                   if line.startswith("pgscan_"))

    def available(self):
        return int(re.search(r"MemAvailable: +(\d+)", read("/proc/meminfo"))[1])

    def pressure(self):
        """A program takes almost all memory. Then a file is read that is larger than the rest (96
        MiB), so that the kernel must reclaim a page for each that it reads."""
        before, deadline = self.scans(), time.monotonic() + PATIENCE
        with open(HOG + "/pages", "wb", buffering=0) as f:
            while self.available() > SPARED:
                f.write(bytes(1 << 20))
            with open(self.s["large"], "rb", buffering=0) as large:
                while self.scans() - before < ENOUGH:
                    if not large.read(1 << 20):
                        large.seek(0)
                    if time.monotonic() > deadline:
                        raise Wrong("memory was never scarce")
            f.truncate(0)
        self.scanned += self.scans() - before

    def devices(self):
        """Change a dummy and a network device of another kind, both with rxe, and open TCP
        connections meanwhile. A change that takes too long is a failure."""
        self.failslab_off()
        self.slow_core(0)
        dummy, *others = self.changes.devices
        for device, first in ((dummy, ("add_port", "up")), (self.random.choice(others), ())):
            device.prepare()
            device.create()
            for how in first:
                self.changes.change(device, how)
            for _ in range(DEVICE_CHANGES):
                print("    %s" % self.changes.one(device)[0], flush=True)
                self.connect()
            device.finish()

    def connect(self):
        """Open a TCP connection between other hosts and compare the data that returns."""
        with inside("h4"):
            s = socket.create_connection(("10.0.0.5", ECHO), PATIENCE)
        with s:
            data = self.random.randbytes(2000)
            self.echoed += 1
            if ask(s, data) != data:
                raise Wrong("TCP returns other data than was sent")

    def pause(self):
        time.sleep(self.random.random() * 0.2)

    OPERATIONS = (reload, link_del_add, down_up, netdev_del, netns_move, netns_del, rename,
                  rename_rxe, mtu, knobs, files, requests, dump, own, trace, resolving, failslab,
                  hostile, pause, flood, routes, priorities, pressure, devices, contexts,
                  algorithms, stamps)

    # --- conditions -----------------------------------------------------------

    def wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise Wrong("not so after %d s: %s: %s" %
                            (PATIENCE, what, {h: self.counters(h) for h in VICTIMS}))
            time.sleep(0.05)

    def start(self):
        seed = self.random.randrange(1 << 32)
        for i, (host, address) in enumerate((("h1", "10.0.0.%s"), ("h2", "fd00::%s"))):
            self.jobs.append(Job(self.s["bin"] + "/churn", "-s", str(seed + i), "-q", "4",
                                 "rxe_" + host, address % host[1:], "rxe_h3", address % 3))

    def stop(self):
        for job in self.jobs:
            for key, n in json.loads(job.stop()).items():
                self.churned[key] = self.churned.get(key, 0) + n
        self.jobs = []
        if self.storm:
            self.storm.stop()
            self.storm = None

    def watch(self):
        """What must hold at any time."""
        for job in self.jobs:
            if not job.running():
                job.stop()
                raise Wrong("%s ended by itself" % job.name)
        if not self.witness.running():
            raise Wrong("the unrelated QP: %s" % self.witness.stop())

    def settled(self):
        """Without traffic: nothing is held, nothing limited."""
        for host in VICTIMS:
            c = self.counters(host)
            if c.get("rp_held_bytes") or c.get("rp_limited_qps"):
                return False
        return True

    def check(self):
        """Traffic has stopped."""
        self.wait(self.settled, "nothing is held or limited once the traffic has stopped")
        for host in VICTIMS:
            c = self.counters(host)
            if not c:
                continue
            out = c["rp_released_packets"] + c["rp_drop_stale_packets"] + c["rp_drop_dead_packets"]
            if c["rp_held_packets"] != out:
                raise Wrong("%s: what was held and what became of it: %s" % (host, c))
        self.unload()
        self.nothing_lost()
        self.nothing_more()
        self.load()

    def nothing_lost(self):
        leaks = self.kmemleak()
        if leaks:
            raise Wrong("memory is lost:\n" + leaks)

    def kmemleak(self):
        """Leaks of the module's memory that the last scan has also seen. Stack traces have only
        addresses for a module that is not loaded."""
        if not write(KMEMLEAK, "scan"):
            raise Wrong("kmemleak has given up")
        return "".join(entry for entry in read(KMEMLEAK).split("unreferenced object")[1:]
                       if "rdma_dcqcn" in entry or "    0x" in entry)

    def nothing_more(self):
        """Slab object counts have returned to their starting values. kmemleak does not report objects
        that are still referenced, such as packets in a queue."""
        deadline = time.monotonic() + PATIENCE
        self.witness.pause()
        while True:
            now = {s: objects(s) for s in SLABS}
            if all(now[s] <= self.objects[s] + FEW for s in SLABS):
                break
            if time.monotonic() > deadline:
                raise Wrong("there were %s objects, and now %s" % (self.objects, now))
            time.sleep(0.5)
        self.witness.go_on()
        print("  %s objects" % now, flush=True)

    def round(self):
        self.start()
        for op in self.random.sample(self.OPERATIONS, len(self.OPERATIONS)):
            print("  %s" % op.__name__, flush=True)
            began = time.monotonic()
            op(self)
            took = time.monotonic() - began
            print("    %.1f s" % took, flush=True)
            self.slowest = max(self.slowest, (took, op.__name__))
            self.operations += 1
            self.watch()
        self.failslab_off()
        self.slow_core(0)
        self.stop()
        self.check()

    def all(self):
        write(KMEMLEAK, "scan=off")         # no automatic scans
        # A network device waits until the RDMA core has removed the 3,000 files of its rxe device
        # from sysfs. With KASAN and lockdep, an emulated PC needs half a minute for them; the kernel
        # complains after 10 s. What takes as long as anything may take here is a failure.
        if not write(GOING, PATIENCE):
            raise Wrong("%s does not take %d" % (GOING, PATIENCE))
        # load_without_memory() would do nothing, and nobody would know
        if not write("/proc/self/fail-nth", 0):
            raise Wrong("there is no /proc/self/fail-nth")
        for host in VICTIMS + ("h4", "h5"):
            os.makedirs("/run/sys/" + host)
            self.mount_sys(host)
        self.changes.prepare_peers()
        Echo("h5", "10.0.0.5", ECHO)
        os.mkdir(HOG)
        run("mount -t tmpfs -o size=100%% hog %s" % HOG)
        self.initcall, self.pool = functions("do_one_initcall", "debug_objects_fill_pool")
        self.objects = {s: objects(s) for s in SLABS}
        self.load()
        # 4 s for an ack: none is lost, but a debug kernel on a busy machine is late, and rxe itself
        # may make mistakes when it retransmits
        self.witness = Job(self.s["bin"] + "/integrity", "-n", "0", "-m", "32768", "-q", "2",
                           "-t", "20", "rxe_h4", "10.0.0.4", "rxe_h5", "10.0.0.5")
        began, rounds = time.monotonic(), 0
        while time.monotonic() - began < self.s["seconds"]:
            rounds += 1
            print("round %d at %.0f s" % (rounds, time.monotonic() - began), flush=True)
            self.round()
        self.unload()
        self.kmemleak()
        time.sleep(YOUNG)
        self.nothing_lost()
        witness = json.loads(self.witness.stop())
        if not sum(witness[k] for k in ("write", "send", "read")):
            raise Wrong("the unrelated QP moved nothing")
        if not self.handled or not self.held:
            raise Wrong("there was nothing to torture: no CNP handled, or no packet held")
        if self.agreed and not self.feedback:
            raise Wrong("no context had any feedback")
        return {"rounds": rounds, "seconds": round(time.monotonic() - began, 1),
                "operations": self.operations,
                "slowest": {"operation": self.slowest[1], "seconds": round(self.slowest[0], 1)},
                "churn": self.churned,
                "cnps_handled": self.handled, "packets_held": self.held,
                "feedback_handled": self.feedback,
                "pages_scanned": self.scanned, "device_changes": sum(self.changes.done.values()),
                "connections": self.echoed, "witness": witness}


def main():
    with open(sys.argv[1]) as f:
        settings = json.load(f)
    socket.setdefaulttimeout(PATIENCE)
    torture = Torture(settings)
    try:
        result = torture.all()
    except Wrong as e:
        print("SIM-FAILED %s" % e, flush=True)
        sys.exit(1)
    with open(sys.argv[2], "w") as f:
        json.dump(result, f, indent=1)
        f.write("\n")


main()
