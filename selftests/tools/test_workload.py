#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests the simulator's workloads: which messages follow from a scenario, that traffic keeps to
them, and the figures of what came. No network is one. Silent on success."""

import csv
import io
import os
import random
import subprocess
import sys
import tempfile
import types

from expect import expect, status
from testbed.core.errors import InputError, LabError
from testbed.core.paths import SIM, TOP
from testbed.core.scenario import Table
from testbed.sim import completions, figures as run_figures, network_script, pauses
from testbed.sim.model import Run
from testbed.sim.workload import SIZES, Sizes, Workload, schedule

MS = 10**6
FRAME = 4096 + 58


def workload(*tables, duration=100 * MS, seed=1):
    w = Workload(duration, 40 * 10**9, seed)
    for t in tables:
        if "kind" in t:
            w.collective(Table("collective 1", t))
        elif "file" in t:
            w.trace(Table("trace 1", t))
        else:
            w.flow(Table("flow 1", {"from": "h1", "to": "h9", **t}))
    return w


def left_out():
    """iWARP has RC without atomic operations."""
    w = Workload(100 * MS, 40 * 10**9, 1, rc_only=True)
    for t in ({"verb": "read"}, {"transport": "uc"}, {"transport": "ud", "verb": "send"},
              {"verb": "atomic", "size": "8B"}, {"transport": "uc", "period": "1ms"}, {}):
        w.flow(Table("flow 1", {"from": "h1", "to": "h9", **t}))
    expect("what iWARP carries", [(f.transport, f.verb) for f in w.flows],
           [("rc", "read"), ("rc", "write")])
    raises("no transport", "transport: 'rd' is not one of rc", w.flow,
           Table("flow 1", {"from": "h1", "to": "h9", "transport": "rd"}))
    expect("what it does not", w.left_out, ["UC WRITE", "UD SEND", "RC ATOMIC"])
    run = Run(types.SimpleNamespace(notes=[]), {}, Table("f", {
        "duration": "10ms", "profile": "stock", "stack": "siw-dctcp",
        "flow": [{"from": "h1", "to": "h2"},
                 {"from": "h1", "to": "h2", "transport": "uc"}],
        "link": {"rate": "1gbit"},
        "switch": {"buffer": "1MB", "kmin": "20KB", "kmax": "200KB", "pmax": 0.1}}))
    expect("the note", run.notes(), ["soft-iWARP has no UC WRITE: such flows are left out"])


def lines(*tables, **how):
    return schedule(workload(*tables, **how).plan().messages).splitlines()


def raises(what, text, function, *args):
    try:
        function(*args)
    except LabError as e:
        expect(what, (text in str(e) or str(e), isinstance(e, InputError)), (True, True))
    else:
        expect(what, "no error", text)


def sizes():
    s = Sizes([(0, 0), (1000, 0.5), (1000, 0.75), (5000, 1)])
    expect("mean", s.mean, 0.5 * 500 + 0.25 * 1000 + 0.25 * 3000)
    for share, want in ((0, 1), (0.25, 500), (0.5, 1000), (0.7, 1000), (0.875, 3000),
                        (0.999999, 5000)):
        expect("share %g" % share, s.draw(types.SimpleNamespace(random=lambda x=share: x)), want)
    # Sums over the points of each file, made with awk
    for name, mean in (("websearch", 1711250), ("hadoop", 120420.75), ("storage", 40869.8)):
        s = Sizes.read(os.path.join(SIZES, name + ".txt"))
        expect(name, round(s.mean, 2), mean)
        drawn = sum(s.draw(types.SimpleNamespace(random=lambda n=n: (n + 0.5) / 1e4))
                    for n in range(10**4)) / 1e4
        expect(name + " drawn", abs(drawn / mean - 1) < 0.001 or drawn, True)
    with tempfile.TemporaryDirectory() as d:
        for text, rule in (("0 0\n5", ":2: must be bytes and percent"),
                           ("0 0\n5 x", ":2: must be bytes and percent"),
                           ("0 0\n5 99", "must rise from 0 to 100 percent"),
                           ("0 0\n5 50\n4 100", "must rise from 0 to 100 percent"),
                           ("0 0\n1e10 100", "below 1 GiB"), ("# none", "must rise"),
                           ("0 0\nnan 50\n9 100", "must rise"), ("0 0\n5 nan\n9 100", "must rise"),
                           ("0 0\n0 100", "1 B or more"), ("\xff", "is not text"),
                           ("0 0\n\xff 5", "is not text")):
            path = os.path.join(d, "s.txt")
            with open(path, "w", encoding="latin-1") as f:
                f.write(text)
            raises(text, rule, Sizes.read, path)
        raises("no file", "No such file", Sizes.read, d + "/none")


def periods():
    expect("two bursts", lines({"to": "h9", "from": "h1..h2", "size": "1KB", "period": "40ms",
                                "burst": 2, "stagger": "1us", "start": "1ms", "stop": "50ms"}),
           ["flows=0 size=1000 at=1000000", "flows=0 size=1000 at=1000000",
            "flows=1 size=1000 at=1001000", "flows=1 size=1000 at=1001000", "after=0-3",
            "flows=0 size=1000 at=41000000", "flows=0 size=1000 at=41000000",
            "flows=1 size=1000 at=41001000", "flows=1 size=1000 at=41001000", "after=5-8"])
    expect("until the stop", len(lines({"period": "10ms"})), 20)
    expect("a count", len(lines({"period": "10ms", "count": 3})), 6)
    expect("a pool, and a reply", lines({"period": "1ms", "count": 1, "qps": 3, "size": "10B",
                                         "reply": "20B"}),
           ["flows=0-2 size=10", "flows=3-5 size=20 after=0", "after=1"])
    late = [m.at for m in workload({"period": "10ms", "jitter": "1ms"}).plan().messages if m.flows]
    expect("jitter", [n * 10 * MS <= at < (n * 10 + 1) * MS for n, at in enumerate(late)],
           [True] * 10)
    expect("jitter differs", len({at % (10 * MS) for at in late}), 10)
    expect("none after the stop", lines({"from": "h1..h2", "period": "10ms", "start": "95ms",
                                         "stagger": "2ms", "stop": "97001us", "size": "1B"}),
           ["flows=0 size=1 at=95000000", "flows=1 size=1 at=97000000", "after=0-1"])
    expect("the last round has only some", lines({"from": "h1..h2", "period": "10ms", "size": "1B",
                                                  "start": "85ms", "stagger": "5ms"})[3:],
           ["flows=0 size=1 at=95000000", "after=3"])
    late = [m.at for m in workload({"from": "h1..h3", "period": "10ms", "jitter": "50ms"})
            .plan().messages if m.flows]
    expect("nor by jitter", (max(late) < 100 * MS, len(late) < 30), (True, True))


def turns():
    expect("think", lines({"think": "5us", "count": 3, "size": "1B", "reply": "2B",
                           "start": "1us"}),
           ["flows=0 size=1 at=1000", "flows=1 size=2 after=0", "flows=0 size=1 wait=5000 after=1",
            "flows=1 size=2 after=2", "flows=0 size=1 wait=5000 after=3",
            "flows=1 size=2 after=4"])
    expect("alone", lines({"think": "0us", "count": 2, "size": "1B"}),
           ["flows=0 size=1", "flows=0 size=1 after=0"])


def load():
    """On the receiver's link, and on each link of hosts that all send to all."""
    for what, table, hosts, seconds in (
            ("to one", {"from": "h1..h8"}, 1, 1),
            ("to all", {"from": "h1..h8", "to": "h1..h8"}, 8, 0.1),
            ("web search", {"from": "h1..h8", "to": "h1..h8", "sizes": "websearch"}, 8, 3)):
        duration = round(seconds * 1e9)
        messages = workload({"load": 0.5, **table}, duration=duration).plan().messages
        share = sum(m.size for m in messages) * 8 / (hosts * 40 * duration)
        expect("load " + what, abs(share / 0.5 - 1) < 0.03 or share, True)
        expect("in time order " + what, [m.at for m in messages], sorted(m.at for m in messages))
        expect("within the time " + what, max(m.at for m in messages) < duration, True)
        gaps = [b.at - a.at for a, b in zip(messages, messages[1:])]
        mean = sum(gaps) / len(gaps)
        spread = sum((g - mean) ** 2 for g in gaps) / len(gaps) / mean ** 2
        expect("Poisson " + what, abs(spread - 1) < 0.1 or spread, True)


    # each pair's messages are the same, but later
    at = {late: [[m.at for m in workload({"load": 0.5, "from": "h1..h2", "stagger": late},
                                         duration=10 * MS).plan().messages if m.flows[0] == n]
                 for n in (0, 1)] for late in ("0ms", "3ms")}
    expect("the first of a staggered load", at["3ms"][0], at["0ms"][0])
    expect("the second", at["3ms"][1],
           [t + 3 * MS for t in at["0ms"][1]][:len(at["3ms"][1])])
    expect("it has fewer", 0 < len(at["3ms"][1]) < len(at["0ms"][1]), True)


