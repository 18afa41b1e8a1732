# SPDX-License-Identifier: GPL-2.0
"""One run of a scenario: start its flows, record the switches, collect the recordings."""

import copy
import json
import os
import re
import shutil

from ..core import samples
from ..core.errors import LabError
from ..core.progress import say
from .guest import ask, gather, stop
from .lateness import HOST, PERIOD_US, SWITCH, Late, Lateness, Usage, late_ms
from .network import QSAMPLE_PARENT

SAMPLE_US = 5000
SNAPLEN = 96                # all headers, also over IPv6
# ns. Reading the guests' counters takes CPU time from the flows, which affects the queue, so read
# them this long before the window.
COUNTERS_BEFORE = 10**9
# MAC control frames, of which a port sends only PFC
PFC_FILTER = "ether proto 0x8808"


def uncaptured(said):
    """How many packets tcpdump has lost, from its last words; None if they do not say."""
    lost = re.search(r"(\d+) packets? dropped by kernel", said)
    return int(lost[1]) if lost else None


class Recording:
    """The recordings of a run: clocks, counters, files.

    Times are seconds by the guests' clock, which this machine can read, too.
    """

    def __init__(self, run, directory):
        self.run, self.directory = run, directory
        self.epoch = {}             # by switch: see Network.epoch()
        self.seconds = 0.0          # from zero to the end of its flows
        self.tdf = 1                # see clock.py
        self.lateness = None        # of the guests, if they are the lab's
        self.lost = []
        self.logs = []              # of programs in place of perftest
        self.program_seconds = 0    # of the slowest of these

    def copy(self, run, directory):
        """The same recording for a run that differs only in its name."""
        other = copy.copy(self)
        other.run, other.directory = run, directory
        os.makedirs(directory, exist_ok=True)
        for name, ports in (("queue_file", run.queues), ("pcap_file", run.targets),
                            ("pfc_file", run.pausing)):
            for p in ports:
                shutil.copyfile(getattr(self, name)(p), getattr(other, name)(p))
        return other

    def queue_file(self, port):
        return os.path.join(self.directory, "%s.%s.queue" % (self.run.name, port.name))

    def pcap_file(self, port):
        return os.path.join(self.directory, "%s.%s.pcap" % (self.run.name, port.name))


    def pfc_file(self, port):
        """PFC frames sent to its neighbour."""
        return os.path.join(self.directory, "%s.%s.pfc.pcap" % (self.run.name, port.name))


