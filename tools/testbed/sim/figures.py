# SPDX-License-Identifier: GPL-2.0
"""Figures of a run's window, from its recordings."""

import csv
import json
import os

from ..core import samples
from ..core.errors import LabError
from ..core.stats import jain, percentile
from . import completions, dcbport, pauses

ROCE_OVERHEAD = 58      # a middle packet: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4
FAIR = 0.05             # share of the fair rate within which flows have converged
SETTLED = 5_000_000     # ns over which the rate is averaged for that


QUEUE = ("utilisation", "packets", "marked", "marked_share", "drops", "drops_total",
         "drops_first_ms", "drops_last_ms", "queue_mean", "queue_p5", "queue_p50", "queue_p90",
         "queue_p95", "queue_p99", "queue_max", "queue_samples")
COUNTERS = ("cnp_sent", "cnp_handled", "cnp_ignored", "ce_received", "feedback_sent",
            "window_timeouts", "seq_errors_total", "seq_errors", "retries_total", "retries")
FLOWS = ("goodput_mbps", "payload_share", "jain", "slowest_share", "converged_ms", "jain_least",
         "latency_max_us", "flow_errors", "flow_goodput_mbps")
COMPLETION = ("completion_p50_us", "completion_p99_us", "completion_max_us", "completion_jain")
TCP = ("tcp_goodput_mbps", "tcp_jain")


class Samples:
    """A queue's samples from qsample, with the time since t0 in ns."""

    def __init__(self, path, t0):
        self.rows = [[ns - t0, *counts] for ns, *counts in samples.read(path)]

    def within(self, begin, end):
        rows = [r for r in self.rows if begin <= r[0] <= end]
        if len(rows) < 2:
            raise LabError("no samples of a queue between %d and %d ns" % (begin, end))
        return rows

    def figures(self, rate, window):
        rows = self.within(*window)
        first, last = rows[0], rows[-1]
        queue = [r[4] for r in rows]
        packets = last[2] - first[2]
        lossy = [b[0] / 1e6 for a, b in zip(self.rows, self.rows[1:]) if b[5] > a[5]]
        return {
            "utilisation": (last[1] - first[1]) * 8e9 / rate / (last[0] - first[0])
                           if rate else 0.0,
            "packets": packets,
            "marked": last[6] - first[6],
            "marked_share": (last[6] - first[6]) / packets if packets else 0.0,
            "drops": last[5] - first[5],
            "drops_total": self.rows[-1][5],
            "drops_first_ms": min(lossy, default=None),
            "drops_last_ms": max(lossy, default=0.0),
            "queue_mean": sum(queue) / len(queue),
            "queue_p5": percentile(queue, 0.05),
            "queue_p50": percentile(queue, 0.50),
            "queue_p90": percentile(queue, 0.90),
            "queue_p95": percentile(queue, 0.95),
            "queue_p99": percentile(queue, 0.99),
            "queue_max": max(queue),
            "queue_samples": len(queue),
        }


def _counters(path, t0, window):
    """Sums over all hosts: at the end, and in the window."""
    with open(path) as f:
        rows = [{k: v if k == "dev" else int(v) for k, v in r.items()} for r in csv.DictReader(f)]
    for r in rows:
        r["time_ns"] -= t0
    times = sorted({r["time_ns"] for r in rows})

    def at(t):
        return [r for r in rows if r["time_ns"] == t]

    def total(t, *names):
        return sum(r.get(n, 0) for r in at(t) for n in names)

    begin = max([t for t in times if t <= window[0]], default=times[0])
    end = min([t for t in times if t >= window[1]], default=times[-1])
    out = {"cnp_sent": total(times[-1], "np_cnp_sent"),
           "cnp_handled": total(times[-1], "rp_cnp_handled"),
           "cnp_ignored": total(times[-1], "rp_cnp_ignored"),
           "ce_received": total(times[-1], "np_ecn_marked_roce_packets"),
           "feedback_sent": total(times[-1], "np_feedback_sent"),
           "window_timeouts": total(times[-1], "rp_window_timeouts")}
    for key, names in (("seq_errors", ("out_of_seq_request", "rcvd_seq_err")),
                       ("retries", ("completer_retry_err",))):
        out[key + "_total"] = total(times[-1], *names)
        out[key] = total(end, *names) - total(begin, *names)
    return out


def read_progress(path):
    """flow id -> [(ns, bytes)]"""
    out = {}
    with open(path) as f:
        for r in csv.DictReader(f):
            out.setdefault(int(r["id"]), []).append((int(r["time_us"]) * 1000,
                                                     int(r["bytes_total"])))
    return out


