# SPDX-License-Identifier: GPL-2.0
"""How late guests were: whether a measurement is valid, and how slow their clocks must be.

A guest that waits for a CPU of the machine falls behind its own clock. So each guest runs a timer
while it is measured. Only these timers decide, before any figure is known: if they were on time,
the figures are judged, whatever they are; if not, the figures are discarded, and the run is
measured again with slower clocks.
"""

import contextlib
import math
import os
import signal
import time

from ..core.errors import LabError
from ..core.stats import percentile
from .clock import TDF_MAX
from .guest import HOST_NICE, die_with_parent, set_priority

PERIOD_US = 5000            # of the timers; more of them would take CPU time from the traffic
# A guest is on time if this share of its timers is late by at most so many ms of its clock.
#
# Under rdma_dcqcn the queue of the incast is 28 KB (median) to 64 KB (99 %), 5 to 11 ms of the link.
# If a sender or the receiver is away for longer than 10 ms, the queue empties, and the link idles.
# With 5 % at either of them, it idles for at most 10 % of the time, and the tightest expectation
# is a utilisation of .90. Measured on two cores: with 1.6, 3.7 and 12.4 % later than 10 ms in the
# worst host, it was .98, .93 and .87.
#
# Packets that arrive while a switch is away make its queue longer: 5 ms add another median, and
# Kmax is 9 ms above the 99 %. The queue then takes as long again to shrink, and scenarios expect
# the 99 % below Kmax, so one sample in 100 may be above it. Measured: with about 1 % later than 5
# ms, in pauses of up to 50 ms, the 99 % were above Kmax. Alone on two cores, .05 % are later.
HOST, SWITCH = (0.95, 10), (0.995, 5)
TIMERS_LEAST = 100          # fewer are no measurement

# The dilation if guests have the machine to themselves. With 2, the incast fills its link on
# machines where it reaches only .8 of it with 1.
TDF = 2
# Guests without CPU time are late out of proportion, so lateness increases the dilation by at most
# this factor
GROWTH = 1.5
PROBE = 2.0                 # s; longer than other programs usually pause
# s that guests take if they have the machine to themselves, measured on two cores: to boot and
# connect; and, by their own clock, around each run, until all packets have arrived
PREPARATION, SETTLING = 50, 9
# A measurement gives up after LIMIT s or, with more than a few runs, after LONGER times the time
# that it takes on an idle machine.
LIMIT, LONGER = 600, 3


class TooBusy(LabError):
    """There are no valid figures, because guests waited for the machine's CPUs."""

    STATUS = 75     # of the command: EX_TEMPFAIL of sysexits.h, "try again later"


class Late(LabError):
    """Guests were late in a run."""

    def __init__(self, lateness):
        super().__init__(str(lateness))
        self.lateness = lateness


class Lateness:
    """How late the timers of a run were. hosts, switches: {guest: ms by its clock} within which the
    share of its timers in HOST or SWITCH fired; stolen: the share of the machine's CPU time that
    other programs used; tdf: the guests' dilation."""

    def __init__(self, hosts, switches, stolen, tdf):
        self.hosts, self.switches, self.stolen, self.tdf = hosts, switches, stolen, tdf
        self.late, self.bound, self.guest = max(
            ((ms, bound, guest) for guests, (_, bound) in ((hosts, HOST), (switches, SWITCH))
             for guest, ms in guests.items()), key=lambda late: late[0] / late[1])

    @property
    def valid(self):
        return self.late <= self.bound

    @property
    def figures(self):
        return {"host_late_ms": round(max(self.hosts.values()), 2),
                "switch_late_ms": round(max(self.switches.values()), 2),
                "stolen": round(self.stolen, 3)}

    def __str__(self):
        return "timers up to %.3g ms late in %s, bound %d ms; %.0f %% of the CPU time went to " \
            "other programs" % (self.late, self.guest, self.bound, 100 * self.stolen)


def late_ms(rows, begin, end, share):
    """ms within which this share of the timers due between two times fired. rows: ns due, ns
    late."""
    late = [row[1] / 1e6 for row in rows if begin <= row[0] <= end]
    if len(late) < TIMERS_LEAST:
        raise LabError("only %d timers show how late a guest was" % len(late))
    return percentile(late, share)


