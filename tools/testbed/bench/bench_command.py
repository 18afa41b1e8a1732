# SPDX-License-Identifier: GPL-2.0
"""What rdma_dcqcn costs and how precisely it paces, as ratios within one run."""

import json
import os
import sys

from ..core import command, output
from ..core.errors import InputError, LabError
from ..core.paths import OUT
from ..core.progress import say
from . import cost, goals, pacing, port

PARTS = ("cost", "algorithms", "pacing", "port")


def parser():
    p = command.Parser(prog="bench", description=__doc__ + """ Counts instructions per
        packet on a stock kernel in a guest whose clock is the number of executed instructions,
        and records the times of paced packets in the simulator. Prints a table and writes
        result.json. Figures do not depend on how busy this machine is.""")
    p.add_argument("--only", action="append", choices=PARTS,
                   help="measure only this, and keep the rest of result.json; may be repeated")
    p.add_argument("--flows", type=int, action="append", metavar="N", choices=cost.FLOWS,
                   help="measure the cost of a packet with this many limited flows; may be "
                        "repeated (default: %s)" % ", ".join(map(str, cost.FLOWS)))
    p.add_argument("--check", action="store_true", help="fail when a goal is missed")
    p.add_argument("--out", default=os.path.join(OUT, "bench"), metavar="DIR",
                   type=command.plain_directory,
                   help="where to write (default: out/bench)")
    return p


def run(argv):
    args = parser().parse_args(argv)
    only = args.only or PARTS
    if args.flows and "cost" not in only:
        raise InputError("--flows: applies to the part cost, which --only leaves out: "
                         "add --only cost")
    path = os.path.join(args.out, "result.json")
    result = {}
    output.hold(args.out, "--out")
    if args.only and os.path.exists(path):
        try:
            with open(path) as f:
                result = json.load(f)
        except ValueError as e:
            raise InputError("%s: not a JSON file: %s" % (path, e)) from None
    for name, measure in (("cost", lambda: cost.measure(args.out, args.flows or cost.FLOWS)),
                          ("algorithms", lambda: cost.measure_algorithms(args.out)),
                          ("pacing", lambda: pacing.measure(args.out)),
                          ("port", lambda: port.measure(args.out))):
        if name in only:
            result.update(measure())
            command.write_json(path, result)
    try:
        missed = goals.show(result)
    except KeyError as e:
        raise LabError("%s: lacks %s, so another version wrote it: measure all parts" %
                       (path, e)) from None
    say("figures in " + path)
    return 1 if args.check and missed else 0


def main():
    return command.main("bench", run, sys.argv[1:])
