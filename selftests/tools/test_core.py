#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests the shared code of tools and tests: expectations, statistics, kernel reports, TAP, copies of
sources, cached kernels, pauses and paths in the simulator, the lab's files. Silent on success."""

import contextlib
import glob
import hashlib
import io
import json
import lzma
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import types
from unittest import mock

from expect import expect, status
from testbed.bench import bench_command
from testbed.core import console, kernel_log, linux_source, samples, sources
from testbed.core.debian import Apt, apt_sources
from testbed.core.errors import InputError, LabError
from testbed.core.expectations import Expectations
from testbed.core.expression import evaluate
from testbed.core.kernel import Kernel
from testbed.core.paths import TOP
from testbed.core.scenario import Directory, Table, expand
from testbed.core.stats import jain, percentile
from testbed.core.tap import Tap
from testbed.core.units import number, quantity
from testbed.sim import pauses, pictures
from testbed.sim.builtin_rxe import BuiltIn
from testbed.sim.model import Run
from testbed.vm import (bridge_port, engine, experiment, guest, image, lab_command, live, measure,
                        neighbours, report, supervisor)
from testbed.vm.clock import Clock
from testbed.vm.debug_image import DebugKernel
from testbed.vm.image import DEFAULT, Image
from testbed.vm.network import check_ports
from testbed.vm.programs import Program
from testbed.vm.topology import Topology

FIGURES = {"drops": 3, "jain": 0.5, "none": None, "group": {"a": {"mbps": 7}},
           "port": {"s1.h3": {"drops": 1}}}


def raises(what, text, function, *args):
    try:
        function(*args)
    except LabError as e:
        expect(what, (text in str(e), isinstance(e, InputError)), (True, True))
    else:
        expect(what, "no error", text)


def expressions():
    names = {**FIGURES, "n": 4, "start": "apart", "big": 10**200}
    for text, want in (
            ("2 * drops + 4 * jain + 1", 9), ("group.a.mbps + port.s1.h3.drops", 8),
            ("max(20e3, n / 8)", 20e3), ("-n ** 2", -16), ("ceil(n / 3)", 2),
            ("1 if start == 'apart' else 0", 1), ("n < 4 or not 1 < n <= 4", False),
            ("none + 1", None), ("none if n > 4 else 1", 1), (3, 3), ("2 ** 10", 1024),
            ("2 ** -1", 0.5), ("1e9 ** 2", 1e18), ("9 ** 20", 9.0**20)):
        expect(text, evaluate(text, names), want)
    for text, rule in (("1 +", "is not an expression"), ("x", "'x': x is not defined"),
                       ("port.s1.drops", "port.s1.drops is not defined"),
                       ("drops.a", "drops.a is not defined"), ("1 / 0", "division by zero"),
                       ("start * jain", "text in arithmetic"), ("'a' * 10**9", "text in arithmetic"),
                       ("9**9**9**9", "range error"), ("9**9**9", "range error"),
                       ("(-8) ** 0.5", "domain error"), ("big * big", "too large"),
                       ("+".join(["n"] * 3000), "nested too deeply"),
                       ("(" * 500 + "n" + ")" * 500, "not an expression"),
                       ("-" * 5000 + "n", "nested too deeply"), ("n+" * 5001 + "n", "more than 10000"), ("open(1)", "may not be in an"),
                       ("().a", "may not be"), ("n if [] else 1", "'[]' may not be"),
                       ("max(n, key=1)", "may not be"), ("n @ 1", "may not be"),
                       ("1 in n", "may not be"), ("None", "may not be")):
        raises(text, rule, evaluate, text, names)


def ran(name, variables, values=None):
    return types.SimpleNamespace(name=name, variables=variables, values=values or variables)


def check(tables, results, left_out=()):
    for run, figures in results:
        run.known = figures
    for run in left_out:
        run.known = results[0][1]
    verdict = Expectations("f.toml", tables,
                           [run for run, _ in results] + list(left_out)).check(results)
    return verdict.bad, verdict.looked


def expectations():
    one = [(ran("run", {}), FIGURES)]
    expect("holds", check([{"drops": ["> 2", "< 4"], "1": "> group.a.mbps"}], one),
           (["run: 1 is 1, not > group.a.mbps (7)"], 3))
    expect("an undefined figure", check([{"none": "> 0"}], one),
           (["run: none is undefined, not > 0"], 1))
    expect("an undefined limit", check([{"drops": "> 2 * none"}], one),
           (["run: drops is 3, not > 2 * none"], 1))
    raises("an unknown figure", "f.toml: expect 1: x: no such figure; there are drops, group, jain, none, "
           "port", check, [{"x": "> 0"}], one)
    for text in "group.b.mbps", "group.a.kbps", "port.s1.h4.drops", "run.x":
        raises("an unknown " + text, "%s: no such figure" % text, check, [{"drops": "< " + text}], one)
    gone = [(types.SimpleNamespace(**vars(one[0][0])), {})]
    made = Expectations("f.toml", [{"jain": "> 0"}], [one[0][0]])
    expect("a figure that is missing after all", made.check(gone).bad[0].startswith(
        "run: f.toml: expect 1: jain: is missing in this run"), True)
    expect("a figure of no number", check([{"group": "> 0"}], one)[0][0].startswith(
        "run: f.toml: expect 1: group: "), True)
    raises("an unknown operator", "'~ 1' must be one of", check, [{"drops": "~ 1"}], one)
    raises("no limit", "'>' must be one of", check, [{"drops": ">"}], one)
    raises("no text", "1 must be one of", check, [{"drops": 1}], one)
    raises("nothing expected", "expect 1: expects nothing", check, [{"when": {}}], one)
    raises("no expression", "expect 1: drops: '1 +' is not an", check, [{"drops": "> 1 +"}], one)
    for text in "> 1 and jain < 1", "< 5 or jain", "<= 4 <= 5", "< not jain":
        raises("a condition in " + text, "is a condition within a condition", check,
               [{"drops": text}], one)
    raises("no condition", "expect 1: drops: has no condition", check,
           [{"jain": "> 0", "drops": []}], one)
    for text in "1", "1 + 2", "'drops'":
        raises("no figure in " + text, "expect 1: %s: '== 1': has no figure, so it checks nothing" %
               text, check, [{text: "== 1"}], one)
    a, b = ran("a", {"n": 1}, {"n": 1, "m": 5}), ran("b", {"n": 2}, {"n": 2, "m": 6})
    two = [(a, {"x": 1}), (b, {"x": 2})]
    expect("some runs", check([{"when": {"n": [2]}, "x": "== 2 * a.x"}], two), ([], 1))
    raises("no run", "when: matches no run", check, [{"when": {"n": 3}, "x": "> 0"}], two)
    raises("no run for one of several values", "when: n = 3: matches no run", check,
           [{"when": {"n": [2, 3]}, "x": "> 0"}], two)
    for table in ({"if": "m > 6"}, {"if": "m > 5", "when": {"n": 1}},
                  {"if": "0", "than": {"n": 1}, "x": "> than.x"}):
        raises("no run by %s" % table, "expect 1: if: holds for no run of the sweep", check,
               [{"x": "> 0", **table}], two)
    expect("by an expression", check([{"if": "m > 5", "x": "== m"}], two),
           (["b: x is 2, not == m (6)"], 1))
    raises("an unknown name", "expect 1: if: 'y': y is not defined", check, [{"if": "y", "x": "> 0"}],
           two)
    expect("than another", check([{"if": "n == 2", "than": {"n": 1}, "x": ["> than.x", "> 4"]}],
                                 two), (["b: x is 2, not > 4"], 2))
    raises("a figure or a value", "expect 1: m: is both a figure and a name of the sweep", check,
           [{"x": "< 3 * m"}], [(ran("a", {"m": 1}), {"x": 1, "m": 2})])
    for n in 3, 2:
        raises("than none, or itself", "than: matches no other run", check,
               [{"when": {"n": 2}, "than": {"n": n}, "x": ">= than.x"}], two)
    raises("than for nothing", "expect 1: than: no condition compares with it", check,
           [{"when": {"n": 2}, "than": {"n": 1}, "x": ">= 1"}], two)
    opened(two)
    for what in {"x": "> b.x"}, {"x": "> than.x", "than": {"n": 2}}:
        expect("compared with what was left out", check([what], two[:1], [b]),
               (["none of its 1 expectations applies to these runs"], 0))


