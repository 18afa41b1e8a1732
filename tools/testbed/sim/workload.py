# SPDX-License-Identifier: GPL-2.0
"""What a run's hosts send: flows without a pause, and messages in time order.

A flow is a queue pair. It sends either one message after the other, or messages of the schedule,
which says their sizes, when they are due, and after which others. Periods, load, replies and
collective operations of a scenario become such messages here, so tools/sim/messages.c need not know
them.
"""

import collections
import math
import os
import random

from ..core.errors import InputError
from ..core.paths import SIM
from ..core.scenario import MTUS, TIMEOUT_MAX, TRANSPORTS, VERBS, check_verb, names

SIZES = os.path.join(SIM, "sizes")
TRACES = os.path.join(SIM, "traces")
PATTERNS = ("each", "pairs", "ring")
COLLECTIVES = ("ring", "halving", "tree", "alltoall", "pipeline")
MOST = 1 << 20      # messages of a run
FLOWS_MOST = 1 << 17
# Limits of tools/sim/traffic.h and flows.c: messages at once, and bytes of one
DEPTH_MOST, SIZE_MOST = 16384, 1 << 30
COUNT_MOST = 2**64 - 1
DURATION_MOST = 30 * 24 * 3600 * 10**9      # ns; traffic.h allows a year
BATCHES_MOST = 1 << 16


class Flow:
    """A queue pair. scheduled: it sends messages of the schedule; size is that of the largest."""


class Message:
    """One message of the schedule; without flows a join, which only waits.

    flows: the flows that may send it; the one with the fewest bytes outstanding does
    at: ns after the start, at the earliest; wait: ns after all messages of after have come
    after: lower ids
    ask: the id of the request that it answers
    """

    def __init__(self, number, flows, size, at, wait, after, ask=None):
        self.id, self.flows, self.size, self.ask = number, flows, size, ask
        self.at, self.wait, self.after = at, wait, after


class Round:
    """Messages of one period, or of one iteration of a collective operation. A round begins at a
    time, or wait after another join, and is over when its join has come."""

    def __init__(self, group, join, at=0, wait=0, after=None):
        self.group, self.join, self.at, self.wait, self.after = group, join, at, wait, after


def _lines(path, comment=None):
    """[(number, words)] of a text file's lines, without empty ones."""
    try:
        with open(path) as f:
            lines = [(n, (line.partition(comment)[0] if comment else line).split())
                     for n, line in enumerate(f, 1)]
    except (OSError, UnicodeDecodeError) as e:
        raise InputError("%s: %s" % (path, getattr(e, "strerror", "is not text"))) from None
    return [(n, words) for n, words in lines if words]


class Sizes:
    """A distribution of sizes: uniform between the points of a table of bytes and percent."""

    def __init__(self, points):
        self.points = points

    @classmethod
    def read(cls, path):
        points = []
        for n, words in _lines(path, "#"):
            try:
                size, percent = (float(word) for word in words)
            except ValueError:
                raise InputError("%s:%d: must be bytes and percent" % (path, n)) from None
            points.append((size, percent / 100))
        # NaN is neither below nor above anything
        if (len(points) < 2 or points[0][1] != 0 or points[-1][1] != 1 or
                not all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(points, points[1:])) or
                not (0 <= points[0][0] and 1 <= points[-1][0] < 1 << 30)):
            raise InputError("%s: must rise from 0 to 100 percent, and end at 1 B or more, "
                             "below 1 GiB" % path)
        return cls(points)

    @property
    def mean(self):
        return sum((q - p) * (a + b) / 2
                   for (a, p), (b, q) in zip(self.points, self.points[1:]))

    @property
    def most(self):
        return max(1, round(self.points[-1][0]))

    def draw(self, rng):
        share = rng.random()
        for (a, p), (b, q) in zip(self.points, self.points[1:]):
            if share < q:
                return max(1, round(a + (b - a) * (share - p) / (q - p)))
        return self.most


class One:
    """A size that all messages have."""

    def __init__(self, size):
        self.mean = self.most = size

    def draw(self, rng):
        return self.most


def _sizes(t):
    """Sizes of a table's messages, by its key size or sizes."""
    if "sizes" not in t.rest:
        return One(t.take("size", "size", "64KiB", 1))
    if "size" in t.rest:
        raise t.error("sizes", "cannot be combined with size")
    return Sizes.read(_file(t, "sizes", SIZES))


