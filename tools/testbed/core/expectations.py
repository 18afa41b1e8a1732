# SPDX-License-Identifier: GPL-2.0
"""A scenario's expectations of its runs' figures.

    [[expect]]
    when = { profile = "auto", n = [8, 16] }
    if = "rate > 1e9"
    than = { profile = "stock" }
    drops = ["> 1000", "< 2000"]
    "3 * kmax_bytes" = "<= limit_bytes"
    goodput_mbps = ">= 0.98 * than.goodput_mbps"
    open = { "profile=auto,n=16" = "why it does not hold yet" }

Both sides are expressions of figures, of the sweep's values and of names from [let].
group.victim.jain is a figure within a figure, RUN.drops one of another run, and than.drops one
of the run that differs only in the variables of "than".

open names runs in which no condition holds yet, with the cause. These conditions are listed, and
count neither as met nor as violated. If one of them holds, that is a violation: take the run from
the table.
"""

import operator

from .errors import InputError
from .expression import Expression, Unknown

OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
             "==": operator.eq}
NUMBERS = (int, float)


def _shown(value):
    return "undefined" if value is None else "%g" % value if isinstance(value, NUMBERS) else value


def selects(some, run):
    """Whether a text is the run's name, or some of its variables: rate=10gbit,n=8."""
    return set(some.split(",")) <= set(run.name.split(","))


class Condition:
    """One line of [[expect]]: two expressions and a comparison between them."""

    def __init__(self, where, what, text):
        self.where, self.what, self.text = where, what, text
        self.operator, _, limit = text.partition(" ") if isinstance(text, str) else ("",) * 3
        if self.operator not in OPERATORS or not limit.strip():
            raise InputError("%s: %s: %r must be one of %s, a space and a number or figure" %
                             (where, what, text, " ".join(OPERATORS)))
        try:
            self.sides = Expression(what), Expression(limit)
        except InputError as e:
            raise InputError("%s: %s: %s" % (where, what, e)) from None
        if self.sides[1].logical:
            raise InputError("%s: %s: %r: is a condition within a condition; write a list of them" %
                             (where, what, text))
        if not any(side.paths() for side in self.sides):
            raise InputError("%s: %s: %r: has no figure, so it checks nothing" %
                             (where, what, text))

    def asks(self, names):
        """Return true if the condition uses one of these names."""
        return any(path[0] in names for side in self.sides for path in side.paths())

    def check(self, names, figures):
        """Raise InputError unless all names in the condition are known."""
        try:
            for side in self.sides:
                side.check(names)
        except Unknown as e:
            raise InputError(self._unknown(e, figures)) from None

    def _unknown(self, e, figures):
        return "%s: %s: no such figure; there are %s" % (
            self.where, e.name, ", ".join(sorted(figures)))

    def judge(self, names, figures, known):
        """(True, the figure) if the condition holds, (False, the violation) if not, and (None, the
        mistake) if it cannot be evaluated. names: figures and other known names; known: figures
        that a run may have."""
        try:
            got, want = (side.value(names) for side in self.sides)
            holds = None not in (got, want) and OPERATORS[self.operator](got, want)
        except Unknown as e:
            if e.name.removeprefix("than.").split(".")[0] in known:
                return None, "%s: %s: is missing in this run" % (self.where, e.name)
            return None, self._unknown(e, figures)
        except (InputError, TypeError) as e:
            return None, "%s: %s: %s" % (self.where, self.what, e)
        if holds:
            return True, "%s is %s" % (self.what, _shown(got))
        return False, "%s is %s, not %s%s" % (
            self.what, _shown(got), self.text,
            "" if self.sides[1].constant or want is None else " (%s)" % _shown(want))


class Expectation:
    """One [[expect]]."""

    def __init__(self, where, table):
        self.where = where
        if not isinstance(table, dict):
            raise InputError("%s: must be a table" % where)
        table = dict(table)
        self.when, self.than = table.pop("when", {}), table.pop("than", {})
        self.open = table.pop("open", {})
        for key, variables in (("when", self.when), ("than", self.than)):
            if not isinstance(variables, dict):
                raise InputError("%s: %s: must be a table of the sweep's variables" % (where, key))
        if not isinstance(self.open, dict) or not all(
                isinstance(cause, str) and cause for cause in self.open.values()):
            raise InputError("%s: open: must be a table of runs, each with a cause" % where)
        try:
            self.condition = Expression(table.pop("if", 1))
        except InputError as e:
            raise InputError("%s: if: %s" % (where, e)) from None
        for what, texts in table.items():
            if texts == []:
                raise InputError("%s: %s: has no condition" % (where, what))
        self.conditions = [Condition(where, what, text)
                           for what, texts in table.items()
                           for text in (texts if isinstance(texts, list) else [texts])]
        if not self.conditions:
            raise InputError("%s: expects nothing" % where)
        if self.than and not any(c.asks({"than"}) for c in self.conditions):
            raise InputError("%s: than: no condition compares with it" % where)

    def fits(self, run):
        return all(run.variables.get(k) in (v if isinstance(v, list) else [v])
                   for k, v in self.when.items())

    def applies(self, run):
        try:
            return self.fits(run) and bool(self.condition.value(run.values))
        except InputError as e:
            raise InputError("%s: if: %s" % (self.where, e)) from None

    def cause(self, run):
        """Why the expectation is open for a run; None if it is not."""
        return next((cause for name, cause in self.open.items() if selects(name, run)), None)

    def other(self, run, runs):
        """The run to compare with."""
        wanted = {**run.variables, **self.than}
        return next((r for r in runs if r.variables == wanted), None)


