#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that the module, the command and its documentation cover the netlink specification.

usage: spec.py TOP      prints TAP
"""

import os
import re
import sys

import yaml

TOP = sys.argv[1]
results = []


def read(*path):
    with open(os.path.join(TOP, *path)) as f:
        return f.read()


def check(what, looked_at, problems):
    """looked_at: must not be empty, or nothing has been tested."""
    problems = problems if looked_at else ["there is nothing to look at"]
    results.append(not problems)
    for p in problems:
        print("# " + p)
    print("%s %d %s" % ("not ok" if problems else "ok", len(results), what))


def upper(*words):
    return "_".join(words).upper().replace("-", "_")


def main():
    spec = yaml.safe_load(read("Documentation", "netlink", "specs", "rdma_dcqcn.yaml"))
    settings = {s["name"]: s["attributes"] for s in spec["attribute-sets"]}["settings"]
    code = read("drivers", "infiniband", "sw", "dcqcn", "settings.c")
    check("spec: the module knows where each setting is", settings,
          [a["name"] for a in settings if not re.search(
              r"\[RDMA_DCQCN_A_SETTINGS_%s\] =\s+offsetof" % upper(a["name"]), code)])

    counters = [a["name"] for s in spec["attribute-sets"] if s["name"] == "counters"
                for a in s["attributes"] if a["name"] != "pad"]
    places = {"Documentation/ABI/testing/sysfs-class-infiniband-dcqcn": r"hw_counters/%s\b",
              "drivers/infiniband/sw/dcqcn/counters.c": r"attr_%s\b|counter_%s\.attr",
              "tools/dcqcn/dev.c": r'"%s"'}
    check("spec: each counter has a file, a description and a name in the command", counters,
          ["%s is not in %s" % (c, place) for c in counters for place, pattern in places.items()
           if not re.search(pattern.replace("%s", c.replace("-", "_")), read(*place.split("/")))])

    completion = read("tools", "dcqcn", "dcqcn.bash")
    check("spec: the completion knows each knob", settings,
          [a["name"] for a in settings
           if not re.search(r"\b%s\b" % a["name"].replace("-", "_"), completion)])
    main_c = read("tools", "dcqcn", "dcqcn.c")
    commands = re.findall(r'{ "(\w+)", cmd_', main_c)
    man = read("tools", "dcqcn", "dcqcn.8").replace("\\-", "-")
    check("spec: man page and completion know each command", commands,
          ["%s in the man page" % c for c in commands
           if not re.search(r"^\\fBdcqcn.*[B ]%s\b" % c, man, re.M)] +
          ["%s in the completion" % c for c in commands
           if not re.search(r"\b%s\b" % c, completion)])
    findings = re.findall(r'finding_seen\((?:one_side \? "([\w-]+)" : )?"([\w-]+)"',
                          read("tools", "dcqcn", "checks.c") +
                          read("tools", "dcqcn", "port_checks.c") +
                          read("tools", "dcqcn", "dcbx_checks.c"))
    findings = sorted({name for pair in findings for name in pair if name})
    provoked = (read("selftests", "rdma", "doctor.sh") + read("selftests", "port", "ports.py") +
                read("selftests", "port", "dcbx.py"))
    told = read("Documentation", "troubleshooting.rst")
    check("doctor: each of its %d findings is provoked by a test, and documented" % len(findings),
          findings,
          [f + " has no test" for f in findings
           if not re.search(r"(?<![\w-])%s(?![\w-])" % f, provoked)] +
          [f + " is not documented" for f in findings if "``%s``" % f not in told])
    print("1..%d" % len(results))
    return 0 if all(results) else 1


sys.exit(main())
