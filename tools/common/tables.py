# SPDX-License-Identifier: GPL-2.0
"""What scenario files have in common: quantities with units, strict tables, sweeps."""

import itertools
import re

from progress import LabError

UNITS = {
    "rate": {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9},
    "time": {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9},
    "size": {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20},
}


class ScenarioError(LabError):
    pass


def quantity(kind, value):
    """In bit/s, ns or bytes: 40gbit, 1.5us, 5KB."""
    m = re.fullmatch(r"([0-9.]+) *([A-Za-z]*)", str(value))
    try:
        return round(float(m[1]) * UNITS[kind][m[2]])
    except (TypeError, KeyError, ValueError):
        raise ScenarioError("%r is no %s; units are %s" %
                            (value, kind, ", ".join(u for u in UNITS[kind] if u))) from None


class Table:
    """Takes a TOML table apart; what is left over at the end is a mistake."""

    def __init__(self, where, table):
        if not isinstance(table, dict):
            raise ScenarioError("%s: is no table" % where)
        self.where, self.rest = where, dict(table)

    def take(self, key, kind, default=None):
        value = self.rest.pop(key, default)
        if value is None:
            raise ScenarioError("%s: %s is missing" % (self.where, key))
        try:
            if kind in UNITS:
                return quantity(kind, value)
            if kind is float or kind is int and isinstance(value, str):
                return kind(value)
        except (ValueError, ScenarioError) as e:
            raise ScenarioError("%s: %s: %s" % (self.where, key, e)) from None
        if isinstance(kind, tuple) and value in kind:
            return value
        if isinstance(kind, tuple) or not isinstance(value, kind):
            raise ScenarioError("%s: %s: %r is no %s" % (
                self.where, key, value,
                " or ".join(kind) if isinstance(kind, tuple) else kind.__name__))
        return value

    def done(self):
        if self.rest:
            raise ScenarioError("%s: unknown: %s" % (self.where, ", ".join(self.rest)))


def names(text):
    """h1..h3,h7 -> h1 h2 h3 h7"""
    out = []
    for part in text.split(","):
        m = re.fullmatch(r"h(\d+)(?:\.\.h(\d+))?", part.strip())
        if not m:
            raise ScenarioError("%r names no hosts; h1, h1..h4 or h1,h3 would" % text)
        out += ["h%d" % n for n in range(int(m[1]), int(m[2] or m[1]) + 1)]
    return out


def expects(where, expectations, variables):
    """Raises ScenarioError unless each expectation is of some run, and of some figure of it.
    variables: those of each run."""
    for e in expectations:
        when = e.get("when", {})
        if not set(e) - {"when"}:
            raise ScenarioError("%s: expect: nothing is expected when %s" % (where, when))
        if not any(all(v.get(k) in (want if isinstance(want, list) else [want])
                       for k, want in when.items()) for v in variables):
            raise ScenarioError("%s: expect: when %s is of no run" % (where, when))


def expand(table, sweep):
    """[(values of the sweep by name, the table filled in)]

    Strings may contain {name} of a sweep's variable, and one that is nothing else may
    stand for a table; every combination of the sweep's values is one table. A value may
    be a table itself, of several variables under a "name"; what it leaves out is as in
    the first of its list.
    """
    out = []
    for values in itertools.product(*sweep.values()):
        variables, inner = {}, {}
        for key, value in zip(sweep, values):
            own = {**sweep[key][0], **value} if isinstance(value, dict) else {}
            variables[key] = inner[key] = own.get("name", value)
            inner.update(own)
        out.append((variables, _fill(table, inner)))
    return out


def _fill(value, variables):
    if isinstance(value, dict):
        return {k: _fill(v, variables) for k, v in value.items()}
    if isinstance(value, list):
        return [_fill(v, variables) for v in value]
    if isinstance(value, str) and "{" in value:
        if isinstance(variables.get(value[1:-1]), dict) and value[0] == "{":
            return variables[value[1:-1]]
        try:
            return value.format(**variables)
        except (KeyError, IndexError, ValueError):
            raise ScenarioError("%r: the sweep has no such variable" % value) from None
    return value
