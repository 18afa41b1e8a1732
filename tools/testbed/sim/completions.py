# SPDX-License-Identifier: GPL-2.0
"""How long the messages of the schedule took, and how much longer than alone.

A message's time begins when it is due and includes the wait for its turn. It ends with the
receiver's completion or, for RC WRITE, READ and atomic operations, with the requester's, which the
last ACK or the data itself brings. Its slowdown is this time divided by that of the same message
alone on the idle path, which is calculated from rates, delays and bytes.
"""

import csv
import os

from ..core.stats import percentile

HEADERS = 58        # of a middle packet: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4
RETH, AETH, IMMEDIATE, DETH = 16, 4, 4, 8
ATOMIC, ATOMIC_ACK = 28, 8
CLASSES = (("small", 0, 10**5), ("medium", 10**5, 10**6), ("large", 10**6, 1 << 31))


def crossing(links, frames, full, last):
    """ns that frames need to cross links one after the other, if the links carry nothing else. All
    frames but the last have full bytes, and the last one has no more.

    No link waits while it could send. So the time is the maximum over m of this sum: the first
    frame crosses m links, all others but the last cross the slowest of these, and the last frame
    crosses link m and the remaining ones."""
    def took(size, link):
        return (size + link.overhead) * 8e9 / link.rate

    delays = sum(link.delay for link in links)
    if frames == 1:
        return delays + sum(took(last, link) for link in links)
    return delays + max(
        sum(took(full, link) for link in links[:m]) +
        (frames - 2) * max(took(full, link) for link in links[:m]) +
        sum(took(last, link) for link in links[m - 1:])
        for m in range(1, len(links) + 1))


def alone(there, back, flow, size):
    """ns that a message of a flow takes alone. there, back: the links from its source to its
    destination, and the links back, which differ in a ring."""
    frames = -(-size // flow.mtu)
    rest = size - (frames - 1) * flow.mtu
    full, last = HEADERS + flow.mtu, HEADERS + rest + -rest % 4
    first = 0       # bytes that only the first packet has
    if flow.verb == "read":
        last, first = last + AETH, AETH
    elif flow.verb == "write":
        first = RETH
        if frames == 1:
            last += RETH
    elif flow.verb == "atomic":     # the operands are in the header
        last = HEADERS + ATOMIC
    if flow.transport != "rc":
        last += IMMEDIATE + (DETH if flow.transport == "ud" else 0)
    out = crossing(there, frames, full, last)
    if frames > 1 and first:
        out += first * 8e9 / min(link.rate for link in there)
    if flow.verb == "read":
        out += crossing(back, 1, 0, HEADERS + RETH)
    elif flow.verb == "write" and flow.transport == "rc":
        out += crossing(back, 1, 0, HEADERS + AETH)
    elif flow.verb == "atomic":
        out += crossing(back, 1, 0, HEADERS + AETH + ATOMIC_ACK)
    return out


def read(path):
    """[(the flow's id, when due, when done)] by message; None where there is none."""
    with open(path) as f:
        return [[int(r[key]) if r[key] else None for key in ("flow", "due_ns", "done_ns")]
                for r in csv.DictReader(f)]


def _spread(values, unit):
    """Mean, maximum and percentiles of values, with a unit in their names."""
    return {"mean" + unit: sum(values) / len(values), "max" + unit: max(values),
            **{"p%d%s" % (p, unit): percentile(values, p / 100) for p in (50, 95, 99)}}


def _times(taken):
    """Figures of [(us, slowdown)]."""
    if not taken:
        return {"n": 0}
    return {"n": len(taken), "time": _spread([t for t, _ in taken], "_us"),
            "slowdown": _spread([s for _, s in taken], "")}


def _messages(run, plan, came, end, group):
    """Figures of a group's messages. One that has not come counts with its time so far."""
    ideal, taken, turns, left = {}, [], [], 0
    for m, (_, due, done) in zip(plan.messages, came):
        if not m.flows or group not in ("", run.flows[m.flows[0]].group):
            continue
        left += done is None
        until = end if done is None else done
        asked = came[m.ask][1] if m.ask is not None else None
        # also if the request never came, so that no reply has been due
        if asked is not None and asked <= end:
            turns.append((until - asked) / 1e3)
        if due is None or due > end:
            continue
        f = run.flows[m.flows[0]]
        key = m.flows[0], m.size
        if key not in ideal:
            ideal[key] = alone(run.path(f.src, f.dst), run.path(f.dst, f.src), f, m.size)
        taken.append((m.size, (until - due) / 1e3, (until - due) / ideal[key]))
    out = {"unfinished": left, **_times([t[1:] for t in taken])}
    for name, above, most in CLASSES:
        out[name] = _times([t[1:] for t in taken if above < t[0] <= most])
    if turns:
        out["turn"] = {"n": len(turns), **_spread(turns, "_us")}
    return out


def _rounds(plan, came, end, group, ports):
    """How long a group's rounds took, and how many packets were dropped after the first one ended.
    The drops are undefined if it did not end."""
    taken, left, begun = [], 0, []
    for r in plan.rounds:
        if group not in ("", r.group):
            continue
        begin = r.at if r.after is None else came[r.after][2]
        done = came[r.join][2]
        left += done is None
        if begin is not None and begin + r.wait <= end:
            taken.append(((end if done is None else done) - begin - r.wait) / 1e3)
            begun.append((begin + r.wait, done))
    if not taken:
        return {}
    _, first = min(begun, key=lambda times: times[0])
    late = sum(samples.rows[-1][5] - max((row[5] for row in samples.rows if row[0] <= first),
                                         default=0)
               for samples in ports.values()) if first is not None else None
    return {"rounds": {"n": len(taken), "unfinished": left, **_spread(taken, "_us"),
                       "drops_later": late}}


def known(run):
    """Names of these figures, and of each group's, as in figures.known(). Some are missing if
    nothing of their kind came."""
    if not run.workload.tables:
        return {}, {}

    def spread(unit):
        return dict.fromkeys(_spread([0], unit), 0)

    times = {"n": 0, "time": spread("_us"), "slowdown": spread("")}
    out = {"messages": {"unfinished": 0, **times, **{name: times for name, _, _ in CLASSES},
                        "turn": {"n": 0, **spread("_us")}},
           "rounds": {"n": 0, "unfinished": 0, **spread("_us"), "drops_later": 0}}
    return out, {f.group or "all": out for f in run.flows if f.scheduled}


def figures(run, out, end, ports):
    """Figures of all messages, {"messages": ..., "rounds": ...}, and of those of each group,
    {group: the same}. end: ns, when the traffic ended; ports: samples of each queue."""
    if not run.workload.tables:
        return {}, {}
    plan = run.workload.plan()
    came = read(os.path.join(out, "messages.csv"))

    def of(group):
        return {"messages": _messages(run, plan, came, end, group),
                **_rounds(plan, came, end, group, ports)}

    groups = {f.group for f in run.flows if f.scheduled}
    return of(""), {g or "all": of(g) for g in groups}
