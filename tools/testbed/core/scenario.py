# SPDX-License-Identifier: GPL-2.0
"""Scenario files: strict tables of TOML, sweeps, and expectations.

Strings may contain {name} of a sweep's variable or of [let]; every combination of the sweep's
values is one run, unless skip excludes it. vm/experiment.py and sim/model.py interpret the
tables.
"""

import glob
import itertools
import math
import os
import re
import string
import tomllib

from .errors import InputError
from .expectations import Expectations, selects
from .expression import evaluate
from .units import UNITS, number, quantity

PROFILES = ("stock", "auto", "mlx5", "sigcomm15")   # stock: rxe without the module
MTUS = (256, 512, 1024, 2048, 4096)
VERBS = ("write", "send", "read")
TRANSPORTS = ("rc", "uc", "ud")
TIMEOUT_MAX = 31            # the ack timeout's exponent, 4.096 us * 2^timeout; 5 bits
TEXTS = ("roce_rp/cc_algorithm",)      # knobs that are names
KNOB = re.compile(r"((roce_np|roce_rp)/)?[a-z0-9_]+(/[0-7])?")  # below ecn/
FORMAT = re.compile(r"(\.\d[efg])?")                    # of a number in a string: {name:.2f}
RUNS_MAX = 100_000
DEEPEST = 50            # tables within tables of a file
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but tabs and line breaks
RUN_NAME = re.compile(r"[\w.,=%+-]+")                   # becomes part of file names


def _number(kind, value):
    """Convert to a number of a type. The value may be a text, because a sweep fills numbers in as
    text. Raise TypeError, ValueError or OverflowError if it is not a number."""
    if isinstance(value, bool) or kind is int and isinstance(value, float):
        raise ValueError
    found = kind(value)
    if kind is float and math.isinf(found):
        raise ValueError
    return found


class Table:
    """A TOML table whose keys are taken one by one; keys that are left at the end are errors.

    where: the table's name in error messages.
    """

    def __init__(self, where, table):
        if not isinstance(table, dict):
            raise InputError("%s: must be a table" % where)
        self.where, self.rest = where, dict(table)

    def error(self, key, rule):
        return InputError("%s: %s: %s" % (self.where, key, rule))

    def take(self, key, kind, default=None, least=-math.inf, most=math.inf):
        """A value: of a type, a quantity with a unit, or one of several words or numbers."""
        value = self.rest.pop(key, default)
        if value is None:
            raise self.error(key, "is missing")
        value = self._read(key, kind, value)
        if kind in UNITS or kind in (int, float):
            if not least <= value <= most:     # NaN is in no range
                raise self.error(key, "%s is out of range, which is %s" % (value, (
                    "%.15g to %.15g" % (least, most) if most < math.inf
                    else "%.15g or more" % least)))
        return value

    def _read(self, key, kind, value):
        try:
            if kind in UNITS:
                return quantity(kind, value)
            if isinstance(kind, tuple):
                value = _number(int, value) if isinstance(kind[0], int) else str(value)
                if value not in kind:
                    raise ValueError
                return value
            if kind in (int, float):
                return _number(kind, value)
            if kind is str and isinstance(value, str) and CONTROL.search(value):
                raise InputError("must not have control characters")
            if kind in (str, bool, list, dict) and isinstance(value, kind):
                return value
            raise ValueError
        except InputError as e:
            raise self.error(key, e) from None
        except (TypeError, ValueError, OverflowError):
            raise self.error(key, "%r is not %s" % (
                value, "one of " + ", ".join(map(str, kind)) if isinstance(kind, tuple) else
                {int: "a whole number", float: "a number", str: "a string", bool: "true or false",
                 list: "a list", dict: "a table"}[kind])) from None

    def table(self, key, default=None):
        """A subtable."""
        return Table("%s: %s" % (self.where, key), self.take(key, dict, default))

    def tables(self, key, default=None):
        """[[KEY]]: the subtables of an array, which may be empty."""
        return [Table("%s: %s %d" % (self.where, key, n), t)
                for n, t in enumerate(self.take(key, list, default), 1)]

    def empty(self, key):
        """An empty subtable, as if the file had one."""
        return Table("%s: %s" % (self.where, key), {})

    def knobs(self, key):
        """Settings of rdma_dcqcn, by file below ecn/."""
        out = self.take(key, dict, {})
        check_knobs("%s: %s" % (self.where, key), out)
        return out

    def window(self, key, duration, default=None):
        """[from, to] within a duration, in ns."""
        ends = self.take(key, list, default)
        if len(ends) != 2:
            raise self.error(key, "must be [from, to]")
        t = Table("%s: %s" % (self.where, key), dict(zip(("from", "to"), ends)))
        window = [t.take("from", "time"), t.take("to", "time")]
        if not 0 <= window[0] < window[1] <= duration:
            raise self.error(key, "window is not within the duration")
        return window

    def done(self):
        if self.rest:
            raise InputError("%s: unknown: %s" % (self.where, ", ".join(self.rest)))