def collectives():
    expect("ring", lines({"hosts": "h1..h3", "kind": "ring", "size": "3KB", "count": 2,
                          "compute": "7us", "start": "1us"})[:16], [
        "flows=0 size=1000 at=1000", "flows=1 size=1000 at=1000", "flows=2 size=1000 at=1000",
        "flows=0 size=1000 after=2", "flows=1 size=1000 after=0", "flows=2 size=1000 after=1",
        "flows=0 size=1000 after=5", "flows=1 size=1000 after=3", "flows=2 size=1000 after=4",
        "flows=0 size=1000 after=8", "flows=1 size=1000 after=6", "flows=2 size=1000 after=7",
        "after=0-11", "flows=0 size=1000 wait=7000 after=12",
        "flows=1 size=1000 wait=7000 after=12", "flows=2 size=1000 wait=7000 after=12"])
    w = workload({"hosts": "h1..h3", "kind": "alltoall", "size": "9B"})
    expect("all to all", sorted((f.src, f.dst, f.size) for f in w.flows),
           [(a, b, 3) for a in ("h1", "h2", "h3") for b in ("h1", "h2", "h3") if a != b])
    expect("all to all at once", [m.after for m in w.plan().messages],
           [()] * 6 + [(0, 1, 2, 3, 4, 5)])
    # split over two queue pairs, each half on its own; the next step waits for both
    w = workload({"hosts": "h1..h2", "kind": "ring", "size": "10B", "qps": 2})
    expect("split", [(m.flows[0], m.size, m.after) for m in w.plan().messages[:6]],
           [(0, 3, ()), (1, 3, ()), (2, 3, ()), (3, 3, ()), (0, 3, (2, 3)), (1, 3, (2, 3))])
    w = workload({"hosts": "h1..h4", "kind": "halving", "size": "8B"})
    expect("halving", [(w.flows[m.flows[0]].src, w.flows[m.flows[0]].dst, m.size)
                       for m in w.plan().messages[:12:4]],
           [("h1", "h3", 4), ("h1", "h2", 2), ("h1", "h2", 2)])
    # h1's third message waits for what h2 sent in the second step
    expect("halving waits", [w.plan().messages[n].after for n in (0, 4, 8, 12)],
           [(), (2,), (5,), (9,)])
    # h2 has a child and h3 none; h1 answers both when it has what both added up
    w = workload({"hosts": "h1..h4", "kind": "tree", "size": "8B"})
    expect("tree", [(w.flows[m.flows[0]].src, w.flows[m.flows[0]].dst, m.size, m.after)
                    for m in w.plan().messages[:-1]],
           [("h4", "h2", 8, ()), ("h2", "h1", 8, (0,)), ("h3", "h1", 8, ()),
            ("h1", "h2", 8, (1, 2)), ("h1", "h3", 8, (1, 2)), ("h2", "h4", 8, (3,))])
    # two batches forward; the last stage sends each back as soon as it has it
    w = workload({"hosts": "h1..h3", "kind": "pipeline", "size": "8B", "batches": 2})
    expect("pipeline", [(w.flows[m.flows[0]].src, w.flows[m.flows[0]].dst, m.after)
                        for m in w.plan().messages[:-1]],
           [("h1", "h2", ()), ("h2", "h3", (0,)), ("h1", "h2", ()), ("h3", "h2", (1,)),
            ("h2", "h3", (2,)), ("h2", "h1", (3,)), ("h3", "h2", (4,)), ("h2", "h1", (6,))])


