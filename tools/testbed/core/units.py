# SPDX-License-Identifier: GPL-2.0
"""Quantities with units, as people write them."""

import re

from .errors import InputError

UNITS = {
    "rate": {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9},
    "time": {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9},
    "size": {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20},
}


def quantity(kind, value):
    """Parse 40gbit, 1.5us or 5KB; return bit/s, ns or bytes."""
    m = re.fullmatch(r"([0-9.]+) *([A-Za-z]*)", str(value))
    try:
        return round(float(m[1]) * UNITS[kind][m[2]])
    except (TypeError, KeyError, ValueError):
        raise InputError("%r is not a %s; units are %s" %
                         (value, kind, ", ".join(u for u in UNITS[kind] if u))) from None


def number(value):
    """A quantity's number, in bit/s, ns or bytes; any other value unchanged."""
    for kind in UNITS if isinstance(value, str) else ():
        try:
            return quantity(kind, value)
        except InputError:
            pass
    return value
