# SPDX-License-Identifier: GPL-2.0
"""The bench's table: figures and goals."""

FLAT = 0.10         # goal for the growth of the cost per packet, from one flow to the most
PACING = 0.005
BYTES = 512
CONTEXT_BYTES = 1024
CONTEXT = 0.08
CONTEXT_LIMITED = 0.12
JANITOR = 0.01


def _rows(r):
    """(what, figure, goal, whether it is met; None without a goal)."""
    rows = []

    def row(what, figure, goal="", met=None):
        rows.append((what, figure, goal, met))

    def at_most(what, key, limit, form):
        row(what, form % r[key], "<= " + form % limit, r[key] <= limit)

    if "rxe_insns" in r:
        row("rxe alone, instructions per packet", "%d" % r["rxe_insns"])
        row("two empty hooks", "%d" % r["hooks_insns"])
        row("module loaded, no congestion", "%d" % r["idle_insns"])
        at_most("  over the empty hooks", "idle_over_hooks", 150, "%d")
        at_most("  over rxe", "idle_overhead", 0.024, "%.4f")
        row("profile auto, start over", "%d" % r["settled_insns"])
        at_most("  over rxe", "settled_overhead", 0.026, "%.4f")
        row("profile auto, in a start", "%d" % r["starting_insns"])
        at_most("  over rxe", "starting_overhead", 0.04, "%.4f")
        row("limited, no packet waits", "%d" % r["limited_passing_insns"])
        row("  and the path is measured", "%d" % r["limited_measured_insns"])
        row("limited, %.1f packets per timer" % r["packets_per_timer_batched"],
            "%d" % r["limited_batched_insns"])
        at_most("  over rxe", "limited_overhead_batched", 0.032, "%.4f")
        row("limited, %.1f packets per timer" % r["packets_per_timer_single"],
            "%d" % r["limited_single_insns"])
        at_most("  over rxe", "limited_overhead_single", 0.205, "%.4f")
        row("CE in to CNP out, instructions", "%d" % r["ce_to_cnp_insns"])
        row("CNP in to rate cut, instructions", "%d" % r["cnp_to_cut_insns"])
        flows = r["flows"]
        for n, insns in flows.items():
            row("%s limited flows, instructions per packet" % n, "%d" % insns)
        spread = max(flows.values()) / min(flows.values()) - 1
        row("  from least to most", "%.4f" % spread, "<= %.4f" % FLAT, spread <= FLAT)
        for n, share in r["janitor_share"].items():
            row("janitor of %s QPs, share of a CPU of 1 GHz" % n, "%.5f" % share,
                "<= %.5f" % JANITOR, share <= JANITOR)
        at_most("bytes per flow", "bytes_per_flow", BYTES, "%d")
        for control in ("window", "both"):
            key = "context_%s_open_" % control
            row("a context, %s, never full" % control, "%d" % r[key + "insns"])
            at_most("  over rxe", key + "overhead", CONTEXT, "%.4f")
        row("a context, 30 KB of window, never full", "%d" % r["context_window_small_insns"])
        row("  full, %.2f of packets wait" % r["context_waited_share"],
            "%d" % r["context_window_limited_insns"])
        at_most("  over rxe", "context_window_limited_overhead", CONTEXT_LIMITED, "%.4f")
        at_most("bytes per context", "bytes_per_context", CONTEXT_BYTES, "%d")
    for name, f in r.get("algorithms", {}).items():
        row("algorithm %s, %.2f of packets wait, %.3f ACKs" % (name, f["waited_share"], f["acks"]),
            "%d" % f["insns"])
    if "switch_port_prio_bytes" in r:
        row("tbf, prio, RED and bfifo, instructions per packet", "%d" % r["switch_stack"])
        at_most("a port in a switch, with PFC", "switch_port", r["switch_stack"], "%d")
        row("  and flows counted", "%d" % r["switch_port_flows"])
        row("  and a link of 40 Gb/s", "%d" % r["switch_port_rate"])
        row("  bytes per port and priority", "%d" % r["switch_port_prio_bytes"])
    if "ce_to_cnp_ns" in r:
        row("CE in to CNP out, ns", "%d" % r["ce_to_cnp_ns"])
        row("CNP in to the last packet too early, ns", "%d" % r["cnp_to_slower_ns"])
        row("  packets too early", "%d" % r["packets_too_early"])
    for rate, f in r.get("pacing", {}).items():
        row("pacing at %s Mb/s, error" % rate, "%+.6f" % f["error"], "<= %.4f" % PACING,
            abs(f["error"]) <= PACING)
        row("  largest burst, packets; gap, us (ideal)",
            "%.1f; %.2f (%.2f)" % (f["burst_packets"], f["gap_us"], f["ideal_gap_us"]))
    return rows


def show(result):
    """Print the table; return the number of missed goals."""
    rows = _rows(result)
    width = max(len(what) for what, *_ in rows)
    missed = 0
    print()
    for what, figure, goal, met in rows:
        verdict = "" if met is None else "yes" if met else "MISSED"
        missed += met is False
        print(("%-*s  %22s  %-10s %s" % (width, what, figure, goal, verdict)).rstrip())
    print()
    return missed