def opened(two):
    """What does not hold yet, with its cause; it may not hold, nor be a mistake."""
    def verdict(table, results=two):
        for run, figures in results:
            run.known = {**figures, "y": 0}
        v = Expectations("f.toml", [table], [run for run, _ in results]).check(results)
        return v.open, v.bad, v.held, sorted(v.failing)

    expect("open", verdict({"x": "< 2", "open": {"b": "slow"}}),
           (["b: x is 2, not < 2: slow"], [], 1, []))
    expect("open, and holds", verdict({"x": "< 3", "open": {"b": "slow"}}),
           ([], ["b: x is 2, and no longer open"], 1, ["b"]))
    expect("open, and another is not", verdict({"x": "< 1", "open": {"b": "slow"}}),
           (["b: x is 2, not < 1: slow"], ["a: x is 1, not < 1"], 0, ["a"]))
    expect("open, and a mistake", verdict({"y": "< 1", "open": {"b": "slow"}, "when": {"n": 2}}),
           ([], ["b: f.toml: expect 1: y: is missing in this run"], 0, ["b"]))
    named = [(ran("k=1,n=2", {"k": 1, "n": 2}), {"x": None})]
    expect("open by a variable", verdict({"x": "< 1", "open": {"n=2": "late"}}, named),
           (["k=1,n=2: x is undefined, not < 1: late"], [], 0, []))
    for wrong, rule in (({"n=3": "slow"}, "open: n=3: matches none of its runs"),
                        ({"a": "slow"}, "open: a: matches none of its runs"),
                        ({"b": ""}, "open: must be a table of runs, each with a cause"),
                        (["b"], "open: must be a table of runs, each with a cause")):
        raises("open %s" % wrong, "expect 1: " + rule, verdict,
               {"when": {"n": 2}, "x": "< 1", "open": wrong})


def numbers():
    expect("percentile", [percentile([3, 1, 2, 4], p) for p in (0, 0.5, 0.9, 1)], [1, 3, 4, 4])
    expect("Jain", [jain([2, 2]), jain([1, 0, 0, 0]), jain([0, 0])], [1, 0.25, 0])
    expect("units", [quantity(k, v) for k, v in (("rate", "1.5gbit"), ("time", "2us"),
                                                 ("size", "3KiB"), ("size", 7), ("share", "10%"))],
           [1500000000, 2000, 3072, 7, 0.1])
    expect("of any kind", [repr(number(v)) for v in ("1gbit", "2us", "3KB", "four", 0.5, "0.125", "96",
                                                     "1e3", "10%", "5B")],
           ["1000000000", "2000", "3000", "'four'", "0.5", "0.125", "96", "1000", "0.1", "5"])
    raises("no unit", "is not a time", quantity, "time", 5)
    raises("too large", "is not a size", quantity, "size", "9" * 400)
    raises("a boolean", "f: n: True is not a whole number", Table("f", {"n": True}).take, "n", int)
    raises("left over", "f: unknown: n", Table("f", {"n": 1}).done)
    for kind, value, text in ((int, 2.0, "a whole number"), (int, "1.0", "a whole number"),
                              (float, 1e400, "a number"), (float, "inf", "a number"),
                              (float, 10**400, "a number"), ((1, 2), 1.9, "one of 1, 2"),
                              ((1, 2), True, "one of 1, 2"), ((1, 2), 1e400, "one of 1, 2")):
        raises("%s of %r" % (kind, value), "f: n: %r is not %s" % (value, text),
               Table("f", {"n": value}).take, "n", kind)
    raises("NaN", "f: n: nan is out of range", Table("f", {"n": math.nan}).take, "n", float)
    expect("numbers as texts", [Table("f", {"n": "2"}).take("n", kind)
                                for kind in (int, float, (1, 2))], [2, 2.0, 2])
    filled = expand("f", {"a": "{x}", "b": "{y}"}, {"s": [{"name": "p", "x": 1, "y": 2},
                                                          {"name": "q", "x": 3}]}, {})
    expect("a sweep", [(v, t) for v, _, t in filled], [({"s": "p"}, {"a": "1", "b": "2"}),
                                                       ({"s": "q"}, {"a": "3", "b": "2"})])
    filled = expand("f", {"flow": "{flow}"}, {"s": [{"name": "p", "x": 1, "flow": [{"to": "h{x}"}]}]},
                    {})
    expect("a list", filled[0][2], {"flow": [{"to": "h1"}]})
    for text in "{n:9999999999}", "{n.real}", "{n!r}", "{n:.99999f}":
        raises(text, "must be {name} or {name:.2f}", expand, "f", {"a": text}, {"n": [1]}, {})
    filled = expand("f", {"a": "{n}"}, {"n": [1, {"name": "b", "x": 2}]}, {})
    expect("numbers and tables", [(v, t) for v, _, t in filled],
           [({"n": 1}, {"a": "1"}), ({"n": "b"}, {"a": "b"})])
    for values in {"x": ["{x}"]}, {"x": {"a": "{y}"}, "y": ["{x}"]}:
        raises("it contains itself", "f: sweep: a list or table contains itself", expand, "f",
               {"a": "{x}"}, {"n": [{"name": "q", **values}]}, {})
    raises("no name", "the sweep has no such variable", expand, "f", {"a": "{m}"}, {"n": [1]}, {})
    raises("an endless sweep", "sweep: has more than 100000 runs", expand, "f", {},
           {"v%d" % i: list(range(10)) for i in range(20)}, {})
    raises("an endless let", "let: '9**9**9**9': math range", expand, "f", {}, {}, {"a": "9**9**9**9"})
    made = expand("f", {"a": "{wait}ns", "b": "{rtt}"}, {"rtt": ["1ms", "2ms"], "n": [1, 2]},
                  {"wait": "half * n", "half": "rtt / 2", "n": "7"}, "n == 2 and half == 1e6")
    expect("what follows from it", [(v["n"], t) for v, _, t in made],
           [(1, {"a": "500000.0ns", "b": "1ms"}), (2, {"a": "1000000.0ns", "b": "1ms"}),
            (1, {"a": "1000000.0ns", "b": "2ms"})])