# In the form of the examples that come with the ns-3 simulations: two of three flows count
NS3 = """2
2 1 3 100 200000000 2.00001
3 1 3 100 5000 2

4 1 3 100 150000000 2

First line: # of flows
"""


def traces():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "flow.txt")

        def trace(text, **keys):
            with open(path, "w", encoding="latin-1") as f:
                f.write(text)
            return workload({"file": path, "hosts": "h0..h3", **keys})

        w = trace(NS3, start="1ms", qps=2)
        expect("ns-3 flows", [(f.src, f.dst, f.size) for f in w.flows],
               [("h3", "h1", 5000)] * 2 + [("h2", "h1", 200000000)] * 2)
        expect("ns-3 messages", schedule(w.plan().messages).splitlines(),
               ["flows=0-1 size=5000 at=1000000", "flows=2-3 size=200000000 at=1010000"])
        for text, bad in (
                ("flow.txt:1: must be the number", "x\n"),
                ("flow.txt:1: must be the number", "9" * 5000 + "\n"),
                ("flow.txt:1: must be the number", "2 2\n"), ("is not text", "\xff"),
                ("from 0 s to 30 days", "1\n0 1 3 100 1 1e9\n"),
                ("flow.txt:1: must be the number", ""),
                ("has 1 flows, not 2", "2\n0 1 3 100 1 2\n"), ("not 0", "0\n0 1 3 100 1 2\n"),
                ("flow.txt:2: must be source", "1\n0 1 3 100 1\n"),
                ("flow.txt:2: must be source", "1\n0 1 3 100 1 inf\n"),
                ("flow.txt:2: nodes are 0 to 3", "1\n0 4 3 100 1 2\n"),
                ("flow.txt:2: must be 1 B", "1\n0 1 3 100 0 2\n"),
                ("a flow from h1 to itself", "1\n1 1 3 100 1 2\n")):
            raises(text, text, trace, bad)
        raises("no file", "No such file", workload, {"file": d + "/x", "hosts": "h0..h3"})


def repeatable():
    tables = {"load": 0.3, "sizes": "hadoop", "from": "h1..h4"}, {"period": "1ms", "jitter": "1ms"}
    expect("the same again", lines(*tables), lines(*tables))
    expect("another seed", lines(*tables) != lines(*tables, seed=2), True)
    other = {"load": 0.3, "sizes": "storage", "from": "h1..h2"}
    expect("another table's messages stay",
           [m.at for m in workload(*tables).plan().messages[-200:] if m.flows],
           [m.at for m in workload(other, tables[1]).plan().messages[-200:] if m.flows])


