# SPDX-License-Identifier: GPL-2.0
"""Runs the parts of the test suite, some of them at once, and counts their results.

A part is a command that prints TAP, or one whose exit status is its only test. It runs once,
for as long as it takes. It fails if

    one of its tests is "not ok" or has no result: plan and results differ, or it crashed
    its exit status is not 0
    it skips a test, except because its kernel lacks a feature
    a kernel that it booted reports a fault, whatever the tests say: all console logs are in
      KERNEL_LOGS (testbed/core/kernel_log.py), and are read here
    it is declared to boot kernels, but left no kernel's log
    neither it nor its kernels print anything for SILENCE, so it hangs
    another part that it needs has failed

A part's output is kept, and printed when it ends, so that outputs do not mix; with one job, it is
printed as it comes. verdict.json beside it has the part's result, for kernels_table.
"""

import copy
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

from testbed.core import kernel_log

from times import hours

# s without output. A test prints a line every few minutes on a slow machine, and building a
# kernel, which takes ten minutes, prints one each minute.
SILENCE = 1800

SLOWEST = 10        # tests that are named in the end
SUMMARY = 12        # parts; a run of more ends with a table

# how a skip's reason begins if the kernel under test lacks the feature
OF_KERNEL = ("this kernel has no ", "this kernel's ")

TEST = re.compile(r"(not ok|ok)\b(?: +\d+)?(?: +-)? *(.*?)(?: +# *(SKIP|TODO)\b *(.*))?$", re.I)
HEADING = re.compile(r"# (?:\S*/)?(test_\w+)$")      # a program of several in a part
PLAN = re.compile(r"1\.\.(\d+)(?: *# *SKIP *(.*))?$", re.I)

PR_SET_CHILD_SUBREAPER = 36


class Part:
    """name: one word.
    command: for a shell. tap: it prints TAP; otherwise its exit status is the test called title.
    kernels: it boots kernels. needs: names of parts that must pass before it starts.
    slots: how many of the parts that may run at once it replaces.
    on: the ground that it tests on: here, or a kind of kernel.
    tests(): names of tests in it that can run alone, each with its result's name or the first
    words of that. some(names): the command that runs only these."""

    def __init__(self, name, title, command, tap=True, kernels=False, needs=(), slots=1, on="here",
                 tests=dict, some=None):
        self.name, self.title, self.command, self.tap = name, title, command, tap
        self.kernels, self.needs, self.slots, self.on = kernels, list(needs), slots, on
        self.tests, self.some = tests, some
        self.chosen = ()        # tests that it is limited to

    def only(self, tests):
        """The same, limited to these tests, unless one is None."""
        if None in tests:
            return self
        part = copy.copy(self)
        part.chosen = list(dict.fromkeys(tests))
        part.command = self.some(part.chosen)
        return part


class Verdict:
    """A part's result: counts, and lines to repeat at the end. s that it took, and of CPU time.
    before: a run before this one found it."""

    def __init__(self):
        self.passed, self.failures, self.skips = 0, [], []
        self.seconds, self.cpu, self.before = 0, 0, False

    @property
    def ok(self):
        return not self.failures


def work_tree(top):
    """A name of the contents of all files that git does not ignore; None without git."""
    with tempfile.TemporaryDirectory() as d:
        env = {**os.environ, "GIT_INDEX_FILE": os.path.join(d, "index")}
        for words in (["add", "-A", "."], ["write-tree"]):
            r = subprocess.run(["git", "-C", top, *words], capture_output=True, text=True, env=env)
            if r.returncode:
                return None
    return r.stdout.strip()


def judge_tap(part, text, status):
    """Count the results in a command's TAP."""
    v, plans, results = Verdict(), [], 0
    for line in text.splitlines():
        plan, test = PLAN.match(line), TEST.match(line)
        if plan:
            plans.append(int(plan[1]))
        elif test:
            results += 1
            name = test[2] or "a test without a name"
            if test[1].lower() == "not ok":     # "# TODO" excuses nothing
                v.failures.append(name)
            elif not test[3]:
                v.passed += 1
            elif test[3].upper() == "SKIP" and test[4].startswith(OF_KERNEL):
                v.skips.append("%s: %s" % (name, test[4]))
            else:
                v.failures.append("%s: %s is no reason to skip it" % (name, test[4] or "nothing"))
        elif line.startswith("Bail out!"):
            v.failures.append("%s: %s" % (part.name, line))
    # A suite of several programs has a plan of each
    if not plans:
        v.failures.append("%s: there is no plan" % part.name)
    elif sum(plans) != results or not all(plans):
        v.failures.append("%s: ran to its end: %d of %d tests" % (part.name, results, sum(plans)))
    if status and not v.failures:
        v.failures.append("%s: exit status %d" % (part.name, status))
    return v


