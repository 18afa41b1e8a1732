#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""All readers of units, and both of TOML, mean the same. Silent on success."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

from expect import expect, status
from testbed.core.errors import InputError
from testbed.core.paths import DCQCN, LAB, TOP
from testbed.core.units import UNITS, quantity

HERE = os.path.dirname(os.path.realpath(__file__))

# Files that both readers of TOML refuse, or read, with the number of flows in [model]
FILES = (
    ("[model]\nflows = 7\n", 7),
    ("[ model ]\t# a comment\r\nflows = 7 # and one more\r\n", 7),
    ("\n# first\n[link]\nflows = 8\n[model]\nflows=7\n[other]\nflows = 9\n", 7),
    ("[model]\nflows = '7'\nkmin = \"4KB\"\n", 7),
    ("[model]\nflows = 7e0\n", 7),
    ("[model]\nflows = 7\nflows = 8\n", None),
    ("[model]\npreset = \"400g-ai\"\npreset = \"400g-ai\"\n", None),
    ("[model]\nflows = 7\n[model]\nkmin = 5\n", None),
    ("[model]\nflows = 7\n[link]\n[ model ]\nkmin = 5\n", None),
    ("[model] flows = 7\n", None),
    ("[model\nflows = 7\n", None),
    ("[model]\nflows = 7\nspeed = 40gbit\n", None),
    ("[model]\nflows = 7\nprofile = auto\n", None),
    ("[model]\nflows =\n", None),
    ("[model]\nflows = \"7\n", None),
    ("[model]\nflows = \"7\" 8\n", None),
    ("[model]\nflows 7\n", None),
)


def of_units():
    with open(os.path.join(HERE, "units.txt")) as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and line[0] != "#"]
    expect("all kinds", {row[0] for row in rows}, {*UNITS, "length"})
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-I" + DCQCN, "-o", d + "/read",
                        os.path.join(HERE, "read_units.c"), os.path.join(DCQCN, "unit.c"), "-lm"],
                       check=True)
        got = subprocess.run([d + "/read"], input="".join("%s\t%s\n" % (k, t) for k, t, _ in rows),
                             check=True, capture_output=True, text=True).stdout.splitlines()
    for (kind, text, want), c in zip(rows, got, strict=True):
        expect("%s in C: %r" % (kind, text), c, want if want == "refused" else "%.12g" % float(want))
        if kind in UNITS:
            try:
                python = "%.12g" % quantity(kind, text)
            except InputError:
                python = "refused"
            expect("%s in Python: %r" % (kind, text), python, c)
    return rows


def of_script(rows):
    """congestion-point, which is installed alone, has a reader of its own."""
    with open(os.path.join(LAB, "congestion-point")) as f:
        function = re.search(r"^number\(\)\n\{.*?^\}\n", f.read(), re.M | re.S)[0]
    rows = [row for row in rows if row[0] in ("rate", "size", "share")]
    calls = "".join("(number x %s %s 0 1e15) || echo refused\n" % (shlex.quote(text), kind)
                    for kind, text, _ in rows)
    got = subprocess.run(["sh", "-c", function + calls], capture_output=True, text=True).stdout
    got = [line for line in got.splitlines() if not line.startswith("x ")]
    for (kind, text, want), script in zip(rows, got, strict=True):
        expect("%s in congestion-point: %r" % (kind, text), script, want)


def of_page():
    """Its table must have the same names; selftests/page tests the rest."""
    with open(os.path.join(TOP, "tools", "page", "page.js")) as f:
        table = re.search(r"^const UNITS = \{\n(.*?)^\};", f.read(), re.M | re.S)[1]
    for kind, key in (("rate", "bps"), ("time", "us"), ("size", "bytes"), ("share", "share")):
        rows = re.search(r"^\t%s: (\[.*?\]\]),$" % key, table, re.M | re.S)[1]
        names = {name.lower() for name in re.findall(r'\["([^"]*)"', rows)}
        expect("%s in the page" % kind, names - {""}, set(UNITS[kind]) - {""})


def of_toml():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "model.toml")
        for text, want in FILES:
            with open(path, "w", newline="") as f:
                f.write(text)
            r = subprocess.run([os.path.join(DCQCN, "dcqcn"), "-j", "model", path],
                               capture_output=True, text=True)
            got = json.loads(r.stdout)
            expect("in C: %r" % text, (r.returncode, got.get("input", {}).get("flows")),
                   (1 if want is None else 0, want))
            if want is None:
                expect("its message: %r" % r.stderr, r.stderr.startswith("dcqcn: %s" % path), True)
            try:
                flows = float(tomllib.loads(text)["model"]["flows"])
            except (tomllib.TOMLDecodeError, KeyError):
                flows = None
            expect("in Python: %r" % text, flows, want)


of_script(of_units())
of_page()
of_toml()
sys.exit(status())
