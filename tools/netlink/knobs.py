#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the attribute, file and range of each knob, for tests that run in kernels.

usage: knobs.py SPECIFICATION KNOB_LIST
"""

import re
import sys

import yaml

U32 = 2 ** 32 - 1


def read(path):
    with open(path) as f:
        return f.read()


settings = {s["name"]: s["attributes"] for s in yaml.safe_load(read(sys.argv[1]))["attribute-sets"]}[
    "settings"]
listed = {name: (kind, role) for kind, role, name in re.findall(
    r"^DCQCN_(KNOB|ENABLE)\((\w+), \w+, (\w+),", read(sys.argv[2]), re.M)}
print("# Written by tools/netlink/regen: attribute, file or directory, least and greatest value")
for number, knob in enumerate(settings, 1):
    name = knob["name"].replace("-", "_")
    kind, role = listed[name]
    checks = knob.get("checks", {})
    print(number, "roce_%s/%s" % (role, "enable" if kind == "ENABLE" else name),
          checks.get("min", 0), checks.get("max", U32))