def _file(t, key, directory):
    """The path of a file: one with a slash, or a name of one of ours."""
    name = t.take(key, str)
    if "/" in name:
        return name
    known = sorted(f[:-len(".txt")] for f in os.listdir(directory))
    if name not in known:
        raise t.error(key, "%r is neither one of %s nor a file with a path" %
                      (name, ", ".join(known)))
    return os.path.join(directory, name + ".txt")


def pairs(t, pattern):
    """[(from, to)] of a table of flows."""
    sources, targets = names(t, "from"), names(t, "to")
    if pattern == "each":
        # a host that is among several targets does not send to itself
        found = [(a, b) for a in sources for b in targets if a != b or len(targets) == 1]
        if not found:
            raise t.error("to", "a flow from %s to itself does not pass the network" % sources[0])
        return found
    if len(sources) != len(targets):
        raise t.error("to", "must have as many hosts as from, %d" % len(sources))
    if pattern == "ring" and (sorted(sources) != sorted(targets) or
                              len(set(sources)) != len(sources)):
        raise t.error("to", "must have the hosts of from, each once, in a ring")
    return list(zip(sources, targets))


class Plan:
    """All messages of a run, and the rounds that they make."""

    def __init__(self):
        self.messages, self.rounds = [], []

    @staticmethod
    def check(messages):
        """Check that a run can have so many messages."""
        if messages > MOST:
            raise InputError("the scenario makes more than %d messages" % MOST)

    def message(self, flows, size, at=0, wait=0, after=(), ask=None):
        self.check(len(self.messages) + 1)
        m = Message(len(self.messages), flows, size, round(at), round(wait), tuple(after), ask)
        self.messages.append(m)
        return m.id

    def join(self, messages):
        return self.message(None, 0, after=messages)


class Workload:
    """All flows of a run, and the tables that make its messages, in the order of the scenario.

    rate: of a host's link, in bit/s, of which a load is a share
    seed: of the random numbers. Each pair of hosts of each table has its own, so nothing that a
    table says changes the messages of another.
    rc_only: leave out flows that iWARP cannot carry: those of UC, UD and atomic operations
    left_out: the kinds of flows left out, such as UC WRITE
    """

    def __init__(self, duration, rate, seed, rc_only=False):
        self.duration, self.rate, self.seed, self.rc_only = duration, rate, seed, rc_only
        self.flows, self.tables, self.left_out = [], [], []

    def plan(self):
        """Make the messages. They are made each time and not kept, as a sweep can have millions."""
        out = Plan()
        for n, table in enumerate(self.tables):
            table.make(out, lambda what, n=n: random.Random("%d %d %s" % (self.seed, n, what)))
        return out

    def flow(self, t):
        """Read a [[flow]]."""
        kind = t.rest.get("transport", "rc"), t.rest.get("verb", "write")
        if self.rc_only and (kind[0] in ("uc", "ud") or kind[1] == "atomic"):
            name = " ".join(kind).upper()
            self.left_out += [name] if name not in self.left_out else []
            return
        kinds = [k for k in ("period", "load", "think") if k in t.rest]
        if len(kinds) > 1:
            raise t.error(kinds[0], "cannot be combined with " + kinds[1])
        pattern = t.take("pattern", PATTERNS, "each")
        found = pairs(t, pattern)
        if not kinds:
            self._greedy(t, found, pattern)
        elif pattern == "ring":
            raise t.error("pattern", "a ring's messages cannot have a " + kinds[0])
        else:
            self.tables.append({"period": Periods, "load": Load, "think": Turns}[kinds[0]](
                self, t, found))

    def collective(self, t):
        """Read a [[collective]]."""
        self.tables.append(Collective(self, t))

    def trace(self, t):
        """Read a [[trace]]."""
        self.tables.append(Trace(self, t))

    def connection(self, t):
        """Keys that say how messages are carried."""
        group = t.take("group", str, "")
        if group == "all":
            raise t.error("group", "all are the flows of all groups; choose another name")
        return {
            "verb": t.take("verb", (*VERBS, "atomic"), "write"),
            "transport": t.take("transport", TRANSPORTS, "rc"),
            "depth": t.take("depth", int, 4, 1, DEPTH_MOST), "mtu": t.take("mtu", MTUS, 4096),
            "timeout": t.take("timeout", int, 14, 0, TIMEOUT_MAX),
            "tclass": t.take("tclass", int, 0, 0, 255), "group": group,
        }

    def pool(self, t, src, dst, qps, size, connection):
        """Flows for messages from one host to another."""
        first = len(self.flows)
        for _ in range(qps):
            self._flow(t, src, dst, **connection, size=size, count=0, after=(), scheduled=True,
                       start=0, stop=self.duration)
        return range(first, len(self.flows))

    def _flow(self, t, src, dst, **values):
        if src == dst:
            raise t.error("to", "a flow from %s to itself does not pass the network" % src)
        if values["size"] > SIZE_MOST:
            raise t.error("size", "a message has at most 1 GiB")
        if len(self.flows) == FLOWS_MOST:
            raise InputError("the scenario makes more than %d flows" % FLOWS_MOST)
        f = Flow()
        f.__dict__.update(values, id=len(self.flows), src=src, dst=dst,
                          prio=values["tclass"] >> 5)
        check_verb(t, f)
        self.flows.append(f)

    def _greedy(self, t, found, pattern):
        """Flows that always have a message to send, up to a count."""
        start, stagger = t.take("start", "time", "0s"), t.take("stagger", "time", "0s")
        qps, size = t.take("qps", int, 1, 1), t.take("size", "size", "64KiB", 1)
        connection, count = self.connection(t), t.take("count", int, 0, 0, COUNT_MOST)
        stop = t.take("stop", "time", "%dns" % self.duration, 0, self.duration)
        t.done()
        first = len(self.flows)
        for i, (src, dst) in enumerate(p for p in found for _ in range(qps)):
            if (start + i * stagger) // 1000 >= stop // 1000:    # traffic has us
                raise t.error("start", "flow %d of it would start after its stop" % (i + 1))
            self._flow(t, src, dst, **connection, size=size, count=count, after=(),
                       scheduled=False, start=start + i * stagger, stop=stop)
        if pattern == "ring":
            if qps != 1:
                raise t.error("qps", "must be 1 in a ring")
            before = {f.dst: f.id for f in self.flows[first:]}
            for f in self.flows[first:]:
                f.after = (before[f.src],)


