# SPDX-License-Identifier: GPL-2.0
"""Measurements: decides which runs share guests and QPs, and collects their recordings."""

import fcntl
import json
import os

from ..core.errors import InputError, LabError
from ..core.paths import cache_dir
from ..core.progress import say
from . import report, supervisor
from .clock import Clock
from .fabric import Fabric
from .guest import accel
from .lateness import TDF, Attempts, Late, TooBusy, no_deadline, probe
from .measure import Measurement
from .network import Network
from .programs import Programs
from .traffic import Traffic


def alone():
    """Wait until no other measurement of this user runs: each needs the whole machine."""
    os.makedirs(cache_dir(), exist_ok=True)
    lock = open(os.path.join(cache_dir(), "measuring"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("waiting for another measurement to end")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def measure_apart(runs, image, module, tdf, done, bad, program=None, check=False):
    """Measure in guests of their own. Raise TooBusy if this machine is too busy. The user's
    programs run to their end even then, unless their figures are for a check.

    runs: [(run, where to write)]. Runs of the same shape share guests, those
    with the same flows share QPs, and identical runs share one measurement.
    tdf: the dilation of the guests' clocks; None to choose it by the CPU time that this machine has
    for guests. done: called with each recording; bad: a list to which errors are added; program:
    runs in place of perftest.
    """
    shapes = {}
    for run, out in runs:
        shapes.setdefault(run.topology.shape, []).append((run, out))
    if accel(image) == "kvm":
        tdf = 1         # such guests have the CPU's clock
    for same in shapes.values():
        kinds = [run.kinds for run, _ in same]
        same.sort(key=lambda entry: kinds.index(entry[0].kinds))
        _attempt(_Todo(same, done, bad, len(runs) == 1, program, check), image, module, tdf)


class _Todo:
    """Runs that can share guests, and their recordings so far."""

    def __init__(self, runs, done, bad, alone, program, check):
        """alone: there is only one run, and its error ends everything"""
        self.runs, self.done, self.bad, self.alone = runs, done, bad, alone
        self.program, self.check = program, check
        self.recordings = []

    def strict(self, run):
        """Whether to discard what late guests measured."""
        return run.timely and (self.check or not self.program)

    @property
    def durations(self):
        """Durations of the runs, in s of the guests."""
        return [run.duration / 1e9 for run, _ in self.runs]

    def measure(self, network):
        """Measure the runs in these guests. Raise Late if guests were late in one."""
        traffic = None
        while self.runs:
            run, out = self.runs[0]
            twin = next((r for r in self.recordings if r.run.content == run.content), None)
            try:
                if twin:
                    say("%s of %s: the same as %s of %s" % (run.name, run.scenario,
                                                           twin.run.name, twin.run.scenario))
                    recording = twin.copy(run, out)
                else:
                    if not traffic or not traffic.adopt(run.flows):
                        if traffic:
                            traffic.end()
                        traffic = connect(network, run, self.program)
                    network.configure(run.topology)
                    recording = Measurement(network, run, out, traffic,
                                            self.strict(run)).measure()
                    say_late(recording)
                    self.recordings.append(recording)
                with no_deadline():
                    self.done(recording)
            except (Late, TooBusy):
                raise
            except LabError as e:
                if self.alone:
                    raise
                self.bad.append("%s: %s: %s" % (run.scenario, run.name, e))
                if traffic:
                    traffic.end()
            self.runs.pop(0)


def _attempt(todo, image, module, tdf):
    """Measure all runs of a _Todo, with slower clocks each time that guests are late."""
    topology = todo.runs[0][0].topology
    chosen = tdf or (None if any(run.timely for run, _ in todo.runs) else 1)
    attempts = Attempts(todo.durations, chosen)
    if not chosen:
        share = probe(len(topology.hosts) + len(topology.switches))
        chosen = attempts.first(share, todo.durations)
        if chosen != TDF:
            say("other programs leave guests %.0f %% of the CPU time that they need: measuring "
                "with --tdf %d" % (100 * share, chosen))
    while todo.runs:
        with Fabric(image, clock=Clock(chosen)) as fabric:
            try:
                with attempts.deadline():
                    todo.measure(Network.boot(topology, fabric, module))
                late = None
            except Late as e:
                late = e.lateness
            except TooBusy:
                todo.bad += ["kernel fault: " + line for line in fabric.complaints()]
                raise
            todo.bad += ["kernel fault: " + line for line in fabric.splats()]
        if late:
            chosen = attempts.again(late, todo.durations)
            say("%s: this machine was too busy: %s; measuring it again with --tdf %d" % (
                todo.runs[0][0].name, late, chosen))


def say_late(recording):
    if not recording.lateness.valid:
        say("these figures describe this machine, which was too busy: %s" % recording.lateness)


def connect(network, run, program):
    if program:
        say("%s: starting %d servers of %s" % (run.name, len(run.flows), program.name))
        return Programs(network, run.flows, program)
    say("%s: connecting %d QPs" % (run.name, sum(f.qps for f in run.flows)))
    return Traffic(network, run.flows)


def measure_live(runs, check, done, bad, program=None):
    """Measure in the running lab, as it is. check: raise TooBusy if guests were late."""
    lab = supervisor.Lab()
    lab.network.look()
    for run, out in runs:
        missing = set(run.topology.hosts) - set(lab.network.topology.hosts)
        if missing:
            raise InputError("%s: the running lab has no %s" %
                             (run.scenario, ", ".join(sorted(missing))))
        run.topology = lab.network.topology
        traffic = connect(lab.network, run, program)
        try:
            recording = Measurement(lab.network, run, out, traffic,
                                    check and run.timely).measure()
            say_late(recording)
            done(recording)
        except Late as e:
            Attempts([], lab.clock.tdf).again(e.lateness, [])
        finally:
            traffic.end()
            bad += ["kernel fault: " + line for line in lab.network.splats()]


def module_for(runs, module, settings):
    """The module's file, if these runs need one."""
    hosts = [h for run, _ in runs for h in run.topology.hosts.values() if h.profile != "stock"]
    if not hosts:
        return None
    for h in hosts:
        h.settings.update(settings)
    if not os.path.exists(module):
        raise InputError("%s is not built; --stock-only runs without it" % module)
    return module


class Reports:
    """Writes an experiment's results and prints them as soon as all of its runs are done. With
    as_json, keeps them instead of printing.

    experiments: [(experiment, where to write)]
    """

    def __init__(self, experiments, check, as_json=False):
        self.experiments, self.check, self.as_json = experiments, check, as_json
        self.results, self.bad, self.documents = {}, [], []

    def done(self, recording):
        self.results[recording.run] = report.Result(recording)
        for e, out in self.experiments:
            if recording.run in e.runs and all(r in self.results for r in e.runs):
                self.tell(e, out)

    def end(self):
        """Report what there is of the experiments of which a run has failed."""
        for e, out in self.experiments:
            if 0 < sum(r in self.results for r in e.runs) < len(e.runs):
                self.tell(e, out)

    def tell(self, e, out):
        results = [self.results[r] for r in e.runs if r in self.results]
        path, png = report.write(e, results, out)
        if self.as_json:
            with open(path) as f:
                self.documents.append(json.load(f))
        else:
            print("\n" + report.table("%s: %s" % (e.name, e.title), results) + "\n", flush=True)
        say("figures in %s, picture in %s, CSV and pcap beside them" % (path, png))
        for r in results:
            if r.recording.logs:
                say("%s: the programs' output is in %s" % (r.run.name, " ".join(r.recording.logs)))
        if not self.check or len(results) < len(e.runs):
            return
        verdict = e.check([(r.run, r.figures) for r in results])
        self.bad += ["%s: %s" % (e.name, b) for b in verdict.bad]
        if not self.as_json:
            for line in verdict.open:
                print("OPEN: %s: %s" % (e.name, line))
            print("%s: %d of %d expectations hold" % (e.name, verdict.held, verdict.looked))