class Verdict:
    """bad: violations, one per line; failing: names of the runs with violations; looked: number of
    comparisons; left_out: number of comparisons that were not made, because the run to compare
    with is missing; open: conditions known not to hold yet, with the cause, one per line."""

    def __init__(self):
        self.bad, self.open, self.failing, self.looked, self.left_out = [], [], set(), 0, 0

    @property
    def held(self):
        return max(self.looked - len(self.bad) - len(self.open), 0)

    def add(self, run, holds, text, cause):
        """Add a comparison. cause: why it is open, or None."""
        self.looked += 1
        if holds is False and cause:
            self.open.append("%s: %s: %s" % (run.name, text, cause))
        elif not holds or cause:
            self.bad.append("%s: %s%s" % (run.name, text, ", and no longer open" if holds else ""))
            self.failing.add(run.name)


class Expectations:
    """All expectations of a scenario. Its runs have these attributes: name; variables, the sweep's
    values; values, all names for expressions; and known, the figures that the run will have, with
    any values, so that a misspelt figure is found before anything runs."""

    def __init__(self, where, tables, runs):
        if not isinstance(tables, list):
            raise InputError("%s: expect: must be [[expect]] tables" % where)
        self.names = {run.name for run in runs}
        self.all = [Expectation("%s: expect %d" % (where, n), t) for n, t in enumerate(tables, 1)]
        for e in self.all:
            if not any(e.fits(run) for run in runs):
                raise InputError("%s: when: matches no run of the sweep" % e.where)
            for key, values in e.when.items():
                for value in values if isinstance(values, list) else [values]:
                    if not any(run.variables.get(key) == value for run in runs):
                        raise InputError("%s: when: %s = %r: matches no run of the sweep" %
                                         (e.where, key, value))
            meant = [run for run in runs if e.applies(run)]
            if not meant:
                raise InputError("%s: if: holds for no run of the sweep" % e.where)
            # a run that is compared with itself shows nothing
            if e.than and not any(e.other(run, runs) not in (None, run) for run in meant):
                raise InputError("%s: than: matches no other run of the sweep" % e.where)
            self._check_names(e, meant, runs)
            for name in e.open:
                if not any(selects(name, run) for run in meant):
                    raise InputError("%s: open: %s: matches none of its runs" % (e.where, name))

    @staticmethod
    def _check_names(e, meant, runs):
        known = {run.name: run.known for run in runs}
        for run in meant:
            names = {**known, **run.values, **run.known}
            other = e.other(run, runs) if e.than else None
            if other:
                names["than"] = other.known
            for c in e.conditions:
                for name in sorted(set(run.values) & set(run.known)):
                    if c.asks({name}):
                        raise InputError("%s: %s: is both a figure and a name of the sweep "
                                         "or of let; rename the latter" % (e.where, name))
                if other or not e.than or not c.asks({"than"}):
                    c.check(names, run.known)

    def check(self, results):
        """A verdict on [(run, figures)], without comparisons with runs that were left out."""
        verdict = Verdict()
        figures = {run.name: f for run, f in results}
        absent = self.names - set(figures)
        for e in self.all:
            for run, own in results:
                if not e.applies(run):
                    continue
                names = {**figures, **run.values, **own}
                left_out = absent - set(names)
                if e.than:
                    other = e.other(run, [r for r, _ in results])
                    if other:
                        names["than"] = figures[other.name]
                    else:
                        left_out = left_out | {"than"}
                for c in e.conditions:
                    if c.asks(left_out):
                        verdict.left_out += 1
                        continue
                    verdict.add(run, *c.judge(names, own, run.known), e.cause(run))
        if not verdict.looked:
            verdict.bad.append("none of its %d expectations applies to these runs" % len(self.all))
        return verdict
