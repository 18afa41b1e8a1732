# SPDX-License-Identifier: GPL-2.0
"""One run of a scenario: start its flows, watch the switches, collect what they saw."""

import json
import os
import shutil
import time

from network import QSAMPLE_PARENT
from progress import LabError, say
from vm import gather, stop

SAMPLE_US = 5000
FIRST_TCP_PORT = 18515
SNAPLEN = 96                # all headers, over IPv6 too
# ns. Asking the guests for their counters takes CPU that the flows would have
# had, and shows in the queue: do it before the window.
COUNTERS_BEFORE = 10**9


class Endpoints:
    """Perftest's two processes of one flow, with all of its QPs."""

    def __init__(self, flow, server, client):
        self.flow, self.server, self.client = flow, server, client
        self.lost = None    # what it said when it ended by itself


class Recording:
    """What one run has left behind: clocks, counters, files.

    Times are seconds on the clock of the host; at(switch) converts.
    """

    def __init__(self, run, directory):
        self.run, self.directory = run, directory
        self.clock = {}             # by switch: (uptime, real time) at host time 0
        self.lost = []

    def queue_file(self, port):
        return os.path.join(self.directory, "%s.%s.queue" % (self.run.name, port.name))

    def pcap_file(self, port):
        return os.path.join(self.directory, "%s.%s.pcap" % (self.run.name, port.name))