def mistakes():
    for text, table in (
            ("period: cannot be combined with load", {"period": "1ms", "load": 0.5}),
            ("sizes: cannot be combined with size", {"load": 1, "sizes": "hadoop", "size": "1B"}),
            ("'hdp' is neither one of hadoop, storage, websearch", {"load": 1, "sizes": "hdp"}),
            ("count: is missing", {"think": "1us"}), ("unknown: jitter", {"load": 1, "jitter": "1us"}),
            ("unknown: burst", {"load": 1, "burst": 1}), ("unknown: reply", {"reply": "1B"}),
            ("unknown: stop", {"think": "1us", "count": 1, "stop": "1ms"}),
            ("stagger: the last of 2 pairs would start after its stop",
             {"load": 1, "from": "h1..h2", "stagger": "1ms", "stop": "1ms"}),
            ("stagger: the last of 2 pairs", {"think": "0s", "count": 1, "from": "h1..h2",
                                              "stagger": "100ms"}),
            ("start: flow 1 of it would start after its stop",
             {"start": "1000100ns", "stop": "1000900ns"}),
            ("to: a flow from h1 to itself", {"to": "h1,h1", "load": 1}),
            ("to: a flow from h1 to itself", {"to": "h1,h1"}),
            ("group: all are the flows of all groups", {"group": "all"}),
            ("depth: 16385 is out of range", {"depth": 16385}),
            ("size: a message has at most 1 GiB", {"size": "1073741825B"}),
            ("size: a message has at most 1 GiB", {"load": 1, "size": "2GiB"}),
            ("size: a message has at most 1 GiB", {"period": "1ms", "reply": "2GiB"}),
            ("size: a message has at most 1 GiB",
             {"kind": "tree", "hosts": "h1..h2", "size": "2GiB"}),
            ("count: 18446744073709551616 is out of range", {"count": 2**64}),
            ("mtu: 1024.9 is not one of 256", {"mtu": 1024.9}),
            ("mtu: inf is not one of 256", {"mtu": float("inf")}),
            ("load: inf is not a number", {"load": float("inf")}),
            ("load: %d is not a number" % 10**400, {"load": 10**400}),
            ("jitter: 100000001 is out of range", {"period": "1ms", "jitter": "100000001ns"}),
            ("think: 100000001 is out of range", {"think": "100000001ns", "count": 1}),
            ("compute: 100000001 is out of range",
             {"kind": "tree", "hosts": "h1..h2", "size": 1, "compute": "100000001ns"}),
            ("batches: 1000000000 is out of range",
             {"kind": "pipeline", "hosts": "h1..h2", "size": 1, "batches": 10**9}),
            ("makes more than 131072 flows", {"qps": 10**9}),
            ("unknown: sizes", {"sizes": "hadoop"}),
            ("start: 100000000 is out of range", {"load": 1, "start": "100ms"}),
            ("stop: 100000001 is out of range", {"load": 1, "stop": "100000001ns"}),
            ("period: 0 is out of range", {"period": "0s"}),
            ("load: 0.0 is out of range", {"load": 0}),
            ("a ring's messages cannot have a load", {"load": 1, "pattern": "ring", "to": "h1"}),
            ("a flow from h9 to itself", {"load": 1, "from": "h9"}),
            ("a ud message is one packet", {"load": 1, "verb": "send", "transport": "ud"}),
            ("ud does not support write", {"load": 1, "transport": "ud"}),
            ("hosts: must be two or more, each once", {"kind": "ring", "hosts": "h1,h1", "size": 1}),
            ("hosts: must be 2, 4, 8", {"kind": "halving", "hosts": "h1..h3", "size": 1}),
            ("unknown: batches", {"kind": "tree", "hosts": "h1..h3", "size": 1, "batches": 2}),
            ("kind: 'star' is not one of", {"kind": "star", "hosts": "h1..h3", "size": 1})):
        raises(text, text, workload, table)
    raises("too many", "makes more than 1048576 messages", lines, {"period": "10ns"})
    raises("too many of a load", "makes more than 1048576 messages", lines,
           {"from": "h10..h99", "load": 10, "size": "1B"})


def played(directory, player, text, flows):
    """What a program makes of a schedule: [(due, done)]"""
    for name, content in (("flows", flows), ("schedule", text)):
        with open(os.path.join(directory, name), "w") as f:
            f.write(content)
    r = subprocess.run([player, os.path.join(directory, "flows"),
                        os.path.join(directory, "schedule")], text=True, capture_output=True,
                       timeout=60)
    return r, [(int(row["due_ns"]), int(row["done_ns"]))
               for row in csv.DictReader(io.StringIO(r.stdout))]


def ideal(messages):
    """When each is due and done, if a message of N bytes takes N ns."""
    out = []
    for m in messages:
        due = max(m.at, max((out[n][1] for n in m.after), default=-m.wait) + m.wait)
        out.append((due, due + m.size))
    return out


FLOW = ("id=%d verb=send transport=rc src_dev=a src_addr=10.0.0.1 dst_dev=b dst_addr=10.0.0.2 "
        "size=100000000 stop_us=1000\n")


