# SPDX-License-Identifier: GPL-2.0
"""Arithmetic in scenario files: "max(20e3, rate * rtt / 8e9 / 6)".

Numbers, text in quotes, names, names within names (than.jain, port.s1.h3.drops), + - * / **,
comparisons, and, or, not, "a if b else c", and min, max, ceil; nothing else of Python. A scenario
is data, so results are bounded, and no expression takes long.
"""

import ast
import math
import operator

from .errors import InputError

LONGEST = 10_000    # characters
LARGEST = 2**1023   # of results, whole numbers too: the range of a float


def _power(a, b):
    """A power of whole numbers as a whole number, if a float holds it exactly; otherwise a
    float."""
    found = math.pow(a, b)
    return int(found) if isinstance(a, int) and isinstance(b, int) and found.is_integer() and \
        abs(found) < 2**53 else found


FUNCTIONS = {"min": min, "max": max, "ceil": math.ceil}
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: _power, ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}


class Unknown(InputError):
    """An unknown name."""

    def __init__(self, text, name):
        super().__init__("%r: %s is not defined" % (text, name))
        self.name = name


class _Undefined(Exception):
    """A known name without a value in this run."""


class Expression:
    """Raise InputError unless the text is an expression."""

    def __init__(self, text):
        self.text = str(text)
        if len(self.text) > LONGEST:
            raise InputError("an expression has more than %d characters" % LONGEST)
        try:
            self.body = ast.parse(self.text.strip(), mode="eval").body
            _check(self.body)
        except (SyntaxError, ValueError):
            raise InputError("%r is not an expression" % text) from None
        except (MemoryError, RecursionError):
            raise self._too_deep() from None

    def _too_deep(self):
        return InputError("%.40r... is nested too deeply" % self.text)

    @property
    def constant(self):
        return isinstance(self.body, ast.Constant)

    @property
    def logical(self):
        """Whether its value is a truth value."""
        return isinstance(self.body, (ast.BoolOp, ast.Compare)) or \
            isinstance(self.body, ast.UnaryOp) and isinstance(self.body.op, ast.Not)

    def paths(self):
        """The names in it, with the names within them, as lists."""
        inner = {id(n.value) for n in ast.walk(self.body) if isinstance(n, ast.Attribute)}
        inner |= {id(n.func) for n in ast.walk(self.body) if isinstance(n, ast.Call)}
        return [_path(n) for n in ast.walk(self.body)
                if isinstance(n, (ast.Name, ast.Attribute)) and id(n) not in inner]

    def check(self, names):
        """Raise Unknown unless all names in it are among these, whatever their values."""
        for path in self.paths():
            try:
                self._lookup(path, names)
            except _Undefined:
                pass

    def value(self, names):
        """Its value; None if a name in it has none. names: their values."""
        try:
            return self._value(self.body, names)
        except _Undefined:
            return None
        except RecursionError:
            raise self._too_deep() from None
        except (TypeError, ValueError, ArithmeticError) as e:
            raise InputError("%r: %s" % (self.text, e)) from None

    def number(self, names):
        """The same, but the value must be a number."""
        found = self.value(names)
        if found is not None and not isinstance(found, (int, float)):
            raise InputError("%r is not a number" % self.text)
        return found

    def _value(self, node, names):
        def value(n):
            return self._value(n, names)

        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._lookup(_path(node), names)
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            if isinstance(left, str) or isinstance(right, str):
                raise TypeError("text in arithmetic")
            found = OPERATORS[type(node.op)](left, right)
            if isinstance(found, int) and abs(found) > LARGEST:
                raise OverflowError("a result is too large")
            return found
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.BoolOp):
            some = any if isinstance(node.op, ast.Or) else all
            return some(value(v) for v in node.values)
        if isinstance(node, ast.Compare):
            values = [value(v) for v in (node.left, *node.comparators)]
            return all(OPERATORS[type(o)](a, b) for o, a, b in zip(node.ops, values, values[1:]))
        if isinstance(node, ast.IfExp):
            return value(node.body if value(node.test) else node.orelse)
        return FUNCTIONS[node.func.id](*(value(a) for a in node.args))

    def _lookup(self, path, names):
        try:
            found, rest = names[path[0]], path[1:]
            while rest:     # names of ports hold dots, so the longest match wins
                n = next(n for n in range(len(rest), 0, -1) if ".".join(rest[:n]) in found)
                found, rest = found[".".join(rest[:n])], rest[n:]
        except (KeyError, StopIteration, TypeError):
            raise Unknown(self.text, ".".join(path)) from None
        if found is None:
            raise _Undefined
        return found


def evaluate(text, names):
    """The value of an expression."""
    return Expression(text).value(names)


def _path(node):
    return [node.id] if isinstance(node, ast.Name) else _path(node.value) + [node.attr]


def _check(node):
    """Raise InputError for anything that the docstring of this file does not list."""
    allowed = (
        isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)) or
        isinstance(node, (ast.Name, ast.BoolOp, ast.IfExp)) or
        isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)) or
        isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in OPERATORS or
        isinstance(node, ast.Compare) and all(type(o) in OPERATORS for o in node.ops) or
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and
        not node.keywords and node.func.id in FUNCTIONS)
    if not allowed:
        raise InputError("%r may not be in an expression" % ast.unparse(node))
    for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            _check(child)