def priorities(t, key, default):
    """3,4 -> [3, 4]; none -> []"""
    text = t.take(key, str, default)
    if text == "none":
        return []
    if not re.fullmatch(r"[0-7](,[0-7])*", text):
        raise t.error(key, "%r is not a list of priorities, such as 3, or 3,4, or none" % text)
    return sorted({int(prio) for prio in text.split(",")})


def check_knobs(where, settings):
    for name, value in settings.items():
        if not KNOB.fullmatch(name) or not re.fullmatch(r"[0-9]+", str(value)) and \
           not (name in TEXTS and re.fullmatch(r"[A-Za-z0-9_-]+", str(value))):
            raise InputError("%s: %s=%s: must be a knob and a number" % (where, name, value))


def check_verb(table, flow):
    """Check that a flow's transport supports its verb and size."""
    if (flow.transport == "ud" and flow.verb != "send") or \
       (flow.transport == "uc" and flow.verb in ("read", "atomic")):
        raise table.error("verb", "%s does not support %s" % (flow.transport, flow.verb))
    if flow.verb == "atomic" and flow.size != 8:
        raise table.error("size", "an atomic operation has 8 bytes")
    if flow.transport == "ud" and flow.size > flow.mtu:
        raise table.error("size", "a ud message is one packet of at most %d bytes" % flow.mtu)


def names(table, key):
    """Hosts: h1..h3,h7 -> h1 h2 h3 h7"""
    out = []
    text = table.take(key, str)
    for part in text.split(","):
        m = re.fullmatch(r"h(\d{1,3})(?:\.\.h(\d{1,3}))?", part.strip())
        found = range(int(m[1]), int(m[2] or m[1]) + 1) if m else ()
        if not found:
            raise table.error(key, "%r is not a list of hosts, such as h1, h1..h4 or h1,h3" % text)
        out += ["h%d" % n for n in found]
    return out


class _Values(dict):
    """The sweep's values as numbers, and the names of [let], in any order."""

    def __init__(self, where, inner, let):
        super().__init__({k: number(v) for k, v in inner.items()})
        self.let = {k: v for k, v in let.items() if k not in inner}
        self.asked = []
        for name in self.let:
            try:
                self[name]
            except InputError as e:
                raise InputError("%s: let: %s" % (where, e)) from None

    def __missing__(self, name):
        if name not in self.let:
            raise KeyError(name)
        if name in self.asked:
            raise InputError("%s: depends on itself" % name)
        self.asked.append(name)
        value = evaluate(self.let[name], self)
        # a large one needs no fraction, and "{bytes}B" no exponent
        self[name] = (round(value) if isinstance(value, float) and 1e6 < value < math.inf
                      else value)
        self.asked.pop()
        return self[name]


def expand(where, table, sweep, let, skip="0"):
    """[(values of the sweep by name, all values as numbers, the table filled in)]

    Strings may contain {name} of a sweep's variable or of let; a string that is only {name} may
    stand for a table or a list. Every combination of the sweep's values is one table, except those
    for which the expression skip holds. A value may be a table of several variables with a "name";
    variables that it leaves out are as in the first of its list. let: expressions by name.
    """
    for key, values in sweep.items():
        if not isinstance(values, list) or not values:
            raise InputError("%s: sweep: %s: must be a list of values" % (where, key))
    if math.prod(map(len, sweep.values())) > RUNS_MAX:
        raise InputError("%s: sweep: has more than %d runs" % (where, RUNS_MAX))
    out = []
    for values in itertools.product(*sweep.values()):
        variables, inner = {}, {}
        for key, value in zip(sweep, values):
            first = sweep[key][0] if isinstance(sweep[key][0], dict) else {}
            own = {**first, **value} if isinstance(value, dict) else {}
            variables[key] = inner[key] = own.get("name", value)
            inner.update(own)
        made = _Values(where, inner, let)
        try:
            skipped = evaluate(skip, made)
        except InputError as e:
            raise InputError("%s: skip: %s" % (where, e)) from None
        if skipped:
            continue
        try:
            out.append((variables, made, _fill(where, table, {**made, **inner})))
        except RecursionError:
            raise InputError("%s: sweep: a list or table contains itself" % where) from None
    if not out:
        raise InputError("%s: skip: leaves no run" % where)
    return out


def expansion(where, table):
    """The same for a file's tables, without sweep, let and skip."""
    t = Table(where, table)
    sweep, let, skip = t.take("sweep", dict, {}), t.take("let", dict, {}), t.take("skip", str, "0")
    return expand(where, t.rest, sweep, let, skip)


