#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that the module, the command and its documentation cover the netlink specification.

usage: spec.py TOP      prints TAP
"""

import fnmatch
import os
import re
import subprocess
import sys

import yaml

from testbed.core.tap import Tap

import interfaces

TOP = sys.argv[1]
CHECKS = ("transfer_checks.c", "checks.c", "port_checks.c", "dcbx_checks.c")    # of the doctor
tap = Tap()


def read(*path):
    with open(os.path.join(TOP, *path)) as f:
        return f.read()


def check(what, looked_at, problems):
    """looked_at: must not be empty, or nothing has been tested."""
    problems = problems if looked_at else ["there is nothing to look at"]
    tap.result(not problems, what, "\n".join(problems))


def upper(*words):
    return "_".join(words).upper().replace("-", "_")


def unused(family):
    """[(set, attribute)] that no message of a specification has."""
    spec = yaml.safe_load(read("Documentation", "netlink", "specs", family + ".yaml"))
    used = {}
    for op in spec["operations"]["list"]:
        messages = [op[kind] for kind in ("do", "dump", "event") if kind in op]
        for m in messages + [m[way] for m in messages for way in ("request", "reply") if way in m]:
            used.setdefault(op["attribute-set"], set()).update(m.get("attributes", []))
    return used, [(s["name"], a["name"]) for s in spec["attribute-sets"] if s["name"] in used
                  for a in s["attributes"]
                  if a["type"] != "pad" and a["name"] not in used[s["name"]]]


def descriptions(abi):
    """{knob: what a file of Documentation/ABI/testing says about it}."""
    entries = re.findall(r"^What:\s+\S+/ecn/roce_(.p)/([^/\s]+)\S*$.*?^Description:$(.*?)(?=^What:|\Z)",
                         read("Documentation", "ABI", "testing", abi), re.M | re.S)
    return {"%s_enable" % role if name == "enable" else name: " ".join(text.split())
            for role, name, text in entries}


def range_of(setting):
    """A setting's name, and how its description tells its range."""
    checks, name = setting.get("checks", {}), setting["name"].replace("-", "_")
    least, most = checks.get("min", 0), checks.get("max", 2 ** 32 - 1)
    if name.endswith("p_enable"):
        least, most = 0, 1      # a file for each bit
    return name, "%d %s %d" % (least, "or" if most - least == 1 else "to", most)


def named(name, page):
    """Whether a page has a name as a literal, or one such as ccc_* for it."""
    return any(fnmatch.fnmatchcase(name, literal) for literal in re.findall("``(.*?)``", page))


def switch_keys():
    """Check that what can be set of a port, a class and a switch has a key that users can find."""
    keys = re.findall(r'^\t(PORT|CLASS|SWITCH)\("(\w+)", \w+, \d+, (\w+),',
                      read("tools", "dcqcn", "portkey.c"), re.M)
    kernel = read("drivers", "net", "dcbport", "netlink.c")
    taken = {("CLASS", a) for a in re.findall(r"\btb\[DCBPORT_A_CLASS_(\w+)\]", kernel)} | {
        ("PORT", a) for a in re.findall(r"\battrs\[DCBPORT_A_PORT_(\w+)\]", kernel)}
    taken -= {("CLASS", "PRIO"), ("PORT", "IFNAME"), ("PORT", "CLASS")}
    known = {(kind, attribute) for kind, _, attribute in keys}
    check("spec: each setting of dcbport has a key of dcqcn port", taken,
          ["tools/dcqcn/portkey.c has no key for DCBPORT_A_%s_%s" % t for t in sorted(taken - known)])
    for page in ("dcqcn.8", "dcqcn.bash"):
        text = read("tools", "dcqcn", page)
        check("spec: %s has each key of dcqcn port" % page, keys,
              ["tools/dcqcn/%s does not have %s" % (page, key)
               for key in sorted({key for _, key, _ in keys}) if not re.search(
                   r"^\.(?:B|BR|RB) %s\b" % key if page == "dcqcn.8" else r"\b%s\b" % key,
                   text, re.M)])

    spec = yaml.safe_load(read("Documentation", "netlink", "specs", "dcbport.yaml"))
    order = [upper(a["name"]) for s in spec["attribute-sets"] if s["name"] == "class"
             for a in s["attributes"]]
    cases = re.search(r"^static bool class_settable\(.*?^}", kernel, re.M | re.S)[0]
    settable = set()
    for first, last in re.findall(r"case DCBPORT_A_CLASS_(\w+)(?: \.\.\. DCBPORT_A_CLASS_(\w+))?:",
                                  cases):
        settable.update(order[order.index(first):order.index(last or first) + 1])
    wanted = {a for kind, a in taken if kind == "CLASS"} | {"PRIO"}
    check("spec: class_settable() knows each setting of a class, and nothing else", settable,
          ["class_settable() in drivers/net/dcbport/netlink.c lacks %s" % a
           for a in sorted(wanted - settable)] +
          ["class_settable() has %s, which nothing takes" % a
           for a in sorted(settable - wanted - {"PAD"})])