def files():
    """Files that are TOML for no other program, or that end the reader's stack."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "f.toml")
        for text, rule in (("a = " + "9" * 5000, "not a TOML file: "),
                           ("a = 0x8000000000000000", "a whole number has more than 64 bits"),
                           ("a = {b = [1, {c = 0x1_0000_0000_0000_0000}]}",
                            "a whole number has more than 64 bits"),
                           ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
                           ("a" + ".a" * 5000 + " = 1", "nested too deeply"),
                           ("a = \xff", "not a TOML file: ")):
            with open(path, "w", encoding="latin-1") as f:
                f.write(text)
            raises("a file with " + text[:30], rule, Directory(d).load, "f")
        with open(path, "w") as f:
            f.write("a = [9223372036854775807, -9223372036854775808, {b.c.d = 1}]")
        expect("a file", Directory(d).load("f"), {"a": [2**63 - 1, -2**63, {"b": {"c": {"d": 1}}}]})


def groups_of_guests():
    """A QP belongs to one group, however many flows its hosts have."""
    result = object.__new__(report.Result)
    result.run = types.SimpleNamespace(flows=[
        types.SimpleNamespace(src=src, dst="h3", transport=transport, group=group)
        for src, transport, group in (("h1", "rc", "a"), ("h1", "rc", "a"), ("h1", "uc", "b"),
                                      ("h2", "rc", "b"))])
    result.qps = {name: types.SimpleNamespace(transport=transport) for name, transport in (
        ("h1>h3:17", "rc"), ("h1>h3:18", "rc"), ("h1>h3:19", "uc"), ("h2>h3:17", "rc"))}
    expect("groups of QPs", result._groups(), {"a": ["h1>h3:17", "h1>h3:18"],
                                               "b": ["h1>h3:19", "h2>h3:17"]})
    made = {"duration": "2s", "window": ["0s", "1s"], "link": {"rate": "48mbit"},
            "switch": {"buffer": "300KB", "kmin": "10KB", "kmax": "100KB", "pmax": 0.1}}
    flows = [{"from": "h1", "to": "h3", "group": g} for g in ("a", "b")]
    scenario = types.SimpleNamespace(name="f", timely=True, port="tc")
    raises("two groups", "f: flow: those from h1 to h3 have the same transport, so they must have "
           "the same group", experiment.Run, scenario, {}, Table("f", {**made, "flow": flows}), 1)
    flows[1]["transport"] = "uc"
    run = experiment.Run(scenario, {}, Table("f", {**made, "flow": flows}), 1)
    expect("two transports", [f.group for f in run.flows], ["a", "b"])


def chosen():
    """A run's name chooses only that run, although others have the same words."""
    scenario = object.__new__(experiment.Experiment)
    scenario.runs = [types.SimpleNamespace(name=name) for name in ("1,1", "1,2", "2,1", "2,2")]
    for only, want in ((["1,2"], ["1,2"]), (["1,1"], ["1,1"]), (["1"], ["1,1", "1,2", "2,1"]),
                       (["2,2", "1,2"], ["1,2", "2,2"]), (["3"], [])):
        expect("runs by %s" % only, [r.name for r in scenario.chosen(only)], want)


def round_trips():
    """The lab's scenario calls its runs by them: two links each way."""
    for run in experiment.Experiment("roundtrips").runs:
        rtt = sum(p.delay for ends in (("h1", "h3"), ("h3", "h1")) for p in run.topology.path(*ends))
        expect("round trip of " + run.name, "%gms" % (rtt / 1e6), run.name.split(",")[0])


def other_flows():
    """Each run of a sweep may have groups, ports and thresholds of its own."""
    def result(name, **figures):
        return types.SimpleNamespace(
            run=types.SimpleNamespace(name=name), qps=[], pfc=[],
            figures={**dict.fromkeys((*report.QUEUE, *report.FIGURES), 0), **figures})

    shown = report.table("t", [result("a", group={"x": {"goodput_mbps": 1}}, kmin_bytes=1),
                               result("b", group={"y": {"goodput_mbps": 2}}, kmin_bytes=2,
                                      port={"s1.h2": {"ce_marked": 3}})])
    expect("thresholds", shown.splitlines()[1],
           "0 QPs into 0 Mb/s; Kmin 1/2, Kmax 0, limit 0 bytes")
    expect("rows", [line.split()[-4:] for line in shown.splitlines()[-3:]],
           [["of", '"x"', "1.0", "-"], ["of", '"y"', "-", "2.0"], ["at", "s1.h2", "-", "3"]])


def complaints():
    for line in ("BUG: KASAN: slab-out-of-bounds in x", "UBSAN: shift-out-of-bounds in x",
                 "WARNING: possible circular locking dependency detected",
                 "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
                 "INFO: task modprobe:123 blocked for more than 120 seconds.",
                 "watchdog: BUG: soft lockup - CPU#0 stuck for 26s!", "Oops: 0000 [#1] SMP",
                 "refcount_t: underflow; use-after-free.", "rcu: INFO: rcu_sched self-detected stall on CPU"):
        expect(line, kernel_log.complaints("fine\n" + line + "\nfine\n"), [line])
    for line in ("kasan: KernelAddressSanitizer initialized", "rdma_rxe: loaded",
                 "kmemleak: Kernel memory leak detector initialized"):
        expect(line, kernel_log.complaints(line), [])
    cut = "------------[ cut here ]------------\n"
    warning = ("WARNING: drivers/infiniband/sw/rxe/%s at %s+0x2a7f/0x4320 [rdma_rxe]\n"
               "Call Trace:\n %s+0x157/0x4a0 [%s]\n---[ end trace 0000000000000000 ]---\n")
    for begin in (cut, ""):
        expect("a warning of rxe's completer", kernel_log.complaints(begin + warning % (
            "rxe_comp.c:827", "rxe_completer", "do_work", "rdma_rxe")), [])
        expect("the same, with us in the stack", len(kernel_log.complaints(begin + warning % (
            "rxe_comp.c:827", "rxe_completer", "dcqcn_rx", "rdma_dcqcn"))), 2)
        expect("another warning of rxe", len(kernel_log.complaints(begin + warning % (
            "rxe_qp.c:1", "rxe_qp_do_cleanup", "do_work", "rdma_rxe"))), 2)
    for bit in (5, 7, 9, 14):
        expect("taint %d" % bit, kernel_log.BAD_TAINT >> bit & 1, 1)
    expect("taint of a module from outside", kernel_log.BAD_TAINT >> 12 & 1, 0)


def relayed(text):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        tap = Tap()
        tap.relay(text)
        status = tap.done()
    return tap.n, tap.failed, status, out.getvalue()


def tap():
    expect("passed", relayed("noise\nok 1 - a\nok 2 b # SKIP c\n1..2\n"),
           (2, 0, 0, "TAP version 13\nok 1 - a\nok 2 - b # SKIP c\n1..2\n"))
    expect("failed", relayed("1..1\nnot ok 1 - a\n")[:3], (1, 1, 1))
    expect("ended early", relayed("1..2\nok 1 - a\n")[:3], (2, 1, 1))
    expect("without a plan", relayed("ok 1 - a\n")[:3], (2, 1, 1))
    expect("crashed", relayed("Oops\n")[:3], (1, 1, 1))
    expect("gave up", relayed("1..1\nok 1 - a\nBail out! x\n")[:3], (2, 1, 1))
    expect("no test at all", relayed("1..0\n")[:3], (1, 1, 1))