class Paired:
    """A [[flow]] whose messages have pauses between them. Subclasses say when they are due."""

    jittered, stopped, least_count = True, True, 0

    def __init__(self, work, t, found):
        self.where, self.found, self.rate = t.where, found, work.rate
        self.start = t.take("start", "time", "0s", 0, work.duration - 1)
        self.stop = t.take("stop", "time", "%dns" % work.duration, self.start + 1, work.duration) \
            if self.stopped else work.duration
        self.stagger = t.take("stagger", "time", "0s")
        self.jitter = t.take("jitter", "time", "0s", 0, work.duration) \
            if self.jittered else 0
        # without a count, the time bounds the number of messages
        self.count = t.take("count", int, None if self.least_count else MOST, 1, MOST)
        self.reply = t.take("reply", "size", None, 1) if "reply" in t.rest else 0
        self.sizes, qps = _sizes(t), t.take("qps", int, 1, 1)
        self.take(t, work.duration)
        connection = work.connection(t)
        t.done()
        if self.start + (len(found) - 1) * self.stagger >= self.stop:
            raise t.error("stagger", "the last of %d pairs would start after its stop" % len(found))
        self.group = connection["group"]
        self.pools = [(work.pool(t, a, b, qps, self.sizes.most, connection),
                       self.reply and work.pool(t, b, a, qps, self.reply, connection))
                      for a, b in found]

    def take(self, t, duration):
        """Take the keys of this kind of load. duration: of the run, in ns."""
        raise NotImplementedError

    def send(self, plan, rng, pair, at, wait=0, after=()):
        """A message of a pair, and its reply. Returns the id of the last one."""
        there, back = self.pools[pair]
        m = plan.message(there, self.sizes.draw(rng), at, wait, after)
        return plan.message(back, self.reply, after=[m], ask=m) if back else m


