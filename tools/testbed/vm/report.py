# SPDX-License-Identifier: GPL-2.0
"""Makes figures, CSV, picture and table from the recordings of runs."""

import csv
import os

from ..core import plots, samples
from ..core.command import write_json
from ..core.errors import LabError
from ..core.files import replacing
from ..core.stats import jain, percentile
from .capture import Capture, pfc_times
from .measure import SAMPLE_US

STEP = 0.1                  # s; step of the CSV and the picture


def _delta(before, after, *names):
    """How much these counters grew, over all hosts; missing ones count as 0."""
    return sum(a.get(n, 0) - b.get(n, 0) for b, a in zip(before, after) for n in names)


QUEUE = ("utilisation", "drops", "drops_startup", "drops_total", "queue_mean_bytes",
         "queue_p50_bytes", "queue_p99_bytes", "queue_max_bytes", "queue_samples", "presence",
         "ce_marked", "marked_share", "window_s", "drops_per_second", "least_drops_in_a_second",
         "kmin_bytes", "kmax_bytes", "kmax_ms", "limit_bytes", "bottleneck_mbps")
FIGURES = ("goodput_mbps", "jain", "least_qp_share", "bottleneck", "seq_errors", "retries",
           "ce_received", "ce_delivered", "cnps_delivered", "cnp_sent", "cnp_handled",
           "cnp_ignored", "cnp_ignored_steady", "qps", "qps_lost", "qps_failed",
           "qp_goodput_mbps", "other_switch_drops", "pfc_frames", "pfc_decoded", "capture_lost",
           "tdf", "host_late_ms", "switch_late_ms", "stolen", "program_s")


class Queue:
    """A port's samples: s since the QPs were released, bytes, packets, queued
    packets, queued bytes, drops, marks."""

    def __init__(self, recording, port):
        offset = recording.epoch[port.switch][0] + recording.zero
        self.port = port
        self.samples = [(ns / 1e9 - offset, *counts)
                        for ns, *counts in samples.read(recording.queue_file(port))]
        window = [t - recording.zero for t in recording.window]
        self.window = [s for s in self.samples if window[0] <= s[0] <= window[1]]
        if len(self.window) < 2:
            raise LabError("%s: there are no samples of its queue" % port.name)
        first, last = self.window[0], self.window[-1]
        seconds = last[0] - first[0]
        queue = [s[4] for s in self.window]
        # drops in each full second of the window
        per_second, at = [], first
        for s in self.window:
            if s[0] - at[0] >= 1:
                per_second.append(s[5] - at[5])
                at = s
        # late by more than a period: the sampler's guest had to wait for a CPU
        gaps = [b[0] - a[0] for a, b in zip(self.window, self.window[1:])]
        late = sum(g - SAMPLE_US * 1e-6 for g in gaps if g > 2 * SAMPLE_US * 1e-6)
        packets = last[2] - first[2]
        self.figures = {
            "utilisation": round((last[1] - first[1]) * 8 / seconds / port.rate, 4),
            "drops": last[5] - first[5],
            "drops_startup": first[5] - self.samples[0][5],
            "drops_total": self.samples[-1][5] - self.samples[0][5],
            "queue_mean_bytes": round(sum(queue) / len(queue)),
            "queue_p50_bytes": percentile(queue, 0.50),
            "queue_p99_bytes": percentile(queue, 0.99),
            "queue_max_bytes": max(queue),
            "queue_samples": len(queue),
            "presence": round(1 - late / seconds, 3),
            "ce_marked": self.samples[-1][6] - self.samples[0][6],
            "marked_share": round((last[6] - first[6]) / packets, 5) if packets else 0.0,
            "window_s": round(seconds, 2),
            "drops_per_second": per_second,
            "least_drops_in_a_second": min(per_second, default=0),
            "kmin_bytes": port.kmin,
            "kmax_bytes": port.kmax,
            "kmax_ms": port.kmax * 8e3 / port.rate,
            "limit_bytes": port.buffer,
            "bottleneck_mbps": port.rate / 1e6,
        }


