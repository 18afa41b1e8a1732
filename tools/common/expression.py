# SPDX-License-Identifier: GPL-2.0
"""Arithmetic in scenario files: "max(20e3, rate * rtt / 8e9 / 6)".

Numbers, text, names, fields of names (than.jain), + - * / **, comparisons, and, or,
not, "a if b else c", and min, max, ceil. Nothing else of Python: a scenario is data.
"""

import ast
import math
import operator

from tables import ScenarioError

FUNCTIONS = {"min": min, "max": max, "ceil": math.ceil}
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}


def evaluate(text, names):
    """What an expression comes to. names: what its names stand for; a dict has fields."""
    try:
        return _value(ast.parse(str(text).strip(), mode="eval").body, names)
    except SyntaxError:
        raise ScenarioError("%r is not an expression" % text) from None
    except (TypeError, ZeroDivisionError) as e:
        raise ScenarioError("%r: %s" % (text, e)) from None
    except LookupError as e:
        raise ScenarioError("%r: there is no %s" % (text, e.args[0])) from None


def _value(node, names):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Attribute):
        return _value(node.value, names)[node.attr]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.BoolOp):
        wanted = isinstance(node.op, ast.Or)
        return any(_value(v, names) for v in node.values) if wanted else \
            all(_value(v, names) for v in node.values)
    if isinstance(node, ast.Compare) and all(type(o) in OPERATORS for o in node.ops):
        values = [_value(v, names) for v in (node.left, *node.comparators)]
        return all(OPERATORS[type(o)](a, b) for o, a, b in zip(node.ops, values, values[1:]))
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, names) else node.orelse, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and \
            node.func.id in FUNCTIONS:
        return FUNCTIONS[node.func.id](*(_value(a, names) for a in node.args))
    raise ScenarioError("%r may not be in an expression" % ast.unparse(node))