class Periods(Paired):
    """A burst of messages of each pair, again and again."""

    def take(self, t, duration):
        self.period = t.take("period", "time", None, 1)
        self.burst = t.take("burst", int, 1, 1)

    def make(self, plan, rng):
        rngs = [rng(pair) for pair in self.found]
        for n in range(min(self.count, -(-(self.stop - self.start) // self.period))):
            begin, last = self.start + n * self.period, []
            for i, r in ((i, r) for i, r in enumerate(rngs) for _ in range(self.burst)):
                at = begin + i * self.stagger + r.random() * self.jitter
                if at < self.stop:
                    last.append(self.send(plan, r, i, at))
            if last:
                plan.rounds.append(Round(self.group, plan.join(last), begin))


class Load(Paired):
    """Poisson arrivals. The load is that of the link that most pairs share."""

    jittered = False

    def take(self, t, duration):
        load = t.take("load", float, None, 0.001, 10)
        busiest = max(most for ends in zip(*self.found)
                      for _, most in collections.Counter(ends).most_common(1))
        self.gap = self.sizes.mean * 8e9 * busiest / (load * self.rate)

    def make(self, plan, rng):
        rngs, times = [rng(pair) for pair in self.found], []
        for i, r in enumerate(rngs):
            at = self.start + i * self.stagger
            for _ in range(self.count):
                at += -self.gap * math.log(1 - r.random())
                if at >= self.stop:
                    break
                times.append((at, i))
            plan.check(len(times))
        for at, i in sorted(times):
            self.send(plan, rngs[i], i, at)


class Turns(Paired):
    """A pair's next message leaves some time after the last one, or its reply, has come. These
    times are known only in the run, so a count ends the messages, and not a time."""

    stopped, least_count = False, 1

    def take(self, t, duration):
        self.think = t.take("think", "time", None, 0, duration)

    def make(self, plan, rng):
        for i, pair in enumerate(self.found):
            r = rng(pair)
            last = self.send(plan, r, i, self.start + i * self.stagger + r.random() * self.jitter)
            for _ in range(self.count - 1):
                last = self.send(plan, r, i, 0, self.think + r.random() * self.jitter, [last])


class Collective:
    """Iterations of an operation of all hosts, with a barrier and time for computing between
    them."""

    def __init__(self, work, t):
        self.hosts, kind = names(t, "hosts"), t.take("kind", COLLECTIVES)
        if len(set(self.hosts)) != len(self.hosts) or len(self.hosts) < 2:
            raise t.error("hosts", "must be two or more, each once")
        if kind == "halving" and len(self.hosts) & len(self.hosts) - 1:
            raise t.error("hosts", "must be 2, 4, 8, 16, ... for halving")
        size, self.count = t.take("size", "size", None, 1), t.take("count", int, 1, 1)
        self.compute = t.take("compute", "time", "0s", 0, work.duration)
        self.jitter = t.take("jitter", "time", "0s", 0, work.duration)
        self.start = t.take("start", "time", "0s", 0, work.duration - 1)
        batches = t.take("batches", int, 8, 1, BATCHES_MOST) if kind == "pipeline" else 0
        qps, connection = t.take("qps", int, 1, 1), work.connection(t)
        t.done()
        self.group = connection["group"]
        self.steps, self.pools = _steps(kind, len(self.hosts), size, batches), {}
        for a, b, part in (move for step in self.steps for move in step):
            if (a, b) not in self.pools:
                self.pools[a, b] = [work.pool(t, self.hosts[a], self.hosts[b], 1, -(-part // qps),
                                              connection) for _ in range(qps)]

    def make(self, plan, rng):
        rngs = [rng(host) for host in self.hosts]
        before = None       # the join of the iteration before
        for _ in range(self.count):
            waits = [(0 if before is None else self.compute) + r.random() * self.jitter
                     for r in rngs]
            everything, came = [], {}       # came: ids that each host got in the step before
            for step in self.steps:
                got = {}
                for a, b, part in step:
                    when = {"after": came[a]} if a in came else \
                        {"at": self.start + waits[a]} if before is None else \
                        {"wait": waits[a], "after": [before]}
                    moved = [plan.message(pool, -(-part // len(self.pools[a, b])), **when)
                             for pool in self.pools[a, b]]
                    got.setdefault(b, []).extend(moved)
                    everything += moved
                came = got
            join = plan.join(everything)
            plan.rounds.append(Round(self.group, join, self.start) if before is None else
                               Round(self.group, join, 0, self.compute, before))
            before = join


class Trace:
    """Messages of a file: a flow file of the ns-3 simulations of RDMA (HPCC's and its
    descendants). Its first line is the number of flows. Those are lines of source, destination,
    priority group, port, bytes, and start in seconds."""

    def __init__(self, work, t):
        path = _file(t, "file", TRACES)
        self.hosts = names(t, "hosts")
        self.start = t.take("start", "time", "0s", 0, work.duration - 1)
        qps, connection = t.take("qps", int, 1, 1), work.connection(t)
        t.done()
        self.group = connection["group"]
        self.moves = self._read(path)
        most = {}
        for _, a, b, size in self.moves:
            most[a, b] = max(size, most.get((a, b), 0))
        self.pools = {pair: work.pool(t, *pair, qps, size, connection)
                      for pair, size in most.items()}

    def _read(self, path):
        """[(ns after the first one, from, to, bytes)]. Node n of the file is the n-th of hosts,
        from 0."""
        lines = _lines(path)
        try:
            (count,) = (int(word) for word in lines[0][1])
        except (IndexError, ValueError):
            raise InputError("%s:1: must be the number of flows" % path) from None
        if not 0 < count < len(lines):
            raise InputError("%s: has %d flows, not %d" % (path, len(lines) - 1, count))
        moves = [self._move("%s:%d" % (path, n), words) for n, words in lines[1:count + 1]]
        first = min(m[0] for m in moves)
        return sorted((at - first, a, b, size) for at, a, b, size in moves)

    def _move(self, where, words):
        try:
            a, b, _, _, size = (int(w) for w in words[:5])
            at = round(float(words[5]) * 1e9)
        except (ValueError, IndexError, OverflowError):
            raise InputError("%s: must be source, destination, priority group, port, bytes and "
                             "seconds" % where) from None
        if not (0 <= a < len(self.hosts) and 0 <= b < len(self.hosts)):
            raise InputError("%s: nodes are 0 to %d, the hosts" % (where, len(self.hosts) - 1))
        if not 0 < size <= SIZE_MOST or not 0 <= at <= DURATION_MOST:
            raise InputError("%s: must be 1 B to 1 GiB, from 0 s to 30 days" % where)
        return at, self.hosts[a], self.hosts[b], size

    def make(self, plan, rng):
        for at, a, b, size in self.moves:
            plan.message(self.pools[a, b], size, self.start + at)


def _steps(kind, n, size, batches):
    """[[(from, to, bytes)]]: the moves of data between n hosts, step by step. A move waits for the
    data that its sender got in the step before."""
    part = -(-size // n)
    if kind == "ring":      # each part goes round twice: added up, and handed out
        return [[(i, (i + 1) % n, part) for i in range(n)]] * (2 * n - 2)
    if kind == "alltoall":  # one step; each host begins with its neighbour
        return [[(i, (i + k) % n, part) for k in range(1, n) for i in range(n)]]
    if kind == "tree":      # added up from the leaves to host 0, and handed out from there
        levels = [range(2 ** k - 1, min(2 ** (k + 1) - 1, n)) for k in range(1, n.bit_length())]
        up = [[(i, (i - 1) // 2, size) for i in level] for level in reversed(levels) if level]
        return up + [[(b, a, size) for a, b, size in step] for step in reversed(up)]
    if kind == "pipeline":  # each batch goes from stage to stage, and its gradient back
        steps = [[] for _ in range(batches + 2 * n - 3)]
        for batch in range(batches):
            for i in range(n - 1):
                steps[batch + i].append((i, i + 1, size))
                steps[batch + 2 * n - 3 - i].append((i + 1, i, size))
        return steps
    halves = [[(i, i ^ n >> k, -(-size >> k)) for i in range(n)] for k in range(1, n.bit_length())]
    return halves + halves[::-1]


def schedule(messages):
    """The messages as the input of messages.c."""
    out = []
    for m in messages:
        words = []
        if m.flows:
            words += ["flows=%s" % _ranges(m.flows), "size=%d" % m.size]
        words += ["%s=%d" % kv for kv in (("at", m.at), ("wait", m.wait)) if kv[1]]
        if m.after:
            words.append("after=" + _ranges(m.after))
        out.append(" ".join(words))
    return "".join(line + "\n" for line in out)


def _ranges(numbers):
    """3,5-9"""
    out = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in out)
