# SPDX-License-Identifier: GPL-2.0
"""From what a scenario saw to figures, a table, and a verdict."""

import json
import os

import scenario


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))]


def jain(rates):
    squares = sum(r * r for r in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else 0.0


def _delta(before, after, *names):
    """How much these counters grew, over all hosts; absent ones count 0."""
    return sum(a.get(n, 0) - b.get(n, 0) for b, a in zip(before, after) for n in names)


def figures(m):
    """The figures of one measurement.

    Queue, drops, utilisation and errors are those of the steady window. Marks
    and CNPs are those of the whole run up to its silence, so that they balance.
    """
    # time ns, bytes, packets, queued packets, queued bytes, drops, marks
    samples = m["samples"]
    window = [s for s in samples if m["from"] <= s[0] / 1e9 <= m["to"]]
    first, last = window[0], window[-1]
    seconds = (last[0] - first[0]) / 1e9
    queue = [s[4] for s in window]
    # Drops in each full second of the window.
    per_second, at = [], first
    for s in window:
        if s[0] - at[0] >= 1e9:
            per_second.append(s[5] - at[5])
            at = s
    before, after, start, end = m["before"], m["after"], m["start"], m["end"]
    names = sorted({n for c in end for n in c})
    return {
        "goodput_mbps": round(sum(m["goodput"]), 2),
        "utilisation": round((last[1] - first[1]) * 8 / seconds / (scenario.RATE_MBPS * 1e6), 4),
        "jain": round(jain(m["goodput"]), 4),
        "drops": last[5] - first[5],
        "drops_startup": first[5] - samples[0][5],
        "seq_errors": _delta(before, after, "out_of_seq_request", "rcvd_seq_err"),
        "retries": _delta(before, after, "completer_retry_err"),
        "queue_p50_bytes": percentile(queue, 50),
        "queue_p99_bytes": percentile(queue, 99),
        "queue_samples": len(queue),
        "ce_marked": samples[-1][6] - samples[0][6],
        "cnp_sent": _delta(start, end, "np_cnp_sent"),
        "cnp_handled": _delta(start, end, "rp_cnp_handled"),
        "cnp_ignored": _delta(start, end, "rp_cnp_ignored"),
        # Beyond what the table shows:
        "cnp_ignored_steady": _delta(before, after, "rp_cnp_ignored"),
        "window_s": round(seconds, 2),
        "drops_per_second": per_second,
        "qp_goodput_mbps": [round(g, 3) for g in m["goodput"]],
        "qps_failed": m["failed"],
        "other_switch_drops": m["other_drops"],
        "hw_counters": {n: _delta(start, end, n) for n in names if _delta(start, end, n)},
    }


def result(seen):
    r = {
        "bottleneck_mbps": scenario.RATE_MBPS,
        "kmin_bytes": scenario.KMIN,
        "kmax_bytes": scenario.KMAX,
        "limit_bytes": scenario.LIMIT,
        "qps": seen["stock"]["qps"],
        "mtu": scenario.MTU,
    }
    r.update((label, figures(m)) for label, m in seen.items())
    return r


def write(r, seen, directory):
    """result.json, and each measurement's samples for plotting."""
    os.makedirs(directory, exist_ok=True)
    for label, m in seen.items():
        with open(os.path.join(directory, label + ".queue"), "w") as f:
            f.write("# seconds, bytes and packets sent, packets and bytes queued, drops, marks\n")
            for s in m["samples"]:
                f.write("%.6f %d %d %d %d %d %d\n" % ((s[0] / 1e9 - m["connected"],) + s[1:]))
    path = os.path.join(directory, "result.json")
    with open(path + ".tmp", "w") as f:
        json.dump(r, f, indent=1)
        f.write("\n")
    os.rename(path + ".tmp", path)
    return path


ROWS = (
    ("goodput, Mb/s", "goodput_mbps", "%.1f"),
    ("bottleneck utilisation", "utilisation", "%.3f"),
    ("Jain fairness index", "jain", "%.3f"),
    ("drops at the switch", "drops", "%d"),
    ("  of the start-up", "drops_startup", "%d"),
    ("sequence errors", "seq_errors", "%d"),
    ("retries", "retries", "%d"),
    ("queue p50, bytes", "queue_p50_bytes", "%d"),
    ("queue p99, bytes", "queue_p99_bytes", "%d"),
    ("queue samples", "queue_samples", "%d"),
    ("CE marks", "ce_marked", "%d"),
    ("CNPs sent", "cnp_sent", "%d"),
    ("CNPs handled", "cnp_handled", "%d"),
    ("CNPs ignored", "cnp_ignored", "%d"),
)


def table(r):
    labels = [label for label in ("stock", "dcqcn") if label in r]
    titles = {"stock": "stock", "dcqcn": "rdma_dcqcn"}
    lines = ["%d QPs of ib_write_bw, MTU %d, into %d Mb/s; Kmin %d, Kmax %d, limit %d bytes" %
             (r["qps"], r["mtu"], r["bottleneck_mbps"], r["kmin_bytes"], r["kmax_bytes"],
              r["limit_bytes"]), ""]
    lines.append("%-24s" % "" + "".join("%13s" % titles[label] for label in labels))
    for title, key, form in ROWS:
        lines.append("%-24s" % title + "".join("%13s" % (form % r[label][key])
                                               for label in labels))
    return "\n".join(lines)


def check(r):
    """What does not hold of what has to; [] when all does."""
    bad = []

    def must(holds, text, *values):
        if not holds:
            bad.append(text % values)

    s = r["stock"]
    must(all(s["drops_per_second"]), "stock rxe did not overrun the switch in every second: %s",
         s["drops_per_second"])
    must(3 * r["kmax_bytes"] <= r["limit_bytes"], "Kmax is more than a third of the buffer")
    must(r["kmax_bytes"] * 8 / r["bottleneck_mbps"] / 1e3 <= 20,
         "Kmax is more than 20 ms of the bottleneck")
    for label in ("stock", "dcqcn"):
        if label in r:
            must(r[label]["queue_samples"] >= 1000, "%s: %d queue samples, not 1000",
                 label, r[label]["queue_samples"])
            must(not r[label]["other_switch_drops"],
                 "%s: the switch lost %d packets elsewhere than at the bottleneck",
                 label, r[label]["other_switch_drops"])
    d = r.get("dcqcn")
    if d is None:
        return bad + ["the module was not measured"]
    must(not d["qps_failed"], "ib_write_bw failed: %s", d["qps_failed"])
    must(d["drops"] == 0, "%d drops at the switch", d["drops"])
    must(d["seq_errors"] == 0, "%d sequence errors", d["seq_errors"])
    must(d["utilisation"] >= 0.90, "utilisation %.3f < 0.90", d["utilisation"])
    must(d["jain"] >= 0.97, "Jain index %.3f < 0.97", d["jain"])
    must(d["queue_p99_bytes"] <= r["kmax_bytes"], "queue p99 %d > Kmax %d",
         d["queue_p99_bytes"], r["kmax_bytes"])
    must(d["ce_marked"] > 0, "nothing was marked")
    must(d["cnp_handled"] > 0, "no CNP was handled")
    must(d["cnp_ignored_steady"] == 0, "%d CNPs ignored while their QPs live",
         d["cnp_ignored_steady"])
    must(d["cnp_sent"] == d["cnp_handled"] + d["cnp_ignored"],
         "%d CNPs sent, but %d handled + %d ignored",
         d["cnp_sent"], d["cnp_handled"], d["cnp_ignored"])
    return bad