class Measurement:
    def __init__(self, network, run, directory):
        self.network, self.run = network, run
        self.recording = Recording(run, directory)
        self.serving, self.pairs, self.background = [], [], []
        self.next_port = FIRST_TCP_PORT

    def abort(self):
        """Leave nothing running in guests that live on."""
        self._stop(self.pairs)
        stop(self.serving + self.background, "KILL")

    def measure(self):
        """Returns a Recording."""
        os.makedirs(self.recording.directory, exist_ok=True)
        run, r = self.run, self.recording
        first = [f for f in run.flows if f.start == 0]
        say("%s: starting %d QPs" % (run.name, sum(f.qps for f in first)))
        r.start = self.network.counters()
        r.other_drops = -self._other_drops()
        recorders = self._record()
        # Before there is traffic: an idle guest answers at once
        for s in {p.switch for p in run.queues}:
            r.clock[s] = self._clock(s)
        self._serve(first)
        self._connect(first)
        zero = r.connected = time.monotonic()
        say("%s: all QPs connected; %g s to go" % (run.name, run.duration / 1e9))
        self._follow(zero)
        self._stop(self.pairs)
        say("%s: waiting for the network to fall silent" % run.name)
        r.end = self._quiesce()
        r.other_drops += self._other_drops()
        self._collect(recorders)
        r.lost = [p.lost for p in self.pairs if p.lost]
        r.qps = sum(p.flow.qps for p in self.pairs)
        return r

    # The course of a run

    def _follow(self, zero):
        """Do what is due until the run's end, and note whose QP ends by itself."""
        r, run = self.recording, self.run
        due = [(run.window[0] - COUNTERS_BEFORE, self._count),
               (run.window[0], self._window_begins), (run.window[1], self._window_ends)]
        for f in run.flows:
            if f.start:
                due.append((f.start, lambda f=f: self._join(f)))
            if f.stop < run.duration:
                due.append((f.stop, lambda f=f: self._leave(f)))
        due.append((run.duration, lambda: None))
        for at, action in sorted(due, key=lambda d: d[0]):
            while (left := zero + at / 1e9 - time.monotonic()) > 0:
                self._look_after()
                time.sleep(min(left, 0.5))
            action()
        self._look_after()

    def _look_after(self):
        for p in self.pairs:
            if not p.lost and not p.client.running():
                p.lost = "%s: %s" % (p.client.vm.name, p.client.output()[-300:])

    def _count(self):
        self.recording.before = self.network.counters()

    def _window_begins(self):
        self.recording.window = [time.monotonic(), None]

    def _window_ends(self):
        r = self.recording
        r.window[1] = time.monotonic()
        r.after = self.network.counters()

    def _join(self, flow):
        say("%s: %s joins" % (self.run.name, flow.src))
        self._serve([flow])
        self._start(flow)
        self._hold_back([flow])

    def _leave(self, flow):
        say("%s: %s leaves" % (self.run.name, flow.src))
        leaving = [p for p in self.pairs if p.flow is flow]
        self._look_after()
        self._stop(leaving)
        self.pairs = [p for p in self.pairs if p not in leaving or p.lost]

    # Perftest

    def _perftest(self, flow, host, server=""):
        # Perftest's writes poll without a pause: see _hold_back(). The others can
        # wait for events, but then not for a duration.
        return self.network.vms[host].spawn(
            "exec nice -n 19 ib_%s_bw -F -d rxe0 -x %s -c %s -m %d -s %d -t %d -u %d -q %d %s "
            "-p %d %s" % (flow.verb, self.network.gids()[host], flow.transport.upper(), flow.mtu,
                          flow.size, flow.depth, flow.timeout, flow.qps,
                          "-D 3600" if flow.verb == "write" else "-e -N -n 10000000",
                          flow.port, server))

    def _serve(self, flows):
        for f in flows:
            f.port = self.next_port
            self.next_port += 1
            f.serving = self._perftest(f, f.server)
            self.serving.append(f.serving)
        for name in {f.server for f in flows}:
            ports = {f.port for f in flows if f.server == name}
            self._poll("perftest to listen on %s" % name, [f.serving for f in flows],
                       lambda: ports <= self._listening(name))

    def _listening(self, host):
        """TCP ports that somebody listens on."""
        return {int(line.split()[3].rpartition(":")[2])
                for line in self.network.vms[host].out("ss -Hltn").splitlines()}

    def _start(self, flow):
        address = self.network.topology.hosts[flow.server].address
        self.pairs.append(Endpoints(flow, flow.serving,
                                    self._perftest(flow, flow.client, address)))

    def _connect(self, flows):
        for f in flows:
            self._start(f)
        jobs = [j for p in self.pairs for j in (p.server, p.client)]
        waiting = {f.client for f in flows}

        def connected():
            for name in list(waiting):
                mine = [f for f in flows if f.client == name]
                if self._qps(name) >= sum(f.qps for f in mine):
                    self._hold_back(mine)
                    waiting.remove(name)
            return not waiting

        self._poll("all QPs to be connected", jobs, connected)

    def _qps(self, host):
        """QPs that may send: those of servers stop short of it."""
        return int(self.network.vms[host].out(
            "rdma resource show qp | grep -cE 'type (RC|UC|UD).* state RTS'", check=False))

    def _hold_back(self, flows):
        """What polls without a pause shall leave CPU to rxe and to other guests: not
        before it is connected, which takes long enough, but then at once."""
        gather([(p.client.vm, "cat %s >/sys/fs/cgroup/polling/cgroup.procs" % p.client.pid_file)
                for p in self.pairs if p.flow in flows and p.flow.verb == "write"])

    def _stop(self, pairs):
        """Clients first, or they would retransmit to nobody."""
        for side in ("client", "server"):
            stop([getattr(p, side) for p in pairs], "KILL")

    @staticmethod
    def _poll(what, jobs, test, timeout=90):
        deadline = time.monotonic() + timeout
        while not test():
            for j in jobs:
                if not j.running():
                    raise LabError("perftest ended early on %s:\n%s" % (j.vm.name, j.output()))
            if time.monotonic() > deadline:
                raise LabError("waited %d s in vain for %s" % (timeout, what))
            time.sleep(0.2)

    # The switches

    def _record(self):
        """Start what watches the switches' ports; returns (job, port) of each capture."""
        captures = []
        for p in self.run.queues:
            vm = self.network.vms[p.switch]
            self.background.append(vm.spawn("exec /run/qsample %s %s %d >/run/%s.queue" % (
                p.peer, QSAMPLE_PARENT, SAMPLE_US, p.peer)))
        for p in self.run.targets:
            vm = self.network.vms[p.switch]
            job = vm.spawn("exec tcpdump -p -n -Z root -i %s -s %d -B 16384 -w /run/%s.pcap "
                           "udp port 4791" % (p.peer, SNAPLEN, p.peer))
            captures.append((job, p))
            self.background.append(job)
        for job, p in captures:
            self._poll("tcpdump on %s" % p.name, [job], lambda job=job: "listening" in job.output())
        return captures

    def _collect(self, captures):
        r = self.recording
        stop(self.background)
        self.background = []
        r.capture_lost = 0
        for job, p in captures:
            text = job.output()
            if "dropped by kernel" not in text:
                raise LabError("tcpdump failed on %s:\n%s" % (p.name, text))
            r.capture_lost += int(text.partition(" packets dropped by kernel")[0].split()[-1])
        files = [(p, "pcap", r.pcap_file(p)) for _, p in captures] + \
            [(p, "queue", r.queue_file(p)) for p in self.run.queues]
        gather([(self.network.vms[p.switch], "mv /run/%s.%s /lab/share/%s.%s" %
                 (p.peer, kind, p.name, kind)) for p, kind, _ in files])
        for p, kind, path in files:
            shutil.move(os.path.join(self.network.share, "%s.%s" % (p.name, kind)), path)

    def _clock(self, switch):
        """A switch's uptime and real time at time 0 of this machine's clock."""
        best = None
        for _ in range(3):
            before = time.monotonic()
            up, real = map(float, self.network.vms[switch].out(
                "cut -d' ' -f1 /proc/uptime; date +%s.%N").split())
            after = time.monotonic()
            if best is None or after - before < best[0]:
                best = (after - before, up - (before + after) / 2, real - (before + after) / 2)
        return best[1:]

    def _other_drops(self):
        """What the switches lost anywhere but in the queues that are watched."""
        watched = {p.name for p in self.run.queues}
        total = 0
        switches = list(self.network.topology.switches)
        seen = gather([(self.network.vms[s], "tc -s -j qdisc show; ip -s -j link show")
                       for s in switches])
        for s, text in zip(switches, seen):
            # Inner queues only: a root counts what they lose again.
            qdiscs, links = map(json.loads, text.splitlines())
            total += sum(q["drops"] for q in qdiscs if q["kind"] in ("red", "netem", "pfifo_fast")
                         and "%s.%s" % (s, q["dev"]) not in watched)
            total += sum(n["stats64"]["rx"][kind] for n in links for kind in ("dropped", "errors"))
        return total

    def _quiesce(self, timeout=30):
        """Wait until no counter changes any more; returns the counters."""
        deadline = time.monotonic() + timeout
        last = None
        while True:
            now = self.network.counters()
            if now == last or time.monotonic() > deadline:
                return now
            last = now
            time.sleep(0.5)
