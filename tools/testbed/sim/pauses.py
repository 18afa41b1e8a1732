# SPDX-License-Identifier: GPL-2.0
"""Pauses of ports, computed from recorded PFC frames."""

import csv
import os

from . import dcbport

QUANTUM = 512       # bit times


def _read(out, t0):
    """[(ns, port, priority, quanta)], in order of time; at the same time, in order of arrival"""
    with open(os.path.join(out, "frames.csv")) as f:
        rows = [(int(r["time_ns"]) - t0, r["port"], int(r["prio"]), int(r["quanta"]))
                for r in csv.DictReader(f)]
    return sorted(rows, key=lambda row: row[0])


def _spans(frames, rates, end):
    """[(from, to)] in which a priority of a port is paused; frames: [(ns, quanta)], rates: [(ns,
    bit/s)]. A frame's timer replaces the rest of the previous pause. Its length depends on the rate
    at that time, and a cut cable ends it."""
    out, begin, until = [], None, None
    cuts = [(at, 0) for at, rate in rates if not rate]
    for ns, quanta in [*sorted([*frames, *cuts], key=lambda event: event[0]), (end, 0)]:
        if begin is not None and until < ns:
            out.append((begin, until))
            begin = None
        if quanta and begin is None:
            begin = ns
        if not quanta and begin is not None:
            out.append((begin, ns))
            begin = None
        rate = next((rate for at, rate in reversed(rates) if at <= ns), rates[0][1])
        until = ns + (quanta * QUANTUM * 10**9 // rate if rate else 0)
    return [(a, min(b, end)) for a, b in out if a < end]


def spans(run, out, t0):
    """{(port, priority): [(from, to)]}, when each was paused. Ports ignore frames about priorities
    without PFC."""
    frames, ports = {}, dcbport.pausable(run)
    for ns, port, prio, quanta in _read(out, t0):
        name = ports[port][0]
        if prio in run.switches[run.hosts[name].switch if name in run.hosts else name].pfc:
            frames.setdefault((port, prio), []).append((ns, quanta))
    return {key: _spans(rows, run.rates(key[0], ports[key[0]][2]), run.duration)
            for key, rows in frames.items()}


def _within(found, begin, end):
    return sum(max(0, min(b, end) - max(a, begin)) for a, b in found)


def known(run):
    """Names of the figures, as in figures.known(), except paused_share, which is among those of
    dcbport.py."""
    return {"pfc_per_s": 0,
            "paused": {port: dict.fromkeys(("frames", "first_us", "last_us", "share"), 0)
                       for port in dcbport.pausable(run)}} if dcbport.pauses(run) else {}


def figures(run, out, t0):
    """Figures of each port, the number of frames per second in the window, and the share of the run
    in which senders were paused. Pauses after the run do not count, unlike in ports' counters."""
    if not dcbport.pauses(run):
        return {"paused_share": 0.0} if dcbport.used(run) else {}
    begin, end = run.window
    frames = {(ns, port) for ns, port, _, _ in _read(out, t0)}
    found = spans(run, out, t0)
    paused = {}
    for port in dcbport.pausable(run):
        mine = [s for (name, _), s in found.items() if name == port and s]
        paused[port] = {
            "frames": sum(name == port for _, name in frames),
            "first_us": min((s[0][0] for s in mine), default=None),
            "last_us": max((s[-1][1] for s in mine), default=None),
            # of the priority that is paused longest
            "share": max((_within(s, begin, end) for s in mine), default=0) / (end - begin),
        }
        for key in ("first_us", "last_us"):
            if paused[port][key] is not None:
                paused[port][key] /= 1000
    senders = sorted({(f.src, f.prio) for f in run.flows})      # sums depend on the order
    shares = [_within(found.get(sender, []), 0, run.duration) / run.duration for sender in senders]
    return {"paused_share": sum(shares) / len(shares),
            "pfc_per_s": sum(begin <= ns < end for ns, _ in frames) * 1e9 / (end - begin),
            "paused": paused}
