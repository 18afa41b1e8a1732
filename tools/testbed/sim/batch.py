# SPDX-License-Identifier: GPL-2.0
"""Simulates many runs, some at the same time. Skips those whose figures are known already."""

import concurrent.futures
import os
import sys
import time

from ..core.errors import LabError
from ..core.progress import say
from . import figures, uml

SIMULATED, KEPT, SAME, LEFT = range(4)      # where a run's figures come from; LEFT: there are none


class Progress:
    """Simulated time of all current runs, on one line of a terminal."""

    def __init__(self):
        self.at, self.tty = {}, sys.stderr.isatty()

    def show(self, run, ns):
        self.at[run.name] = ns
        if self.tty:
            text = "  ".join("%s %.3f of %.3f s" % (n, t / 1e9, run.duration / 1e9)
                             for n, t in list(self.at.items()))
            print("\r\033[K" + text[:120], end="", file=sys.stderr, flush=True)

    def done(self, run):
        self.at.pop(run.name, None)
        if self.tty:
            print("\r\033[K", end="", file=sys.stderr)


class Batch:
    """How to simulate a scenario's runs.

    jobs: how many at once
    twice: simulate everything twice; both must give the same figures
    resume: take results that the same code has left in the directory
    seconds: start no more runs after this time; None: start all
    """

    def __init__(self, sim, jobs, twice=False, resume=False, seconds=None):
        self.sim, self.jobs, self.twice, self.resume = sim, jobs, twice, resume
        self.end = None if seconds is None else time.monotonic() + seconds

    def simulate(self, scenario, out):
        """A Harvest of the scenario's runs."""
        harvest, progress = Harvest(scenario.runs), Progress()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures, first = {}, {}
            try:
                for run, others in _ordered(scenario):
                    for where in [run.name, run.name + ",again"][:2 if self.twice else 1]:
                        # the runs that it waits for were submitted before it, so they have begun
                        before = [(same, other, first[other]) for same, other in others
                                  if other in first]
                        f = pool.submit(self._figures, run, before, os.path.join(out, where),
                                        lambda ns, run=run: progress.show(run, ns))
                        futures[f] = run
                        first.setdefault(run, f)
                for f in concurrent.futures.as_completed(futures):
                    progress.done(futures[f])
                    harvest.take(futures[f], f)
            except BaseException:
                self.end = 0    # so that runs which wait for another one give up
                pool.shutdown(wait=False, cancel_futures=True)
                uml.stop_all()
                raise
        return harvest

    def _figures(self, run, before, out, show):
        """Where a run's figures come from, and the figures."""
        for same, other, future in before:
            if future.exception() is None:
                origin, found = future.result()
                if origin != LEFT and same.holds(run, found):
                    return SAME, {**found, "same_as": other.name}
        found = self.sim.kept(run, out) if self.resume else None
        if found is not None:
            return KEPT, found
        if self.end is not None and time.monotonic() >= self.end:
            return LEFT, None
        return SIMULATED, self.sim.run(run, out, show)


def _ordered(scenario):
    """[(run, [(same, the run that may have the same figures)])]. Runs for which others wait come
    first."""
    out = []
    for run in sorted(scenario.runs, key=lambda run: run.order):
        others = [(same, same.other(run, scenario.runs)) for same in scenario.same]
        out.append((run, [(same, other) for same, other in others if other]))
    return sorted(out, key=lambda entry: len(entry[1]))


class Harvest:
    """The results of a scenario's runs. results: [(run, figures)], in the order of the runs; bad:
    errors, one per line."""

    def __init__(self, runs):
        self.runs, self.bad = runs, []
        self.found, self.origins = {}, {}

    def take(self, run, future):
        try:
            origin, found = future.result()
        except LabError as e:
            self.bad.append("%s: %s" % (run.name, e))
            return
        self.origins[run] = origin
        if origin == SIMULATED:
            say("%s: %s simulated" % (run.scenario.name, run.name))
        if origin != LEFT:
            self.bad += ["%s: a second simulation differs: %s" % (run.name, d)
                         for d in figures.differences(self.found.get(run, found), found)]
            self.found[run] = found

    @property
    def results(self):
        return [(run, self.found[run]) for run in self.runs if run in self.found]

    def notes(self):
        """How many runs were not simulated, and why."""
        for origin, text in ((KEPT, "were simulated before, by the same code"),
                             (SAME, "would be the same as another run, and have its figures"),
                             (LEFT, "were not simulated in this time; --resume continues")):
            n = list(self.origins.values()).count(origin)
            if n:
                yield "%d of %d runs %s" % (n, len(self.runs), text)
