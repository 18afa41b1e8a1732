#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Whether the uapi header, the command and its papers say what the netlink spec says.

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


def check(what, problems):
    results.append(not problems)
    for p in problems:
        print("# " + p)
    print("%s %d %s" % ("not ok" if problems else "ok", len(results), what))


def constants(header):
    """Each enumerator and number of the header with its value."""
    out = {}
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for name, value in re.findall(r"#define\s+(\w*RDMA_\w+)\s+(\d+)", text):
        out[name] = int(value)
    for body in re.findall(r"enum\s*\w*\s*{(.*?)}", text, flags=re.S):
        value = -1
        for item in filter(None, (i.strip() for i in body.split(","))):
            name, _, given = (x.strip() for x in item.partition("="))
            value = int(given) if given.isdigit() else value + 1
            if not given or given.isdigit():
                out[name] = value
    return out


def upper(*words):
    return "_".join(words).upper().replace("-", "_")


def expected(spec):
    out = {}
    for d in spec["definitions"]:
        if d["type"] == "const":
            out[upper("rdma_dcqcn", d["name"])] = d["value"]
            continue
        for i, entry in enumerate(d["entries"]):
            name = entry if isinstance(entry, str) else entry["name"]
            out[upper("rdma_dcqcn", d["name"], name)] = d.get("value-start", 0) + i
    for s in spec["attribute-sets"]:
        for i, a in enumerate(s["attributes"], 1):
            out[upper("rdma_dcqcn_a", s["name"], a["name"])] = i
    for i, op in enumerate(spec["operations"]["list"], 1):
        out[upper("rdma_dcqcn_cmd", op["name"])] = i
    return out


def main():
    spec = yaml.safe_load(read("Documentation", "netlink", "specs", "rdma_dcqcn.yaml"))
    has = constants(read("include", "uapi", "rdma", "rdma_dcqcn.h"))
    ends = {upper("rdma_dcqcn_a", s["name"], "max") for s in spec["attribute-sets"]}
    ends |= {"RDMA_DCQCN_CMD_MAX", "RDMA_DCQCN_FAMILY_VERSION"}
    has = {k: v for k, v in has.items() if k.lstrip("_") not in ends}
    want = expected(spec)
    check("spec: the header has the spec's names and values",
          ["%s: %s in the header, %s in the spec" % (k, has.get(k), want.get(k))
           for k in sorted(has.keys() | want.keys()) if has.get(k) != want.get(k)])

    sets = {s["name"]: s["attributes"] for s in spec["attribute-sets"]}
    code = read("drivers", "infiniband", "sw", "dcqcn", "settings.c")
    limits = {"DCQCN_USEC_MAX": 131071, "U16_MAX": 65535, "U32_MAX": 2**32 - 1, "DCQCN_PRIOS": 255}
    ranges = {name: (int(least), limits.get(most) or int(most)) for name, least, most in re.findall(
        r"\[RDMA_DCQCN_A_SETTINGS_(\w+)\] =\s+DCQCN_KNOB\([\w.]+, (\d+), (\w+)\)", code)}
    problems = []
    for a in sets["settings"]:
        checks = a.get("checks", {})
        said = (checks.get("min", 0), checks.get("max", 2**32 - 1))
        if ranges.get(upper(a["name"])) != said:
            problems.append("%s: %s in the code, %s in the spec" % (
                a["name"], ranges.get(upper(a["name"])), said))
    check("spec: the module has the spec's ranges", problems)

    operations = [op for op in spec["operations"]["list"]]
    unknown = []
    for op in operations:
        names = {a["name"] for a in sets[op["attribute-set"]]}
        for way in ("do", "dump"):
            for part in op.get(way, {}).values():
                unknown += ["%s: %s" % (op["name"], a) for a in part["attributes"]
                            if a not in names]
    check("spec: operations use attributes of their set", unknown)

    completion = read("tools", "dcqcn", "dcqcn.bash")
    check("spec: the completion knows each knob",
          [a["name"] for a in sets["settings"]
           if not re.search(r"\b%s\b" % a["name"].replace("-", "_"), completion)])
    main_c = read("tools", "dcqcn", "dcqcn.c")
    commands = re.findall(r'{ "(\w+)", cmd_', main_c)
    man = read("tools", "dcqcn", "dcqcn.8").replace("\\-", "-")
    check("spec: man page and completion know each command",
          ["%s in the man page" % c for c in commands
           if not re.search(r"^\\fBdcqcn.*[B ]%s\b" % c, man, re.M)] +
          ["%s in the completion" % c for c in commands
           if not re.search(r"\b%s\b" % c, completion)])
    findings = re.findall(r'finding_seen\((?:one_side \? "([\w-]+)" : )?"([\w-]+)"',
                          read("tools", "dcqcn", "checks.c"))
    findings = sorted({name for pair in findings for name in pair if name})
    provoked, told = read("selftests", "rdma", "doctor.sh"), read("Documentation", "operating.rst")
    check("doctor: each of its %d findings is provoked by a test, and documented" % len(findings),
          [f + " has no test" for f in findings
           if not re.search(r"(?<![\w-])%s(?![\w-])" % f, provoked)] +
          [f + " is not documented" for f in findings if "``%s``" % f not in told])
    print("1..%d" % len(results))
    return 0 if all(results) else 1


sys.exit(main())