def keeps_to_it():
    with tempfile.TemporaryDirectory() as d:
        player = os.path.join(d, "player")
        subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
                        "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", player,
                        os.path.join(TOP, "selftests", "tools", "schedule.c"),
                        *(os.path.join(SIM, f) for f in ("messages.c", "flows.c"))], check=True)
        for tables in (
                [{"hosts": "h1..h5", "kind": "ring", "size": "5KB", "count": 3, "compute": "3us",
                  "jitter": "1us"}],
                [{"hosts": "h1..h8", "kind": "halving", "size": "64KB", "count": 4,
                  "jitter": "9us"}, {"load": 0.5, "sizes": "storage", "from": "h1..h4"}],
                [{"period": "1ms", "burst": 3, "from": "h1..h3", "reply": "3KB", "jitter": "2ms"}],
                [{"think": "2us", "count": 20, "from": "h1..h3", "jitter": "3us", "qps": 4}]):
            w = workload(*tables)
            messages = w.plan().messages
            r, times = played(d, player, schedule(messages),
                              "".join(FLOW % f.id for f in w.flows))
            expect("played %s: %s" % (tables[0], r.stderr), (times == ideal(messages), r.returncode),
                   (True, 0))
        # a ring of 5 takes 8 steps of 1000 bytes, and 3 us of computing after the first
        ring = workload({"hosts": "h1..h5", "kind": "ring", "size": "5KB", "count": 2,
                         "compute": "3us"})
        _, times = played(d, player, schedule(ring.plan().messages),
                          "".join(FLOW % f.id for f in ring.flows))
        expect("two rings", times[-1], (19000, 19000))
        _, times = played(d, player, "flows=0 size=5 at=3\nflows=0 size=1 at=100 after=0\n"
                          "flows=0-1 size=1 at=2 wait=7 after=0\nafter=0,1-2\n", FLOW % 0 + FLOW % 1)
        expect("at and after", times, [(3, 8), (100, 101), (15, 16), (101, 101)])
        r, _ = played(d, player, "flows=0 size=5\n",
                      FLOW % 0 + FLOW.replace("\n", " scheduled=1\n") % 1)
        expect("a flow without a message", (r.stderr, r.returncode), ("", 0))
        for text, rule in (
                ("flows=7 size=1", "1: flows=7: there is no flow of id 7"),
                ("flows=0", "1: flows without a size"), ("size=1", "1: size without flows"),
                ("flows=0 size=0", "1: flows without a size"),
                ("flows=0 size=200000000", "1: size=200000000 is more than that of flow 0"),
                ("flows=0 size=1 after=0", "1: after=0: the first message cannot wait for another one"),
                ("flows=0 size=1\n\nafter=1", "3: after=1: want a number up to 0"),
                ("flows=0 size=1\nafter=0-", "2: after=0-: want a number"),
                ("flows=1-0 size=1", "1: flows=1-0: want a number"),
                ("flows=0 size=-1", "1: size=-1: want a number"),
                ("flows=0 size", "1: size: want key=value"), ("a=1", "1: unknown key a"),
                ("# none", "1: no messages"), ("at=99999999999999999", "1: at=99")):
            r, _ = played(d, player, text + "\n", FLOW % 0 + FLOW % 1)
            expect("refused: " + text, (r.returncode, rule in r.stderr or r.stderr), (2, True))


def waits_for_it():
    """A message that takes longer than traffic's last wait has the time until its flow's stop."""
    with tempfile.TemporaryDirectory() as d:
        program = os.path.join(d, "deadline")
        subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o", program,
                        os.path.join(TOP, "selftests", "tools", "deadline.c"),
                        *(os.path.join(SIM, f) for f in ("messages.c", "flows.c", "iwarp.c")),
                        "-libverbs", "-lrdmacm"], check=True)
        r = subprocess.run([program], text=True, capture_output=True, timeout=60)
        expect("the time to wait", (r.stdout, r.returncode), ("", 0))


LINK = types.SimpleNamespace


def link(gbps, delay=0, overhead=0):
    return LINK(rate=gbps * 10**9, delay=delay, overhead=overhead)


def one_by_one(links, frames, full, last):
    """The same as crossing(), frame by frame."""
    free = [0] * len(links)
    for n in range(frames):
        at = 0
        for i, cable in enumerate(links):
            took = ((full if n < frames - 1 else last) + cable.overhead) * 8e9 / cable.rate
            free[i] = max(at, free[i]) + took
            at = free[i] + cable.delay
    return at


def idle_path():
    rng = random.Random(3)
    for _ in range(300):
        links = [link(rng.choice((1, 10, 40, 100)), rng.randrange(1000), rng.choice((0, 24)))
                 for _ in range(rng.randrange(1, 6))]
        last = rng.randrange(60, FRAME + 1)
        case = links, rng.randrange(1, 30), FRAME, last
        got, want = completions.crossing(*case), one_by_one(*case)
        expect("crossing %s" % (case,), abs(got - want) < 1e-6, True)
    two = [link(40, 500), link(40, 500)]        # 0.2 ns per byte
    for verb, transport, size, want in (
            ("send", "rc", 100, 1000 + 2 * 158 * 0.2), ("send", "ud", 4096, 1000 + 2 * 4166 * 0.2),
            ("send", "rc", 101, 1000 + 2 * 162 * 0.2),
            ("send", "rc", 8192, 1000 + 3 * FRAME * 0.2),
            ("send", "rc", 4097, 1000 + (2 * FRAME + 62) * 0.2),
            ("write", "rc", 100, 1000 + 2 * 174 * 0.2 + 1000 + 2 * 62 * 0.2),
            ("write", "rc", 8192, 1000 + (3 * FRAME + 16) * 0.2 + 1000 + 2 * 62 * 0.2),
            ("write", "uc", 100, 1000 + 2 * 178 * 0.2),
            ("read", "rc", 100, 1000 + 2 * 74 * 0.2 + 1000 + 2 * 162 * 0.2),
            ("atomic", "rc", 8, 1000 + 2 * 86 * 0.2 + 1000 + 2 * 70 * 0.2)):
        f = types.SimpleNamespace(verb=verb, transport=transport, mtu=4096)
        expect("%s %s %d" % (verb, transport, size),
               round(completions.alone(two, two[::-1], f, size), 6), round(want, 6))


SCENARIO = {
    "duration": "10ms", "profile": "stock", "link": {"rate": "40gbit", "delay": "500ns"},
    "switch": {"buffer": "1MB", "kmin": "20KB", "kmax": "200KB", "pmax": 1},
}


def run(**tables):
    return Run(None, {}, Table("f.toml", {**SCENARIO, **tables}))


