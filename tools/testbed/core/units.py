# SPDX-License-Identifier: GPL-2.0
"""Quantities with units, as people write them, by the same rules as tools/dcqcn/unit.c:

    rate    bit, kbit, mbit, gbit, tbit, or Mb/s and so on; in bit/s
    time    ns, us, ms, s, min, h, also nsec, usec, msec, sec, m; in ns
    size    B, KB, MB, GB, TB, of 1000, and KiB, MiB, GiB, TiB, of 1024; in bytes
    share   %, or a number without a unit, up to 1

A number has digits, and may have decimals and an exponent; a blank may follow. Small and capital
letters are the same, except that MB/s is not Mb/s. selftests/tools/units.txt has examples.
"""

import math
import re

from .errors import InputError

UNITS = {
    "rate": {unit: worth for n, prefix in enumerate(("", "k", "m", "g", "t"))
             for unit, worth in ((prefix + "bit", 1000**n), (prefix + "b/s", 1000**n))},
    "time": {"ns": 1, "nsec": 1, "us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6,
             "s": 10**9, "sec": 10**9, "m": 60 * 10**9, "min": 60 * 10**9, "h": 3600 * 10**9},
    "size": {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
             "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40},
    "share": {"": 1, "%": 0.01},
}
EXAMPLES = {"rate": "40mbit or 1.5gbit", "time": "55us or 4ms", "size": "1500B, 200KB or 1MiB",
            "share": "0.1 or 10%"}

QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)(?: *([a-z/%]+))?", re.I)


def quantity(kind, value):
    """Parse 40gbit, 1.5us, 5KB or 10%; return bit/s, ns, bytes, or the share."""
    m = QUANTITY.fullmatch(str(value))
    unit = (m[2] or "") if m else None
    if m and unit.lower() in UNITS[kind] and not unit.endswith("B/s"):
        found = float(m[1]) * UNITS[kind][unit.lower()]
        if math.isfinite(found):
            return found if kind == "share" else round(found)
    raise InputError("%r is not a %s, such as %s" % (value, kind, EXAMPLES[kind]))


def number(value):
    """The number that a text means, as a quantity in bit/s, ns or bytes or as a plain number; any
    other value unchanged."""
    for kind in ("rate", "time", "share", "size") if isinstance(value, str) else ():
        try:
            found = quantity(kind, value)
        except InputError:
            continue
        return int(found) if kind == "share" and found.is_integer() else found
    return value
