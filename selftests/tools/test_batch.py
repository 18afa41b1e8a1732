#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests which runs the simulator simulates, in which order, and which it does not simulate again.
The simulation itself is not one. Silent on success."""

import contextlib
import errno
import fcntl
import importlib.machinery
import importlib.util
import io
import json
import os
import struct
import sys
import tempfile
import threading
import types
from unittest import mock

from expect import expect, status
from testbed.core import sources
from testbed.core.errors import InputError, LabError
from testbed.core.expression import Expression
from testbed.core.paths import MODULE, SIM, cache_dir
from testbed.core.scenario import Table
from testbed.sim import batch, figures, graph, grid, late_pacer, sim_command, uml
from testbed.sim.batch import Batch
from testbed.sim.model import Panel, Same, Simulation


class Run:
    def __init__(self, scenario, t, n, order):
        self.scenario, self.order, self.name = scenario, order, "t=%d,n=%d" % (t, n)
        self.variables = self.values = {"t": t, "n": n}
        self.duration, self.notes = 1, list


def scenario(runs, same=()):
    """runs: {(t, n): order}"""
    out = types.SimpleNamespace(name="s")
    out.runs = [Run(out, t, n, order) for (t, n), order in runs.items()]
    out.same = [Same(Table("same", dict(s))) for s in same]
    return out


class Simulator:
    """Remembers what it simulated. Figures are drops = n."""

    def __init__(self, there=(), broken=(), changing=False):
        self.there, self.broken, self.changing, self.done = there, broken, changing, []

    def kept(self, run, out):
        return {"drops": -1} if os.path.basename(out) in self.there else None

    def run(self, run, out, show):
        self.done.append(os.path.basename(out))
        show(1)
        if run.name in self.broken:
            raise LabError("it broke")
        return {"drops": run.values["n"] + self.changing * len(self.done)}


def simulated(made, sim, jobs=1, **how):
    with contextlib.redirect_stderr(io.StringIO()):
        return Batch(sim, jobs, **how).simulate(made, "/nowhere")


def drops(harvest):
    return {run.name: r["drops"] for run, r in harvest.results}


SAME = {"as": {"t": 1}, "if": "drops == 0 and n < 9"}
FOUR = {(2, 0): 0, (1, 0): 1, (2, 3): 0, (1, 3): 2}


def order():
    sim = Simulator()
    harvest = simulated(scenario({(1, 1): 5, (1, 2): -1, (1, 3): 2.5}), sim)
    expect("the order of simulations", sim.done, ["t=1,n=2", "t=1,n=3", "t=1,n=1"])
    expect("the order of results", list(drops(harvest)), ["t=1,n=1", "t=1,n=2", "t=1,n=3"])
    expect("no notes", list(harvest.notes()), [])


def same():
    for jobs in 1, 3:
        sim = Simulator()
        harvest = simulated(scenario(FOUR, [SAME]), sim, jobs)
        expect("not simulated", sorted(sim.done), ["t=1,n=0", "t=1,n=3", "t=2,n=3"])
        expect("but known", [r.get("same_as") for _, r in harvest.results],
               ["t=1,n=0", None, None, None])
        expect("its note", list(harvest.notes()),
               ["1 of 4 runs would be the same as another run, and have its figures"])
    sim = Simulator()
    expect("without the other", drops(simulated(scenario({(2, 0): 0}, [SAME]), sim)),
           {"t=2,n=0": 0})
    sim = Simulator(broken=["t=1,n=0"])
    harvest = simulated(scenario(FOUR, [SAME]), sim)
    expect("the other one broke", (harvest.bad, sorted(drops(harvest))),
           (["t=1,n=0: it broke"], ["t=1,n=3", "t=2,n=0", "t=2,n=3"]))
    for table, text in (({"as": {"t": 3}, "if": "1"}, "same: as: matches no run of the sweep"),
                        ({"as": {"t": 1, "m": 1}, "if": "1"}, "same: as: matches no run of the sweep")):
        try:
            Same(Table("same", table)).check(scenario(FOUR).runs)
            expect("no such run", "no error", text)
        except InputError as e:
            expect("no such run", text in str(e), True)
    harvest = simulated(scenario(FOUR, [{**SAME, "if": "drips == 0"}]), Simulator())
    expect("an unknown figure", harvest.bad[0],
           "t=2,n=0: same: if: 'drips == 0': drips is not defined")


def resumed():
    there = ["t=1,n=0", "t=1,n=3"]
    sim = Simulator(there)
    expect("without --resume", (len(drops(simulated(scenario(FOUR), sim))), len(sim.done)), (4, 4))
    sim = Simulator(there)
    harvest = simulated(scenario(FOUR, [SAME]), sim, resume=True)
    expect("the rest is simulated", sorted(sim.done), ["t=2,n=0", "t=2,n=3"])
    expect("what was there counts", drops(harvest),
           {"t=2,n=0": 0, "t=1,n=0": -1, "t=2,n=3": 3, "t=1,n=3": -1})
    expect("its note", list(harvest.notes()),
           ["2 of 4 runs were simulated before, by the same code"])
    sim = Simulator(["t=1,n=0"])
    simulated(scenario({(1, 0): 0}), sim, twice=True, resume=True)
    expect("the other one is not there", sim.done, ["t=1,n=0,again"])


def timed():
    sim = Simulator(["t=2,n=3"])
    harvest = simulated(scenario(FOUR, [SAME]), sim, seconds=0, resume=True)
    expect("no time", (sim.done, drops(harvest)), ([], {"t=2,n=3": -1}))
    expect("its notes", list(harvest.notes()),
           ["1 of 4 runs were simulated before, by the same code",
            "3 of 4 runs were not simulated in this time; --resume continues"])
    sim = Simulator()
    simulated(scenario(FOUR, [SAME]), sim, seconds=1000)
    expect("time", len(sim.done), 3)


def twice():
    harvest = simulated(scenario({(1, 0): 0}), Simulator(changing=True), twice=True)
    expect("twice", harvest.bad, ["t=1,n=0: a second simulation differs: drops: 1 and 2"])
    harvest = simulated(scenario(FOUR, [SAME]), Simulator(), twice=True)
    expect("twice the same", harvest.bad, [])
    expect("a figure that the second one lacks",
           [figures.differences(*two) for two in (({"a": {"n": 1}}, {}), ({}, {"a": {"n": 1}}))],
           [["a: {'n': 1} and None"], ["a: None and {'n': 1}"]])


def interrupted():
    """Ctrl-C ends the running simulation, and no other one begins, not even one that waited."""
    killed, began = threading.Event(), []

    class Endless(Simulator):
        def run(self, run, out, show):
            began.append(run.name)
            if run.name == "t=1,n=3":
                raise SystemExit    # like a signal: it reaches the thread that waits for all
            killed.wait(60)
            raise LabError("killed")

    stop, batch.uml.stop_all = batch.uml.stop_all, killed.set
    try:
        simulated(scenario(FOUR, [SAME]), Endless(), 4)
        expect("an interruption", "none", "SystemExit")
    except SystemExit:
        pass
    finally:
        batch.uml.stop_all = stop
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(60)
    expect("what began", "t=2,n=0" in began, False)


def interrupted_early():
    """The same while runs are still handed out."""
    killed, done = threading.Event(), []

    class Endless(Simulator):
        def run(self, run, out, show):
            killed.wait(60)
            done.append(run.name)
            raise LabError("killed")

    class Last(Run):
        @property
        def name(self):
            raise SystemExit

        @name.setter
        def name(self, name):
            pass

    made = scenario({(1, n): 0 for n in range(3)})
    made.runs.append(Last(made, 1, 3, 0))
    stop, batch.uml.stop_all = batch.uml.stop_all, killed.set
    try:
        simulated(made, Endless(), 1)
        expect("an early interruption", "none", "SystemExit")
    except SystemExit:
        pass
    finally:
        batch.uml.stop_all = stop
    expect("it does not wait for the runs", (killed.is_set(), done), (True, ["t=1,n=0"]))


def stopped():
    """A kernel that a thread starts after Ctrl-C ends at once."""
    with tempfile.TemporaryDirectory() as out, \
            mock.patch.dict(os.environ, XDG_CACHE_HOME=out, KERNEL_LOGS=""):
        os.mkdir(cache_dir())
        linux = os.path.join(out, "linux")
        write(linux, "#!/bin/sh\nexec sleep 1000\n")
        os.chmod(linux, 0o755)
        uml.stop_all()
        try:
            uml.boot(types.SimpleNamespace(linux=linux), "", [], "", out, silence=5)
            expect("after Ctrl-C", "it ran", "an error")
        except LabError as e:
            expect("after Ctrl-C", "it ended early" in str(e), True)
        finally:
            uml._stopped = False


def judged():
    """A script that ends early fails the simulation: its recording is not complete."""
    with tempfile.TemporaryDirectory() as out:
        uml.judge("fine\nSIM-DONE\n", out)
        for text in ("SIM-DONE\n", "SIM-FAILED x\nSIM-DONE\n", "BUG: x\nSIM-DONE\n",
                     "Traceback (most recent call last):\n  x\nOSError: x\nSIM-DONE\n"):
            with open(os.path.join(out, "dmesg"), "w") as f:
                f.write("" if text != "SIM-DONE\n" else "BUG: x\n")
            try:
                uml.judge(text, out)
                expect("judged: " + text, "it passed", "an error")
            except LabError as e:
                expect("judged: " + text, "it failed: " in str(e), True)


def cut():
    """What a cable brought before it was cut is recorded."""
    with open(os.path.join(SIM, "frames.py")) as f:
        script = {}
        exec(f.read().removesuffix("\nmain(sys.argv[1:])\n"), script)
    frame = bytes(12) + struct.pack(">HHH8H", 0x8808, 0x0101, 1 << 3, *[9] * 8)
    came = (frame, [(0, 0, struct.pack("qq", 1, 500))], 0, None)
    left = [came, OSError(errno.ENETDOWN, "Network is down"), came, BlockingIOError()]
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines):
        script["write"]("s1.to_s2", types.SimpleNamespace(
            recvmsg=mock.Mock(side_effect=left), getsockopt=lambda *args: bytes(8)), 100)
    expect("frames of a cut cable", lines.getvalue(), "1000000400,s1.to_s2,3,9\n" * 2)


def progress():
    """Other runs begin and end while it is shown."""
    shown = batch.Progress()
    shown.tty = True

    class Name(str):
        def __str__(self):
            shown.at["t=2"] = 1
            return "t=1"

    with contextlib.redirect_stderr(io.StringIO()) as err:
        shown.show(types.SimpleNamespace(name=Name("t=1"), duration=10**9), 5 * 10**8)
    expect("progress", err.getvalue(), "\r\033[Kt=1 0.500 of 1.000 s")


def no_time():
    """Scenarios of which nothing was simulated: their earlier results stay."""
    sim = types.SimpleNamespace(kernel=types.SimpleNamespace(release="7.3", origin="x"))
    with tempfile.TemporaryDirectory() as where, \
            mock.patch.object(sim_command, "Simulator", lambda *args, **named: sim):
        args = sim_command.parser().parse_args(
            ["run", "incast", "lossless", "--seconds", "1", "--out", where])
        args.seconds = 0
        earlier = os.path.join(where, "lossless", "result.json")
        write(earlier, "earlier")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            args.run(args)
        expect("the summary", "0 figures are as expected, 2 are not" in out.getvalue(), True)
        expect("where nothing was", os.path.exists(os.path.join(where, "incast")), False)
        with open(earlier) as f:
            expect("where something was", f.read(), "earlier")


def simulator(where, seed=1):
    """A real one whose kernel and programs are files with a few bytes."""
    out = object.__new__(sim_command.Simulator)
    out.seed, out.load, out.bin, out.out = seed, [], os.path.join(where, "bin"), where
    out.kernel = types.SimpleNamespace(dir="/x/sim-1", release="7.3", modules=lambda *paths: [])
    out.dcqcn, out.dcbport = (os.path.join(where, n) for n in ("a.ko", "b.ko"))
    return out


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def keys():
    """A run is not simulated again unless something that it depends on has changed."""
    a, b = [run for run in Simulation("incast").runs if run.profile != "stock"][:2]
    stock = next(run for run in Simulation("incast").runs if run.profile == "stock")
    tc = Simulation("vmpath").runs[0]
    booted = []
    boot, read = uml.boot, figures.figures
    uml.boot = lambda *args, **kw: booted.append(args)
    figures.figures = lambda run, out: {"boots": len(booted)}
    try:
        with tempfile.TemporaryDirectory() as where:
            out = os.path.join(where, "run")
            for name in ("a.ko", "b.ko", "bin/traffic"):
                write(os.path.join(where, name), name)
            sim = simulator(where)
            expect("nothing is there", sim.kept(a, out), None)
            expect("simulated", sim.run(a, out, None), {"boots": 1})
            expect("and kept", sim.kept(a, out), {"boots": 1})
            expect("another run", sim.kept(b, out), None)
            expect("another seed", simulator(where, 2).kept(a, out), None)
            for path in (sim.dcqcn, sim.dcbport, os.path.join(sim.bin, "traffic")):
                with open(path) as f:
                    before = f.read()
                write(path, before + ".")
                expect("changed: " + path, sim.kept(a, out), None)
                write(path, before)
                expect("as before: " + path, sim.kept(a, out), {"boots": 1})
            expect("without the module", simulator(where).key(stock) != sim.key(a), True)
            key = sim.key(stock), sim.key(tc)
            write(sim.dcqcn, "changed")
            expect("stock does not load it", sim.key(stock), key[0])
            expect("with tc, it does", sim.key(tc) != key[1], True)
            key = sim.key(tc)
            write(sim.dcbport, "changed")
            expect("tc does not load this one", sim.key(tc), key)
            uml.boot = None
            try:
                sim.run(a, out, None)
            except TypeError:
                pass
            expect("a simulation that did not end", os.path.exists(os.path.join(out, "key")), False)
    finally:
        uml.boot, figures.figures = boot, read
    scripts = [n for n in os.listdir(SIM) if n.endswith(".py")]
    expect("the scripts that count are there", "counters.py" in scripts, True)


def ticks():
    """Commands that share a directory build its module with late timers one after the other, and
    the second one changes nothing."""
    with tempfile.TemporaryDirectory() as out:
        where = os.path.join(out, "tick-4000000")
        pacer = os.path.join(where, late_pacer.PACER)

        def build(source, parts, there):
            sources.copy(source, parts, there)
            with open(where + ".lock") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    expect("the lock", "free", "held")
                except BlockingIOError:
                    built.append(there)

        built, kernel = [], types.SimpleNamespace(module=build)
        for _ in range(2):
            late_pacer._built.clear()
            expect("the module", late_pacer.module(kernel, out, 4000000),
                   os.path.join(where, MODULE))
            with open(pacer) as f:
                text = f.read()
            for words in "dcqcn_flow_tick(qp, ", "roundup_u64(wake + phase, 4000000U)":
                expect(words, words in text, True)
            if len(built) == 1:
                os.utime(pacer, (100, 100))
        expect("builds", built, [where] * 2)
        expect("what was built stays", os.path.getmtime(pacer), 100)
        late_pacer._built.clear()


def picture():
    """Runs without figures have a place all the same."""
    made = scenario(FOUR)
    wanted = types.SimpleNamespace(x=["n"], y=["t"], rows=[], panels=[Panel(Table("panel", {
        "title": "drops", "value": "drops", "worst": 4, "best": 0}))])
    with tempfile.TemporaryDirectory() as where:
        xs, ys, rows, panels = grid._cells(wanted, made.runs, [(made.runs[3], {"drops": 3})], (),
                                           where)
        with open(os.path.join(where, "grid.csv")) as f:
            lines = f.read().splitlines()
    expect("places", (list(xs), list(ys), rows), (["0", "3"], ["2", "1"], [""]))
    expect("cells", list(panels.values()), [[(1, 1, 0.25, "-")]])
    expect("table", lines, ["t,n,drops,failed,notes", "1,3,3.0000,0,"])

    with tempfile.TemporaryDirectory() as where:
        for draw, text in ((lambda found: grid._cells(wanted, made.runs, found, (), where),
                            "picture: drops: 'drops' is not a number"),
                           (lambda found: graph.draw(types.SimpleNamespace(
                               graph=types.SimpleNamespace(x=Expression("drops"))), found, where),
                            "graph: x: 'drops' is not a number")):
            for value in "s1.h3", {"a": 1}:
                try:
                    draw([(made.runs[3], {"drops": value})])
                    expect("no number", "no error", text)
                except LabError as e:
                    expect("no number", str(e), text)

    # figures that some runs lack
    lines = types.SimpleNamespace(title="t", graph=types.SimpleNamespace(
        title="x", x=Expression("x"),
        lines=[types.SimpleNamespace(title="y", value=Expression("y"))]))
    with tempfile.TemporaryDirectory() as where, mock.patch.object(graph.plots, "draw"):
        graph.draw(lines, [(run, {"x": x, "y": y}) for run, (x, y) in zip(
            made.runs, ((None, 1), (2, None), (2, 3), (1, 4)))], where)
        with open(os.path.join(where, "graph.csv")) as f:
            expect("points", f.read().split(), ["x,y", "1,4", "2,3", "2,", ",1"])

    # for people: the first panel's figure, and others that are not the best
    wanted.panels += [Panel(Table("panel", {"title": name, "value": name, "worst": 9, "best": 0}))
                      for name in ("late", "lost")]
    wanted.x, wanted.y, wanted.rows = ["n"], [], ["t"]
    results = [(made.runs[0], {"drops": 1.2345, "late": 0, "lost": 7}),
               (made.runs[3], {"drops": None, "late": 0, "lost": 0})]
    with tempfile.TemporaryDirectory() as where:
        grid._cells(wanted, made.runs, results, (), where)
        found = {}
        for name in sorted(os.listdir(where)):
            if name != "grid.csv":
                with open(os.path.join(where, name)) as f:
                    found[name] = f.read().splitlines()
    expect("a table for each row of panels", found,
           {"table-1.csv": ["n,", "0,", "3,-"], "table-2.csv": ["n,", "0,1.23; 7", "3,"]})


def search():
    """A generation is a scenario; a setting whose simulation fails has no figure, and takes none of
    another one, nor of an earlier search."""
    loader = importlib.machinery.SourceFileLoader("search", os.path.join(SIM, "search"))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("search", loader))
    loader.exec_module(made)
    settings = [made.setting("g0-%d" % n, [n / 2] * len(made.BOUNDS)) for n in range(3)]
    simulated = []

    def sim(words, **streams):
        simulated.append([run.variables["setting"] for run in Simulation(words[2]).runs])
        if len(simulated) == 1:
            write(os.path.join(where, "search", "incast", "generation-0", "result.json"), json.dumps(
                {"runs": [{"setting": "g0-2", "rounds": {"p99_us": 3}},
                          {"setting": "g0-0", "rounds": {}}]}))

    with tempfile.TemporaryDirectory() as where, mock.patch.object(made, "OUT", where), \
            mock.patch.object(made.subprocess, "run", sim):
        found = made.Search(types.SimpleNamespace(work="incast", figure="rounds.p99_us", jobs=1))
        expect("figures", found.simulate(settings), [float("inf"), float("inf"), 3])
        try:
            expect("nothing simulated", found.simulate(settings), "an error")
        except SystemExit as e:
            expect("nothing simulated", "nothing was simulated: see " in str(e), True)
        expect("its runs", simulated, [["g0-0", "g0-1", "g0-2"]] * 2)


for test in (order, same, resumed, timed, twice, interrupted, interrupted_early, stopped, judged, cut,
             progress, no_time, keys, ticks, picture, search):
    test()
sys.exit(status())
