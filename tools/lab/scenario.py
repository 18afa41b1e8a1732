# SPDX-License-Identifier: GPL-2.0
"""Incast: two senders, one switch, one receiver, perftest's ib_write_bw.

    h1 ──┐
         ├── sw ══ bottleneck ══ r
    h2 ──┘

The same guests run it twice: stock rdma_rxe, then with rdma_dcqcn on the
hosts. The switch marks in both; stock rxe never asks to be marked.
"""

import os
import re
import shutil
import subprocess
import time

from fabric import HERE, Fabric
from progress import LabError, say
from vm import Failed

RATE_MBPS = 48
KMIN = 10_000
KMAX = 100_000
LIMIT = 300_000
PROBABILITY = 0.1

QPS_PER_SENDER = 4
MTU = 1024
MESSAGE = 65536
TIMEOUT = 17                # 0.5 s: retransmit what was lost, not what is late

SAMPLE_US = 5000
STARTUP = 6                 # s, once all QPs are connected
WINDOW = 20                 # s of steady state
MARGIN = 9                  # s that perftest leaves out at either end
DURATION = WINDOW + 2 * MARGIN

RECEIVER = "10.0.0.3"
COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"


class Incast:
    """The fabric, booted, and one measurement after the other on it."""

    def __init__(self, fabric):
        self.fabric = fabric
        # Perftest polls without a pause, so the senders take all the CPU they
        # can get. The switch and the receiver work only when there is work,
        # but then at once.
        self.senders = [fabric.vm("h1", nice=-5), fabric.vm("h2", nice=-5)]
        self.receiver = fabric.vm("r", nice=-10)
        self.switch = fabric.vm("sw", nice=-10)
        self.hosts = self.senders + [self.receiver]
        ports = []
        for i, host in enumerate(self.hosts):
            port = self.switch.nic(rdma=False)
            fabric.wire(host.nic(["10.0.0.%d/24" % (i + 1)]), port)
            ports.append(port.name)
        self.bottleneck = ports[-1]
        self.ports = ports[:-1]

    def boot(self):
        tool = os.path.join(self.fabric.share, "qsample")
        try:
            subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", tool,
                            os.path.join(HERE, "guest", "qsample.c")], check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            raise LabError("the queue sampler does not build (run tools/lab/deps?): %s" % e)
        self.fabric.boot()
        self.switch.run("/lab/switch %d %d %d %d %g %s %s && cp /lab/share/qsample /run/" %
                        (RATE_MBPS, KMIN, KMAX, LIMIT, PROBABILITY, self.bottleneck,
                         " ".join(self.ports)))
        for h in self.senders:
            h.wait_for("ping -c 1 -W 1 " + RECEIVER)
        self.gid = {h: h.out("/lab/gid rxe0") for h in self.hosts}

    def load_module(self, module, args="", settings=()):
        """insmod on all hosts; settings: "roce_rp/rpg_ai_rate=5" and the like."""
        shutil.copy(module, os.path.join(self.fabric.share, "rdma_dcqcn.ko"))
        for h in self.hosts:
            h.run("insmod /lab/share/rdma_dcqcn.ko " + args)
            for s in settings:
                name, _, value = s.partition("=")
                h.run("echo %s >/sys/class/net/eth0/ecn/%s" % (value, name))
        say("rdma_dcqcn is loaded on " + " ".join(h.name for h in self.hosts))

    def _perftest(self, host, port, server=""):
        # Nice: perftest polls without a pause, and would keep rxe's own work
        # in softirq context waiting.
        return host.spawn("exec nice -n 19 ib_write_bw -F -d rxe0 -x %s -m %d -s %d -t 16 -u %d "
                          "-D %d -f %d -p %d %s" % (self.gid[host], MTU, MESSAGE, TIMEOUT,
                                                    DURATION, MARGIN, port, server))

    def counters(self):
        """hw_counters of each host."""
        return [{k: int(v) for k, v in (line.split(":") for line in
                 h.out("cd %s && grep . *" % COUNTERS).splitlines())} for h in self.hosts]

    def _now(self):
        """The switch's clock, in seconds, as the sampler sees it."""
        return float(self.switch.out("cut -d' ' -f1 /proc/uptime"))

    def _other_drops(self):
        """What the switch lost anywhere but at the bottleneck."""
        return int(self.switch.out(
            "{ tc -s -j qdisc show | jq '.[] | select(.dev != \"%s\") | .drops'; "
            "ip -s -j link show | jq '.[].stats64.rx | .dropped + .errors'; } | "
            "jq -s add" % self.bottleneck))

    def measure(self, label):
        """Run all QPs through start-up and window; returns what was seen."""
        qps = [(h, 18515 + n) for n, h in enumerate(h for h in self.senders
                                                    for _ in range(QPS_PER_SENDER))]
        say("%s: starting %d QPs" % (label, len(qps)))
        m = {"qps": len(qps), "start": self.counters()}
        sampler = self.switch.spawn("exec /run/qsample %s 200001 %d >/run/queue" %
                                    (self.bottleneck, SAMPLE_US))
        servers = [self._perftest(self.receiver, port) for _, port in qps]
        self._poll("ib_write_bw to listen on %s" % self.receiver.name, servers,
                   lambda: self.receiver.out("ss -Hltn | grep -c ':185[0-9][0-9] '",
                                             check=False) == str(len(qps)))
        m["other_drops"] = -self._other_drops()
        clients = [self._perftest(h, port, RECEIVER) for h, port in qps]
        for h in self.senders:
            self._poll("%d QPs connected on %s" % (QPS_PER_SENDER, h.name), servers + clients,
                       lambda: h.out("rdma resource show qp | grep -c 'type RC.* state RTS'",
                                     check=False) == str(QPS_PER_SENDER))
        m["connected"] = self._now()
        say("%s: all QPs connected; %d s of start-up, %d s of measurement" %
            (label, STARTUP, WINDOW))
        time.sleep(STARTUP)
        m["from"], m["before"] = self._now(), self.counters()
        time.sleep(WINDOW)
        m["to"], m["after"] = self._now(), self.counters()

        # All are left to end by themselves, so QPs live through the window.
        m["goodput"], m["failed"] = [], []
        for job in clients:
            r = job.wait(3 * DURATION, check=False)
            mbps = goodput(r.stdout) if r.returncode == 0 else None
            if mbps is None:
                m["failed"].append("%s: %s%s" % (job.vm.name, r.stdout[-300:], r.stderr[-300:]))
            m["goodput"].append(mbps or 0.0)
        for job in servers:
            try:
                job.wait(10, check=False)
            except Failed:
                job.stop("KILL")    # its client died
        say("%s: waiting for the network to fall silent" % label)
        m["end"] = self._quiesce()
        m["other_drops"] += self._other_drops()
        sampler.stop()
        m["samples"] = [tuple(map(int, line.split()))
                        for line in self.switch.out("cat /run/queue").splitlines()]
        return m

    @staticmethod
    def _poll(what, jobs, test, timeout=60):
        deadline = time.monotonic() + timeout
        while not test():
            for j in jobs:
                if not j.running():
                    raise LabError("ib_write_bw ended early on %s:\n%s" % (j.vm.name, j.output()))
            if time.monotonic() > deadline:
                raise LabError("waited %d s in vain for %s" % (timeout, what))
            time.sleep(0.2)

    def _quiesce(self, timeout=30):
        """Wait until no counter changes any more; returns the counters."""
        deadline = time.monotonic() + timeout
        last = None
        while True:
            now = self.counters()
            if now == last or time.monotonic() > deadline:
                return now
            last = now
            time.sleep(0.5)


def goodput(text):
    """Mb/s of completed writes, from ib_write_bw's result line (its MB is 2^20)."""
    m = re.search(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", text, re.M)
    return float(m[1]) * 2**20 * 8 / 1e6 if m else None


def check_module(module, image):
    """Raises unless the module is one for the guests' kernel."""
    try:
        with open(module, "rb") as f:
            magic = re.search(rb"\0vermagic=(\S+)", f.read())
    except OSError as e:
        raise LabError("%s cannot be read: %s" % (module, e.strerror))
    if not magic:
        raise LabError("%s is not a kernel module" % module)
    if magic[1].decode() != image.release:
        raise LabError("%s is for kernel %s, but the guests run %s: build it with KDIR=%s" %
                       (module, magic[1].decode(), image.release, image.kdir))


def incast(image, module=None, args="", settings=()):
    """Both measurements; returns (what was seen by label, splats)."""
    if module:
        check_module(module, image)
    with Fabric(image) as fabric:
        lab = Incast(fabric)
        lab.boot()
        seen = {"stock": lab.measure("stock")}
        if module:
            lab.load_module(module, args, settings)
            seen["dcqcn"] = lab.measure("dcqcn")
        return seen, fabric.splats()