class _Any(dict):
    """Figures of any names: the counters depend on the guests' kernel."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return 0


def known(run):
    """Names of all figures that a run may have, with those within them."""
    groups = {f.group for f in run.flows} - {""}
    out = {**dict.fromkeys((*QUEUE, *FIGURES), 0), "hw_counters": _Any()}
    if groups:
        out["group"] = {g: dict.fromkeys(("goodput_mbps", "jain", "after_mbps"), 0) for g in groups}
    if len(run.queues) > 1:
        out["port"] = {p.name: dict.fromkeys(QUEUE, 0) for p in run.queues}
    return out


class Result:
    """A recording and its figures."""

    def __init__(self, recording):
        r = self.recording = recording
        self.run = r.run
        self.queues = [Queue(r, p) for p in self.run.queues]
        self.captures = [Capture(r.pcap_file(p), r.epoch[p.switch][1] + r.zero)
                         for p in self.run.targets]
        self.pfc = [t for p in self.run.pausing
                    for t in pfc_times(r.pfc_file(p), r.epoch[p.switch][1] + r.zero)]
        host = {h.address: h.name for h in self.run.topology.hosts.values()}
        host.update({_long(h.address6): h.name for h in self.run.topology.hosts.values()})
        self.qps = {}       # "h1>h3:17": goodput of that QP
        for c in self.captures:
            for qp in sorted(c.qps.values(), key=lambda q: (q.src, q.qpn)):
                name = "%s>%s:%d" % (host.get(qp.src, qp.src), host.get(qp.dst, qp.dst), qp.qpn)
                self.qps[name] = qp
        self.bottleneck = max(self.queues, key=lambda q: q.figures["utilisation"])
        self.figures = self._figures()

    def _figures(self):
        r = self.recording
        begin, end = (t - r.zero for t in r.window)
        rate = {name: sum(b for t, b in qp.taken if begin <= t < end) * 8e-6 / (end - begin)
                for name, qp in self.qps.items()}
        rates = self._with_silent(rate.values(), self.run.flows)
        names = sorted({n for c in r.end for n in c})
        groups = self._groups()
        figures = {
            # Window: queue, drops, utilisation, errors, goodput. Whole run up
            # to its silence: marks and CNPs, so that they balance.
            "goodput_mbps": round(sum(rates), 2),
            "jain": round(jain(rates), 4),
            "least_qp_share": round(min(rates, default=0) * len(rates) / (sum(rates) or 1), 4),
            **self.bottleneck.figures,
            "bottleneck": self.bottleneck.port.name,
            "seq_errors": _delta(r.before, r.after, "out_of_seq_request", "rcvd_seq_err"),
            "retries": _delta(r.before, r.after, "completer_retry_err"),
            "ce_received": _delta(r.start, r.end, "np_ecn_marked_roce_packets"),
            "ce_delivered": sum(len(c.ce) for c in self.captures),
            "cnps_delivered": sum(len(c.cnps) for c in self.captures),
            "cnp_sent": _delta(r.start, r.end, "np_cnp_sent"),
            "cnp_handled": _delta(r.start, r.end, "rp_cnp_handled"),
            "cnp_ignored": _delta(r.start, r.end, "rp_cnp_ignored"),
            "cnp_ignored_steady": _delta(r.before, r.after, "rp_cnp_ignored"),
            "qps": sum(f.qps for f in self.run.flows),
            "qps_lost": len(r.lost),
            "qps_failed": r.lost,
            "qp_goodput_mbps": [round(v, 3) for v in rates],
            "other_switch_drops": r.other_drops,
            "pfc_frames": r.pfc_frames,
            "pfc_decoded": len(self.pfc),
            "capture_lost": r.capture_lost,
            "tdf": r.tdf,
            "program_s": round(r.program_seconds, 2),
            **(r.lateness.figures if r.lateness else {}),
            "hw_counters": {n: _delta(r.start, r.end, n) for n in names
                            if _delta(r.start, r.end, n)},
        }
        groups.pop("", None)
        if groups:
            figures["group"] = {g: self._group(g, mine, rate, end) for g, mine in groups.items()}
        if len(self.queues) > 1:
            figures["port"] = {q.port.name: q.figures for q in self.queues}
        unknown = set(figures) - set(known(self.run)) | \
            set(self.bottleneck.figures) - set(QUEUE)
        assert not unknown, "known() lacks " + ", ".join(sorted(unknown))
        return figures

    def _groups(self):
        """Names of each group's QPs, each once, even if several of its flows have the same
        hosts."""
        groups = {}
        for f in self.run.flows:
            mine = groups.setdefault(f.group, [])
            mine += [n for n, qp in self.qps.items() if n not in mine and
                     n.startswith("%s>%s:" % (f.src, f.dst)) and qp.transport == f.transport]
        return groups

    def _with_silent(self, rates, flows):
        """These rates, and 0 for each QP of perftest that delivered nothing in the whole run."""
        wanted = 0 if self.recording.program_seconds else sum(f.qps for f in flows)
        return [*rates, *[0.0] * (wanted - len(rates))]

    def _group(self, name, names, rate, window_end):
        rates = self._with_silent([rate[n] for n in names],
                                  [f for f in self.run.flows if f.group == name])
        figures = {"goodput_mbps": round(sum(rates), 2), "jain": round(jain(rates), 4)}
        # not from the window's end on, because QPs that leave take a moment
        end = self.recording.seconds
        begin = (window_end + end) / 2
        if end - begin > 1:
            figures["after_mbps"] = round(sum(b for n in names for t, b in self.qps[n].taken
                                              if begin <= t < end) * 8e-6 / (end - begin), 2)
        return figures

    def series(self):
        """Everything that is drawn: [(column, [value per STEP])], None for no value."""
        steps = int(self.recording.seconds / STEP)
        per_s = 1 / STEP

        def counted(times):
            out = [0] * steps
            for t in times:
                if 0 <= t < steps * STEP:
                    out[int(t / STEP)] += 1
            return [n * per_s for n in out]

        columns = []
        for q in self.queues:
            held, most, marks, drops = ([None] * steps for _ in range(4))
            bins, previous = {}, None
            for s in q.samples:
                bins.setdefault(int(s[0] // STEP), []).append(s)
            for i, mine in sorted(bins.items()):
                last = mine[-1]
                if 0 <= i < steps:
                    held[i] = round(sum(s[4] for s in mine) / len(mine))
                    most[i] = max(s[4] for s in mine)
                    if previous:
                        marks[i] = (last[6] - previous[6]) * per_s
                        drops[i] = (last[5] - previous[5]) * per_s
                previous = last
            n = q.port.name
            columns += [("queue_mean " + n, held), ("queue_max " + n, most),
                        ("marks_per_s " + n, marks), ("drops_per_s " + n, drops)]
        columns.append(("cnps_per_s", counted(t for c in self.captures for t in c.cnps)))
        columns.append(("pfc_per_s", counted(self.pfc)))
        for name, qp in self.qps.items():
            out = [0] * steps
            for t, b in qp.taken:
                if 0 <= t < steps * STEP:
                    out[int(t / STEP)] += b
            columns.append(("mbps " + name, [round(b * 8e-6 * per_s, 3) for b in out]))
        return columns


def _long(address6):
    """fd00::7 in the spelling of the capture"""
    head, _, tail = address6.partition("::")
    return ":".join([head] + ["0"] * 6 + [tail])


# keys of result.json, beside the names of runs
FIRST = ("bottleneck_mbps", "kmin_bytes", "kmax_bytes", "limit_bytes", "qps")
KEYS = ("scenario", "title", *FIRST, "mtu")


def write(scenario, results, directory):
    """Write result.json, SCENARIO.png and each RUN.csv; return the paths of the first two."""
    first = results[0].figures
    summary = {"scenario": scenario.name, "title": scenario.title,
               **{key: first[key] for key in FIRST}, "mtu": scenario.runs[0].flows[0].mtu}
    summary.update((r.run.name, r.figures) for r in results)
    path = os.path.join(directory, "result.json")
    write_json(path, summary)
    return path, draw(scenario.title, results, os.path.join(directory, scenario.name + ".png"))


def draw(title, results, png):
    """Draw runs below each other on the same axes, and write what is drawn as CSV."""
    directory = os.path.dirname(png)
    tops = {"rate": 0, "queue": 0, "events": 0}
    drawn = {key: [] for key in ("name", "csv", "kmin", "kmax", "qps", "ports")}
    for r in results:
        columns = r.series()
        path = os.path.join(directory, r.run.name + ".csv")
        with replacing(path, newline="") as f:
            w = csv.writer(f)
            w.writerow(["time_s"] + [name for name, _ in columns])
            for step in range(len(columns[0][1])):
                w.writerow([round((step + 0.5) * STEP, 3)] +
                           ["" if c[step] is None else c[step] for _, c in columns])
        for name, values in columns:
            kind = "rate" if name.startswith("mbps") else \
                "queue" if name.startswith("queue") else "events"
            tops[kind] = max([tops[kind]] + [v for v in values if v is not None])
        tops["queue"] = max(tops["queue"], r.figures["kmax_bytes"])
        for key, value in (("name", TITLES.get(r.run.name, r.run.name)), ("csv", path),
                           ("kmin", r.figures["kmin_bytes"]), ("kmax", r.figures["kmax_bytes"]),
                           ("qps", len(r.qps)),
                           ("ports", " ".join(q.port.name for q in r.queues))):
            drawn[key].append(value)
    # with room for the keys
    room = {"rate": 1.1, "queue": 1.25, "events": 6}
    return plots.draw("lab.gp", {
        **drawn, "runs": len(results), "end": max(r.recording.seconds for r in results),
        "heading": title,
        "pfc": int(any(r.pfc for r in results)),
        **{"top_" + kind: float("%g" % (room[kind] * top or 10)) for kind, top in tops.items()}}, png)


ROWS = (
    ("goodput, Mb/s", "goodput_mbps", "%.1f"),
    ("bottleneck utilisation", "utilisation", "%.3f"),
    ("Jain fairness index", "jain", "%.3f"),
    ("drops in the window", "drops", "%d"),
    ("  before the window", "drops_startup", "%d"),
    ("sequence errors", "seq_errors", "%d"),
    ("retries", "retries", "%d"),
    ("queue p50, bytes", "queue_p50_bytes", "%d"),
    ("queue p99, bytes", "queue_p99_bytes", "%d"),
    ("queue samples", "queue_samples", "%d"),
    ("timers late, hosts, ms", "host_late_ms", "%.1f"),
    ("timers late, switch, ms", "switch_late_ms", "%.1f"),
    ("CE marks", "ce_marked", "%d"),
    ("CNPs sent", "cnp_sent", "%d"),
    ("CNPs handled", "cnp_handled", "%d"),
    ("CNPs ignored", "cnp_ignored", "%d"),
)
# rows of the table that need only the switch
PORT_ROWS = tuple(r for r in ROWS if r[1] in (
    "goodput_mbps", "utilisation", "jain", "drops", "queue_p50_bytes", "queue_p99_bytes",
    "ce_marked")) + (("CNPs", "cnps_delivered", "%d"),)
TITLES = {"dcqcn": "rdma_dcqcn"}


def table(title, results, rows=ROWS):
    def each(form, value):
        return "/".join(dict.fromkeys(form % value(r) for r in results))

    lines = [title, "%s QPs into %s Mb/s; Kmin %s, Kmax %s, limit %s bytes" % (
        each("%d", lambda r: len(r.qps)), each("%g", lambda r: r.figures["bottleneck_mbps"]),
        *(each("%d", lambda r: r.figures[key]) for key in ("kmin_bytes", "kmax_bytes", "limit_bytes"))),
        ""]
    names = [TITLES.get(r.run.name, r.run.name) for r in results]
    width = max([13] + [len(n) + 2 for n in names])
    lines.append("%-24s" % "" + "".join(n.rjust(width) for n in names))
    shown = [(text, [form % r.figures[key] for r in results]) for text, key, form in rows]
    if any(r.pfc for r in results):
        shown.append(("PFC frames", ["%d" % r.figures["pfc_frames"] for r in results]))
    if any(r.figures["capture_lost"] for r in results):     # goodput and CNPs lack them
        shown.append(("packets not captured", ["%d" % r.figures["capture_lost"] for r in results]))
    if any(r.figures["program_s"] for r in results):
        shown.insert(0, ("slowest client, s", ["%.1f" % r.figures["program_s"] for r in results]))
    # runs may have different flows and ports
    for text, form, kind, key in (("goodput of \"%s\"", "%.1f", "group", "goodput_mbps"),
                                  ("marks at %s", "%d", "port", "ce_marked")):
        parts = [r.figures.get(kind, {}) for r in results]
        shown += [(text % name, [form % p[name][key] if name in p else "-" for p in parts])
                  for name in dict.fromkeys(name for p in parts for name in p)]
    for text, values in shown:
        lines.append("%-24s" % text + "".join(v.rjust(width) for v in values))
    return "\n".join(lines)
