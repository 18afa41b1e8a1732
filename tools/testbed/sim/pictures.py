# SPDX-License-Identifier: GPL-2.0
"""Converts a run's recordings to CSV files, and draws them with simulation.gp and pauses.gp."""

import csv
import os

from ..core import plots
from ..core.files import replacing
from . import figures, network_script, pauses

POINTS = 1000       # steps across the picture
LINES = 8           # queues in one panel; more cannot be told apart


def _write(path, header, rows):
    with replacing(path, newline="") as f:
        w = csv.writer(f)
        w.writerow(header)
        w.writerows(rows)


def _rates(run, progress, step):
    """Mb/s of each flow, in steps that are at least a few messages long."""
    series = [dict(progress.get(f.id, [])) for f in run.flows]
    times = sorted({t // step * step for s in series for t in s})
    last, rows = [s.get(times[0], 0) if times else 0 for s in series], []
    for t in times[1:]:
        now = [s.get(t, last[i]) for i, s in enumerate(series)]
        rows.append([t / 1e6] + [round((b - a) * 8e3 / step, 3) for a, b in zip(last, now)])
        last = now
    return rows


def _curves(rates):
    """Points of each flow's curve, with a blank line after each curve. With a table instead,
    gnuplot reads all of it for each column, which takes hours with thousands of flows. Points
    between two of the same rate are left out."""
    lines, times = [], [row[0] for row in rates]
    for column in list(zip(*rates))[1:]:
        for i, rate in enumerate(column):
            if not 0 < i < len(column) - 1 or not column[i - 1] == rate == column[i + 1]:
                lines.append("%s,%s" % (times[i], rate))
        lines.append("")
    return lines


def _queue(samples, end, step):
    """Per step: mean and maximum of the queue, marks and drops per ms."""
    rows, bin_rows, previous = [], [], None
    limit = step
    for r in samples.rows:
        if r[0] < 0:
            previous = r
            continue
        while r[0] >= limit and limit <= end:
            if bin_rows:
                first, last = previous or bin_rows[0], bin_rows[-1]
                span = max(last[0] - first[0], 1)       # samples may be further apart than rows
                rows.append([(limit - step) / 1e6, sum(b[4] for b in bin_rows) // len(bin_rows),
                             max(b[4] for b in bin_rows), (last[6] - first[6]) * 1e6 / span,
                             (last[5] - first[5]) * 1e6 / span])
                previous, bin_rows = last, []
            limit += step
        bin_rows.append(r)
    return rows


def _queues(run, out, t0, step, bottleneck):
    """Write queues.csv, with all data queues that ever held a packet, or with the bottleneck's
    queue only if these are too many. Return their names."""
    found = {}
    for switch, port in network_script.ports(run):
        name = "%s.%s" % (switch, port)
        rows = _queue(figures.Samples(os.path.join(out, "queue." + name), t0), run.duration, step)
        if any(r[2] for r in rows):
            found[name] = {r[0]: r[1] for r in rows}
    if len(found) > LINES:
        found = {bottleneck: found[bottleneck]}
    times = sorted(set.intersection(*(set(rows) for rows in found.values()))) if found else []
    _write(os.path.join(out, "queues.csv"), ["time_ms", *found],
           [[t] + [rows[t] for rows in found.values()] for t in times])
    return list(found)


def _paused(run, out, t0):
    """Write paused.csv, the times in which ports were paused: from, to, number of the port. Return
    the ports' names."""
    if not os.path.exists(os.path.join(out, "frames.csv")):
        return []
    found = {}
    for (port, prio), spans in sorted(pauses.spans(run, out, t0).items()):
        name = port if len({f.prio for f in run.flows}) < 2 else "%s prio %d" % (port, prio)
        if spans:
            found[name] = spans
    _write(os.path.join(out, "paused.csv"), ["from_ms", "to_ms", "number"],
           [[a / 1e6, b / 1e6, n] for n, spans in enumerate(found.values(), 1)
            for a, b in spans])
    return list(found)


def _cnps(path, t0, end):
    """CNPs handled per ms, of all hosts together."""
    total = {}
    with open(path) as f:
        for r in csv.DictReader(f):
            t = int(r["time_ns"]) - t0
            total[t] = total.get(t, 0) + int(r.get("rp_cnp_handled", 0))
    times = [t for t in sorted(total) if t <= end]
    return [[max(a, 0) / 1e6, round((total[b] - total[a]) * 1e6 / (b - a), 3)]
            for a, b in zip(times, times[1:])]


def draw(run, out, bottleneck):
    """Write rates.csv, queue.csv, cnps.csv and run.png into a run's directory; and, if any port was
    paused, paused.csv, queues.csv and pauses.png."""
    with open(os.path.join(out, "t0")) as f:
        t0 = round(float(f.read()) * 1e9)
    step = max(run.duration // POINTS, 1000)
    progress = figures.read_progress(os.path.join(out, "progress.csv"))
    tick = network_script.progress_interval(run) * 1000
    rates = _rates(run, progress, tick)
    if not rates:       # all messages arrived at once: no curve
        return
    _write(os.path.join(out, "rates.csv"), ["time_ms"] + ["flow%d" % f.id for f in run.flows],
           rates)
    samples = figures.Samples(os.path.join(out, "queue." + bottleneck), t0)
    _write(os.path.join(out, "queue.csv"),
           ["time_ms", "queue_mean", "queue_max", "marks_per_ms", "drops_per_ms"],
           _queue(samples, run.duration, step))
    _write(os.path.join(out, "cnps.csv"), ["time_ms", "cnps_per_ms"],
           _cnps(os.path.join(out, "counters.csv"), t0, run.duration))
    switch = run.switches[bottleneck.split(".")[0]]
    curve = switch.classes[run.flows[0].prio].curve if switch.port == "dcbport" else switch.curve
    title = "%s: %s" % (run.scenario.title, run.name)
    plots.draw("simulation.gp",
               {"dir": out, "$rates": _curves(rates), "kmin": curve.kmin, "kmax": curve.kmax,
                "end": run.duration / 1e6, "title_text": title}, os.path.join(out, "run.png"))
    paused = _paused(run, out, t0)
    queues = paused and _queues(run, out, t0, step, bottleneck)
    if queues:
        plots.draw("pauses.gp",
                   {"dir": out, "end": run.duration / 1e6, "title_text": title,
                    "queue_names": queues, "paused_names": paused},
                   os.path.join(out, "pauses.png"))