def watched():
    said = []
    with subprocess.Popen(["printf", "a\\r\\nb\\nend"], stdout=subprocess.PIPE) as p:
        console.watch(p, 60, said.append)
    expect("lines", said, ["a", "b", "end"])
    with subprocess.Popen(["sh", "-c", "echo bye; echo; exec sleep 1000"],
                          stdout=subprocess.PIPE) as p:
        console.watch(p, 60, said.append, lambda words: words.rstrip().endswith("bye"))
        p.kill()
    with subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE) as p:
        try:
            console.watch(p, 0, said.append)
            expect("silence", "no error", "an error")
        except LabError:
            pass
        p.kill()


def paused():
    """At 512 Gb/s a quantum is a nanosecond."""
    for frames, want in (([], []), ([(10, 0)], []),
                         ([(10, 50)], [(10, 60)]),
                         ([(10, 50), (30, 0)], [(10, 30)]),
                         ([(10, 50), (30, 50), (70, 5)], [(10, 75)]),
                         ([(10, 50), (70, 20)], [(10, 60), (70, 90)]),
                         ([(10, 50), (60, 0), (70, 0)], [(10, 60)]),
                         ([(90, 50)], [(90, 100)]), ([(90, 50), (110, 0)], [(90, 100)])):
        expect("pauses of %s" % frames, pauses._spans(frames, [(0, 512 * 10**9)], 100), want)
    rates = [(0, 512 * 10**9), (30, 256 * 10**9), (70, 0)]
    for frames, want in (([(10, 15), (29, 5), (31, 5)], [(10, 25), (29, 41)]),
                         ([(50, 50)], [(50, 70)])):
        expect("pauses of %s, whose rate changes" % frames, pauses._spans(frames, rates, 100), want)


def ways():
    """From s1 to s4, and from s4 to s1, one step after the other."""
    def run(shape, *ends):
        out = object.__new__(Run)
        out.shape, out.trunks = shape, [types.SimpleNamespace(ends=e) for e in ends]
        return out

    row = (("s1", "s2"), ("s3", "s2"), ("s3", "s4"))
    for name, made, here, there, want in (
            ("row", run("tree", *row), "s1", "s4", "s2"),
            ("row", run("tree", *row), "s4", "s1", "s3"),
            ("row", run("tree", *row), "s2", "s4", "s3"),
            ("no way", run("tree", *row[:2]), "s1", "s4", None),
            ("ring", run("ring", ("s1", "s2"), ("s2", "s3"), ("s3", "s1")), "s1", "s3", "s2"),
            ("ring", run("ring", ("s1", "s2"), ("s2", "s3"), ("s3", "s1")), "s3", "s2", "s1")):
        expect("%s from %s to %s" % (name, here, there), made.next_switch(here, there), want)


def arrows():
    """core <- vm, sim <- bench; no edits of paths, no module twice, none of the tests'."""
    allowed = {"core": set(), "vm": {"core"}, "sim": {"core"}, "bench": {"core", "vm", "sim"}}
    package = os.path.join(TOP, "tools", "testbed")
    names = []
    for part, others in allowed.items():
        for path in glob.glob(os.path.join(package, part, "*.py")):
            names.append(os.path.basename(path)[:-len(".py")])
            with open(path) as f:
                imports = re.findall(r"^ *(?:from|import) +(\S+)(?: import (.*))?", f.read(), re.M)
            for module, what in imports:
                other = module[2:].split(".")[0] if module.startswith("..") else part
                other = what.split(",")[0] if module == ".." else other
                expect("%s/%s imports %s" % (part, names[-1], module),
                       other in others | {part} and not module.startswith("testbed") and
                       not os.path.exists(os.path.join(TOP, "selftests", "uml", module + ".py")),
                       True)
    names += [os.path.basename(p)[:-len(".py")] for p in
              glob.glob(os.path.join(TOP, "selftests", "*", "*.py")) if not os.path.islink(p)]
    expect("modules of the same name", sorted(n for n in set(names) - {"__init__"}
                                              if names.count(n) > 1), [])
    edits, read = [], 0
    for top in ("tools", "selftests"):
        for directory, _, files in os.walk(os.path.join(TOP, top)):
            for path in (os.path.join(directory, f) for f in files):
                with open(path, errors="replace") as f:
                    edits += [path] * bool(re.search(r"sys\.[p]ath|PYTHON[P]ATH", f.read()))
                read += 1
    expect("all files were read", read > 200, True)
    expect("edits of paths", edits, [])


def copies():
    """A build in a copy of the sources must notice each change of them."""
    with tempfile.TemporaryDirectory() as d:
        here, there = os.path.join(d, "here", "src"), os.path.join(d, "there", "src")
        os.makedirs(here)

        def write(directory, name, text, time):
            with open(os.path.join(directory, name), "w") as f:
                f.write(text)
            os.utime(f.name, (time, time))

        def copy():
            sources.copy(os.path.dirname(here), ["src"], os.path.dirname(there))
            return {name: os.path.getmtime(os.path.join(there, name))
                    for name in sorted(os.listdir(there))}

        for name in ("same.c", "changed.c", "removed.h", "other.o"):
            write(here, name, name, 100)
        expect("copied", list(copy()), ["changed.c", "removed.h", "same.c"])
        for name in ("same.c", "changed.c", "same.o"):
            write(there, name, name, 200)
        write(here, "changed.c", "shorter", 50)     # older than what was built from it
        os.unlink(os.path.join(here, "removed.h"))
        times = copy()
        expect("copied again", list(times), ["changed.c", "same.c", "same.o"])
        expect("newer than what was built", times["changed.c"] > 200, True)
        expect("unchanged", times["same.c"], 200)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


class Archive:
    """Debian's, which has one version of the source. Counts what is fetched."""

    version, fetched = "7.3.4-1~bpo13+1", 0

    def __init__(self, directory, suite):
        self.suite = suite

    def update(self):
        if self.suite == "sid":
            raise LabError("sid does not answer")

    def depends(self, package):
        return ["linux-source-7.3"]

    def file(self, package):
        return "%s_%s_all.deb" % (package, self.version)

    def download(self, package, directory):
        Archive.fetched += 1
        write(os.path.join(directory, self.file(package)), "")
        return os.path.join(directory, self.file(package))


def kernels():
    """All are of one version of the source, and are built again for another one only."""
    built = []

    def build(kernel):
        built.append(os.path.basename(kernel.dir))
        write(os.path.join(kernel.kdir, "include/config/kernel.release"), "7.3\n")

    with tempfile.TemporaryDirectory() as d, mock.patch.dict(os.environ, XDG_CACHE_HOME=d), \
            mock.patch.object(linux_source, "Apt", Archive), \
            mock.patch.object(Kernel, "_prepare", build), mock.patch.object(Kernel, "_make"), \
            contextlib.redirect_stderr(io.StringIO()):
        def names():
            return [os.path.basename(made.dir)
                    for made in (Kernel(), Kernel(True), BuiltIn(), BuiltIn(True), DebugKernel())]

        def is_of(found, version):
            return [n for n in found if version + "-" not in n], len(set(found))

        first = Kernel().ensure()
        old = names()
        expect("of the version that was fetched", is_of(old, "-7.3.4-1-bpo13-1"), ([], 5))
        expect("origin", (first.origin, Kernel(True).origin), ("linux-source-7.3 7.3.4-1~bpo13+1",) * 2)
        Archive.version = "7.3.10-1"
        expect("the archive has a newer one", (Kernel().ensure().dir, names(), Archive.fetched),
               (first.dir, old, 1))
        expect("built once", built, [os.path.basename(first.dir)])
        linux_source.ensure(update=True)
        linux_source.ensure(update=True)
        expect("fetched only if it is new", Archive.fetched, 2)
        new = names()
        expect("of the newer version", is_of(new, "-7.3.10-1"), ([], 5))
        Kernel().ensure()
        Kernel(debug=True).ensure()
        expect("built again", built, [old[0], *new[:2]])
        expect("the old one", os.path.exists(first.complete), True)
        os.unlink(linux_source.cached().path)
        expect("without the newer source", names(), old)