def _fill(where, value, variables):
    if isinstance(value, dict):
        return {k: _fill("%s: %s" % (where, k), v, variables) for k, v in value.items()}
    if isinstance(value, list):
        return [_fill(where, v, variables) for v in value]
    if isinstance(value, str) and "{" in value:
        if isinstance(variables.get(value[1:-1]), (dict, list)) and value[0] == "{":
            return _fill(where, variables[value[1:-1]], variables)
        try:
            for _, name, form, conversion in string.Formatter().parse(value):
                if name is not None and (conversion or not name.isidentifier() or
                                         not FORMAT.fullmatch(form)):
                    raise InputError("%s: %r: must be {name} or {name:.2f}" % (where, value))
            return value.format(**variables)
        except (KeyError, IndexError, ValueError, AttributeError):
            raise InputError("%s: %r: the sweep has no such variable" % (where, value)) from None
    return value


def _too_deep(path):
    return InputError("%s: tables or lists are nested too deeply" % path)


def _check_bounds(path, value, depth=0):
    """Check that whole numbers have 64 bits, as in all TOML files, and how deep tables go."""
    if depth > DEEPEST:
        raise _too_deep(path)
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        raise InputError("%s: not a TOML file: a whole number has more than 64 bits" % path)
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            _check_bounds(path, inner, depth + 1)


class Directory:
    """The directory of scenarios that are given by name."""

    def __init__(self, path):
        self.path = path

    def listed(self):
        return sorted(os.path.basename(p)[:-len(".toml")]
                      for p in glob.glob(os.path.join(self.path, "*.toml")))

    def find(self, name):
        """The file of a scenario: one of ours, or any file with a path."""
        if "/" in name or name.endswith(".toml"):
            return name
        if name not in self.listed():
            raise InputError("%s: no such scenario; there are %s" %
                             (name, ", ".join(self.listed())))
        return os.path.join(self.path, name + ".toml")

    def load(self, name):
        """A file's tables; those that it lacks come from the scenario that its key "like" names."""
        return self._load(self.find(name), ())

    def _load(self, path, above):
        table = self._read(path)
        t = Table(os.path.basename(path), table)
        like = t.take("like", str, "")
        if not like:
            return table
        other = os.path.join(os.path.dirname(path), like + ".toml")
        if other in (path, *above):
            raise t.error("like", "%s cannot be like itself" % like)
        other = self._load(other, (path, *above))
        let = [Table(t.where, x).take("let", dict, {}) for x in (other, t.rest)]
        return {**other, **t.rest, **({"let": {**let[0], **let[1]}} if any(let) else {})}

    @staticmethod
    def _read(path):
        try:
            with open(path, "rb") as f:
                table = tomllib.load(f)
        except OSError as e:
            raise InputError("%s: %s" % (path, e.strerror)) from None
        except ValueError as e:     # of the syntax, the encoding, or a number's length
            raise InputError("%s: not a TOML file: %s" % (path, e)) from None
        except RecursionError:
            raise _too_deep(path) from None
        _check_bounds(path, table)
        return table


class Scenario:
    """A file: its runs, one for each combination of the sweep's values. Subclasses say how
    to make one.

    only: names of the wanted runs; default: all.
    """

    directory = None

    def __init__(self, name, only=()):
        self.path = self.directory.find(name)
        self.file = os.path.basename(self.path)
        self.name = os.path.splitext(self.file)[0]
        table = Table(self.file, self.directory.load(name))
        self.title = table.take("title", str, self.name)
        expect = table.rest.pop("expect", [])
        self.prepare(table)
        self.runs = []
        for variables, values, filled in expansion(self.file, table.rest):
            self.runs.append(self.run(variables, Table(self.file, filled)))
            self.runs[-1].values = values
            self.runs[-1].known = self.known(self.runs[-1])
        for r in self.runs:
            if not RUN_NAME.fullmatch(r.name):
                raise InputError("%s: sweep: %r: cannot be part of a file name" %
                                 (self.file, r.name))
        if len({r.name for r in self.runs}) != len(self.runs):
            raise InputError("%s: sweep: two runs have the same name" % self.file)
        self.expectations = Expectations(self.file, expect, self.runs)
        self.choose(only)

    def prepare(self, table):
        """Take keys from the file's table that do not belong to a run."""

    def run(self, variables, table):
        raise NotImplementedError

    def known(self, run):
        """The figures that a run will have: {name: anything, or the figures within it}."""
        raise NotImplementedError

    def choose(self, only):
        """Keep only these runs. only: a list of names of runs, or of parts of names, separated by
        commas: rate=10gbit,n=8."""
        missing = [o for o in only if not self.chosen([o])]
        if missing:
            raise InputError("%s: has no run %s; it has %s" % (
                self.file, ", ".join(sorted(missing)), ", ".join(r.name for r in self.runs)))
        if only:
            self.runs = self.chosen(only)

    def chosen(self, only):
        """The runs that any of these selects: the run of that name, or all runs with these
        parts."""
        names = {r.name for r in self.runs}
        return [r for r in self.runs
                if any(o == r.name if o in names else selects(o, r) for o in only)]

    def must_expect(self):
        """Require an expectation, so that there is something to check."""
        if not self.expectations.all:
            raise InputError("%s: expect: is missing, so there is nothing to check" % self.file)

    def check(self, results):
        """A Verdict of [(run, figures)]."""
        return self.expectations.check(results)