def judge_status(part, status):
    v = Verdict()
    if status:
        v.failures.append("%s (exit status %d)" % (part.title, status))
    else:
        v.passed = 1
    return v


def judge_kernels(part, logs):
    """Failures in the logs of a directory."""
    files, failures = sorted(glob.glob(os.path.join(glob.escape(logs), "*"))), []
    if part.kernels and not files:
        failures.append("%s: there is no kernel's console" % part.name)
    for path in files:
        with open(path, errors="replace") as f:
            found = kernel_log.complaints(f.read())
        if part.kernels and not os.path.getsize(path):
            failures.append("%s: %s is an empty console" % (part.name, os.path.basename(path)))
        if found:
            failures.append("%s: %s reports: %s%s" % (
                part.name, os.path.basename(path), found[0].strip(),
                " (and %d lines more)" % (len(found) - 1) if found[1:] else ""))
    return failures


def descendants(pid):
    """All descendants of a process."""
    parents = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.split("/")[2]))
    out, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        out += children
        todo += children
    return out


def signal_all(pids, sig):
    for pid in pids:
        try:
            os.kill(pid, sig)
        except (ProcessLookupError, PermissionError):     # it has gone, or is another user's
            pass


class Stopwatch:
    """How long each test takes: from the result before it, in the part's output or on a kernel's
    console, to its own. A result that is repeated elsewhere counts where it came first."""

    def __init__(self):
        self.tests = {}         # name: s
        self.programs = {}      # the same, of those that have a heading before their results
        self.seen = {}          # path: how much was read, when its last result came, its heading

    def look(self, paths):
        now = time.monotonic()
        for path in paths:
            read, since, program = self.seen.setdefault(path, (0, now, None))
            with open(path, "rb") as f:
                f.seek(read)
                lines = f.read().split(b"\n")
            for line in lines[:-1]:
                read += len(line) + 1
                text = line.decode(errors="replace")
                heading, test = HEADING.match(text), TEST.match(text)
                if heading:
                    program = heading[1]
                elif test and test[2] not in self.tests:
                    self.tests[test[2]] = now - since
                    if program:
                        self.programs[program] = self.programs.get(program, 0) + now - since
                if test:
                    since = now
            self.seen[path] = read, since, program


class Running:
    """A part that has been started."""

    GRACE = 60      # s to end in after SIGTERM: the lab removes its guests

    def __init__(self, part, out):
        self.part, self.began = part, time.monotonic()
        self.logs, self.output = os.path.join(out, "kernels"), os.path.join(out, "output")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(self.logs)
        self.hung, self.cpu = False, 0      # s of it that the part has used
        self.latest, self.heard = 0, self.began     # its files' time, and when that changed
        self.watch, self.shown = Stopwatch(), 0     # bytes of the output that are printed
        with open(self.output, "w") as f:
            self.process = subprocess.Popen(
                ["bash", "-c", part.command], stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                start_new_session=True,
                env={**os.environ, kernel_log.DIRECTORY: self.logs})

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def poll(self):
        """Return true if the command has ended."""
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if not pid:
                return False
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu = used.ru_utime + used.ru_stime
        return True

    def ended(self, silence):
        """Return true if it has ended; end it if it hangs."""
        ended = self.poll()
        files = [self.output] + glob.glob(os.path.join(glob.escape(self.logs), "*"))
        self.watch.look(files)
        if ended:
            return True
        latest = max(os.path.getmtime(f) for f in files)
        if latest != self.latest:
            self.latest, self.heard = latest, time.monotonic()
        if time.monotonic() - self.heard > silence:
            self.hung = True
            self.stop()
            return True
        return False

    def stop(self, sig=signal.SIGTERM):
        """End it, and everything that it started."""
        pids = [self.process.pid] + descendants(self.process.pid)
        signal_all(pids, sig)
        end = time.monotonic() + self.GRACE
        while not self.poll() and time.monotonic() < end:
            time.sleep(0.05)
        signal_all(set(pids + descendants(self.process.pid)), signal.SIGKILL)
        while not self.poll():
            time.sleep(0.05)

    def reap(self):
        """End what it left behind: our processes that have its logs in their environment. Other
        orphans may belong to another part."""
        told = b"%s=%s" % (kernel_log.DIRECTORY.encode(), os.fsencode(self.logs))
        for pid in descendants(os.getpid()):
            try:
                with open("/proc/%d/environ" % pid, "rb") as f:
                    ours = told in f.read().split(b"\0")
            except OSError:
                continue
            if ours:
                signal_all([pid], signal.SIGKILL)

    def text(self):
        with open(self.output, errors="replace") as f:
            return f.read()

    def show(self):
        """Print what it has said since the last time."""
        with open(self.output, "rb") as f:
            f.seek(self.shown)
            text = f.read()
        if self.process.returncode is None:
            text = text[:text.rfind(b"\n") + 1]
        self.shown += len(text)
        print(text.decode(errors="replace"), end="\n" if text[-1:] not in (b"", b"\n") else "",
              flush=True)

    def verdict(self, silence):
        status = self.process.returncode
        v = (judge_tap(self.part, self.text(), status) if self.part.tap
             else judge_status(self.part, status))
        if self.hung:
            v.failures.insert(0, "%s: hangs, silent for %d s" % (self.part.name, silence))
        v.failures += judge_kernels(self.part, self.logs)
        return v