def _together(run, progress):
    """(ns since the last start, bytes of each flow in the next SETTLED ns), while all flows run
    that send without a pause. A flow that has delivered its count no longer runs."""
    flows = [f for f in run.flows if not f.scheduled]
    series = [dict(progress.get(f.id, [])) for f in flows]
    start = max((f.start for f in flows), default=0)
    done = [t for f, s in zip(flows, series) if f.count
            for t, total in s.items() if total >= f.count * f.size]
    stop = min((*(f.stop for f in flows), *done), default=0)
    times = sorted(set.intersection(*(set(s) for s in series))) if series else []
    times = [t for t in times if start <= t <= stop]
    for i, t in enumerate(times):
        after = next((u for u in times[i:] if u >= t + SETTLED), None)
        if after is None:
            return
        got = [s[after] - s[t] for s in series]
        if any(got):
            yield t - start, got


def _converged(run, progress):
    """ms from the last start until each flow's rate over the next SETTLED ns is
    within FAIR of the mean of all; None if that never happens."""
    for t, got in _together(run, progress):
        mean = sum(got) / len(got)
        if max(abs(g / mean - 1) for g in got) <= FAIR:
            return t / 1e6
    return None


def _reached(samples, reach, good):
    """ms from reach.begin until good() accepts the mean of the samples, [(ns, total)], over the
    next reach.over ns; None if that never happens."""
    samples = [s for s in samples if s[0] >= reach.begin]
    last = 0
    for i, (t, total) in enumerate(samples):
        last = max(last, i + 1)
        while last < len(samples) and samples[last][0] < t + reach.over:
            last += 1
        if last >= len(samples):
            return None
        if good((samples[last][1] - total) / (samples[last][0] - t)):
            return (t - reach.begin) / 1e6
    return None


def _goodput_samples(run, progress, group):
    series = [dict(progress.get(f.id, [])) for f in run.flows if group in ("", f.group)]
    times = sorted({t for s in series for t in s})
    total, last = [], [0] * len(series)
    for t in times:
        last = [s.get(t, before) for s, before in zip(series, last)]
        total.append((t, sum(last)))
    return total


def _queue_samples(queue):
    """The time integral of a queue, whose differences give its mean."""
    out, total = [], 0
    for a, b in zip(queue.rows, queue.rows[1:]):
        total += a[4] * (b[0] - a[0])
        out.append((b[0], total))
    return out


def _reaches(run, progress, queue):
    out = {}
    for r in run.reaches:
        if r.goodput:
            out[r.name] = _reached(_goodput_samples(run, progress, r.group), r,
                                   lambda mean, r=r: mean * 8e9 >= r.goodput)
        else:
            out[r.name] = _reached(_queue_samples(queue), r,
                                   lambda mean, r=r: mean <= r.queue)
    return out


def _completion(run, flows, group):
    """The time from their starts in which the group's flows with a count delivered all messages;
    nothing if one of them did not, or none has a count."""
    took = []
    for f in run.flows:
        if f.count and group in ("", f.group):
            if flows[f.id]["messages"] < f.count:
                return {}
            took.append(flows[f.id]["last_us"] - f.start / 1e3)
    if not took:
        return {}
    return {"completion_p50_us": percentile(took, 0.5), "completion_p99_us": percentile(took, 0.99),
            "completion_max_us": max(took), "completion_jain": jain([1 / t for t in took])}


def _groups(run):
    """The ids of each group's flows. If some flows have no group, "all" has all flows."""
    return {name: [f.id for f in run.flows if name in ("all", f.group)]
            for name in dict.fromkeys(f.group or "all" for f in run.flows)}


def _tcp(run, out, t0):
    """The goodput of TCP streams in the window."""
    if not run.streams:
        return {}
    begin, end = run.window
    got = []
    for n in range(len(run.streams)):
        with open(os.path.join(out, "tcp.%d" % n)) as f:
            rows = [line.split() for line in f]
        rows = [(int(r[0]) - t0, int(r[1])) for r in rows if len(r) == 2]
        within = [r for r in rows if begin <= r[0] <= end]
        if len(within) < 2:
            raise LabError("no samples of TCP between %d and %d ns" % (begin, end))
        (first, before), (last, after) = within[0], within[-1]
        got.append((after - before) * 8e3 / (last - first))
    return {"tcp_goodput_mbps": sum(got), "tcp_jain": jain(got)}


