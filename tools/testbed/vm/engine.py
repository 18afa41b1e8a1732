# SPDX-License-Identifier: GPL-2.0
"""Measurements: which runs share guests and QPs, and what becomes of their recordings."""

import fcntl
import json
import os

from ..core.errors import InputError, LabError
from ..core.paths import cache_dir
from ..core.progress import say
from . import report, supervisor
from .fabric import Fabric
from .measure import Measurement
from .network import Network
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


def measure_apart(runs, image, module, clock, done):
    """Measure in guests of their own; return what went wrong.

    runs: [(run, where to write)]. Runs of the same shape share guests, those
    with the same flows share QPs, and identical runs share one measurement.
    done: called with each recording.
    """
    bad, shapes = [], {}
    for run, out in runs:
        shapes.setdefault(run.topology.shape, []).append((run, out))
    for same in shapes.values():
        kinds = [run.kinds for run, _ in same]
        same.sort(key=lambda entry: kinds.index(entry[0].kinds))
        with Fabric(image, clock=clock) as fabric:
            network = Network.boot(same[0][0].topology, fabric, module)
            traffic, recordings = None, []
            for run, out in same:
                twin = next((r for r in recordings if r.run.content == run.content), None)
                try:
                    if twin:
                        say("%s of %s: the same as %s of %s" % (run.name, run.scenario,
                                                               twin.run.name, twin.run.scenario))
                        done(twin.copy(run, out))
                        continue
                    if not traffic or not traffic.adopt(run.flows):
                        if traffic:
                            traffic.end()
                        traffic = connect(network, run)
                    network.configure(run.topology)
                    recordings.append(Measurement(network, run, out, traffic).measure())
                    done(recordings[-1])
                except LabError as e:
                    if len(runs) == 1:
                        raise
                    bad.append("%s: %s: %s" % (run.scenario, run.name, e))
                    if traffic:
                        traffic.end()
            bad += ["kernel fault: " + line for line in fabric.splats()]
    return bad


def connect(network, run):
    say("%s: connecting %d QPs" % (run.name, sum(f.qps for f in run.flows)))
    return Traffic(network, run.flows)


def measure_live(runs, done):
    """Measure in the running lab, as it is."""
    lab = supervisor.Lab()
    lab.network.look()
    for run, out in runs:
        missing = set(run.topology.hosts) - set(lab.network.topology.hosts)
        if missing:
            raise InputError("%s: the running lab has no %s" %
                             (run.scenario, ", ".join(sorted(missing))))
        run.topology = lab.network.topology
        traffic = connect(lab.network, run)
        try:
            done(Measurement(lab.network, run, out, traffic).measure())
        finally:
            traffic.end()
    return ["kernel fault: " + line for line in lab.network.splats()]


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
    """Prints and writes an experiment's results as soon as all of its runs are done; for JSON
    they are only kept.

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

    def tell(self, e, out):
        results = [self.results[r] for r in e.runs]
        path, png = report.write(e, results, out)
        if self.as_json:
            with open(path) as f:
                self.documents.append(json.load(f))
        else:
            print("\n" + report.table("%s: %s" % (e.name, e.title), results) + "\n", flush=True)
        say("figures in %s, picture in %s, CSV and pcap beside them" % (path, png))
        if not self.check:
            return
        verdict = e.check([(r.run, r.figures) for r in results])
        self.bad += ["%s: %s" % (e.name, b) for b in verdict.bad]
        if not self.as_json:
            for line in verdict.open:
                print("OPEN: %s: %s" % (e.name, line))
            print("%s: %d of %d expectations hold" % (e.name, verdict.held, verdict.looked))
