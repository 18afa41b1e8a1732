#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests how the lab decides, by clocks alone, whether a measurement counts, how slow the guests'
clocks must be, and when to give up. Starts no guest. Silent on success."""

import contextlib
import io
import json
import signal
import sys
import tempfile
import time as real_time
import types
from unittest import mock

from expect import expect, status
from testbed.core.errors import LabError
from testbed.vm import engine, lab_command, lateness, report
from testbed.vm.lateness import Attempts, Late, Lateness, TooBusy, Usage, cost, dilation, late_ms

INCAST = [26, 26]       # s


def said(what, error, text, function, *args):
    """It must raise this error, with these words."""
    try:
        got = function(*args)
    except LabError as e:
        expect(what, (type(e), all(t in str(e) for t in text), str(e) if not all(
            t in str(e) for t in text) else ""), (error, True, ""))
    else:
        expect(what, got, "an error")


def timers():
    """Of 200 timers of a host, 9 may be late, of a switch none, and of 1000, 4; those outside of
    the run do not count."""
    def rows(late, n=200):
        return [(i * 5 * 10**6, 10**5 if i >= late else 300 * 10**6) for i in range(n)]

    for late, want in ((0, 0.1), (9, 0.1), (10, 300), (200, 300)):
        expect("%d late timers" % late, late_ms(rows(late), 0, 10**9, lateness.HOST[0]), want)
    for n, late, want in ((200, 0, 0.1), (200, 1, 300), (1000, 4, 0.1), (1000, 5, 300)):
        expect("%d late timers of %d" % (late, n),
               late_ms(rows(late, n), 0, 5 * 10**9, lateness.SWITCH[0]), want)
    expect("late before it", late_ms(rows(50, 400), 250 * 10**6, 2 * 10**9, 0.95), 0.1)
    expect("late after it", late_ms([(-due, late) for due, late in rows(50, 400)],
                                    -2 * 10**9, -250 * 10**6, 0.95), 0.1)
    said("no timer", LabError, ["only 0 timers"], late_ms, [], 0, 10**9, 0.95)
    said("few timers", LabError, ["only 99 timers"], late_ms, rows(0, 99), 0, 10**9,
         0.95)


def valid():
    for hosts, switches, want in (({"h1": 0.2, "h2": 10}, {"s1": 5}, True),
                                  ({"h1": 10.1, "h2": 1}, {"s1": 0.1}, False),
                                  ({"h1": 1}, {"s1": 5.1, "s2": 1}, False),
                                  ({"h1": 41, "h2": 0.1}, {"s1": 20}, False)):
        expect("late %s %s" % (hosts, switches), Lateness(hosts, switches, 0, 2).valid, want)
    # however many CPUs others had: if timers were on time, figures mean something
    expect("stolen", Lateness({"h1": 1}, {"s1": 1}, 0.9, 2).valid, True)
    figures = Lateness({"h1": 3, "h2": 4}, {"s1": 1, "s2": 2}, 0.38, 2).figures
    expect("figures", figures, {"host_late_ms": 4, "switch_late_ms": 2, "stolen": 0.38})
    expect("scenarios know them", set(figures) - set(report.FIGURES), set())
    expect("a host", str(Lateness({"h1": 3, "h3": 41.23}, {"s1": 20}, 0.384, 2)),
           "timers up to 41.2 ms late in h3, bound 10 ms; 38 % of the CPU time went to other "
           "programs")
    expect("a switch", str(Lateness({"h1": 3, "h3": 41.23}, {"s1": 1, "s2": 21}, 0, 2)),
           "timers up to 21 ms late in s2, bound 5 ms; 0 % of the CPU time went to other programs")


def stolen():
    """Ticks: user nice system idle iowait irq softirq steal guest guest_nice"""
    a = Usage("cpu 100 0 50 1000 10 0 0 0 0 0", 60)
    for line, own, want in (("cpu 200 0 50 1100 10 0 0 0 0 0", 160, 0.0),
                            ("cpu 200 0 50 1000 110 0 0 0 0 0", 60, 0.5),
                            ("cpu 100 50 100 1000 10 50 50 0 0 0", 110, 0.75),
                            ("cpu 100 0 50 1000 10 0 0 80 0 0", 60, 1.0),
                            ("cpu 200 0 50 1000 10 0 0 0 0 0", 161, 0.0),
                            ("cpu 100 0 50 1000 10 0 0 0 0 0", 60, 0.0)):
        expect("stolen: " + line, Usage(line, own).stolen(a), want)


def dilations():
    expect("shares", [dilation(s) for s in (1, 0.97, 0.8, 0.79, 0.43, 0.2, 0)],
           [2, 2, 2, 3, 5, 10, 2000000])


class Time:
    """A clock for Attempts"""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def attempts():
    """From a share of the CPUs to a dilation, as long as it ends within ten minutes."""
    time = Time()
    a = Attempts(INCAST, None, time)
    expect("idle", a.first(1, INCAST), 2)
    expect("idle takes", 180 <= cost(INCAST, 2, 1) <= 200, True)
    expect("half", a.first(0.5, INCAST), 4)
    expect("eight loops of lower priority", a.first(0.43, INCAST), 5)
    said("eight loops of the same priority", TooBusy,
         ["this machine is too busy: guests would get 20 % of the CPU time that they need",
          "would take 16 minutes, and the limit is 10", "or run it with --tdf 10"],
         a.first, 0.2, INCAST)
    said("nothing at all", TooBusy, ["would get 0 %", "; end other programs"], a.first, 0, INCAST)

    def late(ms, stolen, tdf):
        return Lateness({"h1": ms}, {"s1": 0.1}, stolen, tdf)

    time.now = 110
    expect("a little late", a.again(late(10.5, 0, 2), INCAST), 3)
    expect("late, and robbed", a.again(late(517, 0.5, 2), INCAST), 4)
    expect("as late as one may be, not robbed", a.again(late(500, 0, 2), INCAST), 3)
    expect("more each time", a.again(late(11, 0.5, 4), [26]), 5)
    said("robbed of most", TooBusy,
         ["this machine was too busy: timers up to 41 ms late in h1, bound 10 ms; 80 % of the CPU",
          "or run it with --tdf 10"], a.again, late(41, 0.8, 2), INCAST)
    expect("a late switch", a.again(Lateness({"h1": 9}, {"s1": 6}, 0, 5), [26]), 6)
    time.now = 590
    said("no time is left", TooBusy, ["the limit is 10"], a.again, late(11, 0, 2), [26])
    # with what they would take, these never end
    tdf, time.now, n = 2, 0, 0
    a = Attempts(INCAST, None, time)
    try:
        while n < 10:
            n += 1
            time.now += cost(INCAST, tdf, 1)
            tdf = a.again(late(20, 0, tdf), INCAST)
    except TooBusy:
        pass
    expect("attempts", (n, time.now <= 600), (2, True))
    many = [16] * 9
    expect("many runs", Attempts(many, None, time).limit, 3 * cost(many, 2, 1))

    a = Attempts(INCAST, 7, Time())
    said("as the user wants it, and late", TooBusy,
         ["timers up to 41 ms late in h1, bound 10 ms",
          "; end other programs, or slow emulated guests down with --tdf 11"],
         a.again, late(41, 0, 7), INCAST)
    said("later than can be allowed for", TooBusy, ["; end other programs"],
         Attempts(INCAST, 40, Time()).again, late(500, 0.9, 40), INCAST)


class Guests:
    """Stands in for guests: measures runs, of which some are late so many times."""

    def __init__(self, late, stolen=0.0, share=1.0):
        """late: by run, the ms of its first, second, ... measurement; then it is on time"""
        self.late, self.lost, self.share = {k: list(v) for k, v in late.items()}, stolen, share
        self.booted, self.measured, self.left = [], [], 0

    def boot(self, topology, fabric, module):
        self.booted.append(fabric.clock.tdf)
        self.left = signal.getitimer(signal.ITIMER_REAL)[0]
        return self

    def configure(self, topology):
        pass

    def measure(self, run, strict):
        self.measured.append((run.name, self.booted[-1]))
        if run.name == "broken":
            raise LabError("broken")
        late = self.late.get(run.name)
        lateness = Lateness({"h1": late.pop(0) if late else 0}, {}, self.lost, self.booted[-1])
        if strict and not lateness.valid:
            raise Late(lateness)
        return types.SimpleNamespace(run=run, lateness=lateness)

    def command(self, names, tdf=None, as_json=False, expected=(), check=True, program=(),
                timely=True):
        """Run "lab run --check" on these runs; return its status and output. expected: the runs
        whose figures are as expected; timely: whether they need guests that are on time."""
        args = lab_command.parser().parse_args(
            ["run"] + ["--check"] * check + ["--tdf=%d" % (tdf or 0)] * bool(tdf) +
            ["--json"] * as_json + ["--"] * bool(program) + list(program))
        args.module = None
        topology = types.SimpleNamespace(shape=1, hosts={}, switches={}, ports={})
        runs = [types.SimpleNamespace(name=n, scenario="incast", kinds=[], flows=[], content=n,
                                      topology=topology, duration=26e9, timely=timely)
                for n in names]
        reports = types.SimpleNamespace(bad=[], documents=[])
        judged = []

        def done(recording):
            judged.append(recording.run.name)
            if recording.run.name not in expected:
                reports.bad.append(recording.run.name)

        reports.done, reports.end = done, lambda: None
        fabric = mock.MagicMock()
        fabric.return_value.__enter__.side_effect = lambda: types.SimpleNamespace(
            clock=fabric.call_args.kwargs["clock"], splats=lambda: [], complaints=lambda: [])
        fabric.return_value.__exit__.return_value = False
        out, err = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as directory, \
                mock.patch.object(lab_command, "experiments", lambda args: [
                    (types.SimpleNamespace(runs=runs), directory)]), \
                mock.patch.object(lab_command, "image_of", lambda args: None), \
                mock.patch.object(lab_command, "default_port", lambda image: "dcbport"), \
                mock.patch.object(engine, "module_for", lambda *args: None), \
                mock.patch.object(engine, "alone", contextlib.nullcontext), \
                mock.patch.object(engine, "Reports", lambda *args: reports), \
                mock.patch.object(engine, "accel", lambda image: "tcg"), \
                mock.patch.object(engine, "probe", lambda processes: self.share), \
                mock.patch.object(engine, "Fabric", fabric), \
                mock.patch.object(engine, "Network", self), \
                mock.patch.object(engine, "Traffic", mock.MagicMock()), \
                mock.patch.object(engine, "Programs", mock.MagicMock()), \
                mock.patch.object(engine, "Measurement", lambda network, run, out, traffic, strict:
                                  types.SimpleNamespace(
                                      measure=lambda: self.measure(run, strict))), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = args.run(args)
        return status, judged, out.getvalue(), err.getvalue()


def commands():
    """What "lab run --check" measures, judges and returns."""
    both = ["stock", "dcqcn"]

    def ran(what, guests, want, *args, **kw):
        status, judged, out, err = guests.command(both, *args, **kw)
        expect(what, (status, judged, guests.booted, guests.measured), want)
        return out, err

    guests = Guests({})
    ran("idle", guests, (0, both, [2], [("stock", 2), ("dcqcn", 2)]), expected=both)
    expect("it has ten minutes", 590 < guests.left <= 600, True)
    out, err = ran("busy from the beginning", Guests({}, share=0.5),
                   (0, both, [4], [("stock", 4), ("dcqcn", 4)]), expected=both)
    expect("busy from the beginning", "leave guests 50 % of the CPU time that they need: "
           "measuring with --tdf 4\n" in err, True)
    # nobody looks at figures of guests that were late, as expected or not
    for expected, status in ((both, 0), (["stock"], 1)):
        out, err = ran("busy later", Guests({"dcqcn": [41]}, 0.38),
                       (status, both, [2, 3], [("stock", 2), ("dcqcn", 2), ("dcqcn", 3)]),
                       expected=expected)
        expect("busy later", "] dcqcn: this machine was too busy: timers up to 41 ms late in h1, "
               "bound 10 ms; 38 % of the CPU time went to other programs; measuring it again with "
               "--tdf 3\n" in err, True)
    # a program of the user's runs to its end, and is measured again only for a check
    for check, booted, measured in ((False, [2], [("stock", 2), ("dcqcn", 2)]),
                                    (True, [2, 3], [("stock", 2), ("dcqcn", 2), ("dcqcn", 3)])):
        out, err = ran("a program", Guests({"dcqcn": [41]}, 0.38), (0, both, booted, measured),
                       expected=both, check=check, program=["true"])
        expect("a program", "these figures describe this machine, which was too busy: timers up "
               "to 41 ms late" in err, not check)
    # nor does a scenario wait for the machine whose figures do not depend on it
    for tdf, clock in ((None, 1), (7, 7)):
        out, err = ran("any machine", Guests({"dcqcn": [4100]}, 0.9, share=0.1),
                       (0, both, [clock], [("stock", clock), ("dcqcn", clock)]), tdf,
                       expected=both, timely=False)
        expect("any machine", ("timers up to 4.1e+03 ms late in h1" in err,
                               "measuring" in err, "again" in err), (True, False, False))
    # what was on time is not measured again, however its figures are
    ran("not as expected", Guests({}), (1, both, [2], [("stock", 2), ("dcqcn", 2)]),
        expected=["stock"])
    out, err = ran("too busy at once", Guests({}, share=0.2), (75, [], [], []), expected=both)
    expect("too busy at once", (out, err.startswith("lab: this machine is too busy: guests would "
                                                    "get 20 %")), ("", True))
    ran("too busy later", Guests({"dcqcn": [41]}, 0.8),
        (75, ["stock"], [2], [("stock", 2), ("dcqcn", 2)]), expected=both)
    ran("too busy after a failure", Guests({"dcqcn": [41]}, 0.8),
        (1, ["stock"], [2], [("stock", 2), ("dcqcn", 2)]), expected=["dcqcn"])
    ran("as the user wants it", Guests({}, share=0.1),
        (0, both, [7], [("stock", 7), ("dcqcn", 7)]), 7, expected=both)
    ran("as the user wants it, and late", Guests({"stock": [41]}), (75, [], [7], [("stock", 7)]), 7,
        expected=both)
    out, err = ran("JSON", Guests({"stock": [41]}), (75, [], [7], [("stock", 7)]), 7, True)
    said = json.loads(out)
    expect("JSON", (said["results"], said["failed"], err.endswith("lab: %s\n" % said["error"])),
           ([], [], True))
    guests = Guests({})
    status, judged, _, _ = guests.command(["broken", "dcqcn"], expected=["dcqcn"])
    expect("an error is no lateness", (status, judged, guests.booted, guests.measured),
           (1, ["dcqcn"], [2], [("broken", 2), ("dcqcn", 2)]))


def deadlines():
    """Guests may be too slow even to boot."""
    a = Attempts(INCAST)
    a.begin -= a.limit
    try:
        with a.deadline():
            real_time.sleep(60)
        expect("over", "no error", "an error")
    except TooBusy as e:
        expect("over", "has not ended after 10 minutes" in str(e), True)
    for name, tdf, inside in (("reports", None, lateness.no_deadline),
                              ("the user's clocks", 3, contextlib.nullcontext)):
        a = Attempts(INCAST, tdf)
        a.begin -= a.limit - 0.05
        with a.deadline(), inside():
            expect(name, signal.getitimer(signal.ITIMER_REAL)[0], 0)
    expect("no alarm is left", signal.getitimer(signal.ITIMER_REAL)[0], 0)


def probed():
    """This process's share is between nothing and everything."""
    expect("a share", 0 < lateness.probe(2, 0.05) <= 1, True)


for test in (timers, valid, stolen, dilations, attempts, commands, deadlines, probed):
    test()
sys.exit(status())