def _rates(run):
    """bit/s of each port, on average over the window; 0 if its cable is cut before the window."""
    links = {"%s.%s" % (h.switch, h.name): h.link for h in run.hosts.values()}
    for t in run.trunks:
        links.update((".".join(end), t.link) for cable in t.ports() for end in cable)
    return {port: run.mean_rate(port, link) for port, link in links.items()}


def known(run):
    """Names of all figures that a run may have, with the names within them. Figures of completions
    are missing if a flow does not finish."""
    def names(*lists):
        return {name: 0 for some in lists for name in some}

    def completion(group):
        return COMPLETION if any(f.count and group in ("", f.group) for f in run.flows) else ()

    scheduled, by_group = completions.known(run)
    return {**names(("bottleneck",), QUEUE, FLOWS, COUNTERS, completion(""),
                    TCP if run.streams else ()), **scheduled,
            "reach_ms": names(r.name for r in run.reaches),
            "group": {g or "all": {**names(("goodput_mbps", "jain"), completion(g)),
                                   **by_group.get(g or "all", {})}
                      for g in {f.group for f in run.flows}},
            "port": {port: names(QUEUE) for port in _rates(run)},
            **dcbport.known(run), **pauses.known(run)}


def _unknown(found, names, path=""):
    """Names of figures that known() does not have."""
    return [text for k, v in found.items() for text in (
        [path + k] if k not in names else
        _unknown(v, names[k], path + k + ".") if isinstance(v, dict) else [])]


def figures(run, out):
    """All figures of a run whose recordings are in a directory."""
    with open(os.path.join(out, "t0")) as f:
        t0 = round(float(f.read()) * 1e9)
    with open(os.path.join(out, "flows.json")) as f:
        traffic = json.load(f)
    flows = {f["id"]: f for f in traffic["flows"]}
    rates = _rates(run)
    ports, queues = {}, {}
    for name in sorted(os.listdir(out)):
        if name.startswith("queue.") and name != "queue.csv":   # a picture's
            port = name[len("queue."):]
            queues[port] = Samples(os.path.join(out, name), t0)
            ports[port] = queues[port].figures(rates[port], run.window)
    seconds = (run.window[1] - run.window[0]) / 1e9
    goodput = {f.id: flows[f.id]["window_bytes"] * 8 / 1e6 / seconds for f in run.flows}
    bottleneck = max(ports, key=lambda p: ports[p]["utilisation"])
    groups = {name: [goodput[i] for i in ids] for name, ids in _groups(run).items()}
    r = {"bottleneck": bottleneck, **ports[bottleneck]}
    mtu = run.flows[0].mtu
    progress = read_progress(os.path.join(out, "progress.csv"))
    best = rates[bottleneck] / 1e6 * mtu / (mtu + ROCE_OVERHEAD)
    r.update({
        "goodput_mbps": sum(goodput.values()),
        "payload_share": sum(goodput.values()) / best if best else 0.0,
        "jain": jain(list(goodput.values())),
        "slowest_share": min(goodput.values()) / (sum(goodput.values()) / len(goodput))
                         if any(goodput.values()) else 0.0,
        "converged_ms": _converged(run, progress),
        "jain_least": min((jain(got) for _, got in _together(run, progress)), default=None),
        "reach_ms": _reaches(run, progress, queues[bottleneck]),
        "latency_max_us": max((f["latency_us"]["max"] for f in flows.values()
                               if f["latency_us"]), default=None),
        "flow_errors": sum(len(f["errors"]) for f in flows.values()),
    })
    r.update(_completion(run, flows, ""))
    scheduled, by_group = completions.figures(run, out, round(traffic["end_us"] * 1e3), queues)
    r.update(scheduled)
    r.update(_counters(os.path.join(out, "counters.csv"), t0, run.window))
    r.update(dcbport.figures(run, out))
    r.update(pauses.figures(run, out, t0))
    r["group"] = {g: {"goodput_mbps": sum(v), "jain": jain(v),
                      **_completion(run, flows, "" if g == "all" else g),
                      **by_group.get(g, {})}
                  for g, v in groups.items()}
    r.update(_tcp(run, out, t0))
    r["port"] = ports
    r["flow_goodput_mbps"] = [round(goodput[f.id], 3) for f in run.flows]
    unknown = _unknown(r, known(run))
    assert not unknown, "known() lacks " + ", ".join(unknown)
    return r


def differences(a, b, path=""):
    """Names of figures that differ between two simulations of a run."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in sorted(set(a) | set(b))
                for d in differences(a.get(k), b.get(k), "%s.%s" % (path, k) if path else k)]
    return [] if a == b else ["%s: %s and %s" % (path, a, b)]