def guests_kernel():
    """The unpacked kernel is of the tree, also if that has been built again."""
    with tempfile.TemporaryDirectory() as d, mock.patch.dict(os.environ, XDG_CACHE_HOME=d):
        image = Image()
        seen = []
        for text in "old", "new", "new":
            os.makedirs(os.path.join(image.root, "boot"), exist_ok=True)
            with open(os.path.join(image.root, "boot", "vmlinuz-6.1.0-1-amd64"), "wb") as f:
                f.write(b"MZ" + lzma.compress(text.encode()))
            with open(image.kernel) as f:
                seen.append(f.read())
        expect("guests boot", seen, ["old", "new", "new"])
        expect("unpacked kernels", len(glob.glob(image.root + "*.vmlinux")), 1)


def guests_module():
    """"make" and "lab build" both build that for the default kernel; the newer one counts."""
    with tempfile.TemporaryDirectory() as d:
        made, built = "x.ko", "out/kernels/%s/x.ko" % DEFAULT
        for times, newest in (({}, made), ({made: 5}, made), ({built: 5}, built),
                              ({made: 5, built: 6}, built), ({made: 7, built: 6}, made)):
            for name in made, built:
                if os.path.exists(os.path.join(d, name)):
                    os.unlink(os.path.join(d, name))
            for name, time in times.items():
                write(os.path.join(d, name), "")
                os.utime(os.path.join(d, name), (time, time))
            expect("the module, built at %s" % times, Image().built(d, "x.ko"), os.path.join(d, newest))
        expect("another kernel's", Image("6.12").built(d, "x.ko"),
               os.path.join(d, "out/kernels/6.12/x.ko"))
        expect("other packages, another image", Image(more=["b", "a"]).root != Image().root and
               Image(more=["b", "a"]).root == Image(more=["a", "b", "a"]).root, True)


def guests_ports():
    """Ports of dcbport need that module, for the guests' kernel."""
    marking = {"kmin": 1000, "kmax": 2000, "pmax": 1, "buffer": 3000}
    tc, dcbport = (Topology(Table("f", {"hosts": 1, "link": {"rate": "1gbit"},
                                        "switch": {"port": port, **marking}}))
                   for port in ("tc", "dcbport"))
    with tempfile.TemporaryDirectory() as d:
        ko = os.path.join(d, "dcbport.ko")
        guests = types.SimpleNamespace(built=lambda *args: ko, release="6.1", kdir="/kdir")
        check_ports([tc], guests)
        raises("no module", "dcbport.ko is not built, and switches have port = dcbport: make KDIR",
               check_ports, [tc, dcbport], guests)
        write(ko, "\0vermagic=6.12 SMP")
        raises("another kernel's", "dcbport.ko is for kernel 6.12, but the guests run 6.1",
               check_ports, [dcbport], guests)
        write(ko, "\0vermagic=6.1 SMP")
        check_ports([dcbport], guests)


def programs():
    """What guests run for the words of a COMMAND."""
    with tempfile.TemporaryDirectory() as d, contextlib.chdir(d):
        for name in "my prog", "here":
            write(os.path.join(d, name), "x")
        os.chmod("my prog", 0o755)
        for words, line, copied in (
                (["prog"], "prog", None), (["prog -x  $LAB_SERVER"], "prog -x  $LAB_SERVER", None),
                ([" prog; true"], "prog; true", None), (["a b", "c d"], "'a b' 'c d'", None),
                (["/bin/prog", "$X"], "/bin/prog '$X'", None),
                (["./my prog", "a b"], "'/lab/share/program/my prog' 'a b'", "my prog")):
            os.makedirs("share", exist_ok=True)
            expect("line of %s" % words, Program(words).share("share"), line)
            expect("copied", os.listdir("share/program") if os.path.isdir("share/program") else None,
                   copied and [copied])
        for words, text in (([" "], "is empty"), (["./nonesuch"], "no such file"),
                            (["./here"], "cannot be executed"), (["./share", "x"], "no such file")):
            raises(words, text, Program, words)


def python(code, **environment):
    """Run it, with the modules of the testbed."""
    return subprocess.run([sys.executable, "-Bc", code], cwd=os.path.dirname(__file__), text=True,
                          env={**os.environ, **environment}, capture_output=True, timeout=60)


def came_up():
    """Say why a lab did not."""
    for error, text in (("open('/none')", "lab: [Errno 2] No such file or directory: '/none'"),
                        ("subprocess.run('false', check=True)", "lab: Command 'false' returned"),
                        ("1 / 0", "ZeroDivisionError: ")):
        r = python("""from testbed.vm import supervisor
import subprocess
supervisor._state, supervisor.Topology = lambda: None, lambda table: None
supervisor._supervise = lambda *args: %s
supervisor.up(None, {}, None, None)""" % error)
        expect("lab up: " + error, (text in r.stderr, "did not come up" in r.stderr), (True, True))


def swept():
    """What killed runs left, but nothing of other users."""
    with tempfile.TemporaryDirectory() as d:
        for name in "mine", "theirs":
            os.mkdir(os.path.join(d, "rdma_dcqcn-lab-" + name))
            os.mkfifo(os.path.join(d, "rdma_dcqcn-lab-" + name, "lock"))
        left = []
        if os.getuid() == 0:
            os.chown(os.path.join(d, "rdma_dcqcn-lab-theirs"), 65534, 65534)
            left = ["rdma_dcqcn-lab-theirs"]
        python("from testbed.vm import fabric; fabric._sweep()", TMPDIR=d)
        expect("left", os.listdir(d), left)


def logs():
    """Commands that look at running guests make none."""
    with tempfile.TemporaryDirectory() as d, mock.patch.dict(os.environ, KERNEL_LOGS=d):
        for _ in range(2):
            guest.VM("h1", 0, d, None, 1, None)
        expect("logs", os.listdir(d), [])


def stopped_at_once():
    """A job that is stopped before its guest has begun it."""
    with tempfile.TemporaryDirectory() as d:
        begin = os.path.join(d, "begin")
        os.mkfifo(begin)

        class Here(guest.VM):
            """root's shell, in which a job begins when the next one has looked for it."""

            def ssh_argv(self, cmd=None, tty=False):
                first = "read x <%s; " % begin if "sleep 1000" in cmd else (
                    "sleep() { [ -e {0} ] && echo >{0}; rm -f {0}; command sleep $1; }; ".replace("{0}", begin))
                return ["setsid", "-w", "bash", "-c", first + cmd.replace("/run/", d + "/")]

        vm = Here("h1", 0, d, None, 1, Clock())
        job = vm.spawn("exec sleep 1000")
        try:
            guest.stop([job], timeout=5)
        except LabError as e:
            expect("it is stopped", str(e), "no error")
            job._proc.kill()
        expect("it has ended", job._proc.wait() < 0 or job._proc.returncode > 128, True)