class Usage:
    """CPU time that the machine has used so far, in ticks of the kernel's clock."""

    def __init__(self, stat, own):
        """stat: the first line of /proc/stat; own: the guests' part of it."""
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, stat.split()[1:9])
        self.busy = user + nice + system + irq + softirq + steal
        self.total, self.own = self.busy + idle + iowait, own

    @classmethod
    def now(cls, pids):
        """pids: of the guests' QEMUs"""
        own = 0
        for pid in pids:
            with open("/proc/%d/stat" % pid) as f:
                own += sum(map(int, f.read().rpartition(")")[2].split()[11:13]))
        with open("/proc/stat") as f:
            return cls(f.readline(), own)

    def stolen(self, earlier):
        """The share of the CPU time since then that others used, the hypervisor included."""
        total = self.total - earlier.total
        others = self.busy - earlier.busy - (self.own - earlier.own)
        return min(max(others / total, 0.0), 1.0) if total else 0.0


def probe(processes, seconds=PROBE):
    """The share of a CPU that each of so many processes gets with the priority of hosts."""
    processes = min(processes, len(os.sched_getaffinity(0)))
    end = time.monotonic() + seconds
    children = []
    for _ in range(processes):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            _use_cpu(end, writer)
        os.close(writer)
        children.append((pid, reader))
    took = 0.0
    for pid, reader in children:
        with os.fdopen(reader) as f:
            took += float(f.read() or 0)
        os.waitpid(pid, 0)
    return min(took / seconds / processes, 1.0)


def _use_cpu(end, writer):
    """A child of probe(), which does not return."""
    try:
        die_with_parent()
        set_priority(0, HOST_NICE)
        begin = time.process_time()
        while time.monotonic() < end:
            pass
        os.write(writer, b"%.6f" % (time.process_time() - begin))
    finally:
        os._exit(0)


# The dilation that follows from it

def dilation(share):
    """The dilation for guests that get this share of the CPU time."""
    return max(TDF, math.ceil(TDF / max(share, 1e-6) - 0.5))


def cost(durations, tdf, share):
    """The s of this machine that booting guests and measuring runs of so many s take."""
    return PREPARATION / max(share, 1e-6) + tdf * sum(d + SETTLING for d in durations)


class Attempts:
    """Chooses the dilation of each attempt to measure some runs, and when to give up.

    tdf: the only dilation to use; None to choose. now: the clock that measures the time taken."""

    def __init__(self, durations, tdf=None, now=time.monotonic):
        self.fixed, self.now, self.begin = tdf, now, now()
        self.limit = max(LIMIT, LONGER * cost(durations, TDF, 1))

    def first(self, share, durations):
        """The dilation to begin with, from what probe() has measured."""
        return self._allowed(dilation(share), share, durations, "this machine is too busy: guests "
                             "would get %.0f %% of the CPU time that they need" % (100 * share))

    def again(self, lateness, durations):
        """The dilation to measure with again, after a run whose guests were late."""
        said = "this machine was too busy: %s" % lateness
        share = 1 - lateness.stolen
        more = min(lateness.late / lateness.bound, GROWTH)
        tdf = max(math.ceil(lateness.tdf * more), dilation(share))
        if self.fixed:
            advice = ", or slow emulated guests down with --tdf %d" % tdf
            raise TooBusy("%s; end other programs%s" % (said, advice * (tdf <= TDF_MAX)))
        return self._allowed(tdf, share, durations, said)

    @contextlib.contextmanager
    def deadline(self):
        """A context that raises TooBusy at the limit, unless the user has chosen the dilation:
        guests may be too slow even to boot."""
        def over(*_):
            raise TooBusy("this machine is too busy: the measurement has not ended after %.0f "
                          "minutes: end other programs" % (self.limit / 60))

        before = signal.signal(signal.SIGALRM, over)
        if not self.fixed:
            signal.setitimer(signal.ITIMER_REAL,
                             max(self.begin + self.limit - self.now(), 1e-3))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _allowed(self, tdf, share, durations, said):
        takes = self.now() - self.begin + cost(durations, tdf, share)
        if tdf > TDF_MAX:
            raise TooBusy("%s; end other programs" % said)
        if takes > self.limit:
            raise TooBusy("%s; with guest clocks slow enough, the measurement would take %.0f "
                          "minutes, and the limit is %.0f: end other programs, or run it with "
                          "--tdf %d" % (said, takes / 60, self.limit / 60, tdf))
        return tdf


@contextlib.contextmanager
def no_deadline():
    """A context that a deadline does not interrupt, and whose time does not count."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