def figures():
    made = run(flow=[{"from": "h1..h2", "to": "h3", "period": "1ms", "count": 2, "size": "4096B",
                      "verb": "send", "reply": "100B", "group": "asks"},
                     {"from": "h1", "to": "h3", "size": "1MB"}])
    expect("the flows that traffic reads", network_script.flows(made).count("\n"), 5)
    # those of which the load makes no message must not send without a pause
    expect("flows of the schedule", [" scheduled=1" in line for line in
                                     network_script.flows(made).splitlines()],
           [True] * 4 + [False])
    alone, back = 1000 + 2 * FRAME * 0.2, 1000 + 2 * 158 * 0.2
    with tempfile.TemporaryDirectory() as d:
        def of(rows, end, lost=()):
            with open(os.path.join(d, "messages.csv"), "w") as f:
                f.write("flow,due_ns,done_ns\n" + "".join("%s,%s,%s\n" % r for r in rows))
            queue = types.SimpleNamespace(rows=[[ns, 0, 0, 0, 0, n, 0] for ns, n in lost])
            return completions.figures(made, d, end, {"s1.h3": queue})

        rows = [(0, 0, 4000), (2, 4000, 6000), (1, 0, 5000), (3, 5000, 9000), ("", 9000, 9000),
                (0, MS, MS + 6000), (2, MS + 6000, MS + 7000), (1, MS, MS + 8000),
                (3, MS + 8000, MS + 8500), ("", MS + 8500, MS + 8500)]
        f, groups = of(rows, 2 * MS, [(0, 1), (9000, 7), (10000, 7), (MS, 12)])
        m = f["messages"]
        expect("of the group", groups, {"asks": f})
        expect("messages", (m["n"], m["unfinished"]), (8, 0))
        expect("times", {k: round(v, 3) for k, v in m["time"].items()},
               {"mean_us": 3.812, "p50_us": 4, "p95_us": 8, "p99_us": 8, "max_us": 8})
        expect("slowdown", (round(m["slowdown"]["max"], 9), round(m["slowdown"]["mean"], 9)),
               (round(4000 / back, 9), round((23000 / alone + 7500 / back) / 8, 9)))
        expect("bins", [m[c]["n"] for c in ("small", "medium", "large")], [8, 0, 0])
        expect("turns", {k: m["turn"][k] for k in ("n", "p50_us", "max_us")},
               {"n": 4, "p50_us": 8.5, "max_us": 9})
        expect("rounds", {k: f["rounds"][k] for k in ("n", "unfinished", "p50_us", "max_us",
                                                      "drops_later")},
               {"n": 2, "unfinished": 0, "p50_us": 9, "max_us": 9, "drops_later": 5})

        # The last request never came, so nor did its reply, and the round is not over
        rows[7:] = [(1, MS, ""), ("", "", ""), ("", "", "")]
        f, _ = of(rows, 2 * MS, [(0, 0)])
        m = f["messages"]
        expect("unfinished", (m["n"], m["unfinished"], m["time"]["max_us"]), (7, 2, 1000))
        # though its reply was never due
        expect("an unfinished turn", {k: m["turn"][k] for k in ("n", "p50_us", "max_us")},
               {"n": 4, "p50_us": 9, "max_us": 1000})
        expect("an unfinished round", (f["rounds"]["unfinished"], f["rounds"]["max_us"]), (1, 1000))
        f, _ = of(rows, MS - 1, [(0, 0)])
        expect("turns that have not begun", f["messages"]["turn"]["n"], 2)

        # The first round is not over, and the second one is
        rows[2:5] = [(1, 0, ""), ("", "", ""), ("", "", "")]
        rows[7:] = [(1, MS, MS + 8000), (3, MS + 8000, MS + 8500), ("", MS + 8500, MS + 8500)]
        f, _ = of(rows, 2 * MS, [(0, 0), (2 * MS, 9)])
        expect("drops after a first round that is not over",
               (f["rounds"]["unfinished"], f["rounds"]["drops_later"]), (1, None))
    # the round of the second table begins first
    made = run(flow=[{"from": "h1", "to": "h3", "period": "5ms", "count": 1, "size": "1B",
                      "start": at} for at in ("2ms", "1ms")])
    with tempfile.TemporaryDirectory() as d:
        f, _ = of([(0, 2 * MS, 3 * MS), ("", 3 * MS, 3 * MS), (1, MS, MS + 9),
                   ("", MS + 9, MS + 9)], 9 * MS, [(0, 0), (MS + 9, 1), (3 * MS, 7), (9 * MS, 7)])
        expect("drops after the round that began first", f["rounds"]["drops_later"], 6)
    made = run(collective=[{"hosts": "h1..h2", "kind": "alltoall", "size": "200B", "count": 2,
                            "compute": "1ms"}])
    with tempfile.TemporaryDirectory() as d:
        rows = [(0, 0, 300), (1, 0, 400), ("", 400, 400), (0, MS + 400, MS + 900),
                (1, MS + 400, MS + 1000), ("", MS + 1000, MS + 1000)]
        f, _ = of(rows, 2 * MS, [(0, 0)])
        expect("iterations without computing", [f["rounds"][k] for k in ("n", "p50_us", "max_us")],
               [2, 0.6, 0.6])