def recordings():
    """An earlier recording stays if a new one cannot begin."""
    with tempfile.TemporaryDirectory() as d:
        def there(name, text, mode=0o644):
            with open(os.path.join(d, name), "w") as f:
                f.write(text)
            os.chmod(f.name, mode)
            return f.name

        def still(what, name):
            with open(os.path.join(d, name)) as f:
                expect(what, f.read(), "earlier")

        there("congestion-point", "#!/bin/sh\necho eth7 rate 1\n", 0o755)
        there("run.here.eth7.queue", "earlier")
        with mock.patch.dict(os.environ, PATH=d), mock.patch.object(bridge_port, "LAB", d):
            for missing in "gcc", "tcpdump":
                try:
                    bridge_port.record("eth7", 1, d, "run")
                    expect("without " + missing, "no error", "an error")
                except LabError as e:
                    expect("without " + missing, "'%s' (tcpdump, gcc " % missing in str(e), True)
                still("without " + missing, "run.here.eth7.queue")
                there("gcc", "#!/bin/sh\n", 0o755)

        refused = subprocess.CompletedProcess("", 1, "", "tcpdump: syntax error\n")
        vm = types.SimpleNamespace(run=lambda *args, **kw: refused, ssh_argv=lambda cmd: ["false"])
        lab = types.SimpleNamespace(vm=lambda name: vm,
                                    clock=types.SimpleNamespace(host=lambda seconds: seconds))
        port = types.SimpleNamespace(switch="s1", peer="h3")
        args = lab_command.parser().parse_args(
            ["capture", "s1.h3", "-f", "udp por 4791", "-w", there("run.pcap", "earlier")])
        with mock.patch.object(supervisor, "Lab", lambda: lab), \
                mock.patch.object(live, "port_of", lambda lab, name: port):
            raises("a wrong filter", "--filter: udp por 4791: tcpdump: syntax", args.run, args)
        still("a wrong filter", "run.pcap")


def captured():
    """tcpdump reports lost packets in the plural, and one in the singular."""
    run = types.SimpleNamespace(name="run", queues=[])
    network = types.SimpleNamespace(clock=None, share="/none", vms={"s1": None})
    port = types.SimpleNamespace(name="s1.h3", switch="s1", peer="h3")
    for says, lost in (("0 packets dropped by kernel", 0), ("1 packet dropped by kernel", 1),
                       ("12 packets dropped by kernel\n3 packets dropped by interface", 12)):
        it = measure.Measurement(network, run, "/none", None)
        job = types.SimpleNamespace(output=lambda: "7 packets captured\n%s\n" % says)
        with mock.patch.object(measure, "stop"), mock.patch.object(measure, "gather"), \
                mock.patch.object(measure.shutil, "move"):
            it._collect([(job, port, "pcap")])
        expect("tcpdump says " + says, it.recording.capture_lost, lost)
    job.output = lambda: "tcpdump: no"
    with mock.patch.object(measure, "stop"):
        try:
            it._collect([(job, port, "pcap")])
            expect("tcpdump failed", "no error", "an error")
        except LabError as e:
            expect("tcpdump failed", str(e), "tcpdump failed on s1.h3:\ntcpdump: no")


def record_lacks():
    """A recording of a bridge's port notes what tcpdump has lost, and the table shows it."""
    with tempfile.TemporaryDirectory() as d:
        for name, text in (("congestion-point", "echo eth7 rate 1"), ("gcc", 'cp "%s/wait" "$3"' % d),
                           ("wait", "exec sleep 1000"),
                           ("tcpdump", "echo 1 packet dropped by kernel >&2; for a; do case $a in "
                                       "*.pcap) echo >$a;; esac; done; : >%s/said; exec sleep 1000" % d)):
            write(os.path.join(d, name), "#!/bin/sh\n%s\n" % text)
            os.chmod(os.path.join(d, name), 0o755)

        def said(seconds):
            while not os.path.exists(os.path.join(d, "said")):
                pass

        clock = types.SimpleNamespace(monotonic=iter(range(10)).__next__, time=lambda: 1, sleep=said)
        with mock.patch.dict(os.environ, PATH=d + ":" + os.environ["PATH"]), \
                mock.patch.object(bridge_port, "LAB", d), mock.patch.object(bridge_port, "time", clock), \
                contextlib.redirect_stderr(io.StringIO()):
            bridge_port.record("eth7", 2, d, "run")
        with open(os.path.join(d, "run.json")) as f:
            expect("lost", json.load(f).get("capture_lost"), 1)
    result = types.SimpleNamespace(run=types.SimpleNamespace(name="a"), qps=[], pfc=[], figures={
        **dict.fromkeys((*report.QUEUE, *report.FIGURES), 0), "capture_lost": 1})
    expect("the table", report.table("t", [result]).splitlines()[-1].split(),
           ["packets", "not", "captured", "1"])


def damaged():
    """A recording that is none is an error, in one line."""
    good = {"device": "e", "real": 1, "start": 2, "seconds": 3, "marking":
            "rate 5bit kmin 1 kmax 2 pmax 0.1 buffer 3 cnp strict ecn mark"}
    with tempfile.TemporaryDirectory() as d:
        for about in ([], {}, {**good, "marking": ""}, {**good, "marking": "rate"},
                      {**good, "real": "x"},
                      {**good, "marking": good["marking"].replace("5bit", "xbit")},
                      {**good, "marking": good["marking"].replace("5bit", "0bit")},
                      {**good, "device": None, "marking": 5}, {**good, "seconds": 0},
                      {**good, "capture_lost": "x"}):
            write(os.path.join(d, "run.json"), json.dumps(about))
            raises("damaged: %s" % about, "run.json in %s is not of a recording" % d,
                   bridge_port.recording, d, "run")
        write(os.path.join(d, "run.json"), json.dumps(good))
        expect("a recording", bridge_port.recording(d, "run").window, [2, 5])
        write(os.path.join(d, "queue"), "1 2 3 4 5 6 70\n2 2 3 4 5 6 7")
        expect("samples that end within a number", samples.read(os.path.join(d, "queue")),
               [[1, 2, 3, 4, 5, 6, 70]])
        for text in "1 2 3 4 x 6 7\n", "\xff":
            with open(os.path.join(d, "queue"), "w", encoding="latin-1") as f:
                f.write(text)
            try:
                expect("samples of " + text, samples.read(os.path.join(d, "queue")), "an error")
            except LabError as e:
                expect("samples of " + text, str(e), os.path.join(d, "queue") + ": has no samples")