class Runner:
    """took(part, s, s of each test): called when a part ends. tree(): the name of what is tested,
    or None. resume: parts keep the result, whatever it was, that they had on this tree, or on one
    since which no change reaches them: another attempt would be a retry. reached(part, a, b):
    whether what has changed from tree a to tree b reaches the part. estimate(parts): how long they
    will take, in words."""

    def __init__(self, out, jobs=2, silence=SILENCE, took=lambda *_: None, tree=lambda: None,
                 resume=False, reached=lambda *_: True, estimate=lambda parts: "no estimate"):
        self.out, self.jobs, self.silence, self.took = out, jobs, silence, took
        self.tree, self.resume, self.tested = tree, resume, tree()
        self.reached, self.estimate = reached, estimate
        self.began = time.monotonic()
        self.slowest = []       # tests, as (s, part, name)
        self.verdicts, self.running = {}, []
        # processes that lose their parent become ours, and end with us
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def say(self, text):
        s = int(time.monotonic() - self.began)
        print("== %d:%02d %s" % (s // 60, s % 60, text), flush=True)

    def run(self, parts):
        """Run all parts; return the exit status."""
        handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        waiting, self.parts = self.keep(parts), parts
        self.say("%d parts, %s" % (len(waiting), self.estimate(waiting)))
        try:
            while waiting or self.running:
                for part in self.startable(waiting):
                    waiting.remove(part)
                    self.start(part)
                time.sleep(0.2)
                for r in list(self.running):
                    ended = r.ended(self.silence)
                    if self.jobs == 1:
                        r.show()
                    if ended:
                        self.running.remove(r)
                        self.finish(r)
        except BaseException:
            for r in self.running:
                signal_all(descendants(r.process.pid), signal.SIGTERM)
            for r in self.running:
                r.stop()
            raise
        finally:
            signal_all(descendants(os.getpid()), signal.SIGKILL)
            signal.signal(signal.SIGTERM, handler)
        return self.conclude(len(parts))

    def keep(self, parts):
        """Those that have to run. What they need is made again: it may be gone."""
        if not self.resume:
            return list(parts)
        known = {p.name: self.known(p) for p in parts}
        run = {name for name, v in known.items() if not v}
        while more := {n for p in parts if p.name in run for n in p.needs} - run:
            run |= more
        self.verdicts.update({name: v for name, v in known.items() if name not in run})
        self.say("%d parts keep their result" % (len(parts) - len(run)))
        return [p for p in parts if p.name in run]

    def known(self, part):
        """The verdict of a run before, if that was the same command, and tested the same."""
        try:
            with open(os.path.join(self.out, part.name, "verdict.json")) as f:
                said = json.load(f)
        except (FileNotFoundError, ValueError):
            return None
        tree = said.get("tree")
        if not self.tested or not tree or said["command"] != part.command:
            return None
        if tree != self.tested and self.reached(part, tree, self.tested):
            return None
        v = Verdict()
        v.passed, v.failures, v.skips = said["passed"], said["failures"], said["skips"]
        v.seconds, v.cpu, v.before = said["seconds"], said["cpu"], True
        return v

    def startable(self, waiting):
        """The waiting parts that may start now, in their order."""
        out, names = [], {p.name for p in waiting} | {r.part.name for r in self.running}
        busy = sum(r.part.slots for r in self.running)
        for part in waiting:
            if names & set(part.needs):
                continue        # not decided yet
            if busy and busy + part.slots > self.jobs:
                break           # no part overtakes one that needs more
            out.append(part)
            busy += part.slots
        return out

    def start(self, part):
        missing = [n for n in part.needs if n in self.verdicts and not self.verdicts[n].ok]
        if missing:
            v = self.verdicts[part.name] = Verdict()
            v.failures.append("%s: needs %s" % (part.name, ", ".join(missing)))
            shutil.rmtree(os.path.join(self.out, part.name), ignore_errors=True)    # old results
            self.say("%s: not run" % part.name)
            return
        self.say("%s begins: %s" % (part.name, part.title))
        self.running.append(Running(part, os.path.join(self.out, part.name)))

    def finish(self, r):
        v = self.verdicts[r.part.name] = r.verdict(self.silence)
        v.seconds, v.cpu = r.seconds, r.cpu
        r.reap()
        with open(os.path.join(self.out, r.part.name, "verdict.json"), "w") as f:
            json.dump({"command": r.part.command, "date": time.strftime("%Y-%m-%d"),
                       "passed": v.passed, "failed": len(v.failures), "skipped": len(v.skips),
                       "failures": v.failures, "skips": v.skips, "seconds": v.seconds,
                       # none if it was changed meanwhile
                       "cpu": v.cpu, "tree": self.tested if self.tested == self.tree() else None}, f)
        tests = r.watch.tests if r.part.tap else {r.part.title: r.seconds}
        self.slowest = sorted(self.slowest + [(s, r.part.name, t) for t, s in tests.items()],
                              reverse=True)[:SLOWEST]
        self.took(r.part, r.seconds, {**tests, **r.watch.programs})
        r.show()
        if not r.part.tap and v.ok:
            print("ok - " + r.part.title)
        for line in v.failures:
            print("# failed: " + line)
        self.say("%s ends after %d s, %d s of CPU time: %s%s" % (
            r.part.name, r.seconds, r.cpu, self.count([v]),
            "; still running: " + " ".join(x.part.name for x in self.running) if self.running else ""))

    @staticmethod
    def count(verdicts):
        passed, failed, skipped = (sum(n) for n in zip(*(
            (v.passed, len(v.failures), len(v.skips)) for v in verdicts)))
        return "%d passed, %d failed%s" % (passed, failed,
                                           ", %d skipped" % skipped if skipped else "")

    def summary(self):
        """A line for each ground, and one for each part that failed."""
        line = "%-26s %5s %6s %6s %7s %9s %9s"
        print("\n" + line % ("ground", "parts", "passed", "failed", "skipped", "time", "CPU time"))
        on = {}
        for part in self.parts:
            if part.name in self.verdicts:
                on.setdefault(part.on, []).append(self.verdicts[part.name])
        for ground, vs in [*on.items(), ("all", [v for vs in on.values() for v in vs])]:
            print(line % (ground, len(vs), *(sum(n) for n in zip(*(
                (v.passed, len(v.failures), len(v.skips)) for v in vs))),
                hours(sum(v.seconds for v in vs)), hours(sum(v.cpu for v in vs))))
        before = sum(v.before for v in self.verdicts.values())
        print("took %s%s; tree %s" % (
            hours(time.monotonic() - self.began),
            ", and %d parts kept an earlier result" % before if before else "",
            (self.tested or "unknown")[:12]))
        failed = ["%s (%d)" % (name, len(v.failures)) for name, v in self.verdicts.items() if not v.ok]
        print(textwrap.fill("failed: " + (", ".join(failed) or "none"), 100))

    def conclude(self, parts):
        verdicts = list(self.verdicts.values())
        if len(verdicts) != parts or not parts:
            verdicts.append(Verdict())
            verdicts[-1].failures.append("all parts ran: %d of %d" % (len(self.verdicts), parts))
        print()
        for seconds, part, name in self.slowest:
            print("slow: %5.1f s  %s: %s" % (seconds, part, name))
        for v in verdicts:
            for line in v.skips:
                print("skipped: " + line)
        for v in verdicts:
            for line in v.failures:
                print("not ok - " + line)
        if parts > SUMMARY:
            self.summary()
        print(self.count(verdicts), flush=True)
        return 0 if all(v.ok for v in verdicts) and any(v.passed for v in verdicts) else 1
