#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Names that Documentation/stability.rst promises to keep.

Without an option, complains about each name of the last release's list,
Documentation/ABI/released, that is gone or has another number. Silent on success. With --list,
prints the list as it is now: "make abi" writes it at a release.
"""

import argparse
import os
import re
import subprocess
import sys

import yaml

from testbed.core.paths import LAB, SIM, TOP
from testbed.sim import completions, dcbport, figures, sim_command
from testbed.vm import lab_command, report

from man_pages import words

RELEASED = os.path.join(TOP, "Documentation/ABI/released")
DCQCN = os.path.join(TOP, "tools/dcqcn")
SPECS = ("rdma_dcqcn.yaml", "dcbport.yaml")


def read(*path):
    with open(os.path.join(TOP, *path)) as f:
        return f.read()


def texts(directory, suffix):
    """The text of each such file."""
    return [read(directory, name) for name in sorted(os.listdir(os.path.join(TOP, directory)))
            if name.endswith(suffix)]


def files(kind, name):
    """Files that an ABI entry describes."""
    for path in re.findall(r"^What:\s+(\S+)", read("Documentation/ABI/testing", name), re.M):
        yield kind, path


def numbered(definition):
    """Entries of an enumeration, and their numbers."""
    number = definition.get("value-start", 0)
    for entry in definition["entries"]:
        entry = entry if isinstance(entry, dict) else {"name": entry}
        number = entry.get("value", number)
        yield entry["name"], number
        number += 1


def netlink(spec):
    family = spec["name"]
    for definition in spec["definitions"]:
        if definition["type"] in ("enum", "flags"):
            for name, number in numbered(definition):
                yield "netlink", "%s %s %s = %d" % (family, definition["name"], name, number)
    for group in spec["attribute-sets"]:
        number = 1
        for attribute in group["attributes"]:
            number = attribute.get("value", number)
            yield "netlink", "%s %s %s = %d %s" % (
                family, group["name"], attribute["name"], number, attribute.get("type", ""))
            number += 1
    number = 1
    for operation in spec["operations"]["list"]:
        number = operation.get("value", number)
        yield "netlink", "%s operation %s = %d" % (family, operation["name"], number)
        number += 1


def parameters():
    for module, directory in (("rdma_dcqcn", "drivers/infiniband/sw/dcqcn"),
                              ("dcbport", "drivers/net/dcbport")):
        for text in texts(directory, ".c"):
            for name in re.findall(r"^module_param(?:_named)?\((\w+)", text, re.M):
                yield "parameter", "%s %s" % (module, name)


def commands():
    """dcqcn's commands, and the words that may follow."""
    said = subprocess.run([os.path.join(DCQCN, "dcqcn"), "help"], check=True, capture_output=True,
                          text=True).stdout
    for line in re.findall(r"^  dcqcn (.*)", said, re.M):
        yield "command", "dcqcn " + " ".join(re.match(r"[a-z]+(?: [a-z]+(?= |$))*", line)[0].split())
        for option in re.findall(r"(?<![\w-])--?[a-z]+", line):
            yield "command", "dcqcn %s %s" % (line.split()[0], option)
    for name, module in (("lab", lab_command), ("sim", sim_command)):
        for word in words(module.parser()):
            yield "command", "%s %s" % (name, word)


def findings():
    """Names of what dcqcn doctor can find."""
    return {name for text in texts("tools/dcqcn", ".c")
            for first in re.findall(r'\bfinding_seen\(([^,]+)', text)
            for name in re.findall(r'"([\w-]+)"', first)}


def outputs():
    """Keys of JSON, columns of CSV, names of findings."""
    for text in texts("tools/dcqcn", ".c"):
        for key in re.findall(r'\bjson_\w+\("(\w+)"', text):
            yield "json", "dcqcn " + key
    for kind, name in (("qp", "cmd_record.c"), ("port", "port_record.c")):
        for column in re.findall(r'^\t(?:\{ \w+, |\[\w+\] = )"(\w+)"', read("tools/dcqcn", name),
                                 re.M):
            yield "csv", "%s %s" % (kind, column)
    for name in findings():
        yield "finding", name


def scenarios():
    """Keys of scenario files, and the figures that conditions may name."""
    for kind, directory in (("lab", "vm"), ("sim", "sim")):
        for text in texts("tools/testbed/" + directory, ".py"):
            for key in re.findall(r'\b(?:(?:t|table)\.(?:take|tables?|window|knobs)\(|_file\(t,)\s*"(\w+)"',
                                  text):
                yield "scenario", "%s %s" % (kind, key)
    for names in (figures.QUEUE, figures.FLOWS, figures.COUNTERS, figures.COMPLETION, figures.TCP,
                  dcbport.FIGURES):
        for name in names:
            yield "figure", "sim %s" % name
    for name in (*report.QUEUE, *report.FIGURES):
        yield "figure", "lab %s" % name


def current():
    out = {*files("knob", "sysfs-class-net-ecn"), *files("counter", "sysfs-class-infiniband-dcqcn"),
           *parameters(), *commands(), *outputs(), *scenarios()}
    for name in SPECS:
        out |= {*netlink(yaml.safe_load(read("Documentation/netlink/specs", name)))}
    return {"%-9s %s" % line for line in out}


def gone(released, now):
    """Complaints about what a release had, and the tree has not."""
    return ["# %s: in Documentation/ABI/released, and no more" % " ".join(line.split())
            for line in sorted(released - now)]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true", help="print the names that there are")
    now = current()
    if p.parse_args().list:
        print(*sorted(now), sep="\n")
        return 0
    with open(RELEASED) as f:
        released = set(f.read().splitlines())
    complaints = gone(released, now)
    # each kind of name is found, and would be missed
    for kind in ("knob", "counter", "netlink", "parameter", "command", "json", "csv", "finding",
                 "scenario", "figure"):
        some = {line for line in now if line.startswith(kind)}
        if len(some) < 3 or len(gone(released, now - some)) < 3:
            complaints.append("# nobody would miss a %s" % kind)
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