def changed_fabric():
    """Options of "lab up" hold for hosts and trunks that have values of their own, too."""
    def made(name, **changes):
        return Topology(Table(name, live.changed_tables(name, None, "tc", changes)))

    expect("rates", {p.rate for p in made("cnpclass", rate="20mbit").ports.values()}, {20 * 10**6})
    expect("rates of the file", {p.rate for p in made("cnpclass").ports.values()},
           {28 * 10**6, 6 * 10**6})
    expect("profiles", [h.profile for h in made("oneside", profile="mlx5").hosts.values()],
           ["mlx5"] * 3)
    hosts = Topology(Table("f", live.changed_tables("twohops", 3, "tc", {})))
    expect("hosts at one switch", (list(hosts.hosts), list(hosts.switches)), (["h1", "h2", "h3"], ["s1"]))
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as f:
        f.write("link = { rate = '1gbit' }\nswitch.s1 = { buffer = '9KB', kmin = 1, kmax = 2, pmax = 1 }\n"
                "switch.s2 = { buffer = '9KB', kmin = 1, kmax = 2, pmax = 1 }\n[[host]]\nname = 'h1'\n"
                "[[trunk]]\na = 's1'\nb = 's2'\nrate = '1mbit'\ndelay = '1ms'\n")
        f.flush()
        expect("a trunk", [(p.rate, p.delay) for p in made(f.name, rate="2gbit", delay="2ms").ports.values()],
               [(2 * 10**9, 4 * 10**6), (2 * 10**9, 2 * 10**6), (2 * 10**9, 2 * 10**6)])


def shown_by_lab():
    """Words of a port, as numbers in JSON where they are numbers."""
    text = ("h1 rate 48000000bit kmin 5000 kmax 120000 pmax 1e-05 buffer 360000 cnp strict ecn mark\n"
            "  queue 0 bytes, 0 packets; sent 7 packets, marked 0, dropped 0; CNPs first 0")
    lab = types.SimpleNamespace(
        runs=lambda name: True, vm=lambda name: types.SimpleNamespace(out=lambda command: text),
        network=types.SimpleNamespace(topology=types.SimpleNamespace(
            switches={"s1": types.SimpleNamespace(port="tc")})))
    port, = live.ports(lab, "s1")
    expect("a port", {k: port[k] for k in ("rate", "kmin", "pmax", "cnp", "sent")},
           {"rate": 48 * 10**6, "kmin": 5000, "pmax": 1e-05, "cnp": "strict", "sent": 7})


def set_in_lab():
    """What "lab set" runs in guests, and what it refuses, by the rules of files."""
    ran = []

    def vm(name):
        return types.SimpleNamespace(run=lambda cmd: ran.append(
            (name, cmd if isinstance(cmd, str) else " ".join(cmd))))

    def lab(port):
        marks = {"buffer": "300KB", "kmin": "10KB", "kmax": "100KB", "pmax": 0.1, "port": port}
        topology = Topology(Table("f", {
            "hosts": 1, "link": {"rate": "48mbit", "delay": "1ms"},
            "switch": {"s1": marks, "s2": marks}, "trunk": [{"a": "s1", "b": "s2"}]}))
        network = types.SimpleNamespace(topology=topology, look=lambda: None,
                                        set_knobs=lambda host, knobs: None)
        return types.SimpleNamespace(network=network, vm=vm)

    def of(kind, *words):
        ran.clear()
        live.change(lab(kind), words)
        return ran

    expect("marks", of("dcbport", "s1.h1", "kmin=0.02MB", "cnp=data"),
           [("s1", "/lab/switch-port set h1 kmin 20000 cnp data")])
    # the same as of "lab up --delay" and of files
    expect("a delay", of("dcbport", "s1", "delay=2ms"), [
        ("s1", "/lab/switch-port set h1 delay 4000000ns"),
        ("s1", "/lab/switch-port set s2 delay 2000000ns")])
    expect("a delay of tc's port", of("tc", "s1.h1", "delay=2ms"), [("s1", "/lab/delay h1 4000")])
    for kind in "dcbport", "tc":
        for words, rule in ((["cnp=fast"], "s1.h1: cnp: 'fast' is not one of strict, data"),
                            (["ecn=of f"], "ecn: 'of f' is not one of mark, strip"),
                            (["kmin=100KB"], "kmin: 100000 is not below kmax, 100000"),
                            (["kmax=0.4MB"], "kmax: 400000 is above the buffer, 300000"),
                            (["pmax=0"], "pmax: 0.0 is out of range"),
                            (["rate=1kbit"], "rate: 1000 is out of range"),
                            (["kmax=99KB", "buffer=much"], "'much' is not a size")):
            raises("%s %s" % (kind, words), rule, of, kind, *words)
            expect("%s %s: nothing changes" % (kind, words), ran, [])
    for words, rule in ((["pfc=6"], "6 is the priority of CNPs"),
                        (["pfc=nine"], "'nine' is not a list of priorities"),
                        (["pfc=3", "cnp=data"], "must be strict with pfc"),
                        (["pfc=3", "headroom=0"], "must be above 0 with pfc"),
                        (["xon=1MB"], "xon: must not be above xoff")):
        raises(words, rule, of, "dcbport", *words)
        expect("%s: nothing changes" % words, ran, [])


def silent_qps():
    """A QP of which nothing has arrived is one that has no share, not one that is not there."""
    about = {"device": "e", "real": 1, "start": 2, "seconds": 1, "marking":
             "rate 8000bit kmin 1 kmax 2 pmax 0.1 buffer 3 cnp strict ecn mark"}
    # SEND Only to QP 17, with 1000 bytes
    frame = bytes.fromhex("00" * 12 + "0800" "4502041800000000401100000a0000010a000003" "c00012b704040000"
                          "0400ffff0000001100000005").ljust(96, b"\0")
    with tempfile.TemporaryDirectory() as d:
        base = os.path.join(d, "run")
        write(base + ".json", json.dumps(about))
        write(base + ".here.e.queue", "2000000000 0 0 0 0 0 0\n2900000000 0 0 0 0 0 0\n")
        with open(base + ".here.e.pcap", "wb") as f:
            f.write(b"\xd4\xc3\xb2\xa1" + bytes(20) + struct.pack("<IIII", 3, 500000, 96, 1066) + frame)
        r = bridge_port.recording(d, "run")
        r.run.flows = [types.SimpleNamespace(src="10.0.0.1", dst="10.0.0.3", group="g", transport="rc",
                                             qps=4, mtu=1024)]
        for seconds, want in (0, 0.25), (1, 1):     # of a program, which has as many QPs as it likes
            r.program_seconds = seconds
            figures = report.Result(r).figures
            expect("Jain, %d s" % seconds, (figures["jain"], figures["group"]["g"]["jain"]), (want, want))
            expect("least, %d s" % seconds, figures["least_qp_share"], int(want))


def no_agent():
    """A guest whose LLDP agent has ended has heard nothing."""
    with tempfile.TemporaryDirectory() as d:
        for name, says in (("lldptool", "exit 1"), ("dcqcn", """echo '[{"pfc": [3]}]'"""),
                           ("dcb", "echo '{}'")):
            write(os.path.join(d, name), "#!/bin/sh\n%s\n" % says)
            os.chmod(os.path.join(d, name), 0o755)
        vm = types.SimpleNamespace(spawn=lambda cmd: types.SimpleNamespace(wait=lambda: subprocess.run(
            ["sh", "-c", cmd], text=True, capture_output=True,
            env={"PATH": d + ":" + os.environ["PATH"]})))
        port = types.SimpleNamespace(name="s1.h1", switch="s1", peer="h1")
        topology = types.SimpleNamespace(dcbx=True, ports={"s1.h1": port}, hosts=["h1"])
        lab = types.SimpleNamespace(network=types.SimpleNamespace(topology=topology),
                                    vm=lambda name: vm)
        for end in neighbours.links(lab):
            expect(end["name"] + " without an agent", (end["pfc"], end["neighbour"], end["agreed"]),
                   ([3], None, False))