class Measurement:
    def __init__(self, network, run, directory, traffic, strict=True):
        """traffic: the run's flows, held; strict: late guests end the measurement."""
        self.network, self.run, self.traffic, self.strict = network, run, traffic, strict
        self.clock = network.clock
        self.recording = Recording(run, directory)
        self.background = []

    def measure(self):
        """Return a Recording, and hold the traffic again. If strict, raise Late if guests were
        late."""
        try:
            return self._measure()
        except BaseException:
            # guests keep running
            stop(self.background, "KILL")
            raise

    def _measure(self):
        os.makedirs(self.recording.directory, exist_ok=True)
        run, r = self.run, self.recording
        counters, drops = self.network.ask_counters(), self._ask_drops()
        recorders = self._record()
        timers = self._time()
        r.start, before = counters(), drops()
        r.epoch = {name: self.network.epoch(name) for name in self.network.vms}
        seconds, r.tdf = run.duration / 1e9, self.clock.tdf
        say("%s: %s %g s%s" % (
            run.name, self.traffic.what, seconds,
            "" if r.tdf == 1 else ", which take %g here" % self.clock.host(seconds)))
        usage = Usage.now(self._pids())
        r.zero = self.clock.monotonic()
        self._follow()
        r.seconds = self.clock.monotonic() - r.zero
        stolen = Usage.now(self._pids()).stolen(usage)
        r.lost = self.traffic.lost
        self.traffic.hold(run.flows)
        r.program_seconds = self.traffic.seconds
        late, switches = self._late(timers), self.network.topology.switches
        r.lateness = Lateness({g: ms for g, ms in late.items() if g not in switches},
                              {g: ms for g, ms in late.items() if g in switches}, stolen, r.tdf)
        if self.strict and not r.lateness.valid:
            raise Late(r.lateness)
        r.before, r.after = self.before(), self.after()
        say("%s: waiting until all packets have arrived" % run.name)
        r.end = self.traffic.drain()
        r.logs = self.traffic.save(os.path.join(r.directory, run.name))
        drops = self._ask_drops()
        self._collect(recorders)
        after = drops()
        for figure, count in (("other_drops", self._other_drops),
                              ("pfc_frames", self._pfc_frames)):
            setattr(r, figure, count(after) - count(before))
        return r

    # The course of a run

    def _follow(self):
        """Start and stop flows until the run's end, and note QPs that end by themselves."""
        r, run = self.recording, self.run
        due = [(0, lambda: self.traffic.go([f for f in run.flows if f.start == 0])),
               (run.window[0] - COUNTERS_BEFORE, self._count),
               (run.window[0], self._window_begins), (run.window[1], self._window_ends)]
        for f in run.flows:
            if f.start:
                due.append((f.start, lambda f=f: self._join(f)))
            if f.stop < run.duration:
                due.append((f.stop, lambda f=f: self._leave(f)))
        due.append((run.duration, lambda: None))
        begin = r.zero
        for at, action in sorted(due, key=lambda d: d[0]):
            while (left := begin + at / 1e9 - self.clock.monotonic()) > 0:
                self.traffic.look_after()
                if self.traffic.finished:
                    break
                self.clock.sleep(min(left, 0.5))
            before = self.clock.monotonic()
            action()
            # time that busy guests take to obey delays all later events
            begin += self.clock.monotonic() - before
        self.traffic.look_after()

    def _count(self):
        # the window does not wait for the hosts' answers
        self.before = self.network.ask_counters()

    def _window_begins(self):
        self.recording.window = [self.clock.monotonic(), None]

    def _window_ends(self):
        self.recording.window[1] = self.clock.monotonic()
        self.after = self.network.ask_counters()

    def _join(self, flow):
        say("%s: %s joins" % (self.run.name, flow.src))
        self.traffic.go([flow])

    def _leave(self, flow):
        say("%s: %s leaves" % (self.run.name, flow.src))
        self.traffic.hold([flow])

    # The guests' clocks

    def _pids(self):
        return [v.pid for v in self.network.vms.values()]

    def _time(self):
        """Start a timer in each guest; return [(guest, job)]."""
        timers = [(v, v.spawn("cp /lab/share/lateness /run/ && exec /run/lateness %d >/run/late" %
                              PERIOD_US)) for v in self.network.vms.values()]
        self.background += [job for _, job in timers]
        return timers

    def _late(self, timers):
        """Stop the timers; return how late they were during the run, by guest."""
        stop([job for _, job in timers])
        self.background = [j for j in self.background if j not in [job for _, job in timers]]
        gather([(v, "mv /run/late /lab/share/late." + v.name) for v, _ in timers])
        late = {}
        for v, job in timers:
            path = os.path.join(self.network.share, "late." + v.name)
            begin = self.recording.epoch[v.name][0] + self.recording.zero
            try:
                late[v.name] = late_ms(
                    samples.read(path, 2), begin * 1e9, (begin + self.recording.seconds) * 1e9,
                    (SWITCH if v.name in self.network.topology.switches else HOST)[0])
            except LabError as e:
                raise LabError("%s: %s\n%s" % (v.name, e, job.output()))
        return late

    # The switches

    def _record(self):
        """Start samplers and captures at switch ports; return (job, port, kind) of each capture."""
        captures = []
        for p in self.run.queues:
            vm = self.network.vms[p.switch]
            self.background.append(vm.spawn("exec /run/qsample %s %s %d >/run/%s.queue" % (
                p.peer, QSAMPLE_PARENT[p.port], SAMPLE_US, p.peer)))
        for p in self.run.targets:
            captures.append((self._capture(p, "pcap", "-B 16384", "udp port 4791"), p, "pcap"))
        for p in self.run.pausing:
            captures.append((self._capture(p, "pfc.pcap", "-Q out", PFC_FILTER), p, "pfc.pcap"))
        for job, p, _ in captures:
            while "listening" not in job.output():
                if not job.running():
                    raise LabError("tcpdump failed on %s:\n%s" % (p.name, job.output()))
                self.clock.sleep(0.05)
        return captures

    def _capture(self, port, kind, options, packets):
        job = self.network.vms[port.switch].spawn(
            "exec tcpdump -p -n -Z root -i %s -s %d %s -w /run/%s.%s %s" %
            (port.peer, SNAPLEN, options, port.peer, kind, packets))
        self.background.append(job)
        return job

    def _collect(self, captures):
        r = self.recording
        stop(self.background)
        self.background = []
        r.capture_lost = 0
        for job, p, _ in captures:
            text = job.output()
            lost = uncaptured(text)
            if lost is None:
                raise LabError("tcpdump failed on %s:\n%s" % (p.name, text))
            r.capture_lost += lost
        place = {"pcap": r.pcap_file, "pfc.pcap": r.pfc_file}
        files = [(p, kind, place[kind](p)) for _, p, kind in captures] + \
            [(p, "queue", r.queue_file(p)) for p in self.run.queues]
        gather([(self.network.vms[p.switch], "mv /run/%s.%s /lab/share/%s.%s" %
                 (p.peer, kind, p.name, kind)) for p, kind, _ in files])
        for p, kind, path in files:
            shutil.move(os.path.join(self.network.share, "%s.%s" % (p.name, kind)), path)

    def _ask_drops(self):
        more = {"tc": "", "dcbport": "; dcqcn -j port stat | tr -d '\\n'"}
        return ask([(self.network.vms[name], "tc -s -j qdisc show; ip -s -j link show" +
                     more[s.port]) for name, s in self.network.topology.switches.items()])

    def _other_drops(self, answers):
        """Packets that switches lost outside of the recorded queues."""
        watched = {p.name for p in self.run.queues}
        total = 0
        for s, text in zip(self.network.topology.switches, answers):
            # inner queues only, because a root counts their losses again
            qdiscs, links = map(json.loads, text.splitlines()[:2])
            total += sum(q["drops"] for q in qdiscs if q["kind"] in ("red", "netem", "pfifo_fast",
                                                                  "dcbport")
                         and "%s.%s" % (s, q["dev"]) not in watched)
            total += sum(n["stats64"]["rx"][kind] for n in links for kind in ("dropped", "errors"))
        return total

    @staticmethod
    def _pfc_frames(answers):
        """Frames that the switches have sent to pause and to resume."""
        ports = [p for text in answers for line in text.splitlines()[2:] for p in json.loads(line)]
        return sum(p["tx_prio%d_%s" % (prio, what)] for p in ports for prio in range(8)
                   for what in ("pause", "resume"))