def paths():
    made = Run(None, {}, Table("f.toml", {
        **SCENARIO, "flow": [{"from": "h1", "to": "h2,h3"}],
        "switch": {s: SCENARIO["switch"] for s in ("s1", "s2", "s3")},
        "trunk": [{"a": "s1", "b": "s2", "delay": "2us"}, {"a": "s3", "b": "s2", "delay": "3us"}],
        "host": [{"name": "h2..h3", "switch": "s3", "delay": "4us"}]}))
    expect("there", [cable.delay for cable in made.path("h1", "h2")], [500, 2000, 3000, 4000])
    expect("to the other host of the table", [cable.delay for cable in made.path("h1", "h3")],
           [500, 2000, 3000, 4000])
    expect("back", [cable.delay for cable in made.path("h2", "h1")], [4000, 3000, 2000, 500])
    # The request of a READ comes from s1, where its target is, on the other way round
    made = Run(None, {}, Table("f.toml", {
        **SCENARIO, "topology": {"shape": "ring", "switches": 3, "delay": "1us"},
        "flow": [{"from": "h1", "to": "h2", "verb": "read", "think": "1us", "count": 1}],
        "host": [{"name": "h1", "switch": "s2"}]}))
    there, back = (made.path(*ends) for ends in (("h1", "h2"), ("h2", "h1")))
    expect("round a ring", ([cable.delay for cable in there], [cable.delay for cable in back]),
           ([500, 1000, 1000, 500], [500, 1000, 500]))
    expect("a READ round a ring", round(completions.alone(there, back, made.flows[0], 100)),
           round(3000 + 4 * 162 * 0.2 + 2000 + 3 * 74 * 0.2))
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "messages.csv"), "w") as f:
            f.write("flow,due_ns,done_ns\n0,0,10000\n")
        found, _ = completions.figures(made, d, MS, {})
        expect("its slowdown", round(found["messages"]["slowdown"]["max"], 4),
               round(10000 / completions.alone(there, back, made.flows[0], 65536), 4))
    # tc delays packets on the way out of a switch only
    made = run(flow=[{"from": "h1", "to": "h2"}], switch={**SCENARIO["switch"], "port": "tc"})
    expect("with tc", [cable.delay for cable in made.path("h1", "h2")], [0, 500])
    expect("its hosts' links", [h.link.delay for h in made.hosts.values()], [500, 500])


def together():
    """The least fairness of flows of which one has delivered all: it counts as long as it runs."""
    made = run(flow=[{"from": "h1", "to": "h3", "size": "1KB", "count": 6},
                     {"from": "h2", "to": "h3", "size": "1KB"}])
    progress = {0: [(n * MS, 1000 * min(n, 6)) for n in range(11)],
                1: [(n * MS, 1000 * n) for n in range(11)]}
    expect("together", list(run_figures._together(made, progress)),
           [(0, [5000, 5000]), (MS, [5000, 5000])])
    made.flows[0].count = 0
    expect("one that starves", list(run_figures._together(made, progress))[-1],
           (5 * MS, [1000, 5000]))


def groups():
    made = run(flow=[{"from": "h1", "to": "h3"}, {"from": "h2", "to": "h3", "group": "a"},
                     {"from": "h4", "to": "h3", "group": "b"}])
    expect("groups", run_figures._groups(made), {"all": [0, 1, 2], "a": [1], "b": [2]})
    made = run(flow=[{"from": "h1", "to": "h3", "group": "a"}])
    expect("no other group", run_figures._groups(made), {"a": [0]})


def cables():
    """Several cables between two switches: a bond at each end, whose links are the ports."""
    made = Run(None, {}, Table("f.toml", {
        **SCENARIO, "flow": [{"from": "h1", "to": "h2"}], "host": [{"name": "h2", "switch": "s2"}],
        "switch": {s: SCENARIO["switch"] for s in ("s1", "s2")},
        "trunk": [{"a": "s1", "b": "s2", "cables": 2}],
        "change": [{"at": "1ms", "cable": "s2.to_s1_2", "rate": "1gbit"},
                   {"at": "2ms", "cable": "s1.to_s2_1", "rate": "0bit"},
                   {"at": "3ms", "host": "h2", "rate": "2gbit"}]}))
    expect("ports", network_script.ports(made),
           [("s2", "h2"), ("s1", "to_s2_1"), ("s2", "to_s1_1"), ("s1", "to_s2_2"), ("s2", "to_s1_2")])
    script = network_script.script(made, "")
    expect("bonds", script.count("type bond mode balance-xor xmit_hash_policy layer3+4"), 2)
    expect("links", script.count("master to_s"), 4)
    expect("cables that become slow, or are cut", network_script.changes(made, "/b").splitlines(), [
        "1000000 ip netns exec s1 /b/dcqcn port set dev to_s2_2 rate 1000000000bit",
        "1000000 ip netns exec s2 /b/dcqcn port set dev to_s1_2 rate 1000000000bit",
        "2000000 ip -n s1 link set to_s2_1 down", "2000000 ip -n s2 link set to_s1_1 down",
        "3000000 ip netns exec s2 /b/dcqcn port set dev h2 rate 2000000000bit",
        "3000000 ip netns exec h2 /b/dcqcn port set dev eth0 rate 2000000000bit"])
    expect("mean rates of ports", run_figures._rates(made), {
        "s1.h1": 40e9, "s2.h2": 13.4e9, "s1.to_s2_1": 8e9, "s2.to_s1_1": 8e9,
        "s1.to_s2_2": 4.9e9, "s2.to_s1_2": 4.9e9})
    samples = object.__new__(run_figures.Samples)
    samples.rows = [[0, 500, 1, 0, 0, 0, 0], [MS, 500, 1, 0, 0, 0, 0]]
    expect("a cable that was cut before", samples.figures(0, [0, MS])["utilisation"], 0)
    made = run(flow=[{"from": "h1", "to": "h2"}], window=["0ms", "10ms"],
               change=[{"at": "6ms", "host": "h2", "rate": "40gbit"},
                       {"at": "2ms", "host": "h2", "rate": "10gbit"}])
    expect("changes in another order", [line.split()[0] for line in
                                        network_script.changes(made, "/b").splitlines()],
           ["2000000"] * 2 + ["6000000"] * 2)
    expect("the link's mean rate", run_figures._rates(made)["s1.h2"], 28e9)
    for n in (0, 17):
        raises("%d cables" % n, "cables", Run, None, {}, Table("f.toml", {
            **SCENARIO, "flow": [{"from": "h1", "to": "h2"}],
            "switch": {s: SCENARIO["switch"] for s in ("s1", "s2")},
            "trunk": [{"a": "s1", "b": "s2", "cables": n}]}))