def drawn_together():
    """Recordings of the same name, in two directories: neither gets the other's figures."""
    about = {"device": "e", "real": 1, "start": 2, "seconds": 1, "marking":
             "rate 8000bit kmin 1 kmax 2 pmax 0.1 buffer 3 cnp strict ecn mark"}
    drawn = {}
    with tempfile.TemporaryDirectory() as d, contextlib.chdir(d), \
            mock.patch.object(report.plots, "draw", lambda *args: drawn.update(args[1])):
        for name in "a/port", "b/port", "b/other":
            write(name + ".json", json.dumps(about))
            write(name + ".here.e.queue", "".join("%d 0 0 0 0 %d 0\n" % (
                (2 + i / 10) * 1e9, i * (name[0] == "b")) for i in range(11)))
            with open(name + ".here.e.pcap", "wb") as f:
                f.write(b"\xd4\xc3\xb2\xa1" + bytes(20))
        args = lab_command.parser().parse_args(["draw", "./a/port", "b/port", "b/other", "-o", "x.png"])
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            args.run(args)
        expect("titles", drawn["name"], ["a-port", "b-port", "other"])
        dropped = []
        for name in drawn["csv"]:
            with open(name) as f:
                dropped.append(f.readlines()[5].split(",")[4])
        expect("drops per second", dropped, ["0.0", "10.0", "10.0"])


def older_bench():
    """What the bench keeps of an older result may lack what the table needs."""
    with tempfile.TemporaryDirectory() as d, \
            mock.patch.object(bench_command.port, "measure", lambda out: {}):
        write(os.path.join(d, "result.json"), '{"rxe_insns": 5000}')
        try:
            expect("a result of an older bench", bench_command.run(["--only", "port", "--out", d]),
                   "an error")
        except LabError as e:
            expect("a result of an older bench", str(e), d + "/result.json: lacks 'hooks_insns', "
                   "so another version wrote it: measure all parts")


def mirrors():
    """Debian comes from a mirror of Debian, and not from somebody's archive for the same release."""
    with tempfile.TemporaryDirectory() as d:
        for host, origin in ("apt.example.com", "Example"), ("deb.example.org_debian", "Debian"):
            index = os.path.join(d, "lists", host + "_dists_bookworm_")
            write(index + "main_binary-amd64_Packages", "")
            write(index + "Release", "Origin: %s\nCodename: bookworm\nArchitectures: amd64\n"
                  "Components: main\nDate: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n %s 0 "
                  "main/binary-amd64/Packages\n" % (origin, hashlib.sha256().hexdigest()))
        write(os.path.join(d, "conf"), "".join('%s "%s";\n' % line for line in (
            ("Dir::State::Lists", d + "/lists"), ("Dir::Etc::SourceList", d + "/sources.list"),
            ("Dir::Etc::SourceParts", "-"), ("APT::Architecture", "amd64"))))
        theirs, debian = "https://apt.example.com/", "https://deb.example.org/debian/"
        for sources_list, mirror in ((theirs, debian), debian), ((theirs,), theirs):
            write(os.path.join(d, "sources.list"), "".join(
                "deb [trusted=yes] %s bookworm main\n" % uri for uri in sources_list))
            with mock.patch.dict(os.environ, APT_CONFIG=d + "/conf"):
                for suite in "bookworm", "trixie":
                    expect("%s of %s" % (suite, sources_list), apt_sources(suite),
                           "deb %s %s main\n" % (mirror, suite))


def no_such_kernel():
    """A kernel that no suite has is refused before the largest index is fetched."""
    asked, have = [], {
        "trixie-backports": ("7.2.12+deb13", "6.16.3+deb13"), "sid": ("7.2.13",),
        "experimental": ("7.3~rc7",)}

    def packages(suite):
        asked.append(suite)
        return ["linux-%s-%s-amd64" % (kind, version) for version in have[suite]
                for kind in ("image", "headers")]

    backports, *others = image.ADD_ONS
    with mock.patch.object(image, "_kernel_packages", packages):
        for name, suites, there in (("9.9", [backports], "6.16, 7.2"),
                                    ("8.9", [backports, *others], "6.16, 7.2, 7.3"),
                                    ("6.3", [backports, *others], "6.16, 7.2, 7.3")):
            asked.clear()
            try:
                Image(name)._find()
                expect(name, "found", "an error")
            except LabError as e:
                expect(name, str(e), "Debian has no kernel %s in %s; it has %s" %
                       (name, ", ".join(suites), there))
            expect(name + ": asked", asked, suites)
        asked.clear()
        expect("7.3", Image("7.3")._find(), ("experimental", "7.3~rc7", False))
        expect("7.2", Image("7.2")._find(), (backports, "7.2.12+deb13", False))
        expect("asked", asked, [backports, *others, backports])

    # an index that does not change stays
    updates = []
    with tempfile.TemporaryDirectory() as d, mock.patch.object(image, "cache_dir", lambda: d), \
            mock.patch.object(Apt, "update", lambda apt: updates.append(apt.lists)):
        lists = os.path.join(d, "apt-sid", "lists")
        expect("nothing yet", image._kernel_packages("sid"), [])
        with open(os.path.join(lists, "x_sid_main_binary-amd64_Packages"), "w") as f:
            f.write("Package: linux-image-7.2.13-amd64\nDescription: x\n\n"
                    "Package: linux-image-amd64\n\nPackage: linux-headers-7.2.13-amd64\n")
        expect("names", image._kernel_packages("sid"),
               ["linux-headers-7.2.13-amd64", "linux-image-7.2.13-amd64"])
        expect("in one place", updates, [lists, lists])


def rows_and_samples():
    """Marks and drops per ms count for the time between samples, which may be longer than a row."""
    def row(ns, queue, drops, marks):
        return [ns, 0, 0, 0, queue, drops, marks]

    rows = [row(ms * 1000000, 7, ms, 2 * ms) for ms in (0, 10, 20, 30)]
    got = pictures._queue(types.SimpleNamespace(rows=rows), 30000000, 1000000)
    expect("per ms", {tuple(r[3:]) for r in got[1:]}, {(2.0, 1.0)})


def one_has_failed():
    """The runs of an experiment are reported if one has failed, and once."""
    told, names = [], ("all", "some", "none")
    reports = engine.Reports([(types.SimpleNamespace(name=name, runs=[name + "1", name + "2"]), name)
                              for name in names], False)
    with mock.patch.object(engine.report, "Result", lambda recording: recording), \
            mock.patch.object(reports, "tell", lambda e, out: told.append(out)):
        for run in ("some2", "all1", "all2"):
            reports.done(types.SimpleNamespace(run=run))
        expect("told", told, ["all"])
        reports.end()
    expect("told at last", told, ["all", "some"])


for test in (expressions, expectations, numbers, files, groups_of_guests, chosen, round_trips,
             other_flows, complaints, tap, copies, kernels, guests_kernel, guests_module,
             guests_ports, programs, watched, paused, ways, arrows, came_up, swept, logs,
             stopped_at_once, recordings, captured, record_lacks, damaged, changed_fabric,
             shown_by_lab, set_in_lab, silent_qps, no_agent, drawn_together, older_bench, mirrors,
             no_such_kernel, rows_and_samples, one_has_failed):
    test()
sys.exit(status())