def main():
    for family in ("rdma_dcqcn", "dcbport"):
        used, missing = unused(family)
        check("spec: each attribute of %s is in a message" % family, used,
              ["%s of %s is in no message" % (a, s) for s, a in missing])

    spec = yaml.safe_load(read("Documentation", "netlink", "specs", "rdma_dcqcn.yaml"))
    settings = {s["name"]: s["attributes"] for s in spec["attribute-sets"]}["settings"]
    listed = dict(re.findall(r"^DCQCN_(?:KNOB|ENABLE)\(\w+, (\w+), (\w+),", read(
        "drivers", "infiniband", "sw", "dcqcn", "knob_list.h"), re.M))
    check("spec: each setting is in the module's list of knobs", settings,
          ["%s is not in knob_list.h" % a["name"] for a in settings
           if listed.get(upper(a["name"])) != a["name"].replace("-", "_")] +
          ["%s is not in the specification" % n for n in listed.values()
           if n.replace("_", "-") not in [a["name"] for a in settings]])

    documented = descriptions("sysfs-class-net-ecn")
    check("spec: each setting is described, with its range", documented,
          ["sysfs-class-net-ecn: %s has no description with its range, \"%s\"" % (name, want)
           for a in settings
           for name, want in [range_of(a)] if want not in documented.get(name, "")])

    own = [name for name, text in documented.items() if "Not in mlx5" in text]
    listed = re.search(r"^These knobs are this module's own: (.*?)\.\s",
                       read("Documentation", "names.rst"), re.M | re.S)[1]
    check("spec: names.rst lists the knobs that mlx5 does not have", own,
          ["%s is not among the module's own knobs in Documentation/names.rst" % name
           for name in own if not named(name, listed)])
    rows = read("Documentation", "operating.rst").partition("\nEach knob turned down and up\n")[2]
    knobs = [a["name"].replace("-", "_") for a in settings if not a["name"].endswith("p-enable")]
    check("spec: operating.rst says what each knob does", knobs,
          ["%s is not in Documentation/operating.rst" % name for name in knobs
           if not named(name, rows)])

    counters = [a["name"] for s in spec["attribute-sets"] if s["name"] == "counters"
                for a in s["attributes"] if a["name"] != "pad"]
    described = read("Documentation", "ABI", "testing", "sysfs-class-infiniband-dcqcn")
    check("spec: each counter has a description", counters,
          ["sysfs-class-infiniband-dcqcn: no description of %s" % c.replace("-", "_")
           for c in counters
           if not re.search(r"hw_counters/%s\b" % c.replace("-", "_"), described)])
    listed = dict(re.findall(r"^DCQCN_COUNTER\(\w+, (\w+), (\w+)\)$", read(
        "drivers", "infiniband", "sw", "dcqcn", "counter_list.h"), re.M))
    shown = set(re.findall(r"port_attr_(\w+)\.attr",
                           read("drivers", "infiniband", "sw", "dcqcn", "counters.c")))
    others = [name for name in (c.replace("-", "_") for c in counters) if name not in listed]
    command = read("tools", "dcqcn", "dev.c")
    check("spec: the command has a name for each counter outside of that list", others,
          [name for name in others if '"%s"' % name not in command])
    check("spec: each counter is in the module's list, or has a file of its own", counters,
          ["%s is not in counter_list.h" % c for c in counters
           if c.replace("-", "_") not in set(listed) | shown] +
          ["%s is not in the specification" % n for n in listed
           if n.replace("_", "-") not in counters] +
          ["%s has attribute %s" % (n, a) for n, a in listed.items() if a != n.upper()])

    switch_keys()
    completion = read("tools", "dcqcn", "dcqcn.bash")
    table = re.findall(r'{ { ("\w+"(?:, "\w+")*) }, cmd_', read("tools", "dcqcn", "command.c"))
    words = sorted({w for words in table for w in re.findall(r"\w+", words)})
    check("spec: the completion knows each word of a command", words,
          [w for w in words if not re.search(r"\b%s\b" % w, completion)])
    for command, first, last in (("qp", "qp_path", "qp_text"), ("ccc", "sender_text", "ccc_text")):
        shown = re.search(r"static void %s\(.*?^}.*static void %s\(.*?^}" % (first, last),
                          read("tools", "dcqcn", "cmd_%s.c" % command), re.M | re.S)[0]
        formats = "".join(re.findall(r'printf\("([^"]*)"', shown)).replace("\\n", " ")
        words = sorted(set(re.findall(r"[a-z]{3,}", re.sub("%[.0-9]*[a-z]+", " ", formats))) -
                       {"packets", "ago", "dev"})
        explained = re.search(r"^\.B %s\n(.*?)^\.RE$" % command, read("tools", "dcqcn", "dcqcn.8"),
                              re.M | re.S)[1]
        check("spec: the man page explains the words of " + command, len(words) > 15,
              [w for w in words if not re.search(r"\b%s\b" % w, explained)])
    findings = sorted(interfaces.findings())
    provoked = (read("selftests", "rdma", "doctor.sh") + read("selftests", "port", "ports.py") +
                read("selftests", "port", "dcbx.py"))
    fixes = [m for part in CHECKS for m in re.findall(
        r'finding_fix\("([^"]*)"', read("tools", "dcqcn", part))]
    check("doctor: knobs are turned by dcqcn, and what else it proposes is a shell command",
          len(fixes) >= len(findings) - 2 and fixes,
          [m for m in fixes if not re.match(
              r"(dcqcn|modprobe|tc|dcb|lldptool|nft|ip|rdma|trace-cmd|ib_write_bw|sysctl|ethtool|#) ",
              m) or
           subprocess.run(["sh", "-nc", re.sub("%[a-z]+", "x", m)]).returncode])
    told = read("Documentation", "troubleshooting.rst")
    check("doctor: each of its %d findings is provoked by a test, and documented" % len(findings),
          findings,
          [f + " has no test" for f in findings
           if not re.search(r"(?<![\w-])%s(?![\w-])" % f, provoked)] +
          [f + " is not documented" for f in findings if "``%s``" % f not in told])
    rows = read("selftests", "tools", "doctor.c").partition("faults[] = {")[2]
    check("doctor: each finding about hosts has a row in the matrix", findings,
          [f + " has none" for part in CHECKS[:2]
           for f in re.findall(r'"([\w-]+)"(?= :|,)(?=[^;]*facts->host|[^;]*->host)', read("tools", "dcqcn", part))
           if f in findings and '"%s"' % f not in rows])
    titled = re.findall(r'^\t\{ "([\w-]+)", "', read("tools", "dcqcn", "finding.c"), re.M)
    check("doctor: each finding has a sentence, and a place among the others", findings,
          [f + " has none" for f in findings if f not in titled] +
          [f + " is not found by any check" for f in titled if f not in findings])
    return tap.done()


sys.exit(main())
