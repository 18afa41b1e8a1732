# SPDX-License-Identifier: GPL-2.0
"""What a scenario expects of its runs' figures.

    [[expect]]
    when = { profile = "stock", n = [8, 16] }
    drops = ["> 1000", "< 2000"]
    "3 * kmax_bytes" = "<= limit_bytes"

On both sides there are sums of products of numbers and figures. group.victim.jain is
a figure within a figure, RUN.drops one of another run.
"""

import operator
import re

from .errors import InputError, LabError

OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
             "==": operator.eq}
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?")


class Unknown(LabError):
    """A figure that there is not. Which there are, only a run can tell."""


def lookup(figures, dotted, runs={}):
    """Names of ports and runs hold dots, so the longest match wins."""
    parts = dotted.split(".")
    for i in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:i]), ".".join(parts[i:])
        for values in (figures, runs):
            if head in values and not rest and values is figures:
                return values[head]
            if rest and isinstance(values.get(head), dict):
                return lookup(values[head], rest)
    raise Unknown("there is no figure %s; there are %s" % (dotted, ", ".join(sorted(figures))))


def _factors(text):
    return [[f.strip() for f in term.split(" * ")] for term in text.split(" + ")]


def evaluate(text, figures, runs={}):
    """Sums of products: "3 * kmax_bytes", "cnp_handled + cnp_ignored". None if one of the
    figures is."""
    total = 0
    for factors in _factors(text):
        product = 1
        for factor in factors:
            value = float(factor) if NUMBER.fullmatch(factor) else lookup(figures, factor, runs)
            if value is None:
                return None
            product *= value
        total += product
    return total


class Condition:
    """One line of [[expect]]: what, how, and what it is compared to."""

    def __init__(self, where, what, text):
        self.where, self.what, self.text = where, what, text
        self.operator, _, self.limit = text.partition(" ") if isinstance(text, str) else ("",) * 3
        if self.operator not in OPERATORS or not all(
                f for side in (what, self.limit) for fs in _factors(side) for f in fs):
            raise InputError("%s: %s: %r must be one of %s, a space and a number or figure" %
                             (where, what, text, " ".join(OPERATORS)))

    def fault(self, figures, runs):
        """What does not hold; None if it does."""
        try:
            got, want = (evaluate(side, figures, runs) for side in (self.what, self.limit))
        except Unknown as e:
            return "%s: %s" % (self.where, e)
        if None not in (got, want) and OPERATORS[self.operator](got, want):
            return None
        return "%s is %s, not %s%s" % (
            self.what, "undefined" if got is None else "%g" % got, self.text,
            "" if NUMBER.fullmatch(self.limit) or want is None else " (%g)" % want)


class Expectation:
    """One [[expect]]."""

    def __init__(self, where, table):
        self.where = where
        if not isinstance(table, dict):
            raise InputError("%s: must be a table" % where)
        self.when = table.get("when", {})
        if not isinstance(self.when, dict):
            raise InputError("%s: when: must be a table of the sweep's variables" % where)
        self.conditions = [Condition(where, what, text)
                           for what, texts in table.items() if what != "when"
                           for text in (texts if isinstance(texts, list) else [texts])]
        if not self.conditions:
            raise InputError("%s: expects nothing" % where)

    def applies(self, variables):
        return all(variables.get(k) in (v if isinstance(v, list) else [v])
                   for k, v in self.when.items())


class Expectations:
    """All of a scenario. variables: of each of its runs, by name."""

    def __init__(self, where, tables, variables):
        if not isinstance(tables, list):
            raise InputError("%s: expect: must be [[expect]] tables" % where)
        self.names = set(variables)
        self.all = [Expectation("%s: expect %d" % (where, n), t) for n, t in enumerate(tables, 1)]
        for e in self.all:
            if not any(e.applies(v) for v in variables.values()):
                raise InputError("%s: when: no run of the sweep is like that" % e.where)

    def check(self, results):
        """(what does not hold, how much was looked at). results: {name: (variables, figures)}.
        A comparison with a run that was left out is not made."""
        bad, looked = [], 0
        runs = {name: figures for name, (_, figures) in results.items()}
        absent = tuple(name + "." for name in self.names - set(runs))
        for e in self.all:
            for name, (variables, figures) in results.items():
                for c in e.conditions if e.applies(variables) else ():
                    if any(f.startswith(absent) for side in (c.what, c.limit)
                           for factors in _factors(side) for f in factors):
                        continue
                    looked += 1
                    fault = c.fault(figures, runs)
                    if fault:
                        bad.append("%s: %s" % (name, fault))
        if not looked:
            bad.append("none of its %d expectations is about these runs" % len(self.all))
        return bad, looked