def paused():
    """A share of the run, though ports stay paused after it."""
    made = run(flow=[{"from": "h1..h2", "to": "h3"}],
               switch={**SCENARIO["switch"], "xoff": "10KB", "headroom": "10KB"},
               change=[{"at": "3ms", "host": "h2", "rate": "10gbit"}])
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "frames.csv"), "w") as f:
            f.write("time_ns,port,prio,quanta\n7,s1.h3,3,65535\n" + "".join("%d,%s,0,%d\n" %
                    (7 + ns, port, quanta)
                    for ns, port, quanta in ((2 * MS, "h1", 65535), (25 * MS // 10, "h1", 0),
                                             (95 * MS // 10, "h1", 65535), (5 * MS, "h3", 65535),
                                             (5 * MS, "s1.h2", 65535), (9 * MS, "s1.h2", 0),
                                             (5 * MS, "s1.h1", 65535), (5 * MS, "s1.h1", 0))))
        found = pauses.figures(made, d, 7)
        expect("paused senders", round(found["paused_share"], 9), 0.05)
        expect("a port", found["paused"]["h1"],
               {"frames": 3, "first_us": 2000, "last_us": 10000, "share": 0.1})
        expect("a priority without PFC", found["paused"]["s1.h3"],
               {"frames": 1, "first_us": None, "last_us": None, "share": 0})
        # a late timer of the wire delivers both frames at once
        expect("a pause that ends when it begins", found["paused"]["s1.h1"]["share"], 0)
        # at a quarter of the rate, a pause lasts four times as long
        expect("a port whose rate has changed", found["paused"]["s1.h2"]["last_us"], 8355.392)
    expect("no pauses", pauses.figures(run(flow=[{"from": "h1", "to": "h2"}]), "/none", 0),
           {"paused_share": 0})


def rules():
    """Values that a run cannot have: what is wrong is said before anything is built."""
    reach = {"name": "a", "from": "1ms", "over": "1ms", "queue": "1KB"}
    for text, tables in (
            ("f.toml: duration: 2592000000000001 is out of range",
             {"duration": "2592000000000001ns"}),
            ("f.toml: sample: must be at most half of the window",
             {"sample": "51us", "window": ["1ms", "1100us"]}),
            ("f.toml: link: rate: 1000000000001 is out of range",
             {"link": {"rate": "1000000000001bit"}}),
            ("f.toml: link: delay: 1000000001 is out of range",
             {"link": {"rate": "1gbit", "delay": "1000000001ns"}}),
            ("f.toml: link: overhead: 1025 is out of range",
             {"link": {"rate": "1gbit", "overhead": 1025}}),
            ("f.toml: switch: buffer: 4294967296 is out of range",
             {"switch": {**SCENARIO["switch"], "buffer": 2**32}}),
            ("f.toml: switch: alpha: inf is not a number",
             {"switch": {**SCENARIO["switch"], "alpha": float("inf")}}),
            ("f.toml: switch: alpha: 129.0 is out of range",
             {"switch": {**SCENARIO["switch"], "alpha": 129}}),
            ("f.toml: switch: detect: 60000000001 is out of range",
             {"switch": {**SCENARIO["switch"], "detect": "60000000001ns"}}),
            ("f.toml: topology: switches: 1000000000 is out of range",
             {"topology": {"shape": "row", "switches": 10**9}}),
            ("f.toml: reach 1: over: must end within the duration",
             {"reach": [{**reach, "from": "9000001ns"}]}),
            ("f.toml: reach 1: group: cannot be combined with queue",
             {"reach": [{**reach, "group": "b"}],
              "flow": [{"from": "h1", "to": "h2", "group": "b"}]}),
            ("f.toml: tcp: streams from the same host must have the same ecn",
             {"tcp": [{"from": "h1", "to": "h2", "ecn": 1}, {"from": "h1", "to": "h2"}]}),
            ("f.toml: reach: two have the same name",
             {"reach": [reach, {**reach, "queue": "2KB"}]}),
            ("f.toml: settings: roce_rp/rpg_ai_rate=\u0663: must be a knob and a number",
             {"settings": {"roce_rp/rpg_ai_rate": "\u0663"}})):
        raises(text, text, lambda tables=tables: run(**{"flow": [{"from": "h1", "to": "h2"}],
                                                        **tables}))


for test in (sizes, periods, turns, load, left_out, collectives, traces, repeatable, mistakes,
             keeps_to_it, waits_for_it, idle_path, figures, paths, together, groups, cables, paused,
             rules):
    test()
sys.exit(status())
